//! A small OpenID provider: description, keys, an authorization endpoint that asks nobody anything and redirects at once, a
//! token endpoint that checks what a strict provider checks and signs for real. What it then says wrong is scripted.

mod server;
mod signing;

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::ports::Clock;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use self::signing::Signing;
use self::signing::SigningKey;
use crate::bank::SystemClock;
use crate::bank::server::connection::Door;

/// The client that it knows.
pub const CLIENT_ID: &str = "corridor-console";
/// The client's secret.
pub const CLIENT_SECRET: &str = "a secret: with a colon";

/// Somebody who is signed in at the provider, as the next ID token names him.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// `sub`
    pub subject: String,
    /// `email`
    pub email: String,
    /// `email_verified`; `None` = it does not say.
    pub email_verified: Option<bool>,
    /// `preferred_username`
    pub username: String,
}

impl Account {
    /// Somebody with a verified address.
    pub fn new(subject: &str, email: &str) -> Account {
        let (subject, email, username) = (subject.to_owned(), email.to_owned(), email.to_owned());
        Account { subject, email, email_verified: Some(true), username }
    }
}

/// What the provider does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The ID token has another nonce.
    Nonce,
    /// It is for another client.
    Audience,
    /// It is for us and somebody else, and the authorized party is somebody else.
    Party,
    /// It is of another issuer.
    Issuer,
    /// It has expired.
    Expired,
    /// It was issued long ago and never expires.
    Old,
    /// It is of the future.
    Future,
    /// It is not signed, and says so.
    Unsigned,
    /// It is "signed" with the client's secret.
    SharedSecret,
    /// It is signed by a key that nobody publishes.
    ForeignKey,
    /// Its signature does not belong to its claims.
    Signature,
    /// There is none.
    NoToken,
    /// The authorization answer is of another issuer.
    AnswerIssuer,
    /// Nobody consents: the authorization answer is an error.
    Denied,
    /// The token endpoint fails.
    TokenEndpoint,
    /// The description is another provider's.
    Description,
}

/// A code that was given out and not redeemed.
struct Grant {
    redirect_uri: String,
    nonce: String,
    challenge: String,
    account: Account,
}

/// How often an endpoint was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The description.
    pub description: u32,
    /// The keys.
    pub keys: u32,
    /// Codes that were to be redeemed.
    pub tokens: u32,
}

struct State {
    account: Account,
    signing: Signing,
    keys: Vec<SigningKey>,
    drawn: u32,
    fault: Option<Fault>,
    grants: HashMap<String, Grant>,
    redirect_uri: Option<String>,
    scope: String,
    asked: Asked,
}

struct Shared {
    issuer: String,
    state: Mutex<State>,
    clock: Arc<dyn Clock>,
    down: watch::Sender<bool>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running provider. Dropping it stops it.
pub struct SimulatedProvider {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl SimulatedProvider {
    /// Begins to serve on any port of this machine, where this account is signed in.
    ///
    /// # Errors
    /// It cannot listen.
    pub async fn start(account: Account) -> io::Result<SimulatedProvider> {
        let down = watch::Sender::new(false);
        let door = Door::bind(SocketAddr::from(([127, 0, 0, 1], 0)), down.subscribe()).await?;
        let issuer = format!("http://{}/realms/bank", door.address());
        let mut state = State {
            account,
            signing: Signing::Rs256,
            keys: Vec::new(),
            drawn: 0,
            fault: None,
            grants: HashMap::new(),
            redirect_uri: None,
            scope: String::new(),
            asked: Asked::default(),
        };
        state.rotate();
        let shared = Arc::new(Shared { issuer, state: Mutex::new(state), clock: Arc::new(SystemClock), down });
        let task = tokio::spawn(server::serve(door, Arc::clone(&shared)));
        Ok(SimulatedProvider { shared, task })
    }

    /// Its issuer.
    pub fn issuer(&self) -> &str {
        &self.shared.issuer
    }

    /// Who is signed in there from now on.
    pub fn set_account(&self, account: Account) {
        self.shared.state().account = account;
    }

    /// What it does wrong from now on.
    pub fn set_fault(&self, fault: Option<Fault>) {
        self.shared.state().fault = fault;
    }

    /// Signs in this way from now on, with a new key.
    pub fn set_signing(&self, signing: Signing) {
        let mut state = self.shared.state();
        state.signing = signing;
        state.rotate();
    }

    /// Signs with a new key from now on; the old one is not published any more.
    pub fn rotate(&self) {
        self.shared.state().rotate();
    }

    /// The one address that it sends browsers back to, once it is told.
    pub fn set_redirect_uri(&self, uri: &str) {
        self.shared.state().redirect_uri = Some(uri.to_owned());
    }

    /// Whether it refuses connections.
    pub fn set_down(&self, down: bool) {
        self.shared.down.send_replace(down);
    }

    /// How often it was asked.
    pub fn asked(&self) -> Asked {
        self.shared.state().asked
    }

    /// What the last browser asked for.
    pub fn scope(&self) -> String {
        self.shared.state().scope.clone()
    }
}

impl Drop for SimulatedProvider {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl State {
    fn rotate(&mut self) {
        self.drawn += 1;
        self.keys = vec![SigningKey::new(self.signing, format!("key-{}", self.drawn))];
    }

    fn key_set(&self) -> Value {
        let keys: Vec<Value> = self.keys.iter().map(SigningKey::public).collect();
        serde_json::json!({ "keys": keys })
    }
}
