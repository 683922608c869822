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
    let known = |code: &_| {
        let account = accounts.iter().find(|account| account.code == *code).cloned();
        account.unwrap_or_else(|| Account::empty(tenant.id, code.clone()))
    };
    let chains = opened.chains().await?;
    let pools: Vec<(&str, StableCoin, Pools)> = chains
        .iter()
        .flat_map(|(chain, name)| {
            StableCoin::ALL.map(|coin| (name.as_str(), coin, Pools::of(*chain, coin, known)))
        })
        .collect();
    let name_of = |sweep: &Sweep| {
        let name = chains.iter().find(|(number, _)| *number == sweep.chain);
        name.map(|(_, name)| name.clone()).unwrap_or_default()
    };
    match context.output {
        Output::Table => {
            let columns = [
                text("coin"),
                text("blockchain"),
                amount("in the controller"),
                amount("of it owed"),
                amount("in the treasury"),
            ];
            output::rows(&columns, pools.iter().map(pool_row).collect())?;
            let columns = [
                time("started"),
                text("coin"),
                text("blockchain"),
                amount("amount"),
                state("state"),
                time("since"),
                id("transaction"),
            ];
            let none = "No sweeps yet.";
            output::rows_or(
                &columns,
                sweeps.iter().map(|sweep| row(sweep, name_of(sweep))).collect(),
                none,
            )
        }
        Output::Json => {
            for (chain, coin, pools) in &pools {
                output::json(&json!({
                    "coin": coin.currency().code(),
                    "blockchain": chain,
                    "unswept": coin_amount::show(pools.unswept.balance().minor),
                    "owed": coin_amount::show(pools.owed()),
                    "sweepable": coin_amount::show(pools.sweepable()),
                    "treasury": coin_amount::show(pools.treasury.balance().minor),
                }))?;
            }
            sweeps.iter().try_for_each(|sweep| output::json(&shown(sweep, &name_of(sweep))))
        }
    }
}

fn pool_row((chain, coin, pools): &(&str, StableCoin, Pools)) -> Vec<String> {
    let amounts = [pools.unswept.balance().minor, pools.owed(), pools.treasury.balance().minor];
    let names = [coin.currency().code(), chain].map(str::to_owned);
    names.into_iter().chain(amounts.map(coin_amount::show)).collect()
}

fn row(sweep: &Sweep, chain: String) -> Vec<String> {
    vec![
        sweep.began_at.to_string(),
        sweep.coin.currency().code().to_owned(),
        chain,
        coin_amount::show(sweep.minor),
        sweep.state.name().to_owned(),
        sweep.state_at.to_string(),
        sweep.tx.map_or_else(String::new, |tx| tx.to_string()),
    ]
}

fn shown(sweep: &Sweep, chain: &str) -> serde_json::Value {
    json!({
        "sweep_id": sweep.id.to_string(),
        "coin": sweep.coin.currency().code(),
        "blockchain": chain,
        "amount": coin_amount::show(sweep.minor),
        "state": sweep.state.name(),
        "began_at": sweep.began_at.to_string(),
        "state_at": sweep.state_at.to_string(),
        "tx_hash": sweep.tx.map(|tx| tx.to_string()),
    })
}
