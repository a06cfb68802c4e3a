//! From a question to what pages say about it: a focused query, a search, pages, passages, and where they agree.
//!
//! What a page says is data: it is quoted, compared and counted, and never read as an instruction.
#![deny(clippy::indexing_slicing)]

mod about;
mod age;
mod answer;
mod ask;
mod compare;
mod duckduckgo;
mod excerpt;
mod follow_up;
mod language;
mod passages;
mod query;
mod rank;
mod read;
mod sentence;
mod terms;
mod wikipedia;

#[cfg(feature = "model")]
pub(crate) use about::{can_answer, of_another};
pub use age::{Life, LifeQuestion, asks_of_life, life};
pub use answer::{Answer, find_answer};
pub use ask::{Brief, Researched, SearchError, brief, research};
pub(crate) use compare::names;
pub use compare::{Comparison, Spelling, Value, compare, spelling_from};
pub use excerpt::excerpt;
pub use follow_up::{Subject, complete};
pub(crate) use language::marks as language_marks;
pub use language::{Tongue, tongue};
pub use passages::{PASSAGE_CHARS, Passage, Source, best_passages};
pub use query::focus;
pub use read::{Opened, open};
pub use sentence::in_a_sentence;
pub(crate) use terms::{Term, is_shell, related};
pub use terms::{Terms, Vocabulary, is_related, stem, words};

/// A page that a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hit {
    /// Title.
    pub title: String,
    /// Address.
    pub url: String,
    /// Extract.
    pub snippet: String,
    /// It is an article of Wikipedia.
    pub wikipedia: Option<Article>,
}

/// What Wikipedia says of an article besides its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Article {
    /// Its short description, such as "Capital of France".
    pub description: String,
    /// It lists what a word may mean.
    pub disambiguation: bool,
}

impl Hit {
    /// The site, as registered: `de.news.example.co.uk` is `example.co.uk`.
    #[must_use]
    pub fn site(&self) -> String {
        site(&self.url)
    }
}

/// The registered part of an address's host; the host itself where there is none.
#[must_use]
pub fn site(url: &str) -> String {
    let host =
        url::Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    psl::domain_str(&host).map_or_else(|| host.clone(), str::to_owned)
}
