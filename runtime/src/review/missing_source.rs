//! `missing-source`: a result names an address, the answer none.

use super::invented_source::latest;
use super::{Finding, Material};
use crate::links::links;

pub(super) fn check(material: &Material<'_>) -> Option<Finding> {
    let source = latest(material)?;
    if !links(material.answer).is_empty() || material.claims_nothing() {
        return None;
    }
    let correction = material.reply("correct-source", &[("source", &source)]);
    Some(Finding { rule: "missing-source", span: material.whole(), evidence: vec![source], correction })
}
