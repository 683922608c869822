//! Pays links in blocks of a given size: everything is signed and sent to the chain in advance,
//! except for the transaction with each block's first nonce. Sending that one puts the whole block
//! into the chain's next block.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use domain::chain::{Broadcast, Signed, TxHash};
use domain::ports::Chain;

use super::inside::{AMOUNT_MINOR, COIN, Link};
use service::chain::ChainSide;

/// Maximum wait for a block.
const MINED_WITHIN: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Payments that are signed and not yet in the chain.
pub(super) struct Payer {
    chain: Arc<dyn Chain>,
    /// For each block, the withheld transaction and the last one.
    blocks: Vec<(Signed, TxHash)>,
}

impl Payer {
    /// Signs a payment for every link, and sends all but the withheld ones.
    pub(super) async fn prepare(
        side: &ChainSide,
        links: &[Link],
        per_block: usize,
    ) -> anyhow::Result<Payer> {
        let faucet =
            side.faucet.as_ref().context("the sandbox's own tokens are not on this chain")?;
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

    /// Pays block after block, each once its predecessor is in the chain; returns when each was
    /// seen there.
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
    anyhow::ensure!(
        matches!(told, Broadcast::Accepted | Broadcast::AlreadyKnown),
        "{}: {told:?}",
        tx.hash
    );
    Ok(())
}
