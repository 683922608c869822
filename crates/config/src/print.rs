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
    for (key, value) in table.iter_mut() {
        path.push(key.clone());
        mask_value(value, path);
        path.pop();
    }
}

fn mask_value(value: &mut Value, path: &mut Vec<String>) {
    match value {
        Value::Table(inner) => mask(inner, path),
        Value::Array(items) => {
            for item in items {
                let id = item.get("id").and_then(Value::as_str).map(str::to_owned);
                path.push(id.unwrap_or_default());
                mask_value(item, path);
                path.pop();
            }
        }
        Value::String(text) if is_secret(path) => *text = masked(path, text),
        // Keys of many services are in the address.
        Value::String(text) if is_address(text) => *text = masked_url(text),
        _ => {}
    }
}
