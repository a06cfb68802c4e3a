//! A template with its words as sets of token ids and its references written out.

use skill_runtime::artifact::layout::{LISTS, SlotKind};

use super::vocabulary::{Vocabulary, sorted};
use crate::check::list_reference;
use crate::library::{Library, Matcher};
use crate::syntax::pattern::{Node, Template};

/// A lowered template.
pub(super) struct Ir {
    pub(super) root: Part,
    pub(super) start: bool,
    pub(super) end: bool,
    /// Slots in the order of their numbers.
    pub(super) slots: Vec<(String, SlotKind)>,
}

/// A part of a lowered template.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Sequence(Vec<Part>),
    Alternatives(Vec<Part>),
    Optional(Box<Part>),
    /// One token of this sorted set.
    Set(Vec<u32>),
    /// A mark.
    Mark(u32),
    /// Up to n tokens, as few as possible.
    Gap(usize),
    /// A phrase of these lists (bits `language * LISTS + list`), with the ids that can begin one.
    List(u64, Vec<u32>),
    /// A slot by its number.
    Slot(usize, SlotKind),
}

pub(super) fn lower(library: &Library, vocabulary: &Vocabulary, template: &Template) -> Ir {
    let mut lowering = Lowering { library, vocabulary, slots: Vec::new() };
    let root = lowering.part(&template.node, 0);
    Ir { root, start: template.start, end: template.end, slots: lowering.slots }
}

struct Lowering<'a> {
    library: &'a Library,
    vocabulary: &'a Vocabulary,
    slots: Vec<(String, SlotKind)>,
}

impl Lowering<'_> {
    fn part(&mut self, node: &Node, depth: usize) -> Part {
        match node {
            Node::Sequence(parts) => {
                let mut out: Vec<Part> = parts.iter().map(|part| self.part(part, depth)).collect();
                if out.len() == 1 {
                    out.pop().unwrap_or(Part::Sequence(Vec::new()))
                } else {
                    Part::Sequence(out)
                }
            }
            Node::Alternatives(branches) => {
                let branches = branches.iter().map(|branch| self.part(branch, depth)).collect();
                merge(branches)
            }
            Node::Optional(inner) => Part::Optional(Box::new(self.part(inner, depth))),
            Node::Word(word) | Node::Number(word) | Node::Symbol(word) => {
                let mut words: Vec<Part> =
                    self.vocabulary.written(word).iter().map(|&id| Part::Set(vec![id])).collect();
                if words.len() == 1 {
                    words.pop().unwrap_or(Part::Sequence(Vec::new()))
                } else {
                    Part::Sequence(words)
                }
            }
            Node::Mark(mark) => Part::Mark(self.vocabulary.id(mark)),
            Node::Prefix(prefix) => Part::Set(self.vocabulary.prefix_set(prefix)),
            Node::Stretch(word) => Part::Set(self.vocabulary.stretch_set(word)),
            Node::Gap(words) => Part::Gap(*words),
            Node::Slot { name, kind, .. } => {
                let number = self.slots.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
                    self.slots.push((name.clone(), *kind));
                    self.slots.len() - 1
                });
                Part::Slot(number, *kind)
            }
            Node::Reference { name, language, .. } => self.reference(name, language.as_deref(), depth),
        }
    }

    fn reference(&mut self, name: &str, language: Option<&str>, depth: usize) -> Part {
        if depth > 32 {
            return Part::Sequence(Vec::new());
        }
        if language.is_none() {
            let library = self.library;
            if let Some(fragment) = library.fragments.get(name) {
                return self.part(&fragment.template.node, depth + 1);
            }
            if list_reference(name).is_none()
                && let Some(predicate) = library.predicates.get(name)
            {
                let branches = predicate.elements.iter().filter_map(|element| match &element.matcher {
                    Matcher::Template(template) => Some(self.part(&template.node, depth + 1)),
                    _ => None,
                });
                let branches = branches.collect();
                return merge(branches);
            }
        }
        let list = list_reference(name).unwrap_or_default();
        let mut bits = 0;
        let mut first = Vec::new();
        for (number, known) in self.library.languages.iter().enumerate() {
            if language.is_none_or(|wanted| wanted == known.name) {
                bits |= 1 << (number * LISTS.len() + list);
                for entry in known.lists.get(list).into_iter().flatten() {
                    let part = self.part(&entry.template.node, depth + 1);
                    first_ids(&part, &mut first);
                }
            }
        }
        Part::List(bits, sorted(first))
    }
}

/// Alternatives; those of one token become one set.
fn merge(branches: Vec<Part>) -> Part {
    let mut set = Vec::new();
    let mut out: Vec<Part> = Vec::new();
    let mut place = None;
    for branch in branches {
        match branch {
            Part::Set(ids) => {
                place.get_or_insert(out.len());
                set.extend(ids);
            }
            Part::Alternatives(inner) => out.extend(inner),
            other => out.push(other),
        }
    }
    if let Some(place) = place {
        out.insert(place.min(out.len()), Part::Set(sorted(set)));
    }
    if out.len() == 1 { out.pop().unwrap_or(Part::Sequence(Vec::new())) } else { Part::Alternatives(out) }
}

/// Ids that can begin a part; returns whether the part can be passed over.
fn first_ids(part: &Part, out: &mut Vec<u32>) -> bool {
    match part {
        Part::Sequence(parts) => {
            for part in parts {
                if !first_ids(part, out) {
                    return false;
                }
            }
            true
        }
        Part::Alternatives(branches) => {
            let mut skippable = false;
            for branch in branches {
                skippable |= first_ids(branch, out);
            }
            skippable
        }
        Part::Optional(inner) => {
            first_ids(inner, out);
            true
        }
        Part::Set(ids) | Part::List(_, ids) => {
            out.extend(ids);
            false
        }
        Part::Gap(_) => true,
        Part::Mark(_) | Part::Slot(..) => false,
    }
}

/// Every sequence of ids that a part stands for; None beyond `limit`. Only word-list entries are written out.
pub(super) fn phrases(part: &Part, limit: usize) -> Option<Vec<Vec<u32>>> {
    let out = match part {
        Part::Sequence(parts) => {
            let mut out: Vec<Vec<u32>> = vec![Vec::new()];
            for part in parts {
                let tails = phrases(part, limit)?;
                if out.len().saturating_mul(tails.len()) > limit {
                    return None;
                }
                out = out
                    .iter()
                    .flat_map(|head| tails.iter().map(move |tail| head.iter().chain(tail).copied().collect()))
                    .collect();
            }
            out
        }
        Part::Alternatives(branches) => {
            let mut out = Vec::new();
            for branch in branches {
                out.extend(phrases(branch, limit)?);
            }
            out
        }
        Part::Optional(inner) => {
            let mut out = phrases(inner, limit)?;
            out.push(Vec::new());
            out
        }
        Part::Set(ids) => ids.iter().map(|&id| vec![id]).collect(),
        Part::Mark(_) | Part::Gap(_) | Part::List(..) | Part::Slot(..) => return None,
    };
    (out.len() <= limit).then_some(out)
}
