//! Figures in running text, compared by value: `46,700`, `46.700`, `46 700` and `46700` are one, `46.7` is another.
#![deny(clippy::indexing_slicing)]

use std::ops::Range;

use crate::links::links;

/// What a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureKind {
    /// A count or a measure.
    Plain,
    /// Part of a date: a day, a month, a year of one.
    Date,
    /// A time of day.
    Time,
    /// "3." at the begin of a line, "(2)": it only numbers.
    Mark,
}

/// A figure of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Where it stands.
    pub span: Range<usize>,
    /// Its value, scales ("million") included.
    pub value: f64,
    /// Decimals as written; what was rounded to them may be meant.
    pub decimals: u32,
    /// It was written with a scale: what it counts is known to its digits only.
    pub scale: f64,
    /// Digits as written, without separators.
    pub digits: usize,
    /// What it is.
    pub kind: FigureKind,
    /// The word or sign behind it (`%`, `km`, `Euro`), in small letters; or a currency in front.
    pub unit: String,
}

impl Figure {
    /// A year: four digits between 1000 and 2199 without separators or unit of its own.
    #[must_use]
    pub fn is_year(&self) -> bool {
        self.digits == 4
            && self.decimals == 0
            && self.scale == 1.0
            && (1000.0..2200.0).contains(&self.value)
            && !self.has_separator()
    }

    fn has_separator(&self) -> bool {
        self.span.len() != self.digits
    }

    /// Whether two figures have one value, at the precision of the one that is written less exactly. Whole numbers
    /// are not rounded, except where a scale stands behind them.
    #[must_use]
    pub fn equals(&self, value: f64, decimals: u32, scale: f64) -> bool {
        let step = |decimals: u32, scale: f64| scale / 10_f64.powi(decimals.min(12).cast_signed());
        let exact = self.decimals == 0 && decimals == 0 && self.scale == scale;
        if exact || (self.value - value).abs() < 1e-9 * self.value.abs().max(1.0) {
            return (self.value - value).abs() < 1e-9 * self.value.abs().max(1.0);
        }
        // A whole number without a scale stands for itself.
        let steps =
            [(self.decimals, self.scale), (decimals, scale)].map(|(decimals, scale)| step(decimals, scale));
        let [own, other] = steps;
        let coarse = own.max(other);
        let coarse_is_whole = if own >= other {
            self.decimals == 0 && self.scale == 1.0
        } else {
            decimals == 0 && scale == 1.0
        };
        !coarse_is_whole && (self.value - value).abs() <= coarse / 2.0 * 1.000_001
    }

    /// Whether another figure of a text has its value.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        self.equals(other.value, other.decimals, other.scale)
    }
}

const SCALES: &[(&str, f64)] = &[
    ("thousand", 1e3),
    ("tausend", 1e3),
    ("million", 1e6),
    ("millions", 1e6),
    ("millionen", 1e6),
    ("mio", 1e6),
    ("mn", 1e6),
    ("billion", 1e9),
    ("billions", 1e9),
    ("bn", 1e9),
    ("milliarde", 1e9),
    ("milliarden", 1e9),
    ("mrd", 1e9),
    ("trillion", 1e12),
    ("billionen", 1e12),
    ("hundred", 1e2),
    ("hundert", 1e2),
    ("k", 1e3),
    ("dutzend", 12.0),
    ("dozen", 12.0),
];
const UNITS: &[&str] = &[
    "%",
    "ampere",
    "bar",
    "c",
    "cent",
    "centimeter",
    "centimetres",
    "chf",
    "cm",
    "cm2",
    "days",
    "degrees",
    "dollar",
    "dollars",
    "eur",
    "euro",
    "euros",
    "f",
    "feet",
    "foot",
    "franken",
    "g",
    "gb",
    "grad",
    "gramm",
    "grams",
    "ha",
    "hektar",
    "hours",
    "hz",
    "kb",
    "kg",
    "kilogramm",
    "kilograms",
    "kilometer",
    "kilometern",
    "kilometers",
    "kilometre",
    "kilometres",
    "km",
    "km/h",
    "km²",
    "kw",
    "kwh",
    "l",
    "liter",
    "litres",
    "m",
    "mb",
    "meter",
    "metern",
    "meters",
    "metre",
    "metres",
    "mhz",
    "miles",
    "milligramm",
    "mm",
    "mph",
    "ms",
    "mw",
    "m²",
    "percent",
    "pfund",
    "pounds",
    "prozent",
    "quadratkilometer",
    "s",
    "seconds",
    "sek",
    "sekunden",
    "stundenkilometer",
    "t",
    "tb",
    "tonnen",
    "tonnes",
    "usd",
    "v",
    "w",
    "watt",
    "yen",
    "°",
    "°c",
    "°f",
];
const MONTHS: &[&str] = &[
    "januar",
    "january",
    "jan",
    "februar",
    "february",
    "feb",
    "märz",
    "march",
    "mar",
    "mrz",
    "april",
    "apr",
    "mai",
    "may",
    "juni",
    "june",
    "jun",
    "juli",
    "july",
    "jul",
    "august",
    "aug",
    "september",
    "sept",
    "sep",
    "oktober",
    "october",
    "okt",
    "oct",
    "november",
    "nov",
    "dezember",
    "december",
    "dez",
];

fn is_separator(c: char) -> bool {
    matches!(c, '.' | ',' | '\'' | '’' | '_' | ' ' | '\u{A0}' | '\u{202F}' | '\u{2009}')
}

/// The figures of a text, those of addresses and of words ("1inch", "H2O") left out.
#[must_use]
pub fn figures(text: &str) -> Vec<Figure> {
    let links = links(text);
    let mut out: Vec<Figure> = Vec::new();
    let mut at = 0;
    while let Some(start) =
        text.get(at..).and_then(|rest| rest.find(|c: char| c.is_ascii_digit())).map(|found| at + found)
    {
        if let Some(link) = links.iter().find(|link| link.contains(&start)) {
            at = link.end;
            continue;
        }
        let (end, found) = read(text, start);
        at = end;
        out.extend(found);
    }
    out
}

/// Reads what begins with a digit; the end of it, and the figures in it.
fn read(text: &str, start: usize) -> (usize, Vec<Figure>) {
    let rest = text.get(start..).unwrap_or_default();
    let before = text.get(..start).unwrap_or_default();
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut groups = vec![digits(rest)];
    let mut separators: Vec<char> = Vec::new();
    let mut end = digits(rest);
    while let Some(separator) = rest.get(end..).and_then(|rest| rest.chars().next()) {
        let behind = rest.get(end + separator.len_utf8()..).unwrap_or_default();
        let more = digits(behind);
        if more == 0 {
            break;
        }
        let blank = separator.is_whitespace();
        let is_group = more == 3
            && groups.iter().skip(1).all(|group| *group == 3)
            && groups.first().is_some_and(|first| *first <= 3);
        let joins = match separator {
            '-' | ':' | '/' => true,
            _ if blank => is_group && separators.iter().all(|known| *known == separator),
            _ => is_separator(separator),
        };
        if !joins || groups.len() > 8 {
            break;
        }
        separators.push(separator);
        groups.push(more);
        end += separator.len_utf8() + more;
    }
    let written = rest.get(..end).unwrap_or_default();
    let behind = rest.get(end..).unwrap_or_default();
    let whole = start..start + end;
    if let Some(dated) = date_or_time(written, &groups, &separators, behind, &whole) {
        return (start + end, dated);
    }
    if separators.iter().any(|c| matches!(c, '-' | ':' | '/')) {
        // A range, a result, a fraction: each figure for itself.
        let mut out = Vec::new();
        let mut from = start;
        for (at, c) in written.char_indices().chain([(written.len(), ' ')]) {
            if matches!(c, '-' | ':' | '/') || at == written.len() {
                let part = text.get(from..start + at).unwrap_or_default();
                let tail = text.get(start + at..).unwrap_or_default();
                let tail = if at == written.len() { tail } else { "" };
                out.extend(plain(part, from, "", tail));
                from = start + at + c.len_utf8();
            }
        }
        return (start + end, out);
    }
    (start + end, plain(written, start, before, behind).into_iter().collect())
}

fn date_or_time(
    written: &str,
    groups: &[usize],
    separators: &[char],
    behind: &str,
    whole: &Range<usize>,
) -> Option<Vec<Figure>> {
    let all = |mark: char| !separators.is_empty() && separators.iter().all(|separator| *separator == mark);
    let one = |kind: FigureKind| {
        // Parts of a date count for themselves, so that a year is found in it.
        let mut out = Vec::new();
        let mut from = 0;
        for (at, c) in written.char_indices().chain([(written.len(), ' ')]) {
            if !c.is_ascii_digit() {
                let part = written.get(from..at).unwrap_or_default();
                if let Ok(value) = part.parse::<f64>() {
                    let span = whole.start + from..whole.start + at;
                    out.push(Figure {
                        span,
                        value,
                        decimals: 0,
                        scale: 1.0,
                        digits: part.len(),
                        kind,
                        unit: String::new(),
                    });
                }
                from = at + c.len_utf8();
            }
        }
        out
    };
    match groups {
        [4, 1..=2, 1..=2] if all('-') || all('/') => Some(one(FigureKind::Date)),
        [1..=2, 1..=2, 2 | 4] if all('.') || all('/') => Some(one(FigureKind::Date)),
        [1..=2, 2] | [1..=2, 2, 2] if all(':') => Some(one(FigureKind::Time)),
        [1..=2, 2]
            if all('.') && {
                let lower = behind.trim_start().to_lowercase();
                lower.starts_with("uhr") || is_half_day(&lower)
            } =>
        {
            Some(one(FigureKind::Time))
        }
        [1..=2, 1..=2]
            if all('.')
                && behind.starts_with('.')
                && !behind.starts_with("..")
                && whole.len() <= 5
                && behind.trim_start_matches('.').starts_with([' ', ',', ')'])
                && groups.iter().all(|group| *group == 2) =>
        {
            Some(one(FigureKind::Date))
        }
        [1..=2] => {
            let lower = behind.trim_start().to_lowercase();
            (lower.starts_with("uhr") || is_half_day(&lower)).then(|| one(FigureKind::Time))
        }
        _ => None,
    }
}

/// "am", "p.m.": of a time.
fn is_half_day(lower: &str) -> bool {
    ["am", "pm", "a.m", "p.m"].iter().any(|half| {
        lower.strip_prefix(half).is_some_and(|rest| {
            !rest.starts_with(char::is_alphanumeric)
                && (half.contains('.') || !rest.starts_with(" ") || *half == "pm")
        })
    })
}

fn plain(written: &str, start: usize, before: &str, behind: &str) -> Option<Figure> {
    let span = start..start + written.len();
    // A letter in front: "H2O", "A380"; a sign does not hurt.
    if before.chars().next_back().is_some_and(|c| c.is_alphabetic() || c == '_') {
        return None;
    }
    let (value, decimals, digits) = value(written)?;
    let next = behind.chars().next();
    let glued: String = behind
        .chars()
        .take_while(|c| c.is_alphanumeric() || matches!(c, '%' | '°' | '²' | '/'))
        .collect::<String>()
        .to_lowercase();
    let glued = glued.trim_end_matches('/');
    if !glued.is_empty() && next.is_some_and(char::is_alphabetic) && !is_glued_unit(glued) {
        return None;
    }
    let trimmed = behind.trim_start_matches([' ', '\u{A0}', '\u{202F}', '\u{2009}', '-']);
    let word: String = trimmed
        .chars()
        .take_while(|c| c.is_alphanumeric() || matches!(c, '%' | '°' | '²' | '/' | '€' | '$' | '£' | '¥'))
        .collect::<String>()
        .to_lowercase();
    let mut scale = 1.0;
    let mut unit = word.trim_end_matches('/').to_owned();
    if let Some((_, found)) = SCALES.iter().find(|(name, _)| *name == unit) {
        scale = *found;
        let after = trimmed.get(word.len()..).unwrap_or_default().trim_start_matches(['.', ' ', '\u{A0}']);
        unit = after
            .chars()
            .take_while(|c| c.is_alphanumeric() || matches!(c, '%' | '€' | '$' | '£' | '¥'))
            .collect::<String>()
            .to_lowercase();
    }
    let currency = before.trim_end().chars().next_back().filter(|c| "€$£¥".contains(*c));
    if let Some(currency) = currency {
        unit = currency.to_string();
    }
    let alone = digits <= 2 && decimals == 0 && scale == 1.0;
    let line_start = before.is_empty() || before.trim_end_matches([' ', '\t']).ends_with('\n');
    let kind = if MONTHS.contains(&unit.as_str())
        || (alone && next == Some('.') && MONTHS.contains(&first_word(behind).as_str()))
    {
        FigureKind::Date
    } else if alone
        && ((line_start && matches!(next, Some('.' | ')')))
            || (before.ends_with(['[', '(', '#']) && matches!(next, Some(']' | ')'))))
    {
        FigureKind::Mark
    } else if alone && MONTHS.contains(&last_word(before).as_str()) {
        FigureKind::Date
    } else {
        FigureKind::Plain
    };
    Some(Figure { span, value: value * scale, decimals, scale, digits, kind, unit })
}

fn is_glued_unit(glued: &str) -> bool {
    UNITS.binary_search(&glued).is_ok()
        || SCALES.iter().any(|(name, _)| *name == glued)
        || matches!(glued, "st" | "nd" | "rd" | "th" | "er" | "ern" | "x" | "h" | "min")
}

fn first_word(text: &str) -> String {
    text.trim_start_matches(['.', ' ', '\u{A0}'])
        .chars()
        .take_while(|c| c.is_alphabetic())
        .collect::<String>()
        .to_lowercase()
}

fn last_word(text: &str) -> String {
    let word: Vec<char> = text.trim_end().chars().rev().take_while(|c| c.is_alphabetic()).collect();
    word.into_iter().rev().collect::<String>().to_lowercase()
}

impl Figure {
    /// It measures something: a unit, a percent sign or a currency stands with it.
    #[must_use]
    pub fn has_unit(&self) -> bool {
        UNITS.binary_search(&self.unit.as_str()).is_ok()
            || self.unit.starts_with(['€', '$', '£', '¥', '%', '°'])
    }

    /// It is an amount of money.
    #[must_use]
    pub fn is_money(&self) -> bool {
        self.unit.starts_with(['€', '$', '£', '¥'])
            || matches!(
                self.unit.as_str(),
                "euro"
                    | "euros"
                    | "eur"
                    | "dollar"
                    | "dollars"
                    | "usd"
                    | "yen"
                    | "cent"
                    | "chf"
                    | "franken"
                    | "pfund"
                    | "pounds"
            )
    }
}

/// Value, decimals and digits of what is written with separators; None for what is no one figure ("1.2.3").
fn value(written: &str) -> Option<(f64, u32, usize)> {
    let marks: Vec<char> = written.chars().filter(|c| !c.is_ascii_digit()).collect();
    let digits = written.chars().filter(char::is_ascii_digit).count();
    if digits > 60 {
        return None;
    }
    let groups: Vec<&str> = written.split(|c: char| !c.is_ascii_digit()).collect();
    let grouped = |groups: &[&str]| {
        groups.first().is_some_and(|first| (1..=3).contains(&first.len()))
            && groups.iter().skip(1).all(|group| group.len() == 3)
    };
    let same = marks.windows(2).all(|pair| matches!(pair, [a, b] if a == b));
    let leading_zero = groups.first() == Some(&"0");
    let text = match (marks.last(), marks.len()) {
        (None, _) => return Some((written.parse().ok()?, 0, digits)),
        (Some(_), _) if same && grouped(&groups) && !leading_zero => {
            return Some((groups.concat().parse().ok()?, 0, digits));
        }
        (Some('.' | ','), 1) => groups.join("."),
        // 1.234,56 and 1,234.56
        (Some('.' | ','), _) => {
            let (decimals, whole) = groups.split_last()?;
            let (own, others) = marks.split_last()?;
            if others.contains(own) || !grouped(whole) {
                return None;
            }
            format!("{}.{decimals}", whole.concat())
        }
        _ => return None,
    };
    let decimals = u32::try_from(text.len() - text.find('.')? - 1).ok()?;
    Some((text.parse().ok()?, decimals, digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<f64> {
        figures(text)
            .into_iter()
            .filter(|figure| figure.kind == FigureKind::Plain)
            .map(|figure| figure.value)
            .collect()
    }

    #[test]
    fn figures_are_read_as_readers_write_them() {
        assert!(UNITS.is_sorted());
        assert_eq!(values("46,700 46.700 46’700 46_700"), [46_700.0; 4]);
        assert_eq!(values("46 700 people"), [46_700.0]);
        assert_eq!(values("46.7 and 0,667 and 1.234,56 and 1,234.5"), [46.7, 0.667, 1234.56, 1234.5]);
        assert_eq!(
            values("1.5 million, 13,96 Millionen, 2 Mrd. Euro, 5k"),
            [1_500_000.0, 13_960_000.0, 2e9, 5000.0]
        );
        assert_eq!(values("1inch H2O 3Blue1Brown A380 v1.2.3 https://a.example/1234"), Vec::<f64>::new());
        assert_eq!(values("330m, 58 km/h, 12%"), [330.0, 58.0, 12.0]);
        assert_eq!(values("1815-1852"), [1815.0, 1852.0]);
    }

    #[test]
    fn dates_times_and_marks_are_told_apart() {
        let kinds = |text: &str| figures(text).into_iter().map(|figure| figure.kind).collect::<Vec<_>>();
        assert_eq!(kinds("01.12.2026"), [FigureKind::Date; 3]);
        assert_eq!(kinds("2026-12-01"), [FigureKind::Date; 3]);
        assert_eq!(kinds("22:40 and 22.40 Uhr and 9 Uhr and 5 pm"), [FigureKind::Time; 6]);
        assert_eq!(kinds("am 6. Mai"), [FigureKind::Date]);
        assert_eq!(kinds("May 6"), [FigureKind::Date]);
        assert_eq!(kinds("1. One\n2) two [3]"), [FigureKind::Mark; 3]);
    }

    #[test]
    fn values_are_compared_at_the_precision_written() {
        let one = |text: &str| figures(text).remove(0);
        assert!(one("13,96 Millionen").same(&one("14.0 million")));
        assert!(one("14 million").same(&one("13,96 Millionen")));
        assert!(one("12.4").same(&one("12,4")) && one("12.43").same(&one("12.4")));
        assert!(
            !one("60000").same(&one("60732"))
                && !one("12").same(&one("12.4"))
                && !one("12.5").same(&one("12.4"))
        );
    }
}
