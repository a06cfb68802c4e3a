//! Tells a follow-up from a request of its own, and finds the lead-in of a message.

use super::flags;
use super::lexer::Token;
use super::matcher::Form;
use super::phrases::{Hit, List, is_list, longest_at, skip_marks};

/// Most words of a continuation that starts with `continues`.
const LONGEST_CONTINUATION: usize = 12;
/// Most words of a follow-up that does not.
const LONGEST_FRAGMENT: usize = 4;

/// Whether the tokens `start..end` ask with a subject of their own: a question word or request first, a content
/// word later, and nothing that points back.
pub(super) fn asks_with_own_subject(tokens: &[Token], hits: &[Hit], start: usize, end: usize) -> bool {
    let first = skip_marks(tokens, start, end);
    let asking = starts(tokens, hits, List::Asks, flags::ASKS, first, end)
        .into_iter()
        .chain(starts(tokens, hits, List::Requests, flags::REQUESTS, first, end))
        .max();
    let Some(behind) = asking else { return false };
    let content = tokens.get(behind..end).is_some_and(|rest| {
        rest.iter().any(|token| token.is_content() || token.has(flags::QUOTE | flags::URL))
    });
    content && !has_anaphor(tokens, hits, first, end)
}

/// Behind the phrase or word of a list that stands at `at`.
fn starts(tokens: &[Token], hits: &[Hit], list: List, flag: u32, at: usize, end: usize) -> Option<usize> {
    let single = tokens.get(at).filter(|token| at < end && token.has(flag)).map(|_| at + 1);
    longest_at(hits, list, at, end).max(single)
}

/// Whether something points back. A word that is also an article does not when a content word follows it.
fn has_anaphor(tokens: &[Token], hits: &[Hit], start: usize, end: usize) -> bool {
    let article = |at: usize| {
        tokens.get(at).is_some_and(|token| token.has(flags::ARTICLES))
            && tokens
                .get(at + 1)
                .is_some_and(|next| at + 1 < end && (next.is_content() || next.has(flags::QUOTE)))
    };
    let single =
        (start..end).any(|at| tokens.get(at).is_some_and(|t| t.has(flags::ANAPHORS)) && !article(at));
    single
        || hits.iter().any(|hit| {
            is_list(hit, List::Anaphors)
                && hit.start as usize >= start
                && hit.end as usize <= end
                && (hit.end - hit.start > 1 || !article(hit.start as usize))
        })
}

/// The form without its lead-in and without trailing polite phrases, if that differs and has a word.
pub(super) fn without_lead_in(tokens: &[Token], hits: &[Hit], form: Form) -> Option<Form> {
    let mut start = form.first;
    while start < form.last {
        let phrase = [List::Openers, List::Closers, List::Polite]
            .into_iter()
            .filter_map(|list| longest_at(hits, list, start, form.end))
            .max();
        let continues = || {
            longest_at(hits, List::Continues, start, form.end)
                .filter(|&end| asks_with_own_subject(tokens, hits, end, form.last))
        };
        match phrase.or_else(continues) {
            Some(end) => start = skip_marks(tokens, end, form.last),
            None => break,
        }
    }
    let mut last = form.last;
    while last > start {
        let polite = hits
            .iter()
            .filter(|hit| {
                is_list(hit, List::Polite) && hit.end as usize == last && hit.start as usize >= start
            })
            .map(|hit| hit.start as usize)
            .min();
        let Some(polite) = polite else { break };
        last = polite;
        while last > start && tokens.get(last - 1).is_some_and(|token| token.is_mark()) {
            last -= 1;
        }
    }
    if (start == form.first && last == form.last) || start >= last {
        return None;
    }
    let end = if last == form.last { form.end } else { last };
    let rest = Form::new(tokens, start, end);
    let words = flags::WORD | flags::NUMBER | flags::URL | flags::QUOTE;
    tokens.get(start..end).is_some_and(|t| t.iter().any(|t| t.has(words))).then_some(rest)
}

fn words(tokens: &[Token], start: usize, end: usize) -> usize {
    let word = flags::WORD | flags::NUMBER | flags::URL | flags::QUOTE;
    tokens.get(start..end).map_or(0, |t| t.iter().filter(|t| t.has(word) && !t.has(flags::CONTINUES)).count())
}

/// Whether the message continues the turn before it.
pub(super) fn is_follow_up(tokens: &[Token], hits: &[Hit], form: Form) -> bool {
    let end = form.last;
    if words(tokens, form.first, end) == 0 || longest_at(hits, List::Openers, form.first, end).is_some() {
        return false;
    }
    let mut at = form.first;
    let mut continued = false;
    let mut closed = false;
    loop {
        if let Some(behind) = longest_at(hits, List::Continues, at, end) {
            continued = true;
            at = skip_marks(tokens, behind, end);
        } else if let Some(behind) = longest_at(hits, List::Closers, at, end) {
            closed = true;
            at = skip_marks(tokens, behind, end);
        } else {
            break;
        }
    }
    if closed && !continued {
        return false;
    }
    let count = words(tokens, at, end);
    let own = asks_with_own_subject(tokens, hits, at, end);
    if continued {
        return !own && count <= LONGEST_CONTINUATION;
    }
    let asks = starts(tokens, hits, List::Asks, flags::ASKS, at, end).is_some();
    let request = starts(tokens, hits, List::Requests, flags::REQUESTS, at, end);
    let request_for_that = request.is_some_and(|behind| has_anaphor(tokens, hits, behind, end));
    (1..=LONGEST_FRAGMENT).contains(&count) && !asks && (request.is_none() || request_for_that)
}

/// Whether the form is nothing but phrases of `list` and polite ones.
pub(super) fn is_only(tokens: &[Token], hits: &[Hit], form: Form, list: List) -> bool {
    let mut at = form.first;
    let mut found = false;
    while at < form.last {
        let own = longest_at(hits, list, at, form.last);
        found |= own.is_some();
        let Some(end) = own.into_iter().chain(longest_at(hits, List::Polite, at, form.last)).max() else {
            return false;
        };
        at = skip_marks(tokens, end, form.last);
    }
    found
}

/// Whether the form starts with `continues` and does not go on to ask with its own subject.
pub(super) fn is_fragment(tokens: &[Token], hits: &[Hit], form: Form) -> bool {
    longest_at(hits, List::Continues, form.first, form.last)
        .is_some_and(|end| !asks_with_own_subject(tokens, hits, end, form.last))
}
