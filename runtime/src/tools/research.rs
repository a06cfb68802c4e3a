//! `research`: one call that searches, reads, chooses passages and compares.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::reach::{capped, fenced, listed, quotes, remarks, today, tongue_of};
use super::{Tool, ToolContext, ToolFailure, ToolOutput, Wants, text_argument};
use crate::net::Fetcher;
use crate::research::{LifeQuestion, Source, Tongue, asks_of_life, complete, in_a_sentence, life, research};

/// Characters of a digest (reference: 4000).
const MOST_CHARS: usize = 4_000;
/// Characters of a question that is searched.
const MOST_QUESTION: usize = 400;

pub(super) struct Research(pub(super) Arc<Fetcher>);

impl Tool for Research {
    fn name(&self) -> &str {
        "research"
    }

    fn wants(&self) -> Wants<'_> {
        Wants { required: vec!["query"], optional: vec![], sourced: Some(true) }
    }

    fn run(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext<'_>,
    ) -> Result<ToolOutput, ToolFailure> {
        let asked = text_argument(arguments, "query").ok_or(ToolFailure::new("reason-no-query"))?;
        let asked: String = asked.chars().take(MOST_QUESTION).collect();
        let tongue = tongue_of(&asked, context);
        let question = complete(&asked, context.subject);
        let found = self.0.block_on(research(&self.0, &question, tongue, context.stop))?;
        let read = found.sources.iter().filter(|source| !source.unread).count();
        let values = BTreeMap::from([
            ("date", today(context)),
            ("query", found.query.clone()),
            ("count", found.sources.len().to_string()),
            ("read", read.to_string()),
            ("unread", (found.sources.len() - read).to_string()),
        ]);
        let key = match (found.sources.len(), read) {
            (0, _) => "researched-nothing",
            (_, 0) => "researched-unread",
            (all, read) if all == read => "researched",
            _ => "researched-partly",
        };
        let mut text = String::new();
        let stated = found.answer;
        let mut answer = stated.as_ref().map(|answer| fenced(&answer.text));
        let mut said = None;
        // An age is worked out from the day of birth: what a page says of it was true when it was written.
        if let Some((short, sentence, url)) = of_a_life(&question, tongue, &found.sources, context) {
            text = format!("Answer: {short}\n{sentence}\n\n");
            (answer, said) = (Some(short), Some((sentence, Some(url))));
        } else if let Some(answer) = &answer {
            // A mark that the exemplars of libraries show and the answer check reads.
            text = format!("Answer: {answer}\n");
            if let Some(sentence) = in_a_sentence(&question, answer, tongue) {
                text.push_str(&format!("{sentence}\n"));
                said = Some((sentence, stated.and_then(|answer| answer.urls.into_iter().next())));
            }
            text.push('\n');
        }
        text.push_str(&context.reply(key, &values));
        if let Some(error) = found.failed {
            let reason = ToolFailure::from(error).text(context);
            text.push_str(&format!(
                "\n{}",
                context.reply("search-failed", &BTreeMap::from([("reason", reason)]))
            ));
        }
        text.push_str(&listed(context, &found.sources));
        text.push_str(&remarks(context, &found.sources, &found.comparison, &found.spellings));
        Ok(ToolOutput { text: capped(text, MOST_CHARS), quotes: quotes(&found.sources), answer, said })
    }
}

/// The answer to a question about the dates of a life: in short, as a sentence, and where it stands.
fn of_a_life(
    question: &str,
    tongue: Tongue,
    sources: &[Source],
    context: &ToolContext<'_>,
) -> Option<(String, String, String)> {
    let (asked, _) = asks_of_life(question)?;
    let life = life(question, tongue, sources)?;
    let age = life.age(context.now.to_zoned_datetime(context.zone.clone()).date()).to_string();
    let (born, died) = (fenced(&life.born_text), life.died.as_ref().map(|(_, day)| fenced(day)));
    let (key, short) = match (asked, &died) {
        (LifeQuestion::Age, None) => ("age-now", age.clone()),
        (LifeQuestion::Age, Some(_)) => ("age-then", age.clone()),
        (LifeQuestion::Birth, _) => ("born-on", born.clone()),
        (LifeQuestion::Death, Some(died)) => ("died-on", died.clone()),
        (LifeQuestion::Death, None) => return None,
    };
    let mut values = BTreeMap::from([("name", fenced(&life.name)), ("age", age), ("born", born)]);
    values.extend(died.map(|died| ("died", died)));
    Some((short, context.reply(key, &values), life.url))
}
