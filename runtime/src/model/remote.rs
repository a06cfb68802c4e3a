//! A model behind an OpenAI-compatible endpoint: streaming, time-outs, retries, and nothing believed unseen.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::guard::Calls;
use super::{Ending, Message, ModelError, Sampling, Written, function, tolerant};
use crate::artifact::ToolDeclaration;
use crate::net::{Incoming, Silence, Transport, TransportError, Waits, within};
use crate::router::OpeningCall;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How often somebody's wish to stop is looked for between attempts.
const TICK: Duration = Duration::from_millis(50);
/// Attempts where the endpoint is busy or broken and nothing was shown yet; the wait doubles from this.
const ATTEMPTS: u32 = 4;
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// A longer `Retry-After` is not waited for.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// Most bytes of one reply, and of a message about a failure.
const MOST_BYTES: usize = 8 << 20;
const MOST_CAUSE: usize = 400;
/// Most calls of one reply.
const MOST_CALLS: usize = 8;

/// Where a model answers.
pub struct Endpoint {
    /// Base address, such as `https://models.example/v1`.
    pub url: String,
    /// The model's name there.
    pub model: String,
    /// Sent as a bearer token; never shown.
    pub key: Option<String>,
    /// How long it may be silent before and between pieces.
    pub silence: Duration,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("url", &self.url).field("model", &self.model).finish_non_exhaustive()
    }
}

/// A client of an endpoint.
#[derive(Debug)]
pub struct Remote {
    endpoint: Endpoint,
    transport: Transport,
    waits: Waits,
}

/// Why an attempt failed, and whether another may be made.
struct Failed {
    error: ModelError,
    again: Option<Option<Duration>>,
}

impl Remote {
    /// Prepares a client; nothing is sent yet.
    ///
    /// # Errors
    /// The address is none, or the system refuses a client.
    pub fn new(endpoint: Endpoint) -> Result<Self, ModelError> {
        let failed = |cause: String| ModelError::Remote { url: endpoint.url.clone(), cause };
        let address = url::Url::parse(&endpoint.url).map_err(|error| failed(error.to_string()))?;
        if !matches!(address.scheme(), "http" | "https") {
            return Err(failed("an endpoint begins with http:// or https://".to_owned()));
        }
        let transport = Transport::new(CONNECT).map_err(|error| failed(error.to_string()))?;
        let waits = Waits::alone().map_err(|error| failed(error.to_string()))?;
        Ok(Self { endpoint, transport, waits })
    }

    /// Lets the model answer. See [`super::LanguageModel::write`]; what a call may be is asked of the endpoint, and held to
    /// here: one that was not offered is refused.
    ///
    /// # Errors
    /// The endpoint cannot be reached, refuses, stalls, breaks off or says what is no answer.
    pub fn write(
        &self,
        messages: &[Message],
        tools: &[ToolDeclaration],
        calls: Calls<'_>,
        sampling: &Sampling,
        stop: &AtomicBool,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<Written, ModelError> {
        let start = Instant::now();
        let body = self.body(messages, tools, calls, sampling);
        let offered = match calls {
            Calls::None => &[],
            Calls::May(tools) | Calls::Must(tools) => tools,
        };
        let mut wait = FIRST_WAIT;
        for attempt in 1.. {
            let mut reading = Reading::new(start, offered);
            let failed = match self.waits.block_on(self.attempt(&body, &mut reading, stop, on_text)) {
                Ok(()) => return reading.finish(on_text),
                Err(failed) => failed,
            };
            let Some(asked) = failed.again.filter(|_| attempt < ATTEMPTS && !reading.any) else {
                return Err(failed.error);
            };
            let pause = asked.unwrap_or(wait);
            if pause > LONGEST_WAIT {
                return Err(failed.error);
            }
            let until = Instant::now() + pause;
            while Instant::now() < until && !stop.load(Ordering::Relaxed) {
                std::thread::sleep(TICK);
            }
            wait *= 2;
        }
        Err(self.failed("no attempt was made"))
    }

    fn failed(&self, cause: impl std::fmt::Display) -> ModelError {
        ModelError::Remote { url: self.endpoint.url.clone(), cause: cause.to_string() }
    }

    fn body(
        &self,
        messages: &[Message],
        tools: &[ToolDeclaration],
        calls: Calls<'_>,
        sampling: &Sampling,
    ) -> Value {
        let mut body = json!({
            "model": self.endpoint.model,
            "messages": wire(messages),
            "stream": true,
            "stream_options": {"include_usage": true},
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_new_tokens,
            "seed": sampling.seed,
        });
        // An empty list is refused by some servers and means "no tools" to none: it is left out.
        if let (Some(body), false) = (body.as_object_mut(), tools.is_empty()) {
            body.insert("tools".to_owned(), tools.iter().map(function).collect());
            let choice = match calls {
                Calls::None => json!("none"),
                Calls::May(_) => json!("auto"),
                Calls::Must([one]) => json!({"type": "function", "function": {"name": one.name}}),
                Calls::Must(_) => json!("required"),
            };
            body.insert("tool_choice".to_owned(), choice);
        }
        body
    }

    async fn attempt(
        &self,
        body: &Value,
        reading: &mut Reading<'_>,
        stop: &AtomicBool,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<(), Failed> {
        let address = format!("{}/chat/completions", self.endpoint.url.trim_end_matches('/'));
        let fatal = |cause: String| Failed { error: self.failed(cause), again: None };
        let passing = |cause: String| Failed { error: self.failed(cause), again: Some(None) };
        let silence = self.endpoint.silence;
        let sending = self.transport.post(&address, self.endpoint.key.as_deref(), body.to_string());
        let quiet = |silence: Silence| fatal(silence.to_string());
        let Some(sent) = within(sending, silence, stop).await.map_err(quiet)? else {
            reading.ending = Some(Ending::Stopped);
            return Ok(());
        };
        let mut response: Incoming = sent.map_err(|error: TransportError| passing(error.to_string()))?;
        let (status, name) = (response.status(), response.status_text());
        if !(200..300).contains(&status) {
            let asked = response.retry_after();
            let mut said = Vec::new();
            while let Ok(Some(Ok(Some(piece)))) = within(response.chunk(), silence, stop).await
                && said.len() < MOST_CAUSE
            {
                said.extend_from_slice(&piece);
            }
            let said: String = String::from_utf8_lossy(&said).trim().chars().take(MOST_CAUSE).collect();
            let cause = if said.is_empty() { name } else { format!("{name}: {said}") };
            let busy = status == 429 || status >= 500;
            return Err(Failed { error: self.failed(cause), again: busy.then_some(asked) });
        }
        let mut line = Vec::new();
        let mut bytes = 0;
        loop {
            let came = match within(response.chunk(), silence, stop).await {
                // The reply is complete; only the end of the stream does not come.
                Err(_) if reading.ending.is_some() => return Ok(()),
                other => other.map_err(quiet)?,
            };
            let Some(piece) = came else {
                reading.ending = Some(Ending::Stopped);
                return Ok(());
            };
            let piece = piece.map_err(|error| passing(format!("it broke off: {}", error)))?;
            let Some(piece) = piece else { break };
            bytes += piece.len();
            if bytes > MOST_BYTES {
                return Err(fatal(format!("its reply is longer than {MOST_BYTES} bytes")));
            }
            for &byte in &*piece {
                if byte != b'\n' {
                    line.push(byte);
                    continue;
                }
                let text = String::from_utf8_lossy(&line).into_owned();
                line.clear();
                if reading.line(&text, on_text).map_err(&fatal)? {
                    return Ok(());
                }
            }
        }
        // A server that does not stream answers with one object.
        let rest = String::from_utf8_lossy(&line).into_owned();
        reading.line(&rest, on_text).map_err(&fatal)?;
        if reading.ending.is_none() {
            return Err(passing("it broke off before the reply was complete".to_owned()));
        }
        Ok(())
    }
}

/// Messages as the API writes them: calls and results are bound by numbers.
fn wire(messages: &[Message]) -> Vec<Value> {
    let mut number = 0;
    let mut out = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        let result_follows = messages.get(at + 1).is_some_and(|next| next.role == "tool");
        let call =
            (message.role == "assistant" && result_follows).then(|| markup(&message.content)).flatten();
        out.push(match (message.role.as_str(), call) {
            ("assistant", Some((name, arguments))) => {
                number += 1;
                json!({"role": "assistant", "content": null, "tool_calls": [{
                    "id": format!("call_{number}"), "type": "function",
                    "function": {"name": name, "arguments": arguments.to_string()}
                }]})
            }
            ("tool", _) => {
                json!({"role": "tool", "tool_call_id": format!("call_{number}"), "content": message.content})
            }
            (role, _) => json!({"role": role, "content": message.content}),
        });
    }
    out
}

/// Name and arguments of a call in [`CallFormat::Hermes`].
fn markup(text: &str) -> Option<(String, Value)> {
    let inner = text.trim().strip_prefix("<tool_call>")?.strip_suffix("</tool_call>")?;
    let call: Map<String, Value> = serde_json::from_str(inner.trim()).ok()?;
    Some((call.get("name")?.as_str()?.to_owned(), call.get("arguments")?.clone()))
}

/// What has come of a reply.
struct Reading<'t> {
    start: Instant,
    first: Option<Instant>,
    offered: &'t [ToolDeclaration],
    /// Something of the reply has come: it cannot be asked for again.
    any: bool,
    reply: tolerant::Reply,
    /// Name and arguments of each call, in pieces.
    calls: Vec<(String, String)>,
    usage: (usize, usize),
    pieces: usize,
    ending: Option<Ending>,
}

impl<'t> Reading<'t> {
    fn new(start: Instant, offered: &'t [ToolDeclaration]) -> Self {
        Self {
            start,
            first: None,
            offered,
            any: false,
            reply: tolerant::Reply::default(),
            calls: Vec::new(),
            usage: (0, 0),
            pieces: 0,
            ending: None,
        }
    }

    /// Reads a line of the stream, or the whole reply of a server that does not stream. True at its end.
    fn line(&mut self, line: &str, on_text: &mut dyn FnMut(&str)) -> Result<bool, String> {
        let line = line.trim();
        let data = match line.strip_prefix("data:") {
            Some(data) => data.trim(),
            None if line.starts_with('{') => line,
            // Comments, names of events, blank lines.
            None => return Ok(false),
        };
        if data == "[DONE]" {
            self.ending.get_or_insert(Ending::EndOfTurn);
            return Ok(true);
        }
        let value: Value =
            serde_json::from_str(data).map_err(|error| format!("it sent what is no JSON: {error}"))?;
        if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
            let said =
                error.get("message").and_then(Value::as_str).map_or_else(|| error.to_string(), str::to_owned);
            return Err(said.chars().take(MOST_CAUSE).collect());
        }
        if let Some(usage) = value.get("usage") {
            let count = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or_default() as usize;
            self.usage = (count("prompt_tokens"), count("completion_tokens"));
        }
        let Some(choice) = value.get("choices").and_then(|choices| choices.get(0)) else { return Ok(false) };
        let delta = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
        // Servers that take reasoning out say it in a field of its own.
        let thoughts =
            ["reasoning_content", "reasoning"].into_iter().find_map(|key| delta.get(key)?.as_str());
        if let Some(thoughts) = thoughts.filter(|thoughts| !thoughts.is_empty()) {
            self.seen();
            self.reply.reasoning.push_str(thoughts);
        }
        // A text, a list of parts of which some are texts, or why there is none.
        for content in ["content", "refusal"].into_iter().filter_map(|key| delta.get(key)) {
            let parts = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
            let texts = parts.iter().filter_map(|part| part.as_str().or_else(|| part.get("text")?.as_str()));
            for text in texts.filter(|text| !text.is_empty()) {
                self.seen();
                self.text(text, on_text);
            }
        }
        let whole = choice.get("delta").is_none();
        let calls = delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        for (position, call) in calls.enumerate() {
            self.seen();
            // Without an index a name begins a call, and what has none goes on with the newest.
            let named = call.get("function").and_then(|f| f.get("name")).and_then(Value::as_str);
            let newest = self.calls.len();
            let without = match named.is_some_and(|name| !name.is_empty()) {
                _ if whole => position,
                true => newest,
                false => newest.saturating_sub(1),
            };
            let at = call.get("index").and_then(Value::as_u64).map_or(without, |index| index as usize);
            if at >= MOST_CALLS {
                return Err(format!("it makes more than {MOST_CALLS} calls at once"));
            }
            if self.calls.len() <= at {
                self.calls.resize_with(at + 1, Default::default);
            }
            let part = |key: &str| call.get("function").and_then(|f| f.get(key)).and_then(Value::as_str);
            let Some((name, arguments)) = self.calls.get_mut(at) else { continue };
            name.push_str(part("name").unwrap_or_default());
            // Some servers send the object itself.
            match call.get("function").and_then(|f| f.get("arguments")) {
                Some(object @ Value::Object(_)) => arguments.push_str(&object.to_string()),
                _ => arguments.push_str(part("arguments").unwrap_or_default()),
            }
        }
        match choice.get("finish_reason").and_then(Value::as_str) {
            Some("length") => self.ending = Some(Ending::Limit),
            Some(_) => self.ending = Some(Ending::EndOfTurn),
            None => {}
        }
        Ok(false)
    }

    fn seen(&mut self) {
        self.any = true;
        self.pieces += 1;
        self.first.get_or_insert_with(Instant::now);
    }

    /// Shows what of the text is none of a call or of reasoning.
    fn text(&mut self, text: &str, on_text: &mut dyn FnMut(&str)) {
        let ready = self.reply.push(text);
        if !ready.is_empty() {
            on_text(&ready);
        }
    }

    /// The reply. A call that was not offered, or whose arguments are none, is refused.
    fn finish(mut self, on_text: &mut dyn FnMut(&str)) -> Result<Written, ModelError> {
        let (rest, mut calls) = self.reply.finish(self.offered);
        if !rest.is_empty() {
            on_text(&rest);
        }
        let mut refused = self.reply.had_calls() && calls.is_empty();
        for (name, arguments) in &self.calls {
            let known = self.offered.iter().any(|tool| tool.name == *name);
            let text = if arguments.trim().is_empty() { "{}" } else { arguments };
            match serde_json::from_str(text) {
                Ok(arguments) if known => calls.push(OpeningCall { tool: name.clone(), arguments }),
                _ => refused = true,
            }
        }
        let mut calls = calls.into_iter().take(MOST_CALLS);
        let (call, more_calls) = (calls.next(), calls.collect());
        let ending = match (&call, self.ending) {
            (Some(_), _) => Ending::Call,
            (None, _) if refused => Ending::CallRefused,
            (None, ending) => ending.unwrap_or(Ending::EndOfTurn),
        };
        let now = Instant::now();
        let first = self.first.unwrap_or(now);
        let (prompt_tokens, tokens) = self.usage;
        Ok(Written {
            text: self.reply.text().to_owned(),
            reasoning: std::mem::take(&mut self.reply.reasoning),
            call,
            more_calls,
            tokens: if tokens > 0 { tokens } else { self.pieces },
            time_to_first_token: first - self.start,
            decoding: now - first,
            ending,
            ..Written::behind(prompt_tokens, prompt_tokens)
        })
    }
}
