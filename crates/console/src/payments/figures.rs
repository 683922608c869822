//! Counts, sums and percentiles of the overview.

use std::collections::BTreeMap;

use domain::country::Country;
use domain::money::Money;
use domain::payment::PaymentState;
use domain::time::Span;
use engine::backoffice::OverviewCount;

/// Figures of some payments of a corridor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    pub count: u64,
    pub paid: u64,
    pub ended: u64,
    /// What beneficiaries were paid, in minor units.
    pub paid_out: i64,
    /// In minor units of stablecoin; all stablecoins count alike.
    pub charge: i64,
    pub settled_in: Durations,
}

impl Figures {
    pub fn of<'a>(tallies: impl IntoIterator<Item = &'a OverviewCount>) -> Figures {
        let mut figures = Figures::default();
        for it in tallies {
            figures.add(it);
        }
        figures
    }

    fn add(&mut self, it: &OverviewCount) {
        self.count += it.count;
        self.charge = self.charge.saturating_add(it.charge.minor);
        if it.state.is_terminal() {
            self.ended += it.count;
        }
        if it.state == PaymentState::Succeeded {
            self.paid += it.count;
            self.paid_out = self.paid_out.saturating_add(it.amount.minor);
        }
        if let Some(took) = it.took {
            self.settled_in.add(took, it.count);
        }
    }

    /// What of the payments that ended was paid, in permille.
    pub fn success(&self) -> Option<u64> {
        (self.paid * 1_000).checked_div(self.ended)
    }
}

/// How long paid payments took, from acceptance to settlement, and how many took that long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durations(BTreeMap<Span, u64>);

impl Durations {
    fn add(&mut self, took: Span, count: u64) {
        *self.0.entry(took).or_default() += count;
    }

    pub fn add_all(&mut self, others: &Durations) {
        others.0.iter().for_each(|(took, count)| self.add(*took, *count));
    }

    pub fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// The duration that as many of 100 payments did not exceed.
    pub fn percentile(&self, percent: u64) -> Option<Span> {
        let at = self.count().checked_sub(1)? * percent / 100;
        let mut up_to = 0;
        let reaches = |(_, count): &(&Span, &u64)| {
            up_to += **count;
            up_to > at
        };
        self.0.iter().find(reaches).map(|(took, _)| *took)
    }
}

/// A corridor's payments in a window.
pub struct Corridor {
    pub country: Country,
    pub figures: Figures,
}

impl Corridor {
    /// One of each country.
    pub fn all(tallies: &[OverviewCount]) -> Vec<Corridor> {
        let of = |country| Corridor {
            country,
            figures: Figures::of(tallies.iter().filter(|it| it.country == country)),
        };
        Country::ALL.map(of).into()
    }

    /// What beneficiaries were paid.
    pub fn paid_out(&self) -> Money {
        Money::new(self.figures.paid_out, self.country.currency())
    }
}

/// A corridor's payments of each day of a period.
#[derive(Clone, Debug)]
pub struct CorridorDays {
    pub country: Country,
    pub days: Vec<Figures>,
}

impl CorridorDays {
    /// One of each country. The slices of the tallies are days.
    pub fn all(tallies: &[OverviewCount], days: usize) -> Vec<Self> {
        let of_day = |country, day| {
            Figures::of(tallies.iter().filter(|it| it.country == country && it.slice == day))
        };
        let of = |country| CorridorDays {
            country,
            days: (0..days).map(|day| of_day(country, day)).collect(),
        };
        Country::ALL.map(of).into()
    }

    /// In minor units of stablecoin.
    pub fn charge(&self, day: usize) -> u64 {
        self.days.get(day).and_then(|it| u64::try_from(it.charge).ok()).unwrap_or(0)
    }

    /// Same over all days.
    pub fn charges(&self) -> u64 {
        (0..self.days.len()).fold(0, |sum, day| sum.saturating_add(self.charge(day)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Payments of a day to Pakistan.
    fn tally(slice: usize, state: PaymentState, took: Option<i64>, count: u64) -> OverviewCount {
        let minor = i64::try_from(count).expect("small");
        OverviewCount {
            country: Country::Pak,
            slice,
            state,
            took: took.map(Span::mins),
            count,
            amount: Money::new(2_500 * minor, domain::currency::Currency::Pkr),
            charge: Money::new(9_000_000 * minor, domain::currency::Currency::Usdt),
        }
    }

    #[test]
    fn figures_are_of_what_was_accepted() {
        use PaymentState::{Failed, Queued, Reversed, Succeeded};
        let all = [
            tally(0, Queued, None, 1),
            tally(0, Succeeded, Some(3), 1),
            tally(0, Failed, None, 1),
            tally(0, Succeeded, Some(1), 1),
            tally(0, Reversed, Some(2), 1),
        ];
        let found = Figures::of(&all);
        assert_eq!((found.count, found.paid, found.ended), (5, 2, 4));
        assert_eq!((found.paid_out, found.charge, found.success()), (5_000, 45_000_000, Some(500)));
        let took = |percent| found.settled_in.percentile(percent);
        assert_eq!((took(50), took(95)), (Some(Span::mins(2)), Some(Span::mins(2))));
        let none = Figures::default();
        assert_eq!((none.success(), none.settled_in.percentile(50)), (None, None));
    }

    #[test]
    fn percentiles_weigh_durations_by_their_payments() {
        let of = |counts: &[(i64, u64)]| {
            let mut found = Durations::default();
            counts.iter().for_each(|(secs, count)| found.add(Span::secs(*secs), *count));
            found
        };
        let hundred: Vec<(i64, u64)> = (1..=100).map(|secs| (secs, 1)).collect();
        for (counts, percent, secs) in [
            (&hundred[..], 50, 50),
            (&hundred, 95, 95),
            (&hundred, 100, 100),
            (&[(7, 1)], 95, 7),
            (&[(9, 1), (1, 94), (5, 5)], 50, 1),
            (&[(9, 1), (1, 94), (5, 5)], 95, 5),
            (&[(9, 6), (1, 94)], 95, 9),
        ] {
            assert_eq!(
                of(counts).percentile(percent),
                Some(Span::secs(secs)),
                "{percent} of {counts:?}"
            );
        }
        let mut both = of(&[(1, 2), (3, 1)]);
        both.add_all(&of(&[(3, 4)]));
        assert_eq!((both.count(), both), (7, of(&[(1, 2), (3, 5)])));
    }

    #[test]
    fn corridors_have_days_of_their_own() {
        let queued = |day, count| tally(day, PaymentState::Queued, None, count);
        let elsewhere = OverviewCount { country: Country::Npl, ..queued(1, 4) };
        let all = [queued(2, 2), queued(0, 1), elsewhere, queued(0, 1)];
        let of = |country, days: Vec<CorridorDays>| {
            days.into_iter().find(|it| it.country == country).expect("one of each country")
        };
        let found = of(Country::Pak, CorridorDays::all(&all, 3));
        assert_eq!(found.days.iter().map(|it| it.count).collect::<Vec<_>>(), [2, 0, 2]);
        assert_eq!((found.charge(2), found.charge(1), found.charge(3)), (18_000_000, 0, 0));
        assert_eq!(found.charges(), 36_000_000);
        assert_eq!(of(Country::Npl, CorridorDays::all(&all, 3)).charges(), 36_000_000);
        let counts = Corridor::all(&all).into_iter().map(|it| it.figures.count);
        assert_eq!(counts.sum::<u64>(), 8);
    }
}
