//! Tools that code runs. A failure is a result that the model and the user see, and never evidence.
//!
//! Texts that a reader sees come from the library's `replies`; [`crate::artifact::TOOL_REPLIES`] lists the keys.
#![deny(clippy::indexing_slicing)]

mod calculator;
mod current_time;
mod days;
#[cfg(feature = "mcp")]
pub mod mcp;
mod memory;
mod number_words;
mod numbers;
mod places;
mod reach;
mod read_page;
mod research;
mod weather;
mod web_search;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::{Map, Value};

use crate::artifact::{LanguageText, ParameterType, Reply, ToolDeclaration, ToolOrigin};
use crate::research::Subject;

pub use calculator::calculate;
pub use memory::{Entry, Memory, MemoryError};
pub use reach::Reach;

/// What a tool may know besides its arguments.
#[derive(Clone, Debug)]
pub struct ToolContext<'l> {
    /// Texts of the reply's language.
    pub language: &'l LanguageText,
    /// The language was told by words of the message or of a turn before it, so its decimal mark holds for the
    /// message, too.
    pub language_is_certain: bool,
    /// A model wrote the arguments, not code from the message: what cannot be read of them is a failure.
    pub arguments_by_model: bool,
    /// Now.
    pub now: jiff::Timestamp,
    /// Where the user is.
    pub zone: jiff::tz::TimeZone,
    /// The user's message.
    pub question: &'l str,
    /// What the conversation is about.
    pub subject: &'l Subject,
    /// Somebody's wish to stop.
    pub stop: &'l AtomicBool,
}

impl<'l> ToolContext<'l> {
    /// The clock and zone of this machine.
    #[must_use]
    pub fn here(language: &'l LanguageText, language_is_certain: bool) -> Self {
        static NOTHING: Subject = Subject { person: None, office: None, topic: None };
        Self {
            language,
            language_is_certain,
            arguments_by_model: false,
            now: jiff::Timestamp::now(),
            zone: jiff::tz::TimeZone::try_system().unwrap_or_else(|_| jiff::tz::TimeZone::unknown()),
            question: "",
            subject: &NOTHING,
            stop: reach::never(),
        }
    }

    /// A reply with `{name}` replaced by values; the key itself when the library lacks it.
    #[must_use]
    pub fn reply(&self, key: &str, values: &BTreeMap<&str, String>) -> String {
        reply(self.language, key, values)
    }

    /// The same; None when the library lacks it.
    #[must_use]
    pub fn optional_reply(&self, key: &str, values: &BTreeMap<&str, String>) -> Option<String> {
        self.language.replies.contains_key(key).then(|| self.reply(key, values))
    }

    fn list(&self, key: &str, at: usize) -> String {
        match self.language.replies.get(key) {
            Some(Reply::List(entries)) => entries.get(at).cloned().unwrap_or_default(),
            _ => String::new(),
        }
    }
}

/// A reply of a language with `{name}` replaced by values; the key itself when the language lacks it.
#[must_use]
pub fn reply(language: &LanguageText, key: &str, values: &BTreeMap<&str, String>) -> String {
    let Some(Reply::Text(text)) = language.replies.get(key) else { return key.to_owned() };
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, tail)) = rest.split_once('{') {
        out.push_str(before);
        match tail.split_once('}') {
            Some((name, after)) => {
                match values.get(name.trim()) {
                    Some(value) => out.push_str(value),
                    None => {
                        out.push('{');
                        out.push_str(name);
                        out.push('}');
                    }
                }
                rest = after;
            }
            None => {
                out.push('{');
                rest = tail;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Why a tool gave no result: a key of the library's `replies` and the values in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFailure {
    /// Key, such as `reason-unknown-place`.
    pub key: &'static str,
    /// Values.
    pub values: BTreeMap<&'static str, String>,
}

impl ToolFailure {
    fn new(key: &'static str) -> Self {
        Self { key, values: BTreeMap::new() }
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.values.insert(name, value.into());
        self
    }

    /// The reason in the reply's language.
    #[must_use]
    pub fn text(&self, context: &ToolContext<'_>) -> String {
        context.reply(self.key, &self.values)
    }
}

/// Something that may be quoted, with where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// The address that was fetched.
    pub url: String,
    /// A passage of it.
    pub text: String,
}

/// What a tool returns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolOutput {
    /// What the model sees.
    pub text: String,
    /// Passages that bear on the question, for an answer that code quotes.
    pub quotes: Vec<Quote>,
    /// The answer that the sources state, in a line.
    pub answer: Option<String>,
    /// A sentence that is an answer as it stands, and where it comes from if it comes from a source.
    pub said: Option<(String, Option<String>)>,
}

impl From<String> for ToolOutput {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// Parameters that a tool understands and what its results are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wants<'t> {
    /// It does not run without these.
    pub required: Vec<&'t str>,
    /// It runs without these.
    pub optional: Vec<&'t str>,
    /// Its results name addresses; None: whoever declares it says so.
    pub sourced: Option<bool>,
}

/// A tool.
pub trait Tool: Send + Sync {
    /// Name, as libraries declare it.
    fn name(&self) -> &str;

    /// What it understands. A declaration that does not fit is refused when a library is loaded.
    fn wants(&self) -> Wants<'_>;

    /// Its own declaration, where a library need not have one: a tool that an outside server describes.
    fn declaration(&self) -> Option<&ToolDeclaration> {
        None
    }

    /// Runs it. The first line of a computed result can stand alone as an answer.
    ///
    /// # Errors
    /// [`ToolFailure`] says why there is no result.
    fn run(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext<'_>,
    ) -> Result<ToolOutput, ToolFailure>;

    /// A second call with the same arguments is a new one: a minute later it is another time.
    fn is_a_reading(&self) -> bool {
        false
    }
}

/// Every tool that this build can run with what it reaches.
#[must_use]
pub fn built_in(reach: &Reach) -> Vec<Box<dyn Tool>> {
    let mut tools: Vec<Box<dyn Tool>> =
        vec![Box::new(calculator::Calculator), Box::new(current_time::CurrentTime)];
    if let Some(web) = &reach.web {
        tools.push(Box::new(web_search::WebSearch(Arc::clone(web))));
        tools.push(Box::new(read_page::ReadPage(Arc::clone(web))));
        tools.push(Box::new(research::Research(Arc::clone(web))));
        tools.push(Box::new(weather::Weather(Arc::clone(web))));
    }
    if let Some(memory) = &reach.memory {
        tools.push(Box::new(memory::MemoryTool(Arc::clone(memory))));
    }
    tools
}

/// Where declarations of a library do not fit the tools that would run for them, a line each.
#[must_use]
pub fn misfits(tools: &[Box<dyn Tool>], declared: &[ToolDeclaration]) -> Vec<String> {
    let mut out = Vec::new();
    for declaration in declared {
        let name = &declaration.name;
        let Some(tool) = tools.iter().find(|tool| tool.name() == name) else { continue };
        let wants = tool.wants();
        for needed in &wants.required {
            if !declaration.parameters.iter().any(|parameter| parameter.name == *needed) {
                out.push(format!(
                    "tool `{name}` needs a parameter `{needed}`, which the library does not declare"
                ));
            }
        }
        for parameter in &declaration.parameters {
            let known = wants.required.iter().chain(&wants.optional).any(|known| *known == parameter.name);
            if !known {
                out.push(format!("tool `{name}` knows no parameter `{}`", parameter.name));
            }
        }
        if let Some(sourced) = wants.sourced
            && sourced != (declaration.origin == ToolOrigin::Sourced)
        {
            let is = if sourced { "is" } else { "is not" };
            out.push(format!("tool `{name}` {is} `sourced`, the library says otherwise"));
        }
    }
    out
}

/// Declarations of a library with those that tools bring themselves: tools that it does not declare are added, and
/// where it declares one, its parameters are held to the schemas that the tool gives.
#[must_use]
pub fn declarations(tools: &[Box<dyn Tool>], declared: &[ToolDeclaration]) -> Vec<ToolDeclaration> {
    let mut all = declared.to_vec();
    for own in tools.iter().filter_map(|tool| tool.declaration()) {
        let Some(known) = all.iter_mut().find(|known| known.name == own.name) else {
            all.push(own.clone());
            continue;
        };
        for parameter in &mut known.parameters {
            let described = own.parameters.iter().find(|described| described.name == parameter.name);
            if let Some(described) = described {
                // A text there may be a place or a date here; anything else is what the tool says.
                if described.kind != ParameterType::Text {
                    parameter.kind = described.kind.clone();
                }
                if described.kind == parameter.kind {
                    parameter.schema = described.schema.clone();
                }
            }
        }
    }
    all
}

/// An argument as text; models write numbers and texts alike.
fn text_argument(arguments: &Map<String, Value>, name: &str) -> Option<String> {
    match arguments.get(name)? {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}
