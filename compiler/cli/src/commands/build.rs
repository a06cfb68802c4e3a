//! `skillc build`.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::args::Build;
use crate::{EXIT_FINDINGS, EXIT_OK, Failure, Output, library, platform};

pub(super) fn run(build: &Build, skills: Option<&Path>, output: &mut Output) -> Result<u8, Failure> {
    let loaded = library::load(skills, output)?;
    let Some(compiled) = &loaded.compiled else {
        return Err(Failure::Usage(
            "this library is compiled already; name the folder of its .skill files".to_owned(),
        ));
    };
    if !compiled.diagnostics.is_empty() {
        super::diagnostics::write_human(compiled, output)?;
    }
    // A lint that a file denies: the library compiles, but its author does not want it so.
    if compiled.has_errors() {
        writeln!(output.err, "{} was not written", build.output.display())?;
        return Ok(EXIT_FINDINGS);
    }
    let artifact = compiled.artifact.as_deref().unwrap_or_default();
    write_whole(&build.output, artifact)?;
    let skills = super::diagnostics::counted(loaded.pack.skill_names().len(), "skill");
    writeln!(output.out, "{}: {skills}, {} bytes", build.output.display(), artifact.len())?;
    Ok(EXIT_OK)
}

/// Whether a file is there that is no artifact: a typing mistake must not cost a source.
fn holds_something_else(path: &Path, artifact: &[u8]) -> std::io::Result<bool> {
    const MAGIC: u64 = 8;
    let mut start = Vec::new();
    match std::fs::File::open(path) {
        Ok(file) => file.take(MAGIC).read_to_end(&mut start)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    Ok(!start.is_empty() && artifact.get(..MAGIC as usize) != Some(start.as_slice()))
}

/// The file that a path means: through symbolic links, and no device, pipe or folder.
fn target_of(path: &Path) -> Result<PathBuf, Failure> {
    const MOST_LINKS: usize = 40;
    let failed = |error| Failure::file("write", path, error);
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match std::fs::symlink_metadata(&target) {
            Ok(found) if found.is_symlink() => {
                let link = std::fs::read_link(&target).map_err(failed)?;
                target = target.parent().unwrap_or(Path::new("")).join(link);
            }
            Ok(found) if found.is_file() => return Ok(target),
            Ok(found) => {
                let what =
                    if found.is_dir() { "it is a folder" } else { "it is a device or a pipe, no file" };
                return Err(failed(std::io::Error::new(std::io::ErrorKind::InvalidInput, what)));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(target),
            Err(error) => return Err(failed(error)),
        }
    }
    Err(failed(std::io::Error::other("its symbolic links run in a circle")))
}

/// Writes a file so that it appears whole or not at all. A symbolic link stays one: its target is written.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let path = &target_of(path)?;
    if holds_something_else(path, bytes).map_err(|error| Failure::file("read", path, error))? {
        let other = std::io::Error::new(
            std::io::ErrorKind::AlreadyExists,
            "it exists and is no artifact; name another file",
        );
        return Err(Failure::file("replace", path, other));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed = |error| Failure::file("write", path, error);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".skillc-build-");
    platform::as_any_new_file(&mut builder);
    let mut file = builder.tempfile_in(folder).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
