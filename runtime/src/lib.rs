//! Executes a compiled skill library: routes each message, builds the prompt, runs the model.
//!
//! Stages in the order a message meets them: [`artifact`] (what the compiler wrote), [`router`] (which skill, and
//! why), [`conversation`] (turns and residency), `prompt`, `model`, `tools`, [`quote`], `agent`. Without its default features
//! the crate is artifact and router only; it never calls the compiler.

#[cfg(feature = "model")]
pub mod agent;
pub mod artifact;
pub mod conversation;
#[cfg(feature = "tools")]
pub mod figures;
#[cfg(feature = "tools")]
pub mod links;
#[cfg(feature = "model")]
pub mod model;
#[cfg(any(feature = "model", feature = "tools"))]
pub mod net;
#[cfg(feature = "model")]
pub mod prompt;
pub mod quote;
#[cfg(feature = "tools")]
pub mod reading;
#[cfg(feature = "tools")]
pub mod research;
#[cfg(feature = "tools")]
pub mod review;
pub mod router;
#[cfg(feature = "tools")]
pub mod tools;

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
