//! The `skillc` commands as a library: `main` runs them for a process, [`run`] for a caller that brings its own
//! output, such as the snapshot tests.

mod args;
mod commands;
mod failure;
mod input;
mod interrupt;
mod library;
pub mod model_store;
mod output;
mod platform;
mod progress;
mod reach;

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;

pub use failure::Failure;
pub use library::{EMBEDDED, Loaded, Origin};
pub use output::Output;
pub use progress::{Bar, Progress, Terminal};

/// Exit code: all is well.
pub const EXIT_OK: u8 = 0;
/// Exit code: there were findings.
pub const EXIT_FINDINGS: u8 = 1;
/// Exit code: the command could not be carried out as given.
pub const EXIT_USAGE: u8 = 2;

/// Runs the command of this process.
#[must_use]
pub fn main() -> ExitCode {
    let stdout = std::io::stdout();
    let stderr = std::io::stderr();
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let mut output = Output {
        colour_out: !plain && stdout.is_terminal(),
        colour_err: !plain && stderr.is_terminal(),
        width: 100,
        out: Box::new(stdout),
        err: Box::new(stderr),
    };
    ExitCode::from(run(std::env::args_os(), &mut output))
}

/// Runs a command line and returns its exit code.
pub fn run<I, T>(arguments: I, output: &mut Output) -> u8
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let arguments = match args::Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            let code = u8::try_from(error.exit_code()).unwrap_or(EXIT_USAGE);
            let text = error.render();
            let shown = if error.use_stderr() {
                let text = if output.colour_err { text.ansi().to_string() } else { text.to_string() };
                output.err.write_all(text.as_bytes())
            } else {
                let text = if output.colour_out { text.ansi().to_string() } else { text.to_string() };
                output.out.write_all(text.as_bytes())
            };
            return if shown.is_ok() { code } else { EXIT_USAGE };
        }
    };
    match commands::run(&arguments, output)
        .and_then(|code| output.out.flush().map(|()| code).map_err(Failure::from))
    {
        Ok(code) => code,
        // Whoever reads our output may stop reading, as `head` does; that is no failure of ours.
        Err(failure) if failure.is_broken_pipe() => EXIT_OK,
        Err(failure) => {
            let (start, end) = if output.colour_err { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
            // There is no one left to tell if this write fails.
            let _ = writeln!(output.err, "{start}error{end}: {failure}");
            failure.exit_code()
        }
    }
}
