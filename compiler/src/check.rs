//! Judges a resolved library: references, slots, calls, tests, budgets. Errors only; advice is `lint`'s.

mod calls;
mod names;
mod patterns;
mod tests_of;

use skill_runtime::artifact::ParameterType;

use crate::diagnostics::{self as codes, Diagnostic, suggestion};
use crate::library::{Library, Skill};
use crate::limits::Limits;
use crate::syntax::ast::Scalar;

pub use patterns::list_reference;

/// Checks a library.
#[must_use]
pub fn check(library: &Library, limits: &Limits) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    patterns::check(library, limits, &mut out);
    for skill in &library.skills {
        check_skill(library, skill, limits, &mut out);
        calls::check(library, skill, &mut out);
    }
    tests_of::check(library, &mut out);
    out
}

fn check_skill(library: &Library, skill: &Skill, limits: &Limits, out: &mut Vec<Diagnostic>) {
    if skill.triggers.is_empty() && skill.keywords.is_empty() && skill.fallbacks.is_empty() && !skill.damaged
    {
        out.push(
            Diagnostic::new(
                codes::UNREACHABLE_SKILL,
                skill.name.span,
                format!("nothing can reach skill `{}`", skill.name.text),
            )
            .help("give it a `trigger`, `keywords` or a `fallback`; descriptions never route"),
        );
    }
    if let Some((guidance, span)) = &skill.guidance {
        let length = guidance.chars().count();
        if length > limits.guidance {
            let limit = limits.guidance;
            out.push(
                Diagnostic::new(
                    codes::GUIDANCE_TOO_LONG,
                    *span,
                    format!("the guidance of `{}` has {length} characters, over {limit}", skill.name.text),
                )
                .help(
                    "move a rule into an exemplar; small models copy, they do not obey (setting: guidance)",
                ),
            );
        }
    }
    if let Some(answer) = skill.answer.as_ref().filter(|answer| answer.text == "exemplar")
        && !skill.exemplars.iter().any(|exemplar| exemplar.label.is_some())
        && !skill.damaged
    {
        out.push(
            Diagnostic::new(
                codes::MISSING_KEY,
                answer.span,
                format!("`{}` answers by exemplar, but has none with a label", skill.name.text),
            )
            .help("give a trigger a label and write the exemplar that answers it: `exemplar LABEL \"…\" { answer: \"…\" }`"),
        );
    }
    if let (Some(choice), Some([])) = (&skill.tool_choice, skill.tools.as_deref())
        && choice.text == "required"
    {
        out.push(
            Diagnostic::new(
                codes::MISPLACED,
                choice.span,
                format!("`{}` requires a tool and has none", skill.name.text),
            )
            .help("list a tool in `tools`, or delete `tool_choice`"),
        );
    }
    for trigger in &skill.triggers {
        let Some(label) = &trigger.label else { continue };
        let labels = || skill.exemplars.iter().filter_map(|exemplar| exemplar.label.as_ref());
        if !labels().any(|known| known.text == label.text) {
            out.push(
                Diagnostic::new(
                    codes::UNKNOWN_LABEL,
                    label.span,
                    format!("no exemplar of `{}` is labelled `{}`", skill.name.text, label.text),
                )
                .help(suggestion(
                    &label.text,
                    labels().map(|label| label.text.as_str()),
                    "labels",
                )),
            );
        }
    }
    let known = || library.tools.iter().map(|tool| tool.declaration.name.as_str());
    for tool in skill.tools.iter().flatten() {
        if !known().any(|name| name == tool.text) {
            out.push(unknown_tool(&tool.text, tool.span, known()));
        }
    }
    if let Some(choice) = &skill.tool_choice
        && !["auto", "required", "none"].contains(&choice.text.as_str())
    {
        let listed = || skill.tools.iter().flatten().map(|tool| tool.text.as_str());
        if !known().any(|name| name == choice.text) {
            out.push(
                Diagnostic::new(
                    codes::UNKNOWN_VALUE,
                    choice.span,
                    format!("`{}` is no value of `tool_choice`", choice.text),
                )
                .help(suggestion(
                    &choice.text,
                    ["auto", "required", "none"].into_iter().chain(listed()),
                    "values",
                )),
            );
        } else if skill.tools.is_some() && !listed().any(|name| name == choice.text) {
            out.push(outside_list(&choice.text, choice.span, skill));
        }
    }
}

pub(crate) fn unknown_tool<'n>(
    name: &str,
    span: crate::source::Span,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    Diagnostic::new(codes::UNKNOWN_TOOL, span, format!("unknown tool `{name}`"))
        .help(format!("{}; declare one with `tool NAME(…) sourced \"…\"`", suggestion(name, known, "tools")))
}

fn outside_list(name: &str, span: crate::source::Span, skill: &Skill) -> Diagnostic {
    Diagnostic::new(
        codes::TOOL_OUTSIDE_LIST,
        span,
        format!("tool `{name}` is not in the list of skill `{}`", skill.name.text),
    )
    .help(format!("add it to `tools`, or use one of: {}", {
        let listed: Vec<&str> = skill.tools.iter().flatten().map(|tool| tool.text.as_str()).collect();
        if listed.is_empty() { "none".to_owned() } else { listed.join(", ") }
    }))
}

/// A literal as JSON, if it fits the parameter's type; the message says why not.
///
/// # Errors
/// What is wrong, as a first line.
pub fn literal(value: &Scalar, kind: &ParameterType) -> Result<serde_json::Value, String> {
    let found = value.describe();
    match (kind, value) {
        (ParameterType::Number, Scalar::Number(number)) => {
            serde_json::from_str(&number.text).map_err(|_| format!("`{}` is no number", number.text))
        }
        (ParameterType::Number, _) => Err(format!("this parameter is a number, not {found}")),
        (ParameterType::Boolean, Scalar::Word(word)) if word.text == "true" || word.text == "false" => {
            Ok((word.text == "true").into())
        }
        (ParameterType::Boolean, _) => Err("this parameter is true or false".to_owned()),
        (ParameterType::OneOf(values), Scalar::Text(text)) => {
            if values.contains(&text.value) {
                Ok(text.value.clone().into())
            } else {
                let shown: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
                Err(format!("\"{}\" is none of {}", text.value, shown.join(", ")))
            }
        }
        (_, Scalar::Text(text)) => Ok(text.value.clone().into()),
        (_, _) => Err(format!("this parameter is a text, not {found}")),
    }
}
