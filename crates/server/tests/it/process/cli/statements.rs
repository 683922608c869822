//! Statements and receipts of real sandbox activity.

use std::path::Path;
use std::process::Command;

use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::money::Money;
use serde_json::Value;

use super::super::harness::{Installation, READY_AT_MOST};
use super::super::readme::present;
use super::super::sandbox::Sandbox;
use crate::harness::xmllint;
use testkit::wait;

const PREFUND: &str = "prefund:USDT";
/// The project's own schema of its output; see the schema's header.
const STRUCTURE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../http/tests/data/camt.053.structure.xsd");

fn statement<'a>(account: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["ledger", "statement", "--tenant", "demobank", "--account", account], more].concat()
}

/// Minor units of a coin from an exact JSON number.
fn minor(value: &Value) -> i64 {
    let decimal: Decimal = value.to_string().parse().expect("an exact number");
    Money::exact(decimal, Currency::Usdt).expect("six decimals at most").minor
}

fn pay(installation: &Installation) -> String {
    installation.ok(&["quote", "--country", "PAK", "--currency", "AED", "--amount", "500"]);
    let paid = installation.json(&["pay", "--external-id", "=inv-2041"]);
    let id = paid[0]["id"].as_str().expect("an id").to_owned();
    installation.ok(&["payments", "watch", &id, "--country", "PAK", "--timeout", "60"]);
    id
}

fn has_xmllint() -> bool {
    present("camt.053 against its structure", &["xmllint"])
}

fn lint(file: &Path) -> String {
    xmllint::lint(STRUCTURE, file)
}

/// The text at a path of elements, by name.
fn at(file: &Path, path: &[&str]) -> String {
    let steps: String = path.iter().map(|name| format!("/*[local-name()='{name}']")).collect();
    let done =
        Command::new("xmllint").args(["--xpath", &format!("string(/{steps})")]).arg(file).output();
    String::from_utf8(done.expect("xmllint").stdout).expect("UTF-8").trim().to_owned()
}

#[test]
fn a_statement_of_real_payments_agrees_with_the_books_in_every_form() {
    let installation = Installation::new();
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let id = pay(&installation);
    installation.top_up("ayesha", "demobank", "USDT", "0.000001");
    let made = installation.json(&statement(PREFUND, &[])).remove(0);
    let (opening, closing) = (minor(&made["opening"]["booked"]), minor(&made["closing"]["booked"]));
    let movements = made["movements"].as_array().expect("a list");
    let mut running = opening;
    for movement in movements {
        running +=
            minor(&movement["amount"]) * if movement["direction"] == "credit" { 1 } else { -1 };
        assert_eq!(running, minor(&movement["balance"]));
    }
    assert_eq!(running, closing);
    let books = installation.json(&["ledger", "trial-balance", "--tenant", "demobank"]);
    let row = books.iter().find(|row| row["account"] == PREFUND).expect("the account");
    let balance: Decimal = row["balance"].as_str().expect("a text").parse().expect("a number");
    assert_eq!(Money::exact(balance, Currency::Usdt).map(|it| it.minor), Some(closing));
    let paid = movements.iter().find(|it| it["payment_id"] == id.as_str()).expect("the payment");
    assert_eq!((&paid["direction"], &paid["purpose"]), (&"debit".into(), &"Payment".into()));
    assert_eq!((&paid["external_id"], &paid["uetr"]), (&"=inv-2041".into(), &id.as_str().into()));
    assert!(paid["bank_reference"].as_str().is_some_and(|it| !it.is_empty()), "{paid}");
    assert_eq!(movements.last().expect("the top-up")["purpose"], "Prefunding received");

    let file = installation.path().join("statement.xml");
    let name = file.to_str().expect("UTF-8");
    installation.ok(&statement(PREFUND, &["--format", "camt053", "--output-file", name]));
    if has_xmllint() {
        assert_eq!(lint(&file), "", "camt.053");
        let stmt = ["Document", "BkToCstmrStmt", "Stmt"];
        let entries = at(&file, &[&stmt[..], &["TxsSummry", "TtlNtries", "NbOfNtries"]].concat());
        assert_eq!(entries, movements.len().to_string());
        let refs = ["Ntry", "NtryDtls", "TxDtls", "Refs", "UETR"];
        assert_eq!(
            at(&file, &[&stmt[..], &refs].concat()),
            id,
            "the first entry with references is the payment"
        );
    }
    assert!(
        std::fs::read_to_string(&file)
            .expect("there")
            .contains(&format!("<Amt Ccy=\"XXX\">{closing}</Amt>"))
    );

    let csv = installation.ok(&statement(PREFUND, &["--format", "csv"]));
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<csv::StringRecord> =
        reader.records().collect::<Result<_, _>>().expect("RFC 4180");
    assert_eq!(rows.len(), movements.len() + 2);
    assert!(rows.iter().any(|row| &row[12] == "'=inv-2041"), "{csv}");
    let table = installation.ok(&statement(PREFUND, &["--wide"]));
    assert!(table.contains("interim") && table.contains(&id), "{table}");
}

// A structural schema that accepts everything would prove nothing.
#[test]
fn the_structural_schema_refuses_what_is_out_of_order() {
    if !has_xmllint() {
        return;
    }
    let installation = Installation::new();
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let file = installation.path().join("statement.xml");
    let name = file.to_str().expect("UTF-8");
    installation.ok(&statement(PREFUND, &["--format", "camt053", "--output-file", name]));
    let right = std::fs::read_to_string(&file).expect("there");
    for (what, from, to) in [
        ("a coin as a currency", "Ccy=\"XXX\"", "Ccy=\"USDT\""),
        ("a sixth decimal", "</Amt>", ".000001</Amt>"),
        ("order", "<NbOfNtries>", "<Sum>0</Sum><NbOfNtries>"),
        ("an unknown element", "<AddtlStmtInf>", "<Note/><AddtlStmtInf>"),
    ] {
        let wrong = right.replacen(from, to, 1);
        assert_ne!(wrong, right, "{what}: {from} is not in {right}");
        std::fs::write(&file, wrong).expect("written");
        assert_ne!(lint(&file), "", "{what}");
    }
}

#[test]
fn a_wallet_s_statement_names_the_chain_s_transaction() {
    let mut installation = Installation::new();
    installation.set("CORRIDOR_WALLETS__SIMULATED_SENDER_AFTER_S", "86400");
    let sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let account = format!("wallet:{}:USDC", sandbox.text("wallet_id"));
    let request = installation
        .json(&["requests", "create", "--amount", "25.00", "--currency", "USDC"])
        .remove(0);
    installation.ok(&["requests", "pay", request["payment_request_id"].as_str().expect("an id")]);
    let made = || installation.json(&statement(&account, &[])).remove(0);
    let released = |made: &Value| {
        let movements = made["movements"].as_array().expect("a list");
        movements.iter().any(|it| it["payment_request_id"] == request["payment_request_id"])
    };
    assert!(wait::until(READY_AT_MOST, || released(&made())), "{}", made());
    let made = made();
    let movement = made["movements"].as_array().and_then(|it| it.last()).expect("the deposit");
    assert_eq!(
        (&movement["direction"], minor(&movement["amount"])),
        (&"credit".into(), 25_000_000)
    );
    let hash = movement["tx_hash"].as_str().expect("a hash");
    assert!(hash.len() == 66 && hash.starts_with("0x"), "{hash}");
    let file = installation.path().join("wallet.xml");
    let name = file.to_str().expect("UTF-8");
    installation.ok(&statement(&account, &["--format", "camt053", "--output-file", name]));
    assert_eq!(if has_xmllint() { lint(&file) } else { String::new() }, "", "camt.053");
    assert!(std::fs::read_to_string(&file).expect("there").contains(hash));
}

#[test]
fn what_cannot_be_a_statement_is_refused_in_words() {
    let installation = Installation::new();
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    for (code, words, more) in [
        (2, "is not before", vec!["--from", "2026-11-02", "--to", "2026-11-01"]),
        (2, "the period ends at", vec!["--to", "2999-01-01"]),
        (2, "must be a day", vec!["--from", "yesterday"]),
        (2, "--output-file needs", vec!["--output-file", "x.txt"]),
        (2, "no such file", vec!["--format", "csv", "--output-file", "no/such/place.csv"]),
    ] {
        let done = installation.run(&statement(PREFUND, &more));
        assert_eq!(done.code, code, "{more:?}: {}", done.stderr);
        assert!(done.stderr.to_lowercase().contains(words), "{more:?}: {}", done.stderr);
    }
    let unknown =
        installation.run(&statement("escrow:00000000-0000-4000-8000-000000000000:USDC", &[]));
    assert_eq!(
        (unknown.code, unknown.stderr.contains("has no bookings")),
        (1, true),
        "{}",
        unknown.stderr
    );
}

#[test]
fn a_receipt_is_one_file_that_shows_the_end_of_the_account_only() {
    let installation = Installation::new();
    let _sandbox = Sandbox::start(&installation, &["--no-demo-data"]);
    let id = pay(&installation);
    let record = installation.json(&["payments", "get", &id, "--country", "PAK"]).remove(0);
    let text = |field: &str| record["order"][field].as_str().expect("a text").to_owned();
    let file = installation.path().join("receipt.html");
    let name = file.to_str().expect("UTF-8");
    let args = ["payments", "receipt", &id, "--issuer", "Bank & Sons", "--output-file", name];
    installation.ok(&args);
    let page = std::fs::read_to_string(&file).expect("there");
    let account = text("beneficiary_account_number");
    let shown = [
        "Payment receipt",
        "Bank &#38; Sons",
        "=inv-2041",
        "500.00 AED",
        "Charged to",
        "Sandbox: no real money",
    ];
    for part in shown.iter().copied().chain([
        id.as_str(),
        &account[account.len() - 4..],
        &text("beneficiary_name"),
    ]) {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert!(!page.contains(&account) && !page.contains("<script"), "{page}");
    let customer =
        installation.ok(&["payments", "receipt", &id, "--for", "customer", "--lang", "ur"]);
    assert!(customer.contains("dir=\"rtl\"") && !customer.contains("USDT"), "{customer}");
    assert_eq!(installation.run(&["payments", "receipt", &id, "--lang", "xx"]).code, 2);
}
