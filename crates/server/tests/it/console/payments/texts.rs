//! Texts that people outside may write, from the request to every output: they are refused for what they
//! are, or kept as they are and shown as text.

use domain::country::Country;
use domain::currency::Currency;
use domain::user::Role;

use super::officer;
use crate::harness::hostile;
use crate::harness::{Answer, Bank, Json, On, on_both_stores};

on_both_stores! {
    hostile_texts_are_refused_or_shown_as_text
}

/// The fields that have no form of their own.
const FIELDS: [&str; 5] =
    ["bank_name", "beneficiary_city", "beneficiary_address", "sender_address", "external_id"];
/// Why a text may be refused: it is blank, too long, holds characters that are not shown, or is not a town.
const REASONS: [&str; 7] = [
    "missing",
    "string_too_long",
    "string_too_short",
    "control_character",
    "forbidden_character",
    "invalid_character",
    "unsupported_characters",
];
/// How a cell may not begin.
const FORMULAS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

async fn hostile_texts_are_refused_or_shown_as_text(on: On) {
    let bank = Bank::new(on).await;
    let treasury = officer(&bank, &[Role::Treasury, Role::Viewer]).await;
    let (mut kept, mut refused) = (0, 0);
    let mut last = String::new();
    for (name, text) in hostile::texts() {
        let quote = bank.quote(Country::Pak, Currency::Aed, "100").await;
        let order = FIELDS.iter().fold(quote.order(), |order, field| order.text(field, &text));
        let answer = bank.pay(&order).await;
        if answer.status == 422 {
            is_refused_for_its_text(&name, &answer);
            refused += 1;
            continue;
        }
        let id = answer.ok()["id"].text().to_owned();
        let record = bank.record(Country::Pak, &id).await;
        is_kept(&name, &text, &record);
        let page = treasury.get(&format!("/payments/{id}")).await.page();
        is_escaped(&name, &text, &page);
        kept += 1;
        last = id;
    }
    assert!(kept >= 20 && refused >= 10, "{kept} kept, {refused} refused");
    bank.reaches(Country::Pak, &last, "succeeded").await;
    let payments = treasury.get("/payments/export.csv").await.page();
    assert!(runs_no_formula(&payments) > kept);
    let statement = |format: &str| format!("/statements/file?account=prefund:USDT&format={format}");
    assert!(runs_no_formula(&treasury.get(&statement("csv")).await.page()) > 2);
    Json::read(treasury.get(&statement("json")).await.page().as_bytes());
    let camt = treasury.get(&statement("camt053")).await.page();
    assert_eq!(camt.matches("<Document").count(), 1, "no text opens a document");
    assert!(!camt.contains("<!DOCTYPE") && !camt.contains("<!--"), "{camt}");
}

#[track_caller]
fn is_refused_for_its_text(name: &str, answer: &Answer) {
    for fault in answer.faults() {
        let field = fault.loc.strip_prefix("body.").unwrap_or_default();
        assert!(FIELDS.contains(&field), "{name}: {}", fault.loc);
        assert!(REASONS.contains(&fault.kind.as_str()), "{name}: {} {}", fault.loc, fault.kind);
    }
}

#[track_caller]
fn is_kept(name: &str, text: &str, record: &Json) {
    for field in FIELDS {
        assert_eq!(record["order"][field].text(), text.trim(), "{name}: {field}");
    }
}

/// No character of the text has a meaning in the page.
#[track_caller]
fn is_escaped(name: &str, text: &str, page: &str) {
    let text = text.trim();
    if text.contains(['<', '>', '"', '\'']) {
        assert!(!page.contains(text), "{name} stands in the page as it is");
    }
    for tag in ["<script>alert", "<img src=x", "<svg/onload", "<Document>", "<!ENTITY"] {
        assert!(!page.contains(tag), "{name}: {tag}");
    }
}

/// The number of rows of a CSV file of which no cell begins a formula; amounts are plain numbers.
#[track_caller]
fn runs_no_formula(file: &str) -> usize {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(file.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("CSV");
    for cell in rows.iter().flat_map(|row| row.iter()) {
        let is_number =
            cell.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
        assert!(is_number || !cell.starts_with(FORMULAS), "{cell:?}");
    }
    rows.len()
}
