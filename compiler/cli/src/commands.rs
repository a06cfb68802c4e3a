//! One file a command.

mod batch;
mod bench;
mod build;
mod chat;
mod check;
mod completions;
pub(crate) mod diagnostics;
mod eval;
mod explain;
mod extract;
mod model;
mod new;
mod prompt;
mod quote;
mod review;
mod route;
mod table;
mod test;
mod tool;

use skill_runtime::artifact::Pack;
use skill_runtime::router::ToolSet;

use crate::args::{Arguments, Command};
use crate::{EXIT_OK, Failure, Output};

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<u8, Failure> {
    let skills = arguments.skills.as_deref();
    match &arguments.command {
        Command::Check(check) => check::run(check, skills, output),
        Command::Build(build) => build::run(build, skills, output),
        Command::Test(test) => test::run(test, skills, output),
        Command::Table(table) => table::run(table, skills, output),
        Command::Route(route) => route::run(route, skills, output),
        Command::Prompt(prompt) => prompt::run(prompt, skills, output),
        Command::Quote(quote) => quote::run(quote, output),
        Command::Tool(tool) => tool::run(tool, skills, output),
        Command::Review(review) => review::run(review, skills, output),
        Command::Extract(extract) => extract::run(extract, output),
        Command::DemoWeb(demo) => {
            skill_evals::web::serve(demo.port).map_err(|error| Failure::Usage(error.to_string()))?;
            Ok(EXIT_OK)
        }
        Command::DemoMcp(demo) => {
            let served = match demo.http {
                Some(port) => skill_evals::mcp::serve_http(port),
                None => skill_evals::mcp::serve_streams(),
            };
            served.map_err(|error| Failure::Usage(format!("the demo server cannot be served: {error}")))?;
            Ok(EXIT_OK)
        }
        Command::New(new) => new::run(new, skills, output),
        Command::Completions(completions) => completions::run(completions, output),
        Command::Explain(explain) => explain::run(explain, output),
        Command::Eval(eval) => eval::run(eval, skills, output),
        Command::Model(model) => model::run(model, skills, output),
        Command::Chat(chat) => chat::run(chat, skills, output),
    }
}

/// The tools that a `--tools` option leaves; an unknown name is an error.
fn tool_set(pack: &Pack, named: Option<&[String]>) -> Result<ToolSet, Failure> {
    let Some(named) = named else { return Ok(ToolSet::all(pack)) };
    let known = pack.tool_names();
    for name in named.iter().filter(|name| !name.is_empty()) {
        if !known.contains(&name.as_str()) {
            let help = skill_compiler::diagnostics::suggestion(name, known.iter().copied(), "tools");
            return Err(Failure::Usage(format!("unknown tool `{name}`: {help}")));
        }
    }
    Ok(ToolSet::named(pack, |name| named.iter().any(|wanted| wanted == name)))
}
