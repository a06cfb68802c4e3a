//! The program of a server: started apart from this process's terminal, so that a Ctrl-C that stops a reply does not
//! end it, and ended with all that it started.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// Variables that a program is given of this process's environment. Others may hold keys.
const PASSED: [&str; 22] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TEMP",
    "TMP",
    "TZ",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
    "HOMEDRIVE",
    "HOMEPATH",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "PROGRAMFILES",
    "PATHEXT",
    "COMSPEC",
];
/// How long a program may take to end after its input was closed.
const END: Duration = Duration::from_millis(500);
/// How often it is looked whether it still speaks.
const LISTEN: Duration = Duration::from_millis(10);
/// Most bytes of a line that a program writes to its standard error, for the message when it dies.
const LONGEST_WORD: u64 = 4_096;

/// A running program.
pub(super) struct Process {
    child: Child,
    last_words: Arc<Mutex<String>>,
    hearing: tokio::task::JoinHandle<()>,
    /// The group of the program and of what it starts.
    #[cfg(unix)]
    group: Option<u32>,
}

impl Process {
    /// Starts a program.
    pub(super) fn start(
        command: &str,
        arguments: &[String],
        environment: &BTreeMap<String, String>,
        folder: Option<&Path>,
    ) -> std::io::Result<(Self, ChildStdout, ChildStdin)> {
        let mut program = Command::new(command);
        program.args(arguments).env_clear();
        program.envs(PASSED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        program.envs(environment);
        if let Some(folder) = folder {
            program.current_dir(folder);
        }
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        apart(&mut program);
        let mut child = program.spawn()?;
        let pipe = || std::io::Error::other("it has no standard streams");
        let output = child.stdout.take().ok_or_else(pipe)?;
        let input = child.stdin.take().ok_or_else(pipe)?;
        let errors = child.stderr.take().ok_or_else(pipe)?;
        let last_words = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&last_words);
        let hearing = tokio::spawn(async move {
            let mut errors = BufReader::new(errors);
            let mut line = Vec::new();
            // A pipe that cannot be read any more has no words left.
            while let Ok(1..) = (&mut errors).take(LONGEST_WORD).read_until(b'\n', &mut line).await {
                let said = String::from_utf8_lossy(&line).trim().to_owned();
                if !said.is_empty() {
                    *heard.lock().unwrap_or_else(PoisonError::into_inner) = said;
                }
                line.clear();
            }
        });
        #[cfg(unix)]
        let group = child.id();
        let started = Self {
            child,
            last_words,
            hearing,
            #[cfg(unix)]
            group,
        };
        Ok((started, output, input))
    }

    /// The last line that it wrote to its standard error, which may come a little behind its end.
    pub(super) async fn last_words(&self) -> String {
        let mut waited = Duration::ZERO;
        while !self.hearing.is_finished() && waited < END {
            tokio::time::sleep(LISTEN).await;
            waited += LISTEN;
        }
        self.last_words.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How it ended, if it has.
    pub(super) async fn ending(&mut self) -> Option<String> {
        let ended = tokio::time::timeout(END, self.child.wait()).await;
        ended.ok()?.ok().map(|status| status.to_string())
    }

    /// Ends it: it may end by itself, else it is killed; and so is what it started and left.
    pub(super) async fn end(mut self) {
        let ended = tokio::time::timeout(END, self.child.wait()).await;
        self.kill();
        if ended.is_err() {
            // What was killed ends.
            let _ = tokio::time::timeout(END, self.child.wait()).await;
        }
    }

    #[cfg(unix)]
    fn kill(&mut self) {
        let group = self.group.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            // All of it may have ended by itself.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }

    #[cfg(not(unix))]
    fn kill(&mut self) {
        // It may just have ended by itself.
        let _ = self.child.start_kill();
    }
}

#[cfg(unix)]
fn apart(program: &mut Command) {
    program.process_group(0);
}

#[cfg(windows)]
fn apart(program: &mut Command) {
    /// `CREATE_NEW_PROCESS_GROUP` of the Windows API.
    const NEW_GROUP: u32 = 0x0000_0200;
    program.creation_flags(NEW_GROUP);
}
