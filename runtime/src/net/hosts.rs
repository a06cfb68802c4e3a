//! From a host's name to an address, with those of the user's own network left out before anything connects.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use super::address::is_public;

/// Where names lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// The system's resolver.
    System,
    /// The demo web: every name leads to one server on this machine, which speaks plain HTTP. Names that begin with
    /// `intern.` lead into a private network, and names that end in `.invalid` nowhere.
    Demo(SocketAddr),
}

/// A name that leads into the user's own network.
#[derive(Debug)]
pub(super) struct Private(pub(super) IpAddr);

impl std::fmt::Display for Private {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is an address of a private network", self.0)
    }
}

impl std::error::Error for Private {}

/// A resolver that never hands out an address of a private network.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    names: Names,
    /// Names that were refused, so that the failure can be told from one of the connection.
    refused: Arc<std::sync::Mutex<Vec<(String, IpAddr)>>>,
}

/// Refusals that are remembered.
const MOST_REFUSED: usize = 64;

impl Guard {
    pub(super) fn new(names: Names) -> Self {
        Self { names, refused: Arc::default() }
    }

    /// The private address that a name led to, once.
    pub(super) fn take_refused(&self, host: &str) -> Option<IpAddr> {
        let mut refused = self.refused.lock().ok()?;
        let at = refused.iter().position(|(name, _)| name == host)?;
        Some(refused.remove(at).1)
    }

    async fn lookup(self, host: String) -> Result<Vec<SocketAddr>, Box<dyn std::error::Error + Send + Sync>> {
        let found = match self.names {
            Names::System => tokio::net::lookup_host((host.as_str(), 0)).await?.collect(),
            Names::Demo(_) if host.ends_with(".invalid") => Vec::new(),
            Names::Demo(_) if host.starts_with("intern.") => vec![(Ipv4Addr::new(10, 0, 0, 7), 0).into()],
            Names::Demo(server) => return Ok(vec![server]),
        };
        let public: Vec<SocketAddr> = found.iter().copied().filter(|found| is_public(found.ip())).collect();
        match (public.is_empty(), found.first()) {
            (false, _) => Ok(public),
            (true, Some(private)) => {
                if let Ok(mut refused) = self.refused.lock() {
                    if refused.len() >= MOST_REFUSED {
                        refused.remove(0);
                    }
                    refused.push((host, private.ip()));
                }
                Err(Box::new(Private(private.ip())))
            }
            (true, None) => Err("no address".into()),
        }
    }
}

impl reqwest::dns::Resolve for Guard {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let lookup = self.clone().lookup(name.as_str().to_owned());
        Box::pin(async move {
            let found = lookup.await?;
            Ok(Box::new(found.into_iter()) as reqwest::dns::Addrs)
        })
    }
}
