//! Payment requests and senders' submissions as rows. The link's token is sealed; it is found by
//! its digest.

use domain::chain::{Address, ChainNumber, Word};
use domain::currency::{Currency, StableCoin};
use domain::ids::{IntentId, PaymentRequestId, RefundToId, SenderInfoId, TenantId, WalletId};
use domain::payment_request::{
    Asked, PaymentRequest, Received, RefundTo, RequestState, SenderDetails, SenderInfo,
    SubmissionHold,
};
use domain::screening::Screened;
use domain::time::Timestamp;
use sha2::{Digest, Sha256};

use super::column::Made;
use super::record::record;
use super::stored::{Stored, stored_enum, stored_struct};

stored_enum! { Asked as AskedDoc {} {
    Crypto { coin: StableCoin, minor: i64 },
    Fiat { currency: Currency, micros: i64, usdc: i64, usdt: i64 },
    Flexible {},
} }
/// USDC first, then USDT. No older document has the field: nothing.
impl Stored for Received {
    type Doc = (i64, i64);

    fn doc(&self) -> (i64, i64) {
        (self.usdc, self.usdt)
    }

    fn of((usdc, usdt): (i64, i64)) -> Result<Received, crate::error::StoreError> {
        Ok(Received { usdc, usdt })
    }
}

stored_struct! { SubmissionHold as SubmissionHoldDoc {
    escrow: Address, held_at: Option<Timestamp>, lift: Option<IntentId>,
} }
/// The digest by which a link's token is found.
pub(crate) fn token_digest(token: &str) -> Made<Vec<u8>> {
    Made(Sha256::digest(token.as_bytes()).to_vec())
}

record! {
    PAYMENT_REQUEST = "payment_request" of it: PaymentRequest {
        Key { tenant: TenantId, id: PaymentRequestId }
        Kept {
            chain: ChainNumber, wallet: WalletId, escrow: Address, created_at: Timestamp,
            expires_at: Timestamp,
        }
        Changed {
            state: RequestState, usdc as received_usdc: i64 = it.received.usdc,
            usdt as received_usdt: i64 = it.received.usdt, confirming: i32,
        }
        Guard { version: i64 }
    } computed {
        Kept { token_digest: Made<Vec<u8>> = token_digest(&it.token) }
    } document of tenant, id {
        token: String,
        reference: Word,
        asked: Asked,
        purpose: Option<String>,
        paid_at: Option<Timestamp>,
        #[serde(default)] cancelled_at: Option<Timestamp>,
        late: bool,
        wrong_asset: bool,
        other_taken: Option<i64>,
        #[serde(default)] too_late: Received,
        #[serde(default)] refused: Received,
        held_at: Option<Timestamp>,
        lift: Option<IntentId>,
        #[serde(default)] recipient_name: Option<String>,
        #[serde(default)] submissions: u32,
        #[serde(default)] submission_holds: Vec<SubmissionHold>,
        events: i64,
    } => PaymentRequest {
        id, tenant, wallet, chain, token, escrow, reference, asked, purpose, recipient_name, created_at, expires_at,
        state,
        received: Received { usdc, usdt }, paid_at, cancelled_at, late, wrong_asset, other_taken, too_late,
        refused, held_at, lift, submissions, submission_holds, confirming, events, version,
    }
}

stored_struct! { SenderDetails as SenderDoc {
    first_name: Option<String>, last_name: Option<String>, email: Option<String>, phone_number: Option<String>,
    custodial_provider: Option<String>,
} }
record! {
    SENDER_INFO = "sender_info" of it: SenderInfo {
        Key { tenant: TenantId, request: PaymentRequestId, id: SenderInfoId }
        Kept { number: Option<u32>, at: Timestamp }
    } document of tenant, id {
        details: SenderDetails, escrow: Option<Address>,
    }
}

record! {
    REFUND_ADDRESS = "refund_address" of it: RefundTo {
        Key { tenant: TenantId, request: PaymentRequestId, id: RefundToId }
        Kept { sender: SenderInfoId, at: Timestamp }
    } document of tenant, id {
        to: Address, screened: Screened,
    }
}
