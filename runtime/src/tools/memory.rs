//! `memory`: what the user wants remembered, in a SQLite file that survives the end of the program at any moment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Map, Value};

use super::{Tool, ToolContext, ToolFailure, ToolOutput, Wants, text_argument};
use crate::research::{Tongue, is_related, tongue, words};

/// Entries, characters of one, days in the bin and entries in it (reference).
const MOST_ENTRIES: usize = 200;
const MOST_CHARS: usize = 200;
const BIN_DAYS: i64 = 7;
const MOST_BINNED: i64 = 100;
/// What enters the prompt (reference: six entries, three preferences, 400 characters).
const RECALLED: usize = 6;
const PREFERENCES: usize = 3;
const RECALLED_CHARS: usize = 400;
/// Letters of an id, without those that look alike.
const ID_LETTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";
const ID_CHARS: usize = 6;

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Six characters.
    pub id: String,
    /// `fact`, `preference` or `event`.
    pub kind: String,
    /// The text.
    pub text: String,
    /// The day on which it was noted.
    pub day: String,
}

/// The file.
pub struct Memory {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A file that cannot be used; it is left as it is.
#[derive(Debug, thiserror::Error)]
#[error("the memory {path} cannot be used: {cause}; it was left as it is, --memory names another file")]
pub struct MemoryError {
    path: String,
    cause: String,
}

impl Memory {
    /// Opens a file, or makes it.
    ///
    /// # Errors
    /// It is damaged, of another program, or cannot be written.
    pub fn open(path: &Path) -> Result<Self, MemoryError> {
        let failed = |cause: String| MemoryError { path: path.display().to_string(), cause };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| failed(error.to_string()))?;
        }
        let connection = Connection::open(path).map_err(|error| failed(error.to_string()))?;
        let prepare = || -> rusqlite::Result<()> {
            connection.busy_timeout(std::time::Duration::from_secs(5))?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.execute_batch(
                "CREATE TABLE IF NOT EXISTS entries (
                    id TEXT PRIMARY KEY, kind TEXT NOT NULL, text TEXT NOT NULL, normal TEXT NOT NULL,
                    noted INTEGER NOT NULL, deleted INTEGER
                 ) STRICT;",
            )?;
            let sound: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
            if sound != "ok" {
                return Err(rusqlite::Error::InvalidParameterName(sound));
            }
            Ok(())
        };
        prepare().map_err(|error| failed(error.to_string()))?;
        Ok(Self { path: path.to_owned(), connection: Mutex::new(connection) })
    }

    fn with<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, ToolFailure> {
        let failed = |cause: String| {
            ToolFailure::new("reason-memory")
                .with("path", self.path.display().to_string())
                .with("cause", cause)
        };
        let connection = self.connection.lock().map_err(|_| failed("locked".to_owned()))?;
        work(&connection).map_err(|error| failed(error.to_string()))
    }

    /// All entries, the newest first.
    fn all(&self) -> Result<Vec<Entry>, ToolFailure> {
        self.with(|connection| {
            let mut statement = connection.prepare("SELECT id, kind, text, date(noted, 'unixepoch') FROM entries WHERE deleted IS NULL ORDER BY noted DESC, rowid DESC")?;
            let rows = statement.query_map([], |row| Ok(Entry { id: row.get(0)?, kind: row.get(1)?, text: row.get(2)?, day: row.get(3)? }))?;
            rows.collect()
        })
    }

    /// What is known about the user that may matter for a message: preferences, and entries that share a word with
    /// it; the newest first, within the budget of the prompt.
    ///
    /// # Errors
    /// The file cannot be read any more.
    pub fn recall(&self, message: &str) -> Result<Vec<Entry>, ToolFailure> {
        let all = self.all()?;
        let preferences = all.iter().filter(|entry| entry.kind == "preference").take(PREFERENCES);
        let matching =
            all.iter().filter(|entry| entry.kind != "preference" && overlaps(&entry.text, message));
        let mut left = RECALLED_CHARS;
        let mut out = Vec::new();
        for entry in preferences.chain(matching) {
            let length = entry.text.chars().count();
            if out.len() == RECALLED || length > left {
                break;
            }
            left -= length;
            out.push(entry.clone());
        }
        Ok(out)
    }
}

/// Words of an entry's text that say something: three letters and more that do not only hold together.
fn content(text: &str) -> Vec<String> {
    let shell = [
        "that", "the", "and", "dass", "der", "die", "das", "und", "ich", "bin", "ist", "you", "are", "does",
        "what", "was", "wie", "who", "wer", "mein", "meine", "has", "have", "habe", "hat", "about", "über",
        "know", "weißt", "for", "für", "can", "kann", "kannst", "please", "bitte", "how",
    ];
    words(text)
        .into_iter()
        .filter(|word| word.chars().count() >= 3 && !shell.contains(&word.as_str()))
        .collect()
}

fn overlaps(text: &str, message: &str) -> bool {
    let tongue = tongue(text).unwrap_or(Tongue::English);
    let asked = content(message);
    content(text).iter().any(|word| asked.iter().any(|asked| is_related(word, asked, tongue)))
}

/// A text as it is compared: without who says it ("I live" and "Lives" are one).
fn normal(text: &str) -> String {
    let tongue = tongue(text).unwrap_or(Tongue::English);
    let mut words: Vec<String> =
        content(text).iter().map(|word| crate::research::stem(word, tongue)).collect();
    words.dedup();
    words.join(" ")
}

pub(super) struct MemoryTool(pub(super) Arc<Memory>);

impl Tool for MemoryTool {
    fn name(&self) -> &str {
        "memory"
    }

    fn wants(&self) -> Wants<'_> {
        Wants {
            required: vec!["command"],
            optional: vec!["text", "query", "id", "kind", "confirm"],
            sourced: Some(false),
        }
    }

    fn run(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext<'_>,
    ) -> Result<ToolOutput, ToolFailure> {
        let get = |name: &str| text_argument(arguments, name);
        let command = get("command").unwrap_or_default().to_lowercase();
        let memory = &self.0;
        let text = match command.as_str() {
            "add" | "remember" | "save" | "store" | "merken" => memory.add(
                &get("text").or(get("query")).ok_or(ToolFailure::new("reason-no-text-given"))?,
                get("kind"),
                context,
            )?,
            "update" | "change" | "replace" | "ändern" => {
                let text = get("text").ok_or(ToolFailure::new("reason-no-text-given"))?;
                memory.update(get("id"), get("query"), &text, context)?
            }
            "delete" | "forget" | "remove" | "vergessen" => {
                memory.delete(get("id"), get("query").or(get("text")), context)?
            }
            "list" | "recall" | "show" | "" if get("query").is_none() => memory.list(&memory.all()?, context),
            "list" | "search" | "recall" | "find" | "suchen" => {
                let query = get("query").or(get("text")).unwrap_or_default();
                let found: Vec<Entry> =
                    memory.all()?.into_iter().filter(|entry| overlaps(&entry.text, &query)).collect();
                memory.list(&found, context)
            }
            "clear" if get("confirm").as_deref() == Some("yes") => memory.clear(context)?,
            "clear" => return Err(ToolFailure::new("reason-clear-needs-yes")),
            other => return Err(ToolFailure::new("reason-unknown-command").with("command", other)),
        };
        Ok(ToolOutput { said: Some((text.clone(), None)), text, ..ToolOutput::default() })
    }
}

impl Memory {
    fn add(
        &self,
        text: &str,
        kind: Option<String>,
        context: &ToolContext<'_>,
    ) -> Result<String, ToolFailure> {
        let text = checked(text)?;
        let kind = kind
            .filter(|kind| ["fact", "preference", "event"].contains(&kind.as_str()))
            .unwrap_or_else(|| "fact".to_owned());
        let now = context.now.as_second();
        let normal = normal(&text);
        let known = self.all()?;
        let id = self.with(|connection| {
            let same: Option<String> = connection
                .query_row(
                    "SELECT id FROM entries WHERE deleted IS NULL AND normal = ?1 AND normal <> ''",
                    params![normal],
                    |row| row.get(0),
                )
                .optional()?;
            if let Some(id) = same {
                // Said again: it is as new as today.
                connection.execute(
                    "UPDATE entries SET noted = ?2, text = ?3 WHERE id = ?1",
                    params![id, now, text],
                )?;
                return Ok(Some(id));
            }
            if known.len() >= MOST_ENTRIES {
                return Ok(None);
            }
            let id = new_id(connection, now)?;
            connection.execute(
                "INSERT INTO entries (id, kind, text, normal, noted) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![id, kind, text, normal, now],
            )?;
            Ok(Some(id))
        })?;
        let id =
            id.ok_or_else(|| ToolFailure::new("reason-memory-full").with("count", MOST_ENTRIES.to_string()))?;
        Ok(context.reply("remembered", &BTreeMap::from([("id", id), ("text", text)])))
    }

    /// The one entry that is meant; several or none are an error with candidates.
    fn one(
        &self,
        id: Option<String>,
        query: Option<String>,
        context: &ToolContext<'_>,
    ) -> Result<Entry, ToolFailure> {
        let all = self.all()?;
        if let Some(id) = id {
            return all
                .into_iter()
                .find(|entry| entry.id == id)
                .ok_or_else(|| ToolFailure::new("reason-not-remembered").with("query", id));
        }
        let query = query.ok_or(ToolFailure::new("reason-no-text-given"))?;
        let tongue = tongue(&query).unwrap_or_else(|| Tongue::of_tag(&context.language.name));
        let asked = content(&query);
        let score = |entry: &Entry| {
            asked
                .iter()
                .filter(|word| content(&entry.text).iter().any(|own| is_related(own, word, tongue)))
                .count()
        };
        let best = all.iter().map(score).max().unwrap_or_default();
        let mut found: Vec<Entry> =
            all.into_iter().filter(|entry| best > 0 && score(entry) == best).collect();
        match (found.len(), found.pop()) {
            (1, Some(entry)) => Ok(entry),
            (0, _) | (_, None) => Err(ToolFailure::new("reason-not-remembered").with("query", query)),
            (_, Some(last)) => {
                found.push(last);
                let candidates: Vec<String> =
                    found.iter().take(5).map(|entry| format!("{}: {}", entry.id, entry.text)).collect();
                Err(ToolFailure::new("reason-several-remembered").with("candidates", candidates.join("; ")))
            }
        }
    }

    fn update(
        &self,
        id: Option<String>,
        query: Option<String>,
        text: &str,
        context: &ToolContext<'_>,
    ) -> Result<String, ToolFailure> {
        let text = checked(text)?;
        let entry = self.one(id, query.or_else(|| Some(text.clone())), context)?;
        let (normal, now) = (normal(&text), context.now.as_second());
        self.with(|connection| {
            connection.execute(
                "UPDATE entries SET text = ?2, normal = ?3, noted = ?4 WHERE id = ?1",
                params![entry.id, text, normal, now],
            )
        })?;
        Ok(context.reply("memory-changed", &BTreeMap::from([("id", entry.id), ("text", text)])))
    }

    fn delete(
        &self,
        id: Option<String>,
        query: Option<String>,
        context: &ToolContext<'_>,
    ) -> Result<String, ToolFailure> {
        let entry = self.one(id, query, context)?;
        let now = context.now.as_second();
        self.with(|connection| {
            connection.execute("UPDATE entries SET deleted = ?2 WHERE id = ?1", params![entry.id, now])?;
            empty_bin(connection, now)
        })?;
        Ok(context.reply("memory-deleted", &BTreeMap::from([("id", entry.id), ("text", entry.text)])))
    }

    fn clear(&self, context: &ToolContext<'_>) -> Result<String, ToolFailure> {
        let now = context.now.as_second();
        let count = self.with(|connection| {
            let count =
                connection.execute("UPDATE entries SET deleted = ?1 WHERE deleted IS NULL", params![now])?;
            empty_bin(connection, now)?;
            Ok(count)
        })?;
        Ok(context.reply("memory-cleared", &BTreeMap::from([("count", count.to_string())])))
    }

    fn list(&self, entries: &[Entry], context: &ToolContext<'_>) -> String {
        if entries.is_empty() {
            return context.reply("memory-empty", &BTreeMap::new());
        }
        entries
            .iter()
            .map(|entry| format!("{}: {} ({})", entry.id, entry.text, entry.day))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

fn checked(text: &str) -> Result<String, ToolFailure> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let length = text.chars().count();
    if length == 0 {
        return Err(ToolFailure::new("reason-no-text-given"));
    }
    if length > MOST_CHARS {
        return Err(ToolFailure::new("reason-memory-long")
            .with("length", length.to_string())
            .with("limit", MOST_CHARS.to_string()));
    }
    Ok(text)
}

/// What lies in the bin too long, or is too much for it.
fn empty_bin(connection: &Connection, now: i64) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM entries WHERE deleted < ?1", params![now - BIN_DAYS * 86_400])?;
    connection.execute(
        "DELETE FROM entries WHERE deleted IS NOT NULL AND id NOT IN (SELECT id FROM entries WHERE deleted IS NOT NULL ORDER BY deleted DESC LIMIT ?1)",
        params![MOST_BINNED],
    )?;
    Ok(())
}

/// An id that no entry has.
fn new_id(connection: &Connection, now: i64) -> rusqlite::Result<String> {
    let mut seed = now.unsigned_abs().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    loop {
        let mut id = String::with_capacity(ID_CHARS);
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut rest = seed >> 16;
        for _ in 0..ID_CHARS {
            let letters = ID_LETTERS.len() as u64;
            let at = usize::try_from(rest % letters).unwrap_or_default();
            id.push(char::from(ID_LETTERS.get(at).copied().unwrap_or(b'a')));
            rest /= letters;
        }
        let taken: Option<i64> = connection
            .query_row("SELECT 1 FROM entries WHERE id = ?1", params![id], |row| row.get(0))
            .optional()?;
        if taken.is_none() {
            return Ok(id);
        }
    }
}
