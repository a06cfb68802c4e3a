//! Opens a page: Wikipedia's articles as plain text, every other as it is served.

use std::sync::atomic::AtomicBool;

use url::Url;

use super::ask::SearchError;
use super::{Tongue, wikipedia};
use crate::net::{FetchError, Fetcher, decode};
use crate::reading::{Page, read_html, read_plain};

/// A page that was opened.
#[derive(Clone, Debug)]
pub struct Opened {
    /// Where it was in the end.
    pub url: String,
    /// What is on it.
    pub page: Page,
    /// It is longer than what was read of it.
    pub cut: bool,
}

/// Media types that are read.
const ACCEPT: &str = "text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.1";

/// Opens a page.
///
/// # Errors
/// It cannot be fetched.
pub async fn open(
    fetcher: &Fetcher,
    url: &str,
    tongue: Tongue,
    stop: &AtomicBool,
) -> Result<Opened, FetchError> {
    if let Some((host, title)) = Url::parse(url).ok().as_ref().and_then(wikipedia::article) {
        match wikipedia::read(fetcher, &host, &title, stop).await {
            Ok((url, page)) => return Ok(Opened { url, page, cut: false }),
            Err(SearchError::Fetch(error @ (FetchError::Stopped | FetchError::Busy { .. }))) => {
                return Err(error);
            }
            // Pages that are no articles are read as they are.
            Err(_) => {}
        }
    }
    let languages = if tongue == Tongue::German { "de,en;q=0.7" } else { "en,de;q=0.5" };
    let fetched = fetcher.get(url, ACCEPT, languages, stop).await?;
    let (address, cut) = (fetched.url.to_string(), fetched.cut);
    let host = fetched.url.host_str().unwrap_or_default().to_owned();
    let page = Fetcher::blocking(move || {
        let text = decode(&fetched.body, fetched.content_type.as_deref());
        let plain = fetched.content_type.as_deref().is_some_and(|kind| kind.starts_with("text/plain"));
        if plain { read_plain(&text) } else { read_html(&text) }
    });
    let page = page.await.ok_or(FetchError::BrokeOff { host, cause: "it could not be read".to_owned() })?;
    let cut = cut || page.cut;
    Ok(Opened { url: address, page, cut })
}

/// Characters of a page that is no more than a notice (reference: 1200), and of its begin that is looked at.
const BLOCKED_CHARS: usize = 1_200;
const BLOCKED_HEAD: usize = 300;
const BLOCKED: &[&str] = &[
    "access denied",
    "attention required",
    "are you a human",
    "are you a robot",
    "blocked",
    "captcha",
    "checking your browser",
    "cloudflare",
    "enable javascript and cookies",
    "firewall",
    "just a moment",
    "log in to continue",
    "melde dich an",
    "please sign in",
    "please verify",
    "security check",
    "sucuri",
    "unusual traffic",
    "verify you are human",
    "zugriff verweigert",
    "bitte melden sie sich an",
    "bist du ein mensch",
    "sicherheitsprüfung",
    "to continue, log in",
];

impl Opened {
    /// Whether it is a notice of a firewall, a login or a consent in place of the page.
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        let length: usize = self.page.blocks.iter().map(|block| block.text.len()).sum();
        if length >= BLOCKED_CHARS {
            return false;
        }
        let mut head = self.page.title.to_lowercase();
        for block in &self.page.blocks {
            head.push(' ');
            head.push_str(&block.text.to_lowercase());
            if head.len() > BLOCKED_HEAD * 2 {
                break;
            }
        }
        BLOCKED.iter().any(|words| head.contains(words))
    }
}
