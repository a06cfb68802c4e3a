//! How old somebody is or was, when they were born and when they died: from the dates with which an article begins.

use std::sync::LazyLock;

use jiff::civil::Date;
use regex_automata::meta::Regex;

use super::{Source, Tongue, terms};

/// Characters of an article's begin in which the dates of a life stand.
const HEAD: usize = 320;

/// The dates of a life, as a source gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// Who.
    pub name: String,
    /// The day of birth.
    pub born: Date,
    /// As the source writes it.
    pub born_text: String,
    /// The day of death, and as the source writes it.
    pub died: Option<(Date, String)>,
    /// The source's address.
    pub url: String,
}

impl Life {
    /// Years from the day of birth to the day of death, else to `today`.
    #[must_use]
    pub fn age(&self, today: Date) -> i16 {
        let end = self.died.as_ref().map_or(today, |(day, _)| *day);
        let before = (end.month(), end.day()) < (self.born.month(), self.born.day());
        end.year() - self.born.year() - i16::from(before)
    }
}

fn pattern(source: &str) -> Option<Regex> {
    Regex::new(source).ok()
}

/// What a question asks of a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifeQuestion {
    /// How old somebody is, or became.
    Age,
    /// The day of birth.
    Birth,
    /// The day of death.
    Death,
}

static BIRTH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:when|wann|on which day|an welchem tag)\b.*\b(?:born|geboren)\b|\b(?:birthday|geburtstag|date of birth|geburtsdatum)\b",
    )
});
static DEATH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:when|wann|on which day|an welchem tag)\b.*\b(?:die|died|dies|starb|gestorben|verstorben)\b|\b(?:date of death|todestag|sterbedatum)\b",
    )
});
static AGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)^(?:how old|wie alt)\b|\b(?:age of|alter (?:von|des|der)|which age|what age|welchem alter)\b",
        r"|^[\p{L} .'’-]{3,60} (?:age|alter)$"
    ))
});
static ASKING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:how old|wie alt|age|alter|old|alt|years|jahre|die|died|get|become|geworden|starb|gestorben|verstorben|born|geboren|birthday|geburtstag|geburtsdatum|todestag|sterbedatum|date|death|birth|day|tag|when|wann|turn|turned|heute|today|now|jetzt|genau|exactly|wird|werden|what|which|welchem|at|in|did|was|wurde)\b",
    )
});
const MONTHS: [&[&str]; 12] = [
    &["january", "januar", "jänner", "jan"],
    &["february", "februar", "feb"],
    &["march", "märz", "mar"],
    &["april", "apr"],
    &["may", "mai"],
    &["june", "juni", "jun"],
    &["july", "juli", "jul"],
    &["august", "aug"],
    &["september", "sept", "sep"],
    &["october", "oktober", "oct", "okt"],
    &["november", "nov"],
    &["december", "dezember", "dec", "dez"],
];
static DAY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"(?i)\b(?:(\d{1,2})\.? (\p{L}{3,9})\.? (\d{4})|(\p{L}{3,9})\.? (\d{1,2}), (\d{4}))\b")
});

/// Days that a text writes out, with their places in it.
fn days(text: &str) -> Vec<(std::ops::Range<usize>, Date)> {
    let Some(regex) = DAY.as_ref() else { return Vec::new() };
    let mut out = Vec::new();
    let mut captures = regex.create_captures();
    let mut from = 0;
    while from <= text.len() {
        regex.captures(regex_automata::Input::new(text).range(from..), &mut captures);
        let Some(whole) = captures.get_match() else { break };
        from = whole.end().max(from + 1);
        let group = |at: usize| captures.get_group(at).and_then(|span| text.get(span.range()));
        let (day, month, year) = match (group(1), group(2), group(3)) {
            (Some(day), Some(month), Some(year)) => (day, month, year),
            _ => match (group(5), group(4), group(6)) {
                (Some(day), Some(month), Some(year)) => (day, month, year),
                _ => continue,
            },
        };
        let month = month.to_lowercase();
        let month = MONTHS.iter().position(|names| names.contains(&month.as_str()));
        let date = month.and_then(|month| {
            Date::new(year.parse().ok()?, i8::try_from(month + 1).ok()?, day.parse().ok()?).ok()
        });
        out.extend(date.map(|date| (whole.range(), date)));
    }
    out
}

/// Whose life a question asks about, and what of it; None where it asks something else.
#[must_use]
pub fn asks_of_life(question: &str) -> Option<(LifeQuestion, String)> {
    let question = question.trim().trim_end_matches(['?', '!', '.', ' ']);
    let kinds = [(LifeQuestion::Age, &AGE), (LifeQuestion::Birth, &BIRTH), (LifeQuestion::Death, &DEATH)];
    let is = |regex: &LazyLock<Option<Regex>>| regex.as_ref().is_some_and(|regex| regex.is_match(question));
    let (asked, _) = kinds.into_iter().find(|(_, regex)| is(regex))?;
    let mut rest = question.to_owned();
    let asking = ASKING.as_ref()?;
    while let Some(found) = asking.find(rest.as_str()) {
        rest.replace_range(found.range(), " ");
    }
    let name: Vec<&str> = rest
        .split_whitespace()
        .map(|word| word.trim_end_matches("'s").trim_end_matches("’s"))
        .filter(|word| !terms::is_shell(&word.to_lowercase()) && word.chars().any(char::is_alphabetic))
        .collect();
    // "How old is the universe?" has no article that begins with a day of birth.
    (!name.is_empty()).then(|| (asked, name.join(" ")))
}

/// The dates of the life that a question asks about: from an article that is titled by the name. None where
/// sources give different days.
#[must_use]
pub fn life(question: &str, tongue: Tongue, sources: &[Source]) -> Option<Life> {
    let (_, name) = asks_of_life(question)?;
    let asked: Vec<String> = terms::words(&name);
    let mut found: Option<Life> = None;
    for source in sources.iter().filter(|source| !source.unread) {
        let title = source.title.split([':', '–', '|', '(']).next().unwrap_or_default().trim();
        let titled = terms::words(title);
        // "Lovelace, Ada" is titled by the name, too; "Brigitte Macron" is not titled by "Emmanuel Macron".
        let is_person = asked.iter().all(|word| titled.iter().any(|known| same(known, word, tongue)))
            && titled.len() <= asked.len() + 2;
        if !is_person {
            continue;
        }
        let Some(life) = dates(&source.lead).map(|(born, died)| Life {
            name: spoken(title, &name),
            born: born.0,
            born_text: born.1,
            died,
            url: source.url.clone(),
        }) else {
            continue;
        };
        match &found {
            Some(known) if known.born != life.born => return None,
            Some(_) => {}
            None => found = Some(life),
        }
    }
    found
}

fn same(known: &str, asked: &str, tongue: Tongue) -> bool {
    known == asked || terms::is_related(known, asked, tongue)
}

/// A title as a name is spoken: "Lovelace, Ada" is Ada Lovelace; what has no name in it is as it was asked.
fn spoken(title: &str, asked: &str) -> String {
    match title.split_once(", ") {
        Some((last, first)) if !first.contains(' ') => format!("{first} {last}"),
        _ if title.is_empty() => asked.to_owned(),
        _ => title.to_owned(),
    }
}

type Day = (Date, String);

/// The day of birth at the begin of an article, and the day of death where it gives one.
fn dates(lead: &str) -> Option<(Day, Option<Day>)> {
    let end = lead.char_indices().nth(HEAD).map_or(lead.len(), |(at, _)| at);
    let head = lead.get(..end)?;
    let all = days(head);
    let as_day = |(span, date): &(std::ops::Range<usize>, Date)| {
        (*date, head.get(span.clone()).unwrap_or_default().to_owned())
    };
    let (first, day) = all.iter().enumerate().next()?;
    let before = head.get(..day.0.start).unwrap_or_default().to_lowercase();
    let said_to_be_birth = ["*", "born", "geboren", "geb."]
        .iter()
        .any(|mark| before.trim_end().ends_with(mark) || before.contains(mark));
    let next = all.get(first + 1);
    let between = next.and_then(|next| head.get(day.0.end..next.0.start)).map(str::to_lowercase);
    // "(10 December 1815 – 27 November 1852)", "* …; † …", "born …, died …".
    let is_death = between.as_deref().is_some_and(|between| {
        (between.chars().count() <= 3 && between.contains(['–', '-', '—']))
            || ["†", "died", "gestorben", "starb", "; –", "in london –"]
                .iter()
                .any(|mark| between.contains(mark))
            || between.trim_end().ends_with('–')
    });
    if !said_to_be_birth && !is_death {
        return None;
    }
    // Somebody of whom a death is told without its day has no age that could be worked out.
    let died = next.filter(|_| is_death).map(&as_day);
    if died.is_none() && head.contains('†') {
        return None;
    }
    Some((as_day(day), died))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(title: &str, lead: &str) -> Source {
        Source {
            title: title.to_owned(),
            lead: lead.to_owned(),
            url: "https://a.example/".to_owned(),
            ..Source::default()
        }
    }

    fn age(question: &str, sources: &[Source]) -> Option<(String, i16)> {
        let today = Date::constant(2026, 12, 1);
        life(question, Tongue::German, sources).map(|life| (life.name.clone(), life.age(today)))
    }

    #[test]
    fn ages_are_worked_out_from_the_begin_of_the_persons_article() {
        let merz = source(
            "Friedrich Merz",
            "Friedrich Merz (* 11. November 1955 in Brilon) ist ein deutscher Politiker.",
        );
        let macron =
            source("Emmanuel Macron", "Emmanuel Macron (born 21 December 1977) is a French politician.");
        let wife =
            source("Brigitte Macron", "Brigitte Macron, née Trogneux, was born in Amiens on 13 April 1953.");
        let lovelace = source(
            "Ada Lovelace",
            "Augusta Ada King, Countess of Lovelace (née Byron; 10 December 1815 – 27 November 1852), also known as Ada Lovelace, was an English mathematician.",
        );
        let hitler = source(
            "Adolf Hitler",
            "Adolf Hitler (* 20. April 1889 in Braunau am Inn; † 30. April 1945 in Berlin) war Diktator.",
        );
        for question in [
            "Wie alt ist Friedrich Merz?",
            "How old is Friedrich Merz",
            "Friedrich Merz age",
            "Friedrich Merz wie alt",
        ] {
            let found = age(question, std::slice::from_ref(&merz));
            let expected = (question != "Friedrich Merz wie alt").then(|| ("Friedrich Merz".to_owned(), 71));
            assert_eq!(found, expected, "{question}");
        }
        // The birthday of this year is still to come.
        let both = [wife, macron];
        assert_eq!(age("How old is Emmanuel Macron?", &both), Some(("Emmanuel Macron".to_owned(), 48)));
        assert_eq!(age("How old was Ada Lovelace?", &[lovelace]), Some(("Ada Lovelace".to_owned(), 36)));
        assert_eq!(age("Wie alt wurde Hitler?", &[hitler]), Some(("Adolf Hitler".to_owned(), 56)));
    }

    #[test]
    fn no_age_is_worked_out_of_what_is_not_said() {
        let other =
            source("Olaf Scholz", "Olaf Scholz (* 14. Juni 1958 in Osnabrück) ist ein deutscher Politiker.");
        assert_eq!(age("Wie alt ist Friedrich Merz?", std::slice::from_ref(&other)), None);
        let twice = [other, source("Olaf Scholz", "Olaf Scholz was born on 15 June 1958.")];
        assert_eq!(age("Wie alt ist Olaf Scholz?", &twice), None, "sources that differ");
        let elected = source("Olaf Scholz", "Olaf Scholz was elected on 8 December 2021.");
        assert_eq!(age("Wie alt ist Olaf Scholz?", &[elected]), None, "a day of something else");
        assert_eq!(asks_of_life("Wie alt ist das?"), None);
        assert_eq!(asks_of_life("Who is Olaf Scholz?"), None);
        assert_eq!(asks_of_life("When did the war begin?"), None);
    }

    #[test]
    fn what_is_asked_of_a_life_is_told_apart() {
        use LifeQuestion::{Age, Birth, Death};
        for (question, asked, name) in [
            ("Wann starb Ada Lovelace?", Death, "Ada Lovelace"),
            ("When did Ada Lovelace die?", Death, "Ada Lovelace"),
            ("When was Elon Musk born?", Birth, "Elon Musk"),
            ("Wann wurde Elon Musk geboren", Birth, "Elon Musk"),
            ("Wie alt wurde Hitler?", Age, "Hitler"),
            ("how old is Macron", Age, "Macron"),
        ] {
            assert_eq!(asks_of_life(question), Some((asked, name.to_owned())), "{question}");
        }
    }
}
