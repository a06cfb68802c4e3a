//! The one-line answer that sources state or agree on. None rather than a doubtful one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex_automata::meta::Regex;

use super::about::{names_held, names_of, of_another, speaks_of_life};
use super::compare::names;
use super::{Source, Terms, Tongue, Vocabulary, site, terms};
use crate::figures::{Figure, FigureKind, figures};
use crate::reading::sentences;

/// An answer that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// As a source writes it.
    pub text: String,
    /// Addresses of the sources that give it.
    pub urls: Vec<String>,
}

/// What a question asks for, as far as code can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Name,
    When,
    Money,
    Count,
    Measure,
}

fn pattern(source: &str) -> Option<Regex> {
    Regex::new(source).ok()
}

static MONEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(price|cost|costs|kostet|kosten|preis|wie teuer|how expensive)\b|^how much (is|are) (a|an|the)\b",
    )
});
static COUNT: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?i)\b(how many|wie ?viele|population|einwohner\w*|anzahl|number of)\b"));
/// What may be counted in small numbers.
static COUNTED: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?i)\b(how many|wie ?viele|anzahl|number of)\b"));
static MEASURE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(how (tall|high|long|deep|wide|far|fast|heavy|big|large|hot|cold)|wie (hoch|lang|tief|breit|weit|schnell|schwer|groß|heiß|kalt)|height|length|depth|area|höhe|länge|tiefe|fläche|temperatur|temperature|what temperature)\b",
    )
});
static WHEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)^(when|wann|seit wann|since when)\b|\b(what|which) (year|date)\b|\bwelche[mns]? (jahr|datum|tag)\b",
    )
});
static WHO: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?i)^(who|whom|wer|wen|wem|von wem|by whom)\b"));
static OFFICE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\b(capital of|hauptstadt|ceo|chancellor|president|prime minister|bundeskanzler\w*|kanzler\w*|präsident\w*|ministerpräsident\w*",
        r"|premierminister\w*|mayor|bürgermeister\w*|founder|gründer\w*|author|autor\w*|inventor|erfinder\w*|director|regisseur\w*|wife|husband|ehefrau|ehemann|frau|married|verheiratet|chef\w*)\b"
    ))
});
/// What is asked for is a place or a thing with one name.
static PLACE_NAME: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?i)\b(capital|hauptstadt\w*|papst|pope)\b"));
static EXPLAINS: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?i)^(who|what|wer|was) (is|are|was|were|ist|sind|war|waren)\b"));
/// "Who is Elon Musk?": the name is in the question, and what is asked is what it means.
static IS_NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"^(?:[Ww]ho|[Ww]er) (?:is|was|ist|war) \p{Lu}[\w'’-]*(?: \p{Lu}[\w'’-]*)*\s*\??$")
});

fn is(regex: &LazyLock<Option<Regex>>, text: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

fn wanted(question: &str) -> Option<Wanted> {
    let question = question.trim();
    let is_name = is(&IS_NAME, question) || is_lower_name(question);
    [
        (Wanted::Money, is(&MONEY, question)),
        (Wanted::Count, is(&COUNT, question)),
        (Wanted::Measure, is(&MEASURE, question)),
        (Wanted::When, is(&WHEN, question)),
        (Wanted::Name, is(&OFFICE, question) || (is(&WHO, question) && !is_name)),
    ]
    .into_iter()
    .find_map(|(wanted, holds)| holds.then_some(wanted))
}

/// The same as people type it: "who is elon musk".
fn is_lower_name(question: &str) -> bool {
    let words = terms::words(question);
    let asks = words.first().is_some_and(|word| matches!(word.as_str(), "who" | "wer"))
        && words.get(1).is_some_and(|word| matches!(word.as_str(), "is" | "was" | "ist" | "war"));
    let rest = words.get(2..).unwrap_or_default();
    asks && (1..=3).contains(&rest.len()) && !rest.iter().any(|word| terms::is_shell(word))
}

/// Whether a question asks what somebody or something is: "Who is Elon Musk?", "Was ist Osmose?".
pub(super) fn is_definition(question: &str) -> bool {
    wanted(question).is_none() && is(&EXPLAINS, question.trim())
}

/// A sentence of a source, with the share of the question's terms that it, the sentence before it and the title hold.
struct Said<'s> {
    text: &'s str,
    site: String,
    url: &'s str,
    share: f64,
}

/// Share of the weight of a question's terms that a sentence must hold to speak about it.
const ABOUT: f64 = 0.6;
/// With less than this, its other sentences and the title must hold the rest.
const ITSELF: f64 = 0.2;

/// The answer that the sources give to a question.
#[must_use]
pub fn find_answer(question: &str, tongue: Tongue, sources: &[Source]) -> Option<Answer> {
    let wanted = wanted(question)?;
    let read: Vec<&Source> = sources.iter().filter(|source| !source.unread).collect();
    let mut vocabulary = Vocabulary::default();
    let mut texts = Vec::new();
    let mut places = Vec::new();
    for source in &read {
        let title = vocabulary.read(&source.title, tongue);
        for passage in source.passages.iter().filter(|passage| passage.on_topic) {
            let mut before: Vec<usize> = Vec::new();
            for sentence in sentences(&passage.text) {
                let own = vocabulary.read(sentence, tongue);
                let around: Vec<usize> = own.iter().chain(&before).chain(&title).copied().collect();
                places.push((*source, sentence, own.clone(), around));
                texts.push(own.clone());
                before = own;
            }
        }
    }
    let terms = Terms::new(question, tongue, &vocabulary, &texts);
    let full = terms.full();
    if full <= 0.0 {
        return None;
    }
    let named: Vec<terms::Term> =
        terms::capitals(question).iter().map(|word| terms::Term::new(word, tongue)).collect();
    let required = names_of(question, tongue);
    let said: Vec<Said<'_>> = places
        .iter()
        .filter(|(_, text, own, around)| {
            (terms.score(own) >= ITSELF * full || incumbent(text).is_some())
                && terms.score(around) >= ABOUT * full
                && names_held(&vocabulary, around, &required)
                && holds_forms(&named, around, &vocabulary)
                && holds_country(question, around, &vocabulary, tongue)
                && !of_another(question, text, tongue)
                && speaks_of_life(question, text)
        })
        .map(|(source, text, own, _)| Said {
            text,
            site: site(&source.url),
            url: &source.url,
            share: terms.score(own) / full,
        })
        .collect();
    match wanted {
        Wanted::Name => name(question, tongue, &said, &terms),
        Wanted::When => best(
            said.iter()
                .flat_map(|said| dates(said.text, question).into_iter().map(move |date| (date, said)))
                .collect(),
        ),
        Wanted::Money | Wanted::Count | Wanted::Measure => figure(question, wanted, &said),
    }
}

/// What the question writes with a capital must be spoken of.
fn holds_forms(named: &[terms::Term], around: &[usize], vocabulary: &Vocabulary) -> bool {
    named.iter().all(|name| {
        around.iter().any(|word| vocabulary.term(*word).is_some_and(|word| terms::related(name, word)))
    })
}

/// Whether a sentence holds a figure of the kind that a question asks for; true where it asks for none.
pub(super) fn holds_kind(question: &str, sentence: &str) -> bool {
    let found = figures(sentence);
    match wanted(question) {
        Some(Wanted::Money) => found.iter().any(Figure::is_money),
        Some(Wanted::Count) => found.iter().any(|figure| {
            figure.kind == FigureKind::Plain
                && !figure.is_year()
                && !figure.has_unit()
                && (figure.value >= 1000.0 || is(&COUNTED, question))
        }),
        Some(Wanted::Measure) => found.iter().any(|figure| figure.has_unit() && !figure.is_money()),
        Some(Wanted::When) => found.iter().any(|figure| figure.is_year() || figure.kind == FigureKind::Date),
        Some(Wanted::Name) | None => true,
    }
}

/// A country that is asked about must be spoken of: "der russische Präsident" is not answered by a page that names
/// another's.
fn holds_country(question: &str, around: &[usize], vocabulary: &Vocabulary, tongue: Tongue) -> bool {
    let asked: Vec<usize> = terms::read_words(question)
        .iter()
        .filter_map(|word| terms::Term::new(word, tongue).family())
        .collect();
    asked.iter().all(|family| {
        around.iter().any(|word| vocabulary.term(*word).and_then(terms::Term::family) == Some(*family))
    })
}

/// What most sites give; None where two are given by as many, or one alone gives it beside others.
fn best(found: Vec<(String, &Said<'_>)>) -> Option<Answer> {
    let mut by: BTreeMap<String, (BTreeSet<&str>, Vec<String>, f64)> = BTreeMap::new();
    for (value, said) in &found {
        let entry = by.entry(value.clone()).or_default();
        entry.0.insert(&said.site);
        if !entry.1.iter().any(|url| url == said.url) {
            entry.1.push(said.url.to_owned());
        }
        entry.2 = entry.2.max(said.share);
    }
    let mut order: Vec<(usize, f64, String, Vec<String>)> =
        by.into_iter().map(|(value, (sites, urls, share))| (sites.len(), share, value, urls)).collect();
    order.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)));
    let first = order.first()?;
    let second = order.get(1);
    let agreed = first.0 >= 2 && second.is_none_or(|second| second.0 < first.0);
    let alone = first.0 == 1 && second.is_none();
    (agreed || alone).then(|| Answer { text: first.2.clone(), urls: first.3.clone() })
}

/// Full dates, else years, that the question does not name.
fn dates(sentence: &str, question: &str) -> Vec<String> {
    let asked: Vec<f64> = figures(question).into_iter().map(|figure| figure.value).collect();
    let found = figures(sentence);
    let years: Vec<&Figure> =
        found.iter().filter(|figure| figure.is_year() && !asked.contains(&figure.value)).collect();
    // A sentence with several years does not say which of them is meant.
    match years.as_slice() {
        [year] => vec![sentence.get(year.span.clone()).unwrap_or_default().to_owned()],
        _ => Vec::new(),
    }
}

/// Figures that fit what is asked; readings that agree to two digits are one.
fn figure(question: &str, wanted: Wanted, said: &[Said<'_>]) -> Option<Answer> {
    let asked: Vec<f64> = figures(question).into_iter().map(|figure| figure.value).collect();
    let mut found: Vec<(String, &Said<'_>)> = Vec::new();
    let mut shown: BTreeMap<String, String> = BTreeMap::new();
    for said in said {
        let fitting: Vec<Figure> = figures(said.text)
            .into_iter()
            .filter(|figure| {
                figure.kind == FigureKind::Plain && !figure.is_year() && !asked.contains(&figure.value)
            })
            .filter(|figure| match wanted {
                Wanted::Money => figure.is_money(),
                Wanted::Count => !figure.has_unit() && figure.value >= 1000.0,
                _ => figure.has_unit() && !figure.is_money() && !figure.unit.starts_with('%'),
            })
            .collect();
        // A sentence with several such figures does not say which of them is meant.
        let [figure] = fitting.as_slice() else { continue };
        let key = format!("{:.1e} {}", figure.value, if wanted == Wanted::Count { "" } else { &figure.unit });
        shown.entry(key.clone()).or_insert_with(|| written(said.text, figure));
        found.push((key, said));
    }
    let mut answer = best(found)?;
    answer.text = shown.remove(&answer.text)?;
    Some(answer)
}

/// A figure with what stands around it that belongs to it.
fn written(text: &str, figure: &Figure) -> String {
    let before = text.get(..figure.span.start).unwrap_or_default().trim_end();
    let start = before
        .char_indices()
        .next_back()
        .filter(|(_, c)| "€$£¥".contains(*c))
        .map_or(figure.span.start, |(at, _)| at);
    let behind = text.get(figure.span.end..).unwrap_or_default();
    let mut end = figure.span.end;
    let mut words = 1 + usize::from(figure.scale != 1.0 && figure.has_unit());
    if figure.scale == 1.0 && !figure.has_unit() {
        words = 0;
    }
    for (at, c) in behind.char_indices() {
        let inside = c.is_alphanumeric() || matches!(c, '%' | '°' | '²' | '/' | '€' | '$' | '£' | '¥');
        if inside && words > 0 {
            end = figure.span.end + at + c.len_utf8();
        } else if matches!(c, ' ' | '\u{A0}' | '\u{202F}' | '-') {
            if end > figure.span.end {
                words = words.saturating_sub(1);
            }
        } else {
            break;
        }
        if words == 0 {
            break;
        }
    }
    text.get(start..end).unwrap_or_default().trim().to_owned()
}

/// Names that are given as what is asked for: behind "is", "heißt", "Amtsträger:", "by"; in front of "is the", or of
/// the verb that the question has.
fn name(question: &str, tongue: Tongue, said: &[Said<'_>], terms: &Terms) -> Option<Answer> {
    let asked: Vec<String> = terms::words(question);
    let of_person = !is(&PLACE_NAME, question);
    let is_news = |name: &str| {
        let words = terms::words(name);
        !words.is_empty()
            && !words.iter().any(|word| terms.holds(word, tongue) || is_no_name(word))
            && !words.iter().all(|word| asked.contains(word))
            // "French" names nobody, and people have two names.
            && !words.iter().all(|word| terms::Term::new(word, tongue).family().is_some())
            && (words.len() > 1 || !of_person)
    };
    let is_news = |name: &str, text: &str| {
        is_news(name) && !is_one_of_several(text, name) && (!of_person || !is_where(text, name))
    };
    let now = is_present(question);
    let holds = |word: &str| terms.holds(word, tongue);
    // Who is said to hold the office goes before whoever is said to be new in it: old news stay on the web.
    if now {
        let holders = said.iter().filter_map(|said| Some((incumbent(said.text)?, said)));
        let holders: Vec<_> = holders
            .map(|(name, said)| (person(name, &holds), said))
            .filter(|(name, said)| is_news(name, said.text))
            .collect();
        if let Some(answer) = best(holders) {
            return Some(answer);
        }
    }
    let mut stated: Vec<(String, &Said<'_>)> = Vec::new();
    let mut mentioned: Vec<(String, &Said<'_>)> = Vec::new();
    for said in said {
        if now && is_past(said.text) {
            continue;
        }
        for name in names(said.text, tongue)
            .into_iter()
            .map(|name| person(&name, &holds))
            .filter(|name| is_news(name, said.text))
        {
            mentioned.push((name, said));
        }
        for name in predicates(said.text, now, tongue, terms)
            .into_iter()
            .map(|name| person(&name, &holds))
            .filter(|name| is_news(name, said.text))
        {
            stated.push((name, said));
        }
    }
    // "Merz" and "Friedrich Merz" are one; the longer name is shown.
    for found in [&mut stated, &mut mentioned] {
        let all: Vec<String> = found.iter().map(|(name, _)| name.clone()).collect();
        for (name, _) in found.iter_mut() {
            if let Some(longer) = all
                .iter()
                .filter(|longer| longer.len() > name.len() && longer.ends_with(&format!(" {name}")))
                .min_by_key(|longer| longer.len())
            {
                name.clone_from(longer);
            }
        }
    }
    best(stated.clone()).or_else(|| {
        // No sentence states one clearly: what several sites mention beside the question's terms.
        let answer = best(mentioned)?;
        let contradicts = stated.iter().any(|(name, _)| *name != answer.text);
        (answer.urls.len() >= 2 && !contradicts).then_some(answer)
    })
}

/// A name beside others: "by the brothers Patrick and John Collison". One of them alone would be half an answer.
fn is_one_of_several(text: &str, name: &str) -> bool {
    static BEHIND: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(r"^(?:, \p{Lu}[\p{L}.'’-]*(?: \p{Lu}[\p{L}.'’-]*)*)*,? (?:and|und|&) \p{Lu}")
    });
    static BEFORE: LazyLock<Option<Regex>> =
        LazyLock::new(|| pattern(r"\p{Lu}[\p{L}.'’-]*,? (?:and|und|&) $"));
    text.match_indices(name).next().is_some_and(|(at, _)| {
        is(&BEHIND, text.get(at + name.len()..).unwrap_or_default())
            || is(&BEFORE, text.get(..at).unwrap_or_default())
    })
}

/// A name that the text only places something at: "in San Francisco".
fn is_where(text: &str, name: &str) -> bool {
    let mut found = text.match_indices(name).peekable();
    found.peek().is_some()
        && found.all(|(at, _)| {
            let before = text.get(..at).unwrap_or_default().trim_end();
            let word = before.rsplit(' ').next().unwrap_or_default().to_lowercase();
            matches!(word.as_str(), "in" | "at" | "from" | "near" | "aus" | "nach" | "bei" | "im" | "to")
        })
}

/// The name behind "Incumbent:", "The incumbent is" and their German words.
pub(super) fn incumbent(sentence: &str) -> Option<&str> {
    const MARKS: &[&str] = &[
        "Amtsträger: ",
        "Amtsträgerin: ",
        "Amtsinhaber: ",
        "Amtsinhaberin: ",
        "Amtsträger ist ",
        "Amtsinhaber ist ",
        "Amtsinhaberin ist ",
        "Incumbent: ",
        "incumbent is ",
        "current holder is ",
        "current office holder is ",
        "Current holder: ",
    ];
    let (at, mark) = MARKS.iter().find_map(|mark| Some((sentence.find(mark)?, mark)))?;
    leading(behind_since(sentence.get(at + mark.len()..)?))
}

/// Whether a question asks for what is so now: "Wer ist", not "Wer war".
fn is_present(question: &str) -> bool {
    let words = terms::words(question);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    has(&[
        "ist",
        "is",
        "are",
        "sind",
        "heißt",
        "aktueller",
        "aktuelle",
        "current",
        "currently",
        "now",
        "derzeit",
    ]) && !has(&["war", "waren", "were", "wurde", "hat", "did"])
}

/// Whether a sentence speaks of what is over.
fn is_past(sentence: &str) -> bool {
    let words = terms::words(sentence);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    has(&[
        "war",
        "waren",
        "was",
        "were",
        "bis",
        "until",
        "former",
        "formerly",
        "ehemaliger",
        "ehemalige",
        "vorgänger",
        "predecessor",
    ]) && !has(&["ist", "is", "seit", "since"])
}

/// A name without what it is called in front: "Schriftsteller Frank Herbert".
fn person(name: &str, holds: &impl Fn(&str) -> bool) -> String {
    let mut words: Vec<&str> = name.split(' ').collect();
    while words.len() > 1
        && words.first().is_some_and(|word| {
            let lower = word.to_lowercase();
            crate::quote::is_named_noun(&lower) || holds(&lower)
        })
    {
        words.remove(0);
    }
    words.join(" ")
}

/// The name of whoever did it: the first two capitals in a row behind "by", or what stands there directly.
fn doer(after: &str) -> Option<&str> {
    let clause = after.split([',', '.', ';', '(', ':']).next().unwrap_or(after);
    let words: Vec<&str> = clause.split(' ').take(8).collect();
    let capital = |word: &str| word.chars().next().is_some_and(char::is_uppercase);
    let pair = words.windows(2).position(|pair| {
        pair.iter().all(|word| capital(word))
            && pair.first().is_some_and(|word| !crate::quote::is_named_noun(&word.to_lowercase()))
    });
    let start: usize = words.iter().take(pair.unwrap_or(0)).map(|word| word.len() + 1).sum();
    leading(clause.get(start..)?)
}

/// Words that no name is made of: months, days, what pages are made of.
fn is_no_name(lower: &str) -> bool {
    const NONE: &[&str] = &[
        "april",
        "august",
        "bundesrepublik",
        "bundestag",
        "chancellor",
        "cookie",
        "cookies",
        "current",
        "dezember",
        "december",
        "februar",
        "february",
        "freitag",
        "friday",
        "gegründet",
        "government",
        "home",
        "incumbent",
        "januar",
        "january",
        "juli",
        "july",
        "june",
        "juni",
        "mai",
        "march",
        "may",
        "minister",
        "mittwoch",
        "monday",
        "montag",
        "märz",
        "novel",
        "november",
        "october",
        "oktober",
        "partei",
        "präsident",
        "president",
        "regierung",
        "republik",
        "roman",
        "saturday",
        "seit",
        "september",
        "since",
        "source",
        "sunday",
        "thursday",
        "tuesday",
        "wednesday",
        "wikipedia",
    ];
    NONE.contains(&lower)
}

/// The name at the begin of a text, if there is one: capitals, with particles and initials between them.
fn leading(text: &str) -> Option<&str> {
    let mut end = 0;
    let mut count = 0;
    let mut at = 0;
    for token in text.split_inclusive(' ') {
        let word = token.trim_end();
        let bare = word.trim_end_matches([',', '.', ';', ':', ')', '"', '”', '“']);
        let capital = bare.chars().next().is_some_and(char::is_uppercase)
            && !bare.contains(|c: char| c.is_ascii_digit());
        let initial = capital && bare.chars().count() == 1 && word.ends_with('.');
        let particle =
            count > 0 && matches!(bare, "von" | "van" | "de" | "del" | "della" | "bin" | "al" | "da");
        if !(capital || particle) || (count == 0 && terms::is_shell(&bare.to_lowercase())) {
            break;
        }
        if capital {
            end = at + bare.len();
            count += 1;
        }
        at += token.len();
        if (bare.len() < word.len() && !initial) || count == 4 {
            break;
        }
    }
    (count > 0).then(|| text.get(..end)).flatten()
}

/// The name at the end of a text.
fn trailing(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let mut start = text.len();
    let mut count = 0;
    for token in text.rsplit(' ') {
        let offset = start.saturating_sub(token.len() + usize::from(start < text.len()));
        let capital = token.chars().next().is_some_and(char::is_uppercase)
            && !token.contains(|c: char| c.is_ascii_digit());
        let particle =
            count > 0 && matches!(token, "von" | "van" | "de" | "del" | "della" | "bin" | "al" | "da");
        let ends = token.ends_with([',', ';', ':', ')']) && !token.is_empty();
        if !(capital || particle) || (ends && count > 0) || count == 4 {
            break;
        }
        start = offset;
        count += usize::from(capital);
    }
    let found = text.get(start..)?.trim();
    let first = found.split(' ').next().unwrap_or_default().to_lowercase();
    (count > 0 && !terms::is_shell(&first)).then_some(found)
}

/// Names that a sentence gives as predicate or subject of what is asked for.
fn predicates(sentence: &str, now: bool, tongue: Tongue, terms: &Terms) -> Vec<String> {
    let mut out = Vec::new();
    let mut push = |name: Option<&str>| {
        out.extend(name.map(|name| name.trim_matches(|c: char| !c.is_alphanumeric()).to_owned()))
    };
    let about = |text: &str| terms::words(text).iter().any(|word| terms.holds(word, tongue));
    // "Amtsträger: X", "Incumbent: X", "Hauptstadt: Paris".
    if let Some((label, value)) = sentence.split_once(": ") {
        let lower = label.to_lowercase();
        let last = lower.rsplit(['.', ' ']).next().unwrap_or_default();
        if about(label)
            || ["amtsträger", "amtsträgerin", "amtsinhaber", "amtsinhaberin", "incumbent", "officeholder"]
                .contains(&last)
        {
            push(leading(value));
        }
    }
    let present: &[&str] = &[" is ", " ist ", " heißt ", " bleibt ", " are ", " has been "];
    let past: &[&str] = &[" was ", " war ", " became ", " wurde ", " were "];
    for verb in present.iter().chain(past.iter().filter(|_| !now)).copied() {
        for (at, _) in sentence.match_indices(verb) {
            let (before, after) =
                (sentence.get(..at).unwrap_or_default(), sentence.get(at + verb.len()..).unwrap_or_default());
            if about(before) || before.ends_with("Amtsträger") || before.ends_with("Amtsinhaber") {
                // "The chancellor is X", "Bundeskanzler ist seit 2025 X".
                let after = after
                    .trim_start_matches("currently ")
                    .trim_start_matches("now ")
                    .trim_start_matches("derzeit ")
                    .trim_start_matches("aktuell ");
                let behind = behind_since(after);
                push(leading(behind));
            } else if about(after) {
                // "Paris is the capital", "Friedrich Merz (* 1955) ist der Bundeskanzler".
                let subject = before.split_once(" (").map_or(before, |(name, _)| name);
                let subject =
                    if subject.len() < before.len() && before.ends_with(')') { subject } else { before };
                push(trailing(subject));
            }
        }
    }
    for agent in [" by ", " von ", " durch "] {
        for (at, _) in sentence.match_indices(agent) {
            let (before, after) = (
                sentence.get(..at).unwrap_or_default(),
                sentence.get(at + agent.len()..).unwrap_or_default(),
            );
            let behind = leading(after).map_or("", |name| after.get(name.len()..).unwrap_or_default());
            let verb = |text: Option<&str>| {
                text.is_some_and(|word| {
                    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
                    is_participle(&word) || terms.holds(&word, tongue)
                })
            };
            if verb(before.split_whitespace().next_back())
                || (agent != " by " && verb(behind.split_whitespace().next()))
            {
                push(doer(after));
            }
        }
    }
    // "Frank Herbert wrote", where the question asks who wrote.
    let tokens: Vec<&str> = sentence.split(' ').collect();
    let mut at = 0;
    for token in &tokens {
        let word = token.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        if at > 0 && !token.chars().next().is_some_and(char::is_uppercase) && terms.holds(&word, tongue) {
            push(trailing(sentence.get(..at).unwrap_or_default()));
        }
        at += token.len() + 1;
    }
    out.retain(|name| !name.is_empty());
    out
}

/// Behind "seit dem 6. Mai 2025" and "since 2017".
fn behind_since(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("seit ").or_else(|| text.strip_prefix("since ")) else { return text };
    let Some(year) = figures(rest).into_iter().find(Figure::is_year).map(|figure| figure.span.end) else {
        return text;
    };
    rest.get(year..).unwrap_or_default().trim_start_matches([',', ' '])
}

fn is_participle(lower: &str) -> bool {
    const KNOWN: &[&str] = &[
        "built",
        "composed",
        "created",
        "designed",
        "developed",
        "directed",
        "discovered",
        "erfunden",
        "entdeckt",
        "entworfen",
        "entwickelt",
        "erbaut",
        "founded",
        "gegründet",
        "geführt",
        "geleitet",
        "gemalt",
        "geschrieben",
        "headed",
        "invented",
        "komponiert",
        "led",
        "novel",
        "painted",
        "published",
        "regiert",
        "roman",
        "run",
        "series",
        "stammt",
        "started",
        "verfasst",
        "written",
        "work",
        "werk",
        "buch",
        "book",
        "held",
    ];
    KNOWN.contains(&lower)
}

#[cfg(test)]
mod tests {
    use super::super::Passage;
    use super::*;

    fn source(host: &str, title: &str, texts: &[&str]) -> Source {
        let passages =
            texts.iter().map(|text| Passage { text: (*text).to_owned(), on_topic: true }).collect();
        Source { title: title.to_owned(), url: format!("https://{host}/"), passages, ..Source::default() }
    }

    fn answer(question: &str, tongue: Tongue, sources: &[Source]) -> Option<String> {
        find_answer(question, tongue, sources).map(|answer| answer.text)
    }

    #[test]
    fn names_are_found_as_subject_predicate_and_agent() {
        let paris = [
            source("a.example", "France", &["Paris is the capital and largest city of France."]),
            source("b.example", "Lyon", &["Lyon lies in France, whose capital is Paris."]),
        ];
        assert_eq!(
            answer("What is the capital of France?", Tongue::English, &paris).as_deref(),
            Some("Paris")
        );
        let dune = [
            source("a.example", "Dune", &["Dune is a 1965 novel by Frank Herbert."]),
            source("b.example", "Shelf", &["Frank Herbert wrote Dune in six years."]),
        ];
        assert_eq!(answer("Who wrote Dune?", Tongue::English, &dune).as_deref(), Some("Frank Herbert"));
        let kanzler = [
            source(
                "a.example",
                "Bundeskanzler",
                &["Der Bundeskanzler leitet die Regierung. Amtsträger: Friedrich Merz (seit 6. Mai 2025)."],
            ),
            source(
                "b.example",
                "Wahl",
                &["Friedrich Merz ist seit 2025 Bundeskanzler, vor ihm war es Olaf Scholz."],
            ),
        ];
        assert_eq!(
            answer("Wer ist der Bundeskanzler?", Tongue::German, &kanzler).as_deref(),
            Some("Friedrich Merz")
        );
    }

    #[test]
    fn the_line_of_who_is_in_office_answers_beside_an_article_that_lacks_it() {
        let sources = [
            source(
                "de.wikipedia.org",
                "Bundeskanzler (Deutschland)",
                &[
                    "Der Bundeskanzler ist der Regierungschef der Bundesrepublik Deutschland. Er wird vom Bundestag auf Vorschlag des Bundespräsidenten gewählt und bestimmt die Richtlinien der Politik.",
                    "Erster Bundeskanzler war von 1949 bis 1963 Konrad Adenauer. Am längsten amtierte Helmut Kohl, von 1982 bis 1998.",
                ],
            ),
            source(
                "nachschlagewerk.example",
                "Bundeskanzler (Deutschland)",
                &[
                    "Der Bundeskanzler ist der Regierungschef der Bundesrepublik Deutschland. Er wird vom Bundestag auf Vorschlag des Bundespräsidenten ohne Aussprache gewählt und bestimmt die Richtlinien der Politik. Amtsträger: Friedrich Merz (seit 6. Mai 2025). Amtssitz: Bundeskanzleramt, Berlin.",
                ],
            ),
        ];
        let found = answer("Wer ist der Bundeskanzler?", Tongue::German, &sources);
        assert_eq!(found.as_deref(), Some("Friedrich Merz"));
    }

    #[test]
    fn whoever_holds_the_office_goes_before_old_news() {
        let sources = [
            source(
                "a.example",
                "Chancellor of Germany",
                &[
                    "The Federal Chancellor is the head of the German government. Incumbent: Friedrich Merz (since 6 May 2025).",
                ],
            ),
            source("b.example", "Archive", &["Olaf Scholz is the new chancellor of Germany."]),
        ];
        let found = answer("Who is the Chancellor of Germany?", Tongue::English, &sources);
        assert_eq!(found.as_deref(), Some("Friedrich Merz"));
        let lima = [
            source(
                "a.example",
                "Lima",
                &[
                    "Lima ist die Hauptstadt Perus und mit etwa 10 Millionen Einwohnern die größte Stadt des Landes.",
                ],
            ),
            source(
                "b.example",
                "Liste",
                &["Die Liste nennt zu jedem Land die Hauptstadt und die Stadt, die oft dafür gehalten wird."],
            ),
        ];
        assert_eq!(
            answer("Was ist die Hauptstadt von Peru?", Tongue::German, &lima).as_deref(),
            Some("Lima")
        );
        let dune = [source(
            "a.example",
            "Dune",
            &["Dune is a 1965 epic novel by the American author Frank Herbert. It won the Hugo Award."],
        )];
        assert_eq!(answer("Who wrote Dune?", Tongue::English, &dune).as_deref(), Some("Frank Herbert"));
        let wife = [source(
            "a.example",
            "Brigitte Macron",
            &["Brigitte Macron is a French former teacher and the wife of Emmanuel Macron."],
        )];
        assert_ne!(answer("Who is Macron's wife?", Tongue::English, &wife).as_deref(), Some("French"));
    }

    #[test]
    fn nothing_is_said_where_sources_tie_or_speak_of_another_country() {
        let tie = [
            source("a.example", "Mayor", &["The mayor of Lindmark is Ama Osei."]),
            source("b.example", "Town", &["The mayor of Lindmark is Piet Hendriks."]),
        ];
        assert_eq!(answer("Who is the mayor of Lindmark?", Tongue::English, &tie), None);
        let german = [source(
            "a.example",
            "Amt",
            &["Präsident ist seit 2017 Frank Steinmann. Amtsträger: Frank Steinmann."],
        )];
        assert_eq!(answer("Wer ist der russische Präsident?", Tongue::German, &german), None);
        assert_eq!(
            answer(
                "Who is Elon Musk?",
                Tongue::English,
                &[source("a.example", "Elon Musk", &["Elon Musk is a businessman, says Jane Roe."])]
            ),
            None
        );
    }

    #[test]
    fn one_of_several_and_a_place_are_no_answer_to_who() {
        let stripe = [source(
            "a.example",
            "Stripe",
            &[
                "Stripe was founded in 2010 by the brothers Patrick and John Collison and has headquarters in South San Francisco.",
            ],
        )];
        assert_eq!(answer("Who founded Stripe?", Tongue::English, &stripe), None);
        let openai = [source(
            "a.example",
            "OpenAI",
            &["OpenAI is a company in San Francisco, founded in 2015 by Sam Altman, Elon Musk and others."],
        )];
        assert_ne!(answer("Who founded OpenAI?", Tongue::English, &openai).as_deref(), Some("San Francisco"));
        let faust = [
            source("a.example", "Bücherrunde", &["Den Doktor Faustus hat Thomas Mann geschrieben."]),
            source(
                "b.example",
                "Faust",
                &["Goethe hat Faust geschrieben, so Johann Wolfgang Goethe selbst."],
            ),
        ];
        assert_ne!(
            answer("Wer hat Faust geschrieben?", Tongue::German, &faust).as_deref(),
            Some("Thomas Mann")
        );
    }

    #[test]
    fn figures_need_the_unit_that_is_asked_for() {
        let tokyo = [
            source("a.example", "Tokyo", &["Tokyo has a population of about 14 million in 2024."]),
            source("b.example", "Japan", &["The population of Tokyo is 13.96 million people."]),
        ];
        assert_eq!(
            answer("What's the population of Tokyo?", Tongue::English, &tokyo).as_deref(),
            Some("14 million")
        );
        let price = [
            source("a.example", "Shop", &["The Lumen lamp costs 49 euro and weighs 800 g."]),
            source("b.example", "Test", &["We bought the Lumen lamp for 49 euro."]),
        ];
        assert_eq!(
            answer("How much does the Lumen lamp cost?", Tongue::English, &price).as_deref(),
            Some("49 euro")
        );
        let tower = [source("a.example", "Turm", &["Der Turm von Mörkvik ist 48 Meter hoch."])];
        assert_eq!(
            answer("Wie hoch ist der Turm von Mörkvik?", Tongue::German, &tower).as_deref(),
            Some("48 Meter")
        );
        let when = [source("a.example", "Eiffel", &["The Eiffel Tower was finished in 1889."])];
        assert_eq!(
            answer("When was the Eiffel Tower finished?", Tongue::English, &when).as_deref(),
            Some("1889")
        );
    }
}
