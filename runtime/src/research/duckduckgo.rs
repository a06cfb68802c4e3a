//! A web search without a key: DuckDuckGo's HTML page, then its lighter one.

use std::sync::atomic::AtomicBool;

use super::ask::SearchError;
use super::{Hit, Tongue};
use crate::net::{FetchError, Fetcher, decode};
use crate::reading::read_results;

/// Pages in the order in which they are asked; the second is not asked when the first forbids.
const PAGES: &[&str] = &["https://html.duckduckgo.com/html/", "https://lite.duckduckgo.com/lite/"];

/// Searches. An empty list is the engine's word that there is nothing; a page without a result is an error.
pub(super) async fn search(
    fetcher: &Fetcher,
    query: &str,
    tongue: Tongue,
    limit: usize,
    stop: &AtomicBool,
) -> Result<Vec<Hit>, SearchError> {
    let region = if tongue == Tongue::German { "de-de" } else { "us-en" };
    let mut last = None;
    for page in PAGES {
        let Ok(url) = url::Url::parse_with_params(page, [("q", query), ("kl", region)]) else { continue };
        match fetcher.get(url.as_str(), "text/html", tongue.tag(), stop).await {
            Ok(fetched) => {
                let html = decode(&fetched.body, fetched.content_type.as_deref()).into_owned();
                let listed = Fetcher::blocking(move || read_results(&html)).await.flatten();
                match listed {
                    Some(listed) => {
                        let hits = listed.into_iter().take(limit).map(|listed| Hit {
                            title: listed.title,
                            url: listed.url,
                            snippet: listed.snippet,
                            wikipedia: None,
                        });
                        return Ok(hits.collect());
                    }
                    // Nothing that could be read is no "nothing was found".
                    None => last = Some(SearchError::Unreadable),
                }
            }
            Err(
                error @ (FetchError::Stopped
                | FetchError::Busy { .. }
                | FetchError::Status { status: 401 | 403 | 429, .. }),
            ) => {
                return Err(SearchError::Fetch(error));
            }
            Err(error) => last = Some(SearchError::Fetch(error)),
        }
    }
    Err(last.unwrap_or(SearchError::Unreadable))
}
