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
mod lookup;
mod placement;
mod prefixes;
mod processor;
mod reasoning;
mod remote;
mod repeats;
mod sampler;
mod scheduler;
mod template;
mod tolerant;
mod writing;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub use calls::{CallForm, CallFormat};
pub use device::{Device, DeviceChoice};
pub use error::ModelError;
pub use evidence::Evidence;
pub use files::{AnswerPolicy, Generation, Profile, UnroutedTools, dtype_of, graph_name};
#[cfg(feature = "mcp")]
pub use guard::schema_fault;
pub use guard::{Bounds, Calls};
pub use placement::Placement;
pub use processor::Processor;
pub use reasoning::Strategy;
pub use remote::{Endpoint, Remote};
pub use repeats::collapse;
pub use sampler::Sampling;
pub use scheduler::{Limits, Scheduler};
pub use template::{ChatTemplate, Message, function};

use crate::router::OpeningCall;
use cache::Cache;
use decoder::Decoder;
use guard::Vocabulary;
use lookup::Lookup;
use prefixes::{Prefixes, common};
use writing::{Progress, Writing};

/// How a model is opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Precision of the graph, where there are several; None: 32 bits, else the shortest name.
    pub dtype: Option<&'a str>,
    /// Where it runs.
    pub device: DeviceChoice,
    /// Find out what runs each node, also on the processor.
    pub inspect: bool,
}

impl Options<'_> {
    /// On a device, with the graph that the folder has.
    #[must_use]
    pub fn on(device: DeviceChoice) -> Self {
        Self { device, ..Self::default() }
    }
}

/// A model that is ready to write.
pub struct Model {
    decoder: Decoder,
    processor: Arc<Processor>,
    vocabulary: Arc<Vocabulary>,
    device: Device,
    placement: Option<Placement>,
    /// What the newest prompts and their answers left behind, the oldest first.
    residents: Vec<Resident>,
    most_residents: usize,
    prefixes: Prefixes,
}

/// Caches and the tokens that they were computed from.
struct Resident {
    tokens: Vec<u32>,
    cache: Cache,
}

/// A prompt that is being computed.
struct Reading {
    tokens: Vec<u32>,
    /// Tokens at its start that other prompts of its skill begin with.
    shared: usize,
    /// Tokens that were known.
    known: usize,
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
            .field("name", &self.processor.name())
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
    /// The text, without end-of-turn tokens, without a call and without reasoning.
    pub text: String,
    /// What the model reasoned before it answered, and in how many tokens, marks included.
    pub reasoning: String,
    /// See `reasoning`; counted among `tokens`, too.
    pub reasoning_tokens: usize,
    /// The call that it ends with.
    pub call: Option<OpeningCall>,
    /// Further ones of the same reply, from an endpoint that makes several at once.
    pub more_calls: Vec<OpeningCall>,
    /// Tokens of the prompt.
    pub prompt_tokens: usize,
    /// How many of them were computed for this answer; the others were known from prompts before.
    pub prefilled_tokens: usize,
    /// Tokens written.
    pub tokens: usize,
    /// Their ids.
    pub ids: Vec<u32>,
    /// How far each one's logit lay before the next best: the most likely token's, whether it was drawn or not.
    pub leads: Vec<f32>,
    /// Tokens that were guessed from the text before and computed together with the one before them.
    pub drafted_tokens: usize,
    /// Runs of the graph after the prompt; fewer than tokens where guesses were right.
    pub steps: usize,
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
    /// Nothing yet behind a prompt, of which `prefilled` tokens were computed.
    fn behind(prompt_tokens: usize, prefilled_tokens: usize) -> Self {
        Self {
            text: String::new(),
            reasoning: String::new(),
            reasoning_tokens: 0,
            call: None,
            more_calls: Vec::new(),
            prompt_tokens,
            prefilled_tokens,
            tokens: 0,
            ids: Vec::new(),
            leads: Vec::new(),
            drafted_tokens: 0,
            steps: 0,
            time_to_first_token: Duration::ZERO,
            decoding: Duration::ZERO,
            ending: Ending::Limit,
            masking: (Duration::ZERO, 0),
        }
    }

    /// Tokens a second after the first; None for fewer than two tokens.
    #[must_use]
    pub fn tokens_per_second(&self) -> Option<f64> {
        let seconds = self.decoding.as_secs_f64();
        (self.tokens > 1 && seconds > 0.0).then(|| (self.tokens - 1) as f64 / seconds)
    }
}

/// What writes replies to rendered prompts: a model, or one that several share.
pub trait LanguageModel {
    /// Its tokenizer, chat template and settings.
    fn processor(&self) -> &Arc<Processor>;

    /// Writes an answer to a rendered prompt, with at most one call and within `bounds`. `on_text` gets each piece of
    /// text as it is written, never a call; `stop` ends it between two tokens.
    ///
    /// # Errors
    /// The prompt does not fit the model's context, the runtime fails, or its logits are no numbers.
    fn write(
        &mut self,
        prompt: Prompt<'_>,
        sampling: &Sampling,
        bounds: Bounds<'_>,
        stop: &AtomicBool,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<Written, ModelError>;
}

/// Most that logits of one run over several tokens differ from those of a run a token: kernels for many rows add in
/// another order, and 8-bit inputs round by it. Measured on the embedded default: leads, which have the noise of two
/// logits, differ by up to 0.45 in 2,000 tokens on one processor and by 0.50 on another (`tests/speculation.rs` prints it).
const NOISE: f32 = 0.65;

impl Model {
    /// Opens a model folder. `runtime` is ONNX Runtime's library.
    ///
    /// # Errors
    /// The folder lacks a file, a file is damaged, the runtime cannot be loaded, or the device that was named is
    /// missing or takes only part of the graph.
    pub fn open(folder: &Path, runtime: &Path, options: Options<'_>) -> Result<Self, ModelError> {
        let processor = Arc::new(Processor::open(folder, options.dtype)?);
        let accept = |session, device: &'static str, profiled| {
            let mut decoder = Decoder::new(session, device == "cpu")?;
            let placement = if profiled { Some(decoder.placement()?) } else { None };
            // ONNX Runtime falls back to the processor node by node, and does not say so.
            let lacks = placement.as_ref().and_then(|placement| placement.lacks(device::provider(device)));
            match lacks {
                Some(cause) if device != "cpu" => Err(ModelError::Device { device, cause }),
                _ => Ok((decoder, placement)),
            }
        };
        let chosen = (options.device, options.inspect);
        let ((decoder, placement), device) = device::open(processor.graph(), runtime, chosen, accept)?;
        let vocabulary = Arc::new(Vocabulary::new(processor.tokenizer(), processor.ends()));
        let (residents, prefixes) = (Vec::new(), Prefixes::default());
        Ok(Self { decoder, processor, vocabulary, device, placement, residents, most_residents: 1, prefixes })
    }

    /// The device that runs it, and why that one.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What runs its nodes; None on the processor, unless it was asked for.
    #[must_use]
    pub fn placement(&self) -> Option<&Placement> {
        self.placement.as_ref()
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
        self.residents.clear();
        self.prefixes = Prefixes::default();
    }

    /// Logits behind a prompt, computed as [`Model::write`] does; and how many tokens were computed for it.
    ///
    /// # Errors
    /// The prompt is empty or does not fit the model's context, or the runtime fails.
    pub fn logits(&mut self, prompt: Prompt<'_>) -> Result<(Vec<f32>, usize), ModelError> {
        let (tokens, shared) = self.processor.split_prompt(prompt)?;
        let (reading, logits) = self.prefill(tokens, shared)?;
        let prefilled = reading.tokens.len() - reading.known;
        self.keep(Resident { tokens: reading.tokens, cache: reading.cache });
        Ok((logits, prefilled))
    }

    fn prefill(&mut self, tokens: Vec<u32>, shared: usize) -> Result<(Reading, Vec<f32>), ModelError> {
        let mut reading = self.begin(tokens, shared)?;
        loop {
            if let Some(logits) = self.read(&mut reading, usize::MAX)? {
                return Ok((reading, logits));
            }
        }
    }

    /// Begins to compute what is not known of a prompt. Whatever fails, no half-made cache stays.
    fn begin(&mut self, tokens: Vec<u32>, shared: usize) -> Result<Reading, ModelError> {
        // A single token takes another kernel than many, whose sums round otherwise: two at least are computed.
        let most = if self.decoder.can_reuse() { tokens.len().saturating_sub(2) } else { 0 };
        let (mut cache, live) = match self.reuse(&tokens).filter(|_| most > 0) {
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
        Ok(Reading { tokens, shared, known, cache })
    }

    /// The caches of the conversation that these tokens go on with; else, once there are as many as may be, those that
    /// were not used longest.
    fn reuse(&mut self, tokens: &[u32]) -> Option<Resident> {
        let alike = |resident: &Resident| common(&resident.tokens, tokens);
        let best = (0..self.residents.len()).max_by_key(|&at| self.residents.get(at).map(alike));
        let goes_on = |at: &usize| self.residents.get(*at).is_some_and(|r| alike(r) * 2 > r.tokens.len());
        let chosen = match best.filter(goes_on) {
            Some(at) => Some(self.residents.remove(at)),
            None if self.residents.len() < self.most_residents => None,
            None => (!self.residents.is_empty()).then(|| self.residents.remove(0)),
        };
        // With the one that is about to be used there are no more than may be.
        let excess = (self.residents.len() + 1).saturating_sub(self.most_residents.max(1));
        self.residents.drain(..excess.min(self.residents.len()));
        chosen
    }

    /// Keeps what a prompt and its answer left behind.
    fn keep(&mut self, resident: Resident) {
        self.residents.push(resident);
    }

    /// Computes up to `most` more tokens of a prompt, and keeps its beginning. Returns logits once it is read.
    fn read(&mut self, reading: &mut Reading, most: usize) -> Result<Option<Vec<f32>>, ModelError> {
        let done = reading.cache.length;
        let left = reading.tokens.len() - done;
        // No single token is left over.
        let count = if left <= most.saturating_add(1) { left } else { most.max(2) };
        let tokens = reading.tokens.get(done..done + count).unwrap_or_default();
        let logits = self.decoder.step(&mut reading.cache, tokens)?;
        if count < left {
            return Ok(None);
        }
        self.vocabulary.check(&logits)?;
        let beginning = reading.tokens.get(..reading.shared).unwrap_or_default();
        if self.decoder.can_reuse() && reading.shared > 0 && !self.prefixes.holds(beginning) {
            self.prefixes.keep(beginning, self.decoder.save(&reading.cache, reading.shared)?);
        }
        Ok(Some(logits))
    }

    /// Writes at least one more token behind `token`, which is not computed yet. Where the text before tells what may
    /// follow, that is computed along, and taken as far as it is what would have been written.
    fn advance(
        &mut self,
        writing: &mut Writing,
        cache: &mut Cache,
        token: u32,
        lookup: &mut Lookup,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<Progress, ModelError> {
        let draft = lookup.draft(writing.tokens());
        if draft.is_empty() {
            return self.advance_one(writing, cache, token, on_text);
        }
        let before = cache.length;
        let inputs: Vec<u32> = std::iter::once(token).chain(draft).collect();
        let logits = self.decoder.step_keeping(cache, &inputs, inputs.len())?;
        writing.count_step(inputs.len() - 1);
        self.vocabulary.check(&logits)?;
        let vocabulary = logits.len() / inputs.len();
        for (at, (row, &input)) in logits.chunks_exact(vocabulary.max(1)).zip(&inputs).enumerate() {
            if !writing.is_clear(row, NOISE) {
                // The kernels for one row decide.
                lookup.learn(at, inputs.len() - 1);
                self.decoder.truncate(cache, before + at)?;
                return self.advance_one(writing, cache, input, on_text);
            }
            let progress = writing.take(&mut row.to_vec(), on_text)?;
            match progress {
                Progress::Next(next) if inputs.get(at + 1) == Some(&next) => {}
                _ => {
                    lookup.learn(at, inputs.len() - 1);
                    self.decoder.truncate(cache, before + at + 1)?;
                    return Ok(progress);
                }
            }
        }
        Err(ModelError::Graph("it returned too few logits".to_owned()))
    }

    fn advance_one(
        &mut self,
        writing: &mut Writing,
        cache: &mut Cache,
        token: u32,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<Progress, ModelError> {
        let mut logits = self.decoder.step(cache, &[token])?;
        writing.count_step(0);
        self.vocabulary.check(&logits)?;
        writing.take(&mut logits, on_text)
    }
}

impl LanguageModel for Model {
    fn processor(&self) -> &Arc<Processor> {
        &self.processor
    }

    fn write(
        &mut self,
        prompt: Prompt<'_>,
        sampling: &Sampling,
        bounds: Bounds<'_>,
        stop: &AtomicBool,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<Written, ModelError> {
        let start = Instant::now();
        let (tokens, shared) = self.processor.split_prompt(prompt)?;
        let (Reading { tokens, known, mut cache, .. }, mut logits) = self.prefill(tokens, shared)?;
        let prefilled = tokens.len() - known;
        let mut writing = Writing::new(&self.processor, &self.vocabulary, tokens, (sampling, bounds), start)?;
        writing.prefilled(prefilled);
        let mut lookup = Lookup::new(sampling.speculates && self.decoder.is_in_place());
        let mut progress = writing.take(&mut logits, on_text)?;
        while let Progress::Next(token) = progress {
            if stop.load(Ordering::Relaxed) {
                writing.stop();
                break;
            }
            progress = self.advance(&mut writing, &mut cache, token, &mut lookup, on_text)?;
        }
        let (written, tokens) = writing.finish(on_text);
        self.keep(Resident { tokens, cache });
        Ok(written)
    }
}
