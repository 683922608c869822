//! Judges a run from outside only: the public API, the bank's own ledger, and `corridor ledger`.
//! Independent of the service's internals.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use client::PaymentRecord;
use domain::decimal::Decimal;
use domain::ids::PaymentId;
use serde_json::Value;
use testkit::bank::{BookKind, BookLine, Outcome, SimulatedBank, SteerFault};

use super::api::{Api, sequence};
use super::load::{COUNTRIES, Knows, Notes};
use super::rig::{Rig, TENANT};

/// Timeout for everything to complete after the faults end: a lease, two inquiries, and slack for a
/// loaded machine.
const END_AT_MOST: Duration = Duration::from_secs(150);
/// How long one poll waits for news.
const NEWS_WAIT_S: u64 = 1;
/// Maximum number of faults that a failure shows.
const SHOWN_MAX: usize = 20;

/// The result of a run.
#[derive(Debug, Default)]
pub struct Verdict {
    pub payments: usize,
    pub by_status: BTreeMap<String, usize>,
    pub events: usize,
    pub paid: u64,
}

/// Waits until every payment ends as in the bank's ledger, then checks the run's guarantees.
pub async fn judge(rig: &Rig, address: &str, notes: &Notes) -> Verdict {
    let (api, bank) = (&rig.api, &rig.bank);
    let records = all_ended(api, bank, address).await;
    let events = api.all_events(address).await;
    let mut faults = notes.broken.clone();
    faults.extend(promises(notes, &records));
    faults.extend(book(bank, &records));
    faults.extend(history(&events, &records, &notes.seen));
    faults.extend(ledger(rig, &records));
    let shown: Vec<&String> = faults.iter().take(SHOWN_MAX).collect();
    let met = &notes.last_unclear;
    assert!(
        faults.is_empty(),
        "{} promises broken (last unclear write: {met}): {shown:#?}",
        faults.len()
    );
    let mut verdict =
        Verdict { payments: records.len(), events: events.len(), ..Verdict::default() };
    for record in &records {
        *verdict.by_status.entry(status(record).to_owned()).or_default() += 1;
    }
    verdict.paid = paid_in_all(bank);
    verdict
}

fn status(record: &PaymentRecord) -> &str {
    record.response.as_ref().map_or("none", |response| response.status.as_str())
}

fn lines(bank: &SimulatedBank, record: &PaymentRecord) -> Vec<BookLine> {
    let id = PaymentId::parse(&record.id).expect("a payment id");
    bank.book(&id.end_to_end_id()).expect("the bank's book")
}

fn count(lines: &[BookLine], kind: BookKind) -> usize {
    lines.iter().filter(|line| line.kind == kind).count()
}

/// All payments, once each has ended and the bank's ledger agrees.
async fn all_ended(api: &Api, bank: &SimulatedBank, address: &str) -> Vec<PaymentRecord> {
    let begun = Instant::now();
    let mut after = api.all_events(address).await.last().map_or(0, sequence);
    loop {
        let mut records = Vec::new();
        for country in COUNTRIES {
            records.extend(api.payments(address, country.alpha3()).await);
        }
        records.iter().for_each(|record| unstick(bank, record));
        let open: Vec<String> = records.iter().filter_map(|record| unended(bank, record)).collect();
        if open.is_empty() {
            return records;
        }
        if begun.elapsed() >= END_AT_MOST {
            let shown: Vec<&String> = open.iter().take(SHOWN_MAX).collect();
            let ids: Vec<&str> = shown.iter().filter_map(|line| line.split(' ').next()).collect();
            let mut events = api.all_events(address).await;
            events.retain(|event| ids.iter().any(|id| event.to_string().contains(id)));
            let (open, all) = (open.len(), records.len());
            panic!("{open} of {all} have not ended: {shown:#?}, their events: {events:#?}");
        }
        let news = api.events(address, after, NEWS_WAIT_S).await;
        after = news.last().map_or(after, sequence);
    }
}

/// The bank's operator completes what the bank would leave open for ever.
fn unstick(bank: &SimulatedBank, record: &PaymentRecord) {
    let stuck = record.order.text("beneficiary_account_number").ends_with("0005");
    if !stuck || status(record) != "processing" {
        return;
    }
    let id = PaymentId::parse(&record.id).expect("a payment id");
    match bank.steer(&id.end_to_end_id(), Outcome::Settle) {
        // Settled in the meantime: its report is on the way.
        Ok(_) | Err(SteerFault::Illegal { .. }) => {}
        Err(fault) => panic!("the bank does not know {}, which it accepted: {fault}", record.id),
    }
}

/// Why a payment has not ended yet.
fn unended(bank: &SimulatedBank, record: &PaymentRecord) -> Option<String> {
    let lines = lines(bank, record);
    let (paid, returned) = (count(&lines, BookKind::Paid), count(&lines, BookKind::Returned));
    let account = record.order.text("beneficiary_account_number");
    let returns = account.ends_with("0003");
    let ended = match status(record) {
        "succeeded" => paid == 1 && returned == 0 && !returns,
        "reversed" => paid == returned,
        // If the bank has paid, its report arrives and the payment continues.
        "failed" | "rejected" | "unknown" => paid == 0,
        _ => false,
    };
    let words = || {
        format!(
            "{} to {account} is {}, the bank paid {paid}, {returned} came back",
            record.id,
            status(record)
        )
    };
    (!ended).then(words)
}

/// Every success is visible, every refusal has no effect, every unclear write is all or nothing,
/// nothing exists twice.
fn promises(notes: &Notes, records: &[PaymentRecord]) -> Vec<String> {
    let mut faults = Vec::new();
    let (mut found, mut quotes) = (BTreeMap::new(), BTreeSet::new());
    for record in records {
        let external_id = record.order.text("external_id");
        if !notes.asked.contains_key(&external_id) {
            faults.push(format!(
                "{} has the external_id {external_id:?}, which no client sent",
                record.id
            ));
        }
        if let Some(other) = found.insert(external_id.clone(), record.id.clone()) {
            faults.push(format!("{external_id} is there twice: {other} and {}", record.id));
        }
        if !quotes.insert(&record.quote.id) {
            faults.push(format!("quote {} was used twice", record.quote.id));
        }
    }
    for (external_id, asked) in &notes.asked {
        match (&asked.knows, found.get(external_id)) {
            (Knows::Exists(id), Some(there)) if id == there => {}
            (Knows::Exists(id), other) => {
                faults.push(format!("{external_id} was accepted as {id}, found {other:?}"))
            }
            (Knows::Refused(why), Some(id)) => {
                faults.push(format!("{external_id} was refused ({why}) and is {id}"))
            }
            (Knows::Refused(_), None) | (Knows::Unclear, _) => {}
        }
    }
    faults
}

/// The bank paid each payment at most once, as ordered, and nothing else.
fn book(bank: &SimulatedBank, records: &[PaymentRecord]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut known = 0;
    for record in records {
        let lines = lines(bank, record);
        known += count(&lines, BookKind::Paid) as u64;
        if count(&lines, BookKind::Paid) > 1 {
            faults.push(format!("{} was paid more than once: {lines:?}", record.id));
        }
        let ordered = record.response.as_ref().and_then(|response| response.amount.clone());
        let ordered = ordered.and_then(|amount| amount.to_string().parse::<Decimal>().ok());
        for line in &lines {
            let account = record.order.text("beneficiary_account_number");
            if Some(line.amount.decimal()) != ordered || *line.account != account {
                faults.push(format!(
                    "{} ordered {ordered:?} to {account}, the bank moved {line:?}",
                    record.id
                ));
            }
        }
    }
    let totals = bank.book_totals().expect("the bank's book");
    if totals.paid_again != 0 {
        faults.push(format!("the bank paid {} times what it had paid already", totals.paid_again));
    }
    if paid_in_all(bank) != known {
        faults.push(format!(
            "the bank paid {} orders, the service knows of {known}",
            paid_in_all(bank)
        ));
    }
    faults
}

fn paid_in_all(bank: &SimulatedBank) -> u64 {
    bank.book_totals().expect("the bank's book").rails.values().map(|sums| sums.paid).sum()
}

/// The transitions of `docs/states.md`, one event each; "" is the initial state.
const MOVES: [(&str, &[&str]); 5] = [
    ("", &["queued"]),
    ("queued", &["processing", "rejected", "unknown"]),
    ("processing", &["succeeded", "failed", "reversed", "unknown"]),
    ("unknown", &["processing", "succeeded", "failed", "reversed"]),
    ("succeeded", &["reversed"]),
];

/// The log has no gaps and contains every transition of every payment, including all that clients
/// observed.
fn history(
    events: &[Value],
    records: &[PaymentRecord],
    seen: &BTreeMap<String, Vec<String>>,
) -> Vec<String> {
    let mut faults = Vec::new();
    let mut paths: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (place, event) in events.iter().enumerate() {
        let expected = i64::try_from(place).expect("a place") + 1;
        if sequence(event) != expected {
            faults.push(format!("the event at place {expected} has seq {}", event["seq"]));
            break;
        }
        let (kind, data) = (event["type"].as_str().unwrap_or_default(), &event["data"]);
        let Some(told) = kind.strip_prefix("payment.").filter(|told| *told != "updated") else {
            continue;
        };
        if data["response"]["status"] != told {
            faults
                .push(format!("seq {expected} is {kind} and shows {}", data["response"]["status"]));
        }
        paths.entry(data["id"].as_str().unwrap_or_default()).or_default().push(told);
    }
    for (id, path) in &paths {
        let mut from = "";
        for to in path {
            if !MOVES.iter().any(|(state, next)| *state == from && next.contains(to)) {
                faults.push(format!("{id} went {path:?}"));
                break;
            }
            from = to;
        }
    }
    for record in records {
        let path = paths.remove(record.id.as_str()).unwrap_or_default();
        if path.last() != Some(&status(record)) {
            faults.push(format!("{} is {}, its events say {path:?}", record.id, status(record)));
        }
        let untold = seen
            .get(&record.id)
            .into_iter()
            .flatten()
            .find(|status| !path.contains(&status.as_str()));
        if let Some(untold) = untold {
            faults.push(format!("{} was seen {untold}, its events say {path:?}", record.id));
        }
    }
    faults.extend(paths.keys().map(|id| format!("there are events of {id}, which no list has")));
    faults
}

/// The books are consistent, and match the payments.
fn ledger(rig: &Rig, records: &[PaymentRecord]) -> Vec<String> {
    let verify = rig.installation.run(&["ledger", "verify"]);
    let mut faults = Vec::new();
    if verify.code != 0 {
        faults.push(format!("ledger verify: {}{}", verify.stdout, verify.stderr));
    }
    let balances = rig.installation.json(&["ledger", "trial-balance", "--tenant", TENANT]);
    let minor = |row: &Value, name: &str| row[name].as_i64().expect("minor units");
    for rail in super::rig::RAILS {
        let (mut net, head) = (0, format!("nostro:{}:", rail.id));
        for record in records.iter().filter(|record| status(record) == "succeeded") {
            let paid = lines(&rig.bank, record).into_iter().find(|line| *line.rail == *rail.id);
            net += paid.map_or(0, |line| line.amount.minor);
        }
        let row = balances
            .iter()
            .find(|row| row["account"].as_str().is_some_and(|code| code.starts_with(&head)));
        let booked = row.map_or(0, |row| {
            minor(row, "debits_posted_minor") - minor(row, "credits_posted_minor")
        });
        if booked.abs() != net {
            faults.push(format!(
                "the books say {booked} of {}, the bank {net}, in minor units",
                rail.id
            ));
        }
    }
    faults
}
