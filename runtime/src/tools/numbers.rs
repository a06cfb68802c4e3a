//! Reads numbers as people write them: `98,765`, `1.234,5`, `46 700`, `0,5`.

use bigdecimal::BigDecimal;

/// Most digits of a number that is read.
const MOST_DIGITS: usize = 400;

/// Reads a number. `mark` is the decimal mark of the message's language, if that is certain.
pub(super) fn read(text: &str, mark: Option<char>) -> Option<BigDecimal> {
    if text.len() > MOST_DIGITS {
        return None;
    }
    let plain: String =
        text.chars().filter(|c| !matches!(c, '\'' | '’' | ' ' | '_' | '\u{A0}' | '\u{202F}')).collect();
    let decimal = decimal_mark(&plain, mark);
    let mut out = String::with_capacity(plain.len());
    for c in plain.chars() {
        match c {
            '0'..='9' => out.push(c),
            '.' | ',' if Some(c) == decimal => out.push('.'),
            '.' | ',' => {}
            _ => return None,
        }
    }
    out.parse().ok()
}

/// Which of `.` and `,` is the decimal mark; None if neither is.
fn decimal_mark(text: &str, mark: Option<char>) -> Option<char> {
    let count = |mark: char| text.matches(mark).count();
    match (count('.'), count(',')) {
        (0, 0) => None,
        // Both: the last one written.
        (dots, commas) if dots > 0 && commas > 0 => {
            let last = text.rfind(['.', ','])?;
            let last = text.get(last..)?.chars().next()?;
            (count(last) == 1).then_some(last)
        }
        // One kind, several times: thousands.
        (dots, commas) if dots + commas > 1 => None,
        (dots, _) => {
            let used = if dots > 0 { '.' } else { ',' };
            let (before, after) = text.split_once(used)?;
            let groups = after.len() == 3 && (1..=3).contains(&before.len()) && !before.starts_with('0');
            let thousands = match mark {
                Some(mark) => groups && used != mark,
                // Nobody said which language: 98,765 is grouped, 4.321 is a decimal.
                None => groups && used == ',',
            };
            (!thousands).then_some(used)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn separators_are_read_by_language_and_form() {
        let read = |text: &str, mark| read(text, mark).map(|number| number.to_string());
        for (text, mark, expected) in [
            ("98,765", None, "98765"),
            ("4.321", None, "4.321"),
            ("4.321", Some(','), "4321"),
            ("98,765", Some(','), "98.765"),
            ("1.234,5", None, "1234.5"),
            ("1,234.5", None, "1234.5"),
            ("1.234.567", None, "1234567"),
            ("0,125", None, "0.125"),
            ("1,5", None, "1.5"),
            ("46 700", None, "46700"),
            ("1'000", None, "1000"),
        ] {
            assert_eq!(read(text, mark).as_deref(), Some(expected), "{text} {mark:?}");
        }
        assert_eq!(read("x", None), None);
    }
}
