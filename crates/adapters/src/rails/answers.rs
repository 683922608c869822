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
            let sent = asked.iter().map(|one| Candidate {
                recalls: one.recalls.clone(),
                ..candidate(nobody, one.payment, one.attempt, nothing)
            });
            Answered::read(rail, &bytes, sent.collect(), None, &INQUIRY_ANSWERS)
        }
    };
    let mut said = match said {
        Ok(said) => said,
        Err(reason) => return vec![InquiryAnswer::NoAnswer(reason); asked.len()],
    };
    let one = |inquiry: &Inquiry| {
        let of_recall = said.of_recalls.remove(&inquiry.attempt);
        let answer = match (said.about.remove(&inquiry.attempt), of_recall, &said.doubt) {
            (Some(Ok(report)), of_recall, _) => (InquiryAnswer::Reported(report), of_recall),
            (Some(Err(reason)), of_recall, _) => (InquiryAnswer::NoAnswer(reason), of_recall),
            (None, Some(Ok(report)), _) => return InquiryAnswer::Reported(report),
            (None, Some(Err(reason)), _) => return InquiryAnswer::NoAnswer(reason),
            (None, None, Some(doubt)) => return InquiryAnswer::NoAnswer(doubt.clone()),
            (None, None, None) => return InquiryAnswer::NotFound,
        };
        match answer {
            (answer, Some(Ok(of_recall))) => {
                InquiryAnswer::WithRecall(Box::new((answer, of_recall)))
            }
            (answer, Some(Err(why))) => {
                tracing::warn!(%rail, attempt = %inquiry.attempt, %why, "recall answer contradicts itself, ignored; the recall stays open");
                answer
            }
            (answer, None) => answer,
        }
    };
    asked.iter().map(one).collect()
}

/// The answer to a recall. A document that does not mention it leaves it open.
pub(super) fn recall(rail: &RailId, recall: &RecallRequest, delivery: Delivery) -> Submission {
    let said = match delivery {
        Delivery::Taken => return Submission::Taken,
        Delivery::NotSent(reason) => return Submission::NotSent(reason),
        Delivery::Unclear(reason) => return Submission::Indeterminate(reason),
        Delivery::Answered(bytes) => {
            let asked = Candidate {
                recalls: vec![recall.recall.message_id()],
                ..candidate(recall.tenant, recall.payment, recall.attempt, recall.amount)
            };
            Answered::read(rail, &bytes, vec![asked], None, &[Kind::Camt029])
        }
    };
    let said = said.and_then(|mut said| {
        let own = said.of_recalls.remove(&recall.attempt);
        own.unwrap_or_else(|| Err(said.doubt.unwrap_or("it does not mention the recall".into())))
    });
    said.map_or_else(Submission::Indeterminate, Submission::Reported)
}

/// Messages that answer an inquiry: a bank may add what it answers about a recall.
const INQUIRY_ANSWERS: [Kind; 3] = [Kind::Pain002, Kind::Pacs002, Kind::Camt029];
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
    /// The same on their recalls.
    of_recalls: HashMap<AttemptId, Result<RailReport, String>>,
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
        let mut said = Answered {
            about: HashMap::new(),
            of_recalls: HashMap::new(),
            doubt: statement.complaints.first().cloned(),
        };
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
            Ok(found) => {
                // Whatever a resolution states is about the recall, and so is what names its message.
                let is_resolution =
                    entry.said.source.split(' ').next() == Some(Kind::Camt029.name());
                for (it, report) in found {
                    let is_of_recall =
                        is_resolution || entry.ids().any(|ids| it.is_recalled_by(ids));
                    self.keep(report, is_of_recall);
                }
            }
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

    fn keep(&mut self, report: RailReport, is_of_recall: bool) {
        let attempt = report.attempt;
        let known = if is_of_recall { &mut self.of_recalls } else { &mut self.about };
        let outcome = match known.get(&attempt) {
            Some(Ok(earlier)) if earlier.status == report.status => return,
            Some(_) => {
                Err(format!("{}: it contradicts itself about attempt {attempt}", report.source))
            }
            None => Ok(report),
        };
        known.insert(attempt, outcome);
    }
}

#[cfg(test)]
mod tests {
    use domain::rail::{RailStatus, RecallAnswer};

    use super::super::scripted::inquiry;
    use super::*;

    /// What a bank says about the message of a recall ends no payment.
    #[test]
    fn an_answer_about_a_recall_is_not_one_about_its_payment() {
        let recall = "0192a6c58f4e7b0bb3c1aaaaaaaaaaaa";
        let asked = Inquiry { recalls: vec![recall.to_owned()], ..inquiry(1) };
        let status = |message: &str, code: &str| {
            format!(
                "<OrgnlGrpInfAndSts><OrgnlMsgId>{message}</OrgnlMsgId></OrgnlGrpInfAndSts>\
                 <OrgnlPmtInfAndSts><OrgnlPmtInfId>{message}</OrgnlPmtInfId><TxInfAndSts>\
                 <OrgnlInstrId>{}</OrgnlInstrId><OrgnlEndToEndId>{}</OrgnlEndToEndId><TxSts>{code}</TxSts>\
                 </TxInfAndSts></OrgnlPmtInfAndSts>",
                asked.attempt.instruction_id(),
                asked.payment.end_to_end_id()
            )
        };
        let answer = |reports: &[String]| {
            let report = |body: &String| {
                format!(
                    "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:pain.002.001.03\"><CstmrPmtStsRpt>\
                     <GrpHdr><MsgId>B-1</MsgId></GrpHdr>{body}</CstmrPmtStsRpt></Document>"
                )
            };
            let reports: String = reports.iter().map(report).collect();
            let text = format!("<All>{reports}</All>").into_bytes();
            let rail = RailId::new("pak-raast");
            inquiries(&rail, std::slice::from_ref(&asked), Delivery::Answered(text)).remove(0)
        };
        let of = |answer: InquiryAnswer| match answer {
            InquiryAnswer::Reported(report) => report.status,
            other => panic!("{other:?}"),
        };
        let message = "0192a6c58f4e7b0bb3c1bbbbbbbbbbbb";
        let refused = RailStatus::Recall(RecallAnswer::Refused);
        for id in [recall.to_owned(), recall.to_uppercase()] {
            assert_eq!(of(answer(&[status(&id, "RJCT")])), refused, "{id}");
            let pending = RailStatus::Recall(RecallAnswer::Pending);
            assert_eq!(of(answer(&[status(&id, "ACSC")])), pending, "{id}");
        }
        // Beside the payment's own status, both count.
        let both_of = |answer: InquiryAnswer| {
            let (payout, of_recall) = answer.apart();
            (payout, of_recall.map(|report| report.status))
        };
        for order in [[recall, message], [message, recall]] {
            let code = |id: &str| if id == recall { "RJCT" } else { "ACSC" };
            let (payout, of_recall) = both_of(answer(&order.map(|id| status(id, code(id)))));
            assert_eq!(
                (of(payout), of_recall),
                (RailStatus::Settled, Some(refused.clone())),
                "{order:?}"
            );
        }
        // One that contradicts itself about the payout does not about the recall, nor the reverse.
        let twice = [status(message, "ACSC"), status(message, "RJCT"), status(recall, "RJCT")];
        let (payout, of_recall) = both_of(answer(&twice));
        assert!(matches!(payout, InquiryAnswer::NoAnswer(_)), "{payout:?}");
        assert_eq!(of_recall, Some(refused));
        let twice = [status(message, "ACSC"), status(recall, "ACSC"), status(recall, "RJCT")];
        let (payout, of_recall) = both_of(answer(&twice));
        assert_eq!((of(payout), of_recall), (RailStatus::Settled, None));
    }

    /// The bank's resolution of the recall comes with the status of the payment.
    #[test]
    fn a_resolution_beside_a_status_is_kept() {
        let asked =
            Inquiry { recalls: vec!["0192a6c58f4e7b0bb3c1aaaaaaaaaaaa".to_owned()], ..inquiry(1) };
        let ids = format!(
            "<OrgnlInstrId>{}</OrgnlInstrId><OrgnlEndToEndId>{}</OrgnlEndToEndId>",
            asked.attempt.instruction_id(),
            asked.payment.end_to_end_id()
        );
        let answer = |code: &str| {
            let documents = format!(
                "<All><Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:pacs.002.001.10\"><FIToFIPmtStsRpt><GrpHdr><MsgId>B-1</MsgId></GrpHdr>\
             <TxInfAndSts>{ids}<TxSts>ACSC</TxSts></TxInfAndSts></FIToFIPmtStsRpt></Document>\
             <Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.029.001.09\"><RsltnOfInvstgtn><Assgnmt><Id>B-2</Id></Assgnmt><Sts><Conf>{code}</Conf></Sts>\
             <CxlDtls><TxInfAndSts>{ids}<TxCxlSts>{code}</TxCxlSts></TxInfAndSts></CxlDtls></RsltnOfInvstgtn></Document></All>"
            );
            let rail = RailId::new("pak-raast");
            let answers = inquiries(
                &rail,
                std::slice::from_ref(&asked),
                Delivery::Answered(documents.into_bytes()),
            );
            let (payout, of_recall) = answers.into_iter().next().expect("one").apart();
            let InquiryAnswer::Reported(payout) = payout else { panic!("{code}: {payout:?}") };
            (payout.status, of_recall.map(|report| report.status))
        };
        let refused = RailStatus::Recall(RecallAnswer::Refused);
        assert_eq!(answer("RJCR"), (RailStatus::Settled, Some(refused)));
        for unusual in ["PECR", "UWFW", "MODI", "CCNR"] {
            let (payout, of_recall) = answer(unusual);
            assert_eq!(payout, RailStatus::Settled, "{unusual}");
            assert!(matches!(of_recall, Some(RailStatus::Unrecognised(_))), "{of_recall:?}");
        }
    }
}
