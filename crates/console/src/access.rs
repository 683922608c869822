//! The access table: which users may use which route. A route without a row is refused to everyone,
//! and a test fails.

use domain::user::Role::{self, Admin, Approver, Auditor, Compliance, Operator, Treasury, Viewer};

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Everyone, signed in or not.
    Anybody,
    /// All signed-in users, whatever their roles.
    SignedIn,
    /// Users with one of these roles.
    Roles(&'static [Role]),
}

/// A route and who may use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessRow {
    /// Either `GET` or `POST`.
    pub method: &'static str,
    /// The path, as in the router.
    pub path: &'static str,
    /// Who may use it.
    pub who: Who,
    /// Whether it concerns the whole installation: only for users with access to every tenant.
    pub installation: bool,
    /// Whether its form has a file.
    pub takes_file: bool,
}

pub(super) const fn get(path: &'static str, who: Who) -> AccessRow {
    AccessRow { method: "GET", path, who, installation: false, takes_file: false }
}

pub(super) const fn post(path: &'static str, who: Who) -> AccessRow {
    AccessRow { method: "POST", path, who, installation: false, takes_file: false }
}

/// The same for a route that concerns the whole installation.
pub(super) const fn all_tenants(row: AccessRow) -> AccessRow {
    AccessRow { installation: true, ..row }
}

/// The same for a form with a file.
pub(super) const fn with_file(row: AccessRow) -> AccessRow {
    AccessRow { takes_file: true, ..row }
}

/// Roles that may view a tenant's business.
pub(super) const LOOK: Who =
    Who::Roles(&[Viewer, Operator, Approver, Compliance, Treasury, Admin, Auditor]);
/// Roles that may download lists and statements.
pub(super) const TAKE: Who = Who::Roles(&[Operator, Compliance, Treasury, Auditor]);
/// Roles that work with payments and wallets.
pub(super) const WORK: Who = Who::Roles(&[Operator, Compliance]);

/// Roles that decide on some kind of proposal.
const CHECK: Who = Who::Roles(&[Approver, Compliance, Treasury, Admin]);
const ADMINISTER: Who = Who::Roles(&[Admin]);
/// Roles that read the audit log.
const WATCH: Who = Who::Roles(&[Admin, Auditor]);

/// Routes for sign-in, users and approvals.
const FOUNDATION: &[AccessRow] = &[
    get("/console/login", Who::Anybody),
    post("/console/login", Who::Anybody),
    // The sign-in steps: users who have not entered the password are redirected to its form.
    post("/console/login/code", Who::Anybody),
    post("/console/login/enrol", Who::Anybody),
    post("/console/login/password", Who::Anybody),
    post("/console/login/cancel", Who::Anybody),
    // The redirect to the identity provider and back.
    get("/console/login/oidc", Who::Anybody),
    get("/console/login/oidc/callback", Who::Anybody),
    get("/console", Who::SignedIn),
    get("/console/account", Who::SignedIn),
    post("/console/account/look", Who::SignedIn),
    post("/console/account/password", Who::SignedIn),
    post("/console/account/sign-out", Who::SignedIn),
    post("/console/logout", Who::SignedIn),
    get("/console/t/{tenant}/inbox", LOOK),
    post("/console/t/{tenant}/views/save", LOOK),
    post("/console/t/{tenant}/views/delete", LOOK),
    get("/console/approvals", LOOK),
    get("/console/approvals/{id}", LOOK),
    // The kind of a proposal determines which of these roles decides on it.
    post("/console/approvals/{id}/approve", CHECK),
    post("/console/approvals/{id}/reject", CHECK),
    post("/console/approvals/{id}/withdraw", LOOK),
    post("/console/approvals/{id}/again", CHECK),
    get("/console/audit", WATCH),
    get("/console/audit/export.csv", WATCH),
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

/// Onboarding, the go-live checklist, the look of payment pages.
const SETUP: &[AccessRow] = &[
    all_tenants(get("/console/tenants", LOOK)),
    all_tenants(post("/console/tenants", ADMINISTER)),
    get("/console/t/{tenant}/setup", LOOK),
    get("/console/t/{tenant}/setup/{step}", LOOK),
    get("/console/t/{tenant}/brand", LOOK),
    get("/console/t/{tenant}/brand/logo", LOOK),
    get("/console/t/{tenant}/brand/preview.css", LOOK),
    post("/console/t/{tenant}/brand/set", ADMINISTER),
    with_file(post("/console/t/{tenant}/brand/upload", ADMINISTER)),
    post("/console/t/{tenant}/brand/remove-logo", ADMINISTER),
];

/// Wallets, review queue, orders, requests, webhooks, health, sandbox tools.
const WALLETS: &[AccessRow] = super::wallets::access::ACCESS;

pub fn rows() -> impl Iterator<Item = &'static AccessRow> {
    FOUNDATION.iter().chain(PAYMENTS).chain(WALLETS).chain(SETUP)
}

/// The row of a route.
pub fn row(method: &str, path: &str) -> Option<&'static AccessRow> {
    rows().find(|row| row.method == method && row.path == path)
}

/// The row of the page that a link of the console leads to; `None` if it leads elsewhere.
pub(super) fn row_of_page(href: &str) -> Option<&'static AccessRow> {
    let path = href.split(['?', '#']).next().unwrap_or_default();
    let literals = |row: &AccessRow| row.path.split('/').filter(|it| !it.starts_with('{')).count();
    let leads = |row: &&AccessRow| {
        let (route, path) = (row.path.split('/'), path.split('/'));
        row.method == "GET"
            && route.clone().count() == path.clone().count()
            && route.zip(path).all(|(part, text)| part == text || part.starts_with('{'))
    };
    rows().filter(leads).max_by_key(|row| literals(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_to_the_row_of_its_page() {
        let id = "6f0c0000-0000-4000-8000-000000000000";
        for (href, expected) in [
            ("/console/system".to_owned(), Some("/console/system")),
            ("/console/t/bank/setup".to_owned(), Some("/console/t/{tenant}/setup")),
            ("/console/t/bank/setup/keys#x".to_owned(), Some("/console/t/{tenant}/setup/{step}")),
            ("/console/t/bank/alerts?alert=1".to_owned(), Some("/console/t/{tenant}/alerts")),
            (format!("/console/users/{id}"), Some("/console/users/{id}")),
            ("/console/t/bank/brand/logo".to_owned(), Some("/console/t/{tenant}/brand/logo")),
            ("/console/t/bank/keys/rotate".to_owned(), None),
            ("/console/t/bank".to_owned(), None),
            ("/docs/guides/backup".to_owned(), None),
        ] {
            assert_eq!(row_of_page(&href).map(|row| row.path), expected, "{href}");
        }
    }

    #[test]
    fn each_page_is_the_page_of_its_own_link() {
        for row in rows().filter(|row| row.method == "GET") {
            assert_eq!(row_of_page(row.path).map(|it| it.path), Some(row.path));
        }
    }
}
