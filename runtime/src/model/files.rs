//! Reads the folder of a model.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::{CallForm, ChatTemplate, ModelError};

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
    /// Where the template stands, for messages.
    pub(super) template_path: PathBuf,
    pub(super) special: BTreeMap<String, String>,
    pub(super) generation: Generation,
    pub(super) context: usize,
    pub(super) profile: Profile,
}

impl Files {
    /// How the model writes calls.
    pub(super) fn calls(&self, template: &ChatTemplate) -> CallForm {
        CallForm::of(&self.template, template.takes_tools(), self.profile.tool_block.as_deref())
    }

    /// Those of a model without a folder, for tests.
    #[cfg(test)]
    pub(super) fn of_test(template: &str, end: u32) -> Self {
        Self {
            name: "test".to_owned(),
            graph: PathBuf::new(),
            template: template.to_owned(),
            template_path: PathBuf::new(),
            special: BTreeMap::new(),
            generation: Generation {
                ends: vec![end],
                sample: true,
                temperature: 1.0,
                top_p: 1.0,
                top_k: 0,
                repetition_penalty: 1.0,
                max_new_tokens: 100,
            },
            context: 4_096,
            profile: Profile::default(),
        }
    }

    pub(super) fn read(folder: &Path, dtype: Option<&str>) -> Result<Self, ModelError> {
        if !folder.is_dir() {
            return Err(ModelError::file(
                folder,
                "is no folder; `skillc model fetch` gets the embedded default",
            ));
        }
        let config = Settings::read(folder.join("config.json"), true)?;
        let generation = Settings::read(folder.join("generation_config.json"), false)?;
        let tokenizer = Settings::read(folder.join("tokenizer_config.json"), false)?;
        let profile_path = folder.join("profile.json");
        let profile = Settings::read(profile_path.clone(), false)?;
        let profile = match profile.value {
            Value::Null => Profile::default(),
            value => serde_json::from_value(value).map_err(|error| ModelError::file(&profile_path, error))?,
        };
        if profile.tool_block.as_ref().is_some_and(|block| !block.contains("{tools}")) {
            return Err(ModelError::file(
                &profile_path,
                "`tool_block` has no `{tools}`, so no tool would be named",
            ));
        }
        let (template_path, template) = template(folder, &tokenizer)?;
        Ok(Self {
            name: folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
            graph: graph(folder, dtype).and_then(|graph| regular(&graph).map(|_| graph))?,
            template,
            template_path,
            special: special_tokens(&tokenizer)?,
            generation: read_generation(&config, &generation)?,
            context: context(&config)?,
            profile,
        })
    }
}

fn json(path: &Path) -> Result<Value, ModelError> {
    let text = text(path)?;
    serde_json::from_str(&text).map_err(|error| ModelError::file(path, error))
}

/// Largest text of a model folder: tokenizers of large vocabularies have some tens of megabytes.
const MOST_TEXT: u64 = 256 << 20;

/// Checks that a path is a regular file: reading a pipe waits for a writer, and some devices never end.
pub(super) fn regular(path: &Path) -> Result<u64, ModelError> {
    let found = std::fs::metadata(path).map_err(|error| ModelError::file(path, error))?;
    if found.is_file() { Ok(found.len()) } else { Err(ModelError::file(path, "it is no regular file")) }
}

/// Text of a file, without a byte order mark.
fn text(path: &Path) -> Result<String, ModelError> {
    let size = regular(path)?;
    if size > MOST_TEXT {
        return Err(ModelError::file(path, format!("it has {size} bytes, over {MOST_TEXT}")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| ModelError::file(path, error))?;
    Ok(text.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(text))
}

/// Name of a graph of a precision: `q4` is `model_q4.onnx`, `q8` `model_quantized.onnx`, `fp32` `model.onnx`.
#[must_use]
pub fn graph_name(dtype: &str) -> String {
    match dtype {
        "fp32" => "model.onnx".to_owned(),
        "q8" => "model_quantized.onnx".to_owned(),
        dtype => format!("model_{dtype}.onnx"),
    }
}

/// Precision of a graph, by its name; None: it is no graph of a model.
#[must_use]
pub fn dtype_of(name: &str) -> Option<String> {
    match name.strip_prefix("model")?.strip_suffix(".onnx")? {
        "" => Some("fp32".to_owned()),
        "_quantized" => Some("q8".to_owned()),
        dtype => dtype.strip_prefix('_').filter(|dtype| !dtype.is_empty()).map(str::to_owned),
    }
}

/// The graph of a precision in `onnx`, else beside the configuration; without one `model.onnx`, else the shortest name.
fn graph(folder: &Path, dtype: Option<&str>) -> Result<PathBuf, ModelError> {
    let mut there = Vec::new();
    for place in [folder.join("onnx"), folder.to_owned()] {
        let mut found: Vec<(String, PathBuf)> = std::fs::read_dir(&place)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter_map(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                dtype_of(&name).map(|dtype| (dtype, path))
            })
            .collect();
        found.sort_by_key(|(_, path)| (path.file_name().map_or(0, |name| name.len()), path.clone()));
        if let Some(at) = found.iter().position(|(known, _)| dtype.is_none_or(|dtype| dtype == known)) {
            return Ok(found.swap_remove(at).1);
        }
        there.extend(found.into_iter().map(|(dtype, _)| dtype));
    }
    let place = folder.join("onnx");
    Err(match dtype {
        Some(dtype) if !there.is_empty() => ModelError::file(
            &place,
            format!("holds no {} (precision {dtype}); there are: {}", graph_name(dtype), there.join(", ")),
        ),
        _ => ModelError::file(&place, "holds no model*.onnx"),
    })
}

/// The chat template and the file that holds it.
fn template(folder: &Path, tokenizer: &Settings) -> Result<(PathBuf, String), ModelError> {
    let mut path = folder.join("chat_template.jinja");
    let text = if std::fs::symlink_metadata(&path).is_ok() {
        self::text(&path)?
    } else {
        path = tokenizer.path.clone();
        match tokenizer.get("chat_template") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(named)) => named
                .iter()
                .find(|entry| entry.get("name").and_then(Value::as_str) == Some("default"))
                .or(named.first())
                .and_then(|entry| entry.get("template"))
                .and_then(Value::as_str)
                .map(str::to_owned)
                .ok_or_else(|| ModelError::file(&path, "its chat templates are no texts"))?,
            Some(value) => return Err(tokenizer.wrong("chat_template", "a text or a list", value)),
            None => {
                let cause = "has no chat template (chat_template.jinja or tokenizer_config.json)";
                return Err(ModelError::file(folder, cause));
            }
        }
    };
    if text.trim().is_empty() {
        return Err(ModelError::file(&path, "the chat template is empty"));
    }
    Ok((path, text))
}

/// `bos_token` and its like, written as a text or as an object with `content`.
fn special_tokens(tokenizer: &Settings) -> Result<BTreeMap<String, String>, ModelError> {
    ["bos_token", "eos_token", "unk_token", "pad_token"]
        .into_iter()
        .filter_map(|key| {
            let value = tokenizer.get(key)?;
            let text = value.as_str().or_else(|| value.get("content").and_then(Value::as_str));
            let text = text.ok_or_else(|| tokenizer.wrong(key, "a text or an object with `content`", value));
            Some(text.map(|text| (key.to_owned(), text.to_owned())))
        })
        .collect()
}

/// A settings file as an object; None if it is missing.
struct Settings {
    path: PathBuf,
    value: Value,
}

impl Settings {
    /// # Errors
    /// It is there and cannot be read, is no JSON, or no object.
    fn read(path: PathBuf, required: bool) -> Result<Self, ModelError> {
        if !required && std::fs::symlink_metadata(&path).is_err() {
            return Ok(Self { path, value: Value::Null });
        }
        let value = json(&path)?;
        if !value.is_object() {
            return Err(ModelError::file(&path, format!("holds {}, not an object {{…}}", kind_of(&value))));
        }
        Ok(Self { path, value })
    }

    /// A setting; null counts as missing.
    fn get(&self, key: &str) -> Option<&Value> {
        self.value.get(key).filter(|value| !value.is_null())
    }

    fn wrong(&self, key: &str, wanted: &str, value: &Value) -> ModelError {
        ModelError::file(&self.path, format!("`{key}` is {value}, not {wanted}"))
    }

    /// A number that `fits`.
    fn number(
        &self,
        key: &str,
        default: f64,
        wanted: &str,
        fits: fn(f64) -> bool,
    ) -> Result<f64, ModelError> {
        let Some(value) = self.get(key) else { return Ok(default) };
        value.as_f64().filter(|&number| fits(number)).ok_or_else(|| self.wrong(key, wanted, value))
    }

    /// A count from `least` to the largest 32-bit number.
    fn count(&self, key: &str, default: usize, least: u64) -> Result<usize, ModelError> {
        let Some(value) = self.get(key) else { return Ok(default) };
        value
            .as_u64()
            .filter(|count| (least..=u64::from(u32::MAX)).contains(count))
            .map(|count| count as usize)
            .ok_or_else(|| self.wrong(key, &format!("a whole number of {least} or more"), value))
    }

    fn flag(&self, key: &str, default: bool) -> Result<bool, ModelError> {
        let Some(value) = self.get(key) else { return Ok(default) };
        value.as_bool().ok_or_else(|| self.wrong(key, "true or false", value))
    }

    /// Token ids, written as one number or a list, all below `vocabulary`.
    fn token_ids(&self, key: &str, vocabulary: usize) -> Result<Vec<u32>, ModelError> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let values = match value {
            Value::Array(values) => values.as_slice(),
            one => std::slice::from_ref(one),
        };
        let ids = values.iter().map(|value| {
            value
                .as_u64()
                .filter(|&id| id < vocabulary as u64)
                .and_then(|id| u32::try_from(id).ok())
                .ok_or_else(|| self.wrong(key, &format!("a token below {vocabulary}"), value))
        });
        ids.collect()
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Tokens of context where the configuration does not say.
const DEFAULT_CONTEXT: usize = 2048;

fn context(config: &Settings) -> Result<usize, ModelError> {
    let keys = ["max_position_embeddings", "n_positions", "seq_length"];
    let nested = Settings {
        path: config.path.clone(),
        value: config.get("text_config").cloned().unwrap_or(Value::Null),
    };
    for settings in [config, &nested] {
        if let Some(key) = keys.iter().find(|key| settings.get(key).is_some()) {
            return settings.count(key, DEFAULT_CONTEXT, 1);
        }
    }
    Ok(DEFAULT_CONTEXT)
}

fn read_generation(config: &Settings, generation: &Settings) -> Result<Generation, ModelError> {
    let vocabulary = config.count("vocab_size", u32::MAX as usize, 1)?;
    let mut ends = generation.token_ids("eos_token_id", vocabulary)?;
    ends.extend(config.token_ids("eos_token_id", vocabulary)?);
    ends.sort_unstable();
    ends.dedup();
    if ends.is_empty() {
        return Err(ModelError::file(&generation.path, "names no `eos_token_id`, so no answer would end"));
    }
    let share = |share: f64| share > 0.0 && share <= 1.0;
    Ok(Generation {
        ends,
        sample: generation.flag("do_sample", false)?,
        temperature: generation
            .number("temperature", 1.0, "a number of 0 or more", |t| (0.0..1e6).contains(&t))?
            as f32,
        top_p: generation.number("top_p", 1.0, "a number above 0, at most 1", share)? as f32,
        top_k: generation.count("top_k", 0, 0)?,
        repetition_penalty: generation
            .number("repetition_penalty", 1.0, "a number above 0", |penalty| penalty > 0.0 && penalty < 1e6)?
            as f32,
        max_new_tokens: generation.count("max_new_tokens", 512, 1)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Settings {
        Settings { path: PathBuf::from("x.json"), value: serde_json::from_str(text).unwrap_or_default() }
    }

    #[test]
    fn settings_of_the_wrong_kind_are_errors_that_name_file_and_key() {
        let config = settings(r#"{"vocab_size": 100, "eos_token_id": 2}"#);
        let bad = [
            (r#"{"eos_token_id": 4294967298}"#, "eos_token_id"),
            (r#"{"eos_token_id": [2, 100]}"#, "eos_token_id"),
            (r#"{"eos_token_id": "2"}"#, "eos_token_id"),
            (r#"{"temperature": "hot"}"#, "temperature"),
            (r#"{"temperature": -1}"#, "temperature"),
            (r#"{"top_p": 0}"#, "top_p"),
            (r#"{"top_k": -3}"#, "top_k"),
            (r#"{"do_sample": 1}"#, "do_sample"),
            (r#"{"max_new_tokens": 0}"#, "max_new_tokens"),
        ];
        for (text, key) in bad {
            let said =
                read_generation(&config, &settings(text)).map(|_| ()).map_err(|error| error.to_string());
            assert!(
                said.as_ref().is_err_and(|said| said.contains(key) && said.contains("x.json")),
                "{said:?}"
            );
        }
        let read = read_generation(&config, &settings(r#"{"eos_token_id": [3], "temperature": null}"#));
        assert_eq!(read.map(|generation| generation.ends).ok(), Some(vec![2, 3]));
        assert!(context(&settings(r#"{"max_position_embeddings": "many"}"#)).is_err());
        assert_eq!(context(&settings(r#"{"text_config": {"n_positions": 64}}"#)).ok(), Some(64));
    }
}
