//! The chain side of a command that opens the store: it knows the tokens, but uses no node and no
//! keys. The command only decides; a running service executes its decisions.

use domain::chain::ChainNumber;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use adapters::evm::deploy::Minter;
use adapters::evm::signers::TenantKeys;
use adapters::evm::{EvmChain, EvmContracts, EvmSigner, Transport, TransportFault};
use domain::ports::{BoxFuture, Clock};

use super::chain::ChainSide;
use super::chain_keys;
use super::clock::WallClock;
use config::{KeySource, OfChain};

/// Stands in for a node.
struct NoNode;

impl Transport for NoNode {
    fn send(&self, _body: Vec<u8>) -> BoxFuture<'_, Result<Vec<u8>, TransportFault>> {
        let refused: Result<Vec<u8>, TransportFault> =
            Err(TransportFault::Failed("commands ask no node".to_owned()));
        Box::pin(std::future::ready(refused))
    }
}

/// The facts about the chain that need no node.
pub(super) fn chain_side(
    OfChain { config, .. }: &OfChain,
    number: ChainNumber,
    data_dir: &Path,
) -> anyhow::Result<ChainSide> {
    let tokens = match config.chain.keys.source {
        KeySource::Seed => {
            let seed = chain_keys::kept_seed(config, data_dir)?;
            Minter::new(&seed, config.chain.chain_id)?.tokens().to_vec()
        }
        _ => Vec::new(),
    };
    let chain_config = config.chain_config(number, &tokens, config.chain.explorer_tx_url.clone());
    let chain_config = Arc::new(chain_config);
    let keys = Arc::new(TenantKeys::new([])?);
    let contracts = Arc::new(EvmContracts::new(keys.clone(), HashMap::new())?);
    let clock: Arc<dyn Clock> = Arc::new(WallClock);
    let chain =
        Arc::new(EvmChain::new(&chain_config, contracts.clone(), vec![Arc::new(NoNode)], &clock));
    let signer = Arc::new(EvmSigner::new(&chain_config, keys, contracts.clone()));
    Ok(ChainSide {
        config: chain_config,
        chain,
        signer,
        contracts,
        made_today: Vec::new(),
        embedded: None,
        faucet: None,
        block_time: Duration::ZERO,
        path: String::new(),
    })
}
