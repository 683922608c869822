//! Navigates an OpenAPI document: members by name, references resolved.

use crate::json::{Object, Value};

pub(super) struct Document<'a> {
    pub(super) root: Value<'a>,
}

impl<'a> Document<'a> {
    /// The value itself, or the target of its `$ref`.
    pub(super) fn resolve<'d>(&'d self, value: &'d Value<'a>) -> &'d Value<'a> {
        match reference(value).and_then(|pointer| self.at(pointer)) {
            Some(target) => target,
            None => value,
        }
    }

    /// The target of `#/a/b`.
    fn at(&self, pointer: &str) -> Option<&Value<'a>> {
        let mut found = &self.root;
        for name in pointer.strip_prefix("#/")?.split('/') {
            found = member(found, name)?;
        }
        Some(found)
    }

    /// The members of the object at a path.
    pub(super) fn members(&self, path: &[&str]) -> Vec<(&str, &Value<'a>)> {
        path.iter()
            .try_fold(&self.root, |value, name| member(value, name))
            .map(members)
            .unwrap_or_default()
    }
}

/// The `$ref` of a value.
pub(super) fn reference<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    member(value, "$ref")?.as_str()
}

/// The last name of a reference: `Quote` of `#/components/schemas/Quote`.
pub(super) fn last_name(pointer: &str) -> &str {
    pointer.rsplit('/').next().unwrap_or(pointer)
}

/// A member of an object.
pub(super) fn member<'v, 'a>(value: &'v Value<'a>, name: &str) -> Option<&'v Value<'a>> {
    object(value)?.get(name)
}

/// A text member of an object; empty if absent.
pub(super) fn text<'v>(value: &'v Value<'_>, name: &str) -> &'v str {
    member(value, name).and_then(Value::as_str).unwrap_or_default()
}

/// Every member of an object.
pub(super) fn members<'v, 'a>(value: &'v Value<'a>) -> Vec<(&'v str, &'v Value<'a>)> {
    object(value).map(|object| object.members().collect()).unwrap_or_default()
}

/// The items of an array in a member.
pub(super) fn items<'v, 'a>(value: &'v Value<'a>, name: &str) -> &'v [Value<'a>] {
    match member(value, name) {
        Some(Value::Array(items)) => items,
        _ => &[],
    }
}

fn object<'v, 'a>(value: &'v Value<'a>) -> Option<&'v Object<'a>> {
    match value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}
