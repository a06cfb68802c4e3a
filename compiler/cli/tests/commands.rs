//! The commands as a user runs them: a real process, its output and its exit code.
#![expect(clippy::expect_used, reason = "a test stops at what it does not expect")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn skillc(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skillc"))
        .env("SKILLC_WEB", "off")
        .env("SKILLC_MEMORY", "off")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("skillc starts")
}

fn shipped() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

#[test]
fn the_shipped_library_is_clean_and_its_tests_pass() {
    let check = skillc(&shipped(), &["check"]);
    assert_eq!(check.status.code(), Some(0), "{}", text(&check.stderr));
    let test = skillc(&shipped(), &["test"]);
    assert_eq!(test.status.code(), Some(0), "{}", text(&test.stdout));
    assert!(text(&test.stdout).contains(" 0 failed"));
}

#[test]
fn the_embedded_copy_serves_where_there_is_no_library() {
    let folder = tempfile::tempdir().expect("a folder");
    let route = skillc(folder.path(), &["route", "Hallo, was ist Stripe?", "--json"]);
    let value: Value = serde_json::from_slice(&route.stdout).expect("one JSON object");
    assert_eq!(value["skill"], "lookup-term");
    assert_eq!(value["opener"], true);
    assert_eq!(value["opening"]["arguments"]["query"], "Stripe");
}

#[test]
fn the_embedded_copy_is_the_shipped_library() {
    let mut names = Vec::new();
    for folder in ["skills", "skills/lang"] {
        for entry in fs::read_dir(shipped().join(folder)).expect("the library is there").flatten() {
            if entry.path().extension().is_some_and(|ending| ending == "skill") {
                names.push(format!("{folder}/{}", entry.file_name().to_string_lossy()));
            }
        }
    }
    names.sort();
    let embedded: Vec<&str> = skillc::EMBEDDED.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, embedded);
}

#[test]
fn check_reports_places_and_exits_with_one() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a.skill"), "skill a {\n  description: \"d\"\n  prioritty: 3\n}\n")
        .expect("written");
    let check = skillc(folder.path(), &["check", "a.skill", "--format", "json"]);
    assert_eq!(check.status.code(), Some(1));
    let value: Value = serde_json::from_slice(&check.stdout).expect("one JSON object");
    let codes: Vec<&str> =
        value["diagnostics"].as_array().expect("a list").iter().filter_map(|d| d["code"].as_str()).collect();
    assert_eq!(codes, ["E402", "E101"]);
    assert_eq!(value["diagnostics"][1]["at"]["line"], 3);
    assert_eq!(value["diagnostics"][1]["at"]["column"], 3);
    let human = skillc(folder.path(), &["check", "a.skill"]);
    let shown = text(&human.stderr);
    assert!(
        shown.contains("unknown key `prioritty`") && shown.contains("did you mean `priority`?"),
        "{shown}"
    );
    assert!(!shown.contains('\u{1b}'), "no colour without a terminal");
}

#[test]
fn what_cannot_be_done_exits_with_two() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in [
        &["check", "missing.skill"][..],
        &["route"],
        &["route", "hi", "--tools", "nonsense"],
        &["explain", "E999"],
        &["eval", "--routes-only", "missing.tsv"],
        &["table", "--skills", "missing"],
        &["nonsense"],
    ] {
        let output = skillc(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn an_artifact_routes_like_its_sources() {
    let folder = tempfile::tempdir().expect("a folder");
    let pack = folder.path().join("a.skillpack");
    let pack = pack.to_str().expect("a path");
    let build = skillc(&shipped(), &["build", "-o", pack]);
    assert_eq!(build.status.code(), Some(0), "{}", text(&build.stderr));
    for message in ["hallo", "Was ist 1inch?", "18% of 2450", "nothing to see here"] {
        let from_sources = skillc(&shipped(), &["route", message, "--json"]);
        let from_pack = skillc(folder.path(), &["--skills", pack, "route", message, "--json"]);
        assert_eq!(text(&from_sources.stdout), text(&from_pack.stdout), "{message}");
    }
    fs::write(pack, &fs::read(pack).expect("it is there")[..500]).expect("cut");
    let cut = skillc(folder.path(), &["--skills", pack, "route", "hallo"]);
    assert_eq!(cut.status.code(), Some(2));
    assert!(text(&cut.stderr).contains("cut off"), "{}", text(&cut.stderr));
}

#[test]
fn a_bad_batch_line_is_reported_and_the_rest_goes_on() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_skillc"))
        .env("SKILLC_WEB", "off")
        .env("SKILLC_MEMORY", "off")
        .args(["route", "--batch", "-"])
        .current_dir(shipped())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("skillc starts");
    let lines = b"{\"id\":12345678901234567890123,\"message\":\"hallo\"}\nnot json\n\n\
                  {\"id\":\"x\",\"message\":5}\n\xff\xfe\n[1,[],\"hallo\"]\n{\"message\":\"hallo\",\"mesage\":1}\n\
                  {\"id\":[2],\"after\":[\"Wie sp\xc3\xa4t ist es?\"],\"message\":\"und in Lissabon?\"}\n";
    child.stdin.take().expect("a pipe").write_all(lines).expect("written");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    let records: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    assert_eq!(records.len(), 2);
    assert_eq!(records[0]["skill"], "small-talk");
    assert_eq!(records[0]["tools"], Value::Array(Vec::new()));
    assert_eq!(records[1]["id"][0], 2);
    assert_eq!(records[1]["stage"], "carry-over");
    assert_eq!(records[1]["evidence"][0]["kind"], "follow-up");
    assert_eq!(records[1]["opening"]["arguments"]["place"], "Lissabon");
    let said = text(&output.stderr);
    for line in [
        "standard input:2:",
        "standard input:4:21: invalid type",
        "standard input:5: byte 1 is not UTF-8",
        "standard input:6: a record is an object",
        "standard input:7:27: unknown field `mesage`",
    ] {
        assert!(said.contains(line), "{line} in {said}");
    }
    assert!(
        text(&output.stdout).starts_with("{\"id\":12345678901234567890123,"),
        "an id comes back as it was"
    );
}

#[test]
fn eval_counts_and_lists_what_went_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("m.tsv");
    fs::write(&file, "de\ts\tsmall-talk\thallo\nde\ts\tnone\tWas ist Stripe?\nen\ts\tchess\train?\nbad\n")
        .expect("written");
    let output = skillc(&shipped(), &["eval", "--routes-only", file.to_str().expect("a path"), "--json"]);
    assert_eq!(output.status.code(), Some(1), "a line was bad");
    let value: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(value["languages"]["de"]["right"], 1);
    assert_eq!(value["languages"]["de"]["false_activations"], 1);
    assert_eq!(value["unknown_labels"]["chess"], 1);
    assert_eq!(value["wrong"][0]["line"], 2);
}

#[test]
fn a_single_skill_file_checks_routes_and_explains_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("tea.skill");
    fs::write(
        &file,
        "skill tea {\n  description: \"Tea.\"\n  tools: []\n  trigger: \"^ wie lange zieht {t:word} $\"\n}\n",
    )
    .expect("written");
    let route = skillc(
        folder.path(),
        &["--skills", "tea.skill", "route", "Hallo, wie lange zieht Sencha?", "--explain"],
    );
    let shown = text(&route.stdout);
    assert!(shown.starts_with("tea by trigger (without its lead-in)"), "{shown}");
    assert!(shown.contains("tea.skill:4") && shown.contains("\"Sencha\""), "{shown}");
}

#[test]
fn build_writes_through_a_link_and_replaces_nothing_but_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("link.skillpack");
    std::os::unix::fs::symlink("real.skillpack", &link).expect("a link");
    let build = |target: &str| skillc(&shipped(), &["build", "-o", target]);
    let output = build(link.to_str().expect("a path"));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
    assert!(folder.path().join("real.skillpack").is_file());
    for target in ["/dev/null", folder.path().to_str().expect("a path")] {
        let output = build(target);
        assert_eq!(output.status.code(), Some(2), "{target}");
        assert!(text(&output.stderr).contains(target), "{}", text(&output.stderr));
    }
}

#[test]
fn what_is_no_regular_file_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in ["/dev/zero", "/dev/stdin", folder.path().join("none.skill").to_str().expect("a path")] {
        let output = skillc(folder.path(), &["check", path]);
        assert_eq!(output.status.code(), Some(2), "{path}");
        assert!(text(&output.stderr).contains(path), "{}", text(&output.stderr));
    }
}

#[test]
fn thousands_of_findings_are_counted_and_the_first_are_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let tools: Vec<String> = (0..3_000).map(|number| format!("tool_{number}")).collect();
    let chain: String =
        (0..20_000).map(|n| format!("pattern F{n} = \"a <F{}>\"\n", (n + 1) % 20_000)).collect();
    let one_line =
        format!("skill a {{ description: \"a\" trigger: \"^ a $\" tools: [{}] }}\n", tools.join(", "));
    fs::write(folder.path().join("a.skill"), one_line + &chain + &"skill s {\n".repeat(20_000))
        .expect("written");
    let output = skillc(folder.path(), &["check", "a.skill"]);
    assert_eq!(output.status.code(), Some(1));
    let shown = text(&output.stderr);
    assert!(
        shown.contains("unknown tool `tool_0`") && shown.contains("more, which"),
        "{} bytes",
        shown.len()
    );
    assert!(shown.len() < 500_000, "{} bytes", shown.len());
}

#[test]
fn libraries_in_circles_and_unreadable_names_end_in_a_message() {
    let folder = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).expect("a link");
    let output = skillc(folder.path(), &["check", "."]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("circle"), "{}", text(&output.stderr));
}

#[test]
fn what_never_ends_is_no_model_and_no_list() {
    let folder = tempfile::tempdir().expect("a folder");
    let messages = folder.path().join("m.jsonl");
    fs::write(&messages, "{\"expected\": [\"none\"], \"message\": \"{a}\"}\n").expect("written");
    let messages = messages.to_string_lossy();
    for arguments in [
        ["model", "import", "-o", "m", "/dev/zero"].as_slice(),
        &["eval", "--routes-only", &messages, "--lists", "/dev/zero"],
    ] {
        let output = skillc(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("a device or a pipe"), "{}", text(&output.stderr));
    }
}

#[test]
fn findings_and_outcomes_come_in_the_forms_of_other_tools() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("a,b.skill"), "skill ü { description: \"d\" prio: 3 trigger: \"^ a $\" }\n")
        .expect("written");
    let sarif = skillc(folder.path(), &["check", "a,b.skill", "--format", "sarif"]);
    assert_eq!(sarif.status.code(), Some(1));
    let value: Value = serde_json::from_slice(&sarif.stdout).expect("one JSON object");
    let result = &value["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "E101");
    assert_eq!(result["level"], "error");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%2Cb.skill");
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startColumn"], 28);
    assert_eq!(value["runs"][0]["tool"]["driver"]["rules"][0]["id"], "E101");
    let github = skillc(folder.path(), &["check", "a,b.skill", "--format", "github"]);
    let line = text(&github.stdout);
    assert!(line.starts_with("::error title=E101,file=a%2Cb.skill,line=1,col=28,"), "{line}");
    let junit = text(&skillc(&shipped(), &["test", "--format", "junit"]).stdout);
    assert!(
        junit.starts_with("<?xml") && junit.contains(" failures=\"0\">") && junit.contains("&gt;"),
        "{junit}"
    );
}

#[test]
fn levels_of_lints_decide_the_exit_code_and_whether_an_artifact_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let skill = "skill a { description: \"d\" keywords: [\"find\"] }\n";
    fs::write(folder.path().join("a.skill"), skill).expect("written");
    let code = |arguments: &[&str]| {
        let output = skillc(folder.path(), &[&["check", "a.skill"], arguments].concat());
        (output.status.code(), text(&output.stderr).contains("W504"))
    };
    assert_eq!(code(&[]), (Some(0), true));
    assert_eq!(code(&["--allow", "w504"]), (Some(0), false));
    assert_eq!(code(&["--deny", "W504"]), (Some(1), true));
    assert_eq!(code(&["--deny", "all"]), (Some(1), true));
    // A code counts more than all; of two for one lint the stricter.
    assert_eq!(code(&["--deny", "ALL", "--allow", "W504"]), (Some(0), false));
    assert_eq!(code(&["--deny", "W504", "--allow", "W504"]), (Some(1), true));
    assert_eq!(code(&["--deny", "W999"]).0, Some(2));
    let build = |text: &str| {
        fs::write(folder.path().join("a.skill"), text).expect("written");
        let output = skillc(folder.path(), &["--skills", "a.skill", "build", "-o", "a.skillpack"]);
        (output.status.code(), folder.path().join("a.skillpack").exists())
    };
    assert_eq!(build(&format!("// lint: deny W504 // one common word\n{skill}")), (Some(1), false));
    // Inside a text block it is text.
    let text = "skill a { description: \"d\" keywords: [\"find\"]\n guidance: \"\"\"\n // lint: deny W504\n \"\"\" }\n";
    assert_eq!(build(text), (Some(0), true));
}

#[test]
fn a_message_of_the_shipped_tests_decides_each_trigger() {
    let output = skillc(&shipped(), &["check", "--warn", "W503", "--format", "github"]);
    let untested: Vec<String> = text(&output.stdout)
        .lines()
        .filter(|line| line.contains("is decided by"))
        .map(str::to_owned)
        .collect();
    assert!(untested.is_empty(), "{}", untested.join("\n"));
    assert!(text(&output.stdout).contains("title=W503"), "the lint says nothing at all");
}

#[test]
fn why_not_names_the_nearest_trigger_and_the_word_at_which_it_failed() {
    let why = |message: &str, skill: &str| -> Value {
        let output = skillc(&shipped(), &["route", message, "--why-not", skill, "--json"]);
        serde_json::from_slice(&output.stdout).expect("one JSON object")
    };
    let tea = why("how warm is my tea", "weather");
    assert_eq!(tea["taken"], false);
    assert_eq!(tea["nearest"]["matched"], "how warm is");
    assert_eq!(tea["nearest"]["failed_at"], "my");
    assert!(tea["nearest"]["expected"].as_array().is_some_and(|words| words.iter().any(|word| word == "it")));
    assert_eq!(why("hallo", "small-talk")["taken"], true);
    let joke = why("Erzähl mir einen Witz", "research-question");
    assert!(joke["excluded"].as_str().is_some_and(|by| by.contains("creative")), "{joke}");
    let continued = why("and the other one?", "research-question");
    assert!(continued["vetoed"].as_str().is_some_and(|veto| veto.contains("goes-on")), "{continued}");
    let negated = why("nicht Wetter in Oslo", "weather");
    assert!(negated["negated"].is_string() && negated["nearest"].is_null(), "{negated}");
    assert_eq!(why("### Task:\nGenerate a concise title", "weather")["task"], true);
    let ended = why("wie spät ist es in Tokio", "current-date");
    assert_eq!(ended["nearest"]["expected"][0], "the end of the message");
    let after = ["--after", "Wetter in Oslo", "--after", "und in Rom?", "--after", "und in Wien?"];
    let arguments = [["route", "und in Bern?", "--why-not", "weather"].as_slice(), &after].concat();
    let carried = skillc(&shipped(), &arguments);
    assert!(text(&carried.stdout).contains("carried 2 of 2 times already"), "{}", text(&carried.stdout));
    let output = skillc(&shipped(), &["route", "hallo", "--why-not", "wether"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("did you mean `weather`?"));
}

#[test]
fn a_new_skill_checks_and_passes_its_own_tests() {
    let folder = tempfile::tempdir().expect("a folder");
    let new = skillc(folder.path(), &["new", "tea-order"]);
    assert_eq!(new.status.code(), Some(0), "{}", text(&new.stderr));
    let check = skillc(folder.path(), &["check", "tea-order.skill"]);
    assert!(text(&check.stdout).contains("nothing to complain about"), "{}", text(&check.stderr));
    let test = skillc(folder.path(), &["--skills", "tea-order.skill", "test"]);
    assert_eq!(test.status.code(), Some(0), "{}", text(&test.stdout));
    assert_eq!(skillc(folder.path(), &["new", "tea-order"]).status.code(), Some(2), "it never overwrites");
    assert_eq!(skillc(folder.path(), &["new", "../x"]).status.code(), Some(2));
}

#[test]
fn completions_name_the_commands() {
    let folder = tempfile::tempdir().expect("a folder");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = skillc(folder.path(), &["completions", shell]);
        assert!(text(&output.stdout).contains("why-not"), "{shell}");
    }
}

#[test]
fn quote_chooses_passages_from_lines_and_in_batches() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = "The mill stands at Lindmark.\n\nIt was built in 1874.\nVisitors like the garden.\n";
    fs::write(folder.path().join("page.txt"), page).expect("written");
    let one = skillc(folder.path(), &["quote", "When was the mill built?", "--passages", "page.txt"]);
    assert!(text(&one.stdout).starts_with("It was built in 1874.\n"), "{}", text(&one.stdout));
    let batch = "{\"id\": 7, \"question\": \"Wann wurde sie gebaut?\", \"passages\": [\"Sie ist alt.\", \"Gebaut 1931.\"]}\n\
                 {\"id\": 8, \"question\": \"x\"}\n[1]\n{\"question\": \"x\", \"passages\": []}\n";
    fs::write(folder.path().join("q.jsonl"), batch).expect("written");
    let output = skillc(folder.path(), &["quote", "--batch", "q.jsonl"]);
    assert_eq!(output.status.code(), Some(1), "bad lines were skipped");
    let answers: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(answers.len(), 2);
    assert_eq!((&answers[0]["id"], &answers[0]["chosen"][0]), (&Value::from(7), &Value::from(1)));
    assert_eq!(answers[1]["chosen"], Value::Array(Vec::new()));
    let said = text(&output.stderr);
    assert!(
        said.contains("q.jsonl:2:") && said.contains("passages") && said.contains("q.jsonl:3:"),
        "{said}"
    );
}
