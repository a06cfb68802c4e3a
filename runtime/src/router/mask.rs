//! Finds what a message quotes, pastes or wraps: text that must not route.
//!
//! In order: fenced code, lines that start with `>`, inline code, paired double quotes, runs of pasted lines.
//! A short quotation stays as one token; everything else counts as pasted. A mask that would leave no word is
//! lifted. Beyond [`READ_LIMIT`] characters only the two ends are read.

use std::ops::Range;

/// Longest message that is read whole, in characters.
pub(super) const READ_LIMIT: usize = 4_000;
/// Characters read at each end of a longer message.
pub(super) const READ_ENDS: usize = 600;
/// A quotation or inline code of at most this many words stays.
const SHORT_QUOTE_WORDS: usize = 5;
/// A run of at least this many lines that look pasted is pasted.
const PASTED_LINES: usize = 4;
/// A line longer than this many characters looks pasted.
const PASTED_LINE_LENGTH: usize = 200;

/// What a range of the message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MaskKind {
    /// Not read at all.
    Pasted,
    /// Read as one written word.
    Quote,
    /// A front end's wrapper: not read, not counted as pasted.
    Envelope,
}

/// One kind of mask: finds it in what the steps before left.
type Step = fn(&str, &[Mask]) -> Vec<Mask>;

/// A masked byte range of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mask {
    pub(super) range: Range<usize>,
    pub(super) kind: MaskKind,
}

/// Whether the message can hold anything to mask; most do not.
pub(super) fn may_mask(message: &str) -> bool {
    message.len() > READ_LIMIT
        || message.bytes().any(|byte| matches!(byte, b'`' | b'"' | b'\n' | b'>' | 0xC2 | 0xE2))
}

/// Masks of a message, in order and without overlap. `envelopes` are ranges found by host items.
pub(super) fn masks(message: &str, envelopes: Vec<Range<usize>>) -> Vec<Mask> {
    let mut found: Vec<Mask> = Vec::new();
    let envelopes = envelopes.into_iter().map(|range| Mask { range, kind: MaskKind::Envelope }).collect();
    keep(message, &mut found, envelopes);
    keep(message, &mut found, unread_middle(message));
    let steps: [Step; 5] = [fences, quoted_lines, inline_code, quotations, pasted_lines];
    for step in steps {
        let fresh = step(message, &found);
        keep(message, &mut found, fresh);
    }
    found
}

/// Adds masks that overlap none and leave a word.
fn keep(message: &str, found: &mut Vec<Mask>, fresh: Vec<Mask>) {
    for mask in fresh {
        let overlaps = found.iter().any(|m| m.range.start < mask.range.end && mask.range.start < m.range.end);
        if overlaps || mask.range.is_empty() {
            continue;
        }
        let at = found.partition_point(|m| m.range.start < mask.range.start);
        found.insert(at, mask);
        if !has_word(message, found) {
            found.remove(at);
        }
    }
}

fn has_word(message: &str, masks: &[Mask]) -> bool {
    open_ranges(message, masks)
        .any(|range| message.get(range).is_some_and(|text| text.chars().any(char::is_alphanumeric)))
}

/// Ranges of the message between the masks.
pub(super) fn open_ranges<'a>(message: &str, masks: &'a [Mask]) -> impl Iterator<Item = Range<usize>> + 'a {
    let mut at = 0;
    let end = message.len();
    masks.iter().map(|m| Some(m.range.clone())).chain(std::iter::once(None)).filter_map(move |mask| {
        let open = at..mask.as_ref().map_or(end, |range| range.start);
        at = mask.map_or(end, |range| range.end);
        (!open.is_empty()).then_some(open)
    })
}

fn masked(masks: &[Mask], at: usize) -> bool {
    masks.iter().any(|mask| mask.range.contains(&at))
}

fn unread_middle(message: &str) -> Vec<Mask> {
    if message.len() <= READ_LIMIT || message.chars().take(READ_LIMIT + 1).count() <= READ_LIMIT {
        return Vec::new();
    }
    let head = message.char_indices().nth(READ_ENDS).map_or(message.len(), |(at, _)| at);
    let tail = message.char_indices().rev().nth(READ_ENDS - 1).map_or(0, |(at, _)| at);
    let head_edge = message.get(..head).and_then(|text| text.rfind(char::is_whitespace)).filter(|&at| at > 0);
    let tail_edge = message.get(tail..).and_then(|text| text.find(char::is_whitespace)).map(|at| tail + at);
    let range = head_edge.unwrap_or(head)..tail_edge.unwrap_or(tail);
    vec![Mask { range, kind: MaskKind::Pasted }]
}

/// Lines of the message as byte ranges without their line break.
fn lines(message: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    message
        .split_inclusive('\n')
        .map(|line| {
            let range = at..at + line.trim_end_matches(['\n', '\r']).len();
            at += line.len();
            range
        })
        .collect()
}

fn line_text<'a>(message: &'a str, range: &Range<usize>) -> &'a str {
    message.get(range.clone()).unwrap_or_default()
}

fn fences(message: &str, found: &[Mask]) -> Vec<Mask> {
    let mut out = Vec::new();
    let mut open: Option<(usize, &str)> = None;
    for line in lines(message) {
        let text = line_text(message, &line).trim_start();
        let fence = ["```", "~~~"].into_iter().find(|fence| text.starts_with(fence));
        match (open, fence) {
            (None, Some(fence)) if !masked(found, line.start) => open = Some((line.start, fence)),
            (Some((start, opened)), Some(fence))
                if fence == opened && text.trim_end().len() == fence.len() =>
            {
                out.push(Mask { range: start..line.end, kind: MaskKind::Pasted });
                open = None;
            }
            _ => {}
        }
    }
    if let Some((start, _)) = open {
        out.push(Mask { range: start..message.len(), kind: MaskKind::Pasted });
    }
    out
}

fn quoted_lines(message: &str, found: &[Mask]) -> Vec<Mask> {
    lines(message)
        .into_iter()
        .filter(|line| line_text(message, line).trim_start().starts_with('>') && !masked(found, line.start))
        .map(|range| Mask { range, kind: MaskKind::Pasted })
        .collect()
}

/// A quotation between two characters: short ones stay as a token.
fn quotation(message: &str, range: Range<usize>) -> Mask {
    let inner = message.get(range.clone()).unwrap_or_default();
    let words = inner.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count();
    let kind = if words <= SHORT_QUOTE_WORDS { MaskKind::Quote } else { MaskKind::Pasted };
    Mask { range, kind }
}

fn inline_code(message: &str, found: &[Mask]) -> Vec<Mask> {
    let mut out = Vec::new();
    for line in lines(message) {
        let mut at = line.start;
        while let Some(start) = message.get(at..line.end).and_then(|text| text.find('`')).map(|n| at + n) {
            let Some(end) = message.get(start + 1..line.end).and_then(|text| text.find('`')) else { break };
            let range = start..start + 1 + end + 1;
            at = range.end;
            if !masked(found, start) && range.len() > 2 {
                out.push(quotation(message, range));
            }
        }
    }
    out
}

fn closers(open: char) -> &'static [char] {
    match open {
        '"' => &['"'],
        '„' => &['“', '”', '"'],
        '“' => &['”', '"'],
        '«' => &['»'],
        '»' => &['«'],
        _ => &[],
    }
}

fn quotations(message: &str, found: &[Mask]) -> Vec<Mask> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some((offset, open)) =
        message.get(at..).and_then(|rest| rest.char_indices().find(|(_, c)| !closers(*c).is_empty()))
    {
        let start = at + offset;
        let inner = start + open.len_utf8();
        at = inner;
        if masked(found, start) {
            continue;
        }
        let rest = message.get(inner..).unwrap_or_default();
        let paragraph = rest.find("\n\n").unwrap_or(rest.len());
        let close = rest.get(..paragraph).and_then(|text| {
            text.char_indices()
                .find(|(_, c)| closers(open).contains(c))
                .map(|(n, c)| (inner + n, c.len_utf8()))
        });
        if let Some((end, width)) = close
            && end > inner
        {
            out.push(quotation(message, start..end + width));
            at = end + width;
        }
    }
    out
}

fn looks_pasted(line: &str) -> bool {
    let trimmed = line.trim_start();
    if trimmed.is_empty() {
        return false;
    }
    let indented = line.starts_with("    ") || line.starts_with('\t') || line.starts_with("  ");
    let bracket = trimmed.starts_with(['{', '}', '[', ']', '<', '(', ')']);
    let key = trimmed.split_once([':', '=']).is_some_and(|(key, _)| {
        let key = key.trim_end().trim_matches(['"', '\'', '-', ' ']);
        !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c))
    });
    indented || bracket || key || line.chars().nth(PASTED_LINE_LENGTH).is_some()
}

fn pasted_lines(message: &str, found: &[Mask]) -> Vec<Mask> {
    let mut out = Vec::new();
    let mut run: Vec<Range<usize>> = Vec::new();
    let mut flush = |run: &mut Vec<Range<usize>>| {
        if let (Some(first), Some(last), true) = (run.first(), run.last(), run.len() >= PASTED_LINES) {
            out.push(Mask { range: first.start..last.end, kind: MaskKind::Pasted });
        }
        run.clear();
    };
    for line in lines(message) {
        if looks_pasted(line_text(message, &line)) && !masked(found, line.start) {
            run.push(line);
        } else {
            flush(&mut run);
        }
    }
    flush(&mut run);
    out
}
