//! OpenSSH's own server as the bank's, and its faults.

use std::fs;
use std::time::Duration;

use adapters::rails::profile::FileName;
use adapters::rails::{Exchange, FilesConfig, IsoRail, Probed, SftpConfig, probe_files};
use adapters::sftp::Settings;
use domain::ports::Rail as _;
use domain::rail::{About, RailStatus, Reports, Submission};
use secrecy::SecretString;
use tempfile::TempDir;
use testkit::sshd::{self, Sshd};

use super::rig::{config, message, names, page, pay, put, rail, status};

struct Bank {
    server: Sshd,
    dir: TempDir,
}

impl Bank {
    fn start(part: &str) -> Option<Bank> {
        let dir = TempDir::new().expect("a directory");
        let server = sshd::for_tests(part, dir.path()).expect("OpenSSH's server")?;
        Some(Bank { server, dir })
    }

    fn files(&self, name: &str) -> Vec<String> {
        names(&self.server.files().join(name))
    }

    fn login(&self) -> SftpConfig {
        SftpConfig {
            server: Settings {
                host: "127.0.0.1".into(),
                port: self.server.port(),
                user: sshd::user().expect("a user"),
                key_file: Some(self.server.key_file("client")),
                key_passphrase: Some(SecretString::from(sshd::PASSPHRASE)),
                password: None,
                host_keys: vec![self.server.fingerprint("ed25519").expect("a fingerprint")],
                connect_timeout: Duration::from_secs(20),
                request_timeout: Duration::from_secs(20),
            },
            out: "out".into(),
            reports: "in".into(),
            archive: "in/archive".into(),
            unreadable: "in/unreadable".into(),
            poll: Duration::ZERO,
            state: Some(self.dir.path().join("state")),
        }
    }
}

fn over(sftp: SftpConfig) -> FilesConfig {
    FilesConfig { report_wait: Duration::ZERO, ..config(Exchange::Sftp(Box::new(sftp))) }
}

fn reason(submission: Submission) -> String {
    match submission {
        Submission::NotSent(reason) => reason,
        other => panic!("{other:?}"),
    }
}

async fn fault(rail: &IsoRail) -> String {
    rail.collect(None).await.expect_err("a fault").reason
}

async fn probed(config: &FilesConfig) -> Result<Probed, String> {
    let config = config.clone();
    let probe = tokio::task::spawn_blocking(move || probe_files(&config));
    probe.await.expect("no panic").map_err(|error| error.to_string())
}

#[tokio::test]
async fn files_travel_over_openssh() {
    let Some(bank) = Bank::start("files over SFTP") else { return };
    let mut numbered = over(bank.login());
    let template = FileName::parse("PAIN001_{date}_{sequence}.XML").expect("a template");
    numbered.ours.profile.file_name = template;
    let rail = rail(&numbered);
    assert_eq!(pay(&rail, 1).await, Submission::Taken);
    assert_eq!(pay(&rail, 2).await, Submission::Taken);
    // The same message has the same name, and replaces the file.
    assert_eq!(pay(&rail, 1).await, Submission::Taken);
    let sent = ["PAIN001_20261121_000001.XML", "PAIN001_20261121_000002.XML"];
    assert_eq!(bank.files("out"), sent);
    let text = fs::read_to_string(bank.server.files().join("out").join(sent[0])).expect("sent");
    assert!(text.contains(&message(&rail, 1)), "{text}");

    let inbox = bank.server.files().join("in");
    put(&inbox, "2.xml", status("B-2", &message(&rail, 2), "RJCT"));
    put(&inbox, "1.xml", status("B-1", &message(&rail, 1), "ACCP"));
    put(&inbox, "3.xml", "no message");
    let found = page(&rail, None).await;
    let statuses: Vec<_> = found.reports.iter().map(|it| it.said.status.clone()).collect();
    assert_eq!(statuses, [RailStatus::Accepted, RailStatus::Rejected]);
    assert_eq!((found.cursor.as_deref(), found.unreadable.len()), (Some("3.xml"), 1));
    // Nothing is moved before it is confirmed.
    assert_eq!(bank.files("in"), ["1.xml", "2.xml", "3.xml"]);
    assert_eq!(rail.collect(Some("3.xml")).await, Ok(Reports::default()));
    assert_eq!(bank.files("in/archive"), ["1.xml", "2.xml"]);
    assert_eq!(bank.files("in/unreadable"), ["3.xml"]);
    assert_eq!(probed(&numbered).await, Ok(Probed::Usable(0)));
    assert_eq!(names(&bank.server.files().join("out")), sent, "the probe leaves nothing");
}

/// A bank that does not rename writes under the file's own name.
#[tokio::test]
async fn a_file_is_read_once_it_no_longer_grows() {
    let Some(bank) = Bank::start("growing files over SFTP") else { return };
    let rail = rail(&over(bank.login()));
    let path = bank.server.files().join("in/1.xml");
    let text = status("B-1", &message(&rail, 1), "ACCP");
    let (first, rest) = text.split_at(100);
    fs::write(&path, first).expect("written");
    assert_eq!(rail.collect(None).await, Ok(Reports::default()));
    fs::write(&path, format!("{first}{rest}")).expect("written");
    assert_eq!(rail.collect(None).await, Ok(Reports::default()));
    let found = rail.collect(None).await.expect("readable");
    assert_eq!((found.reports.len(), found.unreadable.len()), (1, 0));
}

#[tokio::test]
async fn a_changed_host_key_stops_the_rail() {
    let Some(mut bank) = Bank::start("a changed host key") else { return };
    let mut login = bank.login();
    let before = rail(&over(login.clone()));
    assert_eq!(pay(&before, 1).await, Submission::Taken);
    bank.server.kill().expect("killed");
    bank.server.new_host_keys().expect("made");
    bank.server.start().expect("started");
    let changed = rail(&over(login.clone()));
    let why = reason(pay(&changed, 2).await);
    let new = bank.server.fingerprint("ed25519").expect("a fingerprint");
    assert!(
        why.contains("the host key of 127.0.0.1:")
            && why.contains("is not pinned")
            && why.contains(&new),
        "{why}"
    );
    assert_eq!(bank.files("out").len(), 1, "nothing was sent");
    // It is an alert first, and a fault from then on.
    let alert = changed.collect(None).await.expect("an alert");
    assert!(
        alert.conditions.iter().any(|it| it.contains(&new)) && alert.cursor.is_none(),
        "{alert:?}"
    );
    assert!(fault(&changed).await.contains(&new));
    assert!(probed(&over(login.clone())).await.expect_err("refused").contains("is not pinned"));
    // It is another alert than that of a refused login before it.
    let mut stranger = login.clone();
    stranger.server.key_file = Some(bank.server.key_file("stranger"));
    stranger.server.host_keys = vec![new.clone()];
    let rail_of_both = rail(&over(stranger));
    let alert = rail_of_both.collect(None).await.expect("an alert");
    assert!(
        alert.conditions.iter().any(|it| it.contains("does not accept the login")),
        "{alert:?}"
    );
    bank.server.kill().expect("killed");
    bank.server.new_host_keys().expect("made");
    bank.server.start().expect("started");
    let alert = rail_of_both.collect(None).await.expect("another alert");
    let new = bank.server.fingerprint("ed25519").expect("a fingerprint");
    assert!(alert.conditions.iter().any(|it| it.contains(&new)), "{alert:?}");
    // Both keys are pinned while the bank changes them.
    login.server.host_keys.push(new);
    assert_eq!(pay(&rail(&over(login.clone())), 2).await, Submission::Taken);
    // A server has keys of several kinds: any pinned one is found.
    login.server.host_keys = vec![bank.server.fingerprint("rsa").expect("a fingerprint")];
    assert_eq!(pay(&rail(&over(login)), 3).await, Submission::Taken);
}

#[tokio::test]
async fn a_probe_names_the_setting_that_is_wrong() {
    let Some(bank) = Bank::start("probes over SFTP") else { return };
    let (login, port) = (bank.login(), bank.server.port());
    let why = async |change: &dyn Fn(&mut SftpConfig)| {
        let mut login = login.clone();
        change(&mut login);
        probed(&over(login)).await.expect_err("a fault")
    };
    let missing = why(&|it| it.server.key_file = Some("/nowhere/key".into())).await;
    assert_eq!(missing, "key_file /nowhere/key: No such file or directory (os error 2)");
    let refused = why(&|it| it.server.port = 1).await;
    assert_eq!(refused, "127.0.0.1:1: Connection refused (os error 111)");
    let no_file = ": the server refused: No such file (status 2)";
    let out = why(&|it| it.out = "nowhere".into()).await;
    assert_eq!(out, format!("rails.pak-raast.sftp.out nowhere{no_file}"));
    let reports = why(&|it| it.reports = "nowhere".into()).await;
    assert_eq!(reports, format!("rails.pak-raast.sftp.in nowhere{no_file}"));
    let archive = why(&|it| it.archive = "nowhere/archive".into()).await;
    assert_eq!(archive, format!("rails.pak-raast.sftp.archive nowhere/archive{no_file}"));
    let stranger = bank.server.key_file("stranger");
    let login_refused = why(&|it| it.server.key_file = Some(stranger.clone())).await;
    let server = format!("127.0.0.1:{port} does not accept the login of user");
    assert!(login_refused.starts_with(&server), "{login_refused}");
}

#[tokio::test]
async fn a_refused_login_sends_nothing() {
    let Some(bank) = Bank::start("a refused login") else { return };
    let mut login = bank.login();
    login.server.key_file = Some(bank.server.key_file("rsa"));
    login.server.key_passphrase = None;
    assert_eq!(pay(&rail(&over(login.clone())), 1).await, Submission::Taken);
    login.server.key_file = Some(bank.server.key_file("stranger"));
    let stranger = rail(&over(login.clone()));
    let why = reason(pay(&stranger, 2).await);
    assert!(why.contains("does not accept the login of user"), "{why}");
    let alert = stranger.collect(None).await.expect("an alert");
    assert!(
        alert.conditions.iter().any(|it| it.contains("does not accept the login")),
        "{alert:?}"
    );
    login.server.key_file = None;
    login.server.password = Some(SecretString::from("wrong"));
    let why = reason(pay(&rail(&over(login.clone())), 2).await);
    assert!(why.contains("does not accept the login") && !why.contains("wrong"), "{why}");
    assert_eq!(bank.files("out").len(), 1);
    // A wrong passphrase is found before the first connection.
    login.server.key_file = Some(bank.server.key_file("client"));
    login.server.key_passphrase = Some(SecretString::from("wrong"));
    let refused = IsoRail::files(over(login)).err().expect("refused").to_string();
    assert!(refused.contains("rail pak-raast: sftp: key_file"), "{refused}");
}

#[tokio::test]
async fn a_server_without_space_or_directory_gets_nothing() {
    let Some(bank) = Bank::start("a full server") else { return };
    let login = bank.login();
    bank.server.fill(true).expect("noted");
    let full = rail(&over(login.clone()));
    let why = reason(pay(&full, 1).await);
    assert!(why.contains("the server refused"), "{why}");
    assert_eq!(bank.files("out"), Vec::<String>::new(), "the beginning of it is removed");
    bank.server.fill(false).expect("noted");
    // The connection of before is still that of a full server.
    assert_eq!(pay(&rail(&over(login.clone())), 1).await, Submission::Taken);
    fs::remove_dir_all(bank.server.files().join("out")).expect("removed");
    let missing = rail(&over(login.clone()));
    assert!(reason(pay(&missing, 2).await).contains("status 2"));
    let why = probed(&over(login)).await.expect_err("refused");
    assert!(why.starts_with("rails.pak-raast.sftp.out out: "), "{why}");
}

/// The request to rename is lost, or its answer: both look alike from here.
#[tokio::test]
async fn a_connection_that_ends_at_the_rename_leaves_the_outcome_open() {
    let Some(bank) = Bank::start("a cut connection") else { return };
    let rail = rail(&over(bank.login()));
    bank.server.cut_at_rename(false).expect("noted");
    let first = pay(&rail, 1).await;
    assert!(matches!(first, Submission::Indeterminate(_)), "{first:?}");
    let visible =
        |files: Vec<String>| files.into_iter().filter(|name| !name.starts_with('.')).count();
    assert_eq!(visible(bank.files("out")), 0);
    bank.server.cut_at_rename(true).expect("noted");
    let second = pay(&rail, 2).await;
    assert!(matches!(second, Submission::Indeterminate(_)), "{second:?}");
    assert_eq!(visible(bank.files("out")), 1);
    // Repeated with permission: the same names, no second file.
    assert_eq!(pay(&rail, 1).await, Submission::Taken);
    assert_eq!(pay(&rail, 2).await, Submission::Taken);
    assert_eq!(visible(bank.files("out")), 2);
}

#[tokio::test]
async fn a_lost_connection_is_made_again() {
    let Some(mut bank) = Bank::start("a lost connection") else { return };
    let rail = rail(&over(bank.login()));
    assert_eq!(pay(&rail, 1).await, Submission::Taken);
    bank.server.kill().expect("killed");
    // The listener is gone; a session that lives on is not relied upon.
    let other = super::rig::rail(&over(bank.login()));
    reason(pay(&other, 2).await);
    assert!(!fault(&other).await.is_empty());
    bank.server.start().expect("started");
    assert_eq!(pay(&other, 2).await, Submission::Taken);
    let about = |reports: &Reports| {
        reports.reports.iter().filter(|it| matches!(it.about, About::Rest { .. })).count()
    };
    put(&bank.server.files().join("in"), "1.xml", status("B-1", &message(&other, 2), "ACCP"));
    assert_eq!(about(&page(&other, None).await), 1);
}
