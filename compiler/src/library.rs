//! A library after names and types are settled: what `check` judges and `lower` writes.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use skill_runtime::artifact::layout::Computed;
use skill_runtime::artifact::{Reply, ToolDeclaration};

use crate::source::{LineIndex, Span};
use crate::syntax::ast::{Call, Name, Test};
use crate::syntax::pattern::Template;

/// A file, for places.
#[derive(Clone, Debug)]
pub struct FileInfo {
    /// As given.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Its lines.
    pub lines: LineIndex,
}

/// A library.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// Files, the author's first, then built-in ones.
    pub files: Vec<FileInfo>,
    /// Languages in the order declared.
    pub languages: Vec<Language>,
    /// Names of fragments that were not understood; what uses one cannot be judged.
    pub broken_fragments: BTreeSet<String>,
    /// Fragments by name.
    pub fragments: BTreeMap<String, Fragment>,
    /// Predicates by name in the order declared, computed ones first.
    pub predicates: IndexMap<String, Predicate>,
    /// Keys of predicate items, which name languages.
    pub language_keys: Vec<Name>,
    /// Tools in the order declared.
    pub tools: Vec<Tool>,
    /// The base prompt.
    pub assistant: String,
    /// Front ends.
    pub hosts: Vec<Host>,
    /// Skills in the order declared.
    pub skills: Vec<Skill>,
    /// Tests in the order declared.
    pub tests: Vec<Test>,
}

impl Library {
    /// `FILE:LINE` parts of a place.
    #[must_use]
    pub fn line(&self, span: Span) -> u32 {
        self.files.get(span.file as usize).map_or(0, |file| file.lines.line(span.start))
    }
}

/// A named fragment.
#[derive(Clone, Debug)]
pub struct Fragment {
    /// Its template.
    pub template: Template,
    /// Its name.
    pub span: Span,
}

/// Words of one language.
#[derive(Clone, Debug, Default)]
pub struct Language {
    /// Name.
    pub name: String,
    /// The item word.
    pub span: Option<Span>,
    /// Templates of each list, by number in `layout::LISTS`.
    pub lists: Vec<Vec<ListEntry>>,
    /// What each character may be spelled as.
    pub spelling: Vec<(char, String)>,
    /// Words that stand for others.
    pub expands: Vec<(String, String)>,
    /// Replies by key.
    pub replies: BTreeMap<String, Reply>,
    /// The sentence that sets the language of an answer.
    pub rule: Option<String>,
}

/// An entry of a word list.
#[derive(Clone, Debug)]
pub struct ListEntry {
    /// Its words.
    pub template: Template,
    /// `layout::role` of its phrases: `<asks>` behind a polite phrase, `^` and `$` of an operator.
    pub role: u32,
}

/// A predicate.
#[derive(Clone, Debug, Default)]
pub struct Predicate {
    /// Templates and expressions of all languages.
    pub elements: Vec<Element>,
    /// Languages that it says something for.
    pub languages: BTreeSet<String>,
    /// The member that code computes.
    pub computed: Option<Computed>,
    /// Where it was declared first.
    pub span: Option<Span>,
}

/// An entry of a trigger, exclude, fallback, follow or predicate list.
#[derive(Clone, Debug)]
pub struct Element {
    /// What matches.
    pub matcher: Matcher,
    /// What vetoes it.
    pub unless: Vec<Element>,
    /// Label of a trigger.
    pub label: Option<Name>,
    /// Place.
    pub span: Span,
}

/// What an element matches with.
#[derive(Clone, Debug)]
pub enum Matcher {
    /// A template.
    Template(Template),
    /// A regular expression: its source and its named groups.
    Regex(String, Vec<String>),
    /// A predicate.
    Predicate(Name),
}

impl Matcher {
    /// As written.
    #[must_use]
    pub fn source(&self) -> &str {
        match self {
            Self::Template(template) => &template.source,
            Self::Regex(source, _) => source,
            Self::Predicate(name) => &name.text,
        }
    }
}

/// A declared tool.
#[derive(Clone, Debug)]
pub struct Tool {
    /// As the runtime sees it.
    pub declaration: ToolDeclaration,
    /// Its name.
    pub span: Span,
}

/// A front end.
#[derive(Clone, Debug)]
pub struct Host {
    /// Name.
    pub name: String,
    /// Tells a task prompt.
    pub task: Option<String>,
    /// Tells a wrapper.
    pub envelope: Option<String>,
}

/// A skill.
#[derive(Clone, Debug)]
pub struct Skill {
    /// Name.
    pub name: Name,
    /// Description.
    pub description: String,
    /// 0 to 100.
    pub priority: u32,
    /// 0 to 9.
    pub carry: u32,
    /// None: no restriction.
    pub tools: Option<Vec<Name>>,
    /// Answer mode as written.
    pub answer: Option<Name>,
    /// Mode behind `else`.
    pub answer_else: Option<Name>,
    /// `auto`, `required`, `none` or a tool.
    pub tool_choice: Option<Name>,
    /// Strategy.
    pub strategy: String,
    /// Citation rule.
    pub cite: String,
    /// Guidance.
    pub guidance: Option<(String, Span)>,
    /// Triggers in file order.
    pub triggers: Vec<Element>,
    /// Follow templates.
    pub follows: Vec<Element>,
    /// Keywords as written.
    pub keywords: Vec<(String, Span)>,
    /// Exclusions.
    pub excludes: Vec<Element>,
    /// Fallback elements.
    pub fallbacks: Vec<Element>,
    /// Opening calls.
    pub openings: Vec<Call>,
    /// Worked examples.
    pub exemplars: Vec<Exemplar>,
    /// Something of it was not understood, so what seems to be missing may be there.
    pub damaged: bool,
}

impl Skill {
    /// A skill of which only the name is known.
    #[must_use]
    pub fn named(name: Name) -> Self {
        Self {
            name,
            description: String::new(),
            priority: 0,
            carry: 2,
            tools: None,
            answer: None,
            answer_else: None,
            tool_choice: None,
            strategy: "baseline".to_owned(),
            cite: "auto".to_owned(),
            guidance: None,
            triggers: Vec::new(),
            follows: Vec::new(),
            keywords: Vec::new(),
            excludes: Vec::new(),
            fallbacks: Vec::new(),
            openings: Vec::new(),
            exemplars: Vec::new(),
            damaged: false,
        }
    }
}

/// A worked example.
#[derive(Clone, Debug)]
pub struct Exemplar {
    /// Label.
    pub label: Option<Name>,
    /// Message.
    pub message: String,
    /// Calls with results.
    pub steps: Vec<(Call, String)>,
    /// Answer.
    pub answer: String,
    /// Its head.
    pub span: Span,
}
