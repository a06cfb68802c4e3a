//! JSON lines in, JSON lines out: one record a line; a bad one is reported and the others go on.

use std::io::Write;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::input::{Line, Lines};
use crate::{EXIT_FINDINGS, EXIT_OK, Failure, Output};

/// Reads records of the `shape` that messages show from a file, or `-` for standard input, and writes what `answer`
/// makes of each.
pub(super) fn run<R: DeserializeOwned>(
    path: &Path,
    shape: &str,
    output: &mut Output,
    mut answer: impl FnMut(R, &mut dyn Write) -> serde_json::Result<()>,
) -> Result<u8, Failure> {
    let mut lines = Lines::open(path)?;
    let name = lines.name().to_owned();
    let mut bad = 0;
    while let Some(Line { number, text }) = lines.next()? {
        if text.as_ref().is_ok_and(|text| text.trim().is_empty()) {
            continue;
        }
        match text.map_err(|fault| format!(": {fault}")).and_then(|text| read(text, shape)) {
            Ok(record) => {
                answer(record, &mut output.out).map_err(std::io::Error::from)?;
                output.out.write_all(b"\n")?;
            }
            Err(fault) => {
                bad += 1;
                writeln!(output.err, "{name}:{number}{fault}; it was skipped")?;
            }
        }
    }
    if bad > 0 {
        writeln!(output.err, "{}", super::diagnostics::counted(bad, "bad line"))?;
        return Ok(EXIT_FINDINGS);
    }
    Ok(EXIT_OK)
}

/// Reads a record; an error is worded to follow `FILE:LINE`.
fn read<R: DeserializeOwned>(line: &str, shape: &str) -> Result<R, String> {
    if !line.trim_start().starts_with('{') {
        return Err(format!(": a record is an object: {shape}"));
    }
    serde_json::from_str(line).map_err(|error| {
        // serde's own place names line 1 of a text of one line.
        let place = format!(" at line {} column {}", error.line(), error.column());
        format!(":{}: {}", error.column(), error.to_string().replace(&place, ""))
    })
}
