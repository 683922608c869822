//! Every command has help, invalid usage exits with 2, and machine-readable output is undecorated.

use super::super::harness::{Installation, finish};

/// The commands below `path`, as listed by `--help`.
fn below(installation: &Installation, path: &[&str]) -> (String, Vec<String>) {
    let text = installation.ok(&[path, &["--help"]].concat());
    if path.is_empty() {
        let names = in_groups(&text);
        return (text, names);
    }
    let listed = text
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| line.starts_with("  "));
    let names = listed
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    let names = names.filter(|name| *name != "help").map(str::to_owned).collect();
    (text, names)
}

/// The commands of the first page: one per line with its explanation, or several separated by
/// commas.
fn in_groups(help: &str) -> Vec<String> {
    let lines = help.lines().filter_map(|line| line.strip_prefix("  "));
    let names = lines.flat_map(|line| match line.split_once("  ") {
        Some((name, _)) => vec![name],
        None => line.split(", ").collect(),
    });
    names.map(str::to_owned).collect()
}

#[test]
fn corridor_alone_shows_the_help_in_groups_within_80_columns() {
    let installation = Installation::new();
    let help = installation.ok(&["--help"]);
    assert_eq!(installation.ok(&[]), help, "no error and no other text");
    assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    for part in ["Start", "Payments", "Wallets", "Events", "Operations", "Access", "Server"] {
        assert!(help.lines().any(|line| line == part), "{part}: {help}");
    }
}

#[test]
fn every_command_explains_itself() {
    let installation = Installation::new();
    let mut open: Vec<Vec<String>> = vec![Vec::new()];
    let mut seen = Vec::new();
    while let Some(path) = open.pop() {
        let words: Vec<&str> = path.iter().map(String::as_str).collect();
        let (text, names) = below(&installation, &words);
        assert!(text.contains("Usage: corridor"), "{words:?}: {text}");
        if names.is_empty() {
            assert!(text.contains("Example"), "{words:?} has no example: {text}");
            seen.push(words.join(" "));
        }
        open.extend(names.into_iter().map(|name| [path.clone(), vec![name]].concat()));
    }
    for known in [
        "sandbox reset",
        "quote",
        "payments export",
        "ledger verify",
        "audit verify",
        "review resolve",
        "review refund approve",
        "review hold lift",
        "review order approve",
        "review order recredit",
        "review alerts close",
        "review coin accept",
        "approvals approve",
        "openapi",
        "serve",
        "config reference",
    ] {
        assert!(seen.iter().any(|path| path == known), "{known} is missing among {seen:?}");
    }
}

#[test]
fn invalid_usage_exits_with_2_and_a_hint() {
    let installation = Installation::new();
    for (args, words) in [
        (vec!["serv"], "serve"),
        (vec!["quote", "--country", "USA", "--currency", "AED", "--amount", "5"], "USA"),
        (vec!["quote", "--country", "PAK", "--currency", "AED", "--amount", "five"], "five"),
        (
            vec!["quote", "--country", "PAK", "--currency", "AED", "--amount", "5"],
            "corridor sandbox",
        ),
        (vec!["env"], "corridor sandbox"),
        (vec!["sandbox", "keys"], "corridor sandbox"),
        (vec!["pay", "5", "AED", "--to", "PK37SCBL0000001123456702"], "check digits"),
        (vec!["config", "check", "--set", "http.listne=1"], "http.listne"),
        (vec!["ledger", "statement", "--tenant", "x", "--account", "y"], "account"),
    ] {
        let done = installation.run(&args);
        assert_eq!(done.code, 2, "{args:?}: {}{}", done.stdout, done.stderr);
        assert!(done.stderr.contains(words), "{args:?}: {}", done.stderr);
        assert_eq!(done.stdout, "", "{args:?}");
    }
}

#[test]
fn the_configuration_can_be_printed_checked_and_used_again() {
    let installation = Installation::new();
    let reference = installation.ok(&["config", "reference"]);
    assert_eq!(reference, config::REFERENCE);
    let path = installation.path().join("copy.toml");
    std::fs::write(&path, reference).expect("written");
    let path = path.to_str().expect("UTF-8");
    let valid = installation.ok(&["config", "check", "--config", path]);
    assert!(valid.starts_with("valid: environment test"), "{valid}");
    let refused =
        installation.run(&["config", "check", "--config", path, "--set", "environment=production"]);
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("rails.ind-imps.transport"), "{}", refused.stderr);
    let serve = installation.run(&["serve", "--set", "environment=production"]);
    assert_eq!(serve.code, 2, "production does not start simulated: {}", serve.stderr);

    let secret = "postgres://corridor:hunter2@db.example/corridor";
    let printed =
        finish(installation.command(&["config", "print"]).env("CORRIDOR_STORE__URL", secret));
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    assert!(!printed.stdout.contains("hunter2"), "a secret in clear: {}", printed.stdout);
}

#[test]
fn completions_and_manual_pages_are_made() {
    let installation = Installation::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(installation.ok(&["completions", shell]).contains("corridor"), "{shell}");
    }
    assert!(installation.ok(&["man"]).contains(".TH corridor"));
    let pages = installation.path().join("man1");
    std::fs::create_dir(&pages).expect("a directory");
    installation.ok(&["man", "--dir", pages.to_str().expect("UTF-8")]);
    assert!(
        pages.join("corridor-ledger-verify.1").exists() || pages.join("corridor-ledger.1").exists()
    );
}
