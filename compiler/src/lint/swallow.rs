//! `W511`: a `rest` slot behind next to nothing takes nearly every message.

use crate::diagnostics::{self as codes, Diagnostic};
use crate::library::Matcher;
use crate::lint::Subject;
use crate::syntax::pattern::Node;
use skill_runtime::artifact::layout::SlotKind;

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    for skill in &subject.library.skills {
        for trigger in &skill.triggers {
            let Matcher::Template(template) = &trigger.matcher else { continue };
            let mut needed = 0;
            let Some(name) = rest(&template.node, &mut needed) else { continue };
            if !template.start && needed < 2 {
                out.push(
                    Diagnostic::new(
                        codes::SWALLOWING_SLOT,
                        trigger.span,
                        format!("slot `{name}` takes the rest of any message that holds one word"),
                    )
                    .help("anchor the pattern with `^`, or ask for a second word"),
                );
            }
        }
    }
}

/// The `rest` slot of a pattern; counts the words that stand before it for certain.
fn rest<'n>(node: &'n Node, needed: &mut usize) -> Option<&'n str> {
    match node {
        Node::Sequence(parts) => parts.iter().find_map(|part| rest(part, needed)),
        Node::Slot { name, kind: SlotKind::Rest, .. } => Some(name),
        Node::Word(_)
        | Node::Prefix(_)
        | Node::Stretch(_)
        | Node::Number(_)
        | Node::Symbol(_)
        | Node::Mark(_) => {
            *needed += 1;
            None
        }
        Node::Alternatives(branches) => {
            let least = branches
                .iter()
                .map(|branch| {
                    let mut own = 0;
                    rest(branch, &mut own);
                    own
                })
                .min();
            *needed += least.unwrap_or_default();
            branches.iter().find_map(|branch| rest(branch, &mut 0))
        }
        Node::Reference { .. } => {
            *needed += 1;
            None
        }
        Node::Optional(inner) => rest(inner, &mut 0),
        Node::Slot { .. } | Node::Gap(_) => None,
    }
}
