//! Tool calls that the real model writes. Whatever it would like to write, only offered calls come out.

mod support;

use std::sync::atomic::AtomicBool;

use serde_json::Value;
use skill_runtime::artifact::{Parameter, ParameterType, ToolDeclaration, ToolOrigin};
use skill_runtime::model::{Bounds, Calls, Ending, LanguageModel, Message, Prompt, Sampling};
use support::{chat_with, model};

fn tool(name: &str, parameters: &[(&str, ParameterType)]) -> ToolDeclaration {
    let parameters = parameters.iter().map(|(name, kind)| Parameter {
        name: (*name).to_owned(),
        kind: kind.clone(),
        optional: false,
        default: None,
        schema: None,
    });
    ToolDeclaration {
        name: name.to_owned(),
        parameters: parameters.collect(),
        origin: ToolOrigin::Computed,
        description: String::new(),
    }
}

#[test]
fn at_any_temperature_a_required_call_is_an_offered_one_and_free_text_begins_none() {
    let mut model = model();
    let tools = [
        tool("calculator", &[("expression", ParameterType::Text)]),
        tool("lamp", &[("state", ParameterType::OneOf(vec!["on".into(), "off".into()]))]),
    ];
    let ask = |text: &str| vec![Message::new("user", text)];
    let prompt = model
        .processor()
        .render(&ask("Who founded the refrigeration company Stripe?"), &[])
        .expect("it renders");
    let stop = AtomicBool::new(false);
    let mut masks = (0.0, 0);
    for seed in 0..6 {
        let sampling = Sampling {
            temperature: 2.0,
            max_new_tokens: 8,
            ..Sampling::of(model.processor().generation(), seed)
        };
        let mut shown = String::new();
        let written = model
            .write(
                Prompt { text: &prompt, shared: 0 },
                &sampling,
                Bounds::of(Calls::Must(&tools)),
                &stop,
                &mut |text| shown.push_str(text),
            )
            .expect("it writes");
        assert_eq!(written.ending, Ending::Call, "a call is not cut at the limit of the text");
        let call = written.call.expect("a call");
        let text = call.arguments.values().next().and_then(Value::as_str).expect("an argument");
        match call.tool.as_str() {
            "calculator" => assert!(!text.is_empty()),
            "lamp" => assert!(["on", "off"].contains(&text), "{text}"),
            other => unreachable!("{other} was not offered"),
        }
        assert_eq!(shown, "", "a call is never shown");
        masks = (masks.0 + written.masking.0.as_secs_f64() * 1e6, masks.1 + written.masking.1);
    }
    println!("masks: {:.0} µs a token over {} tokens", masks.0 / masks.1 as f64, masks.1);
    let begun = "Repeat exactly: <tool_call>{\"name\": \"lamp\"}</tool_call>";
    let prompt = model.processor().render(&ask(begun), &[]).expect("it renders") + "<tool_call";
    let sampling =
        Sampling { temperature: 0.0, max_new_tokens: 12, ..Sampling::of(model.processor().generation(), 0) };
    let written = model
        .write(Prompt { text: &prompt, shared: 0 }, &sampling, Bounds::of(Calls::None), &stop, &mut |_| {})
        .expect("it writes");
    assert!(written.call.is_none() && !written.text.contains("<tool_call>"), "{}", written.text);
}

#[test]
fn a_call_that_code_cannot_make_is_written_by_the_model_and_its_result_is_quoted() {
    let source = r#"
tool calculator(expression: text) computed "Calculates an expression such as 3 * (4 + 5)."
skill shopping {
  description: "Adds up what things cost."
  tools: [calculator]
  answer: quote
  trigger: "(cost|kosten)"
  guidance: "Call calculator with the sum as an expression."
  exemplar "What do three books of 12 euros cost together?" {
    calculator(expression: "3 * 12") => """36"""
    answer: "36"
  }
}
"#;
    let reply = chat_with(source, &["--greedy", "What do four apples of 3 euros cost?"]);
    let run = &reply["tools_run"][0];
    assert_eq!(run["name"], "calculator");
    assert_eq!(reply["model_ran"], true);
    assert_eq!(reply["reply"], run["result"], "code quotes what the tool returned: {reply}");
    assert_eq!(reply["labels"], Value::Array(Vec::new()));
}

#[test]
fn a_grounded_answer_holds_figures_of_the_evidence_only() {
    let source = r#"
tool calculator(expression: text) computed "Calculates an expression such as 3 * (4 + 5)."
skill age {
  description: "Says how old something is."
  tools: [calculator]
  answer: grounded
  opening: calculator(expression: "2026 - 1874")
  trigger: "how old"
}
"#;
    let allowed = ["2026", "1874", "152", "2,026", "1,874"];
    for seed in ["1", "2", "3"] {
        let reply = chat_with(
            source,
            &[
                "--answers",
                "author",
                "--temperature",
                "1.5",
                "--max-tokens",
                "60",
                "--seed",
                seed,
                "How old is the mill? List years and numbers about it.",
            ],
        );
        let text = reply["reply"].as_str().expect("a text");
        let mut figures = text.split(|c: char| !c.is_ascii_digit() && c != ',').filter(|word| word.len() > 1);
        let foreign = figures
            .find(|word| !allowed.contains(&word.trim_matches(',')) && word.trim_matches(',').len() > 1);
        assert_eq!(foreign, None, "{text}");
        assert!(!text.contains("http"), "{text}");
    }
}
