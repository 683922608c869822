//! Messages parsed, written and refused.

use domain::currency::Currency;
use domain::money::Money;
use domain::time::Timestamp;
use quick_xml::Reader;
use quick_xml::events::Event;

use super::*;
use crate::bank::core::{InstructionView, QueryView, RecallWord, Standing, TxStatus};

const PAIN_001: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn>
 <GrpHdr><MsgId>M-1</MsgId><CreDtTm>2026-11-21T06:57:48Z</CreDtTm><NbOfTxs>2</NbOfTxs></GrpHdr>
 <PmtInf><PmtInfId>P-1</PmtInfId><Dbtr><Nm>Sender</Nm></Dbtr><DbtrAcct><Id><Othr><Id>NOSTRO</Id></Othr></Id></DbtrAcct>
  <CdtTrfTxInf><PmtId><InstrId>i1</InstrId><EndToEndId>e1</EndToEndId><UETR>u1</UETR></PmtId>
   <Amt><InstdAmt Ccy="PKR">37912.05</InstdAmt></Amt><UltmtDbtr><Nm>Ultimate</Nm></UltmtDbtr>
   <CdtrAgt><FinInstnId><Othr><Id>NOT-THIS</Id></Othr></FinInstnId></CdtrAgt>
   <Cdtr><Nm>A &amp; B &#75;han</Nm><Id><PrvtId><Othr><Id>DOC</Id></Othr></PrvtId></Id></Cdtr>
   <CdtrAcct><Id><IBAN>PK36SCBL0000001123456702</IBAN></Id></CdtrAcct></CdtTrfTxInf>
  <CdtTrfTxInf><PmtId><InstrId>i2</InstrId><EndToEndId>e2</EndToEndId></PmtId>
   <Amt><InstdAmt Ccy="VND">500</InstdAmt></Amt><Cdtr><Nm><![CDATA[C]]></Nm></Cdtr>
   <CdtrAcct><Id><Othr><Id> 12340006 </Id></Othr></Id></CdtrAcct></CdtTrfTxInf>
 </PmtInf></CstmrCdtTrfInitn></Document>"#;

fn payment(ids: (&str, &str, &str), amount: Money, account: &str, name: &str) -> InstructionView {
    InstructionView {
        instruction_id: ids.0.into(),
        end_to_end_id: ids.1.into(),
        uetr: ids.2.into(),
        amount,
        account: account.into(),
        beneficiary: name.into(),
    }
}

fn standing(status: TxStatus) -> Standing {
    Standing {
        rail: "pak-raast".into(),
        instruction: payment(
            ("i<1>", "e1", "u1"),
            Money::new(3_791_205, Currency::Pkr),
            "0001",
            "A",
        ),
        status,
        reason: Some("AC04".into()),
        info: Some("a & b".into()),
        reference: Some("SB1".into()),
        at: Timestamp(1_795_244_268_000_000),
        recall: None,
    }
}

/// `path=text` of every leaf, which also proves that the document is well-formed.
fn leaves(xml: &str) -> Vec<String> {
    let mut reader = Reader::from_str(xml);
    let (mut path, mut text, mut leaves) = (Vec::new(), String::new(), Vec::new());
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Start(start) => {
                text.clear();
                path.push(start.to_string());
            }
            Event::Text(part) => text.push_str(&part),
            Event::GeneralRef(entity) => text.push_str(&format!("&{};", &*entity)),
            Event::End(_) => {
                if !text.trim().is_empty() {
                    leaves
                        .push(format!("{}={text}", path[path.len().saturating_sub(2)..].join("/")));
                }
                text.clear();
                path.pop();
            }
            Event::Eof => return leaves,
            _ => {}
        }
    }
}

#[test]
fn a_pain_001_is_read() {
    let expected = vec![
        payment(
            ("i1", "e1", "u1"),
            Money::new(3_791_205, Currency::Pkr),
            "PK36SCBL0000001123456702",
            "A & B Khan",
        ),
        payment(("i2", "e2", ""), Money::new(500, Currency::Vnd), "12340006", "C"),
    ];
    let message = read(PAIN_001).expect("readable");
    let name = "pain.001.001.09";
    assert_eq!(message, Message::Payments { id: "M-1".into(), name, payments: expected.clone() });
    let (older, id) = ("pain.001.001.03", "M-1".into());
    let message = read(&PAIN_001.replace(name, older)).expect("readable");
    assert_eq!(message, Message::Payments { id, name: older, payments: expected });
    let prefixed = PAIN_001
        .replace("<Document xmlns=", "<p:Document xmlns:p=")
        .replace("</Document", "</p:Document");
    assert!(
        matches!(read(&prefixed), Ok(Message::Payments { payments, .. }) if payments.len() == 2)
    );
}

#[test]
fn a_pacs_028_is_read() {
    let xml = r#"<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pacs.028.001.03"><FIToFIPmtStsReq>
        <GrpHdr><MsgId>Q-1</MsgId><CreDtTm>2026-11-21T06:57:48Z</CreDtTm></GrpHdr>
        <TxInf><StsReqId>1</StsReqId><OrgnlInstrId>i1</OrgnlInstrId><OrgnlEndToEndId>e1</OrgnlEndToEndId>
        <OrgnlUETR>u1</OrgnlUETR></TxInf></FIToFIPmtStsReq></Document>"#;
    let query =
        QueryView { instruction_id: "i1".into(), end_to_end_id: "e1".into(), uetr: "u1".into() };
    assert_eq!(
        read(xml).expect("readable"),
        Message::Inquiries { id: "Q-1".into(), queries: vec![query] }
    );
}

#[test]
fn messages_that_violate_a_rule_are_refused_with_the_field() {
    for (from, to, named) in [
        ("pain.001.001.09", "pain.001.001.02", "namespace"),
        ("<NbOfTxs>2", "<NbOfTxs>3", "NbOfTxs"),
        ("37912.05", "37912.055", "InstdAmt"),
        ("37912.05", "-1", "InstdAmt"),
        ("37912.05", "0", "InstdAmt"),
        ("37912.05", "1e3", "InstdAmt"),
        ("Ccy=\"PKR\"", "Ccy=\"XXX\"", "InstdAmt"),
        ("Ccy=\"PKR\"", "", "InstdAmt/@Ccy"),
        ("<EndToEndId>e1</EndToEndId>", "", "EndToEndId"),
        ("<InstrId>i1</InstrId>", "<InstrId/>", "InstrId"),
        ("<IBAN>PK36SCBL0000001123456702</IBAN>", "", "CdtrAcct"),
        ("<Nm><![CDATA[C]]></Nm>", "", "Cdtr/Nm"),
        ("<MsgId>M-1</MsgId>", "", "MsgId"),
        ("&amp;", "&evil;", "entity"),
        ("<Document", "<!DOCTYPE a [<!ENTITY b \"c\">]><Document", "document type"),
        ("</PmtInf>", "", "not well-formed"),
        ("</Document>", "", "Document"),
    ] {
        let broken = PAIN_001.replacen(from, to, 1);
        let fault = read(&broken).expect_err(named).to_string();
        assert!(fault.contains(named), "{named}: {fault}");
    }
    assert!(read("").is_err());
    assert!(read("{}").is_err());
}

#[test]
fn documents_contain_the_banks_statements() {
    let header = Header { id: "SB-1".into(), created_at: Timestamp(0) };
    let pain = status_document(
        &header,
        Original { id: "M<1", name: "pain.001.001.09" },
        &[standing(TxStatus::Rejected)],
    );
    for leaf in [
        "OrgnlGrpInfAndSts/OrgnlMsgId=M&lt;1",
        "TxInfAndSts/OrgnlInstrId=i&lt;1&gt;",
        "TxInfAndSts/OrgnlUETR=u1",
        "TxInfAndSts/TxSts=RJCT",
        "Rsn/Cd=AC04",
        "StsRsnInf/AddtlInf=a &amp; b",
        "Amt/InstdAmt Ccy=\"PKR\"=37912.05",
    ] {
        assert!(leaves(&pain).iter().any(|found| found == leaf), "{leaf} in {:?}", leaves(&pain));
    }
    let camt = reports_document(&header, &[standing(TxStatus::Settled)]);
    for leaf in [
        "Ntry/CdtDbtInd=DBIT",
        "Refs/AcctSvcrRef=SB1",
        "Refs/EndToEndId=e1",
        "TxDtls/Amt Ccy=\"PKR\"=37912.05",
    ] {
        assert!(leaves(&camt).iter().any(|found| found == leaf), "{leaf} in {:?}", leaves(&camt));
    }
    assert!(camt.contains("camt.054.001.08"));
    let pacs = reports_document(&header, &[standing(TxStatus::Returned)]);
    for leaf in [
        "TxInf/RtrId=SB1",
        "TxInf/OrgnlEndToEndId=e1",
        "TxInf/RtrdIntrBkSttlmAmt Ccy=\"PKR\"=37912.05",
    ] {
        assert!(leaves(&pacs).iter().any(|found| found == leaf), "{leaf} in {:?}", leaves(&pacs));
    }
    assert!(pacs.contains("pacs.004.001.09"));
    let agreed = Standing { recall: Some(RecallWord::Agreed), ..standing(TxStatus::Settled) };
    let camt = reports_document(&header, &[agreed]);
    for leaf in ["Sts/Conf=CNCL", "TxInfAndSts/OrgnlEndToEndId=e1", "TxInfAndSts/TxCxlSts=ACCR"] {
        assert!(leaves(&camt).iter().any(|found| found == leaf), "{leaf} in {:?}", leaves(&camt));
    }
    assert!(camt.contains("camt.029.001.09"));
    let empty =
        status_document::<Standing>(&header, Original { id: "Q", name: "pacs.028.001.03" }, &[]);
    assert!(!empty.contains("TxInfAndSts") && leaves(&empty).len() == 4);
}
