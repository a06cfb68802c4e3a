//! Numbers written in words, English and German: "forty two", "one hundred and five", "siebenundzwanzig".

/// Words below twenty and the tens.
const WORDS: &[(&str, u64)] = &[
    ("zero", 0),
    ("null", 0),
    ("one", 1),
    ("eins", 1),
    ("two", 2),
    ("zwei", 2),
    ("zwo", 2),
    ("three", 3),
    ("drei", 3),
    ("four", 4),
    ("vier", 4),
    ("five", 5),
    ("fünf", 5),
    ("fuenf", 5),
    ("six", 6),
    ("sechs", 6),
    ("seven", 7),
    ("sieben", 7),
    ("eight", 8),
    ("acht", 8),
    ("nine", 9),
    ("neun", 9),
    ("ten", 10),
    ("zehn", 10),
    ("eleven", 11),
    ("elf", 11),
    ("twelve", 12),
    ("zwölf", 12),
    ("zwoelf", 12),
    ("thirteen", 13),
    ("dreizehn", 13),
    ("fourteen", 14),
    ("vierzehn", 14),
    ("fifteen", 15),
    ("fünfzehn", 15),
    ("fuenfzehn", 15),
    ("sixteen", 16),
    ("sechzehn", 16),
    ("seventeen", 17),
    ("siebzehn", 17),
    ("eighteen", 18),
    ("achtzehn", 18),
    ("nineteen", 19),
    ("neunzehn", 19),
    ("twenty", 20),
    ("zwanzig", 20),
    ("thirty", 30),
    ("dreißig", 30),
    ("dreissig", 30),
    ("forty", 40),
    ("vierzig", 40),
    ("fifty", 50),
    ("fünfzig", 50),
    ("fuenfzig", 50),
    ("sixty", 60),
    ("sechzig", 60),
    ("seventy", 70),
    ("siebzig", 70),
    ("eighty", 80),
    ("achtzig", 80),
    ("ninety", 90),
    ("neunzig", 90),
];

/// Words that multiply what stands before them.
const SCALES: &[(&str, u64)] = &[
    ("hundred", 100),
    ("hundert", 100),
    ("thousand", 1_000),
    ("tausend", 1_000),
    ("million", 1_000_000),
    ("millionen", 1_000_000),
    ("billion", 1_000_000_000),
    ("milliarde", 1_000_000_000),
    ("milliarden", 1_000_000_000),
];

fn value(word: &str) -> Option<u64> {
    WORDS.iter().find(|(known, _)| *known == word).map(|&(_, value)| value)
}

fn scale(word: &str) -> Option<u64> {
    SCALES.iter().find(|(known, _)| *known == word).map(|&(_, value)| value)
}

/// Reads the number in words that a lower-case text starts with; returns it and its length in bytes.
pub(super) fn read(text: &str) -> Option<(u64, usize)> {
    let mut total = 0_u64;
    let mut current = 0_u64;
    let mut found = None;
    let mut at = 0;
    // Digits of one group that a smaller word may still fill: forty + two, hundred + five.
    let mut room = u64::MAX;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let length = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or_default();
        if let Some(scale) = scale(word) {
            if scale == 100 {
                current = current.max(1).checked_mul(100)?;
            } else {
                total = total.checked_add(current.max(1).checked_mul(scale)?)?;
                current = 0;
            }
            room = scale;
        } else if let Some(value) = value(word).or_else(|| compound(word)).filter(|&value| value < room) {
            current = current.checked_add(value)?;
            room = if (20..100).contains(&value) && value % 10 == 0 { 10 } else { 0 };
        } else if !(found.is_some() && word == "and" && room >= 100) {
            return found;
        }
        at += length;
        if word != "and" {
            found = Some((total.checked_add(current)?, at));
        }
        let gap = text.get(at..).and_then(|rest| rest.chars().next());
        match gap {
            Some(' ' | '-') => at += 1,
            _ => return found,
        }
    }
}

/// A German number in one word: "siebenundzwanzig", "zweihundertfünf", "dreitausend".
fn compound(word: &str) -> Option<u64> {
    if let Some((head, tail)) = word.split_once("tausend") {
        let thousands = if head.is_empty() { 1 } else { below_thousand(head)? };
        let rest =
            if tail.is_empty() { 0 } else { below_thousand(tail.strip_prefix("und").unwrap_or(tail))? };
        return Some(thousands * 1_000 + rest);
    }
    below_thousand(word)
}

fn below_thousand(word: &str) -> Option<u64> {
    if let Some((head, tail)) = word.split_once("hundert") {
        let hundreds = if head.is_empty() { 1 } else { part(head)? };
        let rest = if tail.is_empty() { 0 } else { below_hundred(tail.strip_prefix("und").unwrap_or(tail))? };
        return (hundreds < 10).then_some(hundreds * 100 + rest);
    }
    below_hundred(word)
}

fn below_hundred(word: &str) -> Option<u64> {
    if let Some((unit, ten)) = word.split_once("und")
        && let (Some(unit), Some(ten)) = (part(unit), value(ten))
        && unit < 10
        && ten >= 20
    {
        return Some(unit + ten);
    }
    part(word)
}

/// A number inside a compound; "ein" is one there.
fn part(word: &str) -> Option<u64> {
    if word == "ein" { Some(1) } else { value(word) }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn both_languages_are_read_as_far_as_they_go() {
        for (text, expected) in [
            ("forty two", Some((42, 9))),
            ("forty-two plus", Some((42, 9))),
            ("one hundred and five", Some((105, 20))),
            ("two thousand three hundred", Some((2_300, 26))),
            ("three and four", Some((3, 5))),
            ("two three", Some((2, 3))),
            ("siebenundzwanzig", Some((27, 16))),
            ("zweihundertfünf mal", Some((205, 16))),
            ("dreitausendeinhundert", Some((3_100, 21))),
            ("fünf", Some((5, 5))),
            ("mal", None),
            ("einhorn", None),
            ("", None),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
