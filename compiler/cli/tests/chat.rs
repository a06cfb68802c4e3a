//! `skillc chat` with the real model. The model is fetched before the tests run (see the README); they never
//! download.
#![expect(clippy::expect_used, reason = "a test stops at what it does not expect")]

mod support;

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use serde_json::Value;
use support::{chat, root, store};

/// A conversation over standard input: the exit code, and an object for each turn.
fn piped(input: &[u8]) -> (Option<i32>, Vec<Value>) {
    store();
    let mut child = Command::new(env!("CARGO_BIN_EXE_skillc"))
        .env("SKILLC_WEB", "off")
        .env("SKILLC_MEMORY", "off")
        .args(["chat", "--json"])
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("skillc starts");
    child.stdin.take().expect("a pipe").write_all(input).expect("written");
    let output = child.wait_with_output().expect("it ends");
    let turns = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("one object a line"))
        .collect();
    (output.status.code(), turns)
}

#[test]
fn a_greeting_is_answered_in_its_language_with_nothing_offered() {
    let reply = chat(&["hallo"]);
    assert_eq!(reply["skill"], "small-talk");
    assert_eq!(reply["stage"], "trigger");
    assert_eq!(reply["tools_offered"], Value::Array(Vec::new()));
    assert_eq!(reply["model_ran"], false);
    assert_eq!(reply["language"], "de");
    let text = reply["reply"].as_str().unwrap_or_default();
    assert!(text.starts_with("Hallo") && !text.contains("http"), "{text}");
}

#[test]
fn a_bad_line_of_a_pipe_is_reported_and_the_conversation_goes_on() {
    let (code, lines) = piped(b"hallo\nb\xff\nWas ist 2 + 3?\n/quit\nhallo\n");
    assert_eq!(code, Some(2), "a line was bad");
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(lines[0]["skill"], "small-talk");
    assert!(lines[1]["error"].as_str().unwrap_or_default().contains("standard input:2"));
    assert_eq!(lines[2]["reply"], "2 + 3 = 5");
}

#[test]
fn a_product_is_calculated_exactly() {
    let reply = chat(&["What is 98765 * 4321?"]);
    assert_eq!(reply["tools_run"][0]["name"], "calculator");
    assert_eq!(reply["tools_run"][0]["failed"], false);
    assert!(reply["reply"].as_str().unwrap_or_default().contains("426763565"));
    let failed = chat(&["Was ist 5 geteilt durch 0?"]);
    assert_eq!(failed["tools_run"][0]["failed"], true);
    let text = failed["reply"].as_str().unwrap_or_default();
    assert!(text.contains("null"), "the reason is said in German: {text}");
}

#[test]
fn the_clock_answers_in_the_language_of_the_question() {
    let german = chat(&["Wie spät ist es?"]);
    assert!(german["reply"].as_str().unwrap_or_default().starts_with("Es ist "), "{german}");
    let english = chat(&["What time is it?"]);
    assert!(english["reply"].as_str().unwrap_or_default().starts_with("It is "), "{english}");
}

#[test]
fn a_skill_without_a_runnable_tool_is_named_as_unusable() {
    let reply = chat(&["Was ist Stripe?", "--max-tokens", "4"]);
    assert_eq!(reply["skill"], Value::Null);
    assert_eq!(reply["unusable"][0], "lookup-term");
    assert_eq!(reply["tools_offered"], Value::Array(Vec::new()));
    assert!(reply["labels"].as_array().is_some_and(|labels| labels.contains(&"unsourced".into())), "{reply}");
}

#[test]
fn the_model_writes_and_the_same_seed_writes_the_same() {
    let arguments =
        ["Write one sentence about rain.", "--max-tokens", "24", "--seed", "7", "--temperature", "0.8"];
    let first = chat(&arguments);
    assert_eq!(first["model_ran"], true);
    assert!(first["prompt_tokens"].as_u64().unwrap_or_default() > 20);
    assert!(first["reply_tokens"].as_u64().unwrap_or_default() > 3);
    assert!(first["tokens_per_second"].as_f64().unwrap_or_default() > 0.0);
    assert!(first["time_to_first_token_ms"].as_f64().unwrap_or_default() > 0.0);
    assert_eq!(first["reply"], chat(&arguments)["reply"]);
}

#[test]
fn each_line_of_standard_input_is_a_turn_of_one_conversation() {
    let (_, turns) = piped("Wie spät ist es?\nund in Tokio?\nund in Xyzzyq?\n".as_bytes());
    assert_eq!(turns.len(), 3);
    assert_eq!(turns[1]["stage"], "carry-over");
    assert!(turns[1]["reply"].as_str().unwrap_or_default().contains("Tokio"), "{}", turns[1]);
    assert!(turns[2]["reply"].as_str().unwrap_or_default().contains("Xyzzyq"), "{}", turns[2]);
}

/// A conversation in a pseudo-terminal.
struct Terminal {
    screen: Arc<Mutex<String>>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn portable_pty::Child + Send + Sync>,
    _master: Box<dyn portable_pty::MasterPty + Send>,
}

impl Terminal {
    fn start(arguments: &[&str]) -> Self {
        let size = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a pseudo-terminal");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_skillc"));
        command.args(arguments);
        command.cwd(root());
        command.env("TERM", "xterm");
        let child = pair.slave.spawn_command(command).expect("skillc starts");
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let writer = pair.master.take_writer().expect("a writer");
        let screen = Arc::new(Mutex::new(String::new()));
        let shared = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read) = reader.read(&mut buffer) {
                if read == 0 {
                    break;
                }
                let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
                shared.lock().expect("the screen").push_str(&text);
            }
        });
        Self { screen, writer, child, _master: pair.master }
    }

    fn shown(&self) -> String {
        self.screen.lock().expect("the screen").clone()
    }

    /// Waits until the text behind `from` shows `wanted`; returns how much was shown then.
    fn wait_for(&self, from: usize, wanted: &str) -> usize {
        let start = Instant::now();
        loop {
            let shown = self.shown();
            if let Some(at) = shown.get(from..).and_then(|text| text.find(wanted)) {
                return from + at + wanted.len();
            }
            assert!(start.elapsed() < Duration::from_secs(90), "no {wanted:?} in:\n{shown}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn send(&mut self, text: &str) {
        self.writer.write_all(text.as_bytes()).expect("the terminal takes it");
        self.writer.flush().expect("the terminal takes it");
    }
}

#[test]
fn ctrl_c_stops_the_reply_and_not_the_program() {
    store();
    let mut terminal = Terminal::start(&[
        "chat",
        "--device",
        "cpu",
        "--max-tokens",
        "2000",
        "--temperature",
        "1.5",
        "--seed",
        "3",
    ]);
    let at = terminal.wait_for(0, "> ");
    terminal.send("Write a very long story about a ship and its crew.\r");
    let at = terminal.wait_for(at, "[no skill");
    // Some of the reply must be on the screen before it is stopped.
    let at = terminal.wait_for(at, "\n");
    std::thread::sleep(Duration::from_millis(2_500));
    terminal.send("\u{3}");
    let at = terminal.wait_for(at, "Stopped.");
    let at = terminal.wait_for(at, "> ");
    terminal.send("hallo\r");
    let at = terminal.wait_for(at, "Hallo!");
    let at = terminal.wait_for(at, "> ");
    terminal.send("\u{3}");
    terminal.wait_for(at, "Ctrl-D");
    terminal.send("\u{4}");
    let start = Instant::now();
    while terminal.child.try_wait().expect("its state").is_none() {
        assert!(start.elapsed() < Duration::from_secs(20), "Ctrl-D ends the conversation");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(terminal.child.wait().expect("its state").success());
}
