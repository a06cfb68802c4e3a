//! Members of predicates that code computes.

use super::flags;
use super::follow_up::{is_fragment, is_only};
use super::phrases::List;
use super::stages::Reading;
use crate::artifact::layout::Computed;
use crate::router::matcher::Form;

/// Whether a computed member holds for the form.
pub(super) fn computed(reading: &Reading<'_>, form: Form, member: Computed) -> bool {
    let tokens = reading.tokens;
    let inside = tokens.get(form.start..form.end).unwrap_or_default();
    match member {
        Computed::Opener => is_only(tokens, reading.hits, form, List::Openers),
        Computed::Closer => is_only(tokens, reading.hits, form, List::Closers),
        Computed::Fragment => is_fragment(tokens, reading.hits, form),
        Computed::Pasted => reading.pasted(),
        Computed::Url => inside.iter().any(|token| token.has(flags::URL)),
        Computed::Empty => !inside
            .iter()
            .any(|token| token.is_content() || token.has(flags::QUOTE | flags::URL | flags::NUMBER)),
        // Anywhere: also behind a polite word that the form leaves out.
        Computed::QuestionMark => tokens.iter().any(|token| {
            let first = || reading.slice((token.start, token.end)).chars().next();
            token.glyph == b'?'
                || (token.is_mark() && matches!(first(), Some('？' | '؟' | '¿' | '‽' | '⁇' | '⁈' | '⁉')))
        }),
    }
}
