//! The program's command line and environment variables, checked with the program's own parsers.

use std::collections::BTreeSet;

use clap::{CommandFactory as _, Parser as _};
use cli::Cli;
use config::{Config, Sources};

/// The directory of secrets, which `config::layers` reads.
pub const SECRETS_DIR: &str = "CORRIDOR_SECRETS_DIR";

/// Checks a command line without the program's name.
pub fn command_line(args: &[&str]) {
    use clap::error::ErrorKind::{DisplayHelp, DisplayVersion};
    if let Err(refusal) = Cli::try_parse_from([&["corridor"][..], args].concat()) {
        assert!(
            matches!(refusal.kind(), DisplayHelp | DisplayVersion),
            "corridor {}: {refusal}",
            args.join(" ")
        );
    }
}

/// The variables that set options of commands.
fn of_options() -> BTreeSet<String> {
    fn collect(command: &clap::Command, names: &mut BTreeSet<String>) {
        let variables = command.get_arguments().filter_map(|argument| argument.get_env());
        names.extend(variables.map(|name| name.to_string_lossy().into_owned()));
        command.get_subcommands().for_each(|inner| collect(inner, names));
    }
    let mut names = BTreeSet::new();
    collect(&Cli::command(), &mut names);
    names
}

/// Checks that the program reads each variable, and that configuration values are valid. Returns
/// the resulting configuration.
pub fn environment(variables: &[(String, String)]) -> Config {
    let of_options = of_options();
    let is_key = |name: &str| {
        ["CORRIDOR_ENVIRONMENT", "CORRIDOR_RAILS_ENABLED"].contains(&name) || name.contains("__")
    };
    for (name, _) in variables {
        let is_known = of_options.contains(name) || name == SECRETS_DIR || is_key(name);
        assert!(is_known, "{name}: the program reads no such variable");
    }
    let keys = variables.iter().filter(|(name, _)| is_key(name)).cloned().collect();
    load(Sources { env: keys, ..Sources::default() })
}

/// Checks a configuration file.
pub fn configuration(text: &str) -> Config {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("corridor.toml");
    std::fs::write(&file, text).expect("written");
    load(Sources { file: Some(file), ..Sources::default() })
}

/// Checks that files in the directory of secrets are named after secrets.
pub fn secrets(names: &[&str]) {
    let dir = tempfile::tempdir().expect("a directory");
    for name in names {
        let value = match *name {
            "STORE__URL" => "postgres://corridor@db/corridor",
            "SECURITY__KEY_ENCRYPTION_KEY" => "q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=",
            "CHAIN__NODE_URL" => "https://node.example",
            _ => "a secret",
        };
        std::fs::write(dir.path().join(name), value).expect("written");
    }
    let variable = (SECRETS_DIR.to_owned(), dir.path().display().to_string());
    load(Sources { env: vec![variable], ..Sources::default() });
}

fn load(sources: Sources) -> Config {
    Config::load(&sources).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn what_the_program_does_not_know_is_found() {
    let fails = |check: fn()| std::panic::catch_unwind(check).is_err();
    let variable = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    environment(&variable("CORRIDOR_DATA_DIR", "/x"));
    assert!(fails(|| command_line(&["serv"])));
    assert!(fails(|| command_line(&["serve", "--roll", "api"])));
    assert!(fails(|| secrets(&["STORE__URI"])));
    assert!(fails(|| drop(configuration("[htp]"))));
    for name in ["CORRIDOR_DATADIR", "CORRIDOR_HTTP__LISEN"] {
        assert!(std::panic::catch_unwind(|| environment(&variable(name, "x"))).is_err(), "{name}");
    }
}
