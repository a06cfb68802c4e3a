//! Texts of a library that routing never touches: what prompts, replies and tools are made from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Texts and settings of one skill.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SkillText {
    /// What the skill is for; shown to people, never routed on.
    pub description: String,
    /// Who may write what: `free`, `grounded`, `quote` or `exemplar`.
    pub answer: String,
    /// Mode of `answer: exemplar else MODE` when no labelled exemplar applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_else: Option<String>,
    /// `auto`, `required`, `none` or a tool's name.
    pub tool_choice: String,
    /// Decoding strategy: `baseline`, `capped`, `routed` or `verbose`.
    pub strategy: String,
    /// `auto`, `required` or `none`.
    pub cite: String,
    /// Guidance for the system turn, at most 600 characters.
    pub guidance: String,
    /// Worked examples in file order.
    pub exemplars: Vec<Exemplar>,
}

impl SkillText {
    /// How many exemplars reach the prompt within a budget of characters: guidance first, then exemplars in file
    /// order up to the first that does not fit; the first is always kept.
    #[must_use]
    pub fn kept_exemplars(&self, budget: usize) -> usize {
        let mut total = self.guidance.chars().count();
        let mut kept = 0;
        for exemplar in &self.exemplars {
            total += exemplar.length();
            if kept > 0 && total > budget {
                break;
            }
            kept += 1;
        }
        kept
    }
}

impl Exemplar {
    /// Characters that it takes in the context budget: message, calls with their results, answer.
    #[must_use]
    pub fn length(&self) -> usize {
        let calls: usize = self
            .calls
            .iter()
            .map(|call| {
                let arguments: usize = call
                    .arguments
                    .iter()
                    .map(|argument| {
                        let value = argument.value.as_str().map_or_else(
                            || argument.value.to_string().chars().count(),
                            |text| text.chars().count(),
                        );
                        argument.name.chars().count() + value
                    })
                    .sum();
                call.tool.chars().count() + arguments + call.result.chars().count()
            })
            .sum();
        self.message.chars().count() + self.answer.chars().count() + calls
    }
}

/// A worked example.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exemplar {
    /// Label that triggers refer to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Language of its message by the library's closed lists; None when no list decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// What the user says.
    pub message: String,
    /// Calls with their results, in order.
    pub calls: Vec<ExemplarCall>,
    /// What the assistant answers.
    pub answer: String,
}

/// A call of an exemplar.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExemplarCall {
    /// The tool.
    pub tool: String,
    /// Arguments in the order written.
    pub arguments: Vec<Argument>,
    /// What the tool returned.
    pub result: String,
}

/// A named value of a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    /// Parameter.
    pub name: String,
    /// Its JSON value.
    pub value: serde_json::Value,
}

/// Texts of the whole library.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LibraryText {
    /// Declared tools, by number.
    pub tools: Vec<ToolDeclaration>,
    /// Languages, by number.
    pub languages: Vec<LanguageText>,
    /// The base prompt.
    pub assistant: Assistant,
    /// Front ends.
    pub hosts: Vec<HostText>,
    /// Test items as written, for tables.
    pub tests: Vec<Vec<String>>,
}

/// A declared tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolDeclaration {
    /// Name.
    pub name: String,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// What its results are.
    pub origin: ToolOrigin,
    /// What the model is told it does.
    pub description: String,
}

/// What a tool's results are evidence of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolOrigin {
    /// Texts with addresses.
    Sourced,
    /// Figures.
    Computed,
    /// Neither: it changes something.
    Effect,
}

/// A parameter of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// Type.
    #[serde(rename = "type")]
    pub kind: ParameterType,
    /// May be left out.
    pub optional: bool,
    /// Value when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<serde_json::Value>,
    /// Its JSON Schema as an outside server gives it; None where the type says all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<serde_json::Value>,
}

/// Type of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParameterType {
    /// Any text.
    Text,
    /// A number.
    Number,
    /// true or false.
    Boolean,
    /// An address.
    Url,
    /// A place name.
    Place,
    /// A date.
    Date,
    /// One of these values.
    OneOf(Vec<String>),
    /// What its schema admits: lists, objects, numbers within bounds. Only outside servers have such parameters.
    Json,
}

impl ToolDeclaration {
    /// The JSON Schema object of the parameters, as chat templates and servers expect it.
    #[must_use]
    pub fn schema(&self) -> serde_json::Value {
        let mut properties = serde_json::Map::new();
        let mut required = Vec::new();
        for parameter in &self.parameters {
            if !parameter.optional && parameter.default.is_none() {
                required.push(serde_json::Value::from(parameter.name.clone()));
            }
            if let Some(schema) = &parameter.schema {
                properties.insert(parameter.name.clone(), schema.clone());
                continue;
            }
            let mut property = serde_json::Map::new();
            let kind = match &parameter.kind {
                ParameterType::Number => "number",
                ParameterType::Boolean => "boolean",
                _ => "string",
            };
            property.insert("type".into(), kind.into());
            match &parameter.kind {
                ParameterType::Url => {
                    property.insert("format".into(), "uri".into());
                }
                ParameterType::Date => {
                    property.insert("format".into(), "date".into());
                }
                ParameterType::OneOf(values) => {
                    property.insert("enum".into(), values.clone().into());
                }
                _ => {}
            }
            if let Some(default) = &parameter.default {
                property.insert("default".into(), default.clone());
            }
            properties.insert(parameter.name.clone(), property.into());
        }
        serde_json::json!({"type": "object", "properties": properties, "required": required})
    }
}

/// A reply: a text, or a list of phrases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reply {
    /// One text; `{name}` stands for a value.
    Text(String),
    /// Phrases to look for.
    List(Vec<String>),
}

/// Texts of one language.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LanguageText {
    /// Name, such as `de`.
    pub name: String,
    /// Replies by key.
    pub replies: BTreeMap<String, Reply>,
    /// The sentence that tells the model which language to answer in.
    pub rule: String,
    /// Characters that count as a sign of this language, such as umlauts.
    pub letters: String,
}

/// The base prompt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Assistant {
    /// First part of the system turn.
    pub base: String,
}

/// A front end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostText {
    /// Name.
    pub name: String,
}

/// What a reply has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyForm {
    /// A text.
    Text,
    /// One of these characters.
    Mark(&'static str),
    /// Any number of texts.
    List,
    /// So many texts.
    ListOf(usize),
}

/// Why a page did not come: replies of every tool that reaches the web.
const WEB_REPLIES: [(&str, ReplyForm); 13] = [
    ("reason-no-address", ReplyForm::Text),
    ("reason-private-address", ReplyForm::Text),
    ("reason-unreachable", ReplyForm::Text),
    ("reason-timed-out", ReplyForm::Text),
    ("reason-status", ReplyForm::Text),
    ("reason-busy", ReplyForm::Text),
    ("reason-redirects", ReplyForm::Text),
    ("reason-broke-off", ReplyForm::Text),
    ("reason-not-text", ReplyForm::Text),
    ("reason-stopped", ReplyForm::Text),
    ("reason-no-query", ReplyForm::Text),
    ("reason-search-unreadable", ReplyForm::Text),
    ("reason-nothing-opened", ReplyForm::Text),
];
/// What sources have in common: replies of tools that read several.
const SOURCE_REPLIES: [(&str, ReplyForm); 6] = [
    ("sources", ReplyForm::Text),
    ("not-opened", ReplyForm::Text),
    ("one-source", ReplyForm::Text),
    ("sources-agree", ReplyForm::Text),
    ("sources-conflict", ReplyForm::Text),
    ("sources-spell", ReplyForm::Text),
];

/// Replies that every language of a library needs when the library declares a tool of this name, or one with this
/// mark in its name.
pub const TOOL_REPLIES: &[(&str, &[(&str, ReplyForm)])] = &[
    (
        "calculator",
        &[
            ("decimal-mark", ReplyForm::Mark(".,")),
            ("reason-no-expression", ReplyForm::Text),
            ("reason-not-understood", ReplyForm::Text),
            ("reason-division-by-zero", ReplyForm::Text),
            ("reason-too-large", ReplyForm::Text),
            ("reason-no-real-result", ReplyForm::Text),
        ],
    ),
    (
        "current_time",
        &[
            ("clock", ReplyForm::Text),
            ("clock-at", ReplyForm::Text),
            ("date", ReplyForm::Text),
            ("reason-unknown-day", ReplyForm::Text),
            ("weekdays", ReplyForm::ListOf(7)),
            ("months", ReplyForm::ListOf(12)),
            ("reason-unknown-place", ReplyForm::Text),
            ("reason-unknown-place-near", ReplyForm::Text),
            ("reason-several-zones", ReplyForm::Text),
        ],
    ),
    ("web_search", &WEB_REPLIES),
    ("web_search", &SOURCE_REPLIES),
    ("web_search", &[("searched", ReplyForm::Text), ("searched-nothing", ReplyForm::Text)]),
    ("read_page", &WEB_REPLIES),
    (
        "read_page",
        &[
            ("sources", ReplyForm::Text),
            ("page-cut", ReplyForm::Text),
            ("reason-blocked", ReplyForm::Text),
            ("reason-no-text", ReplyForm::Text),
        ],
    ),
    ("research", &WEB_REPLIES),
    ("research", &SOURCE_REPLIES),
    (
        "research",
        &[
            ("researched", ReplyForm::Text),
            ("researched-partly", ReplyForm::Text),
            ("researched-unread", ReplyForm::Text),
            ("researched-nothing", ReplyForm::Text),
            ("search-failed", ReplyForm::Text),
            ("age-now", ReplyForm::Text),
            ("age-then", ReplyForm::Text),
            ("born-on", ReplyForm::Text),
            ("died-on", ReplyForm::Text),
        ],
    ),
    ("weather", &WEB_REPLIES),
    (
        "weather",
        &[
            ("sources", ReplyForm::Text),
            ("decimal-mark", ReplyForm::Mark(".,")),
            ("weather-now", ReplyForm::Text),
            ("weather-wind", ReplyForm::Text),
            ("weather-day", ReplyForm::Text),
            ("weather-rain", ReplyForm::Text),
            ("sky", ReplyForm::ListOf(9)),
            ("weekdays", ReplyForm::ListOf(7)),
            ("months", ReplyForm::ListOf(12)),
            ("reason-no-place", ReplyForm::Text),
            ("reason-unknown-place", ReplyForm::Text),
            ("reason-no-weather", ReplyForm::Text),
            ("reason-no-forecast", ReplyForm::Text),
        ],
    ),
    // Any tool of a server: `SERVER__TOOL`.
    (
        "__",
        &[
            ("reason-mcp-silent", ReplyForm::Text),
            ("reason-mcp-gone", ReplyForm::Text),
            ("reason-mcp-refused", ReplyForm::Text),
            ("reason-mcp-empty", ReplyForm::Text),
            ("mcp-not-text", ReplyForm::Text),
            ("reason-stopped", ReplyForm::Text),
        ],
    ),
    (
        "memory",
        &[
            ("remembered", ReplyForm::Text),
            ("memory-changed", ReplyForm::Text),
            ("memory-deleted", ReplyForm::Text),
            ("memory-cleared", ReplyForm::Text),
            ("memory-empty", ReplyForm::Text),
            ("memory-recalled", ReplyForm::Text),
            ("reason-memory", ReplyForm::Text),
            ("reason-memory-full", ReplyForm::Text),
            ("reason-memory-long", ReplyForm::Text),
            ("reason-not-remembered", ReplyForm::Text),
            ("reason-several-remembered", ReplyForm::Text),
            ("reason-no-text-given", ReplyForm::Text),
            ("reason-clear-needs-yes", ReplyForm::Text),
            ("reason-unknown-command", ReplyForm::Text),
        ],
    ),
];
