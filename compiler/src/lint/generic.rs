//! `W504`: a trigger or keyword of one short or common word matches messages that only mention it.

use std::sync::LazyLock;

use crate::diagnostics::{self as codes, Diagnostic};
use crate::library::Matcher;
use crate::lint::Subject;
use crate::source::Span;
use crate::syntax::pattern::{Node, Template};

/// A word of at most this many letters is in too many messages.
const SHORT: usize = 3;

static COMMON: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let texts = [include_str!("words/de.txt"), include_str!("words/en.txt")];
    let mut words: Vec<&str> =
        texts.iter().flat_map(|text| text.lines()).filter(|line| !line.starts_with('#')).collect();
    words.sort_unstable();
    words
});

pub(super) fn check(subject: &Subject<'_>, out: &mut Vec<Diagnostic>) {
    for skill in &subject.library.skills {
        for trigger in &skill.triggers {
            if let Matcher::Template(template) = &trigger.matcher
                && trigger.unless.is_empty()
                && let Some(word) = only_word(template)
            {
                judge("trigger", word, trigger.span, out);
            }
        }
        for (keyword, span) in &skill.keywords {
            if !keyword.trim().contains(char::is_whitespace) {
                judge("keyword", keyword.trim(), *span, out);
            }
        }
    }
}

/// The word that an unanchored pattern consists of.
fn only_word(template: &Template) -> Option<&str> {
    if template.start || template.end {
        return None;
    }
    let node = match &template.node {
        Node::Sequence(parts) => match parts.as_slice() {
            [part] => part,
            _ => return None,
        },
        node => node,
    };
    if let Node::Word(word) = node { Some(word) } else { None }
}

fn judge(what: &str, word: &str, span: Span, out: &mut Vec<Diagnostic>) {
    let lower = word.to_lowercase();
    let short = lower.chars().filter(|c| c.is_alphabetic()).count() <= SHORT
        && lower.is_ascii()
        && lower.chars().all(char::is_alphabetic);
    let common = COMMON.binary_search(&lower.as_str()).is_ok();
    if !(short || common) {
        return;
    }
    let kind = if short { "short" } else { "common" };
    out.push(
        Diagnostic::new(codes::GENERIC_WORD, span, format!("the {what} \"{word}\" is one {kind} word"))
            .help("a message that only mentions it matches; add a second word, anchor it, or exclude what it steals"),
    );
}
