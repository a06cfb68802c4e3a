//! German and English words by frequency, and names: what is a word of its own is no misspelling of another.

use std::sync::LazyLock;

use fst::raw::{CompiledAddr, Output};
use fst::{IntoStreamer, Map, Streamer};

/// Made of `dictionary/words.txt` by the build script; words of 2 to 14 letters, folded.
static WORDS: LazyLock<Option<Map<&'static [u8]>>> =
    LazyLock::new(|| Map::new(include_bytes!(concat!(env!("OUT_DIR"), "/words.fst")).as_slice()).ok());

/// A word of the dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rarity {
    /// In German and in English: one word in two to the power of this is it; 0 where the language lacks it.
    by_language: [u8; 2],
    is_name: bool,
}

impl Rarity {
    fn of(value: u64) -> Self {
        Self { by_language: [value as u8, (value >> 8) as u8], is_name: value >> 16 != 0 }
    }

    /// In the language that uses it more.
    pub(crate) fn least(self) -> u8 {
        self.by_language.into_iter().filter(|&rarity| rarity > 0).min().unwrap_or(u8::MAX)
    }

    /// The name of a person, a town or a brand.
    pub(crate) fn is_name(self) -> bool {
        self.is_name
    }

    /// Some language has both words.
    pub(crate) fn shares_language(self, other: Self) -> bool {
        self.by_language.into_iter().zip(other.by_language).any(|(own, other)| own > 0 && other > 0)
    }
}

/// What the dictionary knows of a folded word.
#[cfg(test)]
pub(crate) fn look_up(folded: &[u8]) -> Option<Rarity> {
    Path::of(b"").look_up(folded, 0)
}

/// The way that a word takes through the dictionary: words that begin like it are looked up from where they differ.
pub(crate) struct Path {
    /// The node behind each number of letters, and the value gathered so far; ends where no word goes on.
    nodes: Vec<(CompiledAddr, Output)>,
}

impl Path {
    pub(crate) fn of(word: &[u8]) -> Self {
        let mut nodes = Vec::with_capacity(word.len() + 1);
        if let Some(words) = WORDS.as_ref() {
            let fst = words.as_fst();
            nodes.push((fst.root().addr(), Output::zero()));
            for &letter in word {
                let Some(&(address, value)) = nodes.last() else { break };
                let node = fst.node(address);
                let Some(next) = node.find_input(letter) else { break };
                let next = node.transition(next);
                nodes.push((next.addr, value.cat(next.out)));
            }
        }
        Self { nodes }
    }

    /// What the dictionary knows of a word whose first `same` letters are those of the path's word.
    pub(crate) fn look_up(&self, word: &[u8], same: usize) -> Option<Rarity> {
        let fst = WORDS.as_ref()?.as_fst();
        let &(address, mut value) = self.nodes.get(same)?;
        let mut node = fst.node(address);
        for &letter in word.get(same..)? {
            let next = node.transition(node.find_input(letter)?);
            value = value.cat(next.out);
            node = fst.node(next.addr);
        }
        node.is_final().then(|| Rarity::of(value.cat(node.final_output()).value()))
    }
}

/// The `most` most frequent words that begin with `prefix`, have at most `more` letters behind it, and are `wanted`.
pub(crate) fn forms(
    prefix: &str,
    more: usize,
    most: usize,
    wanted: impl Fn(&str) -> bool,
) -> Vec<(String, Rarity)> {
    let Some(words) = WORDS.as_ref() else { return Vec::new() };
    let mut found: Vec<(String, Rarity)> = Vec::new();
    let mut stream = words.range().ge(prefix).into_stream();
    while let Some((word, value)) = stream.next() {
        if !word.starts_with(prefix.as_bytes()) {
            break;
        }
        let rarity = Rarity::of(value);
        let full = found.len() >= most;
        if word.len() <= prefix.len() + more
            && !(full && found.last().is_none_or(|(_, last)| last.least() <= rarity.least()))
            && let Some(word) = std::str::from_utf8(word).ok().filter(|word| wanted(word))
        {
            let at = found.partition_point(|(_, known)| known.least() <= rarity.least());
            found.insert(at, (word.to_owned(), rarity));
            found.truncate(most);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Rarity, forms, look_up};

    fn known(word: &str) -> Option<Rarity> {
        look_up(word.as_bytes())
    }

    #[test]
    fn words_of_both_languages_are_known_and_ranked() {
        let least = |word: &str| known(word).map(Rarity::least);
        assert!(least("the") < least("weather") && least("und") < least("wetter"));
        assert!(known("schoen").is_some() && known("schön").is_none(), "words are folded");
        for misspelled in ["weter", "wochntag", "teh", "wil"] {
            assert_eq!(known(misspelled), None, "{misspelled}");
        }
    }

    #[test]
    fn languages_are_told_apart() {
        let share = |a: &str, b: &str| known(a).zip(known(b)).is_some_and(|(a, b)| a.shares_language(b));
        assert!(share("rom", "room") && share("wann", "wenn"));
        assert!(!share("wan", "wann"), "wann is German, wan English");
    }

    #[test]
    fn forms_have_their_prefix_and_a_short_ending() {
        let forms = forms("addier", 3, 5, |word| word != "addierst");
        assert!(forms.iter().any(|(word, _)| word == "addiere"));
        assert!(forms.len() <= 5 && !forms.iter().any(|(word, _)| word == "addierst"));
        assert!(forms.iter().all(|(word, _)| word.starts_with("addier") && word.len() <= 9));
        assert!(forms.is_sorted_by_key(|(_, rarity)| rarity.least()));
    }
}
