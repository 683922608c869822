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

    /// The token's contract deducted a fee from the debit: it never was in the controller. The order
    /// is paid out as quoted, so the tenant's position bears it.
    pub(super) fn debit_fee(&self, fee: i64, cx: &mut Cx<'_>) -> Vec<Transfer> {
        let position = AccountCode::FxPosition(self.coin.currency());
        let mut set = Set::begin(self, cx);
        set.add((self.unswept(), AccountCode::External(self.coin)), self.coins(fee), TOKEN_FEE, cx);
        set.add((position, self.exchanged()), self.coins(fee), TOKEN_FEE, cx);
        set.transfers
    }

    /// The same from the return of the tokens: it never was the wallet's.
    pub(super) fn return_fee(&self, fee: i64, cx: &mut Cx<'_>) -> Vec<Transfer> {
        let legs = (self.wallet_account(), AccountCode::External(self.coin));
        let mut set = Set::begin(self, cx);
        set.add(legs, self.coins(fee), TOKEN_FEE, cx);
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
