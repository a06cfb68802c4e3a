//! What the runtime reaches over the network: endpoints of models, and pages of the web. Every wait has an end,
//! every body a size, and no page leads into the user's own network.
#![deny(clippy::indexing_slicing)]

#[cfg(feature = "web")]
mod address;
#[cfg(feature = "web")]
mod charset;
#[cfg(feature = "web")]
mod failure;
#[cfg(feature = "web")]
mod fetch;
#[cfg(feature = "web")]
mod hosts;
mod transport;
mod wait;

#[cfg(feature = "web")]
pub use charset::decode;
#[cfg(feature = "web")]
pub use failure::FetchError;
#[cfg(feature = "web")]
pub use fetch::{Fetched, Fetcher, Limits};
#[cfg(feature = "web")]
pub use hosts::Names;
pub(crate) use transport::{Incoming, Transport, TransportError};
pub(crate) use wait::{Silence, Waits, within};
