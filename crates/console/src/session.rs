//! Sessions: the token in the browser, its digest in the store, and the CSRF token derived from it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::audit::AuditContext;
use domain::characters::one_line;
use domain::identity::Subject;
use domain::time::{Span, Timestamp};
use domain::user::User;
use engine::console::{NewSession, SessionRow, Stage, TotpSecret};
use engine::payments::StoreError;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::HeaderMap;
use sha2::{Digest as _, Sha256};

use super::cookies::Cookie;
use super::state::Console;

/// Minimum interval between recorded uses of a session.
const SEEN_EVERY: Span = Span::secs(60);
/// Maximum duration of a sign-in.
pub(super) const SIGN_IN_MAX: Span = Span::mins(10);
/// The header of the console's script when it refreshes a page: not user activity.
pub(super) const REFRESH: &str = "x-corridor-refresh";
/// Its value if only parts are read again that change quickly.
pub(super) const QUICK: &str = "quick";
/// Random bytes of a token.
const TOKEN_BYTES: usize = 32;
/// Maximum length of a stored browser description.
const BROWSER_MAX_CHARS: usize = 200;

/// The session of a request.
pub(super) struct Signed {
    pub(super) user: User,
    /// The completed sign-in step.
    pub(super) stage: Stage,
    /// SHA-256 of its token.
    pub(super) digest: [u8; 32],
    pub(super) row: SessionRow,
}

/// The token of a session or a sign-in form, as in a cookie.
pub(super) struct Token([u8; TOKEN_BYTES]);

impl Token {
    pub(super) fn fresh(console: &Console) -> Token {
        Token(console.store().random())
    }

    /// Parses a cookie's value.
    pub(super) fn parse(text: &str) -> Option<Token> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        bytes.try_into().ok().map(Token)
    }

    pub(super) fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// The digest under which the store keeps it.
    pub(super) fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.0).into()
    }

    /// The CSRF token of its pages.
    pub(super) fn csrf(&self) -> String {
        self.derived(b"corridor console form")
    }

    /// A value derived for a purpose, which does not reveal the token: 43 letters.
    pub(super) fn derived(&self, purpose: &[u8]) -> String {
        // HMAC takes keys of any length.
        let mut mac = <Hmac<Sha256>>::new_from_slice(&self.0).expect("a key of 32 bytes");
        mac.update(purpose);
        URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
    }

    /// The challenge of a verifier (RFC 7636, `S256`).
    pub(super) fn challenge(verifier: &str) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
    }
}

/// The origin of a sign-in.
pub(super) struct Origin {
    pub(super) address: String,
    /// The browser's description of itself.
    pub(super) browser: String,
    /// The identity provider's subject, if used.
    pub(super) subject: Option<Subject>,
    /// The action, for the audit log.
    pub(super) by: AuditContext,
}

impl Origin {
    /// Truncates the browser's description.
    pub(super) fn new(address: String, user_agent: &str, by: AuditContext) -> Origin {
        Origin { address, browser: one_line(user_agent, BROWSER_MAX_CHARS), subject: None, by }
    }

    /// The same through the identity provider.
    pub(super) fn through(self, subject: Subject) -> Origin {
        Origin { subject: Some(subject), ..self }
    }
}

impl Console {
    /// The session of a request, if still valid.
    pub(super) async fn session_of(
        &self,
        headers: &HeaderMap,
    ) -> Result<Option<(Token, Signed)>, StoreError> {
        let text = Cookie::Session.read(headers, &self.settings);
        let Some(token) = text.as_deref().and_then(Token::parse) else { return Ok(None) };
        let digest = token.digest();
        let Some(row) = self.store().session(digest).await? else { return Ok(None) };
        let now = self.wall_now();
        if self.is_over(&row, now) {
            self.store().end_session(digest).await?;
            return Ok(None);
        }
        if now - row.seen_at >= SEEN_EVERY && !headers.contains_key(REFRESH) {
            self.store().session_seen(digest, now).await?;
        }
        Ok(Some((token, Signed { user: row.user.user.clone(), stage: row.stage, digest, row })))
    }

    fn is_over(&self, row: &SessionRow, now: Timestamp) -> bool {
        let longest = if row.stage == Stage::Open { self.settings.absolute } else { SIGN_IN_MAX };
        now - row.created_at >= longest || now - row.seen_at >= self.settings.idle
    }

    /// Starts a session in place of `old`.
    pub(super) async fn begin(
        &self,
        user: &User,
        stage: Stage,
        totp: Option<TotpSecret>,
        from: Origin,
        old: Option<[u8; 32]>,
    ) -> Result<Token, StoreError> {
        let (token, now) = (Token::fresh(self), self.wall_now());
        let new = NewSession {
            token_digest: token.digest(),
            user,
            stage,
            address: &from.address,
            browser: &from.browser,
            totp,
            subject: from.subject.as_ref(),
            now,
            by: from.by,
        };
        self.store()
            .end_old_sessions(now - self.settings.absolute, now - self.settings.idle)
            .await?;
        self.store().begin_session(&new, old).await?;
        Ok(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_reads_back_and_reveals_neither_its_digest_nor_the_csrf_token() {
        let token = Token([7; TOKEN_BYTES]);
        let text = token.text();
        let again = Token::parse(&text).expect("a token");
        assert_eq!((again.digest(), again.csrf()), (token.digest(), token.csrf()));
        assert_ne!(token.csrf(), text);
        assert_ne!(URL_SAFE_NO_PAD.encode(token.digest()), token.csrf());
        assert!(Token::parse("short").is_none() && Token::parse(&format!("{text}A")).is_none());
        let derived = [b"corridor console form".as_slice(), b"corridor console provider state"]
            .map(|way| token.derived(way));
        assert!(derived[0] == token.csrf() && derived[0] != derived[1]);
        assert_eq!(derived[1].len(), 43, "as RFC 7636 wants a verifier");
    }

    #[test]
    fn the_challenge_of_rfc_7636() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(Token::challenge(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }
}
