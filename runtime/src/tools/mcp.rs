//! Tools of servers that speak the Model Context Protocol, over a process's standard streams or over HTTP. A tool
//! `read` of a server `files` is `files__read` here.
//!
//! What such a server says is data, as a page is: its descriptions and results are fenced and cut, it is never given
//! the environment, and it can ask nothing of the model or the user. Every wait ends; a server that died is started
//! again by the next call, and a call that may have been carried out is never repeated.

mod declare;
mod link;
mod process;
mod result;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};

use self::declare::{Offer, declared};
use self::link::{Link, Trouble};
use super::{Tool, ToolContext, ToolFailure, ToolOutput, Wants};
use crate::artifact::ToolDeclaration;
use crate::net::{Transport, Waits, within};

/// How long a server may take to begin and to list its tools: some are fetched first.
pub const START: Duration = Duration::from_secs(30);
/// How long a call may take.
pub const CALL: Duration = Duration::from_secs(60);
/// How long it is waited for a connection over HTTP.
const CONNECT: Duration = Duration::from_secs(10);

/// Where a server is.
#[derive(Clone, PartialEq, Eq)]
pub enum Place {
    /// A program that is started, and spoken to over its standard streams.
    Process {
        /// The program.
        command: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// Variables of its environment besides the few that programs need, such as `PATH`.
        environment: BTreeMap<String, String>,
        /// Its working directory; None: that of this process.
        folder: Option<PathBuf>,
    },
    /// An address that speaks streamable HTTP.
    Http {
        /// The address.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
    },
}

impl std::fmt::Debug for Place {
    /// Values of variables and headers are often keys: only their names are shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Process { command, environment, .. } => f
                .debug_struct("Process")
                .field("command", command)
                .field("environment", &environment.keys())
                .finish_non_exhaustive(),
            Self::Http { headers, .. } => {
                f.debug_struct("Http").field("headers", &headers.keys()).finish_non_exhaustive()
            }
        }
    }
}

/// A server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its name, the first part of the names of its tools.
    pub name: String,
    /// Where it is.
    pub place: Place,
    /// How long it may take to begin and to list its tools.
    pub start: Duration,
    /// How long a call may take.
    pub call: Duration,
}

/// What a server came to.
pub struct Connected {
    /// The server's name.
    pub name: String,
    /// Its tools.
    pub tools: Vec<Box<dyn Tool>>,
    /// What of it cannot be used, and why, a line each: the server, a tool, a parameter.
    pub remarks: Vec<String>,
}

impl std::fmt::Debug for Connected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connected").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Starts servers, all at once, and lists their tools.
///
/// # Errors
/// This machine has no threads or no client for them.
pub fn connect(servers: Vec<Server>, stop: &AtomicBool) -> std::io::Result<Vec<Connected>> {
    let waits = Arc::new(Waits::shared(1)?);
    let http = Transport::new(CONNECT).map_err(|error| std::io::Error::other(error.to_string()))?;
    let starts = servers.into_iter().map(|server| {
        let http = &http;
        async move {
            let listed = async {
                let link = Link::open(&server, http).await?;
                let offers = link.tools().await;
                Ok((link, offers))
            };
            let listed = match within(listed, server.start, stop).await {
                Ok(Some(listed)) => listed,
                Ok(None) => Err(Trouble::Stopped),
                Err(_) => Err(Trouble::Silent(server.start)),
            };
            (server, listed)
        }
    });
    let started = waits.block_on(futures_util::future::join_all(starts));
    let connected = started.into_iter().map(|(server, listed)| {
        let name = server.name.clone();
        let failed = |name: String, trouble: &Trouble| Connected {
            remarks: vec![format!("the MCP server `{name}` cannot be used: {}", trouble.in_words())],
            tools: Vec::new(),
            name,
        };
        let (link, offers) = match listed {
            Ok((link, Ok(offers))) => (link, offers),
            Ok((_, Err(trouble))) | Err(trouble) => return failed(name, &trouble),
        };
        let (offers, remarks) = declared(&name, &offers);
        let shared = Arc::new(Shared {
            server,
            http: http.clone(),
            waits: Arc::clone(&waits),
            link: Mutex::new(Some(link)),
        });
        let tools = offers
            .into_iter()
            .map(|offer| -> Box<dyn Tool> { Box::new(McpTool { offer, server: Arc::clone(&shared) }) });
        Connected { name, tools: tools.collect(), remarks }
    });
    Ok(connected.collect())
}

/// A server whose tools are in use.
struct Shared {
    server: Server,
    http: Transport,
    waits: Arc<Waits>,
    /// None while it is not connected.
    link: Mutex<Option<Link>>,
}

impl Shared {
    /// Calls a tool; a server that died is started first.
    fn call(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        stop: &AtomicBool,
    ) -> Result<result::Returned, Trouble> {
        let mut kept = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        self.waits.block_on(async {
            let link = match kept.take().filter(|link| !link.is_closed()) {
                Some(link) => link,
                None => match within(Link::open(&self.server, &self.http), self.server.start, stop).await {
                    Ok(Some(link)) => link?,
                    Ok(None) => return Err(Trouble::Stopped),
                    Err(_) => return Err(Trouble::Silent(self.server.start)),
                },
            };
            let called = match within(link.call(tool, arguments), self.server.call, stop).await {
                Ok(Some(called)) => called,
                Ok(None) => Err(Trouble::Stopped),
                Err(_) => Err(Trouble::Silent(self.server.call)),
            };
            let hangs = matches!(called, Err(Trouble::Silent(_))) && !link.is_alive().await;
            if !hangs && !matches!(called, Err(Trouble::Gone(_))) {
                *kept = Some(link);
            }
            called
        })
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let link = self.link.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(link) = link {
            self.waits.block_on(link.close());
        }
    }
}

/// A tool of a server.
struct McpTool {
    offer: Offer,
    server: Arc<Shared>,
}

impl Tool for McpTool {
    fn name(&self) -> &str {
        &self.offer.declaration.name
    }

    fn wants(&self) -> Wants<'_> {
        let named = |optional: bool| {
            let parameters = self.offer.declaration.parameters.iter();
            parameters.filter(|parameter| parameter.optional == optional).map(|p| p.name.as_str()).collect()
        };
        // Whether results name addresses is for whoever declares it in a library to say.
        Wants { required: named(false), optional: named(true), sourced: None }
    }

    fn declaration(&self) -> Option<&ToolDeclaration> {
        Some(&self.offer.declaration)
    }

    fn run(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext<'_>,
    ) -> Result<ToolOutput, ToolFailure> {
        let called = self.server.call(&self.offer.name, arguments, context.stop);
        match called {
            Ok(returned) => result::output(&returned, &self.server.server.name, context),
            Err(trouble) => Err(trouble.failure(&self.server.server.name)),
        }
    }
}
