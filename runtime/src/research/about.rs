//! Which passages speak of what was asked. One that only shares a word with the question is no evidence: "who is the
//! president of the US" is not answered by a page on Russia's.

use super::age::{LifeQuestion, asks_of_life};
use super::answer::{holds_kind, incumbent, is_definition};
use super::query::focus;
use super::terms::{self, Term};
use super::{Source, Terms, Tongue, Vocabulary};

/// Share of the weight of the question's terms that a passage, its title and the page's first prose hold at least, where
/// the question names nothing that they must hold.
const SHARE: f64 = 0.4;

/// Offices and what is asked of countries, in both languages: one word answers another. Begins of words.
const OFFICES: &[&[&str]] = &[
    &["bundeskanzler", "kanzler", "chancellor"],
    &["präsident", "staatspräsident", "president", "presidency"],
    &["premierminister", "ministerpräsident", "premier", "prime"],
    &["könig", "king", "queen", "monarch"],
    &["bürgermeister", "oberbürgermeister", "mayor"],
    &["papst", "pope"],
    &["hauptstadt", "hauptstädte", "capital"],
    &["währung", "currency"],
];

fn office(word: &str) -> Option<usize> {
    OFFICES.iter().position(|words| words.iter().any(|begin| word.starts_with(begin)))
}

/// The words of a source: of its title, of its page's first prose, of each passage.
type Read = (Vec<usize>, Vec<usize>, Vec<Vec<usize>>);

/// Marks passages off topic that do not speak of what the question names: its names, its countries, the office that
/// it asks for. Where a page is titled as what is to be explained, other pages are off topic.
pub(super) fn keep_about(question: &str, tongue: Tongue, sources: &mut [Source]) {
    let mut vocabulary = Vocabulary::default();
    let mut read = |text: &str| vocabulary.read(text, tongue);
    let texts: Vec<Read> = sources
        .iter()
        .map(|source| {
            let passages = source.passages.iter().map(|passage| read(&passage.text)).collect();
            (read(&source.title), read(&source.lead), passages)
        })
        .collect();
    let all: Vec<Vec<usize>> = texts.iter().flat_map(|(.., passages)| passages.iter().cloned()).collect();
    let query = focus(question);
    let terms = Terms::new(question, tongue, &vocabulary, &all);
    if terms.is_empty() {
        return;
    }
    let names: Vec<Term> = names_of(question, tongue);
    let asked = terms::read_words(&query);
    let countries: Vec<usize> = asked.iter().filter_map(|word| Term::new(word, tongue).family()).collect();
    let offices: Vec<usize> = asked.iter().filter_map(|word| office(word)).collect();
    let subjects: Vec<Term> =
        asked.iter().filter(|word| !terms::is_shell(word)).map(|word| Term::new(word, tongue)).collect();
    let titled: Vec<bool> = texts
        .iter()
        .zip(sources.iter())
        .map(|((title, ..), source)| !source.unread && holds(&vocabulary, title, &subjects))
        .collect();
    let explains = is_definition(question) && titled.contains(&true);
    for ((source, titled), (title, lead, passages)) in sources.iter_mut().zip(titled).zip(&texts) {
        for (passage, own) in source.passages.iter_mut().zip(passages) {
            let around: Vec<usize> = own.iter().chain(title).chain(lead).copied().collect();
            let words = || around.iter().filter_map(|word| vocabulary.term(*word));
            let (all, has) = terms.without_attributes(&around);
            let held = names_held(&vocabulary, &around, &names)
                && countries.iter().all(|country| words().any(|word| word.family() == Some(*country)))
                && (offices.iter().all(|asked| words().any(|word| office(&word.lower) == Some(*asked)))
                    || incumbent(&passage.text).is_some())
                && (!names.is_empty() || has >= SHARE * all);
            passage.on_topic &= held && (titled || !explains);
        }
    }
}

/// Whether a sentence can be quoted as an answer: it asks nothing, holds a figure of the kind that is asked for, and
/// where an office of a country is asked for, both.
pub(crate) fn can_answer(question: &str, sentence: &str, tongue: Tongue) -> bool {
    if sentence.trim_end_matches(['"', '”', '“', '’', ')', ' ']).ends_with('?') {
        return false;
    }
    if !holds_kind(question, sentence) || !speaks_of_life(question, sentence) {
        return false;
    }
    if incumbent(sentence).is_some() {
        return true;
    }
    let words = terms::read_words(sentence);
    let asked = terms::read_words(&focus(question));
    let families = |words: &[String]| -> Vec<usize> {
        words.iter().filter_map(|word| Term::new(word, tongue).family()).collect()
    };
    let (countries, said) = (families(&asked), families(&words));
    let offices: Vec<usize> = asked.iter().filter_map(|word| office(word)).collect();
    let both = offices.iter().all(|asked| words.iter().any(|word| office(word) == Some(*asked)))
        && countries.iter().all(|country| said.contains(country));
    both || offices.is_empty() || countries.is_empty()
}

/// Whether a sentence says something of the age, the birth or the death that a question asks for; true for other
/// questions. A year alone may be that of a book.
pub(super) fn speaks_of_life(question: &str, sentence: &str) -> bool {
    const BEGUN: &[&str] = &[
        "born",
        "geboren",
        "geb",
        "geburt",
        "birth",
        "welt",
        "gebaut",
        "erbaut",
        "built",
        "finished",
        "opened",
        "eröffnet",
        "founded",
        "gegründet",
        "fertiggestellt",
        "seit",
        "since",
    ];
    const AGED: &[&str] = &["old", "alt", "aged", "age", "alter", "jährig"];
    const ENDED: &[&str] =
        &["died", "dies", "dead", "death", "starb", "gestorben", "tod", "verstorben", "tot"];
    let Some((asked, _)) = asks_of_life(question) else { return true };
    let words = terms::words(sentence);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    match asked {
        LifeQuestion::Age => has(AGED) || has(BEGUN) || sentence.contains('*'),
        LifeQuestion::Birth => has(BEGUN) || sentence.contains('*'),
        LifeQuestion::Death => has(ENDED) || sentence.contains('†') || sentence.contains('–'),
    }
}

/// What a question names: an office is no name, also where no article stands in front of it.
pub(super) fn names_of(question: &str, tongue: Tongue) -> Vec<Term> {
    let required = terms::required(question, tongue);
    required.iter().filter(|word| office(word).is_none()).map(|word| Term::new(word, tongue)).collect()
}

/// Whether a sentence says of something else what the question asks of a name: "the CEO of AMD", where that of Nvidia is
/// asked for.
pub(crate) fn of_another(question: &str, sentence: &str, tongue: Tongue) -> bool {
    let asked = roles(question);
    let Some((role, name)) = asked.first() else { return false };
    let term = |word: &str| Term::new(&word.to_lowercase(), tongue);
    let (role, name) = (term(role), term(name));
    let others = roles(sentence);
    let same_role: Vec<_> = others.iter().filter(|(other, _)| terms::related(&role, &term(other))).collect();
    !same_role.is_empty()
        && same_role
            .iter()
            .all(|(_, of)| of.starts_with(char::is_uppercase) && !terms::related(&name, &term(of)))
        && !terms::words(sentence).iter().any(|word| terms::related(&name, &term(word)))
}

/// Words with the name that stands behind "of": ("CEO", "Nvidia").
fn roles(text: &str) -> Vec<(&str, &str)> {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_of = |word: &str| matches!(word.to_lowercase().as_str(), "of" | "von" | "vom" | "bei" | "at");
    let is_article =
        |word: &str| matches!(word.to_lowercase().as_str(), "the" | "der" | "dem" | "den" | "des");
    let mut out = Vec::new();
    for (at, word) in words.iter().enumerate().skip(1) {
        if is_of(word)
            && let (Some(role), Some(next)) = (words.get(at - 1), words.get(at + 1))
        {
            let name = if is_article(next) { words.get(at + 2) } else { Some(next) };
            out.extend(name.map(|name| (*role, *name)));
        }
    }
    out
}

/// Whether a text holds each name.
pub(super) fn names_held(vocabulary: &Vocabulary, text: &[usize], names: &[Term]) -> bool {
    names.iter().all(|name| {
        text.iter().any(|word| vocabulary.term(*word).is_some_and(|word| terms::same_name(name, word)))
    })
}

/// Whether a text holds a form of each term.
fn holds(vocabulary: &Vocabulary, text: &[usize], terms: &[Term]) -> bool {
    terms.iter().all(|term| {
        text.iter().any(|word| vocabulary.term(*word).is_some_and(|word| terms::related(term, word)))
    })
}

#[cfg(test)]
mod tests {
    use super::super::Passage;
    use super::*;

    /// Which of the sources' first passages are on topic.
    fn about(question: &str, tongue: Tongue, pages: &[(&str, &str)]) -> Vec<bool> {
        let mut sources: Vec<Source> = pages
            .iter()
            .map(|(title, text)| Source {
                title: (*title).to_owned(),
                passages: vec![Passage { text: (*text).to_owned(), on_topic: true }],
                ..Source::default()
            })
            .collect();
        keep_about(question, tongue, &mut sources);
        sources.iter().flat_map(|source| &source.passages).map(|passage| passage.on_topic).collect()
    }

    #[test]
    fn pages_on_another_country_office_or_name_are_off_topic() {
        let presidents = [
            (
                "President of Russia",
                "The President of Russia is the head of state. Incumbent: Vladimir Putin.",
            ),
            ("Emmanuel Macron", "Emmanuel Macron is the president of France."),
            ("White House", "The president of the United States lives in the White House."),
        ];
        for question in [
            "Who is the president of the US?",
            "Who is the president of the U.S.?",
            "who is president of the USA",
        ] {
            assert_eq!(about(question, Tongue::English, &presidents), [false, false, true], "{question}");
        }
        assert_eq!(
            about("Who is the American president?", Tongue::English, &presidents),
            [false, false, true]
        );
        let chefs = [
            ("OpenAI", "Das Unternehmen wurde 2015 gegründet; Chef ist Sam Altman."),
            ("NVIDIA im Porträt", "Chef ist seit der Gründung Jensen Huang."),
        ];
        assert_eq!(about("Wer ist der Chef von Nvidia?", Tongue::German, &chefs), [false, true]);
        let town =
            [("Stadt Tannbruck", "Bürgermeisterin: Hanne Vogt (seit 2021), davor amtierte Otto Reuss.")];
        assert_eq!(about("Wer ist Bürgermeister von Tannbruck?", Tongue::German, &town), [true]);
        assert_eq!(about("Wer ist der Chef von Zorbulon?", Tongue::German, &chefs), [false, false]);
        assert_eq!(about("wer ist der chef von zorbulon", Tongue::German, &chefs), [false, false]);
        let france = [("Frankreich", "Die Hauptstadt Frankreichs heißt Paris.")];
        assert_eq!(about("Bundeskanzler Frankreich", Tongue::German, &france), [false]);
        assert_eq!(about("Was ist die Hauptstadt von Frankreich?", Tongue::German, &france), [true]);
    }

    #[test]
    fn what_is_to_be_explained_is_explained_by_the_page_of_that_title() {
        let macron = [
            ("Emmanuel Macron", "Emmanuel Macron is a French politician."),
            ("Brigitte Macron", "She is the wife of the French president Emmanuel Macron."),
        ];
        assert_eq!(about("Who is Emmanuel Macron?", Tongue::English, &macron), [true, false]);
        assert_eq!(about("who is emmanuel macron", Tongue::English, &macron), [true, false]);
        assert_eq!(about("Who is the wife of Emmanuel Macron?", Tongue::English, &macron), [true, true]);
    }

    #[test]
    fn a_sentence_on_the_head_of_another_company_is_told_apart() {
        let of = |question, sentence| of_another(question, sentence, Tongue::English);
        let question = "Who is the CEO of Nvidia?";
        assert!(of(question, "Lisa Su is the CEO of AMD, and Lip-Bu Tan has led Intel."));
        assert!(!of(question, "Jensen Huang is the CEO of NVIDIA."));
        assert!(!of(question, "The CEO of the chip maker is Jensen Huang."));
        assert!(!of(question, "CEO: Jensen Huang (since 1993)."));
        assert!(!of("Who wrote Dune?", "Lisa Su is the CEO of AMD."));
        assert!(of_another(
            "Wer ist der Chef von Nvidia?",
            "Sam Altman ist Chef von OpenAI.",
            Tongue::German
        ));
    }

    #[test]
    fn what_is_said_in_other_words_stays() {
        let tokyo = [("Tokio", "Im Großraum leben mehr als 37 Millionen Menschen.")];
        assert_eq!(about("Wie viele Einwohner hat Tokio?", Tongue::German, &tokyo), [true]);
        let sky = [("Light and sky", "The sky is blue because air scatters short waves more.")];
        assert_eq!(about("Why is the sky blue?", Tongue::English, &sky), [true]);
        let dune = [("Der Wüstenplanet", "Dune ist ein Roman von Frank Herbert.")];
        assert_eq!(about("Wer hat Dune geschrieben?", Tongue::German, &dune), [true]);
        let iceland = [("Iceland", "Iceland has about 390,000 inhabitants, most of them in the south-west.")];
        assert_eq!(about("How many people live in Iceland?", Tongue::English, &iceland), [true]);
        let light =
            [("Lichtgeschwindigkeit", "Das Licht legt im Vakuum 299.792 Kilometer in der Sekunde zurück.")];
        assert_eq!(about("Wie schnell ist das Licht?", Tongue::German, &light), [true]);
        let mann = [("Bücherrunde", "Den Doktor Faustus hat Thomas Mann geschrieben.")];
        assert_eq!(about("Wer hat Faust geschrieben?", Tongue::German, &mann), [false]);
    }

    #[test]
    fn sentences_that_ask_or_lack_what_is_asked_for_are_not_quoted() {
        let en = |question, sentence| can_answer(question, sentence, Tongue::English);
        assert!(!en("How long is the bridge?", "How long is the bridge?"));
        assert!(!en("What is the population of Germany?", "The chancellor of Germany is 63 years old."));
        assert!(en("What is the population of Germany?", "Germany has 84 million inhabitants."));
        assert!(!en("Who is the king of Norway?", "Bergen was the seat of kings in the thirteenth century."));
        assert!(en("Who is the king of Norway?", "Harald V is the king of Norway."));
        assert!(en("Who is the king of Norway?", "Incumbent: Harald V (since 1991)."));
        assert!(en("Why is the sky blue?", "Air scatters short waves more."));
        assert!(!en("What is the population of Germany?", "Incumbent: Friedrich Merz (since 6 May 2025)."));
        assert!(!en("When was Franz Kafka born?", "The Metamorphosis was published in 1915."));
        assert!(en("When was Franz Kafka born?", "Franz Kafka was born in Prague in 1883."));
        assert!(!en("When was OpenAI founded?", "OpenAI is a company in San Francisco."));
    }
}
