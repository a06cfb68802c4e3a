//! Runs the graph: token ids in, logits out.
//!
//! Keys and values lie in buffers that the graph writes in place where it can (attention that takes a buffer longer
//! than what it holds); else the graph's own outputs are handed to the next step.

use std::borrow::Cow;
use std::collections::HashMap;

use ort::session::{Session, SessionInputValue};
use ort::value::{DynTensor, DynValue, Outlet, Tensor, TensorElementType, TensorRef, ValueType};

use super::ModelError;
use super::cache::{Bound, Cache, State};

/// For which positions logits are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    /// The last one.
    Last,
    /// All of the step.
    All,
}

/// A decoder graph.
pub(super) struct Decoder {
    session: Session,
    states: Vec<State>,
    takes_positions: bool,
    takes_keep: Option<String>,
    logits: String,
    /// Shape and type of the last position's logits, of a graph that writes its caches in place.
    in_place: Option<(Vec<i64>, TensorElementType)>,
}

const KEEP_INPUTS: [&str; 2] = ["num_logits_to_keep", "logits_to_keep"];
/// Tokens that a buffer holds at first; it doubles when they are spent.
const FIRST_ROOM: usize = 1024;
/// Length of the buffers that a new graph is tried with.
const TRIAL_ROOM: usize = 8;

impl Decoder {
    /// Wraps a graph. `on_processor`: it runs there, and may write its caches in place.
    pub(super) fn new(session: Session, on_processor: bool) -> Result<Self, ModelError> {
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
        let mut decoder = Self { session, states, takes_positions, takes_keep, logits, in_place: None };
        if on_processor && decoder.takes_keep.is_some() && decoder.can_reuse() {
            decoder.in_place = decoder.try_in_place();
        }
        Ok(decoder)
    }

    /// Whether a part of a cache stands by itself: keys and values do, recurrent states do not.
    pub(super) fn can_reuse(&self) -> bool {
        !self.states.is_empty() && self.states.iter().all(State::has_rows)
    }

    /// Whether the graph writes its caches in place.
    pub(super) fn is_in_place(&self) -> bool {
        self.in_place.is_some()
    }

    /// Gives the graph buffers that are longer than what they hold. If it returns ones of the same length, its
    /// attention looks only at what they hold, and may write into them.
    fn try_in_place(&mut self) -> Option<(Vec<i64>, TensorElementType)> {
        let mut values = Vec::new();
        for state in &self.states {
            values.push(state.buffer(self.session.allocator(), TRIAL_ROOM).ok()?.into_dyn());
        }
        let mut outputs = self.run(&values, 0, &[0], Keep::Last).ok()?;
        for state in &self.states {
            let value = outputs.remove(&state.output)?;
            let ValueType::Tensor { shape, .. } = value.dtype() else { return None };
            if shape.get(2) != Some(&(TRIAL_ROOM as i64)) {
                return None;
            }
        }
        match outputs.remove(&self.logits)?.dtype() {
            ValueType::Tensor { ty, shape, .. } if shape.get(1) == Some(&1) => Some((shape.to_vec(), *ty)),
            _ => None,
        }
    }

    /// Caches before the first token.
    pub(super) fn cache(&self) -> Result<Cache, ModelError> {
        match &self.in_place {
            Some(_) => Ok(Cache::default()),
            None => self.handed(),
        }
    }

    fn handed(&self) -> Result<Cache, ModelError> {
        let allocator = self.session.allocator();
        let values: Result<Vec<DynValue>, ModelError> =
            self.states.iter().map(|state| Ok(state.buffer(allocator, 0)?.into_dyn())).collect();
        Ok(Cache { values: values?, ..Cache::default() })
    }

    /// Logits of every position, `[positions, vocabulary]`, flat: one prefill without a cache.
    pub(super) fn all_logits(&mut self, tokens: &[u32]) -> Result<Vec<f32>, ModelError> {
        let mut cache = self.handed()?;
        self.step_handed(&mut cache, tokens, Keep::All)
    }

    /// Runs tokens behind a cache. Returns the logits of the last position.
    pub(super) fn step(&mut self, cache: &mut Cache, tokens: &[u32]) -> Result<Vec<f32>, ModelError> {
        match self.in_place.is_some() {
            true => self.step_in_place(cache, tokens),
            false => self.step_handed(cache, tokens, Keep::Last),
        }
    }

    /// Keeps the first `length` tokens of a cache.
    pub(super) fn truncate(&self, cache: &mut Cache, length: usize) -> Result<(), ModelError> {
        if length < cache.length && self.in_place.is_none() {
            let saved = cache.save(&self.states, length)?;
            return self.restore(cache, &saved, length);
        }
        cache.length = cache.length.min(length);
        Ok(())
    }

    /// Copies keys and values of the first `length` tokens.
    pub(super) fn save(&self, cache: &Cache, length: usize) -> Result<super::cache::Saved, ModelError> {
        cache.save(&self.states, length)
    }

    /// Puts the first `length` tokens of what was saved into a cache, in place of what it held.
    pub(super) fn restore(
        &self,
        cache: &mut Cache,
        saved: &super::cache::Saved,
        length: usize,
    ) -> Result<(), ModelError> {
        cache.length = 0;
        let room = if self.in_place.is_some() { self.reserve(cache, length)? } else { length };
        if self.in_place.is_none() {
            let allocator = self.session.allocator();
            let values: Result<Vec<DynValue>, ModelError> =
                self.states.iter().map(|state| Ok(state.buffer(allocator, room)?.into_dyn())).collect();
            cache.values = values?;
        }
        cache.fill(saved, length)
    }

    /// Buffers with room for `total` tokens; what they hold is kept. Returns the room.
    fn reserve(&self, cache: &mut Cache, total: usize) -> Result<usize, ModelError> {
        let Some((shape, kind)) = &self.in_place else { return Ok(0) };
        if total <= cache.room && cache.bound.is_some() {
            return Ok(cache.room);
        }
        let room = total.max(FIRST_ROOM).next_power_of_two();
        let allocator = self.session.allocator();
        let kept = if cache.length > 0 { Some(cache.save(&self.states, cache.length)?) } else { None };
        let mut binding = self.session.create_binding()?;
        let mut values = Vec::with_capacity(self.states.len());
        for state in &self.states {
            let mut buffer = state.buffer(allocator, room)?.into_dyn();
            binding.bind_input(state.input.as_str(), &buffer)?;
            binding.bind_output(state.output.as_str(), &mut buffer)?;
            values.push(buffer);
        }
        let mut logits = DynTensor::new(allocator, *kind, shape.clone())?.into_dyn();
        binding.bind_output(self.logits.as_str(), &mut logits)?;
        if let Some(name) = &self.takes_keep {
            let empty: [usize; 0] = [];
            binding.bind_input(name.as_str(), &Tensor::from_array((empty, vec![1_i64]))?)?;
        }
        cache.values = values;
        cache.room = room;
        cache.bound = Some(Bound { binding, logits });
        if let Some(kept) = kept {
            let length = cache.length;
            cache.fill(&kept, length)?;
        }
        Ok(room)
    }

    fn step_in_place(&mut self, cache: &mut Cache, tokens: &[u32]) -> Result<Vec<f32>, ModelError> {
        let count = tokens.len();
        let total = cache.length + count;
        self.reserve(cache, total)?;
        let Some(bound) = &mut cache.bound else {
            return Err(ModelError::Graph("its caches were not bound".to_owned()));
        };
        let ids: Vec<i64> = tokens.iter().map(|token| i64::from(*token)).collect();
        bound.binding.bind_input("input_ids", &Tensor::from_array(([1, count], ids))?)?;
        bound.binding.bind_input("attention_mask", &Tensor::from_array(([1, total], vec![1_i64; total]))?)?;
        if self.takes_positions {
            let positions: Vec<i64> = (cache.length..total).map(|position| position as i64).collect();
            bound.binding.bind_input("position_ids", &Tensor::from_array(([1, count], positions))?)?;
        }
        drop(self.session.run_binding(&bound.binding)?);
        cache.length = total;
        floats(&bound.logits)
    }

    fn step_handed(&mut self, cache: &mut Cache, tokens: &[u32], keep: Keep) -> Result<Vec<f32>, ModelError> {
        let total = cache.length + tokens.len();
        let mut outputs = self.run(&cache.values, cache.length, tokens, keep)?;
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

    fn run(
        &mut self,
        values: &[DynValue],
        length: usize,
        tokens: &[u32],
        keep: Keep,
    ) -> Result<HashMap<String, DynValue>, ModelError> {
        let count = tokens.len();
        let total = length + count;
        let ids: Vec<i64> = tokens.iter().map(|token| i64::from(*token)).collect();
        let mask = vec![1_i64; total];
        let positions: Vec<i64> = (length..total).map(|position| position as i64).collect();
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
        for (state, value) in self.states.iter().zip(values) {
            inputs.push((state.input.as_str().into(), value.into()));
        }
        let outputs = self.session.run(inputs)?;
        Ok(outputs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
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
    Ok(State { input: name.to_owned(), output: output.to_owned(), kind: *ty, shape: shape.to_vec() })
}
