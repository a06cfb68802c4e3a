//! The connection to a server.

use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ClientRequest, Implementation,
    PaginatedRequestParams, PingRequest, ProtocolVersion, Tool,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, PeerRequestOptions, RunningService,
    ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use serde_json::{Map, Value};

use super::process::Process;
use super::result::Returned;
use super::{Place, Server};
use crate::links::links;
use crate::net::{ClientError, Transport, TransportError};
use crate::tools::ToolFailure;
use crate::tools::reach::{capped, fenced};

/// Most bytes of a message of a server. A longer one is dropped, so what waits for it ends by its time.
const LONGEST_MESSAGE: usize = 4 << 20;
/// Most pages of a list of tools.
const MOST_PAGES: usize = 20;
/// How long a server that let a call run out may take to say that it is there.
const PING: Duration = Duration::from_secs(2);
/// How long saying good-bye may take.
const CLOSE: Duration = Duration::from_millis(500);
/// Most characters of what a server says of itself in a message.
const LONGEST_CAUSE: usize = 300;

/// Why a server gave nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The user stopped it.
    Stopped,
    /// It said nothing for so long.
    Silent(Duration),
    /// It is not there, or not any more.
    Gone(String),
    /// It says no.
    Refused(String),
}

impl Trouble {
    fn gone(cause: &str) -> Self {
        Self::Gone(said(cause))
    }

    fn refused(message: &str) -> Self {
        Self::Refused(said(message))
    }

    /// For whoever started it.
    pub(super) fn in_words(&self) -> String {
        match self {
            Self::Stopped => "it was stopped".to_owned(),
            Self::Silent(time) => format!("it said nothing for {} s", time.as_secs_f64()),
            Self::Gone(cause) | Self::Refused(cause) => cause.clone(),
        }
    }

    /// For the model and the user.
    pub(super) fn failure(self, server: &str) -> ToolFailure {
        let failure = |key: &'static str| ToolFailure::new(key).with("server", server);
        match self {
            Self::Stopped => ToolFailure::new("reason-stopped"),
            Self::Silent(time) => {
                failure("reason-mcp-silent").with("seconds", time.as_secs().max(1).to_string())
            }
            Self::Gone(cause) => failure("reason-mcp-gone").with("cause", cause),
            Self::Refused(message) => failure("reason-mcp-refused").with("message", message),
        }
    }
}

/// What a server says of itself: data, in a line.
pub(super) fn said(text: &str) -> String {
    capped(fenced(&text.split_whitespace().collect::<Vec<_>>().join(" ")), LONGEST_CAUSE)
}

/// An open connection.
pub(super) struct Link {
    service: RunningService<RoleClient, ClientConfig>,
    process: Option<Process>,
}

impl Link {
    /// Starts or reaches a server and greets it: as all do, and where it refuses, as the newest do.
    pub(super) async fn open(server: &Server, http: &Transport) -> Result<Self, Trouble> {
        match Self::greet(server, http, ClientLifecycleMode::Initialize).await {
            Err(Greeting::Refused(first)) => {
                let newest = vec![ProtocolVersion::LATEST];
                let mode = ClientLifecycleMode::Discover { preferred_versions: newest };
                Self::greet(server, http, mode).await.map_err(|_| Trouble::Refused(first))
            }
            Err(Greeting::Failed(trouble)) => Err(trouble),
            Ok(link) => Ok(link),
        }
    }

    async fn greet(server: &Server, http: &Transport, mode: ClientLifecycleMode) -> Result<Self, Greeting> {
        let us = ClientConfig::new(
            // It may ask for nothing: no sampling, no roots, no questions to the user.
            ClientCapabilities::default(),
            Implementation::new("skillc", env!("CARGO_PKG_VERSION")),
        );
        match &server.place {
            Place::Process { command, arguments, environment, folder } => {
                let started = Process::start(command, arguments, environment, folder.as_deref());
                let (mut process, output, input) = started.map_err(|error| {
                    Greeting::Failed(Trouble::gone(&format!("`{command}` cannot be started: {error}")))
                })?;
                let transport =
                    AsyncRwTransport::new_client(output, input).with_max_line_length(LONGEST_MESSAGE);
                match us.serve_with_lifecycle(transport, mode).await {
                    Ok(service) => Ok(Self { service, process: Some(process) }),
                    Err(error) => Err(match Greeting::of(&error) {
                        Greeting::Failed(_) => {
                            let ending = process.ending().await;
                            Greeting::Failed(Trouble::gone(
                                &ended(&process, ending, "it closed its output").await,
                            ))
                        }
                        refused => refused,
                    }),
                }
            }
            Place::Http { url, headers } => {
                let named =
                    Transport::headers(headers).map_err(|error| Greeting::Failed(Trouble::gone(&error)))?;
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .custom_headers(named)
                    .max_sse_event_size(LONGEST_MESSAGE)
                    .max_json_response_size(LONGEST_MESSAGE);
                let transport = StreamableHttpClientTransport::with_client(http.client(), config);
                let service =
                    us.serve_with_lifecycle(transport, mode).await.map_err(|error| Greeting::of(&error))?;
                Ok(Self { service, process: None })
            }
        }
    }

    /// Every tool that it lists.
    pub(super) async fn tools(&self) -> Result<Vec<Tool>, Trouble> {
        let mut tools = Vec::new();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let page = match self.service.list_tools(Some(page)).await {
                Ok(page) => page,
                Err(error) => return Err(self.trouble(&error).await),
            };
            tools.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(tools);
            }
        }
        Err(Trouble::Refused(format!("its list of tools has more than {MOST_PAGES} pages")))
    }

    /// Calls a tool.
    pub(super) async fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Result<Returned, Trouble> {
        let call = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments.clone());
        match self.service.peer().call_tool_once(call).await {
            Ok(CallToolResponse::Complete(result)) => Ok(Returned::from(result)),
            Ok(CallToolResponse::InputRequired(_)) => {
                Err(Trouble::Refused("it asks the user something, which is not supported".to_owned()))
            }
            Ok(CallToolResponse::Task(_)) => {
                Err(Trouble::Refused("it makes a task of the call, which is not supported".to_owned()))
            }
            Ok(_) => Err(Trouble::Refused("it answers a call with what is not supported".to_owned())),
            Err(error) => Err(self.trouble(&error).await),
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// It answers, if not the call.
    pub(super) async fn is_alive(&self) -> bool {
        let ping = ClientRequest::PingRequest(PingRequest::default());
        let options = PeerRequestOptions::with_timeout(PING);
        match self.service.peer().send_cancellable_request(ping, options).await {
            // A server that knows no ping answers that.
            Ok(sent) => {
                matches!(sent.await_response().await, Ok(_) | Err(ServiceError::McpError(_)))
            }
            Err(_) => false,
        }
    }

    /// Says good-bye and ends the program.
    pub(super) async fn close(mut self) {
        // Whoever does not answer is left; the program is ended all the same.
        let _ = self.service.close_with_timeout(CLOSE).await;
        if let Some(process) = self.process {
            process.end().await;
        }
    }

    async fn trouble(&self, error: &ServiceError) -> Trouble {
        match error {
            ServiceError::McpError(error) => Trouble::refused(&error.message),
            ServiceError::TransportClosed => match &self.process {
                Some(process) => Trouble::gone(&ended(process, None, "it ended").await),
                None => Trouble::gone("it closed the connection"),
            },
            ServiceError::UnexpectedResponse => {
                Trouble::Refused("it answers with what is not understood".to_owned())
            }
            ServiceError::TransportSend(error) => Trouble::gone(&chain(error.error.as_ref())),
            other => Trouble::gone(&chain(other)),
        }
    }
}

/// Why greeting a server came to nothing.
enum Greeting {
    /// It answered, and not as it should: it may know another greeting.
    Refused(String),
    /// Anything else.
    Failed(Trouble),
}

impl Greeting {
    fn of(error: &ClientInitializeError) -> Self {
        match error {
            ClientInitializeError::JsonRpcError(error) => Self::Refused(said(&error.message)),
            ClientInitializeError::ExpectedInitResponse(_) | ClientInitializeError::ExpectedInitResult(_) => {
                Self::Refused("it does not answer as a server of tools does".to_owned())
            }
            ClientInitializeError::TransportError { error, .. } => {
                Self::Failed(Trouble::gone(&chain(error.error.as_ref())))
            }
            other => Self::Failed(Trouble::gone(&chain(other))),
        }
    }
}

/// How a program ended: its last words, its status, or else `otherwise`.
async fn ended(process: &Process, ending: Option<String>, otherwise: &str) -> String {
    let words = process.last_words().await;
    match (ending, words.is_empty()) {
        (Some(ending), true) => format!("it ended ({ending})"),
        (Some(ending), false) => format!("it ended ({ending}): {words}"),
        (None, true) => otherwise.to_owned(),
        (None, false) => format!("{otherwise}: {words}"),
    }
}

/// The causes of an error in words, without names of types and without the address, which may hold a key.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    if let Some(StreamableHttpError::Client(error)) = error.downcast_ref::<StreamableHttpError<ClientError>>()
    {
        return TransportError::from(error).cause;
    }
    let mut text = String::new();
    let mut cause = Some(error);
    while let Some(error) = cause {
        let mut said = error.to_string();
        for span in links(&said).into_iter().rev() {
            said.replace_range(span, "…");
        }
        if !said.contains("rmcp::") && !text.contains(&said) {
            text = if text.is_empty() { said } else { format!("{text}: {said}") };
        }
        cause = error.source();
    }
    if text.is_empty() { "it cannot be reached".to_owned() } else { text }
}
