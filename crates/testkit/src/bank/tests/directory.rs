//! The host-to-host bank.

use std::fs;
use std::path::Path;

use domain::time::Span;

use super::{instruction_id, pacs_028, pain_001, texts};
use crate::bank::{BankConfig, Behaviour, DirectoryConfig, SimulatedBank};
use crate::wait;

fn config(root: &Path) -> BankConfig {
    let directory =
        DirectoryConfig { rail: "bgd-beftn".into(), path: root.join("h2h"), poll: Span::millis(5) };
    BankConfig {
        behaviour: Behaviour::instant(),
        listen: None,
        directories: vec![directory],
        book: Some(root.join("book.jsonl")),
        ..BankConfig::default()
    }
}

fn put(root: &Path, name: &str, text: &str) {
    let out = root.join("h2h/out");
    fs::write(out.join(".new"), text).expect("written");
    fs::rename(out.join(".new"), out.join(name)).expect("renamed");
}

/// The names in a folder, sorted, finished files only.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let names =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> =
        names.filter(|name| name.ends_with(".xml") && !name.starts_with('.')).collect();
    names.sort();
    names
}

async fn replies(root: &Path, count: usize) -> Vec<(String, String)> {
    let folder = root.join("h2h/in");
    let there = || std::future::ready(names(&folder).len() >= count);
    assert!(
        wait::until_async(wait::AT_MOST, there).await,
        "{count} files, not {:?}",
        names(&folder)
    );
    let read = |name: String| {
        let text = fs::read_to_string(folder.join(&name)).expect("readable");
        (name, text)
    };
    names(&folder).into_iter().map(read).collect()
}

#[tokio::test]
async fn files_are_processed_answered_and_moved() {
    let root = tempfile::tempdir().expect("a directory");
    let bank = SimulatedBank::start(config(root.path())).await.expect("a bank");
    put(root.path(), "a.xml", &pain_001(&[(1, "1"), (2, "0002"), (3, "0006")]));
    let files = replies(root.path(), 2).await;
    assert!(
        files[0].0.ends_with("-pain002.xml") && files[1].0.ends_with("-camt054.xml"),
        "{files:?}"
    );
    assert_eq!(texts(&files[0].1, "TxSts"), ["ACSP", "RJCT"]);
    assert!(texts(&files[1].1, "EndToEndId").contains(&instruction_id(1)));
    put(root.path(), "b.xml", &pacs_028(&[1, 3, 9]));
    put(root.path(), "bad.xml", "garbage");
    let all = || {
        let answered = names(&root.path().join("h2h/in")).iter().any(|name| {
            let text = fs::read_to_string(root.path().join("h2h/in").join(name)).expect("readable");
            text.contains("pacs.028.001.03") && texts(&text, "TxSts") == ["ACSC", "ACSC"]
        });
        std::future::ready(answered && names(&root.path().join("h2h/out")).is_empty())
    };
    assert!(wait::until_async(wait::AT_MOST, all).await);
    assert_eq!(names(&root.path().join("h2h/out/done")), ["a.xml", "b.xml"]);
    assert_eq!(names(&root.path().join("h2h/out/failed")), ["bad.xml"]);
    bank.stop().await;
}

#[tokio::test]
async fn a_file_found_again_after_a_restart_pays_nothing() {
    let root = tempfile::tempdir().expect("a directory");
    let mut settings = config(root.path());
    settings.behaviour.without_duplicate_detection.insert("bgd-beftn".into());
    let bank = SimulatedBank::start(settings.clone()).await.expect("a bank");
    put(root.path(), "a.xml", &pain_001(&[(1, "1")]));
    let first = replies(root.path(), 2).await;
    bank.stop().await;
    // As if the bank had died between its book and the move.
    let out = root.path().join("h2h/out");
    fs::rename(out.join("done/a.xml"), out.join("a.xml")).expect("moved");
    let bank = SimulatedBank::start(settings).await.expect("a bank");
    let filed = || std::future::ready(names(&out).is_empty());
    assert!(wait::until_async(wait::AT_MOST, filed).await);
    let files = replies(root.path(), 3).await;
    assert!(
        files.last().expect("a file").0 > first.last().expect("a file").0,
        "names sort in time"
    );
    assert_eq!(bank.book(&instruction_id(1)).expect("a book").len(), 1);
    assert_eq!(bank.book_totals().expect("totals").paid_again, 0);
    bank.stop().await;
}
