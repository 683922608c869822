//! Pays links in blocks of a size: everything is signed and handed to the chain beforehand, but of each block the
//! transaction with its first nonce is held back. Handing that over puts the whole block into the chain's next one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use domain::chain::{Broadcast, Signed, TxHash};
use domain::ports::Chain;

use super::inside::{AMOUNT_MINOR, COIN, Link};
use service::chain::ChainSide;

/// Longest wait for a block.
const MINED_WITHIN: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Payments that are signed and not yet in the chain.
pub(super) struct Payer {
    chain: Arc<dyn Chain>,
    /// Of each block what is held back, and its last transaction.
    blocks: Vec<(Signed, TxHash)>,
}

impl Payer {
    /// Signs a payment of every link, and hands over what need not be held back.
    pub(super) async fn prepare(side: &ChainSide, links: &[Link], per_block: usize) -> anyhow::Result<Payer> {
        let faucet = side.faucet.as_ref().context("the sandbox's own tokens are not on this chain")?;
        let minor = u64::try_from(AMOUNT_MINOR)?;
        let payments: Vec<_> = links.iter().map(|link| (link.escrow, minor)).collect();
        let signed = faucet.sign(COIN, &payments).await?;
        let mut blocks = Vec::new();
        for block in signed.chunks(per_block.max(1)) {
            let [first, rest @ ..] = block else { continue };
            for tx in rest {
                hand_over(side.chain.as_ref(), tx).await?;
            }
            blocks.push((first.clone(), block.last().unwrap_or(first).hash));
        }
        Ok(Payer { chain: side.chain.clone(), blocks })
    }

    /// Pays block after block, each once the one before it is in the chain; when each of them was seen there.
    pub(super) async fn pay(&self) -> anyhow::Result<Vec<Instant>> {
        let mut mined = Vec::with_capacity(self.blocks.len());
        for (first, last) in &self.blocks {
            hand_over(self.chain.as_ref(), first).await?;
            let until = Instant::now() + MINED_WITHIN;
            while self.chain.receipt(*last, &[]).await?.is_none() {
                anyhow::ensure!(Instant::now() < until, "{last} is not mined");
                tokio::time::sleep(LOOK_EVERY).await;
            }
            mined.push(Instant::now());
        }
        Ok(mined)
    }
}

async fn hand_over(chain: &dyn Chain, tx: &Signed) -> anyhow::Result<()> {
    let told = chain.broadcast(&tx.raw).await;
    anyhow::ensure!(matches!(told, Broadcast::Accepted | Broadcast::AlreadyKnown), "{}: {told:?}", tx.hash);
    Ok(())
}
