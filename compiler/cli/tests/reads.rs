//! What reading costs: pages side by side within bounded memory, and how long research takes. Alone in its process, so
//! that the memory is its own.
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test stops at what it does not expect, and prints"
)]

mod support;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use skill_runtime::research::{Tongue, open, research};
use support::Demo;

/// Most memory that this process may ever have had, in MiB: fifty pages at once, the client and the test itself.
const MOST_MIB: u64 = 100;

/// The most memory that this process had, in MiB; None where the system does not say.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib / 1024)
}

/// Addresses of pages of the demo web.
fn pages() -> Vec<String> {
    let text = std::fs::read_to_string(support::root().join("evals/web/sites.toml")).expect("it is there");
    let pages = text.split("[[fault]]").next().expect("pages");
    pages
        .lines()
        .filter_map(|line| Some(line.strip_prefix("url = \"")?.trim_end_matches('"').to_owned()))
        .collect()
}

#[test]
fn fifty_pages_are_read_side_by_side_within_a_hundred_mebibytes() {
    let demo = Demo::start();
    let fetcher = Arc::new(demo.fetcher());
    let urls: Vec<String> = pages().into_iter().take(50).collect();
    assert_eq!(urls.len(), 50);
    let start = Instant::now();
    let threads: Vec<_> = urls
        .into_iter()
        .map(|url| {
            let fetcher = Arc::clone(&fetcher);
            std::thread::spawn(move || {
                let stop = AtomicBool::new(false);
                let page = fetcher.block_on(open(&fetcher, &url, Tongue::English, &stop)).expect(&url);
                assert!(page.page.text().len() > 100, "{url}");
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("it was read");
    }
    let took = start.elapsed();
    let peak = peak_mib();
    println!("50 pages side by side: {took:?}, {peak:?} MiB at most");
    assert!(peak.is_none_or(|peak| peak < MOST_MIB), "{peak:?} MiB");

    // Times are printed and not judged: machines differ.
    let stop = AtomicBool::new(false);
    let mut times = Vec::new();
    for question in [
        "Who is the CEO of Nvidia?",
        "What is the capital of France?",
        "Wer hat Dune geschrieben?",
        "Wie hoch ist der Eiffelturm?",
        "Was ist Photosynthese?",
    ] {
        let tongue = skill_runtime::research::tongue(question).unwrap_or(Tongue::English);
        for _ in 0..3 {
            // A client of its own: pauses between requests to one host are no work.
            let fetcher = demo.fetcher();
            let start = Instant::now();
            let found = fetcher.block_on(research(&fetcher, question, tongue, &stop)).expect(question);
            times.push(start.elapsed());
            assert!(!found.sources.is_empty());
        }
    }
    times.sort();
    println!("research, loopback included: median {:?} of {}", times.get(times.len() / 2), times.len());
}
