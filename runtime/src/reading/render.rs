//! Blocks as text.

use std::fmt::Write as _;

use super::{Block, BlockKind};

/// Headings with `#`, entries with `-`, an empty line between what is no list or table. What stands before the first
/// prose is left out, but for its headings.
pub(super) fn text(blocks: &[&Block]) -> String {
    let first = first_read(blocks);
    let mut out = String::new();
    let mut before: Option<BlockKind> = None;
    for block in blocks.get(first..).unwrap_or_default() {
        let runs_on = before == Some(block.kind) && matches!(block.kind, BlockKind::Item | BlockKind::Row);
        if !out.is_empty() {
            out.push_str(if runs_on { "\n" } else { "\n\n" });
        }
        // Writing to a string does not fail.
        let _ = match block.kind {
            BlockKind::Heading(level) => write!(out, "{} {}", "#".repeat(usize::from(level)), block.text),
            BlockKind::Item => write!(out, "- {}", block.text),
            BlockKind::Paragraph | BlockKind::Row | BlockKind::Code => write!(out, "{}", block.text),
        };
        before = Some(block.kind);
    }
    out
}

/// The first block that is read: the first prose, or the headings and rows directly before it. Where there is no
/// prose, the first block.
fn first_read(blocks: &[&Block]) -> usize {
    let Some(prose) = blocks.iter().position(|block| block.is_prose()) else { return 0 };
    let before = blocks.get(..prose).unwrap_or_default();
    let kept = before.iter().rev().take_while(|block| match block.kind {
        BlockKind::Heading(_) | BlockKind::Row | BlockKind::Code => true,
        BlockKind::Paragraph | BlockKind::Item => {
            block.linked * 2 < block.text.len() && super::ends_a_sentence(&block.text)
        }
    });
    prose - kept.count()
}
