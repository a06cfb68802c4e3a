//! `skillc completions`.

use std::io::Write;

use clap::CommandFactory;

use crate::args::{Arguments, Completions};
use crate::{EXIT_OK, Failure, Output};

pub(super) fn run(completions: &Completions, output: &mut Output) -> Result<u8, Failure> {
    // The generator panics where it cannot write, as behind a pipe that closes; so it writes into memory.
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut Arguments::command(), "skillc", &mut script);
    output.out.write_all(&script)?;
    Ok(EXIT_OK)
}
