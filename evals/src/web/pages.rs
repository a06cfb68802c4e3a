//! Pages and what goes wrong with some of them.

use std::collections::HashMap;
use std::io::Write as _;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, Uri, header};
use include_dir::{Dir, include_dir};
use serde::Deserialize;

use super::{WebError, faults, table, typed};

/// Everything under `evals/web/`.
pub(super) static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/web");

/// A row of `sites.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) url: String,
    pub(super) file: Option<String>,
    pub(super) title: String,
    pub(super) snippet: String,
    pub(super) language: String,
    pub(super) content_type: Option<String>,
    #[serde(default)]
    pub(super) rank: f64,
    /// What goes wrong.
    pub(super) kind: Option<faults::Kind>,
    /// Where a redirect leads.
    pub(super) location: Option<String>,
    pub(super) status: Option<u16>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sites {
    page: Vec<Entry>,
    fault: Vec<Entry>,
}

/// A page that is served.
pub(super) struct ServedPage {
    pub(super) entry: Entry,
    pub(super) body: &'static [u8],
}

/// All pages.
pub(super) struct Pages {
    pages: Vec<ServedPage>,
    by_address: HashMap<(String, String), usize>,
}

impl Pages {
    pub(super) fn open() -> Result<Self, WebError> {
        let sites: Sites = table("sites.toml")?;
        let mut found = Self { pages: Vec::new(), by_address: HashMap::new() };
        for entry in sites.page.into_iter().chain(sites.fault) {
            let failed = |cause: String| WebError::Table { file: "sites.toml", cause };
            let body = match &entry.file {
                Some(file) => {
                    FILES.get_file(file).ok_or_else(|| failed(format!("{file} is missing")))?.contents()
                }
                None => &[],
            };
            let (host, path) = entry
                .url
                .strip_prefix("https://")
                .and_then(|rest| rest.split_once('/'))
                .ok_or_else(|| failed(format!("{} is no address", entry.url)))?;
            let address = (host.to_owned(), format!("/{path}"));
            if found.by_address.insert(address, found.pages.len()).is_some() {
                return Err(failed(format!("{} stands twice", entry.url)));
            }
            found.pages.push(ServedPage { entry, body });
        }
        Ok(found)
    }

    pub(super) fn find(&self, host: &str, path: &str) -> Option<&ServedPage> {
        let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
        self.by_address.get(&(host.to_owned(), path.to_owned())).and_then(|at| self.pages.get(*at))
    }

    pub(super) fn all(&self) -> &[ServedPage] {
        &self.pages
    }
}

impl ServedPage {
    /// The page, compressed where the reader takes that, or what goes wrong with it.
    pub(super) fn serve(&self, headers: &HeaderMap, uri: &Uri) -> Response<Body> {
        if let Some(kind) = self.entry.kind {
            return kind.serve(self, uri);
        }
        let status =
            self.entry.status.and_then(|status| StatusCode::from_u16(status).ok()).unwrap_or(StatusCode::OK);
        let kind = self.entry.content_type.as_deref().unwrap_or("text/html; charset=utf-8");
        let accepts =
            headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
        // Every other page comes with brotli, so that both are read.
        let brotli = self.entry.url.len().is_multiple_of(2) && accepts.contains("br");
        let (body, encoding) = if brotli {
            (compressed_brotli(self.body), Some("br"))
        } else if accepts.contains("gzip") {
            (compressed_gzip(self.body), Some("gzip"))
        } else {
            (None, None)
        };
        let mut response = match body {
            Some(body) => typed(status, kind, Body::from(body)),
            None => typed(status, kind, Body::from(Bytes::from_static(self.body))),
        };
        if let Some(encoding) = encoding {
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        response
    }
}

pub(super) fn compressed_gzip(body: &[u8]) -> Option<Vec<u8>> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(body).ok()?;
    out.finish().ok()
}

fn compressed_brotli(body: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    {
        let mut writer = brotli::CompressorWriter::new(&mut out, 4096, 3, 20);
        writer.write_all(body).ok()?;
    }
    Some(out)
}
