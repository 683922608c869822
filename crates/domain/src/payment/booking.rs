//! Ledger transfers of each step of a payment (`decisions.md`, "Worked example" and "States").

use super::{Cx, Payment, PaymentState};
use crate::attempt::Attempt;
use crate::currency::{Currency, StableCoin};
use crate::ids::TransferId;
use crate::ledger::{AccountCode, Transfer, TransferKind};
use crate::money::Money;

/// A linked set under construction: booked as a whole or not at all.
struct Set<'a> {
    payment: &'a Payment,
    set: TransferId,
    at: crate::time::Timestamp,
    transfers: Vec<Transfer>,
}

impl Set<'_> {
    fn add(
        &mut self,
        id: TransferId,
        legs: (AccountCode, AccountCode),
        amount: Money,
        reason: &'static str,
    ) {
        if amount.minor == 0 {
            return;
        }
        self.transfers.push(Transfer {
            id,
            tenant: self.payment.tenant,
            debit: legs.0,
            credit: legs.1,
            amount,
            kind: TransferKind::Posted,
            pending: None,
            set: self.set,
            reason,
            subject: Some(self.payment.id.0),
            at: self.at,
        });
    }
}

/// The stablecoin of a payment's debit.
fn coin(payment: &Payment) -> StableCoin {
    match payment.charge.amount.currency {
        Currency::Usdc => StableCoin::Usdc,
        _ => StableCoin::Usdt,
    }
}

fn total(payment: &Payment) -> Money {
    let charge = &payment.charge;
    Money::new(
        charge.amount.minor + charge.premium.minor + charge.cost.minor,
        charge.amount.currency,
    )
}

/// Reservation at acceptance: pending prefund → in_transit for the whole debit.
pub(super) fn reserve(payment: &Payment) -> Transfer {
    let coin = coin(payment);
    Transfer {
        id: payment.hold,
        tenant: payment.tenant,
        debit: AccountCode::Prefund(coin),
        credit: AccountCode::InTransit(coin),
        amount: total(payment),
        kind: TransferKind::Pending,
        pending: None,
        set: payment.hold,
        reason: "payment.reserve",
        subject: Some(payment.id.0),
        at: payment.accepted_at,
    }
}

/// The transfers of a payment's step to `to`; `by` is the attempt that settled it.
pub(super) fn transfers(
    payment: &Payment,
    to: PaymentState,
    by: Option<&Attempt>,
    cx: &mut Cx<'_>,
) -> Vec<Transfer> {
    match (payment.standing.state, to, by) {
        (PaymentState::Succeeded, PaymentState::Reversed, Some(attempt)) => {
            give_back(payment, attempt, cx)
        }
        (_, PaymentState::Succeeded, Some(attempt)) => settle(payment, attempt, cx),
        (_, PaymentState::Rejected | PaymentState::Failed | PaymentState::Reversed, _) => {
            vec![end_hold(payment, TransferKind::VoidPending, "payment.void", cx)]
        }
        _ => Vec::new(),
    }
}

fn end_hold(
    payment: &Payment,
    kind: TransferKind,
    reason: &'static str,
    cx: &mut Cx<'_>,
) -> Transfer {
    let id = cx.transfer_id();
    Transfer {
        id,
        kind,
        pending: Some(payment.hold),
        set: id,
        reason,
        at: cx.now,
        ..reserve(payment)
    }
}

/// Paid: posts the hold; its parts leave in_transit for the exchange, the fee and the rail; the
/// beneficiary's amount leaves the rail's nostro for the position of its currency.
fn settle(payment: &Payment, attempt: &Attempt, cx: &mut Cx<'_>) -> Vec<Transfer> {
    let coin = coin(payment);
    let local = payment.amount.currency;
    let post = end_hold(payment, TransferKind::PostPending, "payment.post", cx);
    let mut set = Set { payment, set: post.id, at: cx.now, transfers: vec![post] };
    let transit = || AccountCode::InTransit(coin);
    let position = AccountCode::FxPosition(local);
    set.add(
        cx.transfer_id(),
        (transit(), AccountCode::FxPosition(coin.currency())),
        payment.charge.amount,
        "payment.fx",
    );
    set.add(
        cx.transfer_id(),
        (transit(), AccountCode::FeeIncome(coin)),
        payment.charge.premium,
        "payment.premium",
    );
    set.add(
        cx.transfer_id(),
        (transit(), AccountCode::RailCost(coin)),
        payment.charge.cost,
        "payment.rail_cost",
    );
    let nostro = AccountCode::Nostro(attempt.rail.clone(), local);
    set.add(cx.transfer_id(), (nostro, position.clone()), payment.amount, "payment.fx");
    set.add(
        cx.transfer_id(),
        (position, AccountCode::Rounding(local)),
        payment.remainder,
        "payment.rounding",
    );
    set.transfers
}

/// Returned: reverses the exchange and returns the stablecoin amount to the prefund; premium and
/// cost stay.
fn give_back(payment: &Payment, attempt: &Attempt, cx: &mut Cx<'_>) -> Vec<Transfer> {
    let coin = coin(payment);
    let local = payment.amount.currency;
    let first = cx.transfer_id();
    let mut set = Set { payment, set: first, at: cx.now, transfers: Vec::new() };
    set.add(
        first,
        (AccountCode::FxPosition(coin.currency()), AccountCode::Prefund(coin)),
        payment.charge.amount,
        "payment.return",
    );
    let nostro = AccountCode::Nostro(attempt.rail.clone(), local);
    let position = AccountCode::FxPosition(local);
    set.add(cx.transfer_id(), (position.clone(), nostro), payment.amount, "payment.return");
    set.add(
        cx.transfer_id(),
        (AccountCode::Rounding(local), position),
        payment.remainder,
        "payment.return",
    );
    set.transfers
}
