//! The guides of `docs/guides`, followed like a reader would: each shell block runs in order in one
//! shell next to a sandbox, or states why not; each configuration snippet is parsed by the program.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::harness::{Finished, Installation, program};
use super::readme::{bash, present};
use super::sandbox::Sandbox;

/// Shell blocks with a test of their own: the document, words of the block, the test.
const RUN_ELSEWHERE: [(&str, &str, &str); 18] = [
    (
        "README.md",
        "cargo run --release -- sandbox",
        "readme::the_two_commands_are_those_that_exist",
    ),
    ("README.md", "./test", "readme::the_two_commands_are_those_that_exist"),
    ("README.md", "corridor pay --watch", "readme::the_first_payment_works_as_in_the_readme"),
    (
        "README.md",
        "corridor requests create",
        "readme::the_first_remittance_works_as_in_the_readme_with_genuine_webhooks",
    ),
    (
        "README.md",
        "python3 receiver.py",
        "readme::the_first_remittance_works_as_in_the_readme_with_genuine_webhooks",
    ),
    (
        "README.md",
        "python3 flow.py",
        "readme::the_first_remittance_works_as_in_the_readme_with_genuine_webhooks",
    ),
    (
        "README.md",
        "listen --forward-to",
        "readme::the_first_remittance_works_as_in_the_readme_with_genuine_webhooks",
    ),
    ("README.md", "curl -sS", "readme::the_signed_calls_run_as_they_are_printed"),
    (
        "docs/guides/receiving-webhooks.md",
        "--data-binary",
        "webhooks::the_commands_of_the_document_sign_and_check_by_hand",
    ),
    (
        "docs/guides/receiving-webhooks.md",
        "webhooks payments on",
        "webhooks::payment_events_of_before_are_recovered",
    ),
    (
        "docs/guides/first-production-payment.md",
        "",
        "production::the_guide_leads_to_a_first_payment_over_a_directory_on_postgresql",
    ),
    // Prose, and commands for a machine of one's own.
    ("docs/guides/wallets-in-production.md", "", ""),
    ("docs/guides/sandbox.md", "", ""),
    ("docs/guides/screening.md", "", ""),
    ("docs/guides/reaching-a-bank.md", "", ""),
    ("docs/guides/connectors.md", "", ""),
    ("docs/guides/senders.md", "", ""),
    ("docs/README.md", "", ""),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every fenced block: the info string and the text.
fn fences(document: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in document.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((info.trim().to_owned(), String::new())),
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some((_, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert_eq!(open, None, "a block is not closed");
    found
}

/// README.md and every guide: name and text.
fn documents() -> Vec<(String, String)> {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).expect("a document");
    let mut found: Vec<(String, String)> = ["README.md", "docs/README.md"]
        .iter()
        .map(|name| ((*name).to_owned(), read(name)))
        .collect();
    for entry in std::fs::read_dir(root().join("docs/guides")).expect("the guides") {
        let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
        let name = format!("docs/guides/{name}");
        let text = read(&name);
        found.push((name, text));
    }
    found
}

/// The kind of a guide's shell block.
#[derive(Debug, PartialEq, Eq)]
enum Block {
    Run,
    /// Not run, for a reason stated in the source.
    NotRun,
}

fn kind(info: &str) -> Option<Block> {
    match info.split_whitespace().next()? {
        "sh" if info == "sh" => Some(Block::Run),
        "sh" => {
            let reason =
                info.strip_prefix("sh norun reason=\"").and_then(|rest| rest.strip_suffix('"'));
            assert!(
                reason.is_some_and(|reason| reason.len() > 10),
                "{info:?}: must be sh, or sh norun reason=\"…\""
            );
            Some(Block::NotRun)
        }
        "bash" | "shell" | "console" | "zsh" => {
            panic!("{info:?}: shell blocks are called sh, so that they are run")
        }
        _ => None,
    }
}

/// The guides that run from their first block to their last.
const GUIDES: [&str; 8] = [
    "first-call",
    "going-live",
    "postgresql",
    "keys",
    "backup",
    "events-and-warehouse",
    "corridors-and-rails",
    "compliance",
];

#[test]
fn every_shell_block_is_run_or_states_why_not() {
    for (name, text) in documents() {
        let is_guide = GUIDES.iter().any(|guide| name == format!("docs/guides/{guide}.md"));
        let known = RUN_ELSEWHERE.iter().any(|(document, ..)| *document == name);
        assert!(is_guide || known, "{name}: add it to GUIDES, so that its blocks are run");
        for (info, block) in fences(&text) {
            if kind(&info) == Some(Block::Run) && !is_guide {
                let mut by = RUN_ELSEWHERE.iter().filter(|(document, words, test)| {
                    *document == name && !test.is_empty() && block.contains(words)
                });
                assert!(by.next().is_some(), "{name}: nothing runs this block:\n{block}");
            }
        }
    }
    let tests = ["readme.rs", "webhooks.rs", "cli/webhooks.rs", "production.rs"].map(|file| {
        std::fs::read_to_string(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/process").join(file),
        )
        .expect("a test")
    });
    for (document, words, test) in RUN_ELSEWHERE.iter().filter(|(_, _, test)| !test.is_empty()) {
        let name = test.rsplit("::").next().unwrap_or_default();
        assert!(
            tests.iter().any(|text| text.contains(&format!("fn {name}("))),
            "{document}, {words}: no test {test}"
        );
    }
}

#[test]
fn every_piece_of_configuration_is_read_by_the_program() {
    let mut read = 0;
    for (name, text) in documents() {
        for (info, block) in fences(&text).into_iter().filter(|(info, _)| info.starts_with("toml"))
        {
            assert_eq!(info, "toml", "{name}");
            let mut installation = Installation::configured(&block);
            installation.set("CORRIDOR_RAILS__PAK_RAAST__TOKEN", "of the bank");
            if block.contains("[outbound.signer]") {
                installation.set("CORRIDOR_OUTBOUND__SIGNER__TOKEN", "of the signer");
            }
            if block.contains("[chains.base]") {
                installation.set("CORRIDOR_CHAINS__BASE__NODE_URL", "https://node.example");
            }
            let done = installation.run(&["config", "print"]);
            assert_eq!(done.code, 0, "{name}: {}\n{block}", done.stderr);
            read += 1;
        }
    }
    assert!(read > 5, "only {read} pieces of configuration were found");
}

/// A guide's shell blocks to run, in order.
pub(super) fn runnable(guide: &str) -> Vec<String> {
    let text =
        std::fs::read_to_string(root().join(format!("docs/guides/{guide}.md"))).expect("the guide");
    let blocks: Vec<String> = fences(&text)
        .into_iter()
        .filter(|(info, _)| kind(info) == Some(Block::Run))
        .map(|(_, block)| block)
        .collect();
    assert!(!blocks.is_empty(), "{guide} has nothing to run");
    blocks
}

/// Runs a guide next to a sandbox, whose installation is passed to `after`.
fn run(guide: &str, programs: &[&str], after: impl FnOnce(&Installation, &Path, &Finished)) {
    run_behind(|_| {}, guide, programs, after);
}

/// The same, after `before` runs in the sandbox.
fn run_behind(
    before: impl FnOnce(&Installation),
    guide: &str,
    programs: &[&str],
    after: impl FnOnce(&Installation, &Path, &Finished),
) {
    if !present(&format!("docs/guides/{guide}.md"), &[&["bash"], programs].concat()) {
        return;
    }
    let installation = Installation::new();
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    before(&installation);
    let directory = installation.path().join("reader");
    std::fs::create_dir_all(directory.join("bin")).expect("a directory");
    std::os::unix::fs::symlink(program(), directory.join("bin/corridor")).expect("a link");
    let script = format!("export PATH=\"$PWD/bin:$PATH\"\n{}", runnable(guide).join("\n"));
    let done = bash(&installation, &directory, &script);
    assert_eq!(done.code, 0, "{guide}: {}{}", done.stdout, done.stderr);
    after(&installation, &directory, &done);
}

#[test]
fn the_guide_to_the_first_call_runs() {
    run("first-call", &["curl"], |_, _, done| {
        for part in ["succeeded", "\"amount_destination\":", "\"events\":[", "25.50 USDC"] {
            assert!(done.stdout.contains(part), "{part:?} is missing: {}", done.stdout);
        }
    });
}

#[test]
fn the_guide_to_going_live_runs_and_a_bare_production_is_refused() {
    run("going-live", &[], |_, _, done| {
        for part in ["refused, as it should be", "newbank-test_pay-", "whsec_", "prefund:USDT"] {
            assert!(done.stdout.contains(part), "{part:?} is missing: {}", done.stdout);
        }
        for part in ["rates.source", "screening.sample_list", "security.key_encryption_key"] {
            assert!(done.stderr.contains(part), "{part:?} is missing: {}", done.stderr);
        }
    });
}

#[test]
fn the_guide_to_postgresql_runs() {
    run("postgresql", &[], |_, _, _| {});
}

#[test]
fn the_guide_to_keys_runs_and_a_revoked_key_is_shown_as_such() {
    run("keys", &["base64"], |installation, directory, _| {
        let kek = |name: &str| directory.join(name).display().to_string();
        let trial = kek("keys-trial");
        let mut list =
            installation.command(&["--data-dir", &trial, "keys", "list", "--tenant", "demo"]);
        list.env("CORRIDOR_SECURITY__KEY_ENCRYPTION_KEY_FILE", kek("kek"));
        let listed = super::harness::finish(&mut list);
        assert!(listed.stdout.contains("revoked"), "{}{}", listed.stdout, listed.stderr);

        // A second rotation of the key-encryption key keeps both former ones, also if a file has no line
        // end, as those that the program writes.
        let read = |name: &str| std::fs::read_to_string(kek(name)).expect("a file of keys");
        std::fs::write(directory.join("kek"), read("kek").trim_end()).expect("written");
        let (former, current) = (read("previous-keks"), read("kek"));
        let blocks = runnable("keys");
        let rotation = blocks.iter().find(|block| block.contains("previous-keks"));
        let script = format!(
            "export PATH=\"$PWD/bin:$PATH\" CORRIDOR_DATA_DIR=\"$PWD/keys-trial\"\n\
             export CORRIDOR_SECURITY__KEY_ENCRYPTION_KEY_FILE=\"$PWD/kek\"\n{}",
            rotation.expect("the rotation")
        );
        let again = bash(installation, directory, &script);
        assert_eq!(again.code, 0, "{}{}", again.stdout, again.stderr);
        assert_eq!(read("previous-keks"), format!("{former}{current}\n"));
        assert_eq!(read("previous-keks").split_whitespace().count(), 2);
        assert_ne!(read("kek"), current);
    });
}

/// The drill: the restored installation has the same books, and cannot be opened without its key.
#[test]
fn the_guide_to_backups_restores_the_same_books() {
    let pay = |installation: &Installation| {
        installation.ok(&["quote", "--country", "PAK", "--currency", "AED", "--amount", "500"]);
        installation.ok(&["pay", "--watch"]);
    };
    run_behind(pay, "backup", &["sqlite3"], |installation, directory, done| {
        assert!(
            done.stdout.contains("1 tenant, "),
            "the restored books were verified: {}",
            done.stdout
        );
        let restored = directory.join("restored").display().to_string();
        let books = ["ledger", "trial-balance", "--tenant", "demobank"];
        let (kept, again) = (
            installation.json(&books),
            installation.json(&[&["--data-dir", &restored], &books[..]].concat()),
        );
        // Unchanged since the payment; the sandbox's wallets may still be filling.
        for name in ["prefund:USDT", "fee_income:USDT", "rail_cost:USDT", "nostro:pak-raast:PKR"] {
            let of =
                |books: &[Value]| books.iter().find(|account| account["account"] == name).cloned();
            assert!(of(&kept).is_some(), "{name} is missing: {kept:?}");
            assert_eq!(of(&again), of(&kept), "{name}");
        }
        std::fs::remove_file(directory.join("restored/keys/kek")).expect("removed");
        let blind = installation.run(&[
            "--data-dir",
            &restored,
            "webhooks",
            "show",
            "--tenant",
            "demobank",
        ]);
        assert_ne!(blind.code, 0, "{}", blind.stdout);
    });
}

#[test]
fn the_guide_to_the_warehouse_runs_and_leaves_parquet_files() {
    run("events-and-warehouse", &[], |_, directory, _| {
        for name in ["payments", "transfers", "events"] {
            let file = std::fs::read(directory.join(format!("{name}.parquet"))).expect("a file");
            assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"), "{name}");
        }
    });
}

#[test]
fn the_guide_to_corridors_and_rails_runs() {
    run("corridors-and-rails", &["grep"], |_, _, done| {
        assert!(done.stdout.contains("[corridors.PAK]"), "{}", done.stdout);
    });
}

#[test]
fn the_guide_to_compliance_duties_runs() {
    run("compliance", &["sed"], |_, _, done| {
        assert!(
            done.stdout.contains("BLOCKED") && done.stdout.contains("ACTIVE"),
            "{}",
            done.stdout
        );
    });
}
