//! The passages of pages that bear on a question.

use std::collections::HashSet;

use super::{Terms, Tongue, Vocabulary};
use crate::reading::{Block, BlockKind, Page, ends_a_sentence, sentences};

/// Characters of a passage, at most and at least (reference: 280 and 60).
pub const PASSAGE_CHARS: usize = 280;
const FEWEST_CHARS: usize = 60;
/// Passages of a page (reference: 2).
const PER_PAGE: usize = 2;
/// Words that two passages may begin with alike before one of them is said twice (reference: 8).
const SAME_WORDS: usize = 8;

/// A passage of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Text, as it stands on the page.
    pub text: String,
    /// It holds a term of the question.
    pub on_topic: bool,
}

/// A page with what it says about a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Title.
    pub title: String,
    /// Address.
    pub url: String,
    /// What it says, best first.
    pub passages: Vec<Passage>,
    /// The page was not opened; this is what the search showed of it.
    pub unread: bool,
    /// The page's first prose: what an article defines.
    pub lead: String,
}

/// A paragraph as it competes.
struct Paragraph {
    text: String,
    dated: bool,
    terms: Vec<usize>,
}

/// Paragraphs of a page that may be quoted: prose, and short lines that carry a year or a value, which join the
/// paragraph before them.
fn paragraphs(page: &Page) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for block in page.content() {
        if block.is_prose() && !is_reference_list(&block.text) {
            out.push(block.text.clone());
        } else if is_statement(block) && !is_reference_list(&block.text) {
            match out.last_mut() {
                // The line that names who holds an office now follows the paragraph that defines it.
                Some(before) if before.chars().count() + block.text.chars().count() < PASSAGE_CHARS => {
                    before.push(' ');
                    before.push_str(&block.text);
                    if !ends_a_sentence(&block.text) {
                        before.push('.');
                    }
                }
                _ => out.push(block.text.clone()),
            }
        }
    }
    out
}

/// A short line that states something: a name with its value, or a short sentence with a figure.
fn is_statement(block: &Block) -> bool {
    let chars = block.text.chars().count();
    let digits = block.text.contains(|c: char| c.is_ascii_digit());
    match block.kind {
        BlockKind::Row => chars <= PASSAGE_CHARS && block.text.contains(": ") && !block.text.contains(" | "),
        BlockKind::Paragraph | BlockKind::Item => {
            chars < PASSAGE_CHARS
                && block.linked * 2 <= block.text.len()
                && block.text.split_whitespace().nth(2).is_some()
                && ((digits && (block.text.contains(": ") || ends_a_sentence(&block.text)))
                    || (block.text.ends_with('.') && chars >= 20))
        }
        BlockKind::Heading(_) | BlockKind::Code => false,
    }
}

/// Lists of literature rank high in every score and say nothing.
fn is_reference_list(text: &str) -> bool {
    let marks = ["isbn", "doi:", "doi.org", "archived from", "abgerufen am", "retrieved ", "ISBN"];
    let found: usize = marks.iter().map(|mark| text.matches(mark).count()).sum();
    found >= 2 || text.starts_with('^') || text.starts_with('↑')
}

/// A year of this century: what is dated is worth more where it matters who holds an office.
fn is_dated(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_digit()).any(|run| run.len() == 4 && run.starts_with("20"))
}

/// What pages say about a question. Weights are common to all pages. A page without a term of the question gives its
/// first paragraph, marked as off topic; one without any paragraph gives nothing.
#[must_use]
pub fn best_passages(question: &str, tongue: Tongue, pages: &[&Page]) -> Vec<Vec<Passage>> {
    let mut vocabulary = Vocabulary::default();
    let read: Vec<Vec<Paragraph>> = pages
        .iter()
        .map(|page| {
            let competing = paragraphs(page).into_iter().map(|text| {
                let terms = vocabulary.read(&text, tongue);
                Paragraph { dated: is_dated(&text), terms, text }
            });
            competing.collect()
        })
        .collect();
    let all: Vec<Vec<usize>> = read.iter().flatten().map(|paragraph| paragraph.terms.clone()).collect();
    let terms = Terms::new(question, tongue, &vocabulary, &all);
    let mut said: HashSet<String> = HashSet::new();
    read.iter().map(|paragraphs| of_page(paragraphs, &terms, &mut vocabulary, tongue, &mut said)).collect()
}

fn of_page(
    paragraphs: &[Paragraph],
    terms: &Terms,
    vocabulary: &mut Vocabulary,
    tongue: Tongue,
    said: &mut HashSet<String>,
) -> Vec<Passage> {
    let mut order: Vec<(f64, bool, usize)> = paragraphs
        .iter()
        .enumerate()
        .map(|(at, paragraph)| (terms.score(&paragraph.terms), paragraph.dated, at))
        .filter(|(score, ..)| *score > 0.0)
        .collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)).then(a.2.cmp(&b.2)));
    let mut out = Vec::new();
    for (_, _, at) in order {
        if out.len() == PER_PAGE {
            break;
        }
        let Some(paragraph) = paragraphs.get(at) else { continue };
        let text = window(&paragraph.text, paragraph.dated, terms, vocabulary, tongue);
        let text = unsaid(&text, said);
        if !text.is_empty() {
            out.push(Passage { text, on_topic: true });
        }
    }
    if out.is_empty()
        && let Some(first) = paragraphs.first()
    {
        let text = window(&first.text, first.dated, terms, vocabulary, tongue);
        out.push(Passage { text, on_topic: false });
    }
    out
}

/// A passage without the sentences at its begin that another one said: mirrors begin alike, and the line of who is in
/// office stands behind.
fn unsaid(text: &str, said: &mut HashSet<String>) -> String {
    let begin = |sentence: &str| {
        sentence.split_whitespace().take(SAME_WORDS).collect::<Vec<_>>().join(" ").to_lowercase()
    };
    let mut new = text.len();
    for sentence in sentences(text) {
        if said.insert(begin(sentence)) && new == text.len() {
            new = text.find(sentence).unwrap_or_default();
        }
    }
    text.get(new..).unwrap_or_default().trim().to_owned()
}

/// The sentences in a row that bear most on the question and fit a passage.
fn window(text: &str, dated: bool, terms: &Terms, vocabulary: &mut Vocabulary, tongue: Tongue) -> String {
    if text.chars().count() <= PASSAGE_CHARS {
        return text.to_owned();
    }
    let parts = sentences(text);
    let mut best: Option<(f64, usize, String)> = None;
    for first in 0..parts.len() {
        let mut taken = String::new();
        for (last, part) in parts.iter().enumerate().skip(first) {
            let length = taken.chars().count();
            if length > 0 && length + 1 + part.chars().count() > PASSAGE_CHARS {
                break;
            }
            if length > 0 {
                taken.push(' ');
            }
            taken.push_str(part);
            let length = taken.chars().count();
            if length < FEWEST_CHARS && last + 1 < parts.len() {
                continue;
            }
            if dated && !is_dated(&taken) && parts.iter().any(|part| is_dated(part)) {
                continue;
            }
            let score = terms.score(&known(vocabulary, &taken, tongue));
            let better = best.as_ref().is_none_or(|(known, size, _)| {
                score > *known + 1e-9 || (score > *known - 1e-9 && length < *size && first == 0)
            });
            if better {
                best = Some((score, length, taken.clone()));
            }
        }
    }
    let chosen = best.map_or_else(|| text.to_owned(), |(.., chosen)| chosen);
    cut(&chosen)
}

/// Words of a text that stands in a paragraph that was read before: all of them are known.
fn known(vocabulary: &mut Vocabulary, text: &str, tongue: Tongue) -> Vec<usize> {
    vocabulary.read(text, tongue)
}

/// A text that fits a passage; a longer one ends at a word, with a mark.
fn cut(text: &str) -> String {
    if text.chars().count() <= PASSAGE_CHARS {
        return text.to_owned();
    }
    let end = text.char_indices().nth(PASSAGE_CHARS - 1).map_or(text.len(), |(at, _)| at);
    let head = text.get(..end).unwrap_or_default();
    let head = head.rsplit_once(char::is_whitespace).map_or(head, |(head, _)| head);
    format!("{head}…")
}

/// The first prose of a page.
#[must_use]
pub(super) fn lead(page: &Page) -> String {
    page.content().iter().find(|block| block.is_prose()).map(|block| block.text.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{read_html, read_plain};

    fn best(question: &str, tongue: Tongue, text: &str) -> Vec<String> {
        let page = read_plain(text);
        best_passages(question, tongue, &[&page]).remove(0).into_iter().map(|passage| passage.text).collect()
    }

    #[test]
    fn inflected_forms_answer_and_the_line_of_who_is_in_office_is_kept() {
        let text = "Die Wahl des Bundeskanzlers erfolgt auf Vorschlag des Bundespräsidenten durch den Bundestag.\n\n\
                    Amtsträger ist Friedrich Merz (seit 6. Mai 2025).\n\n\
                    Das Wetter im Mai ist oft wechselhaft und bringt manchmal noch Frost in die Gärten.";
        let found = best("Wer ist der Bundeskanzler?", Tongue::German, text);
        assert!(
            found
                .first()
                .is_some_and(|first| first.contains("Bundeskanzlers") && first.contains("Friedrich Merz")),
            "{found:?}"
        );
    }

    #[test]
    fn a_heading_that_asks_is_no_answer_and_rows_are() {
        let page = read_html(
            "<h2>Who leads NVIDIA?</h2><p>The chip maker NVIDIA is led by its founder Jensen Huang, who has been chief since 1993.</p>\
             <table><tr><th>Chief of NVIDIA<td>Jensen Huang (since 1993)</table>",
        );
        let found = best_passages("Who leads NVIDIA?", Tongue::English, &[&page]).remove(0);
        assert!(found.first().is_some_and(
            |passage| passage.text.starts_with("The chip maker") && passage.text.contains("since 1993")
        ));
    }

    #[test]
    fn long_paragraphs_give_the_sentences_that_matter() {
        let filler = "The harbour has a long history of trade with many places along the coast. ".repeat(8);
        let text = format!("{filler}The tower of Lindmark was built in 1874 by two brothers. {filler}");
        let found = best("When was the tower of Lindmark built?", Tongue::English, &text);
        let first = found.first().expect("a passage");
        assert!(first.contains("1874") && first.chars().count() <= PASSAGE_CHARS, "{first}");
    }

    #[test]
    fn what_a_page_adds_to_another_that_begins_alike_is_kept() {
        let first =
            read_plain("Der Bundeskanzler leitet die Regierung der Bundesrepublik Deutschland seit 1949.");
        let second = read_plain(
            "Der Bundeskanzler leitet die Regierung der Bundesrepublik Deutschland seit 1949.\n\nAmtsträger: Friedrich Merz (seit 6. Mai 2025).",
        );
        let found = best_passages("Wer ist der Bundeskanzler?", Tongue::German, &[&first, &second]);
        let second = found.get(1).and_then(|passages| passages.first()).expect("a passage");
        assert_eq!(
            second,
            &Passage { text: "Amtsträger: Friedrich Merz (seit 6. Mai 2025).".to_owned(), on_topic: true }
        );
    }

    #[test]
    fn a_page_about_something_else_says_so() {
        let page = read_plain(
            "Cows eat grass and give milk, which people have turned into cheese since ancient times.",
        );
        let found = best_passages("Who wrote Dune?", Tongue::English, &[&page]).remove(0);
        assert!(found.first().is_some_and(|passage| !passage.on_topic));
        assert!(best_passages("Who wrote Dune?", Tongue::English, &[&Page::default()]).remove(0).is_empty());
    }
}
