//! The README's commands, run exactly as they are printed.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::harness::{Finished, Installation, PROGRAM, finish};
use super::sandbox::Sandbox;

const README: &str = include_str!("../../../../../README.md");

/// The fenced blocks of one language, in order.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<(bool, String)> = None;
    for line in document.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(fence)) => open = Some((fence.trim() == language, String::new())),
            (Some(_), Some(_)) => found.extend(open.take().filter(|(wanted, _)| *wanted).map(|(_, text)| text)),
            (Some((_, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}

/// The one block of a document that contains `words`.
pub(super) fn block_of(document: &str, language: &str, words: &str) -> String {
    let mut matching = blocks(document, language).into_iter().filter(|block| block.contains(words));
    let found = matching.next().unwrap_or_else(|| panic!("there is no {language} block with {words:?}"));
    assert_eq!(matching.next(), None, "there are two {language} blocks with {words:?}");
    found
}

fn block(language: &str, words: &str) -> String {
    block_of(README, language, words)
}

/// A checkout in which the program was built with `--release`, as the README's reader has one.
fn checkout(installation: &Installation) -> PathBuf {
    let root = installation.path().join("checkout");
    let release = root.join("target/release");
    std::fs::create_dir_all(&release).expect("a directory");
    std::os::unix::fs::symlink(PROGRAM, release.join("corridor")).expect("a link");
    root
}

pub(super) fn bash(installation: &Installation, directory: &Path, script: &str) -> Finished {
    let path = directory.join("script.sh");
    std::fs::write(&path, script).expect("written");
    // Aliases are what a person's own shell has; a script must be told to have them.
    let mut command = Command::new("bash");
    command.args(["-O", "expand_aliases", "-e"]).arg(&path).current_dir(directory).stdin(Stdio::null());
    installation.environment(&mut command);
    finish(&mut command)
}

/// Whether the programs are there; says what is left out otherwise (python3 and curl are no part of the project).
pub(super) fn present(part: &str, programs: &[&str]) -> bool {
    let there = |program: &&str| {
        let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).stdout(Stdio::null()).status();
        found.is_ok_and(|status| status.success())
    };
    let missing: Vec<&&str> = programs.iter().filter(|program| !there(program)).collect();
    if !missing.is_empty() {
        let said = writeln!(std::io::stderr().lock(), "\n!! LEFT OUT: {part} (not installed: {missing:?})");
        said.expect("stderr");
    }
    missing.is_empty()
}

#[test]
fn the_first_payment_goes_as_the_readme_says() {
    if !present("README.md's first payment", &["bash"]) {
        return;
    }
    let installation = Installation::new();
    let directory = checkout(&installation);
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let done = bash(&installation, &directory, &block("sh", "corridor pay --watch"));
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let places: Vec<Option<usize>> =
        ["queued", "processing", "succeeded", "bank reference"].iter().map(|word| done.stdout.find(word)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{}", done.stdout);
}

#[test]
fn the_signed_calls_run_as_they_are_printed() {
    if !present("README.md's curl and Python examples", &["bash", "curl", "openssl", "python3"]) {
        return;
    }
    let installation = Installation::new();
    let directory = checkout(&installation);
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let curl = bash(&installation, &directory, &block("sh", "curl -sS"));
    assert_eq!(curl.code, 0, "{}", curl.stderr);
    let quote: serde_json::Value = serde_json::from_str(&curl.stdout).expect("JSON");
    assert_eq!((&quote["country"], &quote["amount"]), (&"PAK".into(), &500.into()), "{quote}");

    std::fs::write(directory.join("example.py"), block("python", "urllib")).expect("written");
    let script = "eval \"$(target/release/corridor env)\"\npython3 example.py\n";
    let python = bash(&installation, &directory, script);
    assert_eq!(python.code, 0, "{}{}", python.stdout, python.stderr);
    assert!(python.stdout.contains("'country': 'PAK'"), "{}", python.stdout);
}

#[test]
fn the_two_commands_are_those_that_exist() {
    // What the other tests do not run: building and the full suite. The commands themselves must be there.
    let sandbox = block("sh", "cargo run --release -- sandbox");
    assert_eq!(sandbox.trim(), "cargo run --release -- sandbox");
    assert_eq!(block("sh", "./test").trim(), "./test");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    assert!(root.join("test").is_file());
    // `cargo run` without a name runs the default member's one program.
    let workspace = std::fs::read_to_string(root.join("Cargo.toml")).expect("Cargo.toml");
    assert!(workspace.contains("default-members = [\"crates/server\"]"), "{workspace}");
}
