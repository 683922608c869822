//! Pending work: each subject that is not final has a job, written in the same commit.

use uuid::Uuid;

use crate::ids::TenantId;
use crate::time::Timestamp;

/// Kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobKind {
    /// Send a queued payment to a rail.
    Submit,
    /// Inquire at a rail about a payment's outcome.
    Inquire,
    /// A reviewer decides about a payment that screening held; never runs.
    Review,
    /// Close an expired payment request.
    ExpireRequest,
    /// Screen a deposit.
    Screen,
    /// A reviewer decides about a deposit that screening held; never runs.
    ReviewDeposit,
    /// Assign an intent to a transaction.
    SendIntent,
    /// Begin a sweep of a tenant's tokens from its controller to its treasury.
    Sweep,
    /// Sign, broadcast, replace or follow a transaction.
    Transmit,
    /// Advance an exchange order, or end it by timeout.
    Exchange,
    /// Send an order's payout to a rail.
    Payout,
    /// Inquire at a rail about the outcome of an order's payout.
    InquirePayout,
    /// Bring a wallet's orders, requests and deposits in line with its state; unblock or blacklist
    /// it when due.
    WalletTimer,
    /// Deliver a wallet event to the bank's webhook endpoint.
    Deliver,
}

impl JobKind {
    /// All kinds.
    pub const ALL: [JobKind; 14] = [
        JobKind::Submit,
        JobKind::Inquire,
        JobKind::Review,
        JobKind::ExpireRequest,
        JobKind::Screen,
        JobKind::ReviewDeposit,
        JobKind::SendIntent,
        JobKind::Sweep,
        JobKind::Transmit,
        JobKind::Exchange,
        JobKind::Payout,
        JobKind::InquirePayout,
        JobKind::WalletTimer,
        JobKind::Deliver,
    ];

    /// Name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            JobKind::Submit => "submit",
            JobKind::Inquire => "inquire",
            JobKind::Review => "review",
            JobKind::ExpireRequest => "expire_request",
            JobKind::Screen => "screen",
            JobKind::ReviewDeposit => "review_deposit",
            JobKind::SendIntent => "send_intent",
            JobKind::Sweep => "sweep",
            JobKind::Transmit => "transmit",
            JobKind::Exchange => "exchange",
            JobKind::Payout => "payout",
            JobKind::InquirePayout => "inquire_payout",
            JobKind::WalletTimer => "wallet_timer",
            JobKind::Deliver => "deliver",
        }
    }

    /// Parses the name.
    pub fn parse(name: &str) -> Option<JobKind> {
        JobKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A job. A subject has at most one; taking it raises its `fence`, and only the holder of the
/// newest fence may act for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Tenant of the job.
    pub tenant: TenantId,
    /// Subject: a payment, request, deposit, intent …
    pub subject: Uuid,
    /// Kind of work.
    pub kind: JobKind,
    /// Earliest start.
    pub run_at: Timestamp,
    /// Increases whenever a worker takes the job.
    pub fence: i64,
    /// End of the holder's lease; `None` if the job is free.
    pub leased_until: Option<Timestamp>,
    /// Postponements since it became this kind; selects the next delay.
    pub tries: i32,
}
