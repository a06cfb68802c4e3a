//! Reads which day a question is about: "in 3 days", "übermorgen", "next Friday", "22. März", "June twenty seventh".

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan};

use super::number_words;

/// Farthest that a question may reach, in days: beyond it calendars mean little.
const FARTHEST_DAYS: i64 = 366 * 2_000;

/// The day that a text names, seen from today; None if it names none. An error is a day that the calendar lacks.
pub(super) fn find(text: &str, today: Date) -> Result<Option<Date>, ()> {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !(c.is_alphanumeric() || c == '.')).filter(|w| !w.is_empty()).collect();
    let reader = Reader { text: &lower, words: &words, today };
    if let Some(span) = reader.distance()? {
        return today.checked_add(span).map(Some).map_err(|_| ());
    }
    if let Some(date) = reader.date()? {
        return Ok(Some(date));
    }
    Ok(reader.weekday())
}

struct Reader<'t> {
    text: &'t str,
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
        let wanted: Vec<&str> = phrase.split(' ').collect();
        self.words.windows(wanted.len()).any(|words| words == wanted.as_slice())
    }

    /// "tomorrow", "in 3 days", "2 weeks ago".
    fn distance(&self) -> Result<Option<Span>, ()> {
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
            if self.has(name) && !(name == "morgen" && greeting) {
                return Ok(Some(days.days()));
            }
        }
        for (at, word) in self.words.iter().enumerate() {
            let unit = match word.trim_end_matches('.') {
                "day" | "days" | "tag" | "tage" | "tagen" => 1,
                "week" | "weeks" | "woche" | "wochen" => 7,
                "month" | "months" | "monat" | "monate" | "monaten" => 30,
                "year" | "years" | "jahr" | "jahre" | "jahren" => 365,
                _ => continue,
            };
            let Some((count, first)) = self.number_before(at) else { continue };
            let word_at =
                |at: Option<usize>| at.and_then(|at| self.words.get(at)).copied().unwrap_or_default();
            let back = word_at(Some(at + 1)) == "ago" || word_at(first.checked_sub(1)) == "vor";
            let ahead = word_at(first.checked_sub(1)) == "in"
                || (word_at(Some(at + 1)) == "from" && word_at(Some(at + 2)) == "now")
                || matches!(word_at(Some(at + 1)), "later" | "später");
            if !(back || ahead) {
                continue;
            }
            if count.checked_mul(unit).is_none_or(|days| days > FARTHEST_DAYS) {
                return Err(());
            }
            let count = if back { -count } else { count };
            let span = match unit {
                1 => Span::new().try_days(count),
                7 => Span::new().try_weeks(count),
                30 => Span::new().try_months(count),
                _ => Span::new().try_years(count),
            };
            return span.map(Some).map_err(|_| ());
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
    fn date(&self) -> Result<Option<Date>, ()> {
        for (at, word) in self.words.iter().enumerate() {
            if let Some(&(_, month)) = MONTHS.iter().find(|(name, _)| name == word) {
                let behind = self.day_at(at + 1).filter(|&(day, _)| (1..=31).contains(&day));
                let found = behind.or_else(|| self.day_before(at).map(|day| (day, at + 1)));
                let Some((day, next)) = found else { continue };
                let year =
                    self.words.get(next).and_then(|word| word.parse::<i16>().ok()).filter(|&year| year > 31);
                return self.on(day, month, year).map(Some);
            }
            let mut figures = word.split('.');
            if let (Some(day), Some(month)) = (figures.next(), figures.next())
                && let (Ok(day), Ok(month)) = (day.parse::<i64>(), month.parse::<i8>())
                && (1..=12).contains(&month)
            {
                let year = figures.next().and_then(|year| year.parse::<i16>().ok());
                return self.on(day, month, year).map(Some);
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

    fn day_before(&self, at: usize) -> Option<i64> {
        let last = at.checked_sub(1)?;
        let last = if self.words.get(last) == Some(&"of") { last.checked_sub(1)? } else { last };
        let pair =
            last.checked_sub(1).and_then(|first| self.day_at(first)).filter(|&(_, next)| next == last + 1);
        pair.or_else(|| self.day_at(last)).map(|(day, _)| day)
    }

    fn on(&self, day: i64, month: i8, year: Option<i16>) -> Result<Date, ()> {
        let year = year.unwrap_or(self.today.year());
        i8::try_from(day).ok().and_then(|day| Date::new(year, month, day).ok()).ok_or(())
    }

    /// The next day of that name; with "last" the one before today.
    fn weekday(&self) -> Option<Date> {
        let (_, weekday) = WEEKDAYS.iter().find(|(name, _)| self.has(name))?;
        let back = ["last", "letzten", "letzter", "letztes", "vergangenen"]
            .iter()
            .any(|word| self.text.contains(word));
        // "Is it Friday today?" is about today.
        if ["today", "heute", "now", "jetzt", "it", "es"].iter().any(|word| self.has(word)) && !back {
            return None;
        }
        self.today.nth_weekday(if back { -1 } else { 1 }, *weekday).ok()
    }
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
        assert_eq!(find("February 30", today), Err(()));
        assert_eq!(find("in 99999999999 years", today), Err(()));
    }
}
