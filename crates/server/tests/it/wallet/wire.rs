//! Rules for every call to the wallet service before its fields are checked: invalid bodies, content
//! types, sizes, unknown paths and methods, request ids (`decisions.md`: "Body", "X-Request-Id",
//! "Wrong content type, malformed JSON → 400 INVALID_REQUEST").

use reqwest::Method;

use super::table::{MANAGER, MISSING, Op};
use crate::harness::client::Call;
use crate::harness::hostile::{Malformed, malformed_json};
use crate::harness::wallet_bank::refused;
use crate::harness::{Answer, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    malformed_json_is_an_invalid_request
    every_malformed_document_is_reported_with_its_byte
    a_body_of_another_type_is_an_invalid_request
    a_body_beyond_the_limit_is_too_large
    operations_without_a_body_need_none
    an_unknown_path_is_not_found
    another_method_is_not_allowed
    a_valid_request_id_is_echoed_and_another_replaced
    the_order_is_401_403_429_and_then_the_request
}

/// Documents that are JSON, and no object.
const NO_OBJECTS: [&[u8]; 6] = [b"null", b"[]", b"[{}]", b"\"text\"", b"5", b"true"];
/// So many bodies go to one operation: its rate is limited.
const BODIES_EACH: usize = 20;

fn post(bank: &WalletBank, op: &Op, body: &[u8]) -> Call {
    let call = bank.call_as(MANAGER, Method::POST, &op.url(MISSING), None);
    call.body(body.to_vec())
}

/// Operations with a body.
fn with_bodies() -> Vec<Op> {
    Op::posts().into_iter().filter(|op| op.schema.is_some()).collect()
}

#[track_caller]
fn invalid(answer: &Answer, status: u16) -> String {
    let body = refused(answer, status, "INVALID_REQUEST", None);
    assert_eq!(body.names(), ["error", "message", "request_id", "timestamp"], "{answer:?}");
    body["message"].text().to_owned()
}

async fn malformed_json_is_an_invalid_request(on: On) {
    for op in with_bodies() {
        let bank = WalletBank::new(on).await;
        for body in NO_OBJECTS {
            let message = invalid(&post(&bank, &op, body).send().await, 400);
            assert!(message.starts_with("the body is not a JSON object"), "{message}");
        }
        let nested =
            |depth: usize| format!("{{\"deep\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        let message = invalid(&post(&bank, &op, nested(32).as_bytes()).send().await, 400);
        assert!(message.contains("nested deeper than 32 levels"), "{message}");
        // The body of an unblock is optional.
        if !op.path.ends_with("/unblock") {
            for none in [&b""[..], b" \n"] {
                assert_eq!(
                    invalid(&post(&bank, &op, none).send().await, 400),
                    "the request has no body"
                );
            }
        }
        // Compressed bodies are not supported.
        let gzip: &[u8] = &[
            0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab, 0xae, 5, 0, 0x43, 0xbf, 0xa6, 0xa3, 2, 0, 0,
            0,
        ];
        invalid(&post(&bank, &op, gzip).header("content-encoding", "gzip").send().await, 415);
        invalid(&post(&bank, &op, gzip).send().await, 400);
    }
}

async fn every_malformed_document_is_reported_with_its_byte(on: On) {
    let documents = malformed_json();
    let ops = with_bodies();
    for (op, documents) in ops.iter().cycle().zip(documents.chunks(BODIES_EACH)) {
        let bank = WalletBank::new(on).await;
        for Malformed { body, offset, reason } in documents {
            let message = invalid(&post(&bank, op, body).send().await, 400);
            let expected = format!("malformed JSON: {reason} at byte {offset}");
            assert_eq!(message, expected, "{}", String::from_utf8_lossy(body));
        }
    }
}

async fn a_body_of_another_type_is_an_invalid_request(on: On) {
    let bank = WalletBank::new(on).await;
    for op in Op::posts() {
        for other in ["text/plain", "application/json5", ""] {
            let call = post(&bank, &op, op.body(MISSING).as_bytes()).header("content-type", other);
            assert_eq!(invalid(&call.send().await, 400), "The body must be application/json");
        }
        let none = post(&bank, &op, op.body(MISSING).as_bytes()).without("content-type");
        assert_eq!(invalid(&none.send().await, 400), "The body must be application/json");
    }
    let unblock = format!("/v1/sdk/wallets/{MISSING}/unblock");
    for json in ["Application/JSON", "application/json; charset=utf-8", "application/json;x=y"] {
        let answer = bank.post(&unblock, "{}").header("content-type", json).send().await;
        refused(&answer, 404, "NOT_FOUND", Some("wallet_id"));
    }
}

async fn a_body_beyond_the_limit_is_too_large(on: On) {
    let bank = WalletBank::new(on).await;
    for op in Op::posts() {
        let good = op.body(MISSING);
        let padded = |bytes: usize| format!("{good}{}", " ".repeat(bytes - good.len()));
        let most = post(&bank, &op, padded(65_536).as_bytes()).send().await;
        assert!([200, 404].contains(&most.status), "{most:?}");
        for bytes in [65_537, 200_000] {
            let message = invalid(&post(&bank, &op, padded(bytes).as_bytes()).send().await, 413);
            assert_eq!(message, "The body is larger than 65536 bytes");
        }
    }
}

async fn operations_without_a_body_need_none(on: On) {
    let bank = WalletBank::new(on).await;
    for op in
        Op::posts().into_iter().filter(|op| op.schema.is_none() || op.path.ends_with("/unblock"))
    {
        let field = op.names().expect("it names something").to_owned();
        let none =
            bank.call_as(MANAGER, Method::POST, &op.url(MISSING), None).without("content-type");
        refused(&none.send().await, 404, "NOT_FOUND", Some(&field));
        for body in [&b"{"[..], b"{\"a\":1,\"a\":1}", b"[]"] {
            invalid(&post(&bank, &op, body).send().await, 400);
        }
    }
    // A GET's body is ignored.
    let read = bank.call_as(MANAGER, Method::GET, "/v1/sdk/events", Some("{".to_owned()));
    read.send().await.ok();
}

async fn an_unknown_path_is_not_found(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    for path in [
        "/v1/sdk",
        "/v1/sdk/",
        "/v1/sdk/wallet",
        "/v1/sdk/wallets/1/2/3",
        "/v1/sdk/wallets/1/freeze",
        "/v1/sdk/Wallets/1",
        "/v1/sdk/payment-request/1",
        "/v1/sdk/payment-requests/1/pay",
        "/v1/sdk/orders/1/2",
        "/v1/sdk/transactions/1/2",
        "/v1/sdk//events",
        "/v1/sdk/webhooks",
        "/v1/sdk/events;x=1",
    ] {
        let signed = bank.get(path).send().await;
        let unsigned = bank.bank.unsigned(Method::POST, path, None).send().await;
        for answer in [signed, unsigned] {
            let body = refused(&answer, 404, "NOT_FOUND", None);
            assert_eq!(body["message"].text(), "Path not found", "{path}");
        }
    }
    bank.finish().await;
}

async fn another_method_is_not_allowed(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let all = Op::all();
    for op in &all {
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            if all.iter().any(|other| other.method == method && other.path == op.path) {
                continue;
            }
            // An id may have this value.
            if op.path == "/v1/sdk/wallets/provision" && method == Method::GET {
                continue;
            }
            let answer = bank.call_as(MANAGER, method.clone(), &op.url(MISSING), None).send().await;
            let message = invalid(&answer, 405);
            assert_eq!(message, "Method not allowed", "{method} {}", op.path);
            let mut allowed: Vec<&str> =
                answer.header("allow").expect("Allow").split(',').collect();
            allowed.retain(|name| *name != "HEAD");
            allowed.sort_unstable();
            let known = all.iter().filter(|other| other.path == op.path);
            let mut known: Vec<&str> = known.map(|other| other.method.as_str()).collect();
            known.sort_unstable();
            assert_eq!(allowed, known, "{method} {}", op.path);
        }
    }
    bank.finish().await;
}

async fn a_valid_request_id_is_echoed_and_another_replaced(on: On) {
    let bank = WalletBank::new(on).await;
    for id in ["a", "req-1.2_B", &"x".repeat(128)] {
        let good = bank.get("/v1/sdk/events").header("x-request-id", id).send().await;
        assert_eq!(good.header("x-request-id"), Some(id));
        let bad =
            bank.get(&format!("/v1/sdk/wallets/{MISSING}")).header("x-request-id", id).send().await;
        assert_eq!(refused(&bad, 404, "NOT_FOUND", Some("wallet_id"))["request_id"].text(), id);
    }
    for id in ["", "a b", "a/b", "a\"b", "é", &"x".repeat(129), "<script>"] {
        let answer =
            bank.get(&format!("/v1/sdk/wallets/{MISSING}")).header("x-request-id", id).send().await;
        let given =
            refused(&answer, 404, "NOT_FOUND", Some("wallet_id"))["request_id"].text().to_owned();
        assert!(given != id && uuid::Uuid::parse_str(&given).is_ok(), "{given}");
    }
    for op in Op::all() {
        let answer = op.call(&bank, MANAGER, MISSING).header("x-request-id", "mine").send().await;
        assert_eq!(answer.header("x-request-id"), Some("mine"), "{}", op.path);
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{}", op.path);
    }
}

async fn the_order_is_401_403_429_and_then_the_request(on: On) {
    let bank = WalletBank::agreed(on, |policy| policy.wallet.strict_roles = true).await;
    let order = |roles: &[&str], body: &str| {
        bank.call_as(roles, Method::POST, "/v1/sdk/orders", Some(body.to_owned()))
    };
    refused(&order(&[], "{").without("authorization").send().await, 401, "UNAUTHORIZED", None);
    refused(&order(&[], "{").send().await, 403, "FORBIDDEN", None);
    // Exhausted, also by refused calls.
    let used_up = async || {
        for _ in 0..60 {
            if order(MANAGER, "{").send().await.status == 429 {
                return true;
            }
        }
        false
    };
    let large = "x".repeat(70_000);
    let too_many = async || {
        assert!(used_up().await || used_up().await);
        refused(&order(&[], "{").send().await, 403, "FORBIDDEN", None);
        order(MANAGER, &large).header("content-type", "text/plain").send().await
    };
    let mut answer = too_many().await;
    // A window that ended in between says nothing.
    if answer.status != 429 {
        answer = too_many().await;
    }
    refused(&answer, 429, "RATE_LIMIT_EXCEEDED", None);
}
