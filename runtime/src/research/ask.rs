//! One call: search the web and Wikipedia together, read what is worth reading, replace what cannot be read, compare.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;

use super::about::keep_about;
use super::passages::{self, Passage, Source};
use super::terms::{is_shell, words};
use super::{
    Answer, Comparison, Hit, Opened, PASSAGE_CHARS, Spelling, Terms, Tongue, Vocabulary, asks_of_life,
    best_passages, compare, duckduckgo, find_answer, focus, open, rank, spelling_from, wikipedia,
};
use crate::net::{FetchError, Fetcher, pause};
use crate::reading::{Page, is_prose};

/// Hits of the web and of Wikipedia (reference: 8 and 5).
const WEB_HITS: usize = 8;
const ARTICLES: usize = 5;
/// Sources of a digest, and pages that are opened for them at most (reference: 3 and 5).
const SOURCES: usize = 3;
const MOST_READS: usize = 5;
/// How long pages may be silent before the next is asked, too.
const PATIENCE: Duration = Duration::from_millis(1_200);
/// Sites of a brief (reference: 4), and hits more than that which are asked for.
const BRIEF_SITES: usize = 4;
const SPARE_HITS: usize = 3;
const MOST_HITS: usize = 10;
/// Characters of a brief, of what stands around its extracts, and of one extract (reference).
const BRIEF_CHARS: usize = 4_000;
const BRIEF_FRAME: usize = 600;
const EXTRACT_CHARS: std::ops::RangeInclusive<usize> = 200..=700;

/// Why a search gave nothing that could be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// The engine could not be asked.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// What came is no result page: not the same as "nothing was found".
    #[error("the answer of the search could not be read")]
    Unreadable,
    /// There were hits, and none of them could be opened.
    #[error("none of the pages found could be opened")]
    NothingOpened,
}

/// What a search with a glance at each site came to.
#[derive(Clone, Debug, Default)]
pub struct Brief {
    /// A site each.
    pub sources: Vec<Source>,
    /// Where they agree and contradict each other.
    pub comparison: Comparison,
    /// How they spell what was written otherwise.
    pub spellings: Vec<Spelling>,
}

/// What research came to.
#[derive(Clone, Debug, Default)]
pub struct Researched {
    /// What was searched.
    pub query: String,
    /// What the pages say, best first.
    pub sources: Vec<Source>,
    /// The one-line answer, where they state it.
    pub answer: Option<Answer>,
    /// Where they agree and contradict each other.
    pub comparison: Comparison,
    /// How they spell what was written otherwise.
    pub spellings: Vec<Spelling>,
    /// The web search or Wikipedia failed; the other one answered.
    pub failed: Option<SearchError>,
}

/// Searches a term as it is written, and glances at up to four sites.
///
/// # Errors
/// The search failed. No hit is no failure.
pub async fn brief(
    fetcher: &Fetcher,
    query: &str,
    sites: usize,
    tongue: Tongue,
    stop: &AtomicBool,
) -> Result<Brief, SearchError> {
    let sites = sites.clamp(1, BRIEF_SITES);
    let hits = duckduckgo::search(fetcher, query, tongue, (sites + SPARE_HITS).min(MOST_HITS), stop).await?;
    let mut taken = HashSet::new();
    let mut reference = false;
    let mut chosen: Vec<Hit> = Vec::new();
    for hit in hits {
        let site = hit.site();
        let is_reference = rank::is_reference(&site);
        if chosen.len() < sites
            && !(is_reference && reference)
            && !rank::is_last(&hit.url)
            && taken.insert(site)
        {
            reference |= is_reference;
            chosen.push(hit);
        }
    }
    if chosen.is_empty() {
        return Ok(Brief::default());
    }
    let size =
        ((BRIEF_CHARS - BRIEF_FRAME) / chosen.len()).clamp(*EXTRACT_CHARS.start(), *EXTRACT_CHARS.end());
    let opened =
        futures_util::future::join_all(chosen.iter().map(|hit| open(fetcher, &hit.url, tongue, stop))).await;
    let mut sources = Vec::new();
    for (hit, opened) in chosen.into_iter().zip(opened) {
        if matches!(opened, Err(FetchError::Stopped)) {
            return Err(FetchError::Stopped.into());
        }
        let read = opened.ok().filter(|opened| !opened.is_blocked());
        sources.push(glance(hit, read, query, size));
    }
    sources.retain(|source| !source.passages.is_empty());
    keep_what_speaks_of(&mut sources, query, tongue);
    let (comparison, spellings) = (compare(&sources, query, tongue), spelling_from(query, &sources));
    Ok(Brief { sources, comparison, spellings })
}

/// Leaves out sites that hold no word of the query; where none does, what they say is off topic.
fn keep_what_speaks_of(sources: &mut Vec<Source>, query: &str, tongue: Tongue) {
    let mut vocabulary = Vocabulary::default();
    let read = |source: &Source, vocabulary: &mut Vocabulary| {
        let passages: Vec<&str> = source.passages.iter().map(|passage| passage.text.as_str()).collect();
        vocabulary.read(&format!("{} {}", source.title, passages.join(" ")), tongue)
    };
    let texts: Vec<Vec<usize>> = sources.iter().map(|source| read(source, &mut vocabulary)).collect();
    let terms = Terms::new(query, tongue, &vocabulary, &texts);
    let speaks: Vec<bool> = texts.iter().map(|text| terms.score(text) > 0.0).collect();
    if speaks.contains(&true) {
        let mut speaks = speaks.into_iter();
        sources.retain(|_| speaks.next().unwrap_or(true));
        return;
    }
    for passage in sources.iter_mut().flat_map(|source| &mut source.passages) {
        passage.on_topic = false;
    }
}

/// The begin of what a page says, or what the search showed of it.
fn glance(hit: Hit, opened: Option<Opened>, query: &str, size: usize) -> Source {
    let lead = opened.as_ref().map(|opened| lead_extract(&opened.page, query, size)).unwrap_or_default();
    let unread = lead.is_empty();
    let text = if unread { shortened(&hit.snippet, size) } else { lead };
    let url = opened.filter(|_| !unread).map_or(hit.url, |opened| opened.url);
    let passages = (!text.is_empty()).then_some(Passage { text, on_topic: true }).into_iter().collect();
    Source { title: hit.title, url, passages, unread, lead: String::new() }
}

/// From the first prose that holds a word of the query, else the first, to the next heading: a banner above the text
/// is prose, too.
fn lead_extract(page: &Page, query: &str, size: usize) -> String {
    let content = page.content();
    let asked = words(query);
    let speaks = |text: &str| words(text).iter().any(|word| asked.contains(word) && !is_shell(word));
    let spoken = content.iter().position(|block| block.is_prose() && speaks(&block.text));
    let first = spoken.or_else(|| content.iter().position(|block| block.is_prose()));
    let Some(first) = first else { return String::new() };
    let mut out = String::new();
    for block in content.iter().skip(first) {
        if matches!(block.kind, crate::reading::BlockKind::Heading(_)) || out.len() >= size {
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&block.text);
    }
    shortened(&out, size)
}

/// A text that ends with a sentence, else with a word, within so many characters.
fn shortened(text: &str, size: usize) -> String {
    if text.chars().count() <= size {
        return text.trim().to_owned();
    }
    let mut out = String::new();
    for sentence in crate::reading::sentences(text) {
        if out.chars().count() + sentence.chars().count() + 1 > size {
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(sentence);
    }
    if out.is_empty() {
        let end = text.char_indices().nth(size.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
        let head = text.get(..end).unwrap_or_default();
        out = format!("{}…", head.rsplit_once(char::is_whitespace).map_or(head, |(head, _)| head));
    }
    out
}

/// Researches a question. `question` is complete: follow-ups were completed before.
///
/// # Errors
/// Both searches failed, or nothing that they found could be opened and no extract stands in for it.
pub async fn research(
    fetcher: &Fetcher,
    question: &str,
    tongue: Tongue,
    stop: &AtomicBool,
) -> Result<Researched, SearchError> {
    let query = focus(question);
    // The dates of a life stand in the person's article, which has the name for its title.
    let article = asks_of_life(question).map_or_else(|| query.clone(), |(_, name)| name);
    let (web, articles) = futures_util::future::join(
        duckduckgo::search(fetcher, &query, tongue, WEB_HITS, stop),
        wikipedia::search(fetcher, &article, tongue, ARTICLES, stop),
    )
    .await;
    let (web, articles, failed) = match (web, articles) {
        (Err(error), Err(_)) => return Err(error),
        (Ok(web), Ok(articles)) => (web, articles, None),
        (Ok(web), Err(error)) => (web, Vec::new(), Some(error)),
        (Err(error), Ok(articles)) => (Vec::new(), articles, Some(error)),
    };
    if [Some(FetchError::Stopped)].contains(&failed.as_ref().and_then(stopped)) {
        return Err(FetchError::Stopped.into());
    }
    let candidates = rank::candidates(articles, web, question, &article, tongue);
    if candidates.is_empty() {
        return Ok(Researched { query, failed, ..Researched::default() });
    }
    let (opened, unopened) = read(fetcher, candidates, tongue, stop).await?;
    let pages: Vec<&Page> = opened.iter().map(|(_, opened)| &opened.page).collect();
    let passages = best_passages(question, tongue, &pages);
    let mut sources: Vec<Source> = opened
        .iter()
        .zip(passages)
        .map(|((hit, opened), passages)| Source {
            title: if hit.title.is_empty() { opened.page.title.clone() } else { hit.title.clone() },
            url: opened.url.clone(),
            passages,
            unread: false,
            lead: passages::lead(&opened.page),
        })
        .filter(|source| !source.passages.is_empty())
        .collect();
    // What the search showed stands in only where pages could not be opened.
    for hit in unopened {
        if sources.len() >= SOURCES {
            break;
        }
        let text = shortened(&hit.snippet, PASSAGE_CHARS);
        if !text.is_empty() {
            let passages = vec![Passage { text, on_topic: true }];
            sources.push(Source {
                title: hit.title,
                url: hit.url,
                passages,
                unread: true,
                lead: String::new(),
            });
        }
    }
    if sources.is_empty() {
        return Err(SearchError::NothingOpened);
    }
    let spellings = spelling_from(&query, &sources);
    keep_about(&as_spelt(question, &spellings), tongue, &mut sources);
    // Pages that say nothing about the question come last.
    sources.sort_by_key(|source| !source.passages.iter().any(|passage| passage.on_topic));
    let answer = find_answer(question, tongue, &sources);
    let comparison = compare(&sources, question, tongue);
    Ok(Researched { query, sources, answer, comparison, spellings, failed })
}

/// A question as its sources spell it: only to tell which of them speak of it.
fn as_spelt(question: &str, spellings: &[Spelling]) -> String {
    let mut out = question.to_owned();
    for spelling in spellings {
        out = out.replace(&spelling.written, &spelling.found);
    }
    out
}

fn stopped(error: &SearchError) -> Option<FetchError> {
    match error {
        SearchError::Fetch(FetchError::Stopped) => Some(FetchError::Stopped),
        _ => None,
    }
}

/// Pages in the order of their hits, and the hits that could not be opened.
type Read = (Vec<(Hit, Opened)>, Vec<Hit>);

/// Reads three pages side by side; one that fails, is a notice in place of a page or holds no prose is replaced by
/// the next, up to five.
async fn read(
    fetcher: &Fetcher,
    candidates: Vec<Hit>,
    tongue: Tongue,
    stop: &AtomicBool,
) -> Result<Read, SearchError> {
    let mut opened: Vec<(usize, Hit, Opened)> = Vec::new();
    let mut unopened = Vec::new();
    let mut rest = candidates.into_iter().take(MOST_READS).enumerate();
    let mut running = FuturesUnordered::new();
    let ask = |(at, hit): (usize, Hit)| async move {
        let page = open(fetcher, &hit.url, tongue, stop).await;
        (at, hit, page)
    };
    running.extend(rest.by_ref().take(SOURCES).map(ask));
    while opened.len() < SOURCES {
        // A page that takes long is not waited for alone.
        let patience = std::pin::pin!(pause(PATIENCE));
        let (at, hit, page) = match select(running.next(), patience).await {
            Either::Left((Some(came), _)) => came,
            Either::Left((None, _)) => break,
            Either::Right(_) => {
                running.extend(rest.next().map(ask));
                continue;
            }
        };
        match page {
            Ok(page) if !page.is_blocked() && has_prose(&page.page) => opened.push((at, hit, page)),
            Err(FetchError::Stopped) => return Err(FetchError::Stopped.into()),
            _ => {
                unopened.push((at, hit));
                running.extend(rest.next().map(ask));
            }
        }
    }
    opened.sort_by_key(|(at, ..)| *at);
    unopened.sort_by_key(|(at, _)| *at);
    let opened = opened.into_iter().map(|(_, hit, page)| (hit, page)).collect();
    Ok((opened, unopened.into_iter().map(|(_, hit)| hit).collect()))
}

fn has_prose(page: &Page) -> bool {
    page.content().iter().any(|block| block.is_prose() || (block.text.len() > 30 && is_prose(&block.text)))
}
