//! One reply in progress: logits come in, tokens and text go out, until it ends.

use std::sync::Arc;
use std::time::Instant;

use tokenizers::step_decode_stream;

use super::guard::{Chosen, Guard, Vocabulary};
use super::processor::Processor;
use super::reasoning::{Reasoning, Thought};
use super::sampler::{Sampler, best, lead};
use super::{Bounds, Ending, ModelError, Sampling, Written};

/// A reply in progress.
pub(super) struct Writing {
    processor: Arc<Processor>,
    guard: Guard,
    sampler: Sampler,
    speculates: bool,
    text: Decoding,
    reasoning: Reasoning,
    thoughts: Decoding,
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

impl Decoding {
    /// The text that a token makes complete.
    fn push(&mut self, processor: &Processor, token: u32) -> Result<Option<String>, ModelError> {
        step_decode_stream(
            processor.tokenizer(),
            vec![token],
            true,
            &mut self.ids,
            &mut self.prefix,
            &mut self.index,
        )
        .map_err(|error| ModelError::tokenizer(&*error))
    }
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
        let limit = sampling.max_new_tokens.min(room);
        let reasoning = Reasoning::new(processor.tokenizer(), sampling.strategy, &tokens, limit);
        let written = Written::behind(prompt, prompt);
        Ok(Self {
            processor: Arc::clone(processor),
            guard: Guard::new(vocabulary, processor.calls().format, bounds)?,
            sampler: Sampler::new(sampling),
            speculates: sampling.speculates,
            text: Decoding::default(),
            reasoning,
            thoughts: Decoding::default(),
            tokens,
            prompt,
            limit,
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
        if self.reasoning.is_forced() {
            return true;
        }
        let best = if self.guard.in_call() && !self.reasoning.is_open() {
            let (token, lead) = lead(logits);
            (lead >= 2.0 * noise).then_some(token)
        } else {
            let mut logits = logits.to_vec();
            self.sampler.penalise(&mut logits, self.tokens.get(self.prompt..).unwrap_or_default());
            self.sampler.clear(&logits, noise)
        };
        best.is_some_and(|token| self.reasoning.is_open() || self.guard.is_plain(token))
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
        if self.reasoning.is_open() || self.reasoning.is_forced() || self.reasoning.begins(|| best(logits)) {
            return self.think(logits);
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
        self.push(next, lead);
        let piece = self.text.push(&self.processor, next)?;
        if let Some(text) = piece.and_then(|piece| self.guard.show(&piece)) {
            self.show(&text, on_text);
        }
        if call.is_some() {
            self.written.call = call;
            self.written.ending = Ending::Call;
            return Ok(Progress::Done);
        }
        Ok(if self.is_full() { Progress::Done } else { Progress::Next(next) })
    }

    /// Chooses a token of a think block, or one that is written whatever the model would write.
    fn think(&mut self, logits: &mut [f32]) -> Result<Progress, ModelError> {
        let (forced, (_, lead)) = (self.reasoning.forced(), lead(logits));
        let next = match forced {
            Some(token) => token,
            None => {
                self.sampler.penalise(logits, self.tokens.get(self.prompt..).unwrap_or_default());
                self.sampler.draw(logits)
            }
        };
        self.first.get_or_insert_with(Instant::now);
        if forced.is_none() && self.processor.ends().contains(&next) {
            // A turn that ends in its reasoning has no answer yet.
            self.reasoning.close();
            return self.think(logits);
        }
        self.push(next, lead);
        self.written.reasoning_tokens += 1;
        match self.reasoning.push(next) {
            Thought::More if self.reasoning.is_mark(next) => {}
            Thought::More => {
                if let Some(piece) = self.thoughts.push(&self.processor, next)? {
                    self.written.reasoning.push_str(&piece);
                }
            }
            Thought::End(answer) => self.limit = (self.written.tokens + answer).min(self.room),
        }
        Ok(if self.is_full() { Progress::Done } else { Progress::Next(next) })
    }

    fn push(&mut self, token: u32, lead: f32) {
        self.written.tokens += 1;
        self.written.leads.push(lead);
        self.tokens.push(token);
    }

    /// Adds to the text; white space before its first letter is none of it.
    fn show(&mut self, text: &str, on_text: &mut dyn FnMut(&str)) {
        let text = if self.written.text.is_empty() { text.trim_start() } else { text };
        if !text.is_empty() {
            on_text(text);
            self.written.text.push_str(text);
        }
    }

    /// A call that has begun is not cut at the limit of the text; it has a bound of its own.
    fn is_full(&self) -> bool {
        let bound_elsewhere = self.guard.in_call() || self.reasoning.is_open() || self.reasoning.is_forced();
        let limit = if bound_elsewhere { self.room } else { self.limit };
        self.written.tokens >= limit
    }

    /// The reply, and the tokens of prompt and reply.
    pub(super) fn finish(mut self, on_text: &mut dyn FnMut(&str)) -> (Written, Vec<u32>) {
        if let Some(text) = self.guard.rest() {
            self.show(&text, on_text);
        }
        self.written.reasoning = self.written.reasoning.trim().to_owned();
        let first = self.first.unwrap_or_else(Instant::now);
        self.written.masking = self.guard.masking;
        self.written.time_to_first_token = first - self.start;
        self.written.decoding = first.elapsed();
        self.written.ids = self.tokens.get(self.prompt..).unwrap_or_default().to_vec();
        (self.written, self.tokens)
    }
}

#[cfg(test)]
mod tests {
    use tokenizers::models::wordlevel::WordLevel;
    use tokenizers::pre_tokenizers::whitespace::WhitespaceSplit;
    use tokenizers::{AddedToken, Tokenizer};

    use super::super::{Calls, Strategy};
    use super::*;

    const END: u32 = 0;
    const WORD: u32 = 1;
    const ANSWER: u32 = 2;

    /// A tokenizer of words with marks of think blocks, as Qwen3 and its like have.
    fn processor() -> Result<Arc<Processor>, ModelError> {
        let words = ["<|end|>", "so", "yes", "Tool", "needed:"];
        let ids = words.into_iter().enumerate().map(|(id, word)| (word.to_owned(), id as u32)).collect();
        let model = WordLevel::builder().vocab(ids).unk_token("so".to_owned()).build();
        let mut tokenizer = Tokenizer::new(model.map_err(|error| ModelError::tokenizer(&*error))?);
        tokenizer.with_pre_tokenizer(Some(WhitespaceSplit));
        let mark = |text: &str, special| AddedToken::from(text.to_owned(), special);
        let added = [mark("<|end|>", true), mark("<think>", false), mark("</think>", false)];
        tokenizer.add_tokens(added).map_err(|error| ModelError::tokenizer(&*error))?;
        Ok(Arc::new(Processor::of_tokenizer(tokenizer, END)?))
    }

    /// Writes with logits that favour what `likely` says of the tokens written so far.
    fn write(
        strategy: Strategy,
        prompt: &str,
        limit: usize,
        likely: impl Fn(&[u32]) -> u32,
    ) -> Result<Written, ModelError> {
        let processor = processor()?;
        let vocabulary = Arc::new(Vocabulary::new(processor.tokenizer(), processor.ends()));
        let sampling = Sampling {
            temperature: 0.0,
            max_new_tokens: limit,
            strategy,
            ..Sampling::of(processor.generation(), 0)
        };
        let tokens = processor.tokens(prompt)?;
        let before = tokens.len();
        let bounds = Bounds::of(Calls::None);
        let mut writing = Writing::new(&processor, &vocabulary, tokens, (&sampling, bounds), Instant::now())?;
        let mut shown = String::new();
        loop {
            let mut logits = vec![0.0; processor.tokenizer().get_vocab_size(true)];
            let next = likely(writing.tokens().get(before..).unwrap_or_default());
            if let Some(logit) = logits.get_mut(next as usize) {
                *logit = 9.0;
            }
            if writing.take(&mut logits, &mut |text| shown.push_str(text))? == Progress::Done {
                break;
            }
        }
        let (written, _) = writing.finish(&mut |text| shown.push_str(text));
        assert_eq!(shown, written.text);
        Ok(written)
    }

    fn mark(text: &str) -> Result<u32, ModelError> {
        processor()?.tokenizer().token_to_id(text).ok_or_else(|| ModelError::Tokenizer("no mark".to_owned()))
    }

    #[test]
    fn reasoning_is_capped_and_is_no_part_of_the_reply() -> Result<(), ModelError> {
        let close = mark("</think>")?;
        // It would reason for ever; once the block is closed it answers.
        let endless = |written: &[u32]| match written.iter().position(|token| *token == close) {
            None => WORD,
            Some(at) if written.len() - at < 4 => ANSWER,
            Some(_) => END,
        };
        for (strategy, reasoned) in [(Strategy::Capped, 32), (Strategy::Routed, 32), (Strategy::Verbose, 256)]
        {
            let written = write(strategy, "so <think>", 400, endless)?;
            assert_eq!(written.reasoning_tokens, reasoned + 1, "{strategy:?}");
            assert!(written.text.starts_with("yes") && !written.text.contains("so"), "{}", written.text);
            assert_eq!(written.reasoning.starts_with("Tool needed:"), strategy == Strategy::Routed);
            assert_eq!(written.ending, Ending::EndOfTurn);
        }
        // Without a cap it may take the whole limit; the answer comes behind that.
        let written = write(Strategy::Baseline, "so <think>", 50, endless)?;
        assert_eq!((written.reasoning_tokens, written.ending), (50 - 8 + 1, Ending::EndOfTurn));
        assert!(written.text.starts_with("yes"));
        Ok(())
    }

    #[test]
    fn a_block_that_the_model_opens_and_closes_counts_and_what_has_none_answers_at_once()
    -> Result<(), ModelError> {
        let (open, close) = (mark("<think>")?, mark("</think>")?);
        let short = |written: &[u32]| match written.len() {
            0 => open,
            1 | 2 => WORD,
            3 => close,
            _ => ANSWER,
        };
        let written = write(Strategy::Baseline, "so", 20, short)?;
        assert_eq!((written.reasoning.as_str(), written.reasoning_tokens), ("so so", 4));
        assert_eq!((written.tokens, written.ending), (20 + 1, Ending::Limit), "{}", written.text);
        let written = write(Strategy::Capped, "so", 5, |_| ANSWER)?;
        assert_eq!((written.reasoning_tokens, written.tokens), (0, 5));
        // A turn that ends while it reasons is answered all the same.
        let ends = |written: &[u32]| match written {
            [.., last] if *last == close => ANSWER,
            [.., last] if *last == ANSWER => END,
            _ => END,
        };
        let written = write(Strategy::Capped, "so <think>", 20, ends)?;
        assert_eq!(written.text.trim(), "yes");
        Ok(())
    }
}
