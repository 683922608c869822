//! What an identity provider says about somebody who signs in to the operator console (OpenID Connect Core 1.0), and
//! why what it says is not taken. It knows neither HTTP nor signatures.

/// Longest subject (OpenID Connect Core 1.0, section 2: 255 ASCII characters).
pub const SUBJECT_MAX_BYTES: usize = 255;
/// Longest name of somebody at a provider: an e-mail address has at most 254 characters.
pub const PROVIDER_NAME_MAX_CHARS: usize = 255;

/// Somebody, as a provider will always know him: never given to anybody else there, unlike a name or an e-mail address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The provider (`iss`).
    pub issuer: String,
    /// Whom it means (`sub`).
    pub subject: String,
}

/// Which claim of an ID token names somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameClaim {
    /// `email`, taken only where the provider says `email_verified`.
    Email,
    /// `preferred_username`
    PreferredUsername,
    /// `upn`, of Microsoft's providers.
    Upn,
    /// `sub`
    Subject,
}

impl NameClaim {
    /// Every claim.
    pub const ALL: [NameClaim; 4] =
        [NameClaim::Email, NameClaim::PreferredUsername, NameClaim::Upn, NameClaim::Subject];

    /// The claim's name.
    pub const fn name(self) -> &'static str {
        match self {
            NameClaim::Email => "email",
            NameClaim::PreferredUsername => "preferred_username",
            NameClaim::Upn => "upn",
            NameClaim::Subject => "sub",
        }
    }

    /// Reads [`NameClaim::name`].
    pub fn parse(text: &str) -> Option<NameClaim> {
        NameClaim::ALL.into_iter().find(|claim| claim.name() == text)
    }

    /// A name in the form that it is kept and compared in; `None` where it is none. Without regard to ASCII case, but for
    /// subjects: those differ in it.
    pub fn kept(self, text: &str) -> Option<String> {
        let text = text.trim();
        let fine = !text.is_empty()
            && text.chars().count() <= PROVIDER_NAME_MAX_CHARS
            && !text.chars().any(|letter| letter.is_control() || letter.is_whitespace());
        let kept = match self {
            NameClaim::Subject => text.to_owned(),
            NameClaim::Email | NameClaim::PreferredUsername | NameClaim::Upn => text.to_ascii_lowercase(),
        };
        fine.then_some(kept)
    }
}

/// Who has signed in at a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Who it is.
    pub subject: Subject,
    /// How the configured claim names him, as [`NameClaim::kept`] has it; else why that claim is not taken.
    pub name: Result<String, String>,
}

/// What a browser is sent to a provider with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInQuestion {
    /// Where the provider sends the browser back to.
    pub redirect_uri: String,
    /// What it has to bring back.
    pub state: String,
    /// What the ID token has to say.
    pub nonce: String,
    /// SHA-256 of the verifier, base64url (RFC 7636, `S256`).
    pub challenge: String,
}

/// What a browser brings back, with what is needed to redeem it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInAnswer {
    /// As in the question.
    pub redirect_uri: String,
    /// The authorization code.
    pub code: String,
    /// The `iss` of the answer (RFC 9207), where it has one.
    pub issuer: Option<String>,
    /// The verifier behind the question's challenge.
    pub verifier: String,
    /// As in the question.
    pub nonce: String,
}

/// Why nobody is signed in. The words are for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdentityFault {
    /// The provider does not answer, or not as it should: another try may help.
    Away(String),
    /// What it said, or what the browser brought, is not to be believed.
    Refused(String),
}

impl std::fmt::Display for IdentityFault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            IdentityFault::Away(why) | IdentityFault::Refused(why) => out.write_str(why),
        }
    }
}

impl std::error::Error for IdentityFault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_spelling_and_a_subject_its_own() {
        for claim in NameClaim::ALL {
            assert_eq!(NameClaim::parse(claim.name()), Some(claim));
            for wrong in ["", "  ", "a b", "a\u{7}b", &"x".repeat(PROVIDER_NAME_MAX_CHARS + 1)] {
                assert_eq!(claim.kept(wrong), None, "{wrong:?}");
            }
        }
        assert_eq!(NameClaim::Email.kept(" Ayesha@Bank.Example "), Some("ayesha@bank.example".to_owned()));
        assert_eq!(NameClaim::Subject.kept("auth0|aB"), Some("auth0|aB".to_owned()));
        // The Kelvin sign is no k: only what differs in ASCII case is one name.
        assert_eq!(NameClaim::Email.kept("\u{212a}ahn@x"), Some("\u{212a}ahn@x".to_owned()));
    }
}
