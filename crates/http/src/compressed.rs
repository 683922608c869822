//! Compresses responses with gzip if the client accepts it: pages, lists and documents. Streams
//! stay uncompressed, because each event must be readable when it is sent.

use http::{HeaderMap, HeaderName, HeaderValue, header};
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{And, NotForContentType, Predicate, SizeAbove};

/// Smaller responses fit into one packet uncompressed.
const COMPRESSED_MIN_BYTES: u16 = 1_024;

/// Makes nginx, which buffers responses by default, forward each part of a stream at once.
pub(crate) const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Marks a response as a stream, for proxies and for [`layer`].
pub(crate) fn mark_stream(headers: &mut HeaderMap) {
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
}

/// The predicate that selects responses for compression.
#[derive(Clone, Copy, Debug)]
pub struct Whole;

impl Predicate for Whole {
    fn should_compress<B: axum::body::HttpBody>(&self, response: &http::Response<B>) -> bool {
        let is_stream = response.headers().contains_key(X_ACCEL_BUFFERING);
        // An entity tag identifies the bytes, which compression changes.
        !is_stream && !response.headers().contains_key(header::ETAG)
    }
}

pub fn layer() -> CompressionLayer<And<And<SizeAbove, NotForContentType>, Whole>> {
    let sizeable = SizeAbove::new(COMPRESSED_MIN_BYTES).and(NotForContentType::IMAGES);
    CompressionLayer::new().gzip(true).compress_when(sizeable.and(Whole))
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::{Body, to_bytes};
    use axum::response::{IntoResponse as _, Response};
    use axum::routing::get;
    use http::Request;
    use tower::ServiceExt as _;

    use super::*;

    async fn page(stream: bool, length: usize) -> Response {
        let mut response = "x".repeat(length).into_response();
        if stream {
            mark_stream(response.headers_mut());
        }
        response
    }

    async fn answer(path: &str, accepted: &str) -> Response {
        let app = Router::new()
            .route("/page", get(|| page(false, 5_000)))
            .route("/small", get(|| page(false, 100)))
            .route("/stream", get(|| page(true, 5_000)))
            .layer(layer());
        let request = Request::get(path)
            .header(header::ACCEPT_ENCODING, accepted)
            .body(Body::empty())
            .expect("a request");
        app.oneshot(request).await.expect("an answer")
    }

    #[tokio::test]
    async fn whole_answers_are_compressed_and_streams_are_not() {
        let compressed = answer("/page", "gzip, br").await;
        assert_eq!(compressed.headers()[header::CONTENT_ENCODING], "gzip");
        assert_eq!(compressed.headers()[header::VARY], "accept-encoding");
        assert!(to_bytes(compressed.into_body(), 5_000).await.expect("a body").len() < 500);
        for (path, accepted) in
            [("/page", "identity"), ("/page", "gzip;q=0"), ("/small", "gzip"), ("/stream", "gzip")]
        {
            let plain = answer(path, accepted).await;
            assert!(!plain.headers().contains_key(header::CONTENT_ENCODING), "{path} {accepted}");
        }
    }
}
