//! Wallets: provisioning, details, balances (specification: "Wallet", "Balance", "POST
//! /v1/sdk/wallets/provision"; `decisions.md`: "Provision", "Balance").

use domain::wallet::KycLevel;
use futures_util::future::join_all;

use super::acts::id;
use crate::harness::client::instant;
use crate::harness::wallet_bank::refused;
use crate::harness::{On, WalletBank, on_both_stores};

on_both_stores! {
    a_provisioned_wallet_is_shown_with_these_fields
    the_first_wallet_is_pending_until_the_controller_is_deployed
    kyc_level_is_as_given_else_basic
    a_level_below_the_banks_minimum_is_kyc_required
    the_customers_record_supplies_the_default_kyc_level
    eight_provisionings_of_one_customer_make_one_wallet
    ids_of_customers_are_the_banks_own
    a_balance_is_what_is_posted_with_its_value_in_dollars_and_rupees
    what_happens_to_a_wallet_moves_its_last_activity
}

const CUSTOMER: &str =
    r#""customer_id":"c-1","customer_email":"c@example.com","customer_phone":"+923001234567""#;

async fn a_provisioned_wallet_is_shown_with_these_fields(on: On) {
    let bank = WalletBank::new(on).await;
    let made = bank.post("/v1/sdk/wallets/provision", format!("{{{CUSTOMER}}}")).send().await.ok();
    assert_eq!(
        made.names(),
        ["wallet_id", "wallet_address", "blockchain", "status", "kyc_level", "created_at"]
    );
    assert_eq!(made["blockchain"].text(), "ethereum");
    let shown =
        bank.get(&format!("/v1/sdk/wallets/{}", made["wallet_id"].text())).send().await.ok();
    let names = [
        "wallet_id",
        "customer_id",
        "wallet_address",
        "blockchain",
        "status",
        "kyc_level",
        "balance",
        "created_at",
        "last_activity_at",
    ];
    assert_eq!(shown.names(), names);
    for name in ["wallet_id", "wallet_address", "blockchain", "kyc_level", "created_at"] {
        assert_eq!(shown[name], made[name], "{name}");
    }
    assert_eq!(shown["customer_id"].text(), "c-1");
    assert_eq!(shown["balance"]["total_value_usd"].text(), "0.00");
    let assets = shown["balance"]["assets"].items();
    assert_eq!(assets.len(), 2);
    for (asset, currency) in assets.iter().zip(["USDC", "USDT"]) {
        assert_eq!(asset.names(), ["currency", "amount", "available", "value_usd", "value_pkr"]);
        assert_eq!(asset["currency"].text(), currency);
        for name in ["amount", "available", "value_usd", "value_pkr"] {
            assert_eq!(asset[name].text(), "0.00", "{name}");
        }
    }
}

async fn the_first_wallet_is_pending_until_the_controller_is_deployed(on: On) {
    let bank = WalletBank::new(on).await;
    let first = bank.provision_call("first").send().await.ok();
    assert_eq!(first["status"].text(), "PENDING");
    let active = bank.wallet_becomes(first["wallet_id"].text(), "ACTIVE").await;
    assert_eq!(
        active["wallet_address"], first["wallet_address"],
        "the address was right from the beginning"
    );
    let second = bank.provision_call("second").send().await.ok();
    assert_eq!(second["status"].text(), "ACTIVE");
    assert_ne!(second["wallet_address"], first["wallet_address"]);
}

async fn kyc_level_is_as_given_else_basic(on: On) {
    let bank = WalletBank::new(on).await;
    for level in KycLevel::ALL.map(KycLevel::name) {
        let body = format!(r#"{{{},"kyc_level":"{level}"}}"#, CUSTOMER.replace("c-1", level));
        let made = bank.post("/v1/sdk/wallets/provision", body).send().await.ok();
        assert_eq!(made["kyc_level"].text(), level);
    }
    let made = bank.post("/v1/sdk/wallets/provision", format!("{{{CUSTOMER}}}")).send().await.ok();
    assert_eq!(made["kyc_level"].text(), "BASIC");
}

async fn a_level_below_the_banks_minimum_is_kyc_required(on: On) {
    let bank =
        WalletBank::agreed(on, |policy| policy.wallet.minimum_kyc = KycLevel::Enhanced).await;
    for given in ["", r#","kyc_level":"BASIC""#] {
        let answer =
            bank.post("/v1/sdk/wallets/provision", format!("{{{CUSTOMER}{given}}}")).send().await;
        let body = refused(&answer, 403, "KYC_REQUIRED", Some("kyc_level"));
        assert_eq!(body["required_kyc_level"].text(), "ENHANCED");
        assert_eq!(body["details"]["required_kyc_level"].text(), "ENHANCED");
    }
    for (customer, level) in [("e", "ENHANCED"), ("f", "COMPREHENSIVE")] {
        let body = format!(r#"{{{},"kyc_level":"{level}"}}"#, CUSTOMER.replace("c-1", customer));
        bank.post("/v1/sdk/wallets/provision", body).send().await.ok();
    }
}

async fn the_customers_record_supplies_the_default_kyc_level(on: On) {
    let bank =
        WalletBank::agreed(on, |policy| policy.wallet.minimum_kyc = KycLevel::Enhanced).await;
    let (store, tenant) = (bank.bank.running.store(), bank.bank.tenant.id);
    let ask = async |customer: &str, more: &str| {
        let body = format!("{{{}{more}}}", CUSTOMER.replace("c-1", customer));
        bank.post("/v1/sdk/wallets/provision", body).send().await
    };
    refused(&ask("known", "").await, 403, "KYC_REQUIRED", Some("kyc_level"));
    store.set_customer(tenant, "known", KycLevel::Comprehensive, "test").await.expect("set");
    // The request's level overrides the record.
    let told = ask("known", r#","kyc_level":"BASIC""#).await;
    let body = refused(&told, 403, "KYC_REQUIRED", Some("kyc_level"));
    assert_eq!(body["required_kyc_level"].text(), "ENHANCED");
    assert_eq!(ask("known", "").await.ok()["kyc_level"].text(), "COMPREHENSIVE");
    // A record below the minimum does not help, and another tenant's record does not count.
    store.set_customer(tenant, "little", KycLevel::Basic, "test").await.expect("set");
    refused(&ask("little", "").await, 403, "KYC_REQUIRED", Some("kyc_level"));
    let other = WalletBank::new(on).await;
    let body = format!("{{{}}}", CUSTOMER.replace("c-1", "known"));
    let made = other.post("/v1/sdk/wallets/provision", body).send().await.ok();
    assert_eq!(made["kyc_level"].text(), "BASIC");
}

async fn eight_provisionings_of_one_customer_make_one_wallet(on: On) {
    let bank = WalletBank::new(on).await;
    let answers = join_all((0..8).map(|_| bank.provision_call("same").send())).await;
    let made: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(made.len(), 1, "{answers:?}");
    let wallet = made[0].json()["wallet_id"].text().to_owned();
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        let body = refused(answer, 409, "WALLET_EXISTS", Some("customer_id"));
        assert_eq!(body["existing_wallet_id"].text(), wallet);
    }
}

async fn ids_of_customers_are_the_banks_own(on: On) {
    let (one, other) = (WalletBank::new(on).await, WalletBank::new(on).await);
    let (of_one, of_other) = (one.wallet("c-1").await, other.wallet("c-1").await);
    assert_ne!(of_one, of_other);
    assert_ne!(one.address(&of_one).await, other.address(&of_other).await);
}

async fn a_balance_is_what_is_posted_with_its_value_in_dollars_and_rupees(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.wallet("balance").await;
    for (amount, coin) in [("100.00", "USDC"), ("12.345678", "USDT")] {
        let request = bank.request(&wallet, amount, coin).await;
        bank.paid(&request, "").await;
    }
    bank.all_become(&wallet, 2, "COMPLETED").await;
    // Reserved until it times out: posted is not available.
    bank.order_call(&wallet, "40.02", "").send().await.ok();
    let shown = bank.get(&format!("/v1/sdk/wallets/{wallet}")).send().await.ok();
    let balance = &shown["balance"];
    let texts = |at: usize| {
        ["amount", "available", "value_usd", "value_pkr"]
            .map(|name| balance["assets"][at][name].text().to_owned())
    };
    // The rates are frozen: 1 USD and 278.75 PKR per token, rounded down.
    assert_eq!(texts(0), ["100.00", "59.98", "100.00", "27875.00"]);
    assert_eq!(texts(1), ["12.345678", "12.345678", "12.34", "3441.35"]);
    assert_eq!(balance["total_value_usd"].text(), "112.34");
    bank.books_are_right().await;
}

async fn what_happens_to_a_wallet_moves_its_last_activity(on: On) {
    let bank = WalletBank::new(on).await;
    let wallet = bank.in_use("active").await;
    let last = || async {
        let shown = bank.get(&format!("/v1/sdk/wallets/{wallet}")).send().await.ok();
        instant(&shown["last_activity_at"])
    };
    let before = last().await;
    let (request, _) = bank.deposit(&wallet, "25.00", "COMPLETED").await;
    let after = last().await;
    assert!(after > before);
    bank.told(id(&request), 3).await;
    let order = bank.order_call(&wallet, "10.00", "").send().await.ok();
    assert!(last().await >= instant(&order["created_at"]));
}
