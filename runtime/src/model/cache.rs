//! Keys and values of a conversation, and copies of their beginnings.

use std::ops::Range;

use half::f16;
use ort::memory::Allocator;
use ort::session::IoBinding;
use ort::value::{DynTensor, DynValue, PrimitiveTensorElementType, TensorElementType, ValueType};

use super::ModelError;

/// A cache that the graph takes and returns.
pub(super) struct State {
    pub(super) input: String,
    pub(super) output: String,
    pub(super) kind: TensorElementType,
    /// Shape that the graph declares: `[batch, heads, tokens, head]` of keys and values, open ones -1.
    pub(super) shape: Vec<i64>,
}

impl State {
    /// A row a token: keys and values, of which a beginning stands by itself.
    pub(super) fn has_rows(&self) -> bool {
        matches!(self.shape.as_slice(), [_, heads, -1, head] if *heads > 0 && *head > 0)
    }

    /// Bytes of a token's keys or values.
    pub(super) fn token_bytes(&self) -> usize {
        let values: i64 = self.shape.iter().filter(|size| **size > 0).product();
        let size = if self.kind == TensorElementType::Float16 { 2 } else { 4 };
        usize::try_from(values).unwrap_or_default() * size
    }

    /// A buffer of zeros with room for some tokens of some conversations.
    pub(super) fn buffer(
        &self,
        allocator: &Allocator,
        conversations: usize,
        room: usize,
    ) -> Result<DynTensor, ModelError> {
        // The first dimension is the batch, any other open one the tokens.
        let shape: Vec<i64> = self
            .shape
            .iter()
            .enumerate()
            .map(|(at, &size)| match (at, size) {
                (0, _) => conversations as i64,
                (_, size) if size >= 0 => size,
                _ => room as i64,
            })
            .collect();
        let mut tensor = DynTensor::new(allocator, self.kind, shape)?;
        match self.kind {
            TensorElementType::Float32 => tensor.try_extract_tensor_mut::<f32>()?.1.fill(0.0),
            TensorElementType::Float16 => tensor.try_extract_tensor_mut::<f16>()?.1.fill(f16::ZERO),
            other => return Err(ModelError::Graph(format!("cache `{}` is {other}", self.input))),
        }
        Ok(tensor)
    }
}

/// Buffers bound to a graph that writes them in place.
pub(super) struct Bound {
    pub(super) binding: IoBinding,
    /// Logits of the last positions.
    pub(super) logits: DynValue,
    /// How many positions these are.
    pub(super) kept: usize,
}

/// Caches of one conversation.
#[derive(Default)]
pub(super) struct Cache {
    pub(super) values: Vec<DynValue>,
    /// Tokens in it.
    pub(super) length: usize,
    /// Tokens that the buffers have room for; 0 where the graph returns new ones at each step.
    pub(super) room: usize,
    pub(super) bound: Option<Bound>,
}

/// Keys and values of the beginning of a conversation, without room behind.
pub(super) struct Saved {
    rows: Vec<Rows>,
    /// Tokens in it.
    pub(super) length: usize,
}

/// `[heads, tokens, head]`, flat.
enum Rows {
    Single(Vec<f32>),
    Half(Vec<f16>),
}

impl Saved {
    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.rows
            .iter()
            .map(|rows| match rows {
                Rows::Single(values) => size_of_val(values.as_slice()),
                Rows::Half(values) => size_of_val(values.as_slice()),
            })
            .sum()
    }
}

impl Cache {
    pub(super) fn save(&self, states: &[State], length: usize) -> Result<Saved, ModelError> {
        let mut rows = Vec::with_capacity(self.values.len());
        for (state, value) in states.iter().zip(&self.values) {
            rows.push(match state.kind {
                TensorElementType::Float16 => Rows::Half(take(value, length)?),
                _ => Rows::Single(take(value, length)?),
            });
        }
        Ok(Saved { rows, length })
    }

    /// Writes the first `length` tokens of what was saved to the start of the buffers.
    pub(super) fn fill(&mut self, saved: &Saved, length: usize) -> Result<(), ModelError> {
        for (value, rows) in self.values.iter_mut().zip(&saved.rows) {
            match rows {
                Rows::Single(rows) => put(value, rows, saved.length, length)?,
                Rows::Half(rows) => put(value, rows, saved.length, length)?,
            }
        }
        self.length = length;
        Ok(())
    }
}

/// Heads of a buffer, tokens that it has room for, and values a row.
fn layout(value: &DynValue) -> Result<(usize, usize, usize), ModelError> {
    match value.dtype() {
        ValueType::Tensor { shape, .. } => match *shape.as_ref() {
            [_, heads, room, head] if heads > 0 && room >= 0 && head > 0 => {
                Ok((heads as usize, room as usize, head as usize))
            }
            _ => Err(ModelError::Graph(format!("a cache has the shape {shape}"))),
        },
        _ => Err(ModelError::Graph("a cache is no tensor".to_owned())),
    }
}

fn take<T: PrimitiveTensorElementType + Copy + std::fmt::Debug>(
    value: &DynValue,
    length: usize,
) -> Result<Vec<T>, ModelError> {
    let (_, room, head) = layout(value)?;
    let (_, all) = value.try_extract_tensor::<T>()?;
    let mut rows = Vec::with_capacity(all.len().checked_div(room).unwrap_or_default() * length);
    for of_head in all.chunks_exact((room * head).max(1)) {
        rows.extend_from_slice(of_head.get(..length * head).unwrap_or_default());
    }
    Ok(rows)
}

fn put<T: PrimitiveTensorElementType + Copy + std::fmt::Debug>(
    value: &mut DynValue,
    rows: &[T],
    saved: usize,
    length: usize,
) -> Result<(), ModelError> {
    let (_, room, head) = layout(value)?;
    let (_, all) = value.try_extract_tensor_mut::<T>()?;
    let from = rows.chunks_exact((saved * head).max(1));
    for (to, from) in all.chunks_exact_mut((room * head).max(1)).zip(from) {
        if let (Some(to), Some(from)) = (to.get_mut(..length * head), from.get(..length * head)) {
            to.copy_from_slice(from);
        }
    }
    Ok(())
}

/// Copies some tokens of a conversation in one buffer to a conversation in another.
pub(super) fn copy(
    kind: TensorElementType,
    from: (&DynValue, usize),
    to: (&mut DynValue, usize),
    tokens: Range<usize>,
) -> Result<(), ModelError> {
    match kind {
        TensorElementType::Float16 => copy_of::<f16>(from, to, tokens),
        _ => copy_of::<f32>(from, to, tokens),
    }
}

fn copy_of<T: PrimitiveTensorElementType + Copy + std::fmt::Debug>(
    (from, from_row): (&DynValue, usize),
    (to, to_row): (&mut DynValue, usize),
    tokens: Range<usize>,
) -> Result<(), ModelError> {
    let ((heads, from_room, head), (_, to_room, _)) = (layout(from)?, layout(to)?);
    let (_, from) = from.try_extract_tensor::<T>()?;
    let (_, to) = to.try_extract_tensor_mut::<T>()?;
    let values = tokens.start * head..tokens.end * head;
    let from = from.chunks_exact((from_room * head).max(1)).skip(from_row * heads);
    let to = to.chunks_exact_mut((to_room * head).max(1)).skip(to_row * heads);
    for (from, to) in from.zip(to).take(heads) {
        if let (Some(from), Some(to)) = (from.get(values.clone()), to.get_mut(values.clone())) {
            to.copy_from_slice(from);
        }
    }
    Ok(())
}
