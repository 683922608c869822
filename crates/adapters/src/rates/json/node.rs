//! A JSON document whose numbers are kept as they are written, and the places in it (RFC 6901).

use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::super::sheet::{SheetError, shown};

/// Maximum nesting of a document.
const MAX_DEPTH: usize = 12;

pub(super) enum Node {
    Null,
    Bool(bool),
    Text(String),
    /// As written in the document, with every digit.
    Number(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

pub(super) fn number(node: &Node) -> Option<&str> {
    plain(node).filter(|text| {
        let first = text.trim().trim_start_matches('-').bytes().next();
        first.is_some_and(|byte| byte.is_ascii_digit())
    })
}

/// The text of a JSON string or number.
pub(super) fn plain(node: &Node) -> Option<&str> {
    match node {
        Node::Text(text) | Node::Number(text) => Some(text),
        _ => None,
    }
}

pub(super) fn value_at<'n>(root: &'n Node, pointer: &str) -> Result<&'n Node, SheetError> {
    let missing = || SheetError::Missing(pointer.to_owned());
    pointer.split('/').skip(1).try_fold(root, |node, step| {
        let step = step.replace("~1", "/").replace("~0", "~");
        match node {
            Node::Object(members) => {
                members.iter().find(|(name, _)| *name == step).map(|(_, value)| value)
            }
            Node::List(items) => place(&step).and_then(|place| items.get(place)),
            _ => None,
        }
        .ok_or_else(missing)
    })
}

/// The place in a list that a step of a pointer names: digits without a leading zero.
fn place(step: &str) -> Option<usize> {
    let is_place = step == "0" || !step.starts_with(['0', '+']);
    is_place.then(|| step.parse().ok())?
}

pub(super) fn text_at(root: &Node, pointer: &str) -> Result<String, SheetError> {
    let text = plain(value_at(root, pointer)?).map(str::to_owned);
    text.ok_or_else(|| SheetError::Form(format!("{pointer} is neither a number nor a string")))
}

/// Reads a document.
pub(super) fn parse(text: &str) -> Result<Node, SheetError> {
    let raw: &RawValue = serde_json::from_str(text).map_err(form)?;
    node(raw.get(), 0)
}

fn form(error: serde_json::Error) -> SheetError {
    SheetError::Form(format!("JSON: {error}"))
}

fn node(raw: &str, depth: usize) -> Result<Node, SheetError> {
    if depth > MAX_DEPTH {
        return Err(SheetError::Form(format!("JSON: nested more than {MAX_DEPTH} levels deep")));
    }
    Ok(match raw.as_bytes().first() {
        Some(b'{') => {
            let Members(members) = serde_json::from_str(raw).map_err(form)?;
            let mut names = HashSet::with_capacity(members.len());
            if let Some((twice, _)) = members.iter().find(|(name, _)| !names.insert(name)) {
                return Err(SheetError::Twice { pair: shown(twice) });
            }
            let nodes = members
                .into_iter()
                .map(|(name, value)| node(value.get(), depth + 1).map(|value| (name, value)));
            Node::Object(nodes.collect::<Result<_, _>>()?)
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(raw).map_err(form)?;
            let items = items.into_iter().map(|item| node(item.get(), depth + 1));
            Node::List(items.collect::<Result<_, _>>()?)
        }
        Some(b'"') => Node::Text(serde_json::from_str(raw).map_err(form)?),
        Some(b't' | b'f') => Node::Bool(raw == "true"),
        Some(b'n') | None => Node::Null,
        Some(_) => Node::Number(raw.to_owned()),
    })
}

/// The members of an object in order, values as text; unlike a map it keeps duplicates, so that
/// they can be rejected.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members<'de>, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, &'de RawValue>()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}
