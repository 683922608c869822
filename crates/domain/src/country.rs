//! The destination countries and their constant facts (ISO 3166-1).

use crate::currency::Currency;

macro_rules! destinations {
    ($($country:ident: $alpha3:literal, $alpha2:literal, $name:literal, $currency:ident, $time_zone:literal;)+) => {
        /// A destination country (specification: `ApiCountry`).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Country {
            $(
                #[doc = $name]
                $country,
            )+
        }

        impl Country {
            /// All destinations, in alphabetical order of their codes.
            pub const ALL: [Country; [$($alpha3),+].len()] = [$(Country::$country),+];

            /// ISO 3166-1 alpha-3 code, as in the API.
            pub const fn alpha3(self) -> &'static str {
                match self {
                    $(Country::$country => $alpha3,)+
                }
            }

            /// ISO 3166-1 alpha-2 code, as in BICs and ISO 20022.
            pub const fn alpha2(self) -> &'static str {
                match self {
                    $(Country::$country => $alpha2,)+
                }
            }

            /// English name, as in titles.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Country::$country => $name,)+
                }
            }

            /// Payout currency of the country (specification: `DestinationCurrency`).
            pub const fn currency(self) -> Currency {
                match self {
                    $(Country::$country => Currency::$currency,)+
                }
            }

            /// IANA name of its time zone: each country has one.
            pub const fn time_zone(self) -> &'static str {
                match self {
                    $(Country::$country => $time_zone,)+
                }
            }
        }
    };
}

// Order rules and an example beneficiary are in `order::rules`, the format of IBANs is in `iban`.
destinations! {
    Bgd: "BGD", "BD", "Bangladesh", Bdt, "Asia/Dhaka";
    Egy: "EGY", "EG", "Egypt", Egp, "Africa/Cairo";
    Ind: "IND", "IN", "India", Inr, "Asia/Kolkata";
    Npl: "NPL", "NP", "Nepal", Npr, "Asia/Kathmandu";
    Pak: "PAK", "PK", "Pakistan", Pkr, "Asia/Karachi";
    Phl: "PHL", "PH", "Philippines", Php, "Asia/Manila";
    Vnm: "VNM", "VN", "Vietnam", Vnd, "Asia/Ho_Chi_Minh";
}

impl Country {
    /// Parses the alpha-3 code, case-sensitive.
    pub fn parse(code: &str) -> Option<Country> {
        Country::ALL.into_iter().find(|country| country.alpha3() == code)
    }

    /// The destination that pays out in a currency: at most one does.
    pub fn paid_in(currency: Currency) -> Option<Country> {
        Country::ALL.into_iter().find(|country| country.currency() == currency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_codes_parse() {
        for country in Country::ALL {
            assert_eq!(Country::parse(country.alpha3()), Some(country));
        }
        for country in Country::ALL {
            assert_eq!(Country::paid_in(country.currency()), Some(country), "one country each");
        }
        assert_eq!(Country::paid_in(Currency::Aed), None);
        for wrong in ["", "pak", "PK", "USA", "PAK "] {
            assert_eq!(Country::parse(wrong), None, "{wrong:?}");
        }
    }
}
