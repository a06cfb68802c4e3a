//! Tools that code runs. A failure is a result that the model and the user see, and never evidence.
//!
//! Texts that a reader sees come from the library's `replies`; [`crate::artifact::TOOL_REPLIES`] lists the keys.
#![deny(clippy::indexing_slicing)]

mod calculator;
mod current_time;
mod days;
mod number_words;
mod numbers;
mod places;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::artifact::{LanguageText, Reply};

pub use calculator::calculate;

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
}

impl<'l> ToolContext<'l> {
    /// The clock and zone of this machine.
    #[must_use]
    pub fn here(language: &'l LanguageText, language_is_certain: bool) -> Self {
        Self {
            language,
            language_is_certain,
            arguments_by_model: false,
            now: jiff::Timestamp::now(),
            zone: jiff::tz::TimeZone::try_system().unwrap_or_else(|_| jiff::tz::TimeZone::unknown()),
        }
    }

    /// A reply with `{name}` replaced by values; the key itself when the library lacks it.
    #[must_use]
    pub fn reply(&self, key: &str, values: &BTreeMap<&str, String>) -> String {
        reply(self.language, key, values)
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

/// A tool.
pub trait Tool: Send + Sync {
    /// Name, as libraries declare it.
    fn name(&self) -> &'static str;

    /// Runs it. The first line of the result can stand alone as an answer.
    ///
    /// # Errors
    /// [`ToolFailure`] says why there is no result.
    fn run(&self, arguments: &Map<String, Value>, context: &ToolContext<'_>) -> Result<String, ToolFailure>;
}

/// Every tool that this build can run.
#[must_use]
pub fn built_in() -> Vec<Box<dyn Tool>> {
    vec![Box::new(calculator::Calculator), Box::new(current_time::CurrentTime)]
}

/// Names of the tools that this build can run.
#[must_use]
pub fn names() -> Vec<&'static str> {
    built_in().iter().map(|tool| tool.name()).collect()
}

/// An argument as text; models write numbers and texts alike.
fn text_argument(arguments: &Map<String, Value>, name: &str) -> Option<String> {
    match arguments.get(name)? {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}
