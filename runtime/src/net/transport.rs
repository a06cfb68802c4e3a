//! The HTTP client. Redirects are never followed here: whoever asks looks at each address first.

use std::fmt::Write as _;
use std::time::Duration;

/// How the program names itself.
pub(crate) const IDENTIFICATION: &str = concat!("skillc/", env!("CARGO_PKG_VERSION"));

/// A client that keeps connections.
#[derive(Clone, Debug)]
pub(crate) struct Transport {
    client: reqwest::Client,
}

/// Why nothing came.
#[derive(Debug)]
pub(crate) struct TransportError {
    /// The causes in words, without the address.
    pub(crate) cause: String,
    /// No connection came about.
    pub(crate) connecting: bool,
    /// A time ran out.
    pub(crate) timed_out: bool,
}

/// An answer whose body is still to come.
#[derive(Debug)]
pub(crate) struct Incoming {
    response: reqwest::Response,
}

impl Transport {
    /// A client for addresses that the user gave.
    #[cfg(feature = "model")]
    pub(crate) fn new(connect: Duration) -> Result<Self, TransportError> {
        Self::built(Self::builder(connect))
    }

    /// A client that takes addresses of names from `names` only, and asks no proxy to look them up.
    #[cfg(feature = "tools")]
    pub(crate) fn guarded(
        connect: Duration,
        names: impl reqwest::dns::Resolve + 'static,
    ) -> Result<Self, TransportError> {
        let builder = Self::builder(connect).no_proxy().dns_resolver(names).gzip(true).brotli(true);
        Self::built(builder)
    }

    /// The client itself, for a protocol that another library speaks over it.
    #[cfg(feature = "mcp")]
    pub(crate) fn client(&self) -> reqwest::Client {
        self.client.clone()
    }

    /// Headers as the client takes them.
    #[cfg(feature = "mcp")]
    pub(crate) fn headers(
        named: &std::collections::BTreeMap<String, String>,
    ) -> Result<std::collections::HashMap<reqwest::header::HeaderName, reqwest::header::HeaderValue>, String>
    {
        let header = |(name, value): (&String, &String)| {
            let name_of = reqwest::header::HeaderName::from_bytes(name.as_bytes());
            let mut value = reqwest::header::HeaderValue::from_str(value).map_err(|_| {
                // The value may be a key: it is not shown.
                format!("the value of the header `{name}` holds what no header can")
            })?;
            value.set_sensitive(true);
            let name = name_of.map_err(|_| format!("`{name}` is no name of a header"))?;
            Ok((name, value))
        };
        named.iter().map(header).collect()
    }

    fn builder(connect: Duration) -> reqwest::ClientBuilder {
        // Somebody else may have chosen a provider already; either serves.
        let _ = rustls::crypto::ring::default_provider().install_default();
        reqwest::Client::builder()
            .connect_timeout(connect)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(IDENTIFICATION)
    }

    fn built(builder: reqwest::ClientBuilder) -> Result<Self, TransportError> {
        Ok(Self { client: builder.build()? })
    }

    /// Sends JSON.
    #[cfg(feature = "model")]
    pub(crate) async fn post(
        &self,
        url: &str,
        key: Option<&str>,
        body: String,
    ) -> Result<Incoming, TransportError> {
        let mut request =
            self.client.post(url).header(reqwest::header::CONTENT_TYPE, "application/json").body(body);
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        Ok(Incoming { response: request.send().await? })
    }

    /// Asks for a page in the reader's languages.
    #[cfg(feature = "tools")]
    pub(crate) async fn get(
        &self,
        url: &str,
        accept: &str,
        languages: &str,
    ) -> Result<Incoming, TransportError> {
        let request = self
            .client
            .get(url)
            .header(reqwest::header::ACCEPT, accept)
            .header(reqwest::header::ACCEPT_LANGUAGE, languages);
        Ok(Incoming { response: request.send().await? })
    }
}

impl Incoming {
    /// The status, such as 200.
    pub(crate) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// The status in words, such as `404 Not Found`.
    #[cfg(feature = "model")]
    pub(crate) fn status_text(&self) -> String {
        self.response.status().to_string()
    }

    /// A header that is text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// `Retry-After` in seconds; a date is not read.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        self.header("retry-after")?.trim().parse().ok().map(Duration::from_secs)
    }

    /// The next piece of the body; None at its end.
    pub(crate) async fn chunk(
        &mut self,
    ) -> Result<Option<impl std::ops::Deref<Target = [u8]>>, TransportError> {
        Ok(self.response.chunk().await?)
    }
}

/// What the client says when nothing comes.
#[cfg(feature = "mcp")]
pub(crate) type ClientError = reqwest::Error;

impl From<reqwest::Error> for TransportError {
    fn from(error: reqwest::Error) -> Self {
        Self::from(&error)
    }
}

impl From<&reqwest::Error> for TransportError {
    fn from(error: &reqwest::Error) -> Self {
        let mut text = String::new();
        let mut cause: Option<&dyn std::error::Error> = Some(error);
        while let Some(error) = cause {
            let said = error.to_string();
            // The address is named anyway, and may hold what nobody should read.
            if !said.contains("for url") && !text.contains(&said) {
                // Writing to a string does not fail.
                let _ = write!(text, "{}{said}", if text.is_empty() { "" } else { ": " });
            }
            cause = error.source();
        }
        if text.is_empty() {
            text.push_str("it cannot be reached");
        }
        Self { cause: text, connecting: error.is_connect(), timed_out: error.is_timeout() }
    }
}

impl std::fmt::Display for TransportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.cause)
    }
}
