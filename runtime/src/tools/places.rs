//! Maps place names in German and English to time zones: a table from CLDR (`runtime/data/places.py`) and one of
//! well-known cities and regions that CLDR does not name (`runtime/data/cities.tsv`).

use caseless::Caseless;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

const TABLES: [&str; 2] = [include_str!("../../data/places.tsv"), include_str!("../../data/cities.tsv")];

/// Where a name leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// One zone, with the name as CLDR spells it.
    Zone { name: &'static str, zone: &'static str },
    /// A territory with several zones.
    Several { name: &'static str, zones: Vec<&'static str> },
    /// Unknown; the nearest known names.
    Unknown { nearest: Vec<&'static str> },
}

/// Folds a name the way the table is folded.
fn fold(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.nfc().default_case_fold().nfc() {
        match c {
            'ä' => out.push_str("ae"),
            'ö' => out.push_str("oe"),
            'ü' => out.push_str("ue"),
            '\'' | '’' | '‘' | 'ʼ' | '`' => {}
            '-' | '.' | '‐' | '‑' | '–' | '—' => out.push(' '),
            _ if c.general_category() == GeneralCategory::Format => {}
            _ => out.push(c),
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn rows() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    TABLES.iter().flat_map(|table| table.lines()).filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut columns = line.split('\t');
        let (folded, name, _language, zones) =
            (columns.next()?, columns.next()?, columns.next()?, columns.next()?);
        Some((folded, name, zones))
    })
}

/// Finds a place.
pub(super) fn find(name: &str) -> Found {
    // A name may stand in quotes.
    let name = name.trim_matches(|c: char| matches!(c, '"' | '„' | '“' | '”' | '«' | '»' | '\'' | '`'));
    let folded = fold(name);
    let row = rows().find(|(known, ..)| *known == folded).or_else(|| {
        // "the Netherlands" and "die Schweiz": an article is no part of the name.
        let (article, rest) = folded.split_once(' ')?;
        let articles = ["the", "der", "die", "das", "den", "dem"];
        articles.contains(&article).then(|| rows().find(|(known, ..)| *known == rest)).flatten()
    });
    let Some((_, name, zones)) = row else { return Found::Unknown { nearest: nearest(&folded) } };
    let zones: Vec<&'static str> = zones.split(',').collect();
    match zones.as_slice() {
        [zone] => Found::Zone { name, zone },
        _ => Found::Several { name, zones },
    }
}

fn nearest(folded: &str) -> Vec<&'static str> {
    let limit = 1.max(folded.chars().count() / 4);
    let mut close: Vec<(usize, &'static str)> = rows()
        .map(|(known, name, _)| (strsim::damerau_levenshtein(folded, known), name))
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    close.sort_unstable();
    close.dedup_by_key(|(_, name)| *name);
    close.into_iter().take(3).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_both_languages_lead_to_zones() {
        for (name, zone) in [
            ("Deutschland", "Europe/Berlin"),
            ("germany", "Europe/Berlin"),
            ("Tokio", "Asia/Tokyo"),
            ("TOKYO", "Asia/Tokyo"),
            ("Lissabon", "Europe/Lisbon"),
            ("New York", "America/New_York"),
            ("new-york", "America/New_York"),
            ("São Paulo", "America/Sao_Paulo"),
            ("sao paulo", "America/Sao_Paulo"),
            ("Österreich", "Europe/Vienna"),
            ("Oesterreich", "Europe/Vienna"),
            ("die Schweiz", "Europe/Zurich"),
            ("München", "Europe/Berlin"),
            ("muenchen", "Europe/Berlin"),
            ("St. Petersburg", "Europe/Moscow"),
            ("Neu-Delhi", "Asia/Kolkata"),
            ("San Francisco", "America/Los_Angeles"),
            ("NYC", "America/New_York"),
            ("utc", "Etc/UTC"),
            ("„Tokio“", "Asia/Tokyo"),
        ] {
            assert!(
                matches!(find(name), Found::Zone { zone: found, .. } if found == zone),
                "{name}: {:?}",
                find(name)
            );
        }
        assert!(matches!(find("USA"), Found::Several { zones, .. } if zones.contains(&"America/New_York")));
        assert_eq!(find("Lissabonn"), Found::Unknown { nearest: vec!["Lissabon"] });
    }

    #[test]
    fn every_zone_of_the_table_is_known() {
        let mut seen = std::collections::HashSet::new();
        for (folded, _, zones) in rows() {
            assert_eq!(fold(folded), folded);
            assert!(seen.insert(folded), "{folded} stands twice");
            for zone in zones.split(',') {
                assert!(jiff::tz::TimeZone::get(zone).is_ok(), "{zone}");
            }
        }
    }
}
