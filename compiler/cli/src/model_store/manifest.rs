//! The list of files that a cached folder holds, written last: tells a whole folder from a damaged one.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::fetch::StoreError;

/// Name of the list inside the folder.
const NAME: &str = "manifest.json";

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    bytes: u64,
    sha256: String,
}

/// How closely a folder is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Care {
    /// Every file is there with its size: microseconds, on every start.
    Sizes,
    /// Every byte is as it was written.
    Contents,
}

/// What a cached folder is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// There is none.
    Missing,
    /// As it was written.
    Whole,
    /// It is not; why.
    Damaged(String),
}

/// Bytes of the files of a folder and those in it.
pub(super) fn size(folder: &Path) -> Result<u64, StoreError> {
    let mut total = 0;
    let mut open = vec![folder.to_owned()];
    while let Some(place) = open.pop() {
        let failed = |error| StoreError::io("read", &place, error);
        for entry in std::fs::read_dir(&place).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let found = entry.metadata().map_err(failed)?;
            if found.is_dir() {
                open.push(entry.path());
            } else {
                total += found.len();
            }
        }
    }
    Ok(total)
}

/// Lists the files of a finished folder in it.
pub(super) fn write(folder: &Path) -> Result<(), StoreError> {
    let mut entries = BTreeMap::new();
    let mut open = vec![PathBuf::new()];
    while let Some(inner) = open.pop() {
        let place = folder.join(&inner);
        let listed = std::fs::read_dir(&place).map_err(|error| StoreError::io("read", &place, error))?;
        for entry in listed {
            let entry = entry.map_err(|error| StoreError::io("read", &place, error))?;
            let name = inner.join(entry.file_name());
            let path = entry.path();
            let found = entry.metadata().map_err(|error| StoreError::io("read", &path, error))?;
            if found.is_dir() {
                open.push(name);
            } else {
                let name = name.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
                entries.insert(name, Entry { bytes: found.len(), sha256: sha256(&path)? });
            }
        }
    }
    let path = folder.join(NAME);
    let text = serde_json::to_string_pretty(&entries).unwrap_or_default() + "\n";
    std::fs::write(&path, text).map_err(|error| StoreError::io("write", &path, error))
}

/// Compares a folder with its list.
pub(super) fn check(folder: &Path, care: Care) -> Condition {
    if !folder.exists() {
        return Condition::Missing;
    }
    match compare(folder, care) {
        Ok(()) => Condition::Whole,
        Err(why) => Condition::Damaged(why),
    }
}

fn compare(folder: &Path, care: Care) -> Result<(), String> {
    let text = std::fs::read_to_string(folder.join(NAME)).map_err(|error| format!("{NAME}: {error}"))?;
    let entries: BTreeMap<String, Entry> =
        serde_json::from_str(&text).map_err(|error| format!("{NAME}: {error}"))?;
    for (name, entry) in &entries {
        let path = folder.join(name);
        let found = std::fs::metadata(&path).map_err(|error| format!("{name}: {error}"))?;
        if !found.is_file() || found.len() != entry.bytes {
            return Err(format!("{name} has {} bytes, not {}", found.len(), entry.bytes));
        }
        if care == Care::Contents && sha256(&path).map_err(|error| error.to_string())? != entry.sha256 {
            return Err(format!("{name} is not as it was written"));
        }
    }
    Ok(())
}

/// SHA-256 of a file, in hexadecimal digits.
pub(super) fn sha256(path: &Path) -> Result<String, StoreError> {
    let mut file = File::open(path).map_err(|error| StoreError::io("open", path, error))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer).map_err(|error| StoreError::io("read", path, error))?;
        if read == 0 {
            return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect());
        }
        hasher.update(buffer.get(..read).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_short_and_altered_files_are_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path();
        assert_eq!(check(&at.join("none"), Care::Sizes), Condition::Missing);
        assert!(matches!(check(at, Care::Sizes), Condition::Damaged(why) if why.contains(NAME)));
        std::fs::create_dir(at.join("onnx")).expect("a folder");
        std::fs::write(at.join("onnx/a"), "12345").expect("written");
        write(at).expect("listed");
        assert_eq!(check(at, Care::Contents), Condition::Whole);
        std::fs::write(at.join("onnx/a"), "12346").expect("written");
        assert_eq!(check(at, Care::Sizes), Condition::Whole);
        assert!(matches!(check(at, Care::Contents), Condition::Damaged(why) if why.contains("onnx/a")));
        std::fs::write(at.join("onnx/a"), "123").expect("written");
        assert!(matches!(check(at, Care::Sizes), Condition::Damaged(why) if why.contains("onnx/a")));
        std::fs::remove_file(at.join("onnx/a")).expect("removed");
        assert!(matches!(check(at, Care::Sizes), Condition::Damaged(why) if why.contains("onnx/a")));
    }
}
