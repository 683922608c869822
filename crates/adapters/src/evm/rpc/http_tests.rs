//! Tests of the HTTP transport against a socket with scripted answers.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;
use crate::evm::rpc::answer;

fn settings(url: &str) -> HttpSettings {
    HttpSettings {
        key: "chain.node_url".to_owned(),
        url: url.into(),
        outbound: outbound::Settings::default(),
        max_answer_bytes: 100,
    }
}

fn transport(url: &str) -> HttpTransport {
    HttpTransport::new(&settings(url)).expect("transport")
}

/// Serves one answer and returns its URL, whose path looks like a key.
async fn serve_once(head: &'static str, body: String) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("port");
    let url = format!("http://{}/v3/secret-key", listener.local_addr().expect("address"));
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("accept");
        let mut request = [0; 4096];
        let _ = socket.read(&mut request).await.expect("request");
        let head = format!(
            "HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        socket.write_all(head.as_bytes()).await.expect("head");
        // A client that has read enough may hang up.
        let _ = socket.write_all(body.as_bytes()).await;
    });
    url
}

#[tokio::test]
async fn errors_with_their_own_status_are_read() {
    for (head, body, expected) in [
        ("200 OK", "[1]", Ok("[1]")),
        ("400 Bad Request", " {\"error\":{}}", Ok(" {\"error\":{}}")),
        ("400 Bad Request", "[1]", Ok("[1]")),
        ("400 Bad Request", r#"{"jsonrpc":"2.0"}"#, Ok(r#"{"jsonrpc":"2.0"}"#)),
        ("502 Bad Gateway", "<html>", Err("HTTP 502 Bad Gateway")),
        ("502 Bad Gateway", "{}", Err("HTTP 502 Bad Gateway")),
        (
            "401 Unauthorized",
            r#"{"message":"Invalid API key"}"#,
            Err("HTTP 401 Unauthorized: Invalid API key"),
        ),
        (
            "403 Forbidden",
            r#"{"error":"no project secret-key\n"}"#,
            Err("HTTP 403 Forbidden: no project *** "),
        ),
        (
            "200 OK\r\ncontent-type: text/html",
            "<html>",
            Err("HTTP 200 OK with text/html instead of JSON"),
        ),
        ("200 OK", "", Err("HTTP 200 OK with no content type instead of JSON")),
        ("302 Found\r\nlocation: http://127.0.0.1:1/", "", Err("HTTP 302 Found")),
    ] {
        let url = serve_once(head, body.to_owned()).await;
        let answer = transport(&url).send(b"{}".to_vec()).await;
        let expected = match expected {
            Ok(text) => Ok(text.as_bytes().to_vec()),
            Err(text) => Err(TransportFault::Failed(text.to_owned())),
        };
        assert_eq!(answer, expected, "{head}");
    }
}

#[tokio::test]
async fn a_pause_is_recognised_with_any_body() {
    let json = r#"{"id":0,"result":"0x1"}"#;
    let date = "date: Wed, 25 Nov 2026 20:00:00 GMT";
    for (head, status, seconds) in [
        ("429 Too Many Requests".to_owned(), 429, None),
        ("429 Too Many Requests\r\nretry-after: 7".to_owned(), 429, Some(7)),
        (
            format!(
                "429 Too Many Requests\r\n{date}\r\nretry-after: Wed, 25 Nov 2026 20:01:30 GMT"
            ),
            429,
            Some(90),
        ),
        ("429 Too Many Requests\r\nretry-after: soon".to_owned(), 429, None),
        ("503 Service Unavailable\r\nretry-after: 2".to_owned(), 503, Some(2)),
    ] {
        let url = serve_once(head.clone().leak(), json.to_owned()).await;
        let expected =
            TransportFault::Busy { status, retry_after: seconds.map(Duration::from_secs) };
        assert_eq!(transport(&url).send(b"{}".to_vec()).await, Err(expected), "{head}");
    }
}

#[tokio::test]
async fn the_refusal_of_a_large_answer_is_none_of_the_rate() {
    let error = |text: &str| format!(r#"{{"id":1,"error":{{"code":-32005,"message":"{text}"}}}}"#);
    let large = error("more than 9 results");
    let (whole, both) = (large.clone(), format!(r#"[{{"id":0,"result":null}},{large}]"#));
    for (body, is_answer) in [
        (whole, true),
        (both, true),
        (error("limit exceeded"), false),
        (error("Too Many Requests"), false),
        (r#"{"error":{}}"#.to_owned(), false),
        ("[]".to_owned(), false),
    ] {
        let url = serve_once("429 Too Many Requests", body.clone()).await;
        let busy = TransportFault::Busy { status: 429, retry_after: None };
        let expected = if is_answer { Ok(body.clone().into_bytes()) } else { Err(busy) };
        assert_eq!(transport(&url).send(b"{}".to_vec()).await, expected, "{body}");
    }
}

#[tokio::test]
async fn an_oversized_answer_is_not_read() {
    let url = serve_once("200 OK", "x".repeat(101)).await;
    assert_eq!(
        transport(&url).send(Vec::new()).await,
        Err(TransportFault::TooLarge { max_bytes: 100 })
    );
    let url = serve_once("413 Payload Too Large", String::new()).await;
    assert_eq!(
        transport(&url).send(Vec::new()).await,
        Err(TransportFault::TooLarge { max_bytes: 100 })
    );
}

#[tokio::test]
async fn an_error_that_repeats_the_key_is_masked() {
    let body = r#"{"error":{"message":"project secret-key is unknown: /v3/secret-key"}}"#;
    let transport = transport(&serve_once("200 OK", body.to_owned()).await);
    let answer = transport.send(b"{}".to_vec()).await.expect("an answer");
    let hide = |text: &str| transport.masked(text.to_owned());
    let refused = answer::single(&answer, &hide).expect("read").expect_err("an error");
    assert_eq!(refused.message, "project *** is unknown: /***");
}

#[tokio::test]
async fn a_fault_never_names_the_url() {
    let url = serve_once("200 OK", String::new()).await;
    let refused = transport("http://127.0.0.1:1/v3/secret-key")
        .send(Vec::new())
        .await
        .expect_err("the port is closed");
    assert!(!refused.to_string().contains("secret-key"), "{refused}");
    drop(url);
}

#[test]
fn only_tls_leaves_the_machine_unless_it_is_allowed() {
    for (url, allowed) in [
        ("https://node.example/v3/key", true),
        ("http://localhost:8545", true),
        ("http://[::1]:8545", true),
        ("http://node.example", false),
        ("ws://localhost:8545", false),
        ("node", false),
    ] {
        assert_eq!(HttpTransport::new(&settings(url)).is_ok(), allowed, "{url}");
    }
    let outbound = outbound::Settings { plain_http: true, ..outbound::Settings::default() };
    let plain = HttpSettings { outbound, ..settings("http://geth:8545") };
    assert!(HttpTransport::new(&plain).is_ok());
}
