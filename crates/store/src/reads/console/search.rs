//! Search for payments by what operators know about them (`payment_search`), and the rows for
//! payments that were accepted before that table existed.

use domain::ids::{PaymentId, TenantId};
use domain::name_words::plain_words;
use domain::order::Order;
use domain::payment::Payment;
use domain::payment_search::{Reading, Searched};
use domain::time::{Span, Timestamp};
use uuid::Uuid;

use crate::driver::Step;
use crate::error::StoreError;
use crate::reads::page::most;
use crate::reads::payments::Record;
use crate::rows;
use crate::rows::column::Raw;
use crate::rows::payment_search::TenantKey;
use crate::sql::Kind::Uuid as Id;
use crate::sql::tables::PAYMENT_SEARCH;
use crate::sql::{Columns, Stmt, Value};
use crate::store::Store;

/// Payments that one search scans.
pub const PAYMENTS_SEARCHED_MAX: usize = 250_000;
/// Candidates whose orders one search opens at a time.
const CANDIDATES: usize = 200;
/// So many times a search continues if its candidates turn out to be others.
const ROUNDS_MAX: usize = 5;
/// Known things that the database compares; the opened order decides about further ones.
const COMPARED_MAX: usize = 4;
/// Readings by a digest of one known thing.
const DIGESTS_MAX: usize = 2;
/// Decimals of the currencies that payers pay and beneficiaries receive.
const DECIMALS: [u32; 3] = [0, 2, 3];

/// Payments per chunk of [`Store::index_payments`].
const CHUNK: usize = 1_000;
/// Chunks of a tenant per call.
const CHUNKS_MAX: usize = 100;
/// How long after the migration a node of an older version may still accept payments.
const OLDER_NODES: Span = Span::hours(24);
/// After this time all payments of an instant are committed, whatever node accepted them.
const COMMITTED_WITHIN: Span = Span::mins(10);
/// The version of the migration that made the table.
const TABLE_SINCE: i64 = 21;

/// Whether a row has one of two digests or an amount within one of three bounds. A null parameter
/// matches nothing, an empty digest everything.
macro_rules! known {
    ($a:literal $b:literal, $c:literal $d:literal, $e:literal $f:literal, $g:literal $h:literal) => {
        concat!(
            "({{has x.digests ",
            $a,
            "}} OR {{has x.digests ",
            $b,
            "}} \
             OR x.amount BETWEEN ",
            $c,
            " AND ",
            $d,
            " OR x.base BETWEEN ",
            $c,
            " AND ",
            $d,
            " OR x.amount BETWEEN ",
            $e,
            " AND ",
            $f,
            " OR x.base BETWEEN ",
            $e,
            " AND ",
            $f,
            " OR x.amount BETWEEN ",
            $g,
            " AND ",
            $h,
            " OR x.base BETWEEN ",
            $g,
            " AND ",
            $h,
            ")"
        )
    };
}

static FIND: Stmt = Stmt::written(
    "console.search",
    concat!(
        "SELECT x.payment FROM (SELECT s.at AS at, s.payment AS payment, s.amount AS amount, s.base AS base, \
         s.digests AS digests FROM payment_search s WHERE s.tenant = $1 AND s.at >= $2 AND s.at <= $3 \
         AND (s.at < $3 OR s.payment < $38) ORDER BY s.at DESC, s.payment DESC LIMIT $4) x WHERE ",
        known!("$6" "$7", "$8" "$9", "$10" "$11", "$12" "$13"),
        " AND ",
        known!("$14" "$15", "$16" "$17", "$18" "$19", "$20" "$21"),
        " AND ",
        known!("$22" "$23", "$24" "$25", "$26" "$27", "$28" "$29"),
        " AND ",
        known!("$30" "$31", "$32" "$33", "$34" "$35", "$36" "$37"),
        " ORDER BY x.at DESC, x.payment DESC LIMIT $5",
    ),
);
// The last payment that `FIND` scanned, if it did not reach the end.
static EDGE: Stmt = Stmt::written(
    "console.search_edge",
    "SELECT s.at FROM payment_search s WHERE s.tenant = $1 AND s.at >= $2 AND s.at < $3 \
     ORDER BY s.at DESC, s.payment DESC LIMIT 1 OFFSET $4",
);
static MIGRATED: Stmt =
    Stmt::written("search.migrated", "SELECT at FROM schema_version WHERE version = $1");
static AFTER: Stmt = Stmt::written(
    "search.after",
    "SELECT p.id FROM payment p WHERE p.tenant = $1 AND p.id > $2 AND p.id < $3 ORDER BY p.id LIMIT $4",
);
static WITHOUT_ROW: Stmt = Stmt::by_keys(
    "search.without_row",
    &[("tenant", Id), ("id", Id)],
    "SELECT {{payment p}}, {{payment_order o}} FROM {{keys}} \
     JOIN payment p ON p.tenant = k.tenant AND p.id = k.id \
     JOIN payment_order o ON o.tenant = p.tenant AND o.payment = p.id \
     LEFT JOIN payment_search s ON s.tenant = p.tenant AND s.at = p.accepted_at AND s.payment = p.id \
     WHERE s.payment IS NULL",
);
static ADD: Stmt = Stmt::insert_if_absent("search.add", &PAYMENT_SEARCH);

pub(super) static STATEMENTS: &[&Stmt] = &[&FIND, &EDGE, &MIGRATED, &AFTER, &WITHOUT_ROW, &ADD];

/// What an operator knows about a payment: each of `known` holds in at least one of its readings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaymentSearch {
    pub known: Vec<Vec<Reading>>,
    /// Accepted at or after.
    pub start: Option<Timestamp>,
    /// Accepted before this instant.
    pub end: Option<Timestamp>,
    /// The sender's name has these words and no others ([`plain_words`]).
    pub sender: Option<Vec<String>>,
}

/// The payments that a search found, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaymentsFound {
    pub records: Vec<Record>,
    /// Payments accepted before this instant were not searched; `None` = all were.
    pub searched_since: Option<Timestamp>,
}

impl PaymentSearch {
    fn fits(&self, record: &Record) -> bool {
        let (payment, order) = (&record.payment, &record.order);
        self.sender.as_ref().is_none_or(|name| plain_words(&order.sender_name) == *name)
            && self.holds(payment.accepted_at, &Searched::of_payment(payment, order))
    }

    /// Whether a record began in the period and all that is known holds for it.
    pub(super) fn holds(&self, at: Timestamp, it: &Searched) -> bool {
        self.start.is_none_or(|start| at >= start)
            && self.end.is_none_or(|end| at < end)
            && self.known.iter().all(|readings| readings.iter().any(|reading| reading.fits(it)))
    }

    /// The parameters that compare one known thing after the other.
    fn params(&self, key: &TenantKey) -> Vec<Value> {
        let compared = (0..COMPARED_MAX).flat_map(|at| match self.known.get(at) {
            Some(readings) => compared(readings, key),
            // Holds for every payment.
            None => {
                let mut params = vec![Value::Null; DIGESTS_MAX + 2 * DECIMALS.len()];
                params[0] = Value::Bytes(Vec::new());
                params
            }
        });
        compared.collect()
    }
}

/// Digests and bounds of one known thing.
fn compared(readings: &[Reading], key: &TenantKey) -> Vec<Value> {
    let digests = readings.iter().filter_map(Reading::term).map(|term| key.digest(&term));
    let mut params: Vec<Value> =
        digests.take(DIGESTS_MAX).map(|digest| Value::Bytes(digest.to_vec())).collect();
    params.resize(DIGESTS_MAX, Value::Null);
    for decimals in DECIMALS {
        let bounds = readings.iter().find_map(|reading| reading.minor_units(decimals));
        match bounds {
            Some((low, high)) => params.extend([low.into(), high.into()]),
            None => params.extend([Value::Null, Value::Null]),
        }
    }
    params
}

impl Store {
    /// A tenant's payments about which all of this holds, newest first, at most `limit` of the
    /// latest [`PAYMENTS_SEARCHED_MAX`].
    ///
    /// # Errors
    /// The database cannot be reached, or a row is not readable. The same for every read here.
    pub async fn find_payments(
        &self,
        tenant: TenantId,
        search: &PaymentSearch,
        limit: usize,
    ) -> Result<PaymentsFound, StoreError> {
        let keys = self.id_keys().await?;
        let start = search.start.unwrap_or(Timestamp(i64::MIN));
        let end = search.end.unwrap_or(Timestamp(i64::MAX));
        let params = search.params(&keys.search.of(tenant));
        let edge = most(PAYMENTS_SEARCHED_MAX - 1);
        let reached = self.one(&EDGE, ((tenant, start, end), edge)).await?;
        let start = reached.unwrap_or(start);
        let (mut found, mut until) = (Vec::new(), (end, Raw(Uuid::nil())));
        for _ in 0..ROUNDS_MAX {
            let (before, below) = until;
            let scan = ((tenant, start, before), most(PAYMENTS_SEARCHED_MAX), most(CANDIDATES));
            let ids: Vec<PaymentId> = self.many(&FIND, (scan, params.clone(), below)).await?;
            let records = self.records(tenant, &ids).await?;
            if let Some(last) = records.last().map(|record| &record.payment) {
                until = (last.accepted_at, Raw(keys.stored(last.id.0)));
            }
            found.extend(records.into_iter().filter(|record| search.fits(record)));
            if ids.len() < CANDIDATES || found.len() >= limit {
                found.truncate(limit);
                return Ok(PaymentsFound { records: found, searched_since: reached });
            }
        }
        Ok(PaymentsFound { records: found, searched_since: Some(until.0) })
    }

    /// Adds the search rows of payments that were accepted before the table existed or by a node of
    /// an older version, some at a time; returns how many. To be called again until it returns 0.
    ///
    /// # Errors
    /// As [`Store::find_payments`].
    pub async fn index_payments(&self, now: Timestamp) -> Result<usize, StoreError> {
        let keys = self.id_keys().await?;
        let migrated: Timestamp = self.only(&MIGRATED, TABLE_SINCE).await?;
        // A node's clock may be behind, and what it began before may be committed later.
        let end = (migrated + OLDER_NODES).min(now - COMMITTED_WITHIN);
        let end = Raw(keys.ids.first_at(end));
        let mut added = 0;
        for tenant in self.tenants().await? {
            added += self.index_payments_of(tenant.id, end).await?;
        }
        Ok(added)
    }

    async fn index_payments_of(&self, tenant: TenantId, end: Raw) -> Result<usize, StoreError> {
        let keys = self.id_keys().await?;
        let cursor = format!("payment_search.{tenant}");
        let known = self.meta(&cursor).await?.and_then(|text| Uuid::parse_str(&text).ok());
        let mut after = Raw(known.unwrap_or_default());
        let mut added = 0;
        for _ in 0..CHUNKS_MAX {
            let ids: Vec<Raw> = self.many(&AFTER, (tenant, after, end, most(CHUNK))).await?;
            let Some(last) = ids.last().copied() else { break };
            let missing: Vec<(Payment, Order)> =
                self.many_by(&WITHOUT_ROW, ids.into_iter().map(|id| (tenant, id))).await?;
            let mut columns = Columns::new(PAYMENT_SEARCH.row_columns(), missing.len());
            for (payment, order) in &missing {
                rows::payment_search::write(payment, order, &keys, &mut columns)?;
            }
            if !missing.is_empty() {
                self.write(vec![Step::rows(&ADD, columns.into_owned())]).await?;
            }
            added += missing.len();
            after = last;
            self.set_meta(&cursor, &last.0.to_string()).await?;
        }
        Ok(added)
    }
}
