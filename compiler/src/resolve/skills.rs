//! Skill items.

use super::Resolver;
use crate::diagnostics::{self as codes, Diagnostic, suggestion};
use crate::library::{Exemplar, Skill};
use crate::source::Span;
use crate::syntax::ast::{self, Field, Name, Scalar, Value};

/// Keys of a skill.
const SKILL_KEYS: [&str; 15] = [
    "description",
    "priority",
    "carry",
    "answer",
    "tool_choice",
    "strategy",
    "cite",
    "guidance",
    "tools",
    "opening",
    "trigger",
    "follow",
    "keywords",
    "exclude",
    "fallback",
];
/// Keys that may repeat; their values add up.
const LIST_KEYS: [&str; 7] = ["tools", "opening", "trigger", "follow", "keywords", "exclude", "fallback"];
const ANSWERS: [&str; 4] = ["free", "grounded", "quote", "exemplar"];
const STRATEGIES: [&str; 4] = ["baseline", "capped", "routed", "verbose"];
const CITES: [&str; 3] = ["auto", "required", "none"];

impl Resolver<'_> {
    pub(super) fn skill(&mut self, item: ast::Skill) {
        let Some(name) = item.name.clone() else {
            self.missing_name(item.head, "skill");
            return;
        };
        if self.reserved(&name) {
            return;
        }
        if let Some(&first) = self.skill_places.get(&name.text) {
            self.report(
                Diagnostic::new(
                    codes::DUPLICATE_ITEM,
                    name.span,
                    format!("skill `{}` is declared twice", name.text),
                )
                .related(first, "first declared here")
                .help("delete one, or give it another name"),
            );
            return;
        }
        self.skill_places.insert(name.text.clone(), name.span);
        let mut skill = Skill { damaged: item.damaged, ..Skill::named(name.clone()) };
        let mut seen = Vec::new();
        for field in &item.fields {
            let key = field.key.text.as_str();
            let known = SKILL_KEYS.contains(&key);
            if known && !LIST_KEYS.contains(&key) && !self.once(&mut seen, &field.key) {
                continue;
            }
            let before = self.diagnostics.len();
            self.skill_field(&mut skill, field);
            let routes = ["trigger", "follow", "keywords", "fallback"].contains(&key);
            skill.damaged |= routes && self.diagnostics.len() > before;
        }
        if skill.description.trim().is_empty()
            && !item.damaged
            && !seen.iter().any(|(key, _)| key == "description")
        {
            self.report(
                Diagnostic::new(
                    codes::MISSING_KEY,
                    name.span,
                    format!("skill `{}` has no description", name.text),
                )
                .help("add `description: \"…\"`, one line on what it is for; it never routes"),
            );
        }
        for exemplar in item.exemplars {
            self.exemplar(&mut skill, exemplar);
        }
        self.library.skills.push(skill);
    }

    fn skill_field(&mut self, skill: &mut Skill, field: &Field) {
        match field.key.text.as_str() {
            "description" => {
                if let Some(text) = self.text(field) {
                    if text.value.trim().is_empty() {
                        self.report(
                            Diagnostic::new(codes::BLANK_PATTERN, text.span, "the description is blank")
                                .help("say in one line what the skill is for"),
                        );
                    }
                    skill.description = text.value;
                }
            }
            "priority" => skill.priority = self.number(field, 0, 100).unwrap_or_default(),
            "carry" => skill.carry = self.number(field, 0, 9).unwrap_or(2),
            "answer" => {
                if let Value::Single(element, otherwise) = &field.value {
                    let plain = Field { value: Value::Single(element.clone(), None), ..field.clone() };
                    skill.answer = self.word(&plain, &ANSWERS);
                    skill.answer_else = otherwise.clone();
                    let exemplar = skill.answer.as_ref().is_some_and(|answer| answer.text == "exemplar");
                    if let Some(name) = otherwise {
                        if !exemplar {
                            self.misplaced(
                                name.span,
                                "`else` belongs behind `answer: exemplar` only".to_owned(),
                            );
                        } else if !["free", "grounded", "quote"].contains(&name.text.as_str()) {
                            self.report(
                                Diagnostic::new(
                                    codes::UNKNOWN_VALUE,
                                    name.span,
                                    format!("`{}` is no mode behind `else`", name.text),
                                )
                                .help(suggestion(
                                    &name.text,
                                    ["free", "grounded", "quote"],
                                    "values",
                                )),
                            );
                        }
                    }
                } else {
                    self.plain(field);
                }
            }
            "tool_choice" => match self.plain(field) {
                Some(Scalar::Word(name)) => skill.tool_choice = Some(name.clone()),
                Some(other) => {
                    let (span, found) = (other.span(), other.describe());
                    self.wrong_type(span, "tool_choice", "auto, required, none or a tool", found);
                }
                None => {}
            },
            "strategy" => {
                if let Some(name) = self.word(field, &STRATEGIES) {
                    skill.strategy = name.text;
                }
            }
            "cite" => {
                if let Some(name) = self.word(field, &CITES) {
                    skill.cite = name.text;
                }
            }
            "guidance" => {
                if let Some(text) = self.text(field) {
                    skill.guidance = Some((text.value.trim().to_owned(), text.span));
                }
            }
            "tools" => self.tools(skill, field),
            "opening" => {
                self.no_label(field);
                for element in self.elements(field) {
                    self.no_unless(element, "opening");
                    match &element.scalar {
                        Scalar::Call(call) => skill.openings.push(call.clone()),
                        other => self.wrong_type(other.span(), "opening", "calls", other.describe()),
                    }
                }
            }
            "trigger" => skill.triggers.extend(self.matchers(field)),
            "follow" => {
                self.no_label(field);
                skill.follows.extend(self.matchers(field));
            }
            "keywords" => {
                for text in self.strings(field) {
                    if text.value.chars().any(char::is_alphanumeric) {
                        skill.keywords.push((text.value, text.span));
                    } else if text.value.contains(char::REPLACEMENT_CHARACTER) {
                        // A bad escape, which was reported.
                        skill.damaged = true;
                    } else {
                        self.report(
                            Diagnostic::new(codes::BLANK_PATTERN, text.span, "this keyword is blank")
                                .help("a keyword is one or more words"),
                        );
                    }
                }
            }
            "exclude" => {
                self.no_label(field);
                skill.excludes.extend(self.matchers(field));
            }
            "fallback" => {
                self.no_label(field);
                skill.fallbacks.extend(self.matchers(field));
            }
            _ => self.unknown_key(&field.key, "a skill", SKILL_KEYS.into_iter().chain(["exemplar"])),
        }
    }

    fn tools(&mut self, skill: &mut Skill, field: &Field) {
        self.no_label(field);
        let before = skill.tools.take();
        let elements = self.elements(field);
        if before.as_ref().is_some_and(|before| before.is_empty() != elements.is_empty()) {
            self.report(
                Diagnostic::new(
                    codes::DUPLICATE_KEY,
                    field.key.span,
                    "`tools: []` and a list of tools contradict each other",
                )
                .help("delete one: `[]` lets the skill use no tool at all"),
            );
        }
        let mut names: Vec<Name> = before.unwrap_or_default();
        for element in elements {
            self.no_unless(element, "tools");
            match &element.scalar {
                Scalar::Word(name) if name.text == "none" => self.tools_none(name.span),
                Scalar::Word(name) => {
                    if let Some(known) = names.iter().find(|known| known.text == name.text) {
                        self.report(
                            Diagnostic::new(
                                codes::DUPLICATE_KEY,
                                name.span,
                                format!("tool `{}` is listed twice", name.text),
                            )
                            .related(known.span, "first listed here")
                            .help("delete one"),
                        );
                    } else {
                        names.push(name.clone());
                    }
                }
                other => self.wrong_type(other.span(), "tools", "names of tools", other.describe()),
            }
        }
        skill.tools = Some(names);
    }

    fn tools_none(&mut self, span: Span) {
        self.report(
            Diagnostic::new(codes::TOOLS_NONE, span, "`tools: none` is not how a skill goes without tools")
                .help("write `tools: []`; without the line the skill may use every tool"),
        );
    }

    fn exemplar(&mut self, skill: &mut Skill, item: ast::Exemplar) {
        let mut answer = None;
        let mut seen = Vec::new();
        for field in &item.fields {
            if field.key.text == "answer" {
                if self.once(&mut seen, &field.key) {
                    answer = self.text(field);
                }
            } else {
                self.unknown_key(&field.key, "an exemplar", ["answer"]);
            }
        }
        if item.message.value.trim().is_empty() {
            self.report(
                Diagnostic::new(
                    codes::BLANK_PATTERN,
                    item.message.span,
                    "the message of this exemplar is blank",
                )
                .help("write what a user would say"),
            );
        }
        if seen.is_empty() {
            self.report(
                Diagnostic::new(codes::MISSING_KEY, item.span, "this exemplar has no answer")
                    .help("add `answer: \"…\"`, what the assistant should say"),
            );
        }
        if let Some(label) = &item.label
            && let Some(known) =
                skill.exemplars.iter().filter_map(|e| e.label.as_ref()).find(|l| l.text == label.text)
        {
            let first = known.span;
            self.report(
                Diagnostic::new(
                    codes::DUPLICATE_ITEM,
                    label.span,
                    format!("two exemplars of `{}` are labelled `{}`", skill.name.text, label.text),
                )
                .related(first, "first used here")
                .help("give one another label"),
            );
        }
        skill.exemplars.push(Exemplar {
            label: item.label,
            message: item.message.value,
            steps: item.steps.into_iter().map(|(call, result)| (call, result.value)).collect(),
            answer: answer.map(|text| text.value).unwrap_or_default(),
            span: item.message.span,
        });
    }
}
