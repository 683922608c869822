//! Services of the operator console: users, their sessions, and actions that need two users.
//!
//! A proposal is decided in the database, once, by a user other than its maker; it is then executed
//! with the same commands as everything else.

mod execute;
mod propose;

use domain::audit;
use domain::ids::{ApprovalId, TenantId};
use domain::time::Timestamp;
use domain::user::{Scope, User};

pub use domain::approval::{
    Approval, ApprovalState, ApprovalUser, Change, Pricing, ProposedAction,
};
pub use execute::audit_context_of;
pub use propose::{EARLY, ORDER_ENDS, PAYMENT_ENDS, pricing_of, scope_of};
pub use store::{
    Backoff, CaseNote, CaseRef, CaseWork, Departure, NewSession, NewUser, ProviderLogin,
    SAVED_VIEWS_MAX, SavedView, SessionRow, Stage, StoredFile, StoredUser, TOTP_SECRET_BYTES,
    TotpSecret, UserChange,
};

use crate::payments::{self, Payments, StoreError};
use crate::wallets::{self, Wallets};

/// Why a proposal, decision or action was refused.
#[derive(Debug, thiserror::Error)]
pub enum Denied {
    /// The proposal or its subject does not exist.
    #[error("not found")]
    NotFound,
    /// A proposal of the same kind about the same subject waits for a decision.
    #[error("another proposal about this waits for a decision: decide on it or withdraw it first")]
    Proposed,
    /// The proposal was decided or has expired.
    #[error("this proposal was already decided or has expired")]
    Decided,
    /// Users cannot approve their own proposals.
    #[error("another user has to decide")]
    SamePerson,
    /// None of the user's roles allows it.
    #[error("none of your roles allows it")]
    NotAllowed,
    /// The proposal would change nothing.
    #[error("this changes nothing")]
    NoChange,
    /// A business rule refuses it.
    #[error("{0}")]
    Refused(String),
    /// Refused by the payment service.
    #[error(transparent)]
    Payments(#[from] payments::Denied),
    /// Refused by the wallet service.
    #[error(transparent)]
    Wallets(#[from] wallets::Denied),
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Clone, Debug)]
pub struct Proposal {
    /// The tenant it concerns; `None` = the whole installation.
    pub tenant: Option<TenantId>,
    pub deed: ProposedAction,
    /// The user who proposes it.
    pub maker: User,
    pub why: String,
    /// The maker's audit context.
    pub by: audit::AuditContext,
}

/// Proposals and their decisions. Cheap to clone.
#[derive(Clone)]
pub struct Console {
    payments: Payments,
    wallets: Wallets,
}

impl Console {
    /// Creates the console over the services.
    pub const fn new(payments: Payments, wallets: Wallets) -> Console {
        Console { payments, wallets }
    }

    /// Returns one proposal of any tenant: the caller checks whether the user may see it.
    pub async fn find(&self, id: ApprovalId) -> Result<Option<Approval>, Denied> {
        Ok(self.payments.store().approval(id).await?)
    }

    /// Proposals in a scope: those waiting or being executed, oldest first; or the latest of all,
    /// newest first.
    pub async fn list(
        &self,
        scope: Scope,
        open: bool,
        limit: usize,
    ) -> Result<Vec<Approval>, Denied> {
        Ok(self.payments.store().approvals(scope, open, limit).await?)
    }

    /// Waiting proposals about one subject.
    pub async fn waiting_about(
        &self,
        tenant: Option<TenantId>,
        subject: &str,
    ) -> Result<Vec<Approval>, Denied> {
        let now = self.now();
        let found = self.payments.store().approvals_about(tenant, subject).await?;
        Ok(found.into_iter().filter(|approval| approval.is_open(now)).collect())
    }

    /// The business clock's time, which governs when proposals expire.
    pub fn now(&self) -> Timestamp {
        self.payments.world().clock.now()
    }
}
