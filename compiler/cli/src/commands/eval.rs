//! `skillc eval --routes-only`.

use std::io::Write;
use std::path::Path;

use skill_evals::labelled::{self, Labelled, LineError};
use skill_evals::lists::{Lists, has_placeholders};
use skill_evals::{perturb, routes};

use super::diagnostics::counted;
use crate::args::Eval;
use crate::input::{self, Line, Lines};
use crate::{EXIT_FINDINGS, EXIT_OK, Failure, Output, library};

/// Most bytes of a file of lists.
const LARGEST_LISTS: usize = 16 << 20;

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
    if let Some(path) = &eval.lists {
        messages = fill(path, &messages)?;
    } else {
        let count = messages.iter().filter(|message| has_placeholders(message)).count();
        if count > 0 {
            let what = counted(count, "message");
            writeln!(
                output.err,
                "{what} with placeholders such as {{place}} are read as they stand; --lists FILE fills them"
            )?;
        }
    }
    let report = routes::run(&loaded.pack, &messages);
    let perturbed = eval.perturb.then(|| perturb::run(&loaded.pack, &messages));
    if eval.json {
        let mut value = serde_json::to_value(&report).map_err(std::io::Error::from)?;
        if let (Some(object), Some(perturbed)) = (value.as_object_mut(), &perturbed) {
            let perturbed = serde_json::to_value(perturbed).map_err(std::io::Error::from)?;
            object.insert("perturbed".to_owned(), perturbed);
        }
        writeln!(output.out, "{value:#}")?;
    } else {
        show(&report, output)?;
        if let Some(perturbed) = &perturbed {
            show_perturbed(perturbed, output)?;
        }
    }
    Ok(if bad == 0 { EXIT_OK } else { EXIT_FINDINGS })
}

/// Fills placeholders from the lists of a file.
fn fill(path: &Path, messages: &[Labelled]) -> Result<Vec<Labelled>, Failure> {
    let bad = |error| Failure::Usage(format!("{}: {error}", path.display()));
    let text = String::from_utf8(input::bytes(path, LARGEST_LISTS)?)
        .map_err(|error| Failure::Usage(format!("{}: it is not UTF-8 text: {error}", path.display())))?;
    let lists = Lists::read(&text).map_err(bad)?;
    let mut filled = Vec::new();
    for message in messages {
        filled.extend(lists.fill(message).map_err(bad)?);
    }
    Ok(filled)
}

fn show_perturbed(report: &perturb::Report, output: &mut Output) -> Result<(), Failure> {
    writeln!(output.out)?;
    for moved in &report.moved {
        let message = moved.message.replace('\n', "⏎");
        writeln!(
            output.out,
            "{}: {} moves {} to {}: {message}",
            moved.line,
            moved.change.name(),
            moved.before,
            moved.after
        )?;
    }
    writeln!(output.out)?;
    writeln!(output.out, "{:18}  messages  moved", "change")?;
    for counts in &report.changes {
        let kind = if counts.change.is_typographic() { "" } else { "  other words" };
        writeln!(
            output.out,
            "{:18}  {:>8}  {:>5}  {:>6}{kind}",
            counts.change.name(),
            counts.messages,
            counts.moved,
            percent(counts.moved, counts.messages)
        )?;
    }
    writeln!(
        output.out,
        "typographic changes move {:.2} % of the routes",
        report.typographic_share() * 100.0
    )?;
    Ok(())
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
