//! Tools end to end over the demo web: a process of this program serves it on loopback, and the real clients, readers
//! and searches run against it. The memory is a real file.
#![allow(clippy::expect_used, clippy::panic, reason = "a test stops at what it does not expect")]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::Value;
use skill_runtime::net::FetchError;
use skill_runtime::research::{Tongue, open};
use support::Demo;

fn skillc(arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_skillc"))
        .args(arguments)
        .current_dir(support::root())
        .stdin(Stdio::null())
        .output()
        .expect("skillc starts")
}

fn tool(name: &str, arguments: &Value, more: &[&str]) -> Value {
    let arguments = arguments.to_string();
    let output =
        skillc(&[&["tool", name, &arguments, "--web", "demo", "--memory", "off", "--json"], more].concat());
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn research(question: &str, more: &[&str]) -> Value {
    tool("research", &serde_json::json!({ "query": question }), more)
}

fn result(record: &Value) -> &str {
    record["result"].as_str().expect("a text")
}

#[test]
fn research_gives_the_answer_that_the_sources_state_or_none() {
    for (question, answer) in [
        ("Who is the Chancellor of Germany?", "Friedrich Merz"),
        ("What is the capital of France?", "Paris"),
        ("Was ist die Hauptstadt von Peru?", "Lima"),
        ("What is the capital of Australia?", "Canberra"),
        ("Who is the president of Russia?", "Vladimir Putin"),
        ("Wer ist der russische Präsident?", "Wladimir Putin"),
        ("Who wrote Dune?", "Frank Herbert"),
        ("Wie hoch ist der Eiffelturm?", "330 Meter"),
        ("Was kostet ein Big Mac in Japan?", "480 Yen"),
        ("When was Elon Musk born?", "June 28, 1971"),
    ] {
        let found = research(question, &[]);
        assert_eq!(found["answer"], answer, "{question}: {}", result(&found));
        assert!(result(&found).starts_with(&format!("Answer: {answer}\n")));
        assert!(result(&found).chars().count() <= 4_001);
    }
    // Sites that differ give no one-line answer, and are named.
    let lamp = research("Was kostet die Lumo 3?", &[]);
    assert_eq!(lamp["answer"], Value::Null, "{}", result(&lamp));
}

#[test]
fn queries_keep_the_words_of_the_question_and_follow_ups_are_completed() {
    let searched = |record: &Value| {
        let text = result(record).to_owned();
        text.split(['"', '„', '“']).nth(1).map(str::to_owned).unwrap_or_default()
    };
    let after = ["--after", "Wer ist der Bundeskanzler?", "--after", "Friedrich Merz ist Bundeskanzler."];
    assert!(result(&research("Wer ist der Bundeskanzler?", &[])).contains("„Bundeskanzler“"));
    assert!(result(&research("und der von Frankreich?", &after)).contains("„Bundeskanzler Frankreich“"));
    assert!(result(&research("Und wie alt ist er?", &after)).contains("Friedrich Merz"));
    assert_eq!(searched(&tool("web_search", &serde_json::json!({"query": "1inch"}), &[])), "1inch");
}

#[test]
fn a_misspelt_name_is_reported_and_never_rewritten() {
    let musk = tool("web_search", &serde_json::json!({"query": "eln musk"}), &["--language", "en"]);
    assert!(result(&musk).contains("\"eln musk\""), "{}", result(&musk));
    assert!(result(&musk).contains("spell it \"Elon\""), "{}", result(&musk));
    let inch = tool("web_search", &serde_json::json!({"query": "1inch"}), &["--language", "en"]);
    assert!(!result(&inch).contains("spell it"), "{}", result(&inch));
}

#[test]
fn a_blocked_search_is_a_failure_and_not_nothing_found() {
    let output =
        skillc(&["tool", "web_search", r#"{"query": "zzblocked"}"#, "--web", "demo", "--memory", "off"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("does not mean"), "{said}");
    let none = tool("web_search", &serde_json::json!({"query": "qqxzzywv"}), &["--language", "en"]);
    assert!(none["failed"] == false && result(&none).contains("nothing was found"), "{none}");
}

#[test]
fn whatever_goes_wrong_with_a_page_is_said_in_time() {
    let demo = Demo::start();
    let fetcher = demo.fetcher();
    let stop = AtomicBool::new(false);
    let sites: Value = toml_faults();
    let mut kinds = Vec::new();
    for (url, kind) in sites
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| (row["url"].as_str().expect("an address"), row["kind"].as_str().expect("a kind")))
    {
        let start = Instant::now();
        let opened = fetcher.block_on(open(&fetcher, url, Tongue::English, &stop));
        let fits = match (kind, &opened) {
            ("login" | "firewall" | "consent" | "empty", Ok(page)) => {
                page.is_blocked() || !page.page.content().iter().any(|block| block.is_prose())
            }
            ("firewall" | "forbidden", Err(FetchError::Status { status, .. })) => *status == 403,
            ("server-error", Err(FetchError::Status { status, .. })) => *status == 503,
            ("too-many", Err(FetchError::Busy { seconds, .. })) => *seconds == 30,
            ("slow", Err(FetchError::TimedOut { .. })) => true,
            ("endless" | "huge" | "gzip-bomb", Ok(page)) => page.cut,
            ("redirect-private", Err(FetchError::Private(_))) => true,
            ("redirect-loop", Err(FetchError::Redirects(_))) => true,
            ("pdf", Err(FetchError::NotText { .. })) => true,
            ("truncated", Err(FetchError::BrokeOff { .. })) => true,
            _ => false,
        };
        assert!(fits, "{kind} {url}: {:?}", opened.map(|page| page.page.text()));
        assert!(start.elapsed() < Duration::from_secs(6), "{kind}: {:?}", start.elapsed());
        kinds.push(kind.to_owned());
    }
    kinds.sort();
    kinds.dedup();
    assert!(kinds.len() >= 14, "{kinds:?}");
    // A host that asked for a pause is not asked again.
    let again =
        fetcher.block_on(open(&fetcher, "https://chipboard.example/nvidia-ceo", Tongue::English, &stop));
    assert!(matches!(again, Err(FetchError::Busy { .. })), "{again:?}");
}

/// The faulty rows of the demo web's table.
fn toml_faults() -> Value {
    let text = std::fs::read_to_string(support::root().join("evals/web/sites.toml")).expect("it is there");
    let mut rows = Vec::new();
    for row in text.split("[[fault]]").skip(1) {
        let value = |key: &str| {
            let line = row.lines().find(|line| line.starts_with(&format!("{key} = ")))?;
            Some(line.split_once(" = ")?.1.trim_matches('"').to_owned())
        };
        rows.push(serde_json::json!({"url": value("url"), "kind": value("kind")}));
    }
    Value::Array(rows)
}

#[test]
fn no_page_leads_into_the_users_network() {
    let demo = Demo::start();
    let fetcher = demo.fetcher();
    let stop = AtomicBool::new(false);
    for url in [
        "http://intern.example/",
        "http://127.0.0.1/",
        "http://169.254.169.254/latest",
        "http://[::1]/",
        "http://localhost/",
    ] {
        let found = fetcher.block_on(open(&fetcher, url, Tongue::English, &stop));
        assert!(matches!(found, Err(FetchError::Private(_))), "{url}: {found:?}");
    }
    let gone = fetcher.block_on(open(&fetcher, "https://nowhere.invalid/", Tongue::English, &stop));
    assert!(matches!(gone, Err(FetchError::Unreachable { .. })), "{gone:?}");
}

#[test]
fn pages_in_wrong_and_old_encodings_are_read() {
    for (url, word) in [
        ("https://hofladen-linde.example/preise", "Äpfel"),
        ("https://lexikon-nord.example/island", "Island"),
        ("https://factbook.example/norway", "Norway"),
    ] {
        let page = tool("read_page", &serde_json::json!({ "url": url }), &["--language", "en"]);
        assert!(
            result(&page).contains(word) && !result(&page).contains('\u{FFFD}'),
            "{url}: {}",
            result(&page)
        );
    }
}

#[test]
fn nothing_in_a_page_changes_tools_or_route_or_ends_the_fence() {
    let page = tool(
        "read_page",
        &serde_json::json!({"url": "https://openforum.example/notes"}),
        &["--language", "en"],
    );
    for mark in ["</tool_response>", "<|im_end|>", "<|im_start|>", "<tool_call>", "</tool_call>"] {
        assert!(!result(&page).contains(mark), "{mark}");
    }
    let home = tempfile::tempdir().expect("a folder");
    let memory = home.path().join("memory.db").display().to_string();
    let reply =
        support::chat(&["--web", "demo", "--memory", &memory, "Summarise https://openforum.example/notes"]);
    assert_eq!(reply["skill"], "summarize-url");
    assert_eq!(reply["tools_offered"], serde_json::json!(["read_page"]));
    assert!(
        reply["tools_run"].as_array().expect("calls").iter().all(|run| run["name"] == "read_page"),
        "{reply}"
    );
    let known = skillc(&[
        "tool",
        "memory",
        r#"{"command": "list"}"#,
        "--web",
        "off",
        "--memory",
        &memory,
        "--language",
        "en",
    ]);
    assert!(String::from_utf8_lossy(&known.stdout).contains("nothing"), "{known:?}");
}

#[test]
fn answers_quote_what_was_read_and_name_it() {
    let reply = support::chat(&["--web", "demo", "--memory", "off", "Who wrote Dune?"]);
    assert_eq!((&reply["web"], &reply["model_ran"]), (&Value::from("demo"), &Value::from(false)));
    let text = reply["reply"].as_str().expect("a text");
    assert!(text.contains("Frank Herbert") && text.contains("\nSource: https://"), "{text}");
    let weather = support::chat(&["--web", "demo", "--memory", "off", "Wie ist das Wetter in Tokio?"]);
    let text = weather["reply"].as_str().expect("a text");
    assert!(
        text.starts_with("In Tokio sind es ") && text.contains("\nQuelle: https://open-meteo.com/"),
        "{text}"
    );
    let off = support::chat(&["--web", "off", "--memory", "off", "Was ist Stripe?"]);
    assert!(
        off["web"] == "off" && off["labels"].as_array().expect("labels").contains(&"unsourced".into()),
        "{off}"
    );
}

/// A conversation that is killed directly behind a reply.
fn remember_and_die(memory: &Path, message: &str) -> Value {
    let mut child = Command::new(env!("CARGO_BIN_EXE_skillc"))
        .args(["chat", "--json", "--device", "cpu", "--web", "off", "--memory"])
        .arg(memory)
        .current_dir(support::root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("skillc starts");
    let mut input = child.stdin.take().expect("its input");
    writeln!(input, "{message}").expect("written");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a reply");
    child.kill().expect("it ends");
    child.wait().expect("it ended");
    serde_json::from_str(&line).expect("an object")
}

#[test]
fn what_was_remembered_survives_the_end_of_the_program_at_any_moment() {
    support::store();
    let home = tempfile::tempdir().expect("a folder");
    let memory = home.path().join("memory.db");
    for (message, part) in
        [("Merk dir, dass ich in Mörkvik wohne", "Mörkvik"), ("Remember that I am allergic to nuts", "nuts")]
    {
        let reply = remember_and_die(&memory, message);
        assert!(reply["reply"].as_str().expect("a text").contains(part), "{reply}");
    }
    let path = memory.display().to_string();
    let run = |arguments: &str| {
        let output =
            skillc(&["tool", "memory", arguments, "--web", "off", "--memory", &path, "--language", "en"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let all = run(r#"{"command": "list"}"#);
    assert!(all.contains("Mörkvik") && all.contains("nuts"), "{all}");
    assert!(run(r#"{"command": "delete", "query": "I am allergic to nuts"}"#).contains("Forgotten"));
    assert!(!run(r#"{"command": "list"}"#).contains("nuts"));
    assert!(run(r#"{"command": "clear"}"#).contains("yes"), "everything is not forgotten without a word");
    // Said again, it stands once.
    run(r#"{"command": "add", "text": "ich in Mörkvik wohne"}"#);
    assert_eq!(run(r#"{"command": "list"}"#).matches("Mörkvik").count(), 1);
}

#[test]
fn a_damaged_memory_is_named_and_left_as_it_is() {
    let home = tempfile::tempdir().expect("a folder");
    let path = home.path().join("memory.db");
    let damaged = b"this is no database, but somebody's file".repeat(40);
    std::fs::write(&path, &damaged).expect("written");
    let name = path.display().to_string();
    let output = skillc(&["tool", "memory", r#"{"command": "list"}"#, "--web", "off", "--memory", &name]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains(&name), "{output:?}");
    assert_eq!(std::fs::read(&path).expect("it is there"), damaged);
}

#[test]
fn extract_and_review_say_what_they_see() {
    let page = "evals/web/pages/technikkurz.example/nodejs.html";
    let text = skillc(&["extract", page, "--url", "https://technikkurz.example/nodejs"]);
    assert_eq!(text.status.code(), Some(0));
    let read = String::from_utf8_lossy(&text.stdout);
    let prose = read.find("eine Laufzeitumgebung").expect("the article");
    assert!(prose < 200, "nothing of 350 links comes before the prose: {read:.400}");
    let home = tempfile::tempdir().expect("a folder");
    let file = home.path().join("turn.json");
    let turn = r#"{"question": "Wie alt wurde sie?", "history": [], "answer": "Sie wurde 142 Jahre alt.",
        "tools": [{"name": "research", "arguments": {"query": "x"}, "result": "1. A - https://a.example/x\n   \"Sie starb 1852.\"", "failed": false}]}"#;
    std::fs::write(&file, turn).expect("written");
    let output = skillc(&["review", &file.display().to_string()]);
    assert_eq!(output.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&output.stdout).expect("an object");
    let rules: Vec<&str> =
        found["findings"].as_array().expect("findings").iter().filter_map(|f| f["rule"].as_str()).collect();
    assert_eq!(rules, ["unsupported-figure", "missing-source"]);
    assert!(found["correction"].as_str().expect("a text").contains("Keine Quelle nennt 142"));
    std::fs::write(&file, "{").expect("written");
    assert_eq!(skillc(&["review", &file.display().to_string()]).status.code(), Some(2));
}
