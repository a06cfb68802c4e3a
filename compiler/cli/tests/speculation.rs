//! Tokens guessed from the text before and computed together: the real model, the same answers.
#![allow(clippy::expect_used, reason = "a test stops at what it does not expect")]

mod support;

use std::sync::atomic::AtomicBool;

use skill_runtime::model::{Bounds, Calls, LanguageModel, Message, Model, Prompt, Sampling, Written};
use support::model;

/// A difference is one between tokens that lie this close in logits, or it is a mistake.
const WIDEST: f32 = 0.2;
/// Tokens that are written both ways.
const TOKENS: usize = 2_000;

const RESULTS: [&str; 5] = [
    "The Lindmark Bridge was built between 1874 and 1879 by the engineer Ada Torvik. It is 312 metres long, carries \
     two lanes and a footpath, and was the first bridge over the Sull that stayed open in winter. In 1931 its wooden \
     deck was replaced by steel.",
    "Die Lindmarkbrücke wurde von 1874 bis 1879 von der Ingenieurin Ada Torvik gebaut. Sie ist 312 Meter lang, hat \
     zwei Fahrspuren und einen Gehweg und war die erste Brücke über die Sull, die im Winter offen blieb.",
    "Opening hours of the Torvik Library: Monday to Friday 9:30 to 18:00, Saturday 10:00 to 14:00, closed on Sunday. \
     Phone 0555 219 30. The reading room on the second floor is closed until 4 March.",
    "fn area(width: f64, height: f64) -> f64 {\n    width * height\n}\n\nfn main() {\n    let area = area(3.0, 4.5);\n    \
     println!(\"{area}\");\n}",
    "1. Wash the lentils. 2. Boil them with a bay leaf for twenty minutes. 3. Fry onions in oil until they are brown. \
     4. Stir in the lentils, salt and a spoon of vinegar. 5. Serve with bread and yoghurt.",
];
const TASKS: [&str; 7] = [
    "Repeat this text word for word:",
    "Repeat this text twice:",
    "What does this text say? Answer in the words of the text.",
    "Schreibe diesen Text noch einmal:",
    "Schreibe diesen Text ab, Wort für Wort:",
    "Quote the most important sentences of this text:",
    "Continue this text:",
];

fn write(model: &mut Model, text: &str, sampling: &Sampling) -> Written {
    let stop = AtomicBool::new(false);
    model
        .write(Prompt { text, shared: 0 }, sampling, Bounds::of(Calls::None), &stop, &mut |_| {})
        .expect("it writes")
}

#[test]
fn two_thousand_tokens_are_the_same_but_where_two_tokens_are_equally_likely() {
    let mut model = model();
    let plain = Sampling {
        temperature: 0.0,
        max_new_tokens: 400,
        speculates: false,
        ..Sampling::of(model.processor().generation(), 0)
    };
    let guessing = Sampling { speculates: true, ..plain.clone() };
    let (mut tokens, mut steps, mut narrow, mut wide) = (0, 0, Vec::new(), Vec::new());
    let mut widest = 0.0_f32;
    for (task, result) in TASKS.iter().flat_map(|task| RESULTS.iter().map(move |result| (task, result))) {
        let message = Message::new("user", format!("{task}\n\n{result}"));
        let text = model.processor().render(&[message], &[]).expect("it renders");
        let expected = write(&mut model, &text, &plain);
        let found = write(&mut model, &text, &guessing);
        assert_eq!(expected.steps + 1, expected.tokens + usize::from(expected.tokens < 400), "a run a token");
        let same = expected.ids.iter().zip(&found.ids).take_while(|(a, b)| a == b).count();
        let apart = expected.leads.iter().zip(&found.leads).take(same).map(|(a, b)| (a - b).abs());
        widest = apart.fold(widest, f32::max);
        tokens += expected.tokens;
        steps += found.steps;
        // One that ends where the other goes on differs there.
        if same < expected.ids.len().max(found.ids.len()) {
            let lead =
                [&expected, &found].iter().filter_map(|written| written.leads.get(same)).copied().next();
            let lead = lead.unwrap_or(f32::INFINITY);
            let said = format!("{task} token {same}: lead {lead}");
            if lead <= WIDEST { narrow.push(said) } else { wide.push(said) }
        }
    }
    println!("{tokens} tokens, {steps} runs with guesses; leads of one token differ by up to {widest}");
    println!("differences within {WIDEST}: {narrow:#?}, wider: {wide:#?}");
    assert!(tokens >= TOKENS, "{tokens} tokens");
    assert!(steps * 3 < tokens * 2, "{steps} runs for {tokens} tokens");
    assert!(wide.is_empty(), "{wide:#?}");
}
