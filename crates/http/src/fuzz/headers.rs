//! Headers of requests.

use std::net::{IpAddr, Ipv4Addr};

use http::{HeaderMap, HeaderName, HeaderValue, Method, Request};

use super::text;
use crate::auth::{AccessKey, Network};
use crate::idempotency;
use crate::pay_page::language::Language;
use crate::proxies::{ProxyHeader, TrustedProxies};

/// The first line is an address or a network, the rest the value of a header that is read.
pub(super) fn request(bytes: &[u8]) {
    let (first, rest) = text(bytes).and_then(|text| text.split_once('\n')).unwrap_or_default();
    if let Ok(network) = first.parse::<Network>() {
        let _inside = network.contains(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    if let Some(key) = AccessKey::parse(first) {
        assert_eq!(format!("{}-{}-{}", key.tag, key.usage, key.random), first);
    }
    let _language = Language::accepted(rest);
    let Ok(value) = HeaderValue::from_bytes(rest.as_bytes()) else { return };
    for (name, header) in
        [("x-forwarded-for", ProxyHeader::XForwardedFor), ("forwarded", ProxyHeader::Forwarded)]
    {
        let networks = vec!["127.0.0.0/8".parse().expect("a network")];
        let peer = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let headers = HeaderMap::from_iter([(HeaderName::from_static(name), value.clone())]);
        let _client = TrustedProxies { networks, header }.client(peer, &headers);
        let stranger = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
        let trusted = TrustedProxies { networks: Vec::new(), header };
        assert_eq!(trusted.client(stranger, &headers), stranger, "only a proxy is believed");
    }
    let request = Request::builder().method(Method::POST).uri("/v2/payment");
    let request = request.header("idempotency-key", value).body(()).expect("a request");
    if let Ok(Some(read)) = idempotency::of(&request.into_parts().0, b"{}") {
        assert!((1..=255).contains(&read.key.key.len()) && read.key.key.is_ascii());
    }
}
