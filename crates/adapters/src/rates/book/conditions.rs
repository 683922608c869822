//! What operators have to look at: sources that fail, disagree, or state less than before.

use std::collections::BTreeSet;

use domain::currency::Currency;
use domain::decimal::Decimal;
use domain::time::Timestamp;

use super::super::moved_beyond;
use super::super::sheet::pair;
use super::super::source::RateSource;
use super::super::table::{DirectRate, Side};
use super::{FAR, Failure, InForce, LiveRates, of_fewest, of_first};

/// Two sources that state different rates of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    pub pair: (Currency, Currency),
    /// The source that is used, and its rate.
    pub used: (String, Decimal),
    pub other: (String, Decimal),
}

impl LiveRates {
    /// Sources that disagree: in each pair the first one is used while its rate is young enough. A
    /// source that is used because the earlier ones have no rate of a pair may state another one than
    /// they imply with the rest of what it states.
    pub fn disagreements(&self) -> Vec<Disagreement> {
        let in_force = self.in_force();
        let mut found = Vec::new();
        let differ = |one, other| moved_beyond(one, other, self.limits.max_difference_bps);
        for (at, state) in in_force.states.iter().enumerate() {
            let stated = state.table.snapshot().into_iter();
            for rate in stated.filter(|rate| self.shown(&in_force, at, rate).is_some()) {
                let (pair, own) = (rate.pair(), (self.sources[at].title(), rate.mid.rate));
                let (used, other) = match self.before(&in_force, at, pair) {
                    Some((first, used)) => ((self.sources[first].title(), used), own),
                    None => match self.implied(&in_force, at, pair) {
                        Some(implied) => (own, (self.titles(at), implied)),
                        None => continue,
                    },
                };
                if differ(used.1, other.1) {
                    found.push(Disagreement { pair, used, other });
                }
            }
        }
        found
    }

    /// The names of the first `count` sources.
    fn titles(&self, count: usize) -> String {
        let titles: Vec<String> = self.sources[..count].iter().map(RateSource::title).collect();
        titles.join(", ")
    }

    /// What operators have to look at. The texts have no figures: the same text is the same
    /// condition.
    pub fn conditions(&self, now: Timestamp) -> BTreeSet<String> {
        let in_force = self.in_force();
        let mut all = BTreeSet::new();
        for (source, state) in self.sources.iter().zip(&in_force.states) {
            let title = source.title();
            let max_age = source.max_age.unwrap_or(self.limits.max_age);
            let is_late = state.read_at.is_none_or(|read_at| now - read_at > max_age);
            match state.failure {
                Failure::Content => drop(all.insert(format!(
                    "rate source {title}: its document cannot be used, `corridor rates test` shows why"
                ))),
                Failure::NotRead if is_late => drop(all.insert(format!(
                    "rate source {title} cannot be read, `corridor rates test` shows why"
                ))),
                Failure::NotRead | Failure::None => {}
            }
            let names = |pairs: &mut dyn Iterator<Item = (Currency, Currency)>| {
                pairs.map(|(base, quote)| pair(base, quote)).collect::<Vec<_>>().join(", ")
            };
            let held = |is_first: bool| {
                let held = state.held_back.iter().filter(move |it| it.last.is_none() == is_first);
                held.map(|held| held.new.pair())
            };
            let (moved, first) = (names(&mut held(false)), names(&mut held(true)));
            if !moved.is_empty() {
                let most = self.limits.max_move_bps;
                all.insert(format!(
                    "rate source {title}: {moved} moved by more than rates.max_move_bps ({most}), the new rate is not used"
                ));
            }
            if !first.is_empty() {
                all.insert(format!(
                    "rate source {title}: {first} is not used before another source states about the same: it or another rate of the document is {FAR}"
                ));
            }
            if !state.missing.is_empty() {
                let pairs = names(&mut state.missing.iter().copied());
                all.insert(format!("rate source {title} no longer states {pairs}"));
            }
        }
        for Disagreement { pair: (base, quote), used, other } in self.disagreements() {
            let most = self.limits.max_difference_bps;
            let (used, other, pair) = (used.0, other.0, pair(base, quote));
            all.insert(format!(
                "rate sources {used} and {other} disagree about {pair} by more than rates.max_difference_bps ({most}): {used} is used"
            ));
        }
        all
    }

    /// What the first `count` sources state of a pair, if they have a rate that is young enough, and
    /// which of them completes it.
    fn before(
        &self,
        in_force: &InForce,
        count: usize,
        pair: (Currency, Currency),
    ) -> Option<(usize, Decimal)> {
        let young = |at: usize, rate: &DirectRate| self.shown(in_force, at, rate);
        let found = of_fewest(&in_force.states[..count], pair, Side::Mid, &young);
        found.map(|(last, found)| (last, found.mid.rate))
    }

    /// What the first sources, up to `at`, imply of a pair that source `at` states, without this
    /// statement. `None` if they imply nothing, or source `at` implies the same alone.
    fn implied(
        &self,
        in_force: &InForce,
        at: usize,
        stated: (Currency, Currency),
    ) -> Option<Decimal> {
        let is_it = |rate: &DirectRate| rate.pair() == stated || (rate.quote, rate.base) == stated;
        let implied = |first: usize| {
            let pick = |other: usize, rate: &DirectRate| {
                let is_stated = other + first == at && is_it(rate);
                if is_stated { None } else { self.shown(in_force, other + first, rate) }
            };
            let found = of_first(&in_force.states[first..=at], stated, Side::Mid, &pick)?;
            Some(found.mid.rate)
        };
        let (together, alone) = (implied(0)?, implied(at));
        (alone != Some(together)).then_some(together)
    }
}
