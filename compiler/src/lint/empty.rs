//! `W502`: a library without a skill routes every message to none.

use crate::diagnostics::{self as codes, Diagnostic};
use crate::lint::Subject;

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    if subject.library.skills.is_empty() {
        out.push(
            Diagnostic::global(
                codes::EMPTY_LIBRARY,
                "the library has no skill, so every message routes to none",
            )
            .help("add a `skill NAME { … }`"),
        );
    }
}
