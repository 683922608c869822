//! Files that are signed and encrypted, with GnuPG on the bank's side.

use std::fs;
use std::path::{Path, PathBuf};

use adapters::pgp::{Protection, Settings};
use adapters::rails::{FilesConfig, IsoRail};
use domain::ports::Rail as _;
use domain::rail::{RailStatus, Reports, Submission};
use secrecy::SecretString;
use tempfile::TempDir;
use testkit::gpg::{self, Gpg};

use super::rig::{config, exchange, message, names, page, pay, put, rail, status};

const OURS: &str = "corridor@example.test";
const BANK: &str = "bank@example.test";
const STRANGER: &str = "stranger@example.test";
const PASSPHRASE: &str = "correct horse";
const ED25519: [&str; 2] = ["ed25519", "cv25519"];
const RSA: [&str; 2] = ["rsa2048", "rsa2048"];
const BOTH: Protection = Protection { signed: true, encrypted: true };

struct Bank {
    ring: Gpg,
    dir: TempDir,
}

impl Bank {
    /// A bank with keys of one kind, and ours of another.
    fn open(part: &str, bank: [&str; 2], ours: [&str; 2]) -> Option<Bank> {
        let dir = TempDir::new().expect("a directory");
        let ring = gpg::for_tests(part, &dir.path().join("ring")).expect("GnuPG")?;
        ring.create(BANK, bank, "", (None, "1y")).expect("made");
        ring.create(OURS, ours, PASSPHRASE, (None, "1y")).expect("made");
        fs::write(dir.path().join("ours"), ring.secret(OURS, PASSPHRASE).expect("exported"))
            .expect("written");
        fs::write(dir.path().join("bank"), ring.public(BANK).expect("exported")).expect("written");
        Some(Bank { ring, dir })
    }

    fn config(&self) -> (FilesConfig, PathBuf, PathBuf) {
        let (exchange, out, reports) = exchange(&self.dir.path().join("rail"));
        let pgp = Settings {
            key_file: self.dir.path().join("ours"),
            passphrase: Some(SecretString::from(PASSPHRASE)),
            bank_key_files: vec![self.dir.path().join("bank")],
            outgoing: BOTH,
            incoming: BOTH,
            armor: true,
            suffix: ".pgp".into(),
        };
        (FilesConfig { pgp: Some(pgp), ..config(exchange) }, out, reports)
    }
}

fn only(dir: &Path) -> Vec<u8> {
    let names = names(dir);
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(names[0].ends_with(".xml.pgp"), "{names:?}");
    fs::read(dir.join(&names[0])).expect("read")
}

/// Both kinds of keys, in both directions, as text and binary.
#[tokio::test]
async fn gnupg_reads_what_is_sent_and_writes_what_is_read() {
    for (bank, ours, armor) in [(RSA, ED25519, true), (ED25519, RSA, false)] {
        let Some(bank) = Bank::open("PGP", bank, ours) else { return };
        let (mut config, out, reports) = bank.config();
        config.pgp.as_mut().expect("PGP").armor = armor;
        let rail = rail(&config);
        assert_eq!(pay(&rail, 1).await, Submission::Taken);
        let sealed = only(&out);
        assert_eq!(sealed.starts_with(b"-----BEGIN PGP MESSAGE-----"), armor);
        let text = String::from_utf8(bank.ring.open(&sealed).expect("readable")).expect("UTF-8");
        assert!(text.contains("CstmrCdtTrfInitn") && text.contains(&message(&rail, 1)), "{text}");
        let answer = status("B-1", &message(&rail, 1), "ACCP");
        let answer = bank.ring.seal(BANK, OURS, answer.as_bytes()).expect("sealed");
        put(&reports, "1.xml.pgp", answer);
        let found = page(&rail, None).await;
        assert_eq!(found.unreadable, Vec::<String>::new());
        assert_eq!(found.reports[0].said.status, RailStatus::Accepted);
    }
}

#[tokio::test]
async fn nothing_is_read_without_the_banks_signature() {
    let Some(bank) = Bank::open("PGP signatures", ED25519, ED25519) else { return };
    bank.ring.create(STRANGER, ED25519, "", (None, "1y")).expect("made");
    let (config, _, reports) = bank.config();
    let rail = rail(&config);
    let text = status("B-1", &message(&rail, 1), "RJCT");
    let good = bank.ring.seal(BANK, OURS, text.as_bytes()).expect("sealed");
    let mut torn = good.clone();
    let end = torn.len() - 1;
    torn[end] ^= 1;
    let cut = good[..good.len() / 2].to_vec();
    let armored = bank.ring.seal_as_text(BANK, OURS, text.as_bytes()).expect("sealed");
    for (name, content, why) in [
        (
            "1.xml.pgp",
            bank.ring.seal(STRANGER, OURS, text.as_bytes()).expect("sealed"),
            "is not by a key of the bank",
        ),
        ("2.xml.pgp", bank.ring.encrypt(OURS, text.as_bytes()).expect("sealed"), "is not signed"),
        ("3.xml.pgp", text.clone().into_bytes(), "is not a PGP message"),
        ("4.xml.pgp", torn, "decrypt"),
        ("5.xml.pgp", cut, "decrypt"),
        (
            "6.xml.pgp",
            bank.ring.seal(BANK, STRANGER, text.as_bytes()).expect("sealed"),
            "cannot be decrypted",
        ),
        ("7.xml.pgp", [good.clone(), good.clone()].concat(), "unexpected trailing packet"),
        ("8.xml.pgp", [armored.clone(), armored.clone()].concat(), "more than one PGP message"),
    ] {
        put(&reports, name, content);
        let found = page(&rail, None).await;
        assert!(found.reports.is_empty(), "{name}");
        assert!(found.unreadable[0].contains(why), "{name}: {:?}", found.unreadable);
        // It is kept.
        assert_eq!(rail.collect(Some(name)).await, Ok(Reports::default()));
        assert!(reports.join("unreadable").join(name).exists(), "{name}");
    }
    put(&reports, "9a.xml.pgp", good);
    put(&reports, "9b.xml.pgp", [armored.as_slice(), b"\r\n\n"].concat());
    assert_eq!(page(&rail, Some("8.xml.pgp")).await.reports.len(), 2);
}

/// A message of gigabytes in a small file.
#[tokio::test]
async fn a_small_file_does_not_unpack_into_a_large_one() {
    let Some(bank) = Bank::open("a PGP bomb", ED25519, ED25519) else { return };
    let (config, _, reports) = bank.config();
    let rail = rail(&config);
    let large = vec![b' '; 64 * 1024 * 1024];
    let sealed = bank.ring.seal(BANK, OURS, &large).expect("sealed");
    assert!(sealed.len() < large.len() / 100, "{}", sealed.len());
    put(&reports, "1.xml.pgp", sealed);
    let found = page(&rail, None).await;
    assert!(found.unreadable[0].contains("holds more than"), "{:?}", found.unreadable);
}

#[tokio::test]
async fn a_key_that_cannot_be_used_is_named_at_the_start() {
    let Some(bank) = Bank::open("wrong PGP keys", ED25519, ED25519) else { return };
    let refusal = |change: &dyn Fn(&mut Settings)| {
        let (mut config, ..) = bank.config();
        change(config.pgp.as_mut().expect("PGP"));
        IsoRail::files(config).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(refusal(&|_| {}), "");
    let expired = bank.dir.path().join("expired");
    bank.ring.create(STRANGER, ED25519, "", (Some("20200101T000000!"), "1d")).expect("made");
    fs::write(&expired, bank.ring.public(STRANGER).expect("exported")).expect("written");
    let old = refusal(&|pgp| pgp.bank_key_files = vec![expired.clone()]);
    assert!(
        old.contains("rail pak-raast: pgp: ") && old.contains("expired on 2020-01-02"),
        "{old}"
    );
    // With the new key beside it, the old one is left out.
    assert_eq!(refusal(&|pgp| pgp.bank_key_files.push(expired.clone())), "");
    let wrong = refusal(&|pgp| pgp.passphrase = Some(SecretString::from("wrong")));
    assert!(wrong.contains("cannot sign, is the passphrase right?"), "{wrong}");
    let none = refusal(&|pgp| pgp.bank_key_files.clear());
    assert!(none.contains("no key of the bank is configured"), "{none}");
    let public = refusal(&|pgp| pgp.key_file = bank.dir.path().join("bank"));
    assert!(public.contains("is not a secret OpenPGP key"), "{public}");
    let missing = refusal(&|pgp| pgp.bank_key_files = vec![bank.dir.path().join("none")]);
    assert!(missing.contains("none: "), "{missing}");
    let (config, ..) = bank.config();
    assert!(config.usable_keys().expect("usable").is_some(), "they expire in a year");
}
