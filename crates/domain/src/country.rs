//! The seven destination countries and the facts about them that never change (ISO 3166-1).

use crate::currency::Currency;

/// A destination country (specification: `ApiCountry`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Country {
    /// Bangladesh
    Bgd,
    /// Egypt
    Egy,
    /// India
    Ind,
    /// Nepal
    Npl,
    /// Pakistan
    Pak,
    /// The Philippines
    Phl,
    /// Vietnam
    Vnm,
}

impl Country {
    /// Every destination, in alphabetical order of its code.
    pub const ALL: [Country; 7] =
        [Country::Bgd, Country::Egy, Country::Ind, Country::Npl, Country::Pak, Country::Phl, Country::Vnm];

    /// ISO 3166-1 alpha-3, as the interface writes it.
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

    /// ISO 3166-1 alpha-2, as BICs and ISO 20022 write it.
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

    /// The currency that a beneficiary there is paid in (specification: `DestinationCurrency`).
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

    /// The IANA name of its time zone: each of them has one.
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

    /// Reads the alpha-3 code, exactly as written.
    pub fn parse(code: &str) -> Option<Country> {
        Country::ALL.into_iter().find(|country| country.alpha3() == code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_read_back_and_nothing_else_does() {
        for country in Country::ALL {
            assert_eq!(Country::parse(country.alpha3()), Some(country));
        }
        for wrong in ["", "pak", "PK", "USA", "PAK "] {
            assert_eq!(Country::parse(wrong), None, "{wrong:?}");
        }
    }
}
