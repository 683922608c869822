//! The bank's acknowledgements of our files.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use adapters::rails::{AcknowledgementSettings, FilesConfig, IsoRail};
use domain::ports::Rail as _;
use domain::rail::{About, RailStatus, Reports, Submission};
use tempfile::TempDir;

use super::rig::{config, exchange, message, names, page, pay, put, rail, status};

const WAIT: Duration = Duration::from_secs(1_800);

struct Bank {
    dir: TempDir,
    rail: IsoRail,
    out: PathBuf,
    reports: PathBuf,
}

impl Bank {
    fn open(negative_rejects: bool) -> Bank {
        let dir = TempDir::new().expect("a directory");
        let (exchange, out, reports) = exchange(dir.path());
        let acknowledgements = AcknowledgementSettings {
            positive: vec!["{name}.ack".into(), "{stem}.OK".into()],
            negative: vec!["{name}.nak".into()],
            wait: WAIT,
            negative_rejects,
            duplicate_reasons: vec!["B-017".into()],
        };
        let acknowledgements = Some(acknowledgements);
        let rail = rail(&FilesConfig { acknowledgements, ..config(exchange) });
        Bank { dir, rail, out, reports }
    }

    /// Sends a payment; the name of its file.
    async fn sent(&self, number: u128) -> String {
        assert_eq!(pay(&self.rail, number).await, Submission::Taken);
        format!("{}.xml", message(&self.rail, number))
    }

    fn awaited(&self) -> Vec<String> {
        names(&self.dir.path().join("awaiting"))
    }

    /// What is found, and stored.
    async fn looks(&self) -> Reports {
        let found = self.rail.collect(None).await.expect("readable");
        self.rail.confirm_stored().await.expect("noted");
        found
    }
}

/// Puts a file that was written a while ago.
fn put_old(dir: &Path, name: &str, content: &str) {
    put(dir, name, content);
    age(&dir.join(name), Duration::from_secs(61));
}

/// Makes a file seem older.
fn age(path: &Path, by: Duration) {
    let then = SystemTime::now() - by;
    fs::File::options().write(true).open(path).expect("opened").set_modified(then).expect("set");
}

#[tokio::test]
async fn a_positive_acknowledgement_beside_the_file_or_in_in_settles_it() {
    let bank = Bank::open(true);
    let (first, second, third) = (bank.sent(1).await, bank.sent(2).await, bank.sent(3).await);
    assert_eq!(bank.awaited().len(), 3);
    put(&bank.out, &format!("{first}.ACK"), "");
    put(&bank.reports, &second.replace(".xml", ".ok"), "");
    assert_eq!(bank.looks().await, Reports::default());
    assert_eq!(bank.awaited(), [third.as_str()]);
    assert_eq!(names(&bank.reports.join("archive")).len(), 2);
    assert_eq!(names(&bank.reports), Vec::<String>::new());
    // A report that names the message is one, too.
    put(&bank.reports, "1.xml", status("B-1", &message(&bank.rail, 3), "ACTC"));
    page(&bank.rail, None).await;
    assert_eq!(bank.awaited(), [third.as_str()], "the page is not stored yet");
    bank.rail.confirm_stored().await.expect("noted");
    assert_eq!(bank.awaited(), Vec::<String>::new());
}

/// The process ends before a page is stored, or the store fails: nothing counts as reported.
#[tokio::test]
async fn what_a_lost_page_reported_is_reported_again() {
    let bank = Bank::open(true);
    let (first, second) = (bank.sent(1).await, bank.sent(2).await);
    put_old(&bank.reports, &format!("{second}.nak"), "ERR 17");
    let refused = bank.rail.collect(None).await.expect("readable");
    assert_eq!(refused.reports.len(), 1, "{refused:?}");
    age(&bank.dir.path().join("awaiting").join(&first), WAIT);
    let lost = bank.rail.collect(None).await.expect("readable");
    assert_eq!((lost.conditions.len(), lost.reports.len()), (1, 1), "{lost:?}");
    for _ in 0..2 {
        assert_eq!(bank.rail.collect(None).await, Ok(lost.clone()));
    }
    // A missing acknowledgement was reported, and the negative one comes now: it is one of its own.
    put_old(&bank.reports, &format!("{first}.nak"), "ERR 18");
    let both = bank.rail.collect(None).await.expect("readable");
    assert_eq!(bank.awaited().len(), 2);
    bank.rail.confirm_stored().await.expect("noted");
    let rest = bank.looks().await;
    let rejected = both.reports.len() + rest.reports.len();
    assert_eq!((rejected, bank.awaited()), (2, Vec::<String>::new()), "{both:?} {rest:?}");
}

#[tokio::test]
async fn a_negative_acknowledgement_rejects_only_where_configured() {
    for rejects in [false, true] {
        let bank = Bank::open(rejects);
        let name = bank.sent(1).await;
        put_old(&bank.reports, &format!("{name}.nak"), "ERR 17\nwrong\tdebtor account");
        let found = bank.looks().await;
        if rejects {
            let [report] = &found.reports[..] else { panic!("{found:?}") };
            assert_eq!(report.said.status, RailStatus::Rejected);
            let info = report.said.info.as_deref().unwrap_or_default();
            assert!(info.contains("ERR 17 wrong debtor account"), "{info}");
            let About::Rest { of, .. } = &report.about else { panic!("{report:?}") };
            assert_eq!(of.message, Some(message(&bank.rail, 1)));
        } else {
            let [text] = &found.unreadable[..] else { panic!("{found:?}") };
            assert!(text.contains("No payment was rejected") && text.contains("ERR 17"), "{text}");
            assert!(found.reports.is_empty());
        }
        assert_eq!(bank.awaited(), Vec::<String>::new());
        assert_eq!(names(&bank.reports.join("archive")).len(), 1);
    }
}

/// "Refused, we have it already" looks like any other refusal.
#[tokio::test]
async fn a_negative_acknowledgement_proves_nothing_about_a_repeated_or_acknowledged_file() {
    let bank = Bank::open(true);
    let name = bank.sent(1).await;
    bank.sent(1).await;
    put(&bank.reports, &format!("{name}.nak"), "duplicate");
    let found = bank.looks().await;
    assert!(
        found.reports.is_empty() && found.unreadable[0].contains("written 2 times"),
        "{found:?}"
    );
    let late =
        format!("{}RESULT: DUPLICATE FILE", "The file was refused by the gateway. ".repeat(9));
    for (payment, text) in [
        (4, "E12: DUPLICATE FILE"),
        (5, "file id already processed"),
        (6, late.as_str()),
        (7, "code B-017"),
    ] {
        let name = bank.sent(payment).await;
        put(&bank.reports, &format!("{name}.nak"), text);
        let found = bank.looks().await;
        assert!(found.reports.is_empty(), "{found:?}");
        assert!(found.unreadable[0].contains("the bank has it already"), "{found:?}");
    }
    let name = bank.sent(2).await;
    put(&bank.reports, &format!("{name}.nak"), "");
    put(&bank.out, &format!("{name}.ack"), "");
    let found = bank.looks().await;
    assert!(found.reports.is_empty(), "{found:?}");
    assert!(found.unreadable[0].contains("there is a positive one, too"), "{found:?}");
    // After its acknowledgement, it is a file that no one expects.
    let name = bank.sent(3).await;
    put(&bank.reports, &format!("{name}.ack"), "");
    bank.looks().await;
    let late = format!("{name}.nak");
    put(&bank.reports, &late, "");
    age(&bank.reports.join(&late), Duration::from_secs(61));
    let found = bank.looks().await;
    assert!(found.reports.is_empty(), "{found:?}");
    assert!(found.unreadable[0].contains("acknowledges no file that is awaited"), "{found:?}");
    assert_eq!(names(&bank.reports.join("unreadable")), [late]);
}

#[tokio::test]
async fn an_empty_negative_acknowledgement_is_read_once_it_has_content() {
    let bank = Bank::open(true);
    let name = bank.sent(1).await;
    put_old(&bank.reports, &format!("{name}.nak"), "");
    let found = bank.looks().await;
    assert!(found.reports.is_empty(), "{found:?}");
    let what = found.conditions.first().expect("a condition");
    assert!(what.contains("is read once it has content"), "{found:?}");
    assert_eq!(bank.looks().await, found, "it lasts");
    assert_eq!(bank.awaited(), [name.as_str()]);
    put_old(&bank.reports, &format!("{name}.nak"), "ERR 17");
    assert_eq!(bank.looks().await, Reports::default(), "it is over");
    assert_eq!(bank.looks().await.reports.len(), 1);
    assert_eq!(bank.awaited(), Vec::<String>::new());
}

#[tokio::test]
async fn a_missing_acknowledgement_is_reported_and_may_still_come() {
    let bank = Bank::open(true);
    let name = bank.sent(1).await;
    let awaited = bank.dir.path().join("awaiting").join(&name);
    assert_eq!(bank.looks().await, Reports::default());
    age(&awaited, WAIT);
    let found = bank.looks().await;
    let what = found.conditions.first().expect("a condition");
    assert!(what.contains("no acknowledgement within 1800 s"), "{found:?}");
    assert_eq!(bank.looks().await, found, "it lasts");
    put(&bank.reports, &format!("{name}.ack"), "");
    assert_eq!(bank.looks().await, Reports::default());
    assert_eq!(bank.awaited(), Vec::<String>::new());
}

#[tokio::test]
async fn a_file_that_was_not_written_is_not_awaited() {
    let bank = Bank::open(true);
    fs::remove_dir_all(&bank.out).expect("removed");
    assert!(matches!(pay(&bank.rail, 1).await, Submission::NotSent(_)));
    assert_eq!(bank.awaited(), Vec::<String>::new());
    // Nothing is sent whose acknowledgement could not be awaited.
    fs::create_dir_all(&bank.out).expect("made");
    fs::remove_dir_all(bank.dir.path().join("awaiting")).expect("removed");
    fs::write(bank.dir.path().join("awaiting"), "").expect("written");
    assert!(matches!(pay(&bank.rail, 1).await, Submission::NotSent(_)));
    assert_eq!(names(&bank.out), Vec::<String>::new());
}
