//! Chooses the next token: the most likely one, or one drawn by temperature, top-k and nucleus.

use rand::Rng;
use rand_pcg::Pcg64Mcg;

use super::files::Generation;
use super::reasoning::Strategy;

/// How tokens are chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// Temperature; 0: the most likely token.
    pub temperature: f32,
    /// Nucleus: the smallest set of tokens whose probabilities reach this sum.
    pub top_p: f32,
    /// Candidates; 0: all.
    pub top_k: usize,
    /// Penalty on tokens already written; 1: none.
    pub repetition_penalty: f32,
    /// Most tokens of the answer.
    pub max_new_tokens: usize,
    /// Seed: the same seed, prompt and machine give the same answer.
    pub seed: u64,
    /// Guess tokens from the text before and compute them together, where that leads to the same answer.
    pub speculates: bool,
    /// How much it may reason before it answers.
    pub strategy: Strategy,
}

impl Sampling {
    /// The model's own settings.
    #[must_use]
    pub fn of(generation: &Generation, seed: u64) -> Self {
        Self {
            temperature: if generation.sample { generation.temperature } else { 0.0 },
            top_p: generation.top_p,
            top_k: generation.top_k,
            repetition_penalty: generation.repetition_penalty,
            max_new_tokens: generation.max_new_tokens,
            seed,
            speculates: true,
            strategy: Strategy::Baseline,
        }
    }
}

pub(super) struct Sampler {
    sampling: Sampling,
    random: Pcg64Mcg,
}

/// Index of the largest value; the first of equals.
pub(super) fn best(logits: &[f32]) -> u32 {
    let mut best = (0, f32::NEG_INFINITY);
    for (token, &logit) in logits.iter().enumerate() {
        if logit > best.1 {
            best = (token, logit);
        }
    }
    best.0 as u32
}

/// How sure a draw must be to stand for what other kernels would have led to: in a hundred thousand draws it is one
/// that could differ.
const DOUBT: f32 = 1e-5;

/// Index of the largest value, the first of equals, and how far it lies before the next.
pub(super) fn lead(logits: &[f32]) -> (u32, f32) {
    let (mut first, mut second) = ((0, f32::NEG_INFINITY), f32::NEG_INFINITY);
    for (token, &logit) in logits.iter().enumerate() {
        if logit > first.1 {
            second = first.1;
            first = (token, logit);
        } else if logit > second {
            second = logit;
        }
    }
    (first.0 as u32, first.1 - second)
}

impl Sampler {
    pub(super) fn new(sampling: &Sampling) -> Self {
        let random = Pcg64Mcg::new(u128::from(sampling.seed) << 64 | 0x9E37_79B9_7F4A_7C15);
        Self { sampling: sampling.clone(), random }
    }

    /// The best token, if logits that are off by up to `noise` would lead to it all the same.
    pub(super) fn clear(&self, logits: &[f32], noise: f32) -> Option<u32> {
        let (token, lead) = lead(logits);
        let temperature = self.sampling.temperature.max(0.0);
        (lead >= 2.0 * noise - temperature * DOUBT.ln()).then_some(token)
    }

    /// Lowers tokens that were already `written`.
    pub(super) fn penalise(&self, logits: &mut [f32], written: &[u32]) {
        let penalty = self.sampling.repetition_penalty;
        if penalty != 1.0 && penalty > 0.0 {
            let mut seen: Vec<u32> = written.to_vec();
            seen.sort_unstable();
            seen.dedup();
            for token in seen {
                if let Some(logit) = logits.get_mut(token as usize) {
                    *logit = if *logit > 0.0 { *logit / penalty } else { *logit * penalty };
                }
            }
        }
    }

    /// Draws a token.
    pub(super) fn draw(&mut self, logits: &[f32]) -> u32 {
        if self.sampling.temperature <= 0.0 {
            return best(logits);
        }
        let mut candidates: Vec<(u32, f32)> =
            logits.iter().enumerate().map(|(token, &logit)| (token as u32, logit)).collect();
        let kept = match self.sampling.top_k {
            0 => candidates.len(),
            top_k => top_k.min(candidates.len()),
        };
        let by_logit = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if kept < candidates.len() && kept > 0 {
            candidates.select_nth_unstable_by(kept - 1, by_logit);
            candidates.truncate(kept);
        }
        candidates.sort_unstable_by(by_logit);
        let top = candidates.first().map_or(0.0, |candidate| candidate.1);
        let mut total = 0.0;
        for candidate in &mut candidates {
            candidate.1 = ((candidate.1 - top) / self.sampling.temperature).exp();
            total += candidate.1;
        }
        let mut sum = 0.0;
        let nucleus = candidates.iter().position(|candidate| {
            sum += candidate.1 / total;
            sum >= self.sampling.top_p
        });
        candidates.truncate(nucleus.map_or(candidates.len(), |last| last + 1));
        let total: f32 = candidates.iter().map(|candidate| candidate.1).sum();
        // 24 random bits: every value below one, evenly spaced.
        let mut left = (self.random.next_u32() >> 8) as f32 / (1 << 24) as f32 * total;
        for &(token, weight) in &candidates {
            left -= weight;
            if left < 0.0 {
                return token;
            }
        }
        candidates.last().map_or(0, |candidate| candidate.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampling(temperature: f32, top_k: usize, top_p: f32) -> Sampling {
        Sampling {
            temperature,
            top_p,
            top_k,
            repetition_penalty: 1.0,
            max_new_tokens: 8,
            seed: 7,
            speculates: false,
            strategy: Strategy::Baseline,
        }
    }

    #[test]
    fn greedy_takes_the_most_likely_token() {
        let settings = sampling(0.0, 0, 1.0);
        assert_eq!(Sampler::new(&settings).draw(&[0.1, 2.0, 1.9]), 1);
    }

    #[test]
    fn the_same_seed_draws_the_same_tokens_and_stays_in_the_candidates() {
        let settings = sampling(1.0, 2, 1.0);
        let draw = || {
            let mut sampler = Sampler::new(&settings);
            (0..64).map(|_| sampler.draw(&[1.0, 3.0, 2.9, 0.5])).collect::<Vec<_>>()
        };
        let drawn = draw();
        assert_eq!(drawn, draw());
        assert!(drawn.iter().all(|token| [1, 2].contains(token)));
        assert!(drawn.contains(&1) && drawn.contains(&2));
    }

    #[test]
    fn a_narrow_nucleus_keeps_the_best_token_only() {
        let settings = sampling(1.0, 0, 0.1);
        let mut sampler = Sampler::new(&settings);
        assert!((0..16).all(|_| sampler.draw(&[0.0, 4.0, 1.0]) == 1));
    }

    #[test]
    fn the_penalty_counts_a_token_once() {
        let settings = Sampling { repetition_penalty: 1.5, ..sampling(0.0, 0, 1.0) };
        let mut logits = [1.0, 1.4, -1.0];
        let mut sampler = Sampler::new(&settings);
        sampler.penalise(&mut logits, &[1, 1, 2]);
        assert_eq!(sampler.draw(&logits), 0);
        assert_eq!(logits[2], -1.5);
    }
}
