//! TLS to PostgreSQL, as the address requires. If required, certificate and host name are always
//! verified.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use percent_encoding::percent_decode_str;
use rustls::pki_types::pem::{Error as PemError, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::StoreError;

const ROOTS: &str = "sslrootcert";
const CERTIFICATE: &str = "sslcert";
const KEY: &str = "sslkey";

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// The part for tokio-postgres.
    pub(super) url: String,
    /// `None` if `sslmode` requires no TLS.
    pub(super) tls: Option<Files>,
}

/// The PEM files that an address names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Files {
    /// `sslrootcert`: the certificate authorities to trust instead of the system's.
    roots: Option<PathBuf>,
    /// `sslcert` and `sslkey`: the certificate to show to the server, with its chain, and its key.
    identity: Option<(PathBuf, PathBuf)>,
}

/// Extracts `sslmode` and the files of TLS from an address.
pub(super) fn split(url: &str) -> Result<Address, StoreError> {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let mut kept = Vec::new();
    let (mut mode, mut roots, mut certificate, mut key) = ("disable", None, None, None);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("sslmode", value)) => mode = value,
            Some((ROOTS, value)) => roots = Some(file(ROOTS, value)?),
            Some((CERTIFICATE, value)) => certificate = Some(file(CERTIFICATE, value)?),
            Some((KEY, value)) => key = Some(file(KEY, value)?),
            _ => kept.push(pair),
        }
    }
    let wants_tls = match mode {
        "disable" | "allow" | "prefer" => false,
        "require" | "verify-ca" | "verify-full" => true,
        // It may be a part of the password.
        _ => {
            return Err(StoreError::Config(
                "sslmode must be disable, allow, prefer, require, verify-ca or verify-full"
                    .to_owned(),
            ));
        }
    };
    let identity = match (certificate, key) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        (Some(_), None) => return Err(config("sslcert needs sslkey, the file of its key")),
        (None, Some(_)) => return Err(config("sslkey needs sslcert, the file of its certificate")),
    };
    if identity.is_some() && !wants_tls {
        return Err(config("sslcert and sslkey need TLS: set sslmode=verify-full"));
    }
    kept.push(if wants_tls { "sslmode=require" } else { "sslmode=disable" });
    let url = format!("{base}?{}", kept.join("&"));
    Ok(Address { url, tls: wants_tls.then_some(Files { roots, identity }) })
}

/// The file of the client certificate that an address names; `None` for an address that is invalid or
/// not PostgreSQL's, too.
pub fn client_certificate(url: &str) -> Option<PathBuf> {
    let is_postgres = url.starts_with("postgres://") || url.starts_with("postgresql://");
    let files = is_postgres.then(|| split(url).ok())??.tls?;
    files.identity.map(|(certificate, _)| certificate)
}

/// The percent-encoded path of a file.
fn file(parameter: &str, value: &str) -> Result<PathBuf, StoreError> {
    match percent_decode_str(value).decode_utf8() {
        Ok(path) if !path.is_empty() => Ok(PathBuf::from(&*path)),
        _ => Err(config(format!("{parameter} must be the path of a PEM file"))),
    }
}

fn config(why: impl Into<String>) -> StoreError {
    StoreError::Config(why.into())
}

/// What is wrong with the file of a parameter.
fn fault(parameter: &str, file: &Path, why: impl std::fmt::Display) -> StoreError {
    config(format!("{parameter}: {}: {why}", file.display()))
}

/// Makes TLS connections with the files as they are: certificates are replaced while the service
/// runs.
pub(super) struct Tls {
    files: Files,
    current: Mutex<Current>,
}

struct Current {
    stamps: Vec<Option<Stamp>>,
    connector: MakeRustlsConnect,
    /// Why the files as they are now cannot be used, as logged.
    failure: Option<String>,
}

/// What tells one state of a file from another, without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
    inode: u64,
    /// Time of the last change of content, owner or mode, in seconds and nanoseconds.
    changed: (i64, i64),
}

impl Stamp {
    fn of(path: &Path) -> Option<Stamp> {
        let about = std::fs::metadata(path).ok()?;
        #[cfg(unix)]
        let (inode, changed) = {
            use std::os::unix::fs::MetadataExt as _;
            (about.ino(), (about.ctime(), about.ctime_nsec()))
        };
        #[cfg(not(unix))]
        let (inode, changed) = (0, (0, 0));
        Some(Stamp { modified: about.modified().ok(), bytes: about.len(), inode, changed })
    }
}

impl Tls {
    pub(super) fn new(files: Files) -> Result<Tls, StoreError> {
        let stamps = files.stamps();
        let connector = files.connector()?;
        Ok(Tls { files, current: Mutex::new(Current { stamps, connector, failure: None }) })
    }

    /// For the next connection. Unusable files are not taken, and read again for each connection until
    /// they are usable.
    pub(super) fn connector(&self) -> MakeRustlsConnect {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let stamps = self.files.stamps();
        if stamps == current.stamps {
            current.failure = None;
            return current.connector.clone();
        }
        match self.files.connector() {
            Ok(connector) => {
                tracing::info!("certificates of PostgreSQL connections reloaded");
                *current = Current { stamps, connector, failure: None };
            }
            Err(error) => {
                let error = error.to_string();
                if current.failure.as_ref() != Some(&error) {
                    tracing::warn!(
                        error,
                        "reloading certificates of PostgreSQL connections failed, former ones stay in use"
                    );
                    current.failure = Some(error);
                }
            }
        }
        current.connector.clone()
    }
}

impl Files {
    fn stamps(&self) -> Vec<Option<Stamp>> {
        let identity = self.identity.iter().flat_map(|(certificate, key)| [certificate, key]);
        self.roots.iter().chain(identity).map(|path| Stamp::of(path)).collect()
    }

    fn connector(&self) -> Result<MakeRustlsConnect, StoreError> {
        let mut roots = RootCertStore::empty();
        match &self.roots {
            Some(path) => {
                for certificate in certificates(ROOTS, path)? {
                    roots.add(certificate).map_err(|error| fault(ROOTS, path, error))?;
                }
            }
            None => {
                let native = rustls_native_certs::load_native_certs();
                roots.add_parsable_certificates(native.certs);
            }
        }
        if roots.is_empty() {
            return Err(config("no trusted certificate authority: set sslrootcert"));
        }
        let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
        let unusable = |error: rustls::Error| config(format!("TLS: {error}"));
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_root_certificates(roots);
        Ok(MakeRustlsConnect::new(match &self.identity {
            None => tls.with_no_client_auth(),
            Some((certificate, key)) => {
                let (chain, key) = identity(certificate, key)?;
                tls.with_client_auth_cert(chain, key).map_err(unusable)?
            }
        }))
    }
}

/// A certificate with its chain, and its key.
fn identity(
    certificate: &Path,
    key: &Path,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), StoreError> {
    let chain = certificates(CERTIFICATE, certificate)?;
    let der = private_key(key)?;
    let provider = rustls::crypto::ring::default_provider();
    let checked = CertifiedKey::from_der(chain.clone(), der.clone_key(), &provider);
    checked.map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => {
            let other = certificate.display();
            fault(KEY, key, format!("is not the key of the certificate in {other}"))
        }
        rustls::Error::InvalidCertificate(_) => fault(CERTIFICATE, certificate, error),
        other => fault(KEY, key, format!("cannot be used: {other}")),
    })?;
    Ok((chain, der))
}

fn certificates(parameter: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>, StoreError> {
    let pem = read(parameter, file)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let found = found.map_err(|error| fault(parameter, file, damage(&error)))?;
    match found.is_empty() {
        true => Err(fault(parameter, file, "contains no certificate in PEM")),
        false => Ok(found),
    }
}

fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, StoreError> {
    let pem = read(KEY, file)?;
    // `ENCRYPTED PRIVATE KEY`, or the header `Proc-Type: 4,ENCRYPTED`.
    let is_encrypted = pem.windows(9).any(|part| part == b"ENCRYPTED");
    PrivateKeyDer::from_pem_slice(&pem).map_err(|error| match error {
        _ if is_encrypted => {
            fault(KEY, file, "is encrypted: a key with a password is not supported")
        }
        PemError::NoItemsFound => fault(KEY, file, "contains no private key in PEM"),
        other => fault(KEY, file, damage(&other)),
    })
}

/// The errors' own texts contain lines of the file, which may be those of a private key.
fn damage(error: &PemError) -> &'static str {
    match error {
        PemError::MissingSectionEnd { .. } => "is not PEM: the END line of a section is missing",
        PemError::IllegalSectionStart { .. } => {
            "is not PEM: a BEGIN line is damaged or followed by more on the same line"
        }
        PemError::Base64Decode(_) => "is not PEM: a section is not in base64",
        _ => "is not PEM",
    }
}

fn read(parameter: &str, file: &Path) -> Result<Vec<u8>, StoreError> {
    std::fs::read(file).map_err(|error| fault(parameter, file, format!("cannot be read: {error}")))
}

#[cfg(test)]
mod tests {
    use super::super::connect::Connector;
    use super::*;

    #[test]
    fn tls_follows_the_address() {
        let files = |roots: Option<&str>, identity: Option<(&str, &str)>| {
            let identity = identity.map(|(one, other)| (one.into(), other.into()));
            Some(Files { roots: roots.map(PathBuf::from), identity })
        };
        for (given, kept, tls) in [
            ("", "sslmode=disable", None),
            ("?sslmode=prefer", "sslmode=disable", None),
            ("?sslmode=require", "sslmode=require", files(None, None)),
            (
                "?connect_timeout=3&sslmode=verify-full&sslrootcert=%2Fetc%2Fthe%20ca.pem",
                "connect_timeout=3&sslmode=require",
                files(Some("/etc/the ca.pem"), None),
            ),
            (
                "?sslkey=/k.pem&sslcert=/c.pem&sslmode=verify-ca",
                "sslmode=require",
                files(None, Some(("/c.pem", "/k.pem"))),
            ),
        ] {
            let url = format!("postgres://a@b/c?{kept}");
            assert_eq!(split(&format!("postgres://a@b/c{given}")), Ok(Address { url, tls }));
        }
        for (options, why) in [
            ("sslmode=maybe", "sslmode must be"),
            ("sslmode=require&sslcert=/c.pem", "sslcert needs sslkey"),
            ("sslmode=require&sslkey=/k.pem", "sslkey needs sslcert"),
            ("sslcert=/c.pem&sslkey=/k.pem", "need TLS"),
            ("sslmode=prefer&sslcert=/c.pem&sslkey=/k.pem", "need TLS"),
            ("sslmode=require&sslcert=&sslkey=/k.pem", "sslcert must be the path"),
            ("sslmode=require&sslcert=/c.pem&sslkey=%ff", "sslkey must be the path"),
            ("sslmode=require&sslrootcert=", "sslrootcert must be the path"),
        ] {
            let refused = split(&format!("postgres://a@b/c?{options}")).expect_err(options);
            assert!(refused.to_string().contains(why), "{options}: {refused}");
        }
    }

    #[test]
    fn an_address_names_its_client_certificate() {
        for (url, file) in [
            ("sqlite:c.db?sslmode=require&sslcert=/c.pem&sslkey=/k.pem", None),
            ("postgres://db/c?sslmode=require", None),
            ("postgres://db/c?sslmode=require&sslcert=/c.pem", None),
            (
                "postgresql://db/c?sslmode=require&sslcert=%2Fmy%20c.pem&sslkey=/k",
                Some("/my c.pem"),
            ),
        ] {
            assert_eq!(client_certificate(url), file.map(PathBuf::from), "{url}");
        }
    }

    /// A certificate and its key, both in PEM.
    fn self_signed() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(["corridor".to_owned()]).expect("made");
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    #[test]
    fn each_fault_names_its_parameter_and_its_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let written = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        let ((own, key), (other, _)) = (self_signed(), self_signed());
        let certificate = written("own.pem", &own);
        let key_file = written("key.pem", &key);
        let both = written("both.pem", &format!("{key}{own}"));
        let other = written("other.pem", &other);
        let empty = written("empty.pem", "");
        let legacy = key.replacen("KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\n\n", 1);
        let legacy = written("legacy.pem", &legacy);
        let pkcs8 = written("pkcs8.pem", &key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY"));
        let broken = written("broken.pem", &key.replacen('M', "*", 1));
        let no_certificate =
            written("text.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
        let missing = dir.path().join("missing.pem");
        let here = dir.path().to_owned();
        let made = |roots: &Path, certificate: &Path, key: &Path| {
            let identity = Some((certificate.to_owned(), key.to_owned()));
            Tls::new(Files { roots: Some(roots.to_owned()), identity }).map(drop)
        };
        assert_eq!(made(&certificate, &certificate, &key_file), Ok(()));
        assert_eq!(made(&certificate, &both, &both), Ok(()));
        for (roots, certificate, key, parameter, file, why) in [
            (&missing, &certificate, &key_file, ROOTS, &missing, "cannot be read: No such file"),
            (&empty, &certificate, &key_file, ROOTS, &empty, "contains no certificate"),
            (&no_certificate, &certificate, &key_file, ROOTS, &no_certificate, "certificate"),
            (&certificate, &missing, &key_file, CERTIFICATE, &missing, "cannot be read"),
            (&certificate, &here, &key_file, CERTIFICATE, &here, "cannot be read"),
            (&certificate, &key_file, &key_file, CERTIFICATE, &key_file, "no certificate in PEM"),
            (&certificate, &no_certificate, &key_file, CERTIFICATE, &no_certificate, "invalid"),
            (&certificate, &certificate, &missing, KEY, &missing, "cannot be read"),
            (&certificate, &certificate, &here, KEY, &here, "cannot be read"),
            (&certificate, &certificate, &certificate, KEY, &certificate, "no private key in PEM"),
            (&certificate, &certificate, &empty, KEY, &empty, "no private key in PEM"),
            (&certificate, &certificate, &broken, KEY, &broken, "not in base64"),
            (&certificate, &certificate, &pkcs8, KEY, &pkcs8, "is encrypted"),
            (&certificate, &certificate, &legacy, KEY, &legacy, "is encrypted"),
            (&certificate, &other, &key_file, KEY, &key_file, "is not the key of the certificate"),
        ] {
            let refused = made(roots, certificate, key).expect_err("refused").to_string();
            let named = format!(": {parameter}: {}: ", file.display());
            assert!(refused.contains(&named) && refused.contains(why), "{named}{why}: {refused}");
        }
    }

    #[test]
    fn no_message_contains_a_part_of_a_key() {
        let dir = tempfile::tempdir().expect("a directory");
        let (certificate, key) = self_signed();
        let body: String = key.lines().filter(|line| !line.starts_with('-')).collect();
        let joined = key.replacen("KEY-----\n", "KEY-----", 1);
        let forms = [
            ("literal", key.replace('\n', "\\n")),
            ("quoted", format!("\"{}\"", key.trim_end().replace('\n', "\\n"))),
            ("one line", key.replace('\n', "")),
            ("spaces", key.replace('\n', " ")),
            ("carriage returns", key.replace('\n', "\r")),
            ("body on the first line", joined),
            ("body on the last line", key.replace("\n-----END", "-----END")),
            ("no end", key.replace("-----END PRIVATE KEY-----\n", "")),
            ("short begin", key.replacen("KEY-----", "KEY----", 1)),
            ("wrong base64", key.replacen('M', "*", 1)),
            ("cut", key[..key.len() / 2].to_owned()),
            ("bare", body.clone()),
            ("labelled as a certificate", key.replace("PRIVATE KEY", "CERTIFICATE")),
            ("combined", format!("{certificate}{key}").replace('\n', "\\n")),
            ("combined after", format!("{certificate}{}", key.replace('\n', ""))),
            ("combined before", format!("{}\n{certificate}", key.replace('\n', ""))),
        ];
        let written = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        let right = written("right.pem", &format!("{certificate}{key}"));
        for (name, text) in forms {
            let damaged = written("damaged.pem", &text);
            for [roots, certificate, key] in [
                [&right, &right, &damaged],
                [&right, &damaged, &right],
                [&damaged, &right, &right],
                [&right, &damaged, &damaged],
            ] {
                let identity = Some((certificate.clone(), key.clone()));
                let files = Files { roots: Some(roots.clone()), identity };
                let Err(refused) = Tls::new(files) else { continue };
                for said in [refused.to_string(), format!("{refused:?}")] {
                    for run in body.as_bytes().windows(6) {
                        let text = std::str::from_utf8(run).expect("base64");
                        let bytes = format!("{run:?}");
                        let bytes = bytes.trim_matches(['[', ']']);
                        assert!(!said.contains(text) && !said.contains(bytes), "{name}: {said}");
                    }
                }
            }
            let key_file = (right.clone(), damaged.clone());
            let files = Files { roots: Some(right.clone()), identity: Some(key_file) };
            // Carriage returns end lines as well.
            assert_eq!(Tls::new(files).is_ok(), name == "carriage returns", "{name}");
        }
    }

    #[test]
    fn files_are_read_again_until_they_are_usable() {
        let dir = tempfile::tempdir().expect("a directory");
        let (certificate, key) = (dir.path().join("c.pem"), dir.path().join("k.pem"));
        let write = |path: &Path, text: &str| std::fs::write(path, text).expect("written");
        let (first, first_key) = self_signed();
        write(&certificate, &first);
        write(&key, &first_key);
        let identity = Some((certificate.clone(), key.clone()));
        let tls = Tls::new(Files { roots: Some(certificate.clone()), identity }).expect("usable");
        let state = || {
            drop(tls.connector());
            let current = tls.current.lock().expect("a lock");
            (current.stamps == tls.files.stamps(), current.failure.clone())
        };
        assert_eq!(state(), (true, None));
        // The comment changes the size, whatever the clock's steps are.
        let (second, second_key) = self_signed();
        write(&certificate, &format!("# 2\n{second}"));
        for _ in 0..2 {
            let (is_taken, failure) = state();
            assert!(!is_taken, "a failure leaves no stamps");
            assert!(failure.is_some_and(|text| text.contains("is not the key")));
        }
        write(&key, &format!("# 2\n{second_key}"));
        assert_eq!(state(), (true, None));
    }

    #[cfg(unix)]
    #[test]
    fn each_change_of_a_file_shows_in_its_stamp() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("k.pem");
        std::fs::write(&path, "one").expect("written");
        let modified = std::fs::metadata(&path).expect("there").modified().expect("a time");
        let mut before = Stamp::of(&path);
        let mut differs = |change: &dyn Fn(), what: &str| {
            // Again until the file system's clock has moved.
            let shows = testkit::wait::until(testkit::wait::AT_MOST, || {
                change();
                let file = std::fs::File::options().write(true).open(&path).expect("opens");
                file.set_modified(modified).expect("set");
                Stamp::of(&path) != before
            });
            assert!(shows, "{what}");
            before = Stamp::of(&path);
        };
        let mode = std::fs::Permissions::from_mode(0o640);
        differs(&|| std::fs::set_permissions(&path, mode.clone()).expect("set"), "mode");
        differs(&|| std::fs::write(&path, "two").expect("written"), "content of the same size");
        let other = dir.path().join("other");
        let replace = || {
            std::fs::write(&other, "two").expect("written");
            std::fs::rename(&other, &path).expect("renamed");
        };
        differs(&replace, "another file");
    }

    /// A certificate for a name or an address, signed by `authority`, and its key.
    fn signed(authority: &rcgen::Issuer<'_, rcgen::KeyPair>, names: &[&str]) -> (String, String) {
        let key = rcgen::KeyPair::generate().expect("a key");
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = rcgen::CertificateParams::new(names.clone()).expect("names");
        params.distinguished_name.push(rcgen::DnType::CommonName, names[0].clone());
        let made = params.signed_by(&key, authority).expect("signed");
        (made.pem(), key.serialize_pem())
    }

    fn connector(url: &str) -> Result<Connector, String> {
        let key = secrecy::SecretBox::new(Box::new([0; 32]));
        let options = crate::Options::new(std::sync::Arc::new(NoClock), key);
        Connector::new(url, &options).map_err(|error| error.to_string())
    }

    /// The serial number of the certificate that a new connection shows.
    async fn shown(connector: &Connector) -> Result<String, String> {
        let (_, opened) = connector.open_any().await.map_err(|error| error.to_string())?;
        let sql =
            "SELECT client_dn, client_serial::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        let row = opened.client.query_one(sql, &[]).await.map_err(|error| error.to_string())?;
        assert!(row.get::<_, Option<String>>(0).is_some_and(|name| name.contains("/CN=corridor")));
        Ok(row.get(1))
    }

    /// What a server that demands client certificates answers.
    async fn answer(url: &str) -> Result<(), String> {
        shown(&connector(url)?).await.map(drop)
    }

    struct NoClock;

    impl domain::ports::Clock for NoClock {
        fn now(&self) -> domain::time::Timestamp {
            domain::time::Timestamp(0)
        }

        fn sleep_until(&self, _: domain::time::Timestamp) -> domain::ports::BoxFuture<'static, ()> {
            Box::pin(std::future::ready(()))
        }
    }

    #[tokio::test]
    async fn a_server_that_demands_the_certificate_of_its_user_gets_it() {
        use testkit::postgres::{Cluster, Options, ServerTls};
        if !testkit::postgres::wanted() {
            let left_out = testkit::postgres::for_tests("client certificates").expect("left out");
            assert!(left_out.is_none());
            return;
        }
        let key = rcgen::KeyPair::generate().expect("a key");
        let mut params = rcgen::CertificateParams::default();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let root = params.self_signed(&key).expect("made").pem();
        let authority = rcgen::Issuer::new(params, key);
        let (certificate, key) = signed(&authority, &["127.0.0.1"]);
        let client_authority = root.clone();
        let tls = Some(ServerTls { certificate, key, client_authority });
        let cluster = Cluster::start(&Options { tls, ..Options::default() }).expect("PostgreSQL");
        let dir = tempfile::tempdir().expect("a directory");
        let written = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).expect("written");
            path.display().to_string()
        };
        let roots = written("root.pem", &root);
        let files = |name: &str, (certificate, key): (String, String)| {
            let certificate = written(&format!("{name}.pem"), &certificate);
            let key = written(&format!("{name}.key"), &key);
            format!("&sslcert={certificate}&sslkey={key}")
        };
        let own = files("own", signed(&authority, &["corridor"]));
        let other = files("other", signed(&authority, &["other"]));
        let foreign = files("foreign", self_signed());
        let url = cluster.url("postgres");
        let url = url.strip_suffix("?sslmode=disable").expect("the harness's");
        let with = |more: &str| format!("{url}?sslmode=verify-full&sslrootcert={roots}{more}");
        assert_eq!(answer(&with(&own)).await, Ok(()), "{}", cluster.log_tail());
        for (more, why) in [
            ("", "requires a valid client certificate"),
            (other.as_str(), "password authentication failed"),
            (foreign.as_str(), ""),
        ] {
            let refused = answer(&with(more)).await.expect_err(more);
            assert!(refused.contains(why), "{more}: {refused}");
        }

        let connector = connector(&with(&own)).expect("usable");
        let first = shown(&connector).await.expect("connected");
        let (certificate, key) = signed(&authority, &["corridor"]);
        // Unusable, and then usable with the same size and the same time of modification.
        let key_file = written("own.key", &key.replacen('M', "*", 1));
        let modified = std::fs::metadata(&key_file).and_then(|about| about.modified());
        assert_eq!(shown(&connector).await, Ok(first.clone()), "the former pair stays in use");
        written("own.pem", &certificate);
        assert_eq!(shown(&connector).await, Ok(first.clone()), "the former pair stays in use");
        written("own.key", &key);
        let file = std::fs::File::options().write(true).open(&key_file).expect("opens");
        file.set_modified(modified.expect("a time")).expect("set");
        let second = shown(&connector).await.expect("connected");
        assert_ne!(second, first, "the next connection shows the new certificate");
        assert_eq!(shown(&connector).await, Ok(second));
    }
}
