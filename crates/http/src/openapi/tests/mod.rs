//! Compares the document with the code: routes, decoders, refusals, renderings, and the generated
//! page.

mod answers;
mod codes;
mod reference;
mod requests;
mod wallet;

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;

fn document() -> Value {
    serde_json::from_str(PAYMENT).expect("the document is JSON")
}

/// The target of `#/a/b`.
fn at<'d>(document: &'d Value, pointer: &str) -> Option<&'d Value> {
    document.pointer(pointer.strip_prefix('#')?)
}

fn references<'d>(value: &'d Value, found: &mut BTreeSet<&'d str>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str));
            let mapping = members.get("mapping").and_then(Value::as_object);
            found.extend(
                mapping.into_iter().flat_map(|mapping| mapping.values().filter_map(Value::as_str)),
            );
            members.values().for_each(|member| references(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

/// Every reference resolves, and every component is used.
fn check_references(document: &Value) {
    let mut found = BTreeSet::new();
    references(document, &mut found);
    for pointer in &found {
        assert!(at(document, pointer).is_some(), "{pointer}");
    }
    for (kind, components) in document["components"].as_object().expect("an object") {
        for name in components.as_object().expect("an object").keys() {
            let pointer = format!("#/components/{kind}/{name}");
            let used = kind == "securitySchemes" || found.contains(pointer.as_str());
            assert!(used, "{pointer} is not used");
        }
    }
}

#[test]
fn every_reference_resolves_and_every_component_is_referred_to() {
    check_references(&document());
}

/// Every `(path, method)` of a `.route("path", method(…))` in the source of the routes.
fn routes() -> BTreeSet<(String, String)> {
    let source = include_str!("../../payments_v2/routes.rs");
    let mut found = BTreeSet::new();
    for piece in source.split(".route(\"").skip(1) {
        let (path, rest) = piece.split_once("\", ").expect("a path and its methods");
        let methods = rest.lines().next().unwrap_or_default();
        for method in ["get", "post", "put", "patch", "delete"] {
            if methods.contains(&format!("{method}(")) {
                found.insert((path.to_owned(), method.to_owned()));
            }
        }
    }
    found
}

#[test]
fn the_operations_are_the_routes() {
    let document = document();
    let paths = document["paths"].as_object().expect("an object");
    let methods =
        |item: &Value| item.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    let described: BTreeSet<(String, String)> = paths
        .iter()
        .flat_map(|(path, item)| {
            methods(item).into_iter().map(move |method| (path.clone(), method))
        })
        .collect();
    assert_eq!(described.len(), 10);
    assert_eq!(described, routes());
}

#[test]
fn the_documents_name_the_versions_of_their_specifications() {
    for (document, version) in [(PAYMENT, "2.5.1"), (WALLET, "1.0.0")] {
        let document: Value = serde_json::from_str(document).expect("the document is JSON");
        assert_eq!(document["info"]["version"], version);
    }
}

#[test]
fn links_and_path_parameters_name_what_there_is() {
    check_operations(&document());
}

/// Operations have unique ids, declare the parameters of their paths and show the request id; links
/// resolve.
fn check_operations(document: &Value) {
    let paths = document["paths"].as_object().expect("an object");
    let operations = paths.iter().flat_map(|(path, item)| {
        item.as_object().expect("an object").values().map(move |operation| (path, operation))
    });
    let mut ids = BTreeSet::new();
    for (path, operation) in operations {
        let id = operation["operationId"].as_str().expect("an id");
        assert!(ids.insert(id), "{id} stands there twice");
        let parameters = operation["parameters"].as_array().expect("an array");
        for parameter in parameters.iter().filter(|parameter| parameter["in"] == "path") {
            let name = parameter["name"].as_str().expect("a name");
            assert!(path.contains(&format!("{{{name}}}")), "{path} has no {name}");
        }
        let in_path = parameters.iter().filter(|parameter| parameter["in"] == "path").count();
        assert_eq!(in_path, path.matches('{').count(), "{path}");
        assert!(operation["responses"]["200"]["headers"]["X-Request-Id"].is_object(), "{id}");
    }
    for (name, link) in document["components"]["links"].as_object().expect("an object") {
        assert!(ids.contains(link["operationId"].as_str().expect("an id")), "{name}");
    }
}

#[test]
fn the_payment_events_are_the_webhooks() {
    let document = document();
    let hooks: BTreeSet<&str> =
        document["webhooks"].as_object().expect("an object").keys().map(String::as_str).collect();
    let events = domain::event::EventKind::ALL;
    assert_eq!(hooks, events.iter().map(|kind| kind.name()).collect());
    for kind in events {
        let says =
            document["webhooks"][kind.name()]["post"]["description"].as_str().expect("a text");
        let path = format!("{{webhook_base}}/webhooks/payment/{} ", kind.segment());
        assert!(says.starts_with(&format!("Sent to {path}")), "{says}");
    }
    let named: Vec<&str> = document["components"]["schemas"]["EventType"]["enum"]
        .as_array()
        .expect("an array")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(named, events.map(|kind| kind.name()));
}
