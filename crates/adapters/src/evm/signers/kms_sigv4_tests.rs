//! AWS Signature Version 4, written a second time: the double checks what the library has signed.

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// The request to sign. Header names are lower case and include `host` and `x-amz-date`.
pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    /// Already in canonical form.
    pub(super) path: &'a str,
    /// Already in canonical form.
    pub(super) query: &'a str,
    /// Sorted by header name.
    pub(super) headers: &'a [(&'a str, &'a str)],
    pub(super) body: &'a [u8],
}

/// The scope of a signature.
pub(super) struct Scope<'a> {
    /// `20150830T123600Z`, as in the header `x-amz-date`.
    pub(super) at: &'a str,
    pub(super) region: &'a str,
    pub(super) service: &'a str,
}

impl Scope<'_> {
    fn day(&self) -> &str {
        self.at.get(..8).unwrap_or(self.at)
    }

    fn text(&self) -> String {
        format!("{}/{}/{}/aws4_request", self.day(), self.region, self.service)
    }
}

/// The value of the header `authorization`.
pub(super) fn authorization(
    request: &Request<'_>,
    scope: &Scope<'_>,
    access_key: &str,
    secret: &str,
) -> String {
    let signature = signature(request, scope, secret);
    let (scope, names) = (scope.text(), names(request));
    format!(
        "{ALGORITHM} Credential={access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
}

/// The signature alone, in hexadecimal.
pub(super) fn signature(request: &Request<'_>, scope: &Scope<'_>, secret: &str) -> String {
    let canonical = hex(&Sha256::digest(canonical(request)));
    let text = format!("{ALGORITHM}\n{}\n{}\n{canonical}", scope.at, scope.text());
    let mut key = mac(format!("AWS4{secret}").as_bytes(), scope.day());
    for part in [scope.region, scope.service, "aws4_request"] {
        key = mac(&key, part);
    }
    hex(&mac(&key, &text))
}

fn canonical(request: &Request<'_>) -> String {
    let mut text = format!("{}\n{}\n{}\n", request.method, request.path, request.query);
    for (name, value) in request.headers {
        let value: Vec<&str> = value.split_ascii_whitespace().collect();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name}:{}", value.join(" "));
    }
    let _ = write!(text, "\n{}\n{}", names(request), hex(&Sha256::digest(request.body)));
    text
}

fn names(request: &Request<'_>) -> String {
    request.headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";")
}

fn mac(key: &[u8], text: &str) -> [u8; 32] {
    // HMAC replaces a key longer than a block with its hash.
    let mut block = [0; 64];
    match block.get_mut(..key.len()) {
        Some(place) => place.copy_from_slice(key),
        None => block[..32].copy_from_slice(&Sha256::digest(key)),
    }
    let mut mac = Hmac::<Sha256>::new(&block.into());
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().into()
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

    fn sign(request: &Request<'_>, service: &str) -> String {
        let scope = Scope { at: "20150830T123600Z", region: "us-east-1", service };
        signature(request, &scope, SECRET)
    }

    /// Cases of the published test suite, by name.
    #[test]
    fn the_published_cases_hold() {
        let plain = [("host", "example.amazonaws.com"), ("x-amz-date", "20150830T123600Z")];
        let form = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("host", "example.amazonaws.com"),
            ("x-amz-date", "20150830T123600Z"),
        ];
        let spaces = [
            ("host", "example.amazonaws.com"),
            ("my-header1", " value1"),
            ("my-header2", " \"a   b   c\""),
            ("x-amz-date", "20150830T123600Z"),
        ];
        type Case<'a> = (&'a str, &'a str, &'a str, &'a [(&'a str, &'a str)], &'a str, &'a str);
        let cases: [Case<'_>; 5] = [
            (
                "get-vanilla",
                "GET",
                "",
                &plain,
                "",
                "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            ),
            (
                "get-vanilla-query-order-key-case",
                "GET",
                "Param1=value1&Param2=value2",
                &plain,
                "",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
            (
                "post-vanilla",
                "POST",
                "",
                &plain,
                "",
                "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            ),
            (
                "post-x-www-form-urlencoded",
                "POST",
                "",
                &form,
                "Param1=value1",
                "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
            ),
            (
                "get-header-value-trim",
                "GET",
                "",
                &spaces,
                "",
                "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
            ),
        ];
        for (name, method, query, headers, body, expected) in cases {
            let request = Request { method, path: "/", query, headers, body: body.as_bytes() };
            assert_eq!(sign(&request, "service"), expected, "{name}");
        }
    }

    /// The example of AWS's documentation, with the complete header.
    #[test]
    fn the_documented_header_is_written() {
        let headers = [
            ("content-type", "application/x-www-form-urlencoded; charset=utf-8"),
            ("host", "iam.amazonaws.com"),
            ("x-amz-date", "20150830T123600Z"),
        ];
        let query = "Action=ListUsers&Version=2010-05-08";
        let request = Request { method: "GET", path: "/", query, headers: &headers, body: b"" };
        let scope = Scope { at: "20150830T123600Z", region: "us-east-1", service: "iam" };
        assert_eq!(
            authorization(&request, &scope, "AKIDEXAMPLE", SECRET),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, \
             SignedHeaders=content-type;host;x-amz-date, \
             Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
        );
    }
}
