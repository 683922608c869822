//! Scans the lines of an HTTP/1 connection for a request with duplicate framing, which hyper
//! silently accepts.
//!
//! Bodies are scanned like heads: no honest client sends two lines of one paragraph that start with
//! the name of a framing header.

/// The preface of HTTP/2 (RFC 9113, section 3.4).
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Bytes of a line that are kept: enough for the method, a host and the beginning of the path.
const LINE_KEPT_BYTES: usize = 384;
const SCHEMES: [&[u8]; 2] = [b"http://", b"https://"];
const FRAMING_HEADERS: [&[u8]; 2] = [b"content-length:", b"transfer-encoding:"];

/// The result of the scan so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Fine,
    /// The connection uses HTTP/2.
    Http2,
    /// Two Content-Length or Transfer-Encoding headers in one head (RFC 9112, section 6.3).
    FramedTwice,
}

#[derive(Debug, Default)]
pub(super) struct Scanner {
    /// Matched bytes of the preface; `None` after a mismatch.
    preface: Preface,
    line: Vec<u8>,
    /// The first line after the last empty one: the request line of a head.
    first_line: Vec<u8>,
    /// The request line of the last head that is complete.
    finished: Vec<u8>,
    framings: u8,
    /// Bytes of `line`, of `first_line` and of `finished`, with those that are not kept.
    line_bytes: usize,
    first_line_bytes: usize,
    finished_bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Preface {
    Matches(usize),
    Differs,
}

impl Default for Preface {
    fn default() -> Preface {
        Preface::Matches(0)
    }
}

impl Scanner {
    pub(super) fn read(&mut self, bytes: &[u8]) -> Seen {
        for byte in bytes {
            if self.match_preface(*byte) {
                return Seen::Http2;
            }
            if *byte != b'\n' {
                self.line_bytes = self.line_bytes.saturating_add(1);
                if self.line.len() < LINE_KEPT_BYTES {
                    self.line.push(*byte);
                }
                continue;
            }
            self.end_line();
            if self.framings > 1 {
                return Seen::FramedTwice;
            }
        }
        Seen::Fine
    }

    /// Whether the bytes so far may still become HTTP/2's preface.
    pub(super) const fn may_be_http2(&self) -> bool {
        matches!(self.preface, Preface::Matches(_))
    }

    /// The path of the request whose head is being read, as far as received.
    pub(super) fn path(&self) -> String {
        path_in(self.newest_line())
    }

    /// The path of the request that hyper answers by itself: that of the newest head, even if bytes
    /// of its body follow.
    pub(super) fn answered_path(&self) -> String {
        path_in(if self.answers_newest() { self.newest_line() } else { &self.finished })
    }

    /// The bytes of the request line of the request that hyper answers by itself.
    pub(super) fn answered_line_bytes(&self) -> usize {
        match (self.answers_newest(), self.first_line.is_empty()) {
            (false, _) => self.finished_bytes,
            (true, false) => self.first_line_bytes,
            (true, true) => self.line_bytes,
        }
    }

    fn answers_newest(&self) -> bool {
        self.finished.is_empty() || is_request_line(self.newest_line())
    }

    fn newest_line(&self) -> &[u8] {
        if self.first_line.is_empty() { &self.line } else { &self.first_line }
    }

    fn match_preface(&mut self, byte: u8) -> bool {
        if let Preface::Matches(count) = self.preface {
            let matches = PREFACE.get(count) == Some(&byte);
            self.preface = if matches { Preface::Matches(count + 1) } else { Preface::Differs };
        }
        self.preface == Preface::Matches(PREFACE.len())
    }

    fn end_line(&mut self) {
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        if line.is_empty() {
            if is_request_line(&self.first_line) {
                std::mem::swap(&mut self.finished, &mut self.first_line);
                self.finished_bytes = self.first_line_bytes;
            }
            self.first_line.clear();
            self.framings = 0;
        } else if self.first_line.is_empty() {
            self.first_line = line.to_vec();
            self.first_line_bytes = self.line_bytes;
        } else {
            let begins = |name: &&[u8]| {
                line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
            };
            self.framings += u8::from(FRAMING_HEADERS.iter().any(begins));
        }
        self.line.clear();
        self.line_bytes = 0;
    }
}

/// The request target in a line.
fn target_in(line: &[u8]) -> &[u8] {
    line.split(|byte| *byte == b' ').nth(1).unwrap_or_default()
}

/// What follows the scheme, if the target has one.
fn without_scheme(target: &[u8]) -> Option<&[u8]> {
    SCHEMES.iter().find_map(|scheme| {
        let (start, rest) = target.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    })
}

/// The path in a request line, without authority and query.
fn path_in(line: &[u8]) -> String {
    let target = target_in(line);
    let path = match without_scheme(target) {
        Some(rest) => &rest[rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len())..],
        None => target,
    };
    let path = path.split(|byte| *byte == b'?').next().unwrap_or_default();
    String::from_utf8_lossy(path).into_owned()
}

/// Whether a line looks like the beginning of a head, not like a part of a body.
fn is_request_line(line: &[u8]) -> bool {
    let method = line.split(|byte| *byte == b' ').next().unwrap_or_default();
    let target = target_in(line);
    !method.is_empty()
        && method.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
        && (target.starts_with(b"/") || without_scheme(target).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(bytes: &[u8]) -> Seen {
        // Byte by byte, because lines may arrive in any pieces.
        let mut scanner = Scanner::default();
        bytes
            .iter()
            .map(|byte| scanner.read(&[*byte]))
            .find(|seen| *seen != Seen::Fine)
            .unwrap_or(Seen::Fine)
    }

    #[test]
    fn a_head_that_is_framed_twice_is_seen_and_two_requests_are_not() {
        for framing in [
            "Content-Length: 1\r\nTransfer-Encoding: chunked",
            "TRANSFER-ENCODING: chunked\r\nx: y\r\ncontent-length: 1",
            "transfer-encoding: chunked\ntransfer-encoding: chunked",
            "content-length:1\r\ncontent-length:1",
        ] {
            let request = format!("POST / HTTP/1.1\r\nhost: x\r\n{framing}\r\n\r\n");
            assert_eq!(seen(request.as_bytes()), Seen::FramedTwice, "{framing}");
        }
        let one = "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}";
        assert_eq!(seen(format!("{one}{one}\r\n{one}").as_bytes()), Seen::Fine);
        assert_eq!(
            seen(b"GET /content-length: HTTP/1.1\r\nx-content-length: 1\r\ncontent-length: 0\r\n\r\n"),
            Seen::Fine
        );
    }

    fn read(pieces: &[&str]) -> Scanner {
        let mut scanner = Scanner::default();
        for piece in pieces {
            scanner.read(piece.as_bytes());
        }
        scanner
    }

    #[test]
    fn an_answer_is_about_the_newest_head_and_not_its_body() {
        const V1: &str = "POST /v1/sdk/x HTTP/1.1\r\nhost: x\r\n";
        for (pieces, path) in [
            (&["POST /v1/sdk/x"][..], "/v1/sdk/x"),
            (&[V1], "/v1/sdk/x"),
            (&[V1, "\r\n"], "/v1/sdk/x"),
            (&[V1, "\r\n", "{\r\n\"url\": \"/v2/y\"}\r\n\r\n{"], "/v1/sdk/x"),
            (&[V1, "\r\n", "a: /v2/y\n"], "/v1/sdk/x"),
            (&[V1, "\r\n", "GET /v2/y HTTP/1.1\r\n"], "/v2/y"),
            (&[V1, "\r\n", "GET /v2/y HTTP/1.1\r\n\r\n"], "/v2/y"),
            (&[V1, "\r\n", "GET /v2/y"], "/v2/y"),
            (&["nonsense\r\n\r\n"], ""),
        ] {
            assert_eq!(read(pieces).answered_path(), path, "{pieces:?}");
        }
        let next = read(&[V1, "\r\n", "GET /v2/y HTTP"]);
        assert_eq!(next.path(), "/v2/y");
        assert_eq!(read(&[V1, "\r\n"]).path(), "");
    }

    #[test]
    fn a_path_has_no_scheme_authority_or_query() {
        for (target, path) in [
            ("http://host/v1/sdk/x", "/v1/sdk/x"),
            ("HTTPS://host:1/v1/sdk/x?y=/z", "/v1/sdk/x"),
            ("http://host", ""),
            ("/v1/sdk?x", "/v1/sdk"),
            ("/http://host/x", "/http://host/x"),
            ("*", "*"),
        ] {
            assert_eq!(read(&[&format!("GET {target} HTTP/1.1\r\n")]).path(), path, "{target}");
        }
        let host = "a".repeat(253);
        let far = format!("DELETE https://{host}:65535/v1/sdk/wallets/x HTTP/1.1\r\n");
        assert_eq!(read(&[&far]).path(), "/v1/sdk/wallets/x");
    }

    #[test]
    fn http_2_is_known_by_its_preface_alone() {
        assert_eq!(seen(PREFACE), Seen::Http2);
        assert_eq!(seen(&PREFACE[..23]), Seen::Fine);
        let mut scanner = Scanner::default();
        scanner.read(b"PRI /v1/sdk/x HTTP/1.1\r\nhost: x\r\n");
        assert!(!scanner.may_be_http2());
        assert_eq!(scanner.path(), "/v1/sdk/x");
    }
}
