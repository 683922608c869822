//! Messages of other senders, quoted messages, reports without a status, first versions, and the
//! codes of returns.

use super::*;

const ISO: &str = "urn:iso:std:iso:20022:tech:xsd:";
const SIMPLE: &str = "00112233445566778899aabbccddeeff";
const MESSAGE: &str = "0123456789abcdef01234567-2";

fn document(name: &str, body: &str) -> String {
    format!("<Document xmlns=\"{ISO}{name}\">{body}</Document>")
}

fn pain002(body: &str) -> String {
    let body =
        format!("<CstmrPmtStsRpt><GrpHdr><MsgId>B-17</MsgId></GrpHdr>{body}</CstmrPmtStsRpt>");
    document("pain.002.001.10", &body)
}

fn good() -> String {
    pain002(&format!(
        "<OrgnlPmtInfAndSts><TxInfAndSts><OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId><TxSts>ACSP</TxSts>\
         </TxInfAndSts></OrgnlPmtInfAndSts>"
    ))
}

fn complaints(text: &str) -> Vec<String> {
    read(text.as_bytes()).expect(text).complaints
}

fn sole(text: &str) -> BankReport {
    let mut found = read(text.as_bytes()).expect(text);
    assert_eq!((found.entries.len(), found.complaints.as_slice()), (1, [].as_slice()), "{text}");
    found.entries.remove(0)
}

/// A credit with a code of returns is one, without `RvslInd` and `RtrInf`.
#[test]
fn codes_of_returns_are_returns() {
    let entry = |direction: &str, code: &str| {
        document(
            "camt.054.001.08",
            &format!(
                "<BkToCstmrDbtCdtNtfctn><GrpHdr><MsgId>B-17</MsgId></GrpHdr><Ntfctn><Ntry><Amt Ccy=\"PKR\">379.12</Amt>\
                 <CdtDbtInd>{direction}</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BkTxCd>{code}</BkTxCd><NtryDtls><TxDtls>\
                 <Refs><EndToEndId>{SIMPLE}</EndToEndId></Refs></TxDtls></NtryDtls></Ntry></Ntfctn></BkToCstmrDbtCdtNtfctn>"
            ),
        )
    };
    let family = |family: &str, code: &str| {
        format!(
            "<Domn><Cd>PMNT</Cd><Fmly><Cd>{family}</Cd><SubFmlyCd>{code}</SubFmlyCd></Fmly></Domn>"
        )
    };
    let own = |code: &str| format!("<Prtry><Cd>{code}</Cd><Issr>BANK</Issr></Prtry>");
    for code in [
        family("ICDT", "ARET"),
        family("IRCT", "RRTN"),
        family("ICDT", "AREV"),
        family("RCDT", "RPCR"),
        own("NRTI"),
        own("RTI"),
        own("NRTI+159+00931"),
    ] {
        let report = sole(&entry("CRDT", &code));
        assert_eq!(report.said.status, domain::rail::RailStatus::Returned, "{code}");
        let debit = sole(&entry("DBIT", &code)).said.status;
        assert!(matches!(debit, domain::rail::RailStatus::Unrecognised(_)), "{code}");
    }
    for code in [family("RCDT", "ESCT"), family("ICDT", "XXXX"), own("NTRF"), own("NRTIX")] {
        assert_eq!(complaints(&entry("CRDT", &code)).len(), 1, "{code}");
    }
}
