//! Currencies and stablecoins with their minor units (ISO 4217; stablecoins: their contracts'
//! `decimals`).

/// A currency that the ledger can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the variants are the ISO 4217 codes themselves")]
pub enum Currency {
    Aed,
    Bdt,
    Bhd,
    Egp,
    Eur,
    Inr,
    Kwd,
    Myr,
    Npr,
    Omr,
    Php,
    Pkr,
    Qar,
    Sar,
    Sgd,
    Try,
    Usd,
    Usdc,
    Usdt,
    Vnd,
}

impl Currency {
    /// All currencies, in alphabetical order of their codes.
    pub const ALL: [Currency; 20] = [
        Currency::Aed,
        Currency::Bdt,
        Currency::Bhd,
        Currency::Egp,
        Currency::Eur,
        Currency::Inr,
        Currency::Kwd,
        Currency::Myr,
        Currency::Npr,
        Currency::Omr,
        Currency::Php,
        Currency::Pkr,
        Currency::Qar,
        Currency::Sar,
        Currency::Sgd,
        Currency::Try,
        Currency::Usd,
        Currency::Usdc,
        Currency::Usdt,
        Currency::Vnd,
    ];

    /// The source currencies of quotes (specification: `CurrencyCode`), in the specification's
    /// order.
    pub const SOURCES: [Currency; 10] = [
        Currency::Bhd,
        Currency::Eur,
        Currency::Kwd,
        Currency::Myr,
        Currency::Omr,
        Currency::Qar,
        Currency::Sar,
        Currency::Sgd,
        Currency::Try,
        Currency::Aed,
    ];

    /// The code as used by the APIs.
    pub const fn code(self) -> &'static str {
        match self {
            Currency::Aed => "AED",
            Currency::Bdt => "BDT",
            Currency::Bhd => "BHD",
            Currency::Egp => "EGP",
            Currency::Eur => "EUR",
            Currency::Inr => "INR",
            Currency::Kwd => "KWD",
            Currency::Myr => "MYR",
            Currency::Npr => "NPR",
            Currency::Omr => "OMR",
            Currency::Php => "PHP",
            Currency::Pkr => "PKR",
            Currency::Qar => "QAR",
            Currency::Sar => "SAR",
            Currency::Sgd => "SGD",
            Currency::Try => "TRY",
            Currency::Usd => "USD",
            Currency::Usdc => "USDC",
            Currency::Usdt => "USDT",
            Currency::Vnd => "VND",
        }
    }

    /// Decimals of the smallest unit that the ledger counts.
    pub const fn minor_units(self) -> u32 {
        match self {
            Currency::Vnd => 0,
            Currency::Bhd | Currency::Kwd | Currency::Omr => 3,
            Currency::Usdc | Currency::Usdt => 6,
            _ => 2,
        }
    }

    /// Parses a code, case-sensitive.
    pub fn parse(code: &str) -> Option<Currency> {
        Currency::ALL.into_iter().find(|currency| currency.code() == code)
    }

    /// Parses a code that a quote or an order may use as its base currency.
    pub fn parse_source(code: &str) -> Option<Currency> {
        Currency::SOURCES.into_iter().find(|currency| currency.code() == code)
    }
}

/// A stablecoin that payments are settled in (specification: `StableCoin`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StableCoin {
    /// USD Coin, issued by Circle; six decimals.
    Usdc,
    /// Tether USD, issued by Tether; six decimals.
    Usdt,
}

impl StableCoin {
    /// Both stablecoins, in alphabetical order of their codes.
    pub const ALL: [StableCoin; 2] = [StableCoin::Usdc, StableCoin::Usdt];

    /// The stablecoin as a currency of the ledger.
    pub const fn currency(self) -> Currency {
        match self {
            StableCoin::Usdc => Currency::Usdc,
            StableCoin::Usdt => Currency::Usdt,
        }
    }

    /// Parses a code, case-sensitive.
    pub fn parse(code: &str) -> Option<StableCoin> {
        StableCoin::ALL.into_iter().find(|coin| coin.currency().code() == code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minor_units_are_those_of_corridors_md() {
        let with = |units: u32| -> Vec<&str> {
            Currency::ALL
                .into_iter()
                .filter(|c| c.minor_units() == units)
                .map(Currency::code)
                .collect()
        };
        assert_eq!(with(0), ["VND"]);
        assert_eq!(with(3), ["BHD", "KWD", "OMR"]);
        assert_eq!(with(6), ["USDC", "USDT"]);
        assert_eq!(with(2).len(), 14);
    }

    #[test]
    fn only_the_ten_base_currencies_of_the_specification_can_be_quoted() {
        for code in ["BHD", "EUR", "KWD", "MYR", "OMR", "QAR", "SAR", "SGD", "TRY", "AED"] {
            assert!(Currency::parse_source(code).is_some(), "{code}");
        }
        for code in ["USD", "INR", "PKR", "USDT", "aed", ""] {
            assert!(Currency::parse_source(code).is_none(), "{code}");
        }
    }
}
