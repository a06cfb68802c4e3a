//! Runs a library's test items against its artifact.

use std::collections::BTreeMap;

use serde::Serialize;
use skill_runtime::artifact::Pack;
use skill_runtime::router::{Route, Router, Scratch, State, ToolSet};

use crate::library::Library;
use crate::source::Span;
use crate::syntax::ast::{Expect, Offers, Scalar, Test, Value};

/// What became of one expectation.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Name of the test item.
    pub test: String,
    /// `FILE:LINE` of the message.
    pub at: String,
    /// Place of the message.
    #[serde(skip)]
    pub span: Span,
    /// User turns before it.
    pub after: Vec<String>,
    /// The message.
    pub message: String,
    /// What was expected and is not so; empty: passed.
    pub failures: Vec<String>,
}

/// Runs every test.
#[must_use]
pub fn run(library: &Library, pack: &Pack) -> Vec<Outcome> {
    let router = Router::new(pack);
    let mut scratch = Scratch::default();
    let mut out = Vec::new();
    for test in &library.tests {
        let tools = tools_of(test, pack);
        let name = test.name.as_ref().map(|name| name.value.clone()).unwrap_or_default();
        for case in &test.cases {
            let mut state = State::default();
            let mut after: Vec<String> = Vec::new();
            for turn in &case.turns {
                let route = router.route(&mut scratch, state, &turn.message.value, &tools);
                state = route.decision.next;
                if let Some(expect) = &turn.expect {
                    let span = turn.message.span;
                    let file = library.files.get(span.file as usize).map_or("", |file| file.name.as_str());
                    out.push(Outcome {
                        test: name.clone(),
                        at: format!("{file}:{}", library.line(span)),
                        span,
                        after: after.clone(),
                        message: turn.message.value.clone(),
                        failures: failures(expect, &route),
                    });
                }
                after.push(turn.message.value.clone());
            }
        }
    }
    out
}

fn tools_of(test: &Test, pack: &Pack) -> ToolSet {
    let lists: Vec<&Value> =
        test.fields.iter().filter(|field| field.key.text == "tools").map(|field| &field.value).collect();
    if lists.is_empty() {
        return ToolSet::all(pack);
    }
    let mut names = Vec::new();
    for value in lists {
        if let Value::List(elements, _) = value {
            names.extend(elements.iter().filter_map(|element| match &element.scalar {
                Scalar::Word(name) => Some(name.text.as_str()),
                _ => None,
            }));
        }
    }
    ToolSet::named(pack, |name| names.contains(&name))
}

fn failures(expect: &Expect, route: &Route) -> Vec<String> {
    let mut out = Vec::new();
    let skill = route.skill.as_deref().unwrap_or("none");
    let named = expect.skills.iter().any(|name| name.text == skill);
    let wanted: Vec<&str> = expect.skills.iter().map(|name| name.text.as_str()).collect();
    let stage = route.decision.stage.name();
    if named == expect.not {
        let not = if expect.not { "not " } else { "" };
        out.push(format!("expected {not}{}, got {skill} by {stage}", wanted.join(" or ")));
    }
    if let Some(by) = &expect.by
        && by.text != stage
    {
        out.push(format!("expected by {}, got by {stage}", by.text));
    }
    match &expect.offers {
        Some(Offers::These(names)) => {
            let wanted: Vec<&str> = names.iter().map(|name| name.text.as_str()).collect();
            let offered =
                route.tools.as_ref().map(|tools| tools.iter().map(String::as_str).collect::<Vec<_>>());
            if offered.as_deref() != Some(wanted.as_slice()) {
                out.push(format!("expected offers {}, got {}", list(&wanted), shown(route)));
            }
        }
        Some(Offers::Word(word)) => {
            let fits = match word.text.as_str() {
                "all" => route.tools.is_none(),
                _ => route.tools.as_ref().is_some_and(Vec::is_empty),
            };
            if !fits {
                out.push(format!("expected offers {}, got {}", word.text, shown(route)));
            }
        }
        None => {}
    }
    for (name, value) in &expect.binds {
        let bound = route.bindings.iter().find(|binding| binding.name == name.text);
        if bound.is_none_or(|bound| bound.text != value.value) {
            let found = bound.map_or("nothing".to_owned(), |bound| format!("\"{}\"", bound.text));
            out.push(format!("expected {} = \"{}\", got {found}", name.text, value.value));
        }
    }
    if let Some(call) = &expect.opens {
        let wanted: BTreeMap<&str, String> = call
            .arguments
            .iter()
            .map(|(name, value)| {
                let value = match value {
                    Scalar::Text(text) => text.value.clone(),
                    Scalar::Number(word) | Scalar::Word(word) => word.text.clone(),
                    Scalar::Regex(_) | Scalar::Call(_) => String::new(),
                };
                (name.text.as_str(), value)
            })
            .collect();
        let found = route.opening.as_ref().map(|opening| {
            let arguments: BTreeMap<&str, String> = opening
                .arguments
                .iter()
                .map(|(name, value)| {
                    (name.as_str(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
                })
                .collect();
            (opening.tool.as_str(), arguments)
        });
        if found.as_ref().is_none_or(|(tool, arguments)| *tool != call.name.text || *arguments != wanted) {
            let found = found.map_or("no opening call".to_owned(), |(tool, arguments)| {
                let shown: Vec<String> =
                    arguments.iter().map(|(name, value)| format!("{name}: \"{value}\"")).collect();
                format!("{tool}({})", shown.join(", "))
            });
            let shown: Vec<String> =
                wanted.iter().map(|(name, value)| format!("{name}: \"{value}\"")).collect();
            out.push(format!("expected opens {}({}), got {found}", call.name.text, shown.join(", ")));
        }
    }
    out
}

fn list(names: &[&str]) -> String {
    format!("[{}]", names.join(", "))
}

fn shown(route: &Route) -> String {
    match &route.tools {
        None => "all".to_owned(),
        Some(tools) if tools.is_empty() => "none".to_owned(),
        Some(tools) => list(&tools.iter().map(String::as_str).collect::<Vec<_>>()),
    }
}
