//! A crate's manifest: its name and its dependencies, in every section and for every target.

use toml::{Table, Value};

/// The kind of a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Normal,
    Dev,
    Build,
}

const SECTIONS: [(&str, Purpose); 3] = [
    ("dependencies", Purpose::Normal),
    ("dev-dependencies", Purpose::Dev),
    ("build-dependencies", Purpose::Build),
];

/// One line of a dependency table.
#[derive(Debug)]
pub struct Dependency {
    pub name: String,
    pub purpose: Purpose,
    /// Whether it has `workspace = true`.
    pub from_workspace: bool,
    pub line: usize,
}

#[derive(Debug)]
pub struct Manifest {
    pub name: String,
    /// Whether the package is the root of a workspace.
    pub is_workspace: bool,
    pub dependencies: Vec<Dependency>,
}

impl Manifest {
    /// `None` if the text is not a package manifest; cargo itself reports the error before any rule
    /// runs.
    pub fn parse(text: &str) -> Option<Manifest> {
        let table: Table = toml::from_str(text).ok()?;
        let name = table.get("package")?.get("name")?.as_str()?.to_owned();
        let mut dependencies = dependencies_in(&table, text);
        let targets = table.get("target").and_then(Value::as_table);
        for target in targets.into_iter().flat_map(Table::values).filter_map(Value::as_table) {
            dependencies.extend(dependencies_in(target, text));
        }
        let is_workspace = table.contains_key("workspace");
        Some(Manifest { name, is_workspace, dependencies })
    }
}

fn dependencies_in(table: &Table, text: &str) -> Vec<Dependency> {
    let mut found = Vec::new();
    for (section, purpose) in SECTIONS {
        let Some(entries) = table.get(section).and_then(Value::as_table) else { continue };
        for (key, value) in entries {
            let from_workspace = value.get("workspace").and_then(Value::as_bool) == Some(true);
            let name = value.get("package").and_then(Value::as_str).unwrap_or(key).to_owned();
            found.push(Dependency { name, purpose, from_workspace, line: line_of(text, key) });
        }
    }
    found
}

/// The first line that starts with the key, or contains it in a table header.
fn line_of(text: &str, key: &str) -> usize {
    let begins = |line: &str| {
        let rest = line.trim_start().strip_prefix(key);
        rest.is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
            || line.trim_end().ends_with(&format!(".{key}]"))
    };
    text.lines().position(begins).map_or(0, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_and_target_counts() {
        let text = "[package]\nname = \"a\"\n[dependencies]\nb.workspace = true\nc = { package = \"real\", version = \"1\" }\n\
                    [dev-dependencies]\nd = \"1\"\n[target.'cfg(unix)'.build-dependencies.e]\nworkspace = true\n";
        let manifest = Manifest::parse(text).unwrap();
        let found: Vec<_> = manifest
            .dependencies
            .iter()
            .map(|d| (d.name.as_str(), d.purpose, d.from_workspace, d.line))
            .collect();
        let expected = [
            ("b", Purpose::Normal, true, 4),
            ("real", Purpose::Normal, false, 5),
            ("d", Purpose::Dev, false, 7),
            ("e", Purpose::Build, true, 8),
        ];
        assert_eq!((manifest.name.as_str(), found.as_slice()), ("a", expected.as_slice()));
        assert!(Manifest::parse("[workspace]\n").is_none());
    }
}
