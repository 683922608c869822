//! The bank as a whole: its book across restarts, over HTTP, and over a directory.

mod book;
mod directory;
mod http;
mod statements;

use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, Ordering};

use domain::ports::{BoxFuture, Clock};
use domain::time::{Span, Timestamp};
use uuid::Uuid;

/// A manually advanced clock.
struct HandClock(AtomicI64);

impl HandClock {
    fn new() -> HandClock {
        HandClock(AtomicI64::new(1_795_244_268_000_000))
    }

    fn advance(&self, span: Span) {
        self.0.fetch_add(span.0, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }

    fn sleep_until(&self, _: Timestamp) -> BoxFuture<'static, ()> {
        // The bank checks again at once, at its own pace.
        Box::pin(tokio::task::yield_now())
    }
}

fn instruction_id(number: u128) -> String {
    Uuid::from_u128(number).simple().to_string()
}

/// A pain.001 of `(number, account)`, each of 379.12 PKR.
fn pain_001(orders: &[(u128, &str)]) -> String {
    let mut xml = format!(
        "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:pain.001.001.09\"><CstmrCdtTrfInitn><GrpHdr><MsgId>M</MsgId>\
         <NbOfTxs>{}</NbOfTxs></GrpHdr><PmtInf>",
        orders.len()
    );
    for (number, account) in orders {
        let (id, uetr) = (instruction_id(*number), Uuid::from_u128(*number));
        let _ = write!(
            xml,
            "<CdtTrfTxInf><PmtId><InstrId>{id}</InstrId><EndToEndId>{id}</EndToEndId><UETR>{uetr}</UETR></PmtId>\
             <Amt><InstdAmt Ccy=\"PKR\">379.12</InstdAmt></Amt><Cdtr><Nm>Ayesha</Nm></Cdtr>\
             <CdtrAcct><Id><Othr><Id>{account}</Id></Othr></Id></CdtrAcct></CdtTrfTxInf>"
        );
    }
    xml.push_str("</PmtInf></CstmrCdtTrfInitn></Document>");
    xml
}

fn pacs_028(numbers: &[u128]) -> String {
    let mut xml = "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:pacs.028.001.03\"><FIToFIPmtStsReq><GrpHdr>\
                   <MsgId>Q</MsgId></GrpHdr>"
        .to_owned();
    for number in numbers {
        let id = instruction_id(*number);
        let _ = write!(
            xml,
            "<TxInf><OrgnlInstrId>{id}</OrgnlInstrId><OrgnlEndToEndId>{id}</OrgnlEndToEndId></TxInf>"
        );
    }
    xml.push_str("</FIToFIPmtStsReq></Document>");
    xml
}

/// The texts of every element of that name.
fn texts(xml: &str, name: &str) -> Vec<String> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let parts = xml.split(open.as_str()).skip(1);
    parts
        .filter_map(|part| part.split_once(close.as_str()).map(|(text, _)| text.to_owned()))
        .collect()
}
