//! `W506`: a fragment, predicate or tool that nothing uses is a rest of something, or a reference misspelled elsewhere.

use std::collections::HashSet;

use crate::diagnostics::{self as codes, Diagnostic};
use crate::library::{Element, Library, Matcher};
use crate::lint::Subject;
use crate::source::Span;
use crate::syntax::pattern::Node;

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    let library = subject.library;
    let mut used = HashSet::new();
    for skill in &library.skills {
        let lists = [&skill.triggers, &skill.follows, &skill.excludes, &skill.fallbacks];
        lists.into_iter().flatten().for_each(|element| of_element(element, &mut used));
    }
    library.predicates.values().flat_map(|p| &p.elements).for_each(|element| of_element(element, &mut used));
    library.fragments.values().for_each(|fragment| of_node(&fragment.template.node, &mut used));
    let mut report = |what: &str, name: &str, span: Span| {
        out.push(
            Diagnostic::new(codes::UNUSED, span, format!("nothing uses {what} `{name}`"))
                .help("delete it, or use it"),
        );
    };
    for (name, fragment) in library.fragments.iter().filter(|(name, _)| !used.contains(name.as_str())) {
        report("fragment", name, fragment.span);
    }
    for (name, predicate) in library.predicates.iter().filter(|(name, _)| !used.contains(name.as_str())) {
        // Predicates of a language item belong to the language and may serve another library.
        if let Some(span) = predicate.span.filter(|&span| !in_language(library, span)) {
            report("predicate", name, span);
        }
    }
    // A skill without a list may use every tool.
    if library.skills.iter().all(|skill| skill.tools.is_some()) {
        let listed: HashSet<&str> = library
            .skills
            .iter()
            .flat_map(|skill| skill.tools.iter().flatten())
            .map(|tool| tool.text.as_str())
            .collect();
        for tool in library.tools.iter().filter(|tool| !listed.contains(tool.declaration.name.as_str())) {
            report("tool", &tool.declaration.name, tool.span);
        }
    }
}

/// The place lies in a file that declares a language, before the next item: where language files keep predicates.
fn in_language(library: &Library, span: Span) -> bool {
    library.languages.iter().filter_map(|language| language.span).any(|language| language.file == span.file)
}

fn of_element<'l>(element: &'l Element, used: &mut HashSet<&'l str>) {
    match &element.matcher {
        Matcher::Template(template) => of_node(&template.node, used),
        Matcher::Predicate(name) => {
            used.insert(&name.text);
        }
        Matcher::Regex(..) => {}
    }
    element.unless.iter().for_each(|veto| of_element(veto, used));
}

fn of_node<'l>(node: &'l Node, used: &mut HashSet<&'l str>) {
    match node {
        Node::Sequence(parts) | Node::Alternatives(parts) => {
            parts.iter().for_each(|part| of_node(part, used))
        }
        Node::Optional(inner) => of_node(inner, used),
        Node::Reference { name, .. } => {
            used.insert(name);
        }
        _ => {}
    }
}
