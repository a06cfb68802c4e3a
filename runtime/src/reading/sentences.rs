//! Sentences of a paragraph, in German and English.

/// Shortenings whose full stop ends no sentence.
const SHORT: &[&str] = &[
    "abb", "al", "approx", "art", "bd", "bspw", "bzw", "ca", "cf", "co", "corp", "d.h", "dr", "e.g", "eig",
    "engl", "etc", "evtl", "fig", "franz", "geb", "gest", "ggf", "griech", "hl", "hr", "hrsg", "i.e", "inc",
    "inkl", "jh", "jr", "jun", "lat", "ltd", "max", "min", "mio", "mr", "mrd", "mrs", "ms", "mt", "nr", "p",
    "prof", "rd", "s", "sen", "sog", "sr", "st", "std", "str", "u.a", "u.s", "usw", "vgl", "vol", "vs",
    "z.b", "zzgl",
];

/// The sentences of a paragraph, in order; together they are the paragraph but for white space between them.
#[must_use]
pub fn sentences(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if !matches!(c, '.' | '!' | '?' | '…' | '。' | '？' | '！') {
            continue;
        }
        let mut end = at + c.len_utf8();
        while let Some((at, c)) = chars.peek().copied() {
            if !matches!(c, '.' | '!' | '?' | '"' | '\'' | '”' | '“' | '’' | '»' | '«' | ')' | ']') {
                break;
            }
            end = at + c.len_utf8();
            chars.next();
        }
        let rest = text.get(end..).unwrap_or_default();
        let wide = matches!(c, '。' | '？' | '！');
        if !rest.is_empty() && !wide && !rest.starts_with(char::is_whitespace) {
            continue;
        }
        let next = rest
            .trim_start()
            .trim_start_matches(['"', '\'', '„', '“', '”', '«', '»', '(', '[', '–', '-', ' '])
            .chars()
            .next();
        if c == '.' && !rest.is_empty() && !ends_here(text.get(start..at).unwrap_or_default(), next) {
            continue;
        }
        push(&mut out, text.get(start..end));
        start = end;
    }
    push(&mut out, text.get(start..));
    out
}

fn push<'t>(out: &mut Vec<&'t str>, sentence: Option<&'t str>) {
    let sentence = sentence.unwrap_or_default().trim();
    if !sentence.is_empty() {
        out.push(sentence);
    }
}

/// Whether a full stop behind `before` ends a sentence that `next` follows.
fn ends_here(before: &str, next: Option<char>) -> bool {
    if !next.is_some_and(|next| next.is_uppercase() || next.is_numeric() || !next.is_alphabetic()) {
        return false;
    }
    let word = before
        .rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '[' | '"' | '„'))
        .next()
        .unwrap_or_default();
    let lower = word.to_lowercase();
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    // "6. Mai", "19. Jahrhundert", "J. R. R. Tolkien", "Dr. Lind", "z. B. Lind".
    let ordinal = letters == 0
        && (1..=2).contains(&digits)
        && digits == word.len()
        && next.is_some_and(char::is_alphabetic);
    let initial = letters == 1 && word.chars().count() == 1;
    !(ordinal || initial || SHORT.binary_search(&lower.as_str()).is_ok())
}

#[cfg(test)]
mod tests {
    use super::{SHORT, sentences};

    #[test]
    fn sentences_end_where_a_reader_ends_them() {
        assert!(SHORT.is_sorted());
        for (text, count) in [
            ("Er wurde am 6. Mai 2025 gewählt. Er ist Jurist.", 2),
            ("Dr. Lind met J. R. R. Tolkien, e.g. in Oxford. They talked.", 2),
            ("Es kostet 3.50 Euro. \"Gut!\", sagte sie. Dann ging sie.", 3),
            ("What? Yes! Fine…", 3),
            ("Im 19. Jahrhundert lebten ca. 5.000 Menschen dort, z. B. Fischer.", 1),
            ("In 1931. In 1932.", 2),
            ("東京は首都です。人口は多い。", 2),
            ("no end", 1),
            ("", 0),
            ("...", 1),
        ] {
            assert_eq!(sentences(text).len(), count, "{text}: {:?}", sentences(text));
        }
    }
}
