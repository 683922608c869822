//! A payment request: a link, an escrow address of its own, and how far what was asked for has been paid.
//!
//! Each incoming transaction is a `deposit` of its own; here is only what they add up to.

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

/// `status` of the specification's payment request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestState {
    /// Waits for money.
    Active,
    /// What was asked for has come.
    Paid,
    /// Its time ran out.
    Expired,
    /// Withdrawn.
    Cancelled,
}

impl RequestState {
    /// Every state.
    pub const ALL: [RequestState; 4] =
        [RequestState::Active, RequestState::Paid, RequestState::Expired, RequestState::Cancelled];

    /// The name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            RequestState::Active => "ACTIVE",
            RequestState::Paid => "PAID",
            RequestState::Expired => "EXPIRED",
            RequestState::Cancelled => "CANCELLED",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<RequestState> {
        RequestState::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// In which way what came is not what was asked for (`decisions.md`, "Payment request").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestException {
    /// In none.
    None,
    /// Less came.
    Partial,
    /// More came.
    Overpaid,
    /// It came in a block after the expiry.
    Late,
    /// The other coin came.
    WrongAsset,
    /// Money is kept in escrow: in review, behind a block, or its release failed.
    Held,
    /// Money was refused.
    Rejected,
    /// Money was refused and given back.
    Refunded,
}

impl RequestException {
    /// Every exception.
    pub const ALL: [RequestException; 8] = [
        RequestException::None,
        RequestException::Partial,
        RequestException::Overpaid,
        RequestException::Late,
        RequestException::WrongAsset,
        RequestException::Held,
        RequestException::Rejected,
        RequestException::Refunded,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            RequestException::None => "NONE",
            RequestException::Partial => "PARTIAL",
            RequestException::Overpaid => "OVERPAID",
            RequestException::Late => "LATE",
            RequestException::WrongAsset => "WRONG_ASSET",
            RequestException::Held => "HELD",
            RequestException::Rejected => "REJECTED",
            RequestException::Refunded => "REFUNDED",
        }
    }
}

/// What is asked for. Values are millionths of a unit, for fiat currencies too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// `crypto`: this much of a coin.
    Crypto {
        /// Which coin.
        coin: StableCoin,
        /// How much, in minor units (10^-6).
        minor: i64,
    },
    /// `fiat`: coins worth this much of a currency when the request was made.
    Fiat {
        /// PKR, USD, AED or SAR.
        currency: Currency,
        /// How much, in millionths of the currency's unit.
        micros: i64,
        /// USDC that this is, in minor units.
        usdc: i64,
        /// USDT that this is, in minor units.
        usdt: i64,
    },
    /// `flexible`: whatever comes.
    Flexible,
}

/// How much of each coin has come, at depth; minor units (10^-6).
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
    /// Its id.
    pub id: PaymentRequestId,
    /// Whose.
    pub tenant: TenantId,
    /// Who is to get the money.
    pub wallet: WalletId,
    /// What `/pay/{token}` knows it by: at least 128 random bits.
    pub token: String,
    /// `escrow_address`: the vault for money of an unknown sender. Each submission of details has a vault of its own.
    pub escrow: Address,
    /// The reference of that vault.
    pub reference: Word,
    /// How many submissions of sender's details have been given an escrow: the number of the newest.
    pub submissions: u32,
    /// What is asked for.
    pub asked: Asked,
    /// `purpose`
    pub purpose: Option<String>,
    /// `created_at`
    pub created_at: Timestamp,
    /// `expires_at`: itself too late.
    pub expires_at: Timestamp,
    /// Where it is.
    pub state: RequestState,
    /// What has come.
    pub received: Received,
    /// `paid_at`
    pub paid_at: Option<Timestamp>,
    /// Whether something came in a block at or after the expiry.
    pub late: bool,
    /// Whether the other coin than the one asked for has come.
    pub wrong_asset: bool,
    /// Since when something in [`PaymentRequest::escrow`] is on legal hold: nothing leaves that vault any more.
    /// How much of the other coin a reviewer took in place of the one asked for, one for one, in minor units; `None` =
    /// nothing.
    pub other_taken: Option<i64>,
    /// Since when something in its escrow is on legal hold: nothing leaves that any more.
    pub held_at: Option<Timestamp>,
    /// The call that takes that vault off legal hold on the chain, under way or done; `None` = the newest word is a hold.
    pub lift: Option<IntentId>,
    /// The same of those escrows of submissions that have ever been on legal hold.
    pub submission_holds: Vec<SubmissionHold>,
    /// How many deposits from blocks before the expiry are seen and not yet at depth.
    pub confirming: i32,
    /// How many events it has written: the version of its newest one.
    pub events: i64,
    /// Rises by one with every change of the row.
    pub version: i64,
}

/// What a sender says about himself. A field that he left empty is `None`.
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
    /// `custodial_provider`: where he pays from.
    pub custodial_provider: Option<String>,
}

/// One submission of sender details. A deposit to its escrow is its sender's, and no other deposit is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenderInfo {
    /// Its id.
    pub id: SenderInfoId,
    /// Whose request.
    pub tenant: TenantId,
    /// Which request.
    pub request: PaymentRequestId,
    /// Its number among those of its request, from 1; `None` = it was made before submissions had escrows, and says
    /// nothing of any deposit that is seen from now on.
    pub number: Option<u32>,
    /// Its escrow, where it has a number.
    pub escrow: Option<Address>,
    /// What was said.
    pub details: SenderDetails,
    /// When.
    pub at: Timestamp,
}

#[cfg(test)]
pub(crate) mod tests;
