//! `W508`: a fallback without exclusions takes whatever nobody else took, greetings and commands included.

use crate::diagnostics::{self as codes, Diagnostic};
use crate::lint::Subject;

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    for skill in subject.library.skills.iter().filter(|skill| skill.excludes.is_empty()) {
        for fallback in skill.fallbacks.iter().filter(|fallback| fallback.unless.is_empty()) {
            out.push(
                Diagnostic::new(
                    codes::BARE_FALLBACK,
                    fallback.span,
                    format!("the fallback of `{}` excludes nothing", skill.name.text),
                )
                .help("add `unless opener, closer, fragment, …`, or an `exclude`"),
            );
        }
    }
}
