//! Ledger transfers of each step of a deposit, between the book accounts of [`DepositBucket`].

use super::{Deposit, DepositBucket};
use crate::decision::Cx;
use crate::ids::TransferId;
use crate::ledger::{AccountCode, Transfer, TransferKind};
use crate::money::Money;

impl Deposit {
    /// The ledger account of a book account. A direct payment to the wallet has no escrow: it waits
    /// in suspense.
    pub fn account(&self, pot: DepositBucket) -> AccountCode {
        match (pot, self.request) {
            (DepositBucket::Nowhere, _) => AccountCode::External(self.coin),
            (DepositBucket::Escrow, Some(request)) => AccountCode::Escrow(request, self.coin),
            (DepositBucket::Suspense, _) | (DepositBucket::Escrow, None) => {
                AccountCode::Suspense(self.coin)
            }
            (DepositBucket::Wallet, _) => AccountCode::Wallet(self.wallet, self.coin),
        }
    }

    /// Book account of an undecided deposit.
    pub(super) const fn waiting_pot(&self) -> DepositBucket {
        if self.request.is_some() { DepositBucket::Escrow } else { DepositBucket::Suspense }
    }

    /// Moves its amount at once.
    pub(super) fn move_to(
        &mut self,
        pot: DepositBucket,
        reason: &'static str,
        cx: &mut Cx<'_>,
    ) -> Option<Transfer> {
        if self.pot == pot {
            return None;
        }
        let transfer =
            self.transfer(cx.transfer_id(), (self.pot, pot), TransferKind::Posted, reason, cx);
        self.pot = pot;
        Some(transfer)
    }

    /// Reserves its amount for the wallet.
    pub(super) fn reserve(&mut self, cx: &mut Cx<'_>) -> Transfer {
        let id = cx.transfer_id();
        self.hold = Some(id);
        self.transfer(
            id,
            (self.pot, DepositBucket::Wallet),
            TransferKind::Pending,
            "deposit.reserve",
            cx,
        )
    }

    /// Posts the reservation: the amount is in the wallet.
    pub(super) fn post_hold(&mut self, cx: &mut Cx<'_>) -> Option<Transfer> {
        let posted = self.end_hold(TransferKind::PostPending, "deposit.release", cx)?;
        self.pot = DepositBucket::Wallet;
        Some(posted)
    }

    /// Voids the reservation: the amount stays where it is.
    pub(super) fn void_hold(&mut self, cx: &mut Cx<'_>) -> Option<Transfer> {
        self.end_hold(TransferKind::VoidPending, "deposit.void", cx)
    }

    /// The fee of its newest release, as far as it is known.
    pub fn known_fee(&self) -> i64 {
        self.release_fee.unwrap_or(0)
    }

    /// Lends the wallet what it lacks to give back what arrived: `spendable` is less than that.
    pub(super) fn lend(&self, spendable: Money, cx: &mut Cx<'_>) -> Option<Transfer> {
        let arrived = self.minor.saturating_sub(self.known_fee());
        let lacks = arrived.saturating_sub(spendable.minor.max(0));
        if self.pot != DepositBucket::Wallet || lacks <= 0 {
            return None;
        }
        let id = cx.transfer_id();
        let pots = (DepositBucket::Wallet, DepositBucket::Wallet);
        let whole = self.transfer(id, pots, TransferKind::Posted, "deposit.shortfall", cx);
        Some(Transfer {
            debit: AccountCode::Shortfall(self.wallet, self.coin),
            amount: Money::new(lacks, self.coin.currency()),
            ..whole
        })
    }

    /// Books the fee that the token contract deducted on the way to the wallet, less what is booked
    /// of it; what is booked beyond it comes back.
    pub(super) fn fee(&self, fee: i64, booked: i64, cx: &mut Cx<'_>) -> Option<Transfer> {
        let minor = fee.saturating_sub(booked);
        let (pots, reason) = match minor {
            0 => return None,
            1.. => ((DepositBucket::Wallet, DepositBucket::Nowhere), "deposit.fee"),
            _ => ((DepositBucket::Nowhere, DepositBucket::Wallet), "deposit.fee_reversal"),
        };
        let whole = self.transfer(cx.transfer_id(), pots, TransferKind::Posted, reason, cx);
        Some(Transfer { amount: Money::new(minor.saturating_abs(), self.coin.currency()), ..whole })
    }

    /// Books the fee of a release that was executed again, in place of the one that is booked. The
    /// wallet may have spent what a higher fee takes from it.
    pub(super) fn other_fee(&self, fee: i64, booked: i64, cx: &mut Cx<'_>) -> Option<Transfer> {
        let transfer = self.fee(fee, booked, cx)?;
        let shortfall = AccountCode::Shortfall(self.wallet, self.coin);
        let debit = if fee > booked { shortfall } else { transfer.debit };
        Some(Transfer { debit, ..transfer })
    }

    fn end_hold(
        &mut self,
        kind: TransferKind,
        reason: &'static str,
        cx: &mut Cx<'_>,
    ) -> Option<Transfer> {
        let hold = self.hold.take()?;
        let mut transfer =
            self.transfer(cx.transfer_id(), (self.pot, DepositBucket::Wallet), kind, reason, cx);
        transfer.pending = Some(hold);
        Some(transfer)
    }

    fn transfer(
        &self,
        id: TransferId,
        (from, to): (DepositBucket, DepositBucket),
        kind: TransferKind,
        reason: &'static str,
        cx: &Cx<'_>,
    ) -> Transfer {
        Transfer {
            id,
            tenant: self.tenant,
            debit: self.account(from),
            credit: self.account(to),
            amount: self.amount(),
            kind,
            pending: None,
            set: id,
            reason,
            subject: Some(self.id.0),
            at: cx.now,
        }
    }
}
