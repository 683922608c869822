//! A TCP proxy between a client and PostgreSQL that breaks the connection at the critical point:
//! around a COMMIT.
//!
//! It parses the client's messages just far enough to detect a COMMIT (simple queries and prepared
//! statements alike), and changes nothing that it forwards. Only for connections without TLS.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Size of a read in bytes.
const CHUNK_BYTES: usize = 16 * 1_024;
/// Maximum size of a buffered message.
const MESSAGE_MAX_BYTES: usize = 64 << 20;
/// The server's completion tag of a commit.
const COMMITTED: &[u8] = b"COMMIT\0";

/// Where the connection breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Everything before the COMMIT is forwarded, the COMMIT is not: nothing is committed.
    Before,
    /// The COMMIT is forwarded and the connection breaks at once: the outcome is unknown.
    Behind,
    /// The COMMIT is forwarded and executed; its answer is lost.
    Answer,
}

struct Shared {
    upstream: SocketAddr,
    /// Planned cuts of the next commits, the last one first.
    planned: Mutex<Vec<Cut>>,
    cuts: AtomicU64,
    commits: AtomicU64,
    /// Incremented to break every open connection.
    broken: watch::Sender<u64>,
    /// Whether nothing is forwarded in either direction.
    frozen: watch::Sender<bool>,
    /// Whether the server's answers are held back.
    held: watch::Sender<bool>,
    /// How much later each of them arrives.
    delay: Mutex<Duration>,
}

/// A running proxy. Dropping it breaks every connection and stops listening.
pub struct Proxy {
    shared: Arc<Shared>,
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Proxy {
    /// Listens on any port of 127.0.0.1 and forwards everything to `upstream`.
    pub async fn start(upstream: SocketAddr) -> std::io::Result<Proxy> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            upstream,
            planned: Mutex::default(),
            cuts: AtomicU64::new(0),
            commits: AtomicU64::new(0),
            broken: watch::Sender::new(0),
            frozen: watch::Sender::new(false),
            held: watch::Sender::new(false),
            delay: Mutex::default(),
        });
        let task = tokio::spawn(accept(listener, shared.clone()));
        Ok(Proxy { shared, address, task })
    }

    /// Address of the listener.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Cuts the next commit, after those already planned.
    pub fn cut_next_commit(&self, cut: Cut) {
        self.shared.planned.lock().unwrap_or_else(PoisonError::into_inner).insert(0, cut);
    }

    /// Number of executed cuts.
    pub fn cuts(&self) -> u64 {
        self.shared.cuts.load(Ordering::Relaxed)
    }

    /// Number of observed commits, cut or not.
    pub fn commits(&self) -> u64 {
        self.shared.commits.load(Ordering::Relaxed)
    }

    /// Breaks every open connection now.
    pub fn cut_all(&self) {
        self.shared.broken.send_modify(|count| *count += 1);
    }

    /// While frozen, connections stay open and nothing is forwarded.
    pub fn freeze(&self, frozen: bool) {
        self.shared.frozen.send_replace(frozen);
    }

    /// While held back, the server gets and executes everything, and its answers do not arrive.
    pub fn hold_answers(&self, held: bool) {
        self.shared.held.send_replace(held);
    }

    /// Delays each of the server's answers from now on.
    pub fn delay_answers(&self, delay: Duration) {
        *self.shared.delay.lock().unwrap_or_else(PoisonError::into_inner) = delay;
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
        self.cut_all();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((client, _)) = listener.accept().await {
        tokio::spawn(line(client, shared.clone()));
    }
}

/// One connection, until either end closes it or it is broken.
async fn line(client: TcpStream, shared: Arc<Shared>) {
    let mut broken = shared.broken.subscribe();
    let relayed = async {
        let upstream = TcpStream::connect(shared.upstream).await?;
        // Small messages are sent at once: the proxy must not be slower than the connection.
        client.set_nodelay(true)?;
        upstream.set_nodelay(true)?;
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = upstream.into_split();
        // Set when the answer of a commit in progress must not be forwarded.
        let swallow = watch::Sender::new(false);
        let swallowing = swallow.subscribe();
        tokio::select! {
            ended = talk(from_client, to_server, &shared, &swallow) => ended,
            ended = answer(from_server, to_client, &shared, swallowing) => ended,
        }
    };
    tokio::select! {
        // However it ends, both sides are dropped and see it closed.
        _ended = relayed => {}
        _ = broken.changed() => {}
    }
}

/// Waits until a switch is off.
async fn is_off(switch: &watch::Sender<bool>) {
    // The sender is in `Shared`: it cannot be dropped first.
    let mut switched = switch.subscribe();
    let _gone = switched.wait_for(|on| !*on).await;
}

/// The client's messages, one by one.
async fn talk(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    shared: &Shared,
    swallow: &watch::Sender<bool>,
) -> std::io::Result<()> {
    let mut reader = Reader::default();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let count = from.read(&mut chunk).await?;
        if count == 0 {
            return Ok(());
        }
        is_off(&shared.frozen).await;
        reader.push(chunk.get(..count).unwrap_or_default())?;
        while let Some((message, commits)) = reader.next() {
            if !commits {
                to.write_all(&message).await?;
                continue;
            }
            shared.commits.fetch_add(1, Ordering::Relaxed);
            let cut = shared.planned.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match cut {
                None => to.write_all(&message).await?,
                Some(cut) => {
                    shared.cuts.fetch_add(1, Ordering::Relaxed);
                    if cut == Cut::Before {
                        return Ok(());
                    }
                    swallow.send_replace(cut == Cut::Answer);
                    to.write_all(&message).await?;
                    // The messages sent with it make the server execute it.
                    to.write_all(&reader.rest()).await?;
                    if cut == Cut::Behind {
                        return Ok(());
                    }
                    // `answer` ends the connection once the server has confirmed the commit.
                    return tokio::io::copy(&mut from, &mut to).await.map(|_| ());
                }
            }
        }
    }
}

/// The server's messages; nothing more is forwarded once a commit's answer is to be lost.
async fn answer(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    shared: &Shared,
    swallowing: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut swallowed = Vec::new();
    loop {
        let count = from.read(&mut chunk).await?;
        if count == 0 {
            return Ok(());
        }
        is_off(&shared.frozen).await;
        is_off(&shared.held).await;
        let delay = *shared.delay.lock().unwrap_or_else(PoisonError::into_inner);
        tokio::time::sleep(delay).await;
        let bytes = chunk.get(..count).unwrap_or_default();
        if !*swallowing.borrow() {
            to.write_all(bytes).await?;
            continue;
        }
        swallowed.extend_from_slice(bytes);
        if swallowed.windows(COMMITTED.len()).any(|window| window == COMMITTED) {
            return Ok(());
        }
    }
}

/// Splits the client's bytes into messages and detects the COMMIT among them.
#[derive(Default)]
struct Reader {
    bytes: Vec<u8>,
    started: bool,
    /// Names of prepared statements that commit.
    commits: HashSet<Vec<u8>>,
}

impl Reader {
    fn push(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.bytes.extend_from_slice(bytes);
        let endless = self.bytes.len() > MESSAGE_MAX_BYTES;
        if endless { Err(std::io::Error::other("a message without end")) } else { Ok(()) }
    }

    /// The next complete message, and whether it makes the server commit.
    fn next(&mut self) -> Option<(Vec<u8>, bool)> {
        // The first message has no type.
        let head = usize::from(self.started);
        let length: [u8; 4] = self.bytes.get(head..head + 4)?.try_into().ok()?;
        let whole = head + usize::try_from(u32::from_be_bytes(length)).ok()?;
        if self.bytes.len() < whole.max(head + 4) {
            return None;
        }
        let rest = self.bytes.split_off(whole.max(head + 4));
        let message = std::mem::replace(&mut self.bytes, rest);
        if !self.started {
            self.started = true;
            return Some((message, false));
        }
        let commits = self.commits(&message);
        Some((message, commits))
    }

    fn commits(&mut self, message: &[u8]) -> bool {
        let (kind, body) = (message.first().copied(), message.get(5..).unwrap_or_default());
        let mut texts = body.split(|byte| *byte == 0);
        let (first, second) = (texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
        match kind {
            // Query: the text.
            Some(b'Q') => is_commit(first),
            // Parse: the statement's name, its text.
            Some(b'P') => {
                if is_commit(second) {
                    self.commits.insert(first.to_vec());
                } else {
                    self.commits.remove(first);
                }
                false
            }
            // Bind: the portal's name, the statement's.
            Some(b'B') => self.commits.contains(second),
            _ => false,
        }
    }

    /// Everything after the last message.
    fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

fn is_commit(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    text.strip_suffix(b";").unwrap_or(text).eq_ignore_ascii_case(b"COMMIT")
}

#[cfg(test)]
mod tests;
