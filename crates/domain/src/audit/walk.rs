//! Verifies a chain entry by entry and reports the first discrepancy.

use super::{Entry, Hash, Head};

/// A signed checkpoint: a sequence number and the hash of that entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// Sequence number of the entry.
    pub seq: i64,
    /// Hash of the entry.
    pub hash: Hash,
}

/// First discrepancy of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainFault {
    /// The sequence numbers of the chain have a gap.
    #[error("entries {from} to {to} are missing")]
    Missing {
        /// Sequence number of the first missing entry.
        from: i64,
        /// Last entry known to be missing.
        to: i64,
    },
    /// An entry is not the recorded one: it was edited, inserted or moved.
    #[error("entry {0} differs from the recorded one")]
    Changed(i64),
    /// Entries follow the end that the chain's head records.
    #[error("entry {entry} follows the end of the chain, which is {head} according to its head")]
    BeyondHead {
        /// Sequence number of the entry after the end.
        entry: i64,
        /// End of the chain according to its head.
        head: i64,
    },
    /// The chain's head has another hash than its newest entry.
    #[error("the head does not match entry {0}, the newest one")]
    Head(i64),
    /// The entries form a chain, but not the signed one.
    #[error("entries {from} to {to} do not match the signed checkpoint at {to}")]
    Rewritten {
        /// First entry that may differ.
        from: i64,
        /// Sequence number of the checkpoint.
        to: i64,
    },
    /// A checkpoint was changed, or signed with an untrusted key.
    #[error("the signature of the checkpoint at {0} is invalid")]
    Signature(i64),
    /// A required chain does not exist.
    #[error("the chain does not exist")]
    Gone,
}

/// Progress of a verification.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    head: Head,
    /// Checkpoints still ahead, the nearest last.
    ahead: Vec<Mark>,
    /// Newest checkpoint that matches.
    proven: i64,
}

impl Walk {
    /// Starts at the beginning of a chain that has to match these checkpoints.
    pub fn new(mut marks: Vec<Mark>) -> Walk {
        marks.sort_unstable_by(|a, b| b.cmp(a));
        Walk { head: Head::default(), ahead: marks, proven: 0 }
    }

    /// Resumes after an entry that was verified before, with the checkpoints that follow.
    pub fn resumed(behind: Mark, marks: Vec<Mark>) -> Walk {
        let (ahead, passed): (Vec<_>, Vec<_>) =
            marks.into_iter().partition(|mark| mark.seq > behind.seq);
        let proven = passed.into_iter().map(|mark| mark.seq).max().unwrap_or(0);
        Walk { head: Head { seq: behind.seq, hash: behind.hash }, proven, ..Walk::new(ahead) }
    }

    /// Starts after an entry with a known hash.
    pub const fn behind(mark: Mark) -> Walk {
        Walk { head: Head { seq: mark.seq, hash: mark.hash }, ahead: Vec::new(), proven: mark.seq }
    }

    /// The last verified entry.
    pub const fn head(&self) -> Head {
        self.head
    }

    /// Sequence number of the newest matching checkpoint; 0 means none.
    pub const fn proven(&self) -> i64 {
        self.proven
    }

    /// Verifies the next entry. Entries come in the order of their sequence numbers.
    ///
    /// # Errors
    /// The discrepancy of the entry, or entries missing before it.
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
        // One entry may have several checkpoints. A checkpoint before the first entry is ignored.
        while let Some(mark) = self.ahead.pop_if(|mark| mark.seq <= entry.seq) {
            if mark != (Mark { seq: entry.seq, hash: entry.hash }) {
                return Err(ChainFault::Rewritten { from: self.proven + 1, to: entry.seq });
            }
            proven = entry.seq;
        }
        self.proven = proven;
        Ok(())
    }

    /// Ends the verification at the chain's last entry and compares it with the head.
    ///
    /// # Errors
    /// The head or a checkpoint records more entries, fewer, or different ones.
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
