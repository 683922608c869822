//! `GET /v2/events` read line by line: one JSON object a line, blank lines as heartbeat.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::ClientError;

/// Maximum length of a line, in bytes.
const MAX_LINE_BYTES: usize = 1024 * 1024;
/// A stream without data for this long, not even a heartbeat (every 15 s), is dead.
const SILENCE: Duration = Duration::from_secs(45);

/// One event of the log.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its sequence number in the tenant's log.
    pub seq: u64,
    /// The event's type, as in `payment.succeeded`.
    pub kind: String,
    /// `data`, as JSON: the payment record or quote.
    pub data: String,
    /// The whole line as received.
    pub line: String,
}

#[derive(Deserialize)]
struct Envelope {
    seq: u64,
    #[serde(rename = "type")]
    kind: String,
    data: Box<RawValue>,
}

/// An open stream of events.
#[derive(Debug)]
pub struct EventStream {
    response: reqwest::Response,
    lines: LineBuffer,
}

impl EventStream {
    pub(super) fn new(response: reqwest::Response) -> EventStream {
        EventStream { response, lines: LineBuffer::default() }
    }

    /// The next event; `None` when the server ended the stream. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Option<Event>, ClientError> {
        loop {
            while let Some(line) = self.lines.take_line()? {
                if !line.trim().is_empty() {
                    return parse(&line).map(Some);
                }
            }
            let chunk = tokio::time::timeout(SILENCE, self.response.chunk())
                .await
                .map_err(|_| lost("fell silent"))?;
            match chunk {
                Ok(Some(bytes)) => self.lines.push(&bytes)?,
                Ok(None) => return Ok(None),
                Err(error) => return Err(lost(&error.to_string())),
            }
        }
    }
}

fn lost(why: &str) -> ClientError {
    ClientError::Unavailable { message: format!("event stream: {why}"), repeat: true }
}

fn parse(line: &str) -> Result<Event, ClientError> {
    let envelope: Envelope = serde_json::from_str(line)
        .map_err(|error| lost(&format!("a line that is not an event: {error}")))?;
    Ok(Event {
        seq: envelope.seq,
        kind: envelope.kind,
        data: envelope.data.get().to_owned(),
        line: line.trim().to_owned(),
    })
}

/// Bytes that are not split into lines yet.
#[derive(Debug, Default)]
struct LineBuffer {
    bytes: Vec<u8>,
    /// The offset up to which there is certainly no line end.
    searched: usize,
}

impl LineBuffer {
    fn push(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        self.bytes.extend_from_slice(bytes);
        let endless = self.bytes.len() > MAX_LINE_BYTES && !self.bytes.contains(&b'\n');
        if endless { Err(lost("a line that is too long")) } else { Ok(()) }
    }

    fn take_line(&mut self) -> Result<Option<String>, ClientError> {
        let Some(end) = self.bytes[self.searched..].iter().position(|byte| *byte == b'\n') else {
            self.searched = self.bytes.len();
            return Ok(None);
        };
        let rest = self.bytes.split_off(self.searched + end + 1);
        let line = std::mem::replace(&mut self.bytes, rest);
        self.searched = 0;
        String::from_utf8(line).map(Some).map_err(|_| lost("a line that is not UTF-8"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_survive_any_cut_of_the_stream() {
        let text = "{\"seq\":1}\n\n{\"name\":\"বাংলা\"}\nrest";
        for cut in 1..text.len() {
            let mut buffer = LineBuffer::default();
            let mut lines = Vec::new();
            for chunk in text.as_bytes().chunks(cut) {
                buffer.push(chunk).expect("short lines");
                while let Some(line) = buffer.take_line().expect("UTF-8") {
                    lines.push(line);
                }
            }
            assert_eq!(
                lines,
                ["{\"seq\":1}\n", "\n", "{\"name\":\"বাংলা\"}\n"],
                "cut every {cut} bytes"
            );
        }
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut buffer = LineBuffer::default();
        assert!(buffer.push(&vec![b'x'; MAX_LINE_BYTES + 1]).is_err());
    }

    #[test]
    fn events_keep_their_data_exactly() {
        let event = parse(
            r#"{"id":"e","seq":7,"type":"quote.created","version":"1","data":{"rate":1.100000000001}}"#,
        );
        let event = event.expect("an event");
        assert_eq!((event.seq, event.kind.as_str()), (7, "quote.created"));
        assert_eq!(event.data, r#"{"rate":1.100000000001}"#);
        assert!(parse("{}").is_err());
    }
}
