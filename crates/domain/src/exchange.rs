//! An exchange order: a wallet's tokens are exchanged for money on a bank account, in PKR or another
//! configured currency.
//!
//! First the tokens move on the chain from the wallet to the controller, then a rail pays out the
//! money, as an [`Attempt`](crate::attempt::Attempt) whose payment has the order's UUID. On a
//! failure after the debit, the tokens return on the chain before the order is shown as failed; those
//! of a wallet that was blacklisted in the meantime stay with the controller, in suspense.

use crate::attempt::UnresolvedAttempt;
use crate::chain::{ChainNumber, TxHash};
use crate::country::Country;
use crate::currency::StableCoin;
use crate::decimal::Decimal;
use crate::ids::{AttemptId, ExchangeId, IntentId, TenantId, TransferId, WalletId};
use crate::money::Money;
use crate::rail::{Finding, RailStatus};
use crate::screening::{Screened, Verdict};
use crate::time::Timestamp;
use crate::wallet_effects::{Alert, AlertKind, WalletEffects};

mod booking;
pub mod order;
mod payout;
pub mod price;
mod review;
pub mod states;

pub use crate::attempt::ReportedAmount;
pub use order::{NewOrder, OrderCase, OrderRefusal, create, sandbox_fate};
pub use price::{Price, RateQuote};

names! {
    /// State of an order. The API shows [`ExchangeState::status`].
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum ExchangeState: "Name in the store." {
        /// The tokens are reserved; the debit waits.
        Pending = "pending",
        /// The debit has a nonce: cancelling it requires a transaction.
        Debiting = "debiting",
        /// The controller has the tokens; the payout is not sent yet.
        Debited = "debited",
        /// A rail has the payout, or may have it.
        Paying = "paying",
        /// The tokens are returning to the wallet.
        Returning = "returning",
        /// The payout reached the bank account; final, even if the payout is returned later.
        Settled = "settled",
        /// Not paid; the tokens are in the wallet, or in suspense if it was blacklisted and they
        /// cannot return.
        Failed = "failed",
        /// Cancelled; the tokens are in the wallet.
        Cancelled = "cancelled",
    }
}

impl ExchangeState {
    /// `status` of the specification's order.
    pub const fn status(self) -> OrderStatus {
        match self {
            ExchangeState::Pending => OrderStatus::Pending,
            // From the moment at which it can no longer be cancelled.
            ExchangeState::Debiting
            | ExchangeState::Debited
            | ExchangeState::Paying
            | ExchangeState::Returning => OrderStatus::Processing,
            ExchangeState::Settled => OrderStatus::Settled,
            ExchangeState::Failed => OrderStatus::Failed,
            ExchangeState::Cancelled => OrderStatus::Cancelled,
        }
    }

    /// Why it cannot be cancelled, for display; `None` if its status already explains it.
    pub const fn why_not_cancelled(self) -> Option<&'static str> {
        match self {
            ExchangeState::Debiting => Some("its tokens are being moved"),
            ExchangeState::Debited => Some("its tokens have been moved"),
            ExchangeState::Paying => Some("its payout is in progress"),
            ExchangeState::Returning => Some("its tokens are being returned to the wallet"),
            ExchangeState::Pending
            | ExchangeState::Settled
            | ExchangeState::Failed
            | ExchangeState::Cancelled => None,
        }
    }

    /// Whether its payout has not begun and may still do so.
    pub const fn is_unpaid(self) -> bool {
        matches!(self, ExchangeState::Pending | ExchangeState::Debiting | ExchangeState::Debited)
    }

    /// Whether the state is final: the order has no job.
    pub const fn is_terminal(self) -> bool {
        matches!(self, ExchangeState::Settled | ExchangeState::Failed | ExchangeState::Cancelled)
    }
}

names! {
    /// `status` of the specification's order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum OrderStatus: "Name on the wire." {
        /// Awaiting processing: the order can still be cancelled.
        Pending = "PENDING",
        /// In progress: tokens or the payout are moving, and it can no longer be cancelled.
        Processing = "PROCESSING",
        /// Paid to the bank account.
        Settled = "SETTLED",
        /// Not paid; before this is shown, the tokens were returned to the wallet, unless it was
        /// blacklisted.
        Failed = "FAILED",
        /// Cancelled by the user, by a block of the wallet or by timeout; the tokens are released.
        Cancelled = "CANCELLED",
    }
}

names! {
    /// Reason why an order was not settled.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum OrderFailure: "Name on the wire and in the store." {
        /// The rate left the permitted band between the order and its processing.
        RateMoved = "RATE_MOVED",
        /// The debit failed on the chain.
        OnChainRevert = "ON_CHAIN_REVERT",
        /// The token stayed halted for longer than the timeout.
        TokenPaused = "TOKEN_PAUSED",
        /// The token's contract has the wallet, or another address of the debit, on its blacklist.
        AddressBlacklisted = "ADDRESS_BLACKLISTED",
        /// No rail took the payout in time, or the rail reported that it was not paid.
        PayoutFailed = "PAYOUT_FAILED",
        /// The user cancelled it.
        CancelledByUser = "CANCELLED_BY_USER",
        /// The wallet was blocked.
        WalletBlocked = "WALLET_BLOCKED",
        /// The wallet was blacklisted.
        WalletBlacklisted = "WALLET_BLACKLISTED",
        /// Its rate lock or its maximum age ended before it began.
        Timeout = "TIMEOUT",
    }
}

impl OrderFailure {
    /// Text of the order's error message.
    pub const fn message(self) -> &'static str {
        match self {
            OrderFailure::RateMoved => "the exchange rate moved by more than the order allows",
            OrderFailure::OnChainRevert => "the tokens could not be moved on the chain",
            OrderFailure::TokenPaused => {
                "the token's issuer has paused transfers or changed its contract's code"
            }
            OrderFailure::AddressBlacklisted => {
                "the token's issuer has an address of the transfer on its blacklist"
            }
            OrderFailure::PayoutFailed => "the amount could not be paid out to the bank account",
            OrderFailure::CancelledByUser => "cancelled on request",
            OrderFailure::WalletBlocked => "the wallet was blocked",
            OrderFailure::WalletBlacklisted => "the wallet was blacklisted",
            OrderFailure::Timeout => "the order was not processed in time",
        }
    }
}

names! {
    /// Progress of the re-credit of a settled order whose payout was returned.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Recredit: "Name in the store." {
        /// The tokens are returning to the wallet.
        UnderWay = "under_way",
        /// The tokens are in the wallet.
        Done = "done",
        /// The wallet was blacklisted in the meantime, and the tokens cannot return: they are in
        /// suspense again.
        Barred = "barred",
    }
}

/// The bank account to pay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankAccount {
    /// IBAN in electronic form.
    pub iban: Option<String>,
    /// Account number, if no IBAN was given.
    pub account_number: Option<String>,
    /// The bank, as named in the order.
    pub bank_code: Option<String>,
    /// `account_holder_name`, at most 128 characters; screened before the order begins.
    pub holder: String,
    /// The bank's BIC, if the directory has it.
    pub bic: Option<String>,
    /// The bank's name, if the directory has it.
    pub bank_name: Option<String>,
}

names! {
    /// Outcome fixed in advance, regardless of the rails (`decisions.md`, "Sandbox values";
    /// [`Fate::Withheld`]: "Screening").
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Fate: "Name in the store." {
        /// Not fixed: the rail decides.
        Open = "open",
        /// The payout fails and the tokens return (cents `.01` of the amount).
        Fails = "fails",
        /// It does not begin before its timeout.
        TimesOut = "times_out",
        /// It does not begin unless a reviewer releases it before its timeout, because the account
        /// holder's name matches a sanctions list or nearly does; or is not paid out, because it
        /// nearly matches one by then.
        Withheld = "withheld",
    }
}

/// An exchange order (specification: Order), from the reservation to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangeOrder {
    /// Id of the order.
    pub id: ExchangeId,
    /// Tenant of the order.
    pub tenant: TenantId,
    /// Wallet that the tokens come from.
    pub wallet: WalletId,
    /// Chain of the wallet.
    pub chain: ChainNumber,
    /// Stablecoin of the order.
    pub coin: StableCoin,
    /// Amount in minor units (10^-6).
    pub minor: i64,
    /// Units of the payout's currency per token before the spread: as quoted; from processing on, as
    /// applied.
    pub rate: Decimal,
    /// Rate quoted at creation.
    pub quoted_rate: Decimal,
    /// Corridor's fee as a fraction of the amount.
    pub spread: Decimal,
    /// Payout amount: amount × rate × (1 − spread), rounded down.
    pub payout: Money,
    /// Time at which the rate was applied; `None` before that.
    pub priced_at: Option<Timestamp>,
    /// End of the rate lock; `None` if the rate is not locked.
    pub locked_until: Option<Timestamp>,
    /// Destination of the payout: the country of its currency.
    pub country: Country,
    /// Account that is paid; lists show it masked.
    pub bank: BankAccount,
    /// Outcome fixed in advance, if any.
    pub fate: Fate,
    /// Screening result of the account holder's name at creation, or the later one that withheld or
    /// released the order. `None` for orders that an earlier version created.
    pub screened: Option<Screened>,
    /// Internal state; the API shows [`ExchangeState::status`].
    pub state: ExchangeState,
    /// Time of the last state change.
    pub state_at: Timestamp,
    /// `created_at`: the rate lock and the timeout count from here.
    pub created_at: Timestamp,
    /// It is cancelled if its debit has not begun by then.
    pub times_out_at: Timestamp,
    /// `estimated_settlement`: creation time plus the rail's usual duration.
    pub estimated_settlement: Timestamp,
    /// The reservation wallet → controller, ended by the debit.
    pub hold: TransferId,
    /// Intent of the debit.
    pub debit: Option<IntentId>,
    /// Transaction of the debit.
    pub debit_tx: Option<TxHash>,
    /// What the token's contract deducted from the debit, as booked, in minor units (10^-6). `None`
    /// of orders that an earlier version debited: unknown.
    pub debit_fee: Option<i64>,
    /// Intent of the tokens' return.
    pub give_back: Option<IntentId>,
    /// The same of the return.
    pub return_fee: Option<i64>,
    /// Newest attempt to pay out; `None` before the first.
    pub attempt: Option<AttemptId>,
    /// Start of the unknown outcome of its payout.
    pub unclear_since: Option<Timestamp>,
    /// Whether the outcome has been unknown for longer than the rail's window: it needs review, and
    /// inquiries continue.
    pub unclear_beyond_window: bool,
    /// Reason for ending without settlement.
    pub failure: Option<OrderFailure>,
    /// `settlement_reference`: the bank's, else the attempt's.
    pub settlement_reference: Option<String>,
    /// `settled_at`: time at which the rail's payment was recorded; `None` before.
    pub settled_at: Option<Timestamp>,
    /// Whether the payout was returned after settlement: an operator re-credits the tokens.
    pub came_back: bool,
    /// How far the re-credit is; `None` before it, and of orders that an earlier version re-credited.
    pub recredit: Option<Recredit>,
    /// Number of events so far: the version of the newest one.
    pub events: i64,
    /// Row version, increased by one with every change.
    pub version: i64,
}

impl ExchangeOrder {
    /// The price at its creation.
    pub const fn quoted(&self) -> Price {
        Price { to: self.payout.currency, rate: self.quoted_rate, spread: self.spread }
    }

    /// The unresolved payout for review, once the rail's answer window is over.
    pub fn doubt(&self) -> Option<UnresolvedAttempt> {
        let may_be_paid = self.state == ExchangeState::Paying || self.is_reported();
        let open = may_be_paid && self.unclear_beyond_window;
        let (attempt, since) = self.attempt.zip(self.unclear_since).filter(|_| open)?;
        Some(UnresolvedAttempt { attempt, since })
    }

    /// The attempt that a reviewer can record this finding about: an unresolved one, or the paid
    /// one of a settled order if its payout was returned.
    pub fn open_to(&self, finding: &Finding) -> Option<UnresolvedAttempt> {
        let is_settled = self.state == ExchangeState::Settled && !self.came_back;
        let attempt = self.attempt.filter(|_| is_settled && finding.status == RailStatus::Returned);
        self.doubt().or(attempt.map(|attempt| UnresolvedAttempt { attempt, since: self.state_at }))
    }

    /// The outcome of its payout is known, or no longer awaited: closes the alert about it.
    fn clear_doubt(&mut self, effects: &mut WalletEffects) {
        if self.unclear_beyond_window {
            effects.closed.push(self.unknown_alert());
        }
        self.unclear_since = None;
        self.unclear_beyond_window = false;
    }

    /// The alert about it while the outcome of its payout is unknown.
    fn unknown_alert(&self) -> Alert {
        let what = "the outcome of a payout is unknown".to_owned();
        Alert { kind: AlertKind::Payout, subject: self.id.0, what }
    }

    /// The alert about it from the return of its payout until its tokens are returned.
    fn came_back_alert(&self) -> Alert {
        let what =
            "the payout of a settled order was returned: its amount is in suspense".to_owned();
        Alert { kind: AlertKind::Payout, subject: self.id.0, what }
    }

    /// Whether it waits for a reviewer to release or to reject it: before its debit, or before its
    /// payout.
    pub fn is_withheld(&self) -> bool {
        let waits = matches!(self.state, ExchangeState::Pending | ExchangeState::Debited);
        waits && self.fate == Fate::Withheld
    }

    /// Time at which it is cancelled unless a reviewer has decided; `None` once it is debited.
    pub fn undecided_until(&self) -> Option<Timestamp> {
        let is_pending = self.state == ExchangeState::Pending;
        (is_pending && self.is_withheld()).then_some(self.times_out_at)
    }

    /// Whether it waits for a reviewer: to release or to reject it, or to resolve its payout.
    pub fn is_in_review(&self) -> bool {
        self.is_withheld() || self.doubt().is_some()
    }

    /// Whether a rail reported its payout before these books have its debit: it is not called off,
    /// and its tokens stay reserved until users have established its outcome.
    pub const fn is_reported(&self) -> bool {
        matches!(self.state, ExchangeState::Pending | ExchangeState::Debiting)
            && self.attempt.is_some()
            && self.failure.is_none()
    }

    /// Whether an operator can re-credit its tokens, as far as the order itself decides. The contract
    /// returns what a debit that it has moved: not one that these books do not know.
    pub const fn awaits_recredit(&self) -> bool {
        matches!(self.state, ExchangeState::Settled)
            && self.came_back
            && self.give_back.is_none()
            && self.debit.is_some()
    }

    /// Whether its debit has to be executed unconditionally: its payout may have left, and its tokens
    /// are not to return. A reorganisation undid it, or a rail reported the payout before it.
    pub const fn owes_debit(&self) -> bool {
        let may_be_paid = matches!(self.state, ExchangeState::Paying | ExchangeState::Settled);
        (may_be_paid || self.is_reported()) && self.give_back.is_none()
    }

    /// Whether its tokens are on their way back to the wallet, and booked as such.
    pub fn awaits_return(&self) -> bool {
        let is_recredited = self.recredit == Some(Recredit::UnderWay);
        self.state == ExchangeState::Returning || is_recredited
    }

    /// The alert about it while it is withheld.
    pub fn withheld_alert(&self) -> Option<Alert> {
        let screened = self.screened.as_ref().filter(|_| self.is_withheld())?;
        let what = format!("withheld: {}", holder_match(screened));
        Some(Alert { kind: AlertKind::Payout, subject: self.id.0, what })
    }

    /// The alert about an exact match, which users close, if the order ended otherwise than by a
    /// reviewer's decision: the one about the order while it was withheld has ended with it.
    fn unreviewed_alert(&self) -> Option<Alert> {
        let is_called_off = match self.failure? {
            OrderFailure::CancelledByUser
            | OrderFailure::Timeout
            | OrderFailure::WalletBlocked
            | OrderFailure::WalletBlacklisted => true,
            OrderFailure::RateMoved
            | OrderFailure::OnChainRevert
            | OrderFailure::TokenPaused
            | OrderFailure::AddressBlacklisted
            | OrderFailure::PayoutFailed => false,
        };
        let is_listed = |it: &&Screened| it.verdict() == Verdict::Hit;
        let screened = self.screened.as_ref().filter(|_| is_called_off).filter(is_listed)?;
        // The tokens of one that is debited return.
        let end = if self.state == ExchangeState::Cancelled { "cancelled" } else { "not paid out" };
        let what = format!("{end}: {}", holder_match(screened));
        Some(Alert { kind: AlertKind::Payout, subject: self.id.0, what })
    }

    /// Whether a later screening result is an exact match, or one that no reviewer has seen.
    pub fn is_news(&self, screened: &Screened) -> bool {
        let is_seen = |known: &Screened| !screened.is_beyond(known);
        screened.verdict() == Verdict::Hit
            || screened.is_match() && !self.screened.as_ref().is_some_and(is_seen)
    }

    /// Whether a reviewer may release it while it is withheld: not after an exact match, nor if
    /// the match is unknown because an earlier version withheld it.
    pub fn is_releasable(&self) -> bool {
        self.screened.as_ref().is_some_and(|screened| screened.verdict() != Verdict::Hit)
    }
}

/// The screening result of an account holder, as text for operators.
fn holder_match(screened: &Screened) -> String {
    format!("the account holder's name {screened}")
}

#[cfg(test)]
mod tests;
