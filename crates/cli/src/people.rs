//! The acting users named in a command. Dual control requires the names of two different users.

use clap::Args;
use domain::attempt::evidence_of;
use domain::audit::Deed;
use domain::coin_amount;
use domain::wallet_policy::WalletPolicy;
use unicode_normalization::UnicodeNormalization as _;

use super::failure::Failure;

/// The acting user and the reason.
#[derive(Args, Debug)]
pub struct OnePerson {
    /// User who performs the action
    #[arg(long, value_name = "NAME", value_parser = person)]
    pub by: String,
    /// Reason, for the audit log
    #[arg(long, value_parser = reason)]
    pub why: String,
}

/// The user who decides, and the one who checked a release above the tenant's limit.
#[derive(Args, Debug)]
pub struct Deciders {
    #[command(flatten)]
    person: OnePerson,
    /// User who checked it; must differ from --by
    #[arg(long, value_name = "NAME", value_parser = person)]
    checker: Option<String>,
}

/// Two users who established a fact.
#[derive(Args, Debug)]
pub struct TwoPeople {
    /// User who established it
    #[arg(long, value_parser = person)]
    maker: String,
    /// User who checked it; must differ from --maker
    #[arg(long, value_parser = person)]
    checker: String,
    /// Evidence
    #[arg(long, value_parser = reason)]
    why: String,
}

impl OnePerson {
    /// The actor of the audit entry: this user, through the machine's user.
    pub fn deed(&self, user: &Deed) -> Deed {
        user.clone().on_behalf_of(&self.by).because(&self.why)
    }
}

impl Deciders {
    /// The actor of the audit entry: the users, through the machine's user. `release` is the amount
    /// that the decision releases.
    pub fn deed(
        &self,
        user: &Deed,
        release: Option<i64>,
        policy: &WalletPolicy,
    ) -> Result<Deed, Failure> {
        let deed = self.person.deed(user);
        let Some(checker) = &self.checker else {
            if release.is_some_and(|minor| policy.needs_second(minor)) {
                let limit = coin_amount::show(policy.second_person_above);
                return Err(Failure::Refused(format!(
                    "--checker: required; releasing more than {limit} needs a second user"
                )));
            }
            return Ok(deed);
        };
        must_differ(checker, &self.person.by, "--by")?;
        Ok(deed.together_with(checker))
    }
}

impl TwoPeople {
    /// The actor of the audit entry: both users, through the machine's user.
    pub fn deed(&self, user: &Deed) -> Deed {
        user.clone().on_behalf_of(&self.maker).together_with(&self.checker).because(&self.why)
    }

    /// The evidence, with both names.
    pub fn evidence(&self) -> Result<String, Failure> {
        must_differ(&self.checker, &self.maker, "--maker")?;
        Ok(evidence_of(&self.why, &self.maker, &self.checker))
    }
}

/// Parses a user's name.
pub fn person(text: &str) -> Result<String, String> {
    let name = text.trim();
    if name.is_empty() { Err("must not be blank".to_owned()) } else { Ok(name.to_owned()) }
}

pub fn reason(text: &str) -> Result<String, String> {
    let why = text.trim();
    if why.is_empty() { Err("must not be blank".to_owned()) } else { Ok(why.to_owned()) }
}

fn must_differ(checker: &str, other: &str, option: &str) -> Result<(), Failure> {
    if is_same(checker, other) {
        return Err(Failure::Refused(format!("--checker: must be a different user than {option}")));
    }
    Ok(())
}

/// Whether two names denote the same user, in any spelling (NFC, case-insensitive).
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
    fn two_spellings_are_one_user() {
        for other in ["Ayesha", "AYESHA", " ayesha "] {
            assert!(is_same("ayesha", other), "{other}");
        }
        assert!(is_same("Élodie", "élodie"));
        assert!(is_same("\u{c9}lodie", "e\u{301}lodie"), "composed or not");
        assert!(!is_same("ayesha", "omar"));
    }
}
