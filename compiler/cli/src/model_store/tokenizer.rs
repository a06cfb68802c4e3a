//! Writes the tokenizer of a GGUF file as `tokenizer.json`: byte-level BPE with the pre-tokenizers of some families.

use serde_json::{Value as Json, json};

use super::StoreError;
use super::gguf::{Gguf, Value};

/// Token type of control tokens in GGUF.
const CONTROL: f64 = 3.0;

pub(super) fn tokenizer_json(model: &Gguf) -> Result<Json, StoreError> {
    let kind = model.text("tokenizer.ggml.model")?;
    let before = model.text("tokenizer.ggml.pre")?;
    let Some((normalizer, splits)) = (kind == "gpt2").then(|| splits(before)).flatten() else {
        return Err(StoreError::BadModel(format!(
            "tokenizer `{kind}` with pre-tokenizer `{before}` is not supported (gpt2 with smollm, gpt-2, qwen2 or \
             llama-bpe is)"
        )));
    };
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
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": splits},
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

/// Normalizer and pre-tokenizers of a family: how its text is cut before merging.
fn splits(family: &str) -> Option<(Json, Json)> {
    let bytes = |own_regex: bool| json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": own_regex});
    let by = |regex: &str| json!({"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": false});
    // The two differ in how many digits stand together.
    let words = |digits: &str| {
        format!(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )
    };
    match family {
        "smollm" => Some((Json::Null, json!([{"type": "Digits", "individual_digits": true}, bytes(true)]))),
        "gpt-2" => Some((Json::Null, json!([bytes(true)]))),
        "qwen2" => Some((json!({"type": "NFC"}), json!([by(&words(r"\p{N}")), bytes(false)]))),
        "llama-bpe" => Some((Json::Null, json!([by(&words(r"\p{N}{1,3}")), bytes(false)]))),
        _ => None,
    }
}
