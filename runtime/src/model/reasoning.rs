//! Think blocks: how long a model may reason before it answers, and how what it reasons is kept out of the reply.

use std::collections::VecDeque;

use tokenizers::Tokenizer;

/// How much a model may reason before it answers. Models without think blocks answer at once, whatever the strategy.
/// The figures are those of `reference/behaviour.md` 4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// As long as it wants. If that takes the whole answer's tokens, the block is closed and an answer follows.
    #[default]
    Baseline,
    /// 32 tokens, then at most 512 of answer.
    Capped,
    /// The same, and the reasoning begins with whether a tool is needed.
    Routed,
    /// 256 tokens, then at most 512 of answer.
    Verbose,
}

impl Strategy {
    /// The strategy that a skill names.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "baseline" => Some(Self::Baseline),
            "capped" => Some(Self::Capped),
            "routed" => Some(Self::Routed),
            "verbose" => Some(Self::Verbose),
            _ => None,
        }
    }

    /// Most tokens of reasoning; None: as many as the answer may have.
    fn cap(self) -> Option<usize> {
        match self {
            Self::Baseline => None,
            Self::Capped | Self::Routed => Some(32),
            Self::Verbose => Some(256),
        }
    }

    /// What the reasoning begins with.
    fn preamble(self) -> &'static str {
        if self == Self::Routed { "Tool needed: " } else { "" }
    }
}

/// Most tokens of an answer behind reasoning that was capped or closed.
const ANSWER: usize = 512;
/// Reasoning that comes this close to the limit does not end by itself.
const MARGIN: usize = 8;
/// A block that the prompt opens is opened by one of its last tokens.
const NEAR: usize = 4;

/// The think block of one reply.
pub(super) struct Reasoning {
    /// Tokens that open and close a block; None: the model has none.
    marks: Option<(u32, u32)>,
    stage: Stage,
    /// Tokens that are written whatever the model would write.
    forced: VecDeque<u32>,
    preamble: Vec<u32>,
    close: Vec<u32>,
    cap: usize,
    /// The strategy set the cap.
    capped: bool,
    /// Most tokens of an answer behind a block that the model closes, and behind one that is closed for it.
    answers: (usize, usize),
    closed_by_code: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A block may begin with the first token.
    Before,
    /// So many tokens of it are written.
    Open(usize),
    /// It is over, or there is none.
    After,
}

/// What a token of a block does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thought {
    /// It is one of many.
    More,
    /// It ends the block; so many tokens of answer may follow.
    End(usize),
}

impl Reasoning {
    /// The block of a reply to `prompt`, of at most `limit` tokens.
    pub(super) fn new(tokenizer: &Tokenizer, strategy: Strategy, prompt: &[u32], limit: usize) -> Self {
        let marks = tokenizer.token_to_id("<think>").zip(tokenizer.token_to_id("</think>"));
        let ids = |text: &str| {
            tokenizer.encode_fast(text, false).map(|encoding| encoding.get_ids().to_vec()).unwrap_or_default()
        };
        let mut reasoning = Self {
            marks,
            stage: if marks.is_some() { Stage::Before } else { Stage::After },
            forced: VecDeque::new(),
            preamble: ids(strategy.preamble()),
            close: marks.map(|(_, close)| [vec![close], ids("\n\n")].concat()).unwrap_or_default(),
            cap: strategy.cap().unwrap_or(limit.saturating_sub(MARGIN)).min(limit),
            capped: strategy.cap().is_some(),
            answers: if strategy.cap().is_some() { (ANSWER, ANSWER) } else { (limit, ANSWER) },
            closed_by_code: false,
        };
        if let Some((open, close)) = marks {
            let near = prompt.get(prompt.len().saturating_sub(NEAR)..).unwrap_or_default();
            let newest = near.iter().rev().find(|token| [open, close].contains(token));
            if newest == Some(&open) {
                reasoning.open(None);
            }
        }
        reasoning
    }

    fn open(&mut self, mark: Option<u32>) {
        self.stage = Stage::Open(0);
        self.forced.extend(mark.iter().chain(&self.preamble));
    }

    /// Whether a block is open.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Open(_))
    }

    /// Whether a token is a mark of a block and no reasoning.
    pub(super) fn is_mark(&self, token: u32) -> bool {
        self.marks.is_some_and(|(open, close)| [open, close].contains(&token))
    }

    /// Whether the next token does not depend on the model.
    pub(super) fn is_forced(&self) -> bool {
        !self.forced.is_empty()
    }

    /// The token that must come next.
    pub(super) fn forced(&mut self) -> Option<u32> {
        self.forced.pop_front()
    }

    /// Whether the reply begins with a block, since its most likely token opens one.
    pub(super) fn begins(&mut self, likely: impl FnOnce() -> u32) -> bool {
        let (Stage::Before, Some((open, _))) = (self.stage, self.marks) else { return false };
        self.stage = Stage::After;
        let begins = likely() == open;
        if begins {
            self.open(Some(open));
        }
        begins
    }

    /// Closes the block for the model.
    pub(super) fn close(&mut self) {
        self.closed_by_code = true;
        self.forced.clear();
        self.forced.extend(self.close.iter());
    }

    /// A token of the block was written; what closes it may have been forced.
    pub(super) fn push(&mut self, token: u32) -> Thought {
        let Stage::Open(tokens) = self.stage else { return Thought::More };
        if self.marks.is_some_and(|(_, close)| close == token) {
            self.stage = Stage::After;
            let (by_model, by_code) = self.answers;
            let answer = match (self.closed_by_code, self.capped) {
                (true, _) => by_code,
                (false, true) => by_model,
                (false, false) => by_model.saturating_sub(tokens).max(1),
            };
            // What is left of the close's tokens is written by code, too.
            return Thought::End(answer + self.forced.len());
        }
        self.stage = Stage::Open(tokens + 1);
        if tokens + 1 >= self.cap && self.forced.is_empty() {
            self.close();
        }
        Thought::More
    }
}
