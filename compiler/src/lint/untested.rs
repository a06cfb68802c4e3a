//! `W503`: a trigger, an alternative of one, or a predicate that no test and no exemplar exercises may not match what
//! its author thinks.
//!
//! A trigger is exercised by a message that it decides; a predicate by one that it holds for; an alternative by one
//! that the trigger decides and would not match without it. For the last two a second library is compiled, in which
//! each trigger stands once for each alternative, without it.

use std::collections::HashMap;

use skill_runtime::artifact::Pack;
use skill_runtime::router::{Router, Scratch};

use crate::diagnostics::{self as codes, Diagnostic};
use crate::library::{Element, Library, Matcher, Skill};
use crate::lint::Subject;
use crate::lower::lower;
use crate::source::Span;
use crate::syntax::ast::Name;
use crate::syntax::pattern::{Node, Template};

/// Most alternatives that one finding names.
const MOST_NAMED: usize = 8;

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    if !subject.untested {
        return;
    }
    let mut deciding: HashMap<Span, Vec<&str>> = HashMap::new();
    for route in subject.routes {
        if let Some(trigger) = route.trigger {
            deciding.entry(trigger).or_default().push(&route.message);
        }
    }
    let mut variants = Variants::default();
    for skill in &subject.library.skills {
        for trigger in &skill.triggers {
            match deciding.get(&trigger.span) {
                Some(messages) => variants.of_trigger(trigger, messages),
                None => out.push(
                    Diagnostic::new(
                        codes::UNTESTED,
                        trigger.span,
                        format!(
                            "no test and no exemplar of `{}` is decided by this trigger",
                            skill.name.text
                        ),
                    )
                    .help("write a message that it should take into a `test` item"),
                ),
            }
        }
    }
    let everything: Vec<&str> = subject.routes.iter().map(|route| route.message.as_str()).collect();
    for (name, predicate) in &subject.library.predicates {
        if let Some(span) = predicate.span {
            variants.of_predicate(name, span, &everything);
        }
    }
    variants.run(subject.library, out);
}

/// Triggers to try on messages.
#[derive(Default)]
struct Variants<'m> {
    triggers: Vec<Element>,
    trials: Vec<Trial<'m>>,
}

/// What a trigger of [`Variants`] is to show.
struct Trial<'m> {
    span: Span,
    messages: Vec<&'m str>,
    /// The alternative that the trigger lacks; None for a predicate.
    without: Option<String>,
}

impl<'m> Variants<'m> {
    fn of_trigger(&mut self, trigger: &Element, messages: &[&'m str]) {
        let Matcher::Template(template) = &trigger.matcher else { return };
        for (node, without) in shortened(&template.node) {
            let template = Template { node, ..template.clone() };
            let without = Some(without.to_string());
            self.push(Matcher::Template(template), trigger.span, messages, without);
        }
    }

    fn of_predicate(&mut self, name: &str, span: Span, messages: &[&'m str]) {
        self.push(Matcher::Predicate(Name { text: name.to_owned(), span }), span, messages, None);
    }

    fn push(&mut self, matcher: Matcher, span: Span, messages: &[&'m str], without: Option<String>) {
        self.triggers.push(Element { matcher, unless: Vec::new(), label: None, span });
        self.trials.push(Trial { span, messages: messages.to_vec(), without });
    }

    fn run(self, library: &Library, out: &mut Vec<Diagnostic>) {
        let Some(first) = library.skills.first() else { return };
        let tried = Skill { triggers: self.triggers, ..Skill::named(first.name.clone()) };
        let library = Library { skills: vec![tried], tests: Vec::new(), ..library.clone() };
        let pack = match Pack::from_bytes(&lower(&library).routing_only()) {
            Ok(pack) => pack,
            Err(error) => {
                let message = format!("what tests leave out cannot be told: {error}");
                out.push(Diagnostic::global(codes::LIBRARY_TOO_LARGE, message));
                return;
            }
        };
        let router = Router::new(&pack);
        let mut scratch = Scratch::default();
        let mut unneeded: Vec<(Span, Vec<String>)> = Vec::new();
        for (number, trial) in self.trials.into_iter().enumerate() {
            let mut holds = |message: &&str| router.trigger_holds(&mut scratch, message, 0, number as u32);
            match trial.without {
                // One message that the trigger does not match without the alternative is enough.
                Some(without) if trial.messages.iter().all(&mut holds) => match unneeded.last_mut() {
                    Some((span, found)) if *span == trial.span => found.push(without),
                    _ => unneeded.push((trial.span, vec![without])),
                },
                None if !trial.messages.iter().any(&mut holds) => out.push(
                    Diagnostic::new(
                        codes::UNTESTED,
                        trial.span,
                        "this predicate holds for no message of a test or an exemplar",
                    )
                    .help("write a message that it should hold for into a `test` item"),
                ),
                _ => {}
            }
        }
        out.extend(unneeded.into_iter().map(|(span, found)| finding(span, &found)));
    }
}

fn finding(span: Span, found: &[String]) -> Diagnostic {
    let named: Vec<String> =
        found.iter().take(MOST_NAMED).map(|alternative| format!("`{alternative}`")).collect();
    let more = match found.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!("no test and no exemplar needs {}{more} in this trigger", named.join(", "));
    Diagnostic::new(codes::UNTESTED, span, message).help("write a message with each into a `test` item, or delete those that another part of the pattern covers")
}

/// The pattern without each of its alternatives in turn, and the alternative.
fn shortened(node: &Node) -> Vec<(Node, &Node)> {
    match node {
        Node::Sequence(parts) => in_place(parts, Node::Sequence),
        Node::Alternatives(branches) => {
            let mut out = in_place(branches, Node::Alternatives);
            for (at, branch) in branches.iter().enumerate() {
                let mut rest = branches.clone();
                rest.remove(at);
                out.push((Node::Alternatives(rest), branch));
            }
            out
        }
        Node::Optional(inner) => shortened(inner)
            .into_iter()
            .map(|(node, without)| (Node::Optional(Box::new(node)), without))
            .collect(),
        _ => Vec::new(),
    }
}

/// The parts with one of them shortened.
fn in_place(parts: &[Node], whole: fn(Vec<Node>) -> Node) -> Vec<(Node, &Node)> {
    let mut out = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        for (short, without) in shortened(part) {
            let with =
                |(number, part): (usize, &Node)| if number == at { short.clone() } else { part.clone() };
            out.push((whole(parts.iter().enumerate().map(with).collect()), without));
        }
    }
    out
}
