//! OTLP traces over HTTP with protobuf. The only module that depends on OpenTelemetry, whose crates
//! change often.
//!
//! The exporter sends spans on its own thread, which waits for the collector: a slow one never delays
//! the service.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use adapters::outbound::{self, BodyFault, Client, Settings};
use domain::characters::one_line;
use opentelemetry::KeyValue;
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, WithExportConfig, WithHttpConfig};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceResponse,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider, SpanData, SpanExporter};
use prost::Message as _;
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use tokio::runtime::Runtime;
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer;
use tracing_subscriber::registry::LookupSpan;

use config::Config;

/// Maximum size of the collector's answer, in bytes.
const ANSWER_MAX_BYTES: usize = 64 * 1024;
/// Maximum number of characters of the collector's text in a log line.
const MESSAGE_MAX_CHARS: usize = 300;
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
        let answers = Arc::<Answers>::default();
        let collector = Collector::new(&outbound, &config.otlp_endpoint, Arc::clone(&answers))?;
        let exporter = opentelemetry_otlp::SpanExporter::builder()
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
            .with_batch_exporter(Reported::of(exporter, answers))
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
            tracing::warn!(%error, "export of the last traces failed, they are lost");
        }
    }
}

/// Reports when exports begin to fail, and when they succeed again: a warning for each batch would
/// fill the log.
#[derive(Debug)]
struct Reported<E> {
    exporter: E,
    answers: Arc<Answers>,
    is_failing: AtomicBool,
    is_rejecting: AtomicBool,
}

/// What the collector has answered to the batch that is being exported.
#[derive(Debug, Default)]
struct Answers(Mutex<CollectorAnswer>);

/// What of an answer the exporter does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum CollectorAnswer {
    #[default]
    Accepted,
    /// It did not take some spans, or has a warning.
    Partly { rejected: u64, message: String },
    /// It did not answer as a collector does, or refused the batch.
    Refused(String),
}

impl Answers {
    fn keep(&self, answer: CollectorAnswer) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = answer;
    }

    fn take(&self) -> CollectorAnswer {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl CollectorAnswer {
    /// Reads an answer (OTLP 1, "OTLP/HTTP response"). A success has an empty body or the response
    /// message.
    fn read(address: &str, status: u16, content_type: &str, body: &[u8]) -> CollectorAnswer {
        let shown = |text: &str| one_line(text.trim(), MESSAGE_MAX_CHARS);
        if !(200..300).contains(&status) {
            let message = refusal_message(body);
            let message =
                if message.is_empty() { message } else { format!(": {}", shown(&message)) };
            return CollectorAnswer::Refused(format!("{address} answered HTTP {status}{message}"));
        }
        let is_json = content_type.starts_with("application/json");
        let read = if is_json { from_json(body) } else { from_protobuf(body) };
        match read {
            Some(partial) if partial == ExportTracePartialSuccess::default() => {
                CollectorAnswer::Accepted
            }
            Some(ExportTracePartialSuccess { rejected_spans, error_message }) => {
                CollectorAnswer::Partly {
                    rejected: u64::try_from(rejected_spans).unwrap_or(0),
                    message: shown(&error_message),
                }
            }
            None => CollectorAnswer::Refused(format!(
                "{address} answered HTTP {status}, but not as a collector of traces ({})",
                shown(content_type)
            )),
        }
    }
}

fn from_protobuf(body: &[u8]) -> Option<ExportTracePartialSuccess> {
    let response = ExportTraceServiceResponse::decode(body).ok()?;
    Some(response.partial_success.unwrap_or_default())
}

fn from_json(body: &[u8]) -> Option<ExportTracePartialSuccess> {
    if body.is_empty() {
        return Some(ExportTracePartialSuccess::default());
    }
    let response: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(body).ok()?;
    let partial = response.get("partialSuccess").cloned().unwrap_or_default();
    // 64-bit integers are texts in JSON.
    let rejected = &partial["rejectedSpans"];
    let rejected = rejected.as_i64().or_else(|| rejected.as_str()?.parse().ok());
    let message = partial["errorMessage"].as_str().unwrap_or_default();
    Some(ExportTracePartialSuccess {
        rejected_spans: rejected.unwrap_or(0),
        error_message: message.to_owned(),
    })
}

/// The message of a refusal: `google.rpc.Status`, its JSON form, or a short text.
fn refusal_message(body: &[u8]) -> String {
    /// `message` is field 2 in both: as a text there, as the warning of a partial success here.
    fn status(body: &[u8]) -> Option<String> {
        let partial = ExportTracePartialSuccess::decode(body).ok()?;
        Some(partial.error_message).filter(|message| !message.is_empty())
    }
    let json = || {
        let value: serde_json::Value = serde_json::from_slice(body).ok()?;
        let text = ["message", "error"].into_iter().find_map(|name| value[name].as_str())?;
        Some(text.to_owned())
    };
    let text = || {
        let text = std::str::from_utf8(body).ok()?.trim();
        (!text.starts_with(['<', '{'])).then(|| text.to_owned())
    };
    status(body).or_else(json).or_else(text).unwrap_or_default()
}

impl<E> Reported<E> {
    const fn of(exporter: E, answers: Arc<Answers>) -> Reported<E> {
        let (is_failing, is_rejecting) = (AtomicBool::new(false), AtomicBool::new(false));
        Reported { exporter, answers, is_failing, is_rejecting }
    }
}

impl<E: SpanExporter> SpanExporter for Reported<E> {
    async fn export(&self, spans: Vec<SpanData>) -> OTelSdkResult {
        drop(self.answers.take());
        let mut exported = self.exporter.export(spans).await;
        let mut partly = None;
        match self.answers.take() {
            CollectorAnswer::Accepted => {}
            CollectorAnswer::Partly { rejected, message } => partly = Some((rejected, message)),
            CollectorAnswer::Refused(why) => exported = Err(OTelSdkError::InternalFailure(why)),
        }
        if let Some((rejected, message)) = &partly {
            metrics::counter!("corridor_trace_rejected_spans_total").increment(*rejected);
            if !self.is_rejecting.load(Ordering::Relaxed) {
                tracing::warn!(
                    rejected,
                    message,
                    "the trace collector rejected spans, they are lost"
                );
            }
        }
        self.is_rejecting.store(partly.is_some(), Ordering::Relaxed);
        if exported.is_err() {
            metrics::counter!("corridor_trace_export_faults_total").increment(1);
        }
        let was_failing = self.is_failing.swap(exported.is_err(), Ordering::Relaxed);
        match &exported {
            Err(error) if !was_failing => {
                tracing::warn!(%error, "trace export failed, traces are lost until it succeeds again");
            }
            Ok(()) if was_failing => tracing::warn!("trace export succeeds again"),
            _ => {}
        }
        exported
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn shutdown(&self) -> OTelSdkResult {
        self.exporter.shutdown()
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

/// Sends spans with the outbound client, on a runtime of its own: the exporter's thread has none.
#[derive(Debug)]
struct Collector {
    client: Client,
    answers: Arc<Answers>,
    runtime: Option<Runtime>,
}

impl Collector {
    fn new(
        outbound: &Settings,
        endpoint: &str,
        answers: Arc<Answers>,
    ) -> Result<Collector, String> {
        let client = Client::new(outbound, "telemetry.otlp_endpoint", &[endpoint]);
        let client = client.map_err(|error| error.to_string())?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        Ok(Collector { client, answers, runtime: Some(runtime) })
    }

    async fn send(&self, spans: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = spans.into_parts();
        let content_type = head.headers.get(CONTENT_TYPE).cloned();
        let content_type = content_type.ok_or("spans without a content type")?;
        let url: Url = head.uri.to_string().parse()?;
        let address = shown(&url);
        let mut post = outbound::Request::post(url, content_type, Vec::from(body));
        for (name, value) in head.headers.iter().filter(|(name, _)| **name != CONTENT_TYPE) {
            post = post.header(name.clone(), value.clone());
        }
        let answer = self.client.send(post).await?;
        let status = answer.status().as_u16();
        let kind = answer.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or("no content type").to_owned();
        let mut response = Response::builder().status(answer.status());
        // The exporter reads Retry-After.
        if let Some(headers) = response.headers_mut() {
            headers.extend(answer.headers().clone());
        }
        let body = answer.body(ANSWER_MAX_BYTES).await.map_err(|fault| match fault {
            BodyFault::TooLarge => format!("more than {ANSWER_MAX_BYTES} bytes"),
            BodyFault::Broken(why) => why,
        })?;
        self.answers.keep(CollectorAnswer::read(&address, status, &kind, &body));
        Ok(response.body(body.into())?)
    }
}

/// A URL without parts that may be secret: scheme, host and path.
fn shown(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{host}{port}{}", url.scheme(), url.path())
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
pub(super) mod tests {
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    /// Keeps the names of spans; fails while `is_down`.
    #[derive(Clone, Debug, Default)]
    pub(in super::super) struct Kept {
        names: Arc<Mutex<Vec<String>>>,
        is_down: Arc<AtomicBool>,
    }

    impl Kept {
        pub(in super::super) fn names(&self) -> Vec<String> {
            self.names.lock().unwrap_or_else(PoisonError::into_inner).clone()
        }
    }

    impl SpanExporter for Kept {
        async fn export(&self, spans: Vec<SpanData>) -> OTelSdkResult {
            if self.is_down.load(Ordering::Relaxed) {
                return Err(OTelSdkError::InternalFailure("no collector".to_owned()));
            }
            let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
            names.extend(spans.iter().map(|span| span.name.to_string()));
            Ok(())
        }
    }

    /// Traces whose spans are kept.
    pub(in super::super) fn kept() -> (Traces, Kept) {
        let kept = Kept::default();
        let provider = SdkTracerProvider::builder()
            .with_simple_exporter(Reported::of(kept.clone(), Arc::default()))
            .build();
        (Traces { provider }, kept)
    }

    /// What was logged, by level and message.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Log {
        fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(text);
            Ok(text.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_lost_collector_is_reported_once_until_it_is_back() {
        let (traces, kept) = kept();
        let log = Log::default();
        let writer = log.clone();
        let printed = tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .without_time()
            .with_target(false)
            .with_writer(move || writer.clone());
        let layers = tracing_subscriber::registry().with(traces.layer()).with(printed);
        tracing::subscriber::with_default(layers, || {
            for is_down in [false, true, true, true, false, false, true] {
                kept.is_down.store(is_down, Ordering::Relaxed);
                drop(tracing::info_span!("deliver").entered());
            }
        });
        let logged = log.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let logged = String::from_utf8(logged).expect("text");
        let events: Vec<&str> =
            logged.lines().map(|line| line.split(',').next().unwrap_or(line).trim()).collect();
        assert_eq!(
            events,
            [
                "WARN trace export failed",
                "WARN trace export succeeds again",
                "WARN trace export failed",
            ],
            "{logged}"
        );
        assert_eq!(kept.names(), ["deliver"; 3], "the warnings are part of no trace");
    }

    #[test]
    fn the_answers_of_collectors_are_read() {
        use CollectorAnswer::{Accepted, Partly, Refused};
        let read = |status, kind: &str, body: &[u8]| {
            CollectorAnswer::read("https://otel.example/v1/traces", status, kind, body)
        };
        let response = |rejected_spans, error_message: &str| {
            let error_message = error_message.to_owned();
            let partial_success = Some(ExportTracePartialSuccess { rejected_spans, error_message });
            ExportTraceServiceResponse { partial_success }.encode_to_vec()
        };
        let partly = |rejected, message: &str| Partly { rejected, message: message.to_owned() };
        let refused =
            |rest: &str| Refused(format!("https://otel.example/v1/traces answered {rest}"));
        let (protobuf, json) = ("application/x-protobuf", "application/json; charset=utf-8");
        for (status, kind, body, expected) in [
            (200, protobuf, Vec::new(), Accepted),
            (202, "no content type", Vec::new(), Accepted),
            (200, protobuf, response(0, ""), Accepted),
            (200, protobuf, response(5, "span limit"), partly(5, "span limit")),
            (200, protobuf, response(0, "old\r\nform"), partly(0, "old  form")),
            (200, json, b"{}".to_vec(), Accepted),
            (200, json, b"{\"partialSuccess\":{}}".to_vec(), Accepted),
            (
                200,
                json,
                br#"{"partialSuccess":{"rejectedSpans":"5","errorMessage":"limit"}}"#.to_vec(),
                partly(5, "limit"),
            ),
            (
                200,
                "text/html",
                b"<html>login</html>".to_vec(),
                refused("HTTP 200, but not as a collector of traces (text/html)"),
            ),
            (
                200,
                json,
                b"ok".to_vec(),
                refused(
                    "HTTP 200, but not as a collector of traces (application/json; charset=utf-8)",
                ),
            ),
            (
                400,
                protobuf,
                b"\x08\x03\x12\x0bbad request".to_vec(),
                refused("HTTP 400: bad request"),
            ),
            (401, json, br#"{"message":"no token"}"#.to_vec(), refused("HTTP 401: no token")),
            (
                404,
                "text/plain",
                b"404 page not found".to_vec(),
                refused("HTTP 404: 404 page not found"),
            ),
            (502, "text/html", b"<html>bad gateway</html>".to_vec(), refused("HTTP 502")),
            (503, protobuf, Vec::new(), refused("HTTP 503")),
        ] {
            assert_eq!(read(status, kind, &body), expected, "{status} {kind}");
        }
        let Refused(long) = read(400, "text/plain", &[b'x'; 5_000]) else { panic!("refused") };
        assert!(long.len() < 400, "{long}");
        let url = Url::parse("https://user:secret@otel.example:4318/v1/traces?key=secret");
        assert_eq!(shown(&url.expect("a URL")), "https://otel.example:4318/v1/traces");
    }

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
