//! compiler/cli
