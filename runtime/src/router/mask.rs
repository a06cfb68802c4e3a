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
///
/// Linear in the message: every step reads it once, and each mask is merged with those before it in one pass.
pub(super) fn masks(message: &str, mut envelopes: Vec<Range<usize>>) -> Vec<Mask> {
    let mut masks = Masks { message, found: Vec::new(), open: word_characters(message) };
    envelopes.sort_by_key(|range| (range.start, range.end));
    masks.keep(envelopes.into_iter().map(|range| Mask { range, kind: MaskKind::Envelope }).collect());
    masks.keep(unread_middle(message));
    let steps: [Step; 5] = [fences, quoted_lines, inline_code, quotations, pasted_lines];
    for step in steps {
        let fresh = step(message, &masks.found);
        masks.keep(fresh);
    }
    masks.found
}

fn word_characters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

/// The masks so far, and how many letters and digits they leave.
struct Masks<'m> {
    message: &'m str,
    found: Vec<Mask>,
    open: usize,
}

impl Masks<'_> {
    /// Adds those of the masks, which are in order, that overlap none and leave a letter or digit.
    fn keep(&mut self, fresh: Vec<Mask>) {
        if fresh.is_empty() {
            return;
        }
        let mut merged = Vec::with_capacity(self.found.len() + fresh.len());
        let mut known = std::mem::take(&mut self.found).into_iter().peekable();
        let mut end = 0;
        for mask in fresh {
            while let Some(before) = known.next_if(|known| known.range.end <= mask.range.start) {
                end = before.range.end;
                merged.push(before);
            }
            let overlaps =
                mask.range.start < end || known.peek().is_some_and(|next| next.range.start < mask.range.end);
            if overlaps || mask.range.is_empty() {
                continue;
            }
            let hidden = word_characters(self.message.get(mask.range.clone()).unwrap_or_default());
            if hidden < self.open {
                self.open -= hidden;
                end = mask.range.end;
                merged.push(mask);
            }
        }
        merged.extend(known);
        self.found = merged;
    }
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

/// Whether one of the masks, which are in order, holds the byte.
fn masked(masks: &[Mask], at: usize) -> bool {
    let next = masks.partition_point(|mask| mask.range.end <= at);
    masks.get(next).is_some_and(|mask| mask.range.start <= at)
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

/// Where a text occurs next; asked for places in rising order, it reads the message once.
struct Next<'m> {
    message: &'m str,
    wanted: char,
    at: Option<usize>,
}

impl Next<'_> {
    /// Byte of the next occurrence at or behind `from`; the message's length without one.
    fn from(&mut self, from: usize) -> usize {
        match self.at {
            Some(at) if at >= from => at,
            _ => {
                let rest = self.message.get(from..).unwrap_or_default();
                let at = rest.find(self.wanted).map_or(self.message.len(), |offset| from + offset);
                self.at = Some(at);
                at
            }
        }
    }
}

fn quotations(message: &str, found: &[Mask]) -> Vec<Mask> {
    let mut out = Vec::new();
    let mut nexts = ['"', '“', '”', '«', '»'].map(|wanted| Next { message, wanted, at: None });
    let mut paragraph = 0;
    let mut skip_to = 0;
    for (start, open) in message.char_indices() {
        let closers = closers(open);
        if closers.is_empty() || start < skip_to || masked(found, start) {
            continue;
        }
        let inner = start + open.len_utf8();
        if paragraph < inner {
            let rest = message.get(inner..).unwrap_or_default();
            paragraph = rest.find("\n\n").map_or(message.len(), |offset| inner + offset);
        }
        let close = nexts
            .iter_mut()
            .filter(|next| closers.contains(&next.wanted))
            .map(|next| (next.from(inner), next.wanted))
            .min()
            .filter(|&(end, _)| end < paragraph);
        if let Some((end, close)) = close
            && end > inner
        {
            skip_to = end + close.len_utf8();
            out.push(quotation(message, start..skip_to));
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
