//! The seven destination countries and their constant facts (ISO 3166-1).

use crate::currency::Currency;

/// A destination country (specification: `ApiCountry`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Country {
    /// Bangladesh, `BGD`: pays out in BDT.
    Bgd,
    /// Egypt, `EGY`: pays out in EGP.
    Egy,
    /// India, `IND`: pays out in INR.
    Ind,
    /// Nepal, `NPL`: pays out in NPR.
    Npl,
    /// Pakistan, `PAK`: pays out in PKR.
    Pak,
    /// The Philippines, `PHL`: pays out in PHP.
    Phl,
    /// Vietnam, `VNM`: pays out in VND.
    Vnm,
}

impl Country {
    /// All destinations, in alphabetical order of their codes.
    pub const ALL: [Country; 7] = [
        Country::Bgd,
        Country::Egy,
        Country::Ind,
        Country::Npl,
        Country::Pak,
        Country::Phl,
        Country::Vnm,
    ];

    /// ISO 3166-1 alpha-3 code, as in the API.
    pub const fn alpha3(self) -> &'static str {
        match self {
            Country::Bgd => "BGD",
            Country::Egy => "EGY",
            Country::Ind => "IND",
            Country::Npl => "NPL",
            Country::Pak => "PAK",
            Country::Phl => "PHL",
            Country::Vnm => "VNM",
        }
    }

    /// ISO 3166-1 alpha-2 code, as in BICs and ISO 20022.
    pub const fn alpha2(self) -> &'static str {
        match self {
            Country::Bgd => "BD",
            Country::Egy => "EG",
            Country::Ind => "IN",
            Country::Npl => "NP",
            Country::Pak => "PK",
            Country::Phl => "PH",
            Country::Vnm => "VN",
        }
    }

    /// English name, as in titles.
    pub const fn name(self) -> &'static str {
        match self {
            Country::Bgd => "Bangladesh",
            Country::Egy => "Egypt",
            Country::Ind => "India",
            Country::Npl => "Nepal",
            Country::Pak => "Pakistan",
            Country::Phl => "Philippines",
            Country::Vnm => "Vietnam",
        }
    }

    /// Payout currency of the country (specification: `DestinationCurrency`).
    pub const fn currency(self) -> Currency {
        match self {
            Country::Bgd => Currency::Bdt,
            Country::Egy => Currency::Egp,
            Country::Ind => Currency::Inr,
            Country::Npl => Currency::Npr,
            Country::Pak => Currency::Pkr,
            Country::Phl => Currency::Php,
            Country::Vnm => Currency::Vnd,
        }
    }

    /// IANA name of its time zone: each country has one.
    pub const fn time_zone(self) -> &'static str {
        match self {
            Country::Bgd => "Asia/Dhaka",
            Country::Egy => "Africa/Cairo",
            Country::Ind => "Asia/Kolkata",
            Country::Npl => "Asia/Kathmandu",
            Country::Pak => "Asia/Karachi",
            Country::Phl => "Asia/Manila",
            Country::Vnm => "Asia/Ho_Chi_Minh",
        }
    }

    /// Parses the alpha-3 code, case-sensitive.
    pub fn parse(code: &str) -> Option<Country> {
        Country::ALL.into_iter().find(|country| country.alpha3() == code)
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
        for wrong in ["", "pak", "PK", "USA", "PAK "] {
            assert_eq!(Country::parse(wrong), None, "{wrong:?}");
        }
    }
}
