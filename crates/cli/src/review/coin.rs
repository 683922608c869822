//! `corridor review coin …`: coins that move nothing, because their issuer paused them or gave their contract other code.
//! Other code is for two people to accept; only the issuer ends a pause.

use clap::{Args, Subcommand};
use domain::currency::StableCoin;
use domain::deposit::TokenState;
use serde_json::json;

use super::super::Context;
use super::super::failure::Failure;
use super::super::output::{self, Output};
use super::super::people::TwoPeople;
use super::super::store_commands::{Opened, open};
use super::super::tenants::{StoreArgs, coin};

/// `review coin …`
#[derive(Subcommand, Debug)]
pub enum CoinCommand {
    /// Show what the chain has said of the coins' contracts
    #[command(after_help = "Example:\n  corridor review coin show")]
    Show(StoreArgs),
    /// Let a coin move again after its issuer changed its contract's code
    Accept(AcceptArgs),
}

/// Options of `review coin accept`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  corridor review coin accept --coin USDC --maker ayesha --checker omar \\
    --why 'release 2.3 of the issuer, code compared with its audited source'

`corridor review coin show` says in which block the code was changed. Until it is accepted no tenant's money moves.")]
pub struct AcceptArgs {
    /// The coin
    #[arg(long, value_name = "USDC|USDT", value_parser = coin)]
    coin: StableCoin,
    #[command(flatten)]
    people: TwoPeople,
    #[command(flatten)]
    store: StoreArgs,
}

/// Runs `review coin …`.
pub async fn run(command: &CoinCommand, context: &Context) -> Result<(), Failure> {
    match command {
        CoinCommand::Show(args) => {
            let opened = open(args, context).await?;
            let states = opened.store.token_states().await.map_err(Failure::of_store)?;
            let every = StableCoin::ALL.map(|coin| known(&states, coin));
            show(&opened, &every, context.output)
        }
        CoinCommand::Accept(args) => accept(args, context).await,
    }
}

async fn accept(args: &AcceptArgs, context: &Context) -> Result<(), Failure> {
    args.people.evidence()?;
    let opened = open(&args.store, context).await?;
    let states = opened.store.token_states().await.map_err(Failure::of_store)?;
    let seen = known(&states, args.coin);
    let code = args.coin.currency().code();
    if !seen.code_changed {
        return Err(Failure::Refused(format!("{code}: no change of its code waits to be accepted")));
    }
    output::remark(&format!("accepting the code that {code} has; last changed in block {}", seen.at_block));
    // Refused where the issuer does something to it meanwhile: that is not what they looked at.
    opened.store.accept_token_code(&seen, args.people.deed(&opened.by)).await.map_err(Failure::of_store)?;
    output::remark(match seen.paused {
        true => "accepted; its issuer has paused it all the same",
        false => "accepted; the running service moves it again within a minute",
    });
    show(&opened, &[TokenState { code_changed: false, ..seen }], context.output)
}

/// What is known of a coin; one that nothing was ever said about moves.
fn known(states: &[TokenState], coin: StableCoin) -> TokenState {
    let silent = TokenState { coin, paused: false, code_changed: false, at_block: 0 };
    states.iter().find(|state| state.coin == coin).copied().unwrap_or(silent)
}

fn show(opened: &Opened, states: &[TokenState], output: Output) -> Result<(), Failure> {
    // The contracts of the built-in chain are not in the configuration.
    let chain = opened.config.chain_config(&[], String::new());
    let contract = |state: &TokenState| chain.token(state.coin).map(|address| address.to_string());
    let changed_in = |state: &TokenState| Some(state.at_block).filter(|block| *block > 0);
    match output {
        Output::Table => {
            let row = |state: &TokenState| {
                let moves = match (state.paused, state.code_changed) {
                    (false, false) => "yes",
                    (true, false) => "no: paused",
                    (false, true) => "no: other code",
                    (true, true) => "no: paused, other code",
                };
                let block = changed_in(state).map(|block| block.to_string());
                let coin = state.coin.currency().code();
                vec![coin.to_owned(), moves.to_owned(), block.unwrap_or_default(), contract(state).unwrap_or_default()]
            };
            output::rows(&["coin", "moves", "last changed in block", "contract"], states.iter().map(row).collect())
        }
        Output::Json => states.iter().try_for_each(|state| {
            output::json(&json!({
                "coin": state.coin.currency().code(),
                "moves": !state.is_halted(),
                "paused": state.paused,
                "code_changed": state.code_changed,
                "changed_in_block": changed_in(state),
                "contract": contract(state),
            }))
        }),
    }
}
