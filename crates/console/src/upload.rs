//! Reads forms with a file: `multipart/form-data` (RFC 7578) as browsers send it. The body is bounded
//! and complete.

use super::form::Form;

/// Maximum number of fields.
const PARTS_MAX: usize = 50;
/// Maximum length of a boundary (RFC 2046, section 5.1.1).
const BOUNDARY_MAX_CHARS: usize = 70;

/// The file of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// Its name on the user's device.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Parses a form with text fields and at most one file; `None` if it is another format.
pub(super) fn parse(content_type: &str, body: &[u8]) -> Option<Form> {
    let (_, boundary) = parameters(content_type)?.into_iter().find(|(key, _)| key == "boundary")?;
    if boundary.is_empty() || boundary.len() > BOUNDARY_MAX_CHARS {
        return None;
    }
    let delimiter = format!("\r\n--{boundary}");
    let mut rest = body.strip_prefix(&delimiter.as_bytes()[2..])?;
    let mut form = Form::default();
    for _ in 0..=PARTS_MAX {
        if rest.starts_with(b"--") {
            return Some(form);
        }
        let (head, content) = split(rest.strip_prefix(b"\r\n")?, b"\r\n\r\n")?;
        let (content, after) = split(content, delimiter.as_bytes())?;
        rest = after;
        let (name, file) = names(std::str::from_utf8(head).ok()?)?;
        match file {
            None => form.add(name, String::from_utf8(content.to_vec()).ok()?),
            // A file field without a file has an empty name.
            Some(file) if file.is_empty() && content.is_empty() => {}
            Some(_) if form.file().is_some() => return None,
            Some(file) => form.attach(Upload { name: file, bytes: content.to_vec() }),
        }
    }
    None
}

/// The parts before and after the first `mark`.
fn split<'a>(text: &'a [u8], mark: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = text.windows(mark.len()).position(|part| part == mark)?;
    Some((&text[..at], &text[at + mark.len()..]))
}

/// The field's name and the file's, from the head of a part.
fn names(head: &str) -> Option<(String, Option<String>)> {
    let disposition = head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-disposition").then(|| value.trim())
    })?;
    let found = parameters(disposition.strip_prefix("form-data").map(|_| disposition)?)?;
    let of = |key: &str| found.iter().find(|(known, _)| known == key).map(|it| it.1.clone());
    Some((of("name")?, of("filename")))
}

/// The parameters after the first semicolon: `; name="a"; filename="b;c"`.
fn parameters(value: &str) -> Option<Vec<(String, String)>> {
    let mut rest = value.split_once(';')?.1;
    let mut found = Vec::new();
    while !rest.trim().is_empty() {
        let (key, after) = rest.split_once('=')?;
        let (text, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => after.split_once(';').map_or((after, ""), |(text, more)| (text, more)),
        };
        let plain = text.trim().replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n");
        found.push((key.trim_matches([' ', ';']).to_ascii_lowercase(), plain));
        rest = after;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: &str = "multipart/form-data; boundary=----x7";

    fn body(parts: &[(&str, &str)]) -> Vec<u8> {
        let part = |(names, content): &(&str, &str)| {
            format!(
                "------x7\r\nContent-Disposition: form-data; {names}\r\nContent-Type: x/y\r\n\r\n{content}\r\n"
            )
        };
        let text: String = parts.iter().map(part).collect();
        (text + "------x7--\r\n").into_bytes()
    }

    #[test]
    fn fields_and_a_file_are_read() {
        let parts =
            [("name=\"csrf\"", "t"), ("name=\"file\"; filename=\"a;b.pdf\"", "%PDF\r\n--\r\n")];
        let form = parse(KIND, &body(&parts)).expect("a form");
        let file = Upload { name: "a;b.pdf".to_owned(), bytes: b"%PDF\r\n--\r\n".to_vec() };
        assert_eq!((form.text("csrf"), form.file()), ("t", Some(&file)));
        let quoted = "multipart/form-data; boundary=\"----x7\"";
        assert_eq!(parse(quoted, &body(&parts)), Some(form));
    }

    #[test]
    fn a_field_without_a_file_has_none() {
        let form = parse(KIND, &body(&[("name=\"file\"; filename=\"\"", "")])).expect("a form");
        assert_eq!(form.file(), None);
    }

    #[test]
    fn other_formats_are_refused() {
        let two = [("name=\"a\"; filename=\"x\"", "1"), ("name=\"b\"; filename=\"y\"", "2")];
        let many = vec![("name=\"a\"", "1"); PARTS_MAX + 1];
        for wrong in [body(&two), body(&many), body(&[("filename=\"x\"", "1")])] {
            assert_eq!(parse(KIND, &wrong), None);
        }
        let whole = body(&[("name=\"a\"", "1")]);
        for length in 0..whole.len() - 4 {
            assert_eq!(parse(KIND, &whole[..length]), None, "{length}");
        }
        for kind in ["multipart/form-data", "multipart/form-data; boundary=", "text/plain; a=b"] {
            assert_eq!(parse(kind, &whole), None, "{kind}");
        }
        assert_eq!(parse(KIND, b"\xff\xfe"), None);
    }
}
