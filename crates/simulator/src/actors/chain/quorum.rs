//! Which endpoint is asked, and what counts as an answer: what the adapter makes of two endpoints, without JSON.

use domain::chain::{BlockHash, ChainFault, ChainLog, Receipt, Sighting, TxHash};

use super::blocks::Blocks;
use super::endpoint::{Endpoint, Seen};

/// The endpoints in the order in which they are asked.
pub struct Endpoints(pub [Endpoint; 2]);

impl Endpoints {
    /// The endpoints that answer now.
    pub fn serving(&self) -> impl DoubleEndedIterator<Item = &Endpoint> {
        self.0.iter().filter(|endpoint| !endpoint.is_silent())
    }

    /// Whether as many answer as must say the same.
    pub fn is_quorum(&self) -> bool {
        self.serving().count() == self.0.len()
    }

    /// The one that is usually asked, or the one in its place.
    pub fn first(&self) -> Result<&Endpoint, ChainFault> {
        self.serving().next().ok_or_else(silent)
    }

    /// The value that both endpoints report.
    pub fn agreed<T: PartialEq>(
        &self,
        what: impl FnOnce() -> String,
        said: impl Fn(&Endpoint) -> T,
    ) -> Result<T, ChainFault> {
        let mut said = self.serving().map(said);
        match (said.next(), said.next()) {
            (Some(one), Some(other)) if one == other => Ok(one),
            (Some(_), Some(_)) => Err(ChainFault::Disagreement(what())),
            _ => Err(silent()),
        }
    }

    /// Whether both have a block; another one at its height is a disagreement.
    pub fn have_block(&self, number: u64, hash: BlockHash) -> Result<bool, ChainFault> {
        let known = || self.serving().map(|endpoint| endpoint.view.hash(number));
        if known().flatten().any(|known| known != hash) {
            return Err(ChainFault::Disagreement(format!("block {number}")));
        }
        let having = known().flatten().count();
        match self.is_quorum() {
            true => Ok(having == self.0.len()),
            false => Err(silent()),
        }
    }

    /// Whether a block has another one in its place; a disagreement where one of the two still has it.
    pub fn have_replaced(&self, number: u64, hash: BlockHash) -> Result<bool, ChainFault> {
        self.first()?;
        let known: Vec<BlockHash> =
            self.serving().filter_map(|endpoint| endpoint.view.hash(number)).collect();
        let gone = known.iter().any(|known| *known != hash);
        match (gone, known.contains(&hash)) {
            (true, true) => Err(ChainFault::Disagreement(format!("block {number}"))),
            _ => Ok(gone),
        }
    }

    /// What they have of something in a block.
    pub fn sighting(
        &self,
        blocks: &Blocks,
        (tx, number, block): (TxHash, u64, BlockHash),
        is_it: impl Fn(&Receipt) -> bool,
    ) -> Result<Sighting, ChainFault> {
        self.first()?;
        let (mut having, mut missing) = (0, 0);
        for endpoint in self.serving() {
            match endpoint.look_for(blocks, tx, number, block) {
                Seen::There(receipt) if is_it(&receipt) => having += 1,
                Seen::There(_) | Seen::Otherwise => missing += 1,
                Seen::NotYet => {}
            }
        }
        match (having, missing) {
            (1.., 1..) => Err(ChainFault::Disagreement(format!("{tx} in block {number}"))),
            (2.., _) => Ok(Sighting::Confirmed),
            (_, 2..) => Ok(Sighting::Absent),
            _ => Ok(Sighting::Open),
        }
    }

    /// The logs of one block. Its header's bloom shows what is left out or made up, unless the header lies as well; the
    /// other endpoint is asked too, where it has the block and the header does not say that there is nothing.
    pub fn block_logs(
        &self,
        blocks: &Blocks,
        block: BlockHash,
    ) -> Result<Vec<ChainLog>, ChainFault> {
        let mut able = self.serving().filter_map(|endpoint| {
            let number = endpoint.view.number_of(block)?;
            (!endpoint.contradicts_its_header(blocks, number)).then_some((endpoint, number))
        });
        let Some((answering, number)) = able.next() else { return unreachable("unknown block") };
        let logs = answering.logs(blocks, number, number);
        if answering.hides_logs(number) {
            return Ok(logs);
        }
        match able.next() {
            // An answer that cannot be in the block by the first one's header is none.
            Some((other, _)) if !other.makes_up(blocks, number) => {
                if other.logs(blocks, number, number) != logs {
                    return Err(ChainFault::Disagreement(format!("the logs of block {number}")));
                }
                Ok(logs)
            }
            _ => Ok(answering.logs_by_receipts(blocks, number)),
        }
    }

    /// The logs of a range from the first that gives it, of those in this order.
    pub fn range_logs<'a>(
        blocks: &Blocks,
        mut endpoints: impl Iterator<Item = &'a Endpoint>,
        (from, to): (u64, u64),
    ) -> Result<Vec<ChainLog>, ChainFault> {
        match endpoints.find(|endpoint| endpoint.gives_range(from, to)) {
            Some(endpoint) => Ok(endpoint.logs(blocks, from, to)),
            None if from < to => Err(ChainFault::TooMuch),
            None => unreachable("no answer in time"),
        }
    }
}

fn silent() -> ChainFault {
    ChainFault::Unreachable("no answer in time".to_owned())
}

pub fn unreachable<T>(why: &str) -> Result<T, ChainFault> {
    Err(ChainFault::Unreachable(why.to_owned()))
}
