//! German or English, by the words that hold a sentence together.

/// A language that code can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tongue {
    /// German.
    German,
    /// English.
    English,
}

impl Tongue {
    /// Its tag.
    #[must_use]
    pub fn tag(self) -> &'static str {
        match self {
            Self::German => "de",
            Self::English => "en",
        }
    }

    /// The language of a tag, English for every other.
    #[must_use]
    pub fn of_tag(tag: &str) -> Self {
        if tag.starts_with("de") { Self::German } else { Self::English }
    }
}

/// Function words that the other language does not have, sorted. "was", "in", "an", "also", "die", "war" and "so" are
/// words of both and in neither list.
const GERMAN: &[&str] = &[
    "aber", "alle", "als", "am", "auch", "auf", "aus", "bei", "beim", "bin", "bis", "bist", "da", "damit",
    "dann", "das", "dass", "dem", "den", "denn", "der", "des", "dich", "dies", "diese", "dieser", "dir",
    "doch", "du", "durch", "ein", "eine", "einem", "einen", "einer", "eines", "er", "es", "euch", "fand",
    "für", "gab", "gegen", "gibt", "habe", "haben", "hast", "heute", "hier", "ich", "ihm", "ihn", "ihr",
    "ihre", "im", "ins", "ist", "ja", "jetzt", "kann", "kannst", "kein", "keine", "können", "man", "mehr",
    "mein", "meine", "mich", "mir", "mit", "muss", "nach", "nein", "nicht", "noch", "nur", "ob", "oder",
    "ohne", "schon", "sehr", "sein", "seine", "seit", "sich", "sie", "sind", "soll", "sondern", "und", "uns",
    "unter", "vom", "von", "vor", "wann", "warum", "weil", "wenn", "wer", "werden", "wie", "wieso", "wir",
    "wird", "wo", "wurde", "wurden", "zu", "zum", "zur", "zwischen", "über",
];
const ENGLISH: &[&str] = &[
    "a", "about", "after", "and", "are", "as", "at", "be", "because", "been", "before", "being", "between",
    "but", "by", "can", "could", "did", "do", "does", "for", "from", "had", "has", "have", "having", "he",
    "her", "him", "his", "how", "i", "if", "into", "is", "it", "its", "itself", "just", "me", "might",
    "more", "most", "much", "must", "my", "no", "not", "of", "on", "one", "only", "or", "other", "our",
    "out", "over", "please", "shall", "she", "should", "since", "some", "still", "such", "tell", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "through", "to",
    "under", "until", "up", "very", "we", "were", "what", "when", "where", "whether", "which", "while",
    "who", "whom", "whose", "why", "will", "with", "within", "without", "would", "yes", "yet", "you", "your",
];

/// Marks of each language in a text: function words, and an umlaut for German.
#[must_use]
pub(crate) fn marks(text: &str) -> (usize, usize) {
    let (mut german, mut english) = (0, 0);
    let mut umlaut = false;
    for word in text.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty()) {
        let lower = word.to_lowercase();
        german += usize::from(GERMAN.binary_search(&lower.as_str()).is_ok());
        english += usize::from(ENGLISH.binary_search(&lower.as_str()).is_ok());
        umlaut |= lower.contains(['ä', 'ö', 'ü', 'ß']);
    }
    (german + usize::from(umlaut), english)
}

/// The language of a text; None where neither has more marks.
#[must_use]
pub fn tongue(text: &str) -> Option<Tongue> {
    let (german, english) = marks(text);
    match german.cmp(&english) {
        std::cmp::Ordering::Greater => Some(Tongue::German),
        std::cmp::Ordering::Less => Some(Tongue::English),
        std::cmp::Ordering::Equal => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_by_what_only_one_has() {
        assert!(GERMAN.is_sorted() && ENGLISH.is_sorted());
        assert_eq!(tongue("Wer ist der Bundeskanzler?"), Some(Tongue::German));
        assert_eq!(tongue("who was Ada Lovelace"), Some(Tongue::English));
        assert_eq!(tongue("was hat Clara gemacht, und wann"), Some(Tongue::German));
        assert_eq!(tongue("1inch"), None);
        assert_eq!(tongue("Bürgermeister Köln"), Some(Tongue::German));
    }
}
