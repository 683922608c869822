//! Unexpected payments: partial, excess, another coin, an unsupported token, straight to the wallet
//! (`decisions.md`: "Payment request", "Incoming transaction").

use domain::chain::vault;
use domain::currency::StableCoin;
use domain::deposit::DepositState;
use domain::wallet_effects::AlertKind;
use testkit::wait::AT_MOST;

use super::acts::{id, number, word};
use crate::harness::wallet_bank::refused;
use crate::harness::{On, WalletBank, on_both_stores};

on_both_stores! {
    each_part_is_screened_and_released_on_its_own
    what_comes_after_paid_makes_it_overpaid
    the_other_coin_is_the_wrong_asset_and_for_a_person
    a_refused_wrong_asset_stays_in_escrow
    coins_straight_to_the_wallet_are_blocked_until_screened
    coins_straight_to_the_wallet_may_be_refused
    an_unsupported_token_is_reported_once_and_never_credited
    many_transfers_of_one_worthless_token_leave_room_for_others
    transfers_of_nothing_are_no_payments
}

async fn each_part_is_screened_and_released_on_its_own(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("parts").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    bank.paid(&request, "?amount=10.00").await;
    bank.all_become(&wallet, 1, "COMPLETED").await;
    let partial = bank.becomes(&wallet, &request, "ACTIVE", "PARTIAL").await;
    assert_eq!(
        (partial["amount_received"].text(), partial["amount_due"].text()),
        ("10.00", "15.00")
    );
    assert_eq!(
        bank.balance(&wallet, "USDC").await,
        "10.00",
        "a part is the customer's before the rest has come"
    );
    bank.paid(&request, "?amount=15.00").await;
    bank.all_become(&wallet, 2, "COMPLETED").await;
    bank.becomes(&wallet, &request, "PAID", "NONE").await;
    let told = bank.webhooks(id(&request), 6).await;
    for event in super::acts::THROUGH {
        assert_eq!(told.iter().filter(|told| *told == event).count(), 2, "{told:?}");
    }
    bank.books_are_right().await;
}

async fn what_comes_after_paid_makes_it_overpaid(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("again").await;
    let (request, _) = bank.deposit(&wallet, "25.00", "COMPLETED").await;
    let paid = bank.becomes(&wallet, &request, "PAID", "NONE").await;
    bank.paid(&request, "").await;
    let over = bank.becomes(&wallet, &request, "PAID", "OVERPAID").await;
    assert_eq!(over["paid_at"], paid["paid_at"]);
    assert_eq!((over["amount_received"].text(), over["amount_due"].text()), ("50.00", "0.00"));
    bank.all_become(&wallet, 2, "COMPLETED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "50.00");
}

async fn the_other_coin_is_the_wrong_asset_and_for_a_person(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("other").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    bank.paid(&request, "?currency=USDT&amount=25.00").await;
    let listed = bank.becomes(&wallet, &request, "ACTIVE", "WRONG_ASSET").await;
    assert_eq!((listed["amount_received"].text(), listed["amount_due"].text()), ("0.00", "25.00"));
    assert_eq!(listed["received"][1].to_string(), r#"{"currency":"USDT","amount":"25.00"}"#);
    let review = bank.review(&wallet).await;
    assert_eq!(review["risk_check_result"].text(), "MANUAL_REVIEW_REQUIRED");
    assert_eq!(review["decision_reason"].text().split(':').next(), Some("WRONG_ASSET"));
    bank.decide(&review, "approve").await;
    bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(bank.balance(&wallet, "USDT").await, "25.00");
    // The requested amount may still arrive.
    bank.paid(&request, "").await;
    bank.all_become(&wallet, 2, "COMPLETED").await;
    bank.becomes(&wallet, &request, "PAID", "WRONG_ASSET").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "25.00");
    bank.books_are_right().await;
}

async fn a_refused_wrong_asset_stays_in_escrow(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("refused").await;
    let request = bank.request(&wallet, "25.00", "USDT").await;
    bank.paid(&request, "?currency=USDC&amount=25.00").await;
    let review = bank.review(&wallet).await;
    bank.decide(&review, "reject").await;
    let rejected = bank.newest(&wallet, "REJECTED").await;
    assert_eq!((rejected["currency"].text(), rejected["type"].text()), ("USDC", "RECEIVED"));
    assert_eq!(bank.holds(StableCoin::Usdc, &bank.escrow(&request).await).await, 25_000_000);
    assert_eq!(bank.balance(&wallet, "USDC").await, "0.00");
}

async fn coins_straight_to_the_wallet_are_blocked_until_screened(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("direct").await;
    let address = bank.address(&wallet).await;
    // The cents of the received amount select a review.
    bank.coins(StableCoin::Usdc, &address, 30_020_000).await;
    bank.newest_is(&wallet, DepositState::InReview).await;
    let blocked = bank.transactions(&wallet, "&type=BLOCKED").await;
    assert_eq!(blocked.len(), 1);
    assert_eq!((blocked[0]["type"].text(), blocked[0]["amount"].text()), ("BLOCKED", "30.02"));
    assert_eq!(bank.balance(&wallet, "USDC").await, "0.00", "not spendable until screened");
    refused(&bank.order_call(&wallet, "10.00", "").send().await, 422, "INSUFFICIENT_BALANCE", None);
    assert!(bank.alerts().await.contains(&AlertKind::DirectDeposit.name()));
    let review = bank.review(&wallet).await;
    assert_eq!(review["payment_request_id"].to_string(), "null");
    bank.decide(&review, "approve").await;
    let done = bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(done["type"].text(), "RECEIVED");
    assert_eq!(bank.balance(&wallet, "USDC").await, "30.02");
    assert_eq!(
        bank.holds(StableCoin::Usdc, &address).await,
        30_020_000,
        "it was there all the time"
    );
    // Reported for the wallet: there is no request.
    let told = bank.told(&wallet, 2).await;
    let types: Vec<&str> = told.iter().map(|event| event["event_type"].text()).collect();
    assert_eq!(types, ["risk_check.complete", "risk_check.complete"]);
    assert_eq!(told[0]["data"]["payment_request_id"].to_string(), "null");
    bank.books_are_right().await;
}

async fn coins_straight_to_the_wallet_may_be_refused(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("direct").await;
    bank.coins(StableCoin::Usdt, &bank.address(&wallet).await, 30_010_000).await;
    let rejected = bank.newest(&wallet, "REJECTED").await;
    assert_eq!(rejected["type"].text(), "BLOCKED");
    assert_eq!(bank.balance(&wallet, "USDT").await, "0.00");
    let told = bank.told(&wallet, 2).await;
    assert_eq!(told[1]["event_type"].text(), "transaction.failed");
    assert_eq!(told[1]["data"]["failure_reason"].text(), "COMPLIANCE_REJECTED");
    bank.books_are_right().await;
}

/// Contract code that, when deployed, emits a transfer of this amount and does nothing else.
fn says_transfer(from: [u8; 32], to: [u8; 32], value: u64) -> Vec<u8> {
    const PUSH32: u8 = 0x7f;
    const LOG3: u8 = 0xa3;
    let topic = vault::hash(&[b"Transfer(address,address,uint256)"]).0;
    // mstore(0, value); log3(0, 32, topic, from, to); stop
    let mut code = [&[PUSH32][..], &number(value), &[0x60, 0x00, 0x52]].concat();
    for word in [to, from, topic] {
        code.push(PUSH32);
        code.extend(word);
    }
    code.extend([0x60, 0x20, 0x60, 0x00, LOG3, 0x00]);
    code
}

async fn an_unsupported_token_is_reported_once_and_never_credited(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("unsupported").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let escrow =
        domain::chain::Address::parse(request["escrow_address"].text()).expect("an address");
    let stranger = domain::chain::Address([0x77; 20]);
    for value in [25_000_000, 26_000_000] {
        let code = says_transfer(word(stranger), word(escrow), value);
        bank.devchain().deploy(stranger.0.into(), code).expect("deployed");
    }
    let store = bank.bank.running.store();
    let recorded =
        || async { store.unsupported_assets(bank.bank.tenant.id, 10).await.expect("read") };
    let there = testkit::wait::until_async(AT_MOST, || async { recorded().await.len() == 2 }).await;
    assert!(there, "{:?}", recorded().await);
    assert!(
        recorded()
            .await
            .iter()
            .all(|asset| asset.from == stranger && asset.vault.address == escrow)
    );
    // One alert for all of them and no webhook: anyone can send such tokens.
    let alerted = || async {
        bank.alerts()
            .await
            .iter()
            .filter(|kind| **kind == AlertKind::UnsupportedAsset.name())
            .count()
    };
    assert!(
        testkit::wait::until_async(AT_MOST, || async { alerted().await == 1 }).await,
        "{:?}",
        bank.alerts().await
    );
    assert!(bank.receiver.book().taken_about(id(&request)).is_empty());
    assert!(bank.transactions(&wallet, "").await.is_empty());
    // The request is unchanged, and the token is not reported again.
    bank.paid(&request, "").await;
    bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(bank.webhooks(id(&request), 3).await[..], super::acts::THROUGH);
    bank.becomes(&wallet, &request, "PAID", "NONE").await;
}

async fn many_transfers_of_one_worthless_token_leave_room_for_others(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("spammed").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let escrow =
        domain::chain::Address::parse(request["escrow_address"].text()).expect("an address");
    let stranger = domain::chain::Address([0x79; 20]);
    let says = |value| says_transfer(word(stranger), word(escrow), value);
    let one = says(1);
    let mut many = one[..one.len() - 1].repeat(105);
    many.push(0x00);
    for code in [many, says(7)] {
        bank.devchain().deploy(stranger.0.into(), code).expect("deployed");
    }
    bank.paid(&request, "").await;
    bank.newest(&wallet, "COMPLETED").await;
    let assets = bank
        .bank
        .running
        .store()
        .unsupported_assets(bank.bank.tenant.id, 1_000)
        .await
        .expect("read");
    let of = |value| assets.iter().filter(|asset| asset.value == value).count();
    assert_eq!((of(1), of(7)), (100, 1), "{}", assets.len());
}

async fn transfers_of_nothing_are_no_payments(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("nothing").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let stranger = domain::chain::Address([0x78; 20]);
    let escrow =
        domain::chain::Address::parse(request["escrow_address"].text()).expect("an address");
    let nothing = super::acts::calls("transfer(address,uint256)", &[word(escrow), number(0)]);
    bank.acts(stranger, bank.token(StableCoin::Usdc), nothing);
    bank.paid(&request, "").await;
    bank.all_become(&wallet, 1, "COMPLETED").await;
}
