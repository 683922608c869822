//! The recall of a payment: camt.055, a customer's request to its bank, or camt.056, the same between
//! banks, whichever the bank takes.

use domain::rail::RecallRequest;
use domain::recall::{RECALL_TEXT_MAX_CHARS, RecallReason};

use super::iso::NAMESPACE;
use super::pain001;
use super::profile::Version;
use super::xml_write::XmlWriter;
use super::{Message, OurSide};

/// The messages that recall a payment: the first ones, which belong to the payments of 2009, one of
/// 2016, and those of 2019 and later, whose parts in use are the same.
pub const RECALL_MESSAGES: [&str; 12] = [
    "camt.055.001.01",
    "camt.055.001.05",
    "camt.055.001.08",
    "camt.055.001.09",
    "camt.055.001.10",
    "camt.055.001.11",
    "camt.055.001.12",
    "camt.056.001.01",
    "camt.056.001.08",
    "camt.056.001.09",
    "camt.056.001.10",
    "camt.056.001.11",
];
/// Schema: Max140Text of a party's name.
const NAME_MAX_CHARS: usize = 140;
/// The block of a message that is not known.
const NOT_PROVIDED: &str = "NOTPROVIDED";

/// What differs between the messages.
struct Form {
    /// Whether it is camt.055, which names the block of the payment.
    is_customers: bool,
    /// The version of pain.001 that identifies banks in the same way.
    banks: Version,
    has_uetr: bool,
}

impl Form {
    fn of(format: &str) -> Form {
        let is_customers = format.starts_with("camt.055");
        let (banks, has_uetr) = match format.rsplit('.').next() {
            Some("01") => (Version::V03, false),
            Some("05") => (Version::V09, false),
            _ => (Version::V09, true),
        };
        Form { is_customers, banks, has_uetr }
    }

    /// Whether the message has a code for a reason: later ones take each of ISO's external list.
    fn has_code(&self, reason: RecallReason) -> bool {
        use RecallReason::{
            Customer, Duplicate, Fraud, Technical, Undue, WrongAccount, WrongAgent, WrongAmount,
            WrongCurrency,
        };
        match reason {
            Customer | Duplicate | Undue | WrongAgent | WrongCurrency => true,
            Fraud | Technical => self.banks == Version::V09,
            WrongAccount | WrongAmount => self.has_uetr,
        }
    }
}

/// The recall of one attempt. The same recall gives the same bytes, ids included.
pub(super) fn write(ours: &OurSide, recall: &RecallRequest) -> Message {
    let (ids, form) = (ours.profile.ids, Form::of(&recall.format));
    let id = ids.write(&recall.recall.message_id());
    let case = ids.write(&recall.attempt.instruction_id());
    let created_at = recall.created_at.to_string();
    let namespace = format!("{NAMESPACE}{}", recall.format);
    let xml = XmlWriter::document(&namespace, 2_048, |doc| {
        let name = if form.is_customers { "CstmrPmtCxlReq" } else { "FIToFIPmtCxlReq" };
        doc.nest(name, |request| {
            request.nest("Assgnmt", |assignment| {
                assignment.leaf("Id", &id);
                assignment.nest("Assgnr", |assigner| party(assigner, ours));
                assignment.nest("Assgne", |assignee| {
                    assignee.nest("Agt", |agent| pain001::our_agent(agent, ours, form.banks));
                });
                assignment.leaf("CreDtTm", &created_at);
            });
            request.nest("Case", |it| {
                it.leaf("Id", &case);
                it.nest("Cretr", |creator| party(creator, ours));
            });
            request.nest("CtrlData", |control| control.leaf("NbOfTxs", "1"));
            request.nest("Undrlyg", |underlying| {
                let tx = |tx: &mut XmlWriter| transaction(tx, ours, (&id, &case), recall);
                match form.is_customers {
                    false => underlying.nest("TxInf", tx),
                    true => underlying.nest("OrgnlPmtInfAndCxl", |block| {
                        // Our messages have one block, with the message's id.
                        let message = recall.message.as_deref();
                        block.leaf("OrgnlPmtInfId", message.unwrap_or(NOT_PROVIDED));
                        original(block, ours, recall);
                        block.nest("TxInf", tx);
                    }),
                }
            });
        });
    });
    Message { id, xml }
}

fn party(out: &mut XmlWriter, ours: &OurSide) {
    let own = ours.profile.initiating_party.as_ref().unwrap_or(&ours.debtor_name);
    let name = ours.character_set.spell(own, NAME_MAX_CHARS);
    out.chain(&["Pty", "Nm"], &name);
}

/// The message that carried the payment.
fn original(out: &mut XmlWriter, ours: &OurSide, recall: &RecallRequest) {
    let Some(message) = &recall.message else { return };
    out.nest("OrgnlGrpInf", |group| {
        group.leaf("OrgnlMsgId", message);
        group.leaf("OrgnlMsgNmId", ours.profile.version.name());
    });
}

fn transaction(
    tx: &mut XmlWriter,
    ours: &OurSide,
    (id, case): (&str, &str),
    recall: &RecallRequest,
) {
    let form = Form::of(&recall.format);
    tx.leaf("CxlId", id);
    if !form.is_customers {
        original(tx, ours, recall);
    }
    tx.leaf("OrgnlInstrId", case);
    let end_to_end = recall.payment.end_to_end_id();
    tx.leaf("OrgnlEndToEndId", &ours.profile.ids.write(&end_to_end));
    if form.has_uetr && ours.profile.version == Version::V09 {
        tx.leaf("OrgnlUETR", &recall.attempt.to_string());
    }
    let amount = if form.is_customers { "OrgnlInstdAmt" } else { "OrgnlIntrBkSttlmAmt" };
    tx.money(amount, recall.amount);
    tx.nest("CxlRsnInf", |reason| {
        let choice = if form.has_code(recall.reason) { "Cd" } else { "Prtry" };
        reason.chain(&["Rsn", choice], recall.reason.name());
        let text = recall.text.as_ref();
        let text = text.map(|text| ours.character_set.spell(text, RECALL_TEXT_MAX_CHARS));
        reason.leaf_if("AddtlInf", text.as_deref());
    });
}

#[cfg(test)]
mod tests {
    use domain::currency::Currency;
    use domain::ids::{AttemptId, PaymentId, RecallId, TenantId};
    use domain::money::Money;
    use domain::rail_text::CharacterSet;
    use domain::time::Timestamp;
    use uuid::Uuid;

    use super::*;
    use crate::rails::profile::{Account, Agent, IdForm, Profile};

    fn request() -> RecallRequest {
        RecallRequest {
            recall: RecallId(Uuid::from_u128(3)),
            created_at: Timestamp(0),
            tenant: TenantId(Uuid::nil()),
            payment: PaymentId(Uuid::from_u128(1)),
            attempt: AttemptId(Uuid::from_u128(2)),
            message: Some("0123456789abcdef01234567-1".to_owned()),
            amount: Money::new(3_791_250, Currency::Pkr),
            reason: RecallReason::Fraud,
            text: Some("paid to a fraudster & gone".to_owned()),
            format: "camt.056.001.08".to_owned(),
        }
    }

    fn ours() -> OurSide {
        OurSide {
            debtor_name: "Démo Bank".to_owned(),
            debtor_account: Account::Other("PK00".to_owned()),
            debtor_agent: Agent::Other("SBINPKKA".to_owned()),
            character_set: CharacterSet::SwiftX,
            profile: Profile::default(),
        }
    }

    #[test]
    fn a_recall_names_the_attempt_by_all_its_ids() {
        let message = write(&ours(), &request());
        assert_eq!(message.id, "00000000000000000000000000000003");
        assert_eq!(
            message.xml,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.056.001.08\"><FIToFIPmtCxlReq>\
             <Assgnmt><Id>00000000000000000000000000000003</Id><Assgnr><Pty><Nm>Demo Bank</Nm></Pty></Assgnr>\
             <Assgne><Agt><FinInstnId><Othr><Id>SBINPKKA</Id></Othr></FinInstnId></Agt></Assgne>\
             <CreDtTm>1970-01-01T00:00:00.000Z</CreDtTm></Assgnmt>\
             <Case><Id>00000000000000000000000000000002</Id><Cretr><Pty><Nm>Demo Bank</Nm></Pty></Cretr></Case>\
             <CtrlData><NbOfTxs>1</NbOfTxs></CtrlData><Undrlyg><TxInf>\
             <CxlId>00000000000000000000000000000003</CxlId>\
             <OrgnlGrpInf><OrgnlMsgId>0123456789abcdef01234567-1</OrgnlMsgId>\
             <OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId></OrgnlGrpInf>\
             <OrgnlInstrId>00000000000000000000000000000002</OrgnlInstrId>\
             <OrgnlEndToEndId>00000000000000000000000000000001</OrgnlEndToEndId>\
             <OrgnlUETR>00000000-0000-0000-0000-000000000002</OrgnlUETR>\
             <OrgnlIntrBkSttlmAmt Ccy=\"PKR\">37912.50</OrgnlIntrBkSttlmAmt>\
             <CxlRsnInf><Rsn><Cd>FRAD</Cd></Rsn><AddtlInf>paid to a fraudster + gone</AddtlInf></CxlRsnInf>\
             </TxInf></Undrlyg></FIToFIPmtCxlReq></Document>\n"
        );
        assert_eq!(write(&ours(), &request()).xml, message.xml, "a repetition is identical");
    }

    #[test]
    fn ids_and_agent_have_the_form_of_the_profile() {
        let mut ours = ours();
        ours.debtor_agent = Agent::Bic("SBINPKKA".to_owned());
        ours.profile.version = Version::V03;
        ours.profile.ids = IdForm { max_chars: 30, upper_case: true };
        let message = write(&ours, &request());
        assert_eq!(message.id, "000000000000000000000000000000");
        for part in [
            "<Agt><FinInstnId><BICFI>SBINPKKA</BICFI></FinInstnId></Agt>",
            "<OrgnlMsgNmId>pain.001.001.03</OrgnlMsgNmId>",
            "<OrgnlInstrId>000000000000000000000000000000</OrgnlInstrId>",
        ] {
            assert!(message.xml.contains(part), "{part}: {}", message.xml);
        }
        assert!(!message.xml.contains("OrgnlUETR"), "{}", message.xml);
    }

    #[test]
    fn the_rail_chooses_the_version() {
        let later = RecallRequest { format: "camt.056.001.11".to_owned(), ..request() };
        assert!(write(&ours(), &later).xml.contains("xsd:camt.056.001.11\""));
    }

    /// The files are checked against the structures of their messages, too.
    #[test]
    fn each_form_of_a_recall_is_written_as_its_message_demands() {
        let mut ours = ours();
        ours.debtor_agent = Agent::Bic("SBINPKKA".to_owned());
        let recall = |format: &str, reason| {
            let attempt = AttemptId(Uuid::from_u128(0x0190_0000_0000_4000_9000_0000_0000_0001));
            RecallRequest { attempt, reason, format: format.to_owned(), ..request() }
        };
        for (format, version, sent) in [
            (
                "camt.055.001.01",
                Version::V03,
                include_str!("../../tests/data/rails/camt.055.001.01.xml"),
            ),
            (
                "camt.055.001.05",
                Version::V09,
                include_str!("../../tests/data/rails/camt.055.001.05.xml"),
            ),
            (
                "camt.055.001.08",
                Version::V09,
                include_str!("../../tests/data/rails/camt.055.001.08.xml"),
            ),
            (
                "camt.056.001.01",
                Version::V03,
                include_str!("../../tests/data/rails/camt.056.001.01.xml"),
            ),
        ] {
            ours.profile.version = version;
            let message = write(&ours, &recall(format, RecallReason::Fraud));
            assert_eq!(message.xml.replace("><", ">\n<"), sent, "{format}");
        }
        let without =
            RecallRequest { message: None, ..recall("camt.055.001.08", RecallReason::Fraud) };
        let text = write(&ours, &without).xml;
        assert!(text.contains("<OrgnlPmtInfId>NOTPROVIDED</OrgnlPmtInfId><TxInf>"), "{text}");
    }

    #[test]
    fn a_reason_that_a_message_has_no_code_for_is_the_banks_own() {
        let written = |format: &str, reason: RecallReason| {
            let recall = RecallRequest { reason, format: format.to_owned(), ..request() };
            let text = write(&ours(), &recall).xml;
            text.contains(&format!("<Rsn><Cd>{}</Cd></Rsn>", reason.name()))
        };
        let codes = |format: &str| -> Vec<&str> {
            let reasons = RecallReason::ALL.into_iter().filter(|reason| written(format, *reason));
            reasons.map(RecallReason::name).collect()
        };
        let first = ["CUST", "DUPL", "UPAY", "AGNT", "CURR"];
        for format in ["camt.055.001.01", "camt.056.001.01"] {
            assert_eq!(codes(format), first, "{format}");
        }
        let later = ["CUST", "DUPL", "FRAD", "TECH", "UPAY", "AGNT", "CURR"];
        assert_eq!(codes("camt.055.001.05"), later);
        assert_eq!(codes("camt.055.001.12").len(), RecallReason::ALL.len());
    }
}
