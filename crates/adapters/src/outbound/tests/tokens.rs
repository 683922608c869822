//! OAuth 2: tokens are shared, renewed in time, replaced after a refusal; a POST is never repeated.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::join_all;
use ring::signature::{RSA_PSS_2048_8192_SHA256, UnparsedPublicKey};
use testkit::tokens::{TokenClient, TokenFault, TokenServer};

use super::*;

async fn server(user: Option<(&str, &str)>) -> TokenServer {
    let user = user.map(|(name, password)| (name.to_owned(), password.to_owned()));
    let client = TokenClient { id: "corridor".to_owned(), secret: "s3cret".to_owned(), user };
    TokenServer::start(client).await.expect("a token endpoint")
}

fn oauth(server: &TokenServer) -> OAuth2 {
    OAuth2 {
        token_url: server.token_url(),
        grant: Grant::ClientCredentials,
        client_id: "corridor".to_owned(),
        client_secret: "s3cret".into(),
        client_authentication: ClientAuthentication::Basic,
        scope: String::new(),
        audience: String::new(),
    }
}

fn settings(oauth: OAuth2) -> Settings {
    let authentication = Authentication::OAuth2(Box::new(oauth));
    Settings { authentication, ..Settings::default() }
}

#[tokio::test]
async fn one_token_serves_all_requests() {
    let server = server(None).await;
    let url = server.resource_url();
    let client = client(&settings(oauth(&server)), &url);
    let answers = join_all((0..20).map(|_| get(&client, &url))).await;
    assert!(answers.iter().all(|answer| *answer == Ok(200)), "{answers:?}");
    assert_eq!(server.issued(), 1);
    // One that has ended is not used again.
    server.revoke();
    server.set_lifetime_s(0);
    for issued in 2..5 {
        assert_eq!(get(&client, &url).await, Ok(200));
        assert_eq!(server.issued(), issued);
    }
}

#[tokio::test]
async fn grants_and_client_authentication_are_those_of_the_settings() {
    let server = server(Some(("bank-user", "pass word"))).await;
    let url = server.resource_url();
    let password = OAuth2 {
        grant: Grant::Password { user: "bank-user".to_owned(), password: "pass word".into() },
        client_authentication: ClientAuthentication::Body,
        scope: "payments accounts".to_owned(),
        audience: "https://bank.example".to_owned(),
        ..oauth(&server)
    };
    assert_eq!(get(&client(&settings(password), &url), &url).await, Ok(200));
    let form = server.forms().remove(0);
    for (field, value) in [
        ("grant_type", "password"),
        ("client_secret", "s3cret"),
        ("scope", "payments accounts"),
        ("audience", "https://bank.example"),
    ] {
        assert_eq!(form.get(field).map(String::as_str), Some(value), "{field}");
    }
    let wrong = client(&settings(oauth(&server)), &url);
    let fault = post(&wrong, &url).await.expect_err("the wrong grant");
    let expected =
        format!("the token endpoint {}: answered 400, invalid_grant", server.token_url());
    assert_eq!(fault, Fault::NotSent(expected));
}

/// The claims of a JWT that the key has signed.
fn claims(jwt: &str, key: &rcgen::KeyPair) -> Option<serde_json::Value> {
    let (signed, signature) = jwt.rsplit_once('.')?;
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
    let public = rcgen::PublicKeyData::der_bytes(key);
    let key = UnparsedPublicKey::new(&RSA_PSS_2048_8192_SHA256, public);
    key.verify(signed.as_bytes(), &signature).ok()?;
    let (header, claims) = signed.split_once('.')?;
    let header = URL_SAFE_NO_PAD.decode(header).ok()?;
    let expected = serde_json::json!({ "alg": "PS256", "kid": "key-7" });
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&header).ok()?, expected);
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()
}

#[tokio::test]
async fn a_client_authenticates_with_an_assertion_that_its_key_signs() {
    let directory = tempfile::tempdir().expect("a directory");
    let key = rcgen::KeyPair::from_pem(include_str!("rfc7515-a2.pem")).expect("a key");
    let other = rcgen::KeyPair::generate().expect("a key");
    let file = written(directory.path(), "key.pem", &key.serialize_pem());
    let server = server(None).await;
    let (url, audience) = (server.resource_url(), server.token_url());
    server.accept_assertions(move |jwt| {
        let now = jiff::Timestamp::now().as_second();
        claims(jwt, &key).is_some_and(|claims| {
            let at = |name: &str| claims[name].as_i64().unwrap_or_default();
            claims["iss"] == "corridor"
                && claims["sub"] == "corridor"
                && claims["aud"] == audience.as_str()
                && claims["jti"].as_str().is_some_and(|id| id.len() == 32)
                && (now - 30..=now).contains(&at("iat"))
                && at("exp") == at("iat") + 60
        })
    });
    let id = "key-7".to_owned();
    let key = JwsKey { algorithm: JwsAlgorithm::Ps256, file: file.clone(), id };
    let signed = OAuth2 {
        client_secret: "".into(),
        client_authentication: ClientAuthentication::PrivateKeyJwt { key, audience: String::new() },
        ..oauth(&server)
    };
    let client = client(&settings(signed), &url);
    assert_eq!(get(&client, &url).await, Ok(200));
    server.revoke();
    assert_eq!(get(&client, &url).await, Ok(200));
    let forms = server.forms();
    let assertions: Vec<_> = forms.iter().map(|form| form["client_assertion"].clone()).collect();
    assert_ne!(assertions[0], assertions[1], "one assertion is used once");
    assert!(forms.iter().all(|form| !form.contains_key("client_secret")));

    // Without the file that its key was in, the last one stays in use; a key of another kind is named.
    std::fs::write(&file, other.serialize_pem()).expect("written");
    server.revoke();
    assert_eq!(get(&client, &url).await, Ok(200));
    let key = JwsKey { algorithm: JwsAlgorithm::Ps256, file: file.clone(), id: String::new() };
    let wrong = OAuth2 {
        client_authentication: ClientAuthentication::PrivateKeyJwt { key, audience: String::new() },
        ..oauth(&server)
    };
    let refused = Client::new(&settings(wrong), "test.url", &[]).expect_err("another key");
    assert_eq!(refused.key, "outbound.default.signature_key_file", "{refused}");

    // An audience of its own.
    let key = rcgen::KeyPair::from_pem(include_str!("rfc7515-a2.pem")).expect("a key");
    std::fs::write(&file, key.serialize_pem()).expect("written");
    server.accept_assertions(move |jwt| {
        claims(jwt, &key).is_some_and(|claims| claims["aud"] == "https://issuer.example")
    });
    server.revoke();
    let key = JwsKey { algorithm: JwsAlgorithm::Ps256, file, id: "key-7".to_owned() };
    let audience = "https://issuer.example".to_owned();
    let own = OAuth2 {
        client_authentication: ClientAuthentication::PrivateKeyJwt { key, audience },
        ..oauth(&server)
    };
    let of_issuer = self::client(&settings(own), &url);
    assert_eq!(get(&of_issuer, &url).await, Ok(200));
}

#[tokio::test]
async fn a_refused_token_is_replaced() {
    let server = server(None).await;
    let url = server.resource_url();
    let client = client(&settings(oauth(&server)), &url);
    assert_eq!(get(&client, &url).await, Ok(200));
    server.revoke();
    assert_eq!(get(&client, &url).await, Ok(200), "a GET is repeated with the next token");
    assert_eq!((server.issued(), server.requests()), (2, (2, 1)));
    server.revoke();
    let address = Url::parse(&url).expect("a URL");
    let text = reqwest::header::HeaderValue::from_static("text/plain");
    let refused = client.send(Request::post(address, text, "body")).await.expect("an answer");
    assert!(refused.names_invalid_token(), "a POST is not repeated");
    assert_eq!((server.issued(), server.requests()), (2, (2, 2)));
    let body = refused.body(1_000).await.expect("a body");
    assert_eq!(String::from_utf8_lossy(&body), "refused: Bearer ***");
    assert_eq!(post(&client, &url).await, Ok(200));
    assert_eq!(server.issued(), 3);
}

#[tokio::test]
async fn without_a_token_nothing_is_sent() {
    let server = server(None).await;
    let url = server.resource_url();
    let client = client(&settings(oauth(&server)), &url);
    server.set_fault(Some(TokenFault::Down));
    let answers = join_all((0..5).map(|_| post(&client, &url))).await;
    for fault in answers {
        let fault = fault.expect_err("no token");
        let expected =
            format!("the token endpoint {}: answered 503, without a reason", server.token_url());
        assert_eq!(fault, Fault::NotSent(expected));
    }
    assert_eq!(server.forms().len(), 1, "requests that waited share the failure");
    assert_eq!(server.requests(), (0, 0));
    server.set_fault(None);
    assert_eq!(post(&client, &url).await, Ok(200));
}

#[tokio::test]
async fn an_endpoint_that_refused_is_not_asked_again_at_once() {
    let server = server(None).await;
    let url = server.resource_url();
    let wrong = OAuth2 { client_secret: "old".into(), ..oauth(&server) };
    let client = client(&settings(wrong), &url);
    for _ in 0..5 {
        let fault = post(&client, &url).await.expect_err("no token");
        assert!(matches!(&fault, Fault::NotSent(why) if why.contains("invalid_client")), "{fault}");
        get(&client, &url).await.expect_err("no token");
    }
    assert_eq!(server.forms().len(), 1, "ten failed logins would lock a user");
}

#[tokio::test]
async fn a_token_goes_to_no_other_host() {
    let tokens = server(None).await;
    let elsewhere = server(None).await;
    let client = client(&settings(oauth(&tokens)), &tokens.resource_url());
    assert_eq!(get(&client, &elsewhere.resource_url()).await, Ok(401));
    assert_eq!(tokens.issued(), 0);
}

#[test]
fn a_token_endpoint_needs_tls() {
    let oauth = OAuth2 {
        token_url: "http://id.example/token".to_owned(),
        grant: Grant::ClientCredentials,
        client_id: "corridor".to_owned(),
        client_secret: "s3cret".into(),
        client_authentication: ClientAuthentication::Basic,
        scope: String::new(),
        audience: String::new(),
    };
    let refused = Client::new(&settings(oauth), "test.url", &[]).expect_err("plain");
    assert_eq!(refused.key, "outbound.default.token_url");
}
