//! `skillc table`: skills in routing order, then one row a message.

use std::io::Write;
use std::path::Path;

use skill_runtime::conversation::replay;
use skill_runtime::router::{Router, Scratch, ToolSet};

use crate::args::Table;
use crate::input::{Line, Lines};
use crate::{EXIT_FINDINGS, EXIT_OK, Failure, Output, library};

pub(super) fn run(table: &Table, skills: Option<&Path>, output: &mut Output) -> Result<u8, Failure> {
    let loaded = library::load(skills, output)?;
    let mut code = EXIT_OK;
    let conversations: Vec<Vec<String>> = match &table.messages {
        Some(path) => {
            let mut lines = Lines::open(path)?;
            let name = lines.name().to_owned();
            let mut messages = Vec::new();
            while let Some(Line { number, text }) = lines.next()? {
                match text {
                    Ok(text) if text.trim().is_empty() => {}
                    Ok(text) => messages.push(vec![text.to_owned()]),
                    Err(fault) => {
                        code = EXIT_FINDINGS;
                        writeln!(output.err, "{name}:{number}: {fault}; it was skipped")?;
                    }
                }
            }
            messages
        }
        None => loaded.pack.library().tests,
    };
    let router = Router::new(&loaded.pack);
    let overview = router.overview();
    let names: Vec<&str> = overview.iter().map(|skill| skill.name.as_str()).collect();
    let width = names.iter().map(|name| name.len()).max().unwrap_or_default().max("skill".len());
    writeln!(output.out, "{:width$}  priority  triggers  exclusions  keywords  answer      tools", "skill")?;
    for (number, skill) in overview.iter().enumerate() {
        let mut openings = skill.openings.clone();
        openings.dedup();
        let text = loaded.pack.skill_text(number);
        let tools = match &skill.tools {
            None => "all".to_owned(),
            Some(tools) if tools.is_empty() => "none".to_owned(),
            Some(tools) => tools.join(", "),
        };
        let opening =
            if openings.is_empty() { String::new() } else { format!("; opens {}", openings.join(" or ")) };
        let answer = match &text.answer_else {
            Some(mode) => format!("{} else {mode}", text.answer),
            None => text.answer.clone(),
        };
        writeln!(
            output.out,
            "{:width$}  {:>8}  {:>8}  {:>10}  {:>8}  {answer:10}  {tools}{opening}",
            skill.name, skill.priority, skill.triggers, skill.excludes, skill.keywords
        )?;
    }
    if conversations.is_empty() {
        return Ok(code);
    }
    writeln!(output.out)?;
    let tools = ToolSet::all(&loaded.pack);
    let mut scratch = Scratch::default();
    for turns in &conversations {
        for (at, message) in turns.iter().enumerate() {
            let before = turns.iter().take(at).map(String::as_str);
            let state = replay(&router, &mut scratch, before, &tools);
            let route = router.route(&mut scratch, state, message, &tools);
            let skill = route.skill.as_deref().unwrap_or("none");
            let stage = route.decision.stage.name();
            let opener = if route.decision.opener { "+" } else { " " };
            let bound: Vec<String> = route
                .bindings
                .iter()
                .filter(|binding| binding.name != "message")
                .map(|binding| format!("{}={:?}", binding.name, binding.text))
                .collect();
            let arrow = if at > 0 { "  > " } else { "" };
            let message = message.replace('\n', "⏎");
            let bound = if bound.is_empty() { String::new() } else { format!("  {}", bound.join(" ")) };
            writeln!(output.out, "{skill:width$}  {stage:10}{opener} {arrow}{message}{bound}")?;
        }
    }
    Ok(code)
}
