//! Describes a JSON schema as a table cell: the values that a field may hold.

use super::document::{Document, items, last_name, member, members, reference, text};
use super::html::{Parameter, code, escape, inline};
use crate::json::Value;

/// The schemas with their own section: objects. Others are described where they are used.
pub(super) fn is_object(schema: &Value<'_>) -> bool {
    member(schema, "properties").is_some() || member(schema, "oneOf").is_some()
}

/// The fields of an object. Fields of nested objects follow theirs.
pub(super) fn fields(document: &Document<'_>, schema: &Value<'_>) -> Vec<Parameter> {
    let mut rows = Vec::new();
    add_fields(document, schema, "", &mut rows);
    rows
}

fn add_fields(
    document: &Document<'_>,
    schema: &Value<'_>,
    within: &str,
    rows: &mut Vec<Parameter>,
) {
    let required: Vec<&str> = items(schema, "required").iter().filter_map(Value::as_str).collect();
    for (name, field) in member(schema, "properties").map(members).unwrap_or_default() {
        let path = format!("{within}{name}");
        rows.push(Parameter {
            name: escape(&path),
            form: form(document, field),
            required: required.contains(&name),
            meaning: inline(described(document, field)),
        });
        add_fields(document, field, &format!("{path}."), rows);
    }
}

/// The description of a schema, or of its reference's target.
pub(super) fn described<'d>(document: &'d Document<'_>, schema: &'d Value<'_>) -> &'d str {
    match text(schema, "description") {
        // An object is described at its own section.
        "" if !is_object(document.resolve(schema)) => text(document.resolve(schema), "description"),
        own => own,
    }
}

/// The allowed values as markup.
pub(super) fn form(document: &Document<'_>, schema: &Value<'_>) -> String {
    if let Some(pointer) = reference(schema) {
        let target = document.resolve(schema);
        let name = last_name(pointer);
        return if is_object(target) { link(document, name) } else { form(document, target) };
    }
    let choices = [items(schema, "oneOf"), items(schema, "anyOf")].concat();
    if !choices.is_empty() {
        return choices
            .iter()
            .map(|choice| form(document, choice))
            .collect::<Vec<_>>()
            .join(" or ");
    }
    if let Some(base) = items(schema, "allOf").first() {
        return form(document, base);
    }
    let mut words = vec![kind(schema)];
    if let Some(item) = member(schema, "items") {
        words.push(format!("of {}", form(document, item)));
    }
    words.extend(bounds(schema));
    words.retain(|word| !word.is_empty());
    words.join(", ").replacen("array, of", "array of", 1)
}

fn kind(schema: &Value<'_>) -> String {
    if let Some(only) = member(schema, "const").and_then(Value::as_str) {
        return code(only);
    }
    let values = items(schema, "enum");
    if !values.is_empty() {
        return values.iter().filter_map(Value::as_str).map(code).collect::<Vec<_>>().join(" ");
    }
    match member(schema, "type") {
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        Some(kind) => kind.as_str().map(escape).unwrap_or_default(),
        None => String::new(),
    }
}

fn bounds(schema: &Value<'_>) -> Vec<String> {
    const WORDS: [(&str, &str, &str); 9] = [
        ("format", "", ""),
        ("minimum", "from ", ""),
        ("exclusiveMinimum", "above ", ""),
        ("maximum", "to ", ""),
        ("exclusiveMaximum", "below ", ""),
        ("maxLength", "up to ", " characters"),
        ("maxItems", "up to ", " items"),
        ("pattern", "", ""),
        ("default", "default ", ""),
    ];
    let say = |(name, before, after): &(&str, &str, &str)| {
        let value = match member(schema, name)? {
            Value::String(text) if *name == "pattern" => code(text),
            Value::String(text) => escape(text),
            Value::Number(number) => escape(number),
            Value::Bool(flag) => flag.to_string(),
            _ => return None,
        };
        Some(format!("{before}{value}{after}"))
    };
    WORDS.iter().filter_map(say).collect()
}

/// A link to an object's section.
pub(super) fn link(document: &Document<'_>, name: &str) -> String {
    format!("<a href=\"{}/objects#{1}\">{1}</a>", document.page_path, escape(name))
}
