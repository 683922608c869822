//! Which of the three ways to pay is open at first: depends on the sender's stated provider.

/// A way to pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// With an exchange account, in its app.
    Exchange,
    /// With a wallet on a phone.
    Phone,
    /// With a wallet in this browser. Needs a script.
    Browser,
}

/// Browser wallets, in lower case.
const BROWSERS: [&str; 6] = ["browser", "extension", "rabby", "frame", "brave", "ambire"];
/// Phone wallets, in lower case. If one is also in the browser, the script opens the browser way.
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

/// Exchanges to choose from.
const EXCHANGES: [&str; 8] =
    ["Binance", "OKX", "Bybit", "KuCoin", "Coinbase", "Kraken", "BitOasis", "Rain"];
/// Wallet apps to choose from.
const WALLETS: [&str; 4] = ["MetaMask", "Trust Wallet", "Coinbase Wallet", "imToken"];
/// The provider of a sender who pays from this browser.
pub const BROWSER: &str = "Browser wallet";

impl Way {
    pub const ALL: [Way; 3] = [Way::Exchange, Way::Phone, Way::Browser];

    /// The code in links.
    pub const fn code(self) -> &'static str {
        match self {
            Way::Exchange => "exchange",
            Way::Phone => "phone",
            Way::Browser => "browser",
        }
    }

    pub fn parse(code: &str) -> Option<Way> {
        Way::ALL.into_iter().find(|way| way.code() == code)
    }

    /// Providers to choose from.
    pub const fn suggested(self) -> &'static [&'static str] {
        match self {
            Way::Exchange => &EXCHANGES,
            Way::Phone => &WALLETS,
            Way::Browser => &[],
        }
    }

    /// The way for an answer to "Where are you paying from?". Unknown providers default to an
    /// exchange: most are, and copying works everywhere.
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
    fn each_suggestion_opens_the_way_it_is_offered_for() {
        for way in Way::ALL {
            assert_eq!(Way::parse(way.code()), Some(way));
            for name in way.suggested() {
                assert_eq!(Way::of(Some(name)), way, "{name}");
            }
        }
        assert_eq!((Way::of(Some(BROWSER)), Way::parse("bank")), (Way::Browser, None));
    }

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
