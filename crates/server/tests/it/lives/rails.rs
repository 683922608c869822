//! Rails that refuse, are unreachable or lose answers: another rail pays, or the same one later,
//! and only once.

use domain::attempt::AttemptState;
use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::ids::PaymentId;
use domain::ledger::AccountCode;
use domain::time::Span;
use testkit::bank::Faults;
use testkit::wait::AT_MOST;

use crate::harness::client::PREFUND_MINOR;
use crate::harness::{Bank, On, Setup, on_both_stores};

on_both_stores! {
    a_retryable_refusal_leads_to_the_next_rail
    another_refusal_ends_the_payment
    a_rail_that_cannot_be_reached_is_passed_over
    a_later_attempt_has_ids_of_its_own_below_the_payments_end_to_end_id
    a_payment_that_no_rail_can_take_is_rejected_and_its_money_given_back
    payments_wait_for_a_bank_that_is_away
    payments_that_wait_too_long_are_rejected
    a_lost_answer_is_asked_about_and_never_paid_twice
    reports_that_come_twice_change_nothing
    large_amounts_go_over_the_rails_that_take_them
    reports_are_fetched_at_once_after_a_restart
}

/// The rails attempted, in order.
async fn tried(bank: &Bank, id: &str) -> Vec<String> {
    let payment = PaymentId::parse(id).expect("an id");
    let attempts =
        bank.running.store().attempts(bank.tenant.id, payment).await.expect("they can be read");
    attempts.iter().map(|attempt| attempt.rail.to_string()).collect()
}

fn faults(bank: &Bank, faults: Faults) {
    bank.running.bank().set_faults(faults).expect("the bank runs");
}

/// Advances the clock until the payment is in `state`; never while a rail is being called, whose
/// worker would lose its lease.
async fn with_time(bank: &Bank, id: &str, step: Span, state: &str) {
    let payment = PaymentId::parse(id).expect("an id");
    let there = testkit::wait::until_async(AT_MOST, || async {
        let attempts = bank.running.store().attempts(bank.tenant.id, payment).await.expect("read");
        if attempts.iter().any(|attempt| attempt.state == AttemptState::Sending) {
            return false;
        }
        bank.advance(step).await;
        bank.record(Country::Pak, id).await["response"]["status"].text() == state
    });
    assert!(there.await, "{}", bank.record(Country::Pak, id).await);
}

async fn a_retryable_refusal_leads_to_the_next_rail(on: On) {
    let setup = Setup::new().set("rails.pak-raast.retryable_reasons", "[\"AC01\"]");
    let bank = Bank::alone(on, setup).await;
    let id = bank.paid(Country::Pak, |order| order.ending(Country::Pak, "0002")).await;
    let record = bank.reaches(Country::Pak, &id, "rejected").await;
    assert_eq!(tried(&bank, &id).await, ["pak-raast", "pak-ibft"]);
    assert_eq!(record["response"]["msg"].text(), "AC01: no route to the account");
    assert_eq!(bank.history(&id).await, ["payment.queued", "payment.rejected"]);
    bank.finish().await;
}

async fn another_refusal_ends_the_payment(on: On) {
    let bank = Bank::new(on).await;
    let id = bank.paid(Country::Pak, |order| order.ending(Country::Pak, "0002")).await;
    bank.reaches(Country::Pak, &id, "rejected").await;
    assert_eq!(tried(&bank, &id).await, ["pak-raast"]);
}

/// A local port without a listener, which no other test gets: it stays bound.
fn nowhere() -> String {
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind("127.0.0.1:0".parse().expect("an address")).expect("bound");
    let address = socket.local_addr().expect("an address");
    std::mem::forget(socket);
    format!("http://{address}/iso")
}

/// The cheapest rail is unreachable: its messages never leave this machine.
fn raast_leads_nowhere() -> Setup {
    Setup::new()
        .set("rails.pak-raast.transport", "https")
        .set("rails.pak-raast.url", &nowhere())
        .set("rails.pak-raast.debtor_name", "Demo Bank")
        .set("rails.pak-raast.debtor_account", "1")
        .set("rails.pak-raast.debtor_agent", "DEMOAEAD")
}

async fn a_rail_that_cannot_be_reached_is_passed_over(on: On) {
    let bank = Bank::alone(on, raast_leads_nowhere()).await;
    let id = bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    let book = bank.book(&id).await;
    assert_eq!((book.len(), book[0]["rail"].text()), (1, "pak-ibft"));
    assert_eq!(tried(&bank, &id).await.last().map(String::as_str), Some("pak-ibft"));
    bank.finish().await;
}

/// The first attempt has the payment's own UUID (`sandbox::book`).
async fn a_later_attempt_has_ids_of_its_own_below_the_payments_end_to_end_id(on: On) {
    let bank = Bank::alone(on, raast_leads_nowhere()).await;
    let id = bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &id, "succeeded").await;
    let book = bank.book(&id).await;
    let uetr = book[0]["uetr"].text();
    assert_ne!(uetr, id);
    assert_eq!(uuid::Uuid::parse_str(uetr).expect("a UUID").get_version_num(), 4);
    assert_eq!(book[0]["instruction_id"].text(), uetr.replace('-', ""));
    assert_eq!(book[0]["end_to_end_id"].text(), id.replace('-', ""));
    bank.finish().await;
}

async fn a_payment_that_no_rail_can_take_is_rejected_and_its_money_given_back(on: On) {
    let rails = ["pak-raast", "pak-ibft", "pak-rtgs"];
    let setup = rails.into_iter().fold(Setup::new(), |setup, rail| {
        // A bank other than the beneficiary's: neither the quote nor the order's checks consider
        // it.
        setup.set(&format!("rails.{rail}.banks"), "[\"HABB\"]")
    });
    let bank = Bank::alone(on, setup).await;
    let id = bank.paid(Country::Pak, |order| order).await;
    let record = bank.reaches(Country::Pak, &id, "rejected").await;
    assert_eq!(record["response"]["msg"].text(), "no route to the beneficiary's bank");
    assert_eq!(tried(&bank, &id).await, Vec::<String>::new());
    assert_eq!(bank.history(&id).await, ["payment.queued", "payment.rejected"]);
    let accounts = bank.running.store().accounts(bank.tenant.id).await.expect("they can be read");
    let prefund =
        accounts.iter().find(|account| account.code == AccountCode::Prefund(StableCoin::Usdt));
    assert_eq!(prefund.expect("a prefund").available().minor, PREFUND_MINOR);
    bank.finish().await;
}

async fn payments_wait_for_a_bank_that_is_away(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    faults(&bank, Faults { down: true, ..Faults::NONE });
    let id = bank.paid(Country::Pak, |order| order).await;
    let put_off = || async { tried(&bank, &id).await.len() >= 2 };
    assert!(testkit::wait::until_async(AT_MOST, put_off).await, "both rails were tried");
    assert_eq!(bank.record(Country::Pak, &id).await["response"]["status"].text(), "queued");
    faults(&bank, Faults::NONE);
    with_time(&bank, &id, Span::secs(15), "succeeded").await;
    assert_eq!(bank.book(&id).await.len(), 1);
    bank.finish().await;
}

async fn payments_that_wait_too_long_are_rejected(on: On) {
    let bank = Bank::alone(on, Setup::new().set("payments.submit_deadline_s", "60")).await;
    faults(&bank, Faults { down: true, ..Faults::NONE });
    let id = bank.paid(Country::Pak, |order| order).await;
    with_time(&bank, &id, Span::secs(15), "rejected").await;
    let record = bank.record(Country::Pak, &id).await;
    assert_eq!(record["response"]["msg"].text(), "no rail accepted it in time");
    faults(&bank, Faults::NONE);
    assert!(bank.book(&id).await.is_empty());
    bank.finish().await;
}

async fn a_lost_answer_is_asked_about_and_never_paid_twice(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    faults(&bank, Faults { drop_answer_per_mille: 1_000, ..Faults::NONE });
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(bank.paid(Country::Pak, |order| order).await);
    }
    for id in &made {
        with_time(&bank, id, Span::secs(5), "succeeded").await;
        assert_eq!(bank.book(id).await.len(), 1);
        assert_eq!(
            tried(&bank, id).await.len(),
            1,
            "no second attempt while the first may have paid"
        );
    }
    bank.finish().await;
}

async fn reports_that_come_twice_change_nothing(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    faults(&bank, Faults { duplicate_report_per_mille: 1_000, ..Faults::NONE });
    for (ending, state) in [("6702", "succeeded"), ("0001", "failed"), ("0003", "reversed")] {
        let id = bank.paid(Country::Pak, |order| order.ending(Country::Pak, ending)).await;
        bank.reaches(Country::Pak, &id, state).await;
    }
    bank.finish().await;
}

async fn large_amounts_go_over_the_rails_that_take_them(on: On) {
    let bank = Bank::new(on).await;
    for (amount, rail) in
        [("100", "pak-raast"), ("2635", "pak-raast"), ("2636", "pak-ibft"), ("65877", "pak-rtgs")]
    {
        let quote = bank.quote(Country::Pak, Currency::Aed, amount).await;
        let paid = bank.pay(&quote.order()).await.ok();
        let id = paid["id"].text();
        bank.reaches(Country::Pak, id, "succeeded").await;
        assert_eq!(tried(&bank, id).await, [rail], "{amount}");
    }
}

/// A stopping service releases its roles: its successor waits for no lease to expire.
async fn reports_are_fetched_at_once_after_a_restart(on: On) {
    let bank = Bank::alone(on, Setup::new()).await;
    let first = bank.paid(Country::Pak, |order| order).await;
    bank.reaches(Country::Pak, &first, "succeeded").await;
    let bank = bank.restart().await;
    let id = bank.paid(Country::Pak, |order| order.ending(Country::Pak, "0003")).await;
    bank.reaches(Country::Pak, &id, "reversed").await;
    assert_eq!(bank.record(Country::Pak, &first).await["response"]["status"].text(), "succeeded");
    bank.finish().await;
}
