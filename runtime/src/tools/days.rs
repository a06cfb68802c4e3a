//! Reads which day a question is about: "in 3 days", "übermorgen", "next Friday", "22. März", "June twenty seventh".
//!
//! A question is read whole or not at all: what else it says about days ("30 days **after March 1**") is not left out.

use std::ops::Range;

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan};

use super::number_words;

/// Farthest that a question may reach, in days: beyond it calendars mean little.
const FARTHEST_DAYS: i64 = 366 * 2_000;

/// The day that a text names, seen from today; None if it names none. An error is a day that the calendar lacks, or one
/// that is named in a way that is not understood.
pub(super) fn find(text: &str, today: Date) -> Result<Option<Date>, ()> {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !(c.is_alphanumeric() || c == '.')).filter(|w| !w.is_empty()).collect();
    let reader = Reader { words: &words, today };
    if is_negative(&lower) {
        return Err(());
    }
    if let Some((span, taken)) = reader.distance()? {
        let date = today.checked_add(span).map_err(|_| ())?;
        return if reader.says_more(&taken, false) { Err(()) } else { Ok(Some(date)) };
    }
    if let Some((date, taken)) = reader.date()? {
        // "Is the 4th of July a Friday" asks about the one date.
        return if reader.says_more(&taken, true) { Err(()) } else { Ok(Some(date)) };
    }
    if let Some((date, taken)) = reader.weekday() {
        return if reader.says_more(&taken, false) { Err(()) } else { Ok(Some(date)) };
    }
    if reader.names_a_day() { Err(()) } else { Ok(None) }
}

/// A figure with a sign in front: "-3 days from now" is no distance that could be meant.
fn is_negative(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        let mut chars = word.chars();
        matches!(chars.next(), Some('-' | '−')) && chars.next().is_some_and(|c| c.is_ascii_digit())
    })
}

struct Reader<'t> {
    words: &'t [&'t str],
    today: Date,
}

const MONTHS: [(&str, i8); 24] = [
    ("january", 1),
    ("januar", 1),
    ("february", 2),
    ("februar", 2),
    ("march", 3),
    ("märz", 3),
    ("april", 4),
    ("maerz", 3),
    ("may", 5),
    ("mai", 5),
    ("june", 6),
    ("juni", 6),
    ("july", 7),
    ("juli", 7),
    ("august", 8),
    ("september", 9),
    ("october", 10),
    ("oktober", 10),
    ("november", 11),
    ("december", 12),
    ("dezember", 12),
    ("sept", 9),
    ("dec", 12),
    ("dez", 12),
];

const WEEKDAYS: [(&str, Weekday); 15] = [
    ("monday", Weekday::Monday),
    ("montag", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("dienstag", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("mittwoch", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("donnerstag", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("freitag", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("samstag", Weekday::Saturday),
    ("sonnabend", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
    ("sonntag", Weekday::Sunday),
];

const ORDINALS: [(&str, i64); 24] = [
    ("first", 1),
    ("second", 2),
    ("third", 3),
    ("fourth", 4),
    ("fifth", 5),
    ("sixth", 6),
    ("seventh", 7),
    ("eighth", 8),
    ("ninth", 9),
    ("tenth", 10),
    ("eleventh", 11),
    ("twelfth", 12),
    ("twentieth", 20),
    ("thirtieth", 30),
    ("ersten", 1),
    ("erste", 1),
    ("zweiten", 2),
    ("dritten", 3),
    ("vierten", 4),
    ("fünften", 5),
    ("sechsten", 6),
    ("siebten", 7),
    ("achten", 8),
    ("zehnten", 10),
];

impl Reader<'_> {
    fn has(&self, phrase: &str) -> bool {
        self.place_of(phrase).is_some()
    }

    fn place_of(&self, phrase: &str) -> Option<Range<usize>> {
        let wanted: Vec<&str> = phrase.split(' ').collect();
        let at = self.words.windows(wanted.len()).position(|words| words == wanted.as_slice())?;
        Some(at..at + wanted.len())
    }

    /// Whether the words outside a range say something about a day that the range does not hold.
    fn says_more(&self, taken: &Range<usize>, weekday_may: bool) -> bool {
        let outside = |at: &usize| !taken.contains(at);
        (0..self.words.len()).filter(outside).any(|at| {
            let word = self.words.get(at).copied().unwrap_or_default().trim_end_matches('.');
            let before = at.checked_sub(1).and_then(|before| self.words.get(before)).copied();
            let spanned = matches!(before, Some("a" | "an" | "einer" | "einem" | "eine" | "ein"))
                && (is_unit(word) || matches!(word, "week" | "woche"));
            is_count(word)
                || is_relation(word)
                || spanned
                || MONTHS.iter().any(|(name, _)| *name == word)
                || matches!(word, "tomorrow" | "yesterday" | "gestern" | "übermorgen" | "vorgestern")
                || (!weekday_may && WEEKDAYS.iter().any(|(name, _)| *name == word))
        })
    }

    /// Whether the words name a day in some way: a count or a relation beside a unit or a month; a month alone, unless
    /// it is asked whether it is that month now.
    fn names_a_day(&self) -> bool {
        let any =
            |test: &dyn Fn(&str) -> bool| self.words.iter().any(|word| test(word.trim_end_matches('.')));
        let month = any(&|word| MONTHS.iter().any(|(name, _)| *name == word));
        let unit = any(&|word| is_unit(word));
        let counted = any(&is_count) || any(&is_relation);
        let now = any(&|word| matches!(word, "it" | "es" | "we" | "wir" | "now" | "jetzt"));
        (counted && (unit || month)) || (month && !now)
    }

    /// "tomorrow", "in 3 days", "2 weeks ago": how far, and the words that say so.
    fn distance(&self) -> Result<Option<(Span, Range<usize>)>, ()> {
        const NAMED: [(&str, i64); 10] = [
            ("day after tomorrow", 2),
            ("day before yesterday", -2),
            ("übermorgen", 2),
            ("uebermorgen", 2),
            ("vorgestern", -2),
            ("tomorrow", 1),
            ("tomorrows", 1),
            ("yesterday", -1),
            ("gestern", -1),
            ("morgen", 1),
        ];
        // "Guten Morgen" and "heute Morgen" are no other day.
        let greeting =
            ["guten morgen", "heute morgen", "schönen morgen"].iter().any(|phrase| self.has(phrase));
        for (name, days) in NAMED {
            if let Some(taken) = self.place_of(name).filter(|_| !(name == "morgen" && greeting)) {
                return Ok(Some((days.days(), taken)));
            }
        }
        for (at, word) in self.words.iter().enumerate() {
            let unit = match word.trim_end_matches('.') {
                "day" | "days" | "tag" | "tage" | "tagen" => 1,
                "week" | "weeks" | "woche" | "wochen" => 7,
                "fortnight" | "fortnights" => 14,
                "month" | "months" | "monat" | "monate" | "monaten" => 30,
                "year" | "years" | "jahr" | "jahre" | "jahren" => 365,
                _ => continue,
            };
            let Some((count, first)) = self.number_before(at) else { continue };
            let word_at =
                |at: Option<usize>| at.and_then(|at| self.words.get(at)).copied().unwrap_or_default();
            let in_front = word_at(first.checked_sub(1));
            let behind = word_at(Some(at + 1));
            let from_now = behind == "from" && matches!(word_at(Some(at + 2)), "now" | "today");
            let back = behind == "ago" || in_front == "vor";
            let ahead = in_front == "in" || from_now || matches!(behind, "later" | "später");
            if !(back || ahead) {
                continue;
            }
            let start = first - usize::from(matches!(in_front, "in" | "vor"));
            let end = at
                + 1
                + match behind {
                    "from" if from_now => 2,
                    "ago" | "later" | "später" => 1,
                    _ => 0,
                };
            if count.checked_mul(unit).is_none_or(|days| days > FARTHEST_DAYS) {
                return Err(());
            }
            let count = if back { -count } else { count };
            let span = match unit {
                1 => Span::new().try_days(count),
                7 => Span::new().try_weeks(count),
                14 => Span::new().try_weeks(count * 2),
                30 => Span::new().try_months(count),
                _ => Span::new().try_years(count),
            };
            return span.map(|span| Some((span, start..end))).map_err(|_| ());
        }
        Ok(None)
    }

    /// The number that ends before a word, and its first word.
    fn number_before(&self, at: usize) -> Option<(i64, usize)> {
        let before = at.checked_sub(1)?;
        let word = self.words.get(before)?;
        if let Ok(number) = word.parse() {
            return Some((number, before));
        }
        if matches!(*word, "a" | "an" | "einem" | "einer" | "eine" | "ein") {
            return Some((1, before));
        }
        (1..=3).rev().filter_map(|count| at.checked_sub(count)).find_map(|first| {
            let text = self.words.get(first..at)?.join(" ");
            let (number, length) = number_words::read(&text)?;
            (length == text.len()).then(|| i64::try_from(number).ok().map(|number| (number, first)))?
        })
    }

    /// A day of a month, before or behind its name; or figures such as 24.12.
    fn date(&self) -> Result<Option<(Date, Range<usize>)>, ()> {
        for (at, word) in self.words.iter().enumerate() {
            if let Some(&(_, month)) = MONTHS.iter().find(|(name, _)| name == word) {
                let behind = self.day_at(at + 1).filter(|&(day, _)| (1..=31).contains(&day));
                let behind = behind.map(|(day, next)| (day, at, next));
                let found = behind.or_else(|| self.day_before(at).map(|(day, first)| (day, first, at + 1)));
                let Some((day, first, next)) = found else { continue };
                let year =
                    self.words.get(next).and_then(|word| word.parse::<i16>().ok()).filter(|&year| year > 31);
                let taken = first..next + usize::from(year.is_some());
                return Ok(Some((self.on(day, month, year)?, taken)));
            }
            // "1.5 weeks" is no first of May.
            if self.words.get(at + 1).is_some_and(|next| is_unit(next)) {
                continue;
            }
            let mut figures = word.split('.');
            if let (Some(day), Some(month)) = (figures.next(), figures.next())
                && let (Ok(day), Ok(month)) = (day.parse::<i64>(), month.parse::<i8>())
                && (1..=12).contains(&month)
            {
                let year = match figures.next().filter(|year| !year.is_empty()) {
                    Some(year) => Some(year.parse::<i16>().map_err(|_| ())?),
                    None => None,
                };
                return Ok(Some((self.on(day, month, year)?, at..at + 1)));
            }
        }
        Ok(None)
    }

    /// A day that is written at a place, and the place behind it.
    fn day_at(&self, at: usize) -> Option<(i64, usize)> {
        let at = if self.words.get(at) == Some(&"the") { at + 1 } else { at };
        let word = self.words.get(at)?;
        if let Some(tens) = ["twenty", "thirty"].iter().position(|ten| ten == word)
            && let Some(unit) =
                self.words.get(at + 1).and_then(|word| ordinal(word)).filter(|&unit| unit < 10)
        {
            return Some(((tens as i64 + 2) * 10 + unit, at + 2));
        }
        ordinal(word).map(|day| (day, at + 1))
    }

    /// The day that is written in front of a place, and its first word.
    fn day_before(&self, at: usize) -> Option<(i64, usize)> {
        let last = at.checked_sub(1)?;
        let last = if self.words.get(last) == Some(&"of") { last.checked_sub(1)? } else { last };
        let whole = |first: usize| self.day_at(first).filter(|&(_, next)| next == last + 1);
        let pair = last.checked_sub(1).and_then(|first| whole(first).map(|(day, _)| (day, first)));
        pair.or_else(|| whole(last).map(|(day, _)| (day, last)))
    }

    fn on(&self, day: i64, month: i8, year: Option<i16>) -> Result<Date, ()> {
        let year = year.unwrap_or(self.today.year());
        i8::try_from(day).ok().and_then(|day| Date::new(year, month, day).ok()).ok_or(())
    }

    /// The next day of that name; with "last" the one before today.
    fn weekday(&self) -> Option<(Date, Range<usize>)> {
        let (at, weekday) = self.words.iter().enumerate().find_map(|(at, word)| {
            WEEKDAYS.iter().find(|(name, _)| name == word).map(|(_, weekday)| (at, weekday))
        })?;
        let before = at.checked_sub(1).and_then(|before| self.words.get(before)).copied().unwrap_or_default();
        let back = matches!(before, "last" | "letzten" | "letzter" | "letztes" | "vergangenen");
        let next = matches!(before, "next" | "nächsten" | "nächster" | "kommenden" | "kommender");
        // "Is it Friday today?" is about today.
        if ["today", "heute", "now", "jetzt", "it", "es"].iter().any(|word| self.has(word)) && !back {
            return None;
        }
        let date = self.today.nth_weekday(if back { -1 } else { 1 }, *weekday).ok()?;
        Some((date, at - usize::from(back || next)..at + 1))
    }
}

/// A span of time. "Day" and "week" alone are what is asked for: "what day of the week".
fn is_unit(word: &str) -> bool {
    matches!(
        word.trim_end_matches('.'),
        "days"
            | "tage"
            | "tagen"
            | "weeks"
            | "wochen"
            | "fortnight"
            | "months"
            | "month"
            | "monat"
            | "monate"
            | "monaten"
            | "years"
            | "year"
            | "jahr"
            | "jahre"
            | "jahren"
            | "hours"
            | "stunden"
            | "minutes"
            | "minuten"
            | "decades"
            | "jahrzehnten"
            | "centuries"
            | "werktage"
            | "werktagen"
    )
}

/// A number in figures or words, an ordinal, or a part. "One" and "second" mean other things as often.
fn is_count(word: &str) -> bool {
    if matches!(word, "one" | "eins" | "second" | "null") {
        return false;
    }
    word.starts_with(|c: char| c.is_ascii_digit())
        || ordinal(word).is_some()
        || number_words::read(word).is_some_and(|(_, length)| length == word.len())
        || matches!(word, "half" | "halben" | "halbes" | "anderthalb" | "couple" | "paar" | "few" | "several")
        || ["ersten", "erste", "dritte", "zwanzigste", "ßigste"].iter().any(|ordinal| word.ends_with(ordinal))
}

/// A word that sets a day off from another one.
fn is_relation(word: &str) -> bool {
    matches!(
        word,
        "next" | "last" | "previous" | "after" | "before" | "ago" | "nach" | "vor" | "later" | "später"
    ) || ["nächst", "letzt", "vorig", "kommend", "vergangen", "übernächst"]
        .iter()
        .any(|stem| word.starts_with(stem))
}

/// A day in figures or words: `27`, `27th`, `22.`, `seventh`.
fn ordinal(word: &str) -> Option<i64> {
    let plain = word.trim_end_matches(['.']);
    let figures =
        ["st", "nd", "rd", "th", "te", "ten"].iter().find_map(|end| plain.strip_suffix(end)).unwrap_or(plain);
    let figures = if figures.bytes().all(|byte| byte.is_ascii_digit()) { figures } else { plain };
    if let Ok(day) = figures.parse::<i64>() {
        return (1..=31).contains(&day).then_some(day);
    }
    if let Some(&(_, day)) = ORDINALS.iter().find(|(name, _)| *name == plain) {
        return Some(day);
    }
    // "twenty-seventh" came apart; "fifteenth" is fifteen and th.
    let (number, length) = number_words::read(plain.strip_suffix("th")?)?;
    (length + 2 == plain.len()).then(|| i64::try_from(number).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_found_in_both_languages() {
        let today = jiff::civil::date(2026, 1, 2);
        for (text, expected) in [
            ("und morgen?", Some("2026-01-03")),
            ("Guten Morgen, wie spät ist es?", None),
            ("the day after tomorrow", Some("2026-01-04")),
            ("what date will it be 8 days from now", Some("2026-01-10")),
            ("in 4 days, what date will it be", Some("2026-01-06")),
            ("Welcher Tag ist in drei Wochen?", Some("2026-01-23")),
            ("vor 2 Tagen", Some("2025-12-31")),
            ("in a month", Some("2026-02-02")),
            ("what day is it in a fortnight", Some("2026-01-16")),
            ("what day is the twenty second of may", Some("2026-05-22")),
            ("what day of the week is june twenty seventh on this year", Some("2026-06-27")),
            ("what day does april sixteenth fall on", Some("2026-04-16")),
            ("March 3rd 2027", Some("2027-03-03")),
            ("Welcher Wochentag ist der 24. Dezember?", Some("2026-12-24")),
            ("am 24.12.2025", Some("2025-12-24")),
            ("the date of next saturday", Some("2026-01-03")),
            ("last Monday", Some("2025-12-29")),
            ("Is it Friday today?", None),
            ("What time is it?", None),
            ("What year is it?", None),
        ] {
            let found = find(text, today).map(|date| date.map(|date| date.to_string()));
            assert_eq!(found, Ok(expected.map(str::to_owned)), "{text}");
        }
        for text in [
            "February 30",
            "What date is 30 days after March 1?",
            "what date is 3 months and 2 days from now",
            "Welcher Tag war der 24. Dezember letztes Jahr?",
            "Welcher Tag ist der 24. Dezember in 3 Jahren?",
            "the first Monday of May",
            "Welcher Tag ist morgen in einer Woche?",
            "two days from tomorrow",
            "1.5 years from now",
            "what date is -3 days from now",
            "1 January 99999",
            "May 3, '20",
            "der 32. Dezember",
            "der dritte Oktober",
            "in 1,5 Wochen",
            "36 hours from now",
            "a couple of weeks from now",
            "the last day of February 2028",
            "und im Mai?",
        ] {
            assert_eq!(find(text, today), Err(()), "{text}");
        }
        for text in ["is it november already", "haben wir schon Mai", "what day of the week is it"] {
            assert_eq!(find(text, today), Ok(None), "{text}");
        }
        assert_eq!(find("is the 4th of July a Friday", today), Ok(Some(jiff::civil::date(2026, 7, 4))));
        assert_eq!(find("in 99999999999 years", today), Err(()));
    }
}
