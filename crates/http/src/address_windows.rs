//! Rate limits for unauthenticated callers: fixed windows of one minute per address, in memory.
//!
//! Each node counts on its own. When the table is full, unknown addresses are refused until the
//! window ends; authenticated callers are never counted here.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use domain::time::Timestamp;

use crate::limits::Allowance;

/// Length of a window, in seconds.
pub const WINDOW_S: i64 = 60;
/// Maximum number of addresses in one window.
const ADDRESSES_MAX: usize = 65_536;

/// The key of a counter: an address in a group of requests.
type Counted = (Option<IpAddr>, &'static str);

#[derive(Debug, Default)]
struct Window {
    began_s: i64,
    taken: HashMap<Counted, u32>,
}

/// Counts requests per address.
#[derive(Debug)]
pub struct AddressWindows {
    window: Mutex<Window>,
    addresses_max: usize,
}

impl Default for AddressWindows {
    fn default() -> AddressWindows {
        AddressWindows { window: Mutex::default(), addresses_max: ADDRESSES_MAX }
    }
}

/// The start of the window that contains `now`, in UNIX seconds.
pub const fn window_of(now: Timestamp) -> i64 {
    now.unix_seconds().div_euclid(WINDOW_S) * WINDOW_S
}

/// The state of a window: `remaining` of `limit` until it ends.
pub fn shown(limit: u32, remaining: u32, now: Timestamp) -> Allowance {
    let reset_s = window_of(now) + WINDOW_S - now.unix_seconds();
    Allowance { limit, remaining, reset_s, retry_after_s: None }
}

/// The state of an exhausted window.
pub fn used_up(limit: u32, now: Timestamp) -> Allowance {
    let shown = shown(limit, 0, now);
    Allowance { retry_after_s: Some(shown.reset_s), ..shown }
}

impl AddressWindows {
    /// Counts one request of `address` in `group`; a window allows `limit` of them.
    pub fn take(
        &self,
        address: Option<IpAddr>,
        group: &'static str,
        limit: u32,
        now: Timestamp,
    ) -> Allowance {
        self.add(address, group, 1, limit, now)
    }

    /// What [`AddressWindows::take`] would find, without counting.
    pub fn look(
        &self,
        address: Option<IpAddr>,
        group: &'static str,
        limit: u32,
        now: Timestamp,
    ) -> Allowance {
        self.add(address, group, 0, limit, now)
    }

    fn add(
        &self,
        address: Option<IpAddr>,
        group: &'static str,
        count: u32,
        limit: u32,
        now: Timestamp,
    ) -> Allowance {
        // Counts are single numbers, so a thread that panicked while holding the lock left none
        // half written.
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        if window_of(now) > window.began_s {
            *window = Window { began_s: window_of(now), taken: HashMap::new() };
        }
        let counted = (address.map(network), group);
        let full = window.taken.len() >= self.addresses_max && !window.taken.contains_key(&counted);
        let taken = if full { limit } else { window.taken.get(&counted).copied().unwrap_or(0) };
        if taken >= limit {
            return used_up(limit, now);
        }
        if count > 0 {
            window.taken.insert(counted, taken + count);
        }
        shown(limit, limit - taken - count, now)
    }
}

/// IPv6 addresses count by their /64 network, which usually belongs to a single caller.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => std::net::Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use domain::time::Span;

    use super::*;

    /// 20 seconds into a window.
    const T0: Timestamp = Timestamp(1_800_000_020_000_000);

    fn from(address: &str) -> Option<IpAddr> {
        Some(address.parse().expect("an address"))
    }

    #[test]
    fn an_address_has_its_own_window_in_each_group() {
        let windows = AddressWindows::default();
        for left in (0..3).rev() {
            assert_eq!(windows.take(from("192.0.2.1"), "a", 3, T0), shown(3, left, T0));
        }
        let refused = windows.take(from("192.0.2.1"), "a", 3, T0);
        assert_eq!(
            refused,
            Allowance { limit: 3, remaining: 0, reset_s: 40, retry_after_s: Some(40) }
        );
        assert!(windows.take(from("192.0.2.2"), "a", 3, T0).is_granted());
        assert!(windows.take(from("192.0.2.1"), "b", 3, T0).is_granted());
        assert!(
            windows.take(from("::ffff:192.0.2.1"), "a", 3, T0 + Span::secs(39)).retry_after_s
                == Some(1)
        );
        assert!(windows.take(from("192.0.2.1"), "a", 3, T0 + Span::secs(40)).is_granted());
    }

    #[test]
    fn a_clock_that_steps_back_grants_no_extra_requests() {
        let windows = AddressWindows::default();
        assert!(windows.take(None, "a", 1, T0).is_granted());
        assert!(!windows.take(None, "a", 1, T0 - Span::secs(61)).is_granted());
    }

    #[test]
    fn one_ipv6_network_counts_as_one_address() {
        let windows = AddressWindows::default();
        assert!(windows.take(from("2001:db8::1"), "a", 1, T0).is_granted());
        assert!(!windows.take(from("2001:db8::ffff:0:0:2"), "a", 1, T0).is_granted());
        assert!(windows.take(from("2001:db8:0:1::1"), "a", 1, T0).is_granted());
    }

    #[test]
    fn memory_stays_bounded() {
        let windows = AddressWindows { addresses_max: 2, ..AddressWindows::default() };
        for last in [1, 2] {
            assert!(windows.take(from(&format!("192.0.2.{last}")), "a", 5, T0).is_granted());
        }
        assert!(!windows.take(from("192.0.2.3"), "a", 5, T0).is_granted());
        assert!(windows.take(from("192.0.2.1"), "a", 5, T0).is_granted());
        assert!(windows.take(from("192.0.2.3"), "a", 5, T0 + Span::secs(60)).is_granted());
    }
}
