//! The risk check of incoming transactions: the effect and the report of each finding
//! (specification: "Events", risk_check.complete; `decisions.md`: "Risk", "Sandbox values").

use domain::chain::{Address, KeyRole};
use domain::currency::StableCoin;
use domain::deposit::DepositState;
use domain::payment_request::SenderDetails;
use domain::time::Span;
use domain::wallet_policy::{VelocityLimit, WalletPolicy};

use super::acts::{calls, id, sender, word};
use crate::harness::{Json, On, Setup, WalletBank, on_both_stores};

on_both_stores! {
    the_result_of_the_check_is_reported_with_all_fields
    each_result_has_its_level_and_its_next_action
    cents_of_a_fiat_amount_say_nothing
    cents_of_a_flexible_request_are_those_of_what_came
    a_listed_sender_is_refused_for_good_whatever_the_cents_say
    a_sender_whose_name_is_alike_is_for_a_person
    a_listed_payer_is_refused_for_good
    a_payer_on_a_coins_blacklist_is_refused_for_good
    more_than_the_kyc_level_allows_is_for_a_person
    more_than_is_approved_alone_is_for_a_person
    a_large_amount_of_an_unknown_sender_is_held_for_review
    too_many_within_a_day_are_for_a_person
    the_third_rejection_within_30_days_blocks_the_wallet
    lists_older_than_24_hours_approve_no_deposit
    a_decision_is_kept_with_lists_policy_and_evidence
}

/// The latest reported result about a subject.
async fn result(bank: &WalletBank, subject: &str) -> Json {
    let told = bank.told(subject, 2).await;
    let checked =
        told.iter().rev().find(|event| event["event_type"].text() == "risk_check.complete");
    checked.expect("it was checked")["data"].clone()
}

fn code(data: &Json) -> &str {
    data["decision_reason"].text().split(':').next().expect("a code")
}

/// A request in dollars, whose cents select no outcome; paid in USDC.
async fn dollars(bank: &WalletBank, wallet: &str, value: &str, who: SenderDetails) -> Json {
    let request = bank
        .asked(wallet, &format!(r#"{{"type":"fiat","value":"{value}","currency":"USD"}}"#), "")
        .await;
    bank.introduced(&request, who).await;
    bank.paid(&request, "").await;
    request
}

async fn provisioned(bank: &WalletBank, level: &str) -> String {
    let body = format!(
        r#"{{"customer_id":"{level}","customer_email":"c@example.com","customer_phone":"+923001234567","kyc_level":"{level}"}}"#
    );
    bank.post("/v1/sdk/wallets/provision", body).send().await.ok()["wallet_id"].text().to_owned()
}

async fn the_result_of_the_check_is_reported_with_all_fields(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("c-risk").await;
    let (request, _) = bank.deposit(&wallet, "25.00", "COMPLETED").await;
    let data = result(&bank, id(&request)).await;
    let names = [
        "payment_request_id",
        "wallet_id",
        "customer_id",
        "risk_check_result",
        "risk_score",
        "risk_level",
        "checks_performed",
        "decision_reason",
        "next_action",
        "transaction_id",
        "tx_hash",
    ];
    assert_eq!(data.names(), names);
    assert_eq!(
        (id(&data), data["wallet_id"].text(), data["customer_id"].text()),
        (id(&request), &*wallet, "c-risk")
    );
    let checks = r#"["ON_CHAIN_ANALYSIS","SANCTION_SCREENING","SOURCE_VERIFICATION"]"#;
    assert_eq!(data["checks_performed"].to_string(), checks);
    assert_eq!(data["decision_reason"].text(), "CHECKS_PASSED: All checks passed");
    assert!((0..=29).contains(&data["risk_score"].integer()));
}

async fn each_result_has_its_level_and_its_next_action(on: On) {
    let bank = WalletBank::agreed(on, |policy| policy.wallet.block_after_rejections = None).await;
    let wallet = bank.in_use("levels").await;
    for (amount, result_, level, scores, next) in [
        ("25.00", "APPROVED", "LOW", 0..=29, "TRANSFER_TO_WALLET"),
        ("25.02", "MANUAL_REVIEW_REQUIRED", "MEDIUM", 30..=59, "AWAIT_MANUAL_REVIEW"),
        ("25.01", "REJECTED", "HIGH", 60..=84, "HOLD_IN_ESCROW"),
        ("25.03", "BLOCKED", "CRITICAL", 85..=100, "WALLET_BLOCKED"),
    ] {
        let request = bank.request(&wallet, amount, "USDC").await;
        bank.paid(&request, "").await;
        let data = result(&bank, id(&request)).await;
        let told =
            [&data["risk_check_result"], &data["risk_level"], &data["next_action"]].map(Json::text);
        assert_eq!(told, [result_, level, next], "{amount}");
        assert!(scores.contains(&data["risk_score"].integer()), "{data}");
    }
    let blocked = bank.told(&wallet, 1).await;
    let data = &blocked[0]["data"];
    assert_eq!(
        (data["triggered_by"].text(), data["reason"].text()),
        ("AUTOMATIC", "RISK_THRESHOLD_EXCEEDED")
    );
    bank.books_are_right().await;
}

async fn cents_of_a_fiat_amount_say_nothing(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("fiat").await;
    for value in ["25.01", "25.02", "25.03", "25.04"] {
        dollars(&bank, &wallet, value, sender("Omar", "Testwell")).await;
    }
    bank.all_become(&wallet, 4, "COMPLETED").await;
    bank.books_are_right().await;
}

async fn cents_of_a_flexible_request_are_those_of_what_came(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("flexible").await;
    for (amount, status) in
        [("10.00", "COMPLETED"), ("10.01", "REJECTED"), ("10.02", "RECEIVED_IN_ESCROW")]
    {
        let request = bank.asked(&wallet, r#"{"type":"flexible"}"#, "").await;
        bank.paid(&request, &format!("?amount={amount}")).await;
        let data = result(&bank, id(&request)).await;
        let newest = bank.newest(&wallet, status).await;
        assert_eq!(newest["amount"].text(), amount, "{data}");
    }
}

async fn a_listed_sender_is_refused_for_good_whatever_the_cents_say(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("listed").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    bank.introduced(&request, sender("Zorblax", "Quibbleton")).await;
    bank.paid(&request, "").await;
    let refused = bank.newest_is(&wallet, DepositState::LegalHold).await;
    bank.newest(&wallet, "REJECTED").await;
    let data = result(&bank, id(&request)).await;
    assert_eq!(
        (data["risk_check_result"].text(), data["risk_level"].text()),
        ("REJECTED", "CRITICAL")
    );
    assert_eq!(
        data["decision_reason"].text(),
        "SANCTIONED_NAME: The transaction cannot be accepted"
    );
    let evidence = &refused.assessment.expect("assessed").evidence;
    assert!(evidence.iter().any(|item| item.contains("S-1")), "{evidence:?}");
    // No operator approves it.
    let answer = bank.decision_call(&refused.id.to_string(), "approve").send().await;
    let body = crate::harness::wallet_bank::refused(&answer, 409, "CONFLICT", None);
    assert_eq!(body["details"]["current_status"].text(), "REJECTED");
}

async fn a_sender_whose_name_is_alike_is_for_a_person(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("alike").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    bank.introduced(&request, sender("Zorblax", "Qibbletan")).await;
    bank.paid(&request, "").await;
    let review = bank.review(&wallet).await;
    assert_eq!(
        (review["risk_check_result"].text(), code(&review)),
        ("MANUAL_REVIEW_REQUIRED", "POSSIBLE_MATCH")
    );
    assert_eq!(review["sender"]["last_name"].text(), "Qibbletan");
}

async fn a_listed_payer_is_refused_for_good(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("payer").await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    let listed = Address::parse("0xbad0000000000000000000000000000000000002").expect("an address");
    bank.coins_of(listed, StableCoin::Usdc, request["escrow_address"].text(), 25_000_000).await;
    bank.newest_is(&wallet, DepositState::LegalHold).await;
    assert_eq!(code(&result(&bank, id(&request)).await), "SANCTIONED_ADDRESS");
    let shown = bank.newest(&wallet, "REJECTED").await;
    assert!(!shown.to_string().contains("SANCTION"), "the history does not say why: {shown}");
}

async fn a_payer_on_a_coins_blacklist_is_refused_for_good(on: On) {
    let bank = WalletBank::alone(on, Setup::with_wallets()).await;
    let wallet = bank.in_use("flagged").await;
    let payer = Address([0x66; 20]);
    let usdt = bank.token(StableCoin::Usdt);
    let request = bank.request(&wallet, "25.00", "USDC").await;
    bank.acts(bank.minter(), usdt, calls("addBlackList(address)", &[word(payer)]));
    bank.coins_of(payer, StableCoin::Usdc, request["escrow_address"].text(), 25_000_000).await;
    bank.newest_is(&wallet, DepositState::LegalHold).await;
    assert_eq!(code(&result(&bank, id(&request)).await), "FLAGGED_ADDRESS");
    bank.finish().await;
}

async fn more_than_the_kyc_level_allows_is_for_a_person(on: On) {
    let bank = WalletBank::agreed(on, |policy| policy.wallet.velocity = None).await;
    for (level, within, above) in
        [("BASIC", "1000.00", "1000.01"), ("ENHANCED", "10000.00", "10000.01")]
    {
        let wallet = provisioned(&bank, level).await;
        dollars(&bank, &wallet, within, sender("Omar", "Testwell")).await;
        bank.newest(&wallet, "COMPLETED").await;
        dollars(&bank, &wallet, above, sender("Omar", "Testwell")).await;
        assert_eq!(code(&bank.review(&wallet).await), "KYC_LIMIT_EXCEEDED", "{level}");
    }
}

async fn more_than_is_approved_alone_is_for_a_person(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = provisioned(&bank, "COMPREHENSIVE").await;
    dollars(&bank, &wallet, "10000.01", sender("Omar", "Testwell")).await;
    let review = bank.review(&wallet).await;
    assert_eq!((code(&review), review["risk_level"].text()), ("AMOUNT_ABOVE_LIMIT", "MEDIUM"));
}

async fn a_large_amount_of_an_unknown_sender_is_held_for_review(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = provisioned(&bank, "COMPREHENSIVE").await;
    dollars(&bank, &wallet, "999.99", SenderDetails::default()).await;
    bank.newest(&wallet, "COMPLETED").await;
    let implausible = SenderDetails { last_name: Some("4711".to_owned()), ..sender("Omar", "") };
    dollars(&bank, &wallet, "1000.00", implausible).await;
    assert_eq!(code(&bank.review(&wallet).await), "SENDER_UNVERIFIED");
}

async fn too_many_within_a_day_are_for_a_person(on: On) {
    let velocity = Some(VelocityLimit { count: 2, minor: 1_000_000_000 });
    let bank = WalletBank::agreed(on, |policy| {
        policy.wallet = WalletPolicy { velocity, ..WalletPolicy::default() }
    })
    .await;
    let wallet = provisioned(&bank, "COMPREHENSIVE").await;
    for count in [1, 2] {
        dollars(&bank, &wallet, "10.00", sender("Omar", "Testwell")).await;
        bank.all_become(&wallet, count, "COMPLETED").await;
    }
    dollars(&bank, &wallet, "10.00", sender("Omar", "Testwell")).await;
    assert_eq!(code(&bank.review(&wallet).await), "VELOCITY_EXCEEDED");
    // A sandbox's cents take precedence over velocity and limits.
    let request = bank.request(&wallet, "10.00", "USDC").await;
    bank.paid(&request, "").await;
    bank.newest(&wallet, "COMPLETED").await;
}

async fn the_third_rejection_within_30_days_blocks_the_wallet(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("thrice").await;
    let mut last = Json::Null;
    for count in [1, 2, 3] {
        last = bank.request(&wallet, "25.00", "USDC").await;
        let listed =
            Address::parse("0xbad0000000000000000000000000000000000002").expect("an address");
        bank.coins_of(listed, StableCoin::Usdc, last["escrow_address"].text(), 25_000_000).await;
        bank.all_become(&wallet, count, "REJECTED").await;
    }
    bank.wallet_becomes(&wallet, "BLOCKED").await;
    let data = result(&bank, id(&last)).await;
    assert_eq!(
        (data["risk_check_result"].text(), data["next_action"].text()),
        ("BLOCKED", "WALLET_BLOCKED")
    );
    assert_eq!((code(&data), data["risk_level"].text()), ("REPEATED_REJECTIONS", "CRITICAL"));
    bank.newest_is(&wallet, DepositState::LegalHold).await;
    let blocked = &bank.told(&wallet, 1).await[0]["data"];
    assert_eq!(
        (blocked["reason"].text(), blocked["triggered_by"].text()),
        ("RISK_THRESHOLD_EXCEEDED", "AUTOMATIC")
    );
}

async fn lists_older_than_24_hours_approve_no_deposit(on: On) {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("list.csv");
    let list = "#corridor-sanctions name=TEST published=2026-11-01\nuid,kind,name,aliases,weak_aliases,birthdates,countries,addresses\nT-1,person,Unrelated Person,,,,,\n";
    std::fs::write(&file, list).expect("written");
    let lists = format!("[{{ locations = [\"{}\"] }}]", file.display());
    let bank = WalletBank::alone(on, Setup::with_wallets().set("screening.lists", &lists)).await;
    let wallet = bank.wallet("outdated").await;
    bank.deposit(&wallet, "25.00", "COMPLETED").await;
    // The list cannot be reloaded.
    std::fs::remove_file(&file).expect("removed");
    bank.later(Span::hours(25)).await;
    let request = bank.request(&wallet, "25.00", "USDC").await;
    bank.paid(&request, "").await;
    let review = bank.review(&wallet).await;
    assert_eq!(
        (code(&review), review["risk_check_result"].text()),
        ("LISTS_OUTDATED", "MANUAL_REVIEW_REQUIRED")
    );
    bank.finish().await;
}

async fn a_decision_is_kept_with_lists_policy_and_evidence(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("kept").await;
    let request = bank.request(&wallet, "25.02", "USDC").await;
    bank.paid(&request, "").await;
    let review = bank.review(&wallet).await;
    assert!(review["list_version"].text().contains("SAMPLE"), "{review}");
    assert_eq!(review["policy_version"].text(), "1");
    assert_eq!(review["evidence"].to_string(), r#"["SANDBOX_VALUE: cents of the amount"]"#);
    assert_eq!(id(&review), id(&request));
    assert_eq!(Address::parse(review["from_address"].text()), Some(bank.minter()));
    let keys = bank.bank.running.chain().signer.address(bank.bank.tenant.id, KeyRole::Operator);
    assert_ne!(keys.ok(), Some(bank.minter()), "the payer is none of our keys");
}
