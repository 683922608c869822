//! The double-entry, two-phase ledger, in the terms of TigerBeetle's data model.
//!
//! Accounts carry four running sums; transfers are append-only. A transfer moves an amount from its
//! *debit* account to its *credit* account; an account's balance is `credits_posted -
//! debits_posted`, and its available amount is that less `debits_pending`. Customer accounts
//! (`prefund`, `wallet`, `escrow`) can never spend more than they have. The ledger does not know
//! why money moves: see `payment`.

use std::fmt;

use crate::chain::{ChainNumber, vault};
use crate::currency::{Currency, StableCoin};
use crate::decision::Cx;
use crate::ids::{PaymentRequestId, TenantId, TransferId, WalletId};
use crate::money::Money;
use crate::rail::RailId;
use crate::time::Timestamp;

/// An account of a tenant's chart. Its text form (`prefund:USDT`, `nostro:pak-raast:PKR`) is its
/// key in the store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccountCode {
    /// `prefund:{coin}`: the tenant's unspent deposits.
    Prefund(StableCoin),
    /// `in_transit:{coin}`: reserved for payments in progress.
    InTransit(StableCoin),
    /// `nostro:{rail}:{currency}`: our account at a rail's bank.
    Nostro(RailId, Currency),
    /// `fx_position:{currency}`: the open position of a currency exchange.
    FxPosition(Currency),
    /// `fee_income:{coin}`: premiums on payments and spreads on exchange orders.
    FeeIncome(StableCoin),
    /// `rail_cost:{coin}`: cost of payouts.
    RailCost(StableCoin),
    /// `rail_charges:{currency}`: bank fees for payouts beyond their price, or deducted from
    /// returns.
    RailCharges(Currency),
    /// `rounding:{currency}`: remainders of amounts that cannot be paid out.
    Rounding(Currency),
    /// `external:{coin}`: the counterparty of top-ups and of senders' on-chain payments.
    External(StableCoin),
    /// `escrow:{request}:{coin}`: funds in the escrow of a payment request.
    Escrow(PaymentRequestId, StableCoin),
    /// `wallet:{wallet}:{coin}`: funds in a customer's wallet.
    Wallet(WalletId, StableCoin),
    /// `shortfall:{wallet}:{coin}`: zero or negative; what a reorganisation took from the wallet beyond
    /// what it had available. What the wallet has available next covers it: see [`cover_shortfall`].
    Shortfall(WalletId, StableCoin),
    /// `unswept:{coin}`, of a further chain `unswept:{number}:{coin}`: tokens in the tenant's controller: debited for exchange, and not swept
    /// yet.
    Unswept(ChainNumber, StableCoin),
    /// `treasury:{coin}`, of a further chain `treasury:{number}:{coin}`: tokens swept from the controller to the tenant's settlement treasury.
    Treasury(ChainNumber, StableCoin),
    /// `exchanged:{coin}`, of a further chain `exchanged:{number}:{coin}`: negative; the tokens that orders were paid out for, less what tokens' contracts deducted from them. The tokens of a
    /// settled order stay where they are, so `fx_position` and `fee_income` are funded from here;
    /// the sum of `unswept`, `treasury` and this account is what open orders have debited.
    Exchanged(ChainNumber, StableCoin),
    /// `payout_suspense:{coin}`, of a further chain `payout_suspense:{number}:{coin}`: tokens of settled orders whose payout was returned, until an
    /// operator returns them, and those that cannot return to a blacklisted wallet.
    PayoutSuspense(ChainNumber, StableCoin),
    /// `suspense:{coin}`: on the chain or expected back there, and not spendable.
    Suspense(StableCoin),
}

impl AccountCode {
    /// The account's only currency.
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
            | AccountCode::Shortfall(_, coin)
            | AccountCode::Unswept(_, coin)
            | AccountCode::Treasury(_, coin)
            | AccountCode::Exchanged(_, coin)
            | AccountCode::PayoutSuspense(_, coin)
            | AccountCode::Suspense(coin) => coin.currency(),
        }
    }

    /// Whether it is a customer account, which can never spend more than it has.
    pub const fn never_below_zero(&self) -> bool {
        matches!(self, AccountCode::Prefund(_) | AccountCode::Escrow(..) | AccountCode::Wallet(..))
    }

    /// Parses the text form.
    pub fn parse(text: &str) -> Option<AccountCode> {
        let (kind, rest) = text.split_once(':')?;
        Some(match kind {
            "prefund" => AccountCode::Prefund(StableCoin::parse(rest)?),
            "in_transit" => AccountCode::InTransit(StableCoin::parse(rest)?),
            "fee_income" => AccountCode::FeeIncome(StableCoin::parse(rest)?),
            "rail_cost" => AccountCode::RailCost(StableCoin::parse(rest)?),
            "external" => AccountCode::External(StableCoin::parse(rest)?),
            "unswept" => {
                let (chain, coin) = of_chain(rest)?;
                AccountCode::Unswept(chain, coin)
            }
            "treasury" => {
                let (chain, coin) = of_chain(rest)?;
                AccountCode::Treasury(chain, coin)
            }
            "exchanged" => {
                let (chain, coin) = of_chain(rest)?;
                AccountCode::Exchanged(chain, coin)
            }
            "payout_suspense" => {
                let (chain, coin) = of_chain(rest)?;
                AccountCode::PayoutSuspense(chain, coin)
            }
            "suspense" => AccountCode::Suspense(StableCoin::parse(rest)?),
            "escrow" => {
                let (request, coin) = rest.split_once(':')?;
                AccountCode::Escrow(PaymentRequestId::parse(request)?, StableCoin::parse(coin)?)
            }
            "wallet" => {
                let (wallet, coin) = rest.split_once(':')?;
                AccountCode::Wallet(WalletId::parse(wallet)?, StableCoin::parse(coin)?)
            }
            "shortfall" => {
                let (wallet, coin) = rest.split_once(':')?;
                AccountCode::Shortfall(WalletId::parse(wallet)?, StableCoin::parse(coin)?)
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

/// Chain and coin of `USDC`, or of `2:USDC` for the second chain.
fn of_chain(text: &str) -> Option<(ChainNumber, StableCoin)> {
    let Some((number, coin)) = text.split_once(':') else {
        return Some((ChainNumber::FIRST, StableCoin::parse(text)?));
    };
    let chain = ChainNumber(number.parse().ok()?);
    let is_plain = chain.0.to_string() == number && chain > ChainNumber::FIRST;
    is_plain.then_some((chain, StableCoin::parse(coin)?))
}

fn write_of_chain(
    out: &mut fmt::Formatter<'_>,
    kind: &str,
    chain: ChainNumber,
    coin: StableCoin,
) -> fmt::Result {
    write!(out, "{}:{}", chain.key(kind), coin.currency().code())
}

impl fmt::Display for AccountCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, currency) = match self {
            AccountCode::Nostro(rail, currency) => {
                return write!(out, "nostro:{rail}:{}", currency.code());
            }
            AccountCode::Escrow(request, coin) => {
                return write!(out, "escrow:{request}:{}", coin.currency().code());
            }
            AccountCode::Wallet(wallet, coin) => {
                return write!(out, "wallet:{wallet}:{}", coin.currency().code());
            }
            AccountCode::Shortfall(wallet, coin) => {
                return write!(out, "shortfall:{wallet}:{}", coin.currency().code());
            }
            AccountCode::Unswept(chain, coin) => {
                return write_of_chain(out, "unswept", *chain, *coin);
            }
            AccountCode::Treasury(chain, coin) => {
                return write_of_chain(out, "treasury", *chain, *coin);
            }
            AccountCode::Exchanged(chain, coin) => {
                return write_of_chain(out, "exchanged", *chain, *coin);
            }
            AccountCode::PayoutSuspense(chain, coin) => {
                return write_of_chain(out, "payout_suspense", *chain, *coin);
            }
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
    /// Tenant of the account.
    pub tenant: TenantId,
    /// Code of the account.
    pub code: AccountCode,
    /// Sum of debits that are reserved, and neither posted nor voided yet.
    pub debits_pending: i64,
    /// Sum of debits that are booked for good.
    pub debits_posted: i64,
    /// Sum of credits that are reserved, and neither posted nor voided yet.
    pub credits_pending: i64,
    /// Sum of credits that are booked for good.
    pub credits_posted: i64,
}

impl Account {
    /// An account without transfers.
    pub const fn empty(tenant: TenantId, code: AccountCode) -> Account {
        Account {
            tenant,
            code,
            debits_pending: 0,
            debits_posted: 0,
            credits_pending: 0,
            credits_posted: 0,
        }
    }

    /// Balance of the account.
    pub fn balance(&self) -> Money {
        Money::new(self.credits_posted.saturating_sub(self.debits_posted), self.code.currency())
    }

    /// Available amount: the balance less reserved debits.
    pub fn available(&self) -> Money {
        Money::new(self.balance().minor.saturating_sub(self.debits_pending), self.code.currency())
    }
}

names! {
    /// Effect of a transfer on the sums.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum TransferKind: "Name in the store." {
        /// Books the amount at once, without a reservation.
        Posted = "posted",
        /// Reserves; ended by exactly one `PostPending` or `VoidPending`.
        Pending = "pending",
        /// Ends a reservation and books its amount.
        PostPending = "post_pending",
        /// Ends a reservation without booking its amount.
        VoidPending = "void_pending",
    }
}

/// One movement. History: never changed, never removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Id of the transfer.
    pub id: TransferId,
    /// Tenant of the books.
    pub tenant: TenantId,
    /// Account whose debits grow: the amount leaves it.
    pub debit: AccountCode,
    /// Account whose credits grow: the amount arrives there.
    pub credit: AccountCode,
    /// Positive amount in the one currency of both accounts.
    pub amount: Money,
    /// Effect on the sums.
    pub kind: TransferKind,
    /// The reservation that a `PostPending` or `VoidPending` ends.
    pub pending: Option<TransferId>,
    /// The first transfer of its linked set, which is booked as a whole or not at all.
    pub set: TransferId,
    /// Reason, as a stable word (`payment.reserve`, `payment.fx` …).
    pub reason: &'static str,
    /// The payment or other subject that it belongs to.
    pub subject: Option<uuid::Uuid>,
    /// Time of the decision that booked it, on the store's clock.
    pub at: Timestamp,
}

/// What moves stablecoins into or out of a tenant's accounts without an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Funding {
    /// The tenant paid into its prefund account.
    TopUp,
    /// The tenant was paid out of it, or a top-up was booked in error.
    Withdrawal,
    /// The bank sent tokens from its treasury to its controller on this chain, to return tokens that
    /// were already swept.
    Controller(ChainNumber),
    /// These tokens were booked in error.
    ControllerReversal(ChainNumber),
}

impl Funding {
    /// One of each kind: neither reason nor subject depends on the chain.
    pub const KINDS: [Funding; 4] = [
        Funding::TopUp,
        Funding::Withdrawal,
        Funding::Controller(ChainNumber::FIRST),
        Funding::ControllerReversal(ChainNumber::FIRST),
    ];
    /// Those of prefund accounts.
    pub const OF_PREFUND: [Funding; 2] = [Funding::TopUp, Funding::Withdrawal];

    /// Reason of its transfer.
    pub const fn name(self) -> &'static str {
        match self {
            Funding::TopUp => "prefund.top_up",
            Funding::Withdrawal => "prefund.withdrawal",
            Funding::Controller(_) => "sweep.fund",
            Funding::ControllerReversal(_) => "sweep.fund_reversal",
        }
    }

    /// What it reverses, or is reversed by; `None` where that needs a reference of its own.
    pub const fn opposite(self) -> Option<Funding> {
        match self {
            Funding::TopUp | Funding::Withdrawal => None,
            Funding::Controller(chain) => Some(Funding::ControllerReversal(chain)),
            Funding::ControllerReversal(chain) => Some(Funding::Controller(chain)),
        }
    }

    /// Debit and credit of its transfer.
    pub const fn accounts(self, coin: StableCoin) -> (AccountCode, AccountCode) {
        let (outside, prefund) = (AccountCode::External(coin), AccountCode::Prefund(coin));
        match self {
            Funding::TopUp => (outside, prefund),
            Funding::Withdrawal => (prefund, outside),
            Funding::Controller(on) => {
                (AccountCode::Treasury(on, coin), AccountCode::Unswept(on, coin))
            }
            Funding::ControllerReversal(on) => {
                (AccountCode::Unswept(on, coin), AccountCode::Treasury(on, coin))
            }
        }
    }
}

/// Subject of the transfer that books the money with this reference, on any chain: derived, so that
/// there is only one. Has the form of a version 4 UUID. Transfers' own ids are in the order of booking.
pub fn funding_subject(funding: Funding, tenant: TenantId, reference: &str) -> uuid::Uuid {
    let domain: &[u8] = match funding {
        Funding::TopUp => b"corridor.top_up",
        Funding::Withdrawal => b"corridor.withdrawal",
        Funding::Controller(_) => b"corridor.controller_funding",
        Funding::ControllerReversal(_) => b"corridor.controller_reversal",
    };
    let word = vault::hash(&[domain, tenant.0.as_bytes(), reference.as_bytes()]);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&word.0[..16]);
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}

/// Reason for refusing a transfer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerRefusal {
    /// The debit account would spend more than it has.
    #[error("{account} has {available} available, {needed} needed")]
    InsufficientBalance {
        /// Customer account that was to be debited.
        account: AccountCode,
        /// Balance less reserved debits, before the transfer.
        available: Money,
        /// Amount of the transfer that was refused.
        needed: Money,
    },
    /// A sum would exceed 64 bits, an amount is not positive, or a currency differs from the
    /// account's.
    #[error("transfer {0} cannot be booked: {1}")]
    Impossible(TransferId, &'static str),
}

/// Books one transfer on its two accounts. A refusal leaves both unchanged.
pub fn book(
    debit: &mut Account,
    credit: &mut Account,
    transfer: &Transfer,
) -> Result<(), LedgerRefusal> {
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
    let (Some(debits_pending), Some(debits_posted), Some(credits_pending), Some(credits_posted)) =
        sums
    else {
        return impossible("a sum would exceed 64 bits");
    };
    if debits_pending < 0 || credits_pending < 0 {
        return impossible("it ends a reservation that does not exist");
    }
    (debit.debits_pending, debit.debits_posted) = (debits_pending, debits_posted);
    (credit.credits_pending, credit.credits_posted) = (credits_pending, credits_posted);
    Ok(())
}

/// Covers a wallet's shortfall with what the wallet has available, as far as that goes: tokens that a
/// reorganisation took are never spendable, however the wallet regains them.
pub fn cover_shortfall(wallet: &Account, shortfall: &Account, cx: &mut Cx<'_>) -> Option<Transfer> {
    let lacks = shortfall.balance().minor.saturating_neg();
    let minor = wallet.available().minor.min(lacks);
    if minor <= 0 {
        return None;
    }
    let id = cx.transfer_id();
    Some(Transfer {
        id,
        tenant: wallet.tenant,
        debit: wallet.code.clone(),
        credit: shortfall.code.clone(),
        amount: Money::new(minor, wallet.code.currency()),
        kind: TransferKind::Posted,
        pending: None,
        set: id,
        reason: "shortfall.cover",
        subject: None,
        at: cx.now,
    })
}

#[cfg(test)]
mod tests;
