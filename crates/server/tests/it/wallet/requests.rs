//! Payment requests: amounts, responses, lists and cancelling (specification: "Payment request",
//! "POST /v1/sdk/payment-requests"; `decisions.md`: "Payment request", "Amounts", "Bounds").

use domain::chain::Address;
use domain::time::Span;

use super::acts::{THROUGH, id};
use crate::harness::client::instant;
use crate::harness::wallet_bank::refused;
use crate::harness::{On, WalletBank, on_both_stores};

on_both_stores! {
    a_created_request_is_shown_with_these_fields
    a_link_expires_after_24_hours_or_as_asked
    a_request_of_any_kind_is_shown_as_it_was_asked
    fiat_fixes_the_coins_when_the_request_is_made
    a_flexible_request_is_paid_by_the_first_payment
    an_active_request_is_cancelled_once
    a_paid_request_cannot_be_cancelled
    money_for_a_cancelled_request_still_reaches_the_wallet
}

const CRYPTO: &str = r#"{"type":"crypto","value":"25.5","currency":"USDC"}"#;
const FLEXIBLE: &str = r#"{"type":"flexible"}"#;

async fn a_created_request_is_shown_with_these_fields(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("fields").await;
    let made = bank.asked(&wallet, CRYPTO, r#","purpose":"Rent""#).await;
    let names = [
        "payment_request_id",
        "payment_link",
        "qr_code_url",
        "escrow_address",
        "amount",
        "status",
        "created_at",
        "expires_at",
    ];
    assert_eq!(made.names(), names);
    assert_eq!(made["amount"].names(), ["type", "value", "currency"]);
    assert_eq!(made["amount"]["value"].text(), "25.50");
    assert_eq!(made["status"].text(), "ACTIVE");
    let escrow = Address::parse(made["escrow_address"].text()).expect("an address");
    assert_ne!(
        escrow.to_string(),
        bank.address(&wallet).await,
        "a proxy, not the recipient's wallet"
    );
    let another = bank.asked(&wallet, CRYPTO, "").await;
    assert_ne!(another["escrow_address"], made["escrow_address"], "each request has its own");
    let listed = bank.listed(&wallet, &made).await;
    let names = [
        "payment_request_id",
        "payment_link",
        "amount",
        "status",
        "created_at",
        "expires_at",
        "amount_received",
        "amount_due",
        "received",
        "paid_at",
        "exception",
        "amount_released",
    ];
    assert_eq!(listed.names(), names);
    assert_eq!((listed["amount_received"].text(), listed["amount_due"].text()), ("0.00", "25.50"));
    assert_eq!(
        (listed["paid_at"].to_string().as_str(), listed["exception"].text()),
        ("null", "NONE")
    );
}

async fn a_link_expires_after_24_hours_or_as_asked(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("expiry").await;
    for (more, hours) in
        [("", 24), (r#","expires_in_hours":1"#, 1), (r#","expires_in_hours":720"#, 720)]
    {
        let made = bank.asked(&wallet, FLEXIBLE, more).await;
        assert_eq!(
            instant(&made["expires_at"]) - instant(&made["created_at"]),
            Span::hours(hours),
            "{more}"
        );
    }
}

async fn a_request_of_any_kind_is_shown_as_it_was_asked(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("kinds").await;
    for amount in [
        r#"{"type":"crypto","value":"1.00","currency":"USDC"}"#,
        r#"{"type":"crypto","value":"1.00","currency":"USDT"}"#,
        r#"{"type":"fiat","value":"1000.00","currency":"PKR"}"#,
        r#"{"type":"fiat","value":"10.00","currency":"USD"}"#,
        r#"{"type":"fiat","value":"10.00","currency":"AED"}"#,
        r#"{"type":"fiat","value":"10.00","currency":"SAR"}"#,
    ] {
        let made = bank.asked(&wallet, amount, "").await;
        assert_eq!(made["amount"].to_string(), amount);
        assert_eq!(bank.listed(&wallet, &made).await["amount"], made["amount"]);
    }
    let made =
        bank.asked(&wallet, r#"{"type":"flexible","value":"5.00","currency":"USDC"}"#, "").await;
    assert_eq!(made["amount"].to_string(), r#"{"type":"flexible","value":null,"currency":null}"#);
}

async fn fiat_fixes_the_coins_when_the_request_is_made(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("fiat").await;
    // 278.75 PKR per token: 10 tokens.
    let request =
        bank.asked(&wallet, r#"{"type":"fiat","value":"2787.50","currency":"PKR"}"#, "").await;
    bank.paid(&request, "?currency=USDC&amount=4").await;
    let partial = bank.becomes(&wallet, &request, "ACTIVE", "PARTIAL").await;
    assert_eq!(
        (partial["amount_received"].text(), partial["amount_due"].text()),
        ("1115.00", "1672.50")
    );
    // The other token counts as well.
    bank.paid(&request, "?currency=USDT&amount=6").await;
    let paid = bank.becomes(&wallet, &request, "PAID", "NONE").await;
    assert_eq!((paid["amount_received"].text(), paid["amount_due"].text()), ("2787.50", "0.00"));
    assert_eq!(
        paid["received"].to_string(),
        r#"[{"currency":"USDC","amount":"4.00"},{"currency":"USDT","amount":"6.00"}]"#
    );
    bank.all_become(&wallet, 2, "COMPLETED").await;
    assert_eq!(
        (bank.balance(&wallet, "USDC").await, bank.balance(&wallet, "USDT").await),
        ("4.00".into(), "6.00".into())
    );
    bank.books_are_right().await;
}

async fn a_flexible_request_is_paid_by_the_first_payment(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("flexible").await;
    let request = bank.asked(&wallet, FLEXIBLE, "").await;
    bank.paid(&request, "?currency=USDT&amount=3.21").await;
    let paid = bank.becomes(&wallet, &request, "PAID", "NONE").await;
    assert_eq!(
        (paid["amount_received"].text(), paid["amount_due"].to_string().as_str()),
        ("3.21", "null")
    );
    bank.paid(&request, "?currency=USDC&amount=1.00").await;
    bank.all_become(&wallet, 2, "COMPLETED").await;
    let more = bank.becomes(&wallet, &request, "PAID", "NONE").await;
    assert_eq!((more["amount_received"].text(), &more["paid_at"]), ("4.21", &paid["paid_at"]));
}

async fn an_active_request_is_cancelled_once(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("cancel").await;
    let request = bank.asked(&wallet, CRYPTO, "").await;
    let path = format!("/v1/sdk/payment-requests/{}/cancel", id(&request));
    let cancelled = bank.post(&path, "{}").send().await.ok();
    assert_eq!((cancelled["status"].text(), id(&cancelled)), ("CANCELLED", id(&request)));
    let body = refused(&bank.post(&path, "{}").send().await, 409, "CONFLICT", None);
    assert_eq!(body["details"]["current_status"].text(), "CANCELLED");
    // A sandbox's sender does not pay a cancelled request.
    let pay = format!("/sandbox/payment-requests/{}/pay", id(&request));
    let answer = bank.bank.unsigned(reqwest::Method::POST, &pay, None).send().await;
    assert_eq!((answer.status, answer.json()["error"].text()), (409, "CONFLICT"));
}

async fn a_paid_request_cannot_be_cancelled(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("paid").await;
    let (request, _) = bank.deposit(&wallet, "25.00", "COMPLETED").await;
    let answer =
        bank.post(&format!("/v1/sdk/payment-requests/{}/cancel", id(&request)), "{}").send().await;
    assert_eq!(refused(&answer, 409, "CONFLICT", None)["details"]["current_status"].text(), "PAID");
}

async fn money_for_a_cancelled_request_still_reaches_the_wallet(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("anyway").await;
    let request = bank.asked(&wallet, CRYPTO, "").await;
    bank.post(&format!("/v1/sdk/payment-requests/{}/cancel", id(&request)), "{}").send().await.ok();
    bank.coins(domain::currency::StableCoin::Usdc, request["escrow_address"].text(), 25_500_000)
        .await;
    bank.newest(&wallet, "COMPLETED").await;
    assert_eq!(bank.balance(&wallet, "USDC").await, "25.50");
    bank.becomes(&wallet, &request, "CANCELLED", "LATE").await;
    assert_eq!(bank.webhooks(id(&request), 3).await, THROUGH);
}
