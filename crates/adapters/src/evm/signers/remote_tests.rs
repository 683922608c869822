//! The remote signer against a scripted service.

use k256::ecdsa::SigningKey;
use serde_json::{Value, json};
use testkit::scripted::Scripted;

use super::super::LocalKey;
use super::*;

const UNSIGNED: &[u8] = &[2, 0xc0];

fn public_key_of(bytes: u8) -> String {
    let key = SigningKey::from_slice(&[bytes; 32]).expect("key");
    hex::data(key.verifying_key().to_encoded_point(false).as_bytes())
}

fn signature_of(bytes: u8) -> String {
    let key = LocalKey::from_bytes(&[bytes; 32]).expect("key");
    let Signature { r, s, .. } = key.sign_now(&digest(UNSIGNED)).expect("signature");
    hex::data(&[r, s].concat())
}

fn signer(url: &str) -> Arc<RemoteSigner> {
    let outbound = outbound::Settings::default();
    RemoteSigner::new(&RemoteSettings { url: url.to_owned(), outbound }).expect("signer")
}

#[tokio::test]
async fn the_whole_transaction_is_sent_and_the_signature_checked() {
    let (key, signed) =
        (json!({"public_key": public_key_of(7)}), json!({"signature": signature_of(7)}));
    let service = Scripted::start(&[
        ("/hsm/v1/keys/demo%2Foperator", &[(200, &key.to_string())]),
        ("/hsm/v1/keys/demo%2Foperator/signatures", &[(200, &signed.to_string())]),
    ])
    .await;
    let signer = signer(&format!("{}/hsm/", service.base_url));
    let key = signer.key("demo/operator", None).await.expect("key");
    let local = LocalKey::from_bytes(&[7; 32]).expect("key");
    assert_eq!(key.address(), local.address());
    assert_eq!(key.sign(UNSIGNED).await, local.sign_now(&digest(UNSIGNED)));
    let sent: Value = serde_json::from_slice(&service.asked()[1].body).expect("JSON");
    assert_eq!(sent, json!({"transaction": "0x02c0", "digest": hex::data(&digest(UNSIGNED))}));
    let other = signer.key("demo/operator", Some(Address([1; 20]))).await;
    assert!(matches!(other, Err(KeyError::Address { .. })));
}

#[tokio::test]
async fn nothing_else_is_taken_for_a_key_or_a_signature() {
    let key = json!({"public_key": public_key_of(7)}).to_string();
    for (status, body, expected) in [
        (200, json!({"signature": signature_of(8)}), "a signature of another key"),
        (200, json!({"signature": "0x00"}), "64 bytes"),
        (200, json!({"signature": signature_of(7)[2..]}), "64 bytes"),
        (200, json!({"sig": ""}), "missing field"),
        (403, json!({"error": "the account is not allowed"}), "the account is not allowed"),
        (201, json!({"signature": signature_of(7)}), "HTTP 201"),
        (500, json!("oops"), "HTTP 500"),
    ] {
        let service = Scripted::start(&[
            ("/v1/keys/k", &[(200, &key)]),
            ("/v1/keys/k/signatures", &[(status, &body.to_string())]),
        ])
        .await;
        let key = signer(&service.base_url).key("k", None).await.expect("key");
        let fault = key.sign(UNSIGNED).await.expect_err("no signature").to_string();
        assert!(fault.contains(expected), "{body}: {fault}");
    }
    for (status, body) in [
        (404, json!({"error": "no such key"})),
        (200, json!({"public_key": format!("0x05{}", &public_key_of(7)[4..])})),
        (200, json!({"public_key": public_key_of(7)[..10]})),
        (200, json!({"public_key": 7})),
    ] {
        let service = Scripted::start(&[("/v1/keys/k", &[(status, &body.to_string())])]).await;
        assert!(signer(&service.base_url).key("k", None).await.is_err(), "{body}");
    }
}

#[test]
fn a_remote_signer_requires_tls() {
    for (url, allowed) in [
        ("https://signer.example", true),
        ("http://127.0.0.1:9000", true),
        ("http://signer.example", false),
        ("http://localhost.evil", false),
        ("file:///etc", false),
    ] {
        let outbound = outbound::Settings::default();
        let made = RemoteSigner::new(&RemoteSettings { url: url.to_owned(), outbound });
        assert_eq!(made.is_ok(), allowed, "{url}");
    }
}
