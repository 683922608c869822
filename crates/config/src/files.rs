//! How files are exchanged with a bank: `[rails.sftp]`, `[rails.pgp]` and `[rails.acknowledgements]` of
//! rails over files.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use adapters::pgp::{self, Protection};
use adapters::rails::{
    AcknowledgementSettings, Exchange, FILE_GRACE, FilesConfig, SftpConfig, is_acknowledgement_name,
};
use adapters::sftp;
use domain::policy::Environment;
use secrecy::SecretString;
use serde::Deserialize;

use super::secret::Secret;
use super::sections::{Config, RailEntry, Transport};
use super::validate::Faults;

/// Table `[rails.sftp]` of a rail.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SftpEntry {
    pub host: String,
    pub port: u16,
    pub user: String,
    pub key_file: PathBuf,
    pub key_passphrase: Secret,
    pub password: Secret,
    pub host_keys: Vec<String>,
    pub out: PathBuf,
    #[serde(rename = "in")]
    pub reports: PathBuf,
    pub archive: PathBuf,
    pub unreadable: PathBuf,
    pub poll_s: u64,
}

impl Default for SftpEntry {
    fn default() -> SftpEntry {
        SftpEntry {
            host: String::new(),
            port: 22,
            user: String::new(),
            key_file: PathBuf::new(),
            key_passphrase: Secret::default(),
            password: Secret::default(),
            host_keys: Vec::new(),
            out: "out".into(),
            reports: "in".into(),
            archive: "in/archive".into(),
            unreadable: "in/unreadable".into(),
            poll_s: 10,
        }
    }
}

/// `outgoing` and `incoming` of `[rails.pgp]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProtectionKind {
    #[default]
    SignedAndEncrypted,
    Signed,
    Encrypted,
    Plain,
}

impl ProtectionKind {
    const fn protection(self) -> Protection {
        Protection {
            signed: matches!(self, ProtectionKind::SignedAndEncrypted | ProtectionKind::Signed),
            encrypted: matches!(
                self,
                ProtectionKind::SignedAndEncrypted | ProtectionKind::Encrypted
            ),
        }
    }
}

/// Table `[rails.pgp]` of a rail.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PgpEntry {
    pub key_file: PathBuf,
    pub key_passphrase: Secret,
    pub bank_key_files: Vec<PathBuf>,
    pub outgoing: ProtectionKind,
    pub incoming: ProtectionKind,
    pub armor: bool,
    pub suffix: String,
}

impl Default for PgpEntry {
    fn default() -> PgpEntry {
        PgpEntry {
            key_file: PathBuf::new(),
            key_passphrase: Secret::default(),
            bank_key_files: Vec::new(),
            outgoing: ProtectionKind::default(),
            incoming: ProtectionKind::default(),
            armor: true,
            suffix: ".pgp".to_owned(),
        }
    }
}

impl PgpEntry {
    /// Whether the rail uses PGP.
    pub fn is_set(&self) -> bool {
        !self.key_file.as_os_str().is_empty()
    }

    fn settings(&self) -> Option<pgp::Settings> {
        self.is_set().then(|| pgp::Settings {
            key_file: self.key_file.clone(),
            passphrase: secret(&self.key_passphrase),
            bank_key_files: self.bank_key_files.clone(),
            outgoing: self.outgoing.protection(),
            incoming: self.incoming.protection(),
            armor: self.armor,
            suffix: self.suffix.clone(),
        })
    }
}

/// Table `[rails.acknowledgements]` of a rail.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AcknowledgementEntry {
    pub wait_s: u64,
    pub positive: Vec<String>,
    pub negative: Vec<String>,
    pub negative_rejects: bool,
}

impl AcknowledgementEntry {
    fn settings(&self, duplicate_reasons: &[String]) -> Option<AcknowledgementSettings> {
        (self.wait_s > 0).then(|| AcknowledgementSettings {
            positive: self.positive.clone(),
            negative: self.negative.clone(),
            wait: Duration::from_secs(self.wait_s),
            negative_rejects: self.negative_rejects,
            duplicate_reasons: duplicate_reasons.to_vec(),
        })
    }
}

fn secret(secret: &Secret) -> Option<SecretString> {
    (!secret.is_empty()).then(|| SecretString::from(secret.expose()))
}

fn given(path: &Path) -> Option<PathBuf> {
    (!path.as_os_str().is_empty()).then(|| path.to_owned())
}

impl Config {
    /// A rail over files in `directory`.
    pub fn files_in(&self, entry: &RailEntry, directory: PathBuf) -> FilesConfig {
        self.files_of(entry, Exchange::Directory(directory))
    }

    /// What is wrong with a rail's directory, if production would have to create it: a share that
    /// is not mounted, or a mistyped path, would take payments that no bank reads.
    pub fn missing_directory(&self, setup: &FilesConfig) -> Option<String> {
        let Exchange::Directory(dir) = &setup.exchange else { return None };
        let is_missing = self.environment == Environment::Production && !dir.is_dir();
        is_missing.then(|| {
            let (rail, dir) = (&setup.rail, dir.display());
            format!("rails.{rail}.directory: {dir} is no directory: mount the bank's share, or create it")
        })
    }

    /// A rail over the bank's SFTP server.
    pub(super) fn files_over_sftp(&self, entry: &RailEntry) -> FilesConfig {
        let sftp = &entry.sftp;
        let server = sftp::Settings {
            host: sftp.host.clone(),
            port: sftp.port,
            user: sftp.user.clone(),
            key_file: given(&sftp.key_file),
            key_passphrase: secret(&sftp.key_passphrase),
            password: secret(&sftp.password),
            host_keys: sftp.host_keys.clone(),
            connect_timeout: Duration::from_millis(entry.connect_timeout_ms),
            request_timeout: Duration::from_millis(entry.request_timeout_ms),
        };
        let exchange = SftpConfig {
            server,
            out: sftp.out.clone(),
            reports: sftp.reports.clone(),
            archive: sftp.archive.clone(),
            unreadable: sftp.unreadable.clone(),
            poll: Duration::from_secs(sftp.poll_s),
            state: given(&entry.directory),
        };
        self.files_of(entry, Exchange::Sftp(Box::new(exchange)))
    }

    fn files_of(&self, entry: &RailEntry, exchange: Exchange) -> FilesConfig {
        FilesConfig {
            rail: domain::rail::RailId::new(&entry.id),
            exchange,
            ours: self.our_side(entry),
            report_files: entry.report_files.clone(),
            report_wait: Duration::from_secs(entry.report_wait_s),
            grace: FILE_GRACE,
            pgp: entry.pgp.settings(),
            acknowledgements: entry.acknowledgements.settings(&entry.duplicate_reasons),
        }
    }
}

/// A path without `.`, `..` and repeated or final separators, as text only.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => drop(plain.pop()),
            // The root is its own parent.
            Component::ParentDir if plain.has_root() => {}
            part => plain.push(part),
        }
    }
    plain
}

/// The directory that a path leads to, links followed as far as it exists; empty for an empty one.
fn resolved(path: &Path) -> PathBuf {
    let Ok(path) = std::path::absolute(path) else { return PathBuf::new() };
    let real = path.ancestors().find_map(|ancestor| {
        let rest = path.strip_prefix(ancestor).ok()?;
        Some(ancestor.canonicalize().ok()?.join(rest))
    });
    plain(&real.unwrap_or(path))
}

/// Rails over files must not share a place: each would take the other's reports, and equal file names
/// would replace each other.
pub(super) fn shared(config: &Config, faults: &mut Faults) {
    let mut seen: BTreeMap<PathBuf, &str> = BTreeMap::new();
    for rail in config.connected_rails() {
        let own = ("directory", resolved(&rail.directory));
        let SftpEntry { user, host, port, .. } = &rail.sftp;
        let server = format!("sftp:{user}@{}:{port}", host.to_ascii_lowercase());
        // A relative directory is one of the user's.
        let on_server = |dir: &Path| PathBuf::from(format!("{server}:{}", plain(dir).display()));
        let places = match rail.transport {
            Transport::Directory => vec![own],
            Transport::Sftp => {
                let mut places = vec![own, ("sftp.in", on_server(&rail.sftp.reports))];
                if config.our_side(rail).profile.file_name.has_sequence() {
                    places.push(("sftp.out", on_server(&rail.sftp.out)));
                }
                places
            }
            _ => continue,
        };
        for (key, place) in places.into_iter().filter(|(_, place)| !place.as_os_str().is_empty()) {
            if let Some(other) = seen.insert(place, &rail.id) {
                let rule = format!("is that of {other}: rails must not share it");
                faults.add(format!("rails.{}.{key}", rail.id), rule);
            }
        }
    }
}

/// What is wrong with a rail's exchange of files.
pub(super) fn faults(rail: &RailEntry, has_sequence: bool, faults: &mut Faults) {
    let key = |name: &str| format!("rails.{}.{name}", rail.id);
    let over_files = matches!(rail.transport, Transport::Directory | Transport::Sftp);
    // A simulated rail may exchange files with the simulated bank, which does without the rest.
    faults.check(
        key("pgp.key_file"),
        over_files || !rail.pgp.is_set(),
        "has a meaning only while transport is \"directory\" or \"sftp\"",
    );
    faults.check(
        key("acknowledgements.wait_s"),
        over_files || rail.acknowledgements.wait_s == 0,
        "has a meaning only while transport is \"directory\" or \"sftp\"",
    );
    if rail.transport == Transport::Sftp {
        server(rail, faults);
        let needed = has_sequence || rail.acknowledgements.wait_s > 0;
        faults.check(
            key("directory"),
            !needed || !rail.directory.as_os_str().is_empty(),
            "is required for numbered files and for acknowledgements: a directory of this installation, shared by its \
             nodes",
        );
    }
    if over_files {
        keys(rail, faults);
        acknowledgements(rail, faults);
    }
}

fn server(rail: &RailEntry, faults: &mut Faults) {
    let (sftp, key) = (&rail.sftp, |name: &str| format!("rails.{}.sftp.{name}", rail.id));
    let host = !sftp.host.is_empty()
        && sftp.host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-:_".contains(&b));
    faults.check(key("host"), host, "must be a host name or an address");
    faults.check(key("port"), sftp.port != 0, "must be a port");
    faults.check(key("user"), !sftp.user.trim().is_empty(), "is missing");
    faults.check(
        key("key_file"),
        given(&sftp.key_file).is_some() || !sftp.password.is_empty(),
        "is missing, and so is password: the bank has to authenticate this installation",
    );
    faults.check(
        key("host_keys"),
        !sftp.host_keys.is_empty(),
        "is missing: the fingerprints that the bank publishes, such as \"SHA256:…\"",
    );
    if let Some(text) = sftp.host_keys.iter().find(|text| !sftp::is_fingerprint(text)) {
        let rule =
            format!("{text:?} is not a fingerprint such as `ssh-keygen -lf` prints: SHA256:…");
        faults.add(key("host_keys"), &rule);
    }
    let dirs = [
        ("out", &sftp.out),
        ("in", &sftp.reports),
        ("archive", &sftp.archive),
        ("unreadable", &sftp.unreadable),
    ];
    for (at, (name, path)) in dirs.iter().enumerate() {
        faults.check(key(name), given(path).is_some(), "must be a directory of the server");
        let other = dirs.iter().take(at).find(|(_, other)| plain(other) == plain(path));
        if let Some((other, _)) = other {
            faults.add(key(name), format!("must differ from {other}"));
        }
    }
    faults.within(key("poll_s"), sftp.poll_s, 1, 3_600);
}

fn keys(rail: &RailEntry, faults: &mut Faults) {
    let (pgp, key) = (&rail.pgp, |name: &str| format!("rails.{}.pgp.{name}", rail.id));
    if !pgp.is_set() {
        let unused = pgp.bank_key_files.is_empty() && pgp.key_passphrase.is_empty();
        faults.check(
            key("key_file"),
            unused,
            "is missing: without it nothing is signed or decrypted",
        );
        return;
    }
    let plain = pgp.outgoing == ProtectionKind::Plain && pgp.incoming == ProtectionKind::Plain;
    faults.check(key("outgoing"), !plain, "is \"plain\", as is incoming: then PGP does nothing");
    let needs_bank = pgp.outgoing.protection().encrypted || pgp.incoming.protection().signed;
    faults.check(
        key("bank_key_files"),
        !needs_bank || !pgp.bank_key_files.is_empty(),
        "is missing: the public keys of the bank",
    );
    faults.check(
        key("suffix"),
        pgp.suffix.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)),
        "must consist of letters, digits, dots, hyphens and underscores",
    );
}

fn acknowledgements(rail: &RailEntry, faults: &mut Faults) {
    let entry = &rail.acknowledgements;
    let key = |name: &str| format!("rails.{}.acknowledgements.{name}", rail.id);
    faults.within(key("wait_s"), entry.wait_s, 0, 2_592_000);
    if entry.wait_s == 0 {
        let unused = entry.positive.is_empty() && entry.negative.is_empty();
        faults.check(
            key("wait_s"),
            unused,
            "is missing: when a missing acknowledgement is reported",
        );
    }
    for (name, templates) in [("positive", &entry.positive), ("negative", &entry.negative)] {
        let fit = templates.iter().all(|text| is_acknowledgement_name(text));
        faults.check(key(name), fit, "must be names with {name} or {stem}, such as \"{name}.ack\"");
    }
    let shared = entry.positive.iter().any(|name| entry.negative.contains(name));
    faults.check(key("negative"), !shared, "has a name that positive has, too");
}
