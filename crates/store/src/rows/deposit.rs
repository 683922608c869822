//! Deposits as rows. The sender and the risk assessment are sealed.

use domain::chain::{Address, ChainNumber, TxHash};
use domain::chain_tx::BlockRef;
use domain::currency::StableCoin;
use domain::deposit::{
    Decision, Deposit, DepositBucket, DepositKind, DepositState, Refund, ReviewVerdict,
};
use domain::ids::{DepositId, IntentId, PaymentRequestId, TenantId, TransferId, WalletId};
use domain::payment_request::SenderDetails;
use domain::risk::{Assessment, Check, Hold, ReasonCode, RiskResult};
use domain::screening::Screened;
use domain::time::Timestamp;
use domain::wallet_event::FailureReason;

use super::record::record;
use super::stored::{Stored, stored_struct};

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
record! {
    DEPOSIT = "deposit" of it: Deposit {
        Key { tenant: TenantId, id: DepositId }
        Kept {
            chain: ChainNumber, wallet: WalletId, request: Option<PaymentRequestId>,
            submission: Option<u32>, coin: StableCoin, minor as amount: i64, tx: TxHash, ordinal: u32, seen_at: Timestamp,
        }
        Changed { state: DepositState, pot: DepositBucket, credited_at: Option<Timestamp> }
        Guard { version: i64 }
    } computed {
        Changed {
            height: Option<u64> = it.height(),
            kind: DepositKind = it.kind(),
            payer: Address = it.from,
            refund_to: Option<Address> = it.refund.as_ref().map(|refund| &refund.to),
        }
    } document of tenant, id {
        from: Address,
        to: Address,
        place: Option<BlockRef>,
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
        #[serde(default)] is_deducted: bool,
        #[serde(default)] release_fee: Option<i64>,
        completed_at: Option<Timestamp>,
        failure: Option<FailureReason>,
        refund: Option<Refund>,
        legal_hold: Option<IntentId>,
    }
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
