//! The tokenizer and recursive reader of [`super::parse`]. Recursion is bounded by
//! [`super::DEPTH_MAX`].

use std::borrow::Cow;
use std::collections::HashSet;

use super::{DEPTH_MAX, JsonError, JsonErrorKind, Object, Value};

/// Up to this many members, names are compared one by one; beyond it they are hashed, so that
/// objects with thousands of members take linear time.
const MEMBERS_COMPARED_MAX: usize = 48;

type Read<T> = Result<T, JsonError>;

pub(super) struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Reader<'a> {
        Reader { text, bytes: text.as_bytes(), at: 0 }
    }

    /// One value with surrounding white space, and nothing else.
    pub(super) fn document(mut self) -> Read<Value<'a>> {
        let value = self.value(0)?;
        self.skip_white_space();
        if self.at < self.bytes.len() { self.fail(JsonErrorKind::TrailingData) } else { Ok(value) }
    }

    fn value(&mut self, depth: usize) -> Read<Value<'a>> {
        self.skip_white_space();
        match self.peek() {
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => Ok(Value::String(self.string()?)),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'N' | b'I') => self.number(),
            _ => self.unexpected(),
        }
    }

    fn object(&mut self, depth: usize) -> Read<Value<'a>> {
        self.enter(depth)?;
        let mut members: Vec<(Cow<'a, str>, Value<'a>)> = Vec::new();
        let mut seen: HashSet<Cow<'a, str>> = HashSet::new();
        self.skip_white_space();
        if self.take(b'}') {
            return Ok(Value::Object(Object { members }));
        }
        loop {
            self.skip_white_space();
            let name_at = self.at;
            let name =
                if self.peek() == Some(b'"') { self.string()? } else { return self.unexpected() };
            if !is_new(&name, &members, &mut seen) {
                return Err(JsonError { offset: name_at, kind: JsonErrorKind::DuplicateMember });
            }
            self.skip_white_space();
            if !self.take(b':') {
                return self.unexpected();
            }
            let value = self.value(depth)?;
            members.push((name, value));
            self.skip_white_space();
            if self.take(b'}') {
                return Ok(Value::Object(Object { members }));
            }
            if !self.take(b',') {
                return self.unexpected();
            }
        }
    }

    fn array(&mut self, depth: usize) -> Read<Value<'a>> {
        self.enter(depth)?;
        let mut items = Vec::new();
        self.skip_white_space();
        if self.take(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth)?);
            self.skip_white_space();
            if self.take(b']') {
                return Ok(Value::Array(items));
            }
            if !self.take(b',') {
                return self.unexpected();
            }
        }
    }

    /// Consumes the opening bracket of level `depth`.
    fn enter(&mut self, depth: usize) -> Read<()> {
        if depth > DEPTH_MAX {
            return self.fail(JsonErrorKind::TooDeep);
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Read<Value<'a>> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(value);
        }
        let same =
            self.bytes[self.at..].iter().zip(word.bytes()).take_while(|(a, b)| **a == *b).count();
        self.at += same;
        self.unexpected()
    }

    fn number(&mut self) -> Read<Value<'a>> {
        let start = self.at;
        self.take(b'-');
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return self.fail_at(start, JsonErrorKind::MalformedNumber),
        }
        if self.take(b'.') {
            self.some_digits(start)?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits(start)?;
        }
        // "01", "1.2.3", "1x": a number followed by number or word characters is invalid.
        if matches!(self.peek(), Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-' | b'_'))
        {
            return self.fail_at(start, JsonErrorKind::MalformedNumber);
        }
        Ok(Value::Number(&self.text[start..self.at]))
    }

    fn some_digits(&mut self, start: usize) -> Read<()> {
        let before = self.at;
        self.digits();
        if self.at == before { self.fail_at(start, JsonErrorKind::MalformedNumber) } else { Ok(()) }
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Read<Cow<'a, str>> {
        self.at += 1;
        let start = self.at;
        self.plain_run();
        if self.take(b'"') {
            return Ok(Cow::Borrowed(&self.text[start..self.at - 1]));
        }
        let mut text = String::from(&self.text[start..self.at]);
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return self.fail(JsonErrorKind::ControlCharacter),
                None => return self.fail(JsonErrorKind::UnexpectedEnd),
            }
            let run = self.at;
            self.plain_run();
            text.push_str(&self.text[run..self.at]);
        }
    }

    /// Advances to the next quote, backslash or control character, or to the end. All are ASCII, so
    /// the position is always on a character boundary.
    fn plain_run(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest
            .iter()
            .position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1F))
            .unwrap_or(rest.len());
    }

    fn escape(&mut self) -> Read<char> {
        let start = self.at;
        let letter = self.bytes.get(start + 1).copied();
        self.at += 2;
        Ok(match letter {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{C}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start),
            Some(_) => return self.fail_at(start, JsonErrorKind::InvalidEscape),
            None => return self.fail_at(start, JsonErrorKind::UnexpectedEnd),
        })
    }

    fn unicode_escape(&mut self, start: usize) -> Read<char> {
        let lone = JsonError { offset: start, kind: JsonErrorKind::LoneSurrogate };
        let first = self.four_hex_digits(start)?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first).ok_or(lone);
        }
        if !self.bytes[self.at..].starts_with(b"\\u") {
            return Err(lone);
        }
        self.at += 2;
        let second = self.four_hex_digits(start)?;
        if !(0xDC00..0xE000).contains(&second) {
            return Err(lone);
        }
        char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)).ok_or(lone)
    }

    fn four_hex_digits(&mut self, start: usize) -> Read<u32> {
        let Some(digits) = self.bytes.get(self.at..self.at + 4) else {
            return self.fail_at(start, JsonErrorKind::UnexpectedEnd);
        };
        let mut value = 0;
        for digit in digits {
            let Some(digit) = char::from(*digit).to_digit(16) else {
                return self.fail_at(start, JsonErrorKind::InvalidEscape);
            };
            value = value * 16 + digit;
        }
        self.at += 4;
        Ok(value)
    }

    fn skip_white_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let here = self.peek() == Some(byte);
        self.at += usize::from(here);
        here
    }

    fn unexpected<T>(&self) -> Read<T> {
        let ended = self.at >= self.bytes.len();
        self.fail(if ended { JsonErrorKind::UnexpectedEnd } else { JsonErrorKind::Unexpected })
    }

    fn fail<T>(&self, kind: JsonErrorKind) -> Read<T> {
        self.fail_at(self.at, kind)
    }

    fn fail_at<T>(&self, offset: usize, kind: JsonErrorKind) -> Read<T> {
        Err(JsonError { offset, kind })
    }
}

/// Whether `name` is new in this object.
#[expect(clippy::ptr_arg, reason = "its clone borrows from the document where the name does")]
fn is_new<'a>(
    name: &Cow<'a, str>,
    members: &[(Cow<'a, str>, Value<'a>)],
    seen: &mut HashSet<Cow<'a, str>>,
) -> bool {
    if members.len() < MEMBERS_COMPARED_MAX {
        return members.iter().all(|(known, _)| known != name);
    }
    if seen.is_empty() {
        seen.extend(members.iter().map(|(known, _)| known.clone()));
    }
    seen.insert(name.clone())
}
