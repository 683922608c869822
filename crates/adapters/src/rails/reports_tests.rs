//! Readers over tables of documents, well-meant and hostile.

use domain::currency::Currency;
use domain::ids::AttemptId;
use domain::money::Money;
use domain::rail::RailStatus;

use super::*;

const SIMPLE: &str = "00112233445566778899aabbccddeeff";
const UETR: &str = "00112233-4455-6677-8899-aabbccddeeff";

fn message(name: &str, root: &str, body: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><Document xmlns=\"{NAMESPACE}{name}\"><{root}><GrpHdr><MsgId>B-17</MsgId></GrpHdr>\
         {body}</{root}></Document>"
    )
}

fn pain002(transaction: &str) -> String {
    let body = format!("<OrgnlPmtInfAndSts><TxInfAndSts>{transaction}</TxInfAndSts></OrgnlPmtInfAndSts>");
    message("pain.002.001.10", "CstmrPmtStsRpt", &body)
}

fn camt054(entry: &str, details: &str) -> String {
    let refs = format!("<Refs><InstrId>{SIMPLE}</InstrId><EndToEndId>e2e</EndToEndId><UETR>{UETR}</UETR></Refs>");
    let details = format!("<NtryDtls><TxDtls>{refs}{details}</TxDtls></NtryDtls>");
    message("camt.054.001.08", "BkToCstmrDbtCdtNtfctn", &format!("<Ntfctn><Ntry>{entry}{details}</Ntry></Ntfctn>"))
}

fn pacs004(transaction: &str) -> String {
    message("pacs.004.001.09", "PmtRtr", &format!("<TxInf>{transaction}</TxInf>"))
}

fn one(text: &str) -> Entry {
    let mut statement = read(text.as_bytes()).expect(text);
    assert_eq!((statement.entries.len(), statement.complaints.as_slice()), (1, [].as_slice()), "{text}");
    statement.entries.remove(0)
}

fn ours() -> AttemptId {
    AttemptId::parse(UETR).expect("a UUID")
}

#[test]
fn a_status_report_is_read_whole() {
    let entry = one(&pain002(&format!(
        "<StsId>s1</StsId><OrgnlInstrId>{SIMPLE}</OrgnlInstrId><OrgnlEndToEndId>e2e</OrgnlEndToEndId>\
         <OrgnlUETR>{UETR}</OrgnlUETR><TxSts>RJCT</TxSts><StsRsnInf><Rsn><Cd>AC01</Cd></Rsn>\
         <AddtlInf>no such\taccount</AddtlInf><AddtlInf>&lt;b&gt;</AddtlInf></StsRsnInf>\
         <StsRsnInf><Rsn><Prtry>X9</Prtry></Rsn></StsRsnInf><AcctSvcrRef>REF-1</AcctSvcrRef>\
         <OrgnlTxRef><Amt><InstdAmt Ccy=\"PKR\">37912.05</InstdAmt></Amt></OrgnlTxRef>"
    )));
    assert_eq!(entry.end_to_end.as_deref(), Some("e2e"));
    assert_eq!(
        entry.report,
        RailReport {
            attempt: ours(),
            status: RailStatus::Rejected,
            reason: Some("AC01".into()),
            info: Some("no such account <b>".into()),
            bank_reference: Some("REF-1".into()),
            amount: Some(Money::new(3_791_205, Currency::Pkr)),
            source: "pain.002 B-17".into(),
        }
    );
}

#[test]
fn bookings_are_told_apart() {
    let debit = "<CdtDbtInd>DBIT</CdtDbtInd>";
    let returned = "<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>";
    for (entry, details, status) in [
        (debit, "", RailStatus::Settled),
        ("", debit, RailStatus::Settled),
        ("<CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>", "", RailStatus::Settled),
        ("<CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>PDNG</Cd></Sts>", "", RailStatus::Accepted),
        ("<CdtDbtInd>DBIT</CdtDbtInd><Sts>INFO</Sts>", "", RailStatus::Unrecognised("INFO entry".into())),
        ("<CdtDbtInd>CRDT</CdtDbtInd><RvslInd>true</RvslInd>", "", RailStatus::Returned),
        ("<CdtDbtInd>CRDT</CdtDbtInd>", returned, RailStatus::Returned),
        (
            "<CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>PDNG</Cd></Sts>",
            returned,
            RailStatus::Unrecognised("PDNG entry".into()),
        ),
        ("<CdtDbtInd>DBIT</CdtDbtInd><RvslInd>false</RvslInd>", "", RailStatus::Settled),
    ] {
        assert_eq!(one(&camt054(entry, details)).report.status, status, "{entry} {details}");
    }
    let report = one(&camt054(
        "<Amt Ccy=\"PKR\">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><AcctSvcrRef>N-1</AcctSvcrRef>",
        "<RtrInf><Rsn><Cd>AC04</Cd></Rsn><AddtlInf>closed</AddtlInf></RtrInf>",
    ))
    .report;
    assert_eq!((report.reason.as_deref(), report.info.as_deref()), (Some("AC04"), Some("closed")));
    assert_eq!((report.amount, report.bank_reference.as_deref()), (Some(Money::new(500, Currency::Pkr)), Some("N-1")));
}

#[test]
fn the_sum_of_a_batch_booking_is_nobodys_amount() {
    let details = format!("<TxDtls><Refs><UETR>{UETR}</UETR></Refs></TxDtls>");
    let body = format!(
        "<Ntfctn><Ntry><Amt Ccy=\"PKR\">10</Amt><CdtDbtInd>DBIT</CdtDbtInd><AcctSvcrRef>N</AcctSvcrRef>\
         <NtryDtls>{details}{details}</NtryDtls></Ntry></Ntfctn>"
    );
    let text = message("camt.054.001.08", "BkToCstmrDbtCdtNtfctn", &body);
    let statement = read(text.as_bytes()).expect("readable");
    assert_eq!(statement.entries.len(), 2);
    assert!(statement.entries.iter().all(|e| e.report.amount.is_none() && e.report.bank_reference.is_none()));
}

#[test]
fn a_return_is_read_whole() {
    let report = one(&pacs004(&format!(
        "<RtrId>r</RtrId><OrgnlInstrId>{SIMPLE}</OrgnlInstrId><OrgnlEndToEndId>e</OrgnlEndToEndId>\
         <OrgnlUETR>{UETR}</OrgnlUETR><RtrdIntrBkSttlmAmt Ccy=\"VND\">1000</RtrdIntrBkSttlmAmt>\
         <RtrRsnInf><Rsn><Cd>AC04</Cd></Rsn></RtrRsnInf>"
    )))
    .report;
    assert_eq!((report.attempt, report.status), (ours(), RailStatus::Returned));
    assert_eq!(report.amount, Some(Money::new(1000, Currency::Vnd)));
    assert_eq!((report.reason.as_deref(), report.source.as_str()), (Some("AC04"), "pacs.004 B-17"));
}

#[test]
fn entries_that_cannot_be_understood_are_complained_about() {
    let id = format!("<OrgnlInstrId>{SIMPLE}</OrgnlInstrId>");
    let amount = |ccy: &str, text: &str| {
        pain002(&format!("{id}<TxSts>ACSC</TxSts><OrgnlTxRef><Amt><InstdAmt{ccy}>{text}</InstdAmt></Amt></OrgnlTxRef>"))
    };
    for (text, reason) in [
        (pain002("<TxSts>ACSC</TxSts>"), "neither InstrId nor UETR"),
        (pain002("<OrgnlEndToEndId>e2e</OrgnlEndToEndId><TxSts>ACSC</TxSts>"), "neither InstrId nor UETR"),
        (pain002("<OrgnlInstrId>THEIRS-1</OrgnlInstrId><TxSts>ACSC</TxSts>"), "InstrId \"THEIRS-1\" is not ours"),
        (pain002("<OrgnlUETR>x&#10;y</OrgnlUETR><TxSts>ACSC</TxSts>"), "UETR \"x\\ny\" is not ours"),
        (pain002(&id), "it has no TxSts"),
        (amount(" Ccy='PKR'", "1e999999999"), "cannot be read exactly"),
        (amount(" Ccy='PKR'", &"9".repeat(1_000_000)), "cannot be read exactly"),
        (amount(" Ccy='PKR'", "1.005"), "cannot be read exactly"),
        (amount(" Ccy='XXX'", "1"), "currency \"XXX\" is not known"),
        (amount("", "1"), "InstdAmt has no Ccy"),
        (camt054("<CdtDbtInd>CRDT</CdtDbtInd>", ""), "a credit that is no return"),
        (camt054("<CdtDbtInd>BOTH</CdtDbtInd>", ""), "CdtDbtInd \"BOTH\" is not known"),
        (camt054("", ""), "it has no CdtDbtInd"),
        (camt054("<CdtDbtInd>DBIT</CdtDbtInd><RvslInd>maybe</RvslInd>", ""), "neither true nor false"),
        (message("camt.054.001.08", "BkToCstmrDbtCdtNtfctn", "<Ntfctn><Ntry/></Ntfctn>"), "it has no TxDtls"),
        (message("camt.054.001.08", "BkToCstmrDbtCdtNtfctn", ""), "it has no entries"),
        (pacs004(""), "neither InstrId nor UETR"),
        (
            message(
                "pain.002.001.10",
                "CstmrPmtStsRpt",
                "<OrgnlGrpInfAndSts><OrgnlMsgId>M</OrgnlMsgId><GrpSts>RJCT</GrpSts></OrgnlGrpInfAndSts>",
            ),
            "status \"RJCT\" of message \"M\" as a whole",
        ),
    ] {
        let statement = read(text.as_bytes()).expect("well-formed");
        assert_eq!((statement.entries.len(), statement.complaints.len()), (0, 1), "{reason}");
        assert!(statement.complaints[0].contains(reason), "{:?} does not say {reason}", statement.complaints);
        assert!(statement.complaints[0].len() < 300, "a complaint is bounded");
    }
}

#[test]
fn what_only_fills_a_place_is_missing() {
    let text = pain002(&format!(
        "<OrgnlInstrId>NOTPROVIDED</OrgnlInstrId><OrgnlEndToEndId>NOTPROVIDED</OrgnlEndToEndId>\
         <OrgnlUETR>{UETR}</OrgnlUETR><TxSts>ACSC</TxSts><AcctSvcrRef>NOTPROVIDED</AcctSvcrRef>"
    ));
    let entry = one(&text);
    assert_eq!((entry.report.attempt, entry.end_to_end, entry.report.bank_reference), (ours(), None, None));
}

#[test]
fn unknown_codes_are_kept_and_foreign_amounts_are_told() {
    let text = pain002(&format!(
        "<OrgnlInstrId>{SIMPLE}</OrgnlInstrId><TxSts>ZZZZ</TxSts>\
         <OrgnlTxRef><Amt><InstdAmt Ccy=\"USD\">1</InstdAmt></Amt></OrgnlTxRef>"
    ));
    let report = one(&text).report;
    assert_eq!(report.status, RailStatus::Unrecognised("ZZZZ".into()));
    assert_eq!(report.amount, Some(Money::new(100, Currency::Usd)));
}

#[test]
fn a_bad_entry_does_not_hide_the_good_ones() {
    let good = format!("<TxInfAndSts><OrgnlUETR>{UETR}</OrgnlUETR><TxSts>ACSP</TxSts></TxInfAndSts>");
    let body = format!("<OrgnlPmtInfAndSts>{good}<TxInfAndSts/>{good}</OrgnlPmtInfAndSts>");
    let statement = read(message("pain.002.001.10", "CstmrPmtStsRpt", &body).as_bytes()).expect("readable");
    assert_eq!(statement.entries.len(), 2);
    assert_eq!(statement.complaints, ["pain.002 B-17, TxInfAndSts 2: it has neither InstrId nor UETR"]);
}

#[test]
fn complaints_are_bounded() {
    let body = format!("<OrgnlPmtInfAndSts>{}</OrgnlPmtInfAndSts>", "<TxInfAndSts/>".repeat(1_500));
    let statement = read(message("pain.002.001.10", "CstmrPmtStsRpt", &body).as_bytes()).expect("readable");
    assert_eq!(statement.complaints.len(), MAX_COMPLAINTS + 1);
    assert!(statement.complaints[MAX_COMPLAINTS].contains("500 more"));
}

#[test]
fn messages_of_other_kinds_are_unreadable() {
    for (text, reason) in [
        ("<html>busy</html>".to_owned(), "the message is \"\", not pain.002"),
        (message("pain.001.001.09", "CstmrCdtTrfInitn", ""), "pain.001.001.09"),
        (message("pain.0021.001.09", "CstmrPmtStsRpt", ""), "pain.0021.001.09"),
        (message("pain.002.001.10", "PmtRtr", ""), "pain.002 without CstmrPmtStsRpt"),
        ("<!DOCTYPE x><x/>".to_owned(), "the message has a DOCTYPE"),
        ("{\"error\":1}".to_owned(), "the message is not well-formed XML"),
    ] {
        let said = read(text.as_bytes()).expect_err(&text).to_string();
        assert!(said.contains(reason), "{said} does not say {reason}");
    }
}

#[test]
fn a_cut_or_scrambled_message_never_panics() {
    let text = camt054("<Amt Ccy=\"PKR\">5.00</Amt><CdtDbtInd>DBIT</CdtDbtInd>", "<RtrInf/>");
    for at in 0..text.len() {
        assert!(read(&text.as_bytes()[..at]).is_err(), "cut at {at}");
        let mut scrambled = text.clone().into_bytes();
        for byte in [0, b'<', b'&', b'"', 0xff] {
            scrambled[at] = byte;
            // Any answer will do: the ids are what counts, and they are either ours or complained about.
            if let Ok(statement) = read(&scrambled) {
                assert!(statement.entries.iter().all(|entry| entry.report.attempt == ours()), "byte {at}");
            }
        }
    }
}
