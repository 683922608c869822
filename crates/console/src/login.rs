//! Sign-in: the password, then a one-time code (or its setup), then a new password where the first
//! was assigned. Each step has its own session token, which admits only to the next step.

use askama::Template;
use axum::response::Response;
use domain::audit::{AuditContext, Via};
use domain::user::{User, login_name};
use engine::console::{Stage, StoredUser, TotpSecret};
use engine::payments::StoreError;
use http::StatusCode;
use secrecy::{ExposeSecret, SecretBox};

use super::answer::{Answer, Stop, page_with, see_other};
use super::cookies::Cookie;
use super::guard::{LOGIN, login_path, provider_path};
use super::layout::Frame;
use super::routes::Routes;
use super::session::{Origin, Signed, Token};
use super::visit::Visit;
use super::{totp, tries};
use http_api::pay_page::qr;

/// The same message for every cause.
const WRONG: &str = "The name or password is incorrect.";
const ENROLLED: &str = "One-time codes are already set up. Please sign in again.";
const WRONG_CODE: &str = "The code is incorrect or was already used. Please wait for the next one.";

pub(super) fn routes() -> Routes {
    Routes::new()
        .get(LOGIN, show)
        .post(LOGIN, take_password)
        .post("/console/login/code", take_code)
        .post("/console/login/enrol", enrol)
        .post("/console/login/password", choose_password)
        .post("/console/login/cancel", cancel)
}

#[derive(Template)]
#[template(path = "console/login.html")]
struct LoginPage<'a> {
    frame: Frame,
    login: &'a str,
    next: &'a str,
    fault: &'a str,
    /// The link to the identity provider, and its label.
    provider: Option<(String, &'a str)>,
}

#[derive(Template)]
#[template(path = "console/login_code.html")]
struct CodePage<'a> {
    frame: Frame,
    next: &'a str,
    fault: &'a str,
}

#[derive(Template)]
#[template(path = "console/login_enrol.html")]
struct EnrolPage<'a> {
    frame: Frame,
    next: &'a str,
    fault: &'a str,
    secret: String,
    uri: String,
    code: Option<qr::Code>,
}

#[derive(Template)]
#[template(path = "console/login_password.html")]
struct PasswordPage<'a> {
    frame: Frame,
    next: &'a str,
    fault: &'a str,
}

/// The page to open after sign-in: only a page of the console.
pub(super) fn next_of(text: &str) -> &str {
    let inside =
        text == "/console" || text.starts_with("/console/") || text.starts_with("/console?");
    if inside && !text.starts_with(LOGIN) && !text.contains(char::is_control) {
        text
    } else {
        "/console"
    }
}

async fn show(visit: Visit) -> Answer {
    let next = next_of(visit.query().text("next")).to_owned();
    step_page(&visit, &next, "", StatusCode::OK)
}

/// The page of the next step.
fn step_page(visit: &Visit, next: &str, fault: &str, status: StatusCode) -> Answer {
    let Some(signed) = visit.step() else { return login_page(visit, "", next, fault, status) };
    match signed.stage {
        Stage::Open => Ok(see_other(next)),
        Stage::Code => {
            page_with(status, &CodePage { frame: visit.frame("One-time code"), next, fault })
        }
        Stage::Password => page_with(
            status,
            &PasswordPage { frame: visit.frame("Choose a password"), next, fault },
        ),
        Stage::Enrol => {
            let secret = signed.row.totp.as_ref().ok_or(Stop::Unavailable)?.expose_secret();
            let uri = totp::uri(secret, &signed.user.login, &visit.issuer());
            let frame = visit.frame("Set up one-time codes");
            let page = EnrolPage {
                frame,
                next,
                fault,
                secret: totp::text(secret),
                code: qr::code(&uri),
                uri,
            };
            page_with(status, &page)
        }
    }
}

/// The form for name and password. It carries its own token, so that no other site can sign a user
/// in.
pub(super) fn login_page(
    visit: &Visit,
    login: &str,
    next: &str,
    fault: &str,
    status: StatusCode,
) -> Answer {
    let provider = visit.console().provider.as_ref();
    let provider = provider.map(|provider| (provider_path(next), provider.label.as_str()));
    let mut frame = visit.frame("Sign in");
    let fresh = frame.csrf.is_empty().then(|| Token::fresh(visit.console()));
    if let Some(token) = &fresh {
        frame.csrf = token.csrf();
    }
    let mut response = page_with(status, &LoginPage { frame, login, next, fault, provider })?;
    if let Some(token) = fresh {
        Cookie::SignIn.set(response.headers_mut(), &token.text(), &visit.console().settings);
    }
    Ok(response)
}

async fn take_password(visit: Visit) -> Answer {
    let (form, console) = (visit.form(), visit.console());
    let next = next_of(form.text("next")).to_owned();
    console.count_sign_in(visit.peer())?;
    let (typed, given) = (form.text("login"), form.verbatim("password"));
    let login = login_name(typed);
    let again = |fault: &str, status| login_page(&visit, typed, &next, fault, status);
    if let Some(wait) = tries::count(console, login.as_deref(), visit.peer()).await? {
        return again(&wait, StatusCode::TOO_MANY_REQUESTS);
    }
    let found = match &login {
        Some(login) => console.store().user_by_login(login).await?,
        None => None,
    };
    // Users of the identity provider have no password here.
    let known = found.filter(|found| found.disabled_at.is_none() && found.provider.is_none());
    let hash = known.as_ref().map(|known| known.password.clone());
    if !console.is_right_password(given.to_owned(), hash).await? {
        return again(WRONG, StatusCode::UNPROCESSABLE_ENTITY);
    }
    let known = known.ok_or(Stop::Unavailable)?;
    let stage = first_stage(&known, console.settings.second_factor);
    let old = visit.step().map(|signed| signed.digest);
    go_on(&visit, &known, stage, old, &next).await
}

/// The step after the password.
fn first_stage(user: &StoredUser, second_factor: bool) -> Stage {
    match (&user.totp, second_factor) {
        (Some(_), _) => Stage::Code,
        (None, true) => Stage::Enrol,
        (None, false) => last_stage(user),
    }
}

/// The step after the code.
const fn last_stage(user: &StoredUser) -> Stage {
    if user.password_is_initial { Stage::Password } else { Stage::Open }
}

/// Starts the session of the next step and ends the previous one.
async fn go_on(
    visit: &Visit,
    user: &StoredUser,
    stage: Stage,
    old: Option<[u8; 32]>,
    next: &str,
) -> Answer {
    let console = visit.console();
    let secret: Option<TotpSecret> =
        (stage == Stage::Enrol).then(|| SecretBox::new(Box::new(console.store().random())));
    if stage == Stage::Open {
        tries::forget(console, &user.user.login, visit.peer()).await?;
    }
    let token =
        console.begin(&user.user, stage, secret, visit.origin(&user.user.login), old).await?;
    let to = if stage == Stage::Open { next.to_owned() } else { with_next(next) };
    let mut response = see_other(&to);
    Cookie::Session.set(response.headers_mut(), &token.text(), &console.settings);
    Cookie::SignIn.clear(response.headers_mut(), &console.settings);
    Ok(response)
}

fn with_next(next: &str) -> String {
    if next == "/console" { LOGIN.to_owned() } else { login_path(next) }
}

/// The session, if it is at this step; else the page of its step.
fn at(visit: &Visit, stage: Stage) -> Result<&Signed, Box<Response>> {
    match visit.step() {
        Some(signed) if signed.stage == stage => Ok(signed),
        _ => Err(Box::new(see_other(LOGIN))),
    }
}

async fn take_code(visit: Visit) -> Answer {
    let (next, console) = (next_of(visit.form().text("next")).to_owned(), visit.console());
    let signed = match at(&visit, Stage::Code) {
        Ok(signed) => signed,
        Err(elsewhere) => return Ok(*elsewhere),
    };
    if let Some(wait) = tries::count_code(console, &signed.user).await? {
        return step_page(&visit, &next, &wait, StatusCode::TOO_MANY_REQUESTS);
    }
    let stored = &signed.row.user;
    let secret = stored.totp.as_ref().map(ExposeSecret::expose_secret);
    let step = secret.and_then(|secret| {
        totp::matching_step(secret, visit.form().text("code"), console.wall_now())
    });
    let taken = match step {
        Some(step) => console.store().take_totp_step(signed.user.id, step).await?,
        None => false,
    };
    if !taken {
        return step_page(&visit, &next, WRONG_CODE, StatusCode::UNPROCESSABLE_ENTITY);
    }
    tries::forget_code(console, &signed.user).await?;
    go_on(&visit, stored, last_stage(stored), Some(signed.digest), &next).await
}

async fn enrol(visit: Visit) -> Answer {
    let (next, console) = (next_of(visit.form().text("next")).to_owned(), visit.console());
    let signed = match at(&visit, Stage::Enrol) {
        Ok(signed) => signed,
        Err(elsewhere) => return Ok(*elsewhere),
    };
    if let Some(wait) = tries::count_code(console, &signed.user).await? {
        return step_page(&visit, &next, &wait, StatusCode::TOO_MANY_REQUESTS);
    }
    let secret = signed.row.totp.as_ref().ok_or(Stop::Unavailable)?;
    let step =
        totp::matching_step(secret.expose_secret(), visit.form().text("code"), console.wall_now());
    let Some(step) = step else {
        return step_page(&visit, &next, WRONG_CODE, StatusCode::UNPROCESSABLE_ENTITY);
    };
    match console.store().enrol_totp(&signed.user, secret, step, visit.deed("")).await {
        // Another browser set the codes up in the meantime; that secret counts.
        Err(StoreError::Conflict(_)) => {
            console.store().end_session(signed.digest).await?;
            let mut response = visit.done(&with_next(&next), ENROLLED);
            Cookie::Session.clear(response.headers_mut(), &console.settings);
            return Ok(response);
        }
        kept => kept?,
    }
    tries::forget_code(console, &signed.user).await?;
    let stored = &signed.row.user;
    go_on(&visit, stored, last_stage(stored), Some(signed.digest), &next).await
}

async fn choose_password(visit: Visit) -> Answer {
    let (next, console) = (next_of(visit.form().text("next")).to_owned(), visit.console());
    let signed = match at(&visit, Stage::Password) {
        Ok(signed) => signed,
        Err(elsewhere) => return Ok(*elsewhere),
    };
    let user: &User = &signed.user;
    let old = signed.row.user.password.clone();
    if let Err(fault) = console.set_password(&visit, user, old).await? {
        return step_page(&visit, &next, &fault, StatusCode::UNPROCESSABLE_ENTITY);
    }
    go_on(&visit, &signed.row.user, Stage::Open, None, &next).await
}

/// Restarts the sign-in, as a different user.
async fn cancel(visit: Visit) -> Answer {
    if let Some(signed) = visit.step() {
        visit.console().store().end_session(signed.digest).await?;
    }
    let mut response = see_other(LOGIN);
    Cookie::Session.clear(response.headers_mut(), &visit.console().settings);
    Ok(response)
}

impl Visit {
    /// The account name shown in an authenticator app.
    fn issuer(&self) -> String {
        let host = self.console().settings.base_url.split("://").nth(1).unwrap_or_default();
        format!("Corridor {}", host.split(['/', ':']).next().unwrap_or_default())
    }

    pub(super) fn origin(&self, login: &str) -> Origin {
        let address = self.peer().map_or_else(|| "unknown".to_owned(), |peer| peer.to_string());
        let by = AuditContext::new(Via::Console, login).of_request(self.request_id());
        Origin::new(address, &self.inner().user_agent, by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_only_led_to_pages_of_the_console() {
        for fine in ["/console", "/console/t/demobank/payments?state=x", "/console?x"] {
            assert_eq!(next_of(fine), fine);
        }
        for other in [
            "",
            "https://evil.example",
            "//evil.example",
            "/pay/x",
            "/consolex",
            "/console/login",
            "/\\evil",
        ] {
            assert_eq!(next_of(other), "/console", "{other}");
        }
    }
}
