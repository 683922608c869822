//! Our ids by which banks name an attempt, and the attempts that the ids in their reports refer to.

use std::collections::{BTreeMap, BTreeSet};

use domain::attempt::Attempt;
use domain::exchange::ExchangeOrder;
use domain::ids::{AttemptId, PaymentId, RecallId, TenantId};
use domain::payment::Payment;
use domain::rail::RailId;
use domain::rail_ids::{self, Candidate, Candidates, ReportIds, SentIn};
use domain::recall::Recall;
use uuid::Uuid as Id;

use crate::driver::Step;
use crate::error::StoreError;
use crate::rows::column::{Get, Put as _};
use crate::sql::Kind::{Int, Text, Uuid};
use crate::sql::{Columns, Stmt, tables};
use crate::store::Store;

static INSERT: Stmt = Stmt::insert_if_absent("rail.insert_ids", &tables::RAIL_ID);
static BY_HEAD: Stmt = Stmt::by_keys(
    "rail.by_head",
    &[("rail", Text), ("head", Int)],
    "SELECT {{rail_id r}}, {{attempt a}} FROM {{keys}} JOIN rail_id r ON r.rail = k.rail AND r.head = k.head \
     JOIN attempt a ON a.id = r.attempt",
);
// Attempts sent before their ids were stored: by the whole id, and by that of the payment's first
// attempt, which equals the payment's.
static BY_ID: Stmt = Stmt::by_keys(
    "rail.by_id",
    &[("id", Uuid), ("rail", Text)],
    "SELECT {{attempt a}} FROM {{keys}} JOIN attempt a ON a.id = k.id AND a.rail = k.rail",
);
static BY_PAYMENT: Stmt = Stmt::by_keys(
    "rail.by_payment",
    &[("id", Uuid), ("rail", Text)],
    "SELECT {{attempt a}} FROM {{keys}} JOIN attempt f ON f.id = k.id \
     JOIN attempt a ON a.tenant = f.tenant AND a.payment = f.payment AND a.rail = k.rail",
);
static BY_REFERENCE: Stmt = Stmt::by_keys(
    "rail.by_reference",
    &[("tenant", Uuid), ("reference", Text), ("rail", Text)],
    "SELECT {{attempt a}} FROM {{keys}} JOIN linked_reference l ON l.tenant = k.tenant AND l.reference = k.reference \
     JOIN attempt a ON a.tenant = l.tenant AND a.payment = l.payment AND a.rail = k.rail",
);
static PAYMENTS: Stmt = Stmt::by_keys(
    "rail.payments",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{payment p}} FROM {{keys}} JOIN payment p ON p.tenant = k.tenant AND p.id = k.id",
);

static UNPAID_PAYMENTS: Stmt = Stmt::by_keys(
    "rail.unpaid_payments",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{payment p}} FROM {{keys}} JOIN payment p ON p.tenant = k.tenant AND p.id = k.id AND p.state IN ('queued', 'unknown', 'rejected', 'failed', 'canceled', 'reversed')",
);

static EXCHANGES: Stmt = Stmt::by_keys(
    "rail.exchanges",
    &[("tenant", Uuid), ("id", Uuid)],
    "SELECT {{exchange_order o}} FROM {{keys}} JOIN exchange_order o ON o.tenant = k.tenant AND o.id = k.id",
);

static RECALLS: Stmt = Stmt::by_keys(
    "rail.recalls_of",
    &[("payment", Uuid), ("tenant", Uuid)],
    "SELECT {{recall r}} FROM {{keys}} JOIN recall r ON r.payment = k.payment AND r.tenant = k.tenant",
);
static MESSAGE: Stmt = Stmt::written(
    "rail.message_of",
    "SELECT r.message FROM rail_id r WHERE r.attempt = $1 AND r.rail = $2 AND r.message IS NOT NULL \
     ORDER BY r.message LIMIT 1",
);

pub(crate) static STATEMENTS: &[&Stmt] = &[
    &INSERT,
    &BY_HEAD,
    &BY_ID,
    &BY_PAYMENT,
    &BY_REFERENCE,
    &PAYMENTS,
    &UNPAID_PAYMENTS,
    &EXCHANGES,
    &RECALLS,
    &MESSAGE,
];

/// Maximum number of references per lookup: each is looked up once for every tenant.
const REFERENCES_MAX: usize = 10_000;
/// Payments looked up at once, each for every tenant.
const NAMED_AT_ONCE: usize = 500;

/// An attempt once more under each of the wanted references of its return: a candidate has one.
fn of_return(attempt: &Attempt, wanted: &BTreeSet<String>) -> Vec<(String, Candidate)> {
    let found = attempt.return_references().into_iter().filter(|it| wanted.contains(*it));
    let under = |reference: &str| {
        let reference = Some(reference.to_owned());
        Candidate { reference, ..Candidate::of(attempt) }
    };
    found.map(|reference| (reference.to_owned(), under(reference))).collect()
}

/// A message to a rail.
#[derive(Clone, Debug)]
pub struct SentMessage<'a> {
    pub rail: &'a RailId,
    /// Its id; `None` for a rail without messages.
    pub id: Option<String>,
    /// Its attempts with their payments, in order.
    pub attempts: Vec<(AttemptId, PaymentId)>,
}

impl Store {
    /// Stores the ids that will name the messages' attempts, before they are sent: those of all
    /// messages, or none.
    pub async fn keep_sent(&self, messages: &[SentMessage<'_>]) -> Result<(), StoreError> {
        let keys = self.id_keys().await?;
        let count: usize = messages.iter().map(|message| message.attempts.len()).sum();
        if count == 0 {
            return Ok(());
        }
        let mut columns = Columns::new(tables::RAIL_ID.row_columns(), count * 2);
        for SentMessage { rail, id, attempts } in messages {
            let in_message = id.as_deref().and_then(|id| Some((rail_ids::head(id)?, id)));
            for (at, (attempt, payment)) in attempts.iter().enumerate() {
                if let Some((head, id)) = in_message {
                    (*rail, head, *attempt, Some(id), at + 1).put(&keys, &mut columns)?;
                }
                let own: BTreeSet<String> =
                    [attempt.instruction_id(), payment.end_to_end_id()].into();
                for head in own.iter().filter_map(|id| rail_ids::head(id)) {
                    (*rail, head, *attempt, None::<&str>, 0_i64).put(&keys, &mut columns)?;
                }
            }
        }
        self.write(vec![Step::rows(&INSERT, columns.into_owned())]).await.map(drop)
    }

    /// Stores the id by which answers will name the recall of an attempt, before its message is sent.
    pub async fn keep_recall(
        &self,
        rail: &RailId,
        recall: RecallId,
        attempt: AttemptId,
    ) -> Result<(), StoreError> {
        let Some(head) = rail_ids::head(&recall.message_id()) else { return Ok(()) };
        let keys = self.id_keys().await?;
        let mut columns = Columns::new(tables::RAIL_ID.row_columns(), 1);
        (rail, head, attempt, None::<&str>, 0_i64).put(&keys, &mut columns)?;
        self.write(vec![Step::rows(&INSERT, columns.into_owned())]).await.map(drop)
    }

    /// The message that carried an attempt; `None` for a rail without messages.
    pub async fn message_of(
        &self,
        attempt: AttemptId,
        rail: &RailId,
    ) -> Result<Option<String>, StoreError> {
        self.one(&MESSAGE, (attempt, rail)).await
    }

    /// The attempts over `rail` that any of these ids may name.
    pub async fn rail_candidates<'a>(
        &self,
        rail: &RailId,
        ids: impl Iterator<Item = &'a ReportIds>,
    ) -> Result<Candidates, StoreError> {
        let (mut heads, mut whole, mut references) =
            (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for it in ids {
            heads.extend(it.strong().chain(it.messages()).filter_map(rail_ids::head));
            whole.extend(it.strong().filter_map(rail_ids::whole));
            references.extend(it.reference().filter(|_| !it.may_be_ours()).map(str::to_owned));
        }
        let mut found: BTreeMap<AttemptId, Candidate> = BTreeMap::new();
        type Sent = (RailId, i64, AttemptId, Option<String>, usize, Attempt);
        let sent: Vec<Sent> =
            self.many_by(&BY_HEAD, heads.iter().map(|head| (rail, *head))).await?;
        for (_, _, _, message, position, attempt) in sent {
            let candidate = found.entry(attempt.id).or_insert_with(|| Candidate::of(&attempt));
            candidate.sent.extend(message.map(|message| SentIn { message, position }));
        }
        let known: BTreeSet<Id> =
            found.values().flat_map(|it| [it.attempt.0, it.payment.0]).collect();
        whole.retain(|id| !known.contains(id));
        for stmt in [&BY_ID, &BY_PAYMENT].into_iter().filter(|_| !whole.is_empty()) {
            let wanted = whole.iter().map(|id| (*id, rail));
            for attempt in self.many_by::<Attempt>(stmt, wanted).await? {
                found.entry(attempt.id).or_insert_with(|| Candidate::of(&attempt));
            }
        }
        let mut returned: BTreeMap<(AttemptId, String), Candidate> = BTreeMap::new();
        for attempt in self.by_reference(rail, &references).await? {
            let of_return = of_return(&attempt, &references);
            let own = attempt.bank_reference.as_ref();
            if of_return.is_empty() && !own.is_some_and(|own| references.contains(own)) {
                continue; // Another attempt of the payment has the reference.
            }
            found.entry(attempt.id).or_insert_with(|| Candidate::of(&attempt));
            returned.extend(of_return.into_iter().map(|it| ((attempt.id, it.0), it.1)));
        }
        self.add_recalls(heads, &mut found).await?;
        Ok(Candidates::new(found.into_values().chain(returned.into_values()).collect()))
    }

    /// The payments of any tenant that these ids name, whether or not they were sent.
    pub async fn payments_named<'a>(
        &self,
        ids: impl Iterator<Item = &'a ReportIds>,
    ) -> Result<Vec<Payment>, StoreError> {
        self.named(&PAYMENTS, ids).await
    }

    /// Those of them that are queued or unknown, or have ended without a payout.
    pub async fn unpaid_named<'a>(
        &self,
        ids: impl Iterator<Item = &'a ReportIds>,
    ) -> Result<Vec<Payment>, StoreError> {
        self.named(&UNPAID_PAYMENTS, ids).await
    }

    /// The exchange orders of any tenant that these ids name, whether or not they were paid out: a
    /// payout's id is the order's.
    pub async fn exchanges_named<'a>(
        &self,
        ids: impl Iterator<Item = &'a ReportIds>,
    ) -> Result<Vec<ExchangeOrder>, StoreError> {
        self.named(&EXCHANGES, ids).await
    }

    async fn named<'a, T: Get + Send>(
        &self,
        stmt: &'static Stmt,
        ids: impl Iterator<Item = &'a ReportIds>,
    ) -> Result<Vec<T>, StoreError> {
        let whole: BTreeSet<Id> =
            ids.flat_map(|it| it.strong().filter_map(rail_ids::whole)).collect();
        if whole.is_empty() {
            return Ok(Vec::new());
        }
        let tenants: Vec<TenantId> =
            self.tenants().await?.into_iter().map(|tenant| tenant.id).collect();
        let whole: Vec<Id> = whole.into_iter().collect();
        let mut found = Vec::new();
        for some in whole.chunks(NAMED_AT_ONCE) {
            let wanted =
                some.iter().flat_map(|id| tenants.iter().map(move |tenant| (*tenant, *id)));
            found.extend(self.many_by::<T>(stmt, wanted).await?);
        }
        Ok(found)
    }

    /// Adds the recalls that the ids may name: those with an id that is none of the attempts' own.
    async fn add_recalls(
        &self,
        mut heads: BTreeSet<i64>,
        found: &mut BTreeMap<AttemptId, Candidate>,
    ) -> Result<(), StoreError> {
        for it in found.values() {
            let own = [it.attempt.instruction_id(), it.payment.end_to_end_id()];
            let messages = it.sent.iter().map(|sent| &sent.message);
            for id in own.iter().chain(messages) {
                if let Some(head) = rail_ids::head(id) {
                    heads.remove(&head);
                }
            }
        }
        if heads.is_empty() || found.is_empty() {
            return Ok(());
        }
        let payments: BTreeSet<(PaymentId, TenantId)> =
            found.values().map(|it| (it.payment, it.tenant)).collect();
        for recall in self.many_by::<Recall>(&RECALLS, payments.into_iter()).await? {
            if let Some(it) = found.get_mut(&recall.attempt) {
                it.recalls.push(recall.id.message_id());
            }
        }
        Ok(())
    }

    async fn by_reference(
        &self,
        rail: &RailId,
        references: &BTreeSet<String>,
    ) -> Result<Vec<Attempt>, StoreError> {
        if references.is_empty() {
            return Ok(Vec::new());
        }
        let tenants: Vec<TenantId> =
            self.tenants().await?.into_iter().map(|tenant| tenant.id).collect();
        let references = references.iter().take(REFERENCES_MAX);
        let wanted = references
            .flat_map(|reference| tenants.iter().map(move |tenant| (*tenant, reference, rail)));
        self.many_by(&BY_REFERENCE, wanted).await
    }
}
