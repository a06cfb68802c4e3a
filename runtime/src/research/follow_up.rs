//! Completes a follow-up from what the conversation is about: "und der von Frankreich?", "how old is he".

use std::sync::LazyLock;

use regex_automata::meta::Regex;

use super::compare::names;
use super::query::focus;
use super::{Tongue, terms, tongue};

/// What a conversation is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The person who was spoken of last.
    pub person: Option<String>,
    /// The office that was asked for last, without its place: `Bundeskanzler`.
    pub office: Option<String>,
    /// What was asked about last.
    pub topic: Option<String>,
}

fn pattern(source: &str) -> Option<Regex> {
    Regex::new(source).ok()
}

static CONTINUES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:(?:und|and|auch|also|nein|no|oh|aber|but|or|oder|then|dann|what about|how about|was ist mit|wie ist es mit|and what about)\b[\s,]*)+",
    )
});
static PRONOUN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:he|she|him|her|his|hers|er|ihn|ihm|sein|seine|seinen|seiner|seinem|ihr|ihre|ihren|ihrer|ihrem|sie)\b",
    )
});
static THING: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?i)\b(?:it|its|they|their|there|es|dort|davon|deren|dessen|da)\b"));
static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:(?:der|die|das|den|dem|the one|that)\s+)?(?:von|in|of|for|für|aus|im|from|bei)\s+(?:(?:der|die|das|den|dem|the)\s+)?([\p{L}][\p{L} .'’-]{1,40})$",
    )
});
static OFFICE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)^(?:[\p{L}]+\s)?(bundeskanzler\w*|kanzler\w*|\w*präsident\w*|\w*minister\w*|könig\w*|bürgermeister\w*|papst|chef\w*|hauptstadt|währung|einwohnerzahl|einwohner|bevölkerung",
        r"|chancellor|president|prime minister|king|queen|mayor|minister|capital|currency|population|ceo|governor|head of state|pope)\b(?:\s+(?:von|of|in|der|des|vom|from|for|hat)?\s*(.*))?$"
    ))
});

fn matched<'t>(regex: &LazyLock<Option<Regex>>, text: &'t str) -> Option<&'t str> {
    text.get(regex.as_ref()?.find(text)?.range())
}

fn group<'t>(regex: &LazyLock<Option<Regex>>, text: &'t str, at: usize) -> Option<&'t str> {
    let regex = regex.as_ref()?;
    let mut captures = regex.create_captures();
    regex.captures(text, &mut captures);
    text.get(captures.get_group(at)?.range())
}

impl Subject {
    /// What turns are about: messages of the user and the replies to them, oldest first.
    #[must_use]
    pub fn of<'t>(turns: impl IntoIterator<Item = (&'t str, &'t str)>) -> Self {
        let mut subject = Self::default();
        for (message, reply) in turns {
            let question = complete(message, &subject);
            let tongue = tongue(message).or_else(|| tongue_of(reply)).unwrap_or(Tongue::English);
            let query = focus(&question);
            if let Some(office) = group(&OFFICE, &query, 1) {
                subject.office = Some(office.to_owned());
            }
            // A name in the question is who it is about; else the one that the reply gives.
            let asked = people(&question, tongue);
            let told = people(reply.split("http").next().unwrap_or_default(), tongue);
            // Whoever asks who wrote it speaks of the writer from then on.
            let (first, second) = if asks_for_a_person(&question) { (told, asked) } else { (asked, told) };
            if let Some(person) = first.into_iter().next().or_else(|| second.into_iter().next()) {
                subject.person = Some(person);
            }
            if !terms::words(&query).iter().all(|word| terms::is_shell(word)) {
                subject.topic = Some(query);
            }
        }
        subject
    }
}

fn tongue_of(text: &str) -> Option<Tongue> {
    tongue(text)
}

/// Names that look like those of people: two words or more.
fn people(text: &str, tongue: Tongue) -> Vec<String> {
    let has_article =
        |name: &str| ["The ", "Der ", "Die ", "Das "].iter().any(|article| name.starts_with(article));
    names(text, tongue).into_iter().filter(|name| name.contains(' ') && !has_article(name)).collect()
}

/// Whether a question asks for somebody, and not what somebody is.
fn asks_for_a_person(question: &str) -> bool {
    let first = terms::words(question).into_iter().next().unwrap_or_default();
    matches!(first.as_str(), "who" | "wer") && !super::answer::is_definition(question)
}

/// A question with what the conversation tells of it: an office for a place, a name for a pronoun. One that is
/// complete stays as it is.
#[must_use]
pub fn complete(message: &str, subject: &Subject) -> String {
    let whole = message.trim();
    let continues = matched(&CONTINUES, whole).unwrap_or_default();
    let rest = whole.get(continues.len()..).unwrap_or_default().trim();
    let bare = rest.trim_end_matches(['?', '!', '.', ' ']);
    if let (Some(office), Some(place)) = (&subject.office, group(&PLACE, bare, 1)) {
        return format!("{office} {}", capitalised(place.trim()));
    }
    if let (Some(person), Some(pronoun)) = (&subject.person, matched(&PRONOUN, bare))
        && people(bare, Tongue::English).is_empty()
        && pronoun != "Sie"
    {
        return with_name(bare, person);
    }
    if let (Some(topic), Some(_)) = (&subject.topic, matched(&THING, bare))
        && bare.split_whitespace().count() <= 8
        && names(bare, Tongue::English).is_empty()
        && content(bare).len() <= 3
    {
        let content = content(bare);
        return if content.is_empty() { topic.clone() } else { format!("{topic} {}", content.join(" ")) };
    }
    if continues.is_empty() { whole.to_owned() } else { rest.to_owned() }
}

/// Words of a question that are no shell and no pronoun.
fn content(text: &str) -> Vec<&str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '-'))
        .filter(|word| !word.is_empty() && !terms::is_shell(&word.to_lowercase()))
        .filter(|word| {
            !matches!(
                word.to_lowercase().as_str(),
                "it" | "its" | "they" | "their" | "there" | "dort" | "davon" | "deren" | "dessen"
            )
        })
        .collect()
}

/// A name in place of the pronoun where the question goes on behind it; else the name and what is asked of it.
fn with_name(text: &str, person: &str) -> String {
    let lower = text.to_lowercase();
    if ["how ", "why ", "wie ", "warum ", "when ", "where ", "wann ", "wo "]
        .iter()
        .any(|ask| lower.starts_with(ask))
        && let Some(regex) = PRONOUN.as_ref()
        && let Some(found) = regex.find(text)
    {
        let (before, behind) =
            (text.get(..found.start()).unwrap_or_default(), text.get(found.end()..).unwrap_or_default());
        return format!("{before}{person}{behind}");
    }
    let pronouns = |word: &&str| matched(&PRONOUN, word).is_none_or(|found| found.len() < word.len());
    let content: Vec<&str> = content(text).into_iter().filter(pronouns).collect();
    format!("{person} {}", content.join(" ")).trim_end().to_owned()
}

/// Places are names, whatever the user typed.
fn capitalised(place: &str) -> String {
    let mut chars = place.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follow_ups_are_completed_from_the_conversation() {
        let chancellor = Subject::of([(
            "Wer ist der Bundeskanzler?",
            "Friedrich Merz ist Bundeskanzler. Quelle: https://a.example",
        )]);
        assert_eq!(chancellor.office.as_deref(), Some("Bundeskanzler"));
        assert_eq!(chancellor.person.as_deref(), Some("Friedrich Merz"));
        assert_eq!(complete("und der von Frankreich?", &chancellor), "Bundeskanzler Frankreich");
        assert_eq!(complete("Und wie alt ist er?", &chancellor), "wie alt ist Friedrich Merz");
        let president = Subject::of([(
            "Wer ist der Präsident von Frankreich?",
            "Emmanuel Macron ist der Präsident von Frankreich.",
        )]);
        assert_eq!(complete("nein in russland", &president), "Präsident Russland");
        assert_eq!(complete("does he has a women?", &president), "Emmanuel Macron women");
        let prose =
            Subject::of([("Who is the president of France?", "The president of France is Emmanuel Macron.")]);
        assert_eq!(complete("how old is he", &prose), "how old is Emmanuel Macron");
        let tower = Subject::of([("What is the Eiffel Tower?", "A tower.")]);
        assert_eq!(complete("And how tall is it?", &tower), "Eiffel Tower tall");
    }

    #[test]
    fn complete_questions_stay_as_they_are() {
        let subject = Subject::of([("Who is the president of France?", "Emmanuel Macron.")]);
        for question in [
            "Who wrote Dune?",
            "What is the capital of Peru?",
            "und Elon Musk?",
            "Wer ist Elon Musk?",
            "1inch",
        ] {
            let expected = question.strip_prefix("und ").unwrap_or(question);
            assert_eq!(complete(question, &subject), expected);
        }
        assert_eq!(complete("how old is he", &Subject::default()), "how old is he");
    }
}
