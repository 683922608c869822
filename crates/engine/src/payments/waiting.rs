//! Payments that wait for reviewers: held by screening, or of unknown outcome.

use domain::country::Country;
use domain::ids::TenantId;
use domain::payment::{PaymentState, ReviewState};
use store::{ListFilter, Record, Store, StoreError};

/// Maximum number of payments scanned per country.
const LOOKED_THROUGH_MAX: usize = 1_000;

/// Unknown payments and queued ones held by screening, oldest first.
pub async fn waiting(store: &Store, tenant: TenantId) -> Result<Vec<Record>, StoreError> {
    let mut found = Vec::new();
    for country in Country::ALL {
        let filter = ListFilter {
            country,
            states: vec![PaymentState::Queued, PaymentState::Unknown],
            start: None,
            end: None,
            search: None,
            newest_first: false,
            limit: LOOKED_THROUGH_MAX,
            offset: 0,
        };
        found.extend(store.list_payments(tenant, &filter).await?);
    }
    found.retain(|record| {
        record.payment.standing.state == PaymentState::Unknown
            || record.payment.review == ReviewState::Waiting
    });
    found.sort_by_key(|record| record.payment.accepted_at);
    Ok(found)
}
