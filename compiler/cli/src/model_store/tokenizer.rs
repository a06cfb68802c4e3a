//! Writes the tokenizer of a GGUF file as `tokenizer.json`: byte-level BPE with single digits.

use serde_json::{Value as Json, json};

use super::StoreError;
use super::gguf::{Gguf, Value};

/// Token type of control tokens in GGUF.
const CONTROL: f64 = 3.0;

pub(super) fn tokenizer_json(model: &Gguf) -> Result<Json, StoreError> {
    let kind = model.text("tokenizer.ggml.model")?;
    let before = model.text("tokenizer.ggml.pre")?;
    if kind != "gpt2" || before != "smollm" {
        return Err(StoreError::BadModel(format!(
            "tokenizer `{kind}` with pre-tokenizer `{before}` is not supported (gpt2 with smollm is)"
        )));
    }
    let tokens = model.texts("tokenizer.ggml.tokens")?;
    let merges = model.texts("tokenizer.ggml.merges")?;
    let types = match model.get("tokenizer.ggml.token_type") {
        Some(Value::Numbers(types)) if types.len() == tokens.len() => types,
        _ => return Err(StoreError::BadModel("the GGUF file lacks token types".into())),
    };
    let vocabulary: serde_json::Map<String, Json> =
        tokens.iter().enumerate().map(|(id, token)| (token.clone(), id.into())).collect();
    if vocabulary.len() != tokens.len() {
        return Err(StoreError::BadModel("the GGUF file lists a token twice".into()));
    }
    let added: Vec<Json> = tokens
        .iter()
        .zip(types)
        .enumerate()
        .filter(|(_, (_, kind))| **kind == CONTROL)
        .map(|(id, (token, _))| {
            json!({
                "id": id, "content": token, "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": true
            })
        })
        .collect();
    Ok(json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added,
        "normalizer": null,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Digits", "individual_digits": true},
                {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}
            ]
        },
        "post_processor": null,
        "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
        "model": {
            "type": "BPE",
            "dropout": null,
            "unk_token": null,
            "continuing_subword_prefix": null,
            "end_of_word_suffix": null,
            "fuse_unk": false,
            "byte_fallback": false,
            "ignore_merges": false,
            "vocab": vocabulary,
            "merges": merges
        }
    }))
}
