//! What of a long page bears on a question: its beginning, and the blocks that hold most of the question, in order.

use super::{Terms, Tongue, Vocabulary};
use crate::links::links;
use crate::reading::Page;

/// Share of the characters that the page's beginning takes in any case.
const BEGIN: f64 = 0.2;

/// The text of a page within so many characters, with a mark where something is left out. None where no block holds a
/// word of the question: then its beginning says as much.
#[must_use]
pub fn excerpt(page: &Page, question: &str, tongue: Tongue, chars: usize) -> Option<String> {
    let mut asked = question.to_owned();
    for span in links(question).into_iter().rev() {
        asked.replace_range(span, " ");
    }
    let content = page.content();
    let mut vocabulary = Vocabulary::default();
    let read: Vec<Vec<usize>> = content.iter().map(|block| vocabulary.read(&block.text, tongue)).collect();
    let terms = Terms::new(&asked, tongue, &vocabulary, &read);
    let mut order: Vec<(f64, usize)> = read
        .iter()
        .enumerate()
        .map(|(at, words)| (terms.score(words), at))
        .filter(|(score, _)| *score > 0.0)
        .collect();
    if order.is_empty() {
        return None;
    }
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let length = |at: usize| content.get(at).map_or(0, |block| block.text.chars().count() + GAP);
    let mut chosen = Vec::new();
    let mut left = chars;
    let take = |at: usize, left: &mut usize, chosen: &mut Vec<usize>| {
        if !chosen.contains(&at) && length(at) <= *left {
            *left -= length(at);
            chosen.push(at);
        }
    };
    let first = content.iter().position(|block| block.is_prose()).unwrap_or_default();
    let begin = (chars as f64 * BEGIN) as usize;
    let mut used = 0;
    for at in first..content.len() {
        used += length(at);
        if used > begin {
            break;
        }
        take(at, &mut left, &mut chosen);
    }
    for (_, at) in order {
        // The heading over a block says what it is about.
        let heading = (0..at).rev().find(|at| content.get(*at).is_some_and(|block| block.is_heading()));
        if let Some(heading) = heading.filter(|heading| at - heading <= 3) {
            take(heading, &mut left, &mut chosen);
        }
        take(at, &mut left, &mut chosen);
    }
    chosen.sort_unstable();
    Some(page.text_of(&chosen))
}

/// Characters that a block takes besides its text: line breaks, and the mark of a gap.
const GAP: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::read_plain;

    #[test]
    fn a_long_page_gives_its_begin_and_what_was_asked() {
        let filler =
            "The harbour has a long history of trade with many places along the coast, it is said.\n\n";
        let text = format!(
            "Lindmark is a village on the coast with a tower and a harbour of its own.\n\n{}The tower was finished in 1874 by the brothers Aster, who lived there.\n\n{}",
            filler.repeat(60),
            filler.repeat(60)
        );
        let page = read_plain(&text);
        let found = excerpt(&page, "Who finished the tower? https://a.example/harbour", Tongue::English, 900)
            .expect("an excerpt");
        assert!(found.starts_with("Lindmark is a village") && found.contains("1874"), "{found}");
        assert!(found.contains("[…]") && found.chars().count() <= 900, "{found}");
        assert_eq!(excerpt(&page, "https://a.example/harbour", Tongue::English, 900), None);
    }
}
