//! Guesses what follows from the text before: answers that copy from results repeat what the prompt holds
//! (prompt-lookup decoding).

/// Tokens that must have been written alike before a guess is made.
const ALIKE: usize = 3;
/// Fewest and most tokens of a guess: a run over a few costs little more than a run over one.
const FEWEST: usize = 3;
const MOST: usize = 12;
/// Guesses that fail one after another before a pause, and tokens of the pause.
const FAILURES: usize = 2;
const PAUSE: usize = 16;

/// Guesses, and how they fared.
pub(super) struct Lookup {
    enabled: bool,
    /// Tokens of the next guess.
    size: usize,
    failures: usize,
    pause: usize,
}

impl Lookup {
    /// Without `enabled` there are no guesses.
    pub(super) fn new(enabled: bool) -> Self {
        Self { enabled, size: FEWEST, failures: 0, pause: 0 }
    }

    /// What followed the newest tokens where they stood last before; empty where they did not.
    pub(super) fn draft(&mut self, tokens: &[u32]) -> Vec<u32> {
        if !self.enabled || tokens.len() <= ALIKE {
            return Vec::new();
        }
        if self.pause > 0 {
            self.pause -= 1;
            return Vec::new();
        }
        let (before, newest) = tokens.split_at(tokens.len() - ALIKE);
        let at = before.windows(ALIKE).rposition(|window| window == newest);
        at.and_then(|at| tokens.get(at + ALIKE..))
            .map(|follow| follow.iter().take(self.size).copied().collect())
            .unwrap_or_default()
    }

    /// How many of the guessed tokens were right.
    pub(super) fn learn(&mut self, right: usize, guessed: usize) {
        if right == guessed {
            self.size = (self.size * 2).min(MOST);
        } else if right * 2 < guessed {
            self.size = (self.size / 2).max(FEWEST);
        }
        self.failures = if right == 0 { self.failures + 1 } else { 0 };
        if self.failures == FAILURES {
            self.failures = 0;
            self.pause = PAUSE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_followed_last_time_is_guessed() {
        let mut lookup = Lookup::new(true);
        assert_eq!(lookup.draft(&[1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3]), [4, 5, 6]);
        assert!(lookup.draft(&[1, 2, 3, 4, 5]).is_empty());
        assert!(lookup.draft(&[1]).is_empty());
        assert!(Lookup::new(false).draft(&[1, 2, 3, 4, 1, 2, 3]).is_empty());
    }

    #[test]
    fn right_guesses_grow_and_wrong_ones_pause() {
        let mut lookup = Lookup::new(true);
        let text: Vec<u32> = (0..20).chain(0..3).collect();
        lookup.learn(3, 3);
        lookup.learn(6, 6);
        assert_eq!(lookup.draft(&text).len(), 12);
        for _ in 0..FAILURES {
            lookup.learn(0, 3);
        }
        assert!((0..PAUSE).all(|_| lookup.draft(&text).is_empty()));
        assert_eq!(lookup.draft(&text).len(), FEWEST);
    }
}
