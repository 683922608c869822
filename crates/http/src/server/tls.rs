//! TLS for the server: certificate and key from PEM, ALPN for HTTP/2 and HTTP/1.1. Ring is the only
//! provider.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The certificate file is invalid.
    #[error("the TLS certificate is not PEM with at least one certificate")]
    Certificate,
    /// The key file is invalid.
    #[error("the TLS key is not PEM with a private key")]
    Key,
    /// Certificate and key do not match, or their kind is not supported.
    #[error("the TLS certificate and key cannot be used: {0}")]
    Unusable(#[from] rustls::Error),
}

/// A server's TLS settings from a certificate chain (leaf first) and its private key, both in PEM.
///
/// # Errors
/// Invalid PEM, or certificate and key do not match.
pub fn tls_config(certificates: &[u8], key: &[u8]) -> Result<Arc<ServerConfig>, TlsError> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificates).collect();
    let chain = chain.ok().filter(|chain| !chain.is_empty()).ok_or(TlsError::Certificate)?;
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| TlsError::Key)?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
