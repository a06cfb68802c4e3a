//! An encyclopaedia in the form of MediaWiki's API.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::index::Index;
use super::{WebError, escaped, table};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Article {
    title: String,
    #[serde(default)]
    description: String,
    extract: String,
    #[serde(default)]
    disambiguation: bool,
    #[serde(default)]
    redirects: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Articles {
    article: Vec<Article>,
}

/// The articles of a language.
pub(super) struct Wiki {
    language: &'static str,
    articles: Vec<Article>,
    index: Index,
}

impl Wiki {
    pub(super) fn open(language: &'static str) -> Result<Self, WebError> {
        let file = if language == "de" { "wikipedia/de.toml" } else { "wikipedia/en.toml" };
        let Articles { article: articles } = table(file)?;
        let mut index = Index::default();
        for article in &articles {
            // As MediaWiki does, titles and texts are searched and short descriptions are not.
            index.add(&[(&article.title, 3.0), (&article.extract, 1.0)]);
        }
        Ok(Self { language, articles, index })
    }

    /// Answers a query of the API.
    pub(super) fn api(&self, asked: &HashMap<String, String>) -> Value {
        let text = |name: &str| asked.get(name).map(String::as_str).unwrap_or_default();
        if text("action") != "query" {
            return json!({"error": {"code": "badvalue", "info": "Unrecognized value for parameter \"action\"."}});
        }
        let limit = text("gsrlimit").parse().unwrap_or(10);
        let pages: Vec<Value> = if text("generator") == "search" {
            let found = self.index.search(text("gsrsearch"));
            found
                .into_iter()
                .take(limit)
                .enumerate()
                .filter_map(|(place, (at, _))| Some((place, at, self.articles.get(at)?)))
                .map(|(place, at, article)| self.describe(article, at, Some(place + 1), asked))
                .collect()
        } else {
            text("titles").split('|').map(|title| self.titled(title, asked)).collect()
        };
        if pages.is_empty() {
            json!({"batchcomplete": true})
        } else {
            json!({"batchcomplete": true, "query": {"pages": pages}})
        }
    }

    fn find(&self, title: &str) -> Option<(usize, &Article)> {
        let title = title.replace('_', " ");
        let same = |known: &str| {
            let (mut known, mut asked) = (known.chars(), title.chars());
            // The first letter's case does not matter.
            known.next().map(|c| c.to_lowercase().collect::<String>())
                == asked.next().map(|c| c.to_lowercase().collect())
                && known.as_str() == asked.as_str()
        };
        self.articles
            .iter()
            .enumerate()
            .find(|(_, article)| same(&article.title) || article.redirects.iter().any(|name| same(name)))
    }

    fn titled(&self, title: &str, asked: &HashMap<String, String>) -> Value {
        match self.find(title) {
            Some((at, article)) => self.describe(article, at, None, asked),
            None => json!({"title": title, "missing": true}),
        }
    }

    fn describe(
        &self,
        article: &Article,
        at: usize,
        index: Option<usize>,
        asked: &HashMap<String, String>,
    ) -> Value {
        let given = |name: &str| asked.contains_key(name);
        let mut page = Map::new();
        page.insert("pageid".to_owned(), json!(at + 1));
        page.insert("ns".to_owned(), json!(0));
        page.insert("title".to_owned(), json!(article.title));
        page.extend(index.map(|index| ("index".to_owned(), json!(index))));
        if !article.description.is_empty() {
            page.insert("description".to_owned(), json!(article.description));
        }
        let intro = article.extract.split("\n==").next().unwrap_or_default().trim();
        let extract = match (
            given("exintro"),
            asked.get("exsentences").and_then(|count| count.parse::<usize>().ok()),
        ) {
            (true, Some(count)) => {
                intro.split_inclusive(". ").take(count).collect::<String>().trim().to_owned()
            }
            (true, None) => intro.to_owned(),
            (false, _) => article.extract.trim().to_owned(),
        };
        page.insert("extract".to_owned(), json!(extract));
        page.insert("fullurl".to_owned(), json!(self.address(&article.title)));
        if article.disambiguation {
            page.insert("pageprops".to_owned(), json!({"disambiguation": ""}));
        }
        Value::Object(page)
    }

    fn address(&self, title: &str) -> String {
        let title: String = title.chars().map(|c| if c == ' ' { '_' } else { c }).collect();
        format!("https://{}.wikipedia.org/wiki/{title}", self.language)
    }

    /// An article as a page.
    pub(super) fn page(&self, path: &str) -> Option<String> {
        let title = path.strip_prefix("/wiki/")?;
        let query = format!("x={title}");
        let title = form_urlencoded::parse(query.as_bytes()).next().map(|(_, title)| title.into_owned())?;
        let (_, article) = self.find(&title)?;
        let body: String = article
            .extract
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| format!("<p>{}</p>\n", escaped(line)))
            .collect();
        Some(format!(
            "<html lang={}><title>{} – Wikipedia</title><h1>{}</h1>{body}",
            self.language,
            escaped(&article.title),
            escaped(&article.title)
        ))
    }
}
