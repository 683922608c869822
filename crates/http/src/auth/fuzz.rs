//! Fuzz target of request tokens.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::ids::TenantId;
use domain::policy::Environment;
use domain::time::Timestamp;
use futures_util::FutureExt as _;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderValue, header};
use serde_json::Value;
use sha2::Sha256;

use super::{Caller, Found, KeyRing, Rules, Service, SigningKey, VerifiedKey, Verifier};

/// The key, the URL and the time of the seeds.
const KEY: &str = "demobank-test_pay-Q1T9sVb0eXgmQ1T9sVb0eXgmQ1T9sV+/";
const SECRET: &[u8] = b"c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTAwMQ==";
const URL: &str = "https://api.example.com";
const NOW_S: i64 = 1_800_000_000;

struct Ring(Arc<VerifiedKey>);

impl KeyRing for Ring {
    fn find<'a>(&'a self, access_key: &'a str) -> Found<'a> {
        let found = (access_key == KEY).then(|| Arc::clone(&self.0));
        Box::pin(std::future::ready(Ok(found)))
    }
}

/// A line is a header's value that is signed by another. Two lines are a header and claims, which are
/// signed here: what is accepted says to any reader of JSON what was verified.
pub(crate) fn token(bytes: &[u8]) {
    let Some((header, claims)) = crate::fuzz::text(bytes).and_then(|text| text.split_once('\n'))
    else {
        assert!(verified(bytes).is_none(), "accepted without the secret");
        return;
    };
    let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET).expect("a key");
    mac.update(signed.as_bytes());
    let signature = URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes());
    let Some(caller) = verified(format!("Bearer {signed}.{signature}").as_bytes()) else { return };
    let (Some(header), Some(claims)) = (read(header), read(claims)) else { return };
    assert_eq!((&header["alg"], &header["kid"]), (&Value::from("HS256"), &Value::from(KEY)));
    assert_eq!(claims["sub"], Value::from(KEY));
    for role in &caller.roles {
        let granted =
            claims["roles"].as_array().is_some_and(|all| all.contains(&role.as_str().into()));
        assert!(granted || claims["role"] == role.as_str(), "{role:?}");
    }
    if let (Some(exp), Some(iat)) = (claims["exp"].as_i64(), claims["iat"].as_i64()) {
        assert!(exp > NOW_S - 60 && iat <= NOW_S + 60 && exp - iat <= 3_600 && exp > iat);
    }
}

/// The document as another reader of JSON sees it; `None` for a number beyond its range.
fn read(document: &str) -> Option<Value> {
    match serde_json::from_str(document) {
        Ok(value) => Some(value),
        Err(error) if error.to_string().starts_with("number out of range") => None,
        Err(error) => panic!("accepted, though it is not JSON: {error}"),
    }
}

fn verified(authorization: &[u8]) -> Option<Caller> {
    let key = VerifiedKey {
        access_key: KEY.into(),
        tenant: TenantId(uuid::Uuid::nil()),
        secret: SigningKey::new(SECRET),
        other_secrets: Vec::new(),
        suspended: false,
        allowed_networks: Vec::new(),
        require_hmac: false,
        max_lifetime_s: None,
    };
    let rules = Rules::new(Environment::Mock, Service::Pay, URL);
    let verifier = Verifier::new(Arc::new(Ring(Arc::new(key))), rules);
    let value = HeaderValue::from_bytes(authorization).ok()?;
    let headers = HeaderMap::from_iter([(header::AUTHORIZATION, value)]);
    let now = Timestamp(NOW_S * 1_000_000);
    verifier.verify(&headers, None, now).now_or_never().expect("a ring in memory").ok()
}
