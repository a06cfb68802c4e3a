//! evals
