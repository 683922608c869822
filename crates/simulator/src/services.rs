//! Which services a schedule is about: most are about one, so that each of its steps is near to the others.

use clap::ValueEnum;

use crate::planted::Bug;
use crate::random::Random;

/// Of the seeds with wallets a campaign about everything plays one in so many, so that a third of what it plays has
/// wallets: a chain, receivers and what customers want make them five times as long as payments alone.
const WALLETS_ONE_IN: usize = 2;

/// Of a thousand schedules so many have nodes that load sanction lists from servers; the others go by the name alone.
/// They take three times as long as the others.
const WITH_LISTS_PER_MILLE: u64 = 30;

/// Whether the nodes of a schedule load sanction lists from servers.
pub fn loads_lists(seed: u64) -> bool {
    Random::stream(seed, "loads lists").chance(WITH_LISTS_PER_MILLE)
}

/// Which seeds a campaign plays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum About {
    /// Those with payments alone.
    Payments,
    /// Those with wallets, all of them.
    Wallets,
    /// Those with payments alone, and one in two of those with wallets.
    #[default]
    Everything,
}

impl About {
    /// Whether it plays a seed.
    pub fn plays(self, seed: u64) -> bool {
        let has_wallets = Services::of(seed).wallets;
        match self {
            About::Payments => !has_wallets,
            About::Wallets => has_wallets,
            About::Everything => {
                !has_wallets || Random::stream(seed, "campaign").below(WALLETS_ONE_IN) == 0
            }
        }
    }
}

/// Which services a schedule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Services {
    pub payments: bool,
    pub wallets: bool,
}

impl Services {
    /// Whether schedules about these services can find a bug.
    pub fn may_show(self, bug: &Bug) -> bool {
        (self.payments && bug.services.payments) || (self.wallets && bug.services.wallets)
    }

    /// Those of a seed.
    pub fn of(seed: u64) -> Services {
        match Random::stream(seed, "services").below(10) {
            0..=4 => Services { payments: true, wallets: false },
            5..=8 => Services { payments: false, wallets: true },
            _ => Services { payments: true, wallets: true },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn campaigns_play_what_they_are_about() {
        let played =
            |about: About| (0..10_000).filter(|seed| about.plays(*seed)).collect::<Vec<_>>();
        let (payments, wallets) = (played(About::Payments), played(About::Wallets));
        assert_eq!(payments.len() + wallets.len(), 10_000);
        let everything = played(About::Everything);
        assert!(payments.iter().all(|seed| everything.contains(seed)));
        let some = everything.len() - payments.len();
        assert!(
            some * 5 > wallets.len() * 2 && some * 5 < wallets.len() * 3,
            "{some} of {}",
            wallets.len()
        );
    }

    #[test]
    fn every_seed_is_about_something_and_many_about_each() {
        let drawn: Vec<Services> = (0..1_000).map(Services::of).collect();
        assert!(drawn.iter().all(|it| it.payments || it.wallets));
        let count = |of: fn(&Services) -> bool| drawn.iter().filter(|it| of(it)).count();
        assert!(count(|it| it.payments) > 400 && count(|it| it.wallets) > 400, "{drawn:?}");
        assert!(count(|it| it.payments && it.wallets) > 50, "{drawn:?}");
    }
}
