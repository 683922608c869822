//! A payment request: a link, its own escrow address, and how much of the requested amount has been
//! paid.
//!
//! Each incoming transaction is a `deposit` of its own; this module holds their sums.

use crate::chain::{Address, ChainNumber, Word};
use crate::currency::{Currency, StableCoin};
use crate::ids::{IntentId, PaymentRequestId, SenderInfoId, TenantId, WalletId};
use crate::time::Timestamp;

pub mod asked;
mod change;
mod escrow;
mod money;
mod receipt;
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
        /// Can be paid until `expires_at`.
        Active = "ACTIVE",
        /// The requested amount has been paid.
        Paid = "PAID",
        /// `expires_at` passed first; a payment that is accepted late still makes it PAID.
        Expired = "EXPIRED",
        /// Withdrawn by the bank, or because the wallet was blacklisted.
        Cancelled = "CANCELLED",
    }
}

names! {
    /// How the received payments deviate from the request (`decisions.md`, "Payment request").
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum RequestException: "Name on the wire." {
        /// Nothing paid yet, or paid as requested.
        None = "NONE",
        /// Something was paid, but less than requested.
        Partial = "PARTIAL",
        /// More than the requested amount was paid.
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
        /// Stablecoin that counts; the other one is `WRONG_ASSET`.
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
        /// Equivalent in USDC, in minor units; 0 if the chain has none.
        usdc: i64,
        /// Equivalent in USDT, in minor units; 0 if the chain has none.
        usdt: i64,
    },
    /// `flexible`: any amount, and the first payment that counts completes the request.
    Flexible,
}

/// Received amount of each stablecoin at the required depth; minor units (10^-6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Sum of USDC, in minor units (10^-6).
    pub usdc: i64,
    /// Sum of USDT, in minor units (10^-6).
    pub usdt: i64,
}

/// A payment request (specification: Payment request) with the sums of its payments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentRequest {
    /// Id of the request.
    pub id: PaymentRequestId,
    /// Tenant of the request.
    pub tenant: TenantId,
    /// Wallet that receives the money.
    pub wallet: WalletId,
    /// Chain of the wallet.
    pub chain: ChainNumber,
    /// Token of `/pay/{token}`: at least 128 random bits.
    pub token: String,
    /// `escrow_address`: the vault for payments from unknown senders. Each submission of details
    /// has its own vault.
    pub escrow: Address,
    /// Reference of that vault.
    pub reference: Word,
    /// Number of submissions of sender details with an escrow: the number of the newest.
    pub submissions: u32,
    /// Requested amount, fixed at creation with its equivalents in stablecoins.
    pub asked: Asked,
    /// `purpose`: text of the bank, at most 256 characters; `None` if not given.
    pub purpose: Option<String>,
    /// `recipient_name`: the recipient's name as the bank gives it, which the pay page shows
    /// shortened; `None` if not given.
    pub recipient_name: Option<String>,
    /// `created_at`: the validity in hours counts from here.
    pub created_at: Timestamp,
    /// `expires_at`: this instant itself is too late.
    pub expires_at: Timestamp,
    /// `status`; a late payment may still turn EXPIRED into PAID.
    pub state: RequestState,
    /// Sums of the payments that are deep enough, for comparison with `asked`.
    pub received: Received,
    /// `paid_at`: time at which it became PAID; `None` before.
    pub paid_at: Option<Timestamp>,
    /// Time at which it became CANCELLED; `None` before, and for requests that earlier versions
    /// cancelled.
    pub cancelled_at: Option<Timestamp>,
    /// Whether a payment arrived in a block at or after the expiry, or counted after the request was
    /// cancelled.
    pub late: bool,
    /// Whether a payment arrived in the other stablecoin.
    pub wrong_asset: bool,
    /// Amount of the other stablecoin that a reviewer accepted one for one, in minor units; `None`
    /// means none.
    pub other_taken: Option<i64>,
    /// Sums within `received` of payments that arrived too late and that no reviewer has approved.
    pub too_late: Received,
    /// Sums of payments that counted and were refused since: they no longer pay an open request.
    /// The other stablecoin, where a reviewer had accepted it, as the requested one.
    pub refused: Received,
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
    /// `first_name`, as entered on the payment link's page.
    pub first_name: Option<String>,
    /// `last_name`, as entered on the payment link's page.
    pub last_name: Option<String>,
    /// `email`: optional on the page; of valid form (RFC 5321).
    pub email: Option<String>,
    /// `phone_number`: E.164, without the separators that were typed.
    pub phone_number: Option<String>,
    /// `custodial_provider`: the custodian that the sender pays from.
    pub custodial_provider: Option<String>,
}

impl SenderDetails {
    /// First and last name; `None` if neither was given.
    pub fn name(&self) -> Option<String> {
        let names = [self.first_name.as_deref(), self.last_name.as_deref()];
        let names = names.into_iter().flatten().map(str::trim).filter(|name| !name.is_empty());
        let names: Vec<&str> = names.collect();
        (!names.is_empty()).then(|| names.join(" "))
    }
}

/// One submission of sender details. Only deposits to its escrow are attributed to its sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenderInfo {
    /// Id of the submission.
    pub id: SenderInfoId,
    /// Tenant of the request.
    pub tenant: TenantId,
    /// Request on whose page the details were submitted.
    pub request: PaymentRequestId,
    /// Number within the request, from 1; `None` if it predates submissions with escrows and
    /// applies to no new deposit.
    pub number: Option<u32>,
    /// Escrow of a numbered submission.
    pub escrow: Option<Address>,
    /// Details as submitted: screened with each deposit to the escrow.
    pub details: SenderDetails,
    /// Time of submission, on the store's clock.
    pub at: Timestamp,
}

#[cfg(test)]
pub(crate) mod tests;
