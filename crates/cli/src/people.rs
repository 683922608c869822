//! The people whom commands name. Four eyes are two names that are not one person's.

use clap::Args;
use domain::audit::Deed;
use unicode_normalization::UnicodeNormalization as _;

use super::failure::Failure;

/// Somebody who does something.
#[derive(Args, Debug)]
pub struct OnePerson {
    /// Who does it
    #[arg(long, value_name = "NAME", value_parser = person)]
    pub by: String,
    /// Why
    #[arg(long, value_parser = reason)]
    pub why: String,
}

/// Two people who found something out.
#[derive(Args, Debug)]
pub struct TwoPeople {
    /// Who found out
    #[arg(long, value_parser = person)]
    maker: String,
    /// Who checked it: somebody else
    #[arg(long, value_parser = person)]
    checker: String,
    /// How they know
    #[arg(long, value_parser = reason)]
    why: String,
}

impl OnePerson {
    /// What this person does through the machine's user.
    pub fn deed(&self, user: &Deed) -> Deed {
        user.clone().on_behalf_of(&self.by).because(&self.why)
    }
}

impl TwoPeople {
    /// What they do through the machine's user.
    pub fn deed(&self, user: &Deed) -> Deed {
        user.clone().on_behalf_of(&self.maker).together_with(&self.checker).because(&self.why)
    }

    /// What they know it from, with their names.
    pub fn evidence(&self) -> Result<String, Failure> {
        if is_same(&self.maker, &self.checker) {
            return Err(Failure::Refused("--checker: must be somebody else than --maker".to_owned()));
        }
        Ok(format!("{} (found by {}, checked by {})", self.why, self.maker, self.checker))
    }
}

/// Reads somebody's name.
pub fn person(text: &str) -> Result<String, String> {
    let name = text.trim();
    if name.is_empty() { Err("must be somebody's name".to_owned()) } else { Ok(name.to_owned()) }
}

/// Reads why somebody did something.
pub fn reason(text: &str) -> Result<String, String> {
    let why = text.trim();
    if why.is_empty() { Err("must say why".to_owned()) } else { Ok(why.to_owned()) }
}

/// Whether two names are one person's, however they are written (NFC, without regard to case).
pub fn is_same(one: &str, other: &str) -> bool {
    let plain = |name: &str| name.trim().nfc().collect::<String>().to_lowercase();
    plain(one) == plain(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_not_blank() {
        assert_eq!(person(" ayesha "), Ok("ayesha".to_owned()));
        assert!(person("").is_err() && person(" \t").is_err());
        assert!(reason(" ").is_err() && reason("asked by e-mail").is_ok());
    }

    #[test]
    fn one_person_is_not_two_by_another_spelling() {
        for other in ["Ayesha", "AYESHA", " ayesha "] {
            assert!(is_same("ayesha", other), "{other}");
        }
        assert!(is_same("Élodie", "élodie"));
        assert!(is_same("\u{c9}lodie", "e\u{301}lodie"), "composed or not");
        assert!(!is_same("ayesha", "omar"));
    }
}
