//! The auditor: after every step it asks the database, and the bank's book, whether every invariant holds. It never
//! changes anything and never sees what the service thinks of itself.

mod books;
mod end;
mod names;
mod outlook;
mod rows;
mod rules;
mod wallets;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::chain::ChainConfig;
use domain::ids::{PaymentId, RecallId, TenantId};
use domain::payment::PaymentState;
use domain::time::Timestamp;
use rusqlite::Connection;
use store::Store;
use uuid::Uuid;

use crate::actors::{Bank, Banks, ChainWorld, ListWorld};
use crate::run::Sim;
pub use outlook::{Chore, ForPeople};
use rows::Key;
pub use rows::empty;

use rules::{PAYMENTS, QUOTES, Subject, TENANTS};
use wallets::WalletAudit;

/// Has a database note what the auditor looks at.
pub fn watch(connection: &Connection) -> rusqlite::Result<()> {
    wallets::changes::watch(connection)
}

/// Whether a payment's state may follow directly on another: the design's table, written down once more.
pub fn may_follow(from: PaymentState, to: PaymentState) -> bool {
    use PaymentState::{Failed, Processing, Queued, Rejected, Reversed, Succeeded, Unknown};
    matches!(
        (from, to),
        (Queued, Processing | Rejected | Reversed | Unknown)
            | (Processing, Succeeded | Failed | Reversed | Unknown)
            | (Unknown, Processing | Succeeded | Failed | Reversed)
            | (Succeeded, Reversed)
    )
}

/// After every so many commits all rows are checked, not only the changed ones.
const EVERYTHING_EVERY: i64 = 64;
/// After every so many bookings the books are checked, which adds up all transfers. A fault in them
/// remains visible until then.
const BOOKS_EVERY: u32 = 4;

#[derive(Default)]
struct State {
    changes: u64,
    commits: i64,
    transfers: i64,
    /// Commits with transfers since the books were checked.
    unchecked: u32,
    attempts: BTreeSet<Key>,
    read_to: BTreeMap<Key, i64>,
    states: BTreeMap<(Key, Key), PaymentState>,
    free_jobs: BTreeMap<(Key, Key), i64>,
    violations: BTreeSet<String>,
    /// Logs were left out or made up until then: the service compares the chain with its books after that.
    lied_until: Option<Timestamp>,
    /// When attempts were looked at last.
    looked_at: i64,
}

/// The questions about one kind of row: about one of them, about all.
struct Questions {
    subject: &'static Subject,
    one: String,
    all: String,
}

impl Questions {
    fn about(subject: &'static Subject) -> Questions {
        Questions { subject, one: subject.question(true), all: subject.question(false) }
    }
}

/// What has changed since the last check.
#[derive(Default)]
struct Changed {
    payments: BTreeSet<(Key, Key)>,
    quotes: BTreeSet<(Key, Key)>,
}

/// The books of truth about the wallet service that are kept outside.
#[derive(Clone)]
pub struct Outside {
    pub chain: Arc<ChainWorld>,
    /// The banks' webhook endpoints.
    pub banks: Arc<Banks>,
    /// What is configured about the chain.
    pub config: Arc<ChainConfig>,
    /// Whether the tenants' keys may write the coins' blacklists.
    pub blacklists: bool,
}

pub struct Auditor {
    sim: Sim,
    store: Store,
    bank: Arc<Bank>,
    lists: Option<Arc<ListWorld>>,
    wallets: Option<WalletAudit>,
    /// What a sender may be paid out over a rail a day, in minor units. A tenant has one sender.
    limits: BTreeMap<String, i64>,
    payments: Questions,
    quotes: Questions,
    tenants: Questions,
    state: Mutex<State>,
}

impl Auditor {
    /// An auditor of one schedule, whose database is empty yet.
    pub fn new(
        sim: Sim,
        store: Store,
        (bank, lists): (Arc<Bank>, Option<Arc<ListWorld>>),
        outside: Option<Outside>,
        limits: BTreeMap<String, i64>,
    ) -> Auditor {
        let [payments, quotes, tenants] = [&PAYMENTS, &QUOTES, &TENANTS].map(Questions::about);
        let wallets = outside.map(WalletAudit::new);
        Auditor {
            sim,
            store,
            bank,
            lists,
            wallets,
            limits,
            payments,
            quotes,
            tenants,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads from the database; what cannot be read is a violation too.
    fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Option<T> {
        match self.store.in_place(|connection| read(connection)) {
            Some(Ok(found)) => Some(found),
            Some(Err(error)) => {
                self.violation(format!("the database cannot be read: {error}"));
                None
            }
            None => {
                self.violation("the database is not in memory".to_owned());
                None
            }
        }
    }

    /// Notes a violation of an invariant.
    pub fn violation(&self, what: String) {
        self.state().violations.insert(what);
    }

    /// Everything that was found so far.
    pub fn violations(&self) -> Vec<String> {
        self.state().violations.iter().cloned().collect()
    }

    /// Whether something was found.
    pub fn has_found(&self) -> bool {
        !self.state().violations.is_empty()
    }

    /// Checks after a step; `owner` is the name under which the node that ran takes leases. Answers whether anything
    /// was written.
    pub fn after_step(&self, owner: impl FnOnce() -> Option<String>) -> bool {
        if let Some(wallets) = &self.wallets {
            wallets.check_broadcasts(self);
        }
        let Some(changes) = self.read(|connection| Ok(connection.total_changes())) else {
            return false;
        };
        if std::mem::replace(&mut self.state().changes, changes) == changes {
            return false;
        }
        let Some(commits) = self.read(rows::commits) else { return true };
        if std::mem::replace(&mut self.state().commits, commits) != commits {
            self.check_at_once(owner().as_deref());
            // A check forgets which rows had changed: that is a change, too.
            if let Some(changes) = self.read(|connection| Ok(connection.total_changes())) {
                self.state().changes = changes;
            }
        }
        true
    }

    /// [`Auditor::check`] in one reading transaction: each question would begin and end one of its own.
    fn check_at_once(&self, owner: Option<&str>) {
        let tell = |sql: &str| self.read(|connection| connection.prepare_cached(sql)?.execute([]));
        tell("BEGIN");
        self.check(owner);
        tell("COMMIT");
    }

    /// Checks what must hold at any time: of the rows that have changed, and now and then of all.
    fn check(&self, owner: Option<&str>) {
        if self.bank.paid_again() > 0 {
            self.violation("I1: the bank paid a payment twice".to_owned());
        }
        for fault in self.bank.take_faults() {
            self.violation(format!("rail: {fault}"));
        }
        let changed = self.read(|connection| self.check_events(connection)).unwrap_or_default();
        self.read(|connection| self.check_jobs(connection, owner, &changed));
        let every = self.state().commits % EVERYTHING_EVERY == 0;
        self.read(|connection| self.check_rules(connection, (!every).then_some(&changed)));
        if let Some(wallets) = &self.wallets {
            self.read(|connection| wallets.check(self, connection, owner, every));
        }
        let Some((attempts, transfers)) = self.read(rows::counts) else { return };
        if attempts != i64::try_from(self.state().attempts.len()).unwrap_or(-1) {
            self.read(|connection| self.check_attempts(connection, owner));
        }
        if self.are_books_due(transfers) {
            self.check_books();
        }
    }

    /// Whether enough has been booked since the books were checked.
    fn are_books_due(&self, transfers: i64) -> bool {
        let mut state = self.state();
        state.unchecked +=
            u32::from(std::mem::replace(&mut state.transfers, transfers) != transfers);
        let due = state.unchecked >= BOOKS_EVERY;
        state.unchecked %= BOOKS_EVERY;
        due
    }

    /// The rules of changed rows, or of all.
    fn check_rules(
        &self,
        connection: &Connection,
        changed: Option<&Changed>,
    ) -> rusqlite::Result<()> {
        match changed {
            Some(changed) => {
                self.ask(connection, &self.payments, Some(&changed.payments))?;
                self.ask(connection, &self.quotes, Some(&changed.quotes))?;
            }
            None => {
                self.ask(connection, &self.payments, None)?;
                self.ask(connection, &self.quotes, None)?;
                self.ask(connection, &self.tenants, None)?;
                self.check_recalls(connection)?;
            }
        }
        Ok(())
    }

    fn ask(
        &self,
        connection: &Connection,
        questions: &Questions,
        only: Option<&BTreeSet<(Key, Key)>>,
    ) -> rusqlite::Result<()> {
        let rules = questions.subject.rules;
        let mut broken = Vec::new();
        match only {
            None => broken = rows::broken(connection, &questions.all, rules.len(), None)?,
            Some(only) => {
                for one in only {
                    broken.extend(rows::broken(
                        connection,
                        &questions.one,
                        rules.len(),
                        Some(*one),
                    )?);
                }
            }
        }
        for (id, rule) in broken {
            let name = rules.get(rule).map_or("a rule", |(name, _)| name);
            self.violation(format!("{name}: {}", self.public(&id)));
        }
        Ok(())
    }

    /// A recall counts as sent only if the bank has it: else a payment would wait for an answer to
    /// a question that was never asked.
    fn check_recalls(&self, connection: &Connection) -> rusqlite::Result<()> {
        for key in rows::sent_recalls(connection)? {
            let recall = RecallId(self.store.public_id(Uuid::from_bytes(key)));
            if !self.bank.has_recall(recall) {
                self.violation(format!("recall {recall} counts as sent, and no bank has it"));
            }
        }
        Ok(())
    }

    fn public(&self, stored: &[u8]) -> String {
        Uuid::from_slice(stored).map_or_else(
            |_| format!("{stored:?}"),
            |stored| self.store.public_id(stored).to_string(),
        )
    }

    /// I9: every new event is a step that the state before it allows. Answers what has changed.
    fn check_events(&self, connection: &Connection) -> rusqlite::Result<Changed> {
        let mut changed = Changed::default();
        let since = std::mem::replace(&mut self.state().looked_at, self.sim.now().to_millis().0);
        changed.payments.extend(rows::touched_since(connection, since)?);
        for (tenant, newest) in rows::heads(connection)? {
            let after = self.state().read_to.get(&tenant).copied().unwrap_or(0);
            if newest < after {
                self.violation(format!("I10: a tenant's log went back from {after} to {newest}"));
            }
            let mut last = after;
            for event in rows::events_after(connection, tenant, after)? {
                if std::mem::replace(&mut last, event.seq) + 1 != event.seq {
                    self.violation(format!("I6: a tenant's log has a gap before {}", event.seq));
                }
                let about =
                    if event.state.is_some() { &mut changed.payments } else { &mut changed.quotes };
                about.insert((tenant, event.subject));
                let (seq, kind, subject) = (event.seq, &event.kind, self.public(&event.subject));
                self.sim.trace(format_args!("event {seq} {kind} {subject}"));
                let Some(state) = event.state.as_deref().and_then(PaymentState::parse) else {
                    continue;
                };
                let before = self.state().states.insert((event.tenant, event.subject), state);
                let follows = match before {
                    None => state == PaymentState::Queued,
                    Some(before) if event.kind == "payment.updated" => before == state,
                    Some(before) => may_follow(before, state),
                };
                if !follows {
                    self.violation(format!(
                        "I9: {subject} went from {before:?} to {state:?} (event {seq})"
                    ));
                }
            }
            if last != newest {
                self.violation(format!(
                    "I6: a tenant's log ends at {last}, its head says {newest}"
                ));
            }
            self.state().read_to.insert(tenant, newest);
        }
        Ok(changed)
    }

    /// An attempt is begun only by who took the payment's job last.
    fn check_attempts(&self, connection: &Connection, owner: Option<&str>) -> rusqlite::Result<()> {
        for (id, holder) in rows::attempts(connection)? {
            if self.state().attempts.insert(id) && holder.is_some() && holder.as_deref() != owner {
                let id = self.public(&id);
                self.violation(format!(
                    "I1: {id} was begun by {owner:?} while {holder:?} had the job"
                ));
            }
        }
        self.check_limits(connection)
    }

    /// No sender's payments make more than a rail's limit of a day.
    fn check_limits(&self, connection: &Connection) -> rusqlite::Result<()> {
        if self.limits.is_empty() {
            return Ok(());
        }
        for (_, rail, day, sum) in rows::paid_a_day(connection)? {
            if let Some(limit) = self.limits.get(&rail).filter(|limit| **limit < sum) {
                self.violation(format!(
                    "limits: a sender's payments over {rail} on day {day} make {sum}, the limit is {limit}"
                ));
            }
        }
        Ok(())
    }

    /// Only the last holder of a job may postpone it, unless its payment has changed.
    fn check_jobs(
        &self,
        connection: &Connection,
        owner: Option<&str>,
        changed: &Changed,
    ) -> rusqlite::Result<()> {
        let mut free = BTreeMap::new();
        let known = std::mem::take(&mut self.state().free_jobs);
        for (tenant, subject, run_at, holder) in rows::free_jobs(connection)? {
            let key = (tenant, subject);
            let is_new = known.get(&key) != Some(&run_at);
            let is_strange = holder.is_some() && holder.as_deref() != owner;
            if is_new && is_strange && !changed.payments.contains(&key) {
                let id = self.public(&subject);
                self.violation(format!("I1: {owner:?} put {id} off while {holder:?} had the job"));
            }
            free.insert(key, run_at);
        }
        self.state().free_jobs = free;
        Ok(())
    }

    fn check_books(&self) {
        let found = self.read(|connection| {
            Ok((
                rows::transfers(connection)?,
                rows::accounts(connection)?,
                rows::booked(connection)?,
            ))
        });
        let Some((transfers, accounts, payments)) = found else { return };
        let mut expected = wallets::books::Expected::new();
        if self.wallets.is_some() {
            let found = self.read(|connection| {
                Ok((wallets::rows::deposits(connection)?, wallets::rows::orders(connection)?))
            });
            let Some((deposits, orders)) = found else { return };
            let swept = self.read(|connection| {
                Ok((wallets::rows::sweeps(connection)?, wallets::rows::funded(connection)?))
            });
            let Some((sweeps, funded)) = swept else { return };
            let public = |key| self.store.public_id(Uuid::from_bytes(key));
            wallets::books::expect(&deposits, &orders, (&sweeps, &funded), public, &mut expected);
        }
        books::check(&transfers, &accounts, &payments, expected)
            .into_iter()
            .for_each(|fault| self.violation(fault));
    }

    /// I10: the acceptance of this payment is about to be reported to a client.
    pub fn acknowledged(&self, tenant: TenantId, payment: PaymentId) {
        let stored = self.store.stored_id(payment.0).into_bytes();
        if self.read(|connection| rows::has_payment(connection, tenant.0.into_bytes(), stored))
            == Some(false)
        {
            self.violation(format!("I10: {payment} was acknowledged and is not there"));
        }
    }
}
