//! Whatever a file holds, compiling ends with a library and diagnostics, in time, without a panic.
#![expect(clippy::disallowed_methods, reason = "the clock shows that compiling ends in time")]

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use skill_compiler::{Limits, SourceFile, compile};
use skill_runtime::artifact::Pack;
use skill_runtime::router::{Router, Scratch, State, ToolSet};

/// Pieces of the language, so that random files come close to real ones.
fn piece() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "skill a {\n",
        "skill",
        "test \"t\" {\n",
        "language de {\n",
        "predicate p { en: ",
        "pattern P = ",
        "tool t(",
        "host h {\n",
        "assistant {\n",
        "}\n",
        "{",
        "[",
        "]",
        "(",
        ")",
        ",",
        ":",
        "->",
        "=>",
        "trigger: ",
        "trigger x: ",
        "\"^ a [b|c] {x:rest} $\"",
        "\"{n:number} .. <P>\"",
        "\"\"\"",
        "\"",
        "/(?<u>a+)/",
        "/",
        "//",
        "unless ",
        "unless (\"x\", empty)",
        "exemplar \"hi\" {\n",
        "answer: exemplar else quote\n",
        "priority: 7\n",
        "tools: [t]\n",
        "opening: t(q: x)\n",
        "keywords: [\"a b\"]\n",
        "\"hi\" -> a by trigger\n",
        "then ",
        "none",
        "\\",
        "\n",
        "\nskill ",
        " ",
        "spelling: { \"ä\": \"ae\" }\n",
        "openers: [\"hi+\", \"good (day|night)\"]\n",
        "description: \"d\"\n",
        "fallback: question unless empty\n",
        "\u{FEFF}",
        "ß",
        "\u{0}",
        "👋",
    ]);
    prop_oneof![8 => known.prop_map(str::to_owned), 1 => ".{0,8}", 1 => "[a-z]{1,6}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, rng_seed: RngSeed::Fixed(2026), ..ProptestConfig::default() })]

    #[test]
    fn any_text_compiles_to_something(pieces in prop::collection::vec(piece(), 0..60)) {
        let text = pieces.concat();
        let start = Instant::now();
        let compiled = compile(&[SourceFile::new("a.skill", text.as_str())], &Limits::default());
        prop_assert!(start.elapsed() < Duration::from_secs(20));
        prop_assert_eq!(compiled.artifact.is_none(), compiled.has_errors());
        for diagnostic in &compiled.diagnostics {
            prop_assert!(!diagnostic.message.is_empty() && !diagnostic.message.contains('\n'));
            if let Some(span) = diagnostic.span {
                let file = &compiled.library.files[span.file as usize];
                prop_assert!(span.start <= span.end && span.end as usize <= file.text.len().max(span.start as usize));
            }
        }
        if let Some(artifact) = &compiled.artifact {
            prop_assert!(Pack::from_bytes(artifact).is_ok());
        }
    }

    #[test]
    fn any_bytes_compile_to_something(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let compiled = compile(&[SourceFile { name: "a.skill".to_owned(), bytes }], &Limits::default());
        prop_assert_eq!(compiled.artifact.is_none(), compiled.has_errors());
    }
}

/// A text as the language writes it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, rng_seed: RngSeed::Fixed(2026), ..ProptestConfig::default() })]

    #[test]
    fn what_is_declared_comes_back_out_of_the_artifact(
        skills in prop::collection::btree_map(
            "[a-z][a-z0-9-]{2,8}[a-z]",
            ("\\PC{1,40}", "\\PC{0,60}", "[a-zäöü]{3,9}", 0_u32..=100, 0_u32..=9, any::<Option<bool>>(), "\\PC{1,30}"),
            1..6,
        ),
    ) {
        let mut source = String::from("tool look(query: text, limit?: number = 3) sourced \"Looks.\"\n");
        for (name, (description, guidance, word, priority, carry, tools, answer)) in &skills {
            let tools = match tools {
                None => String::new(),
                Some(true) => "tools: [look] opening: look(query: message)\n".to_owned(),
                Some(false) => "tools: []\n".to_owned(),
            };
            source.push_str(&format!(
                "skill {name}x {{\n description: {} guidance: {} priority: {priority} carry: {carry}\n{tools} \
                 trigger: {}\n exemplar \"say {word}\" {{ answer: {} }}\n}}\n",
                quoted(description), quoted(guidance), quoted(&format!("zzz {word}")), quoted(answer),
            ));
        }
        let compiled = compile(&[SourceFile::new("a.skill", source.as_str())], &Limits::default());
        let blank = skills.values().any(|skill| skill.0.trim().is_empty());
        prop_assume!(!blank);
        let Some(artifact) = &compiled.artifact else {
            return Err(TestCaseError::fail(format!("{:#?}\n{source}", compiled.diagnostics)));
        };
        let pack = Pack::from_bytes(artifact).expect("it loads");
        let names = pack.skill_names();
        prop_assert_eq!(names.len(), skills.len());
        for (number, name) in names.iter().enumerate() {
            let declared = &skills[name.strip_suffix('x').expect("the suffix")];
            let text = pack.skill_text(number);
            prop_assert_eq!(&text.description, &declared.0);
            prop_assert_eq!(&text.guidance, declared.1.trim());
            prop_assert_eq!(&text.exemplars[0].answer, &declared.6);
        }
        let router = Router::new(&pack);
        for row in router.overview() {
            let declared = &skills[row.name.strip_suffix('x').expect("the suffix")];
            let tools = declared.5.map(|some| if some { vec!["look".to_owned()] } else { Vec::new() });
            prop_assert_eq!((row.priority, row.tools), (declared.3, tools));
        }
        let mut scratch = Scratch::default();
        for (_, _, word, ..) in skills.values() {
            let route =
                router.route(&mut scratch, State::default(), &format!("so zzz {word} yyy"), &ToolSet::all(&pack));
            // Two skills may share a word; the winner then is the first in routing order.
            let winner = names.iter().find(|name| skills[name.strip_suffix('x').expect("the suffix")].2 == *word);
            prop_assert_eq!(route.skill.as_deref(), winner.copied());
        }
    }
}

#[test]
fn large_broken_files_take_linear_time() {
    let time = |text: String| {
        let start = Instant::now();
        let compiled = compile(&[SourceFile::new("a.skill", text)], &Limits::default());
        assert!(compiled.has_errors());
        start.elapsed().as_secs_f64()
    };
    for open in
        ["skill a {\n", "x: {\n", "trigger: [\n", "\"\"\"\n", "exemplar \"a\" {\n", "((((", "test \"t\" {\n"]
    {
        let small = time(format!("skill z {{\n{}", open.repeat(1_000))).max(0.002);
        let large = time(format!("skill z {{\n{}", open.repeat(4_000)));
        assert!(large < small * 40.0 && large < 10.0, "{open:?}: {small} s, then {large} s");
    }
}

#[test]
fn fragments_that_multiply_are_refused_in_time() {
    let mut text = String::from("pattern A0 = \"(a|b c)\"\n");
    for level in 1..30 {
        let inner = level - 1;
        text.push_str(&format!("pattern A{level} = \"(<A{inner}>|<A{inner}> x|<A{inner}> y)\"\n"));
    }
    text.push_str("skill s { description: \"d\" trigger: \"<A29>\" }\n");
    let start = Instant::now();
    let compiled = compile(&[SourceFile::new("a.skill", text)], &Limits::default());
    assert!(compiled.has_errors());
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn brackets_nested_without_end_are_one_error() {
    for bracket in ["[", "(", "[(", "([a|"] {
        let pattern = bracket.repeat(100_000);
        let source = format!("skill s {{ description: \"d\" keywords: [\"tea\"] trigger: \"{pattern}\" }}\n");
        let compiled = compile(&[SourceFile::new("a.skill", source)], &Limits::default());
        let codes: Vec<&str> = compiled.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        assert_eq!(codes, ["E308"], "{bracket}");
    }
}
