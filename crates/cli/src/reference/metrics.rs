//! Every metric of the catalogue.

use std::fmt::Write as _;

use super::{check, head};
use service::telemetry::catalogue::{
    BUILD_INFO, Kind, METRICS, Metric, SECONDS_BUCKETS, SIZES_BUCKETS, Values,
};

const WORDS: &str = "
`GET /metrics` returns the Prometheus text format. Each series exists from the start, at 0. Histograms have
`_bucket`, `_sum` and `_count`. Gauges about the store are read on request. `corridor relay run` exports only the metrics
with a label `relay`, `corridor_build_info`, `corridor_connections_refused_total` and those of traces.
";

fn kind(metric: &Metric) -> &'static str {
    match metric.kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Seconds => "histogram of seconds",
        Kind::Sizes => "histogram of sizes",
    }
}

fn labels(metric: &Metric) -> String {
    let label = |(name, values): &(&str, Values)| {
        let values = match values {
            Values::Known(known) => known.join(", "),
            Values::Countries => "the destination countries".to_owned(),
            Values::Rails => "the configured rails".to_owned(),
            Values::Chains => "the configured chains".to_owned(),
            Values::Signers => "the addresses of the keys that sign on the chain".to_owned(),
            Values::Lists => "the names of the loaded lists".to_owned(),
            Values::Relays => "the names of the relays".to_owned(),
        };
        format!("`{name}`: {values}")
    };
    metric.labels.iter().map(label).collect::<Vec<_>>().join("; ")
}

fn bounds<T: ToString>(buckets: &[T]) -> String {
    buckets.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[test]
fn metrics_md_is_the_catalogue() {
    let mut out = head("Metrics") + WORDS;
    let (name, help) = BUILD_INFO;
    write!(out, "\n## {name}\n\n{help}. A gauge. Labels: `version`.\n")
        .expect("writing to a string");
    for metric in METRICS {
        let (name, kind, help) = (metric.name, kind(metric), metric.help);
        write!(out, "\n## {name}\n\n{help}. A {kind}").expect("writing to a string");
        let labels = labels(metric);
        let end =
            if labels.is_empty() { ".\n".to_owned() } else { format!(". Labels: {labels}.\n") };
        out.push_str(&end);
    }
    let (seconds, sizes) = (bounds(SECONDS_BUCKETS), bounds(SIZES_BUCKETS));
    write!(out, "\n## Buckets\n\nSeconds: {seconds}.\n\nSizes: {sizes}.\n")
        .expect("writing to a string");
    check("metrics.md", &out);
}
