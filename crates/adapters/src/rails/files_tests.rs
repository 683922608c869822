//! The directory transport in a directory of its own.

use std::fs;
use std::path::Path;

use domain::rail::{BankReport, RailId, RailStatus};
use domain::rail_text::CharacterSet;
use tempfile::TempDir;
use uuid::Uuid;

use super::inbox::{UNMOVED, UNREAD};
use super::*;
use crate::rails::profile::{Account, Agent, Profile};
use crate::rails::{FILE_GRACE, OurSide};

const DAY: Date = jiff::civil::date(2026, 11, 27);

fn rail(dir: &Path, wait: Duration) -> FileTransport {
    named(dir, wait, FileName::default())
}

fn named(dir: &Path, wait: Duration, file_name: FileName) -> FileTransport {
    of(&config(dir, wait, file_name))
}

fn config(dir: &Path, wait: Duration, file_name: FileName) -> FilesConfig {
    let ours = OurSide {
        debtor_name: "Us".into(),
        debtor_account: Account::Other("1".into()),
        debtor_agent: Agent::Other("B".into()),
        character_set: CharacterSet::SwiftX,
        profile: Profile { file_name, ..Profile::default() },
    };
    let report_files = ["*.xml", "*.gz", "*.zip"].map(str::to_owned).to_vec();
    FilesConfig {
        rail: RailId::new("npl-ips"),
        exchange: Exchange::Directory(dir.to_owned()),
        ours,
        report_files,
        report_wait: wait,
        grace: FILE_GRACE,
        pgp: None,
        acknowledgements: None,
    }
}

fn of(config: &FilesConfig) -> FileTransport {
    let mut rail = FileTransport::new(config).expect("the directory can be made");
    Arc::get_mut(&mut rail.inbox).expect("not shared yet").quiet = Duration::ZERO;
    rail
}

/// Two looks: a file is read once it was the same in both.
async fn looks(rail: &FileTransport, cursor: Option<&str>) -> Reports {
    rail.collect(cursor).await.expect("readable");
    rail.collect(cursor).await.expect("readable")
}

/// A look after the time in which a file may still be written to.
fn later(rail: &FileTransport, cursor: Option<&str>) -> Reports {
    rail.inbox.page(cursor, Instant::now() + FILE_GRACE).expect("readable")
}

async fn looks_later(rail: &FileTransport, cursor: Option<&str>) -> Reports {
    rail.collect(cursor).await.expect("readable");
    later(rail, cursor)
}

fn report(number: u128) -> String {
    format!(
        "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:pain.002.001.10\"><CstmrPmtStsRpt>\
         <GrpHdr><MsgId>M{number}</MsgId></GrpHdr><OrgnlPmtInfAndSts><TxInfAndSts><OrgnlUETR>{}</OrgnlUETR>\
         <TxSts>ACSC</TxSts></TxInfAndSts></OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>",
        Uuid::from_u128(number)
    )
}

fn drop_file(dir: &TempDir, name: &str, content: &str) {
    let (hidden, target) =
        (dir.path().join("in").join(format!(".{name}")), dir.path().join("in").join(name));
    fs::write(&hidden, content).expect("written");
    fs::rename(hidden, target).expect("renamed");
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .expect("listed")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

fn attempts(reports: &Reports) -> Vec<u128> {
    assert!(reports.reports.iter().all(|report| report.said.status == RailStatus::Settled));
    let uetr =
        |report: &BankReport| report.ids().next().and_then(|ids| ids.uetr.clone()).expect("a UETR");
    reports
        .reports
        .iter()
        .map(|report| Uuid::parse_str(&uetr(report)).expect("a UUID").as_u128())
        .collect()
}

fn conditions(page: &Reports) -> Vec<&str> {
    assert!(page.unreadable.is_empty(), "{:?}", page.unreadable);
    page.conditions.iter().map(String::as_str).collect()
}

fn message(id: &str) -> Message {
    Message { id: id.to_owned(), xml: "<x/>".to_owned() }
}

#[tokio::test]
async fn messages_appear_whole_under_their_names() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::ZERO);
    assert_eq!(rail.pay(message("m-1"), DAY).await, Submission::Taken);
    assert_eq!(rail.pay(message("m-1"), DAY).await, Submission::Taken);
    assert_eq!(rail.inquire(message("q")).await, InquiryAnswer::Asked);
    let out = dir.path().join("out");
    assert_eq!(names(&out), ["m-1.xml", "q-inquiry.xml"]);
    assert_eq!(fs::read_to_string(out.join("m-1.xml")).expect("read"), "<x/>");
}

/// A file that is sent again replaces the first one, and no other file has its name.
#[tokio::test]
async fn numbered_files_keep_their_numbers() {
    let dir = TempDir::new().expect("a directory");
    let template = FileName::parse("PAIN001_{rail}_{date}_{sequence}.XML").expect("a template");
    let rail = named(dir.path(), Duration::ZERO, template);
    let next_day = DAY.tomorrow().expect("a date");
    for (id, day) in [("m-1", DAY), ("m-2", DAY), ("m-1", DAY), ("m-3", next_day)] {
        assert_eq!(rail.pay(message(id), day).await, Submission::Taken);
    }
    let files = [
        "PAIN001_npl-ips_20261127_000001.XML",
        "PAIN001_npl-ips_20261127_000002.XML",
        "PAIN001_npl-ips_20261128_000001.XML",
    ];
    assert_eq!(names(&dir.path().join("out")), files);
    // A file that was encrypted has other content each time.
    fs::write(dir.path().join("out").join(files[1]), "encrypted").expect("written");
    assert_eq!(rail.pay(message("m-2"), DAY).await, Submission::Taken);
    let changed = Message { id: "m-1".to_owned(), xml: "<z/>".to_owned() };
    assert!(matches!(rail.pay(changed, DAY).await, Submission::Indeterminate(_)));
    // Numbers that begin again replace no file, and no file is taken for another message.
    fs::remove_dir_all(dir.path().join("sequence")).expect("removed");
    let other = Message { id: "m-9".to_owned(), xml: "<y/>".to_owned() };
    assert!(matches!(rail.pay(other, DAY).await, Submission::Indeterminate(_)));
    let first = fs::read_to_string(dir.path().join("out").join(files[0])).expect("read");
    assert_eq!(first, "<x/>");
    // Without its number nothing is sent.
    fs::remove_dir_all(dir.path().join("sequence")).expect("removed");
    fs::write(dir.path().join("sequence"), "").expect("written");
    assert!(matches!(rail.pay(message("m-4"), DAY).await, Submission::NotSent(_)));
}

#[tokio::test]
async fn an_unwritten_message_was_not_sent() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::ZERO);
    let out = dir.path().join("out");
    // A directory of that name cannot be replaced by a file, and who created it is unknown.
    fs::create_dir_all(out.join("m-1.xml")).expect("made");
    assert!(matches!(rail.pay(message("m-1"), DAY).await, Submission::Indeterminate(_)));
    fs::remove_dir_all(&out).expect("removed");
    assert!(matches!(rail.pay(message("m-2"), DAY).await, Submission::NotSent(_)));
    assert!(matches!(rail.inquire(message("q")).await, InquiryAnswer::NoAnswer(_)));
}

#[tokio::test]
async fn reports_come_in_order_and_are_archived_when_they_are_stored() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::ZERO);
    assert_eq!(rail.collect(None).await, Ok(Reports::default()));
    drop_file(&dir, "0002.xml", &report(2));
    drop_file(&dir, "0001.xml", &report(1));
    fs::write(dir.path().join("in/.0003.xml"), "half").expect("written");
    fs::write(dir.path().join("in/notes.txt"), "x").expect("written");
    let page = looks(&rail, None).await;
    assert_eq!((attempts(&page), page.cursor.as_deref()), (vec![1, 2], Some("0002.xml")));
    // Not stored yet: they are handed out again.
    assert_eq!(rail.collect(None).await, Ok(page));
    drop_file(&dir, "0004.xml", &report(4));
    let page = looks(&rail, Some("0001.xml")).await;
    assert_eq!((attempts(&page), page.cursor.as_deref()), (vec![2, 4], Some("0004.xml")));
    assert_eq!(names(&dir.path().join("in/archive")), ["0001.xml"]);
    assert_eq!(rail.collect(Some("0004.xml")).await, Ok(Reports::default()));
    assert_eq!(names(&dir.path().join("in/archive")), ["0001.xml", "0002.xml", "0004.xml"]);
    assert_eq!(names(&dir.path().join("in")), [".0003.xml", "archive", "notes.txt", "unreadable"]);
}

#[tokio::test]
async fn a_late_file_is_read_before_it_is_archived() {
    let dir = TempDir::new().expect("a directory");
    let first = rail(dir.path(), Duration::ZERO);
    drop_file(&dir, "0005.xml", &report(5));
    let page = looks(&first, None).await;
    drop_file(&dir, "0003.xml", &report(3));
    let late = looks(&first, page.cursor.as_deref()).await;
    assert_eq!(
        (attempts(&late), late.cursor.as_deref()),
        (vec![3], Some("0005.xml~late000001~0003.xml"))
    );
    // The process dies before the page is stored, and again afterwards: the file is handed out once
    // more, none is lost.
    let second = rail(dir.path(), Duration::ZERO);
    let again = looks(&second, page.cursor.as_deref()).await;
    assert_eq!(again, late);
    let third = rail(dir.path(), Duration::ZERO);
    let again = looks(&third, late.cursor.as_deref()).await;
    assert_eq!(
        (attempts(&again), again.cursor.as_deref()),
        (vec![3], Some("0005.xml~late000002~0003.xml"))
    );
    drop_file(&dir, "0006.xml", &report(6));
    let next = looks(&third, again.cursor.as_deref()).await;
    assert_eq!((attempts(&next), next.cursor.as_deref()), (vec![6], Some("0006.xml")));
}

#[tokio::test]
async fn unreadable_files_are_reported_and_moved_aside() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::ZERO);
    drop_file(&dir, "1.xml", "<!DOCTYPE a><a/>");
    drop_file(&dir, "2.xml", &"x".repeat(crate::rails::MAX_MESSAGE_BYTES + 1));
    drop_file(&dir, "3.xml", &report(3));
    std::os::unix::fs::symlink("/dev/zero", dir.path().join("in/4.xml")).expect("linked");
    let page = looks(&rail, None).await;
    assert_eq!((attempts(&page), page.cursor.as_deref()), (vec![3], Some("3.xml")));
    assert_eq!(page.unreadable.len(), 2, "{:?}", page.unreadable);
    assert!(page.unreadable[0].contains("file \"1.xml\": the message has a DOCTYPE"));
    assert!(page.unreadable[1].contains("file \"2.xml\": the message is larger"));
    // The name of an archived file is not overwritten.
    fs::write(dir.path().join("in/archive/3.xml"), "earlier").expect("written");
    assert_eq!(rail.collect(Some("3.xml")).await, Ok(Reports::default()));
    assert_eq!(names(&dir.path().join("in/unreadable")), ["1.xml", "2.xml"]);
    assert_eq!(names(&dir.path().join("in/archive")).len(), 2);
}

#[tokio::test]
async fn pages_are_bounded() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::ZERO);
    for number in 1..=40 {
        drop_file(&dir, &format!("{number:04}.xml"), &report(number));
    }
    let first = looks(&rail, None).await;
    let second = looks(&rail, first.cursor.as_deref()).await;
    assert_eq!((attempts(&first), attempts(&second)), ((1..33).collect(), (33..41).collect()));
}

#[tokio::test]
async fn collecting_waits_for_a_file() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::from_secs(60));
    let (page, ()) =
        tokio::join!(rail.collect(None), async { drop_file(&dir, "1.xml", &report(1)) });
    assert_eq!(attempts(&page.expect("readable")), [1]);
}

#[tokio::test]
async fn operators_hear_of_a_directory_that_cannot_be_written_before_a_payment_is_sent() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::ZERO);
    let out = dir.path().join("out");
    fs::remove_dir_all(&out).expect("removed");
    let page = rail.collect(None).await.expect("readable");
    let [what] = conditions(&page)[..] else { panic!("{page:?}") };
    assert!(what.starts_with("payments cannot be written to ") && what.contains("out: "), "{what}");
    assert_eq!(rail.collect(None).await, Ok(page), "it lasts");
    fs::create_dir(&out).expect("made");
    assert_eq!(rail.collect(None).await, Ok(Reports::default()));
}

#[tokio::test]
async fn a_missing_directory_is_a_fault() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::from_secs(60));
    fs::remove_dir_all(dir.path().join("in")).expect("removed");
    assert!(rail.collect(None).await.expect_err("a fault").starts_with("list "));
}

fn age(dir: &TempDir, name: &str, seconds: u64) {
    let path = dir.path().join("in").join(name);
    let then = std::time::SystemTime::now() - Duration::from_secs(seconds);
    fs::File::options().write(true).open(path).expect("opened").set_modified(then).expect("set");
}

/// realworld: "any name and extension that the rail's pattern takes, without regard to case, also .gz/.zip".
#[tokio::test]
async fn files_are_read_whatever_their_case_and_packing() {
    use std::io::Write as _;
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::ZERO);
    drop_file(&dir, "1.XML", &report(1));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(report(2).as_bytes()).expect("written");
    fs::write(dir.path().join("in/2.xml.GZ"), packed.finish().expect("packed")).expect("written");
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for number in [3, 4] {
        archive
            .start_file(format!("{number}.xml"), zip::write::SimpleFileOptions::default())
            .expect("begun");
        archive.write_all(report(number).as_bytes()).expect("written");
    }
    fs::write(dir.path().join("in/3.Zip"), archive.finish().expect("packed").into_inner())
        .expect("written");
    let page = looks(&rail, None).await;
    assert_eq!(
        (attempts(&page), page.unreadable.len()),
        (vec![1, 2, 3, 4], 0),
        "{:?}",
        page.unreadable
    );
    looks(&rail, page.cursor.as_deref()).await;
    assert_eq!(names(&dir.path().join("in/archive")), ["1.XML", "2.xml.GZ", "3.Zip"]);
}

/// realworld: "anything else older than a minute is an alert, moved aside".
#[tokio::test]
async fn an_unmatched_file_is_reported_and_moved_aside_after_a_minute() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::ZERO);
    for name in ["camt.053.txt", ".0001.xml.part", "new.txt", ".nfs0000001"] {
        fs::write(dir.path().join("in").join(name), "x").expect("written");
    }
    fs::create_dir(dir.path().join("in/other")).expect("made");
    for name in ["camt.053.txt", ".0001.xml.part", ".nfs0000001"] {
        age(&dir, name, 61);
    }
    let page = looks_later(&rail, None).await;
    let mut told = page.unreadable.clone();
    told.sort();
    let why = ["its name begins with a dot", "its name matches none of the rail's patterns"];
    for ((name, why), told) in [".0001.xml.part", "camt.053.txt"].iter().zip(why).zip(&told) {
        assert!(told.starts_with(&format!("file {name:?}: {why}")), "{told}");
    }
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(page.cursor, None);
    assert_eq!(later(&rail, None), page, "not stored yet: they are reported again");
    rail.confirm_stored().await.expect("moved");
    assert_eq!(later(&rail, None), Reports::default());
    assert_eq!(names(&dir.path().join("in/unreadable")), [".0001.xml.part", "camt.053.txt"]);
    assert_eq!(
        names(&dir.path().join("in")),
        [".nfs0000001", "archive", "new.txt", "other", "unreadable"]
    );
}

/// A bank that writes under the file's own name, as slowly as it likes.
#[test]
fn a_file_is_read_once_it_no_longer_changes() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::ZERO);
    let mut inbox = Arc::into_inner(rail.inbox).expect("not shared");
    inbox.quiet = Duration::from_secs(30);
    let (path, start) = (dir.path().join("in/1.xml"), Instant::now());
    let look =
        |seconds: u64| inbox.page(None, start + Duration::from_secs(seconds)).expect("readable");
    let (first, rest) = (report(1)[..200].to_owned(), report(1)[200..].to_owned());
    fs::write(&path, "").expect("written");
    for seconds in [0, 30, 60] {
        assert_eq!(look(seconds), Reports::default(), "empty after {seconds} s");
    }
    fs::write(&path, &first).expect("written");
    // A page in between makes no listing older.
    for seconds in [90, 90, 119] {
        assert_eq!(look(seconds), Reports::default(), "after {seconds} s");
    }
    fs::write(&path, format!("{first}{rest}")).expect("written");
    assert_eq!([look(120), look(149)], [Reports::default(), Reports::default()]);
    let page = look(150);
    assert_eq!((attempts(&page), page.unreadable.len()), (vec![1], 0));
}

/// A writer that pauses for longer than the files have to be quiet: the file has a minute.
#[tokio::test]
async fn a_file_that_ends_early_is_read_once_it_is_whole_or_old() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::ZERO);
    let whole = report(1);
    let two = format!("{whole}{}", report(2));
    let at_element = whole.find("<TxSts>").expect("there");
    for part in [&whole[..at_element], &whole[..at_element + 3], &two[..whole.len() + 200]] {
        drop_file(&dir, "1.xml", part);
        assert_eq!(looks(&rail, None).await, Reports::default(), "{part}");
    }
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, two.as_bytes()).expect("packed");
    let packed = packed.finish().expect("packed");
    fs::write(dir.path().join("in/2.gz"), &packed[..packed.len() - 9]).expect("written");
    drop_file(&dir, "3.xml", "no document, however long it is waited for");
    let page = looks(&rail, None).await;
    assert_eq!((page.reports.len(), page.unreadable.len()), (0, 1), "{:?}", page.unreadable);
    rail.confirm_stored().await.expect("stored");
    // The rest comes, with a name before one that was read.
    drop_file(&dir, "1.xml", &two);
    let cursor = page.cursor.as_deref();
    let page = looks(&rail, cursor).await;
    assert_eq!(attempts(&page), [1, 2]);
    assert_eq!(page.unreadable.len(), 0, "{:?}", page.unreadable);
    // What stays as it is, is reported after a minute.
    age(&dir, "2.gz", 61);
    let page = looks_later(&rail, page.cursor.as_deref()).await;
    let [why] = &page.unreadable[..] else { panic!("{:?}", page.unreadable) };
    assert!(why.contains("2.gz") && why.contains("cannot be unpacked"), "{why}");
}

/// The others of an archive are read, and each that is not is named.
#[tokio::test]
async fn a_damaged_file_of_an_archive_is_reported_and_the_others_are_read() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::ZERO);
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let (one, three) = (report(1), report(3));
    let files = [
        ("1.xml", one.as_bytes()),
        ("2.gz", b"\x1F\x8B\x08"),
        ("3.xml", three.as_bytes()),
        ("4.xml", b"no message"),
    ];
    for (name, content) in files {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(name, options).expect("begun");
        std::io::Write::write_all(&mut archive, content).expect("written");
    }
    let archive = archive.finish().expect("packed").into_inner();
    fs::write(dir.path().join("in/a.zip"), archive).expect("written");
    assert_eq!(looks(&rail, None).await, Reports::default(), "it may still be written to");
    age(&dir, "a.zip", 61);
    let page = looks_later(&rail, None).await;
    assert_eq!(attempts(&page), [1, 3]);
    let [second, fourth] = &page.unreadable[..] else { panic!("{:?}", page.unreadable) };
    assert!(second.starts_with("file \"a.zip\", \"2.gz\": cannot be unpacked: "), "{second}");
    assert!(fourth.starts_with("file \"a.zip\", \"4.xml\": the message "), "{fourth}");
    drop(rail.collect(page.cursor.as_deref()).await.expect("readable"));
    assert_eq!(names(&dir.path().join("in/unreadable")), ["a.zip"]);
}

#[tokio::test]
async fn a_directory_among_the_files_is_a_condition() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::ZERO);
    for name in ["2026-11-28", ".snapshot", "lost+found"] {
        fs::create_dir(dir.path().join("in").join(name)).expect("made");
        let old = std::time::SystemTime::now() - Duration::from_secs(61);
        let opened = fs::File::open(dir.path().join("in").join(name)).expect("opened");
        opened.set_modified(old).expect("set");
    }
    let page = looks(&rail, None).await;
    assert_eq!(
        conditions(&page),
        ["directory \"2026-11-28\": files are read beside it, and not in it"]
    );
    rail.confirm_stored().await.expect("noted");
    assert_eq!(rail.collect(None).await, Ok(page), "it lasts");
    fs::remove_dir(dir.path().join("in/2026-11-28")).expect("removed");
    assert_eq!(rail.collect(None).await, Ok(Reports::default()));
}

/// What the listing stated and what was read are different files.
#[test]
fn a_file_that_grows_while_it_is_read_is_read_later() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::ZERO);
    let inbox = Arc::into_inner(rail.inbox).expect("not shared");
    let reports = dir.path().join("in");
    drop_file(&dir, "1.xml", &report(1));
    assert_eq!(inbox.content(&reports, "1.xml".as_ref(), Some(7)).expect("read"), None);
    assert_eq!(
        inbox.content(&reports, "1.xml".as_ref(), None).expect("read"),
        Some(report(1).into_bytes())
    );
    let length = report(1).len() as u64;
    assert!(inbox.content(&reports, "1.xml".as_ref(), Some(length)).expect("read").is_some());
    assert_eq!(
        inbox.content(&reports, "2.xml".as_ref(), Some(7)).expect("read"),
        None,
        "it is gone"
    );
}

#[tokio::test]
async fn an_old_empty_file_is_a_condition_until_it_has_content() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::ZERO);
    drop_file(&dir, "1.xml", "");
    age(&dir, "1.xml", 61);
    let page = looks_later(&rail, None).await;
    assert_eq!(conditions(&page), ["file \"1.xml\": it is empty, and is read once it has content"]);
    rail.confirm_stored().await.expect("noted");
    assert_eq!(later(&rail, None), page, "it lasts");
    drop_file(&dir, "1.xml", &report(1));
    let page = looks(&rail, None).await;
    assert_eq!((attempts(&page), page.conditions.len()), (vec![1], 0));
}

/// A place whose files cannot be read at times.
struct Failing(Local, std::sync::atomic::AtomicBool);

/// The end of the names of files that are locked while the place fails; others then cut the connection.
/// Files that cannot be moved.
const HELD: &str = "-held.xml";
const LOCKED: &str = "locked.xml";
/// Files at which the server refuses the login.
const REFUSED: &str = "refused.xml";

impl Place for Failing {
    fn list(&self, dir: &Path) -> std::io::Result<Vec<crate::place::Entry>> {
        self.0.list(dir)
    }

    fn read(&self, path: &Path, limit: usize) -> std::io::Result<Vec<u8>> {
        match self.1.load(std::sync::atomic::Ordering::Relaxed) {
            true if path.to_string_lossy().ends_with(LOCKED) => {
                Err(std::io::ErrorKind::PermissionDenied.into())
            }
            true if path.to_string_lossy().ends_with(REFUSED) => {
                let (server, user) = ("bank".to_owned(), "us".to_owned());
                let methods = "password".to_owned();
                let refusal = crate::sftp::Refusal::Login { server, user, methods };
                Err(std::io::Error::other(refusal))
            }
            true => Err(std::io::Error::other("the connection is gone")),
            false => self.0.read(path, limit),
        }
    }

    fn create(&self, path: &Path, content: &[u8]) -> std::io::Result<()> {
        self.0.create(path, content)
    }

    fn rename(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        if from.to_string_lossy().ends_with(HELD) {
            return Err(std::io::ErrorKind::PermissionDenied.into());
        }
        self.0.rename(from, to)
    }

    fn publish(&self, from: &Path, to: &Path) -> std::io::Result<()> {
        self.0.publish(from, to)
    }

    fn exists(&self, path: &Path) -> std::io::Result<bool> {
        self.0.exists(path)
    }

    fn remove(&self, path: &Path) -> std::io::Result<()> {
        self.0.remove(path)
    }

    fn create_dir(&self, path: &Path) -> std::io::Result<()> {
        self.0.create_dir(path)
    }
}

/// A bank that holds files open while it writes them, as on Windows: more of them than a page has files.
#[test]
fn locked_files_hold_up_no_other_and_are_read_once_they_are_released() {
    let dir = TempDir::new().expect("a directory");
    let parts = Parts::of(&Exchange::Directory(dir.path().to_owned()));
    for path in [&parts.dirs.reports, &parts.dirs.archive] {
        fs::create_dir_all(path).expect("made");
    }
    let place = Arc::new(Failing(Local, true.into()));
    let patterns = Patterns::new(&["*.xml".to_owned()]);
    let inbox =
        Inbox::new(place.clone(), parts.dirs, patterns, (Duration::ZERO, FILE_GRACE), None, None);
    for number in 0..40 {
        drop_file(&dir, &format!("0{number:02}-{LOCKED}"), &report(number + 1));
    }
    let now = Instant::now();
    assert_eq!(inbox.page(None, now).expect("nothing yet"), Reports::default());
    assert_eq!(inbox.page(None, now).expect("young"), Reports::default(), "perhaps being written");
    age(&dir, &format!("000-{LOCKED}"), 61);
    assert_eq!(inbox.page(None, now).expect("changed"), Reports::default());
    let now = now + FILE_GRACE;
    let page = inbox.page(None, now).expect("no fault of the rail");
    let [what] = conditions(&page)[..] else { panic!("{page:?}") };
    assert!(what.contains("000-locked.xml") && what.contains("is read once it can be"), "{what}");
    inbox.confirm_stored().expect("noted");
    assert_eq!(inbox.page(None, now).expect("locked"), page, "it lasts");
    // What comes after them is read, and they keep their names until they can be read, too.
    place.1.store(false, std::sync::atomic::Ordering::Relaxed);
    drop_file(&dir, "100.xml", &report(100));
    let behind = inbox.page(Some("099.xml"), now).expect("first listed");
    assert_eq!(attempts(&behind).len(), 32, "released: late, and read");
    assert!(behind.conditions.is_empty(), "{:?}", behind.conditions);
    place.1.store(true, std::sync::atomic::Ordering::Relaxed);
    let names = names(&dir.path().join("in"));
    assert!(names.contains(&"039-locked.xml".to_owned()), "{names:?}");
    assert!(names.contains(&"099.xml~late000001~000-locked.xml".to_owned()), "{names:?}");
}

/// Half of a page was found when the place failed: what it would have reported is not confirmed by the
/// page of another fault.
#[test]
fn what_was_found_before_a_fault_is_not_taken_as_reported() {
    let dir = TempDir::new().expect("a directory");
    let parts = Parts::of(&Exchange::Directory(dir.path().to_owned()));
    for path in [&parts.dirs.reports, &parts.dirs.unreadable] {
        fs::create_dir_all(path).expect("made");
    }
    let place = Arc::new(Failing(Local, true.into()));
    let patterns = Patterns::new(&["*.xml".to_owned()]);
    let inbox =
        Inbox::new(place.clone(), parts.dirs, patterns, (Duration::ZERO, FILE_GRACE), None, None);
    drop_file(&dir, "1.xml", &report(1));
    drop_file(&dir, "notes.txt", "x");
    age(&dir, "notes.txt", 61);
    let now = Instant::now();
    assert_eq!(inbox.page(None, now).expect("nothing yet"), Reports::default());
    let now = now + FILE_GRACE;
    assert!(inbox.page(None, now).is_err());
    inbox.confirm_stored().expect("nothing to do");
    assert!(dir.path().join("in/notes.txt").exists());
    place.1.store(false, std::sync::atomic::Ordering::Relaxed);
    let page = inbox.page(None, now).expect("readable");
    assert_eq!((attempts(&page), page.unreadable.len()), (vec![1], 1));
    inbox.confirm_stored().expect("moved");
    assert!(!dir.path().join("in/notes.txt").exists());
}

/// A bank that holds a file open, or a directory from which nothing may be removed.
#[test]
fn files_that_cannot_be_moved_hold_up_no_other() {
    let dir = TempDir::new().expect("a directory");
    let parts = Parts::of(&Exchange::Directory(dir.path().to_owned()));
    for path in [&parts.dirs.reports, &parts.dirs.archive] {
        fs::create_dir_all(path).expect("made");
    }
    let place = Arc::new(Failing(Local, false.into()));
    let patterns = Patterns::new(&["*.xml".to_owned()]);
    let inbox = Inbox::new(place, parts.dirs, patterns, (Duration::ZERO, FILE_GRACE), None, None);
    let held = ["1-held.xml", "3-held.xml"];
    drop_file(&dir, "2.xml", &report(2));
    fs::write(dir.path().join("in").join(held[1]), report(3)).expect("written");
    age(&dir, held[1], 61);
    let now = Instant::now();
    assert_eq!(inbox.page(None, now).expect("listed"), Reports::default());
    let page = inbox.page(None, now).expect("readable");
    assert_eq!((attempts(&page), page.cursor.as_deref()), (vec![2, 3], Some(held[1])));
    // A late one cannot get its name; one that was read stays.
    fs::write(dir.path().join("in").join(held[0]), report(1)).expect("written");
    age(&dir, held[0], 61);
    drop_file(&dir, "4.xml", &report(4));
    let cursor = Some(held[1]);
    drop(inbox.page(cursor, now).expect("listed"));
    let now = now + FILE_GRACE;
    let page = inbox.page(cursor, now).expect("readable");
    assert_eq!(attempts(&page), [4], "neither the late one nor the one that was read");
    let told = conditions(&page).join("\n");
    assert!(told.contains(&format!("\"{}\": {UNMOVED}", held[1])), "{told}");
    assert!(told.contains(&format!("\"{}\": {UNREAD}", held[0])), "{told}");
    inbox.confirm_stored().expect("noted");
    let next = inbox.page(page.cursor.as_deref(), now).expect("readable");
    assert_eq!(next, Reports { conditions: page.conditions, ..Reports::default() });
    assert_eq!(names(&dir.path().join("in")), [held[0], held[1], "archive"]);
    assert_eq!(names(&dir.path().join("in/archive")), ["2.xml", "4.xml"]);
}

#[tokio::test]
async fn a_file_that_changes_after_it_was_read_is_read_again() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::ZERO);
    drop_file(&dir, "1.xml", &report(1));
    let page = looks(&rail, None).await;
    assert_eq!(attempts(&page), [1]);
    drop_file(&dir, "1.xml", &format!("{}{}", report(1), report(2)));
    let page = looks(&rail, page.cursor.as_deref()).await;
    assert_eq!(attempts(&page), [1, 2]);
    drop(rail.collect(page.cursor.as_deref()).await.expect("readable"));
    assert_eq!(names(&dir.path().join("in/archive")).len(), 1);
}

#[tokio::test]
async fn a_file_of_a_bank_whose_clock_is_ahead_may_still_grow() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::ZERO);
    let whole = report(1);
    drop_file(&dir, "1.xml", &whole[..whole.len() - 40]);
    let ahead = std::time::SystemTime::now() + Duration::from_secs(5_000);
    let path = dir.path().join("in/1.xml");
    let file = fs::File::options().write(true).open(path).expect("opened");
    file.set_modified(ahead).expect("set");
    assert_eq!(looks(&rail, None).await, Reports::default());
    drop_file(&dir, "1.xml", &whole);
    assert_eq!(attempts(&looks(&rail, None).await), [1]);
}

/// A server whose clock is behind, or a program that keeps the times of what it copies.
#[tokio::test]
async fn a_file_with_an_old_time_has_its_minute_from_when_it_is_first_listed() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::ZERO);
    let old = 7 * 60 * 60;
    let whole = report(1);
    for (name, content) in [("1.xml", &whole[..whole.len() - 40]), ("2.xml", ""), ("3.tmp", "x")] {
        drop_file(&dir, name, content);
        age(&dir, name, old);
    }
    assert_eq!(looks(&rail, None).await, Reports::default());
    drop_file(&dir, "1.xml", &whole);
    age(&dir, "1.xml", old);
    let page = looks(&rail, None).await;
    assert_eq!((attempts(&page), page.unreadable.len()), (vec![1], 0), "{:?}", page.unreadable);
    let page = later(&rail, page.cursor.as_deref());
    assert_eq!((page.unreadable.len(), page.conditions.len()), (1, 1), "{page:?}");
}

/// What follows may be that the bank has the file already.
#[tokio::test]
async fn a_negative_acknowledgement_rejects_once_it_is_complete() {
    let dir = TempDir::new().expect("a directory");
    let acknowledgements = Some(AcknowledgementSettings {
        positive: Vec::new(),
        negative: vec!["{name}.nak".to_owned()],
        wait: Duration::from_secs(86_400),
        negative_rejects: true,
        duplicate_reasons: Vec::new(),
    });
    let config = config(dir.path(), Duration::ZERO, FileName::default());
    let rail = of(&FilesConfig { acknowledgements, ..config });
    let mut now = Instant::now();
    let mut look = |seconds: u64| {
        now += Duration::from_secs(seconds);
        let page = rail.inbox.page(None, now).expect("readable");
        rail.inbox.confirm_stored().expect("noted");
        page
    };
    for (id, beginning) in [("m-1", "RESULT: "), ("m-2", "<ack><code>17</code>"), ("m-3", "\n")] {
        assert_eq!(rail.pay(message(id), DAY).await, Submission::Taken);
        let name = format!("{id}.xml.nak");
        drop_file(&dir, &name, beginning);
        age(&dir, &name, 7 * 60 * 60);
        for seconds in [0, 0, 59] {
            assert_eq!(look(seconds), Reports::default(), "{beginning:?} may not be all");
        }
        drop_file(&dir, &name, &format!("{beginning}DUPLICATE FILE</ack>"));
        age(&dir, &name, 7 * 60 * 60);
        look(0);
        let page = look(60);
        assert!(page.reports.is_empty(), "{page:?}");
        assert!(page.unreadable[0].contains("No payment was rejected"), "{page:?}");
    }
    assert_eq!(rail.pay(message("m-4"), DAY).await, Submission::Taken);
    drop_file(&dir, "m-4.xml.nak", "RESULT: INVALID ACCOUNT");
    age(&dir, "m-4.xml.nak", 61);
    let counts = [0, 59, 1].map(|seconds| look(seconds).reports.len());
    assert_eq!(counts, [0, 0, 1]);
}

/// Inquiries are many, and repeated until they are answered.
#[tokio::test]
async fn a_missing_acknowledgement_of_an_inquiry_is_not_reported() {
    let dir = TempDir::new().expect("a directory");
    let acknowledgements = Some(AcknowledgementSettings {
        positive: vec!["{name}.ack".to_owned()],
        negative: Vec::new(),
        wait: Duration::ZERO,
        negative_rejects: false,
        duplicate_reasons: Vec::new(),
    });
    let config = config(dir.path(), Duration::ZERO, FileName::default());
    let rail = of(&FilesConfig { acknowledgements, ..config });
    assert_eq!(rail.pay(message("m"), DAY).await, Submission::Taken);
    assert_eq!(rail.recall(message("r")).await, Submission::Taken);
    for id in ["q1", "q2"] {
        assert_eq!(rail.inquire(message(id)).await, InquiryAnswer::Asked);
    }
    let page = rail.collect(None).await.expect("readable");
    assert_eq!(page.conditions.len(), 2, "{:?}", page.conditions);
    rail.confirm_stored().await.expect("noted");
    // One that comes is still that of an awaited file, for a day.
    drop_file(&dir, "q1-inquiry.xml.ack", "");
    age(&dir, "q1-inquiry.xml.ack", 61);
    assert_eq!(looks_later(&rail, None).await, page);
    assert_eq!(names(&dir.path().join("in/archive")), ["q1-inquiry.xml.ack"]);
    let path = dir.path().join("awaiting/q2-inquiry.xml");
    let day = std::time::SystemTime::now() - Duration::from_secs(86_400);
    fs::File::options().write(true).open(path).expect("opened").set_modified(day).expect("set");
    assert_eq!(rail.collect(None).await, Ok(page));
    assert_eq!(names(&dir.path().join("awaiting")), ["m.xml", "r-recall.xml"]);
}

#[tokio::test]
async fn a_long_name_that_is_archived_already_gets_a_shorter_one() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::ZERO);
    let name = format!("{}.xml", "s".repeat(246));
    let mut cursor = None;
    for number in 1..=2 {
        drop_file(&dir, &name, &report(number));
        let page = looks(&rail, cursor.as_deref()).await;
        assert_eq!(attempts(&page), [number]);
        cursor = page.cursor;
        drop(rail.collect(cursor.as_deref()).await.expect("readable"));
    }
    assert_eq!(names(&dir.path().join("in/archive")).len(), 2);
}

/// What operators know of the bank's files stays true while its server refuses the login.
#[tokio::test]
async fn a_refusal_is_a_condition_beside_those_of_the_files() {
    let dir = TempDir::new().expect("a directory");
    let mut rail = rail(dir.path(), Duration::ZERO);
    let place = Arc::new(Failing(Local, false.into()));
    let dirs = Parts::of(&Exchange::Directory(dir.path().to_owned())).dirs;
    let patterns = Patterns::new(&["*.xml".to_owned()]);
    let times = (Duration::ZERO, FILE_GRACE);
    rail.inbox = Arc::new(Inbox::new(place.clone(), dirs, patterns, times, None, None));
    let other = dir.path().join("in/other");
    fs::create_dir(&other).expect("made");
    let old = std::time::SystemTime::now() - Duration::from_secs(61);
    fs::File::open(&other).expect("opened").set_modified(old).expect("set");
    let page = rail.collect(None).await.expect("readable");
    assert_eq!(conditions(&page).len(), 1, "{page:?}");
    let of_files = page.conditions;
    place.1.store(true, std::sync::atomic::Ordering::Relaxed);
    drop_file(&dir, &format!("1-{REFUSED}"), &report(1));
    drop(rail.collect(None).await);
    let page = rail.collect(None).await.expect("a condition");
    assert!(page.conditions.is_superset(&of_files), "{page:?}");
    let [refusal] = page.conditions.difference(&of_files).collect::<Vec<_>>()[..] else {
        panic!("{page:?}")
    };
    assert!(refusal.contains("does not accept the login"), "{refusal}");
    assert!(rail.collect(None).await.is_err(), "it is known");
    *rail.next_poll.lock().expect("no panic") = Some(Instant::now() + Duration::from_secs(60));
    assert_eq!(rail.collect(None).await.expect("nothing new").conditions, page.conditions);
    *rail.next_poll.lock().expect("no panic") = None;
    place.1.store(false, std::sync::atomic::Ordering::Relaxed);
    let page = rail.collect(None).await.expect("readable");
    assert_eq!((attempts(&page), page.conditions), (vec![1], of_files));
}

/// A server with another host key at each connection.
#[test]
fn refusals_that_differ_each_time_are_bounded() {
    let (mut refusals, start) = (Refusals::default(), Instant::now());
    let mut differing = |minutes: u64| {
        let now = start + Duration::from_secs(60 * minutes);
        (0..100).filter(|_| refusals.may_differ(now)).count()
    };
    assert_eq!([differing(0), differing(9), differing(10)], [MAX_REFUSALS, 0, MAX_REFUSALS]);
}

/// It waits for the next file no longer than for the end of a condition.
#[tokio::test]
async fn a_condition_that_begins_or_ends_makes_a_page() {
    let dir = TempDir::new().expect("a directory");
    let rail = rail(dir.path(), Duration::from_secs(60));
    let other = dir.path().join("in/other");
    fs::create_dir(&other).expect("made");
    let old = std::time::SystemTime::now() - Duration::from_secs(61);
    fs::File::open(&other).expect("opened").set_modified(old).expect("set");
    let page = rail.collect(None).await.expect("readable");
    assert_eq!(page.conditions.len(), 1, "{page:?}");
    let (page, ()) =
        tokio::join!(rail.collect(None), async { fs::remove_dir(&other).expect("removed") });
    assert_eq!(page, Ok(Reports::default()));
}
