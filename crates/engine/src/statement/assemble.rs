//! Assembles a statement from the rows read, with every check. Pure: no store, no clock.

use std::collections::HashMap;

use domain::ledger::AccountCode;
use domain::money::Money;
use domain::time::{Span, Timestamp};
use store::{AccountPeriod, References, SideTotals, StoredTransfer, Totals};
use uuid::Uuid;

use super::{
    Balance, Direction, Entry, FINAL_AFTER, Statement, StatementError, Subject, Total, Wanted,
    words,
};

/// Reservations open at the end of the period: debits, credits.
pub(super) fn open_counts(
    account: &AccountCode,
    period: &AccountPeriod,
) -> Result<(i64, i64), StatementError> {
    let ending = ending(account, period)?;
    Ok((ending.debits.reserved_count, ending.credits.reserved_count))
}

/// Returns the statement if everything agrees.
pub(super) fn statement(
    wanted: &Wanted,
    period: &AccountPeriod,
    open: &[StoredTransfer],
    references: &HashMap<Uuid, References>,
) -> Result<Statement, StatementError> {
    let account = &wanted.account;
    let ending = ending(account, period)?;
    agree_with_row(account, period, ending)?;
    agree_with_list(account, "movements", &period.movements, booked(period.during))?;
    agree_with_list(account, "open reservations", open, reserved(ending))?;
    let opening = balance(account, period.before)?;
    let closing = balance(account, ending)?;

    let mut entries = Vec::with_capacity(period.movements.len());
    let mut running = opening.booked;
    for transfer in &period.movements {
        let entry = entry(account, transfer, references);
        let signed = match entry.direction {
            Direction::Credit => entry.amount.minor,
            Direction::Debit => -entry.amount.minor,
        };
        running.minor = running.minor.checked_add(signed).ok_or_else(|| beyond(account))?;
        entries.push((entry, running));
    }
    if running != closing.booked {
        let what = format!(
            "opening balance and movements add up to {running}, but the closing balance is {}",
            closing.booked
        );
        return Err(disagrees(account, what));
    }
    Ok(Statement {
        tenant: wanted.tenant,
        account: account.clone(),
        from: wanted.from,
        to: wanted.to,
        made_at: wanted.now,
        is_final: wanted.to <= wanted.now - FINAL_AFTER,
        sequence: wanted.sequence.unwrap_or_else(|| sequence(period.first_at, wanted.to)),
        opening,
        closing,
        credits: total(account, period.during.credits),
        debits: total(account, period.during.debits),
        entries,
        reservations: open.iter().map(|transfer| entry(account, transfer, references)).collect(),
    })
}

/// The sums of all transfers up to the end of the period.
fn ending(account: &AccountCode, period: &AccountPeriod) -> Result<Totals, StatementError> {
    period.before.plus(period.during).ok_or_else(|| beyond(account))
}

/// All transfers must add up to the account's row.
fn agree_with_row(
    account: &AccountCode,
    period: &AccountPeriod,
    ending: Totals,
) -> Result<(), StatementError> {
    let all = ending.plus(period.after).ok_or_else(|| beyond(account))?;
    let row = &period.account;
    let folded = (all.debits.reserved, all.debits.booked, all.credits.reserved, all.credits.booked);
    let stored = (row.debits_pending, row.debits_posted, row.credits_pending, row.credits_posted);
    if folded == stored {
        return Ok(());
    }
    Err(disagrees(
        account,
        format!("its transfers add up to {folded:?}, but the account holds {stored:?}"),
    ))
}

/// Count and sum of debits and of credits.
type Listed = [(i64, i64); 2];

fn booked(totals: Totals) -> Listed {
    [totals.debits, totals.credits].map(|side| (side.booked_count, side.booked))
}

fn reserved(totals: Totals) -> Listed {
    [totals.debits, totals.credits].map(|side| (side.reserved_count, side.reserved))
}

/// The listed transfers must match the sums.
fn agree_with_list(
    account: &AccountCode,
    what: &str,
    transfers: &[StoredTransfer],
    summed: Listed,
) -> Result<(), StatementError> {
    let mut listed: Listed = Default::default();
    for transfer in transfers {
        if transfer.amount.currency != account.currency() {
            return Err(disagrees(
                account,
                format!("transfer {} is in {:?}", transfer.id, transfer.amount.currency),
            ));
        }
        let side = if transfer.debit == *account { 0 } else { 1 };
        listed[side].0 += 1;
        listed[side].1 =
            listed[side].1.checked_add(transfer.amount.minor).ok_or_else(|| beyond(account))?;
    }
    if listed == summed {
        return Ok(());
    }
    Err(disagrees(
        account,
        format!("the {what} listed add up to {listed:?}, but their stored sum is {summed:?}"),
    ))
}

fn balance(account: &AccountCode, totals: Totals) -> Result<Balance, StatementError> {
    let (debits, credits) = (totals.debits, totals.credits);
    let booked = credits.booked.checked_sub(debits.booked).ok_or_else(|| beyond(account))?;
    let available = booked.checked_sub(debits.reserved).ok_or_else(|| beyond(account))?;
    let money = |minor| Money::new(minor, account.currency());
    Ok(Balance { booked: money(booked), available: money(available) })
}

fn total(account: &AccountCode, side: SideTotals) -> Total {
    Total {
        count: side.booked_count.unsigned_abs(),
        sum: Money::new(side.booked, account.currency()),
    }
}

fn entry(
    account: &AccountCode,
    transfer: &StoredTransfer,
    references: &HashMap<Uuid, References>,
) -> Entry {
    let (direction, counter) = if transfer.debit == *account {
        (Direction::Debit, &transfer.credit)
    } else {
        (Direction::Credit, &transfer.debit)
    };
    let subject = Subject::of(transfer);
    let known = transfer.subject.and_then(|id| references.get(&id));
    Entry {
        id: transfer.id,
        at: transfer.at,
        direction,
        amount: transfer.amount,
        reason: transfer.reason.clone(),
        purpose: words::purpose(&transfer.reason),
        counter_account: counter.clone(),
        counter_side: words::counter_side(counter),
        subject,
        references: known.cloned().unwrap_or_default(),
    }
}

/// Computes the number described at [`Statement::sequence`].
fn sequence(first: Option<Timestamp>, to: Timestamp) -> u64 {
    const DAY_S: i64 = 86_400;
    let day = |at: Timestamp| at.unix_seconds().div_euclid(DAY_S);
    let last = to - Span(1);
    first.map_or(0, |first| u64::try_from(day(last) - day(first) + 1).unwrap_or(0))
}

fn disagrees(account: &AccountCode, what: String) -> StatementError {
    StatementError::Disagrees { account: account.clone(), what }
}

fn beyond(account: &AccountCode) -> StatementError {
    disagrees(account, "a sum exceeds 64 bits".to_owned())
}
