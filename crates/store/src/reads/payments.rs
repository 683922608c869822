//! Quotes, payments and attempts, individually.

use std::collections::{BTreeSet, HashMap};

use domain::attempt::Attempt;
use domain::ids::{AttemptId, PaymentId, QuoteId, TenantId};
use domain::order::Order;
use domain::payment::Payment;
use domain::quote::Quote;
use domain::rail::RailId;
use domain::sender_limit::{UsageByRail, UsageKey};

use crate::error::StoreError;
use crate::load::{IDEMPOTENCY, SPENT};
use crate::need::IdempotencyKey;
use crate::rows::column::Get;
use crate::rows::{self, Keys};
use crate::sql::Kind::{Text, Uuid};
use crate::sql::{Fields, Stmt};
use crate::store::Store;
use crate::working_set::IdempotencyRecord;

static QUOTE: Stmt = Stmt::written(
    "read.quote",
    "SELECT {{quote q}} FROM quote q WHERE q.tenant = $1 AND q.id = $2",
);
/// The condition with COALESCE on the quote's tenant is always true. Without it PostgreSQL may
/// assume, while it believes a table to be small, that the tenant alone finds the quote, and read
/// all the tenant's quotes for each payment.
pub(crate) static RECORDS: Stmt = Stmt::by_keys(
    "read.records",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{payment p}}, {{payment_order o}}, {{quote q}} FROM {{keys}} \
     JOIN payment p ON p.tenant = k.tenant AND p.id = k.id \
     JOIN payment_order o ON o.tenant = p.tenant AND o.payment = p.id \
     JOIN quote q ON q.tenant = COALESCE(p.tenant, k.tenant) AND q.id = p.quote",
);
static BY_EXTERNAL_ID: Stmt = Stmt::written(
    "read.by_external_id",
    "SELECT e.payment FROM external_id e WHERE e.tenant = $1 AND e.external_id = $2",
);
static ATTEMPTS: Stmt = Stmt::written(
    "read.attempts",
    "SELECT {{attempt a}} FROM attempt a WHERE a.tenant = $1 AND a.payment = $2 ORDER BY a.number",
);
static ATTEMPT_OWNERS: Stmt = Stmt::by_keys(
    "read.attempt_owners",
    &[("id", Uuid), ("rail", Text)],
    "SELECT a.id, a.tenant, a.payment FROM {{keys}} JOIN attempt a ON a.id = k.id AND a.rail = k.rail",
);

pub(crate) static STATEMENTS: &[&Stmt] =
    &[&QUOTE, &RECORDS, &BY_EXTERNAL_ID, &ATTEMPTS, &ATTEMPT_OWNERS];

/// A payment with its order and the quote that it used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The payment in its current state.
    pub payment: Payment,
    pub order: Order,
    /// The quote that it used.
    pub quote: Quote,
}

impl Get for Record {
    fn get(fields: &mut Fields<'_>, keys: &Keys) -> Result<Record, StoreError> {
        let (payment, order, quote) = Get::get(fields, keys)?;
        Ok(Record { payment, order, quote })
    }
}

impl Store {
    pub async fn quote(&self, tenant: TenantId, id: QuoteId) -> Result<Option<Quote>, StoreError> {
        self.one(&QUOTE, (tenant, id)).await
    }

    /// What a request with this `Idempotency-Key` created.
    pub async fn made_before(
        &self,
        tenant: TenantId,
        key: &IdempotencyKey,
    ) -> Result<Option<IdempotencyRecord>, StoreError> {
        let key = (tenant, &key.scope, &key.key);
        let made: Vec<((TenantId, IdempotencyKey), IdempotencyRecord)> =
            self.many_by(&IDEMPOTENCY, [key].into_iter()).await?;
        Ok(made.into_iter().next().map(|(_, record)| record))
    }

    /// Senders' usage by rail; an unused rail has no entry. An empty question reads nothing. Before
    /// the binding decision, the batch reads the same under the tenant's lock.
    pub async fn usage_by_rail(
        &self,
        tenant: TenantId,
        asked: Vec<UsageKey>,
    ) -> Result<UsageByRail, StoreError> {
        if asked.is_empty() {
            return Ok(UsageByRail::new());
        }
        let asked: Vec<(TenantId, UsageKey)> =
            asked.into_iter().map(|usage_key| (tenant, usage_key)).collect();
        let usages: Vec<rows::attempt::Usage> =
            self.many_by(&SPENT, asked.iter().map(rows::attempt::tally_key)).await?;
        Ok(usages.into_iter().map(|((_, usage_key), spent)| (usage_key.rail, spent)).collect())
    }

    /// A payment with its order and its quote.
    pub async fn payment_record(
        &self,
        tenant: TenantId,
        id: PaymentId,
    ) -> Result<Option<Record>, StoreError> {
        Ok(self.records(tenant, &[id]).await?.pop())
    }

    /// The payments that exist among these, in the given order.
    pub async fn records(
        &self,
        tenant: TenantId,
        ids: &[PaymentId],
    ) -> Result<Vec<Record>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut found: Vec<Record> =
            self.many_by(&RECORDS, ids.iter().map(|id| (tenant, *id))).await?;
        let place: HashMap<PaymentId, usize> =
            ids.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        found.sort_by_key(|record| place.get(&record.payment.id).copied());
        Ok(found)
    }

    /// The payment with this external id.
    pub async fn payment_id_by_external(
        &self,
        tenant: TenantId,
        external_id: &str,
    ) -> Result<Option<PaymentId>, StoreError> {
        self.one(&BY_EXTERNAL_ID, (tenant, external_id)).await
    }

    /// A payment's attempts, in order.
    pub async fn attempts(
        &self,
        tenant: TenantId,
        payment: PaymentId,
    ) -> Result<Vec<Attempt>, StoreError> {
        self.many(&ATTEMPTS, (tenant, payment)).await
    }

    /// The owners of attempts in a page of `rail`'s reports; attempts over other rails are not
    /// found.
    pub async fn attempt_owners(
        &self,
        rail: &RailId,
        ids: impl IntoIterator<Item = AttemptId>,
    ) -> Result<HashMap<AttemptId, (TenantId, PaymentId)>, StoreError> {
        let ids: BTreeSet<AttemptId> = ids.into_iter().collect();
        let wanted = ids.into_iter().map(|id| (id, rail));
        let owners: Vec<(AttemptId, TenantId, PaymentId)> =
            self.many_by(&ATTEMPT_OWNERS, wanted).await?;
        Ok(owners.into_iter().map(|(id, tenant, payment)| (id, (tenant, payment))).collect())
    }
}
