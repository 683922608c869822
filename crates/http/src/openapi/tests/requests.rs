//! Compares the requests that the document allows with those that the decoders accept.

use domain::bank::BankDirectory;
use domain::country::Country;
use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::ids::QuoteId;
use domain::order::{CountryForm, Order, UncheckedOrder, country_forms, example};
use domain::policy::Corridors;
use domain::recall::{RecallReason, RecallState};
use domain::time::Span;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::*;
use crate::decode::Rejection;
use crate::payments_v2::decode;

pub(super) fn example_of(document: &Value, name: &str) -> Value {
    document["components"]["examples"][name]["value"].clone()
}

pub(super) fn bytes(value: &Value) -> Vec<u8> {
    serde_json::to_vec(value).expect("writes")
}

/// Field and rule of every error.
pub(super) type Told = Vec<(&'static str, &'static str)>;

pub(super) fn faults<T: std::fmt::Debug>(result: Result<T, Rejection>) -> Told {
    match result {
        Err(Rejection::Faults { faults, .. }) => {
            faults.iter().map(|fault| (fault.field, fault.rule)).collect()
        }
        Err(other) => panic!("{other}"),
        Ok(_) => Vec::new(),
    }
}

/// The example order to `country`, for the amount and with the ids of the document's.
pub(super) fn example_order(document: &Value, country: Country) -> Order {
    let written = example_of(document, &format!("order{}", country.alpha3()));
    let amount: Decimal = written["amount"].to_string().parse().expect("a number");
    let quote = QuoteId::parse(written["quote"].as_str().expect("text")).expect("an id");
    let external_id = written["external_id"].as_str().map(str::to_owned);
    Order { external_id, ..example::order(country, quote, Currency::Aed, amount).0 }
}

#[test]
fn the_examples_decode_into_the_example_orders() {
    let document = document();
    for country in Country::ALL {
        let written = example_of(&document, &format!("order{}", country.alpha3()));
        let read = decode::payment_order(&bytes(&written));
        let order = UncheckedOrder(example_order(&document, country));
        assert_eq!(read, Ok((order, Vec::new())));
    }
    let (request, ..) =
        decode::quote_request(&bytes(&example_of(&document, "quoteRequest"))).expect("valid");
    assert_eq!(
        (request.country, request.currency, request.amount),
        (Country::Pak, Currency::Aed, Decimal::from_int(500))
    );
}

#[test]
fn the_required_fields_are_the_decoders() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    for (schema, missing) in [
        ("PaymentOrderFields", faults(decode::payment_order(b"{}"))),
        ("QuoteRequest", faults(decode::quote_request(b"{}"))),
        ("RecallRequest", faults(decode::recall(b"{}"))),
        ("AccountCheckRequest", faults(decode::account_check(b"{}"))),
    ] {
        let required: Vec<&str> = schemas[schema]["required"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert_eq!(required, missing.iter().map(|(field, _)| *field).collect::<Vec<_>>());
    }
}

#[test]
fn the_requests_that_stop_a_payment_are_the_decoders() {
    let document = document();
    let schemas = &document["components"]["schemas"];
    let why = decode::cancellation(&bytes(&example_of(&document, "cancellation")));
    assert_eq!(why, Ok(Some("Ordered twice".to_owned())));
    assert_eq!(decode::cancellation(b"{}"), Ok(None));
    let asked = decode::recall(&bytes(&example_of(&document, "recallRequest")));
    assert_eq!(asked, Ok((RecallReason::Fraud, Some("The payer was deceived".to_owned()))));
    let named = |name: &str| codes::listed(&schemas[name]);
    assert_eq!(named("RecallReason"), RecallReason::ALL.map(RecallReason::name).into());
    assert_eq!(named("RecallStatus"), RecallState::ALL.map(RecallState::name).into());
    for (schema, member, read) in [
        (
            "Cancellation",
            "reason",
            &(|body: &Value| faults(decode::cancellation(&bytes(body)))) as &dyn Fn(&Value) -> Told,
        ),
        ("RecallRequest", "text", &|body: &Value| faults(decode::recall(&bytes(body)))),
    ] {
        let most = schemas[schema]["properties"][member]["maxLength"].as_u64().expect("a bound");
        let most = usize::try_from(most).expect("fits");
        let with = |length: usize| {
            let mut body = json!({ "reason": "CUST" });
            body[member] = json!("x".repeat(length));
            read(&body)
        };
        assert_eq!((with(most), with(most + 1)), (vec![], vec![(member, "string_too_long")]));
    }
}

#[test]
fn the_states_are_the_decoders() {
    let document = document();
    let states =
        document["components"]["schemas"]["PaymentState"]["enum"].as_array().expect("a list");
    for state in states {
        let query = format!("country=PAK&status={}", state.as_str().expect("text"));
        assert_eq!(faults(decode::list_query(Some(&query))), [], "{state}");
    }
    assert_eq!(states.len(), domain::payment::PaymentState::ALL.len());
}

#[test]
fn the_bounds_of_the_queries_are_the_decoders() {
    let document = document();
    let headers = http::HeaderMap::new();
    let list = |query: &str| faults(decode::list_query(Some(&format!("country=PAK&{query}"))));
    let events =
        |query: &str| faults(decode::events_query(Some(&format!("mode=poll&{query}")), &headers));
    let mut checked = 0;
    for (path, read) in [
        ("/v2/payments", &list as &dyn Fn(&str) -> Vec<(&'static str, &'static str)>),
        ("/v2/events", &events),
    ] {
        for parameter in document["paths"][path]["get"]["parameters"].as_array().expect("a list") {
            let (name, schema) =
                (parameter["name"].as_str().unwrap_or_default(), &parameter["schema"]);
            for (bound, beyond) in [("minimum", -1), ("maximum", 1)] {
                let Some(value) = schema[bound].as_i64().filter(|_| parameter["in"] == "query")
                else {
                    continue;
                };
                assert_eq!(read(&format!("{name}={value}")), [], "{name}");
                assert_eq!(read(&format!("{name}={}", value + beyond)).len(), 1, "{name}");
                checked += 1;
            }
            for value in schema["enum"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .filter(|_| name != "search_type")
            {
                assert_eq!(
                    read(&format!("{name}={value}"))
                        .iter()
                        .filter(|(_, rule)| *rule == "enum")
                        .count(),
                    0
                );
            }
        }
    }
    assert_eq!(checked, 7);
    for kind in ["id", "external_id", "linked_txn"] {
        assert_eq!(list(&format!("search_type={kind}&search_term=x")), []);
    }
    let defaults = decode::list_query(Some("country=PAK")).expect("valid");
    let told = |name: &str| {
        let parameters =
            document["paths"]["/v2/payments"]["get"]["parameters"].as_array().expect("a list");
        parameters.iter().find(|parameter| parameter["name"] == name).expect("there")["schema"]["default"].clone()
    };
    assert_eq!(
        (told("limit"), told("offset"), told("sorting_order")),
        (json!(defaults.limit), json!(defaults.offset), json!("desc"))
    );
}

/// Sample texts for each pattern.
const TEXTS_PER_PATTERN: usize = 64;

#[test]
fn whatever_a_pattern_of_a_country_allows_is_well_formed_there() {
    let corridors = Corridors {
        corridors: std::collections::BTreeMap::new(),
        rails: Vec::new(),
        relations: BTreeSet::from(["brother".to_owned()]),
        submit_deadline: Span::mins(30),
        return_window: Span::days(90),
        recall_answer_window: Span::days(15),
        recall_money_window: Span::days(5),
    };
    let (document, mut runner) = (document(), TestRunner::deterministic());
    for country in Country::ALL {
        for CountryForm { field, pattern, .. } in country_forms(country) {
            let pattern = pattern
                .strip_prefix('^')
                .and_then(|pattern| pattern.strip_suffix('$'))
                .expect("anchors");
            let texts = proptest::string::string_regex(pattern).expect("a regular expression");
            for _ in 0..TEXTS_PER_PATTERN {
                let text = texts.new_tree(&mut runner).expect("a text").current();
                let mut order = example_order(&document, country);
                assert!(field.read(&mut order, text.clone()));
                let told = UncheckedOrder(order).check(
                    &BankDirectory::default(),
                    &corridors,
                    jiff::civil::date(2026, 11, 21),
                );
                let told: Vec<&str> =
                    told.err().into_iter().flatten().map(|fault| fault.rule).collect();
                // A pattern checks neither check digits nor the bank of an IBAN.
                let beyond =
                    |rule: &&&str| ["invalid_iban", "branch_iban_mismatch"].contains(*rule);
                assert_eq!(
                    told.iter().find(|rule| !beyond(rule)),
                    None,
                    "{} {text:?} against {pattern}",
                    field.name
                );
            }
        }
    }
}
