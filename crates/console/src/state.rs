//! The shared state of the pages.

use std::sync::Arc;

use domain::ids::TenantId;
use domain::policy::Environment;
use domain::time::Span;
use domain::user::Scope;
use engine::backoffice::Waiting;
use engine::console::Console as Desk;
use engine::payments::{Payments, Store, StoreError};
use engine::wallets::{Tenant, Wallets};
use tokio::sync::Semaphore;

use super::inbox::MOST;
use super::kept::Kept;
use super::outside::Outside;
use super::payments::overview::{DAYS_KEPT, Days};
use super::provider::Provider;
use http_api::address_windows::AddressWindows;
use http_api::server::body::BodyLimits;

/// Settings of the console.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The base URL of `/console`, without a trailing slash.
    pub base_url: String,
    /// The environment; outside production a ribbon shows it.
    pub environment: Environment,
    /// Limits of a form.
    pub body: BodyLimits,
    /// Idle timeout of a session.
    pub idle: Span,
    /// Maximum lifetime of a session.
    pub absolute: Span,
    /// Whether one-time codes are required. Off only in a sandbox.
    pub second_factor: bool,
    /// Password attempts per address and minute, right or wrong.
    pub sign_ins_per_minute: u32,
}

/// The console state, shared by all requests.
pub struct Console {
    pub payments: Payments,
    pub wallets: Wallets,
    /// Proposals and their execution.
    pub desk: Desk,
    /// What the host of the console provides.
    pub outside: Arc<dyn Outside>,
    /// The identity provider; `None` if all users have passwords.
    pub provider: Option<Provider>,
    pub settings: Settings,
    /// Rate limits for addresses without a session.
    pub(super) addresses: AddressWindows,
    /// Limits concurrent password hashing.
    pub(super) hashing: Semaphore,
    /// Counts for the navigation that took long to read.
    counted: Kept<(TenantId, Scope), Waiting>,
    /// Counts for the list of tenants.
    counted_by_tenant: Kept<TenantId, Waiting>,
    /// Charts of the overview.
    pub(super) days: Kept<TenantId, Arc<Days>>,
}

/// Counts that took longer to read than this are shown for [`COUNTS_KEPT`]: with very many payments
/// on their way, each page and each refresh of it would read them all again.
const COUNTS_SLOW: Span = Span::secs(1);
const COUNTS_KEPT: Span = Span::secs(30);
/// Tenants whose work is counted for each page.
const COUNTED_TENANTS_MAX: usize = 30;

/// Concurrent password hashes: 19 MiB each.
const HASHING_MAX: usize = 4;

impl Console {
    /// A console over these services.
    pub fn new(
        payments: Payments,
        wallets: Wallets,
        outside: Arc<dyn Outside>,
        settings: Settings,
    ) -> Arc<Console> {
        let desk = Desk::new(payments.clone(), wallets.clone());
        let (addresses, hashing) = (AddressWindows::default(), Semaphore::new(HASHING_MAX));
        let provider = outside.identity_provider();
        Arc::new(Console {
            payments,
            wallets,
            desk,
            outside,
            provider,
            settings,
            addresses,
            hashing,
            counted: Kept::new(COUNTS_KEPT),
            counted_by_tenant: Kept::new(COUNTS_KEPT),
            days: Kept::new(DAYS_KEPT),
        })
    }

    /// How much waits for a user of a tenant.
    pub(super) async fn waiting(
        &self,
        tenant: TenantId,
        scope: Scope,
    ) -> Result<Waiting, StoreError> {
        let began = self.now();
        if let Some(waiting) = self.counted.get(&(tenant, scope), began) {
            return Ok(waiting);
        }
        let waiting = self.store().waiting(tenant, scope, MOST).await?;
        let now = self.now();
        if now - began > COUNTS_SLOW {
            self.counted.put((tenant, scope), now, waiting);
        }
        Ok(waiting)
    }

    /// How much waits at each of the first tenants, without proposals about the installation; at most
    /// [`COUNTS_KEPT`] old.
    pub(super) async fn waiting_by_tenant(
        &self,
        tenants: &[Arc<Tenant>],
    ) -> Result<Vec<(TenantId, Waiting)>, StoreError> {
        let mut counts = Vec::new();
        for tenant in tenants.iter().take(COUNTED_TENANTS_MAX) {
            let (id, now) = (tenant.id, self.now());
            let waiting = match self.counted_by_tenant.get(&id, now) {
                Some(waiting) => waiting,
                None => {
                    let waiting = self.store().waiting(id, Scope::Tenant(id), MOST).await?;
                    self.counted_by_tenant.put(id, self.now(), waiting);
                    waiting
                }
            };
            counts.push((id, waiting));
        }
        Ok(counts)
    }

    /// The store, for reads without business rules.
    pub fn store(&self) -> &Store {
        self.payments.store()
    }

    /// The current business time.
    pub fn now(&self) -> domain::time::Timestamp {
        self.payments.world().clock.now()
    }

    /// The wall-clock time, for sessions, one-time codes and lockouts.
    pub fn wall_now(&self) -> domain::time::Timestamp {
        self.payments.world().wall_clock.now()
    }
}
