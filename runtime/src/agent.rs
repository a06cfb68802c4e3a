//! One turn of a conversation: route, make the opening call, let code or the model write, label what came out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::artifact::{LanguageText, LibraryText, Pack, SkillText, ToolOrigin};
use crate::links::links;
use crate::model::{
    Bounds, CallFormat, Calls, Ending, Evidence, LanguageModel, Message, ModelError, Profile, Prompt, Remote,
    Sampling, Strategy, Written, collapse,
};
use crate::prompt::{self, Inputs, Plan, ToolRun, Writer};
use crate::research::{Subject, Tongue, can_answer, complete, of_another, tongue};
use crate::review::{Claim, Finding, Material, Offered, Ran, Review, Said, review as check};
use crate::router::{OpeningCall, Route, Router, Scratch, Stage, State, ToolSet, Unusable};
use crate::tools::{Memory, Quote, Tool, ToolContext, ToolOutput, reply};

/// A tool that was run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToolReport {
    /// Name.
    pub name: String,
    /// Arguments.
    pub arguments: serde_json::Map<String, serde_json::Value>,
    /// What it returned, or why it failed.
    pub result: String,
    /// It failed; its result is no evidence.
    pub failed: bool,
    /// What of it can be quoted as an answer.
    #[serde(skip)]
    pub output: ToolOutput,
}

/// Labels of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    /// It should have come from a source and did not.
    Unsourced,
    /// It was cut at the limit of tokens.
    Limit,
    /// The user stopped it.
    Stopped,
    /// The model began a call and did not end it within its bound; it is not part of the reply.
    CallNotRun,
}

/// What a turn came to.
#[derive(Clone, Debug, Serialize)]
pub struct Reply {
    /// The answer.
    pub reply: String,
    /// The skill.
    pub skill: Option<String>,
    /// The stage that decided.
    pub stage: Stage,
    /// Offered tools; None without a restriction.
    pub tools_offered: Option<Vec<String>>,
    /// Tools that ran.
    pub tools_run: Vec<ToolReport>,
    /// Skills that would have won but for their tools.
    pub unusable: Vec<Unusable>,
    /// Other skills whose triggers matched.
    pub also: Vec<String>,
    /// Language of the reply.
    pub language: String,
    /// The web that tools reached: `live`, `demo` or `off`.
    pub web: &'static str,
    /// The model wrote it, or a call that it was made from; else code did.
    pub model_ran: bool,
    /// Tokens of the prompt.
    pub prompt_tokens: usize,
    /// Tokens of prompts that were computed for this turn: the rest was known from turns and skills before.
    pub prefilled_tokens: usize,
    /// Tokens written.
    pub reply_tokens: usize,
    /// What the model reasoned before it answered; the reply only where it said nothing else.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// Tokens of it, counted among those written.
    pub reasoning_tokens: usize,
    /// Paragraphs or sentences that were said again word for word were left out of the reply.
    pub repeats_left_out: bool,
    /// Milliseconds until the first token or the whole text of code.
    pub time_to_first_token_ms: f64,
    /// Tokens a second.
    pub tokens_per_second: Option<f64>,
    /// Oldest turns that were dropped because the context was full.
    pub dropped_turns: usize,
    /// What the answer check found and a correction did not mend.
    pub findings: Vec<Finding>,
    /// Sentences that no passage supports.
    pub unsupported_claims: Vec<Claim>,
    /// A correction left no finding.
    pub corrected: bool,
    /// The rounds of calls were spent before the model answered.
    pub wound_down: bool,
    /// Labels.
    pub labels: Vec<Label>,
    /// What the labels say, in the reply's language.
    pub notes: Vec<String>,
}

/// What happens while a turn runs.
pub trait Observer {
    /// The message was routed.
    fn routed(&mut self, _route: &Route) {}
    /// A tool ran.
    fn tool(&mut self, _report: &ToolReport) {}
    /// A piece of the reply.
    fn text(&mut self, _piece: &str) {}
    /// What was written so far was wrong; what comes now takes its place.
    fn corrects(&mut self, _findings: &[Finding]) {}
    /// The correction was no better: what was written first stands.
    fn stands(&mut self, _draft: &str) {}
}

/// An observer that looks at nothing.
#[derive(Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// A conversation with a library, its tools and a model that is opened when it is needed first.
pub struct Agent<'p, M> {
    router: Router<'p>,
    scratch: Scratch,
    library: LibraryText,
    tools: Vec<Box<dyn Tool>>,
    available: ToolSet,
    /// Names of the available tools.
    runnable: Vec<String>,
    profile: Profile,
    model: M,
    history: Vec<Message>,
    state: State,
    language: Option<usize>,
    /// The last call that code made, with its skill.
    opened: Option<(String, OpeningCall)>,
    web: &'static str,
    memory: Option<Arc<Memory>>,
}

impl<M> std::fmt::Debug for Agent<'_, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("turns", &self.history.len()).finish_non_exhaustive()
    }
}

/// Where the agent gets its model from.
pub trait ModelSource {
    /// What is known of the model before it is opened.
    fn profile(&self) -> Profile;
    /// The model, opened on the first call.
    ///
    /// # Errors
    /// It cannot be opened.
    fn model(&mut self) -> Result<&mut dyn LanguageModel, ModelError>;
    /// The endpoint that answers in place of a model here, if there is one.
    fn remote(&mut self) -> Option<&mut Remote> {
        None
    }
    /// The model's own settings, as the user changed them.
    fn adjust(&self, sampling: Sampling) -> Sampling;
}

/// Rounds of calls that a model may write for one message (reference: 4).
const MOST_ROUNDS: usize = 4;

impl<'p, M: ModelSource> Agent<'p, M> {
    /// A conversation without turns. `only` keeps those of the tools whose name passes.
    pub fn new(pack: &'p Pack, tools: Vec<Box<dyn Tool>>, model: M, only: impl Fn(&str) -> bool) -> Self {
        let runnable: Vec<String> =
            tools.iter().map(|tool| tool.name().to_owned()).filter(|name| only(name)).collect();
        let available = ToolSet::named(pack, |name| runnable.iter().any(|known| known == name));
        let mut library = pack.library();
        library.tools = crate::tools::declarations(&tools, &library.tools);
        Self {
            router: Router::new(pack),
            scratch: Scratch::default(),
            library,
            tools,
            available,
            runnable,
            profile: model.profile(),
            model,
            history: Vec::new(),
            state: State::default(),
            language: None,
            opened: None,
            web: "off",
            memory: None,
        }
    }

    /// Names the web that its tools reach, for the data of replies.
    #[must_use]
    pub fn on_the_web(self, web: &'static str) -> Self {
        Self { web, ..self }
    }

    /// Lets what is remembered about the user into prompts.
    #[must_use]
    pub fn recalling(self, memory: Option<Arc<Memory>>) -> Self {
        Self { memory, ..self }
    }

    /// Forgets every turn.
    pub fn reset(&mut self) {
        self.history.clear();
        self.state = State::default();
        self.language = None;
        self.opened = None;
    }

    /// Answers a message and remembers the turn. `stop` ends the model's writing between two tokens.
    ///
    /// # Errors
    /// The model cannot be opened or fails; the conversation is as before.
    pub fn turn(
        &mut self,
        message: &str,
        stop: &AtomicBool,
        observer: &mut dyn Observer,
    ) -> Result<Reply, ModelError> {
        let start = Instant::now();
        let route = self.router.route(&mut self.scratch, self.state, message, &self.available);
        observer.routed(&route);
        // What the message does not tell, the turns before it may.
        let certain = route.language.is_some() || self.language.is_some();
        let number = route.language.map(|number| number as usize).or(self.language).unwrap_or_default();
        let language = self.library.languages.get(number).cloned().unwrap_or_default();
        let skill = route.decision.skill.map(|skill| self.router.pack().skill_text(skill as usize));
        let mut reply = Reply {
            reply: String::new(),
            skill: route.skill.clone(),
            stage: route.decision.stage,
            tools_offered: self.shown_tools(&route),
            tools_run: Vec::new(),
            unusable: route.unusable.clone(),
            also: route.also.clone(),
            language: language.name.clone(),
            web: self.web,
            model_ran: false,
            prompt_tokens: 0,
            prefilled_tokens: 0,
            reply_tokens: 0,
            reasoning: String::new(),
            reasoning_tokens: 0,
            repeats_left_out: false,
            time_to_first_token_ms: 0.0,
            tokens_per_second: None,
            dropped_turns: 0,
            findings: Vec::new(),
            unsupported_claims: Vec::new(),
            corrected: false,
            wound_down: false,
            labels: Vec::new(),
            notes: Vec::new(),
        };
        let subject = self.subject();
        let here = ToolContext::here(&language, certain);
        let context = ToolContext { question: message, subject: &subject, stop, ..here };
        let (recalled, notes) = self.notes(&route, &context);
        let mut runs = Vec::new();
        let opening = self.opening(&route);
        if let Some(call) = &opening {
            self.run_tool(call, &context, &mut runs, &mut reply, observer);
        }
        let history = std::mem::take(&mut self.history);
        let turn = Turn {
            message,
            route: &route,
            skill: skill.as_ref(),
            history: &history,
            context,
            start,
            recalled: &recalled,
            notes: &notes,
        };
        let written = self.answer(&turn, runs, stop, observer, &mut reply);
        self.history = history;
        let text = written?;
        reply.reply = text;
        if !reply.unusable.is_empty() && !reply.labels.contains(&Label::Unsourced) {
            reply.labels.push(Label::Unsourced);
        }
        reply.notes = reply.labels.iter().map(|label| reply_text(&language, *label)).collect();
        reply.notes.extend(claims_note(&language, &reply));
        if route.decision.stage != Stage::Task {
            self.state = route.decision.next;
            self.language = Some(number);
            if let (Some(skill), Some(call)) = (&route.skill, opening) {
                self.opened = Some((skill.clone(), call));
            }
            self.history.push(Message::new("user", message));
            if !reply.reply.trim().is_empty() {
                self.history.push(Message::new("assistant", reply.reply.clone()));
            }
        }
        Ok(reply)
    }

    /// The call that code makes. A turn that goes on with a skill and binds nothing new ("Und morgen?") asks for the
    /// same place or term as the one before: left to itself a small model takes the exemplar's.
    fn opening(&self, route: &Route) -> Option<OpeningCall> {
        if route.opening.is_some() || route.decision.stage != Stage::CarryOver {
            return route.opening.clone();
        }
        let (skill, call) = self.opened.as_ref()?;
        let runs = self.runnable.contains(&call.tool);
        (route.skill.as_ref() == Some(skill) && runs).then(|| call.clone())
    }

    /// What is known about the user and may matter, and what the newest message is told besides.
    fn notes(&self, route: &Route, context: &ToolContext<'_>) -> (Vec<String>, Vec<String>) {
        let mut notes = Vec::new();
        // A file that cannot be read any more is told by the tool, when it is used.
        let known =
            self.memory.as_ref().and_then(|memory| memory.recall(context.question).ok()).unwrap_or_default();
        let recalled: Vec<String> = known
            .iter()
            .map(|entry| {
                if entry.kind == "event" {
                    format!("{} ({})", entry.text, entry.day)
                } else {
                    entry.text.clone()
                }
            })
            .collect();
        if !recalled.is_empty() {
            let values = BTreeMap::from([("entries", recalled.join("; "))]);
            notes.extend(context.optional_reply("memory-recalled", &values));
        }
        if let (Stage::CarryOver, Some(topic)) = (route.decision.stage, &context.subject.topic) {
            notes.extend(
                context.optional_reply("note-subject", &BTreeMap::from([("subject", topic.clone())])),
            );
        }
        (recalled, notes)
    }

    /// What the conversation is about, told by its turns.
    fn subject(&self) -> Subject {
        let turns = self.history.chunk_by(|_, next| next.role != "user");
        Subject::of(turns.filter_map(|turn| {
            let (message, reply) = (turn.first()?, turn.get(1).map_or("", |reply| &reply.content));
            Some((message.content.as_str(), reply))
        }))
    }

    /// Offered tools as the reply states them: what the profile withholds counts.
    fn shown_tools(&self, route: &Route) -> Option<Vec<String>> {
        let none = self.profile.unrouted_tools == crate::model::UnroutedTools::None;
        match &route.tools {
            None if route.skill.is_none() && none => Some(Vec::new()),
            other => other.clone(),
        }
    }

    /// Lets code or the model answer; the model may write calls in between, which are run.
    fn answer(
        &mut self,
        turn: &Turn<'_>,
        mut runs: Vec<ToolRun>,
        stop: &AtomicBool,
        observer: &mut dyn Observer,
        reply: &mut Reply,
    ) -> Result<String, ModelError> {
        let language = turn.context.language;
        let by_code = |text: String, reply: &mut Reply, observer: &mut dyn Observer| {
            observer.text(&text);
            reply.time_to_first_token_ms = milliseconds(turn.start.elapsed());
            Ok(text)
        };
        let note = |key: &str| {
            let text = turn.context.optional_reply(key, &BTreeMap::new());
            text.map(|text| Message::new("user", text)).into_iter().collect::<Vec<_>>()
        };
        for round in 0.. {
            let withheld = round >= MOST_ROUNDS;
            // Before the last round the model is told so, and behind it what to do without one.
            let behind: Vec<Message> = match (withheld, round + 1 == MOST_ROUNDS) {
                (true, _) => note("note-wind-down"),
                (false, true) => note("note-last-round"),
                (false, false) => Vec::new(),
            };
            reply.wound_down = withheld;
            let inputs = Inputs {
                library: &self.library,
                skill: turn.skill,
                route: turn.route,
                language,
                history: turn.history,
                message: turn.message,
                runs: &runs,
                profile: &self.profile,
                template_takes_tools: false,
                format: CallFormat::Hermes,
                available: Some(&self.runnable),
                withheld,
                notes: turn.notes,
                behind: &behind,
            };
            let tools = prompt::offered(&inputs);
            let calls = prompt::calls(&inputs, &tools);
            let writer = prompt::writer(&inputs);
            match &writer {
                Writer::Exemplar(text) => return by_code(text.clone(), reply, observer),
                // What code quotes can only come from a call: the model writes it, and nothing else.
                Writer::Quote if !matches!(calls, Calls::Must(_)) => {
                    return by_code(quote(&self.library, turn, &reply.tools_run), reply, observer);
                }
                Writer::Quote | Writer::Model => {}
            }
            reply.model_ran = true;
            let evidence =
                prompt::is_grounded(&inputs).then(|| evidence(turn, &reply.tools_run, &self.library));
            let bounds = Bounds { calls, evidence: evidence.as_ref() };
            let task = Task { bounds, stop, start: turn.start };
            let must = matches!(calls, Calls::Must(_));
            let written = write(&mut self.model, &inputs, task, observer, reply)?;
            match written.call {
                Some(call) => {
                    let context = ToolContext { arguments_by_model: true, ..turn.context.clone() };
                    for call in std::iter::once(&call).chain(&written.more_calls) {
                        self.run_tool(call, &context, &mut runs, reply, observer);
                    }
                }
                None if written.ending == Ending::Stopped => return Ok(written.text.trim().to_owned()),
                // The rounds are spent and nothing was said: what was found, at least.
                None if withheld && written.text.trim().is_empty() => {
                    return by_code(found_so_far(turn, &reply.tools_run), reply, observer);
                }
                // A reply that is all reasoning is the answer; but not where figures are held to the evidence.
                None if written.text.trim().is_empty() && evidence.is_none() && !must => {
                    let text = collapse(written.reasoning.trim(), written.ending == Ending::Limit);
                    return by_code(text, reply, observer);
                }
                // No call within the bound, or none of those that were offered.
                None if must && (writer == Writer::Quote || written.text.trim().is_empty()) => {
                    if written.ending == Ending::Limit {
                        reply.labels.push(Label::CallNotRun);
                    }
                    return by_code(quote(&self.library, turn, &reply.tools_run), reply, observer);
                }
                None => {
                    let told = without_notes(written.text.trim(), turn);
                    let text = collapse(&told, written.ending == Ending::Limit);
                    reply.repeats_left_out = text.len() < told.len();
                    return checked(&self.library, &mut self.model, turn, text, &inputs, observer, reply);
                }
            }
        }
        Ok(String::new())
    }

    /// Runs a call; one that was made in this turn already is answered from its record, the time excepted.
    fn run_tool(
        &self,
        call: &OpeningCall,
        context: &ToolContext<'_>,
        runs: &mut Vec<ToolRun>,
        reply: &mut Reply,
        observer: &mut dyn Observer,
    ) {
        let tool = self.tools.iter().find(|tool| tool.name() == call.tool);
        let same = |run: &&ToolRun| is_same(&run.call, call);
        if let Some(run) = runs.iter().find(same)
            && !tool.is_some_and(|tool| tool.is_a_reading())
        {
            runs.push(run.clone());
            return;
        }
        let result = match tool {
            Some(tool) => tool.run(&call.arguments, context).map_err(|failure| failure.text(context)),
            None => Err(call.tool.clone()),
        };
        let failed = result.is_err();
        let output = result.unwrap_or_else(ToolOutput::from);
        let report = ToolReport {
            name: call.tool.clone(),
            arguments: call.arguments.clone(),
            result: output.text.clone(),
            failed,
            output,
        };
        observer.tool(&report);
        runs.push(ToolRun { call: call.clone(), result: report.result.clone() });
        reply.tools_run.push(report);
    }
}

/// What a grounded answer may take figures and links from: results of this turn and the user's words.
fn evidence(turn: &Turn<'_>, runs: &[ToolReport], library: &LibraryText) -> Evidence {
    let is_evidence = |run: &&ToolReport| !run.failed && prompt::is_evidence(library, &run.name);
    let results = runs.iter().filter(is_evidence).map(|run| run.result.as_str());
    let said = turn.history.iter().filter(|message| message.role == "user").map(|m| m.content.as_str());
    Evidence::of(results.chain(said).chain([turn.message]))
}

/// What a turn is answered from.
struct Turn<'t> {
    message: &'t str,
    route: &'t Route,
    skill: Option<&'t SkillText>,
    history: &'t [Message],
    context: ToolContext<'t>,
    start: Instant,
    /// What is remembered about the user and stands in the prompt.
    recalled: &'t [String],
    /// What the newest message is told besides.
    notes: &'t [String],
}

/// Checks what the model wrote. Where something is wrong it may write again once, without tools; that stands only
/// if less is wrong with it.
fn checked<M: ModelSource>(
    library: &LibraryText,
    model: &mut M,
    turn: &Turn<'_>,
    draft: String,
    inputs: &Inputs<'_>,
    observer: &mut dyn Observer,
    reply: &mut Reply,
) -> Result<String, ModelError> {
    let stop = turn.context.stop;
    let found = review(library, turn, &draft, reply);
    let mut answer = draft;
    let mut stands = found;
    if let Some(correction) = stands.correction.clone().filter(|_| !stop.load(Ordering::Relaxed)) {
        observer.corrects(&stands.findings);
        let behind: Vec<Message> = inputs
            .behind
            .iter()
            .cloned()
            .chain([Message::new("assistant", answer.clone()), Message::new("user", correction)])
            .collect();
        let again = Inputs { withheld: true, behind: &behind, ..*inputs };
        let evidence = prompt::is_grounded(inputs).then(|| evidence(turn, &reply.tools_run, library));
        let bounds = Bounds { calls: Calls::None, evidence: evidence.as_ref() };
        let task = Task { bounds, stop, start: turn.start };
        let labels = reply.labels.clone();
        let written = write(model, &again, task, observer, reply)?;
        let text = collapse(written.text.trim(), written.ending == Ending::Limit);
        let second = review(library, turn, &text, reply);
        if !text.is_empty()
            && written.ending != Ending::Stopped
            && second.findings.len() < stands.findings.len()
        {
            reply.corrected = second.findings.is_empty();
            (answer, stands) = (text, second);
        } else {
            // What the correction ran into is no label of the answer that stands.
            reply.labels = labels;
            observer.stands(&answer);
        }
    }
    if stands.unsourced {
        reply.labels.push(Label::Unsourced);
    }
    reply.findings = stands.findings;
    reply.unsupported_claims = stands.unsupported_claims;
    Ok(answer)
}

/// What the answer check finds in an answer of this turn.
fn review(library: &LibraryText, turn: &Turn<'_>, answer: &str, reply: &Reply) -> Review {
    let tools: Vec<Ran> = reply
        .tools_run
        .iter()
        .map(|run| Ran {
            name: run.name.clone(),
            arguments: run.arguments.clone(),
            result: run.result.clone(),
            failed: run.failed,
        })
        .collect();
    let history: Vec<Said> = turn
        .history
        .iter()
        .map(|said| Said { role: said.role.clone(), content: said.content.clone() })
        .collect();
    let sourced = |name: &String| {
        library.tools.iter().any(|tool| tool.name == *name && tool.origin == ToolOrigin::Sourced)
    };
    let offered: Vec<Offered> =
        reply.tools_offered.iter().flatten().map(|name| Offered { sourced: sourced(name) }).collect();
    check(&Material {
        question: turn.message,
        history: &history,
        tools: &tools,
        offered: &offered,
        recalled: turn.recalled,
        answer,
        languages: &library.languages,
        language: turn.context.language,
    })
}

/// A reply without the note on its language that the newest message carried: a small model says it again.
fn without_notes(text: &str, turn: &Turn<'_>) -> String {
    let rule = &turn.context.language.rule;
    let out = if rule.is_empty() { text.to_owned() } else { text.replace(&format!("({rule})"), "") };
    // What is nothing but the note stays: an empty reply says less.
    if out.trim().is_empty() { text.to_owned() } else { out.trim().to_owned() }
}

/// What was found before the rounds were spent: up to three addresses.
fn found_so_far(turn: &Turn<'_>, runs: &[ToolReport]) -> String {
    let mut urls: Vec<&str> = Vec::new();
    for run in runs.iter().filter(|run| !run.failed) {
        for url in links(&run.result).into_iter().filter_map(|span| run.result.get(span)) {
            if !urls.contains(&url) && urls.len() < 3 {
                urls.push(url);
            }
        }
    }
    if urls.is_empty() {
        return turn.context.reply("nothing-found", &BTreeMap::new());
    }
    turn.context.reply("wind-down", &BTreeMap::from([("sources", urls.join(" "))]))
}

/// Sentences that no passage supports, as a note.
fn claims_note(language: &LanguageText, reply: &Reply) -> Option<String> {
    let claims: Vec<&str> =
        reply.unsupported_claims.iter().filter_map(|claim| reply.reply.get(claim.span.clone())).collect();
    let values = BTreeMap::from([("claims", claims.join(" "))]);
    let told = language.replies.contains_key("label-unsupported-claim");
    (!claims.is_empty() && told).then(|| crate::tools::reply(language, "label-unsupported-claim", &values))
}

/// What a label says: a reply of the library.
fn reply_text(language: &LanguageText, label: Label) -> String {
    let key = match label {
        Label::Unsourced => "unsourced",
        Label::Limit => "limit",
        Label::Stopped => "label-stopped",
        Label::CallNotRun => "label-call-not-run",
    };
    reply(language, key, &BTreeMap::new())
}

/// Whether two calls ask for the same: names and arguments but for case, blanks, order and what is left empty.
fn is_same(a: &OpeningCall, b: &OpeningCall) -> bool {
    let plain = |call: &OpeningCall| {
        let argument = |(name, value): (&String, &serde_json::Value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
            (!text.is_empty() && !value.is_null()).then(|| (name.clone(), text))
        };
        call.arguments.iter().filter_map(argument).collect::<BTreeMap<_, _>>()
    };
    a.tool == b.tool && plain(a) == plain(b)
}

/// The answer that code writes from results: a sentence that is an answer as it stands, the first line of what a
/// computed tool returned, or the passages that answer the question, with their addresses.
fn quote(library: &LibraryText, turn: &Turn<'_>, runs: &[ToolReport]) -> String {
    let language = turn.context.language;
    let done = || runs.iter().filter(|run| !run.failed).rev();
    let with_sources = |text: &str, urls: &[String]| {
        let urls = urls.join(" ");
        format!("{text}\n{}", reply(language, "sources", &BTreeMap::from([("urls", urls)])))
    };
    if let Some((said, url)) = done().find_map(|run| run.output.said.as_ref()) {
        return match url {
            Some(url) => with_sources(said, std::slice::from_ref(url)),
            None => said.clone(),
        };
    }
    if let Some(run) = done().find(|run| prompt::is_computed(library, &run.name)) {
        return run.result.lines().next().unwrap_or_default().to_owned();
    }
    // What "when was he born?" asks is told by the turns before.
    let question = complete(turn.message, turn.context.subject);
    if let Some((text, urls)) = done().find_map(|run| quoted(&question, &run.output)) {
        return with_sources(&text, &urls);
    }
    match runs.iter().find(|run| run.failed) {
        Some(run) => reply(language, "tool-failed", &BTreeMap::from([("reason", run.result.clone())])),
        None => reply(language, "nothing-found", &BTreeMap::new()),
    }
}

/// Sentences of passages that answer a question; where the sources state an answer, of those that hold it.
fn quoted(question: &str, output: &ToolOutput) -> Option<(String, Vec<String>)> {
    let sentences: Vec<(&Quote, &str)> = output
        .quotes
        .iter()
        .flat_map(|quote| {
            crate::reading::sentences(&quote.text).into_iter().map(move |sentence| (quote, sentence))
        })
        .collect();
    let holding: Vec<(&Quote, &str)> = output.answer.as_ref().map_or_else(Vec::new, |answer| {
        sentences.iter().filter(|(_, sentence)| sentence.contains(answer.as_str())).copied().collect()
    });
    let mut from = if holding.is_empty() { sentences } else { holding };
    let asked = tongue(question).unwrap_or(Tongue::English);
    from.retain(|(_, sentence)| can_answer(question, sentence, asked));
    // What is said in the question's language is quoted, where anything is.
    if let Some(asked) = tongue(question) {
        let own = |sentence: &str| tongue(sentence).is_none_or(|said| said == asked);
        if from.iter().any(|(_, sentence)| own(sentence)) {
            from.retain(|(_, sentence)| own(sentence));
        }
        let other = |sentence: &str| of_another(question, sentence, asked);
        if !from.iter().all(|(_, sentence)| other(sentence)) {
            from.retain(|(_, sentence)| !other(sentence));
        }
    }
    let texts: Vec<&str> = from.iter().map(|(_, sentence)| *sentence).collect();
    let chosen: Vec<(&Quote, &str)> =
        crate::quote::choose(question, &texts).into_iter().filter_map(|at| from.get(at).copied()).collect();
    let mut urls: Vec<String> = Vec::new();
    for (quote, _) in &chosen {
        if !urls.contains(&quote.url) {
            urls.push(quote.url.clone());
        }
    }
    let text = chosen.iter().map(|(_, sentence)| *sentence).collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some((text, urls))
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// What holds for a round of writing.
struct Task<'t> {
    bounds: Bounds<'t>,
    stop: &'t AtomicBool,
    /// When the turn began.
    start: Instant,
}

/// Lets the model write. The oldest turns are dropped while the prompt does not fit, never the newest message.
fn write<M: ModelSource>(
    source: &mut M,
    inputs: &Inputs<'_>,
    Task { bounds, stop, start }: Task<'_>,
    observer: &mut dyn Observer,
    reply: &mut Reply,
) -> Result<Written, ModelError> {
    if source.remote().is_some() {
        return write_remotely(source, inputs, Task { bounds, stop, start }, observer, reply);
    }
    let model = source.model()?;
    let processor = Arc::clone(model.processor());
    let context = processor.context();
    let (template_takes_tools, format) = (processor.template_takes_tools(), processor.calls().format);
    let told = template_takes_tools || inputs.profile.tool_block.is_some();
    if let (Calls::May(_) | Calls::Must(_), false, Some(remark)) =
        (bounds.calls, told, &processor.calls().remark)
    {
        return Err(ModelError::NoTools(remark.clone()));
    }
    let strategy = inputs.skill.and_then(|skill| Strategy::named(&skill.strategy)).unwrap_or_default();
    let sampling = Sampling { strategy, ..Sampling::of(processor.generation(), 0) };
    let mut history = inputs.history;
    let (text, shared) = loop {
        let attempt = Inputs { history, template_takes_tools, format, ..*inputs };
        let Plan { messages, tools, shared, .. } = prompt::plan(&attempt);
        let prompt = processor.render(&messages, &tools)?;
        let tokens = processor.tokens(&prompt)?.len();
        // An answer needs room, too.
        if tokens + context / 8 <= context || history.is_empty() {
            let first = messages.get(..shared).unwrap_or_default();
            let shared = if first.is_empty() { 0 } else { processor.shared(&prompt, first, &tools) };
            break (prompt, shared);
        }
        let pair = history.len().min(2);
        history = history.get(pair..).unwrap_or_default();
    };
    reply.dropped_turns = inputs.history.len() - history.len();
    let sampling = source.adjust(sampling);
    let model = source.model()?;
    let prompt = Prompt { text: &text, shared };
    record(reply, bounds, observer, start, |on_text| model.write(prompt, &sampling, bounds, stop, on_text))
}

/// Shows what `write` writes, and notes in the reply's data what it did.
fn record(
    reply: &mut Reply,
    bounds: Bounds<'_>,
    observer: &mut dyn Observer,
    start: Instant,
    write: impl FnOnce(&mut dyn FnMut(&str)) -> Result<Written, ModelError>,
) -> Result<Written, ModelError> {
    let mut first = None;
    let written = write(&mut |piece| {
        first.get_or_insert_with(|| start.elapsed());
        observer.text(piece);
    })?;
    let first = first.unwrap_or_else(|| start.elapsed());
    reply.prompt_tokens = written.prompt_tokens;
    reply.prefilled_tokens += written.prefilled_tokens;
    reply.reply_tokens += written.tokens;
    reply.reasoning.push_str(&written.reasoning);
    reply.reasoning_tokens += written.reasoning_tokens;
    reply.time_to_first_token_ms = milliseconds(first);
    reply.tokens_per_second = written.tokens_per_second().map(|speed| (speed * 10.0).round() / 10.0);
    match written.ending {
        Ending::Limit if !matches!(bounds.calls, Calls::Must(_)) => reply.labels.push(Label::Limit),
        Ending::Stopped => reply.labels.push(Label::Stopped),
        Ending::CallRefused => reply.labels.push(Label::CallNotRun),
        Ending::Limit | Ending::EndOfTurn | Ending::Call => {}
    }
    Ok(written)
}

/// Sampling where nothing is known of the model: what most servers take as their own.
const REMOTE_SAMPLING: Sampling = Sampling {
    temperature: 0.7,
    top_p: 0.95,
    top_k: 0,
    repetition_penalty: 1.0,
    max_new_tokens: 1024,
    seed: 0,
    speculates: false,
    strategy: Strategy::Baseline,
};

/// Lets an endpoint write. It counts its tokens itself, so all turns are sent.
fn write_remotely<M: ModelSource>(
    source: &mut M,
    inputs: &Inputs<'_>,
    Task { bounds, stop, start }: Task<'_>,
    observer: &mut dyn Observer,
    reply: &mut Reply,
) -> Result<Written, ModelError> {
    let attempt = Inputs { template_takes_tools: true, format: CallFormat::Hermes, ..*inputs };
    let Plan { messages, tools, .. } = prompt::plan(&attempt);
    let sampling = source.adjust(REMOTE_SAMPLING);
    let Some(remote) = source.remote() else {
        return Err(ModelError::Runtime("there is no endpoint".to_owned()));
    };
    record(reply, bounds, observer, start, |on_text| {
        remote.write(&messages, &tools, bounds.calls, &sampling, stop, on_text)
    })
}
