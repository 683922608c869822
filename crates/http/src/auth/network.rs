//! Address ranges of an access key's allow list.

use std::net::IpAddr;
use std::str::FromStr;

/// An address range in CIDR form: `192.0.2.0/24`, `2001:db8::/32`, or a single address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix_bits: u32,
}

/// A text that is not an address range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not an address or a range like 192.0.2.0/24")]
pub struct NetworkError(String);

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Network, NetworkError> {
        let error = || NetworkError(text.to_owned());
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| error())?;
        let widest = if address.is_ipv4() { 32 } else { 128 };
        let prefix_bits = match prefix {
            Some(prefix) => prefix.parse().ok().filter(|bits| *bits <= widest).ok_or_else(error)?,
            None => widest,
        };
        Ok(Network { address, prefix_bits })
    }
}

impl Network {
    pub const fn is_ipv6(&self) -> bool {
        self.address.is_ipv6()
    }

    /// Whether `address` is in the range; an IPv4-mapped IPv6 address counts as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let shift = 32 - self.prefix_bits;
                network.to_bits().checked_shr(shift) == address.to_bits().checked_shr(shift)
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let shift = 128 - self.prefix_bits;
                network.to_bits().checked_shr(shift) == address.to_bits().checked_shr(shift)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_contain_their_addresses_only() {
        for (network, address, inside) in [
            ("192.0.2.0/24", "192.0.2.255", true),
            ("192.0.2.0/24", "192.0.3.0", false),
            ("192.0.2.7", "192.0.2.7", true),
            ("192.0.2.7", "192.0.2.8", false),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("192.0.2.0/24", "::ffff:192.0.2.9", true),
            ("2001:db8::/32", "2001:db8:ffff::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("::/0", "192.0.2.1", false),
        ] {
            let network: Network = network.parse().expect("a range");
            assert_eq!(
                network.contains(address.parse().expect("an address")),
                inside,
                "{network:?} {address}"
            );
        }
        for wrong in ["", "192.0.2", "192.0.2.0/33", "::/129", "192.0.2.0/", "192.0.2.0/-1", "host"]
        {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }
}
