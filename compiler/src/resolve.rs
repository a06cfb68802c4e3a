//! Tree to library: reads every key into its type, gathers items of one name, adds the built-in language items.
#![deny(clippy::indexing_slicing)]

mod fields;
mod items;
mod regexes;
mod skills;

use std::collections::BTreeMap;

use skill_runtime::artifact::layout::Computed;

use crate::diagnostics::{self as codes, Diagnostic};
use crate::library::{FileInfo, Library, Predicate};
use crate::limits::Limits;
use crate::source::{LineIndex, SourceFile, Span};
use crate::syntax::ast::{Block, BlockKind, Item};
use crate::syntax::{Parsed, parse};

pub use regexes::required_literal;

/// Language items and base prompt for libraries that declare none.
const BUILT_IN: [(&str, &str); 3] = [
    ("<built-in>/lang/de.skill", include_str!("../../skills/lang/de.skill")),
    ("<built-in>/lang/en.skill", include_str!("../../skills/lang/en.skill")),
    ("<built-in>/assistant.skill", include_str!("embedded/assistant.skill")),
];

/// Names that no skill can have: tests and values use them.
const RESERVED: [&str; 3] = ["none", "not", "all"];

/// Resolves a library.
#[must_use]
pub fn resolve(files: &[SourceFile], limits: &Limits) -> (Library, Vec<Diagnostic>) {
    let mut resolver = Resolver {
        limits,
        library: Library::default(),
        diagnostics: Vec::new(),
        skill_places: BTreeMap::new(),
        tool_places: BTreeMap::new(),
        assistant_place: None,
    };
    for (name, member) in Computed::ALL {
        let predicate = Predicate { computed: Some(member), ..Predicate::default() };
        resolver.library.predicates.insert(name.to_owned(), predicate);
    }
    for source in files {
        let items = resolver.file(source);
        for item in items {
            resolver.item(item);
        }
    }
    resolver.add_built_in();
    resolver.missing_replies();
    (resolver.library, resolver.diagnostics)
}

struct Resolver<'l> {
    limits: &'l Limits,
    library: Library,
    diagnostics: Vec<Diagnostic>,
    skill_places: BTreeMap<String, Span>,
    tool_places: BTreeMap<String, Span>,
    assistant_place: Option<Span>,
}

impl Resolver<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn file(&mut self, source: &SourceFile) -> Vec<Item> {
        let number = self.library.files.len() as u32;
        if source.bytes.len() > self.limits.file_bytes {
            let limit = self.limits.file_bytes;
            self.library.files.push(FileInfo {
                name: source.name.clone(),
                text: String::new(),
                lines: LineIndex::new(""),
            });
            self.report(
                Diagnostic::new(
                    codes::LIBRARY_TOO_LARGE,
                    Span { file: number, start: 0, end: 0 },
                    format!("this file has more than {limit} bytes"),
                )
                .help("split the file (setting: file_bytes)"),
            );
            return Vec::new();
        }
        let Parsed { file, text, diagnostics } = parse(source, number);
        let lines = LineIndex::new(&text);
        self.library.files.push(FileInfo { name: source.name.clone(), text, lines });
        self.diagnostics.extend(diagnostics);
        file.items
    }

    fn item(&mut self, item: Item) {
        match item {
            Item::Block(block) => self.block(block),
            Item::Pattern { name, value } => self.fragment(&name, &value),
            Item::Tool(tool) => self.tool(tool),
            Item::Skill(skill) => self.skill(skill),
            Item::Test(test) => self.test(test),
        }
    }

    fn block(&mut self, block: Block) {
        match block.kind {
            BlockKind::Language => self.language(block),
            BlockKind::Predicate => self.predicate(block),
            BlockKind::Assistant => self.assistant(block),
            BlockKind::Host => self.host(block),
        }
    }

    /// Adds each built-in language that the library does not declare, and the base prompt if it has none.
    fn add_built_in(&mut self) {
        for (name, text) in BUILT_IN {
            // What the library declares itself is not read at all.
            let language = name.strip_prefix("<built-in>/lang/").and_then(|name| name.strip_suffix(".skill"));
            let declared = match language {
                Some(wanted) => self.library.languages.iter().any(|language| language.name == wanted),
                None => self.assistant_place.is_some(),
            };
            if declared {
                continue;
            }
            let source = SourceFile::new(name, text);
            for item in self.file(&source) {
                let wanted = match &item {
                    Item::Block(block) if block.kind == BlockKind::Language => {
                        let declared = block.name.as_ref().map(|name| name.text.clone()).unwrap_or_default();
                        !self.library.languages.iter().any(|language| language.name == declared)
                    }
                    Item::Block(block) if block.kind == BlockKind::Assistant => {
                        self.assistant_place.is_none()
                    }
                    _ => false,
                };
                if wanted {
                    self.item(item);
                }
            }
        }
    }
}
