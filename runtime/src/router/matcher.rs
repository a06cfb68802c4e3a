//! Runs a template's position automaton (Glushkov) over the tokens: at most 64 positions, one machine word.
//!
//! A template without slots and lists is decided here. One with them is over-approximated and confirmed by
//! `bind`. Marks never block: a mark that no position asks for leaves the state as it is.

use super::flags;
use super::lexer::Token;
use crate::artifact::layout::{ANCHOR_END, ANCHOR_START, Template, accept};
use crate::artifact::{View, layout_range};

/// The part of the message at hand: tokens `start..end`, and the first and last that are no mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) start: usize,
    pub(super) end: usize,
    /// First token that is no mark; `end` without one.
    pub(super) first: usize,
    /// Behind the last token that is no mark; `start` without one.
    pub(super) last: usize,
    /// Tokens that are no marks.
    pub(super) count: u32,
}

impl Form {
    pub(super) fn new(tokens: &[Token], start: usize, end: usize) -> Self {
        let inner = tokens.get(start..end).unwrap_or_default();
        let first = inner.iter().position(|token| !token.is_mark()).map_or(end, |at| start + at);
        let last = inner.iter().rposition(|token| !token.is_mark()).map_or(start, |at| start + at + 1);
        let count = inner.iter().filter(|token| !token.is_mark()).count() as u32;
        Self { start, end, first, last, count }
    }
}

/// Whether the template can match in the form. `positive` patterns do not match right after a negator.
pub(super) fn may_match(
    view: &View<'_>,
    template: &Template,
    tokens: &[Token],
    form: Form,
    positive: bool,
) -> bool {
    let n = template.positions as usize;
    let code = layout_range(view.code, template.code, 3 + 2 * template.positions);
    let (Some(&first), Some(&last), Some(&marks)) = (code.first(), code.get(1), code.get(2)) else {
        return false;
    };
    let (Some(follow), Some(accepts)) = (code.get(3..3 + n), code.get(3 + n..3 + 2 * n)) else {
        return false;
    };
    let anchored = template.flags & ANCHOR_START != 0;
    let to_end = template.flags & ANCHOR_END != 0;
    let negation = if positive { flags::NEGATED } else { 0 };
    let mut state = 0_u64;
    for (at, token) in tokens.iter().enumerate().take(form.end).skip(form.start) {
        let mut reach = 0;
        let mut active = state;
        while active != 0 {
            let position = active.trailing_zeros() as usize;
            active &= active - 1;
            reach |= follow.get(position).copied().unwrap_or_default();
        }
        if token.is_mark() {
            // Only written marks advance here; everything else waits.
            let mut candidates = (reach | if anchored && at > form.first { 0 } else { first }) & marks;
            while candidates != 0 {
                let position = candidates.trailing_zeros() as usize;
                candidates &= candidates - 1;
                if accepts.get(position).is_some_and(|&word| accepts_token(view, word, token)) {
                    state |= 1 << position;
                    if last >> position & 1 == 1 && (!to_end || at >= form.last) {
                        return true;
                    }
                }
            }
            continue;
        }
        if !token.has(negation) && (!anchored || at == form.first) {
            reach |= first;
        }
        let mut next = 0;
        while reach != 0 {
            let position = reach.trailing_zeros() as usize;
            reach &= reach - 1;
            if accepts.get(position).is_some_and(|&word| accepts_token(view, word, token)) {
                next |= 1 << position;
            }
        }
        state = next;
        if state & last != 0 && (!to_end || at + 1 >= form.last) {
            return true;
        }
        if state == 0 && anchored {
            return false;
        }
    }
    // A written mark at the very end may stand behind the last word.
    false
}

/// Whether a position of a template takes the token.
pub(super) fn accepts_token(view: &View<'_>, word: u64, token: &Token) -> bool {
    let low = word as u32;
    match (word >> 56) as u8 {
        accept::ID => token.id == low && !token.has(flags::QUOTE),
        accept::SET => in_set(layout_range(view.ids, low, (word >> 32) as u32 & 0x00FF_FFFF), token.id),
        accept::ANY => !token.has(flags::MARK | flags::QUOTE),
        accept::CLASS => token.flags & low != 0,
        accept::MARK => token.is_mark() && token.id == low,
        accept::TOKEN => !token.is_mark(),
        _ => false,
    }
}

/// Whether a sorted set holds the id.
pub(super) fn in_set(set: &[u32], id: u32) -> bool {
    if id == 0 {
        false
    } else if set.len() <= 8 {
        set.contains(&id)
    } else {
        set.binary_search(&id).is_ok()
    }
}
