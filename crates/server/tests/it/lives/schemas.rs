//! Validates every message as sent against the structure of its ISO 20022 definition
//! (`corridors.md`, "checked with `xmllint` against element order and types"). The structures are
//! our own: see `tests/data/iso20022`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use domain::country::Country;
use domain::time::Span;
use testkit::bank::{Behaviour, DelayRange};
use testkit::wait::AT_MOST;

use crate::harness::{Bank, On, Setup, run, xmllint};
use crate::process::present;

const STRUCTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/iso20022");
/// The service's messages, then the simulated bank's.
const KINDS: [&str; 8] = [
    "pain.001.001.09",
    "pacs.028",
    "camt.056",
    "pain.002",
    "camt.029",
    "camt.053",
    "camt.054",
    "pacs.004",
];
/// Messages that recall a payment where a bank takes no later camt.056.
const OTHER_RECALLS: [&str; 4] =
    ["camt.055.001.01", "camt.055.001.05", "camt.055.001.08", "camt.056.001.01"];
/// Messages as the adapters' unit tests expect them.
const SENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../adapters/tests/data/rails");
/// Every rail that an example order may use.
const RAILS: [&str; 9] = [
    "bgd-npsb",
    "egy-ipn",
    "ind-imps",
    "ind-upi",
    "npl-connectips",
    "pak-ibft",
    "pak-raast",
    "phl-instapay",
    "vnm-napas247",
];

/// The `xmllint` errors of a message against the structure of `kind`; empty if valid.
pub(super) fn lint(kind: &str, dir: &Path, text: &str) -> String {
    let file = dir.join("message.xml");
    std::fs::write(&file, text).expect("written");
    xmllint::lint(&format!("{STRUCTURES}/{kind}.structure.xsd"), &file)
}

fn files(under: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(under).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|it| it == "xml") && !is_being_written(&path) {
            found.push(path);
        }
    }
}

fn is_being_written(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Every message in the exchange directories, by kind. A file being moved between folders may be
/// missed and found the next time.
fn messages(under: &Path) -> BTreeMap<&'static str, Vec<String>> {
    let mut found = Vec::new();
    files(under, &mut found);
    let mut kinds: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for path in found {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let is_of = |kind: &&str| text.contains(&format!("xsd:{kind}"));
        let kind = KINDS
            .into_iter()
            .find(is_of)
            .unwrap_or_else(|| panic!("of no kind that is known: {text}"));
        kinds.entry(kind).or_default().push(text);
    }
    kinds
}

#[test]
fn every_message_has_the_structure_of_its_definition() {
    if present("ISO 20022 messages against their structures", &["xmllint"]) {
        run(On::Sqlite, structures);
    }
}

async fn structures(on: On) {
    let far = Span::hours(10).0 / 1_000;
    let behaviour = Behaviour {
        withheld_notice: DelayRange::millis(far, far),
        statements: true,
        ..Behaviour::instant()
    };
    let setup = RAILS.into_iter().fold(Setup::new().bank(behaviour), |setup, rail| {
        let setup = setup.set(&format!("rails.{rail}.directory"), &format!("exchange/{rail}"));
        setup.set(&format!("rails.{rail}.report_wait_s"), "1")
    });
    let bank = Bank::alone(on, setup).await;
    let long = "Đặng Thị Müller-".repeat(8);
    for country in Country::ALL {
        let paid = bank.paid(country, |order| {
            order.text("beneficiary_name", &long).text("remarks", "<gift> & \"more\"")
        });
        bank.reaches(country, &paid.await, "succeeded").await;
    }
    for (ending, state) in [("0001", "failed"), ("0002", "rejected"), ("0003", "reversed")] {
        let id = bank.paid(Country::Pak, |order| order.ending(Country::Pak, ending)).await;
        bank.reaches(Country::Pak, &id, state).await;
    }
    for ending in ["0013", "0014"] {
        let id = bank.paid(Country::Pak, |order| order.ending(Country::Pak, ending)).await;
        bank.reaches(Country::Pak, &id, "succeeded").await;
        let path = format!("/v2/payments/{id}/recalls?country=PAK");
        let text = r#"{"reason":"FRAD","text":"<payer> was \"deceived\" & Müller"}"#;
        bank.post(&path, text).send().await.ok();
    }
    let withheld = bank.paid(Country::Pak, |order| order.ending(Country::Pak, "0006")).await;
    let booked = || async { bank.book(&withheld).await.len() == 1 };
    assert!(testkit::wait::until_async(AT_MOST, booked).await);
    bank.advance(Span::secs(6)).await;
    bank.reaches(Country::Pak, &withheld, "succeeded").await;
    assert!(bank.running.bank().close_statements(None).expect("made"));
    let exchange = bank.running.data_dir.join("exchange");
    let all = || async { KINDS.iter().all(|kind| messages(&exchange).contains_key(kind)) };
    assert!(testkit::wait::until_async(AT_MOST, all).await, "not every kind was sent");
    let dir = tempfile::tempdir().expect("a directory");
    for (kind, texts) in messages(&exchange) {
        for text in &texts {
            assert_eq!(lint(kind, dir.path(), text), "", "{kind}: {text}");
        }
    }
    bank.finish().await;
}

/// What the unit tests of recalls compare with.
#[test]
fn every_other_recall_has_the_structure_of_its_definition() {
    if !present("ISO 20022 recalls against their structures", &["xmllint"]) {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    for kind in OTHER_RECALLS {
        let path = format!("{SENT}/{kind}.xml");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(lint(kind, dir.path(), &text), "", "{kind}");
    }
}

/// A structure that accepts everything would prove nothing.
#[test]
fn the_structures_refuse_what_is_out_of_order() {
    if !present("ISO 20022 structures against wrong messages", &["xmllint"]) {
        return;
    }
    let right = include_str!("../../../../adapters/tests/data/rails/pain.001.xml");
    let dir = tempfile::tempdir().expect("a directory");
    assert_eq!(lint("pain.001.001.09", dir.path(), right), "");
    for (what, from, to) in [
        ("order", "<Cdtr>", "<Cdtr><CtctDtls/>"),
        ("another currency", "Ccy=\"PKR\"", "Ccy=\"rupees\""),
        ("a sixth decimal", "37912.05<", "37912.000005<"),
        ("a UETR of another kind", "-4000-9000-", "-1000-9000-"),
        ("a BIC that is none", "SCBLPKKX", "SCBLPKK"),
        ("a number as it is dialled", "+92-3001234567", "03001234567"),
        ("an unknown element", "<PmtMtd>", "<Note/><PmtMtd>"),
        ("something missing", "<EndToEndId>01900000000040008000000000000001</EndToEndId>", ""),
    ] {
        let wrong = right.replacen(from, to, 1);
        assert_ne!(wrong, right, "{what}: {from} is not in it");
        assert_ne!(lint("pain.001.001.09", dir.path(), &wrong), "", "{what}");
    }
    for kind in KINDS.into_iter().chain(OTHER_RECALLS) {
        assert_ne!(lint(kind, dir.path(), "<Document/>"), "", "{kind}: nothing at all");
    }
}
