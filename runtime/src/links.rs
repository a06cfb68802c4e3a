//! Addresses in running text.
#![deny(clippy::indexing_slicing)]

use std::ops::Range;

/// Where addresses stand in a text. Brackets that an address opens belong to it (`…/Betreuung_(Recht)`), one that the
/// sentence opened does not, and neither does what ends the sentence.
#[must_use]
pub fn links(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut from = 0;
    while let Some(start) = next_start(text, from) {
        let rest = text.get(start..).unwrap_or_default();
        let mut end = 0;
        let mut open = 0_usize;
        for (at, c) in rest.char_indices() {
            if c.is_whitespace() || c.is_control() || "<>\"„“”«»`|\\^{}".contains(c) {
                break;
            }
            match c {
                '(' | '[' => open += 1,
                ')' | ']' if open == 0 => break,
                ')' | ']' => open -= 1,
                _ => {}
            }
            end = at + c.len_utf8();
        }
        let link = rest.get(..end).unwrap_or_default();
        let link = link.trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '’', '*', '_', '…']);
        from = start + link.len().max(1);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        if link.len() > "https://".len() {
            out.push(start..start + link.len());
        }
    }
    out
}

fn next_start(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let found = ["http://", "https://", "HTTP://", "HTTPS://", "Http://", "Https://"]
        .iter()
        .filter_map(|scheme| rest.find(scheme))
        .min()?;
    Some(from + found)
}

/// An address as host and path, for comparison: no scheme, no `www.`, no fragment, no slash at the end, decoded.
#[must_use]
pub fn normal(link: &str) -> Option<(String, String)> {
    let url = url::Url::parse(link).ok()?;
    let host = url.host_str()?.trim_start_matches("www.").to_owned();
    let encoded =
        url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
    let encoded = format!("x={}", encoded.replace('+', "%2B").replace('&', "%26"));
    let path = url::form_urlencoded::parse(encoded.as_bytes()).next().map(|(_, value)| value.into_owned())?;
    Some((host, path.trim_end_matches('/').to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        links(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn addresses_end_where_a_reader_ends_them() {
        assert_eq!(
            found("See https://a.example/Betreuung_(Recht)."),
            ["https://a.example/Betreuung_(Recht)"]
        );
        assert_eq!(
            found("(https://a.example/x), <http://b.example> ü https://c.example/ä?"),
            ["https://a.example/x", "http://b.example", "https://c.example/ä"]
        );
        assert_eq!(found("[t](https://a.example/x_(y)) and https://"), ["https://a.example/x_(y)"]);
        assert!(found("no http here").is_empty());
        assert_eq!(
            normal("https://www.A.example/x%20y/#z"),
            Some(("a.example".to_owned(), "/x y".to_owned()))
        );
    }
}
