//! `skillc explain`.

use std::io::Write;

use skill_compiler::diagnostics::{CODES, Code, nearest};

use crate::args::Explain;
use crate::{EXIT_OK, Failure, Output};

pub(super) fn run(explain: &Explain, output: &mut Output) -> Result<u8, Failure> {
    let Some(wanted) = &explain.code else {
        for code in CODES {
            writeln!(output.out, "{}  {}", output.bold(code.id), code.name)?;
        }
        return Ok(EXIT_OK);
    };
    let Some(code) = Code::find(wanted) else {
        let near = nearest(wanted, CODES.iter().map(|code| code.id));
        let help =
            near.map_or_else(|| "`skillc explain` lists all".to_owned(), |id| format!("did you mean {id}?"));
        return Err(Failure::Usage(format!("there is no code `{wanted}`; {help}")));
    };
    writeln!(output.out, "{}", code.page.trim_end())?;
    Ok(EXIT_OK)
}
