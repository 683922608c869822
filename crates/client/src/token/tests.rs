//! Valid tokens, and tables of invalid ones.

use http_api::auth::Service;
use serde_json::json;

use super::*;

const NOW: i64 = 1_795_244_268;
const URL: &str = "http://127.0.0.1:8480";

fn credentials() -> Credentials {
    Credentials {
        service: Service::Pay,
        base_url: URL.to_owned(),
        access_key: "demo-test_pay-Q1T9".to_owned(),
        secret_key: Secret::new("c2VjcmV0"),
        audience: None,
    }
}

fn expected() -> Expected {
    Expected {
        now: NOW,
        url: Some(URL.to_owned()),
        secret: Some(Secret::new("c2VjcmV0")),
        body: None,
        max_age_s: 300,
    }
}

fn failures(token: &str, expected: &Expected) -> Vec<&'static str> {
    inspect(token, expected)
        .into_iter()
        .filter(|check| check.passed == Some(false))
        .map(|check| check.name)
        .collect()
}

fn encode(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

fn sign(message: &[u8]) -> [u8; 32] {
    keyed(&Secret::new("c2VjcmV0")).sign(message)
}

fn token(header: &Value, claims: &Value) -> String {
    let signed = format!("{}.{}", encode(header), encode(claims));
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(sign(signed.as_bytes())))
}

#[test]
fn a_minted_token_is_valid() {
    let body = br#"{"amount":500}"#;
    let minted = mint(&credentials(), NOW, TOKEN_TTL_S, Some(body));
    let expected = Expected { body: Some(body.to_vec()), ..expected() };
    let checks = inspect(&minted, &expected);
    assert!(checks.iter().all(|check| check.passed == Some(true)), "{checks:?}");
    assert_eq!(checks.len(), 11);
    assert_eq!(failures(&format!("Bearer {minted}"), &expected), Vec::<&str>::new());
}

#[test]
fn the_hmac_of_a_body_is_that_of_rfc_4231() {
    // RFC 4231, test case 2.
    let mac = body_hmac(&Secret::new("Jefe"), b"what do ya want for nothing?");
    assert_eq!(mac, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

#[test]
fn every_defect_is_named() {
    let header = json!({ "alg": "HS256", "typ": "JWT", "kid": "demo-test_pay-Q1T9" });
    let claims =
        json!({ "sub": "demo-test_pay-Q1T9", "iat": NOW, "exp": NOW + 60, "aud": URL, "iss": URL });
    assert_eq!(failures(&token(&header, &claims), &expected()), Vec::<&str>::new());
    for (member, value, name) in [
        ("alg", json!("none"), "header.alg"),
        ("alg", json!(["HS256"]), "header.alg"),
        ("alg", json!("HS384"), "header.alg"),
        ("typ", json!("JWS"), "header.typ"),
        ("typ", Value::Null, "header.typ"),
        ("jku", json!("https://evil.example"), "header"),
        ("crit", json!(["exp"]), "header"),
    ] {
        let mut wrong = header.clone();
        wrong[member] = value.clone();
        assert_eq!(failures(&token(&wrong, &claims), &expected()), [name], "{member} = {value}");
    }
    for (claim, value, names) in [
        ("sub", json!("other-test_pay-Q1T9"), vec!["claims.sub"]),
        ("sub", Value::Null, vec!["claims.sub"]),
        ("exp", json!(NOW - 60), vec!["claims.exp", "life"]),
        ("exp", json!("soon"), vec!["claims.exp"]),
        ("exp", json!(NOW + 301), vec!["life"]),
        ("exp", json!(i64::MAX), vec!["life"]),
        ("iat", json!(NOW + 61), vec!["claims.iat", "life"]),
        ("iat", json!(1.5), vec!["claims.iat"]),
        ("aud", json!("https://pay.example"), vec!["claims.aud"]),
        ("aud", json!([]), vec!["claims.aud"]),
        ("iss", json!([URL]), vec!["claims.iss"]),
        ("hmac", json!(7), vec!["claims.hmac"]),
    ] {
        let mut wrong = claims.clone();
        wrong[claim] = value.clone();
        assert_eq!(failures(&token(&header, &wrong), &expected()), names, "{claim} = {value}");
    }
    for (claim, value) in [
        ("aud", json!(["https://other", URL])),
        ("aud", json!(format!("{URL}/"))),
        ("exp", json!(NOW + 300)),
        ("iat", json!(NOW - 240)),
    ] {
        let mut fine = claims.clone();
        fine[claim] = value.clone();
        assert_eq!(
            failures(&token(&header, &fine), &expected()),
            Vec::<&str>::new(),
            "{claim} = {value}"
        );
    }
}

#[test]
fn malformed_tokens_are_distinguished() {
    for (wrong, name) in [
        ("", "form"),
        ("a.b", "form"),
        ("a.b.c.d", "form"),
        ("!!!.e30.x", "header"),
        ("e30=.e30.x", "header"),
        ("W10.e30.x", "header"),
        ("e30.eyJ.x", "claims"),
    ] {
        assert_eq!(failures(wrong, &expected()), [name], "{wrong:?}");
    }
}

#[test]
fn signature_and_body_are_checked_when_they_can_be() {
    let minted = mint(&credentials(), NOW, 60, Some(b"{}"));
    let with = |secret: Option<&str>, body: Option<&[u8]>| Expected {
        secret: secret.map(Secret::new),
        body: body.map(<[u8]>::to_vec),
        ..expected()
    };
    assert_eq!(failures(&minted, &with(None, None)), Vec::<&str>::new());
    assert_eq!(failures(&minted, &with(Some("other"), None)), ["signature"]);
    assert_eq!(failures(&minted, &with(Some("other"), Some(b"{}"))), ["signature", "claims.hmac"]);
    assert_eq!(failures(&minted, &with(Some("c2VjcmV0"), Some(b"{ }"))), ["claims.hmac"]);
    let (head, _) = minted.rsplit_once('.').expect("three parts");
    assert_eq!(failures(&format!("{head}.AAAA"), &with(Some("c2VjcmV0"), None)), ["signature"]);
    for form in [STANDARD.encode(sign(b"{}")), URL_SAFE_NO_PAD.encode(sign(b"{}"))] {
        let claims = json!({ "hmac": form });
        let mut report = Report::default();
        check_body(
            claims.as_object().expect("an object"),
            &with(Some("c2VjcmV0"), Some(b"{}")),
            &mut report,
        );
        assert_eq!(report.0[0].passed, Some(true));
    }
}
