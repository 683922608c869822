//! TLS in front of a plain server on this machine: decrypts and forwards, and may demand a client
//! certificate. The certificates are the test's own.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::time_provider::TimeProvider;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};

/// PEM texts of the certificates that a front uses.
pub struct FrontCertificates<'a> {
    pub certificate: &'a str,
    pub key: &'a str,
    /// The authority of the client certificates that are demanded; `None` = none are.
    pub client_authority: Option<&'a str>,
}

/// A running front. Dropping it stops listening.
pub struct TlsFront {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Shared {
    clients: Mutex<Vec<Vec<u8>>>,
    /// Number of handshakes that failed.
    refused: AtomicU64,
    /// How far its clock is ahead, in seconds.
    ahead_s: AtomicU64,
    hang_up: Notify,
}

impl TimeProvider for Shared {
    fn current_time(&self) -> Option<UnixTime> {
        let now = Duration::from_secs(UnixTime::now().as_secs());
        let ahead = Duration::from_secs(self.ahead_s.load(Ordering::SeqCst));
        Some(UnixTime::since_unix_epoch(now + ahead))
    }
}

impl TlsFront {
    /// Listens on any port of 127.0.0.1 and forwards to `upstream`.
    pub async fn start(
        certificates: &FrontCertificates<'_>,
        upstream: SocketAddr,
    ) -> std::io::Result<TlsFront> {
        let shared = Arc::<Shared>::default();
        let mut config = server_config(certificates).map_err(std::io::Error::other)?;
        config.time_provider = shared.clone();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let of_task = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(forward(stream, acceptor.clone(), upstream, Arc::clone(&of_task)));
            }
        });
        Ok(TlsFront { address, shared, task })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The client certificates of the connections so far, in DER.
    pub fn clients(&self) -> Vec<Vec<u8>> {
        self.shared.clients.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of handshakes that failed.
    pub fn refused(&self) -> u64 {
        self.shared.refused.load(Ordering::SeqCst)
    }

    /// Advances its clock, by which it judges certificates, and closes all connections.
    pub fn pass(&self, time: Duration) {
        self.shared.ahead_s.fetch_add(time.as_secs(), Ordering::SeqCst);
        self.shared.hang_up.notify_waiters();
    }
}

impl Drop for TlsFront {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Fault = Box<dyn std::error::Error + Send + Sync>;

fn server_config(certificates: &FrontCertificates<'_>) -> Result<ServerConfig, Fault> {
    let FrontCertificates { certificate, key, client_authority } = certificates;
    let provider = Arc::new(ring::default_provider());
    let chain = CertificateDer::pem_slice_iter(certificate.as_bytes());
    let chain = chain.collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes())?;
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let builder = match client_authority {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from_pem_slice(authority.as_bytes())?)?;
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build()?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut config = builder.with_single_cert(chain, key)?;
    // A resumed session would not check the client certificate again.
    config.send_tls13_tickets = 0;
    Ok(config)
}

async fn forward(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    upstream: SocketAddr,
    shared: Arc<Shared>,
) {
    let hang_up = shared.hang_up.notified();
    let mut stream = match acceptor.accept(stream).into_fallible().await {
        Ok(stream) => stream,
        Err((_, mut refused)) => {
            shared.refused.fetch_add(1, Ordering::SeqCst);
            // The client sees why: a connection closed with unread bytes would lose the alert.
            let _ended = tokio::io::copy(&mut refused, &mut tokio::io::sink()).await;
            return;
        }
    };
    let (_, connection) = stream.get_ref();
    if let Some(client) = connection.peer_certificates().and_then(|chain| chain.first()) {
        shared.clients.lock().unwrap_or_else(PoisonError::into_inner).push(client.to_vec());
    }
    if let Ok(mut upstream) = TcpStream::connect(upstream).await {
        tokio::select! {
            // Either side may hang up.
            _ = tokio::io::copy_bidirectional(&mut stream, &mut upstream) => {}
            () = hang_up => {}
        }
    }
}
