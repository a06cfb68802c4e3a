//! `W503`: a trigger that no test and no exemplar exercises may not match what its author thinks.

use std::collections::HashSet;

use crate::diagnostics::{self as codes, Diagnostic};
use crate::lint::Subject;

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    let decided: HashSet<(String, u32)> =
        subject.routes.iter().filter_map(|route| route.at.clone()).collect();
    let triggers =
        subject.library.skills.iter().flat_map(|skill| skill.triggers.iter().map(move |t| (skill, t)));
    for (skill, trigger) in triggers {
        let file =
            subject.library.files.get(trigger.span.file as usize).map_or("", |file| file.name.as_str());
        if !decided.contains(&(file.to_owned(), subject.library.line(trigger.span))) {
            out.push(
                Diagnostic::new(
                    codes::UNTESTED_TRIGGER,
                    trigger.span,
                    format!("no test and no exemplar of `{}` is decided by this trigger", skill.name.text),
                )
                .help("write a message that it should take into a `test` item"),
            );
        }
    }
}
