//! The answer check on labelled answers, and the claim check on labelled sentences. Both sets were labelled before
//! the checks were written; `evals/README.md` says what is measured.

#![allow(clippy::expect_used, reason = "a test stops at what it does not expect")]

use std::collections::BTreeSet;

use serde::Deserialize;
use skill_runtime::artifact::{LanguageText, Reply};
use skill_runtime::figures::figures;
use skill_runtime::review::{Material, Offered, Ran, Said, is_derived, is_supported, review, supports};

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

const REVIEWS: &str = include_str!("../data/reviews.jsonl");

#[derive(Deserialize)]
struct Turn {
    id: String,
    language: String,
    question: String,
    history: Vec<Said>,
    tools_offered: Vec<String>,
    tools: Vec<Ran>,
    answer: String,
    findings: Vec<String>,
    unsourced: bool,
}

fn claims() -> Vec<Claim> {
    CLAIMS.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// What was reached on 240 sentences; a change that falls below is a step back.
const PRECISION: f64 = 0.8;
const RECALL: f64 = 0.1;

/// Precision and recall of the mark "unsupported", a language each.
#[test]
fn sentences_without_support_are_marked() {
    let mut shown = BTreeSet::new();
    for language in ["de", "en"] {
        let (mut right, mut marked, mut unsupported) = (0.0, 0.0, 0.0);
        for claim in claims().iter().filter(|claim| claim.language == language) {
            let passages: Vec<&str> = claim.passages.iter().map(|passage| passage.text.as_str()).collect();
            let judged = supports(&claim.question, &claim.sentence, &passages);
            let mark = judged.as_ref().is_some_and(|support| !is_supported(support));
            marked += f64::from(u8::from(mark));
            unsupported += f64::from(u8::from(!claim.supported));
            right += f64::from(u8::from(mark && !claim.supported));
            let outcome = if mark == claim.supported { "WRONG" } else { "right" };
            let seen = serde_json::to_string(&judged).expect("it is data");
            shown.insert(format!(
                "{outcome} {language} {} {} {seen} {}",
                claim.kind, claim.id, claim.sentence
            ));
        }
        let (precision, recall) = (right / marked, right / unsupported);
        println!("{language}: precision {precision:.3}, recall {recall:.3} ({marked} marked)");
        assert!(precision >= PRECISION && recall >= RECALL, "{language}: {precision}, {recall}");
    }
    for line in shown {
        println!("{line}");
    }
}

/// Findings and labels of 178 labelled answers.
#[test]
fn labelled_answers_get_their_findings_and_no_others() {
    let mut wrong = Vec::new();
    let phrases = |phrases: &[&str]| Reply::List(phrases.iter().map(|phrase| (*phrase).to_owned()).collect());
    let language = |name: &str, list: Reply| LanguageText {
        name: name.to_owned(),
        replies: [("not-a-claim".to_owned(), list)].into(),
        ..LanguageText::default()
    };
    // As the shipped languages have them.
    let languages = [
        language(
            "de",
            phrases(&[
                "konnte ich nicht finden",
                "nichts gefunden",
                "weiß ich nicht",
                "ich weiß es nicht",
                "dazu habe ich nichts",
            ]),
        ),
        language(
            "en",
            phrases(&[
                "could not find",
                "couldn't find",
                "no results",
                "i don't know",
                "i do not know",
                "unable to find",
                "found nothing",
            ]),
        ),
    ];
    let sourced = ["web_search", "read_page", "research", "weather"];
    for line in REVIEWS.lines() {
        let turn: Turn = serde_json::from_str(line).expect(line);
        let offered: Vec<Offered> = turn
            .tools_offered
            .iter()
            .map(|name| Offered { sourced: sourced.contains(&name.as_str()) })
            .collect();
        let found = review(&Material {
            question: &turn.question,
            history: &turn.history,
            tools: &turn.tools,
            offered: &offered,
            recalled: &[],
            answer: &turn.answer,
            languages: &languages,
            language: &languages[usize::from(turn.language == "en")],
        });
        let rules: BTreeSet<&str> = found.findings.iter().map(|finding| finding.rule).collect();
        let expected: BTreeSet<&str> = turn.findings.iter().map(String::as_str).collect();
        for finding in &found.findings {
            assert!(turn.answer.get(finding.span.clone()).is_some(), "{}: a place in the answer", turn.id);
        }
        if rules != expected || found.unsourced != turn.unsourced {
            wrong.push(format!("{}: {expected:?}, found {rules:?}, unsourced {}", turn.id, found.unsourced));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
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
