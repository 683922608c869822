//! Which of the three ways to pay is shown open: what the sender has said about where he pays from decides.

/// A way to pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From an account at an exchange, by its app.
    Exchange,
    /// From a wallet on a telephone.
    Phone,
    /// From a wallet in this browser. It needs a script.
    Browser,
}

/// Wallets that live in a browser, in lower case.
const BROWSERS: [&str; 6] = ["browser", "extension", "rabby", "frame", "brave", "ambire"];
/// Wallets that live on a telephone, in lower case. Where the browser has one of them too, the script opens that way.
const PHONES: [&str; 18] = [
    "wallet",
    "metamask",
    "meta mask",
    "trust",
    "phantom",
    "rainbow",
    "argent",
    "imtoken",
    "tokenpocket",
    "safepal",
    "zerion",
    "exodus",
    "uniswap",
    "ledger",
    "trezor",
    "phone",
    "mobile",
    "1inch",
];

/// What a sender is offered to write.
pub const SUGGESTED: [&str; 10] =
    ["Binance", "OKX", "Bybit", "KuCoin", "Coinbase", "Kraken", "BitOasis", "Rain", "MetaMask", "Trust Wallet"];

impl Way {
    /// The way of an answer to "Where are you paying from?". Whoever names nothing that is known pays from an exchange:
    /// most do, and copying works everywhere.
    pub fn of(provider: Option<&str>) -> Way {
        let provider = provider.unwrap_or_default().to_lowercase();
        let names = |known: &[&str]| known.iter().any(|name| provider.contains(name));
        match () {
            () if names(&BROWSERS) => Way::Browser,
            () if names(&PHONES) => Way::Phone,
            () => Way::Exchange,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_opens_its_way() {
        for (provider, way) in [
            (None, Way::Exchange),
            (Some("Binance"), Way::Exchange),
            (Some("okx app"), Way::Exchange),
            (Some("Something new"), Way::Exchange),
            (Some("MetaMask"), Way::Phone),
            (Some("my TRUST wallet"), Way::Phone),
            (Some("Coinbase Wallet"), Way::Phone),
            (Some("Rabby"), Way::Browser),
            (Some("MetaMask browser extension"), Way::Browser),
        ] {
            assert_eq!(Way::of(provider), way, "{provider:?}");
        }
    }
}
