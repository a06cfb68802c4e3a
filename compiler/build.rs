//! Packs `dictionary/words.txt` into the map that [`crate::dictionary`] reads.
#![expect(clippy::disallowed_methods, reason = "a build script reads and writes files; the library does not")]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    const WORDS: &str = "dictionary/words.txt";
    println!("cargo::rerun-if-changed={WORDS}");
    let text = fs::read_to_string(WORDS).map_err(|error| format!("{WORDS}: {error}"))?;
    // Of each word a byte a language, German below: how rare it is, 0 where the language lacks it. Then 1 for a name.
    let mut ranks: BTreeMap<&str, u64> = BTreeMap::new();
    let mut rank = None;
    for line in text.lines().filter(|line| !line.starts_with("//")) {
        match (line.strip_prefix("# "), rank) {
            (Some(section), _) => rank = Some(packed(section)?),
            (None, Some(rank)) => *ranks.entry(line).or_default() |= rank,
            (None, None) => return Err(format!("{WORDS}: a word before the first section: {line}").into()),
        }
    }
    let map = fst::Map::from_iter(ranks)?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    fs::write(out.join("words.fst"), map.as_fst().as_bytes())?;
    Ok(())
}

/// The value of the words in a section `LANGUAGE NUMBER` or `name`.
fn packed(section: &str) -> Result<u64, Box<dyn Error>> {
    if section == "name" {
        return Ok(1 << 16);
    }
    let (language, number) = section.split_once(' ').ok_or("a section without a number")?;
    let number = u64::from(number.parse::<u8>()?);
    match language {
        "de" => Ok(number),
        "en" => Ok(number << 8),
        other => Err(format!("no language of the dictionary: {other}").into()),
    }
}
