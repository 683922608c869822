//! The bank in the terms of [`domain::rail`], for the simulator: the same state machine without
//! messages.

use std::sync::Arc;

use domain::ids::AttemptId;
use domain::rail::{
    BankReport, Inquiry, InquiryAnswer, Instruction, RailId, RailReport, RailStatus, RecallAnswer,
    RecallRequest, Reports, Submission,
};
use domain::time::Timestamp;
use uuid::Uuid;

use super::feed::message_kind;
use super::model::{InstructionView, QueryView, RecallWord, Report, Standing, TxStatus};
use super::{Answer, BankCore, Book, RecallReply};

impl From<&Instruction> for InstructionView {
    fn from(instruction: &Instruction) -> InstructionView {
        InstructionView {
            instruction_id: instruction.attempt.instruction_id().into(),
            end_to_end_id: instruction.payment.end_to_end_id().into(),
            uetr: instruction.attempt.to_string().into(),
            amount: instruction.amount,
            account: instruction.creditor_account.as_str().into(),
            beneficiary: instruction.creditor.name.as_str().into(),
        }
    }
}

impl Standing {
    /// The status as a client parses it from `message`; `None` if the order's ids are not
    /// Corridor's.
    pub fn to_rail_report(&self, message: &str) -> Option<RailReport> {
        let own = &self.instruction;
        let attempt = AttemptId::from_instruction_id(&own.instruction_id)
            .or_else(|| Uuid::try_parse(&own.uetr).ok().map(AttemptId))?;
        let status = match self.status {
            TxStatus::Accepted => RailStatus::Accepted,
            TxStatus::Settled => RailStatus::Settled,
            TxStatus::Rejected => RailStatus::Rejected,
            TxStatus::Cancelled => RailStatus::Cancelled,
            TxStatus::Unknown => RailStatus::Unknown,
            TxStatus::Returned => RailStatus::Returned,
        };
        let status = self.recall.map_or(status, |word| RailStatus::Recall(answer_of(word)));
        let text = |value: &Option<Box<str>>| value.as_deref().map(str::to_owned);
        Some(RailReport {
            attempt,
            reason: text(&self.reason),
            info: text(&self.info),
            // A pacs.004's own reference is not that of the payout that it returns.
            bank_reference: text(&self.reference).filter(|_| status != RailStatus::Returned),
            return_id: None,
            amount: Some(own.amount),
            status,
            source: message.to_owned(),
            further_reasons: Vec::new(),
            charges: None,
        })
    }
}

const fn answer_of(word: RecallWord) -> RecallAnswer {
    match word {
        RecallWord::Agreed => RecallAnswer::Accepted,
        RecallWord::Refused => RecallAnswer::Refused,
        RecallWord::Pending => RecallAnswer::Pending,
    }
}

impl Report {
    /// The report as a client parses it; `None` if the order's ids are not Corridor's.
    pub fn to_rail_report(&self) -> Option<RailReport> {
        let kind = message_kind(&self.standing);
        self.standing.to_rail_report(&format!("{kind} SB-{}", self.sequence))
    }
}

impl<B: Book> BankCore<B> {
    /// [`BankCore::receive`] for one instruction of the engine.
    pub fn receive_instruction(
        &mut self,
        instruction: &Instruction,
        now: Timestamp,
    ) -> Result<Submission, B::Fault> {
        Ok(match self.receive(&instruction.rail.0, &InstructionView::from(instruction), now)? {
            Answer::Withheld => {
                Submission::Indeterminate("no answer within the timeout".to_owned())
            }
            Answer::Reported(standing) => match in_pain_002(standing).to_rail_report("pain.002") {
                Some(report) => Submission::Reported(report),
                None => Submission::Taken,
            },
        })
    }

    /// [`BankCore::inquire`] for one inquiry of the engine.
    pub fn inquire_attempt(
        &mut self,
        rail: &RailId,
        inquiry: &Inquiry,
    ) -> Result<InquiryAnswer, B::Fault> {
        let query = QueryView {
            instruction_id: inquiry.attempt.instruction_id().into(),
            end_to_end_id: inquiry.payment.end_to_end_id().into(),
            uetr: inquiry.attempt.to_string().into(),
        };
        let known = self
            .inquire(&rail.0, &query)?
            .and_then(|standing| in_pain_002(standing).to_rail_report("pain.002"));
        Ok(known.map_or(InquiryAnswer::NotFound, InquiryAnswer::Reported))
    }

    /// [`BankCore::recall`] for one recall of the engine.
    pub fn recall_attempt(
        &mut self,
        rail: &RailId,
        request: &RecallRequest,
        now: Timestamp,
    ) -> Result<Submission, B::Fault> {
        let query = QueryView {
            instruction_id: request.attempt.instruction_id().into(),
            end_to_end_id: request.payment.end_to_end_id().into(),
            uetr: request.attempt.to_string().into(),
        };
        Ok(match self.recall(&rail.0, &query, now)? {
            RecallReply::Silent => Submission::Taken,
            RecallReply::Answered(note) => Submission::Reported(RailReport {
                attempt: request.attempt,
                status: RailStatus::Recall(answer_of(note.word)),
                reason: note.reason.map(String::from),
                further_reasons: Vec::new(),
                info: None,
                bank_reference: None,
                return_id: None,
                amount: None,
                charges: None,
                source: "camt.029".to_owned(),
            }),
        })
    }

    /// [`BankCore::due`] in the engine's terms, each report with its rail.
    pub fn due_rail_reports(
        &mut self,
        now: Timestamp,
    ) -> Result<Vec<(RailId, RailReport)>, B::Fault> {
        let rail = |report: &Arc<Report>| RailId(Arc::from(&*report.standing.rail));
        let reports = self.due(now)?;
        Ok(reports
            .iter()
            .filter_map(|report| Some((rail(report), report.to_rail_report()?)))
            .collect())
    }

    /// [`BankCore::collect`] in the form of the port.
    pub fn collect_reports(
        &mut self,
        rail: &RailId,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<Reports, B::Fault> {
        let page = self.collect(&rail.0, cursor, limit)?;
        let (mut reports, mut unreadable) = (Vec::new(), Vec::new());
        for report in &page.reports {
            match report.to_rail_report() {
                Some(known) => reports.push(BankReport::from(known)),
                None => unreadable
                    .push(format!("report {} names none of our attempts", report.sequence)),
            }
        }
        Ok(Reports { reports, unreadable, cursor: page.cursor, ..Reports::default() })
    }
}

/// A pain.002 has no code for a returned order: it reports the settlement.
fn in_pain_002(mut standing: Standing) -> Standing {
    if standing.status == TxStatus::Returned {
        standing.status = TxStatus::Settled;
    }
    standing
}
