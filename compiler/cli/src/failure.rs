//! Why a command could not be carried out.

use std::io;
use std::path::Path;

use skill_runtime::artifact::LoadError;
use skill_runtime::model::ModelError;
use thiserror::Error;

use crate::model_store::StoreError;
use crate::{EXIT_FINDINGS, EXIT_USAGE};

/// A command that ended early.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Failure {
    /// A file cannot be read or written.
    #[error("cannot {action} {path}: {source}")]
    File {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// An artifact cannot be used.
    #[error("{path}: {source}")]
    Artifact {
        /// The file.
        path: String,
        /// Why.
        source: LoadError,
    },
    /// The library has errors; they were shown.
    #[error("the library has errors; `skillc check` lists them")]
    Library,
    /// What was asked cannot be done.
    #[error("{0}")]
    Usage(String),
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    /// A model cannot be fetched or converted.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A model cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Failure {
    pub(crate) fn file(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File { action, path: path.display().to_string(), source }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        if matches!(self, Self::Library) { EXIT_FINDINGS } else { EXIT_USAGE }
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
