//! Finds arithmetic in a message: runs of numbers, symbols, brackets and operators.

use super::flags;
use super::lexer::Token;
use super::phrases::{Hit, List, is_list};
use crate::artifact::layout::role;

/// Tokens `start..end` that form an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Number,
    /// `+ - * / ^ %`
    Operator,
    /// A word of `operators` between its operands.
    Infix,
    /// A word in front of its operand (a root).
    Prefix,
    /// A word behind its operand (squared).
    Postfix,
    /// A word that belongs to a figure (percent).
    Unit,
    Open,
    Close,
    /// Currency, `=`, `°` and other symbols.
    Other,
}

/// Expressions of the message. `message` is the text as given.
pub(super) fn runs(message: &str, tokens: &[Token], hits: &[Hit]) -> Vec<Run> {
    let bytes = message.as_bytes();
    let mut parts: Vec<Option<Part>> = tokens.iter().map(|token| part(bytes, token)).collect();
    for hit in hits.iter().filter(|hit| is_list(hit, List::Operators)) {
        let word = match (hit.role & role::PREFIX != 0, hit.role & role::POSTFIX != 0) {
            (false, false) => Part::Infix,
            (true, false) => Part::Prefix,
            (false, true) => Part::Postfix,
            (true, true) => Part::Unit,
        };
        for slot in parts.iter_mut().take(hit.end as usize).skip(hit.start as usize) {
            // A percent sign within "% of" stays a symbol, and "percent of" is more than "percent".
            if matches!(slot, None | Some(Part::Unit)) {
                *slot = Some(word);
            }
        }
    }
    let mut out = Vec::new();
    let mut at = 0;
    while at < parts.len() {
        if parts.get(at).copied().flatten().is_none() {
            at += 1;
            continue;
        }
        let start = at;
        while parts.get(at).copied().flatten().is_some() {
            at += 1;
        }
        if let Some(run) =
            trim(bytes, tokens, &parts, start, at).filter(|run| is_expression(bytes, tokens, &parts, *run))
        {
            out.push(run);
        }
    }
    out
}

fn part(bytes: &[u8], token: &Token) -> Option<Part> {
    let byte = bytes.get(token.start as usize).copied().unwrap_or_default();
    if token.has(flags::NUMBER) {
        // A figure with a leading zero is a name (a telephone number, a code), not a quantity.
        let next = bytes.get(token.start as usize + 1).filter(|_| token.end - token.start > 1);
        (byte != b'0' || !next.is_some_and(u8::is_ascii_digit)).then_some(Part::Number)
    } else if token.has(flags::SYMBOL) {
        let text = bytes.get(token.start as usize..token.end as usize).unwrap_or_default();
        let operator = matches!(byte, b'+' | b'-' | b'*' | b'/' | b'^' | b'%')
            || ["×", "÷", "·", "−", "∙", "⋅", "∶"].iter().any(|sign| sign.as_bytes() == text);
        Some(if operator { Part::Operator } else { Part::Other })
    } else if token.has(flags::BRACKET) {
        Some(if byte == b'(' { Part::Open } else { Part::Close })
    } else {
        None
    }
}

/// Drops what cannot begin or end an expression: an operator without its operand, a bracket without its partner.
fn trim(bytes: &[u8], tokens: &[Token], parts: &[Option<Part>], start: usize, end: usize) -> Option<Run> {
    let get = |at: usize| parts.get(at).copied().flatten();
    let text =
        |at: usize| tokens.get(at).and_then(|token| bytes.get(token.start as usize..token.end as usize));
    let (mut start, mut end) = (start, end);
    let begins = |at: usize| match get(at) {
        Some(Part::Number | Part::Open | Part::Prefix) => true,
        Some(Part::Operator) => matches!(text(at), Some(b"-" | b"+")),
        Some(Part::Other) => !matches!(text(at), Some(b"=" | b"@" | b"#" | b"&")),
        _ => false,
    };
    let ends = |at: usize| match get(at) {
        Some(Part::Number | Part::Close | Part::Postfix | Part::Unit) => true,
        Some(Part::Operator) => text(at) == Some(b"%"),
        Some(Part::Other) => !matches!(text(at), Some(b"@" | b"#" | b"&")),
        _ => false,
    };
    while start < end && !begins(start) {
        start += 1;
    }
    while start < end && !ends(end - 1) {
        end -= 1;
    }
    // Brackets that have no partner inside belong to the sentence around it.
    loop {
        let mut depth = 0_i32;
        let mut unmatched_close = None;
        let mut opens = Vec::new();
        for at in start..end {
            match get(at) {
                Some(Part::Open) => {
                    depth += 1;
                    opens.push(at);
                }
                Some(Part::Close) => {
                    depth -= 1;
                    if opens.pop().is_none() {
                        unmatched_close.get_or_insert(at);
                    }
                }
                _ => {}
            }
        }
        if depth == 0 && unmatched_close.is_none() {
            break;
        }
        if unmatched_close == Some(end - 1) {
            end -= 1;
        } else if opens.first() == Some(&start) {
            start += 1;
        } else {
            break;
        }
    }
    (start < end).then_some(Run { start, end })
}

fn is_expression(bytes: &[u8], tokens: &[Token], parts: &[Option<Part>], run: Run) -> bool {
    let inside = parts.get(run.start..run.end).unwrap_or_default();
    let numbers = inside.iter().filter(|part| **part == Some(Part::Number)).count();
    let unary = inside.contains(&Some(Part::Prefix)) || inside.contains(&Some(Part::Postfix));
    let word = unary || inside.contains(&Some(Part::Infix));
    let operator = inside.contains(&Some(Part::Operator));
    if numbers == 0 || !(word || operator) {
        return false;
    }
    let in_run = tokens.get(run.start..run.end).unwrap_or_default();
    // "-5", "50%" and "50 percent" alone are figures, not sums.
    if !unary && numbers < 2 {
        return false;
    }
    let spaced = in_run.windows(2).any(|pair| matches!(pair, [a, b] if a.end != b.start));
    if word || spaced {
        return true;
    }
    let first = in_run.first().map_or(0, |token| token.start as usize);
    let last = in_run.last().map_or(0, |token| token.end as usize);
    let text = bytes.get(first..last).and_then(|raw| std::str::from_utf8(raw).ok()).unwrap_or_default();
    !reads_otherwise(text)
}

/// Whether digits joined by one of `- . / :` read as a date, a time, a score or a version.
fn reads_otherwise(text: &str) -> bool {
    let Some(joiner) = text.chars().find(|c| !c.is_ascii_digit()) else { return true };
    if !matches!(joiner, '-' | '.' | '/' | ':') {
        return false;
    }
    let parts: Vec<&str> = text.split(joiner).collect();
    if parts.iter().any(|part| part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit())) {
        return false;
    }
    let number = |at: usize| parts.get(at).and_then(|part| part.parse::<u32>().ok()).unwrap_or(u32::MAX);
    let length = |at: usize| parts.get(at).map_or(0, |part| part.len());
    match (parts.len(), joiner) {
        // A time; a version of two parts is a decimal number and no expression anyway.
        (2, ':') => number(0) <= 24 && length(1) == 2 && number(1) < 60,
        (3, ':') => number(0) <= 24 && number(1) < 60 && number(2) < 60,
        // Day and month in either order; 24/7.
        (2, '/') => {
            (number(0) <= 31 && number(1) <= 12) || (number(0) <= 12 && number(1) <= 31) || text == "24/7"
        }
        // A score; a range, such as a pair of years.
        (2, '-') => {
            (length(0) <= 2 && length(1) <= 2)
                || (length(0) == 4 && length(1) == 2)
                || (length(0) <= 4 && length(1) <= 4 && number(0) < number(1))
        }
        // Dates with year first or last; versions.
        (3, '-' | '/') => {
            (length(0) == 4 && number(1) <= 12 && number(2) <= 31)
                || (matches!(length(2), 2 | 4) && number(0) <= 31 && number(1) <= 31)
        }
        (_, '.') => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::reads_otherwise;

    #[test]
    fn dates_times_scores_and_versions_are_no_expressions() {
        for text in
            ["2024-05-01", "9/11", "24/7", "3-1", "18:30", "1.2.3", "01/05/2024", "1990-1995", "973-1048"]
        {
            assert!(reads_otherwise(text), "{text}");
        }
        for text in ["98765-4321", "500-300", "144/12*2", "2^20", "100/4", "1000/8", "7*6", "3+4"] {
            assert!(!reads_otherwise(text), "{text}");
        }
    }
}
