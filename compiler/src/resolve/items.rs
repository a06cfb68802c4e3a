//! Items other than skills: languages, predicates, fragments, tools, hosts, the base prompt, tests.

use skill_runtime::artifact::layout::{self, LISTS};
use skill_runtime::artifact::{
    Parameter, ParameterType, Reply, ReplyForm, TOOL_REPLIES, ToolDeclaration, ToolOrigin,
};

use super::{RESERVED, Resolver};
use crate::diagnostics::{self as codes, Diagnostic, suggestion};
use crate::library::{Element, Fragment, Host, Language, ListEntry, Tool};
use crate::source::Span;
use crate::syntax::ast::{self, Block, Field, MapEntry, MapValue, Name, Scalar, Text, Value};
use crate::syntax::pattern::{self, Node, Template};

/// Keys of a language item besides the word lists.
const LANGUAGE_KEYS: [&str; 5] = ["spelling", "expands", "replies", "rule", "predicate"];

/// Replies that every language must hold, and what each has to be.
const REPLIES: [(&str, ReplyForm); 9] = [
    ("nothing-found", ReplyForm::Text),
    ("tool-failed", ReplyForm::Text),
    ("wind-down", ReplyForm::Text),
    ("limit", ReplyForm::Text),
    ("also-matched", ReplyForm::Text),
    ("unsourced", ReplyForm::Text),
    ("label-stopped", ReplyForm::Text),
    ("label-call-not-run", ReplyForm::Text),
    ("not-a-claim", ReplyForm::List),
];

/// Replies that a tool brings along.
fn tool_replies() -> impl Iterator<Item = (&'static str, ReplyForm)> {
    TOOL_REPLIES.iter().flat_map(|(_, replies)| replies.iter().copied())
}

/// Keys of replies that checks and labels bring along; the set grows with the product.
fn optional_reply(key: &str) -> bool {
    key.starts_with("correct-") || key.starts_with("label-") || key.starts_with("note-")
}

fn is_list(form: ReplyForm) -> bool {
    matches!(form, ReplyForm::List | ReplyForm::ListOf(_))
}

/// Why a reply is not what a tool needs.
fn reply_problem(form: ReplyForm, reply: &Reply) -> Option<String> {
    match (form, reply) {
        (ReplyForm::ListOf(wanted), Reply::List(entries)) if entries.len() != wanted => {
            Some(format!("has {} entries, not {wanted}", entries.len()))
        }
        (ReplyForm::Mark(marks), Reply::Text(text)) => {
            let mut chars = text.chars();
            let fits = matches!((chars.next(), chars.next()), (Some(mark), None) if marks.contains(mark));
            let marks: Vec<String> = marks.chars().map(|mark| format!("`{mark}`")).collect();
            (!fits).then(|| format!("is not one of {}", marks.join(" and ")))
        }
        (_, Reply::Text(text)) if text.trim().is_empty() => Some("is blank".to_owned()),
        _ => None,
    }
}

impl Resolver<'_> {
    fn duplicate(&mut self, what: &str, name: &str, span: Span, first: Option<Span>) {
        let mut diagnostic =
            Diagnostic::new(codes::DUPLICATE_ITEM, span, format!("{what} `{name}` is declared twice"))
                .label("declared again here")
                .help("delete one, or give it another name");
        if let Some(first) = first {
            diagnostic = diagnostic.related(first, "first declared here");
        }
        self.report(diagnostic);
    }

    /// Reports replies that a language lacks; which ones are needed depends on the tools that are declared.
    pub(super) fn missing_replies(&mut self) {
        let tools: Vec<String> =
            self.library.tools.iter().map(|tool| tool.declaration.name.clone()).collect();
        let needed: Vec<(&str, ReplyForm)> = TOOL_REPLIES
            .iter()
            .filter(|(tool, _)| {
                tools.iter().any(|known| known == tool || (*tool == "__" && known.contains(tool)))
            })
            .flat_map(|(_, replies)| replies.iter().copied())
            .collect();
        let mut found = Vec::new();
        for language in &self.library.languages {
            let Some(span) = language.span else { continue };
            for (key, form) in REPLIES.iter().chain(&needed) {
                if !language.replies.contains_key(*key) {
                    let form = if is_list(*form) { "[\"…\"]" } else { "\"…\"" };
                    found.push(
                        Diagnostic::new(
                            codes::MISSING_REPLY,
                            span,
                            format!("language `{}` has no reply `{key}`", language.name),
                        )
                        .help(format!("add `{key}: {form}` to its `replies`")),
                    );
                }
            }
        }
        self.diagnostics.extend(found);
    }

    pub(super) fn missing_name(&mut self, head: Span, what: &str) {
        self.report(
            Diagnostic::new(codes::MISSING_NAME, head, format!("this {what} has no name"))
                .help(format!("write `{what} NAME {{ … }}`")),
        );
    }

    /// Checks for a key that was given before; true if it is new.
    pub(super) fn once(&mut self, seen: &mut Vec<(String, Span)>, key: &Name) -> bool {
        if let Some((_, first)) = seen.iter().find(|(known, _)| *known == key.text) {
            let first = *first;
            self.report(
                Diagnostic::new(codes::DUPLICATE_KEY, key.span, format!("`{}` is given twice", key.text))
                    .related(first, "first given here")
                    .help("delete one"),
            );
            return false;
        }
        seen.push((key.text.clone(), key.span));
        true
    }

    pub(super) fn fragment(&mut self, name: &Name, value: &Text) {
        if let Some(first) = self.library.fragments.get(&name.text) {
            let first = first.span;
            self.duplicate("pattern", &name.text, name.span, Some(first));
            return;
        }
        if let Some(template) = pattern::parse(value, self.limits, &mut self.diagnostics) {
            if template.start || template.end {
                self.library.broken_fragments.insert(name.text.clone());
                self.report(
                    Diagnostic::new(codes::PATTERN_SYNTAX, value.span, "a fragment cannot be anchored")
                        .help("anchor the patterns that use it"),
                );
                return;
            }
            self.library.fragments.insert(name.text.clone(), Fragment { template, span: name.span });
        } else {
            self.library.broken_fragments.insert(name.text.clone());
        }
    }

    pub(super) fn assistant(&mut self, block: Block) {
        if let Some(first) = self.assistant_place {
            self.duplicate("item", "assistant", block.head, Some(first));
            return;
        }
        self.assistant_place = Some(block.head);
        if let Some(name) = &block.name {
            self.misplaced(name.span, "`assistant` takes no name".to_owned());
        }
        let mut seen = Vec::new();
        for field in &block.fields {
            if field.key.text == "base" {
                if self.once(&mut seen, &field.key)
                    && let Some(text) = self.text(field)
                {
                    self.library.assistant = text.value;
                }
            } else {
                self.unknown_key(&field.key, "`assistant`", ["base"]);
            }
        }
        if seen.is_empty() {
            self.report(
                Diagnostic::new(codes::MISSING_KEY, block.head, "`assistant` has no `base`")
                    .help("write `base: \"\"\"…\"\"\"`, the first part of every system turn"),
            );
        }
    }

    pub(super) fn host(&mut self, block: Block) {
        let Some(name) = &block.name else {
            self.missing_name(block.head, "host");
            return;
        };
        let mut host = Host { name: name.text.clone(), task: None, envelope: None };
        if self.library.hosts.iter().any(|known| known.name == host.name) {
            self.duplicate("host", &host.name, name.span, None);
            return;
        }
        let mut seen = Vec::new();
        for field in &block.fields {
            if !matches!(field.key.text.as_str(), "task" | "envelope") {
                self.unknown_key(&field.key, "a host", ["task", "envelope"]);
                continue;
            }
            if !self.once(&mut seen, &field.key) {
                continue;
            }
            let source = match self.plain(field) {
                Some(Scalar::Regex(text)) => {
                    super::regexes::check(text, &mut self.diagnostics).map(|_| text.value.clone())
                }
                Some(other) => {
                    let (span, found) = (other.span(), other.describe());
                    self.wrong_type(span, &field.key.text, "a regular expression", found);
                    None
                }
                None => None,
            };
            if field.key.text == "task" {
                host.task = source;
            } else {
                host.envelope = source;
            }
        }
        if seen.is_empty() {
            self.report(
                Diagnostic::new(
                    codes::MISSING_KEY,
                    name.span,
                    format!("host `{}` recognises nothing", host.name),
                )
                .help("give it `task: /…/`, `envelope: /…/` or both"),
            );
        }
        self.library.hosts.push(host);
    }

    pub(super) fn predicate(&mut self, block: Block) {
        let Some(name) = block.name.clone() else {
            self.missing_name(block.head, "predicate");
            return;
        };
        for field in &block.fields {
            // The key is a language; all lists apply to every message, so it only sorts what authors write.
            self.library.language_keys.push(field.key.clone());
            self.no_label(field);
            let elements = self.matchers(field);
            self.add_predicate(&name, elements, &field.key.text);
        }
        if block.fields.is_empty() {
            self.add_predicate(&name, Vec::new(), "");
        }
    }

    fn add_predicate(&mut self, name: &Name, elements: Vec<Element>, language: &str) {
        let known = self.library.predicates.entry(name.text.clone()).or_default();
        if !elements.is_empty() {
            known.languages.insert(language.to_owned());
        }
        known.elements.extend(elements);
        known.span.get_or_insert(name.span);
    }

    pub(super) fn tool(&mut self, tool: ast::Tool) {
        if let Some(&first) = self.tool_places.get(&tool.name.text) {
            self.duplicate("tool", &tool.name.text, tool.name.span, Some(first));
            return;
        }
        self.tool_places.insert(tool.name.text.clone(), tool.name.span);
        let origin = match tool.origin.text.as_str() {
            "sourced" => ToolOrigin::Sourced,
            "computed" => ToolOrigin::Computed,
            "effect" => ToolOrigin::Effect,
            other => {
                self.report(
                    Diagnostic::new(
                        codes::UNKNOWN_VALUE,
                        tool.origin.span,
                        format!("`{other}` is not what a tool's results can be"),
                    )
                    .help(suggestion(other, ["sourced", "computed", "effect"], "values")),
                );
                ToolOrigin::Effect
            }
        };
        let mut parameters: Vec<Parameter> = Vec::new();
        for parameter in &tool.parameters {
            if parameters.iter().any(|known| known.name == parameter.name.text) {
                self.report(
                    Diagnostic::new(
                        codes::DUPLICATE_KEY,
                        parameter.name.span,
                        format!("parameter `{}` is given twice", parameter.name.text),
                    )
                    .help("delete one"),
                );
                continue;
            }
            // A parameter of an unknown type stays, so that calls are judged by its name.
            let kind = self.parameter_type(parameter).unwrap_or(ParameterType::Text);
            let default = parameter.default.as_ref().and_then(|value| self.literal(value, &kind));
            parameters.push(Parameter {
                name: parameter.name.text.clone(),
                kind,
                optional: parameter.optional,
                default,
                schema: None,
            });
        }
        let declaration =
            ToolDeclaration { name: tool.name.text, parameters, origin, description: tool.description.value };
        self.library.tools.push(Tool { declaration, span: tool.name.span });
    }

    fn parameter_type(&mut self, parameter: &ast::Parameter) -> Option<ParameterType> {
        let kind = match parameter.kind.text.as_str() {
            "text" => ParameterType::Text,
            "number" => ParameterType::Number,
            "boolean" => ParameterType::Boolean,
            "url" => ParameterType::Url,
            "place" => ParameterType::Place,
            "date" => ParameterType::Date,
            "one-of" if !parameter.values.is_empty() => {
                ParameterType::OneOf(parameter.values.iter().map(|name| name.text.clone()).collect())
            }
            "one-of" => {
                self.report(
                    Diagnostic::new(codes::WRONG_TYPE, parameter.kind.span, "`one-of` lists no values")
                        .help("write one-of(a, b)"),
                );
                return None;
            }
            other => {
                let types = ["text", "number", "boolean", "url", "place", "date", "one-of"];
                // What other languages call these types.
                let meant = match other {
                    "string" | "str" => Some("text"),
                    "integer" | "int" | "float" => Some("number"),
                    "bool" => Some("boolean"),
                    "enum" => Some("one-of"),
                    _ => None,
                };
                let help = meant.map_or_else(
                    || suggestion(other, types, "types"),
                    |meant| format!("did you mean `{meant}`?"),
                );
                self.report(
                    Diagnostic::new(
                        codes::UNKNOWN_VALUE,
                        parameter.kind.span,
                        format!("unknown type `{other}`"),
                    )
                    .help(help),
                );
                return None;
            }
        };
        Some(kind)
    }

    /// A literal as JSON, if it fits the type.
    pub(super) fn literal(&mut self, value: &Scalar, kind: &ParameterType) -> Option<serde_json::Value> {
        match crate::check::literal(value, kind) {
            Ok(found) => Some(found),
            Err(message) => {
                self.report(Diagnostic::new(codes::BAD_ARGUMENTS, value.span(), message));
                None
            }
        }
    }

    pub(super) fn language(&mut self, block: Block) {
        let Some(name) = block.name.clone() else {
            self.missing_name(block.head, "language");
            return;
        };
        if let Some(known) = self.library.languages.iter().find(|known| known.name == name.text) {
            let first = known.span;
            self.duplicate("language", &name.text, name.span, first);
            return;
        }
        if self.library.languages.len() >= self.limits.languages {
            let limit = self.limits.languages;
            let message =
                format!("more than {limit} languages in one library, the built-in de and en included");
            let own = self
                .library
                .files
                .get(name.span.file as usize)
                .is_none_or(|f| !f.name.starts_with("<built-in>"));
            let diagnostic = if own {
                Diagnostic::new(codes::LIBRARY_TOO_LARGE, name.span, message)
            } else {
                Diagnostic::global(codes::LIBRARY_TOO_LARGE, message)
            };
            self.report(diagnostic.help("leave one out (setting: languages)"));
            return;
        }
        let mut language = Language {
            name: name.text.clone(),
            span: Some(block.head),
            lists: vec![Vec::new(); LISTS.len()],
            ..Language::default()
        };
        let mut rule = Vec::new();
        for field in &block.fields {
            let key = field.key.text.as_str();
            if let Some(list) = LISTS.iter().position(|list| *list == key) {
                let entries = self.list_entries(field, key);
                if let Some(list) = language.lists.get_mut(list) {
                    list.extend(entries);
                }
                continue;
            }
            match key {
                "spelling" => self.spelling(field, &mut language),
                "expands" => self.expands(field, &mut language),
                "replies" => self.replies(field, &mut language),
                "rule" => {
                    if self.once(&mut rule, &field.key)
                        && let Some(text) = self.text(field)
                    {
                        language.rule = Some(text.value);
                    }
                }
                "predicate" => match &field.label {
                    Some(label) => {
                        let mut elements = self.matchers(field);
                        elements.iter_mut().for_each(|element| element.label = None);
                        self.add_predicate(&label.clone(), elements, &language.name);
                    }
                    None => self.report(
                        Diagnostic::new(codes::MISSING_NAME, field.key.span, "this predicate has no name")
                            .help("write `predicate NAME: [\"…\"]`"),
                    ),
                },
                _ => {
                    self.unknown_key(&field.key, "a language", LISTS.into_iter().chain(LANGUAGE_KEYS));
                }
            }
        }
        if language.rule.is_none() {
            self.report(
                Diagnostic::new(
                    codes::MISSING_KEY,
                    block.head,
                    format!("language `{}` has no `rule`", language.name),
                )
                .help("add `rule: \"…\"`, the sentence that asks the model for answers in this language"),
            );
        }
        self.library.languages.push(language);
    }

    fn list_entries(&mut self, field: &Field, list: &str) -> Vec<ListEntry> {
        let mut out = Vec::new();
        for text in self.strings(field) {
            let Some(mut template) = pattern::parse(&text, self.limits, &mut self.diagnostics) else {
                continue;
            };
            let mut role = 0;
            if list == "operators" {
                // An anchor says on which side of the operator no operand stands.
                role |= if std::mem::take(&mut template.start) { layout::role::PREFIX } else { 0 };
                role |= if std::mem::take(&mut template.end) { layout::role::POSTFIX } else { 0 };
            }
            if list == "polite"
                && let Node::Sequence(parts) = &mut template.node
                && parts.len() > 1
                && matches!(parts.last(), Some(Node::Reference { name, .. }) if name == "asks")
            {
                parts.pop();
                role |= layout::role::BEFORE_ASKS;
            }
            if let Some(message) = list_problem(&template) {
                self.report(
                    Diagnostic::new(codes::PATTERN_SYNTAX, text.span, message).help(
                        "an entry of a word list holds words, (a|b), [x], word* and word+; a `polite` entry may end \
                         in <asks>, an operator may carry ^ in front or $ behind",
                    ),
                );
                continue;
            }
            out.push(ListEntry { template, role });
        }
        out
    }

    fn map<'f>(&mut self, field: &'f Field) -> &'f [MapEntry] {
        self.no_label(field);
        match &field.value {
            Value::Map(entries, _) => entries,
            other => {
                self.wrong_type(other.span(), &field.key.text, "a map { key: value }", "another value");
                &[]
            }
        }
    }

    fn map_text(&mut self, entry: &MapEntry, key: &str) -> Option<Text> {
        match &entry.value {
            MapValue::One(Scalar::Text(text)) => Some(text.clone()),
            MapValue::One(other) => {
                self.wrong_type(other.span(), key, "strings", other.describe());
                None
            }
            MapValue::Many(_, span) => {
                self.wrong_type(*span, key, "strings", "a list");
                None
            }
        }
    }

    fn spelling(&mut self, field: &Field, language: &mut Language) {
        for entry in self.map(field) {
            let Some(value) = self.map_text(entry, "spelling") else { continue };
            let mut chars = entry.key.value.chars();
            let single = (chars.next(), chars.next());
            if matches!(single, (Some(from), None) if from.is_ascii()) {
                self.report(
                    Diagnostic::new(
                        codes::WRONG_TYPE,
                        entry.key.span,
                        "`spelling` is for letters outside ASCII",
                    )
                    .help("write a letter such as \"ä\"; plain letters stay as they are"),
                );
                continue;
            }
            let fits = value.value.chars().count() <= 3 && value.value.chars().all(char::is_alphabetic);
            match single {
                (Some(from), None) if fits && !value.value.is_empty() => {
                    language.spelling.push((from, value.value.to_lowercase()));
                }
                (Some(_), None) => self.report(
                    Diagnostic::new(codes::WRONG_TYPE, value.span, "a spelling is one to three letters")
                        .help("write what the character becomes without it, as in \"ä\": \"ae\""),
                ),
                _ => self.report(
                    Diagnostic::new(codes::WRONG_TYPE, entry.key.span, "`spelling` maps one character")
                        .help("write one character, as in \"ä\": \"ae\""),
                ),
            }
        }
    }

    fn expands(&mut self, field: &Field, language: &mut Language) {
        for entry in self.map(field) {
            let Some(value) = self.map_text(entry, "expands") else { continue };
            let words = |nodes: &[Node]| nodes.iter().all(|node| matches!(node, Node::Word(_)));
            let key = pattern::literal_nodes(&entry.key.value);
            let parts: Vec<Node> = value.value.split_whitespace().flat_map(pattern::literal_nodes).collect();
            if key.len() != 1 || !words(&key) {
                self.report(
                    Diagnostic::new(codes::WRONG_TYPE, entry.key.span, "`expands` maps one word")
                        .help("write one word, as in \"what's\": \"what is\""),
                );
            } else if parts.is_empty() || parts.len() > 8 || !words(&parts) {
                self.report(
                    Diagnostic::new(codes::WRONG_TYPE, value.span, "a word expands to one to eight words")
                        .help("write words, as in \"what's\": \"what is\""),
                );
            } else {
                language.expands.push((entry.key.value.clone(), value.value));
            }
        }
    }

    fn replies(&mut self, field: &Field, language: &mut Language) {
        for entry in self.map(field) {
            let key = entry.key.value.clone();
            let known = REPLIES.iter().copied().chain(tool_replies()).find(|(known, _)| *known == key);
            if known.is_none() && !optional_reply(&key) {
                let help = suggestion(
                    &key,
                    REPLIES.iter().copied().chain(tool_replies()).map(|(key, _)| key),
                    "replies",
                );
                self.report(
                    Diagnostic::new(codes::UNKNOWN_KEY, entry.key.span, format!("unknown reply `{key}`"))
                        .help(help),
                );
                continue;
            }
            if language.replies.contains_key(&key) {
                self.report(
                    Diagnostic::new(
                        codes::DUPLICATE_KEY,
                        entry.key.span,
                        format!("reply `{key}` is given twice"),
                    )
                    .help("delete one"),
                );
                continue;
            }
            let form = known.map_or(ReplyForm::Text, |(_, form)| form);
            let list = is_list(form);
            if let MapValue::Many(elements, _) = &entry.value {
                for element in elements.iter().filter(|element| !matches!(element.scalar, Scalar::Text(_))) {
                    self.wrong_type(element.span, &key, "strings", element.scalar.describe());
                }
            }
            let reply = match &entry.value {
                MapValue::One(Scalar::Text(text)) if !list => Reply::Text(text.value.clone()),
                MapValue::Many(elements, _) if list => Reply::List(
                    elements
                        .iter()
                        .filter_map(|element| match &element.scalar {
                            Scalar::Text(text) => Some(text.value.clone()),
                            _ => None,
                        })
                        .collect(),
                ),
                _ => {
                    let wanted = if list { "a list of strings" } else { "a string" };
                    self.wrong_type(entry.key.span, &key, wanted, "another value");
                    continue;
                }
            };
            if let Some(problem) = reply_problem(form, &reply) {
                self.report(
                    Diagnostic::new(codes::WRONG_TYPE, entry.key.span, format!("reply `{key}` {problem}"))
                        .help("tools fill these texts in, so each of them counts"),
                );
            }
            language.replies.insert(key, reply);
        }
    }

    pub(super) fn test(&mut self, test: ast::Test) {
        if test.name.is_none() {
            self.report(
                Diagnostic::new(codes::MISSING_NAME, test.head, "this test has no name")
                    .help("write `test \"what it shows\" { … }`"),
            );
        }
        for field in &test.fields {
            if field.key.text != "tools" {
                self.unknown_key(&field.key, "a test", ["tools"]);
            }
        }
        for case in &test.cases {
            if let Some(last) = case.turns.last()
                && last.expect.is_none()
            {
                self.report(
                    Diagnostic::new(
                        codes::MISSING_KEY,
                        last.message.span,
                        "the last message of a case expects nothing",
                    )
                    .help("write `-> SKILL` or `-> none` behind it"),
                );
            }
        }
        self.library.tests.push(test);
    }

    pub(super) fn reserved(&mut self, name: &Name) -> bool {
        let reserved = RESERVED.contains(&name.text.as_str());
        if reserved {
            self.report(
                Diagnostic::new(
                    codes::RESERVED_NAME,
                    name.span,
                    format!("no skill can be named `{}`", name.text),
                )
                .help("tests use none, not and all; take another name"),
            );
        }
        reserved
    }
}

/// What is wrong with an entry of a word list.
fn list_problem(template: &Template) -> Option<&'static str> {
    fn foreign(node: &Node) -> bool {
        match node {
            Node::Sequence(parts) | Node::Alternatives(parts) => parts.iter().any(foreign),
            Node::Optional(inner) => foreign(inner),
            Node::Word(_) | Node::Prefix(_) | Node::Stretch(_) | Node::Number(_) | Node::Symbol(_) => false,
            Node::Mark(_) | Node::Gap(_) | Node::Reference { .. } | Node::Slot { .. } => true,
        }
    }
    if template.start || template.end {
        Some("an entry of a word list cannot be anchored")
    } else if foreign(&template.node) {
        Some("an entry of a word list holds more than words")
    } else {
        None
    }
}
