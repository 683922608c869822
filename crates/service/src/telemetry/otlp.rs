//! OTLP traces over HTTP with protobuf. The only module that depends on OpenTelemetry, whose crates
//! change often.
//!
//! The exporter sends spans on its own thread with a blocking client: a slow collector never delays
//! the service.

use std::collections::HashMap;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use reqwest::header::HeaderMap;
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer;
use tracing_subscriber::registry::LookupSpan;

use config::Telemetry;

/// Timeout for the collector's answer.
const EXPORT_TIMEOUT_S: u64 = 10;
/// The whole, of which `otlp_sample_bps` is a share.
const SAMPLE_WHOLE_BPS: u32 = 10_000;

pub struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Starts the exporter; `None` if no endpoint is configured.
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

    /// The layer that exports spans of `tracing`.
    pub fn layer<S>(&self) -> Box<dyn Layer<S> + Send + Sync>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        tracing_opentelemetry::layer().with_tracer(self.provider.tracer("corridor")).boxed()
    }

    pub fn shut_down(self) {
        if let Err(error) = self.provider.shutdown() {
            // The subscriber may itself be shutting down: only stderr is left.
            eprintln!("traces: flushing the last spans failed: {error}");
        }
    }
}

/// Continues the trace of the request's `traceparent` header (W3C Trace Context), if there is one.
pub fn continue_trace(span: &tracing::Span, headers: &HeaderMap) {
    if !headers.contains_key(TRACEPARENT) {
        return;
    }
    let parent = TraceContextPropagator::new().extract(&Headers(headers));
    // Without an exporter there is no trace to continue.
    drop(span.set_parent(parent));
}

/// The `traceparent` header of the current span; `None` if nothing is traced.
pub fn current_traceparent() -> Option<String> {
    let mut headers = HashMap::new();
    TraceContextPropagator::new().inject_context(&tracing::Span::current().context(), &mut headers);
    headers.remove(TRACEPARENT)
}

const TRACEPARENT: &str = "traceparent";

struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(reqwest::header::HeaderName::as_str).collect()
    }
}

#[expect(clippy::float_arithmetic, reason = "the sampler requires a ratio; no amount is involved")]
fn sampler(bps: u32) -> Sampler {
    Sampler::TraceIdRatioBased(f64::from(bps) / f64::from(SAMPLE_WHOLE_BPS))
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[test]
    fn a_trace_can_be_continued_elsewhere() {
        assert_eq!(current_traceparent(), None, "without an exporter there is no trace");
        let provider = SdkTracerProvider::builder().with_sampler(Sampler::AlwaysOn).build();
        let traces = Traces { provider };
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        tracing::subscriber::with_default(
            tracing_subscriber::registry().with(traces.layer()),
            || {
                let span = tracing::info_span!("deliver");
                let headers = HeaderMap::from_iter([(
                    reqwest::header::HeaderName::from_static(TRACEPARENT),
                    reqwest::header::HeaderValue::from_static(parent),
                )]);
                continue_trace(&span, &headers);
                let current = span.in_scope(current_traceparent).expect("a trace");
                assert!(
                    current.starts_with(&parent[..36]) && current.ends_with("-01"),
                    "{current}"
                );
                assert_ne!(current, parent, "a span of its own");
            },
        );
    }
}
