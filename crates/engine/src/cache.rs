//! Cached rows of tenants, as of this node's last committed batches. A batch of new quotes and
//! orders is decided on the cache without a query: its writes and COMMIT travel in one flight (ADR
//! 34).
//!
//! Only a hint: each row that a decision depends on is written with a guard, or a constraint
//! ensures its absence. If another node wrote in between, the database rejects the batch and it is
//! decided on loaded rows.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::country::Country;
use domain::ids::{QuoteId, TenantId};
use domain::ledger::Account;
use domain::quote::{Quote, QuoteState};
use domain::time::{Span, Timestamp};
use store::need::Need;
use store::working_set::{Head, WorkingSet};

/// Maximum number of cached tenants; beyond it the cache is cleared.
const TENANTS_MAX: usize = 1_024;
/// Maximum number of cached open quotes, about 7 MB; beyond it the oldest are evicted.
const QUOTES_MAX: usize = 16_384;
/// How long the store's clock is extrapolated from the node's own before it is read again.
const CLOCK_BELIEVED: Span = Span::secs(1);

/// The rows that batches reuse.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    clock: Option<Looked>,
    tenants: HashMap<TenantId, Rows>,
    quotes: HashMap<(TenantId, QuoteId), Quote>,
    /// Keys in order of insertion; some may be evicted already.
    oldest: VecDeque<(TenantId, QuoteId)>,
}

/// A reading of the store's clock.
#[derive(Clone, Copy, Debug)]
struct Looked {
    store: Timestamp,
    own: Timestamp,
}

/// Cached rows of a tenant, as of its last committed batch.
#[derive(Debug)]
struct Rows {
    head: Head,
    /// When that batch was decided.
    at: Timestamp,
    accounts: Vec<Account>,
    open_quotes: BTreeMap<Country, i64>,
    /// Consecutive batches that found everything as this node had left it.
    alone: u32,
}

impl Cache {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rows for new quotes and orders, if all are cached and the last `alone` batches of each
    /// tenant found everything as this node had left it. `own` is this node's clock.
    pub(crate) fn recall(&self, need: &Need, own: Timestamp, alone: u32) -> Option<WorkingSet> {
        // Delivery rows are not cached; without them, subscribed events would not be delivered.
        if !need.streams.is_empty() || !need.receivers.is_empty() {
            return None;
        }
        let state = self.state();
        let looked = state.clock?;
        let since = own - looked.own;
        if !is_believed(since) {
            return None;
        }
        let mut rows = WorkingSet::new(looked.store + since);
        for tenant in &need.tenants {
            let known = state.tenants.get(tenant).filter(|known| known.alone >= alone)?;
            rows.now = not_before(known.at, rows.now)?;
            rows.heads.load(*tenant, known.head);
            known
                .accounts
                .iter()
                .for_each(|it| rows.accounts.load((*tenant, it.code.clone()), it.clone()));
        }
        for (tenant, country) in &need.open_quotes {
            rows.open_quotes
                .load((*tenant, *country), *state.tenants.get(tenant)?.open_quotes.get(country)?);
        }
        for key in &need.quotes {
            rows.quotes.load(*key, state.quotes.get(key)?.clone());
        }
        Some(rows)
    }

    /// Records a reading of the store's clock for rows loaded between these two times of the node's
    /// clock, unless the node's own jumped. Ensures that they are decided no earlier than the last
    /// batch of the same tenants: on cached rows, the node's clock may have run slightly fast.
    pub(crate) fn look(&self, rows: &mut WorkingSet, own: Range<Timestamp>) {
        let mut state = self.state();
        let looked = Looked { store: rows.now, own: own.end };
        state.clock = is_believed(own.end - own.start).then_some(looked);
        let before = rows
            .heads
            .all()
            .filter_map(|(tenant, _)| state.tenants.get(tenant))
            .map(|known| known.at)
            .max();
        rows.now = before.and_then(|before| not_before(before, rows.now)).unwrap_or(rows.now);
    }

    /// Caches the rows of a committed batch that was decided on cached rows.
    pub(crate) fn learn(&self, need: &Need, rows: &WorkingSet) {
        let mut state = self.state();
        need.tenants.iter().for_each(|tenant| state.learn_tenant(*tenant, rows));
        state.learn_rest(rows);
    }

    /// Caches the rows of a committed batch that was decided on loaded rows.
    pub(crate) fn learn_loaded(&self, need: &Need, rows: &WorkingSet) {
        let mut state = self.state();
        let unknown =
            need.tenants.iter().filter(|tenant| !state.tenants.contains_key(tenant)).count();
        if state.tenants.len() + unknown > TENANTS_MAX {
            state.tenants.clear();
        }
        for tenant in &need.tenants {
            let found = rows.heads.loaded(tenant);
            let known = state.tenants.get_mut(tenant);
            match known.filter(|known| found == Some(&known.head)) {
                Some(known) => known.alone = known.alone.saturating_add(1),
                None => _ = state.tenants.remove(tenant),
            }
            state.learn_tenant(*tenant, rows);
        }
        state.learn_rest(rows);
    }

    /// Evicts tenants whose rows may be stale.
    pub(crate) fn forget(&self, tenants: &BTreeSet<TenantId>) {
        self.state().tenants.retain(|tenant, _| !tenants.contains(tenant));
    }
}

/// Whether the elapsed time on the node's clock can stand for the store's: no jump, and not too
/// long.
fn is_believed(own: Span) -> bool {
    (Span(0)..=CLOCK_BELIEVED).contains(&own)
}

/// A tenant's batches do not go back in time, unless its last one was further ahead than
/// extrapolation can lead. Then the store's clock was wrong and has been set back, and `None`
/// invalidates its reading.
fn not_before(last: Timestamp, now: Timestamp) -> Option<Timestamp> {
    (last - now <= CLOCK_BELIEVED).then(|| now.max(last))
}

impl State {
    fn learn_tenant(&mut self, tenant: TenantId, rows: &WorkingSet) {
        let Some(head) = rows.heads.get(&tenant).copied() else { return };
        let (accounts, open_quotes) = (Vec::new(), BTreeMap::new());
        let known = self.tenants.entry(tenant);
        let known = known.or_insert(Rows { head, at: rows.now, accounts, open_quotes, alone: 0 });
        (known.head, known.at) = (head, rows.now);
        // All of them were loaded, or read from the cache, with the tenant.
        known.accounts.clear();
    }

    fn learn_rest(&mut self, rows: &WorkingSet) {
        for ((tenant, _), account) in rows.accounts.all() {
            self.tenants
                .get_mut(tenant)
                .into_iter()
                .for_each(|known| known.accounts.push(account.clone()));
        }
        for ((tenant, country), count) in rows.open_quotes.all() {
            let known = self.tenants.get_mut(tenant);
            known.into_iter().for_each(|known| _ = known.open_quotes.insert(*country, *count));
        }
        for (key, quote) in rows.quotes.all() {
            if quote.state != QuoteState::Active {
                self.quotes.remove(key);
            } else if self.quotes.insert(*key, quote.clone()).is_none() {
                self.oldest.push_back(*key);
            }
        }
        while self.oldest.len() > QUOTES_MAX {
            self.oldest.pop_front().into_iter().for_each(|key| _ = self.quotes.remove(&key));
        }
    }
}

#[cfg(test)]
mod tests;
