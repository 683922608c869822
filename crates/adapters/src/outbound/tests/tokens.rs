//! OAuth 2: tokens are shared, renewed in time, replaced after a refusal; a POST is never repeated.

use futures_util::future::join_all;
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
