//! How banks speak of what they do. The bank's book is the same in all dialects; what crosses the port `Rail` differs.
//!
//! Only what crosses that port can be played: which ids a report names, whether it is of a message or of a transaction,
//! which reasons it gives. Namespaces and versions of messages, encodings, where amounts stand, names of files and
//! envelopes are gone by then: they are tested at the adapters. An answer to an instruction or to an inquiry has been
//! matched by the adapter, so that a bank that names nothing but EndToEndIds shows in reports alone.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use domain::ids::{AttemptId, PaymentId};
use domain::money::Money;
use domain::rail::{
    About, BankReport, Inquiry, Instruction, RailId, RailReport, RailStatus, ReportContent,
    Submission, Totals,
};
use domain::rail_ids::{Listed, ReportIds};
use domain::time::Timestamp;
use uuid::Uuid;

use crate::faults::Dialect;
use crate::random::{FNV_OFFSET, FNV_PRIME};

/// ISO 20022 external reason code: duplication.
const DUPLICATION: &str = "AM05";

/// Who knows how orders stand.
pub trait Standings {
    /// How one stands; [`RailStatus::Returned`] for what was paid and came back.
    fn status(&self, rail: &RailId, inquiry: &Inquiry) -> Option<RailStatus>;
}

/// An order that came in a message.
#[derive(Clone, Debug)]
struct Sent {
    rail: RailId,
    payment: PaymentId,
    attempt: AttemptId,
    created_at: Timestamp,
    amount: Money,
    /// The message that it came in first.
    message: Option<String>,
}

impl Sent {
    fn status(&self, standings: &impl Standings) -> Option<RailStatus> {
        let inquiry = Inquiry {
            payment: self.payment,
            attempt: self.attempt,
            created_at: self.created_at,
            recalls: Vec::new(),
        };
        standings.status(&self.rail, &inquiry)
    }

    fn ids(&self) -> ReportIds {
        ReportIds {
            end_to_end: Some(self.payment.end_to_end_id()),
            ..ReportIds::of_attempt(self.attempt)
        }
    }
}

/// What the bank remembers of messages.
#[derive(Debug, Default)]
pub struct Desk {
    orders: BTreeMap<AttemptId, Sent>,
    /// The orders that came first in each message.
    messages: BTreeMap<String, Vec<AttemptId>>,
}

impl Desk {
    /// Notes an order; whether it was known already.
    pub fn note(&mut self, message: Option<&str>, order: &Instruction) -> bool {
        if self.orders.contains_key(&order.attempt) {
            return true;
        }
        let sent = Sent {
            rail: order.rail.clone(),
            payment: order.payment,
            attempt: order.attempt,
            created_at: order.created_at,
            amount: order.amount,
            message: message.map(str::to_owned),
        };
        self.orders.insert(order.attempt, sent);
        if let Some(message) = message {
            self.messages.entry(message.to_owned()).or_default().push(order.attempt);
        }
        false
    }

    /// The refusal of a repetition.
    pub fn duplicate(attempt: AttemptId) -> RailReport {
        RailReport {
            attempt,
            status: RailStatus::Rejected,
            reason: Some(DUPLICATION.to_owned()),
            further_reasons: Vec::new(),
            info: Some("duplicate message".to_owned()),
            bank_reference: None,
            return_id: None,
            amount: None,
            charges: None,
            source: "pain.002".to_owned(),
        }
    }

    /// Answers to a message where the bank gives one status for all: `PART` says nothing of any single order.
    pub fn as_group(answers: Vec<Submission>) -> Vec<Submission> {
        let status = |answer: &Submission| match answer {
            Submission::Reported(report) => Some(report.status.clone()),
            _ => None,
        };
        let first = answers.first().and_then(status);
        let is_one = first.is_some() && answers.iter().all(|answer| status(answer) == first);
        let of_group = |answer| match answer {
            Submission::Reported(report) if is_one => {
                Submission::Reported(RailReport { amount: None, ..report })
            }
            Submission::Reported(_) => Submission::Taken,
            other => other,
        };
        answers.into_iter().map(of_group).collect()
    }

    /// What a report about one order is in a dialect: other words, more than one report, or none.
    pub fn speak(
        &self,
        report: BankReport,
        dialect: Dialect,
        standings: &impl Standings,
    ) -> Vec<BankReport> {
        let Some(sent) = self.order(&report) else { return vec![report] };
        match dialect {
            Dialect::EndToEndOnly { chars } => {
                let cut = sent.payment.end_to_end_id().chars().take(chars).collect();
                let ids = ReportIds { end_to_end: Some(cut), ..ReportIds::default() };
                vec![BankReport { about: About::One(ids), ..report }]
            }
            Dialect::CallsDuplicates if report.said.status == RailStatus::Settled => {
                // Something between the bank and its core sends each order twice.
                vec![report.clone(), Desk::duplicate(sent.attempt).into(), report]
            }
            Dialect::CallsDuplicates => vec![report],
            Dialect::GroupStatus => vec![self.of_group(sent, report, standings)],
            Dialect::BatchBooking => self.of_batch(sent, report, standings).into_iter().collect(),
        }
    }

    fn order(&self, report: &BankReport) -> Option<&Sent> {
        let About::One(ids) = &report.about else { return None };
        let attempt = Uuid::try_parse(ids.uetr.as_deref()?).ok()?;
        self.orders.get(&AttemptId(attempt))
    }

    fn beside<'a>(&'a self, sent: &'a Sent) -> impl Iterator<Item = &'a Sent> {
        let attempts = sent.message.as_ref().and_then(|message| self.messages.get(message));
        attempts.into_iter().flatten().filter_map(|attempt| self.orders.get(attempt))
    }

    /// The status of a message, with those of its orders listed that stand otherwise.
    fn of_group(&self, sent: &Sent, report: BankReport, standings: &impl Standings) -> BankReport {
        let is_status = matches!(report.said.status, RailStatus::Settled | RailStatus::Rejected);
        let Some(message) = sent.message.clone().filter(|_| is_status) else { return report };
        let stands_otherwise = |other: &&Sent| {
            other.attempt != sent.attempt
                && other.status(standings).as_ref() != Some(&report.said.status)
        };
        let listed = self.beside(sent).filter(stands_otherwise);
        let listed = listed.map(|it| Listed { ids: it.ids(), ..Listed::default() }).collect();
        let of = ReportIds { message: Some(message), ..ReportIds::default() };
        let said = ReportContent { amount: None, bank_reference: None, ..report.said.clone() };
        BankReport { about: About::Rest { of, listed, stated: Totals::default() }, said }
    }

    /// The booking of all that a message paid, once that is known; the bank reports no single bookings.
    fn of_batch(
        &self,
        sent: &Sent,
        report: BankReport,
        standings: &impl Standings,
    ) -> Option<BankReport> {
        if report.said.status != RailStatus::Settled {
            return Some(report);
        }
        let Some(message) = sent.message.clone() else { return Some(report) };
        let mut sum = Money::new(0, sent.amount.currency);
        let mut count = 0;
        for order in self.beside(sent) {
            match order.status(standings) {
                Some(RailStatus::Settled | RailStatus::Returned) => {
                    (sum.minor, count) = (sum.minor + order.amount.minor, count + 1);
                }
                Some(RailStatus::Rejected | RailStatus::Cancelled) => {}
                _ => return None,
            }
        }
        let of = ReportIds {
            message: Some(message.clone()),
            block: Some(message),
            ..ReportIds::default()
        };
        let said = ReportContent { amount: Some(sum), ..report.said };
        Some(BankReport { about: About::Batch { of, count: Some(count) }, said })
    }
}

/// The id of a message: the same for the same batch.
pub fn message_id(batch: &[Instruction]) -> String {
    let hash = |salt: u64| {
        let ids = batch.iter().flat_map(|order| order.attempt.instruction_id().into_bytes());
        ids.fold(FNV_OFFSET ^ salt, |state, byte| (state ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
    };
    let mut id = String::new();
    // Writing to a String cannot fail.
    let _written = write!(id, "{:016x}{:012x}-{}", hash(0), hash(1) >> 16, batch.len());
    id
}
