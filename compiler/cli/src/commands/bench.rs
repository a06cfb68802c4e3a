//! `skillc model bench`: how fast a model reads and writes here, and what a known skill saves.

mod speed;

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};
use skill_runtime::model::{LanguageModel, Model, Prompt};
use skill_runtime::prompt::{self, Inputs, Plan};
use skill_runtime::router::{Router, Scratch, State, ToolSet};

use super::model;
use crate::args::ModelChoice;
use crate::model_store::Store;
use crate::progress::{Progress, Terminal};
use crate::{EXIT_OK, Failure, Output, library};
use speed::Workload;

/// Each figure is the median of this many runs.
const RUNS: usize = 5;
/// Reading a skill's beginning is gained where it has this many tokens.
const WORTH: usize = 500;

pub(super) fn run(
    choice: &ModelChoice,
    as_json: bool,
    alone: Option<usize>,
    skills: Option<&Path>,
    output: &mut Output,
) -> Result<u8, Failure> {
    let loaded = library::load(skills, output)?;
    let (folder, runtime) = model::locate(&Store::open()?, choice)?;
    let start = Instant::now();
    let mut model = Model::open(&folder, &runtime, model::options(choice))?;
    let opened = milliseconds(start);
    Terminal.say("reading and writing …");
    let workload = Workload::new(model.processor())?;
    let speeds = workload.measure(&mut model, alone.unwrap_or(RUNS))?;
    if alone.is_some() {
        let report = json!({
            "model": model.processor().name(),
            "prompts": {"read": workload.read, "write": workload.write, "copy": workload.copy},
            "prefill_tokens_per_second": speeds.read,
            "decode_tokens_per_second": speeds.write,
            "copied_tokens_per_second": speeds.copy,
            "copied_plain_tokens_per_second": speeds.copy_plain,
            "peak_memory_bytes": peak_memory(),
        });
        writeln!(output.out, "{report}")?;
        return Ok(EXIT_OK);
    }
    let masks = speed::masks(&mut model, &loaded.pack.library().tools)?;
    let mut rows = Vec::new();
    for skill in skill_prompts(&loaded.pack, &model, choice)? {
        Terminal.say(&format!("{} …", skill.name));
        rows.push(skill.measure(&mut model)?);
    }
    let (name, device) = (model.processor().name().to_owned(), model.device().name);
    let (in_place, kept_bytes) = (model.is_in_place(), model.kept_bytes());
    let peak_alone = peak_memory();
    Terminal.say("several conversations at once …");
    let (one, several) = speed::parallel(model)?;
    let report = json!({
        "model": name,
        "device": device,
        "caches_in_place": in_place,
        "opened_ms": opened.round(),
        "prefill_tokens_per_second": round(speeds.read),
        "decode_tokens_per_second": round(speeds.write),
        "copied_tokens_per_second": round(speeds.copy),
        "copied_plain_tokens_per_second": round(speeds.copy_plain),
        "mask_us": masks.map(round),
        "skills": rows,
        "one_conversation_tokens_per_second": round(one),
        "conversations": speed::PARALLEL,
        "conversations_tokens_per_second": round(several),
        "conversations_gain": round_to(several / one, 100.0),
        "kept_bytes": kept_bytes,
        "peak_memory_bytes": peak_alone,
        "conversations_peak_memory_bytes": peak_memory(),
    });
    if as_json {
        writeln!(output.out, "{report:#}")?;
        return Ok(EXIT_OK);
    }
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    for (key, value) in report.as_object().into_iter().flatten().filter(|(key, _)| *key != "skills") {
        writeln!(output.out, "{key:28} {}", plain(value))?;
    }
    if rows.is_empty() {
        writeln!(output.out, "\nno skill of the library has an exemplar, so none has a beginning to keep")?;
        return Ok(EXIT_OK);
    }
    writeln!(
        output.out,
        "\n{:24} {:>9} {:>9} {:>9} {:>7}",
        "skill", "tokens", "cold ms", "known ms", "gain"
    )?;
    for row in &rows {
        writeln!(
            output.out,
            "{:24} {:>9} {:>9} {:>9} {:>6}x",
            plain(&row["skill"]),
            plain(&row["shared_tokens"]),
            plain(&row["first_token_cold_ms"]),
            plain(&row["first_token_known_ms"]),
            plain(&row["gain"])
        )?;
    }
    Ok(EXIT_OK)
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

fn round(value: f64) -> f64 {
    round_to(value, 10.0)
}

fn round_to(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// A prompt of a skill, with what other prompts of it begin with.
struct SkillPrompt {
    name: String,
    text: String,
    shared: usize,
}

/// A prompt of each skill that has an exemplar: its first exemplar's message with another word behind, so that the
/// prompt is none that it has seen.
fn skill_prompts(
    pack: &skill_runtime::artifact::Pack,
    opened: &Model,
    choice: &ModelChoice,
) -> Result<Vec<SkillPrompt>, Failure> {
    let (texts, names) = (pack.library(), pack.skill_names());
    let router = Router::new(pack);
    let tools = ToolSet::all(pack);
    let mut profile = opened.processor().profile().clone();
    model::override_answers(&mut profile, choice.answers);
    let mut scratch = Scratch::default();
    let mut prompts = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let skill = pack.skill_text(number);
        let Some(exemplar) = skill.exemplars.first() else { continue };
        let mut route = router.route(&mut scratch, State::default(), &exemplar.message, &tools);
        route.opening = None;
        let language = texts.languages.first().cloned().unwrap_or_default();
        let message = format!("{} Lindmark", exemplar.message);
        let inputs = Inputs {
            library: &texts,
            skill: Some(&skill),
            route: &route,
            language: &language,
            history: &[],
            message: &message,
            runs: &[],
            profile: &profile,
            template_takes_tools: opened.processor().template_takes_tools(),
            format: opened.processor().calls().format,
            available: None,
            withheld: false,
            notes: &[],
            behind: &[],
        };
        let Plan { messages, tools, shared, .. } = prompt::plan(&inputs);
        let text = opened.processor().render(&messages, &tools)?;
        let shared = opened.processor().shared(&text, messages.get(..shared).unwrap_or_default(), &tools);
        prompts.push(SkillPrompt { name: (*name).to_owned(), text, shared });
    }
    Ok(prompts)
}

impl SkillPrompt {
    fn measure(&self, model: &mut Model) -> Result<Value, Failure> {
        let shared = model.processor().tokens(self.text.get(..self.shared).unwrap_or_default())?.len();
        let tokens = model.processor().tokens(&self.text)?.len();
        let prompt = Prompt { text: &self.text, shared: self.shared };
        let (mut cold, mut known) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            model.forget();
            let start = Instant::now();
            model.logits(prompt)?;
            cold.push(milliseconds(start));
            // Another conversation comes between; what is left is the beginning that was kept.
            model.logits(Prompt { text: "Something else altogether.", shared: 0 })?;
            let start = Instant::now();
            model.logits(prompt)?;
            known.push(milliseconds(start));
        }
        let (cold, known) = (median(cold), median(known));
        Ok(json!({
            "skill": self.name,
            "prompt_tokens": tokens,
            "shared_tokens": shared,
            "worth_keeping": shared >= WORTH,
            "first_token_cold_ms": round(cold),
            "first_token_known_ms": round(known),
            "gain": round(cold / known),
        }))
    }
}

/// The most memory that this process had, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
