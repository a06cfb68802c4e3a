//! `W509`: a predicate that is filled for one language of the library and empty for another.

use crate::diagnostics::{self as codes, Diagnostic};
use crate::lint::Subject;

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    let library = subject.library;
    for (name, predicate) in &library.predicates {
        let Some(span) = predicate.span else { continue };
        let missing: Vec<&str> = library
            .languages
            .iter()
            .map(|language| language.name.as_str())
            .filter(|language| !predicate.languages.contains(*language))
            .collect();
        if predicate.languages.is_empty() || missing.is_empty() {
            continue;
        }
        out.push(
            Diagnostic::new(
                codes::ONE_LANGUAGE,
                span,
                format!("predicate `{name}` says nothing for {}", missing.join(", ")),
            )
            .help(format!(
                "add `{}: […]`; every list applies to every message",
                missing.first().unwrap_or(&"de")
            )),
        );
    }
}
