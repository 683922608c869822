//! Deposits held for review, and the effect of each decision (`decisions.md`: "Additions", "Risk").

use domain::deposit::DepositState;

use super::acts::{MISSING, id};
use crate::harness::client::instant;
use crate::harness::wallet_bank::refused;
use crate::harness::{Json, On, WalletBank, on_both_stores};

on_both_stores! {
    a_review_shows_all_that_is_known
    approve_lets_the_money_go_to_the_wallet
    reject_keeps_it_in_escrow_and_tells_so
    legal_hold_keeps_it_for_good
    a_rejected_one_may_be_kept_for_good_later
    block_refuses_it_and_blocks_the_wallet
    a_decision_is_made_once
    what_needs_no_decision_takes_none
    nothing_is_approved_for_a_blocked_wallet
    a_foreign_review_is_not_found
}

/// A request, and its payment held for review.
async fn waiting(bank: &WalletBank, wallet: &str) -> (Json, Json) {
    let request = bank.request(wallet, "25.02", "USDC").await;
    bank.paid(&request, "").await;
    (request, bank.review(wallet).await)
}

async fn a_review_shows_all_that_is_known(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("shows").await;
    let (request, review) = waiting(&bank, &wallet).await;
    let names = [
        "transaction_id",
        "wallet_id",
        "payment_request_id",
        "amount",
        "currency",
        "status",
        "timestamp",
        "from_address",
        "sender",
        "tx_hash",
        "blockchain_explorer_url",
        "risk_check_result",
        "risk_score",
        "risk_level",
        "checks_performed",
        "decision_reason",
        "evidence",
        "list_version",
        "policy_version",
        "assessed_at",
        "decision",
        "decided_by",
        "note",
        "decided_at",
    ];
    assert_eq!(review.names(), names);
    assert_eq!((id(&review), review["wallet_id"].text()), (id(&request), &*wallet));
    assert_eq!((review["amount"].text(), review["currency"].text()), ("25.02", "USDC"));
    assert_eq!(review["status"].text(), "RECEIVED_IN_ESCROW");
    assert_eq!(review["sender"]["first_name"].text(), "Sandbox");
    assert_eq!(review["decision"].to_string(), "null");
}

async fn approve_lets_the_money_go_to_the_wallet(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("approve").await;
    let (request, review) = waiting(&bank, &wallet).await;
    let decided = bank.decide(&review, "approve").await;
    assert_eq!((decided["decision"].text(), decided["note"].text()), ("approve", "looked at"));
    assert!(decided["decided_by"].text().contains("wallet"), "{decided}");
    instant(&decided["decided_at"]);
    bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "25.02");
    let told = bank.told(id(&request), 4).await;
    let types: Vec<&str> = told.iter().map(|event| event["event_type"].text()).collect();
    assert_eq!(
        types,
        ["payment.received", "risk_check.complete", "risk_check.complete", "transfer.complete"]
    );
    let approved = &told[2]["data"];
    assert_eq!(approved["risk_check_result"].text(), "APPROVED");
    assert_eq!(approved["decision_reason"].text(), "REVIEW_APPROVED: Approved after review");
    assert_eq!(approved["next_action"].text(), "TRANSFER_TO_WALLET");
}

/// The last webhook of a payment that was rejected in review.
async fn refusal(bank: &WalletBank, request: &Json) -> Json {
    let told = bank.told(id(request), 4).await;
    let types: Vec<&str> = told.iter().map(|event| event["event_type"].text()).collect();
    assert_eq!(
        types,
        ["payment.received", "risk_check.complete", "risk_check.complete", "transaction.failed"]
    );
    assert_eq!(told[3]["data"]["failure_reason"].text(), "COMPLIANCE_REJECTED");
    assert!(told[2]["data"]["decision_reason"].text().starts_with("REVIEW_REJECTED: "));
    told[2]["data"].clone()
}

async fn reject_keeps_it_in_escrow_and_tells_so(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("reject").await;
    let (request, review) = waiting(&bank, &wallet).await;
    let decided = bank.decide(&review, "reject").await;
    assert_eq!((decided["status"].text(), decided["decision"].text()), ("REJECTED", "reject"));
    assert_eq!(refusal(&bank, &request).await["risk_check_result"].text(), "REJECTED");
    bank.newest_is(&wallet, DepositState::Rejected).await;
    assert_eq!(
        bank.holds(domain::currency::StableCoin::Usdc, &bank.escrow(&request).await).await,
        25_020_000
    );
    assert_eq!(bank.balance(&wallet, "USDC").await, "0.00");
    bank.books_are_right().await;
}

async fn legal_hold_keeps_it_for_good(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("legal").await;
    let (request, review) = waiting(&bank, &wallet).await;
    assert_eq!(bank.decide(&review, "legal_hold").await["status"].text(), "REJECTED");
    bank.newest_is(&wallet, DepositState::LegalHold).await;
    refusal(&bank, &request).await;
}

async fn a_rejected_one_may_be_kept_for_good_later(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("later").await;
    let (request, transaction) = bank.deposit(&wallet, "25.01", "REJECTED").await;
    bank.webhooks(id(&request), 3).await;
    bank.decide(&transaction, "legal_hold").await;
    bank.newest_is(&wallet, DepositState::LegalHold).await;
    assert_eq!(
        bank.webhooks(id(&request), 3).await.len(),
        3,
        "its status is unchanged: no webhook"
    );
}

async fn block_refuses_it_and_blocks_the_wallet(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("block").await;
    let (request, review) = waiting(&bank, &wallet).await;
    assert_eq!(bank.decide(&review, "block").await["status"].text(), "REJECTED");
    let data = refusal(&bank, &request).await;
    assert_eq!(
        (data["risk_check_result"].text(), data["next_action"].text()),
        ("BLOCKED", "WALLET_BLOCKED")
    );
    bank.wallet_becomes(&wallet, "BLOCKED").await;
    let blocked = &bank.told(&wallet, 1).await[0]["data"];
    assert_eq!(
        (blocked["reason"].text(), blocked["triggered_by"].text()),
        ("SUSPICIOUS_ACTIVITY", "MANUAL")
    );
}

async fn a_decision_is_made_once(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("once").await;
    let (_, review) = waiting(&bank, &wallet).await;
    bank.decide(&review, "reject").await;
    for decision in ["approve", "reject", "block"] {
        let answer = bank.decision_call(review["transaction_id"].text(), decision).send().await;
        assert_eq!(
            refused(&answer, 409, "CONFLICT", None)["details"]["current_status"].text(),
            "REJECTED"
        );
    }
    assert_eq!(bank.balance(&wallet, "USDC").await, "0.00");
}

async fn what_needs_no_decision_takes_none(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("done").await;
    let (_, transaction) = bank.deposit(&wallet, "25.00", "COMPLETED").await;
    let transaction = transaction["transaction_id"].text();
    for decision in ["approve", "reject", "legal_hold", "block"] {
        let answer = bank.decision_call(transaction, decision).send().await;
        assert_eq!(
            refused(&answer, 409, "CONFLICT", None)["details"]["current_status"].text(),
            "COMPLETED"
        );
    }
    let shown = bank.get(&format!("/v1/sdk/reviews/{transaction}")).send().await.ok();
    assert_eq!(
        (shown["status"].text(), shown["risk_check_result"].text()),
        ("COMPLETED", "APPROVED")
    );
}

async fn nothing_is_approved_for_a_blocked_wallet(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("frozen").await;
    let (_, review) = waiting(&bank, &wallet).await;
    let block = r#"{"reason":"PENDING_INVESTIGATION","details":"A test"}"#;
    bank.post(&format!("/v1/sdk/wallets/{wallet}/block"), block).send().await.ok();
    let answer = bank.decision_call(review["transaction_id"].text(), "approve").send().await;
    let body = refused(&answer, 422, "VALIDATION_FAILED", None);
    assert_eq!(body["details"]["wallet_status"].text(), "BLOCKED");
    bank.decide(&review, "reject").await;
    bank.newest(&wallet, "REJECTED").await;
}

async fn a_foreign_review_is_not_found(on: On) {
    let (bank, other) = (WalletBank::new(on).await, WalletBank::new(on).await);
    let wallet = other.wallet("theirs").await;
    let (_, review) = waiting(&other, &wallet).await;
    for transaction in [review["transaction_id"].text(), MISSING, "no-id"] {
        let shown = bank.get(&format!("/v1/sdk/reviews/{transaction}")).send().await;
        refused(&shown, 404, "NOT_FOUND", Some("transaction_id"));
        let decided = bank.decision_call(transaction, "approve").send().await;
        refused(&decided, 404, "NOT_FOUND", Some("transaction_id"));
    }
    let listed = bank.get("/v1/sdk/reviews").send().await.ok();
    assert!(listed["reviews"].items().is_empty());
    other.newest_is(&wallet, DepositState::InReview).await;
}
