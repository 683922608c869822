//! Reads forms with a file: `multipart/form-data` (RFC 7578) as browsers send it. The body is bounded
//! and complete.

use std::convert::Infallible;

use axum::body::Bytes;
use futures_util::stream;
use multer::Multipart;

use super::form::Form;

/// Maximum number of fields.
const PARTS_MAX: usize = 50;

/// The file of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// Its name on the user's device.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Parses a form with text fields and at most one file; `None` if it is another format.
pub(super) async fn parse(content_type: &str, body: Bytes) -> Option<Form> {
    let boundary = multer::parse_boundary(content_type).ok().filter(|it| !it.is_empty())?;
    let mut parts = Multipart::new(stream::iter([Ok::<_, Infallible>(body)]), boundary);
    let mut form = Form::default();
    for _ in 0..=PARTS_MAX {
        let Some(part) = parts.next_field().await.ok()? else { return Some(form) };
        let name = part.name()?.to_owned();
        let Some(file) = part.file_name().map(str::to_owned) else {
            let content = part.bytes().await.ok()?;
            form.add(name, String::from_utf8(content.into()).ok()?);
            continue;
        };
        let content = part.bytes().await.ok()?;
        match (file.is_empty() && content.is_empty(), form.file()) {
            // A file field without a file has an empty name.
            (true, _) => {}
            (false, Some(_)) => return None,
            (false, None) => form.attach(Upload { name: file, bytes: content.into() }),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: &str = "multipart/form-data; boundary=----x7";

    fn body(parts: &[(&str, &str)]) -> Bytes {
        let part = |(names, content): &(&str, &str)| {
            format!(
                "------x7\r\nContent-Disposition: form-data; {names}\r\nContent-Type: x/y\r\n\r\n{content}\r\n"
            )
        };
        let text: String = parts.iter().map(part).collect();
        (text + "------x7--\r\n").into()
    }

    #[tokio::test]
    async fn fields_and_a_file_are_read() {
        let parts =
            [("name=\"csrf\"", "t"), ("name=\"file\"; filename=\"a;b.pdf\"", "%PDF\r\n--\r\n")];
        let form = parse(KIND, body(&parts)).await.expect("a form");
        let file = Upload { name: "a;b.pdf".to_owned(), bytes: b"%PDF\r\n--\r\n".to_vec() };
        assert_eq!((form.text("csrf"), form.file()), ("t", Some(&file)));
        let quoted = "multipart/form-data; boundary=\"----x7\"";
        assert_eq!(parse(quoted, body(&parts)).await, Some(form));
    }

    #[tokio::test]
    async fn a_field_without_a_file_has_none() {
        let form =
            parse(KIND, body(&[("name=\"file\"; filename=\"\"", "")])).await.expect("a form");
        assert_eq!(form.file(), None);
    }

    #[tokio::test]
    async fn other_formats_are_refused() {
        let two = [("name=\"a\"; filename=\"x\"", "1"), ("name=\"b\"; filename=\"y\"", "2")];
        let many = vec![("name=\"a\"", "1"); PARTS_MAX + 1];
        for wrong in [body(&two), body(&many), body(&[("filename=\"x\"", "1")])] {
            assert_eq!(parse(KIND, wrong).await, None);
        }
        let whole = body(&[("name=\"a\"", "1")]);
        for length in 0..whole.len() - 4 {
            assert_eq!(parse(KIND, whole.slice(..length)).await, None, "{length}");
        }
        for kind in ["multipart/form-data", "multipart/form-data; boundary=", "text/plain; a=b"] {
            assert_eq!(parse(kind, whole.clone()).await, None, "{kind}");
        }
        assert_eq!(parse(KIND, Bytes::from_static(b"\xff\xfe")).await, None);
    }
}
