//! Statements of an account booked by the domain, and of manipulated books.

use std::collections::HashMap;

use domain::currency::{Currency, StableCoin};
use domain::ids::{TenantId, TransferId};
use domain::ledger::{Account, AccountCode, Transfer, TransferKind, book};
use domain::money::Money;
use domain::time::{Span, Timestamp};
use proptest::prelude::*;
use store::{AccountPeriod, References, SideTotals, StoredTransfer, Totals};
use uuid::Uuid;

use super::assemble::{open_counts, statement};
use super::{Direction, Statement, StatementError, Subject, Wanted};

const TENANT: TenantId = TenantId(Uuid::nil());
const DAY: i64 = 86_400_000_000;

fn prefund() -> AccountCode {
    AccountCode::Prefund(StableCoin::Usdt)
}

/// An operation on the account.
#[derive(Clone, Copy, Debug)]
enum Act {
    TopUp(i64),
    Reserve(i64),
    /// Ends one of the open reservations, posted or voided.
    End(usize, bool),
}

fn acts() -> impl Strategy<Value = Vec<(i64, Act)>> {
    let act = prop_oneof![
        (1..1_000_000_i64).prop_map(Act::TopUp),
        (1..200_000_i64).prop_map(Act::Reserve),
        (any::<usize>(), any::<bool>()).prop_map(|(which, paid)| Act::End(which, paid)),
    ];
    proptest::collection::vec((1..DAY / 8, act), 0..60)
}

/// The account as booked by the domain, and every transfer in order.
struct History {
    account: Account,
    transfers: Vec<StoredTransfer>,
    /// Balance and available amount after each instant.
    seen: Vec<(Timestamp, i64, i64)>,
}

fn play(acts: &[(i64, Act)]) -> History {
    let mut other = Account::empty(TENANT, AccountCode::InTransit(StableCoin::Usdt));
    let mut history = History {
        account: Account::empty(TENANT, prefund()),
        transfers: Vec::new(),
        seen: Vec::new(),
    };
    let mut open: Vec<(TransferId, i64)> = Vec::new();
    let mut at = Timestamp(0);
    for (number, (wait, act)) in acts.iter().enumerate() {
        at = at + Span(*wait);
        let id = TransferId(Uuid::from_u128(number as u128 + 1));
        let (minor, kind, pending) = match *act {
            Act::TopUp(minor) => (minor, TransferKind::Posted, None),
            Act::Reserve(minor) => (minor, TransferKind::Pending, None),
            Act::End(..) if open.is_empty() => continue,
            Act::End(which, paid) => {
                let (hold, minor) = open.remove(which % open.len());
                (
                    minor,
                    if paid { TransferKind::PostPending } else { TransferKind::VoidPending },
                    Some(hold),
                )
            }
        };
        let incoming = matches!(act, Act::TopUp(_));
        let legs = (prefund(), other.code.clone());
        let (debit, credit) = if incoming { (legs.1, legs.0) } else { legs };
        let amount = Money::new(minor, Currency::Usdt);
        let reason = if incoming { "prefund.top_up" } else { "payment.post" };
        let transfer = Transfer {
            id,
            tenant: TENANT,
            debit,
            credit,
            amount,
            kind,
            pending,
            set: id,
            reason,
            subject: Some(id.0),
            at,
        };
        let booked = if incoming {
            book(&mut other, &mut history.account, &transfer)
        } else {
            book(&mut history.account, &mut other, &transfer)
        };
        if booked.is_err() {
            continue;
        }
        if kind == TransferKind::Pending {
            open.push((id, minor));
        }
        history.transfers.push(stored(transfer));
        history.seen.push((at, history.account.balance().minor, history.account.available().minor));
    }
    history
}

fn stored(it: Transfer) -> StoredTransfer {
    let Transfer { id, tenant, debit, credit, amount, kind, pending, set, subject, at, .. } = it;
    StoredTransfer {
        id,
        tenant,
        debit,
        credit,
        amount,
        kind,
        pending,
        set,
        reason: it.reason.to_owned(),
        subject,
        at,
    }
}

/// What the store would read.
fn period(
    history: &History,
    (from, to): (Timestamp, Timestamp),
) -> (AccountPeriod, Vec<StoredTransfer>) {
    let mut parts = [Totals::default(); 3];
    let mut movements = Vec::new();
    let mut open: Vec<StoredTransfer> = Vec::new();
    for transfer in &history.transfers {
        let part = usize::from(transfer.at >= from) + usize::from(transfer.at >= to);
        let (booked, reserved) = match transfer.kind {
            TransferKind::Posted => (1, 0),
            TransferKind::Pending => (0, 1),
            TransferKind::PostPending => (1, -1),
            TransferKind::VoidPending => (0, -1),
        };
        let minor = transfer.amount.minor;
        let side = SideTotals {
            booked_count: booked,
            booked: booked * minor,
            reserved_count: reserved,
            reserved: reserved * minor,
        };
        let both = if transfer.debit == prefund() {
            Totals { debits: side, ..Totals::default() }
        } else {
            Totals { credits: side, ..Totals::default() }
        };
        parts[part] = parts[part].plus(both).expect("fits");
        if part == 1 && booked == 1 {
            movements.push(transfer.clone());
        }
        if transfer.at < to {
            match transfer.kind {
                TransferKind::Pending => open.insert(0, transfer.clone()),
                _ => open.retain(|hold| Some(hold.id) != transfer.pending),
            }
        }
    }
    let [before, during, after] = parts;
    let first_at = history.transfers.first().map(|it| it.at);
    (
        AccountPeriod {
            account: history.account.clone(),
            before,
            during,
            after,
            first_at,
            movements,
        },
        open,
    )
}

fn wanted(from: Timestamp, to: Timestamp) -> Wanted {
    let now = to + Span::days(1);
    Wanted { tenant: TENANT, account: prefund(), from, to, now, limit: 1_000, sequence: None }
}

fn make(history: &History, from: Timestamp, to: Timestamp) -> Result<Statement, StatementError> {
    let (period, open) = period(history, (from, to));
    statement(&wanted(from, to), &period, &open, &HashMap::new())
}

fn balances_at(history: &History, at: Timestamp) -> (i64, i64) {
    let last = history.seen.iter().rev().find(|(seen, ..)| *seen < at);
    last.map_or((0, 0), |(_, balance, available)| (*balance, *available))
}

proptest! {
    /// The balances are the account's at both ends, and the listed movements lead from one to the
    /// other.
    #[test]
    fn opening_and_movements_make_the_closing_balance(acts in acts(), from in 0..3 * DAY, length in 1..3 * DAY) {
        let history = play(&acts);
        let (from, to) = (Timestamp(from), Timestamp(from + length));
        let made = make(&history, from, to).expect("the books agree");
        prop_assert_eq!((made.opening.booked.minor, made.opening.available.minor), balances_at(&history, from));
        prop_assert_eq!((made.closing.booked.minor, made.closing.available.minor), balances_at(&history, to));
        let mut running = made.opening.booked.minor;
        for (entry, after) in &made.entries {
            running += if entry.direction == Direction::Credit { entry.amount.minor } else { -entry.amount.minor };
            prop_assert_eq!(running, after.minor);
        }
        prop_assert_eq!(running, made.closing.booked.minor);
        prop_assert_eq!(made.credits.count + made.debits.count, made.entries.len() as u64);
        let reserved: i64 = made.reservations.iter().map(|it| it.amount.minor).sum();
        prop_assert_eq!(made.closing.booked.minor - reserved, made.closing.available.minor);
    }

    /// Two adjacent periods equal one.
    #[test]
    fn adjacent_periods_join(acts in acts(), from in 0..DAY, first in 1..DAY, second in 1..DAY) {
        let history = play(&acts);
        let [from, middle, to] = [from, from + first, from + first + second].map(Timestamp);
        let (one, two) = (make(&history, from, middle).expect("agrees"), make(&history, middle, to).expect("agrees"));
        prop_assert_eq!(one.closing, two.opening);
        let whole = make(&history, from, to).expect("agrees");
        prop_assert_eq!([one.entries, two.entries].concat(), whole.entries);
    }
}

fn some() -> History {
    let acts = [
        (DAY, Act::TopUp(1_000_000)),
        (5, Act::Reserve(300_000)),
        (5, Act::Reserve(200_000)),
        (DAY, Act::End(0, true)),
        (5, Act::TopUp(7)),
    ];
    play(&acts)
}

#[test]
fn manipulated_books_make_no_statement() {
    let history = some();
    let (from, to) = (Timestamp(0), Timestamp(5 * DAY));
    let (right, open) = period(&history, (from, to));
    let wanted = wanted(from, to);
    let refused = |period: &AccountPeriod, open: &[StoredTransfer]| {
        let made = statement(&wanted, period, open, &HashMap::new());
        let Err(StatementError::Disagrees { what, .. }) = made else { panic!("{made:?}") };
        what
    };
    assert!(statement(&wanted, &right, &open, &HashMap::new()).is_ok());
    let mut wrong = right.clone();
    wrong.account.credits_posted += 1;
    assert!(refused(&wrong, &open).starts_with("its transfers add up to"));
    let mut wrong = right.clone();
    wrong.movements.pop();
    assert!(refused(&wrong, &open).starts_with("the movements listed"));
    let mut wrong = right.clone();
    wrong.movements[0].amount.minor += 1;
    assert!(refused(&wrong, &open).starts_with("the movements listed"));
    assert!(refused(&right, &[]).starts_with("the open reservations listed"));
    let mut wrong = right;
    wrong.movements[0].amount.currency = Currency::Usdc;
    assert!(refused(&wrong, &open).contains("is in Usdc"));
}

#[test]
fn numbers_count_days_and_a_late_period_is_final() {
    let history = some();
    let on = |day: i64| {
        make(&history, Timestamp(day * DAY), Timestamp((day + 1) * DAY)).expect("agrees")
    };
    assert_eq!([0, 1, 2, 9].map(|day| on(day).sequence), [0, 1, 2, 9]);
    assert!(on(1).is_final);
    let (from, to) = (Timestamp(0), Timestamp(5 * DAY));
    let (period, open) = period(&history, (from, to));
    let young = Wanted { now: to + Span::secs(59), sequence: Some(77), ..wanted(from, to) };
    let made = statement(&young, &period, &open, &HashMap::new()).expect("agrees");
    assert_eq!((made.is_final, made.sequence), (false, 77));
    assert_eq!(open_counts(&prefund(), &period).expect("fits"), (1, 0));
}

#[test]
fn an_entry_carries_business_labels_and_its_subject() {
    let history = some();
    let (from, to) = (Timestamp(0), Timestamp(5 * DAY));
    let (period, open) = period(&history, (from, to));
    let paid = period.movements[1].subject.expect("an id");
    let known = References { external_id: Some("inv-1".to_owned()), ..References::default() };
    let made = statement(&wanted(from, to), &period, &open, &HashMap::from([(paid, known)]))
        .expect("agrees");
    let shown: Vec<_> = made.entries.iter().map(|(it, _)| (it.purpose, it.counter_side)).collect();
    assert_eq!(
        shown,
        [
            ("Prefunding received", "Payments in transit"),
            ("Payment", "Payments in transit"),
            ("Prefunding received", "Payments in transit")
        ]
    );
    assert_eq!(made.entries[1].0.references.external_id.as_deref(), Some("inv-1"));
    assert_eq!(made.entries[1].0.subject.id(), Some(paid));
    assert_eq!(
        made.entries[0].0.subject,
        Subject::Nothing,
        "a top-up's reason names no kind of record"
    );
    assert_eq!(made.reservations.len(), 1);
}
