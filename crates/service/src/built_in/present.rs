//! The built-in chain as used by this program.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use devchain::{DevChain, DiskFault, Mining, Options, Reorg};
use domain::ports::Clock;
use serde_json::Value;

/// Gas limit of a block: enough for a thousand token payments.
const BLOCK_GAS: u64 = 120_000_000;

/// The built-in chain. Clones are handles to the same chain.
#[derive(Clone)]
pub struct BuiltInChain(DevChain);

impl BuiltInChain {
    /// Opens the chain stored in a directory, or creates one. Each transaction is mined immediately
    /// until [`BuiltInChain::mine_every`] changes that.
    ///
    /// # Errors
    /// The directory is unusable, or in use by another process.
    pub fn open(
        chain_id: u64,
        directory: &Path,
        clock: Arc<dyn Clock>,
    ) -> anyhow::Result<BuiltInChain> {
        let options = Options {
            data_dir: Some(directory.to_owned()),
            mining: Mining::Instant,
            gas_limit: BLOCK_GAS,
            ..Options::new(chain_id, clock)
        };
        DevChain::open(options).map(BuiltInChain).map_err(|fault| match fault {
            DiskFault::InUse { path } => anyhow::anyhow!(
                "the built-in chain in {} is in use by another process: use a separate data directory (--data-dir), \
                 disable wallets (wallets.enabled = false), or configure a node in chain.node_url",
                path.parent().unwrap_or(&path).display()
            ),
            fault => anyhow::Error::from(fault).context("the built-in chain"),
        })
    }

    /// Mines a block with each transaction.
    pub fn mine_at_once(&self) {
        self.0.set_mining(Mining::Instant);
    }

    /// Mines a block after each interval.
    pub fn mine_every(&self, interval: Duration) {
        self.0.set_mining(Mining::Every(interval));
    }

    /// Mines the blocks of [`BuiltInChain::mine_every`] until shutdown.
    pub async fn mine_forever(&self, stop: impl Future<Output = ()>) {
        self.0.mine_forever(stop).await;
    }

    /// Serves a JSON-RPC request of this process.
    pub async fn request(&self, body: &[u8]) -> Vec<u8> {
        self.0.request(body).await
    }

    /// Serves a JSON-RPC request that arrived over HTTP.
    pub async fn serve_bytes(&self, body: &[u8]) -> Vec<u8> {
        self.0.serve_bytes(body).await
    }

    /// One JSON-RPC call of this process.
    ///
    /// # Errors
    /// The chain rejects the call.
    pub fn call(&self, method: &str, params: Value) -> anyhow::Result<Value> {
        self.0.call(method, params).map_err(|fault| anyhow::anyhow!("{method}: {fault:?}"))
    }

    /// Replaces the newest block by another one with the same transactions.
    ///
    /// # Errors
    /// The chain has no such block, or cannot be written.
    pub fn replace_newest_block(&self) -> anyhow::Result<()> {
        self.0
            .reorg(&Reorg { depth: 1, reinclude: true, ..Reorg::default() })
            .context("the built-in chain")
    }

    /// The chain itself, for tests that act on it directly.
    pub const fn devchain(&self) -> &DevChain {
        &self.0
    }
}
