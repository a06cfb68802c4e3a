//! `read_page`: the text of a page; of a long one, what bears on the question.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::reach::{capped, fenced, tongue_of};
use super::{Quote, Tool, ToolContext, ToolFailure, ToolOutput, Wants, text_argument};
use crate::net::Fetcher;
use crate::research::{excerpt, open};

/// Characters of a result (reference: 8000).
const MOST_CHARS: usize = 8_000;

pub(super) struct ReadPage(pub(super) Arc<Fetcher>);

impl Tool for ReadPage {
    fn name(&self) -> &str {
        "read_page"
    }

    fn wants(&self) -> Wants<'_> {
        Wants { required: vec!["url"], optional: vec![], sourced: Some(true) }
    }

    fn run(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext<'_>,
    ) -> Result<ToolOutput, ToolFailure> {
        let url = text_argument(arguments, "url").ok_or(ToolFailure::new("reason-no-query"))?;
        // People and models leave the scheme out.
        let url = if url.contains("://") { url } else { format!("https://{url}") };
        let opened =
            self.0.block_on(open(&self.0, &url, tongue_of(context.question, context), context.stop))?;
        if opened.is_blocked() {
            return Err(ToolFailure::new("reason-blocked").with("url", opened.url));
        }
        let body = fenced(&opened.page.text());
        if body.trim().is_empty() {
            return Err(ToolFailure::new("reason-no-text").with("url", opened.url));
        }
        let title = fenced(&opened.page.title);
        let head = if title.is_empty() { String::new() } else { format!("# {title}\n") };
        let cut = opened.cut || body.chars().count() > MOST_CHARS;
        // Of a long page, what bears on the question.
        let tongue = tongue_of(context.question, context);
        let chosen = if cut { excerpt(&opened.page, context.question, tongue, MOST_CHARS) } else { None };
        let body = chosen.map_or_else(|| capped(body, MOST_CHARS), |chosen| fenced(&chosen));
        let mut text = format!("{head}Source: {}\n\n{body}", opened.url);
        if cut {
            text.push_str(&format!("\n\n{}", context.reply("page-cut", &BTreeMap::new())));
        }
        let quotes = opened
            .page
            .content()
            .iter()
            .filter(|block| block.is_prose())
            .map(|block| Quote { url: opened.url.clone(), text: fenced(&block.text) })
            .collect();
        Ok(ToolOutput { text, quotes, ..ToolOutput::default() })
    }
}
