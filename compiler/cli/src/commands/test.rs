//! `skillc test`.

use std::io::Write;
use std::path::Path;

use serde_json::json;
use skill_compiler::testing;

use super::diagnostics::counted;
use crate::args::{Format, Test};
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
        Format::Json => {
            let report = json!({"passed": outcomes.len() - failed.len(), "failed": failed.len(), "outcomes": outcomes});
            writeln!(output.out, "{report:#}")?;
        }
        Format::Human => {
            for outcome in &failed {
                writeln!(output.out, "{}: {}", outcome.at, output.bold(&outcome.test))?;
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
