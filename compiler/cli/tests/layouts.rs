//! Decoders in the Hub's layout that are none of ours: convolution states, position ids, 16-bit caches, weights beside
//! the graph; and folders that are broken. `data/hybrid.py` made them and what numpy computes from their weights.
#![allow(clippy::expect_used, reason = "a test stops at what it does not expect")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use skill_runtime::model::{
    Bounds, Calls, DeviceChoice, LanguageModel, Model, ModelError, Options, Prompt, Sampling,
};
use support::store;

fn hybrid() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hybrid")
}

fn open(folder: &Path, dtype: Option<&str>) -> Result<Model, ModelError> {
    let runtime = store().runtime().expect("run `skillc model fetch` first; tests do not download");
    Model::open(folder, &runtime, Options { dtype, ..Options::on(DeviceChoice::Cpu) })
}

/// Ids of a list in the file of what is expected.
fn expected(key: &str) -> Vec<u32> {
    let text = fs::read_to_string(hybrid().join("expected.json")).expect("the file");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let ids = value[key].as_array().expect("a list");
    ids.iter().map(|id| id.as_u64().expect("an id") as u32).collect()
}

fn words(ids: &[u32]) -> String {
    ids.iter().map(|id| format!("w{id} ")).collect()
}

/// The folder, without a file or with a changed one.
fn copy(change: impl Fn(&Path)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("onnx")).expect("a folder");
    for entry in ["", "onnx"] {
        for file in fs::read_dir(hybrid().join(entry)).expect("the folder").flatten() {
            if file.path().is_file() {
                fs::copy(file.path(), folder.path().join(entry).join(file.file_name())).expect("copied");
            }
        }
    }
    change(folder.path());
    folder
}

#[test]
fn states_positions_and_16_bit_caches_give_what_numpy_gives() {
    let (prompt, written) = (expected("prompt"), expected("written"));
    for dtype in [None, Some("fp32"), Some("fp16")] {
        let mut model = open(&hybrid(), dtype).expect("it opens");
        assert!(!model.is_in_place(), "a state has no rows that could be written in place");
        let sampling = Sampling {
            temperature: 0.0,
            max_new_tokens: written.len(),
            ..Sampling::of(model.processor().generation(), 0)
        };
        let stop = AtomicBool::new(false);
        let mut write = |ids: &[u32], most: usize| {
            let sampling = Sampling { max_new_tokens: most, ..sampling.clone() };
            let text = words(ids);
            model
                .write(
                    Prompt { text: &text, shared: 0 },
                    &sampling,
                    Bounds::of(Calls::None),
                    &stop,
                    &mut |_| {},
                )
                .expect("it writes")
        };
        assert_eq!(write(&prompt, written.len()).ids, written, "{dtype:?}");
        // The conversation goes on behind some of what was written, computed anew: a state cannot be cut.
        let (said, rest) = written.split_at(5);
        let again = write(&[prompt.as_slice(), said].concat(), rest.len());
        assert_eq!(
            (again.ids.as_slice(), again.prefilled_tokens),
            (rest, prompt.len() + said.len()),
            "{dtype:?}"
        );
    }
}

#[test]
fn broken_folders_are_errors_that_name_what_is_wrong() {
    let mut nan = open(&hybrid(), Some("nan")).expect("it opens");
    let said = nan.logits(Prompt { text: "w1 w2 w3", shared: 0 }).expect_err("no numbers").to_string();
    assert!(said.contains("NaN"), "{said}");

    type Case = (&'static str, fn(&Path), &'static [&'static str]);
    let cases: [Case; 6] = [
        (
            "no data",
            |at| fs::remove_file(at.join("onnx/model.onnx_data")).expect("removed"),
            &["model.onnx_data"],
        ),
        (
            "short data",
            |at| fs::write(at.join("onnx/model.onnx_data"), b"short").expect("written"),
            &["model.onnx"],
        ),
        ("no graph", |at| fs::remove_dir_all(at.join("onnx")).expect("removed"), &["model*.onnx"]),
        (
            "foreign graph",
            |at| fs::write(at.join("onnx/model.onnx"), b"\x08\x09oops").expect("written"),
            &["model.onnx"],
        ),
        (
            "an end that is no token",
            |at| {
                let config = r#"{"max_position_embeddings": 64, "eos_token_id": 4000000000}"#;
                fs::write(at.join("config.json"), config).expect("written");
            },
            &["eos_token_id", "4000000000"],
        ),
        (
            "no template",
            |at| fs::remove_file(at.join("chat_template.jinja")).expect("removed"),
            &["chat template"],
        ),
    ];
    for (what, change, wanted) in cases {
        let folder = copy(change);
        let said = open(folder.path(), None).map(|_| ()).expect_err(what).to_string();
        assert!(wanted.iter().all(|wanted| said.contains(wanted)), "{what}: {said}");
    }

    // A tokenizer with another vocabulary.
    let folder = copy(|at| {
        let text = fs::read_to_string(at.join("tokenizer.json")).expect("read");
        fs::write(at.join("tokenizer.json"), text.replace("\"w39\": 39", "\"w39\": 39, \"w40\": 40"))
            .expect("written");
    });
    let mut model = open(folder.path(), None).expect("it opens");
    let said = model.logits(Prompt { text: "w1 w2", shared: 0 }).expect_err("too few").to_string();
    assert!(said.contains("40 logits") && said.contains("41 tokens"), "{said}");
}
