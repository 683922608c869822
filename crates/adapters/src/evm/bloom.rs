//! A header's `logsBloom` (Yellow Paper, 4.3.1): whether a block may contain a log of a contract
//! with a topic. A positive match proves nothing; a negative one rules the log out.

use domain::chain::vault;

const BYTES: usize = 256;

/// The 2,048 bits of a block's log filter.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Bloom(Box<[u8; BYTES]>);

impl Bloom {
    /// `None` = not a bloom. An all-zero bloom of a block with logs is invalid too, see
    /// [`Bloom::is_empty`].
    pub(super) fn read(bytes: &[u8]) -> Option<Bloom> {
        Some(Bloom(Box::new(bytes.try_into().ok()?)))
    }

    /// True on chains that leave the bloom empty.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|byte| *byte == 0)
    }

    /// Whether the block may contain a contract's address or a topic.
    pub(super) fn may_have(&self, bytes: &[u8]) -> bool {
        let hash = vault::hash(&[bytes]).0;
        [0, 2, 4].into_iter().all(|at| {
            let bit = (usize::from(hash[at]) << 8 | usize::from(hash[at + 1])) & 2_047;
            self.0[BYTES - 1 - bit / 8] & (1 << (bit % 8)) != 0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evm::abi;

    #[test]
    fn everything_in_a_block_is_in_its_bloom() {
        let mut bytes = [0; BYTES];
        let put = |bytes: &mut [u8; BYTES], what: &[u8]| {
            let hash = vault::hash(&[what]).0;
            for pair in hash[..6].chunks(2) {
                let bit = usize::from(u16::from_be_bytes([pair[0], pair[1]])) % 2_048;
                bytes[255 - bit / 8] |= 1 << (bit % 8);
            }
        };
        let topic = abi::topic("Transfer(address,address,uint256)");
        put(&mut bytes, &[0xc0; 20]);
        put(&mut bytes, &topic.0);
        let bloom = Bloom::read(&bytes).expect("256 bytes");
        assert!(bloom.may_have(&[0xc0; 20]) && bloom.may_have(&topic.0) && !bloom.is_empty());
        assert!(!bloom.may_have(&[0xc1; 20]));
        assert!(Bloom::read(&bytes[1..]).is_none());
        assert!(Bloom::read(&[0; BYTES]).expect("256 bytes").is_empty());
    }
}
