//! Writes camt.053.001.08, the statement of an account, one page per message.

use domain::money::Money;

use super::super::core::{StatementLine, StatementPage, currency_of};
use super::write::{ACCOUNT_CHARS_MAX, Header, Xml};

/// One page of a statement.
pub fn statement_document(header: &Header, page: &StatementPage) -> String {
    let mut xml = Xml::open("camt.053.001.08", page.lines.len());
    xml.raw("<BkToCstmrStmt><GrpHdr>");
    xml.header(header);
    xml.raw("</GrpHdr><Stmt>");
    xml.leaf("Id", &page.id);
    xml.raw("<StmtPgntn>");
    xml.leaf("PgNb", &page.page.to_string());
    xml.leaf("LastPgInd", if page.last { "true" } else { "false" });
    xml.raw("</StmtPgntn>");
    xml.leaf("CreDtTm", &header.created_at.to_string());
    xml.raw("<FrToDt>");
    xml.leaf("FrDtTm", &page.from.to_string());
    xml.leaf("ToDtTm", &page.to.to_string());
    xml.raw("</FrToDt><Acct><Id><Othr>");
    let account: String = format!("NOSTRO-{}", page.rail).chars().take(ACCOUNT_CHARS_MAX).collect();
    xml.leaf("Id", &account);
    xml.raw("</Othr></Id>");
    xml.leaf("Ccy", &page.currency);
    xml.raw("</Acct>");
    balance(&mut xml, page, if page.page == 1 { "OPBD" } else { "ITBD" }, page.opening);
    balance(&mut xml, page, if page.last { "CLBD" } else { "ITBD" }, page.closing);
    for line in &page.lines {
        entry(&mut xml, line);
    }
    xml.raw("</Stmt></BkToCstmrStmt></Document>\n");
    xml.0
}

fn indicator(is_credit: bool) -> &'static str {
    if is_credit { "CRDT" } else { "DBIT" }
}

fn balance(xml: &mut Xml, page: &StatementPage, code: &str, minor: i64) {
    let Some(currency) = currency_of(page) else { return };
    xml.raw("<Bal><Tp><CdOrPrtry>");
    xml.leaf("Cd", code);
    xml.raw("</CdOrPrtry></Tp>");
    xml.money("Amt", Money::new(minor.saturating_abs(), currency));
    xml.leaf("CdtDbtInd", indicator(minor >= 0));
    xml.raw("<Dt>");
    xml.leaf("DtTm", &if code == "OPBD" { page.from } else { page.to }.to_string());
    xml.raw("</Dt></Bal>");
}

fn entry(xml: &mut Xml, line: &StatementLine) {
    xml.raw("<Ntry>");
    xml.money("Amt", line.amount);
    xml.leaf("CdtDbtInd", indicator(line.is_credit));
    xml.raw("<Sts><Cd>BOOK</Cd></Sts><BookgDt>");
    xml.leaf("Dt", &line.at.date().to_string());
    xml.raw("</BookgDt>");
    xml.leaf("AcctSvcrRef", &line.reference);
    let sub_family = if line.is_credit { "RRTN" } else { "DMCT" };
    xml.raw("<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd>");
    xml.leaf("SubFmlyCd", sub_family);
    xml.raw("</Fmly></Domn></BkTxCd><NtryDtls><TxDtls><Refs>");
    xml.leaf("AcctSvcrRef", &line.reference);
    xml.leaf_unless_empty("InstrId", &line.instruction_id);
    xml.leaf_unless_empty("EndToEndId", &line.end_to_end_id);
    xml.leaf_unless_empty("UETR", &line.uetr);
    xml.raw("</Refs>");
    xml.money("Amt", line.amount);
    xml.leaf("CdtDbtInd", indicator(line.is_credit));
    xml.raw("</TxDtls></NtryDtls></Ntry>");
}
