//! Users: the list, adding a user, changing roles and scopes. A new user has no access until two
//! users agree on it; passwords and one-time codes are reset on the server's command line.

use std::collections::BTreeSet;

use askama::Template;
use domain::ids::{TenantId, UserId};
use domain::user::{Role, Scope, login_name};
use engine::console::{Approval, NewUser, Proposal, ProposedAction, StoredUser, UserChange};
use http::StatusCode;
use tokio::task::spawn_blocking;

use super::account::way_in;
use super::answer::{Answer, Stop, html, page_with};
use super::layout::Frame;
use super::parts::{Cell, Row, Table, Tone};
use super::password;
use super::routes::Routes;
use super::visit::Visit;

/// The page of all users.
pub(super) const LIST: &str = "/console/users";

pub(super) fn routes() -> Routes {
    Routes::new()
        .get(LIST, list)
        .post(LIST, create)
        .get("/console/users/{id}", show)
        .post("/console/users/{id}/access", propose_access)
        .post("/console/users/{id}/disable", disable)
        .post("/console/users/{id}/enable", enable)
}

#[derive(Template)]
#[template(path = "console/users.html")]
struct ListPage {
    frame: Frame,
    table: Table,
    may_create: bool,
    /// Whether an identity provider is configured.
    has_provider: bool,
    /// Login of the user who was just added.
    made: Option<String>,
    /// Whether they sign in through the identity provider.
    made_there: bool,
}

#[derive(Template)]
#[template(path = "console/user.html")]
struct UserPage {
    frame: Frame,
    id: UserId,
    facts: Vec<(&'static str, Cell)>,
    waiting: Vec<Approval>,
    may_change: bool,
    is_disabled: bool,
    /// Whether the user is bound to a subject of the identity provider.
    is_bound: bool,
    /// Each role with its permissions, and whether it is ticked.
    roles: Vec<(&'static str, &'static str, bool)>,
    scopes: Vec<(String, String, bool)>,
}

/// What a role permits.
const fn permissions(role: Role) -> &'static str {
    match role {
        Role::Viewer => "See payments and wallets.",
        Role::Operator => "Daily work: block wallets, cancel requests, resend webhooks, propose.",
        Role::Approver => "Approve proposals of other users.",
        Role::Compliance => "Decide reviews; approve actions on wallets and deposits.",
        Role::Treasury => "Rates, margins and the ledger; approve actions on funds.",
        Role::Admin => "Users, keys and endpoints; approve actions on them.",
        Role::Auditor => "See everything, including users and the audit log, and change nothing.",
    }
}

fn standing(found: &StoredUser) -> Cell {
    match found {
        _ if found.disabled_at.is_some() => Cell::state("disabled", Tone::Bad),
        _ if found.user.roles.is_empty() => Cell::state("no roles yet", Tone::Warn),
        _ => Cell::state("active", Tone::Good),
    }
}

fn roles_cell(found: &StoredUser) -> Cell {
    let names: Vec<&str> = found.user.roles.iter().map(|role| role.name()).collect();
    Cell::maybe((!names.is_empty()).then(|| names.join(", ")))
}

fn scope_words(scope: Scope, visit: &Visit) -> String {
    match scope {
        Scope::All => "every tenant".to_owned(),
        Scope::Tenant(id) => {
            let known = visit.tenants().iter().find(|tenant| tenant.id == id);
            known.map_or_else(|| id.to_string(), |tenant| tenant.name.clone())
        }
    }
}

async fn list(visit: Visit) -> Answer {
    list_page(&visit, None, StatusCode::OK).await
}

async fn list_page(visit: &Visit, made: Option<NewUser>, status: StatusCode) -> Answer {
    let users = visit.console().store().users().await?;
    let row = |found: &StoredUser| -> Row {
        vec![
            Cell::link(format!("/console/users/{}", found.user.id), &found.user.login),
            roles_cell(found),
            Cell::text(scope_words(found.user.scope, visit)),
            Cell::text(match &found.provider {
                Some(_) => "identity provider",
                None if found.totp.is_some() => "password and code",
                None => "password, codes not set up",
            }),
            standing(found),
            Cell::When(found.created_at),
        ]
    };
    let head = ["Name", "Roles", "Scope", "Signs in with", "State", "Since"];
    let table = Table::new("Users", &head, users.iter().map(row).collect());
    let may_create = visit.may_use("POST", LIST);
    let has_provider = visit.console().provider.is_some();
    let made_there = made.as_ref().is_some_and(|made| made.provider_name.is_some());
    let made = made.map(|made| made.login);
    let frame = visit.frame("Users");
    page_with(status, &ListPage { frame, table, may_create, has_provider, made, made_there })
}

async fn create(visit: Visit) -> Answer {
    let console = visit.console();
    let login = login_name(visit.form().text("login")).ok_or_else(|| {
        Stop::wrong(
            "login",
            "A name must have 1 to 64 characters of a-z, 0-9 and . _ - @ + and start with a letter or a digit.",
        )
    })?;
    if console.store().user_by_login(&login).await?.is_some() {
        return Err(Stop::Refused("A user with this name already exists.".to_owned()));
    }
    let provider_name = provider_name(&visit).await?;
    let password = match provider_name {
        Some(_) => String::new(),
        None => unknown_password(&visit).await?,
    };
    let (roles, scope, password_is_initial) =
        (BTreeSet::new(), Scope::All, provider_name.is_none());
    let new = NewUser { login, roles, scope, password, password_is_initial, provider_name };
    console.store().create_user(&new, console.wall_now(), visit.deed("")).await?;
    list_page(&visit, Some(new), StatusCode::CREATED).await
}

/// A random password that is never shown, since knowing it would allow acting as a second user. The
/// initial one is set on the server.
async fn unknown_password(visit: &Visit) -> Result<String, Stop> {
    let store = visit.console().store();
    let (unknown, salt) = (password::initial(store.random()), store.random());
    let hashing = spawn_blocking(move || password::hash(&unknown, salt));
    hashing.await.map_err(|error| Stop::failed(&error))
}

/// The form's name at the identity provider, if no other user has it.
async fn provider_name(visit: &Visit) -> Result<Option<String>, Stop> {
    let console = visit.console();
    let (Some(provider), Some(given)) = (&console.provider, visit.form().given("provider_name"))
    else {
        return Ok(None);
    };
    let name = provider.claim.kept(given).ok_or_else(|| {
        Stop::wrong(
            "provider_name",
            "A name at the identity provider must have at most 255 characters and no spaces.",
        )
    })?;
    match console.store().user_by_provider_name(&name).await? {
        Some(_) => Err(Stop::Refused(
            "Another user already has this name at the identity provider.".to_owned(),
        )),
        None => Ok(Some(name)),
    }
}

async fn found(visit: &Visit) -> Result<StoredUser, Stop> {
    visit.console().store().user(visit.id(UserId::parse)?).await?.ok_or(Stop::NotFound)
}

async fn show(visit: Visit) -> Answer {
    let (found, console) = (found(&visit).await?, visit.console());
    let used = console.wall_now() - console.settings.idle;
    let sessions = console.store().open_sessions(found.user.id, used).await?;
    let mut facts = vec![
        ("State", standing(&found)),
        ("Roles", roles_cell(&found)),
        ("Scope", Cell::text(scope_words(found.user.scope, &visit))),
        ("Signs in", Cell::text(way_in(&found))),
        ("Active sessions", Cell::text(sessions.to_string())),
        ("Since", Cell::When(found.created_at)),
    ];
    match &found.provider {
        None => facts.push(("Password since", Cell::When(found.password_at))),
        Some(login) => {
            let bound = login.bound.as_ref();
            facts.push((
                "Identity provider",
                Cell::maybe(bound.map(|subject| subject.issuer.clone())),
            ));
            facts
                .push(("Bound subject", Cell::maybe(bound.map(|subject| subject.subject.clone()))));
        }
    }
    let waiting = console.desk.waiting_about(None, &found.user.id.to_string()).await?;
    // A refused proposal keeps what was chosen.
    let chosen =
        visit.retry().map(|retry| &retry.form).filter(|form| form.given("scope").is_some());
    let scope = found.user.scope;
    let is_in =
        |value: &str, is_scope: bool| chosen.map_or(is_scope, |form| form.text("scope") == value);
    let of_tenant = |tenant: &std::sync::Arc<engine::wallets::Tenant>| {
        let id = tenant.id.to_string();
        let is_in = is_in(&id, scope == Scope::Tenant(tenant.id));
        (id, tenant.name.clone(), is_in)
    };
    let all = is_in("all", scope == Scope::All);
    let mut scopes = vec![("all".to_owned(), "every tenant".to_owned(), all)];
    scopes.extend(visit.tenants().iter().map(of_tenant));
    let ticked = |role: Role| {
        let has = found.user.roles.contains(&role);
        let has = chosen.map_or(has, |form| form.all("role").any(|name| name == role.name()));
        (role.name(), permissions(role), has)
    };
    html(&UserPage {
        frame: visit.frame(&found.user.login),
        id: found.user.id,
        facts,
        waiting,
        may_change: visit.may_use("POST", "/console/users/{id}/access"),
        is_disabled: found.disabled_at.is_some(),
        is_bound: found.provider.as_ref().is_some_and(|login| login.bound.is_some()),
        roles: Role::ALL.into_iter().map(ticked).collect(),
        scopes,
    })
}

async fn propose_access(visit: Visit) -> Answer {
    let found = found(&visit).await?;
    let (form, why) = (visit.form(), visit.why()?);
    let unknown = || Stop::Invalid("Please choose roles and a scope.".to_owned());
    let roles: BTreeSet<Role> = form
        .all("role")
        .map(|name| Role::parse(name).ok_or_else(unknown))
        .collect::<Result<_, _>>()?;
    let scope = match form.text("scope") {
        "all" => Scope::All,
        text => Scope::Tenant(TenantId::parse(text).ok_or_else(unknown)?),
    };
    let deed = ProposedAction::SetUserAccess {
        user: found.user.id,
        roles: roles.into_iter().collect(),
        scope,
    };
    let (maker, by) = (visit.user()?.clone(), visit.deed(why));
    let proposal = Proposal { tenant: None, deed, maker, why: why.to_owned(), by };
    let id = visit.console().desk.propose(proposal).await?;
    Ok(visit.done(&format!("/console/approvals/{id}"), "Proposed. Another user has to approve it."))
}

async fn disable(visit: Visit) -> Answer {
    let found = found(&visit).await?;
    if found.user.id == visit.user()?.id {
        return Err(Stop::Refused("You cannot disable your own account.".to_owned()));
    }
    change(&visit, &found, &UserChange::Disable, "Disabled, and signed out everywhere.").await
}

async fn enable(visit: Visit) -> Answer {
    let found = found(&visit).await?;
    change(&visit, &found, &UserChange::Enable, "Enabled.").await
}

async fn change(visit: &Visit, found: &StoredUser, change: &UserChange, words: &str) -> Answer {
    let console = visit.console();
    console.store().change_user(&found.user, change, console.wall_now(), visit.deed("")).await?;
    Ok(visit.done(&format!("/console/users/{}", found.user.id), words))
}
