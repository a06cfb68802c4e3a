//! `skillc check`.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use skill_compiler::{Level, Levels, Limits, compile_at};

use super::diagnostics;
use crate::args::{Check, Format};
use crate::{EXIT_FINDINGS, EXIT_OK, Failure, Output, library};

pub(super) fn run(check: &Check, skills: Option<&Path>, output: &mut Output) -> Result<u8, Failure> {
    if skills.is_some() && !check.paths.is_empty() {
        return Err(Failure::Usage("name the library once: as PATH or with --skills".to_owned()));
    }
    let paths = match (check.paths.as_slice(), skills) {
        ([], Some(skills)) => vec![skills.to_owned()],
        (paths, _) => paths.to_vec(),
    };
    let start = Instant::now();
    let files = library::sources(&paths)?;
    let embedded = paths.is_empty() && !Path::new("skills").is_dir();
    let compiled = compile_at(&files, &Limits::default(), &levels(check)?);
    match check.format {
        Format::Json => writeln!(output.out, "{:#}", diagnostics::json(&compiled))?,
        Format::Sarif => writeln!(output.out, "{:#}", diagnostics::sarif(&compiled))?,
        Format::Github => diagnostics::write_github(&compiled, output)?,
        Format::Human => {
            diagnostics::write_human(&compiled, output)?;
            if compiled.diagnostics.is_empty() {
                let took = start.elapsed().as_secs_f64() * 1000.0;
                let skills = diagnostics::counted(compiled.library.skills.len(), "skill");
                let files = diagnostics::counted(files.len(), "file");
                let whose = if embedded { " of the embedded library" } else { "" };
                writeln!(output.out, "{skills} in {files}{whose}: nothing to complain about ({took:.0} ms)")?;
            }
        }
    }
    Ok(if compiled.has_errors() { EXIT_FINDINGS } else { EXIT_OK })
}

/// Levels of lints as the command line sets them: of several for one lint the strictest; a code counts more than `all`.
fn levels(check: &Check) -> Result<Levels, Failure> {
    let mut levels = Levels::default();
    let options = [(&check.allow, Level::Allow), (&check.warn, Level::Warn), (&check.deny, Level::Deny)];
    let is_all = |code: &String| code.eq_ignore_ascii_case("all");
    for (codes, level) in options {
        for code in codes.iter().filter(|code| !is_all(code) && !code.is_empty()) {
            levels.set(code, level).map_err(Failure::Usage)?;
        }
    }
    for (codes, level) in options.into_iter().rev() {
        if codes.iter().any(is_all) {
            levels.set_all(level);
        }
    }
    Ok(levels)
}
