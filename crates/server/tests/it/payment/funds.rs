//! `POST /v2/payment`: the prefund account.

use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::ledger::{Account, AccountCode};
use futures_util::future::join_all;

use crate::harness::{Bank, On, Setup, on_both_stores, shared};

on_both_stores! {
    a_prefund_that_is_too_small_is_refused
    a_refusal_for_want_of_money_leaves_no_trace
    no_refusal_leaves_a_trace
    money_is_reserved_booked_and_released_as_in_the_worked_example
    what_the_payable_step_cuts_off_goes_to_the_rounding_account
    a_returned_payment_gives_back_the_exchanged_amount
    the_whole_prefund_can_be_spent_and_not_a_unit_more
    many_payments_at_once_never_overdraw_the_prefund
}

async fn accounts(bank: &Bank) -> Vec<Account> {
    bank.running.store().accounts(bank.tenant.id).await.expect("the accounts can be read")
}

/// `debits_pending debits_posted credits_pending credits_posted` of an account; zeros if it does
/// not exist.
async fn sums(bank: &Bank, code: &str) -> [i64; 4] {
    let code = AccountCode::parse(code).expect("an account code");
    let found = accounts(bank).await.into_iter().find(|account| account.code == code);
    found.map_or([0; 4], |it| {
        [it.debits_pending, it.debits_posted, it.credits_pending, it.credits_posted]
    })
}

async fn a_prefund_that_is_too_small_is_refused(on: On) {
    let bank = Bank::penniless(&shared(on).await, |_| {}).await;
    let quote = bank.any_quote().await;
    bank.pay(&quote.order()).await.refused(400, "insufficient_balance");
    // Funds in a coin other than the settlement coin do not count.
    bank.running
        .payments()
        .top_up(bank.tenant.id, StableCoin::Usdc, 1_000_000_000, "test")
        .await
        .expect("topped up");
    bank.pay(&quote.order()).await.refused(400, "insufficient_balance");
}

async fn a_refusal_for_want_of_money_leaves_no_trace(on: On) {
    let bank = Bank::penniless(&shared(on).await, |_| {}).await;
    bank.running
        .payments()
        .top_up(bank.tenant.id, StableCoin::Usdt, 1, "test")
        .await
        .expect("topped up");
    let quote = bank.any_quote().await;
    let before = (accounts(&bank).await, bank.events_after(0).await);
    let order = quote.order().text("external_id", "poor");
    let call = bank.pay_call(&order).header("idempotency-key", "poor");
    call.send().await.refused(400, "insufficient_balance");
    assert_eq!((accounts(&bank).await, bank.events_after(0).await), before);
    bank.get("/v2/payments/poor?country=PAK&external=true")
        .send()
        .await
        .refused(400, "payment_not_found");
    assert_eq!(bank.get("/v2/payments?country=PAK").send().await.ok().items().len(), 0);
    bank.running
        .payments()
        .top_up(bank.tenant.id, StableCoin::Usdt, 1_000_000_000, "test")
        .await
        .expect("topped up");
    let paid = bank.pay_call(&order).header("idempotency-key", "poor").send().await;
    assert_eq!(paid.header("idempotent-replayed"), None, "a refusal is not remembered");
    paid.ok();
}

async fn no_refusal_leaves_a_trace(on: On) {
    let bank =
        Bank::agreed(on, |policy| policy.countries.retain(|country| *country != Country::Npl))
            .await;
    let used = bank.any_quote().await;
    // Never settles, so nothing moves during the refusals.
    let stuck = used.order().text("external_id", "taken").ending(Country::Pak, "0005");
    let stuck = bank.pay(&stuck).await.ok()["id"].text().to_owned();
    bank.reaches(Country::Pak, &stuck, "processing").await;
    let (open, other) =
        (bank.any_quote().await, bank.quote(Country::Ind, Currency::Aed, "100").await);
    let order = || open.order().text("external_id", "refused");
    let traces = async || {
        let listed = bank.get("/v2/payments?country=PAK").send().await.ok();
        (accounts(&bank).await, bank.events_after(0).await, listed)
    };
    let before = traces().await;
    bank.pay(&order().without("beneficiary_name")).await.fault("body.beneficiary_name", "missing");
    bank.pay(&order().with("amount", "0.01")).await.fault("body.amount", "amount_mismatch");
    bank.pay(&order().text("external_id", "taken"))
        .await
        .fault("body.external_id", "external_id_conflict");
    bank.pay(&order().text("quote", used.id())).await.refused(400, "quote_used");
    bank.pay(&order().text("quote", "6f0c7ac6-53b5-4d3a-9d9e-0123456789ab"))
        .await
        .refused(400, "quote_not_found");
    bank.pay(&other.order().text("quote", open.id())).await.faults();
    bank.pay(&order().text("country", "NPL")).await.refused(403, "corridor_not_enabled");
    let keyless = bank.pay_call(&order()).without("authorization").send().await;
    let unkept = bank.pay_call(&order()).header("idempotency-key", "\u{e9}").send().await;
    assert_eq!((keyless.status, unkept.status), (401, 422));
    assert_eq!(traces().await, before);
    bank.get("/v2/payments/refused?country=PAK&external=true")
        .send()
        .await
        .refused(400, "payment_not_found");
    bank.pay(&order()).await.ok();
}

async fn money_is_reserved_booked_and_released_as_in_the_worked_example(on: On) {
    let bank = Bank::agreed(on, |policy| policy.margin_bps = 10).await;
    let all = 1_000_000_000_000;
    let (debit, amount, premium, cost) = (136_847_374, 136_007_355, 340_019, 500_000);
    // Never settles: the reservation remains.
    let quote = bank.quote(Country::Pak, Currency::Aed, "500").await;
    let stuck = bank.pay(&quote.order().ending(Country::Pak, "0005")).await.ok();
    bank.reaches(Country::Pak, stuck["id"].text(), "processing").await;
    assert_eq!(sums(&bank, "prefund:USDT").await, [debit, 0, 0, all]);
    assert_eq!(sums(&bank, "in_transit:USDT").await, [0, 0, debit, 0]);
    // Fails: the reservation is void.
    let quote = bank.quote(Country::Pak, Currency::Aed, "500").await;
    let failed = bank.pay(&quote.order().ending(Country::Pak, "0001")).await.ok();
    bank.reaches(Country::Pak, failed["id"].text(), "failed").await;
    assert_eq!(sums(&bank, "prefund:USDT").await, [debit, 0, 0, all]);
    // Succeeds: posted and split.
    let quote = bank.quote(Country::Pak, Currency::Aed, "500").await;
    let paid = bank.pay(&quote.order()).await.ok();
    bank.reaches(Country::Pak, paid["id"].text(), "succeeded").await;
    assert_eq!(sums(&bank, "prefund:USDT").await, [debit, debit, 0, all]);
    assert_eq!(sums(&bank, "in_transit:USDT").await, [0, debit, debit, debit]);
    assert_eq!(sums(&bank, "fx_position:USDT").await, [0, 0, 0, amount]);
    assert_eq!(sums(&bank, "fee_income:USDT").await, [0, 0, 0, premium]);
    assert_eq!(sums(&bank, "rail_cost:USDT").await, [0, 0, 0, cost]);
    assert_eq!(sums(&bank, "nostro:pak-raast:PKR").await, [0, 3_791_205, 0, 0]);
    assert_eq!(sums(&bank, "fx_position:PKR").await, [0, 0, 0, 3_791_205]);
}

async fn what_the_payable_step_cuts_off_goes_to_the_rounding_account(on: On) {
    let setup = Setup::new().set("corridors.PAK.step", "1");
    let bank = Bank::at_with(&setup.start(on).await, |policy| policy.margin_bps = 10).await;
    let quote = bank.quote(Country::Pak, Currency::Aed, "500").await;
    assert_eq!(
        (quote.0["amount_destination"].number(), quote.0["rate"].number()),
        ("37912", "75.824")
    );
    let paid = bank.pay(&quote.order()).await.ok();
    bank.reaches(Country::Pak, paid["id"].text(), "succeeded").await;
    assert_eq!(sums(&bank, "nostro:pak-raast:PKR").await, [0, 3_791_200, 0, 0]);
    assert_eq!(sums(&bank, "rounding:PKR").await, [0, 0, 0, 5]);
    assert_eq!(sums(&bank, "fx_position:PKR").await, [0, 5, 0, 3_791_200]);
    bank.finish().await;
}

async fn a_returned_payment_gives_back_the_exchanged_amount(on: On) {
    let bank = Bank::agreed(on, |policy| policy.margin_bps = 10).await;
    let quote = bank.quote(Country::Pak, Currency::Aed, "500").await;
    let paid = bank.pay(&quote.order().ending(Country::Pak, "0003")).await.ok();
    bank.reaches(Country::Pak, paid["id"].text(), "reversed").await;
    let (debit, amount, all) = (136_847_374, 136_007_355, 1_000_000_000_000);
    assert_eq!(sums(&bank, "prefund:USDT").await, [0, debit, 0, all + amount]);
    assert_eq!(sums(&bank, "fx_position:USDT").await, [0, amount, 0, amount]);
    assert_eq!(sums(&bank, "fx_position:PKR").await, [0, 3_791_205, 0, 3_791_205]);
    assert_eq!(sums(&bank, "nostro:pak-raast:PKR").await, [0, 3_791_205, 0, 3_791_205]);
    assert_eq!(sums(&bank, "fee_income:USDT").await, [0, 0, 0, 340_019], "premium and cost stay");
    assert_eq!(sums(&bank, "rail_cost:USDT").await, [0, 0, 0, 500_000]);
}

async fn the_whole_prefund_can_be_spent_and_not_a_unit_more(on: On) {
    let bank = Bank::penniless(&shared(on).await, |policy| policy.margin_bps = 10).await;
    let payments = bank.running.payments();
    payments
        .top_up(bank.tenant.id, StableCoin::Usdt, 136_847_373, "test")
        .await
        .expect("topped up");
    let quote = bank.quote(Country::Pak, Currency::Aed, "500").await;
    bank.pay(&quote.order()).await.refused(400, "insufficient_balance");
    payments.top_up(bank.tenant.id, StableCoin::Usdt, 1, "test").await.expect("topped up");
    let paid = bank.pay(&quote.order()).await.ok();
    bank.reaches(Country::Pak, paid["id"].text(), "succeeded").await;
    assert_eq!(sums(&bank, "prefund:USDT").await, [0, 136_847_374, 0, 136_847_374]);
}

async fn many_payments_at_once_never_overdraw_the_prefund(on: On) {
    let bank = Bank::penniless(&shared(on).await, |policy| policy.margin_bps = 10).await;
    // Enough for five of twelve.
    bank.running
        .payments()
        .top_up(bank.tenant.id, StableCoin::Usdt, 136_847_374 * 5 + 1, "test")
        .await
        .expect("topped up");
    let quotes = join_all((0..12).map(|_| bank.quote(Country::Pak, Currency::Aed, "500"))).await;
    let answers = join_all(quotes.iter().map(|quote| bank.pay_call(&quote.order()).send())).await;
    let accepted = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(accepted, 5, "{answers:?}");
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.refused(400, "insufficient_balance");
    }
}
