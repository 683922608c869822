//! Walks along a chain and finds the first place where it is not what was written.

use super::{Entry, Hash, Head};

/// A place in a chain and the hash that stood there when it was signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// Number of the entry.
    pub seq: i64,
    /// Its hash.
    pub hash: Hash,
}

/// What is wrong with a chain, at the first place that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainFault {
    /// Entries are not there.
    #[error("entries {from} to {to} are missing")]
    Missing {
        /// The first that is missing.
        from: i64,
        /// The last that is known to be missing.
        to: i64,
    },
    /// An entry is not the one that was noted here: it was edited, put in, or belongs elsewhere.
    #[error("entry {0} is not what was noted")]
    Changed(i64),
    /// There are entries behind what the chain's head says is its end.
    #[error("entry {entry} stands behind the end of the chain, which its head says is {head}")]
    BeyondHead {
        /// The entry.
        entry: i64,
        /// Where the head says that the chain ends.
        head: i64,
    },
    /// The chain's head has another hash than its newest entry.
    #[error("the head does not fit entry {0}, the newest")]
    Head(i64),
    /// Entries fit each other but not what was signed.
    #[error("entries {from} to {to} are not those that the checkpoint at {to} was signed for")]
    Rewritten {
        /// The first that may be another one.
        from: i64,
        /// Where the checkpoint is.
        to: i64,
    },
    /// A checkpoint was not signed by a key that is trusted, or was changed.
    #[error("the signature of the checkpoint at {0} is not good")]
    Signature(i64),
    /// There is no chain where there must be one.
    #[error("the chain is gone")]
    Gone,
}

/// How far a chain is followed.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    head: Head,
    /// Signed places that are not reached yet, the first one last.
    ahead: Vec<Mark>,
    /// The newest signed place that fits.
    proven: i64,
}

impl Walk {
    /// From the beginning of a chain that has to pass these signed places.
    pub fn new(mut marks: Vec<Mark>) -> Walk {
        marks.sort_unstable_by(|a, b| b.cmp(a));
        Walk { head: Head::default(), ahead: marks, proven: 0 }
    }

    /// From behind a place up to which the chain was found to be right, on to these signed places.
    pub fn resumed(behind: Mark, marks: Vec<Mark>) -> Walk {
        let (ahead, passed): (Vec<_>, Vec<_>) = marks.into_iter().partition(|mark| mark.seq > behind.seq);
        let proven = passed.into_iter().map(|mark| mark.seq).max().unwrap_or(0);
        Walk { head: Head { seq: behind.seq, hash: behind.hash }, proven, ..Walk::new(ahead) }
    }

    /// From behind a place whose hash is known.
    pub const fn behind(mark: Mark) -> Walk {
        Walk { head: Head { seq: mark.seq, hash: mark.hash }, ahead: Vec::new(), proven: mark.seq }
    }

    /// The entry that was passed last.
    pub const fn head(&self) -> Head {
        self.head
    }

    /// The newest signed place that fits; 0 = none.
    pub const fn proven(&self) -> i64 {
        self.proven
    }

    /// Passes the next entry, as the chain has it in the order of its numbers.
    ///
    /// # Errors
    /// What is wrong with it, or that others are missing before it.
    pub fn pass(&mut self, entry: &Entry) -> Result<(), ChainFault> {
        let next = self.head.seq + 1;
        if entry.seq > next {
            return Err(ChainFault::Missing { from: next, to: entry.seq - 1 });
        }
        if entry.seq < next || entry.hash != entry.hash_after(&self.head.hash) {
            return Err(ChainFault::Changed(entry.seq));
        }
        self.head = Head { seq: entry.seq, hash: entry.hash };
        let mut proven = self.proven;
        // Several checkpoints may have been signed for one place. One for a place before the first is no place.
        while let Some(mark) = self.ahead.pop_if(|mark| mark.seq <= entry.seq) {
            if mark != (Mark { seq: entry.seq, hash: entry.hash }) {
                return Err(ChainFault::Rewritten { from: self.proven + 1, to: entry.seq });
            }
            proven = entry.seq;
        }
        self.proven = proven;
        Ok(())
    }

    /// The chain has no further entries, and its head says this.
    ///
    /// # Errors
    /// The head, or a signed place, says that there were more; or the head says that there are fewer, or others.
    pub fn end(&self, said: Head) -> Result<(), ChainFault> {
        let newest = self.ahead.first().map_or(0, |mark| mark.seq).max(said.seq);
        if newest > self.head.seq {
            return Err(ChainFault::Missing { from: self.head.seq + 1, to: newest });
        }
        if said.seq < self.head.seq {
            return Err(ChainFault::BeyondHead { entry: said.seq + 1, head: said.seq });
        }
        if said.hash == self.head.hash { Ok(()) } else { Err(ChainFault::Head(said.seq)) }
    }
}
