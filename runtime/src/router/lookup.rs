//! Finds the token id of a folded word: as it is, stretched, drawn out, misspelled, or by a prefix.
#![deny(clippy::indexing_slicing)]

use super::flags;
use super::fold::{LONGEST_WORD, MisspellingKey, hash_word};
use crate::artifact::View;
use crate::artifact::layout::{ID_UNKNOWN, NONE};

/// Looks a folded word up in the artifact's table.
pub(super) fn lookup(view: &View<'_>, word: &[u8]) -> u32 {
    let mask = view.word_slots.len().wrapping_sub(1);
    let hash = hash_word(word);
    let mut at = hash as usize & mask;
    while let Some(slot) = view.word_slots.get(at) {
        if slot.len == 0 {
            return ID_UNKNOWN;
        }
        if slot.hash == hash && slot.len as usize == word.len() {
            let start = slot.start as usize;
            if view.text.get(start..start + word.len()) == Some(word) {
                return slot.id;
            }
        }
        at = (at + 1) & mask;
    }
    ID_UNKNOWN
}

/// Looks a folded word up among the misspelled ones.
fn lookup_misspelled(view: &View<'_>, word: &[u8]) -> Option<u32> {
    let mask = view.misspellings.len().wrapping_sub(1);
    let key = MisspellingKey::of(word);
    let mut at = key.hash as usize & mask;
    loop {
        let entry = view.misspellings.get(at).filter(|entry| entry.id != ID_UNKNOWN)?;
        if entry.check == key.check {
            return Some(entry.id);
        }
        at = (at + 1) & mask;
    }
}

/// Token id of a folded word: the table, a stretched form, a misspelled word, a prefix; and its flag.
pub(super) fn lookup_word(view: &View<'_>, word: &[u8]) -> (u32, u32) {
    let id = lookup(view, word);
    if id != ID_UNKNOWN {
        return (id, 0);
    }
    if let [.., before, last] = word
        && before == last
    {
        let kept = word.iter().rev().take_while(|byte| *byte == last).count() - 1;
        let base = lookup(view, word.get(..word.len() - kept).unwrap_or_default());
        if let Some(stretched) =
            view.words.get(base as usize).filter(|w| base != ID_UNKNOWN && w.stretch != NONE)
        {
            return (stretched.stretch, 0);
        }
    }
    if let Some(id) = lookup_drawn_out(view, word) {
        return (id, 0);
    }
    if let Some(id) = lookup_misspelled(view, word) {
        return (id, flags::MISSPELLED);
    }
    (lookup_prefix(view, word), 0)
}

/// Token id of the longest prefix that a folded word has.
fn lookup_prefix(view: &View<'_>, word: &[u8]) -> u32 {
    let Some(&first) = word.first() else { return ID_UNKNOWN };
    let bounds =
        (view.prefix_buckets.get(usize::from(first)), view.prefix_buckets.get(usize::from(first) + 1));
    let (Some(&from), Some(&to)) = bounds else { return ID_UNKNOWN };
    for prefix in view.prefixes.get(from as usize..to as usize).unwrap_or_default() {
        let text = view.text.get(prefix.start as usize..(prefix.start + prefix.len) as usize);
        if text.is_some_and(|text| word.starts_with(text)) {
            return prefix.id;
        }
    }
    ID_UNKNOWN
}

/// A word of which a letter is written three times or more, as if it were written once or twice: "haaallo".
fn lookup_drawn_out(view: &View<'_>, word: &[u8]) -> Option<u32> {
    if !word.windows(3).any(|w| matches!(w, [a, b, c] if a == b && b == c)) {
        return None;
    }
    [1, 2].into_iter().find_map(|most| {
        let mut short = [0; LONGEST_WORD];
        let mut length = 0;
        for run in word.chunk_by(|a, b| a == b) {
            let kept = if run.len() > 2 { most } else { run.len() };
            for &byte in run.iter().take(kept) {
                *short.get_mut(length)? = byte;
                length += 1;
            }
        }
        Some(lookup(view, short.get(..length)?)).filter(|&id| id != ID_UNKNOWN)
    })
}
