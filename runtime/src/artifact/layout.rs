//! Records of the artifact, field by field. Changing any of them is a new [`FORMAT_VERSION`].
//!
//! "Range" fields come in pairs `x_start`, `x_len` and index the section that their comment names. Strings are
//! byte ranges of [`Section::Text`]. `NONE` stands for "no index".

use bytemuck::{Pod, Zeroable};

/// First eight bytes of every artifact.
pub const MAGIC: [u8; 8] = *b"SKILPACK";
/// Version of the layout in this file; a reader accepts exactly this one.
pub const FORMAT_VERSION: u32 = 4;
/// "No index".
pub const NONE: u32 = u32::MAX;

/// Token ids below this stand for kinds of tokens, not for words.
pub const FIRST_WORD_ID: u32 = 8;
/// A word, number or symbol that no pattern writes.
pub const ID_UNKNOWN: u32 = 0;
/// Posting key of templates that need a number.
pub const ID_NUMBER: u32 = 1;
/// Posting key of templates that need a URL.
pub const ID_URL: u32 = 2;
/// Posting key of templates that need a written word with letter and digit.
pub const ID_MIXED: u32 = 3;

/// Sections in file order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Section {
    /// UTF-8 bytes of every string that routing touches.
    Text = 0,
    /// [`Scalars`], one record.
    Scalars,
    /// [`WordSlot`]s, open addressing, a power of two.
    WordSlots,
    /// [`Misspelling`]s, open addressing, a power of two.
    Misspellings,
    /// [`Word`] by token id.
    Words,
    /// [`Fold`]s sorted by character: spellings of characters outside Latin-1.
    Folds,
    /// 64 packed spellings of U+00C0..=U+00FF: `len | byte0 << 8 | byte1 << 16 | byte2 << 24`.
    LatinFolds,
    /// Token id of each ASCII character that is a token alone.
    AsciiIds,
    /// [`Prefix`]es, grouped by the first byte, longest first.
    Prefixes,
    /// 257 starts into [`Section::Prefixes`], by first byte.
    PrefixBuckets,
    /// `u32` token ids: sets (sorted), expansions, tools of skills.
    Ids,
    /// [`PhraseEdge`]s, open addressing, a power of two.
    PhraseEdges,
    /// [`PhraseNode`]s.
    PhraseNodes,
    /// [`Terminal`]s of phrases.
    Terminals,
    /// [`Template`]s.
    Templates,
    /// `u64` machine words: position automata.
    Code,
    /// `u32` instructions of the binder.
    Program,
    /// [`Slot`]s of templates.
    Slots,
    /// [`Element`]s: triggers in routing order first, then every other list.
    Elements,
    /// [`IndexEntry`] by token id, for triggers.
    TriggerIndex,
    /// [`Posting`]s of triggers.
    TriggerPostings,
    /// [`IndexEntry`] by token id, for members of predicates.
    PredicateIndex,
    /// [`Posting`]s of predicate members.
    PredicatePostings,
    /// [`Skill`]s in routing order.
    Skills,
    /// [`Keyword`]s.
    Keywords,
    /// [`Predicate`]s.
    Predicates,
    /// [`Regex`]es.
    Regexes,
    /// [`Named`]: tools in file order.
    Tools,
    /// [`Language`]s in file order.
    Languages,
    /// [`Named`]: source files.
    Files,
    /// [`Host`]s.
    Hosts,
    /// [`Opening`]s.
    Openings,
    /// [`OpeningArgument`]s.
    OpeningArguments,
    /// UTF-8 JSON blobs that only prompts and replies read.
    Cold,
}

/// Number of sections.
pub const SECTIONS: usize = Section::Cold as usize + 1;

/// File header.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: [u8; 8],
    /// [`FORMAT_VERSION`] of the writer.
    pub version: u32,
    /// Number of entries in the section table behind the header.
    pub sections: u32,
    /// Length of the whole file in bytes.
    pub length: u64,
    /// XXH3-64 of the file without this field.
    pub checksum: u64,
}

/// One entry of the section table.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct SectionEntry {
    /// Byte offset from the start of the file, a multiple of 8.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
}

/// Figures that are no array.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Scalars {
    /// Triggers are `Elements[..triggers]`.
    pub triggers: u32,
    /// Elements that no word can index (predicates, regular expressions): range of `Ids`, element numbers.
    pub always_start: u32,
    /// See `always_start`.
    pub always_len: u32,
    /// The same for members of predicates.
    pub predicate_always_start: u32,
    /// See `predicate_always_start`.
    pub predicate_always_len: u32,
    /// Library texts: range of `Cold`.
    pub library_start: u32,
    /// See `library_start`.
    pub library_len: u32,
    /// Any template of the library has an `expression` slot (1) or none has (0).
    pub expressions: u32,
}

/// Entry of the word table.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct WordSlot {
    /// [`crate::router::hash_word`] of the folded word; 0 with `len` 0 is an empty slot.
    pub hash: u32,
    /// Token id.
    pub id: u32,
    /// Text range.
    pub start: u32,
    /// See `start`.
    pub len: u32,
}

/// An unknown word that is read as a misspelled one of the vocabulary.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Misspelling {
    /// `check` of the [`crate::router::MisspellingKey`] of the word as misspelled; its `hash` says where it is.
    pub check: u32,
    /// Token id that it is read as; 0 is an empty slot.
    pub id: u32,
}

/// What is known of a token id.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Word {
    /// Bits of [`crate::router::flags`]: the lists that hold the word.
    pub flags: u32,
    /// Languages whose closed lists hold the word, a bit each.
    pub languages: u32,
    /// Token id of its stretched form (`hallo+`), or NONE.
    pub stretch: u32,
    /// Range of `Ids` that it expands to (`what's` -> `what is`).
    pub expands_start: u32,
    /// See `expands_start`.
    pub expands_len: u32,
}

/// Spelling of one character.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Fold {
    /// The character after case folding.
    pub from: u32,
    /// Text range of its spelling.
    pub start: u32,
    /// See `start`.
    pub len: u32,
}

/// A prefix literal (`wetter*`), for words that the table does not hold.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Prefix {
    /// Text range.
    pub start: u32,
    /// See `start`.
    pub len: u32,
    /// Token id of "an unknown word with this as its longest prefix".
    pub id: u32,
}

/// Edge of the phrase trie.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct PhraseEdge {
    /// Node that it leaves.
    pub from: u32,
    /// Token id on it; 0 marks an empty slot.
    pub id: u32,
    /// Node that it reaches.
    pub to: u32,
}

/// Node of the phrase trie; node 0 is the root.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct PhraseNode {
    /// Range of `Terminals` that end here.
    pub terminals_start: u32,
    /// See `terminals_start`.
    pub terminals_len: u32,
}

/// What a phrase is when it ends.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Terminal {
    /// 0: a word list; 1: a keyword.
    pub kind: u32,
    /// List: `language * LISTS + list`. Keyword: index of `Keywords`.
    pub target: u32,
    /// [`role`] of a phrase in its list.
    pub role: u32,
}

/// What a phrase of a list does besides standing there; bits.
pub mod role {
    /// Counts only before a word of `asks`, which it does not take.
    pub const BEFORE_ASKS: u32 = 1;
    /// An operator in front of its operand.
    pub const PREFIX: u32 = 2;
    /// An operator behind its operand; with `PREFIX`: a mark of the figure, such as a percent sign.
    pub const POSTFIX: u32 = 4;
}

/// A template.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Template {
    /// Start of its record in `Code`: first, last, marks, `follow[n]`, `accept[n]`.
    pub code: u32,
    /// Positions n, at most 64.
    pub positions: u32,
    /// Range of `Program`.
    pub program_start: u32,
    /// See `program_start`.
    pub program_len: u32,
    /// Range of `Slots`.
    pub slots_start: u32,
    /// See `slots_start`.
    pub slots_len: u32,
    /// Bits: 1 anchored at the start, 2 anchored at the end, 4 the automaton over-approximates (bind to be sure).
    pub flags: u32,
    /// Fewest tokens other than marks that can match.
    pub min_tokens: u32,
}

/// The template starts at the first token that is not a mark.
pub const ANCHOR_START: u32 = 1;
/// The template ends at the last token that is not a mark.
pub const ANCHOR_END: u32 = 2;
/// A match of the automaton must be confirmed by binding.
pub const NEEDS_BIND: u32 = 4;

/// A slot of a template.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Slot {
    /// Text range of its name.
    pub name_start: u32,
    /// See `name_start`.
    pub name_len: u32,
    /// [`SlotKind`].
    pub kind: u32,
}

/// Kinds of slots; the numbers are part of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
pub enum SlotKind {
    /// One written word.
    Word = 0,
    /// One written word of at most 24 characters with a letter and a content word.
    Name,
    /// A name with letter and digit.
    Mixed,
    /// A number.
    Number,
    /// A URL.
    Url,
    /// All up to the end of the message.
    Rest,
    /// One to four written words that neither begin nor end with a non-content word nor cross a mark.
    Place,
    /// Numbers, symbols, brackets and operators with at least one number and one operator.
    Expression,
}

impl SlotKind {
    /// All kinds with the names that authors write.
    pub const ALL: [(&'static str, Self); 8] = [
        ("word", Self::Word),
        ("name", Self::Name),
        ("mixed", Self::Mixed),
        ("number", Self::Number),
        ("url", Self::Url),
        ("rest", Self::Rest),
        ("place", Self::Place),
        ("expression", Self::Expression),
    ];

    /// The kind with this number.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.iter().find(|(_, kind)| *kind as u32 == code).map(|(_, kind)| *kind)
    }

    /// The name that authors write.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("word", |(name, _)| name)
    }
}

/// One entry of a trigger, exclude, unless, fallback, follow or predicate list.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Element {
    /// 0 template, 1 regular expression, 2 predicate.
    pub kind: u32,
    /// Index of `Templates`, `Regexes` or `Predicates`.
    pub target: u32,
    /// Range of `Elements` that veto it.
    pub unless_start: u32,
    /// See `unless_start`.
    pub unless_len: u32,
    /// Skill or predicate that it belongs to.
    pub owner: u32,
    /// Index of `Files`.
    pub file: u32,
    /// Line, from 1.
    pub line: u32,
    /// Text range of its label; `label_len` NONE without one.
    pub label_start: u32,
    /// See `label_start`.
    pub label_len: u32,
    /// Text range of the source as written.
    pub source_start: u32,
    /// See `source_start`.
    pub source_len: u32,
}

/// [`Element::kind`] of a template.
pub const ELEMENT_TEMPLATE: u32 = 0;
/// [`Element::kind`] of a regular expression.
pub const ELEMENT_REGEX: u32 = 1;
/// [`Element::kind`] of a predicate.
pub const ELEMENT_PREDICATE: u32 = 2;

/// Range of postings of one token id.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct IndexEntry {
    /// First posting.
    pub start: u32,
    /// Number of postings.
    pub len: u32,
}

/// A template filed under the rarest word that it needs, with what lets most messages skip it.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Posting {
    /// Signature bits of the other words it needs; all must be in the message's signature.
    pub needs: u64,
    /// Signature bits of one set of alternatives; one must be in the message's signature (0: none asked).
    pub any: u64,
    /// Signature bits of the words that can stand first, for a pattern that begins at the start (0: none asked).
    pub first: u64,
    /// Index of `Elements`.
    pub element: u32,
    /// Copy of [`Template::min_tokens`].
    pub min_tokens: u32,
}

/// A skill.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Skill {
    /// Text range of its name.
    pub name_start: u32,
    /// See `name_start`.
    pub name_len: u32,
    /// 0 to 100.
    pub priority: u32,
    /// Turns it may be carried over, 0 to 9.
    pub carry: u32,
    /// Range of `Ids` (tool numbers); `tools_len` NONE: no restriction.
    pub tools_start: u32,
    /// See `tools_start`.
    pub tools_len: u32,
    /// Range of `Elements`.
    pub triggers_start: u32,
    /// See `triggers_start`.
    pub triggers_len: u32,
    /// Range of `Elements`.
    pub excludes_start: u32,
    /// See `excludes_start`.
    pub excludes_len: u32,
    /// Range of `Elements`.
    pub follows_start: u32,
    /// See `follows_start`.
    pub follows_len: u32,
    /// Range of `Elements`.
    pub fallbacks_start: u32,
    /// See `fallbacks_start`.
    pub fallbacks_len: u32,
    /// Range of `Openings`.
    pub openings_start: u32,
    /// See `openings_start`.
    pub openings_len: u32,
    /// Range of `Cold`: JSON of [`super::SkillText`].
    pub cold_start: u32,
    /// See `cold_start`.
    pub cold_len: u32,
}

/// A keyword of one skill.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Keyword {
    /// Index of `Skills`.
    pub skill: u32,
    /// Sum of the idf of its words outside the stop words, in thousandths.
    pub weight: u32,
    /// Number of words.
    pub words: u32,
    /// Index of `Files`.
    pub file: u32,
    /// Line, from 1.
    pub line: u32,
    /// Text range as written.
    pub text_start: u32,
    /// See `text_start`.
    pub text_len: u32,
}

/// A predicate.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Predicate {
    /// Text range of its name.
    pub name_start: u32,
    /// See `name_start`.
    pub name_len: u32,
    /// Range of `Elements`.
    pub elements_start: u32,
    /// See `elements_start`.
    pub elements_len: u32,
    /// [`Computed`] member, or NONE.
    pub computed: u32,
}

/// Members of predicates that code computes; the numbers are part of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Computed {
    /// Nothing but openers and polite words.
    Opener = 0,
    /// Nothing but closers and polite words.
    Closer,
    /// Starts with `continues` and does not ask with its own subject.
    Fragment,
    /// Part of the message was pasted.
    Pasted,
    /// Holds a URL.
    Url,
    /// No content word.
    Empty,
    /// A question mark anywhere.
    QuestionMark,
}

impl Computed {
    /// All members with the predicate that each belongs to.
    pub const ALL: [(&'static str, Self); 7] = [
        ("opener", Self::Opener),
        ("closer", Self::Closer),
        ("fragment", Self::Fragment),
        ("pasted", Self::Pasted),
        ("url", Self::Url),
        ("empty", Self::Empty),
        ("question", Self::QuestionMark),
    ];

    /// The member with this number.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.iter().find(|(_, member)| *member as u32 == code).map(|(_, member)| *member)
    }
}

/// A regular expression.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Regex {
    /// Text range of the expression.
    pub source_start: u32,
    /// See `source_start`.
    pub source_len: u32,
    /// Text range of a lower-case ASCII literal that every match holds; empty: it runs on every message.
    pub literal_start: u32,
    /// See `literal_start`.
    pub literal_len: u32,
}

/// A name.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Named {
    /// Text range.
    pub name_start: u32,
    /// See `name_start`.
    pub name_len: u32,
}

/// A language.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Language {
    /// Text range of its name.
    pub name_start: u32,
    /// See `name_start`.
    pub name_len: u32,
    /// Text range of the characters of its `spelling`, lower-case: a sign of the language.
    pub letters_start: u32,
    /// See `letters_start`.
    pub letters_len: u32,
}

/// Prompts and wrappers of a front end.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Host {
    /// Text range of its name.
    pub name_start: u32,
    /// See `name_start`.
    pub name_len: u32,
    /// Index of `Regexes` that tells a task prompt, or NONE.
    pub task: u32,
    /// Index of `Regexes` that tells an envelope to mask, or NONE.
    pub envelope: u32,
}

/// A call that code makes before the model writes.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Opening {
    /// Index of `Tools`.
    pub tool: u32,
    /// Range of `OpeningArguments`.
    pub arguments_start: u32,
    /// See `arguments_start`.
    pub arguments_len: u32,
}

/// An argument of an opening call.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct OpeningArgument {
    /// Text range of the parameter.
    pub name_start: u32,
    /// See `name_start`.
    pub name_len: u32,
    /// 0: a slot; 1: the message; 2: a JSON literal; 3: a slot whose parameter is a number; 4: a text with slots in
    /// braces.
    pub kind: u32,
    /// Text range of the slot's name or the literal.
    pub value_start: u32,
    /// See `value_start`.
    pub value_len: u32,
}

/// Word lists of a language, in the order of their numbers.
pub const LISTS: [&str; 12] = [
    "openers",
    "closers",
    "continues",
    "asks",
    "requests",
    "anaphors",
    "articles",
    "times",
    "polite",
    "negators",
    "operators",
    "stopwords",
];

/// Instructions of the binder; the low byte is the operation.
pub mod op {
    /// End of the template.
    pub const MATCH: u32 = 0;
    /// Next word: a token id. Takes one token.
    pub const ID: u32 = 1;
    /// Next words: start and length of a set in `Ids`. Takes one token.
    pub const SET: u32 = 2;
    /// Takes one token that is no mark and no quotation.
    pub const ANY: u32 = 3;
    /// Next word: the other branch. Tries the following instruction first.
    pub const SPLIT: u32 = 4;
    /// Next word: where to go on.
    pub const JUMP: u32 = 5;
    /// Next words: slot number within the template, [`super::SlotKind`].
    pub const SLOT: u32 = 6;
    /// Next word: a token id. A mark that must stand here.
    pub const MARK: u32 = 7;
    /// Next words: low and high half of a bit set over `language * LISTS + list`. Takes one phrase.
    pub const LIST: u32 = 8;
}

/// Tags of the automaton's `accept` words (top byte).
pub mod accept {
    /// Low 32 bits: a token id.
    pub const ID: u8 = 0;
    /// Bits 0..32 start, 32..56 length of a set in `Ids`.
    pub const SET: u8 = 1;
    /// Any token that is no mark and no quotation.
    pub const ANY: u8 = 2;
    /// Low 32 bits: token flags of which one must be set.
    pub const CLASS: u8 = 3;
    /// Low 32 bits: the id of a mark.
    pub const MARK: u8 = 4;
    /// Any token but a mark.
    pub const TOKEN: u8 = 5;
}
