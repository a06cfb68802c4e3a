//! Test items: every name in an expectation exists.

use crate::diagnostics::{self as codes, Diagnostic, suggestion};
use crate::library::Library;
use crate::syntax::ast::{Expect, Name, Offers, Scalar, Value};

const STAGES: [&str; 5] = ["trigger", "keyword", "carry-over", "fallback", "task"];

pub(super) fn check(library: &Library, out: &mut Vec<Diagnostic>) {
    for test in &library.tests {
        for field in test.fields.iter().filter(|field| field.key.text == "tools") {
            match &field.value {
                Value::List(elements, _) => {
                    for element in elements {
                        match &element.scalar {
                            Scalar::Word(name) => tool(library, name, out),
                            other => out.push(Diagnostic::new(
                                codes::WRONG_TYPE,
                                other.span(),
                                format!("`tools` lists names of tools, not {}", other.describe()),
                            )),
                        }
                    }
                }
                other => out.push(
                    Diagnostic::new(codes::WRONG_TYPE, other.span(), "`tools` of a test is a list")
                        .help("write `tools: [a, b]`: the tools that can run in this test"),
                ),
            }
        }
        for turn in test.cases.iter().flat_map(|case| &case.turns) {
            if let Some(expect) = &turn.expect {
                check_expect(library, expect, out);
            }
        }
    }
}

fn check_expect(library: &Library, expect: &Expect, out: &mut Vec<Diagnostic>) {
    let skills = || library.skills.iter().map(|skill| skill.name.text.as_str());
    for name in expect.skills.iter().filter(|name| name.text != "none") {
        if !skills().any(|known| known == name.text) {
            out.push(
                Diagnostic::new(codes::UNKNOWN_SKILL, name.span, format!("unknown skill `{}`", name.text))
                    .help(suggestion(&name.text, skills().chain(["none"]), "skills")),
            );
        }
    }
    if let Some(stage) = &expect.by
        && !STAGES.contains(&stage.text.as_str())
    {
        out.push(
            Diagnostic::new(codes::UNKNOWN_VALUE, stage.span, format!("`{}` is no stage", stage.text))
                .help(suggestion(&stage.text, STAGES, "stages")),
        );
    }
    match &expect.offers {
        Some(Offers::These(names)) => names.iter().for_each(|name| tool(library, name, out)),
        Some(Offers::Word(name)) if name.text != "all" && name.text != "none" => out.push(
            Diagnostic::new(
                codes::UNKNOWN_VALUE,
                name.span,
                format!("`offers {}` is not understood", name.text),
            )
            .help("write `offers [a, b]`, `offers all` or `offers none`"),
        ),
        _ => {}
    }
    if let Some(call) = &expect.opens {
        tool(library, &call.name, out);
    }
}

fn tool(library: &Library, name: &Name, out: &mut Vec<Diagnostic>) {
    let known = || library.tools.iter().map(|tool| tool.declaration.name.as_str());
    if !known().any(|tool| tool == name.text) {
        out.push(super::unknown_tool(&name.text, name.span, known()));
    }
}
