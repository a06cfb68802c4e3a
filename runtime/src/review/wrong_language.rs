//! `wrong-language`: a German question answered in English, or the other way round.

use super::{Finding, Material, without_links};
use crate::research::{Tongue, language_marks};

/// Function words that make a language certain (reference: 3, and a strict majority).
const CERTAIN: usize = 3;

pub(super) fn check(material: &Material<'_>) -> Option<Finding> {
    let asked = certain(material.question)?;
    let answered = certain(material.answer)?;
    if asked == answered {
        return None;
    }
    let key = if asked == Tongue::German { "correct-language-de" } else { "correct-language-en" };
    let text =
        material.languages.iter().find(|language| language.name == asked.tag()).unwrap_or(material.language);
    let correction = Material { language: text, ..*material }.reply(key, &[]);
    Some(Finding {
        rule: "wrong-language",
        span: material.whole(),
        evidence: vec![asked.tag().to_owned(), answered.tag().to_owned()],
        correction,
    })
}

/// The language of a text that has enough of one; titles in quotation marks are in any.
fn certain(text: &str) -> Option<Tongue> {
    let mut plain = String::new();
    let mut quoted = false;
    for c in without_links(text).chars() {
        match c {
            '"' => quoted = !quoted,
            '„' | '«' | '“' if !quoted => quoted = true,
            '“' | '”' | '»' if quoted => quoted = false,
            _ if !quoted => plain.push(c),
            _ => {}
        }
    }
    let (german, english) = language_marks(&plain);
    if german >= CERTAIN && german > english {
        Some(Tongue::German)
    } else if english >= CERTAIN && english > german {
        Some(Tongue::English)
    } else {
        None
    }
}
