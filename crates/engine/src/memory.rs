//! What this node's own batches left of the tenants' rows. A batch of new quotes and orders is decided on that, without
//! asking the database first: its writes and COMMIT go out in one flight (ADR 34).
//!
//! A hint, never a truth: each row that such a decision hangs on is written with a guard, or its absence is a
//! constraint's. Where another node wrote meanwhile the database refuses the batch, and it is decided on loaded rows.

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

/// Tenants that are remembered; beyond them all are forgotten.
const TENANTS_MAX: usize = 1_024;
/// Open quotes that are remembered; beyond them the oldest are forgotten. Some 7 MB.
const QUOTES_MAX: usize = 16_384;
/// How long the store's clock is believed to go as this node's own does, before it is looked at again.
const CLOCK_BELIEVED: Span = Span::secs(1);

/// Remembered rows.
#[derive(Debug, Default)]
pub(crate) struct Memory(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    clock: Option<Looked>,
    tenants: HashMap<TenantId, Rows>,
    quotes: HashMap<(TenantId, QuoteId), Quote>,
    /// Their keys in the order in which they came; some are forgotten already.
    oldest: VecDeque<(TenantId, QuoteId)>,
}

/// A look at the store's clock.
#[derive(Clone, Copy, Debug)]
struct Looked {
    store: Timestamp,
    own: Timestamp,
}

/// A tenant's rows as his last batch left them.
#[derive(Debug)]
struct Rows {
    head: Head,
    /// When that batch was decided.
    at: Timestamp,
    accounts: Vec<Account>,
    open_quotes: BTreeMap<Country, i64>,
    /// Batches in a row that found everything as this node had left it.
    alone: u32,
}

impl Memory {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rows that new quotes and orders need, where all of them are remembered and the last `alone` batches of each tenant
    /// have found everything as this node had left it. `own` is this node's clock.
    pub(crate) fn recall(&self, need: &Need, own: Timestamp, alone: u32) -> Option<WorkingSet> {
        // Without the rows of deliveries, which are not remembered, events that are wanted would go nowhere.
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
            known.accounts.iter().for_each(|it| rows.accounts.load((*tenant, it.code.clone()), it.clone()));
        }
        for (tenant, country) in &need.open_quotes {
            rows.open_quotes.load((*tenant, *country), *state.tenants.get(tenant)?.open_quotes.get(country)?);
        }
        for key in &need.quotes {
            rows.quotes.load(*key, state.quotes.get(key)?.clone());
        }
        Some(rows)
    }

    /// Rows were loaded between these two times of this node's clock: remembers the store's, unless the node's own leapt
    /// meanwhile. Has them decided no earlier than the last batch of the same tenants: while rows were recalled the node's own
    /// clock may have gone a little faster.
    pub(crate) fn look(&self, rows: &mut WorkingSet, own: Range<Timestamp>) {
        let mut state = self.state();
        let looked = Looked { store: rows.now, own: own.end };
        state.clock = is_believed(own.end - own.start).then_some(looked);
        let before = rows.heads.all().filter_map(|(tenant, _)| state.tenants.get(tenant)).map(|known| known.at).max();
        rows.now = before.and_then(|before| not_before(before, rows.now)).unwrap_or(rows.now);
    }

    /// Remembers what a committed batch left of rows that were recalled for it.
    pub(crate) fn learn(&self, need: &Need, rows: &WorkingSet) {
        let mut state = self.state();
        need.tenants.iter().for_each(|tenant| state.learn_tenant(*tenant, rows));
        state.learn_rest(rows);
    }

    /// Remembers what a committed batch left of rows that were loaded for it.
    pub(crate) fn learn_loaded(&self, need: &Need, rows: &WorkingSet) {
        let mut state = self.state();
        let unknown = need.tenants.iter().filter(|tenant| !state.tenants.contains_key(tenant)).count();
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

    /// Forgets tenants whose rows may be others by now.
    pub(crate) fn forget(&self, tenants: &BTreeSet<TenantId>) {
        self.state().tenants.retain(|tenant, _| !tenants.contains(tenant));
    }
}

/// Whether what this node's own clock went by can be what the store's went by: no leap, and not for long.
fn is_believed(own: Span) -> bool {
    (Span(0)..=CLOCK_BELIEVED).contains(&own)
}

/// A tenant's batches do not go back in time, unless his last one was further ahead than recalling can lead: then the store's
/// clock was wrong and has been set back, and `None` says that what it showed counts for nothing.
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
        // All of them were loaded, or recalled, with the tenant.
        known.accounts.clear();
    }

    fn learn_rest(&mut self, rows: &WorkingSet) {
        for ((tenant, _), account) in rows.accounts.all() {
            self.tenants.get_mut(tenant).into_iter().for_each(|known| known.accounts.push(account.clone()));
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
