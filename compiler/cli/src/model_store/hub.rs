//! Gets models from the Hub, or from a mirror that speaks its protocol (`HF_ENDPOINT`).
//!
//! Files go to a cache beside the models first, where an interrupted download goes on, and become a model when each
//! has the checksum that the Hub states. What a server says is checked before it becomes a path.

use std::fmt::Write as _;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use hf_hub::api::sync::{Api, ApiBuilder, ApiError};
use hf_hub::{Repo, RepoType};
use sha1::{Digest, Sha1};
use skill_runtime::model::{Processor, graph_name};

use super::fetch::{Store, StoreError, create, publish};
use super::manifest::{self, sha256};
use crate::interrupt::Unfinished;
use crate::progress::{Bar, Progress};

/// A model of the Hub.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// `ORG/NAME`.
    pub id: &'a str,
    /// Branch, tag or commit.
    pub revision: &'a str,
    /// Precision of the graph; None: the first of [`PREFERRED`] that is there.
    pub dtype: Option<&'a str>,
}

/// Precisions by how well they serve on a processor, the best first.
pub const PREFERRED: [&str; 7] = ["q4", "q8", "int8", "uint8", "fp32", "q4f16", "fp16"];
/// Files beside the graph; the first two must be there.
const BESIDE: [&str; 5] = [
    "config.json",
    "tokenizer.json",
    "generation_config.json",
    "tokenizer_config.json",
    "chat_template.jinja",
];
const REQUIRED: usize = 2;
/// Attempts of one file; each goes on where the one before ended.
const ATTEMPTS: u32 = 3;
/// A server may be silent this long.
const SILENCE: Duration = Duration::from_secs(60);
/// Largest file.
const MOST_BYTES: u64 = 64 << 30;

/// What a thread that downloads says.
enum Said {
    Bytes(u64),
    Done,
}

/// Hands on how many bytes have come.
struct Counter(Sender<Said>);

impl hf_hub::api::Progress for Counter {
    fn init(&mut self, _size: usize, _name: &str) {}

    fn update(&mut self, bytes: usize) {
        // Nobody listens any more when the wait was given up.
        let _ = self.0.send(Said::Bytes(bytes as u64));
    }

    fn finish(&mut self) {}
}

/// A file as the Hub describes it.
struct Remote {
    name: String,
    etag: String,
    size: u64,
}

impl Store {
    /// Gets a model, or another precision of one that is there. Returns its folder.
    ///
    /// # Errors
    /// The name is none, the Hub has no such model, a download fails, a checksum is wrong, or the files are no decoder
    /// that can be opened; the store is as before, and what was downloaded is used by the next attempt.
    pub fn pull(&self, wanted: &Wanted<'_>, progress: &dyn Progress) -> Result<PathBuf, StoreError> {
        let (owner, name) = parts(wanted.id)?;
        check_revision(wanted.revision)?;
        let failed = |cause: String| StoreError::Hub { model: wanted.id.to_owned(), cause };
        let _lock = self.lock(progress)?;
        let cache = self.root().join("hub");
        create(&cache)?;
        let api = ApiBuilder::from_env()
            .with_cache_dir(cache.clone())
            .with_token(std::env::var("HF_TOKEN").ok().filter(|token| !token.is_empty()))
            .with_progress(false)
            .with_user_agent("skillc", env!("CARGO_PKG_VERSION"))
            .build()
            .map_err(|error| failed(plain(&error)))?;
        let spinner = progress.spinner(&format!("Asking for {}", wanted.id));
        let repo = Repo::with_revision(wanted.id.to_owned(), RepoType::Model, wanted.revision.to_owned());
        let listed = {
            let (api, repo) = (api.clone(), repo.clone());
            waiting(move |_| api.repo(repo).info()).map_err(&failed)?
        };
        let listed: Vec<String> = listed.siblings.into_iter().map(|file| file.rfilename).collect();
        let graph = choose(&listed, wanted.dtype).map_err(&failed)?;
        let mut names = vec![graph.clone()];
        names.extend(listed.iter().filter(|file| is_data_of(file, &graph)).cloned());
        for (at, name) in BESIDE.iter().enumerate() {
            match listed.iter().any(|file| file == name) {
                true => names.push((*name).to_owned()),
                false if at < REQUIRED => return Err(failed(format!("it has no {name}"))),
                false => {}
            }
        }
        let mut files = Vec::with_capacity(names.len());
        for name in names {
            files.push(describe(&api, &repo, name).map_err(&failed)?);
        }
        drop(spinner);
        let total: u64 = files.iter().map(|file| file.size).sum();
        let bar = progress.bar(&format!("Downloading {} ({:.1} MB)", wanted.id, total as f64 / 1e6));
        let mut before = 0;
        let mut paths = Vec::with_capacity(files.len());
        for file in &files {
            paths.push(get(&api, &repo, file, &cache, (&bar, before, total)).map_err(&failed)?);
            before += file.size;
        }
        drop(bar);
        self.install(&format!("{owner}--{name}"), &files, &paths, &graph, wanted, &cache)
    }

    /// Makes a model of downloaded files, with the graphs that it has already.
    fn install(
        &self,
        folder_name: &str,
        files: &[Remote],
        paths: &[PathBuf],
        graph: &str,
        wanted: &Wanted<'_>,
        cache: &Path,
    ) -> Result<PathBuf, StoreError> {
        let target = self.root().join("models").join(folder_name);
        let work = self.work_folder()?;
        let _unfinished = Unfinished::at(work.path());
        let folder = work.path().join(folder_name);
        create(&folder.join("onnx"))?;
        if manifest::check(&target, manifest::Care::Sizes) == manifest::Condition::Whole {
            let there = target.join("onnx");
            let entries = std::fs::read_dir(&there).map_err(|error| StoreError::io("read", &there, error))?;
            for entry in entries {
                let entry = entry.map_err(|error| StoreError::io("read", &there, error))?;
                link(&entry.path(), &folder.join("onnx").join(entry.file_name()))?;
            }
        }
        for (file, path) in files.iter().zip(paths) {
            let place = if file.name.ends_with(".onnx") || file.name.contains(".onnx_data") {
                folder.join("onnx").join(file.name.rsplit('/').next().unwrap_or(&file.name))
            } else {
                folder.join(&file.name)
            };
            link(path, &place)?;
        }
        let failed = |cause: String| StoreError::Hub { model: wanted.id.to_owned(), cause };
        let dtype = graph.rsplit('/').next().and_then(skill_runtime::model::dtype_of);
        Processor::open(&folder, dtype.as_deref())
            .map_err(|error| failed(error.to_string().replace(&folder.display().to_string(), wanted.id)))?;
        manifest::write(&folder)?;
        publish(&folder, &target)?;
        // The model has its files now; the cache's names of them are not needed any more.
        let used = cache.join(format!("models--{}", wanted.id.replace('/', "--")));
        std::fs::remove_dir_all(&used).map_err(|error| StoreError::io("clear", &used, error))?;
        Ok(target)
    }
}

/// Owner and name of `ORG/NAME`.
fn parts(id: &str) -> Result<(&str, &str), StoreError> {
    let sound = |part: &str| {
        let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        !part.is_empty() && part.len() <= 96 && part.chars().all(letters) && !part.starts_with('.')
    };
    match id.split_once('/') {
        Some((owner, name)) if sound(owner) && sound(name) => Ok((owner, name)),
        _ => Err(StoreError::BadModel(format!(
            "`{id}` is no model of the Hub; they are called ORG/NAME, such as onnx-community/Qwen3-0.6B-ONNX"
        ))),
    }
}

/// A revision becomes the name of a file in the cache.
fn check_revision(revision: &str) -> Result<(), StoreError> {
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let sound = |part: &str| !part.is_empty() && !part.starts_with('.') && part.chars().all(letters);
    if revision.len() <= 200 && revision.split('/').all(sound) {
        return Ok(());
    }
    Err(StoreError::BadModel(format!(
        "`{}` is no revision; they are branches, tags and commits such as main or refs/pr/1",
        revision.escape_debug()
    )))
}

/// Precision of a graph in a folder `onnx` or beside the configuration.
fn precision(file: &str) -> Option<String> {
    let name = file.strip_prefix("onnx/").unwrap_or(file);
    if name.contains('/') { None } else { skill_runtime::model::dtype_of(name) }
}

/// The graph of the precision that is wanted.
fn choose(listed: &[String], dtype: Option<&str>) -> Result<String, String> {
    let there: Vec<String> = listed.iter().filter_map(|file| precision(file)).collect();
    if there.is_empty() {
        return Err("it holds no onnx/model*.onnx; models for this runtime have one".to_owned());
    }
    let known = |wanted: &&str| there.iter().any(|dtype| dtype == wanted);
    let chosen = match dtype {
        Some(dtype) => Some(dtype).filter(known).ok_or_else(|| {
            format!("it has no graph of the precision `{dtype}`; there are: {}", there.join(", "))
        })?,
        None => PREFERRED.into_iter().find(known).or(there.first().map(String::as_str)).unwrap_or_default(),
    };
    let file = graph_name(chosen);
    let nested = format!("onnx/{file}");
    Ok(if listed.contains(&nested) { nested } else { file })
}

/// Whether a file holds weights of a graph: `model_q4.onnx_data`, `model_q4.onnx_data_1`, `model_q4.onnx.data`.
fn is_data_of(file: &str, graph: &str) -> bool {
    let plain = |rest: &str| rest.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
    file.strip_prefix(graph)
        .is_some_and(|rest| (rest.starts_with("_data") || rest.starts_with(".data")) && plain(rest))
}

/// Asks for size and checksum of a file.
fn describe(api: &Api, repo: &Repo, name: String) -> Result<Remote, String> {
    let url = api.repo(repo.clone()).url(&name);
    let found = {
        let api = api.clone();
        waiting(move |_| api.metadata(&url)).map_err(|error| format!("{name}: {error}"))?
    };
    // Both become names of files.
    let hexadecimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let (etag, commit) = (found.etag(), found.commit_hash());
    if ![40, 64].contains(&etag.len()) || !hexadecimal(etag) {
        return Err(format!("{name}: the server states no checksum (its ETag is {etag:?})"));
    }
    if commit.is_empty() || commit.len() > 64 || !hexadecimal(commit) {
        return Err(format!("{name}: the server states no commit ({commit:?})"));
    }
    let size = found.size() as u64;
    if size > MOST_BYTES {
        return Err(format!("{name} has {size} bytes, over {MOST_BYTES}"));
    }
    Ok(Remote { name, etag: etag.to_owned(), size })
}

/// Downloads a file, or what is missing of it, and compares its checksum.
fn get(
    api: &Api,
    repo: &Repo,
    file: &Remote,
    cache: &Path,
    (bar, before, total): (&Bar, u64, u64),
) -> Result<PathBuf, String> {
    let blobs = cache.join(repo.folder_name()).join("blobs");
    let (blob, part) = (blobs.join(&file.etag), blobs.join(format!("{}.part", file.etag)));
    let mut attempt = 1;
    loop {
        if std::fs::metadata(&blob).is_ok_and(|found| found.len() == file.size) {
            break;
        }
        // One that is whole but was not renamed is asked for again: there is nothing to go on with.
        if std::fs::metadata(&part).is_ok_and(|found| found.len() >= file.size) {
            std::fs::remove_file(&part).map_err(|error| format!("{}: {error}", part.display()))?;
        }
        let (api, repo, name) = (api.clone(), repo.clone(), file.name.clone());
        let mut came = before;
        let got = waiting_for(
            move |sender| api.repo(repo).download_with_progress(&name, Counter(sender)),
            &mut |bytes| {
                came += bytes;
                bar.set(came as f64 / total.max(1) as f64);
                came - before <= file.size
            },
        );
        if came - before > file.size {
            // Not even the beginning of it can be trusted.
            let _ = std::fs::remove_file(&part);
            return Err(format!(
                "{}: the server sends more than the {} bytes it states",
                file.name, file.size
            ));
        }
        let length = std::fs::metadata(&blob).map(|found| found.len()).ok();
        let fault = match (got, length) {
            (Ok(_), Some(length)) if length == file.size => break,
            (Ok(_), length) => {
                if length.is_some() {
                    std::fs::remove_file(&blob).map_err(|error| format!("{}: {error}", blob.display()))?;
                }
                format!("it has {} bytes, not the {} that are stated", length.unwrap_or_default(), file.size)
            }
            (Err(error), _) => format!("{error}; the next `model pull` goes on from here"),
        };
        if attempt == ATTEMPTS {
            return Err(format!("{}: {fault}", file.name));
        }
        attempt += 1;
    }
    let found = if file.etag.len() == 64 {
        sha256(&blob).map_err(|error| error.to_string())?
    } else {
        git_sha1(&blob).map_err(|error| format!("{}: {error}", blob.display()))?
    };
    if !found.eq_ignore_ascii_case(&file.etag) {
        std::fs::remove_file(&blob).map_err(|error| format!("{}: {error}", blob.display()))?;
        return Err(format!("{} has the checksum {found}, not {}; it was not used", file.name, file.etag));
    }
    Ok(blob)
}

/// The checksum that git gives a file: SHA-1 of `blob SIZE`, a zero byte and the content.
fn git_sha1(path: &Path) -> io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let mut hasher = Sha1::new();
    hasher.update(format!("blob {}\0", file.metadata()?.len()));
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => hasher.update(buffer.get(..read).unwrap_or_default()),
        }
    }
    Ok(hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Name of the threads that ask the Hub.
const THREAD: &str = "hub";

/// The client panics at some answers that make no sense; that is said as an error, and not as a panic, too.
fn say_no_panics() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if std::thread::current().name() != Some(THREAD) {
                before(info);
            }
        }));
    });
}

/// Runs a request on a thread and waits as long as bytes come and `on_bytes` wants more; a server that is silent is given
/// up.
fn waiting_for<T: Send + 'static>(
    request: impl FnOnce(Sender<Said>) -> Result<T, ApiError> + Send + 'static,
    on_bytes: &mut dyn FnMut(u64) -> bool,
) -> Result<T, String> {
    let (sender, said) = channel();
    say_no_panics();
    let thread = std::thread::Builder::new()
        .name(THREAD.to_owned())
        .spawn(move || {
            let result = request(sender.clone());
            let _ = sender.send(Said::Done);
            result
        })
        .map_err(|error| error.to_string())?;
    loop {
        match said.recv_timeout(SILENCE) {
            Ok(Said::Bytes(bytes)) if on_bytes(bytes) => {}
            Ok(Said::Bytes(_)) => return Err("it was given up".to_owned()),
            Ok(Said::Done) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                return Err(format!("the server said nothing for {} s", SILENCE.as_secs()));
            }
        }
    }
    match thread.join() {
        Ok(result) => result.map_err(|error| plain(&error)),
        Err(_) => Err("the server's answer makes no sense".to_owned()),
    }
}

fn waiting<T: Send + 'static>(
    request: impl FnOnce(Sender<Said>) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, String> {
    waiting_for(request, &mut |_| true)
}

/// What a failure means for the user.
fn plain(error: &ApiError) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("request error: ").unwrap_or(&text);
    match text {
        text if text.contains("status: 401") || text.contains("status: 403") => format!(
            "{text}: it is private, gated or does not exist; HF_TOKEN holds the token of one who may read it"
        ),
        text if text.contains("status: 404") => format!("{text}: there is no such model, revision or file"),
        text => text.to_owned(),
    }
}

/// A second name of a file, or a copy where the file system has no second names.
fn link(from: &Path, to: &Path) -> Result<(), StoreError> {
    // An earlier graph of the same name gives way.
    if to.exists() {
        std::fs::remove_file(to).map_err(|error| StoreError::io("replace", to, error))?;
    }
    if std::fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    std::fs::copy(from, to).map(|_| ()).map_err(|error| StoreError::io("copy", from, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_models_are_refused() {
        assert_eq!(parts("onnx-community/Qwen3-0.6B-ONNX").ok(), Some(("onnx-community", "Qwen3-0.6B-ONNX")));
        for bad in ["qwen", "a/b/c", "../x", "a/..", "a/", "/b", "a b/c", "a/b?c", "ä/b"] {
            assert!(parts(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn revisions_that_lead_elsewhere_are_refused() {
        for good in ["main", "refs/pr/1", "v1.0", "0123abcd"] {
            assert!(check_revision(good).is_ok(), "{good}");
        }
        for bad in ["", "../x", "a/../b", "/x", "a//b", "a%2Fb", "a b", ".git", "a\\b"] {
            assert!(check_revision(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_graph_is_the_one_that_is_wanted_or_the_best() {
        let listed: Vec<String> = [
            "config.json",
            "onnx/model.onnx",
            "onnx/model.onnx_data",
            "onnx/model_q4.onnx",
            "onnx/model_q4.onnx_data_1",
            "onnx/model_quantized.onnx",
            "onnx/decoder/model_fp16.onnx",
        ]
        .map(str::to_owned)
        .to_vec();
        assert_eq!(choose(&listed, None).as_deref(), Ok("onnx/model_q4.onnx"));
        assert_eq!(choose(&listed, Some("q8")).as_deref(), Ok("onnx/model_quantized.onnx"));
        assert_eq!(choose(&listed, Some("fp32")).as_deref(), Ok("onnx/model.onnx"));
        assert!(choose(&listed, Some("fp16")).is_err_and(|error| error.contains("fp32, q4, q8")));
        assert!(choose(&listed[..1], None).is_err_and(|error| error.contains("onnx")));
        let data = |graph: &str| listed.iter().filter(|file| is_data_of(file, graph)).count();
        assert_eq!(
            (data("onnx/model.onnx"), data("onnx/model_q4.onnx"), data("onnx/model_quantized.onnx")),
            (1, 1, 0)
        );
        assert!(!is_data_of("onnx/model.onnx_data/../../x", "onnx/model.onnx"));
    }
}
