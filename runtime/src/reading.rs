//! From a page as it came to what a reader would read: blocks of text, told apart from navigation, cookie layers and
//! other furniture.
#![deny(clippy::indexing_slicing)]

mod furniture;
mod html;
mod plain;
mod render;
mod results;
mod sentences;

pub use html::read_html;
pub use plain::read_plain;
pub use results::{Listed, read_results};
pub use sentences::sentences;

/// A page, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Its title; empty where it has none.
    pub title: String,
    /// The language it says it is in, such as `de` or `en-GB`.
    pub language: Option<String>,
    /// It is not here as a whole.
    pub cut: bool,
    /// Its text, in order.
    pub blocks: Vec<Block>,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// A heading of a level from 1 to 6.
    Heading(u8),
    /// A paragraph, or text that stands like one.
    Paragraph,
    /// An entry of a list.
    Item,
    /// A row of a table: cells, or a name with its value.
    Row,
    /// Preformatted text.
    Code,
}

/// A block of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Its text, with single spaces.
    pub text: String,
    /// Bytes of it that are links.
    pub linked: usize,
    /// It belongs to navigation, a cookie layer or the like.
    pub furniture: bool,
}

/// Characters, words and shape of prose (reference: 60 characters and 8 words, a sentence's end).
const PROSE_CHARS: usize = 60;
const PROSE_WORDS: usize = 8;

impl Block {
    /// Whether it is prose: long enough, ending a sentence, not mostly links.
    #[must_use]
    pub fn is_prose(&self) -> bool {
        matches!(self.kind, BlockKind::Paragraph | BlockKind::Item)
            && self.linked * 2 <= self.text.len()
            && is_prose(&self.text)
    }

    /// Whether it is a heading.
    #[must_use]
    pub fn is_heading(&self) -> bool {
        matches!(self.kind, BlockKind::Heading(_))
    }
}

/// Whether a text is long enough for prose and holds the end of a sentence.
#[must_use]
pub fn is_prose(text: &str) -> bool {
    text.chars().nth(PROSE_CHARS - 1).is_some()
        && text.split_whitespace().nth(PROSE_WORDS - 1).is_some()
        && ends_a_sentence(text)
}

/// Whether a text ends as sentences do.
#[must_use]
pub fn ends_a_sentence(text: &str) -> bool {
    text.trim_end_matches(|c: char| c.is_whitespace() || "\"'”“’‘»«)]".contains(c))
        .ends_with(['.', '!', '?', '…', '。', '？', '！', ':'])
}

impl Page {
    /// Blocks that are no furniture; those of the whole page where a page marks all of its prose as furniture.
    #[must_use]
    pub fn content(&self) -> Vec<&Block> {
        let content: Vec<&Block> = self.blocks.iter().filter(|block| !block.furniture).collect();
        let marked = |block: &&Block| !furniture::is_notice(&block.text);
        let prose = self.blocks.iter().filter(marked).any(Block::is_prose);
        if content.iter().any(|block| block.is_prose()) || !prose {
            return content;
        }
        self.blocks.iter().filter(marked).collect()
    }

    /// The text of some blocks of its content, by number in order, with `[…]` where others are left out.
    #[must_use]
    pub fn text_of(&self, chosen: &[usize]) -> String {
        render::some(&self.content(), chosen)
    }

    /// The text of the page from its first prose on: headings with `#`, entries with `-`, an empty line between
    /// blocks.
    #[must_use]
    pub fn text(&self) -> String {
        render::text(&self.content())
    }
}
