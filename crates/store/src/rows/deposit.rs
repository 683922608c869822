//! Deposits as rows. The sender and the risk assessment are sealed.

use domain::chain::{Address, TxHash};
use domain::chain_tx::Place;
use domain::deposit::{Decision, Deposit, DepositState, Pot, Refund, ReviewVerdict};
use domain::ids::{DepositId, IntentId, PaymentRequestId, TenantId, TransferId, WalletId};
use domain::payment_request::SenderDetails;
use domain::risk::{Assessment, Check, Hold, ReasonCode, RiskResult};
use domain::screening::Screened;
use domain::time::Timestamp;
use domain::wallet_event::FailureReason;

use super::document::{self, document};
use super::request::submission;
use super::stored::{Stored, stored_struct};
use super::{Keys, coin, fixed, narrow, wide};
use crate::error::StoreError;
use crate::sql::{Columns, Fields};

stored_struct! { Assessment as AssessmentDoc {
    result: RiskResult, score: u8, checks: Vec<Check>, reason: ReasonCode, hold: Option<Hold>, list_version: String,
    policy_version: String, evidence: Vec<String>, decided_by: Option<String>, at: Timestamp,
} }
stored_struct! { Decision as DecisionDoc { verdict: ReviewVerdict, by: String, note: String, at: Timestamp } }
stored_struct! { Screened as ScreenedDoc {
    score: u8, evidence: Option<String>, list_version: String, stale: bool,
} }
stored_struct! { Refund as RefundDoc {
    to: Address, proposed_by: String, screened: Screened, propose: IntentId, proposed: bool,
    approved_by: Option<String>, screened_again: Option<Screened>, execute: Option<IntentId>, tx: Option<TxHash>,
} }
document! {
    /// The fields of a deposit without a column.
    Rest of Deposit in "deposit.document" {
        from: Address,
        to: Address,
        place: Option<Place>,
        lost_at: Option<u64>,
        paid_at: Timestamp,
        sender: SenderDetails,
        state_at: Timestamp,
        back_to: Option<DepositState>,
        hold: Option<TransferId>,
        disputed: bool,
        concern: Option<ReasonCode>,
        assessment: Option<Assessment>,
        decision: Option<Decision>,
        #[serde(default)] is_dust: bool,
        spoiled: bool,
        release: Option<IntentId>,
        #[serde(default)] riders: Vec<DepositId>,
        release_tx: Option<TxHash>,
        completed_at: Option<Timestamp>,
        failure: Option<FailureReason>,
        refund: Option<Refund>,
        legal_hold: Option<IntentId>,
    }
}

fn seal(deposit: &Deposit, keys: &Keys) -> Result<Vec<u8>, StoreError> {
    document::seal::<Rest>(deposit, deposit.tenant, keys.stored(deposit.id.0).as_bytes(), keys)
}

fn height(deposit: &Deposit) -> Result<Option<i64>, StoreError> {
    deposit.height().map(|height| wide(height, "block height")).transpose()
}

/// `state, kind, pot, credited_at, version`
fn standing(deposit: &Deposit, out: &mut Columns<'_>) {
    out.text(deposit.state.name()).text(deposit.kind().name()).text(deposit.pot.name());
    out.opt_int(deposit.credited_at.map(|at| at.0)).int(deposit.version);
}

pub(crate) fn write<'a>(
    deposit: &'a Deposit,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Result<(), StoreError> {
    let (height, document) = (height(deposit)?, seal(deposit, keys)?);
    out.uuid(deposit.tenant.0).uuid(keys.stored(deposit.id.0)).uuid(keys.stored(deposit.wallet.0));
    out.opt_uuid(deposit.request.map(|request| keys.stored(request.0)))
        .opt_int(deposit.submission.map(i64::from));
    out.text(deposit.coin.currency().code()).int(deposit.minor);
    out.bytes(&deposit.tx.0[..]).int(deposit.ordinal.into()).int(deposit.seen_at.0).opt_int(height);
    standing(deposit, out);
    out.bytes(document);
    Ok(())
}

/// Writes key, new values and guards of an update.
pub(crate) fn write_change<'a>(
    old: &'a Deposit,
    new: &'a Deposit,
    keys: &Keys,
    out: &mut Columns<'a>,
) -> Result<(), StoreError> {
    let (height, document) = (height(new)?, seal(new, keys)?);
    out.uuid(new.tenant.0).uuid(keys.stored(new.id.0)).opt_int(height);
    standing(new, out);
    out.bytes(document).int(old.version);
    Ok(())
}

pub(crate) fn read(fields: &mut Fields<'_>, keys: &Keys) -> Result<Deposit, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let stored = fields.uuid()?;
    let wallet = WalletId(keys.public(fields.uuid()?));
    let request = fields.opt_uuid()?.map(|request| PaymentRequestId(keys.public(request)));
    let submission = submission(fields)?;
    let (coin, minor) = (coin(fields)?, fields.int()?);
    let (tx, ordinal) = (TxHash(fixed(fields)?), narrow(fields.int()?, "ordinal")?);
    let seen_at = Timestamp(fields.int()?);
    fields.skip(1);
    let state = fields.named("deposit state", DepositState::parse)?;
    fields.skip(1);
    let pot = fields.named("pot", Pot::parse)?;
    let credited_at = fields.opt_int()?.map(Timestamp);
    let version = fields.int()?;
    let rest: Rest = document::open(fields.bytes()?, tenant, stored.as_bytes(), keys)?;
    Ok(Deposit {
        id: DepositId(keys.public(stored)),
        tenant,
        wallet,
        request,
        submission,
        coin,
        minor,
        from: rest.from,
        to: rest.to,
        tx,
        ordinal,
        place: rest.place,
        lost_at: rest.lost_at,
        paid_at: rest.paid_at,
        seen_at,
        sender: rest.sender,
        state,
        state_at: rest.state_at,
        back_to: rest.back_to,
        pot,
        hold: rest.hold,
        credited_at,
        disputed: rest.disputed,
        concern: rest.concern,
        assessment: rest.assessment,
        decision: rest.decision,
        is_dust: rest.is_dust,
        spoiled: rest.spoiled,
        release: rest.release,
        riders: rest.riders,
        release_tx: rest.release_tx,
        completed_at: rest.completed_at,
        failure: rest.failure,
        refund: rest.refund,
        legal_hold: rest.legal_hold,
        version,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refund_without_a_second_screening_is_readable() {
        let before = r#"{"to":"5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e","proposed_by":"amal",
            "screened":{"score":3,"evidence":null,"list_version":"v","stale":false},
            "propose":"11111111-1111-4111-8111-111111111111","proposed":true,"approved_by":"bilal","execute":null,"tx":null}"#;
        let refund = Refund::of(serde_json::from_str(before).expect("readable")).expect("a refund");
        assert_eq!((refund.screened.score, refund.screened_again), (3, None));
    }
}
