//! Why a page did not come.

use std::time::Duration;

/// Why a page did not come. Each is a reply of the library: [`FetchError::key`] and [`FetchError::values`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// It is no address, or one of another kind than http and https.
    #[error("{0} is no address of a page")]
    NoAddress(String),
    /// It leads into the user's own network.
    #[error("{0} leads into a private network")]
    Private(String),
    /// The name has no address, or nothing answers there.
    #[error("{host} cannot be reached: {cause}")]
    Unreachable {
        /// The host.
        host: String,
        /// Causes in words.
        cause: String,
    },
    /// A time ran out.
    #[error("{host} did not answer in {seconds} s")]
    TimedOut {
        /// The host.
        host: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// It answered with a failure.
    #[error("{host} answered {status}")]
    Status {
        /// The host.
        host: String,
        /// The status.
        status: u16,
    },
    /// It asked not to be asked for a while.
    #[error("{host} asks to wait {seconds} s")]
    Busy {
        /// The host.
        host: String,
        /// For how long.
        seconds: u64,
    },
    /// It leads from address to address.
    #[error("{0} leads from one address to the next")]
    Redirects(String),
    /// It ended before it was whole.
    #[error("{host} broke off: {cause}")]
    BrokeOff {
        /// The host.
        host: String,
        /// Causes in words.
        cause: String,
    },
    /// It is no text: a picture, a PDF.
    #[error("{host} holds {kind}, not text")]
    NotText {
        /// The host.
        host: String,
        /// The media type.
        kind: String,
    },
    /// The user stopped it.
    #[error("it was stopped")]
    Stopped,
}

impl FetchError {
    /// The key of the reply that says so.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::NoAddress(_) => "reason-no-address",
            Self::Private(_) => "reason-private-address",
            Self::Unreachable { .. } => "reason-unreachable",
            Self::TimedOut { .. } => "reason-timed-out",
            Self::Status { .. } => "reason-status",
            Self::Busy { .. } => "reason-busy",
            Self::Redirects(_) => "reason-redirects",
            Self::BrokeOff { .. } => "reason-broke-off",
            Self::NotText { .. } => "reason-not-text",
            Self::Stopped => "reason-stopped",
        }
    }

    /// The values in it.
    #[must_use]
    pub fn values(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::NoAddress(url) | Self::Private(url) | Self::Redirects(url) => vec![("url", url.clone())],
            Self::Unreachable { host, .. } | Self::BrokeOff { host, .. } => vec![("host", host.clone())],
            Self::TimedOut { host, seconds } | Self::Busy { host, seconds } => {
                vec![("host", host.clone()), ("seconds", seconds.to_string())]
            }
            Self::Status { host, status } => vec![("host", host.clone()), ("status", status.to_string())],
            Self::NotText { host, kind } => vec![("host", host.clone()), ("kind", kind.clone())],
            Self::Stopped => Vec::new(),
        }
    }

    /// Nothing of the network answered at all: asking somebody else would not help either.
    #[must_use]
    pub fn is_offline(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }

    pub(super) fn timed_out(host: &str, waited: Duration) -> Self {
        Self::TimedOut { host: host.to_owned(), seconds: waited.as_secs().max(1) }
    }
}
