//! `skillc route`.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use skill_compiler::diagnostics::suggestion;
use skill_runtime::conversation::replay;
use skill_runtime::router::{
    Evidence, OpeningCall, Route, Router, Scratch, Stage, ToolSet, Trace, Unusable, WhyNot,
};

use super::tool_set;
use crate::args;
use crate::{EXIT_OK, Failure, Output, library};

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
    if let Some(skill) = &arguments.why_not {
        let Some(why) = router.why_not(&mut scratch, state, message, &tools, skill) else {
            let help = suggestion(skill, loaded.pack.skill_names(), "skills");
            return Err(Failure::Usage(format!("unknown skill `{skill}`: {help}")));
        };
        if arguments.json {
            serde_json::to_writer_pretty(&mut output.out, &why).map_err(std::io::Error::from)?;
            writeln!(output.out)?;
        } else {
            show_why_not(&why, output)?;
        }
        return Ok(EXIT_OK);
    }
    if arguments.explain {
        let (route, trace) = router.trace(&mut scratch, state, message, &tools);
        if arguments.json {
            Record { trace: Some(&trace), ..Record::new(RawValue::NULL, &route) }.write(output)?;
        } else {
            show(&route, output)?;
            explain(&trace, output)?;
        }
        return Ok(EXIT_OK);
    }
    let route = router.route(&mut scratch, state, message, &tools);
    if arguments.json {
        Record::new(RawValue::NULL, &route).write(output)?;
    } else {
        show(&route, output)?;
    }
    Ok(EXIT_OK)
}

/// The batch record of a route.
#[derive(Serialize)]
struct Record<'r> {
    id: &'r RawValue,
    skill: Option<&'r str>,
    stage: Stage,
    opener: bool,
    tools: Option<&'r [String]>,
    evidence: &'r [Evidence],
    also: &'r [String],
    unusable: &'r [Unusable],
    opening: Option<&'r OpeningCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<&'r Trace>,
}

impl<'r> Record<'r> {
    fn new(id: &'r RawValue, route: &'r Route) -> Self {
        Self {
            id,
            skill: route.skill.as_deref(),
            stage: route.decision.stage,
            opener: route.decision.opener,
            tools: route.tools.as_deref(),
            evidence: &route.evidence,
            also: &route.also,
            unusable: &route.unusable,
            opening: route.opening.as_ref(),
            trace: None,
        }
    }

    fn write(&self, output: &mut Output) -> Result<(), Failure> {
        serde_json::to_writer_pretty(&mut output.out, self).map_err(std::io::Error::from)?;
        writeln!(output.out)?;
        Ok(())
    }
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

fn show_why_not(why: &WhyNot, output: &mut Output) -> Result<(), Failure> {
    let skill = output.bold(&why.skill);
    if why.taken {
        writeln!(output.out, "{skill} takes this message")?;
        return Ok(());
    }
    match &why.instead {
        Some((other, stage)) => {
            writeln!(output.out, "{skill} does not: {other} takes it by {}", stage.name())?
        }
        None if why.task => {
            writeln!(output.out, "{skill} does not: this is a front end's own prompt, which no skill takes")?;
            return Ok(());
        }
        None => writeln!(output.out, "{skill} does not, and neither does another skill")?,
    }
    if let Some(barred) = &why.not_carried {
        writeln!(output.out, "  it took the turn before, but {barred}")?;
    }
    if let Some(negated) = &why.negated {
        writeln!(output.out, "  matches   {negated}, but only behind a negator")?;
    }
    let said =
        [&why.excluded, &why.matched, &why.negated, &why.not_carried].iter().any(|part| part.is_some());
    if !said && why.nearest.is_none() && !why.unusable {
        writeln!(
            output.out,
            "  none of its triggers matches, and no keyword of it counts; `--explain` shows the stages"
        )?;
    }
    if why.unusable {
        writeln!(output.out, "  none of its tools can run")?;
    }
    if let Some(excluded) = &why.excluded {
        writeln!(output.out, "  excluded by {excluded}")?;
    }
    match (&why.matched, &why.vetoed) {
        (Some(matched), Some(veto)) => writeln!(output.out, "  matches   {matched}, but unless {veto}")?,
        (Some(matched), None) => {
            let why_late =
                if why.excluded.is_none() && !why.unusable { "; the other comes first" } else { "" };
            writeln!(output.out, "  matches   {matched}{why_late}")?;
        }
        (None, _) => {}
    }
    if let Some(nearest) = &why.nearest {
        writeln!(output.out, "  nearest   {:?} at {}", nearest.pattern, nearest.at)?;
        writeln!(output.out, "  took      {:?}", nearest.matched)?;
        let failed = nearest
            .failed_at
            .as_ref()
            .map_or("the end of the message".to_owned(), |word| format!("{word:?}"));
        writeln!(output.out, "  failed at {failed}")?;
        let more = if nearest.more_expected { ", …" } else { "" };
        writeln!(output.out, "  expected  {}{more}", nearest.expected.join(", "))?;
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
    for (written, word) in &trace.read_as {
        writeln!(output.out, "{} {written:?} as {word:?}", output.dim("read           "))?;
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

/// A record of a batch.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    /// Any JSON value; it comes back as it was written.
    #[serde(default)]
    id: Option<Box<RawValue>>,
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
    let shape = "{\"id\": …, \"after\": […], \"message\": \"…\"}";
    super::batch::run(path, shape, output, |request: Request, out| {
        let state = replay(router, scratch, request.after.iter().map(String::as_str), tools);
        let route = router.route(scratch, state, &request.message, tools);
        let record = Record::new(request.id.as_deref().unwrap_or(RawValue::NULL), &route);
        serde_json::to_writer(out, &record)
    })
}
