//! Which of our attempts a bank's report is about. The one place that decides it: for status reports, notices of bookings,
//! returns and statements, whether they answer a message or come later.
//!
//! Any id of ours is enough, unless another id of ours contradicts it. Banks cut ids to 16 or 35 characters, change their
//! case, and put ids of their own into places of ours: an id that is none of ours says nothing.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use crate::attempt::{Attempt, AttemptState};
use crate::ids::{AttemptId, PaymentId, TenantId};
use crate::money::Money;

#[cfg(test)]
mod tests;

/// What stands for a missing id in ISO 20022.
const NOT_PROVIDED: &str = "NOTPROVIDED";
/// Fewest characters to which banks cut ids.
const CUT_MIN_CHARS: usize = 16;
/// Hexadecimal digits by which an id is looked up: a UETR of 16 characters has that many beside its hyphens.
const HEAD_DIGITS: usize = 14;

/// The ids of a report, as the bank wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportIds {
    /// `OrgnlUETR`, `Refs/UETR`.
    pub uetr: Option<String>,
    /// `OrgnlInstrId`, `Refs/InstrId`.
    pub instruction: Option<String>,
    /// `OrgnlEndToEndId`, `Refs/EndToEndId`.
    pub end_to_end: Option<String>,
    /// `OrgnlMsgId`, `Refs/MsgId`: the message that carried the instruction.
    pub message: Option<String>,
    /// `OrgnlPmtInfId`, `Refs/PmtInfId`: its block of that message. Our messages have one block, of the message's id.
    pub block: Option<String>,
    /// `AcctSvcrRef`: the bank's own reference, which an earlier report may have told.
    pub reference: Option<String>,
    /// Where the transaction stands among those that the report lists of the message, from 1, and how many there are.
    pub place: Option<(usize, usize)>,
}

/// How an attempt was sent: in which message, and where there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentIn {
    /// The message's id.
    pub message: String,
    /// Its place in the message, from 1.
    pub position: usize,
}

/// An attempt that a report may be about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Whose.
    pub tenant: TenantId,
    /// What it pays.
    pub payment: PaymentId,
    /// Its id.
    pub attempt: AttemptId,
    /// 1 for the payment's first.
    pub number: i32,
    /// Where it is.
    pub state: AttemptState,
    /// What was to be paid out.
    pub amount: Money,
    /// The bank's reference, where one is known.
    pub reference: Option<String>,
    /// The messages that carried it: more than one where it was sent again.
    pub sent: Vec<SentIn>,
}

impl Candidate {
    /// The candidate that an attempt is, without its messages.
    pub fn of(attempt: &Attempt) -> Candidate {
        Candidate {
            tenant: attempt.tenant,
            payment: attempt.payment,
            attempt: attempt.id,
            number: attempt.number,
            state: attempt.state,
            amount: attempt.amount,
            reference: attempt.bank_reference.clone(),
            sent: Vec::new(),
        }
    }

    fn place_in(&self, message: &str) -> Option<usize> {
        self.sent.iter().find(|sent| is_same(message, &sent.message)).map(|sent| sent.position)
    }
}

/// Why a report is about no attempt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unmatched {
    /// None of its ids is one of ours.
    #[error("none of its ids is of a pay-out of ours over this rail")]
    Nothing,
    /// Its ids name several attempts.
    #[error("its ids name different pay-outs of ours")]
    Contradiction,
    /// It names a message of several transactions and not which of them.
    #[error("it names a message of {0} pay-outs of ours, and not which of them")]
    Ambiguous(usize),
    /// A booking of a whole message is not the sum of its transactions.
    #[error("{booked} is booked for a message of ours over {ours}")]
    Sum {
        /// What is booked.
        booked: Money,
        /// What the message's transactions add up to.
        ours: Money,
    },
}

/// An id without what banks change of it: its case, hyphens and blanks around it.
fn plain(id: &str) -> String {
    id.trim().chars().filter(|c| *c != '-').map(|c| c.to_ascii_lowercase()).collect()
}

/// Whether an id of a report is `ours`, whole or cut.
fn is_same(given: &str, ours: &str) -> bool {
    let (given_plain, ours) = (plain(given), plain(ours));
    given_plain == ours || (given.trim().chars().count() >= CUT_MIN_CHARS && ours.starts_with(&given_plain))
}

/// The number by which an id of ours is looked up, of an id that may be cut; `None` for one that cannot be ours.
pub fn head(id: &str) -> Option<i64> {
    let plain = plain(id);
    let digits = plain.get(..HEAD_DIGITS).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    i64::from_str_radix(digits, 16).ok()
}

/// The UUID that an id is, where it is a whole one.
pub fn whole(id: &str) -> Option<Uuid> {
    Uuid::try_parse(&plain(id)).ok()
}

fn provided(id: Option<&String>) -> Option<&str> {
    id.map(|id| id.trim()).filter(|id| !id.is_empty() && !id.eq_ignore_ascii_case(NOT_PROVIDED))
}

impl ReportIds {
    /// The ids that a report names an attempt of ours by, and no other.
    pub fn of_attempt(attempt: AttemptId) -> ReportIds {
        ReportIds { uetr: Some(attempt.to_string()), ..ReportIds::default() }
    }

    /// The ids that may be an attempt's or a payment's.
    pub fn strong(&self) -> impl Iterator<Item = &str> {
        [&self.uetr, &self.instruction, &self.end_to_end].into_iter().filter_map(|id| provided(id.as_ref()))
    }

    /// The message that it is about, or the block: each of our messages has one block, of its own id.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        [&self.message, &self.block].into_iter().filter_map(|id| provided(id.as_ref()))
    }

    /// The bank's reference.
    pub fn reference(&self) -> Option<&str> {
        provided(self.reference.as_ref())
    }

    /// Whether any of its ids may be one of ours.
    pub fn may_be_ours(&self) -> bool {
        self.strong().chain(self.messages()).any(|id| head(id).is_some())
    }

    /// The ids in words, for a person.
    pub fn told(&self) -> String {
        let named = [
            ("UETR", &self.uetr),
            ("InstrId", &self.instruction),
            ("EndToEndId", &self.end_to_end),
            ("MsgId", &self.message),
            ("PmtInfId", &self.block),
            ("AcctSvcrRef", &self.reference),
        ];
        let given: Vec<String> = named
            .into_iter()
            .filter_map(|(name, id)| provided(id.as_ref()).map(|id| format!("{name} {}", shown(id))))
            .collect();
        if given.is_empty() { "without any id".to_owned() } else { given.join(", ") }
    }
}

/// A bank's id as people read it: bounded, and without control characters.
fn shown(id: &str) -> String {
    id.chars().take(48).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The attempts that the ids of some reports lead to.
#[derive(Debug, Default)]
pub struct Candidates {
    all: Vec<Candidate>,
    /// By the heads of InstrId, EndToEndId and MsgId.
    heads: BTreeMap<i64, Vec<usize>>,
    references: BTreeMap<String, Vec<usize>>,
}

impl Candidates {
    /// Each attempt once, of one rail.
    pub fn new(all: Vec<Candidate>) -> Candidates {
        let mut heads: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
        let mut references: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, it) in all.iter().enumerate() {
            let own = [it.attempt.instruction_id(), it.payment.end_to_end_id()];
            let messages = it.sent.iter().map(|sent| sent.message.clone());
            let named: BTreeSet<i64> = own.into_iter().chain(messages).filter_map(|id| head(&id)).collect();
            for head in named {
                heads.entry(head).or_default().push(at);
            }
            if let Some(reference) = &it.reference {
                references.entry(plain(reference)).or_default().push(at);
            }
        }
        Candidates { all, heads, references }
    }

    /// The attempts that fit, of those that an id leads to.
    fn fitting(&self, id: &str, fits: impl Fn(&Candidate) -> bool) -> BTreeSet<usize> {
        let found = head(id).and_then(|head| self.heads.get(&head));
        found.into_iter().flatten().copied().filter(|at| self.all.get(*at).is_some_and(&fits)).collect()
    }

    /// The attempts that one id of a transaction names: the attempt of that id, else all attempts of that payment.
    fn named(&self, id: &str, is_end_to_end: bool) -> BTreeSet<usize> {
        let of_attempt = self.fitting(id, |it| is_same(id, &it.attempt.instruction_id()));
        let of_payment = || self.fitting(id, |it| is_same(id, &it.payment.end_to_end_id()));
        if is_end_to_end || of_attempt.is_empty() { of_payment() } else { of_attempt }
    }

    fn members(&self, message: &str) -> BTreeSet<usize> {
        self.fitting(message, |it| it.place_in(message).is_some())
    }

    /// The attempt that a report over `amount` is about.
    ///
    /// # Errors
    /// Its ids are none of ours, contradict each other, or leave open which it is.
    pub fn find(&self, ids: &ReportIds, amount: Option<Money>) -> Result<&Candidate, Unmatched> {
        let end_to_end = provided(ids.end_to_end.as_ref());
        let other = [&ids.uetr, &ids.instruction].into_iter().filter_map(|id| provided(id.as_ref()));
        let named = other.map(|id| self.named(id, false)).chain(end_to_end.map(|id| self.named(id, true)));
        let mut sets = named.filter(|set| !set.is_empty());
        let Some(first) = sets.next() else { return self.by_message(ids, amount) };
        let mut left = sets.fold(first, |left, set| left.intersection(&set).copied().collect());
        for message in ids.messages() {
            let members = self.members(message);
            if !members.is_empty() {
                left.retain(|at| members.contains(at));
            }
        }
        self.newest(&left).ok_or(Unmatched::Contradiction)
    }

    /// Of several attempts of one payment the one that may have paid, else the newest.
    fn newest(&self, left: &BTreeSet<usize>) -> Option<&Candidate> {
        let left = left.iter().filter_map(|at| self.all.get(*at));
        left.max_by_key(|it| (!it.state.is_refused(), it.number))
    }

    /// A transaction that the bank names by its message alone, or by its own reference.
    fn by_message(&self, ids: &ReportIds, amount: Option<Money>) -> Result<&Candidate, Unmatched> {
        // Banks put numbers of their own into InstrId; an EndToEndId is the customer's, so that this one is another's.
        let is_anothers = provided(ids.end_to_end.as_ref()).is_some();
        for message in ids.messages().filter(|_| !is_anothers) {
            let members = self.members(message);
            let mut fitting = members.iter().filter_map(|at| self.all.get(*at));
            if let ([_], Some(only)) = (members.iter().collect::<Vec<_>>().as_slice(), fitting.next()) {
                return Ok(only);
            }
            if members.is_empty() {
                continue;
            }
            let Some((place, of)) = ids.place.filter(|(_, of)| *of == members.len()) else {
                return Err(Unmatched::Ambiguous(members.len()));
            };
            // A place alone is a weak id: the amount has to say the same.
            let mut fitting = members.iter().filter_map(|at| self.all.get(*at));
            let there = fitting.find(|it| it.place_in(message) == Some(place));
            return there.filter(|it| amount == Some(it.amount)).ok_or(Unmatched::Ambiguous(of));
        }
        let told = ids.reference().filter(|_| !is_anothers).and_then(|id| self.references.get(&plain(id)));
        match told.map(Vec::as_slice) {
            Some([only]) => self.all.get(*only).ok_or(Unmatched::Nothing),
            Some(several) => Err(Unmatched::Ambiguous(several.len())),
            None => Err(Unmatched::Nothing),
        }
    }

    /// The attempts of a whole message or block of ours, without those that are `listed` by themselves.
    ///
    /// # Errors
    /// The message is none of ours.
    pub fn rest_of(&self, ids: &ReportIds, listed: &[ReportIds]) -> Result<Vec<&Candidate>, Unmatched> {
        let members = ids.messages().map(|message| self.members(message)).filter(|set| !set.is_empty());
        let members = members.reduce(|left, set| left.intersection(&set).copied().collect());
        let mut members = members.ok_or(Unmatched::Nothing)?;
        if members.is_empty() {
            return Err(Unmatched::Contradiction);
        }
        let listed: BTreeSet<AttemptId> =
            listed.iter().filter_map(|ids| self.find(ids, None).ok()).map(|it| it.attempt).collect();
        members.retain(|at| self.all.get(*at).is_some_and(|it| !listed.contains(&it.attempt)));
        Ok(members.iter().filter_map(|at| self.all.get(*at)).collect())
    }

    /// The attempts that one booking of a whole message or block paid: all, or all that were not refused.
    ///
    /// # Errors
    /// The message is none of ours, or the booking is not their sum.
    pub fn booked(&self, ids: &ReportIds, booked: Money, count: Option<usize>) -> Result<Vec<&Candidate>, Unmatched> {
        let all = self.rest_of(ids, &[])?;
        let is_open = |it: &&Candidate| !matches!(it.state, AttemptState::Refused | AttemptState::Failed);
        let open: Vec<&Candidate> = all.iter().copied().filter(is_open).collect();
        let is_it = |some: &[&Candidate]| sum(some) == Some(booked) && count.is_none_or(|count| count == some.len());
        match (is_it(&all), is_it(&open)) {
            (true, _) => Ok(all),
            (_, true) => Ok(open),
            _ => Err(Unmatched::Sum { booked, ours: sum(&all).unwrap_or(Money::new(0, booked.currency)) }),
        }
    }
}

/// What attempts of one currency add up to.
fn sum(some: &[&Candidate]) -> Option<Money> {
    let (first, rest) = some.split_first()?;
    rest.iter().try_fold(first.amount, |sum, it| {
        let minor = sum.minor.checked_add(it.amount.minor)?;
        (it.amount.currency == sum.currency).then_some(Money::new(minor, sum.currency))
    })
}
