//! Chooses the sentences that answer a question: by the words they share with it, weighted by how few sentences have
//! them, by the kind of answer that it asks for, and by what their neighbours say. Code alone; no model runs.
//!
//! Weights were fitted on 400 questions in two languages and checked by folds of whole paragraphs.
#![deny(clippy::indexing_slicing)]

mod features;
mod words;

use std::collections::HashSet;

use features::{Features, features};
use words::Language;

#[cfg(feature = "tools")]
pub(crate) use words::is_named_noun;

/// Sentences that are quoted at most.
const MOST_QUOTED: usize = 3;
/// A second and a third are quoted when their score is less than this behind the first.
const LEAD: f64 = 3.5;

/// Indexes of the passages to quote, best first: one, and up to two more where the lead is small. Empty only without
/// passages.
#[must_use]
pub fn choose(question: &str, passages: &[&str]) -> Vec<usize> {
    let scores = rank(question, passages);
    let mut order: Vec<(usize, f64)> = scores.into_iter().enumerate().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    // Nothing is quoted twice, and no blank one while there is another.
    let text = |at: usize| passages.get(at).map_or("", |passage| passage.trim());
    let mut seen = HashSet::new();
    let all_blank = passages.iter().all(|passage| passage.trim().is_empty());
    order.retain(|(at, _)| seen.insert(text(*at)) && (all_blank || !text(*at).is_empty()));
    let Some(&(_, best)) = order.first() else { return Vec::new() };
    order.iter().take(MOST_QUOTED).filter(|(_, score)| best - score < LEAD).map(|(at, _)| *at).collect()
}

/// How likely each passage answers the question; only differences mean something.
#[must_use]
pub fn rank(question: &str, passages: &[&str]) -> Vec<f64> {
    let language = Language::of(question, passages);
    features(question, passages, language).iter().map(score).collect()
}

fn score(found: &Features) -> f64 {
    5.0 * found.content + 0.3 * found.covered - 3.8 * found.covered_share * found.covered_share
        + 4.7 * found.lead
        + 2.9 * found.sentence_before
        + 3.2 * found.cut_off_part
        + 9.6 * found.taken_up
        - 0.65 * found.position
        + 2.9 * found.date
        + 2.0 * found.counted
        - 2.6 * found.no_number
        + 2.5 * found.names
        + 2.0 * found.naming
        + 3.9 * found.place
        + 3.2 * found.cause
}

#[cfg(test)]
mod tests {
    use super::choose;

    #[test]
    fn the_sentence_that_holds_the_kind_of_answer_comes_first() {
        let passages = [
            "The mill at Lindmark was built by the river.",
            "It was built in 1874 by the brothers Aster.",
            "Today the mill grinds eleven kinds of flour.",
            "Visitors come for the garden.",
        ];
        let first = |question: &str| choose(question, &passages).first().copied();
        assert_eq!(first("When was the mill built?"), Some(1));
        assert_eq!(first("How many kinds of flour does the mill grind?"), Some(2));
        // "It" names nothing, so the sentence before it leads; both are quoted.
        assert!(choose("Who built the mill?", &passages).contains(&1));
        let passages = [
            "Die Brücke bei Lindmark überspannt den Fluss.",
            "Eröffnet wurde die Brücke 1931, weil die Fähre zu langsam war.",
            "Jeden Tag fahren 4000 Wagen über die Brücke.",
        ];
        let first = |question: &str| choose(question, &passages).first().copied();
        assert_eq!(first("Wann wurde die Brücke eröffnet?"), Some(1));
        assert_eq!(first("Warum wurde die Brücke eröffnet?"), Some(1));
        assert_eq!(first("Wie viele Wagen fahren jeden Tag über die Brücke?"), Some(2));
    }

    #[test]
    fn a_clear_lead_is_quoted_alone_and_a_tie_with_others() {
        let clear = ["Berta Lind painted the red barn in 1902.", "Cows eat grass.", "Rain fell."];
        assert_eq!(choose("When did Berta Lind paint the red barn?", &clear), [0]);
        let tied =
            ["Rain fell on the barn.", "Snow fell on the barn.", "Hail fell on the barn.", "Fog lay there."];
        assert_eq!(choose("What fell on the barn?", &tied).len(), 3);
    }

    #[test]
    fn nothing_and_odd_texts_are_taken() {
        assert!(choose("What?", &[]).is_empty());
        assert_eq!(choose("", &["a"]), [0]);
        assert_eq!(choose("???", &["", "…", "\u{0}", "…"]).len(), 2);
        assert_eq!(choose("a", &["", " "]), [0]);
        assert_eq!(choose("'’ß", &["’", "ß's 1.2,3"]).len(), 2);
    }
}
