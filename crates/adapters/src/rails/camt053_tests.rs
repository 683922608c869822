//! Statements, valid, wrong and hostile.

use proptest::prelude::*;

use super::*;
use crate::rails::reports;

const SIMPLE: &str = "00112233445566778899aabbccddeeff";
const UETR: &str = "00112233-4455-6677-8899-aabbccddeeff";

fn message(statements: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.08\"><BkToCstmrStmt>\
         <GrpHdr><MsgId>B-17</MsgId></GrpHdr>{statements}</BkToCstmrStmt></Document>"
    )
}

fn balance(code: &str, amount: &str, indicator: &str) -> String {
    format!(
        "<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp><Amt Ccy=\"PKR\">{amount}</Amt>\
         <CdtDbtInd>{indicator}</CdtDbtInd><Dt><Dt>2026-11-22</Dt></Dt></Bal>"
    )
}

fn stmt(head: &str, entries: &str) -> String {
    format!(
        "<Stmt><Id>S-1</Id>{head}<CreDtTm>2026-11-23T00:00:05Z</CreDtTm>\
         <FrToDt><FrDtTm>2026-11-22T00:00:00Z</FrDtTm><ToDtTm>2026-11-23T05:00:00+05:00</ToDtTm></FrToDt>\
         <Acct><Id><IBAN>PK36SCBL0000001123456702</IBAN></Id><Ccy>PKR</Ccy></Acct>{}{}{entries}</Stmt>",
        balance("OPBD", "1000.00", "CRDT"),
        balance("CLBD", "250.00", "DBIT"),
    )
}

fn entry(amount: &str, indicator: &str, refs: &str, code: &str) -> String {
    format!(
        "<Ntry><Amt Ccy=\"PKR\">{amount}</Amt><CdtDbtInd>{indicator}</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>\
         <BookgDt><Dt>2026-11-22</Dt></BookgDt><AcctSvcrRef>R-1</AcctSvcrRef>{code}\
         <NtryDtls><TxDtls><Refs>{refs}</Refs></TxDtls></NtryDtls></Ntry>"
    )
}

fn code(domain: &str) -> String {
    format!(
        "<BkTxCd><Domn><Cd>{domain}</Cd><Fmly><Cd>X</Cd><SubFmlyCd>Y</SubFmlyCd></Fmly></Domn></BkTxCd>"
    )
}

fn read(text: &str) -> reports::Statement {
    reports::read(text.as_bytes()).expect(text)
}

fn one(text: &str) -> BankStatement {
    let mut message = read(text);
    assert_eq!(
        (message.statements.len(), message.complaints.as_slice()),
        (1, [].as_slice()),
        "{text}"
    );
    assert!(message.entries.is_empty(), "a statement is not a report");
    message.statements.remove(0)
}

#[test]
fn a_statement_is_read_whole() {
    let refs =
        format!("<InstrId>{SIMPLE}</InstrId><EndToEndId>{SIMPLE}</EndToEndId><UETR>{UETR}</UETR>");
    let text = message(&stmt(
        "",
        &(entry("1250.00", "DBIT", &refs, "") + &entry("0.00", "CRDT", "", &code("CAMT"))),
    ));
    let statement = one(&text);
    assert_eq!((statement.id.as_str(), statement.page, statement.is_last), ("S-1", 1, true));
    assert_eq!(
        (statement.account.as_str(), statement.currency),
        ("PK36SCBL0000001123456702", Currency::Pkr)
    );
    let [from, to] = [statement.from.expect("a start"), statement.to].map(|at| at.to_string());
    assert_eq!(
        (from.as_str(), to.as_str()),
        ("2026-11-22T00:00:00.000Z", "2026-11-23T00:00:00.000Z")
    );
    assert_eq!(
        (statement.opening, statement.closing),
        (Some(100_000), Some(-25_000)),
        "an overdrawn balance is negative"
    );
    assert_eq!((statement.turnover, statement.source.as_str()), (-125_000, "camt.053 B-17"));
    let [paid, own] = &statement.entries[..] else { panic!("{statement:?}") };
    assert_eq!(
        paid,
        &StatementEntry {
            number: 1,
            is_credit: false,
            is_own: false,
            amount: Money::new(125_000, Currency::Pkr),
            charges: None,
            ids: ReportIds {
                uetr: Some(UETR.into()),
                instruction: Some(SIMPLE.into()),
                end_to_end: Some(SIMPLE.into()),
                reference: Some("R-1".into()),
                place: Some((1, 1)),
                ..ReportIds::default()
            },
            batch: None,
            reference: Some("R-1".into()),
            booked: "2026-11-22".into(),
        }
    );
    assert_eq!((own.number, own.is_credit, own.is_own), (2, true, true));
}

#[test]
fn the_same_page_is_known_again_and_another_one_is_not() {
    let first = one(&message(&stmt("", &entry("1250.00", "DBIT", "", ""))));
    let again = message(&stmt("", &entry("1250.00", "DBIT", "", ""))).replace("B-17", "B-18");
    assert_eq!(one(&again).digest, first.digest, "in another message");
    for other in ["1250.01", "1250"] {
        let other = one(&message(&stmt("", &entry(other, "DBIT", "", ""))));
        assert_eq!(other.digest == first.digest, other.turnover == first.turnover);
    }
}

#[test]
fn unmatched_entries_may_be_about_the_account_itself() {
    for refs in [
        "",
        "<InstrId>NOTPROVIDED</InstrId><EndToEndId>NOTPROVIDED</EndToEndId>",
        "<InstrId>THEIRS-1</InstrId>",
        "<UETR>none</UETR>",
    ] {
        let is_own = |domain| {
            one(&message(&stmt("", &entry("1250.00", "DBIT", refs, &code(domain))))).entries[0]
                .is_own
        };
        assert_eq!((is_own("PMNT"), is_own("CAMT")), (false, true), "{refs}");
    }
    let refs = format!("<EndToEndId>{SIMPLE}</EndToEndId>");
    let entry =
        one(&message(&stmt("", &entry("1250.00", "DBIT", &refs, &code("CAMT"))))).entries.remove(0);
    assert!(!entry.is_own, "one of our payouts, whatever its code");
}

#[test]
fn a_batch_booking_has_an_entry_for_each_transaction() {
    let part = |amount: &str| {
        format!("<TxDtls><Refs><UETR>{UETR}</UETR></Refs><Amt Ccy=\"PKR\">{amount}</Amt></TxDtls>")
    };
    let booking = |parts: &str| {
        let head =
            "<Amt Ccy=\"PKR\">1250.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>";
        message(&stmt("", &format!("<Ntry>{head}<NtryDtls>{parts}</NtryDtls></Ntry>")))
    };
    let statement = one(&booking(&(part("1000.00") + &part("250.00"))));
    let amounts: Vec<i64> = statement.entries.iter().map(|entry| entry.amount.minor).collect();
    assert_eq!((amounts, statement.turnover), (vec![100_000, 25_000], -125_000));
    let torn = read(&booking(&(part("1000.00") + "<TxDtls/>")));
    assert_eq!(torn.statements[0].entries, [], "no entry of a booking that cannot be split");
    assert!(
        torn.complaints[0].contains("a transaction of a batch booking has no amount"),
        "{:?}",
        torn.complaints
    );
}

#[test]
fn a_booking_without_details_is_one_entry() {
    let booking =
        "<Ntry><Amt Ccy=\"PKR\">1250.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts></Ntry>";
    let statement = one(&message(&stmt("", booking)));
    assert_eq!((statement.entries.len(), statement.turnover), (1, -125_000));
    assert!(!statement.entries[0].is_own);
}

#[test]
fn pages_are_numbered() {
    let paged = |number: &str, last: &str| {
        let head =
            format!("<StmtPgntn><PgNb>{number}</PgNb><LastPgInd>{last}</LastPgInd></StmtPgntn>");
        message(&stmt(&head, ""))
    };
    let statement = one(&paged("2", "false"));
    assert_eq!((statement.page, statement.is_last), (2, false));
    for (number, last) in [("0", "true"), ("x", "true"), ("-1", "true"), ("1", "maybe")] {
        assert_eq!(read(&paged(number, last)).complaints.len(), 1, "{number} {last}");
    }
}

#[test]
fn uncountable_entries_are_reported() {
    let refs = format!("<UETR>{UETR}</UETR>");
    let good = entry("1.00", "DBIT", &refs, "");
    for (wrong, reason) in [
        (entry("1.005", "DBIT", &refs, ""), "cannot be read exactly"),
        (entry("1e2", "DBIT", &refs, ""), "cannot be read exactly"),
        (entry("-1.00", "DBIT", &refs, ""), "cannot be read exactly"),
        (entry("1.00", "BOTH", &refs, ""), "CdtDbtInd \"BOTH\" is not known"),
        (
            entry("1.00", "DBIT", &refs, "").replace("PKR", "INR"),
            "is not in the account's currency",
        ),
        (entry("1.00", "DBIT", &refs, "").replace("BOOK", "PDNG"), "\"PDNG\" is not booked"),
        ("<Ntry><CdtDbtInd>DBIT</CdtDbtInd></Ntry>".to_owned(), "it has no Amt"),
    ] {
        let read = read(&message(&stmt("", &(wrong + &good))));
        assert_eq!((read.statements.len(), read.complaints.len()), (1, 1), "{reason}");
        assert!(
            read.complaints[0].contains(reason),
            "{:?} does not contain {reason}",
            read.complaints
        );
        assert_eq!(read.statements[0].entries.len(), 1, "the others are still read");
    }
    for (text, reason) in [
        (message(""), "it has no entries"),
        (message("<Stmt/>"), "it has no Id"),
        (
            message(&format!("<Stmt><Id>{}</Id></Stmt>", "x".repeat(36))),
            "is not 1 to 35 characters",
        ),
        (message("<Stmt><Id>S</Id></Stmt>"), "it has no currency"),
        (message(&stmt("", "").replace(">PKR<", ">XXX<")), "currency \"XXX\" is not known"),
        (message(&stmt("", "").replace("2026-11-22T", "yesterday")), "is not a valid instant"),
        (message(&stmt("", "").replace("1000.00", "1,000.00")), "balance OPBD"),
    ] {
        let read = read(&text);
        assert_eq!((read.statements.len(), read.complaints.len()), (0, 1), "{reason}");
        assert!(
            read.complaints[0].contains(reason),
            "{:?} does not contain {reason}",
            read.complaints
        );
    }
}

#[test]
fn every_version_is_read_alike() {
    let refs = format!("<EndToEndId>{SIMPLE}</EndToEndId>");
    let text = message(&stmt("", &entry("379.12", "DBIT", &refs, "")));
    let usual = one(&text);
    assert_eq!(usual.entries.len(), 1);
    for version in 2..=13 {
        let other = one(&text.replace("053.001.08", &format!("053.001.{version:02}")));
        assert_eq!(other.entries, usual.entries, "{version}");
        assert_eq!((other.opening, other.closing), (usual.opening, usual.closing), "{version}");
    }
}

#[test]
fn foreign_namespaces_and_entities_are_rejected() {
    let foreign = stmt("", "<x:Ntry xmlns:x=\"urn:x\"><x:Amt Ccy=\"PKR\">1.00</x:Amt></x:Ntry>");
    assert_eq!(one(&message(&foreign)).entries, []);
    let entity = message(&stmt("", ""))
        .replace("<?xml version=\"1.0\"?>", "<!DOCTYPE x [<!ENTITY a \"b\">]>");
    assert!(reports::read(entity.as_bytes()).is_err());
}

#[test]
fn a_statement_is_cut_anywhere_without_harm() {
    let refs = format!("<UETR>{UETR}</UETR>");
    let text = message(&stmt("", &entry("1250.00", "DBIT", &refs, "")));
    for at in 0..text.len() {
        assert!(reports::read(&text.as_bytes()[..at]).is_err(), "cut at {at}");
    }
}

proptest! {
    /// Whatever a single byte changes to: no panic, and no negative amount.
    #[test]
    fn scrambled_statements_are_read_or_refused(at in 0_usize..1_200, byte in any::<u8>()) {
        let refs = format!("<UETR>{UETR}</UETR>");
        let mut bytes = message(&stmt("", &entry("1250.00", "DBIT", &refs, ""))).into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        if let Ok(read) = reports::read(&bytes) {
            for entry in read.statements.iter().flat_map(|statement| &statement.entries) {
                prop_assert!(entry.amount.minor >= 0);
            }
        }
    }

    /// Entries of arbitrary amounts: the turnover is their sum, and each is read exactly.
    #[test]
    fn entries_are_read_exactly(amounts in proptest::collection::vec((1_i64..1_000_000_000_000, any::<bool>()), 0..20)) {
        let text: String = amounts.iter().map(|(minor, credit)| {
            let amount = format!("{}.{:02}", minor / 100, minor % 100);
            entry(&amount, if *credit { "CRDT" } else { "DBIT" }, "", "")
        }).collect();
        let statement = one(&message(&stmt("", &text)));
        let read: Vec<(i64, bool)> = statement.entries.iter().map(|it| (it.amount.minor, it.is_credit)).collect();
        let sum: i64 = amounts.iter().map(|(minor, credit)| if *credit { *minor } else { -minor }).sum();
        prop_assert_eq!((read, statement.turnover), (amounts, sum));
    }
}

/// The same statement in another bank's style: version 2, only the previous day's closing balance,
/// amounts in `AmtDtls`, a date as the end of the period, and the end of a day at 24:00.
#[test]
fn another_banks_style_gives_the_same_result() {
    let style = |version: &str, balance_code: &str, to: &str, amounts: [&str; 2]| {
        let [first, second] = amounts.map(|details| {
            format!("<TxDtls><Refs><EndToEndId>{SIMPLE}</EndToEndId></Refs>{details}</TxDtls>")
        });
        let text = message(&format!(
            "<Stmt><Id>S-1</Id><CreDtTm>2026-11-25T23:30:00.000+05:00</CreDtTm><FrToDt><FrDtTm>2026-11-25</FrDtTm>\
             <ToDtTm>{to}</ToDtTm></FrToDt><Acct><Id><Othr><Id>1</Id></Othr></Id><Ccy>PKR</Ccy></Acct>{}{}\
             <Ntry><Amt Ccy=\"PKR\">1250.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><NtryDtls>\
             <Btch><NbOfTxs>2</NbOfTxs></Btch>{first}{second}</NtryDtls></Ntry></Stmt>",
            balance(balance_code, "2000.00", "CRDT"),
            balance("CLBD", "750.00", "CRDT"),
        ));
        one(&text.replace("camt.053.001.08", version))
    };
    let tx = "<AmtDtls><TxAmt><Amt Ccy=\"PKR\">1000.00</Amt></TxAmt></AmtDtls>";
    let instructed = "<AmtDtls><InstdAmt><Amt Ccy=\"PKR\">250.00</Amt></InstdAmt></AmtDtls>";
    for (version, code, to) in [
        ("camt.053.001.02", "PRCD", "2026-11-25T24:00:00"),
        ("camt.053.001.02", "OPBD", "2026-11-25"),
        ("camt.053.001.13", "OPBD", "2026-11-26T00:00:00.000Z"),
        ("camt.053.001.04", "PRCD", "2026-11-26T05:00:00+05:00"),
    ] {
        let statement = style(version, code, to, [tx, instructed]);
        assert_eq!(
            (statement.opening, statement.closing),
            (Some(200_000), Some(75_000)),
            "{version} {code}"
        );
        assert_eq!(statement.to.to_string(), "2026-11-26T00:00:00.000Z", "{to}");
        let amounts: Vec<i64> = statement.entries.iter().map(|it| it.amount.minor).collect();
        assert_eq!((amounts, statement.turnover), (vec![100_000, 25_000], -125_000), "{version}");
    }
}

#[test]
fn interim_balances_alone_become_opening_and_closing() {
    let with = |balances: &str| {
        one(&message(&format!(
            "<Stmt><Id>S-1</Id><CreDtTm>2026-11-25T10:00:00Z</CreDtTm><Acct><Ccy>PKR</Ccy></Acct>{balances}</Stmt>"
        )))
    };
    let interim = with(&(balance("ITBD", "10.00", "CRDT") + &balance("ITBD", "7.00", "CRDT")));
    assert_eq!((interim.opening, interim.closing), (Some(1_000), Some(700)));
    let none = with(&(balance("CLBD", "7.00", "CRDT") + &balance("CLAV", "9.00", "CRDT")));
    assert_eq!((none.opening, none.closing), (None, Some(700)));
}

/// One sum for a whole message: by its MsgId and PmtInfId, with the count if the bank gives it.
#[test]
fn a_batch_without_a_list_becomes_one_entry_for_the_message() {
    let booking = "<Ntry><Amt Ccy=\"PKR\">1250.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><AcctSvcrRef>R-7</AcctSvcrRef>\
        <NtryDtls><Btch><MsgId>M-1</MsgId><PmtInfId>M-1</PmtInfId><NbOfTxs>2</NbOfTxs></Btch></NtryDtls></Ntry>";
    let statement = one(&message(&stmt("", booking)));
    let [entry] = &statement.entries[..] else { panic!("{statement:?}") };
    assert_eq!((entry.batch, entry.amount.minor), (Some(Some(2)), 125_000));
    assert_eq!(
        (entry.ids.message.as_deref(), entry.ids.block.as_deref()),
        (Some("M-1"), Some("M-1"))
    );
}

/// Up to version 2 the pages of a statement are those of its message.
#[test]
fn pages_of_the_message_are_pages_of_its_statement() {
    let paged = |number: &str, last: &str, statements: &str| {
        let page = format!(
            "<MsgPgntn><PgNb>{number}</PgNb><LastPgInd>{last}</LastPgInd></MsgPgntn></GrpHdr>"
        );
        let text = message(statements).replace("camt.053.001.08", "camt.053.001.02");
        let read = read(&text.replace("</GrpHdr>", &page));
        assert_eq!(read.complaints, Vec::<String>::new(), "{statements}");
        let pages = read.statements.iter().map(|it| (it.id.clone(), it.page, it.is_last));
        pages.collect::<Vec<_>>()
    };
    let part = |id: &str, balances: &[&str]| {
        let balances: String = balances.iter().map(|code| balance(code, "1.00", "CRDT")).collect();
        format!(
            "<Stmt><Id>{id}</Id><CreDtTm>2026-11-23T00:00:05Z</CreDtTm><Acct><Ccy>PKR</Ccy></Acct>{balances}</Stmt>"
        )
    };
    let whole = stmt("", "");
    let is = |id: &str, page, is_last| (id.to_owned(), page, is_last);
    assert_eq!(paged("1", "false", &whole), [is("S-1", 1, false)]);
    assert_eq!(paged("2", "true", &whole), [is("S-1", 2, true)], "balances repeated on each page");
    assert_eq!(paged("2", "true", &part("S-2", &["ITBD", "CLBD"])), [is("S-2", 2, true)]);
    // Several statements: the first page has a whole one and the beginning of the next.
    let first = whole.clone() + &part("S-2", &["OPBD", "ITBD"]);
    assert_eq!(paged("1", "false", &first), [is("S-1", 1, true), is("S-2", 1, false)]);
    let second = part("S-2", &["ITBD", "CLBD"]) + &part("S-3", &["OPBD", "CLBD"]);
    assert_eq!(paged("2", "false", &second), [is("S-2", 2, true), is("S-3", 1, true)]);
    // A page number of the statement's own counts.
    let own = stmt("<StmtPgntn><PgNb>3</PgNb><LastPgInd>true</LastPgInd></StmtPgntn>", "");
    assert_eq!(paged("1", "false", &own), [is("S-1", 3, true)]);
}

/// A charge that is booked apart is the account's, though it names the payout that it is for.
#[test]
fn a_charge_apart_is_the_accounts_own() {
    let refs = format!("<EndToEndId>{SIMPLE}</EndToEndId>");
    let sub_family = |code: &str| {
        format!(
            "<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>{code}</SubFmlyCd></Fmly></Domn></BkTxCd>"
        )
    };
    let of = |code: &str| {
        one(&message(&stmt("", &entry("10.00", "DBIT", &refs, &sub_family(code)))))
            .entries
            .remove(0)
    };
    let charge = of("CHRG");
    assert!(charge.is_own && !charge.ids.may_be_ours(), "{charge:?}");
    assert_eq!((charge.amount.minor, charge.reference.as_deref()), (1_000, Some("R-1")));
    let payout = of("ESCT");
    assert!(!payout.is_own && payout.ids.may_be_ours(), "{payout:?}");
}

/// Both the creation time and the period of a statement are optional.
#[test]
fn the_end_of_a_statement_is_found_elsewhere() {
    let text = |header: &str, period: &str, created: &str, balances: &str| {
        format!(
            "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.08\"><BkToCstmrStmt><GrpHdr><MsgId>B-17</MsgId>\
             {header}</GrpHdr><Stmt><Id>S-1</Id>{created}{period}<Acct><Id><IBAN>PK36SCBL0000001123456702</IBAN></Id>\
             <Ccy>PKR</Ccy></Acct>{balances}</Stmt></BkToCstmrStmt></Document>"
        )
    };
    let header = "<CreDtTm>2026-11-23T00:00:09Z</CreDtTm>";
    let monday = "<CreDtTm>2026-11-23T09:00:00Z</CreDtTm>";
    let evening = "<CreDtTm>2026-11-22T17:00:00Z</CreDtTm>";
    let created = "<CreDtTm>2026-11-23T00:00:05Z</CreDtTm>";
    let period = "<FrToDt><ToDt>2026-11-21</ToDt></FrToDt>";
    let start = "<FrToDt><FrDt>2026-11-21</FrDt></FrToDt>";
    let balances = balance("OPBD", "1.00", "CRDT") + &balance("CLBD", "1.00", "CRDT");
    let friday = balances.replace("2026-11-22", "2026-11-20");
    let timed = balances.replace("<Dt>2026-11-22</Dt>", "<DtTm>2026-11-22T18:00:00Z</DtTm>");
    for (text, expected) in [
        (text(header, period, created, &balances), "2026-11-22T00:00:00.000Z"),
        (text(header, "", created, &balances), "2026-11-23T00:00:05.000Z"),
        (text(header, "", "", &balances), "2026-11-23T00:00:00.000Z"),
        // Friday's statement, created on Monday; one of the evening; one whose closing states no day.
        (text(monday, "", "", &friday), "2026-11-21T00:00:00.000Z"),
        (text(evening, "", "", &balances), "2026-11-22T17:00:00.000Z"),
        (text(header, "", "", &balance("ITBD", "1.00", "CRDT")), "2026-11-23T00:00:09.000Z"),
        (text(header, start, "", ""), "2026-11-23T00:00:09.000Z"),
        (text("", "", "", &balances), "2026-11-23T00:00:00.000Z"),
        (text("", start, "", &balances), "2026-11-23T00:00:00.000Z"),
        (text("", "", "", &timed), "2026-11-22T18:00:00.000Z"),
        (text("", "", "", &balance("ITBD", "1.00", "CRDT")), "2026-11-23T00:00:00.000Z"),
    ] {
        assert_eq!(one(&text).to.to_string(), expected, "{text}");
    }
    assert_eq!(read(&text("", "", "", "")).complaints.len(), 1, "nothing states it");
}
