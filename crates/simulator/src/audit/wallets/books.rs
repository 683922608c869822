//! What the accounts of the wallet service should hold, from its deposits, orders and sweeps alone.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::super::rows::Key;
use super::rows::{DepositRow, Funded, OrderRow, SweepRow};
use crate::wallet_installation::SPREAD_BPS;

/// Posted and pending balances that accounts should have.
pub(in crate::audit) type Expected = BTreeMap<(Key, String), [i64; 2]>;

/// What the rail's account of a currency is called.
const RUPEES: &str = "PKR";
const BPS: i64 = 10_000;

/// What deposits and orders bring about; `public` is the id outside of a stored one.
pub(in crate::audit) fn expect(
    deposits: &[DepositRow],
    orders: &[OrderRow],
    (sweeps, funded): (&[SweepRow], &[Funded]),
    public: impl Fn(Key) -> Uuid,
    expected: &mut Expected,
) {
    let mut add = |tenant: Key, code: String, posted: i64, pending: i64| {
        let sums = expected.entry((tenant, code)).or_default();
        sums[0] += posted;
        sums[1] += pending;
    };
    for deposit in deposits {
        let (tenant, coin, amount) = (deposit.tenant, &deposit.coin, deposit.amount);
        let wallet = format!("wallet:{}:{coin}", public(deposit.wallet));
        let waits = match deposit.request {
            Some(request) => format!("escrow:{}:{coin}", public(request)),
            None => format!("suspense:{coin}"),
        };
        let held = match deposit.pot.as_str() {
            "escrow" => waits.clone(),
            "suspense" => format!("suspense:{coin}"),
            "wallet" => wallet.clone(),
            _ => continue,
        };
        add(tenant, held, amount, 0);
        add(tenant, format!("external:{coin}"), -amount, 0);
        if deposit.state == "approved" && deposit.request.is_some() {
            add(tenant, waits, 0, -amount);
            add(tenant, wallet, 0, amount);
        }
    }
    for order in orders {
        let (tenant, coin, amount) = (order.tenant, &order.coin, order.amount);
        let wallet = format!("wallet:{}:{coin}", public(order.wallet));
        let unswept = format!("unswept:{coin}");
        match order.state.as_str() {
            "pending" | "debiting" => {
                add(tenant, wallet, 0, -amount);
                add(tenant, unswept, 0, amount);
            }
            "debited" | "paying" | "returning" => {
                add(tenant, wallet, -amount, 0);
                add(tenant, unswept, amount, 0);
            }
            "settled" => settled(order, wallet, &mut add),
            "failed" if order.barred => {
                add(tenant, wallet, -amount, 0);
                add(tenant, unswept, amount, 0);
                add(tenant, format!("exchanged:{coin}"), -amount, 0);
                add(tenant, format!("payout_suspense:{coin}"), amount, 0);
            }
            _ => {}
        }
    }
    for (tenant, coin, amount, state) in sweeps {
        let (unswept, treasury) = (format!("unswept:{coin}"), format!("treasury:{coin}"));
        let (posted, pending) = match state.as_str() {
            "sending" => (0, *amount),
            "done" => (*amount, 0),
            _ => continue,
        };
        add(*tenant, unswept, -posted, -pending);
        add(*tenant, treasury, posted, pending);
    }
    for (tenant, coin, amount) in funded {
        add(*tenant, format!("unswept:{coin}"), *amount, 0);
        add(*tenant, format!("treasury:{coin}"), -amount, 0);
    }
}

/// One that was paid; and perhaps came back, and was perhaps given back after that.
fn settled(order: &OrderRow, wallet: String, add: &mut impl FnMut(Key, String, i64, i64)) {
    let (tenant, coin) = (order.tenant, &order.coin);
    let fee = order.amount * i64::from(SPREAD_BPS) / BPS;
    let (rail, state) =
        order.attempt.as_ref().map_or(("", ""), |(rail, state)| (rail.as_str(), state.as_str()));
    let came_back = matches!(state, "returned" | "cancelled");
    if came_back && order.given_back {
        return;
    }
    add(tenant, wallet, -order.amount, 0);
    add(tenant, format!("unswept:{coin}"), order.amount, 0);
    if came_back {
        // The coins were taken, and the payout that came back is in suspense.
        if !order.recredited || order.barred {
            add(tenant, format!("exchanged:{coin}"), -order.amount, 0);
            add(tenant, format!("payout_suspense:{coin}"), order.amount, 0);
        }
        return;
    }
    add(tenant, format!("exchanged:{coin}"), -order.amount, 0);
    add(tenant, format!("fee_income:{coin}"), fee, 0);
    add(tenant, format!("nostro:{rail}:{RUPEES}"), -order.payout, 0);
}
