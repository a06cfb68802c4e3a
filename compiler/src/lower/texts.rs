//! Writes what prompts and replies read: texts of skills, tools, languages; opening calls.

use std::collections::HashMap;

use serde_json::Value;
use skill_runtime::artifact::layout::{Opening, OpeningArgument};
use skill_runtime::artifact::{
    Argument, Assistant, Exemplar, ExemplarCall, HostText, LanguageText, LibraryText, PackBuilder,
    ParameterType, SkillText, ToolOrigin,
};

use crate::library::{Library, Skill};
use crate::syntax::ast::{Call, Scalar};

/// What routing an exemplar's own message bound: slots and language, by skill and exemplar.
#[derive(Debug, Default)]
pub struct ExemplarSlots {
    /// Slots by name.
    pub slots: HashMap<(usize, usize), HashMap<String, String>>,
    /// Language of the message.
    pub languages: HashMap<(usize, usize), String>,
}

impl ExemplarSlots {
    /// Texts of a skill by its number in the library.
    #[must_use]
    pub fn skill(&self, library: &Library, number: usize) -> SkillText {
        library.skills.get(number).map(|skill| skill_text(library, skill, number, self)).unwrap_or_default()
    }
}

pub(super) fn openings(builder: &mut PackBuilder, library: &Library, skill: &Skill) -> (u32, u32) {
    let start = builder.openings.len() as u32;
    for call in &skill.openings {
        let tool = library.tools.iter().position(|tool| tool.declaration.name == call.name.text);
        let arguments_start = builder.opening_arguments.len() as u32;
        for (parameter, value) in &call.arguments {
            let name = builder.string(&parameter.text);
            let number = tool
                .and_then(|tool| library.tools.get(tool))
                .and_then(|tool| {
                    tool.declaration.parameters.iter().find(|known| known.name == parameter.text)
                })
                .is_some_and(|known| known.kind == ParameterType::Number);
            let (kind, text) = match value {
                Scalar::Word(word) if word.text == "message" => (1, "message".to_owned()),
                Scalar::Word(word) if word.text != "true" && word.text != "false" => {
                    (if number { 3 } else { 0 }, word.text.clone())
                }
                Scalar::Text(text) if !slots_in(&text.value).is_empty() => (4, text.value.clone()),
                other => (2, json(other).to_string()),
            };
            let value = builder.string(&text);
            builder.opening_arguments.push(OpeningArgument {
                name_start: name.start,
                name_len: name.len,
                kind,
                value_start: value.start,
                value_len: value.len,
            });
        }
        builder.openings.push(Opening {
            tool: tool.unwrap_or_default() as u32,
            arguments_start,
            arguments_len: call.arguments.len() as u32,
        });
    }
    (start, builder.openings.len() as u32 - start)
}

/// Slots that a text argument of an opening names: `"{a} * {b}"`.
pub fn slots_in(text: &str) -> Vec<&str> {
    let names = text.split('{').skip(1).filter_map(|part| part.split_once('}').map(|(name, _)| name));
    names
        .filter(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-".contains(c)))
        .collect()
}

/// A literal as JSON, by its form.
fn json(value: &Scalar) -> Value {
    match value {
        Scalar::Text(text) | Scalar::Regex(text) => text.value.clone().into(),
        Scalar::Number(number) => serde_json::from_str(&number.text).unwrap_or(Value::Null),
        Scalar::Word(word) => match word.text.as_str() {
            "true" => true.into(),
            "false" => false.into(),
            other => other.into(),
        },
        Scalar::Call(_) => Value::Null,
    }
}

/// Empty texts, so that an artifact can be loaded before they are known.
pub(super) fn write_empty(builder: &mut PackBuilder) {
    let empty = builder.cold_json(&to_json(&LibraryText::default()));
    (builder.scalars.library_start, builder.scalars.library_len) = empty;
    let empty = builder.cold_json(&to_json(&SkillText::default()));
    for skill in &mut builder.skills {
        (skill.cold_start, skill.cold_len) = empty;
    }
}

pub(super) fn write(builder: &mut PackBuilder, library: &Library, order: &[usize], slots: &ExemplarSlots) {
    let text = to_json(&library_text(library));
    (builder.scalars.library_start, builder.scalars.library_len) = builder.cold_json(&text);
    for (number, &at) in order.iter().enumerate() {
        let Some(skill) = library.skills.get(at) else { continue };
        let range = builder.cold_json(&to_json(&skill_text(library, skill, at, slots)));
        if let Some(record) = builder.skills.get_mut(number) {
            (record.cold_start, record.cold_len) = range;
        }
    }
}

fn to_json<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}

fn library_text(library: &Library) -> LibraryText {
    LibraryText {
        tools: library.tools.iter().map(|tool| tool.declaration.clone()).collect(),
        languages: library
            .languages
            .iter()
            .map(|language| LanguageText {
                name: language.name.clone(),
                replies: language.replies.clone(),
                rule: language.rule.clone().unwrap_or_default(),
                letters: language.spelling.iter().map(|(from, _)| *from).collect(),
            })
            .collect(),
        assistant: Assistant { base: library.assistant.clone() },
        hosts: library.hosts.iter().map(|host| HostText { name: host.name.clone() }).collect(),
        tests: library
            .tests
            .iter()
            .flat_map(|test| &test.cases)
            .map(|case| case.turns.iter().map(|turn| turn.message.value.clone()).collect())
            .collect(),
    }
}

fn skill_text(library: &Library, skill: &Skill, number: usize, slots: &ExemplarSlots) -> SkillText {
    let exemplars = skill
        .exemplars
        .iter()
        .enumerate()
        .map(|(at, exemplar)| {
            let bound = slots.slots.get(&(number, at));
            Exemplar {
                label: exemplar.label.as_ref().map(|label| label.text.clone()),
                language: slots.languages.get(&(number, at)).cloned(),
                message: exemplar.message.clone(),
                calls: exemplar
                    .steps
                    .iter()
                    .map(|(call, result)| ExemplarCall {
                        tool: call.name.text.clone(),
                        arguments: arguments(library, call, bound),
                        result: result.clone(),
                    })
                    .collect(),
                answer: exemplar.answer.clone(),
            }
        })
        .collect();
    SkillText {
        description: skill.description.clone(),
        answer: skill
            .answer
            .as_ref()
            .map_or_else(|| default_answer(library, skill), |name| name.text.clone()),
        answer_else: skill.answer_else.as_ref().map(|name| name.text.clone()),
        tool_choice: skill.tool_choice.as_ref().map_or_else(|| "auto".to_owned(), |name| name.text.clone()),
        strategy: skill.strategy.clone(),
        cite: skill.cite.clone(),
        guidance: skill.guidance.as_ref().map(|(text, _)| text.clone()).unwrap_or_default(),
        exemplars,
    }
}

/// `grounded` when the list is non-empty and all its tools are sourced, else `free`.
pub(crate) fn default_answer(library: &Library, skill: &Skill) -> String {
    let listed = skill.tools.as_deref().unwrap_or_default();
    let sourced = listed.iter().all(|name| {
        library
            .tools
            .iter()
            .any(|tool| tool.declaration.name == name.text && tool.declaration.origin == ToolOrigin::Sourced)
    });
    if !listed.is_empty() && sourced { "grounded" } else { "free" }.to_owned()
}

fn arguments(library: &Library, call: &Call, bound: Option<&HashMap<String, String>>) -> Vec<Argument> {
    let tool = library.tools.iter().find(|tool| tool.declaration.name == call.name.text);
    call.arguments
        .iter()
        .map(|(name, value)| {
            let kind = tool
                .and_then(|tool| {
                    tool.declaration.parameters.iter().find(|parameter| parameter.name == name.text)
                })
                .map(|parameter| &parameter.kind);
            let slot = match value {
                Scalar::Word(word) => bound.and_then(|bound| bound.get(&word.text)),
                _ => None,
            };
            let value = match slot {
                Some(text) if kind == Some(&ParameterType::Number) => {
                    serde_json::from_str(text).unwrap_or_else(|_| text.clone().into())
                }
                Some(text) => text.clone().into(),
                None => json(value),
            };
            Argument { name: name.text.clone(), value }
        })
        .collect()
}
