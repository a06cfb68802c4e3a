//! Labelled messages: TSV or JSON lines.
//!
//! TSV columns: language, source, expected skills (`|` between alternatives, `none` for no skill), message; more
//! columns are an error. JSON lines: `{"language", "source", "expected": ["a", "none"], "message", "after": […]}`;
//! `language`, `source` and `after` may be missing, and `"not": ["b"]` may stand for `expected`. A line that starts
//! with `#` in TSV is a comment.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A message with the skills that may take it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Labelled {
    /// Language code, may be empty.
    #[serde(default)]
    pub language: String,
    /// Where it comes from, may be empty.
    #[serde(default)]
    pub source: String,
    /// Names of skills, or `none`: those that may take it.
    #[serde(default)]
    pub expected: Vec<String>,
    /// Those that may not; given where nothing is expected.
    #[serde(default)]
    pub not: Vec<String>,
    /// The message.
    pub message: String,
    /// User turns before it.
    #[serde(default)]
    pub after: Vec<String>,
    /// Line in the file, from 1.
    #[serde(skip)]
    pub line: usize,
}

/// A line that is no labelled message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{line}: {cause}")]
pub struct LineError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong.
    pub cause: String,
}

/// Reads labelled messages; each bad line is an error of its own and the rest goes on.
pub fn read(text: &str) -> impl Iterator<Item = Result<Labelled, LineError>> + '_ {
    let lines = text.strip_prefix('\u{FEFF}').unwrap_or(text).lines();
    lines.enumerate().filter_map(|(at, line)| read_line(line, at + 1).transpose())
}

/// Reads one line by its number from 1; None if it is blank or a comment.
///
/// # Errors
/// It is no labelled message.
pub fn read_line(line: &str, number: usize) -> Result<Option<Labelled>, LineError> {
    if line.trim().is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let read = if line.trim_start().starts_with('{') { read_json(line) } else { read_tsv(line) };
    match read {
        Ok(labelled) => Ok(Some(Labelled { line: number, ..labelled })),
        Err(cause) => Err(LineError { line: number, cause }),
    }
}

fn read_json(line: &str) -> Result<Labelled, String> {
    let labelled: Labelled = serde_json::from_str(line).map_err(|error| error.to_string())?;
    match (labelled.expected.is_empty(), labelled.not.is_empty()) {
        (true, true) => Err("neither `expected` nor `not` names a skill; write [\"none\"]".to_owned()),
        (false, false) => Err("`expected` and `not` exclude each other".to_owned()),
        _ => Ok(labelled),
    }
}

fn read_tsv(line: &str) -> Result<Labelled, String> {
    let columns: Vec<&str> = line.trim_end_matches('\r').split('\t').collect();
    let [language, source, expected, message] = columns.as_slice() else {
        return Err(format!("{} columns, not 4: language, source, expected skills, message", columns.len()));
    };
    let expected: Vec<String> =
        expected.split('|').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    if expected.is_empty() {
        return Err("no expected skill; write `none`".to_owned());
    }
    Ok(Labelled {
        language: (*language).to_owned(),
        source: (*source).to_owned(),
        expected,
        message: (*message).to_owned(),
        ..Labelled::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_forms_and_reports_bad_lines() {
        let text = "de\tx\tlookup-term|none\tWas ist Stripe?\n\nbad line\n{\"expected\":[\"none\"],\"message\":\"hi\"}\n{\n";
        let read: Vec<_> = read(text).collect();
        assert_eq!(read.len(), 4);
        assert_eq!(read[0].as_ref().map(|l| l.expected.len()), Ok(2));
        assert_eq!(read[1].as_ref().map_err(|e| e.line), Err(3));
        assert_eq!(read[2].as_ref().map(|l| l.message.as_str()), Ok("hi"));
        assert_eq!(read[3].as_ref().map_err(|e| e.line), Err(5));
    }
}
