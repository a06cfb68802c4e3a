//! Gets a page: every address is looked at before it is asked, every wait and size is bounded, no host is pressed.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use url::{Host, Url};

use super::address::is_public;
use super::hosts::Guard;
use super::{FetchError, Incoming, Names, Transport, TransportError, Waits, within};

/// How long and how much. The defaults are for pages that a user waits for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For a connection.
    pub connect: Duration,
    /// For the answer to begin, and between two pieces of it.
    pub silence: Duration,
    /// For all of it, redirects included.
    pub total: Duration,
    /// Bytes of a body after decompression; what is longer is cut, and the page says so.
    pub bytes: usize,
    /// Redirects.
    pub redirects: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            silence: Duration::from_secs(6),
            total: Duration::from_secs(12),
            bytes: 2 << 20,
            redirects: 5,
        }
    }
}

/// Bodies in memory at once; with [`Limits::bytes`] this bounds what 50 reads take.
const BODIES: usize = 16;
/// Connections to one host at once.
const PER_HOST: usize = 2;
/// Documents that are taken apart at once.
const PARSERS: usize = 2;
/// A host that asks for more than this is asked again all the same.
const LONGEST_BUSY: Duration = Duration::from_secs(600);
/// Hosts that are remembered before those of the past are forgotten.
const MOST_HOSTS: usize = 1_024;

/// A page as it came.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// Where it was in the end.
    pub url: Url,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// The body, decompressed.
    pub body: Vec<u8>,
    /// It was longer than the limit and is cut.
    pub cut: bool,
}

/// What is known of a host.
struct HostState {
    connections: Arc<Semaphore>,
    busy_until: Option<Instant>,
}

/// Gets pages for any number of callers.
pub struct Fetcher {
    transport: Transport,
    guard: Guard,
    names: Names,
    limits: Limits,
    waits: Waits,
    bodies: Semaphore,
    hosts: Mutex<HashMap<String, HostState>>,
}

impl std::fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetcher")
            .field("names", &self.names)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Fetcher {
    /// Prepares; nothing is sent yet.
    ///
    /// # Errors
    /// The system refuses a thread or a client.
    pub fn new(names: Names, limits: Limits) -> std::io::Result<Self> {
        let guard = Guard::new(names);
        let transport = Transport::guarded(limits.connect, guard.clone())
            .map_err(|error| std::io::Error::other(error.to_string()))?;
        let waits = Waits::shared(PARSERS)?;
        let bodies = Semaphore::new(BODIES);
        Ok(Self { transport, guard, names, limits, waits, bodies, hosts: Mutex::default() })
    }

    /// Where names lead.
    #[must_use]
    pub fn names(&self) -> Names {
        self.names
    }

    /// Runs what waits for pages to its end.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.waits.block_on(work)
    }

    /// Runs what takes the processor on a thread of its own; None if it could not end.
    pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        tokio::task::spawn_blocking(work).await.ok()
    }

    /// Gets a page. `accept` names the media types that are welcome, `languages` the reader's.
    ///
    /// # Errors
    /// See [`FetchError`].
    pub async fn get(
        &self,
        url: &str,
        accept: &str,
        languages: &str,
        stop: &AtomicBool,
    ) -> Result<Fetched, FetchError> {
        let mut url = parse(url)?;
        let started = Instant::now();
        let getting = self.follow(&mut url, accept, languages, stop);
        match tokio::time::timeout(self.limits.total, getting).await {
            Ok(fetched) => fetched,
            Err(_) => Err(FetchError::timed_out(&host(&url), started.elapsed())),
        }
    }

    async fn follow(
        &self,
        url: &mut Url,
        accept: &str,
        languages: &str,
        stop: &AtomicBool,
    ) -> Result<Fetched, FetchError> {
        let first = url.clone();
        for _ in 0..=self.limits.redirects {
            let (_connection, _body) = self.admit(url).await?;
            let wire = self.wire(url);
            let sent =
                within(self.transport.get(wire.as_str(), accept, languages), self.limits.silence, stop);
            let response = match sent.await {
                Err(silence) => return Err(FetchError::timed_out(&host(url), silence.0)),
                Ok(None) => return Err(FetchError::Stopped),
                Ok(Some(Err(error))) => return Err(self.failed(url, error)),
                Ok(Some(Ok(response))) => response,
            };
            let status = response.status();
            if let (300..400, Some(target)) = (status, response.header("location")) {
                let next = url.join(target).map_err(|_| FetchError::NoAddress(target.to_owned()))?;
                *url = checked(next)?;
                continue;
            }
            if matches!(status, 429 | 503)
                && let Some(pause) = response.retry_after()
            {
                self.remember_busy(url, pause);
                return Err(FetchError::Busy { host: host(url), seconds: pause.as_secs() });
            }
            if !(200..300).contains(&status) {
                return Err(FetchError::Status { host: host(url), status });
            }
            return self.body(url.clone(), response, stop).await;
        }
        Err(FetchError::Redirects(first.to_string()))
    }

    /// Waits until the host may be asked: no more than so many connections, and not before it said.
    async fn admit(
        &self,
        url: &Url,
    ) -> Result<(tokio::sync::OwnedSemaphorePermit, tokio::sync::SemaphorePermit<'_>), FetchError> {
        let name = host(url);
        let closed =
            || FetchError::Unreachable { host: name.clone(), cause: "the reader is closed".to_owned() };
        let connections = {
            let mut hosts = self.hosts.lock().map_err(|_| closed())?;
            if hosts.len() >= MOST_HOSTS {
                hosts.retain(|_, state| state.busy_until.is_some_and(|until| until > Instant::now()));
            }
            let state = hosts.entry(name.clone()).or_insert_with(|| HostState {
                connections: Arc::new(Semaphore::new(PER_HOST)),
                busy_until: None,
            });
            if let Some(until) = state.busy_until {
                let left = until.saturating_duration_since(Instant::now());
                if !left.is_zero() {
                    return Err(FetchError::Busy { host: name, seconds: left.as_secs() + 1 });
                }
                state.busy_until = None;
            }
            Arc::clone(&state.connections)
        };
        let connection = connections.acquire_owned().await.map_err(|_| closed())?;
        let body = self.bodies.acquire().await.map_err(|_| closed())?;
        Ok((connection, body))
    }

    fn remember_busy(&self, url: &Url, pause: Duration) {
        if let Ok(mut hosts) = self.hosts.lock()
            && let Some(state) = hosts.get_mut(&host(url))
        {
            state.busy_until = Instant::now().checked_add(pause.min(LONGEST_BUSY));
        }
    }

    /// The address as it is sent: the demo web speaks plain HTTP under names that are shown with https.
    fn wire(&self, url: &Url) -> Url {
        let mut wire = url.clone();
        if matches!(self.names, Names::Demo(_)) && wire.scheme() == "https" {
            // Both are schemes with hosts, so the change is always possible.
            let _ = wire.set_scheme("http");
        }
        wire
    }

    fn failed(&self, url: &Url, error: TransportError) -> FetchError {
        let name = host(url);
        if self.guard.take_refused(&name).is_some() {
            return FetchError::Private(url.to_string());
        }
        if error.timed_out {
            let waited = if error.connecting { self.limits.connect } else { self.limits.silence };
            return FetchError::timed_out(&name, waited);
        }
        if error.connecting {
            return FetchError::Unreachable { host: name, cause: error.cause };
        }
        FetchError::BrokeOff { host: name, cause: error.cause }
    }

    async fn body(&self, url: Url, mut response: Incoming, stop: &AtomicBool) -> Result<Fetched, FetchError> {
        let content_type = response.header("content-type").map(str::to_owned);
        if let Some(kind) = &content_type
            && !is_text(kind)
        {
            let kind = kind.split(';').next().unwrap_or(kind).trim().chars().take(60).collect();
            return Err(FetchError::NotText { host: host(&url), kind });
        }
        let mut body = Vec::new();
        let mut cut = false;
        loop {
            let piece = match within(response.chunk(), self.limits.silence, stop).await {
                Err(silence) => return Err(FetchError::timed_out(&host(&url), silence.0)),
                Ok(None) => return Err(FetchError::Stopped),
                Ok(Some(Err(error))) => {
                    return Err(FetchError::BrokeOff { host: host(&url), cause: error.cause });
                }
                Ok(Some(Ok(piece))) => piece,
            };
            let Some(piece) = piece else { break };
            let room = self.limits.bytes - body.len();
            body.extend_from_slice(piece.get(..piece.len().min(room)).unwrap_or_default());
            if piece.len() > room {
                cut = true;
                break;
            }
        }
        Ok(Fetched { url, content_type, body, cut })
    }
}

fn is_text(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind.is_empty()
        || kind.starts_with("text/")
        || kind.ends_with("+xml")
        || kind.ends_with("+json")
        || matches!(kind.as_str(), "application/json" | "application/xml")
}

fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

/// An address that may be asked.
fn parse(text: &str) -> Result<Url, FetchError> {
    let url = Url::parse(text.trim())
        .map_err(|_| FetchError::NoAddress(text.trim().chars().take(200).collect()))?;
    checked(url)
}

/// Only http and https, no credentials, and no literal address of a private network; names are looked at when they
/// are looked up.
fn checked(mut url: Url) -> Result<Url, FetchError> {
    if !matches!(url.scheme(), "http" | "https") || !url.username().is_empty() || url.password().is_some() {
        // A password is nobody's to read.
        let _ = url.set_password(None);
        return Err(FetchError::NoAddress(url.to_string().chars().take(200).collect()));
    }
    let address = match url.host() {
        None => return Err(FetchError::NoAddress(url.to_string())),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            let local = name == "localhost" || name.ends_with(".localhost") || name.ends_with(".local");
            return if local { Err(FetchError::Private(url.to_string())) } else { Ok(url) };
        }
        Some(Host::Ipv4(address)) => IpAddr::V4(address),
        Some(Host::Ipv6(address)) => IpAddr::V6(address),
    };
    if is_public(address) { Ok(url) } else { Err(FetchError::Private(url.to_string())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_the_open_web_may_be_asked() {
        for private in [
            "http://127.0.0.1/",
            "http://localhost:8080/",
            "http://LOCALHOST./",
            "http://0x7f000001/",
            "http://2130706433/",
            "http://127.1/",
            "http://[::1]/",
            "http://169.254.169.254/latest/meta-data",
            "http://printer.local/",
            "https://[::ffff:10.0.0.1]/",
            "http://a.localhost/",
        ] {
            assert!(matches!(parse(private), Err(FetchError::Private(_))), "{private}: {:?}", parse(private));
        }
        for none in [
            "file:///etc/passwd",
            "ftp://a.example/",
            "javascript:alert(1)",
            "a.example",
            "",
            "http://",
            "data:text/html,x",
        ] {
            assert!(matches!(parse(none), Err(FetchError::NoAddress(_))), "{none}: {:?}", parse(none));
        }
        let Err(FetchError::NoAddress(said)) = parse("https://user:secret@a.example/") else {
            panic!("refused")
        };
        assert!(!said.contains("secret"), "{said}");
        assert!(parse("https://a.example/Betreuung_(Recht)").is_ok());
        assert!(parse("http://93.184.216.34/").is_ok());
    }
}
