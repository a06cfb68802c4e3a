//! Runs the graph: token ids in, logits out.
//!
//! Keys and values lie in buffers that the graph writes in place where it can (attention that takes a buffer longer
//! than what it holds); else the graph's own outputs are handed to the next step. Where it writes in place, a step of
//! several conversations can be one run.

use std::borrow::Cow;
use std::collections::HashMap;

use ort::session::{Session, SessionInputValue};
use ort::value::{DynTensor, DynValue, Outlet, Tensor, TensorElementType, TensorRef, ValueType};

use super::ModelError;
use super::cache::{Bound, Cache, Saved, State, copy};
use super::placement::Placement;

/// A decoder graph.
pub(super) struct Decoder {
    session: Session,
    states: Vec<State>,
    takes_positions: bool,
    takes_keep: Option<String>,
    logits: String,
    /// Vocabulary and type of the logits, of a graph that writes its caches in place.
    in_place: Option<(usize, TensorElementType)>,
    /// Whether it takes several conversations in one run; found out when it matters first.
    batches: Option<bool>,
}

/// Caches of several conversations side by side, for steps of one token each.
pub(super) struct Batch {
    values: Vec<DynValue>,
    bound: Bound,
    /// Tokens of each conversation, and how many of them its own cache has.
    lengths: Vec<(usize, usize)>,
    room: usize,
}

impl Batch {
    /// Whether each conversation has room for another token.
    pub(super) fn has_room(&self) -> bool {
        self.lengths.iter().all(|(length, _)| *length < self.room)
    }
}

const KEEP_INPUTS: [&str; 2] = ["num_logits_to_keep", "logits_to_keep"];
/// Tokens that a buffer holds at first; it doubles when they are spent.
const FIRST_ROOM: usize = 1024;
/// Length of the buffers that a new graph is tried with.
const TRIAL_ROOM: usize = 8;
/// Tokens that a batch has room for behind its longest conversation.
const BATCH_ROOM: usize = 256;
/// Logits of one conversation and the same in a batch lie at most this far apart, in parts of their largest: other
/// kernels add in another order.
const SAME: f32 = 0.2;

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
        let mut decoder =
            Self { session, states, takes_positions, takes_keep, logits, in_place: None, batches: None };
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

    /// Runs a token under the profile with which the session was opened, and reads what ran where.
    pub(super) fn placement(&mut self) -> Result<Placement, ModelError> {
        let mut cache = self.cache()?;
        self.step(&mut cache, &[0])?;
        Placement::of(&mut self.session)
    }

    /// Gives the graph buffers that are longer than what they hold. If it returns ones of the same length, its
    /// attention looks only at what they hold, and may write into them.
    fn try_in_place(&mut self) -> Option<(usize, TensorElementType)> {
        let mut values = Vec::new();
        for state in &self.states {
            values.push(state.buffer(self.session.allocator(), 1, TRIAL_ROOM).ok()?.into_dyn());
        }
        let mut outputs = self.run(&values, 0, &[0], 1).ok()?;
        for state in &self.states {
            let value = outputs.remove(&state.output)?;
            let ValueType::Tensor { shape, .. } = value.dtype() else { return None };
            if shape.get(2) != Some(&(TRIAL_ROOM as i64)) {
                return None;
            }
        }
        match outputs.remove(&self.logits)?.dtype() {
            ValueType::Tensor { ty, shape, .. } => match *shape.as_ref() {
                [1, 1, vocabulary] if vocabulary > 0 => Some((vocabulary as usize, *ty)),
                _ => None,
            },
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
        Ok(Cache { values: self.buffers(1, 0)?, ..Cache::default() })
    }

    fn buffers(&self, conversations: usize, room: usize) -> Result<Vec<DynValue>, ModelError> {
        let allocator = self.session.allocator();
        self.states.iter().map(|state| Ok(state.buffer(allocator, conversations, room)?.into_dyn())).collect()
    }

    /// Logits of every position, `[positions, vocabulary]`, flat: one prefill without a cache.
    pub(super) fn all_logits(&mut self, tokens: &[u32]) -> Result<Vec<f32>, ModelError> {
        let mut cache = self.handed()?;
        self.step_handed(&mut cache, tokens, tokens.len())
    }

    /// Runs tokens behind a cache. Returns the logits of the last position.
    pub(super) fn step(&mut self, cache: &mut Cache, tokens: &[u32]) -> Result<Vec<f32>, ModelError> {
        self.step_keeping(cache, tokens, 1)
    }

    /// Runs tokens behind a cache. Returns the logits of the last `kept` positions, `[kept, vocabulary]`, flat.
    pub(super) fn step_keeping(
        &mut self,
        cache: &mut Cache,
        tokens: &[u32],
        kept: usize,
    ) -> Result<Vec<f32>, ModelError> {
        match self.in_place {
            Some(_) => self.step_in_place(cache, tokens, kept),
            None => self.step_handed(cache, tokens, kept),
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
    pub(super) fn save(&self, cache: &Cache, length: usize) -> Result<Saved, ModelError> {
        cache.save(&self.states, length)
    }

    /// Puts the first `length` tokens of what was saved into a cache, in place of what it held.
    pub(super) fn restore(&self, cache: &mut Cache, saved: &Saved, length: usize) -> Result<(), ModelError> {
        cache.length = 0;
        if self.in_place.is_some() {
            self.reserve(cache, length)?;
        } else {
            cache.values = self.buffers(1, length)?;
        }
        cache.fill(saved, length)
    }

    /// Buffers with room for `total` tokens; what they hold is kept.
    fn reserve(&self, cache: &mut Cache, total: usize) -> Result<(), ModelError> {
        if self.in_place.is_none() || (total <= cache.room && cache.bound.is_some()) {
            return Ok(());
        }
        let room = total.max(FIRST_ROOM).next_power_of_two();
        let kept = if cache.length > 0 { Some(cache.save(&self.states, cache.length)?) } else { None };
        let mut values = self.buffers(1, room)?;
        cache.bound = Some(self.bind(&mut values, 1)?);
        cache.values = values;
        cache.room = room;
        if let Some(kept) = kept {
            let length = cache.length;
            cache.fill(&kept, length)?;
        }
        Ok(())
    }

    /// Binds buffers as what the graph reads and writes, with logits of one position of each conversation.
    fn bind(&self, values: &mut [DynValue], conversations: usize) -> Result<Bound, ModelError> {
        let mut binding = self.session.create_binding()?;
        for (state, buffer) in self.states.iter().zip(values) {
            binding.bind_input(state.input.as_str(), buffer)?;
            binding.bind_output(state.output.as_str(), buffer)?;
        }
        let logits = self.bind_logits(&mut binding, conversations, 1)?;
        Ok(Bound { binding, logits, kept: 1 })
    }

    fn bind_logits(
        &self,
        binding: &mut ort::session::IoBinding,
        conversations: usize,
        kept: usize,
    ) -> Result<DynValue, ModelError> {
        let (vocabulary, kind) = self.in_place.unwrap_or((0, TensorElementType::Float32));
        let shape = [conversations as i64, kept as i64, vocabulary as i64];
        let mut logits = DynTensor::new(self.session.allocator(), kind, shape)?.into_dyn();
        binding.bind_output(self.logits.as_str(), &mut logits)?;
        if let Some(name) = &self.takes_keep {
            let empty: [usize; 0] = [];
            binding.bind_input(name.as_str(), &Tensor::from_array((empty, vec![kept as i64]))?)?;
        }
        Ok(logits)
    }

    fn step_in_place(
        &mut self,
        cache: &mut Cache,
        tokens: &[u32],
        kept: usize,
    ) -> Result<Vec<f32>, ModelError> {
        let count = tokens.len();
        let total = cache.length + count;
        self.reserve(cache, total)?;
        let Some(bound) = &mut cache.bound else {
            return Err(ModelError::Graph("its caches were not bound".to_owned()));
        };
        if bound.kept != kept {
            bound.logits = self.bind_logits(&mut bound.binding, 1, kept)?;
            bound.kept = kept;
        }
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

    fn step_handed(
        &mut self,
        cache: &mut Cache,
        tokens: &[u32],
        kept: usize,
    ) -> Result<Vec<f32>, ModelError> {
        let total = cache.length + tokens.len();
        let mut outputs = self.run(&cache.values, cache.length, tokens, kept)?;
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
        // A graph that cannot keep only the last positions returns all of them.
        logits.drain(..logits.len().saturating_sub(kept * vocabulary));
        cache.values = values;
        cache.length = total;
        Ok(logits)
    }

    fn run(
        &mut self,
        values: &[DynValue],
        length: usize,
        tokens: &[u32],
        kept: usize,
    ) -> Result<HashMap<String, DynValue>, ModelError> {
        let count = tokens.len();
        let total = length + count;
        let ids: Vec<i64> = tokens.iter().map(|token| i64::from(*token)).collect();
        let mask = vec![1_i64; total];
        let positions: Vec<i64> = (length..total).map(|position| position as i64).collect();
        let kept = [kept as i64];
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

    /// Whether several conversations can take a step in one run: the graph takes them, and returns for each what it
    /// returns for it alone.
    pub(super) fn can_batch(&mut self) -> bool {
        if let Some(known) = self.batches {
            return known;
        }
        let can = self.in_place.is_some() && self.try_batch().unwrap_or(false);
        self.batches = Some(can);
        can
    }

    /// Two conversations of two and three tokens take a step, alone and together.
    fn try_batch(&mut self) -> Result<bool, ModelError> {
        let mut alone = Vec::new();
        let mut caches = Vec::new();
        for tokens in [[0, 1].as_slice(), &[1, 0, 2]] {
            let mut cache = self.cache()?;
            self.step(&mut cache, tokens)?;
            let length = cache.length;
            alone.push(self.step(&mut cache, &[1])?);
            self.truncate(&mut cache, length)?;
            caches.push(cache);
        }
        let mut batch = self.batch(&caches.iter().collect::<Vec<_>>())?;
        let together = self.step_batch(&mut batch, &[1, 1])?;
        let same = |(a, b): (&Vec<f32>, &Vec<f32>)| {
            let most = a.iter().fold(0.0_f32, |most, logit| most.max(logit.abs()));
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= SAME * most)
        };
        Ok(together.len() == alone.len() && alone.iter().zip(&together).all(same))
    }

    /// Bytes of a batch.
    pub(super) fn batch_bytes(&self, conversations: usize, longest: usize) -> usize {
        let token: usize = self.states.iter().map(State::token_bytes).sum();
        conversations * (longest + 2 * BATCH_ROOM) * token
    }

    /// Puts conversations side by side.
    pub(super) fn batch(&self, caches: &[&Cache]) -> Result<Batch, ModelError> {
        let longest = caches.iter().map(|cache| cache.length).max().unwrap_or_default();
        let room = (longest + BATCH_ROOM).next_multiple_of(BATCH_ROOM);
        let mut values = self.buffers(caches.len(), room)?;
        for (row, cache) in caches.iter().enumerate() {
            for ((state, from), to) in self.states.iter().zip(&cache.values).zip(&mut values) {
                copy(state.kind, (from, 0), (to, row), 0..cache.length)?;
            }
        }
        let bound = self.bind(&mut values, caches.len())?;
        let lengths = caches.iter().map(|cache| (cache.length, cache.length)).collect();
        Ok(Batch { values, bound, lengths, room })
    }

    /// Runs one token of each conversation. Returns the logits of each.
    pub(super) fn step_batch(
        &mut self,
        batch: &mut Batch,
        tokens: &[u32],
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        let rows = batch.lengths.len();
        let total = batch.lengths.iter().map(|(length, _)| length + 1).max().unwrap_or_default();
        let ids: Vec<i64> = tokens.iter().map(|token| i64::from(*token)).collect();
        let mask: Vec<i64> = batch
            .lengths
            .iter()
            .flat_map(|&(length, _)| (0..total).map(move |at| i64::from(at <= length)))
            .collect();
        let binding = &mut batch.bound.binding;
        binding.bind_input("input_ids", &Tensor::from_array(([rows, 1], ids))?)?;
        binding.bind_input("attention_mask", &Tensor::from_array(([rows, total], mask))?)?;
        if self.takes_positions {
            let positions: Vec<i64> = batch.lengths.iter().map(|(length, _)| *length as i64).collect();
            binding.bind_input("position_ids", &Tensor::from_array(([rows, 1], positions))?)?;
        }
        drop(self.session.run_binding(binding)?);
        for (length, _) in &mut batch.lengths {
            *length += 1;
        }
        let logits = floats(&batch.bound.logits)?;
        let vocabulary = logits.len().checked_div(rows).unwrap_or_default().max(1);
        Ok(logits.chunks_exact(vocabulary).map(<[f32]>::to_vec).collect())
    }

    /// Writes what the batch has computed since back to the caches that it was made from.
    pub(super) fn unbatch(&self, batch: &Batch, caches: &mut [&mut Cache]) -> Result<(), ModelError> {
        for (row, (cache, &(length, known))) in caches.iter_mut().zip(&batch.lengths).enumerate() {
            self.reserve(cache, length)?;
            for ((state, from), to) in self.states.iter().zip(&batch.values).zip(&mut cache.values) {
                copy(state.kind, (from, row), (to, 0), known..length)?;
            }
            cache.length = length;
        }
        Ok(())
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
