//! Payments of a tenant across countries, newest first, paged by a mark; and payments that wait for
//! review.

use domain::country::Country;
use domain::ids::{PaymentId, TenantId};
use domain::job::JobKind;
use domain::payment::PaymentState;
use domain::time::Timestamp;
use uuid::Uuid;

use crate::error::StoreError;
use crate::reads::page::most;
use crate::reads::payments::Record;
use crate::reads::wallet_office::Sheet;
use crate::rows::Keys;
use crate::rows::column::{Get, Raw};
use crate::sql::{Fields, Stmt, Value};
use crate::store::Store;

/// Payments of one country that one page scans: if a filter matches few, the page ends there and
/// states so.
pub const LOOKED_AT_MAX: usize = 10_000;

// $7 holds the wanted states between commas. The index gives the order; only the states need the
// rows.
static NEWEST: Stmt = Stmt::written(
    "console.payments",
    "SELECT x.accepted_at, x.id FROM (SELECT p.accepted_at AS accepted_at, p.id AS id, p.state AS state FROM payment p \
     WHERE p.tenant = $1 AND p.country = $2 AND p.accepted_at >= $3 AND p.accepted_at <= $4 \
     AND (p.accepted_at < $4 OR p.id < $5) ORDER BY p.accepted_at DESC, p.id DESC LIMIT $6) x \
     WHERE $7 LIKE '%,' || x.state || ',%' ORDER BY x.accepted_at DESC, x.id DESC LIMIT $8",
);
// The last payment that `NEWEST` scanned, if it did not reach the end.
static EDGE: Stmt = Stmt::written(
    "console.payments_edge",
    "SELECT p.accepted_at, p.id FROM payment p \
     WHERE p.tenant = $1 AND p.country = $2 AND p.accepted_at >= $3 AND p.accepted_at <= $4 \
     AND (p.accepted_at < $4 OR p.id < $5) ORDER BY p.accepted_at DESC, p.id DESC LIMIT 1 OFFSET $6",
);
// Inquiries about an unknown payment never stop: it has this job.
static IN_REVIEW: Stmt = Stmt::written(
    "console.payments_in_review",
    "SELECT p.id FROM job j JOIN payment p ON p.tenant = j.tenant AND p.id = j.subject \
     WHERE j.tenant = $1 AND (j.kind = 'review' OR j.kind = 'inquire' AND p.state = 'unknown') AND j.subject > $2 \
     ORDER BY j.subject LIMIT $3",
);
static UNKNOWN_COUNT: Stmt = Stmt::written(
    "console.payments_unknown_count",
    "SELECT COUNT(*), MIN(p.state_at) FROM job j JOIN payment p ON p.tenant = j.tenant AND p.id = j.subject \
     WHERE j.kind = 'inquire' AND j.tenant = $1 AND p.state = 'unknown'",
);
static JOBS_OF_KIND: Stmt = Stmt::written(
    "console.jobs_of_kind",
    "SELECT COUNT(*), MIN(j.run_at) FROM job j WHERE j.kind = $2 AND j.tenant = $1",
);

pub(super) static STATEMENTS: &[&Stmt] =
    &[&NEWEST, &EDGE, &IN_REVIEW, &UNKNOWN_COUNT, &JOBS_OF_KIND];

/// A position in the list of payments: payments accepted earlier follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaymentMark {
    /// When the payment was accepted.
    pub at: Timestamp,
    /// Distinguishes payments of the same instant.
    pub payment: PaymentId,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaymentsWanted {
    /// Destinations; empty = all.
    pub countries: Vec<Country>,
    /// States; empty = all.
    pub states: Vec<PaymentState>,
    /// Accepted at or after.
    pub start: Option<Timestamp>,
    /// Accepted before this instant.
    pub end: Option<Timestamp>,
    pub after: Option<PaymentMark>,
    /// Maximum number of payments.
    pub limit: usize,
}

/// A page of payments, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaymentsPage {
    /// The payments. A short page does not mean that there are no more: see `next`.
    pub records: Vec<Record>,
    /// Where the next page starts; `None` = this was the last page.
    pub next: Option<PaymentMark>,
}

/// The size of a backlog, and the age of its oldest item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    pub count: u64,
    /// Since when the oldest waits; `None` if there is none.
    pub oldest: Option<Timestamp>,
}

/// A mark in index order: the id in its stored form.
type Place = (Timestamp, Raw);

impl Get for Backlog {
    fn get(fields: &mut Fields<'_>, keys: &Keys) -> Result<Backlog, StoreError> {
        let (count, oldest) = Get::get(fields, keys)?;
        Ok(Backlog { count, oldest })
    }
}

impl PaymentsWanted {
    fn countries(&self) -> Vec<Country> {
        if self.countries.is_empty() { Country::ALL.to_vec() } else { self.countries.clone() }
    }

    /// Where the page starts: after the mark, and before the end.
    fn top(&self, keys: &Keys) -> Place {
        let end = (self.end.unwrap_or(Timestamp(i64::MAX)), Raw(Uuid::nil()));
        self.after.map_or(end, |mark| end.min((mark.at, Raw(keys.stored(mark.payment.0)))))
    }

    fn states(&self) -> String {
        let all = PaymentState::ALL.to_vec();
        let states = if self.states.is_empty() { &all } else { &self.states };
        let names: Vec<&str> = states.iter().map(|state| state.name()).collect();
        format!(",{},", names.join(","))
    }
}

impl Store {
    /// A page of payments across countries. Scans at most [`LOOKED_AT_MAX`] payments per country.
    pub async fn payments_page(
        &self,
        tenant: TenantId,
        wanted: &PaymentsWanted,
    ) -> Result<PaymentsPage, StoreError> {
        let keys = self.id_keys().await?;
        let top = wanted.top(&keys);
        let mut found: Vec<Place> = Vec::new();
        // Without a filter the first ones of the index form the page.
        let look = if wanted.states.is_empty() { wanted.limit + 1 } else { LOOKED_AT_MAX };
        // Down to here the page is complete for every country.
        let mut horizon: Option<Place> = None;
        for country in wanted.countries() {
            let start = wanted.start.map_or(i64::MIN, |start| start.0);
            let range = (tenant, country, start, top.0, top.1);
            let states = Value::from(wanted.states());
            let page = (most(look), states, most(wanted.limit + 1));
            let mut places: Vec<Place> = self.many(&NEWEST, (range, page)).await?;
            let end = match places.get(wanted.limit) {
                Some(last) => Some(*last),
                None if wanted.states.is_empty() => None,
                None => self.one(&EDGE, (range, most(LOOKED_AT_MAX - 1))).await?,
            };
            horizon = horizon.max(end);
            found.append(&mut places);
        }
        found.retain(|place| horizon.is_none_or(|end| *place >= end));
        found.sort_unstable_by(|a, b| b.cmp(a));
        let next = if found.len() > wanted.limit {
            found.get(wanted.limit.wrapping_sub(1)).copied()
        } else {
            horizon
        };
        found.truncate(wanted.limit);
        let ids: Vec<PaymentId> =
            found.iter().map(|(_, id)| PaymentId(keys.public(id.0))).collect();
        let next = next.map(|(at, id)| PaymentMark { at, payment: PaymentId(keys.public(id.0)) });
        Ok(PaymentsPage { records: self.records(tenant, &ids).await?, next })
    }

    /// A page of the payments that wait for review, held by screening or of unknown outcome, oldest
    /// first: those after `after`, at most `limit`.
    ///
    /// # Errors
    /// As [`Store::payments_page`].
    pub async fn payments_in_review(
        &self,
        tenant: TenantId,
        after: Option<PaymentId>,
        limit: usize,
    ) -> Result<Sheet<Record>, StoreError> {
        let keys = self.id_keys().await?;
        let above = Raw(after.map_or(Uuid::nil(), |id| keys.stored(id.0)));
        let beyond = most(limit.saturating_add(1));
        let mut ids: Vec<PaymentId> = self.many(&IN_REVIEW, (tenant, above, beyond)).await?;
        let more = ids.len() > limit;
        ids.truncate(limit);
        Ok(Sheet { rows: self.records(tenant, &ids).await?, more })
    }

    /// How many payments have an unknown outcome.
    pub async fn unknown_payments(&self, tenant: TenantId) -> Result<Backlog, StoreError> {
        self.only(&UNKNOWN_COUNT, tenant).await
    }

    /// How many of a tenant's records have a job of this kind, and since when the first of them is
    /// due.
    pub async fn jobs_of_kind(
        &self,
        tenant: TenantId,
        kind: JobKind,
    ) -> Result<Backlog, StoreError> {
        self.only(&JOBS_OF_KIND, (tenant, kind)).await
    }
}
