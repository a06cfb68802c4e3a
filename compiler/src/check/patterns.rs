//! Patterns of a library: references and their circles, slots, sizes, and that each of them requires something.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use skill_runtime::artifact::layout::{LISTS, SlotKind};

use super::names;
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
    for key in &library.language_keys {
        let languages = || library.languages.iter().map(|language| language.name.as_str());
        if !languages().any(|known| known == key.text) {
            out.push(
                Diagnostic::new(
                    codes::UNKNOWN_LANGUAGE,
                    key.span,
                    format!("unknown language `{}`", key.text),
                )
                .help(suggestion(&key.text, languages(), "languages")),
            );
        }
    }
    for fragment in library.fragments.values() {
        references(library, &fragment.template.node, out);
    }
    let broken = names::check(library, out);
    let measures = Measures { library, broken, names: RefCell::default() };
    for element in library.predicates.values().flat_map(|predicate| &predicate.elements) {
        check_element(&measures, limits, element, out);
    }
    for skill in &library.skills {
        for element in skill.triggers.iter().chain(&skill.excludes).chain(&skill.fallbacks) {
            check_element(&measures, limits, element, out);
        }
        // They only bind slots on a turn that is carried already, so one may be a slot alone.
        for element in &skill.follows {
            let before = out.len();
            check_element(&measures, limits, element, out);
            let found = out.split_off(before);
            let own = match &element.matcher {
                Matcher::Template(template) => Some(template.span),
                _ => None,
            };
            let alone = |diagnostic: &Diagnostic| {
                diagnostic.code == codes::REQUIRES_NOTHING.id && diagnostic.span == own
            };
            out.extend(found.into_iter().filter(|diagnostic| !alone(diagnostic)));
        }
    }
}

fn check_element<'l>(
    measures: &Measures<'l>,
    limits: &Limits,
    element: &'l Element,
    out: &mut Vec<Diagnostic>,
) {
    let library = measures.library;
    match &element.matcher {
        Matcher::Template(template) => check_template(measures, limits, template, out),
        Matcher::Predicate(name) => {
            if !library.predicates.contains_key(&name.text) {
                let known = library.predicates.keys().map(String::as_str);
                out.push(
                    Diagnostic::new(
                        codes::UNKNOWN_PREDICATE,
                        name.span,
                        format!("unknown predicate `{}`", name.text),
                    )
                    .help(format!(
                        "{}; a pattern is written in quotes",
                        suggestion(&name.text, known, "predicates")
                    )),
                );
            }
        }
        Matcher::Regex(_, names) => {
            if names.iter().any(|name| name == "message") {
                out.push(
                    Diagnostic::new(codes::BAD_SLOT, element.span, "no slot can be named `message`")
                        .help("`message` is always bound to the whole message; take another name"),
                );
            }
            if names.len() > limits.slots {
                let (found, limit) = (names.len(), limits.slots);
                out.push(
                    Diagnostic::new(
                        codes::TEMPLATE_TOO_LARGE,
                        element.span,
                        format!("this regular expression has {found} named groups, over {limit}"),
                    )
                    .help("name only what is used (setting: slots)"),
                );
            }
        }
    }
    for veto in &element.unless {
        check_element(measures, limits, veto, out);
    }
}

fn check_template<'l>(
    measures: &Measures<'l>,
    limits: &Limits,
    template: &'l Template,
    out: &mut Vec<Diagnostic>,
) {
    let library = measures.library;
    let before = out.len();
    references(library, &template.node, out);
    if out.len() > before || measures.uses_broken(&template.node) {
        return;
    }
    let Measure { positions, requires, parts, .. } = measures.node(&template.node);
    if parts > limits.template_parts {
        let limit = limits.template_parts;
        out.push(
            Diagnostic::new(
                codes::TEMPLATE_TOO_LARGE,
                template.span,
                format!("this pattern has {parts} parts when its fragments are written out, over {limit}"),
            )
            .help("split it into several patterns (setting: template_parts)"),
        );
        return;
    }
    let mut slots: Vec<(&str, SlotKind, Span)> = Vec::new();
    check_slots(library, &template.node, true, &mut slots, out);
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
    if !requires {
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
    library: &'n Library,
    node: &'n Node,
    last: bool,
    slots: &mut Vec<(&'n str, SlotKind, Span)>,
    out: &mut Vec<Diagnostic>,
) {
    match node {
        Node::Sequence(parts) => {
            let count = parts.len();
            for (at, part) in parts.iter().enumerate() {
                check_slots(library, part, last && at + 1 == count, slots, out);
            }
        }
        Node::Alternatives(branches) => {
            let before = slots.len();
            let mut all = Vec::new();
            for branch in branches {
                // The same name may stand in several alternatives: only one of them matches.
                let mut own: Vec<_> = slots.iter().take(before).copied().collect();
                check_slots(library, branch, last, &mut own, out);
                all.extend(own.into_iter().skip(before));
            }
            for slot in all {
                if !slots.iter().any(|known| known.0 == slot.0) {
                    slots.push(slot);
                }
            }
        }
        Node::Optional(inner) => check_slots(library, inner, last, slots, out),
        Node::Reference { name, language: None, .. } => {
            if let Some(fragment) = library.fragments.get(name) {
                check_slots(library, &fragment.template.node, last, slots, out);
            }
        }
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
            if name == "message" {
                out.push(
                    Diagnostic::new(codes::BAD_SLOT, *span, "no slot can be named `message`")
                        .help("`message` is always bound to the whole message; take another name"),
                );
            }
            if *kind == SlotKind::Rest && !last {
                out.push(
                    Diagnostic::new(
                        codes::BAD_SLOT,
                        *span,
                        format!("slot `{name}` of kind rest is not last"),
                    )
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
                Diagnostic::new(
                    codes::UNKNOWN_FRAGMENT,
                    span,
                    format!("`{name}` is no word list of a language"),
                )
                .help(suggestion(name, LISTS, "word lists")),
            );
        }
        return;
    }
    if library.fragments.contains_key(name) || library.broken_fragments.contains(name) || list.is_some() {
        return;
    }
    match library.predicates.get(name) {
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
                    .help(
                        "only a predicate of unanchored patterns without `unless` can; others stand in lists",
                    ),
                );
            }
        }
        None => {
            let known = library.fragments.keys().map(String::as_str);
            let predicates = library.predicates.keys().map(String::as_str);
            out.push(
                Diagnostic::new(codes::UNKNOWN_FRAGMENT, span, format!("unknown fragment `{name}`")).help(
                    format!(
                        "{}; declare one with `pattern {name} = \"…\"`",
                        suggestion(name, known.chain(predicates).chain(LISTS), "fragments")
                    ),
                ),
            );
        }
    }
}

/// The nodes that a reference stands for.
fn targets<'l>(library: &'l Library, name: &str) -> Vec<&'l Node> {
    if let Some(fragment) = library.fragments.get(name) {
        return vec![&fragment.template.node];
    }
    library.predicates.get(name).map_or_else(Vec::new, |predicate| {
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

/// What the parts of patterns come to. Each name is measured once, however often it is used: fragments of fragments
/// would otherwise multiply.
struct Measures<'l> {
    library: &'l Library,
    /// Names in a circle or nested too deep: what uses them is not measured.
    broken: HashSet<&'l str>,
    names: RefCell<HashMap<&'l str, Measure>>,
}

#[derive(Clone, Copy, Default)]
struct Measure {
    /// Positions of the automaton; an upper bound, since alternatives of single words share one.
    positions: usize,
    /// Every match holds a word, symbol, mark or telling slot.
    requires: bool,
    /// Words, slots and gaps when every name is written out.
    parts: usize,
}

impl<'l> Measures<'l> {
    fn uses_broken(&self, node: &Node) -> bool {
        let mut used = Vec::new();
        names::references(node, &mut used);
        used.iter().any(|name| self.broken.contains(name) || self.library.broken_fragments.contains(*name))
    }

    /// Measures what a name stands for; there are no circles.
    fn name(&self, name: &'l str) -> Measure {
        if let Some(&known) = self.names.borrow().get(name) {
            return known;
        }
        let targets = targets(self.library, name);
        let mut measure = Measure { requires: !targets.is_empty(), ..Measure::default() };
        for target in targets {
            let inner = self.node(target);
            measure.positions = measure.positions.saturating_add(inner.positions);
            measure.requires &= inner.requires;
            measure.parts = measure.parts.saturating_add(inner.parts);
        }
        self.names.borrow_mut().insert(name, measure);
        measure
    }

    fn node(&self, node: &'l Node) -> Measure {
        let leaf = |positions, requires| Measure { positions, requires, parts: 1 };
        match node {
            Node::Sequence(parts) => {
                parts.iter().map(|part| self.node(part)).fold(Measure::default(), |a, b| Measure {
                    positions: a.positions.saturating_add(b.positions),
                    requires: a.requires | b.requires,
                    parts: a.parts.saturating_add(b.parts),
                })
            }
            Node::Alternatives(parts) => {
                let mut shared = 0;
                let mut out = Measure { requires: true, ..Measure::default() };
                for part in parts {
                    let inner = self.node(part);
                    if inner.positions == 1 && !matches!(part, Node::Mark(_)) {
                        shared = 1;
                    } else {
                        out.positions = out.positions.saturating_add(inner.positions);
                    }
                    out.requires &= inner.requires;
                    out.parts = out.parts.saturating_add(inner.parts);
                }
                out.positions = out.positions.saturating_add(shared);
                out
            }
            Node::Optional(inner) => Measure { requires: false, ..self.node(inner) },
            Node::Gap(words) => leaf(*words, false),
            Node::Reference { name, language, .. } => {
                if language.is_some() || list_reference(name).is_some() {
                    leaf(2, true)
                } else {
                    self.name(name)
                }
            }
            Node::Slot { kind, .. } => {
                let telling =
                    matches!(kind, SlotKind::Mixed | SlotKind::Number | SlotKind::Url | SlotKind::Expression);
                leaf(if matches!(kind, SlotKind::Number | SlotKind::Url) { 1 } else { 2 }, telling)
            }
            Node::Word(_)
            | Node::Prefix(_)
            | Node::Stretch(_)
            | Node::Number(_)
            | Node::Symbol(_)
            | Node::Mark(_) => leaf(1, true),
        }
    }
}
