//! Library to artifact: vocabulary, phrases, automata, index, texts. Runs only on a library without errors.
#![deny(clippy::indexing_slicing)]

mod automaton;
mod index;
mod ir;
mod misspelled;
mod phrases;
mod texts;
mod vocabulary;

use std::collections::HashMap;

use skill_runtime::artifact::PackBuilder;
use skill_runtime::artifact::layout::{self, Named, Scalars};

use crate::library::{Element, Library, Matcher, Skill};
use crate::resolve::required_literal;
use crate::source::Span;

pub use phrases::WordCheck;
pub use texts::{ExemplarSlots, slots_in};
pub use vocabulary::Folding;

/// An artifact in the making: routing is complete, texts are not.
pub struct Lowered {
    builder: PackBuilder,
    /// Skills in routing order, as indexes into the library.
    order: Vec<usize>,
}

/// Lowers what routing needs.
#[must_use]
pub fn lower(library: &Library) -> Lowered {
    let folding = Folding::new(library);
    let mut order: Vec<usize> = (0..library.skills.len()).collect();
    order.sort_by(|&a, &b| {
        let key = |at: usize| library.skills.get(at).map(|s| (std::cmp::Reverse(s.priority), &s.name.text));
        key(a).cmp(&key(b))
    });
    let vocabulary = vocabulary::Vocabulary::new(library, &folding);
    let mut lowering = Lowering {
        library,
        builder: PackBuilder::default(),
        vocabulary,
        sets: HashMap::new(),
        templates: Vec::new(),
        files: Vec::new(),
    };
    let targets = lowering.vocabulary.targets();
    let misspellings = std::thread::scope(|scope| {
        let other = std::thread::Builder::new().spawn_scoped(scope, || targets.misspellings());
        lowering.run(&order);
        // Where no thread could be had, this one does it.
        other.ok().and_then(|other| other.join().ok()).unwrap_or_else(|| targets.misspellings())
    });
    lowering.builder.misspellings = misspellings;
    Lowered { builder: lowering.builder, order }
}

impl Lowered {
    /// An artifact that routes but holds no texts yet.
    #[must_use]
    pub fn routing_only(&self) -> Vec<u8> {
        let mut builder = self.builder.clone();
        texts::write_empty(&mut builder);
        builder.finish()
    }

    /// The whole artifact.
    #[must_use]
    pub fn finish(mut self, library: &Library, slots: &ExemplarSlots) -> Vec<u8> {
        texts::write(&mut self.builder, library, &self.order, slots);
        self.builder.finish()
    }

    /// Skills in routing order, as indexes into the library.
    #[must_use]
    pub fn order(&self) -> &[usize] {
        &self.order
    }
}

struct Lowering<'l> {
    library: &'l Library,
    builder: PackBuilder,
    vocabulary: vocabulary::Vocabulary,
    /// Sets of token ids that are in the pool already.
    sets: HashMap<Vec<u32>, (u32, u32)>,
    /// What each template needs, by number of the template.
    templates: Vec<index::Needs>,
    /// Numbers of source files in the artifact, by number in the library.
    files: Vec<u32>,
}

impl Lowering<'_> {
    fn run(&mut self, order: &[usize]) {
        let library = self.library;
        for file in &library.files {
            let name = self.builder.string(&file.name);
            self.files.push(self.builder.files.len() as u32);
            self.builder.files.push(Named { name_start: name.start, name_len: name.len });
        }
        for tool in &library.tools {
            let name = self.builder.string(&tool.declaration.name);
            self.builder.tools.push(Named { name_start: name.start, name_len: name.len });
        }
        for language in &library.languages {
            let name = self.builder.string(&language.name);
            let letters: String = language.spelling.iter().map(|(from, _)| *from).collect();
            let letters = self.builder.string(&letters.to_lowercase());
            self.builder.languages.push(layout::Language {
                name_start: name.start,
                name_len: name.len,
                letters_start: letters.start,
                letters_len: letters.len,
            });
        }
        let skills: Vec<&Skill> = order.iter().filter_map(|&at| library.skills.get(at)).collect();
        let triggers: Vec<(&Element, u32)> = skills
            .iter()
            .enumerate()
            .flat_map(|(number, skill)| skill.triggers.iter().map(move |trigger| (trigger, number as u32)))
            .collect();
        let (_, trigger_count) = self.elements(&triggers);
        let mut next = 0;
        for (number, skill) in skills.iter().enumerate() {
            let owner = number as u32;
            let triggers_len = skill.triggers.len() as u32;
            let excludes = self.list(&skill.excludes, owner);
            let follows = self.list(&skill.follows, owner);
            let fallbacks = self.list(&skill.fallbacks, owner);
            let name = self.builder.string(&skill.name.text);
            let tools: Option<Vec<u32>> = skill.tools.as_ref().map(|tools| {
                tools
                    .iter()
                    .filter_map(|tool| {
                        library.tools.iter().position(|known| known.declaration.name == tool.text)
                    })
                    .map(|at| at as u32)
                    .collect()
            });
            let (tools_start, tools_len) = match &tools {
                Some(tools) => self.builder.id_range(tools),
                None => (0, layout::NONE),
            };
            let (openings_start, openings_len) = texts::openings(&mut self.builder, library, skill);
            self.builder.skills.push(layout::Skill {
                name_start: name.start,
                name_len: name.len,
                priority: skill.priority,
                carry: skill.carry,
                tools_start,
                tools_len,
                triggers_start: next,
                triggers_len,
                excludes_start: excludes.0,
                excludes_len: excludes.1,
                follows_start: follows.0,
                follows_len: follows.1,
                fallbacks_start: fallbacks.0,
                fallbacks_len: fallbacks.1,
                openings_start,
                openings_len,
                cold_start: 0,
                cold_len: 0,
            });
            next += triggers_len;
        }
        self.predicates();
        self.hosts();
        let lists = phrases::referenced_lists(library);
        phrases::write(&mut self.builder, library, &mut self.vocabulary, &skills, &self.files, &lists);
        self.vocabulary.write(&mut self.builder);
        let expressions =
            self.builder.slots.iter().any(|slot| slot.kind == layout::SlotKind::Expression as u32);
        self.builder.scalars =
            Scalars { triggers: trigger_count, expressions: u32::from(expressions), ..self.builder.scalars };
        let needs = std::mem::take(&mut self.templates);
        index::write(&mut self.builder, &needs, trigger_count);
    }

    fn list(&mut self, elements: &[Element], owner: u32) -> (u32, u32) {
        let owned: Vec<(&Element, u32)> = elements.iter().map(|element| (element, owner)).collect();
        self.elements(&owned)
    }

    /// Writes a list of elements in one range, and behind it the vetoes of each.
    fn elements(&mut self, elements: &[(&Element, u32)]) -> (u32, u32) {
        let start = self.builder.elements.len();
        self.builder.elements.resize(start + elements.len(), layout::Element::default());
        for (offset, (element, owner)) in elements.iter().enumerate() {
            let (kind, target) = self.matcher(&element.matcher);
            let vetoes: Vec<(&Element, u32)> = element.unless.iter().map(|veto| (veto, *owner)).collect();
            let (unless_start, unless_len) = if vetoes.is_empty() { (0, 0) } else { self.elements(&vetoes) };
            let (file, line) = self.place(element.span);
            let label = element.label.as_ref().map(|label| self.builder.string(&label.text));
            let source = self.builder.string(element.matcher.source());
            if let Some(record) = self.builder.elements.get_mut(start + offset) {
                *record = layout::Element {
                    kind,
                    target,
                    unless_start,
                    unless_len,
                    owner: *owner,
                    file,
                    line,
                    label_start: label.map_or(0, |label| label.start),
                    label_len: label.map_or(layout::NONE, |label| label.len),
                    source_start: source.start,
                    source_len: source.len,
                };
            }
        }
        (start as u32, elements.len() as u32)
    }

    fn place(&self, span: Span) -> (u32, u32) {
        let file = self.files.get(span.file as usize).copied().unwrap_or_default();
        (file, self.library.line(span))
    }

    fn matcher(&mut self, matcher: &Matcher) -> (u32, u32) {
        match matcher {
            Matcher::Template(template) => {
                let ir = ir::lower(self.library, &self.vocabulary, template);
                let number = self.builder.templates.len() as u32;
                self.templates.push(index::Needs::of(&ir.root, ir.start));
                automaton::write(&mut self.builder, &mut self.sets, &ir);
                (layout::ELEMENT_TEMPLATE, number)
            }
            Matcher::Regex(source, _) => (layout::ELEMENT_REGEX, self.regex(source)),
            Matcher::Predicate(name) => {
                let at = self.library.predicates.get_index_of(&name.text);
                (layout::ELEMENT_PREDICATE, at.unwrap_or_default() as u32)
            }
        }
    }

    fn regex(&mut self, source: &str) -> u32 {
        let literal = self.builder.string(&required_literal(source));
        let text = self.builder.string(source);
        self.builder.regexes.push(layout::Regex {
            source_start: text.start,
            source_len: text.len,
            literal_start: literal.start,
            literal_len: literal.len,
        });
        self.builder.regexes.len() as u32 - 1
    }

    fn predicates(&mut self) {
        for (number, (name, predicate)) in self.library.predicates.iter().enumerate() {
            let (elements_start, elements_len) = self.list(&predicate.elements, number as u32);
            let name = self.builder.string(name);
            self.builder.predicates.push(layout::Predicate {
                name_start: name.start,
                name_len: name.len,
                elements_start,
                elements_len,
                computed: predicate.computed.map_or(layout::NONE, |member| member as u32),
            });
        }
    }

    fn hosts(&mut self) {
        for host in &self.library.hosts {
            let name = self.builder.string(&host.name);
            let task = host.task.as_ref().map_or(layout::NONE, |source| self.regex(source));
            let envelope = host.envelope.as_ref().map_or(layout::NONE, |source| self.regex(source));
            self.builder.hosts.push(layout::Host {
                name_start: name.start,
                name_len: name.len,
                task,
                envelope,
            });
        }
    }
}
