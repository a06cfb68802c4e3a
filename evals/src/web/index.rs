//! The index behind the demo web's searches: BM25 over titles, extracts and texts, and a spelling that is corrected
//! where the index knows no such word.

use std::collections::HashMap;

/// BM25's usual constants.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Documents by their words.
#[derive(Default)]
pub(super) struct Index {
    postings: HashMap<String, HashMap<usize, f64>>,
    lengths: Vec<f64>,
}

/// Words in small letters.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// What a word is filed under: long words by their begin, so that their forms are found.
fn form(word: &str) -> String {
    let letters = word.chars().count();
    let kept =
        if letters > 8 && !word.contains(|c: char| c.is_ascii_digit()) { letters - 2 } else { letters };
    word.chars().take(kept).collect()
}

const COMMON: &[&str] = &[
    "the", "of", "a", "an", "is", "are", "in", "on", "and", "to", "for", "der", "die", "das", "ist", "von",
    "und", "ein", "eine", "wer", "was", "wie", "who", "what", "how", "in", "im", "des", "dem", "den",
];

impl Index {
    /// Adds a document made of texts with their weights.
    pub(super) fn add(&mut self, parts: &[(&str, f64)]) {
        let number = self.lengths.len();
        let mut length = 0.0;
        for (text, weight) in parts {
            for word in words(text) {
                length += 1.0;
                *self.postings.entry(form(&word)).or_default().entry(number).or_default() += weight;
            }
        }
        self.lengths.push(length);
    }

    /// The filed form of a word; the nearest that is filed for one that is not.
    fn corrected(&self, word: &str) -> Option<String> {
        let own = form(word);
        if self.postings.contains_key(&own) {
            return Some(own);
        }
        let letters = word.chars().count();
        if letters < 3 || word.contains(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let allowed = if letters >= 6 { 2 } else { 1 };
        self.postings
            .iter()
            .map(|(known, found)| {
                (strsim::damerau_levenshtein(&own, known), std::cmp::Reverse(found.len()), known)
            })
            .filter(|(distance, ..)| *distance <= allowed)
            .min()
            .map(|(_, _, known)| known.clone())
    }

    /// Documents with their scores, best first.
    pub(super) fn search(&self, query: &str) -> Vec<(usize, f64)> {
        let all = self.lengths.len() as f64;
        let mean = self.lengths.iter().sum::<f64>() / all.max(1.0);
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for word in words(query).filter(|word| !COMMON.contains(&word.as_str())) {
            let Some(found) = self.corrected(&word).and_then(|known| self.postings.get(&known)) else {
                continue;
            };
            let count = found.len() as f64;
            let idf = ((all - count + 0.5) / (count + 0.5) + 1.0).ln();
            for (number, times) in found {
                let length = self.lengths.get(*number).copied().unwrap_or(mean);
                let saturated = times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length / mean));
                *scores.entry(*number).or_default() += idf * saturated;
            }
        }
        let mut order: Vec<(usize, f64)> = scores.into_iter().collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        order
    }
}

/// The text of a page, roughly: tags, scripts and styles off.
pub(super) fn rough_text(html: &[u8]) -> String {
    let html = String::from_utf8_lossy(html);
    let mut out = String::with_capacity(html.len() / 3);
    let mut rest = &*html;
    while let Some((text, after)) = rest.split_once('<') {
        out.push_str(text);
        out.push(' ');
        let skipped = ["script", "style"]
            .iter()
            .find(|name| after.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name)));
        let end = skipped.map_or_else(|| ">".to_owned(), |name| format!("</{name}>"));
        rest = after.split_once(end.as_str()).map_or("", |(_, behind)| behind);
    }
    out.push_str(rest);
    out
}
