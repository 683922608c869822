//! Incoming transactions, from the payment of a link to the wallet or another outcome
//! (specification: "Incoming transaction"; `decisions.md`: "Sandbox values").

use domain::currency::StableCoin;

use super::acts::{THROUGH, id};
use crate::harness::{On, WalletBank, on_both_stores};

on_both_stores! {
    a_payment_goes_through_escrow_and_screening_into_the_wallet
    the_cents_01_are_rejected_and_stay_in_escrow
    the_cents_02_wait_for_a_person
    the_cents_03_block_the_wallet
    the_cents_04_fail_on_the_chain_and_stay_in_escrow
    other_cents_are_approved
    half_of_it_leaves_the_request_active
    twice_as_much_is_overpaid
    a_one_block_reorganisation_credits_once
    both_coins_are_received
}

async fn a_payment_goes_through_escrow_and_screening_into_the_wallet(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("main").await;
    let (request, transaction) = bank.deposit(&wallet, "25.00", "COMPLETED").await;
    assert_eq!(transaction["type"].text(), "RECEIVED");
    assert_eq!((transaction["amount"].text(), transaction["currency"].text()), ("25.00", "USDC"));
    assert_eq!(transaction["sender"]["custodial_provider"].text(), "Sandbox Exchange");
    assert_eq!(bank.balance(&wallet, "USDC").await, "25.00");
    assert_eq!(bank.webhooks(id(&request), 3).await, THROUGH);
    // The wallet shows the chain's balance.
    let running = &bank.bank.running;
    let shown = bank.get(&format!("/v1/sdk/wallets/{wallet}")).send().await.ok();
    let address =
        domain::chain::Address::parse(shown["wallet_address"].text()).expect("an address");
    let chain = running.chain();
    let token = chain.config.token(domain::currency::StableCoin::Usdc).expect("USDC");
    assert_eq!(chain.chain.token_balance(token, address).await, Ok(25_000_000));
    let listed =
        bank.get(&format!("/v1/sdk/payment-requests?wallet_id={wallet}")).send().await.ok();
    let listed = &listed["payment_requests"].items()[0];
    assert_eq!((listed["status"].text(), listed["exception"].text()), ("PAID", "NONE"));
    assert!(listed.get("escrow_address").is_none() && listed.get("qr_code_url").is_none());
}

async fn the_cents_01_are_rejected_and_stay_in_escrow(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("rejected").await;
    let (request, _) = bank.deposit(&wallet, "25.01", "REJECTED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "0.00");
    let told = bank.webhooks(request["payment_request_id"].text(), 3).await;
    assert_eq!(told, ["payment.received", "risk_check.complete", "transaction.failed"]);
}

async fn the_cents_02_wait_for_a_person(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("review").await;
    let (_, transaction) = bank.deposit(&wallet, "25.02", "RECEIVED_IN_ESCROW").await;
    let id = transaction["transaction_id"].text();
    let waiting = bank
        .once("/v1/sdk/reviews", |page| {
            page["reviews"]
                .items()
                .iter()
                .find(|review| review["transaction_id"].text() == id)
                .cloned()
        })
        .await;
    assert_eq!(waiting["transaction_id"].text(), id);
    bank.post(
        &format!("/v1/sdk/reviews/{id}"),
        r#"{"decision":"approve","reason":"known sender"}"#,
    )
    .send()
    .await
    .ok();
    bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "25.02");
}

async fn the_cents_03_block_the_wallet(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("blocked").await;
    let request = bank.request(&wallet, "25.03", "USDC").await;
    bank.paid(&request, "").await;
    let path = format!("/v1/sdk/wallets/{wallet}");
    bank.once(&path, |shown| (shown["status"].text() == "BLOCKED").then(|| shown.clone())).await;
    let told = bank.webhooks(&wallet, 1).await;
    assert_eq!(told, ["wallet.blocked"]);
    assert_eq!(bank.balance(&wallet, "USDC").await, "0.00");
}

async fn the_cents_04_fail_on_the_chain_and_stay_in_escrow(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("fails").await;
    let (request, failed) = bank.deposit(&wallet, "25.04", "FAILED").await;
    assert_eq!(failed["type"].text(), "RECEIVED");
    let told = bank.told(id(&request), 3).await;
    let types: Vec<&str> = told.iter().map(|event| event["event_type"].text()).collect();
    assert_eq!(types, ["payment.received", "risk_check.complete", "transaction.failed"]);
    assert_eq!(told[1]["data"]["risk_check_result"].text(), "APPROVED");
    assert_eq!(told[2]["data"]["failure_reason"].text(), "ON_CHAIN_REVERT");
    assert_eq!(bank.holds(StableCoin::Usdc, &bank.escrow(&request).await).await, 25_040_000);
    assert_eq!(bank.balance(&wallet, "USDC").await, "0.00");
    bank.books_are_right().await;
}

async fn other_cents_are_approved(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("others").await;
    // Only cents count: .0199 is .01 and a little.
    for amount in ["1.00", "1.09", "1.10", "1.50", "1.99", "1.001", "0.20"] {
        let request = bank.request(&wallet, amount, "USDC").await;
        bank.paid(&request, "").await;
    }
    bank.all_become(&wallet, 7, "COMPLETED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "7.881");
    let request = bank.request(&wallet, "1.0199", "USDC").await;
    bank.paid(&request, "").await;
    bank.newest(&wallet, "REJECTED").await;
}

async fn half_of_it_leaves_the_request_active(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("half").await;
    let (_, transaction) = bank.deposit(&wallet, "25.05", "COMPLETED").await;
    assert_eq!(transaction["amount"].text(), "12.525");
    let listed =
        bank.get(&format!("/v1/sdk/payment-requests?wallet_id={wallet}")).send().await.ok();
    let listed = &listed["payment_requests"].items()[0];
    assert_eq!((listed["status"].text(), listed["exception"].text()), ("ACTIVE", "PARTIAL"));
    assert_eq!(
        (listed["amount_received"].text(), listed["amount_due"].text()),
        ("12.525", "12.525")
    );
}

async fn twice_as_much_is_overpaid(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("double").await;
    let (_, transaction) = bank.deposit(&wallet, "25.06", "COMPLETED").await;
    assert_eq!(transaction["amount"].text(), "50.12");
    let listed = bank
        .get(&format!("/v1/sdk/payment-requests?wallet_id={wallet}&status=PAID"))
        .send()
        .await
        .ok();
    assert_eq!(listed["payment_requests"].items()[0]["exception"].text(), "OVERPAID");
}

async fn a_one_block_reorganisation_credits_once(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("reorganised").await;
    bank.deposit(&wallet, "25.08", "COMPLETED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "25.08");
    let page = bank.get(&format!("/v1/sdk/transactions?wallet_id={wallet}")).send().await.ok();
    assert_eq!(page["pagination"]["total_count"].number(), "1");
}

async fn both_coins_are_received(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("coins").await;
    let request = bank.request(&wallet, "10.00", "USDT").await;
    bank.paid(&request, "").await;
    let transaction = bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(transaction["currency"].text(), "USDT");
    assert_eq!(bank.balance(&wallet, "USDT").await, "10.00");
    assert_eq!(bank.balance(&wallet, "USDC").await, "0.00");
}
