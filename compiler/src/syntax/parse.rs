//! Runs the grammar and builds the tree; bad nodes become diagnostics and everything around them stays.

use pest::Parser;
use pest::iterators::Pair;

use super::ast::*;
use crate::diagnostics::{self as codes, Diagnostic, suggestion};
use crate::source::{SourceFile, Span};

#[derive(pest_derive::Parser)]
#[grammar = "../../grammar/skill.pest"]
struct Grammar;

/// A parsed file with its diagnostics.
#[derive(Debug, Default)]
pub struct Parsed {
    /// The tree.
    pub file: File,
    /// The text, for lines; empty if the bytes were no text.
    pub text: String,
    /// What was wrong.
    pub diagnostics: Vec<Diagnostic>,
}

const ITEM_WORDS: [&str; 8] =
    ["language", "predicate", "pattern", "tool", "assistant", "host", "skill", "test"];

/// Parses one file; `number` is its index among the files of the library.
#[must_use]
pub fn parse(source: &SourceFile, number: u32) -> Parsed {
    let mut parsed = Parsed::default();
    let start = Span { file: number, start: 0, end: 0 };
    if source.bytes.starts_with(b"PK\x03\x04") || source.bytes.starts_with(b"PK\x05\x06") {
        parsed
            .diagnostics
            .push(Diagnostic::new(codes::FOREIGN_FILE, start, "this is a ZIP archive, not skill source").help(
            "Agent Skills packages use the same file ending; unpack it and write its triggers and tools as a \
                 `skill` item",
        ));
        return parsed;
    }
    let text = match std::str::from_utf8(&source.bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.valid_up_to();
            let lines = source.bytes.iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
            let byte = source.bytes.get(at).copied().unwrap_or_default();
            parsed.text = String::from_utf8_lossy(&source.bytes).into_owned();
            let place = Span { file: number, start: at as u32, end: at as u32 };
            parsed.diagnostics.push(
                Diagnostic::new(
                    codes::NOT_UTF8,
                    place,
                    format!("byte 0x{byte:02x} on line {lines} is not UTF-8"),
                )
                .help("save the file as UTF-8"),
            );
            return parsed;
        }
    };
    parsed.text = text.to_owned();
    let body = text.trim_start_matches('\u{FEFF}').trim_start();
    if body.starts_with("---") && body.lines().skip(1).any(|line| line.trim_end() == "---") {
        parsed.diagnostics.push(
            Diagnostic::new(codes::FOREIGN_FILE, start, "this is a SKILL.md with front matter, not skill source").help(
                "Agent Skills packages use the same file ending; write name, triggers and tools as a `skill` item",
            ),
        );
        return parsed;
    }
    let mut builder = Builder { file: number, text, diagnostics: Vec::new() };
    match Grammar::parse(Rule::file, text) {
        Ok(pairs) => {
            for pair in pairs.flat_map(Pair::into_inner) {
                parsed.file.items.extend(builder.item(pair));
            }
        }
        Err(error) => {
            let place = match error.location {
                pest::error::InputLocation::Pos(at) => at..at,
                pest::error::InputLocation::Span((from, to)) => from..to,
            };
            builder.diagnostics.push(Diagnostic::new(
                codes::SYNTAX,
                Span::new(number, place),
                "this file is not understood",
            ));
        }
    }
    parsed.diagnostics.extend(builder.diagnostics);
    parsed
}

struct Builder<'t> {
    file: u32,
    text: &'t str,
    diagnostics: Vec<Diagnostic>,
}

impl Builder<'_> {
    fn span(&self, pair: &Pair<'_, Rule>) -> Span {
        let span = pair.as_span();
        Span::new(self.file, span.start()..span.end())
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn name(&self, pair: &Pair<'_, Rule>) -> Name {
        Name { text: pair.as_str().to_owned(), span: self.span(pair) }
    }

    fn item(&mut self, pair: Pair<'_, Rule>) -> Option<Item> {
        match pair.as_rule() {
            Rule::item => pair.into_inner().next().and_then(|inner| self.item(inner)),
            Rule::block => Some(Item::Block(self.block(pair))),
            Rule::pattern => self.pattern(pair),
            Rule::tool => self.tool(pair).map(Item::Tool),
            Rule::skill => Some(Item::Skill(self.skill(pair))),
            Rule::test => Some(Item::Test(self.test(pair))),
            Rule::junk => {
                self.junk(&pair);
                None
            }
            Rule::bad_item => {
                self.bad_item(&pair);
                None
            }
            _ => None,
        }
    }

    fn junk(&mut self, pair: &Pair<'_, Rule>) {
        let text = pair.as_str();
        let start = pair.as_span().start() + (text.len() - text.trim_start().len());
        let line = text.trim_start().lines().next().unwrap_or_default().trim_end();
        if line.is_empty() {
            return;
        }
        let span = Span::new(self.file, start..start + line.len());
        let word: String =
            line.chars().take_while(|c| c.is_alphanumeric() || *c == '_' || *c == '-').collect();
        if word.is_empty() || line.starts_with('}') {
            let message = if line.starts_with('}') { "this brace closes nothing" } else { "this is no item" };
            self.report(
                Diagnostic::new(codes::SYNTAX, span, message)
                    .help(format!("a file holds items: {}", ITEM_WORDS.join(", "))),
            );
            return;
        }
        let span = Span::new(self.file, start..start + word.len());
        self.report(
            Diagnostic::new(codes::UNKNOWN_ITEM, span, format!("unknown item `{word}`"))
                .help(suggestion(&word, ITEM_WORDS, "items")),
        );
    }

    fn bad_item(&mut self, pair: &Pair<'_, Rule>) {
        let text = pair.as_str();
        let line = text.lines().next().unwrap_or_default().trim_end();
        let start = pair.as_span().start();
        let word: String = line.chars().take_while(|c| c.is_alphabetic()).collect();
        let form = match word.as_str() {
            "pattern" => "pattern NAME = \"…\"",
            "tool" => "tool NAME(parameter: type, optional?: type = default) sourced|computed|effect \"…\"",
            "test" => "test \"name\" { \"message\" -> skill }",
            "assistant" => "assistant { base: \"\"\"…\"\"\" }",
            "skill" => "skill NAME { … }",
            "host" => "host NAME { task: /…/ }",
            "language" => "language NAME { … }",
            _ => "predicate NAME { de: […], en: […] }",
        };
        let span = Span::new(self.file, start..start + line.len());
        self.report(
            Diagnostic::new(codes::SYNTAX, span, format!("this `{word}` item is not understood"))
                .help(format!("its form is `{form}`")),
        );
    }

    /// Says what is wrong with a line that no rule took.
    fn bad_line(&mut self, pair: &Pair<'_, Rule>, inside: &str) {
        let text = pair.as_str();
        let lead = text.len() - text.trim_start().len();
        let start = pair.as_span().start() + lead;
        let line = text.trim_start().lines().next().unwrap_or_default().trim_end();
        let span = Span::new(self.file, start..start + line.len().max(1));
        let mut quotes = 0;
        let mut escaped = false;
        let mut last_quote = 0;
        for (at, c) in line.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    quotes += 1;
                    last_quote = at;
                }
                _ => {}
            }
        }
        if line.contains("\"\"\"") {
            self.report(
                Diagnostic::new(codes::UNCLOSED_STRING, span, "this text block is not closed")
                    .help("close it with `\"\"\"`; a line that starts with an item word in column 0 ends it"),
            );
        } else if quotes % 2 == 1 {
            let from = start + last_quote;
            self.report(
                Diagnostic::new(
                    codes::UNCLOSED_STRING,
                    Span::new(self.file, from..start + line.len()),
                    "this string is not closed on its line",
                )
                .help("close it with `\"`, or write a text of several lines between `\"\"\"`"),
            );
        } else {
            let shown: String = line.chars().take(40).collect();
            let key: String = line.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let rest = line.get(key.len()..).unwrap_or_default().trim_start();
            let help = if let Some(help) = other_notation(line) {
                help.to_owned()
            } else if inside == "a test" {
                "a case is `\"message\" -> SKILL`, more turns follow behind `then`".to_owned()
            } else if !key.is_empty() && rest.starts_with(['"', '[', '/']) {
                format!("a field is `key: value`; add `:` behind `{key}`")
            } else {
                "a field is `key: value`; `skillc explain E001` lists the forms".to_owned()
            };
            self.report(
                Diagnostic::new(codes::SYNTAX, span, format!("`{shown}` is not understood in {inside}"))
                    .help(help),
            );
        }
    }

    fn unclosed(&mut self, head: Span, what: &str) {
        self.report(
            Diagnostic::new(codes::UNCLOSED_BLOCK, head, format!("this {what} is not closed"))
                .help("add the missing `}`; an item word in column 0 ends whatever is open"),
        );
    }

    fn block(&mut self, pair: Pair<'_, Rule>) -> Block {
        let mut block =
            Block { kind: BlockKind::Language, name: None, head: self.span(&pair), fields: Vec::new() };
        let mut closed = false;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::block_word => {
                    block.head = self.span(&part);
                    block.kind = match part.as_str() {
                        "predicate" => BlockKind::Predicate,
                        "assistant" => BlockKind::Assistant,
                        "host" => BlockKind::Host,
                        _ => BlockKind::Language,
                    };
                }
                Rule::name => block.name = Some(self.name(&part)),
                Rule::field => block.fields.extend(self.field(part)),
                Rule::bad_field => self.bad_line(&part, "this item"),
                Rule::close => closed = true,
                _ => {}
            }
        }
        if !closed {
            self.unclosed(block.head, "item");
        }
        block
    }

    fn pattern(&mut self, pair: Pair<'_, Rule>) -> Option<Item> {
        let mut name = None;
        let mut value = None;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::name => name = Some(self.name(&part)),
                Rule::string | Rule::text_block => value = Some(self.string(&part)),
                _ => {}
            }
        }
        Some(Item::Pattern { name: name?, value: value? })
    }

    fn tool(&mut self, pair: Pair<'_, Rule>) -> Option<Tool> {
        let mut names = Vec::new();
        let mut parameters = Vec::new();
        let mut description = None;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::name => names.push(self.name(&part)),
                Rule::parameter => parameters.extend(self.parameter(part)),
                Rule::string | Rule::text_block => description = Some(self.string(&part)),
                _ => {}
            }
        }
        let mut names = names.into_iter();
        Some(Tool { name: names.next()?, parameters, origin: names.next()?, description: description? })
    }

    fn parameter(&mut self, pair: Pair<'_, Rule>) -> Option<Parameter> {
        let mut name = None;
        let mut optional = false;
        let mut kind = None;
        let mut values = Vec::new();
        let mut default = None;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::name => name = Some(self.name(&part)),
                Rule::optional => optional = true,
                Rule::type_name => {
                    let mut names = part.into_inner().map(|part| self.name(&part));
                    kind = names.next();
                    values.extend(names);
                }
                Rule::scalar => default = self.scalar(part),
                _ => {}
            }
        }
        Some(Parameter { name: name?, optional, kind: kind?, values, default })
    }

    fn skill(&mut self, pair: Pair<'_, Rule>) -> Skill {
        let mut skill = Skill {
            name: None,
            head: self.span(&pair),
            fields: Vec::new(),
            exemplars: Vec::new(),
            damaged: false,
        };
        let mut closed = false;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::kw_skill => skill.head = self.span(&part),
                Rule::name => skill.name = Some(self.name(&part)),
                Rule::field => skill.fields.extend(self.field(part)),
                Rule::exemplar => skill.exemplars.extend(self.exemplar(part)),
                Rule::bad_field => {
                    skill.damaged = true;
                    self.bad_line(&part, "a skill");
                }
                Rule::close => closed = true,
                _ => {}
            }
        }
        if !closed {
            skill.damaged = true;
            self.unclosed(skill.head, "skill");
        }
        skill
    }

    fn exemplar(&mut self, pair: Pair<'_, Rule>) -> Option<Exemplar> {
        let mut span = self.span(&pair);
        let mut label = None;
        let mut message = None;
        let mut steps = Vec::new();
        let mut fields = Vec::new();
        let mut closed = false;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::kw_exemplar => span = self.span(&part),
                Rule::name => label = Some(self.name(&part)),
                Rule::string | Rule::text_block => message = Some(self.string(&part)),
                Rule::step => {
                    let mut call = None;
                    let mut result = None;
                    for inner in part.into_inner() {
                        match inner.as_rule() {
                            Rule::call => call = self.call(inner),
                            Rule::string | Rule::text_block => result = Some(self.string(&inner)),
                            _ => {}
                        }
                    }
                    steps.extend(call.zip(result));
                }
                Rule::field => fields.extend(self.field(part)),
                Rule::bad_field => self.bad_line(&part, "an exemplar"),
                Rule::close => closed = true,
                _ => {}
            }
        }
        if !closed {
            self.unclosed(span, "exemplar");
        }
        Some(Exemplar { label, message: message?, steps, fields, span })
    }

    fn test(&mut self, pair: Pair<'_, Rule>) -> Test {
        let mut test = Test { name: None, head: self.span(&pair), fields: Vec::new(), cases: Vec::new() };
        let mut closed = false;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::kw_test => test.head = self.span(&part),
                Rule::string => test.name = Some(self.string(&part)),
                Rule::field => test.fields.extend(self.field(part)),
                Rule::case => {
                    let span = self.span(&part);
                    let turns = part
                        .into_inner()
                        .filter(|inner| inner.as_rule() == Rule::turn)
                        .filter_map(|turn| self.turn(turn))
                        .collect();
                    test.cases.push(Case { turns, span });
                }
                Rule::bad_case => self.bad_line(&part, "a test"),
                Rule::close => closed = true,
                _ => {}
            }
        }
        if !closed {
            self.unclosed(test.head, "test");
        }
        test
    }

    fn turn(&mut self, pair: Pair<'_, Rule>) -> Option<Turn> {
        let mut message = None;
        let mut expect = None;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::string | Rule::text_block => message = Some(self.string(&part)),
                Rule::expect => expect = Some(self.expect(part)),
                _ => {}
            }
        }
        Some(Turn { message: message?, expect })
    }

    fn expect(&mut self, pair: Pair<'_, Rule>) -> Expect {
        let mut expect = Expect {
            not: false,
            skills: Vec::new(),
            by: None,
            offers: None,
            binds: Vec::new(),
            opens: None,
            span: self.span(&pair),
        };
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::kw_not => expect.not = true,
                Rule::name => expect.skills.push(self.name(&part)),
                Rule::clause => {
                    for clause in part.into_inner() {
                        self.clause(clause, &mut expect);
                    }
                }
                _ => {}
            }
        }
        expect
    }

    fn clause(&mut self, clause: Pair<'_, Rule>, expect: &mut Expect) {
        let rule = clause.as_rule();
        for part in clause.into_inner() {
            match (rule, part.as_rule()) {
                (Rule::by, Rule::name) => expect.by = Some(self.name(&part)),
                (Rule::offers, Rule::name) => expect.offers = Some(Offers::Word(self.name(&part))),
                (Rule::offers, Rule::list) => {
                    let mut names = Vec::new();
                    for element in self.list(part) {
                        match element.scalar {
                            Scalar::Word(name) => names.push(name),
                            other => self.report(Diagnostic::new(
                                codes::WRONG_TYPE,
                                other.span(),
                                format!("`offers` lists tool names, not {}", other.describe()),
                            )),
                        }
                    }
                    expect.offers = Some(Offers::These(names));
                }
                (Rule::binds, Rule::binding) => {
                    let mut name = None;
                    let mut value = None;
                    for inner in part.into_inner() {
                        match inner.as_rule() {
                            Rule::name => name = Some(self.name(&inner)),
                            Rule::string => value = Some(self.string(&inner)),
                            _ => {}
                        }
                    }
                    expect.binds.extend(name.zip(value));
                }
                (Rule::opens, Rule::call) => expect.opens = self.call(part),
                _ => {}
            }
        }
    }

    fn field(&mut self, pair: Pair<'_, Rule>) -> Option<Field> {
        let span = self.span(&pair);
        let mut key = None;
        let mut label = None;
        let mut value = None;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::key => {
                    for inner in part.into_inner() {
                        match inner.as_rule() {
                            Rule::label => label = Some(self.name(&inner)),
                            _ => key = Some(self.name(&inner)),
                        }
                    }
                }
                Rule::value => value = self.value(part),
                _ => {}
            }
        }
        Some(Field { key: key?, label, value: value?, span })
    }

    fn value(&mut self, pair: Pair<'_, Rule>) -> Option<Value> {
        let inner = pair.into_inner().next()?;
        let span = self.span(&inner);
        match inner.as_rule() {
            Rule::list => Some(Value::List(self.list(inner), span)),
            Rule::map => {
                let mut entries = Vec::new();
                for entry in inner.into_inner().filter(|part| part.as_rule() == Rule::map_entry) {
                    entries.extend(self.map_entry(entry));
                }
                Some(Value::Map(entries, span))
            }
            _ => {
                let mut scalar = None;
                let mut otherwise = None;
                let mut unless = Vec::new();
                for part in inner.into_inner() {
                    match part.as_rule() {
                        Rule::scalar => scalar = self.scalar(part),
                        Rule::otherwise => {
                            otherwise = part
                                .into_inner()
                                .find(|part| part.as_rule() == Rule::name)
                                .map(|part| self.name(&part));
                        }
                        Rule::unless_outer => unless = self.unless(part),
                        _ => {}
                    }
                }
                Some(Value::Single(Element { scalar: scalar?, unless, span }, otherwise))
            }
        }
    }

    fn map_entry(&mut self, pair: Pair<'_, Rule>) -> Option<MapEntry> {
        let mut key = None;
        let mut value = None;
        for part in pair.into_inner() {
            let span = self.span(&part);
            match part.as_rule() {
                Rule::string => key = Some(self.string(&part)),
                Rule::name => {
                    let value = part.as_str().to_owned();
                    let origin = (span.start..=span.end).collect();
                    key = Some(Text { value, span, origin });
                }
                Rule::list => value = Some(MapValue::Many(self.list(part), span)),
                Rule::scalar => value = self.scalar(part).map(MapValue::One),
                _ => {}
            }
        }
        Some(MapEntry { key: key?, value: value? })
    }

    fn list(&mut self, pair: Pair<'_, Rule>) -> Vec<Element> {
        let mut elements = Vec::new();
        for part in pair.into_inner().filter(|part| part.as_rule() == Rule::element) {
            let span = self.span(&part);
            let mut scalar = None;
            let mut unless = Vec::new();
            for inner in part.into_inner() {
                match inner.as_rule() {
                    Rule::scalar => scalar = self.scalar(inner),
                    Rule::unless_inner => unless = self.unless(inner),
                    _ => {}
                }
            }
            elements.extend(scalar.map(|scalar| Element { scalar, unless, span }));
        }
        elements
    }

    fn unless(&mut self, pair: Pair<'_, Rule>) -> Vec<Scalar> {
        let mut out = Vec::new();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::group => out.extend(
                    part.into_inner()
                        .filter(|inner| inner.as_rule() == Rule::scalar)
                        .filter_map(|inner| self.scalar(inner)),
                ),
                Rule::scalar => out.extend(self.scalar(part)),
                _ => {}
            }
        }
        out
    }

    fn scalar(&mut self, pair: Pair<'_, Rule>) -> Option<Scalar> {
        let inner = pair.into_inner().next()?;
        match inner.as_rule() {
            Rule::string | Rule::text_block => Some(Scalar::Text(self.string(&inner))),
            Rule::regex => Some(Scalar::Regex(self.regex(&inner))),
            Rule::call => self.call(inner).map(Scalar::Call),
            Rule::number => Some(Scalar::Number(self.name(&inner))),
            Rule::word => inner.into_inner().next().map(|name| Scalar::Word(self.name(&name))),
            _ => None,
        }
    }

    fn call(&mut self, pair: Pair<'_, Rule>) -> Option<Call> {
        let span = self.span(&pair);
        let mut name = None;
        let mut arguments = Vec::new();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::name => name = Some(self.name(&part)),
                Rule::argument => {
                    let mut parts = part.into_inner();
                    let Some(parameter) = parts.next().map(|part| self.name(&part)) else { continue };
                    let Some(value) = parts.next() else { continue };
                    let value = match value.as_rule() {
                        Rule::string | Rule::text_block => Scalar::Text(self.string(&value)),
                        Rule::number => Scalar::Number(self.name(&value)),
                        _ => Scalar::Word(self.name(&value)),
                    };
                    arguments.push((parameter, value));
                }
                _ => {}
            }
        }
        Some(Call { name: name?, arguments, span })
    }

    fn regex(&mut self, pair: &Pair<'_, Rule>) -> Text {
        let span = self.span(pair);
        let raw = pair.as_str();
        let inner = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
        let mut value = String::with_capacity(inner.len());
        let mut origin = Vec::with_capacity(inner.len() + 1);
        let mut chars = inner.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let place = span.start + 1 + at as u32;
            // `\/` is how a slash is written; every other escape is the expression's own.
            if c == '\\' && chars.peek().is_some_and(|(_, next)| *next == '/') {
                chars.next();
                value.push('/');
                origin.push(place);
            } else if c == '\\' {
                value.push('\\');
                origin.push(place);
                if let Some((_, next)) = chars.next() {
                    value.push(next);
                    origin.resize(value.len(), place + 1);
                }
            } else {
                value.push(c);
                origin.resize(value.len(), place);
            }
        }
        origin.push(span.end.saturating_sub(1));
        Text { value, span, origin }
    }

    fn string(&mut self, pair: &Pair<'_, Rule>) -> Text {
        let span = self.span(pair);
        let raw = pair.as_str();
        let block = raw.starts_with("\"\"\"") && raw.len() >= 6;
        let quotes = if block { 3 } else { 1 };
        let inner = raw.get(quotes..raw.len() - quotes).unwrap_or_default();
        let base = span.start + quotes as u32;
        let pieces = if block { dedent(inner) } else { vec![(0, inner.len())] };
        let mut text = Text { value: String::new(), span, origin: Vec::new() };
        for (from, to) in pieces {
            let piece = inner.get(from..to).unwrap_or_default();
            self.unescape(piece, base + from as u32, &mut text);
        }
        text.origin.push(base + inner.len() as u32);
        text
    }

    fn unescape(&mut self, raw: &str, base: u32, text: &mut Text) {
        let mut chars = raw.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let place = base + at as u32;
            let push = |text: &mut Text, c: char| {
                text.value.push(c);
                text.origin.resize(text.value.len(), place);
            };
            if c != '\\' {
                if c != '\r' {
                    push(text, c);
                }
                continue;
            }
            match chars.next() {
                Some((_, '"')) => push(text, '"'),
                Some((_, 'n')) => push(text, '\n'),
                Some((_, 't')) => push(text, '\t'),
                Some((_, 'u')) if chars.peek().is_some_and(|(_, next)| *next == '{') => {
                    let digits: String =
                        chars.by_ref().skip(1).map(|(_, c)| c).take_while(|c| *c != '}').collect();
                    match u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32) {
                        Some(found) => push(text, found),
                        None => {
                            let span =
                                Span { file: self.file, start: place, end: place + 4 + digits.len() as u32 };
                            self.diagnostics.push(
                                Diagnostic::new(
                                    codes::BAD_ESCAPE,
                                    span,
                                    format!("`\\u{{{digits}}}` names no character"),
                                )
                                .help(
                                    "write the number of a Unicode character in hexadecimal, as in `\\u{e4}`",
                                ),
                            );
                            // Something was meant to stand here.
                            push(text, char::REPLACEMENT_CHARACTER);
                        }
                    }
                }
                Some((_, '\\')) => push(text, '\\'),
                // The template reads its own escapes.
                Some((_, other)) => {
                    push(text, '\\');
                    push(text, other);
                }
                None => push(text, '\\'),
            }
        }
        debug_assert!(base as usize <= self.text.len());
    }
}

/// What to write instead of what other languages write.
fn other_notation(line: &str) -> Option<&'static str> {
    let value = line.split_once(':').map_or("", |(_, value)| value.trim_start());
    if line.starts_with('#') {
        Some("a comment starts with `//`")
    } else if line.contains(['„', '“', '”', '«', '»']) && !line.contains('"') {
        Some("texts stand between straight quotes: `\"…\"`")
    } else if value.starts_with(['\'', '‘', '’', '`']) || line.starts_with(['\'', '‘', '’', '`']) {
        Some("texts stand between double quotes: `\"…\"`")
    } else if line.starts_with("- ") || (line.ends_with(':') && !line.contains('"')) {
        Some("a list stands in brackets: `key: [\"…\", \"…\"]`")
    } else if line.split_once('=').is_some_and(|(key, _)| {
        let key = key.trim_end();
        !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_')
    }) {
        Some("a field is `key: value`, with a colon")
    } else {
        None
    }
}

/// Byte ranges of a text block that make its value: without the first line break, the last one with the white
/// space behind it, and the common indentation.
fn dedent(inner: &str) -> Vec<(usize, usize)> {
    let mut start = 0;
    if let Some(rest) = inner.strip_prefix("\r\n") {
        start = inner.len() - rest.len();
    } else if let Some(rest) = inner.strip_prefix('\n') {
        start = inner.len() - rest.len();
    }
    let mut end = inner.len();
    if let Some(last) = inner.rfind('\n')
        && last >= start
        && inner.get(last..).is_some_and(|tail| tail.trim().is_empty())
    {
        end = last;
        if inner.get(..end).is_some_and(|head| head.ends_with('\r')) {
            end -= 1;
        }
    } else if start > 0 && inner.get(start..).is_some_and(|tail| tail.trim().is_empty()) {
        end = start;
    }
    let end = end.max(start);
    let body = inner.get(start..end).unwrap_or_default();
    let indentation = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let common =
        body.split('\n').filter(|line| !line.trim().is_empty()).map(indentation).min().unwrap_or_default();
    let mut pieces = Vec::new();
    let mut at = start;
    for line in body.split_inclusive('\n') {
        let skip = common.min(indentation(line.trim_end_matches(['\n', '\r'])));
        pieces.push((at + skip, at + line.len()));
        at += line.len();
    }
    pieces
}
