//! Measures a skill library on labelled messages.
//!
//! [`labelled`] reads them, [`lists`] fills their placeholders, [`routes`] routes them and counts, [`perturb`] writes
//! them in other ways and counts the routes that move.

pub mod labelled;
pub mod lists;
#[cfg(feature = "web")]
pub mod mcp;
pub mod perturb;
pub mod routes;
#[cfg(feature = "web")]
pub mod web;
