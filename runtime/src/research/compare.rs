//! Where sources agree, where they contradict each other, and how they spell a name. Reported, never acted on.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{Source, Tongue, site, terms};
use crate::figures::{FigureKind, figures};

/// What is reported at most (reference: four names, two conflicts of three values).
const MOST_AGREED: usize = 4;
const MOST_CONFLICTS: usize = 2;
const MOST_VALUES: usize = 3;
/// Years between which biographies date several things (reference).
const YEARS: std::ops::Range<f64> = 1800.0..2100.0;

/// A value and the sites that give it.
pub type Value = (String, BTreeSet<String>);

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Names that several sites give.
    pub agreed: Vec<String>,
    /// Values of one kind of which some sites give one and others another; the one that most give first.
    pub conflicts: Vec<Vec<Value>>,
}

/// A name as sources spell it where the question wrote it otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// The question's word.
    pub written: String,
    /// The sources' word.
    pub found: String,
}

/// Runs of up to three capitalised words; in German, where nouns are capitals, of two or three.
pub(crate) fn names(text: &str, tongue: Tongue) -> Vec<String> {
    let mut out = Vec::new();
    let mut run: Vec<(&str, bool)> = Vec::new();
    let mut sentence_start = true;
    let end = |run: &mut Vec<(&str, bool)>, out: &mut Vec<String>| {
        // A capital at the begin of a sentence may be no name: "The company", "Gegründet wurde".
        let skip = usize::from(run.first().is_some_and(|(word, starts)| {
            *starts && (terms::is_shell(&word.to_lowercase()) || run.len() == 1)
        }));
        let words: Vec<&str> = run.iter().skip(skip).map(|(word, _)| *word).collect();
        let fewest = if tongue == Tongue::German { 2 } else { 1 };
        if (fewest..=3).contains(&words.len()) {
            out.push(words.join(" "));
        }
        run.clear();
    };
    for token in text.split_whitespace() {
        let word = token.trim_matches(|c: char| !c.is_alphanumeric());
        let opens = token.starts_with(['(', '"', '„', '[', '«', '»']);
        let closes = token
            .trim_end_matches(['’', '\''])
            .ends_with([',', '.', ';', ':', ')', '"', '“', '”', '?', '!', ']', '»', '«']);
        let capital = word.chars().next().is_some_and(char::is_uppercase)
            && word.chars().any(char::is_lowercase)
            && !word.contains(|c: char| c.is_ascii_digit());
        let initial =
            word.chars().count() == 1 && word.chars().all(char::is_uppercase) && token.ends_with('.');
        let particle =
            !run.is_empty() && matches!(word, "van" | "de" | "del" | "della" | "bin" | "al" | "da");
        if opens {
            end(&mut run, &mut out);
        }
        if capital || initial {
            run.push((word, sentence_start));
        } else if !particle {
            end(&mut run, &mut out);
        }
        sentence_start = token.ends_with(['.', '!', '?', ':']) && !initial;
        if closes && !initial {
            end(&mut run, &mut out);
        }
    }
    end(&mut run, &mut out);
    out
}

/// The text of a source that is compared.
fn text(source: &Source) -> String {
    let passages: Vec<&str> = source.passages.iter().map(|passage| passage.text.as_str()).collect();
    passages.join(" ")
}

/// The kind of a figure for comparison: years with years, others by their digits and unit.
fn kind(figure: &crate::figures::Figure) -> Option<String> {
    if figure.kind != FigureKind::Plain || (figure.digits == 1 && figure.scale == 1.0) {
        return None;
    }
    if figure.is_year() {
        return YEARS.contains(&figure.value).then(|| "year".to_owned());
    }
    let size = figure.value.abs().max(1.0).log10().floor();
    let unit = if figure.has_unit() { figure.unit.as_str() } else { "" };
    Some(format!("{size} {unit}"))
}

/// Compares what sources say. Names that the question holds are no news.
#[must_use]
pub fn compare(sources: &[Source], question: &str, tongue: Tongue) -> Comparison {
    let asked: HashSet<String> = terms::words(question).into_iter().collect();
    let mut named: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut values: BTreeMap<String, BTreeMap<String, (String, BTreeSet<String>)>> = BTreeMap::new();
    for source in sources {
        let (text, site) = (text(source), site(&source.url));
        for name in names(&text, tongue) {
            if !terms::words(&name).iter().all(|word| asked.contains(word)) {
                named.entry(name).or_default().insert(site.clone());
            }
        }
        for figure in figures(&text) {
            let Some(kind) = kind(&figure) else { continue };
            let written = text.get(figure.span.clone()).unwrap_or_default();
            let shown =
                if figure.has_unit() { format!("{written} {}", figure.unit) } else { written.to_owned() };
            let key = format!("{:.4}", figure.value);
            values
                .entry(kind)
                .or_default()
                .entry(key)
                .or_insert_with(|| (shown, BTreeSet::new()))
                .1
                .insert(site.clone());
        }
    }
    let mut agreed: Vec<(usize, String)> = named
        .into_iter()
        .filter(|(_, sites)| sites.len() > 1)
        .map(|(name, sites)| (sites.len(), name))
        .collect();
    agreed.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.len().cmp(&a.1.len())).then(a.1.cmp(&b.1)));
    let mut kept: Vec<String> = Vec::new();
    for (_, name) in agreed {
        if kept.len() < MOST_AGREED && !kept.iter().any(|longer| longer.contains(&name)) {
            kept.push(name);
        }
    }
    let mut conflicts: Vec<Vec<Value>> = Vec::new();
    for (kind, values) in values {
        let mut values: Vec<Value> = values.into_values().collect();
        // A life is dated several times, and no date contradicts another.
        if kind == "year" && values.len() > 2 {
            continue;
        }
        values.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.0.cmp(&b.0)));
        let Some((leader, others)) = values.split_first() else { continue };
        let differ: Vec<Value> = others
            .iter()
            .filter(|(_, sites)| sites.iter().any(|site| !leader.1.contains(site)))
            .cloned()
            .collect();
        if leader.1.len() >= 2 && !differ.is_empty() {
            conflicts.push(std::iter::once(leader.clone()).chain(differ).take(MOST_VALUES).collect());
        }
    }
    conflicts.truncate(MOST_CONFLICTS);
    Comparison { agreed: kept, conflicts }
}

/// Words that ask, which no source misspells: edits away from other words ("wer" and "der").
fn asks(lower: &str) -> bool {
    terms::is_shell(lower)
}

/// Letters of a word that is looked at (reference: 3), and of one in which two edits may be (reference: 6).
const SHORTEST: usize = 3;
const LONG: usize = 6;
/// Spellings that are reported (reference: 2).
const MOST_SPELLINGS: usize = 2;

/// How sources spell a word that the question wrote otherwise: by one edit, two in a long word; on two sites at
/// least; and never for a word that stands in the sources as the question wrote it.
#[must_use]
pub fn spelling_from(query: &str, sources: &[Source]) -> Vec<Spelling> {
    let mut seen: BTreeMap<String, (String, BTreeSet<String>)> = BTreeMap::new();
    for source in sources {
        let site = site(&source.url);
        let whole = format!("{} {} {}", source.title, text(source), source.lead);
        for word in
            whole.split(|c: char| !(c.is_alphanumeric())).filter(|word| word.chars().count() >= SHORTEST)
        {
            if word.starts_with(char::is_alphabetic) {
                seen.entry(word.to_lowercase())
                    .or_insert_with(|| (word.to_owned(), BTreeSet::new()))
                    .1
                    .insert(site.clone());
            }
        }
    }
    let mut out = Vec::new();
    for word in query.split(|c: char| !c.is_alphanumeric()) {
        let lower = word.to_lowercase();
        let letters = lower.chars().count();
        let plain = lower.chars().all(char::is_alphabetic);
        if !plain || letters < SHORTEST || asks(&lower) || seen.contains_key(&lower) {
            continue;
        }
        let allowed = if letters >= LONG { 2 } else { 1 };
        let nearest = seen
            .iter()
            .filter(|(_, (_, sites))| sites.len() >= 2)
            .map(|(known, (spelt, sites))| {
                (strsim::damerau_levenshtein(&lower, known), std::cmp::Reverse(sites.len()), spelt)
            })
            .filter(|(distance, _, spelt)| {
                (1..=allowed).contains(distance) && spelt.chars().next().is_some_and(char::is_uppercase)
            })
            .min();
        if let Some((_, _, found)) = nearest
            && out.len() < MOST_SPELLINGS
        {
            out.push(Spelling { written: word.to_owned(), found: found.clone() });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::Passage;
    use super::*;

    fn source(host: &str, text: &str) -> Source {
        let passages = vec![Passage { text: text.to_owned(), on_topic: true }];
        Source { url: format!("https://{host}/"), passages, ..Source::default() }
    }

    #[test]
    fn a_conflict_is_where_sites_give_different_values_and_never_years_of_a_life() {
        let bridge = [
            source("a.example", "It is 412 m long."),
            source("b.example", "The bridge spans 412 m."),
            source("c.example", "Its length is 421 m."),
        ];
        let found = compare(&bridge, "How long is the bridge?", Tongue::English);
        assert_eq!(found.conflicts.len(), 1);
        assert_eq!(
            found.conflicts[0].iter().map(|(value, _)| value.as_str()).collect::<Vec<_>>(),
            ["412 m", "421 m"]
        );
        let life = [
            source("a.example", "Born in 1971."),
            source("b.example", "Elected in 2024, born in 1971."),
            source("c.example", "In 2026 he spoke."),
        ];
        assert!(compare(&life, "When was he born?", Tongue::English).conflicts.is_empty());
        // A site that names last year's figure beside this year's does not dissent.
        let both = [
            source("a.example", "It costs 49 euro."),
            source("b.example", "It costs 49 euro, up from 45 euro."),
        ];
        assert!(compare(&both, "What does it cost?", Tongue::English).conflicts.is_empty());
    }

    #[test]
    fn names_that_several_sites_give_are_agreed() {
        let found = compare(
            &[
                source("a.example", "The company was founded by Jensen Huang."),
                source("b.example", "Since 1993 Jensen Huang leads it."),
                source("b.example", "The Company X."),
            ],
            "Who leads NVIDIA?",
            Tongue::English,
        );
        assert_eq!(found.agreed, ["Jensen Huang"]);
    }

    #[test]
    fn a_spelling_needs_two_sites_and_no_question_word_has_one() {
        let sources = [
            source("a.example", "Elon Musk is an engineer."),
            source("b.example", "der Unternehmer Elon Musk"),
        ];
        let found = spelling_from("wer ist eln musk", &sources);
        assert_eq!(found, [Spelling { written: "eln".to_owned(), found: "Elon".to_owned() }]);
        assert!(spelling_from("eln musk", &sources[..1]).is_empty());
        let inch = [
            source("a.example", "1inch is an exchange. Inch by inch."),
            source("b.example", "The 1inch network, by Inch."),
        ];
        assert!(spelling_from("was ist 1inch", &inch).is_empty());
        let pets = [source("a.example", "Cats and Dogs."), source("b.example", "Cats, Dogs.")];
        assert!(spelling_from("rat", &pets).is_empty());
    }
}
