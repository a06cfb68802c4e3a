//! What the tools of a conversation reach: the web, live or the demo web, the memory, and servers of tools.

mod servers;

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use etcetera::BaseStrategy;
use skill_runtime::net::{Fetcher, Limits, Names};
use skill_runtime::tools::{self, Memory, Reach, Tool, mcp};

use crate::args::{ReachChoice, Web};
use crate::{Failure, Output, interrupt};

/// A host that every search asks, and how long it is waited for where nobody said whether there is a network.
const PROBED: &str = "html.duckduckgo.com:443";
const PROBE: Duration = Duration::from_millis(1_000);
/// How long the demo web may take to begin.
const DEMO_START: Duration = Duration::from_secs(20);

/// What was opened, and the process behind it.
pub(crate) struct Opened {
    pub(crate) reach: Reach,
    pub(crate) web: Web,
    /// Tools of servers.
    served: Vec<Box<dyn Tool>>,
    /// Ends when this is dropped.
    _demo: Option<Demo>,
}

impl Opened {
    /// Every tool that can run.
    pub(crate) fn tools(&mut self) -> Vec<Box<dyn Tool>> {
        let mut all = tools::built_in(&self.reach);
        all.append(&mut self.served);
        all
    }
}

/// The process that serves the demo web.
struct Demo(Child);

impl Drop for Demo {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Opens what a command line asks for.
///
/// What a server of tools lacks is told, and the rest goes on. `only` narrows the servers to one by name.
///
/// # Errors
/// The memory cannot be used, the demo web does not begin, or the servers are not named as they should be.
pub(crate) fn open(choice: &ReachChoice, only: Option<&str>, output: &mut Output) -> Result<Opened, Failure> {
    let (mut servers, mut remarks) = servers::servers(&choice.mcp, choice.mcp_config.as_deref())?;
    servers.retain(|server| only.is_none_or(|name| name == server.name));
    let web = match choice.web {
        Some(web) => web,
        None => default_web()?,
    };
    let (names, demo) = match web {
        Web::Off => (None, None),
        Web::Live => (Some(Names::System), None),
        Web::Demo => {
            let (demo, address) = start_demo()?;
            (Some(Names::Demo(address)), Some(demo))
        }
    };
    let failed =
        |error: std::io::Error| Failure::Usage(format!("the web cannot be reached from here: {error}"));
    let web_client = names
        .map(|names| Fetcher::new(names, Limits::default()).map(Arc::new))
        .transpose()
        .map_err(failed)?;
    let memory = match memory_file(choice)? {
        Some(path) => Some(Arc::new(Memory::open(&path).map_err(|error| Failure::Usage(error.to_string()))?)),
        None => None,
    };
    let mut served = Vec::new();
    if !servers.is_empty() {
        let connected = mcp::connect(servers, interrupt::chatting()).map_err(|error| {
            Failure::Usage(format!("servers of tools cannot be used on this machine: {error}"))
        })?;
        for mut server in connected {
            remarks.append(&mut server.remarks);
            served.append(&mut server.tools);
        }
    }
    for remark in remarks {
        writeln!(output.err, "warning: {remark}")?;
    }
    Ok(Opened { reach: Reach { web: web_client, memory }, web, served, _demo: demo })
}

/// `SKILLC_WEB`, else the live web where a network answers.
fn default_web() -> Result<Web, Failure> {
    match std::env::var("SKILLC_WEB").as_deref() {
        Ok("live") => Ok(Web::Live),
        Ok("demo") => Ok(Web::Demo),
        Ok("off") => Ok(Web::Off),
        Ok("") | Err(_) => Ok(if answers() { Web::Live } else { Web::Off }),
        Ok(other) => Err(Failure::Usage(format!("SKILLC_WEB is `{other}`; it may be live, demo or off"))),
    }
}

/// Whether a network answers. Looking up a name cannot be given a time, so it is left behind when it takes too long.
fn answers() -> bool {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let addresses = PROBED.to_socket_addrs().map(Iterator::collect::<Vec<_>>).unwrap_or_default();
        let answered =
            addresses.iter().take(2).any(|address| TcpStream::connect_timeout(address, PROBE).is_ok());
        // Nobody may wait any more.
        let _ = send.send(answered);
    });
    receive.recv_timeout(PROBE).unwrap_or(false)
}

/// Starts this program as the server of the demo web.
fn start_demo() -> Result<(Demo, SocketAddr), Failure> {
    let failed = |cause: String| Failure::Usage(format!("the demo web did not begin: {cause}"));
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let child = Command::new(program)
        .arg("demo-web")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let mut demo = Demo(child);
    let out = demo.0.stdout.take().ok_or_else(|| failed("it has no output".to_owned()))?;
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        // An end without a line is told by the empty line.
        let _ = BufReader::new(out).read_line(&mut line);
        let _ = send.send(line);
    });
    let line = receive.recv_timeout(DEMO_START).map_err(|_| failed("it said nothing for 20 s".to_owned()))?;
    let address = line.trim().parse().map_err(|_| failed("it said no address".to_owned()))?;
    Ok((demo, address))
}

/// The file of the memory: as named, `SKILLC_MEMORY`, beside a store in `SKILLC_HOME`, else in the user's data
/// directory. None where it is off.
fn memory_file(choice: &ReachChoice) -> Result<Option<PathBuf>, Failure> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let named = choice.memory.clone().or_else(|| set("SKILLC_MEMORY"));
    if let Some(path) = named {
        return Ok((path.as_os_str() != "off").then_some(path));
    }
    if let Some(home) = set("SKILLC_HOME") {
        return Ok(Some(home.join("memory.db")));
    }
    let base = etcetera::choose_base_strategy().map_err(|_| {
        Failure::Usage(
            "this user has no data directory; --memory FILE names a file, --memory off goes without"
                .to_owned(),
        )
    })?;
    Ok(Some(base.data_dir().join("skillc").join("memory.db")))
}
