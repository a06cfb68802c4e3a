//! Reads and writes numbers as people do: `98,765`, `1.234,5`, `46 700`, `1’000`, `0,5`.
//!
//! Values are rational numbers, so nothing is lost between the message and the answer.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Pow, Signed, ToPrimitive, Zero};

/// Most digits of a number that is read.
const MOST_DIGITS: usize = 400;
/// Decimal places up to which a value that ends is written out whole.
const EXACT_PLACES: usize = 40;
/// Digits behind the mark of a value that is rounded; below 0.1, significant digits.
const ROUNDED_PLACES: usize = 12;
/// Zeros behind the mark from which a rounded value is written with a power of ten.
const SCIENTIFIC_ZEROS: usize = 8;

/// Reads a number. `mark` is the decimal mark of the message's language, if that is certain.
pub(super) fn read(text: &str, mark: Option<char>) -> Option<BigRational> {
    if text.len() > MOST_DIGITS {
        return None;
    }
    let spacer = |c: char| matches!(c, '\'' | '’' | ' ' | '_' | '\u{A0}' | '\u{2009}' | '\u{202F}');
    // What is set apart are groups of three.
    let group = |group: &str| group.split(['.', ',']).next().is_some_and(|group| group.len() == 3);
    if !text.split(spacer).skip(1).all(group) {
        return None;
    }
    let plain: String = text.chars().filter(|&c| !spacer(c)).collect();
    let (whole, fraction) = match decimal_mark(&plain, mark)? {
        Some(mark) => plain.split_once(mark)?,
        None => (plain.as_str(), ""),
    };
    let whole: String = whole.chars().filter(|c| !matches!(c, '.' | ',')).collect();
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(&whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let numerator: BigInt = format!("{whole}{fraction}").parse().ok()?;
    Some(BigRational::new(numerator, ten_to(fraction.len())))
}

/// Which of `.` and `,` is the decimal mark, if one is. None where the marks stand as in no number: `1.2.3`.
fn decimal_mark(text: &str, mark: Option<char>) -> Option<Option<char>> {
    let count = |mark: char| text.matches(mark).count();
    match (count('.'), count(',')) {
        (0, 0) => Some(None),
        // Both: the last one written, behind thousands.
        (dots, commas) if dots > 0 && commas > 0 => {
            let at = text.rfind(['.', ','])?;
            let last = text.get(at..)?.chars().next()?;
            let thousands = if last == '.' { ',' } else { '.' };
            (count(last) == 1 && is_grouped(text.get(..at)?, thousands)).then_some(Some(last))
        }
        // One kind, several times: thousands.
        (dots, commas) if dots + commas > 1 => {
            is_grouped(text, if dots > 0 { '.' } else { ',' }).then_some(None)
        }
        (dots, _) => {
            let used = if dots > 0 { '.' } else { ',' };
            let groups = is_grouped(text, used) && !text.starts_with('0');
            let thousands = match mark {
                Some(mark) => groups && used != mark,
                // Nobody said which language: 98,765 is grouped, 4.321 is a decimal.
                None => groups && used == ',',
            };
            Some((!thousands).then_some(used))
        }
    }
}

/// The decimal mark that a figure tells by its form: `1.500,5`, `2,5`, `1.234.567`; None for `1.500` and `15`.
pub(super) fn mark_told(figure: &str) -> Option<char> {
    let other = |mark: char| if mark == '.' { ',' } else { '.' };
    let last = figure.rfind(['.', ',']).and_then(|at| figure.get(at..)?.chars().next())?;
    match (figure.matches('.').count(), figure.matches(',').count()) {
        (dots, commas) if dots > 0 && commas > 0 => Some(last),
        (dots, commas) if dots + commas > 1 => is_grouped(figure, last).then(|| other(last)),
        _ => (!is_grouped(figure, last)).then_some(last),
    }
}

/// The decimal mark beside a figure whose own mark holds thousands: the comma for `1.500`.
pub(super) fn mark_of_thousands(figure: &str) -> Option<char> {
    let mark = figure.chars().find(|c| matches!(c, '.' | ','))?;
    (is_grouped(figure, mark) && !figure.starts_with('0')).then_some(if mark == '.' { ',' } else { '.' })
}

/// One to three digits, then groups of three.
fn is_grouped(text: &str, mark: char) -> bool {
    let mut groups = text.split(mark);
    groups.next().is_some_and(|first| (1..=3).contains(&first.len())) && groups.all(|group| group.len() == 3)
}

/// A power of ten.
pub(super) fn ten_to(power: usize) -> BigInt {
    BigInt::from(10).pow(power)
}

/// A value in digits with this decimal mark, and whether they say all of it.
pub(super) fn write(value: &BigRational, mark: char) -> (String, bool) {
    let sign = if value.is_negative() { "-" } else { "" };
    let value = value.abs();
    if let Some(places) = decimal_places(value.denom()).filter(|&places| places <= EXACT_PLACES) {
        let digits = (value.numer() * ten_to(places) / value.denom()).to_string();
        return (format!("{sign}{}", place_mark(&digits, places, mark)), true);
    }
    let zeros = leading_zeros(&value);
    if zeros > SCIENTIFIC_ZEROS {
        let digits = rounded(&value, zeros + ROUNDED_PLACES).to_string();
        let exponent = zeros + 1 + ROUNDED_PLACES - digits.len();
        let (first, rest) = digits.split_at(1);
        let rest = rest.trim_end_matches('0');
        let point = if rest.is_empty() { String::new() } else { format!("{mark}{rest}") };
        return (format!("{sign}{first}{point} × 10^-{exponent}"), false);
    }
    let places = zeros + ROUNDED_PLACES;
    let digits = rounded(&value, places).to_string();
    let text = place_mark(&digits, places, mark);
    let text = text.trim_end_matches('0').trim_end_matches(mark).to_owned();
    (format!("{sign}{text}"), false)
}

/// How many decimal places a fraction with this denominator has; None if it never ends.
fn decimal_places(denominator: &BigInt) -> Option<usize> {
    let mut rest = denominator.clone();
    let mut powers = [0_usize; 2];
    for (prime, power) in [2, 5].into_iter().zip(&mut powers) {
        let prime = BigInt::from(prime);
        while (&rest % &prime).is_zero() {
            rest /= &prime;
            *power += 1;
            if *power > EXACT_PLACES {
                return None;
            }
        }
    }
    rest.is_one().then_some(powers[0].max(powers[1]))
}

/// Zeros between the mark and the first digit of a value below one.
fn leading_zeros(value: &BigRational) -> usize {
    let (numerator, denominator) = (value.numer().to_string().len(), value.denom().to_string().len());
    let mut zeros = denominator.saturating_sub(numerator).saturating_sub(1);
    while zeros < 1_000_000 && (value.numer() * ten_to(zeros + 1)) < *value.denom() {
        zeros += 1;
    }
    zeros
}

/// The value times a power of ten, rounded half to even.
fn rounded(value: &BigRational, places: usize) -> BigInt {
    let scaled = value * BigRational::from(ten_to(places));
    let floor = scaled.floor().to_integer();
    let rest = scaled - BigRational::from(floor.clone());
    let half = BigRational::new(BigInt::one(), BigInt::from(2));
    let odd = (&floor % 2_u8).to_u8() == Some(1);
    if rest > half || (rest == half && odd) { floor + 1 } else { floor }
}

fn place_mark(digits: &str, places: usize, mark: char) -> String {
    if places == 0 {
        return digits.to_owned();
    }
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = padded.split_at(padded.len() - places);
    format!("{whole}{mark}{fraction}")
}

#[cfg(test)]
mod tests {
    use super::{read, write};

    #[test]
    fn separators_are_read_by_language_and_form() {
        let shown = |text: &str, mark| read(text, mark).map(|number| write(&number, '.').0);
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
            (".5", None, "0.5"),
            ("46 700", None, "46700"),
            ("1'000", None, "1000"),
            ("1’234.50", None, "1234.5"),
        ] {
            assert_eq!(shown(text, mark).as_deref(), Some(expected), "{text} {mark:?}");
        }
        for text in ["x", "1.2.3", "192.168.0.1", "1,2.5,3", "12,34.5", ""] {
            assert_eq!(read(text, None), None, "{text}");
        }
    }
}
