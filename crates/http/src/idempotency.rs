//! `Idempotency-Key`: by what a repeated request is known (`decisions.md`, "Both services"). What it then gets is the
//! engine's.

use engine::command::Idempotency;
use engine::payments::IdempotencyKey;
use http::request::Parts;
use http::{HeaderName, Method};
use sha2::{Digest as _, Sha256};

/// Longest key.
const KEY_MAX_CHARS: usize = 255;
static IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// On an answer that an earlier request made.
pub(crate) static IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The header holds no key; says what a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

/// The key of a POST, in the scope of its method and path.
pub(crate) fn of(parts: &Parts, body: &[u8]) -> Result<Option<Idempotency>, Malformed> {
    if parts.method != Method::POST {
        return Ok(None);
    }
    let Some(value) = parts.headers.get(&IDEMPOTENCY_KEY) else { return Ok(None) };
    let printable = |text: &&str| {
        (1..=KEY_MAX_CHARS).contains(&text.len()) && text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
    };
    let key = value.to_str().ok().filter(printable).ok_or(Malformed("Must be 1 to 255 printable characters"))?;
    let scope = format!("{} {}", parts.method, parts.uri.path());
    let body_hash = Sha256::digest(body).into();
    Ok(Some(Idempotency { key: IdempotencyKey { scope, key: key.to_owned() }, body_hash }))
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn read(method: Method, key: &[u8], body: &[u8]) -> Result<Option<Idempotency>, Malformed> {
        let value = http::HeaderValue::from_bytes(key).expect("a header value");
        let request = Request::builder().method(method).uri("/v1/sdk/orders?x=1").header(&IDEMPOTENCY_KEY, value);
        of(&request.body(()).expect("a request").into_parts().0, body)
    }

    #[test]
    fn a_key_is_known_by_method_path_and_body() {
        let one = read(Method::POST, b"key 1", b"{}").expect("valid").expect("a key");
        assert_eq!((one.key.scope.as_str(), one.key.key.as_str()), ("POST /v1/sdk/orders", "key 1"));
        let other = read(Method::POST, b"key 1", b"{ }").expect("valid").expect("a key");
        assert!(one.key == other.key && one.body_hash != other.body_hash);
        assert_eq!(read(Method::GET, b"key 1", b""), Ok(None));
    }

    #[test]
    fn a_key_is_1_to_255_printable_characters() {
        assert!(read(Method::POST, &[b'x'; 255], b"").is_ok());
        for wrong in [&b""[..], &[b'x'; 256], "é".as_bytes(), b"a\tb"] {
            assert!(read(Method::POST, wrong, b"").is_err(), "{wrong:?}");
        }
    }
}
