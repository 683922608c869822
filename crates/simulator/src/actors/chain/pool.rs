//! The mempool: transactions that were sent and are in no block. It holds one transaction of the
//! service per nonce; a replacement pays a tenth more.

use std::collections::BTreeMap;

use domain::chain::{Address, Broadcast, TxHash, Unsigned};

use super::contracts::Deed;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tx {
    /// The service signed it.
    Ours(Box<Unsigned>),
    /// A third party sent it; its nonce and fee do not matter here.
    Theirs(Deed),
}

/// What is in no block yet.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    ours: BTreeMap<(Address, u64), (TxHash, Unsigned)>,
    /// By the height from which on they may be mined, in the order of their arrival.
    theirs: BTreeMap<(u64, u64), (TxHash, Deed)>,
    arrivals: u64,
}

impl Pool {
    /// Takes one of the service's transactions; `next` is the signer's next nonce on the chain.
    pub fn offer(&mut self, hash: TxHash, tx: &Unsigned, next: u64, base_fee: u128) -> Broadcast {
        if tx.nonce < next {
            return Broadcast::NonceTooLow;
        }
        let place = (tx.signer, tx.nonce);
        match self.ours.get(&place) {
            Some((known, _)) if *known == hash => return Broadcast::AlreadyKnown,
            Some((_, known)) if !is_tenth_more(known, tx) => return Broadcast::Underpriced,
            None if tx.fees.max_fee < base_fee / 10 => return Broadcast::Underpriced,
            _ => {}
        }
        self.ours.insert(place, (hash, tx.clone()));
        Broadcast::Accepted
    }

    /// Adds a third party's transaction, not to be mined below `from`.
    pub fn add(&mut self, hash: TxHash, deed: Deed, from: u64) {
        self.arrivals += 1;
        self.theirs.insert((from, self.arrivals), (hash, deed));
    }

    /// Puts one of the service's transactions back that was in a block, unless another took its place.
    pub fn put_back(&mut self, hash: TxHash, tx: Unsigned) {
        self.ours.entry((tx.signer, tx.nonce)).or_insert((hash, tx));
    }

    /// Forgets one of the service's transactions, as nodes do.
    pub fn forget(&mut self, hash: TxHash) {
        self.ours.retain(|_, (known, _)| *known != hash);
    }

    /// Forgets what the chain has used the nonces of.
    pub fn clean(&mut self, next: impl Fn(Address) -> u64) {
        self.ours.retain(|(signer, nonce), _| *nonce >= next(*signer));
    }

    /// Whether a transaction is here.
    pub fn has(&self, hash: TxHash) -> bool {
        self.ours.values().any(|(known, _)| *known == hash)
            || self.theirs.values().any(|(known, _)| *known == hash)
    }

    /// The height from which on a block has something to take, whatever it costs; `None` = nothing can go in.
    pub fn ready_from(&self, next: impl Fn(Address) -> u64) -> Option<u64> {
        if self.ours.keys().any(|(signer, nonce)| *nonce == next(*signer)) {
            return Some(0);
        }
        self.theirs.keys().next().map(|(from, _)| *from)
    }

    /// Takes out what goes into block `number`, at most `most` of it: the service's first, by nonce.
    pub fn take(
        &mut self,
        number: u64,
        most: usize,
        base_fee: u128,
        next: impl Fn(Address) -> u64,
    ) -> Vec<(TxHash, Tx)> {
        let mut taken = Vec::new();
        let mut nonces: BTreeMap<Address, u64> = BTreeMap::new();
        let places: Vec<(Address, u64)> = self.ours.keys().copied().collect();
        for place @ (signer, nonce) in places {
            let due = nonces.get(&signer).copied().unwrap_or_else(|| next(signer));
            let pays = self.ours.get(&place).is_some_and(|(_, tx)| tx.fees.max_fee >= base_fee);
            if nonce == due && pays && taken.len() < most {
                nonces.insert(signer, nonce + 1);
                taken.extend(
                    self.ours.remove(&place).map(|(hash, tx)| (hash, Tx::Ours(Box::new(tx)))),
                );
            }
        }
        while taken.len() < most
            && let Some(entry) = self.theirs.first_entry()
            && entry.key().0 <= number
        {
            let (hash, deed) = entry.remove();
            taken.push((hash, Tx::Theirs(deed)));
        }
        taken
    }
}

fn is_tenth_more(known: &Unsigned, tx: &Unsigned) -> bool {
    let more = |known: u128, new: u128| new >= known + known.div_ceil(10);
    more(known.fees.max_fee, tx.fees.max_fee)
        && more(known.fees.max_priority_fee, tx.fees.max_priority_fee)
}
