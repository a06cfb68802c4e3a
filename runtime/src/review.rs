//! Checks an answer against what the tools returned. Deterministic: every finding names the place, the rule, what was
//! looked at and what to do; in doubt nothing is said, since a false alarm spoils a right answer.
#![deny(clippy::indexing_slicing)]

mod claims;
mod invented_source;
mod missing_source;
mod unsourced;
mod unsupported_figure;
mod wrong_fact;
mod wrong_language;
mod wrong_number;

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::artifact::{LanguageText, Reply};
use crate::links::links;
use crate::tools::reply;

pub use claims::{Claim, Support, claims, is_supported, supports};
pub use unsupported_figure::{is_derived, passages_of};

/// A tool that ran in the turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    /// Its name.
    pub name: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: serde_json::Map<String, serde_json::Value>,
    /// What it returned, or why it failed.
    pub result: String,
    /// It failed: its result is no evidence.
    #[serde(default)]
    pub failed: bool,
}

/// A message of the conversation before the turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// `user` or `assistant`.
    pub role: String,
    /// What was said.
    pub content: String,
}

/// A tool that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Its results name addresses.
    pub sourced: bool,
}

/// What an answer is checked against.
#[derive(Clone, Copy, Debug)]
pub struct Material<'m> {
    /// The user's message.
    pub question: &'m str,
    /// Messages before it.
    pub history: &'m [Said],
    /// Tools that ran.
    pub tools: &'m [Ran],
    /// Tools that were offered.
    pub offered: &'m [Offered],
    /// What is remembered about the user and stood in the prompt.
    pub recalled: &'m [String],
    /// The answer.
    pub answer: &'m str,
    /// Languages of the library, whose replies say what a finding asks for.
    pub languages: &'m [LanguageText],
    /// The language of the corrections.
    pub language: &'m LanguageText,
}

/// Something that is wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule, such as `unsupported-figure`.
    pub rule: &'static str,
    /// Where in the answer, in bytes; all of it where something is missing.
    pub span: Range<usize>,
    /// What was looked at.
    pub evidence: Vec<String>,
    /// What to do, in the language of the conversation.
    pub correction: String,
}

/// What a check came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Review {
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// It should have come from a source and did not.
    pub unsourced: bool,
    /// Sentences of a researched answer that no passage supports.
    pub unsupported_claims: Vec<Claim>,
    /// What the model is told, where anything is wrong.
    pub correction: Option<String>,
}

/// Checks an answer. An empty one has no findings.
#[must_use]
pub fn review(material: &Material<'_>) -> Review {
    if material.answer.trim().is_empty() {
        return Review::default();
    }
    let mut findings = Vec::new();
    findings.extend(wrong_number::check(material));
    findings.extend(unsupported_figure::check(material));
    findings.extend(wrong_fact::check(material));
    findings.extend(invented_source::check(material));
    findings.extend(missing_source::check(material));
    findings.extend(wrong_language::check(material));
    let unsourced = unsourced::check(material);
    let mut parts: Vec<String> = Vec::new();
    for finding in &findings {
        if !finding.correction.is_empty() && !parts.contains(&finding.correction) {
            parts.push(finding.correction.clone());
        }
    }
    // A library without these texts gets its findings, and the model no correction.
    let correction = (!parts.is_empty()).then(|| {
        parts.push(material.reply("correct-end", &[]));
        parts.join(" ").trim_end().to_owned()
    });
    Review { findings, unsourced, unsupported_claims: claims(material), correction }
}

impl Material<'_> {
    /// A text of the library; empty where it lacks it.
    fn reply(&self, key: &str, values: &[(&'static str, &str)]) -> String {
        if !self.language.replies.contains_key(key) {
            return String::new();
        }
        let values: BTreeMap<&str, String> =
            values.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        reply(self.language, key, &values)
    }

    /// Tools that returned something.
    fn done(&self) -> impl DoubleEndedIterator<Item = &Ran> {
        self.tools.iter().filter(|ran| !ran.failed)
    }

    /// What the user said: this message and those before.
    fn users(&self) -> impl Iterator<Item = &str> {
        let before = self.history.iter().filter(|said| said.role == "user").map(|said| said.content.as_str());
        before.chain([self.question])
    }

    /// Whether the answer asks back or says that it does not know.
    fn claims_nothing(&self) -> bool {
        let text = without_links(self.answer);
        if text.trim().ends_with(['?', '？']) {
            return true;
        }
        let lower = text.to_lowercase();
        self.languages.iter().any(|language| match language.replies.get("not-a-claim") {
            Some(Reply::List(phrases)) => phrases.iter().any(|phrase| lower.contains(&phrase.to_lowercase())),
            _ => false,
        })
    }

    fn whole(&self) -> Range<usize> {
        0..self.answer.len()
    }
}

/// A text with its addresses taken out.
fn without_links(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for link in links(text) {
        out.push_str(text.get(from..link.start).unwrap_or_default());
        from = link.end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}
