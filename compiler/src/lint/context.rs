//! `W501`: exemplars beyond the context budget never reach the prompt.

use skill_runtime::artifact::SkillText;

use crate::diagnostics::{self as codes, Diagnostic};
use crate::library::{Library, Skill};
use crate::limits::Limits;

pub(super) fn check(library: &Library, limits: &Limits, out: &mut Vec<Diagnostic>) {
    for skill in &library.skills {
        check_skill(skill, limits, out);
    }
}

fn check_skill(skill: &Skill, limits: &Limits, out: &mut Vec<Diagnostic>) {
    let guidance = skill.guidance.as_ref().map_or(0, |(text, _)| text.chars().count());
    let mut total = guidance;
    let mut full = false;
    for (at, exemplar) in skill.exemplars.iter().enumerate() {
        let calls: usize = exemplar
            .steps
            .iter()
            .map(|(call, result)| {
                let arguments = call.arguments.iter().map(|(name, value)| {
                    (name.text.as_str(), (value.span().end - value.span().start) as usize)
                });
                SkillText::call_length(&call.name.text, arguments) + result.chars().count()
            })
            .sum();
        total += exemplar.message.chars().count() + exemplar.answer.chars().count() + calls;
        full |= total > limits.context;
        // The first exemplar is always kept.
        if full && at > 0 {
            let limit = limits.context;
            out.push(
                Diagnostic::new(
                    codes::CONTEXT_TOO_LONG,
                    exemplar.span,
                    format!("this exemplar of `{}` never reaches the prompt", skill.name.text),
                )
                .label(format!("guidance and exemplars up to here have {total} characters"))
                .help(format!("shorten or delete exemplars: {limit} characters fit (setting: context)")),
            );
        }
    }
}
