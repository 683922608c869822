//! Why a token is refused: precise here, and disclosed to callers only outside production.

use http::StatusCode;

use crate::problem::{Problem, WalletProblem};

/// The defect of a token. Checks run in the order of the variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthFault {
    /// The header `authorization` is missing.
    #[error("authorization: the header is missing")]
    Missing,
    /// More than one `authorization` header.
    #[error("authorization: the header is given more than once")]
    Repeated,
    /// The header exceeds [`super::AUTHORIZATION_MAX_BYTES`].
    #[error("authorization: longer than {} bytes", super::AUTHORIZATION_MAX_BYTES)]
    TooLong,
    /// The header is not `Bearer <token>`.
    #[error("authorization: not of the form 'Bearer <token>'")]
    Scheme,
    /// Not three parts between two dots.
    #[error("token: not three parts joined by dots")]
    Parts,
    /// Not canonical base64url without padding (RFC 7515, section 2).
    #[error("token: a part is not canonical base64url without padding")]
    Base64,
    /// A part is not a JSON object, or names a member twice.
    #[error("token: header or claims are not a strict JSON object")]
    Json,
    /// A header member with which the token would choose its own key or rules.
    #[error("header: jku, jwk, x5u, x5c, crit and b64 are not accepted")]
    HeaderMember,
    /// `alg` is not HS256.
    #[error("alg: must be HS256")]
    Alg,
    /// `typ` is not JWT.
    #[error("typ: must be JWT")]
    Typ,
    /// `kid` is not of the form of an access key.
    #[error("kid: must be the access key")]
    Kid,
    /// The key is for another environment or service.
    #[error("kid: the access key is not for this environment and service")]
    KeyUse,
    /// The signature is wrong, or the key does not exist.
    #[error("signature: does not match, or the access key is unknown")]
    Signature,
    /// `sub` is not the access key.
    #[error("sub: must be the access key, equal to kid")]
    Sub,
    /// `exp` is missing or not a UNIX time.
    #[error("exp: must be a UNIX time in seconds")]
    Exp,
    /// `iat` is missing or not a UNIX time.
    #[error("iat: must be a UNIX time in seconds")]
    Iat,
    /// `nbf` is not a UNIX time, or is in the future.
    #[error("nbf: must be a UNIX time in seconds that is not in the future")]
    Nbf,
    /// `exp` is in the past.
    #[error("exp: the token has expired")]
    Expired,
    /// `iat` is in the future.
    #[error("iat: is in the future")]
    IssuedInFuture,
    /// `exp − iat` is not positive or more than allowed.
    #[error("exp: exp − iat is {lives_s} s; allowed are 1 to {max_s} s")]
    Lifetime { lives_s: i64, max_s: i64 },
    /// `aud` does not name this API.
    #[error("aud: must be, or contain, the API URL")]
    Aud,
    /// `iss` is not this API's URL.
    #[error("iss: must be the API URL")]
    Iss,
    /// `roles` or `role` has a wrong type.
    #[error("roles: must be an array of strings (or role a string)")]
    Roles,
    /// `hmac` is not an HMAC-SHA256 value in hex, base64 or base64url.
    #[error("hmac: must be an HMAC-SHA256 in lower-case hex, base64 or base64url")]
    Hmac,
    /// `hmac` is missing although the tenant requires it.
    #[error("hmac: required for this access key")]
    HmacRequired,
    /// `hmac` does not match the body.
    #[error("hmac: does not match the body")]
    HmacMismatch,
}

impl AuthFault {
    /// A stable name for logs, metrics and the vectors of `data/jwt_vectors.json`.
    pub const fn name(self) -> &'static str {
        match self {
            AuthFault::Missing => "missing",
            AuthFault::Repeated => "repeated",
            AuthFault::TooLong => "too_long",
            AuthFault::Scheme => "scheme",
            AuthFault::Parts => "parts",
            AuthFault::Base64 => "base64",
            AuthFault::Json => "json",
            AuthFault::HeaderMember => "header_member",
            AuthFault::Alg => "alg",
            AuthFault::Typ => "typ",
            AuthFault::Kid => "kid",
            AuthFault::KeyUse => "key_use",
            AuthFault::Signature => "signature",
            AuthFault::Sub => "sub",
            AuthFault::Exp => "exp",
            AuthFault::Iat => "iat",
            AuthFault::Nbf => "nbf",
            AuthFault::Expired => "expired",
            AuthFault::IssuedInFuture => "issued_in_future",
            AuthFault::Lifetime { .. } => "lifetime",
            AuthFault::Aud => "aud",
            AuthFault::Iss => "iss",
            AuthFault::Roles => "roles",
            AuthFault::Hmac => "hmac",
            AuthFault::HmacRequired => "hmac_required",
            AuthFault::HmacMismatch => "hmac_mismatch",
        }
    }
}

/// Why a caller is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// 401: the token is missing or invalid.
    #[error("unauthorized: {0}")]
    Unauthorized(#[from] AuthFault),
    /// 403: the key is suspended.
    #[error("the access key is suspended")]
    Suspended,
    /// 403: the caller's address is not in the key's allowed networks.
    #[error("the caller's address is not in the access key's list")]
    AddressNotAllowed,
    /// 503: the keys could not be read.
    #[error(transparent)]
    Unavailable(#[from] super::KeyRingError),
}

/// The detail of a 401 (`decisions.md`: one body for every cause in production; a sandbox names the
/// claim).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthErrorDetail {
    /// The same text for every cause.
    Terse,
    /// The text names the failed claim.
    Frank,
}

const UNAUTHORIZED: &str = "Authentication failed";
const RETRY_AFTER_S: i64 = 1;

impl Refused {
    /// Counts and logs it. Unreadable keys are not the fault of the caller.
    pub(crate) fn note(&self) {
        match self {
            Refused::Unavailable(error) => {
                tracing::info!(%error, "caller not authenticated, answered 503");
                return;
            }
            Refused::Unauthorized(_) => {
                metrics::counter!("corridor_auth_failures_total").increment(1);
            }
            Refused::Suspended | Refused::AddressNotAllowed => {}
        }
        tracing::info!(refused = %self, "authentication failed");
    }

    /// The response of Payment Service v2.
    pub fn problem(&self, candour: AuthErrorDetail) -> Problem {
        match self {
            Refused::Unauthorized(fault) => Problem::unauthorized(candid(*fault, candour)),
            Refused::Suspended => {
                Problem::forbidden("key_suspended", "The access key is suspended")
            }
            Refused::AddressNotAllowed => Problem::forbidden(
                "address_not_allowed",
                "The access key is not allowed from this address",
            ),
            Refused::Unavailable(_) => Problem::unavailable(RETRY_AFTER_S),
        }
    }

    /// The response of Wallet Service v1.
    pub fn wallet_problem(&self, candour: AuthErrorDetail) -> WalletProblem {
        match self {
            Refused::Unauthorized(fault) => WalletProblem::unauthorized(candid(*fault, candour)),
            Refused::Suspended => WalletProblem::forbidden("The access key is suspended"),
            Refused::AddressNotAllowed => {
                WalletProblem::forbidden("The access key is not allowed from this address")
            }
            Refused::Unavailable(_) => WalletProblem::unavailable(RETRY_AFTER_S),
        }
    }

    /// The status of both responses.
    pub fn status(&self) -> StatusCode {
        self.problem(AuthErrorDetail::Terse).status()
    }
}

fn candid(fault: AuthFault, candour: AuthErrorDetail) -> String {
    match candour {
        AuthErrorDetail::Terse => UNAUTHORIZED.to_owned(),
        AuthErrorDetail::Frank => format!("{UNAUTHORIZED}: {fault}"),
    }
}
