//! Work that is owed: every thing that is not at its end has a job, written in the commit that made it so.

use uuid::Uuid;

use crate::ids::TenantId;
use crate::time::Timestamp;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JobKind {
    /// Send a queued payment to a rail.
    Submit,
    /// Ask a rail what became of a payment.
    Inquire,
    /// A person decides about a payment that screening held; nothing runs by itself.
    Review,
    /// Close a payment request whose time ran out.
    ExpireRequest,
    /// Screen a deposit.
    Screen,
    /// A person decides about a deposit that screening held; nothing runs by itself.
    ReviewDeposit,
    /// Give an intent a place in a transaction.
    SendIntent,
    /// Begin a sweep of a tenant's coin from its controller to its treasury.
    Sweep,
    /// Sign, broadcast, replace or follow a transaction.
    Transmit,
    /// See that an exchange order goes on, or ends by time-out.
    Exchange,
    /// Send the pay-out of an order to a rail.
    Payout,
    /// Ask a rail what became of an order's pay-out.
    InquirePayout,
    /// Bring a wallet's orders, requests and deposits in line with its state; unblock or blacklist it in time.
    WalletTimer,
    /// Deliver a wallet event to the bank's receiver.
    Deliver,
}

impl JobKind {
    /// Every kind.
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

    /// The name in the store.
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

    /// Reads the name.
    pub fn parse(name: &str) -> Option<JobKind> {
        JobKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A job. A subject has at most one at a time; taking it raises its `fence`, and only who holds the newest fence may
/// act for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Whose.
    pub tenant: TenantId,
    /// The payment, request, deposit, intent … that it is about.
    pub subject: Uuid,
    /// What is to be done.
    pub kind: JobKind,
    /// Not before.
    pub run_at: Timestamp,
    /// Rises by one whenever a worker takes the job.
    pub fence: i64,
    /// Until when the present holder may act; `None` = nobody holds it.
    pub leased_until: Option<Timestamp>,
    /// How often it has been put off since it became this kind; chooses the next delay.
    pub tries: i32,
}
