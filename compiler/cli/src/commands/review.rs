//! `skillc review`: what the answer check finds in a recorded turn.

use std::io::Write;
use std::path::Path;

use serde::Deserialize;
use serde_json::json;
use skill_runtime::artifact::{LibraryText, ToolOrigin};
use skill_runtime::research::tongue;
use skill_runtime::review::{Material, Offered, Ran, Said, review};

use crate::args::Review;
use crate::{EXIT_FINDINGS, EXIT_OK, Failure, Output, input, library};

/// Bytes of a record.
const LARGEST: usize = 16 << 20;

/// A turn as it was recorded.
#[derive(Deserialize)]
struct Record {
    question: String,
    #[serde(default)]
    history: Vec<Said>,
    #[serde(default)]
    tools: Vec<Ran>,
    /// Names of the tools that were offered; without it those that ran.
    tools_offered: Option<Vec<String>>,
    /// What is remembered about the user and stood in the prompt.
    #[serde(default)]
    recalled: Vec<String>,
    answer: String,
}

pub(super) fn run(arguments: &Review, skills: Option<&Path>, output: &mut Output) -> Result<u8, Failure> {
    let loaded = library::load(skills, output)?;
    let texts = loaded.pack.library();
    let name = arguments.file.display();
    let bytes = input::bytes(&arguments.file, LARGEST)?;
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    if bytes.len() > LARGEST {
        return Err(Failure::Usage(format!("{name} is longer than 16 MiB")));
    }
    if !arguments.lines {
        let record: Record = serde_json::from_slice(bytes).map_err(|error| {
            let form = "{\"question\": …, \"history\": […], \"tools\": [{\"name\", \"arguments\", \"result\", \"failed\"}], \"answer\": …}";
            Failure::Usage(format!("{name}: {error}; a record is {form}, and --lines reads one a line"))
        })?;
        return one(&record, &texts, output);
    }
    let mut code = EXIT_OK;
    for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let record: Record = serde_json::from_slice(line)
            .map_err(|error| Failure::Usage(format!("{name}:{}: {error}", at + 1)))?;
        code = code.max(one(&record, &texts, output)?);
    }
    Ok(code)
}

fn one(record: &Record, texts: &LibraryText, output: &mut Output) -> Result<u8, Failure> {
    let ran: Vec<String> = record.tools.iter().map(|ran| ran.name.clone()).collect();
    let sourced = |name: &String| {
        texts.tools.iter().any(|tool| tool.name == *name && tool.origin == ToolOrigin::Sourced)
    };
    let names = record.tools_offered.as_ref().unwrap_or(&ran);
    let offered: Vec<Offered> = names.iter().map(|name| Offered { sourced: sourced(name) }).collect();
    let tag = tongue(&record.question).map_or("en", |tongue| tongue.tag());
    let first = texts.languages.first().cloned().unwrap_or_default();
    let language = texts.languages.iter().find(|language| language.name == tag).unwrap_or(&first);
    let found = review(&Material {
        question: &record.question,
        history: &record.history,
        tools: &record.tools,
        offered: &offered,
        recalled: &record.recalled,
        answer: &record.answer,
        languages: &texts.languages,
        language,
    });
    let label = found.unsourced.then_some("unsourced");
    let shown = json!({
        "findings": found.findings, "label": label, "unsupported_claims": found.unsupported_claims, "correction": found.correction,
    });
    writeln!(output.out, "{shown}")?;
    Ok(if found.findings.is_empty() && !found.unsourced { EXIT_OK } else { EXIT_FINDINGS })
}
