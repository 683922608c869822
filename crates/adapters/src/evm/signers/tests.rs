//! Tests of turning a key store's answer into an Ethereum signature.

use k256::ecdsa::SigningKey;

use super::*;

/// The order of the curve: a signature is valid with `s` and with the order minus `s`.
const ORDER: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
    0xba, 0xae, 0xdc, 0xe6, 0xaf, 0x48, 0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x41,
];

fn minus(from: &[u8; 32], amount: &[u8; 32]) -> [u8; 32] {
    let mut result = [0; 32];
    let mut borrow = false;
    for at in (0..32).rev() {
        let (byte, first) = from[at].overflowing_sub(amount[at]);
        let (byte, second) = byte.overflowing_sub(u8::from(borrow));
        (result[at], borrow) = (byte, first || second);
    }
    result
}

#[test]
fn either_s_becomes_the_low_one_and_the_parity_fits() {
    let local = LocalKey::from_bytes(&[7; 32]).expect("key");
    let mut parities = [false; 2];
    for number in 0..32_u8 {
        let digest = vault::hash(&[&[number]]).0;
        let signature = local.sign_now(&digest).expect("signature");
        let high = minus(&ORDER, &signature.s);
        assert_eq!(recoverable(&digest, &signature.r, &high, &local.address()), Ok(signature));
        let low_first_byte = signature.s[0];
        assert!(low_first_byte < 0x80, "{signature:?}");
        parities[usize::from(signature.odd_y)] = true;
    }
    assert_eq!(parities, [true; 2], "both parities occur");
}

#[test]
fn a_signature_of_another_key_or_digest_is_never_returned() {
    let (local, other) = (LocalKey::from_bytes(&[7; 32]), LocalKey::from_bytes(&[8; 32]));
    let (local, other) = (local.expect("key"), other.expect("key"));
    let digest = [9; 32];
    let Signature { r, s, .. } = other.sign_now(&digest).expect("signature");
    assert!(matches!(recoverable(&digest, &r, &s, &local.address()), Err(SignFault::Failed(_))));
    assert!(matches!(recoverable(&[10; 32], &r, &s, &other.address()), Err(SignFault::Failed(_))));
    for (r, s) in
        [(&[0][..], &s[..]), (&r, &[]), (&ORDER, &s), (&r, &ORDER), (&[1; 33], &s), (&r, &[1; 33])]
    {
        assert!(
            matches!(recoverable(&digest, r, s, &other.address()), Err(SignFault::Failed(_))),
            "{r:?} {s:?}"
        );
    }
}

#[test]
fn leading_zeros_do_not_matter() {
    assert_eq!(scalar(&[]), Some([0; 32]));
    assert_eq!(scalar(&[&[0; 9][..], &[1; 32]].concat()), Some([1; 32]));
    assert_eq!(scalar(&[1; 33]), None);
    assert_eq!(scalar(&[5]).map(|word| word[31]), Some(5));
}

#[test]
fn plain_keys_are_refused_where_they_are_not_allowed() {
    let text = "0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d".into();
    assert!(matches!(LocalKey::from_hex(&text, false), Err(KeyError::PlainText)));
    let key = LocalKey::from_hex(&text, true).expect("key");
    assert_eq!(key.address().to_string(), "0x008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b");
    for wrong in ["", "0x", "0x00", "7a28", "not hexadecimal"] {
        assert!(
            matches!(LocalKey::from_hex(&wrong.into(), true), Err(KeyError::NotAKey(_))),
            "{wrong}"
        );
    }
    for zeros_or_order in [[0; 32], ORDER] {
        assert!(LocalKey::from_bytes(&zeros_or_order).is_err());
    }
}

#[test]
fn addresses_are_those_of_well_known_keys() {
    // The first account of anvil and hardhat.
    let key = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80".into();
    let address = LocalKey::from_hex(&key, true).expect("key").address();
    assert_eq!(address.to_string(), "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
    let key = SigningKey::from_slice(&[1; 32]).expect("key");
    let sec1 = key.verifying_key().to_encoded_point(false);
    assert_eq!(
        address_of(&public_key(sec1.as_bytes()).expect("point")),
        address_of(key.verifying_key())
    );
    assert!(public_key(&[4; 65]).is_err());
}

#[test]
fn a_key_with_an_unexpected_address_is_rejected() {
    let (found, expected) = (Address([1; 20]), Address([2; 20]));
    assert_eq!(check_address(found, Some(found)).ok(), Some(found));
    assert_eq!(check_address(found, None).ok(), Some(found));
    assert!(matches!(check_address(found, Some(expected)), Err(KeyError::Address { .. })));
}

#[test]
fn a_point_off_the_curve_is_named() {
    let key = SigningKey::from_slice(&[42; 32]).expect("key");
    let mut point = key.verifying_key().to_encoded_point(false).as_bytes().to_vec();
    point[64] ^= 1;
    for wrong in [&point[..], &[4; 65], &[0; 65], &point[..64], b""] {
        let error = public_key(wrong).expect_err("refused").to_string();
        assert_eq!(error, "not a secp256k1 key: its public key is not a point on the curve");
    }
}

#[test]
fn answers_that_are_no_json_and_redirects_are_named() {
    let answer = |status: u16, headers: &[(&'static str, &str)], body: &[u8]| WholeAnswer {
        status: StatusCode::from_u16(status).expect("a status"),
        headers: headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().expect("a value")))
            .collect(),
        body: body.to_vec(),
    };
    let html = [("content-type", "text/html; charset=utf-8")];
    let gzip = [("content-type", "application/json"), ("content-encoding", "gzip")];
    for (headers, body, words) in [
        (&html[..], &b"<html>"[..], "an answer that is not JSON (text/html; charset=utf-8): "),
        (
            &gzip,
            b"\x1f\x8b",
            "an answer that is not JSON (application/json, compressed with gzip): ",
        ),
        (&[], b"", "an answer that is not JSON (no content type): "),
        (&gzip[..1], b"1 2", "an answer that is not JSON (application/json): "),
        (&gzip[..1], b"\"other\"", "invalid type"),
    ] {
        let why = answer(200, headers, body).json::<u8>().expect_err("refused");
        assert!(why.starts_with(words), "{why}");
    }
    let to = [("location", "https://login.example/start?token=secret")];
    for (status, headers, own, words) in [
        (
            307,
            &to[..],
            " ",
            "HTTP 307 Temporary Redirect to https://login.example/start: redirects are not followed",
        ),
        (302, &[], "", "HTTP 302 Found (no content type)"),
        (502, &html, " ", "HTTP 502 Bad Gateway (text/html; charset=utf-8)"),
        (400, &gzip[..1], "Throttling slower", "HTTP 400 Bad Request: Throttling slower"),
    ] {
        assert_eq!(answer(status, headers, b"").refusal(own), words);
    }
}
