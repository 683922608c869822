//! Intents that the controller executed in a transaction that these books do not have: an earlier life
//! of the installation sent it, before its database was restored.

use domain::attempt::{DEBITED_BEFORE, NO_RAIL};
use domain::chain::IntentKind;
use domain::chain_tx::{Intent, IntentState};
use domain::decision::Cx;
use domain::exchange::ExchangeState;
use domain::ids::TenantId;
use domain::rail::RailId;
use domain::sender_limit::Sender;
use domain::time::Timestamp;
use domain::wallet_effects::WalletEffects;
use store::working_set::WorkingSet;

use super::headroom::counted;
use super::outcome::{finish, on_deposit};
use super::{Rules, effects, exchange};
use crate::command::chain::{ExecutedTx, IntentKey, Subject};
use crate::command::exchange::OrderKey;
use crate::command::{Outcome, Refused};

/// The intent took effect in `tx`; without one, it is held until `until`.
pub(super) fn before(
    ws: &mut WorkingSet,
    key: &IntentKey,
    mut intent: Intent,
    (tx, until): (Option<ExecutedTx>, Timestamp),
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    let tenant = intent.tenant;
    if intent.state != IntentState::Waiting {
        return Err(Refused::Moved);
    }
    let mut effects = match &key.subject {
        Subject::Order(of) if intent.kind() == IntentKind::Debit => {
            hold(ws, tenant, of, rules, cx)?
        }
        _ => WalletEffects::default(),
    };
    let Some(ExecutedTx { hash, fee, under_other_id }) = tx else {
        effects.merge(intent.put_off(until));
        effects::write(ws, tenant, effects)?;
        return Ok(Outcome::Done);
    };
    if let (Subject::Deposit(of), true) =
        (&key.subject, under_other_id && intent.kind() != IntentKind::Release)
    {
        // Half of a refund that was made already.
        effects.merge(intent.withdraw(cx.now).1);
        ws.intents.put((tenant, intent.id), intent);
        on_deposit(ws, tenant, of, &mut effects, |case| case.refunded_before(hash, cx));
        effects::write(ws, tenant, effects)?;
        return Ok(Outcome::Done);
    }
    effects.merge(intent.done_before(cx.now));
    effects::write(ws, tenant, effects)?;
    finish(ws, key, intent, (hash, fee), rules, cx)?;
    Ok(Outcome::Done)
}

/// An order's debit may no longer be called off. Its payout followed, as far as these books can know,
/// over the rail that comes first, or one that is not configured any more: it is neither sent nor priced
/// until users have established its outcome.
fn hold(
    ws: &mut WorkingSet,
    tenant: TenantId,
    of: &OrderKey,
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<WalletEffects, Refused> {
    let mut case = exchange::case(ws, tenant, of)?;
    let may_be_called_off =
        matches!(case.order.state, ExchangeState::Pending | ExchangeState::Debiting);
    if !may_be_called_off {
        return Ok(WalletEffects::default());
    }
    let mut effects = case.debit_taken(cx);
    let (country, payout) = (case.order.country, case.order.payout);
    let rails = || rules.corridors.rails_of(country);
    let rail = rails().find(|rail| rail.takes(payout)).or_else(|| rails().next());
    if case.order.attempt.is_none() {
        let rail = rail.map_or_else(|| RailId::new(NO_RAIL), |rail| rail.id.clone());
        let sender = Sender::of_customer(tenant, &case.wallet.customer_id);
        let over = (&rail, counted(rules, &rail, sender));
        let (attempt, held) = case.reported_unsent(None, over, (DEBITED_BEFORE, None), cx)?;
        effects.merge(held);
        ws.attempts.put((tenant, attempt.id), attempt);
    }
    exchange::save(ws, case);
    Ok(effects)
}

/// Its transaction failed because of that: it is looked for on the chain. Until then its order is not
/// called off.
pub(super) fn again(ws: &mut WorkingSet, mut intent: Intent, cx: &Cx<'_>) -> Result<(), Refused> {
    let tenant = intent.tenant;
    let effects = intent.not_tried(cx.now);
    ws.intents.put((tenant, intent.id), intent);
    effects::write(ws, tenant, effects)
}
