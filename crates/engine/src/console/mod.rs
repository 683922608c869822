//! What the operator console needs beside the services: people, their sessions, and what takes two of them.
//!
//! A proposal is decided in the database, once, by somebody else than who made it; what it says is then carried out by
//! the same commands as everything else.

mod carry_out;
mod propose;

use domain::audit;
use domain::ids::{ApprovalId, TenantId};
use domain::time::Timestamp;
use domain::user::{Scope, User};

pub use carry_out::deed_of;
pub use domain::approval::{Approval, ApprovalState, Change, Deed, Person, Pricing};
pub use propose::{EARLY, ORDER_ENDS, PAYMENT_ENDS, pricing_of, scope_of};
pub use store::{
    Backoff, Departure, NewSession, NewUser, ProviderLogin, SessionRow, Stage, StoredUser, TOTP_SECRET_BYTES,
    TotpSecret, UserChange,
};

use crate::payments::{self, Payments, StoreError};
use crate::wallets::{self, Wallets};

/// Why nothing was proposed, decided or done.
#[derive(Debug, thiserror::Error)]
pub enum Denied {
    /// There is no such proposal, or nothing of what it is about.
    #[error("there is no such thing")]
    NotFound,
    /// The same is proposed already, and nobody has decided yet.
    #[error("the same is proposed already")]
    Proposed,
    /// Somebody has decided, or its time is up.
    #[error("somebody has decided already, or its time is up")]
    Decided,
    /// Nobody approves what he has proposed himself.
    #[error("somebody else has to decide")]
    SamePerson,
    /// None of the person's roles allows it.
    #[error("none of your roles allows it")]
    NotAllowed,
    /// It changes nothing.
    #[error("this changes nothing")]
    NoChange,
    /// The rules speak against it.
    #[error("{0}")]
    Refused(String),
    /// The payment service says no.
    #[error(transparent)]
    Payments(#[from] payments::Denied),
    /// The wallet service says no.
    #[error(transparent)]
    Wallets(#[from] wallets::Denied),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What somebody proposes.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// Whose affairs it is about; `None` = the whole installation.
    pub tenant: Option<TenantId>,
    /// What is to be done.
    pub deed: Deed,
    /// Who proposes it.
    pub maker: User,
    /// Why.
    pub why: String,
    /// The maker's deed, for the audit log.
    pub by: audit::Deed,
}

/// Proposals and what becomes of them. Cheap to clone.
#[derive(Clone)]
pub struct Console {
    payments: Payments,
    wallets: Wallets,
}

impl Console {
    /// The desk over the services.
    pub const fn new(payments: Payments, wallets: Wallets) -> Console {
        Console { payments, wallets }
    }

    /// One proposal, whosever it is about: whether somebody may see it is the caller's to judge.
    ///
    /// # Errors
    /// [`Denied::Store`]
    pub async fn find(&self, id: ApprovalId) -> Result<Option<Approval>, Denied> {
        Ok(self.payments.store().approval(id).await?)
    }

    /// The proposals in a scope that wait or are being carried out, the oldest first; or the newest of all, the newest
    /// first.
    ///
    /// # Errors
    /// [`Denied::Store`]
    pub async fn list(&self, scope: Scope, open: bool, limit: usize) -> Result<Vec<Approval>, Denied> {
        Ok(self.payments.store().approvals(scope, open, limit).await?)
    }

    /// The proposals about one thing that wait.
    ///
    /// # Errors
    /// [`Denied::Store`]
    pub async fn waiting_about(&self, tenant: Option<TenantId>, subject: &str) -> Result<Vec<Approval>, Denied> {
        let now = self.now();
        let found = self.payments.store().approvals_about(tenant, subject).await?;
        Ok(found.into_iter().filter(|approval| approval.is_open(now)).collect())
    }

    /// The business clock's time, which proposals live by.
    pub fn now(&self) -> Timestamp {
        self.payments.world().clock.now()
    }
}
