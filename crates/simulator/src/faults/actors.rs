//! The habits of banks and RPC endpoints as they are met outside of our own simulators. They are drawn from a stream of
//! their own, after everything else: a schedule without them is what it was before they existed.

use domain::time::Span;

use super::{Fault, Injector, RAILS, Write};
use crate::random::Random;
use crate::services::Services;

/// Within this time of the start endpoints begin to misbehave.
const BEGIN_MAX_MILLIS: i64 = 120_000;
/// The rails whose bank recognises repetitions, by their place in the installation: only there can it call one a duplicate.
const DETECTING: [usize; 2] = [0, 2];

/// How a bank speaks of pay-outs. The fifth dialect is always there: the bank of the two plain rails pays again what
/// it is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// It gives the status of the whole message, and lists a transaction only where its status is another one.
    GroupStatus,
    /// It names a pay-out by its EndToEndId alone, cut to so many characters.
    EndToEndOnly {
        /// Characters that it keeps.
        chars: usize,
    },
    /// It refuses each repetition as a duplicate, even of what it has paid, and reports such refusals unasked.
    CallsDuplicates,
    /// It books the settled pay-outs of a message as one sum, and says nothing of them one by one.
    BatchBooking,
}

/// What is wrong with an RPC endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointFault {
    /// It does not answer.
    Silent,
    /// It has no logs for about half of the blocks that have some.
    ForgetsLogs {
        /// Whether its headers' blooms hide them too: then nothing shows that they are missing.
        hides: bool,
    },
    /// It invents payments to our addresses.
    InventsLogs {
        /// Whether its receipts and balances say the same.
        stands_by_it: bool,
    },
    /// It overstates the balances of tokens.
    OverstatesBalances,
    /// It answers for one block at a time only.
    RefusesRanges,
    /// It overstates nonces by so many.
    OverstatesNonces(u64),
}

/// Draws them: none in about half of the seeds that have faults, seldom more than two.
pub(super) fn draw(seed: u64) -> Vec<Fault> {
    let mut random = Random::stream(seed, "actors");
    let count = random.pick(&[0, 0, 0, 0, 0, 1, 1, 1, 2, 3]);
    let has_chain = Services::of(seed).wallets;
    let drawn = (0..count).map(|_| {
        if has_chain && random.chance(650) { on_chain(&mut random) } else { bank(&mut random) }
    });
    let mut liar = None;
    let mut drawn: Vec<Fault> = drawn.filter(|fault| is_alone(fault, &mut liar)).collect();
    drawn.extend(frozen_worker(seed));
    drawn
}

/// A node that freezes while one of its workers of the chain, of orders or of deliveries has jobs,
/// for longer than most leases.
fn frozen_worker(seed: u64) -> Option<Fault> {
    let mut random = Random::stream(seed, "frozen workers");
    let drawn = Services::of(seed).wallets && random.chance(300);
    drawn.then(|| Fault::Freeze {
        after: Write::OtherWorker,
        nth: u32::try_from(random.between(0, 60)).unwrap_or(0),
        span: Span::secs(random.between(8, 120)),
    })
}

/// Whether no other endpoint lies alike: two operators who make up the same payment, with receipts and
/// balances, or who both claim nonces that were not used, are not what a quorum protects from.
fn is_alone(fault: &Fault, liar: &mut Option<usize>) -> bool {
    match fault {
        Fault::Endpoint {
            which,
            how: EndpointFault::InventsLogs { .. } | EndpointFault::OverstatesNonces(_),
            ..
        } => *liar.get_or_insert(*which) == *which,
        _ => true,
    }
}

fn bank(random: &mut Random) -> Fault {
    let rail = random.below(RAILS);
    match random.below(4) {
        0 => Fault::Dialect { rail, dialect: Dialect::GroupStatus },
        1 => Fault::Dialect {
            rail,
            dialect: Dialect::EndToEndOnly { chars: random.pick(&[16, 35]) },
        },
        2 => Fault::Dialect { rail: random.pick(&DETECTING), dialect: Dialect::CallsDuplicates },
        _ => Fault::Dialect { rail, dialect: Dialect::BatchBooking },
    }
}

fn on_chain(random: &mut Random) -> Fault {
    let after = Span::millis(random.between(0, BEGIN_MAX_MILLIS));
    if random.chance(250) {
        // Deeper than those of `faults::chain`.
        let depth = u64::try_from(random.between(24, 40)).unwrap_or(40);
        let noticed_after =
            if random.chance(300) { Span::secs(random.between(1, 40)) } else { Span(0) };
        return Fault::Reorg { after, depth, noticed_after };
    }
    let how = match random.below(6) {
        0 => EndpointFault::Silent,
        1 => EndpointFault::ForgetsLogs { hides: random.chance(700) },
        2 => EndpointFault::InventsLogs { stands_by_it: random.chance(600) },
        3 => EndpointFault::OverstatesBalances,
        4 => EndpointFault::RefusesRanges,
        _ => EndpointFault::OverstatesNonces(random.pick(&[1, 2, 7, 1_000])),
    };
    Fault::Endpoint {
        which: random.below(2),
        after,
        span: Span::secs(random.between(10, 300)),
        how,
    }
}

impl Injector {
    /// Whether an endpoint leaves out or makes up logs in this schedule.
    pub fn lies_about_logs(&self) -> bool {
        let lies = |how: &EndpointFault| {
            matches!(how, EndpointFault::ForgetsLogs { .. } | EndpointFault::InventsLogs { .. })
        };
        self.all().iter().any(|fault| matches!(fault, Fault::Endpoint { how, .. } if lies(how)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_schedules_have_none_or_one_and_every_kind_is_drawn() {
        let drawn: Vec<Vec<Fault>> = (0..4_000).map(draw).collect();
        let few = drawn.iter().filter(|faults| faults.len() <= 1).count();
        assert!((2_900..3_500).contains(&few), "{few}");
        let all: Vec<&Fault> = drawn.iter().flatten().collect();
        let has = |is_it: &dyn Fn(&Fault) -> bool| all.iter().any(|fault| is_it(fault));
        for dialect in [Dialect::GroupStatus, Dialect::CallsDuplicates, Dialect::BatchBooking] {
            assert!(
                has(&|fault| matches!(fault, Fault::Dialect { dialect: it, .. } if *it == dialect)),
                "{dialect:?}"
            );
        }
        for chars in [16, 35] {
            let wanted = Dialect::EndToEndOnly { chars };
            assert!(has(
                &|fault| matches!(fault, Fault::Dialect { dialect, .. } if *dialect == wanted)
            ));
        }
        for endpoint in [
            EndpointFault::Silent,
            EndpointFault::ForgetsLogs { hides: true },
            EndpointFault::ForgetsLogs { hides: false },
            EndpointFault::InventsLogs { stands_by_it: true },
            EndpointFault::InventsLogs { stands_by_it: false },
            EndpointFault::OverstatesBalances,
            EndpointFault::RefusesRanges,
            EndpointFault::OverstatesNonces(1_000),
        ] {
            assert!(
                has(&|fault| matches!(fault, Fault::Endpoint { how, .. } if *how == endpoint)),
                "{endpoint:?}"
            );
        }
        assert!(has(&|fault| matches!(fault, Fault::Reorg { depth: 40, .. })));
    }

    #[test]
    fn duplicates_are_called_only_where_repetitions_are_recognised() {
        let rail_of = |fault| match fault {
            Fault::Dialect { rail, dialect: Dialect::CallsDuplicates } => Some(rail),
            _ => None,
        };
        let rails: Vec<usize> = (0..4_000).flat_map(draw).filter_map(rail_of).collect();
        assert!(!rails.is_empty());
        for rail in rails {
            assert!(crate::installation::RAILS[rail].2, "{rail}");
        }
    }
}
