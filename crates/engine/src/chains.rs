//! Names the configured chains: a chain gets its number, for good, only after one of its nodes has
//! named it. Until then nothing runs on it. Never changes a number.

use domain::chain::{
    Address, BlockAt, ChainConfig, ChainFault, ChainNumber, RESTING, Token, other_chain,
};
use domain::characters::one_line;
use domain::currency::StableCoin;
use domain::ports::{Chain, Clock};
use domain::time::Span;
use domain::wallet_effects::AlertKind;
use store::{Store, StoreError};

use crate::alerts::{self, FAULT_CHARS};
use crate::context::ConfiguredChain;
use crate::stop::Stop;

/// Pause between two attempts.
const RETRY: Span = Span::secs(2);

/// Why a chain has no number yet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotNamed {
    #[error(transparent)]
    Node(#[from] ChainFault),
    #[error("its nodes do not have the blocks that this installation has ingested")]
    OtherChain,
    /// Amounts would be multiplied by a power of ten: every amount is in units of the configured
    /// coin.
    #[error("{address} has {decimals} decimals, and {} has {}", coin.currency().code(), coin.currency().minor_units())]
    OtherToken {
        /// The coin that the token is configured as.
        coin: StableCoin,
        address: Address,
        decimals: u64,
    },
    /// The contract is not a token.
    #[error("{address} does not name its decimals, as {} does", coin.currency().code())]
    NoToken {
        /// The coin that the token is configured as.
        coin: StableCoin,
        address: Address,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The number of a configured chain; a new one gets it now, if a node names it. The chain of
/// `[chain]` is the first, and everything older than the numbers belongs to it: it has to have the
/// blocks that were ingested.
///
/// # Errors
/// No node names the chain, it does not have those blocks, or a token is not the configured coin.
pub async fn number(
    store: &Store,
    config: &ChainConfig,
    chain: &dyn Chain,
    is_first: bool,
) -> Result<ChainNumber, NotNamed> {
    let known = store.known_chains().await?;
    if let Some(known) = known.iter().find(|known| known.chain_id == config.chain_id) {
        return Ok(known.number);
    }
    // A node is asked nothing before it has named the configured chain.
    chain.head().await?;
    if is_first && known.iter().all(|known| known.number != ChainNumber::FIRST) {
        let ingested = store.chain_headers(ChainNumber::FIRST, usize::MAX).await?;
        let mut is_there = ingested.is_empty();
        // The newest may have been reorganized away.
        for block in ingested.first().into_iter().chain(ingested.last()) {
            let there = chain.block(BlockAt::Number(block.number)).await?;
            is_there |= there.is_some_and(|there| there.hash == block.hash);
        }
        if !is_there {
            return Err(NotNamed::OtherChain);
        }
    }
    for token in &config.tokens {
        check_decimals(token, chain).await?;
        let Token { coin, address } = *token;
        if let Err(ChainFault::Reverted { .. }) = chain.is_blacklisted(address, address).await {
            let coin = coin.currency().code();
            tracing::warn!(
                chain = config.name,
                coin,
                contract = %address,
                "token has no known issuer's list, accounts on it are not recognized"
            );
        }
    }
    let number = store.add_chain(config.chain_id, &config.name, is_first).await?;
    tracing::info!(chain = config.name, number = number.0, "chain named by a node");
    end_alerts(store, &config.name).await;
    Ok(number)
}

/// Ends every alert that nothing runs on this chain, also one about an id that was configured in
/// error.
pub async fn end_alerts(store: &Store, name: &str) {
    alerts::end_beginning(store, AlertKind::ChainNode, &not_in_use(name)).await;
}

/// A token that is not deployed yet passes.
async fn check_decimals(token: &Token, chain: &dyn Chain) -> Result<(), NotNamed> {
    let Token { coin, address } = *token;
    let decimals = match chain.decimals(address).await {
        Err(ChainFault::Reverted { .. }) => return Err(NotNamed::NoToken { coin, address }),
        said => said?,
    };
    match decimals {
        Some(decimals) if decimals != u64::from(coin.currency().minor_units()) => {
            Err(NotNamed::OtherToken { coin, address, decimals })
        }
        _ => Ok(()),
    }
}

/// The number of a chain, once a node has named it; `None` at shutdown. Operators are alerted.
pub async fn wait_for_number(
    store: &Store,
    configured: &ConfiguredChain,
    is_first: bool,
    clock: &dyn Clock,
    mut stop: Stop,
) -> Option<ChainNumber> {
    let chain = configured.configured();
    let config = &chain.config;
    let (mut alerted, mut said) = (String::new(), String::new());
    while !*stop.borrow() {
        let why = match number(store, config, chain.chain.as_ref(), is_first).await {
            Ok(number) => return Some(number),
            Err(why) => why,
        };
        let reason = reason(config, &why);
        let what = format!("{}{reason}", not_in_use(&config.name));
        if let Some(detail) = detail(&why) {
            said = detail;
        }
        configured.set_reason(if said.is_empty() { reason } else { format!("{reason}: {said}") });
        if what != alerted {
            tracing::warn!(chain = config.name, %why, "chain is not in use yet, will retry");
            alerts::raise_everywhere(store, AlertKind::ChainNode, &what).await;
            alerted = what;
        }
        tokio::select! {
            biased;
            () = clock.sleep_until(clock.now() + RETRY) => {}
            _ = stop.wait_for(|stop| *stop) => {}
        }
    }
    None
}

/// What the alerts of a chain that is not in use begin with.
fn not_in_use(name: &str) -> String {
    format!("{name}: nothing runs on this chain: ")
}

/// Why nothing runs on a chain: constant while its cause lasts.
fn reason(ChainConfig { chain_id, .. }: &ChainConfig, why: &NotNamed) -> String {
    match why {
        NotNamed::OtherChain => why.to_string(),
        NotNamed::OtherToken { coin, .. } => {
            let (code, decimals) = (coin.currency().code(), coin.currency().minor_units());
            format!("the contract configured as {code} does not have {decimals} decimals")
        }
        NotNamed::NoToken { coin, .. } => {
            let code = coin.currency().code();
            format!(
                "the contract configured as {code} is not a token: it does not name its decimals"
            )
        }
        NotNamed::Store(_) => "the database does not answer".to_owned(),
        NotNamed::Node(_) => {
            let none =
                format!("none of its nodes has answered what a start asks of chain {chain_id}");
            match other_chain(&why.to_string()) {
                Some(other) => format!("{none}, one is on chain {other}"),
                None => none,
            }
        }
    }
}

/// The last fault behind a [`reason`] that does not say it: another one whenever it is asked for. `None`
/// for that of a node which is not asked after failures, and keeps the one before.
fn detail(why: &NotNamed) -> Option<String> {
    match why {
        NotNamed::Node(fault) => {
            let fault = fault.to_string();
            (!fault.contains(RESTING)).then(|| one_line(&fault, FAULT_CHARS))
        }
        NotNamed::Store(error) => Some(one_line(&error.to_string(), FAULT_CHARS)),
        NotNamed::OtherChain | NotNamed::OtherToken { .. } | NotNamed::NoToken { .. } => {
            Some(String::new())
        }
    }
}
