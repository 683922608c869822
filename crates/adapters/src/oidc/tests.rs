//! The flow against a provider that issues real signatures, its possible faults, and the standards'
//! vectors.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::identity::{IdentityFault, NameClaim, SignInAnswer, SignInQuestion};
use domain::ports::{Clock as _, IdentityProvider as _};
use domain::time::{Span, Timestamp};
use secrecy::SecretString;
use sha2::{Digest as _, Sha256};
use testkit::bank::SystemClock;
use testkit::identity::{Account, CLIENT_ID, CLIENT_SECRET, Fault, Signing, SimulatedProvider};
use testkit::wait;

use super::id_token::IdToken;
use super::keys::{KeyFault, KeySet};
use super::{Provider, Settings};
use crate::outbound;

const REDIRECT_URI: &str = "https://bank.example/console/login/oidc/callback";
const VERIFIER: &str = "a-verifier-of-at-least-forty-three-characters-long";

fn settings(issuer: &str, claim: NameClaim) -> Settings {
    let client_secret = Some(SecretString::from(CLIENT_SECRET));
    Settings {
        issuer: issuer.to_owned(),
        client_id: CLIENT_ID.to_owned(),
        client_secret,
        client_authentication: None,
        claim,
        outbound: outbound::Settings::default(),
    }
}

async fn world(claim: NameClaim) -> (SimulatedProvider, Provider) {
    let simulated = SimulatedProvider::start(Account::new("00u1", "Ayesha@Bank.Example"))
        .await
        .expect("a provider");
    let provider = Provider::new(settings(simulated.issuer(), claim)).expect("a provider");
    (simulated, provider)
}

/// Sends a browser to the provider; returns the parameters of its redirect.
async fn asked(provider: &Provider, now: Timestamp) -> Result<SignInAnswer, IdentityFault> {
    let question = SignInQuestion {
        redirect_uri: REDIRECT_URI.to_owned(),
        state: "state".to_owned(),
        nonce: "nonce".to_owned(),
        challenge: URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER)),
    };
    let url = provider.sign_in_url(&question, now).await?;
    let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let answer = browser.build().expect("a browser").get(url).send().await.expect("an answer");
    assert_eq!(answer.status().as_u16(), 303);
    let back = answer.headers()["location"].to_str().expect("text").to_owned();
    assert!(back.starts_with(REDIRECT_URI), "{back}");
    let back = reqwest::Url::parse(&back).expect("a URL");
    let said = |name: &str| {
        back.query_pairs().find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    };
    assert_eq!(said("state").as_deref(), Some("state"));
    Ok(SignInAnswer {
        redirect_uri: REDIRECT_URI.to_owned(),
        code: said("code").unwrap_or_default(),
        issuer: said("iss"),
        verifier: VERIFIER.to_owned(),
        nonce: "nonce".to_owned(),
    })
}

fn words(fault: &IdentityFault) -> String {
    match fault {
        IdentityFault::Away(why) => format!("away: {why}"),
        IdentityFault::Refused(why) => format!("refused: {why}"),
    }
}

#[tokio::test]
async fn a_user_signs_in_with_every_signature_algorithm() {
    let (simulated, provider) = world(NameClaim::Email).await;
    let now = SystemClock.now();
    for signing in Signing::ALL {
        simulated.set_signing(signing);
        let answer = asked(&provider, now).await.expect("a description");
        let identity = provider
            .redeem(&answer, now)
            .await
            .unwrap_or_else(|fault| panic!("{signing:?}: {fault}"));
        assert_eq!(identity.subject.issuer, simulated.issuer());
        assert_eq!(
            (identity.subject.subject.as_str(), identity.name),
            ("00u1", Ok("ayesha@bank.example".to_owned()))
        );
        let twice = provider.redeem(&answer, now).await.expect_err("a code is redeemed once");
        assert!(words(&twice).contains("refused the code with 400, invalid_grant"), "{twice}");
    }
    assert_eq!(simulated.scope(), "openid email");
    assert_eq!(simulated.asked().description, 1, "described once");
}

#[tokio::test]
async fn invalid_provider_answers_are_rejected() {
    let (simulated, provider) = world(NameClaim::Email).await;
    let now = SystemClock.now();
    for (fault, expected) in [
        (Fault::Nonce, "refused: the ID token has an unexpected nonce"),
        (Fault::Audience, "refused: the ID token has an unexpected audience"),
        (Fault::Party, "refused: the ID token has an unexpected authorized party"),
        (Fault::Issuer, "refused: the ID token has an unexpected issuer"),
        (Fault::Expired, "refused: the ID token has expired"),
        (Fault::Old, "refused: the ID token was issued long ago"),
        (Fault::Future, "refused: the ID token was issued in the future"),
        (Fault::Unsigned, "refused: the ID token is signed with \"none\", which is not accepted"),
        (
            Fault::SharedSecret,
            "refused: the ID token is signed with \"HS256\", which is not accepted",
        ),
        (
            Fault::ForeignKey,
            "refused: the ID token: it is signed by a key that the provider does not have",
        ),
        (Fault::Signature, "refused: the ID token: its signature is wrong"),
        (Fault::AnswerIssuer, "refused: the answer names another issuer, \"https://id.example\""),
        (Fault::Denied, "refused: the answer has no code, or one that is too long"),
    ] {
        simulated.set_fault(Some(fault));
        let answer = asked(&provider, now).await.expect("a description");
        let refused = provider.redeem(&answer, now).await.expect_err("not believed");
        assert_eq!(words(&refused), expected, "{fault:?}");
    }
    for (fault, expected) in [
        (Fault::NoToken, "its answer contains no ID token"),
        (Fault::TokenEndpoint, "answered 503"),
    ] {
        simulated.set_fault(Some(fault));
        let answer = asked(&provider, now).await.expect("a description");
        let away = provider.redeem(&answer, now).await.expect_err("not understood");
        assert!(words(&away).starts_with("away: ") && words(&away).contains(expected), "{away}");
    }
    simulated.set_fault(Some(Fault::Description));
    let fresh = Provider::new(settings(simulated.issuer(), NameClaim::Email)).expect("a provider");
    let away = asked(&fresh, now).await.expect_err("of another provider");
    assert!(
        words(&away)
            .contains("its discovery document names another issuer, \"https://id.example\""),
        "{away}"
    );
    simulated.set_fault(None);
    let answer = asked(&fresh, now).await.expect("a description");
    assert!(fresh.redeem(&answer, now).await.is_ok(), "a fault is not kept");
}

#[tokio::test]
async fn an_answer_is_bound_to_its_question() {
    let (simulated, provider) = world(NameClaim::Email).await;
    let now = SystemClock.now();
    let right = asked(&provider, now).await.expect("a description");
    let verifier = SignInAnswer { verifier: "another verifier".to_owned(), ..right };
    let refused = provider.redeem(&verifier, now).await.expect_err("another browser's code");
    assert!(words(&refused).contains("invalid_grant"), "{refused}");
    let right = asked(&provider, now).await.expect("a description");
    let silent = SignInAnswer { issuer: None, ..right };
    let refused = provider.redeem(&silent, now).await.expect_err("this provider names its issuer");
    assert_eq!(words(&refused), "refused: the answer does not name its issuer");
    let mut stranger = settings(simulated.issuer(), NameClaim::Email);
    stranger.client_secret = Some(SecretString::from("another secret"));
    let stranger = Provider::new(stranger).expect("a provider");
    let answer = asked(&stranger, now).await.expect("a description");
    let refused = stranger.redeem(&answer, now).await.expect_err("another client");
    assert!(words(&refused).contains("401, invalid_client"), "{refused}");
}

#[tokio::test]
async fn the_configured_claim_identifies_users_and_emails_must_be_verified() {
    let now = SystemClock.now();
    let named = |claim: NameClaim, account: Account| async move {
        let (simulated, provider) = world(claim).await;
        simulated.set_account(account);
        let answer = asked(&provider, now).await.expect("a description");
        (provider.redeem(&answer, now).await.expect("signed in").name, simulated.scope())
    };
    let whole =
        Account { username: "AKhan".to_owned(), ..Account::new("00U1", "ayesha@bank.example") };
    let (name, scope) = named(NameClaim::PreferredUsername, whole.clone()).await;
    assert_eq!((name.as_deref(), scope.as_str()), (Ok("akhan"), "openid profile"));
    let (name, scope) = named(NameClaim::Subject, whole.clone()).await;
    assert_eq!((name.as_deref(), scope.as_str()), (Ok("00U1"), "openid"));
    for email_verified in [Some(false), None] {
        let (name, _) = named(NameClaim::Email, Account { email_verified, ..whole.clone() }).await;
        assert!(name.expect_err("not verified").contains("email_verified"));
    }
    let (name, _) = named(NameClaim::Upn, whole).await;
    assert!(name.expect_err("not there").contains("no usable claim \"upn\""));
}

#[tokio::test]
async fn new_keys_are_fetched_on_demand_up_to_a_limit() {
    let (simulated, provider) = world(NameClaim::Email).await;
    let mut now = SystemClock.now();
    for fetched in 1..=6 {
        simulated.rotate();
        let answer = asked(&provider, now).await.expect("a description");
        provider.redeem(&answer, now).await.expect("the new key is found");
        assert_eq!(simulated.asked().keys, fetched);
    }
    simulated.rotate();
    let answer = asked(&provider, now).await.expect("a description");
    let refused = provider.redeem(&answer, now).await.expect_err("too often");
    assert!(words(&refused).contains("the refetch limit is reached"), "{refused}");
    assert_eq!(simulated.asked().keys, 6);
    now = now + Span::secs(61);
    let answer = asked(&provider, now).await.expect("a description");
    provider.redeem(&answer, now).await.expect("a minute later");
    // Keys and discovery document are cached for ten minutes.
    let before = simulated.asked();
    now = now + Span::mins(10);
    let answer = asked(&provider, now).await.expect("a description");
    let refused = provider.redeem(&answer, now).await.expect_err("the provider's clock is stopped");
    assert_eq!(words(&refused), "refused: the ID token has expired");
    let after = simulated.asked();
    assert_eq!((after.description, after.keys), (before.description + 1, before.keys + 1));
}

#[tokio::test]
async fn a_provider_that_is_down_is_asked_again() {
    let (simulated, provider) = world(NameClaim::Email).await;
    let now = SystemClock.now();
    simulated.set_down(true);
    let away = asked(&provider, now).await.expect_err("down");
    assert!(matches!(&away, IdentityFault::Away(_)), "{away}");
    let away = provider.look(now).await.expect_err("still down");
    assert!(matches!(&away, IdentityFault::Away(_)), "{away}");
    simulated.set_down(false);
    assert!(wait::until_async(wait::AT_MOST, async || provider.look(now).await == Ok(1)).await);
    let answer = asked(&provider, now).await.expect("up again");
    simulated.set_down(true);
    let away = provider.redeem(&answer, now).await.expect_err("down");
    assert!(matches!(&away, IdentityFault::Away(_)), "{away}");
    simulated.set_down(false);
    assert!(
        wait::until_async(wait::AT_MOST, async || provider.redeem(&answer, now).await.is_ok())
            .await
    );
}

/// Whether one of the keys has signed a token.
fn verified(keys: &str, token: &str) -> Result<(), KeyFault> {
    let keys = KeySet::read(format!(r#"{{"keys":[{keys}]}}"#).as_bytes()).expect("keys");
    keys.verify(&IdToken::split(token).expect("a token"))
}

const RSA_KEY: &str = r#"{"kty":"RSA","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ","e":"AQAB"}"#;
const RSA_TOKEN: &str = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
const EC_KEY: &str = r#"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#;
const EC_TOKEN: &str = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
const ED_KEY: &str =
    r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
const ED_TOKEN: &str = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";

#[test]
fn the_vectors_of_rfc_7515_and_rfc_8037() {
    let all = [RSA_KEY, EC_KEY, ED_KEY].join(",");
    for (key, token) in [(RSA_KEY, RSA_TOKEN), (EC_KEY, EC_TOKEN), (ED_KEY, ED_TOKEN)] {
        assert_eq!(verified(key, token), Ok(()), "{key}");
        assert_eq!(verified(&all, token), Ok(()), "one of them fits");
        let (body, signature) = token.rsplit_once('.').expect("parts");
        let other = if signature.starts_with('d') { 'e' } else { 'd' };
        assert_eq!(
            verified(key, &format!("{body}.{other}{}", &signature[1..])),
            Err(KeyFault::Wrong),
            "{key}"
        );
    }
}

#[test]
fn a_key_is_valid_for_its_own_type_and_use_only() {
    let with =
        |key: &str, more: &str| format!("{}{more}}}", key.strip_suffix('}').expect("an object"));
    for (keys, token, expected) in [
        (EC_KEY.to_owned(), RSA_TOKEN, Err(KeyFault::Unknown)),
        (with(RSA_KEY, r#","use":"enc""#), RSA_TOKEN, Err(KeyFault::Unknown)),
        (with(RSA_KEY, r#","alg":"RS512""#), RSA_TOKEN, Err(KeyFault::Unknown)),
        (with(RSA_KEY, r#","alg":"RS256","use":"sig""#), RSA_TOKEN, Ok(())),
        (with(ED_KEY, r#","alg":"Ed25519""#), ED_TOKEN, Ok(())),
        // The choice between two keys must be explicit.
        (format!("{RSA_KEY},{RSA_KEY}"), RSA_TOKEN, Err(KeyFault::Unknown)),
        (format!(r#"{{"kty":"oct","k":"AAAA"}},{{"kty":7}},{RSA_KEY}"#), RSA_TOKEN, Ok(())),
    ] {
        assert_eq!(verified(&keys, token), expected, "{keys}");
    }
}

#[test]
fn only_keys_that_a_token_may_be_signed_with_are_counted() {
    let with =
        |key: &str, more: &str| format!("{}{more}}}", key.strip_suffix('}').expect("an object"));
    for (keys, count) in [
        ([RSA_KEY, EC_KEY, ED_KEY].join(","), 3),
        (with(RSA_KEY, r#","alg":"PS256""#), 1),
        (with(RSA_KEY, r#","alg":"RS512""#), 0),
        (with(RSA_KEY, r#","alg":"RSA-OAEP""#), 0),
        (with(RSA_KEY, r#","use":"enc""#), 0),
        (with(EC_KEY, r#","alg":"ECDH-ES""#), 0),
        (r#"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#.to_owned(), 0),
        (String::new(), 0),
    ] {
        let set = KeySet::read(format!(r#"{{"keys":[{keys}]}}"#).as_bytes()).expect("keys");
        assert_eq!(set.count(), count, "{keys:.80}");
    }
}

#[test]
fn an_encrypted_token_is_called_so() {
    let Err(fault) = IdToken::split("e30.AA.AA.AA.AA") else { panic!("five parts") };
    assert!(words(&fault).contains("encrypted"), "{fault}");
}

#[test]
fn a_token_with_unknown_critical_headers_is_rejected() {
    let header = |text: &str| format!("{}.e30.AA", URL_SAFE_NO_PAD.encode(text));
    for wrong in [
        "",
        "a.b",
        "a.b.c.d",
        &header("not json"),
        &header(r#"{"alg":"RS256","alg":"none"}"#),
        &header(r#"{"alg":"RS256","crit":["b64"],"b64":false}"#),
        &header(r#"{"alg":"rs256"}"#),
        &header(r#"{"alg":"HS256"}"#),
        &header(r#"{"alg":"none"}"#),
        &header(r#"{"kid":"x"}"#),
        &format!("{}.e30.AA", "A".repeat(70_000)),
    ] {
        assert!(IdToken::split(wrong).is_err(), "{wrong:.80}");
    }
    let fine = header(r#"{"alg":"RS256","kid":"x","x5c":["of no interest"],"typ":"JWT"}"#);
    assert!(IdToken::split(&fine).is_ok());
}
