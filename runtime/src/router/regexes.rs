//! Regular-expression triggers: built on first use, run behind a literal prefilter.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::Input;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::fold::is_ignorable;
use super::mask::Mask;
use crate::artifact::View;
use crate::artifact::layout::NONE;

/// Compiled size limit of one expression, in bytes; the compiler checks against the same figure.
pub const REGEX_SIZE_LIMIT: usize = 1 << 20;

/// Builds an expression as triggers run it: case-insensitive, Unicode classes on, linear time.
///
/// # Errors
/// The builder's message: a syntax error, or a program beyond [`REGEX_SIZE_LIMIT`].
pub fn build(source: &str) -> Result<Regex, Box<regex_automata::meta::BuildError>> {
    Regex::builder()
        .configure(Regex::config().nfa_size_limit(Some(REGEX_SIZE_LIMIT)).hybrid_cache_capacity(256 * 1024))
        .syntax(syntax::Config::new().case_insensitive(true).unicode(true).nest_limit(64))
        .build(source)
        .map_err(Box::new)
}

/// Engines of one library.
pub(super) struct Regexes(Vec<OnceLock<Option<Regex>>>);

/// The text that expressions see, with the way back to the message as given.
pub(super) struct Haystack<'m> {
    text: Cow<'m, str>,
    lower: String,
    /// Byte offset in the message for each byte of `text`, and its end; None: identical.
    map: Option<Vec<u32>>,
}

/// A regular-expression match: byte ranges in the message as given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RegexMatch {
    pub(super) span: (u32, u32),
    /// Named groups that took part.
    pub(super) groups: Vec<(String, (u32, u32))>,
}

impl Regexes {
    pub(super) fn new(view: &View<'_>) -> Self {
        Self(view.regexes.iter().map(|_| OnceLock::new()).collect())
    }

    fn engine(&self, view: &View<'_>, index: u32) -> Option<&Regex> {
        let record = view.regexes.get(index as usize)?;
        self.0
            .get(index as usize)?
            .get_or_init(|| build(view.str(record.source_start, record.source_len)).ok())
            .as_ref()
    }

    /// Whether the text can match at all: it holds the literal that every match needs.
    fn may_match(view: &View<'_>, index: u32, haystack: &Haystack<'_>) -> bool {
        view.regexes.get(index as usize).is_some_and(|record| {
            let literal = view.str(record.literal_start, record.literal_len);
            literal.is_empty()
                || memchr::memmem::find(haystack.lower.as_bytes(), literal.as_bytes()).is_some()
        })
    }

    pub(super) fn is_match(&self, view: &View<'_>, index: u32, haystack: &Haystack<'_>) -> bool {
        Self::may_match(view, index, haystack)
            && self.engine(view, index).is_some_and(|regex| regex.is_match(haystack.text.as_ref()))
    }

    pub(super) fn find(&self, view: &View<'_>, index: u32, haystack: &Haystack<'_>) -> Option<RegexMatch> {
        if !Self::may_match(view, index, haystack) {
            return None;
        }
        let regex = self.engine(view, index)?;
        let mut captures = regex.create_captures();
        regex.search_captures(&Input::new(haystack.text.as_ref()), &mut captures);
        let whole = captures.get_match()?;
        let names = regex.group_info().pattern_names(captures.pattern()?);
        let groups = names
            .enumerate()
            .filter_map(|(group, name)| {
                let span = captures.get_group(group)?;
                Some((name?.to_owned(), haystack.back(span.start..span.end)))
            })
            .collect();
        Some(RegexMatch { span: haystack.back(whole.range()), groups })
    }

    /// Every match, as byte ranges of a text that is read as it is.
    pub(super) fn ranges(&self, view: &View<'_>, index: u32, text: &str) -> Vec<Range<usize>> {
        if index == NONE {
            return Vec::new();
        }
        self.engine(view, index)
            .map_or_else(Vec::new, |regex| regex.find_iter(text).map(|m| m.range()).collect())
    }

    /// Whether an expression matches a text as it is.
    pub(super) fn matches_plain(&self, view: &View<'_>, index: u32, text: &str) -> bool {
        index != NONE && self.engine(view, index).is_some_and(|regex| regex.is_match(text))
    }
}

impl<'m> Haystack<'m> {
    /// NFC, zero-width and direction marks removed, masked ranges replaced by U+FFFC.
    pub(super) fn new(message: &'m str, masks: &[Mask]) -> Self {
        let plain = masks.is_empty()
            && (message.is_ascii()
                || (!message.chars().any(is_ignorable)
                    && is_nfc_quick(message.chars()) == IsNormalized::Yes));
        if plain {
            return Self { text: Cow::Borrowed(message), lower: message.to_ascii_lowercase(), map: None };
        }
        let mut text = String::with_capacity(message.len());
        let mut map: Vec<u32> = Vec::with_capacity(message.len() + 1);
        let mut at = 0;
        let mut masks = masks.iter().peekable();
        while at < message.len() {
            if let Some(mask) = masks.next_if(|mask| mask.range.start <= at) {
                text.push('\u{FFFC}');
                map.resize(text.len(), mask.range.start as u32);
                at = mask.range.end.max(at);
                continue;
            }
            let limit = masks.peek().map_or(message.len(), |mask| mask.range.start);
            let rest = message.get(at..limit).unwrap_or_default();
            // One base character with the marks behind it is normalised as a piece.
            let piece = rest
                .char_indices()
                .skip(1)
                .find(|(_, c)| {
                    unicode_normalization::char::canonical_combining_class(*c) == 0
                        && is_nfc_quick(std::iter::once(*c)) == IsNormalized::Yes
                })
                .map_or(rest.len(), |(n, _)| n);
            let piece = rest.get(..piece).unwrap_or(rest);
            text.extend(piece.chars().filter(|&c| !is_ignorable(c)).nfc());
            map.resize(text.len(), at as u32);
            at += piece.len().max(1);
        }
        map.push(message.len() as u32);
        let lower = text.to_ascii_lowercase();
        Self { text: Cow::Owned(text), lower, map: Some(map) }
    }

    fn back(&self, range: Range<usize>) -> (u32, u32) {
        match &self.map {
            None => (range.start as u32, range.end as u32),
            Some(map) => {
                let get = |at: usize| map.get(at).or(map.last()).copied().unwrap_or_default();
                (get(range.start), get(range.end))
            }
        }
    }
}
