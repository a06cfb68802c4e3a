//! `W510`: a regular expression of a trigger that needs no literal runs on every message.

use crate::diagnostics::{self as codes, Diagnostic};
use crate::library::Matcher;
use crate::lint::Subject;
use crate::resolve::required_literal;

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    for skill in &subject.library.skills {
        for element in skill.triggers.iter().chain(&skill.fallbacks) {
            if let Matcher::Regex(source, _) = &element.matcher
                && required_literal(source).is_empty()
            {
                out.push(
                    Diagnostic::new(
                        codes::SLOW_REGEX,
                        element.span,
                        "this regular expression needs no literal, so it runs on every message",
                    )
                    .help("let every match hold two ASCII characters in a row, or write a pattern"),
                );
            }
        }
    }
}
