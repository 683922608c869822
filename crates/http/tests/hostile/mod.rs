//! Hostile input that the tests of both services read from `data/hostile_json.txt` and
//! `data/hostile_texts.txt`: one per line, with escapes for what a text file cannot hold.

/// A document that is not the JSON that the services accept.
pub struct Malformed {
    pub body: Vec<u8>,
    /// Position of the first wrong byte.
    pub offset: usize,
    /// What is wrong, in the words of the reader.
    pub reason: String,
}

/// Documents that no operation accepts: `<offset> | <reason> | <body>`.
pub fn malformed_json() -> Vec<Malformed> {
    let read = |line: &str| {
        let mut columns = line.splitn(3, " | ");
        let mut column = || columns.next().expect("three columns");
        let (offset, reason, body) = (column(), column(), column());
        Malformed {
            body: bytes(body),
            offset: offset.parse().expect("a position"),
            reason: reason.to_owned(),
        }
    };
    lines(include_str!("../../data/hostile_json.txt")).map(read).collect()
}

/// Texts of people: `<name> <text>`.
pub fn texts() -> Vec<(String, String)> {
    let read = |line: &str| {
        let (name, text) = line.split_once(' ').expect("a name and a text");
        (name.to_owned(), String::from_utf8(bytes(text)).expect("UTF-8"))
    };
    lines(include_str!("../../data/hostile_texts.txt")).map(read).collect()
}

fn lines(file: &str) -> impl Iterator<Item = &str> {
    file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Resolves `\xNN` (a byte), `\u{N}` (a character), `\\` and `\*N{text}` (N times).
fn bytes(escaped: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = escaped;
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.extend_from_slice(plain.as_bytes());
        let braced = |escape: &str| -> (String, String) {
            let (inner, rest) = escape.split_once('}').expect("a closing brace");
            (inner.to_owned(), rest.to_owned())
        };
        match escape.as_bytes().first() {
            Some(b'x') => {
                out.push(u8::from_str_radix(&escape[1..3], 16).expect("two digits"));
                rest = &escape[3..];
            }
            Some(b'u') => {
                let (digits, behind) = braced(&escape[2..]);
                let code = u32::from_str_radix(&digits, 16).expect("a code point");
                out.extend(char::from_u32(code).expect("a character").to_string().into_bytes());
                rest = &escape[escape.len() - behind.len()..];
            }
            Some(b'*') => {
                let (inner, behind) = braced(&escape[1..]);
                let (times, text) = inner.split_once('{').expect("an opening brace");
                out.extend(text.repeat(times.parse().expect("a number")).into_bytes());
                rest = &escape[escape.len() - behind.len()..];
            }
            _ => {
                out.push(b'\\');
                rest = escape.strip_prefix('\\').expect("a known escape");
            }
        }
    }
    out.extend_from_slice(rest.as_bytes());
    out
}
