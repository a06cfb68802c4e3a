//! Compiles `.skill` files into a routing automaton.
//!
//! Phases in order: [`syntax`] (text to tree), [`resolve`] (tree to library), [`check`] (errors), [`lint`]
//! (advice), [`lower`] (library to artifact). [`compile`] runs them all and returns what it made **and** what it
//! has to say, always both. The crate reads no file, clock or environment.

pub mod check;
mod compile;
pub mod diagnostics;
mod dictionary;
pub mod library;
pub mod limits;
pub mod lint;
pub mod lower;
pub mod resolve;
pub mod source;
pub mod syntax;
pub mod testing;

pub use compile::{Compiled, compile, compile_at};
pub use diagnostics::{Diagnostic, Severity};
pub use limits::Limits;
pub use lint::{Level, Levels};
pub use source::SourceFile;

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
