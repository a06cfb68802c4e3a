//! Chooses where a model runs. `auto` says what it took and why; a device that was named must take the whole graph.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
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

/// Opens a graph on the chosen device; with `inspect` also on the processor under a profile, which says what runs where.
/// A device other than the processor always is, and `accept` looks at the profile of a first run.
pub(super) fn open<T>(
    graph: &Path,
    runtime: &Path,
    (choice, inspect): (DeviceChoice, bool),
    accept: impl Fn(Session, &'static str, bool) -> Result<T, ModelError>,
) -> Result<(T, Device), ModelError> {
    let environment = environment(runtime)?;
    let attempt = |device: &'static str| -> Result<T, ModelError> {
        let failed = |error: String| ModelError::Device { device, cause: error };
        let builder = Session::builder(&environment)?;
        let profiled = inspect || device != "cpu";
        let builder = if profiled {
            builder.with_profiling(profile_path()).map_err(|error| failed(plain(&error.to_string())))?
        } else {
            builder
        };
        let providers = match device {
            "cuda" if !CUDA::default().is_available_here() => return Err(failed(missing(runtime, "CUDA"))),
            "cuda" => vec![CUDA::default().build().error_on_failure()],
            "directml" if !DirectML::default().is_available_here() => {
                return Err(failed(missing(runtime, "DirectML")));
            }
            "directml" => vec![DirectML::default().build().error_on_failure()],
            _ => Vec::new(),
        };
        let mut builder =
            builder.with_execution_providers(providers).map_err(|error| failed(plain(&error.to_string())))?;
        let session = builder.commit_from_file(graph).map_err(|error| {
            if device == "cpu" { ModelError::file(graph, error) } else { failed(plain(&error.to_string())) }
        })?;
        accept(session, device, profiled)
    };
    let named = |device: &'static str| {
        attempt(device).map(|opened| (opened, Device { name: device, reason: "it was named".to_owned() }))
    };
    match choice {
        DeviceChoice::Cuda => named("cuda"),
        DeviceChoice::DirectMl => named("directml"),
        DeviceChoice::Cpu => named("cpu"),
        DeviceChoice::Auto => {
            let mut reasons = Vec::new();
            for &device in DEVICES {
                match attempt(device) {
                    Ok(opened) => {
                        return Ok((opened, Device { name: device, reason: "it is available".to_owned() }));
                    }
                    Err(ModelError::Device { device, cause }) => reasons.push(format!("{device}: {cause}")),
                    Err(other) => return Err(other),
                }
            }
            let opened = attempt("cpu")?;
            Ok((opened, Device { name: "cpu", reason: reasons.join("; ") }))
        }
    }
}

/// Devices that are looked for; DirectML is a part of Windows.
const DEVICES: &[&str] = if cfg!(windows) { &["cuda", "directml"] } else { &["cuda"] };

/// What ONNX Runtime says, without the place in its source and its codes; with what to do where a library is missing.
fn plain(error: &str) -> String {
    let text = error
        .rsplit_once("[ONNXRuntimeError] : ")
        .map_or(error, |(_, text)| text.splitn(3, " : ").last().unwrap_or(text));
    let text = text.trim();
    if text.contains("cannot open shared object") || text.contains("LoadLibrary failed") {
        return format!("{text}; CUDA 13 and cuDNN 9 bring it, `LD_LIBRARY_PATH` names their folders");
    }
    text.to_owned()
}

/// ONNX Runtime's name of a device.
pub(super) fn provider(device: &str) -> &'static str {
    match device {
        "cuda" => "CUDAExecutionProvider",
        "directml" => "DmlExecutionProvider",
        _ => "CPUExecutionProvider",
    }
}

/// Where a profile goes; ONNX Runtime puts the time behind it.
fn profile_path() -> PathBuf {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("skillc-profile-{}-{number}", std::process::id()))
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
    format!(
        "{file} was built without {provider}; `skillc model fetch --device {}` gets one that was not",
        provider.to_lowercase()
    )
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

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_missing_library_is_named_without_the_runtime_s_source() {
        let said = plain(
            "/src/provider_bridge_ort.cc:2043 onnxruntime::Provider& Get() [ONNXRuntimeError] : 1 : FAIL : Failed to \
             load library /x/libonnxruntime_providers_cuda.so with error: libcublasLt.so.13: cannot open shared object \
             file: No such file or directory\n",
        );
        assert!(
            said.starts_with("Failed to load library /x/") && said.contains("libcublasLt.so.13"),
            "{said}"
        );
        assert!(said.contains("cuDNN 9") && !said.contains("provider_bridge"), "{said}");
        assert_eq!(plain("no such device"), "no such device");
    }
}
