//! `wrong-number`: a result of the calculator that the answer does not give, or a time that is not the clock's.

use std::ops::Range;
use std::sync::LazyLock;

use regex_automata::meta::Regex;

use super::{Finding, Material, Ran};
use crate::figures::{FigureKind, figures};

const RULE: &str = "wrong-number";

/// One finding, however many sums there were.
pub(super) fn check(material: &Material<'_>) -> Option<Finding> {
    sum(material).or_else(|| clock(material))
}

fn sum(material: &Material<'_>) -> Option<Finding> {
    let stated = figures(material.answer);
    for ran in material.done().filter(|ran| ran.name == "calculator") {
        let line = ran.result.lines().next().unwrap_or_default();
        let Some(at) = line.rfind(['=', '≈']) else { continue };
        let result = line.get(at..).unwrap_or_default().trim_start_matches(['=', '≈', ' ']);
        // A value that only a power of ten can write is stated in too many ways.
        if result.contains(['e', 'E', '×', '^']) {
            continue;
        }
        let Some(value) = figures(result).into_iter().next() else { continue };
        let fits = |figure: &crate::figures::Figure| {
            let exact = (figure.value - value.value).abs() <= 1e-9 * value.value.abs().max(1.0);
            // A long decimal may be quoted shorter, a whole number not.
            let rounded = value.decimals > 0
                && (1..=6).contains(&figure.decimals)
                && (figure.value - value.value).abs()
                    <= figure.scale * 0.500_001 / 10_f64.powi(figure.decimals.cast_signed());
            exact || rounded
        };
        if !stated.iter().any(fits) {
            let span = stated
                .iter()
                .find(|figure| figure.kind == FigureKind::Plain)
                .map_or_else(|| material.whole(), |figure| figure.span.clone());
            let correction = material.reply("correct-sum", &[("result", line)]);
            return Some(Finding { rule: RULE, span, evidence: vec![line.to_owned()], correction });
        }
    }
    None
}

fn clock(material: &Material<'_>) -> Option<Finding> {
    let last = material.done().rfind(|ran| ran.name == "current_time")?;
    let (hour, minute) = read(last)?;
    let stated = times(material.answer);
    let first = stated.first()?.0.clone();
    if stated.iter().any(|(_, time)| *time == (hour, minute)) {
        return None;
    }
    let time = format!("{hour:02}:{minute:02}");
    let correction = material.reply("correct-clock", &[("time", &time)]);
    Some(Finding { rule: RULE, span: first, evidence: vec![last.result.clone()], correction })
}

/// Hour and minute of a reading: of the line for machines, else of the sentence.
fn read(ran: &Ran) -> Option<(u32, u32)> {
    let machine = ran.result.lines().nth(1).unwrap_or(&ran.result);
    times(machine).into_iter().chain(times(&ran.result)).map(|(_, time)| time).next()
}

static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:([01]?\d|2[0-4]):([0-5]\d)(?::[0-5]\d)?(?:\s*(am|pm|a\.m\.|p\.m\.)\b?)?|([01]?\d|2[0-4])\.([0-5]\d)\s*(?:uhr\b|(am|pm|a\.m\.|p\.m\.))|([01]?\d|2[0-4])\s*uhr(?:\s+([0-5]?\d)\b)?|(1[0-2]|0?[1-9])\s*(am|pm|a\.m\.|p\.m\.))",
    )
    .ok()
});

/// Times of day in a text, with where they stand. Dotted dates are none, and offsets from UTC are none.
fn times(text: &str) -> Vec<(Range<usize>, (u32, u32))> {
    let Some(regex) = &*TIME else { return Vec::new() };
    let mut out = Vec::new();
    for captures in regex.captures_iter(text) {
        let Some(whole) = captures.get_match() else { continue };
        let before = text.get(..whole.start()).unwrap_or_default();
        if before.ends_with(['+', '-', '−', '±', ':', '.']) && !before.ends_with(". ") {
            continue;
        }
        let group = |at: usize| captures.get_group(at).and_then(|span| text.get(span.range()));
        let number = |at: usize| group(at).and_then(|digits| digits.parse::<u32>().ok());
        let half = [3, 6, 10].into_iter().find_map(group).map(str::to_lowercase);
        let hour = [1, 4, 7, 9].into_iter().find_map(number);
        let minute = [2, 5, 8].into_iter().find_map(number).unwrap_or(0);
        let Some(hour) = hour else { continue };
        let hour = match half.as_deref().map(|half| half.starts_with('p')) {
            Some(true) if hour < 12 => hour + 12,
            Some(false) if hour == 12 => 0,
            _ => hour % 24,
        };
        out.push((whole.range(), (hour, minute)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{TIME, times};

    #[test]
    fn times_are_read_in_every_usual_form() {
        assert!(TIME.is_some());
        let found = |text: &str| times(text).into_iter().map(|(_, time)| time).collect::<Vec<_>>();
        assert_eq!(
            found("22:40, 22.40 Uhr, 22 Uhr 40, 10:40 pm, 10 p.m., 9 Uhr"),
            [(22, 40), (22, 40), (22, 40), (22, 40), (22, 0), (9, 0)]
        );
        assert_eq!(found("12:05 am"), [(0, 5)]);
        assert!(found("am 01.12.2026, version 2.40, UTC+09:00").is_empty());
    }
}
