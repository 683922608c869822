//! Payment requests and senders' submissions as rows. The link's token is sealed; it is found by
//! its digest.

use domain::chain::{Address, Word};
use domain::currency::{Currency, StableCoin};
use domain::ids::{IntentId, PaymentRequestId, RefundToId, SenderInfoId, TenantId, WalletId};
use domain::payment_request::{
    Asked, PaymentRequest, Received, RefundTo, RequestState, SenderDetails, SenderInfo,
    SubmissionHold,
};
use domain::screening::Screened;
use domain::time::Timestamp;
use sha2::{Digest, Sha256};

use super::document::{self, document};
use super::stored::{Stored, stored_enum, stored_struct};
use super::{Keys, fixed, narrow};
use crate::error::StoreError;
use crate::sql::{Columns, Fields};

stored_enum! { Asked as AskedDoc {} {
    Crypto { coin: StableCoin, minor: i64 },
    Fiat { currency: Currency, micros: i64, usdc: i64, usdt: i64 },
    Flexible {},
} }
stored_struct! { SubmissionHold as SubmissionHoldDoc {
    escrow: Address, held_at: Option<Timestamp>, lift: Option<IntentId>,
} }
document! {
    /// The fields of a request without a column.
    Rest of PaymentRequest in "payment_request.document" {
        token: String,
        reference: Word,
        asked: Asked,
        purpose: Option<String>,
        paid_at: Option<Timestamp>,
        late: bool,
        wrong_asset: bool,
        other_taken: Option<i64>,
        held_at: Option<Timestamp>,
        lift: Option<IntentId>,
        #[serde(default)] submissions: u32,
        #[serde(default)] submission_holds: Vec<SubmissionHold>,
        events: i64,
    }
}

/// The digest by which a link's token is found.
pub(crate) fn token_digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn seal(request: &PaymentRequest, keys: &Keys) -> Result<Vec<u8>, StoreError> {
    document::seal::<Rest>(request, request.tenant, keys.stored(request.id.0).as_bytes(), keys)
}

pub(crate) fn write<'a>(
    request: &'a PaymentRequest,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Result<(), StoreError> {
    let document = seal(request, keys)?;
    out.uuid(request.tenant.0).uuid(keys.stored(request.id.0)).uuid(keys.stored(request.wallet.0));
    out.bytes(token_digest(&request.token).to_vec()).bytes(&request.escrow.0[..]);
    out.int(request.created_at.0).int(request.expires_at.0);
    standing(request, out);
    out.bytes(document);
    Ok(())
}

fn standing<'a>(request: &'a PaymentRequest, out: &mut Columns<'a>) {
    out.text(request.state.name()).int(request.received.usdc).int(request.received.usdt);
    out.int(request.confirming.into()).int(request.version);
}

/// Writes key, new values and guards of an update.
pub(crate) fn write_change<'a>(
    old: &'a PaymentRequest,
    new: &'a PaymentRequest,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Result<(), StoreError> {
    let document = seal(new, keys)?;
    out.uuid(new.tenant.0).uuid(keys.stored(new.id.0));
    standing(new, out);
    out.bytes(document).int(old.version);
    Ok(())
}

pub(crate) fn read(fields: &mut Fields<'_>, keys: &Keys) -> Result<PaymentRequest, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let stored = fields.uuid()?;
    let wallet = WalletId(keys.public(fields.uuid()?));
    fields.skip(1);
    let escrow = Address(fixed(fields)?);
    let (created_at, expires_at) = (Timestamp(fields.int()?), Timestamp(fields.int()?));
    let state = fields.named("request state", RequestState::parse)?;
    let received = Received { usdc: fields.int()?, usdt: fields.int()? };
    let confirming = narrow(fields.int()?, "number of confirming deposits")?;
    let version = fields.int()?;
    let rest: Rest = document::open(fields.bytes()?, tenant, stored.as_bytes(), keys)?;
    Ok(PaymentRequest {
        id: PaymentRequestId(keys.public(stored)),
        tenant,
        wallet,
        token: rest.token,
        escrow,
        reference: rest.reference,
        asked: rest.asked,
        purpose: rest.purpose,
        created_at,
        expires_at,
        state,
        received,
        paid_at: rest.paid_at,
        late: rest.late,
        wrong_asset: rest.wrong_asset,
        other_taken: rest.other_taken,
        held_at: rest.held_at,
        lift: rest.lift,
        submissions: rest.submissions,
        submission_holds: rest.submission_holds,
        confirming,
        events: rest.events,
        version,
    })
}

stored_struct! { SenderDetails as SenderDoc {
    first_name: Option<String>, last_name: Option<String>, email: Option<String>, phone_number: Option<String>,
    custodial_provider: Option<String>,
} }
document! {
    /// The fields of a submission without a column.
    Said of SenderInfo in "sender_info.document" { details: SenderDetails, escrow: Option<Address> }
}

pub(crate) fn write_sender(
    info: &SenderInfo,
    keys: &Keys,
    out: &mut Columns<'_>,
) -> Result<(), StoreError> {
    let stored = keys.stored(info.id.0);
    let document = document::seal::<Said>(info, info.tenant, stored.as_bytes(), keys)?;
    out.uuid(info.tenant.0).uuid(keys.stored(info.request.0)).uuid(stored);
    out.opt_int(info.number.map(i64::from)).int(info.at.0).bytes(document);
    Ok(())
}

pub(crate) fn read_sender(fields: &mut Fields<'_>, keys: &Keys) -> Result<SenderInfo, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let request = PaymentRequestId(keys.public(fields.uuid()?));
    let stored = fields.uuid()?;
    let number = submission(fields)?;
    let at = Timestamp(fields.int()?);
    let said: Said = document::open(fields.bytes()?, tenant, stored.as_bytes(), keys)?;
    let (id, details, escrow) = (SenderInfoId(keys.public(stored)), said.details, said.escrow);
    Ok(SenderInfo { id, tenant, request, number, escrow, details, at })
}

/// The number of a submission; `None` = none.
pub(crate) fn submission(fields: &mut Fields<'_>) -> Result<Option<u32>, StoreError> {
    fields.opt_int()?.map(|number| narrow(number, "number of a submission")).transpose()
}

document! {
    /// The fields of a sender's answer without a column.
    Answered of RefundTo in "refund_address.document" { to: Address, screened: Screened }
}

pub(crate) fn write_refund_to(
    answer: &RefundTo,
    keys: &Keys,
    out: &mut Columns<'_>,
) -> Result<(), StoreError> {
    let stored = keys.stored(answer.id.0);
    let document = document::seal::<Answered>(answer, answer.tenant, stored.as_bytes(), keys)?;
    out.uuid(answer.tenant.0).uuid(keys.stored(answer.request.0)).uuid(stored);
    out.uuid(keys.stored(answer.sender.0)).int(answer.at.0).bytes(document);
    Ok(())
}

pub(crate) fn read_refund_to(fields: &mut Fields<'_>, keys: &Keys) -> Result<RefundTo, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let request = PaymentRequestId(keys.public(fields.uuid()?));
    let stored = fields.uuid()?;
    let sender = SenderInfoId(keys.public(fields.uuid()?));
    let at = Timestamp(fields.int()?);
    let said: Answered = document::open(fields.bytes()?, tenant, stored.as_bytes(), keys)?;
    let (to, screened) = (said.to, said.screened);
    Ok(RefundTo { id: RefundToId(keys.public(stored)), tenant, request, sender, to, screened, at })
}
