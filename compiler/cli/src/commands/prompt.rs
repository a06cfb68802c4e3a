//! `skillc prompt`: exactly what the model would be sent. It runs no tool.

use std::io::Write;
use std::path::Path;

use skill_runtime::conversation::replay;
use skill_runtime::model::{Message, Processor};
use skill_runtime::prompt::{self, Inputs, Plan, RESULT_PLACEHOLDER, ToolRun, Writer};
use skill_runtime::router::{Router, Scratch};

use super::{model, tool_set};
use crate::args;
use crate::model_store::Store;
use crate::progress::Terminal;
use crate::{EXIT_OK, Failure, Output, library};

pub(super) fn run(
    arguments: &args::Prompt,
    skills: Option<&Path>,
    output: &mut Output,
) -> Result<u8, Failure> {
    let loaded = library::load(skills, output)?;
    let tools = tool_set(&loaded.pack, arguments.tools.as_deref())?;
    let folder = match &arguments.model.dir {
        Some(name) => Store::open()?.named(name),
        None => Store::open()?.fetch_model(&Terminal)?,
    };
    let processor = Processor::open(&folder, arguments.model.dtype.as_deref())?;
    let mut profile = processor.profile().clone();
    model::override_answers(&mut profile, arguments.model.answers);
    let router = Router::new(&loaded.pack);
    let mut scratch = Scratch::default();
    let state = replay(&router, &mut scratch, arguments.after.iter().map(String::as_str), &tools);
    let route = router.route(&mut scratch, state, &arguments.message, &tools);
    let texts = loaded.pack.library();
    let skill = route.decision.skill.map(|skill| loaded.pack.skill_text(skill as usize));
    // As in a conversation: words of the message decide, else those of the turn before, else the first language.
    let before = arguments.after.iter().rev().find_map(|turn| router.language(&mut scratch, turn));
    let number = route.language.or(before).unwrap_or_default() as usize;
    let language = texts.languages.get(number).cloned().unwrap_or_default();
    let runs: Vec<ToolRun> = route
        .opening
        .iter()
        .map(|call| ToolRun { call: call.clone(), result: RESULT_PLACEHOLDER.to_owned() })
        .collect();
    let history: Vec<Message> =
        arguments.after.iter().map(|turn| Message::new("user", turn.clone())).collect();
    let inputs = Inputs {
        library: &texts,
        skill: skill.as_ref(),
        route: &route,
        language: &language,
        history: &history,
        message: &arguments.message,
        runs: &runs,
        profile: &profile,
        template_takes_tools: processor.template_takes_tools(),
        format: processor.calls().format,
        available: None,
        withheld: false,
        notes: &[],
        behind: &[],
    };
    let Plan { writer, messages, tools, left_out, .. } = prompt::plan(&inputs);
    match &writer {
        Writer::Model => {}
        Writer::Exemplar(text) => {
            writeln!(output.out, "(the model is not run: an exemplar answers {text:?})")?
        }
        Writer::Quote => writeln!(output.out, "(the model is not run: code quotes the tool's result)")?,
    }
    let text = processor.render(&messages, &tools)?;
    let tokens = processor.tokens(&text)?.len();
    let block = if tools.is_empty() {
        "no tool block".to_owned()
    } else {
        super::diagnostics::counted(tools.len(), "tool")
    };
    let skill = match &route.skill {
        Some(skill) => format!("{skill} by {}", route.decision.stage.name()),
        None => "no skill".to_owned(),
    };
    writeln!(output.out, "({skill}; {tokens} tokens; {block})")?;
    for message in &left_out {
        writeln!(
            output.out,
            "(left out, over the budget of {} characters: {message:?})",
            prompt::CONTEXT_BUDGET
        )?;
    }
    writeln!(output.out, "{text}")?;
    Ok(EXIT_OK)
}
