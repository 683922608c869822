//! Answers to recalls in the forms in which banks send them: by transaction, block, group or case,
//! in old and new versions, in an envelope and in national namespaces.

use domain::attempt::AttemptState;
use domain::currency::Currency;
use domain::ids::{AttemptId, PaymentId, TenantId};
use domain::money::Money;
use domain::rail::RecallAnswer::{Accepted, Pending, Refused};
use domain::rail_ids::{Candidate, Candidates, SentIn, Unmatched};
use uuid::Uuid;

use super::super::reports;
use super::*;

const SIMPLE: &str = "00112233445566778899aabbccddeeff";
const UETR: &str = "00112233-4455-6677-8899-aabbccddeeff";

fn camt029(namespace: &str, body: &str) -> String {
    format!(
        "<Document xmlns=\"{namespace}\"><RsltnOfInvstgtn><Assgnmt><Id>R-1</Id></Assgnmt>{body}\
         </RsltnOfInvstgtn></Document>"
    )
}

fn version(number: &str) -> String {
    format!("urn:iso:std:iso:20022:tech:xsd:camt.029.001.{number}")
}

fn read_one(text: &str) -> BankReport {
    let mut found = reports::read(text.as_bytes()).expect(text);
    assert_eq!((found.entries.len(), found.complaints.as_slice()), (1, [].as_slice()), "{text}");
    found.entries.remove(0)
}

fn ids(report: &BankReport) -> &ReportIds {
    report.ids().next().expect("ids")
}

#[test]
fn an_answer_is_read_at_every_level_and_in_every_version() {
    let case = format!("<RslvdCase><Id>{SIMPLE}</Id></RslvdCase>");
    let tx = |status: &str| {
        format!(
            "<CxlDtls><TxInfAndSts><OrgnlInstrId>{SIMPLE}</OrgnlInstrId><OrgnlUETR>{UETR}</OrgnlUETR>{status}\
             </TxInfAndSts></CxlDtls>"
        )
    };
    let group = |status: &str| {
        format!(
            "<CxlDtls><OrgnlGrpInfAndSts><OrgnlMsgId>M-1</OrgnlMsgId>{status}</OrgnlGrpInfAndSts></CxlDtls>"
        )
    };
    let block = |status: &str| {
        format!(
            "<CxlDtls><OrgnlPmtInfAndSts><OrgnlPmtInfId>B-1</OrgnlPmtInfId>{status}</OrgnlPmtInfAndSts></CxlDtls>"
        )
    };
    let conf = |code: &str| format!("<Sts><Conf>{code}</Conf></Sts>");
    for (body, answer) in [
        (format!("{case}{}", conf("CNCL")), Accepted),
        (format!("{case}{}", conf("RJCR")), Refused),
        (format!("{case}{}", conf("PDCR")), Pending),
        (tx("<TxCxlSts>ACCR</TxCxlSts>"), Accepted),
        (tx("<TxCxlSts>RJCR</TxCxlSts>"), Refused),
        (tx("<TxCxlSts>PNCR</TxCxlSts>"), Pending),
        // Without a status of its own a transaction has that of the whole.
        (format!("{}{}", conf("RJCR"), tx("")), Refused),
        (group("<GrpCxlSts>ACCR</GrpCxlSts>"), Accepted),
        (block("<PmtInfCxlSts>RJCR</PmtInfCxlSts>"), Refused),
        // The more specific status counts.
        (format!("{}{}", conf("PDCR"), tx("<TxCxlSts>RJCR</TxCxlSts>")), Refused),
    ] {
        for namespace in [
            version("03"),
            version("08"),
            version("12"),
            version("99"),
            "http://www.six-interbank-clearing.com/de/camt.029.001.09.ch.02.xsd".to_owned(),
        ] {
            let report = read_one(&camt029(&namespace, &body));
            assert_eq!(report.said.status, RailStatus::Recall(answer), "{namespace} {body}");
            assert_eq!(report.said.source, "camt.029 R-1");
        }
    }
    let enveloped = format!(
        "<p:Env xmlns:p=\"urn:any\"><p:AppHdr/>{}</p:Env>",
        camt029(&version("09"), &tx("<TxCxlSts>RJCR</TxCxlSts>"))
    );
    assert_eq!(read_one(&enveloped).said.status, RailStatus::Recall(Refused));
}

#[test]
fn the_reasons_and_the_ids_are_those_of_the_recall() {
    let reason =
        "<CxlStsRsnInf><Rsn><Cd>LEGL</Cd></Rsn><AddtlInf>court order</AddtlInf></CxlStsRsnInf>";
    let report = read_one(&camt029(
        &version("09"),
        &format!(
            "<Sts><Conf>RJCR</Conf></Sts><CxlDtls><TxInfAndSts><RslvdCase><Id>bank-7</Id></RslvdCase>\
             <OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId>{reason}</TxInfAndSts></CxlDtls>"
        ),
    ));
    assert_eq!(
        (report.said.reasons.as_slice(), report.said.info.as_deref()),
        (["LEGL".to_owned()].as_slice(), Some("court order"))
    );
    assert_eq!(
        (ids(&report).end_to_end.as_deref(), ids(&report).instruction.as_deref()),
        (Some(SIMPLE), None)
    );
    // A number of the bank's own names nothing.
    let own = format!(
        "<Sts><Conf>RJCR</Conf></Sts><CxlDtls><TxInfAndSts><RslvdCase><Id>{SIMPLE}</Id></RslvdCase>\
         <OrgnlInstrId>HOST-77</OrgnlInstrId></TxInfAndSts></CxlDtls>"
    );
    let report = read_one(&camt029(&version("09"), &own));
    assert_eq!(ids(&report).instruction.as_deref(), Some(SIMPLE));
    // The case alone names the attempt.
    let by_case = format!("<Sts><Conf>CNCL</Conf></Sts><RslvdCase><Id>{SIMPLE}</Id></RslvdCase>");
    let report = read_one(&camt029(&version("08"), &by_case));
    assert_eq!(ids(&report).instruction.as_deref(), Some(SIMPLE));
}

/// All outcomes of `ExternalInvestigationExecutionConfirmation1Code`, for a recall that the answer
/// names by the case alone.
#[test]
fn every_outcome_of_a_case_is_an_answer_or_for_review() {
    let ours = recalled_attempt();
    let for_review = |code: &str| RailStatus::Unrecognised(format!("cancellation {code}"));
    let of = |code: &str| match code {
        // Cancelled; a payment that returns the money is initiated; the beneficiary may be debited.
        "CNCL" | "IPAY" | "IPYI" | "ACDA" => RailStatus::Recall(Accepted),
        "RJCR" => RailStatus::Recall(Refused),
        // Pending, or the request is passed on.
        "PDCR" | "CWFW" => RailStatus::Recall(Pending),
        _ => for_review(code),
    };
    for code in [
        "CNCL", "IPAY", "IPYI", "ACDA", "RJCR", "PDCR", "CWFW", "PECR", "MODI", "MWFW", "UWFW",
        "INFO", "CONF", "ICOV", "MCOV", "CHRG", "PURP", "SMTC", "SMTI", "IDUP", "ACNR", "CCNR",
        "RJNR", "ACVA", "CVAA", "RJVA", "XXXX",
    ] {
        let body =
            format!("<RslvdCase><Id>{RECALL}</Id></RslvdCase><Sts><Conf>{code}</Conf></Sts>");
        let matched = read_one(&camt029(&version("09"), &body)).of_attempts(&ours);
        let matched = matched.expect(code).into_iter().map(|(_, report)| report.status);
        assert_eq!(matched.collect::<Vec<_>>(), [of(code)], "{code}");
    }
}

/// An outcome without a code, and reasons without a status, are complaints.
#[test]
fn an_answer_without_a_status_is_never_passed_over() {
    let reason =
        "<CxlStsRsnInf><Rsn><Cd>LEGL</Cd></Rsn><AddtlInf>see letter</AddtlInf></CxlStsRsnInf>";
    for (body, expected) in [
        ("<Sts><DplctOf><Id>C-1</Id></DplctOf></Sts>".to_owned(), "it has no status"),
        (
            format!("<CxlDtls><TxInfAndSts>{reason}</TxInfAndSts></CxlDtls>"),
            "reasons \"LEGL\" and text \"see letter\" of",
        ),
        (
            format!(
                "<CxlDtls><OrgnlGrpInfAndSts><OrgnlMsgId>M-1</OrgnlMsgId>{reason}</OrgnlGrpInfAndSts></CxlDtls>"
            ),
            "reasons \"LEGL\" and text \"see letter\" of MsgId M-1 without a status",
        ),
    ] {
        let found = reports::read(camt029(&version("09"), &body).as_bytes()).expect(&body);
        let [complaint] = found.complaints.as_slice() else { panic!("{found:?}") };
        assert!(complaint.contains(expected) && found.entries.is_empty(), "{complaint}");
    }
}

#[test]
fn an_outcome_that_is_no_answer_is_for_review() {
    for code in ["MODI", "PACR", "UWFW", "XXXX"] {
        let body = format!(
            "<CxlDtls><TxInfAndSts><OrgnlUETR>{UETR}</OrgnlUETR><TxCxlSts>{code}</TxCxlSts></TxInfAndSts></CxlDtls>"
        );
        let report = read_one(&camt029(&version("09"), &body));
        assert_eq!(report.said.status, RailStatus::Unrecognised(format!("cancellation {code}")));
    }
    let silent = camt029(
        &version("09"),
        &format!("<CxlDtls><TxInfAndSts><OrgnlUETR>{UETR}</OrgnlUETR></TxInfAndSts></CxlDtls>"),
    );
    let found = reports::read(silent.as_bytes()).expect("read");
    assert_eq!(found.complaints, ["camt.029 R-1, TxInfAndSts 1: it has no status"]);
}

/// A status of the recall itself must never end the payment.
#[test]
fn a_status_report_about_the_recall_is_not_one_about_the_payment() {
    for (name, code, status) in [
        ("camt.056.001.08", "RJCT", RailStatus::Recall(Refused)),
        ("camt.056.001.08", "ACCP", RailStatus::Recall(Pending)),
        ("camt.055.001.08", "RJCT", RailStatus::Recall(Refused)),
        ("pain.001.001.09", "RJCT", RailStatus::Rejected),
    ] {
        let group = format!(
            "<OrgnlGrpInfAndSts><OrgnlMsgId>C-1</OrgnlMsgId><OrgnlMsgNmId>{name}</OrgnlMsgNmId></OrgnlGrpInfAndSts>"
        );
        let tx = |group: &str| {
            format!(
                "<TxInfAndSts>{group}<OrgnlInstrId>{SIMPLE}</OrgnlInstrId><TxSts>{code}</TxSts></TxInfAndSts>"
            )
        };
        let own = group.replace("OrgnlGrpInfAndSts", "OrgnlGrpInf");
        let customer = format!(
            "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:pain.002.001.10\"><CstmrPmtStsRpt>{group}\
             <OrgnlPmtInfAndSts>{}</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>",
            tx("")
        );
        let bank = format!(
            "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:pacs.002.001.10\"><FIToFIPmtStsRpt>{}\
             </FIToFIPmtStsRpt></Document>",
            tx(&own)
        );
        for text in [customer, bank] {
            assert_eq!(read_one(&text).said.status, status, "{text}");
        }
    }
}

const RECALL: &str = "5f0c1d2e3a4b4c5d8e9f0a1b2c3d4e5f";

/// An attempt that is being recalled.
fn recalled_attempt() -> Candidates {
    let attempt = AttemptId(Uuid::parse_str(UETR).expect("a UUID"));
    Candidates::new(vec![Candidate {
        tenant: TenantId(Uuid::nil()),
        payment: PaymentId(attempt.0),
        attempt,
        number: 1,
        state: AttemptState::Accepted,
        amount: Money::new(37_912, Currency::Pkr),
        reference: None,
        sent: vec![SentIn { message: "0123456789abcdef01234567-1".to_owned(), position: 1 }],
        recalls: vec![RECALL.to_owned()],
    }])
}

/// realworld: any of our ids is a match; that of the recall names its attempt.
#[test]
fn an_answer_that_names_the_recall_alone_is_found() {
    let ours = recalled_attempt();
    let status_report = |version: &str, root: &str, id: &str, name: &str, code: &str| {
        format!(
            "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:{version}\"><{root}><OrgnlGrpInfAndSts>\
             <OrgnlMsgId>{id}</OrgnlMsgId>{name}<GrpSts>{code}</GrpSts></OrgnlGrpInfAndSts></{root}></Document>"
        )
    };
    let named = "<OrgnlMsgNmId>camt.056.001.08</OrgnlMsgNmId>";
    let pain002 = |id: &str, name: &str, code: &str| {
        status_report("pain.002.001.10", "CstmrPmtStsRpt", id, name, code)
    };
    let pacs002 = |id: &str, name: &str, code: &str| {
        status_report("pacs.002.001.10", "FIToFIPmtStsRpt", id, name, code)
    };
    let by_case = |id: &str, conf: &str| {
        format!("<Sts><Conf>{conf}</Conf></Sts><RslvdCase><Id>{id}</Id></RslvdCase>")
    };
    let by_group = |id: &str, code: &str| {
        format!(
            "<CxlDtls><TxInfAndSts><OrgnlGrpInf><OrgnlMsgId>{id}</OrgnlMsgId></OrgnlGrpInf>\
             <TxCxlSts>{code}</TxCxlSts></TxInfAndSts></CxlDtls>"
        )
    };
    let of_group = |id: &str, code: &str| {
        format!(
            "<CxlDtls><OrgnlGrpInfAndSts><OrgnlMsgId>{id}</OrgnlMsgId><GrpCxlSts>{code}</GrpCxlSts>\
             </OrgnlGrpInfAndSts></CxlDtls>"
        )
    };
    let camt029 = |body: String| camt029(&version("09"), &body);
    let heard = |text: &str| {
        let found = read_one(text).of_attempts(&ours)?;
        Ok(found.into_iter().map(|(_, report)| report.status).collect::<Vec<_>>())
    };
    for id in [RECALL, &RECALL.to_uppercase(), &RECALL[..16]] {
        for (text, answer) in [
            (camt029(by_case(id, "CNCL")), Accepted),
            (camt029(by_case(id, "RJCR")), Refused),
            (camt029(by_group(id, "ACCR")), Accepted),
            (camt029(by_group(id, "PDCR")), Pending),
            (camt029(of_group(id, "RJCR")), Refused),
            (pain002(id, named, "RJCT"), Refused),
            (pacs002(id, named, "RJCT"), Refused),
            (pacs002(id, named, "ACSP"), Pending),
            (pacs002(id, "", "ACSC"), Pending),
            (pain002(id, "", "ACTC"), Pending),
        ] {
            assert_eq!(heard(&text), Ok(vec![RailStatus::Recall(answer)]), "{text}");
        }
    }
    for text in [pain002(RECALL, "", "RJCT"), pacs002(RECALL, "", "RJCT")] {
        assert_eq!(heard(&text), Ok(vec![RailStatus::Recall(Refused)]), "{text}");
    }
    // The bank's own numbers, another recall's, and another customer's payment.
    let other = "6f0c1d2e3a4b4c5d8e9f0a1b2c3d4e5f";
    let foreign = format!(
        "<CxlDtls><TxInfAndSts><RslvdCase><Id>{RECALL}</Id></RslvdCase><OrgnlEndToEndId>INV-7</OrgnlEndToEndId>\
         <TxCxlSts>ACCR</TxCxlSts></TxInfAndSts></CxlDtls>"
    );
    for text in [
        camt029(by_case("CASE-1", "CNCL")),
        camt029(by_case(other, "CNCL")),
        camt029(foreign),
        pain002(other, named, "RJCT"),
        pain002(other, "", "RJCT"),
        pacs002("B-1", "", "ACSC"),
    ] {
        assert_eq!(heard(&text), Err(Unmatched::Nothing), "{text}");
    }
}

/// Whatever name the bank gives the recall's message, and however it shortens its id.
#[test]
fn a_status_of_the_recalls_own_message_never_pays_or_ends_the_payment() {
    let recall = RECALL;
    let ours = recalled_attempt();
    let heard = |root: &str, id: &str, name: &str, tx: &str| {
        let name = if name.is_empty() {
            String::new()
        } else {
            format!("<OrgnlMsgNmId>{name}</OrgnlMsgNmId>")
        };
        let original = format!("<OrgnlMsgId>{id}</OrgnlMsgId>{name}");
        let listed = |inside: &str| {
            format!("<TxInfAndSts>{inside}<OrgnlInstrId>{SIMPLE}</OrgnlInstrId>{tx}</TxInfAndSts>")
        };
        let body = match root {
            "pacs.002.001.10 of a transaction" => {
                listed(&format!("<OrgnlGrpInf>{original}</OrgnlGrpInf>"))
            }
            _ => format!("<OrgnlGrpInfAndSts>{original}</OrgnlGrpInfAndSts>{}", listed("")),
        };
        let (version, root) = match root.split_once(".002") {
            Some(("pain", _)) => ("pain.002.001.10", "CstmrPmtStsRpt"),
            _ => ("pacs.002.001.10", "FIToFIPmtStsRpt"),
        };
        let text = format!(
            "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:{version}\"><{root}>{body}</{root}></Document>"
        );
        let found = read_one(&text).of_attempts(&ours).expect("matched");
        found.into_iter().map(|(_, report)| report.status).collect::<Vec<_>>()
    };
    for root in ["pain.002.001.10", "pacs.002.001.10", "pacs.002.001.10 of a transaction"] {
        for name in ["", "pain.001.001.09", "pacs.008.001.08", "camt.056.001.08", "NOTPROVIDED"] {
            for id in [recall, &recall.to_uppercase(), &recall[..16], &recall[..30]] {
                for (code, answer) in [
                    ("ACSC", Pending),
                    ("ACCC", Pending),
                    ("ACSP", Pending),
                    ("RCVD", Pending),
                    ("CANC", Pending),
                    ("UNKN", Pending),
                    ("RJCT", Refused),
                ] {
                    let tx = format!("<TxSts>{code}</TxSts>");
                    let expected = vec![RailStatus::Recall(answer)];
                    assert_eq!(heard(root, id, name, &tx), expected, "{root} {name} {id} {code}");
                }
            }
        }
        // Of the message that carried the payment, and of one of another party's.
        for id in ["0123456789abcdef01234567-1", "BANK-17"] {
            let paid = heard(root, id, "pain.001.001.09", "<TxSts>ACSC</TxSts>");
            assert_eq!(paid, [RailStatus::Settled], "{root} {id}");
        }
    }
}

#[test]
fn a_banks_request_to_return_a_payment_is_a_named_discrepancy() {
    let request = format!(
        "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.056.001.08\"><FIToFIPmtCxlReq><Assgnmt><Id>Q-1</Id>\
         </Assgnmt><Undrlyg><TxInf><OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId><OrgnlUETR>{UETR}</OrgnlUETR>\
         <CxlRsnInf><Rsn><Cd>FRAD</Cd></Rsn></CxlRsnInf></TxInf></Undrlyg></FIToFIPmtCxlReq></Document>"
    );
    let report = read_one(&request);
    let expected = RailStatus::Unrecognised("request to return the payment (FRAD)".to_owned());
    assert_eq!(
        (report.said.status.clone(), report.said.source.as_str()),
        (expected, "camt.056 Q-1")
    );
    assert_eq!(ids(&report).uetr.as_deref(), Some(UETR));
}

#[test]
fn an_answer_that_excludes_itself_decides_nothing() {
    let of = |confirmed: &str, status: &str| {
        let body = format!(
            "<Sts><Conf>{confirmed}</Conf></Sts><CxlDtls><TxInfAndSts><OrgnlInstrId>{SIMPLE}</OrgnlInstrId>\
             <TxCxlSts>{status}</TxCxlSts></TxInfAndSts></CxlDtls>"
        );
        read_one(&camt029(&version("08"), &body)).said.status
    };
    let said = |what: &str| RailStatus::Unrecognised(what.to_owned());
    assert_eq!(of("RJCR", "ACCR"), said("cancellation ACCR of a case with RJCR"));
    assert_eq!(of("CNCL", "RJCR"), said("cancellation RJCR of a case with CNCL"));
    assert_eq!(of("CNCL", "ACCR"), RailStatus::Recall(Accepted));
    // A case that is executed in part, or pending, leaves it to its transactions.
    assert_eq!(of("PECR", "RJCR"), RailStatus::Recall(Refused));
    assert_eq!(of("PDCR", "ACCR"), RailStatus::Recall(Accepted));
}

/// camt.029.001.01, in the structure of its schema: it answers a case, and lists no transaction.
#[test]
fn the_first_version_is_read_as_its_successors() {
    let name = "camt.029.001.01";
    let resolution = |sts: &str| {
        format!(
            "<{name}><Assgnmt><Id>R-1</Id><Assgnr>HABBPKKA</Assgnr><Assgne>DEMOAEAD</Assgne>\
             <CreDtTm>2026-11-22T10:00:00</CreDtTm></Assgnmt><RslvdCase><Id>{SIMPLE}</Id><Cretr>DEMOAEAD</Cretr></RslvdCase>\
             <Sts>{sts}</Sts></{name}>"
        )
    };
    let own = |body: &str| {
        let namespace = version("01");
        body.replacen(&format!("<{name}>"), &format!("<{name} xmlns=\"{namespace}\">"), 1)
    };
    let inside = |body: &str| format!("<Document xmlns=\"{}\">{body}</Document>", version("01"));
    for (code, answer) in
        [("CNCL", Accepted), ("IPAY", Accepted), ("RJCR", Refused), ("PDCR", Pending)]
    {
        let body = resolution(&format!("<Conf>{code}</Conf>"));
        for text in [inside(&body), own(&body)] {
            let report = read_one(&text);
            assert_eq!(report.said.status, RailStatus::Recall(answer), "{code}");
            assert_eq!(ids(&report).instruction.as_deref(), Some(SIMPLE), "{code}");
            assert_eq!(report.said.source, "camt.029 R-1");
        }
    }
    // Other outcomes of an investigation are for users, whatever form they have.
    let modified = read_one(&inside(&resolution("<Conf>MODI</Conf>")));
    assert!(matches!(modified.said.status, RailStatus::Unrecognised(_)), "{modified:?}");
    for sts in ["<DplctOf><Id>C-2</Id></DplctOf>", "<AssgnmtCxlConf>true</AssgnmtCxlConf>"] {
        let text = inside(&resolution(sts));
        let found = reports::read(text.as_bytes()).expect("readable");
        assert_eq!((found.entries.len(), found.complaints.len()), (0, 1), "{sts}");
    }
}
