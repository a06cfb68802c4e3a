//! What a server returns, as a tool's result: texts of it, fenced and cut, and what of them can be quoted with the
//! address that they give.

use std::collections::BTreeMap;

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;

use super::link::said;
use crate::links::links;
use crate::tools::reach::{capped, fenced};
use crate::tools::{Quote, ToolContext, ToolFailure, ToolOutput};

/// Most characters that the model sees of a result.
const MOST_CHARS: usize = 4_000;
/// Most passages that can be quoted of a result.
const MOST_QUOTES: usize = 60;
/// Keys of JSON objects that hold an address, and such that hold what stands there.
const ADDRESSES: [&str; 5] = ["url", "link", "uri", "href", "source"];
const TEXTS: [&str; 9] =
    ["text", "content", "snippet", "extract", "description", "summary", "abstract", "body", "excerpt"];

/// A part of a result.
enum Part {
    Text(String),
    /// A text with its address.
    Page(String, String),
    /// Something that is no text: its media type.
    Other(String),
}

/// What a call returned.
pub(super) struct Returned {
    parts: Vec<Part>,
    /// The server says that it failed.
    failed: bool,
}

impl From<CallToolResult> for Returned {
    fn from(result: CallToolResult) -> Self {
        let mut parts: Vec<Part> = result.content.into_iter().map(part).collect();
        let texts = parts.iter().any(|part| !matches!(part, Part::Other(_)));
        if let Some(value) = result.structured_content.filter(|value| !texts && !value.is_null()) {
            parts.push(Part::Text(value.to_string()));
        }
        Self { parts, failed: result.is_error.unwrap_or(false) }
    }
}

fn part(block: ContentBlock) -> Part {
    match block {
        ContentBlock::Text(text) => Part::Text(text.text),
        ContentBlock::Image(image) => Part::Other(image.mime_type),
        ContentBlock::Audio(audio) => Part::Other(audio.mime_type),
        ContentBlock::Resource(resource) => match resource.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => Part::Page(uri, text),
            ResourceContents::BlobResourceContents { uri, mime_type, .. } => {
                Part::Other(mime_type.unwrap_or(uri))
            }
            _ => Part::Other("resource".to_owned()),
        },
        ContentBlock::ResourceLink(link) => {
            let about = link.description.unwrap_or_default();
            Part::Page(link.uri, [link.title.unwrap_or(link.name), about].join("\n").trim().to_owned())
        }
        _ => Part::Other("content".to_owned()),
    }
}

/// A result as the model sees it.
pub(super) fn output(
    returned: &Returned,
    server: &str,
    context: &ToolContext<'_>,
) -> Result<ToolOutput, ToolFailure> {
    let mut lines = Vec::new();
    let mut quotes = Vec::new();
    for part in &returned.parts {
        match part {
            Part::Text(text) => {
                quotes.extend(quotable(text));
                lines.push(fenced(text.trim()));
            }
            Part::Page(url, text) => {
                if is_address(url) {
                    quotes.push(Quote { url: url.clone(), text: fenced(text.trim()) });
                }
                lines.push(format!("{}\n{}", fenced(url), fenced(text.trim())));
            }
            Part::Other(kind) => {
                let values = BTreeMap::from([("kind", said(kind))]);
                lines.push(context.reply("mcp-not-text", &values));
            }
        }
    }
    let text = lines.join("\n\n");
    if returned.failed || text.trim().is_empty() {
        let failure = |key| ToolFailure::new(key).with("server", server);
        return Err(match text.trim() {
            "" => failure("reason-mcp-empty"),
            message => failure("reason-mcp-refused").with("message", said(message)),
        });
    }
    quotes.truncate(MOST_QUOTES);
    Ok(ToolOutput { text: capped(text, MOST_CHARS), quotes, ..ToolOutput::default() })
}

fn is_address(text: &str) -> bool {
    links(text).first().is_some_and(|span| span.start == 0 && span.end == text.len())
}

/// What a text gives with an address: entries of JSON, or paragraphs. Where a text names one address alone, all of it
/// stands there; else a paragraph belongs to the first address in it.
fn quotable(text: &str) -> Vec<Quote> {
    let mut out = Vec::new();
    if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str::<Value>(text) {
        entries(&value, &mut out);
        return out;
    }
    let named = |text: &str| -> Vec<String> {
        let mut urls: Vec<String> =
            links(text).into_iter().filter_map(|span| Some(text.get(span)?.to_owned())).collect();
        urls.dedup();
        urls
    };
    let all = named(text);
    let only = all.first().filter(|first| all.iter().all(|url| url == *first));
    for paragraph in text.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()) {
        let Some(url) = only.cloned().or_else(|| named(paragraph).into_iter().next()) else { continue };
        // The line that only gives the address is no passage.
        let lines =
            paragraph.lines().filter(|line| links(line).is_empty() || line.split_whitespace().count() > 6);
        let said = lines.collect::<Vec<_>>().join("\n");
        if !said.trim().is_empty() {
            out.push(Quote { url, text: fenced(said.trim()) });
        }
    }
    out
}

/// Objects with an address and a text.
fn entries(value: &Value, out: &mut Vec<Quote>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| entries(value, out)),
        Value::Object(fields) => {
            let text = |keys: &[&str]| keys.iter().find_map(|key| fields.get(*key)?.as_str());
            match (text(&ADDRESSES).filter(|url| is_address(url)), text(&TEXTS)) {
                (Some(url), Some(text)) if !text.trim().is_empty() => {
                    out.push(Quote { url: url.to_owned(), text: fenced(text.trim()) });
                }
                _ => fields.values().for_each(|value| entries(value, out)),
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::quotable;

    #[test]
    fn what_stands_at_an_address_can_be_quoted_with_it() {
        let pairs = |text: &str| -> Vec<(String, String)> {
            quotable(text).into_iter().map(|quote| (quote.url, quote.text)).collect()
        };
        let pair = |url: &str, text: &str| (url.to_owned(), text.to_owned());
        assert_eq!(
            pairs(
                r#"{"results": [{"url": "https://a.example/x", "content": "One."}, {"title": "no address", "text": "Two."}]}"#
            ),
            [pair("https://a.example/x", "One.")]
        );
        assert_eq!(
            pairs("Source: https://a.example/x\n\nOne.\n\nTwo."),
            [pair("https://a.example/x", "One."), pair("https://a.example/x", "Two.")]
        );
        assert_eq!(
            pairs("1. A - https://a.example/\nOne.\n\n2. B - https://b.example/\nTwo.\n\nThree."),
            [pair("https://a.example/", "One."), pair("https://b.example/", "Two.")]
        );
        assert!(quotable("No address at all.").is_empty());
        assert!(quotable("{\"text\": 5").is_empty());
    }
}
