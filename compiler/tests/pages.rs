//! The page of each diagnostic is its test: the first example raises the code, the second raises nothing.

use skill_compiler::diagnostics::{CODES, Code};
use skill_compiler::{Limits, SourceFile, compile};

/// The fenced blocks of a page, with their tag.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(tag)) => open = Some((tag.to_owned(), String::new())),
            (Some(_), Some(_)) => out.extend(open.take()),
            (Some((_, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    out
}

fn raised(text: &str) -> Vec<&'static str> {
    let compiled = compile(&[SourceFile::new("example.skill", text)], &Limits::default());
    compiled.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

fn problems(code: &Code) -> Vec<String> {
    let mut out = Vec::new();
    let title = format!("# {}: {}", code.id, code.name);
    if code.page.lines().next() != Some(title.as_str()) {
        out.push(format!("{}: the page does not start with {title:?}", code.id));
    }
    let blocks = blocks(code.page);
    let [(tag, wrong), (_, right), ..] = blocks.as_slice() else {
        out.push(format!("{}: the page has {} examples, not two", code.id, blocks.len()));
        return out;
    };
    if tag == "skill" && !raised(wrong).contains(&code.id) {
        out.push(format!("{}: the wrong example raises {:?}", code.id, raised(wrong)));
    }
    // Advice of other lints is beside the point of a short example.
    let left: Vec<&str> =
        raised(right).into_iter().filter(|id| id.starts_with('E') || *id == code.id).collect();
    if !left.is_empty() {
        out.push(format!("{}: the right example raises {left:?}", code.id));
    }
    out
}

#[test]
fn every_page_shows_its_code() {
    let found: Vec<String> = CODES.iter().flat_map(|code| problems(code)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn bytes_that_are_not_utf8_are_named_with_their_line() {
    let file = SourceFile { name: "bad.skill".to_owned(), bytes: b"// fine\nskill a { \xff }".to_vec() };
    let compiled = compile(&[file], &Limits::default());
    assert_eq!(compiled.diagnostics.len(), 1);
    assert_eq!(compiled.diagnostics[0].code, "E004");
    assert!(compiled.diagnostics[0].message.contains("line 2"), "{}", compiled.diagnostics[0].message);
}

#[test]
fn an_archive_under_the_name_of_a_skill_is_told() {
    let file = SourceFile { name: "a.skill".to_owned(), bytes: b"PK\x03\x04rest".to_vec() };
    let compiled = compile(&[file], &Limits::default());
    assert_eq!(compiled.diagnostics[0].code, "E005");
}
