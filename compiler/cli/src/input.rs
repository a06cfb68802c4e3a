//! Reads what a command is given: whole files of a bounded size, and text line by line.
//!
//! A line that cannot be used is a fault of its own with its number; the lines behind it are still read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::Path;

use crate::{Failure, platform};

/// Pieces of the longest line that are dropped before the input counts as endless: 1 GiB.
const MOST_PIECES: u32 = 64;
/// Longest line, in bytes.
const LONGEST_LINE: u64 = 16 << 20;

/// Reads a regular file, at most one byte beyond `limit`: whoever judges its size sees that it is over.
///
/// # Errors
/// It cannot be read, or is a folder, a device or a pipe, which may never end.
pub(crate) fn bytes(path: &Path, limit: usize) -> Result<Vec<u8>, Failure> {
    let failed = |error| Failure::file("read", path, error);
    // Looked at before it is opened: opening a pipe waits for a writer.
    let kind = std::fs::metadata(path).map_err(failed)?;
    if !kind.is_file() {
        let what = if kind.is_dir() { "it is a folder" } else { "it is a device or a pipe, no file" };
        return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, what)));
    }
    let mut bytes = Vec::with_capacity(kind.len().min(limit as u64) as usize);
    let file = File::open(path).map_err(failed)?;
    file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// Lines of a file or of standard input.
pub(crate) struct Lines {
    name: String,
    reader: Box<dyn BufRead>,
    raw: Vec<u8>,
    number: usize,
}

/// A line, or why it cannot be used.
pub(crate) struct Line<'a> {
    /// From 1.
    pub(crate) number: usize,
    /// Without its line break; the fault is worded to follow `FILE:LINE: `.
    pub(crate) text: Result<&'a str, String>,
}

impl Lines {
    /// Lines of standard input.
    pub(crate) fn of_stdin() -> Self {
        Self::new("standard input".to_owned(), Box::new(BufReader::with_capacity(1 << 18, io::stdin())))
    }

    /// Lines of a file; `-` is standard input.
    ///
    /// # Errors
    /// It cannot be opened, or is a folder.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        if path.as_os_str() == "-" {
            return Ok(Self::of_stdin());
        }
        let failed = |error| Failure::file("read", path, error);
        let file = File::open(path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        if found.is_dir() {
            return Err(failed(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder")));
        }
        if platform::is_device(&found) && !file.is_terminal() {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "it is a device, no file")));
        }
        Ok(Self::new(path.display().to_string(), Box::new(BufReader::with_capacity(1 << 18, file))))
    }

    fn new(name: String, reader: Box<dyn BufRead>) -> Self {
        Self { name, reader, raw: Vec::new(), number: 0 }
    }

    /// What messages call this input.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The next line; None at the end.
    ///
    /// # Errors
    /// The input cannot be read on.
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>, Failure> {
        let failed = |error| Failure::file("read", Path::new(&self.name), error);
        self.raw.clear();
        let read = (&mut self.reader).take(LONGEST_LINE).read_until(b'\n', &mut self.raw).map_err(failed)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        let number = self.number;
        if self.raw.len() as u64 >= LONGEST_LINE && self.raw.last() != Some(&b'\n') {
            // The rest of the line is read and dropped in pieces, but not without end.
            let mut pieces = 0;
            loop {
                self.raw.clear();
                let piece = (&mut self.reader).take(LONGEST_LINE).read_until(b'\n', &mut self.raw);
                if piece.map_err(failed)? == 0 || self.raw.last() == Some(&b'\n') {
                    break;
                }
                pieces += 1;
                if pieces == MOST_PIECES {
                    return Err(failed(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "a line of it does not end",
                    )));
                }
            }
            return Ok(Some(Line { number, text: Err(format!("longer than {LONGEST_LINE} bytes")) }));
        }
        let mut line = self.raw.as_slice();
        line = line.strip_suffix(b"\n").unwrap_or(line);
        line = line.strip_suffix(b"\r").unwrap_or(line);
        if number == 1 {
            // Some editors put a byte order mark in front of a file.
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        let text = std::str::from_utf8(line)
            .map_err(|error| format!("byte {} is not UTF-8", error.valid_up_to() + 1));
        Ok(Some(Line { number, text }))
    }
}
