//! Finds phrases of word lists and keywords: one walk of a trie from each token that can begin one.

use super::flags;
use super::lexer::Token;
use crate::artifact::layout::{LISTS, PhraseEdge};
use crate::artifact::{View, layout};

/// A phrase found in the message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    /// `language * LISTS + list`, or the index of a keyword.
    pub(super) target: u32,
    pub(super) keyword: bool,
    /// `layout::role` of the phrase.
    pub(super) role: u32,
    /// First token.
    pub(super) start: u32,
    /// Behind the last token.
    pub(super) end: u32,
}

/// Numbers of lists in `layout::LISTS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum List {
    Openers = 0,
    Closers = 1,
    Continues = 2,
    Asks = 3,
    Requests = 4,
    Anaphors = 5,
    Polite = 8,
    Operators = 10,
}

/// First token at or behind `at` that is no mark, below `end`.
pub(super) fn skip_marks(tokens: &[Token], mut at: usize, end: usize) -> usize {
    while at < end && tokens.get(at).is_some_and(|token| token.is_mark()) {
        at += 1;
    }
    at
}

fn edge(edges: &[PhraseEdge], from: u32, id: u32) -> Option<u32> {
    let mask = edges.len().wrapping_sub(1);
    let mut at = (hash_edge(from, id) as usize) & mask;
    loop {
        let slot = edges.get(at)?;
        if slot.id == 0 {
            return None;
        }
        if slot.from == from && slot.id == id {
            return Some(slot.to);
        }
        at = (at + 1) & mask;
    }
}

/// Hash of an edge of the phrase trie. Part of the artifact format.
#[must_use]
pub fn hash_edge(from: u32, id: u32) -> u32 {
    let key = (u64::from(from) << 32 | u64::from(id)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (key >> 32) as u32
}

/// Finds every phrase of the message.
pub(super) fn find(view: &View<'_>, tokens: &[Token], hits: &mut Vec<Hit>) {
    hits.clear();
    let count = tokens.len();
    for (start, first) in tokens.iter().enumerate() {
        if !first.has(flags::PHRASE_START) || first.id == 0 {
            continue;
        }
        let mut node = 0;
        let mut at = start;
        while let Some(token) = tokens.get(at) {
            let Some(next) = edge(view.phrase_edges, node, token.id) else { break };
            node = next;
            let end = at + 1;
            at = skip_marks(tokens, end, count);
            let Some(reached) = view.phrase_nodes.get(node as usize) else { break };
            for terminal in
                crate::artifact::layout_range(view.terminals, reached.terminals_start, reached.terminals_len)
            {
                if terminal.role & layout::role::BEFORE_ASKS != 0
                    && !tokens.get(at).is_some_and(|token| token.has(flags::ASKS))
                {
                    continue;
                }
                hits.push(Hit {
                    target: terminal.target,
                    keyword: terminal.kind == 1,
                    role: terminal.role,
                    start: start as u32,
                    end: end as u32,
                });
            }
        }
    }
}

/// Whether a hit is a phrase of one of these lists, in any language.
pub(super) fn is_list(hit: &Hit, list: List) -> bool {
    !hit.keyword && hit.target % layout::LISTS.len() as u32 == list as u32
}

/// Longest phrase of a list that starts at `at` and ends by `end`; returns the token behind it.
pub(super) fn longest_at(hits: &[Hit], list: List, at: usize, end: usize) -> Option<usize> {
    hits.iter()
        .filter(|hit| hit.start as usize == at && hit.end as usize <= end && is_list(hit, list))
        .map(|hit| hit.end as usize)
        .max()
}

/// Longest phrase whose `language * LISTS + list` bit is set in `lists`, starting at `at`.
pub(super) fn longest_in(hits: &[Hit], lists: u64, at: usize, end: usize) -> impl Iterator<Item = usize> {
    debug_assert!(LISTS.len() <= 64);
    let mut found: Vec<usize> = hits
        .iter()
        .filter(|hit| {
            !hit.keyword
                && hit.start as usize == at
                && hit.end as usize <= end
                && hit.target < 64
                && lists >> hit.target & 1 == 1
        })
        .map(|hit| hit.end as usize)
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().rev()
}
