//! What tests with the real model share. The model is fetched before the tests run (see the README); they never
//! download.
#![allow(
    dead_code,
    clippy::expect_used,
    reason = "each test file uses a part of it, and stops at what it does not expect"
)]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use skill_runtime::model::{DeviceChoice, Model, Options};
use skill_runtime::net::{Fetcher, Limits, Names};
use skillc::model_store::Store;

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The store, in which the embedded default must be.
pub(crate) fn store() -> Store {
    let store = Store::open().expect("a cache directory");
    assert!(store.model().is_some(), "run `skillc model fetch` first; tests do not download");
    store
}

/// The embedded default on the processor.
pub(crate) fn model() -> Model {
    let store = store();
    let runtime = store.runtime().expect("run `skillc model fetch` first; tests do not download");
    Model::open(&store.model_dir(), &runtime, Options::on(DeviceChoice::Cpu)).expect("it opens")
}

/// One turn of `skillc chat` on the processor.
pub(crate) fn chat(arguments: &[&str]) -> Value {
    store();
    let output = Command::new(env!("CARGO_BIN_EXE_skillc"))
        .env("SKILLC_WEB", "off")
        .env("SKILLC_MEMORY", "off")
        .args(["chat", "--json", "--device", "cpu"])
        .args(arguments)
        .current_dir(root())
        .stdin(Stdio::null())
        .output()
        .expect("skillc starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

/// The same with a library of one file.
pub(crate) fn chat_with(source: &str, arguments: &[&str]) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let skills = folder.path().join("library.skill");
    std::fs::write(&skills, source).expect("written");
    chat(&[&["--skills", &skills.to_string_lossy()], arguments].concat())
}

/// The demo web, which ends with the test.
pub(crate) struct Demo {
    child: Child,
    pub(crate) names: Names,
}

impl Demo {
    pub(crate) fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_skillc"))
            .arg("demo-web")
            .stdout(Stdio::piped())
            .spawn()
            .expect("skillc starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        Self { child, names: Names::Demo(line.trim().parse().expect("an address")) }
    }

    /// A client with short times.
    pub(crate) fn fetcher(&self) -> Fetcher {
        let limits = Limits {
            silence: Duration::from_millis(800),
            total: Duration::from_secs(3),
            bytes: 1 << 20,
            ..Limits::default()
        };
        Fetcher::new(self.names, limits).expect("a client")
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
