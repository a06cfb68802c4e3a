//! `W501`: exemplars beyond the context budget never reach the prompt.

use crate::diagnostics::{self as codes, Diagnostic};
use crate::lint::Subject;

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    let limit = subject.limits.context;
    for (number, skill) in subject.library.skills.iter().enumerate() {
        let kept = subject.texts.skill(subject.library, number).kept_exemplars(limit);
        for exemplar in skill.exemplars.iter().skip(kept) {
            out.push(
                Diagnostic::new(
                    codes::CONTEXT_TOO_LONG,
                    exemplar.span,
                    format!("this exemplar of `{}` never reaches the prompt", skill.name.text),
                )
                .help(format!(
                    "shorten or delete exemplars: guidance and exemplars of {limit} characters fit (setting: context)"
                )),
            );
        }
    }
}
