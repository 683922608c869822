//! Whether a sender has room left on a rail. Whoever sends has looked before; what counts is what is found here, under the
//! tenant's lock and with what the batch has begun.

use domain::ids::TenantId;
use domain::job::JobKind;
use domain::money::Money;
use domain::rail::RailId;
use domain::sender_limit::{Sender, Tally};
use domain::time::{Span, Timestamp};
use store::working_set::WorkingSet;
use uuid::Uuid;

use super::Rules;

/// What a rail's limits say to one more attempt.
pub(super) enum Room {
    /// There is room. The attempt counts for this sender, if the rail counts at all.
    Is(Option<Sender>),
    /// There is none, or it was looked at on another day: a rail is to be chosen anew.
    LookAgain,
}

pub(super) fn room(
    ws: &WorkingSet,
    tenant: TenantId,
    (rail, tally): (&RailId, Option<&Tally>),
    amount: Money,
    rules: Rules<'_>,
    now: Timestamp,
) -> Room {
    let Some(limits) = rules.corridors.rail(rail).and_then(|rail| rail.sender_limits.as_ref()) else {
        return Room::Is(None);
    };
    match tally.filter(|tally| tally.rail == *rail && tally.window == limits.window(now)) {
        Some(tally) if limits.exceeded_by(ws.spent(tenant, tally), amount).is_none() => Room::Is(Some(tally.sender)),
        _ => Room::LookAgain,
    }
}

/// How long until it is looked at again: at midnight a node's clock may be some seconds away from the database's.
const AGAIN_IN: Span = Span::secs(1);

/// Has a rail chosen anew. No try is counted: nobody has waited for a route.
pub(super) fn look_again(ws: &mut WorkingSet, (tenant, subject): (TenantId, Uuid), kind: JobKind, now: Timestamp) {
    if let Some(mut job) = ws.jobs.get(&(tenant, subject)).cloned().flatten() {
        (job.kind, job.run_at, job.leased_until) = (kind, now + AGAIN_IN, None);
        ws.jobs.put((tenant, subject), Some(job));
    }
}
