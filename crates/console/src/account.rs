//! The user's own account: roles, password, signing out here and everywhere.

use askama::Template;
use domain::user::User;
use engine::console::{Stage, StoredUser, UserChange};
use http::StatusCode;
use tokio::task::spawn_blocking;

use super::answer::{Answer, Stop, page_with, see_other};
use super::cookies::{self, Cookie};
use super::guard::LOGIN;
use super::layout::{Frame, Look};
use super::parts::Cell;
use super::routes::Routes;
use super::session::Signed;
use super::state::Console;
use super::visit::Visit;
use super::{password, tries};

pub(super) fn routes() -> Routes {
    Routes::new()
        .get("/console", home)
        .get("/console/account", show)
        .post("/console/account/look", choose_look)
        .post("/console/account/password", change_password)
        .post("/console/account/sign-out", sign_out_everywhere)
        .post("/console/logout", sign_out)
}

#[derive(Template)]
#[template(path = "console/account.html")]
struct AccountPage<'a> {
    frame: Frame,
    facts: Vec<(&'static str, Cell)>,
    fault: &'a str,
    has_password: bool,
    looks: [LookChoice; 2],
}

/// A choice of the look.
struct LookChoice {
    label: &'static str,
    name: &'static str,
    /// Values, each with its label and whether it is chosen.
    values: Vec<(&'static str, &'static str, bool)>,
}

/// The first page that the user may use.
async fn home(visit: Visit) -> Answer {
    let nav = visit.frame("").nav;
    let first = nav.first().and_then(|group| group.links.first());
    Ok(see_other(first.map_or("/console/account", |link| link.href.as_str())))
}

async fn show(visit: Visit) -> Answer {
    page(&visit, "", StatusCode::OK).await
}

async fn page(visit: &Visit, fault: &str, status: StatusCode) -> Answer {
    let (console, signed) = (visit.console(), signed(visit)?);
    let user = &signed.user;
    let used = console.wall_now() - console.settings.idle;
    let roles: Vec<&str> = user.roles.iter().map(|role| role.name()).collect();
    let facts = vec![
        ("Name", Cell::text(&user.login)),
        ("Roles", if roles.is_empty() { Cell::Empty } else { Cell::text(roles.join(", ")) }),
        ("Scope", Cell::text(console.desk.scope_words(user.scope).await?)),
        ("Signs in", Cell::text(way_in(&signed.row.user))),
        ("Signed in since", Cell::When(signed.row.created_at)),
        (
            "Active sessions",
            Cell::text(console.store().open_sessions(user.id, used).await?.to_string()),
        ),
    ];
    let has_password = signed.row.user.provider.is_none();
    let frame = visit.frame("Your account");
    let (theme, density) = frame.look.values();
    let choice = |label, name, chosen: &str, all: &[(&'static str, &'static str)]| {
        let value = |(value, label): &(&'static str, _)| (*value, *label, *value == chosen);
        LookChoice { label, name, values: all.iter().map(value).collect() }
    };
    let looks = [
        choice("Colours", "theme", theme, &Look::THEMES),
        choice("Density of lists", "density", density, &Look::DENSITIES),
    ];
    page_with(status, &AccountPage { frame, facts, fault, has_password, looks })
}

/// Stores the choice of colours and density in the browser.
async fn choose_look(visit: Visit) -> Answer {
    let form = visit.form();
    let (theme, density) =
        Look::parse(&format!("{}.{}", form.text("theme"), form.text("density"))).values();
    let mut response = visit.done("/console/account", "Saved in this browser.");
    let settings = &visit.console().settings;
    Cookie::Look.set(response.headers_mut(), &format!("{theme}.{density}"), settings);
    Ok(response)
}

/// The user's sign-in method as text.
pub(super) fn way_in(user: &StoredUser) -> String {
    match &user.provider {
        Some(login) if login.bound.is_some() => {
            format!("through the identity provider as {}", login.name)
        }
        Some(login) => format!("through the identity provider as {}, not yet used", login.name),
        None if user.totp.is_some() => "with a password and one-time codes".to_owned(),
        None => "with a password, without one-time codes".to_owned(),
    }
}

fn signed(visit: &Visit) -> Result<&Signed, Stop> {
    visit.signed().ok_or(Stop::Forbidden)
}

async fn change_password(visit: Visit) -> Answer {
    let (console, signed) = (visit.console(), signed(&visit)?);
    let user = &signed.user;
    if signed.row.user.provider.is_some() {
        return Err(Stop::Refused(
            "You sign in through the identity provider and have no password here.".to_owned(),
        ));
    }
    if let Some(wait) = tries::count_code(console, user).await? {
        return page(&visit, &wait, StatusCode::TOO_MANY_REQUESTS).await;
    }
    let hash = signed.row.user.password.clone();
    if !console
        .is_right_password(visit.form().verbatim("current").to_owned(), Some(hash.clone()))
        .await?
    {
        return page(&visit, "Your current password is wrong.", StatusCode::UNPROCESSABLE_ENTITY)
            .await;
    }
    tries::forget_code(console, user).await?;
    if let Err(fault) = console.set_password(&visit, user, hash).await? {
        return page(&visit, &fault, StatusCode::UNPROCESSABLE_ENTITY).await;
    }
    // The change ends all sessions; this browser continues with a new one.
    let token = console.begin(user, Stage::Open, None, visit.origin(&user.login), None).await?;
    let mut response = visit.done(
        "/console/account",
        "Your password was changed. You are signed out in all other browsers.",
    );
    Cookie::Session.set(response.headers_mut(), &token.text(), &console.settings);
    Ok(response)
}

async fn sign_out(visit: Visit) -> Answer {
    let console = visit.console();
    console.store().end_session(signed(&visit)?.digest).await?;
    let mut response = see_other(LOGIN);
    Cookie::Session.clear(response.headers_mut(), &console.settings);
    cookies::say(response.headers_mut(), "You are signed out.", &console.settings);
    Ok(response)
}

async fn sign_out_everywhere(visit: Visit) -> Answer {
    let console = visit.console();
    console.store().end_sessions_of(&signed(&visit)?.user, visit.deed("")).await?;
    let mut response = see_other(LOGIN);
    Cookie::Session.clear(response.headers_mut(), &console.settings);
    cookies::say(response.headers_mut(), "You are signed out everywhere.", &console.settings);
    Ok(response)
}

impl Console {
    /// Verifies a password outside the serving threads; takes as long without a hash.
    pub(super) async fn is_right_password(
        &self,
        given: String,
        hash: Option<String>,
    ) -> Result<bool, Stop> {
        // A limited number at a time, to bound memory.
        let _turn = self.hashing.acquire().await.map_err(|error| Stop::failed(&error))?;
        let check = move || match hash {
            Some(hash) => password::is_right(&given, &hash),
            None => password::nobody(&given),
        };
        spawn_blocking(check).await.map_err(|error| Stop::failed(&error))
    }

    /// Sets the password that the user entered twice, or returns the error. Ends all of the user's
    /// sessions.
    pub(super) async fn set_password(
        &self,
        visit: &Visit,
        user: &User,
        old: String,
    ) -> Result<Result<(), String>, Stop> {
        let (new, again) =
            (visit.form().verbatim("new").to_owned(), visit.form().verbatim("again"));
        if new != again {
            return Ok(Err("The new passwords do not match.".to_owned()));
        }
        if let Some(fault) = password::fault(&new, &user.login) {
            return Ok(Err(fault));
        }
        if self.is_right_password(new.clone(), Some(old)).await? {
            return Ok(Err("The new password must differ from the current one.".to_owned()));
        }
        let salt = self.store().random();
        let hashing = spawn_blocking(move || password::hash(&new, salt));
        let hash = hashing.await.map_err(|error| Stop::failed(&error))?;
        let change = UserChange::Password { hash, is_initial: false };
        self.store().change_user(user, &change, self.wall_now(), visit.deed("")).await?;
        Ok(Ok(()))
    }

    /// Counts a password attempt of an address.
    pub(super) fn count_sign_in(&self, peer: Option<std::net::IpAddr>) -> Result<(), Stop> {
        let limit = self.settings.sign_ins_per_minute;
        let allowance = self.addresses.take(peer, "console", limit, self.wall_now());
        if allowance.is_granted() { Ok(()) } else { Err(Stop::TooMany) }
    }
}
