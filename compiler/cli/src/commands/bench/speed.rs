//! How fast a model reads, writes and copies, alone and with several conversations at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use skill_runtime::artifact::ToolDeclaration;
use skill_runtime::model::{
    Bounds, Calls, LanguageModel, Limits, Message, Model, Processor, Prompt, Sampling, Scheduler,
};

use super::median;
use crate::Failure;

/// Runs whose median is a figure, where it can be chosen for none.
const RUNS: usize = 5;
/// Tokens of the prompt that is read, and most of a text that is written.
const READ: usize = 512;
const WRITTEN: usize = 64;
/// Conversations at once.
pub(super) const PARALLEL: usize = 4;

const STORY: &str = "Write a very long story about a ship and its crew.";
/// Answers that copy, as those do that say what a tool returned.
const COPIED: [&str; 3] = [
    "Repeat this text word for word:\n\nOpening hours of the Torvik Library: Monday to Friday 9:30 to 18:00, Saturday \
     10:00 to 14:00, closed on Sunday. Phone 0555 219 30. The reading room is closed until 4 March.",
    "Schreibe diesen Text noch einmal:\n\nDie Lindmarkbrücke wurde von 1874 bis 1879 von der Ingenieurin Ada Torvik \
     gebaut. Sie ist 312 Meter lang, hat zwei Fahrspuren und einen Gehweg.",
    "Repeat this text twice:\n\nThe Lindmark Bridge was built between 1874 and 1879 by the engineer Ada Torvik. It is \
     312 metres long and carries two lanes and a footpath.",
];

/// What is measured, as tokens: others can be measured on the same.
pub(super) struct Workload {
    pub(super) read: Vec<u32>,
    pub(super) write: Vec<u32>,
    pub(super) copy: Vec<Vec<u32>>,
    texts: (String, String, Vec<String>),
}

/// Tokens a second: of a prompt, of a text, of copied texts with and without guesses.
pub(super) struct Speeds {
    pub(super) read: f64,
    pub(super) write: f64,
    pub(super) copy: f64,
    pub(super) copy_plain: f64,
}

impl Workload {
    pub(super) fn new(processor: &Processor) -> Result<Self, Failure> {
        let mut prompt = String::new();
        let mut read = Vec::new();
        while read.len() < READ {
            prompt.push_str("The river rises in the hills, runs through the town and falls into the sea. ");
            read = processor.tokens(&prompt)?;
        }
        let render = |message: &str| processor.render(&[Message::new("user", message)], &[]);
        let (story, copied) =
            (render(STORY)?, COPIED.map(render).into_iter().collect::<Result<Vec<_>, _>>()?);
        let copy = copied.iter().map(|text| processor.tokens(text)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { read, write: processor.tokens(&story)?, copy, texts: (prompt, story, copied) })
    }

    /// Medians of some runs.
    pub(super) fn measure(&self, model: &mut Model, runs: usize) -> Result<Speeds, Failure> {
        let (prompt, story, copied) = &self.texts;
        let processor = Arc::clone(model.processor());
        let (plain, guessing) = (greedy(&processor, false), greedy(&processor, true));
        let mut speeds: [Vec<f64>; 4] = Default::default();
        for _ in 0..runs {
            model.forget();
            let start = Instant::now();
            model.logits(Prompt { text: prompt, shared: 0 })?;
            let read = self.read.len() as f64 / start.elapsed().as_secs_f64();
            let write = decode(model, std::slice::from_ref(story), &plain)?;
            let (copy, copy_plain) = (decode(model, copied, &guessing)?, decode(model, copied, &plain)?);
            for (all, one) in speeds.iter_mut().zip([read, write, copy, copy_plain]) {
                all.push(one);
            }
        }
        let [read, write, copy, copy_plain] = speeds.map(median);
        Ok(Speeds { read, write, copy, copy_plain })
    }
}

fn greedy(processor: &Processor, speculates: bool) -> Sampling {
    Sampling {
        temperature: 0.0,
        repetition_penalty: 1.0,
        max_new_tokens: WRITTEN,
        speculates,
        ..Sampling::of(processor.generation(), 0)
    }
}

/// Tokens a second behind the first of each text.
fn decode(model: &mut Model, texts: &[String], sampling: &Sampling) -> Result<f64, Failure> {
    let stop = AtomicBool::new(false);
    let (mut tokens, mut seconds) = (0, 0.0);
    for text in texts {
        let prompt = Prompt { text, shared: 0 };
        let written = model.write(prompt, sampling, Bounds::of(Calls::None), &stop, &mut |_| {})?;
        tokens += written.tokens.saturating_sub(1);
        seconds += written.decoding.as_secs_f64();
    }
    Ok(tokens as f64 / seconds)
}

/// Tokens a second of one conversation, and of several at once together; each with its prompt.
pub(super) fn parallel(model: Model) -> Result<(f64, f64), Failure> {
    let scheduler = Scheduler::start(model, Limits::default())?;
    let processor = Arc::clone(scheduler.processor());
    let stop = AtomicBool::new(false);
    let ask = |number: usize| -> Result<usize, Failure> {
        let message = format!("Write a very long story about ship number {number} and its crew.");
        let text = processor.render(&[Message::new("user", message)], &[])?;
        let sampling = greedy(&processor, false);
        let prompt = Prompt { text: &text, shared: 0 };
        let bounds = Bounds::of(Calls::None);
        Ok(scheduler.clone().write(prompt, &sampling, bounds, &stop, &mut |_| {})?.tokens)
    };
    let (mut one, mut several) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let start = Instant::now();
        let written = ask(0)?;
        one.push(written as f64 / start.elapsed().as_secs_f64());
        let start = Instant::now();
        let written = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..PARALLEL).map(|number| scope.spawn(move || ask(number))).collect();
            threads.into_iter().try_fold(0, |sum, thread| {
                let written = thread.join().map_err(|_| Failure::Usage("a thread panicked".to_owned()))?;
                Ok::<usize, Failure>(sum + written?)
            })
        })?;
        several.push(written as f64 / start.elapsed().as_secs_f64());
    }
    Ok((median(one), median(several)))
}

/// Microseconds a token of finding out which tokens a call admits; None where the library has no tools.
pub(super) fn masks(model: &mut Model, tools: &[ToolDeclaration]) -> Result<Option<f64>, Failure> {
    if tools.is_empty() {
        return Ok(None);
    }
    let text = model.processor().render(&[Message::new("user", "What is 3 * (4 + 5)?")], &[])?;
    let stop = AtomicBool::new(false);
    let mut times = Vec::new();
    for seed in 0..RUNS as u64 {
        let sampling = Sampling::of(model.processor().generation(), seed);
        let prompt = Prompt { text: &text, shared: 0 };
        let written = model.write(prompt, &sampling, Bounds::of(Calls::Must(tools)), &stop, &mut |_| {})?;
        let (time, count) = written.masking;
        times.push(time.as_secs_f64() * 1e6 / count.max(1) as f64);
    }
    Ok(Some(median(times)))
}
