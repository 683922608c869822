//! The outcomes that a beneficiary's account selects in a sandbox (`decisions.md`, "Sandbox
//! values"), over both transports. In every case the bank's own ledger shows at most one payout.

use domain::attempt::{AttemptState, UnresolvedAttempt};
use domain::country::Country;
use domain::ids::AttemptId;
use domain::rail::RailStatus;
use domain::time::Span;
use domain::wallet_effects::{Alert, AlertKind};
use engine::command::Refused;
use engine::payments::Denied;
use testkit::bank::{Behaviour, DelayRange, Faults};
use testkit::wait::AT_MOST;
use uuid::Uuid;

use crate::harness::{Bank, Json, On, Setup, brisk, on_both_stores};

on_both_stores! {
    each_ending_is_reached_over_http
    each_ending_is_reached_over_a_directory
    every_country_reaches_its_endings
    a_withheld_answer_is_found_by_asking
    an_unknown_payment_is_resolved_by_operators
    a_payment_without_news_becomes_unknown
}

/// Last four characters of the account, the resulting state, the message, and the bank's ledger
/// entries.
const ENDINGS: [(&str, &str, &str, &[&str]); 9] = [
    ("6702", "succeeded", "null", &["paid"]),
    ("0001", "failed", "\"AC04: account closed\"", &[]),
    ("0002", "rejected", "\"AC01: no route to the account\"", &[]),
    ("0003", "reversed", "\"AC04: returned by the beneficiary's bank\"", &["paid", "returned"]),
    ("0004", "unknown", "null", &[]),
    ("0005", "processing", "null", &[]),
    ("0006", "succeeded", "null", &["paid"]),
    ("0007", "succeeded", "null", &["paid"]),
    ("0008", "succeeded", "null", &["paid"]),
];

async fn reach_all(bank: &Bank, country: Country) {
    let mut made = Vec::new();
    for ending in ENDINGS {
        let external = format!("{}-{}", country.alpha3(), ending.0);
        let id = bank
            .paid(country, |order| order.ending(country, ending.0).text("external_id", &external))
            .await;
        made.push((id, ending));
    }
    for (id, (ending, state, msg, _)) in &made {
        let record = bank.reaches(country, id, state).await;
        assert_eq!(record["response"]["msg"].to_string(), *msg, "{ending}");
        let reference = &record["response"]["bank_reference"];
        assert_eq!(
            matches!(reference, Json::Text(_)),
            ["succeeded", "reversed"].contains(state),
            "{ending}: {reference}"
        );
    }
    // A contradiction after success changes nothing and is recorded.
    let contradicted = &made.last().expect("nine").0;
    let noted = || async {
        let noted = bank
            .running
            .store()
            .discrepancies(bank.tenant.id, 100)
            .await
            .expect("they can be read");
        noted.iter().any(|it| it.1.payment.to_string() == *contradicted)
    };
    assert!(testkit::wait::until_async(AT_MOST, noted).await, "the contradiction was not noted");
    let alerts = bank.running.store().alerts(bank.tenant.id, 100).await.expect("they can be read");
    let called = |(_, alert): &(_, Alert)| {
        alert.kind == AlertKind::Discrepancy && alert.subject.to_string() == *contradicted
    };
    assert!(alerts.iter().any(called), "no alert was opened: {alerts:?}");
    for (id, (ending, state, _, book)) in &made {
        bank.reaches(country, id, state).await;
        let kinds: Vec<String> =
            bank.book(id).await.iter().map(|line| line["kind"].text().to_owned()).collect();
        assert_eq!(kinds, *book, "{ending}");
    }
}

async fn each_ending_is_reached_over_http(on: On) {
    reach_all(&Bank::new(on).await, Country::Pak).await;
}

async fn each_ending_is_reached_over_a_directory(on: On) {
    let rails = ["pak-raast", "pak-ibft", "pak-rtgs"];
    let setup = Setup::new().bank(brisk());
    let setup = rails.into_iter().fold(setup, |setup, rail| {
        let setup = setup.set(&format!("rails.{rail}.directory"), &format!("exchange/{rail}"));
        setup.set(&format!("rails.{rail}.report_wait_s"), "1")
    });
    let bank = Bank::alone(on, setup).await;
    reach_all(&bank, Country::Pak).await;
    let sent = bank.running.data_dir.join("exchange/pak-raast/out");
    assert!(sent.is_dir(), "nothing went through the directory");
    bank.finish().await;
}

async fn every_country_reaches_its_endings(on: On) {
    let bank = Bank::new(on).await;
    for country in [Country::Bgd, Country::Egy, Country::Npl, Country::Phl, Country::Vnm] {
        for (ending, state) in [("0001", "failed"), ("0002", "rejected"), ("0003", "reversed")] {
            let id = bank.paid(country, |order| order.ending(country, ending)).await;
            bank.reaches(country, &id, state).await;
        }
    }
}

/// `0006`: the bank accepted the order, its answer was lost, and its report comes much later.
async fn a_withheld_answer_is_found_by_asking(on: On) {
    let far = Span::hours(10).0 / 1_000;
    let behaviour =
        Behaviour { withheld_notice: DelayRange::millis(far, far), ..Behaviour::instant() };
    let setup = Setup::new().bank(behaviour).set("rails.pak-raast.request_timeout_ms", "300");
    let bank = Bank::alone(on, setup).await;
    let id = bank.paid(Country::Pak, |order| order.ending(Country::Pak, "0006")).await;
    let paid = || async { bank.book(&id).await.len() == 1 };
    assert!(testkit::wait::until_async(AT_MOST, paid).await);
    bank.advance(Span::secs(6)).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    assert_eq!(bank.book(&id).await.len(), 1, "asked, not sent again");
    bank.finish().await;
}

async fn an_unknown_payment_is_resolved_by_operators(on: On) {
    let bank = Bank::new(on).await;
    for (status, state) in [
        (RailStatus::Settled, "succeeded"),
        (RailStatus::Rejected, "failed"),
        (RailStatus::Accepted, "processing"),
    ] {
        let id = bank.paid(Country::Pak, |order| order.ending(Country::Pak, "0004")).await;
        bank.reaches(Country::Pak, &id, "unknown").await;
        let payment = domain::ids::PaymentId::parse(&id).expect("an id");
        let payments = bank.running.payments();
        let record = bank
            .running
            .store()
            .payment_record(bank.tenant.id, payment)
            .await
            .expect("read")
            .expect("there");
        let seen = record.payment.doubt().expect("in doubt");
        let resolve = async |seen: UnresolvedAttempt| {
            payments
                .resolve(
                    bank.tenant.id,
                    payment,
                    seen,
                    status.clone(),
                    "statement, line 14".to_owned(),
                    "test",
                )
                .await
        };
        // Operators may have resolved an earlier unknown outcome of this or another attempt.
        for other in [
            UnresolvedAttempt { since: seen.since - Span::millis(1), ..seen },
            UnresolvedAttempt { attempt: AttemptId(Uuid::new_v4()), ..seen },
        ] {
            let refused = resolve(other).await;
            assert!(matches!(refused, Err(Denied::Refused(Refused::NotAsSeen))), "{refused:?}");
        }
        resolve(seen).await.expect("resolved");
        bank.reaches(Country::Pak, &id, state).await;
    }
}

/// The answer was lost and the bank stays silent: unknown after the rail's window, until the bank
/// reports again.
async fn a_payment_without_news_becomes_unknown(on: On) {
    let hour = 3_600_000;
    let behaviour = Behaviour { settle: DelayRange::millis(hour, hour), ..Behaviour::instant() };
    let bank =
        Bank::alone(on, Setup::new().bank(behaviour).set("rails.pak-raast.window_s", "60")).await;
    let faults = |faults| bank.running.bank().set_faults(faults).expect("the bank runs");
    faults(Faults { drop_answer_per_mille: 1_000, ..Faults::NONE });
    let id = bank.paid(Country::Pak, |order| order).await;
    let payment = domain::ids::PaymentId::parse(&id).expect("an id");
    let unclear = || async {
        let attempts =
            bank.running.store().attempts(bank.tenant.id, payment).await.expect("they can be read");
        attempts.first().is_some_and(|attempt| attempt.state == AttemptState::Indeterminate)
    };
    assert!(testkit::wait::until_async(AT_MOST, unclear).await);
    faults(Faults { down: true, ..Faults::NONE });
    let reaches = |state: &'static str, step: Span| {
        let (bank, id) = (&bank, &id);
        testkit::wait::until_async(AT_MOST, move || async move {
            bank.advance(step).await;
            bank.record(Country::Pak, id).await["response"]["status"].text() == state
        })
    };
    assert!(reaches("unknown", Span::secs(20)).await);
    faults(Faults::NONE);
    assert!(reaches("processing", Span::secs(60)).await);
    assert!(reaches("succeeded", Span::mins(10)).await);
    let history =
        ["queued", "unknown", "processing", "succeeded"].map(|kind| format!("payment.{kind}"));
    assert_eq!(bank.history(&id).await, history);
    assert_eq!(bank.book(&id).await.len(), 1);
    bank.finish().await;
}
