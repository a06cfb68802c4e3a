//! Prompt.
