//! Words that carry a question, and which words of a page count as the same.

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

use super::Tongue;

/// Words that ask, hold together or point, in both languages, sorted: no page is chosen for one of them.
const SHELL: &[&str] = &[
    "a",
    "about",
    "aktuell",
    "all",
    "als",
    "also",
    "am",
    "an",
    "and",
    "are",
    "as",
    "at",
    "auch",
    "auf",
    "aus",
    "be",
    "beim",
    "bei",
    "been",
    "bin",
    "bitte",
    "briefly",
    "but",
    "by",
    "can",
    "could",
    "currently",
    "da",
    "dann",
    "das",
    "dass",
    "dem",
    "den",
    "denn",
    "der",
    "des",
    "did",
    "die",
    "dies",
    "diese",
    "dieser",
    "do",
    "does",
    "doch",
    "du",
    "durch",
    "eigentlich",
    "ein",
    "eine",
    "einem",
    "einen",
    "einer",
    "eines",
    "er",
    "es",
    "etwas",
    "exactly",
    "explain",
    "for",
    "from",
    "für",
    "gab",
    "genau",
    "gerade",
    "gibt",
    "had",
    "has",
    "hast",
    "hat",
    "hatte",
    "have",
    "he",
    "heißt",
    "her",
    "heute",
    "him",
    "his",
    "how",
    "i",
    "ich",
    "ihm",
    "ihn",
    "ihr",
    "im",
    "in",
    "into",
    "is",
    "ist",
    "it",
    "its",
    "jetzt",
    "just",
    "kann",
    "kannst",
    "kurz",
    "lange",
    "mal",
    "man",
    "many",
    "me",
    "mein",
    "mich",
    "mir",
    "mit",
    "much",
    "my",
    "nach",
    "no",
    "not",
    "noch",
    "now",
    "nur",
    "of",
    "off",
    "on",
    "or",
    "our",
    "out",
    "over",
    "please",
    "right",
    "sag",
    "sagen",
    "sein",
    "seine",
    "she",
    "should",
    "sie",
    "sind",
    "so",
    "some",
    "tell",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "today",
    "um",
    "und",
    "uns",
    "unser",
    "up",
    "us",
    "viel",
    "viele",
    "vom",
    "von",
    "vor",
    "wann",
    "war",
    "waren",
    "warum",
    "was",
    "we",
    "weißt",
    "welche",
    "welchem",
    "welchen",
    "welcher",
    "welches",
    "wem",
    "wen",
    "wer",
    "were",
    "weshalb",
    "wessen",
    "what",
    "when",
    "where",
    "which",
    "who",
    "whom",
    "whose",
    "why",
    "wie",
    "wieso",
    "will",
    "wir",
    "wird",
    "with",
    "wo",
    "woher",
    "wohin",
    "would",
    "wurde",
    "wurden",
    "you",
    "your",
    "zu",
    "zum",
    "zur",
    "über",
];

/// Names of a country, its people and its language: one of them answers another. Begins of words.
const FAMILIES: &[&[&str]] = &[
    &["deutschland", "deutsche", "german"],
    &["frankreich", "französi", "franzos", "france", "french"],
    &["russland", "russi", "russe"],
    &["england", "englisch", "english", "brit", "großbritannien"],
    &["usa", "amerika", "america"],
    &["spanien", "spani", "spain"],
    &["italien", "itali", "italy"],
    &["österreich", "austria"],
    &["schweiz", "swiss", "switzerland"],
    &["polen", "polni", "poland", "polish"],
    &["japan"],
    &["china", "chines"],
    &["türkei", "türki", "turkey", "turkish"],
    &["griechenland", "griechi", "greece", "greek"],
    &["norwegen", "norwegi", "norway"],
    &["schweden", "schwedi", "sweden", "swedish"],
    &["dänemark", "däni", "denmark", "danish"],
    &["finnland", "finni", "finland", "finnish"],
    &["niederlande", "niederländi", "holl", "netherlands", "dutch"],
    &["belgien", "belgi", "belgium"],
    &["portugal", "portugies", "portugues"],
    &["ukrain"],
    &["kanada", "kanadi", "canad"],
    &["brasil", "brazil"],
];

/// Words of a marriage: whoever asks for the wife is answered by who is married. Begins of words.
const MARRIED: &[&str] = &[
    "ehefrau",
    "ehemann",
    "gattin",
    "geheiratet",
    "heiratet",
    "husband",
    "marriage",
    "married",
    "spouse",
    "verheiratet",
    "wife",
];

/// The words of a text in small letters: runs of letters and digits, with points and commas between digits.
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let in_number = matches!(c, '.' | ',')
            && word.ends_with(|c: char| c.is_ascii_digit())
            && chars.peek().is_some_and(char::is_ascii_digit);
        if c.is_alphanumeric() || in_number {
            word.extend(c.to_lowercase());
        } else if !word.is_empty() {
            out.push(std::mem::take(&mut word));
        }
    }
    if !word.is_empty() {
        out.push(word);
    }
    out
}

/// The words of a text as they are compared: what a country is called in several words or letters is one.
pub(super) fn read_words(text: &str) -> Vec<String> {
    let as_written: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut out = words(text);
    // Figures with points are one word there and several here; then nothing is joined.
    if out.len() != as_written.len() {
        return out;
    }
    let mut at = 0;
    while at < out.len() {
        let word = |offset: usize| out.get(at + offset).map(String::as_str).unwrap_or_default();
        let written = |offset: usize| as_written.get(at + offset).copied().unwrap_or_default();
        let country = match (word(0), word(1)) {
            ("united", "states") => Some((USA, 2)),
            (first, "staaten") if first.starts_with("vereinigte") => Some((USA, 2)),
            ("united", "kingdom") => Some((BRITAIN, 2)),
            (first, "königreich" | "königreichs") if first.starts_with("vereinigte") => Some((BRITAIN, 2)),
            // "us" is a pronoun, "US" is none, and neither is "U.S.".
            _ if written(0) == "US" => Some((USA, 1)),
            _ if written(0) == "UK" => Some((BRITAIN, 1)),
            _ if written(0) == "U" && written(1) == "S" => Some((USA, 2)),
            _ if written(0) == "U" && written(1) == "K" => Some((BRITAIN, 2)),
            ("south" | "latin" | "central" | "north", second) if second.starts_with("america") => {
                Some(("continent", 2))
            }
            _ => None,
        };
        if let Some((name, length)) = country {
            out.splice(at..at + length, [name.to_owned()]);
            // Both lists stay side by side.
            return joined(&as_written, at + length, out, at + 1);
        }
        at += 1;
    }
    out
}

/// The rest of a text behind a country that was joined.
fn joined(as_written: &[&str], from: usize, mut out: Vec<String>, keep: usize) -> Vec<String> {
    let rest = as_written.get(from..).unwrap_or_default().join(" ");
    out.truncate(keep);
    out.extend(read_words(&rest));
    out
}

/// What countries of several names are read as; both are begins of a family.
const USA: &str = "usa";
const BRITAIN: &str = "britain";

/// Whether a word only asks, points or holds together.
#[must_use]
pub(crate) fn is_shell(lower: &str) -> bool {
    SHELL_TABLE.with(|table| table.contains(lower))
}

thread_local! {
    static SHELL_TABLE: std::collections::HashSet<&'static str> = SHELL.iter().copied().collect();
    static STEMMERS: [Stemmer; 2] = [Stemmer::create(Algorithm::German), Stemmer::create(Algorithm::English)];
}

/// The stem of a word in small letters, by Snowball's rules of a language.
#[must_use]
pub fn stem(lower: &str, tongue: Tongue) -> String {
    STEMMERS.with(|[german, english]| {
        let stemmer = if tongue == Tongue::German { german } else { english };
        stemmer.stem(lower).into_owned()
    })
}

/// Letters of accents and umlauts made plain, so that one spelling answers another.
fn plain(lower: &str) -> String {
    use unicode_normalization::UnicodeNormalization;
    lower
        .nfd()
        .filter(|c| !unicode_normalization::char::is_combining_mark(*c))
        .collect::<String>()
        .replace('ß', "ss")
}

/// A word with what it is compared by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    /// In small letters.
    pub(super) lower: String,
    /// In small letters, without accents.
    pub(crate) word: String,
    stem: String,
    family: Option<usize>,
    /// It speaks of a marriage.
    married: bool,
}

impl Term {
    /// The country that it names.
    pub(super) fn family(&self) -> Option<usize> {
        self.family
    }

    pub(crate) fn new(lower: &str, tongue: Tongue) -> Self {
        let family = FAMILIES.iter().position(|names| names.iter().any(|name| lower.starts_with(name)));
        let married = MARRIED.iter().any(|begin| lower.starts_with(begin)) || lower == "frau";
        Self {
            lower: lower.to_owned(),
            stem: plain(&stem(lower, tongue)),
            word: plain(lower),
            family,
            married,
        }
    }
}

/// Letters that two inflected forms share at least, and that each may have behind them.
const SHARED: usize = 5;
const ENDING: usize = 4;

/// Whether two words are forms of one: equal, one stem, one long begin with short endings, or names of one country.
pub(crate) fn related(a: &Term, b: &Term) -> bool {
    if a.word == b.word
        || a.stem == b.stem
        || (a.family.is_some() && a.family == b.family)
        || (a.married && b.married)
    {
        return true;
    }
    // "Perus", "Lima's": a genitive, however short the name.
    if [(a, b), (b, a)]
        .iter()
        .any(|(a, b)| a.word.strip_suffix('s').is_some_and(|plain| plain.len() > 2 && plain == b.word))
    {
        return true;
    }
    let shared = a.word.chars().zip(b.word.chars()).take_while(|(a, b)| a == b).count();
    let endings = [&a.word, &b.word].map(|word| word.chars().count() - shared);
    shared >= SHARED
        && endings.into_iter().all(|ending| ending <= ENDING)
        && !a.word.contains(|c: char| c.is_ascii_digit())
}

/// Whether two words in small letters are forms of one.
#[must_use]
pub fn is_related(a: &str, b: &str, tongue: Tongue) -> bool {
    related(&Term::new(a, tongue), &Term::new(b, tongue))
}

/// The words of texts, each read once: stems are dear.
#[derive(Debug, Default)]
pub struct Vocabulary {
    known: HashMap<String, usize>,
    terms: Vec<Term>,
}

impl Vocabulary {
    /// The numbers of a text's words.
    pub fn read(&mut self, text: &str, tongue: Tongue) -> Vec<usize> {
        read_words(text)
            .into_iter()
            .map(|word| {
                let next = self.terms.len();
                match self.known.get(&word) {
                    Some(number) => *number,
                    None => {
                        self.terms.push(Term::new(&word, tongue));
                        self.known.insert(word, next);
                        next
                    }
                }
            })
            .collect()
    }

    pub(super) fn term(&self, number: usize) -> Option<&Term> {
        self.terms.get(number)
    }

    /// How many words are known.
    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }
}

/// How much more a name counts than another word: "wrote" is rarer than "Dune" among pages about Dune.
const NAMED: f64 = 2.5;
/// What a word weighs that all texts have.
const LEAST: f64 = 0.4;

/// Words that a question writes with a capital or a digit, its first one aside.
pub(super) fn capitals(question: &str) -> Vec<String> {
    let named = |word: &&str| {
        word.chars().next().is_some_and(char::is_uppercase) || word.contains(|c: char| c.is_ascii_digit())
    };
    let all = question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    all.skip(1).filter(named).map(str::to_lowercase).filter(|word| !is_shell(word)).collect()
}

/// Words that say which attribute is asked for: pages say it in many ways.
pub(super) fn is_attribute(lower: &str) -> bool {
    const WORDS: &[&str] = &[
        "age",
        "alt",
        "alter",
        "average",
        "bevölkerung",
        "big",
        "breit",
        "cost",
        "costs",
        "deep",
        "einwohner",
        "einwohnerzahl",
        "expensive",
        "far",
        "fast",
        "groß",
        "heavy",
        "height",
        "high",
        "hoch",
        "höhe",
        "inhabitants",
        "kosten",
        "kostet",
        "lang",
        "large",
        "leben",
        "length",
        "leute",
        "live",
        "lives",
        "long",
        "länge",
        "menschen",
        "number",
        "old",
        "people",
        "population",
        "preis",
        "price",
        "schnell",
        "schwer",
        "speed",
        "tall",
        "teuer",
        "tief",
        "weit",
        "wide",
        "wohnen",
        "zahl",
    ];
    WORDS.contains(&lower)
}

/// Whether two words are one name: in another case of its declension, or of one country. "Faustus" is not "Faust".
pub(super) fn same_name(a: &Term, b: &Term) -> bool {
    const ENDINGS: &[&str] = &["s", "es", "n", "en", "e", "er", "ns"];
    let declined =
        |long: &str, short: &str| long.strip_prefix(short).is_some_and(|ending| ENDINGS.contains(&ending));
    a.word == b.word
        || (a.family.is_some() && a.family == b.family)
        || declined(&a.word, &b.word)
        || declined(&b.word, &a.word)
        // "Vereinten" and "Vereinte", "französischen" and "französischer".
        || [&a.word, &b.word].iter().all(|word| word.ends_with(['n', 'r', 's', 'e', 'm']) && word.len() > 5)
            && a.stem == b.stem
}

/// Words that name something in particular, so that nothing else answers: in English those with a capital, in German
/// those with a capital and no article or adjective in front ("der Chef von Nvidia").
pub(super) fn required(question: &str, tongue: Tongue) -> Vec<String> {
    let tokens: Vec<&str> =
        question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_named =
        |word: &str| word.starts_with(char::is_uppercase) || word.contains(|c: char| c.is_ascii_digit());
    let mut out = Vec::new();
    for (at, token) in tokens.iter().enumerate().skip(1) {
        let lower = token.to_lowercase();
        let before = tokens.get(at - 1).copied().unwrap_or_default();
        let noun = tongue == Tongue::German && at > 1 && leads_to_noun(before);
        if is_named(token) && !is_shell(&lower) && lower.chars().count() >= 2 && !noun {
            out.push(lower);
        }
    }
    out
}

/// An article, a word of quantity or an adjective in front of a German noun.
fn leads_to_noun(before: &str) -> bool {
    const WORDS: &[&str] = &[
        "beim", "dem", "den", "der", "des", "die", "das", "ein", "eine", "einem", "einen", "einer", "eines",
        "im", "ins", "am", "ans", "kein", "viel", "viele", "vielen", "vom", "wieviel", "wieviele", "zum",
        "zur", "welche", "welcher", "welches", "welchem", "welchen", "wessen", "mein", "dein", "sein", "ihr",
    ];
    const VERBS: &[&str] =
        &["wurde", "wurden", "hatte", "hatten", "heiße", "werden", "haben", "leben", "leitet"];
    let lower = before.to_lowercase();
    if before.starts_with(char::is_uppercase) {
        return false;
    }
    let adjective = ["e", "en", "er", "es", "em"].iter().any(|ending| lower.ends_with(ending))
        && !["te", "ten"].iter().any(|ending| lower.ends_with(ending))
        && lower.chars().count() > 4
        && !is_shell(&lower);
    (WORDS.contains(&lower.as_str()) || adjective) && !VERBS.contains(&lower.as_str())
}

/// The terms of a question with their weights among texts.
#[derive(Clone, Debug)]
pub struct Terms {
    terms: Vec<Term>,
    /// Of each word of the vocabulary: which terms it answers, as bits.
    answers: Vec<u64>,
    weights: Vec<f64>,
    /// In how many of the texts each is.
    counts: Vec<usize>,
}

/// Terms of a question that count; the rest of a very long one is not looked at.
const MOST_TERMS: usize = 64;

impl Terms {
    /// The terms of a question, weighted by how few of the texts have them. Texts are numbers of a vocabulary.
    #[must_use]
    pub fn new(question: &str, tongue: Tongue, vocabulary: &Vocabulary, texts: &[Vec<usize>]) -> Self {
        let named = capitals(question);
        let mut terms: Vec<Term> = Vec::new();
        let mut weights = Vec::new();
        for word in read_words(question) {
            let term = Term::new(&word, tongue);
            if !is_shell(&word)
                && word.chars().count() >= 2
                && !terms.contains(&term)
                && terms.len() < MOST_TERMS
            {
                terms.push(term);
                weights.push(if named.contains(&word) { NAMED } else { 1.0 });
            }
        }
        let answers: Vec<u64> = (0..vocabulary.len())
            .map(|number| {
                let Some(word) = vocabulary.term(number) else { return 0 };
                terms
                    .iter()
                    .enumerate()
                    .filter(|(_, term)| related(term, word))
                    .map(|(at, _)| 1_u64 << at)
                    .sum()
            })
            .collect();
        let mut found = Self { counts: vec![0; terms.len()], weights, terms, answers };
        let mut counts = vec![0_usize; found.terms.len()];
        for text in texts {
            let held = found.held(text);
            for (at, count) in counts.iter_mut().enumerate() {
                *count += usize::from(held >> at & 1 == 1);
            }
        }
        let all = texts.len() as f64;
        for (weight, count) in found.weights.iter_mut().zip(&counts) {
            let count = *count as f64;
            *weight *= ((all - count + 0.5) / (count + 0.5) + 1.0).ln().max(LEAST);
        }
        found.counts = counts;
        found
    }

    /// Whether the question has no term that counts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The weight of all terms that any of the texts holds: what none holds is said in another word.
    pub(super) fn full(&self) -> f64 {
        self.weights.iter().zip(&self.counts).filter(|(_, count)| **count > 0).map(|(weight, _)| weight).sum()
    }

    /// The weight of all terms but attributes, and of those of them that a text holds.
    pub(super) fn without_attributes(&self, text: &[usize]) -> (f64, f64) {
        let held = self.held(text);
        let counted = self.terms.iter().zip(&self.weights).enumerate();
        let counted = counted.filter(|(_, (term, _))| !is_attribute(&term.lower));
        counted.fold((0.0, 0.0), |(all, has), (at, (_, weight))| {
            (all + weight, if held >> at & 1 == 1 { has + weight } else { has })
        })
    }

    /// Which terms a text holds, as bits.
    pub(super) fn held(&self, text: &[usize]) -> u64 {
        text.iter().filter_map(|word| self.answers.get(*word)).fold(0, |held, bits| held | bits)
    }

    /// The weight of the terms that a text holds.
    #[must_use]
    pub fn score(&self, text: &[usize]) -> f64 {
        let held = self.held(text);
        self.weights.iter().enumerate().filter(|(at, _)| held >> at & 1 == 1).map(|(_, weight)| weight).sum()
    }

    /// Whether a word in small letters is a form of one of the terms.
    pub(super) fn holds(&self, lower: &str, tongue: Tongue) -> bool {
        let word = Term::new(lower, tongue);
        self.terms.iter().any(|term| related(term, &word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_are_one_term_and_others_are_not() {
        let de = |a, b| is_related(a, b, Tongue::German);
        let en = |a, b| is_related(a, b, Tongue::English);
        assert!(de("bundeskanzler", "bundeskanzlers") && de("gründer", "gründers") && de("häuser", "haus"));
        assert!(de("frankreich", "französischer") && en("russia", "russian") && en("founded", "founding"));
        assert!(!de("mutter", "butter") && !en("capital", "captain") && !en("1inch", "1inches2"));
    }

    #[test]
    fn words_that_few_texts_have_weigh_more() {
        let mut vocabulary = Vocabulary::default();
        let texts: Vec<Vec<usize>> =
            ["the capital of France", "the capital of Spain", "a capital idea", "EU law"]
                .iter()
                .map(|text| vocabulary.read(text, Tongue::English))
                .collect();
        let terms = Terms::new("What is the capital of France?", Tongue::English, &vocabulary, &texts);
        let scores: Vec<f64> = texts.iter().map(|text| terms.score(text)).collect();
        assert!(scores[0] > 2.0 * scores[1] && scores[1] > 0.0 && scores[3] == 0.0, "{scores:?}");
        assert!(!Terms::new("EU", Tongue::English, &vocabulary, &texts).is_empty());
        assert!(Terms::new("who is the", Tongue::English, &vocabulary, &texts).is_empty());
    }
}
