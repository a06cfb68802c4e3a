//! `wrong-fact`: research opened with an answer, and the answer given is another.

use unicode_normalization::UnicodeNormalization;

use super::{Finding, Material, without_links};
use crate::figures::{FigureKind, figures};
use crate::research::words;

const RULE: &str = "wrong-fact";
/// Letters of a last name that stands for the whole (reference: 4).
const LAST_NAME: usize = 4;
/// Share by which a figure may differ: 14 and 13.96 million (reference: 10 %).
const TOLERANCE: f64 = 0.1;

pub(super) fn check(material: &Material<'_>) -> Option<Finding> {
    let last = material.done().rfind(|ran| ran.name == "research")?;
    let answer = last.result.lines().next()?.strip_prefix("Answer: ")?.trim();
    if answer.is_empty()
        || states(material.answer, answer)
        || material.claims_nothing() && material.answer.trim().ends_with('?')
    {
        return None;
    }
    let correction = material.reply("correct-fact", &[("answer", answer)]);
    Some(Finding {
        rule: RULE,
        span: material.whole(),
        evidence: vec![format!("Answer: {answer}")],
        correction,
    })
}

/// Letters without accents, small.
fn folded(text: &str) -> Vec<String> {
    let plain: String = text.nfd().filter(|c| !unicode_normalization::char::is_combining_mark(*c)).collect();
    words(&plain.replace('ß', "ss"))
}

fn states(draft: &str, answer: &str) -> bool {
    let wanted: Vec<_> =
        figures(answer).into_iter().filter(|figure| figure.kind != FigureKind::Time).collect();
    let stated = figures(draft);
    if let Some(first) = wanted.first() {
        // Every number of the draft is tried: the first may be a year.
        let near = |value: f64, wanted: f64| (value - wanted).abs() <= TOLERANCE * wanted.abs() + 1e-9;
        let fits = |wanted: &crate::figures::Figure| {
            stated.iter().any(|figure| {
                if wanted.is_year() { figure.value == wanted.value } else { near(figure.value, wanted.value) }
            })
        };
        return if first.is_year() || first.kind == FigureKind::Date {
            wanted.iter().filter(|figure| figure.is_year()).all(fits)
        } else {
            fits(first)
        };
    }
    let (draft, wanted) = (folded(&without_links(draft)), folded(answer));
    let holds =
        |word: &String| draft.iter().any(|known| known == word || known.strip_suffix('s') == Some(word));
    if wanted.iter().all(holds) {
        return true;
    }
    wanted.len() > 1 && wanted.last().is_some_and(|last| last.chars().count() >= LAST_NAME && holds(last))
}
