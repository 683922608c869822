//! The only source of randomness in these tests: a failure names its seed, and the seed repeats
//! every choice (except the machine's scheduling).

use std::sync::atomic::{AtomicU64, Ordering};

/// SplitMix64; shared by tasks.
pub struct Random(AtomicU64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(AtomicU64::new(seed))
    }

    fn next(&self) -> u64 {
        let mut z = self
            .0
            .fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed)
            .wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Draws one of `0..below`.
    pub fn below(&self, below: u64) -> u64 {
        self.next() % below
    }

    /// One of the choices.
    pub fn pick<'a, T>(&self, choices: &'a [T]) -> &'a T {
        let at = usize::try_from(self.below(choices.len() as u64)).expect("an index");
        &choices[at]
    }

    /// True `per_cent` times of a hundred.
    pub fn chance(&self, per_cent: u64) -> bool {
        self.below(100) < per_cent
    }
}
