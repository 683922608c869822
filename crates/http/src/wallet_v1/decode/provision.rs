//! `POST /v1/sdk/wallets/provision`

use domain::wallet::{CUSTOMER_ID_MAX_CHARS, KycLevel};

use super::TEXT_MAX_CHARS;
use super::shapes::{Email, Phone};
use crate::decode::shape::{OneOf, one_of, text};
use crate::decode::{Fields, Rejection};

const KYC_LEVEL: OneOf<KycLevel> = one_of(&KycLevel::ALL, KycLevel::name);

/// The body of `POST /v1/sdk/wallets/provision`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provision {
    /// The bank's customer id.
    pub customer_id: String,
    pub customer_email: String,
    /// Phone number in E.164.
    pub customer_phone: String,
    /// The blockchain; `None` for the default.
    pub blockchain: Option<String>,
    /// The KYC level; `None` takes it from the customer's record.
    pub kyc_level: Option<KycLevel>,
}

/// Decodes the body.
///
/// # Errors
/// Malformed JSON, or every invalid field in field order.
pub fn provision(body: &[u8]) -> Result<Provision, Rejection> {
    let mut fields = Fields::of_body(body)?;
    let customer_id = fields.required("customer_id", text(CUSTOMER_ID_MAX_CHARS));
    let customer_email = fields.required("customer_email", Email);
    let customer_phone = fields.required("customer_phone", Phone);
    let blockchain = fields.optional("blockchain", text(TEXT_MAX_CHARS));
    let kyc_level = fields.optional("kyc_level", KYC_LEVEL);
    fields.finish(|| {
        Some(Provision {
            customer_id: customer_id?,
            customer_email: customer_email?,
            customer_phone: customer_phone?,
            blockchain,
            kyc_level,
        })
    })
}
