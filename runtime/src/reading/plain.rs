//! Text without markup to blocks: paragraphs by empty lines, headings as MediaWiki and Markdown write them.

use super::{Block, BlockKind, Page};

/// Takes plain text apart.
#[must_use]
pub fn read_plain(text: &str) -> Page {
    let mut page = Page::default();
    let mut paragraph = String::new();
    for line in text.lines().map(str::trim).chain([""]) {
        let heading = heading(line);
        if line.is_empty() || heading.is_some() {
            push(&mut page, BlockKind::Paragraph, std::mem::take(&mut paragraph));
        }
        match heading {
            Some((level, text)) => push(&mut page, BlockKind::Heading(level), text.to_owned()),
            None => {
                // MediaWiki's plain text has a paragraph a line.
                if super::ends_a_sentence(&paragraph) {
                    push(&mut page, BlockKind::Paragraph, std::mem::take(&mut paragraph));
                }
                if !paragraph.is_empty() {
                    paragraph.push(' ');
                }
                paragraph.push_str(line);
            }
        }
    }
    page
}

fn push(page: &mut Page, kind: BlockKind, text: String) {
    let text = text.trim();
    if !text.is_empty() {
        page.blocks.push(Block { kind, text: text.to_owned(), linked: 0, furniture: false });
    }
}

/// `== Text ==` and `## Text`.
fn heading(line: &str) -> Option<(u8, &str)> {
    let level = |mark: char| line.chars().take_while(|c| *c == mark).count();
    let (equals, hashes) = (level('='), level('#'));
    if (2..=6).contains(&equals) && line.len() > 2 * equals && line.ends_with(line.get(..equals)?) {
        return Some((u8::try_from(equals).ok()?, line.trim_matches('=').trim()));
    }
    let behind = line.get(hashes..)?;
    ((1..=6).contains(&hashes) && behind.starts_with(' '))
        .then_some((u8::try_from(hashes).ok()?, behind.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_and_headings_are_told_apart() {
        let page = read_plain(
            "Paris is the capital.\nIt lies on the\nSeine.\n\n== History ==\nOld.\n# Head\n#tag\n====\n",
        );
        let blocks: Vec<(BlockKind, &str)> =
            page.blocks.iter().map(|block| (block.kind, block.text.as_str())).collect();
        assert_eq!(
            blocks,
            [
                (BlockKind::Paragraph, "Paris is the capital."),
                (BlockKind::Paragraph, "It lies on the Seine."),
                (BlockKind::Heading(2), "History"),
                (BlockKind::Paragraph, "Old."),
                (BlockKind::Heading(1), "Head"),
                (BlockKind::Paragraph, "#tag ===="),
            ]
        );
    }
}
