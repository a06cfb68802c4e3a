//! `unsupported-figure`: a figure that no result gives, the user did not name and one operation on two figures of a
//! passage does not give.

use super::{Finding, Material};
use crate::figures::{Figure, FigureKind, figures};

const RULE: &str = "unsupported-figure";

/// Figures of a passage that operations are tried on: with more, almost any figure could be derived.
const MOST_OPERANDS: usize = 12;
/// Digits from which a whole number without a unit counts: ages and counts of two digits are often worked out.
const FEWEST_DIGITS: usize = 3;

pub(super) fn check(material: &Material<'_>) -> Vec<Finding> {
    let done: Vec<&str> = material.done().map(|ran| ran.result.as_str()).collect();
    if done.is_empty() {
        return Vec::new();
    }
    let given =
        done.iter().copied().chain(material.users()).chain(material.recalled.iter().map(String::as_str));
    let known: Vec<Figure> = given.flat_map(figures).collect();
    let passages: Vec<Vec<Figure>> =
        done.iter().flat_map(|result| passages_of(result)).map(figures).collect();
    // Results of the calculator were checked against its own rule, which rounds otherwise.
    let computed: Vec<Figure> =
        material.done().filter(|ran| ran.name == "calculator").flat_map(|ran| figures(&ran.result)).collect();
    let mut out: Vec<Finding> = Vec::new();
    for figure in figures(material.answer) {
        let counts = figure.kind == FigureKind::Plain
            && (figure.digits >= FEWEST_DIGITS
                || figure.decimals > 0
                || figure.scale != 1.0
                || figure.has_unit());
        let rounded = |known: &Figure| known.decimals > 0 && figure.decimals > 0 && figure.same(known);
        if !counts
            || known.iter().any(|known| figure.same(known))
            || is_decade(&figure, material.answer, &known)
            || computed.iter().any(rounded)
            || passages.iter().any(|passage| is_derived(&figure, passage))
        {
            continue;
        }
        let written = material.answer.get(figure.span.clone()).unwrap_or_default().to_owned();
        if out.iter().any(|finding| finding.evidence.first() == Some(&written)) {
            continue;
        }
        let correction = material.reply("correct-figure", &[("figure", &written)]);
        out.push(Finding { rule: RULE, span: figure.span.clone(), evidence: vec![written], correction });
    }
    out
}

/// "The late 1980s", "die 1980er": a year of that decade is known.
fn is_decade(figure: &Figure, answer: &str, known: &[Figure]) -> bool {
    let behind = answer.get(figure.span.end..).unwrap_or_default();
    let behind = behind.trim_start_matches(['\'', '’', '-']);
    let is_one = figure.is_year()
        && figure.value % 10.0 == 0.0
        && (behind.starts_with('s') || behind.starts_with("er"));
    is_one
        && known
            .iter()
            .any(|known| known.is_year() && (figure.value..figure.value + 10.0).contains(&known.value))
}

/// The passages of a result: its numbered entries, else its paragraphs.
#[must_use]
pub fn passages_of(result: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut at = 0;
    let mut blank = true;
    for line in result.split_inclusive('\n') {
        let numbered = line
            .split_once(". ")
            .is_some_and(|(number, _)| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
        if (numbered || blank) && at > start {
            out.push(result.get(start..at).unwrap_or_default());
            start = at;
        }
        blank = line.trim().is_empty();
        at += line.len();
    }
    out.push(result.get(start..).unwrap_or_default());
    out.retain(|passage| !passage.trim().is_empty());
    out
}

/// Whether exactly one operation on exactly two figures of a passage gives a figure, at the precision in which it is
/// written. Sums and differences need one unit; years are only subtracted; a share needs a percent sign.
#[must_use]
pub fn is_derived(figure: &Figure, passage: &[Figure]) -> bool {
    let operands: Vec<&Figure> =
        passage.iter().filter(|known| matches!(known.kind, FigureKind::Plain | FigureKind::Date)).collect();
    let operands: Vec<&Figure> = operands
        .into_iter()
        .filter(|known| known.kind == FigureKind::Plain || known.is_year())
        .take(MOST_OPERANDS)
        .collect();
    let percent = |figure: &Figure| {
        figure.unit.starts_with('%') || matches!(figure.unit.as_str(), "prozent" | "percent")
    };
    let is = |value: f64, decimals: u32| value.is_finite() && figure.equals(value, decimals, 1.0);
    for (at, a) in operands.iter().enumerate() {
        for b in operands.iter().skip(at + 1) {
            let (years, any_year) = (a.is_year() && b.is_year(), a.is_year() || b.is_year());
            let difference = (a.value - b.value).abs();
            if years {
                if !percent(figure) && figure.decimals == 0 && is(difference, 0) {
                    return true;
                }
                continue;
            }
            if any_year {
                continue;
            }
            let decimals = a.decimals.max(b.decimals);
            let unit = |figure: &Figure| if figure.has_unit() { figure.unit.clone() } else { String::new() };
            let same_unit =
                unit(a) == unit(b) && (!figure.has_unit() || unit(figure) == unit(a) || !a.has_unit());
            if same_unit && (is(a.value + b.value, decimals) || is(difference, decimals)) {
                return true;
            }
            if percent(figure) {
                let shares = [
                    a.value / b.value * 100.0,
                    b.value / a.value * 100.0,
                    difference / a.value * 100.0,
                    difference / b.value * 100.0,
                ];
                if shares.into_iter().any(|share| is(share, 12)) {
                    return true;
                }
                continue;
            }
            let one_percent = percent(a) != percent(b);
            if one_percent && is(a.value * b.value / 100.0, 12) {
                return true;
            }
            if !percent(a)
                && !percent(b)
                && a.value > 1.0
                && b.value > 1.0
                && (is(a.value * b.value, decimals) || is_quotient(figure, a, b))
            {
                return true;
            }
        }
    }
    false
}

/// A quotient that is written with decimals, or comes out even.
fn is_quotient(figure: &Figure, a: &Figure, b: &Figure) -> bool {
    [(a, b), (b, a)].into_iter().any(|(a, b)| {
        let quotient = a.value / b.value;
        if !quotient.is_finite() || quotient < 1.0 {
            return false;
        }
        let even = (quotient - quotient.round()).abs() < 1e-9;
        (even && (figure.value - quotient).abs() < 1e-9)
            || (figure.decimals > 0 && figure.scale == 1.0 && figure.equals(quotient, 12, 1.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_operation_on_two_figures_of_a_passage_is_derived_and_nothing_else() {
        let derived = |figure: &str, passage: &str| is_derived(&figures(figure).remove(0), &figures(passage));
        assert!(
            derived("15.5", "12.4 and 3.1")
                && derived("9.3", "12.4 and 3.1")
                && derived("15,5", "12,4 und 3,1")
        );
        assert!(!derived("17", "12.4 and 3.1") && !derived("17.2", "12.4 and 3.1"));
        assert!(derived("56", "1889 to 1945") && !derived("3834", "1889 to 1945"));
        assert!(
            derived("25 %", "50 of 200 seats")
                && derived("412 m", "200 m and 212 m")
                && !derived("412 m", "200 m and 212 kg")
        );
        assert!(derived("600", "20 rows of 30 seats") && derived("1.5", "3 boats, 2 piers"));
        assert!(!derived("620", "200, 210 and 210 seats"), "three figures");
    }

    #[test]
    fn entries_and_paragraphs_are_passages() {
        assert_eq!(passages_of("Head\n\n1. A - u\n   \"x 1\"\n\n2. B - v\n   \"y 2\"\n").len(), 3);
        assert_eq!(passages_of("1. A\n2. B"), ["1. A\n", "2. B"]);
        assert!(passages_of("").is_empty());
    }
}
