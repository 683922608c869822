//! Rails with daily and monthly limits per sender: payments beyond them use the next rail
//! (`corridors.md`: "EGY IPN 70,000 a transaction, 120,000 a day, 400,000 a month EGP").

use domain::country::Country;
use domain::currency::Currency;
use domain::exchange::ExchangeState;
use domain::ids::{ExchangeId, PaymentId};
use domain::time::Span;
use futures_util::future::join_all;

use crate::harness::{Bank, On, Order, Setup, WalletBank, on_both_stores};

on_both_stores! {
    what_is_above_a_senders_day_goes_over_the_next_rail
    what_is_above_a_senders_month_goes_over_the_next_rail
    payments_sent_at_once_share_a_senders_day
    a_refusal_gives_the_senders_room_back
    a_payment_beyond_every_rails_limit_is_rejected_with_the_limit
    a_customers_wallets_share_a_daily_limit
    an_order_beyond_every_rails_limit_is_refused_with_the_limit
}

/// Between 40,000 and 60,000 EGP: two of these fit into the rail's daily limit, three do not.
const AED: &str = "4000";

async fn pay(bank: &Bank, edit: impl FnOnce(Order) -> Order) -> String {
    let quote = bank.quote(Country::Egy, Currency::Aed, AED).await;
    bank.pay(&edit(quote.order())).await.ok()["id"].text().to_owned()
}

/// The rails attempted, in order, once the payment is final.
async fn rails(bank: &Bank, id: &str, state: &str) -> Vec<String> {
    bank.reaches(Country::Egy, id, state).await;
    let payment = PaymentId::parse(id).expect("an id");
    let attempts = bank.running.store().attempts(bank.tenant.id, payment).await.expect("read");
    attempts.iter().map(|attempt| attempt.rail.to_string()).collect()
}

async fn paid_over(bank: &Bank, edit: impl FnOnce(Order) -> Order) -> Vec<String> {
    let id = pay(bank, edit).await;
    rails(bank, &id, "succeeded").await
}

async fn what_is_above_a_senders_day_goes_over_the_next_rail(on: On) {
    let bank = Bank::alone(on, Setup::new().at_noon("egy-ipn")).await;
    assert_eq!(paid_over(&bank, |order| order).await, ["egy-ipn"]);
    // A different spelling of the name is the same sender.
    assert_eq!(
        paid_over(&bank, |order| order.text("sender_name", "Another Spelling")).await,
        ["egy-ipn"]
    );
    assert_eq!(paid_over(&bank, |order| order).await, ["egy-ach"]);
    assert_eq!(
        paid_over(&bank, |order| order.text("sender_identity_doc", "Z7654321")).await,
        ["egy-ipn"]
    );
    let other = Bank::at(&bank.running).await;
    assert_eq!(
        paid_over(&other, |order| order).await,
        ["egy-ipn"],
        "other clients' payments do not count"
    );
    other.advance(Span::days(1)).await;
    assert_eq!(
        paid_over(&bank, |order| order).await,
        ["egy-ipn"],
        "the next day has room of its own"
    );
    drop(other);
    bank.finish().await;
}

async fn what_is_above_a_senders_month_goes_over_the_next_rail(on: On) {
    let bank = Bank::alone(
        on,
        Setup::new().at_noon("egy-ipn").set("rails.egy-ipn.monthly_max", "120000.00"),
    )
    .await;
    assert_eq!(paid_over(&bank, |order| order).await, ["egy-ipn"]);
    assert_eq!(paid_over(&bank, |order| order).await, ["egy-ipn"]);
    assert_eq!(paid_over(&bank, |order| order).await, ["egy-ach"]);
    bank.advance(Span::days(31)).await;
    assert_eq!(
        paid_over(&bank, |order| order).await,
        ["egy-ipn"],
        "the next month has room of its own"
    );
    bank.finish().await;
}

async fn payments_sent_at_once_share_a_senders_day(on: On) {
    let bank = Bank::alone(on, Setup::new().at_noon("egy-ipn")).await;
    let made = join_all((0..8).map(|_| pay(&bank, |order| order))).await;
    let mut over = Vec::new();
    for id in &made {
        over.extend(rails(&bank, id, "succeeded").await);
    }
    over.sort();
    assert_eq!(over, [vec!["egy-ach"; 6], vec!["egy-ipn"; 2]].concat());
    bank.finish().await;
}

async fn a_refusal_gives_the_senders_room_back(on: On) {
    let bank = Bank::alone(on, Setup::new().at_noon("egy-ipn")).await;
    for _ in 0..3 {
        let id = pay(&bank, |order| order.ending(Country::Egy, "0002")).await;
        assert_eq!(rails(&bank, &id, "rejected").await, ["egy-ipn"]);
    }
    // A paid and returned payment also frees headroom.
    let id = pay(&bank, |order| order.ending(Country::Egy, "0003")).await;
    assert_eq!(rails(&bank, &id, "reversed").await, ["egy-ipn"]);
    for rail in ["egy-ipn", "egy-ipn", "egy-ach"] {
        assert_eq!(paid_over(&bank, |order| order).await, [rail]);
    }
    bank.finish().await;
}

async fn a_payment_beyond_every_rails_limit_is_rejected_with_the_limit(on: On) {
    let setup = Setup::new()
        .at_noon("egy-ipn")
        .set("rails.egy-ach.enabled", "false")
        .set("rails.egy-rtgs.enabled", "false");
    let bank = Bank::alone(on, setup).await;
    for _ in 0..2 {
        assert_eq!(paid_over(&bank, |order| order).await, ["egy-ipn"]);
    }
    let id = pay(&bank, |order| order).await;
    assert!(rails(&bank, &id, "rejected").await.is_empty(), "nothing was sent");
    let record = bank.record(Country::Egy, &id).await;
    let told = "no route: egy-ipn accepts no more than 120000.00 EGP a day from one sender";
    assert_eq!(record["response"]["msg"].text(), told);
    assert_eq!(bank.history(&id).await, ["payment.queued", "payment.rejected"]);
    bank.finish().await;
}

/// An exchange order pays its customer over the same rails.
async fn a_customers_wallets_share_a_daily_limit(on: On) {
    let setup = Setup::with_wallets()
        .at_noon("pak-raast")
        .set("rails.pak-raast.max", "15000.00")
        .set("rails.pak-raast.daily_max", "20000.00");
    let bank = WalletBank::alone(on, setup).await;
    let (mine, other) = (bank.funded("limited").await, bank.funded("another").await);
    // About 11,000 PKR each: one fits into a day, two do not.
    for (wallet, rail) in [(&mine, "pak-raast"), (&mine, "pak-ibft"), (&other, "pak-raast")] {
        let order = bank.order_call(wallet, "40.00", "").send().await.ok();
        bank.order_is(&order, ExchangeState::Settled).await;
        let id = ExchangeId::parse(order["order_id"].text()).expect("an id");
        let store = bank.bank.running.store();
        let attempts = store.attempts(bank.bank.tenant.id, PaymentId(id.0)).await.expect("read");
        let over: Vec<String> = attempts.iter().map(|attempt| attempt.rail.to_string()).collect();
        assert_eq!(over, [rail]);
    }
    bank.books_are_right().await;
    bank.finish().await;
}

/// What no rail would pay is refused before anything is debited.
async fn an_order_beyond_every_rails_limit_is_refused_with_the_limit(on: On) {
    let setup = Setup::with_wallets()
        .at_noon("pak-raast")
        .set("rails.pak-ibft.enabled", "false")
        .set("rails.pak-rtgs.enabled", "false")
        .set("rails.pak-raast.max", "15000.00")
        .set("rails.pak-raast.daily_max", "20000.00");
    let bank = WalletBank::alone(on, setup).await;
    let wallet = bank.funded("spent").await;
    let order = bank.order_call(&wallet, "40.00", "").send().await.ok();
    bank.order_is(&order, ExchangeState::Settled).await;
    let answer = bank.order_call(&wallet, "40.00", "").send().await;
    assert_eq!((answer.status, answer.json()["field"].text()), (422, "amount"));
    let rule = "No more than 20000.00 PKR a day can be paid to one customer";
    assert_eq!(answer.json()["message"].text(), rule);
    bank.books_are_right().await;
    bank.finish().await;
}
