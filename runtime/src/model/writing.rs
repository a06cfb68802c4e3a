//! One reply in progress: logits come in, tokens and text go out, until it ends.

use std::sync::Arc;
use std::time::Instant;

use tokenizers::step_decode_stream;

use super::guard::{Chosen, Guard, Vocabulary};
use super::processor::Processor;
use super::sampler::{Sampler, lead};
use super::{Bounds, Ending, ModelError, Sampling, Written};

/// A reply in progress.
pub(super) struct Writing {
    processor: Arc<Processor>,
    guard: Guard,
    sampler: Sampler,
    speculates: bool,
    text: Decoding,
    /// The prompt, and what was written.
    tokens: Vec<u32>,
    prompt: usize,
    /// Most tokens of text, and of a call that has begun.
    limit: usize,
    room: usize,
    start: Instant,
    first: Option<Instant>,
    written: Written,
}

/// Tokens whose text is not shown yet: a letter can lie in several.
#[derive(Default)]
struct Decoding {
    ids: Vec<u32>,
    prefix: String,
    index: usize,
}

/// What follows a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// This token was written and its logits are wanted.
    Next(u32),
    /// The reply is over.
    Done,
}

impl Writing {
    /// A reply to `tokens`. `start` is when it was asked for.
    pub(super) fn new(
        processor: &Arc<Processor>,
        vocabulary: &Arc<Vocabulary>,
        tokens: Vec<u32>,
        (sampling, bounds): (&Sampling, Bounds<'_>),
        start: Instant,
    ) -> Result<Self, ModelError> {
        let prompt = tokens.len();
        let room = processor.context() - prompt;
        let written = Written::behind(prompt, prompt);
        Ok(Self {
            processor: Arc::clone(processor),
            guard: Guard::new(vocabulary, processor.calls().format, bounds)?,
            sampler: Sampler::new(sampling),
            speculates: sampling.speculates,
            text: Decoding::default(),
            tokens,
            prompt,
            limit: sampling.max_new_tokens.min(room),
            room,
            start,
            first: None,
            written,
        })
    }

    /// The prompt and what was written.
    pub(super) fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// How many tokens of the prompt had to be computed.
    pub(super) fn prefilled(&mut self, tokens: usize) {
        self.written.prefilled_tokens = tokens;
    }

    /// Whether it may be guessed what follows.
    pub(super) fn speculates(&self) -> bool {
        self.speculates
    }

    /// Somebody stopped it.
    pub(super) fn stop(&mut self) {
        self.written.ending = Ending::Stopped;
    }

    /// Counts a run of the graph, and tokens that were guessed for it.
    pub(super) fn count_step(&mut self, drafted: usize) {
        self.written.steps += 1;
        self.written.drafted_tokens += drafted;
    }

    /// Whether logits that are off by up to `noise` lead to the same token; `logits` are as the graph returned them.
    pub(super) fn is_clear(&mut self, logits: &[f32], noise: f32) -> bool {
        let best = if self.guard.in_call() {
            let (token, lead) = lead(logits);
            (lead >= 2.0 * noise).then_some(token)
        } else {
            let mut logits = logits.to_vec();
            self.sampler.penalise(&mut logits, self.tokens.get(self.prompt..).unwrap_or_default());
            self.sampler.clear(&logits, noise)
        };
        best.is_some_and(|token| self.guard.is_plain(token))
    }

    /// Chooses the token that follows. `on_text` gets what of the text can be shown.
    pub(super) fn take(
        &mut self,
        logits: &mut [f32],
        on_text: &mut dyn FnMut(&str),
    ) -> Result<Progress, ModelError> {
        if self.is_full() {
            return Ok(Progress::Done);
        }
        if !self.guard.in_call() {
            self.sampler.penalise(logits, self.tokens.get(self.prompt..).unwrap_or_default());
        }
        let (_, lead) = lead(logits);
        let (next, call) = match self.guard.next(logits, &mut self.sampler)? {
            Chosen::Token(token) => (token, None),
            Chosen::Call(token, call) => (token, Some(call)),
            Chosen::Endless => return Ok(Progress::Done),
        };
        self.first.get_or_insert_with(Instant::now);
        if self.processor.ends().contains(&next) {
            self.written.ending = Ending::EndOfTurn;
            return Ok(Progress::Done);
        }
        self.written.tokens += 1;
        self.written.leads.push(lead);
        self.tokens.push(next);
        let text = &mut self.text;
        let piece = step_decode_stream(
            self.processor.tokenizer(),
            vec![next],
            true,
            &mut text.ids,
            &mut text.prefix,
            &mut text.index,
        );
        if let Some(text) =
            piece.map_err(|error| ModelError::tokenizer(&*error))?.and_then(|piece| self.guard.show(&piece))
        {
            on_text(&text);
            self.written.text.push_str(&text);
        }
        if call.is_some() {
            self.written.call = call;
            self.written.ending = Ending::Call;
            return Ok(Progress::Done);
        }
        Ok(if self.is_full() { Progress::Done } else { Progress::Next(next) })
    }

    /// A call that has begun is not cut at the limit of the text; it has a bound of its own.
    fn is_full(&self) -> bool {
        let limit = if self.guard.in_call() { self.room } else { self.limit };
        self.written.tokens >= limit
    }

    /// The reply, and the tokens of prompt and reply.
    pub(super) fn finish(mut self, on_text: &mut dyn FnMut(&str)) -> (Written, Vec<u32>) {
        if let Some(text) = self.guard.rest() {
            on_text(&text);
            self.written.text.push_str(&text);
        }
        let first = self.first.unwrap_or_else(Instant::now);
        self.written.masking = self.guard.masking;
        self.written.time_to_first_token = first - self.start;
        self.written.decoding = first.elapsed();
        self.written.ids = self.tokens.get(self.prompt..).unwrap_or_default().to_vec();
        (self.written, self.tokens)
    }
}
