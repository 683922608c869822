//! Checks the files in `ops/` against the program: every option, variable, path, port, metric and
//! label in a unit, container, chart, dashboard or runbook exists. The packages themselves: `cargo
//! xtask package --check`.

mod chart;
mod containers;
mod known;
mod metrics;
mod proxies;
mod runbook;
mod template;
mod unit;

use serde_json::Value;

/// A file of the repository.
fn tree(path: &str) -> String {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The non-empty documents of a YAML file.
fn documents(text: &str) -> Vec<Value> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(text)
        .unwrap_or_else(|error| panic!("no YAML: {error}\n{text}"));
    documents.into_iter().filter(|document| !document.is_null()).collect()
}

/// The only document of a YAML file.
fn document(text: &str) -> Value {
    let [document] = <[Value; 1]>::try_from(documents(text)).expect("one document");
    document
}
