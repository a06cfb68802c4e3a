//! `skillc extract`: what a reader would read of a page, or what of it bears on a question.

use std::io::{Read, Write};

use serde_json::json;
use skill_runtime::net::decode;
use skill_runtime::reading::{Page, read_html, read_plain};
use skill_runtime::research::{Tongue, best_passages, tongue};

use crate::args::Extract;
use crate::{EXIT_FINDINGS, EXIT_OK, Failure, Output, input};

/// Bytes of a page that is read.
const LARGEST: usize = 64 << 20;

pub(super) fn run(arguments: &Extract, output: &mut Output) -> Result<u8, Failure> {
    let bytes = if arguments.file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().take(LARGEST as u64 + 1).read_to_end(&mut bytes)?;
        bytes
    } else {
        input::bytes(&arguments.file, LARGEST)?
    };
    if bytes.len() > LARGEST {
        return Err(Failure::Usage(format!("{} is longer than 64 MiB", arguments.file.display())));
    }
    let text = decode(&bytes, arguments.content_type.as_deref());
    let plain = arguments.file.extension().is_some_and(|ending| ending == "txt" || ending == "md");
    let page = if plain { read_plain(&text) } else { read_html(&text) };
    if page.cut {
        writeln!(output.err, "warning: the page is nested so deeply that only its beginning was read")?;
    }
    match &arguments.question {
        Some(question) => passages(arguments, question, &page, output),
        None => whole(arguments, &page, output),
    }
}

fn whole(arguments: &Extract, page: &Page, output: &mut Output) -> Result<u8, Failure> {
    let text = page.text();
    if arguments.json {
        let record = json!({"title": page.title, "language": page.language, "url": arguments.url, "text": text, "cut": page.cut});
        writeln!(output.out, "{record}")?;
    } else {
        if !page.title.is_empty() {
            writeln!(output.out, "# {}", page.title)?;
        }
        if let Some(url) = &arguments.url {
            writeln!(output.out, "Source: {url}")?;
        }
        writeln!(output.out, "\n{text}")?;
    }
    Ok(if text.is_empty() { EXIT_FINDINGS } else { EXIT_OK })
}

fn passages(arguments: &Extract, question: &str, page: &Page, output: &mut Output) -> Result<u8, Failure> {
    let found = best_passages(question, tongue(question).unwrap_or(Tongue::English), &[page])
        .into_iter()
        .next()
        .unwrap_or_default();
    let on_topic = found.iter().any(|passage| passage.on_topic);
    if arguments.json {
        let passages: Vec<_> =
            found.iter().map(|passage| json!({"text": passage.text, "on_topic": passage.on_topic})).collect();
        writeln!(
            output.out,
            "{}",
            json!({"title": page.title, "url": arguments.url, "question": question, "passages": passages})
        )?;
    } else {
        if !on_topic {
            writeln!(
                output.err,
                "note: no paragraph holds a word of the question; this is how the page begins"
            )?;
        }
        for passage in &found {
            writeln!(output.out, "{}\n", passage.text)?;
        }
    }
    Ok(if on_topic { EXIT_OK } else { EXIT_FINDINGS })
}
