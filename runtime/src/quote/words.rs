//! Words of both languages that tell what a question asks for and how a sentence answers.

use std::sync::LazyLock;

use regex_automata::meta::Regex;

/// The language of a question and its passages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// German: nouns are capitals.
    German,
    /// English, and every other.
    English,
}

/// What a question asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    When,
    Number,
    Who,
    Where,
    Why,
    What,
}

const STOP_DE: &str = "der die das den dem des ein eine einer eines einem einen und oder in im an am auf von vom zu zum \
    zur mit für bei aus nach über unter durch um als wie was wer wen wem wann wo warum wieso weshalb welche welcher \
    welches welchen welchem viele viel ist sind war waren wurde wurden werden wird hat haben hatte hatten sein seine \
    seiner ihr ihre es er sie sich nicht auch dass gab gibt man so noch nur mehr zwischen vor woher wohin wofür womit \
    wodurch woran worauf wonach wessen";
const STOP_EN: &str = "the a an of in on at to for from by with and or is are was were be been being did do does has \
    have had what which who whom whose when where why how many much that this these those it its he she they his her \
    their as into than not no if there can could would will should may might about";
const MONTHS: &str = "januar februar märz april mai juni juli august september oktober november dezember january \
    february march may june july october december";
const NUMBERS: &str = "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend million millionen \
    milliarde milliarden hälfte drittel einmal zweimal dreimal two three four five six seven eight nine ten eleven \
    twelve hundred thousand billion dozen half third quarter once twice";
const POINTERS_DE: &str = "dies diese dieser dieses diesen diesem solche solcher solches solchen";
const POINTERS_EN: &str = "this these that those such";
const NAMED_NOUNS: &str = "person people man woman player artist singer actor actress author writer poet composer painter architect engineer \
    inventor scientist researcher physicist chemist biologist geologist mathematician philosopher historian economist \
    explorer leader member president king queen emperor pope bishop general commander minister politician governor mayor \
    chairman director coach captain doctor teacher student company firm band group party organization organisation \
    institution agency network channel newspaper magazine museum university school college church team club city town \
    village country nation state province region district county island continent ocean sea river lake mountain planet \
    mensch mann frau spieler spielerin künstler künstlerin sänger sängerin schauspieler schauspielerin autor autorin \
    schriftsteller dichter komponist maler architekt ingenieur erfinder wissenschaftler forscher forscherin physiker \
    chemiker biologe geologe mathematiker philosoph historiker ökonom entdecker anführer mitglied präsident kanzler \
    könig königin kaiser papst bischof minister politiker bürgermeister direktor trainer kapitän arzt lehrer firma \
    unternehmen gruppe partei organisation institution behörde sender zeitung universität hochschule schule kirche \
    mannschaft verein stadt dorf land staat provinz region bezirk insel kontinent ozean meer gewässer fluss see berg planet";
const ASKS_NAME: &str = "name names named called known term title titled heißt hieß heißen genannt bezeichnet \
    bezeichnung namen namens bekannt begriff";
const SAYS_NAME: &str =
    "name names named called known term as heißt heißen genannt bezeichnet bezeichnung namen namens bekannt";

fn holds(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// A list as a sorted table: stop words are asked for at every word.
fn table(list: &'static str) -> Vec<&'static str> {
    let mut words: Vec<&str> = list.split_ascii_whitespace().collect();
    words.sort_unstable();
    words
}

static STOP: LazyLock<[Vec<&str>; 2]> = LazyLock::new(|| [table(STOP_DE), table(STOP_EN)]);

/// Patterns of this file are literals; the test compiles each.
fn pattern(source: &str) -> Option<Regex> {
    Regex::new(source).ok()
}

fn matches(regex: &LazyLock<Option<Regex>>, text: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

type Kinds = [(Kind, Option<Regex>); 5];

/// What a question asks for, by the first pattern that it matches; German, then English.
static KINDS: LazyLock<[Kinds; 2]> = LazyLock::new(|| {
    let german = [
        r"\bwann\b|\bwelche\w* (jahr|jahren|jahrhundert|monat|datum|tag)",
        concat!(
            r"\bwie ?viele?\b|\bwie (hoch|lang|lange|groß|alt|weit|schwer|oft|tief|breit|schnell)\b",
            r"|prozentsatz|anteil|welche\w* (zahl|anzahl|summe|menge)"
        ),
        r"\b(wer|wen|wem|wessen)\b",
        r"\b(wo|woher|wohin)\b",
        r"\b(warum|weshalb|wieso|aus welchem grund)\b",
    ];
    let english = [
        r"\bwhen\b|\b(what|which) (year|date|day|month|century|decade)s?\b",
        concat!(
            r"\bhow (many|much|long|old|tall|far|high|large|big|often|fast|deep|wide)",
            r"|what (percentage|percent|number|fraction|amount)|how \w+ (is|was|are)|population|estimate"
        ),
        r"\b(who|whom|whose)\b",
        r"\bwhere\b",
        r"\bwhy\b",
    ];
    [german, english].map(|[when, number, who, place, why]| {
        let kinds = [
            (Kind::When, when),
            (Kind::Number, number),
            (Kind::Who, who),
            (Kind::Where, place),
            (Kind::Why, why),
        ];
        kinds.map(|(kind, source)| (kind, pattern(source)))
    })
});
static CAUSE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(because|due to|since|so that|in order to|as a result|to \w+",
        r"|weil|wegen|aufgrund|damit|deshalb|dadurch|denn|da|um|sodass)\b"
    ))
});
static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(in|at|near|from|to|nach|aus|bei|auf|of|im|between|zwischen|within|innerhalb|nördlich|südlich) ",
        r"(the |der |den |dem |des )?[A-ZÄÖÜ]"
    ))
});
static FEW: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"\b(one|no|none|half|over|most|majority|ein\w*|kein\w*|mehrheit)\b"));
static SHORT_IN_FRONT: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"(\d|\b\w{1,3})\.$"));
static INITIAL_IN_FRONT: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"\b[A-ZÄÖÜ]\.$"));
static ORDINAL_IN_FRONT: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"\b\d{1,2}\.$"));

impl Language {
    /// The one whose function words occur more often.
    pub(super) fn of(question: &str, passages: &[&str]) -> Self {
        let mut counts = [0_usize; 2];
        for word in std::iter::once(&question).chain(passages).flat_map(|text| text.split_whitespace()) {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            for (count, stop) in counts.iter_mut().zip(STOP.iter()) {
                *count += usize::from(stop.binary_search(&word.as_str()).is_ok());
            }
        }
        if counts[0] > counts[1] { Self::German } else { Self::English }
    }

    pub(super) fn is_stop(self, lower: &str) -> bool {
        let [german, english] = &*STOP;
        let stop = if self == Self::German { german } else { english };
        stop.binary_search(&lower).is_ok()
    }

    pub(super) fn kind(self, question: &str) -> Kind {
        let low = question.to_lowercase();
        let [german, english] = &*KINDS;
        let kinds = if self == Self::German { german } else { english };
        let found = kinds.iter().find(|(_, regex)| regex.as_ref().is_some_and(|regex| regex.is_match(&low)));
        found.map_or(Kind::What, |(kind, _)| *kind)
    }

    /// this, these, dieser.
    pub(super) fn is_pointer(self, lower: &str) -> bool {
        holds(if self == Self::German { POINTERS_DE } else { POINTERS_EN }, lower)
    }

    pub(super) fn is_article(self, lower: &str) -> bool {
        match self {
            Self::German => matches!(lower, "der" | "die" | "das" | "den" | "dem"),
            Self::English => lower == "the",
        }
    }

    /// The words between which and the noun that a question asks for.
    pub(super) fn asks_for_noun(lower: &str) -> bool {
        let german = lower.strip_prefix("welche");
        german.is_some_and(|ending| matches!(ending, "" | "r" | "n" | "m" | "s"))
            || matches!(lower, "what" | "which" | "viel" | "viele" | "many" | "much")
    }
}

pub(super) fn is_month(lower: &str) -> bool {
    holds(MONTHS, lower)
}

pub(super) fn is_number_word(lower: &str) -> bool {
    holds(NUMBERS, lower)
}

/// A noun whose instances have names.
pub(crate) fn is_named_noun(lower: &str) -> bool {
    holds(NAMED_NOUNS, lower)
}

/// What is counted in a currency.
pub(super) fn is_money(lower: &str) -> bool {
    holds("money geld", lower)
}

pub(super) fn is_currency(lower: &str) -> bool {
    holds(
        "dollar dollars euro euros pound pounds pfund franken francs mark yen cent cents usd eur chf",
        lower,
    )
}

pub(super) fn asks_name(lower: &str) -> bool {
    holds(ASKS_NAME, lower)
}

pub(super) fn says_name(lower: &str) -> bool {
    holds(SAYS_NAME, lower)
}

/// German: a capital behind these may be a name.
pub(super) fn leads_to_name(lower: &str) -> bool {
    matches!(lower, "von" | "in" | "aus" | "durch" | "bei")
}

pub(super) fn says_cause(lower: &str) -> bool {
    matches(&CAUSE, lower)
}

pub(super) fn says_place(text: &str) -> bool {
    matches(&PLACE, text)
}

/// A quantity without a figure.
pub(super) fn says_few(lower: &str) -> bool {
    matches(&FEW, lower)
}

/// Two passages are one sentence that was cut at an abbreviation or an ordinal: "ca." | "24 Meter".
pub(super) fn are_joined(before: &str, after: &str) -> bool {
    let (before, after) = (before.trim_end(), after.trim_start());
    let first = after.chars().next();
    let initial = first.is_some_and(char::is_uppercase) && matches(&INITIAL_IN_FRONT, before);
    initial
        || first.is_some_and(|c| c.is_lowercase() || matches!(c, ',' | ';' | ')'))
        || (first.is_some_and(char::is_numeric) && matches(&SHORT_IN_FRONT, before))
        || matches(&ORDINAL_IN_FRONT, before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert!(KINDS.iter().flatten().all(|(_, regex)| regex.is_some()));
        for regex in [&CAUSE, &PLACE, &FEW, &SHORT_IN_FRONT, &INITIAL_IN_FRONT, &ORDINAL_IN_FRONT] {
            assert!(regex.is_some());
        }
    }

    #[test]
    fn languages_and_kinds_are_told() {
        assert_eq!(Language::of("Wann wurde sie gebaut?", &["Die Brücke ist alt."]), Language::German);
        assert_eq!(Language::of("When was it built?", &["The bridge is old."]), Language::English);
        assert_eq!(Language::German.kind("In welchem Jahr starb er?"), Kind::When);
        assert_eq!(Language::English.kind("How many are there?"), Kind::Number);
        assert_eq!(Language::English.kind("What is it?"), Kind::What);
    }

    #[test]
    fn sentences_cut_at_abbreviations_are_joined() {
        assert!(are_joined("It is the largest U.", "s. city."));
        assert!(are_joined("Sie misst ca.", "24 Meter."));
        assert!(are_joined("Am 24.", "Mai kam er."));
        assert!(are_joined("It was led by Nicholas E.", "Lindmark until 1961."));
        assert!(!are_joined("It is old.", "The bridge stands."));
    }
}
