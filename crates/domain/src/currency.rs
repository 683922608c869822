//! Currencies and stablecoins with their minor units (ISO 4217; stablecoins: their contracts'
//! `decimals`).

use crate::fault::Fault;

macro_rules! currencies {
    ($($currency:ident: $code:literal, $minor_units:literal;)+) => {
        /// A currency that the ledger can hold.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "the variants are the ISO 4217 codes themselves")]
        pub enum Currency {
            $($currency,)+
        }

        impl Currency {
            /// All currencies, in alphabetical order of their codes.
            pub const ALL: [Currency; [$($code),+].len()] = [$(Currency::$currency),+];

            /// The code as used by the APIs.
            pub const fn code(self) -> &'static str {
                match self {
                    $(Currency::$currency => $code,)+
                }
            }

            /// Decimals of the smallest unit that the ledger counts.
            pub const fn minor_units(self) -> u32 {
                match self {
                    $(Currency::$currency => $minor_units,)+
                }
            }
        }
    };
}

currencies! {
    Aed: "AED", 2;
    Bdt: "BDT", 2;
    Bhd: "BHD", 3;
    Egp: "EGP", 2;
    Eur: "EUR", 2;
    Inr: "INR", 2;
    Kwd: "KWD", 3;
    Myr: "MYR", 2;
    Npr: "NPR", 2;
    Omr: "OMR", 3;
    Php: "PHP", 2;
    Pkr: "PKR", 2;
    Qar: "QAR", 2;
    Sar: "SAR", 2;
    Sgd: "SGD", 2;
    Try: "TRY", 2;
    Usd: "USD", 2;
    Usdc: "USDC", 6;
    Usdt: "USDT", 6;
    Vnd: "VND", 0;
}

impl Currency {
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

    /// Parses a code, case-sensitive.
    pub fn parse(code: &str) -> Option<Currency> {
        Currency::ALL.into_iter().find(|currency| currency.code() == code)
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

    /// The fault of a field that names it for a wallet on whose chain it has no contract.
    pub fn not_on_chain(self, field: &'static str) -> Fault {
        let code = self.currency().code();
        Fault::new(field, "token", format!("{code} is not supported on the wallet's blockchain"))
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
        let mut codes = Currency::SOURCES.map(Currency::code);
        codes.sort_unstable();
        assert_eq!(codes, ["AED", "BHD", "EUR", "KWD", "MYR", "OMR", "QAR", "SAR", "SGD", "TRY"]);
    }
}
