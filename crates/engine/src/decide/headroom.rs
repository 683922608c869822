//! Whether a sender has headroom left on a rail. The worker checked before sending; the binding
//! check is this one, under the tenant's lock and including the attempts that the batch began.

use domain::ids::TenantId;
use domain::job::JobKind;
use domain::money::Money;
use domain::rail::RailId;
use domain::sender_limit::{Sender, UsageKey};
use domain::time::{Span, Timestamp};
use store::working_set::WorkingSet;
use uuid::Uuid;

use super::Rules;

/// The result of checking one more attempt against a rail's limits.
pub(super) enum Headroom {
    /// There is headroom. The attempt counts against this sender if the rail has limits.
    Within(Option<Sender>),
    /// There is none, or usage was read on another day: select a rail again.
    Recheck,
}

pub(super) fn headroom(
    ws: &WorkingSet,
    tenant: TenantId,
    (rail, usage_key): (&RailId, Option<&UsageKey>),
    amount: Money,
    rules: Rules<'_>,
    now: Timestamp,
) -> Headroom {
    let Some(limits) = rules.corridors.rail(rail).and_then(|rail| rail.sender_limits.as_ref())
    else {
        return Headroom::Within(None);
    };
    match usage_key
        .filter(|usage_key| usage_key.rail == *rail && usage_key.window == limits.window(now))
    {
        Some(usage_key) if limits.exceeded_by(ws.spent(tenant, usage_key), amount).is_none() => {
            Headroom::Within(Some(usage_key.sender))
        }
        _ => Headroom::Recheck,
    }
}

/// The sender whose limits an attempt over `rail` counts against, whether or not there is headroom;
/// `None` if the rail has none.
pub(super) fn counted(rules: Rules<'_>, rail: &RailId, sender: Sender) -> Option<Sender> {
    let rail = rules.corridors.rail(rail)?;
    rail.sender_limits.as_ref().map(|_| sender)
}

/// Retry delay: at midnight a node's clock may differ from the database's by a few seconds.
const AGAIN_IN: Span = Span::secs(1);

/// Selects a rail again. This counts as no attempt, since no route was waited for.
pub(super) fn look_again(
    ws: &mut WorkingSet,
    (tenant, subject): (TenantId, Uuid),
    kind: JobKind,
    now: Timestamp,
) {
    if let Some(mut job) = ws.jobs.get(&(tenant, subject)).cloned().flatten() {
        (job.kind, job.run_at, job.leased_until) = (kind, now + AGAIN_IN, None);
        ws.jobs.put((tenant, subject), Some(job));
    }
}
