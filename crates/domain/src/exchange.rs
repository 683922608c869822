//! An exchange order: coins of a wallet become rupees on a bank account.
//!
//! First the coins move on the chain from the wallet to the controller, then the rupees are paid out over a rail, as an
//! [`Attempt`](crate::attempt::Attempt) whose payment has the order's UUID. What fails after the coins moved gives them
//! back on the chain before the order is shown as failed.

use crate::attempt::Doubt;
use crate::chain::TxHash;
use crate::currency::StableCoin;
use crate::decimal::Decimal;
use crate::ids::{AttemptId, ExchangeId, IntentId, TenantId, TransferId, WalletId};
use crate::money::Money;
use crate::time::Timestamp;

mod booking;
pub mod order;
mod payout;
pub mod price;
pub mod states;

pub use order::{NewOrder, OrderCase, OrderRefusal, create, sandbox_fate};
pub use price::{Price, RateQuote};

/// Where an order is. The interface shows [`ExchangeState::status`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExchangeState {
    /// The coins are reserved; the debit waits.
    Pending,
    /// The debit has a nonce: it can no longer be called off without the chain.
    Debiting,
    /// The controller has the coins; the rupees have yet to be sent.
    Debited,
    /// A rail has the pay-out, or may have it.
    Paying,
    /// The coins are on their way back to the wallet.
    Returning,
    /// Paid.
    Settled,
    /// Not paid; the coins are in the wallet.
    Failed,
    /// Called off; the coins are in the wallet.
    Cancelled,
}

impl ExchangeState {
    /// Every state.
    pub const ALL: [ExchangeState; 8] = [
        ExchangeState::Pending,
        ExchangeState::Debiting,
        ExchangeState::Debited,
        ExchangeState::Paying,
        ExchangeState::Returning,
        ExchangeState::Settled,
        ExchangeState::Failed,
        ExchangeState::Cancelled,
    ];

    /// The name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            ExchangeState::Pending => "pending",
            ExchangeState::Debiting => "debiting",
            ExchangeState::Debited => "debited",
            ExchangeState::Paying => "paying",
            ExchangeState::Returning => "returning",
            ExchangeState::Settled => "settled",
            ExchangeState::Failed => "failed",
            ExchangeState::Cancelled => "cancelled",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<ExchangeState> {
        ExchangeState::ALL.into_iter().find(|state| state.name() == name)
    }

    /// `status` of the specification's order.
    pub const fn status(self) -> OrderStatus {
        match self {
            ExchangeState::Pending => OrderStatus::Pending,
            // From the moment at which it can no longer be cancelled.
            ExchangeState::Debiting | ExchangeState::Debited | ExchangeState::Paying | ExchangeState::Returning => {
                OrderStatus::Processing
            }
            ExchangeState::Settled => OrderStatus::Settled,
            ExchangeState::Failed => OrderStatus::Failed,
            ExchangeState::Cancelled => OrderStatus::Cancelled,
        }
    }

    /// Why it cannot be cancelled, for a person; `None` = its status says so by itself.
    pub const fn why_not_cancelled(self) -> Option<&'static str> {
        match self {
            ExchangeState::Debiting => Some("its coins are being moved"),
            ExchangeState::Debited => Some("its coins have been moved"),
            ExchangeState::Paying => Some("its payout is under way"),
            ExchangeState::Returning => Some("its coins are on their way back to the wallet"),
            ExchangeState::Pending | ExchangeState::Settled | ExchangeState::Failed | ExchangeState::Cancelled => None,
        }
    }

    /// Whether nothing more is owed: such an order has no job.
    pub const fn is_terminal(self) -> bool {
        matches!(self, ExchangeState::Settled | ExchangeState::Failed | ExchangeState::Cancelled)
    }
}

/// `status` of the specification's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OrderStatus {
    /// Awaiting processing.
    Pending,
    /// In progress.
    Processing,
    /// Paid to the bank account.
    Settled,
    /// Failed.
    Failed,
    /// Called off.
    Cancelled,
}

impl OrderStatus {
    /// Every status.
    pub const ALL: [OrderStatus; 5] = [
        OrderStatus::Pending,
        OrderStatus::Processing,
        OrderStatus::Settled,
        OrderStatus::Failed,
        OrderStatus::Cancelled,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            OrderStatus::Pending => "PENDING",
            OrderStatus::Processing => "PROCESSING",
            OrderStatus::Settled => "SETTLED",
            OrderStatus::Failed => "FAILED",
            OrderStatus::Cancelled => "CANCELLED",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<OrderStatus> {
        OrderStatus::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// Why an order ended without being settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OrderFailure {
    /// The rate moved by more than the band between the order and its processing.
    RateMoved,
    /// The debit failed on the chain.
    OnChainRevert,
    /// The coin's contract moves nothing, and did not for as long as is waited for.
    TokenPaused,
    /// The pay-out could not be made.
    PayoutFailed,
    /// The user called it off.
    CancelledByUser,
    /// The wallet was blocked.
    WalletBlocked,
    /// The wallet was blacklisted.
    WalletBlacklisted,
    /// The lock of its rate, or its day, ran out before it began.
    Timeout,
}

impl OrderFailure {
    /// Every reason.
    pub const ALL: [OrderFailure; 8] = [
        OrderFailure::RateMoved,
        OrderFailure::OnChainRevert,
        OrderFailure::TokenPaused,
        OrderFailure::PayoutFailed,
        OrderFailure::CancelledByUser,
        OrderFailure::WalletBlocked,
        OrderFailure::WalletBlacklisted,
        OrderFailure::Timeout,
    ];

    /// The name on the wire and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            OrderFailure::RateMoved => "RATE_MOVED",
            OrderFailure::OnChainRevert => "ON_CHAIN_REVERT",
            OrderFailure::TokenPaused => "TOKEN_PAUSED",
            OrderFailure::PayoutFailed => "PAYOUT_FAILED",
            OrderFailure::CancelledByUser => "CANCELLED_BY_USER",
            OrderFailure::WalletBlocked => "WALLET_BLOCKED",
            OrderFailure::WalletBlacklisted => "WALLET_BLACKLISTED",
            OrderFailure::Timeout => "TIMEOUT",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<OrderFailure> {
        OrderFailure::ALL.into_iter().find(|reason| reason.name() == name)
    }

    /// The words of the order's error message.
    pub const fn message(self) -> &'static str {
        match self {
            OrderFailure::RateMoved => "the exchange rate moved by more than the order allows",
            OrderFailure::OnChainRevert => "the coins could not be moved on the chain",
            OrderFailure::TokenPaused => "the coin's issuer has paused transfers or changed its contract's code",
            OrderFailure::PayoutFailed => "the amount could not be paid out to the bank account",
            OrderFailure::CancelledByUser => "cancelled on request",
            OrderFailure::WalletBlocked => "the wallet was blocked",
            OrderFailure::WalletBlacklisted => "the wallet was blacklisted",
            OrderFailure::Timeout => "the order was not processed in time",
        }
    }
}

/// The Pakistani bank account that is paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankAccount {
    /// Its IBAN, in electronic form.
    pub iban: Option<String>,
    /// Its number at the bank, where no IBAN was given.
    pub account_number: Option<String>,
    /// The bank, as the order names it.
    pub bank_code: Option<String>,
    /// Who holds it.
    pub holder: String,
    /// The bank's BIC, where the directory knows it.
    pub bic: Option<String>,
    /// The bank's name, where the directory knows it.
    pub bank_name: Option<String>,
}

/// What becomes of an order, whatever the rails say (`decisions.md`, "Sandbox values"; [`Fate::Withheld`]: "Screening").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// What its rail makes of it.
    Open,
    /// Its pay-out fails.
    Fails,
    /// It is not begun until its time is out.
    TimesOut,
    /// The same, because the account holder's name is on a sanction list or near an entry of one.
    Withheld,
}

impl Fate {
    /// Every fate.
    pub const ALL: [Fate; 4] = [Fate::Open, Fate::Fails, Fate::TimesOut, Fate::Withheld];

    /// The name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Fate::Open => "open",
            Fate::Fails => "fails",
            Fate::TimesOut => "times_out",
            Fate::Withheld => "withheld",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<Fate> {
        Fate::ALL.into_iter().find(|fate| fate.name() == name)
    }
}

/// An exchange order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangeOrder {
    /// Its id.
    pub id: ExchangeId,
    /// Whose.
    pub tenant: TenantId,
    /// The wallet that the coins come from.
    pub wallet: WalletId,
    /// Which coin.
    pub coin: StableCoin,
    /// How much of it, in minor units (10^-6).
    pub minor: i64,
    /// Rupees for one coin before the spread: as quoted; from processing on, as applied.
    pub rate: Decimal,
    /// The rate that was quoted when the order was made.
    pub quoted_rate: Decimal,
    /// Our fee as a fraction of the amount.
    pub spread: Decimal,
    /// What is paid out: rounded down from amount × rate × (1 − spread).
    pub payout: Money,
    /// What the rail's pay-out is priced at when the rate is applied; `None` = not yet.
    pub priced_at: Option<Timestamp>,
    /// Until when the rate is locked; `None` = it is not.
    pub locked_until: Option<Timestamp>,
    /// The account that is paid.
    pub bank: BankAccount,
    /// What a sandbox makes of it.
    pub fate: Fate,
    /// Where it is.
    pub state: ExchangeState,
    /// When its state last changed.
    pub state_at: Timestamp,
    /// When it was made.
    pub created_at: Timestamp,
    /// It is called off if its debit has not begun by then.
    pub times_out_at: Timestamp,
    /// `estimated_settlement`
    pub estimated_settlement: Timestamp,
    /// The reservation wallet → controller, ended by the debit.
    pub hold: TransferId,
    /// The debit.
    pub debit: Option<IntentId>,
    /// The transaction that took the coins.
    pub debit_tx: Option<TxHash>,
    /// The return of the coins.
    pub give_back: Option<IntentId>,
    /// Its newest attempt at paying out.
    pub attempt: Option<AttemptId>,
    /// Since when the outcome of its pay-out has been unclear.
    pub unclear_since: Option<Timestamp>,
    /// Whether it has been unclear for longer than the rail's window: a person looks, asking goes on.
    pub unclear_beyond_window: bool,
    /// Why it ends, or ended, without being settled.
    pub failure: Option<OrderFailure>,
    /// `settlement_reference`: the bank's, else the attempt's.
    pub settlement_reference: Option<String>,
    /// When it was settled.
    pub settled_at: Option<Timestamp>,
    /// Whether the rupees came back after it was settled: an operator re-credits.
    pub came_back: bool,
    /// How many events it has written: the version of its newest one.
    pub events: i64,
    /// Rises by one with every change of the row.
    pub version: i64,
}

impl ExchangeOrder {
    /// What people are asked about its pay-out, once the rail's own window for an answer is over.
    pub fn doubt(&self) -> Option<Doubt> {
        let open = self.state == ExchangeState::Paying && self.unclear_beyond_window;
        let (attempt, since) = self.attempt.zip(self.unclear_since).filter(|_| open)?;
        Some(Doubt { attempt, since })
    }
}

#[cfg(test)]
mod tests;
