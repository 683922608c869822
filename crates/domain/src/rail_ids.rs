//! Matches a bank's report to our attempts. The only place that decides this for status reports,
//! booking notices, returns and statements, whether they answer a message or arrive later.
//!
//! Any of our ids is sufficient, unless another of our ids contradicts it. Banks truncate ids to 16
//! or 35 characters, change their case, and put their own ids into our fields: an unknown id has no
//! meaning.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use crate::attempt::{Attempt, AttemptState};
use crate::characters::one_line;
use crate::currency::Currency;
use crate::ids::{AttemptId, PaymentId, TenantId};
use crate::money::Money;
use crate::rail::Totals;

#[cfg(test)]
mod tests;

/// Letters of the placeholders that banks write for a missing id.
const PLACEHOLDERS: [&str; 9] = [
    "NOTPROVIDED",
    "NONREF",
    "NOREF",
    "NOREFERENCE",
    "NONE",
    "NA",
    "NOTAVAILABLE",
    "UNKNOWN",
    "NULL",
];
/// Shortest truncation of ids by banks, in characters.
const CUT_MIN_CHARS: usize = 16;
/// Hexadecimal digits of a UUID.
const ID_DIGITS: usize = 32;
/// Hexadecimal digits used to look up an id: a UETR of 16 characters has that many without its
/// hyphens.
const HEAD_DIGITS: usize = 14;

/// The ids of a report, as the bank wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportIds {
    /// `OrgnlUETR`, `Refs/UETR`: our attempt's UUID, unless the bank changed it.
    pub uetr: Option<String>,
    /// `OrgnlInstrId`, `Refs/InstrId`: our attempt's UUID without hyphens, unless changed.
    pub instruction: Option<String>,
    /// `OrgnlEndToEndId`, `Refs/EndToEndId`: our payment's UUID without hyphens, unless changed.
    pub end_to_end: Option<String>,
    /// `OrgnlMsgId`, `Refs/MsgId`: the message that carried the instruction.
    pub message: Option<String>,
    /// `OrgnlPmtInfId`, `Refs/PmtInfId`: its block of that message. Our messages have one block,
    /// with the message's id.
    pub block: Option<String>,
    /// `AcctSvcrRef`: the bank's own reference, which an earlier report may have contained.
    pub reference: Option<String>,
    /// Position of the transaction among those that the report lists for the message, from 1, and
    /// their number.
    pub place: Option<(usize, usize)>,
    /// Whether its ids may as well be another party's numbers: a report that matches none of our
    /// payouts is not about them then.
    pub may_be_anothers: bool,
}

/// Transmission of an attempt: the message, and the position in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentIn {
    /// Id of the message.
    pub message: String,
    /// Position in the message, from 1.
    pub position: usize,
}

/// A transaction that a report on a whole message lists individually.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Ids that the report gives it.
    pub ids: ReportIds,
    /// Its amount, without which a position is not an id.
    pub amount: Option<Money>,
    /// Whether the status of the rest does it no harm: it has the same, or that one ends nothing.
    pub may_be_rest: bool,
}

/// An attempt that a report may be about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Tenant of the attempt.
    pub tenant: TenantId,
    /// Payment that it pays out; for an exchange order, the order's UUID.
    pub payment: PaymentId,
    /// Id of the attempt.
    pub attempt: AttemptId,
    /// Sequence number within the payment, from 1.
    pub number: i32,
    /// State in our books, before the report is applied.
    pub state: AttemptState,
    /// Amount to pay out.
    pub amount: Money,
    /// The bank's reference, if known.
    pub reference: Option<String>,
    /// The messages that carried it; several if it was sent again.
    pub sent: Vec<SentIn>,
    /// Ids of the messages that recall it.
    pub recalls: Vec<String>,
}

impl Candidate {
    /// Converts an attempt, without its messages.
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
            recalls: Vec::new(),
        }
    }

    /// Whether a report names one of its recalls, as the original message or in place of the payment.
    pub fn is_recalled_by(&self, ids: &ReportIds) -> bool {
        ids.strong().chain(ids.messages()).any(|id| self.is_recall(id))
    }

    fn is_recall(&self, id: &str) -> bool {
        self.recalls.iter().any(|recall| is_same(id, recall))
    }

    fn place_in(&self, message: &str) -> Option<usize> {
        self.sent.iter().find(|sent| is_same(message, &sent.message)).map(|sent| sent.position)
    }
}

/// Reason why a report matches no attempt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unmatched {
    /// None of its ids is ours.
    #[error("none of its ids belongs to a payout over this rail")]
    Nothing,
    /// Its ids name several attempts.
    #[error("its ids name different payouts")]
    Contradiction,
    /// It names a message of several transactions, but not which of them.
    #[error("it names a message of {0} payouts, but not which of them")]
    Ambiguous(usize),
    /// It reports on the rest of a message, and which transactions are the rest is not known.
    #[error("it lists a transaction with another status, but not which of our payouts it is")]
    Listed,
    /// It reports on the rest of a message, and lists all of our payouts in it with another status.
    #[error("it lists all payouts of the message, and with another status")]
    Excluded,
    /// The bank states another number or sum of a whole message's transactions: it did not receive what
    /// was sent.
    #[error("it states {stated} for our message of {ours}")]
    Whole {
        /// What the bank states.
        stated: String,
        /// The same of our message.
        ours: String,
    },
    /// The booking of a whole message differs from the sum of its transactions.
    #[error("{booked} is booked for a message totalling {ours}{}", counts(*count))]
    Sum {
        /// Sum that the bank booked for the whole message.
        booked: Money,
        /// Sum of the message's transactions.
        ours: Money,
        /// The bank's number of transactions and the message's, if they differ.
        count: Option<(usize, usize)>,
    },
}

fn counts(count: Option<(usize, usize)>) -> String {
    count.map_or_else(String::new, |(stated, ours)| {
        format!(", as {stated} transactions of its {ours}")
    })
}

/// An id normalised against banks' changes: case, hyphens and surrounding spaces.
fn plain(id: &str) -> String {
    id.trim().chars().filter(|c| *c != '-').map(|c| c.to_ascii_lowercase()).collect()
}

/// Whether an id of a report equals `ours`, possibly truncated.
pub fn is_same(given: &str, ours: &str) -> bool {
    let (given_plain, ours) = (plain(given), plain(ours));
    given_plain == ours
        || (given.trim().chars().count() >= CUT_MIN_CHARS && ours.starts_with(&given_plain))
}

/// Lookup key of a possibly truncated id; `None` if it cannot be ours.
pub fn head(id: &str) -> Option<i64> {
    let plain = plain(id);
    let digits = plain
        .get(..HEAD_DIGITS)
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    i64::from_str_radix(digits, 16).ok()
}

/// Whether an id has the form of our ids, possibly truncated. Banks' own are often long numbers.
pub fn looks_like_ours(id: &str) -> bool {
    let is_hexadecimal =
        || plain(id).bytes().take(ID_DIGITS).any(|byte| matches!(byte, b'a'..=b'f'));
    whole(id).is_some() || (head(id).is_some() && is_hexadecimal())
}

/// The UUID of a complete id.
pub fn whole(id: &str) -> Option<Uuid> {
    Uuid::try_parse(&plain(id)).ok()
}

fn provided(id: Option<&String>) -> Option<&str> {
    id.map(|id| id.trim()).filter(|id| !is_placeholder(id))
}

/// Whether a text stands for a missing id: `NOTPROVIDED`, `NONREF`, `N/A`, or nothing but zeros and
/// punctuation.
pub fn is_placeholder(id: &str) -> bool {
    let signs = || id.chars().filter(|sign| sign.is_alphanumeric());
    let letters: String = signs().take(32).map(|sign| sign.to_ascii_uppercase()).collect();
    signs().all(|sign| sign == '0') || PLACEHOLDERS.contains(&letters.as_str())
}

/// A bank's reference for lookups: its punctuation tells it from others.
fn reference_key(reference: &str) -> String {
    reference.trim().to_ascii_lowercase()
}

impl ReportIds {
    /// The ids that name exactly this attempt.
    pub fn of_attempt(attempt: AttemptId) -> ReportIds {
        ReportIds { uetr: Some(attempt.to_string()), ..ReportIds::default() }
    }

    /// The ids that may be an attempt's or a payment's.
    pub fn strong(&self) -> impl Iterator<Item = &str> {
        [&self.uetr, &self.instruction, &self.end_to_end]
            .into_iter()
            .filter_map(|id| provided(id.as_ref()))
    }

    /// The message or the block that it is about: each of our messages has one block, with the same
    /// id.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        [&self.message, &self.block].into_iter().filter_map(|id| provided(id.as_ref()))
    }

    /// The bank's own reference; `None` if it is blank or `NOTPROVIDED`.
    pub fn reference(&self) -> Option<&str> {
        provided(self.reference.as_ref())
    }

    /// Whether any of its ids looks like ours.
    pub fn may_be_ours(&self) -> bool {
        self.strong().chain(self.messages()).any(looks_like_ours)
    }

    /// The ids as text for display.
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
            .filter_map(|(name, id)| {
                provided(id.as_ref()).map(|id| format!("{name} {}", shown(id)))
            })
            .collect();
        if given.is_empty() { "without any id".to_owned() } else { given.join(", ") }
    }
}

/// A bank's id for display.
fn shown(id: &str) -> String {
    one_line(id, 48)
}

/// The attempts that the ids of some reports lead to.
#[derive(Debug, Default)]
pub struct Candidates {
    all: Vec<Candidate>,
    /// By the lookup keys of InstrId, EndToEndId and MsgId, and of the recalls' messages.
    heads: BTreeMap<i64, Vec<usize>>,
    references: BTreeMap<String, Vec<usize>>,
}

impl Candidates {
    /// Distinct attempts of one rail.
    pub fn new(all: Vec<Candidate>) -> Candidates {
        let mut heads: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
        let mut references: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, it) in all.iter().enumerate() {
            let own = [it.attempt.instruction_id(), it.payment.end_to_end_id()];
            let messages = it.sent.iter().map(|sent| sent.message.clone());
            let recalls = it.recalls.iter().cloned();
            let named: BTreeSet<i64> =
                own.into_iter().chain(messages).chain(recalls).filter_map(|id| head(&id)).collect();
            for head in named {
                heads.entry(head).or_default().push(at);
            }
            if let Some(reference) = &it.reference {
                references.entry(reference_key(reference)).or_default().push(at);
            }
        }
        Candidates { all, heads, references }
    }

    /// The currency of all of them.
    pub(crate) fn currency(&self) -> Option<Currency> {
        let currency = self.all.first()?.amount.currency;
        self.all.iter().all(|it| it.amount.currency == currency).then_some(currency)
    }

    /// The matching attempts among those that an id leads to.
    fn fitting(&self, id: &str, fits: impl Fn(&Candidate) -> bool) -> BTreeSet<usize> {
        let found = head(id).and_then(|head| self.heads.get(&head));
        found
            .into_iter()
            .flatten()
            .copied()
            .filter(|at| self.all.get(*at).is_some_and(&fits))
            .collect()
    }

    /// The attempts that one id of a transaction names: the attempt with that id, else all attempts
    /// of that payment.
    fn named(&self, id: &str, is_end_to_end: bool) -> BTreeSet<usize> {
        let of_attempt = self.fitting(id, |it| is_same(id, &it.attempt.instruction_id()));
        let of_payment = || self.fitting(id, |it| is_same(id, &it.payment.end_to_end_id()));
        if is_end_to_end || of_attempt.is_empty() { of_payment() } else { of_attempt }
    }

    fn members(&self, message: &str) -> BTreeSet<usize> {
        self.fitting(message, |it| it.place_in(message).is_some())
    }

    /// The attempt that a report with `amount` is about.
    ///
    /// # Errors
    /// Its ids are not ours, contradict each other, or are ambiguous.
    pub fn find(&self, ids: &ReportIds, amount: Option<Money>) -> Result<&Candidate, Unmatched> {
        let end_to_end = provided(ids.end_to_end.as_ref());
        let other =
            [&ids.uetr, &ids.instruction].into_iter().filter_map(|id| provided(id.as_ref()));
        let named =
            other.map(|id| self.named(id, false)).chain(end_to_end.map(|id| self.named(id, true)));
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

    /// The attempt that is recalled by the only one of our messages that a report names.
    ///
    /// # Errors
    /// It names none, or several.
    pub fn by_recall(&self, ids: &ReportIds) -> Result<&Candidate, Unmatched> {
        // An EndToEndId is the customer's: this one belongs to another customer.
        if provided(ids.end_to_end.as_ref()).is_some_and(|id| self.recalled_by(id).is_empty()) {
            return Err(Unmatched::Nothing);
        }
        let named: BTreeSet<usize> =
            ids.strong().chain(ids.messages()).flat_map(|id| self.recalled_by(id)).collect();
        let mut named = named.into_iter().filter_map(|at| self.all.get(at));
        match (named.next(), named.next()) {
            (Some(only), None) => Ok(only),
            (Some(_), Some(_)) => Err(Unmatched::Contradiction),
            (None, _) => Err(Unmatched::Nothing),
        }
    }

    fn recalled_by(&self, id: &str) -> BTreeSet<usize> {
        self.fitting(id, |it| it.is_recall(id))
    }

    /// The attempts that a report with `amount` is about: one, or those of a whole message, if the
    /// report names it, lists nothing else of it, and has its sum. Each with its part of the amount.
    ///
    /// # Errors
    /// As [`Candidates::find`].
    pub fn find_all(
        &self,
        ids: &ReportIds,
        amount: Option<Money>,
        charges: Option<Money>,
    ) -> Result<Vec<(&Candidate, Option<Money>)>, Unmatched> {
        let alone = ids.place.is_some_and(|(_, of)| of == 1);
        match (self.find(ids, amount), amount.filter(|_| alone)) {
            (Ok(it), _) => Ok(vec![(it, amount)]),
            // Only all of them: which of several a refused or smaller sum leaves out is a guess.
            (Err(why @ Unmatched::Ambiguous(_)), Some(booked)) => {
                let all = self.rest_of(ids, &[]).map_err(|_| why.clone())?;
                shared_out(vec![all], booked, charges, None).map_err(|_| why)
            }
            (Err(why), _) => Err(why),
        }
    }

    /// Of several attempts of one payment the one that may have paid, else the newest.
    fn newest(&self, left: &BTreeSet<usize>) -> Option<&Candidate> {
        let left = left.iter().filter_map(|at| self.all.get(*at));
        left.max_by_key(|it| (!it.state.is_refused(), it.number))
    }

    /// A transaction that the bank identifies by its message alone, or by its own reference.
    fn by_message(&self, ids: &ReportIds, amount: Option<Money>) -> Result<&Candidate, Unmatched> {
        // Banks put their own numbers into InstrId; an EndToEndId is the customer's, so this one
        // belongs to another customer.
        let is_anothers = provided(ids.end_to_end.as_ref()).is_some();
        for message in ids.messages().filter(|_| !is_anothers) {
            let members = self.members(message);
            let mut fitting = members.iter().filter_map(|at| self.all.get(*at));
            if let ([_], Some(only)) =
                (members.iter().collect::<Vec<_>>().as_slice(), fitting.next())
            {
                return Ok(only);
            }
            if members.is_empty() {
                continue;
            }
            let Some((place, of)) = ids.place.filter(|(_, of)| *of == members.len()) else {
                return Err(Unmatched::Ambiguous(members.len()));
            };
            // A position alone is a weak id: the amount has to match.
            let mut fitting = members.iter().filter_map(|at| self.all.get(*at));
            let there = fitting.find(|it| it.place_in(message) == Some(place));
            return there.filter(|it| amount == Some(it.amount)).ok_or(Unmatched::Ambiguous(of));
        }
        let told = ids
            .reference()
            .filter(|_| !is_anothers)
            .and_then(|id| self.references.get(&reference_key(id)));
        match told.map(Vec::as_slice) {
            Some([only]) => self.all.get(*only).ok_or(Unmatched::Nothing),
            Some(several) => Err(Unmatched::Ambiguous(several.len())),
            None => Err(Unmatched::Nothing),
        }
    }

    /// The attempts of our whole message or block, without those that are `listed` individually.
    ///
    /// # Errors
    /// The message is not ours, or a listed transaction that must not get the status of the rest is
    /// not identified.
    pub fn rest_of(
        &self,
        ids: &ReportIds,
        listed: &[Listed],
    ) -> Result<Vec<&Candidate>, Unmatched> {
        let members =
            ids.messages().map(|message| self.members(message)).filter(|set| !set.is_empty());
        let members = members.reduce(|left, set| left.intersection(&set).copied().collect());
        let mut members = members.ok_or(Unmatched::Nothing)?;
        if members.is_empty() {
            return Err(Unmatched::Contradiction);
        }
        let mut found = BTreeSet::new();
        for one in listed {
            match self.find(&one.ids, one.amount) {
                Ok(it) => drop(found.insert(it.attempt)),
                Err(_) if one.may_be_rest || self.is_elsewhere(&one.ids) => {}
                Err(_) => return Err(Unmatched::Listed),
            }
        }
        members.retain(|at| self.all.get(*at).is_some_and(|it| !found.contains(&it.attempt)));
        Ok(members.iter().filter_map(|at| self.all.get(*at)).collect())
    }

    /// Compares what a bank states about our whole message or block with it.
    ///
    /// # Errors
    /// The message is not ours, or it has another number or sum of transactions.
    pub fn check_whole(&self, ids: &ReportIds, stated: Totals) -> Result<(), Unmatched> {
        let all = self.rest_of(ids, &[])?;
        let differs = |stated, ours| Err(Unmatched::Whole { stated, ours });
        if let Some(count) = stated.count.filter(|count| *count != all.len()) {
            return differs(format!("{count} transactions"), all.len().to_string());
        }
        match (stated.sum, sum(&all)) {
            (Some(stated), Some(ours)) if Money::exact(stated, ours.currency) != Some(ours) => {
                differs(format!("a sum of {stated}"), ours.to_string())
            }
            _ => Ok(()),
        }
    }

    /// Whether a transaction names a message, and it is not ours.
    fn is_elsewhere(&self, ids: &ReportIds) -> bool {
        let mut messages = ids.messages().peekable();
        messages.peek().is_some() && messages.all(|message| self.members(message).is_empty())
    }

    /// The attempts paid by one booking of a whole message or block: all, or all that were not
    /// refused. Each with its part of the amount; `charges` that explain the difference from the sum
    /// belong to the largest one's.
    ///
    /// # Errors
    /// The message is not ours, or the booking is not their sum.
    pub fn booked(
        &self,
        ids: &ReportIds,
        booked: Money,
        charges: Option<Money>,
        count: Option<usize>,
    ) -> Result<Vec<(&Candidate, Option<Money>)>, Unmatched> {
        let all = self.rest_of(ids, &[])?;
        let is_open =
            |it: &&Candidate| !matches!(it.state, AttemptState::Refused | AttemptState::Failed);
        let open: Vec<&Candidate> = all.iter().copied().filter(is_open).collect();
        let sets = if open.len() == all.len() { vec![all] } else { vec![all, open] };
        shared_out(sets, booked, charges, count)
    }
}

/// The set of attempts that a sum pays, each with its part of it. `charges` that explain the
/// difference belong to the largest one, which has to leave something of it; if they explain it for
/// several sets, none is meant for certain.
fn shared_out<'a>(
    sets: Vec<Vec<&'a Candidate>>,
    booked: Money,
    charges: Option<Money>,
    count: Option<usize>,
) -> Result<Vec<(&'a Candidate, Option<Money>)>, Unmatched> {
    let all = sets.first().map_or(&[][..], Vec::as_slice);
    let no_set = Unmatched::Sum {
        booked,
        ours: sum(all).unwrap_or(Money::new(0, booked.currency)),
        count: count.filter(|count| *count != all.len()).map(|count| (count, all.len())),
    };
    let charges = charges.filter(|it| it.currency == booked.currency).map(|it| it.minor);
    let gap = |some: &[&Candidate]| {
        let ours = sum(some).filter(|ours| ours.currency == booked.currency)?;
        let gap = booked.minor.checked_sub(ours.minor)?;
        count.is_none_or(|count| count == some.len()).then_some(gap)
    };
    let explained = |gap: i64| charges.is_some_and(|it| gap.unsigned_abs() == it.unsigned_abs());
    let mut fitting: Vec<_> = sets
        .into_iter()
        .filter_map(|some| gap(&some).map(|gap| (gap, some)))
        .filter(|(gap, _)| *gap == 0 || explained(*gap))
        .collect();
    fitting.sort_by_key(|(gap, _)| *gap != 0);
    let several = fitting.len() > 1;
    let Some((gap, paid)) = fitting.into_iter().next().filter(|(gap, _)| *gap == 0 || !several)
    else {
        return Err(no_set);
    };
    let bearer = paid.iter().enumerate().max_by_key(|(_, it)| it.amount.minor);
    let bearer = bearer.map_or(0, |(at, _)| at);
    let share = |(at, it): (usize, &'a Candidate)| {
        let own = if at == bearer { gap } else { 0 };
        let minor = it.amount.minor.checked_add(own).filter(|minor| *minor >= 0)?;
        Some((it, Some(Money::new(minor, booked.currency))))
    };
    paid.into_iter().enumerate().map(share).collect::<Option<Vec<_>>>().ok_or(no_set)
}

/// Sum of attempts in one currency.
fn sum(some: &[&Candidate]) -> Option<Money> {
    let (first, rest) = some.split_first()?;
    rest.iter().try_fold(first.amount, |sum, it| {
        let minor = sum.minor.checked_add(it.amount.minor)?;
        (it.amount.currency == sum.currency).then_some(Money::new(minor, sum.currency))
    })
}
