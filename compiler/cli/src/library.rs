//! Finds, reads and compiles the library of a command.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use skill_compiler::{Compiled, Limits, SourceFile, compile};
use skill_runtime::artifact::Pack;

use crate::commands::diagnostics;
use crate::{Failure, Output, input};

/// The shipped library, for use where no other is named and there is no `skills/`.
pub const EMBEDDED: &[(&str, &str)] = &[
    ("skills/arithmetic.skill", include_str!("../../../skills/arithmetic.skill")),
    ("skills/current-date.skill", include_str!("../../../skills/current-date.skill")),
    ("skills/hosts.skill", include_str!("../../../skills/hosts.skill")),
    ("skills/lang/de.skill", include_str!("../../../skills/lang/de.skill")),
    ("skills/lang/en.skill", include_str!("../../../skills/lang/en.skill")),
    ("skills/lookup-term.skill", include_str!("../../../skills/lookup-term.skill")),
    ("skills/memory.skill", include_str!("../../../skills/memory.skill")),
    ("skills/research-question.skill", include_str!("../../../skills/research-question.skill")),
    ("skills/small-talk.skill", include_str!("../../../skills/small-talk.skill")),
    ("skills/summarize-url.skill", include_str!("../../../skills/summarize-url.skill")),
    ("skills/weather.skill", include_str!("../../../skills/weather.skill")),
    ("skills/world-clock.skill", include_str!("../../../skills/world-clock.skill")),
];

/// Deepest folder that is searched; symbolic links can run in circles.
const DEEPEST: usize = 32;

/// Where a library came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Source files.
    Sources,
    /// A compiled artifact.
    Artifact(PathBuf),
    /// The copy in this program.
    Embedded,
}

/// A library that routes.
#[derive(Debug)]
pub struct Loaded {
    /// Where it came from.
    pub origin: Origin,
    /// The artifact.
    pub pack: Pack,
    /// The compilation; None for an artifact.
    pub compiled: Option<Compiled>,
}

/// The path that a command works on: the named one, else `skills/` if it is there.
fn chosen(named: Option<&Path>) -> Option<PathBuf> {
    match named {
        Some(path) => Some(path.to_owned()),
        None => Some(PathBuf::from("skills")).filter(|path| path.is_dir()),
    }
}

fn is_artifact(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("skillpack")) && !path.is_dir()
}

/// Reads the sources of a library.
///
/// # Errors
/// A path cannot be read, or is an artifact.
pub(crate) fn sources(named: &[PathBuf]) -> Result<Vec<SourceFile>, Failure> {
    let paths: Vec<PathBuf> =
        if named.is_empty() { chosen(None).into_iter().collect() } else { named.to_vec() };
    if paths.is_empty() {
        return Ok(EMBEDDED.iter().map(|(name, text)| SourceFile::new(*name, *text)).collect());
    }
    let mut files = Vec::new();
    for path in &paths {
        if is_artifact(path) {
            return Err(Failure::Usage(format!(
                "{} is compiled; name the folder of its .skill files",
                path.display()
            )));
        }
        if path.is_dir() {
            let mut found = Vec::new();
            walk(path, 0, &mut found)?;
            if found.is_empty() {
                return Err(Failure::Usage(format!("{} holds no .skill file", path.display())));
            }
            files.extend(found);
        } else {
            files.push(path.clone());
        }
    }
    files.sort();
    // One file may be named in two ways; the first spelling stays. What cannot be found is reported when it is read.
    let mut seen = HashSet::new();
    files.retain(|path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    files.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Result<SourceFile, Failure> {
    let bytes = input::bytes(path, Limits::default().file_bytes)?;
    // Names are shown on terminals: what would steer one is not.
    let shown = path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    let name = shown.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect();
    Ok(SourceFile { name, bytes })
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if depth > DEEPEST {
        return Err(Failure::Usage(format!(
            "{} lies more than {DEEPEST} folders deep; a symbolic link may run in a circle",
            folder.display()
        )));
    }
    let entries = std::fs::read_dir(folder).map_err(|error| Failure::file("read", folder, error))?;
    for entry in entries {
        let path = entry.map_err(|error| Failure::file("read", folder, error))?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if hidden {
            continue;
        }
        if path.is_dir() {
            walk(&path, depth + 1, found)?;
        } else if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("skill")) {
            found.push(path);
        }
    }
    Ok(())
}

/// Loads the library of a command. Errors of its sources are shown.
///
/// # Errors
/// It cannot be read, or it has errors.
pub(crate) fn load(named: Option<&Path>, output: &mut Output) -> Result<Loaded, Failure> {
    if let Some(path) = named.filter(|path| is_artifact(path)) {
        let broken = |source| Failure::Artifact { path: path.display().to_string(), source };
        let pack = Pack::open(path).map_err(broken)?;
        return Ok(Loaded { origin: Origin::Artifact(path.to_owned()), pack, compiled: None });
    }
    let chosen = chosen(named);
    let files = sources(&chosen.iter().cloned().collect::<Vec<_>>())?;
    let compiled = compile(&files, &Limits::default());
    let Some(artifact) = &compiled.artifact else {
        diagnostics::write_human(&compiled, output)?;
        output.err.flush()?;
        return Err(Failure::Library);
    };
    let broken = |source| Failure::Artifact { path: "the compiled library".to_owned(), source };
    let pack = Pack::from_bytes(artifact).map_err(broken)?;
    let origin = if chosen.is_some() { Origin::Sources } else { Origin::Embedded };
    Ok(Loaded { origin, pack, compiled: Some(compiled) })
}
