//! Wikipedia through MediaWiki's API: search with short descriptions, and articles as plain text.

use std::sync::atomic::AtomicBool;

use serde_json::Value;
use url::Url;

use super::ask::SearchError;
use super::{Article, Hit, Tongue};
use crate::net::{FetchError, Fetcher, decode};
use crate::reading::{Page, read_plain};

async fn ask(fetcher: &Fetcher, url: &Url, tongue: Tongue, stop: &AtomicBool) -> Result<Value, SearchError> {
    let fetched = fetcher
        .get(url.as_str(), "application/json", tongue.tag(), stop)
        .await
        .map_err(SearchError::Fetch)?;
    let text = decode(&fetched.body, Some("application/json; charset=utf-8"));
    serde_json::from_str(&text).map_err(|_| SearchError::Unreadable)
}

fn api(host: &str, parameters: &[(&str, &str)]) -> Option<Url> {
    let common = [("action", "query"), ("format", "json"), ("formatversion", "2"), ("redirects", "1")];
    Url::parse_with_params(&format!("https://{host}/w/api.php"), common.iter().chain(parameters)).ok()
}

/// Searches the Wikipedia of a language; German without a hit asks the English one.
pub(super) async fn search(
    fetcher: &Fetcher,
    query: &str,
    tongue: Tongue,
    limit: usize,
    stop: &AtomicBool,
) -> Result<Vec<Hit>, SearchError> {
    let hits = search_in(fetcher, query, tongue, limit, stop).await?;
    if hits.is_empty() && tongue == Tongue::German {
        return search_in(fetcher, query, Tongue::English, limit, stop).await;
    }
    Ok(hits)
}

async fn search_in(
    fetcher: &Fetcher,
    query: &str,
    tongue: Tongue,
    limit: usize,
    stop: &AtomicBool,
) -> Result<Vec<Hit>, SearchError> {
    let limit = limit.to_string();
    let url = api(
        &format!("{}.wikipedia.org", tongue.tag()),
        &[
            ("generator", "search"),
            ("gsrsearch", query),
            ("gsrlimit", &limit),
            ("prop", "description|extracts|info|pageprops"),
            ("exintro", "1"),
            ("explaintext", "1"),
            ("exsentences", "2"),
            ("exlimit", "max"),
            ("inprop", "url"),
            ("ppprop", "disambiguation"),
        ],
    )
    .ok_or(SearchError::Unreadable)?;
    let answer = ask(fetcher, &url, tongue, stop).await?;
    if answer.get("error").is_some() {
        return Err(SearchError::Unreadable);
    }
    let mut found: Vec<(i64, Hit)> = Vec::new();
    for page in answer.pointer("/query/pages").and_then(Value::as_array).into_iter().flatten() {
        let text = |name: &str| page.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let description = text("description");
        let article =
            Article { disambiguation: page.pointer("/pageprops/disambiguation").is_some(), description };
        let (title, url) = (text("title"), text("fullurl"));
        if title.is_empty() || url.is_empty() {
            continue;
        }
        let snippet = if article.description.is_empty() {
            text("extract")
        } else {
            format!("{}. {}", article.description, text("extract"))
        };
        let index = page.get("index").and_then(Value::as_i64).unwrap_or(i64::MAX);
        found.push((index, Hit { title, url, snippet, wikipedia: Some(article) }));
    }
    found.sort_by_key(|(index, _)| *index);
    Ok(found.into_iter().map(|(_, hit)| hit).collect())
}

/// The host and title of an article's address.
pub(super) fn article(url: &Url) -> Option<(String, String)> {
    let host = url.host_str()?;
    let language = host.strip_suffix(".wikipedia.org")?;
    if language.is_empty() || language.len() > 12 || language.contains('.') {
        return None;
    }
    let title = url.path().strip_prefix("/wiki/").filter(|title| !title.is_empty())?;
    let title = percent_decoded(title).replace('_', " ");
    Some((host.to_owned(), title))
}

fn percent_decoded(text: &str) -> String {
    // A query's value is what `url` decodes.
    let query = format!("x={}", text.replace('+', "%2B").replace('&', "%26"));
    url::form_urlencoded::parse(query.as_bytes())
        .next()
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}

/// An article as plain text.
pub(super) async fn read(
    fetcher: &Fetcher,
    host: &str,
    title: &str,
    stop: &AtomicBool,
) -> Result<(String, Page), SearchError> {
    let url =
        api(host, &[("prop", "extracts|info"), ("explaintext", "1"), ("titles", title), ("inprop", "url")])
            .ok_or(SearchError::Unreadable)?;
    let tongue = Tongue::of_tag(host);
    let answer = ask(fetcher, &url, tongue, stop).await?;
    let page = answer.pointer("/query/pages/0").ok_or(SearchError::Unreadable)?;
    let text = |name: &str| page.get(name).and_then(Value::as_str).unwrap_or_default();
    if page.get("missing").is_some() || text("extract").is_empty() {
        return Err(SearchError::Fetch(FetchError::Status { host: host.to_owned(), status: 404 }));
    }
    let read = Page {
        title: text("title").to_owned(),
        language: Some(tongue.tag().to_owned()),
        ..read_plain(text("extract"))
    };
    Ok((text("fullurl").to_owned(), read))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_are_told_by_their_address() {
        let of = |url: &str| article(&Url::parse(url).expect("an address"));
        let found = of("https://de.wikipedia.org/wiki/Bundeskanzler_(Deutschland)");
        assert_eq!(found, Some(("de.wikipedia.org".to_owned(), "Bundeskanzler (Deutschland)".to_owned())));
        assert_eq!(
            of("https://en.wikipedia.org/wiki/C%2B%2B").map(|(_, title)| title),
            Some("C++".to_owned())
        );
        assert_eq!(
            of("https://en.wikipedia.org/wiki/AT%26T").map(|(_, title)| title),
            Some("AT&T".to_owned())
        );
        assert_eq!(of("https://wikipedia.org.evil.example/wiki/X"), None);
        assert_eq!(of("https://en.wikipedia.org/"), None);
    }
}
