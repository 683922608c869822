//! A bank that exchanges files in a shared directory and acknowledges ours: what its acknowledgements,
//! and their absence, do to the payment, the ledger and the alerts.

use std::fs;
use std::path::{Path, PathBuf};

use domain::country::Country;
use domain::currency::StableCoin;
use domain::ids::PaymentId;
use domain::ledger::AccountCode;
use domain::time::Span;
use tempfile::TempDir;
use testkit::wait::{AT_MOST, until_async};

use crate::harness::client::PREFUND_MINOR;
use crate::harness::{Bank, On, Setup, on_both_stores};

on_both_stores! {
    a_positive_acknowledgement_books_nothing_and_the_report_does
    a_negative_acknowledgement_rejects_the_payment_where_the_bank_guarantees_it
    a_negative_acknowledgement_without_a_guarantee_is_an_alert
    a_missing_acknowledgement_is_an_alert_and_the_payment_goes_on
    a_file_that_the_place_refuses_is_written_once_it_takes_it
}

const PAK: Country = Country::Pak;
/// The element of a message with payments; inquiries have another.
const PAYMENTS: &str = "<CstmrCdtTrfInitn>";

/// A service with one rail, and the bank's end of its directory.
struct Exchange {
    bank: Bank,
    dir: TempDir,
}

impl Exchange {
    async fn open(on: On, more: &[(&str, &str)]) -> Exchange {
        let dir = TempDir::new().expect("a directory");
        let path = dir.path().to_str().expect("UTF-8");
        let usual = [
            ("transport", "directory"),
            ("directory", path),
            ("report_wait_s", "1"),
            ("acknowledgements.wait_s", "600"),
            ("acknowledgements.positive", "[\"{name}.ack\"]"),
            ("acknowledgements.negative", "[\"{name}.nak\"]"),
            ("debtor_name", "Demo Bank"),
            ("debtor_account", "1"),
            ("debtor_agent", "DEMOAEAD"),
        ];
        let keys = usual.iter().chain(more);
        let setup = keys.fold(Setup::new(), |setup, (key, value)| {
            setup.set(&format!("rails.pak-raast.{key}"), value)
        });
        let setup = setup.set("rails_enabled", "[\"pak-raast\"]");
        Exchange { bank: Bank::alone(on, setup).await, dir }
    }

    /// Orders a payment; its id, and the name of its file once that is written.
    async fn sent(&self) -> (String, String) {
        let id = self.bank.paid(PAK, |order| order).await;
        let there = until_async(AT_MOST, || async { self.file(&id).is_some() });
        assert!(there.await, "no file");
        let name = self.file(&id).expect("a file");
        (id, name)
    }

    /// The name of the file with a payment.
    fn file(&self, id: &str) -> Option<String> {
        let end_to_end = PaymentId::parse(id).expect("an id").end_to_end_id();
        let mut all = files(&self.dir.path().join("out")).into_iter();
        all.find_map(|path| {
            let text = fs::read_to_string(&path).ok()?;
            let is_it = text.contains(PAYMENTS) && text.contains(&end_to_end);
            is_it.then(|| path.file_name()?.to_str().map(str::to_owned))?
        })
    }

    fn put(&self, name: &str, text: &str) {
        let dir = self.dir.path().join("in");
        let hidden = dir.join(format!(".{name}"));
        fs::write(&hidden, text).expect("written");
        fs::rename(hidden, dir.join(name)).expect("renamed");
    }

    /// The bank's report about a payment.
    fn report(&self, number: u32, id: &str, status: &str) {
        let end_to_end = PaymentId::parse(id).expect("an id").end_to_end_id();
        let reason = match status {
            "RJCT" => "<StsRsnInf><Rsn><Cd>AC01</Cd></Rsn></StsRsnInf>",
            _ => "",
        };
        let text = format!(
            "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:pain.002.001.10\"><CstmrPmtStsRpt><GrpHdr><MsgId>S-{number}\
             </MsgId></GrpHdr><OrgnlPmtInfAndSts><TxInfAndSts><OrgnlEndToEndId>{end_to_end}</OrgnlEndToEndId>\
             <TxSts>{status}</TxSts>{reason}</TxInfAndSts></OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>"
        );
        self.put(&format!("{number}.xml"), &text);
    }

    async fn settled(&self, name: &str) {
        let awaited = self.dir.path().join("awaiting").join(name);
        let settled = until_async(AT_MOST, || async { !awaited.exists() });
        assert!(settled.await, "{name} is awaited still");
    }

    async fn status(&self, id: &str) -> String {
        self.bank.record(PAK, id).await["response"]["status"].text().to_owned()
    }

    /// What the tenant has left, and what is reserved.
    async fn prefund(&self) -> (i64, i64) {
        let store = self.bank.running.store();
        let accounts = store.accounts(self.bank.tenant.id).await.expect("read");
        let code = AccountCode::Prefund(StableCoin::Usdt);
        let account = accounts.iter().find(|it| it.code == code).expect("a prefund");
        (account.available().minor, account.debits_pending)
    }

    async fn alerts(&self) -> Vec<String> {
        let store = self.bank.running.store();
        let alerts = store.alerts(self.bank.tenant.id, 100).await.expect("read");
        alerts.into_iter().map(|(_, alert)| alert.what).collect()
    }

    async fn alert(&self, words: &[&str]) {
        let there = until_async(AT_MOST, || async {
            self.alerts().await.iter().any(|what| words.iter().all(|word| what.contains(word)))
        });
        assert!(there.await, "{words:?}: {:?}", self.alerts().await);
    }

    /// The payment is paid: booked once, nothing reserved.
    async fn is_paid(&self, id: &str) {
        self.bank.reaches(PAK, id, "succeeded").await;
        let (left, reserved) = self.prefund().await;
        assert!(left < PREFUND_MINOR && reserved == 0, "{left} {reserved}");
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.extension().is_some_and(|end| end == "xml")).collect()
}

async fn a_positive_acknowledgement_books_nothing_and_the_report_does(on: On) {
    let exchange = Exchange::open(on, &[]).await;
    let (id, name) = exchange.sent().await;
    let (left, reserved) = exchange.prefund().await;
    assert_ne!(reserved, 0);
    exchange.put(&format!("{name}.ack"), "");
    exchange.settled(&name).await;
    assert_eq!(exchange.status(&id).await, "queued", "the bank has the file, and no more is known");
    assert_eq!(exchange.prefund().await, (left, reserved));
    exchange.report(1, &id, "ACSC");
    exchange.is_paid(&id).await;
    assert_eq!(exchange.alerts().await, Vec::<String>::new());
    exchange.bank.finish().await;
}

async fn a_negative_acknowledgement_rejects_the_payment_where_the_bank_guarantees_it(on: On) {
    let exchange = Exchange::open(on, &[("acknowledgements.negative_rejects", "true")]).await;
    let (id, name) = exchange.sent().await;
    exchange.put(&format!("{name}.nak"), "ERR 17 wrong debtor account");
    let over = until_async(AT_MOST, || async { exchange.status(&id).await != "queued" });
    assert!(over.await);
    let record = exchange.bank.record(PAK, &id).await;
    assert_eq!(record["response"]["status"].text(), "rejected");
    assert!(record["response"]["msg"].text().contains("ERR 17 wrong debtor account"), "{record}");
    exchange.settled(&name).await;
    assert_eq!(exchange.prefund().await, (PREFUND_MINOR, 0), "the hold is released");
    exchange.bank.finish().await;
}

async fn a_negative_acknowledgement_without_a_guarantee_is_an_alert(on: On) {
    let exchange = Exchange::open(on, &[]).await;
    let (id, name) = exchange.sent().await;
    let before = exchange.prefund().await;
    exchange.put(&format!("{name}.nak"), "ERR 17 wrong debtor account");
    exchange.alert(&["No payment was rejected", "ERR 17 wrong debtor account"]).await;
    exchange.settled(&name).await;
    assert_eq!((exchange.status(&id).await.as_str(), exchange.prefund().await), ("queued", before));
    // The bank's report decides.
    exchange.report(1, &id, "RJCT");
    let over = until_async(AT_MOST, || async { exchange.status(&id).await != "queued" });
    assert!(over.await);
    assert_eq!(exchange.prefund().await, (PREFUND_MINOR, 0));
    exchange.bank.finish().await;
}

async fn a_missing_acknowledgement_is_an_alert_and_the_payment_goes_on(on: On) {
    let exchange = Exchange::open(on, &[("acknowledgements.wait_s", "1")]).await;
    let (id, name) = exchange.sent().await;
    let before = exchange.prefund().await;
    exchange.alert(&["no acknowledgement within 1 s", "ask the bank"]).await;
    assert_eq!((exchange.status(&id).await.as_str(), exchange.prefund().await), ("queued", before));
    // It comes after all, and so does the money.
    exchange.put(&format!("{name}.ack"), "");
    exchange.settled(&name).await;
    exchange.report(1, &id, "ACSC");
    exchange.is_paid(&id).await;
    let overdue = exchange.alerts().await;
    let overdue = overdue.iter().filter(|what| what.contains("no acknowledgement")).count();
    assert!(overdue <= 1, "it is reported once");
    exchange.bank.finish().await;
}

/// As with a full disk at the bank: nothing is written, which is certain.
async fn a_file_that_the_place_refuses_is_written_once_it_takes_it(on: On) {
    let exchange = Exchange::open(on, &[]).await;
    let out = exchange.dir.path().join("out");
    fs::remove_dir(&out).expect("removed");
    fs::write(&out, "").expect("written");
    let id = exchange.bank.paid(PAK, |order| order).await;
    let payment = PaymentId::parse(&id).expect("an id");
    let tried = until_async(AT_MOST, || async {
        let store = exchange.bank.running.store();
        !store.attempts(exchange.bank.tenant.id, payment).await.expect("read").is_empty()
    });
    assert!(tried.await);
    assert_eq!(exchange.status(&id).await, "queued");
    // It is awaited only while it is being written.
    let awaiting = exchange.dir.path().join("awaiting");
    let none = until_async(AT_MOST, || async { files(&awaiting).is_empty() });
    assert!(none.await, "nothing was sent that is awaited");
    fs::remove_file(&out).expect("removed");
    fs::create_dir(&out).expect("made");
    let sent = until_async(AT_MOST, || async {
        exchange.bank.advance(Span::secs(30)).await;
        exchange.file(&id).is_some()
    });
    assert!(sent.await, "it is not sent");
    let name = exchange.file(&id).expect("a file");
    exchange.put(&format!("{name}.ack"), "");
    exchange.settled(&name).await;
    exchange.report(1, &id, "ACSC");
    exchange.is_paid(&id).await;
    let texts = files(&out).into_iter().map(|path| fs::read_to_string(path).expect("read"));
    let payments = texts.filter(|text| text.contains(PAYMENTS)).count();
    assert_eq!(payments, 1, "one file, however often it was tried");
    exchange.bank.finish().await;
}
