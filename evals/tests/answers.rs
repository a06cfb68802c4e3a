//! The answer check on labelled answers, and the claim check on labelled sentences. Both sets were labelled before
//! the checks were written; `evals/README.md` says what is measured.

use std::collections::BTreeSet;

use serde::Deserialize;
use skill_runtime::figures::figures;
use skill_runtime::review::{is_derived, is_supported, supports};

const CLAIMS: &str = include_str!("../data/claims.jsonl");

#[derive(Deserialize)]
struct Claim {
    id: String,
    language: String,
    question: String,
    passages: Vec<Passage>,
    sentence: String,
    supported: bool,
    kind: String,
}

#[derive(Deserialize)]
struct Passage {
    text: String,
}

fn claims() -> Vec<Claim> {
    CLAIMS.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// Precision and recall of the mark "unsupported", a language each.
#[test]
fn sentences_without_support_are_marked() {
    let mut shown = BTreeSet::new();
    for language in ["de", "en"] {
        let (mut right, mut marked, mut unsupported) = (0.0, 0.0, 0.0);
        for claim in claims().iter().filter(|claim| claim.language == language) {
            let passages: Vec<&str> = claim.passages.iter().map(|passage| passage.text.as_str()).collect();
            let judged = supports(&claim.question, &claim.sentence, &passages);
            let mark = judged.as_ref().is_some_and(|(support, _)| !is_supported(*support));
            marked += f64::from(u8::from(mark));
            unsupported += f64::from(u8::from(!claim.supported));
            right += f64::from(u8::from(mark && !claim.supported));
            let outcome = if mark == claim.supported { "WRONG" } else { "right" };
            let support = judged.as_ref().map(|(support, _)| *support);
            shown.insert(format!(
                "{outcome} {language} {} {:>7?} {} {}",
                claim.kind, support, claim.id, claim.sentence
            ));
        }
        let (precision, recall) = (right / marked, right / unsupported);
        println!("{language}: precision {precision:.3}, recall {recall:.3}");
    }
    for line in shown {
        println!("{line}");
    }
}

/// The share of figures that nobody gave and that the check would take for worked out: figures of two to five digits
/// drawn against the passages of the labelled set.
#[test]
fn few_random_figures_are_taken_for_derived() {
    let mut seed = 7_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed >> 33
    };
    let (mut taken, mut all) = (0.0, 0.0);
    for claim in claims() {
        for passage in &claim.passages {
            let known = figures(&passage.text);
            if known.len() < 2 {
                continue;
            }
            for _ in 0..50 {
                let written = match next() % 4 {
                    0 => (10 + next() % 90).to_string(),
                    1 => (100 + next() % 900).to_string(),
                    2 => (1_000 + next() % 9_000).to_string(),
                    _ => format!("{}.{}", next() % 100, next() % 10),
                };
                let figure = figures(&written).remove(0);
                all += 1.0;
                taken += f64::from(u8::from(is_derived(&figure, &known)));
            }
        }
    }
    let share = taken / all;
    println!("{:.2} % of {all} random figures", share * 100.0);
    assert!(all > 1_000.0 && share < 0.05, "{share}");
}
