//! Rate limits of Payment Service v2: one token bucket per access key and group of operations.
//!
//! Uses the generic cell rate algorithm in integers: a bucket is the instant at which it is full
//! again, so no timer refills it and full buckets need no memory. Only requests with a verified
//! token are counted.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};

use domain::time::Timestamp;
use http::{HeaderMap, HeaderName, HeaderValue, header};

/// `X-RateLimit-Limit`: capacity of the bucket.
pub const X_RATELIMIT_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
/// `X-RateLimit-Remaining`: requests available now.
pub const X_RATELIMIT_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
/// `X-RateLimit-Reset`: seconds until the bucket is full again, rounded up.
pub const X_RATELIMIT_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

const MICROS_PER_SECOND: i64 = 1_000_000;
const SHARDS: usize = 16;
/// Maximum number of buckets per shard; only buckets that are not full take space.
const BUCKETS_PER_SHARD_MAX: usize = 4_096;

/// Groups of operations with a shared limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// The operation `POST /v2/quote`.
    CreateQuote,
    /// `POST /v2/payment`, `POST /v2/payments/{id}/cancel`, `POST /v2/payments/{id}/recalls`
    CreatePayment,
    /// `GET /v2/quote/{id}`, `GET /v2/payments/{id}`, `GET /v2/payments/{id}/recalls`
    GetOne,
    /// `GET /v2/payments`, `GET /v2/events`
    List,
    /// `POST /v2/account-checks`, for all keys of a tenant together: account numbers must not be
    /// tried out.
    CheckAccount,
}

/// Refill rate and capacity of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Requests refilled per second.
    pub per_second: NonZeroU32,
    /// Capacity of the bucket, in requests.
    pub burst: NonZeroU32,
}

impl Rate {
    /// `per_second` with a capacity of `burst`; zero counts as one.
    pub const fn new(per_second: u32, burst: u32) -> Rate {
        const fn at_least_one(value: u32) -> NonZeroU32 {
            match NonZeroU32::new(value) {
                Some(value) => value,
                None => NonZeroU32::MIN,
            }
        }
        Rate { per_second: at_least_one(per_second), burst: at_least_one(burst) }
    }

    /// Cost of one request in microseconds.
    fn cost_us(self) -> i64 {
        (MICROS_PER_SECOND / i64::from(self.per_second.get())).max(1)
    }

    fn capacity_us(self) -> i64 {
        self.cost_us() * i64::from(self.burst.get())
    }
}

/// The rate of each group (`decisions.md`, "Rate limits").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// `POST /v2/quote`: 20/s, burst 60.
    pub create_quote: Rate,
    /// `POST /v2/payment`: 10/s, burst 50.
    pub create_payment: Rate,
    /// Reads of one resource: 50/s.
    pub get_one: Rate,
    /// Lists and streams: 5/s.
    pub list: Rate,
    /// Account checks of a tenant: 1/s, burst 20.
    pub check_account: Rate,
    /// Off: every request is allowed and every bucket appears full.
    pub off: bool,
}

impl Default for Rates {
    fn default() -> Rates {
        Rates {
            create_quote: Rate::new(20, 60),
            create_payment: Rate::new(10, 50),
            get_one: Rate::new(50, 50),
            list: Rate::new(5, 5),
            check_account: Rate::new(1, 20),
            off: false,
        }
    }
}

impl Rates {
    const fn of(&self, operation: Operation) -> Rate {
        match operation {
            Operation::CreateQuote => self.create_quote,
            Operation::CreatePayment => self.create_payment,
            Operation::GetOne => self.get_one,
            Operation::List => self.list,
            Operation::CheckAccount => self.check_account,
        }
    }
}

/// The state of a bucket after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Capacity of the bucket.
    pub limit: u32,
    /// Requests still available now.
    pub remaining: u32,
    /// Seconds until the bucket is full again.
    pub reset_s: i64,
    /// For a refused request: seconds until the next one is allowed, at least 1.
    pub retry_after_s: Option<i64>,
}

impl Allowance {
    /// Whether the request is allowed.
    pub const fn is_granted(&self) -> bool {
        self.retry_after_s.is_none()
    }

    /// Adds the three headers, and `Retry-After` to a refusal.
    pub fn write(&self, headers: &mut HeaderMap) {
        headers.insert(X_RATELIMIT_LIMIT, HeaderValue::from(self.limit));
        headers.insert(X_RATELIMIT_REMAINING, HeaderValue::from(self.remaining));
        headers.insert(X_RATELIMIT_RESET, HeaderValue::from(self.reset_s));
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
    }
}

/// Per access key and group: the instant in microseconds at which the bucket is full again.
type Buckets = HashMap<(Box<str>, Operation), i64>;

/// The buckets of all access keys.
#[derive(Debug)]
pub struct Limits {
    rates: Rates,
    hasher: RandomState,
    shards: [Mutex<Buckets>; SHARDS],
    buckets_per_shard_max: usize,
}

impl Limits {
    /// Buckets with these rates, all full.
    pub fn new(rates: Rates) -> Limits {
        let shards = std::array::from_fn(|_| Mutex::new(HashMap::new()));
        Limits {
            rates,
            hasher: RandomState::new(),
            shards,
            buckets_per_shard_max: BUCKETS_PER_SHARD_MAX,
        }
    }

    /// Takes one request from a key's bucket.
    pub fn take(&self, access_key: &str, operation: Operation, now: Timestamp) -> Allowance {
        let rate = self.rates.of(operation);
        if self.rates.off {
            return self.untouched(operation);
        }
        let shard = usize::try_from(self.hasher.hash_one(access_key) % SHARDS as u64).unwrap_or(0);
        // A bucket is a single number, so a thread that panicked while holding the lock left none
        // half written.
        let mut buckets = self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner);
        let key = (Box::from(access_key), operation);
        let full_at = buckets.get(&key).copied().unwrap_or(now.0).max(now.0);
        let after = full_at + rate.cost_us();
        let beyond = after - now.0 - rate.capacity_us();
        if beyond > 0 {
            return Allowance {
                retry_after_s: Some(ceil_seconds(beyond).max(1)),
                ..shown(rate, full_at - now.0)
            };
        }
        if buckets.len() >= self.buckets_per_shard_max && !buckets.contains_key(&key) {
            make_room(&mut buckets, now.0);
        }
        buckets.insert(key, after);
        shown(rate, after - now.0)
    }

    /// The headers of a response without an access key (401): a full bucket.
    pub fn untouched(&self, operation: Operation) -> Allowance {
        shown(self.rates.of(operation), 0)
    }
}

/// The state of a bucket that is full in `until_full_us`.
fn shown(rate: Rate, until_full_us: i64) -> Allowance {
    let remaining = (rate.capacity_us() - until_full_us).max(0) / rate.cost_us();
    Allowance {
        limit: rate.burst.get(),
        remaining: u32::try_from(remaining).unwrap_or(u32::MAX),
        reset_s: ceil_seconds(until_full_us),
        retry_after_s: None,
    }
}

/// Drops full buckets; without any, drops the one that is full soonest, which costs its key least.
fn make_room(buckets: &mut Buckets, now: i64) {
    let before = buckets.len();
    buckets.retain(|_, full_at| *full_at > now);
    if buckets.len() < before {
        return;
    }
    let soonest = buckets.iter().min_by_key(|(_, full_at)| **full_at).map(|(key, _)| key.clone());
    if let Some(key) = soonest {
        buckets.remove(&key);
    }
}

fn ceil_seconds(micros: i64) -> i64 {
    micros.div_euclid(MICROS_PER_SECOND) + i64::from(micros.rem_euclid(MICROS_PER_SECOND) > 0)
}

#[cfg(test)]
mod tests {
    use domain::time::Span;

    use super::*;

    const T0: Timestamp = Timestamp(1_800_000_000_000_000);

    #[test]
    fn a_burst_is_granted_and_then_the_rate() {
        let limits = Limits::new(Rates::default());
        for taken in 1..=50 {
            let allowance = limits.take("k", Operation::CreatePayment, T0);
            assert!(allowance.is_granted());
            assert_eq!((allowance.limit, allowance.remaining), (50, 50 - taken));
            assert_eq!(
                allowance.reset_s,
                i64::from(taken).div_euclid(10) + i64::from(taken % 10 > 0)
            );
        }
        let refused = limits.take("k", Operation::CreatePayment, T0);
        assert_eq!(
            refused,
            Allowance { limit: 50, remaining: 0, reset_s: 5, retry_after_s: Some(1) }
        );
        assert!(!limits.take("k", Operation::CreatePayment, T0 + Span::millis(99)).is_granted());
        assert!(limits.take("k", Operation::CreatePayment, T0 + Span::millis(100)).is_granted());
        assert!(!limits.take("k", Operation::CreatePayment, T0 + Span::millis(100)).is_granted());
        assert_eq!(limits.take("k", Operation::CreatePayment, T0 + Span::secs(60)).remaining, 49);
    }

    #[test]
    fn keys_and_groups_do_not_share_a_bucket() {
        let limits = Limits::new(Rates::default());
        for _ in 0..5 {
            assert!(limits.take("a", Operation::List, T0).is_granted());
        }
        assert!(!limits.take("a", Operation::List, T0).is_granted());
        assert!(limits.take("b", Operation::List, T0).is_granted());
        assert!(limits.take("a", Operation::GetOne, T0).is_granted());
    }

    #[test]
    fn a_clock_that_steps_back_grants_no_extra_requests() {
        let limits = Limits::new(Rates::default());
        for _ in 0..5 {
            assert!(limits.take("a", Operation::List, T0).is_granted());
        }
        assert!(!limits.take("a", Operation::List, T0 - Span::secs(3)).is_granted());
    }

    #[test]
    fn memory_stays_bounded_and_a_busy_key_is_not_forgotten() {
        let limits = Limits { buckets_per_shard_max: 8, ..Limits::new(Rates::default()) };
        for _ in 0..60 {
            assert!(limits.take("busy", Operation::CreateQuote, T0).is_granted());
        }
        for n in 0..5_000 {
            assert!(limits.take(&format!("key{n}"), Operation::CreateQuote, T0).is_granted());
        }
        let kept = |shard: &Mutex<Buckets>| shard.lock().expect("a lock").len();
        assert!(limits.shards.iter().all(|shard| kept(shard) <= 8));
        assert!(!limits.take("busy", Operation::CreateQuote, T0).is_granted());
    }

    #[test]
    fn off_means_every_bucket_is_full() {
        let limits = Limits::new(Rates { off: true, ..Rates::default() });
        for _ in 0..100 {
            let allowance = limits.take("k", Operation::List, T0);
            assert_eq!(
                (allowance.is_granted(), allowance.remaining, allowance.reset_s),
                (true, 5, 0)
            );
        }
    }

    #[test]
    fn the_headers_match_the_bucket() {
        let mut headers = HeaderMap::new();
        Allowance { limit: 5, remaining: 0, reset_s: 2, retry_after_s: Some(1) }
            .write(&mut headers);
        let shown: Vec<(&str, &[u8])> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        assert_eq!(
            shown,
            [
                ("x-ratelimit-limit", &b"5"[..]),
                ("x-ratelimit-remaining", b"0"),
                ("x-ratelimit-reset", b"2"),
                ("retry-after", b"1")
            ]
        );
        let mut headers = HeaderMap::new();
        Limits::new(Rates::default()).untouched(Operation::GetOne).write(&mut headers);
        assert_eq!((headers.len(), &headers[X_RATELIMIT_REMAINING]), (3, &HeaderValue::from(50)));
    }
}
