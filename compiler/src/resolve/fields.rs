//! Reads single values out of fields, with one message for each way to get one wrong.

use super::Resolver;
use crate::diagnostics::{self as codes, Diagnostic, suggestion};
use crate::library::{Element, Matcher};
use crate::source::Span;
use crate::syntax::ast::{self, Field, Name, Scalar, Text, Value};
use crate::syntax::pattern;

impl Resolver<'_> {
    pub(super) fn wrong_type(&mut self, span: Span, key: &str, wanted: &str, found: &str) {
        self.report(
            Diagnostic::new(codes::WRONG_TYPE, span, format!("`{key}` takes {wanted}, not {found}"))
                .label(format!("this is {found}")),
        );
    }

    pub(super) fn unknown_key<'k>(
        &mut self,
        key: &Name,
        inside: &str,
        known: impl IntoIterator<Item = &'k str>,
    ) {
        self.report(
            Diagnostic::new(codes::UNKNOWN_KEY, key.span, format!("unknown key `{}` in {inside}", key.text))
                .help(suggestion(&key.text, known, "keys")),
        );
    }

    /// Reports a label, `unless` or `else` where none belongs.
    pub(super) fn plain<'f>(&mut self, field: &'f Field) -> Option<&'f Scalar> {
        self.no_label(field);
        match &field.value {
            Value::Single(element, otherwise) => {
                self.no_unless(element, &field.key.text);
                if let Some(name) = otherwise {
                    self.misplaced(name.span, format!("`{}` takes no `else`", field.key.text));
                }
                Some(&element.scalar)
            }
            Value::List(_, span) => {
                self.wrong_type(*span, &field.key.text, "one value", "a list");
                None
            }
            Value::Map(_, span) => {
                self.wrong_type(*span, &field.key.text, "one value", "a map");
                None
            }
        }
    }

    pub(super) fn no_label(&mut self, field: &Field) {
        if let Some(label) = &field.label {
            self.misplaced(label.span, format!("`{}` takes no label", field.key.text));
        }
    }

    pub(super) fn no_unless(&mut self, element: &ast::Element, key: &str) {
        if let Some(first) = element.unless.first() {
            self.misplaced(first.span(), format!("`{key}` takes no `unless`"));
        }
    }

    pub(super) fn misplaced(&mut self, span: Span, message: String) {
        self.report(Diagnostic::new(codes::MISPLACED, span, message).help("delete it"));
    }

    pub(super) fn text(&mut self, field: &Field) -> Option<Text> {
        match self.plain(field)? {
            Scalar::Text(text) => Some(text.clone()),
            other => {
                let (span, found) = (other.span(), other.describe());
                self.wrong_type(span, &field.key.text, "a string", found);
                None
            }
        }
    }

    pub(super) fn number(&mut self, field: &Field, low: u32, high: u32) -> Option<u32> {
        let scalar = self.plain(field)?;
        let span = scalar.span();
        let Scalar::Number(written) = scalar else {
            let found = scalar.describe();
            self.wrong_type(span, &field.key.text, "a number", found);
            return None;
        };
        let value = written.text.parse::<u32>().ok().filter(|value| (low..=high).contains(value));
        if value.is_none() {
            self.report(
                Diagnostic::new(
                    codes::OUT_OF_RANGE,
                    span,
                    format!(
                        "`{}` is a whole number from {low} to {high}, not {}",
                        field.key.text, written.text
                    ),
                )
                .help(format!("write a number from {low} to {high}")),
            );
        }
        value
    }

    pub(super) fn word(&mut self, field: &Field, allowed: &[&str]) -> Option<Name> {
        let scalar = self.plain(field)?;
        let Scalar::Word(name) = scalar else {
            let (span, found) = (scalar.span(), scalar.describe());
            self.wrong_type(span, &field.key.text, &format!("one of {}", allowed.join(", ")), found);
            return None;
        };
        let name = name.clone();
        if allowed.contains(&name.text.as_str()) {
            return Some(name);
        }
        self.report(
            Diagnostic::new(
                codes::UNKNOWN_VALUE,
                name.span,
                format!("`{}` is no value of `{}`", name.text, field.key.text),
            )
            .help(suggestion(&name.text, allowed.iter().copied(), "values")),
        );
        None
    }

    /// Elements of a list key: one value or a list.
    pub(super) fn elements<'f>(&mut self, field: &'f Field) -> Vec<&'f ast::Element> {
        match &field.value {
            Value::List(elements, _) => elements.iter().collect(),
            Value::Single(element, otherwise) => {
                if let Some(name) = otherwise {
                    self.misplaced(name.span, format!("`{}` takes no `else`", field.key.text));
                }
                vec![element]
            }
            Value::Map(_, span) => {
                self.wrong_type(*span, &field.key.text, "a value or a list", "a map");
                Vec::new()
            }
        }
    }

    /// Strings of a list key.
    pub(super) fn strings(&mut self, field: &Field) -> Vec<Text> {
        self.no_label(field);
        let mut out = Vec::new();
        for element in self.elements(field) {
            self.no_unless(element, &field.key.text);
            match &element.scalar {
                Scalar::Text(text) => out.push(text.clone()),
                other => self.wrong_type(other.span(), &field.key.text, "strings", other.describe()),
            }
        }
        out
    }

    /// Patterns, expressions and predicates of a list key.
    pub(super) fn matchers(&mut self, field: &Field) -> Vec<Element> {
        let mut out = Vec::new();
        for element in self.elements(field) {
            let Some(matcher) = self.matcher(&element.scalar, &field.key.text) else { continue };
            let mut unless = Vec::new();
            for veto in &element.unless {
                if let Some(matcher) = self.matcher(veto, "unless") {
                    unless.push(Element { matcher, unless: Vec::new(), label: None, span: veto.span() });
                }
            }
            out.push(Element { matcher, unless, label: field.label.clone(), span: element.scalar.span() });
        }
        out
    }

    pub(super) fn matcher(&mut self, scalar: &Scalar, key: &str) -> Option<Matcher> {
        match scalar {
            Scalar::Text(text) => {
                pattern::parse(text, self.limits, &mut self.diagnostics).map(Matcher::Template)
            }
            Scalar::Regex(text) => super::regexes::check(text, &mut self.diagnostics)
                .map(|names| Matcher::Regex(text.value.clone(), names)),
            Scalar::Word(name) => Some(Matcher::Predicate(name.clone())),
            other => {
                let (span, found) = (other.span(), other.describe());
                self.wrong_type(span, key, "a pattern, a regular expression or a predicate", found);
                None
            }
        }
    }
}
