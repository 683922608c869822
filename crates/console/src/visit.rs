//! A request as pages see it: the user, the tenant, the form.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::response::Response;
use domain::audit::WHY_MAX_CHARS;
use domain::audit::{self, INSTALLATION, Note, Via};
use domain::characters::entered;
use domain::ids::TenantId;
use domain::user::{Role, User};
use engine::backoffice::Waiting;
use engine::console::{Proposal, ProposedAction};
use engine::payments::Caller;
use engine::wallets::Tenant;
use http::request::Parts;

use super::again::Retry;
use super::answer::{Stop, see_other};
use super::form::{Form, encoded};
use super::guard::Counts;
use super::layout::{Frame, Look};
use super::session::{Signed, Token};
use super::setup::STEP;
use super::state::Console;
use super::{access, cookies};

/// A request that passed the guard. Handlers take it as an argument; cheap to clone.
#[derive(Clone)]
pub struct Visit(Arc<Inner>);

pub(super) struct Inner {
    pub(super) console: Arc<Console>,
    /// The signed-in user; `None` before sign-in.
    pub(super) signed: Option<Signed>,
    /// The user whose sign-in is in progress.
    pub(super) step: Option<Signed>,
    /// The CSRF token of this page's forms.
    pub(super) csrf: String,
    /// The tenants that the user may access, by tag.
    pub(super) tenants: Vec<Arc<Tenant>>,
    /// The tenant in the path.
    pub(super) tenant: Option<Arc<Tenant>>,
    pub(super) params: Vec<(String, String)>,
    pub(super) query: Form,
    pub(super) form: Form,
    /// The route, as in the router.
    pub(super) route: String,
    /// The path with its query.
    pub(super) path: String,
    pub(super) peer: Option<IpAddr>,
    pub(super) user_agent: String,
    /// The chosen colours and density.
    pub(super) look: Look,
    /// The browser's sign-in in progress at the identity provider.
    pub(super) departure: Option<Token>,
    pub(super) request_id: String,
    /// The confirmation of the previous action.
    pub(super) done: Option<String>,
    /// The refused form that this page shows again.
    pub(super) retry: Option<Arc<Retry>>,
    /// What waits for the user, and at which tenant.
    pub(super) counts: Counts,
    /// Tag of the tenant whose pages were opened last.
    pub(super) last: Option<String>,
    /// Whether the page was asked for with GET.
    pub(super) is_read: bool,
    /// Whether the page refreshes itself.
    pub(super) is_refresh: bool,
    /// Whether it is a refresh without the parts that change slowly.
    pub(super) is_quick_refresh: bool,
}

impl Visit {
    pub(super) fn new(inner: Inner) -> Visit {
        Visit(Arc::new(inner))
    }

    /// The console: services, settings, clocks.
    pub fn console(&self) -> &Console {
        &self.0.console
    }

    /// The signed-in user. Routes that require one are not reached without.
    ///
    /// # Errors
    /// [`Stop::Forbidden`]: no user is signed in.
    pub fn user(&self) -> Result<&User, Stop> {
        self.0.signed.as_ref().map(|signed| &signed.user).ok_or(Stop::Forbidden)
    }

    /// The name for audit entries and decisions; empty while signed out.
    pub fn who(&self) -> &str {
        self.0.signed.as_ref().map_or("", |signed| &signed.user.login)
    }

    pub(super) fn signed(&self) -> Option<&Signed> {
        self.0.signed.as_ref()
    }

    /// The user who is signed in or signing in.
    pub(super) fn step(&self) -> Option<&Signed> {
        self.0.step.as_ref().or(self.0.signed.as_ref())
    }

    /// The session's CSRF token, known only to its pages.
    pub(super) fn csrf(&self) -> &str {
        &self.0.csrf
    }

    pub(super) fn peer(&self) -> Option<IpAddr> {
        self.0.peer
    }

    /// Whether the user has one of these roles: for display only. Access to a route is guarded by
    /// its row.
    pub fn may(&self, roles: &[Role]) -> bool {
        self.0.signed.as_ref().is_some_and(|signed| signed.user.has_any(roles))
    }

    /// Whether the user may use a route such as `("POST",
    /// "/console/t/{tenant}/wallets/{id}/block")`: for showing only buttons that work.
    pub fn may_use(&self, method: &str, route: &str) -> bool {
        access::row(method, route)
            .is_some_and(|row| row.admits(self.0.signed.as_ref().map(|signed| &signed.user)))
    }

    /// Whether the user may open the page that a link leads to. Pages outside of the console are
    /// open to all.
    pub fn may_open(&self, href: &str) -> bool {
        let user = self.0.signed.as_ref().map(|signed| &signed.user);
        access::row_of_page(href).is_none_or(|row| row.admits(user))
    }

    /// The tenant in the path; the user may access it.
    ///
    /// # Errors
    /// [`Stop::NotFound`]: the route has no `{tenant}`.
    pub fn tenant(&self) -> Result<&Arc<Tenant>, Stop> {
        self.0.tenant.as_ref().ok_or(Stop::NotFound)
    }

    /// The tenants that the user may access, by tag.
    pub fn tenants(&self) -> &[Arc<Tenant>] {
        &self.0.tenants
    }

    /// How much waits at a tenant.
    pub(super) fn waiting_at(&self, tenant: TenantId) -> u64 {
        let counts = &self.0.counts;
        if counts.shown.as_ref().is_some_and(|shown| shown.id == tenant) {
            return counts.backlog.all();
        }
        let found = counts.by_tenant.iter().find(|(id, _)| *id == tenant);
        found.map_or(0, |(_, waiting)| waiting.all())
    }

    /// The tenants besides the page's at which something waits, with how much.
    pub(super) fn waiting_elsewhere(&self) -> Vec<(&Tenant, u64)> {
        let named = |(id, waiting): (TenantId, &Waiting)| {
            let tenant = self.0.tenants.iter().find(|tenant| tenant.id == id)?;
            Some((&**tenant, waiting.all()))
        };
        self.0.counts.elsewhere().filter_map(named).collect()
    }

    /// The tenant as the services' caller.
    ///
    /// # Errors
    /// As [`Visit::tenant`].
    pub fn caller(&self) -> Result<Caller, Stop> {
        let tenant = self.tenant()?;
        Ok(Caller { tenant: tenant.id, policy: Arc::new(tenant.policy.clone()) })
    }

    /// The tenant's id.
    ///
    /// # Errors
    /// As [`Visit::tenant`].
    pub fn tenant_id(&self) -> Result<TenantId, Stop> {
        Ok(self.tenant()?.id)
    }

    /// A path below the tenant's: `visit.href("/payments")` is `/console/t/demobank/payments`.
    pub fn href(&self, below: &str) -> String {
        match &self.0.tenant {
            Some(tenant) => format!("/console/t/{}{below}", tenant.tag),
            None => format!("/console{below}"),
        }
    }

    /// A path parameter, percent-decoded; empty if the route has none with this name.
    pub fn param(&self, name: &str) -> &str {
        self.0
            .params
            .iter()
            .find(|(known, _)| known == name)
            .map_or("", |(_, value)| value.as_str())
    }

    /// A path parameter that is an id: `visit.id(PaymentId::parse)`.
    ///
    /// # Errors
    /// [`Stop::NotFound`]
    pub fn id<T>(&self, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, Stop> {
        parse(self.param("id")).ok_or(Stop::NotFound)
    }

    /// Whether the page refreshes itself, without its user.
    pub fn is_refresh(&self) -> bool {
        self.0.is_refresh
    }

    /// Whether the answer should have parts that change slowly and cost much to read.
    pub fn wants_slow_parts(&self) -> bool {
        !self.0.is_quick_refresh
    }

    pub fn query(&self) -> &Form {
        &self.0.query
    }

    /// The posted form; its CSRF token was verified.
    pub fn form(&self) -> &Form {
        &self.0.form
    }

    /// The reason for an action: the form's field `why`, which must not be blank.
    ///
    /// # Errors
    /// [`Stop::Wrong`]
    pub fn why(&self) -> Result<&str, Stop> {
        let words =
            || format!("Please enter a reason of 1 to {WHY_MAX_CHARS} printable characters.");
        let why = entered(self.0.form.text("why"), WHY_MAX_CHARS);
        why.ok_or_else(|| Stop::Wrong("why", words()))
    }

    /// The refused form that this page shows again.
    pub(super) fn retry(&self) -> Option<&Retry> {
        self.0.retry.as_deref()
    }

    /// The layout of a page with this title: navigation, user, form token, confirmation.
    pub fn frame(&self, title: &str) -> Frame {
        Frame::of(self, title)
    }

    /// The step of the guided setup whose page sent the form.
    fn step_href(&self) -> Option<String> {
        let step = self.0.form.given(STEP).filter(|_| self.0.tenant.is_some())?;
        Some(self.href(&format!("/setup/{}", encoded(step))))
    }

    /// The link from the result of a form to the page below the tenant's that it belongs to, or back
    /// to the guided setup.
    pub fn back(&self, below: &str, words: &str) -> (String, String) {
        match self.step_href() {
            Some(step) => (step, "Back to the setup".to_owned()),
            None => (self.href(below), words.to_owned()),
        }
    }

    /// Redirects after a form, with a confirmation on the next page.
    pub fn done(&self, path: &str, words: &str) -> Response {
        let mut response = see_other(self.step_href().as_deref().unwrap_or(path));
        cookies::say(response.headers_mut(), words, &self.0.console.settings);
        response
    }

    /// Proposes an action that requires two users, and redirects to the page of its decision.
    ///
    /// # Errors
    /// The same is already proposed, or the store fails.
    pub async fn propose(&self, deed: ProposedAction, why: &str) -> Result<Response, Stop> {
        let tenant = self.0.tenant.as_ref().map(|tenant| tenant.id);
        let maker = self.user()?.clone();
        let proposal = Proposal { tenant, deed, maker, why: why.to_owned(), by: self.deed(why) };
        let id = self.0.console.desk.propose(proposal).await?;
        let words = "Proposed. Another user has to approve it.";
        Ok(self.done(&format!("/console/approvals/{id}"), words))
    }

    /// The actor of this request with the reason, for the audit log.
    pub fn deed(&self, why: &str) -> audit::AuditContext {
        let roles = self.0.signed.as_ref().map(|signed| &signed.user.roles);
        let roles: Vec<&str> = roles.into_iter().flatten().map(|role| role.name()).collect();
        let who = self.step().map_or("", |signed| signed.user.login.as_str());
        audit::AuditContext::new(Via::Console, who)
            .with_role(roles.join(","))
            .because(why)
            .of_request(self.request_id())
    }

    /// Records an action in the audit log, for actions without an entry of their own.
    pub async fn note(&self, action: &str, subject: &str, detail: &str) -> Result<(), Stop> {
        let tenant = self.0.tenant.as_ref().map_or(INSTALLATION, |tenant| tenant.id);
        let kind = action.split_once('.').map_or(action, |(kind, _)| kind);
        let note = Note::new(action, kind, subject);
        Ok(self.console().store().append_audit(tenant, self.deed(detail), note).await?)
    }

    /// Records a download by the user: a file, a receipt.
    pub async fn took(&self, what: Note) -> Result<(), Stop> {
        let tenant = self.0.tenant.as_ref().map_or(INSTALLATION, |tenant| tenant.id);
        Ok(self.console().store().append_audit(tenant, self.deed(""), what).await?)
    }

    /// The path of this request with its query.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    pub(super) fn inner(&self) -> &Inner {
        &self.0
    }

    /// The id of this request, as its answer carries it.
    pub fn request_id(&self) -> &str {
        &self.0.request_id
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Visit {
    type Rejection = Stop;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Visit, Stop> {
        // Only a route outside the guard has none.
        parts.extensions.get::<Visit>().cloned().ok_or(Stop::Forbidden)
    }
}
