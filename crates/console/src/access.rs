//! Who may use which route: the one table of it. What has no row is refused to everybody, and a test fails.

use domain::user::Role::{self, Admin, Approver, Auditor, Compliance, Operator, Treasury, Viewer};

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Whoever comes, signed in or not.
    Anybody,
    /// Whoever is signed in.
    SignedIn,
    /// Whoever has one of these roles.
    Roles(&'static [Role]),
}

/// One route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessRow {
    /// `GET` or `POST`.
    pub method: &'static str,
    /// As the router has it.
    pub path: &'static str,
    /// Who may use it.
    pub who: Who,
    /// Whether it is about the whole installation: only for people whose scope is every tenant.
    pub installation: bool,
}

pub(super) const fn get(path: &'static str, who: Who) -> AccessRow {
    AccessRow { method: "GET", path, who, installation: false }
}

pub(super) const fn post(path: &'static str, who: Who) -> AccessRow {
    AccessRow { method: "POST", path, who, installation: false }
}

/// The same for a route about the whole installation.
pub(super) const fn all_tenants(row: AccessRow) -> AccessRow {
    AccessRow { installation: true, ..row }
}

/// Whoever may look at a tenant's business.
pub(super) const LOOK: Who = Who::Roles(&[Viewer, Operator, Approver, Compliance, Treasury, Admin, Auditor]);
/// Whoever works with payments and wallets.
pub(super) const WORK: Who = Who::Roles(&[Operator, Compliance]);

/// Whoever decides about some kind of proposal.
const CHECK: Who = Who::Roles(&[Approver, Compliance, Treasury, Admin]);
const ADMINISTER: Who = Who::Roles(&[Admin]);
/// Whoever reads what people did.
const WATCH: Who = Who::Roles(&[Admin, Auditor]);

/// Signing in, users, approvals.
const FOUNDATION: &[AccessRow] = &[
    get("/console/login", Who::Anybody),
    post("/console/login", Who::Anybody),
    // The steps of signing in: whoever has not said the password is sent back to its form.
    post("/console/login/code", Who::Anybody),
    post("/console/login/enrol", Who::Anybody),
    post("/console/login/password", Who::Anybody),
    post("/console/login/cancel", Who::Anybody),
    // To the identity provider and back.
    get("/console/login/oidc", Who::Anybody),
    get("/console/login/oidc/callback", Who::Anybody),
    get("/console", Who::SignedIn),
    get("/console/account", Who::SignedIn),
    post("/console/account/password", Who::SignedIn),
    post("/console/account/sign-out", Who::SignedIn),
    post("/console/logout", Who::SignedIn),
    get("/console/approvals", LOOK),
    get("/console/approvals/{id}", LOOK),
    // Which of them decides about which proposal is said by the proposal's kind.
    post("/console/approvals/{id}/approve", CHECK),
    post("/console/approvals/{id}/reject", CHECK),
    post("/console/approvals/{id}/withdraw", LOOK),
    post("/console/approvals/{id}/again", CHECK),
    get("/console/audit", WATCH),
    get("/console/audit/entries/{chain}/{seq}", WATCH),
    get("/console/audit/verify", WATCH),
    all_tenants(get("/console/users", WATCH)),
    all_tenants(post("/console/users", ADMINISTER)),
    all_tenants(get("/console/users/{id}", WATCH)),
    all_tenants(post("/console/users/{id}/access", ADMINISTER)),
    all_tenants(post("/console/users/{id}/disable", ADMINISTER)),
    all_tenants(post("/console/users/{id}/enable", ADMINISTER)),
];

/// Overview, payments, quotes, ledger, reconciliation, rates, corridors.
const PAYMENTS: &[AccessRow] = super::payments::access::ACCESS;

/// Wallets, review queue, orders, requests, webhooks, health, sandbox tools.
const WALLETS: &[AccessRow] = super::wallets::access::ACCESS;

/// Every row.
pub fn rows() -> impl Iterator<Item = &'static AccessRow> {
    FOUNDATION.iter().chain(PAYMENTS).chain(WALLETS)
}

/// The row of a route.
pub fn row(method: &str, path: &str) -> Option<&'static AccessRow> {
    rows().find(|row| row.method == method && row.path == path)
}
