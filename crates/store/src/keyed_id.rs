//! Public ids that look random, and stored keys in time order: a secret permutation maps one to the
//! other.
//!
//! A public id is a version-4-shaped UUID. Internally the same id is a version-7-shaped UUID whose
//! first 48 bits are milliseconds, so that rows created together are stored together and indexes
//! grow at their right edge. A four-round Feistel network over the 122 free bits (round function
//! AES-128, after Luby and Rackoff) maps one to the other. It hides when and in which order records
//! were created; it authenticates nothing: an unknown UUID maps to a key that does not exist.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use aes_gcm_siv::aes::Aes128;
use aes_gcm_siv::aes::cipher::{BlockCipherEncrypt, KeyInit};
use domain::decision::IdSource;
use domain::ports::Clock;
use domain::time::{Span, Timestamp};
use uuid::Uuid;

use crate::options::Entropy;

const ROUNDS: u8 = 4;
const HALF_BITS: u32 = 61;
const HALF_MASK: u64 = (1 << HALF_BITS) - 1;
/// Where the milliseconds of a stored id begin.
const MILLIS_AT: u32 = 80;
/// Free bits after the milliseconds.
const TAIL_BITS: u32 = 74;
const TAIL_MASK: u128 = (1 << TAIL_BITS) - 1;
/// The version nibbles 4 and 7 differ by this; a UUID of another version keeps its version and so
/// is never found.
const SHAPE_SWAP: u128 = 0x3 << 76;

/// Pairs cached per thread, a power of two: a payment's id goes into half a dozen rows of one
/// batch.
const REMEMBERED: usize = 512;

thread_local! {
    static PAIRS: RefCell<[Pair; REMEMBERED]> = const { RefCell::new([Pair { codec: 0, public: 0, stored: 0 }; REMEMBERED]) };
}

/// A public id with its stored key, under one permutation.
#[derive(Clone, Copy)]
struct Pair {
    codec: u64,
    public: u128,
    stored: u128,
}

impl Pair {
    /// Its slot in the cache. Ids are uniformly distributed.
    const fn place(public: u128) -> usize {
        public as usize % REMEMBERED
    }

    fn remember(self) {
        PAIRS.with_borrow_mut(|pairs| pairs[Pair::place(self.public)] = self);
    }

    fn recall(codec: u64, public: u128) -> Option<Pair> {
        let pair = PAIRS.with_borrow(|pairs| pairs[Pair::place(public)]);
        (pair.codec == codec && pair.public == public).then_some(pair)
    }
}

/// The permutation and its key.
#[derive(Clone)]
pub(crate) struct IdCodec {
    cipher: Aes128,
    /// Distinguishes it from others in this process; never 0.
    tag: u64,
}

impl IdCodec {
    /// Creates the permutation of a secret key.
    pub(crate) fn new(key: &[u8; 16]) -> IdCodec {
        let cipher = Aes128::new(&(*key).into());
        let mut codec = IdCodec { cipher, tag: 0 };
        codec.tag = codec.round(ROUNDS, 0) | (1 << HALF_BITS);
        codec
    }

    /// The stored key of a public id.
    pub(crate) fn stored(&self, public: Uuid) -> Uuid {
        if let Some(pair) = Pair::recall(self.tag, public.as_u128()) {
            return Uuid::from_u128(pair.stored);
        }
        let stored = self.make_stored(public);
        self.remember(public, stored);
        stored
    }

    fn remember(&self, public: Uuid, stored: Uuid) {
        Pair { codec: self.tag, public: public.as_u128(), stored: stored.as_u128() }.remember();
    }

    fn make_stored(&self, public: Uuid) -> Uuid {
        let bits = public.as_u128();
        let (mut left, mut right) = halves(free_bits(bits));
        for round in (0..ROUNDS).rev() {
            (left, right) = (right ^ self.round(round, left), left);
        }
        Uuid::from_u128(with_free_bits(bits ^ SHAPE_SWAP, join(left, right)))
    }

    /// The public id of a stored key.
    pub(crate) fn public(&self, stored: Uuid) -> Uuid {
        let bits = stored.as_u128();
        let (mut left, mut right) = halves(free_bits(bits));
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ self.round(round, right));
        }
        Uuid::from_u128(with_free_bits(bits ^ SHAPE_SWAP, join(left, right)))
    }

    /// The public id of the record that would have been stored that much later, with the same tail:
    /// records that are moved together keep their order.
    pub(crate) fn moved(&self, public: Uuid, by: Span) -> Uuid {
        let bits = self.stored(public).as_u128();
        let millis = (bits >> MILLIS_AT).wrapping_add_signed((by.0 / 1_000).into());
        let tail = bits & ((1 << MILLIS_AT) - 1);
        self.public(Uuid::from_u128((millis << MILLIS_AT) | tail))
    }

    /// The first stored id that can be created at this instant.
    pub(crate) fn first_at(&self, at: Timestamp) -> Uuid {
        let millis = u128::from((at.0.max(0) / 1_000).unsigned_abs()) & ((1 << 48) - 1);
        Uuid::from_u128(with_free_bits((0x7 << 76) | (0x2 << 62), millis << TAIL_BITS))
    }

    /// When a stored id was created, to the millisecond.
    pub(crate) fn made_at(&self, stored: Uuid) -> Timestamp {
        let millis = i64::try_from(stored.as_u128() >> MILLIS_AT).unwrap_or(i64::MAX / 1_000);
        Timestamp(millis * 1_000)
    }

    fn round(&self, round: u8, half: u64) -> u64 {
        let mut block = [0_u8; 16];
        block[0] = round;
        block[8..].copy_from_slice(&half.to_be_bytes());
        let mut block = block.into();
        self.cipher.encrypt_block(&mut block);
        let mut out = [0_u8; 8];
        out.copy_from_slice(&block[..8]);
        u64::from_be_bytes(out) & HALF_MASK
    }
}

/// The 122 bits of a UUID that are neither version nor variant.
const fn free_bits(bits: u128) -> u128 {
    let high = bits >> 80;
    let middle = (bits >> 64) & 0xFFF;
    let low = bits & ((1 << 62) - 1);
    (high << 74) | (middle << 62) | low
}

/// `shape` with its free bits replaced.
const fn with_free_bits(shape: u128, free: u128) -> u128 {
    let kept = shape & ((0xF << 76) | (0x3 << 62));
    let high = free >> 74;
    let middle = (free >> 62) & 0xFFF;
    let low = free & ((1 << 62) - 1);
    kept | (high << 80) | (middle << 64) | low
}

const fn halves(free: u128) -> (u64, u64) {
    ((free >> HALF_BITS) as u64 & HALF_MASK, free as u64 & HALF_MASK)
}

fn join(left: u64, right: u64) -> u128 {
    (u128::from(left) << HALF_BITS) | u128::from(right)
}

/// The milliseconds and tail of the last id. Shared by all sources of a store, so that the ids of
/// one process are in order.
#[derive(Debug, Default)]
pub(crate) struct Last(Mutex<Option<(u128, u128)>>);

#[cfg(feature = "simulation")]
impl Last {
    pub(crate) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Fresh public ids in time order. Before the store knows its key the ids are simply random, which
/// is valid too.
pub(crate) struct KeyedIds {
    codec: Option<IdCodec>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    last: Arc<Last>,
}

impl KeyedIds {
    pub(crate) fn new(
        codec: Option<IdCodec>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        last: Arc<Last>,
    ) -> KeyedIds {
        KeyedIds { codec, clock, entropy, last }
    }

    fn random(&self) -> [u8; 16] {
        let mut bytes = [0_u8; 16];
        self.entropy.fill(&mut bytes);
        bytes
    }

    /// The next stored id: milliseconds that never go back, then a counter with a random start.
    fn next_stored(&self) -> Uuid {
        let now = u128::from(self.clock.now().0.max(0).unsigned_abs() / 1_000) & ((1 << 48) - 1);
        let mut last = self.last.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (millis, tail) = match *last {
            Some((millis, tail)) => (now.max(millis), tail.wrapping_add(1) & TAIL_MASK),
            None => (now, u128::from_be_bytes(self.random()) & TAIL_MASK),
        };
        *last = Some((millis, tail));
        let shape = (0x7 << 76) | (0x2 << 62);
        Uuid::from_u128(with_free_bits(shape, (millis << TAIL_BITS) | tail))
    }
}

impl IdSource for KeyedIds {
    fn next(&mut self) -> Uuid {
        match &self.codec {
            Some(codec) => {
                let stored = self.next_stored();
                let public = codec.public(stored);
                codec.remember(public, stored);
                public
            }
            None => uuid::Builder::from_random_bytes(self.random()).into_uuid(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codec() -> IdCodec {
        IdCodec::new(&[7; 16])
    }

    #[test]
    fn the_permutation_has_an_inverse_on_every_uuid() {
        for seed in 0..2_000_u128 {
            let any = Uuid::from_u128(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835));
            assert_eq!(codec().public(codec().stored(any)), any);
            assert_eq!(codec().stored(any), codec().make_stored(any), "as cached");
            assert_eq!(codec().stored(codec().public(any)), any);
        }
    }

    #[test]
    fn public_ids_are_version_4_and_stored_ones_version_7() {
        let stored = Uuid::from_u128(with_free_bits((0x7 << 76) | (0x2 << 62), 12_345));
        let public = codec().public(stored);
        assert_eq!((public.get_version_num(), public.get_variant()), (4, uuid::Variant::RFC4122));
        assert_eq!(codec().stored(public), stored);
        assert_eq!(stored.get_version_num(), 7);
    }

    #[test]
    fn stored_ids_contain_their_time_of_creation() {
        let at = Timestamp(1_795_244_268_123_000);
        let first = codec().first_at(at);
        assert_eq!((first.get_version_num(), codec().made_at(first)), (7, at));
        let some = Uuid::from_u128(first.as_u128() | 0x1234);
        assert!(
            codec().made_at(some) == at
                && some > first
                && some < codec().first_at(Timestamp(at.0 + 1_000))
        );
    }

    #[test]
    fn a_moved_id_differs_by_its_time_alone() {
        let at = Timestamp(1_795_244_268_123_000);
        let stored = Uuid::from_u128(codec().first_at(at).as_u128() | 0x1234);
        let public = codec().public(stored);
        for by in [Span::days(-25), Span::millis(-1), Span(0), Span::days(1)] {
            let moved = codec().moved(public, by);
            assert_eq!(moved.get_version_num(), 4);
            assert_eq!(codec().made_at(codec().stored(moved)), at + by);
            assert_eq!(codec().moved(moved, Span(-by.0)), public);
        }
    }

    #[test]
    fn a_uuid_of_another_version_is_never_a_stored_key() {
        let public = codec().public(Uuid::from_u128(with_free_bits((0x7 << 76) | (0x2 << 62), 99)));
        let other = Uuid::from_u128(public.as_u128() ^ (1 << 76));
        assert_ne!(codec().stored(other), codec().stored(public));
        assert_ne!(codec().stored(other).get_version_num(), 7);
    }

    #[test]
    fn another_key_is_another_permutation() {
        let id = Uuid::from_u128(0x4000 << 64);
        assert_ne!(codec().stored(id), IdCodec::new(&[8; 16]).stored(id));
    }
}
