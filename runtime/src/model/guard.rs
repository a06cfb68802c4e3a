//! Holds what a model writes to what was offered: calls can only name offered tools with arguments that their schemas
//! admit; where nothing is offered no call can begin. Free text stays free and costs nothing.

use std::sync::{Arc, OnceLock};

use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use tokenizers::Tokenizer;
use toktrie::{ApproximateTokEnv, TokEnv, TokRxInfo, TokTrie};

use super::ModelError;
use super::calls::CallFormat;
use super::evidence::{Evidence, Spelling};
use super::sampler::Sampler;
use crate::artifact::ToolDeclaration;
use crate::router::OpeningCall;

/// Which calls may be written.
#[derive(Clone, Copy, Debug)]
pub enum Calls<'t> {
    /// None.
    None,
    /// A call of one of these, or text.
    May(&'t [ToolDeclaration]),
    /// A call of one of these and nothing else.
    Must(&'t [ToolDeclaration]),
}

/// What may be written.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'t> {
    /// Calls.
    pub calls: Calls<'t>,
    /// Text may hold figures and links of this only; None: any.
    pub evidence: Option<&'t Evidence>,
}

impl<'t> Bounds<'t> {
    /// Any text, and these calls.
    #[must_use]
    pub fn of(calls: Calls<'t>) -> Self {
        Self { calls, evidence: None }
    }
}

/// Draws that evidence refuses before every token is looked at.
const MOST_DRAWS: usize = 8;

/// Most tokens of a call. Texts and numbers in it are bounded; white space and names are not many.
const MOST_CALL_TOKENS: usize = 512;

/// Bytes of every token, and what grammars are compiled with.
pub(super) struct Vocabulary {
    bytes: Vec<Vec<u8>>,
    ends: Vec<u32>,
    /// Built when the first call may be written: it takes a tenth of a second.
    parsers: OnceLock<Result<ParserFactory, String>>,
}

impl Vocabulary {
    /// Bytes of the tokenizer's tokens; `ends` end a turn.
    pub(super) fn new(tokenizer: &Tokenizer, ends: &[u32]) -> Self {
        let largest = ends.iter().max().map_or(0, |&end| end as usize + 1);
        let size = tokenizer.get_vocab_size(true).max(largest);
        let added = tokenizer.get_added_tokens_decoder();
        let letters = byte_letters();
        let bytes = (0..size as u32)
            .map(|id| {
                if let Some(token) = added.get(&id) {
                    // A mark of a call is text, also where the tokenizer has a token for it.
                    let text = !token.special || token.content.contains("tool_call");
                    let mark: &[u8] = if text { &[] } else { &[TokTrie::SPECIAL_TOKEN_MARKER] };
                    return [mark, token.content.as_bytes()].concat();
                }
                let Some(piece) = tokenizer.id_to_token(id) else { return Vec::new() };
                token_bytes(&piece, &letters)
            })
            .collect();
        Self { bytes, ends: ends.to_vec(), parsers: OnceLock::new() }
    }

    /// # Errors
    /// The logits are no numbers or fewer than the tokenizer has tokens.
    pub(super) fn check(&self, logits: &[f32]) -> Result<(), ModelError> {
        if logits.len() < self.bytes.len() {
            return Err(ModelError::Graph(format!(
                "it returns {} logits, tokenizer.json has {} tokens: they do not belong together",
                logits.len(),
                self.bytes.len()
            )));
        }
        if logits.iter().any(|logit| logit.is_nan()) {
            return Err(ModelError::Graph("its logits are not numbers (NaN)".to_owned()));
        }
        Ok(())
    }

    fn of(&self, token: u32) -> &[u8] {
        let bytes = self.bytes.get(token as usize).map(Vec::as_slice).unwrap_or_default();
        if bytes.first() == Some(&TokTrie::SPECIAL_TOKEN_MARKER) { &[] } else { bytes }
    }

    fn matcher(&self, grammar: String) -> Result<Matcher, ModelError> {
        let parsers = self.parsers.get_or_init(|| {
            let Some(&end) = self.ends.first() else { return Err("the model has no end of turn".to_owned()) };
            let info = TokRxInfo::new(self.bytes.len() as u32, end);
            let trie = TokTrie::from(&info, &self.bytes).with_eos_tokens(&self.ends);
            let environment: TokEnv = Arc::new(ApproximateTokEnv::new(trie));
            let mut factory = ParserFactory::new_simple(&environment).map_err(|error| error.to_string())?;
            factory.quiet();
            Ok(factory)
        });
        let parsers = parsers.as_ref().map_err(|error| ModelError::Calls(error.clone()))?;
        let matcher = Matcher::new(parsers.create_parser(TopLevelGrammar::from_lark(grammar)));
        match matcher.get_error() {
            Some(error) => Err(ModelError::Calls(error)),
            None => Ok(matcher),
        }
    }
}

/// Why a JSON Schema cannot be held to while a call is written; None where it can.
#[cfg(feature = "mcp")]
#[must_use]
pub fn schema_fault(schema: &serde_json::Value) -> Option<String> {
    use llguidance::api::{GrammarInit, ParserLimits};
    let grammar = TopLevelGrammar::from_lark(format!("start: %json {schema}\n"));
    let fault = GrammarInit::Serialized(grammar).validate(None, ParserLimits::default()).into_error();
    // The first line says it; the grammar follows.
    fault.map(|fault| fault.lines().next().unwrap_or_default().to_owned())
}

/// GPT-2's letters for bytes: printable ones stand for themselves, the others for U+0100 and on.
fn byte_letters() -> Vec<(char, u8)> {
    let plain = |byte: u8| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    let mut next = 0x100_u32;
    let mut letters: Vec<(char, u8)> = (0..=255_u8)
        .map(|byte| {
            if plain(byte) {
                return (char::from(byte), byte);
            }
            next += 1;
            (char::from_u32(next - 1).unwrap_or_default(), byte)
        })
        .collect();
    letters.sort_unstable();
    letters
}

/// Bytes of a token as vocabularies write it: byte letters, SentencePiece's `▁` for a blank, `<0x0A>` for a byte.
fn token_bytes(piece: &str, letters: &[(char, u8)]) -> Vec<u8> {
    let hexadecimal = piece.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
    if let Some(byte) = hexadecimal.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
        return vec![byte];
    }
    let byte = |letter: char| {
        let at = letters.binary_search_by_key(&letter, |(known, _)| *known).ok()?;
        letters.get(at).map(|(_, byte)| *byte)
    };
    let all: Option<Vec<u8>> = piece.chars().map(byte).collect();
    all.unwrap_or_else(|| piece.replace('▁', " ").into_bytes())
}

/// Makes a token impossible; there must be another.
fn refuse(logits: &mut [f32], token: u32) -> Result<(), ModelError> {
    match logits.get_mut(token as usize) {
        Some(logit) if logit.is_finite() => {
            *logit = f32::NEG_INFINITY;
            Ok(())
        }
        _ => Err(ModelError::Calls("no token can follow".to_owned())),
    }
}

/// What is being written.
enum State {
    /// Text. The last bytes of it, as many as could begin a call, and the tokens that hold them.
    Text { tail: Vec<u8>, tokens: Vec<(u32, usize)> },
    /// A call; its bytes so far behind the bytes of text in its first token.
    Call { matcher: Box<Matcher>, bytes: Vec<u8>, skip: usize, tokens: usize },
}

/// Chooses tokens of one reply.
pub(super) struct Guard {
    vocabulary: Arc<Vocabulary>,
    format: CallFormat,
    /// What a call may name; nothing where no call may begin.
    tools: Vec<ToolDeclaration>,
    evidence: Option<Evidence>,
    /// Where the text stands in figures and links.
    spelling: Spelling,
    state: State,
    /// All that was written may begin a call.
    fresh: bool,
    /// Text that may be the beginning of a call and is not shown yet.
    held: String,
    /// Time spent on masks, and their number.
    pub(super) masking: (std::time::Duration, usize),
}

/// What a chosen token does.
pub(super) enum Chosen {
    /// The reply goes on.
    Token(u32),
    /// It ends a call.
    Call(u32, OpeningCall),
    /// The call cannot be finished in the bound.
    Endless,
}

impl Guard {
    pub(super) fn new(
        vocabulary: &Arc<Vocabulary>,
        format: CallFormat,
        bounds: Bounds<'_>,
    ) -> Result<Self, ModelError> {
        let Bounds { calls, evidence } = bounds;
        let state = match calls {
            Calls::Must(tools) => State::Call {
                matcher: Box::new(vocabulary.matcher(format.grammar(tools, ""))?),
                bytes: Vec::new(),
                skip: 0,
                tokens: 0,
            },
            Calls::None | Calls::May(_) => State::Text { tail: Vec::new(), tokens: Vec::new() },
        };
        let masking = (std::time::Duration::ZERO, 0);
        let spelling = Spelling::default();
        let (fresh, held) = (true, String::new());
        let tools = match calls {
            Calls::None => Vec::new(),
            Calls::May(tools) | Calls::Must(tools) => tools.to_vec(),
        };
        let (vocabulary, evidence) = (Arc::clone(vocabulary), evidence.cloned());
        Ok(Self { vocabulary, format, tools, evidence, spelling, state, fresh, held, masking })
    }

    /// Whether a token can come next as it is: it is no beginning of a call, and what is written admits it.
    pub(super) fn is_plain(&mut self, token: u32) -> bool {
        if let State::Call { matcher, tokens, .. } = &mut self.state {
            return *tokens < MOST_CALL_TOKENS
                && matcher.validate_tokens(&[token]).is_ok_and(|fits| fits == 1);
        }
        self.is_admitted(token) && self.completes_start(token).is_none()
    }

    /// A call is being written: the reply must not be cut.
    pub(super) fn in_call(&self) -> bool {
        matches!(self.state, State::Call { .. })
    }

    /// Chooses the next token by `sampler`; `logits` are changed.
    pub(super) fn next(&mut self, logits: &mut [f32], sampler: &mut Sampler) -> Result<Chosen, ModelError> {
        if self.in_call() {
            return self.next_of_call(logits);
        }
        for draw in 0.. {
            if draw == MOST_DRAWS {
                self.refuse_all(logits);
            }
            let token = sampler.draw(logits);
            if !self.is_admitted(token) {
                refuse(logits, token)?;
                continue;
            }
            let Some(begins) = self.completes_start(token) else {
                self.push_text(token);
                return Ok(Chosen::Token(token));
            };
            if let Some(chosen) = self.begin(token, begins)? {
                return Ok(chosen);
            }
            refuse(logits, token)?;
        }
        Err(ModelError::Calls("no token can follow".to_owned()))
    }

    /// Whether the evidence has what the text is with this token.
    fn is_admitted(&self, token: u32) -> bool {
        let Some(evidence) = &self.evidence else { return true };
        if self.vocabulary.ends.contains(&token) {
            return self.spelling.may_end(evidence);
        }
        self.spelling.clone().follow(evidence, self.vocabulary.of(token))
    }

    /// Refuses every token that the evidence does not admit: in the middle of a figure these are nearly all.
    fn refuse_all(&self, logits: &mut [f32]) {
        for (token, logit) in logits.iter_mut().enumerate() {
            if logit.is_finite() && !self.is_admitted(token as u32) {
                *logit = f32::NEG_INFINITY;
            }
        }
    }

    /// Where in the tail and this token the start of a call begins, if the token completes one.
    fn completes_start(&self, token: u32) -> Option<usize> {
        // Plain JSON is a call only as the whole reply, and only where one is wanted.
        if self.format == CallFormat::Json && (self.tools.is_empty() || !self.fresh) {
            return None;
        }
        let State::Text { tail, .. } = &self.state else { return None };
        let bytes = self.vocabulary.of(token);
        let start = self.format.start().as_bytes();
        let joined = [tail.as_slice(), bytes].concat();
        joined.windows(start.len()).position(|window| window == start)
    }

    /// Begins a call whose start lies at `begins` of the tail and this token. None: the token does not fit it.
    fn begin(&mut self, token: u32, begins: usize) -> Result<Option<Chosen>, ModelError> {
        let State::Text { tail, tokens } = &self.state else { return Ok(None) };
        if self.tools.is_empty() {
            return Ok(None);
        }
        // The tokens from the one that holds the first byte of the start.
        let mut at = tail.len();
        let mut from = tokens.len();
        while at > begins {
            let Some(&(_, length)) = from.checked_sub(1).and_then(|before| tokens.get(before)) else { break };
            from -= 1;
            at = at.saturating_sub(length);
        }
        let before = tail.get(at..begins).unwrap_or_default();
        let Ok(before) = std::str::from_utf8(before) else { return Ok(None) };
        let mut matcher = self.vocabulary.matcher(self.format.grammar(&self.tools, before))?;
        let mut ids: Vec<u32> = tokens.iter().skip(from).map(|(id, _)| *id).collect();
        ids.push(token);
        let fits = matcher.try_consume_tokens(&ids).map_err(|error| ModelError::Calls(error.to_string()))?;
        if fits < ids.len() {
            return Ok(None);
        }
        let skip = before.len();
        let bytes = [tail.get(at..).unwrap_or_default(), self.vocabulary.of(token)].concat();
        self.state = State::Call { matcher: Box::new(matcher), bytes, skip, tokens: ids.len() };
        self.finished(token).map(Some)
    }

    fn push_text(&mut self, token: u32) {
        let bytes = self.vocabulary.of(token);
        if let Some(evidence) = &self.evidence {
            self.spelling.follow(evidence, bytes);
        }
        let keep = self.format.start().len() - 1;
        if let State::Text { tail, tokens } = &mut self.state {
            tail.extend_from_slice(bytes);
            tokens.push((token, bytes.len()));
            self.fresh &= self.format.start().as_bytes().starts_with(tail.trim_ascii_start());
            // Whole tokens are dropped, so that the tail begins where a token does.
            while let Some(&(_, length)) = tokens.first()
                && tail.len() - length.min(tail.len()) >= keep
            {
                tail.drain(..length.min(tail.len()));
                tokens.remove(0);
            }
        }
    }

    /// The most likely token that the grammar admits: a call is no place for variety.
    fn next_of_call(&mut self, logits: &mut [f32]) -> Result<Chosen, ModelError> {
        let State::Call { matcher, bytes, tokens, .. } = &mut self.state else {
            return Err(ModelError::Calls("no call is being written".to_owned()));
        };
        if *tokens >= MOST_CALL_TOKENS {
            return Ok(Chosen::Endless);
        }
        let start = std::time::Instant::now();
        let mask = matcher.compute_mask().map_err(|error| ModelError::Calls(error.to_string()))?;
        let mut best: Option<(u32, f32)> = None;
        mask.iter_set_entries(|token| {
            if let Some(&logit) = logits.get(token)
                && best.is_none_or(|(_, known)| logit > known)
            {
                best = Some((token as u32, logit));
            }
        });
        self.masking.0 += start.elapsed();
        self.masking.1 += 1;
        let Some((token, _)) = best else {
            return Err(ModelError::Calls("no token can follow".to_owned()));
        };
        matcher.consume_token(token).map_err(|error| ModelError::Calls(error.to_string()))?;
        bytes.extend_from_slice(self.vocabulary.of(token));
        *tokens += 1;
        self.finished(token)
    }

    fn finished(&mut self, token: u32) -> Result<Chosen, ModelError> {
        let State::Call { matcher, bytes, skip, .. } = &mut self.state else {
            return Ok(Chosen::Token(token));
        };
        let ends = matcher.is_stopped()
            || matcher.is_accepting().map_err(|error| ModelError::Calls(error.to_string()))?;
        if !ends {
            return Ok(Chosen::Token(token));
        }
        let text = String::from_utf8_lossy(bytes.get(*skip..).unwrap_or_default());
        let cause = || ModelError::Calls(format!("it admitted {text:?}"));
        self.format.read(&text, &self.tools).map(|call| Chosen::Call(token, call)).ok_or_else(cause)
    }

    /// What of a decoded piece can be shown: a call is never, and what could begin one only when it does not.
    pub(super) fn show(&mut self, piece: &str) -> Option<String> {
        if self.in_call() {
            self.held.clear();
            return None;
        }
        self.held.push_str(piece);
        let start = self.format.start();
        let keep = (1..start.len()).rev().find(|&n| start.get(..n).is_some_and(|s| self.held.ends_with(s)));
        let ready = self.held.len() - keep.unwrap_or_default();
        let shown: String = self.held.drain(..ready).collect();
        (!shown.is_empty()).then_some(shown)
    }

    /// What was held back when the reply is over.
    pub(super) fn rest(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.held);
        (!rest.is_empty() && !self.in_call()).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64Mcg;
    use tokenizers::models::bpe::BPE;
    use tokenizers::{AddedToken, Tokenizer};

    use super::super::calls::tests::tools;
    use super::super::reasoning::Strategy;
    use super::super::sampler::Sampling;
    use super::*;

    const END: u32 = 0;

    /// A byte-level tokenizer: an end of turn, each byte, and some pieces that lie across the parts of a call.
    fn tokenizer() -> Tokenizer {
        let pieces = [
            "tool",
            "_call",
            "<tool",
            "name",
            "Ġ<",
            "></",
            "\"}}",
            "{\"",
            "\":Ġ\"",
            "calculator",
            "forecast",
            "true",
            "https",
            "://",
            "Ċ",
            "Ġ",
            "function",
            "parameter",
            "delete_all",
        ];
        let letters = byte_letters();
        let mut vocabulary: Vec<String> = vec!["<|end|>".to_owned()];
        vocabulary.extend(letters.iter().map(|(letter, _)| letter.to_string()));
        for piece in pieces {
            if !vocabulary.iter().any(|known| known == piece) {
                vocabulary.push(piece.to_owned());
            }
        }
        let ids = vocabulary.into_iter().enumerate().map(|(id, piece)| (piece, id as u32)).collect();
        let mut tokenizer = Tokenizer::new(BPE::new(ids, Vec::new()));
        let end = AddedToken::from("<|end|>".to_owned(), true);
        assert!(tokenizer.add_special_tokens([end]).is_ok());
        tokenizer
    }

    /// Lets chance write; returns the text and the call.
    fn write(
        vocabulary: &Arc<Vocabulary>,
        format: CallFormat,
        bounds: Bounds<'_>,
        seed: u64,
        favour: &str,
    ) -> Result<(String, Option<OpeningCall>), ModelError> {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let sampling = Sampling {
            temperature: 1.0,
            top_p: 1.0,
            top_k: 0,
            repetition_penalty: 1.0,
            max_new_tokens: 0,
            seed,
            speculates: false,
            strategy: Strategy::Baseline,
        };
        let mut sampler = Sampler::new(&sampling);
        let mut guard = Guard::new(vocabulary, format, bounds)?;
        let mut bytes = Vec::new();
        let mut favoured = favour.bytes();
        for _ in 0..2_000 {
            let mut logits: Vec<f32> =
                vocabulary.bytes.iter().map(|_| (random.next_u32() % 1_000) as f32 / 100.0).collect();
            // Something to begin with, so that chance comes near a call at all.
            if let Some(wanted) = favoured.next() {
                for (logit, bytes) in logits.iter_mut().zip(&vocabulary.bytes) {
                    *logit += if bytes.as_slice() == [wanted] { 50.0 } else { 0.0 };
                }
            }
            match guard.next(&mut logits, &mut sampler)? {
                Chosen::Token(END) => break,
                Chosen::Token(token) => bytes.extend_from_slice(vocabulary.of(token)),
                Chosen::Call(token, call) => {
                    bytes.extend_from_slice(vocabulary.of(token));
                    return Ok((String::from_utf8_lossy(&bytes).into_owned(), Some(call)));
                }
                Chosen::Endless => break,
            }
        }
        Ok((String::from_utf8_lossy(&bytes).into_owned(), None))
    }

    fn fits(call: &OpeningCall) -> bool {
        let text = |name: &str| call.arguments.get(name).and_then(|value| value.as_str());
        let only = |names: &[&str]| call.arguments.keys().all(|name| names.contains(&name.as_str()));
        match call.tool.as_str() {
            "calculator" => only(&["expression"]) && text("expression").is_some_and(|text| !text.is_empty()),
            "forecast" => {
                only(&["place", "day", "unit", "days", "hourly"])
                    && text("place").is_some()
                    && text("unit").is_none_or(|unit| ["celsius", "\"odd\""].contains(&unit))
                    && text("day").is_none_or(|day| day.len() == 10)
                    && call.arguments.get("days").is_none_or(serde_json::Value::is_number)
                    && call.arguments.get("hourly").is_none_or(serde_json::Value::is_boolean)
            }
            "read_page" => only(&["url"]) && text("url").is_some_and(|url| url.starts_with("http")),
            "notes__edit" => {
                let edits = call.arguments.get("edits").and_then(|edits| edits.as_array());
                edits.is_some_and(|edits| {
                    (1..=2).contains(&edits.len())
                        && edits.iter().all(|edit| {
                            edit.get("line").is_some_and(|line| line.as_u64() > Some(0))
                                && edit.get("text").is_none_or(serde_json::Value::is_string)
                        })
                })
            }
            "now" => call.arguments.is_empty(),
            _ => false,
        }
    }

    #[test]
    fn chance_writes_only_calls_of_offered_tools_with_arguments_that_fit() -> Result<(), ModelError> {
        let vocabulary = Arc::new(Vocabulary::new(&tokenizer(), &[END]));
        let tools = tools();
        for format in [CallFormat::Hermes, CallFormat::Xml, CallFormat::Json] {
            let mut finished = 0;
            for seed in 0..60 {
                let (text, call) = write(&vocabulary, format, Bounds::of(Calls::Must(&tools)), seed, "")?;
                finished += u32::from(call.is_some());
                assert!(call.is_none_or(|call| fits(&call)), "{format:?}: {text}");
            }
            assert!(finished > 30, "{format:?}: {finished} of 60");
        }
        Ok(())
    }

    #[test]
    fn a_call_among_text_is_held_to_what_is_offered() -> Result<(), ModelError> {
        let vocabulary = Arc::new(Vocabulary::new(&tokenizer(), &[END]));
        let tools = tools();
        let one = tools.get(..1).unwrap_or_default();
        for (format, begin) in [
            (CallFormat::Hermes, "Well. <tool_call>{\"name\": \"delete_all\""),
            (CallFormat::Xml, "Well. <tool_call><function=delete_all>"),
            (CallFormat::Json, "{\"name\": \"delete_all\""),
        ] {
            for seed in 0..20 {
                let (text, call) = write(&vocabulary, format, Bounds::of(Calls::May(one)), seed, begin)?;
                let call = call.ok_or_else(|| ModelError::Calls(format!("{format:?}: no call in {text}")))?;
                assert!(call.tool == "calculator" && fits(&call), "{text}");
                assert!(text.contains(format.start()), "{text}");
            }
        }
        Ok(())
    }

    #[test]
    fn where_nothing_is_offered_no_call_begins() -> Result<(), ModelError> {
        let vocabulary = Arc::new(Vocabulary::new(&tokenizer(), &[END]));
        for seed in 0..20 {
            let begin = "a < b <tool_call>{\"name\"";
            let (text, call) = write(&vocabulary, CallFormat::Hermes, Bounds::of(Calls::None), seed, begin)?;
            assert!(call.is_none() && !text.contains("<tool_call>"), "{text}");
            assert!(text.starts_with("a < b <tool_call"), "free text stays free: {text}");
        }
        Ok(())
    }

    #[test]
    fn chance_writes_only_figures_and_links_of_the_evidence() -> Result<(), ModelError> {
        let vocabulary = Arc::new(Vocabulary::new(&tokenizer(), &[END]));
        let evidence = Evidence::of(["In 1874 it had 46,700 books: https://mill.example/books"]);
        let mut figures = 0;
        for seed in 0..40 {
            for begin in ["In 18", "It had 4", "Source: https://", "It had 99 of 12 in 2021"] {
                let bounds = Bounds { calls: Calls::None, evidence: Some(&evidence) };
                let (text, _) = write(&vocabulary, CallFormat::Hermes, bounds, seed, begin)?;
                let mut spelling = Spelling::default();
                assert!(spelling.follow(&evidence, text.as_bytes()), "{text}");
                figures += text.matches("1874").count() + text.matches("46").count();
            }
        }
        assert!(figures > 40, "{figures}: what the evidence has can be written");
        Ok(())
    }

    #[test]
    fn what_could_begin_a_call_is_shown_once_it_does_not() -> Result<(), ModelError> {
        let vocabulary = Arc::new(Vocabulary::new(&tokenizer(), &[END]));
        let mut guard = Guard::new(&vocabulary, CallFormat::Hermes, Bounds::of(Calls::None))?;
        let shown: Vec<Option<String>> =
            ["a <", "tool", " box> <t"].into_iter().map(|piece| guard.show(piece)).collect();
        assert_eq!(shown, [Some("a ".to_owned()), None, Some("<tool box> ".to_owned())]);
        assert_eq!(guard.rest(), Some("<t".to_owned()));
        Ok(())
    }

    #[test]
    fn logits_that_are_no_numbers_or_too_few_are_errors() {
        let vocabulary = Arc::new(Vocabulary::new(&tokenizer(), &[END]));
        let size = vocabulary.bytes.len();
        assert!(vocabulary.check(&vec![0.0; size]).is_ok());
        assert!(vocabulary.check(&vec![f32::NAN; size]).is_err_and(|e| e.to_string().contains("NaN")));
        assert!(
            vocabulary.check(&vec![0.0; size - 1]).is_err_and(|e| e.to_string().contains("tokenizer.json"))
        );
    }
}
