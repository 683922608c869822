//! TLS to PostgreSQL, as the address requires. If required, certificate and host name are always
//! verified.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::StoreError;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Address {
    /// The part for tokio-postgres.
    pub(super) url: String,
    /// Whether `sslmode` requires TLS.
    pub(super) wants_tls: bool,
    /// `sslrootcert`: a PEM file with the certificate authorities to trust instead of the system's.
    pub(super) root_file: Option<String>,
}

/// Extracts `sslmode` and `sslrootcert` from an address.
pub(super) fn split(url: &str) -> Result<Address, StoreError> {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let mut kept = Vec::new();
    let (mut mode, mut root_file) = ("disable", None);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("sslmode", value)) => mode = value,
            Some(("sslrootcert", value)) => {
                root_file = Some(value.replace("%2F", "/").replace("%2f", "/"))
            }
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
    kept.push(if wants_tls { "sslmode=require" } else { "sslmode=disable" });
    Ok(Address { url: format!("{base}?{}", kept.join("&")), wants_tls, root_file })
}

/// A TLS connector that trusts a file's authorities, or the system's.
pub(super) fn connector(root_file: Option<&str>) -> Result<MakeRustlsConnect, StoreError> {
    let config =
        |what: &str, error: &dyn std::fmt::Display| StoreError::Config(format!("{what}: {error}"));
    let mut roots = RootCertStore::empty();
    match root_file {
        Some(path) => {
            let found = CertificateDer::pem_file_iter(path)
                .map_err(|error| config("sslrootcert", &error))?;
            for certificate in found {
                let certificate = certificate.map_err(|error| config("sslrootcert", &error))?;
                roots.add(certificate).map_err(|error| config("sslrootcert", &error))?;
            }
        }
        None => {
            let native = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(native.certs);
        }
    }
    if roots.is_empty() {
        return Err(StoreError::Config(
            "no trusted certificate authority: set sslrootcert".to_owned(),
        ));
    }
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| config("TLS", &error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(tls))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_follows_the_address() {
        for (url, expected, wants_tls, root_file) in [
            ("postgres://a@b/c", "postgres://a@b/c?sslmode=disable", false, None),
            ("postgres://a@b/c?sslmode=prefer", "postgres://a@b/c?sslmode=disable", false, None),
            ("postgres://a@b/c?sslmode=require", "postgres://a@b/c?sslmode=require", true, None),
            (
                "postgres://a@b/c?connect_timeout=3&sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem",
                "postgres://a@b/c?connect_timeout=3&sslmode=require",
                true,
                Some("/etc/ca.pem"),
            ),
        ] {
            let root_file = root_file.map(str::to_owned);
            assert_eq!(
                split(url),
                Ok(Address { url: expected.to_owned(), wants_tls, root_file }),
                "{url}"
            );
        }
        assert!(matches!(split("postgres://a@b/c?sslmode=maybe"), Err(StoreError::Config(_))));
    }

    #[test]
    fn a_missing_authority_file_is_an_error() {
        assert!(matches!(connector(Some("/nowhere/ca.pem")), Err(StoreError::Config(_))));
    }
}
