//! What the compiler has to say: a code, a place, a first line that stands alone, and what to do.
//!
//! [`CODES`] is the list of all codes. Each has a page in `diagnostics/pages/`, which is also its test: the first
//! example of the page must raise the code, the second must not.

use serde::Serialize;

use crate::source::Span;

/// How serious a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Advice; the library compiles.
    Warning,
    /// The library does not compile.
    Error,
}

/// A code with its page.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// Such as `E101`.
    pub id: &'static str,
    /// Name in words.
    pub name: &'static str,
    /// Severity.
    pub severity: Severity,
    /// What `skillc explain` prints.
    pub page: &'static str,
}

macro_rules! codes {
    ($($constant:ident $id:literal $severity:ident $name:literal;)*) => {
        $(
            #[doc = concat!("`", $id, "`: ", $name, ".")]
            pub const $constant: &Code = &Code {
                id: $id,
                name: $name,
                severity: Severity::$severity,
                page: include_str!(concat!("diagnostics/pages/", $id, ".md")),
            };
        )*
        /// All codes, in order.
        pub const CODES: &[&Code] = &[$($constant),*];
    };
}

codes! {
    SYNTAX "E001" Error "text that is not understood";
    UNCLOSED_BLOCK "E002" Error "block that is not closed";
    UNCLOSED_STRING "E003" Error "string that is not closed";
    NOT_UTF8 "E004" Error "bytes that are not UTF-8";
    FOREIGN_FILE "E005" Error "file of another format";
    BAD_ESCAPE "E006" Error "escape that names no character";
    UNKNOWN_KEY "E101" Error "unknown key";
    UNKNOWN_ITEM "E102" Error "unknown item";
    MISSING_NAME "E103" Error "item without a name";
    RESERVED_NAME "E104" Error "reserved name";
    DUPLICATE_ITEM "E105" Error "item declared twice";
    DUPLICATE_KEY "E106" Error "key given twice";
    WRONG_TYPE "E107" Error "value of the wrong type";
    OUT_OF_RANGE "E108" Error "number out of range";
    MISSING_KEY "E109" Error "missing key";
    MISSING_REPLY "E110" Error "reply text missing in a language";
    UNKNOWN_VALUE "E111" Error "value that is none of the allowed ones";
    MISPLACED "E112" Error "part that does not belong here";
    UNKNOWN_TOOL "E201" Error "unknown tool";
    UNKNOWN_FRAGMENT "E202" Error "unknown fragment";
    UNKNOWN_SLOT "E203" Error "slot that nothing binds";
    UNKNOWN_PREDICATE "E204" Error "unknown predicate";
    UNKNOWN_LABEL "E205" Error "unknown label";
    UNKNOWN_LANGUAGE "E206" Error "unknown language";
    UNKNOWN_SKILL "E207" Error "unknown skill";
    FRAGMENT_CYCLE "E208" Error "fragments or predicates in a circle";
    TOOLS_NONE "E209" Error "`tools: none`";
    TOOL_OUTSIDE_LIST "E210" Error "tool outside the skill's list";
    BAD_ARGUMENTS "E211" Error "arguments that do not fit the tool";
    PATTERN_SYNTAX "E301" Error "pattern that is not understood";
    REQUIRES_NOTHING "E302" Error "pattern that requires nothing";
    BLANK_PATTERN "E303" Error "blank pattern or keyword";
    TEMPLATE_TOO_LARGE "E304" Error "pattern over the size limit";
    BAD_SLOT "E305" Error "slot that cannot be";
    BAD_REGEX "E306" Error "regular expression that does not compile";
    REGEX_TOO_LARGE "E307" Error "regular expression over the size limit";
    NESTING_TOO_DEEP "E308" Error "pattern nested too deep";
    SHORT_PREFIX "E309" Error "prefix of fewer than three letters";
    KEYWORD_OF_STOPWORDS "E310" Error "keyword of stop words only";
    LIST_TOO_LARGE "E311" Error "word list over the size limit";
    GUIDANCE_TOO_LONG "E401" Error "guidance over 600 characters";
    UNREACHABLE_SKILL "E402" Error "skill that nothing can reach";
    LIBRARY_TOO_LARGE "E403" Error "library over a size limit";
    CONTEXT_TOO_LONG "W501" Warning "exemplars that never reach the prompt";
    EMPTY_LIBRARY "W502" Warning "library without a skill";
    UNTESTED "W503" Warning "trigger, alternative or predicate that no test exercises";
    GENERIC_WORD "W504" Warning "trigger or keyword of one short or common word";
    STRAYED_EXEMPLAR "W505" Warning "exemplar whose message goes elsewhere";
    UNUSED "W506" Warning "fragment, predicate or tool that nothing uses";
    TIED "W507" Warning "two skills that tie on a message of a test";
    BARE_FALLBACK "W508" Warning "fallback without exclusions";
    ONE_LANGUAGE "W509" Warning "predicate filled for one language only";
    SLOW_REGEX "W510" Warning "regular expression that runs on every message";
    SWALLOWING_SLOT "W511" Warning "slot that can swallow the message";
}

impl Code {
    /// The code with this id, in any case.
    #[must_use]
    pub fn find(id: &str) -> Option<&'static Self> {
        CODES.iter().copied().find(|code| code.id.eq_ignore_ascii_case(id))
    }
}

/// A place with what is to be said of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What.
    pub text: String,
}

/// Longest first line, in characters: a name of a megabyte must not be one.
const LONGEST_MESSAGE: usize = 400;

fn shortened(message: String) -> String {
    match message.char_indices().nth(LONGEST_MESSAGE) {
        Some((cut, _)) => format!("{}…", message.get(..cut).unwrap_or_default()),
        None => message,
    }
}

/// One finding.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnostic {
    /// Code, such as `E101`.
    pub code: &'static str,
    /// Severity.
    pub severity: Severity,
    /// First line; it stands alone.
    pub message: String,
    /// The place it is about; None for the library as a whole.
    pub span: Option<Span>,
    /// What to say at that place.
    pub label: String,
    /// Other places.
    pub related: Vec<Label>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A finding at a place.
    #[must_use]
    pub fn new(code: &Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code: code.id,
            severity: code.severity,
            message: shortened(message.into()),
            span: Some(span),
            label: String::new(),
            related: Vec::new(),
            help: None,
        }
    }

    /// A finding about the library as a whole.
    #[must_use]
    pub fn global(code: &Code, message: impl Into<String>) -> Self {
        Self { span: None, ..Self::new(code, Span { file: 0, start: 0, end: 0 }, message) }
    }

    /// Says something at the place itself.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Points to another place.
    #[must_use]
    pub fn related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.related.push(Label { span, text: text.into() });
        self
    }
}

/// The known name nearest to what was written, if it is near enough to be a slip.
#[must_use]
pub fn nearest<'n>(written: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let lower = written.to_lowercase();
    let length = lower.chars().count();
    known
        .into_iter()
        .filter_map(|name| {
            let other = name.chars().count();
            let allowed = 1.max(length.max(other) / 3);
            // Names whose lengths differ by more cannot be near; most are told apart by that.
            let distance = (length.abs_diff(other) <= allowed)
                .then(|| strsim::damerau_levenshtein(&lower, &name.to_lowercase()))?;
            (distance <= allowed).then_some((distance, name))
        })
        .min()
        .map(|(_, name)| name)
}

/// Most names that a suggestion lists. All keys of a skill fit.
const MOST_SUGGESTED: usize = 24;

/// "did you mean …" for a name, or the list of what is known.
#[must_use]
pub fn suggestion<'n>(written: &str, known: impl IntoIterator<Item = &'n str>, what: &str) -> String {
    let mut known: Vec<&str> = known.into_iter().collect();
    known.sort_unstable();
    known.dedup();
    if let Some(name) = nearest(written, known.iter().copied()) {
        return format!("did you mean `{name}`?");
    }
    if known.is_empty() {
        return format!("there are no {what} here");
    }
    let shown: Vec<String> = known.iter().take(MOST_SUGGESTED).map(|name| format!("`{name}`")).collect();
    let more = known.len().saturating_sub(MOST_SUGGESTED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{what}: {}{more}", shown.join(", "))
}
