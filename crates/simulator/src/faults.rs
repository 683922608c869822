//! What goes wrong in a schedule: drawn beforehand as a list, so that a failing seed can be run again with less of it.
//! Nothing here decides whether the outcome is right.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::ids::BatchId;
use domain::time::Span;
use store::options::{FaultAction, FaultPoint};

use crate::random::Random;
use crate::run::{Executor, NODES, NodeNumber, Owner, Sim};
use crate::services::Services;

mod actors;
mod chain;
mod lists;

pub use actors::{Dialect, EndpointFault};
pub use chain::WebhookFault;
pub use lists::ListFault;

/// Something that goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// At the commit of a batch.
    Commit {
        /// Which commit of the schedule, from 0.
        nth: u32,
        how: CommitFault,
    },
    /// At a pay-out message to a rail.
    Message {
        /// Which message of the schedule, from 0.
        nth: u32,
        how: CallFault,
    },
    /// At an inquiry to a rail.
    Inquiry {
        /// Which inquiry of the schedule, from 0.
        nth: u32,
        how: CallFault,
    },
    /// At a page of reports.
    Page {
        /// Which page of the schedule, from 0.
        nth: u32,
        how: PageFault,
    },
    /// A client never gets its answer.
    Reply {
        /// Which answer of the schedule, from 0.
        nth: u32,
    },
    /// The node freezes, and goes on later as if nothing had been.
    Freeze {
        /// After which kind of write.
        after: Write,
        /// Which such write of the schedule, from 0.
        nth: u32,
        /// How long the node stands still.
        span: Span,
    },
    /// A node is killed.
    Kill {
        node: NodeNumber,
        /// How long after the start.
        after: Span,
    },
    /// A node is asked to stop, and killed after its grace period.
    Stop {
        node: NodeNumber,
        /// How long after the start.
        after: Span,
    },
    /// A node's clock is wrong.
    Skew {
        node: NodeNumber,
        /// How far ahead it is.
        span: Span,
    },
    /// A rail takes no connections.
    Down {
        /// Which, by its place in the installation.
        rail: usize,
        /// How long after the start.
        after: Span,
        /// How long the rail is down.
        span: Span,
    },
    /// The bank reports some settlements after what followed them, and some things twice.
    Reports {
        /// How many settlements in a thousand are reported late.
        late_per_mille: u32,
        /// How many orders in a thousand are reported twice.
        twice_per_mille: u32,
    },
    /// The newest blocks of the chain are replaced by others.
    Reorg {
        /// How long after the start.
        after: Span,
        /// How many blocks are replaced.
        depth: u64,
        /// How long the second node stays on the old ones.
        noticed_after: Span,
    },
    /// Gas costs more than usual.
    FeeSpike {
        /// How long after the start.
        after: Span,
        /// How long the prices stay high.
        span: Span,
        /// Factor by which prices rise.
        factor: u64,
    },
    /// The chain's first node is behind.
    FirstNodeLags {
        /// How long after the start.
        after: Span,
        /// How long the node lags.
        span: Span,
        /// By how many blocks.
        blocks: u64,
    },
    /// The chain's second node is behind.
    SecondNodeLags {
        /// How long after the start.
        after: Span,
        /// How long the node lags.
        span: Span,
        /// By how many blocks.
        blocks: u64,
    },
    /// The chain's nodes take no connections.
    ChainDown {
        /// How long after the start.
        after: Span,
        /// How long the nodes are down.
        span: Span,
    },
    /// A coin's issuer pauses it.
    Pause {
        /// Which coin, by its place in the configuration.
        coin: usize,
        /// How long after the start.
        after: Span,
        /// How long the coin is paused.
        span: Span,
    },
    /// At a question to a node of the chain.
    Question {
        /// Which question of the schedule, from 0.
        nth: u32,
        how: CallFault,
    },
    Broadcast {
        /// Which broadcast of the schedule, from 0.
        nth: u32,
        how: CallFault,
    },
    /// A node forgets a transaction that it has accepted.
    Forget {
        /// Which accepted one of the schedule, from 0.
        nth: u32,
    },
    /// At a request for a signature.
    Sign {
        /// Which signature of the schedule, from 0.
        nth: u32,
        how: CallFault,
    },
    Webhook {
        /// Which try of the schedule, from 0.
        nth: u32,
        how: WebhookFault,
    },
    /// The bank of a rail has a dialect of its own, from the start to the end of the schedule.
    Dialect {
        /// Which rail, by its place in the installation.
        rail: usize,
        dialect: Dialect,
    },
    /// One of the two RPC endpoints of the port `Chain` does not serve as it should.
    Endpoint {
        /// Which, in the order in which they are asked.
        which: usize,
        /// How long after the start.
        after: Span,
        /// How long the endpoint misbehaves.
        span: Span,
        how: EndpointFault,
    },
    /// The server of a sanction list does not serve it as it should.
    Lists {
        /// Index of the sanction list's source.
        source: usize,
        /// How long after the start.
        after: Span,
        /// How long the server misbehaves.
        span: Span,
        how: ListFault,
    },
}

/// The part of the node that wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// A worker that submits payments or inquires about them: it took jobs.
    Worker,
    /// One of the workers of the chain, of orders, recalls and deliveries: it took jobs.
    OtherWorker,
    /// The batcher: it committed.
    Batcher,
}

/// What happens at a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitFault {
    /// The node dies before it.
    CrashBefore,
    /// The node dies after it.
    CrashAfter,
    /// It fails, and the node knows.
    FailBefore,
    /// It does not happen, and the node cannot know.
    LoseCommit,
    /// It happens, and the node cannot know.
    LoseAck,
}

/// What happens at a call to a rail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallFault {
    /// The node dies before a byte leaves.
    CrashBefore,
    /// The node dies while the message is under way; it arrives.
    CrashDuring,
    /// The node dies with the answer in its hands.
    CrashAfter,
    /// The message is lost.
    LoseMessage,
    /// The answer is lost.
    LoseAnswer,
    /// The message arrives later than the caller waits.
    Late(Span),
    /// The message arrives twice (only where the rail recognises it).
    Twice(Span),
}

/// What happens at a page of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageFault {
    /// The page is lost on the way.
    Lose,
    /// The node dies with the page in its hands.
    Crash,
}

/// Rails that a fault may name.
pub const RAILS: usize = 4;

/// Draws the faults of a schedule: none in a quarter of the seeds.
pub fn draw(seed: u64) -> Vec<Fault> {
    let mut random = Random::stream(seed, "faults");
    if random.chance(250) {
        return Vec::new();
    }
    let count = random.between(2, 7);
    let mut drawn: Vec<Fault> = (0..count).map(|_| draw_one(&mut random)).collect();
    if Services::of(seed).wallets {
        drawn.extend(chain::draw(seed));
    }
    drawn.extend(actors::draw(seed));
    drawn.extend(lists::draw(seed));
    drawn
}

fn draw_one(random: &mut Random) -> Fault {
    let nth =
        |random: &mut Random, limit: i64| u32::try_from(random.between(0, limit)).unwrap_or(0);
    match random.below(20) {
        0..=6 => {
            use CommitFault::{CrashAfter, CrashBefore, FailBefore, LoseAck, LoseCommit};
            Fault::Commit {
                nth: nth(random, 90),
                how: random.pick(&[CrashBefore, CrashAfter, FailBefore, LoseCommit, LoseAck]),
            }
        }
        7..=10 => Fault::Message { nth: nth(random, 11), how: draw_call(random) },
        11 => Fault::Inquiry { nth: nth(random, 8), how: draw_call(random) },
        12 | 13 => Fault::Page {
            nth: nth(random, 14),
            how: random.pick(&[PageFault::Lose, PageFault::Crash]),
        },
        14 => Fault::Reply { nth: nth(random, 24) },
        15 | 16 => {
            let (after, limit) = random.pick(&[(Write::Worker, 16), (Write::Batcher, 90)]);
            Fault::Freeze {
                after,
                nth: nth(random, limit),
                span: Span::secs(random.between(1, 150)),
            }
        }
        17 => {
            let (node, after) = (random.below(NODES), Span::millis(random.between(0, 40_000)));
            if random.chance(500) {
                Fault::Kill { node, after }
            } else {
                Fault::Stop { node, after }
            }
        }
        18 => match random.below(2) {
            0 => Fault::Skew {
                node: random.below(NODES),
                span: Span::millis(random.between(-1_500, 1_500)),
            },
            _ => Fault::Reports {
                late_per_mille: 250,
                twice_per_mille: random.pick(&[0, 300, 1_000]),
            },
        },
        _ => Fault::Down {
            rail: random.below(RAILS),
            after: Span::millis(random.between(0, 20_000)),
            span: Span::secs(random.between(5, 180)),
        },
    }
}

fn draw_call(random: &mut Random) -> CallFault {
    match random.below(9) {
        0 => CallFault::CrashBefore,
        1 | 2 => CallFault::CrashDuring,
        3 => CallFault::CrashAfter,
        4 => CallFault::LoseMessage,
        5 | 6 => CallFault::LoseAnswer,
        7 => CallFault::Late(Span::secs(random.between(11, 90))),
        _ => CallFault::Twice(Span::millis(random.between(0, 60_000))),
    }
}

/// The kinds of calls that are counted.
#[derive(Clone, Copy, Debug)]
enum Count {
    Commit,
    Message,
    Inquiry,
    Page,
    Reply,
    WorkerWrite,
    OtherWorkerWrite,
    BatcherWrite,
    Question,
    Broadcast,
    Accepted,
    Signature,
    Webhook,
}

/// How many things are counted.
const COUNTS: usize = 13;

#[derive(Debug, Default)]
struct State {
    counts: [u32; COUNTS],
    fired: BTreeSet<usize>,
    /// A batch whose fault comes after its commit.
    after: Option<(BatchId, CommitFault)>,
    healed: bool,
}

/// Makes the drawn faults happen.
pub struct Injector {
    sim: Sim,
    faults: Vec<Fault>,
    state: Mutex<State>,
}

impl Injector {
    /// The faults of one schedule.
    pub fn new(sim: Sim, faults: Vec<Fault>) -> Injector {
        Injector { sim, faults, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on nothing goes wrong any more.
    pub fn heal(&self) {
        self.state().healed = true;
    }

    /// How many have happened.
    pub fn fired(&self) -> usize {
        self.state().fired.len()
    }

    /// How often the newest blocks of the chain were replaced.
    pub fn reorganisations(&self) -> usize {
        let state = self.state();
        let fired = state.fired.iter().filter_map(|number| self.faults.get(*number));
        fired.filter(|fault| matches!(fault, Fault::Reorg { .. })).count()
    }

    /// Every fault of the schedule.
    pub fn all(&self) -> &[Fault] {
        &self.faults
    }

    /// Records that a fault takes effect, which the caller injects.
    pub fn fire(&self, number: usize) -> bool {
        let mut state = self.state();
        if state.healed {
            return false;
        }
        let is_first = state.fired.insert(number);
        drop(state);
        if let Some(fault) = self.faults.get(number).filter(|_| is_first) {
            self.sim.trace(format_args!("fault {fault:?}"));
        }
        true
    }

    /// Counts one more and answers the fault that it meets.
    fn meet<T>(&self, count: Count, wanted: impl Fn(&Fault, u32) -> Option<T>) -> Option<T> {
        let mut state = self.state();
        let nth = state.counts[count as usize];
        state.counts[count as usize] += 1;
        let healed = state.healed;
        drop(state);
        if healed {
            return None;
        }
        let met = self
            .faults
            .iter()
            .enumerate()
            .find_map(|(number, fault)| Some((number, wanted(fault, nth)?)));
        met.filter(|(number, _)| self.fire(*number)).map(|(_, how)| how)
    }

    /// The fault of a message to a rail.
    pub fn message(&self) -> Option<CallFault> {
        self.meet(Count::Message, |fault, now| match fault {
            Fault::Message { nth, how } if *nth == now => Some(*how),
            _ => None,
        })
    }

    /// The fault of an inquiry.
    pub fn inquiry(&self) -> Option<CallFault> {
        self.meet(Count::Inquiry, |fault, now| match fault {
            Fault::Inquiry { nth, how } if *nth == now => Some(*how),
            _ => None,
        })
    }

    /// The fault of a page of reports.
    pub fn page(&self) -> Option<PageFault> {
        self.meet(Count::Page, |fault, now| match fault {
            Fault::Page { nth, how } if *nth == now => Some(*how),
            _ => None,
        })
    }

    /// Whether a client's answer is lost.
    pub fn reply_is_lost(&self) -> bool {
        let lost =
            |fault: &Fault, now| matches!(fault, Fault::Reply { nth } if *nth == now).then_some(());
        self.meet(Count::Reply, lost).is_some()
    }

    /// For how long a node freezes after this write.
    pub fn freeze(&self, write: Write) -> Option<Span> {
        let count = match write {
            Write::Worker => Count::WorkerWrite,
            Write::OtherWorker => Count::OtherWorkerWrite,
            Write::Batcher => Count::BatcherWrite,
        };
        self.meet(count, |fault, now| match fault {
            Fault::Freeze { after, nth, span } if (*after, *nth) == (write, now) => Some(*span),
            _ => None,
        })
    }

    /// The fault of a commit.
    pub fn commit(&self, point: FaultPoint, batch: BatchId) -> FaultAction {
        let Owner::Node(node) = self.sim.current() else { return FaultAction::Proceed };
        match point {
            FaultPoint::BeforeCommit => {
                let met = self.meet(Count::Commit, |fault, now| match fault {
                    Fault::Commit { nth, how } if *nth == now => Some(*how),
                    _ => None,
                });
                match met {
                    Some(CommitFault::CrashBefore) => Executor::kill_now(&self.sim, node),
                    Some(CommitFault::FailBefore) => FaultAction::FailBefore,
                    Some(CommitFault::LoseCommit) => FaultAction::LoseCommit,
                    Some(how @ (CommitFault::CrashAfter | CommitFault::LoseAck)) => {
                        self.state().after = Some((batch, how));
                        FaultAction::Proceed
                    }
                    None => FaultAction::Proceed,
                }
            }
            FaultPoint::AfterCommit => {
                let due = self.state().after.take_if(|(of, _)| *of == batch);
                match due {
                    Some((_, CommitFault::CrashAfter)) => Executor::kill_now(&self.sim, node),
                    Some((_, CommitFault::LoseAck)) => FaultAction::LoseAck,
                    _ => FaultAction::Proceed,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_the_seeds_has_no_faults_and_the_others_at_least_three_on_average() {
        let drawn: Vec<usize> = (0..4_000).map(|seed| draw(seed).len()).collect();
        let without = drawn.iter().filter(|count| **count == 0).count();
        assert!((800..1_200).contains(&without), "{without}");
        let total: usize = drawn.iter().sum();
        assert!(total >= 4 * (4_000 - without), "{total}");
    }

    #[test]
    fn the_same_seed_draws_the_same_faults() {
        assert!((0..200).all(|seed| draw(seed) == draw(seed)));
    }
}
