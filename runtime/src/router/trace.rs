//! What happened on the way to a route, for a person: each stage, each skill, and what stood in its way.

use serde::Serialize;

use super::flags;
use super::mask::MaskKind;
use super::matcher::Form;
use super::route::{Route, Stage, State, ToolSet};
use super::stages::{Found, Memo, Reading, Router, Scratch};
use crate::artifact::layout::{ELEMENT_PREDICATE, NONE};

/// A replayable account of one decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trace {
    /// The message as written, from its first to its last token.
    pub written: String,
    /// The message without its lead-in.
    pub bare: Option<String>,
    /// Ranges that were not read, with the reason.
    pub masks: Vec<(String, (u32, u32))>,
    /// Misspelled words, as written, and what they are read as.
    pub read_as: Vec<(String, String)>,
    /// Stages in order, up to the one that decided.
    pub stages: Vec<StageReport>,
    /// Skills of the same priority that the same stage would have taken too.
    pub tied: Vec<String>,
    /// Slots that stood unbound in openings that could not be made.
    pub missing: Vec<String>,
}

/// One stage on one form.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageReport {
    /// The stage.
    pub stage: Stage,
    /// It ran on the message without its lead-in.
    pub bare: bool,
    /// Skills that matched, in the order of precedence.
    pub skills: Vec<SkillReport>,
    /// Why the stage yielded nothing, when no skill says so.
    pub note: Option<String>,
}

/// A skill that a stage considered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkillReport {
    /// The skill.
    pub skill: String,
    /// `FILE:LINE` of what matched.
    pub at: String,
    /// The pattern, keyword or predicate as written.
    pub matched: String,
    /// The words of the message that it took.
    pub evidence: String,
    /// What stood in its way: `excluded by FILE:LINE`, `unless FILE:LINE`, `its tools cannot run`.
    pub barred: Option<String>,
}

impl Router<'_> {
    /// Says for each stage which skills matched and what barred them. Slower than routing: it tries everything.
    pub fn trace(
        &self,
        scratch: &mut Scratch,
        state: State,
        message: &str,
        tools: &ToolSet,
    ) -> (Route, Trace) {
        let route = self.route(scratch, state, message, tools);
        let mut trace = Trace {
            written: message.to_owned(),
            bare: None,
            masks: Vec::new(),
            read_as: Vec::new(),
            stages: Vec::new(),
            tied: Vec::new(),
            missing: route.missing.clone(),
        };
        if route.decision.stage == Stage::Task {
            return (route, trace);
        }
        let (reading, memo) = self.read(scratch, message);
        let text = |form: Form| reading.slice(reading.span(form.start, form.end)).to_owned();
        let written = reading.written;
        trace.written = text(written);
        trace.bare = reading.bare.map(text);
        trace.masks = reading
            .masks
            .iter()
            .map(|mask| {
                let kind = match mask.kind {
                    MaskKind::Pasted => "pasted",
                    MaskKind::Quote => "quotation, one word",
                    MaskKind::Envelope => "wrapper of the front end",
                };
                (kind.to_owned(), (mask.range.start as u32, mask.range.end as u32))
            })
            .collect();
        trace.read_as = self.read_as(&reading);
        let decided = (route.decision.stage, route.decision.opener);
        'stages: {
            for (form, bare) in [(Some(reading.written), false), (reading.bare, true)] {
                let Some(form) = form else { continue };
                trace.stages.push(self.trigger_report(&reading, memo, form, bare, tools));
                if decided == (Stage::Trigger, bare) {
                    break 'stages;
                }
                trace.stages.push(self.keyword_report(&reading, memo, form, bare, tools));
                if decided == (Stage::Keyword, bare) {
                    break 'stages;
                }
            }
            trace.stages.push(self.carry_report(&reading, memo, state, tools));
            if decided.0 == Stage::CarryOver {
                break 'stages;
            }
            let (form, bare) = reading.bare.map_or((reading.written, false), |bare| (bare, true));
            trace.stages.push(self.fallback_report(&reading, memo, form, bare, tools));
        }
        if let (Some(skill), Some(last)) = (route.decision.skill, trace.stages.last()) {
            let priority = self.skill(skill).priority;
            let name = self.skill_name(skill);
            let same = |other: &str| {
                let number = self.pack.skill_names().iter().position(|known| *known == other);
                number.is_some_and(|number| self.skill(number as u32).priority == priority)
            };
            if matches!(route.decision.stage, Stage::Trigger | Stage::Fallback) {
                for report in &last.skills {
                    let free = report.barred.is_none() && report.skill != name && same(&report.skill);
                    if free && !trace.tied.contains(&report.skill) {
                        trace.tied.push(report.skill.clone());
                    }
                }
            }
        }
        (route, trace)
    }

    fn read_as(&self, reading: &Reading<'_>) -> Vec<(String, String)> {
        let misspelled = reading.tokens.iter().filter(|token| token.has(flags::MISSPELLED));
        // The words of one that expands come one by one, each with the place of the whole.
        let mut read: Vec<((u32, u32), String)> = Vec::new();
        for token in misspelled {
            let prefix = || self.view.prefixes.iter().find(|prefix| prefix.id == token.id);
            let word = match self.view.word(token.id) {
                Some(word) => word.to_owned(),
                None => prefix().map_or_else(String::new, |p| format!("{}…", self.view.str(p.start, p.len))),
            };
            match read.last_mut().filter(|(span, _)| *span == (token.start, token.end)) {
                Some((_, words)) => *words = format!("{words} {word}"),
                None => read.push(((token.start, token.end), word)),
            }
        }
        read.into_iter().map(|(span, words)| (reading.slice(span).to_owned(), words)).collect()
    }

    fn barred(
        &self,
        reading: &Reading<'_>,
        memo: &mut Memo,
        element: u32,
        skill: u32,
        tools: &ToolSet,
    ) -> Option<String> {
        if element != NONE
            && let Some(veto) = self.veto_of(reading, memo, element, 0)
        {
            return Some(format!("unless {}", self.named(reading, memo, veto)));
        }
        if let Some(exclusion) = self.exclusion_of(reading, memo, skill) {
            return Some(format!("excluded by {}", self.named(reading, memo, exclusion)));
        }
        (!self.usable(skill, tools)).then(|| "none of its tools can run".to_owned())
    }

    /// What an element says and where it stands; of a predicate the member that holds.
    pub(super) fn named(&self, reading: &Reading<'_>, memo: &mut Memo, element: u32) -> String {
        let record = self.element(element);
        let at = self.place(record.file, record.line);
        let source = self.view.str(record.source_start, record.source_len);
        if record.kind != ELEMENT_PREDICATE {
            return format!("{source:?} at {at}");
        }
        let predicate = self.view.predicates.get(record.target as usize).copied().unwrap_or_default();
        let mut members = predicate.elements_start..predicate.elements_start + predicate.elements_len;
        let member = members.find(|&member| {
            [Some(reading.written), reading.bare].into_iter().flatten().any(|form| {
                self.holds(reading, memo, member, form, false, 1) && !self.vetoed(reading, memo, member, 1)
            })
        });
        match member {
            Some(member) => format!("{source} ({}) at {at}", self.named(reading, memo, member)),
            None => format!("{source} at {at}"),
        }
    }

    fn report(
        &self,
        reading: &Reading<'_>,
        memo: &mut Memo,
        element: u32,
        skill: u32,
        form: Form,
        tools: &ToolSet,
    ) -> Option<SkillReport> {
        let span = match self.find(reading, memo, element, form, true)? {
            Found::Template(found) => reading.span(found.start, found.end),
            Found::Regex(found) => found.span,
            Found::Predicate => reading.span(form.first, form.last),
        };
        let record = self.element(element);
        Some(SkillReport {
            skill: self.skill_name(skill),
            at: self.place(record.file, record.line),
            matched: self.view.str(record.source_start, record.source_len).to_owned(),
            evidence: reading.slice(span).to_owned(),
            barred: self.barred(reading, memo, element, skill, tools),
        })
    }

    fn trigger_report(
        &self,
        reading: &Reading<'_>,
        memo: &mut Memo,
        form: Form,
        bare: bool,
        tools: &ToolSet,
    ) -> StageReport {
        let triggers = 0..self.view.scalars.triggers;
        let skills = triggers
            .filter_map(|element| {
                self.report(reading, memo, element, self.element(element).owner, form, tools)
            })
            .collect();
        StageReport { stage: Stage::Trigger, bare, skills, note: None }
    }

    fn keyword_report(
        &self,
        reading: &Reading<'_>,
        memo: &mut Memo,
        form: Form,
        bare: bool,
        tools: &ToolSet,
    ) -> StageReport {
        let mut scores = Vec::new();
        super::keywords::score(&self.view, reading.tokens, reading.hits, form, &mut scores);
        scores.sort_by_key(|score| (std::cmp::Reverse(score.score), score.skill));
        let mut skills = Vec::new();
        for score in &scores {
            for hit in reading.hits.iter().filter(|hit| super::keywords::counts(hit, reading.tokens, form)) {
                let Some(keyword) = self.view.keywords.get(hit.target as usize) else { continue };
                if keyword.skill == score.skill {
                    skills.push(SkillReport {
                        skill: self.skill_name(score.skill),
                        at: self.place(keyword.file, keyword.line),
                        matched: format!(
                            "{} ({}.{:03})",
                            self.view.str(keyword.text_start, keyword.text_len),
                            keyword.weight / 1000,
                            keyword.weight % 1000
                        ),
                        evidence: reading
                            .slice(reading.span(hit.start as usize, hit.end as usize))
                            .to_owned(),
                        barred: self.barred(reading, memo, NONE, score.skill, tools),
                    });
                }
            }
        }
        let weak = scores.is_empty()
            && reading.hits.iter().any(|hit| super::keywords::counts(hit, reading.tokens, form));
        let note = weak.then(|| "a lone one-word keyword in a long statement does not count".to_owned());
        StageReport { stage: Stage::Keyword, bare, skills, note }
    }

    fn carry_report(
        &self,
        reading: &Reading<'_>,
        memo: &mut Memo,
        state: State,
        tools: &ToolSet,
    ) -> StageReport {
        let mut report = StageReport { stage: Stage::CarryOver, bare: false, skills: Vec::new(), note: None };
        let Some(resident) = state.resident.filter(|&skill| (skill as usize) < self.view.skills.len()) else {
            report.note = Some("no skill is resident".to_owned());
            return report;
        };
        let limit = self.skill(resident).carry;
        let follow_up = super::follow_up::is_follow_up(reading.tokens, reading.hits, reading.written);
        let barred = if u32::from(state.carried) >= limit {
            Some(format!("carried {} of {limit} times already", state.carried))
        } else if !follow_up {
            Some("the message is no follow-up".to_owned())
        } else {
            self.barred(reading, memo, NONE, resident, tools)
        };
        report.skills.push(SkillReport {
            skill: self.skill_name(resident),
            at: String::new(),
            matched: "resident".to_owned(),
            evidence: reading.slice(reading.span(reading.written.first, reading.written.last)).to_owned(),
            barred,
        });
        report
    }

    fn fallback_report(
        &self,
        reading: &Reading<'_>,
        memo: &mut Memo,
        form: Form,
        bare: bool,
        tools: &ToolSet,
    ) -> StageReport {
        let mut skills = Vec::new();
        let mut any = false;
        for (number, skill) in self.view.skills.iter().enumerate() {
            for element in skill.fallbacks_start..skill.fallbacks_start + skill.fallbacks_len {
                any = true;
                skills.extend(self.report(reading, memo, element, number as u32, form, tools));
            }
        }
        let note = (!any).then(|| "no skill declares a fallback".to_owned());
        StageReport { stage: Stage::Fallback, bare, skills, note }
    }
}
