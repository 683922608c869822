//! HTTP exchanges with a bank, whatever their format: what an answer, or its absence, proves about a
//! message. Never repeats one.

use reqwest::header::{CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue};
use reqwest::{StatusCode, Url};

use super::answers::Delivery;
use super::{MAX_MESSAGE_BYTES, iso};
use crate::outbound::{Answer, BodyFault, Client, IDENTITY, Request};

const IDEMPOTENCY_HEADER: HeaderName = HeaderName::from_static("idempotency-key");
/// Maximum length of a cursor.
const MAX_CURSOR_BYTES: usize = 255;

/// The address of an operation; `None` if the base is not a plain http(s) URL.
pub(super) fn endpoint(base: &str, path: &str) -> Option<Url> {
    let url = Url::parse(&format!("{}{path}", base.trim_end_matches('/'))).ok()?;
    let plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    (plain
        && url.password().is_none()
        && matches!(url.scheme(), "http" | "https")
        && url.has_host())
    .then_some(url)
}

/// Sends a message that has an effect at the bank, with its id.
///
/// # Errors
/// There is no answer, or one that proves that nothing was accepted.
pub(super) async fn deliver(
    client: &Client,
    request: Request,
    id: &str,
) -> Result<Answer, Delivery> {
    let Ok(id) = HeaderValue::try_from(id) else {
        return Err(Delivery::NotSent("its id is not a header value".to_owned()));
    };
    match client.send(request.header(IDEMPOTENCY_HEADER, id)).await {
        Ok(answer) if answer.names_invalid_token() => {
            Err(Delivery::NotSent("the bank refused the access token".to_owned()))
        }
        Ok(answer) => Ok(answer),
        Err(fault) if fault.was_not_sent() => Err(Delivery::NotSent(fault.to_string())),
        Err(fault) => Err(Delivery::Unclear(fault.to_string())),
    }
}

/// The delivery that an answer with the body of a success proves; any other status leaves it open.
pub(super) async fn delivered(answer: Answer) -> Delivery {
    match answer.status() {
        StatusCode::ACCEPTED => Delivery::Taken,
        StatusCode::OK => answered(answer).await,
        status => Delivery::Unclear(format!("HTTP {status}")),
    }
}

/// The body of an answer. Corridor asks for none that is coded (compressed).
pub(super) async fn body(answer: Answer) -> Result<Vec<u8>, BodyFault> {
    let coding = answer.headers().get(CONTENT_ENCODING).filter(|coding| *coding != IDENTITY);
    if let Some(coding) = coding {
        let coding = iso::quoted(&String::from_utf8_lossy(coding.as_bytes()));
        return Err(BodyFault::Broken(format!("Content-Encoding {coding} was not asked for")));
    }
    answer.body(MAX_MESSAGE_BYTES).await
}

pub(super) async fn answered(answer: Answer) -> Delivery {
    match body(answer).await {
        Ok(bytes) => Delivery::Answered(bytes),
        Err(fault) => Delivery::Unclear(described(fault)),
    }
}

pub(super) fn described(fault: BodyFault) -> String {
    match fault {
        BodyFault::TooLarge => format!("the answer is larger than {MAX_MESSAGE_BYTES} bytes"),
        BodyFault::Broken(why) => format!("the answer cannot be read: {why}"),
    }
}

/// A cursor in a header of a page of reports.
pub(super) fn cursor_of(headers: &HeaderMap, name: &str) -> Result<String, String> {
    let value = headers.get(name).ok_or_else(|| format!("HTTP 200 without {name}"))?;
    cursor(value.to_str().ok())
        .ok_or_else(|| format!("{name} is not 1 to {MAX_CURSOR_BYTES} visible ASCII characters"))
}

/// A cursor that the store and a URL can hold.
pub(super) fn cursor(text: Option<&str>) -> Option<String> {
    let is_one = |text: &&str| {
        (1..=MAX_CURSOR_BYTES).contains(&text.len())
            && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
    };
    text.filter(is_one).map(str::to_owned)
}
