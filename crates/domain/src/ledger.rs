//! The double-entry, two-phase ledger, in the terms of TigerBeetle's data model.
//!
//! Accounts carry four running sums; transfers are only ever added. A transfer takes from its *debit* account and
//! gives to its *credit* account; an account's balance is `credits_posted - debits_posted`, and what it can still
//! spend is that less `debits_pending`. Accounts that hold somebody's money (`prefund`, `wallet`, `escrow`) can
//! never spend more than they have. Nothing here knows why money moves: see `payment`.

use std::fmt;

use crate::currency::{Currency, StableCoin};
use crate::ids::{PaymentRequestId, TenantId, TransferId, WalletId};
use crate::money::Money;
use crate::rail::RailId;
use crate::time::Timestamp;

/// An account of a tenant's chart. Its text form (`prefund:USDT`, `nostro:pak-raast:PKR`) is its key in the store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccountCode {
    /// `prefund:{coin}`: what the tenant has paid in and not yet spent.
    Prefund(StableCoin),
    /// `in_transit:{coin}`: reserved for payments under way.
    InTransit(StableCoin),
    /// `nostro:{rail}:{currency}`: our account at a rail's bank.
    Nostro(RailId, Currency),
    /// `fx_position:{currency}`: the open position of a currency exchange.
    FxPosition(Currency),
    /// `fee_income:{coin}`: our premium.
    FeeIncome(StableCoin),
    /// `rail_cost:{coin}`: what pay-outs cost.
    RailCost(StableCoin),
    /// `rail_charges:{currency}`: what banks charged for pay-outs beside their price, or kept of what came back.
    RailCharges(Currency),
    /// `rounding:{currency}`: remainders of amounts that cannot be paid out.
    Rounding(Currency),
    /// `external:{coin}`: the world outside, for top-ups and for what senders pay on the chain.
    External(StableCoin),
    /// `escrow:{request}:{coin}`: what the escrow of a payment request holds.
    Escrow(PaymentRequestId, StableCoin),
    /// `wallet:{wallet}:{coin}`: what a customer's wallet holds.
    Wallet(WalletId, StableCoin),
    /// `unswept:{coin}`: what the tenant's controller holds: taken out of wallets for exchange, and not swept yet.
    Unswept(StableCoin),
    /// `treasury:{coin}`: what was swept out of the controller to the tenant's settlement treasury.
    Treasury(StableCoin),
    /// `exchanged:{coin}`: below zero, what orders were paid out for. The coins of a settled order stay where they lie,
    /// so it is from here that `fx_position` and `fee_income` get theirs; `unswept`, `treasury` and this together are
    /// what orders under way have taken.
    Exchanged(StableCoin),
    /// `payout_suspense:{coin}`: coins of settled orders whose pay-out came back: nobody's until a person gives them back.
    PayoutSuspense(StableCoin),
    /// `suspense:{coin}`: on the chain or expected back there, and nobody's to spend.
    Suspense(StableCoin),
}

impl AccountCode {
    /// The one currency of the account.
    pub const fn currency(&self) -> Currency {
        match self {
            AccountCode::Nostro(_, currency)
            | AccountCode::FxPosition(currency)
            | AccountCode::RailCharges(currency)
            | AccountCode::Rounding(currency) => *currency,
            AccountCode::Prefund(coin)
            | AccountCode::InTransit(coin)
            | AccountCode::FeeIncome(coin)
            | AccountCode::RailCost(coin)
            | AccountCode::External(coin)
            | AccountCode::Escrow(_, coin)
            | AccountCode::Wallet(_, coin)
            | AccountCode::Unswept(coin)
            | AccountCode::Treasury(coin)
            | AccountCode::Exchanged(coin)
            | AccountCode::PayoutSuspense(coin)
            | AccountCode::Suspense(coin) => coin.currency(),
        }
    }

    /// Whether the account holds somebody's money and so can never spend more than it has.
    pub const fn never_below_zero(&self) -> bool {
        matches!(self, AccountCode::Prefund(_) | AccountCode::Escrow(..) | AccountCode::Wallet(..))
    }

    /// Reads the text form.
    pub fn parse(text: &str) -> Option<AccountCode> {
        let (kind, rest) = text.split_once(':')?;
        Some(match kind {
            "prefund" => AccountCode::Prefund(StableCoin::parse(rest)?),
            "in_transit" => AccountCode::InTransit(StableCoin::parse(rest)?),
            "fee_income" => AccountCode::FeeIncome(StableCoin::parse(rest)?),
            "rail_cost" => AccountCode::RailCost(StableCoin::parse(rest)?),
            "external" => AccountCode::External(StableCoin::parse(rest)?),
            "unswept" => AccountCode::Unswept(StableCoin::parse(rest)?),
            "treasury" => AccountCode::Treasury(StableCoin::parse(rest)?),
            "exchanged" => AccountCode::Exchanged(StableCoin::parse(rest)?),
            "payout_suspense" => AccountCode::PayoutSuspense(StableCoin::parse(rest)?),
            "suspense" => AccountCode::Suspense(StableCoin::parse(rest)?),
            "escrow" => {
                let (request, coin) = rest.split_once(':')?;
                AccountCode::Escrow(PaymentRequestId::parse(request)?, StableCoin::parse(coin)?)
            }
            "wallet" => {
                let (wallet, coin) = rest.split_once(':')?;
                AccountCode::Wallet(WalletId::parse(wallet)?, StableCoin::parse(coin)?)
            }
            "fx_position" => AccountCode::FxPosition(Currency::parse(rest)?),
            "rail_charges" => AccountCode::RailCharges(Currency::parse(rest)?),
            "rounding" => AccountCode::Rounding(Currency::parse(rest)?),
            "nostro" => {
                let (rail, currency) = rest.rsplit_once(':')?;
                AccountCode::Nostro(RailId::new(rail), Currency::parse(currency)?)
            }
            _ => return None,
        })
    }
}

impl fmt::Display for AccountCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, currency) = match self {
            AccountCode::Nostro(rail, currency) => return write!(out, "nostro:{rail}:{}", currency.code()),
            AccountCode::Escrow(request, coin) => return write!(out, "escrow:{request}:{}", coin.currency().code()),
            AccountCode::Wallet(wallet, coin) => return write!(out, "wallet:{wallet}:{}", coin.currency().code()),
            AccountCode::Unswept(coin) => ("unswept", coin.currency()),
            AccountCode::Treasury(coin) => ("treasury", coin.currency()),
            AccountCode::Exchanged(coin) => ("exchanged", coin.currency()),
            AccountCode::PayoutSuspense(coin) => ("payout_suspense", coin.currency()),
            AccountCode::Suspense(coin) => ("suspense", coin.currency()),
            AccountCode::Prefund(coin) => ("prefund", coin.currency()),
            AccountCode::InTransit(coin) => ("in_transit", coin.currency()),
            AccountCode::FeeIncome(coin) => ("fee_income", coin.currency()),
            AccountCode::RailCost(coin) => ("rail_cost", coin.currency()),
            AccountCode::External(coin) => ("external", coin.currency()),
            AccountCode::FxPosition(currency) => ("fx_position", *currency),
            AccountCode::RailCharges(currency) => ("rail_charges", *currency),
            AccountCode::Rounding(currency) => ("rounding", *currency),
        };
        write!(out, "{kind}:{}", currency.code())
    }
}

/// An account and its four running sums, in minor units of its currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Whose it is.
    pub tenant: TenantId,
    /// Which it is.
    pub code: AccountCode,
    /// Reserved debits.
    pub debits_pending: i64,
    /// Final debits.
    pub debits_posted: i64,
    /// Reserved credits.
    pub credits_pending: i64,
    /// Final credits.
    pub credits_posted: i64,
}

impl Account {
    /// An account that nothing has moved over yet.
    pub const fn empty(tenant: TenantId, code: AccountCode) -> Account {
        Account { tenant, code, debits_pending: 0, debits_posted: 0, credits_pending: 0, credits_posted: 0 }
    }

    /// What the account holds.
    pub fn balance(&self) -> Money {
        Money::new(self.credits_posted.saturating_sub(self.debits_posted), self.code.currency())
    }

    /// What the account can still spend: its balance less what is reserved.
    pub fn available(&self) -> Money {
        Money::new(self.balance().minor.saturating_sub(self.debits_pending), self.code.currency())
    }
}

/// How a transfer touches the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransferKind {
    /// Final at once.
    Posted,
    /// Reserves; ended by exactly one `PostPending` or `VoidPending`.
    Pending,
    /// Makes a reservation final.
    PostPending,
    /// Gives a reservation back.
    VoidPending,
}

impl TransferKind {
    /// Every kind.
    pub const ALL: [TransferKind; 4] =
        [TransferKind::Posted, TransferKind::Pending, TransferKind::PostPending, TransferKind::VoidPending];

    /// The name in the store.
    pub const fn name(self) -> &'static str {
        match self {
            TransferKind::Posted => "posted",
            TransferKind::Pending => "pending",
            TransferKind::PostPending => "post_pending",
            TransferKind::VoidPending => "void_pending",
        }
    }

    /// Reads the name.
    pub fn parse(name: &str) -> Option<TransferKind> {
        TransferKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// One movement. History: never changed, never removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Its id.
    pub id: TransferId,
    /// Whose books.
    pub tenant: TenantId,
    /// Where it takes from.
    pub debit: AccountCode,
    /// Where it gives to.
    pub credit: AccountCode,
    /// How much; greater than zero.
    pub amount: Money,
    /// How it touches the sums.
    pub kind: TransferKind,
    /// The reservation that a `PostPending` or `VoidPending` ends.
    pub pending: Option<TransferId>,
    /// The first transfer of the linked set that this one belongs to: all of a set or none.
    pub set: TransferId,
    /// Why, as a stable word (`payment.reserve`, `payment.fx` …).
    pub reason: &'static str,
    /// The payment (or other thing) that it belongs to.
    pub subject: Option<uuid::Uuid>,
    /// When.
    pub at: Timestamp,
}

/// Why a transfer cannot be booked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerRefusal {
    /// The debit account would spend more than it has.
    #[error("{account} has {available} available, {needed} needed")]
    InsufficientBalance {
        /// The account.
        account: AccountCode,
        /// What it can spend.
        available: Money,
        /// What was asked for.
        needed: Money,
    },
    /// A sum would leave 64 bits, an amount is not positive, or a currency is not the account's.
    #[error("transfer {0:?} cannot be booked: {1}")]
    Impossible(TransferId, &'static str),
}

/// Books one transfer on its two accounts. On a refusal neither account has changed.
pub fn book(debit: &mut Account, credit: &mut Account, transfer: &Transfer) -> Result<(), LedgerRefusal> {
    let impossible = |why| Err(LedgerRefusal::Impossible(transfer.id, why));
    let amount = transfer.amount.minor;
    if amount <= 0 {
        return impossible("its amount is not positive");
    }
    let currency = transfer.amount.currency;
    if transfer.debit.currency() != currency || transfer.credit.currency() != currency {
        return impossible("its currency is not that of both accounts");
    }
    let (pending, posted) = match transfer.kind {
        TransferKind::Posted => (0, amount),
        TransferKind::Pending => (amount, 0),
        TransferKind::PostPending => (-amount, amount),
        TransferKind::VoidPending => (-amount, 0),
    };
    let takes = matches!(transfer.kind, TransferKind::Posted | TransferKind::Pending);
    let available = debit.available();
    if takes && transfer.debit.never_below_zero() && available.minor < amount {
        return Err(LedgerRefusal::InsufficientBalance {
            account: transfer.debit.clone(),
            available,
            needed: transfer.amount,
        });
    }
    let sums = (
        debit.debits_pending.checked_add(pending),
        debit.debits_posted.checked_add(posted),
        credit.credits_pending.checked_add(pending),
        credit.credits_posted.checked_add(posted),
    );
    let (Some(debits_pending), Some(debits_posted), Some(credits_pending), Some(credits_posted)) = sums else {
        return impossible("a sum would leave 64 bits");
    };
    if debits_pending < 0 || credits_pending < 0 {
        return impossible("it ends a reservation that is not there");
    }
    (debit.debits_pending, debit.debits_posted) = (debits_pending, debits_posted);
    (credit.credits_pending, credit.credits_posted) = (credits_pending, credits_posted);
    Ok(())
}

#[cfg(test)]
mod tests;
