//! Runs `grammar/corpus`: each case names the diagnostics and routes of its sources, and the small library beside
//! them is checked, built and tested.
#![expect(
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test stops at what it does not expect"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use skill_compiler::{Compiled, Limits, SourceFile, compile, testing};
use skill_runtime::artifact::Pack;
use skill_runtime::conversation::route_turns;
use skill_runtime::router::{Router, Scratch, ToolSet};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    about: String,
    diagnostics: Vec<String>,
    file: Vec<File>,
    #[serde(default)]
    route: Vec<Expected>,
}

#[derive(Deserialize)]
struct File {
    name: String,
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    message: String,
    #[serde(default)]
    after: Vec<String>,
    tools: Option<Vec<String>>,
    skill: String,
    stage: Option<String>,
    /// Other skills that the message asks for.
    also: Option<Vec<String>>,
    #[serde(default)]
    binds: BTreeMap<String, String>,
    opens: Option<String>,
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../grammar/corpus")
}

fn described(compiled: &Compiled) -> Vec<String> {
    compiled
        .diagnostics
        .iter()
        .map(|diagnostic| match diagnostic.span {
            Some(span) => {
                let file = &compiled.library.files[span.file as usize].name;
                format!("{} {file}:{}", diagnostic.code, compiled.library.line(span))
            }
            None => diagnostic.code.to_owned(),
        })
        .collect()
}

fn run(case: &Case) -> Vec<String> {
    let files: Vec<SourceFile> =
        case.file.iter().map(|file| SourceFile::new(&file.name, &file.text)).collect();
    let compiled = compile(&files, &Limits::default());
    let mut problems = Vec::new();
    // Cases are small, so most lints would have something to say; only those that a case names count, and errors.
    let counts = |code: &str| {
        !code.starts_with('W')
            || matches!(code, "W501" | "W502")
            || case.diagnostics.iter().any(|known| known.starts_with(code))
    };
    let mut found = described(&compiled);
    found.retain(|line| counts(line.get(..4).unwrap_or_default()));
    if found != case.diagnostics {
        problems.push(format!("diagnostics {found:?}, expected {:?}", case.diagnostics));
    }
    if case.route.is_empty() {
        return problems;
    }
    let Some(artifact) = &compiled.artifact else {
        problems.push("it has routes but does not compile".to_owned());
        return problems;
    };
    let pack = Pack::from_bytes(artifact).expect("an artifact that was just built loads");
    let router = Router::new(&pack);
    let mut scratch = Scratch::default();
    for expected in &case.route {
        let tools = match &expected.tools {
            Some(names) => ToolSet::named(&pack, |name| names.iter().any(|known| known == name)),
            None => ToolSet::all(&pack),
        };
        let route = route_turns(&router, &mut scratch, &expected.after, &expected.message, &tools);
        let skill = route.skill.as_deref().unwrap_or("none");
        let stage = route.decision.stage.name();
        if skill != expected.skill || expected.stage.as_ref().is_some_and(|wanted| wanted != stage) {
            problems.push(format!(
                "{:?}: {skill} by {stage}, expected {} by {}",
                expected.message,
                expected.skill,
                expected.stage.as_deref().unwrap_or("any stage")
            ));
        }
        for (name, value) in &expected.binds {
            let bound = route.bindings.iter().find(|binding| binding.name == *name).map(|b| b.text.as_str());
            if bound != Some(value) {
                problems.push(format!("{:?}: {name} = {bound:?}, expected {value:?}", expected.message));
            }
        }
        if expected.also.as_ref().is_some_and(|wanted| *wanted != route.also) {
            problems
                .push(format!("{:?}: also {:?}, expected {:?}", expected.message, route.also, expected.also));
        }
        if let Some(tool) = &expected.opens {
            let opened = route.opening.as_ref().map_or("none", |opening| opening.tool.as_str());
            if opened != tool {
                problems.push(format!("{:?}: opens {opened}, expected {tool}", expected.message));
            }
        }
    }
    problems
}

#[test]
fn every_case_of_the_corpus_holds() {
    let mut paths: Vec<PathBuf> = fs::read_dir(corpus())
        .expect("the corpus is there")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 60, "{} cases", paths.len());
    let mut failures = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("a case can be read");
        match toml::from_str::<Case>(&text) {
            Ok(case) => {
                failures.extend(run(&case).into_iter().map(|p| format!("{name} ({}): {p}", case.about)))
            }
            Err(error) => failures.push(format!("{name}: {error}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_small_library_checks_builds_and_routes() {
    let folder = corpus().join("library");
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).expect("the library is there") {
        let path = entry.expect("it can be read").path();
        let bytes = fs::read(&path).expect("a file can be read");
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.push(SourceFile { name, bytes });
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    let compiled = compile(&files, &Limits::default());
    assert_eq!(described(&compiled), Vec::<String>::new());
    let pack = Pack::from_bytes(&compiled.artifact.expect("it compiles")).expect("it loads");
    let outcomes = testing::run(&compiled.library, &pack);
    assert!(outcomes.len() >= 40);
    let failed: Vec<_> = outcomes.iter().filter(|outcome| !outcome.failures.is_empty()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn the_editor_grammar_knows_every_key() {
    let path = corpus().join("../skill.tmLanguage.json");
    let text = fs::read_to_string(path).expect("the editor grammar is there");
    let grammar: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let keys = grammar["repository"]["key"]["match"].as_str().expect("a pattern for keys").to_owned();
    let pest = fs::read_to_string(corpus().join("../skill.pest")).expect("the grammar is there");
    let known = pest
        .split("known_key = _{")
        .nth(1)
        .and_then(|rest| rest.split('}').next())
        .expect("the list of keys");
    for key in known.split('"').skip(1).step_by(2).filter(|key| *key != "predicate") {
        assert!(keys.contains(key), "{key}");
    }
}
