//! Chooses where a model runs. `auto` says what it took and why; a device that was named must take the whole graph.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use ort::environment::Environment;
use ort::ep::{CUDA, DirectML, ExecutionProvider};
use ort::session::Session;

use super::ModelError;

/// What the user asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// CUDA, else DirectML, else the processor.
    #[default]
    Auto,
    /// NVIDIA GPUs.
    Cuda,
    /// GPUs on Windows.
    DirectMl,
    /// The processor.
    Cpu,
}

/// What runs the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// `cuda`, `directml` or `cpu`.
    pub name: &'static str,
    /// Why this one, in a sentence for people.
    pub reason: String,
}

/// Opens a graph on the chosen device.
pub(super) fn open(
    graph: &Path,
    runtime: &Path,
    choice: DeviceChoice,
) -> Result<(Session, Device), ModelError> {
    let environment = environment(runtime)?;
    let attempt = |device: &'static str| -> Result<Session, ModelError> {
        let failed = |error: String| ModelError::Device { device, cause: error };
        let builder = Session::builder(&environment)?;
        let builder = match device {
            "cuda" => {
                let available = CUDA::default().is_available_here();
                if !available {
                    return Err(failed(missing(runtime, "CUDA")));
                }
                builder
                    .with_execution_providers([CUDA::default().build().error_on_failure()])
                    .map_err(|error| failed(error.to_string()))?
                    .with_disable_cpu_fallback()?
            }
            "directml" => {
                let available = DirectML::default().is_available_here();
                if !available {
                    return Err(failed(missing(runtime, "DirectML")));
                }
                builder
                    .with_execution_providers([DirectML::default().build().error_on_failure()])
                    .map_err(|error| failed(error.to_string()))?
                    .with_disable_cpu_fallback()?
            }
            _ => builder,
        };
        let mut builder = builder;
        builder.commit_from_file(graph).map_err(|error| {
            if device == "cpu" { ModelError::file(graph, error) } else { failed(error.to_string()) }
        })
    };
    let named = |device: &'static str| {
        attempt(device).map(|session| (session, Device { name: device, reason: "it was named".to_owned() }))
    };
    match choice {
        DeviceChoice::Cuda => named("cuda"),
        DeviceChoice::DirectMl => named("directml"),
        DeviceChoice::Cpu => named("cpu"),
        DeviceChoice::Auto => {
            let mut reasons = Vec::new();
            for device in ["cuda", "directml"] {
                match attempt(device) {
                    Ok(session) => {
                        return Ok((session, Device { name: device, reason: "it is available".to_owned() }));
                    }
                    Err(ModelError::Device { device, cause }) => reasons.push(format!("{device}: {cause}")),
                    Err(other) => return Err(other),
                }
            }
            let session = attempt("cpu")?;
            Ok((session, Device { name: "cpu", reason: reasons.join("; ") }))
        }
    }
}

/// The one environment that a process may have; the first library that was loaded stays.
fn environment(runtime: &Path) -> Result<Environment, ModelError> {
    static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);
    let mut slot = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = slot.as_ref() {
        return Ok(environment.clone());
    }
    let environment = ort::init_from(runtime)
        .map_err(|error| ModelError::Runtime(error.to_string()))?
        .with_name("skillc")
        .build()?;
    *slot = Some(environment.clone());
    Ok(environment)
}

fn missing(runtime: &Path, provider: &str) -> String {
    let file = runtime.file_name().unwrap_or_default().to_string_lossy();
    format!("{file} was built without {provider}")
}

/// Whether the loaded library holds a provider.
trait Available {
    fn is_available_here(&self) -> bool;
}

impl<P: ExecutionProvider> Available for P {
    fn is_available_here(&self) -> bool {
        P::is_available().unwrap_or(false)
    }
}
