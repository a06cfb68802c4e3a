//! Which advice is given, and which of it counts as an error: per run and per file.
//!
//! A file sets levels for itself with lines such as `// lint: allow W504 W506`.

use std::collections::BTreeMap;

use crate::diagnostics::{self as codes, CODES, Code, Diagnostic, Severity, suggestion};
use crate::library::Library;
use crate::source::Span;

/// What becomes of a lint's findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// They are not shown.
    Allow,
    /// They are warnings.
    Warn,
    /// They are errors.
    Deny,
}

/// Levels of lints, by code; what is not set has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels(BTreeMap<&'static str, Level>);

/// Lints that are off unless they are asked for: they report much on a library that is well.
const OFF: [&str; 1] = ["W503"];

/// What a comment starts with that sets levels.
const DIRECTIVE: &str = "lint:";
/// Stands for every lint that is on.
const ALL: &str = "all";

impl Levels {
    /// Sets the level of a lint by its code, in any case.
    ///
    /// # Errors
    /// There is no lint of this code; the message says which are near.
    pub fn set(&mut self, code: &str, level: Level) -> Result<(), String> {
        match Code::find(code).filter(|code| code.severity == Severity::Warning) {
            Some(code) => {
                self.0.insert(code.id, level);
                Ok(())
            }
            None => Err(format!("`{code}` is no lint: {}", suggestion(code, lints(), "the lints"))),
        }
    }

    /// Sets the level of every lint that has none and, to deny it, is on.
    pub fn set_all(&mut self, level: Level) {
        for code in lints().filter(|code| level != Level::Deny || !OFF.contains(code)) {
            self.0.entry(code).or_insert(level);
        }
    }

    /// Whether findings of this lint are not shown.
    #[must_use]
    pub fn is_off(&self, code: &str) -> bool {
        self.of(code) == Level::Allow
    }

    fn of(&self, code: &str) -> Level {
        let default = if OFF.contains(&code) { Level::Allow } else { Level::Warn };
        self.0.get(code).copied().unwrap_or(default)
    }
}

fn lints() -> impl Iterator<Item = &'static str> {
    CODES.iter().filter(|code| code.severity == Severity::Warning).map(|code| code.id)
}

/// Levels of the run and of each file; what a file says of itself counts more.
pub(crate) struct FileLevels<'l> {
    run: &'l Levels,
    files: Vec<Levels>,
    /// What is wrong with the levels that files set.
    wrong: Vec<Diagnostic>,
}

impl<'l> FileLevels<'l> {
    pub(crate) fn new(library: &Library, run: &'l Levels) -> Self {
        let mut wrong = Vec::new();
        let files = (0..library.files.len()).map(|file| of_file(library, file, &mut wrong)).collect();
        Self { run, files, wrong }
    }

    /// Whether findings of this lint would be shown for some file.
    pub(crate) fn asks_for(&self, code: &str) -> bool {
        let shown = |levels: &Levels| levels.0.get(code).is_some_and(|level| *level != Level::Allow);
        !self.run.is_off(code) || self.files.iter().any(shown)
    }

    /// Applies the levels to findings.
    pub(crate) fn apply(self, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let mut out = self.wrong;
        for mut diagnostic in found {
            // A finding that is no lint's is left as it is.
            if !is_lint(diagnostic.code) {
                out.push(diagnostic);
                continue;
            }
            let file = diagnostic.span.and_then(|span| self.files.get(span.file as usize));
            let level = match file.and_then(|levels| levels.0.get(diagnostic.code)) {
                Some(&level) => level,
                None => self.run.of(diagnostic.code),
            };
            diagnostic.severity = if level == Level::Deny { Severity::Error } else { Severity::Warning };
            if level != Level::Allow {
                out.push(diagnostic);
            }
        }
        out
    }
}

fn is_lint(code: &str) -> bool {
    Code::find(code).is_some_and(|code| code.severity == Severity::Warning)
}

/// Levels that a file sets for itself.
fn of_file(library: &Library, number: usize, out: &mut Vec<Diagnostic>) -> Levels {
    let mut levels = Levels::default();
    let Some(file) = library.files.get(number) else { return levels };
    let mut start = 0;
    let mut in_text = false;
    for line in file.text.split_inclusive('\n') {
        let from = start;
        start += line.len();
        let comment = line.trim_start_matches('\u{FEFF}').trim().strip_prefix("//").filter(|_| !in_text);
        let Some(comment) = comment else {
            in_text ^= line.matches("\"\"\"").count() % 2 == 1;
            continue;
        };
        let comment = comment.trim_start();
        let Some(directive) = comment
            .get(..DIRECTIVE.len())
            .filter(|start| start.eq_ignore_ascii_case(DIRECTIVE))
            .and_then(|start| comment.get(start.len()..))
        else {
            continue;
        };
        let span = Span::new(number as u32, from..from + line.trim_end().len());
        // What follows is for people.
        let directive = directive.split("//").next().unwrap_or_default();
        let mut words = directive.split([' ', ',', '\t']).filter(|word| !word.is_empty()).peekable();
        let level = match words.next() {
            Some(word) if word.eq_ignore_ascii_case("allow") => Level::Allow,
            Some(word) if word.eq_ignore_ascii_case("warn") => Level::Warn,
            Some(word) if word.eq_ignore_ascii_case("deny") => Level::Deny,
            other => {
                let found = other.unwrap_or_default();
                out.push(
                    Diagnostic::new(codes::UNKNOWN_VALUE, span, format!("`{found}` is no level of a lint"))
                        .help("write `// lint: allow CODE`, `warn` or `deny`"),
                );
                continue;
            }
        };
        if words.peek().is_none() {
            out.push(
                Diagnostic::new(codes::UNKNOWN_VALUE, span, "this line names no lint")
                    .help("write `// lint: allow CODE`, or `all`"),
            );
        }
        for code in words {
            if code.eq_ignore_ascii_case(ALL) {
                levels.set_all(level);
            } else if let Err(message) = levels.set(code, level) {
                out.push(Diagnostic::new(codes::UNKNOWN_VALUE, span, message));
            }
        }
    }
    levels
}
