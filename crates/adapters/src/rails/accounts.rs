//! The account that a bank's statement or booking is about: banks send those of all accounts of a
//! customer, also in one file. Never drops one without a report, nor one that may be the rail's.

use std::collections::BTreeSet;

use domain::bank_statement::BankStatement;
use domain::rail::{About, BankReport, ReportContent, Reports};

use super::iso;
use super::profile::Account;

/// Fewer characters at the end of an account's number may be those of another one.
const MIN_NUMBER_CHARS: usize = 6;
/// Lengths of an IBAN.
const MIN_IBAN_CHARS: usize = 15;
const MAX_IBAN_CHARS: usize = 34;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Ours,
    Other,
    /// Banks write account numbers in several forms.
    Unclear,
}

/// Leaves the statements and bookings of the rail's account. A statement of another account has
/// another IBAN, or is in a message that also has one of the rail's, and books none of our payouts. A
/// booking on an account with another IBAN moves no payout, whatever its ids.
pub(super) fn keep_ours(page: &mut Reports, ours: &Account) {
    let ours = match ours {
        Account::Iban(text) | Account::Other(text) => plain(text),
    };
    let mut elsewhere = Vec::new();
    page.reports.retain(|report| {
        let BankReport { about, said } = report;
        let account = said.account.as_ref().filter(|_| said.status.is_booking());
        let other = account.filter(|account| owner(&plain(account), &ours) == Owner::Other);
        // Other parties' bookings of the day are left out without a report.
        let may_be_ours = report.ids().any(|ids| !ids.may_be_anothers);
        elsewhere.extend(
            other.filter(|_| may_be_ours).map(|account| told_elsewhere(about, said, account)),
        );
        other.is_none()
    });
    page.unreadable.extend(elsewhere);
    let owner = |it: &BankStatement| owner(&plain(&it.account), &ours);
    let beside_ours: BTreeSet<String> = page
        .statements
        .iter()
        .filter(|it| owner(it) == Owner::Ours)
        .map(|it| it.source.clone())
        .collect();
    let mut others = BTreeSet::new();
    page.statements.retain(|it| {
        let is_other = match owner(it) {
            Owner::Ours => false,
            Owner::Other => true,
            Owner::Unclear => !it.account.is_empty() && beside_ours.contains(&it.source),
        };
        let is_other = is_other && !it.entries.iter().any(|entry| entry.ids.may_be_ours());
        if is_other {
            others.insert(it.account.clone());
        }
        !is_other
    });
    // Without the message's name, so that an account is reported once.
    page.unreadable.extend(others.into_iter().map(|account| {
        format!(
            "statements of account {} are not compared: the rail pays out of another one",
            iso::quoted(&account)
        )
    }));
}

fn told_elsewhere(about: &About, said: &ReportContent, account: &str) -> String {
    let (About::One(ids) | About::Batch { of: ids, .. } | About::Rest { of: ids, .. }) = about;
    let over = said.amount.map_or_else(String::new, |amount| format!(" over {amount}"));
    format!(
        "{} reports {}{over} of {} on account {}: the rail pays out of another one",
        said.source,
        said.status,
        ids.told(),
        iso::quoted(account)
    )
}

fn owner(given: &str, ours: &str) -> Owner {
    let [one, other] = [given, ours].map(|number| number.trim_start_matches('0'));
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    match () {
        () if given == ours => Owner::Ours,
        () if is_iban(given) && is_iban(ours) => Owner::Other,
        () if short.len() >= MIN_NUMBER_CHARS && long.ends_with(short) => Owner::Ours,
        () => Owner::Unclear,
    }
}

fn plain(account: &str) -> String {
    let signs = account.chars().filter(char::is_ascii_alphanumeric);
    signs.map(|sign| sign.to_ascii_uppercase()).collect()
}

fn is_iban(plain: &str) -> bool {
    let Some((head, rest)) = plain.split_at_checked(4) else { return false };
    let (country, check) = head.split_at(2);
    (MIN_IBAN_CHARS..=MAX_IBAN_CHARS).contains(&(head.len() + rest.len()))
        && country.bytes().all(|byte| byte.is_ascii_alphabetic())
        && check.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::super::reports;
    use super::*;

    const OURS: &str = "PK36SCBL0000001123456702";

    /// Accounts of each message, the rail's, those kept, and the number of reports.
    type Case<'a> = (&'a [&'a [&'a str]], &'a Account, Vec<&'a str>, usize);

    /// The statements that are kept, by account, and the number of reports about others.
    fn kept(messages: &[&[&str]], ours: &Account) -> (Vec<String>, usize) {
        let mut page = Reports::default();
        for (number, accounts) in messages.iter().enumerate() {
            let statement = |account: &&str| {
                format!(
                    "<Stmt><Id>S-{account}</Id><CreDtTm>2026-11-23T00:00:05Z</CreDtTm><Acct><Id><Othr><Id>{account}</Id>\
                     </Othr></Id><Ccy>PKR</Ccy></Acct></Stmt>"
                )
            };
            let all: String = accounts.iter().map(statement).collect();
            let text = format!(
                "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.08\"><BkToCstmrStmt><GrpHdr>\
                 <MsgId>B-{number}</MsgId></GrpHdr>{all}</BkToCstmrStmt></Document>"
            );
            page.statements.extend(reports::read(text.as_bytes()).expect("readable").statements);
        }
        keep_ours(&mut page, ours);
        (page.statements.into_iter().map(|it| it.account).collect(), page.unreadable.len())
    }

    #[test]
    fn statements_of_other_accounts_are_reported_once_and_left() {
        let iban = Account::Iban(OURS.to_owned());
        let number = Account::Other("0001123456702".to_owned());
        let other = "PK24SCBL0000001171495101";
        let cases: [Case<'_>; 10] = [
            (&[&[OURS][..]][..], &iban, vec![OURS], 0),
            (
                &[&["PK36 SCBL 0000 0011 2345 6702"][..]],
                &iban,
                vec!["PK36 SCBL 0000 0011 2345 6702"],
                0,
            ),
            (&[&[other][..]], &iban, vec![], 1),
            (&[&[OURS, other][..], &[other]], &iban, vec![OURS], 1),
            // A bank's own number of the account, alone and beside others.
            (&[&["1123456702"][..]], &iban, vec!["1123456702"], 0),
            (&[&[OURS][..]], &number, vec![OURS], 0),
            (&[&["0001123456702", "0001999999999"][..]], &number, vec!["0001123456702"], 1),
            // Nothing is known about a number of another form.
            (&[&["NOSTRO-pak-raast"][..]], &number, vec!["NOSTRO-pak-raast"], 0),
            (&[&["A-1", "A-2"][..], &[OURS]], &number, vec!["A-1", "A-2", OURS], 0),
            (&[&["702"][..]], &number, vec!["702"], 0),
        ];
        for (messages, ours, expected, others) in cases {
            let expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
            assert_eq!(kept(messages, ours), (expected, others), "{messages:?} {ours:?}");
        }
    }

    #[test]
    fn a_booking_on_an_account_with_another_iban_moves_no_payout() {
        let other = "<IBAN>PK24SCBL0000001171495101</IBAN>";
        let page = |account: &str, direction: &str| {
            let text = format!(
                "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.054.001.08\"><BkToCstmrDbtCdtNtfctn><GrpHdr><MsgId>N-1\
                 </MsgId></GrpHdr><Ntfctn><Acct><Id>{account}</Id></Acct><Ntry><Amt Ccy=\"PKR\">1.00</Amt>{direction}\
                 <Sts>BOOK</Sts><NtryDtls><TxDtls><Refs><EndToEndId>00112233445566778899aabbccddeeff</EndToEndId></Refs>\
                 </TxDtls></NtryDtls></Ntry></Ntfctn></BkToCstmrDbtCdtNtfctn></Document>"
            );
            let reports = reports::read(text.as_bytes()).expect("readable").entries;
            let mut page = Reports { reports, ..Reports::default() };
            keep_ours(&mut page, &Account::Iban(OURS.to_owned()));
            page
        };
        let debit = "<CdtDbtInd>DBIT</CdtDbtInd>";
        for direction in [debit, "<CdtDbtInd>CRDT</CdtDbtInd><RvslInd>true</RvslInd>"] {
            let page = page(other, direction);
            assert!(page.reports.is_empty(), "{direction}");
            let [said] = page.unreadable.as_slice() else { panic!("{:?}", page.unreadable) };
            let parts = ["camt.054 N-1", "PKR", "00112233445566778899aabbccddeeff", "PK24SCBL"];
            assert!(parts.iter().all(|part| said.contains(part)), "{said}");
        }
        // A number of the bank's own may be that of the rail's account.
        let number = "<Othr><Id>0001171495101</Id></Othr>";
        for account in [format!("<IBAN>{OURS}</IBAN>"), number.to_owned(), String::new()] {
            assert_eq!(page(&account, debit).reports.len(), 1, "{account}");
        }
    }

    #[test]
    fn a_statement_that_books_our_payouts_is_compared_whatever_its_account() {
        let text = |id: &str| {
            format!(
                "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.08\"><BkToCstmrStmt><Stmt><Id>S</Id>\
                 <CreDtTm>2026-11-23T00:00:05Z</CreDtTm><Acct><Id><IBAN>PK24SCBL0000001171495101</IBAN></Id></Acct>\
                 <Ntry><Amt Ccy=\"PKR\">1.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><NtryDtls><TxDtls><Refs>\
                 <EndToEndId>{id}</EndToEndId></Refs></TxDtls></NtryDtls></Ntry></Stmt></BkToCstmrStmt></Document>"
            )
        };
        for (id, count) in [("00112233445566778899aabbccddeeff", 1), ("RENT-11", 0)] {
            let statements = reports::read(text(id).as_bytes()).expect("readable").statements;
            let mut page = Reports { statements, ..Reports::default() };
            keep_ours(&mut page, &Account::Iban(OURS.to_owned()));
            assert_eq!(page.statements.len(), count, "{id}");
        }
    }
}
