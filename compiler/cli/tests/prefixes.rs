//! Beginnings of prompts that are computed once: the real model, bit for bit.

mod support;

use std::sync::atomic::AtomicBool;

use skill_runtime::model::{Bounds, Calls, LanguageModel, Model, Prompt, Sampling};
use support::model;

const SHARED: &str = "<|im_start|>system\nYou are a helpful assistant. Be concise and say where you know it from.\
    <|im_end|>\n<|im_start|>user\nWhat is rain?<|im_end|>\n<|im_start|>assistant\nWater that falls from clouds.\
    <|im_end|>\n";

fn bits(logits: &[f32]) -> Vec<u32> {
    logits.iter().map(|logit| logit.to_bits()).collect()
}

#[test]
fn logits_behind_a_known_beginning_are_those_of_one_prefill_bit_for_bit() {
    let mut model = model();
    assert!(model.is_in_place(), "the embedded default writes its caches in place");
    let prompts = ["Where does snow come from?", "Wie entsteht Hagel?", "x"]
        .map(|question| format!("{SHARED}<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"));
    let cold: Vec<(Vec<u32>, usize)> = prompts
        .iter()
        .map(|text| {
            model.forget();
            let (logits, computed) = model.logits(Prompt { text, shared: 0 }).expect("logits");
            (bits(&logits), computed)
        })
        .collect();
    // From what the prompt before left behind, then from the beginning that was kept.
    model.forget();
    for round in 0..2 {
        for (text, (expected, all)) in prompts.iter().zip(&cold) {
            let (logits, computed) = model.logits(Prompt { text, shared: SHARED.len() }).expect("logits");
            assert_eq!(&bits(&logits), expected, "round {round}: {text}");
            assert!(round == 0 || computed * 2 < *all, "{computed} of {all} computed for {text}");
            let other = "Something else altogether, of no skill.";
            model.logits(Prompt { text: other, shared: 0 }).expect("logits");
        }
    }
    assert!(model.kept_bytes() > 0);
    // The same prompt again: all but two of its tokens are known.
    let again = prompts.first().expect("a prompt");
    model.logits(Prompt { text: again, shared: SHARED.len() }).expect("logits");
    let (logits, computed) = model.logits(Prompt { text: again, shared: SHARED.len() }).expect("logits");
    assert_eq!(computed, 2);
    assert_eq!(Some(&bits(&logits)), cold.first().map(|(logits, _)| logits));
}

#[test]
fn a_conversation_longer_than_its_buffers_writes_what_it_would_have_written() {
    let mut model = model();
    let stop = AtomicBool::new(false);
    let words = "The river rises in the hills and falls into the sea. ".repeat(75);
    let text = format!("<|im_start|>user\n{words}\nSay it again.<|im_end|>\n<|im_start|>assistant\n");
    let count = model.processor().tokens(&text).expect("tokens").len();
    assert!((900..1020).contains(&count), "{count} tokens: the buffers of 1,024 grow while it writes");
    let sampling =
        Sampling { temperature: 0.0, max_new_tokens: 140, ..Sampling::of(model.processor().generation(), 0) };
    let write = |model: &mut Model| {
        let prompt = Prompt { text: &text, shared: 0 };
        model.write(prompt, &sampling, Bounds::of(Calls::None), &stop, &mut |_| {}).expect("it writes")
    };
    let first = write(&mut model);
    let again = write(&mut model);
    assert_eq!((first.prefilled_tokens, again.prefilled_tokens), (count, 2));
    assert_eq!(first.text, again.text);
}
