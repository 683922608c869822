//! Error bodies of both services, as sent.

use domain::time::Timestamp;
use http::HeaderMap;

use super::*;
use crate::json::{JsonError, JsonErrorKind};
use crate::limits::Allowance;

fn id() -> RequestId {
    let mut headers = HeaderMap::new();
    headers.insert("x-request-id", HeaderValue::from_static("r-1"));
    RequestId::of(&headers)
}

async fn parts(response: Response) -> (u16, HeaderMap, String) {
    let (head, body) = response.into_parts();
    let body = axum::body::to_bytes(body, 10_000).await.expect("a body");
    (head.status.as_u16(), head.headers, String::from_utf8(body.to_vec()).expect("UTF-8"))
}

#[tokio::test]
async fn a_coded_problem_has_code_message_and_request_id() {
    let problem =
        Problem::bad_request("quote_used", "The quote was used").with("payment_id", "p-1");
    let (status, headers, body) = parts(problem.respond(&id())).await;
    assert_eq!(
        (status, &headers["content-type"]),
        (400, &HeaderValue::from_static("application/json"))
    );
    assert_eq!(
        body,
        r#"{"detail":{"code":"quote_used","message":"The quote was used","payment_id":"p-1","request_id":"r-1"}}"#
    );
}

#[tokio::test]
async fn faults_are_a_list_of_loc_msg_type_and_ctx() {
    let faults = vec![
        Fault::new("amount", "missing", "Field required"),
        Fault::new("beneficiary_name", "string_too_long", "Too long").with("max_length", 128),
        Fault::new("amount", "amount_mismatch", "Wrong").with("expected", "37912.05"),
    ];
    let (status, _, body) =
        parts(Problem::invalid(faults).with("payment_id", "p-1").respond(&id())).await;
    assert_eq!(status, 422);
    assert_eq!(
        body,
        concat!(
            r#"{"detail":[{"loc":["body","amount"],"msg":"Field required","type":"missing"},"#,
            r#"{"loc":["body","beneficiary_name"],"msg":"Too long","type":"string_too_long","ctx":{"max_length":128}},"#,
            r#"{"loc":["body","amount"],"msg":"Wrong","type":"amount_mismatch","ctx":{"expected":37912.05,"payment_id":"p-1"}}]}"#
        )
    );
}

#[tokio::test]
async fn a_body_that_is_no_object_is_located_in_the_body() {
    let malformed = Rejection::Json(JsonError { offset: 17, kind: JsonErrorKind::DuplicateMember });
    let query = Rejection::Faults {
        place: Place::Query,
        faults: vec![Fault::new("limit", "int_parsing", "No")],
    };
    for (rejection, expected) in [
        (
            malformed,
            r#"{"loc":["body",17],"msg":"JSON decode error","type":"json_invalid","ctx":{"error":"duplicate member name"}}"#,
        ),
        (Rejection::NoBody, r#"{"loc":["body"],"msg":"Field required","type":"missing"}"#),
        (
            Rejection::NotAnObject,
            r#"{"loc":["body"],"msg":"Input should be a JSON object","type":"dict_type"}"#,
        ),
        (query, r#"{"loc":["query","limit"],"msg":"No","type":"int_parsing"}"#),
    ] {
        let (status, _, body) = parts(Problem::from(rejection).respond(&id())).await;
        assert_eq!((status, body), (422, format!("{{\"detail\":[{expected}]}}")));
    }
}

#[tokio::test]
async fn statuses_bring_the_headers_that_belong_to_them() {
    let (status, headers, _) = parts(Problem::unauthorized("No").respond(&id())).await;
    assert_eq!((status, &headers["www-authenticate"]), (401, &HeaderValue::from_static("Bearer")));
    for (problem, status) in [
        (Problem::too_many_requests(3), 429),
        (Problem::unavailable(3), 503),
        (Problem::conflict("c", "m").retry_after(3), 409),
    ] {
        let (given, headers, _) = parts(problem.respond(&id())).await;
        assert_eq!((given, &headers["retry-after"]), (status, &HeaderValue::from_static("3")));
    }
}

#[tokio::test]
async fn v1_errors_are_flat() {
    let now = Timestamp(1_795_244_268_123_999);
    let problem = WalletProblem::new(StatusCode::CONFLICT, "WALLET_EXISTS", "There is one")
        .of_field("customer_id")
        .with_top_level("existing_wallet_id", "w-1");
    let (status, _, body) = parts(problem.respond(&id(), now)).await;
    assert_eq!(status, 409);
    assert_eq!(
        body,
        concat!(
            r#"{"error":"WALLET_EXISTS","message":"There is one","field":"customer_id","existing_wallet_id":"w-1","#,
            r#""details":{"existing_wallet_id":"w-1"},"request_id":"r-1","timestamp":"2026-11-21T06:57:48.123Z"}"#
        )
    );
}

#[tokio::test]
async fn v1_names_the_first_wrong_field_and_lists_the_others() {
    let faults = vec![
        Fault::new("amount.value", "missing", "Field required"),
        Fault::new("purpose", "x", "Too long").with("max_length", 256).with("given", "Page"),
    ];
    let (status, _, body) =
        parts(WalletProblem::from(Rejection::body(faults)).respond(&id(), Timestamp(0))).await;
    assert_eq!(status, 400);
    assert!(body.starts_with(
        r#"{"error":"INVALID_REQUEST","message":"amount.value: Field required","field":"amount.value","details":{"faults":[{"field":"amount.value","rule":"missing","message":"Field required"},{"field":"purpose","rule":"x","message":"Too long","ctx":{"max_length":256,"given":"Page"}}]}"#
    ));
    let malformed = JsonError { offset: 3, kind: JsonErrorKind::TooDeep };
    let (_, _, body) =
        parts(WalletProblem::from(Rejection::from(malformed)).respond(&id(), Timestamp(0))).await;
    assert!(body.contains("malformed JSON: nested deeper than 32 levels at byte 3"), "{body}");
}

#[tokio::test]
async fn v1_reports_the_limit_its_window_and_when_to_retry() {
    let allowance = Allowance { limit: 50, remaining: 0, reset_s: 12, retry_after_s: Some(12) };
    let (status, headers, body) =
        parts(WalletProblem::too_many_requests(&allowance).respond(&id(), Timestamp(0))).await;
    assert_eq!((status, &headers["retry-after"]), (429, &HeaderValue::from_static("12")));
    assert!(
        body.starts_with(
            r#"{"error":"RATE_LIMIT_EXCEEDED","message":"Too many requests","details":{"limit":50,"window":"60s","retry_after":12},"request_id":"r-1""#
        ),
        "{body}"
    );
}
