//! How long each rail takes to pay, from this node's latest payouts.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use domain::rail::RailId;
use domain::time::Span;

/// Payouts considered per rail.
const KEPT: usize = 101;
/// Minimum number of payouts for a median.
const ENOUGH: usize = 5;

/// Payout durations of all rails.
#[derive(Debug, Default)]
pub struct RailPace {
    rails: Mutex<BTreeMap<RailId, VecDeque<Span>>>,
}

impl RailPace {
    /// Records that a rail paid, this long after submission.
    pub fn paid(&self, rail: &RailId, took: Span) {
        let mut rails = self.rails.lock().unwrap_or_else(PoisonError::into_inner);
        let spans = rails.entry(rail.clone()).or_default();
        spans.push_back(took);
        if spans.len() > KEPT {
            spans.pop_front();
        }
    }

    /// The median of a rail's latest payouts; `None` if there are too few.
    pub fn median(&self, rail: &RailId) -> Option<Span> {
        let rails = self.rails.lock().unwrap_or_else(PoisonError::into_inner);
        let mut spans: Vec<Span> = rails.get(rail)?.iter().copied().collect();
        drop(rails);
        if spans.len() < ENOUGH {
            return None;
        }
        let middle = spans.len() / 2;
        Some(*spans.select_nth_unstable(middle).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_covers_the_latest_payouts_of_the_rail() {
        let (pace, rail) = (RailPace::default(), RailId::new("pak-raast"));
        for seconds in [3, 1, 90, 2] {
            pace.paid(&rail, Span::secs(seconds));
            assert_eq!(pace.median(&rail), None, "too few");
        }
        pace.paid(&rail, Span::secs(4));
        assert_eq!(pace.median(&rail), Some(Span::secs(3)));
        assert_eq!(pace.median(&RailId::new("pak-ibft")), None, "another rail");
        for _ in 0..KEPT {
            pace.paid(&rail, Span::secs(7));
        }
        assert_eq!(pace.median(&rail), Some(Span::secs(7)), "old payouts are discarded");
    }
}
