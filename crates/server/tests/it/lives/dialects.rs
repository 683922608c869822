//! Messages in other banks' dialects, through a `directory` rail: one per kind. Each file is
//! derived from the payment's pain.001 and placed in the rail's directory.

use std::fs;
use std::path::{Path, PathBuf};

use domain::country::Country;
use domain::currency::StableCoin;
use domain::ledger::AccountCode;
use domain::payment::PaymentState;
use domain::time::Span;
use domain::wallet_effects::AlertKind;
use tempfile::TempDir;
use testkit::wait::{AT_MOST, until_async};

use crate::harness::client::PREFUND_MINOR;
use crate::harness::{Bank, On, Setup, on_both_stores};

on_both_stores! {
    case_01_group_rjct
    case_01_pmtinf_rjct
    case_03_rjct_am05_as_the_first_answer
    case_03_rjct_am05_after_acsp
    case_03_a_group_that_was_received_before
    a_duplicate_of_the_message_beside_a_bare_rejection
    a_payment_that_is_found_by_its_remittance_information
    case_04_endtoend_only
    case_04_banks_own_instrid
    case_06_camt053_v02_amtdtls
    case_06_camt054_v02_amtdtls
    case_08_iso_8859_1
    case_08_windows_1252
    case_08_latin1_in_utf8
    case_09_prefix_changes
    case_14_end_of_day_24h
    a_debit_with_charges_books_them_and_a_return_less_charges_too
    files_in_capitals_and_strangers_are_not_passed_over
    a_rail_that_cannot_be_read_has_an_alert_until_it_can
    a_condition_of_the_files_has_an_alert_until_it_is_over
}

/// A payment service whose only rail for Pakistan is a directory without a bank.
struct Desk {
    bank: Bank,
    dir: TempDir,
}

/// A payment as sent.
struct Sent {
    payment: String,
    message: String,
    instruction: String,
    end_to_end: String,
    uetr: String,
    amount: String,
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let rest = text.split_once(from).expect(from).1;
    rest.split_once(to).expect(to).0
}

impl Desk {
    async fn open(on: On) -> Desk {
        let dir = TempDir::new().expect("a directory");
        let path = dir.path().to_str().expect("UTF-8");
        let setup = Setup::new()
            .set("rails.pak-raast.transport", "directory")
            .set("rails.pak-raast.directory", path)
            .set("rails.pak-raast.debtor_name", "Demo Bank")
            .set("rails.pak-raast.debtor_account", "1")
            .set("rails.pak-raast.debtor_agent", "DEMOAEAD")
            .set("rails.pak-raast.report_wait_s", "1")
            .set("rails.pak-ibft.enabled", "false")
            .set("rails.pak-rtgs.enabled", "false");
        Desk { bank: Bank::alone(on, setup).await, dir }
    }

    /// Pays, and reads the payment's pain.001.
    async fn sent(&self) -> Sent {
        let payment = self.bank.paid(Country::Pak, |order| order).await;
        let end_to_end = payment.replace('-', "");
        let out = self.dir.path().join("out");
        let carries = |path: &Path| {
            let text = fs::read_to_string(path).ok()?;
            (text.contains(&end_to_end) && text.contains("CstmrCdtTrfInitn")).then_some(text)
        };
        let message = || {
            let files =
                fs::read_dir(&out).expect("listed").filter_map(|file| Some(file.ok()?.path()));
            files
                .filter(|path| path.extension().is_some_and(|it| it == "xml"))
                .find_map(|path| carries(&path))
        };
        assert!(
            until_async(AT_MOST, || async { message().is_some() }).await,
            "no pain.001 with {end_to_end}"
        );
        let text = message().expect("there");
        let own = text
            .split("<CdtTrfTxInf>")
            .find(|part| part.contains(&end_to_end))
            .expect("its transaction");
        Sent {
            payment,
            message: between(&text, "<MsgId>", "<").to_owned(),
            instruction: between(own, "<InstrId>", "<").to_owned(),
            uetr: between(own, "<UETR>", "<").to_owned(),
            amount: between(own, "<InstdAmt Ccy=\"PKR\">", "<").to_owned(),
            end_to_end,
        }
    }

    fn lay(&self, name: &str, content: impl AsRef<[u8]>) {
        let dir = self.dir.path().join("in");
        let hidden = dir.join(format!(".{name}"));
        fs::write(&hidden, content).expect("written");
        fs::rename(hidden, dir.join(name)).expect("renamed");
    }

    /// Places a file and waits until it is processed and archived.
    async fn lay_and_read(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        self.lay(name, content);
        let dir = self.dir.path().join("in");
        let places = [dir.join("archive").join(name), dir.join("unreadable").join(name)];
        let gone = || async { places.iter().any(|path| path.exists()) };
        assert!(until_async(AT_MOST, gone).await, "{name} is not read");
        places.into_iter().find(|path| path.exists()).expect("there")
    }

    async fn reaches(&self, sent: &Sent, state: &str) {
        self.bank.reaches(Country::Pak, &sent.payment, state).await;
    }

    async fn state(&self, sent: &Sent) -> String {
        self.bank.record(Country::Pak, &sent.payment).await["response"]["status"].text().to_owned()
    }

    async fn is_held(&self) -> bool {
        let accounts = self.bank.running.store().accounts(self.bank.tenant.id).await.expect("read");
        let prefund =
            accounts.iter().find(|account| account.code == AccountCode::Prefund(StableCoin::Usdt));
        prefund.expect("a prefund").available().minor < PREFUND_MINOR
    }

    async fn charges(&self) -> i64 {
        let accounts = self.bank.running.store().accounts(self.bank.tenant.id).await.expect("read");
        let charges = accounts
            .iter()
            .find(|it| it.code == AccountCode::RailCharges(domain::currency::Currency::Pkr));
        charges.map_or(0, |account| account.balance().minor)
    }

    /// The alerts about the rail's reports.
    async fn discrepancies(&self, sent: &Sent) -> Vec<String> {
        let store = self.bank.running.store();
        let found = store.discrepancies(self.bank.tenant.id, 100).await.expect("read");
        let own =
            found.into_iter().map(|(_, it)| it).filter(|it| it.payment.to_string() == sent.payment);
        own.map(|it| it.what).collect()
    }

    async fn alerts(&self) -> Vec<String> {
        self.alerts_of(AlertKind::Discrepancy).await
    }

    async fn alerts_of(&self, kind: AlertKind) -> Vec<String> {
        let alerts =
            self.bank.running.store().alerts(self.bank.tenant.id, 100).await.expect("read");
        let of_kind = alerts.into_iter().filter(|(_, alert)| alert.kind == kind);
        of_kind.map(|(_, alert)| alert.what).collect()
    }
}

fn document(kind: &str, root: &str, body: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:{kind}\"><{root}>\
         <GrpHdr><MsgId>BANK-1</MsgId><CreDtTm>2026-11-25T10:00:00</CreDtTm></GrpHdr>{body}</{root}></Document>"
    )
}

fn group(sent: &Sent, more: &str) -> String {
    let message = &sent.message;
    format!(
        "<OrgnlGrpInfAndSts><OrgnlMsgId>{message}</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId>{more}\
         </OrgnlGrpInfAndSts>"
    )
}

fn status(version: &str, sent: &Sent, transaction: &str) -> String {
    let (group, message) = (group(sent, ""), &sent.message);
    let body = format!(
        "{group}<OrgnlPmtInfAndSts><OrgnlPmtInfId>{message}</OrgnlPmtInfId><TxInfAndSts>{transaction}</TxInfAndSts>\
         </OrgnlPmtInfAndSts>"
    );
    document(&format!("pain.002.001.{version}"), "CstmrPmtStsRpt", &body)
}

fn whole(sent: &Sent, transaction: &str) -> String {
    let Sent { instruction, end_to_end, uetr, .. } = sent;
    let ids = format!(
        "<OrgnlInstrId>{instruction}</OrgnlInstrId><OrgnlEndToEndId>{end_to_end}</OrgnlEndToEndId>\
         <OrgnlUETR>{uetr}</OrgnlUETR>"
    );
    status("10", sent, &format!("{ids}{transaction}"))
}

fn duplicate(sent: &Sent) -> String {
    whole(
        sent,
        "<TxSts>RJCT</TxSts><StsRsnInf><Rsn><Cd>AM05</Cd></Rsn><AddtlInf>already received</AddtlInf></StsRsnInf>",
    )
}

async fn case_01_group_rjct(on: On) {
    let desk = Desk::open(on).await;
    let sent = desk.sent().await;
    let more = "<GrpSts>RJCT</GrpSts><StsRsnInf><Rsn><Cd>FF01</Cd></Rsn><AddtlInf>file refused</AddtlInf></StsRsnInf>";
    desk.lay(
        "01-group-rjct.xml",
        document("pain.002.001.10", "CstmrPmtStsRpt", &group(&sent, more)),
    );
    desk.reaches(&sent, "rejected").await;
    assert!(!desk.is_held().await);
    desk.bank.finish().await;
}

async fn case_01_pmtinf_rjct(on: On) {
    let desk = Desk::open(on).await;
    let sent = desk.sent().await;
    let body = format!(
        "{}<OrgnlPmtInfAndSts><OrgnlPmtInfId>{}</OrgnlPmtInfId><PmtInfSts>RJCT</PmtInfSts><StsRsnInf><Rsn><Cd>AM04</Cd></Rsn>\
         </StsRsnInf></OrgnlPmtInfAndSts>",
        group(&sent, ""),
        sent.message
    );
    desk.lay("01-pmtinf-rjct.xml", document("pain.002.001.10", "CstmrPmtStsRpt", &body));
    desk.reaches(&sent, "rejected").await;
    assert!(!desk.is_held().await);
    desk.bank.finish().await;
}

/// "Duplicate" proves that the bank has the payment: the money stays reserved, and later reports
/// count.
async fn case_03_rjct_am05_as_the_first_answer(on: On) {
    let desk = Desk::open(on).await;
    let sent = desk.sent().await;
    desk.lay("03-rjct-am05.xml", duplicate(&sent));
    desk.reaches(&sent, "unknown").await;
    assert!(desk.is_held().await);
    desk.lay("later.xml", whole(&sent, "<TxSts>ACSC</TxSts>"));
    desk.reaches(&sent, "succeeded").await;
    desk.bank.finish().await;
}

async fn case_03_rjct_am05_after_acsp(on: On) {
    let desk = Desk::open(on).await;
    let sent = desk.sent().await;
    desk.lay("1.xml", whole(&sent, "<TxSts>ACSP</TxSts>"));
    desk.reaches(&sent, "processing").await;
    desk.lay("2.xml", duplicate(&sent));
    desk.reaches(&sent, "unknown").await;
    assert!(desk.is_held().await);
    desk.lay("3.xml", whole(&sent, "<TxSts>ACSC</TxSts>"));
    desk.reaches(&sent, "succeeded").await;
    desk.lay_and_read("4.xml", duplicate(&sent)).await;
    assert_eq!(
        (desk.state(&sent).await, desk.discrepancies(&sent).await),
        (PaymentState::Succeeded.name().into(), vec![])
    );
    desk.bank.finish().await;
}

/// A second form: the whole message is a duplicate, with its own code and next to another reason.
async fn case_03_a_group_that_was_received_before(on: On) {
    let desk = Desk::open(on).await;
    let sent = desk.sent().await;
    let more = "<GrpSts>RJCT</GrpSts><StsRsnInf><Rsn><Cd>NARR</Cd></Rsn></StsRsnInf><StsRsnInf><Rsn><Cd>DU01</Cd></Rsn></StsRsnInf>";
    desk.lay("group.xml", document("pain.002.001.03", "CstmrPmtStsRpt", &group(&sent, more)));
    desk.reaches(&sent, "unknown").await;
    assert!(desk.is_held().await);
    desk.bank.finish().await;
}

/// The transaction's own rejection has no reason: that of the message counts.
async fn a_duplicate_of_the_message_beside_a_bare_rejection(on: On) {
    let desk = Desk::open(on).await;
    let sent = desk.sent().await;
    let more =
        "<GrpSts>RJCT</GrpSts><StsRsnInf><Rsn><Prtry>DUPLICATE FILE</Prtry></Rsn></StsRsnInf>";
    let body = format!(
        "{}<OrgnlPmtInfAndSts><PmtInfSts>RJCT</PmtInfSts><TxInfAndSts><OrgnlEndToEndId>{}</OrgnlEndToEndId>\
         <TxSts>RJCT</TxSts></TxInfAndSts></OrgnlPmtInfAndSts>",
        group(&sent, more),
        sent.end_to_end
    );
    desk.lay("1.xml", document("pain.002.001.03", "CstmrPmtStsRpt", &body));
    desk.reaches(&sent, "unknown").await;
    assert!(desk.is_held().await);
    desk.bank.finish().await;
}

/// A number of the bank's own in place of our ids, which stand in a text.
async fn a_payment_that_is_found_by_its_remittance_information(on: On) {
    let desk = Desk::open(on).await;
    let sent = desk.sent().await;
    let body = format!(
        "<Ntfctn><Id>N</Id><Ntry><Amt Ccy=\"PKR\">{}</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><NtryDtls><TxDtls><Refs>\
         <InstrId>20261125000001234567</InstrId></Refs><RmtInf><Ustrd>/EREF/{}//REMI/x</Ustrd></RmtInf></TxDtls></NtryDtls>\
         </Ntry></Ntfctn>",
        sent.amount, sent.end_to_end
    );
    desk.lay("1.xml", document("camt.054.001.02", "BkToCstmrDbtCdtNtfctn", &body));
    desk.reaches(&sent, "succeeded").await;
    desk.bank.finish().await;
}

async fn case_04_endtoend_only(on: On) {
    let desk = Desk::open(on).await;
    let sent = desk.sent().await;
    let ids = format!("<OrgnlEndToEndId>{}</OrgnlEndToEndId>", sent.end_to_end);
    desk.lay("04-endtoend-only.xml", status("03", &sent, &format!("{ids}<TxSts>ACSC</TxSts>")));
    desk.reaches(&sent, "succeeded").await;
    desk.bank.finish().await;
}

async fn case_04_banks_own_instrid(on: On) {
    let desk = Desk::open(on).await;
    let sent = desk.sent().await;
    let ids = format!(
        "<OrgnlInstrId>HOST000042</OrgnlInstrId><OrgnlEndToEndId>{}</OrgnlEndToEndId><OrgnlUETR>{}</OrgnlUETR>",
        sent.end_to_end, sent.uetr
    );
    desk.lay("04-banks-own-instrid.xml", status("10", &sent, &format!("{ids}<TxSts>ACSC</TxSts>")));
    desk.reaches(&sent, "succeeded").await;
    desk.bank.finish().await;
}

fn statement(version: &str, period_end: &str, more: &str) -> String {
    let body = format!(
        "<Stmt><Id>STM-1</Id><CreDtTm>2026-11-25T23:30:00</CreDtTm><FrToDt><FrDtTm>2026-11-25T00:00:00</FrDtTm>\
         <ToDtTm>{period_end}</ToDtTm></FrToDt><Acct><Id><IBAN>PK36SCBL0000001123456702</IBAN></Id><Ccy>PKR</Ccy></Acct>{more}\
         </Stmt>"
    );
    document(&format!("camt.053.001.{version}"), "BkToCstmrStmt", &body)
}

/// The number of entries about a payment in stored statements.
async fn entries_of(desk: &Desk, sent: &Sent) -> usize {
    let found = desk.bank.running.store().open_bookings(None, 100).await.expect("read");
    let own = found.iter().filter(|it| it.attempt.payment.to_string() == sent.payment);
    own.map(|it| it.entries.len()).sum()
}

async fn case_06_camt053_v02_amtdtls(on: On) {
    let desk = Desk::open(on).await;
    let (first, second) = (desk.sent().await, desk.sent().await);
    let cents = |amount: &str| amount.replace('.', "").parse::<i64>().expect("a number");
    let sum = cents(&first.amount) + cents(&second.amount);
    let part = |sent: &Sent| {
        format!(
            "<TxDtls><Refs><InstrId>{}</InstrId><EndToEndId>{}</EndToEndId></Refs><AmtDtls><TxAmt><Amt Ccy=\"PKR\">{}</Amt>\
             </TxAmt></AmtDtls></TxDtls>",
            sent.instruction, sent.end_to_end, sent.amount
        )
    };
    let entry = format!(
        "<Ntry><Amt Ccy=\"PKR\">{}.{:02}</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2026-11-25</Dt></BookgDt>\
         <AcctSvcrRef>E0602</AcctSvcrRef><NtryDtls><Btch><NbOfTxs>2</NbOfTxs></Btch>{}{}</NtryDtls></Ntry>",
        sum / 100,
        sum % 100,
        part(&first),
        part(&second)
    );
    let read = desk
        .lay_and_read("06-camt053-v02-amtdtls.xml", statement("02", "2026-11-25T23:59:59", &entry))
        .await;
    assert!(read.to_string_lossy().contains("archive"), "{read:?}");
    assert_eq!((entries_of(&desk, &first).await, entries_of(&desk, &second).await), (1, 1));
    assert_eq!(desk.alerts().await, Vec::<String>::new());
    desk.bank.finish().await;
}

async fn case_06_camt054_v02_amtdtls(on: On) {
    let desk = Desk::open(on).await;
    let sent = desk.sent().await;
    let body = format!(
        "<Ntfctn><Id>NTF-0601</Id><CreDtTm>2026-11-25T10:00:00</CreDtTm><Acct><Id><Othr><Id>1</Id></Othr></Id></Acct>\
         <Ntry><Amt Ccy=\"PKR\">11.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><NtryDtls><Btch><NbOfTxs>2</NbOfTxs></Btch>\
         <TxDtls><Refs><InstrId>{}</InstrId><EndToEndId>{}</EndToEndId></Refs><AmtDtls><TxAmt><Amt Ccy=\"PKR\">1.00</Amt></TxAmt>\
         </AmtDtls></TxDtls><TxDtls><Refs><EndToEndId>OTHERSYSTEM1</EndToEndId></Refs><AmtDtls><TxAmt>\
         <Amt Ccy=\"PKR\">10.00</Amt></TxAmt></AmtDtls></TxDtls></NtryDtls></Ntry></Ntfctn>",
        sent.instruction, sent.end_to_end
    );
    desk.lay_and_read(
        "06-camt054.xml",
        document("camt.054.001.02", "BkToCstmrDbtCdtNtfctn", &body),
    )
    .await;
    let found = desk.discrepancies(&sent).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("reports 1.00 PKR"), "{found:?}");
    assert!(["queued", "processing"].contains(&desk.state(&sent).await.as_str()));
    assert!(desk.is_held().await);
    assert!(
        desk.alerts().await.iter().any(|it| it.contains("OTHERSYSTEM1")),
        "the other one is not passed over"
    );
    desk.bank.finish().await;
}

async fn encoded(on: On, name: &str, label: &str, words: &str) {
    let desk = Desk::open(on).await;
    let sent = desk.sent().await;
    let ids = format!("<OrgnlInstrId>{}</OrgnlInstrId><TxSts>ACSC</TxSts>", sent.instruction);
    let text =
        status("10", &sent, &format!("{ids}<StsRsnInf><AddtlInf>{words}</AddtlInf></StsRsnInf>"));
    let text = text.replace("encoding=\"UTF-8\"", &format!("encoding=\"{label}\""));
    let bytes: Vec<u8> =
        text.chars().map(|c| u8::try_from(u32::from(c)).expect("Latin-1")).collect();
    desk.lay(name, bytes);
    desk.reaches(&sent, "succeeded").await;
    desk.bank.finish().await;
}

async fn case_08_iso_8859_1(on: On) {
    encoded(on, "08-iso-8859-1.xml", "ISO-8859-1", "ausgeführt, Größe").await;
}

async fn case_08_windows_1252(on: On) {
    encoded(on, "08-windows-1252.xml", "windows-1252", "ausgeführt, Größe").await;
}

async fn case_08_latin1_in_utf8(on: On) {
    encoded(on, "08-latin1-in-utf8.xml", "UTF-8", "ausgeführt").await;
}

async fn case_09_prefix_changes(on: On) {
    let desk = Desk::open(on).await;
    let sent = desk.sent().await;
    let namespace = "urn:iso:std:iso:20022:tech:xsd:pain.002.001.10";
    let text = whole(&sent, "<TxSts>ACSC</TxSts>")
        .replace(
            &format!("<Document xmlns=\"{namespace}\"><CstmrPmtStsRpt>"),
            &format!(
                "<ns2:Document xmlns:ns2=\"{namespace}\"><CstmrPmtStsRpt xmlns=\"{namespace}\">"
            ),
        )
        .replace("</Document>", "</ns2:Document>");
    desk.lay("09-prefix-changes.xml", text);
    desk.reaches(&sent, "succeeded").await;
    desk.bank.finish().await;
}

async fn case_14_end_of_day_24h(on: On) {
    let desk = Desk::open(on).await;
    let sent = desk.sent().await;
    let more = format!(
        "<Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy=\"PKR\">1000000.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>\
         <Dt><Dt>2026-11-25</Dt></Dt></Bal><Ntry><Amt Ccy=\"PKR\">{}</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>\
         <BookgDt><Dt>2026-11-25</Dt></BookgDt><AcctSvcrRef>E1401</AcctSvcrRef><NtryDtls><TxDtls><Refs><InstrId>{}</InstrId>\
         <EndToEndId>{}</EndToEndId></Refs></TxDtls></NtryDtls></Ntry>",
        sent.amount, sent.instruction, sent.end_to_end
    );
    let read = desk
        .lay_and_read("14-end-of-day-24h.xml", statement("08", "2026-11-25T24:00:00", &more))
        .await;
    assert!(read.to_string_lossy().contains("archive"), "{read:?}");
    let sheets = desk.bank.running.store().newest_statements(10).await.expect("read");
    assert_eq!(sheets[0].to.to_string(), "2026-11-26T00:00:00.000Z");
    assert_eq!((entries_of(&desk, &sent).await, desk.alerts().await), (1, vec![]));
    desk.bank.finish().await;
}

/// A debit of the amount plus 25 rupees, and a return that the bank reduced by 100.
async fn a_debit_with_charges_books_them_and_a_return_less_charges_too(on: On) {
    let desk = Desk::open(on).await;
    let sent = desk.sent().await;
    let minor: i64 = sent.amount.replace('.', "").parse().expect("a number");
    let money = |minor: i64| format!("{}.{:02}", minor / 100, minor % 100);
    let body = format!(
        "<Ntfctn><Id>N</Id><Ntry><Amt Ccy=\"PKR\">{}</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts>BOOK</Sts><NtryDtls><TxDtls><Refs>\
         <EndToEndId>{}</EndToEndId></Refs><Chrgs><Amt Ccy=\"PKR\">25.00</Amt></Chrgs></TxDtls></NtryDtls></Ntry></Ntfctn>",
        money(minor + 2_500),
        sent.end_to_end
    );
    desk.lay("1.xml", document("camt.054.001.02", "BkToCstmrDbtCdtNtfctn", &body));
    desk.reaches(&sent, "succeeded").await;
    assert_eq!(desk.charges().await, 2_500);
    let body = format!(
        "<TxInf><OrgnlEndToEndId>{}</OrgnlEndToEndId><RtrdIntrBkSttlmAmt Ccy=\"PKR\">{}</RtrdIntrBkSttlmAmt><ChrgsInf>\
         <Amt Ccy=\"PKR\">100.00</Amt></ChrgsInf><RtrRsnInf><Rsn><Cd>AC04</Cd></Rsn></RtrRsnInf></TxInf>",
        sent.end_to_end,
        money(minor - 10_000)
    );
    desk.lay("2.xml", document("pacs.004.001.09", "PmtRtr", &body));
    desk.reaches(&sent, "reversed").await;
    assert_eq!(desk.charges().await, 12_500);
    assert_eq!(desk.discrepancies(&sent).await, Vec::<String>::new());
    desk.bank.finish().await;
}

async fn files_in_capitals_and_strangers_are_not_passed_over(on: On) {
    let desk = Desk::open(on).await;
    let sent = desk.sent().await;
    desk.lay("PAIN002.XML", whole(&sent, "<TxSts>ACSC</TxSts>"));
    desk.reaches(&sent, "succeeded").await;
    desk.lay("Statement.XML", "<note/>");
    let aside = desk.dir.path().join("in/unreadable/Statement.XML");
    assert!(until_async(AT_MOST, || async { aside.exists() }).await, "it is not moved aside");
    assert!(
        desk.alerts().await.iter().any(|it| it.contains("Statement.XML")),
        "{:?}",
        desk.alerts().await
    );
    desk.bank.finish().await;
}

async fn a_condition_of_the_files_has_an_alert_until_it_is_over(on: On) {
    let desk = Desk::open(on).await;
    let sent = desk.sent().await;
    let place = desk.dir.path().join("in/2026-11-28");
    fs::create_dir(&place).expect("made");
    let then = std::time::SystemTime::now() - std::time::Duration::from_secs(61);
    fs::File::open(&place).expect("opened").set_modified(then).expect("set");
    let what = "rail pak-raast: directory \"2026-11-28\": files are read beside it, and not in it";
    let is_alerted = || async { desk.alerts_of(AlertKind::RailFaults).await == [what] };
    assert!(until_async(AT_MOST, is_alerted).await, "{:?}", desk.alerts().await);
    desk.lay("1.xml", whole(&sent, "<TxSts>ACSC</TxSts>"));
    desk.reaches(&sent, "succeeded").await;
    assert!(is_alerted().await, "it lasts");
    fs::remove_dir(&place).expect("removed");
    assert!(until_async(AT_MOST, || async { !is_alerted().await }).await, "it stays");
    desk.bank.finish().await;
}

async fn a_rail_that_cannot_be_read_has_an_alert_until_it_can(on: On) {
    let desk = Desk::open(on).await;
    let sent = desk.sent().await;
    let (place, aside) = (desk.dir.path().join("in"), desk.dir.path().join("aside"));
    fs::rename(&place, &aside).expect("moved");
    fs::write(&place, "no directory").expect("written");
    let is_alerted = || async {
        let alerts = desk.alerts_of(AlertKind::RailFaults).await;
        let what = "the reports of the rail pak-raast cannot be fetched";
        assert!(alerts.iter().all(|alert| alert == what), "{alerts:?}");
        !alerts.is_empty()
    };
    // The first fetch that fails has a time of its own.
    let alerted = until_async(AT_MOST, || async {
        desk.bank.advance(Span::mins(1)).await;
        is_alerted().await
    });
    assert!(alerted.await, "no alert");
    fs::remove_file(&place).expect("removed");
    fs::rename(&aside, &place).expect("moved back");
    assert!(until_async(AT_MOST, || async { !is_alerted().await }).await, "it stays");
    desk.lay("1.xml", whole(&sent, "<TxSts>ACSC</TxSts>"));
    desk.reaches(&sent, "succeeded").await;
    desk.bank.finish().await;
}
