//! Writes one test function a case, so that a failure names its case.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).to_owned();
    let mut out = String::new();
    let pages = root.join("../compiler/src/diagnostics/pages");
    println!("cargo::rerun-if-changed={}", pages.display());
    let mut codes: Vec<String> = fs::read_dir(&pages)?
        .filter_map(Result::ok)
        .filter_map(|entry| entry.path().file_stem().map(|stem| stem.to_string_lossy().into_owned()))
        .collect();
    codes.sort();
    for code in codes {
        let name = code.to_lowercase();
        writeln!(out, "#[test]\nfn diagnostic_{name}() {{\n    diagnostic({code:?});\n}}\n")?;
    }
    let prompts = root.join("cases/prompts.tsv");
    println!("cargo::rerun-if-changed={}", prompts.display());
    for line in fs::read_to_string(prompts)?.lines().filter(|line| !line.starts_with('#') && !line.is_empty())
    {
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, message, after] = columns.as_slice() else {
            return Err(format!("not three columns: {line}").into());
        };
        let function = name.replace('-', "_");
        writeln!(
            out,
            "#[test]\nfn prompt_{function}() {{\n    prompt({name:?}, {message:?}, {after:?});\n}}\n"
        )?;
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("cases.rs"), out)?;
    Ok(())
}
