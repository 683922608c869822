//! Operators: they decide about held names and find out the outcome of unresolved payments. They
//! read the bank's book, as if they asked by telephone, and never hurry.

use std::sync::Arc;

use domain::exchange::ExchangeOrder;
use domain::ids::ExchangeId;
use domain::rail::{Inquiry, RailId, RailStatus};
use domain::time::Span;
use engine::command::Refused::NotAsSeen;
use engine::command::exchange::ExchangeAction;
use engine::payments::{Denied, Payments};
use futures_util::FutureExt;
use testkit::bank::Outcome;

use super::bank::Bank;
use super::cluster::Cluster;
use super::wallets::act_on_order;
use crate::audit::{Auditor, ForPeople};
use crate::installation::RAILS;
use crate::random::Random;
use crate::run::{Pace, Sim};

/// How often they look.
const EVERY: Span = Span::secs(20);
/// A message that has not reached the bank this long after the start of its attempt is lost.
const LOST_AFTER: Span = Span::mins(16);
/// The name that they act under.
const OPERATOR: &str = "operator";
/// Operators call the bank about an order that it has been processing for this long.
const SLOW: Span = Span::mins(30);

/// What an operator finds out about a payment.
enum Finding {
    /// The payment has this final status.
    Is(RailStatus),
    /// The bank has decided and will report.
    WillBeReported,
    /// There is no final status yet.
    NotYet,
}

/// Decides and resolves, for ever.
pub async fn operate(
    sim: Sim,
    cluster: Arc<Cluster>,
    bank: Arc<Bank>,
    auditor: Arc<Auditor>,
    seed: u64,
) {
    let mut random = Random::stream(seed, "operators");
    loop {
        sim.sleep_until(sim.now() + EVERY, Pace::Poll).await;
        for open in auditor.for_people(SLOW) {
            if random.chance(400) {
                continue;
            }
            if open.in_review {
                let approve = random.chance(600);
                decide(&sim, &cluster, &open, approve).await;
                continue;
            }
            let Some((inquiry, rail)) = &open.attempt else { continue };
            if let Finding::Is(status) = find_out(&sim, &bank, inquiry, rail, &mut random) {
                if open.is_order {
                    resolve_order(&sim, &cluster, &open, status).await;
                } else {
                    resolve(&sim, &cluster, &open, status).await;
                }
            }
        }
    }
}

fn find_out(
    sim: &Sim,
    bank: &Bank,
    inquiry: &Inquiry,
    rail: &RailId,
    random: &mut Random,
) -> Finding {
    match bank.bookings(inquiry.payment) {
        (1, 0) => return Finding::Is(RailStatus::Settled),
        (1, 1) => return Finding::Is(RailStatus::Returned),
        _ => {}
    }
    match bank.ask(rail, inquiry).map(|report| report.status) {
        Some(RailStatus::Rejected) => Finding::Is(RailStatus::Rejected),
        Some(RailStatus::Cancelled) => Finding::Is(RailStatus::Cancelled),
        Some(_) => {
            let outcome = random.pick(&[Outcome::Settle, Outcome::Fail, Outcome::Cancel]);
            bank.settle_doubt(sim, inquiry.payment, outcome)
                .map_or(Finding::NotYet, |_| Finding::WillBeReported)
        }
        // Where the rail recognises repetitions, the service sends the payment again: it must not
        // be recorded as failed.
        None if detects(rail) || sim.now() - inquiry.created_at < LOST_AFTER => Finding::NotYet,
        None => Finding::Is(RailStatus::Rejected),
    }
}

fn detects(rail: &RailId) -> bool {
    RAILS.iter().any(|(name, _, detects)| *detects && *name == &*rail.0)
}

async fn decide(sim: &Sim, cluster: &Cluster, open: &ForPeople, approve: bool) {
    let (tenant, payment) = (open.tenant, open.payment);
    let act = move |payments: Payments| {
        async move { payments.review(tenant, payment, approve, None, OPERATOR).await }.boxed()
    };
    let came = cluster.call(act, |_| ()).await;
    // The next look shows what came of it.
    sim.trace(format_args!("operator reviews {payment} {approve}: {came:?}"));
}

async fn resolve(sim: &Sim, cluster: &Cluster, open: &ForPeople, status: RailStatus) {
    let (tenant, payment) = (open.tenant, open.payment);
    let said = format!("{status:?}");
    let looked_at = open.attempt.as_ref().map(|(inquiry, _)| inquiry.attempt);
    let act = move |payments: Payments| {
        async move {
            let record = payments.store().payment_record(tenant, payment).await?;
            let doubt = record.and_then(|record| record.payment.doubt());
            let seen = doubt
                .filter(|doubt| Some(doubt.attempt) == looked_at)
                .ok_or(Denied::Refused(NotAsSeen))?;
            payments
                .resolve(tenant, payment, seen, status, "the bank's book".to_owned(), OPERATOR)
                .await
        }
        .boxed()
    };
    let came = cluster.call(act, |_| ()).await;
    // The next look shows what came of it.
    sim.trace(format_args!("operator resolves {payment} as {said}: {came:?}"));
}

async fn resolve_order(sim: &Sim, cluster: &Cluster, open: &ForPeople, status: RailStatus) {
    let (tenant, order) = (open.tenant, ExchangeId(open.payment.0));
    let said = format!("{status:?}");
    let looked_at = open.attempt.as_ref().map(|(inquiry, _)| inquiry.attempt);
    let action = move |order: &ExchangeOrder| {
        let seen = order.doubt().filter(|doubt| Some(doubt.attempt) == looked_at)?;
        let (finding, evidence) = (status.clone().into(), "the bank's book".to_owned());
        Some(ExchangeAction::Resolve { seen, finding, evidence, by: Box::new(OPERATOR.into()) })
    };
    let came = act_on_order(cluster, tenant, order, action).await;
    // The next look shows what came of it.
    sim.trace(format_args!("operator resolves order {order} as {said}: {came}"));
}
