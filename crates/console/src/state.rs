//! What the pages are made of.

use std::sync::Arc;

use domain::policy::Environment;
use domain::time::Span;
use engine::console::Console as Desk;
use engine::payments::{Payments, Store};
use engine::wallets::Wallets;
use tokio::sync::Semaphore;

use super::outside::Outside;
use super::provider::Provider;
use http_api::address_windows::AddressWindows;
use http_api::server::body::BodyLimits;

/// What the console is set up with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The URL in front of `/console`, without a slash at its end.
    pub base_url: String,
    /// Which world this is: outside production a ribbon says so.
    pub environment: Environment,
    /// Bounds of a form.
    pub body: BodyLimits,
    /// A session that nobody used for so long is over.
    pub idle: Span,
    /// A session that began so long ago is over.
    pub absolute: Span,
    /// Whether people sign in with a one-time code too. Without it only in a sandbox.
    pub second_factor: bool,
    /// Passwords that one address may send in a minute, right or wrong.
    pub sign_ins_per_minute: u32,
}

/// The console. Shared by all requests.
pub struct Console {
    /// The payment service.
    pub payments: Payments,
    /// The wallet service.
    pub wallets: Wallets,
    /// Proposals and what becomes of them.
    pub desk: Desk,
    /// Whoever runs it.
    pub outside: Arc<dyn Outside>,
    /// Where people sign in who have no password here; `None` = nobody does.
    pub provider: Option<Provider>,
    /// What it is set up with.
    pub settings: Settings,
    /// Requests of addresses that have not signed in.
    pub(super) addresses: AddressWindows,
    /// Passwords that are hashed at a time.
    pub(super) hashing: Semaphore,
}

/// Passwords that are hashed at a time: 19 MiB each.
const HASHING_MAX: usize = 4;

impl Console {
    /// A console over the services.
    pub fn new(payments: Payments, wallets: Wallets, outside: Arc<dyn Outside>, settings: Settings) -> Arc<Console> {
        let desk = Desk::new(payments.clone(), wallets.clone());
        let (addresses, hashing) = (AddressWindows::default(), Semaphore::new(HASHING_MAX));
        let provider = outside.identity_provider();
        Arc::new(Console { payments, wallets, desk, outside, provider, settings, addresses, hashing })
    }

    /// The store, for reads that have no rules of their own.
    pub fn store(&self) -> &Store {
        self.payments.store()
    }

    /// The business clock's time.
    pub fn now(&self) -> domain::time::Timestamp {
        self.payments.world().clock.now()
    }

    /// The time on the wall: sessions, one-time codes and lock-outs are judged by it.
    pub fn wall_now(&self) -> domain::time::Timestamp {
        self.payments.world().wall_clock.now()
    }
}
