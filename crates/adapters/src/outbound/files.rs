//! PEM files: certificates, keys and authorities. Each fault names the file.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use domain::time::Timestamp;
use reqwest::Certificate;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use x509_cert::der::Decode as _;

use super::settings::{
    Authentication, ClientAuthentication, Identity, Settings, SetupError, Signing,
};

/// A client certificate with its key.
pub(super) struct Loaded {
    /// Certificate chain and private key, as PEM.
    pub pem: Vec<u8>,
    pub file: PathBuf,
    pub expires: Timestamp,
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: cannot be read: {error}", path.display()))
}

pub(super) fn private_key(pem: &[u8], path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    let mut keys = PrivateKeyDer::pem_slice_iter(pem).filter_map(Result::ok);
    let Some(key) = keys.next() else {
        let rule = "contains no private key in PEM without a password";
        return Err(format!("{}: {rule}", path.display()));
    };
    match keys.count() {
        0 => Ok(key),
        more => Err(format!(
            "{}: contains {} private keys, and must have one",
            path.display(),
            more + 1
        )),
    }
}

/// The certificates of a file of authorities.
pub fn authorities(path: &Path) -> Result<Vec<Certificate>, String> {
    let unusable =
        |why: String| format!("{}: is not a PEM file of certificates: {why}", path.display());
    let pem = read(path)?;
    let found = Certificate::from_pem_bundle(&pem);
    let found = found.map_err(|error| unusable(super::causes(&error)))?;
    for der in CertificateDer::pem_slice_iter(&pem) {
        // The error's own text contains lines of the file.
        let der = der.map_err(|_| unusable("a section is damaged".to_owned()))?;
        x509_cert::Certificate::from_der(&der).map_err(|error| unusable(error.to_string()))?;
    }
    match found.is_empty() {
        true => Err(unusable("it contains none".to_owned())),
        false => Ok(found),
    }
}

/// The first and the last instant at which a certificate is valid.
fn validity(der: &CertificateDer<'_>, path: &Path) -> Result<(Timestamp, Timestamp), String> {
    let read = x509_cert::Certificate::from_der(der);
    let read =
        read.map_err(|error| format!("{}: is not a certificate: {error}", path.display()))?;
    let validity = read.tbs_certificate.validity;
    let at = |time: x509_cert::time::Time| {
        let seconds = i64::try_from(time.to_unix_duration().as_secs()).unwrap_or(i64::MAX);
        Timestamp(seconds.saturating_mul(1_000_000))
    };
    Ok((at(validity.not_before), at(validity.not_after)))
}

/// When the first certificate of a file expires.
pub fn expires(path: &Path) -> Result<Timestamp, String> {
    let pem = read(path)?;
    let first = CertificateDer::pem_slice_iter(&pem).find_map(Result::ok);
    let first =
        first.ok_or_else(|| format!("{}: contains no certificate in PEM", path.display()))?;
    validity(&first, path).map(|(_, expires)| expires)
}

/// The client certificate, checked: both files are readable, belong together, and are valid now.
pub(super) fn identity(
    settings: &Settings,
    identity: &Identity,
    now: Timestamp,
) -> Result<Loaded, SetupError> {
    let Identity { certificate_file, key_file } = identity;
    let of_certificate = |rule: String| settings.fault("certificate_file", rule);
    let of_key = |rule: String| settings.fault("key_file", rule);
    let mut pem = read(certificate_file).map_err(of_certificate)?;
    let name = certificate_file.display();
    let chain: Vec<_> = CertificateDer::pem_slice_iter(&pem).filter_map(Result::ok).collect();
    let Some(leaf) = chain.first() else {
        return Err(of_certificate(format!("{name}: contains no certificate in PEM")));
    };
    let (begins, expires) = validity(leaf, certificate_file).map_err(of_certificate)?;
    let key_pem = read(key_file).map_err(of_key)?;
    let key = private_key(&key_pem, key_file).map_err(of_key)?;
    let provider = rustls::crypto::ring::default_provider();
    rustls::sign::CertifiedKey::from_der(chain, key, &provider).map_err(|error| {
        let rule = match error {
            rustls::Error::InconsistentKeys(_) => {
                format!("is not the key of the certificate in {name}")
            }
            other => format!("cannot be used: {other}"),
        };
        of_key(format!("{}: {rule}", key_file.display()))
    })?;
    if expires < now {
        return Err(of_certificate(format!("{name}: the certificate expired on {expires}")));
    }
    if begins > now {
        return Err(of_certificate(format!("{name}: the certificate is valid from {begins}")));
    }
    // One file may hold both.
    if certificate_file != key_file {
        pem.push(b'\n');
        pem.extend_from_slice(&key_pem);
    }
    Ok(Loaded { pem, file: certificate_file.clone(), expires })
}

/// What tells one state of a file from another, without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
    inode: u64,
    /// Time of the last change of content, owner or mode, in seconds and nanoseconds.
    changed: (i64, i64),
}

/// What was loaded from files.
pub(super) struct Current<T> {
    /// The files' state when they were loaded.
    pub stamps: Vec<Option<Stamp>>,
    pub loaded: T,
    /// Why the files as they are now cannot be used, as logged.
    pub failure: Option<String>,
}

impl<T> Current<T> {
    pub fn new(stamps: Vec<Option<Stamp>>, loaded: T) -> Current<T> {
        Current { stamps, loaded, failure: None }
    }
}

/// The files that are read again when they change.
pub(super) fn watched(settings: &Settings) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = settings.authority_file.iter().cloned().collect();
    if let Some(Identity { certificate_file, key_file }) = &settings.identity {
        files.extend([certificate_file.clone(), key_file.clone()]);
    }
    if let Some(Signing::Jws { key, .. }) = &settings.signing {
        files.push(key.file.clone());
    }
    if let Authentication::OAuth2(oauth) = &settings.authentication
        && let ClientAuthentication::PrivateKeyJwt { key, .. } = &oauth.client_authentication
    {
        files.push(key.file.clone());
    }
    files
}

pub(super) fn stamps(files: &[PathBuf]) -> Vec<Option<Stamp>> {
    let stamp = |path: &PathBuf| {
        let about = std::fs::metadata(path).ok()?;
        #[cfg(unix)]
        let (inode, changed) = {
            use std::os::unix::fs::MetadataExt as _;
            (about.ino(), (about.ctime(), about.ctime_nsec()))
        };
        #[cfg(not(unix))]
        let (inode, changed) = (0, (0, 0));
        Some(Stamp { modified: about.modified().ok(), bytes: about.len(), inode, changed })
    };
    files.iter().map(stamp).collect()
}
