//! The result page of a search engine, in the form of DuckDuckGo's HTML page.

use std::sync::LazyLock;

use scraper::{ElementRef, Selector};
use url::Url;

use super::html::parse;

/// A result as the engine lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Title.
    pub title: String,
    /// Address of the page itself, not of the engine's redirect.
    pub url: String,
    /// Extract.
    pub snippet: String,
}

/// Selectors of this file are literals; the test uses each.
fn selector(text: &str) -> Option<Selector> {
    Selector::parse(text).ok()
}

static RESULT: LazyLock<Option<Selector>> = LazyLock::new(|| selector(".result, .web-result"));
static LINK: LazyLock<Option<Selector>> = LazyLock::new(|| selector("a.result__a, a.result-link"));
static SNIPPET: LazyLock<Option<Selector>> = LazyLock::new(|| selector(".result__snippet, .result-snippet"));
static NONE: LazyLock<Option<Selector>> = LazyLock::new(|| selector(".no-results, .result--no-result"));

/// Results of a page, in order, advertisements left out. None where the page is no result page: neither results nor
/// the engine's word that there are none, which is what a blocked request gets.
#[must_use]
pub fn read_results(html: &str) -> Option<Vec<Listed>> {
    let (document, _) = parse(html);
    let (Some(result), Some(link), Some(snippet), Some(none)) = (&*RESULT, &*LINK, &*SNIPPET, &*NONE) else {
        return None;
    };
    let mut listed: Vec<Listed> = Vec::new();
    let mut any = false;
    for element in document.select(result) {
        let Some(anchor) = element.select(link).next() else { continue };
        any = true;
        let classes = element.value().attr("class").unwrap_or_default();
        let Some(url) = anchor.value().attr("href").and_then(target) else { continue };
        if classes.contains("result--ad") || listed.iter().any(|known| known.url == url) {
            continue;
        }
        let snippet = element.select(snippet).next().map(text).unwrap_or_default();
        listed.push(Listed { title: text(anchor), url, snippet });
    }
    (any || document.select(none).next().is_some()).then_some(listed)
}

fn text(element: ElementRef<'_>) -> String {
    element.text().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The page behind a link of the engine; None for the engine's own pages and its advertisements.
fn target(href: &str) -> Option<String> {
    let base = Url::parse("https://duckduckgo.com/").ok()?;
    let url = base.join(href).ok()?;
    let is_engine = |url: &Url| {
        url.host_str().is_some_and(|host| host == "duckduckgo.com" || host.ends_with(".duckduckgo.com"))
    };
    let url = if is_engine(&url) && url.path() == "/l/" {
        Url::parse(&url.query_pairs().find(|(name, _)| name == "uddg")?.1).ok()?
    } else {
        url
    };
    (matches!(url.scheme(), "http" | "https") && !is_engine(&url)).then(|| url.to_string())
}

#[cfg(test)]
mod tests {
    use super::read_results;

    #[test]
    fn results_are_read_without_advertisements_and_redirects() {
        let page = r#"<div class="result results_links web-result"><h2><a class="result__a"
              href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2Fx%3Fy%3D1&rut=1">A <b>bold</b> one</a></h2>
              <a class="result__snippet">An <b>extract</b>.</a></div>
            <div class="result result--ad"><a class="result__a" href="https://ad.example/">Buy</a></div>
            <div class="result"><a class="result__a" href="https://duckduckgo.com/y.js?ad=1">Buy</a></div>
            <div class="result"><a class="result__a" href="https://a.example/x?y=1">Again</a></div>"#;
        let listed = read_results(page).expect("a result page");
        assert_eq!(listed.len(), 1);
        let first = listed.first().expect("one");
        assert_eq!((first.title.as_str(), first.url.as_str()), ("A bold one", "https://a.example/x?y=1"));
        assert_eq!(first.snippet, "An extract.");
        assert_eq!(read_results("<div class='no-results'>No results.</div>"), Some(Vec::new()));
        assert_eq!(read_results("<p>Please complete the challenge</p>"), None);
        assert_eq!(read_results(""), None);
    }
}
