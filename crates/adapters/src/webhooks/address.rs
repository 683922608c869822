//! The addresses that a webhook may be sent to (`decisions.md`, "Webhooks"). Banks choose their
//! endpoints' URLs, which must not make this program connect to its own network. Independent of
//! names and HTTP.
//!
//! Source: IANA's special-purpose address registries (RFC 6890 and its updates).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Inward {
    /// In `0.0.0.0/8`, or `::`.
    #[error("unspecified")]
    Unspecified,
    /// In `127.0.0.0/8`, or `::1`.
    #[error("loopback")]
    Loopback,
    /// RFC 1918, and unique local addresses (`fc00::/7`)
    #[error("private")]
    Private,
    /// `169.254.0.0/16`, `fe80::/10`: link-local, and the metadata service of many clouds
    #[error("link-local")]
    LinkLocal,
    /// In `100.64.0.0/10`, the shared address space.
    #[error("shared by a provider's customers")]
    CarrierGrade,
    /// In `224.0.0.0/4` or `ff00::/8`.
    #[error("multicast")]
    Multicast,
    /// The single address `255.255.255.255`.
    #[error("broadcast")]
    Broadcast,
    /// TEST-NET-1 to 3, `2001:db8::/32`, `3fff::/20`
    #[error("for documentation")]
    Documentation,
    /// In `198.18.0.0/15` or `2001:2::/48`.
    #[error("for benchmarks")]
    Benchmark,
    /// `::ffff:0:0/96`, `::/96`: IPv4-mapped or IPv4-compatible address
    #[error("an IPv4 address written as IPv6")]
    Mapped,
    /// `64:ff9b::/96`, `64:ff9b:1::/48`, `2002::/16`, `2001::/32`, `192.88.99.0/24`: translates to
    /// another address
    #[error("a translation to another address")]
    Translated,
    /// Not globally routable: `240.0.0.0/4`, `192.0.0.0/24`, all IPv6 outside `2000::/3` …
    #[error("reserved")]
    Reserved,
    /// `168.63.129.16`: a public number, but the host of a virtual machine in Azure
    #[error("a cloud's own")]
    CloudHost,
}

/// Checks that an address is globally routable on the internet.
pub fn outward(address: IpAddr) -> Result<(), Inward> {
    let found = match address {
        IpAddr::V4(address) => inward_v4(address),
        IpAddr::V6(address) => inward_v6(address),
    };
    found.map_or(Ok(()), Err)
}

/// Network, prefix length, kind. The first match counts.
const V4: [(Ipv4Addr, u32, Inward); 17] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, Inward::Unspecified),
    (Ipv4Addr::new(10, 0, 0, 0), 8, Inward::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, Inward::CarrierGrade),
    (Ipv4Addr::new(127, 0, 0, 0), 8, Inward::Loopback),
    (Ipv4Addr::new(168, 63, 129, 16), 32, Inward::CloudHost),
    (Ipv4Addr::new(169, 254, 0, 0), 16, Inward::LinkLocal),
    (Ipv4Addr::new(172, 16, 0, 0), 12, Inward::Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, Inward::Reserved),
    (Ipv4Addr::new(192, 0, 2, 0), 24, Inward::Documentation),
    (Ipv4Addr::new(192, 88, 99, 0), 24, Inward::Translated),
    (Ipv4Addr::new(192, 168, 0, 0), 16, Inward::Private),
    (Ipv4Addr::new(198, 18, 0, 0), 15, Inward::Benchmark),
    (Ipv4Addr::new(198, 51, 100, 0), 24, Inward::Documentation),
    (Ipv4Addr::new(203, 0, 113, 0), 24, Inward::Documentation),
    (Ipv4Addr::new(224, 0, 0, 0), 4, Inward::Multicast),
    (Ipv4Addr::BROADCAST, 32, Inward::Broadcast),
    (Ipv4Addr::new(240, 0, 0, 0), 4, Inward::Reserved),
];

fn inward_v4(address: Ipv4Addr) -> Option<Inward> {
    let bits = address.to_bits();
    V4.into_iter()
        .find(|(network, length, _)| (bits ^ network.to_bits()) >> (32 - length) == 0)
        .map(|(_, _, why)| why)
}

const V6: [(Ipv6Addr, u32, Inward); 16] = [
    (Ipv6Addr::UNSPECIFIED, 128, Inward::Unspecified),
    (Ipv6Addr::LOCALHOST, 128, Inward::Loopback),
    (Ipv6Addr::UNSPECIFIED, 96, Inward::Mapped),
    (Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96, Inward::Mapped),
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96, Inward::Translated),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, Inward::Translated),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32, Inward::Translated),
    (Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0), 48, Inward::Benchmark),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, Inward::Reserved),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, Inward::Documentation),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, Inward::Translated),
    (Ipv6Addr::new(0x3ffe, 0, 0, 0, 0, 0, 0, 0), 16, Inward::Reserved),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, Inward::Documentation),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, Inward::Private),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, Inward::LinkLocal),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, Inward::Multicast),
];
/// The public range; the rest of IPv6 is reserved.
const GLOBAL_V6: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

fn inward_v6(address: Ipv6Addr) -> Option<Inward> {
    let bits = address.to_bits();
    let within = |network: Ipv6Addr, length: u32| (bits ^ network.to_bits()) >> (128 - length) == 0;
    let special = V6
        .into_iter()
        .find(|(network, length, _)| within(*network, *length))
        .map(|(_, _, why)| why);
    special.or_else(|| (!within(GLOBAL_V6.0, GLOBAL_V6.1)).then_some(Inward::Reserved))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_addresses_are_named_by_kind() {
        for (text, why) in [
            ("0.0.0.0", Inward::Unspecified),
            ("0.1.2.3", Inward::Unspecified),
            ("10.0.0.1", Inward::Private),
            ("100.64.0.1", Inward::CarrierGrade),
            ("100.127.255.255", Inward::CarrierGrade),
            ("127.0.0.1", Inward::Loopback),
            ("127.255.255.254", Inward::Loopback),
            ("168.63.129.16", Inward::CloudHost),
            ("169.254.169.254", Inward::LinkLocal),
            ("172.16.0.1", Inward::Private),
            ("172.31.255.255", Inward::Private),
            ("192.0.0.192", Inward::Reserved),
            ("192.0.2.1", Inward::Documentation),
            ("192.88.99.1", Inward::Translated),
            ("192.168.1.1", Inward::Private),
            ("198.18.0.1", Inward::Benchmark),
            ("198.19.255.255", Inward::Benchmark),
            ("198.51.100.7", Inward::Documentation),
            ("203.0.113.7", Inward::Documentation),
            ("224.0.0.1", Inward::Multicast),
            ("239.255.255.255", Inward::Multicast),
            ("240.0.0.1", Inward::Reserved),
            ("255.255.255.254", Inward::Reserved),
            ("255.255.255.255", Inward::Broadcast),
            ("::", Inward::Unspecified),
            ("::1", Inward::Loopback),
            ("::127.0.0.1", Inward::Mapped),
            ("::ffff:127.0.0.1", Inward::Mapped),
            ("::ffff:8.8.8.8", Inward::Mapped),
            ("::ffff:0:8.8.8.8", Inward::Reserved),
            ("64:ff9b::7f00:1", Inward::Translated),
            ("64:ff9b:1::7f00:1", Inward::Translated),
            ("100::1", Inward::Reserved),
            ("2001::1", Inward::Translated),
            ("2001:0:7f00:1::", Inward::Translated),
            ("2001:2::1", Inward::Benchmark),
            ("2001:10::1", Inward::Reserved),
            ("2001:db8::1", Inward::Documentation),
            ("2002:7f00:1::1", Inward::Translated),
            ("3ffe::1", Inward::Reserved),
            ("3fff:fff:ffff::1", Inward::Documentation),
            ("4000::1", Inward::Reserved),
            ("5f00::1", Inward::Reserved),
            ("fc00::1", Inward::Private),
            ("fd00:ec2::254", Inward::Private),
            ("fe80::1", Inward::LinkLocal),
            ("fec0::1", Inward::Reserved),
            ("ff02::1", Inward::Multicast),
        ] {
            let address: IpAddr = text.parse().expect("an address");
            assert_eq!(outward(address), Err(why), "{text}");
        }
    }

    #[test]
    fn addresses_next_to_reserved_ranges_are_public() {
        for text in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "203.0.112.255",
            "203.0.114.0",
            "223.255.255.255",
            "2001:200::1",
            "2001:db7::1",
            "2001:db9::1",
            "2003::1",
            "2606:4700::1111",
            "2a00::1",
            "3ffd:ffff::1",
            "3fff:1000::1",
        ] {
            assert_eq!(outward(text.parse().expect("an address")), Ok(()), "{text}");
        }
    }
}
