//! Where a command writes.

use std::io::Write;

/// Standard output and error of a command, with what they can show.
pub struct Output {
    /// Results.
    pub out: Box<dyn Write>,
    /// Messages.
    pub err: Box<dyn Write>,
    /// Results may be coloured.
    pub colour_out: bool,
    /// Messages may be coloured.
    pub colour_err: bool,
    /// Columns of a report.
    pub width: usize,
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output").field("width", &self.width).finish_non_exhaustive()
    }
}

impl Output {
    /// Text in a style, if results may be coloured.
    #[must_use]
    pub fn paint(&self, style: &str, text: &str) -> String {
        if self.colour_out { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Dim text.
    #[must_use]
    pub fn dim(&self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Bold text.
    #[must_use]
    pub fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }
}
