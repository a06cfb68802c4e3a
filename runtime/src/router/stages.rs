//! The stages of routing, in order: triggers and keywords on the message as written, the same without its
//! lead-in, carry-over, fallback, none. The first that yields a skill ends it.
//!
//! [`Router::decide`] finds the skill and allocates nothing once its buffers are warm; [`Router::route`] adds
//! slots, evidence, the opening call and what else the message asks for.

use super::bind::{Binder, Match, Text};
use super::evidence::{message_text, reply_language};
use super::expression::{self, Part, Run};
use super::flags;
use super::follow_up::{is_follow_up, without_lead_in};
use super::keywords::{self, Score};
use super::lexer::{Lexer, Token, signature_bit};
use super::mask::{Mask, MaskKind, masks, may_mask};
use super::matcher::{Form, may_match};
use super::phrases::{self, Hit};
use super::predicates::computed;
use super::regexes::{Haystack, RegexMatch, Regexes};
use super::route::{Binding, Decision, Route, SkillOverview, Stage, State, ToolSet, Unusable};
use crate::artifact::layout::{
    Computed, ELEMENT_PREDICATE, ELEMENT_REGEX, ELEMENT_TEMPLATE, Element, ID_MIXED, ID_NUMBER, ID_URL,
    IndexEntry, NEEDS_BIND, NONE, Posting, Skill,
};
use crate::artifact::{Pack, View, layout_range};

/// How deep predicates may refer to predicates; the compiler refuses cycles.
const PREDICATE_DEPTH: u32 = 8;

/// Buffers of routing; keep one a thread.
#[derive(Default)]
pub struct Scratch {
    lexer: Lexer,
    hits: Vec<Hit>,
    runs: Vec<Run>,
    parts: Vec<Option<Part>>,
    masks: Vec<Mask>,
    memo: Memo,
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scratch").finish_non_exhaustive()
    }
}

/// What was found out about a message so far.
#[derive(Default)]
pub(super) struct Memo {
    pub(super) binder: Binder,
    excluded: Vec<(u32, bool)>,
    scores: Vec<Score>,
    /// Predicates that hold, by form.
    predicates: [Vec<(u32, bool)>; 2],
    /// Members of predicates that the form's words let through, in order, and whether they were gathered.
    members: [(bool, Vec<u32>); 2],
}

impl Memo {
    fn clear(&mut self) {
        self.excluded.clear();
        self.scores.clear();
        self.predicates.iter_mut().for_each(Vec::clear);
        self.members.iter_mut().for_each(|members| members.0 = false);
    }
}

/// A message that was read: tokens, phrases, forms.
pub(super) struct Reading<'a> {
    pub(super) view: &'a View<'a>,
    pub(super) message: &'a str,
    pub(super) tokens: &'a [Token],
    pub(super) hits: &'a [Hit],
    pub(super) runs: &'a [Run],
    pub(super) masks: &'a [Mask],
    pub(super) signature: u64,
    /// The message as written.
    pub(super) written: Form,
    /// The message without its lead-in.
    pub(super) bare: Option<Form>,
    haystack: std::cell::OnceCell<Haystack<'a>>,
}

impl<'a> Reading<'a> {
    pub(super) fn pasted(&self) -> bool {
        self.masks.iter().any(|mask| mask.kind == MaskKind::Pasted)
    }

    fn haystack(&self) -> &Haystack<'a> {
        self.haystack.get_or_init(|| Haystack::new(self.message, self.masks))
    }

    fn text(&self) -> Text<'a> {
        Text { tokens: self.tokens, hits: self.hits, runs: self.runs }
    }

    /// Byte range of tokens `start..end`.
    pub(super) fn span(&self, start: usize, end: usize) -> (u32, u32) {
        let first = self.tokens.get(start).map_or(0, |token| token.start);
        let last = end.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(first, |token| token.end);
        (first, last.max(first))
    }

    /// Byte range of tokens `start..end`; of a quotation alone, what stands between its quotes.
    pub(super) fn unquoted(&self, start: usize, end: usize) -> (u32, u32) {
        let span = self.span(start, end);
        if end != start + 1 || !self.tokens.get(start).is_some_and(|token| token.has(flags::QUOTE)) {
            return span;
        }
        let text = self.slice(span);
        let mut inner = text.chars();
        match (inner.next(), inner.next_back()) {
            (Some(open), Some(close)) if !inner.as_str().trim().is_empty() => {
                (span.0 + open.len_utf8() as u32, span.1 - close.len_utf8() as u32)
            }
            _ => span,
        }
    }

    pub(super) fn slice(&self, span: (u32, u32)) -> &'a str {
        self.message.get(span.0 as usize..span.1 as usize).unwrap_or_default()
    }
}

/// How an element matched.
pub(super) enum Found {
    Template(Match),
    Regex(RegexMatch),
    Predicate,
}

/// Routes messages by one artifact. Cheap to share between threads; make it once.
pub struct Router<'p> {
    pub(super) pack: &'p Pack,
    pub(super) view: View<'p>,
    regexes: Regexes,
    host_tasks: bool,
    host_envelopes: bool,
}

impl std::fmt::Debug for Router<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Router").field("pack", self.pack).finish_non_exhaustive()
    }
}

impl<'p> Router<'p> {
    /// A router over a loaded artifact.
    #[must_use]
    pub fn new(pack: &'p Pack) -> Self {
        let view = pack.view();
        Self {
            pack,
            view,
            regexes: Regexes::new(&view),
            host_tasks: view.hosts.iter().any(|host| host.task != NONE),
            host_envelopes: view.hosts.iter().any(|host| host.envelope != NONE),
        }
    }

    /// The artifact.
    #[must_use]
    pub fn pack(&self) -> &'p Pack {
        self.pack
    }

    /// Decides which skill takes the message.
    pub fn decide(&self, scratch: &mut Scratch, state: State, message: &str, tools: &ToolSet) -> Decision {
        if self.is_task(message) {
            return Decision { skill: None, stage: Stage::Task, opener: false, element: None, next: state };
        }
        let (reading, memo) = self.read(scratch, message);
        let decision = self.decide_read(&reading, memo, state, tools);
        scratch.lexer.shrink();
        decision
    }

    /// Decides, and says why and what follows.
    pub fn route(&self, scratch: &mut Scratch, state: State, message: &str, tools: &ToolSet) -> Route {
        let mut route = Route {
            decision: Decision { skill: None, stage: Stage::Task, opener: false, element: None, next: state },
            skill: None,
            tools: Some(Vec::new()),
            evidence: Vec::new(),
            bindings: Vec::new(),
            also: Vec::new(),
            unusable: Vec::new(),
            opening: None,
            missing: Vec::new(),
            language: None,
        };
        if self.is_task(message) {
            return route;
        }
        let (reading, memo) = self.read(scratch, message);
        let decision = self.decide_read(&reading, memo, state, tools);
        route.decision = decision;
        route.language = reply_language(&reading);
        self.explain_evidence(&reading, memo, &mut route, tools);
        let everything = ToolSet::all(self.pack);
        if *tools != everything {
            memo.clear();
            let without = self.decide_read(&reading, memo, state, &everything);
            if let Some(skill) = without.skill.filter(|_| without.skill != decision.skill)
                && !self.usable(skill, tools)
            {
                route.unusable.push(self.unusable(skill));
            }
        }
        scratch.lexer.shrink();
        route
    }

    /// Language of the reply by the message's words alone: number of a language item, None when no list decides.
    pub fn language(&self, scratch: &mut Scratch, message: &str) -> Option<u32> {
        let (reading, _) = self.read(scratch, message);
        reply_language(&reading)
    }

    /// What the skill's own triggers, else its follow templates, bind in a message; `message` is always bound.
    pub fn bind_for_skill(&self, scratch: &mut Scratch, skill: u32, message: &str) -> Vec<Binding> {
        let (reading, memo) = self.read(scratch, message);
        let record = self.skill(skill);
        let ranges = [
            record.triggers_start..record.triggers_start + record.triggers_len,
            record.follows_start..record.follows_start + record.follows_len,
        ];
        let mut bindings = Vec::new();
        let span = reading.span(reading.written.start, reading.written.end);
        bindings.push(Binding { name: "message".to_owned(), text: message_text(&reading, span), span });
        for range in ranges {
            for form in [Some(reading.written), reading.bare].into_iter().flatten() {
                for element in range.clone() {
                    if !self.vetoed(&reading, memo, element, 0)
                        && self.element_evidence(&reading, memo, element, form, &mut bindings).is_some()
                    {
                        return bindings;
                    }
                }
            }
        }
        bindings
    }

    pub(super) fn unusable(&self, skill: u32) -> Unusable {
        let record = self.skill(skill);
        let tools = self.view.id_range(record.tools_start, record.tools_len);
        Unusable {
            skill: self.skill_name(skill),
            tools: tools.iter().map(|&tool| self.tool_name(tool)).collect(),
        }
    }

    pub(super) fn is_task(&self, message: &str) -> bool {
        self.host_tasks
            && self.view.hosts.iter().any(|host| self.regexes.matches_plain(&self.view, host.task, message))
    }

    /// Lexes the message and finds its forms.
    pub(super) fn read<'a>(
        &'a self,
        scratch: &'a mut Scratch,
        message: &'a str,
    ) -> (Reading<'a>, &'a mut Memo) {
        let Scratch { lexer, hits, runs, parts, masks: found, memo } = scratch;
        memo.clear();
        found.clear();
        let mut envelopes = Vec::new();
        if self.host_envelopes {
            for host in self.view.hosts {
                envelopes.extend(self.regexes.ranges(&self.view, host.envelope, message));
            }
        }
        if !envelopes.is_empty() || may_mask(message) {
            *found = masks(message, envelopes);
        }
        lexer.lex(&self.view, message, found);
        phrases::find(&self.view, &lexer.tokens, hits);
        lexer.apply_phrases(hits);
        runs.clear();
        if self.view.scalars.expressions == 1 && lexer.signature & signature_bit(ID_NUMBER) != 0 {
            expression::find(message, &lexer.tokens, hits, parts, runs);
        }
        let written = Form::new(&lexer.tokens, 0, lexer.tokens.len());
        let bare = if hits.is_empty() { None } else { without_lead_in(&lexer.tokens, hits, written) };
        let reading = Reading {
            view: &self.view,
            message,
            tokens: &lexer.tokens,
            hits,
            runs,
            masks: found,
            signature: lexer.signature,
            written,
            bare,
            haystack: std::cell::OnceCell::new(),
        };
        (reading, memo)
    }

    fn decide_read(&self, reading: &Reading<'_>, memo: &mut Memo, state: State, tools: &ToolSet) -> Decision {
        let fresh = |skill, stage, opener, element| Decision {
            skill: Some(skill),
            stage,
            opener,
            element,
            next: State { resident: Some(skill), carried: 0 },
        };
        for (form, opener) in [(Some(reading.written), false), (reading.bare, true)] {
            let Some(form) = form else { continue };
            if let Some(element) = self.best_trigger(reading, memo, form, tools) {
                let owner = self.element(element).owner;
                return fresh(owner, Stage::Trigger, opener, Some(element));
            }
            if let Some(skill) = self.best_keywords(reading, memo, form, tools) {
                return fresh(skill, Stage::Keyword, opener, None);
            }
        }
        if let Some(resident) = state.resident.filter(|&skill| (skill as usize) < self.view.skills.len())
            && u32::from(state.carried) < self.skill(resident).carry
            && self.usable(resident, tools)
            && is_follow_up(reading.tokens, reading.hits, reading.written)
            && !self.excluded(reading, memo, resident)
        {
            return Decision {
                skill: Some(resident),
                stage: Stage::CarryOver,
                opener: false,
                element: None,
                next: State { resident: Some(resident), carried: state.carried + 1 },
            };
        }
        let (form, opener) = reading.bare.map_or((reading.written, false), |bare| (bare, true));
        for (number, skill) in self.view.skills.iter().enumerate() {
            if skill.fallbacks_len == 0 || !self.usable(number as u32, tools) {
                continue;
            }
            let elements = skill.fallbacks_start..skill.fallbacks_start + skill.fallbacks_len;
            for element in elements {
                if self.holds(reading, memo, element, form, true, 0)
                    && !self.vetoed(reading, memo, element, 0)
                    && !self.excluded(reading, memo, number as u32)
                {
                    return fresh(number as u32, Stage::Fallback, opener, Some(element));
                }
            }
        }
        Decision { skill: None, stage: Stage::None, opener: false, element: None, next: State::default() }
    }

    pub(super) fn element(&self, element: u32) -> Element {
        self.view.elements.get(element as usize).copied().unwrap_or_default()
    }

    pub(super) fn skill(&self, skill: u32) -> Skill {
        self.view.skills.get(skill as usize).copied().unwrap_or_default()
    }

    /// Name of the skill with this routing number.
    #[must_use]
    pub fn skill_name(&self, skill: u32) -> String {
        let record = self.skill(skill);
        self.view.str(record.name_start, record.name_len).to_owned()
    }

    pub(super) fn tool_name(&self, tool: u32) -> String {
        self.view
            .tools
            .get(tool as usize)
            .map(|tool| self.view.str(tool.name_start, tool.name_len).to_owned())
            .unwrap_or_default()
    }

    /// File and line of an element that decided.
    #[must_use]
    pub fn element_place(&self, element: u32) -> (String, u32) {
        let record = self.element(element);
        let file = self.view.files.get(record.file as usize).copied().unwrap_or_default();
        (self.view.str(file.name_start, file.name_len).to_owned(), record.line)
    }

    /// The skills in routing order.
    #[must_use]
    pub fn overview(&self) -> Vec<SkillOverview> {
        let everything = ToolSet::all(self.pack);
        let rows = self.view.skills.iter().enumerate().map(|(number, skill)| {
            let openings = layout_range(self.view.openings, skill.openings_start, skill.openings_len);
            SkillOverview {
                name: self.skill_name(number as u32),
                priority: skill.priority,
                triggers: skill.triggers_len,
                excludes: skill.excludes_len,
                keywords: self.view.keywords.iter().filter(|keyword| keyword.skill == number as u32).count(),
                tools: self.offered(Some(number as u32), &everything),
                openings: openings.iter().map(|opening| self.tool_name(opening.tool)).collect(),
            }
        });
        rows.collect()
    }

    /// Whether the skill needs no tool or one of its tools can run.
    #[must_use]
    pub fn usable(&self, skill: u32, tools: &ToolSet) -> bool {
        let record = self.skill(skill);
        record.tools_len == NONE
            || record.tools_len == 0
            || self.view.id_range(record.tools_start, record.tools_len).iter().any(|&tool| tools.has(tool))
    }

    /// Tools offered for a skill: None without a restriction, else those of its list that can run.
    #[must_use]
    pub fn offered(&self, skill: Option<u32>, tools: &ToolSet) -> Option<Vec<String>> {
        let record = self.skill(skill?);
        if record.tools_len == NONE {
            return None;
        }
        let listed = self.view.id_range(record.tools_start, record.tools_len);
        Some(listed.iter().filter(|&&tool| tools.has(tool)).map(|&tool| self.tool_name(tool)).collect())
    }

    /// The first trigger in routing order that matches the form, is not vetoed, and belongs to a usable skill that
    /// is not excluded.
    fn best_trigger(
        &self,
        reading: &Reading<'_>,
        memo: &mut Memo,
        form: Form,
        tools: &ToolSet,
    ) -> Option<u32> {
        let mut best = NONE;
        let scalars = self.view.scalars;
        self.candidates(reading, form, self.view.trigger_index, self.view.trigger_postings, |posting| {
            if posting.element >= best {
                return false;
            }
            if self.passes(reading, form, posting) && self.wins(reading, memo, posting.element, form, tools) {
                best = posting.element;
            }
            true
        });
        for &element in self.view.id_range(scalars.always_start, scalars.always_len) {
            if element >= best {
                break;
            }
            if self.wins(reading, memo, element, form, tools) {
                best = element;
            }
        }
        (best != NONE).then_some(best)
    }

    /// Postings of every word and kind in the form; a visitor that answers false ends the list at hand.
    pub(super) fn candidates(
        &self,
        reading: &Reading<'_>,
        form: Form,
        index: &[IndexEntry],
        postings: &[Posting],
        mut visit: impl FnMut(&Posting) -> bool,
    ) {
        let mut list = |id: u32| {
            let Some(entry) = index.get(id as usize).filter(|entry| entry.len > 0) else { return };
            for posting in layout_range(postings, entry.start, entry.len) {
                if !visit(posting) {
                    break;
                }
            }
        };
        for token in reading.tokens.get(form.first..form.last).unwrap_or_default() {
            if token.id != 0 {
                list(token.id);
            }
            if token.flags & (flags::NUMBER | flags::URL | flags::MIXED) != 0 {
                if token.has(flags::NUMBER) {
                    list(ID_NUMBER);
                }
                if token.has(flags::URL) {
                    list(ID_URL);
                }
                if token.has(flags::MIXED) {
                    list(ID_MIXED);
                }
            }
        }
        // Written marks at the ends of the form.
        let outside = [form.start..form.first, form.last..form.end];
        for token in outside.into_iter().flat_map(|range| reading.tokens.get(range).unwrap_or_default()) {
            if token.id != 0 {
                list(token.id);
            }
        }
    }

    pub(super) fn passes(&self, reading: &Reading<'_>, form: Form, posting: &Posting) -> bool {
        posting.needs & !reading.signature == 0
            && (posting.any == 0 || posting.any & reading.signature != 0)
            && posting.min_tokens <= form.count
            && (posting.first == 0
                || reading
                    .tokens
                    .get(form.first)
                    .is_some_and(|first| posting.first & signature_bit(first.id) != 0))
    }

    pub(super) fn wins(
        &self,
        reading: &Reading<'_>,
        memo: &mut Memo,
        element: u32,
        form: Form,
        tools: &ToolSet,
    ) -> bool {
        self.holds(reading, memo, element, form, true, 0)
            && self.usable(self.element(element).owner, tools)
            && !self.vetoed(reading, memo, element, 0)
            && !self.excluded(reading, memo, self.element(element).owner)
    }

    /// Whether an element matches the form; its `unless` is not asked.
    pub(super) fn holds(
        &self,
        reading: &Reading<'_>,
        memo: &mut Memo,
        element: u32,
        form: Form,
        positive: bool,
        depth: u32,
    ) -> bool {
        let record = self.element(element);
        match record.kind {
            ELEMENT_TEMPLATE => self.template_holds(reading, memo, &record, form, positive),
            ELEMENT_REGEX => self.regexes.is_match(&self.view, record.target, reading.haystack()),
            ELEMENT_PREDICATE => self.predicate_holds(reading, memo, record.target, form, depth),
            _ => false,
        }
    }

    fn template_holds(
        &self,
        reading: &Reading<'_>,
        memo: &mut Memo,
        record: &Element,
        form: Form,
        positive: bool,
    ) -> bool {
        let Some(template) = self.view.templates.get(record.target as usize) else { return false };
        template.min_tokens <= form.count
            && may_match(&self.view, template, reading.tokens, form, positive)
            && (template.flags & NEEDS_BIND == 0
                || memo.binder.bind(&self.view, template, reading.text(), form, positive).is_some())
    }

    /// How an element matches the form.
    pub(super) fn find(
        &self,
        reading: &Reading<'_>,
        memo: &mut Memo,
        element: u32,
        form: Form,
        positive: bool,
    ) -> Option<Found> {
        let record = self.element(element);
        match record.kind {
            ELEMENT_TEMPLATE => {
                let template = self.view.templates.get(record.target as usize)?;
                if !may_match(&self.view, template, reading.tokens, form, positive) {
                    return None;
                }
                memo.binder.bind(&self.view, template, reading.text(), form, positive).map(Found::Template)
            }
            ELEMENT_REGEX => {
                self.regexes.find(&self.view, record.target, reading.haystack()).map(Found::Regex)
            }
            ELEMENT_PREDICATE => {
                self.predicate_holds(reading, memo, record.target, form, 0).then_some(Found::Predicate)
            }
            _ => None,
        }
    }

    /// Whether one of the element's `unless` patterns matches either form.
    pub(super) fn vetoed(&self, reading: &Reading<'_>, memo: &mut Memo, element: u32, depth: u32) -> bool {
        self.veto_of(reading, memo, element, depth).is_some()
    }

    /// The `unless` element that vetoes this one.
    pub(super) fn veto_of(
        &self,
        reading: &Reading<'_>,
        memo: &mut Memo,
        element: u32,
        depth: u32,
    ) -> Option<u32> {
        let record = self.element(element);
        self.first_on_either(reading, memo, record.unless_start, record.unless_len, depth)
    }

    /// The first element of a range that matches either form.
    fn first_on_either(
        &self,
        reading: &Reading<'_>,
        memo: &mut Memo,
        start: u32,
        len: u32,
        depth: u32,
    ) -> Option<u32> {
        (start..start + len).find(|&element| {
            self.holds(reading, memo, element, reading.written, false, depth)
                || reading.bare.is_some_and(|bare| self.holds(reading, memo, element, bare, false, depth))
        })
    }

    /// Whether an `exclude` of the skill matches either form.
    pub(super) fn excluded(&self, reading: &Reading<'_>, memo: &mut Memo, skill: u32) -> bool {
        if let Some(&(_, known)) = memo.excluded.iter().find(|(known, _)| *known == skill) {
            return known;
        }
        let found = self.exclusion_of(reading, memo, skill).is_some();
        memo.excluded.push((skill, found));
        found
    }

    /// The exclusion that takes the skill out.
    pub(super) fn exclusion_of(&self, reading: &Reading<'_>, memo: &mut Memo, skill: u32) -> Option<u32> {
        let record = self.skill(skill);
        let mut start = record.excludes_start;
        let end = start + record.excludes_len;
        while start < end {
            let found = self.first_on_either(reading, memo, start, end - start, 0)?;
            if !self.vetoed(reading, memo, found, 0) {
                return Some(found);
            }
            start = found + 1;
        }
        None
    }

    /// Whether a predicate holds for the form.
    fn predicate_holds(
        &self,
        reading: &Reading<'_>,
        memo: &mut Memo,
        predicate: u32,
        form: Form,
        depth: u32,
    ) -> bool {
        if depth > PREDICATE_DEPTH {
            return false;
        }
        let slot = usize::from(form != reading.written);
        let known =
            memo.predicates.get(slot).and_then(|known| known.iter().find(|(known, _)| *known == predicate));
        if let Some(&(_, holds)) = known {
            return holds;
        }
        let Some(record) = self.view.predicates.get(predicate as usize) else { return false };
        let mut holds =
            Computed::from_code(record.computed).is_some_and(|member| computed(reading, form, member));
        if !holds {
            self.gather_members(reading, memo, form, slot);
            let end = record.elements_start + record.elements_len;
            let member = |memo: &Memo, at: usize| {
                let known = memo.members.get(slot).and_then(|members| members.1.get(at).copied());
                known.filter(|&element| element < end)
            };
            let first = memo
                .members
                .get(slot)
                .map_or(0, |members| members.1.partition_point(|&element| element < record.elements_start));
            let mut at = first;
            while let Some(element) = member(memo, at).filter(|_| !holds) {
                holds = self.holds(reading, memo, element, form, false, depth + 1)
                    && !self.vetoed(reading, memo, element, depth + 1);
                at += 1;
            }
        }
        if let Some(known) = memo.predicates.get_mut(slot) {
            known.push((predicate, holds));
        }
        holds
    }

    /// Finds, once for a form, the members of predicates that its words let through.
    fn gather_members(&self, reading: &Reading<'_>, memo: &mut Memo, form: Form, slot: usize) {
        let Some((gathered, members)) = memo.members.get_mut(slot) else { return };
        if std::mem::replace(gathered, true) {
            return;
        }
        members.clear();
        self.candidates(reading, form, self.view.predicate_index, self.view.predicate_postings, |posting| {
            if self.passes(reading, form, posting) {
                members.push(posting.element);
            }
            true
        });
        let scalars = self.view.scalars;
        members.extend(self.view.id_range(scalars.predicate_always_start, scalars.predicate_always_len));
        members.sort_unstable();
        members.dedup();
    }

    fn best_keywords(
        &self,
        reading: &Reading<'_>,
        memo: &mut Memo,
        form: Form,
        tools: &ToolSet,
    ) -> Option<u32> {
        if !reading.hits.iter().any(|hit| hit.keyword) {
            return None;
        }
        let mut scores = std::mem::take(&mut memo.scores);
        keywords::score(&self.view, reading.tokens, reading.hits, form, &mut scores);
        let mut best: Option<Score> = None;
        for &score in &scores {
            let better = best.is_none_or(|best| (best.score, score.skill) < (score.score, best.skill));
            if better && self.usable(score.skill, tools) && !self.excluded(reading, memo, score.skill) {
                best = Some(score);
            }
        }
        memo.scores = scores;
        best.map(|score| score.skill)
    }

    /// `FILE:LINE` of an element.
    pub(super) fn place(&self, file: u32, line: u32) -> String {
        let name = self.view.files.get(file as usize).map_or("", |f| self.view.str(f.name_start, f.name_len));
        format!("{name}:{line}")
    }
}
