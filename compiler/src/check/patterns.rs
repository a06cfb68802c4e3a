//! Patterns of a library: references and their circles, slots, sizes, and that each of them requires something.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

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

/// How deep fragments may contain fragments, and predicates depend on predicates.
const DEEPEST: usize = 8;

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
    for (name, fragment) in &library.fragments {
        references(library, &fragment.template.node, out);
        if reaches(library, &fragment.template.node, name, &mut BTreeSet::new()) {
            out.push(
                Diagnostic::new(
                    codes::FRAGMENT_CYCLE,
                    fragment.span,
                    format!("fragment `{name}` contains itself"),
                )
                .help("break the circle: a fragment may use others, but not come back to itself"),
            );
        }
    }
    if out.iter().any(|diagnostic| diagnostic.code == codes::FRAGMENT_CYCLE.id) {
        return;
    }
    let measures = Measures::new(library);
    for (name, fragment) in &library.fragments {
        too_deep(measures.name(name).depth, "fragment", name, fragment.span, out);
    }
    for predicate in &library.predicates {
        for element in &predicate.elements {
            check_element(&measures, limits, element, out);
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
        } else if let Some(span) = predicate.span {
            too_deep(measures.predicate_depth(&predicate.name), "predicate", &predicate.name, span, out);
        }
    }
    for skill in &library.skills {
        for element in
            skill.triggers.iter().chain(&skill.follows).chain(&skill.excludes).chain(&skill.fallbacks)
        {
            check_element(&measures, limits, element, out);
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
            if !library.predicates.iter().any(|known| known.name == name.text) {
                let known = library.predicates.iter().map(|predicate| predicate.name.as_str());
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
        Matcher::Regex(..) => {}
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
    if out.len() > before {
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
                    .help(
                        "only a predicate of unanchored patterns without `unless` can; others stand in lists",
                    ),
                );
            }
        }
        None => {
            let known = library.fragments.keys().map(String::as_str);
            let predicates = library.predicates.iter().map(|predicate| predicate.name.as_str());
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

fn too_deep(depth: usize, what: &str, name: &str, span: Span, out: &mut Vec<Diagnostic>) {
    if depth > DEEPEST {
        out.push(
            Diagnostic::new(
                codes::NESTING_TOO_DEEP,
                span,
                format!("{what} `{name}` is nested {depth} deep, over {DEEPEST}"),
            )
            .help("write the inner parts out"),
        );
    }
}

fn predicate_reaches(library: &Library, from: &str, wanted: &str, seen: &mut BTreeSet<String>) -> bool {
    let Some(predicate) = library.predicates.iter().find(|predicate| predicate.name == from) else {
        return false;
    };
    let named = predicate.elements.iter().flat_map(|element| std::iter::once(element).chain(&element.unless));
    for element in named {
        match &element.matcher {
            Matcher::Predicate(name) => {
                let again = name.text == wanted
                    || (seen.insert(name.text.clone())
                        && predicate_reaches(library, &name.text, wanted, seen));
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

/// What the parts of patterns come to. Each name is measured once, however often it is used: fragments of fragments
/// would otherwise multiply.
struct Measures<'l> {
    library: &'l Library,
    names: RefCell<HashMap<&'l str, Measure>>,
    predicates: RefCell<HashMap<&'l str, usize>>,
}

#[derive(Clone, Copy, Default)]
struct Measure {
    /// Positions of the automaton; an upper bound, since alternatives of single words share one.
    positions: usize,
    /// Every match holds a word, symbol, mark or telling slot.
    requires: bool,
    /// Levels of names below.
    depth: usize,
    /// Words, slots and gaps when every name is written out.
    parts: usize,
}

impl<'l> Measures<'l> {
    fn new(library: &'l Library) -> Self {
        Self { library, names: RefCell::default(), predicates: RefCell::default() }
    }

    /// Measures what a name stands for. A name that is being measured already, in a circle, counts as nothing.
    fn name(&self, name: &'l str) -> Measure {
        if let Some(&known) = self.names.borrow().get(name) {
            return known;
        }
        self.names.borrow_mut().insert(name, Measure::default());
        let targets = targets(self.library, name);
        let mut measure = Measure { requires: !targets.is_empty(), ..Measure::default() };
        for target in targets {
            let inner = self.node(target);
            measure.positions = measure.positions.saturating_add(inner.positions);
            measure.requires &= inner.requires;
            measure.depth = measure.depth.max(inner.depth + 1);
            measure.parts = measure.parts.saturating_add(inner.parts);
        }
        self.names.borrow_mut().insert(name, measure);
        measure
    }

    fn node(&self, node: &'l Node) -> Measure {
        let leaf = |positions, requires| Measure { positions, requires, depth: 0, parts: 1 };
        match node {
            Node::Sequence(parts) => {
                parts.iter().map(|part| self.node(part)).fold(Measure::default(), |a, b| Measure {
                    positions: a.positions.saturating_add(b.positions),
                    requires: a.requires | b.requires,
                    depth: a.depth.max(b.depth),
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
                    out.depth = out.depth.max(inner.depth);
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

    /// Levels of predicates below a predicate.
    fn predicate_depth(&self, name: &'l str) -> usize {
        if let Some(&known) = self.predicates.borrow().get(name) {
            return known;
        }
        self.predicates.borrow_mut().insert(name, 0);
        let predicate = self.library.predicates.iter().find(|predicate| predicate.name == name);
        let elements = predicate.into_iter().flat_map(|predicate| &predicate.elements);
        let named = elements.flat_map(|element| std::iter::once(element).chain(&element.unless));
        let depth = named
            .filter_map(|element| match &element.matcher {
                Matcher::Predicate(inner) => Some(1 + self.predicate_depth(&inner.text)),
                _ => None,
            })
            .max()
            .unwrap_or_default();
        self.predicates.borrow_mut().insert(name, depth);
        depth
    }
}
