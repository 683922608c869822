//! The configuration's layers and their order: the embedded reference, a file, the environment,
//! flags. This module does not interpret keys; it records the origin of every value.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use toml::{Table, Value};

use super::ConfigError;
use super::outbound::DEFAULT;
use super::secret::is_secret;
use super::variables;

/// The embedded defaults, which are also the reference.
pub const REFERENCE: &str = include_str!("../../config/reference.toml");

/// Prefix of environment variables.
pub(super) const ENV_PREFIX: &str = "CORRIDOR_";
/// Variable naming a directory with one file per secret, as created by systemd's `LoadCredential=`
/// and mounted secrets.
const ENV_SECRETS_DIR: &str = "CORRIDOR_SECRETS_DIR";
/// Suffix of variables that name a secret's file.
const ENV_FILE: &str = "_FILE";
/// Keys outside every section, which have a variable without a double underscore.
pub(super) const OUTSIDE_SECTIONS: [&str; 2] = ["environment", "rails_enabled"];
/// Separator of section and key in environment variables.
pub(super) const ENV_SEPARATOR: &str = "__";

/// Sources of the configuration, in addition to the embedded defaults.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// File named by `--config`.
    pub file: Option<PathBuf>,
    /// Environment variables. Those that do not begin with `CORRIDOR_` are ignored.
    pub env: Vec<(String, String)>,
    /// Flags: dotted key and value. The last one wins.
    pub overrides: Vec<(String, String)>,
}

impl Sources {
    /// The file and the flags, with this process's environment.
    pub fn of_process(file: Option<PathBuf>, overrides: Vec<(String, String)>) -> Sources {
        Sources { file, env: std::env::vars().collect(), overrides }
    }
}

/// Origin of a key's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The file named by `--config`.
    File(String),
    /// The environment variable of this name.
    Env(String),
    /// The file named by a `…_FILE` variable.
    SecretFile(String),
    Flag,
    /// The preset of this name.
    Preset(String),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::File(path) => write!(out, "in {path}"),
            Origin::Env(name) => write!(out, "from {name}"),
            Origin::SecretFile(name) => write!(out, "from the file of {name}"),
            Origin::Flag => out.write_str("from a flag"),
            Origin::Preset(name) => write!(out, "from preset {name}"),
        }
    }
}

/// The merged layers with the origin of each value (dotted key → origin; embedded defaults have
/// none).
#[derive(Clone, Debug)]
pub struct Merged {
    pub table: Table,
    /// Origins of the values.
    pub origins: BTreeMap<String, Origin>,
    /// Faults of variables and flags that name no key.
    pub(super) faults: Vec<String>,
}

impl Merged {
    pub fn read(sources: &Sources) -> Result<Merged, ConfigError> {
        let table: Table = REFERENCE
            .parse()
            .map_err(|error| ConfigError::one(format!("embedded reference: {error}")))?;
        let faults = variables::faults(&sources.env, &table);
        let mut merged = Merged { table, origins: BTreeMap::new(), faults };
        if let Some(path) = &sources.file {
            let text = std::fs::read_to_string(path).map_err(|error| {
                ConfigError::one(format!("{}: cannot be read: {error}", path.display()))
            })?;
            let layer: Table = text.parse().map_err(|error| {
                ConfigError::one(format!("{}: {}", path.display(), syntax_fault(&text, &error)))
            })?;
            check_rail_ids(&layer)
                .map_err(|fault| ConfigError::one(format!("{}: {fault}", path.display())))?;
            merged.lay_over(layer, &Origin::File(path.display().to_string()));
        }
        merged.lay_environment(&with_secret_files(&sources.env)?)?;
        for (key, text) in &sources.overrides {
            let path = key.split('.').map(str::to_owned).collect();
            merged.set_or_note(path, text, Origin::Flag);
        }
        merged.lay_presets()?;
        Ok(merged)
    }

    /// Origin of the value at a dotted path, or of the nearest enclosing value.
    pub fn origin(&self, path: &str) -> Option<&Origin> {
        let mut path = path;
        loop {
            if let Some(origin) = self.origins.get(path) {
                return Some(origin);
            }
            path = path.rsplit_once('.')?.0;
        }
    }

    fn lay_over(&mut self, layer: Table, origin: &Origin) {
        merge(&mut self.table, layer, "", origin, &mut self.origins);
    }

    fn lay_environment(&mut self, env: &[(String, String)]) -> Result<(), ConfigError> {
        let mut given: BTreeMap<Vec<String>, &(String, String)> = BTreeMap::new();
        let mut sorted: Vec<&(String, String)> = env.iter().collect();
        sorted.sort();
        for variable in sorted {
            let (name, text) = variable;
            let Some(path) = path_of_variable(name) else { continue };
            let (path, text, origin) = match secret_file(&path) {
                Some(path) => (path, read_secret(name, text)?, Origin::SecretFile(name.clone())),
                None => (path, text.clone(), Origin::Env(name.clone())),
            };
            if let Some(other) = given.insert(path.clone(), variable) {
                let (one, other) = (place_of(other), place_of(variable));
                return Err(ConfigError::one(format!(
                    "{one} and {other} set the same key: remove one of them"
                )));
            }
            self.set_or_note(path, &text, origin);
        }
        Ok(())
    }

    /// Sets one key; notes the fault if there is none of this name.
    fn set_or_note(&mut self, path: Vec<String>, text: &str, origin: Origin) {
        if let Err(fault) = self.set(path, text, origin) {
            self.faults.extend(fault.0);
        }
    }

    /// Sets one key from a text. A text key keeps the text unchanged; others are parsed as TOML.
    fn set(&mut self, path: Vec<String>, text: &str, origin: Origin) -> Result<(), ConfigError> {
        let Some((last, sections)) = path.split_last() else { return Ok(()) };
        let (rail, profile) = (first_rail(&self.table), first_profile(&self.table));
        let outbound = default_outbound(&self.table);
        let chain = self.table.get("chain").and_then(Value::as_table).cloned();
        // A table in which the types of the keys can be looked up.
        let mut template: Option<&Table> = None;
        let (mut table, mut dotted) = (&mut self.table, String::new());
        let mut parent = "";
        let mut rest = sections.iter();
        while let Some(section) = rest.next() {
            let name = existing_name(table, section);
            dotted.push_str(&name);
            dotted.push('.');
            if name == "rails" && matches!(table.get("rails"), Some(Value::Array(_))) {
                let id = rest.next().unwrap_or(last);
                table = rail_table(table, id).ok_or_else(|| {
                    ConfigError::one(format!("rails.{id} ({origin}): unknown rail"))
                })?;
                dotted.push_str(table.get("id").and_then(Value::as_str).unwrap_or(id));
                dotted.push('.');
                template = rail.as_ref();
                continue;
            }
            template = match name.as_str() {
                _ if parent.eq_ignore_ascii_case("outbound") => outbound.as_ref(),
                _ if parent.eq_ignore_ascii_case("chains") => chain.as_ref(),
                "profile" => profile.as_ref(),
                name => template.and_then(|template| template.get(name)?.as_table()),
            };
            parent = section;
            table = table
                .entry(name)
                .or_insert_with(|| Value::Table(Table::new()))
                .as_table_mut()
                .ok_or_else(|| {
                    ConfigError::one(format!(
                        "{} ({origin}): is not a section",
                        dotted.trim_end_matches('.')
                    ))
                })?;
        }
        let name = existing_name(table, last);
        let known = table.get(&name).or_else(|| template?.get(&name));
        // A secret may look like a number.
        let is_text = is_secret(&path);
        let value = if is_text { Value::String(text.to_owned()) } else { typed(text, known) };
        table.insert(name.clone(), value);
        self.origins.insert(dotted + &name, origin);
        Ok(())
    }
}

/// The dotted path of a configuration variable; `None` for other variables. Only names with a
/// double underscore are keys, and those of [`OUTSIDE_SECTIONS`]: the rest belong to the commands
/// (`CORRIDOR_BASE_URL` …), or are mistakes ([`variables::faults`]).
pub(super) fn path_of_variable(name: &str) -> Option<Vec<String>> {
    let rest = name.strip_prefix(ENV_PREFIX)?;
    let outside = OUTSIDE_SECTIONS.iter().find(|key| key.eq_ignore_ascii_case(rest));
    if let Some(key) = outside {
        return Some(vec![(*key).to_owned()]);
    }
    rest.contains(ENV_SEPARATOR)
        .then(|| rest.split(ENV_SEPARATOR).map(str::to_ascii_lowercase).collect())
}

/// A variable as operators find it: one that names a file, which may be in the secrets directory, with
/// the file.
fn place_of((name, text): &(String, String)) -> String {
    match path_of_variable(name).is_some_and(|path| secret_file(&path).is_some()) {
        true => format!("{name} (the file {text})"),
        false => name.clone(),
    }
}

/// The environment, with a `…_FILE` variable for every file in the secrets directory. The files are
/// named like the variables, with or without `CORRIDOR_`. Hidden files and directories, which
/// mounts use internally, are ignored; any other name is an error.
fn with_secret_files(env: &[(String, String)]) -> Result<Vec<(String, String)>, ConfigError> {
    let mut all = env.to_vec();
    let given = env.iter().find(|(name, dir)| name == ENV_SECRETS_DIR && !dir.is_empty());
    let Some((_, dir)) = given else { return Ok(all) };
    let failed = |error: std::io::Error| {
        ConfigError::one(format!("{ENV_SECRETS_DIR}: {dir}: cannot be read: {error}"))
    };
    for entry in std::fs::read_dir(dir).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || entry.path().is_dir() {
            continue;
        }
        let prefix = if name.starts_with(ENV_PREFIX) { "" } else { ENV_PREFIX };
        let variable = format!("{prefix}{name}{ENV_FILE}");
        if path_of_variable(&variable).and_then(|path| secret_file(&path)).is_none() {
            let path = entry.path();
            return Err(ConfigError::one(format!(
                "{ENV_SECRETS_DIR}: {}: is not the name of a secret",
                path.display()
            )));
        }
        all.push((variable, entry.path().display().to_string()));
    }
    Ok(all)
}

/// The files that secrets are read from.
pub fn secret_files(env: &[(String, String)]) -> Result<Vec<PathBuf>, ConfigError> {
    let names_secret =
        |name: &str| path_of_variable(name).and_then(|path| secret_file(&path)).is_some();
    let named = with_secret_files(env)?.into_iter().filter(|(name, _)| names_secret(name));
    Ok(named.map(|(_, path)| PathBuf::from(path)).collect())
}

/// The path without `_file`, if it belongs to a secret.
fn secret_file(path: &[String]) -> Option<Vec<String>> {
    let (last, sections) = path.split_last()?;
    let mut stripped = sections.to_vec();
    stripped.push(last.strip_suffix("_file")?.to_owned());
    is_secret(&stripped).then_some(stripped)
}

fn read_secret(name: &str, path: &str) -> Result<String, ConfigError> {
    std::fs::read_to_string(path)
        .map(|text| text.trim_end_matches(['\r', '\n']).to_owned())
        .map_err(|error| ConfigError::one(format!("{name}: {path}: cannot be read: {error}")))
}

/// The table's name for `name`: environment variables have no case, hyphens or slashes.
fn existing_name(table: &Table, name: &str) -> String {
    let flat =
        |text: &str| text.replace(|c: char| !c.is_ascii_alphanumeric(), "_").to_ascii_lowercase();
    if table.contains_key(name) {
        return name.to_owned();
    }
    table.keys().find(|key| flat(key) == flat(name)).cloned().unwrap_or_else(|| name.to_owned())
}

fn first_rail(table: &Table) -> Option<Table> {
    table.get("rails")?.as_array()?.first()?.as_table().cloned()
}

/// The profile that explains every key: that of the first corridor.
fn first_profile(table: &Table) -> Option<Table> {
    let (_, corridor) = table.get("corridors")?.as_table()?.iter().next()?;
    corridor.get("profile")?.as_table().cloned()
}

fn default_outbound(table: &Table) -> Option<Table> {
    table.get("outbound")?.get(DEFAULT)?.as_table().cloned()
}

fn rail_table<'t>(table: &'t mut Table, id: &str) -> Option<&'t mut Table> {
    let flat = |text: &str| text.replace('-', "_").to_ascii_lowercase();
    let rails = table.get_mut("rails")?.as_array_mut()?;
    rails.iter_mut().filter_map(Value::as_table_mut).find(|rail| {
        rail.get("id").and_then(Value::as_str).is_some_and(|known| flat(known) == flat(id))
    })
}

/// What is wrong with a file, and where. The line itself may contain a secret.
fn syntax_fault(text: &str, error: &toml::de::Error) -> String {
    let place = error.span().and_then(|span| text.get(..span.start)).map(|before| {
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("line {line}, column {column}: ")
    });
    format!("{}{}", place.unwrap_or_default(), error.message().replace('\n', "; "))
}

fn typed(text: &str, known: Option<&Value>) -> Value {
    if matches!(known, Some(Value::String(_))) {
        return Value::String(text.to_owned());
    }
    match format!("value = {text}").parse::<Table>() {
        Ok(mut table) if table.len() == 1 => {
            table.remove("value").unwrap_or_else(|| Value::String(text.to_owned()))
        }
        _ => Value::String(text.to_owned()),
    }
}

fn merge(
    base: &mut Table,
    layer: Table,
    prefix: &str,
    origin: &Origin,
    origins: &mut BTreeMap<String, Origin>,
) {
    for (key, value) in layer {
        let path = format!("{prefix}{key}");
        match (base.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new)) => {
                merge(old, new, &format!("{path}."), origin, origins)
            }
            // Key by key: a preset gives way to every value that another layer has set.
            (None, Value::Table(new)) if prefix == "chains." => {
                let mut own = Table::new();
                merge(&mut own, new, &format!("{path}."), origin, origins);
                base.insert(key, Value::Table(own));
                origins.insert(path, origin.clone());
            }
            (Some(Value::Array(old)), Value::Array(new)) if path == "rails" => {
                merge_rails(old, new, origin, origins)
            }
            (_, value) => {
                origins.insert(path, origin.clone());
                base.insert(key, value);
            }
        }
    }
}

/// A file that has two rails of one id: the second would silently change the first.
fn check_rail_ids(layer: &Table) -> Result<(), String> {
    let rails = layer.get("rails").and_then(Value::as_array);
    let ids = rails.into_iter().flatten().filter_map(|rail| rail.get("id")?.as_str());
    let mut known = BTreeSet::new();
    match ids.into_iter().find(|id| !known.insert(*id)) {
        Some(id) => Err(format!("rails: two of them have the id {id}: it has to be unique")),
        None => Ok(()),
    }
}

fn merge_rails(
    base: &mut Vec<Value>,
    layer: Vec<Value>,
    origin: &Origin,
    origins: &mut BTreeMap<String, Origin>,
) {
    for rail in layer {
        let id = rail.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let known =
            base.iter_mut().find(|old| old.get("id").and_then(Value::as_str) == Some(id.as_str()));
        match (known.and_then(Value::as_table_mut), rail) {
            (Some(old), Value::Table(new)) => {
                merge(old, new, &format!("rails.{id}."), origin, origins)
            }
            (_, rail) => {
                origins.insert(format!("rails.{id}"), origin.clone());
                base.push(rail);
            }
        }
    }
}
