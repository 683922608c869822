//! `corridor ledger sweeps`: sweeps from the controller to the treasury, and what is pending.

use domain::coin_amount;
use domain::currency::StableCoin;
use domain::ledger::Account;
use domain::sweep::{Pools, Sweep};
use serde_json::json;

use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::store_commands::open;
use super::super::table::{amount, id, state, text, time};
use super::super::tenants::TenantArgs;
use super::Context;

/// Maximum number of listed sweeps.
const LISTED_MAX: usize = 50;

pub(super) async fn run(args: &TenantArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let tenant = opened.tenant(&args.tenant).await?;
    let accounts = opened.store.accounts(tenant.id).await.map_err(Failure::of_store)?;
    let sweeps = opened.store.sweeps(tenant.id, LISTED_MAX).await.map_err(Failure::of_store)?;
    let pools = StableCoin::ALL.map(|coin| {
        let known = |code: &_| accounts.iter().find(|account| account.code == *code).cloned();
        (
            coin,
            Pools::of(coin, |code| {
                known(code).unwrap_or_else(|| Account::empty(tenant.id, code.clone()))
            }),
        )
    });
    match context.output {
        Output::Table => {
            for (coin, pools) in &pools {
                let [unswept, owed, swept] =
                    [pools.unswept.balance().minor, pools.owed(), pools.treasury.balance().minor]
                        .map(coin_amount::show);
                let code = coin.currency().code();
                output::line(&format!(
                    "{code}: {unswept} in the controller, {owed} of it owed; {swept} in the treasury"
                ))?;
            }
            let columns = [
                time("started"),
                text("coin"),
                amount("amount"),
                state("state"),
                time("since"),
                id("transaction"),
            ];
            let none = "No sweeps yet.";
            output::rows_or(&columns, sweeps.iter().map(row).collect(), none)
        }
        Output::Json => {
            for (coin, pools) in &pools {
                output::json(&json!({
                    "coin": coin.currency().code(),
                    "unswept": coin_amount::show(pools.unswept.balance().minor),
                    "owed": coin_amount::show(pools.owed()),
                    "sweepable": coin_amount::show(pools.sweepable()),
                    "treasury": coin_amount::show(pools.treasury.balance().minor),
                }))?;
            }
            sweeps.iter().try_for_each(|sweep| output::json(&shown(sweep)))
        }
    }
}

fn row(sweep: &Sweep) -> Vec<String> {
    vec![
        sweep.began_at.to_string(),
        sweep.coin.currency().code().to_owned(),
        coin_amount::show(sweep.minor),
        sweep.state.name().to_owned(),
        sweep.state_at.to_string(),
        sweep.tx.map_or_else(String::new, |tx| tx.to_string()),
    ]
}

fn shown(sweep: &Sweep) -> serde_json::Value {
    json!({
        "sweep_id": sweep.id.to_string(),
        "coin": sweep.coin.currency().code(),
        "amount": coin_amount::show(sweep.minor),
        "state": sweep.state.name(),
        "began_at": sweep.began_at.to_string(),
        "state_at": sweep.state_at.to_string(),
        "tx_hash": sweep.tx.map(|tx| tx.to_string()),
    })
}
