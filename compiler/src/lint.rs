//! Advice on a library that compiles. One lint one file; its page is its test.

mod context;
mod empty;
mod fallback;
mod generic;
mod levels;
mod one_language;
mod slow_regex;
mod strayed;
mod swallow;
mod tied;
mod untested;
mod unused;

use crate::diagnostics::Diagnostic;
use crate::library::Library;
use crate::limits::Limits;
use crate::lower::ExemplarSlots;
use crate::source::Span;

pub(crate) use levels::FileLevels;
pub use levels::{Level, Levels};

/// How a message that the library itself holds is routed.
#[derive(Clone, Debug)]
pub struct OwnRoute {
    /// It is an exemplar's; else a step of a test.
    pub exemplar: bool,
    /// The exemplar's skill; empty for a test.
    pub owner: String,
    /// The message.
    pub message: String,
    /// Its place.
    pub span: Span,
    /// The skill that takes it.
    pub skill: Option<String>,
    /// Place of the deciding trigger.
    pub trigger: Option<Span>,
    /// Skills of the same priority that the same stage would have taken.
    pub tied: Vec<String>,
}

/// What lints look at.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'l> {
    /// The library.
    pub library: &'l Library,
    /// What its exemplars bind, and so the texts that prompts are made from.
    pub texts: &'l ExemplarSlots,
    /// Where the messages of its exemplars and tests go.
    pub routes: &'l [OwnRoute],
    /// Limits.
    pub limits: &'l Limits,
    /// Whether someone asks what no test exercises, which takes a second compilation.
    pub untested: bool,
}

/// A lint: looks at the library and says what it would change.
type Lint = fn(&Subject<'_>, &mut Vec<Diagnostic>);

/// All lints, by code.
const LINTS: [Lint; 11] = [
    context::check,
    empty::check,
    untested::check,
    generic::check,
    strayed::check,
    unused::check,
    tied::check,
    fallback::check,
    one_language::check,
    slow_regex::check,
    swallow::check,
];

/// Runs every lint.
#[must_use]
pub fn lint(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for lint in LINTS {
        lint(subject, &mut out);
    }
    // What the compiler brings along is not the author's to change.
    let built_in = |span: Span| {
        subject.library.files.get(span.file as usize).is_some_and(|file| file.name.starts_with("<built-in>"))
    };
    out.retain(|diagnostic| !diagnostic.span.is_some_and(built_in));
    out
}
