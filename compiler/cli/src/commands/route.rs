//! `skillc route`.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};
use skill_runtime::conversation::replay;
use skill_runtime::router::{Route, Router, Scratch, Stage, ToolSet, Trace};

use super::tool_set;
use crate::args;
use crate::{EXIT_FINDINGS, EXIT_OK, Failure, Output, library};

/// Longest line of a batch, in bytes.
const LONGEST_LINE: usize = 16 << 20;

pub(super) fn run(
    arguments: &args::Route,
    skills: Option<&Path>,
    output: &mut Output,
) -> Result<u8, Failure> {
    let loaded = library::load(skills, output)?;
    let tools = tool_set(&loaded.pack, arguments.tools.as_deref())?;
    let router = Router::new(&loaded.pack);
    let mut scratch = Scratch::default();
    if let Some(path) = &arguments.batch {
        return batch(&router, &mut scratch, &tools, path, output);
    }
    let message = arguments.message.as_deref().unwrap_or_default();
    let state = replay(&router, &mut scratch, arguments.after.iter().map(String::as_str), &tools);
    if arguments.explain {
        let (route, trace) = router.trace(&mut scratch, state, message, &tools);
        if arguments.json {
            let mut value = record(&Value::Null, &route);
            if let (Some(object), Ok(trace)) = (value.as_object_mut(), serde_json::to_value(&trace)) {
                object.insert("trace".to_owned(), trace);
            }
            writeln!(output.out, "{value:#}")?;
        } else {
            show(&route, output)?;
            explain(&trace, output)?;
        }
        return Ok(EXIT_OK);
    }
    let route = router.route(&mut scratch, state, message, &tools);
    if arguments.json {
        writeln!(output.out, "{:#}", record(&Value::Null, &route))?;
    } else {
        show(&route, output)?;
    }
    Ok(EXIT_OK)
}

/// The batch record of a route.
pub(super) fn record(id: &Value, route: &Route) -> Value {
    json!({
        "id": id,
        "skill": route.skill,
        "stage": route.decision.stage,
        "opener": route.decision.opener,
        "tools": route.tools,
        "evidence": route.evidence,
        "also": route.also,
        "unusable": route.unusable,
        "opening": route.opening,
    })
}

fn show(route: &Route, output: &mut Output) -> Result<(), Failure> {
    let skill = route.skill.as_deref().unwrap_or("none");
    let stage = route.decision.stage;
    let by = if stage == Stage::None { String::new() } else { format!(" by {}", stage.name()) };
    let opener = if route.decision.opener { " (without its lead-in)" } else { "" };
    writeln!(output.out, "{}{by}{opener}", output.bold(skill))?;
    for evidence in &route.evidence {
        let at = evidence.at.as_deref().unwrap_or("the turn before");
        let label = evidence.label.as_ref().map(|label| format!(" ({label})")).unwrap_or_default();
        writeln!(output.out, "  because   {at}{label}")?;
    }
    for binding in route.bindings.iter().filter(|binding| binding.name != "message") {
        writeln!(output.out, "  binds     {} = {:?}", binding.name, binding.text)?;
    }
    let tools = match &route.tools {
        None => "all (no restriction)".to_owned(),
        Some(tools) if tools.is_empty() => "none".to_owned(),
        Some(tools) => tools.join(", "),
    };
    writeln!(output.out, "  offers    {tools}")?;
    if let Some(opening) = &route.opening {
        let arguments: Vec<String> =
            opening.arguments.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        writeln!(output.out, "  opens     {}({})", opening.tool, arguments.join(", "))?;
    } else if !route.missing.is_empty() {
        writeln!(output.out, "  no opening call: nothing bound {}", route.missing.join(", "))?;
    }
    if !route.also.is_empty() {
        writeln!(output.out, "  also      {}", route.also.join(", "))?;
    }
    for unusable in &route.unusable {
        writeln!(output.out, "  unusable  {} (needs one of {})", unusable.skill, unusable.tools.join(", "))?;
    }
    Ok(())
}

fn explain(trace: &Trace, output: &mut Output) -> Result<(), Failure> {
    writeln!(output.out)?;
    writeln!(output.out, "{} {:?}", output.dim("as written     "), trace.written)?;
    if let Some(bare) = &trace.bare {
        writeln!(output.out, "{} {bare:?}", output.dim("without lead-in"))?;
    }
    for (kind, (start, end)) in &trace.masks {
        writeln!(output.out, "{} bytes {start} to {end}: {kind}", output.dim("not read       "))?;
    }
    for stage in &trace.stages {
        let form = if stage.bare { ", without lead-in" } else { "" };
        writeln!(output.out, "{}", output.bold(&format!("{}{form}", stage.stage.name())))?;
        if stage.skills.is_empty() {
            let note = stage.note.as_deref().unwrap_or("nothing matches");
            writeln!(output.out, "  {}", output.dim(note))?;
        } else if let Some(note) = &stage.note {
            writeln!(output.out, "  {}", output.dim(note))?;
        }
        for skill in &stage.skills {
            let barred = skill.barred.as_ref().map(|barred| format!("  but {barred}")).unwrap_or_default();
            let at = if skill.at.is_empty() { String::new() } else { format!("  {}", skill.at) };
            writeln!(output.out, "  {}{at}{barred}", skill.skill)?;
            writeln!(output.out, "    {} in {:?}", output.dim(&skill.matched), skill.evidence)?;
        }
    }
    for slot in &trace.missing {
        writeln!(output.out, "an opening was passed over: nothing binds `{slot}`")?;
    }
    if !trace.tied.is_empty() {
        writeln!(output.out, "tied at the same priority: {} (the name decides)", trace.tied.join(", "))?;
    }
    Ok(())
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    after: Vec<String>,
    message: String,
}

fn batch(
    router: &Router<'_>,
    scratch: &mut Scratch,
    tools: &ToolSet,
    path: &Path,
    output: &mut Output,
) -> Result<u8, Failure> {
    let input: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(std::io::stdin())
    } else {
        Box::new(std::fs::File::open(path).map_err(|error| Failure::file("read", path, error))?)
    };
    let mut reader = BufReader::with_capacity(1 << 18, input);
    let mut bad = 0;
    let mut number = 0;
    let mut raw = Vec::new();
    loop {
        raw.clear();
        let mut limited = (&mut reader).take(LONGEST_LINE as u64);
        let read = limited.read_until(b'\n', &mut raw).map_err(|error| Failure::file("read", path, error))?;
        if read == 0 {
            break;
        }
        number += 1;
        if raw.len() >= LONGEST_LINE && raw.last() != Some(&b'\n') {
            bad += 1;
            writeln!(output.err, "line {number}: longer than {LONGEST_LINE} bytes; it was skipped")?;
            // The rest of the line is read and dropped in pieces.
            loop {
                raw.clear();
                let mut limited = (&mut reader).take(LONGEST_LINE as u64);
                let read = limited
                    .read_until(b'\n', &mut raw)
                    .map_err(|error| Failure::file("read", path, error))?;
                if read == 0 || raw.last() == Some(&b'\n') {
                    break;
                }
            }
            continue;
        }
        // Some editors put a byte order mark in front of a file.
        let line = raw.strip_prefix(b"\xEF\xBB\xBF").filter(|_| number == 1).unwrap_or(&raw);
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice::<Line>(line) {
            Ok(line) => {
                let state = replay(router, scratch, line.after.iter().map(String::as_str), tools);
                let route = router.route(scratch, state, &line.message, tools);
                serde_json::to_writer(&mut output.out, &record(&line.id, &route))
                    .map_err(std::io::Error::from)?;
                output.out.write_all(b"\n")?;
            }
            Err(error) => {
                bad += 1;
                writeln!(output.err, "line {number}: {error}; it was skipped")?;
            }
        }
    }
    if bad > 0 {
        writeln!(output.err, "{}", super::diagnostics::counted(bad, "bad line"))?;
        return Ok(EXIT_FINDINGS);
    }
    Ok(EXIT_OK)
}
