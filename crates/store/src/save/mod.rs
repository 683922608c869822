//! From the working set to the statements that save it: one per table and kind of change, tables in
//! one fixed order, rows in key order, so that two nodes cannot deadlock.

mod wallets;

use std::borrow::Cow;
use std::fmt::{self, Debug};
use std::marker::PhantomData;

use domain::ids::BatchId;

use crate::error::StoreError;
use crate::rows::column::{Put as _, Written};
use crate::rows::record::Record;
use crate::rows::{self, Keys};
use crate::sql::{Columns, Stmt, Table as Spec, tables};
use crate::working_set::{Table, WorkingSet};

macro_rules! statements {
    ($($name:ident = $make:ident($label:literal, $table:expr);)+) => {
        $(pub(crate) static $name: $crate::sql::Stmt = $crate::sql::Stmt::$make($label, &$table);)+
        pub(crate) static ALL: &[&$crate::sql::Stmt] = &[$(&$name),+];
    };
}
use statements;

/// The saving statements of the wallet service.
pub(crate) static OF_WALLETS: &[&Stmt] = wallets::ALL;
pub(crate) static OF_ENDED_ALERTS: &[&Stmt] = &[&wallets::ALERTS_END];

statements! {
    HEAD_UPDATE = update("save.head_update", rows::small::TENANT_HEAD);
    HEAD_INSERT = insert("save.head_insert", rows::small::TENANT_HEAD);
    QUOTE_UPDATE = update("save.quote_update", rows::quote::QUOTE);
    QUOTE_INSERT = insert("save.quote_insert", rows::quote::QUOTE);
    PAYMENT_UPDATE = update("save.payment_update", rows::payment::PAYMENT);
    PAYMENT_INSERT = insert("save.payment_insert", rows::payment::PAYMENT);
    ORDER_INSERT = insert("save.order_insert", tables::PAYMENT_ORDER);
    SEARCH_INSERT = insert("save.search_insert", tables::PAYMENT_SEARCH);
    EXTERNAL_ID_INSERT = insert("save.external_id_insert", tables::EXTERNAL_ID);
    ATTEMPT_UPDATE = update("save.attempt_update", rows::attempt::ATTEMPT);
    ATTEMPT_INSERT = insert("save.attempt_insert", rows::attempt::ATTEMPT);
    REFERENCE_INSERT = insert_if_absent("save.reference_insert", tables::LINKED_REFERENCE);
    RECALL_UPDATE = update("save.recall_update", rows::recall::RECALL);
    RECALL_INSERT = insert("save.recall_insert", rows::recall::RECALL);
    ACCOUNT_UPDATE = update("save.account_update", rows::ledger::ACCOUNT);
    ACCOUNT_INSERT = insert("save.account_insert", rows::ledger::ACCOUNT);
    TRANSFER_INSERT = insert("save.transfer_insert", rows::ledger::TRANSFER);
    OPEN_QUOTES_UPDATE = update("save.open_quotes_update", tables::OPEN_QUOTES);
    OPEN_QUOTES_INSERT = insert("save.open_quotes_insert", tables::OPEN_QUOTES);
    IDEMPOTENCY_DELETE = delete("save.idempotency_delete", rows::small::IDEMPOTENCY);
    IDEMPOTENCY_INSERT = insert("save.idempotency_insert", rows::small::IDEMPOTENCY);
    JOB_DELETE = delete("save.job_delete", rows::job::JOB);
    JOB_UPDATE = update("save.job_update", rows::job::JOB);
    JOB_INSERT = insert("save.job_insert", rows::job::JOB);
    DISCREPANCY_INSERT = insert_if_absent("save.discrepancy_insert", tables::DISCREPANCY);
    EVENT_INSERT = insert("save.event_insert", rows::event::EVENT);
    BATCH_INSERT = insert("save.batch_insert", tables::BATCH);
    AUDIT_ENTRY_INSERT = insert("save.audit_entry_insert", rows::audit::AUDIT_ENTRY);
    AUDIT_HEAD_UPDATE = update("save.audit_head_update", rows::audit::AUDIT_HEAD);
    AUDIT_HEAD_INSERT = insert("save.audit_head_insert", rows::audit::AUDIT_HEAD);
    AUDIT_CHECKPOINT_INSERT = insert_if_absent("save.audit_checkpoint_insert", rows::audit::AUDIT_CHECKPOINT);
}

/// The rows of a statement.
#[derive(Debug)]
pub(crate) enum Rows<'a> {
    Made(Columns<'a>),
    Later(Box<dyn NewRows + 'a>),
}

impl Rows<'_> {
    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Rows::Made(columns) => columns.len(),
            Rows::Later(rows) => rows.len(),
        }
    }

    pub(crate) fn columns(&self) -> Result<Cow<'_, Columns<'_>>, StoreError> {
        match self {
            Rows::Made(columns) => Ok(Cow::Borrowed(columns)),
            Rows::Later(rows) => rows.make().map(Cow::Owned),
        }
    }
}

/// New rows of a table, encoded when their statement is sent: they are most of what a batch writes,
/// some of it sealed, and statements already sent keep the server busy in the meantime.
pub(crate) trait NewRows: Debug + Send + Sync {
    fn table(&self) -> &'static Spec;
    fn len(&self) -> usize;
    fn make(&self) -> Result<Columns<'_>, StoreError>;
}

/// Records and the function that writes a row of each.
struct Unwritten<'a, I, W> {
    table: &'static Spec,
    things: I,
    write: W,
    rows: PhantomData<Columns<'a>>,
}

impl<I, W> Debug for Unwritten<'_, I, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unwritten").field("table", &self.table.name).finish_non_exhaustive()
    }
}

impl<'a, I, W> NewRows for Unwritten<'a, I, W>
where
    I: ExactSizeIterator + Clone + Send + Sync,
    W: Fn(I::Item, &mut Columns<'a>) -> Result<(), StoreError> + Send + Sync,
{
    fn table(&self) -> &'static Spec {
        self.table
    }

    fn len(&self) -> usize {
        self.things.len()
    }

    fn make(&self) -> Result<Columns<'_>, StoreError> {
        let mut columns = Columns::new(self.table.row_columns(), self.things.len());
        self.things.clone().try_for_each(|thing| (self.write)(thing, &mut columns))?;
        Ok(columns)
    }
}

/// One statement of a save with its rows.
#[derive(Debug)]
pub(crate) struct Write<'a> {
    pub(crate) stmt: &'static Stmt,
    pub(crate) rows: Rows<'a>,
    /// Whether each row must be affected; not so for deletions and insertions that may find their
    /// work done.
    pub(crate) exact: bool,
}

/// Collects the writes of one batch.
struct Saver<'a> {
    keys: &'a Keys,
    writes: Vec<Write<'a>>,
}

impl<'a> Saver<'a> {
    fn add(&mut self, stmt: &'static Stmt, rows: Columns<'a>, exact: bool) {
        if rows.len() > 0 {
            self.writes.push(Write { stmt, rows: Rows::Made(rows), exact });
        }
    }

    /// Adds new rows, encoded when they are sent.
    fn insert<T>(
        &mut self,
        stmt: &'static Stmt,
        table: &'static Spec,
        things: impl ExactSizeIterator<Item = T> + Clone + Send + Sync + 'a,
        write: impl Fn(T, &mut Columns<'a>) -> Written + Send + Sync + 'a,
    ) {
        if things.len() > 0 {
            let rows = Rows::Later(Box::new(Unwritten { table, things, write, rows: PhantomData }));
            self.writes.push(Write { stmt, rows, exact: true });
        }
    }

    fn added<T: Record<Key = ()> + 'a>(
        &mut self,
        stmt: &'static Stmt,
        things: impl ExactSizeIterator<Item = &'a T> + Clone + Send + Sync + 'a,
    ) {
        let keys = self.keys;
        self.insert(stmt, T::table(), things, |it, out| T::write(&(), it, keys, out));
    }

    /// Adds the records of a table that is changed in place: updates before insertions.
    fn changed<K, V>(
        &mut self,
        table: &'a Table<K, V>,
        stmts: (&'static Stmt, &'static Stmt),
    ) -> Result<(), StoreError>
    where
        K: Ord + Eq + std::hash::Hash + Clone + Sync,
        V: Record<Key = ()> + PartialEq + Clone + Sync,
    {
        self.changed_under(table, stmts, |_| &(), |_| false)
    }

    /// Same for a table where some rows give up what others receive: those `first`.
    fn changed_in_order<K, V>(
        &mut self,
        table: &'a Table<K, V>,
        stmts: (&'static Stmt, &'static Stmt),
        first: fn(&V) -> bool,
    ) -> Result<(), StoreError>
    where
        K: Ord + Eq + std::hash::Hash + Clone + Sync,
        V: Record<Key = ()> + PartialEq + Clone + Sync,
    {
        self.changed_under(table, stmts, |_| &(), first)
    }

    /// Same for records that do not contain their key.
    fn changed_by<V>(
        &mut self,
        table: &'a Table<V::Key, V>,
        stmts: (&'static Stmt, &'static Stmt),
    ) -> Result<(), StoreError>
    where
        V: Record + PartialEq + Clone + Sync,
        V::Key: Ord + Eq + std::hash::Hash + Clone + Sync,
    {
        self.changed_under(table, stmts, |key| key, |_| false)
    }

    fn changed_under<K, V>(
        &mut self,
        table: &'a Table<K, V>,
        (update, insert): (&'static Stmt, &'static Stmt),
        key_of: fn(&'a K) -> &'a V::Key,
        first: fn(&V) -> bool,
    ) -> Result<(), StoreError>
    where
        K: Ord + Eq + std::hash::Hash + Clone + Sync,
        V: Record + PartialEq + Clone + Sync,
    {
        if table.is_unchanged() {
            return Ok(());
        }
        let keys = self.keys;
        let changes = sorted(table);
        let mut updates = Columns::new(V::table().update_columns(), changes.len());
        let mut updates_first = Columns::new(V::table().update_columns(), 0);
        let mut new_rows = Vec::with_capacity(changes.len());
        for (key, old, new) in changes {
            match old {
                Some(old) if old == new => {}
                Some(old) => {
                    let rows = if first(new) { &mut updates_first } else { &mut updates };
                    V::write_change(key_of(key), old, new, keys, rows)?;
                }
                None => new_rows.push((key, new)),
            }
        }
        self.add(update, updates_first, true);
        self.add(update, updates, true);
        self.insert(insert, V::table(), new_rows.into_iter(), move |(key, row), out| {
            V::write(key_of(key), row, keys, out)
        });
        Ok(())
    }
}

/// The changed rows of a table in key order.
fn sorted<K, V>(table: &Table<K, V>) -> Vec<(&K, Option<&V>, &V)>
where
    K: Ord + Eq + std::hash::Hash + Clone,
    V: Clone,
{
    let mut changes: Vec<_> = table.changes().collect();
    changes.sort_unstable_by(|a, b| a.0.cmp(b.0));
    changes
}

/// The statements that save a batch, in order. The batch's own row is the last.
pub(crate) fn writes<'a>(
    ws: &'a WorkingSet,
    batch: BatchId,
    keys: &'a Keys,
) -> Result<Vec<Write<'a>>, StoreError> {
    let mut saver = Saver { keys, writes: Vec::with_capacity(ALL.len()) };
    // Heads come first: if nothing was loaded, this is what locks them.
    saver.changed_by(&ws.heads, (&HEAD_UPDATE, &HEAD_INSERT))?;
    save_things(ws, &mut saver)?;
    wallets::save(ws, &mut saver)?;
    saver.changed(&ws.accounts, (&ACCOUNT_UPDATE, &ACCOUNT_INSERT))?;
    saver.added(&TRANSFER_INSERT, ws.transfers.added().iter());
    save_promises(ws, &mut saver)?;
    save_audit(ws, &mut saver)?;
    let mut columns = Columns::new(tables::BATCH.row_columns(), 1);
    (batch, ws.now, true).put(keys, &mut columns)?;
    saver.add(&BATCH_INSERT, columns, true);
    Ok(saver.writes)
}

/// Saves quotes, payments with their orders, external ids and attempts.
fn save_things<'a>(ws: &'a WorkingSet, saver: &mut Saver<'a>) -> Result<(), StoreError> {
    let keys = saver.keys;
    saver.changed(&ws.quotes, (&QUOTE_UPDATE, &QUOTE_INSERT))?;
    saver.changed(&ws.payments, (&PAYMENT_UPDATE, &PAYMENT_INSERT))?;
    saver.insert(
        &ORDER_INSERT,
        &tables::PAYMENT_ORDER,
        ws.orders.added().iter(),
        |(tenant, payment, order), out| rows::order::write(*tenant, *payment, order, keys, out),
    );
    saver.insert(
        &SEARCH_INSERT,
        &tables::PAYMENT_SEARCH,
        ws.orders.added().iter(),
        |(tenant, payment, order), out| {
            let payment = ws.payments.get(&(*tenant, *payment)).ok_or_else(|| {
                StoreError::Corrupt("an order would be saved without its payment".to_owned())
            })?;
            rows::payment_search::write(payment, order, keys, out)
        },
    );
    let mut taken = Columns::new(tables::EXTERNAL_ID.row_columns(), 0);
    for ((tenant, id), old, payment) in sorted(&ws.external_ids) {
        match old {
            None => (*tenant, id, *payment).put(keys, &mut taken)?,
            Some(old) if old == payment => {}
            Some(_) => {
                return Err(StoreError::Corrupt(
                    "an external_id would change its payment".to_owned(),
                ));
            }
        }
    }
    saver.add(&EXTERNAL_ID_INSERT, taken, true);
    saver.changed(&ws.attempts, (&ATTEMPT_UPDATE, &ATTEMPT_INSERT))?;
    saver.changed(&ws.recalls, (&RECALL_UPDATE, &RECALL_INSERT))?;
    let mut references = Columns::new(tables::LINKED_REFERENCE.row_columns(), 0);
    for (_, old, new) in sorted(&ws.attempts) {
        rows::attempt::write_reference(old, new, keys, &mut references)?;
    }
    saver.add(&REFERENCE_INSERT, references, false);
    Ok(())
}

/// Saves counters, idempotency records, jobs, discrepancies and events.
fn save_promises<'a>(ws: &'a WorkingSet, saver: &mut Saver<'a>) -> Result<(), StoreError> {
    save_open_quotes(ws, saver)?;
    save_idempotency(ws, saver)?;
    save_jobs(ws, saver)?;
    let mut columns = Columns::new(tables::DISCREPANCY.row_columns(), 0);
    for (tenant, discrepancy) in ws.discrepancies.added() {
        rows::small::write_discrepancy(*tenant, discrepancy, ws.now, saver.keys, &mut columns)?;
    }
    saver.add(&DISCREPANCY_INSERT, columns, false);
    saver.added(&EVENT_INSERT, ws.events.added().iter());
    wallets::save_words(ws, saver)
}

fn save_open_quotes<'a>(ws: &'a WorkingSet, saver: &mut Saver<'a>) -> Result<(), StoreError> {
    let mut updates = Columns::new(tables::OPEN_QUOTES.update_columns(), 0);
    let mut inserts = Columns::new(tables::OPEN_QUOTES.row_columns(), 0);
    for ((tenant, country), old, new) in sorted(&ws.open_quotes) {
        match old {
            Some(old) if old == new => {}
            Some(old) => (*tenant, *country, *new, *old).put(saver.keys, &mut updates)?,
            None => (*tenant, *country, *new).put(saver.keys, &mut inserts)?,
        }
    }
    saver.add(&OPEN_QUOTES_UPDATE, updates, true);
    saver.add(&OPEN_QUOTES_INSERT, inserts, true);
    Ok(())
}

/// Users' actions, and the ends of their chains. Last: an administrative change locks a head last
/// too.
fn save_audit<'a>(ws: &'a WorkingSet, saver: &mut Saver<'a>) -> Result<(), StoreError> {
    saver.added(&AUDIT_ENTRY_INSERT, ws.audit_entries.added().iter());
    saver.changed_by(&ws.audit_heads, (&AUDIT_HEAD_UPDATE, &AUDIT_HEAD_INSERT))
}

/// An expired record is replaced; it may be pruned concurrently.
fn save_idempotency<'a>(ws: &'a WorkingSet, saver: &mut Saver<'a>) -> Result<(), StoreError> {
    let mut old_keys = Columns::new(rows::small::IDEMPOTENCY.key_kinds(), 0);
    let mut records = Columns::new(rows::small::IDEMPOTENCY.row_columns(), 0);
    for (key, old, record) in sorted(&ws.idempotency) {
        if old == Some(record) {
            continue;
        }
        if old.is_some() {
            (key.0, &key.1.scope, &key.1.key).put(saver.keys, &mut old_keys)?;
        }
        Record::write(key, record, saver.keys, &mut records)?;
    }
    saver.add(&IDEMPOTENCY_DELETE, old_keys, false);
    saver.add(&IDEMPOTENCY_INSERT, records, true);
    Ok(())
}

/// Only batches delete jobs, and only under the tenant's head; a lease taken in between loses its
/// job, which is correct: the subject is in a terminal state.
fn save_jobs<'a>(ws: &'a WorkingSet, saver: &mut Saver<'a>) -> Result<(), StoreError> {
    let mut done = Columns::new(rows::job::JOB.key_kinds(), 0);
    let mut updates = Columns::new(rows::job::JOB.update_columns(), 0);
    let mut inserts = Columns::new(rows::job::JOB.row_columns(), 0);
    for ((tenant, subject), old, new) in sorted(&ws.jobs) {
        match (old.and_then(Option::as_ref), new) {
            (None, None) => {}
            (Some(_), None) => (*tenant, *subject).put(saver.keys, &mut done)?,
            (Some(old), Some(new)) if old == new => {}
            (Some(old), Some(new)) => {
                Record::write_change(&(), old, new, saver.keys, &mut updates)?;
            }
            (None, Some(new)) => Record::write(&(), new, saver.keys, &mut inserts)?,
        }
    }
    saver.add(&JOB_DELETE, done, false);
    saver.add(&JOB_UPDATE, updates, true);
    saver.add(&JOB_INSERT, inserts, true);
    Ok(())
}
