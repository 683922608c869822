//! The built-in chain, as this program uses it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use devchain::{DevChain, DiskFault, Mining, Options, Reorg};
use domain::ports::Clock;
use serde_json::Value;

/// Gas of a block: room for a thousand payments of tokens.
const BLOCK_GAS: u64 = 120_000_000;

/// The built-in chain. Clones are handles of the same chain.
#[derive(Clone)]
pub struct BuiltInChain(DevChain);

impl BuiltInChain {
    /// Opens the chain that is kept in a directory, or begins one. A block comes with each transaction until
    /// [`BuiltInChain::mine_every`] says otherwise.
    ///
    /// # Errors
    /// The directory cannot be used, or another process uses it.
    pub fn open(chain_id: u64, directory: &Path, clock: Arc<dyn Clock>) -> anyhow::Result<BuiltInChain> {
        let options = Options {
            data_dir: Some(directory.to_owned()),
            mining: Mining::Instant,
            gas_limit: BLOCK_GAS,
            ..Options::new(chain_id, clock)
        };
        DevChain::open(options).map(BuiltInChain).map_err(|fault| match fault {
            DiskFault::InUse { path } => anyhow::anyhow!(
                "the built-in chain in {} is another process's, and only one can have it: give this one a data directory \
                 of its own (--data-dir), or no wallets (wallets.enabled = false), or a node of a chain in chain.node_url",
                path.parent().unwrap_or(&path).display()
            ),
            fault => anyhow::Error::from(fault).context("the built-in chain"),
        })
    }

    /// Makes a block with each transaction.
    pub fn mine_at_once(&self) {
        self.0.set_mining(Mining::Instant);
    }

    /// Makes a block after each interval.
    pub fn mine_every(&self, interval: Duration) {
        self.0.set_mining(Mining::Every(interval));
    }

    /// Makes the blocks of [`BuiltInChain::mine_every`] until told to stop.
    pub async fn mine_forever(&self, stop: impl Future<Output = ()>) {
        self.0.mine_forever(stop).await;
    }

    /// Answers a JSON-RPC request of this process.
    pub async fn request(&self, body: &[u8]) -> Vec<u8> {
        self.0.request(body).await
    }

    /// Answers a JSON-RPC request that came over HTTP.
    pub async fn serve_bytes(&self, body: &[u8]) -> Vec<u8> {
        self.0.serve_bytes(body).await
    }

    /// One JSON-RPC call of this process.
    ///
    /// # Errors
    /// The call is refused.
    pub fn call(&self, method: &str, params: Value) -> anyhow::Result<Value> {
        self.0.call(method, params).map_err(|fault| anyhow::anyhow!("{method}: {fault:?}"))
    }

    /// Replaces the newest block by another one with the same transactions.
    ///
    /// # Errors
    /// The chain has no such block, or cannot be written.
    pub fn replace_newest_block(&self) -> anyhow::Result<()> {
        self.0.reorg(&Reorg { depth: 1, reinclude: true, ..Reorg::default() }).context("the built-in chain")
    }

    /// The chain itself, for tests that act on it as anybody can.
    pub const fn devchain(&self) -> &DevChain {
        &self.0
    }
}
