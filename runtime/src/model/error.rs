//! What can go wrong with a model.

use std::path::Path;

use thiserror::Error;

/// Why a model cannot be used or an answer not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A file of the folder is missing or damaged.
    #[error("{path}: {cause}")]
    File {
        /// The file.
        path: String,
        /// What is wrong.
        cause: String,
    },
    /// The tokenizer failed.
    #[error("the tokenizer failed: {0}")]
    Tokenizer(String),
    /// The chat template failed.
    #[error("{path}: the chat template failed: {cause}")]
    Template {
        /// The file that holds it.
        path: String,
        /// The template engine's message, with the line.
        cause: String,
    },
    /// ONNX Runtime failed.
    #[error("ONNX Runtime: {0}")]
    Runtime(String),
    /// The device that was named cannot run the model.
    #[error("device {device} cannot run this model: {cause}")]
    Device {
        /// Name.
        device: &'static str,
        /// Why.
        cause: String,
    },
    /// The graph is not a decoder of the kind described.
    #[error("the graph is no decoder that can be run: {0}")]
    Graph(String),
    /// An endpoint failed.
    #[error("the endpoint {url} failed: {cause}")]
    Remote {
        /// Its address.
        url: String,
        /// What it said, or what did not happen.
        cause: String,
    },
    /// Tools are offered and the model cannot be told of them.
    #[error("no tool can be offered to this model: {0}")]
    NoTools(String),
    /// A call could not be held to what was offered.
    #[error("the grammar of tool calls failed: {0}")]
    Calls(String),
    /// Too many replies wait for the model already.
    #[error("{waiting} replies wait for the model already; ask again later")]
    Busy {
        /// How many may wait.
        waiting: usize,
    },
    /// The prompt leaves no room for an answer.
    #[error("the prompt has {tokens} tokens, the model's context holds {context}")]
    PromptTooLong {
        /// Tokens of the prompt.
        tokens: usize,
        /// Tokens of the context.
        context: usize,
    },
}

impl ModelError {
    pub(super) fn file(path: &Path, cause: impl std::fmt::Display) -> Self {
        Self::File { path: path.display().to_string(), cause: cause.to_string() }
    }

    pub(super) fn tokenizer(cause: &dyn std::fmt::Display) -> Self {
        Self::Tokenizer(cause.to_string())
    }
}

impl<R> From<ort::Error<R>> for ModelError {
    fn from(error: ort::Error<R>) -> Self {
        Self::Runtime(error.to_string())
    }
}
