//! Writes a message as another person would have typed it, and counts the routes that this moves.
//!
//! Typographic changes say the same in other characters and should move nothing; the others change the words.

use serde::Serialize;
use skill_runtime::artifact::Pack;
use skill_runtime::conversation::replay;
use skill_runtime::router::{Router, Scratch, Stage, ToolSet};
use unicode_normalization::UnicodeNormalization;

use crate::labelled::Labelled;

/// A way to change a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// All capitals.
    UpperCase,
    /// All small letters.
    LowerCase,
    /// Without the marks at its end.
    NoFinalMarks,
    /// With a mark more at its end.
    MoreFinalMarks,
    /// Typographic apostrophes and quotes.
    CurlyQuotes,
    /// Composed letters taken apart.
    Nfd,
    /// Full-width letters, digits and marks.
    FullWidth,
    /// A zero-width mark in every longer word.
    ZeroWidth,
    /// Direction marks around it.
    Bidi,
    /// Two spaces for one, and some around.
    Spaces,
    /// ae, oe, ue, ss.
    UmlautSpelling,
    /// Two letters of the longest word swapped.
    Typo,
    /// A letter of the longest word left out.
    LeftOut,
    /// A letter of the longest word replaced by its neighbour on the keyboard.
    WrongLetter,
    /// A greeting in front.
    Greeting,
    /// A polite word behind.
    Politeness,
    /// A quoted text behind.
    QuotedPaste,
}

impl Change {
    /// Every change.
    pub const ALL: [Self; 17] = [
        Self::UpperCase,
        Self::LowerCase,
        Self::NoFinalMarks,
        Self::MoreFinalMarks,
        Self::CurlyQuotes,
        Self::Nfd,
        Self::FullWidth,
        Self::ZeroWidth,
        Self::Bidi,
        Self::Spaces,
        Self::UmlautSpelling,
        Self::Typo,
        Self::LeftOut,
        Self::WrongLetter,
        Self::Greeting,
        Self::Politeness,
        Self::QuotedPaste,
    ];

    /// Its name, as reports write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::UpperCase => "upper case",
            Self::LowerCase => "lower case",
            Self::NoFinalMarks => "no final marks",
            Self::MoreFinalMarks => "more final marks",
            Self::CurlyQuotes => "curly quotes",
            Self::Nfd => "NFD",
            Self::FullWidth => "full width",
            Self::ZeroWidth => "zero width",
            Self::Bidi => "direction marks",
            Self::Spaces => "doubled spaces",
            Self::UmlautSpelling => "ae oe ue ss",
            Self::Typo => "letters swapped",
            Self::LeftOut => "letter left out",
            Self::WrongLetter => "wrong letter",
            Self::Greeting => "greeting in front",
            Self::Politeness => "politeness behind",
            Self::QuotedPaste => "quoted paste",
        }
    }

    /// The same words in other characters. A question mark is no typography: it asks.
    #[must_use]
    pub fn is_typographic(self) -> bool {
        !matches!(
            self,
            Self::NoFinalMarks
                | Self::Typo
                | Self::LeftOut
                | Self::WrongLetter
                | Self::Greeting
                | Self::Politeness
                | Self::QuotedPaste
        )
    }

    /// The message changed; None if it would stay as it is or mean something else.
    #[must_use]
    pub fn apply(self, message: &str, language: &str) -> Option<String> {
        let german = language == "de";
        let changed = match self {
            // A link says something else in capitals, and two lines are no longer one.
            Self::UpperCase if message.contains("://") => return None,
            Self::UpperCase => message.to_uppercase(),
            Self::LowerCase => message.to_lowercase(),
            Self::NoFinalMarks => message.trim_end_matches(['.', '!', '…', ' ']).to_owned(),
            Self::MoreFinalMarks if message.ends_with(char::is_alphanumeric) => format!("{message}!"),
            Self::MoreFinalMarks if message.ends_with(['?', '!']) => format!("{message}!"),
            Self::MoreFinalMarks => return None,
            Self::CurlyQuotes => curly(message),
            Self::Nfd => message.nfd().collect(),
            Self::FullWidth if message.contains("://") || message.contains('`') => return None,
            Self::FullWidth => message.chars().map(full_width).collect(),
            Self::ZeroWidth if message.contains("://") => return None,
            Self::ZeroWidth => words(message, |word| {
                let at = word.char_indices().nth(2).map_or(word.len(), |(at, _)| at);
                let (head, tail) = word.split_at(at);
                if tail.is_empty() { word.to_owned() } else { format!("{head}\u{200B}{tail}") }
            }),
            Self::Bidi => format!("\u{2067}{message}\u{2069}"),
            Self::Spaces => format!("  {} ", message.replace(' ', "  ")),
            Self::UmlautSpelling => message
                .replace('ä', "ae")
                .replace('ö', "oe")
                .replace('ü', "ue")
                .replace('ß', "ss")
                .replace('Ä', "Ae")
                .replace('Ö', "Oe")
                .replace('Ü', "Ue"),
            Self::Typo => slip(message, |letters, middle| letters.swap(middle - 1, middle))?,
            Self::LeftOut => slip(message, |letters, middle| {
                letters.remove(middle);
            })?,
            Self::WrongLetter => slip(message, |letters, middle| {
                if let Some(letter) = letters.get_mut(middle) {
                    *letter = key_beside(*letter);
                }
            })?,
            Self::Greeting => format!("{}, {message}", if german { "Hallo" } else { "Hi" }),
            Self::Politeness if message.contains('\n') => return None,
            Self::Politeness => {
                let end = message.trim_end_matches(['?', '!', '.', ' ']);
                let marks = message.get(end.len()..).unwrap_or_default().trim();
                format!("{end}{} {}{marks}", ",", if german { "bitte" } else { "please" })
            }
            Self::QuotedPaste => format!("{message}\n\n> {}", if german { QUOTED.0 } else { QUOTED.1 }),
        };
        (changed != message).then_some(changed)
    }
}

/// Texts that a person might quote below a question.
const QUOTED: (&str, &str) = (
    "Am Dienstag trafen sich die Mitglieder im Vereinsheim und besprachen das Sommerfest.",
    "On Tuesday the members met at the club house and talked about the summer party.",
);

fn curly(message: &str) -> String {
    let mut open = false;
    message
        .chars()
        .map(|c| match c {
            '\'' => '’',
            '"' => {
                open = !open;
                if open { '“' } else { '”' }
            }
            _ => c,
        })
        .collect()
}

fn full_width(c: char) -> char {
    match c {
        '!'..='~' => char::from_u32(u32::from(c) + 0xFEE0).unwrap_or(c),
        _ => c,
    }
}

fn words(message: &str, change: impl Fn(&str) -> String) -> String {
    message
        .split_inclusive(|c: char| !c.is_alphanumeric())
        .map(|piece| {
            let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
            let rest = piece.get(word.len()..).unwrap_or_default();
            if word.chars().count() > 3 { change(word) + rest } else { piece.to_owned() }
        })
        .collect()
}

/// The key to the right, at the end of a row to the left; other letters stay.
fn key_beside(letter: char) -> char {
    const ROWS: [&str; 3] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];
    ROWS.iter()
        .find_map(|row| {
            let at = row.find(letter)?;
            row.get(at + 1..).and_then(|rest| rest.chars().next()).or_else(|| row.chars().rev().nth(1))
        })
        .unwrap_or(letter)
}

/// Changes the letters of the longest word, near its middle.
fn slip(message: &str, change: impl Fn(&mut Vec<char>, usize)) -> Option<String> {
    let longest = message
        .split(|c: char| !c.is_alphabetic())
        .max_by_key(|word| word.chars().count())
        .filter(|word| word.chars().count() > 4)?;
    let mut letters: Vec<char> = longest.chars().collect();
    let middle = letters.len() / 2;
    change(&mut letters, middle);
    Some(message.replacen(longest, &letters.into_iter().collect::<String>(), 1))
}

/// A route that a change moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// The change.
    pub change: Change,
    /// Line in the file.
    pub line: usize,
    /// Skill of the message as it was, or `none`.
    pub before: String,
    /// Skill of the changed one.
    pub after: String,
    /// The changed message.
    pub message: String,
}

/// Counts of one change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangeCounts {
    /// The change.
    pub change: Change,
    /// Messages that it changed.
    pub messages: usize,
    /// Routes that it moved.
    pub moved: usize,
}

/// What changing messages showed.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// By change.
    pub changes: Vec<ChangeCounts>,
    /// Every route that moved.
    pub moved: Vec<Moved>,
}

impl Report {
    /// Share of routes that typographic changes moved.
    #[must_use]
    pub fn typographic_share(&self) -> f64 {
        let typographic = || self.changes.iter().filter(|counts| counts.change.is_typographic());
        let all: usize = typographic().map(|counts| counts.messages).sum();
        let moved: usize = typographic().map(|counts| counts.moved).sum();
        if all == 0 { 0.0 } else { moved as f64 / all as f64 }
    }
}

/// Routes each message as it is and changed in every way; earlier turns stay as they are.
#[must_use]
pub fn run(pack: &Pack, messages: &[Labelled]) -> Report {
    let router = Router::new(pack);
    let tools = ToolSet::all(pack);
    let names = pack.skill_names();
    let mut scratch = Scratch::default();
    let mut report = Report::default();
    for change in Change::ALL {
        let mut counts = ChangeCounts { change, messages: 0, moved: 0 };
        for message in messages {
            let Some(changed) = change.apply(&message.message, &message.language) else { continue };
            let state = replay(&router, &mut scratch, message.after.iter().map(String::as_str), &tools);
            let mut decide = |text: &str| {
                let decision = router.decide(&mut scratch, state, text, &tools);
                let skill = decision.skill.and_then(|skill| names.get(skill as usize).copied());
                (skill.unwrap_or("none").to_owned(), decision.stage)
            };
            let (before, stage) = decide(&message.message);
            // A greeting starts anew: what goes on with the turn before does not behind one.
            if change == Change::Greeting && stage == Stage::CarryOver {
                continue;
            }
            let (after, _) = decide(&changed);
            counts.messages += 1;
            if before != after {
                counts.moved += 1;
                report.moved.push(Moved { change, line: message.line, before, after, message: changed });
            }
        }
        report.changes.push(counts);
    }
    report
}

#[cfg(test)]
mod tests {
    use super::Change;

    #[test]
    fn changes_say_the_same_in_other_characters() {
        let german = |change: Change, text: &str| change.apply(text, "de");
        assert_eq!(german(Change::UmlautSpelling, "Grüße"), Some("Gruesse".to_owned()));
        assert_eq!(german(Change::UmlautSpelling, "Hallo"), None);
        assert_eq!(german(Change::Politeness, "Was ist Stripe?"), Some("Was ist Stripe, bitte?".to_owned()));
        assert_eq!(german(Change::Typo, "Was ist Stripe?"), Some("Was ist Stirpe?".to_owned()));
        assert_eq!(german(Change::LeftOut, "Was ist Stripe?"), Some("Was ist Strpe?".to_owned()));
        assert_eq!(german(Change::WrongLetter, "Was ist Stripe?"), Some("Was ist Strope?".to_owned()));
        assert_eq!(german(Change::FullWidth, "5+3"), Some("５＋３".to_owned()));
        assert_eq!(german(Change::CurlyQuotes, "wie geht's"), Some("wie geht’s".to_owned()));
        assert_eq!(german(Change::ZeroWidth, "ist Stripe?"), Some("ist St\u{200B}ripe?".to_owned()));
    }
}
