//! What the runtime reaches over the network: endpoints of models, and pages of the web. Every wait has an end,
//! every body a size, and no page leads into the user's own network.
#![deny(clippy::indexing_slicing)]

#[cfg(feature = "tools")]
mod address;
#[cfg(feature = "tools")]
mod charset;
#[cfg(feature = "tools")]
mod failure;
#[cfg(feature = "tools")]
mod fetch;
#[cfg(feature = "tools")]
mod hosts;
mod transport;
mod wait;

#[cfg(feature = "tools")]
pub use charset::decode;
#[cfg(feature = "tools")]
pub use failure::FetchError;
#[cfg(feature = "tools")]
pub use fetch::{Fetched, Fetcher, Limits};
#[cfg(feature = "tools")]
pub use hosts::Names;
#[cfg(feature = "mcp")]
pub(crate) use transport::ClientError;
pub(crate) use transport::{Incoming, Transport, TransportError};
#[cfg(feature = "model")]
pub(crate) use wait::Silence;
#[cfg(feature = "tools")]
pub(crate) use wait::pause;
pub(crate) use wait::{Waits, within};
