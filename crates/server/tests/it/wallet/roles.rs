//! Roles × operations, under the default and the strict policy (specification: "Authentication", "A
//! missing role yields 403 FORBIDDEN"; `decisions.md`: "JWT … Roles").

use std::collections::BTreeSet;

use http_api::wallet_v1::operations;
use reqwest::Method;

use super::table::{MISSING, Op};
use crate::harness::wallet_bank::refused;
use crate::harness::{On, WalletBank, on_both_stores};

on_both_stores! {
    the_default_policy_asks_for_a_role_at_provisioning_only
    the_strict_policy_enforces_the_matrix
    a_single_role_is_taken_as_a_claim_of_its_own
    unauthorized_callers_get_no_details_about_the_request
}

const ROLES: [&str; 6] = [
    "wallet_manager",
    "payment_manager",
    "exchange_manager",
    "compliance_officer",
    "wallet_viewer",
    "auditor",
];

const M: &str = "wallet_manager";
const P: &str = "payment_manager";
const X: &str = "exchange_manager";
const C: &str = "compliance_officer";
const V: &str = "wallet_viewer";
const A: &str = "auditor";

/// The strict policy: `wallet_manager` may do everything, `payment_manager` payment requests,
/// `exchange_manager` orders, `compliance_officer` block, unblock, blacklist and reviews, the last
/// two only read.
const MATRIX: [(&str, &str, &[&str]); 22] = [
    ("POST", "/v1/sdk/wallets/provision", &[M]),
    ("GET", "/v1/sdk/wallets/{wallet_id}", &[M, C, V, A]),
    ("POST", "/v1/sdk/payment-requests", &[M, P]),
    ("GET", "/v1/sdk/payment-requests", &[M, P, V, A]),
    ("GET", "/v1/sdk/transactions", &[M, C, V, A]),
    ("GET", "/v1/sdk/orders/exchange-rate", &[M, X, V, A]),
    ("POST", "/v1/sdk/orders", &[M, X]),
    ("GET", "/v1/sdk/orders", &[M, X, V, A]),
    ("POST", "/v1/sdk/wallets/{wallet_id}/block", &[M, C]),
    ("POST", "/v1/sdk/wallets/{wallet_id}/unblock", &[M, C]),
    ("POST", "/v1/sdk/wallets/{wallet_id}/blacklist", &[M, C]),
    ("POST", "/v1/sdk/payment-requests/{payment_request_id}/cancel", &[M, P]),
    ("GET", "/v1/sdk/payment-requests/{payment_request_id}", &[M, P, V, A]),
    ("GET", "/v1/sdk/transactions/{transaction_id}", &[M, C, V, A]),
    ("GET", "/v1/sdk/orders/{order_id}", &[M, X, V, A]),
    ("POST", "/v1/sdk/orders/{order_id}/cancel", &[M, X]),
    ("GET", "/v1/sdk/reviews", &[M, C, A]),
    ("GET", "/v1/sdk/reviews/{transaction_id}", &[M, C, A]),
    ("POST", "/v1/sdk/reviews/{transaction_id}", &[M, C]),
    ("GET", "/v1/sdk/webhooks/deliveries", &[M, A]),
    ("POST", "/v1/sdk/webhooks/deliveries/{delivery_id}/redeliver", &[M]),
    ("GET", "/v1/sdk/events", &[M, A]),
];

/// Every tested set of roles: none, each, an unknown one, one in another case.
fn held() -> Vec<Vec<&'static str>> {
    let each = ROLES.iter().map(|role| vec![*role]);
    each.chain([
        vec![],
        vec!["root"],
        vec!["WALLET_MANAGER"],
        vec!["wallet_viewer", "payment_manager"],
    ])
    .collect()
}

fn row(op: &Op) -> &'static [&'static str] {
    let row =
        MATRIX.iter().find(|(method, path, _)| *method == op.method.as_str() && *path == op.path);
    row.unwrap_or_else(|| panic!("{} {} is not in the matrix", op.method, op.path)).2
}

#[test]
fn the_matrix_has_every_operation_that_is_served_and_described() {
    let matrix: BTreeSet<(String, String)> =
        MATRIX.iter().map(|(method, path, _)| ((*method).to_owned(), (*path).to_owned())).collect();
    let served = operations::ALL.iter().map(|it| (it.method.to_string(), it.path.to_owned()));
    assert_eq!(matrix, served.collect());
    assert_eq!(
        matrix,
        Op::all().iter().map(|it| (it.method.to_string(), it.path.clone())).collect()
    );
}

/// Makes every call with every set of roles and compares the results.
async fn tried(bank: &WalletBank, may: impl Fn(&Op, &[&str]) -> bool) {
    for op in Op::all() {
        for roles in held() {
            let answer = op.call(bank, &roles, MISSING).send().await;
            let what = format!("{} {} as {roles:?}", op.method, op.path);
            if may(&op, &roles) {
                assert!(![401, 403, 429].contains(&answer.status), "{what}: {answer:?}");
                continue;
            }
            let body = refused(&answer, 403, "FORBIDDEN", None);
            assert_eq!(
                body.names(),
                ["error", "message", "details", "request_id", "timestamp"],
                "{what}"
            );
            let needed = body["details"]["required_role"].text().to_owned();
            assert!(row(&op).contains(&needed.as_str()), "{what}: {needed} would not do");
            assert_eq!(body["message"].text(), format!("The token requires the role {needed}"));
        }
    }
}

async fn the_default_policy_asks_for_a_role_at_provisioning_only(on: On) {
    let bank = WalletBank::new(on).await;
    tried(&bank, |op, roles| op.path != "/v1/sdk/wallets/provision" || roles.contains(&M)).await;
}

async fn the_strict_policy_enforces_the_matrix(on: On) {
    let bank = WalletBank::agreed(on, |policy| policy.wallet.strict_roles = true).await;
    tried(&bank, |op, roles| row(op).iter().any(|role| roles.contains(role))).await;
}

async fn a_single_role_is_taken_as_a_claim_of_its_own(on: On) {
    let bank = WalletBank::agreed(on, |policy| policy.wallet.strict_roles = true).await;
    let url = format!("/v1/sdk/wallets/{MISSING}");
    let reads = |claims: &str| {
        let token = super::tokens::signed(&bank, claims);
        bank.bank.unsigned(Method::GET, &url, None).header("authorization", &token).send()
    };
    for good in [
        r#""role":"auditor""#,
        r#""roles":["auditor"]"#,
        r#""roles":[],"role":"auditor""#,
        r#""roles":["payment_manager"],"role":"auditor""#,
        r#""roles":["x","auditor","x"]"#,
    ] {
        refused(&reads(good).await, 404, "NOT_FOUND", Some("wallet_id"));
    }
    for none in [
        r#""role":"payment_manager""#,
        r#""roles":[]"#,
        r#""roles":["auditor "]"#,
        r#""scope":"auditor""#,
    ] {
        refused(&reads(none).await, 403, "FORBIDDEN", None);
    }
}

async fn unauthorized_callers_get_no_details_about_the_request(on: On) {
    let bank = WalletBank::agreed(on, |policy| policy.wallet.strict_roles = true).await;
    let wallet = bank.wallet("hidden").await;
    for op in Op::posts() {
        for id in [wallet.as_str(), MISSING] {
            let call =
                bank.call_as(&["unrelated"], Method::POST, &op.url(id), Some("{".to_owned()));
            refused(&call.send().await, 403, "FORBIDDEN", None);
        }
    }
    let shown = bank.get(&format!("/v1/sdk/wallets/{wallet}")).send().await.ok();
    assert!(["ACTIVE", "PENDING"].contains(&shown["status"].text()), "nothing was done: {shown}");
}
