//! `skillc test`.

use std::io::Write;
use std::path::Path;

use serde_json::json;
use skill_compiler::testing;

use super::diagnostics::counted;
use crate::args::{Test, TestFormat};
use crate::{EXIT_FINDINGS, EXIT_OK, Failure, Output, library};

pub(super) fn run(test: &Test, skills: Option<&Path>, output: &mut Output) -> Result<u8, Failure> {
    let loaded = library::load(skills, output)?;
    let Some(compiled) = &loaded.compiled else {
        return Err(Failure::Usage(
            "an artifact carries no tests; name the folder of its .skill files".to_owned(),
        ));
    };
    let outcomes = testing::run(&compiled.library, &loaded.pack);
    let failed: Vec<&testing::Outcome> =
        outcomes.iter().filter(|outcome| !outcome.failures.is_empty()).collect();
    match test.format {
        TestFormat::Json => {
            let report = json!({"passed": outcomes.len() - failed.len(), "failed": failed.len(), "outcomes": outcomes});
            writeln!(output.out, "{report:#}")?;
        }
        TestFormat::Junit => write_junit(&outcomes, output)?,
        TestFormat::Human => {
            for outcome in &failed {
                writeln!(
                    output.out,
                    "{}: {}",
                    outcome.at,
                    output.bold(&outcome.test.escape_debug().to_string())
                )?;
                for turn in &outcome.after {
                    writeln!(output.out, "    after {turn:?}")?;
                }
                writeln!(output.out, "    {:?}", outcome.message)?;
                for failure in &outcome.failures {
                    writeln!(output.out, "    {failure}")?;
                }
            }
            let passed = outcomes.len() - failed.len();
            writeln!(output.out, "{passed} passed, {} failed", failed.len())?;
            if outcomes.is_empty() {
                writeln!(
                    output.err,
                    "the library has no tests; write `test \"…\" {{ \"message\" -> skill }}`"
                )?;
            } else if !failed.is_empty() {
                let what = counted(failed.len(), "expectation");
                writeln!(
                    output.err,
                    "{what} failed; `skillc route MESSAGE --explain` shows why a message goes where"
                )?;
            }
        }
    }
    Ok(if failed.is_empty() { EXIT_OK } else { EXIT_FINDINGS })
}

/// Outcomes as JUnit XML: a suite a test item, a case an expectation.
fn write_junit(outcomes: &[testing::Outcome], output: &mut Output) -> Result<(), Failure> {
    let failed = |outcomes: &[testing::Outcome]| outcomes.iter().filter(|o| !o.failures.is_empty()).count();
    writeln!(output.out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(output.out, "<testsuites tests=\"{}\" failures=\"{}\">", outcomes.len(), failed(outcomes))?;
    for suite in outcomes.chunk_by(|a, b| a.test == b.test) {
        let name = suite.first().map_or("", |outcome| outcome.test.as_str());
        let (tests, failures) = (suite.len(), failed(suite));
        writeln!(
            output.out,
            "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\">",
            xml(name)
        )?;
        for outcome in suite {
            let (file, line) = outcome.at.rsplit_once(':').unwrap_or((&outcome.at, "0"));
            let turns: Vec<&str> =
                outcome.after.iter().chain([&outcome.message]).map(String::as_str).collect();
            write!(
                output.out,
                "    <testcase classname=\"{}\" name=\"{}\" file=\"{}\" line=\"{line}\"",
                xml(name),
                xml(&turns.join(" > ")),
                xml(file)
            )?;
            if outcome.failures.is_empty() {
                writeln!(output.out, "/>")?;
                continue;
            }
            let text = xml(&outcome.failures.join("; "));
            writeln!(
                output.out,
                ">\n      <failure message=\"{text}\">{}</failure>\n    </testcase>",
                xml(&outcome.at)
            )?;
        }
        writeln!(output.out, "  </testsuite>")?;
    }
    writeln!(output.out, "</testsuites>")?;
    Ok(())
}

/// Text for XML; characters that it cannot hold become U+FFFD.
fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => {
                out.push(char::REPLACEMENT_CHARACTER)
            }
            c => out.push(c),
        }
    }
    out
}
