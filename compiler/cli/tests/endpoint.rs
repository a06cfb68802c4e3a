//! Models behind an endpoint: a real server process on loopback, which simulates what servers do, well and badly.
#![expect(clippy::expect_used, reason = "a test stops at what it does not expect")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The server; it ends with its standard input.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/endpoint.py");
        let mut child = Command::new("python3")
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let mut port = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut port).expect("its port");
        Self { child, url: format!("http://127.0.0.1:{}/v1", port.trim()) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

struct Answer {
    code: Option<i32>,
    turns: Vec<Value>,
    said: String,
}

/// A conversation with a model of the server, a line a turn.
fn chat(server: &Server, model: &str, more: &[&str], lines: &str) -> Answer {
    let mut child = Command::new(env!("CARGO_BIN_EXE_skillc"))
        .env("SKILLC_WEB", "off")
        .env("SKILLC_MEMORY", "off")
        .args(["chat", "--json", "--endpoint", &server.url, "--remote-model", model])
        .args(more)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .env("SKILLC_TEST_KEY", "sesame")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("skillc starts");
    child.stdin.take().expect("a pipe").write_all(lines.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Answer {
        code: output.status.code(),
        turns: text.lines().map(|line| serde_json::from_str(line).expect("one object a line")).collect(),
        said: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn reply(turn: &Value) -> &str {
    turn["reply"].as_str().unwrap_or_default()
}

const FREE: &str = "Write one sentence about rain.\n";

#[test]
fn an_endpoint_answers_with_streams_and_whole_objects_and_is_sent_no_empty_tools() {
    let server = Server::start();
    let answer = chat(&server, "echo", &["--tools", ""], &format!("{FREE}hallo\nWrite another.\n"));
    assert_eq!(answer.code, Some(0), "{}", answer.said);
    let first = reply(&answer.turns[0]);
    assert!(first.contains("keys ") && first.contains("about rain."), "{first}");
    assert!(!first.contains("tools") && !first.contains("tool_choice"), "{first}");
    assert_eq!(answer.turns[0]["prompt_tokens"], 11);
    assert_eq!(answer.turns[0]["reply_tokens"], 4);
    assert_eq!(answer.turns[1]["model_ran"], false, "greetings are answered here");
    assert!(reply(&answer.turns[2]).contains("turns 6"), "the conversation is sent: {}", answer.turns[2]);
    assert_eq!(reply(&chat(&server, "whole", &[], FREE).turns[0]), "All at once.");
    assert_eq!(reply(&chat(&server, "parts", &[], FREE).turns[0]), "A part. I cannot.");
    assert_eq!(reply(&chat(&server, "namesake", &[], FREE).turns[0]), "{\"name\": \"Anna\"}");
}

#[test]
fn calls_of_the_endpoint_are_run_when_offered_and_refused_when_not() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let skills = folder.path().join("sum.skill");
    let source = "tool calculator(expression: text) computed \"Calculates.\"\n\
                  skill sum {\n  description: \"Sums.\"\n  tools: [calculator]\n  tool_choice: required\n  answer: free\n\
                  \n  trigger: \"(apples|rain)\"\n}\n";
    std::fs::write(&skills, source).expect("written");
    let skills = skills.to_string_lossy().into_owned();
    for (model, expected, runs) in [
        ("caller", "The result is 6 * 7 = 42.", 1),
        ("markup", "Done.", 1),
        ("several", " = 2 and 2", 2),
        ("heap", " = 2 and 2", 2),
        ("stranger", "Well.", 0),
    ] {
        let answer = chat(&server, model, &["--skills", &skills], "How many apples?\n");
        assert_eq!(answer.code, Some(0), "{model}: {}", answer.said);
        let turn = &answer.turns[0];
        assert_eq!(turn["tools_run"].as_array().map(Vec::len), Some(runs), "{turn}");
        assert!(reply(turn).contains(expected), "{turn}");
        assert_eq!(
            turn["labels"].as_array().is_some_and(|labels| labels.contains(&"call-not-run".into())),
            runs == 0
        );
    }
}

/// A library with a calculator that a model may call.
fn sums(folder: &Path) -> String {
    let skills = folder.join("sum.skill");
    let source = "tool calculator(expression: text) computed \"Calculates.\"\n\
                  skill sum {\n  description: \"Sums.\"\n  tools: [calculator]\n  answer: free\n\
                  \n  trigger: \"apples\"\n}\n";
    std::fs::write(&skills, source).expect("written");
    skills.to_string_lossy().into_owned()
}

#[test]
fn after_four_rounds_nothing_is_offered_and_the_model_is_told_so() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let skills = sums(folder.path());
    let answer = chat(&server, "restless", &["--skills", &skills], "How many apples are there?\n");
    assert_eq!(answer.code, Some(0), "{}", answer.said);
    let turn = &answer.turns[0];
    assert_eq!(turn["tools_run"].as_array().map(Vec::len), Some(4), "{turn}");
    assert_eq!(turn["wound_down"], true);
    // It says what it was told last, so the note is part of the answer, or of the draft that was corrected.
    assert!(reply(turn).contains("After 4 rounds"), "{turn}");
    let silent = chat(&server, "silent", &["--skills", &skills], "How many apples are there?\n");
    assert_eq!(reply(&silent.turns[0]), "I found nothing on that.", "{}", silent.turns[0]);
}

#[test]
fn a_call_that_was_made_already_is_answered_from_the_record_of_the_turn() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let skills = sums(folder.path());
    let answer = chat(&server, "repeater", &["--skills", &skills], "How many apples are there?\n");
    let turn = &answer.turns[0];
    assert_eq!(turn["tools_run"].as_array().map(Vec::len), Some(1), "{turn}");
    assert_eq!((reply(turn), &turn["findings"]), ("It is 42.", &serde_json::json!([])));
}

#[test]
fn a_correction_stands_only_when_less_is_wrong_with_it() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let skills = sums(folder.path());
    let learner = chat(&server, "learner", &["--skills", &skills], "How many apples are there?\n");
    let turn = &learner.turns[0];
    assert_eq!(reply(turn), "17 times 6 is 102.", "{turn}");
    assert_eq!((&turn["corrected"], &turn["findings"]), (&Value::Bool(true), &serde_json::json!([])));
    let stubborn = chat(&server, "stubborn", &["--skills", &skills], "How many apples are there?\n");
    let turn = &stubborn.turns[0];
    assert_eq!(reply(turn), "17 times 6 is 96.", "{turn}");
    assert_eq!(
        (&turn["corrected"], &turn["findings"][0]["rule"]),
        (&Value::Bool(false), &"wrong-number".into())
    );
}

#[test]
fn what_is_known_about_the_user_reaches_the_model_where_it_matters() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let memory = folder.path().join("memory.db").display().to_string();
    let lines = "Remember that I am allergic to nuts\nWrite one sentence about nuts.\nWrite one sentence about rain.\n";
    let answer = chat(&server, "echo", &["--memory", &memory], lines);
    assert_eq!(answer.code, Some(0), "{}", answer.said);
    assert!(
        reply(&answer.turns[1]).contains("Known about the user: I am allergic to nuts"),
        "{}",
        answer.turns[1]
    );
    assert!(!reply(&answer.turns[2]).contains("Known about the user"), "{}", answer.turns[2]);
}

#[test]
fn what_the_endpoint_reasons_is_no_part_of_the_reply_nor_of_the_conversation() {
    let server = Server::start();
    for model in ["thinker", "reasoner"] {
        let answer = chat(&server, model, &[], FREE);
        assert_eq!(answer.code, Some(0), "{model}: {}", answer.said);
        assert_eq!(reply(&answer.turns[0]), "It rains.", "{model}");
        assert_eq!(answer.turns[0]["reasoning"], "It asks for rain.", "{model}");
    }
}

#[test]
fn a_busy_endpoint_is_asked_again_and_a_key_is_sent_and_never_shown() {
    let server = Server::start();
    let busy = chat(&server, "busy", &[], FREE);
    assert_eq!(busy.code, Some(0), "{}", busy.said);
    assert!(reply(&busy.turns[0]).contains("rain"));
    let key = chat(&server, "key", &["--api-key-env", "SKILLC_TEST_KEY"], FREE);
    assert_eq!(key.code, Some(0), "{}", key.said);
    let none = chat(&server, "key", &[], FREE);
    assert_eq!(none.code, Some(2));
    assert!(none.said.contains("401") && none.said.contains("no key"), "{}", none.said);
    let unset = chat(&server, "key", &["--api-key-env", "SKILLC_NO_SUCH_KEY"], FREE);
    assert!(unset.code == Some(2) && unset.said.contains("SKILLC_NO_SUCH_KEY"), "{}", unset.said);
    for answer in [key, none] {
        assert!(!format!("{:?}{}", answer.turns, answer.said).contains("sesame"));
    }
}

#[test]
fn an_endpoint_that_fails_is_an_error_and_the_conversation_goes_on() {
    let server = Server::start();
    for (model, cause) in [
        ("broken", "500"),
        ("moved", "302"),
        ("stall", "said nothing for 1 s"),
        ("cut", "broke off"),
        ("liar", "no JSON"),
        ("failing", "ran out of memory"),
    ] {
        let start = Instant::now();
        let answer = chat(&server, model, &["--silence", "1"], &format!("{FREE}hallo\n"));
        assert_eq!(answer.code, Some(2), "{model}: {}", answer.said);
        assert!(answer.said.contains(cause), "{model}: {}", answer.said);
        assert!(
            answer.turns[0]["error"].as_str().is_some_and(|said| said.contains(cause)),
            "{:?}",
            answer.turns
        );
        assert!(reply(&answer.turns[1]).starts_with("Hallo"), "{model}: {:?}", answer.turns);
        assert!(start.elapsed() < Duration::from_secs(20), "{model} took {:?}", start.elapsed());
    }
    let mut nobody = Server::start();
    nobody.url = "http://127.0.0.1:9/v1".to_owned();
    let answer = chat(&nobody, "echo", &[], FREE);
    assert!(answer.code == Some(2) && answer.said.contains("127.0.0.1:9"), "{}", answer.said);
    nobody.url = "ftp://x".to_owned();
    let answer = chat(&nobody, "echo", &[], FREE);
    assert!(answer.code == Some(2) && answer.said.contains("http://"), "{}", answer.said);
}
