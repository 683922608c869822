//! Turns what came back for a message into one answer for each instruction or inquiry. What the bank's answer leaves
//! open stays open: nothing is taken for refused or unknown because of an entry that cannot be read.

use std::collections::HashMap;

use domain::ids::{AttemptId, PaymentId};
use domain::rail::{Inquiry, InquiryAnswer, Instruction, RailId, RailReport, Submission};

use super::pain002;
use super::reports::{self, Entry};

/// What became of a message.
pub(super) enum Delivery {
    /// The bank answered with a document.
    Answered(Vec<u8>),
    /// The bank took the message without a word on its transactions.
    Taken,
    /// Not a byte left this machine.
    NotSent(String),
    /// Anything else.
    Unclear(String),
}

/// Answers for every instruction of a batch, in its order.
pub(super) fn submissions(rail: &RailId, batch: &[Instruction], delivery: Delivery) -> Vec<Submission> {
    let said = match delivery {
        Delivery::Taken => return vec![Submission::Taken; batch.len()],
        Delivery::NotSent(reason) => return vec![Submission::NotSent(reason); batch.len()],
        Delivery::Unclear(reason) => return vec![Submission::Indeterminate(reason); batch.len()],
        Delivery::Answered(bytes) => Said::read(rail, &bytes, batch.iter().map(|one| (one.attempt, one.payment))),
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

/// Answers for every inquiry, in order. The bank's silence about one is `NotFound`.
pub(super) fn inquiries(rail: &RailId, asked: &[Inquiry], delivery: Delivery) -> Vec<InquiryAnswer> {
    let said = match delivery {
        Delivery::Taken => return vec![InquiryAnswer::Asked; asked.len()],
        Delivery::NotSent(reason) | Delivery::Unclear(reason) => {
            return vec![InquiryAnswer::NoAnswer(reason); asked.len()];
        }
        Delivery::Answered(bytes) => Said::read(rail, &bytes, asked.iter().map(|one| (one.attempt, one.payment))),
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

/// What a document says of the attempts that it was asked about.
struct Said {
    about: HashMap<AttemptId, Result<RailReport, String>>,
    /// Why an attempt that is not mentioned may have been meant all the same.
    doubt: Option<String>,
}

impl Said {
    fn read(
        rail: &RailId,
        bytes: &[u8],
        expected: impl Iterator<Item = (AttemptId, PaymentId)>,
    ) -> Result<Said, String> {
        let statement = reports::read(bytes).map_err(|error| error.to_string())?;
        if statement.kind != pain002::KIND {
            return Err(format!("the answer is a {}, not a {}", statement.kind, pain002::KIND));
        }
        let payments: HashMap<AttemptId, PaymentId> = expected.collect();
        let mut said = Said { about: HashMap::new(), doubt: statement.complaints.first().cloned() };
        for complaint in &statement.complaints {
            tracing::warn!(%rail, complaint, "an entry of the rail's answer is unreadable");
        }
        for entry in statement.entries {
            match payments.get(&entry.report.attempt) {
                Some(payment) => said.take(*payment, entry),
                None => {
                    let (attempt, source) = (entry.report.attempt, &entry.report.source);
                    tracing::warn!(%rail, %attempt, source, "the rail answered about an attempt that was not asked about");
                }
            }
        }
        Ok(said)
    }

    fn take(&mut self, payment: PaymentId, Entry { report, end_to_end }: Entry) {
        let attempt = report.attempt;
        let fitting = end_to_end.is_none_or(|id| id.eq_ignore_ascii_case(&payment.end_to_end_id()));
        let outcome = match self.about.get(&attempt) {
            _ if !fitting => Err(format!("{}: the EndToEndId is not that of attempt {attempt}", report.source)),
            Some(Ok(earlier)) if earlier.status == report.status => return,
            Some(_) => Err(format!("{}: it contradicts itself about attempt {attempt}", report.source)),
            None => Ok(report),
        };
        self.about.insert(attempt, outcome);
    }
}
