//! Beginnings of prompts that were computed before, under a budget of memory; what was not used longest goes first.

use super::cache::Saved;

/// Bytes of keys and values that are kept: about 5,000 tokens of the embedded default.
const BUDGET: usize = 256 << 20;

/// Beginnings by their tokens.
#[derive(Default)]
pub(super) struct Prefixes {
    kept: Vec<Kept>,
    clock: u64,
}

struct Kept {
    tokens: Vec<u32>,
    saved: Saved,
    used: u64,
}

/// Tokens that two prompts begin with.
pub(super) fn common(a: &[u32], b: &[u32]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

impl Prefixes {
    /// The one that a prompt has most tokens in common with, and how many.
    pub(super) fn longest(&mut self, tokens: &[u32]) -> Option<(&Saved, usize)> {
        self.clock += 1;
        let best = self.kept.iter_mut().max_by_key(|kept| common(&kept.tokens, tokens))?;
        best.used = self.clock;
        let length = common(&best.tokens, tokens);
        (length > 0).then_some((&best.saved, length))
    }

    /// Whether these tokens begin one that is kept.
    pub(super) fn holds(&self, tokens: &[u32]) -> bool {
        self.kept.iter().any(|kept| kept.tokens.starts_with(tokens))
    }

    /// Keeps a beginning, unless it alone is over the budget.
    pub(super) fn keep(&mut self, tokens: &[u32], saved: Saved) {
        let size = saved.bytes();
        if size > BUDGET {
            return;
        }
        let mut total: usize = size + self.bytes();
        while total > BUDGET {
            let Some(oldest) = (0..self.kept.len()).min_by_key(|&at| self.kept.get(at).map(|kept| kept.used))
            else {
                break;
            };
            total -= self.kept.swap_remove(oldest).saved.bytes();
        }
        self.clock += 1;
        self.kept.push(Kept { tokens: tokens.to_vec(), saved, used: self.clock });
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> usize {
        self.kept.iter().map(|kept| kept.saved.bytes()).sum()
    }
}
