//! Connections that can be cut without an answer, and a listener that refuses while the bank is
//! down. Both are independent of the protocol.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Delay before a failed bind or accept is retried.
const RETRY_MILLIS: u64 = 20;

/// Cuts one connection: any later write closes it instead.
#[derive(Clone, Debug, Default)]
pub struct Cut(Arc<AtomicBool>);

impl Cut {
    pub fn cut(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::Acquire) {
            Err(io::ErrorKind::ConnectionAborted.into())
        } else {
            Ok(())
        }
    }
}

impl Connected<IncomingStream<'_, Door>> for Cut {
    fn connect_info(stream: IncomingStream<'_, Door>) -> Cut {
        stream.io().cut.clone()
    }
}

/// A TCP connection with its [`Cut`].
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    cut: Cut,
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.cut.check()?;
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.cut.check()?;
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The listener. While the bank is down its socket is closed, so that the system refuses
/// connections.
#[derive(Debug)]
pub struct Door {
    address: SocketAddr,
    socket: Option<TcpListener>,
    down: watch::Receiver<bool>,
}

impl Door {
    /// Binds `address`; port 0 selects any port and keeps it.
    pub async fn bind(address: SocketAddr, down: watch::Receiver<bool>) -> io::Result<Door> {
        let socket = TcpListener::bind(address).await?;
        Ok(Door { address: socket.local_addr()?, socket: Some(socket), down })
    }

    /// Address of the listener, also while it is down.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    async fn open(&mut self) -> io::Result<TcpListener> {
        if *self.down.borrow_and_update() {
            self.socket = None;
            // It cannot be reopened once the sender is gone.
            if self.down.wait_for(|down| !*down).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
        match self.socket.take() {
            Some(socket) => Ok(socket),
            None => TcpListener::bind(self.address).await,
        }
    }

    async fn next(&mut self) -> io::Result<Option<(TcpStream, SocketAddr)>> {
        let socket = self.open().await?;
        let socket = self.socket.insert(socket);
        tokio::select! {
            changed = self.down.changed() => match changed {
                Ok(()) => Ok(None),
                Err(_closed) => TcpListener::accept(socket).await.map(Some),
            },
            accepted = TcpListener::accept(socket) => accepted.map(Some),
        }
    }
}

impl Listener for Door {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        loop {
            match self.next().await {
                Ok(Some((stream, peer))) => match stream.set_nodelay(true) {
                    Ok(()) => return (Connection { stream, cut: Cut::default() }, peer),
                    Err(fault) => tracing::debug!(%fault, "simulated bank connection failed"),
                },
                Ok(None) => {}
                Err(fault) => {
                    tracing::warn!(%fault, "simulated bank failed to accept connections, will retry");
                    tokio::time::sleep(Duration::from_millis(RETRY_MILLIS)).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}
