//! Tokenizer and chat template of a model folder: what a prompt is made with, and what replies are read with.

use std::path::Path;

use tokenizers::Tokenizer;

use super::files::{Files, regular};
use super::prefixes::common;
use super::{CallForm, ChatTemplate, Generation, Message, ModelError, Profile, Prompt};
use crate::artifact::ToolDeclaration;

/// Largest id of a token: tables have a row for each.
const LARGEST_ID: u32 = 1 << 22;

/// Tokenizer and chat template of a model folder, without the model: enough to show a prompt.
pub struct Processor {
    tokenizer: Tokenizer,
    template: ChatTemplate,
    calls: CallForm,
    files: Files,
}

impl std::fmt::Debug for Processor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Processor").field("name", &self.files.name).finish_non_exhaustive()
    }
}

impl Processor {
    /// Opens a model folder without its graph; `dtype` is the precision of the graph, where there are several.
    ///
    /// # Errors
    /// The folder lacks a file or a file is damaged.
    pub fn open(folder: &Path, dtype: Option<&str>) -> Result<Self, ModelError> {
        let files = Files::read(folder, dtype)?;
        let path = folder.join("tokenizer.json");
        regular(&path)?;
        let tokenizer = Tokenizer::from_file(&path).map_err(|error| ModelError::file(&path, error))?;
        let template = ChatTemplate::new(&files.template, &files.special, &files.template_path)?;
        let calls = files.calls(&template);
        let largest = tokenizer.get_vocab(true).into_values().max();
        match largest {
            None => return Err(ModelError::file(&path, "it has no tokens")),
            Some(id) if id > LARGEST_ID => {
                return Err(ModelError::file(&path, format!("a token has the id {id}, over {LARGEST_ID}")));
            }
            Some(id) => {
                if let Some(end) = files.generation.ends.iter().find(|end| **end > id) {
                    let cause =
                        format!("`eos_token_id` is {end}, and tokenizer.json has no token behind {id}");
                    return Err(ModelError::file(folder, cause));
                }
            }
        }
        Ok(Self { tokenizer, template, calls, files })
    }

    /// Name of the folder.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.files.name
    }

    /// The graph.
    pub(super) fn graph(&self) -> &Path {
        &self.files.graph
    }

    pub(super) fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Ids that end a turn.
    pub(super) fn ends(&self) -> &[u32] {
        &self.files.generation.ends
    }

    /// What is known of the model's behaviour.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.files.profile
    }

    /// The model's own generation settings.
    #[must_use]
    pub fn generation(&self) -> &Generation {
        &self.files.generation
    }

    /// Longest prompt and answer together, in tokens.
    #[must_use]
    pub fn context(&self) -> usize {
        self.files.context
    }

    /// Writes a conversation and the offered tools as the model expects them.
    ///
    /// # Errors
    /// The chat template fails; the message says where.
    pub fn render(&self, messages: &[Message], tools: &[ToolDeclaration]) -> Result<String, ModelError> {
        self.template.render(messages, tools)
    }

    /// See [`ChatTemplate::shared`].
    #[must_use]
    pub fn shared(&self, prompt: &str, first: &[Message], tools: &[ToolDeclaration]) -> usize {
        self.template.shared(prompt, first, tools)
    }

    /// Whether the chat template has a place for tools.
    #[must_use]
    pub fn template_takes_tools(&self) -> bool {
        self.template.takes_tools()
    }

    /// How the model writes calls.
    #[must_use]
    pub fn calls(&self) -> &CallForm {
        &self.calls
    }

    /// Token ids of a rendered prompt.
    ///
    /// # Errors
    /// The tokenizer fails.
    pub fn tokens(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        let encoding =
            self.tokenizer.encode_fast(text, false).map_err(|error| ModelError::tokenizer(&*error))?;
        Ok(encoding.get_ids().to_vec())
    }

    /// Token ids of a rendered prompt that leaves room for an answer, and how many of them other prompts of its skill
    /// begin with.
    pub(super) fn split_prompt(&self, prompt: Prompt<'_>) -> Result<(Vec<u32>, usize), ModelError> {
        let tokens = self.tokens(prompt.text)?;
        if tokens.is_empty() || tokens.len() >= self.context() {
            return Err(ModelError::PromptTooLong { tokens: tokens.len(), context: self.context() });
        }
        let shared = prompt.text.get(..prompt.shared).unwrap_or_default();
        let shared = if shared.is_empty() { 0 } else { common(&self.tokens(shared)?, &tokens) };
        Ok((tokens, shared))
    }

    /// One of a tokenizer alone, for tests.
    #[cfg(test)]
    pub(super) fn of_tokenizer(tokenizer: Tokenizer, end: u32) -> Result<Self, ModelError> {
        let template = "{% for message in messages %}{{ message.content }}{% endfor %}";
        let files = Files::of_test(template, end);
        let template = ChatTemplate::new(template, &files.special, &files.template_path)?;
        let calls = files.calls(&template);
        Ok(Self { tokenizer, template, calls, files })
    }
}
