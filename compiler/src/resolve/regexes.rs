//! Checks regular expressions and finds the literal that each of them needs.

use regex_syntax::hir::{Hir, HirKind};
use skill_runtime::router::{REGEX_SIZE_LIMIT, build_regex};

use crate::diagnostics::{self as codes, Diagnostic};
use crate::syntax::ast::Text;

/// Checks that an expression compiles within its size limit and needs something; returns its named groups.
pub(super) fn check(text: &Text, diagnostics: &mut Vec<Diagnostic>) -> Option<Vec<String>> {
    if text.value.trim().is_empty() {
        diagnostics.push(Diagnostic::new(
            codes::BLANK_PATTERN,
            text.span,
            "this regular expression is blank",
        ));
        return None;
    }
    if let Err(error) = regex_syntax::Parser::new().parse(&text.value) {
        let (place, message) = match &error {
            regex_syntax::Error::Parse(error) => {
                let span = error.span();
                (text.place(span.start.offset, span.end.offset), error.kind().to_string())
            }
            regex_syntax::Error::Translate(error) => {
                let span = error.span();
                (text.place(span.start.offset, span.end.offset), error.kind().to_string())
            }
            other => (text.span, other.to_string()),
        };
        diagnostics.push(
            Diagnostic::new(codes::BAD_REGEX, place, "this regular expression does not compile").label(message).help(
                "the syntax is that of Rust's regex crate: no look-around and no back-references, so that matching \
                 stays linear",
            ),
        );
        return None;
    }
    let engine = match build_regex(&text.value) {
        Ok(engine) => engine,
        Err(error) => {
            let large = error.size_limit().is_some();
            let code = if large { codes::REGEX_TOO_LARGE } else { codes::BAD_REGEX };
            let message = if large {
                format!("this regular expression compiles to more than {REGEX_SIZE_LIMIT} bytes")
            } else {
                "this regular expression does not compile".to_owned()
            };
            diagnostics.push(
                Diagnostic::new(code, text.span, message)
                    .label(if large { String::new() } else { error.to_string() })
                    .help("repeat less, or use smaller classes (setting: regex size)"),
            );
            return None;
        }
    };
    if engine.is_match("") {
        diagnostics.push(
            Diagnostic::new(
                codes::REQUIRES_NOTHING,
                text.span,
                "this regular expression matches the empty message",
            )
            .help("a trigger that needs nothing matches everything; ask for a character"),
        );
        return None;
    }
    let names = engine.group_info().all_names().filter_map(|(_, _, name)| name.map(str::to_owned)).collect();
    Some(names)
}

/// A lower-case ASCII literal that every match holds; empty if none is found.
#[must_use]
pub fn required_literal(source: &str) -> String {
    let Ok(hir) = regex_syntax::Parser::new().parse(source) else { return String::new() };
    let mut best = String::new();
    let mut run = String::new();
    walk(&hir, &mut run, &mut best);
    keep(&mut run, &mut best);
    if best.len() < 2 { String::new() } else { best.to_ascii_lowercase() }
}

fn keep(run: &mut String, best: &mut String) {
    if run.len() > best.len() {
        std::mem::swap(run, best);
    }
    run.clear();
}

/// Follows what must match in order; `run` is the literal that ends here.
fn walk(hir: &Hir, run: &mut String, best: &mut String) {
    match hir.kind() {
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(text) if text.is_ascii() => run.push_str(text),
            _ => keep(run, best),
        },
        HirKind::Capture(capture) => walk(&capture.sub, run, best),
        HirKind::Concat(parts) => parts.iter().for_each(|part| walk(part, run, best)),
        HirKind::Repetition(repetition) if repetition.min > 0 => {
            walk(&repetition.sub, run, best);
            keep(run, best);
        }
        HirKind::Look(_) | HirKind::Empty => {}
        HirKind::Repetition(_) | HirKind::Class(_) | HirKind::Alternation(_) => keep(run, best),
    }
}

#[cfg(test)]
mod tests {
    use super::required_literal;

    #[test]
    fn finds_the_longest_literal_that_every_match_holds() {
        assert_eq!(required_literal(r"(?<url>https?://\S+)"), "http");
        assert_eq!(required_literal(r"^### Task:"), "### task:");
        assert_eq!(required_literal(r"(ab|cd)"), "");
        assert_eq!(required_literal(r"(?:summary)+ of"), "summary");
        assert_eq!(required_literal(r"x?y"), "");
    }
}
