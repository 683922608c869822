//! Addresses: which ones may be called, and how they are shown.

use reqwest::Url;

/// A URL without parts that may be secret: scheme, host and path.
pub(crate) fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_query(None);
    shown.set_fragment(None);
    // Only a URL that cannot have a user name and password rejects their removal.
    let _ = (shown.set_username(""), shown.set_password(None));
    shown.to_string()
}

/// [`shown`], of a text.
pub(crate) fn shown_text(url: &str) -> String {
    Url::parse(url).map_or_else(|_| "an invalid address".to_owned(), |url| shown(&url))
}

/// HTTPS, or plain HTTP to this machine.
pub(crate) fn is_allowed(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_this_machine(url))
}

/// Whether an address of any scheme is of this machine.
pub fn is_on_this_machine(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| is_this_machine(&url))
}

pub(crate) fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_as_scheme_host_and_path() {
        for (url, text) in [
            ("https://u:p@bank.example:8443/a/b?key=s#f", "https://bank.example:8443/a/b"),
            ("https://:p@bank.example", "https://bank.example/"),
            ("not a url", "an invalid address"),
        ] {
            assert_eq!(shown_text(url), text);
        }
    }

    #[test]
    fn only_this_machine_is_called_without_tls() {
        for (url, allowed) in [
            ("https://bank.example", true),
            ("http://bank.example", false),
            ("http://127.0.0.1:1/x", true),
            ("http://127.9.9.9", true),
            ("http://[::1]:1", true),
            ("http://LOCALHOST:1", true),
            ("http://localhost.bank.example", false),
            ("ftp://127.0.0.1", false),
        ] {
            assert_eq!(is_allowed(&Url::parse(url).expect(url)), allowed, "{url}");
        }
    }
}
