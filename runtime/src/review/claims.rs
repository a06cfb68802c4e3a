//! Sentences without figures: does a sentence of a researched answer follow from the passages? By names, content
//! words, what is denied and who does what to whom; a guess, so it marks and does not correct.

use std::collections::HashSet;
use std::ops::Range;

use serde::Serialize;

use super::{Material, passages_of};
use crate::figures::{FigureKind, figures};
use crate::links::links;
use crate::reading::sentences;
use crate::research::{Term, Tongue, is_shell, names, related, tongue, words};

/// A sentence that no passage supports.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// Where in the answer, in bytes.
    pub span: Range<usize>,
    /// What was seen.
    #[serde(flatten)]
    pub support: Support,
}

/// How passages stand to a sentence.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Support {
    /// Share of its words that the passages hold, from 0 to 1.
    pub share: f64,
    /// Share of its words that the nearest passage holds.
    pub nearest: f64,
    /// Names that no passage holds.
    pub names: Vec<String>,
    /// Figures that no passage holds.
    pub figures: Vec<String>,
    /// It says the contrary of the nearest passage, by a negation or a word.
    pub contrary: bool,
    /// Two names stand the other way round than in the nearest passage.
    pub swapped: bool,
}

/// Share of a sentence's words that the nearest passage holds at least where it is said to contradict it: with less
/// they speak of different things.
const SAME_MATTER: f64 = 0.7;
/// Words of content that a sentence has at least to be judged.
const FEWEST: usize = 2;

/// Sentences of an answer to research that the passages do not support.
#[must_use]
pub fn claims(material: &Material<'_>) -> Vec<Claim> {
    let sourced: Vec<&str> =
        material.done().filter(|ran| !links(&ran.result).is_empty()).map(|ran| ran.result.as_str()).collect();
    if sourced.is_empty() || material.claims_nothing() {
        return Vec::new();
    }
    let passages: Vec<&str> = sourced.iter().flat_map(|result| passages_of(result)).collect();
    let mut out = Vec::new();
    let mut from = 0;
    for sentence in sentences(material.answer) {
        let Some(at) = material.answer.get(from..).and_then(|rest| rest.find(sentence)).map(|at| from + at)
        else {
            continue;
        };
        from = at + sentence.len();
        // The line that names the sources claims nothing.
        if !links(sentence).is_empty() {
            continue;
        }
        let judged = supports(material.question, sentence, &passages);
        if let Some(support) = judged.filter(|support| !is_supported(support)) {
            out.push(Claim { span: at..from, support });
        }
    }
    out
}

/// Whether nothing speaks against a sentence. Words alone do not: what is said in other words shares few of them, and
/// what is wrong shares most (`evals/data/claims.jsonl`).
#[must_use]
pub fn is_supported(support: &Support) -> bool {
    let same_matter = support.nearest >= SAME_MATTER;
    support.names.is_empty()
        && support.figures.is_empty()
        && !(same_matter && (support.contrary || support.swapped))
}

/// Words that deny, in both languages.
const DENIES: &[&str] = &[
    "not", "no", "never", "none", "without", "neither", "nicht", "kein", "keine", "keinen", "keiner",
    "keinem", "nie", "niemals", "ohne", "weder",
];
/// Words that stand for the contrary of each other.
const CONTRARY: &[(&[&str], &[&str])] = &[
    (&["oldest", "älteste", "ältesten"], &["youngest", "newest", "jüngste", "jüngsten", "neueste"]),
    (
        &["largest", "biggest", "größte", "größten", "größter", "größtes"],
        &["smallest", "kleinste", "kleinsten", "kleinster"],
    ),
    (&["longest", "längste", "längsten"], &["shortest", "kürzeste", "kürzesten"]),
    (&["highest", "tallest", "höchste", "höchsten"], &["lowest", "niedrigste", "niedrigsten", "tiefste"]),
    (&["first", "erste", "ersten", "erster"], &["last", "letzte", "letzten", "letzter"]),
    (
        &["north", "northern", "norden", "nördlich", "nördlichen"],
        &["south", "southern", "süden", "südlich", "südlichen"],
    ),
    (
        &["east", "eastern", "osten", "östlich", "östlichen"],
        &["west", "western", "westen", "westlich", "westlichen"],
    ),
    (&["before", "vor", "bevor", "vorher"], &["after", "nach", "nachdem", "danach"]),
    (&["more", "mehr"], &["less", "fewer", "weniger"]),
    (
        &[
            "increase",
            "increased",
            "rose",
            "grew",
            "rises",
            "stieg",
            "steigt",
            "gestiegen",
            "wuchs",
            "zugenommen",
        ],
        &["decrease", "decreased", "fell", "falls", "shrank", "sank", "sinkt", "gesunken", "abgenommen"],
    ),
    (&["open", "opened", "geöffnet", "eröffnet", "offen"], &["closed", "closes", "geschlossen"]),
    (
        &["allowed", "permitted", "erlaubt", "zulässig", "gestattet"],
        &["forbidden", "banned", "prohibited", "verboten", "untersagt"],
    ),
    (
        &["all", "every", "always", "alle", "allen", "immer", "sämtliche", "jeder", "jede"],
        &[
            "some",
            "few",
            "often",
            "sometimes",
            "many",
            "most",
            "einige",
            "manche",
            "oft",
            "manchmal",
            "viele",
            "meisten",
            "teil",
        ],
    ),
    (
        &["is", "ist", "will", "wird", "proven", "bewiesen", "sicher", "heals", "heilt", "definitely"],
        &[
            "may",
            "might",
            "could",
            "possibly",
            "perhaps",
            "probably",
            "könnte",
            "könnten",
            "möglicherweise",
            "vielleicht",
            "vermutlich",
            "wohl",
        ],
    ),
    (&["left", "links", "linken"], &["right", "rechts", "rechten"]),
    (&["won", "wins", "gewann", "gewonnen", "siegte"], &["lost", "verlor", "verloren"]),
    (&["early", "früh", "frühen"], &["late", "spät", "späten"]),
    (&["cold", "kalt", "kalten"], &["warm", "hot", "heiß", "warmen"]),
    (
        &["voluntary", "free", "freiwillig", "kostenlos"],
        &["mandatory", "compulsory", "required", "pflicht", "verpflichtend"],
    ),
];

/// A sentence of a passage as it is compared.
struct Told<'p> {
    terms: Vec<Term>,
    lower: Vec<String>,
    text: &'p str,
}

fn told<'p>(text: &'p str, tongue: Tongue) -> Told<'p> {
    let lower = words(text);
    let terms = lower.iter().filter(|word| !is_shell(word)).map(|word| Term::new(word, tongue)).collect();
    Told { terms, lower, text }
}

/// How much passages hold of a sentence, and what of it they do not. None for a sentence that says too little.
#[must_use]
pub fn supports(question: &str, sentence: &str, passages: &[&str]) -> Option<Support> {
    let tongue = tongue(sentence).or_else(|| tongue(question)).unwrap_or(Tongue::English);
    let own = told(sentence, tongue);
    if own.terms.len() < FEWEST {
        return None;
    }
    let all: Vec<Told<'_>> =
        passages.iter().flat_map(|passage| sentences(passage)).map(|text| told(text, tongue)).collect();
    let holds = |told: &Told<'_>, term: &Term| {
        told.terms.iter().any(|known| related(known, term) || part(known, term))
    };
    // What the question names may be spoken of without being said again.
    let asked = told_terms(question, tongue);
    let mut found = Support::default();
    // Names and figures must stand somewhere.
    let everywhere: HashSet<String> = all.iter().flat_map(|told| told.lower.iter().cloned()).collect();
    let known_word = |word: &str| {
        let term = Term::new(word, tongue);
        everywhere.contains(word)
            || all.iter().any(|told| holds(told, &term))
            || asked.iter().any(|asked| related(asked, &term))
    };
    for name in names(sentence, tongue) {
        let parts: Vec<String> = words(&name).into_iter().filter(|word| word.chars().count() > 2).collect();
        let is_noun = |word: &String| is_shell(word) || crate::quote::is_named_noun(word);
        let unknown: Vec<&String> = parts.iter().filter(|word| !known_word(word) && !is_noun(word)).collect();
        let first = parts.first().is_some_and(|first| sentence.to_lowercase().starts_with(first.as_str()));
        // In German a noun may stand beside a name; only where nothing of it is known is it a name of its own.
        if !unknown.is_empty() && !first && (tongue == Tongue::English || unknown.len() == parts.len()) {
            found.names.push(name);
        }
    }
    let known: Vec<_> = passages.iter().flat_map(|passage| figures(passage)).collect();
    for figure in figures(sentence).into_iter().filter(|figure| figure.kind == FigureKind::Plain) {
        // Small counts and spans of time are written in words as often.
        let in_words = figure.value <= 12.0 || is_time(&figure.unit);
        if !in_words && !known.iter().any(|known| figure.same(known)) {
            found.figures.push(sentence.get(figure.span.clone()).unwrap_or_default().to_owned());
        }
    }
    // Content words: in the sentence that holds most of them, or in it and one other.
    let covered = |told: &Told<'_>| own.terms.iter().map(|term| holds(told, term)).collect::<Vec<bool>>();
    let cover: Vec<Vec<bool>> = all.iter().map(covered).collect();
    let count = |held: &[bool]| held.iter().filter(|held| **held).count();
    let Some(best) = (0..all.len()).max_by_key(|at| cover.get(*at).map_or(0, |held| count(held))) else {
        return Some(found);
    };
    let mut held = cover.get(best).cloned().unwrap_or_default();
    let single = count(&held);
    let second = (0..all.len()).filter(|at| *at != best).max_by_key(|at| {
        cover
            .get(*at)
            .map_or(0, |other| held.iter().zip(other).filter(|(held, other)| **held || **other).count())
    });
    if let Some(other) = second.and_then(|at| cover.get(at)) {
        for (held, other) in held.iter_mut().zip(other) {
            *held |= other;
        }
    }
    for (held, term) in held.iter_mut().zip(&own.terms) {
        *held |= asked.iter().any(|asked| related(asked, term)) && all.iter().any(|told| holds(told, term));
    }
    let total = own.terms.len() as f64;
    found.share = (count(&held) as f64 / total * 100.0).round() / 100.0;
    found.nearest = (single as f64 / total * 100.0).round() / 100.0;
    if let Some(best) = all.get(best) {
        found.contrary = contradicts(&own, best);
        found.swapped = swapped(&own, best, tongue);
    }
    Some(found)
}

fn is_time(unit: &str) -> bool {
    ["minute", "stunde", "hour", "day", "tag", "week", "woche", "second", "sekunde"]
        .iter()
        .any(|time| unit.starts_with(time))
}

fn told_terms(text: &str, tongue: Tongue) -> Vec<Term> {
    told(text, tongue).terms
}

/// Letters of the part of a compound that counts: "Sternwarte" in "Sternwartenleiter".
const PART: usize = 5;

fn part(a: &Term, b: &Term) -> bool {
    let (short, long) = if a.word.len() <= b.word.len() { (&a.word, &b.word) } else { (&b.word, &a.word) };
    short.chars().count() >= PART && (long.starts_with(short.as_str()) || long.ends_with(short.as_str()))
}

/// What a sentence denies and the passage states, or the other way round; and words that mean the contrary.
fn contradicts(own: &Told<'_>, best: &Told<'_>) -> bool {
    let has = |told: &Told<'_>, list: &[&str]| told.lower.iter().any(|word| list.contains(&word.as_str()));
    let turned = |one: &[&str], other: &[&str]| {
        has(own, one) && !has(own, other) && has(best, other) && !has(best, one)
    };
    has(own, DENIES) != has(best, DENIES)
        || CONTRARY.iter().any(|(one, other)| turned(one, other) || turned(other, one))
}

/// Names that stand in one order in the passage and in the other in the sentence, while the verb stays active.
fn swapped(own: &Told<'_>, best: &Told<'_>, tongue: Tongue) -> bool {
    let order = |text: &str| names(text, if tongue == Tongue::German { Tongue::English } else { tongue });
    let passive = |told: &Told<'_>| {
        told.lower
            .iter()
            .any(|word| matches!(word.as_str(), "by" | "von" | "durch" | "wurde" | "wurden" | "was" | "were"))
    };
    let (mine, theirs) = (order(own.text), order(best.text));
    let place = |name: &str, text: &str| text.find(name.rsplit(' ').next().unwrap_or(name));
    for (at, a) in mine.iter().enumerate() {
        for b in mine.iter().skip(at + 1) {
            if let (Some(first), Some(second)) = (place(a, best.text), place(b, best.text))
                && first > second
                && passive(own) == passive(best)
                && theirs.len() >= 2
            {
                return true;
            }
        }
    }
    false
}
