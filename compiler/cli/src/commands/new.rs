//! `skillc new`: a skill file that checks and passes its own tests, to be changed.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::args::{New, Tongue};
use crate::{EXIT_OK, Failure, Output};

/// Longest word in bytes that a pattern can match.
const LONGEST_WORD: usize = 64;

pub(super) fn run(new: &New, skills: Option<&Path>, output: &mut Output) -> Result<u8, Failure> {
    let starts = new.name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    let fits = starts && new.name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    if !fits || ["none", "not", "all"].contains(&new.name.as_str()) {
        return Err(Failure::Usage(format!(
            "`{}` cannot be a skill's name: a letter, then letters, digits, - and _; not none, not, all",
            new.name
        )));
    }
    if let Some(word) = new.name.split(['-', '_']).find(|word| word.len() > LONGEST_WORD) {
        return Err(Failure::Usage(format!(
            "`{word}` is longer than {LONGEST_WORD} bytes, so no pattern can match it"
        )));
    }
    let folder = match (&new.output, skills) {
        (Some(folder), _) => folder.clone(),
        (None, Some(skills)) if skills.is_dir() => skills.to_owned(),
        (None, Some(skills)) => {
            return Err(Failure::Usage(format!("{} is no folder; name one with -o", skills.display())));
        }
        (None, None) => Some(PathBuf::from("skills"))
            .filter(|folder| folder.is_dir())
            .unwrap_or_else(|| PathBuf::from(".")),
    };
    let path = folder.join(format!("{}.skill", new.name));
    let failed = |error| Failure::file("write", &path, error);
    // Never over a file that is there.
    let mut file = std::fs::File::create_new(&path).map_err(failed)?;
    file.write_all(text(&new.name, &new.language).as_bytes()).map_err(failed)?;
    writeln!(output.out, "{}", path.display())?;
    writeln!(output.out, "next: change its triggers, then `skillc check` and `skillc test`{}", hint(&path))?;
    Ok(EXIT_OK)
}

fn hint(path: &Path) -> String {
    if path.starts_with("skills") { String::new() } else { format!(" with --skills {}", path.display()) }
}

fn text(name: &str, languages: &[Tongue]) -> String {
    let words = name.replace(['-', '_'], " ").to_lowercase();
    let mut triggers = String::new();
    let mut exemplars = String::new();
    let mut cases = String::new();
    for language in languages {
        let (trigger, message, answer) = match language {
            Tongue::De => (
                format!("^ [bitte] {words} (zeigen|anzeigen) $"),
                format!("{words} anzeigen"),
                "Hier ist es.",
            ),
            Tongue::En => (
                format!("^ [please] show [me|us] [the|my] {words} $"),
                format!("show me the {words}"),
                "Here it is.",
            ),
        };
        triggers.push_str(&format!("  trigger: \"{trigger}\"\n"));
        exemplars.push_str(&format!("  exemplar \"{message}\" {{\n    answer: \"{answer}\"\n  }}\n"));
        cases.push_str(&format!("  \"{message}\" -> {name} by trigger offers none\n"));
    }
    format!(
        "// What this skill is for, in one line. The language is described in grammar/README.md.\n\n\
         skill {name} {{\n  description: \"Shows the {words}.\"\n  priority: 10\n  \
         // [] = no tools; list the tools that it may use, or leave the line out for all of them.\n  tools: []\n\n\
         {triggers}\n{exemplars}  guidance: \"\"\"\n    One short sentence.\n  \"\"\"\n}}\n\n\
         test \"{words}\" {{\n{cases}  \"hello\" -> not {name}\n}}\n"
    )
}
