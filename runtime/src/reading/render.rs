//! Blocks as text.

use std::fmt::Write as _;

use super::{Block, BlockKind};

/// Headings with `#`, entries with `-`, an empty line between what is no list or table. What stands before the first
/// prose is left out, but for its headings.
pub(super) fn text(blocks: &[&Block]) -> String {
    let all: Vec<usize> = (first_read(blocks)..blocks.len()).collect();
    some(blocks, &all)
}

/// The same of some of the blocks, by number in order, with a mark where others are left out.
pub(super) fn some(blocks: &[&Block], chosen: &[usize]) -> String {
    let mut out = String::new();
    let mut before: Option<(usize, BlockKind)> = None;
    for at in chosen {
        let Some(block) = blocks.get(*at) else { continue };
        let goes_on = before.is_none_or(|(last, _)| last + 1 == *at);
        let runs_on = before.is_some_and(|(_, kind)| kind == block.kind)
            && goes_on
            && matches!(block.kind, BlockKind::Item | BlockKind::Row);
        if !out.is_empty() {
            out.push_str(match (goes_on, runs_on) {
                (false, _) => "\n\n[…]\n\n",
                (true, true) => "\n",
                (true, false) => "\n\n",
            });
        }
        // Writing to a string does not fail.
        let _ = match block.kind {
            BlockKind::Heading(level) => write!(out, "{} {}", "#".repeat(usize::from(level)), block.text),
            BlockKind::Item => write!(out, "- {}", block.text),
            BlockKind::Paragraph | BlockKind::Row | BlockKind::Code => write!(out, "{}", block.text),
        };
        before = Some((*at, block.kind));
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
