//! What goes wrong on the web.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response, StatusCode, Uri, header};
use serde::Deserialize;

use super::pages::{ServedPage, compressed_gzip};
use super::typed;

/// A kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    Login,
    Firewall,
    Forbidden,
    TooMany,
    ServerError,
    Slow,
    Endless,
    Huge,
    RedirectPrivate,
    RedirectLoop,
    Pdf,
    Empty,
    Truncated,
    GzipBomb,
    Consent,
}

/// What a body that never ends repeats.
const LINE: &str =
    "<p>The same line comes again and again, and no end of it is in sight for anybody who reads it.</p>\n";
/// Bytes of the page that is too large, and of the one that a small file unpacks to.
const HUGE: usize = 20 << 20;
const BOMB: usize = 64 << 20;

impl Kind {
    pub(super) fn serve(self, page: &ServedPage, uri: &Uri) -> Response<Body> {
        let text = |status: StatusCode, body: Body| typed(status, "text/html; charset=utf-8", body);
        let own = || Body::from(Bytes::from_static(page.body));
        let status =
            page.entry.status.and_then(|status| StatusCode::from_u16(status).ok()).unwrap_or(StatusCode::OK);
        match self {
            Self::Login | Self::Firewall | Self::Empty | Self::Consent => text(status, own()),
            Self::Forbidden => text(StatusCode::FORBIDDEN, Body::from("<h1>403 Forbidden</h1>")),
            Self::TooMany => {
                let mut response =
                    text(StatusCode::TOO_MANY_REQUESTS, Body::from("<h1>429 Too Many Requests</h1>"));
                response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("30"));
                response
            }
            Self::ServerError => text(StatusCode::SERVICE_UNAVAILABLE, Body::from("<h1>503</h1>")),
            Self::Slow => {
                text(StatusCode::OK, Body::from_stream(repeated(1, Some(Duration::from_secs(600)))))
            }
            Self::Endless => text(StatusCode::OK, Body::from_stream(repeated(usize::MAX, None))),
            Self::Huge => text(StatusCode::OK, Body::from_stream(repeated(HUGE / LINE.len(), None))),
            Self::RedirectPrivate => moved(page.entry.location.as_deref().unwrap_or("http://127.0.0.1/")),
            Self::RedirectLoop => {
                let step: u32 = uri
                    .query()
                    .and_then(|query| query.strip_prefix("step="))
                    .and_then(|step| step.parse().ok())
                    .unwrap_or(0);
                moved(&format!("{}?step={}", uri.path(), step.saturating_add(1)))
            }
            Self::Pdf => typed(StatusCode::OK, "application/pdf", Body::from("%PDF-1.4\n%\u{e2}\u{e3}\n")),
            Self::Truncated => {
                let mut response = text(StatusCode::OK, Body::from_stream(repeated(2, None)));
                response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from_static("100000"));
                response
            }
            Self::GzipBomb => {
                let bomb = compressed_gzip(&vec![b' '; BOMB]).unwrap_or_default();
                let mut response = text(StatusCode::OK, Body::from(bomb));
                response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                response
            }
        }
    }
}

fn moved(location: &str) -> Response<Body> {
    let mut response = typed(StatusCode::FOUND, "text/html", Body::empty());
    if let Ok(location) = HeaderValue::from_str(location) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// A line so many times, and a wait behind them.
fn repeated(
    times: usize,
    wait: Option<Duration>,
) -> impl futures_util::Stream<Item = Result<Bytes, std::io::Error>> {
    const LINES: usize = 200;
    futures_util::stream::unfold((times, wait), |(left, wait)| async move {
        if left == 0 {
            tokio::time::sleep(wait?).await;
            return None;
        }
        let now = left.min(LINES);
        Some((Ok(Bytes::from(LINE.repeat(now))), (left - now, wait)))
    })
}
