//! Sign-in at the identity provider (ADR 30). The request derives from a token that only this
//! browser has; the answer is valid once, in that browser, for ten minutes. Only users that an
//! administrator created for the provider are admitted; none are created here, and passwords work
//! independently of the provider.

use std::sync::Arc;

use axum::response::Response;
use domain::audit::{AuditContext, Facts, INSTALLATION, Note, Via};
use domain::characters::one_line;
use domain::identity::{Identity, IdentityFault, NameClaim, SignInAnswer, SignInQuestion, Subject};
use domain::ports::IdentityProvider;
use engine::console::{Departure, Stage, StoredUser};
use engine::payments::StoreError;
use http::StatusCode;
use subtle::ConstantTimeEq as _;

use super::answer::{Answer, Stop, leave_for, see_other};
use super::cookies::Cookie;
use super::form::Form;
use super::guard::NEXT_MAX_BYTES;
use super::login::{login_page, next_of};
use super::routes::Routes;
use super::session::{SIGN_IN_MAX, Token};
use super::visit::Visit;

/// The route that redirects to the provider.
pub(super) const LEAVE: &str = "/console/login/oidc";
/// The route that the provider redirects to.
pub(super) const COME_BACK: &str = "/console/login/oidc/callback";

const STALE: &str = "This sign-in started in another browser or has expired. Please try again.";
const NOT_DONE: &str = "The identity provider did not sign you in. Please try again.";
const AWAY: &str =
    "The identity provider is not available right now. Please try again in a moment.";
/// The same message for every refusal.
const STRANGER: &str =
    "This account has no access to the console. Please contact your administrator.";
/// Maximum length of a provider's text in the log.
const TOLD_MAX_CHARS: usize = 200;
/// Parameters of an answer, each of which it has once (RFC 6749, section 3.1).
const PARAMETERS: [&str; 5] = ["state", "code", "iss", "error", "error_description"];

/// The identity provider of an installation.
#[derive(Clone)]
pub struct Provider {
    /// The client for the provider.
    pub way: Arc<dyn IdentityProvider>,
    /// The label of the link to it.
    pub label: String,
    /// The claim that identifies users.
    pub claim: NameClaim,
}

pub(super) fn routes() -> Routes {
    Routes::new().get(LEAVE, leave).get(COME_BACK, come_back)
}

/// The values derived from a departure's token. None reveals the others or the token.
struct Question {
    state: String,
    nonce: String,
    verifier: String,
}

impl Question {
    fn of(token: &Token) -> Question {
        Question {
            state: token.derived(b"corridor console provider state"),
            nonce: token.derived(b"corridor console provider nonce"),
            verifier: token.derived(b"corridor console provider verifier"),
        }
    }
}

fn redirect_uri(visit: &Visit) -> String {
    format!("{}{COME_BACK}", visit.console().settings.base_url)
}

fn provider_of(visit: &Visit) -> Result<&Provider, Stop> {
    visit.console().provider.as_ref().ok_or(Stop::NotFound)
}

async fn leave(visit: Visit) -> Answer {
    let (provider, console) = (provider_of(&visit)?, visit.console());
    let next = next_of(visit.query().text("next"));
    let next = if next.len() > NEXT_MAX_BYTES { "/console" } else { next };
    if visit.signed().is_some() {
        return Ok(see_other(next));
    }
    console.count_sign_in(visit.peer())?;
    let (token, now) = (Token::fresh(console), console.wall_now());
    let Question { state, nonce, verifier } = Question::of(&token);
    let challenge = Token::challenge(&verifier);
    let question = SignInQuestion { redirect_uri: redirect_uri(&visit), state, nonce, challenge };
    let url = match provider.way.sign_in_url(&question, now).await {
        Ok(url) => url,
        Err(fault) => return failed(&visit, next, &fault),
    };
    let departure = Departure { next: next.to_owned(), at: now };
    console.store().depart(token.digest(), &departure, now - SIGN_IN_MAX).await?;
    let mut response = leave_for(&url)?;
    Cookie::Departure.set(response.headers_mut(), &token.text(), &console.settings);
    Ok(response)
}

/// An answer with a different state belongs to another window, whose sign-in may still complete.
async fn come_back(visit: Visit) -> Answer {
    let provider = provider_of(&visit)?;
    let Some(token) = &visit.inner().departure else {
        return ignore_answer(&visit, "the browser has no sign-in in progress");
    };
    let question = Question::of(token);
    if !bool::from(visit.query().verbatim("state").as_bytes().ct_eq(question.state.as_bytes())) {
        return ignore_answer(&visit, "its state belongs to another sign-in");
    }
    let mut answer = arrived(&visit, provider, token, question).await;
    if let Ok(response) = &mut answer {
        Cookie::Departure.clear(response.headers_mut(), &visit.console().settings);
    }
    answer
}

/// Why an answer has no code, with the provider's own words; `None` unless it is an error or ambiguous.
fn refusal(query: &Form, question: &Question) -> Option<String> {
    if let Some(name) = PARAMETERS.into_iter().find(|name| query.all(name).count() > 1) {
        return Some(format!("the answer has several parameters {name:?}"));
    }
    let told = |name: &str| {
        let mut text = query.given(name)?.to_owned();
        for secret in [&question.state, &question.nonce, &question.verifier] {
            text = text.replace(secret.as_str(), "…");
        }
        Some(format!("{:?}", one_line(&text, TOLD_MAX_CHARS)))
    };
    let error = told("error")?;
    let description = told("error_description").map(|text| format!(": {text}"));
    Some(format!("the identity provider answered {error}{}", description.unwrap_or_default()))
}

/// The page for an unexpected answer. A signed-in user stays signed in.
fn ignore_answer(visit: &Visit, why: &str) -> Answer {
    tracing::warn!(request_id = visit.request_id(), why, "identity provider answer ignored");
    if visit.signed().is_some() {
        return Ok(see_other("/console"));
    }
    login_page(visit, "", "/console", STALE, StatusCode::UNPROCESSABLE_ENTITY)
}

async fn arrived(visit: &Visit, provider: &Provider, token: &Token, question: Question) -> Answer {
    let (console, query) = (visit.console(), visit.query());
    let now = console.wall_now();
    let departure = match console.store().arrive(token.digest()).await? {
        Some(departure) if now - departure.at < SIGN_IN_MAX => departure,
        Some(_) => return ignore_answer(visit, "the sign-in has expired"),
        None => return ignore_answer(visit, "the sign-in was already answered"),
    };
    let next = next_of(&departure.next);
    if let Some(why) = refusal(query, &question) {
        return failed(visit, next, &IdentityFault::Refused(why));
    }
    let Question { nonce, verifier, .. } = question;
    let given = SignInAnswer {
        redirect_uri: redirect_uri(visit),
        code: query.verbatim("code").to_owned(),
        issuer: query.given("iss").map(str::to_owned),
        verifier,
        nonce,
    };
    let identity = match provider.way.redeem(&given, now).await {
        Ok(identity) => identity,
        Err(fault) => return failed(visit, next, &fault),
    };
    match operator(visit, &identity).await? {
        Ok(user) => enter(visit, &user, identity.subject, next).await,
        Err(why) => {
            let Subject { issuer, subject } = &identity.subject;
            tracing::warn!(
                request_id = visit.request_id(),
                issuer,
                subject,
                why,
                "identity provider sign-in refused"
            );
            login_page(visit, "", next, STRANGER, StatusCode::FORBIDDEN)
        }
    }
}

/// The page of a failed sign-in. The log has the reason.
fn failed(visit: &Visit, next: &str, fault: &IdentityFault) -> Answer {
    tracing::warn!(request_id = visit.request_id(), %fault, "identity provider sign-in failed");
    let (words, status) = match fault {
        IdentityFault::Away(_) => (AWAY, StatusCode::SERVICE_UNAVAILABLE),
        IdentityFault::Refused(_) => (NOT_DONE, StatusCode::UNPROCESSABLE_ENTITY),
    };
    login_page(visit, "", next, words, status)
}

/// The user for the subject, bound at the first sign-in; else the reason, for the log.
async fn operator(visit: &Visit, identity: &Identity) -> Result<Result<StoredUser, String>, Stop> {
    let (store, subject) = (visit.console().store(), &identity.subject);
    if let Some(bound) = store.user_by_subject(subject).await? {
        if bound.disabled_at.is_some() {
            return turned_away(visit, &bound, subject, "the user is disabled").await.map(Err);
        }
        return Ok(Ok(bound));
    }
    let name = match &identity.name {
        Ok(name) => name,
        Err(why) => return Ok(Err(why.clone())),
    };
    let Some(known) = store.user_by_provider_name(name).await? else {
        return Ok(Err(format!("no user for {name:?}")));
    };
    if known.disabled_at.is_some() {
        return turned_away(visit, &known, subject, "the user is disabled").await.map(Err);
    }
    if known.provider.as_ref().is_some_and(|login| login.bound.is_some()) {
        let why = "the user is bound to another subject of the provider; see corridor users unbind";
        return turned_away(visit, &known, subject, why).await.map(Err);
    }
    let by = AuditContext::new(Via::Console, &known.user.login).of_request(visit.request_id());
    match store.bind_user(&known.user, name, subject, by).await {
        // Possibly the same user in two browsers at once.
        Err(StoreError::Conflict(_)) => match store.user_by_subject(subject).await? {
            Some(bound) if bound.user.id == known.user.id && bound.disabled_at.is_none() => {
                Ok(Ok(bound))
            }
            _ => Ok(Err("the user was changed concurrently".to_owned())),
        },
        bound => Ok(Ok(bound.map(|()| known)?)),
    }
}

/// Records in the audit log that an account of the provider claimed a user's name and was refused.
async fn turned_away(
    visit: &Visit,
    person: &StoredUser,
    subject: &Subject,
    why: &str,
) -> Result<String, Stop> {
    let login = &person.user.login;
    let facts = Facts::new().text("issuer", &subject.issuer).text("subject", &subject.subject);
    let note = Note::new("session.refuse", "user", login).after(facts);
    // Not the user's own action: the account may belong to a different person.
    let by = AuditContext::new(Via::Program, "identity provider")
        .because(why)
        .of_request(visit.request_id());
    visit.console().store().append_audit(INSTALLATION, by, note).await?;
    Ok(format!("{login}: {why}"))
}

/// Starts the session: the provider is responsible for the second factor too.
async fn enter(
    visit: &Visit,
    user: &StoredUser,
    subject: Subject,
    next: &str,
) -> Result<Response, Stop> {
    let console = visit.console();
    let old = visit.step().map(|signed| signed.digest);
    let origin = visit.origin(&user.user.login).through(subject);
    let token = match console.begin(&user.user, Stage::Open, None, origin, old).await {
        Err(StoreError::Conflict(_)) => {
            tracing::warn!(request_id = visit.request_id(), login = %user.user.login, "the user was changed concurrently, sign-in refused");
            return login_page(visit, "", next, STRANGER, StatusCode::FORBIDDEN);
        }
        begun => begun?,
    };
    let mut response = see_other(next);
    Cookie::Session.set(response.headers_mut(), &token.text(), &console.settings);
    Cookie::SignIn.clear(response.headers_mut(), &console.settings);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::{Form, Question, refusal};

    #[test]
    fn an_error_is_logged_with_its_description_and_repeated_parameters_are_refused() {
        let question = Question {
            state: "the-state".to_owned(),
            nonce: "the-nonce".to_owned(),
            verifier: "the-verifier".to_owned(),
        };
        let several = |name: &str| format!("the answer has several parameters {name:?}");
        let answered = |text: &str| format!("the identity provider answered {text}");
        for (query, expected) in [
            ("state=the-state&code=c&iss=i", None),
            ("error=access_denied", Some(answered(r#""access_denied""#))),
            (
                "error=access_denied&error_description=AADSTS50105%3A+not%0D%0Aassigned",
                Some(answered(r#""access_denied": "AADSTS50105: not  assigned""#)),
            ),
            (
                "error=e&error_description=the-state+the-nonce+the-verifier",
                Some(answered(r#""e": "… … …""#)),
            ),
            ("code=c&error_description=of+nothing", None),
            ("code=c&iss=a&iss=b", Some(several("iss"))),
            ("code=c&iss=a&iss=", Some(several("iss"))),
            ("code=c&code=d&iss=a", Some(several("code"))),
            ("error=a&error=b", Some(several("error"))),
        ] {
            assert_eq!(refusal(&Form::of(query), &question), expected, "{query}");
        }
        let long = format!("error=e&error_description={}", "x".repeat(5_000));
        assert!(refusal(&Form::of(&long), &question).is_some_and(|why| why.len() < 300));
    }
}
