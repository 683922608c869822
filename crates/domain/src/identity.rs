//! Identity providers' assertions about users who sign in to the operator console (OpenID Connect
//! Core 1.0), and the reasons for rejecting them. Independent of HTTP and signatures.

/// Longest subject (OpenID Connect Core 1.0, section 2: 255 ASCII characters).
pub const SUBJECT_MAX_BYTES: usize = 255;
/// Maximum length of a user name at a provider: an e-mail address has at most 254 characters.
pub const PROVIDER_NAME_MAX_CHARS: usize = 255;

/// A provider's permanent id of a user: unlike a name or an e-mail address, it is never reassigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Identifier of the provider: its URL, the `iss` claim.
    pub issuer: String,
    /// The user's id (`sub`).
    pub subject: String,
}

names! {
    /// Claim of the ID token that names the user.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum NameClaim: "The claim's name." {
        /// `email`, accepted only with `email_verified`.
        Email = "email",
        /// `preferred_username`: the provider may let its users change it.
        PreferredUsername = "preferred_username",
        /// `upn`, used by Microsoft's providers.
        Upn = "upn",
        /// `sub`: case-sensitive, and never reassigned.
        Subject = "sub",
    }
}

impl NameClaim {
    /// The stored and compared form of a name; `None` if it is invalid. Ignores ASCII case, except
    /// for subjects, which are case-sensitive.
    pub fn kept(self, text: &str) -> Option<String> {
        let text = text.trim();
        let fine = !text.is_empty()
            && text.chars().count() <= PROVIDER_NAME_MAX_CHARS
            && !text.chars().any(|letter| letter.is_control() || letter.is_whitespace());
        let kept = match self {
            NameClaim::Subject => text.to_owned(),
            NameClaim::Email | NameClaim::PreferredUsername | NameClaim::Upn => {
                text.to_ascii_lowercase()
            }
        };
        fine.then_some(kept)
    }
}

/// A user who signed in at a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Id of the user.
    pub subject: Subject,
    /// The user's name from the configured claim, in the form of [`NameClaim::kept`]; else the
    /// reason for rejecting that claim.
    pub name: Result<String, String>,
}

/// Parameters of the authorization request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInQuestion {
    /// URL of the console that the provider redirects the browser to.
    pub redirect_uri: String,
    /// State that the callback has to return.
    pub state: String,
    /// Nonce that the ID token has to contain.
    pub nonce: String,
    /// SHA-256 of the verifier, base64url (RFC 7636, `S256`).
    pub challenge: String,
}

/// Parameters of the callback, with the values needed to redeem the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInAnswer {
    /// Redirect URI of the request.
    pub redirect_uri: String,
    /// Authorization code, which can be redeemed once.
    pub code: String,
    /// The `iss` parameter of the callback (RFC 9207), if present.
    pub issuer: Option<String>,
    /// The verifier of the request's challenge.
    pub verifier: String,
    /// Nonce of the request.
    pub nonce: String,
}

/// Reason why the sign-in failed. The texts are for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdentityFault {
    /// The provider is unavailable or answers incorrectly: retrying may help.
    Away(String),
    /// The provider's or the browser's data is not trustworthy.
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
    fn names_are_normalised_and_subjects_are_not() {
        for claim in NameClaim::ALL {
            assert_eq!(NameClaim::parse(claim.name()), Some(claim));
            for wrong in ["", "  ", "a b", "a\u{7}b", &"x".repeat(PROVIDER_NAME_MAX_CHARS + 1)] {
                assert_eq!(claim.kept(wrong), None, "{wrong:?}");
            }
        }
        assert_eq!(
            NameClaim::Email.kept(" Ayesha@Bank.Example "),
            Some("ayesha@bank.example".to_owned())
        );
        assert_eq!(NameClaim::Subject.kept("auth0|aB"), Some("auth0|aB".to_owned()));
        // The Kelvin sign is not a k: only ASCII case is ignored.
        assert_eq!(NameClaim::Email.kept("\u{212a}ahn@x"), Some("\u{212a}ahn@x".to_owned()));
    }
}
