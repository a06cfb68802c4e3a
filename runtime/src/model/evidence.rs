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
/// What a link begins with, wherever it stands.
const LINKS: [&str; 3] = ["http://", "https://", "www."];
/// The same as far as it tells: behind these no other text may stand than a link's.
const LINK_STARTS: [&str; 4] = ["http:", "https:", "www.", "://"];
/// Marks that bind two figures to one, unless a blank follows: 20:01, 12/31.
const BINDING: &[u8] = b".,:/";

/// What may be written.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    figures: BTreeSet<Vec<u8>>,
    links: BTreeSet<Vec<u8>>,
    /// Characters that are numbers beyond the digits: ½, ², ①, digits of other scripts.
    numerals: BTreeSet<char>,
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
        self.numerals.extend(text.chars().filter(|c| !c.is_ascii() && c.is_numeric()));
        for word in text.split_whitespace() {
            let lower = word.to_ascii_lowercase();
            let Some(start) = LINKS.iter().filter_map(|start| lower.find(start)).min() else { continue };
            let word = word.get(start..).unwrap_or_default();
            let bare = word.trim_end_matches(|c: char| c.is_ascii() && BEHIND_LINK.contains(&(c as u8)));
            self.links.insert(word.as_bytes().to_vec());
            self.links.insert(bare.as_bytes().to_vec());
        }
        // What is bound in the evidence stays bound: a time, a date.
        for bound in
            text.split(|c: char| !(c.is_ascii_digit() || c.is_ascii() && BINDING.contains(&(c as u8))))
        {
            let bound = bound.trim_matches(|c: char| !c.is_ascii_digit());
            self.figures.insert(bound.as_bytes().to_vec());
        }
        self.figures.remove(b"".as_slice());
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
    /// What the number at hand may be: beginnings of figures, outside of one (empty), or behind a whole one and a
    /// mark that would bind it to the next ([`BEHIND`]). Without any, the text has left the evidence.
    numbers: Vec<Vec<u8>>,
    /// The link at hand, or the last bytes of text, in which one may begin.
    tail: Vec<u8>,
    in_link: bool,
    /// Bytes of a character that is not whole yet.
    character: Vec<u8>,
    line: Line,
}

/// No figure begins like this.
const BEHIND: &[u8] = b" ";

/// The place in a line, for the numbers of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Only blanks and marks of headings, quotations and emphasis so far, or a dash with a blank.
    Start,
    /// A dash behind that.
    Dash,
    /// One digit of 1 to 9 behind the start.
    Digit,
    /// A point or bracket behind that: a blank must follow.
    Marked,
    Inside,
}

impl Default for Spelling {
    fn default() -> Self {
        Self {
            numbers: vec![Vec::new()],
            tail: Vec::new(),
            in_link: false,
            character: Vec::new(),
            line: Line::Start,
        }
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
        number.is_empty() || number == BEHIND || evidence.figures.contains(number)
    }

    fn link_is_whole(&self, evidence: &Evidence) -> bool {
        let mut link = self.tail.as_slice();
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
        if !self.step_character(evidence, byte) {
            return false;
        }
        if self.in_link {
            if byte.is_ascii_whitespace() {
                let whole = self.link_is_whole(evidence);
                (self.in_link, self.numbers) = (false, vec![Vec::new()]);
                self.tail.clear();
                self.line = if byte == b'\n' { Line::Start } else { Line::Inside };
                return whole;
            }
            self.tail.push(byte);
            return Evidence::begins(&evidence.links, &self.tail) || self.link_is_whole(evidence);
        }
        self.tail.push(byte.to_ascii_lowercase());
        let started = LINK_STARTS.iter().filter(|start| self.tail.ends_with(start.as_bytes()));
        if let Some(start) = started.max_by_key(|start| start.len()) {
            self.tail = start.as_bytes().to_vec();
            self.in_link = true;
            return Evidence::begins(&evidence.links, &self.tail);
        }
        let longest = LINK_STARTS.iter().map(|start| start.len()).max().unwrap_or_default();
        let surplus = self.tail.len().saturating_sub(longest);
        self.tail.drain(..surplus);
        self.step_number(evidence, byte)
    }

    /// Numbers of other scripts and such as ½ are figures that the evidence must have.
    fn step_character(&mut self, evidence: &Evidence, byte: u8) -> bool {
        if byte.is_ascii() {
            self.character.clear();
            return true;
        }
        // A leading byte begins anew, whatever stray bytes came before.
        if byte >= 0xC0 {
            self.character.clear();
        } else if self.character.is_empty() {
            return true;
        }
        self.character.push(byte);
        match std::str::from_utf8(&self.character) {
            Ok(whole) => {
                let known = whole.chars().all(|c| !c.is_numeric() || evidence.numerals.contains(&c));
                self.character.clear();
                known
            }
            Err(_) => {
                if self.character.len() >= 4 {
                    self.character.clear();
                }
                true
            }
        }
    }

    fn step_number(&mut self, evidence: &Evidence, byte: u8) -> bool {
        let mut next: Vec<Vec<u8>> = Vec::new();
        let mut add = |number: Vec<u8>| {
            if !next.contains(&number) {
                next.push(number);
            }
        };
        let digit = byte.is_ascii_digit();
        for number in &self.numbers {
            let behind = number == BEHIND;
            let outside = number.is_empty();
            let mut longer = if behind { Vec::new() } else { number.clone() };
            longer.push(byte);
            // A figure begins with a digit, and not where a mark binds it to the one before.
            if !behind && (digit || !outside) && Evidence::begins(&evidence.figures, &longer) {
                add(longer);
            }
            if !digit && self.is_whole(evidence, number) {
                let binds = !outside && !behind && BINDING.contains(&byte);
                add(if binds { BEHIND.to_vec() } else { Vec::new() });
            }
        }
        let of_list = match self.line {
            Line::Start => matches!(byte, b'1'..=b'9'),
            Line::Digit => matches!(byte, b'.' | b')'),
            Line::Marked => byte.is_ascii_whitespace(),
            Line::Dash | Line::Inside => false,
        };
        self.line = match (self.line, byte) {
            (_, b'\n') => Line::Start,
            (Line::Start | Line::Dash, b' ' | b'\t') => Line::Start,
            (Line::Start, b'*' | b'#' | b'>' | b'_') => Line::Start,
            (Line::Start, b'-') => Line::Dash,
            (Line::Start, b'1'..=b'9') => Line::Digit,
            (Line::Digit, b'.' | b')') => Line::Marked,
            _ => Line::Inside,
        };
        if of_list && self.line != Line::Digit && self.line != Line::Marked {
            add(Vec::new());
        }
        self.numbers = next;
        // A number of a list may stand for now; what follows decides.
        !self.numbers.is_empty() || of_list
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
            "**1. First**",
            "1874: 46,700",
            "1874/ and 18",
            "Grüße, 18 — and so on",
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
            "½ of them",
            "Section ①",
            "１８",
            "١٨",
            "(1.5 + 18",
            "A\n2.5%",
            "1874.18",
            "18:18",
            "18/1874",
            "2.",
        ] {
            assert!(!admits(&evidence, text), "{text}");
        }
    }

    #[test]
    fn figures_that_are_bound_stay_bound_and_characters_of_the_evidence_may_be_written() {
        let evidence = Evidence::of(["At 20:01 on 2026-11-30, ½ of 10.25"]);
        for text in ["20:01", "20 Uhr", "2026-11-30", "30", "½", "10.25", "10,25", "11-30"] {
            assert!(admits(&evidence, text), "{text}");
        }
        for text in ["20:30", "20:11", "10/25", "¼", "30.11", "01:20"] {
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
            "[the mill](https://mill.example/history/1874?x=2)",
        ] {
            assert!(admits(&evidence, text), "{text}");
        }
        for text in [
            "https://mill.example/",
            "https://mill.example/history/1875",
            "http://b.example/more",
            "https://other.example",
            "www.b.example",
            "<img src=\"https://x.example/i.jpg\">",
            "[b](https://x.example)",
            "url=http://localhost",
            "https%s://www.x.example",
            "http:www.x.example",
            "https: //www.x.example",
            "]( www.x.example",
        ] {
            assert!(!admits(&evidence, text), "{text}");
        }
        assert!(!admits(&Evidence::default(), "http://x"));
    }
}
