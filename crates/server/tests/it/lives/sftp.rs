//! A bank that exchanges signed and encrypted files on its SFTP server: OpenSSH's own, with GnuPG
//! between the files and the bank's books.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::country::Country;
use domain::time::Span;
use tempfile::TempDir;
use testkit::bank::{BankConfig, Behaviour, DirectoryConfig, SimulatedBank, SystemClock};
use testkit::gpg::{self, Gpg};
use testkit::sshd::{self, Sshd};
use testkit::wait::{AT_MOST, until_async};

use crate::harness::{Bank, On, Setup, on_both_stores};

on_both_stores! {
    a_payment_travels_signed_and_encrypted_over_the_banks_server
}

const PAK: Country = Country::Pak;
const OURS: &str = "corridor@example.test";
const BANK: &str = "bank@example.test";
const STRANGER: &str = "stranger@example.test";
const PASSPHRASE: &str = "correct horse";

/// The bank's house: its server, its keys, and the directory that its books read.
struct House {
    server: Sshd,
    ring: Gpg,
    books: PathBuf,
    dir: TempDir,
}

impl House {
    fn build() -> Option<House> {
        const PART: &str = "a payment over SFTP with PGP";
        let dir = TempDir::new().expect("a directory");
        let server = sshd::for_tests(PART, dir.path()).expect("OpenSSH's server")?;
        let ring = gpg::for_tests(PART, &dir.path().join("ring")).expect("GnuPG")?;
        ring.create(BANK, ["rsa2048", "rsa2048"], "", (None, "1y")).expect("made");
        ring.create(STRANGER, ["ed25519", "cv25519"], "", (None, "1y")).expect("made");
        ring.create(OURS, ["ed25519", "cv25519"], PASSPHRASE, (None, "1y")).expect("made");
        let key = |name: &str, key: std::io::Result<Vec<u8>>| {
            fs::write(dir.path().join(name), key.expect("exported")).expect("written");
        };
        key("ours.key", ring.secret(OURS, PASSPHRASE));
        key("bank.pub", ring.public(BANK));
        let books = dir.path().join("books");
        Some(House { server, ring, books, dir })
    }

    fn setup(&self) -> Setup {
        let path = |name: &str| self.dir.path().join(name).display().to_string();
        let host_key = self.server.fingerprint("ed25519").expect("a fingerprint");
        let rail = |key: &str| format!("rails.pak-raast.{key}");
        let keys = [
            ("transport", "sftp".to_owned()),
            ("sftp.host", "127.0.0.1".to_owned()),
            ("sftp.port", self.server.port().to_string()),
            ("sftp.user", sshd::user().expect("a user")),
            ("sftp.key_file", path("client")),
            ("sftp.key_passphrase", sshd::PASSPHRASE.to_owned()),
            ("sftp.host_keys", format!("[\"{host_key}\"]")),
            ("sftp.poll_s", "1".to_owned()),
            ("directory", path("state")),
            ("pgp.key_file", path("ours.key")),
            ("pgp.key_passphrase", PASSPHRASE.to_owned()),
            ("pgp.bank_key_files", format!("[\"{}\"]", path("bank.pub"))),
            ("acknowledgements.wait_s", "600".to_owned()),
            ("report_files", "[\"*.xml.pgp\"]".to_owned()),
            ("report_wait_s", "1".to_owned()),
            ("debtor_name", "Demo Bank".to_owned()),
            ("debtor_account", "1".to_owned()),
            ("debtor_agent", "DEMOAEAD".to_owned()),
        ];
        let setup =
            keys.iter().fold(Setup::new(), |setup, (key, value)| setup.set(&rail(key), value));
        setup.set("rails.pak-ibft.enabled", "false").set("rails.pak-rtgs.enabled", "false")
    }

    fn out(&self) -> PathBuf {
        self.server.files().join("out")
    }

    /// Brings our files to the books, and the books' files to the server.
    fn carry(&self) {
        for path in files(&self.out(), ".pgp") {
            let text = self.ring.open(&fs::read(&path).expect("read")).expect("signed by us");
            put(&self.books.join("out"), &name(&path).replace(".pgp", ""), &text);
            fs::remove_file(path).expect("removed");
        }
        for path in files(&self.books.join("in"), ".xml") {
            let text = fs::read(&path).expect("read");
            self.answer(&format!("{}.pgp", name(&path)), BANK, &text);
            fs::remove_file(path).expect("removed");
        }
    }

    fn answer(&self, name: &str, signer: &str, text: &[u8]) {
        let sealed = self.ring.seal(signer, OURS, text).expect("sealed");
        put(&self.server.files().join("in"), name, &sealed);
    }

    async fn is_reported(&self, bank: &Bank, text: &str) {
        let reported = until_async(AT_MOST, || async {
            let alerts = bank.running.store().alerts(bank.tenant.id, 100).await.expect("read");
            alerts.iter().any(|(_, alert)| alert.what.contains(text))
        });
        assert!(reported.await, "{text}");
    }
}

fn name(path: &Path) -> String {
    path.file_name().expect("a name").to_string_lossy().into_owned()
}

fn files(dir: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("listed").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| !name(path).starts_with('.') && name(path).ends_with(end)).collect()
}

fn put(dir: &Path, name: &str, content: &[u8]) {
    let hidden = dir.join(format!(".{name}"));
    fs::write(&hidden, content).expect("written");
    fs::rename(hidden, dir.join(name)).expect("renamed");
}

async fn a_payment_travels_signed_and_encrypted_over_the_banks_server(on: On) {
    let Some(mut house) = House::build() else { return };
    let _books = SimulatedBank::start(BankConfig {
        behaviour: Behaviour::instant(),
        directories: vec![DirectoryConfig {
            rail: "pak-raast".to_owned(),
            path: house.books.clone(),
            poll: Span::millis(20),
        }],
        clock: Arc::new(SystemClock),
        ..BankConfig::default()
    })
    .await
    .expect("a bank");
    let bank = Bank::alone(on, house.setup()).await;
    let id = bank.paid(PAK, |order| order).await;
    let sent = until_async(AT_MOST, || async { !files(&house.out(), ".xml.pgp").is_empty() });
    assert!(sent.await, "no file");
    let sent = name(&files(&house.out(), ".xml.pgp")[0]);
    let paid = until_async(AT_MOST, || async {
        house.carry();
        bank.record(PAK, &id).await["response"]["status"].text() == "succeeded"
    });
    assert!(paid.await, "{}", bank.record(PAK, &id).await);
    // The bank's reports were acknowledgements, too. An inquiry, of a slow machine, may be awaited.
    let awaited = house.dir.path().join("state/awaiting").join(sent);
    let settled = until_async(AT_MOST, || async { !awaited.exists() });
    assert!(settled.await, "an acknowledgement is awaited still");

    // A stranger who reaches the server can put files there: nothing is read from them.
    let second = bank.paid(PAK, |order| order).await;
    let end_to_end = second.replace('-', "");
    let forged = format!(
        "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:pain.002.001.10\"><CstmrPmtStsRpt><GrpHdr><MsgId>F-1</MsgId>\
         </GrpHdr><OrgnlPmtInfAndSts><TxInfAndSts><OrgnlEndToEndId>{end_to_end}</OrgnlEndToEndId><TxSts>RJCT</TxSts>\
         </TxInfAndSts></OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>"
    );
    house.answer("forged.xml.pgp", STRANGER, forged.as_bytes());
    house.is_reported(&bank, "its signature is not by a key of the bank").await;
    let kept = house.server.files().join("in/unreadable/forged.xml.pgp");
    assert!(until_async(AT_MOST, || async { kept.exists() }).await);
    assert_eq!(bank.record(PAK, &second).await["response"]["status"].text(), "queued");
    let paid = until_async(AT_MOST, || async {
        house.carry();
        bank.record(PAK, &second).await["response"]["status"].text() == "succeeded"
    });
    assert!(paid.await, "{}", bank.record(PAK, &second).await);

    // Another server at the bank's address gets nothing.
    house.server.kill().expect("killed");
    house.server.new_host_keys().expect("made");
    house.server.start().expect("started");
    // Sessions outlive their server; a restart makes a new one.
    let bank = bank.restart().await;
    let before = files(&house.out(), "");
    bank.paid(PAK, |order| order).await;
    house.is_reported(&bank, "is not pinned").await;
    assert_eq!(files(&house.out(), ""), before);
    bank.finish().await;
}
