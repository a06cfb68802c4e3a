//! `skillc model`: fetch, import, list, remove, info, verify; bench has a file of its own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;
use skill_runtime::model::{AnswerPolicy, DeviceChoice, LanguageModel, Model, Options, Profile};

use crate::args::{self, Answers, Device, ModelChoice, ModelCommand};
use crate::model_store::{Gpu, Store, Stored, Wanted};
use crate::progress::Terminal;
use crate::{EXIT_FINDINGS, EXIT_OK, Failure, Output};

/// Prompts on which the 8-bit graph is compared with the reference; written for this purpose.
const VERIFY_PROMPTS: &str = include_str!("verify-prompts.txt");
/// Share of positions at which both must choose the same token.
const WANTED_AGREEMENT: f64 = 0.97;

pub(super) fn run(
    arguments: &args::Model,
    skills: Option<&Path>,
    output: &mut Output,
) -> Result<u8, Failure> {
    let store = Store::open()?;
    match &arguments.command {
        ModelCommand::Fetch { reference, device } => {
            let (mut runtime, model) = store.fetch(&Terminal)?;
            if let Some(gpu) = gpu(*device) {
                runtime = store.fetch_runtime(Some(gpu), &Terminal)?;
            }
            if *reference {
                store.fetch_reference(&Terminal)?;
            }
            writeln!(output.out, "ONNX Runtime: {}", runtime.display())?;
            writeln!(output.out, "model:        {}", model.display())?;
            Ok(EXIT_OK)
        }
        ModelCommand::Import { file, output: target } => {
            let start = Instant::now();
            store.import_file(file, target, &Terminal)?;
            let seconds = start.elapsed().as_secs_f64();
            writeln!(output.out, "{} ({seconds:.1} s)", target.display())?;
            Ok(EXIT_OK)
        }
        ModelCommand::Pull { name, revision, dtype } => {
            let wanted = Wanted { id: name, revision, dtype: dtype.as_deref() };
            let folder = store.pull(&wanted, &Terminal)?;
            writeln!(output.out, "{}", folder.display())?;
            Ok(EXIT_OK)
        }
        ModelCommand::List { json } => list(&store, *json, output),
        ModelCommand::Remove { name } => {
            let removed = store.remove(name, &Terminal)?;
            writeln!(output.out, "removed {} ({})", removed.folder.display(), megabytes(removed.bytes))?;
            Ok(EXIT_OK)
        }
        ModelCommand::Info { model, json } => info(&store, model, *json, output),
        ModelCommand::Bench { model, json, alone } => {
            super::bench::run(model, *json, alone.map(usize::from), skills, output)
        }
        ModelCommand::Verify { json } => verify(&store, *json, output),
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

fn list(store: &Store, as_json: bool, output: &mut Output) -> Result<u8, Failure> {
    for Stored { name, bytes, damage, folder } in store.list()? {
        if as_json {
            let value = json!({
                "name": name, "bytes": bytes, "damage": damage, "folder": folder.display().to_string()
            });
            writeln!(output.out, "{value}")?;
        } else {
            let damage = damage.map_or_else(String::new, |why| format!("  damaged: {why}"));
            writeln!(output.out, "{name:44} {:>10}{damage}", megabytes(bytes))?;
        }
    }
    Ok(EXIT_OK)
}

/// The folder of the chosen model and the runtime's library; both are fetched if nothing else is named.
pub(super) fn locate(store: &Store, choice: &ModelChoice) -> Result<(PathBuf, PathBuf), Failure> {
    let folder = match &choice.dir {
        Some(name) => store.named(name),
        None => store.fetch_model(&Terminal)?,
    };
    let fetched = if choice.device == Device::Auto { store.gpu_runtime() } else { None };
    let runtime = match fetched {
        Some(runtime) => runtime,
        None => store.fetch_runtime(gpu(choice.device), &Terminal)?,
    };
    Ok((folder, runtime))
}

/// The library that a device needs; None: the processor's, which a machine without one has.
fn gpu(device: Device) -> Option<Gpu> {
    match device {
        Device::Cuda => Some(Gpu::Cuda),
        Device::Directml => Some(Gpu::DirectMl),
        Device::Auto | Device::Cpu => None,
    }
}

pub(super) fn options(choice: &ModelChoice) -> Options<'_> {
    let device = match choice.device {
        Device::Auto => DeviceChoice::Auto,
        Device::Cuda => DeviceChoice::Cuda,
        Device::Directml => DeviceChoice::DirectMl,
        Device::Cpu => DeviceChoice::Cpu,
    };
    Options { dtype: choice.dtype.as_deref(), ..Options::on(device) }
}

pub(super) fn override_answers(profile: &mut Profile, answers: Option<Answers>) {
    match answers {
        Some(Answers::Author) => profile.answers = AnswerPolicy::Author,
        Some(Answers::Strict) => profile.answers = AnswerPolicy::Strict,
        None => {}
    }
}

fn info(store: &Store, choice: &ModelChoice, as_json: bool, output: &mut Output) -> Result<u8, Failure> {
    let (folder, runtime) = locate(store, choice)?;
    let start = Instant::now();
    let model = Model::open(&folder, &runtime, Options { inspect: true, ..options(choice) })?;
    let opened = start.elapsed().as_secs_f64() * 1000.0;
    let generation = model.processor().generation();
    let profile = model.processor().profile();
    let values = json!({
        "model": model.processor().name(),
        "folder": folder.display().to_string(),
        "runtime": runtime.display().to_string(),
        "device": model.device().name,
        "device_reason": model.device().reason,
        "nodes": model.placement().map(|placement| &placement.providers),
        "opened_ms": opened.round(),
        "context_tokens": model.processor().context(),
        "template_takes_tools": model.processor().template_takes_tools(),
        "calls": model.processor().calls().format.name(),
        "calls_remark": model.processor().calls().remark,
        "ends": generation.ends,
        "temperature": if generation.sample { generation.temperature } else { 0.0 },
        "top_p": generation.top_p,
        "top_k": generation.top_k,
        "repetition_penalty": generation.repetition_penalty,
        "max_new_tokens": generation.max_new_tokens,
        "answers": if profile.answers == AnswerPolicy::Strict { "strict" } else { "author" },
    });
    if as_json {
        writeln!(output.out, "{values:#}")?;
    } else if let Some(values) = values.as_object() {
        for (key, value) in values {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            writeln!(output.out, "{key:20} {value}")?;
        }
    }
    Ok(EXIT_OK)
}

/// Compares the most likely next token of both graphs at every position of every prompt.
fn verify(store: &Store, as_json: bool, output: &mut Output) -> Result<u8, Failure> {
    let runtime = store.fetch_runtime(None, &Terminal)?;
    let folder = store.fetch_model(&Terminal)?;
    let reference = store.fetch_reference(&Terminal)?;
    let prompts: Vec<&str> =
        VERIFY_PROMPTS.split("\n---\n").map(str::trim).filter(|p| !p.is_empty()).collect();
    let expected = {
        let mut model = Model::open(&reference, &runtime, Options::on(DeviceChoice::Cpu))?;
        let mut out = Vec::new();
        for prompt in &prompts {
            let tokens = model.processor().tokens(prompt)?;
            out.push((tokens.clone(), model.best_next(&tokens)?));
        }
        out
    };
    let mut model = Model::open(&folder, &runtime, Options::on(DeviceChoice::Cpu))?;
    let (mut same, mut total) = (0, 0);
    for (tokens, expected) in &expected {
        let found = model.best_next(tokens)?;
        same += found.iter().zip(expected).filter(|(a, b)| a == b).count();
        total += expected.len();
    }
    let agreement = same as f64 / total.max(1) as f64;
    if as_json {
        let value =
            json!({"prompts": prompts.len(), "positions": total, "same": same, "agreement": agreement});
        writeln!(output.out, "{value:#}")?;
    } else {
        writeln!(
            output.out,
            "{} prompts: the 8-bit graph and the 32-bit reference choose the same token at {same} of {total} positions \
             ({:.2} %)",
            prompts.len(),
            agreement * 100.0
        )?;
    }
    Ok(if agreement >= WANTED_AGREEMENT { EXIT_OK } else { EXIT_FINDINGS })
}
