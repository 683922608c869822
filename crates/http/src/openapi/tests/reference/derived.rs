//! The parts of `docs/openapi/payment.json` that are derived: what describes an order from the
//! table of order fields, the samples from what the service writes.

use domain::country::Country;
use domain::order::{FIELDS, Field, Form, Role, TIMESTAMP, country_forms};

use super::super::requests::example_order;
use super::super::{PAYMENT, Value, answers, codes};
use super::check_file;
use super::rules::RULES;
use crate::json::{self, Value as Json};
use crate::payments_v2::render::order_fields;
use crate::write::{self, ObjectWriter};

/// Width of the document in columns.
const WIDTH: usize = 110;

/// A JSON value whose members can be replaced.
#[derive(Clone, Debug)]
enum Node {
    /// The JSON text of a value that is neither an array nor an object.
    Leaf(String),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    fn of_json(text: &[u8]) -> Node {
        Node::of_value(&json::parse(text).expect("JSON"))
    }

    fn of_value(value: &Json<'_>) -> Node {
        let quoted = |text: &str| serde_json::to_string(text).expect("writes");
        match value {
            Json::Null => Node::Leaf("null".to_owned()),
            Json::Bool(flag) => Node::Leaf(flag.to_string()),
            Json::Number(number) => Node::Leaf((*number).to_owned()),
            Json::String(text) => Node::Leaf(quoted(text)),
            Json::Array(items) => Node::Array(items.iter().map(Node::of_value).collect()),
            Json::Object(object) => {
                let member =
                    |(name, value): (&str, &Json<'_>)| (quoted(name), Node::of_value(value));
                Node::Object(object.members().map(member).collect())
            }
        }
    }

    /// Replaces or adds the value at `path`.
    fn set(&mut self, path: &[&str], value: Node) {
        let Some((name, rest)) = path.split_first() else {
            *self = value;
            return;
        };
        let Node::Object(members) = self else { panic!("{name} is not in an object") };
        let name = format!("\"{name}\"");
        let at = members.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            members.push((name, Node::Object(Vec::new())));
            members.len() - 1
        });
        members[at].1.set(rest, value);
    }

    /// The text on one line.
    fn line(&self) -> String {
        match self {
            Node::Leaf(text) => text.clone(),
            Node::Array(items) => {
                format!("[{}]", items.iter().map(Node::line).collect::<Vec<_>>().join(", "))
            }
            Node::Object(members) => {
                let member = |(name, value): &(String, Node)| format!("{name}: {}", value.line());
                format!("{{ {} }}", members.iter().map(member).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Writes it after `column` columns of a line with this indentation: on the same line if it
    /// fits, with the comma behind it.
    fn write(&self, indent: usize, column: usize, out: &mut String) {
        let line = self.line();
        let parts: Vec<(String, &Node)> = match self {
            Node::Array(items) => items.iter().map(|item| (String::new(), item)).collect(),
            Node::Object(members) => {
                members.iter().map(|(name, value)| (format!("{name}: "), value)).collect()
            }
            Node::Leaf(_) => Vec::new(),
        };
        if parts.is_empty() || column + line.chars().count() < WIDTH {
            out.push_str(&line);
            return;
        }
        let (open, close) = if matches!(self, Node::Array(_)) { ('[', ']') } else { ('{', '}') };
        out.push(open);
        for (at, (name, value)) in parts.iter().enumerate() {
            out.push_str(if at == 0 { "\n" } else { ",\n" });
            out.push_str(&" ".repeat(indent + 2));
            out.push_str(name);
            value.write(indent + 2, indent + 2 + name.len(), out);
        }
        out.push('\n');
        out.push_str(&" ".repeat(indent));
        out.push(close);
    }
}

/// A type of JSON Schema, or null.
fn write_type(out: &mut ObjectWriter<'_>, name: &str, nullable: bool) {
    match nullable {
        true => out.array("type", |types| {
            types.text(name);
            types.text("null");
        }),
        false => out.text("type", name),
    }
}

fn reference(name: &str) -> String {
    format!("#/components/schemas/{name}")
}

/// The schema of a field in a request, or in answers.
fn write_field(out: &mut ObjectWriter<'_>, field: &Field, answers: bool) {
    let nullable = field.nullable || (answers && field.nullable_in_answers);
    match field.form {
        Form::OneOf { set, .. } if nullable => out.array("oneOf", |either| {
            either.object(|out| out.text("$ref", &reference(set)));
            either.object(|out| out.text("type", "null"));
        }),
        Form::OneOf { set, .. } => out.text("$ref", &reference(set)),
        Form::Number => write_type(out, "number", nullable),
        Form::Flag => write_type(out, "boolean", nullable),
        Form::Text { .. } | Form::Uuid | Form::Date => write_type(out, "string", nullable),
    }
    match field.form {
        Form::Text { min, max, .. } if field.role != Role::Output => {
            if let Some(format) = field.format {
                out.text("format", format);
            }
            let min = min.max(usize::from(field.role == Role::Required));
            if min > 0 {
                out.integer("minLength", i64::try_from(min).expect("fits"));
            }
            out.integer("maxLength", i64::try_from(max).expect("fits"));
        }
        Form::Number if !answers => out.integer("exclusiveMinimum", 0),
        Form::Uuid => out.text("format", "uuid"),
        Form::Date => out.text("format", "date"),
        _ => {}
    }
    if let Some(pattern) = field.pattern {
        out.text("pattern", pattern);
    }
    let description = if answers { field.in_answers } else { field.description };
    if !description.is_empty() {
        let since = field.since.map(|version| format!(" Since {version}.")).unwrap_or_default();
        out.text("description", &format!("{description}{since}"));
    }
    if field.role == Role::Output && !answers {
        out.flag("readOnly", true);
    }
}

fn write_timestamp(out: &mut ObjectWriter<'_>, answers: bool) {
    write_type(out, "string", true);
    out.text("format", "date-time");
    match answers {
        true => out.text("description", "When the order was accepted."),
        false => {
            out.text("description", "Output only: ignored in a request.");
            out.flag("readOnly", true);
        }
    }
}

/// The schema of an order in a request to any country, or in answers.
fn write_order(out: &mut ObjectWriter<'_>, answers: bool) {
    out.text("type", "object");
    out.text(
        "description",
        match answers {
            true => {
                "An order as it was accepted, whatever its country: the same fields in the same \
                 order, absent ones as null."
            }
            false => "What the orders of all countries have in common.",
        },
    );
    out.array("required", |names| {
        FIELDS
            .iter()
            .filter(|field| field.role == Role::Required)
            .for_each(|field| names.text(field.name));
    });
    out.object("properties", |out| {
        let has = |field: &&Field| field.is_output() && (answers || field.countries.is_empty());
        for field in FIELDS.iter().filter(has) {
            out.object(field.name, |out| write_field(out, field, answers));
        }
        out.object(TIMESTAMP, |out| write_timestamp(out, answers));
    });
}

/// The schema of an order to `country`.
fn write_variant(out: &mut ObjectWriter<'_>, country: Country) {
    out.text("title", country.name());
    out.text("description", &format!("Order of a payment to {}.", country.name()));
    out.array("allOf", |all| {
        all.object(|out| out.text("$ref", &reference("PaymentOrderFields")));
    });
    out.object("properties", |out| {
        out.object("country", |out| {
            out.text("type", "string");
            out.array("enum", |names| names.text(country.alpha3()));
        });
        for form in country_forms(country) {
            out.object(form.field.name, |out| {
                write_type(out, "string", form.field.nullable);
                out.text("pattern", &form.pattern);
                out.text("description", &form.description);
            });
        }
        for field in FIELDS.iter().filter(|field| field.countries.contains(&country)) {
            out.object(field.name, |out| write_field(out, field, false));
        }
    });
    out.array("required", |names| names.text("country"));
}

fn variant(country: Country) -> String {
    format!("PaymentOrder{}", country.alpha3())
}

fn write_variants(out: &mut ObjectWriter<'_>) {
    out.text(
        "description",
        "A payment order: one variant per destination country, selected by `country`. Text is \
         trimmed; blank text counts as absent; unknown fields are ignored.",
    );
    out.array("oneOf", |variants| {
        for country in Country::ALL {
            variants.object(|out| out.text("$ref", &reference(&variant(country))));
        }
    });
    out.object("discriminator", |out| {
        out.text("propertyName", "country");
        out.object("mapping", |out| {
            for country in Country::ALL {
                out.text(country.alpha3(), &reference(&variant(country)));
            }
        });
    });
}

fn object(fill: impl FnOnce(&mut ObjectWriter<'_>)) -> Node {
    Node::of_json(&write::object(fill))
}

/// The document with its derived parts.
pub(super) fn document() -> Value {
    serde_json::from_str(&rendered()).expect("JSON")
}

fn rendered() -> String {
    let kept = super::super::document();
    let mut document = Node::of_json(PAYMENT.as_bytes());
    let mut schema =
        |name: &str, value: Node| document.set(&["components", "schemas", name], value);
    schema("PaymentOrder", object(write_variants));
    schema("PaymentOrderFields", object(|out| write_order(out, false)));
    schema("AcceptedOrder", object(|out| write_order(out, true)));
    for country in Country::ALL {
        schema(&variant(country), object(|out| write_variant(out, country)));
    }
    for field in FIELDS {
        let Form::OneOf { set, names } = field.form else { continue };
        let names = write::array(|out| names.iter().for_each(|name| out.text(name)));
        document.set(&["components", "schemas", set, "enum"], Node::of_json(&names));
    }
    let used = codes::field_rules();
    let rules = write::array(|out| {
        RULES.iter().filter(|(rule, _)| used.contains(*rule)).for_each(|(rule, _)| out.text(rule));
    });
    let path = ["components", "schemas", "ValidationItem", "properties", "type", "enum"];
    document.set(&path, Node::of_json(&rules));
    let mut sample = |name: &str, value: Node| {
        document.set(&["components", "examples", name, "value"], value);
    };
    for country in Country::ALL {
        let order = example_order(&kept, country);
        let given = |field: &Field| field.is_input() && field.value(&order).is_some();
        sample(
            &format!("order{}", country.alpha3()),
            object(|out| order_fields(out, &order, given)),
        );
    }
    for (name, json) in answers::samples() {
        sample(name, Node::of_json(&json));
    }
    let mut text = String::new();
    document.write(0, 0, &mut text);
    text.push('\n');
    text
}

#[test]
fn what_describes_an_order_is_derived_from_the_table_of_its_fields() {
    check_file("docs/openapi/payment.json", &rendered());
}
