//! Signing in at the identity provider (ADR 30). A browser is sent there with a question that follows from a token which
//! only it has; what it brings back counts once, in that browser, for ten minutes. Somebody is let in whom an administrator
//! has made and named for this; nobody is made here, and passwords go on working whatever becomes of the provider.

use std::sync::Arc;

use axum::response::Response;
use domain::audit::{Deed, Facts, INSTALLATION, Note, Via};
use domain::identity::{Identity, IdentityFault, NameClaim, SignInAnswer, SignInQuestion, Subject};
use domain::ports::IdentityProvider;
use engine::console::{Departure, Stage, StoredUser};
use engine::payments::StoreError;
use http::StatusCode;
use subtle::ConstantTimeEq as _;

use super::answer::{Answer, Stop, leave_for, see_other};
use super::cookies::Cookie;
use super::gate::NEXT_MAX_BYTES;
use super::login::{login_page, next_of};
use super::routes::Routes;
use super::session::{SIGN_IN_MAX, Token};
use super::visit::Visit;

/// Where browsers leave for the provider.
pub(super) const LEAVE: &str = "/console/login/oidc";
/// Where the provider sends them back to.
pub(super) const COME_BACK: &str = "/console/login/oidc/callback";

const STALE: &str = "This sign-in began in another browser, or too long ago. Please try again.";
const NOT_DONE: &str = "The identity provider did not sign you in. Please try again.";
const AWAY: &str = "The identity provider does not answer right now. Please try again in a moment.";
/// The same whatever keeps somebody out.
const STRANGER: &str = "Nobody signs in here with this account. Please ask whoever administers this console.";
/// Longest word of the provider's in the log.
const TOLD_MAX_CHARS: usize = 200;

/// The identity provider of an installation.
#[derive(Clone)]
pub struct Provider {
    /// Who is asked.
    pub way: Arc<dyn IdentityProvider>,
    /// What the link to it says.
    pub label: String,
    /// Which of its claims names people.
    pub claim: NameClaim,
}

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new().get(LEAVE, leave).get(COME_BACK, come_back)
}

/// What is asked and expected behind a departure's token. None of it tells the others, or the token.
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

/// What comes back with another state belongs to another window of the browser, whose sign-in may still come back.
async fn come_back(visit: Visit) -> Answer {
    let provider = provider_of(&visit)?;
    let Some(token) = &visit.inner().departure else { return stale(&visit, "the browser has no sign-in under way") };
    let question = Question::of(token);
    if !bool::from(visit.query().verbatim("state").as_bytes().ct_eq(question.state.as_bytes())) {
        return stale(&visit, "its state belongs to another sign-in");
    }
    let mut answer = arrived(&visit, provider, token, question).await;
    if let Ok(response) = &mut answer {
        Cookie::Departure.clear(response.headers_mut(), &visit.console().settings);
    }
    answer
}

/// The page of an answer that nobody waits for. Who is signed in meanwhile goes on.
fn stale(visit: &Visit, why: &str) -> Answer {
    tracing::warn!(request_id = visit.request_id(), why, "an answer of the identity provider is not taken");
    if visit.signed().is_some() {
        return Ok(see_other("/console"));
    }
    login_page(visit, "", "/console", STALE, StatusCode::UNPROCESSABLE_ENTITY)
}

async fn arrived(visit: &Visit, provider: &Provider, token: &Token, question: Question) -> Answer {
    let (console, query) = (visit.console(), visit.query());
    let now = console.wall_now();
    let Question { nonce, verifier, .. } = question;
    let departure = match console.store().arrive(token.digest()).await? {
        Some(departure) if now - departure.at < SIGN_IN_MAX => departure,
        Some(_) => return stale(visit, "the sign-in began too long ago"),
        None => return stale(visit, "the sign-in was answered already"),
    };
    let next = next_of(&departure.next);
    if let Some(error) = query.given("error") {
        let told: String = error.chars().filter(|letter| !letter.is_control()).take(TOLD_MAX_CHARS).collect();
        return failed(visit, next, &IdentityFault::Refused(format!("the identity provider answered {told:?}")));
    }
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
                "somebody from the identity provider is not let in"
            );
            login_page(visit, "", next, STRANGER, StatusCode::FORBIDDEN)
        }
    }
}

/// The page of a sign-in that came to nothing. Why stands in the log.
fn failed(visit: &Visit, next: &str, fault: &IdentityFault) -> Answer {
    tracing::warn!(request_id = visit.request_id(), %fault, "nobody was signed in by the identity provider");
    let (words, status) = match fault {
        IdentityFault::Away(_) => (AWAY, StatusCode::SERVICE_UNAVAILABLE),
        IdentityFault::Refused(_) => (NOT_DONE, StatusCode::UNPROCESSABLE_ENTITY),
    };
    login_page(visit, "", next, words, status)
}

/// Which of our people it is, bound at the first time; else why nobody, for the log.
async fn operator(visit: &Visit, identity: &Identity) -> Result<Result<StoredUser, String>, Stop> {
    let (store, subject) = (visit.console().store(), &identity.subject);
    if let Some(bound) = store.user_by_subject(subject).await? {
        if bound.disabled_at.is_some() {
            return turned_away(visit, &bound, subject, "the person is disabled").await.map(Err);
        }
        return Ok(Ok(bound));
    }
    let name = match &identity.name {
        Ok(name) => name,
        Err(why) => return Ok(Err(why.clone())),
    };
    let Some(known) = store.user_by_provider_name(name).await? else {
        return Ok(Err(format!("nobody signs in as {name:?}")));
    };
    if known.disabled_at.is_some() {
        return turned_away(visit, &known, subject, "the person is disabled").await.map(Err);
    }
    if known.provider.as_ref().is_some_and(|login| login.bound.is_some()) {
        let why = "the person is bound to another subject of the provider; corridor users unbind";
        return turned_away(visit, &known, subject, why).await.map(Err);
    }
    let by = Deed::new(Via::Console, &known.user.login).of_request(visit.request_id());
    match store.bind_user(&known.user, name, subject, by).await {
        // The same person in two browsers at once, perhaps.
        Err(StoreError::Conflict(_)) => match store.user_by_subject(subject).await? {
            Some(bound) if bound.user.id == known.user.id && bound.disabled_at.is_none() => Ok(Ok(bound)),
            _ => Ok(Err("the person was changed meanwhile".to_owned())),
        },
        bound => Ok(Ok(bound.map(|()| known)?)),
    }
}

/// Notes in the audit log that somebody whom the provider vouches for came under a person's name, and was not let in.
async fn turned_away(visit: &Visit, person: &StoredUser, subject: &Subject, why: &str) -> Result<String, Stop> {
    let login = &person.user.login;
    let facts = Facts::new().text("issuer", &subject.issuer).text("subject", &subject.subject);
    let note = Note::new("session.refuse", "user", login).after(facts);
    // Not the person's own deed: whoever came may be somebody else.
    let by = Deed::new(Via::Program, "identity provider").because(why).of_request(visit.request_id());
    visit.console().store().note_deed(INSTALLATION, by, note).await?;
    Ok(format!("{login}: {why}"))
}

/// Begins the session: the provider has answered for the second factor too.
async fn enter(visit: &Visit, user: &StoredUser, subject: Subject, next: &str) -> Result<Response, Stop> {
    let console = visit.console();
    let old = visit.step().map(|signed| signed.digest);
    let origin = visit.origin(&user.user.login).through(subject);
    let token = match console.begin(&user.user, Stage::Open, None, origin, old).await {
        Err(StoreError::Conflict(_)) => {
            tracing::warn!(request_id = visit.request_id(), login = %user.user.login, "the person was changed meanwhile");
            return login_page(visit, "", next, STRANGER, StatusCode::FORBIDDEN);
        }
        begun => begun?,
    };
    let mut response = see_other(next);
    Cookie::Session.set(response.headers_mut(), &token.text(), &console.settings);
    Cookie::SignIn.clear(response.headers_mut(), &console.settings);
    Ok(response)
}
