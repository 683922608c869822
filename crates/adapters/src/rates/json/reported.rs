//! Documents that state an error instead of rates, whatever their HTTP status.

use super::super::sheet::shown;
use super::node::{Node, plain};

/// The first HTTP status of an error, which some publishers repeat in the document.
const HTTP_ERROR: u64 = 400;

/// The text of an error that a document states instead of rates, whatever its HTTP status.
pub(super) fn reported(root: &Node) -> Option<String> {
    let Node::Object(members) = root else { return None };
    let is_error =
        members.iter().any(|(name, value)| match (name.to_ascii_lowercase().as_str(), value) {
            ("success" | "ok", Node::Bool(ok)) => !ok,
            ("success" | "ok", Node::Text(ok)) => ok.eq_ignore_ascii_case("false"),
            ("result" | "status", Node::Text(text)) => {
                ["error", "fail", "failed", "failure"].contains(&text.to_ascii_lowercase().as_str())
            }
            ("status" | "statuscode" | "code", Node::Number(code)) => {
                code.parse().is_ok_and(|code: u64| code >= HTTP_ERROR)
            }
            ("error_code" | "errorcode", Node::Number(code)) => code != "0",
            ("status", Node::Object(status)) => {
                let code = status.iter().find(|(name, _)| name == "error_code");
                code.and_then(|(_, code)| plain(code)).is_some_and(|code| code != "0")
            }
            ("error" | "errors", Node::Bool(error)) => *error,
            ("error" | "errors", Node::Number(_)) => false,
            ("error" | "errors", told) => !is_blank(told),
            _ => false,
        });
    is_error.then(|| {
        let mut texts = Vec::new();
        collect(root, &mut texts);
        shown(&texts.join(", "))
    })
}

/// Whether a value says nothing: `{"validation": null}`.
fn is_blank(value: &Node) -> bool {
    match value {
        Node::Null => true,
        Node::Text(text) => text.is_empty(),
        Node::List(items) => items.iter().all(is_blank),
        Node::Object(members) => members.iter().all(|(_, value)| is_blank(value)),
        Node::Number(_) | Node::Bool(_) => false,
    }
}

/// The texts and numbers of an error document.
fn collect(node: &Node, texts: &mut Vec<String>) {
    match node {
        Node::Text(text) | Node::Number(text) => texts.push(text.clone()),
        Node::List(items) => items.iter().for_each(|item| collect(item, texts)),
        Node::Object(members) => members.iter().for_each(|(_, value)| collect(value, texts)),
        Node::Null | Node::Bool(_) => {}
    }
}
