//! A small OpenID provider: discovery document, keys, an authorization endpoint that redirects at
//! once without interaction, and a token endpoint with strict checks and real signatures. Its
//! faults are scripted.

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

/// The registered client id.
pub const CLIENT_ID: &str = "corridor-console";
pub const CLIENT_SECRET: &str = "a secret: with a colon";

/// The account signed in at the provider, as in the next ID token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The value of the claim `sub`.
    pub subject: String,
    pub email: String,
    /// `email_verified`; `None` omits it.
    pub email_verified: Option<bool>,
    /// The value of the claim `preferred_username`.
    pub username: String,
}

impl Account {
    /// An account with a verified e-mail address.
    pub fn new(subject: &str, email: &str) -> Account {
        let (subject, email, username) = (subject.to_owned(), email.to_owned(), email.to_owned());
        Account { subject, email, email_verified: Some(true), username }
    }
}

/// A fault of the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The ID token has another nonce.
    Nonce,
    /// Its audience is another client.
    Audience,
    /// Its audience is us and another client, which is the authorized party.
    Party,
    /// It has another issuer.
    Issuer,
    /// The token has expired.
    Expired,
    /// It was issued long ago and never expires.
    Old,
    /// It is issued in the future.
    Future,
    /// It declares that it is not signed.
    Unsigned,
    /// It is "signed" with the client's secret.
    SharedSecret,
    /// It is signed with an unpublished key.
    ForeignKey,
    /// Its signature does not match its claims.
    Signature,
    /// There is no ID token.
    NoToken,
    /// The authorization response has another issuer.
    AnswerIssuer,
    /// Consent is denied: the authorization response is an error.
    Denied,
    /// The token endpoint fails.
    TokenEndpoint,
    /// The discovery document is another provider's.
    Description,
}

/// An issued, unredeemed code.
struct Grant {
    redirect_uri: String,
    nonce: String,
    challenge: String,
    account: Account,
}

/// Number of requests per endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Requests for the discovery document.
    pub description: u32,
    /// Requests for the keys.
    pub keys: u32,
    /// Number of requests for tokens.
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
    /// Starts to serve on any local port, with this account signed in.
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
        let shared = Arc::new(Shared {
            issuer,
            state: Mutex::new(state),
            clock: Arc::new(SystemClock),
            down,
        });
        let task = tokio::spawn(server::serve(door, Arc::clone(&shared)));
        Ok(SimulatedProvider { shared, task })
    }

    /// URL of the issuer.
    pub fn issuer(&self) -> &str {
        &self.shared.issuer
    }

    /// Changes the signed-in account.
    pub fn set_account(&self, account: Account) {
        self.shared.state().account = account;
    }

    pub fn set_fault(&self, fault: Option<Fault>) {
        self.shared.state().fault = fault;
    }

    /// Changes the signature algorithm, with a new key.
    pub fn set_signing(&self, signing: Signing) {
        let mut state = self.shared.state();
        state.signing = signing;
        state.rotate();
    }

    /// Signs with a new key from now on; the old one is no longer published.
    pub fn rotate(&self) {
        self.shared.state().rotate();
    }

    /// Sets the only permitted redirect URI.
    pub fn set_redirect_uri(&self, uri: &str) {
        self.shared.state().redirect_uri = Some(uri.to_owned());
    }

    /// Sets whether it refuses connections.
    pub fn set_down(&self, down: bool) {
        self.shared.down.send_replace(down);
    }

    /// Number of requests so far.
    pub fn asked(&self) -> Asked {
        self.shared.state().asked
    }

    /// Scope of the last authorization request.
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
