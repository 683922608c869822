//! `corridor review coin …`: tokens that are suspended because their issuer paused them or changed
//! their contract code. Two users accept new code; only the issuer ends a pause.

use clap::{Args, Subcommand};
use domain::approval::DualControl;
use domain::chain::ChainNumber;
use domain::currency::StableCoin;
use domain::deposit::TokenState;
use domain::user::Scope;
use serde_json::json;
use service::world;

use super::super::Context;
use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::people::MakerAndChecker;
use super::super::store_commands::{Opened, open};
use super::super::table::{id, number, state, text};
use super::super::tenants::{StoreArgs, coin};

#[derive(Subcommand, Debug)]
pub enum CoinCommand {
    /// Show the state of the token contracts
    #[command(after_help = "Example:\n  corridor review coin show")]
    Show(StoreArgs),
    /// Resume a token after its issuer changed the contract code
    Accept(AcceptArgs),
}

/// Options of `review coin accept`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor review coin accept --coin USDC --maker ayesha --checker omar \\
    --why 'release 2.3 of the issuer, code compared with its audited source'

`corridor review coin show` shows the block of the code change. Until it is accepted, the token moves for no tenant.")]
pub struct AcceptArgs {
    /// Token whose new contract code is accepted
    #[arg(long, value_name = "USDC|USDT", value_parser = coin)]
    coin: StableCoin,
    /// Chain, as the API names it [default: the first]
    #[arg(long, value_name = "NAME")]
    blockchain: Option<String>,
    #[command(flatten)]
    people: MakerAndChecker,
    #[command(flatten)]
    store: StoreArgs,
}

/// Runs `review coin …`.
pub async fn run(command: &CoinCommand, context: &Context) -> Result<(), Failure> {
    match command {
        CoinCommand::Show(args) => {
            let opened = open(args, context).await?;
            let states = opened.store.token_states().await.map_err(Failure::of_store)?;
            let mut every = Vec::new();
            for (chain, _) in opened.chains().await? {
                every.extend(StableCoin::ALL.map(|coin| known(&states, chain, coin)));
            }
            show(&opened, &every, context.output).await
        }
        CoinCommand::Accept(args) => accept(args, context).await,
    }
}

async fn accept(args: &AcceptArgs, context: &Context) -> Result<(), Failure> {
    let opened = open(&args.store, context).await?;
    let by = args.people.deed(&opened, Scope::All, DualControl::TOKEN_CODE).await?;
    let states = opened.store.token_states().await.map_err(Failure::of_store)?;
    let chain = opened.chain(&args.blockchain).await?;
    let seen = known(&states, chain, args.coin);
    let named = opened.chains().await?.into_iter().find(|(number, _)| *number == chain);
    let name = named.map_or_else(|| chain.0.to_string(), |(_, name)| name);
    let code = format!("{} on {name}", args.coin.currency().code());
    if !seen.code_changed {
        return Err(Failure::Refused(format!("{code}: no code change is pending")));
    }
    output::remark(&format!(
        "accepting the current code of {code}; last changed in block {}",
        seen.at_block
    ));
    // Refused if the contract changes again before the decision is recorded.
    opened.store.accept_token_code(&seen, by).await.map_err(Failure::of_store)?;
    output::remark(match seen.paused {
        true => "accepted; the token stays suspended because its issuer paused it",
        false => "accepted; the running service resumes it within a minute",
    });
    show(&opened, &[TokenState { code_changed: false, ..seen }], context.output).await
}

/// The state of a token; one without any report is active.
fn known(states: &[TokenState], chain: ChainNumber, coin: StableCoin) -> TokenState {
    let silent = TokenState { chain, coin, paused: false, code_changed: false, at_block: 0 };
    states
        .iter()
        .find(|state| (state.chain, state.coin) == (chain, coin))
        .copied()
        .unwrap_or(silent)
}

async fn show(opened: &Opened, states: &[TokenState], output: Output) -> Result<(), Failure> {
    let chains = opened.chains().await?;
    let name = |state: &TokenState| {
        chains.iter().find(|(number, _)| *number == state.chain).map(|(_, name)| name.clone())
    };
    // The contracts of the built-in chain are not in the configuration.
    let configured = world::numbered_chains(&opened.config, Some(&opened.store)).await;
    let configured = configured.map_err(Failure::unavailable)?;
    let contract = |state: &TokenState| {
        let (of, _) = configured.iter().find(|(_, number)| *number == Some(state.chain))?;
        let chain = of.config.chain_config(state.chain, &[], String::new());
        chain.token(state.coin).map(|address| address.to_string())
    };
    let changed_in = |state: &TokenState| Some(state.at_block).filter(|block| *block > 0);
    match output {
        Output::Table => {
            let row = |state: &TokenState| {
                let moves = match (state.paused, state.code_changed) {
                    (false, false) => "yes",
                    (true, false) => "no: paused",
                    (false, true) => "no: code changed",
                    (true, true) => "no: paused, code changed",
                };
                let block = changed_in(state).map(|block| block.to_string());
                let coin = state.coin.currency().code();
                vec![
                    coin.to_owned(),
                    name(state).unwrap_or_default(),
                    moves.to_owned(),
                    block.unwrap_or_default(),
                    contract(state).unwrap_or_default(),
                ]
            };
            output::rows(
                &[
                    text("coin"),
                    text("blockchain"),
                    state("active"),
                    number("last changed in block"),
                    id("contract"),
                ],
                states.iter().map(row).collect(),
            )
        }
        Output::Json => states.iter().try_for_each(|state| {
            output::json(&json!({
                "coin": state.coin.currency().code(),
                "blockchain": name(state),
                "moves": !state.is_halted(),
                "paused": state.paused,
                "code_changed": state.code_changed,
                "changed_in_block": changed_in(state),
                "contract": contract(state),
            }))
        }),
    }
}
