//! Decoder models on ONNX Runtime, from a folder in the Hub's layout.
//!
//! `config.json`, `generation_config.json`, `tokenizer.json`, a chat template, `onnx/model*.onnx`, and optionally
//! `profile.json` with what is known of how the model behaves. Any decoder with `input_ids` and `attention_mask`
//! whose caches come in as `past…` and go out as `present…` works, with 16- or 32-bit caches.

mod cache;
mod calls;
mod decoder;
mod device;
mod error;
mod evidence;
mod files;
mod guard;
mod prefixes;
mod remote;
mod sampler;
mod template;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokenizers::Tokenizer;

pub use calls::{CallForm, CallFormat};
pub use device::{Device, DeviceChoice};
pub use error::ModelError;
pub use evidence::Evidence;
pub use files::{AnswerPolicy, Generation, Profile, UnroutedTools};
pub use guard::{Bounds, Calls};
pub use remote::{Endpoint, Remote};
pub use sampler::Sampling;
pub use template::{ChatTemplate, Message, function};

use crate::artifact::ToolDeclaration;
use crate::router::OpeningCall;
use cache::Cache;
use decoder::Decoder;
use guard::{Chosen, Guard, Vocabulary};
use prefixes::{Prefixes, common};
use sampler::Sampler;

/// A model that is ready to write.
pub struct Model {
    decoder: Decoder,
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
    template: ChatTemplate,
    calls: CallForm,
    files: files::Files,
    device: Device,
    /// What the newest prompt and its answer left behind.
    resident: Option<Resident>,
    prefixes: Prefixes,
}

/// Caches and the tokens that they were computed from.
struct Resident {
    tokens: Vec<u32>,
    cache: Cache,
}

/// A rendered prompt.
#[derive(Clone, Copy, Debug)]
pub struct Prompt<'p> {
    /// The text.
    pub text: &'p str,
    /// Bytes at its start that other prompts of the same skill begin with: their keys and values are kept.
    pub shared: usize,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model")
            .field("name", &self.files.name)
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The model ended its turn.
    EndOfTurn,
    /// The limit of tokens was reached.
    Limit,
    /// Somebody stopped it.
    Stopped,
    /// A call is complete.
    Call,
    /// A call was not offered or is none, and is no part of the reply.
    CallRefused,
}

/// What the model wrote.
#[derive(Clone, Debug)]
pub struct Written {
    /// The text, without end-of-turn tokens and without a call.
    pub text: String,
    /// The call that it ends with.
    pub call: Option<OpeningCall>,
    /// Tokens of the prompt.
    pub prompt_tokens: usize,
    /// How many of them were computed for this answer; the others were known from prompts before.
    pub prefilled_tokens: usize,
    /// Tokens written.
    pub tokens: usize,
    /// From the call to the first token.
    pub time_to_first_token: Duration,
    /// From the first token to the last.
    pub decoding: Duration,
    /// How it ended.
    pub ending: Ending,
    /// Time spent on finding out which tokens a call admits, and for how many tokens.
    pub masking: (Duration, usize),
}

impl Written {
    /// Tokens a second after the first; None for fewer than two tokens.
    #[must_use]
    pub fn tokens_per_second(&self) -> Option<f64> {
        let seconds = self.decoding.as_secs_f64();
        (self.tokens > 1 && seconds > 0.0).then(|| (self.tokens - 1) as f64 / seconds)
    }
}

impl Model {
    /// Opens a model folder. `runtime` is ONNX Runtime's library.
    ///
    /// # Errors
    /// The folder lacks a file, a file is damaged, the runtime cannot be loaded, or the device that was named is
    /// missing or takes only part of the graph.
    pub fn open(folder: &Path, runtime: &Path, device: DeviceChoice) -> Result<Self, ModelError> {
        let files = files::Files::read(folder)?;
        let tokenizer = read_tokenizer(folder)?;
        let template = ChatTemplate::new(&files.template, &files.special, &files.template_path)?;
        let (session, device) = device::open(&files.graph, runtime, device)?;
        let decoder = Decoder::new(session, device.name == "cpu")?;
        let vocabulary = Vocabulary::new(&tokenizer, &files.generation.ends);
        let calls = files.calls(&template);
        let (resident, prefixes) = (None, Prefixes::default());
        Ok(Self { decoder, tokenizer, vocabulary, template, calls, files, device, resident, prefixes })
    }

    /// Name of the folder.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.files.name
    }

    /// The device that runs it, and why that one.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What is known of the model's behaviour.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.files.profile
    }

    /// The model's own generation settings.
    #[must_use]
    pub fn generation(&self) -> &Generation {
        &self.files.generation
    }

    /// Longest prompt and answer together, in tokens.
    #[must_use]
    pub fn context(&self) -> usize {
        self.files.context
    }

    /// Writes a conversation and the offered tools as the model expects them.
    ///
    /// # Errors
    /// The chat template fails; the message says where.
    pub fn render(&self, messages: &[Message], tools: &[ToolDeclaration]) -> Result<String, ModelError> {
        self.template.render(messages, tools)
    }

    /// See [`ChatTemplate::shared`].
    #[must_use]
    pub fn shared(&self, prompt: &str, first: &[Message], tools: &[ToolDeclaration]) -> usize {
        self.template.shared(prompt, first, tools)
    }

    /// Whether the chat template has a place for tools.
    #[must_use]
    pub fn template_takes_tools(&self) -> bool {
        self.template.takes_tools()
    }

    /// How the model writes calls.
    #[must_use]
    pub fn calls(&self) -> &CallForm {
        &self.calls
    }

    /// Token ids of a rendered prompt.
    ///
    /// # Errors
    /// The tokenizer fails.
    pub fn tokens(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        encode(&self.tokenizer, text)
    }

    /// Logits behind each token, `[tokens, vocabulary]`, flat: one prefill over all of them.
    ///
    /// # Errors
    /// The runtime fails.
    pub fn all_logits(&mut self, tokens: &[u32]) -> Result<Vec<f32>, ModelError> {
        self.decoder.all_logits(tokens)
    }

    /// The most likely next token behind each token, teacher-forced: one prefill over all of them.
    ///
    /// # Errors
    /// The runtime fails.
    pub fn best_next(&mut self, tokens: &[u32]) -> Result<Vec<u32>, ModelError> {
        let logits = self.all_logits(tokens)?;
        let vocabulary = logits.len().checked_div(tokens.len()).unwrap_or_default().max(1);
        Ok(logits.chunks_exact(vocabulary).map(sampler::best).collect())
    }

    /// Whether the graph writes keys and values in place, so that no step copies them.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.decoder.is_in_place()
    }

    /// Bytes of keys and values that are kept of prompts' beginnings.
    #[must_use]
    pub fn kept_bytes(&self) -> usize {
        self.prefixes.bytes()
    }

    /// Forgets what prompts before left behind: the next one is computed from its first token.
    pub fn forget(&mut self) {
        self.resident = None;
        self.prefixes = Prefixes::default();
    }

    /// Logits behind a prompt, computed as [`Model::write`] does; and how many tokens were computed for it.
    ///
    /// # Errors
    /// The prompt is empty or does not fit the model's context, or the runtime fails.
    pub fn logits(&mut self, prompt: Prompt<'_>) -> Result<(Vec<f32>, usize), ModelError> {
        let tokens = self.prompt_tokens(prompt.text)?;
        let (resident, logits, prefilled) = self.prefill(tokens, prompt)?;
        self.resident = Some(resident);
        Ok((logits, prefilled))
    }

    fn prompt_tokens(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        let tokens = self.tokens(text)?;
        if tokens.is_empty() || tokens.len() >= self.files.context {
            return Err(ModelError::PromptTooLong { tokens: tokens.len(), context: self.files.context });
        }
        Ok(tokens)
    }

    /// Computes what is not known of a prompt, and keeps its beginning. Whatever fails, no half-made cache stays.
    fn prefill(
        &mut self,
        tokens: Vec<u32>,
        prompt: Prompt<'_>,
    ) -> Result<(Resident, Vec<f32>, usize), ModelError> {
        let shared = prompt.text.get(..prompt.shared).unwrap_or_default();
        let shared = if shared.is_empty() { 0 } else { common(&self.tokens(shared)?, &tokens) };
        let reusable = self.decoder.can_reuse();
        // A single token takes another kernel than many, whose sums round otherwise: two at least are computed.
        let most = if reusable { tokens.len().saturating_sub(2) } else { 0 };
        let (mut cache, live) = match self.resident.take().filter(|_| most > 0) {
            Some(resident) => {
                let live = common(&resident.tokens, &tokens).min(resident.cache.length).min(most);
                (resident.cache, live)
            }
            None => (self.decoder.cache()?, 0),
        };
        let mut known = live;
        match self.prefixes.longest(&tokens).map(|(saved, length)| (saved, length.min(most))) {
            Some((saved, length)) if length > live => {
                self.decoder.restore(&mut cache, saved, length)?;
                known = length;
            }
            _ => self.decoder.truncate(&mut cache, live)?,
        }
        let logits = self.decoder.step(&mut cache, tokens.get(known..).unwrap_or_default())?;
        self.vocabulary.check(&logits)?;
        let beginning = tokens.get(..shared).unwrap_or_default();
        if reusable && shared > 0 && !self.prefixes.holds(beginning) {
            self.prefixes.keep(beginning, self.decoder.save(&cache, shared)?);
        }
        let prefilled = tokens.len() - known;
        Ok((Resident { tokens, cache }, logits, prefilled))
    }

    /// Writes an answer to a rendered prompt, with at most one call and within `bounds`. `on_text` gets
    /// each piece of text as it is written, never a call; `stop` ends it between two tokens.
    ///
    /// # Errors
    /// The prompt does not fit the model's context, the runtime fails, or its logits are no numbers.
    pub fn write(
        &mut self,
        prompt: Prompt<'_>,
        sampling: &Sampling,
        bounds: Bounds<'_>,
        stop: &AtomicBool,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<Written, ModelError> {
        let start = Instant::now();
        let tokens = self.prompt_tokens(prompt.text)?;
        let prompt_tokens = tokens.len();
        let room = self.files.context - prompt_tokens;
        let limit = sampling.max_new_tokens.min(room);
        let (mut resident, mut logits, prefilled_tokens) = self.prefill(tokens, prompt)?;
        let mut sampler = Sampler::new(sampling);
        let mut guard = Guard::new(&self.vocabulary, self.calls.format, bounds)?;
        let mut stream = self.tokenizer.decode_stream(true);
        let mut written = Written {
            text: String::new(),
            call: None,
            prompt_tokens,
            prefilled_tokens,
            tokens: 0,
            time_to_first_token: Duration::ZERO,
            decoding: Duration::ZERO,
            ending: Ending::Limit,
            masking: (Duration::ZERO, 0),
        };
        let mut first = start;
        // A call that has begun is not cut at the limit of the text; it has a bound of its own.
        while written.tokens < limit || (guard.in_call() && written.tokens < room) {
            if stop.load(Ordering::Relaxed) {
                written.ending = Ending::Stopped;
                break;
            }
            if written.tokens > 0 {
                let newest = resident.tokens.last().copied().unwrap_or_default();
                logits = self.decoder.step(&mut resident.cache, &[newest])?;
                self.vocabulary.check(&logits)?;
            }
            let so_far = resident.tokens.get(prompt_tokens..).unwrap_or_default();
            let (next, call) = match guard.next(&mut logits, &mut sampler, so_far)? {
                Chosen::Token(token) => (token, None),
                Chosen::Call(token, call) => (token, Some(call)),
                Chosen::Endless => break,
            };
            if written.tokens == 0 {
                first = Instant::now();
                written.time_to_first_token = first - start;
            }
            if self.files.generation.ends.contains(&next) {
                written.ending = Ending::EndOfTurn;
                break;
            }
            written.tokens += 1;
            resident.tokens.push(next);
            let piece = stream.step(next).map_err(|error| ModelError::tokenizer(&*error))?;
            if let Some(text) = piece.and_then(|piece| guard.show(&piece)) {
                on_text(&text);
                written.text.push_str(&text);
            }
            if call.is_some() {
                written.call = call;
                written.ending = Ending::Call;
                break;
            }
        }
        if let Some(text) = guard.rest() {
            on_text(&text);
            written.text.push_str(&text);
        }
        written.masking = guard.masking;
        self.resident = Some(resident);
        written.decoding = first.elapsed();
        if written.time_to_first_token.is_zero() {
            written.time_to_first_token = start.elapsed();
        }
        Ok(written)
    }
}

/// Tokenizer and chat template of a model folder, without the model: enough to show a prompt.
pub struct Drafting {
    tokenizer: Tokenizer,
    template: ChatTemplate,
    files: files::Files,
}

impl std::fmt::Debug for Drafting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Drafting").field("name", &self.files.name).finish_non_exhaustive()
    }
}

impl Drafting {
    /// Opens a model folder without its graph.
    ///
    /// # Errors
    /// The folder lacks a file or a file is damaged.
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        let files = files::Files::read(folder)?;
        let tokenizer = read_tokenizer(folder)?;
        let template = ChatTemplate::new(&files.template, &files.special, &files.template_path)?;
        Ok(Self { tokenizer, template, files })
    }

    /// See [`Model::render`].
    ///
    /// # Errors
    /// The chat template fails.
    pub fn render(&self, messages: &[Message], tools: &[ToolDeclaration]) -> Result<String, ModelError> {
        self.template.render(messages, tools)
    }

    /// Tokens of a rendered prompt.
    ///
    /// # Errors
    /// The tokenizer fails.
    pub fn count(&self, text: &str) -> Result<usize, ModelError> {
        encode(&self.tokenizer, text).map(|tokens| tokens.len())
    }

    /// See [`Model::profile`].
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.files.profile
    }

    /// See [`Model::calls`].
    #[must_use]
    pub fn calls(&self) -> CallForm {
        self.files.calls(&self.template)
    }

    /// See [`Model::template_takes_tools`].
    #[must_use]
    pub fn template_takes_tools(&self) -> bool {
        self.template.takes_tools()
    }
}

fn read_tokenizer(folder: &Path) -> Result<Tokenizer, ModelError> {
    let path = folder.join("tokenizer.json");
    files::regular(&path)?;
    Tokenizer::from_file(&path).map_err(|error| ModelError::file(&path, error))
}

fn encode(tokenizer: &Tokenizer, text: &str) -> Result<Vec<u32>, ModelError> {
    let encoding = tokenizer.encode_fast(text, false).map_err(|error| ModelError::tokenizer(&*error))?;
    Ok(encoding.get_ids().to_vec())
}
