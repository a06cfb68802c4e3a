//! Decides which skill a message belongs to.
//!
//! A pure function of the artifact, the state that earlier turns left, the message and the tools available now.
//! Reading order: what goes in and comes out in `route`, [`Router`] in `stages`; what it stands on in `lexer` (fold and split), `mask` (what is not
//! read), `phrases` (word lists and keywords), `matcher` (position automata), `bind` (slots of the winner);
//! `follow_up` and `predicates` for the later stages; `evidence` for what follows from a decision, `trace` for what a
//! person reads.
#![deny(clippy::indexing_slicing)]

mod bind;
mod evidence;
mod expression;
pub mod flags;
mod fold;
mod follow_up;
mod keywords;
mod lexer;
mod lookup;
mod mask;
mod matcher;
mod phrases;
mod predicates;
mod regexes;
mod route;
mod stages;
mod trace;
mod why_not;

pub use bind::MAX_SLOTS;
pub use fold::{MisspellingKey, fold_word, hash_word};
pub use lexer::{SYMBOL_WORDS, TokenKind, lex_plain, signature_bit};
pub use phrases::hash_edge;
pub use regexes::{REGEX_SIZE_LIMIT, build as build_regex};
pub use route::{
    Binding, Decision, Evidence, EvidenceKind, OpeningCall, Route, SkillOverview, Stage, State, ToolSet,
    Unusable,
};
pub use stages::{Router, Scratch};
pub use trace::{SkillReport, StageReport, Trace};
pub use why_not::{Nearest, WhyNot};
