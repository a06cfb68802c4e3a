//! `skillc chat`: one message, a conversation with line editing, or one line of standard input a turn.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustyline::error::ReadlineError;
use serde_json::json;
use skill_runtime::agent::{Agent, Label, ModelSource, Observer, Reply, Silent, ToolReport};
use skill_runtime::model::{
    Endpoint, LanguageModel, Model, ModelError, Processor, Profile, Remote, Sampling,
};
use skill_runtime::review::Finding;
use skill_runtime::router::Route;
use skill_runtime::tools::misfits;

use super::{model, tool_set};
use crate::args::{Chat, ModelChoice};
use crate::input::{Line, Lines};
use crate::interrupt::{self, EXIT_STOPPED};
use crate::model_store::Store;
use crate::progress::{Progress, Terminal};
use crate::{EXIT_OK, EXIT_USAGE, Failure, Output, library, reach};

const HELP: &str = "\
/help    this text
/reset   forget the conversation
/quit    end, like Ctrl-D
Ctrl-C stops a reply.";

/// What a line starting with a slash asks of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Command {
    Help,
    Reset,
    Quit,
}

/// The command that a line is, in any case; other lines, `/foo` included, are messages.
fn command(line: &str) -> Option<Command> {
    match line.to_ascii_lowercase().as_str() {
        "/help" => Some(Command::Help),
        "/reset" => Some(Command::Reset),
        "/quit" | "/exit" => Some(Command::Quit),
        _ => None,
    }
}

/// The model, opened when a turn needs it first: greetings and sums are answered without it.
struct LazyModel {
    folder: PathBuf,
    choice: ModelChoice,
    runtime: PathBuf,
    profile: Profile,
    model: Option<Model>,
    adjust: Adjust,
    quiet: bool,
}

/// An endpoint in place of a model here.
struct FromEndpoint {
    remote: Remote,
    profile: Profile,
    adjust: Adjust,
}

impl ModelSource for FromEndpoint {
    fn profile(&self) -> Profile {
        self.profile.clone()
    }

    fn model(&mut self) -> Result<&mut dyn LanguageModel, ModelError> {
        Err(ModelError::Runtime("an endpoint answers, no model is opened here".to_owned()))
    }

    fn remote(&mut self) -> Option<&mut Remote> {
        Some(&mut self.remote)
    }

    fn adjust(&self, sampling: Sampling) -> Sampling {
        self.adjust.adjust(sampling)
    }
}

impl Adjust {
    fn of(chat: &Chat) -> Self {
        Self {
            greedy: chat.greedy,
            temperature: chat.temperature,
            seed: chat.seed,
            max_tokens: chat.max_tokens.map(|tokens| tokens as usize),
        }
    }

    fn adjust(&self, sampling: Sampling) -> Sampling {
        Sampling {
            temperature: if self.greedy { 0.0 } else { self.temperature.unwrap_or(sampling.temperature) },
            seed: self.seed,
            max_new_tokens: self.max_tokens.unwrap_or(sampling.max_new_tokens),
            ..sampling
        }
    }
}

/// Settings that the command line changes.
struct Adjust {
    greedy: bool,
    temperature: Option<f32>,
    seed: u64,
    max_tokens: Option<usize>,
}

impl ModelSource for LazyModel {
    fn profile(&self) -> Profile {
        self.profile.clone()
    }

    fn model(&mut self) -> Result<&mut dyn LanguageModel, ModelError> {
        if self.model.is_none() {
            let opened = Model::open(&self.folder, &self.runtime, model::options(&self.choice))?;
            if !self.quiet {
                let device = opened.device();
                Terminal.say(&format!(
                    "{} on {} (`skillc model info` says why)",
                    opened.processor().name(),
                    device.name
                ));
            }
            self.model = Some(opened);
        }
        match &mut self.model {
            Some(model) => Ok(model),
            None => Err(ModelError::Runtime("the model was not opened".to_owned())),
        }
    }

    fn adjust(&self, sampling: Sampling) -> Sampling {
        self.adjust.adjust(sampling)
    }
}

/// Shows a turn as it happens.
struct Live<'o> {
    output: &'o mut Output,
    failed: Option<std::io::Error>,
}

impl Live<'_> {
    fn keep(&mut self, result: std::io::Result<()>) {
        if let (Err(error), None) = (result, &self.failed) {
            self.failed = Some(error);
        }
    }
}

impl Observer for Live<'_> {
    fn routed(&mut self, route: &Route) {
        let skill = route.skill.as_deref().unwrap_or("no skill");
        let tools = match &route.tools {
            None => String::new(),
            Some(tools) if tools.is_empty() => " · no tools".to_owned(),
            Some(tools) => format!(" · {}", tools.join(", ")),
        };
        let stage = route.decision.stage.name();
        let by = if route.skill.is_some() { format!(" by {stage}") } else { String::new() };
        let text = self.output.dim(&format!("[{skill}{by}{tools}]"));
        let result = writeln!(self.output.out, "{text}");
        self.keep(result);
        for unusable in &route.unusable {
            let text =
                format!("[{} would answer, but {} cannot run]", unusable.skill, unusable.tools.join(", "));
            let text = self.output.dim(&text);
            let result = writeln!(self.output.out, "{text}");
            self.keep(result);
        }
    }

    fn tool(&mut self, report: &ToolReport) {
        let arguments: Vec<String> =
            report.arguments.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let failed = if report.failed { " failed" } else { "" };
        let text = self.output.dim(&format!("[{}({}){failed}]", report.name, arguments.join(", ")));
        let result = writeln!(self.output.out, "{text}");
        self.keep(result);
    }

    fn corrects(&mut self, findings: &[Finding]) {
        let rules: Vec<&str> = findings.iter().map(|finding| finding.rule).collect();
        let text = self.output.dim(&format!("[{}; it writes again]", rules.join(", ")));
        let result = writeln!(self.output.out, "\n{text}");
        self.keep(result);
    }

    fn stands(&mut self, draft: &str) {
        let text = self.output.dim("[no better; what it wrote first stands]");
        let result = writeln!(self.output.out, "\n{text}\n{draft}");
        self.keep(result);
    }

    fn text(&mut self, piece: &str) {
        let result = write!(self.output.out, "{piece}").and_then(|()| self.output.out.flush());
        self.keep(result);
    }
}

pub(super) fn run(chat: &Chat, skills: Option<&Path>, output: &mut Output) -> Result<u8, Failure> {
    if chat.message.as_ref().is_some_and(|message| message.trim().is_empty()) {
        return Err(Failure::Usage("the message is empty; leave it out for a conversation".to_owned()));
    }
    let loaded = library::load(skills, output)?;
    let mut opened = reach::open(&chat.reach, None, output)?;
    let web = opened.web.name();
    let tools = opened.tools();
    // An unknown name is an error before anything is fetched.
    let of_the_library = chat.tools.as_ref().map(|named| -> Vec<String> {
        named.iter().filter(|name| tools.iter().all(|tool| tool.name() != *name)).cloned().collect()
    });
    tool_set(&loaded.pack, of_the_library.as_deref())?;
    if let Some(misfit) = misfits(&tools, &loaded.pack.library().tools).into_iter().next() {
        return Err(Failure::Usage(misfit));
    }
    let only = |name: &str| chat.tools.as_ref().is_none_or(|named| named.iter().any(|wanted| wanted == name));
    if let (Some(url), Some(name)) = (&chat.endpoint, &chat.remote_model) {
        let mut profile = Profile::default();
        model::override_answers(&mut profile, chat.model.answers);
        let endpoint = Endpoint {
            url: url.clone(),
            model: name.clone(),
            key: chat.api_key_env.as_deref().map(key).transpose()?,
            silence: Duration::from_secs(u64::from(chat.silence.max(1))),
        };
        let source = FromEndpoint { remote: Remote::new(endpoint)?, profile, adjust: Adjust::of(chat) };
        let mut agent = Agent::new(&loaded.pack, tools, source, only)
            .on_the_web(web)
            .recalling(opened.reach.memory.clone());
        return talk(chat, &mut agent, output);
    }
    let store = Store::open()?;
    let (folder, runtime) = model::locate(&store, &chat.model)?;
    let mut profile = Processor::open(&folder, chat.model.dtype.as_deref())?.profile().clone();
    model::override_answers(&mut profile, chat.model.answers);
    let source = LazyModel {
        folder,
        choice: chat.model.clone(),
        runtime,
        profile,
        model: None,
        adjust: Adjust::of(chat),
        quiet: chat.json,
    };
    let mut agent =
        Agent::new(&loaded.pack, tools, source, only).on_the_web(web).recalling(opened.reach.memory.clone());
    talk(chat, &mut agent, output)
}

/// The key in an environment variable.
fn key(variable: &str) -> Result<String, Failure> {
    match std::env::var(variable) {
        Ok(key) if !key.trim().is_empty() => Ok(key.trim().to_owned()),
        _ => Err(Failure::Usage(format!("the environment variable {variable} holds no key"))),
    }
}

fn talk<M: ModelSource>(chat: &Chat, agent: &mut Agent<'_, M>, output: &mut Output) -> Result<u8, Failure> {
    let stop = interrupt::chatting();
    let mut turns = Turns { agent, stop, json: chat.json };
    match &chat.message {
        Some(message) => {
            let reply = turns.run(message, output)?;
            let stopped = reply.labels.contains(&Label::Stopped);
            Ok(if stopped { EXIT_STOPPED } else { EXIT_OK })
        }
        None if std::io::stdin().is_terminal() => turns.converse(output),
        None => turns.lines(output),
    }
}

struct Turns<'a, 'p, M> {
    agent: &'a mut Agent<'p, M>,
    stop: &'a AtomicBool,
    json: bool,
}

impl<M: ModelSource> Turns<'_, '_, M> {
    fn run(&mut self, message: &str, output: &mut Output) -> Result<Reply, Failure> {
        self.stop.store(false, Ordering::Relaxed);
        if self.json {
            let reply = self.agent.turn(message, self.stop, &mut Silent)?;
            serde_json::to_writer(&mut output.out, &reply).map_err(std::io::Error::from)?;
            writeln!(output.out)?;
            output.out.flush()?;
            return Ok(reply);
        }
        let mut live = Live { output, failed: None };
        let turn = self.agent.turn(message, self.stop, &mut live);
        if let Some(error) = live.failed {
            return Err(error.into());
        }
        let reply = turn?;
        writeln!(output.out)?;
        let mut notes = Vec::new();
        if reply.model_ran {
            let speed = reply.tokens_per_second.map_or(String::new(), |speed| format!(", {speed} tokens/s"));
            notes.push(format!(
                "{} + {} tokens, first after {:.0} ms{speed}",
                reply.prompt_tokens, reply.reply_tokens, reply.time_to_first_token_ms
            ));
        }
        if !reply.tools_run.is_empty() || !reply.unusable.is_empty() {
            notes.push(format!("web {}", reply.web));
        }
        if reply.dropped_turns > 0 {
            notes.push(format!("the oldest {} turns no longer fit", reply.dropped_turns));
        }
        if reply.reasoning_tokens > 0 {
            notes.push(format!("{} of them reasoning", reply.reasoning_tokens));
        }
        if reply.repeats_left_out {
            notes.push("what it says again is not remembered".to_owned());
        }
        for finding in &reply.findings {
            notes.push(format!("{}: {}", finding.rule, finding.correction));
        }
        notes.extend(reply.notes.iter().cloned());
        if !notes.is_empty() {
            let text = output.dim(&format!("[{}]", notes.join("; ")));
            writeln!(output.out, "{text}")?;
        }
        output.out.flush()?;
        Ok(reply)
    }

    /// One turn a line of standard input; a failed turn is reported and the rest goes on.
    fn lines(&mut self, output: &mut Output) -> Result<u8, Failure> {
        let mut code = EXIT_OK;
        let mut lines = Lines::of_stdin();
        while let Some(Line { number, text }) = lines.next()? {
            let line = match text {
                Ok(line) => line,
                Err(fault) => {
                    code = EXIT_USAGE;
                    let fault = format!("standard input:{number}: {fault}; it was skipped");
                    if self.json {
                        writeln!(output.out, "{}", json!({"error": fault}))?;
                    }
                    writeln!(output.err, "error: {fault}")?;
                    continue;
                }
            };
            if line.trim().is_empty() {
                continue;
            }
            match command(line.trim()) {
                Some(Command::Quit) => break,
                Some(Command::Reset) => {
                    self.agent.reset();
                    continue;
                }
                Some(Command::Help) => {
                    writeln!(output.err, "{HELP}")?;
                    continue;
                }
                None => {}
            }
            match self.run(line, output) {
                Ok(_) => {}
                Err(failure @ Failure::Model(_)) => {
                    code = EXIT_USAGE;
                    if self.json {
                        writeln!(output.out, "{}", json!({"error": failure.to_string()}))?;
                    }
                    writeln!(output.err, "error: {failure}")?;
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(code)
    }

    /// A conversation on a terminal.
    fn converse(&mut self, output: &mut Output) -> Result<u8, Failure> {
        let mut editor = rustyline::DefaultEditor::new()
            .map_err(|error| Failure::Usage(format!("this terminal cannot be used: {error}")))?;
        writeln!(output.out, "{}", output.dim("Type a message; /help lists the commands."))?;
        loop {
            output.out.flush()?;
            match editor.readline("> ") {
                Ok(line) => {
                    let line = line.trim();
                    if line.is_empty() {
                        continue;
                    }
                    match command(line) {
                        Some(Command::Quit) => return Ok(EXIT_OK),
                        Some(Command::Help) => {
                            writeln!(output.out, "{HELP}")?;
                            continue;
                        }
                        Some(Command::Reset) => {
                            self.agent.reset();
                            writeln!(output.out, "{}", output.dim("The conversation is forgotten."))?;
                            continue;
                        }
                        None => {}
                    }
                    // A line that cannot be remembered can still be answered.
                    let _ = editor.add_history_entry(line);
                    match self.run(line, output) {
                        Ok(_) => {}
                        Err(failure @ Failure::Model(_)) => writeln!(output.err, "error: {failure}")?,
                        Err(failure) => return Err(failure),
                    }
                }
                Err(ReadlineError::Interrupted) => {
                    writeln!(output.out, "{}", output.dim("Ctrl-D or /quit ends the conversation."))?;
                }
                Err(ReadlineError::Eof) => return Ok(EXIT_OK),
                Err(ReadlineError::Io(error)) if error.kind() == std::io::ErrorKind::InvalidData => {
                    writeln!(output.err, "error: that line is not UTF-8; it was skipped")?;
                }
                Err(error) => return Err(Failure::Usage(format!("this terminal cannot be used: {error}"))),
            }
        }
    }
}
