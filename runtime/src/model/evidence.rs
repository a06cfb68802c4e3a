//! Figures and links that a grounded answer may write: those of the evidence, in the spellings that readers accept.
//!
//! Text is followed byte by byte, since tokens cut numbers and characters anywhere.

use std::collections::BTreeSet;

/// Marks between groups of three digits: 46.700, 46,700, 46 700 (also with the narrow and the unbreakable blank),
/// 46'700, 46’700, or none.
const GROUPS: [&str; 8] = ["", ".", ",", " ", "\u{A0}", "\u{202F}", "'", "’"];
const DECIMALS: [&str; 2] = [".", ","];
/// What may stand behind a link and does not belong to it.
const BEHIND_LINK: &[u8] = b".,;:!?)]}>\"'*_";
/// What may stand before one.
const BEFORE_LINK: &[u8] = b"([{<\"'*_";
/// What a link begins with.
const LINKS: [&str; 3] = ["http://", "https://", "www."];

/// What may be written.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    figures: BTreeSet<Vec<u8>>,
    links: BTreeSet<Vec<u8>>,
}

impl Evidence {
    /// Gathers figures and links of texts.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut evidence = Self::default();
        for text in texts {
            evidence.add(text);
        }
        evidence
    }

    fn add(&mut self, text: &str) {
        for word in text.split_whitespace() {
            let word = word.trim_matches(|c: char| BEFORE_LINK.contains(&(c as u8)) && c.is_ascii());
            let bare = word.trim_end_matches(|c: char| c.is_ascii() && BEHIND_LINK.contains(&(c as u8)));
            for link in [word, bare] {
                if LINKS.iter().any(|start| link.to_ascii_lowercase().starts_with(start)) {
                    self.links.insert(link.as_bytes().to_vec());
                }
            }
        }
        let mut rest = text;
        while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
            rest = rest.get(start..).unwrap_or_default();
            let written = figure(rest);
            for spelling in spellings(written) {
                self.figures.insert(spelling.into_bytes());
            }
            // Groups may be separate figures just as well ("in 1914 300 men").
            let first = written.bytes().take_while(u8::is_ascii_digit).count();
            for spelling in spellings(written.get(..first).unwrap_or_default()) {
                self.figures.insert(spelling.into_bytes());
            }
            rest = rest.get(first..).unwrap_or_default();
        }
    }

    fn begins(set: &BTreeSet<Vec<u8>>, start: &[u8]) -> bool {
        set.range(start.to_vec()..).next().is_some_and(|first| first.starts_with(start))
    }
}

/// The figure at the start of a text, with marks that stand between its digits.
fn figure(text: &str) -> &str {
    let mut end = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let mark = matches!(c, '.' | ',' | '\'' | '’' | ' ' | '\u{A0}' | '\u{202F}');
        let inside = mark && characters.peek().is_some_and(|(_, next)| next.is_ascii_digit());
        if !(c.is_ascii_digit() || inside) {
            break;
        }
        end = at + c.len_utf8();
    }
    text.get(..end).unwrap_or_default()
}

/// A figure as written and in every other spelling of the same value.
fn spellings(written: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::from([written.to_owned()]);
    let parts: Vec<&str> = written.split(|c: char| !c.is_ascii_digit()).collect();
    let grouped = |parts: &[&str]| {
        parts.first().is_some_and(|first| (1..=3).contains(&first.len()))
            && parts.iter().skip(1).all(|part| part.len() == 3)
    };
    // The last part may be decimals, unless it could only be a group: "46.700" may be either.
    let mut readings: Vec<(String, Option<&str>)> = Vec::new();
    if parts.len() == 1 || grouped(&parts) {
        readings.push((parts.concat(), None));
    }
    if let [whole @ .., decimals] = parts.as_slice()
        && !whole.is_empty()
        && (whole.len() == 1 || grouped(whole))
    {
        readings.push((whole.concat(), Some(decimals)));
    }
    for (digits, decimals) in readings {
        for mark in GROUPS {
            let whole = in_groups(&digits, mark);
            match decimals {
                None => {
                    found.insert(whole);
                }
                Some(decimals) => found.extend(
                    DECIMALS
                        .into_iter()
                        .filter(|decimal| *decimal != mark)
                        .map(|decimal| format!("{whole}{decimal}{decimals}")),
                ),
            }
        }
    }
    found
}

fn in_groups(digits: &str, mark: &str) -> String {
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push_str(mark);
        }
        text.push(digit);
    }
    text
}

/// Where in figures and links a text stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spelling {
    /// What the number at hand may be: beginnings of figures, or outside of one (empty). Never empty itself.
    numbers: Vec<Vec<u8>>,
    /// The word at hand, as far as it may become a link.
    word: Vec<u8>,
    in_link: bool,
    line: Line,
}

/// The place in a line, for the numbers of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Only blanks and marks of lists and emphasis so far.
    Start,
    /// One digit of 1 to 9 behind that.
    Marker,
    Inside,
}

impl Default for Spelling {
    fn default() -> Self {
        Self { numbers: vec![Vec::new()], word: Vec::new(), in_link: false, line: Line::Start }
    }
}

impl Spelling {
    /// Follows bytes of text. False: the evidence has no figure or link that goes on like this.
    pub(super) fn follow(&mut self, evidence: &Evidence, bytes: &[u8]) -> bool {
        bytes.iter().all(|&byte| self.step(evidence, byte))
    }

    /// Whether the text may end here.
    pub(super) fn may_end(&self, evidence: &Evidence) -> bool {
        let link = !self.in_link || self.link_is_whole(evidence);
        link && (self.in_link || self.numbers.iter().any(|number| self.is_whole(evidence, number)))
    }

    fn is_whole(&self, evidence: &Evidence, number: &[u8]) -> bool {
        number.is_empty() || evidence.figures.contains(number)
    }

    fn link_is_whole(&self, evidence: &Evidence) -> bool {
        let mut link = self.word.as_slice();
        loop {
            if evidence.links.contains(link) {
                return true;
            }
            match link {
                [rest @ .., last] if BEHIND_LINK.contains(last) => link = rest,
                _ => return false,
            }
        }
    }

    fn step(&mut self, evidence: &Evidence, byte: u8) -> bool {
        if byte.is_ascii_whitespace() {
            if self.in_link && !self.link_is_whole(evidence) {
                return false;
            }
            self.word.clear();
            if std::mem::take(&mut self.in_link) {
                self.numbers = vec![Vec::new()];
            }
        } else if !(self.word.is_empty() && BEFORE_LINK.contains(&byte)) {
            self.word.push(byte);
        }
        if self.in_link {
            return Evidence::begins(&evidence.links, &self.word) || self.link_is_whole(evidence);
        }
        let lower = self.word.to_ascii_lowercase();
        if LINKS.iter().any(|start| lower == start.as_bytes()) {
            self.in_link = true;
            return Evidence::begins(&evidence.links, &self.word);
        }
        self.step_number(evidence, byte)
    }

    fn step_number(&mut self, evidence: &Evidence, byte: u8) -> bool {
        let mut next: Vec<Vec<u8>> = Vec::new();
        for number in &self.numbers {
            let mut longer = number.clone();
            longer.push(byte);
            // A figure begins with a digit; inside one its own marks are allowed.
            let goes_on =
                (byte.is_ascii_digit() || !number.is_empty()) && Evidence::begins(&evidence.figures, &longer);
            if goes_on && !next.contains(&longer) {
                next.push(longer);
            }
            let outside = !byte.is_ascii_digit() && self.is_whole(evidence, number);
            if outside && !next.contains(&Vec::new()) {
                next.push(Vec::new());
            }
        }
        let marker = self.line == Line::Marker && matches!(byte, b'.' | b')');
        let marks_line = self.line == Line::Start && matches!(byte, b'1'..=b'9');
        if marker && !next.contains(&Vec::new()) {
            next.push(Vec::new());
        }
        self.line = match (self.line, byte) {
            (_, b'\n') => Line::Start,
            (Line::Start, b' ' | b'\t' | b'-' | b'*' | b'#' | b'>' | b'(') => Line::Start,
            (Line::Start, b'1'..=b'9') => Line::Marker,
            _ => Line::Inside,
        };
        self.numbers = next;
        // The digit of a list may stand for now; what follows decides.
        !self.numbers.is_empty() || marks_line
    }
}

#[cfg(test)]
mod tests {
    use super::{Evidence, Spelling, spellings};

    fn admits(evidence: &Evidence, text: &str) -> bool {
        // However it is cut, the answer is the same.
        let mut whole = Spelling::default();
        let mut piecewise = Spelling::default();
        let fits = whole.follow(evidence, text.as_bytes()) && whole.may_end(evidence);
        let pieces = text.as_bytes().chunks(3).all(|piece| piecewise.follow(evidence, piece));
        assert_eq!(fits, pieces && piecewise.may_end(evidence), "{text}");
        fits
    }

    #[test]
    fn figures_in_the_spellings_of_readers_and_no_others() {
        let evidence = Evidence::of(["In 1874 there were 46,700 people, 12.4 percent of them under 18."]);
        for text in [
            "1874",
            "In 1874, 46.700 people",
            "46 700",
            "46\u{202F}700 people",
            "46'700.",
            "46700",
            "12,4 %",
            "12.4 %",
            "under 18",
            "No figure at all.",
            "18, 1874 and 12,4.",
            "1. First\n2) Second\n- 3. third",
            "",
        ] {
            assert!(admits(&evidence, text), "{text}");
        }
        for text in [
            "1875",
            "187",
            "18740",
            "467",
            "46,70",
            "46.7",
            "12.5",
            "1",
            "about 7 people",
            "142 years",
            "1.5",
            "12,4,1",
            "First 1. and 2.",
            "4670 0",
        ] {
            assert!(!admits(&evidence, text), "{text}");
        }
    }

    #[test]
    fn a_grouped_figure_may_be_decimals_and_both_are_spelled() {
        let found = spellings("46.700");
        for spelling in ["46700", "46,700", "46 700", "46.700"] {
            assert!(found.contains(spelling), "{spelling}");
        }
        assert!(spellings("1234.5").contains("1.234,5") && spellings("1.234,5").contains("1234.5"));
        assert!(!spellings("12.4").contains("124"));
    }

    #[test]
    fn links_of_the_evidence_whole_and_no_others() {
        let evidence = Evidence::of(["See https://mill.example/history/1874?x=2 (and <http://b.example>)."]);
        for text in [
            "Source: https://mill.example/history/1874?x=2",
            "(https://mill.example/history/1874?x=2).",
            "http://b.example, then more",
            "the scheme http is old",
        ] {
            assert!(admits(&evidence, text), "{text}");
        }
        for text in [
            "https://mill.example/",
            "https://mill.example/history/1875",
            "http://b.example/more",
            "https://other.example",
            "www.b.example",
        ] {
            assert!(!admits(&evidence, text), "{text}");
        }
        assert!(!admits(&Evidence::default(), "http://x"));
    }
}
