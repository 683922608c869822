//! Which services a schedule is about: most are about one, so that each of its steps is near to the others.

use engine::planted::Planted;

use crate::random::Random;

/// Which services a schedule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Services {
    /// Payments.
    pub payments: bool,
    /// Wallets.
    pub wallets: bool,
}

impl Services {
    /// Whether schedules about these services can find a bug.
    pub fn may_show(self, bug: Planted) -> bool {
        if Planted::OF_WALLETS.contains(&bug) { self.wallets } else { self.payments || bug == Planted::Nothing }
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
    fn every_seed_is_about_something_and_many_about_each() {
        let drawn: Vec<Services> = (0..1_000).map(Services::of).collect();
        assert!(drawn.iter().all(|it| it.payments || it.wallets));
        let count = |of: fn(&Services) -> bool| drawn.iter().filter(|it| of(it)).count();
        assert!(count(|it| it.payments) > 400 && count(|it| it.wallets) > 400, "{drawn:?}");
        assert!(count(|it| it.payments && it.wallets) > 50, "{drawn:?}");
        assert!(drawn.iter().all(|it| it.may_show(Planted::Nothing)));
        assert_eq!(count(|it| it.may_show(Planted::EarlyAcknowledgement)), count(|it| it.wallets));
    }
}
