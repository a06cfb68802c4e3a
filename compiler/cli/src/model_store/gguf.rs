//! Reads GGUF: metadata and tensors.
//!
//! Source of the layout: the GGUF specification, version 3.

mod storage;

use std::collections::BTreeMap;
use std::path::Path;

use half::f16;

use super::StoreError;
use storage::{Affine, Storage};

/// Weights in a block.
pub(super) const BLOCK: usize = 32;

/// A metadata value; only what a model of this kind holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Text(String),
    Texts(Vec<String>),
    Numbers(Vec<f64>),
}

/// A tensor: `rows` x `columns` weights, row by row.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    pub(super) columns: usize,
    pub(super) rows: usize,
    pub(super) storage: Storage,
    start: usize,
    len: usize,
}

/// A GGUF file in memory.
pub(super) struct Gguf {
    bytes: Vec<u8>,
    metadata: BTreeMap<String, Value>,
    tensors: BTreeMap<String, Tensor>,
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

fn damaged(what: impl std::fmt::Display) -> StoreError {
    StoreError::BadModel(format!("the GGUF file is damaged or cut off: {what}"))
}

/// Longest string or array that is believed; anything longer is damage.
const LONGEST: u64 = 64 << 20;

impl<'b> Reader<'b> {
    fn take(&mut self, len: usize) -> Result<&'b [u8], StoreError> {
        let end = self.at.checked_add(len).ok_or_else(|| damaged("a length overflows"))?;
        let slice = self
            .bytes
            .get(self.at..end)
            .ok_or_else(|| damaged(format!("byte {} is beyond the end", self.at)))?;
        self.at = end;
        Ok(slice)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], StoreError> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    fn u32(&mut self) -> Result<u32, StoreError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, StoreError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn length(&mut self) -> Result<usize, StoreError> {
        let length = self.u64()?;
        if length > LONGEST { Err(damaged(format!("a length of {length}"))) } else { Ok(length as usize) }
    }

    fn text(&mut self) -> Result<String, StoreError> {
        let length = self.length()?;
        let bytes = self.take(length)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| damaged("a string is not UTF-8"))
    }

    fn value(&mut self, kind: u32) -> Result<Value, StoreError> {
        Ok(match kind {
            0 => Value::Integer(i64::from(self.array::<1>()?[0])),
            1 => Value::Integer(i64::from(i8::from_le_bytes(self.array()?))),
            2 => Value::Integer(i64::from(u16::from_le_bytes(self.array()?))),
            3 => Value::Integer(i64::from(i16::from_le_bytes(self.array()?))),
            4 => Value::Integer(i64::from(self.u32()?)),
            5 => Value::Integer(i64::from(i32::from_le_bytes(self.array()?))),
            6 => Value::Float(f64::from(f32::from_le_bytes(self.array()?))),
            7 => Value::Boolean(self.array::<1>()?[0] != 0),
            8 => Value::Text(self.text()?),
            9 => {
                let inner = self.u32()?;
                let count = self.length()?;
                if inner == 8 {
                    let mut texts = Vec::new();
                    for _ in 0..count {
                        texts.push(self.text()?);
                    }
                    Value::Texts(texts)
                } else if inner == 9 {
                    return Err(StoreError::BadModel(
                        "the GGUF file nests arrays, which is not supported".into(),
                    ));
                } else {
                    let mut numbers = Vec::new();
                    for _ in 0..count {
                        numbers.push(match self.value(inner)? {
                            Value::Integer(number) => number as f64,
                            Value::Float(number) => number,
                            Value::Boolean(flag) => f64::from(u8::from(flag)),
                            Value::Text(_) | Value::Texts(_) | Value::Numbers(_) => f64::NAN,
                        });
                    }
                    Value::Numbers(numbers)
                }
            }
            10 => Value::Integer(i64::try_from(self.u64()?).map_err(|_| damaged("a number overflows"))?),
            11 => Value::Integer(i64::from_le_bytes(self.array()?)),
            12 => Value::Float(f64::from_le_bytes(self.array()?)),
            other => return Err(damaged(format!("metadata of type {other}"))),
        })
    }
}

impl Gguf {
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let failed = |error| StoreError::io("read", path, error);
        // Looked at before it is opened: a pipe waits for a writer, a device never ends.
        let kind = std::fs::metadata(path).map_err(failed)?;
        if !kind.is_file() {
            let what = if kind.is_dir() { "it is a folder" } else { "it is a device or a pipe, no file" };
            return Err(failed(std::io::Error::new(std::io::ErrorKind::InvalidInput, what)));
        }
        Self::parse(std::fs::read(path).map_err(failed)?)
    }

    pub(super) fn parse(bytes: Vec<u8>) -> Result<Self, StoreError> {
        let mut reader = Reader { bytes: &bytes, at: 0 };
        if reader.take(4).ok() != Some(b"GGUF") {
            return Err(StoreError::BadModel("this is no GGUF file: it does not start with `GGUF`".into()));
        }
        let version = reader.u32()?;
        if !(2..=3).contains(&version) {
            return Err(StoreError::BadModel(format!(
                "GGUF version {version} is not supported (2 and 3 are)"
            )));
        }
        let tensor_count = reader.length()?;
        let value_count = reader.length()?;
        let mut metadata = BTreeMap::new();
        for _ in 0..value_count {
            let key = reader.text()?;
            let kind = reader.u32()?;
            metadata.insert(key, reader.value(kind)?);
        }
        let mut infos = Vec::new();
        for _ in 0..tensor_count {
            let name = reader.text()?;
            let dimensions = reader.u32()?;
            if !(1..=2).contains(&dimensions) {
                return Err(StoreError::BadModel(format!(
                    "tensor {name} has {dimensions} dimensions (1 or 2 are supported)"
                )));
            }
            let columns = reader.length()?;
            let rows = if dimensions == 2 { reader.length()? } else { 1 };
            let number = reader.u32()?;
            let storage = Storage::of(number).ok_or_else(|| {
                let names: Vec<&str> = Storage::ALL.iter().map(|(.., name)| *name).collect();
                let names = names.join(", ");
                StoreError::BadModel(format!("tensor {name} has ggml type {number}; supported are {names}"))
            })?;
            let offset = usize::try_from(reader.u64()?).map_err(|_| damaged("an offset overflows"))?;
            infos.push((name, columns, rows, storage, offset));
        }
        let alignment = match metadata.get("general.alignment") {
            Some(Value::Integer(alignment)) if *alignment > 0 => *alignment as usize,
            _ => 32,
        };
        let data = reader.at.next_multiple_of(alignment);
        let mut tensors = BTreeMap::new();
        for (name, columns, rows, storage, offset) in infos {
            let block = storage.block_weights();
            if columns % block != 0 {
                return Err(StoreError::BadModel(format!(
                    "tensor {name}: {columns} columns are no multiple of {block}"
                )));
            }
            let len = (columns / block)
                .checked_mul(rows)
                .and_then(|blocks| blocks.checked_mul(storage.block_bytes()))
                .ok_or_else(|| damaged(format!("the size of tensor {name}")))?;
            let start = data.saturating_add(offset);
            if start.checked_add(len).is_none_or(|end| end > bytes.len()) {
                return Err(damaged(format!("tensor {name} reaches beyond the end")));
            }
            tensors.insert(name, Tensor { columns, rows, storage, start, len });
        }
        Ok(Self { bytes, metadata, tensors })
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.metadata.get(key)
    }

    pub(super) fn integer(&self, key: &str) -> Result<usize, StoreError> {
        match self.metadata.get(key) {
            Some(Value::Integer(number)) if *number >= 0 => Ok(*number as usize),
            _ => Err(StoreError::BadModel(format!("the GGUF file has no number `{key}`"))),
        }
    }

    pub(super) fn float(&self, key: &str) -> Result<f64, StoreError> {
        match self.metadata.get(key) {
            Some(Value::Float(number)) => Ok(*number),
            _ => Err(StoreError::BadModel(format!("the GGUF file has no number `{key}`"))),
        }
    }

    pub(super) fn text(&self, key: &str) -> Result<&str, StoreError> {
        match self.metadata.get(key) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(StoreError::BadModel(format!("the GGUF file has no text `{key}`"))),
        }
    }

    pub(super) fn texts(&self, key: &str) -> Result<&[String], StoreError> {
        match self.metadata.get(key) {
            Some(Value::Texts(texts)) => Ok(texts),
            _ => Err(StoreError::BadModel(format!("the GGUF file has no list `{key}`"))),
        }
    }

    pub(super) fn tensor(&self, name: &str, rows: usize, columns: usize) -> Result<&Tensor, StoreError> {
        let tensor = self
            .tensors
            .get(name)
            .ok_or_else(|| StoreError::BadModel(format!("the GGUF file has no tensor `{name}`")))?;
        if (tensor.rows, tensor.columns) != (rows, columns) {
            return Err(StoreError::BadModel(format!(
                "tensor {name} is {} x {}, expected {rows} x {columns}",
                tensor.rows, tensor.columns
            )));
        }
        Ok(tensor)
    }

    /// Whether the file holds a tensor.
    pub(super) fn has_tensor(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// Calls `block` with each 32 weights in order, as 32-bit floats.
    fn blocks(&self, tensor: &Tensor, mut block: impl FnMut(&[f32; BLOCK])) {
        for raw in self.raw_blocks(tensor) {
            tensor.storage.weights(raw, &mut block);
        }
    }

    fn raw_blocks(&self, tensor: &Tensor) -> std::slice::ChunksExact<'_, u8> {
        let data = self.bytes.get(tensor.start..tensor.start + tensor.len).unwrap_or_default();
        data.chunks_exact(tensor.storage.block_bytes())
    }

    /// All weights as 32-bit floats.
    pub(super) fn floats(&self, tensor: &Tensor) -> Vec<f32> {
        let mut out = Vec::with_capacity(tensor.rows * tensor.columns);
        self.blocks(tensor, |block| out.extend_from_slice(block));
        out
    }

    /// Weights as 8-bit integers with a 32-bit scale and an 8-bit zero point a block.
    ///
    /// Exact for `Q8_0`, `Q4_0` and `Q5_0`. Blocks of `scale * n + minimum` are refined k times, and of all k that fit
    /// into 8 bits the one is taken whose zero point lies nearest to an integer. Other blocks are rounded symmetrically.
    pub(super) fn quantised(&self, tensor: &Tensor) -> Quantised {
        let blocks = tensor.rows * tensor.columns / BLOCK;
        let mut out = Quantised {
            weights: Vec::with_capacity(blocks * BLOCK),
            scales: Vec::with_capacity(blocks),
            zero_points: Vec::with_capacity(blocks),
        };
        for raw in self.raw_blocks(tensor) {
            match tensor.storage {
                Storage::Q8_0 => {
                    if let [low, high, bytes @ ..] = raw {
                        out.scales.push(f16::from_le_bytes([*low, *high]).to_f32());
                        out.zero_points.push(SYMMETRIC);
                        out.weights.extend(bytes.iter().map(|byte| byte.wrapping_add(SYMMETRIC)));
                    }
                }
                Storage::F32 | Storage::F16 | Storage::Bf16 | Storage::Q6K => {
                    tensor.storage.weights(raw, |block| out.push_symmetric(block));
                }
                _ => tensor.storage.affine(raw, |block| out.push_affine(block)),
            }
        }
        out
    }
}

/// Zero point of a block that is symmetric around zero.
const SYMMETRIC: u8 = 128;

/// Weights in 8 bits: `scale * (weight - zero_point)`.
#[derive(Debug, Default)]
pub(super) struct Quantised {
    pub(super) weights: Vec<u8>,
    /// One a block.
    pub(super) scales: Vec<f32>,
    /// One a block.
    pub(super) zero_points: Vec<u8>,
}

impl Quantised {
    /// A block on a finer grid; one in whose range zero does not lie is rounded.
    fn push_affine(&mut self, block: &Affine) {
        let Affine { numbers, scale, minimum, most } = block;
        let ratio = -minimum / scale;
        if *scale == 0.0 || !(0.0..=f32::from(*most)).contains(&ratio) {
            return self.push_symmetric(&numbers.map(|number| scale * f32::from(number) + minimum));
        }
        let error = |factor: u8| {
            let exact = ratio * f32::from(factor);
            (exact - exact.round()).abs() / f32::from(factor)
        };
        let factors = 1..=u8::MAX / most;
        let factor = factors.min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap_or(1);
        self.scales.push(scale / f32::from(factor));
        self.zero_points.push((ratio * f32::from(factor)).round() as u8);
        self.weights.extend(numbers.map(|number| number * factor));
    }

    fn push_symmetric(&mut self, block: &[f32; BLOCK]) {
        let largest = block.iter().fold(0_f32, |largest, weight| largest.max(weight.abs()));
        let scale = largest / 127.0;
        let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
        self.scales.push(scale);
        self.zero_points.push(SYMMETRIC);
        let middle = f32::from(SYMMETRIC);
        self.weights
            .extend(block.iter().map(|weight| ((weight * inverse).round() + middle).clamp(0.0, 255.0) as u8));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_files_are_errors_and_never_panics() {
        let mut whole = b"GGUF".to_vec();
        whole.extend(3_u32.to_le_bytes());
        whole.extend(1_u64.to_le_bytes());
        whole.extend(0_u64.to_le_bytes());
        whole.extend(1_u64.to_le_bytes());
        whole.extend(b"t");
        whole.extend(2_u32.to_le_bytes());
        whole.extend(32_u64.to_le_bytes());
        whole.extend(1_u64.to_le_bytes());
        whole.extend(8_u32.to_le_bytes());
        whole.extend(0_u64.to_le_bytes());
        whole.resize(whole.len().next_multiple_of(32), 0);
        whole.extend(f16::from_f32(0.5).to_le_bytes());
        whole.extend((0..32_u8).map(|n| n.wrapping_sub(16)));
        let model = Gguf::parse(whole.clone()).expect("the file is whole");
        let tensor = model.tensor("t", 1, 32).expect("the tensor is there");
        assert_eq!(model.floats(tensor)[..3], [-8.0, -7.5, -7.0]);
        let quantised = model.quantised(tensor);
        assert_eq!((quantised.weights[0], quantised.weights[31], quantised.scales[0]), (112, 143, 0.5));
        for length in 0..whole.len() {
            assert!(Gguf::parse(whole[..length].to_vec()).is_err(), "{length} bytes");
        }
        let mut huge = whole;
        huge[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(Gguf::parse(huge).is_err());
    }
}
