//! Tests of the KMS signer against a double that verifies the request's signature independently.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use k256::ecdsa::SigningKey;
use k256::ecdsa::signature::hazmat::PrehashSigner as _;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use secrecy::ExposeSecret as _;
use testkit::scripted::Scripted;

use self::sigv4::{Request, Scope};
use super::*;

#[path = "kms_sigv4_tests.rs"]
mod sigv4;

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const KEY_ID: &str = "alias/operator";

#[derive(Clone, Copy, PartialEq)]
enum Mischief {
    None,
    OtherKey,
    OtherCurve,
    NotDer,
    Garbage,
}

struct Double {
    key: SigningKey,
    mischief: Mischief,
    refused: AtomicUsize,
}

impl Double {
    fn serve(mischief: Mischief) -> (Arc<Double>, String) {
        let key = SigningKey::from_slice(&[42; 32]).expect("key");
        let double = Arc::new(Double { key, mischief, refused: AtomicUsize::new(0) });
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("port");
        listener.set_nonblocking(true).expect("listener");
        let url = format!("http://{}", listener.local_addr().expect("address"));
        let serving = Arc::clone(&double);
        tokio::spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("listener");
            while let Ok((mut socket, _)) = listener.accept().await {
                let request = read_request(&mut socket).await;
                let (status, body) = serving.answer(&request);
                let body = body.to_string();
                let head = format!(
                    "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                socket.write_all((head + &body).as_bytes()).await.expect("answer");
            }
        });
        (double, url)
    }

    /// Verifies the signature of the request, then performs the operation.
    fn answer(&self, request: &Incoming) -> (&'static str, Value) {
        if request.headers.get("authorization") != Some(&request.expected_authorization()) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            let text = "The request signature we calculated does not match";
            return (
                "400 Bad Request",
                json!({"__type": "InvalidSignatureException", "message": text}),
            );
        }
        let body: Value = serde_json::from_slice(&request.body).expect("JSON");
        let target = request.headers["x-amz-target"].as_str();
        assert_eq!(body["KeyId"] == KEY_ID, target != "TrentService.Decrypt");
        match target {
            "TrentService.Decrypt" => self.decrypt(&body),
            "TrentService.GetPublicKey" => ("200 OK", self.public_key()),
            "TrentService.Sign" => {
                assert_eq!(
                    (&body["MessageType"], &body["SigningAlgorithm"]),
                    (&json!("DIGEST"), &json!("ECDSA_SHA_256"))
                );
                let digest =
                    STANDARD.decode(body["Message"].as_str().expect("text")).expect("base64");
                (
                    "200 OK",
                    json!({"KeyId": KEY_ID, "Signature": STANDARD.encode(self.sign(&digest))}),
                )
            }
            other => panic!("{other}"),
        }
    }

    /// The double's cipher reverses the bytes.
    fn decrypt(&self, body: &Value) -> (&'static str, Value) {
        let mut plain =
            STANDARD.decode(body["CiphertextBlob"].as_str().expect("text")).expect("base64");
        plain.reverse();
        match self.mischief {
            Mischief::Garbage => ("200 OK", json!({"KeyId": KEY_ID, "Plaintext": "not base64"})),
            _ if plain.is_empty() => {
                ("400 Bad Request", json!({"__type": "InvalidCiphertextException"}))
            }
            _ => ("200 OK", json!({"KeyId": KEY_ID, "Plaintext": STANDARD.encode(plain)})),
        }
    }

    fn public_key(&self) -> Value {
        let spec = if self.mischief == Mischief::OtherCurve { "ECC_NIST_P256" } else { KEY_SPEC };
        let head = [
            0x30, 0x56, 0x30, 0x10, 6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1, 6, 5, 0x2b, 0x81, 4,
            0, 0x0a,
        ];
        let point = self.key.verifying_key().to_encoded_point(false);
        let mut spki = [&head[..], &[3, 0x42, 0], point.as_bytes()].concat();
        if self.mischief == Mischief::Garbage {
            spki.truncate(40);
        }
        json!({"KeyId": KEY_ID, "KeySpec": spec, "KeyUsage": "SIGN_VERIFY", "PublicKey": STANDARD.encode(spki)})
    }

    fn sign(&self, digest: &[u8]) -> Vec<u8> {
        let other = SigningKey::from_slice(&[43; 32]).expect("key");
        let key = if self.mischief == Mischief::OtherKey { &other } else { &self.key };
        let signature: k256::ecdsa::Signature = key.sign_prehash(digest).expect("signature");
        let mut der = signature.to_der().as_bytes().to_vec();
        if self.mischief == Mischief::NotDer {
            der.push(0);
        }
        der
    }
}

struct Incoming {
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Incoming {
    /// The expected header, computed from the received headers rather than from the intended ones.
    fn expected_authorization(&self) -> String {
        let header = |name: &str| self.headers.get(name).cloned().unwrap_or_default();
        let authorization = header("authorization");
        let signed = authorization
            .split("SignedHeaders=")
            .nth(1)
            .and_then(|rest| rest.split(',').next())
            .unwrap_or("");
        for name in ["host", "x-amz-date", "x-amz-target", "content-type"] {
            assert!(signed.split(';').any(|one| one == name), "{name} is not signed");
        }
        let headers: Vec<(String, String)> =
            signed.split(';').map(|name| (name.to_owned(), header(name))).collect();
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        let request =
            Request { method: "POST", path: "/", query: "", headers: &headers, body: &self.body };
        let scope = Scope { at: &header("x-amz-date"), region: "eu-central-1", service: "kms" };
        sigv4::authorization(&request, &scope, "AKIDEXAMPLE", SECRET)
    }
}

async fn read_request(socket: &mut tokio::net::TcpStream) -> Incoming {
    let mut bytes = Vec::new();
    loop {
        let read = socket.read_buf(&mut bytes).await.expect("request");
        assert!(read > 0, "the request ended early");
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(bytes[..end].to_vec()).expect("text");
        let lines = head.lines().skip(1).filter_map(|line| line.split_once(": "));
        let headers: BTreeMap<_, _> =
            lines.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
        let length: usize = headers["content-length"].parse().expect("length");
        if bytes.len() == end + 4 + length {
            return Incoming { headers, body: bytes[end + 4..].to_vec() };
        }
    }
}

fn kms(endpoint: &str, secret: &str, token: Option<&str>) -> Arc<Kms> {
    let credentials = AwsCredentials::Keys {
        access_key_id: "AKIDEXAMPLE".to_owned(),
        secret_access_key: secret.into(),
        session_token: token.map(Into::into),
    };
    let settings = KmsSettings {
        region: "eu-central-1".to_owned(),
        endpoint: Some(endpoint.to_owned()),
        credentials,
        outbound: outbound::Settings::default(),
    };
    Kms::new(&settings).expect("KMS")
}

#[tokio::test]
async fn a_digest_is_signed_by_the_key_of_the_address() {
    let (double, url) = Double::serve(Mischief::None);
    for token in [None, Some("lent")] {
        let signer = kms(&url, SECRET, token).key(KEY_ID, None).await.expect("key");
        assert_eq!(signer.address(), address_of(double.key.verifying_key()));
        for number in 0..4 {
            let signature = signer.sign(&[number; 32]).await.expect("signature");
            assert!(signature.s[0] < 0x80);
        }
    }
    assert_eq!(double.refused.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_request_with_another_secret_is_refused_by_the_double() {
    let (double, url) = Double::serve(Mischief::None);
    let refused =
        kms(&url, "another secret", None).key(KEY_ID, None).await.map(|key| key.address());
    let refused = refused.expect_err("refused").to_string();
    assert!(refused.contains("InvalidSignatureException"), "{refused}");
    assert_eq!(double.refused.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_foreign_signature_is_not_returned() {
    for mischief in [Mischief::OtherKey, Mischief::NotDer] {
        let (_double, url) = Double::serve(mischief);
        let signer = kms(&url, SECRET, None).key(KEY_ID, None).await.expect("key");
        assert!(matches!(signer.sign(&[1; 32]).await, Err(SignFault::Failed(_))));
    }
    for mischief in [Mischief::OtherCurve, Mischief::Garbage] {
        let (_double, url) = Double::serve(mischief);
        assert!(kms(&url, SECRET, None).key(KEY_ID, None).await.is_err());
    }
    let (_double, url) = Double::serve(Mischief::None);
    let other = kms(&url, SECRET, None).key(KEY_ID, Some(Address([1; 20]))).await;
    assert!(matches!(other, Err(KeyError::Address { .. })));
}

#[tokio::test]
async fn kms_ciphertexts_are_decrypted() {
    let (_double, url) = Double::serve(Mischief::None);
    let client = kms(&url, SECRET, Some("lent"));
    let plain = client.decrypt(&[3, 2, 1]).await.expect("decrypted");
    assert_eq!(plain.expose_secret(), [1, 2, 3]);
    let refused =
        client.decrypt(&[]).await.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused.contains("InvalidCiphertextException"), "{refused}");
    let (_double, url) = Double::serve(Mischief::Garbage);
    assert!(kms(&url, SECRET, None).decrypt(&[1]).await.is_err());
}

#[test]
fn a_remote_key_store_requires_tls() {
    for (endpoint, allowed) in
        [(None, true), (Some("https://vpce.example"), true), (Some("http://vpce.example"), false)]
    {
        let settings = KmsSettings {
            region: "eu-central-1".to_owned(),
            endpoint: endpoint.map(str::to_owned),
            credentials: AwsCredentials::Keys {
                access_key_id: String::new(),
                secret_access_key: "".into(),
                session_token: None,
            },
            outbound: outbound::Settings::default(),
        };
        assert_eq!(Kms::new(&settings).is_ok(), allowed, "{endpoint:?}");
    }
}

/// A client with the credentials of a platform, which lends others each time, and the KMS that gives
/// these answers.
async fn with_platform(answers: &[(u16, &str)]) -> (Arc<Kms>, Scripted, Scripted) {
    let until = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(6);
    let lent = |key: &str| {
        format!(
            r#"{{"AccessKeyId":"{key}","SecretAccessKey":"secret","Token":"token","Expiration":"{until:.0}"}}"#
        )
    };
    let (first, second) = (lent("ASIAONE"), lent("ASIATWO"));
    let platform = Scripted::start(&[("/role", &[(200, &first), (200, &second)])]).await;
    let kms = Scripted::start(&[("/", answers)]).await;
    let role = format!("{}/role", platform.base_url);
    let variables = [("AWS_CONTAINER_CREDENTIALS_FULL_URI".to_owned(), role)];
    let settings = KmsSettings {
        region: "eu-central-1".to_owned(),
        endpoint: Some(kms.base_url.clone()),
        credentials: AwsCredentials::Platform(variables.into()),
        outbound: outbound::Settings::default(),
    };
    (Kms::new(&settings).expect("KMS"), kms, platform)
}

#[tokio::test]
async fn refused_credentials_of_the_platform_are_replaced_once() {
    let plain = r#"{"Plaintext":"AQID"}"#;
    for kind in [
        "ExpiredTokenException",
        "UnrecognizedClientException",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "com.amazonaws.kms#ExpiredTokenException",
    ] {
        let refused = format!(r#"{{"__type":"{kind}","message":"canary"}}"#);
        let (client, kms, platform) = with_platform(&[(400, &refused), (200, plain)]).await;
        for _ in 0..2 {
            let decrypted = client.decrypt(&[1]).await.expect("with other credentials");
            assert_eq!(decrypted.expose_secret(), [1, 2, 3]);
        }
        let keys: Vec<bool> =
            kms.asked().iter().map(|it| it.header("authorization").contains("ASIATWO/")).collect();
        assert_eq!((keys, platform.asked().len()), (vec![false, true, true], 2), "{kind}");
        let (client, kms, _platform) = with_platform(&[(400, &refused)]).await;
        let fault = client.decrypt(&[1]).await.err().map(|fault| fault.to_string());
        assert!(fault.is_some_and(|fault| fault.contains(kind)), "{kind}");
        assert_eq!(kms.asked().len(), 2, "{kind}: refused again, and reported");
    }
    for kind in ["AccessDeniedException", "KMSInvalidStateException", "ThrottlingException", ""] {
        let refused = format!(r#"{{"__type":"{kind}"}}"#);
        let (client, kms, platform) = with_platform(&[(400, &refused), (200, plain)]).await;
        assert!(client.decrypt(&[1]).await.is_err(), "{kind}");
        assert_eq!((kms.asked().len(), platform.asked().len()), (1, 1), "{kind}");
    }
}
