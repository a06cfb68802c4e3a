//! HTML to blocks: one walk over the tree, without recursion, so no depth of nesting can end the program.

use std::time::{Duration, Instant};

use html5ever::tendril::TendrilSink;
use scraper::node::Element;
use scraper::{Html, HtmlTreeSink, Node};

use super::furniture::{is_frame, is_frame_role, is_notice, is_unread, names_frame};
use super::{Block, BlockKind, Page};

/// The parser takes time in the square of the nesting; a page that takes longer than this is cut.
const LONGEST: Duration = Duration::from_millis(1_500);
/// Bytes between two looks at the clock.
const PIECE: usize = 4 << 10;

/// The tree of a page, and whether the page is in it as a whole.
pub(super) fn parse(html: &str) -> (Html, bool) {
    let start = Instant::now();
    let sink = HtmlTreeSink::new(Html::new_document());
    let mut parser = html5ever::parse_document(sink, html5ever::ParseOpts::default());
    let mut rest = html;
    while !rest.is_empty() && start.elapsed() < LONGEST {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        parser.process(piece.into());
        rest = after;
    }
    (parser.finish(), rest.is_empty())
}

/// Takes a page apart. Any text is a page; what is no markup is its text.
#[must_use]
pub fn read_html(html: &str) -> Page {
    let (document, whole) = parse(html);
    let mut page = Page { cut: !whole, ..Page::default() };
    let mut walk = Walk::default();
    for edge in document.tree.root().traverse() {
        match edge {
            ego_tree::iter::Edge::Open(node) => match node.value() {
                Node::Element(element) => {
                    if element.name() == "html" {
                        page.language =
                            element.attr("lang").map(str::to_owned).filter(|lang| !lang.is_empty());
                    }
                    if element.name() == "title" && page.title.is_empty() && walk.unread_is("head") {
                        let text: String = node
                            .children()
                            .filter_map(|child| child.value().as_text().map(|text| &**text))
                            .collect();
                        page.title = squeezed(&text);
                    }
                    if element.name() == "sup" && is_note_mark(node) {
                        walk.skip(node.id());
                    }
                    walk.open(element, node.id());
                }
                Node::Text(text) => walk.text(text),
                _ => {}
            },
            ego_tree::iter::Edge::Close(node) => {
                if let Node::Element(element) = node.value() {
                    walk.close(element, node.id());
                }
            }
        }
    }
    walk.flush();
    page.blocks = walk.blocks;
    page
}

type NodeId = ego_tree::NodeId;

/// A mark of a footnote: a raised number that leads to a place on the same page.
fn is_note_mark(node: ego_tree::NodeRef<'_, Node>) -> bool {
    let mut text = String::new();
    let mut leads = false;
    for child in node.descendants().take(12) {
        match child.value() {
            Node::Element(element) => {
                leads |= element.name() == "a"
                    && element
                        .attr("href")
                        .is_some_and(|href| href.starts_with('#') || href.contains("#cite"));
            }
            Node::Text(part) => text.push_str(part),
            _ => {}
        }
    }
    let text = text.trim();
    let bracketed = text.starts_with('[') && text.ends_with(']');
    (leads || bracketed) && text.len() <= 24
}

/// Text with single spaces.
fn squeezed(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(200));
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// A row of a table as it is read.
#[derive(Default)]
struct Row {
    cells: Vec<(bool, String, usize)>,
    header: bool,
}

/// The state of the walk.
#[derive(Default)]
struct Walk {
    blocks: Vec<Block>,
    /// Text of the block that is being read.
    text: String,
    linked: usize,
    /// White space was read that is not written yet.
    space: bool,
    /// Elements whose text is not read: the outermost of them, with its name.
    unread: Option<(NodeId, &'static str)>,
    /// The outermost element of furniture.
    furniture: Option<NodeId>,
    /// Links that are open.
    links: usize,
    /// A link was closed or opened directly before: what follows without a space may be another word.
    seam: bool,
    kind: Option<BlockKind>,
    /// Kinds of the elements around, for when an inner one ends.
    around: Vec<(NodeId, Option<BlockKind>)>,
    preformatted: usize,
    rows: Vec<Row>,
}

/// Names that need to be told apart from all others while nothing is read.
fn known(name: &str) -> &'static str {
    if name == "head" { "head" } else { "" }
}

impl Walk {
    fn unread_is(&self, name: &str) -> bool {
        self.unread.is_some_and(|(_, unread)| unread == name)
    }

    fn skip(&mut self, node: NodeId) {
        self.unread.get_or_insert((node, ""));
    }

    fn open(&mut self, element: &Element, node: NodeId) {
        if self.unread.is_some() {
            return;
        }
        let name = element.name();
        if is_unread(name) || is_hidden(element) {
            self.unread = Some((node, known(name)));
            self.seam = true;
            return;
        }
        if self.furniture.is_none() && frames(element) {
            self.flush();
            self.furniture = Some(node);
        }
        match name {
            "a" => {
                self.links += 1;
                self.seam = true;
            }
            "br" => self.line_break(),
            "img" | "wbr" | "hr" => self.space |= name == "img",
            "td" | "th" => {
                if self.rows.is_empty() {
                    self.flush();
                }
                self.cell(name == "th");
            }
            "tr" => {
                self.flush();
                self.rows.push(Row::default());
            }
            _ => {
                if let Some(kind) = block(name) {
                    if self.rows.last().is_some_and(|row| !row.cells.is_empty()) {
                        // Blocks in a cell are parts of its text.
                        self.space = true;
                    } else {
                        self.flush();
                        self.around.push((node, self.kind));
                        self.kind = match (kind, self.kind) {
                            // A paragraph or division in an entry is the entry.
                            (
                                BlockKind::Paragraph,
                                Some(outer @ (BlockKind::Item | BlockKind::Heading(_))),
                            ) => Some(outer),
                            (kind, _) => Some(kind),
                        };
                        self.preformatted += usize::from(kind == BlockKind::Code);
                    }
                }
            }
        }
    }

    fn close(&mut self, element: &Element, node: NodeId) {
        if let Some((unread, _)) = self.unread {
            if unread == node {
                self.unread = None;
            }
            return;
        }
        match element.name() {
            "a" => {
                self.links = self.links.saturating_sub(1);
                self.seam = true;
            }
            "td" | "th" => self.space = true,
            "tr" => self.end_row(),
            name => {
                if block(name).is_some() {
                    if self.rows.last().is_some_and(|row| !row.cells.is_empty()) {
                        self.space = true;
                    } else {
                        self.flush();
                    }
                    if self.around.last().is_some_and(|(open, _)| *open == node)
                        && let Some((_, kind)) = self.around.pop()
                    {
                        self.preformatted -= usize::from(self.kind == Some(BlockKind::Code));
                        self.kind = kind;
                    }
                }
            }
        }
        if self.furniture == Some(node) {
            self.flush();
            self.furniture = None;
        }
    }

    fn text(&mut self, text: &str) {
        if self.unread.is_some() {
            return;
        }
        let preformatted = self.preformatted > 0;
        let links = self.links > 0;
        let rows = &mut self.rows;
        let (out, linked) = match rows.last_mut().and_then(|row| row.cells.last_mut()) {
            Some((_, cell, linked)) => (cell, linked),
            None => (&mut self.text, &mut self.linked),
        };
        if preformatted {
            out.push_str(text);
            return;
        }
        let before = out.len();
        for c in text.chars() {
            match c {
                // Marks that only say where a word may break, and those without a width.
                '\u{AD}' | '\u{200B}' | '\u{200C}' | '\u{200D}' | '\u{FEFF}' | '\u{2060}' => {}
                _ if c.is_whitespace() => self.space = true,
                _ => {
                    if self.seam && !self.space {
                        self.space = is_seam(out, c);
                    }
                    if self.space && !out.is_empty() && !out.ends_with('\n') {
                        out.push(' ');
                    }
                    self.space = false;
                    self.seam = false;
                    out.push(c);
                }
            }
        }
        if links {
            *linked += out.len() - before;
        }
    }

    /// One `<br>` ends a line, which reads like a space; a second one ends the paragraph.
    fn line_break(&mut self) {
        if self.rows.last().is_some_and(|row| !row.cells.is_empty()) {
            self.space = true;
            return;
        }
        if self.preformatted > 0 {
            self.text.push('\n');
        } else if self.text.ends_with('\n') {
            self.flush();
        } else if !self.text.is_empty() {
            self.text.push('\n');
            self.space = false;
        }
    }

    fn cell(&mut self, header: bool) {
        self.space = false;
        if let Some(row) = self.rows.last_mut() {
            row.header |= header;
            row.cells.push((header, String::new(), 0));
        }
    }

    fn end_row(&mut self) {
        let Some(row) = self.rows.pop() else { return };
        let cells: Vec<&(bool, String, usize)> =
            row.cells.iter().filter(|(_, text, _)| !text.is_empty()).collect();
        let linked = cells.iter().map(|(_, _, linked)| linked).sum();
        let text = match cells.as_slice() {
            [(true, name, _), (false, value, _)] => format!("{}: {value}", name.trim_end_matches(':')),
            several => several.iter().map(|(_, text, _)| text.as_str()).collect::<Vec<_>>().join(" | "),
        };
        // A table in a cell of another is read first; its rows are no part of the cell.
        // A cell alone is laid out with a table, and is text.
        let kind = if cells.len() == 1 { BlockKind::Paragraph } else { BlockKind::Row };
        self.space = false;
        self.push(kind, text, linked);
    }

    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        let linked = std::mem::take(&mut self.linked);
        self.space = false;
        let kind = self.kind.unwrap_or(BlockKind::Paragraph);
        let text = match kind {
            BlockKind::Code => text.trim_matches('\n').to_owned(),
            _ => text.trim().replace('\n', " "),
        };
        self.push(kind, text, linked);
    }

    fn push(&mut self, kind: BlockKind, text: String, linked: usize) {
        if text.trim().is_empty() {
            return;
        }
        let furniture = self.furniture.is_some() || is_notice(&text);
        self.blocks.push(Block { kind, text, linked, furniture });
    }
}

/// Whether two words meet where a link begins or ends: a letter against a capital or another link's begin. A link
/// within a word ("Kanzler" + "s") is none.
fn is_seam(before: &str, next: char) -> bool {
    let Some(last) = before.chars().next_back() else { return false };
    (last.is_lowercase() && next.is_uppercase())
        || (last.is_alphanumeric() && next == '[')
        || (matches!(last, ',' | ';' | '.' | ')' | ']') && next.is_uppercase())
}

fn is_hidden(element: &Element) -> bool {
    element.attr("hidden").is_some()
        || element.attr("aria-hidden") == Some("true")
        || element.attr("style").is_some_and(|style| {
            let style: String =
                style.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
            style.contains("display:none") || style.contains("visibility:hidden")
        })
}

/// Whether an element frames the page. What holds the page itself never does, whatever its classes say.
fn frames(element: &Element) -> bool {
    let name = element.name();
    if matches!(name, "html" | "body" | "main" | "article") {
        return false;
    }
    is_frame(name)
        || element.attr("role").is_some_and(is_frame_role)
        || element.attr("class").is_some_and(names_frame)
        || element.attr("id").is_some_and(names_frame)
}

/// The kind of block that an element begins; None where text runs on through it.
fn block(name: &str) -> Option<BlockKind> {
    Some(match name {
        "h1" => BlockKind::Heading(1),
        "h2" => BlockKind::Heading(2),
        "h3" => BlockKind::Heading(3),
        "h4" => BlockKind::Heading(4),
        "h5" => BlockKind::Heading(5),
        "h6" => BlockKind::Heading(6),
        "li" | "dd" => BlockKind::Item,
        "pre" => BlockKind::Code,
        "address" | "article" | "aside" | "blockquote" | "body" | "caption" | "center" | "details"
        | "dir" | "div" | "dl" | "dt" | "fieldset" | "figcaption" | "figure" | "footer" | "form"
        | "header" | "hgroup" | "hr" | "html" | "legend" | "main" | "menu" | "nav" | "ol" | "p"
        | "search" | "section" | "summary" | "table" | "tbody" | "tfoot" | "thead" | "ul" => {
            BlockKind::Paragraph
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(html: &str) -> Vec<String> {
        read_html(html).content().iter().map(|block| block.text.clone()).collect()
    }

    #[test]
    fn words_are_neither_fused_nor_split() {
        assert_eq!(
            texts("<p>See <a>Facebook</a><a>Page</a> and <a>Bundeskanzler</a>s work"),
            ["See Facebook Page and Bundeskanzlers work"]
        );
        assert_eq!(texts("<p>Von<a>Bundeskanzler</a> <b>i</b>Phone"), ["Von Bundeskanzler iPhone"]);
        assert_eq!(
            texts("<p>Bundes&shy;kanz&shy;ler&nbsp;a\n\n b<br>c<br><br>d"),
            ["Bundeskanzler a b c", "d"]
        );
        assert_eq!(
            texts("<p>Brilon<sup id=x><a href='#n1'>[1]</a></sup> lies in m<sup>2</sup>."),
            ["Brilon lies in m2."]
        );
        assert_eq!(texts("<div>a<div>b</div>c</div>"), ["a", "b", "c"]);
    }

    #[test]
    fn rows_of_tables_are_names_with_values_or_cells() {
        let table = "<table><tr><th>Amtsträger:<td><a>Friedrich Merz</a><br>seit 2025<tr><td>a<td><p>b<p>c<tr><td>alone</table>";
        assert_eq!(texts(table), ["Amtsträger: Friedrich Merz seit 2025", "a | b c", "alone"]);
        let nested = "<table><tr><td>outer <table><tr><td>in<td>ner</table> rest<td>more</table>";
        assert_eq!(texts(nested), ["in | ner", "outer rest | more"]);
    }

    #[test]
    fn furniture_is_told_from_content() {
        let prose = "This is a sentence that is long enough to be prose on any page of the web.";
        let page = format!(
            "<html lang=de><title>A  title\n</title><body class='has-sidebar'><nav>Home About</nav><div class=cookie-banner>We use cookies \
             to please you.</div><script>var x</script><div hidden>no</div><main><h1>Head</h1><p>{prose}</p><ul><li>one<li>two</ul></main><footer>Imprint</footer>"
        );
        let read = read_html(&page);
        assert_eq!((read.title.as_str(), read.language.as_deref()), ("A title", Some("de")));
        assert_eq!(read.text(), format!("# Head\n\n{prose}\n\n- one\n- two"));
        // Where all prose is marked as furniture, the marks are wrong.
        let wrong = format!("<div class=sidebar><p>{prose}</p></div><p>x</p>");
        assert_eq!(texts(&wrong), [prose, "x"]);
    }

    #[test]
    fn any_text_is_a_page() {
        for odd in [
            "",
            "<",
            "<<<>>>",
            "<p",
            "</p></p>",
            "<table><td><tr><li><p>",
            "\u{0}",
            "<a><a><a>x",
            "<td>x</tr>",
            "<br><br>",
            "<pre>\n a\n</pre>",
        ] {
            let _ = read_html(odd).text();
        }
        assert_eq!(texts("plain text"), ["plain text"]);
        let deep = "<div>".repeat(5_000) + "x";
        assert_eq!(texts(&deep), ["x"]);
    }

    #[test]
    fn a_page_that_is_built_to_take_for_ever_is_cut() {
        let start = std::time::Instant::now();
        let page = read_html(&("<p>Begun.</p>".to_owned() + &"<div>".repeat(400_000) + "x"));
        assert!(page.cut && page.text().starts_with("Begun."));
        assert!(start.elapsed() < LONGEST * 4, "{:?}", start.elapsed());
    }
}
