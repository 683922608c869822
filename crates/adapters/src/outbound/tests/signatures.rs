//! Signatures as a bank verifies them.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256,
    UnparsedPublicKey, VerificationAlgorithm,
};

use super::*;
use crate::fetch::tests::serve;

/// The header `name` of a POST of `body`, or `None`.
async fn sent(signing: Signing, name: &'static str) -> Option<String> {
    let head = Arc::new(Mutex::new(String::new()));
    let seen = Arc::clone(&head);
    let url = serve(move |head| {
        head.clone_into(&mut seen.lock().expect("not poisoned"));
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_owned()
    })
    .await;
    let settings = Settings { signing: Some(signing), ..Settings::default() };
    assert_eq!(post(&client(&settings, &url), &url).await, Ok(200));
    let head = head.lock().expect("not poisoned").clone();
    head.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(": ")?.to_owned()))
}

#[tokio::test]
async fn the_body_is_signed_as_a_detached_jws() {
    let directory = tempfile::tempdir().expect("a directory");
    let rsa = rcgen::KeyPair::from_pem(include_str!("rfc7515-a2.pem")).expect("a key");
    let ecdsa = rcgen::KeyPair::generate().expect("a key");
    let ed25519 = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).expect("a key");
    let cases: [(_, &rcgen::KeyPair, &'static dyn VerificationAlgorithm); 4] = [
        (JwsAlgorithm::Rs256, &rsa, &RSA_PKCS1_2048_8192_SHA256),
        (JwsAlgorithm::Ps256, &rsa, &RSA_PSS_2048_8192_SHA256),
        (JwsAlgorithm::Es256, &ecdsa, &ECDSA_P256_SHA256_FIXED),
        (JwsAlgorithm::EdDsa, &ed25519, &ED25519),
    ];
    for (algorithm, key, verification) in cases {
        for unencoded in [false, true] {
            let signing = Signing::Jws {
                header: "x-bank-signature".to_owned(),
                key: JwsKey {
                    algorithm,
                    file: written(directory.path(), "key.pem", &key.serialize_pem()),
                    id: "key-7".to_owned(),
                },
                unencoded,
            };
            let jws = sent(signing, "x-bank-signature").await.expect("signed");
            let parts: Vec<&str> = jws.split('.').collect();
            let [protected, "", signature] = parts[..] else { panic!("{jws}") };
            let header = URL_SAFE_NO_PAD.decode(protected).expect("Base64");
            let header: serde_json::Value = serde_json::from_slice(&header).expect("JSON");
            assert_eq!(
                (&header["alg"], &header["kid"]),
                (&algorithm.name().into(), &"key-7".into())
            );
            assert_eq!(header["b64"] == false, unencoded, "{header}");
            let payload = match unencoded {
                true => "body".to_owned(),
                false => URL_SAFE_NO_PAD.encode("body"),
            };
            let signature = URL_SAFE_NO_PAD.decode(signature).expect("Base64");
            let public = rcgen::PublicKeyData::der_bytes(key);
            UnparsedPublicKey::new(verification, public)
                .verify(format!("{protected}.{payload}").as_bytes(), &signature)
                .unwrap_or_else(|_| panic!("{algorithm:?} {unencoded}: {jws}"));
        }
    }
}

#[tokio::test]
async fn the_body_is_authenticated_by_an_hmac() {
    // HMAC-SHA256 of "body" with the key "key", as OpenSSL computes it.
    const HEX: &str = "515aae133b435d4000956731f68ae5cf5eb85d4f0dc6a546d2bfcd3595ec1ae1";
    const BASE64: &str = "UVquEztDXUAAlWcx9orlz164XU8NxqVG0r/NNZXsGuE=";
    for (encoding, expected) in [(Encoding::Hex, HEX), (Encoding::Base64, BASE64)] {
        let secret = "key".into();
        let signing = Signing::Hmac { header: "x-signature".to_owned(), secret, encoding };
        assert_eq!(sent(signing, "x-signature").await.as_deref(), Some(expected));
    }
}

#[tokio::test]
async fn a_key_of_another_kind_is_refused_by_name() {
    let directory = tempfile::tempdir().expect("a directory");
    let ed25519 = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).expect("a key");
    let key_file = written(directory.path(), "key.pem", &ed25519.serialize_pem());
    for (algorithm, header, key) in [
        (JwsAlgorithm::Es256, "x-signature", "signature_key_file"),
        (JwsAlgorithm::Rs256, "x-signature", "signature_key_file"),
        (JwsAlgorithm::Ps256, "x-signature", "signature_key_file"),
        (JwsAlgorithm::EdDsa, "x signature", "signature_header"),
    ] {
        let signing = Signing::Jws {
            header: header.to_owned(),
            key: JwsKey { algorithm, file: key_file.clone(), id: String::new() },
            unencoded: false,
        };
        let settings = Settings { signing: Some(signing), ..Settings::default() };
        let refused = Client::new(&settings, "test.url", &[]).expect_err("another key");
        assert_eq!(refused.key, format!("outbound.default.{key}"), "{refused}");
    }
}
