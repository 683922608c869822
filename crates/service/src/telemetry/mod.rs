//! Logs, traces and metrics of the process. Telemetry never changes the service's behaviour, and
//! must not receive secret or personal data.

pub mod catalogue;
mod json_fields;
mod otlp;
pub mod recorder;

use std::ffi::OsStr;
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
    /// `RUST_LOG` is invalid: taken as it is, it would silence the log.
    #[error("RUST_LOG: {}; unset it to log as telemetry.log_filter says", config::FILTER_RULE)]
    Variable,
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

/// The filter that `RUST_LOG` states, or else the configuration.
fn filter(given: Option<&OsStr>, configured: &str) -> Result<EnvFilter, TelemetryError> {
    // EnvFilter takes a blank before a part for a letter of its target.
    let without_blanks =
        |filter: &str| filter.split(',').map(str::trim).collect::<Vec<_>>().join(",");
    let given = given.map(|given| given.to_str().ok_or(TelemetryError::Variable)).transpose()?;
    match given.filter(|given| !given.trim().is_empty()) {
        Some(given) if config::is_log_filter(given) => {
            EnvFilter::try_new(without_blanks(given)).map_err(|_| TelemetryError::Variable)
        }
        Some(_) => Err(TelemetryError::Variable),
        None => Ok(EnvFilter::try_new(without_blanks(configured))?),
    }
}

/// Starts logging to stderr and, if an endpoint is configured, OTLP traces. `RUST_LOG` takes precedence over
/// `telemetry.log_filter`; traces have the spans and events of level info, whatever is logged.
pub fn init(config: &Config) -> Result<TelemetryGuard, TelemetryError> {
    let given = std::env::var_os(EnvFilter::DEFAULT_ENV);
    let filter = filter(given.as_deref(), &config.telemetry.log_filter)?;
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
    fn the_variable_takes_precedence_and_a_mistyped_one_is_refused() {
        let found =
            |given: &str| filter(Some(OsStr::new(given)), "warn").map(|it| it.to_string()).ok();
        for (given, used) in [
            ("", "warn"),
            (" ", "warn"),
            ("debug", "debug"),
            ("off", "off"),
            ("info, engine=trace", "engine=trace,info"),
        ] {
            assert_eq!(found(given).as_deref(), Some(used), "{given}");
        }
        for given in ["warm", "a=b=c", "engine", "engine=inof", "info,warm", "info;engine=warn"] {
            assert_eq!(found(given), None, "{given}");
            let refused = filter(Some(OsStr::new(given)), "warn").expect_err(given).to_string();
            assert!(refused.starts_with("RUST_LOG: must be a level"), "{refused}");
        }
        assert_eq!(filter(None, "warn").expect("valid").to_string(), "warn");
    }

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
