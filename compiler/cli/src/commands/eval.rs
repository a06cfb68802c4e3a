//! `skillc eval --routes-only`.

use std::io::Write;
use std::path::Path;

use skill_evals::labelled::{self, Labelled, LineError};
use skill_evals::routes;

use super::diagnostics::counted;
use crate::args::Eval;
use crate::input::{Line, Lines};
use crate::{EXIT_FINDINGS, EXIT_OK, Failure, Output, library};

pub(super) fn run(eval: &Eval, skills: Option<&Path>, output: &mut Output) -> Result<u8, Failure> {
    let loaded = library::load(skills, output)?;
    let mut lines = Lines::open(&eval.file)?;
    let name = lines.name().to_owned();
    let mut messages: Vec<Labelled> = Vec::new();
    let mut bad = 0;
    while let Some(Line { number, text }) = lines.next()? {
        let read = text
            .map_err(|cause| LineError { line: number, cause })
            .and_then(|text| labelled::read_line(text, number));
        match read {
            Ok(message) => messages.extend(message),
            Err(error) => {
                bad += 1;
                writeln!(output.err, "{name}:{error}; it was skipped")?;
            }
        }
    }
    if messages.is_empty() {
        return Err(Failure::Usage(format!("{name} holds no labelled message")));
    }
    let report = routes::run(&loaded.pack, &messages);
    if eval.json {
        let value = serde_json::to_value(&report).map_err(std::io::Error::from)?;
        writeln!(output.out, "{value:#}")?;
    } else {
        show(&report, output)?;
    }
    Ok(if bad == 0 { EXIT_OK } else { EXIT_FINDINGS })
}

fn percent(part: usize, whole: usize) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1} %", part as f64 * 100.0 / whole as f64) }
}

fn show(report: &routes::Report, output: &mut Output) -> Result<(), Failure> {
    for wrong in &report.wrong {
        writeln!(
            output.out,
            "{}: expected {}, got {} by {}: {}",
            wrong.line,
            wrong.expected.join("|"),
            wrong.routed,
            wrong.stage,
            wrong.message
        )?;
    }
    writeln!(output.out)?;
    for (language, counts) in &report.languages {
        let name = if language.is_empty() { "(no language)" } else { language };
        writeln!(
            output.out,
            "{name}: {} of {} right ({}); of {} that are no skill's business, {} reached a skill with tools ({})",
            counts.right,
            counts.messages,
            percent(counts.right, counts.messages),
            counts.nobodys,
            counts.false_activations,
            percent(counts.false_activations, counts.nobodys)
        )?;
    }
    let width = report.skills.keys().map(String::len).max().unwrap_or_default().max("skill".len());
    writeln!(output.out)?;
    writeln!(output.out, "{:width$}  right  wrong  missed  precision  recall", "skill")?;
    for (skill, counts) in &report.skills {
        let share =
            |value: Option<f64>| value.map_or("-".to_owned(), |share| format!("{:.1} %", share * 100.0));
        writeln!(
            output.out,
            "{skill:width$}  {:>5}  {:>5}  {:>6}  {:>9}  {:>6}",
            counts.right,
            counts.wrong,
            counts.missed,
            share(counts.precision()),
            share(counts.recall())
        )?;
    }
    if !report.unknown_labels.is_empty() {
        let total: usize = report.unknown_labels.values().sum();
        writeln!(output.out)?;
        writeln!(
            output.out,
            "{} with labels that this library lacks, counted apart ({} of them taken by a skill):",
            counted(total, "message"),
            report.unknown_taken
        )?;
        for (label, count) in &report.unknown_labels {
            writeln!(output.out, "  {label}: {count}")?;
        }
    }
    Ok(())
}
