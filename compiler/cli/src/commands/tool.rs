//! `skillc tool`: runs one tool and prints what the model would see.

use std::io::Write;
use std::path::Path;

use serde_json::{Map, Value, json};
use skill_compiler::diagnostics::suggestion;
use skill_runtime::artifact::LanguageText;
use skill_runtime::research::{Subject, Tongue, tongue};
use skill_runtime::tools::{self, ToolContext};

use crate::args::Tool;
use crate::{EXIT_FINDINGS, EXIT_OK, Failure, Output, interrupt, library, reach};

pub(super) fn run(arguments: &Tool, skills: Option<&Path>, output: &mut Output) -> Result<u8, Failure> {
    let given = parse(&arguments.arguments)?;
    let loaded = library::load(skills, output)?;
    let texts = loaded.pack.library();
    let language = language(&texts.languages, arguments, &given)?;
    let stop = interrupt::chatting();
    let opened = reach::open(&arguments.reach)?;
    let tools = tools::built_in(&opened.reach);
    let Some(tool) = tools.iter().find(|tool| tool.name() == arguments.name) else {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
        let help = suggestion(&arguments.name, names.iter().copied(), "tools that run here");
        return Err(Failure::Usage(format!(
            "no tool `{}` can run with the web {} : {help}",
            arguments.name,
            opened.web.name()
        )));
    };
    if let Some(misfit) =
        tools::misfits(&tools, &texts.tools).into_iter().find(|misfit| misfit.contains(&arguments.name))
    {
        return Err(Failure::Usage(misfit));
    }
    let turns = arguments
        .after
        .chunks(2)
        .filter_map(|turn| Some((turn.first()?.as_str(), turn.get(1).map_or("", String::as_str))));
    let subject = Subject::of(turns);
    let question = arguments.question.as_deref().unwrap_or_default();
    let here = ToolContext::here(&language, true);
    let context = ToolContext { arguments_by_model: true, question, subject: &subject, stop, ..here };
    let result = tool.run(&given, &context);
    let failed = result.is_err();
    let (text, answer) = match result {
        Ok(found) => (found.text, found.answer),
        Err(failure) => (failure.text(&context), None),
    };
    if arguments.json {
        let record = json!({"name": arguments.name, "arguments": given, "result": text, "failed": failed, "answer": answer, "web": opened.web.name()});
        writeln!(output.out, "{record}")?;
    } else {
        writeln!(output.out, "{text}")?;
    }
    Ok(if failed { EXIT_FINDINGS } else { EXIT_OK })
}

fn parse(text: &str) -> Result<Map<String, Value>, Failure> {
    serde_json::from_str(text).map_err(|error| {
        Failure::Usage(format!(
            "the arguments are no JSON object: {error}; an example: '{{\"query\": \"capital of France\"}}'"
        ))
    })
}

/// The language that was named, else that of the arguments, else the first.
fn language(
    languages: &[LanguageText],
    arguments: &Tool,
    given: &Map<String, Value>,
) -> Result<LanguageText, Failure> {
    if let Some(name) = &arguments.language {
        return languages.iter().find(|language| language.name == *name).cloned().ok_or_else(|| {
            let help = suggestion(name, languages.iter().map(|language| language.name.as_str()), "languages");
            Failure::Usage(format!("unknown language `{name}`: {help}"))
        });
    }
    let said: Vec<&str> =
        given.values().filter_map(Value::as_str).chain(arguments.question.as_deref()).collect();
    let tag = tongue(&said.join(" ")).unwrap_or(Tongue::English).tag();
    let found = languages.iter().find(|language| language.name == tag).or_else(|| languages.first());
    Ok(found.cloned().unwrap_or_default())
}
