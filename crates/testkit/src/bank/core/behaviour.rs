//! Behaviour of the bank: its delays, its faults, and the endings selected by the creditor's
//! account.
//!
//! Every choice is derived from the seed and the order's own ids, never from a random source or a
//! clock, so that a run with the same seed and orders repeats exactly.

use std::collections::BTreeSet;

use domain::time::{Span, Timestamp};

use super::model::{Happening, InstructionView, Step, TxStatus};

/// A delay between two inclusive bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayRange {
    pub shortest: Span,
    pub longest: Span,
}

impl DelayRange {
    /// Answers come without delay.
    pub const NONE: DelayRange = DelayRange::millis(0, 0);

    /// Between `shortest` and `longest` milliseconds.
    pub const fn millis(shortest: i64, longest: i64) -> DelayRange {
        DelayRange { shortest: Span::millis(shortest), longest: Span::millis(longest) }
    }

    fn pick(self, draw: u64) -> Span {
        let width = self.longest.0.saturating_sub(self.shortest.0).max(0).unsigned_abs();
        let offset = draw % width.saturating_add(1);
        Span(self.shortest.0.saturating_add(i64::try_from(offset).unwrap_or(0)))
    }
}

/// Faults in addition to those that an account selects; all off by default. Probabilities are in
/// thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faults {
    /// Delay of the bank's answers.
    pub answer_delay: Span,
    /// Probability that the answer to a payment message is lost after its orders were accepted.
    pub drop_answer_per_mille: u32,
    /// Probability that an order's reports are delivered twice.
    pub duplicate_report_per_mille: u32,
    /// Probability that the report of a settlement follows those of later events.
    pub late_report_per_mille: u32,
    /// Additional delay of a late report.
    pub late_report_delay: DelayRange,
    /// Refuse connections, and cut open ones at their next request.
    pub down: bool,
}

impl Faults {
    pub const NONE: Faults = Faults {
        answer_delay: Span(0),
        drop_answer_per_mille: 0,
        duplicate_report_per_mille: 0,
        late_report_per_mille: 0,
        late_report_delay: DelayRange::millis(2_000, 8_000),
        down: false,
    };
}

/// How the bank behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// Seed of the delays and faults.
    pub seed: u64,
    /// From acceptance to settlement or failure.
    pub settle: DelayRange,
    /// From settlement to return (`0003`).
    pub return_after: DelayRange,
    /// From settlement to the false refusal (`0008`).
    pub contradict_after: DelayRange,
    /// From settlement to its report if the answer was withheld (`0006`).
    pub withheld_notice: DelayRange,
    /// From a recall to the decision about it (`0014`).
    pub decides_after: Span,
    /// Rails that do not recognise a repeated EndToEndId, and thus pay twice.
    pub without_duplicate_detection: BTreeSet<Box<str>>,
    /// Whether the bank produces statements of its accounts (camt.053).
    pub statements: bool,
    /// Faults in addition to those that an account selects.
    pub faults: Faults,
}

impl Default for Behaviour {
    /// The sandbox's times (`decisions.md`, "Sandbox values"): settles in < 3 s, returns in < 10 s.
    fn default() -> Behaviour {
        Behaviour {
            seed: 0,
            settle: DelayRange::millis(1_000, 2_000),
            return_after: DelayRange::millis(3_000, 6_000),
            contradict_after: DelayRange::millis(2_000, 4_000),
            withheld_notice: DelayRange::millis(20_000, 25_000),
            decides_after: Span::secs(5),
            without_duplicate_detection: BTreeSet::new(),
            statements: false,
            faults: Faults::NONE,
        }
    }
}

impl Behaviour {
    /// All events happen at once.
    pub fn instant() -> Behaviour {
        Behaviour {
            settle: DelayRange::NONE,
            return_after: DelayRange::NONE,
            contradict_after: DelayRange::NONE,
            withheld_notice: DelayRange::NONE,
            decides_after: Span(0),
            ..Behaviour::default()
        }
    }

    /// Whether `rail` recognises a repeated EndToEndId.
    pub fn detects_duplicates(&self, rail: &str) -> bool {
        !self.without_duplicate_detection.contains(rail)
    }

    /// Whether the answer with this number is lost.
    pub(super) fn drops_answer(&self, number: u64) -> bool {
        chance(self.faults.drop_answer_per_mille, mix(self.seed ^ mix(number ^ 0xA115)))
    }

    /// Outcome of an order accepted at `now`.
    pub(super) fn fate(&self, instruction: &InstructionView, now: Timestamp) -> Fate {
        let draw =
            |salt: u64| mix(self.seed ^ hash(instruction.end_to_end_id.as_bytes()) ^ mix(salt));
        let ending = Ending::of(&instruction.account);
        let settled = now + self.settle.pick(draw(1));
        let mut plan = Vec::new();
        let mut then = |at, what| plan.push(Step { at, what });
        match ending {
            Ending::Rejected | Ending::Unknown | Ending::Stuck => {}
            Ending::Failed => then(settled, Happening::Fail),
            Ending::Withheld => {
                then(settled, Happening::SettleSilently);
                then(settled + self.withheld_notice.pick(draw(2)), Happening::Notify);
            }
            // A contradiction needs the report that it contradicts.
            _ if ending != Ending::Contradicted
                && chance(self.faults.late_report_per_mille, draw(3)) =>
            {
                then(settled, Happening::SettleSilently);
                then(settled + self.faults.late_report_delay.pick(draw(4)), Happening::Notify);
            }
            _ => then(settled, Happening::Settle),
        }
        match ending {
            Ending::Returned => then(settled + self.return_after.pick(draw(5)), Happening::Return),
            Ending::Contradicted => {
                then(settled + self.contradict_after.pick(draw(6)), Happening::Contradict)
            }
            _ => {}
        }
        plan.sort_by_key(|step| step.at);
        Fate {
            status: match ending {
                Ending::Rejected => TxStatus::Rejected,
                Ending::Unknown => TxStatus::Unknown,
                _ => TxStatus::Accepted,
            },
            plan,
            reported_twice: ending == Ending::Doubled
                || chance(self.faults.duplicate_report_per_mille, draw(7)),
            withheld: ending == Ending::Withheld,
        }
    }
}

/// Outcome of an order.
pub(super) struct Fate {
    pub status: TxStatus,
    pub plan: Vec<Step>,
    pub reported_twice: bool,
    /// Whether the answer to the message omits it.
    pub withheld: bool,
}

/// The endings of `decisions.md`, "Sandbox values", by the last four characters of the creditor's account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Success,
    Failed,
    Rejected,
    Returned,
    Unknown,
    Stuck,
    Withheld,
    Doubled,
    Contradicted,
}

impl Ending {
    fn of(account: &str) -> Ending {
        let bytes = account.as_bytes();
        match &bytes[bytes.len().saturating_sub(4)..] {
            b"0001" => Ending::Failed,
            b"0002" => Ending::Rejected,
            b"0003" => Ending::Returned,
            b"0004" => Ending::Unknown,
            b"0005" => Ending::Stuck,
            b"0006" => Ending::Withheld,
            b"0007" => Ending::Doubled,
            b"0008" => Ending::Contradicted,
            _ => Ending::Success,
        }
    }
}

fn chance(per_mille: u32, draw: u64) -> bool {
    draw % 1_000 < u64::from(per_mille)
}

/// FNV-1a: stable across runs and releases, unlike the standard library's hashers.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |state, byte| {
        (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The finaliser of SplitMix64.
pub(crate) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
