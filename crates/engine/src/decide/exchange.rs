//! Commands about exchange orders.

use domain::attempt::{Attempt, AttemptState};
use domain::decimal::Decimal;
use domain::decision::Cx;
use domain::exchange::{ExchangeState, NewOrder, OrderCase, create};
use domain::ids::{AttemptId, TenantId};
use domain::job::JobKind;
use domain::ledger::AccountCode;
use domain::rail::{InquiryAnswer, RailId, RailReport, Submission};
use domain::sender_limit::{Sender, UsageKey};
use domain::time::{Span, Timestamp};
use domain::wallet_effects::WalletEffects;
use store::working_set::{Made, WorkingSet};

use super::headroom::{Headroom, counted, headroom, look_again};
use super::payment::ROUTE_DELAY;
use super::quote::{remember, replayed};
use super::{Rules, as_seen, deposit, effects, holds, require_still_open, sent_again, sweep};
use crate::command::exchange::{ExchangeAction, OrderKey};
use crate::command::{Idempotency, Outcome, Refused};

pub(super) fn act(
    ws: &mut WorkingSet,
    tenant: TenantId,
    key: &OrderKey,
    action: &ExchangeAction,
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    let idempotency = match action {
        ExchangeAction::Create { idempotency, .. } | ExchangeAction::Cancel { idempotency } => {
            idempotency.as_ref()
        }
        _ => None,
    };
    if let Some(made) = replayed(ws, tenant, idempotency, cx)? {
        return Ok(Outcome::Replayed(made));
    }
    if let ExchangeAction::Create { order, .. } = action {
        return make(ws, tenant, key, order, idempotency, rules, cx);
    }
    let case = case(ws, tenant, key)?;
    let mut acting = Acting { case, attempt: None, rules };
    let effects = acting.apply(ws, action, cx)?;
    let Acting { case, attempt, .. } = acting;
    let order = case.order.clone();
    save(ws, case);
    effects::write(ws, tenant, effects)?;
    if action.may_settle() && order.state == ExchangeState::Settled {
        sweep::plan(ws, tenant, (order.chain, order.coin), rules, cx);
    }
    if let Some(attempt) = &attempt {
        ws.attempts.put((tenant, attempt.id), attempt.clone());
    }
    remember(ws, tenant, idempotency, Made::Exchange(order.id), cx);
    match (action, attempt) {
        (ExchangeAction::BeginPayout { .. }, Some(attempt)) => {
            Ok(Outcome::Began(Box::new(attempt)))
        }
        _ => Ok(Outcome::Exchange(Box::new(order))),
    }
}

fn make(
    ws: &mut WorkingSet,
    tenant: TenantId,
    key: &OrderKey,
    new: &NewOrder,
    idempotency: Option<&Idempotency>,
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    let wallet = ws.wallets.get(&(tenant, key.wallet)).cloned().ok_or(Refused::NotFound)?;
    let terms = deposit::terms(rules, wallet.chain)?;
    let account = ws.account(tenant, &AccountCode::Wallet(wallet.id, new.coin));
    let (case, effects) = create(new.clone(), &wallet, &account, terms.chain, cx)?;
    let order = case.order.clone();
    save(ws, case);
    effects::write(ws, tenant, effects)?;
    remember(ws, tenant, idempotency, Made::Exchange(order.id), cx);
    Ok(Outcome::Exchange(Box::new(order)))
}

/// Returns an order with its related records. Refused if it names an intent that its key does not.
pub(super) fn case(
    ws: &WorkingSet,
    tenant: TenantId,
    key: &OrderKey,
) -> Result<OrderCase, Refused> {
    let order = ws.exchanges.get(&(tenant, key.order)).cloned().ok_or(Refused::NotFound)?;
    let wallet = ws.wallets.get(&(tenant, order.wallet)).cloned().ok_or(Refused::NotFound)?;
    let newest = order.give_back.or(order.debit);
    if newest.is_some_and(|intent| !key.intents.contains(&intent)) {
        return Err(Refused::Moved);
    }
    let intents = key
        .intents
        .iter()
        .filter_map(|intent| ws.intents.get(&(tenant, *intent)))
        .cloned()
        .collect();
    Ok(OrderCase { order, wallet, intents })
}

/// Puts back the records that a decision changed.
pub(super) fn save(ws: &mut WorkingSet, case: OrderCase) {
    let tenant = case.order.tenant;
    deposit::put(&mut ws.wallets, (tenant, case.wallet.id), case.wallet);
    for intent in case.intents {
        deposit::put(&mut ws.intents, (tenant, intent.id), intent);
    }
    deposit::put(&mut ws.exchanges, (tenant, case.order.id), case.order);
}

/// One action on an order, with the attempt that it changes.
struct Acting<'a> {
    case: OrderCase,
    attempt: Option<Attempt>,
    rules: Rules<'a>,
}

impl Acting<'_> {
    fn apply(
        &mut self,
        ws: &mut WorkingSet,
        action: &ExchangeAction,
        cx: &mut Cx<'_>,
    ) -> Result<WalletEffects, Refused> {
        let (tenant, subject) = (self.case.order.tenant, self.case.order.id.0);
        if let ExchangeAction::TimePassed { fence }
        | ExchangeAction::BeginPayout { fence, .. }
        | ExchangeAction::PutOff { fence, .. }
        | ExchangeAction::NoRoute { fence }
        | ExchangeAction::HolderMatched { fence, .. }
        | ExchangeAction::Cleared { fence, .. }
        | ExchangeAction::Inquired { fence, .. }
        | ExchangeAction::SendAgain { fence, .. } = action
        {
            holds(ws, tenant, subject, *fence)?;
        }
        match action {
            // Handled elsewhere: the order does not exist yet.
            ExchangeAction::Create { .. } => Err(Refused::NotFound),
            ExchangeAction::Cancel { .. } => Ok(self.case.cancel(cx)?),
            ExchangeAction::WalletChanged => Ok(self.case.wallet_changed(cx)),
            ExchangeAction::TimePassed { .. } => Ok(self.case.time_passed(cx)),
            ExchangeAction::BeginPayout { rail, usage_key, mid, .. } => {
                self.begin(ws, (rail, usage_key.as_ref()), *mid, cx)
            }
            ExchangeAction::PutOff { until, open, .. } => {
                self.case.require_unsent(self.last(ws).as_ref())?;
                Ok(self.put_off(ws, *until, *open, cx))
            }
            ExchangeAction::NoRoute { .. } => {
                self.case.require_unsent(self.last(ws).as_ref())?;
                Ok(self.case.no_route(cx))
            }
            ExchangeAction::Submitted { attempt, answer } => {
                let attempt = self.attempt(ws, *attempt)?;
                Ok(self.submitted(attempt, answer, cx))
            }
            ExchangeAction::Inquired { attempt, answer, .. } => {
                let attempt = self.attempt(ws, *attempt)?;
                require_still_open(&attempt, answer)?;
                let tries = job_tries(ws, tenant, subject);
                Ok(self.inquired(attempt, answer, tries, cx))
            }
            ExchangeAction::SendAgain { attempt, .. } => {
                self.attempt = Some(sent_again(self.attempt(ws, *attempt)?, self.rules)?);
                Ok(WalletEffects::default())
            }
            ExchangeAction::Report(report) => {
                let (attempt, last) = (self.attempt(ws, report.attempt)?, self.last(ws));
                let of = (&attempt, last.as_ref());
                let Some((held, effects)) = self.case.sent_after_all(of, report, cx) else {
                    return Ok(self.heard(attempt, report, cx));
                };
                self.attempt = Some(held);
                Ok(effects)
            }
            ExchangeAction::ReportedUnsent { rail, why, paid } => {
                let sender = Sender::of_customer(tenant, &self.case.wallet.customer_id);
                let over = (rail, counted(self.rules, rail, sender));
                let last = self.last(ws);
                let told = (why.as_str(), *paid);
                let (attempt, effects) =
                    self.case.reported_unsent(last.as_ref(), over, told, cx)?;
                self.attempt = Some(attempt);
                Ok(effects)
            }
            ExchangeAction::Review { release, seen, .. } => {
                let terms = deposit::terms(self.rules, self.case.order.chain)?;
                let version = self.case.order.version;
                let effects = self.case.review(release.clone(), terms.chain, cx)?;
                as_seen(seen.as_ref(), Some(&version))?;
                Ok(effects)
            }
            ExchangeAction::FoundMatch { screened, .. } => {
                Ok(self.case.found_match(screened.clone(), cx)?)
            }
            ExchangeAction::HolderMatched { screened, .. } => {
                Ok(self.case.holder_matched(screened, cx)?)
            }
            ExchangeAction::Cleared { screened, .. } => {
                self.case.rescreened(screened.clone(), cx)?;
                Ok(WalletEffects::default())
            }
            ExchangeAction::Resolve { seen, finding, evidence, .. } => {
                let (mut attempt, doubt) =
                    (self.last(ws).ok_or(Refused::NotFound)?, self.case.order.open_to(finding));
                let effects = self.case.resolve(&mut attempt, finding, evidence, cx)?;
                as_seen(Some(seen), doubt.as_ref())?;
                self.attempt = Some(attempt);
                Ok(effects)
            }
            ExchangeAction::Recredit { .. } => {
                let pools = sweep::pools(ws, tenant, self.case.order.chain, self.case.order.coin);
                Ok(self.case.recredit(&pools, cx)?)
            }
        }
    }

    /// A worker is about to send its payout over a rail, with the customer's usage of it.
    fn begin(
        &mut self,
        ws: &mut WorkingSet,
        over: (&RailId, Option<&UsageKey>),
        mid: Decimal,
        cx: &mut Cx<'_>,
    ) -> Result<WalletEffects, Refused> {
        let tenant = self.case.order.tenant;
        if let Some(effects) = self.case.priced(mid, cx) {
            return Ok(effects);
        }
        let ((rail, _), payout) = (over, self.case.order.payout);
        // The rail was chosen for the amount before it was priced.
        let is_taken = self.rules.corridors.rail(rail).is_none_or(|it| it.takes(payout));
        let found = if is_taken {
            headroom(ws, tenant, over, payout, self.rules, cx.now)
        } else {
            Headroom::Recheck
        };
        let Headroom::Within(sender) = found else {
            // The next attempt may begin days later.
            if self.case.order.locked_until.is_none() {
                self.case.order.priced_at = None;
            }
            look_again(ws, (tenant, self.case.order.id.0), JobKind::Payout, cx.now);
            return Ok(WalletEffects::default());
        };
        let last = self.last(ws);
        let (attempt, effects) = self.case.begin_payout(last.as_ref(), (rail, sender), cx)?;
        self.attempt = Some(attempt);
        Ok(effects)
    }

    fn attempt(&self, ws: &WorkingSet, id: AttemptId) -> Result<Attempt, Refused> {
        let order = &self.case.order;
        let attempt = ws.attempts.get(&(order.tenant, id)).cloned().ok_or(Refused::NotFound)?;
        if attempt.payment.0 == order.id.0 { Ok(attempt) } else { Err(Refused::NotFound) }
    }

    fn last(&self, ws: &WorkingSet) -> Option<Attempt> {
        let id = self.case.order.attempt?;
        ws.attempts.get(&(self.case.order.tenant, id)).cloned()
    }

    fn heard(
        &mut self,
        mut attempt: Attempt,
        report: &RailReport,
        cx: &mut Cx<'_>,
    ) -> WalletEffects {
        let rail = self.rules.corridors.rail(&attempt.rail);
        let effects = self.case.heard(&mut attempt, report, rail, cx);
        self.attempt = Some(attempt);
        effects
    }

    fn submitted(
        &mut self,
        mut attempt: Attempt,
        answer: &Submission,
        cx: &mut Cx<'_>,
    ) -> WalletEffects {
        let effects = match answer {
            Submission::Reported(report) => {
                let mut effects = self.heard(attempt, report, cx);
                if let Some(attempt) = self.attempt.as_ref().filter(|_| effects.jobs.is_empty()) {
                    // It decides nothing.
                    effects.merge(self.case.taken(attempt, cx));
                }
                return effects;
            }
            Submission::Taken => self.case.taken(&attempt, cx),
            Submission::NotSent(why) => self.case.not_sent(&mut attempt, why, cx),
            Submission::Indeterminate(why) => self.case.unclear(&mut attempt, why, cx),
        };
        self.attempt = Some(attempt);
        effects
    }

    /// The answer to an inquiry; if it leaves the payout in flight, inquiries continue later.
    fn inquired(
        &mut self,
        mut attempt: Attempt,
        answer: &InquiryAnswer,
        tries: i32,
        cx: &mut Cx<'_>,
    ) -> WalletEffects {
        let corridors = self.rules.corridors;
        let rail = corridors.rail(&attempt.rail);
        if let InquiryAnswer::Reported(report) = answer {
            let mut effects = self.heard(attempt, report, cx);
            // An answer that decides nothing delays the next inquiry like none at all.
            let id = self.case.order.id.0;
            let is_open = |attempt: &Attempt| attempt.state == AttemptState::Indeterminate;
            if self.attempt.as_ref().is_some_and(is_open) {
                effects.jobs.retain(|(subject, _)| *subject != id);
            }
            if effects.jobs.iter().all(|(subject, _)| *subject != id) {
                self.case.ask_later(tries, &mut effects, cx);
            }
            return effects;
        }
        let effects = self.case.still_unclear(&mut attempt, rail, tries, cx);
        self.attempt = Some(attempt);
        effects
    }

    /// Waits for a route. Waiting within a suitable rail's operating hours counts against the
    /// submit deadline.
    fn put_off(
        &mut self,
        ws: &mut WorkingSet,
        until: Timestamp,
        open: bool,
        cx: &mut Cx<'_>,
    ) -> WalletEffects {
        let key = (self.case.order.tenant, self.case.order.id.0);
        let Some(mut job) = ws.jobs.get(&key).cloned().flatten() else {
            return WalletEffects::default();
        };
        job.tries = if open { job.tries + 1 } else { 0 };
        let waited = Span(i64::from(job.tries).saturating_mul(ROUTE_DELAY.0));
        if open && waited >= self.rules.corridors.submit_deadline {
            return self.case.no_route(cx);
        }
        (job.kind, job.run_at, job.leased_until) = (JobKind::Payout, until, None);
        ws.jobs.put(key, Some(job));
        WalletEffects::default()
    }
}

fn job_tries(ws: &WorkingSet, tenant: TenantId, subject: uuid::Uuid) -> i32 {
    ws.jobs.get(&(tenant, subject)).and_then(Option::as_ref).map_or(0, |job| job.tries + 1)
}
