//! Everything that is kept about one payment, together.

use domain::attempt::Attempt;
use domain::event::Event;
use domain::ids::{PaymentId, TenantId};
use domain::job::Job;
use domain::payment::Discrepancy;
use domain::time::Timestamp;
use store::{Record, Store, StoreError, StoredTransfer};

/// A payment with its order and quote, and all that became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The payment, its order, its quote.
    pub record: Record,
    /// Its attempts, the first one first.
    pub attempts: Vec<Attempt>,
    /// Its transfers in the order in which they were booked.
    pub transfers: Vec<StoredTransfer>,
    /// Events about its quote and about itself that are still kept, in their order.
    pub events: Vec<Event>,
    /// What is to be done next; `None` at its end.
    pub job: Option<Job>,
    /// What rails said that cannot be right.
    pub discrepancies: Vec<(Timestamp, Discrepancy)>,
}

/// The case of a payment; `None` where the tenant has none of this id.
///
/// # Errors
/// The database cannot be reached, or a row is not readable.
pub async fn case(store: &Store, tenant: TenantId, id: PaymentId) -> Result<Option<Case>, StoreError> {
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
        record,
        attempts,
        events,
        discrepancies,
    }))
}
