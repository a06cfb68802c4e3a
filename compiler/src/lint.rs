//! Advice on a library that compiles. One lint one file; its page is its test.

mod context;
mod empty;

use crate::diagnostics::Diagnostic;
use crate::library::Library;
use crate::limits::Limits;
use crate::lower::ExemplarSlots;

/// What lints look at.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'l> {
    /// The library.
    pub library: &'l Library,
    /// What its exemplars bind, and so the texts that prompts are made from.
    pub texts: &'l ExemplarSlots,
    /// Limits.
    pub limits: &'l Limits,
}

/// A lint: looks at the library and says what it would change.
type Lint = fn(&Subject<'_>, &mut Vec<Diagnostic>);

/// All lints.
const LINTS: [Lint; 2] = [context::check, empty::check];

/// Runs every lint.
#[must_use]
pub fn lint(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for lint in LINTS {
        lint(subject, &mut out);
    }
    out
}
