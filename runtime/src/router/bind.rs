//! Binds a template to the message: where it matches and what its slots hold.
//!
//! A backtracking walk over the template's instructions that visits each (instruction, token) pair at most once,
//! so it is linear in the message. Preference: earliest start; then alternatives as written, optional parts
//! taken, gaps shortest, slots shortest except `rest` and `place`.

use super::expression::Run;
use super::flags;
use super::lexer::Token;
use super::matcher::{Form, in_set};
use super::phrases::{Hit, longest_in, skip_marks};
use crate::artifact::layout::{ANCHOR_END, ANCHOR_START, SlotKind, Template, op};
use crate::artifact::{View, layout_range};

/// Most slots of one template; the compiler refuses more.
pub const MAX_SLOTS: usize = 16;

/// A bound match: token ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Token range of each slot; empty ranges are unbound.
    pub(super) slots: [(u32, u32); MAX_SLOTS],
}

/// What a match depends on besides the template.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) hits: &'a [Hit],
    pub(super) runs: &'a [Run],
}

enum Job {
    Try { at: usize, token: usize, end: usize },
    Restore { slot: usize, range: (u32, u32) },
}

/// Buffers that are used again.
#[derive(Default)]
pub(super) struct Binder {
    visited: Vec<u64>,
    jobs: Vec<Job>,
}

impl std::fmt::Debug for Binder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Binder").finish_non_exhaustive()
    }
}

impl Binder {
    /// Binds the template in the form, or says that it does not match.
    pub(super) fn bind(
        &mut self,
        view: &View<'_>,
        template: &Template,
        text: Text<'_>,
        form: Form,
        positive: bool,
    ) -> Option<Match> {
        let program = layout_range(view.program, template.program_start, template.program_len);
        let width = form.end - form.start + 1;
        self.visited.clear();
        self.visited.resize((program.len() * width).div_ceil(64), 0);
        let anchored = template.flags & ANCHOR_START != 0;
        for start in form.start..form.end {
            let token = text.tokens.get(start)?;
            let blocked = token.is_mark() && program.first() != Some(&op::MARK) && !leads_to_mark(program);
            if blocked || (positive && token.has(flags::NEGATED)) || (anchored && start > form.first) {
                continue;
            }
            if let Some(found) = self.run(view, template, program, text, form, start) {
                return Some(found);
            }
        }
        None
    }

    fn run(
        &mut self,
        view: &View<'_>,
        template: &Template,
        program: &[u32],
        text: Text<'_>,
        form: Form,
        start: usize,
    ) -> Option<Match> {
        let tokens = text.tokens;
        let width = form.end - form.start + 1;
        let to_end = template.flags & ANCHOR_END != 0;
        let mut slots = [(0_u32, 0_u32); MAX_SLOTS];
        self.jobs.clear();
        self.jobs.push(Job::Try { at: 0, token: start, end: start });
        while let Some(job) = self.jobs.pop() {
            let (mut at, mut token, mut end) = match job {
                Job::Try { at, token, end } => (at, token, end),
                Job::Restore { slot, range } => {
                    if let Some(place) = slots.get_mut(slot) {
                        *place = range;
                    }
                    continue;
                }
            };
            loop {
                let key = at * width + (token - form.start);
                let Some(word) = self.visited.get_mut(key / 64) else { break };
                if *word >> (key % 64) & 1 == 1 {
                    break;
                }
                *word |= 1 << (key % 64);
                let operand = |offset: usize| program.get(at + offset).copied().unwrap_or_default();
                let next = skip_marks(tokens, token, form.end);
                match program.get(at).copied() {
                    Some(op::MATCH) => {
                        if to_end && next < form.end {
                            break;
                        }
                        let first = skip_marks(tokens, start, form.end).min(end);
                        let first = if program.first() == Some(&op::MARK) { start } else { first };
                        let bound =
                            slots.iter().filter(|(from, to)| to > from).map(|(from, _)| *from as usize);
                        let first = bound.fold(first, usize::min);
                        return Some(Match { start: first, end, slots });
                    }
                    Some(op::ID) => {
                        if !tokens.get(next).is_some_and(|t| next < form.end && t.id == operand(1)) {
                            break;
                        }
                        (at, token, end) = (at + 2, next + 1, next + 1);
                    }
                    Some(op::SET) => {
                        let set = layout_range(view.ids, operand(1), operand(2));
                        if !tokens.get(next).is_some_and(|t| next < form.end && in_set(set, t.id)) {
                            break;
                        }
                        (at, token, end) = (at + 3, next + 1, next + 1);
                    }
                    Some(op::ANY) => {
                        if !tokens.get(next).is_some_and(|t| next < form.end && !t.has(flags::QUOTE)) {
                            break;
                        }
                        (at, token, end) = (at + 1, next + 1, next + 1);
                    }
                    Some(op::MARK) => {
                        let marks = tokens.get(token..next).unwrap_or_default();
                        let Some(found) = marks.iter().position(|t| t.id == operand(1)) else { break };
                        (at, token, end) = (at + 2, token + found + 1, token + found + 1);
                    }
                    Some(op::SPLIT) => {
                        self.jobs.push(Job::Try { at: operand(1) as usize, token, end });
                        at += 2;
                    }
                    Some(op::JUMP) => at = operand(1) as usize,
                    Some(op::LIST) => {
                        let lists = u64::from(operand(1)) | u64::from(operand(2)) << 32;
                        let ends: Vec<usize> = longest_in(text.hits, lists, next, form.end).collect();
                        for &stop in ends.iter().rev() {
                            self.jobs.push(Job::Try { at: at + 3, token: stop, end: stop });
                        }
                        break;
                    }
                    Some(op::SLOT) => {
                        let slot = operand(1) as usize;
                        let Some(kind) = SlotKind::from_code(operand(2)) else { break };
                        let old = slots.get(slot).copied().unwrap_or_default();
                        let mut ranges = [(0, 0); 4];
                        // A bracket in front of the first number is a mark, so a run may begin among the marks.
                        let low = if token == start { form.start } else { token };
                        let count = slot_ranges(kind, text, form, low, next, &mut ranges);
                        // Jobs run last in, first out: the preferred range goes in last, a restore under each.
                        for &(from, to) in ranges.iter().take(count).rev() {
                            self.jobs.push(Job::Restore { slot, range: old });
                            self.jobs.push(Job::Try { at: at + 3, token: to, end: to });
                            self.jobs.push(Job::Restore { slot, range: (from as u32, to as u32) });
                        }
                        break;
                    }
                    _ => break,
                }
            }
        }
        None
    }
}

/// A program whose first instructions are branches may begin with a written mark.
fn leads_to_mark(program: &[u32]) -> bool {
    program.first() == Some(&op::SPLIT) && program.contains(&op::MARK)
}

/// Behind the written word that begins at `at`.
fn written_end(tokens: &[Token], at: usize, end: usize) -> usize {
    let mut stop = at + 1;
    while stop < end && tokens.get(stop).is_some_and(|token| token.has(flags::CONTINUES)) {
        stop += 1;
    }
    stop
}

/// Tokens of the dot behind a short word that goes on with another, as in `St. Petersburg`: 0 or 1.
fn abbreviation_dot(tokens: &[Token], from: usize, to: usize, end: usize) -> usize {
    const LONGEST: u32 = 3;
    let (Some(first), Some(dot), Some(next)) = (tokens.get(from), tokens.get(to), tokens.get(to + 1)) else {
        return 0;
    };
    let short = first.has(flags::WORD) && to == from + 1 && first.end - first.start <= LONGEST;
    let apart = dot.glyph == b'.' && dot.start == first.end && next.start > dot.end && next.has(flags::WORD);
    usize::from(to + 1 < end && short && apart)
}

/// Ranges that a slot can take from `next`, best first; returns how many.
fn slot_ranges(
    kind: SlotKind,
    text: Text<'_>,
    form: Form,
    low: usize,
    next: usize,
    out: &mut [(usize, usize); 4],
) -> usize {
    let tokens = text.tokens;
    let Some(first) = tokens.get(next).filter(|_| next < form.end) else { return 0 };
    if kind == SlotKind::Expression {
        // Nothing but marks, such as a bracket, stands in front of `next`: a run is taken whole.
        let fits = |run: &&Run| {
            run.start >= low && skip_marks(tokens, run.start, run.end) == next && run.end <= form.end
        };
        let run = text.runs.iter().find(fits);
        return match run {
            Some(run) => {
                out[0] = (run.start, run.end);
                1
            }
            None => 0,
        };
    }
    if first.has(flags::CONTINUES) && !first.has(flags::SINGLE) {
        return 0;
    }
    let end = written_end(tokens, next, form.end);
    let one = |fits: bool, out: &mut [(usize, usize); 4]| {
        out[0] = (next, end);
        usize::from(fits)
    };
    match kind {
        SlotKind::Word => one(first.has(flags::WORD | flags::NUMBER | flags::QUOTE), out),
        SlotKind::Name => one(first.has(flags::NAME), out),
        SlotKind::Mixed => one(first.has(flags::MIXED), out),
        SlotKind::Number => one(first.has(flags::NUMBER) && end == next + 1, out),
        SlotKind::Url => one(first.has(flags::URL), out),
        SlotKind::Rest => {
            out[0] = (next, form.last.max(end));
            1
        }
        SlotKind::Place => {
            let content = |from: usize, to: usize| {
                tokens.get(from..to).is_some_and(|word| word.iter().any(|t| stands_in_place(*t)))
            };
            let word_like = flags::WORD | flags::NUMBER | flags::QUOTE;
            let mut stops = [0; 4];
            let mut count = 0;
            let mut from = next;
            while count < 4 && from < form.end && tokens.get(from).is_some_and(|t| t.has(word_like)) {
                let to = written_end(tokens, from, form.end);
                let dot = abbreviation_dot(tokens, from, to, form.end);
                let counts = content(from, to) || (from == next && is_named_by_article(tokens, next));
                if let (true, Some(stop)) = (counts, stops.get_mut(count)) {
                    *stop = to;
                }
                count += 1;
                from = to + dot;
            }
            if stops[0] == 0 {
                return 0;
            }
            let mut found = 0;
            for &stop in stops.iter().rev().filter(|&&stop| stop != 0) {
                if let Some(place) = out.get_mut(found) {
                    *place = (next, stop);
                }
                found += 1;
            }
            found
        }
        SlotKind::Expression => 0,
    }
}

/// A pronoun behind an article is none: "the US".
fn is_named_by_article(tokens: &[Token], at: usize) -> bool {
    let behind_article =
        at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|t| t.has(flags::ARTICLES));
    let other = flags::ARTICLES | flags::ASKS | flags::TIMES | flags::POLITE | flags::REQUESTS;
    behind_article && tokens.get(at).is_some_and(|t| t.has(flags::STOPWORDS) && !t.has(other))
}

/// A word that a place may begin or end with: a content word, a quotation, or what looks like a misspelled function
/// word and is as likely a name ("Narre Warren"), unless it says when or asks politely.
fn stands_in_place(token: Token) -> bool {
    token.is_content()
        || token.has(flags::QUOTE)
        || token.has(flags::MISSPELLED) && !token.has(flags::TIMES | flags::POLITE)
}
