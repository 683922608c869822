//! The layout of every page: navigation, user, tenant, confirmation.

use domain::policy::Environment;

use super::inbox::Backlog;
use super::visit::Visit;

/// A navigation entry: title and route. Entries that the user may not use are hidden.
type Entry = (&'static str, &'static str);

/// The navigation, in groups.
const NAV: &[(&str, &[Entry])] = &[
    ("Work", &[("Needs you", INBOX)]),
    (
        "Payments",
        &[
            ("Overview", "/console/t/{tenant}/overview"),
            ("Payments", "/console/t/{tenant}/payments"),
            ("Quotes", "/console/t/{tenant}/quotes"),
        ],
    ),
    (
        "Wallets",
        &[
            ("Wallets", "/console/t/{tenant}/wallets"),
            ("Requests", "/console/t/{tenant}/requests"),
            ("Deposits", "/console/t/{tenant}/deposits"),
            ("Orders", "/console/t/{tenant}/orders"),
        ],
    ),
    ("Decisions", &[("Review queue", REVIEW), ("Alerts", ALERTS), ("Approvals", APPROVALS)]),
    (
        "Money",
        &[
            ("Ledger", "/console/t/{tenant}/ledger"),
            ("Statements", "/console/t/{tenant}/statements"),
            ("Reconciliation", "/console/t/{tenant}/reconciliation"),
            ("Rates and spread", "/console/t/{tenant}/rates"),
            ("Corridors and rails", "/console/t/{tenant}/corridors"),
        ],
    ),
    (
        "Connections",
        &[
            ("Policy", "/console/t/{tenant}/policy"),
            ("Webhooks", WEBHOOKS),
            ("Keys", "/console/t/{tenant}/keys"),
        ],
    ),
    (
        "Installation",
        &[
            ("Users", "/console/users"),
            ("Audit log", "/console/audit"),
            ("System health", "/console/system"),
            ("Sandbox tools", "/console/t/{tenant}/sandbox"),
        ],
    ),
];

/// The landing page: everything that waits for a user.
const INBOX: &str = "/console/t/{tenant}/inbox";
// Entries that show how much waits.
const REVIEW: &str = "/console/t/{tenant}/review";
const ALERTS: &str = "/console/t/{tenant}/alerts";
const APPROVALS: &str = "/console/approvals";
const WEBHOOKS: &str = "/console/t/{tenant}/webhooks";

/// The search for any id.
const SEARCH: &str = "/console/t/{tenant}/search";

/// A group of the navigation.
#[derive(Clone, Debug)]
pub struct NavGroup {
    pub title: &'static str,
    pub links: Vec<NavLink>,
}

/// A link of the navigation.
#[derive(Clone, Debug)]
pub struct NavLink {
    pub title: &'static str,
    pub href: String,
    /// Whether this page is it or is below it.
    pub is_here: bool,
    /// How much waits there.
    pub waiting: usize,
}

/// A tenant that the user may switch to.
#[derive(Clone, Debug)]
pub struct TenantLink {
    pub name: String,
    /// The same page for that tenant.
    pub href: String,
    /// Whether this page belongs to it.
    pub is_here: bool,
}

/// The layout of a page. Page templates have it in a field named `frame`.
#[derive(Clone, Debug)]
pub struct Frame {
    pub title: String,
    /// The CSRF token that every form of the page carries.
    pub csrf: String,
    /// The user's login name; empty while signed out.
    pub login: String,
    /// The navigation, limited to what the user may use.
    pub nav: Vec<NavGroup>,
    /// The tenants that the user may access.
    pub tenants: Vec<TenantLink>,
    /// Name of the page's tenant.
    pub tenant: String,
    /// The action of the search box; `None` where search is unavailable.
    pub search: Option<String>,
    pub searched: String,
    /// The text of the environment ribbon; empty in production.
    pub ribbon: &'static str,
    /// The confirmation of the last action.
    pub done: Option<String>,
    /// The path of this page with its query, which live regions reload.
    pub path: String,
    /// The request id, for support.
    pub request_id: String,
    /// How much waits for a user, for the tab's title.
    pub waiting: usize,
    /// The page from which the navigation's counts are refreshed.
    pub inbox: String,
    /// Whether the page can be read again under its address, so that its parts may refresh.
    pub is_live: bool,
}

impl Frame {
    pub(super) fn of(visit: &Visit, title: &str) -> Frame {
        let inner = visit.inner();
        let console = &inner.console;
        Frame {
            title: title.to_owned(),
            csrf: inner.csrf.clone(),
            login: visit.who().to_owned(),
            nav: nav(visit),
            tenants: tenants(visit),
            tenant: inner.tenant.as_ref().map_or_else(String::new, |tenant| tenant.name.clone()),
            search: link_to(visit, SEARCH),
            searched: inner.query.text("q").to_owned(),
            ribbon: match console.settings.environment {
                Environment::Production => "",
                Environment::Test => "Test system: no real money",
                Environment::Mock => "Sandbox: no real money",
            },
            done: inner.done.clone(),
            path: inner.path.clone(),
            request_id: inner.request_id.clone(),
            waiting: inner.backlog.all(),
            inbox: link_to(visit, INBOX).unwrap_or_default(),
            is_live: inner.is_read && inner.signed.is_some() && !is_costly(&inner.route),
        }
    }
}

/// Whether reading the page again costs much or leaves an audit entry.
fn is_costly(route: &str) -> bool {
    route.ends_with("/search") || route.ends_with("/verify")
}

/// The address of an entry; `None` if the user may not use it.
fn link_to(visit: &Visit, to: &str) -> Option<String> {
    let href = match (to.contains("{tenant}"), shown_tenant(visit)) {
        (true, None) => return None,
        (true, Some(tag)) => to.replace("{tenant}", tag),
        (false, _) => to.to_owned(),
    };
    visit.may_use("GET", to).then_some(href)
}

/// How much waits behind an entry.
fn waiting_at(to: &str, backlog: &Backlog) -> usize {
    match to {
        INBOX => backlog.all(),
        REVIEW => backlog.reviews,
        ALERTS => backlog.alerts,
        APPROVALS => backlog.approvals,
        WEBHOOKS => backlog.endpoints,
        _ => 0,
    }
}

/// The tenant that links lead to: the page's own, or the first of the user's scope.
fn shown_tenant(visit: &Visit) -> Option<&str> {
    let inner = visit.inner();
    inner.tenant.as_ref().or(inner.tenants.first()).map(|tenant| tenant.tag.as_str())
}

fn nav(visit: &Visit) -> Vec<NavGroup> {
    let inner = visit.inner();
    let link = |(title, to): &Entry| {
        let href = link_to(visit, to)?;
        let below = inner
            .route
            .strip_prefix(to)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        // Sandbox tools exist only in a sandbox.
        let is_there = !to.ends_with("/sandbox") || visit.console().outside.sandbox().is_some();
        let waiting = waiting_at(to, &inner.backlog);
        is_there.then_some(NavLink { title, href, is_here: below, waiting })
    };
    let group = |(title, entries): &(&'static str, &[Entry])| {
        let links: Vec<NavLink> = entries.iter().filter_map(link).collect();
        (!links.is_empty()).then_some(NavGroup { title, links })
    };
    NAV.iter().filter_map(group).collect()
}

/// The same list page of other tenants; from a record's page, its list.
fn tenants(visit: &Visit) -> Vec<TenantLink> {
    let inner = visit.inner();
    let Some(here) = &inner.tenant else { return Vec::new() };
    let place = NAV.iter().flat_map(|(_, entries)| *entries).map(|(_, to)| *to);
    let place = place.filter(|to| inner.route.starts_with(*to)).max_by_key(|to| to.len());
    let place = place.unwrap_or("/console/t/{tenant}/overview");
    let link = |tenant: &std::sync::Arc<engine::wallets::Tenant>| TenantLink {
        name: tenant.name.clone(),
        href: place.replace("{tenant}", &tenant.tag),
        is_here: tenant.id == here.id,
    };
    inner.tenants.iter().map(link).collect()
}
