//! camt.056, the request to cancel a payment: written to recall a payment, and read where a bank
//! asks for the return of one.

use domain::rail::{About, BankReport, RailStatus, RecallRequest, ReportContent};
use domain::rail_ids::ReportIds;
use domain::recall::RECALL_TEXT_MAX_CHARS;

use super::iso::{self, NAMESPACE};
use super::pain001;
use super::profile::Version;
use super::reports::Statement;
use super::xml_read::Element;
use super::xml_write::XmlWriter;
use super::{Message, OurSide};

/// Schema: Max140Text of a party's name.
const NAME_MAX_CHARS: usize = 140;

/// The recall of one attempt. The same recall gives the same bytes, ids included.
pub(super) fn write(ours: &OurSide, recall: &RecallRequest) -> Message {
    let ids = ours.profile.ids;
    let id = ids.write(&recall.recall.message_id());
    let case = ids.write(&recall.attempt.instruction_id());
    let created_at = recall.created_at.to_string();
    let namespace = format!("{NAMESPACE}{}", recall.format);
    let xml = XmlWriter::document(&namespace, 2_048, |doc| {
        doc.nest("FIToFIPmtCxlReq", |request| {
            request.nest("Assgnmt", |assignment| {
                assignment.leaf("Id", &id);
                assignment.nest("Assgnr", |assigner| party(assigner, ours));
                assignment.nest("Assgne", |assignee| {
                    assignee.nest("Agt", |agent| pain001::our_agent(agent, ours, Version::V09));
                });
                assignment.leaf("CreDtTm", &created_at);
            });
            request.nest("Case", |it| {
                it.leaf("Id", &case);
                it.nest("Cretr", |creator| party(creator, ours));
            });
            request.nest("CtrlData", |control| control.leaf("NbOfTxs", "1"));
            request.nest("Undrlyg", |underlying| {
                underlying.nest("TxInf", |tx| transaction(tx, ours, (&id, &case), recall));
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

fn transaction(
    tx: &mut XmlWriter,
    ours: &OurSide,
    (id, case): (&str, &str),
    recall: &RecallRequest,
) {
    tx.leaf("CxlId", id);
    if let Some(message) = &recall.message {
        tx.nest("OrgnlGrpInf", |group| {
            group.leaf("OrgnlMsgId", message);
            group.leaf("OrgnlMsgNmId", ours.profile.version.name());
        });
    }
    tx.leaf("OrgnlInstrId", case);
    let end_to_end = recall.payment.end_to_end_id();
    tx.leaf("OrgnlEndToEndId", &ours.profile.ids.write(&end_to_end));
    if ours.profile.version == Version::V09 {
        tx.leaf("OrgnlUETR", &recall.attempt.to_string());
    }
    tx.money("OrgnlIntrBkSttlmAmt", recall.amount);
    tx.nest("CxlRsnInf", |reason| {
        reason.chain(&["Rsn", "Cd"], recall.reason.name());
        let text = recall.text.as_ref();
        let text = text.map(|text| ours.character_set.spell(text, RECALL_TEXT_MAX_CHARS));
        reason.leaf_if("AddtlInf", text.as_deref());
    });
}

/// Parses a bank's request to return payments: one report for each transaction, which a reviewer
/// decides on. Nothing is returned by itself.
pub(super) fn read(body: &Element, statement: &mut Statement) {
    let mut number = 0;
    for underlying in body.all("Undrlyg") {
        let before = number;
        let blocks = underlying.all("OrgnlPmtInfAndCxl");
        for holder in blocks.chain(std::iter::once(underlying)) {
            for transaction in holder.all("TxInf") {
                number += 1;
                let report = requested(transaction, holder, &statement.source);
                statement.take("TxInf", number, report);
            }
        }
        let group = underlying.child("OrgnlGrpInfAndCxl");
        if let Some(group) = group.filter(|_| number == before) {
            number += 1;
            statement.take("OrgnlGrpInfAndCxl", number, requested(group, group, &statement.source));
        }
    }
}

fn requested(transaction: &Element, holder: &Element, source: &str) -> Result<BankReport, String> {
    let (reasons, info) = iso::reasons(transaction.all("CxlRsnInf"));
    let named = |path: &[&str]| iso::id(transaction, path);
    let about = About::One(ReportIds {
        uetr: named(&["OrgnlUETR"]),
        instruction: named(&["OrgnlInstrId"]).or_else(|| named(&["OrgnlTxId"])),
        end_to_end: named(&["OrgnlEndToEndId"]),
        message: named(&["OrgnlGrpInf", "OrgnlMsgId"]).or_else(|| named(&["OrgnlMsgId"])),
        block: iso::id(holder, &["OrgnlPmtInfId"]),
        ..ReportIds::default()
    });
    let code = reasons.first().map_or_else(String::new, |code| format!(" ({code})"));
    let said = ReportContent {
        status: RailStatus::Unrecognised(format!("request to return the payment{code}")),
        reasons,
        info,
        bank_reference: None,
        return_id: None,
        account: None,
        amount: None,
        other_amounts: Vec::new(),
        charges: None,
        source: source.to_owned(),
    };
    Ok(BankReport { about, said })
}

#[cfg(test)]
mod tests {
    use domain::currency::Currency;
    use domain::ids::{AttemptId, PaymentId, RecallId, TenantId};
    use domain::money::Money;
    use domain::rail_text::CharacterSet;
    use domain::recall::RecallReason;
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
}
