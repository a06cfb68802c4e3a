//! Progress of long work: bars on a terminal, lines elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Shows progress.
pub trait Progress {
    /// Says something once.
    fn say(&self, text: &str);
    /// Work of unknown length; ends when the value is dropped.
    fn spinner(&self, text: &str) -> Bar;
    /// Work of known length; ends when the value is dropped.
    fn bar(&self, text: &str) -> Bar;
}

/// Work in progress.
#[derive(Debug)]
pub struct Bar(Option<ProgressBar>);

impl Bar {
    /// Work that shows nothing.
    #[must_use]
    pub fn hidden() -> Self {
        Self(None)
    }

    /// Sets the share that is done, 0 to 1.
    pub fn set(&self, share: f64) {
        if let Some(bar) = &self.0 {
            bar.set_position((share * 1000.0) as u64);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// Progress on standard error.
#[derive(Debug, Default)]
pub struct Terminal;

impl Progress for Terminal {
    fn say(&self, text: &str) {
        anstream::eprintln!("{text}");
    }

    fn spinner(&self, text: &str) -> Bar {
        if !std::io::stderr().is_terminal() {
            self.say(text);
            return Bar::hidden();
        }
        let bar = ProgressBar::new_spinner().with_message(text.to_owned());
        bar.enable_steady_tick(Duration::from_millis(100));
        Bar(Some(bar))
    }

    fn bar(&self, text: &str) -> Bar {
        if !std::io::stderr().is_terminal() {
            self.say(text);
            return Bar::hidden();
        }
        let style = ProgressStyle::with_template("{msg} [{wide_bar}] {percent:>3}% {eta}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        Bar(Some(ProgressBar::new(1000).with_style(style).with_message(text.to_owned())))
    }
}
