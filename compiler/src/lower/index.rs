//! Files each template under the rarest word that it needs, with a filter that skips most of the others.

use std::collections::HashMap;

use skill_runtime::artifact::PackBuilder;
use skill_runtime::artifact::layout::{
    ELEMENT_TEMPLATE, ID_MIXED, ID_NUMBER, ID_URL, IndexEntry, Posting, SlotKind,
};
use skill_runtime::router::signature_bit;

use super::ir::Part;

/// Sets of ids of which a match needs one each; the shortest way to say what a template needs.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    sets: Vec<Vec<u32>>,
    /// Ids of which the first token is one, if the template says so.
    first: Option<Vec<u32>>,
}

impl Needs {
    /// `anchored`: the template begins at the start of the message.
    pub(super) fn of(part: &Part, anchored: bool) -> Self {
        let mut sets = Vec::new();
        collect(part, &mut sets);
        let mut first = Vec::new();
        let told = anchored && first_ids(part, &mut first) == Some(false);
        Self { sets, first: told.then_some(first) }
    }
}

/// Collects the ids that can stand first; returns whether the part can also be left out, None if anything can stand
/// first.
fn first_ids(part: &Part, out: &mut Vec<u32>) -> Option<bool> {
    match part {
        Part::Sequence(parts) => {
            for part in parts {
                if !first_ids(part, out)? {
                    return Some(false);
                }
            }
            Some(true)
        }
        Part::Alternatives(branches) => {
            branches.iter().try_fold(false, |empty, branch| Some(first_ids(branch, out)? || empty))
        }
        Part::Optional(inner) => first_ids(inner, out).map(|_| true),
        Part::Set(ids) | Part::List(_, ids) => {
            out.extend(ids);
            Some(false)
        }
        Part::Mark(_) | Part::Gap(_) | Part::Slot(..) => None,
    }
}

fn collect(part: &Part, out: &mut Vec<Vec<u32>>) {
    match part {
        Part::Sequence(parts) => parts.iter().for_each(|part| collect(part, out)),
        Part::Alternatives(branches) => {
            // One set of each branch together: any match goes through one branch.
            let mut union = Vec::new();
            for branch in branches {
                let mut own = Vec::new();
                collect(branch, &mut own);
                let Some(best) = own.into_iter().min_by_key(Vec::len) else { return };
                union.extend(best);
            }
            out.push(super::vocabulary::sorted(union));
        }
        Part::Set(ids) | Part::List(_, ids) => out.push(ids.clone()),
        Part::Mark(id) => out.push(vec![*id]),
        Part::Slot(_, kind) => match kind {
            SlotKind::Number | SlotKind::Expression => out.push(vec![ID_NUMBER]),
            SlotKind::Url => out.push(vec![ID_URL]),
            SlotKind::Mixed => out.push(vec![ID_MIXED]),
            _ => {}
        },
        Part::Optional(_) | Part::Gap(_) => {}
    }
}

/// Writes both indexes. Triggers are the first `triggers` elements.
pub(super) fn write(builder: &mut PackBuilder, needs: &[Needs], triggers: u32) {
    let mut frequency: HashMap<u32, u32> = HashMap::new();
    for set in needs.iter().flat_map(|needs| &needs.sets) {
        for &id in set {
            *frequency.entry(id).or_default() += 1;
        }
    }
    let (index, postings, always) = build(builder, needs, &frequency, 0..triggers);
    builder.trigger_index = index;
    builder.trigger_postings = postings;
    (builder.scalars.always_start, builder.scalars.always_len) = builder.id_range(&always);
    let members: Vec<u32> = builder
        .predicates
        .iter()
        .flat_map(|predicate| predicate.elements_start..predicate.elements_start + predicate.elements_len)
        .collect();
    let (index, postings, always) = build(builder, needs, &frequency, members);
    builder.predicate_index = index;
    builder.predicate_postings = postings;
    (builder.scalars.predicate_always_start, builder.scalars.predicate_always_len) =
        builder.id_range(&always);
}

fn build(
    builder: &PackBuilder,
    needs: &[Needs],
    frequency: &HashMap<u32, u32>,
    elements: impl IntoIterator<Item = u32>,
) -> (Vec<IndexEntry>, Vec<Posting>, Vec<u32>) {
    let mut lists: Vec<Vec<Posting>> = vec![Vec::new(); builder.words.len()];
    let mut always = Vec::new();
    for number in elements {
        let Some(element) = builder.elements.get(number as usize) else { continue };
        let sets = needs.get(element.target as usize).filter(|_| element.kind == ELEMENT_TEMPLATE);
        let cost =
            |set: &Vec<u32>| set.iter().map(|id| frequency.get(id).copied().unwrap_or_default()).sum::<u32>();
        let best = sets.and_then(|needs| needs.sets.iter().enumerate().min_by_key(|(_, set)| cost(set)));
        let (Some(needs), Some((key, ids))) = (sets, best) else {
            always.push(number);
            continue;
        };
        let others = || needs.sets.iter().enumerate().filter(|(at, _)| *at != key).map(|(_, set)| set);
        let single = others().filter(|set| set.len() == 1).flatten();
        let any = others().filter(|set| set.len() > 1).min_by_key(|set| set.len());
        let posting = Posting {
            needs: single.fold(0, |bits, &id| bits | signature_bit(id)),
            first: needs.first.iter().flatten().fold(0, |bits, &id| bits | signature_bit(id)),
            any: any.map_or(0, |set| set.iter().fold(0, |bits, &id| bits | signature_bit(id))),
            element: number,
            min_tokens: builder
                .templates
                .get(element.target as usize)
                .map_or(0, |template| template.min_tokens),
        };
        for &id in ids {
            if let Some(list) = lists.get_mut(id as usize) {
                list.push(posting);
            }
        }
    }
    let mut index = Vec::with_capacity(lists.len());
    let mut postings = Vec::new();
    for mut list in lists {
        list.sort_by_key(|posting| posting.element);
        index.push(IndexEntry { start: postings.len() as u32, len: list.len() as u32 });
        postings.append(&mut list);
    }
    (index, postings, always)
}
