//! Source files and places in them.

use std::ops::Range;

use serde::Serialize;

/// A file of a library, as read by whoever calls the compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Path as messages and evidence show it, with `/` between folders.
    pub name: String,
    /// Its bytes; what is not UTF-8 is a diagnostic.
    pub bytes: Vec<u8>,
}

impl SourceFile {
    /// A file from text.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), bytes: text.into().into_bytes() }
    }
}

/// A byte range of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Span {
    /// Index of the file in the order given.
    pub file: u32,
    /// First byte.
    pub start: u32,
    /// Behind the last byte.
    pub end: u32,
}

impl Span {
    /// A span.
    #[must_use]
    pub fn new(file: u32, range: Range<usize>) -> Self {
        Self { file, start: range.start as u32, end: range.end as u32 }
    }

    /// From the start of this span to the end of the other.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { file: self.file, start: self.start, end: other.end.max(self.end) }
    }
}

/// Line starts of a text, computed once.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Finds the lines of a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        // A carriage return alone ends a line, too.
        let ends = |at: usize| match bytes.get(at) {
            Some(b'\n') => true,
            Some(b'\r') => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        let breaks = (0..bytes.len()).filter(|&at| ends(at)).map(|at| at as u32 + 1);
        Self { starts: std::iter::once(0).chain(breaks).collect() }
    }

    /// Line of a byte, from 1.
    #[must_use]
    pub fn line(&self, byte: u32) -> u32 {
        self.starts.partition_point(|&start| start <= byte) as u32
    }

    /// Byte at which a line starts, by its number from 0; None behind the last.
    #[must_use]
    pub fn start_of(&self, line: usize) -> Option<usize> {
        self.starts.get(line).map(|&start| start as usize)
    }

    /// Byte at which the line of `byte` starts.
    #[must_use]
    pub fn line_start(&self, byte: u32) -> u32 {
        self.starts.get((self.line(byte) as usize).saturating_sub(1)).copied().unwrap_or_default()
    }
}
