//! `web_search`: a term as it is written, up to four sites with the begin of what they say.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::reach::{capped, listed, quotes, remarks, today, tongue_of};
use super::{Tool, ToolContext, ToolFailure, ToolOutput, Wants, text_argument};
use crate::net::Fetcher;
use crate::research::brief;

/// Characters of a result (reference: 4000).
const MOST_CHARS: usize = 4_000;
/// Sites where the call names no number.
const SITES: usize = 4;

pub(super) struct WebSearch(pub(super) Arc<Fetcher>);

impl Tool for WebSearch {
    fn name(&self) -> &str {
        "web_search"
    }

    fn wants(&self) -> Wants<'_> {
        Wants { required: vec!["query"], optional: vec!["limit"], sourced: Some(true) }
    }

    fn run(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext<'_>,
    ) -> Result<ToolOutput, ToolFailure> {
        let query = text_argument(arguments, "query").ok_or(ToolFailure::new("reason-no-query"))?;
        let limit = text_argument(arguments, "limit").and_then(|limit| limit.parse::<f64>().ok());
        // More than four sites make no brief; a model that asks for none wants some.
        let sites = limit.map_or(SITES, |limit| limit.clamp(1.0, SITES as f64) as usize);
        let tongue = tongue_of(&query, context);
        let found = self.0.block_on(brief(&self.0, &query, sites, tongue, context.stop))?;
        let values = BTreeMap::from([
            ("date", today(context)),
            ("query", query),
            ("count", found.sources.len().to_string()),
        ]);
        if found.sources.is_empty() {
            return Ok(context.reply("searched-nothing", &values).into());
        }
        let text = format!(
            "{}{}{}",
            context.reply("searched", &values),
            listed(context, &found.sources),
            remarks(context, &found.sources, &found.comparison, &found.spellings)
        );
        Ok(ToolOutput {
            text: capped(text, MOST_CHARS),
            quotes: quotes(&found.sources),
            ..ToolOutput::default()
        })
    }
}
