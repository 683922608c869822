//! Reads the merged layers as a [`Config`]. The deserializer stops at its first fault: the faulty
//! value is replaced by its default, or removed, and everything is read again, so that all faults are
//! reported at once.

use domain::country::Country;
use serde_path_to_error::Segment;
use toml::{Table, Value};

use super::layers::{Merged, REFERENCE};
use super::sections::Config;
use super::{outbound, presets};

/// Faults that are reported at once.
const FAULTS_MAX: usize = 50;
/// Lists whose default is empty, and an entry that explains what belongs there.
const ENTRIES: [(&str, &str); 1] = [("http.trusted_proxies", "10.0.0.0/8")];

/// Keys of lists of tables, and the key by which a table of the list is known. The `tenants` of a relay
/// are a list of texts.
const TABLES: [(&str, Option<&str>); 4] =
    [("rails", Some("id")), ("tenants", Some("tag")), ("sources", Some("name")), ("lists", None)];
/// Edits by which an id counts as misspelt.
const MISSPELT_BY: usize = 2;

/// What the layers contain.
pub(super) struct Reading {
    /// `None` if a fault cannot be set aside.
    pub config: Option<Config>,
    /// The faults, with the origins of their values.
    pub faults: Vec<String>,
    /// The keys of values that were set aside.
    set_aside: Vec<String>,
}

impl Reading {
    pub fn of(merged: &Merged) -> Reading {
        let mut table = merged.table.clone();
        outbound::inherit(&mut table);
        presets::complete(&mut table);
        let mut reading = Reading { config: None, faults: Vec::new(), set_aside: Vec::new() };
        reading.take_unknown_corridors(merged, &mut table);
        let mut root = Value::Table(table);
        let mut defaults = None;
        while reading.faults.len() < FAULTS_MAX {
            let error = match serde_path_to_error::deserialize(root.clone()) {
                Ok(config) => {
                    reading.config = Some(config);
                    break;
                }
                Err(error) => error,
            };
            let defaults = defaults.get_or_insert_with(|| {
                let reference: Table = REFERENCE.parse().unwrap_or_default();
                Value::Table(reference)
            });
            let error = Fault::of(&error, &root, defaults);
            // The removal of a value causes this one.
            let follows = error.is_missing && reading.covers(&error.key);
            if !follows {
                reading.faults.push(merged.locate(&error.key, &error.rule));
            }
            reading.set_aside.push(error.key.clone());
            if !error.set_aside(&mut root, defaults) {
                break;
            }
        }
        reading
    }

    /// Whether a fault of `key` may follow from a value that was set aside: it is in the same place or
    /// the same rail.
    pub fn is_consequence(&self, key: &str) -> bool {
        let rail = |key: &str| Some(key.strip_prefix("rails.")?.split('.').next()?.to_owned());
        self.set_aside.iter().any(|other| {
            let of_rail = rail(other);
            let same_rail = of_rail.is_some() && (key == "rails_enabled" || rail(key) == of_rail);
            same_rail || is_within(key, other)
        })
    }

    /// Whether a value below `key` was set aside.
    fn covers(&self, key: &str) -> bool {
        self.set_aside.iter().any(|other| is_within(other, key))
    }

    /// A country is a word of the specification: its missing keys would not explain the fault.
    fn take_unknown_corridors(&mut self, merged: &Merged, table: &mut Table) {
        let Some(corridors) = table.get_mut("corridors").and_then(Value::as_table_mut) else {
            return;
        };
        let mut unknown: Vec<String> = corridors.keys().cloned().collect();
        unknown.retain(|code| Country::parse(code).is_none());
        let known = Country::ALL.map(Country::alpha3).join(", ");
        for code in unknown {
            corridors.remove(&code);
            let rule = format!("unknown country; the corridors are {known}");
            self.faults.push(merged.locate(&format!("corridors.{code}"), &rule));
        }
    }
}

/// Whether a dotted key is another one, or in its section.
fn is_within(key: &str, section: &str) -> bool {
    key.strip_prefix(section).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// One step from a value to a value in it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

struct Fault {
    path: Vec<Step>,
    key: String,
    rule: String,
    is_unknown: bool,
    is_missing: bool,
}

impl Fault {
    fn of(
        error: &serde_path_to_error::Error<toml::de::Error>,
        root: &Value,
        defaults: &Value,
    ) -> Fault {
        let message = error.inner().message();
        let mut path: Vec<Step> = error
            .path()
            .iter()
            .filter_map(|segment| match segment {
                Segment::Map { key } => Some(Step::Key(key.clone())),
                Segment::Seq { index } => Some(Step::Index(*index)),
                Segment::Enum { .. } | Segment::Unknown => None,
            })
            .collect();
        // The deserializer names an unknown key in its message only.
        let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
        if let Some((field, _)) = unknown {
            let field = Step::Key(field.to_owned());
            if path.last() != Some(&field) {
                path.push(field);
            }
        }
        let key = dotted(&path, root);
        let default = value_at(defaults, &default_path(&path, root, defaults));
        let is_missing = message.starts_with("missing field");
        let rule = match unknown {
            Some(_) => message.replace("unknown field", "unknown key"),
            None if is_missing => match meant_rail(&path, root, defaults) {
                Some(meant) => format!("{message}; if {meant:?} is meant, its id is misspelt"),
                None => message.to_owned(),
            },
            None => tables_rule(&path, root).unwrap_or_else(|| rule(&key, message, default)),
        };
        Fault { path, key, rule, is_unknown: unknown.is_some(), is_missing }
    }

    /// Replaces the faulty value by its default, or removes it; false if neither is possible.
    fn set_aside(&self, root: &mut Value, defaults: &Value) -> bool {
        let default = value_at(defaults, &default_path(&self.path, root, defaults));
        // A default that is refused itself does not help.
        let default =
            default.filter(|it| !self.is_unknown && value_at(root, &self.path) != Some(*it));
        let default = default.cloned();
        let Some((last, parents)) = self.path.split_last() else { return false };
        let parent = parents.iter().try_fold(root, |value, step| match step {
            Step::Key(key) => value.get_mut(key),
            Step::Index(index) => value.get_mut(*index),
        });
        match (parent, last, default) {
            (Some(Value::Table(table)), Step::Key(key), Some(default)) => {
                table.insert(key.clone(), default);
                true
            }
            (Some(Value::Table(table)), Step::Key(key), None) => table.remove(key).is_some(),
            (Some(Value::Array(items)), Step::Index(index), _) if *index < items.len() => {
                items.remove(*index);
                true
            }
            _ => false,
        }
    }
}

/// A path as in faults: `rails[3].min` is `rails.<id>.min`.
fn dotted(path: &[Step], root: &Value) -> String {
    let mut text = String::new();
    for (at, step) in path.iter().enumerate() {
        match step {
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => text.push_str(&format!(".{key}")),
            Step::Index(index) => match rail_id(root, &path[..at], *index) {
                Some(id) => text.push_str(&format!(".{id}")),
                None => text.push_str(&format!("[{index}]")),
            },
        }
    }
    text
}

/// The id of a rail, if `parents` lead to the list of rails.
fn rail_id<'v>(root: &'v Value, parents: &[Step], index: usize) -> Option<&'v str> {
    if parents != [Step::Key("rails".to_owned())] {
        return None;
    }
    root.get("rails")?.get(index)?.get("id")?.as_str()
}

/// The predefined rail that a new one is probably meant to be.
fn meant_rail(path: &[Step], root: &Value, defaults: &Value) -> Option<String> {
    let [first, Step::Index(index), ..] = path else { return None };
    let id = rail_id(root, std::slice::from_ref(first), *index)?.to_lowercase();
    let rails = defaults.get("rails")?.as_array()?;
    let known = rails.iter().filter_map(|rail| rail.get("id")?.as_str());
    let close = known.map(|known| (edits(known, &id), known)).min()?;
    (close.0 <= MISSPELT_BY).then(|| close.1.to_owned())
}

/// How many letters have to be added, removed or replaced to make one text of the other.
fn edits(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.chars().count()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (column, its) in other.chars().enumerate() {
            let replaced = diagonal + usize::from(its != letter);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

/// What to write instead of a section whose name is that of a list of tables: the documentation names
/// their keys `rails.<id>.enabled`, too.
fn tables_rule(path: &[Step], root: &Value) -> Option<String> {
    let Some(Step::Key(last)) = path.last() else { return None };
    let table = value_at(root, path)?.as_table()?;
    let is_of_relay = matches!(path.first(), Some(Step::Key(first)) if first == "relay");
    let (_, id) = TABLES.iter().find(|(list, _)| list == last && !is_of_relay)?;
    let named = table.iter().find(|(_, value)| value.is_table()).map(|(name, _)| name);
    let section = dotted(path, root);
    Some(match (id, named) {
        (Some(id), Some(name)) => {
            format!("is a list of tables: write [[{section}]] with {id} = {name:?}")
        }
        (Some(id), None) => format!("is a list of tables: write [[{section}]] with its {id}"),
        (None, _) => format!("is a list of tables: write [[{section}]]"),
    })
}

/// The same path in the defaults, where a rail may have another place.
fn default_path(path: &[Step], root: &Value, defaults: &Value) -> Vec<Step> {
    let mut path = path.to_vec();
    if let [first, Step::Index(index), ..] = &mut path[..]
        && let Some(id) = rail_id(root, std::slice::from_ref(&*first), *index)
    {
        let rails = defaults.get("rails").and_then(Value::as_array);
        let is_same = |rail: &Value| rail.get("id").and_then(Value::as_str) == Some(id);
        *index = rails.and_then(|rails| rails.iter().position(is_same)).unwrap_or(usize::MAX);
    }
    path
}

fn value_at<'v>(root: &'v Value, path: &[Step]) -> Option<&'v Value> {
    path.iter().try_fold(root, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) => value.get(*index),
    })
}

/// The deserializer's message in the words of the documentation.
fn rule(key: &str, message: &str, default: Option<&Value>) -> String {
    if message == "invalid socket address syntax" {
        return "must be an address with a port, such as \"127.0.0.1:8480\"".to_owned();
    }
    let Some((found, expected)) = message.split_once(", expected ") else {
        return message.to_owned();
    };
    // Without the value: it may be a secret, here or in the wrong place.
    let shows_value = found.starts_with("invalid type: ") || found.starts_with("invalid value: ");
    let found = match shows_value {
        true => found.split(['`', '"']).next().unwrap_or_default().trim_end(),
        false => found,
    };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" => "a text in quotes".to_owned(),
        "a map" => "a section".to_owned(),
        "a sequence" => format!("a list such as {}", list(key, default)),
        expected if expected.starts_with("struct ") => "a section".to_owned(),
        expected => expected.to_owned(),
    };
    format!("{found}, expected {expected}")
}

fn list(key: &str, default: Option<&Value>) -> String {
    let known = ENTRIES.iter().find(|(of, _)| *of == key).map(|(_, entry)| (*entry).to_owned());
    let first = default.and_then(|value| value.get(0)).and_then(Value::as_str).map(str::to_owned);
    format!("[{:?}]", known.or(first).unwrap_or_else(|| "one".to_owned()))
}
