//! `W502`: a library without a skill routes every message to none.

use crate::diagnostics::{self as codes, Diagnostic};
use crate::library::Library;
use crate::limits::Limits;

pub(super) fn check(library: &Library, _limits: &Limits, out: &mut Vec<Diagnostic>) {
    if library.skills.is_empty() {
        out.push(
            Diagnostic::global(codes::EMPTY_LIBRARY, "the library has no skill, so every message routes to none")
                .help("add a `skill NAME { … }`"),
        );
    }
}
