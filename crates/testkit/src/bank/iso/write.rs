//! Writing: text assembled directly, in the schemas' element order, with every value escaped.

use std::borrow::Borrow;

use domain::money::Money;
use domain::time::Timestamp;

use super::super::core::{RecallNote, RecallWord, Standing, TxStatus, money_digits};

/// Schema: Max105Text of `AddtlInf`, in characters.
const INFO_CHARS_MAX: usize = 105;
/// Schema: Max34Text of an account's other identification, in characters.
pub(super) const ACCOUNT_CHARS_MAX: usize = 34;
/// Buffer size per transaction in bytes.
const TRANSACTION_BYTES: usize = 640;
const NAMESPACE: &str = "urn:iso:std:iso:20022:tech:xsd:";
/// Placeholder for a mandatory but unknown identification (ISO 20022 usage).
const NOT_PROVIDED: &str = "NOTPROVIDED";

/// Header of a bank's message.
#[derive(Clone, Debug)]
pub struct Header {
    /// MsgId, at most 35 characters.
    pub id: String,
    /// Written as the element `CreDtTm`.
    pub created_at: Timestamp,
}

/// The message that a pain.002 answers.
#[derive(Clone, Copy, Debug)]
pub struct Original<'a> {
    /// `MsgId` of that message.
    pub id: &'a str,
    /// Message name, as in `pain.001.001.09`.
    pub name: &'a str,
}

pub(super) struct Xml(pub(super) String);

impl Xml {
    pub(super) fn open(message: &str, transactions: usize) -> Xml {
        let mut xml = Xml(String::with_capacity(512 + transactions * TRANSACTION_BYTES));
        xml.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Document xmlns=\"");
        xml.raw(NAMESPACE);
        xml.raw(message);
        xml.raw("\">");
        xml
    }

    pub(super) fn raw(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn escaped(&mut self, text: &str) {
        for char in text.chars() {
            match char {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                // XML 1.0 cannot represent these.
                control if control.is_control() => self.0.push(' '),
                other => self.0.push(other),
            }
        }
    }

    pub(super) fn leaf(&mut self, name: &str, text: &str) {
        self.start(name);
        self.escaped(text);
        self.end(name);
    }

    pub(super) fn leaf_unless_empty(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.leaf(name, text);
        }
    }

    fn start(&mut self, name: &str) {
        self.0.push('<');
        self.0.push_str(name);
        self.0.push('>');
    }

    fn end(&mut self, name: &str) {
        self.0.push_str("</");
        self.0.push_str(name);
        self.0.push('>');
    }

    fn amount(&mut self, name: &str, standing: &Standing) {
        self.money(name, standing.instruction.amount);
    }

    pub(super) fn money(&mut self, name: &str, amount: Money) {
        self.raw("<");
        self.raw(name);
        self.raw(" Ccy=\"");
        self.raw(amount.currency.code());
        self.raw("\">");
        self.raw(&money_digits(amount));
        self.end(name);
    }

    pub(super) fn header(&mut self, header: &Header) {
        self.leaf("MsgId", &header.id);
        self.leaf("CreDtTm", &header.created_at.to_string());
    }

    fn originals(&mut self, standing: &Standing) {
        let own = &standing.instruction;
        self.leaf("OrgnlInstrId", &own.instruction_id);
        self.leaf("OrgnlEndToEndId", &own.end_to_end_id);
    }
}

/// A pain.002.001.10 with one status per transaction.
pub fn status_document<S: Borrow<Standing>>(
    header: &Header,
    original: Original<'_>,
    standings: &[S],
) -> String {
    let mut xml = Xml::open("pain.002.001.10", standings.len());
    xml.raw("<CstmrPmtStsRpt><GrpHdr>");
    xml.header(header);
    xml.raw("</GrpHdr><OrgnlGrpInfAndSts>");
    xml.leaf("OrgnlMsgId", original.id);
    xml.leaf("OrgnlMsgNmId", original.name);
    xml.raw("</OrgnlGrpInfAndSts>");
    if !standings.is_empty() {
        xml.raw("<OrgnlPmtInfAndSts>");
        xml.leaf("OrgnlPmtInfId", NOT_PROVIDED);
        for standing in standings {
            status(&mut xml, standing.borrow());
        }
        xml.raw("</OrgnlPmtInfAndSts>");
    }
    xml.raw("</CstmrPmtStsRpt></Document>\n");
    xml.0
}

fn status(xml: &mut Xml, standing: &Standing) {
    xml.raw("<TxInfAndSts>");
    xml.originals(standing);
    xml.leaf_unless_empty("OrgnlUETR", &standing.instruction.uetr);
    xml.leaf("TxSts", standing.status.code());
    if standing.reason.is_some() || standing.info.is_some() {
        xml.raw("<StsRsnInf>");
        reason(xml, standing);
        xml.raw("</StsRsnInf>");
    }
    if let Some(reference) = &standing.reference {
        xml.leaf("AcctSvcrRef", reference);
    }
    xml.raw("<OrgnlTxRef><Amt>");
    xml.amount("InstdAmt", standing);
    xml.raw("</Amt></OrgnlTxRef></TxInfAndSts>");
}

fn reason(xml: &mut Xml, standing: &Standing) {
    if let Some(code) = &standing.reason {
        xml.raw("<Rsn>");
        xml.leaf("Cd", code);
        xml.raw("</Rsn>");
    }
    if let Some(info) = &standing.info {
        let cut: String = info.chars().take(INFO_CHARS_MAX).collect();
        xml.leaf("AddtlInf", &cut);
    }
}

/// The message for these reports, which are all of one kind: a camt.054.001.08 for settlements, a
/// pacs.004.001.09 for returns, else a pain.002.001.10.
pub fn reports_document<S: Borrow<Standing>>(header: &Header, standings: &[S]) -> String {
    let notes: Vec<RecallNote> =
        standings.iter().filter_map(|standing| RecallNote::of(standing.borrow())).collect();
    if !notes.is_empty() {
        return resolution_document(header, None, &notes);
    }
    match standings.first().map(|first| first.borrow().status) {
        Some(TxStatus::Settled) => settlements(header, standings),
        Some(TxStatus::Returned) => returns(header, standings),
        _ => status_document(
            header,
            Original { id: NOT_PROVIDED, name: "pain.001.001.09" },
            standings,
        ),
    }
}

/// A camt.029.001.09 with one outcome per order; `case` is that of the request.
pub fn resolution_document(header: &Header, case: Option<&str>, notes: &[RecallNote]) -> String {
    let mut xml = Xml::open("camt.029.001.09", notes.len());
    xml.raw("<RsltnOfInvstgtn><Assgnmt>");
    xml.leaf("Id", &header.id);
    let bank = "<Agt><FinInstnId><Nm>Simulated bank</Nm></FinInstnId></Agt>";
    xml.raw(&format!("<Assgnr>{bank}</Assgnr><Assgne>{bank}</Assgne>"));
    xml.leaf("CreDtTm", &header.created_at.to_string());
    xml.raw("</Assgnmt>");
    if let Some(case) = case {
        xml.raw("<RslvdCase>");
        xml.leaf("Id", case);
        xml.raw(&format!("<Cretr>{bank}</Cretr></RslvdCase>"));
    }
    xml.raw("<Sts>");
    xml.leaf("Conf", notes.first().map_or("PDCR", |note| note.word.code()));
    xml.raw("</Sts><CxlDtls>");
    for note in notes {
        xml.raw("<TxInfAndSts>");
        xml.leaf_unless_empty("OrgnlInstrId", &note.about.instruction_id);
        xml.leaf_unless_empty("OrgnlEndToEndId", &note.about.end_to_end_id);
        xml.leaf_unless_empty("OrgnlUETR", &note.about.uetr);
        xml.leaf(
            "TxCxlSts",
            match note.word {
                RecallWord::Agreed => "ACCR",
                RecallWord::Refused => "RJCR",
                RecallWord::Pending => "PNCR",
            },
        );
        if let Some(reason) = &note.reason {
            xml.raw("<CxlStsRsnInf><Rsn>");
            xml.leaf("Cd", reason);
            xml.raw("</Rsn></CxlStsRsnInf>");
        }
        xml.raw("</TxInfAndSts>");
    }
    xml.raw("</CxlDtls></RsltnOfInvstgtn></Document>\n");
    xml.0
}

fn settlements<S: Borrow<Standing>>(header: &Header, standings: &[S]) -> String {
    let mut xml = Xml::open("camt.054.001.08", standings.len());
    xml.raw("<BkToCstmrDbtCdtNtfctn><GrpHdr>");
    xml.header(header);
    xml.raw("</GrpHdr><Ntfctn>");
    xml.leaf("Id", &header.id);
    xml.leaf("CreDtTm", &header.created_at.to_string());
    let rail = standings.first().map_or("", |first| &*first.borrow().rail);
    let account: String = format!("NOSTRO-{rail}").chars().take(ACCOUNT_CHARS_MAX).collect();
    xml.raw("<Acct><Id><Othr>");
    xml.leaf("Id", &account);
    xml.raw("</Othr></Id></Acct>");
    for standing in standings {
        entry(&mut xml, standing.borrow());
    }
    xml.raw("</Ntfctn></BkToCstmrDbtCdtNtfctn></Document>\n");
    xml.0
}

fn entry(xml: &mut Xml, standing: &Standing) {
    let reference = standing.reference.as_deref().unwrap_or(NOT_PROVIDED);
    let own = &standing.instruction;
    xml.raw("<Ntry>");
    xml.amount("Amt", standing);
    xml.raw("<CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt>");
    xml.leaf("DtTm", &standing.at.to_string());
    xml.raw("</BookgDt>");
    xml.leaf("AcctSvcrRef", reference);
    xml.raw("<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>DMCT</SubFmlyCd></Fmly></Domn></BkTxCd>");
    xml.raw("<NtryDtls><TxDtls><Refs>");
    xml.leaf("AcctSvcrRef", reference);
    xml.leaf("InstrId", &own.instruction_id);
    xml.leaf("EndToEndId", &own.end_to_end_id);
    xml.leaf_unless_empty("UETR", &own.uetr);
    xml.raw("</Refs>");
    xml.amount("Amt", standing);
    xml.raw("<CdtDbtInd>DBIT</CdtDbtInd></TxDtls></NtryDtls></Ntry>");
}

fn returns<S: Borrow<Standing>>(header: &Header, standings: &[S]) -> String {
    let mut xml = Xml::open("pacs.004.001.09", standings.len());
    xml.raw("<PmtRtr><GrpHdr>");
    xml.header(header);
    xml.leaf("NbOfTxs", &standings.len().to_string());
    xml.raw("<SttlmInf><SttlmMtd>CLRG</SttlmMtd></SttlmInf></GrpHdr>");
    for standing in standings {
        let standing = standing.borrow();
        xml.raw("<TxInf>");
        xml.leaf("RtrId", standing.reference.as_deref().unwrap_or(NOT_PROVIDED));
        xml.originals(standing);
        xml.leaf_unless_empty("OrgnlUETR", &standing.instruction.uetr);
        xml.amount("OrgnlIntrBkSttlmAmt", standing);
        xml.amount("RtrdIntrBkSttlmAmt", standing);
        xml.leaf("IntrBkSttlmDt", &standing.at.date().to_string());
        xml.raw("<RtrRsnInf>");
        reason(&mut xml, standing);
        xml.raw("</RtrRsnInf></TxInf>");
    }
    xml.raw("</PmtRtr></Document>\n");
    xml.0
}
