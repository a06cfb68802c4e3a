//! A short answer as a sentence, made of the question's own words: "Wer ist der Bundeskanzler?" and "Friedrich Merz" are
//! "Der Bundeskanzler ist Friedrich Merz." None for questions of another shape.

use std::sync::LazyLock;

use regex_automata::meta::Regex;

use super::Tongue;
use crate::figures::figures;

fn pattern(source: &str) -> Option<Regex> {
    Regex::new(source).ok()
}

/// How a question is shaped: an expression, and the sentence with its groups as `{1}` and the answer as `{a}`.
type Shapes = LazyLock<Vec<(Option<Regex>, &'static str)>>;

fn shapes(sources: &[(&str, &'static str)]) -> Vec<(Option<Regex>, &'static str)> {
    sources.iter().map(|(source, sentence)| (pattern(source), *sentence)).collect()
}

static GERMAN: Shapes = LazyLock::new(|| {
    shapes(&[
        (
            r"(?i)^wer (ist|war)(?: (aktuell|derzeit|zurzeit|momentan|heute|jetzt|gerade))? (.+)$",
            "{3} {1} {2} {a}",
        ),
        (r"(?i)^wer hat (.+) ((?:ge|er|ver|ent|be)\p{L}+)$", "{a} hat {1} {2}"),
        (r"(?i)^wie (?:heißt|heisst) (.+)$", "{1} heißt {a}"),
        (r"(?i)^wie ?viele (\p{L}+) (hat|hatte) (.+)$", "{3} {2} {a} {1}"),
        (r"(?i)^(?:was|wie ?viel) (kostet|kosten) (.+)$", "{2} {1} {a}"),
        (r"(?i)^was ist ((?:der|die|das) .+)$", "{1} ist {a}"),
        (r"(?i)^wie (hoch|lang|tief|breit|schwer|groß|weit|schnell) (ist|sind|war) (.+)$", "{3} {2} {a} {1}"),
        (r"(?i)^wann wurde (.+) ((?:ge|er|ver|ent|be)\p{L}+)$", "{1} wurde {a} {2}"),
    ])
});
static ENGLISH: Shapes = LazyLock::new(|| {
    shapes(&[
        (r"(?i)^who (is|was)(?: (currently|now))? (.+)$", "{3} {1} {2} {a}"),
        (r"(?i)^who(?:'s|’s) (.+)$", "{1} is {a}"),
        (
            r"(?i)^who (wrote|invented|founded|discovered|built|painted|directed|composed|created|designed|leads|led|runs|owns) (.+)$",
            "{a} {1} {2}",
        ),
        (r"(?i)^what(?:'s|’s| is) (the .+)$", "{1} is {a}"),
        (r"(?i)^how (tall|high|long|deep|wide|heavy|big|fast) (is|are|was) (.+)$", "{3} {2} {a} {1}"),
        (r"(?i)^how much (?:is|are) (.+)$", "{1} costs {a}"),
        (r"(?i)^how much (?:does|do) (.+) cost$", "{1} costs {a}"),
        (r"(?i)^how much (?:does|do) (.+) cost (in .+)$", "{1} costs {a} {2}"),
        (r"(?i)^how many (\p{L}+) (?:does|do) (.+) have$", "{2} has {a} {1}"),
        (
            r"(?i)^when was (.+) (born|built|founded|finished|opened|invented|discovered|written|published)$",
            "{1} was {2} {in} {a}",
        ),
    ])
});

/// The sentence, if the question has a known shape. It ends with a full stop.
#[must_use]
pub fn in_a_sentence(question: &str, answer: &str, tongue: Tongue) -> Option<String> {
    let question = question.trim().trim_end_matches(['?', '!', '.', ' ']);
    let shapes = if tongue == Tongue::German { &GERMAN } else { &ENGLISH };
    for (regex, sentence) in shapes.iter() {
        let Some(regex) = regex.as_ref() else { continue };
        let mut captures = regex.create_captures();
        regex.captures(question, &mut captures);
        if !captures.is_match() {
            continue;
        }
        let mut out = (*sentence).to_owned();
        for at in 1..=3 {
            let part = captures.get_group(at).and_then(|span| question.get(span.range())).unwrap_or_default();
            // "14 million people" says what is counted.
            let said = at == 1 && answer.to_lowercase().contains(&part.to_lowercase());
            let part = if said && sentence.contains("{a} {1}") { "" } else { part };
            let verb = part.to_lowercase();
            let is_verb = matches!(
                verb.as_str(),
                "ist" | "war" | "is" | "was" | "are" | "sind" | "hat" | "hatte" | "kostet" | "kosten"
            );
            out = out.replace(&format!("{{{at}}}"), if is_verb { &verb } else { part });
        }
        // A day has a number in front of its month, and a year alone has none.
        let day = figures(answer).len() > 1 || answer.contains(|c: char| c.is_alphabetic());
        out = out.replace("{in}", if day { "on" } else { "in" }).replace("{a}", answer);
        let joined = out.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut letters = joined.chars();
        let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
        let end = if joined.ends_with('.') { "" } else { "." };
        return Some(format!("{first}{}{end}", letters.as_str()));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_said_in_the_words_of_the_question() {
        let de = |question, answer| in_a_sentence(question, answer, Tongue::German);
        let en = |question, answer| in_a_sentence(question, answer, Tongue::English);
        for (found, expected) in [
            (de("Wer ist der Bundeskanzler?", "Friedrich Merz"), "Der Bundeskanzler ist Friedrich Merz."),
            (de("wer ist aktuell der Papst", "Leo XIV."), "Der Papst ist aktuell Leo XIV."),
            (de("Wer hat Dune geschrieben?", "Frank Herbert"), "Frank Herbert hat Dune geschrieben."),
            (de("Wie viele Einwohner hat Tokio?", "14 Millionen"), "Tokio hat 14 Millionen Einwohner."),
            (de("Was kostet ein Big Mac in Japan?", "480 Yen"), "Ein Big Mac in Japan kostet 480 Yen."),
            (de("Was ist die Hauptstadt von Peru?", "Lima"), "Die Hauptstadt von Peru ist Lima."),
            (de("Wie hoch ist der Eiffelturm?", "330 Meter"), "Der Eiffelturm ist 330 Meter hoch."),
            (de("Wann wurde der Eiffelturm eröffnet?", "1889"), "Der Eiffelturm wurde 1889 eröffnet."),
            (
                en("Who is the president of Russia?", "Vladimir Putin"),
                "The president of Russia is Vladimir Putin.",
            ),
            (en("who wrote Dune", "Frank Herbert"), "Frank Herbert wrote Dune."),
            (en("What's the capital of France?", "Paris"), "The capital of France is Paris."),
            (en("How tall is the Eiffel Tower?", "330 metres"), "The Eiffel Tower is 330 metres tall."),
            (en("How much does a Big Mac cost in Japan?", "480 yen"), "A Big Mac costs 480 yen in Japan."),
            (en("When was Elon Musk born?", "1971"), "Elon Musk was born in 1971."),
            (en("When was Elon Musk born?", "28 June 1971"), "Elon Musk was born on 28 June 1971."),
        ] {
            assert_eq!(found.as_deref(), Some(expected));
        }
        assert_eq!(de("Wohin fließt die Elbe?", "Nordsee"), None);
        assert_eq!(en("Is it true?", "Yes"), None);
    }
}
