//! Seeded random numbers: one stream for each concern, so that a change in one draws nothing else differently.
//! Never the machine's entropy.

use std::sync::{Mutex, PoisonError};

/// A stream of SplitMix64 (Steele, Lea and Flood, 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream `name` of a seed.
    pub fn stream(seed: u64, name: &str) -> Random {
        let salt = name
            .bytes()
            .fold(FNV_OFFSET, |state, byte| (state ^ u64::from(byte)).wrapping_mul(FNV_PRIME));
        let mut random = Random(seed ^ salt);
        // Neighbouring seeds begin far apart.
        random.0 = random.next();
        random
    }

    /// Draws 64 random bits.
    #[expect(clippy::should_implement_trait, reason = "not an iterator: it never ends")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    /// A number below `limit`; 0 for 0.
    pub fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % limit).unwrap_or(0)
    }

    /// A number between two bounds, both included.
    pub fn between(&mut self, least: i64, most: i64) -> i64 {
        let width = most.saturating_sub(least).max(0).unsigned_abs().saturating_add(1);
        least.saturating_add(i64::try_from(self.next() % width).unwrap_or(0))
    }

    /// True in `per_mille` of a thousand cases.
    pub fn chance(&mut self, per_mille: u64) -> bool {
        self.next() % 1_000 < per_mille
    }

    /// One of several things.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// First state and prime of FNV-1a, 64 bits.
pub const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
/// Belongs to [`FNV_OFFSET`]: the prime of FNV-1a.
pub const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// A stream that several parts draw from.
#[derive(Debug)]
pub struct SharedRandom(Mutex<Random>);

impl SharedRandom {
    /// The stream `name` of a seed.
    pub fn stream(seed: u64, name: &str) -> SharedRandom {
        SharedRandom(Mutex::new(Random::stream(seed, name)))
    }

    pub fn with<T>(&self, draw: impl FnOnce(&mut Random) -> T) -> T {
        draw(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_repeats_and_streams_differ() {
        let draw = |seed, name| Random::stream(seed, name).next();
        assert_eq!(draw(7, "faults"), draw(7, "faults"));
        assert_ne!(draw(7, "faults"), draw(8, "faults"));
        assert_ne!(draw(7, "faults"), draw(7, "ids"));
    }

    #[test]
    fn draws_stay_within_their_bounds_and_reach_them() {
        let mut random = Random::stream(1, "test");
        let drawn: std::collections::BTreeSet<i64> =
            (0..1_000).map(|_| random.between(-2, 2)).collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [-2, -1, 0, 1, 2]);
        assert_eq!((random.below(0), random.below(1)), (0, 0));
        assert!((0..100).all(|_| random.chance(1_000)) && !(0..100).any(|_| random.chance(0)));
    }
}
