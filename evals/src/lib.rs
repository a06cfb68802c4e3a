//! Measures a skill library on labelled messages.
//!
//! [`labelled`] reads them, [`routes`] routes them and counts.

pub mod labelled;
pub mod routes;
