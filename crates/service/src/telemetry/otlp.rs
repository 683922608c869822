//! OTLP traces over HTTP with protobuf. The only module that depends on OpenTelemetry, whose crates
//! change often.
//!
//! The exporter sends spans on its own thread, which waits for the collector: a slow one never delays
//! the service.

use std::collections::HashMap;
use std::pin::Pin;

use adapters::outbound::{self, BodyFault, Client, Settings};
use opentelemetry::KeyValue;
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use tokio::runtime::Runtime;
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer;
use tracing_subscriber::registry::LookupSpan;

use config::Config;

/// Maximum size of the collector's answer, in bytes.
const ANSWER_MAX_BYTES: usize = 64 * 1024;
/// The whole, of which `otlp_sample_bps` is a share.
const SAMPLE_WHOLE_BPS: u32 = 10_000;

pub struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Starts the exporter; `None` if no endpoint is configured.
    pub fn start(config: &Config) -> Result<Option<Traces>, String> {
        let outbound = config.telemetry_outbound();
        let config = &config.telemetry;
        if config.otlp_endpoint.is_empty() {
            return Ok(None);
        }
        let collector = Collector::new(&outbound, &config.otlp_endpoint)?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(&config.otlp_endpoint)
            .with_timeout(outbound.request_timeout)
            .with_http_client(collector)
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

/// Sends spans with the outbound client, on a runtime of its own: the exporter's thread has none.
#[derive(Debug)]
struct Collector {
    client: Client,
    runtime: Option<Runtime>,
}

impl Collector {
    fn new(outbound: &Settings, endpoint: &str) -> Result<Collector, String> {
        let client = Client::new(outbound, "telemetry.otlp_endpoint", &[endpoint]);
        let client = client.map_err(|error| error.to_string())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        Ok(Collector { client, runtime: Some(runtime) })
    }

    async fn send(&self, spans: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = spans.into_parts();
        let content_type = head.headers.get(CONTENT_TYPE).cloned();
        let content_type = content_type.ok_or("spans without a content type")?;
        let mut post =
            outbound::Request::post(head.uri.to_string().parse()?, content_type, Vec::from(body));
        for (name, value) in head.headers.iter().filter(|(name, _)| **name != CONTENT_TYPE) {
            post = post.header(name.clone(), value.clone());
        }
        let answer = self.client.send(post).await?;
        let mut response = Response::builder().status(answer.status());
        // The exporter reads Retry-After.
        if let Some(headers) = response.headers_mut() {
            headers.extend(answer.headers().clone());
        }
        let body = answer.body(ANSWER_MAX_BYTES).await.map_err(|fault| match fault {
            BodyFault::TooLarge => format!("more than {ANSWER_MAX_BYTES} bytes"),
            BodyFault::Broken(why) => why,
        })?;
        Ok(response.body(body.into())?)
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        // It may be dropped where waiting is not allowed.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl HttpClient for Collector {
    fn send_bytes<'this, 'sent>(
        &'this self,
        spans: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'sent>>
    where
        'this: 'sent,
        Self: 'sent,
    {
        Box::pin(async move {
            let runtime = self.runtime.as_ref().ok_or("the exporter has ended")?;
            runtime.block_on(self.send(spans))
        })
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
