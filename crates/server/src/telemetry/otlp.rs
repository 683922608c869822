//! OTLP traces over HTTP with protobuf. The only module that knows OpenTelemetry, whose crates change often.
//!
//! Spans are sent by a thread of the exporter's own with a blocking client: a slow collector delays nobody.

use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::registry::LookupSpan;

use crate::config::Telemetry;

/// How long the collector may take to answer.
const EXPORT_TIMEOUT_S: u64 = 10;
/// Parts of `otlp_sample_bps` in the whole.
const SAMPLE_WHOLE_BPS: u32 = 10_000;

/// The exporter of traces.
pub struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Starts the exporter; `None` where no endpoint is configured.
    pub fn start(config: &Telemetry) -> Result<Option<Traces>, String> {
        if config.otlp_endpoint.is_empty() {
            return Ok(None);
        }
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(&config.otlp_endpoint)
            .with_timeout(Duration::from_secs(EXPORT_TIMEOUT_S))
            .build()
            .map_err(|error| error.to_string())?;
        let resource = Resource::builder()
            .with_service_name(config.service_name.clone())
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            .build();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource)
            .with_sampler(Sampler::ParentBased(Box::new(sampler(config.otlp_sample_bps))))
            .build();
        Ok(Some(Traces { provider }))
    }

    /// The layer that turns spans of `tracing` into traces.
    pub fn layer<S>(&self) -> Box<dyn Layer<S> + Send + Sync>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        tracing_opentelemetry::layer().with_tracer(self.provider.tracer("corridor")).boxed()
    }

    /// Sends what is still held.
    pub fn shut_down(self) {
        if let Err(error) = self.provider.shutdown() {
            // The subscriber may itself be going down: stderr is what is left.
            eprintln!("traces: the last ones were not sent: {error}");
        }
    }
}

#[expect(clippy::float_arithmetic, reason = "the sampler takes a ratio; no money is near")]
fn sampler(bps: u32) -> Sampler {
    Sampler::TraceIdRatioBased(f64::from(bps) / f64::from(SAMPLE_WHOLE_BPS))
}
