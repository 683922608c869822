//! One connection to an SFTP server: one request at a time, each with a time-out. After
//! [`Fault::Broken`] it has to be dropped: answers may be out of step.

use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::time::Duration;

use domain::characters::one_line;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::wire::{self, Answer, Attributes, Body};
use crate::place::{Entry, EntryKind};

/// Bytes per read or write: each server takes this many.
const CHUNK_BYTES: usize = 32 * 1024;
/// Greatest number of entries of a directory.
const MAX_ENTRIES: usize = 100_000;
/// Answers without a name that a listing may have.
const MAX_EMPTY_ANSWERS: usize = 16;
const POSIX_RENAME: &[u8] = b"posix-rename@openssh.com";
const FSYNC: &[u8] = b"fsync@openssh.com";
/// The type in a file's mode.
const TYPE_MASK: u32 = 0o170_000;
const TYPE_FILE: u32 = 0o100_000;
const TYPE_DIRECTORY: u32 = 0o040_000;

/// Why a request failed.
#[derive(Debug)]
pub(super) enum Fault {
    /// The server has answered: nothing more follows.
    Refused { code: u32, message: String },
    /// The connection is unusable, and the outcome of the request unknown.
    Broken(io::Error),
}

impl Fault {
    fn protocol(what: &str) -> Fault {
        Fault::Broken(io::Error::new(io::ErrorKind::ConnectionAborted, what.to_owned()))
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        Fault::Broken(io::Error::new(io::ErrorKind::ConnectionAborted, error))
    }
}

impl From<Fault> for io::Error {
    fn from(fault: Fault) -> io::Error {
        let (code, message) = match fault {
            Fault::Broken(error) => return error,
            Fault::Refused { code, message } => (code, message),
        };
        let kind = match code {
            wire::NO_SUCH_FILE => io::ErrorKind::NotFound,
            wire::PERMISSION_DENIED => io::ErrorKind::PermissionDenied,
            // Servers on Windows refuse a file that is open elsewhere with a mere failure.
            wire::FAILURE | wire::LOCK_CONFLICT => io::ErrorKind::ResourceBusy,
            wire::UNSUPPORTED => io::ErrorKind::Unsupported,
            wire::NO_CONNECTION | wire::CONNECTION_LOST => io::ErrorKind::ConnectionAborted,
            _ => io::ErrorKind::Other,
        };
        let text = one_line(&message, 120);
        let text = if text.is_empty() { "no reason given".to_owned() } else { text };
        io::Error::new(kind, format!("the server refused: {text} (status {code})"))
    }
}

pub(super) struct Session<S> {
    stream: S,
    timeout: Duration,
    last_id: u32,
    extensions: Vec<Vec<u8>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Session<S> {
    pub(super) async fn start(stream: S, timeout: Duration) -> Result<Session<S>, Fault> {
        let mut session = Session { stream, timeout, last_id: 0, extensions: Vec::new() };
        let init = Body(vec![wire::INIT]).number(wire::VERSION);
        match session.exchange(&init.0).await? {
            (_, Answer::Version { number, extensions }) if number >= wire::VERSION => {
                session.extensions = extensions;
                Ok(session)
            }
            (_, Answer::Version { number, .. }) => {
                Err(Fault::protocol(&format!("the server speaks SFTP version {number}, not 3")))
            }
            _ => Err(Fault::protocol("the server does not state its SFTP version")),
        }
    }

    /// Sends a packet and reads the next one.
    async fn exchange(&mut self, packet: &[u8]) -> Result<(u32, Answer), Fault> {
        let exchange = async {
            let length = u32::try_from(packet.len()).map_err(io::Error::other)?;
            self.stream.write_all(&length.to_be_bytes()).await?;
            self.stream.write_all(packet).await?;
            self.stream.flush().await?;
            let length = self.stream.read_u32().await? as usize;
            if length > wire::MAX_PACKET_BYTES {
                return Err(io::Error::other("a packet of the server is too large"));
            }
            let mut answer = vec![0; length];
            self.stream.read_exact(&mut answer).await?;
            wire::read(&answer)
                .ok_or_else(|| io::Error::other("a packet of the server is malformed"))
        };
        match tokio::time::timeout(self.timeout, exchange).await {
            Ok(answer) => Ok(answer?),
            Err(_) => Err(Fault::Broken(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("no answer within {} ms", self.timeout.as_millis()),
            ))),
        }
    }

    async fn request(&mut self, kind: u8, body: Body) -> Result<Answer, Fault> {
        self.last_id = self.last_id.wrapping_add(1);
        let mut packet = Body(vec![kind]).number(self.last_id).0;
        packet.extend(body.0);
        match self.exchange(&packet).await? {
            (id, _) if id != self.last_id => Err(Fault::protocol("an answer to another request")),
            (_, answer) => Ok(answer),
        }
    }

    async fn done(&mut self, kind: u8, body: Body) -> Result<(), Fault> {
        match self.request(kind, body).await? {
            Answer::Status { code: wire::OK, .. } => Ok(()),
            other => Err(refusal(other)),
        }
    }

    async fn handle(&mut self, kind: u8, body: Body) -> Result<Vec<u8>, Fault> {
        match self.request(kind, body).await? {
            Answer::Handle(handle) => Ok(handle),
            other => Err(refusal(other)),
        }
    }

    async fn attributes(&mut self, kind: u8, body: Body) -> Result<Attributes, Fault> {
        match self.request(kind, body).await? {
            Answer::Attributes(attributes) => Ok(attributes),
            other => Err(refusal(other)),
        }
    }

    /// Closes a handle, also after a refusal. A full disk may show only here.
    async fn close<T>(&mut self, handle: &[u8], outcome: Result<T, Fault>) -> Result<T, Fault> {
        if matches!(outcome, Err(Fault::Broken(_))) {
            return outcome;
        }
        let closed = self.done(wire::CLOSE, Body::default().bytes(handle)).await;
        let value = outcome?;
        closed.map(|()| value)
    }

    pub(super) async fn list(&mut self, dir: &[u8]) -> Result<Vec<Entry>, Fault> {
        let handle = self.handle(wire::OPENDIR, Body::default().bytes(dir)).await?;
        let entries = self.entries(&handle).await;
        let mut entries = self.close(&handle, entries).await?;
        let unsized_files =
            |entry: &&mut Entry| entry.kind == EntryKind::File && entry.size.is_none();
        for entry in entries.iter_mut().filter(unsized_files) {
            let path = [dir, b"/", entry.name.as_bytes()].concat();
            let attributes = self.attributes(wire::LSTAT, Body::default().bytes(&path)).await;
            entry.size = match attributes {
                // Another process has moved it since.
                Err(Fault::Refused { code: wire::NO_SUCH_FILE, .. }) => None,
                attributes => attributes?.size,
            };
        }
        Ok(entries)
    }

    async fn entries(&mut self, handle: &[u8]) -> Result<Vec<Entry>, Fault> {
        let (mut entries, mut listed, mut empty) = (Vec::new(), 0, 0);
        loop {
            match self.request(wire::READDIR, Body::default().bytes(handle)).await? {
                Answer::Names(names) => {
                    listed += names.len();
                    empty += usize::from(names.is_empty());
                    entries.extend(names.into_iter().filter_map(entry));
                }
                Answer::Status { code: wire::EOF, .. } => return Ok(entries),
                other => return Err(refusal(other)),
            }
            if listed > MAX_ENTRIES {
                let what = format!("a directory has more than {MAX_ENTRIES} entries");
                return Err(Fault::protocol(&what));
            }
            if empty > MAX_EMPTY_ANSWERS {
                let what = format!(
                    "the listing of a directory has more than {MAX_EMPTY_ANSWERS} answers without a name"
                );
                return Err(Fault::protocol(&what));
            }
        }
    }

    pub(super) async fn read(&mut self, path: &[u8], limit: usize) -> Result<Vec<u8>, Fault> {
        let open = Body::default().bytes(path).number(wire::OPEN_READ).number(0);
        let handle = self.handle(wire::OPEN, open).await?;
        let content = self.content(&handle, limit).await;
        self.close(&handle, content).await
    }

    async fn content(&mut self, handle: &[u8], limit: usize) -> Result<Vec<u8>, Fault> {
        let mut content = Vec::new();
        while content.len() < limit {
            let most = CHUNK_BYTES.min(limit - content.len());
            let read = Body::default()
                .bytes(handle)
                .offset(content.len() as u64)
                .number(u32::try_from(most).unwrap_or(u32::MAX));
            match self.request(wire::READ, read).await? {
                Answer::Data(data) if data.is_empty() || data.len() > most => {
                    return Err(Fault::protocol("a read has another length than asked for"));
                }
                Answer::Data(data) => content.extend(data),
                Answer::Status { code: wire::EOF, .. } => break,
                other => return Err(refusal(other)),
            }
        }
        Ok(content)
    }

    /// Creates a file and compares its size with what was written.
    pub(super) async fn create(&mut self, path: &[u8], content: &[u8]) -> Result<(), Fault> {
        let open = Body::default().bytes(path).number(wire::OPEN_NEW).number(0);
        let handle = self.handle(wire::OPEN, open).await?;
        let written = self.write(&handle, content).await;
        self.close(&handle, written).await
    }

    async fn write(&mut self, handle: &[u8], content: &[u8]) -> Result<(), Fault> {
        let mut offset = 0;
        for chunk in content.chunks(CHUNK_BYTES) {
            let write = Body::default().bytes(handle).offset(offset).bytes(chunk);
            self.done(wire::WRITE, write).await?;
            offset += chunk.len() as u64;
        }
        if self.offers(FSYNC) {
            self.done(wire::EXTENDED, Body::default().bytes(FSYNC).bytes(handle)).await?;
        }
        match self.attributes(wire::FSTAT, Body::default().bytes(handle)).await?.size {
            Some(size) if size != offset => {
                let message = format!("{size} of {offset} bytes were stored");
                Err(Fault::Refused { code: wire::FAILURE, message })
            }
            _ => Ok(()),
        }
    }

    pub(super) async fn rename(&mut self, from: &[u8], to: &[u8]) -> Result<(), Fault> {
        self.done(wire::RENAME, Body::default().bytes(from).bytes(to)).await
    }

    /// Renames, also where the name is taken: by the same message, which is complete.
    pub(super) async fn publish(&mut self, from: &[u8], to: &[u8]) -> Result<(), Fault> {
        if self.offers(POSIX_RENAME) {
            let rename = Body::default().bytes(POSIX_RENAME).bytes(from).bytes(to);
            return self.done(wire::EXTENDED, rename).await;
        }
        match self.rename(from, to).await {
            Err(refused @ Fault::Refused { .. }) => match self.look(to).await? {
                Some(EntryKind::File) => self.remove(from).await,
                _ => Err(refused),
            },
            renamed => renamed,
        }
    }

    /// What a path leads to; `None` if it does not exist.
    pub(super) async fn look(&mut self, path: &[u8]) -> Result<Option<EntryKind>, Fault> {
        match self.attributes(wire::LSTAT, Body::default().bytes(path)).await {
            Ok(attributes) => Ok(Some(kind_of(&attributes))),
            Err(Fault::Refused { code: wire::NO_SUCH_FILE, .. }) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    pub(super) async fn remove(&mut self, path: &[u8]) -> Result<(), Fault> {
        self.done(wire::REMOVE, Body::default().bytes(path)).await
    }

    pub(super) async fn create_dir(&mut self, path: &[u8]) -> Result<(), Fault> {
        self.done(wire::MKDIR, Body::default().bytes(path).number(0)).await
    }

    fn offers(&self, extension: &[u8]) -> bool {
        self.extensions.iter().any(|name| name == extension)
    }
}

fn refusal(answer: Answer) -> Fault {
    match answer {
        Answer::Status { code, message } if code != wire::OK => Fault::Refused { code, message },
        _ => Fault::protocol("an answer of another kind than the request's"),
    }
}

fn entry((name, attributes): (Vec<u8>, Attributes)) -> Option<Entry> {
    // A name is one component: anything else would lead out of the directory.
    if name == b"." || name == b".." || name.is_empty() || name.contains(&b'/') || name.contains(&0)
    {
        return None;
    }
    Some(Entry {
        name: std::ffi::OsString::from_vec(name),
        kind: kind_of(&attributes),
        size: attributes.size,
        modified: attributes.modified,
    })
}

/// A server that does not state the type is taken to have files only.
fn kind_of(attributes: &Attributes) -> EntryKind {
    match attributes.permissions.map_or(TYPE_FILE, |mode| mode & TYPE_MASK) {
        TYPE_FILE | 0 => EntryKind::File,
        TYPE_DIRECTORY => EntryKind::Directory,
        _ => EntryKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::DuplexStream;

    use super::*;

    /// A server that answers each request as `answer` says, with its kind, its id and its number.
    fn served(
        answer: impl Fn(u8, u32, usize) -> Vec<u8> + Send + 'static,
    ) -> impl Future<Output = Session<DuplexStream>> {
        let (ours, mut theirs) = tokio::io::duplex(64 * 1024);
        let serve = async move {
            let mut number = 0;
            while let Ok(length) = theirs.read_u32().await {
                let mut packet = vec![0; length as usize];
                theirs.read_exact(&mut packet).await.expect("a request");
                let id = packet.get(1..5).and_then(|id| id.try_into().ok()).map(u32::from_be_bytes);
                let answer = match packet[0] {
                    wire::INIT => Body(vec![2]).number(wire::VERSION).0,
                    kind => answer(kind, id.expect("an id"), number),
                };
                number += 1;
                let length = u32::try_from(answer.len()).expect("short");
                let sent = [length.to_be_bytes().as_slice(), &answer].concat();
                if theirs.write_all(&sent).await.is_err() {
                    return;
                }
            }
        };
        tokio::spawn(serve);
        async { Session::start(ours, Duration::from_secs(20)).await.expect("a session") }
    }

    fn status(id: u32, code: u32) -> Vec<u8> {
        Body(vec![101]).number(id).number(code).bytes(b"").bytes(b"").0
    }

    /// Names, with a size where there is one.
    fn names(id: u32, names: &[(&str, Option<u64>)]) -> Vec<u8> {
        let count = u32::try_from(names.len()).expect("few");
        names
            .iter()
            .fold(Body(vec![104]).number(id).number(count), |body, (name, size)| {
                let body = body.bytes(name.as_bytes()).bytes(b"");
                match size {
                    Some(size) => body.number(1).offset(*size),
                    None => body.number(0),
                }
            })
            .0
    }

    async fn listing(
        readdir: impl Fn(u32, usize) -> Vec<u8> + Send + 'static,
    ) -> Result<Vec<Entry>, String> {
        let mut session = served(move |kind, id, number| match kind {
            wire::OPENDIR => Body(vec![102]).number(id).bytes(b"h").0,
            wire::READDIR => readdir(id, number),
            wire::LSTAT => Body(vec![105]).number(id).number(1).offset(7).0,
            _ => status(id, wire::OK),
        })
        .await;
        session.list(b"in").await.map_err(|fault| io::Error::from(fault).to_string())
    }

    #[tokio::test]
    async fn a_listing_without_an_end_is_ended() {
        let named = |name| move |id, _| names(id, &vec![(name, Some(1)); 1_000]);
        let over = Err("a directory has more than 100000 entries".to_owned());
        assert_eq!(listing(named("a.xml")).await, over);
        assert_eq!(listing(named(".")).await, over, "names that are no entries count, too");
        let why = "the listing of a directory has more than 16 answers without a name";
        assert_eq!(listing(|id, _| names(id, &[])).await, Err(why.to_owned()));
    }

    #[tokio::test]
    async fn sizes_that_a_listing_lacks_are_asked_for() {
        let found = listing(|id, number| match number {
            2 => names(id, &[(".", None), ("a.xml", Some(3)), ("b.xml", None)]),
            _ => status(id, wire::EOF),
        })
        .await
        .expect("a listing");
        let sizes: Vec<_> = found.iter().map(|it| (it.name.to_str(), it.size)).collect();
        assert_eq!(sizes, [(Some("a.xml"), Some(3)), (Some("b.xml"), Some(7))]);
    }
}
