//! Folds a message and splits it into tokens, in one pass over its bytes.
//!
//! ASCII and Latin-1 letters are folded in place; other characters go through Unicode tables. A message that is
//! not in NFKC is normalised first and its tokens are mapped back, so spans always point into the message as
//! given.

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_script::{Script, UnicodeScript};

use super::flags::{self, list_flag};
use super::fold::{LONGEST_WORD, is_ignorable, push_folded};
use super::lookup::{lookup, lookup_word};
use super::mask::{Mask, MaskKind, open_ranges};
use super::phrases::Hit;
use crate::artifact::View;
use crate::artifact::layout::{ID_UNKNOWN, LISTS, Word};

/// Words with symbols that are tokens in every library; patterns add the ones that they write.
pub const SYMBOL_WORDS: [&str; 3] = ["c++", "c#", ".net"];

/// Misspelled words of at most this many bytes need a word behind them.
const SHORTEST_SLIP: u32 = 3;

/// A token.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Token {
    /// Token id of the artifact, or `ID_UNKNOWN`.
    pub(super) id: u32,
    /// Byte range in the message as given.
    pub(super) start: u32,
    /// See `start`.
    pub(super) end: u32,
    /// Bits of `flags`.
    pub(super) flags: u32,
    /// The ASCII symbol or mark that the token is, after folding; 0 for other tokens.
    pub(super) glyph: u8,
}

impl Token {
    pub(super) fn has(self, bits: u32) -> bool {
        self.flags & bits != 0
    }

    pub(super) fn is_mark(self) -> bool {
        self.has(flags::MARK)
    }

    /// A word that no language's function-word lists hold.
    pub(super) fn is_content(self) -> bool {
        self.has(flags::WORD) && !self.has(flags::NOT_CONTENT)
    }
}

/// Tokens of a message, in buffers that are used again.
#[derive(Debug, Default)]
pub(super) struct Lexer {
    pub(super) tokens: Vec<Token>,
    /// Bit `id % 64` of every token id and kind: what a posting needs must be in here.
    pub(super) signature: u64,
    buffer: Vec<u8>,
    map: Vec<(u32, u32)>,
    /// The text at hand is in NFKC without zero-width marks, so no character needs a check.
    normal: bool,
}

/// Signature bit of a token id.
#[must_use]
pub fn signature_bit(id: u32) -> u64 {
    1 << (id.wrapping_mul(0x9E37_79B1) >> 26)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Letter,
    Digit,
    Symbol,
    Mark,
    Other,
}

#[expect(clippy::indexing_slicing, reason = "evaluated at compile time; the loop ends at 128")]
const CLASSES: [Class; 256] = {
    let mut table = [Class::Other; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = match byte as u8 {
            b'\n' => Class::Mark,
            b'\t' | b'\r' | b' ' | 0x0B | 0x0C => Class::Space,
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b'+' | b'-' | b'*' | b'/' | b'=' | b'%' | b'^' | b'#' | b'@' | b'&' | b'$' => Class::Symbol,
            _ => Class::Mark,
        };
        byte += 1;
    }
    table
};

#[expect(clippy::indexing_slicing, reason = "the table has an entry for each byte")]
fn class_of(byte: u8) -> Class {
    CLASSES[usize::from(byte)]
}

/// What a character outside ASCII is.
enum Wide {
    Space,
    Ignorable,
    Letter,
    Digit,
    /// A symbol, written as this ASCII byte where one stands for it.
    Symbol(Option<u8>),
    Mark,
}

fn classify(c: char) -> Wide {
    if is_ignorable(c) {
        return Wide::Ignorable;
    }
    match c {
        '×' | '·' | '∙' | '⋅' | '∗' => return Wide::Symbol(Some(b'*')),
        '÷' | '∶' | '⁄' | '∕' => return Wide::Symbol(Some(b'/')),
        '−' | '‐' | '‑' => return Wide::Symbol(Some(b'-')),
        '°' => return Wide::Symbol(None),
        _ if c.is_whitespace() && c != '\u{2028}' && c != '\u{2029}' => return Wide::Space,
        _ => {}
    }
    match c.general_category_group() {
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Mark => Wide::Letter,
        GeneralCategoryGroup::Number => Wide::Digit,
        _ if matches!(c, '¢'..='¥' | '\u{20A0}'..='\u{20CF}') => Wide::Symbol(None),
        _ => Wide::Mark,
    }
}

fn is_single(c: char) -> bool {
    matches!(c.script(), Script::Han | Script::Hiragana | Script::Katakana) && !matches!(c, 'ー' | '々')
}

/// The lexer met a character that must be normalised first.
struct NotNormal;

impl Lexer {
    /// Splits a message; `masks` are sorted.
    pub(super) fn lex(&mut self, view: &View<'_>, message: &str, masks: &[Mask]) {
        self.tokens.clear();
        self.signature = 0;
        if masks.is_empty() {
            self.lex_range(view, message, 0..message.len());
        } else {
            let mut masked = masks.iter().peekable();
            for open in open_ranges(message, masks) {
                while let Some(mask) = masked.next_if(|mask| mask.range.end <= open.start) {
                    self.push_mask(mask);
                }
                self.lex_range(view, message, open);
            }
            for mask in masked {
                self.push_mask(mask);
            }
        }
        self.finish(message);
    }

    /// Gives memory back that one very long message took.
    pub(super) fn shrink(&mut self) {
        const KEEP: usize = 16 * 1024;
        if self.buffer.capacity() > KEEP {
            self.buffer = Vec::with_capacity(KEEP);
        }
        if self.map.capacity() > KEEP {
            self.map = Vec::new();
        }
    }

    fn push_mask(&mut self, mask: &Mask) {
        let kind = match mask.kind {
            MaskKind::Quote => flags::QUOTE,
            MaskKind::Pasted => flags::MARK | flags::MASKED,
            MaskKind::Envelope => flags::MARK,
        };
        self.push(ID_UNKNOWN, mask.range.start, mask.range.end, kind);
    }

    /// A number, symbol or mark with what the library knows of it.
    fn push_known(&mut self, view: &View<'_>, id: u32, start: usize, end: usize, kind: u32) {
        let known =
            if id == ID_UNKNOWN { 0 } else { view.words.get(id as usize).map_or(0, |word| word.flags) };
        self.push(id, start, end, kind | known & !flags::EXPANDS);
    }

    /// Says which ASCII character the newest token is.
    fn set_glyph(&mut self, glyph: u8) {
        if let Some(token) = self.tokens.last_mut() {
            token.glyph = glyph;
        }
    }

    fn push(&mut self, id: u32, start: usize, end: usize, flags: u32) {
        self.signature |= signature_bit(id);
        self.tokens.push(Token { id, start: start as u32, end: end as u32, flags, glyph: 0 });
    }

    fn lex_range(&mut self, view: &View<'_>, message: &str, range: std::ops::Range<usize>) {
        let text = message.get(range.clone()).unwrap_or_default();
        let (tokens, signature) = (self.tokens.len(), self.signature);
        if self.lex_normal(view, text, range.start).is_err() {
            self.tokens.truncate(tokens);
            self.signature = signature;
            self.lex_normalised(view, text, range.start, tokens);
        }
    }

    /// Normalises to NFKC piece by piece, lexes that, and maps the spans back.
    fn lex_normalised(&mut self, view: &View<'_>, text: &str, base: usize, first: usize) {
        let mut normal = String::with_capacity(text.len() + 16);
        let mut map = std::mem::take(&mut self.map);
        map.clear();
        let mut flush = |piece: &str, start: usize, normal: &mut String| {
            let from = normal.len();
            normal.extend(piece.chars().filter(|&c| !is_ignorable(c)).nfkc());
            map.resize(map.len() + normal.len() - from, (start as u32, (start + piece.len()) as u32));
        };
        let mut start = 0;
        for (at, c) in text.char_indices() {
            // A piece begins at each character that can stand alone and composes with nothing before it.
            let alone = canonical_combining_class(c) == 0
                && is_nfkc_quick(std::iter::once(c)) != IsNormalized::Maybe
                && !is_ignorable(c);
            if alone && at > start {
                flush(text.get(start..at).unwrap_or_default(), start, &mut normal);
                start = at;
            }
        }
        flush(text.get(start..).unwrap_or_default(), start, &mut normal);
        self.normal = true;
        let lexed = self.lex_normal(view, &normal, 0);
        self.normal = false;
        debug_assert!(lexed.is_ok(), "normal text needs no check");
        let end = (base + text.len()) as u32;
        for token in self.tokens.iter_mut().skip(first) {
            token.start = map.get(token.start as usize).map_or(end, |&(start, _)| base as u32 + start);
            token.end = (token.end as usize)
                .checked_sub(1)
                .and_then(|last| map.get(last))
                .map_or(end, |&(_, stop)| base as u32 + stop);
        }
        self.map = map;
    }

    fn lex_normal(&mut self, view: &View<'_>, text: &str, base: usize) -> Result<(), NotNormal> {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match class_of(byte) {
                Class::Space => at += 1,
                Class::Letter => {
                    if (byte | 0x20 == b'h' || byte | 0x20 == b'w')
                        && let Some(end) = url_end(text, at)
                    {
                        self.push(ID_UNKNOWN, base + at, base + end, flags::URL);
                        at = end;
                    } else {
                        at = self.word(view, text, at, base)?;
                    }
                }
                Class::Digit => {
                    let end = number_end(bytes, at);
                    let digits_only = bytes.get(at..end).is_some_and(|d| d.iter().all(u8::is_ascii_digit));
                    if digits_only && starts_letter(text, end, self.normal)? {
                        at = self.word(view, text, at, base)?;
                    } else {
                        let id = self.lookup_plain(view, bytes.get(at..end).unwrap_or_default());
                        let edges = flags::STARTS_DIGIT | flags::ENDS_DIGIT;
                        self.push_known(view, id, base + at, base + end, flags::NUMBER | edges);
                        at = end;
                    }
                }
                Class::Symbol => {
                    let id = view.ascii_ids.get(usize::from(byte)).copied().unwrap_or(ID_UNKNOWN);
                    self.push_known(view, id, base + at, base + at + 1, flags::SYMBOL);
                    self.set_glyph(byte);
                    at += 1;
                }
                Class::Mark => at = self.mark(view, text, at, base)?,
                Class::Other => {
                    let c = text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or('\u{FFFD}');
                    let width = c.len_utf8();
                    let latin_letter = matches!(c, 'À'..='Ö' | 'Ø'..='ö' | 'ø'..='ÿ');
                    if latin_letter {
                        at = self.word(view, text, at, base)?;
                        continue;
                    }
                    match classify(c) {
                        Wide::Ignorable if !self.normal => return Err(NotNormal),
                        Wide::Ignorable => at += width,
                        _ if !self.normal && !is_normal(c) => return Err(NotNormal),
                        Wide::Space => at += width,
                        Wide::Letter | Wide::Digit => at = self.word(view, text, at, base)?,
                        Wide::Symbol(ascii) => {
                            let id = match ascii {
                                Some(byte) => view.ascii_ids.get(usize::from(byte)).copied().unwrap_or(0),
                                None => self.lookup_plain(
                                    view,
                                    text.as_bytes().get(at..at + width).unwrap_or_default(),
                                ),
                            };
                            self.push_known(view, id, base + at, base + at + width, flags::SYMBOL);
                            self.set_glyph(ascii.unwrap_or_default());
                            at += width;
                        }
                        Wide::Mark => {
                            let id = self
                                .lookup_plain(view, text.as_bytes().get(at..at + width).unwrap_or_default());
                            self.push(id, base + at, base + at + width, flags::MARK);
                            at += width;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// An ASCII mark; or `.net` and its like.
    fn mark(&mut self, view: &View<'_>, text: &str, at: usize, base: usize) -> Result<usize, NotNormal> {
        let bytes = text.as_bytes();
        let byte = bytes.get(at).copied().unwrap_or(b' ');
        if byte == b'.'
            && bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic)
            && !at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(|b| is_word_byte(*b))
        {
            let end = at + 1 + bytes.iter().skip(at + 1).take_while(|b| is_word_byte(**b)).count();
            self.buffer.clear();
            self.buffer.extend(bytes.iter().take(end).skip(at).map(u8::to_ascii_lowercase));
            let id = lookup(view, &self.buffer);
            if id != ID_UNKNOWN {
                self.push_word(view, id, base + at, base + end, 0);
                return Ok(end);
            }
        }
        let id = view.ascii_ids.get(usize::from(byte)).copied().unwrap_or(ID_UNKNOWN);
        let bracket = matches!(byte, b'(' | b')' | b'[' | b']' | b'{' | b'}');
        let bracket = if bracket { flags::BRACKET } else { 0 };
        self.push(id, base + at, base + at + 1, flags::MARK | bracket);
        self.set_glyph(byte);
        Ok(at + 1)
    }

    fn lookup_plain(&self, view: &View<'_>, bytes: &[u8]) -> u32 {
        if bytes.len() > LONGEST_WORD { ID_UNKNOWN } else { lookup(view, bytes) }
    }

    /// Reads one word from `at` and returns where it ends.
    fn word(&mut self, view: &View<'_>, text: &str, start: usize, base: usize) -> Result<usize, NotNormal> {
        let bytes = text.as_bytes();
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        let mut at = start;
        let mut extra = 0;
        let mut single = false;
        let result = loop {
            let Some(&byte) = bytes.get(at) else { break Ok(()) };
            match byte {
                b'a'..=b'z' | b'0'..=b'9' => {
                    buffer.push(byte);
                    at += 1;
                }
                b'A'..=b'Z' => {
                    buffer.push(byte | 0x20);
                    at += 1;
                }
                b'\'' => {
                    if !starts_letter(text, at + 1, self.normal)? {
                        break Ok(());
                    }
                    extra |= flags::APOSTROPHE;
                    at += 1;
                }
                0..=0x7F => break Ok(()),
                0xC3 => {
                    let Some(&low) = bytes.get(at + 1) else { break Ok(()) };
                    if matches!(low, 0x97 | 0xB7) {
                        break Ok(());
                    }
                    let packed = view.latin_folds.get(usize::from(low & 0x3F)).copied().unwrap_or_default();
                    let raw = packed.to_le_bytes();
                    buffer.extend_from_slice(raw.get(1..1 + usize::from(raw[0])).unwrap_or_default());
                    if matches!(raw[0], 2) && raw[1].is_ascii() {
                        extra |= flags::SPELLED;
                    }
                    at += 2;
                }
                _ => {
                    let c = text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or('\u{FFFD}');
                    let width = c.len_utf8();
                    if matches!(c, '\u{2018}' | '\u{2019}' | '\u{2BC}') {
                        if !starts_letter(text, at + width, self.normal)? {
                            break Ok(());
                        }
                        extra |= flags::APOSTROPHE;
                        at += width;
                        continue;
                    }
                    match classify(c) {
                        Wide::Ignorable if !self.normal => break Err(NotNormal),
                        _ if !self.normal && !is_normal(c) => break Err(NotNormal),
                        Wide::Letter | Wide::Digit => {
                            if is_single(c) {
                                if at == start {
                                    buffer.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                                    at += width;
                                    single = true;
                                }
                                break Ok(());
                            }
                            push_folded(view, c, &mut buffer);
                            at += width;
                        }
                        _ => break Ok(()),
                    }
                }
            }
        };
        self.buffer = buffer;
        result?;
        if at == start {
            // Only a lone Latin-1 sign could bring us here; take it as a mark so that the lexer moves on.
            let width = text.get(start..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
            self.push(ID_UNKNOWN, base + start, base + start + width, flags::MARK);
            return Ok(start + width);
        }
        if single {
            // A run of Han or kana is one written word for slots; patterns match its characters one by one.
            let before = self
                .tokens
                .last()
                .is_some_and(|token| token.has(flags::SINGLE) && token.end as usize == base + start);
            extra |= flags::SINGLE | if before { flags::CONTINUES } else { 0 };
        }
        let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        extra |= if digit(start) { flags::STARTS_DIGIT } else { 0 };
        extra |= if digit(at - 1) { flags::ENDS_DIGIT } else { 0 };
        if !single && matches!(bytes.get(at), Some(b'+' | b'#')) {
            let tail = bytes.iter().skip(at).take_while(|b| matches!(b, b'+' | b'#')).take(4).count();
            let plain = self.buffer.len();
            self.buffer.extend_from_slice(bytes.get(at..at + tail).unwrap_or_default());
            let id = self.lookup_plain(view, &self.buffer);
            let ends = !bytes.get(at + tail).is_some_and(|b| is_word_byte(*b));
            if id != ID_UNKNOWN && ends {
                self.push_word(view, id, base + start, base + at + tail, extra);
                return Ok(at + tail);
            }
            self.buffer.truncate(plain);
        }
        let (id, slip) =
            if self.buffer.len() > LONGEST_WORD { (ID_UNKNOWN, 0) } else { lookup_word(view, &self.buffer) };
        self.push_word(view, id, base + start, base + at, extra | slip);
        Ok(at)
    }

    fn push_word(&mut self, view: &View<'_>, id: u32, start: usize, end: usize, extra: u32) {
        let word = view.words.get(id as usize).copied().unwrap_or_default();
        let whole = word.flags & flags::APOSTROPHE != 0 && extra & flags::APOSTROPHE == 0;
        if word.flags & flags::EXPANDS == 0 || whole {
            self.push(id, start, end, flags::WORD | (word.flags & !flags::EXPANDS) | extra);
            return;
        }
        for (part_number, &part) in view.id_range(word.expands_start, word.expands_len).iter().enumerate() {
            let part_flags = view.words.get(part as usize).map_or(0, |Word { flags, .. }| *flags);
            // What one written word stands for stays one written word.
            let joined = if part_number == 0 { 0 } else { flags::CONTINUES };
            self.push(part, start, end, flags::WORD | (part_flags & !flags::EXPANDS) | extra | joined);
        }
    }

    /// Second pass: joins written words, tells names, drops dashes, marks what follows a negator.
    fn finish(&mut self, message: &str) {
        let bytes = message.as_bytes();
        let count = self.tokens.len();
        // Only joiners and dashes need a look at the neighbours.
        for at in 0..count {
            let Some(&token) = self.tokens.get(at) else { break };
            if !token.has(flags::MARK | flags::SYMBOL) {
                continue;
            }
            if !matches!(token.glyph, b'-' | b'.' | b'/' | b'&' | b'\'') {
                continue;
            }
            let before = at.checked_sub(1).and_then(|n| self.tokens.get(n)).copied().unwrap_or_default();
            let after = self.tokens.get(at + 1).copied().unwrap_or_default();
            let word_like = flags::WORD | flags::NUMBER;
            let touches = before.has(word_like)
                && after.has(word_like)
                && before.end == token.start
                && token.end == after.start;
            let digits = before.has(flags::ENDS_DIGIT) && after.has(flags::STARTS_DIGIT);
            if touches && !digits {
                self.set(at, flags::MARK | flags::CONTINUES);
                if let Some(next) = self.tokens.get_mut(at + 1) {
                    next.flags |= flags::CONTINUES;
                }
            } else if touches {
                self.set(at, flags::SYMBOL);
            } else if token.glyph == b'-' && (is_nose(before, token, after) || !near_number(&self.tokens, at))
            {
                self.set(at, flags::MARK);
            }
        }
        self.forget_short_slips();
        self.tell_names(bytes);
        self.mark_negated();
    }

    /// Three letters are a name as easily as a misspelled word ("Wil"): as the last word they are no slip.
    fn forget_short_slips(&mut self) {
        for at in 0..self.tokens.len() {
            let Some(&token) = self.tokens.get(at) else { break };
            if !token.has(flags::MISSPELLED) || token.end - token.start > SHORTEST_SLIP {
                continue;
            }
            let last = !self.tokens.iter().skip(at + 1).any(|next| next.has(flags::WORD | flags::NUMBER));
            if last && let Some(token) = self.tokens.get_mut(at) {
                token.id = ID_UNKNOWN;
                token.flags &= flags::WORD | flags::CONTINUES | flags::APOSTROPHE | flags::SPELLED;
            }
        }
    }

    fn set(&mut self, at: usize, kind: u32) {
        if let Some(token) = self.tokens.get_mut(at) {
            token.flags = kind;
        }
    }

    fn tell_names(&mut self, bytes: &[u8]) {
        let count = self.tokens.len();
        let mut at = 0;
        while at < count {
            let Some(first) = self.tokens.get(at).copied() else { break };
            let mut end = at + 1;
            // A number with a unit right behind it ("3.5mm") is one written word.
            while let (Some(last), Some(next)) =
                (self.tokens.get(end - 1).copied(), self.tokens.get(end).copied())
            {
                let joined = next.has(flags::CONTINUES)
                    || (last.end == next.start && last.has(flags::NUMBER) && next.has(flags::WORD));
                if !joined {
                    break;
                }
                if let Some(token) = self.tokens.get_mut(end) {
                    token.flags |= flags::CONTINUES;
                }
                end += 1;
            }
            if first.has(flags::WORD | flags::NUMBER | flags::QUOTE) {
                let stop = self.tokens.get(end - 1).map_or(first.end, |token| token.end);
                let text = bytes.get(first.start as usize..stop as usize).unwrap_or_default();
                let content = first.has(flags::QUOTE)
                    || self.tokens.get(at..end).unwrap_or_default().iter().any(|token| token.is_content());
                let found = name_flags(text, content);
                if found & flags::MIXED != 0 {
                    self.signature |= signature_bit(crate::artifact::layout::ID_MIXED);
                }
                if let Some(token) = self.tokens.get_mut(at) {
                    token.flags |= found;
                }
            }
            if first.has(flags::NUMBER) {
                self.signature |= signature_bit(crate::artifact::layout::ID_NUMBER);
            } else if first.has(flags::URL) {
                self.signature |= signature_bit(crate::artifact::layout::ID_URL);
            }
            at = end;
        }
    }

    /// What phrases of several words say about their tokens: no content, a question or request, a negator.
    pub(super) fn apply_phrases(&mut self, hits: &[Hit]) {
        let mut negated = false;
        for hit in hits.iter().filter(|hit| !hit.keyword && hit.end - hit.start > 1) {
            let flag = list_flag(hit.target as usize % LISTS.len());
            let (start, end) = (hit.start as usize, hit.end as usize);
            let range = match flag {
                flags::TIMES | flags::POLITE => start..end,
                flags::ASKS | flags::REQUESTS => start..start + 1,
                flags::NEGATORS => end - 1..end,
                _ => continue,
            };
            negated |= flag == flags::NEGATORS;
            for token in self.tokens.get_mut(range).into_iter().flatten() {
                token.flags |= flag;
            }
        }
        if negated {
            self.mark_negated();
        }
    }

    fn mark_negated(&mut self) {
        let mut negated = false;
        for token in &mut self.tokens {
            if negated {
                token.flags |= flags::NEGATED;
            }
            negated = token.has(flags::NEGATORS) || (negated && token.has(flags::ARTICLES));
        }
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

fn is_normal(c: char) -> bool {
    canonical_combining_class(c) == 0 && is_nfkc_quick(std::iter::once(c)) == IsNormalized::Yes
}

/// Whether a letter stands at `at`.
fn starts_letter(text: &str, at: usize, normal: bool) -> Result<bool, NotNormal> {
    let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { return Ok(false) };
    if c.is_ascii() {
        return Ok(c.is_ascii_alphabetic());
    }
    match classify(c) {
        Wide::Ignorable if !normal => Err(NotNormal),
        Wide::Letter if !normal && !is_normal(c) => Err(NotNormal),
        Wide::Letter => Ok(!is_single(c)),
        _ => Ok(false),
    }
}

fn number_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    loop {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        let separator = match bytes.get(at..) {
            Some([b'.' | b',' | b'\'', ..]) => 1,
            // The typographic apostrophe.
            Some([0xE2, 0x80, 0x99, ..]) => 3,
            _ => return at,
        };
        if !bytes.get(at + separator).is_some_and(u8::is_ascii_digit) {
            return at;
        }
        at += separator;
    }
}

fn url_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let bytes = rest.as_bytes();
    let scheme = [&b"https://"[..], b"http://", b"www."]
        .into_iter()
        .find(|scheme| bytes.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))?;
    let end =
        rest.find(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '`')).unwrap_or(rest.len());
    let mut url = rest.get(..end)?;
    while let Some(last) = url.chars().next_back() {
        let open = url.matches('(').count();
        let unbalanced = last == ')' && url.matches(')').count() > open;
        if unbalanced
            || matches!(
                last,
                '.' | ','
                    | ';'
                    | ':'
                    | '!'
                    | '?'
                    | '\''
                    | '…'
                    | '“'
                    | '”'
                    | '»'
                    | ']'
                    | '。'
                    | '，'
                    | '、'
                    | '）'
                    | '」'
            )
        {
            url = url.get(..url.len() - last.len_utf8())?;
        } else {
            break;
        }
    }
    (url.len() > scheme.len()).then_some(at + url.len())
}

/// The nose of an emoticon: `:-)`.
fn is_nose(before: Token, nose: Token, after: Token) -> bool {
    matches!(before.glyph, b':' | b';')
        && before.end == nose.start
        && nose.end == after.start
        && after.is_mark()
}

/// A hyphen is an operator or a sign next to a number, a bracket or another symbol; elsewhere it is a dash.
fn near_number(tokens: &[Token], at: usize) -> bool {
    let counts = |token: Option<&Token>| {
        token.is_some_and(|token| token.has(flags::NUMBER | flags::BRACKET | flags::SYMBOL))
    };
    counts(at.checked_sub(1).and_then(|before| tokens.get(before))) || counts(tokens.get(at + 1))
}

/// Longest name, in characters.
const LONGEST_NAME: usize = 24;

fn name_flags(text: &[u8], content: bool) -> u32 {
    if !content || text.len() > LONGEST_NAME * 4 {
        return 0;
    }
    let mut letter = false;
    let mut digit = false;
    let mut length = text.len();
    if text.is_ascii() {
        for byte in text {
            letter |= byte.is_ascii_alphabetic();
            digit |= byte.is_ascii_digit();
        }
    } else {
        let text = std::str::from_utf8(text).unwrap_or_default();
        length = text.chars().filter(|&c| !is_ignorable(c)).count();
        for c in text.chars() {
            letter |= c.is_alphabetic();
            digit |= c.is_numeric();
        }
    }
    if !letter || length > LONGEST_NAME {
        return 0;
    }
    if digit { flags::NAME | flags::MIXED } else { flags::NAME }
}

/// Kind of a token, for patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Letters, marks and digits.
    Word,
    /// Digits with separators.
    Number,
    /// A symbol.
    Symbol,
    /// Any other mark.
    Mark,
}

/// Splits literal text of a pattern the way messages are split, without an artifact.
///
/// Returns each token with its kind and its text as written. `symbol_words` are words with symbols that stay
/// together. A URL in a pattern falls into its parts.
#[must_use]
pub fn lex_plain<'t>(text: &'t str, symbol_words: &[String]) -> Vec<(TokenKind, &'t str)> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        let symbol_word = symbol_words.iter().find(|word| {
            rest.get(..word.len()).is_some_and(|start| start.to_lowercase() == **word)
                && !rest.get(word.len()..).and_then(|r| r.chars().next()).is_some_and(char::is_alphanumeric)
        });
        let (kind, length) = if let Some(word) = symbol_word {
            (Some(TokenKind::Word), word.len())
        } else if c == '\n' {
            (Some(TokenKind::Mark), 1)
        } else if c.is_whitespace() || is_ignorable(c) {
            (None, c.len_utf8())
        } else if c.is_ascii_digit() {
            let end = number_end(text.as_bytes(), at);
            let digits = text.get(at..end).is_some_and(|t| t.bytes().all(|b| b.is_ascii_digit()));
            if digits && text.get(end..).and_then(|r| r.chars().next()).is_some_and(char::is_alphabetic) {
                (Some(TokenKind::Word), plain_word(rest))
            } else {
                (Some(TokenKind::Number), end - at)
            }
        } else if c.is_ascii() && class_of(c as u8) == Class::Symbol {
            (Some(if joins_letters(text, at) { TokenKind::Mark } else { TokenKind::Symbol }), 1)
        } else if c.is_ascii() && !c.is_ascii_alphanumeric() {
            (Some(TokenKind::Mark), 1)
        } else {
            match classify(c) {
                Wide::Letter | Wide::Digit => (Some(TokenKind::Word), plain_word(rest)),
                Wide::Symbol(_) => (Some(TokenKind::Symbol), c.len_utf8()),
                _ if c.is_alphanumeric() => (Some(TokenKind::Word), plain_word(rest)),
                _ => (Some(TokenKind::Mark), c.len_utf8()),
            }
        };
        if let (Some(kind), Some(text)) = (kind, text.get(at..at + length)) {
            out.push((kind, text));
        }
        at += length.max(1);
    }
    out
}

/// Whether a `-`, `/` or `&` stands inside a written word, as in `e-mail`: there it is a mark, as in messages.
fn joins_letters(text: &str, at: usize) -> bool {
    let before = text.get(..at).and_then(|head| head.chars().next_back());
    let after = text.get(at + 1..).and_then(|tail| tail.chars().next());
    let joiner = matches!(text.as_bytes().get(at), Some(b'-' | b'/' | b'&'));
    match (before, after) {
        (Some(before), Some(after)) => {
            joiner
                && before.is_alphanumeric()
                && after.is_alphanumeric()
                && !(before.is_ascii_digit() && after.is_ascii_digit())
        }
        _ => false,
    }
}

fn plain_word(rest: &str) -> usize {
    let mut end = 0;
    for (at, c) in rest.char_indices() {
        let apostrophe = matches!(c, '\'' | '\u{2018}' | '\u{2019}' | '\u{2BC}')
            && rest.get(at + c.len_utf8()..).and_then(|r| r.chars().next()).is_some_and(char::is_alphabetic);
        let letter = c.is_ascii_alphanumeric()
            || (!c.is_ascii() && (is_ignorable(c) || matches!(classify(c), Wide::Letter | Wide::Digit)));
        if is_single(c) && at == 0 {
            return c.len_utf8();
        }
        if (!letter && !apostrophe) || is_single(c) {
            break;
        }
        end = at + c.len_utf8();
    }
    end.max(rest.chars().next().map_or(0, char::len_utf8))
}
