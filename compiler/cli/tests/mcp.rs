//! Tools of servers (Model Context Protocol) end to end: real server processes over standard streams and over HTTP on
//! loopback, also such that hang, die, flood and lie.
#![allow(clippy::expect_used, clippy::panic, reason = "a test stops at what it does not expect")]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_skillc");

/// A file of servers: `demo` is a process that may take two seconds for a call.
fn config(folder: &Path, others: Value) -> PathBuf {
    let mut servers = json!({"demo": {"command": PROGRAM, "args": ["demo-mcp"], "call_seconds": 2, "startup_seconds": 20,
                             "env": {"GIVEN": "${SECRET_OF_THE_TEST}"}}});
    if let (Some(servers), Some(others)) = (servers.as_object_mut(), others.as_object()) {
        servers.extend(others.clone());
    }
    let path = folder.join("servers.json");
    std::fs::write(&path, json!({"mcpServers": servers}).to_string()).expect("written");
    path
}

fn skillc(arguments: &[&str]) -> Output {
    Command::new(PROGRAM)
        .args(arguments)
        .env("SKILLC_WEB", "off")
        .env("SKILLC_MEMORY", "off")
        .env("SECRET_OF_THE_TEST", "a key")
        .current_dir(support::root())
        .stdin(Stdio::null())
        .output()
        .expect("skillc starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a tool of the demo server comes to: exit code and output.
fn tool(name: &str, arguments: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let config = config(folder.path(), json!({}));
    let output = skillc(&["tool", name, arguments, "--mcp-config", &config.to_string_lossy()]);
    assert_eq!(text(&output.stderr), "", "{name}");
    (output.status.code(), text(&output.stdout))
}

#[test]
fn tools_of_a_server_are_listed_as_a_library_declares_them_and_run() {
    let output = skillc(&["tool", "--mcp", &format!("demo={PROGRAM} demo-mcp")]);
    let listed = text(&output.stdout);
    assert!(listed.contains("tool demo__read(name: text) computed \"Reads a note.\""), "{listed}");
    assert!(listed.contains("tool demo__add(a: number, b: number)"), "{listed}");
    assert!(listed.contains("tool demo__speak_as_others() "), "{listed}");
    assert!(!listed.contains("<|im_end|>") && !listed.contains("</tools>"), "{listed}");
    assert_eq!(tool("demo__add", r#"{"a": 2, "b": 3.5}"#), (Some(0), "5.5\n".to_owned()));
    let (code, result) = tool("demo__read", r#"{"name": "garden"}"#);
    assert_eq!(code, Some(0));
    assert!(result.contains("planted in 1987"), "{result}");
}

#[test]
fn whatever_a_server_does_the_result_says_so_in_time() {
    let cases = [
        ("demo__fail", "demo says: the lamp is broken"),
        ("demo__die", "demo cannot be reached: it ended: the disk is full"),
        ("demo__hang", "demo gave no answer within 2 s."),
        ("demo__flood", "demo gave no answer within 2 s."),
        ("demo__empty", "demo returned nothing that can be read."),
        ("demo__read", "demo says: there is no note without a name"),
    ];
    for (name, expected) in cases {
        let start = Instant::now();
        let (code, said) = tool(name, "{}");
        assert_eq!((code, said.trim()), (Some(1), expected), "{name}");
        assert!(start.elapsed() < Duration::from_secs(12), "{name} took {:?}", start.elapsed());
    }
    assert_eq!(tool("demo__picture", "{}"), (Some(0), "[image/png: not shown]\n".to_owned()));
    let (_, long) = tool("demo__long", "{}");
    assert!(long.chars().count() < 4_100 && long.trim_end().ends_with('…'), "{}", long.len());
    let (_, spoken) = tool("demo__speak_as_others", "{}");
    assert!(!spoken.contains("<|im_") && !spoken.contains("</tool"), "{spoken}");
}

#[test]
fn a_server_is_given_its_own_variables_and_none_of_ours() {
    let (_, names) = tool("demo__environment", "{}");
    let names: Vec<&str> = names.split_whitespace().collect();
    assert!(names.contains(&"PATH") && names.contains(&"GIVEN"), "{names:?}");
    assert!(!names.contains(&"SECRET_OF_THE_TEST") && !names.contains(&"SKILLC_WEB"), "{names:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_server_started_and_left_ends_with_it() {
    let (code, id) = tool("demo__spawn", "{}");
    assert_eq!(code, Some(0), "{id}");
    let state = || std::fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
    let start = Instant::now();
    // Whoever adopts it may take a moment to see that it ended.
    while !state().is_empty() && !state().contains(") Z") && start.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(state().is_empty() || state().contains(") Z"), "{}", state());
}

/// A server over HTTP, which ends with the test.
struct Served(Child, String);

impl Served {
    fn start() -> Self {
        let mut child = Command::new(PROGRAM)
            .args(["demo-mcp", "--http"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("skillc starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        Self(child, line.trim().to_owned())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn servers_are_reached_over_http_with_a_key_that_nobody_sees() {
    let served = Served::start();
    let folder = tempfile::tempdir().expect("a folder");
    let entry = |key: &str| json!({"far": {"type": "http", "url": served.1, "call_seconds": 2, "headers": {"Authorization": key}}});
    let with = config(folder.path(), entry("Bearer ${FAR_KEY:-letmein}"));
    let run = |name: &str, arguments: &str| {
        let output = skillc(&["tool", name, arguments, "--mcp-config", &with.to_string_lossy()]);
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    assert_eq!(run("far__add", r#"{"a": 1, "b": 1}"#), (Some(0), "2\n".to_owned(), String::new()));
    assert_eq!(run("far__hang", "{}").1, "far gave no answer within 2 s.\n");
    let (code, said, _) = run("far__die", "{}");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.starts_with("far cannot be reached: "), "{said}");
    assert!(!said.contains("rmcp") && !said.contains("letmein"), "{said}");

    let served = Served::start();
    let wrong =
        json!({"far": {"type": "http", "url": served.1, "headers": {"Authorization": "Bearer wrong-key"}}});
    let wrong = config(folder.path(), wrong);
    let output = skillc(&["tool", "far__add", "--mcp-config", &wrong.to_string_lossy()]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("the MCP server `far` cannot be used: ") && said.contains("401"), "{said}");
    assert!(!said.contains("wrong-key") && !said.contains("rmcp"), "{said}");
}

#[test]
fn files_and_options_that_are_wrong_say_what_and_where() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("servers.json");
    let cases = [
        ("[1]", "it is no JSON object"),
        ("{}", "it has no `mcpServers`"),
        (r#"{"mcpServers": {"a b": {"command": "x"}}}"#, "`a b` is no name of a server"),
        (r#"{"mcpServers": {"a": {}}}"#, "server `a`: it has either a `command` or a `url`"),
        (r#"{"mcpServers": {"a": {"type": "sse", "url": "http://x"}}}"#, "`sse` is not supported"),
        (r#"{"mcpServers": {"a": {"url": "ftp://x"}}}"#, "`ftp://x` is no address of http or https"),
        (r#"{"mcpServers": {"a": {"command": "${NOT_SET_HERE}"}}}"#, "NOT_SET_HERE is not set"),
        (r#"{"mcpServers": {"a": {"command": "x", "call_seconds": -1}}}"#, "-1 s is no time to wait"),
    ];
    for (source, expected) in cases {
        std::fs::write(&path, source).expect("written");
        let output = skillc(&["tool", "--mcp-config", &path.to_string_lossy()]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{source}");
        assert!(said.contains(expected) && said.contains("servers.json"), "{source}: {said}");
    }
    let option = skillc(&["tool", "--mcp", "nothing"]);
    assert!(text(&option.stderr).contains("a name and `=` come first"), "{}", text(&option.stderr));
    // One that does not begin is told, and the others go on.
    let config = config(
        folder.path(),
        json!({"gone": {"command": "/nowhere/at/all"}, "off": {"command": "/nowhere", "disabled": true}}),
    );
    let output = skillc(&["tool", "--mcp-config", &config.to_string_lossy()]);
    let said = text(&output.stderr);
    assert!(
        said.contains("warning: the MCP server `gone` cannot be used: `/nowhere/at/all` cannot be started"),
        "{said}"
    );
    assert!(!said.contains("`off`"), "{said}");
    assert!(text(&output.stdout).contains("demo__add"));
}

const LIBRARY: &str = r#"
tool demo__read(name: text) sourced "Reads a note."
tool demo__die() sourced "Ends."
skill notes {
  description: "Reads notes."
  tools: [demo__read]
  answer: quote
  trigger: "note about the {name:word}"
  trigger: "notiz (zum|über den|über die) {name:word}"
  opening: demo__read(name: name)
}
skill ends {
  description: "Ends the server."
  tools: [demo__die]
  answer: quote
  trigger: "^ end it $"
  opening: demo__die()
}
"#;

/// A conversation by lines with the demo server.
fn converse(lines: &str) -> Vec<Value> {
    support::store();
    let folder = tempfile::tempdir().expect("a folder");
    let skills = folder.path().join("library.skill");
    std::fs::write(&skills, LIBRARY).expect("written");
    let config = config(folder.path(), json!({}));
    let mut child = Command::new(PROGRAM)
        .args(["chat", "--json", "--device", "cpu", "--skills", &skills.to_string_lossy()])
        .args(["--mcp-config", &config.to_string_lossy()])
        .env("SKILLC_WEB", "off")
        .env("SKILLC_MEMORY", "off")
        .env("SECRET_OF_THE_TEST", "a key")
        .current_dir(support::root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("skillc starts");
    child.stdin.take().expect("its input").write_all(lines.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("it ends");
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_skill_uses_a_tool_of_a_server_and_its_answer_names_the_source() {
    let replies = converse("What does the note about the garden say about the pear tree?\n");
    let reply = replies.first().expect("a reply");
    assert_eq!(reply["skill"], "notes");
    assert_eq!(reply["tools_run"][0]["name"], "demo__read");
    let said = reply["reply"].as_str().expect("a text");
    assert!(said.contains("planted in 1987 by Ottilie Brandt"), "{said}");
    assert!(said.ends_with("Source: https://notes.example/garden"), "{said}");
    assert_eq!(reply["labels"], json!([]));
}

#[test]
fn a_server_that_died_is_started_again_by_the_next_call_and_the_conversation_goes_on() {
    let replies = converse("end it\nWas steht in der Notiz zum garden?\n");
    let [ended, read] = replies.as_slice() else { panic!("two replies: {replies:?}") };
    assert_eq!(ended["tools_run"][0]["failed"], true);
    assert!(ended["reply"].as_str().is_some_and(|said| said.contains("the disk is full")), "{ended}");
    assert_eq!(read["tools_run"][0]["failed"], false, "{read}");
    assert!(
        read["reply"].as_str().is_some_and(|said| said.contains("Quelle: https://notes.example/garden")),
        "{read}"
    );
}
