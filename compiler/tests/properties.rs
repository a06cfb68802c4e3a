//! Whatever a file holds, compiling ends with a library and diagnostics, in time, without a panic.
#![expect(clippy::disallowed_methods, reason = "the clock shows that compiling ends in time")]

use std::time::{Duration, Instant};

use proptest::prelude::*;
use skill_compiler::{Limits, SourceFile, compile};
use skill_runtime::artifact::Pack;

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
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

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
