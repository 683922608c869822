//! Turns the response to a message into one answer for each instruction or inquiry. Anything that
//! the bank's answer leaves open stays open: an unreadable entry never makes an instruction
//! rejected or unknown.

use std::collections::HashMap;

use domain::attempt::AttemptState;
use domain::ids::{AttemptId, TenantId};
use domain::money::Money;
use domain::rail::{
    About, BankReport, Inquiry, InquiryAnswer, Instruction, RailId, RailReport, RecallRequest,
    Submission,
};
use domain::rail_ids::{Candidate, Candidates, SentIn};

use super::kinds::Kind;
use super::reports;

/// The outcome of sending a message.
pub(super) enum Delivery {
    /// The bank answered with a document.
    Answered(Vec<u8>),
    /// The bank accepted the message without reporting on its transactions.
    Taken,
    /// No byte left this machine.
    NotSent(String),
    /// Any other outcome: it has to be inquired.
    Unclear(String),
}

/// One answer for each instruction of the batch sent in `message`, in order.
pub(super) fn submissions(
    rail: &RailId,
    message: &str,
    batch: &[Instruction],
    delivery: Delivery,
) -> Vec<Submission> {
    let said = match delivery {
        Delivery::Taken => return vec![Submission::Taken; batch.len()],
        Delivery::NotSent(reason) => return vec![Submission::NotSent(reason); batch.len()],
        Delivery::Unclear(reason) => return vec![Submission::Indeterminate(reason); batch.len()],
        Delivery::Answered(bytes) => {
            let sent = batch.iter().enumerate().map(|(at, one)| Candidate {
                sent: vec![SentIn { message: message.to_owned(), position: at + 1 }],
                ..candidate(one.tenant, one.payment, one.attempt, one.amount)
            });
            Answered::read(rail, &bytes, sent.collect(), Some(message), &STATUS_REPORTS)
        }
    };
    let mut said = match said {
        Ok(said) => said,
        Err(reason) => return vec![Submission::Indeterminate(reason); batch.len()],
    };
    batch
        .iter()
        .map(|instruction| match (said.about.remove(&instruction.attempt), &said.doubt) {
            (Some(Ok(report)), _) => Submission::Reported(report),
            (Some(Err(reason)), _) => Submission::Indeterminate(reason),
            (None, Some(doubt)) => Submission::Indeterminate(doubt.clone()),
            (None, None) => Submission::Taken,
        })
        .collect()
}

/// One answer for each inquiry, in order. An attempt that the bank does not mention is `NotFound`.
pub(super) fn inquiries(
    rail: &RailId,
    asked: &[Inquiry],
    delivery: Delivery,
) -> Vec<InquiryAnswer> {
    let said = match delivery {
        Delivery::Taken => return vec![InquiryAnswer::Asked; asked.len()],
        Delivery::NotSent(reason) | Delivery::Unclear(reason) => {
            return vec![InquiryAnswer::NoAnswer(reason); asked.len()];
        }
        Delivery::Answered(bytes) => {
            // The tenant and the amount of an inquiry are unknown here; matching needs neither.
            let nothing = Money::new(0, domain::currency::Currency::Usd);
            let nobody = TenantId(uuid::Uuid::nil());
            let sent = asked.iter().map(|one| candidate(nobody, one.payment, one.attempt, nothing));
            Answered::read(rail, &bytes, sent.collect(), None, &STATUS_REPORTS)
        }
    };
    let mut said = match said {
        Ok(said) => said,
        Err(reason) => return vec![InquiryAnswer::NoAnswer(reason); asked.len()],
    };
    asked
        .iter()
        .map(|inquiry| match (said.about.remove(&inquiry.attempt), &said.doubt) {
            (Some(Ok(report)), _) => InquiryAnswer::Reported(report),
            (Some(Err(reason)), _) => InquiryAnswer::NoAnswer(reason),
            (None, Some(doubt)) => InquiryAnswer::NoAnswer(doubt.clone()),
            (None, None) => InquiryAnswer::NotFound,
        })
        .collect()
}

/// The answer to a recall. A document that does not mention it leaves it open.
pub(super) fn recall(rail: &RailId, recall: &RecallRequest, delivery: Delivery) -> Submission {
    let said = match delivery {
        Delivery::Taken => return Submission::Taken,
        Delivery::NotSent(reason) => return Submission::NotSent(reason),
        Delivery::Unclear(reason) => return Submission::Indeterminate(reason),
        Delivery::Answered(bytes) => {
            let asked = candidate(recall.tenant, recall.payment, recall.attempt, recall.amount);
            Answered::read(rail, &bytes, vec![asked], None, &[Kind::Camt029])
        }
    };
    let said = said.and_then(|mut said| {
        let own = said.about.remove(&recall.attempt);
        own.unwrap_or_else(|| Err(said.doubt.unwrap_or("it does not mention the recall".into())))
    });
    said.map_or_else(Submission::Indeterminate, Submission::Reported)
}

/// Messages that state the status of payments.
const STATUS_REPORTS: [Kind; 2] = [Kind::Pain002, Kind::Pacs002];

fn candidate(
    tenant: TenantId,
    payment: domain::ids::PaymentId,
    attempt: AttemptId,
    amount: Money,
) -> Candidate {
    let state = AttemptState::Sending;
    Candidate {
        tenant,
        payment,
        attempt,
        number: 1,
        state,
        amount,
        reference: None,
        sent: Vec::new(),
        recalls: Vec::new(),
    }
}

/// A document's reports on the attempts in question.
struct Answered {
    about: HashMap<AttemptId, Result<RailReport, String>>,
    /// Why an attempt that is not mentioned may still be affected.
    doubt: Option<String>,
}

impl Answered {
    /// `message`: the answer refers to this message even if it does not repeat its id. The answer
    /// to an inquiry may refer to the inquiry as a whole, which reveals nothing about the payments.
    fn read(
        rail: &RailId,
        bytes: &[u8],
        sent: Vec<Candidate>,
        message: Option<&str>,
        kinds: &[Kind],
    ) -> Result<Answered, String> {
        let statement = reports::read(bytes).map_err(|error| error.to_string())?;
        if let Some(kind) = statement.kinds.iter().find(|kind| !kinds.contains(kind)) {
            let wanted = kinds.first().map_or("", |kind| kind.name());
            return Err(format!("the answer is a {}, not a {wanted}", kind.name()));
        }
        let candidates = Candidates::new(sent);
        let mut said =
            Answered { about: HashMap::new(), doubt: statement.complaints.first().cloned() };
        for complaint in &statement.complaints {
            tracing::warn!(%rail, complaint, "an entry of the rail's answer is unreadable");
        }
        for mut entry in statement.entries {
            if let (About::Rest { of, .. }, Some(message)) = (&mut entry.about, message)
                && of.messages().next().is_none()
            {
                of.message = Some(message.to_owned());
            }
            said.take(rail, &entry, &candidates);
        }
        Ok(said)
    }

    fn take(&mut self, rail: &RailId, entry: &BankReport, candidates: &Candidates) {
        match entry.of_attempts(candidates) {
            Ok(found) => found.into_iter().for_each(|(_, report)| self.keep(report)),
            Err(why) => {
                let (source, ids) = (
                    &entry.said.source,
                    entry.ids().next().map(|ids| ids.told()).unwrap_or_default(),
                );
                tracing::warn!(%rail, source, ids, %why, "the rail reported on a transaction that was not asked about");
                let doubt = format!("{source}: it refers to {ids}: {why}");
                self.doubt.get_or_insert(doubt);
            }
        }
    }

    fn keep(&mut self, report: RailReport) {
        let attempt = report.attempt;
        let outcome = match self.about.get(&attempt) {
            Some(Ok(earlier)) if earlier.status == report.status => return,
            Some(_) => {
                Err(format!("{}: it contradicts itself about attempt {attempt}", report.source))
            }
            None => Ok(report),
        };
        self.about.insert(attempt, outcome);
    }
}
