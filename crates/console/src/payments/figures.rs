//! Counts, sums and percentiles of the overview.

use domain::country::Country;
use domain::money::Money;
use domain::payment::PaymentState;
use domain::time::{Span, Timestamp};
use engine::office::{Accepted, COUNTED_MAX};

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
    /// How long each paid payment took, from acceptance to settlement, shortest first.
    pub settled_in: Vec<Span>,
}

impl Figures {
    pub fn of<'a>(payments: impl IntoIterator<Item = &'a Accepted>) -> Figures {
        let mut figures = Figures::default();
        for it in payments {
            figures.add(it);
        }
        figures.settled_in.sort_unstable();
        figures
    }

    fn add(&mut self, it: &Accepted) {
        self.count += 1;
        self.charge = self.charge.saturating_add(it.charge.minor);
        self.ended += u64::from(it.state.is_terminal());
        if it.state == PaymentState::Succeeded {
            self.paid += 1;
            self.paid_out = self.paid_out.saturating_add(it.amount.minor);
        }
        self.settled_in.extend(it.settled_at.map(|at| at - it.accepted_at));
    }

    pub fn took(&self, percent: usize) -> Option<Span> {
        percentile(&self.settled_in, percent)
    }

    /// What of the payments that ended was paid, in permille.
    pub fn success(&self) -> Option<u64> {
        (self.paid * 1_000).checked_div(self.ended)
    }
}

pub fn percentile(sorted: &[Span], percent: usize) -> Option<Span> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get(last * percent / 100).copied()
}

/// A corridor's payments in a window.
pub struct Corridor {
    pub country: Country,
    pub figures: Figures,
    /// Start of the counted period, if it was shortened.
    pub counted_since: Option<Timestamp>,
}

impl Corridor {
    pub fn of(country: Country, payments: &[Accepted]) -> Corridor {
        let counted_since = counted_since(payments);
        Corridor { country, figures: Figures::of(payments), counted_since }
    }

    /// What beneficiaries were paid.
    pub fn paid_out(&self) -> Money {
        Money::new(self.figures.paid_out, self.country.currency())
    }
}

/// The earliest of the payments, if there may be earlier ones that were not read.
fn counted_since(newest_first: &[Accepted]) -> Option<Timestamp> {
    newest_first.last().filter(|_| newest_first.len() >= COUNTED_MAX).map(|it| it.accepted_at)
}

/// A corridor's payments of each day of a period.
#[derive(Clone, Debug)]
pub struct CorridorDays {
    pub country: Country,
    pub days: Vec<Figures>,
    /// The first day of which there are figures, if earlier ones were left out.
    pub since: Option<usize>,
}

impl CorridorDays {
    /// Days of 86,400 seconds from the start on.
    pub fn of(country: Country, payments: &[Accepted], start: Timestamp, days: usize) -> Self {
        let day = |at: Timestamp| usize::try_from((at - start).0 / Span::days(1).0).unwrap_or(0);
        let mut found = vec![Figures::default(); days];
        for of_day in payments.chunk_by(|a, b| day(a.accepted_at) == day(b.accepted_at)) {
            let at = of_day.first().and_then(|it| found.get_mut(day(it.accepted_at)));
            if let Some(figures) = at {
                *figures = Figures::of(of_day);
            }
        }
        CorridorDays { country, days: found, since: counted_since(payments).map(day) }
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

    const START: Timestamp = Timestamp(1_700_000_000_000_000);

    /// A payment that was accepted some minutes after the start.
    fn accepted(minutes: i64, state: PaymentState, took: Option<i64>) -> Accepted {
        let accepted_at = START + Span::mins(minutes);
        Accepted {
            accepted_at,
            settled_at: took.map(|minutes| accepted_at + Span::mins(minutes)),
            state,
            amount: Money::new(2_500, domain::currency::Currency::Pkr),
            charge: Money::new(9_000_000, domain::currency::Currency::Usdt),
        }
    }

    fn minutes(span: Option<Span>) -> Option<i64> {
        span.map(|span| span.0 / Span::mins(1).0)
    }

    #[test]
    fn figures_are_of_what_was_accepted() {
        use PaymentState::{Failed, Queued, Reversed, Succeeded};
        let all = [
            accepted(9, Queued, None),
            accepted(8, Succeeded, Some(3)),
            accepted(7, Failed, None),
            accepted(6, Succeeded, Some(1)),
            accepted(5, Reversed, Some(2)),
        ];
        let found = Figures::of(&all);
        assert_eq!((found.count, found.paid, found.ended), (5, 2, 4));
        assert_eq!((found.paid_out, found.charge, found.success()), (5_000, 45_000_000, Some(500)));
        assert_eq!((minutes(found.took(50)), minutes(found.took(95))), (Some(2), Some(2)));
        assert_eq!((Figures::default().success(), Figures::default().took(50)), (None, None));
    }

    #[test]
    fn percentiles_are_of_what_there_is() {
        let spans: Vec<Span> = (1..=100).map(Span::secs).collect();
        assert_eq!(
            (percentile(&spans, 50), percentile(&spans, 95)),
            (Some(Span::secs(50)), Some(Span::secs(95)))
        );
        assert_eq!((percentile(&spans[..1], 95), percentile(&[], 50)), (Some(Span::secs(1)), None));
    }

    #[test]
    fn days_begin_at_the_start() {
        const DAY: i64 = 24 * 60;
        let queued = |minutes| accepted(minutes, PaymentState::Queued, None);
        let all = [queued(2 * DAY + 1), queued(2 * DAY), queued(DAY - 1), queued(0)];
        let found = CorridorDays::of(Country::Pak, &all, START, 3);
        assert_eq!(found.days.iter().map(|it| it.count).collect::<Vec<_>>(), [2, 0, 2]);
        assert_eq!((found.charge(2), found.charge(1), found.charge(3)), (18_000_000, 0, 0));
        assert_eq!((found.charges(), found.since), (36_000_000, None));
    }

    #[test]
    fn a_period_of_which_not_all_was_read_says_since_when() {
        let all: Vec<Accepted> = (0..COUNTED_MAX)
            .map(|at| {
                accepted(
                    2 * 24 * 60 - i64::try_from(at / 8).expect("small"),
                    PaymentState::Queued,
                    None,
                )
            })
            .collect();
        let first = all.last().expect("there").accepted_at;
        assert_eq!(Corridor::of(Country::Pak, &all).counted_since, Some(first));
        assert_eq!(CorridorDays::of(Country::Pak, &all, START, 3).since, Some(1));
        assert_eq!(Corridor::of(Country::Pak, &all[1..]).counted_since, None);
    }
}
