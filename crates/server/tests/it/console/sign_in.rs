//! Sign-in and sessions (`reliability.md`, "Security mechanisms"): passwords, delays, one-time
//! codes, sessions, form tokens, roles and scopes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::audit::{AuditContext, Via};
use domain::ports::Clock as _;
use domain::time::{Span, Timestamp};
use domain::user::{Role, Scope};
use operator_console::{password, totp};
use secrecy::{ExposeSecret as _, SecretBox};
use service::clock::WallClock;
use sha2::{Digest as _, Sha256};
use store::{NewSession, NewUser, Stage, StoredUser, UserChange};

use super::browser::Browser;
use crate::harness::service::Running;
use crate::harness::{Bank, On, Setup, on_both_stores};

on_both_stores! {
    a_right_password_leads_in_and_signing_out_leads_out
    a_wrong_password_and_an_unknown_name_are_answered_alike
    failed_tries_make_one_wait_known_or_not
    a_one_time_code_is_asked_for_and_taken_once
    codes_are_set_up_once
    a_session_ends_when_it_is_idle_or_old
    a_form_of_an_ended_session_leads_back_to_its_page
    a_page_that_reads_itself_again_keeps_no_session_alive
    what_is_not_there_has_a_page_of_its_own
    a_form_of_another_page_or_site_is_refused
    roles_and_scopes_decide_what_is_shown
    a_new_password_and_disabling_end_every_session
    a_first_password_has_to_be_changed
}

pub(super) const PASSWORD: &str = "seven paper lanterns";
static NUMBER: AtomicU32 = AtomicU32::new(0);

pub(super) async fn somebody(
    running: &Arc<Running>,
    roles: &[Role],
    scope: Scope,
    is_initial: bool,
) -> StoredUser {
    let login = format!("person{}.{}", NUMBER.fetch_add(1, Ordering::Relaxed), std::process::id());
    let hash =
        tokio::task::spawn_blocking(|| password::hash(PASSWORD, [9; password::SALT_BYTES])).await;
    let new = NewUser {
        login: login.clone(),
        roles: roles.iter().copied().collect(),
        scope,
        password: hash.expect("hashed"),
        password_is_initial: is_initial,
        provider_name: None,
    };
    running.store().create_user(&new, WallClock.now(), "test").await.expect("a user");
    running.store().user_by_login(&login).await.expect("read").expect("there")
}

fn digest_of(token: [u8; 32]) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// A browser with a user's session from that time: open, or with one-time codes set up with this
/// secret.
async fn with_session(
    bank: &Bank,
    person: &StoredUser,
    token: [u8; 32],
    to_enrol: Option<[u8; 20]>,
    began: Timestamp,
) -> Browser {
    let session = NewSession {
        token_digest: digest_of(token),
        user: &person.user,
        stage: if to_enrol.is_some() { Stage::Enrol } else { Stage::Open },
        address: "192.0.2.1",
        browser: "",
        totp: to_enrol.map(|secret| SecretBox::new(Box::new(secret))),
        subject: None,
        now: began,
        by: AuditContext::new(Via::Console, &person.user.login),
    };
    bank.running.store().begin_session(&session, None).await.expect("begun");
    let mut browser = Browser::new(&bank.running.url);
    browser.cookies.insert("__Host-corridor-session".to_owned(), URL_SAFE_NO_PAD.encode(token));
    browser
}

async fn a_right_password_leads_in_and_signing_out_leads_out(on: On) {
    let bank = Bank::new(on).await;
    let person = somebody(&bank.running, &[Role::Viewer], Scope::All, false).await;
    let mut browser = Browser::new(&bank.running.url);
    let turned = browser.get("/console/approvals?x=1").await;
    assert_eq!(
        (turned.status, turned.to()),
        (303, "/console/login?next=/console/approvals%3Fx%3D1")
    );
    let form = browser.get(turned.to()).await;
    assert_eq!(form.status, 200);
    for (name, value) in [
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("x-robots-tag", "noindex, nofollow"),
        ("referrer-policy", "same-origin"),
    ] {
        assert_eq!(form.headers[name], value, "{name}");
    }
    let policy = form.headers["content-security-policy"].to_str().expect("text");
    assert!(
        policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    let login = person.user.login.as_str();
    let fields = [("login", login), ("password", PASSWORD), ("next", "/console/approvals?x=1")];
    let signed = browser.post("/console/login", &fields).await;
    assert_eq!((signed.status, signed.to()), (303, "/console/approvals?x=1"));
    let cookie = signed.headers["set-cookie"].to_str().expect("text");
    assert!(cookie.starts_with("__Host-corridor-session="), "{cookie}");
    for word in ["Path=/", "HttpOnly", "SameSite=Lax", "Secure"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    assert_eq!(browser.get("/console/approvals").await.status, 200);
    let kept = browser.cookies.clone();
    assert_eq!(browser.post("/console/logout", &[]).await.to(), "/console/login");
    browser.cookies = kept;
    assert_eq!(
        browser.get("/console/approvals").await.to(),
        "/console/login?next=/console/approvals",
        "it is over"
    );
}

async fn a_wrong_password_and_an_unknown_name_are_answered_alike(on: On) {
    let bank = Bank::new(on).await;
    let person = somebody(&bank.running, &[Role::Viewer], Scope::All, false).await;
    let gone = somebody(&bank.running, &[Role::Viewer], Scope::All, false).await;
    let store = bank.running.store();
    store
        .change_user(&gone.user, &UserChange::Disable, WallClock.now(), "test")
        .await
        .expect("disabled");
    for (login, given) in [
        (person.user.login.as_str(), "seven paper lantern"),
        (person.user.login.as_str(), ""),
        (gone.user.login.as_str(), PASSWORD),
        ("unknown-user", PASSWORD),
        ("not a name", PASSWORD),
    ] {
        let mut browser = Browser::new(&bank.running.url);
        let answer = browser.sign_in(login, given).await;
        assert_eq!(answer.status, 422, "{login}");
        assert!(answer.text.contains("The name or password is incorrect."), "{}", answer.text);
        assert!(!browser.cookies.contains_key("__Host-corridor-session"));
    }
}

async fn failed_tries_make_one_wait_known_or_not(on: On) {
    let bank = Bank::new(on).await;
    let person = somebody(&bank.running, &[Role::Viewer], Scope::All, false).await;
    for login in [person.user.login.clone(), format!("{}-not", person.user.login)] {
        let mut browser = Browser::new(&bank.running.url);
        for _ in 0..5 {
            assert_eq!(browser.sign_in(&login, "wrong").await.status, 422);
        }
        let waits = browser.sign_in(&login, PASSWORD).await;
        assert_eq!(waits.status, 429, "{login}: the right password does not help");
        assert!(waits.text.contains("Too many attempts. Please try again in"), "{}", waits.text);
    }
}

async fn a_one_time_code_is_asked_for_and_taken_once(on: On) {
    let bank = Bank::new(on).await;
    let person = somebody(&bank.running, &[Role::Viewer], Scope::All, false).await;
    let (secret, login) = (SecretBox::new(Box::new([3; 20])), person.user.login.as_str());
    bank.running.store().enrol_totp(&person.user, &secret, 0, "test").await.expect("enrolled");
    let mut browser = Browser::new(&bank.running.url);
    assert_eq!(browser.sign_in(login, PASSWORD).await.to(), "/console/login");
    let page = browser.get("/console/login").await;
    assert!(page.text.contains("Six-digit code"), "{}", page.text);
    assert!(!page.text.contains("Sign out"), "the sign-in is not complete");
    assert_eq!(browser.get("/console/account").await.to(), "/console/login?next=/console/account");
    browser.get("/console/login").await;
    assert_eq!(browser.post("/console/login/code", &[("code", "000")]).await.status, 422);
    let code = totp::code(secret.expose_secret(), totp::step_of(WallClock.now()));
    let taken = browser.post("/console/login/code", &[("code", &code)]).await;
    assert_eq!((taken.status, taken.to()), (303, "/console"));
    assert_eq!(browser.get("/console/account").await.status, 200);
    // An attacker who saw the code tries it a moment later.
    let mut thief = Browser::new(&bank.running.url);
    thief.sign_in(login, PASSWORD).await;
    thief.get("/console/login").await;
    let replayed = thief.post("/console/login/code", &[("code", &code)]).await;
    assert_eq!(replayed.status, 422);
    assert!(replayed.text.contains("was already used"), "{}", replayed.text);
    assert_ne!(thief.get("/console/account").await.status, 200);
}

/// Two browsers reach the setup of codes; the second finds that they are already set up.
async fn codes_are_set_up_once(on: On) {
    let bank = Bank::new(on).await;
    let person = somebody(&bank.running, &[Role::Viewer], Scope::All, false).await;
    let (store, now) = (bank.running.store(), WallClock.now());
    let mut browsers = Vec::new();
    for number in [11, 12] {
        let secret = [number; 20];
        let mut browser = with_session(&bank, &person, [number; 32], Some(secret), now).await;
        assert!(browser.get("/console/login").await.text.contains("Set up one-time codes"));
        browsers.push((browser, secret));
    }
    let mut enrolled = Vec::new();
    for (browser, secret) in &mut browsers {
        let code = totp::code(&secret[..], totp::step_of(WallClock.now()));
        let answer = browser.post("/console/login/enrol", &[("code", &code)]).await;
        assert_eq!(answer.status, 303, "{answer:?}");
        enrolled.push(answer.to().to_owned());
    }
    assert_eq!(enrolled, ["/console", "/console/login"]);
    let second = &mut browsers[1].0;
    assert!(second.get("/console/login").await.text.contains("One-time codes are already set up"));
    assert_ne!(second.get("/console/account").await.status, 200, "it has to sign in again");
    let kept =
        store.user(person.user.id).await.expect("read").expect("there").totp.expect("enrolled");
    assert_eq!(*kept.expose_secret(), [11; 20], "the secret that was confirmed first counts");
}

async fn a_session_ends_when_it_is_idle_or_old(on: On) {
    // Runs alone: a sign-in prunes old sessions, possibly between their start here and their use.
    let bank = Bank::alone(on, Setup::new()).await;
    let person = somebody(&bank.running, &[Role::Viewer], Scope::All, false).await;
    let (store, now) = (bank.running.store(), WallClock.now());
    for (number, began, used, goes_on) in [
        (1, Span::mins(19), Span::mins(19), true),
        (2, Span::mins(21), Span::mins(21), false),
        (3, Span::mins(599), Span::mins(1), true),
        (4, Span::mins(601), Span::mins(1), false),
    ] {
        let token = [number; 32];
        let mut browser = with_session(&bank, &person, token, None, now - began).await;
        store.session_seen(digest_of(token), now - used).await.expect("noted");
        let answer = browser.get("/console/account").await;
        assert_eq!(answer.status, if goes_on { 200 } else { 303 }, "session {number}");
        store.end_session(digest_of(token)).await.expect("ended");
    }
    bank.finish().await;
}

async fn a_form_of_an_ended_session_leads_back_to_its_page(on: On) {
    // Runs alone: a sign-in prunes old sessions, possibly between their start here and their use.
    let bank = Bank::alone(on, Setup::new()).await;
    let person = somebody(&bank.running, &[Role::Viewer], Scope::All, false).await;
    let began = WallClock.now() - Span::mins(21);
    let (form, page) = ("/console/account/look", "/console/account?x=1");
    let mut browser = with_session(&bank, &person, [31; 32], None, began).await;
    let to = browser.post_from(page, form, &[]).await.to().to_owned();
    assert_eq!(to, "/console/login?next=/console/account%3Fx%3D1");
    let shown = browser.get(&to).await.text;
    assert!(shown.contains("Your session ended. Nothing was saved."), "{shown}");
    assert!(!browser.get(&to).await.text.contains("Your session ended"), "once");
    for elsewhere in ["/pay/x", form] {
        let mut browser = with_session(&bank, &person, [32; 32], None, began).await;
        assert_eq!(browser.post_from(elsewhere, form, &[]).await.to(), "/console/login");
        bank.running.store().end_session(digest_of([32; 32])).await.expect("ended");
    }
    let mut reader = with_session(&bank, &person, [33; 32], None, began).await;
    assert_eq!(reader.refresh("/console/account").await.status, 401);
    let to = reader.get("/console/account").await.to().to_owned();
    let shown = reader.get(&to).await.text;
    assert!(shown.contains("Your session ended.") && !shown.contains("saved"), "{shown}");
    bank.finish().await;
}

async fn a_page_that_reads_itself_again_keeps_no_session_alive(on: On) {
    // Runs alone: a sign-in prunes old sessions, possibly between their start here and their use.
    let bank = Bank::alone(on, Setup::new()).await;
    let person = somebody(&bank.running, &[Role::Viewer], Scope::All, false).await;
    let (store, now) = (bank.running.store(), WallClock.now());
    let token = [77; 32];
    let mut browser = with_session(&bank, &person, token, None, now - Span::mins(30)).await;
    let used = now - Span::mins(15);
    store.session_seen(digest_of(token), used).await.expect("noted");
    let seen =
        async || store.session(digest_of(token)).await.expect("read").expect("there").seen_at;
    assert_eq!(browser.refresh("/console/account").await.status, 200, "it is shown");
    assert_eq!(seen().await, used, "a refresh is no activity");
    assert_eq!(browser.get("/console/account").await.status, 200);
    assert!(seen().await > used, "a person has");
    // Another session, unused since it started.
    let mut idle = with_session(&bank, &person, [78; 32], None, now - Span::mins(21)).await;
    assert_eq!(idle.refresh("/console/account").await.status, 401, "an idle one is over");
    let script = browser.get("/console/console.js").await.text;
    assert!(script.contains("x-corridor-refresh"), "{script}");
    bank.finish().await;
}

async fn what_is_not_there_has_a_page_of_its_own(on: On) {
    let bank = Bank::new(on).await;
    let tag = &bank.tenant.tag;
    let person = somebody(&bank.running, &[Role::Viewer], Scope::All, false).await;
    let mut stranger = Browser::new(&bank.running.url);
    let mut signed = Browser::new(&bank.running.url);
    signed.sign_in(&person.user.login, PASSWORD).await;
    let own = format!("/console/t/{tag}/nothing");
    let paths = [
        "/console/nothing",
        "/console/a/b/c?x=1",
        "/console/t/no-such-tenant/nothing",
        &own,
        "/console/audit/nothing",
    ];
    for path in paths {
        for browser in [&mut stranger, &mut signed] {
            let answer = browser.get(path).await;
            assert_eq!(answer.status, 404, "{path}");
            assert!(answer.text.contains("Page or record not found."), "{}", answer.text);
            assert_eq!(answer.headers["content-type"], "text/html; charset=utf-8");
            let policy = answer.headers["content-security-policy"].to_str().expect("text");
            assert!(policy.starts_with("default-src 'none'"), "{policy}");
        }
        let page = stranger.get(path).await.text;
        assert!(!page.contains(tag.as_str()) && !page.contains("<nav"), "{page}");
        assert!(signed.get(path).await.text.contains("Sign out"), "the person's navigation stays");
    }
    // Routes for forms only are not pages, and the API's paths answer as the API does.
    let by_link = signed.get("/console/logout").await;
    assert_eq!((by_link.status, by_link.text.contains("Page or record not found")), (404, true));
    let posted = signed.post("/console/nothing", &[]).await;
    assert_eq!((posted.status, posted.text.contains("Page or record not found")), (404, true));
    assert_eq!(stranger.get("/console/").await.to(), "/console");
    assert_eq!(stranger.get("/nothing").await.headers["content-type"], "application/json");
}

async fn a_form_of_another_page_or_site_is_refused(on: On) {
    let bank = Bank::new(on).await;
    let person = somebody(&bank.running, &[Role::Viewer], Scope::All, false).await;
    let other = somebody(&bank.running, &[Role::Viewer], Scope::All, false).await;
    let (mut browser, mut second) =
        (Browser::new(&bank.running.url), Browser::new(&bank.running.url));
    // Without the page's token even a sign-in fails.
    let bare = [("login", person.user.login.as_str()), ("password", PASSWORD)];
    assert_eq!(browser.post_bare("/console/login", &bare).await.status, 409);
    browser.sign_in(&person.user.login, PASSWORD).await;
    browser.get("/console/account").await;
    second.sign_in(&other.user.login, PASSWORD).await;
    second.get("/console/account").await;
    for token in
        ["", "x", &second.csrf.clone(), &browser.cookies["__Host-corridor-session"].clone()]
    {
        let answer = browser.post_bare("/console/account/sign-out", &[("csrf", token)]).await;
        assert_eq!(answer.status, 409, "{token:?}");
    }
    browser.get("/console/account").await;
    let own = browser.origin.clone();
    for origin in ["https://evil.example", "null", &format!("{own}.evil.example")] {
        browser.origin = origin.to_owned();
        assert_eq!(browser.post("/console/account/sign-out", &[]).await.status, 403, "{origin}");
    }
    browser.origin = own;
    browser.get("/console/account").await;
    assert_eq!(browser.post("/console/account/sign-out", &[]).await.status, 303);
}

async fn roles_and_scopes_decide_what_is_shown(on: On) {
    let (bank, other) = (Bank::new(on).await, Bank::new(on).await);
    let own = Scope::Tenant(bank.tenant.id);
    let page = |tag: &str| format!("/console/t/{tag}/payments");
    for (roles, scope, expected) in [
        (&[Role::Viewer][..], own, [200, 404, 403, 200]),
        (&[Role::Admin], own, [200, 404, 403, 200]),
        (&[Role::Admin], Scope::All, [200, 200, 200, 200]),
        (&[Role::Auditor], Scope::All, [200, 200, 200, 200]),
        (&[Role::Operator], Scope::All, [200, 200, 403, 200]),
        (&[], Scope::All, [403, 403, 403, 403]),
    ] {
        let person = somebody(&bank.running, roles, scope, false).await;
        let mut browser = Browser::new(&bank.running.url);
        browser.sign_in(&person.user.login, PASSWORD).await;
        let paths = [
            page(&bank.tenant.tag),
            page(&other.tenant.tag),
            "/console/users".to_owned(),
            "/console/approvals".into(),
        ];
        for (path, expected) in paths.iter().zip(expected) {
            assert_eq!(browser.get(path).await.status, expected, "{roles:?} {scope:?} {path}");
        }
        let foreign = browser.get(&page(&other.tenant.tag)).await;
        let missing = browser.get(&page("nosuchbank")).await;
        if foreign.status == 404 {
            let plain = |text: &str| text.split("Request").next().expect("a page").to_owned();
            assert_eq!(
                plain(&foreign.text),
                plain(&missing.text),
                "a foreign tenant answers like a missing one"
            );
        }
    }
}

async fn a_new_password_and_disabling_end_every_session(on: On) {
    let bank = Bank::new(on).await;
    let person = somebody(&bank.running, &[Role::Viewer], Scope::All, false).await;
    let login = person.user.login.as_str();
    let (mut one, mut two) = (Browser::new(&bank.running.url), Browser::new(&bank.running.url));
    one.sign_in(login, PASSWORD).await;
    two.sign_in(login, PASSWORD).await;
    one.get("/console/account").await;
    let new = "nine copper kettles";
    let path = "/console/account/password";
    let wrong = one.post(path, &[("current", "x"), ("new", new), ("again", new)]).await;
    assert_eq!(wrong.status, 422);
    let changed = one.post(path, &[("current", PASSWORD), ("new", new), ("again", new)]).await;
    assert_eq!((changed.status, changed.to()), (303, "/console/account"));
    assert_eq!(one.get("/console/account").await.status, 200, "this browser goes on");
    assert_eq!(two.get("/console/account").await.status, 303, "the other one does not");
    assert_eq!(two.sign_in(login, PASSWORD).await.status, 422, "the old password is void");
    let store = bank.running.store();
    store
        .change_user(&person.user, &UserChange::Disable, WallClock.now(), "test")
        .await
        .expect("disabled");
    assert_eq!(one.get("/console/account").await.status, 303);
}

async fn a_first_password_has_to_be_changed(on: On) {
    let bank = Bank::new(on).await;
    let person = somebody(&bank.running, &[Role::Viewer], Scope::All, true).await;
    let login = person.user.login.as_str();
    let mut browser = Browser::new(&bank.running.url);
    assert_eq!(browser.sign_in(login, PASSWORD).await.to(), "/console/login");
    assert_eq!(browser.get("/console/approvals").await.status, 303, "not before");
    browser.get("/console/login").await;
    for (new, again) in
        [("short", "short"), (PASSWORD, PASSWORD), ("nine copper kettles", "nine copper kettle")]
    {
        let answer =
            browser.post("/console/login/password", &[("new", new), ("again", again)]).await;
        assert_eq!(answer.status, 422, "{new}");
    }
    let new = "nine copper kettles";
    let done = browser.post("/console/login/password", &[("new", new), ("again", new)]).await;
    assert_eq!((done.status, done.to()), (303, "/console"));
    assert_eq!(browser.get("/console/approvals").await.status, 200);
    let mut again = Browser::new(&bank.running.url);
    assert_eq!(again.sign_in(login, new).await.to(), "/console");
}
