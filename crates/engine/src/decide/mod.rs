//! Runs commands against a batch's rows: looks up what each names, lets `domain` decide, keeps or
//! discards the draft.

use std::panic::{AssertUnwindSafe, catch_unwind};

use domain::attempt::{Attempt, AttemptState};
use domain::bank::BankDirectory;
use domain::decision::{Cx, IdSource};
use domain::ids::TenantId;
use domain::money::Money;
use domain::payment::Effects;
use domain::policy::Corridors;
use domain::rail::InquiryAnswer;
use domain::wallet_effects::{Alert, AlertKind};
use store::HeldRole;
use store::working_set::WorkingSet;

use crate::command::{Action, Command, Outcome, Refused};
use crate::context::ChainContexts;

mod after_all;
mod audit;
mod chain;
mod delivery;
mod deposit;
mod effects;
mod exchange;
mod executed;
mod headroom;
mod outcome;
pub mod payment;
mod quote;
mod recall;
mod request;
mod shortfall;
mod sweep;
mod wallet;

/// Reference data for decisions, in addition to the rows.
#[derive(Clone, Copy)]
pub struct Rules<'a> {
    pub corridors: &'a Corridors,
    /// Banks and branches, by their codes.
    pub directory: &'a BankDirectory,
    /// Configuration of the wallet service; `None` = not offered.
    pub wallet: Option<&'a ChainContexts>,
}

/// Decides one command. A refusal or a panic leaves the batch as it was.
pub fn decide(
    ws: &mut WorkingSet,
    command: &Command,
    rules: Rules<'_>,
    ids: &mut dyn IdSource,
) -> Outcome {
    // The draft is discarded after a panic, so no partial write is visible.
    let decided = catch_unwind(AssertUnwindSafe(|| {
        let noting = audit::begin(ws, command);
        let outcome = run(ws, command, rules, ids)?;
        // A replayed or repeated request was recorded the first time.
        let was_recorded = matches!(outcome, Outcome::Replayed(_) | Outcome::Unchanged);
        if let (Some(noting), false) = (noting, was_recorded) {
            noting.end(ws, command);
        }
        Ok(outcome)
    }));
    match decided {
        Ok(Ok(outcome)) => {
            ws.keep();
            outcome
        }
        Ok(Err(refused)) => {
            ws.discard();
            Outcome::Refused(refused)
        }
        Err(_) => {
            ws.discard();
            tracing::error!(tenant = %command.tenant, "command panicked, its changes were discarded");
            Outcome::Panicked
        }
    }
}

fn run(
    ws: &mut WorkingSet,
    command: &Command,
    rules: Rules<'_>,
    ids: &mut dyn IdSource,
) -> Result<Outcome, Refused> {
    // The APIs use milliseconds: decide on the time that they show.
    let mut cx = Cx { now: ws.now.to_millis(), ids };
    let outcome = act(ws, command.tenant, &command.action, rules, &mut cx)?;
    shortfall::cover(ws, &mut cx)?;
    Ok(outcome)
}

fn act(
    ws: &mut WorkingSet,
    tenant: TenantId,
    action: &Action,
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    match action {
        Action::CreateQuote { id, offer, ttl, cap, idempotency } => {
            let asked = quote::Asked { id: *id, offer, ttl: *ttl, cap: *cap };
            quote::create(ws, tenant, asked, idempotency.as_ref(), cx)
        }
        Action::AcceptPayment { submission, idempotency } => {
            payment::accept(ws, tenant, submission, idempotency.as_ref(), rules, cx)
        }
        Action::ExpireQuotes(quotes) => quote::expire(ws, tenant, quotes, cx),
        Action::Fund { funding, coin, minor, reference, .. } => {
            let amount = Money::new(*minor, coin.currency());
            payment::fund(ws, tenant, *funding, (*coin, amount), reference.as_deref(), cx)
        }
        Action::Payment(id, action) => payment::act(ws, (tenant, *id), action, rules, cx),
        Action::Provision(new) => wallet::provision(ws, tenant, new, cx),
        Action::Wallet(id, action) => wallet::act(ws, (tenant, *id), action, cx),
        Action::Request(id, action) => request::act(ws, (tenant, *id), action, cx),
        Action::Deposit(named, action) => deposit::act(ws, tenant, named, action, rules, cx),
        Action::Exchange(key, action) => exchange::act(ws, tenant, key, action, rules, cx),
        Action::Chain(action) => chain::act(ws, tenant, action, rules, cx),
        Action::Delivery(named, action) => delivery::act(ws, tenant, *named, action, cx),
        Action::Backfill { aggregate, versions, .. } => {
            delivery::make_up_for(ws, tenant, *aggregate, versions)
        }
        Action::UnderRole(role, action) => {
            holds_role(ws, role)?;
            act(ws, tenant, action, rules, cx)
        }
    }
}

/// Only the worker that last leased the job of `subject` may act on it.
fn holds(ws: &WorkingSet, tenant: TenantId, subject: uuid::Uuid, held: i64) -> Result<(), Refused> {
    match ws.jobs.get(&(tenant, subject)).and_then(Option::as_ref).map(|job| job.fence) {
        Some(current) if current == held => Ok(()),
        other => Err(Refused::Fenced { held, current: other.unwrap_or(-1) }),
    }
}

/// Only the node that last took a role may act under it.
fn holds_role(ws: &WorkingSet, role: &HeldRole) -> Result<(), Refused> {
    match ws.roles.get(&role.name) {
        Some(current) if *current == role.fence => Ok(()),
        other => Err(Refused::Fenced { held: role.fence, current: other.copied().unwrap_or(-1) }),
    }
}

/// The state must equal the one that was reviewed. Checked last, so that a state that allows
/// nothing is reported first.
fn as_seen<T: PartialEq>(seen: Option<&T>, found: Option<&T>) -> Result<(), Refused> {
    if seen.is_none() || seen == found { Ok(()) } else { Err(Refused::NotAsSeen) }
}

/// The attempt that a rail was asked about must not have ended in the meantime, unless the rail
/// states its outcome.
fn require_still_open(attempt: &Attempt, answer: &InquiryAnswer) -> Result<(), Refused> {
    let is_open = matches!(
        attempt.state,
        AttemptState::Sending | AttemptState::Indeterminate | AttemptState::Accepted
    );
    let is_news = matches!(answer, InquiryAnswer::Reported(_));
    if is_open || is_news { Ok(()) } else { Err(Refused::Moved) }
}

/// The attempt with its message sent once more: neither a repetition that certainly is not sent nor
/// one that is refused proves anything about the first message from now on. Refused if the attempt
/// has changed so that it is not to be repeated: sent beside that of the next attempt, both would be
/// paid.
fn sent_again(attempt: Attempt, rules: Rules<'_>) -> Result<Attempt, Refused> {
    match attempt.is_to_be_sent_again(rules.corridors.rail(&attempt.rail)) {
        true => Ok(Attempt { sent_again: true, ..attempt }),
        false => Err(Refused::Moved),
    }
}

/// Writes the side effects of a decision: transfers, events, job, discrepancy.
fn write(
    ws: &mut WorkingSet,
    tenant: TenantId,
    subject: uuid::Uuid,
    effects: Effects,
) -> Result<(), Refused> {
    ws.book(effects.transfers).map_err(|refusal| Refused::Ledger(refusal.to_string()))?;
    effects::tell(ws, tenant, effects.events);
    if let Some(change) = effects.job {
        ws.set_job(tenant, subject, change);
    }
    if let Some(discrepancy) = effects.discrepancy {
        metrics::counter!("corridor_discrepancies_total").increment(1);
        let (subject, what) = (discrepancy.payment.0, discrepancy.what.clone());
        effects::raise(ws, tenant, Alert { kind: AlertKind::Discrepancy, subject, what });
        ws.add_discrepancy(tenant, discrepancy);
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests;
