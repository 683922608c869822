//! Decoding requests of Payment Service v2: tables of fields and errors.

use domain::order::{AccountType, DocumentType};

use super::*;
use crate::decode::Place;

const QUOTE: &str = "6f0c7ac6-53b5-4d3a-9d9e-0123456789ab";

fn order(edit: impl FnOnce(&mut serde_json::Map<String, serde_json::Value>)) -> Vec<u8> {
    let mut body = serde_json::json!({
        "country": "PAK", "currency": "AED", "quote": QUOTE, "amount": 37912,
        "bank_name": "Standard Chartered", "bank_branch_code": "SCBLPKKX", "bank_branch_name": "ignored",
        "beneficiary_name": "  Asha Khan ", "beneficiary_city": "Lahore", "beneficiary_address": "12 Mall Road",
        "beneficiary_account_number": "PK36SCBL0000001123456702", "beneficiary_email": null, "remarks": "line\nline",
        "sender_name": "Ali Khan", "sender_birthdate": "1990-02-28", "sender_identity_doc_type": "passport",
        "sender_identity_doc": "P123", "sender_city": "Dubai", "sender_address": "1 Creek", "sender_country": "ARE",
        "sender_relation": "Brother", "external_id": "INV-1", "timestamp": 5, "unknown": {"a": [1, {}]}
    });
    edit(body.as_object_mut().expect("an object"));
    serde_json::to_vec(&body).expect("writes")
}

fn faults<T: std::fmt::Debug>(result: Result<T, Rejection>) -> Vec<(&'static str, &'static str)> {
    match result.expect_err("must be refused") {
        Rejection::Faults { faults, .. } => {
            faults.iter().map(|fault| (fault.field, fault.rule)).collect()
        }
        other => panic!("{other}"),
    }
}

/// The errors of an order, whether or not its country was readable.
fn order_faults(body: &[u8]) -> Vec<(&'static str, &'static str)> {
    match payment_order(body) {
        Ok((_, shape)) => shape.iter().map(|fault| (fault.field, fault.rule)).collect(),
        refused => faults(refused),
    }
}

#[test]
fn a_quote_request_is_read_exactly() {
    let body = br#"{"country":"IND","currency":"KWD","amount":9007199254740.993,"bank_branch_code":" HDFC0000001 "}"#;
    let request = QuoteRequest {
        country: Country::Ind,
        currency: Currency::Kwd,
        amount: "9007199254740.993".parse().expect("a number"),
        beneficiary_account_number: None,
        bank_branch_code: Some("HDFC0000001".to_owned()),
    };
    assert_eq!(quote_request(body), Ok((request, None, Vec::new())));
}

#[test]
fn a_quote_request_may_have_its_account_checked() {
    let body = br#"{"country":"PAK","currency":"AED","amount":100,"check_account":true,
        "beneficiary_account_number":"PK36SCBL0000001123456702","bank_branch_code":"SCBLPKKX",
        "beneficiary_name":"Ali Raza"}"#;
    let (request, check, faults) = quote_request(body).expect("valid");
    assert_eq!(faults, []);
    assert_eq!(request.bank_branch_code.as_deref(), Some("SCBLPKKX"));
    let check = check.expect("it is checked");
    assert_eq!((check.country, check.name.as_str()), (Country::Pak, "Ali Raza"));
    let body = br#"{"country":"PAK","currency":"AED","amount":100,"check_account":true}"#;
    let missing = ["beneficiary_account_number", "bank_branch_code", "beneficiary_name"];
    assert_eq!(shape(quote_request(body)), missing.map(|field| (field, "missing")));
    for (value, expected) in [("false", None), ("null", None), ("1", Some("bool_type"))] {
        let body = format!(
            r#"{{"country":"PAK","currency":"AED","amount":100,"check_account":{value},"beneficiary_name":7}}"#
        );
        let (_, check, faults) = quote_request(body.as_bytes()).expect("a country");
        assert_eq!(check, None, "{value}");
        let found = faults.first().map(|fault| fault.rule);
        assert_eq!(found, expected, "{value}");
    }
}

/// The errors of a quote request whose country was readable.
fn shape(read: Result<QuoteBody, Rejection>) -> Vec<(&'static str, &'static str)> {
    let (_, check, faults) = read.expect("a country");
    assert_eq!(check, None, "no bank is asked about it");
    faults.iter().map(|fault| (fault.field, fault.rule)).collect()
}

#[test]
fn a_quote_request_reports_all_its_errors() {
    assert_eq!(
        faults(quote_request(br#"{"country":"USA","amount":"5","beneficiary_account_number":1}"#)),
        [
            ("country", "enum"),
            ("currency", "missing"),
            ("amount", "decimal_type"),
            ("beneficiary_account_number", "string_type")
        ]
    );
    assert_eq!(
        shape(quote_request(br#"{"country":"IND","currency":"USD","amount":0}"#)),
        [("currency", "enum"), ("amount", "greater_than")]
    );
}

#[test]
fn an_order_is_read_and_what_the_server_fills_in_is_ignored() {
    let (UncheckedOrder(order), shape) =
        payment_order(&order(|_| {}).replace_number()).expect("valid");
    assert_eq!(shape, []);
    assert_eq!(order.amount.to_string(), "37912.05");
    assert_eq!(order.beneficiary_name, "Asha Khan");
    assert_eq!(order.beneficiary_account_type, AccountType::Savings);
    assert_eq!(order.beneficiary_email, None);
    assert_eq!(order.remarks.as_deref(), Some("line\nline"));
    assert_eq!(order.sender_identity_doc_type, DocumentType::Passport);
    assert_eq!(order.sender_relation, "Brother");
}

/// Writes the amount with decimals, which serde_json would turn into a binary float.
trait ReplaceNumber {
    fn replace_number(self) -> Vec<u8>;
}

impl ReplaceNumber for Vec<u8> {
    fn replace_number(self) -> Vec<u8> {
        String::from_utf8(self)
            .expect("UTF-8")
            .replace("\"amount\":37912", "\"amount\":37912.05")
            .into_bytes()
    }
}

#[test]
fn an_empty_order_misses_every_required_field_in_order() {
    let missing: Vec<&str> =
        faults(payment_order(b"{}")).into_iter().map(|(field, _)| field).collect();
    assert_eq!(
        missing,
        [
            "country",
            "currency",
            "quote",
            "amount",
            "bank_name",
            "bank_branch_code",
            "beneficiary_name",
            "beneficiary_city",
            "beneficiary_address",
            "beneficiary_account_number",
            "sender_name",
            "sender_identity_doc_type",
            "sender_identity_doc",
            "sender_city",
            "sender_address",
            "sender_country",
            "sender_relation"
        ]
    );
}

#[test]
fn each_limit_of_the_specification_is_kept() {
    for (field, value, rule) in [
        ("beneficiary_name", serde_json::json!("x".repeat(129)), "string_too_long"),
        ("beneficiary_address", serde_json::json!("x".repeat(71)), "string_too_long"),
        ("sender_address", serde_json::json!("x".repeat(71)), "string_too_long"),
        ("external_id", serde_json::json!("x".repeat(129)), "string_too_long"),
        ("external_id", serde_json::json!(""), "string_too_short"),
        ("sender_country", serde_json::json!("AE"), "string_too_short"),
        ("sender_country", serde_json::json!("AREX"), "string_too_long"),
        ("sender_identity_doc_country", serde_json::json!("PK"), "string_too_short"),
        ("amount", serde_json::json!(0), "greater_than"),
        ("amount", serde_json::json!("37912.05"), "decimal_type"),
        ("country", serde_json::json!("pak"), "enum"),
        ("beneficiary_account_type", serde_json::json!("checking"), "enum"),
        ("sender_identity_doc_type", serde_json::json!("visa"), "enum"),
        ("sender_identity_doc_type", serde_json::json!(null), "missing"),
        ("quote", serde_json::json!("1"), "uuid_parsing"),
        ("sender_birthdate", serde_json::json!("28.02.1990"), "date_parsing"),
        ("sender_name", serde_json::json!("A\u{0}B"), "control_character"),
        ("remarks", serde_json::json!("a\u{7}"), "control_character"),
        ("beneficiary_name", serde_json::json!("\u{202E}Asha"), "forbidden_character"),
        ("sender_address", serde_json::json!("5\u{2066} Street"), "forbidden_character"),
        ("external_id", serde_json::json!("a\u{E0041}"), "forbidden_character"),
        ("sender_identity_doc", serde_json::json!("a\u{FFFF}"), "forbidden_character"),
        ("beneficiary_city", serde_json::json!("\u{E000}"), "forbidden_character"),
        ("bank_name", serde_json::json!("\u{200B}\u{2800}"), "missing"),
        ("sender_city", serde_json::json!("\u{3164}"), "missing"),
        ("external_id", serde_json::json!("\u{200B}"), "string_too_short"),
    ] {
        let body = order(|members| drop(members.insert(field.to_owned(), value.clone())));
        assert_eq!(order_faults(&body), [(field, rule)], "{value}");
    }
    let longest =
        order(|members| drop(members.insert("beneficiary_name".into(), "আ".repeat(128).into())));
    assert_eq!(order_faults(&longest), []);
}

#[test]
fn a_list_query_has_its_defaults_and_bounds() {
    let far = list_query(Some("country=PAK&offset=9223372036854775808000"))
        .expect("valid: an empty page");
    assert_eq!(far.offset, i64::MAX.unsigned_abs());
    let plain = list_query(Some("country=PAK")).expect("valid");
    assert_eq!((plain.limit, plain.offset, plain.sorting_order), (20, 0, SortingOrder::Desc));
    assert!(plain.status.is_empty() && plain.search.is_none() && plain.start_ts.is_none());
    let blank = "country=PAK&limit=&offset=&sorting_order=+&start_ts=&end_ts=&status=&search_term=";
    assert_eq!(list_query(Some(blank)).as_ref(), Ok(&plain));
    let full = "country=PAK&limit=0&offset=7&sorting_order=asc&start_ts=2026-01-01T00:00:00&end_ts=2026-01-02T00:00:00Z\
                &status=queued,failed&status=canceled&search_type=linked_txn&search_term=%20REF%201";
    let full = list_query(Some(full)).expect("valid");
    assert_eq!((full.limit, full.offset, full.sorting_order), (0, 7, SortingOrder::Asc));
    assert_eq!(full.status, [PaymentState::Queued, PaymentState::Failed, PaymentState::Canceled]);
    assert_eq!(full.search, Some((SearchType::LinkedTxn, "REF 1".to_owned())));
    assert_eq!(full.start_ts, Some(Timestamp(1_767_225_600_000_000)));
    for (raw, expected) in [
        ("", ("country", "missing")),
        ("country=", ("country", "missing")),
        ("country=PAK&limit=1001", ("limit", "less_than_equal")),
        ("country=PAK&limit=-1", ("limit", "greater_than_equal")),
        ("country=PAK&limit=ten", ("limit", "int_parsing")),
        ("country=PAK&offset=-1", ("offset", "greater_than_equal")),
        ("country=PAK&sorting_order=up", ("sorting_order", "enum")),
        ("country=PAK&start_ts=yesterday", ("start_ts", "datetime_parsing")),
        ("country=PAK&status=paid", ("status", "enum")),
        (
            "country=PAK&status=queued,queued,queued,queued,queued,queued,queued,queued,queued,queued",
            ("status", "too_long"),
        ),
        ("country=PAK&search_type=id", ("search_term", "missing")),
        ("country=PAK&search_type=id&search_term=", ("search_term", "missing")),
        ("country=PAK&search_term=x", ("search_type", "missing")),
        ("country=PAK&search_type=name&search_term=x", ("search_type", "enum")),
        ("country=PAK&country=IND", ("country", "multiple_values")),
    ] {
        let outcome = list_query(Some(raw));
        assert!(matches!(outcome, Err(Rejection::Faults { place: Place::Query, .. })), "{raw}");
        assert_eq!(faults(outcome), [expected], "{raw}");
    }
}

#[test]
fn a_payment_is_named_by_our_id_or_by_the_callers() {
    let id = PaymentId::parse(QUOTE).expect("a UUID");
    assert_eq!(
        payment_lookup(Some(QUOTE), Some("country=PAK")),
        Ok((Country::Pak, PaymentKey::Id(id)))
    );
    let external = PaymentKey::External("INV-1".to_owned());
    assert_eq!(
        payment_lookup(Some("INV-1"), Some("country=PAK&external=true")),
        Ok((Country::Pak, external))
    );
    assert_eq!(
        faults(payment_lookup(Some("INV-1"), Some("country=PAK"))),
        [("id", "uuid_parsing")]
    );
    assert_eq!(
        faults(payment_lookup(Some(QUOTE), Some("external=2"))),
        [("country", "missing"), ("external", "bool_parsing")]
    );
    assert_eq!(faults(quote_lookup(Some(QUOTE), None)), [("country", "missing")]);
    assert!(quote_lookup(Some(QUOTE), Some("country=VNM")).is_ok());
    assert_eq!(faults(quote_lookup(None, Some("country=VNM"))), [("id", "url_encoding")]);
    assert_eq!(
        faults(payment_lookup(None, Some("country=PAK&external=true"))),
        [("id", "url_encoding")]
    );
}
