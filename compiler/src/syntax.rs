//! Text to tree. Always both: a file and what was wrong with it.
#![deny(clippy::indexing_slicing)]

pub mod ast;
mod parse;
pub mod pattern;
mod written;

pub use parse::{Parsed, parse};
