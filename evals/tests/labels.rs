//! The shipped library against what its messages should do: committed labels, shapes of known misroutings filled from
//! lists, and the same messages written in other ways.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test stops at what it does not expect, and reports"
)]

use std::path::{Path, PathBuf};

use skill_compiler::{Limits, SourceFile, compile};
use skill_evals::labelled::{self, Labelled};
use skill_evals::lists::Lists;
use skill_evals::{perturb, routes};
use skill_runtime::artifact::Pack;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data")
}

fn library() -> Pack {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../skills");
    let mut files = Vec::new();
    for folder in [root.clone(), root.join("lang")] {
        for entry in std::fs::read_dir(folder).expect("the library").flatten() {
            if entry.path().extension().is_some_and(|ending| ending == "skill") {
                let text = std::fs::read_to_string(entry.path()).expect("text");
                files.push(SourceFile::new(entry.path().to_string_lossy(), text));
            }
        }
    }
    let compiled = compile(&files, &Limits::default());
    Pack::from_bytes(&compiled.artifact.expect("the shipped library compiles")).expect("it loads")
}

fn messages(name: &str) -> Vec<Labelled> {
    let text = std::fs::read_to_string(folder().join(name)).expect("the labels");
    labelled::read(&text).collect::<Result<_, _>>().expect("every line is a labelled message")
}

fn list_wrong(report: &routes::Report) {
    for wrong in &report.wrong {
        println!(
            "{}: expected {}, got {}: {}",
            wrong.line,
            wrong.expected.join("|"),
            wrong.routed,
            wrong.message
        );
    }
}

#[test]
fn labels_hold() {
    let labels = messages("labels.jsonl");
    assert!(labels.len() >= 1_000, "{} labels", labels.len());
    let pack = library();
    let report = routes::run(&pack, &labels);
    list_wrong(&report);
    assert!(report.wrong.is_empty(), "{} labels fail", report.wrong.len());
}

#[test]
fn known_misroutings_stay_right_with_other_names_places_and_numbers() {
    let text = std::fs::read_to_string(folder().join("lists.json")).expect("the lists");
    let lists = Lists::read(&text).expect("lists");
    let filled: Vec<Labelled> = messages("behaviour.jsonl")
        .iter()
        .flat_map(|message| lists.fill(message).expect("each placeholder has a list"))
        .collect();
    assert!(filled.len() > 8_000, "{} messages", filled.len());
    let report = routes::run(&library(), &filled);
    list_wrong(&report);
    let share = report.wrong.len() as f64 / filled.len() as f64;
    assert!(share <= 0.002, "{:.2} % fail", share * 100.0);
}

#[test]
fn other_characters_for_the_same_words_move_nothing() {
    let report = perturb::run(&library(), &messages("labels.jsonl"));
    for moved in report.moved.iter().filter(|moved| moved.change.is_typographic()) {
        println!("{}: {} moves {} to {}", moved.message, moved.change.name(), moved.before, moved.after);
    }
    for counts in &report.changes {
        println!("{}: {} of {}", counts.change.name(), counts.moved, counts.messages);
    }
    assert!(report.typographic_share() <= 0.005, "{:.2} %", report.typographic_share() * 100.0);
}
