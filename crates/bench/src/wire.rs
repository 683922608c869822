//! Minimal HTTP/1.1 over one persistent connection: a request is one write, an answer usually one
//! read. General HTTP clients cost as much per request as the server under test; this one knows
//! only that server's answers.

use std::io::Write as _;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Maximum size of an answer.
const ANSWER_MAX_BYTES: usize = 16 * 1024 * 1024;
const HEAD_END: &[u8] = b"\r\n\r\n";

/// Why no answer was received.
#[derive(Debug, thiserror::Error)]
pub(super) enum WireError {
    /// The connection could not be opened, or broke.
    #[error("connection: {0}")]
    Connection(#[from] std::io::Error),
    /// The server closed it in the middle of an answer.
    #[error("the connection was closed before the answer was complete")]
    Closed,
    /// An answer that this server would not send.
    #[error("an answer that is not HTTP/1.1 with a content-length")]
    Malformed,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Answer<'a> {
    pub(super) status: u16,
    pub(super) body: &'a [u8],
}

pub(super) struct Connection {
    stream: TcpStream,
    host: String,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Connection {
    pub(super) async fn open(address: SocketAddr) -> Result<Connection, WireError> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (request, answer) = (Vec::with_capacity(4_096), Vec::with_capacity(8_192));
        Ok(Connection { stream, host: address.to_string(), request, answer })
    }

    /// Sends a signed POST and reads its answer.
    pub(super) async fn post(
        &mut self,
        path: &str,
        token: &str,
        body: &[u8],
    ) -> Result<Answer<'_>, WireError> {
        self.request.clear();
        write!(
            self.request,
            "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n",
            self.host,
            body.len()
        )?;
        self.request.extend_from_slice(body);
        self.exchange().await
    }

    /// Sends a GET and reads its answer.
    pub(super) async fn get(&mut self, path: &str) -> Result<Answer<'_>, WireError> {
        self.request.clear();
        write!(self.request, "GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", self.host)?;
        self.exchange().await
    }

    /// Same with a token.
    pub(super) async fn get_signed(
        &mut self,
        path: &str,
        token: &str,
    ) -> Result<Answer<'_>, WireError> {
        self.get_with(path, &format!("authorization: Bearer {token}")).await
    }

    /// Same with one more header.
    pub(super) async fn get_with(
        &mut self,
        path: &str,
        header: &str,
    ) -> Result<Answer<'_>, WireError> {
        self.request.clear();
        write!(self.request, "GET {path} HTTP/1.1\r\nhost: {}\r\n{header}\r\n\r\n", self.host)?;
        self.exchange().await
    }

    async fn exchange(&mut self) -> Result<Answer<'_>, WireError> {
        self.stream.write_all(&self.request).await?;
        self.answer.clear();
        loop {
            if self.stream.read_buf(&mut self.answer).await? == 0 {
                return Err(WireError::Closed);
            }
            if let Some(head) = head_of(&self.answer)? {
                self.rest(head.total).await?;
                return Ok(Answer { status: head.status, body: &self.answer[head.body_at..] });
            }
        }
    }

    async fn rest(&mut self, total: usize) -> Result<(), WireError> {
        while self.answer.len() < total {
            if self.stream.read_buf(&mut self.answer).await? == 0 {
                return Err(WireError::Closed);
            }
        }
        // Requests are not pipelined, so nothing may follow.
        if self.answer.len() == total { Ok(()) } else { Err(WireError::Malformed) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head {
    status: u16,
    body_at: usize,
    total: usize,
}

/// The head of an answer; `None` while it is incomplete.
fn head_of(answer: &[u8]) -> Result<Option<Head>, WireError> {
    let Some(end) = answer.windows(HEAD_END.len()).position(|bytes| bytes == HEAD_END) else {
        return if answer.len() < ANSWER_MAX_BYTES { Ok(None) } else { Err(WireError::Malformed) };
    };
    let head = std::str::from_utf8(&answer[..end]).map_err(|_| WireError::Malformed)?;
    let mut lines = head.split("\r\n");
    let status =
        lines.next().and_then(|line| line.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok());
    let length = |line: &str| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())
            .flatten()
    };
    let length = lines.find_map(length).filter(|length| *length <= ANSWER_MAX_BYTES);
    let (Some(status), Some(length)) = (status, length) else { return Err(WireError::Malformed) };
    let body_at = end + HEAD_END.len();
    Ok(Some(Head { status, body_at, total: body_at + length }))
}

/// The text between `"name":"` and the next quote in an answer, or the number after `"name":`.
pub(super) fn field<'a>(body: &'a [u8], name: &str) -> Option<&'a str> {
    let body = std::str::from_utf8(body).ok()?;
    let (at, _) = body
        .match_indices(name)
        .find(|(at, _)| body[..*at].ends_with('"') && body[at + name.len()..].starts_with("\":"))?;
    let value = &body[at + name.len() + 2..];
    match value.strip_prefix('"') {
        Some(text) => text.split('"').next(),
        None => value.split([',', '}']).next(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_when_it_is_complete() {
        let answer =
            b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nContent-Length: 2\r\n\r\n{}";
        for cut in 0..answer.len() - 2 {
            assert_eq!(head_of(&answer[..cut]).expect("no fault"), None, "{cut}");
        }
        let head = head_of(answer).expect("no fault").expect("a head");
        assert_eq!(
            (head.status, &answer[head.body_at..], head.total),
            (503, &b"{}"[..], answer.len())
        );
    }

    #[test]
    fn unsupported_answers_are_refused() {
        for answer in [
            "HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
            "HTTP/1.1 2\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n",
        ] {
            assert!(matches!(head_of(answer.as_bytes()), Err(WireError::Malformed)), "{answer:?}");
        }
    }

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let body =
            br#"{"quote_id":"no","id":"6f0c","amount_destination":37912.05,"amount":500,"last":1}"#;
        for (name, value) in [
            ("id", Some("6f0c")),
            ("amount_destination", Some("37912.05")),
            ("amount", Some("500")),
            ("last", Some("1")),
            ("x", None),
        ] {
            assert_eq!(field(body, name), value, "{name}");
        }
    }
}
