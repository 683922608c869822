//! What others see at the public URL: certificate, clock, the API, and what must not be published.

use std::time::Duration;

use config::Config;
use jiff::Timestamp;
use reqwest::tls::TlsInfo;
use reqwest::{Client, Response};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

use super::super::api;
use super::super::failure::Failure;
use super::{Finding, Level, clocks};
use client::ClientError;

/// Timeout for one answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// A certificate that expires sooner is a warning, in days.
const CERTIFICATE_MIN_DAYS: i64 = 14;
/// Paths that only the inside may reach.
const INTERNAL: [&str; 3] = ["/metrics", "/livez", "/readyz"];
/// A path that answers 401 without a token.
const API: &str = "/v2/payments?country=PAK&limit=1";

/// Queries the public URL, if it is https.
pub fn seen(config: &Config) -> Result<Vec<Finding>, Failure> {
    const NAME: &str = "public URL";
    let url = config.public_url();
    if !url.starts_with("https://") {
        let detail = format!("{url}: not https, so nothing is in front of this service");
        return Ok(vec![Finding::new(NAME, Level::Skipped, detail)]);
    }
    api::wait_for(async {
        let client = Client::builder().timeout(TIMEOUT).tls_info(true);
        let client = client
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| Failure::Usage(format!("HTTP client: {error}")))?;
        let answer = match client.get(format!("{url}{API}")).send().await {
            Ok(answer) => answer,
            Err(error) => {
                let message = ClientError::of_transport(&url, &error).to_string();
                return Ok(vec![Finding::new(NAME, Level::Wrong, message)]);
            }
        };
        let mut findings = vec![api_answer(&url, answer.status().as_u16())];
        findings.push(clocks(date(&answer).as_deref(), Timestamp::now()));
        findings.extend(certificate(&answer));
        let console = config.console.public_url.trim_end_matches('/');
        let is_elsewhere = !console.is_empty() && console != url;
        for path in INTERNAL.into_iter().chain(is_elsewhere.then_some("/console")) {
            let answer = client.get(format!("{url}{path}")).send().await;
            let answer = answer.map(|answer| answer.status().as_u16());
            findings.extend(published(&url, path, answer.map_err(|error| error.to_string())));
        }
        Ok(findings)
    })
}

fn api_answer(url: &str, status: u16) -> Finding {
    const NAME: &str = "public URL";
    match status {
        401 => Finding::new(NAME, Level::Ok, format!("{url} leads to the API")),
        _ => Finding::new(
            NAME,
            Level::Wrong,
            format!(
                "{url}/v2 answers {status} without a token instead of 401: does the proxy lead /v2 here?"
            ),
        ),
    }
}

fn date(answer: &Response) -> Option<String> {
    let date = answer.headers().get(reqwest::header::DATE)?;
    date.to_str().ok().map(str::to_owned)
}

fn certificate(answer: &Response) -> Option<Finding> {
    let der = answer.extensions().get::<TlsInfo>()?.peer_certificate()?;
    Some(expiry(der, Timestamp::now()))
}

/// How long a certificate is valid from `now`.
fn expiry(der: &[u8], now: Timestamp) -> Finding {
    const NAME: &str = "certificate";
    let not_after = Certificate::from_der(der).ok().and_then(|certificate| {
        let not_after = certificate.tbs_certificate.validity.not_after.to_unix_duration();
        i64::try_from(not_after.as_secs()).ok()
    });
    let Some(not_after) = not_after else {
        return Finding::new(NAME, Level::Skipped, "cannot be read");
    };
    let days = (not_after - now.as_second()).div_euclid(86_400);
    let level = if days < CERTIFICATE_MIN_DAYS { Level::Warning } else { Level::Ok };
    Finding::new(NAME, level, format!("valid for {days} more days"))
}

/// A finding unless an internal path is refused: any other answer, an error too, comes from this
/// service.
fn published(url: &str, path: &str, answer: Result<u16, String>) -> Option<Finding> {
    const NAME: &str = "public URL";
    match answer {
        Ok(401 | 403 | 404) => None,
        Ok(status) => {
            let detail =
                format!("{url}{path} is published (it answers {status}): keep it internal");
            Some(Finding::new(NAME, Level::Wrong, detail))
        }
        Err(error) => Some(Finding::new(NAME, Level::Skipped, format!("{url}{path}: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_api_refuses_a_call_without_a_token() {
        assert_eq!(api_answer("https://api.bank.example", 401).level, Level::Ok);
        for status in [200, 302, 404, 502] {
            let finding = api_answer("https://api.bank.example", status);
            assert_eq!(finding.level, Level::Wrong, "{finding:?}");
        }
    }

    #[test]
    fn internal_paths_have_to_be_refused() {
        let level = |answer| {
            published("https://api.bank.example", "/metrics", answer).map(|finding| finding.level)
        };
        for status in [401, 403, 404] {
            assert_eq!(level(Ok(status)), None, "{status}");
        }
        // A node that drains, and the console's sign-in.
        for status in [200, 302, 303, 500, 503] {
            assert_eq!(level(Ok(status)), Some(Level::Wrong), "{status}");
        }
        assert_eq!(level(Err("timeout".to_owned())), Some(Level::Skipped));
    }

    #[test]
    fn a_certificate_that_expires_soon_is_reported() {
        let key = rcgen::generate_simple_self_signed(vec!["api.bank.example".to_owned()]);
        let der = key.expect("a certificate").cert.der().to_vec();
        let not_after =
            Certificate::from_der(&der).expect("DER").tbs_certificate.validity.not_after;
        let end = i64::try_from(not_after.to_unix_duration().as_secs()).expect("a time");
        let at = |days: i64| Timestamp::from_second(end - days * 86_400).expect("a time");
        assert_eq!(expiry(&der, at(30)).level, Level::Ok);
        assert_eq!(expiry(&der, at(13)).level, Level::Warning);
        assert_eq!(expiry(b"not a certificate", at(30)).level, Level::Skipped);
    }
}
