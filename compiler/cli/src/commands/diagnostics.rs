//! Shows diagnostics: drawn with miette for people, as data for machines.

use std::io::Write;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceSpan};
use serde_json::json;
use skill_compiler::source::Span;
use skill_compiler::{Compiled, Diagnostic, Severity};

use crate::{Failure, Output};

/// A diagnostic as miette wants it.
#[derive(Debug)]
struct Drawn<'d> {
    diagnostic: &'d Diagnostic,
    source: Option<NamedSource<String>>,
    file: u32,
}

impl std::fmt::Display for Drawn<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.diagnostic.message)
    }
}

impl std::error::Error for Drawn<'_> {}

impl miette::Diagnostic for Drawn<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        Some(Box::new(self.diagnostic.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.diagnostic.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.diagnostic.help.as_ref().map(|help| Box::new(help) as Box<dyn std::fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.source.as_ref().map(|source| source as &dyn miette::SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.diagnostic.span?;
        let own = LabeledSpan::new_primary_with_span(
            Some(self.diagnostic.label.clone()).filter(|label| !label.is_empty()),
            place(span),
        );
        let related = self
            .diagnostic
            .related
            .iter()
            .filter(|label| label.span.file == self.file)
            .map(|label| LabeledSpan::new_with_span(Some(label.text.clone()), place(label.span)));
        Some(Box::new(std::iter::once(own).chain(related)))
    }
}

fn place(span: Span) -> SourceSpan {
    SourceSpan::new((span.start as usize).into(), (span.end.saturating_sub(span.start)) as usize)
}

/// Writes every diagnostic and a line that counts them to standard error.
pub(crate) fn write_human(compiled: &Compiled, output: &mut Output) -> Result<(), Failure> {
    let theme = if output.colour_err { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(output.width).with_links(false);
    for diagnostic in &compiled.diagnostics {
        let file = diagnostic.span.map(|span| span.file).unwrap_or_default();
        let info = compiled.library.files.get(file as usize);
        let source = info
            .filter(|info| diagnostic.span.is_some() && !info.text.is_empty())
            .map(|info| NamedSource::new(&info.name, info.text.clone()));
        let mut text = String::new();
        let drawn = Drawn { diagnostic, source, file };
        if handler.render_report(&mut text, &drawn).is_err() || drawn.source.is_none() {
            // Without a text to draw, one line says it all.
            text = format!("  {}: {}\n", diagnostic.code, diagnostic.message);
            if let Some(info) = info.filter(|_| diagnostic.span.is_some()) {
                text = format!("  {}: {}: {}\n", info.name, diagnostic.code, diagnostic.message);
            }
            if let Some(help) = &diagnostic.help {
                text.push_str(&format!("  help: {help}\n"));
            }
        }
        output.err.write_all(text.as_bytes())?;
        for label in diagnostic.related.iter().filter(|label| label.span.file != file) {
            let name =
                compiled.library.files.get(label.span.file as usize).map_or("", |file| file.name.as_str());
            writeln!(output.err, "  {name}:{}: {}", compiled.library.line(label.span), label.text)?;
        }
    }
    if !compiled.diagnostics.is_empty() {
        let count = |severity| compiled.diagnostics.iter().filter(|d| d.severity == severity).count();
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        writeln!(output.err, "{}, {}", counted(errors, "error"), counted(warnings, "warning"))?;
        if let Some(first) = compiled.diagnostics.first() {
            writeln!(output.err, "`skillc explain {}` says more about a code", first.code)?;
        }
    }
    Ok(())
}

/// `1 error`, `2 errors`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Diagnostics as JSON: places as file, line, column and byte range.
pub(crate) fn json(compiled: &Compiled) -> serde_json::Value {
    let at = |span: Span| {
        let file = compiled.library.files.get(span.file as usize);
        let (line, column) = file.map_or((0, 0), |file| {
            let start = file.lines.line_start(span.start) as usize;
            let before = file.text.get(start..span.start as usize).unwrap_or_default();
            (file.lines.line(span.start), before.chars().count() + 1)
        });
        json!({
            "file": file.map(|file| file.name.as_str()), "line": line, "column": column,
            "start": span.start, "end": span.end
        })
    };
    let diagnostics: Vec<serde_json::Value> = compiled
        .diagnostics
        .iter()
        .map(|diagnostic| {
            let related: Vec<serde_json::Value> = diagnostic
                .related
                .iter()
                .map(|label| json!({"at": at(label.span), "text": label.text}))
                .collect();
            json!({
                "code": diagnostic.code,
                "severity": diagnostic.severity,
                "message": diagnostic.message,
                "at": diagnostic.span.map(at),
                "label": diagnostic.label,
                "related": related,
                "help": diagnostic.help,
            })
        })
        .collect();
    json!({ "diagnostics": diagnostics })
}
