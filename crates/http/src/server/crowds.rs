//! How many connections each address has open, so that no single one takes them all.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::auth::Network;

type Counts = Arc<Mutex<HashMap<IpAddr, usize>>>;

/// The open connections by address.
#[derive(Debug)]
pub(super) struct Crowds {
    max: usize,
    /// Addresses without a limit: many clients share them.
    shared: Vec<Network>,
    counts: Counts,
}

/// A connection that counts, until dropped.
#[derive(Debug)]
pub(super) struct Place(Option<(Counts, IpAddr)>);

impl Crowds {
    pub(super) fn new(max: usize, shared: Vec<Network>) -> Crowds {
        Crowds { max, shared, counts: Arc::default() }
    }

    /// A place for one more connection; `None` if the address has too many.
    pub(super) fn admit(&self, address: IpAddr) -> Option<Place> {
        let address = address.to_canonical();
        if address.is_loopback() || self.shared.iter().any(|it| it.contains(address)) {
            return Some(Place(None));
        }
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(address).or_default();
        if *count >= self.max {
            return None;
        }
        *count += 1;
        Some(Place(Some((Arc::clone(&self.counts), address))))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some((counts, address)) = &self.0 else { return };
        let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn an_address_has_its_share_and_gives_it_back() {
        let crowds = Crowds::new(2, vec!["192.0.2.0/24".parse().expect("a network")]);
        let one = crowds.admit(address("198.51.100.1")).expect("the first");
        let _two = crowds.admit(address("::ffff:198.51.100.1")).expect("the second");
        assert!(crowds.admit(address("198.51.100.1")).is_none(), "it has two");
        assert!(crowds.admit(address("198.51.100.2")).is_some(), "another one has none");
        drop(one);
        assert!(crowds.admit(address("198.51.100.1")).is_some());
        for shared in ["192.0.2.7", "127.0.0.1", "::1"] {
            let places: Vec<_> = (0..5).map(|_| crowds.admit(address(shared))).collect();
            assert!(places.iter().all(Option::is_some), "{shared}");
        }
        drop(_two);
        assert!(crowds.counts.lock().expect("not poisoned").is_empty(), "nothing is kept");
    }
}
