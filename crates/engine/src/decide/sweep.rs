//! Commands about sweeps: when one begins, and what its result means.

use domain::chain::{ChainNumber, TxHash};
use domain::currency::StableCoin;
use domain::decision::{Cx, JobChange};
use domain::ids::{SweepId, TenantId};
use domain::job::JobKind;
use domain::sweep::{self, NewSweep, Pools, RETRY_AFTER, Sweep};
use domain::wallet_effects::{Alert, AlertKind, WalletEffects};
use store::working_set::WorkingSet;

use super::{Rules, effects, holds};
use crate::command::{Outcome, Refused};

/// The accounts that hold the amounts to sweep.
pub(super) fn pools(
    ws: &WorkingSet,
    tenant: TenantId,
    chain: ChainNumber,
    coin: StableCoin,
) -> Pools {
    Pools::of(chain, coin, |code| ws.account(tenant, code))
}

/// There may be coins to sweep: creates the job that begins a sweep, or brings it forward. The
/// command's need includes the job.
pub(super) fn plan(
    ws: &mut WorkingSet,
    tenant: TenantId,
    (chain, coin): (ChainNumber, StableCoin),
    rules: Rules<'_>,
    cx: &Cx<'_>,
) {
    let Some(world) = rules.wallet.and_then(|wallets| wallets.on(chain)) else { return };
    let lane = sweep::lane(tenant, chain, coin);
    let waits = ws.jobs.get(&(tenant, lane)).is_some_and(Option::is_some);
    if let Some(at) = pools(ws, tenant, chain, coin).next(world.config.sweep, waits, cx.now) {
        ws.set_job(tenant, lane, JobChange::Set(JobKind::Sweep, at));
    }
}

/// A worker read the controller's balance: begins a sweep if there is anything to sweep.
pub(super) fn begin(
    ws: &mut WorkingSet,
    tenant: TenantId,
    (id, chain, coin, held): (SweepId, ChainNumber, StableCoin, i64),
    fence: i64,
    rules: Rules<'_>,
    cx: &mut Cx<'_>,
) -> Result<Outcome, Refused> {
    let lane = sweep::lane(tenant, chain, coin);
    holds(ws, tenant, lane, fence)?;
    let pools = pools(ws, tenant, chain, coin);
    let world = rules.wallet.and_then(|wallets| wallets.on(chain));
    let token = world.and_then(|world| world.config.token(coin)).ok_or(Refused::NotFound)?;
    let Some((sweep, intent, effects)) =
        sweep::begin(NewSweep { id, tenant, chain, coin, token, held }, &pools, cx)
    else {
        let waits = !pools.is_sweeping() && pools.sweepable() > 0;
        let job = if waits {
            JobChange::Set(JobKind::Sweep, cx.now + RETRY_AFTER)
        } else {
            JobChange::Done
        };
        ws.set_job(tenant, lane, job);
        return Ok(Outcome::Done);
    };
    ws.sweeps.put((tenant, sweep.id), sweep);
    ws.intents.put((tenant, intent.id), intent);
    effects::write(ws, tenant, effects)?;
    Ok(Outcome::Done)
}

/// Changes the sweep of an intent.
fn change(
    ws: &mut WorkingSet,
    tenant: TenantId,
    id: SweepId,
    act: impl FnOnce(&mut Sweep) -> WalletEffects,
) -> WalletEffects {
    let Some(mut sweep) = ws.sweeps.get(&(tenant, id)).cloned() else {
        let what = "an on-chain action completed for a sweep that does not exist".to_owned();
        let alerts = vec![Alert { kind: AlertKind::ChainMismatch, subject: id.0, what }];
        return WalletEffects { alerts, ..WalletEffects::default() };
    };
    let effects = act(&mut sweep);
    if ws.sweeps.get(&(tenant, id)) != Some(&sweep) {
        ws.sweeps.put((tenant, id), sweep);
    }
    effects
}

/// It is on the chain again, in `tx`, and the token's contract kept this `fee`.
pub(super) fn fee_is(
    ws: &mut WorkingSet,
    tenant: TenantId,
    id: SweepId,
    (tx, fee): (TxHash, i64),
    cx: &mut Cx<'_>,
) -> WalletEffects {
    change(ws, tenant, id, |sweep| sweep.fee_is((tx, fee), cx))
}

/// The sweep took effect in `tx`; the token's contract kept a `fee` of the amount.
pub(super) fn done(
    ws: &mut WorkingSet,
    tenant: TenantId,
    id: SweepId,
    (tx, fee): (TxHash, i64),
    cx: &mut Cx<'_>,
) -> WalletEffects {
    let known = ws.sweeps.get(&(tenant, id)).map(|sweep| (sweep.chain, sweep.coin));
    let available =
        known.map_or(0, |(chain, coin)| pools(ws, tenant, chain, coin).unswept.available().minor);
    change(ws, tenant, id, |sweep| sweep.done((tx, fee), available, cx))
}

/// The sweep's intent was given up.
pub(super) fn given_up(
    ws: &mut WorkingSet,
    tenant: TenantId,
    id: SweepId,
    why: &str,
    cx: &mut Cx<'_>,
) -> WalletEffects {
    change(ws, tenant, id, |sweep| sweep.given_up(why, cx))
}
