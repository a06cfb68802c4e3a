//! Leaves out what a reply says again word for word: small models fall into loops.

/// A reply without paragraphs that it had before, a sentence right behind itself, and, where it was cut, a last piece that
/// begins a paragraph again. Verse, lists and code, whose lines may repeat, stay as they are.
#[must_use]
pub fn collapse(text: &str, was_cut: bool) -> String {
    if text.contains("```") {
        return text.to_owned();
    }
    let mut kept: Vec<String> = Vec::new();
    let paragraphs: Vec<&str> = text.split("\n\n").collect();
    for (at, paragraph) in paragraphs.iter().enumerate() {
        let trimmed = paragraph.trim();
        let last = was_cut && at + 1 == paragraphs.len();
        let again = |before: &String| {
            let before = before.trim();
            before == trimmed || (last && !ends_a_sentence(trimmed) && before.starts_with(trimmed))
        };
        if trimmed.contains('\n') {
            kept.push((*paragraph).to_owned());
        } else if trimmed.is_empty() || !kept.iter().any(again) {
            kept.push(sentences(paragraph, was_cut));
        }
    }
    kept.join("\n\n").trim_end().to_owned()
}

fn ends_a_sentence(text: &str) -> bool {
    text.ends_with(['.', '!', '?', '…', ':', '"', '”', '“', '»', ')', '`', '|'])
}

/// A paragraph of one line without sentences that stand right behind themselves.
fn sentences(paragraph: &str, was_cut: bool) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut rest = paragraph;
    while !rest.is_empty() {
        let end = sentence_end(rest).unwrap_or(rest.len());
        let (sentence, after) = rest.split_at(end);
        rest = after;
        let same = |before: &&&str| before.trim() == sentence.trim();
        if kept.last().filter(same).is_none() || sentence.trim().is_empty() {
            kept.push(sentence);
        }
    }
    // A last piece that was cut is left out where the sentence before begins with it.
    if let [.., before, last] = kept.as_slice()
        && was_cut
        && !ends_a_sentence(last.trim())
        && !last.trim().is_empty()
        && before.trim().starts_with(last.trim())
    {
        kept.pop();
    }
    kept.concat().trim_end().to_owned()
}

/// Behind a mark that ends a sentence, with white space behind it.
fn sentence_end(text: &str) -> Option<usize> {
    text.char_indices()
        .zip(text.char_indices().skip(1))
        .find(|((_, mark), (_, next))| ['.', '!', '?'].contains(mark) && next.is_whitespace())
        .map(|(_, (at, next))| at + next.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::collapse;

    #[test]
    fn what_is_said_again_is_left_out() {
        let cases = [
            ("It rains. It rains. It rains. Then it snows.", "It rains. Then it snows."),
            ("Es regnet! Es regnet! Dann schneit es.", "Es regnet! Dann schneit es."),
            (
                "One paragraph.\n\nAnother one.\n\nOne paragraph.\n\nEnd.",
                "One paragraph.\n\nAnother one.\n\nEnd.",
            ),
            ("A river rises in the hills.\n\nA river rises in", "A river rises in the hills."),
            ("Der Fluss entspringt im Wald. Der Fluss ents", "Der Fluss entspringt im Wald."),
        ];
        for (text, expected) in cases {
            assert_eq!(collapse(text, true), expected);
        }
    }

    #[test]
    fn what_only_looks_alike_stays() {
        for text in [
            "Row, row, row your boat.\nRow, row, row your boat.\nGently down the stream.",
            "It rains. It rained. It rains.",
            "- one\n- one\n- two",
            "Yes. No. Yes. No.",
            "The value is 3.5. The value is 3.6.",
            "Ja.\n\nNein.",
            "A list:\n\n1. A\n\n2. A",
            "```python\ndef a():\n\n    pass\n\ndef b():\n\n    pass\n\n```",
            "Row your boat,\ngently.\n\nLife is but a dream.\n\nRow your boat,\ngently.",
            "Berlin is the capital of Germany.\n\nShort answer:\n\nBerlin",
            "",
        ] {
            assert_eq!(collapse(text, false), text);
        }
    }
}
