//! The verifier against tokens, keys and addresses.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::ids::TenantId;
use domain::policy::Environment;
use domain::time::{Span, Timestamp};
use http::{HeaderMap, HeaderValue, header};
use proptest::prelude::*;
use uuid::Uuid;

use super::mint::{Grant, Minter};
use super::*;

const KEY: &str = "demobank-test_pay-Q1T9sVb0eXgmQ1T9sVb0eXgmQ1T9sV+/";
const SECRET: &[u8] = b"c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTAwMQ==";
const OTHER_SECRET: &[u8] = b"c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTAwMg==";
const URL: &str = "https://api.example.com";
const NOW: Timestamp = Timestamp(1_800_000_000_000_000);

struct Ring {
    key: Arc<VerifiedKey>,
    asked: AtomicUsize,
    broken: bool,
}

impl KeyRing for Ring {
    fn find<'a>(&'a self, access_key: &'a str) -> Found<'a> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let found = (access_key == &*self.key.access_key).then(|| Arc::clone(&self.key));
        let answer =
            if self.broken { Err(KeyRingError("no connection".to_owned())) } else { Ok(found) };
        Box::pin(std::future::ready(answer))
    }
}

fn key() -> VerifiedKey {
    VerifiedKey {
        access_key: KEY.into(),
        tenant: TenantId(Uuid::nil()),
        secret: SigningKey::new(SECRET),
        other_secrets: Vec::new(),
        suspended: false,
        allowed_networks: Vec::new(),
        require_hmac: false,
        max_lifetime_s: None,
    }
}

fn ring(key: VerifiedKey) -> Ring {
    Ring { key: Arc::new(key), asked: AtomicUsize::new(0), broken: false }
}

fn verifier(key: VerifiedKey) -> Verifier {
    Verifier::new(Arc::new(ring(key)), Rules::new(Environment::Mock, Service::Pay, URL))
}

fn minter(secret: &[u8]) -> Minter {
    Minter::new(KEY, secret, URL)
}

fn headers(authorization: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(
        header::AUTHORIZATION,
        HeaderValue::from_str(authorization).expect("a header value"),
    );
    headers
}

fn minted(secret: &[u8], grant: Grant<'_>) -> HeaderMap {
    headers(&minter(secret).authorization(grant))
}

#[test]
fn the_example_of_rfc_7515_appendix_a_1_verifies() {
    let secret = URL_SAFE_NO_PAD
        .decode("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow")
        .expect("base64url");
    let compact = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    let parsed = token::Token::split(compact).expect("three parts");
    assert!(SigningKey::new(&secret).verifies(parsed.signed, &parsed.signature));
    assert_eq!(parsed.kid(), Err(AuthFault::Kid), "alg and typ are ours, kid is not there");
    assert_eq!(token::Claims::read(&parsed.claims).expect_err("no sub"), AuthFault::Sub);
}

#[tokio::test]
async fn a_minted_token_names_its_tenant_roles_and_body() {
    let grant = Grant { body: Some(b"{}"), roles: &["auditor"], ..Grant::new(NOW, 300) };
    let caller = verifier(key()).verify(&minted(SECRET, grant), None, NOW).await.expect("valid");
    assert_eq!(caller.tenant(), TenantId(Uuid::nil()));
    assert_eq!(caller.roles, ["auditor"]);
    assert_eq!(caller.vouches_for(b"{}"), Ok(()));
    assert_eq!(caller.vouches_for(b"{ }"), Err(AuthFault::HmacMismatch));
}

#[tokio::test]
async fn during_rotations_every_valid_secret_signs_and_each_vouches_for_itself() {
    let replaced: [&[u8]; 3] = [OTHER_SECRET, b"replaced before", b"replaced first"];
    let other_secrets = replaced.map(SigningKey::new).to_vec();
    let rotating = verifier(VerifiedKey { other_secrets, ..key() });
    for secret in std::iter::once(SECRET).chain(replaced) {
        let grant = Grant { body: Some(b"body"), ..Grant::new(NOW, 300) };
        let caller = rotating.verify(&minted(secret, grant), None, NOW).await.expect("valid");
        assert_eq!(caller.vouches_for(b"body"), Ok(()));
    }
    let wrong = rotating
        .verify(&minted(b"another", Grant::new(NOW, 300)), None, NOW)
        .await
        .expect_err("refused");
    assert_eq!(wrong, Refused::Unauthorized(AuthFault::Signature));
}

#[tokio::test]
async fn a_key_that_requires_hmac_is_refused_without() {
    let strict = verifier(VerifiedKey { require_hmac: true, ..key() });
    let caller =
        strict.verify(&minted(SECRET, Grant::new(NOW, 300)), None, NOW).await.expect("valid");
    assert_eq!(caller.vouches_for(b""), Err(AuthFault::HmacRequired));
}

#[tokio::test]
async fn suspension_and_address_are_judged_after_the_token() {
    let grant = Grant::new(NOW, 300);
    let suspended = verifier(VerifiedKey { suspended: true, ..key() });
    assert_eq!(
        suspended.verify(&minted(SECRET, grant), None, NOW).await.expect_err("refused"),
        Refused::Suspended
    );
    let wrong = suspended.verify(&minted(b"other", grant), None, NOW).await.expect_err("refused");
    assert_eq!(wrong, Refused::Unauthorized(AuthFault::Signature));
    let fenced = verifier(VerifiedKey {
        allowed_networks: vec!["192.0.2.0/24".parse().expect("a range")],
        ..key()
    });
    let from = |address: &str| Some(address.parse::<IpAddr>().expect("an address"));
    assert!(fenced.verify(&minted(SECRET, grant), from("192.0.2.9"), NOW).await.is_ok());
    for peer in [from("198.51.100.1"), None] {
        let refused = fenced.verify(&minted(SECRET, grant), peer, NOW).await.expect_err("refused");
        assert_eq!(refused, Refused::AddressNotAllowed);
    }
}

#[tokio::test]
async fn a_key_is_checked_again_without_its_token() {
    let peer: IpAddr = "192.0.2.9".parse().expect("an address");
    let still = async |key: VerifiedKey, peer| verifier(key).still_admits(KEY, peer).await;
    assert_eq!(still(key(), None).await, Ok(()));
    let suspended = VerifiedKey { suspended: true, ..key() };
    assert_eq!(still(suspended, Some(peer)).await, Err(Refused::Suspended));
    for (network, admitted) in [("192.0.2.0/24", true), ("198.51.100.0/24", false)] {
        let allowed_networks = vec![network.parse().expect("a range")];
        let fenced = VerifiedKey { allowed_networks, ..key() };
        let expected = if admitted { Ok(()) } else { Err(Refused::AddressNotAllowed) };
        assert_eq!(still(fenced, Some(peer)).await, expected, "{network}");
    }
    let revoked = Refused::Unauthorized(AuthFault::Signature);
    assert_eq!(verifier(key()).still_admits("another key", None).await, Err(revoked));
    let broken = Ring { broken: true, ..ring(VerifiedKey { suspended: true, ..key() }) };
    let rules = Rules::new(Environment::Mock, Service::Pay, URL);
    let verifier = Verifier::new(Arc::new(broken), rules);
    assert_eq!(verifier.still_admits(KEY, None).await, Ok(()), "unknown is not refused");
}

#[tokio::test]
async fn times_hold_to_the_second_with_leeway() {
    let verifier = verifier(key());
    let at = |seconds: i64| NOW + Span::secs(seconds);
    let lives = |lives_s| Err(AuthFault::Lifetime { lives_s, max_s: 3_600 });
    for (grant, now, expected) in [
        (Grant::new(NOW, 300), at(359), Ok(())),
        (Grant::new(NOW, 300), at(360), Err(AuthFault::Expired)),
        (Grant::new(NOW, 300), at(-60), Ok(())),
        (Grant::new(NOW, 300), at(-61), Err(AuthFault::IssuedInFuture)),
        (Grant::new(NOW, 3_600), NOW, Ok(())),
        (Grant::new(NOW, 3_601), NOW, lives(3_601)),
        (Grant::new(NOW, 0), NOW, lives(0)),
        (Grant::new(NOW, -1), NOW, lives(-1)),
    ] {
        let verdict = verifier.verify(&minted(SECRET, grant), None, now).await.map(drop);
        assert_eq!(verdict, expected.map_err(Refused::Unauthorized), "{grant:?} at {now}");
    }
}

#[test]
fn a_wrong_lifetime_is_stated_with_its_bounds() {
    let fault = AuthFault::Lifetime { lives_s: 3_601, max_s: 3_600 };
    assert_eq!(fault.to_string(), "exp: exp − iat is 3601 s; allowed are 1 to 3600 s");
}

#[tokio::test]
async fn a_key_may_have_a_lifetime_of_its_own() {
    let onboarding = verifier(VerifiedKey { max_lifetime_s: Some(90 * 86_400), ..key() });
    let grant = Grant::new(NOW, 90 * 86_400);
    assert!(onboarding.verify(&minted(SECRET, grant), None, NOW + Span::days(89)).await.is_ok());
}

#[test]
fn lifetimes_are_those_of_the_decisions() {
    let lifetime = |environment, service| Rules::new(environment, service, URL).max_lifetime_s;
    assert_eq!(lifetime(Environment::Production, Service::Pay), 300);
    assert_eq!(lifetime(Environment::Test, Service::Pay), 3_600);
    assert_eq!(lifetime(Environment::Mock, Service::Pay), 3_600);
    assert_eq!(lifetime(Environment::Production, Service::Wallet), 3_600);
    assert_eq!(lifetime(Environment::Mock, Service::Wallet), 86_400);
}

#[tokio::test]
async fn keys_that_cannot_be_read_are_no_verdict() {
    let broken = Ring { broken: true, ..ring(key()) };
    let verifier =
        Verifier::new(Arc::new(broken), Rules::new(Environment::Mock, Service::Pay, URL));
    let refused = verifier
        .verify(&minted(SECRET, Grant::new(NOW, 300)), None, NOW)
        .await
        .expect_err("refused");
    assert_eq!(refused.status(), 503);
}

#[tokio::test]
async fn a_wrong_environment_is_refused_before_the_key_is_looked_up() {
    let ring = Arc::new(ring(key()));
    for rules in [
        Rules::new(Environment::Production, Service::Pay, URL),
        Rules::new(Environment::Mock, Service::Wallet, URL),
    ] {
        let verifier = Verifier::new(Arc::clone(&ring) as Arc<dyn KeyRing>, rules);
        let refused = verifier
            .verify(&minted(SECRET, Grant::new(NOW, 300)), None, NOW)
            .await
            .expect_err("refused");
        assert_eq!(refused, Refused::Unauthorized(AuthFault::KeyUse));
    }
    assert_eq!(ring.asked.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn production_reveals_nothing_and_the_sandbox_names_the_claim() {
    let body_of = |refused: Refused, candour| async move {
        let response =
            refused.problem(candour).respond(&crate::request_id::RequestId::of(&headers_with_id()));
        let status = response.status().as_u16();
        (status, axum::body::to_bytes(response.into_body(), 1_000).await.expect("a body"))
    };
    let terse = body_of(AuthFault::Expired.into(), AuthErrorDetail::Terse).await;
    assert_eq!(terse, body_of(AuthFault::Signature.into(), AuthErrorDetail::Terse).await);
    let (status, frank) = body_of(AuthFault::Expired.into(), AuthErrorDetail::Frank).await;
    assert_eq!(status, 401);
    assert!(String::from_utf8_lossy(&frank).contains("exp: the token has expired"));
    assert_eq!(
        Rules::new(Environment::Production, Service::Pay, URL).candour(),
        AuthErrorDetail::Terse
    );
    assert_eq!(Refused::Suspended.status(), 403);
    assert_eq!(Refused::AddressNotAllowed.status(), 403);
    assert_eq!(Refused::Suspended.wallet_problem(AuthErrorDetail::Frank).status(), 403);
}

fn headers_with_id() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("x-request-id", HeaderValue::from_static("r"));
    headers
}

#[tokio::test]
async fn the_cache_asks_once_for_known_and_unknown_keys_until_it_is_cleared() {
    let cache = KeyCache::new(ring(key()), Duration::from_secs(3_600));
    for _ in 0..3 {
        assert!(cache.find(KEY).await.expect("readable").is_some());
        assert!(cache.find("unknown").await.expect("readable").is_none());
    }
    assert_eq!(cache.inner().asked.load(Ordering::Relaxed), 2);
    cache.clear();
    assert!(cache.find(KEY).await.expect("readable").is_some());
    assert_eq!(cache.inner().asked.load(Ordering::Relaxed), 3);
    let forgetful = KeyCache::new(ring(key()), Duration::ZERO);
    for _ in 0..3 {
        assert!(forgetful.find(KEY).await.expect("readable").is_some());
    }
    assert_eq!(forgetful.inner().asked.load(Ordering::Relaxed), 3);
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime")
}

proptest! {
    #[test]
    fn no_token_makes_the_verifier_panic(text in "[ -~]{0,200}") {
        let verdict = runtime().block_on(verifier(key()).verify(&headers(&format!("Bearer {text}")), None, NOW));
        prop_assert!(verdict.is_err());
    }

    #[test]
    fn one_changed_character_makes_a_token_invalid(at in 0_usize..400, replacement in "[A-Za-z0-9_.=-]") {
        let token = minter(SECRET).token(Grant::new(NOW, 300));
        let at = at % token.len();
        let mut changed = token.clone();
        changed.replace_range(at..=at, &replacement);
        let verdict = runtime().block_on(verifier(key()).verify(&headers(&format!("Bearer {changed}")), None, NOW));
        prop_assert_eq!(verdict.is_ok(), changed == token);
    }
}
