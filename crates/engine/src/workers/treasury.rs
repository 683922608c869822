//! Begins sweeps: asks what a controller holds, then has the engine reserve what may go. The intent does the rest.

use domain::chain::{ChainFault, SignFault};
use domain::currency::StableCoin;
use domain::ids::SweepId;
use domain::job::Job;
use domain::sweep;
use futures_util::future::join_all;

use super::Workers;
use crate::batcher::fresh_id;
use crate::command::Action;
use crate::command::chain::ChainAction;
use crate::world::WalletWorld;

/// Why a controller cannot be asked now.
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
    /// Works off leased `sweep` jobs. One that cannot be done now comes again when its lease has run out.
    pub(super) async fn begin_sweeps(&self, wallets: &WalletWorld, jobs: Vec<Job>) {
        join_all(jobs.into_iter().map(|job| self.begin_sweep(wallets, job))).await;
    }

    async fn begin_sweep(&self, wallets: &WalletWorld, job: Job) {
        let tenant = job.tenant;
        let of_lane = |coin: &StableCoin| sweep::lane(tenant, *coin) == job.subject;
        let Some(coin) = StableCoin::ALL.into_iter().find(of_lane) else {
            return tracing::error!(%tenant, subject = %job.subject, "a sweep is of no coin");
        };
        match holds(wallets, &job, coin).await {
            Ok(held) => {
                let id = SweepId(fresh_id(&self.store));
                let action = Action::Chain(ChainAction::Sweep { id, coin, held, fence: job.fence });
                self.report(tenant, job.subject, action).await;
            }
            Err(trouble) => tracing::warn!(%trouble, %tenant, "a sweep cannot be begun now"),
        }
    }
}

/// What the tenant's controller holds, in minor units.
async fn holds(wallets: &WalletWorld, job: &Job, coin: StableCoin) -> Result<i64, Trouble> {
    let controller = wallets.contracts.controller(job.tenant)?.address;
    let token = wallets.config.token(coin).ok_or(Trouble::NoToken)?;
    let held = wallets.chain.token_balance(token, controller).await?;
    Ok(i64::try_from(held).unwrap_or(i64::MAX))
}
