//! The bank's side of a recall: what it answers, and what it does about the order.

use domain::time::Timestamp;

use super::model::{Happening, Order, QueryView, RecallWord, Standing, Step, TxStatus};
use super::{BankCore, Book};

/// ISO 20022 external reason code: no original transaction received.
const REASON_NOT_RECEIVED: &str = "NOOR";
/// ISO 20022 external reason code: already returned.
const REASON_RETURNED: &str = "ARDT";
/// ISO 20022 external reason code: legal decision.
const REASON_LEGAL: &str = "LEGL";

/// The bank's answer to a recall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecallReply {
    /// It answers at once.
    Answered(RecallNote),
    /// It accepts the message, and never answers it.
    Silent,
}

/// The contents of a camt.029.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallNote {
    /// The order in question, by its ids.
    pub about: QueryView,
    /// What the bank answers.
    pub word: RecallWord,
    /// ISO 20022 external reason code of a refusal.
    pub reason: Option<Box<str>>,
}

impl RecallNote {
    /// The note of a report; `None` if it reports no answer to a recall.
    pub fn of(standing: &Standing) -> Option<RecallNote> {
        let own = &standing.instruction;
        let about = QueryView {
            instruction_id: own.instruction_id.clone(),
            end_to_end_id: own.end_to_end_id.clone(),
            uetr: own.uetr.clone(),
        };
        Some(RecallNote { about, word: standing.recall?, reason: None })
    }
}

/// Outcome of a recall, by the last four characters of the creditor's account.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The bank agrees, and stops or returns the order.
    Returned,
    /// It agrees, and does nothing.
    Forgotten,
    Refused,
    /// It decides later, then agrees.
    Later,
    Silent,
}

impl Ending {
    fn of(account: &str) -> Ending {
        let bytes = account.as_bytes();
        match &bytes[bytes.len().saturating_sub(4)..] {
            b"0012" => Ending::Forgotten,
            b"0013" => Ending::Refused,
            b"0014" => Ending::Later,
            b"0015" => Ending::Silent,
            _ => Ending::Returned,
        }
    }
}

impl<B: Book> BankCore<B> {
    /// Receives a recall. The same again gets the same answer, and has no further effect.
    pub fn recall(
        &mut self,
        rail: &str,
        query: &QueryView,
        now: Timestamp,
    ) -> Result<RecallReply, B::Fault> {
        let answered = |word, reason: Option<&str>| {
            let (about, reason) = (query.clone(), reason.map(Into::into));
            RecallReply::Answered(RecallNote { about, word, reason })
        };
        let (mut dossier, live) = self.load(&query.end_to_end_id)?;
        let is_it =
            |order: &&mut Order| order.is_meant_by(rail, &query.instruction_id, &query.uetr);
        let Some(order) = dossier.orders.iter_mut().rev().find(is_it) else {
            if live {
                self.live.insert(query.end_to_end_id.clone(), dossier);
            }
            return Ok(answered(RecallWord::Refused, Some(REASON_NOT_RECEIVED)));
        };
        let ending = Ending::of(&order.standing.instruction.account);
        let mut reports = Vec::new();
        let reply = match (order.standing.status, ending, order.recalled) {
            (TxStatus::Returned | TxStatus::Cancelled, _, None | Some(RecallWord::Refused)) => {
                answered(RecallWord::Refused, Some(REASON_RETURNED))
            }
            (TxStatus::Rejected, ..) => answered(RecallWord::Refused, Some(REASON_NOT_RECEIVED)),
            (_, Ending::Refused, _) => answered(RecallWord::Refused, Some(REASON_LEGAL)),
            (_, Ending::Silent, _) => RecallReply::Silent,
            (_, _, Some(before)) => answered(before, None),
            (TxStatus::Unknown, ..) => answered(RecallWord::Pending, None),
            (_, Ending::Forgotten, None) => answered(RecallWord::Agreed, None),
            (_, Ending::Later, None) => {
                let at = now + self.behaviour.decides_after;
                order.plan.push(Step { at, what: Happening::AgreeToRecall });
                order.plan.sort_by_key(|step| step.at);
                answered(RecallWord::Pending, None)
            }
            (_, Ending::Returned, None) => {
                let reply = answered(RecallWord::Agreed, None);
                let returned = now + self.behaviour.return_after.shortest;
                self.give_back(order, returned, now, &mut reports);
                reply
            }
        };
        if let RecallReply::Answered(RecallNote { word, .. }) = &reply {
            order.recalled = Some(*word);
        }
        self.store(dossier, &[], &reports)?;
        Ok(reply)
    }

    /// Stops an order that is not executed yet, or returns it at `returned`.
    pub(super) fn give_back(
        &mut self,
        order: &mut Order,
        returned: Timestamp,
        now: Timestamp,
        reports: &mut Vec<std::sync::Arc<super::Report>>,
    ) {
        if order.standing.status == TxStatus::Accepted {
            order.plan.clear();
            (order.standing.status, order.standing.at) = (TxStatus::Cancelled, now);
            self.report(order, order.standing.clone(), reports);
        } else if order.standing.status == TxStatus::Settled {
            order.plan.push(Step { at: returned, what: Happening::Return });
            order.plan.sort_by_key(|step| step.at);
        }
    }
}
