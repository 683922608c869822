//! Access control, and the information that unauthorized callers get (specification:
//! "Authentication", "Errors").

use reqwest::Method;

use crate::harness::wallet_bank::refused;
use crate::harness::{On, WalletBank, on_both_stores};

on_both_stores! {
    provisioning_needs_its_role
    a_customer_has_one_wallet
    a_foreign_wallet_answers_like_an_unknown_one
    without_a_token_nothing_is_revealed
    bad_input_names_its_field
}

async fn provisioning_needs_its_role(on: On) {
    let bank = WalletBank::new(on).await;
    let body =
        r#"{"customer_id":"c","customer_email":"c@example.com","customer_phone":"+923001234567"}"#;
    for roles in [&[][..], &["wallet_viewer"], &["payment_manager"]] {
        let call =
            bank.call_as(roles, Method::POST, "/v1/sdk/wallets/provision", Some(body.to_owned()));
        let answer = refused(&call.send().await, 403, "FORBIDDEN", None);
        assert_eq!(answer["details"]["required_role"].text(), "wallet_manager", "{roles:?}");
    }
}

async fn a_customer_has_one_wallet(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("twice").await;
    let body = refused(
        &bank.provision_call("twice").send().await,
        409,
        "WALLET_EXISTS",
        Some("customer_id"),
    );
    assert_eq!(body["existing_wallet_id"].text(), wallet);
    assert_eq!(body["details"]["existing_wallet_id"].text(), wallet);
}

async fn a_foreign_wallet_answers_like_an_unknown_one(on: On) {
    let (bank, other) = (WalletBank::new(on).await, WalletBank::new(on).await);
    let foreign = other.wallet("foreign").await;
    for wallet in [foreign.as_str(), "11111111-1111-4111-8111-111111111111", "no-id"] {
        let calls = [
            bank.get(&format!("/v1/sdk/wallets/{wallet}")),
            bank.get(&format!("/v1/sdk/transactions?wallet_id={wallet}")),
            bank.get(&format!("/v1/sdk/payment-requests?wallet_id={wallet}")),
            bank.get(&format!("/v1/sdk/orders?wallet_id={wallet}")),
            bank.order_call(wallet, "1.00", ""),
            bank.post(&format!("/v1/sdk/wallets/{wallet}/unblock"), "{}"),
        ];
        for call in calls {
            refused(&call.send().await, 404, "NOT_FOUND", Some("wallet_id"));
        }
    }
}

async fn without_a_token_nothing_is_revealed(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("guarded").await;
    let path = format!("/v1/sdk/wallets/{wallet}");
    refused(&bank.bank.unsigned(Method::GET, &path, None).send().await, 401, "UNAUTHORIZED", None);
    // A payment service key is not valid for the wallet service.
    refused(&bank.bank.get(&path).send().await, 401, "UNAUTHORIZED", None);
}

async fn bad_input_names_its_field(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("fields").await;
    for (path, body, field) in [
        (
            "/v1/sdk/wallets/provision",
            r#"{"customer_email":"a@b.co","customer_phone":"+923001234567"}"#,
            "customer_id",
        ),
        (
            "/v1/sdk/wallets/provision",
            r#"{"customer_id":"x","customer_email":"invalid","customer_phone":"+923001234567"}"#,
            "customer_email",
        ),
        (
            "/v1/sdk/wallets/provision",
            r#"{"customer_id":"x","customer_email":"a@b.co","customer_phone":"+923001234567","blockchain":"tron"}"#,
            "blockchain",
        ),
        (
            "/v1/sdk/payment-requests",
            r#"{"wallet_id":"WALLET","amount":{"type":"crypto","currency":"USDC"}}"#,
            "amount.value",
        ),
        (
            "/v1/sdk/payment-requests",
            r#"{"wallet_id":"WALLET","amount":{"type":"flexible"},"expires_in_hours":721}"#,
            "expires_in_hours",
        ),
    ] {
        let answer = bank.post(path, body.replace("WALLET", &wallet)).send().await;
        refused(&answer, 400, "INVALID_REQUEST", Some(field));
    }
    let page = bank.get(&format!("/v1/sdk/transactions?wallet_id={wallet}&limit=101")).send().await;
    refused(&page, 400, "INVALID_REQUEST", Some("limit"));
}
