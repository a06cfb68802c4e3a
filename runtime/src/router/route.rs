//! What goes into a route and what comes out of it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::artifact::Pack;

/// What earlier turns left: the resident skill and how often it was carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Routing number of the resident skill.
    pub resident: Option<u32>,
    /// Turns in a row that it was carried over.
    pub carried: u8,
}

/// Tools that can run this turn, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSet {
    bits: Vec<u64>,
}

impl ToolSet {
    /// No tool.
    #[must_use]
    pub fn none() -> Self {
        Self { bits: Vec::new() }
    }

    /// Every tool that the library declares.
    #[must_use]
    pub fn all(pack: &Pack) -> Self {
        Self::named(pack, |_| true)
    }

    /// The declared tools whose name passes.
    #[must_use]
    pub fn named(pack: &Pack, available: impl Fn(&str) -> bool) -> Self {
        let names = pack.tool_names();
        let mut bits = vec![0_u64; names.len().div_ceil(64)];
        for (number, name) in names.iter().enumerate() {
            if let (true, Some(word)) = (available(name), bits.get_mut(number / 64)) {
                *word |= 1 << (number % 64);
            }
        }
        Self { bits }
    }

    /// Whether the tool with this number can run.
    #[must_use]
    pub fn has(&self, tool: u32) -> bool {
        self.bits.get(tool as usize / 64).is_some_and(|word| word >> (tool % 64) & 1 == 1)
    }
}

/// The stage that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// A trigger matched.
    Trigger,
    /// Keywords matched.
    Keyword,
    /// The skill of the turn before goes on.
    CarryOver,
    /// A leftover message that a skill's `fallback` claims.
    Fallback,
    /// A front end's own prompt: no skill, no tools.
    Task,
    /// No skill.
    None,
}

impl Stage {
    /// The name in records and tests.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Trigger => "trigger",
            Self::Keyword => "keyword",
            Self::CarryOver => "carry-over",
            Self::Fallback => "fallback",
            Self::Task => "task",
            Self::None => "none",
        }
    }
}

/// What a message was routed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Routing number of the skill.
    pub skill: Option<u32>,
    /// The stage that decided.
    pub stage: Stage,
    /// The deciding match was made without the lead-in.
    pub opener: bool,
    /// Index of the deciding trigger or fallback element.
    pub element: Option<u32>,
    /// State for the next turn.
    pub next: State,
}

/// Kind of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvidenceKind {
    /// The deciding trigger.
    Trigger,
    /// A keyword.
    Keyword,
    /// The message continues the turn before.
    FollowUp,
    /// A predicate or pattern of `fallback`.
    Predicate,
}

/// Why the skill was chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// Kind.
    pub kind: EvidenceKind,
    /// `FILE:LINE` of what matched.
    pub at: Option<String>,
    /// Label of the deciding trigger.
    pub label: Option<String>,
    /// Byte ranges of the message as given.
    pub spans: Vec<(u32, u32)>,
    /// Slots and their original text.
    pub slots: BTreeMap<String, String>,
}

/// A bound slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Name.
    pub name: String,
    /// Original text.
    pub text: String,
    /// Byte range of the message.
    pub span: (u32, u32),
}

/// A call that code makes before the model writes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpeningCall {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: serde_json::Map<String, serde_json::Value>,
}

/// A skill that would have won but for its tools. In JSON it is its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// The skill.
    pub skill: String,
    /// The tools that it needs one of.
    pub tools: Vec<String>,
}

impl Serialize for Unusable {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.skill)
    }
}

/// A decision with everything that follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// What was decided.
    pub decision: Decision,
    /// Name of the skill.
    pub skill: Option<String>,
    /// Offered tools: None without a restriction.
    pub tools: Option<Vec<String>>,
    /// Why.
    pub evidence: Vec<Evidence>,
    /// Slots that the deciding trigger or a follow template bound; `message` is always there.
    pub bindings: Vec<Binding>,
    /// Other usable skills whose triggers matched other parts of the message.
    pub also: Vec<String>,
    /// Skills that would have won but for their tools.
    pub unusable: Vec<Unusable>,
    /// The opening call, when one can be made.
    pub opening: Option<OpeningCall>,
    /// Slots that stood unbound in openings that could not be made.
    pub missing: Vec<String>,
    /// Language of the reply by the message's words: number of a language item.
    pub language: Option<u32>,
}

/// A row of the routing table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkillOverview {
    /// Name.
    pub name: String,
    /// 0 to 100.
    pub priority: u32,
    /// Number of triggers.
    pub triggers: u32,
    /// Number of exclusions.
    pub excludes: u32,
    /// Number of keywords.
    pub keywords: usize,
    /// Listed tools; None: no restriction.
    pub tools: Option<Vec<String>>,
    /// Tools of its opening calls.
    pub openings: Vec<String>,
}
