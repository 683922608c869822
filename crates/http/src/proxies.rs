//! Determines the client's address behind proxies. Only configured proxies are trusted, each for
//! the peer that connected to it; a client's own headers are not.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderMap, HeaderName, header};

use crate::auth::Network;

/// Maximum number of trusted proxies in a header.
const HOPS_MAX: usize = 16;

/// The header in which proxies report the client. Only the configured one is read, because a proxy
/// forwards the other one unchanged from the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyHeader {
    /// `X-Forwarded-For: client, proxy, …`
    XForwardedFor,
    /// `Forwarded: for=client, for=proxy, …` (RFC 7239)
    Forwarded,
}

impl ProxyHeader {
    pub const ALL: [ProxyHeader; 2] = [ProxyHeader::XForwardedFor, ProxyHeader::Forwarded];

    /// Its name in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            ProxyHeader::XForwardedFor => "x-forwarded-for",
            ProxyHeader::Forwarded => "forwarded",
        }
    }

    fn header(self) -> HeaderName {
        match self {
            ProxyHeader::XForwardedFor => HeaderName::from_static("x-forwarded-for"),
            ProxyHeader::Forwarded => header::FORWARDED,
        }
    }

    /// The address in one element; `None` if it contains none.
    fn address(self, element: &str) -> Option<IpAddr> {
        match self {
            ProxyHeader::XForwardedFor => address(element.trim()),
            ProxyHeader::Forwarded => element.split(';').find_map(|pair| {
                let (name, value) = pair.split_once('=')?;
                name.trim()
                    .eq_ignore_ascii_case("for")
                    .then(|| address(value.trim().trim_matches('"')))?
            }),
        }
    }
}

/// Parses an address with or without port: `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`,
/// `[2001:db8::1]`, `[2001:db8::1]:4711`.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

#[derive(Clone, Debug)]
pub struct TrustedProxies {
    /// Networks that the proxies connect from.
    pub networks: Vec<Network>,
    /// The header in which they report the client.
    pub header: ProxyHeader,
}

impl TrustedProxies {
    fn is_trusted(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(address))
    }

    /// The client of a request that came from `peer`: searches from the nearest proxy backwards to
    /// the first address that is not a trusted proxy. An unreadable element ends the search at the
    /// proxy that wrote it.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer;
        let values = headers.get_all(self.header.header());
        let elements =
            values.iter().flat_map(|value| value.to_str().unwrap_or_default().split(','));
        let elements: Vec<&str> = elements.collect();
        for element in elements.into_iter().rev().take(HOPS_MAX) {
            if !self.is_trusted(client) {
                break;
            }
            let Some(before) = self.header.address(element) else { break };
            client = before;
        }
        client
    }
}

/// Middleware that replaces the peer's address with the client's.
pub async fn layer(
    State(proxies): State<Arc<TrustedProxies>>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Some(ConnectInfo(peer)) = request.extensions().get::<ConnectInfo<SocketAddr>>().copied()
    {
        let client = proxies.client(peer.ip(), request.headers());
        request.extensions_mut().insert(ConnectInfo(SocketAddr::new(client, peer.port())));
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    /// The client of a request, with trusted proxies in 10.0.0.0/8 and fd00::/8.
    fn client(header: ProxyHeader, peer: &str, values: &[&str]) -> String {
        let networks =
            ["10.0.0.0/8", "fd00::/8"].map(|text| text.parse().expect("a range")).to_vec();
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header.header(), value.parse().expect("a value"));
        }
        TrustedProxies { networks, header }.client(ip(peer), &headers).to_string()
    }

    #[test]
    fn only_configured_proxies_are_trusted() {
        use ProxyHeader::XForwardedFor;
        for (peer, values, expected) in [
            ("203.0.113.9", &["198.51.100.1"][..], "203.0.113.9"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.1"], "198.51.100.1"),
            // The client's own entries precede the proxy's.
            ("10.0.0.1", &["192.0.2.66, 198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", &["192.0.2.66", "198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", &["192.0.2.66, 198.51.100.1, 10.0.0.2"], "198.51.100.1"),
            ("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
            ("10.0.0.1", &["198.51.100.1, nonsense"], "10.0.0.1"),
            ("10.0.0.1", &["nonsense, 10.0.0.2"], "10.0.0.2"),
            ("10.0.0.1", &["198.51.100.1:4711"], "198.51.100.1"),
            ("fd00::1", &["2001:db8::7"], "2001:db8::7"),
            ("::ffff:10.0.0.1", &["[2001:db8::7]:4711"], "2001:db8::7"),
            ("10.0.0.1", &[""], "10.0.0.1"),
        ] {
            assert_eq!(client(XForwardedFor, peer, values), expected, "{peer} {values:?}");
        }
        let endless = vec!["10.0.0.2"; HOPS_MAX].join(", ");
        assert_eq!(
            client(XForwardedFor, "10.0.0.1", &[&format!("198.51.100.1, {endless}")]),
            "10.0.0.2"
        );
    }

    #[test]
    fn forwarded_follows_rfc_7239() {
        for (values, expected) in [
            (&["for=198.51.100.1"][..], "198.51.100.1"),
            (&["For=\"[2001:db8:cafe::17]:4711\""], "2001:db8:cafe::17"),
            (&["for=192.0.2.66, proto=http;for=198.51.100.1;by=203.0.113.43"], "198.51.100.1"),
            (&["for=_hidden"], "10.0.0.1"),
            (&["for=unknown"], "10.0.0.1"),
            (&["proto=https"], "10.0.0.1"),
            (&["for=192.0.2.66", "for=198.51.100.1, for=10.0.0.2"], "198.51.100.1"),
        ] {
            assert_eq!(client(ProxyHeader::Forwarded, "10.0.0.1", values), expected, "{values:?}");
        }
        // The header that is not configured is ignored.
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", "192.0.2.66".parse().expect("a value"));
        let networks = vec!["10.0.0.0/8".parse().expect("a range")];
        let proxies = TrustedProxies { networks, header: ProxyHeader::Forwarded };
        assert_eq!(proxies.client(ip("10.0.0.1"), &headers), ip("10.0.0.1"));
    }
}
