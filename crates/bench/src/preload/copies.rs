//! Copies of payments: the same rows with other ids and times, saved as batches.

use std::collections::BTreeMap;

use anyhow::Context as _;
use domain::attempt::Attempt;
use domain::event::Event;
use domain::ids::{AttemptId, BatchId, PaymentId, QuoteId, TransferId};
use domain::ledger::{Account, AccountCode, Transfer, TransferKind};
use domain::order::Order;
use domain::payment::{Payment, PaymentSnapshot};
use domain::ports::Clock as _;
use domain::quote::Quote;
use domain::time::Span;
use service::clock::WallClock;
use store::working_set::{Head, WorkingSet};
use store::{Record, SentMessage, Store};
use uuid::Uuid;

use super::templates::{Template, Templates};
use crate::installation::Installation;
use crate::load::Sample;
use crate::orders::{self, Numbers};

/// Payments saved at once.
const BATCH: usize = 500;
/// Digits of a message's id before the number of its attempts.
const MESSAGE_DIGITS: usize = 24;

/// The copies of all templates.
pub(super) struct Copies<'a> {
    installation: &'a Installation,
    templates: &'a Templates,
    count: u64,
    /// Interval between two copies.
    step: Span,
    /// The heads as they are, in the tenants' order.
    heads: Vec<Head>,
    numbers: Numbers,
}

/// One copy of all templates.
#[derive(Clone)]
struct Copy<'a> {
    store: &'a Store,
    /// How much later than the template its payments were made: less than nothing.
    by: Span,
    /// Number of its first payment, among all copies.
    first: u64,
    /// By tenant: the number of the last event before.
    seqs: Vec<i64>,
    numbers: Numbers,
}

impl<'a> Copies<'a> {
    /// `count` copies of each template, evenly over a period that ends with the templates.
    pub(super) async fn new(
        installation: &'a Installation,
        templates: &'a Templates,
        count: u64,
        spread: Span,
    ) -> anyhow::Result<Copies<'a>> {
        let store = &installation.store;
        let mut heads = Vec::new();
        for funded in &installation.tenants {
            let tenant = funded.tenant.id;
            let payment_seq = store.event_head(tenant).await.context("reading a head")?;
            let wallet_seq = store.wallet_event_head(tenant).await.context("reading a head")?;
            heads.push(Head { payment_seq, wallet_seq, payment_webhooks: false });
        }
        let millis = spread.0 / 1_000 / i64::try_from(count)?.max(1);
        let (step, numbers) = (Span::millis(millis.max(1)), Numbers::fresh()?);
        Ok(Copies { installation, templates, count, step, heads, numbers })
    }

    /// Saves copy `nth`, the earliest one first, and returns samples of it. Accounts and heads follow
    /// in [`Copies::close`].
    pub(super) async fn save(&self, nth: u64, samples: usize) -> anyhow::Result<Vec<Sample>> {
        let Templates { payments, messages, events } = self.templates;
        let later = i64::try_from(self.count - nth)?;
        let before = |(head, events): (&Head, &i64)| {
            Some(head.payment_seq + events * i64::try_from(nth).ok()?)
        };
        let mut copy = Copy {
            store: &self.installation.store,
            by: Span(-self.step.0 * later),
            first: nth * payments.len() as u64,
            seqs: self.heads.iter().zip(events).filter_map(before).collect(),
            numbers: self.numbers.nth(nth),
        };
        let every = payments.len().div_ceil(samples.max(1)).max(1);
        let mut sampled = Vec::with_capacity(samples);
        for (chunk, some) in payments.chunks(BATCH).enumerate() {
            let mut rows = WorkingSet::new(WallClock.now());
            for (at, template) in some.iter().enumerate() {
                let at = chunk * BATCH + at;
                let sample = copy.add(template, at, &mut rows);
                sampled.extend((samples > 0 && at.is_multiple_of(every)).then_some(sample));
            }
            rows.keep();
            copy.commit(rows).await?;
        }
        copy.keep_sent(payments, messages).await?;
        Ok(sampled)
    }

    /// Brings accounts and heads up to date with all copies.
    pub(super) async fn close(&self) -> anyhow::Result<()> {
        let store = &self.installation.store;
        let times = i64::try_from(self.count)?;
        for (index, funded) in self.installation.tenants.iter().enumerate() {
            let tenant = funded.tenant.id;
            let of_tenant = self.templates.payments.iter().filter(|it| it.tenant == index);
            let added =
                sums(of_tenant.flat_map(|it| &it.transfers)).context("a sum of transfers")?;
            let mut rows = WorkingSet::new(WallClock.now());
            for account in store.accounts(tenant).await.context("reading the accounts")? {
                if let Some(sums) = added.get(&account.code) {
                    let key = (tenant, account.code.clone());
                    let sum = plus(&account, sums, times).context("an account's sum")?;
                    rows.accounts.load(key.clone(), account);
                    rows.accounts.put(key, sum);
                }
            }
            let head = self.heads[index];
            let payment_seq = head.payment_seq + self.templates.events[index] * times;
            rows.heads.load(tenant, head);
            rows.heads.put(tenant, Head { payment_seq, ..head });
            rows.keep();
            let batch = BatchId(engine::batcher::fresh_id(store));
            store.save(batch, rows).await.context("saving the accounts of the copies")?;
        }
        Ok(())
    }
}

impl Copy<'_> {
    fn moved(&self, id: Uuid) -> Uuid {
        self.store.moved_id(id, self.by)
    }

    /// Adds the copy of a template.
    fn add(&mut self, of: &Template, at: usize, rows: &mut WorkingSet) -> Sample {
        let tenant = of.record.payment.tenant;
        let reference = self.first + at as u64;
        let Record { payment, order, quote } = self.record(&of.record, reference);
        let external_id = payment.external_id.clone().unwrap_or_default();
        let sample = Sample {
            tenant: of.tenant,
            country: payment.country,
            id: payment.id.to_string(),
            amount: payment.amount.decimal().to_string(),
            external_id: external_id.clone(),
        };
        for attempt in &of.attempts {
            let attempt = self.attempt(attempt, reference);
            rows.attempts.put((tenant, attempt.id), attempt);
        }
        let transfers = of.transfers.iter().map(|it| self.transfer(it)).collect();
        let events = of.events.iter().map(|it| self.event(it, of.tenant, reference)).collect();
        rows.add_copied(transfers, events);
        rows.add_order(tenant, payment.id, order);
        rows.external_ids.put((tenant, external_id), payment.id);
        rows.quotes.put((tenant, quote.id), quote);
        rows.payments.put((tenant, payment.id), payment);
        sample
    }

    fn record(&mut self, of: &Record, reference: u64) -> Record {
        let mut external_id = String::new();
        orders::external_id(&mut self.numbers, &mut external_id);
        let Record { payment, order, quote } = of;
        let id = PaymentId(self.moved(payment.id.0));
        let quote_id = QuoteId(self.moved(quote.id.0));
        Record {
            payment: Payment {
                id,
                quote: quote_id,
                external_id: Some(external_id.clone()),
                hold: TransferId(self.moved(payment.hold.0)),
                accepted_at: payment.accepted_at + self.by,
                standing: self.standing(&payment.standing, reference),
                unclear_since: payment.unclear_since.map(|at| at + self.by),
                settled_at: payment.settled_at.map(|at| at + self.by),
                attempt: payment.attempt.map(|attempt| AttemptId(self.moved(attempt.0))),
                ..payment.clone()
            },
            order: Order { quote: quote_id, external_id: Some(external_id), ..order.clone() },
            quote: Quote {
                id: quote_id,
                created_at: quote.created_at + self.by,
                expires_at: quote.expires_at + self.by,
                payment: Some(id),
                ..quote.clone()
            },
        }
    }

    fn standing(&self, of: &PaymentSnapshot, reference: u64) -> PaymentSnapshot {
        let bank_reference = of.bank_reference.as_deref().map(|it| another(it, reference));
        PaymentSnapshot { state_at: of.state_at + self.by, bank_reference, ..of.clone() }
    }

    fn attempt(&self, of: &Attempt, reference: u64) -> Attempt {
        let (mut bank_reference, mut booking) = (of.bank_reference.clone(), of.booking.clone());
        if let Some(old) = &of.bank_reference {
            let new = another(old, reference);
            booking = booking.map(|booking| booking.replace(old.as_str(), &new));
            bank_reference = Some(new);
        }
        Attempt {
            id: AttemptId(self.moved(of.id.0)),
            payment: PaymentId(self.moved(of.payment.0)),
            created_at: of.created_at + self.by,
            state_at: of.state_at + self.by,
            bank_reference,
            booking,
            ..of.clone()
        }
    }

    fn transfer(&self, of: &Transfer) -> Transfer {
        Transfer {
            id: TransferId(self.moved(of.id.0)),
            pending: of.pending.map(|id| TransferId(self.moved(id.0))),
            set: TransferId(self.moved(of.set.0)),
            subject: of.subject.map(|id| self.moved(id)),
            at: of.at + self.by,
            ..of.clone()
        }
    }

    fn event(&self, of: &Event, tenant: usize, reference: u64) -> Event {
        let subject = self.moved(of.subject);
        Event {
            id: of.kind.aggregate(subject).event_id(of.tenant, of.version),
            seq: self.seqs[tenant] + of.seq,
            subject,
            at: of.at + self.by,
            standing: of.standing.as_ref().map(|it| self.standing(it, reference)),
            ..of.clone()
        }
    }

    async fn commit(&self, rows: WorkingSet) -> anyhow::Result<()> {
        let batch = BatchId(engine::batcher::fresh_id(self.store));
        self.store.save(batch, rows).await.context("saving copies of payments")?;
        Ok(())
    }

    /// Stores the ids under which banks report the copies' attempts.
    async fn keep_sent(
        &self,
        payments: &[Template],
        messages: &[super::templates::Sent],
    ) -> anyhow::Result<()> {
        let sent = messages.iter().map(|((rail, id), places)| {
            let attempts: Vec<(AttemptId, PaymentId)> = places
                .iter()
                .map(|(at, nth)| &payments[*at].attempts[*nth])
                .map(|it| (AttemptId(self.moved(it.id.0)), PaymentId(self.moved(it.payment.0))))
                .collect();
            let first = attempts.first().map(|(id, _)| id.instruction_id());
            let id = id.as_deref().zip(first).map(|(id, first)| another_message(id, &first));
            SentMessage { rail, id, attempts }
        });
        let sent: Vec<SentMessage<'_>> = sent.collect();
        self.store.keep_sent(&sent).await.context("saving the messages of copies")
    }
}

/// Another reference of the same form: its first two characters and a number.
fn another(reference: &str, number: u64) -> String {
    let head: String = reference.chars().take(2).collect();
    let width = reference.chars().count().saturating_sub(2);
    format!("{head}{number:0width$}")
}

/// The id of another message with as many attempts, which is the number after the hyphen. Its digits are
/// those of its first attempt's id from the end: a lookup by the first digits finds one of the two.
fn another_message(id: &str, first: &str) -> String {
    let count = id.split_once('-').map_or("1", |(_, count)| count);
    let digits: String = first.chars().rev().take(MESSAGE_DIGITS).collect();
    format!("{digits}-{count}")
}

/// Sums of transfers on one account: pending and posted debits, pending and posted credits.
type Sums = [i64; 4];

fn sums<'a>(transfers: impl Iterator<Item = &'a Transfer>) -> Option<BTreeMap<AccountCode, Sums>> {
    let mut found: BTreeMap<AccountCode, Sums> = BTreeMap::new();
    for Transfer { debit, credit, amount, kind, .. } in transfers {
        let minor = amount.minor;
        let (pending, posted) = match kind {
            TransferKind::Posted => (0, minor),
            TransferKind::Pending => (minor, 0),
            TransferKind::PostPending => (-minor, minor),
            TransferKind::VoidPending => (-minor, 0),
        };
        for (code, at) in [(debit, 0), (credit, 2)] {
            let sums = found.entry(code.clone()).or_default();
            sums[at] = sums[at].checked_add(pending)?;
            sums[at + 1] = sums[at + 1].checked_add(posted)?;
        }
    }
    Some(found)
}

/// An account after as many copies of these transfers.
fn plus(account: &Account, sums: &Sums, times: i64) -> Option<Account> {
    let after = |before: i64, at: usize| before.checked_add(sums[at].checked_mul(times)?);
    Some(Account {
        debits_pending: after(account.debits_pending, 0)?,
        debits_posted: after(account.debits_posted, 1)?,
        credits_pending: after(account.credits_pending, 2)?,
        credits_posted: after(account.credits_posted, 3)?,
        ..account.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_of_copies_differ_and_keep_their_form() {
        assert_eq!(another("SB2026113000000002", 71), "SB0000000000000071");
        assert_eq!(another("A1", 71), "A171");
        assert_eq!(another("", 71), "71");
    }

    #[test]
    fn messages_of_copies_begin_unlike_their_first_attempt() {
        let first = "0123456789abcdef0123456789abcdef";
        let id = another_message("e5a25088dc6c633724757999-3", first);
        assert_eq!(id, "fedcba9876543210fedcba98-3");
    }

    #[test]
    fn an_account_grows_by_the_sums_of_its_transfers() {
        let empty = |code: &str| {
            let code = AccountCode::parse(code).expect("an account");
            Account::empty(domain::ids::TenantId(Uuid::nil()), code)
        };
        let account = Account { debits_posted: 5, ..empty("prefund:USDT") };
        let grown = plus(&account, &[0, 10, 0, 3], 4).expect("no overflow");
        assert_eq!((grown.debits_pending, grown.debits_posted), (0, 45));
        assert_eq!((grown.credits_pending, grown.credits_posted), (0, 12));
        assert!(plus(&account, &[0, i64::MAX, 0, 0], 2).is_none());
    }
}
