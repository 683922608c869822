//! Values that cost much to read and may be some seconds old.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::time::{Span, Timestamp};

/// Keys of a kind that are kept: one more drops the others.
const KEYS_MAX: usize = 256;

/// The latest value of each key, by the business clock.
#[derive(Debug)]
pub struct Kept<K, V> {
    values: Mutex<HashMap<K, (Timestamp, V)>>,
    /// How long a value is used.
    age: Span,
}

impl<K: Eq + Hash, V: Clone> Kept<K, V> {
    pub fn new(age: Span) -> Kept<K, V> {
        Kept { values: Mutex::default(), age }
    }

    fn values(&self) -> MutexGuard<'_, HashMap<K, (Timestamp, V)>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value, if it is recent enough.
    pub fn get(&self, key: &K, now: Timestamp) -> Option<V> {
        let (at, value) = self.values().get(key).cloned()?;
        (at <= now && now - at < self.age).then_some(value)
    }

    pub fn put(&self, key: K, now: Timestamp, value: V) {
        let mut values = self.values();
        if values.len() >= KEYS_MAX {
            values.clear();
        }
        values.insert(key, (now, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_used_for_its_time_and_never_before_it() {
        let kept = Kept::new(Span::secs(30));
        let read = Timestamp(0) + Span::secs(100);
        kept.put("a", read, 7);
        for (now, found) in [(99, None), (100, Some(7)), (129, Some(7)), (130, None)] {
            assert_eq!(kept.get(&"a", Timestamp(0) + Span::secs(now)), found, "{now}");
        }
        assert_eq!(kept.get(&"b", read), None);
    }

    #[test]
    fn the_keys_are_bounded() {
        let kept = Kept::new(Span::secs(30));
        let count = || kept.values().len();
        (0..=KEYS_MAX).for_each(|key| kept.put(key, Timestamp(0), ()));
        assert_eq!(count(), 1);
    }
}
