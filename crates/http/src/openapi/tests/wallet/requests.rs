//! Compares the requests that the document allows with those that the decoders accept.

use domain::country::Country;
use serde_json::json;

use super::super::requests::{Told, bytes, example_of, faults};
use super::*;
use crate::wallet_v1::decode;

type Reader = fn(&[u8]) -> Told;
type QueryReader = fn(&str) -> Told;

/// The schema of each body, its examples and its decoder.
const BODIES: [(&str, &[&str], Reader); 7] = [
    ("Provision", &["provision"], |body| faults(decode::provision(body))),
    ("PaymentRequestDraft", &["cryptoRequest", "fiatRequest", "flexibleRequest"], |body| {
        faults(decode::payment_request(body))
    }),
    ("OrderDraft", &["orderDraft", "orderByAccountNumber"], |body| {
        faults(decode::order(body, &[Country::Pak]))
    }),
    ("Block", &["block"], |body| faults(decode::block(body))),
    ("Unblock", &["unblock"], |body| faults(decode::unblock(body))),
    ("Blacklist", &["blacklist"], |body| faults(decode::blacklist(body))),
    ("ReviewDecision", &["reviewDecision"], |body| faults(decode::review(body))),
];

#[test]
fn the_sample_requests_are_taken() {
    let document = wallet_document();
    for (schema, examples, read) in BODIES {
        for example in examples {
            let body = example_of(&document, example);
            assert_eq!(read(&bytes(&body)), [], "{example}");
            let known = &document["components"]["schemas"][schema]["properties"];
            for field in body.as_object().expect("an object").keys() {
                assert!(known[field].is_object(), "{schema} has no {field}");
            }
        }
    }
}

#[test]
fn the_required_fields_are_the_decoders() {
    let document = wallet_document();
    for (schema, _, read) in BODIES {
        let required = document["components"]["schemas"][schema]["required"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let required: Vec<&str> = required.iter().filter_map(Value::as_str).collect();
        assert_eq!(
            read(b"{}").iter().map(|(field, _)| *field).collect::<Vec<_>>(),
            required,
            "{schema}"
        );
    }
    let amount = |kind: &str| {
        let body = json!({"wallet_id": "w", "amount": {"type": kind}});
        faults(decode::payment_request(&bytes(&body)))
            .iter()
            .map(|(field, _)| *field)
            .collect::<Vec<_>>()
    };
    assert_eq!(amount("crypto"), ["amount.value", "amount.currency"]);
    assert_eq!(amount("fiat"), ["amount.value", "amount.currency"]);
    assert!(amount("flexible").is_empty());
}

#[test]
fn the_lengths_and_bounds_are_the_decoders() {
    let document = wallet_document();
    let (mut lengths, mut bounds) = (0, 0);
    for (schema, examples, read) in BODIES {
        let fields =
            document["components"]["schemas"][schema]["properties"].as_object().expect("an object");
        let base = example_of(&document, examples[0]);
        let told = |field: &str, value: Value| {
            let mut body = base.clone();
            body[field] = value;
            read(&bytes(&body))
                .into_iter()
                .filter(|(told, _)| *told == field)
                .map(|(_, rule)| rule)
                .collect::<Vec<_>>()
        };
        for (field, schema) in fields {
            if let Some(max) = schema["maxLength"].as_u64() {
                let long = |chars: u64| json!("x".repeat(usize::try_from(chars).expect("fits")));
                assert_eq!(told(field, long(max + 1)), ["string_too_long"], "{field}");
                assert!(!told(field, long(max)).contains(&"string_too_long"), "{field}");
                lengths += 1;
            }
            for (bound, beyond, rule) in
                [("minimum", -1, "greater_than_equal"), ("maximum", 1, "less_than_equal")]
            {
                let Some(value) = schema[bound].as_i64() else { continue };
                assert!(told(field, json!(value)).is_empty(), "{field} {value}");
                assert_eq!(told(field, json!(value + beyond)), [rule], "{field} {value}");
                bounds += 1;
            }
        }
    }
    assert_eq!((lengths, bounds), (11, 4));
}

#[test]
fn the_names_are_the_decoders() {
    let document = wallet_document();
    let names = |schema: &str| {
        document["components"]["schemas"][schema]["enum"].as_array().expect("a list").clone()
    };
    let check = |example: &str, pointer: &str, schema: &str, read: Reader| {
        for (name, expected) in
            names(schema).into_iter().map(|name| (name, 0)).chain([(json!("no such name"), 1)])
        {
            let mut body = example_of(&document, example);
            *body.pointer_mut(pointer).expect("a field") = name.clone();
            let told = read(&bytes(&body)).into_iter().filter(|(_, rule)| *rule == "enum").count();
            assert_eq!(told, expected, "{example} {pointer} {name}");
        }
    };
    let request: Reader = |body| faults(decode::payment_request(body));
    let order: Reader = |body| faults(decode::order(body, &[Country::Pak]));
    check("provision", "/kyc_level", "KycLevel", |body| faults(decode::provision(body)));
    check("cryptoRequest", "/amount/currency", "Coin", request);
    check("fiatRequest", "/amount/currency", "FiatCurrency", request);
    check("orderDraft", "/order_type", "OrderType", order);
    check("orderDraft", "/from_currency", "Coin", order);
    check("orderDraft", "/to_currency", "PayoutCurrency", order);
    check("block", "/reason", "BlockReason", |body| faults(decode::block(body)));
    check("reviewDecision", "/decision", "Verdict", |body| faults(decode::review(body)));
}

#[test]
fn the_patterns_are_the_decoders() {
    use proptest::strategy::{Strategy as _, ValueTree as _};
    let document = wallet_document();
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let schemas = &document["components"]["schemas"];
    for (pattern, example, pointer, read) in [
        (
            &schemas["OrderDraft"]["properties"]["amount"]["pattern"],
            "orderDraft",
            "/amount",
            (|body| faults(decode::order(body, &[Country::Pak]))) as Reader,
        ),
        (
            &schemas["CryptoAmount"]["properties"]["value"]["pattern"],
            "cryptoRequest",
            "/amount/value",
            |body| faults(decode::payment_request(body)),
        ),
        (
            &schemas["FiatAmount"]["properties"]["value"]["pattern"],
            "fiatRequest",
            "/amount/value",
            |body| faults(decode::payment_request(body)),
        ),
        (
            &schemas["Provision"]["properties"]["customer_phone"]["pattern"],
            "provision",
            "/customer_phone",
            |body| faults(decode::provision(body)),
        ),
    ] {
        let pattern =
            pattern.as_str().expect("a pattern").trim_start_matches('^').trim_end_matches('$');
        let texts = proptest::string::string_regex(pattern).expect("a regular expression");
        for _ in 0..64 {
            let text = texts.new_tree(&mut runner).expect("a text").current();
            // No pattern can require an amount above zero.
            if text.bytes().all(|byte| matches!(byte, b'0' | b'.')) {
                continue;
            }
            let mut body = example_of(&document, example);
            *body.pointer_mut(pointer).expect("a field") = json!(text);
            assert_eq!(read(&bytes(&body)), [], "{text:?} against {pattern}");
        }
    }
}

#[test]
fn the_parameters_of_queries_are_the_decoders() {
    let document = wallet_document();
    let readers: [(&str, &str, QueryReader); 6] = [
        ("/v1/sdk/payment-requests", "wallet_id=w", |query| faults(decode::requests(Some(query)))),
        ("/v1/sdk/transactions", "wallet_id=w", |query| faults(decode::transactions(Some(query)))),
        ("/v1/sdk/orders", "wallet_id=w", |query| faults(decode::orders(Some(query)))),
        ("/v1/sdk/reviews", "", |query| faults(decode::reviews(Some(query)))),
        ("/v1/sdk/webhooks/deliveries", "", |query| faults(decode::deliveries(Some(query)))),
        ("/v1/sdk/events", "", |query| faults(decode::events(Some(query)))),
    ];
    let mut checked = 0;
    for (path, base, read) in readers {
        for given in document["paths"][path]["get"]["parameters"].as_array().expect("a list") {
            let parameter =
                given["$ref"].as_str().and_then(|pointer| at(&document, pointer)).unwrap_or(given);
            let (name, schema) =
                (parameter["name"].as_str().unwrap_or_default(), &parameter["schema"]);
            let schema = schema["$ref"]
                .as_str()
                .and_then(|pointer| at(&document, pointer))
                .unwrap_or(schema);
            if parameter["in"] != "query" || name == "wallet_id" {
                continue;
            }
            for (bound, beyond) in [("minimum", -1), ("maximum", 1)] {
                let Some(value) = schema[bound].as_i64() else { continue };
                assert_eq!(read(&format!("{base}&{name}={value}")), [], "{path} {name}");
                assert_eq!(
                    read(&format!("{base}&{name}={}", value + beyond)).len(),
                    1,
                    "{path} {name}"
                );
                checked += 1;
            }
            for value in schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                assert_eq!(read(&format!("{base}&{name}={value}")), [], "{path} {name}");
                assert_eq!(read(&format!("{base}&{name}={value}x")).len(), 1, "{path} {name}");
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 5 * 4 + 2 + 4 + 3 + 1 + 4 + 2);
    let page = decode::reviews(None).expect("valid").page;
    let told = |name: &str| document["components"]["parameters"][name]["schema"]["default"].clone();
    assert_eq!((told("Page"), told("Limit")), (json!(page.page), json!(page.limit)));
    let rate = faults(decode::rate_query(None, &[Country::Pak]));
    assert_eq!(rate, [("from_currency", "missing"), ("to_currency", "missing")]);
}
