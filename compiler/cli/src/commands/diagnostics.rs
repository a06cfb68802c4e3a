//! Shows diagnostics: drawn with miette for people, as data for machines.

use std::io::Write;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode,
    SourceSpan, SpanContents,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;
use skill_compiler::library::FileInfo;
use skill_compiler::source::Span;
use skill_compiler::{Compiled, Diagnostic, Severity};

use crate::{Failure, Output};

/// Findings that are drawn with their lines; those behind them take one line each.
const MOST_DRAWN: usize = 50;
/// Findings that are shown at all; how many are left out is said.
const MOST_SHOWN: usize = 1_000;
/// Bytes of a line that are drawn at each side of what is marked in it.
const LINE_AROUND: usize = 200;
/// Bytes of a text that one mark underlines.
const LONGEST_MARK: usize = 2_000;

/// A diagnostic as miette wants it.
#[derive(Debug)]
struct Drawn<'d> {
    diagnostic: &'d Diagnostic,
    source: Option<Excerpt<'d>>,
    file: u32,
}

/// A file of which only the lines around a place are read.
#[derive(Debug)]
struct Excerpt<'d>(&'d FileInfo);

impl SourceCode for Excerpt<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let FileInfo { name, text, lines } = self.0;
        let (offset, behind) = (span.offset(), span.offset() + span.len());
        if behind > text.len() || span.len() > 2 * LONGEST_MARK {
            // Marks themselves are never that long: these are two of them, far apart, and drawn apart.
            return Err(MietteError::OutOfBounds);
        }
        let number = |at: usize| lines.line(at as u32) as usize - 1;
        let line_start = |line: usize| lines.start_of(line).unwrap_or(text.len());
        let context = lines_before > 0 || lines_after > 0;
        let first = number(offset).saturating_sub(lines_before);
        let last = number(behind.saturating_sub(1).max(offset)) + lines_after;
        let start = if context { line_start(first) } else { offset };
        let start =
            if offset - start > LINE_AROUND { text.ceil_char_boundary(offset - LINE_AROUND) } else { start };
        let end = line_start(last + 1).max(behind);
        let end =
            if end - behind > LINE_AROUND { text.floor_char_boundary(behind + LINE_AROUND) } else { end };
        let line = number(start);
        let column = text.get(line_start(line)..start).map_or(0, |before| before.chars().count());
        Ok(Box::new(MietteSpanContents::new_named(
            name.clone(),
            text.as_bytes().get(start..end).unwrap_or_default(),
            (start, end - start).into(),
            line,
            column,
            number(end.saturating_sub(1)) + 1,
        )))
    }
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

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.diagnostic.span?;
        let text = self.source.as_ref().map_or("", |excerpt| excerpt.0.text.as_str());
        let own = LabeledSpan::new_primary_with_span(
            Some(self.diagnostic.label.clone()).filter(|label| !label.is_empty()),
            place(span, text),
        );
        let related =
            self.diagnostic.related.iter().filter(|label| label.span.file == self.file).map(move |label| {
                LabeledSpan::new_with_span(Some(label.text.clone()), place(label.span, text))
            });
        Some(Box::new(std::iter::once(own).chain(related)))
    }
}

fn place(span: Span, text: &str) -> SourceSpan {
    let (start, end) = (span.start as usize, span.end as usize);
    let end = if end.saturating_sub(start) > LONGEST_MARK {
        text.floor_char_boundary(start + LONGEST_MARK)
    } else {
        end
    };
    SourceSpan::new(start.into(), end.saturating_sub(start))
}

/// Writes every diagnostic and a line that counts them to standard error.
pub(crate) fn write_human(compiled: &Compiled, output: &mut Output) -> Result<(), Failure> {
    let theme = if output.colour_err { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(output.width).with_links(false);
    for (number, diagnostic) in compiled.diagnostics.iter().take(MOST_SHOWN).enumerate() {
        let file = diagnostic.span.map(|span| span.file).unwrap_or_default();
        let info = compiled.library.files.get(file as usize);
        if number >= MOST_DRAWN {
            let at = diagnostic.span.zip(info).map_or(String::new(), |(span, info)| {
                format!("{}:{}: ", info.name, info.lines.line(span.start))
            });
            writeln!(output.err, "{at}{}: {}", diagnostic.code, diagnostic.message)?;
            continue;
        }
        let source = info
            .filter(|info| diagnostic.span.is_some_and(|span| info.text.len() >= span.end as usize))
            .filter(|info| !info.text.is_empty())
            .map(Excerpt);
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
    if let Some(more) = compiled.diagnostics.len().checked_sub(MOST_SHOWN).filter(|&more| more > 0) {
        writeln!(output.err, "and {more} more, which `skillc check --format json` lists")?;
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

/// Line and column of a byte, from 1; columns count characters.
fn line_and_column(file: Option<&FileInfo>, byte: u32) -> (u32, usize) {
    file.map_or((0, 0), |file| {
        let start = file.lines.line_start(byte) as usize;
        let before = file.text.get(start..byte as usize).unwrap_or_default();
        (file.lines.line(byte), before.chars().count() + 1)
    })
}

/// Diagnostics as annotations of GitHub Actions.
pub(crate) fn write_github(compiled: &Compiled, output: &mut Output) -> Result<(), Failure> {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    for diagnostic in &compiled.diagnostics {
        let level = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
        let mut properties = format!("title={}", property(diagnostic.code));
        if let Some(span) = diagnostic.span {
            let file = compiled.library.files.get(span.file as usize);
            let (line, column) = line_and_column(file, span.start);
            let (end_line, end_column) = line_and_column(file, span.end);
            let name = property(file.map_or("", |file| file.name.as_str()));
            properties.push_str(&format!(",file={name},line={line},col={column},endLine={end_line}"));
            if end_line == line {
                properties.push_str(&format!(",endColumn={end_column}"));
            }
        }
        let help = diagnostic.help.as_ref().map(|help| format!("\n{help}")).unwrap_or_default();
        let text = data(&format!("{}{help}", diagnostic.message));
        writeln!(output.out, "::{level} {properties}::{text}")?;
    }
    Ok(())
}

/// A file name as a relative reference.
fn uri(name: &str) -> String {
    const KEPT: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(&name.replace('\\', "/"), KEPT).to_string()
}

/// Diagnostics as SARIF 2.1.0.
pub(crate) fn sarif(compiled: &Compiled) -> serde_json::Value {
    let place = |span: Span| {
        let file = compiled.library.files.get(span.file as usize);
        let (start_line, start_column) = line_and_column(file, span.start);
        let (end_line, end_column) = line_and_column(file, span.end);
        json!({
            "artifactLocation": {"uri": file.map(|file| uri(&file.name))},
            "region": {
                "startLine": start_line, "startColumn": start_column, "endLine": end_line, "endColumn": end_column
            }
        })
    };
    let mut codes: Vec<&str> = compiled.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    codes.sort_unstable();
    codes.dedup();
    let rules: Vec<serde_json::Value> = codes
        .iter()
        .filter_map(|code| skill_compiler::diagnostics::Code::find(code))
        .map(|code| {
            json!({"id": code.id, "shortDescription": {"text": code.name}, "help": {"text": code.page, "markdown": code.page}})
        })
        .collect();
    let results: Vec<serde_json::Value> = compiled
        .diagnostics
        .iter()
        .map(|diagnostic| {
            let help = diagnostic.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
            let locations: Vec<_> =
                diagnostic.span.into_iter().map(|span| json!({"physicalLocation": place(span)})).collect();
            let related: Vec<_> = diagnostic
                .related
                .iter()
                .enumerate()
                .map(|(number, label)| {
                    json!({"id": number, "physicalLocation": place(label.span), "message": {"text": label.text}})
                })
                .collect();
            json!({
                "ruleId": diagnostic.code,
                "level": diagnostic.severity,
                "message": {"text": format!("{}{help}", diagnostic.message)},
                "locations": locations,
                "relatedLocations": related,
            })
        })
        .collect();
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "skillc", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }]
    })
}

/// Diagnostics as JSON: places as file, line, column and byte range.
pub(crate) fn json(compiled: &Compiled) -> serde_json::Value {
    let at = |span: Span| {
        let file = compiled.library.files.get(span.file as usize);
        let (line, column) = line_and_column(file, span.start);
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
