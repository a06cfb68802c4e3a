//! Time to route one message by the shipped library: `cargo bench -p skill-evals --bench route`.
//!
//! Reads labelled messages from the file that `SKILLC_UTTERANCES` names, else the committed ones. Per message the
//! median of 101 repeats on warm caches, trace off; p50 and p99 over messages. Then the same German messages
//! written with umlauts and with ae, oe, ue, ss: the mean of the ratios.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a bench prints, and stops at what it cannot read"
)]

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use skill_compiler::{Limits, SourceFile, compile};
use skill_evals::labelled::{self, Labelled};
use skill_runtime::artifact::Pack;
use skill_runtime::router::{Router, Scratch, State, ToolSet};

const REPEATS: usize = 101;

/// Which messages a row counts.
type Filter = fn(&Labelled) -> bool;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = std::env::var_os("SKILLC_UTTERANCES")
        .map_or_else(|| root.join("data/messages.tsv"), std::path::PathBuf::from);
    let text = std::fs::read_to_string(&path).expect("the messages can be read");
    let messages: Vec<Labelled> = labelled::read(&text).filter_map(Result::ok).collect();
    let library = library(&root.join("../skills"));
    let compiled = compile(&library, &Limits::default());
    let pack = Pack::from_bytes(&compiled.artifact.expect("the shipped library compiles")).expect("it loads");
    let router = Router::new(&pack);
    let tools = ToolSet::all(&pack);
    let mut scratch = Scratch::default();
    let mut median = |message: &str| {
        let mut times = [0_u128; REPEATS];
        for time in &mut times {
            let start = Instant::now();
            black_box(router.decide(&mut scratch, State::default(), black_box(message), &tools));
            *time = start.elapsed().as_nanos();
        }
        times.sort_unstable();
        times[REPEATS / 2] as f64
    };
    let timer = {
        let mut times: Vec<u128> = (0..1001).map(|_| Instant::now().elapsed().as_nanos()).collect();
        times.sort_unstable();
        times[500]
    };
    println!(
        "{} messages from {}; the timer itself takes {timer} ns (not subtracted)",
        messages.len(),
        path.display()
    );
    let groups: [(&str, Filter); 4] = [
        ("all", |_| true),
        ("German", |m| m.language == "de"),
        ("English", |m| m.language == "en"),
        ("non-ASCII", |m| !m.message.is_ascii()),
    ];
    let timed: Vec<(&Labelled, f64)> = messages.iter().map(|m| (m, median(&m.message))).collect();
    for (name, belongs) in groups {
        let mut times: Vec<f64> = timed.iter().filter(|(m, _)| belongs(m)).map(|(_, time)| *time).collect();
        if times.is_empty() {
            continue;
        }
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        println!(
            "{name:10} {:5} messages  p50 {:5.0} ns  p90 {:5.0} ns  p99 {:5.0} ns  max {:6.0} ns",
            times.len(),
            at(0.5),
            at(0.9),
            at(0.99),
            at(1.0)
        );
    }
    let pairs = [("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss"), ("Ä", "Ae"), ("Ö", "Oe"), ("Ü", "Ue")];
    let mut ratios = Vec::new();
    for message in messages.iter().filter(|m| pairs.iter().any(|(umlaut, _)| m.message.contains(umlaut))) {
        let plain =
            pairs.iter().fold(message.message.clone(), |text, (umlaut, ascii)| text.replace(umlaut, ascii));
        ratios.push(median(&message.message) / median(&plain).max(1.0));
    }
    if !ratios.is_empty() {
        ratios.sort_by(f64::total_cmp);
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        println!(
            "umlauts against ae/oe/ue/ss, same text: {} messages, mean ratio {mean:.3}, median {:.3}",
            ratios.len(),
            ratios[ratios.len() / 2]
        );
    }
}

fn library(folder: &Path) -> Vec<SourceFile> {
    let mut out = Vec::new();
    for folder in [folder.to_owned(), folder.join("lang")] {
        let entries = std::fs::read_dir(&folder).expect("the library can be read");
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            if path.extension().is_some_and(|ending| ending == "skill") {
                let bytes = std::fs::read(&path).expect("a skill file can be read");
                out.push(SourceFile { name: path.display().to_string(), bytes });
            }
        }
    }
    out
}
