//! Pending work: each subject that is not final has a job, written in the same commit.

use uuid::Uuid;

use crate::ids::TenantId;
use crate::time::Timestamp;

names! {
    /// Kind of work that a job schedules.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum JobKind: "Name in the store." {
        /// Send a queued payment to a rail.
        Submit = "submit",
        /// Inquire at a rail about a payment's outcome.
        Inquire = "inquire",
        /// Send a recall, or end the wait for its answer or for the money.
        Recall = "recall",
        /// A reviewer decides about a payment that screening held; never runs.
        Review = "review",
        /// Close an expired payment request.
        ExpireRequest = "expire_request",
        /// Assess the risk of a counted deposit.
        Screen = "screen",
        /// A reviewer decides about a deposit that screening held; never runs.
        ReviewDeposit = "review_deposit",
        /// Assign an intent to a transaction.
        SendIntent = "send_intent",
        /// Begin a sweep of a tenant's tokens from its controller to its treasury.
        Sweep = "sweep",
        /// Sign, broadcast, replace or follow a transaction.
        Transmit = "transmit",
        /// Advance an exchange order, or end it by timeout.
        Exchange = "exchange",
        /// Send an order's payout to a rail.
        Payout = "payout",
        /// Inquire at a rail about the outcome of an order's payout.
        InquirePayout = "inquire_payout",
        /// Bring a wallet's orders, requests and deposits in line with its state; unblock or blacklist
        /// it when due.
        WalletTimer = "wallet_timer",
        /// Deliver a wallet event to the bank's webhook endpoint.
        Deliver = "deliver",
    }
}

/// A job. A subject has at most one; taking it raises its `fence`, and only the holder of the
/// newest fence may act for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Tenant of the job.
    pub tenant: TenantId,
    /// Subject: a payment, recall, request, deposit, intent …
    pub subject: Uuid,
    /// Work that the subject needs next.
    pub kind: JobKind,
    /// Time before which no worker takes it.
    pub run_at: Timestamp,
    /// Increases whenever a worker takes the job.
    pub fence: i64,
    /// End of the holder's lease; `None` if the job is free.
    pub leased_until: Option<Timestamp>,
    /// Postponements since it became this kind; selects the next delay.
    pub tries: i32,
}
