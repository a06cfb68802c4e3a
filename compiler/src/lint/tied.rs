//! `W507`: two skills of one priority match a message of the library's own tests, and only the name decides.

use std::collections::HashSet;

use crate::diagnostics::{self as codes, Diagnostic};
use crate::lint::Subject;

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    let mut known = HashSet::new();
    for route in subject.routes {
        let Some(skill) = &route.skill else { continue };
        for other in &route.tied {
            let pair =
                if skill < other { (skill.clone(), other.clone()) } else { (other.clone(), skill.clone()) };
            if known.insert(pair) {
                out.push(
                    Diagnostic::new(
                        codes::TIED,
                        route.span,
                        format!("`{skill}` and `{other}` tie on this message; only their names decide"),
                    )
                    .help("give one a higher priority, or exclude from one what the other should take"),
                );
            }
        }
    }
}
