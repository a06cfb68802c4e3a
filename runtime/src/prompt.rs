//! Builds what the model is sent, and says when code writes the answer instead.
//!
//! Order: tool block, base prompt and guidance in one system turn; exemplar turns, those in the user's language
//! last; history; the newest user turn with a note on the language of the answer. Everything up to the last
//! exemplar depends only on library, model, skill, language and offered tools. Without offered tools there is no
//! tool block at all.

use crate::artifact::{
    Argument, Exemplar, LanguageText, LibraryText, SkillText, ToolDeclaration, ToolOrigin,
};
use crate::model::{AnswerPolicy, CallFormat, Calls, Message, Profile, UnroutedTools};
use crate::router::{OpeningCall, Route, Stage};

/// Characters of guidance and exemplars that reach the prompt (reference: 3000 a skill).
pub const CONTEXT_BUDGET: usize = 3_000;
/// Stands where a result will be when a prompt is only shown.
pub const RESULT_PLACEHOLDER: &str = "<result>";

/// Who writes the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Writer {
    /// The model.
    Model,
    /// The exemplar that shares the deciding trigger's label: this text.
    Exemplar(String),
    /// Code, from what the tools return.
    Quote,
}

/// What a turn is answered from.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Who writes.
    pub writer: Writer,
    /// Messages for the chat template.
    pub messages: Vec<Message>,
    /// Tools that the prompt declares.
    pub tools: Vec<ToolDeclaration>,
    /// How many messages at the start depend only on library, model, skill, language and offered tools.
    pub shared: usize,
    /// Messages of exemplars that the budget left out.
    pub left_out: Vec<String>,
}

/// A call with its result, as the conversation shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolRun {
    /// The call.
    pub call: OpeningCall,
    /// What the tool returned.
    pub result: String,
}

/// What a plan is made from.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// Texts of the library.
    pub library: &'a LibraryText,
    /// Texts of the routed skill.
    pub skill: Option<&'a SkillText>,
    /// What routing found.
    pub route: &'a Route,
    /// Language of the reply.
    pub language: &'a LanguageText,
    /// Turns before, oldest first.
    pub history: &'a [Message],
    /// The newest message.
    pub message: &'a str,
    /// Calls that were made for it.
    pub runs: &'a [ToolRun],
    /// What is known of the model.
    pub profile: &'a Profile,
    /// The model's chat template has a place for tools.
    pub template_takes_tools: bool,
    /// How the model writes calls.
    pub format: CallFormat,
    /// Names of the tools that can run now; None takes every declared one as available.
    pub available: Option<&'a [String]>,
    /// No tool is offered any more: the rounds are spent.
    pub withheld: bool,
    /// What the newest message is told besides: what is known about the user, what the conversation is about.
    pub notes: &'a [String],
    /// Messages behind the results: how many rounds are left, a draft and what is wrong with it.
    pub behind: &'a [Message],
}

/// Tools that a turn offers: those of the route that can run, or all of them when nothing restricts it.
#[must_use]
pub fn offered(inputs: &Inputs<'_>) -> Vec<ToolDeclaration> {
    let unrouted = inputs.profile.unrouted_tools == UnroutedTools::None;
    if inputs.withheld || (inputs.route.tools.is_none() && inputs.route.skill.is_none() && unrouted) {
        return Vec::new();
    }
    let listed = |name: &String| inputs.route.tools.as_ref().is_none_or(|names| names.contains(name));
    let runs = |name: &String| inputs.available.is_none_or(|names| names.contains(name));
    inputs.library.tools.iter().filter(|tool| listed(&tool.name) && runs(&tool.name)).cloned().collect()
}

/// Which calls the model may write next: `tool_choice` binds the first round and is met by an opening call.
#[must_use]
pub fn calls<'t>(inputs: &Inputs<'_>, tools: &'t [ToolDeclaration]) -> Calls<'t> {
    if tools.is_empty() {
        return Calls::None;
    }
    let choice = inputs.skill.map_or("auto", |skill| skill.tool_choice.as_str());
    match choice {
        "none" => Calls::None,
        _ if !inputs.runs.is_empty() => Calls::May(tools),
        // Where code quotes a result, there must be one.
        "auto" if writer(inputs) == Writer::Quote => Calls::Must(tools),
        "auto" => Calls::May(tools),
        "required" => Calls::Must(tools),
        name => match tools.iter().position(|tool| tool.name == name) {
            Some(at) => Calls::Must(tools.get(at..=at).unwrap_or_default()),
            None => Calls::May(tools),
        },
    }
}

/// Who writes the answer to this route.
#[must_use]
pub fn writer(inputs: &Inputs<'_>) -> Writer {
    match mode(inputs) {
        (_, Some(exemplar)) => Writer::Exemplar(exemplar.answer.clone()),
        ("quote", None) => Writer::Quote,
        _ => Writer::Model,
    }
}

/// Whether the model may write only figures and links of the evidence.
#[must_use]
pub fn is_grounded(inputs: &Inputs<'_>) -> bool {
    matches!(mode(inputs), ("grounded", None))
}

/// The mode of the answer, and the exemplar that is the answer.
fn mode<'a>(inputs: &Inputs<'a>) -> (&'a str, Option<&'a Exemplar>) {
    let Some(skill) = inputs.skill else { return ("free", None) };
    let mut mode = skill.answer.as_str();
    if mode == "exemplar" {
        let label = inputs.route.evidence.first().and_then(|evidence| evidence.label.as_deref());
        let label = label.filter(|_| inputs.route.decision.stage == Stage::Trigger);
        let labelled =
            label.and_then(|label| skill.exemplars.iter().find(|e| e.label.as_deref() == Some(label)));
        if labelled.is_some() {
            // Exemplars of one label are unique, so a second language has a label of its own.
            return (mode, labelled);
        }
        mode = skill.answer_else.as_deref().unwrap_or("free");
    }
    if mode == "grounded" && inputs.profile.answers == AnswerPolicy::Strict {
        mode = "quote";
    }
    (mode, None)
}

/// Builds the plan of a turn.
#[must_use]
pub fn plan(inputs: &Inputs<'_>) -> Plan {
    let tools = offered(inputs);
    let (kept, left_out) = exemplars(inputs);
    let mut messages = Vec::new();
    let system = system(inputs, &tools);
    if !system.is_empty() {
        messages.push(Message::new("system", system));
    }
    let shown: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    for exemplar in kept {
        messages.push(Message::new("user", exemplar.message.clone()));
        for call in exemplar.calls.iter().filter(|call| shown.contains(&call.tool.as_str())) {
            let markup = inputs.format.markup(&call.tool, &arguments(&call.arguments));
            messages.push(Message::new("assistant", markup));
            messages.push(Message::new("tool", call.result.clone()));
        }
        messages.push(Message::new("assistant", exemplar.answer.clone()));
    }
    let shared = messages.len();
    messages.extend(inputs.history.iter().filter(|message| !message.content.trim().is_empty()).cloned());
    messages.push(Message::new("user", user_turn(inputs)));
    for run in inputs.runs {
        messages.push(Message::new("assistant", inputs.format.markup(&run.call.tool, &run.call.arguments)));
        messages.push(Message::new("tool", run.result.clone()));
    }
    messages.extend(inputs.behind.iter().cloned());
    Plan { writer: writer(inputs), messages, tools, shared, left_out }
}

/// The newest message with the note behind it.
fn user_turn(inputs: &Inputs<'_>) -> String {
    let rule = Some(&inputs.language.rule).filter(|rule| !rule.is_empty());
    let notes: Vec<&str> = inputs.notes.iter().chain(rule).map(String::as_str).collect();
    if inputs.route.decision.stage == Stage::Task || notes.is_empty() {
        return inputs.message.to_owned();
    }
    format!("{}\n\n({})", inputs.message.trim_end(), notes.join(" "))
}

fn system(inputs: &Inputs<'_>, tools: &[ToolDeclaration]) -> String {
    let mut parts = Vec::new();
    if !tools.is_empty()
        && !inputs.template_takes_tools
        && let Some(block) = &inputs.profile.tool_block
    {
        let declared: Vec<String> =
            tools.iter().map(|tool| crate::model::function(tool).to_string()).collect();
        parts.push(block.replace("{tools}", &declared.join("\n")));
    }
    if inputs.route.decision.stage != Stage::Task {
        parts.push(inputs.library.assistant.base.trim().to_owned());
    }
    parts.extend(inputs.skill.map(|skill| skill.guidance.trim().to_owned()));
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

/// Exemplars within the budget, those in the user's language last; and the messages of those left out.
fn exemplars<'a>(inputs: &Inputs<'a>) -> (Vec<&'a Exemplar>, Vec<String>) {
    let Some(skill) = inputs.skill else { return (Vec::new(), Vec::new()) };
    let fitting = skill.kept_exemplars(CONTEXT_BUDGET);
    let mut kept: Vec<&Exemplar> = skill.exemplars.iter().take(fitting).collect();
    let left_out = skill.exemplars.iter().skip(fitting).map(|exemplar| exemplar.message.clone()).collect();
    kept.sort_by_key(|exemplar| exemplar.language.as_deref() == Some(inputs.language.name.as_str()));
    (kept, left_out)
}

fn arguments(arguments: &[Argument]) -> serde_json::Map<String, serde_json::Value> {
    arguments.iter().map(|argument| (argument.name.clone(), argument.value.clone())).collect()
}

/// Whether a tool's results are evidence: those that only change something are none.
#[must_use]
pub fn is_evidence(library: &LibraryText, tool: &str) -> bool {
    library.tools.iter().any(|known| known.name == tool && known.origin != ToolOrigin::Effect)
}

/// Whether a tool's results are figures: their first line can be quoted as it is.
#[must_use]
pub fn is_computed(library: &LibraryText, tool: &str) -> bool {
    library.tools.iter().any(|known| known.name == tool && known.origin == ToolOrigin::Computed)
}
