//! The history of one quote or payment: its events, job and transfers, and contradictory rail
//! reports.
//!
//! No index leads from a payment to its transfers: it would slow down every payment, and only
//! operators query it. Transfer ids are in time order, so they are searched around the instants at
//! which the payment moved.

use domain::event::Event;
use domain::ids::{AttemptId, PaymentId, TenantId};
use domain::job::Job;
use domain::payment::{Discrepancy, Payment, PaymentState};
use domain::time::{Span, Timestamp};
use uuid::Uuid;

use crate::error::StoreError;
use crate::rows::Keys;
use crate::rows::column::Raw;
use crate::rows::ledger::StoredTransfer;
use crate::sql::Stmt;
use crate::store::Store;

/// A set's transfers are numbered within this time.
const ONE_BREATH: Span = Span::secs(10);
/// Differences between the clock that numbers transfers and the one that dates them: each span is
/// searched in turn.
const CLOCKS_DIFFER: [Span; 3] = [Span::secs(2), Span::secs(60), Span::hours(1)];

static EVENTS: Stmt = Stmt::written(
    "console.events_of",
    "SELECT {{event e}} FROM event e WHERE e.tenant = $1 AND e.subject = $2 ORDER BY e.version",
);
static JOB: Stmt = Stmt::written(
    "console.job_of",
    "SELECT {{job j}} FROM job j WHERE j.tenant = $1 AND j.subject = $2",
);
static HOLD: Stmt = Stmt::written(
    "console.hold",
    "SELECT {{transfer t}} FROM transfer t WHERE t.tenant = $1 AND t.id = $2 \
     UNION ALL SELECT {{transfer e}} FROM transfer e WHERE e.tenant = $1 AND e.pending = $2",
);
static AROUND: Stmt = Stmt::written(
    "console.transfers_around",
    "SELECT {{transfer t}} FROM transfer t WHERE t.tenant = $1 AND t.id > $2 AND t.id < $3 AND t.subject = $4 \
     ORDER BY t.id",
);
static DISCREPANCIES: Stmt = Stmt::written(
    "console.discrepancies_of",
    "SELECT d.at, d.what FROM discrepancy d WHERE d.tenant = $1 AND d.attempt = $2 ORDER BY d.at, d.digest",
);

pub(super) static STATEMENTS: &[&Stmt] = &[&EVENTS, &JOB, &HOLD, &AROUND, &DISCREPANCIES];

impl Store {
    /// All retained events about one quote or payment, in order.
    pub async fn events_of(
        &self,
        tenant: TenantId,
        subject: Uuid,
    ) -> Result<Vec<Event>, StoreError> {
        self.many(&EVENTS, (tenant, subject)).await
    }

    /// The next job of a record; `None` if there is none.
    pub async fn job_of(&self, tenant: TenantId, subject: Uuid) -> Result<Option<Job>, StoreError> {
        self.one(&JOB, (tenant, subject)).await
    }

    /// All transfers of a payment, in booking order.
    pub async fn payment_transfers(
        &self,
        tenant: TenantId,
        payment: &Payment,
    ) -> Result<Vec<StoredTransfer>, StoreError> {
        let keys = self.id_keys().await?;
        let mut found: Vec<StoredTransfer> = self.many(&HOLD, (tenant, payment.hold)).await?;
        if let Some(end) =
            found.iter().find(|transfer| transfer.pending.is_some()).map(|transfer| transfer.id)
        {
            let first = keys.stored(end.0);
            let last = keys.ids.first_at(keys.ids.made_at(first) + ONE_BREATH);
            let rest = self.transfers_around(payment, (first, last)).await?;
            found.extend(rest.into_iter().filter(|transfer| transfer.set == end));
        }
        if payment.standing.state == PaymentState::Reversed && payment.settled_at.is_some() {
            found.extend(self.given_back(&keys, payment).await?);
        }
        found.sort_by_key(|transfer| keys.stored(transfer.id.0));
        found.dedup_by_key(|transfer| transfer.id);
        Ok(found)
    }

    /// The set that refunded a returned payment. Its reservation shows the offset of the clock that
    /// numbers transfers.
    async fn given_back(
        &self,
        keys: &Keys,
        payment: &Payment,
    ) -> Result<Vec<StoredTransfer>, StoreError> {
        let off = payment.accepted_at - keys.ids.made_at(keys.stored(payment.hold.0));
        let at = payment.standing.state_at - off;
        for differ in CLOCKS_DIFFER {
            let bounds = (keys.ids.first_at(at - differ), keys.ids.first_at(at + differ));
            let mut found = self.transfers_around(payment, bounds).await?;
            found.retain(|transfer| transfer.reason == "payment.return");
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    async fn transfers_around(
        &self,
        payment: &Payment,
        (above, below): (Uuid, Uuid),
    ) -> Result<Vec<StoredTransfer>, StoreError> {
        self.many(&AROUND, (payment.tenant, Raw(above), Raw(below), payment.id)).await
    }

    /// Contradictory rail reports about an attempt, each with the time of its first report.
    pub async fn discrepancies_of(
        &self,
        tenant: TenantId,
        payment: PaymentId,
        attempt: AttemptId,
    ) -> Result<Vec<(Timestamp, Discrepancy)>, StoreError> {
        let found: Vec<(Timestamp, String)> = self.many(&DISCREPANCIES, (tenant, attempt)).await?;
        let discrepancy = |(at, what)| (at, Discrepancy { payment, attempt, what });
        Ok(found.into_iter().map(discrepancy).collect())
    }
}
