//! Readers against tables of documents, valid and hostile: each rule in two versions of its message
//! and in the styles of two banks.

use domain::attempt::AttemptState;
use domain::currency::Currency;
use domain::ids::{AttemptId, PaymentId, TenantId};
use domain::money::Money;
use domain::rail::{About, RailReport, RailStatus, RecallAnswer};
use domain::rail_ids::{Candidate, Candidates, ReportIds, SentIn, Unmatched};
use uuid::Uuid;

use super::*;

const NAMESPACE: &str = "urn:iso:std:iso:20022:tech:xsd:";
const SIMPLE: &str = "00112233445566778899aabbccddeeff";
const UETR: &str = "00112233-4455-6677-8899-aabbccddeeff";
const MESSAGE: &str = "0123456789abcdef01234567-2";

fn message(name: &str, root: &str, body: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><Document xmlns=\"{NAMESPACE}{name}\"><{root}><GrpHdr><MsgId>B-17</MsgId></GrpHdr>\
         {body}</{root}></Document>"
    )
}

fn pain002(transaction: &str) -> String {
    let body =
        format!("<OrgnlPmtInfAndSts><TxInfAndSts>{transaction}</TxInfAndSts></OrgnlPmtInfAndSts>");
    message("pain.002.001.10", "CstmrPmtStsRpt", &body)
}

fn notice(version: &str, entries: &str) -> String {
    message(
        &format!("camt.054.001.{version}"),
        "BkToCstmrDbtCdtNtfctn",
        &format!("<Ntfctn>{entries}</Ntfctn>"),
    )
}

fn camt054(entry: &str, details: &str) -> String {
    let refs = format!(
        "<Refs><InstrId>{SIMPLE}</InstrId><EndToEndId>e2e</EndToEndId><UETR>{UETR}</UETR></Refs>"
    );
    let amount = if entry.contains("<Amt") || details.contains("<Amt") {
        ""
    } else {
        "<Amt Ccy=\"PKR\">5.00</Amt>"
    };
    let details = format!("<NtryDtls><TxDtls>{refs}{details}</TxDtls></NtryDtls>");
    notice("08", &format!("<Ntry>{amount}{entry}{details}</Ntry>"))
}

fn pacs004(version: &str, transaction: &str) -> String {
    message(&format!("pacs.004.001.{version}"), "PmtRtr", &format!("<TxInf>{transaction}</TxInf>"))
}

fn one(text: &str) -> BankReport {
    let mut statement = read(text.as_bytes()).expect(text);
    assert_eq!(
        (statement.entries.len(), statement.complaints.as_slice()),
        (1, [].as_slice()),
        "{text}"
    );
    statement.entries.remove(0)
}

fn ids(report: &BankReport) -> &ReportIds {
    report.ids().next().expect("ids")
}

fn pkr(minor: i64) -> Money {
    Money::new(minor, Currency::Pkr)
}

/// Two attempts of one message, of 379.12 and 10.00; all tests refer to the first.
fn ours() -> Candidates {
    let candidate = |id: &str, position: usize, minor: i64| {
        let id = Uuid::parse_str(id).expect("a UUID");
        Candidate {
            tenant: TenantId(Uuid::nil()),
            payment: PaymentId(id),
            attempt: AttemptId(id),
            number: 1,
            state: AttemptState::Sending,
            amount: pkr(minor),
            reference: None,
            sent: vec![SentIn { message: MESSAGE.to_owned(), position }],
            recalls: Vec::new(),
        }
    };
    Candidates::new(vec![
        candidate(UETR, 1, 37_912),
        candidate("ff112233-4455-6677-8899-aabbccddeeff", 2, 1_000),
    ])
}

/// A message's reports on these attempts, in order.
fn heard(text: &str) -> Vec<Result<RailReport, Unmatched>> {
    let statement = read(text.as_bytes()).expect(text);
    assert_eq!(statement.complaints, Vec::<String>::new(), "{text}");
    let ours = ours();
    let of = |report: BankReport| match report.of_attempts(&ours) {
        Ok(found) => found.into_iter().map(|(_, report)| Ok(report)).collect(),
        Err(why) => vec![Err(why)],
    };
    statement.entries.into_iter().flat_map(of).collect()
}

fn statuses(text: &str) -> Vec<(bool, RailStatus)> {
    let first = AttemptId(Uuid::parse_str(UETR).expect("a UUID"));
    heard(text)
        .into_iter()
        .map(|it| it.map(|it| (it.attempt == first, it.status)).expect("matched"))
        .collect()
}

#[test]
fn a_status_report_is_read_whole() {
    let report = one(&pain002(&format!(
        "<StsId>s1</StsId><OrgnlInstrId>{SIMPLE}</OrgnlInstrId><OrgnlEndToEndId>e2e</OrgnlEndToEndId>\
         <OrgnlUETR>{UETR}</OrgnlUETR><TxSts>RJCT</TxSts><StsRsnInf><Rsn><Cd>AC01</Cd></Rsn>\
         <AddtlInf>no such\taccount</AddtlInf><AddtlInf>&lt;b&gt;</AddtlInf></StsRsnInf>\
         <StsRsnInf><Rsn><Prtry>X9</Prtry></Rsn></StsRsnInf><AcctSvcrRef>REF-1</AcctSvcrRef>\
         <OrgnlTxRef><Amt><InstdAmt Ccy=\"PKR\">37912.05</InstdAmt></Amt></OrgnlTxRef>"
    )));
    let named = ids(&report);
    assert_eq!((named.uetr.as_deref(), named.instruction.as_deref()), (Some(UETR), Some(SIMPLE)));
    assert_eq!((named.end_to_end.as_deref(), named.place), (Some("e2e"), Some((1, 1))));
    let said = &report.said;
    assert_eq!(
        (&said.status, said.reasons.as_slice()),
        (&RailStatus::Rejected, ["AC01".into(), "X9".into()].as_slice())
    );
    assert_eq!(
        (said.info.as_deref(), said.bank_reference.as_deref()),
        (Some("no such account <b>"), Some("REF-1"))
    );
    assert_eq!((said.amount, said.source.as_str()), (Some(pkr(3_791_205)), "pain.002 B-17"));
}

/// cases 01-group-rjct and 01-pmtinf-rjct: an overall status applies to each transaction that is
/// not listed.
#[test]
fn a_status_of_the_whole_is_one_of_each_that_is_not_listed() {
    let group = |status: &str, reason: &str| {
        format!(
            "<OrgnlGrpInfAndSts><OrgnlMsgId>{MESSAGE}</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId>{}{}\
             </OrgnlGrpInfAndSts>",
            if status.is_empty() { String::new() } else { format!("<GrpSts>{status}</GrpSts>") },
            if reason.is_empty() {
                String::new()
            } else {
                format!("<StsRsnInf><Rsn><Cd>{reason}</Cd></Rsn></StsRsnInf>")
            },
        )
    };
    let block = |status: &str, transactions: &str| {
        let status = if status.is_empty() {
            String::new()
        } else {
            format!("<PmtInfSts>{status}</PmtInfSts>")
        };
        format!(
            "<OrgnlPmtInfAndSts><OrgnlPmtInfId>{MESSAGE}</OrgnlPmtInfId>{status}{transactions}</OrgnlPmtInfAndSts>"
        )
    };
    let listed = |status: &str| {
        format!(
            "<TxInfAndSts><OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId><TxSts>{status}</TxSts></TxInfAndSts>"
        )
    };
    let without_status =
        format!("<TxInfAndSts><OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId></TxInfAndSts>");
    let (yes, no) = (RailStatus::Accepted, RailStatus::Rejected);
    let both = |status: &RailStatus| vec![(true, status.clone()), (false, status.clone())];
    for version in ["03", "10", "14"] {
        let said = |body: &str| {
            statuses(&message(&format!("pain.002.001.{version}"), "CstmrPmtStsRpt", body))
        };
        assert_eq!(said(&group("RJCT", "FF01")), both(&no), "the group");
        assert_eq!(said(&(group("", "") + &block("RJCT", ""))), both(&no), "the block");
        assert_eq!(
            said(&(group("RJCT", "") + &block("RJCT", ""))),
            both(&no),
            "both report it, once each"
        );
        for code in ["ACTC", "ACCP", "ACSP", "ACWC"] {
            assert_eq!(said(&group(code, "")), both(&yes), "{code}");
            assert_eq!(said(&(group("", "") + &block(code, ""))), both(&yes), "{code}");
        }
        let mixed = said(&(group("RJCT", "") + &block("", &listed("ACSP"))));
        assert_eq!(
            mixed,
            [(true, yes.clone()), (false, no.clone())],
            "the listed one has its own status"
        );
        assert_eq!(
            said(&(group("PART", "") + &block("", &listed("RJCT")))),
            [(true, no.clone())],
            "the others are unchanged"
        );
        assert_eq!(
            said(&(group("PART", "") + &block("PART", &listed("RJCT")))),
            [(true, no.clone())]
        );
        assert_eq!(
            said(&(group("ACSP", "") + &block("", &without_status))),
            both(&yes),
            "a missing status is inherited"
        );
        for quiet in ["RCVD", "PDNG", "PATC"] {
            assert_eq!(said(&group(quiet, "")), [], "{quiet}");
        }
    }
    let reason = heard(&message("pain.002.001.10", "CstmrPmtStsRpt", &group("RJCT", "FF01")))
        .remove(0)
        .expect("ours");
    assert_eq!(reason.reason.as_deref(), Some("FF01"));
    let foreign = group("RJCT", "").replace(MESSAGE, "BANK-9");
    assert_eq!(
        heard(&message("pain.002.001.10", "CstmrPmtStsRpt", &foreign)),
        [Err(Unmatched::Nothing)]
    );
}

/// What the bank received may be another file than the one that was sent.
#[test]
fn a_status_that_ends_a_message_is_about_the_message_that_was_sent() {
    let said = |status: &str, level: &str, totals: &str| {
        let group = format!("<OrgnlMsgId>{MESSAGE}</OrgnlMsgId>");
        let own = format!("{totals}<{level}>{status}</{level}>");
        let body = match level {
            "GrpSts" => format!("<OrgnlGrpInfAndSts>{group}{own}</OrgnlGrpInfAndSts>"),
            _ => format!(
                "<OrgnlGrpInfAndSts>{group}</OrgnlGrpInfAndSts><OrgnlPmtInfAndSts><OrgnlPmtInfId>{MESSAGE}\
                 </OrgnlPmtInfId>{own}</OrgnlPmtInfAndSts>"
            ),
        };
        heard(&message("pain.002.001.10", "CstmrPmtStsRpt", &body))
    };
    let totals = |count: &str, sum: &str| {
        format!("<OrgnlNbOfTxs>{count}</OrgnlNbOfTxs><OrgnlCtrlSum>{sum}</OrgnlCtrlSum>")
    };
    for level in ["GrpSts", "PmtInfSts"] {
        for status in ["RJCT", "ACSC"] {
            for fits in [totals("2", "389.12"), totals("2", "0389.1200"), String::new()] {
                let found = said(status, level, &fits);
                assert_eq!(found.iter().filter(|it| it.is_ok()).count(), 2, "{status} {fits}");
            }
            for (wrong, stated) in [
                (totals("1", "389.12"), "1 transactions"),
                (totals("3", "389.12"), "3 transactions"),
                (totals("2", "379.12"), "a sum of 379.12"),
            ] {
                let found = said(status, level, &wrong);
                let [Err(why)] = found.as_slice() else { panic!("{level} {wrong}: {found:?}") };
                assert!(why.to_string().contains(stated), "{why}");
            }
        }
        // What ends nothing may be imprecise.
        assert_eq!(said("ACSP", level, &totals("1", "1.00")).len(), 2);
    }
}

/// A message that is accepted in part counts its rejections: other numbers than are listed are a
/// discrepancy of their own, and the listed ones are taken all the same.
#[test]
fn rejections_that_are_counted_are_listed() {
    let counts = |per_status: &[(&str, &str)]| -> String {
        let count = |(status, count): &(&str, &str)| {
            format!(
                "<NbOfTxsPerSts><DtldNbOfTxs>{count}</DtldNbOfTxs><DtldSts>{status}</DtldSts></NbOfTxsPerSts>"
            )
        };
        per_status.iter().map(count).collect()
    };
    let listed = |status: &str| {
        format!(
            "<TxInfAndSts><OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId><TxSts>{status}</TxSts></TxInfAndSts>"
        )
    };
    let group = |status: &str, counts: &str| {
        format!(
            "<OrgnlGrpInfAndSts><OrgnlMsgId>{MESSAGE}</OrgnlMsgId><GrpSts>{status}</GrpSts>{counts}</OrgnlGrpInfAndSts>"
        )
    };
    let block = |status: &str, counts: &str, transactions: &str| {
        let status = match status {
            "" => String::new(),
            status => format!("<PmtInfSts>{status}</PmtInfSts>"),
        };
        format!(
            "<OrgnlPmtInfAndSts><OrgnlPmtInfId>{MESSAGE}</OrgnlPmtInfId>{status}{counts}{transactions}</OrgnlPmtInfAndSts>"
        )
    };
    let (one, two) = (counts(&[("RJCT", "1")]), counts(&[("ACSP", "7"), ("RJCT", "2")]));
    let rejected = counts(&[("ACSP", "0"), ("RJCT", "2")]);
    let no = listed("RJCT");
    for version in ["03", "10"] {
        let heard = |body: String| {
            let text = message(&format!("pain.002.001.{version}"), "CstmrPmtStsRpt", &body);
            let statement = read(text.as_bytes()).expect("well-formed");
            (statement.entries.len(), statement.complaints.join("\n"))
        };
        let blocks = |inner: String, counts: &str| heard(group("PART", counts) + &inner);
        for (what, (entries, complaint)) in [
            ("a count that fits", blocks(block("", "", &no), &one)),
            ("with leading zeros", blocks(block("", "", &no), &counts(&[("RJCT", "001")]))),
            ("in two parts", blocks(block("", "", &(no.clone() + &no)), &(one.clone() + &one))),
            ("without a count", blocks(block("", "", &no), "")),
            ("other counts alone", blocks(block("", "", &no), &counts(&[("ACSP", "5")]))),
            ("of the block", blocks(block("PART", &one, &no), "")),
            ("of both", blocks(block("PART", &one, &no), &one)),
            ("of a rejected block, which lists none", blocks(block("RJCT", &rejected, ""), &two)),
            ("of a rejected message", heard(group("RJCT", &rejected))),
        ] {
            assert_eq!(complaint, "", "{version} {what}");
            assert!(entries > 0, "{version} {what}");
        }
        for (what, (entries, complaint), stated) in [
            (
                "too few are listed",
                blocks(block("", "", &no), &two),
                "\"2\" rejections are counted, 1 are listed",
            ),
            (
                "in the block",
                blocks(block("PART", &two, &no), ""),
                "\"2\" rejections are counted, 1 are listed",
            ),
            (
                "another is listed",
                blocks(block("", "", &listed("ACSP")), &one),
                "\"1\" rejections are counted, 0 are listed",
            ),
            (
                "too many are listed",
                blocks(block("", "", &(no.clone() + &no)), &one),
                "\"1\" rejections are counted, 2 are listed",
            ),
            (
                "no number",
                blocks(block("", "", &no), &counts(&[("RJCT", "one")])),
                "\"one\" rejections are counted, 1 are listed",
            ),
            (
                "too large a number",
                blocks(block("", "", &no), &counts(&[("RJCT", "99999999999999999999999")])),
                "1 are listed",
            ),
            (
                "an accepted message with rejections",
                heard(group("ACSP", &one)),
                "\"1\" rejections are counted, 0 are listed",
            ),
        ] {
            assert!(
                complaint.contains(stated) && complaint.contains(MESSAGE),
                "{version} {what}: {complaint}"
            );
            assert_eq!(complaint.lines().count(), 1, "{version} {what}: {complaint}");
            assert!(entries > 0, "{version} {what}: what is listed counts");
        }
    }
}

#[test]
fn bookings_are_distinguished() {
    let debit = "<CdtDbtInd>DBIT</CdtDbtInd>";
    let returned = "<RtrInf><Rsn><Cd>AC04</Cd></Rsn></RtrInf>";
    let family = "<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>RRTN</SubFmlyCd></Fmly></Domn></BkTxCd>";
    let undone = || RailStatus::Unrecognised("a debit that reverses a credit".into());
    for (entry, details, status) in [
        (debit, "", RailStatus::Settled),
        ("", debit, RailStatus::Settled),
        ("<CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>", "", RailStatus::Settled),
        ("<CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts>", "", RailStatus::Settled),
        ("<CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>PDNG</Cd></Sts>", "", RailStatus::Accepted),
        (
            "<CdtDbtInd>DBIT</CdtDbtInd><Sts>INFO</Sts>",
            "",
            RailStatus::Unrecognised("INFO entry".into()),
        ),
        ("<CdtDbtInd>CRDT</CdtDbtInd><RvslInd>true</RvslInd>", "", RailStatus::Returned),
        ("<CdtDbtInd>CRDT</CdtDbtInd><RvslInd>1</RvslInd>", "", RailStatus::Returned),
        ("<CdtDbtInd>CRDT</CdtDbtInd>", returned, RailStatus::Returned),
        ("<CdtDbtInd>CRDT</CdtDbtInd>", family, RailStatus::Returned),
        (
            "<CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>PDNG</Cd></Sts>",
            returned,
            RailStatus::Unrecognised("PDNG entry".into()),
        ),
        ("<CdtDbtInd>DBIT</CdtDbtInd><RvslInd>false</RvslInd>", "", RailStatus::Settled),
        // With RvslInd the direction is that of the entry itself: only a credit brings money back.
        ("<CdtDbtInd>DBIT</CdtDbtInd><RvslInd>true</RvslInd>", "", undone()),
        ("<CdtDbtInd>DBIT</CdtDbtInd>", returned, undone()),
        ("<CdtDbtInd>CRDT</CdtDbtInd><RvslInd>true</RvslInd>", debit, undone()),
    ] {
        for version in ["02", "08", "13"] {
            let text = camt054(entry, details)
                .replace("camt.054.001.08", &format!("camt.054.001.{version}"));
            assert_eq!(one(&text).said.status, status, "{version} {entry} {details}");
        }
    }
    let report = one(&camt054(
        "<Amt Ccy=\"PKR\">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><AcctSvcrRef>N-1</AcctSvcrRef>",
        "<RtrInf><Rsn><Cd>AC04</Cd></Rsn><AddtlInf>closed</AddtlInf></RtrInf>",
    ));
    assert_eq!(
        (report.said.reasons.as_slice(), report.said.info.as_deref()),
        (["AC04".into()].as_slice(), Some("closed"))
    );
    assert_eq!(
        (report.said.amount, report.said.bank_reference.as_deref()),
        (Some(pkr(500)), Some("N-1"))
    );
}

/// Amounts are in TxDtls/Amt, else AmtDtls/TxAmt, else AmtDtls/InstdAmt, else, for one transaction,
/// in the entry.
#[test]
fn amounts_are_found_in_each_of_their_places() {
    let entry = |amount: &str, details: &[&str]| {
        let all: String = details
            .iter()
            .map(|it| {
                format!("<TxDtls><Refs><EndToEndId>{SIMPLE}</EndToEndId></Refs>{it}</TxDtls>")
            })
            .collect();
        format!(
            "<Ntry><Amt Ccy=\"PKR\">{amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd><NtryDtls>{all}</NtryDtls></Ntry>"
        )
    };
    let own = "<Amt Ccy=\"PKR\">1.00</Amt>";
    let tx = "<AmtDtls><InstdAmt><Amt Ccy=\"PKR\">3.00</Amt></InstdAmt><TxAmt><Amt Ccy=\"PKR\">2.00</Amt></TxAmt></AmtDtls>";
    let instructed = "<AmtDtls><InstdAmt><Amt Ccy=\"PKR\">3.00</Amt></InstdAmt></AmtDtls>";
    for version in ["02", "08"] {
        for (details, minor) in
            [(format!("{own}{tx}"), 100), (tx.to_owned(), 200), (instructed.to_owned(), 300)]
        {
            let report = one(&notice(version, &entry("9.00", &[&details])));
            assert_eq!(report.said.amount, Some(pkr(900)), "the account was moved by it");
            assert_eq!(report.said.other_amounts[0], pkr(minor), "{version} {details}");
        }
        assert_eq!(
            one(&notice(version, &entry("9.00", &[""]))).said.amount,
            Some(pkr(900)),
            "the entry's"
        );
        let batch =
            read(notice(version, &entry("9.00", &[instructed, ""])).as_bytes()).expect("readable");
        let said: Vec<_> =
            batch.entries.iter().map(|it| (it.said.amount, it.said.status.clone())).collect();
        let nameless = RailStatus::Unrecognised("a booking without an amount".into());
        assert_eq!(
            said,
            [(Some(pkr(300)), RailStatus::Settled), (None, nameless)],
            "a missing amount never counts as equal"
        );
    }
}

/// An account in another currency: the bank states the payout in both.
#[test]
fn the_amount_in_the_payouts_currency_decides() {
    let entry = |direction: &str, currency: &str, details: &str, of_entry: &str| {
        format!(
            "<Ntry><Amt Ccy=\"{currency}\">27.30</Amt><CdtDbtInd>{direction}</CdtDbtInd>{of_entry}<NtryDtls><TxDtls>\
             <Refs><EndToEndId>{SIMPLE}</EndToEndId></Refs>{details}</TxDtls></NtryDtls></Ntry>"
        )
    };
    let place = |name: &str, minor: &str| {
        format!("<AmtDtls><{name}><Amt Ccy=\"PKR\">{minor}</Amt></{name}></AmtDtls>")
    };
    let own = "<Amt Ccy=\"USD\">27.30</Amt>";
    let debit = |details: &str| entry("DBIT", "USD", details, "");
    let instructed = place("InstdAmt", "379.12");
    let several = "<AmtDtls><InstdAmt><Amt Ccy=\"PKR\">379.12</Amt></InstdAmt><TxAmt><Amt Ccy=\"PKR\">375.00</Amt></TxAmt></AmtDtls>";
    let amount = |text: &str| one(text).of_attempts(&ours()).expect("ours")[0].1.amount;
    for version in ["02", "08"] {
        for (text, minor) in [
            (debit(&format!("{own}{instructed}")), 37_912),
            (debit(&instructed), 37_912),
            (debit(&format!("{own}{}", place("CntrValAmt", "379.12"))), 37_912),
            (debit(&format!("{own}{}", place("TxAmt", "379.12"))), 37_912),
            (debit(&format!("{own}{several}")), 37_912),
            (entry("DBIT", "USD", own, &instructed), 37_912),
            // The bank's charge is a difference, as in the payout's currency alone.
            (debit(&format!("{own}{}", place("InstdAmt", "375.00"))), 37_500),
            // A currency that Corridor has no accounts in.
            (
                entry("DBIT", "GBP", &format!("<Amt Ccy=\"GBP\">20.00</Amt>{instructed}"), ""),
                37_912,
            ),
            // A return is never assumed to be full.
            (entry("CRDT", "USD", &format!("<RtrInf/>{own}{several}"), ""), 37_500),
        ] {
            assert_eq!(amount(&notice(version, &text)), Some(pkr(minor)), "{version} {text}");
        }
        let usd = Money::new(2730, Currency::Usd);
        assert_eq!(amount(&notice(version, &debit(own))), Some(usd), "nothing to compare with");
    }
    let returned = |amounts: &str| {
        pacs004("09", &format!("<OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId>{amounts}"))
    };
    let settled = "<RtrdIntrBkSttlmAmt Ccy=\"USD\">27.10</RtrdIntrBkSttlmAmt>";
    let in_rupees = "<RtrdInstdAmt Ccy=\"PKR\">379.12</RtrdInstdAmt>";
    assert_eq!(amount(&returned(&format!("{settled}{in_rupees}"))), Some(pkr(37_912)));
    let dollars = Money::new(2710, Currency::Usd);
    assert_eq!(amount(&returned(settled)), Some(dollars));
}

#[test]
fn charges_are_found_in_each_version() {
    let booking = |version: &str, amounts: &str, charges: &str, of_entry: &str| {
        let refs = format!("<Refs><EndToEndId>{SIMPLE}</EndToEndId></Refs>");
        let details = format!("<NtryDtls><TxDtls>{refs}{amounts}{charges}</TxDtls></NtryDtls>");
        let head = "<Amt Ccy=\"PKR\">389.12</Amt><CdtDbtInd>DBIT</CdtDbtInd>";
        one(&notice(version, &format!("<Ntry>{head}{of_entry}{details}</Ntry>"))).said
    };
    let total = "<Chrgs><TtlChrgsAndTaxAmt Ccy=\"PKR\">10.00</TtlChrgsAndTaxAmt></Chrgs>";
    let records = "<Chrgs><Rcrd><Amt Ccy=\"PKR\">4.00</Amt></Rcrd><Rcrd><Amt Ccy=\"PKR\">6.00</Amt></Rcrd></Chrgs>";
    let old =
        "<Chrgs><Amt Ccy=\"PKR\">4.00</Amt></Chrgs><Chrgs><Amt Ccy=\"PKR\">6.00</Amt></Chrgs>";
    let own = "<Amt Ccy=\"PKR\">379.12</Amt>";
    for (version, amounts, charges, of_entry) in [
        ("08", "", total, ""),
        ("08", "", records, ""),
        ("02", "", old, ""),
        ("08", "", "", total),
        ("08", own, total, ""),
        ("13", own, "", records),
    ] {
        let said = booking(version, amounts, charges, of_entry);
        let expected = (Some(pkr(38_912)), Some(pkr(1_000)));
        assert_eq!(
            (said.amount, said.charges),
            expected,
            "{version} {amounts} {charges} {of_entry}"
        );
    }
    // Charges without a sum explain no difference, and never hold the booking back.
    let record = |amount: &str, currency: &str| {
        format!("<Rcrd><Amt Ccy=\"{currency}\">{amount}</Amt></Rcrd>")
    };
    for (records, expected) in [
        (record("5.00", "XAF"), None),
        (record("10.00", "PKR") + &record("5.00", "XAF"), None),
        (record("10.00", "PKR") + &record("3.00", "USD"), None),
        (record("ten", "PKR"), None),
        (record("0.00", "USD") + &record("10.00", "PKR"), Some(pkr(1_000))),
        (record("0", "XAF") + &record("10.00", "PKR"), Some(pkr(1_000))),
    ] {
        let said = booking("08", "", &format!("<Chrgs>{records}</Chrgs>"), "");
        assert_eq!((said.amount, said.charges), (Some(pkr(38_912)), expected), "{records}");
    }
    for version in ["02", "09", "13"] {
        let said = one(&pacs004(
            version,
            &format!(
                "<OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId><RtrdIntrBkSttlmAmt Ccy=\"PKR\">369.12</RtrdIntrBkSttlmAmt>\
                 <ChrgsInf><Amt Ccy=\"PKR\">10.00</Amt><Agt/></ChrgsInf>"
            ),
        ))
        .said;
        assert_eq!(
            (said.amount, said.charges, said.status),
            (Some(pkr(36_912)), Some(pkr(1_000)), RailStatus::Returned)
        );
    }
}

#[test]
fn a_batch_booked_in_one_sum_covers_each_of_its_transactions() {
    let booking = |amount: &str, batch: &str| {
        format!(
            "<Ntry><Amt Ccy=\"PKR\">{amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts>\
             <AcctSvcrRef>N-1</AcctSvcrRef><NtryDtls><Btch>{batch}</Btch></NtryDtls></Ntry>"
        )
    };
    let by_message = format!("<MsgId>{MESSAGE}</MsgId>");
    let by_block = format!(
        "<PmtInfId>{MESSAGE}</PmtInfId><NbOfTxs>2</NbOfTxs><TtlAmt Ccy=\"PKR\">389.12</TtlAmt>"
    );
    for version in ["02", "08"] {
        for batch in [&by_message, &by_block] {
            let reports = heard(&notice(version, &booking("389.12", batch)));
            let amounts: Vec<_> =
                reports.into_iter().map(|it| it.map(|it| (it.status, it.amount))).collect();
            let paid = |minor| Ok((RailStatus::Settled, Some(pkr(minor))));
            assert_eq!(amounts, [paid(37_912), paid(1_000)], "{version} {batch}");
        }
        let other = heard(&notice(version, &booking("389.13", &by_message)));
        assert!(matches!(other.as_slice(), [Err(Unmatched::Sum { .. })]), "{other:?}");
    }
}

#[test]
fn a_return_is_read_whole() {
    let report = one(&pacs004(
        "09",
        &format!(
            "<RtrId>r</RtrId><OrgnlInstrId>{SIMPLE}</OrgnlInstrId><OrgnlEndToEndId>e</OrgnlEndToEndId>\
             <OrgnlUETR>{UETR}</OrgnlUETR><RtrdIntrBkSttlmAmt Ccy=\"VND\">1000</RtrdIntrBkSttlmAmt>\
             <RtrRsnInf><Rsn><Cd>AC04</Cd></Rsn></RtrRsnInf>"
        ),
    ));
    assert_eq!(
        (ids(&report).uetr.as_deref(), &report.said.status),
        (Some(UETR), &RailStatus::Returned)
    );
    assert_eq!(report.said.amount, Some(Money::new(1000, Currency::Vnd)));
    assert_eq!(
        (report.said.reasons.as_slice(), report.said.source.as_str()),
        (["AC04".into()].as_slice(), "pacs.004 B-17")
    );
    assert_eq!(report.said.return_id.as_deref(), Some("r"), "no reference of the payout");
    let of = |original: &str, charges: &str| {
        let text = format!(
            "<OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId><OrgnlIntrBkSttlmAmt Ccy=\"PKR\">{original}</OrgnlIntrBkSttlmAmt>\
             <RtrdIntrBkSttlmAmt Ccy=\"PKR\">379.12</RtrdIntrBkSttlmAmt>{charges}"
        );
        one(&pacs004("09", &text)).said.status
    };
    let charges = "<ChrgsInf><Amt Ccy=\"PKR\">1.00</Amt></ChrgsInf>";
    assert_eq!(of("379.12", ""), RailStatus::Returned);
    assert_eq!(of("380.12", charges), RailStatus::Returned);
    // Less than the original may be a part of it, more than it is another payment's.
    for (original, charges) in [("1.00", ""), ("75000.00", ""), ("380.13", charges)] {
        let found = of(original, charges);
        assert!(matches!(found, RailStatus::Unrecognised(_)), "{original}: {found:?}");
    }
    let nameless =
        one(&pacs004("02", &format!("<OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId>"))).said.status;
    assert_eq!(nameless, RailStatus::Unrecognised("a return without an amount".into()));
}

#[test]
fn other_messages_of_banks_are_read_too() {
    let between = message(
        "pacs.002.001.10",
        "FIToFIPmtStsRpt",
        &format!("<TxInfAndSts><OrgnlUETR>{UETR}</OrgnlUETR><TxSts>ACSC</TxSts></TxInfAndSts>"),
    );
    assert_eq!(statuses(&between), [(true, RailStatus::Settled)]);
    let resolution = format!(
        "<Document xmlns=\"{NAMESPACE}camt.029.001.09\"><RsltnOfInvstgtn><Assgnmt><Id>B-17</Id></Assgnmt><CxlDtls>\
         <TxInfAndSts><OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId><TxCxlSts>ACCR</TxCxlSts></TxInfAndSts></CxlDtls>\
         </RsltnOfInvstgtn></Document>"
    );
    assert_eq!(
        statuses(&resolution),
        [(true, RailStatus::Recall(domain::rail::RecallAnswer::Accepted))]
    );
    let entry = |refs: &str| {
        format!(
            "<Ntry><Amt Ccy=\"PKR\">379.12</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><NtryDtls><TxDtls>\
             <Refs>{refs}</Refs></TxDtls></NtryDtls></Ntry>"
        )
    };
    let interim = message(
        "camt.052.001.08",
        "BkToCstmrAcctRpt",
        &format!(
            "<Rpt>{}{}</Rpt>",
            entry(&format!("<EndToEndId>{SIMPLE}</EndToEndId>")),
            entry("<EndToEndId>X</EndToEndId>")
        ),
    );
    assert_eq!(
        statuses(&interim),
        [(true, RailStatus::Settled)],
        "an unmatched booking is left to the statement"
    );
}

#[test]
fn several_messages_of_one_file_are_all_read() {
    let first = pain002(&format!("<OrgnlUETR>{UETR}</OrgnlUETR><TxSts>ACSP</TxSts>"));
    let second = camt054("<CdtDbtInd>DBIT</CdtDbtInd>", "");
    let both = format!("{first}\n{second}");
    let enveloped = format!("<BizMsgEnvlp>{}{}</BizMsgEnvlp>", &first[21..], &second[21..]);
    for text in [both, enveloped] {
        let statement = read(text.as_bytes()).expect(&text);
        let sources: Vec<_> = statement.entries.iter().map(|it| it.said.source.as_str()).collect();
        assert_eq!(
            (sources, statement.complaints.len()),
            (vec!["pain.002 B-17", "camt.054 B-17"], 0)
        );
    }
    let cut = format!("{first}{}", &second[..second.len() - 3]);
    let statement = read(cut.as_bytes()).expect("the first message is whole");
    assert_eq!(
        (statement.entries.len(), statement.complaints.len()),
        (1, 1),
        "{:?}",
        statement.complaints
    );
}

#[test]
fn unparsable_entries_are_reported() {
    let id = format!("<OrgnlInstrId>{SIMPLE}</OrgnlInstrId>");
    let amount = |ccy: &str, text: &str| {
        pain002(&format!(
            "{id}<TxSts>ACSC</TxSts><OrgnlTxRef><Amt><InstdAmt{ccy}>{text}</InstdAmt></Amt></OrgnlTxRef>"
        ))
    };
    let group = |status: &str| {
        let body = format!(
            "<OrgnlGrpInfAndSts><OrgnlMsgId>M</OrgnlMsgId><GrpSts>{status}</GrpSts></OrgnlGrpInfAndSts>"
        );
        message("pain.002.001.10", "CstmrPmtStsRpt", &body)
    };
    for (text, reason) in [
        (pain002(&id), "it has no TxSts"),
        (amount(" Ccy='PKR'", "1e999999999"), "cannot be read exactly"),
        (amount(" Ccy='PKR'", &"9".repeat(1_000_000)), "cannot be read exactly"),
        (amount(" Ccy='PKR'", "1.005"), "cannot be read exactly"),
        (amount(" Ccy='XXX'", "1"), "currency \"XXX\" is not known"),
        (amount("", "1"), "InstdAmt has no Ccy"),
        (camt054("<CdtDbtInd>CRDT</CdtDbtInd>", ""), "a credit that is not a return"),
        (camt054("<CdtDbtInd>BOTH</CdtDbtInd>", ""), "CdtDbtInd \"BOTH\" is not known"),
        (camt054("", ""), "it has no CdtDbtInd"),
        (
            camt054("<CdtDbtInd>DBIT</CdtDbtInd><RvslInd>maybe</RvslInd>", ""),
            "neither true nor false",
        ),
        (notice("08", "<Ntry/>"), "it has no TxDtls"),
        (message("camt.054.001.08", "BkToCstmrDbtCdtNtfctn", ""), "it has no entries"),
        (group("ZZZZ"), "GrpSts \"ZZZZ\" of MsgId M"),
        (group("PART"), "GrpSts \"PART\" of MsgId M"),
    ] {
        let statement = read(text.as_bytes()).expect("well-formed");
        assert_eq!((statement.entries.len(), statement.complaints.len()), (0, 1), "{reason}");
        assert!(
            statement.complaints[0].contains(reason),
            "{:?} does not contain {reason}",
            statement.complaints
        );
        assert!(statement.complaints[0].len() < 300, "a complaint is bounded");
    }
}

#[test]
fn placeholders_count_as_missing() {
    let report = one(&pain002(&format!(
        "<OrgnlInstrId>NOTPROVIDED</OrgnlInstrId><OrgnlEndToEndId>NOTPROVIDED</OrgnlEndToEndId>\
         <OrgnlUETR>{UETR}</OrgnlUETR><TxSts>ACSC</TxSts><AcctSvcrRef>NOTPROVIDED</AcctSvcrRef>"
    )));
    let named = ids(&report);
    assert_eq!(
        (&named.instruction, &named.end_to_end, &report.said.bank_reference),
        (&None, &None, &None)
    );
}

#[test]
fn unknown_codes_are_kept_and_foreign_amounts_are_reported() {
    let said = one(&pain002(&format!(
        "<OrgnlInstrId>{SIMPLE}</OrgnlInstrId><TxSts>ZZZZ</TxSts>\
         <OrgnlTxRef><Amt><InstdAmt Ccy=\"USD\">1</InstdAmt></Amt></OrgnlTxRef>"
    )))
    .said;
    assert_eq!(said.status, RailStatus::Unrecognised("ZZZZ".into()));
    assert_eq!(said.amount, Some(Money::new(100, Currency::Usd)));
}

#[test]
fn a_bad_entry_does_not_hide_the_good_ones() {
    let good =
        format!("<TxInfAndSts><OrgnlUETR>{UETR}</OrgnlUETR><TxSts>ACSP</TxSts></TxInfAndSts>");
    let body = format!("<OrgnlPmtInfAndSts>{good}<TxInfAndSts/>{good}</OrgnlPmtInfAndSts>");
    let statement =
        read(message("pain.002.001.10", "CstmrPmtStsRpt", &body).as_bytes()).expect("readable");
    assert_eq!(statement.entries.len(), 2);
    assert_eq!(statement.complaints, ["pain.002 B-17, TxInfAndSts 2: it has no TxSts"]);
}

#[test]
fn complaints_are_bounded() {
    let body = format!("<OrgnlPmtInfAndSts>{}</OrgnlPmtInfAndSts>", "<TxInfAndSts/>".repeat(1_500));
    let statement =
        read(message("pain.002.001.10", "CstmrPmtStsRpt", &body).as_bytes()).expect("readable");
    assert_eq!(statement.complaints.len(), MAX_COMPLAINTS + 1);
    assert!(statement.complaints[MAX_COMPLAINTS].contains("500 more"));
}

#[test]
fn messages_of_other_kinds_are_unreadable() {
    for (text, reason) in [
        ("<html>busy</html>".to_owned(), "the message is \"\", not pain.002"),
        (message("pain.001.001.09", "CstmrCdtTrfInitn", ""), "pain.001.001.09"),
        (message("pain.0021.001.09", "Other", ""), "pain.0021.001.09"),
        ("<!DOCTYPE x><x/>".to_owned(), "the message has a DOCTYPE"),
        ("{\"error\":1}".to_owned(), "the message is not well-formed XML"),
    ] {
        let said = read(text.as_bytes()).expect_err(&text).to_string();
        assert!(said.contains(reason), "{said} does not contain {reason}");
    }
    let statement = read(message("pain.002.001.10", "PmtRtr", "").as_bytes()).expect("a message");
    assert_eq!(statement.complaints, ["the message is a pain.002 without CstmrPmtStsRpt"]);
}

#[test]
fn a_cut_or_scrambled_message_never_panics() {
    let text = camt054("<Amt Ccy=\"PKR\">5.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>", "<RtrInf/>");
    for at in 0..text.len() {
        assert!(read(&text.as_bytes()[..at]).is_err(), "cut at {at}");
        let mut scrambled = text.clone().into_bytes();
        for byte in [0, b'<', b'&', b'"', 0xff] {
            scrambled[at] = byte;
            // Any result is fine as long as its ids come from the text.
            if let Ok(statement) = read(&scrambled) {
                let all =
                    statement.entries.iter().flat_map(BankReport::ids).flat_map(ReportIds::strong);
                assert!(all.into_iter().all(|id| id.len() <= 40), "byte {at}");
            }
        }
    }
    assert!(matches!(one(&text).about, About::One(_)));
}

/// Every version in use, by the same facts.
#[test]
fn every_version_is_read_alike() {
    let booking = format!(
        "<Ntry><Amt Ccy=\"PKR\">379.12</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><NtryDtls><TxDtls><Refs>\
         <EndToEndId>{SIMPLE}</EndToEndId></Refs></TxDtls></NtryDtls></Ntry>"
    );
    let status = format!(
        "<OrgnlPmtInfAndSts><TxInfAndSts><OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId><TxSts>ACSC</TxSts></TxInfAndSts>\
         </OrgnlPmtInfAndSts>"
    );
    let id = format!("<OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId>");
    let between = format!("<TxInfAndSts>{id}<TxSts>ACSC</TxSts></TxInfAndSts>");
    let back =
        format!("<TxInf>{id}<RtrdIntrBkSttlmAmt Ccy=\"PKR\">379.12</RtrdIntrBkSttlmAmt></TxInf>");
    let resolved =
        format!("<CxlDtls><TxInfAndSts>{id}<TxCxlSts>ACCR</TxCxlSts></TxInfAndSts></CxlDtls>");
    let asked = format!(
        "<Undrlyg><TxInf>{id}<CxlRsnInf><Rsn><Cd>FRAD</Cd></Rsn></CxlRsnInf></TxInf></Undrlyg>"
    );
    let accepted = RailStatus::Recall(domain::rail::RecallAnswer::Accepted);
    let request = RailStatus::Unrecognised("request to return the payment (FRAD)".into());
    let booked = |account: &str| format!("<{account}>{booking}</{account}>");
    for (name, root, body, versions, expected) in [
        ("pain.002", "CstmrPmtStsRpt", status, 3..=14, RailStatus::Settled),
        ("pacs.002", "FIToFIPmtStsRpt", between, 3..=15, RailStatus::Settled),
        ("pacs.004", "PmtRtr", back, 2..=14, RailStatus::Returned),
        ("camt.029", "RsltnOfInvstgtn", resolved, 3..=13, accepted),
        ("camt.052", "BkToCstmrAcctRpt", booked("Rpt"), 2..=13, RailStatus::Settled),
        ("camt.054", "BkToCstmrDbtCdtNtfctn", booked("Ntfctn"), 2..=13, RailStatus::Settled),
        ("camt.056", "FIToFIPmtCxlReq", asked, 1..=11, request),
    ] {
        for version in versions {
            let text = message(&format!("{name}.001.{version:02}"), root, &body);
            assert_eq!(statuses(&text), [(true, expected.clone())], "{name} {version}");
        }
    }
}

/// A text may be interrupted by comments, instructions and CDATA sections.
#[test]
fn a_value_is_the_same_however_it_is_written() {
    let booking = |amount: &str, id: &str, indicator: &str| {
        let details = format!(
            "<NtryDtls><TxDtls><Refs><EndToEndId>{id}</EndToEndId></Refs></TxDtls></NtryDtls>"
        );
        let head = format!("<Amt Ccy=\"PKR\">{amount}</Amt><CdtDbtInd>{indicator}</CdtDbtInd>");
        heard(&notice("08", &format!("<Ntry>{head}{details}</Ntry>")))
    };
    let paid = booking("379.12", SIMPLE, "DBIT");
    assert_eq!(paid[0].as_ref().map(|it| it.status.clone()), Ok(RailStatus::Settled));
    let (first, last) = SIMPLE.split_at(9);
    for (amount, id, indicator) in [
        ("37<!-- 1 -->9.12", SIMPLE.to_owned(), "DBIT"),
        ("<![CDATA[379.12]]>", format!("{first}<![CDATA[{last}]]>"), "<![CDATA[DBIT]]>"),
        ("37<?x y?>9.12", format!("{first}<!--x-->{last}"), "DB<!---->IT"),
        ("\n  379.12\t", format!("\r\n{SIMPLE} "), " DBIT "),
        ("379&#46;12", format!("{first}&#x{:x};{}", u32::from('4'), &last[1..]), "&#68;BIT"),
        ("+379.12000", SIMPLE.to_uppercase(), "DBIT"),
    ] {
        assert_eq!(booking(amount, &id, indicator), paid, "{amount} {id} {indicator}");
    }
}

/// Only a status that says so is a booking.
#[test]
fn a_banks_own_status_is_no_booking() {
    for (status, expected) in [
        ("<Sts><Cd>BOOK</Cd></Sts>", RailStatus::Settled),
        ("<Sts><Prtry>BOOK</Prtry></Sts>", RailStatus::Settled),
        ("<Sts/>", RailStatus::Settled),
        ("<Sts><Cd>FUTR</Cd></Sts>", RailStatus::Unrecognised("FUTR entry".into())),
        ("<Sts><Prtry>VOID</Prtry></Sts>", RailStatus::Unrecognised("VOID entry".into())),
        ("<Sts><Prtry>PDNG</Prtry></Sts>", RailStatus::Accepted),
    ] {
        let text = camt054(&format!("<CdtDbtInd>DBIT</CdtDbtInd>{status}"), "");
        assert_eq!(one(&text).said.status, expected, "{status}");
    }
}

/// Empty elements say nothing; what is missing then is reported.
#[test]
fn empty_elements_count_as_missing() {
    let id = format!("<OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId>");
    for (text, reason) in [
        (pain002(&format!("{id}<TxSts/>")), "it has no TxSts"),
        (pain002(&format!("{id}<TxSts> </TxSts>")), "it has no TxSts"),
        (camt054("<CdtDbtInd/>", ""), "it has no CdtDbtInd"),
        (camt054("<Amt Ccy=\"PKR\"/><CdtDbtInd>DBIT</CdtDbtInd>", ""), "cannot be read exactly"),
        (camt054("<Amt Ccy=\"\">5.00</Amt><CdtDbtInd>DBIT</CdtDbtInd>", ""), "is not known"),
    ] {
        let statement = read(text.as_bytes()).expect(&text);
        assert_eq!((statement.entries.len(), statement.complaints.len()), (0, 1), "{text}");
        assert!(statement.complaints[0].contains(reason), "{:?}", statement.complaints);
    }
    let ids =
        format!("<OrgnlInstrId/><OrgnlUETR></OrgnlUETR>{id}<TxSts>ACSC</TxSts><AcctSvcrRef/>");
    assert_eq!(statuses(&pain002(&ids)), [(true, RailStatus::Settled)]);
}

/// Several lists, blocks, messages and groups of messages in one file are all read.
#[test]
fn nothing_behind_the_first_group_is_passed_over() {
    let status = |id: &str, code: &str| {
        format!(
            "<OrgnlPmtInfAndSts><OrgnlPmtInfId>{MESSAGE}</OrgnlPmtInfId><TxInfAndSts><OrgnlUETR>{id}</OrgnlUETR>\
             <TxSts>{code}</TxSts></TxInfAndSts></OrgnlPmtInfAndSts>"
        )
    };
    let other = "ff112233-4455-6677-8899-aabbccddeeff";
    let both = [(true, RailStatus::Accepted), (false, RailStatus::Rejected)];
    let blocks = status(UETR, "ACSP") + &status(other, "RJCT");
    assert_eq!(statuses(&message("pain.002.001.03", "CstmrPmtStsRpt", &blocks)), both);
    let twice = status(UETR, "ACSP") + "</CstmrPmtStsRpt><CstmrPmtStsRpt>" + &status(other, "RJCT");
    assert_eq!(statuses(&message("pain.002.001.10", "CstmrPmtStsRpt", &twice)), both);
    let entry = |id: &str, amount: &str| {
        format!(
            "<Ntry><Amt Ccy=\"PKR\">{amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd><NtryDtls><TxDtls><Refs><UETR>{id}</UETR></Refs>\
             </TxDtls></NtryDtls></Ntry>"
        )
    };
    let paid = [(true, RailStatus::Settled), (false, RailStatus::Settled)];
    let lists = entry(UETR, "379.12") + "</Ntfctn><Ntfctn>" + &entry(other, "10.00");
    assert_eq!(statuses(&notice("08", &lists)), paid);
    // pacs.002 may report on several messages.
    let group = |message: &str, code: &str| {
        format!(
            "<OrgnlGrpInfAndSts><OrgnlMsgId>{message}</OrgnlMsgId><GrpSts>{code}</GrpSts></OrgnlGrpInfAndSts>"
        )
    };
    let groups = group("BANK-9", "ACSP") + &group(MESSAGE, "RJCT");
    let said = heard(&message("pacs.002.001.10", "FIToFIPmtStsRpt", &groups));
    let rejected =
        said.iter().filter(|it| it.as_ref().is_ok_and(|it| it.status == RailStatus::Rejected));
    assert_eq!((said.len(), rejected.count()), (3, 2), "{said:?}");
    let own = format!(
        "{}<TxInfAndSts><OrgnlGrpInf><OrgnlMsgId>{MESSAGE}</OrgnlMsgId></OrgnlGrpInf><OrgnlUETR>{UETR}</OrgnlUETR>\
         <TxSts>ACSC</TxSts></TxInfAndSts>",
        group("BANK-9", "ACSP")
    );
    let said =
        statuses(&message("pacs.002.001.10", "FIToFIPmtStsRpt", &own.replace("ACSP", "RCVD")));
    assert_eq!(said, [(true, RailStatus::Settled)]);
}

/// Transactions that do not add up to their booking are reported, and read all the same.
#[test]
fn sums_that_do_not_fit_are_reported() {
    let other = "ff112233-4455-6677-8899-aabbccddeeff";
    let part = |id: &str, amount: &str, more: &str| {
        format!(
            "<TxDtls><Refs><UETR>{id}</UETR></Refs><Amt Ccy=\"PKR\">{amount}</Amt>{more}</TxDtls>"
        )
    };
    let charged = "<Chrgs><TtlChrgsAndTaxAmt Ccy=\"PKR\">5.00</TtlChrgsAndTaxAmt></Chrgs>";
    let back = "<CdtDbtInd>CRDT</CdtDbtInd><RtrInf/>";
    for (booked, second, of_entry, is_right) in [
        ("389.12", part(other, "10.00", ""), "", true),
        ("399.12", part(other, "10.00", ""), "", false),
        ("389.11", part(other, "10.00", ""), "", false),
        ("394.12", part(other, "10.00", charged), "", true),
        ("394.12", part(other, "10.00", ""), charged, true),
        ("369.12", part(other, "10.00", back), "", true),
    ] {
        let entry = format!(
            "<Ntry><Amt Ccy=\"PKR\">{booked}</Amt><CdtDbtInd>DBIT</CdtDbtInd>{of_entry}<NtryDtls>{}{second}</NtryDtls></Ntry>",
            part(UETR, "379.12", "")
        );
        let statement = read(notice("08", &entry).as_bytes()).expect("readable");
        assert_eq!(statement.entries.len(), 2, "{entry}");
        let said = statement.complaints.join("; ");
        let expected = format!("of {booked}");
        let is_said = said.contains("add up to 389.12") && said.contains(&expected);
        assert_eq!((said.is_empty(), is_said), (is_right, !is_right), "{entry}: {said}");
    }
}

/// What a list leaves out of its own totals is reported; what it has is still read.
#[test]
fn totals_that_do_not_fit_are_reported() {
    let total = |count: &str| {
        format!("<TxsSummry><TtlNtries><NbOfNtries>{count}</NbOfNtries></TtlNtries></TxsSummry>")
    };
    let entry = format!(
        "<Ntry><Amt Ccy=\"PKR\">379.12</Amt><CdtDbtInd>DBIT</CdtDbtInd><NtryDtls><Btch><NbOfTxs>COUNT</NbOfTxs></Btch><TxDtls>\
         <Refs><UETR>{UETR}</UETR></Refs></TxDtls></NtryDtls></Ntry>"
    );
    for (list, complaint) in [
        (total("1") + &entry.replace("COUNT", "1"), None),
        (total("2") + &entry.replace("COUNT", "1"), Some("it states \"2\" bookings and has 1")),
        (total("one") + &entry.replace("COUNT", "1"), Some("it states \"one\" bookings and has 1")),
        (entry.replace("COUNT", "3"), Some("a batch of \"3\" transactions lists 1")),
        // The total of all pages, and a batch of others.
        (format!("<NtfctnPgntn/>{}{}", total("9"), entry.replace("COUNT", "1")), None),
        (entry.replace("COUNT", "3").replace(UETR, "theirs"), None),
    ] {
        let statement = read(notice("08", &list).as_bytes()).expect("readable");
        assert_eq!(statement.entries.len(), 1, "{list}");
        let said = statement.complaints.first().map(String::as_str);
        let is_right = match complaint {
            None => said.is_none(),
            Some(words) => said.is_some_and(|said| said.ends_with(words)),
        };
        assert!(is_right, "{list}: {said:?}");
    }
}

/// The sum of a batch is the amount of none of its payments, however few of them are listed.
#[test]
fn a_payment_of_a_batch_has_its_own_amount_alone() {
    let listed = |id: &str, amount: &str| {
        format!("<TxDtls><Refs><EndToEndId>{id}</EndToEndId></Refs>{amount}</TxDtls>")
    };
    let own = "<Amt Ccy=\"PKR\">379.12</Amt>";
    let deep = "<AmtDtls><TxAmt><Amt Ccy=\"PKR\">379.12</Amt></TxAmt></AmtDtls>";
    let other = listed("theirs", "<Amt Ccy=\"PKR\">620.88</Amt>");
    for (batch, details, amount) in [
        ("<Btch><NbOfTxs>2</NbOfTxs></Btch>", listed(SIMPLE, own) + &other, Some(37_912)),
        ("", listed(SIMPLE, own) + &other, Some(37_912)),
        ("", listed(SIMPLE, deep) + &other, Some(37_912)),
        ("<Btch><NbOfTxs>2</NbOfTxs></Btch>", listed(SIMPLE, own), Some(37_912)),
        ("<Btch><NbOfTxs>2</NbOfTxs></Btch>", listed(SIMPLE, deep), Some(37_912)),
        // Never the sum.
        ("<Btch><NbOfTxs>2</NbOfTxs></Btch>", listed(SIMPLE, ""), None),
        ("", listed(SIMPLE, "") + &other, None),
        // The only one has the amount by which the account was moved.
        ("<Btch><NbOfTxs>1</NbOfTxs></Btch>", listed(SIMPLE, own), Some(100_000)),
        ("", listed(SIMPLE, ""), Some(100_000)),
    ] {
        let entry = format!(
            "<Ntry><Amt Ccy=\"PKR\">1000.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts>\
             <NtryDtls>{batch}{details}</NtryDtls></Ntry>"
        );
        let found = read(notice("08", &entry).as_bytes()).expect("readable");
        let is_it = |report: &&BankReport| {
            report.ids().any(|ids| ids.end_to_end.as_deref() == Some(SIMPLE))
        };
        let report = found.entries.iter().find(is_it).expect("listed");
        assert_eq!(report.said.amount.map(|it| it.minor), amount, "{batch}{details}");
    }
}

fn status_report(group: &str, blocks: &str) -> String {
    let body = format!(
        "<OrgnlGrpInfAndSts><OrgnlMsgId>{MESSAGE}</OrgnlMsgId>{group}</OrgnlGrpInfAndSts>{blocks}"
    );
    message("pain.002.001.03", "CstmrPmtStsRpt", &body)
}

fn block(head: &str, transactions: &str) -> String {
    format!("<OrgnlPmtInfAndSts>{head}{transactions}</OrgnlPmtInfAndSts>")
}

fn reason(code: &str) -> String {
    format!("<StsRsnInf><Rsn><Cd>{code}</Cd></Rsn></StsRsnInf>")
}

/// Whether each report of a text proves that the bank has the instruction.
fn possession(text: &str) -> Vec<bool> {
    heard(text).into_iter().map(|it| it.expect("ours").proves_possession(None)).collect()
}

/// A rejection has the reasons of its block and its message: a duplicate at any level is one.
#[test]
fn a_duplicate_is_one_wherever_it_is_stated() {
    let (dup, other) = (reason("AM05"), reason("MS03"));
    let tx = |more: &str| {
        format!(
            "<TxInfAndSts><OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId><TxSts>RJCT</TxSts>{more}</TxInfAndSts>"
        )
    };
    let rejected = "<GrpSts>RJCT</GrpSts>";
    for (what, text, expected) in [
        ("group", status_report(&format!("{rejected}{dup}"), ""), vec![true, true]),
        (
            "group, and the block repeats the status",
            status_report(&format!("{rejected}{dup}"), &block("<PmtInfSts>RJCT</PmtInfSts>", "")),
            vec![true, true],
        ),
        (
            "block without a status",
            status_report(rejected, &block(&dup, &tx(""))),
            vec![true, true],
        ),
        (
            "group, beside another reason of the transaction",
            status_report(&format!("{rejected}{dup}"), &block("", &tx(&other))),
            vec![true, true],
        ),
        (
            "block, of a message that is accepted in part",
            status_report("<GrpSts>PART</GrpSts>", &block(&dup, &tx(""))),
            vec![true],
        ),
        (
            "a listed one, so that the others may be there, too",
            status_report(rejected, &block("", &tx(&dup))),
            vec![true, true],
        ),
        (
            "words of the message",
            status_report(
                &format!(
                    "{rejected}<StsRsnInf><AddtlInf>file already processed</AddtlInf></StsRsnInf>"
                ),
                &block("", &tx("<StsRsnInf><AddtlInf>see file</AddtlInf></StsRsnInf>")),
            ),
            vec![true, true],
        ),
        (
            "nowhere",
            status_report(&format!("{rejected}{other}"), &block("", &tx(""))),
            vec![false, false],
        ),
    ] {
        assert_eq!(possession(&text), expected, "{what}: {text}");
    }
    let accepted = format!("<GrpSts>ACSP</GrpSts>{}", reason("NARR"));
    let text = status_report(&accepted, &block("", &tx("").replace("RJCT", "ACSC")));
    let first = heard(&text).remove(0).expect("ours");
    assert_eq!((first.status, first.reason), (RailStatus::Settled, None), "others' reasons");
}

/// A bank's own code that equals one of ISO's need not mean the same.
#[test]
fn a_code_of_the_banks_own_leaves_the_reason_to_the_text() {
    let about = |place: &str, code: &str, text: &str| {
        let reason = format!(
            "<StsRsnInf><Rsn><{place}>{code}</{place}></Rsn><AddtlInf>{text}</AddtlInf></StsRsnInf>"
        );
        let ids = format!("<OrgnlInstrId>{SIMPLE}</OrgnlInstrId>");
        one(&pain002(&format!("{ids}<TxSts>RJCT</TxSts>{reason}"))).said
    };
    let first = AttemptId(Uuid::parse_str(UETR).expect("a UUID"));
    let proves = |said: &domain::rail::ReportContent| said.of(first).proves_possession(None);
    for (place, code, is_open) in [
        ("Prtry", "E001", true),
        ("Prtry", "0094", true),
        ("Prtry", "U05", true),
        ("Prtry", "AC01", true),
        ("Prtry", "TM01", true),
        ("Cd", "9999", true),
        ("Cd", "NARR", true),
        ("Cd", "AC01", false),
        ("Cd", "TM01", false),
    ] {
        for text in ["already credited", "Already processed", "transaction already exists"] {
            let said = about(place, code, text);
            assert_eq!(proves(&said), is_open, "{place} {code} {text}");
            assert_eq!(said.reasons.first().map(String::as_str), Some(code), "it stays the first");
        }
        assert!(!proves(&about(place, code, "no such account")), "{place} {code}");
    }
}

/// A status about a cancellation or an inquiry is not one about its payment, however the bank writes
/// the name of the message.
#[test]
fn a_rejected_question_rejects_no_payment() {
    use domain::rail::RecallAnswer::Refused;
    let about = |name: &str, code: &str, more: &str| {
        let body = format!(
            "<OrgnlGrpInfAndSts><OrgnlMsgId>Q-1</OrgnlMsgId><OrgnlMsgNmId>{name}</OrgnlMsgNmId></OrgnlGrpInfAndSts>\
             <TxInfAndSts><OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId><TxSts>{code}</TxSts>{more}</TxInfAndSts>"
        );
        statuses(&message("pacs.002.001.10", "FIToFIPmtStsRpt", &body)).remove(0).1
    };
    let refused = RailStatus::Recall(Refused);
    for (name, code, more, status) in [
        ("camt.056.001.08", "RJCT", String::new(), refused.clone()),
        ("CAMT.056.001.08", "RJCT", String::new(), refused.clone()),
        ("urn:iso:std:iso:20022:tech:xsd:camt.056.001.08", "RJCT", String::new(), refused.clone()),
        ("camt056", "RJCT", String::new(), refused.clone()),
        ("camt.055.001.05", "RJCT", String::new(), refused),
        ("pacs.028.001.03", "RJCT", String::new(), RailStatus::Received),
        (
            "urn:iso:std:iso:20022:tech:xsd:pacs.028.001.03",
            "RJCT",
            String::new(),
            RailStatus::Received,
        ),
        ("pacs.028.001.03", "RJCT", reason("NOOR"), RailStatus::Unknown),
        ("pain.001.001.09", "RJCT", reason("NOOR"), RailStatus::Unknown),
        ("pacs.028.001.03", "RJCT", reason("FF01"), RailStatus::Received),
        ("pacs.028.001.03", "RJCT", reason("AM05"), RailStatus::Received),
        ("pacs.028.001.03", "RJCT", reason("AC01"), RailStatus::Rejected),
        ("pacs.028.001.03", "ACSC", String::new(), RailStatus::Settled),
        ("pain.001.001.09", "RJCT", reason("AC01"), RailStatus::Rejected),
        (
            "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09",
            "RJCT",
            String::new(),
            RailStatus::Rejected,
        ),
    ] {
        assert_eq!(about(name, code, &more), status, "{name} {code} {more}");
    }
}

/// The rest of a message is what its list leaves: while a listed transaction with another status is
/// not identified, no payment ends by the status of the rest.
#[test]
fn the_rest_is_known_or_left_to_a_person() {
    let tx =
        |ids: &str, code: &str| format!("<TxInfAndSts>{ids}<TxSts>{code}</TxSts></TxInfAndSts>");
    let ours = format!("<OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId>");
    let theirs = "<OrgnlInstrId>HOST-7</OrgnlInstrId><OrgnlEndToEndId>HOST-7</OrgnlEndToEndId>";
    let said = |group: &str, transactions: &str| {
        let text = status_report(&format!("<GrpSts>{group}</GrpSts>"), &block("", transactions));
        let all = heard(&text).into_iter().map(|it| it.map(|it| it.status));
        all.collect::<Vec<_>>()
    };
    let (paid, no, yes) = (RailStatus::Settled, RailStatus::Rejected, RailStatus::Accepted);
    let nothing = || Err(Unmatched::Nothing);
    assert_eq!(said("ACSC", &tx(theirs, "RJCT")), [nothing(), Err(Unmatched::Listed)]);
    assert_eq!(said("RJCT", &tx(theirs, "ACSP")), [nothing(), Err(Unmatched::Listed)]);
    assert_eq!(said("RJCT", &tx(theirs, "RJCT")), [nothing(), Ok(no.clone()), Ok(no.clone())]);
    assert_eq!(said("ACSP", &tx(theirs, "RJCT")), [nothing(), Ok(yes.clone()), Ok(yes)]);
    assert_eq!(said("ACSC", &tx(&ours, "RJCT")), [Ok(no.clone()), Ok(paid.clone())]);
    // By its position and amount alone.
    let second = "<OrgnlTxRef><Amt><InstdAmt Ccy=\"PKR\">10.00</InstdAmt></Amt></OrgnlTxRef>";
    let placed = tx("", "ACSP")
        + &tx("", "RJCT").replace("</TxInfAndSts>", &format!("{second}</TxInfAndSts>"));
    let heard = said("ACSC", &placed);
    assert_eq!(heard.last(), Some(&Err(Unmatched::Listed)), "the first has no amount: {heard:?}");
    // Counts that do not fit leave open which payments a status ends.
    let counted = |group: &str| {
        let count =
            "<NbOfTxsPerSts><DtldNbOfTxs>1</DtldNbOfTxs><DtldSts>RJCT</DtldSts></NbOfTxsPerSts>";
        let text = status_report(&format!("<GrpSts>{group}</GrpSts>{count}"), "");
        let statement = read(text.as_bytes()).expect("readable");
        (statement.entries.len(), statement.complaints.len())
    };
    assert_eq!((counted("ACSC"), counted("ACSP")), ((0, 1), (1, 1)));
}

/// Our messages have one block: the status of one of several blocks with the bank's own ids is not
/// that of the message.
#[test]
fn a_block_of_the_banks_own_is_not_the_message() {
    let of = |id: &str, code: &str| {
        block(&format!("<OrgnlPmtInfId>{id}</OrgnlPmtInfId><PmtInfSts>{code}</PmtInfSts>"), "")
    };
    let one = statuses(&status_report("", &of("BANK-1", "RJCT")));
    assert_eq!(one.len(), 2, "the only one");
    let several = heard(&status_report("", &(of("BANK-1", "RJCT") + &of("BANK-2", "ACSP"))));
    assert_eq!(several, [Err(Unmatched::Nothing), Err(Unmatched::Nothing)]);
    let named = statuses(&status_report("", &(of(MESSAGE, "RJCT") + &of("", "RCVD"))));
    assert_eq!(named.len(), 2);
}

/// Amounts of status reports, in each of their places.
#[test]
fn amounts_of_status_reports_are_found_in_each_of_their_places() {
    let report = |amount: &str| {
        one(&pain002(&format!(
            "<OrgnlTxId>{SIMPLE}</OrgnlTxId><TxSts>ACSC</TxSts><OrgnlTxRef>{amount}</OrgnlTxRef>"
        )))
    };
    for (amount, minor) in [
        ("<Amt><InstdAmt Ccy=\"PKR\">1.00</InstdAmt></Amt>", Some(100)),
        ("<IntrBkSttlmAmt Ccy=\"PKR\">3.00</IntrBkSttlmAmt>", Some(300)),
        ("", None),
    ] {
        let report = report(amount);
        assert_eq!(report.said.amount, minor.map(pkr), "{amount}");
        assert_eq!(ids(&report).instruction.as_deref(), Some(SIMPLE), "OrgnlTxId is an id, too");
    }
}

/// A charge that is booked apart names its payout and is not the payout's booking; money that comes
/// back after a recall is a return.
#[test]
fn charges_apart_are_not_payouts_and_recalled_money_is_a_return() {
    let code = |sub: &str| {
        format!(
            "<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>{sub}</SubFmlyCd></Fmly></Domn></BkTxCd>"
        )
    };
    let debit = "<CdtDbtInd>DBIT</CdtDbtInd>";
    for charge in ["CHRG", "COMM", "FEES", "TAXE"] {
        let of_entry = camt054(&format!("{debit}{}", code(charge)), "");
        let of_details = camt054(debit, &code(charge));
        for text in [of_entry, of_details] {
            let statement = read(text.as_bytes()).expect("readable");
            assert_eq!((statement.entries.len(), statement.complaints.len()), (0, 0), "{text}");
        }
    }
    assert_eq!(
        one(&camt054(&format!("{debit}{}", code("ESCT")), "")).said.status,
        RailStatus::Settled
    );
    let credit = "<CdtDbtInd>CRDT</CdtDbtInd>";
    for back in ["RRTN", "RPCR"] {
        let text = camt054(&format!("{credit}{}", code(back)), "");
        assert_eq!(one(&text).said.status, RailStatus::Returned, "{back}");
    }
    // A booking of one sum, of which one part is the charge.
    let part = |amount: &str, sub: &str| {
        format!(
            "<TxDtls><Refs><UETR>{UETR}</UETR></Refs><Amt Ccy=\"PKR\">{amount}</Amt>{}</TxDtls>",
            code(sub)
        )
    };
    let both = format!(
        "<Ntry><Amt Ccy=\"PKR\">389.12</Amt>{debit}<NtryDtls>{}{}</NtryDtls></Ntry>",
        part("379.12", "ESCT"),
        part("10.00", "CHRG")
    );
    assert_eq!(statuses(&notice("08", &both)), [(true, RailStatus::Settled)]);
}

/// Our complete ids count wherever a bank puts them, unless an element of their own has another.
#[test]
fn ids_are_found_in_other_references_and_texts() {
    let entry = |refs: &str, details: &str, more: &str| {
        format!(
            "<Ntry>{more}<Amt Ccy=\"PKR\">379.12</Amt><CdtDbtInd>DBIT</CdtDbtInd><NtryDtls><TxDtls><Refs>{refs}</Refs>\
             {details}</TxDtls></NtryDtls></Ntry>"
        )
    };
    let text = |words: &str| format!("<RmtInf><Ustrd>{words}</Ustrd></RmtInf>");
    let paid = [Ok(RailStatus::Settled)];
    let said = |version: &str, entry: &str| {
        let all = heard(&notice(version, entry)).into_iter().map(|it| it.map(|it| it.status));
        all.collect::<Vec<_>>()
    };
    let bare = |more: &str| {
        format!("<Ntry>{more}<Amt Ccy=\"PKR\">379.12</Amt><CdtDbtInd>DBIT</CdtDbtInd></Ntry>")
    };
    for version in ["02", "08"] {
        for found in [
            entry(&format!("<AcctOwnrTxId>{SIMPLE}</AcctOwnrTxId>"), "", ""),
            entry(&format!("<Prtry><Tp>EREF</Tp><Ref>{SIMPLE}</Ref></Prtry>"), "", ""),
            entry(
                "<EndToEndId>NOTPROVIDED</EndToEndId>",
                &text(&format!("/EREF/{SIMPLE}//REMI/x")),
                "",
            ),
            entry(
                "<InstrId>HOST-1</InstrId>",
                &text(&format!("EREF+{}", SIMPLE.to_uppercase())),
                "",
            ),
            entry("", &format!("<AddtlTxInf>transfer {UETR}.</AddtlTxInf>"), ""),
            entry(
                "",
                &format!(
                    "<RmtInf><Strd><CdtrRefInf><Ref>{SIMPLE}</Ref></CdtrRefInf></Strd></RmtInf>"
                ),
                "",
            ),
            entry("", "", &format!("<NtryRef>{SIMPLE}</NtryRef>")),
            bare(&format!("<NtryRef>{SIMPLE}</NtryRef>")),
            bare(&format!("<AddtlNtryInf>REF-{SIMPLE}</AddtlNtryInf>")),
        ] {
            assert_eq!(said(version, &found), paid, "{version} {found}");
        }
    }
    let third = "aa112233445566778899aabbccddeeff";
    for (unmatched, why) in [
        (entry("<EndToEndId>OTHER-1</EndToEndId>", &text(SIMPLE), ""), "another customer's"),
        (entry("", &text(&SIMPLE[..20]), ""), "cut"),
        (entry("", &text(&format!("{SIMPLE}0")), ""), "longer"),
        (entry("", &text(&format!("{SIMPLE} {third} {}", third.replace("aa", "bb"))), ""), "three"),
        (entry("", &text("none"), ""), "none"),
    ] {
        assert_eq!(said("08", &unmatched), [Err(Unmatched::Nothing)], "{why}");
    }
    // A return has an EndToEndId of its own, and names the returned payment in its text.
    let back = |refs: &str, details: &str| {
        entry(refs, details, "").replace("DBIT", "CRDT").replace("</Refs>", "</Refs><RtrInf/>")
    };
    let returned = [Ok(RailStatus::Returned)];
    assert_eq!(said("08", &back("<EndToEndId>RETBANK1</EndToEndId>", &text(SIMPLE))), returned);
    assert_eq!(said("02", &back("", &text(&format!("RETURN OF {SIMPLE} AC CLOSED")))), returned);
    let other = format!("<EndToEndId>{third}</EndToEndId>");
    assert_eq!(said("08", &back(&other, &text(SIMPLE))), [Err(Unmatched::Nothing)], "named so");
    let two = entry("", &text(&format!("{SIMPLE} ff112233445566778899aabbccddeeff")), "");
    assert_eq!(said("08", &two), [Err(Unmatched::Contradiction)], "two payments");
}

/// A whole message in one sum, as banks describe it that do not fill in `Btch`.
#[test]
fn a_message_in_one_sum_is_recognised_in_other_forms() {
    let entry = |amount: &str, inner: &str, of_entry: &str| {
        format!(
            "<Ntry><Amt Ccy=\"PKR\">{amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts>{of_entry}\
             <NtryDtls>{inner}</NtryDtls></Ntry>"
        )
    };
    let refs = |refs: &str| format!("<TxDtls><Refs>{refs}</Refs></TxDtls>");
    let by_message = refs(&format!("<MsgId>{MESSAGE}</MsgId>"));
    let by_block =
        refs(&format!("<EndToEndId>NOTPROVIDED</EndToEndId><PmtInfId>{MESSAGE}</PmtInfId>"));
    let batch = |count: &str, listed: &str| {
        format!("<Btch><PmtInfId>{MESSAGE}</PmtInfId><NbOfTxs>{count}</NbOfTxs></Btch>{listed}")
    };
    let charges = "<Chrgs><TtlChrgsAndTaxAmt Ccy=\"PKR\">10.00</TtlChrgsAndTaxAmt></Chrgs>";
    for version in ["02", "08"] {
        for (amount, inner, of_entry, sum) in [
            ("389.12", by_message.clone(), "", 38_912),
            ("389.12", by_block.clone(), "", 38_912),
            ("389.12", batch("2", &refs("<InstrId>HOST-1</InstrId>")), "", 38_912),
            ("399.12", batch("2", ""), charges, 39_912),
            ("399.12", batch("2", &refs("")), charges, 39_912),
        ] {
            let reports = heard(&notice(version, &entry(amount, &inner, of_entry)));
            let all: Vec<_> = reports.into_iter().map(|it| it.expect("ours")).collect();
            assert!(all.iter().all(|it| it.status == RailStatus::Settled), "{inner}");
            let amounts: Vec<i64> =
                all.iter().filter_map(|it| it.amount).map(|it| it.minor).collect();
            assert_eq!((amounts.len(), amounts.iter().sum::<i64>()), (2, sum), "{inner}");
            let charged = all.iter().filter(|it| it.charges.is_some()).count();
            assert_eq!(charged, usize::from(sum > 38_912), "{inner}");
        }
        let other = heard(&notice(version, &entry("389.13", &by_message, "")));
        assert_eq!(other, [Err(Unmatched::Ambiguous(2))]);
    }
}

/// A report of the current day is about our payouts: other bookings are the statement's.
#[test]
fn others_bookings_of_the_day_raise_nothing() {
    let entry = |indicator: &str, inner: &str| {
        format!(
            "<Ntry><Amt Ccy=\"PKR\">379.12</Amt><CdtDbtInd>{indicator}</CdtDbtInd>{inner}</Ntry>"
        )
    };
    let details = |refs: &str| format!("<NtryDtls><TxDtls><Refs>{refs}</Refs></TxDtls></NtryDtls>");
    let ours = details(&format!("<EndToEndId>{SIMPLE}</EndToEndId>"));
    let day = |entries: &str| {
        let text = message("camt.052.001.08", "BkToCstmrAcctRpt", &format!("<Rpt>{entries}</Rpt>"));
        let statement = read(text.as_bytes()).expect("readable");
        (statement.entries.len(), statement.complaints.len())
    };
    let funding = entry("CRDT", &details("<EndToEndId>FUND-1</EndToEndId>"));
    let fee = entry("DBIT", "<AddtlNtryInf>monthly fee</AddtlNtryInf>");
    assert_eq!(day(&(funding + &fee + &entry("DBIT", &ours))), (1, 0));
    assert_eq!(day(&entry("CRDT", &ours)), (0, 1), "a credit that names a payout");
}

/// A list in pages is one whether its own element or its message says so.
#[test]
fn totals_of_all_pages_are_not_those_of_one() {
    let total = "<TxsSummry><TtlNtries><NbOfNtries>9</NbOfNtries></TtlNtries></TxsSummry>";
    let entry = camt054("<CdtDbtInd>DBIT</CdtDbtInd>", "");
    let text = entry.replace("<Ntfctn>", &format!("<Ntfctn>{total}"));
    let paged = text.replace(
        "</GrpHdr>",
        "<MsgPgntn><PgNb>1</PgNb><LastPgInd>false</LastPgInd></MsgPgntn></GrpHdr>",
    );
    let complaints = |text: &str| read(text.as_bytes()).expect("readable").complaints.len();
    assert_eq!((complaints(&text), complaints(&paged)), (1, 0));
}

/// A whole message that is returned in one sum.
#[test]
fn a_group_return_returns_each_payment_of_the_message() {
    let text = |total: &str, flag: &str| {
        let head = format!("<MsgId>B-17</MsgId><NbOfTxs>2</NbOfTxs><GrpRtr>{flag}</GrpRtr>{total}");
        let group = format!(
            "<OrgnlGrpInf><OrgnlMsgId>{MESSAGE}</OrgnlMsgId><RtrRsnInf><Rsn><Cd>AC04</Cd></Rsn></RtrRsnInf></OrgnlGrpInf>"
        );
        message("pacs.004.001.02", "PmtRtr", &group).replace("<MsgId>B-17</MsgId>", &head)
    };
    let total = |amount: &str| {
        format!("<TtlRtrdIntrBkSttlmAmt Ccy=\"PKR\">{amount}</TtlRtrdIntrBkSttlmAmt>")
    };
    let back = statuses(&text(&total("389.12"), "true"));
    assert_eq!(back, [(true, RailStatus::Returned), (false, RailStatus::Returned)]);
    assert!(matches!(heard(&text(&total("389.00"), "true"))[..], [Err(Unmatched::Sum { .. })]));
    for (text, reason) in [
        (text("", "true"), "without TtlRtrdIntrBkSttlmAmt"),
        (text(&total("1.00"), "false"), "no entries"),
    ] {
        let statement = read(text.as_bytes()).expect("readable");
        assert!(statement.complaints[0].contains(reason), "{:?}", statement.complaints);
    }
}

/// A placeholder of a bank is not stored as a reference.
#[test]
fn every_placeholder_counts_as_missing() {
    for nothing in ["NOTPROVIDED", "NONREF", "N/A", "000000", "-"] {
        let report = one(&pain002(&format!(
            "<OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId><TxSts>ACSC</TxSts><AcctSvcrRef>{nothing}</AcctSvcrRef>"
        )));
        assert_eq!(
            (&report.said.bank_reference, &ids(&report).reference),
            (&None, &None),
            "{nothing}"
        );
    }
}

/// A message and its only block are the same payments, and a rejection counts none as accepted.
#[test]
fn a_status_report_that_excludes_itself_proves_nothing() {
    let said = |group: &str, more: &str, blocks: &str| {
        let text = status_report(&format!("<GrpSts>{group}</GrpSts>{more}"), blocks);
        let statement = read(text.as_bytes()).expect("readable");
        (statement.entries.len(), statement.complaints)
    };
    let of_block = |code: &str| block(&format!("<PmtInfSts>{code}</PmtInfSts>"), "");
    let counted = |number: &str| {
        format!(
            "<NbOfTxsPerSts><DtldNbOfTxs>{number}</DtldNbOfTxs><DtldSts>ACSC</DtldSts></NbOfTxsPerSts>"
        )
    };
    for (report, expected) in [
        (said("RJCT", "", &of_block("ACSC")), "GrpSts \"RJCT\" excludes PmtInfSts \"ACSC\""),
        (said("ACSC", "", &of_block("RJCT")), "GrpSts \"ACSC\" excludes PmtInfSts \"RJCT\""),
        (said("RJCT", &counted("1"), ""), "GrpSts \"RJCT\" excludes DtldSts \"ACSC\""),
    ] {
        assert_eq!(report, (0, vec![format!("pain.002 B-17, group 1: {expected}")]));
    }
    assert_eq!(said("RJCT", &counted("00"), ""), (1, Vec::new()));
    for group in ["PART", "ACTC", "ACCP", "ACSP"] {
        assert_eq!(said(group, "", &of_block("RJCT")), (1, Vec::new()), "{group}");
    }
}

/// Banks name an inquiry or a recall as they like: it carried no payment, and neither does its refusal
/// end one.
#[test]
fn a_refusal_of_an_inquiry_or_recall_is_known_by_its_id_too() {
    let question = "5f0c1d2e3a4b4c5d8e9f0a1b2c3d4e5f";
    let report = |id: &str, name: &str, ids: &str, code: &str| {
        let group = format!("<OrgnlMsgId>{id}</OrgnlMsgId>{name}<GrpSts>{code}</GrpSts>");
        let listed = format!("<TxInfAndSts>{ids}<TxSts>{code}</TxSts></TxInfAndSts>");
        let body = format!("<OrgnlGrpInfAndSts>{group}</OrgnlGrpInfAndSts>{listed}");
        let text = message("pain.002.001.10", "CstmrPmtStsRpt", &body);
        read(text.as_bytes()).expect("readable").entries.remove(0).said.status
    };
    let ours = format!("<OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId>");
    let named = |name: &str| format!("<OrgnlMsgNmId>{name}</OrgnlMsgNmId>");
    for name in ["FIToFIPmtStsReq", "FIToFIPaymentStatusRequestV03"] {
        assert_eq!(report(question, &named(name), &ours, "RJCT"), RailStatus::Received, "{name}");
    }
    for name in ["FIToFIPmtCxlReq", "CstmrPmtCxlReq"] {
        let refused = RailStatus::Recall(RecallAnswer::Refused);
        assert_eq!(report(question, &named(name), &ours, "RJCT"), refused, "{name}");
    }
    // The bank's own message to the next bank, with an id of its own.
    let next = named("pacs.008.001.08");
    assert_eq!(report(question, &next, &ours, "RJCT"), RailStatus::Rejected);
    let open = RailStatus::Unrecognised("RJCT of a message that carried no payment".to_owned());
    for name in [String::new(), named("NOTPROVIDED"), named("pain.001.001.03")] {
        assert_eq!(report(question, &name, &ours, "RJCT"), open, "{name}");
        assert_eq!(report(question, &name, &ours, "ACSC"), RailStatus::Settled, "{name}");
        // An id of the payment in place of the message's, and the message's own.
        for message in [SIMPLE, MESSAGE] {
            assert_eq!(report(message, &name, &ours, "RJCT"), RailStatus::Rejected, "{name}");
        }
    }
}

#[test]
fn what_is_stated_twice_and_differently_is_left_to_a_person() {
    let ours = format!("<OrgnlEndToEndId>{SIMPLE}</OrgnlEndToEndId>");
    let (yes, no) = ("<TxSts>ACSC</TxSts>", "<TxSts>RJCT</TxSts>");
    for (codes, expected) in [
        (format!("{yes}{no}"), Err("it has two TxSts that differ")),
        (format!("{no}{yes}"), Err("it has two TxSts that differ")),
        (format!("{yes}{yes}"), Ok(())),
    ] {
        let statement = read(pain002(&format!("{ours}{codes}")).as_bytes()).expect("readable");
        match expected {
            Ok(()) => assert_eq!((statement.entries.len(), statement.complaints.len()), (1, 0)),
            Err(why) => assert!(statement.complaints[0].ends_with(why), "{codes}: {statement:?}"),
        }
    }
}

#[test]
fn a_second_booking_without_a_reference_is_left_to_a_person() {
    let entry = |id: &str, reference: &str, back: &str| {
        let direction = if back.is_empty() { "DBIT" } else { "CRDT" };
        let reference = match reference {
            "" => String::new(),
            text => format!("<AcctSvcrRef>{text}</AcctSvcrRef>"),
        };
        format!(
            "<Ntry><Amt Ccy=\"PKR\">5.00</Amt><CdtDbtInd>{direction}</CdtDbtInd>{back}<NtryDtls><TxDtls><Refs>{reference}\
             <EndToEndId>{id}</EndToEndId></Refs></TxDtls></NtryDtls></Ntry>"
        )
    };
    let back = "<RvslInd>true</RvslInd>";
    let other = "ff112233445566778899aabbccddeeff";
    for (entries, read_, refused) in [
        (entry(SIMPLE, "", "") + &entry(SIMPLE, "", ""), 1, 1),
        (entry(SIMPLE, "", back) + &entry(SIMPLE, "", back), 1, 1),
        (entry(SIMPLE, "", "") + &entry(SIMPLE, "", back), 2, 0),
        (entry(SIMPLE, "", "") + &entry(other, "", ""), 2, 0),
        (entry(SIMPLE, "A1", "") + &entry(SIMPLE, "A2", ""), 2, 0),
    ] {
        let statement = read(notice("08", &entries).as_bytes()).expect("readable");
        let found = (statement.entries.len(), statement.complaints.len());
        assert_eq!(found, (read_, refused), "{entries}: {:?}", statement.complaints);
    }
}

/// About one truncated id in a thousand has digits alone, as other parties' numbers have.
#[test]
fn a_booking_of_the_day_with_a_truncated_id_of_digits_may_be_ours() {
    let of = |kind: &str, root: &str, id: &str| {
        let entry = format!(
            "<Ntry><Amt Ccy=\"PKR\">5.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><NtryDtls><TxDtls><Refs>\
             <EndToEndId>{id}</EndToEndId></Refs></TxDtls></NtryDtls></Ntry>"
        );
        let body = format!("<Rpt>{entry}</Rpt>");
        read(message(kind, root, &body).as_bytes()).expect("readable")
    };
    let day = |id: &str| of("camt.052.001.08", "BkToCstmrAcctRpt", id).entries;
    let digits = day("7239417589744464");
    assert!(ids(&digits[0]).may_be_anothers);
    assert!(!ids(&day(SIMPLE)[0]).may_be_anothers);
    assert!(day("1234567").is_empty(), "too short for one of our ids");
}
