//! A payment request: a link, its own escrow address, and how much of the requested amount has been
//! paid.
//!
//! Each incoming transaction is a `deposit` of its own; this module holds their sums.

use crate::chain::{Address, Word};
use crate::currency::{Currency, StableCoin};
use crate::ids::{IntentId, PaymentRequestId, SenderInfoId, TenantId, WalletId};
use crate::time::Timestamp;

pub mod asked;
mod change;
mod escrow;
mod money;
pub mod refund_to;
pub mod states;

pub use asked::{AmountAsked, AmountRefusal, FIAT, Paid};
pub use change::{DEFAULT_EXPIRES_IN_HOURS, EXPIRES_IN_HOURS, NewRequest, RequestConflict, create};
pub use escrow::{EscrowHold, SUBMISSIONS_MAX, SubmissionHold, TooManySubmissions};
pub use money::RequestMoney;
pub use refund_to::{Named, RefundTo};
pub use states::{RequestStep, RequestTrigger};

names! {
    /// `status` of the specification's payment request.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum RequestState: "Name on the wire and in the store." {
        /// Awaits payment.
        Active = "ACTIVE",
        /// The requested amount has been paid.
        Paid = "PAID",
        /// Expired.
        Expired = "EXPIRED",
        /// Withdrawn.
        Cancelled = "CANCELLED",
    }
}

names! {
    /// How the received payments deviate from the request (`decisions.md`, "Payment request").
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum RequestException: "Name on the wire." {
        /// No deviation.
        None = "NONE",
        /// Less was paid.
        Partial = "PARTIAL",
        /// More was paid.
        Overpaid = "OVERPAID",
        /// Paid in a block after the expiry.
        Late = "LATE",
        /// Paid in the other stablecoin.
        WrongAsset = "WRONG_ASSET",
        /// Money is held in escrow: it is in review, the wallet is blocked, or its release failed.
        Held = "HELD",
        /// A payment was rejected.
        Rejected = "REJECTED",
        /// A payment was rejected and refunded.
        Refunded = "REFUNDED",
    }
}

/// Requested amount. Values are millionths of a unit, for fiat currencies too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// `crypto`: this amount of a stablecoin.
    Crypto {
        /// Stablecoin.
        coin: StableCoin,
        /// Amount in minor units (10^-6).
        minor: i64,
    },
    /// `fiat`: stablecoins worth this amount of a currency at creation.
    Fiat {
        /// PKR, USD, AED or SAR.
        currency: Currency,
        /// Amount in millionths of the currency's unit.
        micros: i64,
        /// Equivalent in USDC, in minor units.
        usdc: i64,
        /// Equivalent in USDT, in minor units.
        usdt: i64,
    },
    /// `flexible`: any amount.
    Flexible,
}

/// Received amount of each stablecoin at the required depth; minor units (10^-6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// USDC.
    pub usdc: i64,
    /// USDT.
    pub usdt: i64,
}

/// A payment request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentRequest {
    /// Id of the request.
    pub id: PaymentRequestId,
    /// Tenant of the request.
    pub tenant: TenantId,
    /// Wallet that receives the money.
    pub wallet: WalletId,
    /// Token of `/pay/{token}`: at least 128 random bits.
    pub token: String,
    /// `escrow_address`: the vault for payments from unknown senders. Each submission of details
    /// has its own vault.
    pub escrow: Address,
    /// Reference of that vault.
    pub reference: Word,
    /// Number of submissions of sender details with an escrow: the number of the newest.
    pub submissions: u32,
    /// Requested amount.
    pub asked: Asked,
    /// `purpose`
    pub purpose: Option<String>,
    /// `created_at`
    pub created_at: Timestamp,
    /// `expires_at`: this instant itself is too late.
    pub expires_at: Timestamp,
    /// Current state.
    pub state: RequestState,
    /// Received amounts.
    pub received: Received,
    /// `paid_at`
    pub paid_at: Option<Timestamp>,
    /// Whether a payment arrived in a block at or after the expiry.
    pub late: bool,
    /// Whether a payment arrived in the other stablecoin.
    pub wrong_asset: bool,
    /// Amount of the other stablecoin that a reviewer accepted one for one, in minor units; `None`
    /// means none.
    pub other_taken: Option<i64>,
    /// Start of the legal hold of [`PaymentRequest::escrow`]: nothing leaves that vault.
    pub held_at: Option<Timestamp>,
    /// The call that lifts that vault's on-chain hold, in progress or done; `None` if the newest
    /// decision is a hold.
    pub lift: Option<IntentId>,
    /// The same for the submissions' escrows that have ever been on legal hold.
    pub submission_holds: Vec<SubmissionHold>,
    /// Number of deposits in blocks before the expiry that are seen and not yet deep enough.
    pub confirming: i32,
    /// Number of events so far: the version of the newest one.
    pub events: i64,
    /// Row version, increased by one with every change.
    pub version: i64,
}

/// A sender's details. Empty fields are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SenderDetails {
    /// `first_name`
    pub first_name: Option<String>,
    /// `last_name`
    pub last_name: Option<String>,
    /// `email`
    pub email: Option<String>,
    /// `phone_number`
    pub phone_number: Option<String>,
    /// `custodial_provider`: the custodian that the sender pays from.
    pub custodial_provider: Option<String>,
}

/// One submission of sender details. Only deposits to its escrow are attributed to its sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenderInfo {
    /// Id of the submission.
    pub id: SenderInfoId,
    /// Tenant of the request.
    pub tenant: TenantId,
    /// The payment request.
    pub request: PaymentRequestId,
    /// Number within the request, from 1; `None` if it predates submissions with escrows and
    /// applies to no new deposit.
    pub number: Option<u32>,
    /// Escrow of a numbered submission.
    pub escrow: Option<Address>,
    /// Submitted details.
    pub details: SenderDetails,
    /// Submission time.
    pub at: Timestamp,
}

#[cfg(test)]
pub(crate) mod tests;
