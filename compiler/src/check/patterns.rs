//! Patterns of a library: references and their circles, slots, sizes, and that each of them requires something.

use std::collections::BTreeSet;

use skill_runtime::artifact::layout::{LISTS, SlotKind};

use crate::diagnostics::{self as codes, Diagnostic, suggestion};
use crate::library::{Element, Library, Matcher};
use crate::limits::Limits;
use crate::source::Span;
use crate::syntax::pattern::{Node, Template};

/// Number of the word list that a reference names, if it names one.
#[must_use]
pub fn list_reference(name: &str) -> Option<usize> {
    let name = match name {
        "opener" => "openers",
        "closer" => "closers",
        other => other,
    };
    LISTS.iter().position(|list| *list == name)
}

pub(super) fn check(library: &Library, limits: &Limits, out: &mut Vec<Diagnostic>) {
    for (name, fragment) in &library.fragments {
        references(library, &fragment.template.node, out);
        if reaches(library, &fragment.template.node, name, &mut BTreeSet::new()) {
            out.push(
                Diagnostic::new(codes::FRAGMENT_CYCLE, fragment.span, format!("fragment `{name}` contains itself"))
                    .help("break the circle: a fragment may use others, but not come back to itself"),
            );
        }
    }
    if out.iter().any(|diagnostic| diagnostic.code == codes::FRAGMENT_CYCLE.id) {
        return;
    }
    for predicate in &library.predicates {
        for element in &predicate.elements {
            check_element(library, limits, element, out);
        }
        if predicate_reaches(library, &predicate.name, &predicate.name, &mut BTreeSet::new()) {
            let span = predicate.span.unwrap_or(Span { file: 0, start: 0, end: 0 });
            out.push(
                Diagnostic::new(
                    codes::FRAGMENT_CYCLE,
                    span,
                    format!("predicate `{}` depends on itself", predicate.name),
                )
                .help("break the circle"),
            );
        }
    }
    for skill in &library.skills {
        for element in skill.triggers.iter().chain(&skill.follows).chain(&skill.excludes).chain(&skill.fallbacks) {
            check_element(library, limits, element, out);
        }
    }
}

fn check_element(library: &Library, limits: &Limits, element: &Element, out: &mut Vec<Diagnostic>) {
    match &element.matcher {
        Matcher::Template(template) => check_template(library, limits, template, out),
        Matcher::Predicate(name) => {
            if !library.predicates.iter().any(|known| known.name == name.text) {
                let known = library.predicates.iter().map(|predicate| predicate.name.as_str());
                out.push(
                    Diagnostic::new(
                        codes::UNKNOWN_PREDICATE,
                        name.span,
                        format!("unknown predicate `{}`", name.text),
                    )
                    .help(format!("{}; a pattern is written in quotes", suggestion(&name.text, known, "predicates"))),
                );
            }
        }
        Matcher::Regex(..) => {}
    }
    for veto in &element.unless {
        check_element(library, limits, veto, out);
    }
}

fn check_template(library: &Library, limits: &Limits, template: &Template, out: &mut Vec<Diagnostic>) {
    let before = out.len();
    references(library, &template.node, out);
    if out.len() > before {
        return;
    }
    let mut slots: Vec<(&str, SlotKind, Span)> = Vec::new();
    check_slots(&template.node, true, &mut slots, out);
    if slots.len() > limits.slots {
        let limit = limits.slots;
        out.push(
            Diagnostic::new(
                codes::TEMPLATE_TOO_LARGE,
                template.span,
                format!("this pattern has {} slots, over {limit}", slots.len()),
            )
            .help("split it into several patterns (setting: slots)"),
        );
    }
    if !requires_something(library, &template.node) {
        out.push(
            Diagnostic::new(
                codes::REQUIRES_NOTHING,
                template.span,
                "this pattern needs no word, so it would match almost any message",
            )
            .help(
                "write a word, symbol or mark that must stand there, or a slot of kind mixed, number, url or expression",
            ),
        );
    }
    let positions = positions(library, &template.node, 0);
    if positions > limits.template_positions {
        let limit = limits.template_positions;
        out.push(
            Diagnostic::new(
                codes::TEMPLATE_TOO_LARGE,
                template.span,
                format!("this pattern needs {positions} positions, over {limit}"),
            )
            .help("split it into several triggers; a gap of n words needs n positions (setting: template_positions)"),
        );
    }
}

/// Collects slots and reports doubled ones and a `rest` that is not last.
fn check_slots<'n>(
    node: &'n Node,
    last: bool,
    slots: &mut Vec<(&'n str, SlotKind, Span)>,
    out: &mut Vec<Diagnostic>,
) {
    match node {
        Node::Sequence(parts) => {
            let count = parts.len();
            for (at, part) in parts.iter().enumerate() {
                check_slots(part, last && at + 1 == count, slots, out);
            }
        }
        Node::Alternatives(branches) => {
            let before = slots.len();
            let mut all = Vec::new();
            for branch in branches {
                // The same name may stand in several alternatives: only one of them matches.
                let mut own: Vec<_> = slots.iter().take(before).copied().collect();
                check_slots(branch, last, &mut own, out);
                all.extend(own.into_iter().skip(before));
            }
            for slot in all {
                if !slots.iter().any(|known| known.0 == slot.0) {
                    slots.push(slot);
                }
            }
        }
        Node::Optional(inner) => check_slots(inner, last, slots, out),
        Node::Slot { name, kind, span } => {
            if let Some(first) = slots.iter().find(|known| known.0 == name) {
                let first = first.2;
                out.push(
                    Diagnostic::new(codes::BAD_SLOT, *span, format!("slot `{name}` is bound twice"))
                        .related(first, "first bound here")
                        .help("give one another name"),
                );
            } else {
                slots.push((name, *kind, *span));
            }
            if *kind == SlotKind::Rest && !last {
                out.push(
                    Diagnostic::new(codes::BAD_SLOT, *span, format!("slot `{name}` of kind rest is not last"))
                        .help("put it last: it takes all up to the end of the message"),
                );
            }
        }
        _ => {}
    }
}

/// Reports references to nothing.
fn references(library: &Library, node: &Node, out: &mut Vec<Diagnostic>) {
    match node {
        Node::Sequence(parts) | Node::Alternatives(parts) => {
            parts.iter().for_each(|part| references(library, part, out));
        }
        Node::Optional(inner) => references(library, inner, out),
        Node::Reference { name, language, span } => reference(library, name, language.as_deref(), *span, out),
        _ => {}
    }
}

fn reference(library: &Library, name: &str, language: Option<&str>, span: Span, out: &mut Vec<Diagnostic>) {
    let list = list_reference(name);
    if let Some(wanted) = language {
        let languages = || library.languages.iter().map(|language| language.name.as_str());
        if !languages().any(|known| known == wanted) {
            out.push(
                Diagnostic::new(codes::UNKNOWN_LANGUAGE, span, format!("unknown language `{wanted}`"))
                    .help(suggestion(wanted, languages(), "languages")),
            );
        } else if list.is_none() {
            out.push(
                Diagnostic::new(codes::UNKNOWN_FRAGMENT, span, format!("`{name}` is no word list of a language"))
                    .help(suggestion(name, LISTS, "word lists")),
            );
        }
        return;
    }
    if library.fragments.contains_key(name) || list.is_some() {
        return;
    }
    match library.predicates.iter().find(|predicate| predicate.name == name) {
        Some(predicate) => {
            let usable = predicate.computed.is_none()
                && !predicate.elements.is_empty()
                && predicate.elements.iter().all(|element| {
                    element.unless.is_empty()
                        && matches!(&element.matcher, Matcher::Template(t) if !t.start && !t.end)
                });
            if !usable {
                out.push(
                    Diagnostic::new(
                        codes::UNKNOWN_FRAGMENT,
                        span,
                        format!("predicate `{name}` cannot be part of a pattern"),
                    )
                    .help("only a predicate of unanchored patterns without `unless` can; others stand in lists"),
                );
            }
        }
        None => {
            let known = library.fragments.keys().map(String::as_str);
            let predicates = library.predicates.iter().map(|predicate| predicate.name.as_str());
            out.push(
                Diagnostic::new(codes::UNKNOWN_FRAGMENT, span, format!("unknown fragment `{name}`")).help(format!(
                    "{}; declare one with `pattern {name} = \"…\"`",
                    suggestion(name, known.chain(predicates).chain(LISTS), "fragments")
                )),
            );
        }
    }
}

/// The nodes that a reference stands for.
fn targets<'l>(library: &'l Library, name: &str) -> Vec<&'l Node> {
    if let Some(fragment) = library.fragments.get(name) {
        return vec![&fragment.template.node];
    }
    let predicate = library.predicates.iter().find(|predicate| predicate.name == name);
    predicate.map_or_else(Vec::new, |predicate| {
        predicate
            .elements
            .iter()
            .filter_map(|element| match &element.matcher {
                Matcher::Template(template) => Some(&template.node),
                _ => None,
            })
            .collect()
    })
}

fn reaches(library: &Library, node: &Node, wanted: &str, seen: &mut BTreeSet<String>) -> bool {
    match node {
        Node::Sequence(parts) | Node::Alternatives(parts) => {
            parts.iter().any(|part| reaches(library, part, wanted, seen))
        }
        Node::Optional(inner) => reaches(library, inner, wanted, seen),
        Node::Reference { name, language: None, .. } => {
            name == wanted
                || (seen.insert(name.clone())
                    && targets(library, name).into_iter().any(|node| reaches(library, node, wanted, seen)))
        }
        _ => false,
    }
}

fn predicate_reaches(library: &Library, from: &str, wanted: &str, seen: &mut BTreeSet<String>) -> bool {
    let Some(predicate) = library.predicates.iter().find(|predicate| predicate.name == from) else { return false };
    let named = predicate.elements.iter().flat_map(|element| std::iter::once(element).chain(&element.unless));
    for element in named {
        match &element.matcher {
            Matcher::Predicate(name) => {
                let again = name.text == wanted
                    || (seen.insert(name.text.clone()) && predicate_reaches(library, &name.text, wanted, seen));
                if again {
                    return true;
                }
            }
            Matcher::Template(template) => {
                if reaches(library, &template.node, wanted, &mut BTreeSet::new()) {
                    return true;
                }
            }
            Matcher::Regex(..) => {}
        }
    }
    false
}

/// Whether every match of the node holds a word, symbol, mark or telling slot.
#[must_use]
pub fn requires_something(library: &Library, node: &Node) -> bool {
    requires(library, node, 0)
}

fn requires(library: &Library, node: &Node, depth: usize) -> bool {
    match node {
        Node::Sequence(parts) => parts.iter().any(|part| requires(library, part, depth)),
        Node::Alternatives(parts) => parts.iter().all(|part| requires(library, part, depth)),
        Node::Optional(_) | Node::Gap(_) => false,
        Node::Word(_) | Node::Prefix(_) | Node::Stretch(_) | Node::Number(_) | Node::Symbol(_) | Node::Mark(_) => true,
        Node::Reference { name, .. } => {
            list_reference(name).is_some()
                || depth > 32
                || {
                    let targets = targets(library, name);
                    !targets.is_empty() && targets.into_iter().all(|node| requires(library, node, depth + 1))
                }
        }
        Node::Slot { kind, .. } => {
            matches!(kind, SlotKind::Mixed | SlotKind::Number | SlotKind::Url | SlotKind::Expression)
        }
    }
}

/// Positions of the automaton; an upper bound, since alternatives of single words share one.
fn positions(library: &Library, node: &Node, depth: usize) -> usize {
    match node {
        Node::Sequence(parts) => parts.iter().map(|part| positions(library, part, depth)).sum(),
        Node::Alternatives(parts) => {
            let single = |part: &Node| positions(library, part, depth) == 1 && !matches!(part, Node::Mark(_));
            let shared = usize::from(parts.iter().any(single));
            let long = parts.iter().filter(|part| !single(part));
            shared + long.map(|part| positions(library, part, depth)).sum::<usize>()
        }
        Node::Optional(inner) => positions(library, inner, depth),
        Node::Gap(words) => *words,
        Node::Reference { name, .. } => {
            if list_reference(name).is_some() || depth > 32 {
                2
            } else {
                targets(library, name).into_iter().map(|node| positions(library, node, depth + 1)).sum()
            }
        }
        Node::Slot { kind: SlotKind::Number | SlotKind::Url, .. } => 1,
        Node::Slot { .. } => 2,
        _ => 1,
    }
}
