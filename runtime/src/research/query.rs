//! From a question to what is typed into a search: shells off, nothing translated, nothing corrected.

use std::sync::LazyLock;

use regex_automata::meta::Regex;

/// Patterns of this file are literals; the test compiles each.
fn pattern(source: &str) -> Option<Regex> {
    Regex::new(source).ok()
}

macro_rules! patterns {
    ($($name:ident = $source:expr;)*) => {
        $(static $name: LazyLock<Option<Regex>> = LazyLock::new(|| pattern($source));)*
        #[cfg(test)]
        const ALL: &[&LazyLock<Option<Regex>>] = &[$(&$name),*];
    };
}

patterns! {
    GREETING = r"(?i)^(?:(?:hi+|hello+|hey+|hallo+|moin|servus|gude|howdy|yo|good (?:morning|afternoon|evening)|guten (?:morgen|tag|abend)|grüß dich|grüezi|danke|thanks|thank you|ok|okay)(?:\b(?: (?:there|zusammen|all|again|dir))?)[\s,!.:–-]+)+";
    POLITE = r"(?i)^(?:(?:please|bitte|briefly|kurz|schnell|quick question|eine frage|sag mal|tell me|sag mir|can you|could you|would you|kannst du|könntest du|würdest du|do you know|weißt du|ich möchte wissen|ich will wissen|i want to know|i(?:'| woul)d like to know|know if|no of|know of|tell|mir|uns|me|us|bitte|mal|sagen|please|eigentlich)\b[\s,:]*)+";
    POLITE_BEHIND = r"(?i)[\s,]+(?:please|bitte|thanks|danke|kurz)[\s.!?]*$";
    EXPLAIN = r"(?i)^(?:(?:explain|describe|define|erklär\w*|beschreib\w*|look up|find out|search(?: for)?|google|such\w*(?: nach)?|schau nach|finde heraus|tell me about|erzähl\w* (?:mir |uns )?(?:etwas |was )?(?:über|von)|news about|was (?:weißt|wissen) (?:du|wir) über|what do (?:you|we) know about)\b[\s,]*(?:(?:mir|uns|to me|me|us|bitte|kurz|briefly|mal|genau|einfach)\b[\s,]*)*)";
    VERB_LAST = r"(?i)^(?:was|wer|what|who|wie|how)\s+(?:der |die |das |the |an? |ein(?:e)? )?(.+?)\s+(?:ist|sind|war|bedeutet|heißt|is|are|means)$";
    REASON = r"(?i)^(?:why|how|warum|wieso|weshalb|wie)\b";
    PRICE = r"(?i)^(?:how much (?:is|are|does|do|did)|wie ?viel (?:kostet|kosten|kostete|ist)|was (?:kostet|kosten|kostete)|what (?:does|do))\s+(?:the |an? |der |die |das |ein(?:e|en)? )?(.+?)(?:\s+cost)?$";
    COSTS = r"(?i)^(?:how much (?:is|are|does|do|did)|wie ?viel (?:kostet|kosten|kostete|ist)|was (?:kostet|kosten|kostete)|what (?:does|do) .+ cost$)";
    COUNT = r"(?i)^(?:how many|how much|wie ?viele?)\s+";
    ASK = r"(?i)^(?:(?:what|who|whom|whose|which|where|when|was|wer|wen|wem|wessen|wo|wann|welche[rsnm]?|woher|wohin)(?:['’]s)?\b\s*)(?:(?:is|are|was|were|did|does|do|has|have|had|will|would|can|ist|sind|war|waren|hat|haben|hatte|wird|wurde|wurden)\b\s*)?(?:(?:currently|aktuell|eigentlich|denn|gerade|derzeit|jetzt|nochmal|exactly|genau|right now)\b\s*)*(?:(?:the|an?|der|die|das|den|dem|ein|eine|einen)\b\s*)?";
    YES_NO = r"(?i)^(?:is|are|was|were|did|does|do|has|have|had|can|ist|sind|war|waren|hat|haben|hatte|ob|if|whether)\b\s*(?:(?:the|an?|der|die|das|ein|eine)\b\s*)?";
}

fn matched<'t>(regex: &LazyLock<Option<Regex>>, text: &'t str) -> Option<&'t str> {
    let found = regex.as_ref()?.find(text)?;
    text.get(found.range())
}

fn group<'t>(regex: &LazyLock<Option<Regex>>, text: &'t str) -> Option<&'t str> {
    let regex = regex.as_ref()?;
    let mut captures = regex.create_captures();
    regex.captures(text, &mut captures);
    text.get(captures.get_group(1)?.range())
}

/// Without a begin, unless nothing would be left.
fn without<'t>(regex: &LazyLock<Option<Regex>>, text: &'t str) -> &'t str {
    let rest = matched(regex, text).and_then(|begin| text.strip_prefix(begin)).unwrap_or(text).trim_start();
    if rest.is_empty() { text } else { rest }
}

/// Characters that a focused query has at least; with fewer the question stays as it is (reference: 2).
const SHORTEST: usize = 2;

/// What a question is searched as: "What is the capital of France?" as "capital of France". "Why is the sky blue"
/// keeps its words, since "sky blue" is a colour. No word is changed.
#[must_use]
pub fn focus(question: &str) -> String {
    let whole = trimmed(question);
    let greeted = without(&GREETING, whole);
    let mut text = without(&EXPLAIN, greeted);
    let asked_to_explain = text.len() < greeted.len();
    text = without(&POLITE, text);
    if let Some(behind) = matched(&POLITE_BEHIND, text) {
        text = text.strip_suffix(behind).unwrap_or(text);
    }
    let explained = without(&EXPLAIN, text);
    let unwrapped = asked_to_explain || explained.len() < text.len();
    text = trimmed(explained);
    // Only behind a wrapper or a comma does the verb stand last.
    if let Some(inner) = group(&VERB_LAST, text)
        && (unwrapped || text.len() < whole.len())
    {
        return kept(inner, whole);
    }
    if matched(&COSTS, text).is_some()
        && let Some(inner) = group(&PRICE, text)
    {
        return kept(inner, whole);
    }
    if let Some(counts) = matched(&COUNT, text) {
        return kept(text.strip_prefix(counts).unwrap_or(text), whole);
    }
    if matched(&REASON, text).is_some() {
        return kept(text, whole);
    }
    let stripped = without(&ASK, text);
    let stripped = if stripped.len() == text.len() { without(&YES_NO, text) } else { stripped };
    kept(stripped, whole)
}

fn trimmed(text: &str) -> &str {
    text.trim()
        .trim_end_matches(['?', '!', '.', '？', '！', ' ', ',', ':'])
        .trim_start_matches(['¿', ' ', '"', '„'])
}

fn kept(text: &str, whole: &str) -> String {
    let text = trimmed(text);
    let short = text.chars().count() < SHORTEST;
    let text = if short { whole } else { text };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for regex in ALL {
            assert!(regex.is_some());
        }
    }

    #[test]
    fn shells_are_stripped_and_no_word_is_changed() {
        for (question, query) in [
            ("What is the capital of France?", "capital of France"),
            ("Wer ist der Bundeskanzler?", "Bundeskanzler"),
            ("Hallo, wer hat Dune geschrieben?", "Dune geschrieben"),
            ("why is the sky blue", "why is the sky blue"),
            ("Warum ist der Himmel blau?", "Warum ist der Himmel blau"),
            ("How does a fridge work?", "How does a fridge work"),
            ("Wie alt wurde Hitler?", "Wie alt wurde Hitler"),
            ("Erklär mir kurz, was Photosynthese ist", "Photosynthese"),
            ("Explain what osmosis is", "osmosis"),
            ("Weißt du, wer Banksy ist?", "Banksy"),
            ("How much is a Big Mac in Japan?", "Big Mac in Japan"),
            ("Was kostet ein Fahrrad bei Radwerk?", "Fahrrad bei Radwerk"),
            ("How much does the Lumen lamp cost?", "Lumen lamp"),
            ("How many people live in Tokyo?", "people live in Tokyo"),
            ("Wie viele Einwohner hat Island?", "Einwohner hat Island"),
            ("what is 1inch", "1inch"),
            ("1inch", "1inch"),
            ("eln musk", "eln musk"),
            ("Who wrote Dune?", "wrote Dune"),
            ("Who's the CEO of NVIDIA?", "CEO of NVIDIA"),
            ("Was ist los in Frankreich?", "los in Frankreich"),
            ("What is C?", "What is C"),
            ("?", ""),
            ("Tell me about Notion", "Notion"),
            ("Ist Merz verheiratet?", "Merz verheiratet"),
            ("wann starb Clara Schumann", "starb Clara Schumann"),
            ("Wer war Konrad Adenauer, bitte?", "Konrad Adenauer"),
        ] {
            assert_eq!(focus(question), query, "{question}");
        }
    }
}
