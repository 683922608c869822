//! Logs, traces and metrics of the process. Telemetry never changes the service's behaviour, and
//! must not receive secret or personal data.

pub mod catalogue;
mod json_fields;
mod otlp;
pub mod recorder;

use std::io::IsTerminal;

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};

use config::{Config, LogFormat};

pub use otlp::{continue_trace, current_traceparent};
pub use recorder::{Exposition, install_recorder};

/// Why telemetry could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The filter is invalid.
    #[error("telemetry.log_filter: {0}")]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    /// The trace exporter could not be built.
    #[error("telemetry.otlp_endpoint: {0}")]
    Traces(String),
    /// Another subscriber is already installed.
    #[error("logging is already set up: {0}")]
    Installed(#[from] tracing_subscriber::util::TryInitError),
    /// The metrics recorder could not be installed.
    #[error("metrics: {0}")]
    Metrics(String),
}

type BoxedLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// Keeps the trace exporter alive. Dropping it flushes pending spans; drop it outside the async
/// runtime.
#[must_use = "traces are lost when this is dropped early"]
pub struct TelemetryGuard {
    traces: Option<otlp::Traces>,
}

impl Drop for TelemetryGuard {
    fn drop(&mut self) {
        if let Some(traces) = self.traces.take() {
            traces.shut_down();
        }
    }
}

fn without_blanks(filter: &str) -> String {
    filter.split(',').map(str::trim).collect::<Vec<_>>().join(",")
}

/// Starts logging to stderr and, if an endpoint is configured, OTLP traces. `RUST_LOG` takes precedence over
/// `telemetry.log_filter`; traces have the spans and events of level info, whatever is logged.
pub fn init(config: &Config) -> Result<TelemetryGuard, TelemetryError> {
    let filter = match std::env::var(EnvFilter::DEFAULT_ENV) {
        Ok(given) if !given.is_empty() => EnvFilter::try_new(given)?,
        // EnvFilter takes a blank before a part for a letter of its target.
        _ => EnvFilter::try_new(without_blanks(&config.telemetry.log_filter))?,
    };
    let traces = otlp::Traces::start(config).map_err(TelemetryError::Traces)?;
    let log = log_layer(config.telemetry.log_format);
    tracing_subscriber::registry().with(layers(traces.as_ref(), log, filter)).try_init()?;
    Ok(TelemetryGuard { traces })
}

fn layers(traces: Option<&otlp::Traces>, log: BoxedLayer, filter: EnvFilter) -> Vec<BoxedLayer> {
    let spans = traces.map(|traces| traces.layer().with_filter(LevelFilter::INFO).boxed());
    spans.into_iter().chain([log.with_filter(filter).boxed()]).collect()
}

fn log_layer(format: LogFormat) -> BoxedLayer {
    let terminal = std::io::stderr().is_terminal();
    let human = match format {
        LogFormat::Auto => terminal,
        LogFormat::Human => true,
        LogFormat::Json => false,
    };
    if human {
        let colours = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        return fmt::layer().with_writer(std::io::stderr).with_ansi(colours).boxed();
    }
    fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(true)
        .with_span_list(false)
        .fmt_fields(json_fields::JsonFields)
        .with_writer(std::io::stderr)
        .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_do_not_depend_on_what_is_logged() {
        for filter in ["warn", "off", "error,cli=info"] {
            let (traces, sent) = otlp::tests::kept();
            let log = fmt::layer().with_writer(std::io::sink).boxed();
            let layers = layers(Some(&traces), log, EnvFilter::try_new(filter).expect("valid"));
            tracing::subscriber::with_default(tracing_subscriber::registry().with(layers), || {
                tracing::info_span!("deliver")
                    .in_scope(|| tracing::debug_span!("detail").in_scope(|| {}));
            });
            assert_eq!(sent.names(), ["deliver"], "{filter}");
        }
    }
}
