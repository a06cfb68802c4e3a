//! `skillc build`.

use std::io::Write;
use std::path::Path;

use crate::args::Build;
use crate::{EXIT_OK, Failure, Output, library};

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
    let artifact = compiled.artifact.as_deref().unwrap_or_default();
    write_whole(&build.output, artifact)?;
    let skills = super::diagnostics::counted(loaded.pack.skill_names().len(), "skill");
    writeln!(output.out, "{}: {skills}, {} bytes", build.output.display(), artifact.len())?;
    Ok(EXIT_OK)
}

/// Writes a file so that it appears whole or not at all.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed = |error| Failure::file("write", path, error);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".skillc-build-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: what the user's umask leaves.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
