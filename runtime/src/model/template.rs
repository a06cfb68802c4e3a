//! Renders chat templates as the model's own files define them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, Error, ErrorKind, context};
use serde::{Deserialize, Serialize};

use super::ModelError;
use crate::artifact::ToolDeclaration;

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: String,
    /// Text.
    pub content: String,
}

impl Message {
    /// A message.
    #[must_use]
    pub fn new(role: &str, content: impl Into<String>) -> Self {
        Self { role: role.to_owned(), content: content.into() }
    }
}

/// A compiled chat template.
pub struct ChatTemplate {
    environment: Environment<'static>,
    special: BTreeMap<String, String>,
    takes_tools: bool,
    path: PathBuf,
}

impl std::fmt::Debug for ChatTemplate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatTemplate").field("takes_tools", &self.takes_tools).finish_non_exhaustive()
    }
}

const NAME: &str = "chat_template";
/// Most steps of one rendering: a template from outside must end.
const FUEL: u64 = 50_000_000;

impl ChatTemplate {
    /// Compiles a template; `special` are the tokens that it may name, such as `bos_token`, `path` is the file
    /// that messages name.
    ///
    /// # Errors
    /// The template's syntax; the message names the line.
    pub fn new(source: &str, special: &BTreeMap<String, String>, path: &Path) -> Result<Self, ModelError> {
        let failed = |error: Error| template_error(path, &error);
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(failed)?);
        environment.set_fuel(Some(FUEL));
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, message))
        });
        environment.add_template_owned(NAME, source.to_owned()).map_err(failed)?;
        let takes_tools = source.contains("tools");
        Ok(Self { environment, special: special.clone(), takes_tools, path: path.to_owned() })
    }

    /// Whether the template has a place for tools.
    #[must_use]
    pub fn takes_tools(&self) -> bool {
        self.takes_tools
    }

    /// Renders a conversation up to the point where the assistant writes. Without tools none are named at all.
    ///
    /// # Errors
    /// The template's own complaint, or a step limit.
    pub fn render(&self, messages: &[Message], tools: &[ToolDeclaration]) -> Result<String, ModelError> {
        self.render_with(messages, tools, true)
    }

    /// Bytes that a rendered prompt has in common with its first messages alone: what other prompts that begin with
    /// these messages begin with, too. 0 where the template refuses to render them alone.
    #[must_use]
    pub fn shared(&self, prompt: &str, first: &[Message], tools: &[ToolDeclaration]) -> usize {
        let Ok(alone) = self.render_with(first, tools, false) else { return 0 };
        let common = alone.bytes().zip(prompt.bytes()).take_while(|(a, b)| a == b).count();
        (0..=common).rev().find(|&at| prompt.is_char_boundary(at)).unwrap_or_default()
    }

    fn render_with(
        &self,
        messages: &[Message],
        tools: &[ToolDeclaration],
        answer_follows: bool,
    ) -> Result<String, ModelError> {
        let template =
            self.environment.get_template(NAME).map_err(|error| template_error(&self.path, &error))?;
        let functions: Vec<serde_json::Value> = tools.iter().map(function).collect();
        let tools = if functions.is_empty() { Value::from(()) } else { Value::from(Serde(functions)) };
        let special = |key: &str| self.special.get(key).cloned().unwrap_or_default();
        template
            .render(context! {
                messages => Value::from(Serde(messages)),
                tools => tools,
                add_generation_prompt => answer_follows,
                bos_token => special("bos_token"),
                eos_token => special("eos_token"),
                unk_token => special("unk_token"),
                pad_token => special("pad_token"),
            })
            .map_err(|error| template_error(&self.path, &error))
            .and_then(|text| {
                if text.trim().is_empty() {
                    let cause = "it renders nothing".to_owned();
                    Err(ModelError::Template { path: self.path.display().to_string(), cause })
                } else {
                    Ok(text)
                }
            })
    }
}

fn template_error(path: &Path, error: &Error) -> ModelError {
    ModelError::Template { path: path.display().to_string(), cause: format!("{error:#}") }
}

/// A tool as OpenAI's API and most templates write it.
#[must_use]
pub fn function(tool: &ToolDeclaration) -> serde_json::Value {
    serde_json::json!({
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema()}
    })
}
