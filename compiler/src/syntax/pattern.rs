//! The language inside pattern strings: `^ what (is|are) [the] {term:name} $`.

use logos::Logos;
use skill_runtime::artifact::layout::SlotKind;
use skill_runtime::router::{TokenKind, lex_plain};

use super::ast::Text;
use crate::diagnostics::{self as codes, Diagnostic, suggestion};
use crate::limits::Limits;
use crate::source::Span;

/// Words that a gap without a number may span.
const DEFAULT_GAP: usize = 6;
/// Fewest letters of a prefix.
const SHORTEST_PREFIX: usize = 3;

/// A parsed pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// `^` in front.
    pub start: bool,
    /// `$` behind.
    pub end: bool,
    /// What must stand between.
    pub node: Node,
    /// Place of the whole pattern.
    pub span: Span,
    /// As written, for traces.
    pub source: String,
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Parts in order.
    Sequence(Vec<Node>),
    /// `(a|b)`
    Alternatives(Vec<Node>),
    /// `[x]`
    Optional(Box<Node>),
    /// A word as written.
    Word(String),
    /// `wetter*`
    Prefix(String),
    /// `hallo+`
    Stretch(String),
    /// A number as written.
    Number(String),
    /// A symbol as written.
    Symbol(String),
    /// A mark that must stand there.
    Mark(String),
    /// `..n`
    Gap(usize),
    /// `<NAME>` or `<NAME.language>`
    Reference {
        /// Fragment, predicate or word list.
        name: String,
        /// Language behind the dot.
        language: Option<String>,
        /// Place.
        span: Span,
    },
    /// `{name:kind}`
    Slot {
        /// Name.
        name: String,
        /// Kind.
        kind: SlotKind,
        /// Place.
        span: Span,
    },
}

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("[")]
    OpenOptional,
    #[token("]")]
    CloseOptional,
    #[token("|")]
    Or,
    #[token("^")]
    Start,
    #[token("$")]
    End,
    #[token("*")]
    Star,
    #[token("+")]
    Plus,
    #[regex(r"<[^<>\n]*>")]
    Reference,
    #[regex(r"\{[^{}\n]*\}")]
    Slot,
    #[regex(r"\.\.[0-9]*")]
    Gap,
    #[regex(r"\\[\s\S]")]
    Escape,
    #[regex(r"\s+")]
    Space,
    #[regex(r"[^()\[\]|<>{}^$*+\\\s.?!,:]+")]
    Text,
}

/// Parses a pattern. On an error the template is None and the diagnostics say why.
pub fn parse(text: &Text, limits: &Limits, diagnostics: &mut Vec<Diagnostic>) -> Option<Template> {
    let before = diagnostics.len();
    if text.value.trim().is_empty() {
        diagnostics.push(
            Diagnostic::new(codes::BLANK_PATTERN, text.span, "this pattern is blank")
                .help("a blank pattern would match every message; write words or delete it"),
        );
        return None;
    }
    let mut parser = Parser {
        text,
        limits,
        diagnostics,
        frames: vec![Frame::new(Bracket::None, 0)],
        literal: String::new(),
        places: Vec::new(),
        start: false,
        end: None,
        before,
        too_deep: false,
    };
    parser.run();
    let node = parser.finish()?;
    let (start, end) = (parser.start, parser.end.is_some());
    if diagnostics.len() > before {
        return None;
    }
    Some(Template { start, end, node, span: text.span, source: text.value.clone() })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    None,
    Alternatives,
    Optional,
}

/// An open bracket: finished branches and the branch at hand.
struct Frame {
    bracket: Bracket,
    at: usize,
    branches: Vec<Node>,
    current: Vec<Node>,
}

impl Frame {
    fn new(bracket: Bracket, at: usize) -> Self {
        Self { bracket, at, branches: Vec::new(), current: Vec::new() }
    }
}

struct Parser<'a> {
    text: &'a Text,
    limits: &'a Limits,
    diagnostics: &'a mut Vec<Diagnostic>,
    frames: Vec<Frame>,
    /// Literal text without white space, gathered until something ends it.
    literal: String,
    /// Place in the pattern of each byte of `literal`.
    places: Vec<usize>,
    start: bool,
    end: Option<usize>,
    /// Diagnostics that were there before this pattern.
    before: usize,
    /// The limit of nesting was passed; nothing behind it is read.
    too_deep: bool,
}

impl Parser<'_> {
    fn report(&mut self, code: &codes::Code, from: usize, to: usize, message: impl Into<String>, help: &str) {
        let diagnostic = Diagnostic::new(code, self.text.place(from, to), message).help(help);
        self.diagnostics.push(diagnostic);
    }

    fn push(&mut self, node: Node) {
        if let Some(end) = self.end {
            self.report(
                codes::PATTERN_SYNTAX,
                end,
                end + 1,
                "`$` stands before the end of the pattern",
                "put it last",
            );
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.current.push(node);
        }
    }

    fn run(&mut self) {
        let value = self.text.value.clone();
        for (token, range) in Token::lexer(&value).spanned() {
            if self.too_deep {
                return;
            }
            let slice = value.get(range.clone()).unwrap_or_default();
            let (from, to) = (range.start, range.end);
            match token {
                Ok(Token::Text) => {
                    self.literal.push_str(slice);
                    self.places.extend(from..to);
                    continue;
                }
                Ok(Token::Escape) => {
                    let escaped = slice.get(1..).unwrap_or_default();
                    if escaped.chars().all(|c| "()|[]{}<>^$*+.\\?!,:/\"'".contains(c)) {
                        self.literal.push_str(escaped);
                        self.places.resize(self.literal.len(), from);
                    } else {
                        self.report(
                            codes::PATTERN_SYNTAX,
                            from,
                            to,
                            format!("`{slice}` is no escape of patterns"),
                            "a backslash writes one of ( ) | [ ] { } < > ^ $ * + . \\ ? ! , :",
                        );
                    }
                    continue;
                }
                Ok(Token::Star) => {
                    self.affix(from, true);
                    continue;
                }
                Ok(Token::Plus) => {
                    self.affix(from, false);
                    continue;
                }
                _ => self.flush(),
            }
            match token {
                Ok(Token::Open) => self.open(Bracket::Alternatives, from),
                Ok(Token::OpenOptional) => self.open(Bracket::Optional, from),
                Ok(Token::Close) => self.close(Bracket::Alternatives, from),
                Ok(Token::CloseOptional) => self.close(Bracket::Optional, from),
                Ok(Token::Or) => self.branch(from),
                Ok(Token::Start) => {
                    let first = self.frames.len() == 1
                        && self
                            .frames
                            .iter()
                            .all(|frame| frame.current.is_empty() && frame.branches.is_empty());
                    if !first || self.start {
                        self.report(
                            codes::PATTERN_SYNTAX,
                            from,
                            to,
                            "`^` stands behind the start of the pattern",
                            "put it first, or write `\\^` for the character",
                        );
                    }
                    self.start = true;
                }
                Ok(Token::End) => {
                    if self.frames.len() > 1 {
                        self.report(
                            codes::PATTERN_SYNTAX,
                            from,
                            to,
                            "`$` stands inside brackets",
                            "put it last, or write `\\$` for the character",
                        );
                    }
                    self.end = Some(from);
                }
                Ok(Token::Gap) => self.gap(slice, from, to),
                Ok(Token::Reference) => self.reference(slice, from, to),
                Ok(Token::Slot) => self.slot(slice, from, to),
                Ok(Token::Space | Token::Text | Token::Escape | Token::Star | Token::Plus) => {}
                Err(()) => {
                    let sign = slice.chars().next().unwrap_or('?');
                    let help = match sign {
                        '{' => "close the slot: {name:kind}; or write `\\{` for the character".to_owned(),
                        '<' => "close the reference: <NAME>; or write `\\<` for the character".to_owned(),
                        _ => format!(
                            "write `\\{sign}` for the character; marks of a message need not be written at all"
                        ),
                    };
                    let end = from + sign.len_utf8();
                    self.report(
                        codes::PATTERN_SYNTAX,
                        from,
                        end,
                        format!("`{sign}` cannot stand bare in a pattern"),
                        &help,
                    );
                }
            }
        }
        self.flush();
    }

    /// Turns the gathered literal into words, symbols and marks.
    fn flush(&mut self) {
        for node in literal_nodes(&self.literal) {
            self.push(node);
        }
        self.literal.clear();
        self.places.clear();
    }

    /// `*` or `+` behind a word.
    fn affix(&mut self, at: usize, prefix: bool) {
        let literal = std::mem::take(&mut self.literal);
        self.places.clear();
        let mut nodes = literal_nodes(&literal);
        let sign = if prefix { "*" } else { "+" };
        match nodes.pop() {
            Some(Node::Word(word)) if prefix => {
                if word.chars().filter(|c| c.is_alphabetic()).count() < SHORTEST_PREFIX {
                    self.report(
                        codes::SHORT_PREFIX,
                        at.saturating_sub(word.len()),
                        at + 1,
                        format!("the prefix `{word}*` has fewer than {SHORTEST_PREFIX} letters"),
                        "write more letters, or the words themselves",
                    );
                }
                nodes.push(Node::Prefix(word));
            }
            Some(Node::Word(word)) => nodes.push(Node::Stretch(word)),
            other => {
                nodes.extend(other);
                self.report(
                    codes::PATTERN_SYNTAX,
                    at,
                    at + 1,
                    format!("`{sign}` stands behind no word"),
                    &format!("put it right behind a word, or write `\\{sign}` for the character"),
                );
            }
        }
        for node in nodes {
            self.push(node);
        }
    }

    fn open(&mut self, bracket: Bracket, at: usize) {
        if self.frames.len() > self.limits.pattern_nesting {
            let limit = self.limits.pattern_nesting;
            self.report(
                codes::NESTING_TOO_DEEP,
                at,
                at + 1,
                format!("brackets are nested more than {limit} deep"),
                "name a part with `pattern NAME = \"…\"` and use it as <NAME> (setting: pattern_nesting)",
            );
            self.too_deep = true;
            return;
        }
        self.frames.push(Frame::new(bracket, at));
    }

    fn branch(&mut self, at: usize) {
        match self.frames.last_mut() {
            Some(frame) if frame.bracket != Bracket::None => {
                let branch = Node::Sequence(std::mem::take(&mut frame.current));
                frame.branches.push(branch);
            }
            _ => self.report(
                codes::PATTERN_SYNTAX,
                at,
                at + 1,
                "`|` stands outside brackets",
                "write the alternatives as (a|b), or as two patterns",
            ),
        }
    }

    fn close(&mut self, bracket: Bracket, at: usize) {
        let sign = if bracket == Bracket::Optional { "]" } else { ")" };
        if self.frames.last().is_none_or(|frame| frame.bracket != bracket) {
            self.report(
                codes::PATTERN_SYNTAX,
                at,
                at + 1,
                format!("`{sign}` closes no bracket"),
                &format!("open it before, or write `\\{sign}` for the character"),
            );
            return;
        }
        let Some(mut frame) = self.frames.pop() else { return };
        frame.branches.push(Node::Sequence(frame.current));
        if frame.branches.iter().any(|branch| matches!(branch, Node::Sequence(parts) if parts.is_empty())) {
            self.report(
                codes::PATTERN_SYNTAX,
                frame.at,
                at + 1,
                "an alternative is empty",
                "write `[x]` for a part that may be missing",
            );
        }
        let inner = match frame.branches.len() {
            1 => frame.branches.pop().unwrap_or(Node::Sequence(Vec::new())),
            _ => Node::Alternatives(frame.branches),
        };
        self.push(if bracket == Bracket::Optional { Node::Optional(Box::new(inner)) } else { inner });
    }

    fn gap(&mut self, slice: &str, from: usize, to: usize) {
        let digits = slice.get(2..).unwrap_or_default();
        let words = if digits.is_empty() { Some(DEFAULT_GAP) } else { digits.parse().ok() };
        match words.filter(|words| (1..=self.limits.gap).contains(words)) {
            Some(words) => self.push(Node::Gap(words)),
            None => {
                let limit = self.limits.gap;
                self.report(
                    codes::PATTERN_SYNTAX,
                    from,
                    to,
                    format!("the gap `{slice}` is not between 1 and {limit} words"),
                    "`..` spans up to six words, `..n` up to n (setting: gap)",
                );
            }
        }
    }

    fn reference(&mut self, slice: &str, from: usize, to: usize) {
        let inner = slice.get(1..slice.len() - 1).unwrap_or_default().trim();
        let (name, language) = match inner.split_once('.') {
            Some((name, language)) => (name, Some(language.to_owned())),
            None => (inner, None),
        };
        if name.is_empty() {
            self.report(codes::PATTERN_SYNTAX, from, to, "`<>` names no fragment", "write <NAME>");
            return;
        }
        let span = self.text.place(from, to);
        self.push(Node::Reference { name: name.to_owned(), language, span });
    }

    fn slot(&mut self, slice: &str, from: usize, to: usize) {
        let inner = slice.get(1..slice.len() - 1).unwrap_or_default();
        let (name, kind) = inner.split_once(':').unwrap_or((inner, "word"));
        let (name, kind) = (name.trim(), kind.trim());
        let span = self.text.place(from, to);
        let well_formed = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        if !well_formed {
            self.report(
                codes::BAD_SLOT,
                from,
                to,
                format!("`{slice}` is no slot"),
                "write {name:kind}; a name starts with a letter",
            );
            return;
        }
        let known = SlotKind::ALL.iter().find(|(known, _)| *known == kind);
        match known {
            Some(&(_, kind)) => self.push(Node::Slot { name: name.to_owned(), kind, span }),
            None => {
                let help = suggestion(kind, SlotKind::ALL.iter().map(|(name, _)| *name), "slot kinds");
                self.report(codes::BAD_SLOT, from, to, format!("unknown slot kind `{kind}`"), &help);
            }
        }
    }

    fn finish(&mut self) -> Option<Node> {
        if self.too_deep {
            return None;
        }
        while self.frames.len() > 1 {
            let Some(frame) = self.frames.pop() else { break };
            self.report(
                codes::PATTERN_SYNTAX,
                frame.at,
                frame.at + 1,
                "this bracket is not closed",
                "close it, or write it with a backslash for the character",
            );
        }
        let frame = self.frames.pop()?;
        if frame.current.is_empty() && self.diagnostics.len() == self.before {
            self.report(
                codes::BLANK_PATTERN,
                0,
                self.text.value.len(),
                "this pattern holds nothing but anchors",
                "write words, symbols or slots",
            );
        }
        Some(Node::Sequence(frame.current))
    }
}

/// Words, numbers, symbols and marks of literal text without white space.
#[must_use]
pub fn literal_nodes(literal: &str) -> Vec<Node> {
    if is_symbol_word(literal) {
        return vec![Node::Word(literal.to_owned())];
    }
    lex_plain(literal, &[])
        .into_iter()
        .map(|(kind, text)| match kind {
            TokenKind::Word => Node::Word(text.to_owned()),
            TokenKind::Number => Node::Number(text.to_owned()),
            TokenKind::Symbol => Node::Symbol(text.to_owned()),
            TokenKind::Mark => Node::Mark(text.to_owned()),
        })
        .collect()
}

/// Whether literal text is one word with symbols: `C++`, `F#`, `.NET`.
fn is_symbol_word(literal: &str) -> bool {
    let word = |text: &str| !text.is_empty() && text.chars().all(char::is_alphanumeric);
    let stem = literal.trim_end_matches(['+', '#']);
    (stem.len() < literal.len() && word(stem) && literal.len() - stem.len() <= 4)
        || literal.strip_prefix('.').is_some_and(|rest| word(rest) && rest.starts_with(char::is_alphabetic))
}
