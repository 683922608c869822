//! Business identifier codes (ISO 9362) of banks.
//!
//! Validates the format only; the bank directory knows which banks exist.

use std::fmt;

/// Branch part of the head office; a BIC of 8 characters is equivalent.
const HEAD_OFFICE: &[u8; 3] = b"XXX";

/// A well-formed BIC of 8 or 11 characters, in upper case, with its original length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bic(String);

/// Comparison key: the 11-character form, equal for all BICs of one branch.
pub type BicKey = [u8; 11];

impl Bic {
    /// Parses `[A-Z]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?`; accepts lower case.
    pub fn parse(text: &str) -> Option<Bic> {
        let text = text.to_ascii_uppercase();
        let bytes = text.as_bytes();
        let well_formed = matches!(bytes.len(), 8 | 11)
            && bytes[..6].iter().all(u8::is_ascii_uppercase)
            && bytes[6..].iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
        well_formed.then_some(Bic(text))
    }

    /// The code as given, in upper case.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The four letters of the institution.
    pub fn institution(&self) -> &str {
        &self.0[..4]
    }

    /// ISO 3166-1 alpha-2 of the country.
    pub fn country(&self) -> &str {
        &self.0[4..6]
    }

    /// The 11-character form, with `XXX` for the head office.
    pub fn key(&self) -> BicKey {
        let mut key = [0; 11];
        key[..8].copy_from_slice(&self.0.as_bytes()[..8]);
        key[8..].copy_from_slice(self.0.as_bytes().get(8..11).unwrap_or(HEAD_OFFICE));
        key
    }

    /// The 8-character BIC of the same bank's head office.
    pub fn head_office(&self) -> Bic {
        Bic(self.0[..8].to_owned())
    }
}

impl fmt::Display for Bic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_and_eleven_characters_are_read() {
        let bic = Bic::parse("habbpkka007").expect("well-formed");
        assert_eq!((bic.as_str(), bic.institution(), bic.country()), ("HABBPKKA007", "HABB", "PK"));
        assert_eq!(bic.head_office().as_str(), "HABBPKKA");
        for wrong in [
            "",
            "SCBL",
            "SCBLPKK",
            "SCBLPKKX1",
            "SCB1PKKX",
            "SCBL1KKX",
            "SCBLPKKX-XX",
            "SCBLPKK\u{e9}",
        ] {
            assert_eq!(Bic::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn eight_characters_mean_the_head_office() {
        let key = |text: &str| Bic::parse(text).expect("well-formed").key();
        assert_eq!(key("SCBLPKKX"), key("SCBLPKKXXXX"));
        assert_ne!(key("HABBPKKA"), key("HABBPKKA007"));
    }
}
