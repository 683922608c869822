//! Navigates an OpenAPI document: members by name, references resolved.

use super::Described;
use crate::json::{self, JsonError, Object, Value};

pub(super) struct Document<'a> {
    pub(super) root: Value<'a>,
    /// The path of its first page.
    pub(super) page_path: &'static str,
}

impl Document<'static> {
    pub(super) fn of(described: &Described) -> Result<Document<'static>, JsonError> {
        let root = json::parse(described.document.as_bytes())?;
        Ok(Document { root, page_path: described.page_path })
    }
}

impl<'a> Document<'a> {
    /// The value itself, or the target of its `$ref`.
    pub(super) fn resolve<'d>(&'d self, value: &'d Value<'a>) -> &'d Value<'a> {
        match reference(value).and_then(|pointer| self.at(pointer)) {
            Some(target) => target,
            None => value,
        }
    }

    /// A text member of its `info`.
    pub(super) fn info(&self, name: &str) -> &str {
        member(&self.root, "info").map(|info| text(info, name)).unwrap_or_default()
    }

    /// The target of `#/a/b`.
    fn at(&self, pointer: &str) -> Option<&Value<'a>> {
        let mut found = &self.root;
        for name in pointer.strip_prefix("#/")?.split('/') {
            found = member(found, name)?;
        }
        Some(found)
    }

    /// Every operation, in the document's order.
    pub(super) fn operations(&self) -> Vec<Operation<'_, 'a>> {
        let paths = self.members(&["paths"]);
        let of_path = |(path, item)| {
            members(item).into_iter().map(move |(method, value)| Operation { method, path, value })
        };
        paths.into_iter().flat_map(of_path).collect()
    }

    /// Its operations by tag, both in the document's order.
    pub(super) fn by_tag(&self) -> Vec<(&str, Vec<Operation<'_, 'a>>)> {
        let operations = self.operations();
        let of_tag = |tag| {
            let own = operations.iter().filter(|operation| operation.tag() == tag).copied();
            (tag, own.collect::<Vec<_>>())
        };
        let tags = items(&self.root, "tags").iter().map(|tag| text(tag, "name"));
        tags.map(of_tag).filter(|(_, own)| !own.is_empty()).collect()
    }

    /// The members of the object at a path.
    pub(super) fn members(&self, path: &[&str]) -> Vec<(&str, &Value<'a>)> {
        path.iter()
            .try_fold(&self.root, |value, name| member(value, name))
            .map(members)
            .unwrap_or_default()
    }
}

/// A method at a path.
#[derive(Clone, Copy)]
pub(super) struct Operation<'d, 'a> {
    /// HTTP method in lower case.
    pub(super) method: &'d str,
    pub(super) path: &'d str,
    pub(super) value: &'d Value<'a>,
}

impl<'d, 'a> Operation<'d, 'a> {
    pub(super) fn id(&self) -> &'d str {
        text(self.value, "operationId")
    }

    pub(super) fn summary(&self) -> &'d str {
        text(self.value, "summary")
    }

    pub(super) fn verb(&self) -> String {
        self.method.to_uppercase()
    }

    fn tag(&self) -> &'d str {
        items(self.value, "tags").first().and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn parameters(&self, document: &'d Document<'a>) -> Vec<&'d Value<'a>> {
        items(self.value, "parameters").iter().map(|given| document.resolve(given)).collect()
    }

    /// Its path with the example of every path parameter, and the required or exemplified
    /// parameters of its query.
    pub(super) fn example_target(&self, document: &'d Document<'a>) -> String {
        let (mut path, mut query) = (self.path.to_owned(), Vec::new());
        for parameter in self.parameters(document) {
            let (name, example) = (text(parameter, "name"), scalar(parameter, "example"));
            match (text(parameter, "in"), example) {
                ("path", Some(example)) => path = path.replace(&format!("{{{name}}}"), example),
                ("query", Some(example)) => query.push(format!("{name}={example}")),
                _ => {}
            }
        }
        if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
    }

    /// The examples of its request body: summary and value. The one for Pakistan comes first, which
    /// the sandbox's shortest way leads to.
    pub(super) fn bodies(&self, document: &'d Document<'a>) -> Vec<(&'d str, &'d Value<'a>)> {
        let Some(body) = member(self.value, "requestBody") else { return Vec::new() };
        let mut found = examples(document, body);
        found.sort_by_key(|(summary, _)| *summary != "Pakistan");
        found
    }

    /// The successful response: its status and first example.
    pub(super) fn success(
        &self,
        document: &'d Document<'a>,
    ) -> Option<(&'d str, Option<&'d Value<'a>>)> {
        let answers = members(member(self.value, "responses")?);
        let (status, answer) = answers.into_iter().find(|(status, _)| status.starts_with('2'))?;
        let example = examples(document, document.resolve(answer)).into_iter().next();
        Some((status, example.map(|(_, value)| value)))
    }
}

/// The examples of a body: summary and value.
pub(super) fn examples<'d, 'a>(
    document: &'d Document<'a>,
    of: &'d Value<'a>,
) -> Vec<(&'d str, &'d Value<'a>)> {
    let media = member(of, "content").map(members).unwrap_or_default();
    let named = media
        .into_iter()
        .flat_map(|(_, media)| member(media, "examples").map(members).unwrap_or_default());
    named
        .map(|(_, example)| document.resolve(example))
        .filter_map(|example| Some((text(example, "summary"), member(example, "value")?)))
        .collect()
}

/// A text or number member as text.
fn scalar<'v>(value: &'v Value<'_>, name: &str) -> Option<&'v str> {
    match member(value, name)? {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number),
        _ => None,
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
