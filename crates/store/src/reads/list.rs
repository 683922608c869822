//! Lists of payments: by creation time, filtered, paged. The index finds the ids (an offset is
//! skipped inside it), then only the page's rows are fetched.

use domain::country::Country;
use domain::ids::{AttemptId, PaymentId, TenantId};
use domain::payment::PaymentState;
use domain::time::Timestamp;
use uuid::Uuid;

use super::page::most;
use super::payments::Record;
use crate::error::StoreError;
use crate::sql::{Stmt, Value};
use crate::store::Store;

/// Replaces a missing lower bound.
const EARLIEST: i64 = i64::MIN;
const LATEST: i64 = i64::MAX;

// Without a filter by state the index alone suffices; with one the rows have to be read. PostgreSQL expects
// few rows of the states, and for a deep page would rather read and sort all the tenant's payments, by
// the primary key: compared from the country on, only the list's index has them, in the list's order.
static NEWEST: Stmt = Stmt::written(
    "list.newest",
    "SELECT p.id FROM payment p WHERE p.tenant = $1 AND p.country = $2 AND p.accepted_at >= $3 AND p.accepted_at < $4 \
     ORDER BY p.accepted_at DESC, p.id DESC LIMIT $5 OFFSET $6",
);
static OLDEST: Stmt = Stmt::written(
    "list.oldest",
    "SELECT p.id FROM payment p WHERE p.tenant = $1 AND p.country = $2 AND p.accepted_at >= $3 AND p.accepted_at < $4 \
     ORDER BY p.accepted_at, p.id LIMIT $5 OFFSET $6",
);
static NEWEST_IN_STATES: Stmt = Stmt::written(
    "list.newest_in_states",
    "SELECT p.id FROM payment p WHERE (p.country, p.tenant, p.accepted_at) >= ($2, $1, $3) \
     AND (p.country, p.tenant, p.accepted_at) < ($2, $1, $4) AND $7 LIKE '%,' || p.state || ',%' \
     ORDER BY p.country DESC, p.tenant DESC, p.accepted_at DESC, p.id DESC LIMIT $5 OFFSET $6",
);
static OLDEST_IN_STATES: Stmt = Stmt::written(
    "list.oldest_in_states",
    "SELECT p.id FROM payment p WHERE (p.country, p.tenant, p.accepted_at) >= ($2, $1, $3) \
     AND (p.country, p.tenant, p.accepted_at) < ($2, $1, $4) AND $7 LIKE '%,' || p.state || ',%' \
     ORDER BY p.country, p.tenant, p.accepted_at, p.id LIMIT $5 OFFSET $6",
);
static AFTER: Stmt = Stmt::written(
    "list.after",
    "SELECT p.id FROM payment p WHERE p.tenant = $1 AND p.country = $2 AND p.accepted_at >= $3 AND p.accepted_at < $4 \
     AND (p.accepted_at > $3 OR p.id > $5) ORDER BY p.accepted_at, p.id LIMIT $6",
);
static BY_REFERENCE: Stmt = Stmt::written(
    "list.by_reference",
    "SELECT r.payment FROM linked_reference r WHERE r.tenant = $1 AND r.reference = $2",
);
static BY_ATTEMPT: Stmt = Stmt::written(
    "list.by_attempt",
    "SELECT a.payment FROM attempt a WHERE a.tenant = $1 AND a.id = $2",
);
// A transfer's subject may also be an exchange order or a deposit: no payment record has their id.
static BY_TRANSFER: Stmt = Stmt::written(
    "list.by_transfer",
    "SELECT t.subject FROM transfer t WHERE t.tenant = $1 AND t.id = $2 AND t.subject IS NOT NULL",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[
    &NEWEST,
    &OLDEST,
    &NEWEST_IN_STATES,
    &OLDEST_IN_STATES,
    &AFTER,
    &BY_REFERENCE,
    &BY_ATTEMPT,
    &BY_TRANSFER,
];

/// A search term, matched exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Search {
    /// A payment's id as the client wrote it; an invalid id finds nothing.
    Id(String),
    /// The caller's own id.
    ExternalId(String),
    /// A bank reference, the payment's reference at the rail (an attempt's id: UETR, InstrId), or
    /// the id of a transaction of the tenant's wallet: a transfer that reserves, debits or refunds
    /// the payment's charge.
    LinkedTxn(String),
}

/// Selects a page of payments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListFilter {
    pub country: Country,
    /// States; empty = all.
    pub states: Vec<PaymentState>,
    /// Accepted at or after.
    pub start: Option<Timestamp>,
    /// Accepted before this instant.
    pub end: Option<Timestamp>,
    pub search: Option<Search>,
    /// Newest first (otherwise oldest first).
    pub newest_first: bool,
    /// Maximum number of payments.
    pub limit: usize,
    /// Number of payments to skip.
    pub offset: usize,
}

impl ListFilter {
    fn fits(&self, record: &Record) -> bool {
        let payment = &record.payment;
        payment.country == self.country
            && (self.states.is_empty() || self.states.contains(&payment.standing.state))
            && self.start.is_none_or(|start| payment.accepted_at >= start)
            && self.end.is_none_or(|end| payment.accepted_at < end)
    }

    fn statement(&self) -> &'static Stmt {
        match (self.newest_first, self.states.is_empty()) {
            (true, true) => &NEWEST,
            (false, true) => &OLDEST,
            (true, false) => &NEWEST_IN_STATES,
            (false, false) => &OLDEST_IN_STATES,
        }
    }

    fn params(&self, tenant: TenantId) -> Vec<Value> {
        let number = |count: usize| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
        let mut params = vec![
            tenant.0.into(),
            self.country.alpha3().into(),
            self.start.map_or(EARLIEST, |start| start.0).into(),
            self.end.map_or(LATEST, |end| end.0).into(),
            number(self.limit),
            number(self.offset),
        ];
        if !self.states.is_empty() {
            let names: Vec<&str> = self.states.iter().map(|state| state.name()).collect();
            params.push(format!(",{},", names.join(",")).into());
        }
        params
    }
}

impl Store {
    /// Lists payments of a tenant.
    pub async fn list_payments(
        &self,
        tenant: TenantId,
        filter: &ListFilter,
    ) -> Result<Vec<Record>, StoreError> {
        if filter.limit == 0 {
            return Ok(Vec::new());
        }
        if let Some(search) = &filter.search {
            return self.search(tenant, search, filter).await;
        }
        let ids: Vec<PaymentId> = self.many(filter.statement(), filter.params(tenant)).await?;
        self.records(tenant, &ids).await
    }

    /// Payments of a country that were accepted before `end`, oldest first: from an instant on, and
    /// after a payment of that instant if one is given.
    pub async fn payments_after(
        &self,
        (tenant, country): (TenantId, Country),
        (at, payment): (Timestamp, Option<PaymentId>),
        end: Timestamp,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        let keys = self.id_keys().await?;
        let mark = payment.map_or(Uuid::nil(), |payment| keys.stored(payment.0));
        let params = vec![
            tenant.0.into(),
            country.alpha3().into(),
            at.0.into(),
            end.0.into(),
            mark.into(),
            most(limit),
        ];
        let ids: Vec<PaymentId> = self.many(&AFTER, params).await?;
        self.records(tenant, &ids).await
    }

    /// A search finds a few payments at most: they are filtered, sorted and paged here.
    async fn search(
        &self,
        tenant: TenantId,
        search: &Search,
        filter: &ListFilter,
    ) -> Result<Vec<Record>, StoreError> {
        let ids = match search {
            Search::Id(text) => PaymentId::parse(text).into_iter().collect(),
            Search::ExternalId(text) => {
                self.payment_id_by_external(tenant, text).await?.into_iter().collect()
            }
            Search::LinkedTxn(text) => self.linked(tenant, text).await?,
        };
        let mut records = self.records(tenant, &ids).await?;
        let stored_id = {
            let keys = self.id_keys().await?;
            move |id: PaymentId| keys.stored(id.0)
        };
        records.retain(|record| filter.fits(record));
        records.sort_by_key(|record| (record.payment.accepted_at, stored_id(record.payment.id)));
        if filter.newest_first {
            records.reverse();
        }
        Ok(records.into_iter().skip(filter.offset).take(filter.limit).collect())
    }

    async fn linked(&self, tenant: TenantId, text: &str) -> Result<Vec<PaymentId>, StoreError> {
        let mut ids: Vec<PaymentId> = self.many(&BY_REFERENCE, (tenant, text)).await?;
        if let Some(attempt) =
            AttemptId::parse(text).or_else(|| AttemptId::from_instruction_id(text))
        {
            ids.extend(self.many::<PaymentId>(&BY_ATTEMPT, (tenant, attempt)).await?);
        }
        if let Ok(transfer) = text.parse::<Uuid>() {
            ids.extend(self.many::<PaymentId>(&BY_TRANSFER, (tenant, transfer)).await?);
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate;
    use crate::sql::Dialect;

    #[test]
    fn every_page_is_read_in_the_order_of_the_index() {
        let connection = rusqlite::Connection::open_in_memory().expect("opens");
        connection.execute_batch(&migrate::schema(Dialect::Sqlite)).expect("made");
        for stmt in [&NEWEST, &OLDEST, &NEWEST_IN_STATES, &OLDEST_IN_STATES, &AFTER] {
            let sql = format!("EXPLAIN QUERY PLAN {}", stmt.sql(Dialect::Sqlite));
            let mut prepared = connection.prepare(&sql).expect("prepared");
            let count = prepared.parameter_count();
            let params = rusqlite::params_from_iter((0..count).map(|_| rusqlite::types::Null));
            let steps = prepared.query_map(params, |row| row.get::<_, String>(3)).expect("planned");
            let plan: Vec<String> = steps.map(|step| step.expect("a text")).collect();
            let plan = plan.join("\n");
            assert!(plan.starts_with("SEARCH p USING"), "{}: {plan}", stmt.name);
            assert!(plan.contains("INDEX payment_list ("), "{}: {plan}", stmt.name);
            assert!(!plan.contains("TEMP B-TREE"), "{} sorts: {plan}", stmt.name);
        }
    }
}
