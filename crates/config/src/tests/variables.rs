//! Environment variables that begin with `CORRIDOR_`: mistyped ones are reported with the intended
//! name; those of commands, tests and Kubernetes are left alone.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;
use crate::is_known_variable;

/// A name that no program reads. Split, so that the test below does not find it here.
fn corridor(rest: &str) -> String {
    format!("CORRIDOR_{rest}")
}

#[test]
fn a_mistyped_variable_is_an_error_that_names_the_intended_one() {
    for (name, meant) in [
        ("STORE_URL", "CORRIDOR_STORE__URL"),
        ("STORE_URL_FILE", "CORRIDOR_STORE__URL_FILE"),
        ("DATABASE_URL", "CORRIDOR_STORE__URL"),
        ("HTTP_LISTEN", "CORRIDOR_HTTP__LISTEN"),
        ("ENVIRONMNT", "CORRIDOR_ENVIRONMENT"),
        ("DATADIR", "CORRIDOR_DATA_DIR"),
        ("RAILS_PAK_RAAST_TOKEN", "CORRIDOR_RAILS__PAK_RAAST__TOKEN"),
        ("CORRIDORS_PAK_QUOTE_TTL_S", "CORRIDOR_CORRIDORS__PAK__QUOTE_TTL_S"),
    ] {
        let name = corridor(name);
        let message = refused("", &[(&name, "x")]);
        assert_eq!(
            message,
            format!("configuration: {name}: unknown variable; did you mean {meant}?")
        );
    }
    let (one, two) = (corridor("GREETING"), corridor("PORT"));
    let message = refused("", &[(&one, "x"), (&two, "80")]);
    assert!(message.contains(&one) && message.contains(&two), "all at once: {message}");
    assert!(message.contains("reserved"), "{message}");
}

#[test]
fn services_that_kubernetes_announces_are_left_alone() {
    let announced =
        ["SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT", "PORT_80_TCP_ADDR"];
    for service in ["", "DB_"] {
        let env: Vec<(String, &str)> = announced
            .iter()
            .map(|name| (corridor(&format!("{service}{name}")), "10.0.0.1"))
            .collect();
        let env: Vec<(&str, &str)> =
            env.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        assert!(load("", &env, &[]).is_ok());
        assert!(load("", &env[1..], &[]).is_err(), "without its host it is a mistake");
    }
}

/// A service inherits the variables of the test, benchmark or script that starts it.
#[test]
fn every_variable_of_the_repository_is_known() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut names = BTreeSet::new();
    for part in ["crates", "xtask", "e2e", "clients", "ops", "docs", "test", ".ci", "README.md"] {
        collect(&root.join(part), &mut names);
    }
    for name in ["CORRIDOR_DATA_DIR", "CORRIDOR_TEST_POSTGRES", "CORRIDOR_BIN", "CORRIDOR_KEYS"] {
        assert!(names.contains(name), "{name} is found");
    }
    // Prefixes, and names that tests and documents mistype on purpose.
    let wrong =
        ["ACCESS", "DATADIR", "DATABASE_URL", "DB_URL", "LISTEN", "STORE_URL"].map(corridor);
    names.retain(|name| !name.ends_with('_') && !wrong.contains(name));
    names.retain(|name| {
        !["SERVICE_HOST", "DB_SERVICE_HOST", "DB_PORT"].map(corridor).contains(name)
    });
    let unknown: Vec<&String> = names.iter().filter(|name| !is_known_variable(name)).collect();
    assert!(unknown.is_empty(), "add them to config/src/variables.rs: {unknown:?}");
}

fn collect(path: &Path, names: &mut BTreeSet<String>) {
    let file_name = path.file_name().unwrap_or_default().to_string_lossy();
    if ["node_modules", "target", "__pycache__"].contains(&&*file_name) {
        return;
    }
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("a directory") {
            collect(&entry.expect("an entry").path(), names);
        }
        return;
    }
    // Binary files name no variables.
    let Ok(text) = std::fs::read_to_string(path) else { return };
    for rest in text.split("CORRIDOR_").skip(1) {
        let end = rest.find(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'));
        names.insert(format!("CORRIDOR_{}", &rest[..end.unwrap_or(rest.len())]));
    }
}
