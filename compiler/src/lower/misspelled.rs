//! Words with one slip of the fingers, and the words of the vocabulary that they are read as.
//!
//! Three slips are known: two neighbours swapped, a letter left out, a letter doubled. They are written out here
//! and looked up by the router, so reading one costs what reading an unknown word costs. What is a word of its own
//! is no misspelling: the dictionary, the vocabulary and the prefixes of patterns keep their words.

use skill_runtime::artifact::layout::Misspelling;
use skill_runtime::router::MisspellingKey;

use crate::dictionary::{self, Path, Rarity};

/// A word of the dictionary is read as one of another language if it is this rare, and two to the power of [`RARER`]
/// rarer: "wan" as "wann", but not "miner" as "meiner". It never is read as one of its own language.
const RARE: u8 = 20;
const RARER: u8 = 8;
/// Of two words that a slip may stand for, one must be two to the power of this more frequent.
const CLEARER: u8 = 1;
/// Rarity of a word that the dictionary lacks: that of its rarest words.
const UNKNOWN: u8 = 25;
/// Words with fewer letters are no target.
const SHORTEST: usize = 3;
/// So are forms of prefixes with fewer.
const SHORTEST_PREFIX: usize = 4;
/// Words with at most this many letters keep their first letter and lose only one of a pair.
const SHORT: usize = 4;
/// Forms of a prefix that are targets, and the letters that they have behind it.
const FORMS: usize = 6;
const ENDING: usize = 4;

/// What a message may misspell, by folded text.
pub(super) struct Targets {
    /// With the word's id, and whether it is a target or only no misspelling itself; sorted.
    pub(super) words: Vec<(String, u32, bool)>,
    /// Prefixes and the ids of unknown words that have them; sorted.
    pub(super) prefixes: Vec<(String, u32)>,
}

impl Targets {
    /// The table of [`skill_runtime::artifact::layout::Section::Misspellings`]: open addressing, a power of two.
    pub(super) fn misspellings(&self) -> Vec<Misspelling> {
        let mut slips = Slips { targets: self, found: Vec::new() };
        for (word, id, _) in self.words.iter().filter(|(.., target)| *target) {
            slips.word(word, *id);
        }
        for (prefix, id) in &self.prefixes {
            slips.prefix(prefix, *id);
        }
        slips.table()
    }

    fn knows(&self, word: &str) -> bool {
        self.words.binary_search_by(|(known, ..)| known.as_str().cmp(word)).is_ok()
    }

    /// Prefixes with one of the first two letters of a word: those that its slips can have.
    fn near<'s>(&'s self, word: &'s str) -> impl Iterator<Item = &'s str> {
        let (first, second) = (word.get(..1).unwrap_or_default(), word.get(1..2).unwrap_or_default());
        [first, second].into_iter().flat_map(|letter| {
            let from = self.prefixes.partition_point(|(prefix, _)| prefix.as_str() < letter);
            let near = self.prefixes.get(from..).unwrap_or_default();
            near.iter()
                .map(|(prefix, _)| prefix.as_str())
                .take_while(move |prefix| prefix.starts_with(letter))
        })
    }
}

/// Slips of targets, with what they would be read as.
struct Slips<'t> {
    targets: &'t Targets,
    found: Vec<Slip>,
}

struct Slip {
    key: MisspellingKey,
    id: u32,
    /// Whether a pair of letters became one: the likeliest slip.
    kind: Kind,
    rarity: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// A pair of letters written once.
    Single,
    /// Two neighbours swapped, a letter left out, a letter doubled.
    Other,
}

impl Slips<'_> {
    /// Adds the slips of a word with an id of its own.
    fn word(&mut self, word: &str, id: u32) {
        if is_plain(word) && word.len() >= SHORTEST {
            self.add(word, id);
        }
    }

    /// Adds the slips of the most frequent words that have a prefix, and no longer one.
    fn prefix(&mut self, prefix: &str, id: u32) {
        if !is_plain(prefix) || prefix.len() < SHORTEST_PREFIX {
            return;
        }
        let longer: Vec<&str> = self
            .targets
            .near(prefix)
            .filter(|other| other.len() > prefix.len() && other.starts_with(prefix))
            .collect();
        let own =
            |form: &str| !self.targets.knows(form) && !longer.iter().any(|longer| form.starts_with(longer));
        for (form, _) in dictionary::forms(prefix, ENDING, FORMS, own) {
            self.add(&form, id);
        }
    }

    fn table(mut self) -> Vec<Misspelling> {
        let known = self.targets.words.iter().map(|(word, ..)| MisspellingKey::of(word.as_bytes()));
        let mut known: Vec<MisspellingKey> = known.collect();
        known.sort_unstable();
        self.found.sort_unstable_by_key(|slip| (slip.key, slip.kind, slip.rarity, slip.id));
        let clear: Vec<&Slip> = self
            .found
            .chunk_by(|a, b| a.key == b.key)
            .filter_map(|same| {
                let best = same.first().filter(|slip| known.binary_search(&slip.key).is_err())?;
                let other = same.iter().find(|slip| slip.id != best.id);
                let clear = |other: &Slip| best.kind < other.kind || best.rarity + CLEARER <= other.rarity;
                other.is_none_or(clear).then_some(best)
            })
            .collect();
        let size = (clear.len() * 4 / 3 + 1).next_power_of_two();
        let mut table = vec![Misspelling::default(); size];
        for slip in clear {
            let mut at = slip.key.hash as usize & (size - 1);
            while table.get(at).is_some_and(|entry| entry.id != 0) {
                at = (at + 1) & (size - 1);
            }
            if let Some(entry) = table.get_mut(at) {
                *entry = Misspelling { check: slip.key.check, id: slip.id };
            }
        }
        table
    }

    fn add(&mut self, word: &str, id: u32) {
        let path = Path::of(word.as_bytes());
        let known = path.look_up(word.as_bytes(), word.len());
        let rarity = known.map_or(UNKNOWN, Rarity::least);
        let of_its_own = |slip: &[u8], same: usize| {
            let Some(own) = path.look_up(slip, same) else { return false };
            let least = own.least();
            own.is_name()
                || known.is_none_or(|known| own.shares_language(known))
                || least < RARE
                || least < rarity.saturating_add(RARER)
        };
        // A pattern's prefix says that it means any word with it: what it takes is no misspelling of another.
        let others: Vec<(&str, usize)> = (self.targets.near(word))
            .map(|prefix| (prefix, prefix.bytes().zip(word.bytes()).take_while(|(a, b)| a == b).count()))
            .filter(|(prefix, common)| *common < prefix.len())
            .collect();
        let found = &mut self.found;
        each_slip(word.as_bytes(), |slip, same, kind| {
            let taken =
                others.iter().any(|(prefix, common)| *common >= same && slip.starts_with(prefix.as_bytes()));
            if !taken && !of_its_own(slip, same) {
                found.push(Slip { key: MisspellingKey::of(slip), id, kind, rarity });
            }
        });
    }
}

fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Calls `found` with each slip of a word once, and the number of letters in front that are the word's.
fn each_slip(word: &[u8], mut found: impl FnMut(&[u8], usize, Kind)) {
    let short = word.len() <= SHORT;
    let mut slip = word.to_vec();
    for at in usize::from(short)..word.len() - 1 {
        if slip.get(at) != slip.get(at + 1) {
            slip.swap(at, at + 1);
            found(&slip, at, Kind::Other);
            slip.swap(at, at + 1);
        }
    }
    // An umlaut is one letter on the keyboard, and two here.
    for at in 1..word.len().saturating_sub(1) {
        if matches!(word.get(at..at + 2), Some(b"ae" | b"oe" | b"ue")) {
            for (from, to) in [(at - 1, at + 1), (at + 2, at)] {
                if from > 0 && from < slip.len() {
                    let letter = slip.remove(from);
                    slip.insert(to, letter);
                    found(&slip, from.min(to), Kind::Other);
                    slip.copy_from_slice(word);
                }
            }
        }
    }
    for at in 0..word.len() {
        let here = word.get(at);
        let doubled = at > 0 && word.get(at - 1) == here;
        // Of a pair only the second letter is left out: leaving out the first gives the same word.
        let pair_ahead = here == word.get(at + 1);
        if doubled || (!short && at > 0 && !pair_ahead) {
            slip.remove(at);
            found(&slip, at, if doubled { Kind::Single } else { Kind::Other });
            slip.insert(at, word.get(at).copied().unwrap_or_default());
        }
        if word.len() >= SHORT && !doubled && !pair_ahead {
            slip.insert(at, word.get(at).copied().unwrap_or_default());
            found(&slip, at, Kind::Other);
            slip.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::each_slip;

    fn slips(word: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_slip(word.as_bytes(), |slip, same, _| {
            assert_eq!(slip.get(..same), word.as_bytes().get(..same), "{word}");
            found.push(String::from_utf8_lossy(slip).into_owned());
        });
        found
    }

    #[test]
    fn slips_of_a_word() {
        assert_eq!(slips("wer"), ["wre"]);
        assert_eq!(slips("will"), ["wlil", "wwill", "wiill", "wil"]);
        let long = slips("danke");
        for slip in ["adnke", "dnake", "dake", "dank", "dannke", "ddanke"] {
            assert!(long.iter().any(|found| found == slip), "{slip} in {long:?}");
        }
        assert!(!long.iter().any(|found| found == "anke"), "the first letter stays");
    }

    #[test]
    fn each_slip_comes_once_and_is_not_the_word() {
        for word in ["will", "hello", "mississippi", "wenn", "wetter"] {
            let mut found = slips(word);
            let count = found.len();
            found.sort();
            found.dedup();
            assert_eq!(found.len(), count, "{word}");
            assert!(!found.iter().any(|slip| slip == word), "{word}");
        }
    }
}
