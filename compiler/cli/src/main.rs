//! `skillc`: see the library of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    skillc::main()
}
