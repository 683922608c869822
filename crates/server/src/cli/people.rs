//! The people whom commands name. Four eyes are two names that are not one person's.

use clap::Args;

use super::failure::Failure;

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
    #[arg(long)]
    why: String,
}

impl TwoPeople {
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

/// Whether two names are one person's.
pub fn is_same(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_not_blank() {
        assert_eq!(person(" ayesha "), Ok("ayesha".to_owned()));
        assert!(person("").is_err() && person(" \t").is_err());
    }

    #[test]
    fn one_person_is_not_two_by_another_spelling() {
        for other in ["Ayesha", "AYESHA", " ayesha "] {
            assert!(is_same("ayesha", other), "{other}");
        }
        assert!(is_same("Élodie", "élodie"));
        assert!(!is_same("ayesha", "omar"));
    }
}
