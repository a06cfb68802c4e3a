//! The embedded default against its 32-bit reference, and model folders that are damaged.
#![expect(clippy::expect_used, reason = "a test stops at what it does not expect")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use skill_runtime::model::{DeviceChoice, LanguageModel, Model, Options};
use skillc::{Bar, Progress};
use support::store;

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

#[test]
fn the_converted_model_agrees_with_the_reference() {
    let store = store();
    assert!(store.has_reference(), "run `skillc model fetch --reference` first; tests do not download");
    let output = Command::new(env!("CARGO_BIN_EXE_skillc"))
        .env("SKILLC_WEB", "off")
        .env("SKILLC_MEMORY", "off")
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
            .env("SKILLC_WEB", "off")
            .env("SKILLC_MEMORY", "off")
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
        .env("SKILLC_WEB", "off")
        .env("SKILLC_MEMORY", "off")
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

#[test]
fn architectures_compute_what_their_reference_computes() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let text = fs::read_to_string(data.join("tiny.json")).expect("the reference's logits");
    let expected: Value = serde_json::from_str(&text).expect("JSON");
    let store = store();
    let runtime = store.runtime().expect("run `skillc model fetch` first; tests do not download");
    for kind in ["llama", "qwen2", "qwen3"] {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("model");
        store.import_file(&data.join(format!("tiny-{kind}.gguf")), &target, &Quiet).expect("it is imported");
        let mut model = Model::open(&target, &runtime, Options::on(DeviceChoice::Cpu)).expect("it opens");
        assert!(model.is_in_place(), "{kind}");
        assert!(!target.join("profile.json").exists(), "the template has a place for tools");
        let list = |key: &str| expected[kind][key].as_array().expect("a list").iter();
        let tokens: Vec<u32> = list("tokens").filter_map(Value::as_u64).map(|token| token as u32).collect();
        let wanted: Vec<f64> = list("logits").filter_map(Value::as_f64).collect();
        let logits = model.all_logits(&tokens).expect("logits");
        let last = logits.get(logits.len() - wanted.len()..).expect("the last row");
        for (at, (found, wanted)) in last.iter().zip(&wanted).enumerate() {
            assert!((f64::from(*found) - wanted).abs() < 2e-3, "{kind}, token {at}: {found}, not {wanted}");
        }
        let ids = model.processor().tokens("Hen <|im_end|>").expect("tokens");
        assert_eq!(ids.last(), Some(&257), "control tokens are one token");
        assert!(ids.contains(&258), "merges hold: {ids:?}");
    }
}

#[test]
fn what_cannot_be_imported_is_named() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let whole = fs::read(data.join("tiny-llama.gguf")).expect("the model");
    let folder = tempfile::tempdir().expect("a folder");
    for (from, to, named) in [
        (&b"\x05\0\0\0\0\0\0\0llama"[..], &b"\x05\0\0\0\0\0\0\0mamba"[..], "mamba"),
        (b"\x05\0\0\0\0\0\0\0gpt-2", b"\x05\0\0\0\0\0\0\0tekke", "tekke"),
        (b"output_norm.weight", b"output_mnor.weight", "output_norm.weight"),
    ] {
        let at = whole.windows(from.len()).position(|window| window == from).expect("it is there");
        let mut changed = whole.clone();
        changed[at..at + to.len()].copy_from_slice(to);
        let source = folder.path().join("changed.gguf");
        fs::write(&source, changed).expect("written");
        let error =
            store().import_file(&source, &folder.path().join("out"), &Quiet).expect_err("it is refused");
        assert!(error.to_string().contains(named), "{error}");
    }
}

#[test]
fn models_of_the_store_are_listed_and_removed_by_name() {
    let home = tempfile::tempdir().expect("a folder");
    let model = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_skillc"))
            .env("SKILLC_WEB", "off")
            .env("SKILLC_MEMORY", "off")
            .arg("model")
            .args(arguments)
            .env("SKILLC_HOME", home.path())
            .output()
            .expect("runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    assert_eq!(model(&["list"]), (Some(0), String::new(), String::new()));
    let folder = home.path().join("models/mine");
    fs::create_dir_all(folder.join("onnx")).expect("a folder");
    fs::write(folder.join("onnx/model.onnx"), [0; 2_000_000]).expect("written");
    let (code, listed, _) = model(&["list", "--json"]);
    let value: Value = serde_json::from_str(&listed).expect("one object a line");
    assert_eq!((code, &value["name"], &value["bytes"]), (Some(0), &"mine".into(), &2_000_000.into()));
    assert!(value["damage"].is_string(), "it has no list of files: {value}");
    let (code, _, said) = model(&["remove", "../models/mine"]);
    assert!(code == Some(2) && said.contains("there are: mine"), "{said}");
    let (code, removed, _) = model(&["remove", "mine"]);
    assert!(code == Some(0) && removed.contains("2.0 MB") && !folder.exists(), "{removed}");
}
