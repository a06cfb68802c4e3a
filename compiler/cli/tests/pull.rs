//! `skillc model pull` against a server process on loopback that speaks the Hub's protocol, well and badly.
#![allow(clippy::expect_used, reason = "a test stops at what it does not expect")]

mod support;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use support::store;

/// The server; it ends with its standard input.
struct Hub {
    child: Child,
    url: String,
    /// What was asked for: repository, file, first byte.
    asked: Receiver<String>,
}

impl Hub {
    fn start(files: &Path) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hub.py");
        let mut child = Command::new("python3")
            .arg(script)
            .arg(files)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output"));
        let mut port = String::new();
        lines.read_line(&mut port).expect("its port");
        let (sender, asked) = channel();
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, url: format!("http://127.0.0.1:{}", port.trim()), asked }
    }

    /// First bytes that were asked for of the file of weights, since the last look.
    fn starts(&self) -> Vec<u64> {
        let mut starts = Vec::new();
        while let Ok(line) = self.asked.recv_timeout(Duration::from_millis(300)) {
            if line.contains("onnx_data ") {
                starts.push(line.rsplit(' ').next().and_then(|at| at.parse().ok()).expect("a number"));
            }
        }
        starts
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// `skillc model …` with a home of its own, which has the runtime that tests use.
fn skillc(hub: &Hub, home: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skillc"))
        .arg("model")
        .args(arguments)
        .env("SKILLC_HOME", home)
        .env("HF_ENDPOINT", &hub.url)
        .env("HF_HOME", home.join("none"))
        .env_remove("HF_TOKEN")
        .env("ORT_DYLIB_PATH", store().runtime().expect("run `skillc model fetch` first"))
        .stdin(Stdio::null())
        .output()
        .expect("skillc starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A small model in the Hub's layout.
fn model(folder: &Path) -> PathBuf {
    let target = folder.join("repository");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny-llama.gguf");
    let output = Command::new(env!("CARGO_BIN_EXE_skillc"))
        .args(["model", "import"])
        .arg(source)
        .arg("-o")
        .arg(&target)
        .output()
        .expect("skillc starts");
    assert!(output.status.success(), "{}", said(&output));
    target
}

#[test]
fn a_download_that_breaks_off_goes_on_where_it_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let hub = Hub::start(&model(folder.path()));
    let home = folder.path().join("home");
    // Broken off once: the same command goes on.
    let output = skillc(&hub, &home, &["pull", "acme/cut-1"]);
    assert!(output.status.success(), "{}", said(&output));
    let starts = hub.starts();
    assert!(matches!(starts.as_slice(), [0, later] if *later > 0), "{starts:?}");
    // Broken off more often than it tries: the next command goes on.
    let output = skillc(&hub, &home, &["pull", "acme/cut-5"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains("model.onnx_data") && said(&output).contains("goes on"),
        "{}",
        said(&output)
    );
    let before = hub.starts();
    let output = skillc(&hub, &home, &["pull", "acme/cut-5"]);
    assert!(output.status.success(), "{}", said(&output));
    let after = hub.starts();
    assert!(
        after.first() > before.last() && before.windows(2).all(|pair| pair[0] < pair[1]),
        "{before:?} {after:?}"
    );
    // Both are models, and open by name.
    let listed = String::from_utf8(skillc(&hub, &home, &["list", "--json"]).stdout).expect("text");
    for name in ["acme--cut-1", "acme--cut-5"] {
        let line = listed.lines().find(|line| line.contains(name)).expect("it is listed");
        assert!(line.contains("\"damage\":null"), "{line}");
    }
    let output = skillc(&hub, &home, &["info", "--model", "acme/cut-5", "--device", "cpu", "--json"]);
    assert!(output.status.success(), "{}", said(&output));
    let left = std::fs::read_dir(home.join("hub")).expect("the cache").count();
    assert_eq!(left, 0, "the cache keeps nothing of a model that is whole");
}

#[test]
fn a_second_precision_joins_the_first_and_is_chosen_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = model(folder.path());
    std::fs::copy(files.join("onnx/model.onnx"), files.join("onnx/model_q4.onnx")).expect("copied");
    let hub = Hub::start(&files);
    let home = folder.path().join("home");
    let output = skillc(&hub, &home, &["pull", "acme/good", "--dtype", "fp16"]);
    assert!(said(&output).contains("there are: fp32, q4"), "{}", said(&output));
    for dtype in ["fp32", "q4"] {
        let output = skillc(&hub, &home, &["pull", "acme/good", "--dtype", dtype]);
        assert!(output.status.success(), "{}", said(&output));
    }
    for (dtype, code) in [("fp32", 0), ("q4", 0), ("int8", 2)] {
        let arguments = ["info", "--model", "acme/good", "--device", "cpu", "--dtype", dtype];
        let output = skillc(&hub, &home, &arguments);
        assert_eq!(output.status.code(), Some(code), "{dtype}: {}", said(&output));
        assert!(code == 0 || said(&output).contains("there are: fp32, q4"), "{}", said(&output));
    }
}

#[test]
fn what_a_server_says_wrongly_is_an_error_and_leaves_no_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let hub = Hub::start(&model(folder.path()));
    let home = folder.path().join("home");
    for (name, cause) in [
        ("acme/liar", "checksum"),
        ("acme/rogue", "states no checksum"),
        ("acme/short", "are stated"),
        ("acme/endless", "more than the"),
        ("acme/lost", "makes no sense"),
        ("acme/gated", "HF_TOKEN"),
        ("acme/empty", "no onnx/model*.onnx"),
        ("other/none", "no such model"),
        ("no-model", "ORG/NAME"),
        ("../up/x", "ORG/NAME"),
    ] {
        let output = skillc(&hub, &home, &["pull", name]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(said(&output).contains(cause), "{name}: {}", said(&output));
        assert!(!said(&output).contains("panicked"), "{name}: {}", said(&output));
    }
    let victim = folder.path().join("victim");
    std::fs::write(&victim, "precious").expect("written");
    let output = skillc(&hub, &home, &["pull", "acme/good", "--revision", "../../../../victim"]);
    assert!(output.status.code() == Some(2) && said(&output).contains("no revision"), "{}", said(&output));
    assert_eq!(std::fs::read_to_string(&victim).ok().as_deref(), Some("precious"));
    assert_eq!(skillc(&hub, &home, &["list"]).stdout, b"");
    let mut nobody = hub;
    nobody.url = "http://127.0.0.1:9".to_owned();
    let output = skillc(&nobody, &home, &["pull", "acme/good"]);
    assert_eq!(output.status.code(), Some(2));
}
