//! Clients that change their minds: they cancel payments or recall them, at any moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::recall::RecallReason;
use domain::time::Span;
use engine::payments::Payments;
use futures_util::FutureExt;

use super::client::Truth;
use super::cluster::Cluster;
use crate::random::Random;
use crate::run::{Pace, Sim};

/// How often they look.
const EVERY: Span = Span::millis(700);
/// Schedules with such clients, and how often they stop a payment that they look at, in thousandths.
const SCHEDULES_PER_MILLE: u64 = 150;
const STOPPED_PER_MILLE: u64 = 500;
/// How often they look at one payment: a recall that is refused may be asked for again.
const LOOKS: u32 = 3;

/// Cancels and recalls, for ever.
pub async fn stop_payments(sim: Sim, cluster: Arc<Cluster>, truth: Arc<Truth>, seed: u64) {
    let mut random = Random::stream(seed, "stops");
    if !random.chance(SCHEDULES_PER_MILLE) {
        return;
    }
    let mut seen = BTreeMap::new();
    loop {
        sim.sleep_until(sim.now() + EVERY, Pace::Poll).await;
        for accepted in truth.accepted() {
            let looks: &mut u32 = seen.entry(accepted.id).or_default();
            *looks += 1;
            if *looks > LOOKS || !random.chance(STOPPED_PER_MILLE) {
                continue;
            }
            let (tenant, id, recalls) = (accepted.tenant, accepted.id, random.chance(500));
            let act = move |payments: Payments| {
                async move {
                    if recalls {
                        let why = (RecallReason::Customer, None);
                        payments.recall(tenant, id, why, "client", None).await.map(drop)
                    } else {
                        payments.cancel(tenant, id, "client", None).await.map(drop)
                    }
                }
                .boxed()
            };
            let came = cluster.call(act, |_| ()).await;
            let what = if recalls { "recalls" } else { "cancels" };
            sim.trace(format_args!("client {what} {id}: {came:?}"));
        }
    }
}
