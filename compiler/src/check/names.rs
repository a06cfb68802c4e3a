//! How fragments and predicates refer to one another: circles, and how deep they go.
//!
//! Found over a graph of names without recursion, so that no chain is too long for it. What other checks and
//! the lowering walk by recursion is only walked once this has passed.

use std::collections::{HashMap, HashSet};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::diagnostics::{self as codes, Diagnostic};
use crate::library::{Library, Matcher};
use crate::source::Span;
use crate::syntax::pattern::Node;

/// How deep fragments may contain fragments, and predicates depend on predicates.
const DEEPEST: usize = 8;
/// Most members of a circle that its message names.
const MOST_NAMED: usize = 5;

/// A name that others can refer to.
struct Named<'l> {
    name: &'l str,
    span: Option<Span>,
    predicate: bool,
}

/// Reports circles and chains that are too deep. Returns the names that cannot be written out because of one.
pub(super) fn check<'l>(library: &'l Library, out: &mut Vec<Diagnostic>) -> HashSet<&'l str> {
    let mut broken = HashSet::new();
    let graph = graph(library);
    let mut depths = vec![0; graph.node_count()];
    // Whatever a group refers to comes before it.
    for group in kosaraju_scc(&graph) {
        let names = group.iter().filter_map(|&node| graph.node_weight(node)).map(|named| named.name);
        let mut below = group.iter().flat_map(|&node| graph.neighbors(node));
        if below.any(|node| graph.node_weight(node).is_some_and(|named| broken.contains(named.name))) {
            broken.extend(names.clone());
        }
        let circular = group.len() > 1 || group.iter().any(|&node| graph.contains_edge(node, node));
        if circular {
            broken.extend(names);
            report_circle(&graph, group, out);
            continue;
        }
        for node in group {
            let Some(named) = graph.node_weight(node) else { continue };
            // A predicate that uses fragments is not nested by that; they are written out in it.
            let below = graph
                .neighbors(node)
                .filter(|&other| {
                    graph.node_weight(other).is_some_and(|other| other.predicate == named.predicate)
                })
                .filter_map(|other| depths.get(other.index()))
                .max()
                .copied();
            let depth = match (below, named.predicate) {
                (Some(below), _) => below + 1,
                (None, true) => 0,
                (None, false) => 1,
            };
            if let Some(place) = depths.get_mut(node.index()) {
                *place = depth;
            }
            // What lies above it is too deep for the same reason.
            if depth == DEEPEST + 1
                && let Some(span) = named.span
            {
                let (what, name) = (kind(named), named.name);
                broken.insert(name);
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
    }
    broken
}

fn kind(named: &Named<'_>) -> &'static str {
    if named.predicate { "predicate" } else { "fragment" }
}

fn report_circle(graph: &DiGraph<Named<'_>, ()>, mut group: Vec<NodeIndex>, out: &mut Vec<Diagnostic>) {
    group.sort();
    let members: Vec<&Named<'_>> = group.iter().filter_map(|&node| graph.node_weight(node)).collect();
    let Some(first) = members.first() else { return };
    let span = first.span.unwrap_or(Span { file: 0, start: 0, end: 0 });
    let (what, name) = (kind(first), first.name);
    let diagnostic = if members.len() == 1 {
        Diagnostic::new(codes::FRAGMENT_CYCLE, span, format!("{what} `{name}` contains itself"))
    } else {
        let others: Vec<String> =
            members.iter().skip(1).take(MOST_NAMED).map(|named| format!("`{}`", named.name)).collect();
        let more = members.len().saturating_sub(1 + MOST_NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        Diagnostic::new(
            codes::FRAGMENT_CYCLE,
            span,
            format!("{what} `{name}` contains itself through {}{more}", others.join(", ")),
        )
    };
    let diagnostic = members
        .iter()
        .skip(1)
        .take(MOST_NAMED)
        .filter_map(|named| named.span)
        .fold(diagnostic, |diagnostic, span| diagnostic.related(span, "part of the circle"));
    out.push(
        diagnostic
            .help("break the circle: a fragment or predicate may use others, but not come back to itself"),
    );
}

fn graph(library: &Library) -> DiGraph<Named<'_>, ()> {
    let mut graph = DiGraph::new();
    let mut fragments = HashMap::new();
    for (name, fragment) in &library.fragments {
        let node = graph.add_node(Named { name, span: Some(fragment.span), predicate: false });
        fragments.insert(name.as_str(), node);
    }
    let mut predicates = HashMap::new();
    for (name, predicate) in &library.predicates {
        let node = graph.add_node(Named { name, span: predicate.span, predicate: true });
        predicates.insert(name.as_str(), node);
    }
    let referred = |node: &Node| {
        let mut names = Vec::new();
        references(node, &mut names);
        let found = names.into_iter().filter_map(|name| fragments.get(name).or_else(|| predicates.get(name)));
        found.copied().collect::<Vec<_>>()
    };
    for (name, fragment) in &library.fragments {
        if let Some(&from) = fragments.get(name.as_str()) {
            for to in referred(&fragment.template.node) {
                graph.update_edge(from, to, ());
            }
        }
    }
    for (name, predicate) in &library.predicates {
        let Some(&from) = predicates.get(name.as_str()) else { continue };
        let elements =
            predicate.elements.iter().flat_map(|element| std::iter::once(element).chain(&element.unless));
        for element in elements {
            let targets = match &element.matcher {
                Matcher::Predicate(name) => predicates.get(name.text.as_str()).copied().into_iter().collect(),
                Matcher::Template(template) => referred(&template.node),
                Matcher::Regex(..) => Vec::new(),
            };
            for to in targets {
                graph.update_edge(from, to, ());
            }
        }
    }
    graph
}

/// Names that a pattern refers to; those with a language are word lists.
pub(super) fn references<'n>(node: &'n Node, out: &mut Vec<&'n str>) {
    match node {
        Node::Sequence(parts) | Node::Alternatives(parts) => {
            parts.iter().for_each(|part| references(part, out));
        }
        Node::Optional(inner) => references(inner, out),
        Node::Reference { name, language: None, .. } => out.push(name),
        _ => {}
    }
}
