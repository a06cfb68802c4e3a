//! The embedded default against its 32-bit reference, and model folders that are damaged.
#![expect(clippy::expect_used, reason = "a test stops at what it does not expect")]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use skillc::model_store::Store;
use skillc::{Bar, Progress};

/// Progress that shows nothing.
struct Quiet;

impl Progress for Quiet {
    fn say(&self, _text: &str) {}
    fn spinner(&self, _text: &str) -> Bar {
        Bar::hidden()
    }
    fn bar(&self, _text: &str) -> Bar {
        Bar::hidden()
    }
}

fn store() -> Store {
    let store = Store::open().expect("a cache directory");
    assert!(store.model().is_some(), "run `skillc model fetch` first; tests do not download");
    store
}

#[test]
fn the_converted_model_agrees_with_the_reference() {
    let store = store();
    assert!(store.has_reference(), "run `skillc model fetch --reference` first; tests do not download");
    let output = Command::new(env!("CARGO_BIN_EXE_skillc"))
        .args(["model", "verify", "--json"])
        .output()
        .expect("runs");
    let value: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(value["prompts"], 20);
    assert!(value["agreement"].as_f64().unwrap_or_default() >= 0.97, "{value}");
}

fn copy_without_graph(target: &Path) {
    let source = store().model_dir();
    for entry in fs::read_dir(&source).expect("the model").flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), target.join(entry.file_name())).expect("copied");
        }
    }
    fs::create_dir(target.join("onnx")).expect("a folder");
    fs::copy(source.join("onnx/model.onnx"), target.join("onnx/model.onnx")).expect("copied");
}

#[test]
fn damaged_model_folders_are_clear_errors() {
    let damages: [(&str, &[u8], &str); 11] = [
        ("config.json", b"{", "config.json"),
        ("tokenizer.json", b"{}", "tokenizer.json"),
        ("chat_template.jinja", b"{% for %}", "template"),
        ("generation_config.json", b"[]", "generation_config.json"),
        ("generation_config.json", b"{\"eos_token_id\": 4294967298}", "eos_token_id"),
        ("generation_config.json", b"{\"eos_token_id\": 2, \"temperature\": \"hot\"}", "temperature"),
        ("config.json", b"[]", "config.json"),
        (
            "config.json",
            b"{\"eos_token_id\": 2, \"max_position_embeddings\": \"many\"}",
            "max_position_embeddings",
        ),
        ("chat_template.jinja", b" \n", "chat_template.jinja"),
        ("onnx/model.onnx", b"no graph", "model.onnx"),
        ("profile.json", b"{\"answers\": \"maybe\"}", "profile.json"),
    ];
    for (file, bytes, named) in damages {
        let folder = tempfile::tempdir().expect("a folder");
        copy_without_graph(folder.path());
        fs::write(folder.path().join(file), bytes).expect("written");
        let output = Command::new(env!("CARGO_BIN_EXE_skillc"))
            .args(["chat", "tell me a story", "--model"])
            .arg(folder.path())
            .output()
            .expect("runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{file}: {said}");
        assert!(said.contains("error") && said.contains(named), "{file}: {said}");
    }
}

#[test]
fn a_named_device_that_is_missing_is_an_error_and_never_the_processor() {
    store();
    let output = Command::new(env!("CARGO_BIN_EXE_skillc"))
        .args(["chat", "tell me a story", "--device", "cuda", "--max-tokens", "2"])
        .output()
        .expect("runs");
    if output.status.success() {
        // A machine with CUDA runs it there.
        return;
    }
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("device cuda"));
}

#[test]
fn importing_refuses_what_is_no_gguf_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("a.gguf");
    fs::write(&source, b"not a model").expect("written");
    let target = folder.path().join("out");
    let error = store().import_file(&source, &target, &Quiet).expect_err("it is no model");
    assert!(error.to_string().contains("GGUF"), "{error}");
    assert!(!target.exists());
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1, "no half-made folder is left");
}
