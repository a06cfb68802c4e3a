//! A web search in the form of DuckDuckGo's HTML page.

use std::collections::HashMap;

use axum::body::Body;
use axum::http::{Response, StatusCode};

use super::index::{Index, rough_text};
use super::pages::{Entry, Pages};
use super::{escaped, html};

/// Results of a page.
const RESULTS: usize = 10;
/// A query with this word gets what a blocked reader gets: a page without results that says so to nobody but people.
const BLOCKED: &str = "zzblocked";

/// A query with this word is refused by the first of the engine's two pages, as in an outage.
const OUTAGE: &str = "zzoutage";

/// The engine.
pub(super) struct Engine {
    index: Index,
    entries: Vec<Entry>,
}

impl Engine {
    pub(super) fn new(pages: &Pages) -> Self {
        let mut index = Index::default();
        for page in pages.all() {
            let text = rough_text(page.body);
            index.add(&[(&page.entry.title, 3.0), (&page.entry.snippet, 2.0), (&text, 0.5)]);
        }
        Self { index, entries: pages.all().iter().map(|page| page.entry.clone()).collect() }
    }

    /// The result page; `first` is the engine's first page, which outages take before the lite one.
    pub(super) fn answer(&self, asked: &HashMap<String, String>, first: bool) -> Response<Body> {
        let query = asked.get("q").map(String::as_str).unwrap_or_default();
        if first && query.contains(OUTAGE) {
            return html(StatusCode::UNPROCESSABLE_ENTITY, "<h1>422</h1>".to_owned());
        }
        if query.contains(BLOCKED) {
            let page = "<html><body><form id=challenge-form><p>Unfortunately, bots use DuckDuckGo too. Select all ducks.</p></form>";
            return html(StatusCode::OK, page.to_owned());
        }
        let german = asked.get("kl").is_some_and(|region| region.starts_with("de"));
        let mut found: Vec<(f64, &Entry)> = self
            .index
            .search(query)
            .into_iter()
            .filter_map(|(at, score)| {
                let entry = self.entries.get(at)?;
                let own = if (entry.language == "de") == german { 1.6 } else { 1.0 };
                Some((score * own * (1.0 + entry.rank / 20.0), entry))
            })
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut page = String::from(
            "<!DOCTYPE html><html><head><title>DuckDuckGo</title></head><body><div id=\"links\" class=\"results\">\n",
        );
        // An advertisement, as there is one on most pages.
        page.push_str(concat!(
            "<div class=\"result results_links result--ad\"><h2 class=\"result__title\"><a class=\"result__a\" ",
            "href=\"https://duckduckgo.com/y.js?ad_domain=shop.example\">Buy it here</a></h2><a class=\"result__snippet\">Advertisement.</a></div>\n"
        ));
        if found.is_empty() {
            page.push_str("<div class=\"no-results\">No results found.</div>");
        }
        for (_, entry) in found.iter().take(RESULTS) {
            let target: String = form_urlencoded::byte_serialize(entry.url.as_bytes()).collect();
            page.push_str(&format!(
                "<div class=\"result results_links results_links_deep web-result\"><div class=\"links_main links_deep result__body\"><h2 class=\"result__title\">\
                 <a rel=\"nofollow\" class=\"result__a\" href=\"//duckduckgo.com/l/?uddg={target}&amp;rut=0\">{}</a></h2>\
                 <a class=\"result__snippet\" href=\"//duckduckgo.com/l/?uddg={target}\">{}</a></div></div>\n",
                escaped(&entry.title),
                escaped(&entry.snippet)
            ));
        }
        page.push_str("</div></body></html>");
        html(StatusCode::OK, page)
    }
}
