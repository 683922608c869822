//! Holds the document against the code: routes, decoders, refusals, renderings, and the page made from it.

mod answers;
mod codes;
mod requests;
mod wallet;

use std::collections::BTreeSet;

use axum::body::Body;
use http::Request;
use serde_json::Value;
use tower::ServiceExt as _;

use super::*;

fn document() -> Value {
    serde_json::from_str(PAYMENT).expect("the document is JSON")
}

/// What `#/a/b` names.
fn at<'d>(document: &'d Value, pointer: &str) -> Option<&'d Value> {
    document.pointer(pointer.strip_prefix('#')?)
}

fn references<'d>(value: &'d Value, found: &mut BTreeSet<&'d str>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str));
            let mapping = members.get("mapping").and_then(Value::as_object);
            found.extend(mapping.into_iter().flat_map(|mapping| mapping.values().filter_map(Value::as_str)));
            members.values().for_each(|member| references(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

/// Every reference resolves, and every component is referred to but for `told`: what no operation answers with, being
/// told for paths and methods that are none.
fn check_references(document: &Value, told: &[&str]) {
    let mut found = BTreeSet::new();
    references(document, &mut found);
    for pointer in &found {
        assert!(at(document, pointer).is_some(), "{pointer}");
    }
    for (kind, components) in document["components"].as_object().expect("an object") {
        for name in components.as_object().expect("an object").keys() {
            let pointer = format!("#/components/{kind}/{name}");
            let used =
                kind == "securitySchemes" || told.contains(&pointer.as_str()) || found.contains(pointer.as_str());
            assert!(used, "{pointer} is not used");
        }
    }
}

#[test]
fn every_reference_resolves_and_every_component_is_referred_to() {
    check_references(&document(), &["#/components/responses/NotFound", "#/components/responses/MethodNotAllowed"]);
}

/// `(path, method)` of every `.route("path", method(…))` in the source of the routes.
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
    let methods = |item: &Value| item.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    let described: BTreeSet<(String, String)> = paths
        .iter()
        .flat_map(|(path, item)| methods(item).into_iter().map(move |method| (path.clone(), method)))
        .collect();
    assert_eq!(described.len(), 6);
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

/// Operations have ids of their own, name the parameters of their paths and show the request's id; links lead to them.
fn check_operations(document: &Value) {
    let paths = document["paths"].as_object().expect("an object");
    let operations = paths
        .iter()
        .flat_map(|(path, item)| item.as_object().expect("an object").values().map(move |operation| (path, operation)));
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
    assert_eq!(hooks, events.iter().filter(|kind| !kind.is_of_quote()).map(|kind| kind.name()).collect());
    let named: Vec<&str> = document["components"]["schemas"]["EventType"]["enum"]
        .as_array()
        .expect("an array")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(named, events.map(|kind| kind.name()));
}

async fn got(path: &str) -> (http::response::Parts, String) {
    let request = Request::get(path).body(Body::empty()).expect("a request");
    let (parts, body) = router().oneshot(request).await.expect("an answer").into_parts();
    let body = axum::body::to_bytes(body, 1024 * 1024).await.expect("a body");
    (parts, String::from_utf8(body.to_vec()).expect("UTF-8"))
}

#[tokio::test]
async fn the_documents_and_their_pages_are_served() {
    for service in SERVICES {
        let (parts, body) = got(service.document_path).await;
        assert_eq!(
            (parts.status.as_u16(), &parts.headers["content-type"]),
            (200, &"application/json".parse().expect("a value"))
        );
        assert_eq!(body, service.document);
        let (parts, page) = got(service.page_path).await;
        assert_eq!(parts.headers["content-type"], "text/html; charset=utf-8");
        assert_eq!(parts.headers["content-security-policy"], CONTENT_SECURITY_POLICY);
        assert!(page.contains(&format!("<link rel=\"stylesheet\" href=\"{}\">", docs::STYLE_PATH)));
    }
    let (parts, style) = got(docs::STYLE_PATH).await;
    assert_eq!(
        (parts.headers["content-type"].to_str().expect("text"), style.as_str()),
        ("text/css; charset=utf-8", docs::STYLE)
    );
}

#[tokio::test]
async fn the_first_page_leads_to_every_operation_of_both_services() {
    let (_, index) = got("/docs").await;
    for service in SERVICES {
        let page = docs::page(&service).expect("JSON");
        let document: Value = serde_json::from_str(service.document).expect("JSON");
        assert!(index.contains(&format!("<a href=\"{}\">", service.document_path)));
        for (path, item) in document["paths"].as_object().expect("an object") {
            for operation in item.as_object().expect("an object").values() {
                let id = operation["operationId"].as_str().expect("an id");
                assert!(index.contains(&format!("href=\"{}#{id}\"", service.page_path)) && index.contains(path));
                assert!(page.contains(&format!("<section id=\"{id}\">")) && page.contains(path), "{id}");
            }
        }
    }
    check_markup(&index);
}

#[test]
fn the_pages_tell_every_schema_and_error_and_load_nothing() {
    for service in SERVICES {
        let page = docs::page(&service).expect("JSON");
        for target in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(page.contains(&format!(" id=\"{target}\"")), "#{target} leads nowhere");
        }
        check_markup(&page);
    }
    let [payment, wallet] = SERVICES.map(|service| docs::page(&service).expect("JSON"));
    for code in ["quote_expired", "insufficient_balance", "external_id_conflict", "IFSC"] {
        assert!(payment.contains(code), "{code}");
    }
    for code in ["WALLET_EXISTS", "INSUFFICIENT_BALANCE", "usdc_contract_blacklist_applied", "sender_info"] {
        assert!(wallet.contains(code), "{code}");
    }
}

/// Nothing is loaded or run, and what is opened is closed.
fn check_markup(page: &str) {
    for forbidden in ["<script", "<img", "<iframe", " style=", " onclick", "href=\"http", "src="] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    let opened = |tag: &str| page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
    for tag in ["section", "table", "tr", "td", "p", "code", "pre", "details", "a", "ul", "li", "main", "body"] {
        assert_eq!(opened(tag), page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn what_a_document_says_never_becomes_markup() {
    let hostile = r#"{"info":{"title":"<script>","summary":"<i>","version":"\"'&"},"paths":{"/<b>":{"get":{"operationId":"a\" onclick=\"x","summary":"<i>","description":"`<u>`"}}}}"#;
    let service = Described { document: hostile, document_path: "/openapi/x.json", page_path: "/docs/x" };
    for page in [docs::page(&service).expect("JSON"), docs::index(&[service]).expect("JSON")] {
        for forbidden in ["<script", "<i>", "<u>", "/<b>", "\" onclick"] {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
    }
}
