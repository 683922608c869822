//! The bank's statements (camt.053) against the attempts, over both transports: a clean day has no
//! discrepancy, each error causes exactly its discrepancy and alert, a later statement resolves
//! what it can, and closed alerts stay closed. Unmatched reports are stored.

use std::fs;
use std::path::{Path, PathBuf};

use domain::bank_statement::{BreakKind, RailBreak};
use domain::country::Country;
use domain::wallet_effects::{Alert, AlertKind};
use engine::reconcile;
use reqwest::Method;
use testkit::bank::Behaviour;
use testkit::wait::{AT_MOST, until_async};

use crate::harness::{Bank, On, Setup, brisk, on_both_stores};

on_both_stores! {
    a_clean_day_has_no_break_over_http
    a_clean_day_has_no_break_over_a_directory
    each_mistake_is_its_break_over_http
    each_mistake_is_its_break_over_a_directory
    a_statement_that_comes_again_adds_nothing
    a_changed_statement_is_reported
    returns_and_ends_are_compared
    reports_wait_for_their_statement_and_statements_for_reports
    unmatched_reports_are_stored_and_reported
    statements_wait_in_the_banks_book
    steering_a_statement_is_checked
}

const RAILS: [&str; 3] = ["pak-raast", "pak-ibft", "pak-rtgs"];

/// A bank that issues statements, and a service without tolerated delays.
fn setup() -> Setup {
    Setup::new()
        .bank(Behaviour { statements: true, ..brisk() })
        .set("payments.statement_grace_s", "0")
}

fn over_directories(setup: Setup) -> Setup {
    RAILS.into_iter().fold(setup, |setup, rail| {
        let setup = setup.set(&format!("rails.{rail}.directory"), &format!("exchange/{rail}"));
        setup.set(&format!("rails.{rail}.report_wait_s"), "1")
    })
}

/// The number of stored statements.
async fn kept(bank: &Bank) -> usize {
    bank.running.store().newest_statements(10_000).await.expect("read").len()
}

/// Lets the bank send its statements, with an error in this payment, and waits until they are
/// stored.
async fn close(bank: &Bank, mistake: Option<(&str, &str)>) {
    let before = kept(bank).await;
    let query =
        mistake.map_or_else(String::new, |(name, id)| format!("?mistake={name}&payment_id={id}"));
    bank.unsigned(Method::POST, &format!("/sandbox/bank/statement{query}"), None).send().await.ok();
    assert!(
        until_async(AT_MOST, || async { kept(bank).await > before }).await,
        "the statement is not kept"
    );
}

async fn compare(bank: &Bank) {
    let store = bank.running.store();
    let wish = reconcile::want(store).await.expect("wanted");
    let done = || async {
        reconcile::last(store).await.expect("read").is_some_and(|it| it.wanted == Some(wish))
    };
    assert!(until_async(AT_MOST, done).await, "the service does not compare");
}

/// Open discrepancies, each with exactly one open alert.
async fn breaks(bank: &Bank) -> Vec<RailBreak> {
    let store = bank.running.store();
    let found = store.rail_breaks(bank.tenant.id, 100).await.expect("read");
    let mut found: Vec<RailBreak> = found.into_iter().map(|(_, it)| it).collect();
    let alerts = store.alerts(bank.tenant.id, 100).await.expect("read");
    let alerts = alerts
        .into_iter()
        .map(|(_, alert)| alert)
        .filter(|alert| alert.kind == AlertKind::RailMismatch);
    let mut alerts: Vec<_> = alerts.map(|alert| (alert.subject, alert.what)).collect();
    alerts.sort();
    found.sort_by(|one, other| (one.subject, &one.what).cmp(&(other.subject, &other.what)));
    assert_eq!(found.iter().map(|it| (it.subject, it.what.clone())).collect::<Vec<_>>(), alerts);
    found
}

async fn kinds(bank: &Bank) -> Vec<BreakKind> {
    breaks(bank).await.into_iter().map(|it| it.kind).collect()
}

async fn succeeded(bank: &Bank) -> String {
    let id = bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    id
}

async fn clean_day(bank: Bank) {
    let endings = [
        ("6702", "succeeded"),
        ("0001", "failed"),
        ("0002", "rejected"),
        ("0003", "reversed"),
        ("0005", "processing"),
        ("0007", "succeeded"),
        ("0008", "succeeded"),
    ];
    let mut made = Vec::new();
    for (ending, state) in endings {
        made.push((
            bank.paid(Country::Pak, |order| order.ending(Country::Pak, ending)).await,
            state,
        ));
    }
    for (id, state) in &made {
        bank.reaches(Country::Pak, id, state).await;
    }
    for _ in 0..2 {
        // The second statement covers a period without entries.
        close(&bank, None).await;
        compare(&bank).await;
        assert_eq!(breaks(&bank).await, []);
    }
    let open = bank.running.store().open_bookings(None, 10).await.expect("read");
    assert_eq!(open, [], "all that was booked was compared, and agrees");
    let sheets = bank.running.store().newest_statements(10).await.expect("read");
    let raast = sheets
        .iter()
        .find(|it| &*it.rail.0 == "pak-raast" && it.turnover != 0)
        .expect("a day with bookings");
    assert_eq!(raast.opening.map(|opening| opening + raast.turnover), raast.closing);
    assert!(bank.running.store().open_sheets().await.expect("read").is_empty());
    bank.finish().await;
}

async fn a_clean_day_has_no_break_over_http(on: On) {
    clean_day(Bank::alone(on, setup()).await).await;
}

async fn a_clean_day_has_no_break_over_a_directory(on: On) {
    clean_day(Bank::alone(on, over_directories(setup())).await).await;
}

async fn each_mistake(bank: Bank) {
    for (name, kind, is_mended) in [
        ("missing", BreakKind::Missing, true),
        ("amount", BreakKind::Amount, true),
        ("twice", BreakKind::Twice, true),
        ("unknown", BreakKind::Unknown, false),
        ("balance", BreakKind::Balance, false),
    ] {
        let (other, id) = (succeeded(&bank).await, succeeded(&bank).await);
        close(&bank, Some((name, &id))).await;
        compare(&bank).await;
        let found = breaks(&bank).await;
        assert_eq!(found.iter().map(|it| it.kind).collect::<Vec<_>>(), [kind], "{name}: {found:?}");
        let is_about = |id: &str| found[0].subject.to_string() == id;
        assert!(!is_about(&other) && is_about(&id) == is_mended, "{name}: {found:?}");
        compare(&bank).await;
        assert_eq!(breaks(&bank).await, found, "{name}: found again, and reported once");
        close(&bank, None).await;
        compare(&bank).await;
        if is_mended {
            assert_eq!(breaks(&bank).await, [], "{name}: the next statement has mended it");
            continue;
        }
        assert_eq!(breaks(&bank).await, found, "{name}: nothing mends it");
        let alert = Alert {
            kind: AlertKind::RailMismatch,
            subject: found[0].subject,
            what: found[0].what.clone(),
        };
        bank.running.store().close_alert(bank.tenant.id, &alert, "ayesha").await.expect("closed");
        compare(&bank).await;
        assert_eq!(breaks(&bank).await, [], "{name}: a person has closed it for good");
    }
    bank.finish().await;
}

async fn each_mistake_is_its_break_over_http(on: On) {
    each_mistake(Bank::alone(on, setup()).await).await;
}

async fn each_mistake_is_its_break_over_a_directory(on: On) {
    each_mistake(Bank::alone(on, over_directories(setup())).await).await;
}

/// The latest processed statement file, and the inbox for the bank's files.
fn filed(bank: &Bank) -> Option<(PathBuf, PathBuf)> {
    let inbox = bank.running.data_dir.join("exchange/pak-raast/in");
    let mut names: Vec<PathBuf> = fs::read_dir(inbox.join("archive"))
        .expect("listed")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().ends_with("-camt053.xml"))
        .collect();
    names.sort();
    names.pop().map(|path| (path, inbox))
}

/// Places a file as the bank does.
fn lay_down(inbox: &Path, name: &str, content: &str) {
    fs::write(inbox.join(format!(".{name}")), content).expect("written");
    fs::rename(inbox.join(format!(".{name}")), inbox.join(name)).expect("renamed");
}

/// The statement of a day with one entry of a different amount, as the bank filed it.
async fn with_a_break(on: On) -> (Bank, String, PathBuf) {
    let bank = Bank::alone(on, over_directories(setup())).await;
    let id = succeeded(&bank).await;
    close(&bank, Some(("amount", &id))).await;
    compare(&bank).await;
    assert_eq!(kinds(&bank).await, [BreakKind::Amount]);
    assert!(
        until_async(AT_MOST, || async { filed(&bank).is_some() }).await,
        "it is filed once it is kept"
    );
    let (path, inbox) = filed(&bank).expect("filed");
    (bank, fs::read_to_string(path).expect("read"), inbox)
}

/// Waits until a placed file is processed.
async fn taken(inbox: &Path, name: &str) {
    let gone = || async { !inbox.join(name).exists() };
    assert!(until_async(AT_MOST, gone).await, "{name} is not read");
}

async fn a_statement_that_comes_again_adds_nothing(on: On) {
    let (bank, statement, inbox) = with_a_break(on).await;
    let (before, found) = (kept(&bank).await, breaks(&bank).await);
    for name in ["9-again.xml", "9-again-and-again.xml"] {
        lay_down(&inbox, name, &statement);
        taken(&inbox, name).await;
    }
    compare(&bank).await;
    assert_eq!((kept(&bank).await, breaks(&bank).await), (before, found));
    assert_eq!(bank.running.store().strays(bank.tenant.id, 10).await, Ok(Vec::new()));
    bank.finish().await;
}

async fn a_changed_statement_is_reported(on: On) {
    let (bank, statement, inbox) = with_a_break(on).await;
    let before = kept(&bank).await;
    let changed = statement.replace("<CdtDbtInd>DBIT", "<CdtDbtInd>CRDT");
    assert_ne!(changed, statement);
    lay_down(&inbox, "9-changed.xml", &changed);
    let told = || async {
        !bank.running.store().strays(bank.tenant.id, 10).await.expect("read").is_empty()
    };
    assert!(until_async(AT_MOST, told).await, "no alert was opened");
    let strays = bank.running.store().strays(bank.tenant.id, 10).await.expect("read");
    assert!(
        strays[0].report.what.contains("was received before with different content"),
        "{strays:?}"
    );
    compare(&bank).await;
    assert_eq!(
        (kept(&bank).await, kinds(&bank).await),
        (before, vec![BreakKind::Amount]),
        "the first one counts"
    );
    bank.finish().await;
}

async fn returns_and_ends_are_compared(on: On) {
    let bank = Bank::alone(on, setup()).await;
    let id = succeeded(&bank).await;
    close(&bank, None).await;
    // The money is returned: on one transport by its report, on the other in the next statement.
    bank.unsigned(Method::POST, &format!("/sandbox/payments/{id}/reversed"), None)
        .send()
        .await
        .ok();
    bank.reaches(Country::Pak, &id, "reversed").await;
    close(&bank, Some(("missing", &id))).await;
    compare(&bank).await;
    assert_eq!(kinds(&bank).await, [BreakKind::NotReturned], "the bank has not booked it");
    close(&bank, None).await;
    compare(&bank).await;
    assert_eq!(breaks(&bank).await, [], "it has by now");
    bank.finish().await;
}

async fn reports_wait_for_their_statement_and_statements_for_reports(on: On) {
    let bank = Bank::alone(on, setup().set("payments.statement_grace_s", "3600")).await;
    let id = succeeded(&bank).await;
    close(&bank, Some(("missing", &id))).await;
    compare(&bank).await;
    assert_eq!(breaks(&bank).await, [], "there is time");
    // The answer is lost and its report is on its way: the statement is first.
    let early = bank.paid(Country::Pak, |order| order.ending(Country::Pak, "0005")).await;
    bank.reaches(Country::Pak, &early, "processing").await;
    close(&bank, None).await;
    compare(&bank).await;
    assert_eq!(breaks(&bank).await, [], "resolved before an alert was opened");
    bank.finish().await;
}

/// A status report of the bank about an attempt.
fn report(message: &str, attempt: &str) -> String {
    format!(
        "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:pain.002.001.10\"><CstmrPmtStsRpt><GrpHdr>\
         <MsgId>{message}</MsgId></GrpHdr><OrgnlPmtInfAndSts><TxInfAndSts><OrgnlUETR>{attempt}</OrgnlUETR>\
         <TxSts>ACSC</TxSts></TxInfAndSts></OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>"
    )
}

async fn unmatched_reports_are_stored_and_reported(on: On) {
    let bank = Bank::alone(on, over_directories(Setup::new().bank(brisk()))).await;
    let id = succeeded(&bank).await;
    let inbox = bank.running.data_dir.join("exchange/pak-raast/in");
    let foreign = "6f0c7ac6-53b5-4d3a-9d9e-0123456789ab";
    lay_down(&inbox, "9-foreign.xml", &report("B-77", foreign));
    lay_down(&inbox, "9-html.xml", "<html>busy</html>");
    let store = bank.running.store();
    let told = || async { store.strays(bank.tenant.id, 10).await.expect("read").len() >= 2 };
    assert!(until_async(AT_MOST, told).await, "they are not kept");
    taken(&inbox, "9-html.xml").await;
    // Repeated: already known.
    lay_down(&inbox, "9-more.xml", &report("B-77", foreign));
    taken(&inbox, "9-more.xml").await;
    let strays = store.strays(bank.tenant.id, 10).await.expect("read");
    assert_eq!(strays.len(), 2, "{strays:?}");
    let says = |part: &str| {
        strays.iter().any(|it| &*it.rail.0 == "pak-raast" && it.report.what.contains(part))
    };
    assert!(
        says("pain.002 B-77 reports settled of") && says(foreign) && says("9-html.xml"),
        "{strays:?}"
    );
    let alerts = store.alerts(bank.tenant.id, 100).await.expect("read");
    let called: Vec<_> =
        alerts.iter().filter(|(_, alert)| alert.kind == AlertKind::Discrepancy).collect();
    assert!((1..=2).contains(&called.len()), "one for each lot: {called:?}");
    bank.reaches(Country::Pak, &id, "succeeded").await;
    bank.finish().await;
}

async fn statements_wait_in_the_banks_book(on: On) {
    let bank = Bank::alone(on, setup()).await;
    let before = succeeded(&bank).await;
    let bank = bank.restart().await;
    // Entries from before and after the stop are in one statement.
    let behind = succeeded(&bank).await;
    close(&bank, None).await;
    compare(&bank).await;
    assert_eq!(breaks(&bank).await, [], "{before} {behind}");
    let sheets = bank.running.store().newest_statements(10).await.expect("read");
    let amounts = async |id: &str| bank.book(id).await[0]["amount"].to_string();
    assert_ne!(sheets[0].turnover, 0, "{} {}", amounts(&before).await, amounts(&behind).await);
    // The next one continues after the last, across another stop.
    let bank = bank.restart().await;
    close(&bank, None).await;
    compare(&bank).await;
    assert_eq!(breaks(&bank).await, []);
    bank.finish().await;
}

async fn steering_a_statement_is_checked(on: On) {
    let bank = Bank::alone(on, setup()).await;
    let id = succeeded(&bank).await;
    let ask = |query: String| {
        bank.unsigned(Method::POST, &format!("/sandbox/bank/statement?{query}"), None).send()
    };
    ask("mistake=missing".to_owned()).await.refused(400, "missing_query");
    ask(format!("mistake=wrong&payment_id={id}")).await.refused(400, "unknown_mistake");
    ask("mistake=twice&payment_id=1".to_owned()).await.refused(400, "payment_not_found");
    let nowhere = "6f0c7ac6-53b5-4d3a-9d9e-0123456789ab";
    ask(format!("mistake=twice&payment_id={nowhere}")).await.refused(409, "nothing_booked");
    assert_eq!(kept(&bank).await, 0, "none was sent");
    bank.finish().await;
}
