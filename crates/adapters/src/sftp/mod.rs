//! Files on a server that is reached over SSH (SFTP version 3). One connection, made when it is needed
//! and made again after it broke. A request is never repeated: a broken connection leaves its outcome to
//! the caller.

mod connect;
#[cfg(any(test, feature = "fuzz"))]
pub(crate) mod fuzz;
mod session;
mod wire;

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use russh::ChannelStream;
use russh::client::Msg;
use russh::keys::PrivateKey;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::runtime::Handle;
use tokio::sync::Mutex;

use crate::place::{Entry, EntryKind, Place};
use connect::Connection;
#[cfg(test)]
pub(crate) use connect::Refusal;
pub(crate) use connect::refusal;
use session::{Fault, Session};

/// A file or a listing takes many requests: all of them together may take this many times the time-out
/// of one.
const MAX_TIMEOUTS: u32 = 30;

/// How a server is reached.
#[derive(Clone, Debug)]
pub struct Settings {
    pub host: String,
    pub port: u16,
    pub user: String,
    /// A private key in OpenSSH's format, read at each connection.
    pub key_file: Option<PathBuf>,
    pub key_passphrase: Option<SecretString>,
    pub password: Option<SecretString>,
    /// Fingerprints of the server's keys, `SHA256:` and base64 without padding.
    pub host_keys: Vec<String>,
    pub connect_timeout: Duration,
    /// For the answer to one request.
    pub request_timeout: Duration,
}

impl Settings {
    /// Checks that the key can be read. Blocking.
    pub(crate) fn check(&self) -> io::Result<()> {
        self.private_key().map(drop)
    }

    /// The key of the login, if one is configured. Blocking.
    fn private_key(&self) -> io::Result<Option<PrivateKey>> {
        let Some(path) = &self.key_file else { return Ok(None) };
        let passphrase = self.key_passphrase.as_ref().map(|it| it.expose_secret());
        connect::private_key(path, passphrase).map(Some).map_err(|error| {
            io::Error::new(error.kind(), format!("key_file {}: {error}", path.display()))
        })
    }

    fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

/// Whether a text is the fingerprint of a key.
pub fn is_fingerprint(text: &str) -> bool {
    use std::str::FromStr as _;
    text.starts_with("SHA256:") && russh::keys::ssh_key::Fingerprint::from_str(text).is_ok()
}

/// A server's files. Its functions block: they are for threads that may, inside a runtime.
pub(crate) struct Server {
    settings: Settings,
    kept: Mutex<Option<Kept>>,
}

/// A connection that is used again. It ends when it is dropped.
struct Kept {
    session: Session<ChannelStream<Msg>>,
    connection: Connection,
}

impl Server {
    pub(crate) fn new(settings: Settings) -> Server {
        Server { settings, kept: Mutex::default() }
    }

    fn run<T>(
        &self,
        work: impl AsyncFnOnce(&mut Session<ChannelStream<Msg>>) -> Result<T, Fault>,
    ) -> io::Result<T> {
        Handle::current().block_on(async {
            let mut place = self.kept.lock().await;
            let mut kept = match place.take().filter(|kept| !kept.connection.is_closed()) {
                Some(kept) => kept,
                None => {
                    let (stream, connection) = connect::connect(&self.settings).await?;
                    let session = Session::start(stream, self.settings.request_timeout).await?;
                    Kept { session, connection }
                }
            };
            let most = self.settings.request_timeout * MAX_TIMEOUTS;
            let outcome = match tokio::time::timeout(most, work(&mut kept.session)).await {
                Ok(outcome) => outcome,
                Err(_) => Err(endless(most)),
            };
            if !matches!(outcome, Err(Fault::Broken(_))) {
                *place = Some(kept);
            }
            Ok(outcome?)
        })
    }
}

/// A server that answers every request in time, and never comes to the end.
fn endless(most: Duration) -> Fault {
    let why = format!("a directory or a file has no end within {} s", most.as_secs());
    Fault::Broken(io::Error::new(io::ErrorKind::TimedOut, why))
}

fn wire_path(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

impl Place for Server {
    fn connect(&self) -> io::Result<()> {
        self.run(async |_| Ok(()))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Entry>> {
        self.run(async |session| session.list(wire_path(dir)).await)
    }

    fn read(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>> {
        self.run(async |session| session.read(wire_path(path), limit).await)
    }

    fn create(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        self.run(async |session| session.create(wire_path(path), content).await)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.run(async |session| session.rename(wire_path(from), wire_path(to)).await)
    }

    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.run(async |session| session.publish(wire_path(from), wire_path(to)).await)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.run(async |session| Ok(session.look(wire_path(path)).await?.is_some()))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.run(async |session| session.remove(wire_path(path)).await)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.run(async |session| match session.create_dir(wire_path(path)).await {
            Err(refused @ Fault::Refused { .. }) => match session.look(wire_path(path)).await? {
                Some(EntryKind::Directory) => Ok(()),
                _ => Err(refused),
            },
            created => created,
        })
    }
}
