//! `config print`: the merged configuration, with secrets masked and origins named.

use toml::{Table, Value};

use super::layers::Merged;
use super::secret::{is_secret, masked, masked_url};
use super::validate::is_address;

/// The merged configuration as TOML with masked secrets; comments list the origins of values that
/// are not defaults.
pub fn print(merged: &Merged) -> String {
    let mut table = merged.table.clone();
    mask(&mut table, &mut Vec::new());
    let mut text = toml::to_string_pretty(&table)
        .unwrap_or_else(|error| format!("# printing failed: {error}\n"));
    if !merged.origins.is_empty() {
        text.push_str("\n# Values that are not embedded defaults:\n");
        for (key, origin) in &merged.origins {
            text.push_str(&format!("#   {key} ({origin})\n"));
        }
    }
    text
}

/// The masked configuration as a table, for JSON.
pub fn masked_table(merged: &Merged) -> Table {
    let mut table = merged.table.clone();
    mask(&mut table, &mut Vec::new());
    table
}

fn mask(table: &mut Table, path: &mut Vec<String>) {
    each_text(table, path, &mut |path, text| {
        if is_secret(path) {
            *text = masked(path, text);
        } else if is_address(text) {
            // Keys of many services are in the address.
            *text = masked_url(text);
        }
    });
}

/// The dotted keys of all secrets that are set.
pub fn secrets(table: &Table) -> Vec<String> {
    let mut found = Vec::new();
    each_text(&mut table.clone(), &mut Vec::new(), &mut |path, text| {
        if is_secret(path) && !text.is_empty() {
            found.push(path.join("."));
        }
    });
    found
}

fn each_text(
    table: &mut Table,
    path: &mut Vec<String>,
    visit: &mut impl FnMut(&[String], &mut String),
) {
    for (key, value) in table.iter_mut() {
        path.push(key.clone());
        each_text_of(value, path, visit);
        path.pop();
    }
}

fn each_text_of(
    value: &mut Value,
    path: &mut Vec<String>,
    visit: &mut impl FnMut(&[String], &mut String),
) {
    match value {
        Value::Table(inner) => each_text(inner, path, visit),
        Value::Array(items) => {
            for item in items {
                let id = item.get("id").and_then(Value::as_str).map(str::to_owned);
                path.push(id.unwrap_or_default());
                each_text_of(item, path, visit);
                path.pop();
            }
        }
        Value::String(text) => visit(path, text),
        _ => {}
    }
}
