//! Finds the broken promises of a run in what is known from outside: the clients' history, the public
//! APIs, the bank's book, the chain and the endpoint. Pure, so that its own tests can hand it every
//! violation.

use std::collections::{BTreeMap, BTreeSet};

use crate::book::Booking;
use crate::history::{About, Act, Entry, Outcome};

/// What was found after everything had come to rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    pub history: Vec<Entry>,
    pub payments: Vec<Payment>,
    pub orders: Vec<Order>,
    /// The payment service's log.
    pub events: Vec<Event>,
    /// The wallet service's log.
    pub wallet_events: Vec<Event>,
    pub bookings: Vec<Booking>,
    /// `(subject, type)` of what the endpoint accepted; `None` if there is no endpoint.
    pub received: Option<BTreeSet<(String, String)>>,
    pub prefund: Option<Prefund>,
    /// The ledger's balance per rail, in minor units.
    pub nostros: BTreeMap<String, i64>,
    pub wallets: Vec<Wallet>,
    /// What the program's own checks of its books found wrong.
    pub self_checks: Vec<String>,
}

/// A payment as the API lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payment {
    pub id: String,
    pub end_to_end_id: String,
    pub external_id: String,
    pub quote: String,
    pub status: String,
    pub account: String,
    /// In minor units of the destination's currency.
    pub minor: i64,
    /// What the prefund is debited, and the part of it that is not returned with the payment, in minor
    /// units of its coin.
    pub debit_minor: i64,
    pub fee_minor: i64,
    pub members: BTreeMap<String, String>,
}

/// An exchange order as the API lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    pub id: String,
    pub end_to_end_id: String,
    pub wallet: String,
    pub status: String,
    /// In minor units of the token.
    pub from_minor: i64,
    /// In minor units of the payout's currency.
    pub to_minor: i64,
    /// Whether it waits for a reviewer, because its outcome is unknown.
    pub in_review: bool,
}

/// An entry of an event log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    pub seq: i64,
    pub kind: String,
    pub subject: String,
    /// The status that it shows; empty if its kind has none.
    pub status: String,
}

/// A tenant's prefund, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prefund {
    pub topped_up: i64,
    pub balance: i64,
    /// Part of the balance, for payments that have not ended.
    pub reserved: i64,
}

/// A customer's wallet, in minor units of its token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wallet {
    pub id: String,
    /// According to the API.
    pub balance: i64,
    /// According to the chain.
    pub on_chain: i64,
    /// What was paid to its escrows, by transaction on the chain.
    pub paid_in: BTreeMap<String, i64>,
    /// What the API lists as completed, by transaction on the chain.
    pub listed: Vec<(String, i64)>,
    /// What is left in its escrows.
    pub left_in_escrow: i64,
}

/// The transitions of `docs/states.md`, one event each; "" is the initial state.
const MOVES: [(&str, &[&str]); 5] = [
    ("", &["queued"]),
    ("queued", &["processing", "rejected", "unknown", "reversed"]),
    ("processing", &["succeeded", "failed", "reversed", "unknown"]),
    ("unknown", &["processing", "succeeded", "failed", "reversed"]),
    ("succeeded", &["reversed"]),
];
/// How a good order may be refused: it came too late, or too soon.
const GOOD_REFUSALS: [&str; 2] = ["quote_expired", "429"];
/// How a repeat with another body is refused.
const CONFLICTS: [&str; 3] = ["external_id_conflict", "idempotency_mismatch", "Idempotency-Key"];
/// Answers that say nothing about the request itself.
const NOT_NOW: [&str; 2] = ["429", "408"];

/// Every broken promise, in words.
pub fn check(evidence: &Evidence) -> Vec<String> {
    let mut broken = evidence.self_checks.clone();
    broken.extend(refusals(&evidence.history));
    broken.extend(promises(evidence));
    broken.extend(repeats(&evidence.history));
    broken.extend(at_the_bank(evidence));
    broken.extend(logs(evidence));
    broken.extend(reads(evidence));
    broken.extend(endpoint(evidence));
    broken.extend(totals(evidence));
    broken.extend(wallets(evidence));
    broken
}

/// Good requests are not refused.
fn refusals(history: &[Entry]) -> Vec<String> {
    let good = |entry: &&Entry| {
        matches!(entry.about, About::Quote | About::Payment) && entry.act == Act::Create
    };
    let why = |entry: &Entry| entry.why.clone().unwrap_or_default();
    let refused = history.iter().filter(good).filter(|entry| entry.outcome == Outcome::Fail);
    let refused = refused.filter(|it| !GOOD_REFUSALS.iter().any(|code| why(it).contains(code)));
    refused
        .map(|it| format!("a good {:?} {:?} was refused: {}", it.about, it.key, why(it)))
        .collect()
}

/// Every success is visible and unchanged, every refusal has no effect, every unclear write is all or
/// nothing, nothing exists twice.
fn promises(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    let (mut found, mut quotes) = (BTreeMap::new(), BTreeSet::new());
    for payment in &evidence.payments {
        if let Some(other) = found.insert(payment.external_id.as_str(), payment) {
            let external_id = &payment.external_id;
            broken.push(format!("{external_id} is there twice: {} and {}", other.id, payment.id));
        }
        if !quotes.insert(&payment.quote) {
            broken.push(format!("quote {} was used twice", payment.quote));
        }
    }
    let orders: BTreeMap<&str, &Order> =
        evidence.orders.iter().map(|order| (order.id.as_str(), order)).collect();
    let by_key = writes_by_key(&evidence.history);
    for payment in &evidence.payments {
        let Some(writes) = by_key.get(&(About::Payment, payment.external_id.as_str())) else {
            broken.push(format!(
                "{} has the external_id {:?}, which no client sent",
                payment.id, payment.external_id
            ));
            continue;
        };
        // All or nothing, whichever of the bodies it was.
        let is_one_of_them = writes.iter().any(|write| unchanged(&write.sent, &payment.members));
        if !is_one_of_them {
            broken.push(format!("{} is none of the orders sent: {payment:?}", payment.external_id));
        }
        if writes.iter().all(|write| write.outcome == Outcome::Fail && write.id.is_none()) {
            broken.push(format!(
                "{} was refused ({:?}) and is {}",
                payment.external_id, writes[0].why, payment.id
            ));
        }
    }
    for ((about, key), writes) in &by_key {
        let ids: BTreeSet<&str> = writes.iter().filter_map(|write| write.id.as_deref()).collect();
        if ids.len() > 1 {
            broken.push(format!("{key} was answered with several ids: {ids:?}"));
        }
        for write in writes.iter().filter(|write| write.id.is_some()) {
            let id = write.id.as_deref().unwrap_or_default();
            match about {
                About::Payment => match found.get(key) {
                    Some(there) if there.id == id => {
                        let is_changed =
                            write.outcome == Outcome::Ok && !unchanged(&write.sent, &there.members);
                        if is_changed {
                            broken.push(format!(
                                "{key} was accepted as {:?}, is {there:?}",
                                write.sent
                            ));
                        }
                    }
                    other => broken.push(format!(
                        "{key} was accepted as {id}, found {:?}",
                        other.map(|payment| &payment.id)
                    )),
                },
                About::Order => {
                    let amount = orders.get(id).map(|order| order.from_minor.to_string());
                    if amount.as_ref() != write.sent.get("amount") {
                        broken.push(format!(
                            "order {key} was accepted as {id} with {:?}, found {amount:?}",
                            write.sent
                        ));
                    }
                }
                About::Request | About::Quote => {}
            }
        }
    }
    broken.extend(unsent_orders(evidence, &by_key));
    broken
}

/// No more orders exist than keys that may have made one.
fn unsent_orders(
    evidence: &Evidence,
    by_key: &BTreeMap<(About, &str), Vec<&Entry>>,
) -> Option<String> {
    let possible = by_key
        .iter()
        .filter(|((about, _), _)| *about == About::Order)
        .filter(|(_, writes)| writes.iter().any(|write| write.outcome != Outcome::Fail))
        .count();
    let there = evidence.orders.len();
    (there > possible).then(|| format!("{there} orders exist, at most {possible} were made"))
}

fn writes_by_key(history: &[Entry]) -> BTreeMap<(About, &str), Vec<&Entry>> {
    let mut by_key: BTreeMap<(About, &str), Vec<&Entry>> = BTreeMap::new();
    let keyed = |entry: &&Entry| entry.is_write() && entry.about != About::Quote;
    for entry in history.iter().filter(keyed) {
        by_key.entry((entry.about, entry.key.as_str())).or_default().push(entry);
    }
    by_key
}

fn unchanged(sent: &BTreeMap<String, String>, there: &BTreeMap<String, String>) -> bool {
    sent.iter().all(|(name, value)| there.get(name) == Some(value))
}

/// A repeat after a success gets the same answer or a conflict; one with another body a conflict.
fn repeats(history: &[Entry]) -> Vec<String> {
    let mut broken = Vec::new();
    for ((_, key), writes) in writes_by_key(history) {
        for (at, write) in writes.iter().enumerate().filter(|(_, write)| write.act != Act::Create) {
            let earlier = writes[..at]
                .iter()
                .find(|first| first.outcome == Outcome::Ok && first.to_ms <= write.from_ms);
            let Some(earlier) = earlier else { continue };
            let why = write.why.as_deref().unwrap_or_default();
            let is_conflict = CONFLICTS.iter().any(|code| why.contains(code));
            let is_later = NOT_NOW.iter().any(|status| why.starts_with(status));
            match write.outcome {
                Outcome::Ok if earlier.sent != write.sent => {
                    broken.push(format!("{key} with another body was accepted: {write:?}"));
                }
                Outcome::Fail if !is_conflict && !is_later => {
                    broken
                        .push(format!("{key} was repeated and refused without a conflict: {why}"));
                }
                Outcome::Ok | Outcome::Fail | Outcome::Unknown => {}
            }
        }
    }
    broken
}

/// The bank paid each payment and order at most once, as ordered, and nothing else.
fn at_the_bank(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    let mut by_id: BTreeMap<&str, Vec<&Booking>> = BTreeMap::new();
    for booking in &evidence.bookings {
        by_id.entry(&booking.end_to_end_id).or_default().push(booking);
    }
    let paid = |id: &str| {
        let all = by_id.get(id).into_iter().flatten();
        (all.clone().filter(|it| !it.is_return).count(), all.filter(|it| it.is_return).count())
    };
    let mut known = BTreeSet::new();
    for payment in &evidence.payments {
        known.insert(payment.end_to_end_id.as_str());
        let (times, returns) = paid(&payment.end_to_end_id);
        if times > 1 {
            broken.push(format!(
                "{} was paid {times} times: {:?}",
                payment.id, by_id[&*payment.end_to_end_id]
            ));
        }
        let fits = match payment.status.as_str() {
            "succeeded" => times == 1 && returns == 0,
            "reversed" => times == returns,
            "failed" | "rejected" | "unknown" => times == 0,
            _ => false,
        };
        if !fits {
            let status = &payment.status;
            broken.push(format!(
                "{} to {} is {status}, the bank paid {times} and {returns} came back",
                payment.id, payment.account
            ));
        }
        for booking in by_id.get(payment.end_to_end_id.as_str()).into_iter().flatten() {
            if (booking.minor, &booking.account) != (payment.minor, &payment.account) {
                broken.push(format!("{payment:?} was ordered, the bank moved {booking:?}"));
            }
        }
    }
    for order in &evidence.orders {
        known.insert(order.end_to_end_id.as_str());
        let (times, returns) = paid(&order.end_to_end_id);
        let fits = match order.status.as_str() {
            "SETTLED" => times == 1 && returns == 0,
            "FAILED" => times == returns,
            "PROCESSING" => order.in_review && times == 0,
            _ => false,
        };
        if times > 1 || !fits {
            let status = &order.status;
            broken.push(format!(
                "order {} is {status}, the bank paid {times}, {returns} came back",
                order.id
            ));
        }
        for booking in by_id.get(order.end_to_end_id.as_str()).into_iter().flatten() {
            if booking.minor != order.to_minor {
                broken.push(format!("{order:?} was ordered, the bank moved {booking:?}"));
            }
        }
    }
    let strange = by_id.keys().find(|id| !known.contains(**id));
    broken.extend(strange.map(|id| format!("the bank paid {id}, which the service does not list")));
    broken
}

/// The logs have no gaps and hold every transition of every payment.
fn logs(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    for (name, log) in [("payment", &evidence.events), ("wallet", &evidence.wallet_events)] {
        let gap = (1_i64..).zip(log).find(|(place, event)| event.seq != *place);
        broken.extend(gap.map(|(place, event)| {
            format!("the {name} event at place {place} has seq {}", event.seq)
        }));
    }
    let mut paths = paths(&evidence.events);
    for event in evidence.events.iter().filter(|event| is_transition(event)) {
        if event.kind.strip_prefix("payment.") != Some(&event.status) {
            broken.push(format!("seq {} is {} and shows {}", event.seq, event.kind, event.status));
        }
    }
    for (id, path) in &paths {
        let states = [""].into_iter().chain(path.iter().copied());
        if states.zip(path).any(|(from, to)| !next(from).contains(to)) {
            broken.push(format!("{id} went {path:?}"));
        }
    }
    for payment in &evidence.payments {
        let path = paths.remove(payment.id.as_str()).unwrap_or_default();
        if path.last() != Some(&payment.status.as_str()) {
            broken.push(format!("{} is {}, its events say {path:?}", payment.id, payment.status));
        }
    }
    broken.extend(paths.keys().map(|id| format!("there are events of {id}, which no list has")));
    broken
}

fn is_transition(event: &Event) -> bool {
    event.kind.starts_with("payment.") && event.kind != "payment.updated"
}

/// The states of each payment, from its events.
fn paths(events: &[Event]) -> BTreeMap<&str, Vec<&str>> {
    let mut paths: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for event in events.iter().filter(|event| is_transition(event)) {
        paths.entry(&event.subject).or_default().push(&event.kind["payment.".len()..]);
    }
    paths
}

fn next(state: &str) -> &'static [&'static str] {
    MOVES.iter().find(|(from, _)| *from == state).map_or(&[], |(_, to)| *to)
}

/// Whether a state can follow another one, after any number of moves.
fn can_follow(later: &str, earlier: &str) -> bool {
    let (mut reached, mut open) = (BTreeSet::from([earlier]), vec![earlier]);
    while let Some(state) = open.pop() {
        open.extend(next(state).iter().filter(|to| reached.insert(to)));
    }
    reached.contains(later)
}

/// What clients saw was true, and never went back.
fn reads(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    let paths = paths(&evidence.events);
    let mut seen: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in
        evidence.history.iter().filter(|entry| entry.about == About::Payment && !entry.is_write())
    {
        match (entry.outcome, &entry.id, &entry.state) {
            (Outcome::Ok, Some(id), Some(_)) => seen.entry(id).or_default().push(entry),
            (Outcome::Fail, ..) => broken.push(format!(
                "{} had been accepted and was answered with {:?}",
                entry.key, entry.why
            )),
            _ => {}
        }
    }
    for (id, reads) in &seen {
        let state = |entry: &Entry| entry.state.clone().unwrap_or_default();
        let path = paths.get(id).cloned().unwrap_or_default();
        let untold = reads.iter().find(|read| !path.contains(&state(read).as_str()));
        broken.extend(
            untold.map(|read| format!("{id} was seen {}, its events say {path:?}", state(read))),
        );
        let back = reads.iter().find_map(|later| {
            let before = |earlier: &&&Entry| earlier.to_ms < later.from_ms;
            let earlier =
                reads.iter().filter(before).find(|it| !can_follow(&state(later), &state(it)));
            earlier.map(|earlier| (state(earlier), state(later)))
        });
        broken.extend(back.map(|(from, to)| format!("{id} was seen {from}, and {to} after that")));
    }
    broken
}

/// The endpoint was sent every transition of every payment, all that clients saw among them.
fn endpoint(evidence: &Evidence) -> Vec<String> {
    let Some(received) = &evidence.received else { return Vec::new() };
    let all = evidence.events.iter().filter(|event| is_transition(event));
    let all = all.chain(&evidence.wallet_events);
    all.filter(|event| !received.contains(&(event.subject.clone(), event.kind.clone())))
        .map(|event| format!("the endpoint was not sent {} of {}", event.kind, event.subject))
        .collect()
}

/// Money is neither made nor lost: the bank's payments, the prefund and the ledger agree.
fn totals(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    let mut at_bank: BTreeMap<&str, i64> = BTreeMap::new();
    for booking in &evidence.bookings {
        let sign = if booking.is_return { -1 } else { 1 };
        *at_bank.entry(&booking.rail).or_default() += sign * booking.minor;
    }
    for (rail, booked) in &evidence.nostros {
        let there = at_bank.get(rail.as_str()).copied().unwrap_or(0);
        if booked.abs() != there {
            broken.push(format!(
                "the ledger says {booked} of {rail}, the bank {there}, in minor units"
            ));
        }
    }
    if let Some(prefund) = evidence.prefund {
        let paths = paths(&evidence.events);
        let (mut spent, mut reserved) = (0, 0);
        for payment in &evidence.payments {
            let path = paths.get(payment.id.as_str());
            match payment.status.as_str() {
                "succeeded" => spent += payment.debit_minor,
                // What came back after it had been paid has cost its fee.
                "reversed" if path.is_some_and(|path| path.contains(&"succeeded")) => {
                    spent += payment.fee_minor;
                }
                // What is unknown stays reserved until a reviewer decides.
                "unknown" => reserved += payment.debit_minor,
                _ => {}
            }
        }
        if (prefund.topped_up - spent, reserved) != (prefund.balance, prefund.reserved) {
            broken.push(format!(
                "the prefund was {prefund:?}, payments took {spent} and wait for {reserved}"
            ));
        }
    }
    broken
}

/// Each deposit counts once, each order is debited once, and the chain has what the API says.
fn wallets(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    for wallet in &evidence.wallets {
        let mut listed: BTreeMap<&str, i64> = BTreeMap::new();
        for (transaction, minor) in &wallet.listed {
            *listed.entry(transaction).or_default() += minor;
        }
        for (transaction, paid) in &wallet.paid_in {
            let there = listed.remove(transaction.as_str()).unwrap_or(0);
            if there != *paid {
                broken.push(format!("{paid} was paid by {transaction}, the wallet got {there}"));
            }
        }
        broken.extend(listed.keys().map(|it| format!("{it} counts and was never paid")));
        let mine = evidence.orders.iter().filter(|order| order.wallet == wallet.id);
        let debited: i64 =
            mine.filter(|order| order.status != "FAILED").map(|order| order.from_minor).sum();
        let expected = wallet.paid_in.values().sum::<i64>() - debited;
        if (wallet.balance, wallet.on_chain) != (expected, expected) {
            let (balance, chain) = (wallet.balance, wallet.on_chain);
            broken.push(format!(
                "{} should have {expected}: the API says {balance}, the chain {chain}",
                wallet.id
            ));
        }
        if wallet.left_in_escrow != 0 {
            broken.push(format!("{} of {} is left in escrow", wallet.left_in_escrow, wallet.id));
        }
    }
    broken
}
