//! Access to the pages of the wallet side: the rows of their routes.

use domain::user::Role::{Admin, Approver, Auditor, Compliance, Operator, Treasury};

use crate::access::{AccessRow, LOOK, TAKE, WORK, Who, all_tenants, get, post, with_file};
use crate::cases::WORKERS;
use crate::payments::search::FIND_PEOPLE;

/// Roles that decide on cases held for review.
const DECIDE: Who = Who::Roles(&[Compliance]);
/// Roles that approve refunds; the engine requires a different user than the proposer.
const AGREE: Who = Who::Roles(&[Compliance, Approver]);
/// Roles that resolve payouts with an unknown outcome.
const RAILS: Who = Who::Roles(&[Operator, Compliance, Treasury]);
/// Roles that return tokens.
const GIVE_BACK: Who = Who::Roles(&[Operator, Treasury]);
/// Roles that handle alerts.
const CALLED: Who = Who::Roles(&[Operator, Compliance, Treasury, Admin]);
/// Roles that resend the bank's webhooks.
const SEND: Who = Who::Roles(&[Operator, Admin]);
/// Roles that manage connections.
const CONNECT: Who = Who::Roles(&[Admin]);
/// Roles that propose tenant policies.
const AGREE_ON: Who = Who::Roles(&[Compliance, Admin]);
/// Roles that have blocks of the chain read again, for every tenant.
const CHAIN: Who = Who::Roles(&[Operator, Admin]);
/// Roles that see access keys.
const SEE_KEYS: Who = Who::Roles(&[Admin, Auditor]);
/// Roles that use sandbox tools.
const TRY: Who = Who::Roles(&[Operator, Compliance, Treasury, Admin]);

/// One row per route.
pub(crate) const ACCESS: &[AccessRow] = &[
    get("/console/t/{tenant}/wallets", LOOK),
    get("/console/t/{tenant}/wallets/export.csv", TAKE),
    get("/console/t/{tenant}/wallets/{id}", LOOK),
    post("/console/t/{tenant}/wallets/{id}/block", WORK),
    post("/console/t/{tenant}/wallets/{id}/unblock", WORK),
    post("/console/t/{tenant}/wallets/{id}/blacklist", WORK),
    get("/console/t/{tenant}/requests", LOOK),
    get("/console/t/{tenant}/requests/export.csv", TAKE),
    get("/console/t/{tenant}/requests/{id}", LOOK),
    post("/console/t/{tenant}/requests/{id}/cancel", WORK),
    get("/console/t/{tenant}/orders", LOOK),
    get("/console/t/{tenant}/orders/export.csv", TAKE),
    get("/console/t/{tenant}/orders/{id}", LOOK),
    get("/console/t/{tenant}/orders/{id}/decide", DECIDE),
    post("/console/t/{tenant}/orders/{id}/decide", DECIDE),
    post("/console/t/{tenant}/orders/{id}/resolve", RAILS),
    post("/console/t/{tenant}/orders/{id}/recredit", GIVE_BACK),
    get("/console/t/{tenant}/review", LOOK),
    get("/console/t/{tenant}/review/payments/{id}", LOOK),
    get("/console/t/{tenant}/review/payments/{id}/decide", DECIDE),
    post("/console/t/{tenant}/review/payments/{id}/decide", DECIDE),
    post("/console/t/{tenant}/review/payments/{id}/resolve", RAILS),
    get("/console/t/{tenant}/cases/{kind}/{id}", Who::Roles(&FIND_PEOPLE)),
    post("/console/t/{tenant}/cases/{kind}/{id}/note", Who::Roles(&WORKERS)),
    post("/console/t/{tenant}/cases/{kind}/{id}/assign", Who::Roles(&WORKERS)),
    with_file(post("/console/t/{tenant}/cases/{kind}/{id}/files", Who::Roles(&WORKERS))),
    get("/console/t/{tenant}/cases/{kind}/{id}/files/{file}", Who::Roles(&FIND_PEOPLE)),
    get("/console/t/{tenant}/deposits", LOOK),
    get("/console/t/{tenant}/deposits/export.csv", TAKE),
    get("/console/t/{tenant}/deposits/{id}", LOOK),
    get("/console/t/{tenant}/deposits/{id}/decide", DECIDE),
    post("/console/t/{tenant}/deposits/{id}/decide", DECIDE),
    post("/console/t/{tenant}/deposits/{id}/lift-hold", DECIDE),
    post("/console/t/{tenant}/deposits/{id}/refund", DECIDE),
    post("/console/t/{tenant}/deposits/{id}/refund/approve", AGREE),
    post("/console/t/{tenant}/deposits/{id}/refund/withdraw", DECIDE),
    get("/console/t/{tenant}/alerts", LOOK),
    get("/console/t/{tenant}/alerts/export.csv", TAKE),
    post("/console/t/{tenant}/alerts/close", CALLED),
    get("/console/t/{tenant}/webhooks", LOOK),
    get("/console/t/{tenant}/webhooks/deliveries/export.csv", TAKE),
    post("/console/t/{tenant}/webhooks/recover", SEND),
    post("/console/t/{tenant}/webhooks/example", SEND),
    post("/console/t/{tenant}/webhooks/url", CONNECT),
    post("/console/t/{tenant}/webhooks/payments", CONNECT),
    post("/console/t/{tenant}/webhooks/subscribe", CONNECT),
    post("/console/t/{tenant}/webhooks/rotate", CONNECT),
    post("/console/t/{tenant}/webhooks/disable", CONNECT),
    post("/console/t/{tenant}/webhooks/enable", CONNECT),
    get("/console/t/{tenant}/webhooks/deliveries/{id}", LOOK),
    post("/console/t/{tenant}/webhooks/deliveries/{id}/resend", SEND),
    get("/console/t/{tenant}/policy", LOOK),
    post("/console/t/{tenant}/policy/propose", AGREE_ON),
    get("/console/t/{tenant}/keys", SEE_KEYS),
    post("/console/t/{tenant}/keys/create", CONNECT),
    post("/console/t/{tenant}/keys/rotate", CONNECT),
    post("/console/t/{tenant}/keys/networks", CONNECT),
    post("/console/t/{tenant}/keys/suspend", CONNECT),
    post("/console/t/{tenant}/keys/resume", CONNECT),
    post("/console/t/{tenant}/keys/revoke", CONNECT),
    all_tenants(get("/console/system", LOOK)),
    all_tenants(post("/console/system/coins", Who::Roles(&[Compliance, Admin]))),
    all_tenants(get("/console/system/rescans", LOOK)),
    all_tenants(post("/console/system/rescans", CHAIN)),
    get("/console/t/{tenant}/sandbox", TRY),
    // All tenants share one clock.
    all_tenants(post("/console/t/{tenant}/sandbox/clock", TRY)),
    post("/console/t/{tenant}/sandbox/faucet", TRY),
    post("/console/t/{tenant}/sandbox/pay", TRY),
    post("/console/t/{tenant}/sandbox/steer", TRY),
    post("/console/t/{tenant}/sandbox/trigger", TRY),
];
