//! `invented-source`: an address in the answer that nothing returned and nobody named.

use super::{Finding, Material};
use crate::links::{links, normal};

const RULE: &str = "invented-source";

pub(super) fn check(material: &Material<'_>) -> Vec<Finding> {
    let addresses =
        |text: &str| links(text).into_iter().filter_map(|span| normal(text.get(span)?)).collect::<Vec<_>>();
    let arguments =
        material.tools.iter().flat_map(|ran| ran.arguments.values()).filter_map(|value| value.as_str());
    let earlier = material.history.iter().map(|said| said.content.as_str());
    let known: Vec<(String, String)> = material
        .done()
        .map(|ran| ran.result.as_str())
        .chain(material.users())
        .chain(earlier)
        .chain(arguments.filter(|_| true))
        .flat_map(addresses)
        .collect();
    let mut out = Vec::new();
    for span in links(material.answer) {
        let written = material.answer.get(span.clone()).unwrap_or_default();
        let grounded = normal(written).is_some_and(|cited| known.iter().any(|known| belongs(&cited, known)));
        if grounded {
            continue;
        }
        let source = latest(material);
        let correction = match &source {
            Some(source) => material.reply("correct-link", &[("link", written), ("source", source)]),
            None => material.reply("correct-link-none", &[("link", written)]),
        };
        out.push(Finding { rule: RULE, span, evidence: source.into_iter().collect(), correction });
    }
    out
}

/// One host, and one path the begin of the other by whole segments: the site of a page that was read may be cited.
fn belongs(cited: &(String, String), known: &(String, String)) -> bool {
    let begins = |short: &str, long: &str| {
        long.strip_prefix(short)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']) || short.is_empty())
    };
    cited.0 == known.0 && (begins(&cited.1, &known.1) || begins(&known.1, &cited.1))
}

/// The first address of the latest result that has one: a page that was read goes before a hit.
pub(super) fn latest(material: &Material<'_>) -> Option<String> {
    material.done().rev().find_map(|ran| {
        links(&ran.result).into_iter().next().and_then(|span| ran.result.get(span)).map(str::to_owned)
    })
}
