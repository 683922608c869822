//! The only cookie of the payment page: the submission that this browser made for a link.
//! Submitting the same details again leads back to the same address. The cookie grants no access
//! beyond that of the sender's page URL.

use axum::response::Response;
use domain::ids::SenderInfoId;
use http::{HeaderMap, HeaderValue, header};

const NAME: &str = "corridor_sender";

/// The submission stored in the browser.
pub fn submission(headers: &HeaderMap) -> Option<SenderInfoId> {
    let cookies = headers.get_all(header::COOKIE).into_iter().filter_map(|line| line.to_str().ok());
    let named =
        cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    named.filter(|(name, _)| *name == NAME).find_map(|(_, value)| SenderInfoId::parse(value))
}

/// Sets a session cookie with the submission, for this link only.
pub fn remember(response: &mut Response, token: &str, submission: SenderInfoId, is_secure: bool) {
    let secure = if is_secure { "; Secure" } else { "" };
    let cookie = format!("{NAME}={submission}; Path=/pay/{token}; HttpOnly; SameSite=Lax{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_submission_among_the_cookies_is_read() {
        let id = "11111111-1111-4111-8111-111111111111";
        let read = |line: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, HeaderValue::from_str(line).expect("a header"));
            submission(&headers).map(|id| id.to_string())
        };
        assert_eq!(read(&format!("a=b; corridor_sender={id}")).as_deref(), Some(id));
        for line in ["corridor_sender=nonsense", "corridor_sender", "other=1", ""] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
