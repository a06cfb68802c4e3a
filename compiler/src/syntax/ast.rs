//! The syntax tree of a `.skill` file: what was written, not yet what it means.

use crate::source::Span;

/// A parsed file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Items in file order.
    pub items: Vec<Item>,
}

/// A name with its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// As written.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A string or regular expression: its value, and where each byte of the value was written.
#[derive(Clone, Debug)]
pub struct Text {
    /// Value after escapes.
    pub value: String,
    /// Place of the whole literal, quotes included.
    pub span: Span,
    /// Source byte of each byte of the value, and one more for its end.
    pub origin: Vec<u32>,
}

impl Text {
    /// Place of a byte range of the value.
    #[must_use]
    pub fn place(&self, start: usize, end: usize) -> Span {
        let get = |at: usize| self.origin.get(at).or(self.origin.last()).copied().unwrap_or(self.span.start);
        let start = get(start);
        Span { file: self.span.file, start, end: get(end).max(start) }
    }
}

/// A top-level item.
#[derive(Clone, Debug)]
pub enum Item {
    /// `language`, `predicate`, `assistant` or `host`: fields in braces.
    Block(Block),
    /// `pattern NAME = "…"`.
    Pattern {
        /// Name.
        name: Name,
        /// Template.
        value: Text,
    },
    /// `tool NAME(…) origin "…"`.
    Tool(Tool),
    /// `skill NAME { … }`.
    Skill(Skill),
    /// `test "…" { … }`.
    Test(Test),
}

/// Kind of a [`Block`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// `language NAME`.
    Language,
    /// `predicate NAME`.
    Predicate,
    /// `assistant`.
    Assistant,
    /// `host NAME`.
    Host,
}

/// An item of fields.
#[derive(Clone, Debug)]
pub struct Block {
    /// Kind.
    pub kind: BlockKind,
    /// Name, if written.
    pub name: Option<Name>,
    /// The item word, for messages.
    pub head: Span,
    /// Fields.
    pub fields: Vec<Field>,
}

/// `key [label]: value`.
#[derive(Clone, Debug)]
pub struct Field {
    /// Key.
    pub key: Name,
    /// Label behind the key.
    pub label: Option<Name>,
    /// Value.
    pub value: Value,
    /// Place of key and value.
    pub span: Span,
}

/// Value of a field.
#[derive(Clone, Debug)]
pub enum Value {
    /// `[…]`.
    List(Vec<Element>, Span),
    /// `{…}`.
    Map(Vec<MapEntry>, Span),
    /// One element, with the mode behind `else`.
    Single(Element, Option<Name>),
}

impl Value {
    /// Place.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::List(_, span) | Self::Map(_, span) => *span,
            Self::Single(element, _) => element.span,
        }
    }
}

/// An element of a list with its vetoes.
#[derive(Clone, Debug)]
pub struct Element {
    /// What it is.
    pub scalar: Scalar,
    /// What stands behind `unless`.
    pub unless: Vec<Scalar>,
    /// Place.
    pub span: Span,
}

/// A value without parts.
#[derive(Clone, Debug)]
pub enum Scalar {
    /// A string.
    Text(Text),
    /// A regular expression.
    Regex(Text),
    /// `name(…)`.
    Call(Call),
    /// A number as written.
    Number(Name),
    /// A bare word.
    Word(Name),
}

impl Scalar {
    /// Place.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Self::Text(text) | Self::Regex(text) => text.span,
            Self::Call(call) => call.span,
            Self::Number(name) | Self::Word(name) => name.span,
        }
    }

    /// What it is, for messages.
    #[must_use]
    pub fn describe(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Regex(_) => "a regular expression",
            Self::Call(_) => "a call",
            Self::Number(_) => "a number",
            Self::Word(_) => "a bare word",
        }
    }
}

/// An entry of a map.
#[derive(Clone, Debug)]
pub struct MapEntry {
    /// Key.
    pub key: Text,
    /// One value, or a list.
    pub value: MapValue,
}

/// Value of a map entry.
#[derive(Clone, Debug)]
pub enum MapValue {
    /// One value.
    One(Scalar),
    /// A list.
    Many(Vec<Element>, Span),
}

/// `name(argument: value, …)`.
#[derive(Clone, Debug)]
pub struct Call {
    /// What is called.
    pub name: Name,
    /// Arguments.
    pub arguments: Vec<(Name, Scalar)>,
    /// Place.
    pub span: Span,
}

/// A tool declaration.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Name.
    pub name: Name,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// `sourced`, `computed` or `effect`.
    pub origin: Name,
    /// What it does.
    pub description: Text,
}

/// A parameter declaration.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Name.
    pub name: Name,
    /// Marked with `?`.
    pub optional: bool,
    /// Type.
    pub kind: Name,
    /// Values of `one-of(…)`.
    pub values: Vec<Name>,
    /// Default.
    pub default: Option<Scalar>,
}

/// A skill.
#[derive(Clone, Debug)]
pub struct Skill {
    /// Name, if written.
    pub name: Option<Name>,
    /// The item word.
    pub head: Span,
    /// Fields.
    pub fields: Vec<Field>,
    /// Exemplars.
    pub exemplars: Vec<Exemplar>,
    /// Some of its lines were not understood, so what seems to be missing may be there.
    pub damaged: bool,
}

/// A worked example.
#[derive(Clone, Debug)]
pub struct Exemplar {
    /// Label.
    pub label: Option<Name>,
    /// The user's message.
    pub message: Text,
    /// Calls with results.
    pub steps: Vec<(Call, Text)>,
    /// Fields: `answer`.
    pub fields: Vec<Field>,
    /// Place of its head.
    pub span: Span,
}

/// A test.
#[derive(Clone, Debug)]
pub struct Test {
    /// Name, if written.
    pub name: Option<Text>,
    /// The item word.
    pub head: Span,
    /// Fields: `tools`.
    pub fields: Vec<Field>,
    /// Cases.
    pub cases: Vec<Case>,
}

/// One conversation of a test.
#[derive(Clone, Debug)]
pub struct Case {
    /// Turns.
    pub turns: Vec<Turn>,
    /// Place.
    pub span: Span,
}

/// A message with what is expected of it.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The message.
    pub message: Text,
    /// What should happen.
    pub expect: Option<Expect>,
}

/// What a turn should lead to.
#[derive(Clone, Debug)]
pub struct Expect {
    /// `not` stands in front.
    pub not: bool,
    /// Skills, or `none`.
    pub skills: Vec<Name>,
    /// `by STAGE`.
    pub by: Option<Name>,
    /// `offers …`.
    pub offers: Option<Offers>,
    /// `binds …`.
    pub binds: Vec<(Name, Text)>,
    /// `opens TOOL(…)`.
    pub opens: Option<Call>,
    /// Place.
    pub span: Span,
}

/// What a test expects to be offered.
#[derive(Clone, Debug)]
pub enum Offers {
    /// `offers [a, b]`.
    These(Vec<Name>),
    /// `offers all` or `offers none`, or a word that is neither.
    Word(Name),
}
