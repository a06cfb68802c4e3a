//! Many conversations with one model: the real model, threads that ask at once.
#![allow(clippy::expect_used, reason = "a test stops at what it does not expect")]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use skill_runtime::model::{
    Bounds, Calls, Ending, LanguageModel, Limits, Message, ModelError, Prompt, Sampling, Scheduler, Written,
};
use support::model;

fn prompt(scheduler: &Scheduler, message: &str) -> String {
    scheduler.processor().render(&[Message::new("user", message)], &[]).expect("it renders")
}

fn sampling(scheduler: &Scheduler, tokens: usize) -> Sampling {
    Sampling {
        temperature: 0.0,
        max_new_tokens: tokens,
        ..Sampling::of(scheduler.processor().generation(), 0)
    }
}

/// Asks and returns what was written, which must be what was shown.
fn ask(
    scheduler: &Scheduler,
    message: &str,
    tokens: usize,
    stop: &AtomicBool,
    on_text: &mut dyn FnMut(&str),
) -> Result<Written, ModelError> {
    let text = prompt(scheduler, message);
    let mut shown = String::new();
    let written = scheduler.clone().write(
        Prompt { text: &text, shared: 0 },
        &sampling(scheduler, tokens),
        Bounds::of(Calls::None),
        stop,
        &mut |piece| {
            shown.push_str(piece);
            on_text(piece);
        },
    )?;
    assert_eq!(shown, written.text);
    Ok(written)
}

const QUESTIONS: [&str; 6] = [
    "Write a long story about a ship and its crew.",
    "Schreibe eine lange Geschichte über einen Bäcker.",
    "List the months of the year.",
    "What is a bridge?",
    "Explain in many sentences how bread is made.",
    "Count from one to fifty in words.",
];

#[test]
fn conversations_side_by_side_write_what_they_would_write_alone() {
    let scheduler = Scheduler::start(model(), Limits::default()).expect("it starts");
    let go_on = AtomicBool::new(false);
    let alone: Vec<Written> = QUESTIONS
        .iter()
        .map(|question| ask(&scheduler, question, 40, &go_on, &mut |_| {}).expect("a reply"))
        .collect();
    let together: Vec<Written> = thread::scope(|scope| {
        let threads: Vec<_> = QUESTIONS
            .iter()
            .map(|question| {
                scope.spawn(|| ask(&scheduler, question, 40, &go_on, &mut |_| {}).expect("a reply"))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    for (question, (alone, together)) in QUESTIONS.iter().zip(alone.iter().zip(&together)) {
        // Kernels for many rows round otherwise: a difference begins where two tokens were about equally likely.
        let same = alone.ids.iter().zip(&together.ids).take_while(|(a, b)| a == b).count();
        if same < alone.ids.len().max(together.ids.len()) {
            let lead = alone.leads.get(same).or(together.leads.get(same)).copied().expect("a token");
            assert!(lead < 0.5, "{question}: token {same} had a lead of {lead}");
        }
        assert!(together.tokens > 3, "{question}: {}", together.text);
    }
    // A conversation goes on from what it computed, though others came between.
    for question in ["What is a bridge?", "Say one word.", "Nenne eine Farbe."] {
        ask(&scheduler, question, 8, &go_on, &mut |_| {}).expect("a reply");
    }
    let again = ask(&scheduler, "What is a bridge?", 40, &go_on, &mut |_| {}).expect("a reply");
    assert!(again.prefilled_tokens < again.prompt_tokens / 2, "{again:?}");
}

#[test]
fn a_short_reply_does_not_wait_for_long_ones() {
    let scheduler = Scheduler::start(model(), Limits::default()).expect("it starts");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let (sender, begun) = std::sync::mpsc::channel();
        let long: Vec<_> = QUESTIONS
            .iter()
            .take(2)
            .map(|question| {
                let (sender, scheduler, stop) = (sender.clone(), &scheduler, &stop);
                scope.spawn(move || {
                    ask(scheduler, question, 2_000, stop, &mut |_| {
                        let _ = sender.send(());
                    })
                })
            })
            .collect();
        begun.recv().expect("the first token");
        let short =
            ask(&scheduler, "Say one word.", 6, &AtomicBool::new(false), &mut |_| {}).expect("a reply");
        assert!(short.tokens > 0);
        assert!(long.iter().all(|thread| !thread.is_finished()), "the long ones still write");
        // What is stopped ends between two tokens.
        let start = Instant::now();
        stop.store(true, Ordering::Relaxed);
        for thread in long {
            let written = thread.join().expect("no panic").expect("a reply");
            assert_eq!(written.ending, Ending::Stopped);
        }
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    });
    // The model goes on for others.
    let after = ask(&scheduler, "Say one word.", 6, &AtomicBool::new(false), &mut |_| {}).expect("a reply");
    assert!(after.tokens > 0);
}

#[test]
fn one_more_than_may_wait_is_refused_and_a_stopped_one_leaves_the_queue() {
    let limits = Limits { side_by_side: 1, waiting: 1 };
    let scheduler = Scheduler::start(model(), limits).expect("it starts");
    let (stop, leave) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        let (sender, begun) = std::sync::mpsc::channel();
        let (running, waits, never) = (&scheduler, &leave, AtomicBool::new(false));
        let first = scope.spawn({
            let stop = &stop;
            move || {
                ask(running, "Write a long story.", 2_000, stop, &mut |_| {
                    let _ = sender.send(());
                })
            }
        });
        begun.recv().expect("the first token");
        let second = scope.spawn(move || ask(running, "Wait for your turn.", 8, waits, &mut |_| {}));
        // The second takes the one place that there is to wait in; until it has, the third would.
        let start = Instant::now();
        let refused = loop {
            thread::sleep(Duration::from_millis(50));
            let hurry = AtomicBool::new(true);
            match ask(&scheduler, "No place is left.", 8, &hurry, &mut |_| {}) {
                Err(error) => break error,
                Ok(written) => assert_eq!((written.ending, written.tokens), (Ending::Stopped, 0)),
            }
            assert!(start.elapsed() < Duration::from_secs(20), "nothing was refused");
        };
        assert!(matches!(refused, ModelError::Busy { waiting: 1 }), "{refused}");
        leave.store(true, Ordering::Relaxed);
        let left = second.join().expect("no panic").expect("it ends");
        assert_eq!((left.ending, left.tokens), (Ending::Stopped, 0), "it never began");
        assert!(!first.is_finished());
        stop.store(true, Ordering::Relaxed);
        assert_eq!(first.join().expect("no panic").expect("a reply").ending, Ending::Stopped);
        let after = ask(&scheduler, "Say one word.", 6, &never, &mut |_| {}).expect("a reply");
        assert!(after.tokens > 0);
    });
}
