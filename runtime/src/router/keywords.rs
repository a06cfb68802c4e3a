//! Scores skills by the keywords that a form holds.

use super::flags;
use super::lexer::Token;
use super::matcher::Form;
use super::phrases::Hit;
use crate::artifact::View;

/// Most words of a form in which a lone one-word keyword counts without a question or request.
const TERSE: usize = 4;

/// What a skill's keywords scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Score {
    pub(super) skill: u32,
    /// Sum of weights, in thousandths.
    pub(super) score: u32,
    pub(super) hits: u32,
    /// Words of the longest hit.
    pub(super) longest: u32,
}

/// Whether a hit is a keyword within the form that no negator cancels.
pub(super) fn counts(hit: &Hit, tokens: &[Token], form: Form) -> bool {
    hit.keyword
        && hit.start as usize >= form.start
        && hit.end as usize <= form.end
        && !tokens.get(hit.start as usize).is_some_and(|token| token.has(flags::NEGATED))
}

/// Scores of all skills with a hit, in no order.
pub(super) fn score(view: &View<'_>, tokens: &[Token], hits: &[Hit], form: Form, out: &mut Vec<Score>) {
    out.clear();
    for hit in hits.iter().filter(|hit| counts(hit, tokens, form)) {
        let Some(keyword) = view.keywords.get(hit.target as usize) else { continue };
        let found = out.iter_mut().find(|score| score.skill == keyword.skill);
        match found {
            Some(score) => {
                score.score = score.score.saturating_add(keyword.weight);
                score.hits += 1;
                score.longest = score.longest.max(keyword.words);
            }
            None => {
                out.push(Score {
                    skill: keyword.skill,
                    score: keyword.weight,
                    hits: 1,
                    longest: keyword.words,
                });
            }
        }
    }
    if out.is_empty() {
        return;
    }
    let words = tokens.get(form.start..form.end).unwrap_or_default();
    let count =
        words.iter().filter(|t| t.has(flags::WORD | flags::NUMBER) && !t.has(flags::CONTINUES)).count();
    let asking = tokens.get(form.first).is_some_and(|token| token.has(flags::ASKS | flags::REQUESTS));
    if count > TERSE && !asking {
        out.retain(|score| score.hits > 1 || score.longest > 1);
    }
}
