//! The artifact (`.skillpack`): what the compiler writes and the router reads.
//!
//! A file is a header, a table of sections and the sections. Sections that routing touches are arrays of
//! fixed-size little-endian records, used in place from a memory map; texts that only a prompt needs are JSON,
//! one blob a skill, decoded when that skill is prompted. Loading checks the version, the length, the checksum
//! and every index once, so that no later stage can run out of bounds. The checksum guards against damage, not
//! against an author of hostile files: those meet the index checks.
#![deny(clippy::indexing_slicing)]

pub mod layout;
mod library;
mod load;
mod write;

pub use library::{
    Argument, Assistant, Exemplar, ExemplarCall, HostText, LanguageText, LibraryText, Parameter,
    ParameterType, Reply, ReplyForm, SkillText, TOOL_REPLIES, ToolDeclaration, ToolOrigin,
};
pub use load::{LoadError, Pack};
pub(crate) use load::{View, range as layout_range};
pub use write::{PackBuilder, StringRef};
