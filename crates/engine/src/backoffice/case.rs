//! All stored records of one payment.

use domain::attempt::Attempt;
use domain::event::Event;
use domain::ids::{PaymentId, TenantId};
use domain::job::Job;
use domain::payment::Discrepancy;
use domain::recall::Recall;
use domain::time::Timestamp;
use store::{Record, Store, StoreError, StoredTransfer};

/// A payment with its order, quote and history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The payment, its order, its quote.
    pub record: Record,
    /// Its attempts in order.
    pub attempts: Vec<Attempt>,
    /// Its recalls, newest first.
    pub recalls: Vec<Recall>,
    /// Its transfers in booking order.
    pub transfers: Vec<StoredTransfer>,
    /// Retained events of its quote and of itself, in order.
    pub events: Vec<Event>,
    /// Its next job; `None` in a terminal state.
    pub job: Option<Job>,
    /// Rail reports that contradict the payment's state.
    pub discrepancies: Vec<(Timestamp, Discrepancy)>,
}

/// Returns the case of a payment; `None` if the tenant has no payment with this id.
pub async fn case(
    store: &Store,
    tenant: TenantId,
    id: PaymentId,
) -> Result<Option<Case>, StoreError> {
    let Some(record) = store.payment_record(tenant, id).await? else { return Ok(None) };
    let attempts = store.attempts(tenant, id).await?;
    let mut discrepancies = Vec::new();
    for attempt in &attempts {
        discrepancies.extend(store.discrepancies_of(tenant, id, attempt.id).await?);
    }
    let mut events = store.events_of(tenant, record.payment.quote.0).await?;
    events.extend(store.events_of(tenant, id.0).await?);
    events.sort_by_key(|event| event.seq);
    Ok(Some(Case {
        transfers: store.payment_transfers(tenant, &record.payment).await?,
        job: store.job_of(tenant, id.0).await?,
        recalls: store.recalls(tenant, id).await?,
        record,
        attempts,
        events,
        discrepancies,
    }))
}
