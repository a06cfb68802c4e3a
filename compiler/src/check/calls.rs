//! Calls of exemplars and openings: the tool is declared and listed, the arguments fit, the slots are bound.

use std::collections::{BTreeMap, BTreeSet};

use skill_runtime::artifact::ParameterType;
use skill_runtime::artifact::layout::SlotKind;

use super::{literal, outside_list, unknown_tool};
use crate::diagnostics::{self as codes, Diagnostic, suggestion};
use crate::library::{Element, Library, Matcher, Skill};
use crate::lower::slots_in;
use crate::syntax::ast::{Call, Name, Scalar};
use crate::syntax::pattern::Node;

pub(super) fn check(library: &Library, skill: &Skill, out: &mut Vec<Diagnostic>) {
    let bound = slots(library, skill);
    for call in &skill.openings {
        check_call(library, skill, call, &bound, true, out, &mut |name, out| {
            if !bound.contains_key(name.text.as_str()) && !skill.damaged {
                let known = bound.keys().map(String::as_str);
                out.push(
                    Diagnostic::new(
                        codes::UNKNOWN_SLOT,
                        name.span,
                        format!("no trigger of `{}` binds a slot `{}`", skill.name.text, name.text),
                    )
                    .help(suggestion(&name.text, known, "slots")),
                );
            }
        });
    }
    for exemplar in &skill.exemplars {
        for (call, _) in &exemplar.steps {
            // Whether the exemplar's own message binds the slot is known once the library routes.
            check_call(library, skill, call, &bound, false, out, &mut |_, _| {});
        }
    }
}

/// Slots that a trigger or follow template of the skill can bind, and whether each holds a number in all of them.
type Slots = BTreeMap<String, bool>;

fn slots(library: &Library, skill: &Skill) -> Slots {
    let mut out = BTreeMap::from([("message".to_owned(), false)]);
    for element in skill.triggers.iter().chain(&skill.follows) {
        element_slots(library, element, &mut out);
    }
    out
}

fn element_slots(library: &Library, element: &Element, out: &mut Slots) {
    match &element.matcher {
        Matcher::Template(template) => node_slots(library, &template.node, &mut BTreeSet::new(), out),
        Matcher::Regex(_, names) => out.extend(names.iter().map(|name| (name.clone(), false))),
        Matcher::Predicate(_) => {}
    }
}

/// Collects slots; `seen` are the fragments that were looked into already.
fn node_slots<'l>(library: &'l Library, node: &'l Node, seen: &mut BTreeSet<&'l str>, out: &mut Slots) {
    match node {
        Node::Sequence(parts) | Node::Alternatives(parts) => {
            parts.iter().for_each(|part| node_slots(library, part, seen, out));
        }
        Node::Optional(inner) => node_slots(library, inner, seen, out),
        Node::Slot { name, kind, .. } => {
            *out.entry(name.clone()).or_insert(true) &= *kind == SlotKind::Number;
        }
        Node::Reference { name, .. } if seen.insert(name) => {
            if let Some(fragment) = library.fragments.get(name) {
                node_slots(library, &fragment.template.node, seen, out);
            }
        }
        _ => {}
    }
}

fn check_call(
    library: &Library,
    skill: &Skill,
    call: &Call,
    bound: &Slots,
    openings: bool,
    out: &mut Vec<Diagnostic>,
    slot: &mut dyn FnMut(&crate::syntax::ast::Name, &mut Vec<Diagnostic>),
) {
    let known = library.tools.iter().map(|tool| tool.declaration.name.as_str());
    let Some(tool) = library.tools.iter().find(|tool| tool.declaration.name == call.name.text) else {
        out.push(unknown_tool(&call.name.text, call.name.span, known));
        return;
    };
    let outside =
        skill.tools.as_ref().is_some_and(|listed| !listed.iter().any(|name| name.text == call.name.text));
    if outside {
        out.push(outside_list(&call.name.text, call.name.span, skill));
    }
    let parameters = &tool.declaration.parameters;
    let mut given: Vec<&str> = Vec::new();
    for (name, value) in &call.arguments {
        let Some(parameter) = parameters.iter().find(|parameter| parameter.name == name.text) else {
            let help = suggestion(&name.text, parameters.iter().map(|p| p.name.as_str()), "parameters");
            out.push(
                Diagnostic::new(
                    codes::BAD_ARGUMENTS,
                    name.span,
                    format!("tool `{}` has no parameter `{}`", call.name.text, name.text),
                )
                .help(help),
            );
            continue;
        };
        if given.contains(&name.text.as_str()) {
            out.push(
                Diagnostic::new(codes::BAD_ARGUMENTS, name.span, format!("`{}` is given twice", name.text))
                    .help("delete one"),
            );
            continue;
        }
        given.push(&name.text);
        match value {
            // A bare word is a slot, true or false.
            Scalar::Word(word) if word.text != "true" && word.text != "false" => {
                let holds_number = bound.get(word.text.as_str()).copied();
                let wanted = match &parameter.kind {
                    ParameterType::Number if holds_number == Some(false) => "a number",
                    ParameterType::Boolean => "true or false",
                    _ => {
                        slot(word, out);
                        continue;
                    }
                };
                out.push(
                    Diagnostic::new(
                        codes::BAD_ARGUMENTS,
                        word.span,
                        format!("`{}` is {wanted}, and slot `{}` can hold any text", name.text, word.text),
                    )
                    .help("bind it with a slot of kind number, or write the value"),
                );
            }
            Scalar::Text(text) if openings && !slots_in(&text.value).is_empty() => {
                for name in slots_in(&text.value) {
                    slot(&Name { text: name.to_owned(), span: text.span }, out);
                }
                if !matches!(
                    parameter.kind,
                    ParameterType::Text | ParameterType::Place | ParameterType::Url | ParameterType::Date
                ) {
                    let message =
                        format!("`{}` takes no text, so no slots can be written into it", name.text);
                    out.push(Diagnostic::new(codes::BAD_ARGUMENTS, text.span, message));
                }
            }
            _ => {
                if let Err(message) = literal(value, &parameter.kind) {
                    out.push(Diagnostic::new(codes::BAD_ARGUMENTS, value.span(), message));
                }
            }
        }
    }
    for parameter in parameters.iter().filter(|p| !p.optional && p.default.is_none()) {
        if !given.contains(&parameter.name.as_str()) {
            out.push(
                Diagnostic::new(
                    codes::BAD_ARGUMENTS,
                    call.span,
                    format!("the call of `{}` lacks `{}`", call.name.text, parameter.name),
                )
                .help(format!("add `{}: …`, or declare the parameter optional with `?`", parameter.name)),
            );
        }
    }
}
