//! What follows from a decision: evidence, slots, the opening call, other requests in the message, the language of
//! the reply. Only [`Router::route`] asks for it.

use std::collections::BTreeMap;

use super::flags;
use super::keywords;
use super::mask::MaskKind;
use super::matcher::Form;
use super::route::{Binding, Evidence, EvidenceKind, OpeningCall, Route, Stage, ToolSet};
use super::stages::{Found, Memo, Reading, Router};
use crate::artifact::layout::{NONE, SlotKind};
use crate::artifact::layout_range;

/// Pasted parts of the message given to an opening call are cut to this many characters.
const PASTED_IN_ARGUMENT: usize = 400;

impl Router<'_> {
    pub(super) fn explain_evidence(
        &self,
        reading: &Reading<'_>,
        memo: &mut Memo,
        route: &mut Route,
        tools: &ToolSet,
    ) {
        let decision = route.decision;
        let form = if decision.opener { reading.bare.unwrap_or(reading.written) } else { reading.written };
        route.skill = decision.skill.map(|skill| self.skill_name(skill));
        route.tools = self.offered(decision.skill, tools);
        let (start, end) = reading.span(form.start, form.end);
        route.bindings.push(Binding {
            name: "message".to_owned(),
            text: message_text(reading, (start, end)),
            span: (start, end),
        });
        match decision.stage {
            Stage::Trigger => {
                if let Some(element) = decision.element
                    && let Some(evidence) =
                        self.element_evidence(reading, memo, element, form, &mut route.bindings)
                {
                    route.evidence.push(evidence);
                    self.also(reading, memo, route, tools);
                }
            }
            Stage::Keyword => {
                for hit in reading.hits.iter().filter(|hit| keywords::counts(hit, reading.tokens, form)) {
                    let Some(keyword) = self.view.keywords.get(hit.target as usize) else { continue };
                    if Some(keyword.skill) == decision.skill {
                        route.evidence.push(Evidence {
                            kind: EvidenceKind::Keyword,
                            at: Some(self.place(keyword.file, keyword.line)),
                            label: None,
                            spans: vec![reading.span(hit.start as usize, hit.end as usize)],
                            slots: BTreeMap::new(),
                        });
                    }
                }
            }
            Stage::CarryOver => {
                let mut evidence = Evidence {
                    kind: EvidenceKind::FollowUp,
                    at: None,
                    label: None,
                    spans: vec![reading.span(reading.written.first, reading.written.last)],
                    slots: BTreeMap::new(),
                };
                let skill = self.skill(decision.skill.unwrap_or_default());
                let mut continued = skill.follows_len == 0;
                for element in skill.follows_start..skill.follows_start + skill.follows_len {
                    if self.vetoed(reading, memo, element, 0) {
                        continue;
                    }
                    if let Some(found) =
                        self.element_evidence(reading, memo, element, form, &mut route.bindings)
                    {
                        evidence.at = found.at;
                        evidence.slots = found.slots;
                        continued = true;
                        break;
                    }
                }
                route.evidence.push(evidence);
                // The skill says what a continuation asks; for anything else no call is made in code.
                if !continued {
                    route.missing.push("follow".to_owned());
                    return;
                }
            }
            Stage::Fallback => {
                if let Some(element) = decision.element {
                    let found = self.element_evidence(reading, memo, element, form, &mut route.bindings);
                    let record = self.element(element);
                    route.bindings.truncate(1);
                    route.evidence.push(Evidence {
                        kind: EvidenceKind::Predicate,
                        at: Some(self.place(record.file, record.line)),
                        label: Some(self.view.str(record.source_start, record.source_len).to_owned()),
                        spans: found.map_or_else(|| vec![reading.span(form.first, form.last)], |e| e.spans),
                        slots: BTreeMap::new(),
                    });
                }
            }
            Stage::Task | Stage::None => {}
        }
        if let Some(skill) = decision.skill {
            self.open(route, skill, tools);
        }
    }

    /// Evidence of an element that matches, with its slots added to the route's bindings.
    pub(super) fn element_evidence(
        &self,
        reading: &Reading<'_>,
        memo: &mut Memo,
        element: u32,
        form: Form,
        bindings: &mut Vec<Binding>,
    ) -> Option<Evidence> {
        let record = self.element(element);
        let found = self.find(reading, memo, element, form, true)?;
        let mut slots = Vec::new();
        let span = match found {
            Found::Template(found) => {
                let template = self.view.templates.get(record.target as usize)?;
                let names = layout_range(self.view.slots, template.slots_start, template.slots_len);
                for (slot, &(from, to)) in names.iter().zip(&found.slots) {
                    if to > from {
                        let span = reading.unquoted(from as usize, to as usize);
                        let text = match slot.kind == SlotKind::Expression as u32 {
                            true => self.respelled(reading, from as usize..to as usize),
                            false => reading.slice(span).to_owned(),
                        };
                        let name = self.view.str(slot.name_start, slot.name_len).to_owned();
                        slots.push(Binding { name, text, span });
                    }
                }
                reading.span(found.start, found.end)
            }
            Found::Regex(found) => {
                slots = (found.groups.into_iter())
                    .map(|(name, span)| Binding { name, text: reading.slice(span).to_owned(), span })
                    .collect();
                found.span
            }
            Found::Predicate => reading.span(form.first, form.last),
        };
        let mut bound = BTreeMap::new();
        for slot in slots {
            bound.insert(slot.name.clone(), slot.text.clone());
            bindings.push(slot);
        }
        Some(Evidence {
            kind: EvidenceKind::Trigger,
            at: Some(self.place(record.file, record.line)),
            label: (record.label_len != NONE)
                .then(|| self.view.str(record.label_start, record.label_len).to_owned()),
            spans: vec![span],
            slots: bound,
        })
    }

    /// The text of tokens, misspelled words as they are read: a calculator knows "durch" and not "druch".
    fn respelled(&self, reading: &Reading<'_>, tokens: std::ops::Range<usize>) -> String {
        let (start, end) = reading.span(tokens.start, tokens.end);
        let mut text = String::new();
        let mut at = start;
        for token in reading.tokens.get(tokens).unwrap_or_default() {
            if token.has(flags::MISSPELLED)
                && let Some(word) = self.view.word(token.id)
            {
                // The words of one that expands have the same place.
                let between = if token.start < at { " " } else { reading.slice((at, token.start)) };
                text.push_str(between);
                text.push_str(word);
                at = token.end;
            }
        }
        text + reading.slice((at, end))
    }

    /// Other usable skills whose triggers match outside the deciding span.
    fn also(&self, reading: &Reading<'_>, memo: &mut Memo, route: &mut Route, tools: &ToolSet) {
        let Some(&(from, to)) = route.evidence.first().and_then(|evidence| evidence.spans.first()) else {
            return;
        };
        let mut candidates: Vec<u32> = Vec::new();
        self.candidates(
            reading,
            reading.written,
            self.view.trigger_index,
            self.view.trigger_postings,
            |posting| {
                if self.passes(reading, reading.written, posting) {
                    candidates.push(posting.element);
                }
                true
            },
        );
        let scalars = self.view.scalars;
        candidates.extend(self.view.id_range(scalars.always_start, scalars.always_len));
        candidates.sort_unstable();
        candidates.dedup();
        let mut seen: Vec<u32> = route.decision.skill.into_iter().collect();
        for element in candidates {
            let owner = self.element(element).owner;
            if seen.contains(&owner) || !self.wins(reading, memo, element, reading.written, tools) {
                continue;
            }
            let span = match self.find(reading, memo, element, reading.written, true) {
                Some(Found::Template(found)) => reading.span(found.start, found.end),
                Some(Found::Regex(found)) => found.span,
                _ => continue,
            };
            if span.0 < from || span.1 > to {
                seen.push(owner);
                route.also.push(self.skill_name(owner));
            }
        }
    }

    /// The first opening whose slots are bound and whose tool can run.
    fn open(&self, route: &mut Route, skill: u32, tools: &ToolSet) {
        let record = self.skill(skill);
        for opening in layout_range(self.view.openings, record.openings_start, record.openings_len) {
            if !tools.has(opening.tool) {
                continue;
            }
            let mut arguments = serde_json::Map::new();
            let mut missing = None;
            for argument in
                layout_range(self.view.opening_arguments, opening.arguments_start, opening.arguments_len)
            {
                let name = self.view.str(argument.name_start, argument.name_len).to_owned();
                let value = self.view.str(argument.value_start, argument.value_len);
                let bound = match argument.kind {
                    4 => match fill(value, &route.bindings) {
                        Ok(text) => Some(text.into()),
                        Err(slot) => {
                            missing = Some(slot.to_owned());
                            continue;
                        }
                    },
                    2 => serde_json::from_str(value).ok(),
                    3 => {
                        let bound = route.bindings.iter().find(|binding| binding.name == value);
                        // A number that JSON does not read stays a text, as the user wrote it.
                        bound.map(|b| serde_json::from_str(&b.text).unwrap_or_else(|_| b.text.clone().into()))
                    }
                    kind => {
                        let slot = if kind == 1 { "message" } else { value };
                        let bound = route.bindings.iter().find(|binding| binding.name == slot);
                        bound.map(|binding| serde_json::Value::from(binding.text.clone()))
                    }
                };
                match bound {
                    Some(bound) => {
                        arguments.insert(name, bound);
                    }
                    None => missing = Some(value.to_owned()),
                }
            }
            match missing {
                None => {
                    route.opening = Some(OpeningCall { tool: self.tool_name(opening.tool), arguments });
                    return;
                }
                Some(slot) => route.missing.push(slot),
            }
        }
    }
}

/// A text with the bound slots in place of their names in braces; an error is the first that is not bound.
fn fill<'t>(text: &'t str, bindings: &[Binding]) -> Result<String, &'t str> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('{') {
        out.push_str(before);
        let named = tail.split_once('}').filter(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-".contains(c))
        });
        match named {
            Some((name, behind)) => {
                let binding = bindings.iter().find(|binding| binding.name == name).ok_or(name)?;
                out.push_str(&binding.text);
                rest = behind;
            }
            None => {
                out.push('{');
                rest = tail;
            }
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// Original text of a span, pasted parts cut.
pub(super) fn message_text(reading: &Reading<'_>, span: (u32, u32)) -> String {
    let mut out = String::new();
    let mut at = span.0 as usize;
    let end = span.1 as usize;
    for mask in reading.masks.iter().filter(|mask| mask.kind == MaskKind::Pasted) {
        if mask.range.start < at || mask.range.end > end {
            continue;
        }
        out.push_str(reading.message.get(at..mask.range.start).unwrap_or_default());
        let pasted = reading.message.get(mask.range.clone()).unwrap_or_default();
        match pasted.char_indices().nth(PASTED_IN_ARGUMENT) {
            Some((cut, _)) => {
                out.push_str(pasted.get(..cut).unwrap_or_default());
                out.push('…');
            }
            None => out.push_str(pasted),
        }
        at = mask.range.end;
    }
    out.push_str(reading.message.get(at..end).unwrap_or_default());
    out
}

/// The language whose closed lists hold most of the message's words; a character of a language's spelling counts
/// one for it.
pub(super) fn reply_language(reading: &Reading<'_>) -> Option<u32> {
    let count = reading.view.languages.len().min(32);
    let mut votes = [0_u32; 32];
    for token in reading.tokens.iter().filter(|token| token.has(flags::WORD)) {
        let languages = reading.view.words.get(token.id as usize).map_or(0, |word| word.languages);
        if languages.count_ones() == 1
            && let Some(vote) = votes.get_mut(languages.trailing_zeros() as usize)
        {
            *vote += 1;
        }
        if token.has(flags::SPELLED) {
            let text = reading.slice((token.start, token.end));
            for (language, vote) in reading.view.languages.iter().zip(&mut votes) {
                let letters = reading.view.str(language.letters_start, language.letters_len);
                *vote += u32::from(text.chars().flat_map(char::to_lowercase).any(|c| letters.contains(c)));
            }
        }
    }
    let best = votes.iter().take(count).copied().max().filter(|&best| best > 0)?;
    let mut leaders = (0..count).filter(|&language| votes.get(language) == Some(&best));
    let leader = leaders.next()?;
    leaders.next().is_none().then_some(leader as u32)
}
