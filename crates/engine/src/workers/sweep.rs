//! Starts sweeps: reads a controller's balance, then has the engine reserve the sweepable amount.
//! The intent does the rest.

use domain::chain::{ChainFault, SignFault};
use domain::currency::StableCoin;
use domain::ids::{SweepId, TenantId};
use domain::job::{Job, JobKind};
use domain::sweep;
use domain::time::Span;
use futures_util::future::join_all;
use store::StoreError;
use uuid::Uuid;

use super::Workers;
use crate::batcher::fresh_id;
use crate::command::Action;
use crate::command::chain::ChainAction;
use crate::context::{ChainContext, ChainContexts};

/// Why a controller cannot be queried now.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Chain(#[from] ChainFault),
    #[error(transparent)]
    Key(#[from] SignFault),
    #[error("the token is not configured")]
    NoToken,
}

impl Workers {
    /// Processes leased `sweep` jobs. One that fails now is retried after its lease expires.
    pub(super) async fn begin_sweeps(&self, wallets: &ChainContexts, jobs: Vec<Job>) {
        join_all(jobs.into_iter().map(|job| self.begin_sweep(wallets, job))).await;
    }

    /// Leases due `sweep` jobs of the chains that this node works on.
    pub(super) async fn take_sweeps(
        &self,
        lease: Span,
        most: usize,
    ) -> Result<Vec<Job>, StoreError> {
        let Some(wallets) = &self.world.wallet else { return Ok(Vec::new()) };
        let due = self.store.sweeps_due().await?.into_iter();
        let due = due.filter(|(tenant, subject)| lane(wallets, *tenant, *subject).is_some());
        let mut jobs = Vec::new();
        for key in due.take(most) {
            jobs.extend(self.store.lease_job(key, JobKind::Sweep, &self.owner, lease).await?);
        }
        Ok(jobs)
    }

    async fn begin_sweep(&self, wallets: &ChainContexts, job: Job) {
        let tenant = job.tenant;
        let Some((world, coin)) = lane(wallets, tenant, job.subject) else { return };
        let chain = world.config.number;
        match holds(world, &job, coin).await {
            Ok(held) => {
                let id = SweepId(fresh_id(&self.store));
                let fence = job.fence;
                let action = Action::Chain(ChainAction::Sweep { id, chain, coin, held, fence });
                self.report(tenant, job.subject, action).await;
            }
            Err(trouble) => tracing::warn!(%trouble, %tenant, "sweep start failed, will retry"),
        }
    }
}

/// The chain and coin of a `sweep` job; `None` = the chain is not worked on.
fn lane(
    wallets: &ChainContexts,
    tenant: TenantId,
    subject: Uuid,
) -> Option<(&ChainContext, StableCoin)> {
    let coins = |world| StableCoin::ALL.into_iter().map(move |coin| (world, coin));
    wallets.all().flat_map(coins).find(|(world, coin): &(&ChainContext, StableCoin)| {
        sweep::lane(tenant, world.config.number, *coin) == subject
    })
}

/// The controller's balance in minor units.
async fn holds(wallets: &ChainContext, job: &Job, coin: StableCoin) -> Result<i64, Trouble> {
    let controller = wallets.contracts.controller(job.tenant)?.address;
    let token = wallets.config.token(coin).ok_or(Trouble::NoToken)?;
    let held = wallets.chain.token_balance(token, controller).await?;
    Ok(i64::try_from(held).unwrap_or(i64::MAX))
}
