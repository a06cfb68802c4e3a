//! `skillc quote`: which of some passages answer a question, as code chooses them. No model runs.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use skill_runtime::quote;

use crate::args;
use crate::input::{Line, Lines};
use crate::{EXIT_OK, Failure, Output};

/// A record of a batch.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    /// Any JSON value; it comes back as it was written.
    #[serde(default)]
    id: Option<Box<RawValue>>,
    question: String,
    passages: Vec<String>,
}

#[derive(Serialize)]
struct Record<'r> {
    id: &'r RawValue,
    /// Indexes of passages, best first.
    chosen: Vec<usize>,
}

fn choose(question: &str, passages: &[String]) -> Vec<usize> {
    let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
    quote::choose(question, &passages)
}

pub(super) fn run(arguments: &args::Quote, output: &mut Output) -> Result<u8, Failure> {
    if let Some(path) = &arguments.batch {
        let shape = "{\"id\": …, \"question\": \"…\", \"passages\": [\"…\"]}";
        return super::batch::run(path, shape, output, |request: Request, out| {
            let id = request.id.as_deref().unwrap_or(RawValue::NULL);
            serde_json::to_writer(out, &Record { id, chosen: choose(&request.question, &request.passages) })
        });
    }
    let path = arguments.passages.as_deref().unwrap_or(Path::new("-"));
    let mut lines = Lines::open(path)?;
    let mut passages = Vec::new();
    while let Some(Line { number, text }) = lines.next()? {
        let text = text.map_err(|fault| {
            Failure::Usage(format!("{}:{number}: {fault}; a passage cannot be left out", path.display()))
        })?;
        if !text.trim().is_empty() {
            passages.push(text.trim().to_owned());
        }
    }
    let question = arguments.question.as_deref().unwrap_or_default();
    let chosen = choose(question, &passages);
    if arguments.json {
        serde_json::to_writer(&mut output.out, &Record { id: RawValue::NULL, chosen })
            .map_err(std::io::Error::from)?;
        writeln!(output.out)?;
        return Ok(EXIT_OK);
    }
    for passage in chosen.iter().filter_map(|&at| passages.get(at)) {
        writeln!(output.out, "{passage}")?;
    }
    Ok(EXIT_OK)
}
