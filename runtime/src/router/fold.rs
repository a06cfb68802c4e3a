//! Folds words: case, `spelling` of the languages, marks that do not count.

use caseless::Caseless;
use unicode_normalization::UnicodeNormalization;

use crate::artifact::{View, layout::Fold};

/// Words longer than this many bytes are no pattern's; they skip the table.
pub(super) const LONGEST_WORD: usize = 64;

/// Hash of a folded word. Part of the artifact format: it must not change with a dependency.
#[must_use]
pub fn hash_word(word: &[u8]) -> u32 {
    (mix(word) >> 16) as u32
}

/// Finds a word among the misspelled ones of an artifact, which do not hold its text. Part of the artifact format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MisspellingKey {
    /// [`hash_word`] of the word: its low bits are the place in the table.
    pub hash: u32,
    /// What tells words of one place apart; its upper half is no part of `hash`.
    pub check: u32,
}

impl MisspellingKey {
    /// The key of a folded word.
    #[must_use]
    pub fn of(word: &[u8]) -> Self {
        let mixed = mix(word);
        Self { hash: (mixed >> 16) as u32, check: (mixed >> 32) as u32 }
    }
}

fn mix(word: &[u8]) -> u64 {
    const K: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = (word.len() as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let mut chunks = word.chunks_exact(8);
    for chunk in &mut chunks {
        let mut raw = [0; 8];
        raw.copy_from_slice(chunk);
        hash = (hash ^ u64::from_le_bytes(raw)).wrapping_mul(K).rotate_left(29);
    }
    let mut tail = 0_u64;
    for &byte in chunks.remainder() {
        tail = tail << 8 | u64::from(byte);
    }
    hash = (hash ^ tail).wrapping_mul(K);
    hash ^ hash >> 29
}

/// Zero-width and direction marks: dropped wherever they stand.
pub(super) fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}')
}

/// Folds a word without an artifact: NFKC, case, then each character through `spelling`.
///
/// `spelling` maps a folded character to what stands for it. This is the slow twin of what the lexer does in
/// place; the compiler folds with it, and a test holds the two together.
#[must_use]
pub fn fold_word(word: &str, spelling: impl Fn(char) -> Option<String>) -> String {
    let composed: String = word.chars().filter(|&c| !is_ignorable(c)).nfkc().collect();
    let folded: String = caseless::default_case_fold_str(&composed).nfkc().collect();
    let mut out = String::with_capacity(folded.len());
    for c in folded.chars() {
        match c {
            '\'' | '\u{2018}' | '\u{2019}' | '\u{2BC}' => {}
            _ => match spelling(c) {
                Some(spelled) => out.push_str(&spelled),
                None => out.push(c),
            },
        }
    }
    out
}

/// Appends one character that is neither ASCII nor a Latin-1 letter, folded and spelled.
pub(super) fn push_folded(view: &View<'_>, c: char, out: &mut Vec<u8>) {
    for folded in std::iter::once(c).default_case_fold() {
        let found = view.folds.binary_search_by_key(&(folded as u32), |fold: &Fold| fold.from);
        match found.ok().and_then(|at| view.folds.get(at)) {
            Some(fold) => out.extend_from_slice(view.str(fold.start, fold.len).as_bytes()),
            None => out.extend_from_slice(folded.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}
