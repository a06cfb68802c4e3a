//! Reads the folder of a model.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::ModelError;

/// Who may write an answer that a skill calls `grounded`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerPolicy {
    /// What the skill says.
    #[default]
    Author,
    /// `grounded` becomes `quote`.
    Strict,
}

/// What a message without a skill is offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnroutedTools {
    /// Every tool.
    #[default]
    All,
    /// None.
    None,
}

/// What is known of how a model behaves.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// Who may write answers.
    pub answers: AnswerPolicy,
    /// What a message without a skill is offered.
    pub unrouted_tools: UnroutedTools,
    /// Tool block of a model whose chat template has none; `{tools}` stands for the declarations.
    pub tool_block: Option<String>,
}

/// Generation settings of the model.
#[derive(Clone, Debug)]
pub struct Generation {
    /// Ids that end a turn.
    pub ends: Vec<u32>,
    /// Sample, or take the most likely token.
    pub sample: bool,
    /// Temperature.
    pub temperature: f32,
    /// Nucleus.
    pub top_p: f32,
    /// Candidates; 0: all.
    pub top_k: usize,
    /// Repetition penalty; 1: none.
    pub repetition_penalty: f32,
    /// Most tokens of an answer.
    pub max_new_tokens: usize,
}

/// What the folder holds.
pub(super) struct Files {
    pub(super) name: String,
    pub(super) graph: PathBuf,
    pub(super) template: String,
    pub(super) special: BTreeMap<String, String>,
    pub(super) generation: Generation,
    pub(super) context: usize,
    pub(super) profile: Profile,
}

impl Files {
    pub(super) fn read(folder: &Path) -> Result<Self, ModelError> {
        if !folder.is_dir() {
            return Err(ModelError::file(
                folder,
                "is no folder; `skillc model fetch` gets the embedded default",
            ));
        }
        let config = json(&folder.join("config.json"))?;
        let generation = optional(&folder.join("generation_config.json"))?;
        let tokenizer = optional(&folder.join("tokenizer_config.json"))?;
        let profile_path = folder.join("profile.json");
        let profile = if profile_path.is_file() {
            serde_json::from_value(json(&profile_path)?)
                .map_err(|error| ModelError::file(&profile_path, error))?
        } else {
            Profile::default()
        };
        Ok(Self {
            name: folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
            graph: graph(folder)?,
            template: template(folder, &tokenizer)?,
            special: special_tokens(&tokenizer),
            generation: read_generation(&config, &generation, folder)?,
            context: context(&config),
            profile,
        })
    }
}

fn json(path: &Path) -> Result<Value, ModelError> {
    let text = std::fs::read_to_string(path).map_err(|error| ModelError::file(path, error))?;
    serde_json::from_str(&text).map_err(|error| ModelError::file(path, error))
}

fn optional(path: &Path) -> Result<Value, ModelError> {
    if path.is_file() { json(path) } else { Ok(Value::Null) }
}

/// `onnx/model.onnx`, else the first `onnx/model*.onnx`, else the same beside the configuration.
fn graph(folder: &Path) -> Result<PathBuf, ModelError> {
    for place in [folder.join("onnx"), folder.to_owned()] {
        let mut found: Vec<PathBuf> = std::fs::read_dir(&place)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                name.starts_with("model") && name.ends_with(".onnx")
            })
            .collect();
        found.sort_by_key(|path| (path.file_name().map_or(0, |name| name.len()), path.clone()));
        if let Some(path) = found.into_iter().next() {
            return Ok(path);
        }
    }
    Err(ModelError::file(&folder.join("onnx"), "holds no model*.onnx"))
}

fn template(folder: &Path, tokenizer: &Value) -> Result<String, ModelError> {
    let path = folder.join("chat_template.jinja");
    if path.is_file() {
        return std::fs::read_to_string(&path).map_err(|error| ModelError::file(&path, error));
    }
    match tokenizer.get("chat_template") {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(named)) => named
            .iter()
            .find(|entry| entry.get("name").and_then(Value::as_str) == Some("default"))
            .or(named.first())
            .and_then(|entry| entry.get("template"))
            .and_then(Value::as_str)
            .map(str::to_owned)
            .ok_or_else(|| {
                ModelError::file(&folder.join("tokenizer_config.json"), "its chat templates are no texts")
            }),
        _ => Err(ModelError::file(
            folder,
            "has no chat template (chat_template.jinja or tokenizer_config.json)",
        )),
    }
}

/// `bos_token` and its like, written as a text or as an object with `content`.
fn special_tokens(tokenizer: &Value) -> BTreeMap<String, String> {
    ["bos_token", "eos_token", "unk_token", "pad_token"]
        .into_iter()
        .filter_map(|key| {
            let value = tokenizer.get(key)?;
            let text = value.as_str().or_else(|| value.get("content").and_then(Value::as_str))?;
            Some((key.to_owned(), text.to_owned()))
        })
        .collect()
}

fn context(config: &Value) -> usize {
    let keys = ["max_position_embeddings", "n_positions", "seq_length"];
    let found = keys.iter().find_map(|key| {
        config
            .get(key)
            .or_else(|| config.get("text_config").and_then(|text| text.get(key)))
            .and_then(Value::as_u64)
    });
    found.unwrap_or(2048) as usize
}

fn read_generation(config: &Value, generation: &Value, folder: &Path) -> Result<Generation, ModelError> {
    let ids = |value: Option<&Value>| -> Vec<u32> {
        match value {
            Some(Value::Array(ids)) => ids.iter().filter_map(Value::as_u64).map(|id| id as u32).collect(),
            Some(Value::Number(id)) => id.as_u64().map(|id| id as u32).into_iter().collect(),
            _ => Vec::new(),
        }
    };
    let mut ends = ids(generation.get("eos_token_id"));
    ends.extend(ids(config.get("eos_token_id")));
    ends.sort_unstable();
    ends.dedup();
    if ends.is_empty() {
        return Err(ModelError::file(
            &folder.join("generation_config.json"),
            "names no `eos_token_id`, so no answer would end",
        ));
    }
    let number = |key: &str, default: f64| generation.get(key).and_then(Value::as_f64).unwrap_or(default);
    Ok(Generation {
        ends,
        sample: generation.get("do_sample").and_then(Value::as_bool).unwrap_or(false),
        temperature: number("temperature", 1.0) as f32,
        top_p: number("top_p", 1.0) as f32,
        top_k: number("top_k", 0.0).max(0.0) as usize,
        repetition_penalty: number("repetition_penalty", 1.0) as f32,
        max_new_tokens: number("max_new_tokens", 512.0).max(1.0) as usize,
    })
}
