//! Compares the errors in the document with those in the source.

use std::path::Path;

use super::*;
use crate::openapi::tests::codes::{listed, literal, rules_in, second_argument, sources};

/// Every source file of the wallet service's HTTP layer, without tests.
fn wire() -> Vec<String> {
    let mut texts = Vec::new();
    for room in ["src/wallet_v1", "src/problem", "src/decode", "src/auth"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(room), &[], &mut texts);
    }
    texts
}

#[test]
fn the_codes_are_those_of_the_source() {
    let made: BTreeSet<String> = wire()
        .iter()
        .flat_map(|text| {
            text.split("WalletProblem::new(").skip(1).map(str::to_owned).collect::<Vec<_>>()
        })
        .filter_map(|call| second_argument(&call).and_then(literal).map(str::to_owned))
        .collect();
    let document = wallet_document();
    let told = listed(&document["components"]["schemas"]["Error"]["properties"]["error"]);
    assert_eq!(told, made.iter().map(String::as_str).collect());
}

#[test]
fn each_operation_documents_exactly_its_error_codes() {
    let document = wallet_document();
    let all = listed(&document["components"]["schemas"]["Error"]["properties"]["error"]);
    let mut told = BTreeSet::new();
    let is_code =
        |word: &&str| word.len() > 5 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    for operation in document["paths"]
        .as_object()
        .expect("an object")
        .values()
        .flat_map(|item| item.as_object().expect("an object").values())
    {
        for answer in operation["responses"].as_object().expect("an object").values() {
            let words = answer["description"].as_str().unwrap_or_default();
            let words =
                words.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(is_code);
            told.extend(words.map(str::to_owned));
        }
    }
    for answer in document["components"]["responses"].as_object().expect("an object").values() {
        let example = &answer["content"]["application/json"]["example"];
        told.insert(example["error"].as_str().expect("a code").to_owned());
    }
    assert_eq!(told.iter().map(String::as_str).collect::<BTreeSet<_>>(), all);
}

#[test]
fn each_status_shows_an_error_as_it_is_written() {
    let document = wallet_document();
    for (name, answer) in document["components"]["responses"].as_object().expect("an object") {
        let example =
            answer["content"]["application/json"]["example"].as_object().expect("an example");
        let names: Vec<&str> = example.keys().map(String::as_str).collect();
        let properties = document["components"]["schemas"]["Error"]["properties"]
            .as_object()
            .expect("an object");
        assert!(names.iter().all(|name| properties.contains_key(*name)), "{name}: {names:?}");
        for required in ["error", "message", "request_id", "timestamp"] {
            assert!(names.contains(&required), "{name}: {required}");
        }
        for header in
            ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"]
        {
            assert!(answer["headers"][header].is_object(), "{name}: {header}");
        }
        let details = example
            .get("details")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(|details| details.keys());
        let known = &document["components"]["schemas"]["ErrorDetails"]["properties"];
        details.for_each(|detail| assert!(known[detail].is_object(), "{name}: {detail}"));
    }
}

#[test]
fn every_detail_of_an_error_is_documented() {
    let known = &wallet_document()["components"]["schemas"]["ErrorDetails"]["properties"];
    let mut details = BTreeSet::new();
    for file in ["guard", "log", "refusals"] {
        let path = format!("{}/src/wallet_v1/{file}.rs", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("a source file");
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for call in [".with(", ".number("] {
            details.extend(text.split(call).skip(1).filter_map(literal).map(str::to_owned));
        }
    }
    assert!(details.contains("head"), "{details:?}");
    details.iter().for_each(|name| assert!(known[name].is_object(), "{name}"));
}

#[test]
fn the_rules_of_fields_are_those_of_the_source() {
    let mut texts = wire();
    // What requests and orders ask of the domain and of the rails.
    // Authorizations for sponsored transfers come from payment pages alone.
    for room in ["../domain/src/payment_request", "../domain/src/exchange", "../engine/src/wallets"]
    {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(room), &["sponsor"], &mut texts);
    }
    // Accounts by the rules of their countries, under v2's names, of all that an exchange may pay to.
    let of_orders_alone = ["check", "example", "field", "fields", "forms", "party"];
    let orders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../domain/src/order");
    sources(&orders, &of_orders_alone, &mut texts);
    let mut rules = rules_in(&texts);
    // Rules that only Payment Service v2 uses.
    for other in [
        "json_invalid",
        "decimal_type",
        "decimal_parsing",
        "decimal_max_digits",
        "greater_than",
        "uuid_type",
        "uuid_parsing",
        "datetime_parsing",
        "bool_parsing",
    ] {
        assert!(rules.remove(other), "{other}");
    }
    let document = wallet_document();
    assert_eq!(
        listed(&document["components"]["schemas"]["FaultItem"]["properties"]["rule"]),
        rules.iter().map(String::as_str).collect()
    );
}
