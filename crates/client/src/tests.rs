//! The client over a real socket: signatures, repetition, refusals, events.

use super::*;
use testkit::scripted::Scripted;

fn client(server: &Scripted) -> Client {
    Client::new(crate::scripted::credentials(server)).expect("a client")
}

/// Every request carries a valid token for this server, which attests its body.
fn assert_signed(server: &Scripted) {
    for asked in server.asked() {
        let expected = Expected {
            now: Timestamp::now().as_second(),
            url: Some(server.base_url.clone()),
            secret: Some(crate::scripted::credentials(server).secret_key),
            body: (!asked.body.is_empty()).then(|| asked.body.clone()),
            max_age_s: 300,
        };
        let checks = inspect(asked.header("authorization"), &expected);
        assert!(checks.iter().all(|check| check.passed != Some(false)), "{checks:?}");
        let attested =
            checks.iter().any(|check| check.name == "claims.hmac" && check.passed == Some(true));
        assert_eq!(attested, !asked.body.is_empty(), "{checks:?}");
    }
}

#[tokio::test]
async fn a_lost_post_is_repeated_under_the_same_key() {
    let server =
        Scripted::start(&[("/v2/payment", &[(503, "{}"), (503, "{}"), (200, r#"{"id":"p"}"#)])])
            .await;
    let answer = client(&server)
        .post("/v2/payment", r#"{"amount":37912.05}"#)
        .await
        .expect("the third time");
    assert_eq!(answer.body, r#"{"id":"p"}"#);
    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    assert!(
        asked.iter().all(|one| one.header("idempotency-key") == asked[0].header("idempotency-key"))
    );
    assert!(
        asked.iter().all(|one| one.body == br#"{"amount":37912.05}"# && one.path == "/v2/payment")
    );
    assert!(!asked[0].header("idempotency-key").is_empty());
    assert_signed(&server);
}

#[tokio::test]
async fn refusals_and_failures_are_never_repeated() {
    for (status, refused) in [(400, true), (422, true), (302, true), (500, false)] {
        let server = Scripted::start(&[(
            "/v2/payment",
            &[(status, r#"{"detail":{"code":"x","message":"no"}}"#)],
        )])
        .await;
        let error = client(&server).post("/v2/payment", "{}").await.expect_err("refused");
        assert_eq!(matches!(error, ClientError::Refused { .. }), refused, "{status}: {error:?}");
        assert_eq!(server.asked().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn a_closed_port_is_reported_at_once() {
    let server = Scripted::start(&[]).await;
    let unused = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = unused.local_addr().expect("bound");
    drop(unused);
    let credentials = Credentials {
        base_url: format!("http://{address}"),
        ..crate::scripted::credentials(&server)
    };
    let error = Client::new(credentials)
        .expect("a client")
        .post("/v2/quote", "{}")
        .await
        .expect_err("a closed port");
    assert!(matches!(error, ClientError::Unavailable { repeat: false, .. }), "{error:?}");
    assert!(error.to_string().contains(&address.to_string()), "{error}");
}

#[tokio::test]
async fn queries_are_encoded() {
    let server = Scripted::start(&[("/v2/payments", &[(200, "[]")])]).await;
    let query = [("country", "PAK".to_owned()), ("search_term", "a&b=c d".to_owned())];
    client(&server).get("/v2/payments", &query).await.expect("answered");
    assert_eq!(server.asked()[0].query, "country=PAK&search_term=a%26b%3Dc+d");
    assert_signed(&server);
}

#[tokio::test]
async fn events_are_read_to_the_end_of_the_stream() {
    let lines = "{\"seq\":8,\"type\":\"quote.used\",\"data\":{}}\n\n{\"seq\":9,\"type\":\"payment.queued\",\"data\":{\"id\":\"p\"}}\n";
    let server = Scripted::start(&[("/v2/events", &[(200, lines)])]).await;
    let mut stream = client(&server).events(Some(7)).await.expect("opened");
    let mut seen = Vec::new();
    while let Some(event) = stream.next().await.expect("an event") {
        seen.push((event.seq, event.kind, event.data));
    }
    let expected = [(8, "quote.used", "{}"), (9, "payment.queued", r#"{"id":"p"}"#)];
    assert_eq!(seen, expected.map(|(seq, kind, data)| (seq, kind.to_owned(), data.to_owned())));
    assert_eq!(server.asked()[0].query, "after=7");
    assert_signed(&server);
}
