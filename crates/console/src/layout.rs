//! The layout of every page: navigation, user, tenant, confirmation.

use std::sync::Arc;

use domain::policy::Environment;
use domain::time::Timestamp;

use super::again::Retry;
use super::guard::Counts;
use super::parts::{Cell, ago};
use super::visit::Visit;

/// A navigation entry: title, icon and route. Entries that the user may not use are hidden.
type Entry = (&'static str, &'static str, &'static str);

/// The navigation, in groups.
const NAV: &[(&str, &[Entry])] = &[
    ("", &[("Needs you", "inbox", INBOX), ("Overview", "overview", OVERVIEW)]),
    (
        "Payments",
        &[("Payments", "payments", PAYMENTS), ("Quotes", "quote", "/console/t/{tenant}/quotes")],
    ),
    (
        "Wallets",
        &[
            ("Wallets", "wallet", "/console/t/{tenant}/wallets"),
            ("Requests", "request", "/console/t/{tenant}/requests"),
            ("Deposits", "deposit", "/console/t/{tenant}/deposits"),
            ("Orders", "order", "/console/t/{tenant}/orders"),
        ],
    ),
    (
        "Decisions",
        &[
            ("Review queue", "review", REVIEW),
            ("Alerts", "alert", ALERTS),
            ("Approvals", "approve", APPROVALS),
        ],
    ),
    (
        "Money",
        &[
            ("Ledger", "ledger", "/console/t/{tenant}/ledger"),
            ("Statements", "statement", "/console/t/{tenant}/statements"),
            ("Reconciliation", "recon", "/console/t/{tenant}/reconciliation"),
            ("Rates and spread", "rates", "/console/t/{tenant}/rates"),
            ("Corridors and rails", "corridor", "/console/t/{tenant}/corridors"),
        ],
    ),
    (
        "Connections",
        &[
            ("Go-live checklist", "flag", "/console/t/{tenant}/setup"),
            ("Policy", "policy", "/console/t/{tenant}/policy"),
            ("Brand", "brand", "/console/t/{tenant}/brand"),
            ("Webhooks", "webhook", WEBHOOKS),
            ("Keys", "key", "/console/t/{tenant}/keys"),
        ],
    ),
    (
        "Installation",
        &[
            ("Tenants", "bank", "/console/tenants"),
            ("Users", "users", "/console/users"),
            ("Audit log", "audit", "/console/audit"),
            ("System health", "health", "/console/system"),
            ("Sandbox tools", "lab", SANDBOX),
        ],
    ),
];

/// Entries of the bar at the bottom of a narrow screen; the first three that the user may use.
const SHORTCUTS: [&str; 4] = [INBOX, PAYMENTS, OVERVIEW, REVIEW];

/// The guide for the pages below a route.
const GUIDES: &[(&str, &str)] = &[
    ("/webhooks", "/docs/guides/receiving-webhooks"),
    ("/keys", "/docs/guides/keys"),
    ("/corridors", "/docs/guides/corridors-and-rails"),
    ("/rates", "/docs/guides/corridors-and-rails"),
    ("/review", "/docs/guides/compliance"),
    ("/policy", "/docs/guides/compliance"),
    ("/deposits", "/docs/guides/screening"),
    ("/payments", "/docs/reference/states"),
    ("/quotes", "/docs/reference/states"),
    ("/orders", "/docs/reference/states"),
    ("/requests", "/docs/reference/states"),
    ("/sandbox", "/docs/guides/sandbox"),
    ("/system", "/docs/guides/going-live"),
    ("/setup", "/docs/guides/going-live"),
    ("/tenants", "/docs/guides/going-live"),
];

/// The landing page: everything that waits for a user.
const INBOX: &str = "/console/t/{tenant}/inbox";
const OVERVIEW: &str = "/console/t/{tenant}/overview";
const PAYMENTS: &str = "/console/t/{tenant}/payments";
const SANDBOX: &str = "/console/t/{tenant}/sandbox";
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
    pub icon: &'static str,
    pub href: String,
    /// Whether this page is it or is below it.
    pub is_here: bool,
    /// How much waits there.
    pub waiting: u64,
}

/// A tenant that the user may switch to.
#[derive(Clone, Debug)]
pub struct TenantLink {
    pub name: String,
    /// The same page for that tenant.
    pub href: String,
    /// Whether this page belongs to it.
    pub is_here: bool,
    /// How much waits there.
    pub waiting: u64,
}

/// Why a form that was sent is shown again.
#[derive(Clone, Debug)]
pub struct Fault {
    pub words: String,
    /// The id of the wrong field, or of the form.
    pub at: Option<String>,
}

/// What a record is recognised by, in place of its page's title.
#[derive(Clone, Debug)]
pub struct Headline {
    /// The list that it is in: URL and name.
    pub list: (String, &'static str),
    /// Its amount or its name.
    pub text: String,
    /// Its state, as in lists.
    pub state: Cell,
    /// A sentence about it; may be empty.
    pub why: String,
}

/// The user's choice of colours and density, kept in a cookie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Attribute of the page; `None` follows the system.
    pub theme: Option<&'static str>,
    pub is_compact: bool,
}

impl Look {
    /// Colours: value and label.
    pub const THEMES: [(&str, &str); 3] =
        [("system", "as the system"), ("light", "light"), ("dark", "dark")];
    /// Densities: value and label.
    pub const DENSITIES: [(&str, &str); 2] = [("normal", "normal"), ("compact", "compact")];

    /// Parses `dark.compact`; unknown parts are the usual ones.
    pub fn parse(text: &str) -> Look {
        let (theme, density) = text.split_once('.').unwrap_or_default();
        let known = Look::THEMES[1..].iter().map(|(value, _)| *value).find(|value| *value == theme);
        Look { theme: known, is_compact: density == Look::DENSITIES[1].0 }
    }

    /// The values of both choices.
    pub fn values(self) -> (&'static str, &'static str) {
        let density = Look::DENSITIES[usize::from(self.is_compact)].0;
        (self.theme.unwrap_or(Look::THEMES[0].0), density)
    }
}

/// The layout of a page. Page templates have it in a field named `frame`.
#[derive(Clone, Debug)]
pub struct Frame {
    pub title: String,
    pub headline: Option<Headline>,
    pub look: Look,
    /// The CSRF token that every form of the page carries.
    pub csrf: String,
    /// The user's login name; empty while signed out.
    pub login: String,
    /// The navigation, limited to what the user may use.
    pub nav: Vec<NavGroup>,
    /// The bar at the bottom of a narrow screen.
    pub shortcuts: Vec<NavLink>,
    /// The guide for this page.
    pub guide: &'static str,
    /// The tenants that the user may access.
    pub tenants: Vec<TenantLink>,
    /// Name of the page's tenant.
    pub tenant: String,
    /// The action of the search box; `None` where search is unavailable.
    pub search: Option<String>,
    pub searched: String,
    /// The text of the environment ribbon; empty in production.
    pub ribbon: &'static str,
    /// The sandbox tools, where the user may use them.
    pub sandbox: Option<String>,
    /// The confirmation of the last action.
    pub done: Option<String>,
    /// The refusal of the form that was sent.
    pub fault: Option<Fault>,
    /// The form that was refused.
    retry: Option<Arc<Retry>>,
    /// The business time, from which ages are counted.
    now: Timestamp,
    /// The path of this page with its query, which live regions reload.
    pub path: String,
    /// The request id, for support.
    pub request_id: String,
    /// How much waits for a user, for the tab's title.
    pub waiting: u64,
    /// The page from which the navigation's counts are refreshed.
    pub inbox: String,
    /// Whether the page can be read again under its address, so that its parts may refresh.
    pub is_live: bool,
}

impl Frame {
    pub(super) fn of(visit: &Visit, title: &str) -> Frame {
        let inner = visit.inner();
        let console = &inner.console;
        let nav = nav(visit);
        let shortcut = |to: &&str| {
            let href = link_to(visit, to)?;
            nav.iter().flat_map(|group| &group.links).find(|link| link.href == href).cloned()
        };
        let fault = |retry: &Arc<Retry>| Fault {
            words: retry.words.clone(),
            at: retry.field.map(str::to_owned),
        };
        Frame {
            title: title.to_owned(),
            headline: None,
            look: inner.look,
            csrf: inner.csrf.clone(),
            login: visit.who().to_owned(),
            shortcuts: SHORTCUTS.iter().filter_map(shortcut).take(3).collect(),
            guide: guide(&inner.route),
            sandbox: link_to(visit, SANDBOX).filter(|_| console.outside.sandbox().is_some()),
            fault: inner.retry.as_ref().map(fault),
            retry: inner.retry.clone(),
            now: console.now(),
            nav,
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
            waiting: inner.counts.backlog.all(),
            inbox: link_to(visit, INBOX).unwrap_or_default(),
            is_live: inner.is_read
                && inner.retry.is_none()
                && inner.signed.is_some()
                && !is_costly(&inner.route),
        }
    }

    /// The path of this page without its query.
    pub fn address(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// How long ago an instant was.
    pub fn ago(&self, at: &Timestamp) -> String {
        ago(*at, self.now)
    }

    /// What was typed into a field of the refused form with this action.
    pub fn typed(&self, action: &str, name: &str) -> &str {
        let retry = self.retry.as_ref().filter(|retry| retry.action == action);
        retry.map_or("", |retry| retry.form.text(name))
    }

    /// Whether the form with this action was refused.
    pub fn retries(&self, action: &str) -> bool {
        self.retry.as_ref().is_some_and(|retry| retry.action == action)
    }

    pub fn is_signed_in(&self) -> bool {
        !self.login.is_empty()
    }

    /// The bank's first letter, in place of a logo.
    pub fn logo(&self) -> String {
        let name = if self.tenant.is_empty() { "Corridor" } else { &self.tenant };
        name.chars().next().into_iter().flat_map(char::to_uppercase).collect()
    }

    /// How much waits at other tenants.
    pub fn waiting_elsewhere(&self) -> u64 {
        self.tenants.iter().filter(|tenant| !tenant.is_here).map(|tenant| tenant.waiting).sum()
    }

    /// The first two letters of the user's name.
    pub fn initials(&self) -> String {
        self.login.chars().take(2).flat_map(char::to_uppercase).collect()
    }
}

/// The guide for a route; the documentation's first page where there is none.
fn guide(route: &str) -> &'static str {
    let found = GUIDES.iter().find(|(part, _)| route.contains(part));
    found.map_or("/docs", |(_, guide)| guide)
}

/// Whether reading the page again costs much or leaves an audit entry.
fn is_costly(route: &str) -> bool {
    ["/search", "/verify", "/ledger", "/setup", "/brand"].iter().any(|end| route.ends_with(end))
        || route.contains("/setup/")
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
fn waiting_at(to: &str, counts: &Counts) -> u64 {
    let backlog = &counts.backlog;
    match to {
        INBOX => backlog.all(),
        REVIEW => backlog.reviews,
        ALERTS => backlog.alerts,
        APPROVALS => counts.approvals(),
        WEBHOOKS => backlog.endpoints,
        _ => 0,
    }
}

/// The tenant that links lead to: the page's own, or the one whose pages open first.
fn shown_tenant(visit: &Visit) -> Option<&str> {
    let inner = visit.inner();
    let shown = inner.tenant.as_ref().or(inner.counts.shown.as_ref()).or(inner.tenants.first());
    shown.map(|tenant| tenant.tag.as_str())
}

fn nav(visit: &Visit) -> Vec<NavGroup> {
    let inner = visit.inner();
    let link = |(title, icon, to): &Entry| {
        let href = link_to(visit, to)?;
        let below = inner
            .route
            .strip_prefix(to)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        // Sandbox tools exist only in a sandbox.
        let is_there = *to != SANDBOX || visit.console().outside.sandbox().is_some();
        let waiting = waiting_at(to, &inner.counts);
        is_there.then_some(NavLink { title, icon, href, is_here: below, waiting })
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
    let place = NAV.iter().flat_map(|(_, entries)| *entries).map(|(_, _, to)| *to);
    let place = place.filter(|to| inner.route.starts_with(*to)).max_by_key(|to| to.len());
    let place = place.unwrap_or(OVERVIEW);
    let link = |tenant: &Arc<engine::wallets::Tenant>| TenantLink {
        name: tenant.name.clone(),
        href: place.replace("{tenant}", &tenant.tag),
        is_here: tenant.id == here.id,
        waiting: visit.waiting_at(tenant.id),
    };
    inner.tenants.iter().map(link).collect()
}
