//! Stored records: blocks with their results, grants, reorganisations. Encoded in RLP.

use std::sync::Arc;

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Bytes, Log};
use alloy_rlp::{BufMut, Decodable, Encodable, RlpDecodable, RlpEncodable};

use super::run::Run;
use crate::block::{Block, Body, Grant, Receipt};
use crate::chain::Chain;
use crate::state::Changes;
use crate::tx::Tx;

/// A change of the chain.
pub(crate) enum Record {
    /// A block that is not empty.
    Block(Box<StoredBlock>, Changes),
    /// A run of empty blocks.
    Run(Run),
    /// A balance was set.
    Grant(Grant),
    /// The blocks above this height were removed.
    Rewind(u64),
}

/// A block with everything needed to restore it.
#[derive(RlpEncodable, RlpDecodable)]
pub(crate) struct StoredBlock {
    header: Header,
    hash: B256,
    txs: Vec<StoredTx>,
}

#[derive(RlpEncodable, RlpDecodable)]
struct StoredTx {
    raw: Bytes,
    sender: Address,
    is_unsigned: bool,
    succeeded: bool,
    gas_used: u64,
    logs: Vec<Log>,
}

impl StoredBlock {
    pub(crate) fn of(block: &Block) -> StoredBlock {
        let one = |(tx, receipt): (&Tx, &Receipt)| StoredTx {
            raw: tx.encoded().into(),
            sender: tx.sender(),
            is_unsigned: tx.is_unsigned(),
            succeeded: receipt.succeeded,
            gas_used: receipt.gas_used,
            logs: receipt.logs.clone(),
        };
        let txs = block.body.txs.iter().zip(&block.body.receipts).map(one).collect();
        StoredBlock { header: block.header.clone(), hash: block.hash, txs }
    }

    pub(crate) fn restore(self) -> Result<Block, String> {
        let mut body = Body::default();
        for tx in self.txs {
            body.txs.push(
                Tx::restore(&tx.raw, tx.sender, tx.is_unsigned)
                    .map_err(|fault| fault.to_string())?,
            );
            body.receipts.push(Receipt {
                succeeded: tx.succeeded,
                gas_used: tx.gas_used,
                logs: tx.logs,
            });
        }
        Ok(Block { header: self.header, hash: self.hash, body: Arc::new(body) })
    }
}

impl Record {
    pub(crate) fn block(block: &Block, changes: &Changes) -> Record {
        Record::Block(Box::new(StoredBlock::of(block)), changes.clone())
    }

    /// Applies the record again.
    pub(crate) fn replay(self, chain: &mut Chain) -> Result<(), String> {
        match self {
            Record::Block(stored, changes) => {
                let block = stored.restore()?;
                if block.header.parent_hash != chain.head().hash {
                    return Err(format!(
                        "block {} does not follow block {}",
                        block.number(),
                        chain.head().number()
                    ));
                }
                chain.put(block, &changes);
            }
            Record::Run(run) => run.replay(chain),
            Record::Grant(grant) => chain.put_grant(grant),
            Record::Rewind(to) => {
                if !chain.can_rewind(to) {
                    return Err(format!("cannot go back to block {to}"));
                }
                chain.put_rewind(to);
            }
        }
        Ok(())
    }
}

const BLOCK: u8 = 1;
const RUN: u8 = 2;
const GRANT: u8 = 3;
const REWIND: u8 = 4;

impl Encodable for Record {
    fn encode(&self, out: &mut dyn BufMut) {
        match self {
            Record::Block(block, changes) => {
                BLOCK.encode(out);
                block.encode(out);
                changes.encode(out);
            }
            Record::Run(run) => {
                RUN.encode(out);
                run.encode(out);
            }
            Record::Grant(grant) => {
                GRANT.encode(out);
                grant.encode(out);
            }
            Record::Rewind(to) => {
                REWIND.encode(out);
                to.encode(out);
            }
        }
    }
}

impl Decodable for Record {
    fn decode(bytes: &mut &[u8]) -> alloy_rlp::Result<Record> {
        Ok(match u8::decode(bytes)? {
            BLOCK => Record::Block(Box::new(StoredBlock::decode(bytes)?), Changes::decode(bytes)?),
            RUN => Record::Run(Run::decode(bytes)?),
            GRANT => Record::Grant(Grant::decode(bytes)?),
            REWIND => Record::Rewind(u64::decode(bytes)?),
            _ => return Err(alloy_rlp::Error::Custom("unknown kind of record")),
        })
    }
}
