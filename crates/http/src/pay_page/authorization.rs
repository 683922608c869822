//! Sponsored transfers: the typed data (EIP-712) that a browser wallet signs, and the signed
//! transfer. JSON, for the page's own script.

use axum::body::Body;
use axum::response::Response;
use domain::chain::{
    Address, Authorization, EcdsaSignature, SignatureViolation, SigningDomain, Word,
};
use domain::chain_tx::{Intent, IntentState};
use domain::fault::Fault;
use domain::sponsor::SponsorRefusal;
use engine::wallets::{PaySender, SponsorAsk, SponsorDenied};
use http::{Request, StatusCode};

use super::answers::{NEVER, Stopped, answer};
use super::served::{FORMS_PER_WINDOW, Pages, Shown};
use super::view::{Offer, View};
use super::visit::Visit;
use crate::decode::shape::Shape;
use crate::decode::{Fields, Rejection};
use crate::json::Value;
use crate::server::body::is_json;
use crate::write::{self, ObjectWriter};

/// Types of the signed data, as in the token's contract.
const DOMAIN: [(&str, &str); 4] = [
    ("name", "string"),
    ("version", "string"),
    ("chainId", "uint256"),
    ("verifyingContract", "address"),
];
const TRANSFER: [(&str, &str); 6] = [
    ("from", "address"),
    ("to", "address"),
    ("value", "uint256"),
    ("validAfter", "uint256"),
    ("validBefore", "uint256"),
    ("nonce", "bytes32"),
];

/// Why there is no authorization, or it is not accepted.
enum Refusal {
    /// As for the page itself.
    Stopped(Stopped),
    /// The request is not what the page's script sends.
    Fields(Vec<Fault>),
    Denied(SponsorDenied),
}

impl From<Stopped> for Refusal {
    fn from(stopped: Stopped) -> Refusal {
        Refusal::Stopped(stopped)
    }
}

impl From<SponsorDenied> for Refusal {
    fn from(denied: SponsorDenied) -> Refusal {
        Refusal::Denied(denied)
    }
}

impl Pages {
    /// What a sender with this account has to sign.
    pub(super) async fn authorization(
        &self,
        (token, submission): (String, String),
        visit: &Visit,
    ) -> Response {
        answered(self.typed_data(&token, &submission, visit).await, StatusCode::OK, visit)
    }

    /// Takes a signed transfer.
    pub(super) async fn take_authorization(
        &self,
        (token, submission): (String, String),
        visit: &Visit,
        request: Request<Body>,
    ) -> Response {
        let taken = self.take_signed(&token, &submission, visit, request).await;
        answered(taken, StatusCode::ACCEPTED, visit)
    }

    async fn typed_data(
        &self,
        token: &str,
        submission: &str,
        visit: &Visit,
    ) -> Result<Vec<u8>, Refusal> {
        self.count(visit, "authorization", FORMS_PER_WINDOW)?;
        let shown = self.shown(token, Some(submission), None).await?;
        let account = visit.account.as_deref().unwrap_or_default();
        let from = address(account)
            .map_err(|rule| Refusal::Fields(vec![Fault::new("account", "address", rule)]))?;
        let ask = shown.asks(visit.here.coin).ok_or(SponsorDenied::NotOffered)?;
        let (domain, authorization) = self.wallets().authorization(ask, from).await?;
        Ok(written(&domain, &authorization))
    }

    async fn take_signed(
        &self,
        token: &str,
        submission: &str,
        visit: &Visit,
        request: Request<Body>,
    ) -> Result<Vec<u8>, Refusal> {
        if !is_json(request.headers()) {
            return Err(Stopped::Refused(StatusCode::UNSUPPORTED_MEDIA_TYPE).into());
        }
        let body = self.form_body(visit, "transfer", request).await?;
        let (authorization, signature) = read(&body).map_err(|rejection| match rejection {
            Rejection::Faults { faults, .. } => Refusal::Fields(faults),
            _ => Refusal::Stopped(Stopped::Refused(StatusCode::BAD_REQUEST)),
        })?;
        let shown = self.shown(token, Some(submission), None).await?;
        // Also after its payment was seen, when nothing is left to pay.
        if let Some(known) = shown.known_transfer(&authorization) {
            return Ok(state(known));
        }
        let ask = shown.asks(visit.here.coin).ok_or(SponsorDenied::NotOffered)?;
        let intent = self.wallets().sponsor(ask, authorization, signature).await?;
        Ok(state(&intent))
    }
}

impl Shown {
    /// The sender of this page, who pays the open amount in one token.
    pub(super) fn asks(&self, coin: Option<&str>) -> Option<SponsorAsk<'_>> {
        let (View::Send { offers, .. }, Some(sender)) = (&self.view, &self.known) else {
            return None;
        };
        let is_wanted = |offer: &&Offer| Some(offer.coin.currency().code()) == coin;
        let offer = offers.iter().find(is_wanted).or(offers.first())?;
        self.asks_for(sender, *offer)
    }

    pub(super) fn asks_for<'a>(
        &'a self,
        sender: &'a PaySender,
        offer: Offer,
    ) -> Option<SponsorAsk<'a>> {
        let (page, coin, minor) = (&self.page, offer.coin, offer.minor?);
        Some(SponsorAsk { page, sender, coin, minor })
    }

    fn known_transfer(&self, authorization: &Authorization) -> Option<&Intent> {
        let escrow = self.known.as_ref()?.escrow?;
        let is_it = |it: &&Intent| it.plan.authorizes(authorization) && authorization.to == escrow;
        self.page.sponsored.iter().find(is_it)
    }
}

fn answered(answered: Result<Vec<u8>, Refusal>, success: StatusCode, visit: &Visit) -> Response {
    let json = |status, body: Vec<u8>| answer(status, "application/json", body, NEVER);
    match answered {
        Ok(body) => json(success, body),
        Err(Refusal::Stopped(Stopped::Closed | Stopped::Taken)) => {
            json(StatusCode::NOT_FOUND, refused("closed", "This payment link cannot be paid", None))
        }
        Err(Refusal::Stopped(stopped)) => stopped.respond(&visit.here),
        Err(Refusal::Fields(faults)) => {
            let first = faults.first().map(|fault| (fault.field, fault.message.as_str()));
            let (field, message) = first.unwrap_or_default();
            json(
                StatusCode::UNPROCESSABLE_ENTITY,
                refused("invalid_field", &format!("{field} {message}"), Some(field)),
            )
        }
        Err(Refusal::Denied(SponsorDenied::Denied(denied))) => {
            Stopped::from(denied).respond(&visit.here)
        }
        Err(Refusal::Denied(denied)) => {
            let (status, code, field) = meaning(&denied);
            json(status, refused(code, &denied.to_string(), field))
        }
    }
}

fn meaning(denied: &SponsorDenied) -> (StatusCode, &'static str, Option<&'static str>) {
    match denied {
        SponsorDenied::Field { field, .. } => {
            (StatusCode::UNPROCESSABLE_ENTITY, "invalid_field", Some(*field))
        }
        SponsorDenied::Refused(SponsorRefusal::Closed) => (StatusCode::CONFLICT, "closed", None),
        SponsorDenied::Refused(SponsorRefusal::Busy) => (StatusCode::CONFLICT, "busy", None),
        SponsorDenied::Refused(SponsorRefusal::PerRequest) => {
            (StatusCode::CONFLICT, "limit_reached", None)
        }
        SponsorDenied::Refused(_) | SponsorDenied::NotOffered => {
            (StatusCode::CONFLICT, "not_offered", None)
        }
        SponsorDenied::Impossible => (StatusCode::CONFLICT, "not_possible", None),
        SponsorDenied::Unavailable | SponsorDenied::Denied(_) => {
            (StatusCode::SERVICE_UNAVAILABLE, "unavailable", None)
        }
    }
}

fn refused(code: &str, message: &str, field: Option<&str>) -> Vec<u8> {
    write::object(|out| {
        out.text("error", code);
        out.text("message", message);
        if let Some(field) = field {
            out.text("field", field);
        }
    })
}

fn state(intent: &Intent) -> Vec<u8> {
    let status = match intent.state {
        IntentState::Waiting | IntentState::Assigned => "sending",
        IntentState::Done => "sent",
        IntentState::Failed | IntentState::Cancelled => "failed",
    };
    write::object(|out| out.text("status", status))
}

/// The document that wallets sign with `eth_signTypedData_v4`.
fn written(domain: &SigningDomain, authorization: &Authorization) -> Vec<u8> {
    let fields = |out: &mut ObjectWriter<'_>, name, fields: &[(&str, &str)]| {
        out.array(name, |out| {
            for (name, kind) in fields {
                out.object(|out| {
                    out.text("name", name);
                    out.text("type", kind);
                });
            }
        });
    };
    let Authorization { from, to, value, valid_after, valid_before, nonce } = authorization;
    write::object(|out| {
        out.object("types", |out| {
            fields(out, "EIP712Domain", &DOMAIN);
            fields(out, "TransferWithAuthorization", &TRANSFER);
        });
        out.text("primaryType", "TransferWithAuthorization");
        out.object("domain", |out| {
            out.text("name", &domain.name);
            out.text("version", &domain.version);
            out.integer("chainId", i64::try_from(domain.chain_id).unwrap_or(i64::MAX));
            out.plain("verifyingContract", domain.token);
        });
        out.object("message", |out| {
            out.plain("from", from);
            out.plain("to", to);
            out.plain("value", value);
            out.plain("validAfter", valid_after);
            out.plain("validBefore", valid_before);
            out.plain("nonce", nonce);
        });
    })
}

/// A value in text, by its parser.
struct Written<T>(fn(&str) -> Result<T, &'static str>);

impl<T> Shape for Written<T> {
    type Out = T;

    fn read(&self, field: &'static str, value: &Value<'_>) -> Result<T, Fault> {
        let text = value.as_str().ok_or("must be a string");
        text.and_then(self.0).map_err(|rule| Fault::new(field, "format", rule))
    }
}

fn address(text: &str) -> Result<Address, &'static str> {
    Address::parse_checked(text)
        .ok_or("must be an address: 0x and 40 hexadecimal digits, with a correct checksum")
}

fn word(text: &str) -> Result<Word, &'static str> {
    Word::parse(text).ok_or("must be 0x and 64 hexadecimal digits")
}

fn number(text: &str) -> Result<u64, &'static str> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let rule = "must be a whole number below 2^64 in decimal digits";
    text.parse().ok().filter(|_| is_plain).ok_or(rule)
}

fn signature(text: &str) -> Result<EcdsaSignature, &'static str> {
    EcdsaSignature::parse(text).map_err(SignatureViolation::rule)
}

pub(super) fn read(body: &[u8]) -> Result<(Authorization, EcdsaSignature), Rejection> {
    let mut fields = Fields::of_body(body)?;
    let from = fields.required("from", Written(address));
    let to = fields.required("to", Written(address));
    let value = fields.required("value", Written(number));
    let valid_after = fields.required("validAfter", Written(number));
    let valid_before = fields.required("validBefore", Written(number));
    let nonce = fields.required("nonce", Written(word));
    let signature = fields.required("signature", Written(signature));
    fields.finish(|| {
        let (from, to, value, nonce) = (from?, to?, value?, nonce?);
        let (valid_after, valid_before) = (valid_after?, valid_before?);
        let authorization = Authorization { from, to, value, valid_after, valid_before, nonce };
        Some((authorization, signature?))
    })
}
