//! Placeholder for the built-in chain in a build without it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use domain::ports::Clock;
use serde_json::Value;

/// An uninhabited type, so the code below never runs.
#[derive(Clone)]
pub enum BuiltInChain {}

impl BuiltInChain {
    /// # Errors
    /// Always: this build has no chain.
    pub fn open(
        _chain_id: u64,
        _directory: &Path,
        _clock: Arc<dyn Clock>,
    ) -> anyhow::Result<BuiltInChain> {
        anyhow::bail!(
            "this build has no built-in chain: name a node of a chain in chain.node_url, or set wallets.enabled = false"
        )
    }

    pub fn mine_at_once(&self) {
        match *self {}
    }

    pub fn mine_every(&self, _interval: Duration) {
        match *self {}
    }

    pub async fn mine_forever(&self, _stop: impl Future<Output = ()>) {
        match *self {}
    }

    pub async fn request(&self, _body: &[u8]) -> Vec<u8> {
        match *self {}
    }

    pub async fn serve_bytes(&self, _body: &[u8]) -> Vec<u8> {
        match *self {}
    }

    pub fn call(&self, _method: &str, _params: Value) -> anyhow::Result<Value> {
        match *self {}
    }

    pub fn replace_newest_block(&self) -> anyhow::Result<()> {
        match *self {}
    }
}
