//! `skillc tool`: runs one tool and prints what the model would see, or lists those that can run.

use std::io::Write;
use std::path::Path;

use serde_json::{Map, Value, json};
use skill_compiler::diagnostics::suggestion;
use skill_runtime::artifact::{LanguageText, Parameter, ParameterType, ToolDeclaration, ToolOrigin};
use skill_runtime::research::{Subject, Tongue, tongue};
use skill_runtime::tools::{self, ToolContext};

use crate::args::Tool;
use crate::{EXIT_FINDINGS, EXIT_OK, Failure, Output, interrupt, library, reach};

pub(super) fn run(arguments: &Tool, skills: Option<&Path>, output: &mut Output) -> Result<u8, Failure> {
    let given = parse(&arguments.arguments)?;
    let loaded = library::load(skills, output)?;
    let texts = loaded.pack.library();
    let Some(name) = arguments.name.as_deref() else { return list(arguments, &texts.tools, output) };
    let language = language(&texts.languages, arguments, &given)?;
    let stop = interrupt::chatting();
    let server = name.split_once("__").map(|(server, _)| server);
    // Another server has no part in it.
    let mut opened = reach::open(&arguments.reach, Some(server.unwrap_or_default()), output)?;
    let tools = opened.tools();
    let Some(tool) = tools.iter().find(|tool| tool.name() == name) else {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
        let help = suggestion(name, names.iter().copied(), "tools that run here");
        let with = match server {
            Some(server) => format!("the MCP server `{server}`; --mcp names one"),
            None => format!("the web {}", opened.web.name()),
        };
        return Err(Failure::Usage(format!("no tool `{name}` can run with {with}: {help}")));
    };
    let declared: Vec<ToolDeclaration> =
        texts.tools.iter().filter(|tool| tool.name == name).cloned().collect();
    if let Some(misfit) = tools::misfits(&tools, &declared).into_iter().next() {
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
        let record = json!({"name": name, "arguments": given, "result": text, "failed": failed, "answer": answer, "web": opened.web.name()});
        writeln!(output.out, "{record}")?;
    } else {
        writeln!(output.out, "{text}")?;
    }
    Ok(if failed { EXIT_FINDINGS } else { EXIT_OK })
}

/// Tools that can run, as declarations: the library's, or what a library could say of them.
fn list(arguments: &Tool, declared: &[ToolDeclaration], output: &mut Output) -> Result<u8, Failure> {
    let mut opened = reach::open(&arguments.reach, None, output)?;
    let tools = opened.tools();
    for tool in &tools {
        let known = declared.iter().find(|known| known.name == tool.name());
        let Some(declaration) = known.or(tool.declaration()) else {
            // A tool of this program that the library does not use.
            let wants = tool.wants();
            let record = json!({"name": tool.name(), "required": wants.required, "optional": wants.optional, "declared": false});
            if arguments.json {
                writeln!(output.out, "{record}")?;
            } else {
                writeln!(output.out, "// {}: the library does not declare it", tool.name())?;
            }
            continue;
        };
        if arguments.json {
            let record = json!({"name": declaration.name, "description": declaration.description, "origin": declaration.origin, "parameters": declaration.schema(), "declared": known.is_some()});
            writeln!(output.out, "{record}")?;
        } else {
            writeln!(output.out, "{}", item(declaration))?;
        }
    }
    Ok(EXIT_OK)
}

/// Its schema admits numbers, if not all.
fn is_number(parameter: &Parameter) -> bool {
    let kind = parameter.schema.as_ref().and_then(|schema| schema.get("type")).and_then(Value::as_str);
    matches!(kind, Some("integer" | "number"))
}

/// A declaration as a library writes it.
fn item(declaration: &ToolDeclaration) -> String {
    let parameter = |parameter: &Parameter| {
        let optional = if parameter.optional { "?" } else { "" };
        let is_word = |text: &String| {
            text.starts_with(|c: char| c.is_alphabetic() || c == '_')
                && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
        };
        let kind = match &parameter.kind {
            ParameterType::Number => "number".to_owned(),
            ParameterType::Boolean => "boolean".to_owned(),
            ParameterType::Url => "url".to_owned(),
            ParameterType::Place => "place".to_owned(),
            ParameterType::Date => "date".to_owned(),
            ParameterType::OneOf(values) if values.iter().all(is_word) => {
                format!("one-of({})", values.join(", "))
            }
            ParameterType::Json if is_number(parameter) => "number".to_owned(),
            ParameterType::Text | ParameterType::OneOf(_) | ParameterType::Json => "text".to_owned(),
        };
        let default = parameter.default.as_ref().map_or(String::new(), |value| format!(" = {value}"));
        format!("{}{optional}: {kind}{default}", parameter.name)
    };
    let origin = match declaration.origin {
        ToolOrigin::Sourced => "sourced",
        ToolOrigin::Computed => "computed",
        ToolOrigin::Effect => "effect",
    };
    let parameters: Vec<String> = declaration.parameters.iter().map(parameter).collect();
    let description = declaration.description.split_whitespace().collect::<Vec<_>>().join(" ");
    let description = description.replace('\\', "\\\\").replace('"', "\\\"");
    format!("tool {}({}) {origin} \"{description}\"", declaration.name, parameters.join(", "))
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
