//! Bits of a token: its kind, its place in a written word, the word lists that hold it.

/// Letters, marks and digits.
pub const WORD: u32 = 1;
/// Digits with their separators.
pub const NUMBER: u32 = 1 << 1;
/// `http://…`, `https://…` or `www.…`.
pub const URL: u32 = 1 << 2;
/// `+ - * / = % ^ # @ & °` or a currency.
pub const SYMBOL: u32 = 1 << 3;
/// Other punctuation, emoji, line breaks.
pub const MARK: u32 = 1 << 4;
/// A short quotation or inline code: one written word that only slots match.
pub const QUOTE: u32 = 1 << 5;
/// Belongs to the written word that began before it.
pub const CONTINUES: u32 = 1 << 6;
/// Its written word is a name: at most 24 characters, a letter, a content word.
pub const NAME: u32 = 1 << 7;
/// Its written word is a name with letter and digit.
pub const MIXED: u32 = 1 << 8;
/// Stands right after a negator.
pub const NEGATED: u32 = 1 << 9;
/// An opening or closing bracket (a mark).
pub const BRACKET: u32 = 1 << 10;
/// A misspelled word, read as one of the vocabulary.
pub const MISSPELLED: u32 = 1 << 11;
/// First of the bits that say which lists hold the word, in the order of `layout::LISTS`.
pub const FIRST_LIST: u32 = 12;
/// Begins a phrase of some list or a keyword.
pub const PHRASE_START: u32 = 1 << 24;
/// Expands to other words.
pub const EXPANDS: u32 = 1 << 25;
/// Holds a character of a language's `spelling` as written (an umlaut).
pub const SPELLED: u32 = 1 << 26;
/// Its first character is a digit.
pub const STARTS_DIGIT: u32 = 1 << 27;
/// Its last character is a digit.
pub const ENDS_DIGIT: u32 = 1 << 28;
/// Of a token: an apostrophe was written in it. Of a word that expands: it does only with its apostrophe.
pub const APOSTROPHE: u32 = 1 << 29;
/// A Han or kana character, one word by itself.
pub const SINGLE: u32 = 1 << 30;
/// A pasted part that is not read (a mark).
pub const MASKED: u32 = 1 << 31;

/// In `asks`.
pub const ASKS: u32 = 1 << (FIRST_LIST + 3);
/// In `requests`.
pub const REQUESTS: u32 = 1 << (FIRST_LIST + 4);
/// In `anaphors`.
pub const ANAPHORS: u32 = 1 << (FIRST_LIST + 5);
/// In `articles`.
pub const ARTICLES: u32 = 1 << (FIRST_LIST + 6);
/// In `times`.
pub const TIMES: u32 = 1 << (FIRST_LIST + 7);
/// In `polite`.
pub const POLITE: u32 = 1 << (FIRST_LIST + 8);
/// In `negators`.
pub const NEGATORS: u32 = 1 << (FIRST_LIST + 9);
/// In `operators`.
pub const OPERATORS: u32 = 1 << (FIRST_LIST + 10);
/// In `stopwords`.
pub const STOPWORDS: u32 = 1 << (FIRST_LIST + 11);
/// A word in one of these lists is no content word.
pub const NOT_CONTENT: u32 = STOPWORDS | ASKS | REQUESTS | ARTICLES | POLITE | ANAPHORS | TIMES;

/// The bit of a list by its number in `layout::LISTS`.
#[must_use]
pub fn list_flag(list: usize) -> u32 {
    1 << (FIRST_LIST + list as u32)
}
