//! Why a request has no answer, and whether it can have arrived.

use std::error::Error;
use std::time::Duration;

use rustls::AlertDescription;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The request certainly did not arrive.
    #[error("{0}")]
    NotSent(String),
    /// The request may have arrived.
    #[error("{0}")]
    Unclear(String),
    /// Not sent: the server asked for a pause.
    #[error("not sent: it answered {status} and asked for a pause, which ends in {} s", left.as_secs().max(1))]
    Paused { status: u16, left: Duration },
}

impl Fault {
    pub const fn was_not_sent(&self) -> bool {
        matches!(self, Fault::NotSent(_) | Fault::Paused { .. })
    }
}

/// An error with all its causes.
pub fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        // Several libraries repeat their cause in their own message.
        let next_text = next.to_string();
        if !text.ends_with(&next_text) {
            text = format!("{text}: {next_text}");
        }
        cause = next.source();
    }
    text
}

/// Whether the request cannot have been read: no connection, or a server that ended the handshake
/// because of our certificate. In TLS 1.3 the latter arrives after the request has left, but a server
/// reads no request before its handshake is complete.
pub(super) fn cannot_have_arrived(error: &reqwest::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(next) = cause {
        let inner = next.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let tls = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>());
        if let Some(rustls::Error::AlertReceived(alert)) = tls.or(next.downcast_ref())
            && is_about_our_certificate(*alert)
        {
            return true;
        }
        cause = next.source();
    }
    error.is_connect() || error.is_builder()
}

const fn is_about_our_certificate(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::AccessDenied
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateRequired
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateUnknown
            | AlertDescription::DecryptError
            | AlertDescription::UnknownCA
            | AlertDescription::UnsupportedCertificate
    )
}
