//! Every operation of the wallet service as in `docs/openapi/wallet.json`, in callable form: tests
//! that iterate over them cover new operations automatically.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::Value;

use crate::harness::WalletBank;
use crate::harness::client::Call;

const DOCUMENT: &str = include_str!("../../../../../docs/openapi/wallet.json");
pub const MISSING: &str = "6f0c7ac6-53b5-4d3a-9d9e-0123456789ab";
/// A role that may do everything.
pub const MANAGER: &[&str] = &["wallet_manager"];

pub fn document() -> Value {
    serde_json::from_str(DOCUMENT).expect("the document is JSON")
}

/// The target of a reference.
pub fn resolved(document: &Value, value: &Value) -> Value {
    match value["$ref"].as_str() {
        Some(pointer) => resolved(
            document,
            document.pointer(pointer.trim_start_matches('#')).expect("it is there"),
        ),
        None => value.clone(),
    }
}

#[derive(Clone, Debug)]
pub struct Op {
    pub method: Method,
    /// The path as in the document: `/v1/sdk/wallets/{wallet_id}`.
    pub path: String,
    /// Required query parameters with their examples.
    query: BTreeMap<String, String>,
    pub bodies: Vec<Value>,
    /// The schema of the body.
    pub schema: Option<Value>,
}

impl Op {
    /// Every operation, in the document's order.
    pub fn all() -> Vec<Op> {
        let document = document();
        let paths = document["paths"].as_object().expect("an object");
        let of_path = |(path, item): (&String, &Value)| {
            let item = item.as_object().expect("an object").clone();
            let path = path.clone();
            let document = document.clone();
            item.into_iter()
                .map(move |(method, described)| Op::read(&document, &path, &method, &described))
        };
        paths.iter().flat_map(of_path).collect()
    }

    /// The operations that change something.
    pub fn posts() -> Vec<Op> {
        Op::all().into_iter().filter(|op| op.method == Method::POST).collect()
    }

    fn read(document: &Value, path: &str, method: &str, described: &Value) -> Op {
        let parameters = described["parameters"].as_array().expect("parameters");
        let required = parameters
            .iter()
            .map(|given| resolved(document, given))
            .filter(|parameter| parameter["in"] == "query" && parameter["required"] == true);
        let example =
            |parameter: &Value| parameter["example"].as_str().expect("an example").to_owned();
        let query = required
            .map(|it| (it["name"].as_str().expect("a name").to_owned(), example(&it)))
            .collect();
        let content = &described["requestBody"]["content"]["application/json"];
        let examples = content["examples"].as_object().into_iter().flatten();
        Op {
            method: method.to_uppercase().parse().expect("a method"),
            path: path.to_owned(),
            query,
            bodies: examples
                .map(|(_, example)| resolved(document, example)["value"].clone())
                .collect(),
            schema: content.get("schema").map(|schema| resolved(document, schema)),
        }
    }

    fn parameter(&self) -> Option<&str> {
        let (_, rest) = self.path.split_once('{')?;
        rest.split_once('}').map(|(name, _)| name)
    }

    /// The field that names an existing or missing resource.
    pub fn names(&self) -> Option<&str> {
        let in_body = self.bodies.first().is_some_and(|body| body.get("wallet_id").is_some());
        let elsewhere = (self.query.contains_key("wallet_id") || in_body).then_some("wallet_id");
        self.parameter().or(elsewhere)
    }

    /// The URL below the service's, for the resource with this id.
    pub fn url(&self, id: &str) -> String {
        let path = match self.parameter() {
            Some(name) => self.path.replace(&format!("{{{name}}}"), id),
            None => self.path.clone(),
        };
        let query = self.query.iter().map(|(name, value)| {
            let value = if name == "wallet_id" { id } else { value };
            format!("{name}={value}")
        });
        let query: Vec<String> = query.collect();
        if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
    }

    /// The first sample body, for the resource with this id; "{}" if it has no body.
    pub fn body(&self, id: &str) -> String {
        let mut body =
            self.bodies.first().cloned().unwrap_or_else(|| Value::Object(serde_json::Map::new()));
        if let Some(named) = body.get_mut("wallet_id") {
            *named = Value::from(id);
        }
        body.to_string()
    }

    /// A call of the operation with these roles for the resource with this id.
    pub fn call(&self, bank: &WalletBank, roles: &[&str], id: &str) -> Call {
        let body = (self.method == Method::POST).then(|| self.body(id));
        bank.call_as(roles, self.method.clone(), &self.url(id), body)
    }
}

#[test]
fn every_operation_of_the_description_is_found() {
    let all = Op::all();
    assert_eq!(all.len(), 22, "the operations of the specification and the additions");
    assert_eq!(all.iter().filter(|op| op.names().is_some()).count(), 17);
    assert_eq!(Op::posts().len(), 10);
}
