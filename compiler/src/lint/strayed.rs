//! `W505`: an exemplar whose own message goes to another skill teaches what never happens.

use crate::diagnostics::{self as codes, Diagnostic};
use crate::lint::Subject;

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    for route in subject.routes.iter().filter(|route| route.exemplar) {
        if route.skill.as_deref() == Some(route.owner.as_str()) {
            continue;
        }
        let elsewhere = route
            .skill
            .as_ref()
            .map_or("no skill takes it".to_owned(), |skill| format!("`{skill}` takes it"));
        out.push(
            Diagnostic::new(
                codes::STRAYED_EXEMPLAR,
                route.span,
                format!("the message of this exemplar of `{}` goes elsewhere: {elsewhere}", route.owner),
            )
            .help("write a message that the skill's triggers take; `skillc route MESSAGE --why-not SKILL` says what is missing"),
        );
    }
}
