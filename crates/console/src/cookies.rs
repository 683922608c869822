//! Cookies of the console: tokens of the session, the sign-in form and a sign-in at the identity
//! provider, and the confirmation of the last action.
//!
//! With HTTPS or on loopback, they have the prefix `__Host-` and `Secure`: Chromium and Firefox
//! trust loopback addresses like HTTPS. A test system over plain HTTP at another address gets plain
//! cookies, since browsers would drop the others; production refuses such an address.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue, header};

use super::state::Settings;

/// A cookie of the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cookie {
    /// The session token. `SameSite=Lax`: links from messages work; changes are POSTs, which other
    /// sites cannot send with the cookie.
    Session,
    /// A token that the sign-in form must repeat, so that no other site can sign a user in.
    SignIn,
    /// The token of a sign-in in progress at the identity provider. `SameSite=Lax`: the provider's
    /// redirect carries it back.
    Departure,
    /// The confirmation of the last action, for the next page.
    Done,
    /// The chosen colours and density. Kept when the browser closes.
    Look,
    /// Tag of the tenant whose pages were opened last.
    Tenant,
}

/// How long browsers keep [`Cookie::Look`], in seconds.
const LOOK_KEPT_S: u32 = 365 * 86_400;

/// Maximum text length of [`Cookie::Done`].
const DONE_MAX_CHARS: usize = 200;

impl Cookie {
    const fn name(self) -> &'static str {
        match self {
            Cookie::Session => "corridor-session",
            Cookie::SignIn => "corridor-sign-in",
            Cookie::Departure => "corridor-departure",
            Cookie::Done => "corridor-done",
            Cookie::Look => "corridor-look",
            Cookie::Tenant => "corridor-tenant",
        }
    }

    const fn same_site(self) -> &'static str {
        match self {
            Cookie::SignIn => "Strict",
            _ => "Lax",
        }
    }

    /// The value in a request's headers.
    pub(super) fn read(self, headers: &HeaderMap, settings: &Settings) -> Option<String> {
        let name = format!("{}{}", prefix(settings), self.name());
        let mut values =
            headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = values
            .by_ref()
            .flat_map(|text| text.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        let mut found =
            pairs.filter(|(known, _)| *known == name).map(|(_, value)| value.to_owned());
        // A duplicate cookie may be an attack.
        match (found.next(), found.next()) {
            (Some(value), None) => Some(value),
            _ => None,
        }
    }

    /// Sets the cookie, until the browser closes unless it is a choice.
    pub(super) fn set(self, headers: &mut HeaderMap, value: &str, settings: &Settings) {
        let life = match self {
            Cookie::Look => format!("; Max-Age={LOOK_KEPT_S}"),
            _ => String::new(),
        };
        self.write(headers, value, &life, settings);
    }

    pub(super) fn clear(self, headers: &mut HeaderMap, settings: &Settings) {
        self.write(headers, "", "; Max-Age=0", settings);
    }

    fn write(self, headers: &mut HeaderMap, value: &str, life: &str, settings: &Settings) {
        let secure = if is_trusted(&settings.base_url) { "; Secure" } else { "" };
        let (prefix, name, same_site) = (prefix(settings), self.name(), self.same_site());
        let text =
            format!("{prefix}{name}={value}; Path=/; HttpOnly; SameSite={same_site}{secure}{life}");
        if let Ok(value) = HeaderValue::from_str(&text) {
            headers.append(header::SET_COOKIE, value);
        }
    }
}

fn prefix(settings: &Settings) -> &'static str {
    if is_trusted(&settings.base_url) { "__Host-" } else { "" }
}

/// Whether browsers trust this address: HTTPS or loopback.
pub(super) fn is_trusted(base_url: &str) -> bool {
    let Some(rest) = base_url.strip_prefix("http://") else {
        return base_url.starts_with("https://");
    };
    let host = rest.split('/').next().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host).trim_matches(['[', ']']);
    host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Shows a confirmation on the next page.
pub(super) fn say(headers: &mut HeaderMap, words: &str, settings: &Settings) {
    let words: String = words.chars().take(DONE_MAX_CHARS).collect();
    Cookie::Done.set(headers, &URL_SAFE_NO_PAD.encode(words), settings);
}

/// The confirmation to show.
pub(super) fn said(headers: &HeaderMap, settings: &Settings) -> Option<String> {
    let text = Cookie::Done.read(headers, settings)?;
    let words = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    (words.chars().count() <= DONE_MAX_CHARS).then_some(words)
}

#[cfg(test)]
mod tests {
    use domain::policy::Environment;
    use domain::time::Span;

    use super::*;
    use http_api::server::body::BodyLimits;

    fn settings(base_url: &str) -> Settings {
        Settings {
            base_url: base_url.to_owned(),
            environment: Environment::Mock,
            body: BodyLimits::default(),
            idle: Span::mins(20),
            absolute: Span::hours(10),
            second_factor: true,
            sign_ins_per_minute: 60,
        }
    }

    #[test]
    fn loopback_is_trusted_and_other_plain_addresses_are_not() {
        for trusted in [
            "https://bank.example",
            "http://127.0.0.1:8480",
            "http://localhost:1",
            "http://[::1]:80/x",
        ] {
            assert!(is_trusted(trusted), "{trusted}");
        }
        for other in
            ["http://bank.example", "http://10.0.0.1:80", "ftp://x", "", "http://localhost.example"]
        {
            assert!(!is_trusted(other), "{other}");
        }
    }

    #[test]
    fn a_cookie_is_for_this_host_only_and_no_script_reads_it() {
        let mut headers = HeaderMap::new();
        Cookie::Session.set(&mut headers, "t", &settings("https://bank.example"));
        let text = "__Host-corridor-session=t; Path=/; HttpOnly; SameSite=Lax; Secure";
        assert_eq!(headers[header::SET_COOKIE], text);
        let mut headers = HeaderMap::new();
        Cookie::SignIn.clear(&mut headers, &settings("http://10.0.0.1"));
        assert_eq!(
            headers[header::SET_COOKIE],
            "corridor-sign-in=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"
        );
    }

    #[test]
    fn a_duplicate_cookie_is_ignored() {
        let settings = settings("https://bank.example");
        let read = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, HeaderValue::from_static(text));
            Cookie::Session.read(&headers, &settings)
        };
        assert_eq!(read("a=b; __Host-corridor-session=t"), Some("t".to_owned()));
        assert_eq!(read("corridor-session=t"), None);
        assert_eq!(read("__Host-corridor-session=t; __Host-corridor-session=u"), None);
    }

    #[test]
    fn a_confirmation_reads_back() {
        let settings = settings("https://bank.example");
        let mut headers = HeaderMap::new();
        say(&mut headers, "Ünblocked; \"x\"\r\n", &settings);
        let set = headers[header::SET_COOKIE].to_str().expect("text").to_owned();
        let pair = set.split(';').next().expect("a pair").parse().expect("a value");
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, pair);
        assert_eq!(said(&headers, &settings).as_deref(), Some("Ünblocked; \"x\"\r\n"));
    }
}
