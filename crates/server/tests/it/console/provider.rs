//! Sign-in at the identity provider: who is admitted and bound, and which answers are rejected,
//! replayed or taken from another browser (ADR 30). The provider signs real tokens over HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use domain::audit::INSTALLATION;
use domain::ports::Clock as _;
use domain::user::{Role, Scope};
use reqwest::redirect::Policy;
use service::clock::WallClock;
use store::{NewUser, StoredUser, UserChange};
use testkit::identity::{Account, CLIENT_ID, CLIENT_SECRET, Fault, Signing, SimulatedProvider};
use testkit::wait;

use super::browser::{Answer, Browser};
use super::sign_in::{PASSWORD, somebody};
use crate::harness::service::Running;
use crate::harness::{On, Setup, on_both_stores};

on_both_stores! {
    the_first_sign_in_binds_and_later_ones_are_held_to_it
    unknown_and_disabled_users_get_the_same_refusal
    faulty_provider_answers_admit_no_user
    an_answer_counts_once_and_in_its_own_browser
    a_new_key_of_the_provider_is_found
    passwords_go_on_working_while_the_provider_is_down
    one_signs_in_one_way
    users_are_named_for_the_provider_in_the_console
    without_a_provider_nothing_of_it_is_there
}

const STRANGER: &str = "This account has no access to the console.";
const SESSION: &str = "__Host-corridor-session";
const DEPARTURE: &str = "__Host-corridor-departure";
static NUMBER: AtomicU32 = AtomicU32::new(0);

struct World {
    running: Arc<Running>,
    provider: SimulatedProvider,
}

impl World {
    async fn new(on: On) -> World {
        let account = Account::new("unknown", "unknown@bank.example");
        let provider = SimulatedProvider::start(account).await.expect("a provider");
        let running = Setup::new()
            .set("console.oidc.issuer", provider.issuer())
            .set("console.oidc.client_id", CLIENT_ID)
            .set("console.oidc.client_secret", CLIENT_SECRET)
            .set("console.oidc.label", "Sign in with Example Bank")
            .start(on)
            .await;
        provider.set_redirect_uri(&format!("{}/console/login/oidc/callback", running.url));
        World { running, provider }
    }

    /// A user of the provider with this account.
    async fn somebody(&self, subject: &str) -> (StoredUser, Account) {
        let login =
            format!("colleague{}.{}", NUMBER.fetch_add(1, Ordering::Relaxed), std::process::id());
        let name = format!("{login}@bank.example");
        let new = NewUser {
            login: login.clone(),
            roles: [Role::Viewer].into(),
            scope: Scope::All,
            password: String::new(),
            password_is_initial: false,
            provider_name: Some(name.clone()),
        };
        self.running.store().create_user(&new, WallClock.now(), "test").await.expect("a user");
        (self.user(&login).await, Account::new(&format!("{subject}-{login}"), &name.to_uppercase()))
    }

    async fn user(&self, login: &str) -> StoredUser {
        self.running.store().user_by_login(login).await.expect("read").expect("there")
    }

    fn browser(&self) -> Browser {
        Browser::new(&self.running.url)
    }

    /// Starts at the console; returns the provider's redirect back, without the host.
    async fn leave(&self, browser: &mut Browser) -> String {
        let away = browser.get("/console/login/oidc?next=/console/approvals").await;
        assert_eq!(away.status, 303, "{}", away.text);
        assert!(
            away.to().starts_with(&format!("{}/authorize?", self.provider.issuer())),
            "{}",
            away.to()
        );
        let http = reqwest::Client::builder().redirect(Policy::none()).build().expect("a client");
        let back = http.get(away.to()).send().await.expect("an answer");
        assert_eq!(back.status().as_u16(), 303, "{back:?}");
        let back = back.headers()["location"].to_str().expect("text").to_owned();
        back.strip_prefix(&self.running.url).expect("back to us").to_owned()
    }

    async fn sign_in(&self, browser: &mut Browser) -> Answer {
        let back = self.leave(browser).await;
        browser.get(&back).await
    }

    async fn back_up(&self) {
        self.provider.set_down(false);
        let keys = format!("{}/keys", self.provider.issuer());
        let client =
            reqwest::Client::builder().timeout(wait::AT_MOST).redirect(Policy::none()).build();
        let client = client.expect("a client");
        let serves = async || {
            client.get(&keys).send().await.is_ok_and(|answer| answer.status().is_success())
        };
        assert!(wait::until_async(wait::AT_MOST, serves).await, "the provider serves again");
    }

    /// Actions and facts about a user in the installation's log, oldest first.
    async fn audited(&self, login: &str) -> Vec<(String, String)> {
        let mut entries =
            self.running.store().audit_about(INSTALLATION, login).await.expect("read");
        entries.sort_by_key(|entry| entry.seq);
        let told = entries
            .into_iter()
            .map(|entry| (entry.note.action, entry.note.after.unwrap_or_default()));
        told.collect()
    }
}

fn is_in(browser: &Browser) -> bool {
    browser.cookies.contains_key(SESSION)
}

async fn the_first_sign_in_binds_and_later_ones_are_held_to_it(on: On) {
    let world = World::new(on).await;
    let (person, account) = world.somebody("00u1").await;
    let login = person.user.login.as_str();
    let mut browser = world.browser();
    let page = browser.get("/console/login?next=/console/approvals").await;
    let link = r#"<a class="btn wide" href="/console/login/oidc?next=/console/approvals">Sign in with Example Bank</a>"#;
    assert!(page.text.contains(link), "{}", page.text);
    world.provider.set_account(account.clone());
    let away = browser.get("/console/login/oidc").await;
    let cookie = away.headers["set-cookie"].to_str().expect("text");
    assert!(cookie.starts_with("__Host-corridor-departure="), "{cookie}");
    for word in ["Path=/", "HttpOnly", "SameSite=Lax", "Secure"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    for (name, value) in
        [("response_type", "code"), ("code_challenge_method", "S256"), ("scope", "openid+email")]
    {
        assert!(away.to().contains(&format!("{name}={value}")), "{}", away.to());
    }
    let entered = world.sign_in(&mut browser).await;
    assert_eq!((entered.status, entered.to()), (303, "/console/approvals"), "{}", entered.text);
    assert!(is_in(&browser) && !browser.cookies.contains_key(DEPARTURE), "{:?}", browser.cookies);
    let account_page = browser.get("/console/account").await;
    assert!(
        account_page.text.contains("through the identity provider as "),
        "{}",
        account_page.text
    );
    assert!(!account_page.text.contains("Change your password"), "{}", account_page.text);
    let fields = [("current", ""), ("new", PASSWORD), ("again", PASSWORD)];
    assert_eq!(browser.post("/console/account/password", &fields).await.status, 409);
    let bound = world.user(login).await.provider.expect("of the provider").bound.expect("bound");
    assert_eq!(
        (bound.issuer.as_str(), &bound.subject),
        (world.provider.issuer(), &account.subject)
    );
    let log = world.audited(login).await;
    assert_eq!(
        log.iter().map(|(action, _)| action.as_str()).collect::<Vec<_>>(),
        ["user.create", "user.bind", "session.begin"]
    );
    for (_, facts) in &log[1..] {
        assert!(
            facts.contains(&account.subject) && facts.contains(world.provider.issuer()),
            "{facts}"
        );
    }
    // The subject identifies the user, whatever the address is now and whether it is verified.
    let renamed = Account {
        email: "other@bank.example".to_owned(),
        email_verified: Some(false),
        ..account.clone()
    };
    world.provider.set_account(renamed);
    let mut second = world.browser();
    assert_eq!(world.sign_in(&mut second).await.to(), "/console/approvals");
    // Another account that got the address is not the user.
    world.provider.set_account(Account { subject: "00u2".to_owned(), ..account.clone() });
    let mut mallory = world.browser();
    let refused = world.sign_in(&mut mallory).await;
    assert_eq!(refused.status, 403);
    assert!(refused.text.contains(STRANGER) && !is_in(&mallory), "{}", refused.text);
    let (action, facts) = world.audited(login).await.pop().expect("an entry");
    assert_eq!(action, "session.refuse");
    assert!(facts.contains("00u2"), "{facts}");
    // Unbinding ends all sessions, and the next sign-in binds again.
    let store = world.running.store();
    store
        .change_user(&person.user, &UserChange::Unbind, WallClock.now(), "test")
        .await
        .expect("unbound");
    assert_eq!(browser.get("/console/account").await.to(), "/console/login?next=/console/account");
    assert_eq!(world.sign_in(&mut mallory).await.to(), "/console/approvals");
    let bound = world.user(login).await.provider.expect("of the provider").bound.expect("bound");
    assert_eq!(bound.subject, "00u2");
    world.running.stop().await;
}

async fn unknown_and_disabled_users_get_the_same_refusal(on: On) {
    let world = World::new(on).await;
    let (person, account) = world.somebody("00u1").await;
    let (bound, bound_account) = world.somebody("00u3").await;
    world.provider.set_account(bound_account.clone());
    assert_eq!(world.sign_in(&mut world.browser()).await.status, 303);
    let store = world.running.store();
    for user in [&person.user, &bound.user] {
        store
            .change_user(user, &UserChange::Disable, WallClock.now(), "test")
            .await
            .expect("disabled");
    }
    let (open, open_account) = world.somebody("00u4").await;
    let with_password = somebody(&world.running, &[Role::Viewer], Scope::All, false).await;
    let mut pages = Vec::new();
    for stranger in [
        Account::new("00u9", "stranger@bank.example"),
        account,
        bound_account,
        Account { email_verified: Some(false), ..open_account.clone() },
        Account { email_verified: None, ..open_account.clone() },
        Account { email: String::new(), ..open_account.clone() },
        // A password user's name is not a name at the provider.
        Account::new("00u8", &with_password.user.login),
    ] {
        world.provider.set_account(stranger.clone());
        let mut browser = world.browser();
        let answer = world.sign_in(&mut browser).await;
        assert_eq!(answer.status, 403, "{stranger:?}");
        assert!(
            answer.text.contains(STRANGER) && !is_in(&browser),
            "{stranger:?}: {}",
            answer.text
        );
        let token = answer.between(r#"name="csrf" value=""#, "\"").expect("a form").to_owned();
        pages.push(answer.text.replace(&token, ""));
    }
    assert!(pages.iter().all(|page| *page == pages[0]), "the same for everybody");
    assert!(world.user(&open.user.login).await.provider.expect("named").bound.is_none());
    let refusals = world.audited(&bound.user.login).await;
    assert_eq!(refusals.last().map(|(action, _)| action.as_str()), Some("session.refuse"));
    world.provider.set_account(open_account);
    assert_eq!(
        world.sign_in(&mut world.browser()).await.status,
        303,
        "a verified user is admitted"
    );
    world.running.stop().await;
}

async fn faulty_provider_answers_admit_no_user(on: On) {
    let world = World::new(on).await;
    let (person, account) = world.somebody("00u1").await;
    world.provider.set_account(account);
    for fault in [
        Fault::Nonce,
        Fault::Audience,
        Fault::Party,
        Fault::Issuer,
        Fault::Expired,
        Fault::Old,
        Fault::Future,
        Fault::Unsigned,
        Fault::SharedSecret,
        Fault::ForeignKey,
        Fault::Signature,
        Fault::AnswerIssuer,
        Fault::Denied,
    ] {
        world.provider.set_fault(Some(fault));
        let mut browser = world.browser();
        let answer = world.sign_in(&mut browser).await;
        assert_eq!(answer.status, 422, "{fault:?}");
        assert!(
            answer.text.contains("The identity provider did not sign you in."),
            "{fault:?}: {}",
            answer.text
        );
        assert!(!is_in(&browser) && !browser.cookies.contains_key(DEPARTURE), "{fault:?}");
    }
    for fault in [Fault::NoToken, Fault::TokenEndpoint] {
        world.provider.set_fault(Some(fault));
        let mut browser = world.browser();
        let answer = world.sign_in(&mut browser).await;
        assert_eq!(answer.status, 503, "{fault:?}");
        assert!(
            answer.text.contains("is not available right now") && !is_in(&browser),
            "{fault:?}: {}",
            answer.text
        );
    }
    assert!(
        world.user(&person.user.login).await.provider.expect("named").bound.is_none(),
        "no user was bound"
    );
    world.provider.set_fault(None);
    assert_eq!(world.sign_in(&mut world.browser()).await.status, 303);
    world.running.stop().await;
}

async fn an_answer_counts_once_and_in_its_own_browser(on: On) {
    let world = World::new(on).await;
    let (_, account) = world.somebody("00u1").await;
    world.provider.set_account(account);
    let stale = |answer: &Answer| {
        answer.status == 422 && answer.text.contains("started in another browser")
    };
    // In another browser: without a sign-in in progress there, and with a different one.
    let (mut own, mut other) = (world.browser(), world.browser());
    let back = world.leave(&mut own).await;
    assert!(stale(&other.get(&back).await) && !is_in(&other));
    world.leave(&mut other).await;
    assert!(stale(&other.get(&back).await) && !is_in(&other));
    assert_eq!(world.provider.asked().tokens, 0, "no code was redeemed for them");
    // A forged state.
    let departure = own.cookies.clone();
    let (path, query) = back.split_once('?').expect("a query");
    let forged =
        query.split('&').filter(|pair| !pair.starts_with("state=")).collect::<Vec<_>>().join("&");
    assert!(stale(&own.get(&format!("{path}?{forged}&state=x")).await));
    own.cookies = departure.clone();
    assert!(stale(&own.get(&format!("{path}?{forged}")).await));
    // Twice: an attacker has copied the cookie.
    own.cookies = departure.clone();
    assert_eq!(own.get(&back).await.status, 303);
    assert!(is_in(&own));
    let mut again = world.browser();
    again.cookies = departure;
    assert!(stale(&again.get(&back).await) && !is_in(&again));
    assert_eq!(world.provider.asked().tokens, 1);
    // A signed-in user is redirected without a question.
    assert_eq!(own.get("/console/login/oidc?next=/console/account").await.to(), "/console/account");
    for next in ["https://evil.example", "//evil.example", "/console/login/oidc"] {
        assert_eq!(
            own.get(&format!("/console/login/oidc?next={next}")).await.to(),
            "/console",
            "{next}"
        );
    }
    world.running.stop().await;
}

async fn a_new_key_of_the_provider_is_found(on: On) {
    let world = World::new(on).await;
    let (_, account) = world.somebody("00u1").await;
    world.provider.set_account(account);
    for signing in [Signing::Rs256, Signing::Es256, Signing::EdDsa] {
        world.provider.set_signing(signing);
        assert_eq!(
            world.sign_in(&mut world.browser()).await.to(),
            "/console/approvals",
            "{signing:?}"
        );
    }
    assert_eq!(world.provider.asked().keys, 3);
    assert_eq!(world.sign_in(&mut world.browser()).await.status, 303);
    assert_eq!(world.provider.asked().keys, 3, "known keys are not fetched again");
    world.running.stop().await;
}

async fn passwords_go_on_working_while_the_provider_is_down(on: On) {
    let world = World::new(on).await;
    world.provider.set_down(true);
    let mut browser = world.browser();
    let answer = browser.get("/console/login/oidc?next=/console/approvals").await;
    assert_eq!(answer.status, 503);
    assert!(
        answer.text.contains("The identity provider is not available right now."),
        "{}",
        answer.text
    );
    assert!(answer.text.contains(r#"name="next" value="/console/approvals""#), "{}", answer.text);
    let person = somebody(&world.running, &[Role::Viewer], Scope::All, false).await;
    let fields = [
        ("login", person.user.login.as_str()),
        ("password", PASSWORD),
        ("next", "/console/approvals"),
    ];
    assert_eq!(browser.post("/console/login", &fields).await.to(), "/console/approvals");
    world.back_up().await;
    let (_, account) = world.somebody("00u1").await;
    world.provider.set_account(account);
    let mut second = world.browser();
    let back = world.leave(&mut second).await;
    world.provider.set_down(true);
    assert_eq!(second.get(&back).await.status, 503, "it went down on the way");
    world.back_up().await;
    assert_eq!(world.sign_in(&mut second).await.status, 303);
    world.running.stop().await;
}

async fn one_signs_in_one_way(on: On) {
    let world = World::new(on).await;
    let (person, account) = world.somebody("00u1").await;
    for given in ["", PASSWORD] {
        let mut browser = world.browser();
        let answer = browser.sign_in(&person.user.login, given).await;
        assert_eq!(answer.status, 422);
        assert!(answer.text.contains("The name or password is incorrect."), "{}", answer.text);
    }
    // A password user who moves to the provider is signed out and loses the password.
    let other = somebody(&world.running, &[Role::Viewer], Scope::All, false).await;
    let mut browser = world.browser();
    assert_eq!(browser.sign_in(&other.user.login, PASSWORD).await.status, 303);
    let change = UserChange::Provider { name: "other@bank.example".to_owned() };
    world
        .running
        .store()
        .change_user(&other.user, &change, WallClock.now(), "test")
        .await
        .expect("changed");
    assert_eq!(browser.get("/console/account").await.to(), "/console/login?next=/console/account");
    assert_eq!(browser.sign_in(&other.user.login, PASSWORD).await.status, 422);
    world.provider.set_account(Account::new("00u7", "other@bank.example"));
    assert_eq!(world.sign_in(&mut browser).await.status, 303);
    world.provider.set_account(account);
    assert_eq!(world.sign_in(&mut world.browser()).await.status, 303);
    world.running.stop().await;
}

async fn users_are_named_for_the_provider_in_the_console(on: On) {
    let world = World::new(on).await;
    let admin = somebody(&world.running, &[Role::Admin], Scope::All, false).await;
    let mut browser = world.browser();
    browser.sign_in(&admin.user.login, PASSWORD).await;
    let page = browser.get("/console/users").await;
    assert!(page.text.contains("Name at the identity provider"), "{}", page.text);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let (login, name) = (format!("new{number}"), format!("New{number}@Bank.Example"));
    let made = browser.post("/console/users", &[("login", &login), ("provider_name", &name)]).await;
    assert_eq!(made.status, 201);
    assert!(
        made.text.contains("binds the account") && !made.text.contains("users reset new"),
        "{}",
        made.text
    );
    let person = world.user(&login).await;
    assert_eq!(person.provider.as_ref().expect("named").name, name.to_lowercase());
    let again = browser
        .post("/console/users", &[("login", "another"), ("provider_name", &name.to_lowercase())])
        .await;
    assert_eq!(again.status, 409);
    let blank =
        browser.post("/console/users", &[("login", "another"), ("provider_name", "a b")]).await;
    assert_eq!(blank.status, 422);
    // The user may sign in but has no access until two users have agreed on it.
    world.provider.set_account(Account::new("00u5", &name));
    let mut own = world.browser();
    assert_eq!(world.sign_in(&mut own).await.status, 303);
    assert_eq!(own.get("/console/approvals").await.status, 403);
    let page = browser.get(&format!("/console/users/{}", person.user.id)).await;
    for words in ["00u5", world.provider.issuer(), "corridor users unbind"] {
        assert!(page.text.contains(words), "{words}: {}", page.text);
    }
    let list = browser.get("/console/users").await;
    assert!(
        list.text.contains("identity provider") && list.text.contains("password, codes not set up"),
        "{}",
        list.text
    );
    world.running.stop().await;
}

async fn without_a_provider_nothing_of_it_is_there(on: On) {
    let running = Setup::new().start(on).await;
    let mut browser = Browser::new(&running.url);
    let page = browser.get("/console/login").await;
    assert!(!page.text.contains("/console/login/oidc"), "{}", page.text);
    for path in ["/console/login/oidc", "/console/login/oidc/callback?code=x&state=y"] {
        assert_eq!(browser.get(path).await.status, 404, "{path}");
    }
    running.stop().await;
}
