//! The `unsourced` label: every tool that was offered gives sources, and neither a result nor the answer names one.

use super::Material;
use crate::links::links;

pub(super) fn check(material: &Material<'_>) -> bool {
    !material.offered.is_empty()
        && material.offered.iter().all(|tool| tool.sourced)
        && !material.claims_nothing()
        && links(material.answer).is_empty()
        && material.done().all(|ran| links(&ran.result).is_empty())
}
