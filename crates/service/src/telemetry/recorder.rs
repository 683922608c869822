//! The metrics recorder and its text for `GET /metrics`. Every series that the program keeps up
//! starts at 0, so that an alert can distinguish "never happened" from "not measured".

use metrics::{Label, Recorder};
use metrics_exporter_prometheus::{
    Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder,
};

use super::TelemetryError;
use super::catalogue::{BUILD_INFO, Exporter, Kind, METRICS, SECONDS_BUCKETS, SIZES_BUCKETS};

/// Renders the recorded metrics.
#[derive(Clone)]
pub struct Exposition(PrometheusHandle);

impl Exposition {
    /// The Prometheus text format, version 0.0.4, for `GET /metrics`.
    pub fn render(&self) -> String {
        self.0.run_upkeep();
        self.0.render()
    }
}

/// Installs the process's recorder and registers the program's part of the catalogue, with the
/// configured rails' ids and chains' names.
pub fn install_recorder(
    exporter: Exporter,
    rails: &[String],
    chains: &[String],
) -> Result<Exposition, TelemetryError> {
    let recorder = build().map_err(TelemetryError::Metrics)?;
    let exposition = Exposition(recorder.handle());
    register(&recorder, exporter, rails, chains);
    metrics::set_global_recorder(recorder)
        .map_err(|error| TelemetryError::Metrics(error.to_string()))?;
    Ok(exposition)
}

fn build() -> Result<PrometheusRecorder, String> {
    let mut builder = PrometheusBuilder::new();
    for metric in METRICS {
        let buckets = match metric.kind {
            Kind::Seconds => SECONDS_BUCKETS,
            Kind::Sizes => SIZES_BUCKETS,
            Kind::Counter | Kind::Gauge => continue,
        };
        let name = Matcher::Full(metric.name.to_owned());
        builder =
            builder.set_buckets_for_metric(name, buckets).map_err(|error| error.to_string())?;
    }
    Ok(builder.build_recorder())
}

fn register(
    recorder: &PrometheusRecorder,
    exporter: Exporter,
    rails: &[String],
    chains: &[String],
) {
    metrics::with_local_recorder(recorder, || {
        for metric in METRICS.iter().filter(|metric| metric.is_exported_by(exporter)) {
            match metric.kind {
                Kind::Counter => metrics::describe_counter!(metric.name, metric.help),
                Kind::Gauge => metrics::describe_gauge!(metric.name, metric.help),
                Kind::Seconds | Kind::Sizes => {
                    metrics::describe_histogram!(metric.name, metric.help)
                }
            }
            for series in metric.series(rails, chains) {
                let labels: Vec<Label> =
                    series.into_iter().map(|(name, value)| Label::new(name, value)).collect();
                match metric.kind {
                    Kind::Counter => metrics::counter!(metric.name, labels).absolute(0),
                    Kind::Gauge => metrics::gauge!(metric.name, labels).set(0.0),
                    Kind::Seconds | Kind::Sizes => drop(metrics::histogram!(metric.name, labels)),
                }
            }
        }
    });
    build_info(recorder);
}

fn build_info(recorder: &PrometheusRecorder) {
    metrics::with_local_recorder(recorder, || {
        let (name, help) = BUILD_INFO;
        recorder.describe_gauge(name.into(), None, help.into());
        metrics::gauge!(name, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_is_there_at_zero_from_the_start() {
        let recorder = build().expect("builds");
        let exposition = Exposition(recorder.handle());
        let (rails, chains) = (["pak-raast".to_owned()], ["ethereum".to_owned()]);
        register(&recorder, Exporter::Service, &rails, &chains);
        let text = exposition.render();
        // Some labels have no values before their first use.
        let known = METRICS.iter().filter(|metric| !metric.series(&rails, &chains).is_empty());
        for metric in known {
            assert!(
                text.contains(&format!("# HELP {} {}", metric.name, metric.help)),
                "{} has no help",
                metric.name
            );
            assert!(
                text.lines().any(|line| line.starts_with(metric.name)),
                "{} has no series",
                metric.name
            );
        }
        for line in [
            "corridor_payments_total{country=\"PAK\",status=\"succeeded\"} 0",
            "corridor_rail_faults_total{rail=\"pak-raast\"} 0",
            "corridor_ledger_imbalance 0",
            "corridor_payment_settle_seconds_count{country=\"VNM\"} 0",
            "corridor_batch_commands_bucket{le=\"+Inf\"} 0",
        ] {
            assert!(text.lines().any(|found| found == line), "missing {line:?} in\n{text}");
        }
        assert!(!text.contains(" NaN"), "{text}");
    }

    #[test]
    fn a_relay_exports_only_what_it_measures() {
        let recorder = build().expect("builds");
        let exposition = Exposition(recorder.handle());
        let (rails, chains) = (["pak-raast".to_owned()], ["ethereum".to_owned()]);
        register(&recorder, Exporter::Relay, &rails, &chains);
        let text = exposition.render();
        let mut names: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split(['{', ' ']).next())
            .filter(|name| !name.is_empty())
            .collect();
        names.sort_unstable();
        let expected = [
            "corridor_build_info",
            "corridor_connections_refused_total",
            "corridor_trace_export_faults_total",
            "corridor_trace_rejected_spans_total",
        ];
        assert_eq!(names, expected, "{text}");
    }

    #[test]
    fn recorded_metrics_are_rendered() {
        let recorder = build().expect("builds");
        let exposition = Exposition(recorder.handle());
        register(&recorder, Exporter::Service, &[], &[]);
        metrics::with_local_recorder(&recorder, || {
            metrics::counter!("corridor_payments_total", "country" => "PAK", "status" => "queued")
                .increment(3);
            metrics::histogram!("corridor_batch_commands").record(3.0);
        });
        let text = exposition.render();
        assert!(
            text.contains("corridor_payments_total{country=\"PAK\",status=\"queued\"} 3"),
            "{text}"
        );
        assert!(text.contains("corridor_batch_commands_bucket{le=\"4\"} 1"), "{text}");
    }
}
