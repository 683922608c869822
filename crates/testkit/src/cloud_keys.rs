//! Azure Key Vault and Google Cloud KMS as far as a signer needs them, with their metadata addresses,
//! in one server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use k256::ecdsa::signature::hazmat::PrehashSigner as _;
use k256::ecdsa::{Signature, SigningKey};
use serde_json::{Value, json};

const AZURE_TOKEN: &str = "azure-access-token";
const GOOGLE_TOKEN: &str = "google-access-token";
/// SPKI of a secp256k1 key, up to its point.
const SPKI_HEAD: [u8; 23] = [
    0x30, 0x56, 0x30, 0x10, 6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1, 6, 5, 0x2b, 0x81, 4, 0, 0x0a,
    3, 0x42, 0,
];

#[derive(Debug)]
struct Clouds {
    keys: HashMap<String, SigningKey>,
    signed: Mutex<HashMap<&'static str, usize>>,
}

/// A running server that imitates the key services of the clouds.
#[derive(Clone, Debug)]
pub struct CloudKeys {
    clouds: Arc<Clouds>,
    /// Of the form `http://127.0.0.1:port`.
    pub base_url: String,
}

impl CloudKeys {
    /// Starts it with keys (name, 32 bytes), which each of the clouds has.
    pub async fn start(keys: &[(&str, [u8; 32])]) -> CloudKeys {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base_url = format!("http://{}", listener.local_addr().expect("bound"));
        let key = |bytes: &[u8; 32]| SigningKey::from_slice(bytes).expect("a key");
        let keys = keys.iter().map(|(name, bytes)| ((*name).to_owned(), key(bytes))).collect();
        let clouds = Arc::new(Clouds { keys, signed: Mutex::default() });
        let app = Router::new().fallback(answer).with_state(clouds.clone());
        tokio::spawn(async move { axum::serve(listener, app).await.expect("it serves for ever") });
        CloudKeys { clouds, base_url }
    }

    /// The address of a key in Azure.
    pub fn azure(&self, name: &str) -> String {
        format!("{}/keys/{name}/1", self.base_url)
    }

    /// How often a cloud has signed.
    pub fn signed(&self, cloud: &str) -> usize {
        let signed = self.clouds.signed.lock().unwrap_or_else(PoisonError::into_inner);
        signed.get(cloud).copied().unwrap_or_default()
    }
}

type Answer = (StatusCode, Json<Value>);

async fn answer(
    State(clouds): State<Arc<Clouds>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Answer {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let token = |token: &str, seconds: Value| {
        (StatusCode::OK, Json(json!({"access_token": token, "expires_in": seconds})))
    };
    let path = uri.path();
    if path == "/metadata/identity/oauth2/token" && header("metadata") == Some("true") {
        return token(AZURE_TOKEN, json!("3599"));
    }
    if path == "/computeMetadata/v1/instance/service-accounts/default/token"
        && header("metadata-flavor") == Some("Google")
    {
        return token(GOOGLE_TOKEN, json!(3599));
    }
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let is_of = |token: &str| header("authorization") == Some(&format!("Bearer {token}"));
    if let Some(rest) = path.strip_prefix("/keys/").filter(|_| is_of(AZURE_TOKEN)) {
        return clouds.azure(rest, &body);
    }
    if let Some(rest) = path.strip_prefix("/v1/").filter(|_| is_of(GOOGLE_TOKEN)) {
        return clouds.google(rest, &body);
    }
    (StatusCode::UNAUTHORIZED, Json(json!({"error": "unauthorized"})))
}

impl Clouds {
    fn azure(&self, rest: &str, body: &Value) -> Answer {
        let name = rest.split('/').next().unwrap_or_default();
        let Some(key) = self.keys.get(name) else { return missing() };
        if rest == format!("{name}/1/sign") {
            assert_eq!(body["alg"], "ES256K", "{body}");
            let digest = URL_SAFE_NO_PAD.decode(body["value"].as_str().expect("text"));
            let signature = self.sign("azure", key, &digest.expect("base64url"));
            return found(json!({"value": URL_SAFE_NO_PAD.encode(signature.to_bytes())}));
        }
        let point = key.verifying_key().to_encoded_point(false);
        let [x, y] = [point.x(), point.y()].map(|it| URL_SAFE_NO_PAD.encode(it.expect("affine")));
        found(json!({"key": {"kty": "EC-HSM", "crv": "P-256K", "x": x, "y": y}}))
    }

    fn google(&self, rest: &str, body: &Value) -> Answer {
        let name = rest.split(['/', ':']).next().unwrap_or_default();
        let Some(key) = self.keys.get(name) else { return missing() };
        if rest == format!("{name}:asymmetricSign") {
            let digest = STANDARD.decode(body["digest"]["sha256"].as_str().expect("text"));
            let signature = self.sign("google", key, &digest.expect("base64"));
            return found(json!({"signature": STANDARD.encode(signature.to_der())}));
        }
        let point = key.verifying_key().to_encoded_point(false);
        let spki = STANDARD.encode([&SPKI_HEAD[..], point.as_bytes()].concat());
        let (first, second) = spki.split_at(64);
        let pem =
            format!("-----BEGIN PUBLIC KEY-----\n{first}\n{second}\n-----END PUBLIC KEY-----\n");
        found(json!({"pem": pem, "algorithm": "EC_SIGN_SECP256K1_SHA256"}))
    }

    fn sign(&self, cloud: &'static str, key: &SigningKey, digest: &[u8]) -> Signature {
        *self.signed.lock().unwrap_or_else(PoisonError::into_inner).entry(cloud).or_default() += 1;
        key.sign_prehash(digest).expect("a digest of 32 bytes")
    }
}

fn found(body: Value) -> Answer {
    (StatusCode::OK, Json(body))
}

fn missing() -> Answer {
    (StatusCode::NOT_FOUND, Json(json!({"error": {"code": "KeyNotFound"}})))
}
