//! Why a skill did not take a message: what barred it, who came first, or how far its nearest trigger got.

use serde::Serialize;

use super::flags;
use super::lexer::Token;
use super::matcher::{Form, accepts_token};
use super::route::{Stage, State, ToolSet};
use super::stages::{Memo, Reading, Router, Scratch};
use crate::artifact::layout::{ANCHOR_END, ANCHOR_START, ELEMENT_TEMPLATE, Template, accept};
use crate::artifact::{View, layout_range};

/// Most words that are named where a trigger failed.
const MOST_EXPECTED: usize = 8;

/// Why a skill did not take a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WhyNot {
    /// The skill that was asked about.
    pub skill: String,
    /// The message is a front end's own prompt.
    pub task: bool,
    /// It took the message after all.
    pub taken: bool,
    /// Who took it instead, and by which stage.
    pub instead: Option<(String, Stage)>,
    /// None of its tools can run.
    pub unusable: bool,
    /// The exclusion that took it out: the pattern and its place.
    pub excluded: Option<String>,
    /// A trigger or fallback of it that matches, with its place.
    pub matched: Option<String>,
    /// What vetoes it.
    pub vetoed: Option<String>,
    /// A trigger that would match, but stands behind a negator: "not".
    pub negated: Option<String>,
    /// It took the turn before; why it does not go on.
    pub not_carried: Option<String>,
    /// The trigger that came nearest, if none matches.
    pub nearest: Option<Nearest>,
}

/// How far a trigger got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Nearest {
    /// `FILE:LINE` of the trigger.
    pub at: String,
    /// The trigger as written.
    pub pattern: String,
    /// The words that it took, as they stand in the message.
    pub matched: String,
    /// The word at which it failed; None at the end of the message.
    pub failed_at: Option<String>,
    /// Words and kinds of words that could have stood there.
    pub expected: Vec<String>,
    /// There are more of them.
    pub more_expected: bool,
}

/// Where a walk over a template ended.
#[derive(Clone, Copy)]
struct Walk {
    /// Tokens that words of the template took.
    literal: usize,
    start: usize,
    failed: usize,
    /// Positions of the template that could have gone on there.
    reach: u64,
    /// The template was matched up to there, but not to the end of the message.
    complete: bool,
}

impl Router<'_> {
    /// Says why the skill with this name did not take the message; None if there is no such skill.
    pub fn why_not(
        &self,
        scratch: &mut Scratch,
        state: State,
        message: &str,
        tools: &ToolSet,
        skill: &str,
    ) -> Option<WhyNot> {
        let number = self.pack.skill_names().iter().position(|known| *known == skill)? as u32;
        let decision = self.decide(scratch, state, message, tools);
        let mut why = WhyNot {
            skill: skill.to_owned(),
            task: decision.stage == Stage::Task,
            taken: decision.skill == Some(number),
            instead: decision.skill.map(|winner| (self.skill_name(winner), decision.stage)),
            unusable: !self.usable(number, tools),
            excluded: None,
            matched: None,
            vetoed: None,
            negated: None,
            not_carried: None,
            nearest: None,
        };
        if why.taken || decision.stage == Stage::Task {
            return Some(why);
        }
        if state.resident == Some(number) {
            let (_, trace) = self.trace(scratch, state, message, tools);
            let carried = trace.stages.into_iter().find(|report| report.stage == Stage::CarryOver);
            why.not_carried =
                carried.and_then(|report| report.skills.into_iter().find_map(|skill| skill.barred));
        }
        let (reading, memo) = self.read(scratch, message);
        why.excluded =
            self.exclusion_of(&reading, memo, number).map(|element| self.named(&reading, memo, element));
        let record = self.skill(number);
        let triggers = record.triggers_start..record.triggers_start + record.triggers_len;
        let fallbacks = record.fallbacks_start..record.fallbacks_start + record.fallbacks_len;
        for element in triggers.chain(fallbacks) {
            let matches = [Some(reading.written), reading.bare]
                .into_iter()
                .flatten()
                .any(|form| self.holds(&reading, memo, element, form, true, 0));
            if !matches {
                let negated = [Some(reading.written), reading.bare]
                    .into_iter()
                    .flatten()
                    .any(|form| self.holds(&reading, memo, element, form, false, 0));
                if negated && why.negated.is_none() {
                    why.negated = Some(self.named(&reading, memo, element));
                }
                continue;
            }
            why.matched = Some(self.named(&reading, memo, element));
            why.vetoed =
                self.veto_of(&reading, memo, element, 0).map(|veto| self.named(&reading, memo, veto));
            if why.vetoed.is_none() {
                break;
            }
        }
        if why.matched.is_none() && why.negated.is_none() {
            why.nearest = self.nearest(&reading, memo, number);
        }
        Some(why)
    }

    /// Whether a trigger of a skill, both by number, matches the message as written or without its lead-in, whatever
    /// bars it and whoever else takes the message.
    pub fn trigger_holds(&self, scratch: &mut Scratch, message: &str, skill: u32, trigger: u32) -> bool {
        let record = self.skill(skill);
        if trigger >= record.triggers_len {
            return false;
        }
        let (reading, memo) = self.read(scratch, message);
        let element = record.triggers_start + trigger;
        let mut forms = [Some(reading.written), reading.bare].into_iter().flatten();
        forms.any(|form| self.holds(&reading, memo, element, form, true, 0))
    }

    fn nearest(&self, reading: &Reading<'_>, _memo: &mut Memo, skill: u32) -> Option<Nearest> {
        let record = self.skill(skill);
        let mut best: Option<(Walk, u32)> = None;
        for element in record.triggers_start..record.triggers_start + record.triggers_len {
            let found = self.element(element);
            if found.kind != ELEMENT_TEMPLATE {
                continue;
            }
            let Some(template) = self.view.templates.get(found.target as usize) else { continue };
            for form in [Some(reading.written), reading.bare].into_iter().flatten() {
                let Some(walk) = walk(&self.view, template, reading.tokens, form) else { continue };
                if best.is_none_or(|(known, _)| walk.literal > known.literal) {
                    best = Some((walk, element));
                }
            }
        }
        let (walk, element) = best?;
        let found = self.element(element);
        let template = self.view.templates.get(found.target as usize)?;
        let matched = reading.slice(reading.span(walk.start, walk.failed));
        let (wanted, more_expected) = expected(&self.view, template, walk);
        let failed = reading.tokens.get(walk.failed).filter(|_| walk.failed < reading.written.last);
        Some(Nearest {
            at: self.place(found.file, found.line),
            pattern: self.view.str(found.source_start, found.source_len).to_owned(),
            matched: if walk.failed > walk.start { matched.to_owned() } else { String::new() },
            failed_at: failed.map(|token| reading.slice((token.start, token.end)).to_owned()),
            expected: wanted,
            more_expected,
        })
    }
}

/// Walks the template's automaton from each place where it may begin; the walk in which its words took most.
fn walk(view: &View<'_>, template: &Template, tokens: &[Token], form: Form) -> Option<Walk> {
    let count = template.positions as usize;
    let code = layout_range(view.code, template.code, 3 + 2 * template.positions);
    let (first, last) = (*code.first()?, *code.get(1)?);
    let follow = code.get(3..3 + count)?;
    let accepts = code.get(3 + count..3 + 2 * count)?;
    let starts =
        if template.flags & ANCHOR_START != 0 { form.first..form.first + 1 } else { form.first..form.last };
    let mut best: Option<Walk> = None;
    for start in starts {
        let mut reach = first;
        let mut literal = 0;
        let mut complete = false;
        let mut at = start;
        while let Some(token) = tokens.get(at).filter(|_| at < form.last) {
            if token.is_mark() {
                at += 1;
                continue;
            }
            let mut next = 0;
            let mut ends = false;
            let mut word = false;
            let mut left = reach;
            while left != 0 {
                let position = left.trailing_zeros() as usize;
                left &= left - 1;
                let Some(&wanted) = accepts.get(position) else { continue };
                if accepts_token(view, wanted, token) {
                    word |= matches!((wanted >> 56) as u8, accept::ID | accept::SET | accept::MARK);
                    next |= follow.get(position).copied().unwrap_or_default();
                    ends |= last >> position & 1 == 1;
                }
            }
            let stays = accepts_any(view, accepts, reach, token);
            if !stays {
                break;
            }
            literal += usize::from(word);
            reach = next;
            complete = ends && template.flags & ANCHOR_END != 0;
            at += 1;
            if reach == 0 && template.flags & ANCHOR_END != 0 {
                break;
            }
        }
        let found = Walk { literal, start, failed: at, reach, complete };
        if best.is_none_or(|known| found.literal > known.literal) {
            best = Some(found);
        }
    }
    best
}

fn accepts_any(view: &View<'_>, accepts: &[u64], reach: u64, token: &Token) -> bool {
    let mut left = reach;
    while left != 0 {
        let position = left.trailing_zeros() as usize;
        left &= left - 1;
        if accepts.get(position).is_some_and(|&wanted| accepts_token(view, wanted, token)) {
            return true;
        }
    }
    false
}

/// What the reachable positions ask for, in words.
fn expected(view: &View<'_>, template: &Template, walk: Walk) -> (Vec<String>, bool) {
    let count = template.positions as usize;
    let code = layout_range(view.code, template.code, 3 + 2 * template.positions);
    let accepts = code.get(3 + count..3 + 2 * count).unwrap_or_default();
    let mut out: Vec<String> = Vec::new();
    if walk.complete || walk.reach == 0 {
        out.push("the end of the message".to_owned());
    }
    let mut left = walk.reach;
    while left != 0 && out.len() <= MOST_EXPECTED {
        let position = left.trailing_zeros() as usize;
        left &= left - 1;
        let Some(&wanted) = accepts.get(position) else { continue };
        let low = wanted as u32;
        match (wanted >> 56) as u8 {
            accept::ID | accept::MARK => out.extend(view.word(low).map(str::to_owned)),
            accept::SET => {
                let set = layout_range(view.ids, low, (wanted >> 32) as u32 & 0x00FF_FFFF);
                out.extend(
                    set.iter().filter_map(|&id| view.word(id)).map(str::to_owned).take(MOST_EXPECTED + 1),
                );
            }
            // What a slot may take was there already where the pattern was complete: the written word goes on.
            accept::CLASS if walk.complete => {}
            accept::CLASS => out.push(kind(low).to_owned()),
            _ => out.push("any word".to_owned()),
        }
        let mut seen = std::collections::HashSet::new();
        out.retain(|word| seen.insert(word.clone()));
    }
    let more = out.len() > MOST_EXPECTED;
    out.truncate(MOST_EXPECTED);
    (out, more)
}

fn kind(class: u32) -> &'static str {
    match class {
        _ if class & flags::URL != 0 => "an address",
        _ if class & flags::MIXED != 0 => "a name with letter and digit",
        _ if class & flags::NAME != 0 => "a name",
        _ if class & flags::NUMBER != 0 && class & flags::WORD == 0 => "a number",
        _ => "a word",
    }
}
