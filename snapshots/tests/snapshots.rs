//! Routing tables, diagnostics and prompts, as the commands print them.
#![expect(clippy::expect_used, reason = "a test stops at what it does not expect")]

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use skill_compiler::diagnostics::Code;
use skillc::Output;

include!(concat!(env!("OUT_DIR"), "/cases.rs"));

/// A buffer that a command writes into.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("the buffer").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Sink {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("the buffer").clone()).expect("output is UTF-8")
    }
}

/// Runs a command and returns its code, results and messages.
fn skillc(arguments: &[&str]) -> (u8, String, String) {
    let (out, err) = (Sink::default(), Sink::default());
    let mut output = Output {
        out: Box::new(out.clone()),
        err: Box::new(err.clone()),
        colour_out: false,
        colour_err: false,
        width: 100,
    };
    let code = skillc::run(std::iter::once("skillc").chain(arguments.iter().copied()), &mut output);
    (code, out.text(), err.text())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn shipped() -> String {
    root().join("skills").to_string_lossy().into_owned()
}

fn assert_page(name: &str, input: &str, output: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
        .bind(|| insta::assert_snapshot!(name, format!("{}\n---\n{}", input.trim_end(), output.trim_end())));
}

/// The example of a page that raises its code, and what `check` says of it.
fn diagnostic(id: &str) {
    let code = Code::find(id).expect("a page belongs to a code");
    let mut blocks = code.page.split("```skill\n").skip(1);
    let example = blocks.next().and_then(|block| block.split("```").next()).unwrap_or_default();
    // A page whose wrong example cannot be written as text has only the right one.
    let tagged_text = code.page.contains("```text");
    if tagged_text {
        return assert_page(
            &format!("diagnostic-{id}"),
            "(its example cannot be written as text)",
            code.name,
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("example.skill");
    std::fs::write(&file, example).expect("written");
    let (_, _, said) = skillc(&["check", file.to_str().expect("a path")]);
    let said = said.replace(&folder.path().to_string_lossy().replace('\\', "/"), "");
    assert_page(&format!("diagnostic-{id}"), example, &said.replace("/example.skill", "example.skill"));
}

/// What the model is sent for a message.
fn prompt(name: &str, message: &str, after: &str) {
    let store = skillc::model_store::Store::open().expect("a cache directory");
    assert!(store.model().is_some(), "run `skillc model fetch` first; tests do not download");
    let library = shipped();
    let mut arguments = vec!["--skills", library.as_str(), "prompt", message];
    for turn in after.split('|').filter(|turn| !turn.is_empty()) {
        arguments.extend(["--after", turn]);
    }
    let (code, out, said) = skillc(&arguments);
    assert_eq!(code, 0, "{said}");
    let before = if after.is_empty() { String::new() } else { format!("{after}\n> ") };
    assert_page(&format!("prompt-{name}"), &format!("{before}{message}"), &out);
}

#[test]
fn table_of_the_shipped_library() {
    let (code, out, said) = skillc(&["--skills", &shipped(), "table"]);
    assert_eq!(code, 0, "{said}");
    assert_page("table-shipped", "skillc table", &out);
}

#[test]
fn table_of_the_corpus_library() {
    let library = root().join("grammar/corpus/library");
    let (code, out, said) = skillc(&["--skills", &library.to_string_lossy(), "table"]);
    assert_eq!(code, 0, "{said}");
    assert_page("table-corpus", "skillc --skills grammar/corpus/library table", &out);
}

#[test]
fn no_snapshot_is_left_without_its_case() {
    let cases = include_str!(concat!(env!("OUT_DIR"), "/cases.rs"));
    let mut expected: BTreeSet<String> = ["table-shipped", "table-corpus"].map(str::to_owned).into();
    for line in cases.lines() {
        if let Some(id) = line.trim().strip_prefix("diagnostic(\"").and_then(|rest| rest.split('"').next()) {
            expected.insert(format!("diagnostic-{id}"));
        } else if let Some(name) =
            line.trim().strip_prefix("prompt(\"").and_then(|rest| rest.split('"').next())
        {
            expected.insert(format!("prompt-{name}"));
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots");
    let found: BTreeSet<String> = std::fs::read_dir(folder)
        .expect("the snapshots")
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|ending| ending == "snap"))
        .filter_map(|entry| entry.path().file_stem().map(|stem| stem.to_string_lossy().into_owned()))
        .collect();
    assert_eq!(found, expected);
}
