//! Advice on a library that compiles. One lint one file; its page is its test.

mod context;
mod empty;

use crate::diagnostics::Diagnostic;
use crate::library::Library;
use crate::limits::Limits;

/// A lint: looks at the library and says what it would change.
type Lint = fn(&Library, &Limits, &mut Vec<Diagnostic>);

/// All lints.
const LINTS: [Lint; 2] = [context::check, empty::check];

/// Runs every lint.
#[must_use]
pub fn lint(library: &Library, limits: &Limits) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for lint in LINTS {
        lint(library, limits, &mut out);
    }
    out
}
