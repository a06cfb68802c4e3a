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
    for (source, parsed) in files.iter().zip(parse_all(files, limits)) {
        let items = resolver.file(source, parsed);
        for item in items {
            resolver.item(item);
        }
    }
    resolver.add_built_in();
    resolver.missing_replies();
    (resolver.library, resolver.diagnostics)
}

/// Bytes of a library from which on a second thread parses half of it.
const WORTH_A_THREAD: usize = 16 << 10;

/// The files, parsed; None for one that is over the limit.
fn parse_all(files: &[SourceFile], limits: &Limits) -> Vec<Option<Parsed>> {
    let parse_from = |first: usize, files: &[SourceFile]| -> Vec<Option<Parsed>> {
        let fits = |source: &&SourceFile| source.bytes.len() <= limits.file_bytes;
        let numbered = files.iter().zip(first..);
        numbered
            .map(|(source, at)| Some(source).filter(fits).map(|source| parse(source, at as u32)))
            .collect()
    };
    let total: usize = files.iter().map(|source| source.bytes.len()).sum();
    let mut before = 0;
    let middle = files.iter().position(|source| {
        before += source.bytes.len();
        before > total / 2
    });
    let middle = middle.unwrap_or_default().max(1);
    if total < WORTH_A_THREAD || middle >= files.len() {
        return parse_from(0, files);
    }
    let (front, back) = files.split_at(middle);
    std::thread::scope(|scope| {
        // Where no thread can be had, this one parses all.
        let other = std::thread::Builder::new().spawn_scoped(scope, || parse_from(middle, back));
        let mut parsed = parse_from(0, front);
        parsed.extend(match other {
            Ok(other) => other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => parse_from(middle, back),
        });
        parsed
    })
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

    fn file(&mut self, source: &SourceFile, parsed: Option<Parsed>) -> Vec<Item> {
        let number = self.library.files.len() as u32;
        let Some(parsed) = parsed else {
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
        };
        let Parsed { file, text, diagnostics } = parsed;
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
            let parsed = parse(&source, self.library.files.len() as u32);
            for item in self.file(&source, Some(parsed)) {
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
