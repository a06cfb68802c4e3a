//! The demo web: a small offline web that one process of ours serves on loopback, so that searches, pages and the
//! weather run end to end without a network. It answers by the name of the host, in the forms of the services whose
//! names it takes: DuckDuckGo's HTML page, MediaWiki's and Open-Meteo's APIs. Pages lie in `evals/web/`.

mod engine;
mod faults;
mod index;
mod pages;
mod sky;
mod wiki;

use std::collections::HashMap;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, Uri, header};

use engine::Engine;
use pages::Pages;
use sky::Sky;
use wiki::Wiki;

/// Everything that is served.
struct Web {
    pages: Pages,
    engine: Engine,
    wikis: [Wiki; 2],
    sky: Sky,
}

/// Why the demo web cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// A table of it cannot be read.
    #[error("the demo web's {file} cannot be read: {cause}")]
    Table {
        /// The file.
        file: &'static str,
        /// Why.
        cause: String,
    },
    /// The port cannot be taken.
    #[error("the demo web cannot be served: {0}")]
    Io(#[from] std::io::Error),
}

impl Web {
    fn open() -> Result<Self, WebError> {
        let pages = Pages::open()?;
        let engine = Engine::new(&pages);
        Ok(Self { engine, wikis: [Wiki::open("de")?, Wiki::open("en")?], sky: Sky::open()?, pages })
    }
}

/// Serves the demo web on loopback until the process ends. The address is printed as one line once it answers.
///
/// # Errors
/// A table cannot be read, or the port is taken.
pub fn serve(port: u16) -> Result<(), WebError> {
    let web = Arc::new(Web::open()?);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?;
        let mut out = std::io::stdout();
        writeln!(out, "{}", listener.local_addr()?)?;
        out.flush()?;
        let router = axum::Router::new().fallback(answer).with_state(web);
        axum::serve(listener, router).await
    })?;
    Ok(())
}

/// The parameters of an address.
fn parameters(uri: &Uri) -> HashMap<String, String> {
    form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned().collect()
}

async fn answer(State(web): State<Arc<Web>>, uri: Uri, headers: HeaderMap) -> Response<Body> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let asked = parameters(&uri);
    let language = if host.starts_with("de.") { 0 } else { 1 };
    match (host.as_str(), uri.path()) {
        ("html.duckduckgo.com", "/html/") => web.engine.answer(&asked, true),
        ("lite.duckduckgo.com", "/lite/") => web.engine.answer(&asked, false),
        ("de.wikipedia.org" | "en.wikipedia.org", path) => match web.wikis.get(language) {
            Some(wiki) if path == "/w/api.php" => json(&wiki.api(&asked)),
            Some(wiki) => wiki.page(path).map_or_else(missing, |page| html(StatusCode::OK, page)),
            None => missing(),
        },
        ("geocoding-api.open-meteo.com", "/v1/search") => json(&web.sky.places(&asked)),
        ("api.open-meteo.com", "/v1/forecast") => json(&web.sky.forecast(&asked)),
        (_, path) => match web.pages.find(&host, path) {
            Some(page) => page.serve(&headers, &uri),
            None => missing(),
        },
    }
}

fn html(status: StatusCode, text: String) -> Response<Body> {
    typed(status, "text/html; charset=utf-8", text.into())
}

fn json(value: &serde_json::Value) -> Response<Body> {
    typed(StatusCode::OK, "application/json; charset=utf-8", value.to_string().into())
}

fn missing() -> Response<Body> {
    html(StatusCode::NOT_FOUND, "<title>404</title><h1>Not found</h1>".to_owned())
}

fn typed(status: StatusCode, kind: &str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    if let Ok(kind) = HeaderValue::from_str(kind) {
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
    }
    response
}

/// Text for HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A table of the demo web.
fn table<T: serde::de::DeserializeOwned>(file: &'static str) -> Result<T, WebError> {
    let failed = |cause: String| WebError::Table { file, cause };
    let found = pages::FILES.get_file(file).ok_or_else(|| failed("it is missing".to_owned()))?;
    let text = found.contents_utf8().ok_or_else(|| failed("it is not UTF-8".to_owned()))?;
    toml::from_str(text).map_err(|error| failed(error.to_string()))
}
