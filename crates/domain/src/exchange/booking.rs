//! Ledger transfers of each step of an order.

use super::ExchangeOrder;
use crate::decision::Cx;
use crate::ids::TransferId;
use crate::ledger::{AccountCode, Transfer, TransferKind};
use crate::money::Money;
use crate::rail::RailId;
use crate::time::Timestamp;

/// Reason of the transfers that book a token contract's fee.
const TOKEN_FEE: &str = "exchange.token_fee";
/// Reason of those that book it back: a reorganisation undid what it was deducted from.
const TOKEN_FEE_REVERSAL: &str = "exchange.token_fee_reversal";

/// A linked set under construction: booked as a whole or not at all.
struct Set<'a> {
    order: &'a ExchangeOrder,
    set: TransferId,
    at: Timestamp,
    transfers: Vec<Transfer>,
}

impl Set<'_> {
    fn begin<'a>(order: &'a ExchangeOrder, cx: &mut Cx<'_>) -> Set<'a> {
        Set { order, set: cx.transfer_id(), at: cx.now, transfers: Vec::new() }
    }

    fn add(
        &mut self,
        legs: (AccountCode, AccountCode),
        amount: Money,
        reason: &'static str,
        cx: &mut Cx<'_>,
    ) {
        if amount.minor == 0 {
            return;
        }
        let id = if self.transfers.is_empty() { self.set } else { cx.transfer_id() };
        self.transfers.push(Transfer {
            id,
            tenant: self.order.tenant,
            debit: legs.0,
            credit: legs.1,
            amount,
            kind: TransferKind::Posted,
            pending: None,
            set: self.set,
            reason,
            subject: Some(self.order.id.0),
            at: self.at,
        });
    }
}

impl ExchangeOrder {
    fn wallet_account(&self) -> AccountCode {
        AccountCode::Wallet(self.wallet, self.coin)
    }

    const fn unswept(&self) -> AccountCode {
        AccountCode::Unswept(self.chain, self.coin)
    }

    const fn exchanged(&self) -> AccountCode {
        AccountCode::Exchanged(self.chain, self.coin)
    }

    const fn coins(&self, minor: i64) -> Money {
        Money::new(minor, self.coin.currency())
    }

    fn fee(&self) -> i64 {
        self.quoted().fee(self.minor)
    }

    /// Reserves the tokens for the controller.
    pub(super) fn reserve(&self) -> Transfer {
        Transfer {
            id: self.hold,
            tenant: self.tenant,
            debit: self.wallet_account(),
            credit: self.unswept(),
            amount: self.coins(self.minor),
            kind: TransferKind::Pending,
            pending: None,
            set: self.hold,
            reason: "exchange.reserve",
            subject: Some(self.id.0),
            at: self.created_at,
        }
    }

    /// Posts or voids the reservation.
    pub(super) fn end_hold(
        &self,
        kind: TransferKind,
        reason: &'static str,
        cx: &mut Cx<'_>,
    ) -> Transfer {
        let id = cx.transfer_id();
        Transfer {
            id,
            kind,
            pending: Some(self.hold),
            set: id,
            reason,
            at: cx.now,
            ..self.reserve()
        }
    }

    /// Paid: the tokens, less our fee, belong to the tenant and stay where they are; the payout
    /// leaves the rail's bank.
    pub(super) fn settle(&self, rail: &RailId, cx: &mut Cx<'_>) -> Vec<Transfer> {
        let fee = self.fee();
        let position = AccountCode::FxPosition(self.coin.currency());
        let local = self.payout.currency;
        let mut set = Set::begin(self, cx);
        set.add((self.exchanged(), position), self.coins(self.minor - fee), "exchange.fx", cx);
        set.add(
            (self.exchanged(), AccountCode::FeeIncome(self.coin)),
            self.coins(fee),
            "exchange.spread",
            cx,
        );
        let nostro = AccountCode::Nostro(rail.clone(), local);
        set.add((nostro, AccountCode::FxPosition(local)), self.payout, "exchange.payout", cx);
        set.transfers
    }

    /// The tokens are back in the wallet: before a payout, or after [`ExchangeOrder::take_from_suspense`].
    pub(super) fn give_coins_back(&self, cx: &mut Cx<'_>) -> Vec<Transfer> {
        let mut set = Set::begin(self, cx);
        set.add(
            (self.unswept(), self.wallet_account()),
            self.coins(self.minor),
            "exchange.return",
            cx,
        );
        set.transfers
    }

    /// Books what the token's contract deducted from the debit, less what is booked of it: it never
    /// was in the controller. The order is paid out as quoted, so the tenant's position bears it.
    pub(super) fn change_debit_fee(&mut self, fee: i64, cx: &mut Cx<'_>) -> Vec<Transfer> {
        let position = AccountCode::FxPosition(self.coin.currency());
        let legs =
            [(self.unswept(), AccountCode::External(self.coin)), (position, self.exchanged())];
        let Some(booked) = self.debit_fee.filter(|booked| *booked != fee) else {
            return Vec::new();
        };
        self.debit_fee = Some(fee);
        self.change_fee((fee, booked), legs, cx)
    }

    /// The tokens are back in the wallet, less the `fee` that the token's contract deducted on the
    /// way.
    pub(super) fn book_return(&mut self, fee: i64, cx: &mut Cx<'_>) -> Vec<Transfer> {
        let mut transfers = self.give_coins_back(cx);
        self.return_fee.get_or_insert(0);
        transfers.extend(self.change_return_fee(self.wallet_account(), fee, cx));
        transfers
    }

    /// Books the fee of the return, less what is booked of it: it never was the wallet's. `bearer`
    /// has what is added.
    pub(super) fn change_return_fee(
        &mut self,
        bearer: AccountCode,
        fee: i64,
        cx: &mut Cx<'_>,
    ) -> Vec<Transfer> {
        let Some(booked) = self.return_fee.filter(|booked| *booked != fee) else {
            return Vec::new();
        };
        let account = if fee > booked { bearer } else { self.wallet_account() };
        self.return_fee = Some(fee);
        self.change_fee((fee, booked), [(account, AccountCode::External(self.coin))], cx)
    }

    fn change_fee<const LEGS: usize>(
        &mut self,
        (fee, booked): (i64, i64),
        legs: [(AccountCode, AccountCode); LEGS],
        cx: &mut Cx<'_>,
    ) -> Vec<Transfer> {
        self.version += 1;
        let minor = fee.saturating_sub(booked);
        let amount = self.coins(minor.saturating_abs());
        let mut set = Set::begin(self, cx);
        for (debit, credit) in legs {
            if minor > 0 {
                set.add((debit, credit), amount, TOKEN_FEE, cx);
            } else {
                set.add((credit, debit), amount, TOKEN_FEE_REVERSAL, cx);
            }
        }
        set.transfers
    }

    /// The payout was returned after settlement: the money is back at the rail's bank, and the
    /// tokens with our fee are in suspense until an operator returns them.
    pub(super) fn take_payout_back(&self, rail: &RailId, cx: &mut Cx<'_>) -> Vec<Transfer> {
        let (local, fee) = (self.payout.currency, self.fee());
        let suspense = AccountCode::PayoutSuspense(self.chain, self.coin);
        let mut set = Set::begin(self, cx);
        let nostro = AccountCode::Nostro(rail.clone(), local);
        let reason = "exchange.payout_returned";
        set.add((AccountCode::FxPosition(local), nostro), self.payout, reason, cx);
        let position = AccountCode::FxPosition(self.coin.currency());
        set.add((position, suspense.clone()), self.coins(self.minor - fee), reason, cx);
        set.add((AccountCode::FeeIncome(self.coin), suspense), self.coins(fee), reason, cx);
        set.transfers
    }

    /// The tokens can never return to the wallet.
    pub(super) fn withhold(&self, cx: &mut Cx<'_>) -> Vec<Transfer> {
        let mut set = Set::begin(self, cx);
        let suspense = AccountCode::PayoutSuspense(self.chain, self.coin);
        set.add((self.exchanged(), suspense), self.coins(self.minor), "exchange.withheld", cx);
        set.transfers
    }

    /// An operator returns the tokens of such an order with our fee: until they are in the wallet
    /// they count as debited and unpaid, like those of an open order.
    pub(super) fn take_from_suspense(&self, cx: &mut Cx<'_>) -> Vec<Transfer> {
        let mut set = Set::begin(self, cx);
        let suspense = AccountCode::PayoutSuspense(self.chain, self.coin);
        set.add((suspense, self.exchanged()), self.coins(self.minor), "exchange.recredit", cx);
        set.transfers
    }
}
