//! What users of a comparable assistant reported, as behaviour over the demo web: the numbers are those of the list of
//! reported failures from which the project began (54 to 136; those before are routes, and `test` items of the skills).
//! Each stands for a kind, so messages of other names and of the other language stand beside it.
//!
//! What a model writes freely is not tested here: 122 to 125, 128 and 134 are in `endpoint.rs` and the runtime's own tests
//! (`model/reasoning.rs`, `model/tolerant.rs`), 126 in `model/repeats.rs`, 127 in `model/files.rs`.
#![allow(clippy::expect_used, clippy::panic, reason = "a test stops at what it does not expect")]

mod support;

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skillc"));
    command
        .args(arguments)
        .current_dir(support::root())
        .env("SKILLC_WEB", "demo")
        .env("SKILLC_MEMORY", "off");
    command
}

fn run(arguments: &[&str]) -> Output {
    command(arguments).stdin(Stdio::null()).output().expect("skillc starts")
}

/// The replies to the turns of one conversation over the demo web.
fn turns(messages: &[&str]) -> Vec<Value> {
    support::store();
    let mut child = command(&["chat", "--json", "--device", "cpu"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("skillc starts");
    let lines = messages.iter().map(|message| format!("{message}\n")).collect::<String>();
    child.stdin.take().expect("its input").write_all(lines.as_bytes()).expect("written");
    let output = child.wait_with_output().expect("it ends");
    let replies: Vec<Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(replies.len(), messages.len(), "{messages:?}");
    replies
}

/// The reply to the last of some turns.
fn last(messages: &[&str]) -> Value {
    turns(messages).pop().expect("a reply")
}

fn said(reply: &Value) -> &str {
    reply["reply"].as_str().expect("a text")
}

/// What a tool returns over the demo web.
fn tool(name: &str, arguments: &Value, more: &[&str]) -> Value {
    let arguments = arguments.to_string();
    let output = run(&[&["tool", name, &arguments, "--json"], more].concat());
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn research(question: &str, more: &[&str]) -> String {
    tool("research", &json!({ "query": question }), more)["result"].as_str().expect("a text").to_owned()
}

/// What was searched: it stands in the head of the result.
fn searched(result: &str) -> String {
    let head = result.lines().find(|line| line.contains(['"', '„'])).unwrap_or_default();
    head.split(['"', '„', '“', '”']).nth(1).unwrap_or_default().to_owned()
}

/// Text of a page, or its passages on a question.
fn extract(html: &str, more: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("page.html");
    std::fs::write(&file, html).expect("written");
    let output = run(&[&["extract", &file.to_string_lossy()], more].concat());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Rules of the findings about an answer, and the label.
fn review(question: &str, tools: Value, answer: &str) -> (Vec<String>, bool) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("turn.json");
    let turn = json!({"question": question, "history": [], "tools": tools, "answer": answer});
    std::fs::write(&file, turn.to_string()).expect("written");
    let output = run(&["review", &file.to_string_lossy()]);
    let found: Value = serde_json::from_slice(&output.stdout).expect("an object");
    let rules = found["findings"].as_array().expect("findings").iter();
    (
        rules.filter_map(|finding| finding["rule"].as_str().map(str::to_owned)).collect(),
        found["label"] == "unsourced",
    )
}

fn ran(name: &str, arguments: Value, result: &str) -> Value {
    json!([{"name": name, "arguments": arguments, "result": result, "failed": false}])
}

#[test]
fn small_talk_and_poems_reach_no_tool() {
    for message in ["Hallo the assistant, wie geht es dir?", "Hi there computer, how are you?"] {
        let reply = last(&[message]); // 54
        assert_eq!((&reply["skill"], &reply["model_ran"]), (&json!("small-talk"), &json!(false)), "{reply}");
        assert!(
            !said(&reply).contains("wie geht es dir") && !said(&reply).contains("how are you"),
            "{reply}"
        );
    }
    for message in
        ["Schreib ein Gedicht über den Herbst", "Write a poem about autumn", "Was kannst du alles?"]
    {
        let reply = last(&[message]); // 55, 56
        assert_eq!(reply["tools_run"], json!([]), "{reply}");
        assert_eq!(reply["tools_offered"], json!([]), "{reply}");
        assert!(!said(&reply).contains("Antworte auf Deutsch"), "{reply}");
    }
    let output = run(&["prompt", "Was kannst du alles?"]);
    let prompt = String::from_utf8_lossy(&output.stdout);
    assert!(prompt.contains("You can research questions") && prompt.contains("You cannot book"), "{prompt}"); // 55, 132
    // 57: the exemplar in the user's language is the last.
    let german =
        String::from_utf8_lossy(&run(&["prompt", "Fasse zusammen: https://a.example/x"]).stdout).into_owned();
    let english =
        String::from_utf8_lossy(&run(&["prompt", "Summarise https://a.example/x"]).stdout).into_owned();
    for (prompt, first, second) in [
        (&german, "Gladly. Please send", "Gern. Schick mir"),
        (&english, "Gern. Schick mir", "Gladly. Please send"),
    ] {
        assert!(prompt.find(first).expect(first) < prompt.find(second).expect(second), "{prompt}");
    }
}

#[test]
fn queries_are_neither_corrected_nor_translated_nor_cut_short() {
    for query in ["1inch", "3Blue1Brown", "eln musk"] {
        let found = tool("web_search", &json!({ "query": query }), &["--language", "en"]); // 59, 71
        assert_eq!(searched(found["result"].as_str().expect("a text")), query);
    }
    let merz = ["--after", "Wer ist der Bundeskanzler?", "--after", "Der Bundeskanzler ist Friedrich Merz."];
    let macron = ["--after", "Who is Emmanuel Macron?", "--after", "He is the president of France."];
    for (question, after, query) in [
        ("Wer ist der Bundeskanzler?", &[][..], "Bundeskanzler"), // 60
        ("What is the capital of France?", &[], "capital of France"), // 61
        ("why is the sky blue", &[], "why is the sky blue"),      // 62
        ("warum ist der Himmel blau?", &[], "warum ist der Himmel blau"),
        ("Erklär mir kurz, was Photosynthese ist", &[], "Photosynthese"), // 63
        ("Explain to me what osmosis is", &[], "osmosis"),
        ("und der von Frankreich?", &merz, "Bundeskanzler Frankreich"), // 64
        ("nein in russland", &merz, "Bundeskanzler Russland"),          // 65
        ("does he has a women?", &macron, "Emmanuel Macron women"),     // 66
    ] {
        assert_eq!(searched(&research(question, after)), query, "{question}");
    }
    // 67, 68: whoever was spoken of, and no namesake.
    for (question, after, name) in
        [("how old is he", &macron[..], "Emmanuel Macron"), ("Und wie alt ist er?", &merz, "Friedrich Merz")]
    {
        let found = research(question, after);
        assert!(searched(&found).contains(name) && !searched(&found).starts_with("Und"), "{found}");
    }
}

#[test]
fn places_are_found_in_what_is_passed_whole() {
    for (place, name) in [
        ("Wetter in Berlin", "In Berlin "), // 69
        ("Hamburg heute", "In Hamburg "),
        ("In Salah", "In In Salah "),
        ("Deutschland", "In Deutschland "), // 70
        ("Tokio", "In Tokio "),
    ] {
        let found = tool("weather", &json!({ "place": place }), &["--language", "de"]);
        assert_eq!(found["failed"], false, "{found}");
        assert!(found["result"].as_str().is_some_and(|result| result.starts_with(name)), "{found}");
    }
    // Tokio is not the town in Illinois: its clock is hours ahead of London's.
    let tokyo = tool("weather", &json!({"place": "Tokio"}), &["--language", "de"]);
    let london = tool("weather", &json!({"place": "London"}), &["--language", "de"]);
    assert_ne!(tokyo["result"].as_str().map(hour), london["result"].as_str().map(hour));
}

/// The hour of a reading of the weather.
fn hour(result: &str) -> String {
    let at = result.find(" Uhr").expect("a time");
    result.get(at - 5..at - 3).unwrap_or_default().to_owned()
}

#[test]
fn a_search_that_was_not_answered_is_no_empty_one() {
    let output = run(&["tool", "web_search", r#"{"query": "zzblocked"}"#, "--json"]); // 72, 92
    assert_eq!(output.status.code(), Some(1));
    // 73: the second page of the engine answers where the first refuses.
    let second = tool("web_search", &json!({"query": "Stripe zzoutage"}), &["--language", "en"]);
    assert!(
        second["failed"] == false && second["result"].as_str().is_some_and(|text| text.contains("https://")),
        "{second}"
    );
    // 74: advertisements are no sources.
    let found = tool("web_search", &json!({"query": "Stripe"}), &["--language", "en"]);
    assert!(!found["result"].to_string().contains("duckduckgo.com"), "{found}");
}

#[test]
fn pages_are_read_from_their_prose_on_without_their_furniture() {
    let prose = "The tower of Lindmark was finished in 1874 and is forty-eight metres high.";
    let page = |inner: &str| format!("<html><body>{inner}</body></html>");
    // 75, 79: navigation and breadcrumbs.
    let nav = page(&format!(
        "<a href='#main'>Skip to main content</a><ul class=nav>{}</ul><div class=breadcrumb>Home &gt; Towers &gt; Lindmark</div><main><p>{prose}</p></main>",
        "<li><a href=/x>One more section of the site</a></li>".repeat(60)
    ));
    let text = extract(&nav, &[]);
    assert!(text.find(prose).is_some_and(|at| at < 100) && !text.contains("Skip to main"), "{text:.300}");
    let passages = extract(&nav, &["--question", "How high is the tower of Lindmark?"]);
    assert!(passages.contains(prose) && !passages.contains("Home"), "{passages}");
    // 77: notices about cookies.
    let cookies = page(&format!(
        "<div>We use cookies to improve how you experience Lindmark tower. Accept all cookies or change your settings at any time.</div><p>{prose}</p>"
    ));
    let passages = extract(&cookies, &["--question", "How high is the tower of Lindmark?"]);
    assert!(passages.trim_start().starts_with("The tower") && !passages.contains("cookies"), "{passages}");
    // 78: a list of literature.
    let list = page(&format!(
        "<p>{prose}</p><p>Lind, A. (1990). The tower of Lindmark, Lindmark tower studies. ISBN 1-2345-678-9. doi:10.1/x. Retrieved 2 May 2020.</p>"
    ));
    let passages = extract(&list, &["--question", "Who built the tower of Lindmark?"]);
    assert!(!passages.contains("ISBN"), "{passages}");
    // 80: a heading that asks is not its answer.
    let faq = page(&format!("<h2>How high is the tower of Lindmark?</h2><p>{prose}</p>"));
    let passages = extract(&faq, &["--question", "How high is the tower of Lindmark?"]);
    assert!(passages.contains("forty-eight") && !passages.contains('?'), "{passages}");
    // 81: marks of footnotes are no text and no address.
    let notes = page(
        "<p>The tower was finished in 1874<sup><a href='#cite_note-1'>[1]</a></sup> by two brothers<sup><a href='#cite_note-2'>[2]</a></sup> from the village.</p>",
    );
    let text = extract(&notes, &["--url", "https://a.example/t"]);
    assert!(text.contains("in 1874 by two brothers from") && !text.contains("cite_note"), "{text}");
    // 82: no fused words.
    let links = page(
        "<p>It stands on <a href=/f>Facebook</a> <span>page</span> or read<br>the <a href=/n>minutes</a> there. The page <i>Von</i> <b>Bundeskanzler</b> has more to say on this.</p><ul><li>One</li><li>Two</li></ul>",
    );
    let text = extract(&links, &[]);
    assert!(
        text.contains("Von Bundeskanzler")
            && !text.contains("OneTwo")
            && !text.contains("readthe")
            && text.contains("Facebook page"),
        "{text}"
    );
    // 83: addresses with brackets.
    let brackets = page(
        "<p>See https://de.wikipedia.org/wiki/Betreuung_(Recht) for what the law says about guardians today.</p>",
    );
    assert!(extract(&brackets, &[]).contains("https://de.wikipedia.org/wiki/Betreuung_(Recht) for"));
    // 84, 85: inflected words, and the short line of who is in office.
    let office = page(
        "<p>Die Amtszeit des Bundeskanzlers endet mit dem Zusammentritt eines neuen Bundestages, so das Grundgesetz.</p><p>Amtsinhaber: Lena Vogt (seit 2025)</p>",
    );
    let passages = extract(&office, &["--question", "Wer ist der Bundeskanzler?"]);
    assert!(passages.contains("Bundeskanzlers") && passages.contains("Lena Vogt (seit 2025)"), "{passages}");
}

#[test]
fn what_cannot_be_read_is_replaced_and_never_quoted() {
    let german = research("wer ist der Bundeskanzler", &[]); // 76, 91
    assert!(german.contains("Friedrich Merz") && german.contains("de.wikipedia.org"), "{german}");
    let nvidia = research("Who is the CEO of Nvidia?", &[]); // 77, 88
    assert!(nvidia.starts_with("Answer: Jensen Huang\n"), "{nvidia}");
    for (result, marks) in [
        (&german, ["Access Denied", "403", "Sucuri", "verweigert"]),
        (&nvidia, ["cookie", "Cookie", "Access denied", "consent"]),
    ] {
        for mark in marks {
            assert!(!result.contains(mark), "{mark}: {result}");
        }
    }
    assert!(!nvidia.contains(".pdf"));
}

/// Sites of the sources of a result.
fn sites(result: &str) -> Vec<String> {
    result
        .lines()
        .filter_map(|line| line.split_once(" - https://"))
        .filter(|(head, _)| head.starts_with(|c: char| c.is_ascii_digit()))
        .map(|(_, url)| skill_runtime::research::site(&format!("https://{url}")))
        .collect()
}

#[test]
fn sources_are_articles_on_the_subject_and_one_a_site() {
    let france = research("What is the capital of France?", &[]); // 61, 86
    assert!(france.starts_with("Answer: Paris\n") && !france.contains("punishment"), "{france}");
    for question in [
        "What is Stripe?",
        "Who was Ada Lovelace?",
        "Was ist Photosynthese?",
        "How high is the Eiffel Tower?",
    ] {
        let found = research(question, &[]);
        let sites = sites(&found);
        let mut once = sites.clone();
        once.sort();
        once.dedup();
        assert_eq!(sites.len(), once.len(), "{question}: {found}"); // 89, 90
        assert!(!found.contains("may refer to"), "{question}: {found}"); // 87
    }
    let site = |url: &str| skill_runtime::research::site(url);
    assert_ne!(site("https://www.bbc.co.uk/a"), site("https://www.theguardian.co.uk/b")); // 89
    assert_eq!(site("https://de.shop.example.com/a"), site("https://shop.example.com/b"));
    let sky = research("Why is the sky blue?", &[]); // 93
    assert!(sky.contains("scatter"), "{sky}");
    let ada = research("who was Ada Lovelace", &[]); // 94
    assert!(ada.starts_with("Researched") && ada.contains("en.wikipedia.org"), "{ada}");
}

#[test]
fn sources_differ_only_where_they_speak_of_the_same() {
    let musk = research("When was Elon Musk born?", &[]); // 95
    assert!(
        !musk.contains("differ") && musk.lines().next().is_some_and(|line| line.contains("1971")),
        "{musk}"
    );
    let lamp = research("Was kostet die Lumo 3?", &[]);
    assert!(lamp.contains("49") && !lamp.starts_with("Answer"), "prices that differ are no answer: {lamp}");
    let spelt = tool("web_search", &json!({"query": "wer ist eln musk"}), &["--language", "de"]); // 97, 98
    let result = spelt["result"].as_str().expect("a text");
    assert!(result.contains("Elon") && !result.contains("„der“"), "{result}");
    for query in ["1inch", "Stripe"] {
        let found = tool("web_search", &json!({ "query": query }), &["--language", "en"]);
        assert!(!found["result"].as_str().is_some_and(|result| result.contains("spell it")), "{found}");
    }
}

#[test]
fn people_are_researched_and_their_ages_worked_out() {
    for (messages, expected) in [
        (&["Wie alt wurde Hitler?"][..], "Adolf Hitler wurde 56 Jahre alt"), // 100
        (&["How old was Ada Lovelace?"], "Ada Lovelace lived to be 36 years old"),
        (&["Wann starb Ada Lovelace?"], "27. November 1852"),
        (&["Who is Emmanuel Macron?", "how old is he"], "Emmanuel Macron is "), // 67, 110
        (&["Wer ist der Bundeskanzler?", "Und wie alt ist er?"], "Friedrich Merz ist "), // 68, 111
        (&["How old is Olaf Scholz?"], "Olaf Scholz is "),                      // 110
    ] {
        let reply = last(messages);
        let text = said(&reply);
        assert!(text.contains(expected) && text.contains(": https://"), "{messages:?}: {text}");
        assert_eq!(reply["labels"], json!([]), "{messages:?}");
        assert!(!text.contains("142") && !text.contains("hat 7"), "{text}");
    }
    // 101: the search is made, and what it found is the answer.
    for message in ["Wer ist elon musk", "Who is Elon Musk?"] {
        let reply = last(&[message]);
        assert_eq!(reply["tools_run"][0]["name"], "research", "{reply}");
        assert!(said(&reply).contains("Tesla") || said(&reply).contains("Pretoria"), "{reply}");
        assert!(
            !reply["tools_run"][0]["result"].as_str().expect("a text").starts_with("Answer"),
            "107: {reply}"
        );
    }
}

#[test]
fn offices_are_answered_for_the_country_that_was_asked_or_not_at_all() {
    let reply = last(&["Wer ist der russische Präsident?"]); // 106
    assert!(said(&reply).contains("Putin") && !said(&reply).contains("Merz"), "{reply}");
    let reply = last(&["Wer ist der Bundeskanzler?", "nein in russland"]); // 65
    assert!(said(&reply).contains("Putin") && !said(&reply).contains("Merz"), "{reply}");
    // 102: the demo web knows no president of the United States, and no Zorbulon.
    for messages in [
        &["Wer ist der französische Präsident?", "Who is the president of the US?"][..],
        &["Wer ist der Präsident der USA?"],
        &["Who is the CEO of Zorbulon?"],
        &["Wer ist der Chef von Zorbulon?"],
    ] {
        let reply = last(messages);
        let text = said(&reply);
        for name in ["Putin", "Macron", "Merz", "Huang", "Altman"] {
            assert!(!text.contains(name), "{messages:?}: {text}");
        }
        assert_eq!(reply["model_ran"], false, "nothing is made up: {reply}");
    }
    let tokyo = research("What is the population of Tokyo?", &[]); // 107
    assert!(!tokyo.starts_with("Answer: Tokyo"), "{tokyo}");
    // 108: what something is, and not one word of it.
    let reply = last(&["Was ist Photosynthese?"]);
    assert!(said(&reply).starts_with("Photosynthese ist ") || said(&reply).contains("Pflanzen"), "{reply}");
    // 110: the article of that name.
    let hole = research("What is a black hole?", &[]);
    assert!(hole.contains("wiki/Black_hole") && !hole.contains("Quasar"), "{hole}");
}

#[test]
fn sums_are_computed_and_what_is_said_instead_is_found() {
    for (message, result) in [
        ("What is 98765 * 4321?", "426763565"), // 103
        ("98,765 * 4,321", "426763565"),        // 129
        ("18% of 2450", "441"),
        ("2 x 3", "6"),
        ("(17*23)/4 =", "97.75"),
        ("$1200 * 1.19", "1428"),
    ] {
        let reply = last(&[message]);
        let digits: String = said(&reply).rsplit('=').next().unwrap_or_default().replace([',', ' '], "");
        assert!(digits.contains(result), "{message}: {}", said(&reply));
    }
    let sum = ran("calculator", json!({"expression": "12146.4 * 5"}), "12146.4 * 5 = 60732");
    assert!(
        review("What is 12146.4 * 5?", sum.clone(), "It is about 60,000.")
            .0
            .contains(&"wrong-number".to_owned())
    ); // 104
    assert!(review("What is 12146.4 * 5?", sum, "It is 60,732.").0.is_empty());
    let mayor = ran(
        "research",
        json!({"query": "x"}),
        "Answer: Ama Osei\n\n1. A - https://a.example/x\n   \"The mayor is Ama Osei.\"",
    );
    let (rules, _) = review(
        "Who is the mayor of Lindmark?",
        mayor,
        "The mayor is Piet Hendriks. Source: https://a.example/x",
    ); // 105
    assert!(rules.contains(&"wrong-fact".to_owned()), "{rules:?}");
    let age =
        ran("research", json!({"query": "x"}), "1. A - https://a.example/x\n   \"He was a politician.\"");
    let (rules, _) =
        review("How old did he get?", age, "He became 142 years old. Source: https://a.example/x"); // 100
    assert!(rules.contains(&"unsupported-figure".to_owned()), "{rules:?}");
    let (rules, _) = review(
        "Hat er eine Frau?",
        ran("research", json!({"query": "x"}), "1. A - https://a.example/x\n   \"Er lebt in Berlin.\""),
        "Dazu habe ich nichts gefunden.",
    ); // 112
    assert!(rules.is_empty(), "a refusal needs no source: {rules:?}");
    let bridge =
        ran("research", json!({"query": "x"}), "1. A - https://a.example/x\n   \"It opened in 1987.\"");
    for (answer, findings) in [("It opened in the late 1980s.", 0), ("It opened in the 1970s.", 1)] {
        let (rules, _) =
            review("When did it open?", bridge.clone(), &format!("{answer} Source: https://a.example/x"));
        assert_eq!(rules.len(), findings, "{answer}: {rules:?}");
    }
    let (_, unsourced) = review("Who is Elon Musk?", json!([]), "He runs a refrigeration company in Bremen."); // 101
    assert!(!unsourced, "without a list of tools nothing says that it should have had a source");
}

#[test]
fn clocks_and_weather_are_read_anew_and_for_the_place_that_is_meant() {
    let replies = turns(&["What time is it in Tokyo?", "and in germany", "Wie spät ist es in Deutschland?"]);
    let [tokyo, germany, german] = replies.as_slice() else { panic!("three") };
    assert!(
        said(tokyo).starts_with("In Tokyo it is ") && said(germany).starts_with("In Germany it is "),
        "{germany}"
    ); // 116
    assert!(said(german).contains("Deutschland"), "{german}"); // 113
    for reply in &replies {
        for mark in ["UTC", "GMT", "T0", "T1", "T2"] {
            assert!(!said(reply).contains(mark), "{mark}: {reply}"); // 114
        }
    }
    // 115: each asks the clock itself.
    let replies = turns(&["What time is it?", "What time is it?"]);
    assert!(replies.iter().all(|reply| reply["tools_run"][0]["name"] == "current_time"));
    // 117, 118, 121: a reading of now, in a sentence of code, and no zeros in it.
    let reply = last(&["Wie ist das Wetter in Berlin?"]);
    assert_eq!((&reply["tools_run"][0]["name"], &reply["model_ran"]), (&json!("weather"), &json!(false)));
    assert!(said(&reply).starts_with("In Berlin sind es ") && !said(&reply).contains(" 0 mm"), "{reply}");
    // 119: the place that was asked for, in both languages.
    for (first, next, place) in [
        ("Wie ist das Wetter in Frankfurt?", "Und morgen?", "Frankfurt"),
        ("What's the weather in Oslo?", "and tomorrow?", "Oslo"),
    ] {
        let reply = last(&[first, next]);
        assert_eq!(reply["tools_run"][0]["arguments"]["place"], place, "{reply}");
        assert!(said(&reply).starts_with(place), "{reply}");
    }
}

#[test]
fn memory_is_changed_by_what_the_tools_say_and_pages_are_asked_for() {
    let home = tempfile::tempdir().expect("a folder");
    let memory = home.path().join("memory.db");
    let path = memory.to_string_lossy().into_owned();
    let remember = |arguments: Value| {
        let output = run(&["tool", "memory", &arguments.to_string(), "--memory", &path, "--language", "en"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    remember(json!({"command": "add", "text": "Lives in Berlin"}));
    assert!(remember(json!({"command": "forget", "query": "that I live in Berlin"})).contains("Forgotten")); // 130
    remember(json!({"command": "add", "text": "Lives in Oslo"}));
    remember(json!({"command": "update", "query": "Lives in Oslo", "text": "Lives in Bergen"})); // 131
    let all = remember(json!({"command": "list"}));
    assert!(all.contains("Bergen") && !all.contains("Oslo") && !all.contains("Berlin"), "{all}");
    // 133: a page that was not named is asked for.
    for (message, word) in
        [("Fasse mir die Seite zusammen", "Link"), ("Summarize that article please", "link")]
    {
        let reply = last(&[message]);
        assert_eq!(reply["tools_run"], json!([]), "{reply}");
        assert!(said(&reply).contains(word), "{reply}");
    }
    // 135: an answer in another language than the question.
    let notes =
        ran("research", json!({"query": "x"}), "1. A - https://a.example/x\n   \"Der Turm ist alt.\"");
    let (rules, _) = review(
        "Ist der Turm von Lindmark alt, und wer hat ihn gebaut?",
        notes,
        "The tower is old, and it has been so for a long time. Source: https://a.example/x",
    );
    assert_eq!(rules, ["wrong-language"]);
}
