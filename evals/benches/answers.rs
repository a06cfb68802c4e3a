//! Times what stands between a page and a checked answer: taking pages apart, choosing passages, checking answers.

#![allow(clippy::print_stdout, reason = "a bench says what it measured")]

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Deserialize;
use skill_runtime::net::decode;
use skill_runtime::reading::{Page, read_html};
use skill_runtime::research::{Tongue, best_passages};
use skill_runtime::review::{Material, Ran, Said, review};

const ROUNDS: u32 = 15;

#[derive(Deserialize)]
struct Turn {
    question: String,
    history: Vec<Said>,
    tools: Vec<Ran>,
    answer: String,
}

/// The median of so many runs.
fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn pages(folder: &Path, found: &mut Vec<String>) {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            pages(&path, found);
        } else if let Ok(bytes) = std::fs::read(&path) {
            found.push(decode(&bytes, None).into_owned());
        }
    }
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = Vec::new();
    pages(&root.join("web/pages"), &mut texts);
    let bytes: usize = texts.iter().map(String::len).sum();
    let time = median(|| {
        for text in &texts {
            black_box(read_html(text).text());
        }
    });
    println!(
        "extraction: {:.1} MB/s ({} pages, {:.2} MB)",
        bytes as f64 / 1e6 / time.as_secs_f64(),
        texts.len(),
        bytes as f64 / 1e6
    );
    let read: Vec<Page> = texts.iter().take(3).map(|text| read_html(text)).collect();
    let three: Vec<&Page> = read.iter().collect();
    let time = median(|| {
        black_box(best_passages("Who is the chancellor of Germany and since when?", Tongue::English, &three));
    });
    println!("passages of three pages: {:.2} ms", time.as_secs_f64() * 1e3);
    let turns: Vec<Turn> = include_str!("../data/reviews.jsonl")
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let language = skill_runtime::artifact::LanguageText::default();
    let time = median(|| {
        for turn in &turns {
            black_box(review(&Material {
                question: &turn.question,
                history: &turn.history,
                tools: &turn.tools,
                offered: &[],
                recalled: &[],
                answer: &turn.answer,
                languages: &[],
                language: &language,
            }));
        }
    });
    println!(
        "review: {:.3} ms an answer ({} answers)",
        time.as_secs_f64() * 1e3 / turns.len() as f64,
        turns.len()
    );
}
