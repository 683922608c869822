//! Writes pacs.028.001.03, the inquiry about the status of instructions.

use domain::rail::Inquiry;
use domain::time::Timestamp;
use uuid::Uuid;

use super::Message;
use super::iso::NAMESPACE;
use super::profile::{Profile, Version};
use super::xml_write::XmlWriter;

const BYTES_PER_INQUIRY: usize = 320;

/// The inquiry about several attempts, named as they were sent. Each inquiry has its own id and may be
/// sent any number of times.
pub(super) fn write(profile: &Profile, attempts: &[Inquiry]) -> Message {
    let now = Timestamp(jiff::Timestamp::now().as_microsecond());
    compose(profile.ids.write(&Uuid::new_v4().simple().to_string()), now, profile, attempts)
}

fn compose(id: String, now: Timestamp, profile: &Profile, attempts: &[Inquiry]) -> Message {
    let namespace = format!("{NAMESPACE}pacs.028.001.03");
    let capacity = 512 + attempts.len() * BYTES_PER_INQUIRY;
    let xml = XmlWriter::document(&namespace, capacity, |doc| {
        doc.nest("FIToFIPmtStsReq", |request| {
            request.nest("GrpHdr", |header| {
                header.leaf("MsgId", &id);
                header.leaf("CreDtTm", &now.to_string());
            });
            for attempt in attempts {
                let instruction = profile.ids.write(&attempt.attempt.instruction_id());
                request.nest("TxInf", |tx| {
                    tx.leaf("StsReqId", &instruction);
                    tx.leaf("OrgnlInstrId", &instruction);
                    tx.leaf(
                        "OrgnlEndToEndId",
                        &profile.ids.write(&attempt.payment.end_to_end_id()),
                    );
                    if profile.version == Version::V09 {
                        tx.leaf("OrgnlUETR", &attempt.attempt.to_string());
                    }
                });
            }
        });
    });
    Message { id, xml }
}

#[cfg(test)]
mod tests {
    use domain::ids::{AttemptId, PaymentId};

    use super::*;

    #[test]
    fn an_inquiry_names_every_attempt_by_all_its_ids() {
        let inquiry = Inquiry {
            payment: PaymentId(Uuid::from_u128(1)),
            attempt: AttemptId(Uuid::from_u128(2)),
            created_at: Timestamp(0),
            recalls: Vec::new(),
        };
        assert_eq!(
            compose("q1".to_owned(), Timestamp(0), &Profile::default(), &[inquiry]).xml,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:pacs.028.001.03\"><FIToFIPmtStsReq>\
             <GrpHdr><MsgId>q1</MsgId><CreDtTm>1970-01-01T00:00:00.000Z</CreDtTm></GrpHdr>\
             <TxInf><StsReqId>00000000000000000000000000000002</StsReqId>\
             <OrgnlInstrId>00000000000000000000000000000002</OrgnlInstrId>\
             <OrgnlEndToEndId>00000000000000000000000000000001</OrgnlEndToEndId>\
             <OrgnlUETR>00000000-0000-0000-0000-000000000002</OrgnlUETR></TxInf>\
             </FIToFIPmtStsReq></Document>\n"
        );
        let id = || write(&Profile::default(), &[]).id;
        assert_ne!(id(), id());
    }
}
