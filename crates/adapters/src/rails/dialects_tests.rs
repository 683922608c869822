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

/// What a message of another kind quotes is never read as the bank's report, in any form of the
/// quotation and of its wrapper; the message is refused by its name.
#[test]
fn a_quoted_message_is_not_the_banks_report() {
    let quoted = [
        good(),
        document("pain.001.001.09", "<CstmrCdtTrfInitn/>"),
        document("camt.056.001.08", "<FIToFIPmtCxlReq/>"),
    ];
    for quoted in quoted {
        let escaped = quoted.replace('<', "&lt;");
        for quotation in
            [format!("<![CDATA[{quoted}]]>"), format!("<![CDATA[ {quoted} ]]>"), escaped]
        {
            let reject = |p: &str| {
                format!(
                    "<{p}RltdRef><{p}Ref>B-1</{p}Ref></{p}RltdRef><{p}Rsn><{p}RjctgPtyRsn>690</{p}RjctgPtyRsn>\
                     <{p}AddtlData>{quotation}</{p}AddtlData></{p}Rsn>"
                )
            };
            let name = "admi.002.001.01";
            let (bare, prefixed) = (reject(""), reject("mr:"));
            for message in [
                format!(
                    "<Message xmlns=\"urn:tch\" xmlns:mr=\"{ISO}{name}\"><MessageReject><mr:{name}>{prefixed}</mr:{name}>\
                     </MessageReject></Message>"
                ),
                format!("<{name} xmlns=\"{ISO}{name}\">{bare}</{name}>"),
                format!("<Env><Body><MsgRjct xmlns=\"{ISO}{name}\">{bare}</MsgRjct></Body></Env>"),
                document(name, &format!("<{name}>{bare}</{name}>")),
            ] {
                let refused = read(message.as_bytes()).map(|found| found.entries);
                let Err(Unreadable::Kind(what)) = refused else { panic!("{refused:?} {message}") };
                let expected = iso::quoted(&format!("{ISO}{name}"));
                assert_eq!(what, format!("{expected} (reference \"B-1\", reason \"690\")"));
                // Beside a good report, in the same file.
                for file in [format!("{}{message}", good()), format!("<F>{message}{}</F>", good())]
                {
                    let found = read(file.as_bytes()).expect(&file);
                    assert_eq!((found.entries.len(), found.complaints.len()), (1, 1), "{file}");
                    assert!(found.complaints[0].contains("reason \"690\""), "{found:?}");
                }
            }
        }
    }
}

/// An envelope may be in the namespace of the message that it contains.
#[test]
fn headers_and_envelopes_are_no_messages() {
    let inner = good();
    for text in [
        format!("<Xchg xmlns=\"{ISO}head.002.001.01\"><Pyld>{inner}</Pyld></Xchg>"),
        format!("<BizMsgEnvlp xmlns=\"{ISO}nvlp.001.001.01\"><Doc>{inner}</Doc></BizMsgEnvlp>"),
        format!("<Env xmlns=\"{ISO}pain.002.001.10\"><Body>{inner}</Body></Env>"),
        format!("<Msg><AppHdr xmlns=\"{ISO}head.001.001.02\"><A>x</A></AppHdr>{inner}</Msg>"),
    ] {
        assert_eq!(sole(&text).ids().next().expect("ids").end_to_end.as_deref(), Some(SIMPLE));
    }
}

/// An element that only has the namespace of a message may contain messages of other kinds.
#[test]
fn a_document_in_a_wrapper_is_a_message_of_its_own() {
    let inner = good();
    let id = |report: &BankReport| report.ids().next().and_then(|ids| ids.end_to_end.clone());
    let notice = document(
        "camt.054.001.08",
        "<BkToCstmrDbtCdtNtfctn><GrpHdr><MsgId>N-1</MsgId></GrpHdr></BkToCstmrDbtCdtNtfctn>",
    );
    let pain001 = "http://bank/ws/pain.001.001.03";
    for text in [
        format!("<submitResponse xmlns=\"{pain001}\">{inner}</submitResponse>"),
        format!(
            "<submitResponse xmlns=\"{pain001}\"><r xmlns=\"urn:x\">{inner}</r></submitResponse>"
        ),
        format!("<Env xmlns=\"{ISO}camt.054.001.08\"><Body>{inner}</Body></Env>"),
    ] {
        assert_eq!(id(&sole(&text)).as_deref(), Some(SIMPLE), "{text}");
    }
    let both = format!("<Env xmlns=\"{ISO}pain.002.001.10\">{inner}{notice}{inner}</Env>");
    let found = read(both.as_bytes()).expect("readable");
    assert_eq!(found.kinds, [Kind::Pain002, Kind::Camt054, Kind::Pain002]);
    assert_eq!((found.entries.len(), found.complaints.len()), (2, 1), "{found:?}");
    // One within a message, or a rejection, is quoted.
    let quoting =
        document("pain.001.001.09", &format!("<CstmrCdtTrfInitn>{inner}</CstmrCdtTrfInitn>"));
    let reject = format!("<MsgRjct xmlns=\"{ISO}admi.002.001.01\"><D>{inner}</D></MsgRjct>");
    for text in [quoting, reject] {
        assert!(matches!(read(text.as_bytes()), Err(Unreadable::Kind(_))), "{text}");
    }
    let extension = format!("<SplmtryData><Envlp>{notice}</Envlp></SplmtryData>");
    let extended = inner.replace("</CstmrPmtStsRpt>", &format!("{extension}</CstmrPmtStsRpt>"));
    assert_eq!(id(&sole(&extended)).as_deref(), Some(SIMPLE));
}

/// The message's identifier may name a first version, or an element around the message's own.
#[test]
fn an_element_named_by_the_identifier_is_not_passed_over() {
    let inner = good();
    let body = inner.split_once('>').and_then(|(_, rest)| rest.rsplit_once("</Document>"));
    let body = body.expect("a document").0;
    let name = "pain.002.001.03";
    for wrapped in [
        format!("<{name}>{body}</{name}>"),
        format!("<Any><{name}><Any>{body}</Any></{name}></Any>"),
        format!("<{name}><{name}>{body}</{name}></{name}>"),
    ] {
        for text in
            [document(name, &wrapped), format!("<Env xmlns=\"{ISO}{name}\">{wrapped}</Env>")]
        {
            let report = sole(&text);
            assert_eq!(report.ids().next().and_then(|ids| ids.end_to_end.as_deref()), Some(SIMPLE));
        }
    }
    // A message without a header and content.
    for body in ["<CstmrPmtStsRpt/>", "<pain.002.001.02><Other/></pain.002.001.02>"] {
        let found = complaints(&document("pain.002.001.02", body));
        assert_eq!(found, ["pain.002 without MsgId: it has no header and no entries"], "{body}");
    }
}

#[test]
fn reasons_without_a_status_are_never_passed_over() {
    let reason = |code: &str| {
        format!("<StsRsnInf><Rsn><Cd>{code}</Cd></Rsn><AddtlInf>why</AddtlInf></StsRsnInf>")
    };
    let group = |more: &str| {
        format!("<OrgnlGrpInfAndSts><OrgnlMsgId>{MESSAGE}</OrgnlMsgId>{more}</OrgnlGrpInfAndSts>")
    };
    let block = |id: &str, more: &str| {
        format!("<OrgnlPmtInfAndSts><OrgnlPmtInfId>{id}</OrgnlPmtInfId>{more}</OrgnlPmtInfAndSts>")
    };
    let hac = |blocks: &str| {
        pain002(&format!(
            "<OrgnlGrpInfAndSts><OrgnlMsgId>EBICS</OrgnlMsgId><OrgnlMsgNmId>EBICS</OrgnlMsgNmId></OrgnlGrpInfAndSts>{blocks}"
        ))
    };
    let silent = |text: &str, of: &str| {
        let found = read(text.as_bytes()).expect(text);
        let [complaint] = found.complaints.as_slice() else { panic!("{found:?}") };
        assert!(complaint.contains(of) && complaint.contains("without a status"), "{complaint}");
        assert!(found.entries.is_empty(), "{text}");
    };
    silent(
        &pain002(&group(&reason("AM05"))),
        &format!("reasons \"AM05\" and text \"why\" of MsgId {MESSAGE}"),
    );
    silent(&pain002(&(group("") + &block(MESSAGE, &reason("FF01")))), "reasons \"FF01\"");
    silent(
        &pain002(&group("<StsRsnInf><AddtlInf>refused</AddtlInf></StsRsnInf>")),
        "text \"refused\"",
    );
    for code in ["TA01", "TS02", "TS04", "DS0B", "TD03"] {
        silent(&hac(&block("FILE_UPLOAD", &reason(code))), "PmtInfId FILE_UPLOAD");
    }
    silent(&hac(&block("ORDER_HAC_FINAL_NEG", &reason("DS0H"))), "PmtInfId ORDER_HAC_FINAL_NEG");
    let interbank = format!("<FIToFIPmtStsRpt>{}</FIToFIPmtStsRpt>", group(&reason("AC01")));
    silent(&document("pacs.002.001.10", &interbank), "reasons \"AC01\"");
    // Steps of a protocol that went well, and reasons beside a status or a transaction that has one.
    let tx = format!(
        "<TxInfAndSts><OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId><TxSts>ACSP</TxSts></TxInfAndSts>"
    );
    for text in [
        hac(&(block("FILE_UPLOAD", &reason("TS01")) + &block("ES_VERIFICATION", &reason("DS01")))),
        hac(&(block("FILE_DOWNLOAD", &reason("TD01")) + &block("VEU_FORWARDING", &reason("DS06")))),
        hac(&(block("ADDITIONAL", &reason("DS05"))
            + &block("ORDER_HAC_FINAL_POS", &reason("DS07")))),
        pain002(&(group(&reason("NARR")) + &block(MESSAGE, &tx))),
        pain002(&(group(&reason("NARR")) + &block(MESSAGE, "<PmtInfSts>ACSP</PmtInfSts>"))),
        pain002(&group(&format!("<GrpSts>RCVD</GrpSts>{}", reason("NARR")))),
    ] {
        assert_eq!(complaints(&text), Vec::<String>::new(), "{text}");
    }
    // The reasons of a block without a status are those of its message's.
    let rejected = pain002(&(group("<GrpSts>RJCT</GrpSts>") + &block(MESSAGE, &reason("AM05"))));
    assert_eq!(sole(&rejected).said.reasons, ["AM05"]);
}

/// First versions, in the structure of their schemas.
#[test]
fn first_versions_are_read_as_their_successors() {
    let group = "<GrpHdr><MsgId>B-17</MsgId></GrpHdr>";
    let reason = "<StsRsnInf><StsRsn><Cd>AC01</Cd></StsRsn><AddtlStsRsnInf>no account</AddtlStsRsnInf></StsRsnInf>";
    for name in ["pain.002.001.02", "pacs.002.001.02"] {
        let body = format!(
            "<{name}>{group}<OrgnlGrpInfAndSts><OrgnlMsgId>M-1</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.02</OrgnlMsgNmId>\
             </OrgnlGrpInfAndSts><TxInfAndSts><OrgnlPmtInfId>P-1</OrgnlPmtInfId><OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId>\
             <TxSts>RJCT</TxSts>{reason}<OrgnlTxRef><Amt><InstdAmt Ccy=\"PKR\">379.12</InstdAmt></Amt></OrgnlTxRef>\
             </TxInfAndSts></{name}>"
        );
        for text in [
            document(name, &body),
            body.replacen(&format!("<{name}>"), &format!("<{name} xmlns=\"{ISO}{name}\">"), 1),
        ] {
            let report = sole(&text);
            let ids = report.ids().next().expect("ids");
            assert_eq!((ids.message.as_deref(), ids.block.as_deref()), (Some("M-1"), Some("P-1")));
            assert_eq!(
                (report.said.reasons, report.said.info.as_deref()),
                (vec!["AC01".to_owned()], Some("no account"))
            );
            assert_eq!(report.said.amount.map(|it| it.minor), Some(37_912));
        }
    }
    let entry = format!(
        "<Ntry><Amt Ccy=\"PKR\">379.12</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2026-11-22</Dt></BookgDt>\
         <BkTxCd/><TxDtls><Refs><EndToEndId>{SIMPLE}</EndToEndId></Refs><RtrInf><RtrRsn><Cd>AC04</Cd></RtrRsn>\
         <AddtlRtrRsnInf>closed</AddtlRtrRsnInf></RtrInf></TxDtls></Ntry>"
    );
    let balance = |code: &str, amount: &str| {
        format!(
            "<Bal><Tp><Cd>{code}</Cd></Tp><Amt Ccy=\"PKR\">{amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-11-22</Dt></Dt></Bal>"
        )
    };
    let list = |name: &str| {
        format!(
            "<{name}><Id>S-1</Id><CreDtTm>2026-11-23T00:00:05</CreDtTm><Acct><Id><BBAN>0001123456702</BBAN></Id></Acct>{}{}{entry}</{name}>",
            balance("OPBD", "1.00"),
            balance("CLBD", "380.12")
        )
    };
    for (name, body, of) in [
        ("camt.054.001.01", "BkToCstmrDbtCdtNtfctnV01", "Ntfctn"),
        ("camt.052.001.01", "BkToCstmrAcctRptV01", "Rpt"),
    ] {
        let report = sole(&document(name, &format!("<{body}>{group}{}</{body}>", list(of))));
        assert_eq!(report.said.status, domain::rail::RailStatus::Returned, "{name}");
        assert_eq!(
            (report.said.reasons.as_slice(), report.said.account.as_deref()),
            (["AC04".to_owned()].as_slice(), Some("0001123456702"))
        );
    }
    let text = document(
        "camt.053.001.01",
        &format!("<BkToCstmrStmtV01>{group}{}</BkToCstmrStmtV01>", list("Stmt")),
    );
    let found = read(text.as_bytes()).expect("readable");
    let [statement] = found.statements.as_slice() else { panic!("{found:?}") };
    assert_eq!(
        (statement.opening, statement.closing, statement.turnover),
        (Some(100), Some(38_012), 37_912)
    );
    assert_eq!((statement.account.as_str(), found.complaints), ("0001123456702", Vec::new()));
    let [entry] = statement.entries.as_slice() else { panic!("{statement:?}") };
    assert_eq!(entry.ids.end_to_end.as_deref(), Some(SIMPLE));
}

/// pacs.004.001.01, in the structure of its schema: its reasons and charges have names of their own.
#[test]
fn the_first_version_of_a_return_is_read_as_its_successors() {
    let name = "pacs.004.001.01";
    let said = "<RtrRsnInf><RtrOrgtr><Nm>Bank</Nm></RtrOrgtr><RtrRsn><Cd>AC04</Cd></RtrRsn>\
                <AddtlRtrRsnInf>closed</AddtlRtrRsnInf></RtrRsnInf>";
    let header = |more: &str| {
        format!(
            "<GrpHdr><MsgId>B-17</MsgId><CreDtTm>2026-11-22T10:00:00</CreDtTm><NbOfTxs>1</NbOfTxs>{more}\
             <SttlmInf><SttlmMtd>CLRG</SttlmMtd></SttlmInf></GrpHdr>"
        )
    };
    let of_group = |reason: &str| {
        format!(
            "<OrgnlGrpInf><OrgnlMsgId>M-1</OrgnlMsgId><OrgnlMsgNmId>pacs.008.001.01</OrgnlMsgNmId>{reason}</OrgnlGrpInf>"
        )
    };
    let transaction = format!(
        "<TxInf><RtrId>R-1</RtrId><OrgnlPmtInfId>P-1</OrgnlPmtInfId><OrgnlInstrId>{SIMPLE}</OrgnlInstrId>\
         <OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId><OrgnlTxId>T-1</OrgnlTxId>\
         <OrgnlIntrBkSttlmAmt Ccy=\"PKR\">379.12</OrgnlIntrBkSttlmAmt><RtrdIntrBkSttlmAmt Ccy=\"PKR\">378.12</RtrdIntrBkSttlmAmt>\
         <IntrBkSttlmDt>2026-11-22</IntrBkSttlmDt><RtrdInstdAmt Ccy=\"PKR\">379.12</RtrdInstdAmt><ChrgBr>SHAR</ChrgBr>\
         <ChrgsInf><ChrgsAmt Ccy=\"PKR\">1.00</ChrgsAmt><ChrgsPty><FinInstnId><BIC>HABBPKKA</BIC></FinInstnId></ChrgsPty></ChrgsInf>\
         {said}</TxInf>"
    );
    let body = |inner: &str| format!("<{name}>{inner}</{name}>");
    let forms = |body: String| {
        let own =
            body.replacen(&format!("<{name}>"), &format!("<{name} xmlns=\"{ISO}{name}\">"), 1);
        [document(name, &body), own]
    };
    for text in forms(body(&(header("") + &of_group("") + &transaction))) {
        let report = sole(&text);
        let ids = report.ids().next().expect("ids");
        assert_eq!((ids.message.as_deref(), ids.block.as_deref()), (Some("M-1"), Some("P-1")));
        assert_eq!(
            (ids.instruction.as_deref(), ids.end_to_end.as_deref()),
            (Some(SIMPLE), Some(SIMPLE))
        );
        let said = report.said;
        assert_eq!(said.status, domain::rail::RailStatus::Returned);
        assert_eq!(
            (said.return_id.as_deref(), said.info.as_deref()),
            (Some("R-1"), Some("closed"))
        );
        assert_eq!(said.reasons, ["AC04"]);
        assert_eq!(
            (said.amount.map(|it| it.minor), said.charges.map(|it| it.minor)),
            (Some(37_812), Some(100))
        );
    }
    // A whole message in one sum, with the reason of the message.
    let total =
        "<GrpRtr>true</GrpRtr><TtlRtrdIntrBkSttlmAmt Ccy=\"PKR\">389.12</TtlRtrdIntrBkSttlmAmt>";
    for text in forms(body(&(header(total) + &of_group(said)))) {
        let report = sole(&text);
        assert!(
            matches!(report.about, domain::rail::About::Batch { count: Some(1), .. }),
            "{:?}",
            report.about
        );
        assert_eq!(report.said.status, domain::rail::RailStatus::Returned);
        assert_eq!(report.said.reasons, ["AC04"]);
        assert_eq!(report.said.amount.map(|it| it.minor), Some(38_912));
    }
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
