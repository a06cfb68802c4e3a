//! What a passage has that an answer would have.

use std::cmp::Ordering;

use super::words::{self, Kind, Language};

/// Of one passage; shares lie between 0 and 1.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Features {
    /// Weighted share of the question's content words that it has.
    pub(super) content: f64,
    /// Weight of all the question's words that it has.
    pub(super) covered: f64,
    /// The same as a share.
    pub(super) covered_share: f64,
    /// How far that share is ahead of the best other passage.
    pub(super) lead: f64,
    /// Share of content words that only the passage before it has.
    pub(super) sentence_before: f64,
    /// Share of content words that only the other part of a cut sentence has.
    pub(super) cut_off_part: f64,
    /// The passage behind takes up the noun asked for ("This network type …"): its share.
    pub(super) taken_up: f64,
    /// Place in the order, from 0.
    pub(super) position: f64,
    /// "When": a year or month that the question has not.
    pub(super) date: f64,
    /// "How many": such a number beside the counted noun.
    pub(super) counted: f64,
    /// "How many": no number at all.
    pub(super) no_number: f64,
    /// Who, or which person, company, town: names that the question has not.
    pub(super) names: f64,
    /// What something is called: a word of naming, a quotation, a bracket.
    pub(super) naming: f64,
    /// "Where": a preposition and a capital.
    pub(super) place: f64,
    /// "Why": a word of cause.
    pub(super) cause: f64,
}

/// A word as written, in small letters, and with its spelling levelled.
struct Token<'t> {
    text: &'t str,
    lower: String,
    form: String,
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_alphanumeric()) {
        rest = rest.get(start..).unwrap_or_default();
        let end = if rest.starts_with(|c: char| c.is_numeric()) { number_end(rest) } else { word_end(rest) };
        let (word, after) = rest.split_at(end);
        let lower = word.to_lowercase();
        found.push(Token { text: word, form: levelled(&lower), lower });
        rest = after;
    }
    found
}

/// Digits, with points and commas between them.
fn number_end(text: &str) -> usize {
    let mut end = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let inside = matches!(c, '.' | ',') && characters.peek().is_some_and(|(_, next)| next.is_numeric());
        if !(c.is_numeric() || inside) {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}

/// Letters, with one apostrophe between them.
fn word_end(text: &str) -> usize {
    let letters = |text: &str| text.find(|c: char| !c.is_alphabetic()).unwrap_or(text.len());
    let end = letters(text);
    let behind = text.get(end..).unwrap_or_default();
    match behind.strip_prefix(['\'', '’']) {
        Some(rest) if rest.starts_with(char::is_alphabetic) => {
            end + (behind.len() - rest.len()) + letters(rest)
        }
        _ => end.max(text.chars().next().map_or(0, char::len_utf8)),
    }
}

/// Without what follows an apostrophe, umlauts as their vowels.
fn levelled(lower: &str) -> String {
    let stem = lower.split(['\'', '’']).next().unwrap_or_default();
    let mut form = String::with_capacity(stem.len());
    for c in stem.chars() {
        match c {
            'ß' => form.push_str("ss"),
            'ä' => form.push('a'),
            'ö' => form.push('o'),
            'ü' => form.push('u'),
            c => form.push(c),
        }
    }
    form
}

/// How much two words are the same: 1 for five letters in common and half of the longer one, 0.7 for five, 0.8 for four of
/// a short one, 0.5 for part of a compound.
fn likeness(x: &str, y: &str) -> f64 {
    if x == y {
        return 1.0;
    }
    let digit = |word: &str| word.starts_with(char::is_numeric);
    if digit(x) || digit(y) {
        return 0.0;
    }
    let (long, short) = (x.chars().count().max(y.chars().count()), x.chars().count().min(y.chars().count()));
    let common = x.chars().zip(y.chars()).take_while(|(a, b)| a == b).count();
    let start = |word: &'_ str| word.char_indices().nth(5).map(|(end, _)| end);
    let within = |part: &str, whole: &str| {
        start(part).is_some_and(|end| part.get(..end).is_some_and(|s| whole.contains(s)))
    };
    match common {
        // "Abholzung" and "Abholzungsrate"; of a long word five letters are little.
        5.. if common * 2 >= long => 1.0,
        5.. => 0.7,
        4 => 0.8,
        3 if short == 3 && long <= 5 => 0.5,
        _ if short >= 5 && (x.contains(y) || y.contains(x)) => 0.5,
        _ if within(x, y) || within(y, x) => 0.5,
        _ => 0.0,
    }
}

/// What a question asks with.
struct Question<'q> {
    /// Its words, each once.
    words: Vec<Token<'q>>,
    /// Which of them are content words.
    content: Vec<bool>,
    kind: Kind,
    /// The noun that is asked for: which NOUN, how many NOUN.
    noun: Option<String>,
    wants_name: bool,
    asks_term: bool,
}

impl<'q> Question<'q> {
    fn read(text: &'q str, language: Language) -> Self {
        let all = tokens(text);
        let kind = language.kind(text);
        let noun = noun_asked_for(&all, language);
        let any = |test: fn(&str) -> bool| all.iter().any(|token| test(&token.lower));
        let wants_name = kind == Kind::Who || (kind == Kind::What && any(words::is_named_noun));
        let asks_term = any(words::asks_name);
        let mut words: Vec<Token<'q>> = Vec::new();
        for token in all {
            if !words.iter().any(|known| known.form == token.form) {
                words.push(token);
            }
        }
        let content = words.iter().map(|word| !language.is_stop(&word.lower)).collect();
        Self { words, content, kind, noun, wants_name, asks_term }
    }

    fn content_words(&self) -> impl Iterator<Item = &Token<'q>> {
        self.words.iter().zip(&self.content).filter(|(_, content)| **content).map(|(word, _)| word)
    }
}

fn noun_asked_for(all: &[Token<'_>], language: Language) -> Option<String> {
    let at = all.iter().position(|token| Language::asks_for_noun(&token.lower))?;
    for token in all.iter().skip(at + 1).take(3) {
        match language {
            Language::English if language.is_stop(&token.lower) => return None,
            // "Wie viel höher": what is counted is no noun.
            Language::German if is_comparative(all.get(at), &token.lower) => return Some(token.form.clone()),
            Language::German if !token.text.starts_with(char::is_uppercase) => {}
            _ => return Some(token.form.clone()),
        }
    }
    None
}

/// A comparative right behind "viel".
fn is_comparative(before: Option<&Token<'_>>, lower: &str) -> bool {
    before.is_some_and(|before| before.lower == "viel") && lower.len() > 4 && lower.ends_with("er")
}

/// Features of each passage.
pub(super) fn features(question: &str, passages: &[&str], language: Language) -> Vec<Features> {
    let asked = Question::read(question, language);
    let texts: Vec<Vec<Token<'_>>> = passages.iter().map(|passage| tokens(passage)).collect();
    let has: Vec<Vec<f64>> = texts.iter().map(|text| matched(&asked, text)).collect();
    let count = passages.len();
    let weights: Vec<f64> = (0..asked.words.len())
        .map(|word| {
            let sum: f64 = has.iter().filter_map(|row| row.get(word)).sum();
            ((count + 1) as f64 / sum.max(1.0)).ln()
        })
        .collect();
    let weigh = |row: &dyn Fn(usize) -> f64, content_only: bool| -> f64 {
        let words = weights.iter().zip(&asked.content).enumerate();
        words.filter(|(_, (_, content))| !content_only || **content).map(|(at, (w, _))| w * row(at)).sum()
    };
    let or_one = |total: f64| if total == 0.0 { 1.0 } else { total };
    let total = or_one(weigh(&|_| 1.0, false));
    let content_total = or_one(weigh(&|_| 1.0, true));
    let value = |passage: Option<usize>, word: usize| -> f64 {
        passage.and_then(|at| has.get(at)).and_then(|row| row.get(word)).copied().unwrap_or_default()
    };
    let covered: Vec<f64> = (0..count).map(|at| weigh(&|word| value(Some(at), word), false)).collect();
    // The best and the next best: what is best among the others of each.
    let first =
        (0..count).max_by(|&a, &b| covered.get(a).partial_cmp(&covered.get(b)).unwrap_or(Ordering::Equal));
    let best_but = |left_out: Option<usize>| {
        let others = covered.iter().enumerate().filter(|(at, _)| Some(*at) != left_out);
        others.map(|(_, c)| *c).fold(0.0, f64::max)
    };
    let (best, next) = (best_but(None), best_but(first));
    let joined = |before: usize| match (passages.get(before), passages.get(before + 1)) {
        (Some(before), Some(after)) => words::are_joined(before, after),
        _ => false,
    };
    (0..count)
        .map(|at| {
            let own = covered.get(at).copied().unwrap_or_default();
            let others = if first == Some(at) { next } else { best };
            let before = at.checked_sub(1);
            let cut_before = before.filter(|&before| joined(before));
            let cut_behind = Some(at + 1).filter(|_| joined(at));
            let only_in =
                |other: Option<usize>, word: usize| (value(other, word) - value(Some(at), word)).max(0.0);
            let text = texts.get(at).map(Vec::as_slice).unwrap_or_default();
            let passage = passages.get(at).copied().unwrap_or_default();
            let taken_up = texts.get(at + 1).is_some_and(|next| takes_up(&asked, next, language));
            let behind = covered.get(at + 1).copied().unwrap_or_default();
            Features {
                content: weigh(&|word| value(Some(at), word), true) / content_total,
                covered: own,
                covered_share: own / total,
                lead: ((own - others) / total).max(0.0),
                sentence_before: weigh(&|word| only_in(before, word), true) / content_total,
                cut_off_part: weigh(&|word| only_in(cut_before, word).max(only_in(cut_behind, word)), true)
                    / content_total,
                taken_up: if taken_up { behind / total } else { 0.0 },
                position: at as f64 / count as f64,
                ..answer(&asked, text, passage, language)
            }
        })
        .collect()
}

/// How far a passage has each word of the question. A function word is there or not.
fn matched(asked: &Question<'_>, text: &[Token<'_>]) -> Vec<f64> {
    let words = asked.words.iter().zip(&asked.content);
    words
        .map(|(word, content)| {
            let best = text.iter().map(|token| likeness(&word.form, &token.form)).fold(0.0, f64::max);
            if best >= 1.0 || *content { best } else { 0.0 }
        })
        .collect()
}

/// A passage begins with the noun asked for and an article, or says "this" of it: the answer stands before it.
fn takes_up(asked: &Question<'_>, text: &[Token<'_>], language: Language) -> bool {
    let Some(noun) = &asked.noun else { return false };
    text.iter().enumerate().any(|(at, token)| {
        let points = language.is_pointer(&token.lower) || (at == 0 && language.is_article(&token.lower));
        points && text.iter().skip(at + 1).take(2).any(|next| likeness(noun, &next.form) >= 0.6)
    })
}

/// What a passage has of the kind of answer that is asked for.
fn answer(asked: &Question<'_>, text: &[Token<'_>], passage: &str, language: Language) -> Features {
    let is_new = |token: &Token<'_>| {
        !language.is_stop(&token.lower)
            && !asked.words.iter().any(|word| word.form == token.form)
            && !asked.content_words().any(|word| likeness(&word.form, &token.form) >= 0.8)
    };
    let new: Vec<(usize, &Token<'_>)> = text.iter().enumerate().filter(|(_, token)| is_new(token)).collect();
    let is_digit = |token: &Token<'_>| token.text.starts_with(char::is_numeric);
    let numbers: Vec<usize> = new
        .iter()
        .filter(|(_, token)| is_digit(token) || words::is_number_word(&token.lower))
        .map(|(at, _)| *at)
        .collect();
    let lower = passage.to_lowercase();
    let flag = |holds: bool| if holds { 1.0 } else { 0.0 };
    let beside = |at: usize, noun: &str| {
        text.iter().take(at + 4).skip(at.saturating_sub(3)).any(|token| likeness(noun, &token.form) >= 0.6)
    };
    let mut found = Features::default();
    match asked.kind {
        Kind::When => {
            found.date =
                flag(new.iter().any(|(_, token)| is_year(token.text) || words::is_month(&token.lower)));
        }
        Kind::Number => {
            let money = |at: usize| {
                let near = text.iter().take(at + 4).skip(at.saturating_sub(2));
                passage.contains(['$', '€', '£', '¥'])
                    || near.into_iter().any(|token| words::is_currency(&token.lower))
            };
            let counted = |noun: &String| match words::is_money(noun) {
                true => numbers.iter().any(|&at| money(at)),
                false => numbers.iter().any(|&at| beside(at, noun)),
            };
            found.counted = flag(asked.noun.as_ref().is_some_and(counted));
            found.no_number = flag(numbers.is_empty() && !words::says_few(&lower));
        }
        Kind::Where => found.place = flag(words::says_place(passage)),
        Kind::Why => found.cause = flag(words::says_cause(&lower)),
        Kind::Who | Kind::What => {}
    }
    if asked.wants_name {
        let names = new.iter().filter(|(at, token)| is_name(text, *at, token, language)).count();
        found.names = names.min(2) as f64 / 2.0;
    }
    if asked.asks_term {
        let quoted = passage.contains(['„', '“', '"', '(', '\'']);
        found.naming = flag(quoted || text.iter().any(|token| words::says_name(&token.lower)));
    }
    found
}

/// A capital that is no first word; in German, where nouns are capitals, one beside another or behind a preposition.
fn is_name(text: &[Token<'_>], at: usize, token: &Token<'_>, language: Language) -> bool {
    let capital = |token: &Token<'_>| token.text.starts_with(char::is_uppercase);
    if at == 0 || !capital(token) || token.text.chars().count() < 2 {
        return false;
    }
    let (before, after) = (text.get(at - 1), text.get(at + 1));
    language != Language::German
        || (at > 1 && before.is_some_and(capital))
        || after.is_some_and(capital)
        || before.is_some_and(|before| words::leads_to_name(&before.lower))
}

/// Four digits from 1000 to 2099.
fn is_year(text: &str) -> bool {
    text.len() == 4 && text.parse::<u32>().is_ok_and(|year| (1000..2100).contains(&year))
}
