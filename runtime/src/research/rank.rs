//! Which hits are read first: the article that is what was asked for, then a page a site, by what the extracts say.

use std::collections::HashSet;

use super::{Hit, Terms, Tongue, Vocabulary, words};

/// Characters of a query from which on its words in a row count (reference: 8), and how much.
const PHRASE_CHARS: usize = 8;
const PHRASE_BONUS: f64 = 1.0;

/// Scores of hits by what their titles and extracts say about a question.
pub(super) fn scores(hits: &[Hit], question: &str, query: &str, tongue: Tongue) -> Vec<f64> {
    let mut vocabulary = Vocabulary::default();
    let texts: Vec<Vec<usize>> =
        hits.iter().map(|hit| vocabulary.read(&format!("{} {}", hit.title, hit.snippet), tongue)).collect();
    let terms = Terms::new(question, tongue, &vocabulary, &texts);
    let phrase = query.to_lowercase();
    hits.iter()
        .zip(&texts)
        .map(|(hit, text)| {
            let said = query.chars().count() >= PHRASE_CHARS
                && (hit.title.to_lowercase().contains(&phrase)
                    || hit.snippet.to_lowercase().contains(&phrase));
            terms.score(text) + if said { PHRASE_BONUS } else { 0.0 }
        })
        .collect()
}

/// How well an article's short description is what was asked for: 3 as it stands, 2 where one holds the other.
fn fit(hit: &Hit, query: &str) -> u8 {
    let Some(article) = &hit.wikipedia else { return 0 };
    let (description, title, query) =
        (article.description.to_lowercase(), hit.title.to_lowercase(), query.to_lowercase());
    let several = |text: &str| text.split_whitespace().nth(1).is_some();
    // "Bundeskanzler (Deutschland)" is an article about Bundeskanzler.
    let plain = title.split_once(" (").map_or(title.as_str(), |(plain, _)| plain);
    if description == query || title == query || plain == query {
        3
    } else if !description.is_empty()
        && several(&query)
        && several(&description)
        && (description.contains(&query) || query.contains(&description))
    {
        2
    } else {
        0
    }
}

/// Whether an article only lists others.
fn is_list(hit: &Hit) -> bool {
    let Some(article) = &hit.wikipedia else { return false };
    let description = article.description.to_lowercase();
    description.contains("wikimedia")
        || description.starts_with("list of")
        || hit.title.starts_with("List of")
        || hit.title.starts_with("Liste ")
}

/// Wikipedia's hits in the order in which their articles are worth reading.
pub(super) fn order_wikipedia(mut hits: Vec<Hit>, query: &str) -> Vec<Hit> {
    let disambiguation = |hit: &Hit| hit.wikipedia.as_ref().is_some_and(|article| article.disambiguation);
    hits.sort_by_key(|hit| (disambiguation(hit), is_list(hit), 3 - fit(hit, query)));
    hits
}

/// Addresses behind which there is a login, a consent or a gallery of files.
pub(super) fn is_last(url: &str) -> bool {
    let lower = url.to_lowercase();
    let path = lower.split_once("://").map_or(lower.as_str(), |(_, rest)| rest);
    let words = [
        "login",
        "signin",
        "sign-in",
        "sign_in",
        "anmelden",
        "consent",
        "auth",
        "register",
        "download_pdf",
        "account",
    ];
    path.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_')).any(|part| words.contains(&part))
        || path.ends_with(".pdf")
}

/// Sites whose works of reference share a seat.
pub(super) fn is_reference(site: &str) -> bool {
    matches!(
        site,
        "wikipedia.org" | "wikimedia.org" | "wikidata.org" | "britannica.com" | "wikipedia.example"
    )
}

/// The order in which pages are read: the best article, a page of each other site by score, what is left, and what
/// nobody can read last.
pub(super) fn candidates(
    wikipedia: Vec<Hit>,
    web: Vec<Hit>,
    question: &str,
    query: &str,
    tongue: Tongue,
) -> Vec<Hit> {
    let is_article = |hit: &Hit| hit.site() == "wikipedia.org";
    let (mut articles, pages): (Vec<Hit>, Vec<Hit>) = web.into_iter().partition(is_article);
    // An article that both found counts once, with what Wikipedia says of it.
    articles.retain(|hit| !wikipedia.iter().any(|known| known.url == hit.url));
    let articles: Vec<Hit> = order_wikipedia(wikipedia, query).into_iter().chain(articles).collect();
    let best = best_article(&articles, &pages, question, query, tongue);
    let scored = scores(&pages, question, query, tongue);
    let mut order: Vec<usize> = (0..pages.len()).collect();
    let score = |at: &usize| scored.get(*at).copied().unwrap_or_default();
    order.sort_by(|a, b| score(b).total_cmp(&score(a)).then(a.cmp(b)));
    let mut first: Vec<Hit> = best.and_then(|at| articles.get(at)).cloned().into_iter().collect();
    let mut second = Vec::new();
    let mut last = Vec::new();
    let mut sites: HashSet<String> = first.iter().map(Hit::site).collect();
    for hit in order.into_iter().filter_map(|at| pages.get(at)) {
        if is_last(&hit.url) {
            last.push(hit.clone());
        } else if sites.insert(hit.site()) {
            first.push(hit.clone());
        } else {
            second.push(hit.clone());
        }
    }
    let more = articles.into_iter().enumerate().filter(|(at, _)| Some(*at) != best).map(|(_, hit)| hit);
    first.extend(more);
    first.extend(second);
    first.extend(last);
    first
}

/// How much it counts that the web's hits speak of the same, between articles that say as much about the question.
const SHARED: f64 = 2.0;

/// Share of an article's words that the web's hits have, too: of two offices of one name, the one they mean.
fn shared(hit: &Hit, web: &HashSet<String>) -> f64 {
    let own: HashSet<String> = words(&format!("{} {}", hit.title, hit.snippet))
        .into_iter()
        .filter(|word| !super::terms::is_shell(word))
        .collect();
    own.iter().filter(|word| web.contains(*word)).count() as f64 / own.len().max(1) as f64
}

/// The article that is read first: one whose short description is what was asked for, else the one whose extract
/// says most about it.
fn best_article(
    articles: &[Hit],
    pages: &[Hit],
    question: &str,
    query: &str,
    tongue: Tongue,
) -> Option<usize> {
    let web: HashSet<String> =
        pages.iter().flat_map(|hit| words(&format!("{} {}", hit.title, hit.snippet))).collect();
    let scores: Vec<f64> = scores(articles, question, query, tongue)
        .into_iter()
        .zip(articles)
        .map(|(score, hit)| score + SHARED * shared(hit, &web))
        .collect();
    let rank = |at: usize| {
        let hit = articles.get(at)?;
        let bad = is_list(hit) || hit.wikipedia.as_ref().is_some_and(|article| article.disambiguation);
        Some((!bad, fit(hit, query), scores.get(at).copied()?))
    };
    (0..articles.len()).max_by(|a, b| {
        let (a_rank, b_rank) = (rank(*a), rank(*b));
        a_rank.partial_cmp(&b_rank).unwrap_or(std::cmp::Ordering::Equal).then(b.cmp(a))
    })
}

#[cfg(test)]
mod tests {
    use super::super::Article;
    use super::*;

    fn article(title: &str, description: &str, snippet: &str) -> Hit {
        let wikipedia = Some(Article {
            description: description.to_owned(),
            disambiguation: description.starts_with("Topics"),
        });
        let url = format!("https://en.wikipedia.org/wiki/{}", title.replace(' ', "_"));
        Hit { title: title.to_owned(), url, snippet: snippet.to_owned(), wikipedia }
    }

    fn page(url: &str, snippet: &str) -> Hit {
        Hit { title: String::new(), url: url.to_owned(), snippet: snippet.to_owned(), wikipedia: None }
    }

    #[test]
    fn the_article_that_is_what_was_asked_for_comes_first_and_then_one_page_a_site() {
        let wikipedia = vec![
            article(
                "Capital punishment in France",
                "Legal penalty",
                "Capital punishment in France was abolished.",
            ),
            article("List of capitals of France", "Wikimedia list article", "Capitals of France."),
            article("Paris", "Capital of France", "Paris is a city."),
            article("Capital", "Topics referred to by the same term", "Capital of France may mean"),
        ];
        let web = vec![
            page("https://a.example/login", "The capital of France is Paris."),
            page("https://a.example/1", "Rivers."),
            page("https://b.example/", "The capital of France is Paris."),
            page("https://a.example/2", "Capital letters."),
            page("https://news.b.example/", "Capital of France."),
        ];
        let found = candidates(
            wikipedia,
            web,
            "What is the capital of France?",
            "capital of France",
            Tongue::English,
        );
        let urls: Vec<&str> = found.iter().map(|hit| hit.url.as_str()).collect();
        assert_eq!(urls.first(), Some(&"https://en.wikipedia.org/wiki/Paris"));
        assert_eq!(urls.last(), Some(&"https://a.example/login"));
        let place = |url: &str| urls.iter().position(|known| *known == url).expect(url);
        assert!(place("https://b.example/") < place("https://a.example/2"));
        assert!(place("https://a.example/2") < place("https://a.example/1"), "one page a site");
        assert!(
            place("https://en.wikipedia.org/wiki/List_of_capitals_of_France")
                < place("https://en.wikipedia.org/wiki/Capital")
        );
    }

    #[test]
    fn one_seat_a_registered_site() {
        assert_eq!(page("https://de.news.bbc.co.uk/x", "").site(), "bbc.co.uk");
        assert_ne!(page("https://theguardian.co.uk/", "").site(), page("https://bbc.co.uk/", "").site());
        assert!(
            is_last("https://x.example/download_pdf?id=3")
                && is_last("https://x.example/a/signin")
                && !is_last("https://author.example/")
        );
    }
}
