//! Payments of a tenant across countries, newest first, paged by a mark; and payments that wait for
//! review.

use domain::country::Country;
use domain::currency::Currency;
use domain::ids::{PaymentId, TenantId};
use domain::job::JobKind;
use domain::payment::{PaymentState, ReviewState};
use domain::payment_search::{Reading, Searched};
use domain::rail::RailId;
use domain::time::Timestamp;
use futures_util::future::try_join_all;
use uuid::Uuid;

use crate::error::StoreError;
use crate::reads::keyset::IdFrom;
use crate::reads::page::most;
use crate::reads::payments::Record;
use crate::reads::wallet_office::Sheet;
use crate::rows::Keys;
use crate::rows::column::{Get, Raw};
use crate::rows::payment_search::TenantKey;
use crate::sql::{Fields, Stmt, Value};
use crate::store::Store;

/// Payments that one page scans, the same number of each country: if a filter matches few, the page
/// ends there and states so.
const LOOKED_AT_MAX: usize = 21_000;
/// Maximum number of scans for one page.
const ROUNDS_MAX: usize = 8;
/// The decimals that currencies of payers have.
const BASE_DECIMALS: [u32; 2] = [2, 3];

/// A page of one country: its payments in one direction from a place, then those of them that match.
/// The index gives the order; only the filters need the rows.
macro_rules! page {
    ($name:literal, $beyond:literal, $order:literal) => {
        Stmt::written(
            $name,
            concat!(
                "SELECT x.accepted_at, x.id FROM (SELECT p.accepted_at AS accepted_at, p.id AS id, p.state AS state, \
                 p.review AS review, p.external_id AS external_id, p.amount AS amount, p.base AS base, \
                 p.base_currency AS base_currency FROM payment p \
                 WHERE p.tenant = $1 AND p.country = $2 AND p.accepted_at >= $3 AND p.accepted_at <= $4 AND ",
                $beyond, " ORDER BY p.accepted_at ", $order, ", p.id ", $order, " LIMIT $6) x \
                 WHERE $7 LIKE '%,' || x.state || ',%' AND ($8 = '' OR x.review = $8) \
                 AND ($9 = '' OR EXISTS (SELECT 1 FROM attempt a \
                 WHERE a.tenant = $1 AND a.payment = x.id AND a.rail = $9)) \
                 AND ($10 = '' OR (x.external_id >= $10 AND x.external_id < $11) \
                 OR EXISTS (SELECT 1 FROM attempt a WHERE a.tenant = $1 AND a.payment = x.id \
                 AND SUBSTR(a.bank_reference, 1, LENGTH($10)) = $10)) \
                 AND ($12 = '' OR x.amount BETWEEN $13 AND $14 \
                 OR $15 LIKE '%,' || x.base_currency || ',%' AND x.base BETWEEN $16 AND $17 \
                 OR $18 LIKE '%,' || x.base_currency || ',%' AND x.base BETWEEN $19 AND $20) \
                 AND ($21 = '' OR EXISTS (SELECT 1 FROM payment_search s WHERE s.tenant = $1 \
                 AND s.at = x.accepted_at AND s.payment = x.id AND {{has s.digests $22}})) \
                 ORDER BY x.accepted_at ", $order, ", x.id ", $order, " LIMIT $23",
            ),
        )
    };
}
/// The last payment that [`page`] scanned, if it did not reach the end.
macro_rules! edge {
    ($name:literal, $beyond:literal, $order:literal) => {
        Stmt::written(
            $name,
            concat!(
                "SELECT p.accepted_at, p.id FROM payment p \
                 WHERE p.tenant = $1 AND p.country = $2 AND p.accepted_at >= $3 AND p.accepted_at <= $4 AND ",
                $beyond, " ORDER BY p.accepted_at ", $order, ", p.id ", $order, " LIMIT 1 OFFSET $6",
            ),
        )
    };
}
static OLDER: Stmt = page!("console.payments", "(p.accepted_at < $4 OR p.id < $5)", "DESC");
static OLDER_EDGE: Stmt =
    edge!("console.payments_edge", "(p.accepted_at < $4 OR p.id < $5)", "DESC");
static NEWER: Stmt = page!("console.payments_newer", "(p.accepted_at > $3 OR p.id > $5)", "ASC");
static NEWER_EDGE: Stmt =
    edge!("console.payments_newer_edge", "(p.accepted_at > $3 OR p.id > $5)", "ASC");
static IN_REVIEW: Stmt = Stmt::written(
    "console.payments_in_review",
    "SELECT p.id FROM job j JOIN payment p ON p.tenant = j.tenant AND p.id = j.subject \
     WHERE j.tenant = $1 AND (j.kind = 'review' OR j.kind = 'inquire' AND p.state = 'unknown') AND j.subject > $2 \
     ORDER BY j.subject LIMIT $3",
);
static IN_REVIEW_BEFORE: Stmt = Stmt::written(
    "console.payments_in_review_before",
    "SELECT p.id FROM job j JOIN payment p ON p.tenant = j.tenant AND p.id = j.subject \
     WHERE j.tenant = $1 AND (j.kind = 'review' OR j.kind = 'inquire' AND p.state = 'unknown') AND j.subject < $2 \
     ORDER BY j.subject DESC LIMIT $3",
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

pub(super) static STATEMENTS: &[&Stmt] = &[
    &OLDER,
    &OLDER_EDGE,
    &NEWER,
    &NEWER_EDGE,
    &IN_REVIEW,
    &IN_REVIEW_BEFORE,
    &UNKNOWN_COUNT,
    &JOBS_OF_KIND,
];

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
    /// Whether a reviewer has to decide or has decided; `None` = any.
    pub review: Option<ReviewState>,
    /// An attempt was made over this rail.
    pub rail: Option<RailId>,
    /// The external_id or a bank reference begins with this.
    pub reference: Option<String>,
    /// An amount of this size; [`Reading::Amount`].
    pub amount: Option<Reading>,
    /// The end of the beneficiary's account; [`Reading::Account`].
    pub account: Option<Reading>,
    /// Where the page starts; `None` = at the newest.
    pub from: Option<PageFrom>,
    /// Maximum number of payments.
    pub limit: usize,
}

/// The neighbour of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageFrom {
    /// The page has the payments that were accepted before this one.
    After(PaymentMark),
    /// The page has those that were accepted after it.
    Before(PaymentMark),
}

/// A page of payments, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaymentsPage {
    /// The payments. A short page does not mean that there are no more: see `next`.
    pub records: Vec<Record>,
    /// The payment after which the next page starts; `None` = this was the last page.
    pub next: Option<PaymentMark>,
    /// The payment before which the previous page ends; `None` = this was the first page.
    pub previous: Option<PaymentMark>,
    /// Whether it ended because as many payments were scanned as one page may.
    pub is_cut: bool,
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

impl PaymentsPage {
    /// This page and the payments beyond it.
    fn joined(self, more: PaymentsPage, is_upward: bool) -> PaymentsPage {
        let (newer, older) = if is_upward { (more, self) } else { (self, more) };
        PaymentsPage {
            is_cut: if is_upward { newer.is_cut } else { older.is_cut },
            records: [newer.records, older.records].concat(),
            next: older.next,
            previous: newer.previous,
        }
    }
}

impl PaymentsWanted {
    fn countries(&self) -> Vec<Country> {
        if self.countries.is_empty() { Country::ALL.to_vec() } else { self.countries.clone() }
    }

    /// The bounds of the page's payments, and the id that tells apart those of the bound's instant.
    fn range(&self, keys: &Keys) -> (Timestamp, Place) {
        let start = self.start.unwrap_or(Timestamp(i64::MIN));
        let end = (self.end.unwrap_or(Timestamp(i64::MAX)), Raw(Uuid::nil()));
        let place = |mark: PaymentMark| (mark.at, Raw(keys.stored(mark.payment.0)));
        match self.from {
            None => (start, end),
            Some(PageFrom::After(mark)) => (start, end.min(place(mark))),
            Some(PageFrom::Before(mark)) => {
                let (at, id) = (start, Raw(Uuid::nil())).max(place(mark));
                (at, (Timestamp(end.0.0.saturating_sub(1)), id))
            }
        }
    }

    /// Payments of each country that the page scans if it is filtered.
    pub fn looked_at_max(&self) -> usize {
        LOOKED_AT_MAX / self.countries().len()
    }

    const fn is_filtered(&self) -> bool {
        !self.states.is_empty()
            || self.review.is_some()
            || self.rail.is_some()
            || self.reference.is_some()
            || self.amount.is_some()
            || self.account.is_some()
    }

    /// Whether a payment matches the filters, but for the rail.
    pub fn admits(&self, record: &Record) -> bool {
        let payment = &record.payment;
        let (at, standing) = (payment.accepted_at, &payment.standing);
        let refers = |start: &String| {
            let references = [&payment.external_id, &standing.bank_reference];
            references.into_iter().flatten().any(|known| known.starts_with(start))
        };
        self.countries().contains(&payment.country)
            && (self.states.is_empty() || self.states.contains(&standing.state))
            && self.start.is_none_or(|start| at >= start)
            && self.end.is_none_or(|end| at < end)
            && self.review.is_none_or(|review| review == payment.review)
            && self.reference.as_ref().is_none_or(refers)
            && self.fits(record)
    }

    fn fits(&self, record: &Record) -> bool {
        let readings = [&self.amount, &self.account];
        let searched = Searched::of_payment(&record.payment, &record.order);
        readings.into_iter().flatten().all(|it| it.fits(&searched))
    }

    /// The filters of a country's payments as parameters. An empty text filters nothing.
    fn filters(&self, key: &TenantKey, country: Country) -> Vec<Value> {
        let text = |text: Option<&str>| Value::from(text.unwrap_or_default());
        let flag = |is_set: bool| text(is_set.then_some("set"));
        let reference = self.reference.as_deref();
        let end = reference.map(|start| format!("{start}{}", char::MAX));
        let rail = self.rail.as_ref().map(|rail| &*rail.0);
        let mut filters = vec![
            self.states().into(),
            text(self.review.map(ReviewState::name)),
            text(rail),
            text(reference),
            text(end.as_deref()),
            flag(self.amount.is_some()),
        ];
        let bounds = |currencies: &[Currency], decimals| -> [Value; 2] {
            let amount = self.amount.as_ref().filter(|_| !currencies.is_empty());
            let (low, high) = amount.and_then(|it| it.minor_units(decimals)).unzip();
            [low.into(), high.into()]
        };
        let received = country.currency();
        let decimals = received.minor_units();
        filters.extend(bounds(&self.currencies(|it| it == received), decimals));
        for decimals in BASE_DECIMALS {
            let paid = self.currencies(|it| it.minor_units() == decimals);
            let codes: Vec<&str> = paid.iter().map(|it| it.code()).collect();
            filters.push(format!(",{},", codes.join(",")).into());
            filters.extend(bounds(&paid, decimals));
        }
        let digest = self.account.as_ref().and_then(Reading::term).map(|term| key.digest(&term));
        filters.push(flag(self.account.is_some()));
        filters.push(digest.map(|digest| digest.to_vec()).into());
        filters
    }

    /// The currencies of the amount that are among these.
    fn currencies(&self, is_among: impl Fn(Currency) -> bool) -> Vec<Currency> {
        let wanted = match &self.amount {
            Some(Reading::Amount { currencies, .. }) => currencies.as_slice(),
            _ => &[],
        };
        let is_wanted = |it: &Currency| wanted.is_empty() || wanted.contains(it);
        Currency::ALL.into_iter().filter(|it| is_among(*it) && is_wanted(it)).collect()
    }

    fn states(&self) -> String {
        let all = PaymentState::ALL.to_vec();
        let states = if self.states.is_empty() { &all } else { &self.states };
        let names: Vec<&str> = states.iter().map(|state| state.name()).collect();
        format!(",{},", names.join(","))
    }
}

impl Store {
    /// A page of payments across countries. Scans at most [`PaymentsWanted::looked_at_max`] payments
    /// of each in at most [`ROUNDS_MAX`] rounds.
    pub async fn payments_page(
        &self,
        tenant: TenantId,
        wanted: &PaymentsWanted,
    ) -> Result<PaymentsPage, StoreError> {
        let is_upward = matches!(wanted.from, Some(PageFrom::Before(_)));
        let mut page = self.scanned(tenant, wanted).await?;
        // The database knows only the last characters of an account.
        for _ in 1..ROUNDS_MAX {
            if page.records.len() >= wanted.limit || page.is_cut {
                return Ok(page);
            }
            let from = match is_upward {
                true => page.previous.map(PageFrom::Before),
                false => page.next.map(PageFrom::After),
            };
            if from.is_none() {
                return Ok(page);
            }
            let limit = wanted.limit - page.records.len();
            let further = PaymentsWanted { from, limit, ..wanted.clone() };
            page = page.joined(self.scanned(tenant, &further).await?, is_upward);
        }
        page.is_cut |= page.records.len() < wanted.limit && page.next.is_some();
        Ok(page)
    }

    async fn scanned(
        &self,
        tenant: TenantId,
        wanted: &PaymentsWanted,
    ) -> Result<PaymentsPage, StoreError> {
        let keys = self.id_keys().await?;
        let (start, (end, id)) = wanted.range(&keys);
        let is_upward = matches!(wanted.from, Some(PageFrom::Before(_)));
        let (page, edge) = if is_upward { (&NEWER, &NEWER_EDGE) } else { (&OLDER, &OLDER_EDGE) };
        let key = keys.search.of(tenant);
        // Grows in the order in which the page is filled.
        let order = |(at, Raw(id)): &Place| match is_upward {
            true => (at.0, id.as_u128()),
            false => (!at.0, !id.as_u128()),
        };
        // Without a filter the first ones of the index form the page.
        let look_max = wanted.looked_at_max();
        let look = if wanted.is_filtered() { look_max } else { wanted.limit + 1 };
        let key = &key;
        // The payments, the last of them, and whether the scan ended there.
        let of_country = async |country| -> Result<(Vec<Place>, Option<Place>, bool), StoreError> {
            let range = (tenant, country, start, end, id);
            let filters = wanted.filters(key, country);
            let params = (range, most(look), filters, most(wanted.limit + 1));
            let places: Vec<Place> = self.many(page, params).await?;
            let last = match places.get(wanted.limit) {
                Some(last) => return Ok((places.clone(), Some(*last), false)),
                None if !wanted.is_filtered() => None,
                None => self.one(edge, (range, most(look_max - 1))).await?,
            };
            Ok((places, last, true))
        };
        let pages = try_join_all(wanted.countries().into_iter().map(of_country)).await?;
        // Up to here the page is complete for every country.
        let ends = pages.iter().filter_map(|(_, last, is_cut)| Some(((*last)?, *is_cut)));
        let end = ends.min_by_key(|(last, _)| order(last));
        let horizon = end.map(|(last, _)| last);
        let mut found: Vec<Place> = pages.into_iter().flat_map(|(places, ..)| places).collect();
        found.retain(|place| horizon.is_none_or(|end| order(place) <= order(&end)));
        found.sort_unstable_by_key(order);
        let beyond = if found.len() > wanted.limit {
            found.get(wanted.limit.wrapping_sub(1)).copied()
        } else {
            horizon
        };
        let is_cut = found.len() <= wanted.limit && end.is_some_and(|(_, is_cut)| is_cut);
        found.truncate(wanted.limit);
        let mark = |(at, id): Place| PaymentMark { at, payment: PaymentId(keys.public(id.0)) };
        let first = found.first().copied().map(mark);
        let beyond = beyond.map(mark);
        let (next, previous) = match wanted.from {
            None => (beyond, None),
            Some(PageFrom::After(from)) => (beyond, first.or(Some(from))),
            Some(PageFrom::Before(_)) => (first, beyond),
        };
        if is_upward {
            found.reverse();
        }
        let ids: Vec<PaymentId> =
            found.iter().map(|(_, id)| PaymentId(keys.public(id.0))).collect();
        let mut records = self.records(tenant, &ids).await?;
        records.retain(|record| wanted.fits(record));
        Ok(PaymentsPage { records, next, previous, is_cut })
    }

    /// A page of the payments that wait for review, held by screening or of unknown outcome, oldest
    /// first, at most `limit`.
    pub async fn payments_in_review(
        &self,
        tenant: TenantId,
        from: Option<IdFrom<PaymentId>>,
        limit: usize,
    ) -> Result<Sheet<Record>, StoreError> {
        let keys = self.id_keys().await?;
        let (stmt, edge) = match from {
            None => (&IN_REVIEW, Uuid::nil()),
            Some(IdFrom::After(id)) => (&IN_REVIEW, keys.stored(id.0)),
            Some(IdFrom::Before(id)) => (&IN_REVIEW_BEFORE, keys.stored(id.0)),
        };
        let beyond = most(limit.saturating_add(1));
        let mut ids: Vec<PaymentId> = self.many(stmt, (tenant, Raw(edge), beyond)).await?;
        let more = ids.len() > limit;
        ids.truncate(limit);
        if from.is_some_and(|from| from.is_backward()) {
            ids.reverse();
        }
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
