//! Runs the graph: token ids in, logits out, key-value caches handed from one step to the next without a copy.

use std::borrow::Cow;

use ort::session::{Session, SessionInputValue};
use ort::value::{DynValue, Outlet, Tensor, TensorElementType, TensorRef, ValueType};

use super::ModelError;

/// For which positions logits are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The last one.
    Last,
    /// All of the step.
    All,
}

/// A cache that the graph takes and returns.
struct State {
    input: String,
    output: String,
    kind: TensorElementType,
    /// Shape before the first token, `[batch, heads, 0, head]` for keys and values.
    empty: Vec<i64>,
}

/// A decoder graph.
pub(super) struct Decoder {
    session: Session,
    states: Vec<State>,
    takes_positions: bool,
    takes_keep: Option<String>,
    logits: String,
}

/// Caches of one conversation.
pub(super) struct Cache {
    values: Vec<DynValue>,
    /// Tokens in it.
    length: usize,
}

const KEEP_INPUTS: [&str; 2] = ["num_logits_to_keep", "logits_to_keep"];

impl Decoder {
    pub(super) fn new(session: Session) -> Result<Self, ModelError> {
        let has = |name: &str| session.inputs().iter().any(|input| input.name() == name);
        for name in ["input_ids", "attention_mask"] {
            if !has(name) {
                return Err(ModelError::Graph(format!("it has no input `{name}`")));
            }
        }
        let takes_positions = has("position_ids");
        let takes_keep = KEEP_INPUTS.into_iter().find(|name| has(name)).map(str::to_owned);
        let mut states = Vec::new();
        for input in session.inputs() {
            let name = input.name();
            let known = ["input_ids", "attention_mask", "position_ids"];
            if known.contains(&name) || takes_keep.as_deref() == Some(name) {
                continue;
            }
            states.push(state(input, session.outputs())?);
        }
        let logits = session
            .outputs()
            .iter()
            .map(Outlet::name)
            .find(|name| *name == "logits")
            .ok_or_else(|| ModelError::Graph("it has no output `logits`".to_owned()))?
            .to_owned();
        Ok(Self { session, states, takes_positions, takes_keep, logits })
    }

    /// Caches before the first token.
    pub(super) fn cache(&self) -> Result<Cache, ModelError> {
        let allocator = self.session.allocator();
        let mut values = Vec::with_capacity(self.states.len());
        for state in &self.states {
            let shape = state.empty.clone();
            let value = match state.kind {
                TensorElementType::Float32 => {
                    let mut tensor = Tensor::<f32>::new(allocator, shape)?;
                    tensor.extract_tensor_mut().1.fill(0.0);
                    tensor.into_dyn()
                }
                TensorElementType::Float16 => {
                    let mut tensor = Tensor::<half::f16>::new(allocator, shape)?;
                    tensor.extract_tensor_mut().1.fill(half::f16::ZERO);
                    tensor.into_dyn()
                }
                other => return Err(ModelError::Graph(format!("cache `{}` is {other}", state.input))),
            };
            values.push(value);
        }
        Ok(Cache { values, length: 0 })
    }

    /// Runs tokens behind a cache. Returns logits `[positions, vocabulary]`, flat.
    pub(super) fn step(
        &mut self,
        cache: &mut Cache,
        tokens: &[u32],
        keep: Keep,
    ) -> Result<Vec<f32>, ModelError> {
        let count = tokens.len();
        let total = cache.length + count;
        let ids: Vec<i64> = tokens.iter().map(|token| i64::from(*token)).collect();
        let mask = vec![1_i64; total];
        let positions: Vec<i64> = (cache.length..total).map(|position| position as i64).collect();
        let kept = [i64::from(keep == Keep::Last)];
        let mut inputs: Vec<(Cow<'_, str>, SessionInputValue<'_>)> =
            Vec::with_capacity(self.states.len() + 4);
        inputs.push(("input_ids".into(), TensorRef::from_array_view(([1, count], ids.as_slice()))?.into()));
        inputs.push((
            "attention_mask".into(),
            TensorRef::from_array_view(([1, total], mask.as_slice()))?.into(),
        ));
        if self.takes_positions {
            let view = TensorRef::from_array_view(([1, count], positions.as_slice()))?;
            inputs.push(("position_ids".into(), view.into()));
        }
        if let Some(name) = &self.takes_keep {
            let empty: [usize; 0] = [];
            inputs.push((name.as_str().into(), TensorRef::from_array_view((empty, kept.as_slice()))?.into()));
        }
        for (state, value) in self.states.iter().zip(&cache.values) {
            inputs.push((state.input.as_str().into(), value.into()));
        }
        let mut outputs = self.session.run(inputs)?;
        let mut values = Vec::with_capacity(self.states.len());
        for state in &self.states {
            let value = outputs
                .remove(&state.output)
                .ok_or_else(|| ModelError::Graph(format!("it returned no `{}`", state.output)))?;
            values.push(value);
        }
        let value = outputs
            .remove(&self.logits)
            .ok_or_else(|| ModelError::Graph("it returned no logits".to_owned()))?;
        let mut logits = floats(&value)?;
        let vocabulary = match value.dtype() {
            ValueType::Tensor { shape, .. } => shape.last().copied().unwrap_or_default() as usize,
            _ => 0,
        };
        if keep == Keep::Last && vocabulary > 0 && logits.len() > vocabulary {
            // The graph cannot keep only the last position, so the others are dropped here.
            logits.drain(..logits.len() - vocabulary);
        }
        cache.values = values;
        cache.length = total;
        Ok(logits)
    }
}

fn floats(value: &DynValue) -> Result<Vec<f32>, ModelError> {
    match value.dtype() {
        ValueType::Tensor { ty: TensorElementType::Float16, .. } => {
            let (_, data) = value.try_extract_tensor::<half::f16>()?;
            Ok(data.iter().map(|value| value.to_f32()).collect())
        }
        _ => Ok(value.try_extract_tensor::<f32>()?.1.to_vec()),
    }
}

/// The output that returns what an input takes: `past_key_values.0.key` and `present.0.key`.
fn state(input: &Outlet, outputs: &[Outlet]) -> Result<State, ModelError> {
    let name = input.name();
    let rest = name
        .strip_prefix("past_key_values")
        .or_else(|| name.strip_prefix("past"))
        .ok_or_else(|| ModelError::Graph(format!("its input `{name}` is not known")))?;
    let wanted = [format!("present{rest}"), format!("present_key_values{rest}")];
    let output = outputs
        .iter()
        .map(Outlet::name)
        .find(|output| wanted.iter().any(|wanted| wanted == output))
        .ok_or_else(|| ModelError::Graph(format!("no output returns what `{name}` takes")))?;
    let ValueType::Tensor { ty, shape, .. } = input.dtype() else {
        return Err(ModelError::Graph(format!("its input `{name}` is no tensor")));
    };
    // The first open dimension is the batch, any other the length, which is zero before the first token.
    let empty = shape
        .iter()
        .enumerate()
        .map(|(at, &size)| match (at, size) {
            (0, _) => 1,
            (_, size) if size >= 0 => size,
            _ => 0,
        })
        .collect();
    Ok(State { input: name.to_owned(), output: output.to_owned(), kind: *ty, empty })
}
