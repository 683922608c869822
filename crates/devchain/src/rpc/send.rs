//! `eth_sendRawTransaction`: adds to the pool and, in instant mode, mines a block.

use serde_json::Value;

use super::fault::RpcFault;
use super::params::Params;
use super::show::data;
use crate::DevChain;
use crate::options::Mining;
use crate::pool::PoolFault;
use crate::tx::Tx;

pub(crate) fn raw(handle: &DevChain, params: Params<'_>) -> Result<Value, RpcFault> {
    let raw = params.bytes(0)?;
    let chain_id = handle.look(|chain| chain.chain_id);
    // The signature is verified before the lock is taken.
    let tx = Tx::decode(&raw, chain_id).map_err(PoolFault::from)?;
    let (hash, now) = (tx.hash(), handle.now());
    handle
        .change(|chain| {
            if chain.faults.drop_txs > 0 {
                chain.faults.drop_txs -= 1;
                return Ok(());
            }
            chain.submit(tx)?;
            if chain.mining == Mining::Instant
                && !chain.build_pending(now).block.body.txs.is_empty()
            {
                chain.mine(now)?;
            }
            Ok(())
        })
        .map(|()| data(hash))
}
