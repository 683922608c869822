//! The rows of a batch in memory: what was loaded, what the batch changed, and what the command at hand is changing.
//!
//! A command writes into a draft. [`WorkingSet::keep`] makes the draft part of the batch, [`WorkingSet::discard`]
//! forgets it, so a refused or panicking command leaves no trace and its neighbours never notice.

use std::collections::HashMap;
use std::hash::Hash;

use domain::attempt::Attempt;
use domain::country::Country;
use domain::event::Event;
use domain::ids::{AttemptId, EventId, PaymentId, QuoteId, TenantId};
use domain::job::Job;
use domain::ledger::{self, Account, AccountCode, LedgerRefusal, Transfer};
use domain::order::Order;
use domain::payment::{Discrepancy, IdSource, JobChange, NewEvent, Payment};
use domain::quote::Quote;
use domain::time::Timestamp;
use uuid::Uuid;

use crate::need::IdempotencyKey;

/// Rows of one table: as loaded, as the batch leaves them, as the command at hand would.
#[derive(Debug)]
pub struct Table<K, V> {
    loaded: HashMap<K, V>,
    changed: HashMap<K, V>,
    draft: HashMap<K, V>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Table<K, V> {
        Table { loaded: HashMap::new(), changed: HashMap::new(), draft: HashMap::new() }
    }
}

impl<K: Eq + Hash + Clone, V: Clone> Table<K, V> {
    /// Puts a row as the database has it.
    pub fn load(&mut self, key: K, row: V) {
        self.loaded.insert(key, row);
    }

    /// The row as the command at hand sees it.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.draft.get(key).or_else(|| self.changed.get(key)).or_else(|| self.loaded.get(key))
    }

    /// Writes a row, new or changed.
    pub fn put(&mut self, key: K, row: V) {
        self.draft.insert(key, row);
    }

    /// Every changed row with the row as it was loaded (`None` = new).
    pub fn changes(&self) -> impl Iterator<Item = (&K, Option<&V>, &V)> {
        self.changed.iter().map(|(key, row)| (key, self.loaded.get(key), row))
    }

    fn keep(&mut self) {
        self.changed.extend(self.draft.drain());
    }
}

/// Rows that are only ever added; the command at hand adds behind `kept`.
#[derive(Debug)]
pub struct Log<T> {
    rows: Vec<T>,
    kept: usize,
}

impl<T> Default for Log<T> {
    fn default() -> Log<T> {
        Log { rows: Vec::new(), kept: 0 }
    }
}

impl<T> Log<T> {
    fn add(&mut self, row: T) {
        self.rows.push(row);
    }

    /// The rows that the batch adds.
    pub fn added(&self) -> &[T] {
        &self.rows[..self.kept]
    }
}

/// The row that serialises a tenant's writes and numbers its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Number of the newest event of the payment service's log.
    pub payment_seq: i64,
}

/// What an accepted request with an `Idempotency-Key` made, so that a repetition gets the same answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyRecord {
    /// SHA-256 of the request's body.
    pub body_hash: [u8; 32],
    /// What it made.
    pub made: Made,
    /// When.
    pub at: Timestamp,
}

/// The thing that an accepted request made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// A quote.
    Quote(QuoteId),
    /// A payment.
    Payment(PaymentId),
}

/// A job change keyed by its subject; `None` = the job is done.
pub type JobRow = Option<Job>;

/// The rows of one batch.
#[derive(Debug)]
pub struct WorkingSet {
    /// The instant at which the batch is decided, on the store's clock.
    pub now: Timestamp,
    /// Heads of the batch's tenants.
    pub heads: Table<TenantId, Head>,
    /// Quotes.
    pub quotes: Table<(TenantId, QuoteId), Quote>,
    /// Payments.
    pub payments: Table<(TenantId, PaymentId), Payment>,
    /// Attempts.
    pub attempts: Table<(TenantId, AttemptId), Attempt>,
    /// Who has an external_id.
    pub external_ids: Table<(TenantId, String), PaymentId>,
    /// Accounts.
    pub accounts: Table<(TenantId, AccountCode), Account>,
    /// Numbers of open quotes.
    pub open_quotes: Table<(TenantId, Country), i64>,
    /// Idempotency records.
    pub idempotency: Table<(TenantId, IdempotencyKey), IdempotencyRecord>,
    /// Jobs by subject.
    pub jobs: Table<(TenantId, Uuid), JobRow>,
    /// New orders.
    pub orders: Log<(TenantId, PaymentId, Order)>,
    /// New transfers.
    pub transfers: Log<Transfer>,
    /// New events.
    pub events: Log<Event>,
    /// New discrepancies.
    pub discrepancies: Log<(TenantId, Discrepancy)>,
}

impl WorkingSet {
    /// An empty set at `now`.
    pub fn new(now: Timestamp) -> WorkingSet {
        WorkingSet {
            now,
            heads: Table::default(),
            quotes: Table::default(),
            payments: Table::default(),
            attempts: Table::default(),
            external_ids: Table::default(),
            accounts: Table::default(),
            open_quotes: Table::default(),
            idempotency: Table::default(),
            jobs: Table::default(),
            orders: Log::default(),
            transfers: Log::default(),
            events: Log::default(),
            discrepancies: Log::default(),
        }
    }

    /// Makes what the command at hand wrote part of the batch.
    pub fn keep(&mut self) {
        self.heads.keep();
        self.quotes.keep();
        self.payments.keep();
        self.attempts.keep();
        self.external_ids.keep();
        self.accounts.keep();
        self.open_quotes.keep();
        self.idempotency.keep();
        self.jobs.keep();
        self.orders.kept = self.orders.rows.len();
        self.transfers.kept = self.transfers.rows.len();
        self.events.kept = self.events.rows.len();
        self.discrepancies.kept = self.discrepancies.rows.len();
    }

    /// Forgets what the command at hand wrote.
    pub fn discard(&mut self) {
        self.heads.draft.clear();
        self.quotes.draft.clear();
        self.payments.draft.clear();
        self.attempts.draft.clear();
        self.external_ids.draft.clear();
        self.accounts.draft.clear();
        self.open_quotes.draft.clear();
        self.idempotency.draft.clear();
        self.jobs.draft.clear();
        self.orders.rows.truncate(self.orders.kept);
        self.transfers.rows.truncate(self.transfers.kept);
        self.events.rows.truncate(self.events.kept);
        self.discrepancies.rows.truncate(self.discrepancies.kept);
    }

    /// Whether the batch changes anything.
    pub fn is_unchanged(&self) -> bool {
        self.heads.changed.is_empty()
            && self.quotes.changed.is_empty()
            && self.payments.changed.is_empty()
            && self.attempts.changed.is_empty()
            && self.external_ids.changed.is_empty()
            && self.accounts.changed.is_empty()
            && self.open_quotes.changed.is_empty()
            && self.idempotency.changed.is_empty()
            && self.jobs.changed.is_empty()
            && self.orders.kept == 0
            && self.transfers.kept == 0
            && self.events.kept == 0
            && self.discrepancies.kept == 0
    }

    /// The account as the command at hand sees it; one that was never used is empty.
    pub fn account(&self, tenant: TenantId, code: &AccountCode) -> Account {
        let key = (tenant, code.clone());
        self.accounts.get(&key).cloned().unwrap_or_else(|| Account::empty(tenant, code.clone()))
    }

    /// Books transfers, all or (by the caller's [`WorkingSet::discard`]) none.
    pub fn book(&mut self, transfers: Vec<Transfer>) -> Result<(), LedgerRefusal> {
        for transfer in transfers {
            let mut debit = self.account(transfer.tenant, &transfer.debit);
            let mut credit = self.account(transfer.tenant, &transfer.credit);
            ledger::book(&mut debit, &mut credit, &transfer)?;
            self.accounts.put((transfer.tenant, transfer.debit.clone()), debit);
            self.accounts.put((transfer.tenant, transfer.credit.clone()), credit);
            self.transfers.add(transfer);
        }
        Ok(())
    }

    /// Adds events to the tenant's log, numbering them on.
    pub fn append(&mut self, tenant: TenantId, events: Vec<NewEvent>, ids: &mut dyn IdSource) {
        let mut head = self.heads.get(&tenant).copied().unwrap_or(Head { payment_seq: 0 });
        for event in events {
            head.payment_seq += 1;
            self.events.add(Event {
                id: EventId(ids.next()),
                tenant,
                seq: head.payment_seq,
                kind: event.kind,
                subject: event.subject,
                version: event.version,
                at: self.now,
                standing: event.standing,
            });
        }
        self.heads.put(tenant, head);
    }

    /// Changes the job of `subject`. The fence stays: only taking a job raises it.
    pub fn set_job(&mut self, tenant: TenantId, subject: Uuid, change: JobChange) {
        let old = self.jobs.get(&(tenant, subject)).cloned().flatten();
        let row = match change {
            JobChange::Done => None,
            JobChange::Set(kind, run_at) => Some(Job {
                tenant,
                subject,
                kind,
                run_at,
                fence: old.as_ref().map_or(0, |job| job.fence),
                leased_until: None,
                tries: old.as_ref().filter(|job| job.kind == kind).map_or(0, |job| job.tries + 1),
            }),
        };
        self.jobs.put((tenant, subject), row);
    }

    /// Adds an order beside its payment.
    pub fn add_order(&mut self, tenant: TenantId, payment: PaymentId, order: Order) {
        self.orders.add((tenant, payment, order));
    }

    /// Adds something for a person to look at.
    pub fn add_discrepancy(&mut self, tenant: TenantId, discrepancy: Discrepancy) {
        self.discrepancies.add((tenant, discrepancy));
    }
}
