//! Fills placeholders such as `{place}` in labelled messages with values of lists.
//!
//! A placeholder `{x}` of a message in language `de` is looked up as `x.de`, else as `x`. A message with placeholders
//! becomes as many as its longest list has values; each list starts at a place of its own, so that the same value does
//! not always meet the same message.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use thiserror::Error;

use crate::labelled::Labelled;

/// Values by name.
#[derive(Clone, Debug, Default)]
pub struct Lists(BTreeMap<String, Vec<String>>);

impl<'de> Deserialize<'de> for Lists {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Lists;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object of lists of texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Lists, A::Error> {
                let mut lists = BTreeMap::new();
                while let Some((name, values)) = entries.next_entry::<String, Vec<String>>()? {
                    if values.is_empty() {
                        return Err(A::Error::custom(format!("list `{name}` is empty")));
                    }
                    if lists.contains_key(&name) {
                        return Err(A::Error::custom(format!("there are two lists `{name}`")));
                    }
                    lists.insert(name, values);
                }
                Ok(Lists(lists))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

/// A placeholder that cannot be filled, or a file that holds no lists.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ListError(String);

impl Lists {
    /// Reads a JSON object of lists of texts.
    ///
    /// # Errors
    /// It is none, a list is empty, or two have one name.
    pub fn read(text: &str) -> Result<Self, ListError> {
        serde_json::from_str(text).map_err(|error| ListError(error.to_string()))
    }

    fn values(&self, name: &str, language: &str) -> Option<&[String]> {
        let own = format!("{name}.{language}");
        self.0.get(&own).or_else(|| self.0.get(name)).map(Vec::as_slice)
    }

    /// The messages that a labelled message stands for; itself if it holds no placeholder.
    ///
    /// # Errors
    /// A placeholder has no list.
    pub fn fill(&self, message: &Labelled) -> Result<Vec<Labelled>, ListError> {
        let texts = std::iter::once(&message.message).chain(&message.after);
        let names: BTreeSet<&str> = texts.flat_map(|text| placeholders(text)).collect();
        let mut count = 1;
        let mut lists = Vec::new();
        for name in names {
            let values = self.values(name, &message.language).ok_or_else(|| {
                ListError(format!("there is no list `{name}` or `{name}.{}`", message.language))
            })?;
            count = count.max(values.len());
            lists.push((name, values));
        }
        let filled = (0..count).map(|round| {
            let fill = |text: &str| {
                lists.iter().enumerate().fold(text.to_owned(), |text, (offset, (name, values))| {
                    let at = (round + offset * 7) % values.len();
                    values.get(at).map_or(text.clone(), |value| text.replace(&format!("{{{name}}}"), value))
                })
            };
            Labelled {
                message: fill(&message.message),
                after: message.after.iter().map(|text| fill(text)).collect(),
                ..message.clone()
            }
        });
        Ok(filled.collect())
    }
}

/// Whether a message holds placeholders.
#[must_use]
pub fn has_placeholders(message: &Labelled) -> bool {
    let named = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '.');
    std::iter::once(&message.message).chain(&message.after).any(|text| placeholders(text).any(named))
}

/// Names between braces.
fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|part| part.split_once('}').map(|(name, _)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_take_the_list_of_the_language() {
        let lists = Lists::read(r#"{"place.de": ["Rom", "Wien"], "name": ["Ada"]}"#);
        let message = Labelled {
            language: "de".to_owned(),
            message: "Wetter in {place}, {name}".to_owned(),
            after: vec!["{place}".to_owned()],
            ..Labelled::default()
        };
        let filled = lists.clone().and_then(|lists| lists.fill(&message)).unwrap_or_default();
        let shown: Vec<_> =
            filled.iter().map(|message| (message.message.as_str(), message.after.len())).collect();
        assert_eq!(shown, [("Wetter in Wien, Ada", 1), ("Wetter in Rom, Ada", 1)]);
        let english = Labelled { language: "en".to_owned(), ..message };
        assert!(lists.and_then(|lists| lists.fill(&english)).is_err());
        assert!(Lists::read(r#"{"a": []}"#).is_err());
        assert!(Lists::read(r#"{"a": ["x"], "a": ["y"]}"#).is_err());
    }
}
