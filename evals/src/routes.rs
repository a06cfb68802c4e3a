//! Routes labelled messages and counts: precision and recall of each skill, false activations, the wrong ones.

use std::collections::BTreeMap;

use serde::Serialize;
use skill_runtime::artifact::Pack;
use skill_runtime::conversation::replay;
use skill_runtime::router::{Router, Scratch, ToolSet};

use crate::labelled::Labelled;

/// Counts of one skill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SkillCounts {
    /// Messages routed to it that may go to it.
    pub right: usize,
    /// Messages routed to it that may not.
    pub wrong: usize,
    /// Messages that only it may take and that went elsewhere.
    pub missed: usize,
}

impl SkillCounts {
    /// Share of its routes that are right; None without a route.
    #[must_use]
    pub fn precision(&self) -> Option<f64> {
        share(self.right, self.right + self.wrong)
    }

    /// Share of its messages that reach it; None without a message.
    #[must_use]
    pub fn recall(&self) -> Option<f64> {
        share(self.right, self.right + self.missed)
    }
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// A message that went where it may not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Wrong {
    /// Line in the file.
    pub line: usize,
    /// Language.
    pub language: String,
    /// Source.
    pub source: String,
    /// Skills that may take it.
    pub expected: Vec<String>,
    /// Skill that took it, or `none`.
    pub routed: String,
    /// Stage that decided.
    pub stage: String,
    /// The message.
    pub message: String,
}

/// Counts of one language.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LanguageCounts {
    /// Messages counted.
    pub messages: usize,
    /// Routed to a skill that may take them.
    pub right: usize,
    /// Messages that no skill may take.
    pub nobodys: usize,
    /// Of those, routed to a skill with tools.
    pub false_activations: usize,
}

/// What routing labelled messages showed.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// By language.
    pub languages: BTreeMap<String, LanguageCounts>,
    /// By skill.
    pub skills: BTreeMap<String, SkillCounts>,
    /// Messages whose labels name only skills that the library lacks, by label. They count nowhere else.
    pub unknown_labels: BTreeMap<String, usize>,
    /// Of those, how many some skill took.
    pub unknown_taken: usize,
    /// Messages that went where they may not.
    pub wrong: Vec<Wrong>,
}

/// Routes each message by the library, all declared tools available.
#[must_use]
pub fn run(pack: &Pack, messages: &[Labelled]) -> Report {
    let router = Router::new(pack);
    let tools = ToolSet::all(pack);
    let names: Vec<&str> = pack.skill_names();
    let mut scratch = Scratch::default();
    let mut report = Report::default();
    for message in messages {
        let state = replay(&router, &mut scratch, message.after.iter().map(String::as_str), &tools);
        let decision = router.decide(&mut scratch, state, &message.message, &tools);
        let routed = decision.skill.and_then(|skill| names.get(skill as usize).copied()).unwrap_or("none");
        if !message.not.is_empty() {
            let language = report.languages.entry(message.language.clone()).or_default();
            language.messages += 1;
            if message.not.iter().any(|not| not == routed) {
                report.wrong.push(wrong(message, routed, decision.stage.name()));
            } else {
                language.right += 1;
            }
            continue;
        }
        let known: Vec<&str> = message
            .expected
            .iter()
            .map(String::as_str)
            .filter(|label| *label == "none" || names.contains(label))
            .collect();
        if known.is_empty() {
            let label = message.expected.join("|");
            *report.unknown_labels.entry(label).or_default() += 1;
            report.unknown_taken += usize::from(decision.skill.is_some());
            continue;
        }
        let language = report.languages.entry(message.language.clone()).or_default();
        language.messages += 1;
        // A label that the library lacks may still be meant: such a message is right at none, too.
        let partly_unknown = known.len() < message.expected.len();
        let right = known.contains(&routed) || (partly_unknown && routed == "none");
        let nobodys = message.expected.iter().all(|label| label == "none");
        language.nobodys += usize::from(nobodys);
        if nobodys
            && let Some(skill) = decision.skill
            && router.offered(Some(skill), &tools).is_none_or(|offered| !offered.is_empty())
        {
            language.false_activations += 1;
        }
        if right {
            language.right += 1;
            if routed != "none" {
                report.skills.entry(routed.to_owned()).or_default().right += 1;
            }
            continue;
        }
        if routed != "none" {
            report.skills.entry(routed.to_owned()).or_default().wrong += 1;
        }
        if let [only] = known.as_slice()
            && *only != "none"
        {
            report.skills.entry((*only).to_owned()).or_default().missed += 1;
        }
        report.wrong.push(wrong(message, routed, decision.stage.name()));
    }
    report
}

fn wrong(message: &Labelled, routed: &str, stage: &str) -> Wrong {
    let expected = if message.not.is_empty() {
        message.expected.clone()
    } else {
        message.not.iter().map(|not| format!("not {not}")).collect()
    };
    Wrong {
        line: message.line,
        language: message.language.clone(),
        source: message.source.clone(),
        expected,
        routed: routed.to_owned(),
        stage: stage.to_owned(),
        message: message
            .after
            .iter()
            .chain([&message.message])
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(" > "),
    }
}
