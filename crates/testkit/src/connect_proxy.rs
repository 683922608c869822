//! An HTTP proxy that opens tunnels (`CONNECT`), with its own idea of where names lead.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Maximum size of a request's head.
const HEAD_MAX_BYTES: usize = 16 * 1024;

/// A running proxy. Dropping it stops listening.
pub struct ConnectProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    routes: HashMap<String, SocketAddr>,
    /// `user:password` in Base64, if the proxy demands it.
    credentials: Option<String>,
    targets: Mutex<Vec<String>>,
}

impl ConnectProxy {
    /// Listens on any port of 127.0.0.1. `routes` are `host:port` and where that leads; other targets
    /// are dialled as they are. `credentials` are `user:password`.
    pub async fn start(
        routes: &[(&str, SocketAddr)],
        credentials: Option<&str>,
    ) -> std::io::Result<ConnectProxy> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let routes = routes.iter().map(|(target, to)| ((*target).to_owned(), *to)).collect();
        let credentials = credentials.map(|pair| STANDARD.encode(pair));
        let shared = Arc::new(Shared { routes, credentials, targets: Mutex::default() });
        let of_task = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(tunnel(stream, Arc::clone(&of_task)));
            }
        });
        Ok(ConnectProxy { address, shared, task })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The targets of the tunnels so far, as `host:port`.
    pub fn targets(&self) -> Vec<String> {
        self.shared.targets.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ConnectProxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn tunnel(mut stream: TcpStream, shared: Arc<Shared>) {
    let Some(head) = head(&mut stream).await else { return };
    let answer = match target(&head, &shared) {
        Err(status) => status,
        Ok(target) => {
            shared.targets.lock().unwrap_or_else(PoisonError::into_inner).push(target.clone());
            let upstream = match shared.routes.get(&target) {
                Some(route) => TcpStream::connect(route).await,
                None => TcpStream::connect(&target).await,
            };
            match upstream {
                Err(_) => "502 Bad Gateway",
                Ok(mut upstream) => {
                    let opened = b"HTTP/1.1 200 Connection established\r\n\r\n";
                    if stream.write_all(opened).await.is_ok() {
                        // Either side may hang up.
                        let _ended =
                            tokio::io::copy_bidirectional(&mut stream, &mut upstream).await;
                    }
                    return;
                }
            }
        }
    };
    let answer = format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    // The client may be gone.
    let _sent = stream.write_all(answer.as_bytes()).await;
}

/// Where a request wants to go, or the status that refuses it.
fn target(head: &str, shared: &Shared) -> Result<String, &'static str> {
    let mut lines = head.lines();
    let request = lines.next().unwrap_or_default();
    let Some(target) = request.strip_prefix("CONNECT ") else {
        return Err("405 Method Not Allowed");
    };
    let given = lines
        .filter_map(|line| line.split_once(": "))
        .find(|(name, _)| name.eq_ignore_ascii_case("proxy-authorization"))
        .and_then(|(_, value)| value.strip_prefix("Basic "));
    if shared.credentials.is_some() && given != shared.credentials.as_deref() {
        return Err("407 Proxy Authentication Required");
    }
    Ok(target.split(' ').next().unwrap_or_default().to_owned())
}

async fn head(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") && bytes.len() < HEAD_MAX_BYTES {
        bytes.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(bytes).ok()
}
