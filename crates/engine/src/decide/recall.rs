//! Commands about cancelling and recalling payments, and what a payment's change does to its
//! recall.

use domain::attempt::Attempt;
use domain::decision::Cx;
use domain::ids::{RecallId, TenantId};
use domain::payment::cancel::cancel;
use domain::payment::{Effects, Payment};
use domain::rail::{RailReport, RailStatus};
use domain::recall::{self, NewRecall, Recall, RecallEffects, RecallState};
use store::working_set::{Made, WorkingSet};

use super::{Rules, effects, holds, quote, write};
use crate::command::{Idempotency, Outcome, PaymentAction, RecallAction, Refused};

/// Decides an action on the payment's cancellation or recall; `None` = it is not about them.
pub(super) fn act(
    ws: &mut WorkingSet,
    payment: &Payment,
    action: &PaymentAction,
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<Option<Outcome>, Refused> {
    match action {
        PaymentAction::Cancel { idempotency, .. } => {
            withdraw(ws, payment.clone(), idempotency.as_ref(), cx).map(Some)
        }
        PaymentAction::Recall { new, idempotency, .. } => {
            request(ws, payment.clone(), new, idempotency.as_ref(), rules, cx).map(Some)
        }
        PaymentAction::OfRecall(id, action) => {
            change(ws, payment.clone(), *id, action, rules, cx).map(Some)
        }
        PaymentAction::Report(report) => answered(ws, payment, report, rules, cx),
        _ => Ok(None),
    }
}

fn withdraw(
    ws: &mut WorkingSet,
    mut payment: Payment,
    idempotency: Option<&Idempotency>,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    let (tenant, id) = (payment.tenant, payment.id);
    if let Some(made) = quote::replayed(ws, tenant, idempotency, cx)? {
        return Ok(Outcome::Replayed(made));
    }
    let last = last(ws, &payment);
    let effects = cancel(&mut payment, last.as_ref(), cx)?;
    quote::remember(ws, tenant, idempotency, Made::Payment(id), cx);
    let Some(effects) = effects else { return Ok(Outcome::Unchanged) };
    write(ws, tenant, id.0, effects)?;
    ws.payments.put((tenant, id), payment);
    Ok(Outcome::Done)
}

fn request(
    ws: &mut WorkingSet,
    mut payment: Payment,
    new: &NewRecall,
    idempotency: Option<&Idempotency>,
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    let (tenant, id) = (payment.tenant, payment.id);
    if let Some(made) = quote::replayed(ws, tenant, idempotency, cx)? {
        return Ok(Outcome::Replayed(made));
    }
    let (last, newest) = (last(ws, &payment), newest(ws, &payment));
    let rail = last.as_ref().and_then(|attempt| rules.corridors.rail(&attempt.rail));
    let (recall, effects) =
        recall::request(&mut payment, last.as_ref(), newest.as_ref(), new.clone(), rail, cx)?;
    save(ws, payment, recall.clone(), effects)?;
    quote::remember(ws, tenant, idempotency, Made::Payment(id), cx);
    Ok(Outcome::Recall(Box::new(recall)))
}

fn change(
    ws: &mut WorkingSet,
    mut payment: Payment,
    id: RecallId,
    action: &RecallAction,
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    let tenant = payment.tenant;
    let recall = ws.recalls.get(&(tenant, id)).filter(|recall| recall.payment == payment.id);
    let mut recall = recall.cloned().ok_or(Refused::NotFound)?;
    let corridors = rules.corridors;
    let effects = match action {
        RecallAction::Submitted { fence, answer } => {
            holds(ws, tenant, id.0, *fence)?;
            let tries = ws.jobs.get(&(tenant, id.0)).and_then(Option::as_ref);
            let tries = tries.map_or(0, |job| job.tries + 1);
            recall.submitted(&mut payment, answer, tries, corridors, cx)
        }
        RecallAction::Due { fence } => {
            holds(ws, tenant, id.0, *fence)?;
            recall.due(&mut payment, corridors, cx)
        }
        RecallAction::Close { .. } => recall.close(&mut payment, corridors, cx)?,
    };
    save(ws, payment, recall.clone(), effects)?;
    Ok(Outcome::Recall(Box::new(recall)))
}

/// The bank's answer to the newest recall; `None` if the report is about something else.
fn answered(
    ws: &mut WorkingSet,
    payment: &Payment,
    report: &RailReport,
    rules: Rules<'_>,
    cx: &Cx<'_>,
) -> Result<Option<Outcome>, Refused> {
    let RailStatus::Recall(answer) = report.status else { return Ok(None) };
    let newest = newest(ws, payment).filter(|recall| recall.attempt == report.attempt);
    let Some(mut recall) = newest else { return Ok(None) };
    // All recalls of an attempt have its id: an answer that an earlier one had already is not one to
    // the newest, nor is one to a message that has not left.
    let mut is_repeated = false;
    let mut is_early = false;
    let earlier = |it: &&Recall| it.payment == payment.id && it.id != recall.id;
    for it in ws.recalls.all().map(|(_, it)| it).filter(earlier) {
        is_repeated |= it.source.as_ref() == Some(&report.source);
        is_early |= it.attempt == recall.attempt && recall.state == RecallState::Requested;
    }
    if is_repeated {
        return Ok(Some(Outcome::Unchanged));
    }
    let mut payment = payment.clone();
    let effects = match is_early {
        true => recall.not_answered(report),
        false => recall.answered(&mut payment, answer, report, rules.corridors, cx),
    };
    save(ws, payment, recall, effects)?;
    Ok(Some(Outcome::Done))
}

/// The newest recall follows its payment, which `so_far` has changed. Only the payment's own last
/// attempt tells whether a bank can have it, whichever attempt was reported on.
pub(super) fn follow(
    ws: &mut WorkingSet,
    payment: &mut Payment,
    so_far: &mut Effects,
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) {
    let Some(mut recall) = newest(ws, payment) else { return };
    let last = last(ws, payment);
    let mut own = recall.follow(payment, last.as_ref(), rules.corridors, cx);
    so_far.then(std::mem::take(&mut own.payment));
    keep(ws, recall, own);
}

fn last(ws: &WorkingSet, payment: &Payment) -> Option<Attempt> {
    ws.attempts.get(&(payment.tenant, payment.attempt?)).cloned()
}

fn newest(ws: &WorkingSet, payment: &Payment) -> Option<Recall> {
    ws.recalls.get(&(payment.tenant, payment.recall?)).cloned()
}

fn save(
    ws: &mut WorkingSet,
    payment: Payment,
    recall: Recall,
    mut effects: RecallEffects,
) -> Result<(), Refused> {
    let (tenant, id) = (payment.tenant, payment.id);
    write(ws, tenant, id.0, std::mem::take(&mut effects.payment))?;
    ws.payments.put((tenant, id), payment);
    keep(ws, recall, effects);
    Ok(())
}

/// Keeps the recall, its job and its alerts.
fn keep(ws: &mut WorkingSet, recall: Recall, effects: RecallEffects) {
    let (tenant, id): (TenantId, _) = (recall.tenant, recall.id);
    if ws.recalls.get(&(tenant, id)) != Some(&recall) {
        ws.recalls.put((tenant, id), recall);
    }
    if let Some(change) = effects.job {
        ws.set_job(tenant, id.0, change);
    }
    effects.closed.into_iter().for_each(|alert| ws.close_alert(tenant, alert));
    effects.alert.into_iter().for_each(|alert| effects::raise(ws, tenant, alert));
}
