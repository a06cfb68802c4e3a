//! Where the nodes of a graph run: ONNX Runtime puts what a device cannot do on the processor and says nothing, so a
//! profile of one run is read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ort::session::Session;
use serde::Deserialize;

use super::ModelError;

/// Nodes of a graph by what runs them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// Nodes by provider, as ONNX Runtime names it.
    pub providers: BTreeMap<String, usize>,
    /// Matrix products and attention, by provider: what a model's time goes to.
    heavy: BTreeMap<String, BTreeSet<String>>,
}

/// An event of a profile; others than runs of nodes have no provider.
#[derive(Deserialize)]
struct Event {
    name: String,
    #[serde(default)]
    args: Arguments,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Arguments {
    op_name: String,
    provider: String,
}

/// Marks of operators that a model's time goes to: MatMul, MatMulNBits, FusedMatMul, Gemm, GroupQueryAttention …
const HEAVY: [&str; 3] = ["MatMul", "Gemm", "Attention"];
/// Names that a message lists.
const LISTED: usize = 3;

impl Placement {
    /// Ends the profile of a session that ran since it was opened, and reads it. The file is removed.
    pub(super) fn of(session: &mut Session) -> Result<Self, ModelError> {
        let path = session.end_profiling()?;
        let text = std::fs::read_to_string(&path).map_err(|error| ModelError::file(Path::new(&path), error));
        // It lies in the system's folder of temporary files, which somebody clears.
        let _ = std::fs::remove_file(&path);
        Self::read(&text?)
    }

    fn read(profile: &str) -> Result<Self, ModelError> {
        let events: Vec<Event> = serde_json::from_str(profile)
            .map_err(|error| ModelError::Runtime(format!("its profile cannot be read: {error}")))?;
        let mut seen = BTreeSet::new();
        let mut placement = Self::default();
        for Event { name, args } in events {
            let Some(name) = name.strip_suffix("_kernel_time").filter(|_| !args.provider.is_empty()) else {
                continue;
            };
            if !seen.insert(name.to_owned()) {
                continue;
            }
            *placement.providers.entry(args.provider.clone()).or_default() += 1;
            if HEAVY.iter().any(|mark| args.op_name.contains(mark)) {
                placement.heavy.entry(args.provider).or_default().insert(name.to_owned());
            }
        }
        Ok(placement)
    }

    /// What keeps a provider from having all matrix products and attention; None: it has them.
    pub(super) fn lacks(&self, provider: &str) -> Option<String> {
        let elsewhere: Vec<(&String, &String)> = self
            .heavy
            .iter()
            .filter(|(other, _)| *other != provider)
            .flat_map(|(other, nodes)| nodes.iter().map(move |node| (other, node)))
            .collect();
        if elsewhere.is_empty() {
            return self.heavy.is_empty().then(|| "the graph has no matrix products at all".to_owned());
        }
        let named: Vec<String> =
            elsewhere.iter().take(LISTED).map(|(other, node)| format!("{node} ({other})")).collect();
        let more = if elsewhere.len() > LISTED { " …" } else { "" };
        let total: usize = self.heavy.values().map(BTreeSet::len).sum();
        Some(format!(
            "{} of {total} matrix products and attention nodes run elsewhere: {}{more}",
            elsewhere.len(),
            named.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &str, op: &str, provider: &str) -> String {
        format!(
            r#"{{"cat":"Node","name":"{name}_kernel_time","args":{{"op_name":"{op}","provider":"{provider}"}}}}"#
        )
    }

    #[test]
    fn a_device_that_lacks_one_matrix_product_lacks_the_graph() -> Result<(), ModelError> {
        let gpu = "CUDAExecutionProvider";
        let mut events = vec![
            r#"{"cat":"Session","name":"model_run","args":{}}"#.to_owned(),
            event("a", "MatMulNBits", gpu),
            event("a", "MatMulNBits", gpu),
            event("b", "GroupQueryAttention", gpu),
            event("c", "Shape", "CPUExecutionProvider"),
        ];
        let read = Placement::read(&format!("[{}]", events.join(",")))?;
        assert_eq!(read.providers.values().copied().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(read.lacks(gpu), None, "a shape may be worked out on the processor");
        events.push(event("d", "Gemm", "CPUExecutionProvider"));
        let read = Placement::read(&format!("[{}]", events.join(",")))?;
        assert!(read.lacks(gpu).is_some_and(|said| said.contains("1 of 3") && said.contains("d (CPU")));
        assert!(Placement::default().lacks(gpu).is_some());
        assert!(Placement::read("oops").is_err());
        Ok(())
    }
}
