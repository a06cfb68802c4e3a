//! Servers of tools (Model Context Protocol): as `--mcp` names them, and as the file of `--mcp-config` lists them, in
//! the form that other programs use.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};
use skill_runtime::tools::mcp::{self, Place, Server};

use crate::Failure;

/// Most bytes of a file of servers.
const LARGEST_FILE: u64 = 1 << 20;
const EXAMPLE: &str =
    r#"{"mcpServers": {"files": {"command": "npx", "args": ["-y", "a-server", "/notes"]}}}"#;
/// Keys that other programs write for themselves.
const FOREIGN_KEYS: [&str; 7] =
    ["alwaysAllow", "autoApprove", "description", "disabledTools", "gallery", "icon", "trust"];

#[derive(Deserialize)]
struct Entry {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<PathBuf>,
    #[serde(alias = "serverUrl")]
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(rename = "type", alias = "transport")]
    kind: Option<String>,
    #[serde(default)]
    disabled: bool,
    #[serde(alias = "startupSeconds")]
    startup_seconds: Option<f64>,
    #[serde(alias = "callSeconds")]
    call_seconds: Option<f64>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// Servers of a command line, and what of the file was passed over, a line each.
pub(super) fn servers(named: &[String], file: Option<&Path>) -> Result<(Vec<Server>, Vec<String>), Failure> {
    let mut servers = Vec::new();
    let mut remarks = Vec::new();
    let from_environment =
        std::env::var_os("SKILLC_MCP_CONFIG").filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = file.map(Path::to_owned).or(from_environment) {
        (servers, remarks) = listed(&path)?;
    }
    for text in named {
        let server = server(text)?;
        servers.retain(|known: &Server| known.name != server.name);
        servers.push(server);
    }
    Ok((servers, remarks))
}

/// `NAME=COMMAND` or `NAME=URL`.
fn server(text: &str) -> Result<Server, Failure> {
    let failed = |cause: &str| {
        Failure::Usage(format!(
            "--mcp `{}`: {cause}; an example: --mcp 'files=npx -y a-server /notes' or --mcp wiki=http://127.0.0.1:8000/mcp",
            text.split('=').next().unwrap_or_default()
        ))
    };
    let (name, place) = text.split_once('=').ok_or_else(|| failed("a name and `=` come first"))?;
    check_name(name).map_err(|cause| failed(&cause))?;
    let place = if place.starts_with("http://") || place.starts_with("https://") {
        Place::Http { url: place.to_owned(), headers: BTreeMap::new() }
    } else {
        let words = shlex::split(place).ok_or_else(|| failed("a quotation mark is not closed"))?;
        let mut words = words.into_iter();
        let command = words.next().ok_or_else(|| failed("behind `=` stands a command or an address"))?;
        Place::Process { command, arguments: words.collect(), environment: BTreeMap::new(), folder: None }
    };
    Ok(Server { name: name.to_owned(), place, start: mcp::START, call: mcp::CALL })
}

fn check_name(name: &str) -> Result<(), String> {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if plain && begins && !name.contains("__") {
        return Ok(());
    }
    Err(format!("`{name}` is no name of a server: letters, digits, _ and -, no two _ in a row"))
}

/// Servers that a file lists.
fn listed(path: &Path) -> Result<(Vec<Server>, Vec<String>), Failure> {
    let failed = |cause: String| Failure::Usage(format!("{}: {cause}", path.display()));
    let size = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
    if size > LARGEST_FILE {
        return Err(failed(format!("it has {size} bytes; a file of servers has at most {LARGEST_FILE}")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let whole: Map<String, Value> = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| failed(format!("it is no JSON object: {error}; an example: {EXAMPLE}")))?;
    let entries = ["mcpServers", "servers"].iter().find_map(|key| whole.get(*key)?.as_object());
    let entries = entries.ok_or_else(|| failed(format!("it has no `mcpServers`; an example: {EXAMPLE}")))?;
    let mut servers = Vec::new();
    let mut remarks = Vec::new();
    for (name, value) in entries {
        let failed = |cause: String| failed(format!("server `{name}`: {cause}"));
        check_name(name).map_err(failed)?;
        let entry = Entry::deserialize(value).map_err(|error| failed(error.to_string()))?;
        if entry.disabled {
            continue;
        }
        let unknown: Vec<&str> =
            entry.others.keys().map(String::as_str).filter(|key| !FOREIGN_KEYS.contains(key)).collect();
        if !unknown.is_empty() {
            let unknown = unknown.join("`, `");
            remarks.push(format!("{}: server `{name}`: `{unknown}` is passed over", path.display()));
        }
        servers.push(read(name, entry).map_err(failed)?);
    }
    Ok((servers, remarks))
}

fn read(name: &str, entry: Entry) -> Result<Server, String> {
    let all_filled = |values: BTreeMap<String, String>| -> Result<BTreeMap<String, String>, String> {
        values.into_iter().map(|(key, value)| Ok((key, filled(&value)?))).collect()
    };
    let kind = entry.kind.as_deref().unwrap_or(if entry.url.is_some() { "http" } else { "stdio" });
    let place = match (kind, entry.command, entry.url) {
        ("stdio", Some(command), None) => Place::Process {
            command: filled(&command)?,
            arguments: entry.args.iter().map(|value| filled(value)).collect::<Result<_, _>>()?,
            environment: all_filled(entry.env)?,
            folder: entry.cwd,
        },
        ("http" | "streamable-http" | "streamableHttp" | "streamable_http", None, Some(url)) => {
            let url = filled(&url)?;
            if !url.starts_with("http://") && !url.starts_with("https://") {
                return Err(format!("`{url}` is no address of http or https"));
            }
            Place::Http { url, headers: all_filled(entry.headers)? }
        }
        ("sse", ..) => {
            return Err("the old transport `sse` is not supported; most servers speak `http`, too".to_owned());
        }
        ("stdio" | "http" | "streamable-http" | "streamableHttp" | "streamable_http", ..) => {
            return Err("it has either a `command` or a `url`".to_owned());
        }
        (other, ..) => return Err(format!("`{other}` is no type of a server; it may be stdio or http")),
    };
    let seconds = |given: Option<f64>, default: Duration| match given {
        None => Ok(default),
        Some(seconds) if seconds > 0.0 && seconds <= 3_600.0 => Ok(Duration::from_secs_f64(seconds)),
        Some(seconds) => Err(format!("{seconds} s is no time to wait; above 0, at most 3600")),
    };
    Ok(Server {
        name: name.to_owned(),
        place,
        start: seconds(entry.startup_seconds, mcp::START)?,
        call: seconds(entry.call_seconds, mcp::CALL)?,
    })
}

/// A value with `${NAME}`, `${env:NAME}` and `${NAME:-otherwise}` filled from the environment, so that no key need
/// stand in the file.
fn filled(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once("${") {
        out.push_str(before);
        let (inner, after) = tail.split_once('}').ok_or("a `${` is not closed")?;
        let (name, otherwise) = match inner.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (inner, None),
        };
        let name = name.strip_prefix("env:").unwrap_or(name);
        match (std::env::var(name), otherwise) {
            (Ok(value), _) => out.push_str(&value),
            (Err(_), Some(otherwise)) => out.push_str(otherwise),
            (Err(_), None) => return Err(format!("the environment variable {name} is not set")),
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}
