//! The payments that are copied, with everything that belongs to them, as the store has them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::Context as _;
use domain::attempt::Attempt;
use domain::event::Event;
use domain::ids::{PaymentId, TenantId};
use domain::ledger::Transfer;
use domain::rail::RailId;
use futures_util::{StreamExt as _, TryStreamExt as _};
use store::{EventSubject, Record, Store, StoredTransfer};

use crate::installation::Installation;

/// Events or transfers read at once.
const PAGE: usize = 2_000;
/// Payments whose attempts are read concurrently.
const READS: usize = 8;

/// A payment that was made over the API, with all of its rows.
#[derive(Debug)]
pub(super) struct Template {
    /// Index of the tenant.
    pub(super) tenant: usize,
    pub(super) record: Record,
    pub(super) attempts: Vec<Attempt>,
    pub(super) transfers: Vec<Transfer>,
    /// Events of the payment and its quote. Each number is the place among the tenant's, from 1.
    pub(super) events: Vec<Event>,
}

/// A message to a rail, by its id.
type Message = (RailId, Option<String>);
/// Attempts in a message, each by the indexes of its payment and of the attempt there.
type Places = Vec<(usize, usize)>;
/// A message that was sent.
pub(super) type Sent = (Message, Places);

pub(super) struct Templates {
    pub(super) payments: Vec<Template>,
    pub(super) messages: Vec<Sent>,
    /// By tenant: the number of events of these payments.
    pub(super) events: Vec<i64>,
}

impl Templates {
    /// Reads all payments of the installation's tenants.
    pub(super) async fn read(installation: &Installation) -> anyhow::Result<Templates> {
        let store = &installation.store;
        let (mut payments, mut events) = (Vec::new(), Vec::new());
        let mut reasons = BTreeSet::new();
        for (tenant, funded) in installation.tenants.iter().enumerate() {
            let (found, count) = of_tenant(store, tenant, funded.tenant.id, &mut reasons).await?;
            payments.extend(found);
            events.push(count);
        }
        anyhow::ensure!(!payments.is_empty(), "no payment was made that could be copied");
        let attempts: Vec<Vec<(Attempt, Option<String>)>> =
            futures_util::stream::iter(payments.iter().map(|it| attempts_of(store, it)))
                .buffered(READS)
                .try_collect()
                .await?;
        let mut messages: BTreeMap<Message, Places> = BTreeMap::new();
        for (at, attempts) in attempts.into_iter().enumerate() {
            for (nth, (attempt, message)) in attempts.into_iter().enumerate() {
                messages.entry((attempt.rail.clone(), message)).or_default().push((at, nth));
                payments[at].attempts.push(attempt);
            }
        }
        Ok(Templates { payments, messages: messages.into_iter().collect(), events })
    }
}

/// The attempts of a payment, each with the message that carried it.
async fn attempts_of(
    store: &Store,
    of: &Template,
) -> anyhow::Result<Vec<(Attempt, Option<String>)>> {
    let payment = &of.record.payment;
    let mut found = Vec::new();
    for attempt in store.attempts(payment.tenant, payment.id).await.context("attempts")? {
        let message = store.message_of(attempt.id, &attempt.rail).await.context("a message")?;
        found.push((attempt, message));
    }
    Ok(found)
}

/// A tenant's payments without their attempts, and the number of their events.
async fn of_tenant(
    store: &Store,
    index: usize,
    tenant: TenantId,
    reasons: &mut BTreeSet<&'static str>,
) -> anyhow::Result<(Vec<Template>, i64)> {
    let (mut payments, mut events) = (BTreeMap::new(), Vec::new());
    let mut after = 0;
    loop {
        let page = store.events_after(tenant, after, PAGE).await.context("reading events")?;
        let is_last = page.len() < PAGE;
        for told in page {
            after = told.event.seq;
            let payment = match told.subject {
                EventSubject::Quote(quote) => quote.payment,
                EventSubject::Payment(record) => {
                    let id = record.payment.id;
                    payments.entry(id).or_insert(*record);
                    Some(id)
                }
            };
            events.extend(payment.map(|payment| (payment, told.event)));
        }
        if is_last {
            break;
        }
    }
    let mut of_payment: HashMap<PaymentId, Vec<Event>> = HashMap::new();
    let mut count = 0;
    for (payment, event) in events {
        count += 1;
        of_payment.entry(payment).or_default().push(Event { seq: count, ..event });
    }
    let mut transfers = transfers_of(store, tenant, reasons).await?;
    let template = |(id, record): (PaymentId, Record)| Template {
        tenant: index,
        record,
        attempts: Vec::new(),
        transfers: transfers.remove(&id).unwrap_or_default(),
        events: of_payment.remove(&id).unwrap_or_default(),
    };
    Ok((payments.into_iter().map(template).collect(), count))
}

/// The transfers of a tenant's payments.
async fn transfers_of(
    store: &Store,
    tenant: TenantId,
    reasons: &mut BTreeSet<&'static str>,
) -> anyhow::Result<HashMap<PaymentId, Vec<Transfer>>> {
    let (mut found, mut after): (HashMap<_, Vec<Transfer>>, _) = (HashMap::new(), None);
    loop {
        let page = store.transfers(tenant, after, PAGE).await.context("reading transfers")?;
        after = page.last().map(|last| last.id);
        let is_last = page.len() < PAGE;
        for transfer in page {
            if let Some(subject) = transfer.subject {
                let of = found.entry(PaymentId(subject)).or_default();
                of.push(as_booked(transfer, reasons));
            }
        }
        if is_last {
            return Ok(found);
        }
    }
}

fn as_booked(stored: StoredTransfer, reasons: &mut BTreeSet<&'static str>) -> Transfer {
    let StoredTransfer { id, tenant, debit, credit, amount, kind, pending, set, .. } = stored;
    // There are a handful of reasons, so that little is leaked.
    let reason = reasons.get(stored.reason.as_str()).copied().unwrap_or_else(|| {
        let reason: &'static str = stored.reason.leak();
        reasons.insert(reason);
        reason
    });
    let (subject, at) = (stored.subject, stored.at);
    Transfer { id, tenant, debit, credit, amount, kind, pending, set, reason, subject, at }
}
