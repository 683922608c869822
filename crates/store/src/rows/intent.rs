//! Intents as rows. The call is sealed with the rest, so that no other program can change it.

use domain::chain::{
    Address, Authorization, ChainNumber, EcdsaSignature, IntentKind, Movement, Plan, Word,
};
use domain::chain_tx::{Intent, IntentState};
use domain::currency::StableCoin;
use domain::ids::{ChainTxId, DepositId, IntentId, PaymentRequestId, TenantId, WalletId};
use domain::time::Timestamp;
use uuid::Uuid;

use super::record::record;
use super::stored::{Stored, stored_enum, stored_struct};
use crate::error::StoreError;

stored_struct! { Movement as MovementDoc {
    intent: Word, reference: Word, recipient: Address, token: Address, amount: u64,
} }
stored_struct! { Authorization as AuthorizationDoc {
    from: Address, to: Address, value: u64, valid_after: u64, valid_before: u64, nonce: Word,
} }
stored_struct! { EcdsaSignature as EcdsaSignatureDoc { r: Word, s: Word, v: u8 } }
// The column `kind` tells a release from a debit, and names a blacklist's coin: their documents do
// not. See [`of_kind`].
stored_enum! { Plan as PlanDoc {
    #[serde(rename = "move")] Release(Movement),
    #[serde(rename(serialize = "move"))] Debit(Movement),
} {
    ReturnDebit { debit: Word, intent: Word },
    Sweep { token: Address, amount: u64 },
    ProposeRefund { movement: Movement, to: Address },
    CancelRefund { intent: Word },
    ExecuteRefund { intent: Word },
    SetFrozen { account: Address, frozen: bool, case: Word },
    SetLegalHold { vault: Address, held: bool, case: Word },
    Blacklist { #[serde(skip, default = "any_coin")] coin: StableCoin, token: Address, account: Address },
    SponsoredTransfer {
        token: Address, authorization: Authorization, signature: EcdsaSignature, gas_limit: u64,
    },
    Deploy {},
} }

fn any_coin() -> String {
    StableCoin::Usdc.doc()
}

/// The plan in a document, completed by the kind in its row.
fn of_kind(kind: IntentKind, stored: Plan) -> Result<Plan, StoreError> {
    let plan = match (kind, stored) {
        (IntentKind::Debit, Plan::Release(movement)) => Plan::Debit(movement),
        (IntentKind::BlacklistUsdt, Plan::Blacklist { token, account, .. }) => {
            Plan::Blacklist { coin: StableCoin::Usdt, token, account }
        }
        (_, plan) => plan,
    };
    if plan.kind() != kind {
        let why = format!("chain_intent: a document of another kind than {}", kind.name());
        return Err(StoreError::Corrupt(why));
    }
    Ok(plan)
}

record! {
    CHAIN_INTENT = "chain_intent" of it: Intent {
        Key { tenant: TenantId, id: IntentId }
        Kept {
            chain: ChainNumber,
            kind: IntentKind = it.kind(),
            subject: Uuid,
            wallet: Option<WalletId>,
            created_at: Timestamp,
        }
        Changed { state: IntentState, tx: Option<ChainTxId> }
        Guard { version: i64 }
    } document of tenant, id {
        request: Option<PaymentRequestId>,
        coin: Option<StableCoin>,
        plan: Plan,
        #[serde(default)] riders: Vec<DepositId>,
        unchecked: bool,
        state_at: Timestamp,
        tries: i32,
        failure: Option<String>,
        #[serde(default)] short_since: Option<Timestamp>,
    } => Intent {
        id,
        tenant,
        chain,
        subject,
        wallet,
        request,
        coin,
        plan: of_kind(kind, plan)?,
        riders,
        unchecked,
        state,
        tx,
        created_at,
        state_at,
        tries,
        failure,
        short_since,
        version,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes of other versions read and write the same rows.
    #[test]
    fn the_stored_form_of_a_plan_stays_as_it_is() {
        let movement = Movement {
            intent: Word([1; 32]),
            reference: Word([2; 32]),
            recipient: Address([3; 20]),
            token: Address([4; 20]),
            amount: 5,
        };
        let moved = format!(
            r#"{{"move":{{"intent":"{}","reference":"{}","recipient":"{}","token":"{}","amount":5}}}}"#,
            "01".repeat(32),
            "02".repeat(32),
            "03".repeat(20),
            "04".repeat(20)
        );
        let (token, account) = (Address([4; 20]), Address([3; 20]));
        let listed = format!(
            r#"{{"blacklist":{{"token":"{}","account":"{}"}}}}"#,
            "04".repeat(20),
            "03".repeat(20)
        );
        let blacklist = |coin| Plan::Blacklist { coin, token, account };
        for (plan, stored) in [
            (Plan::Release(movement), &moved[..]),
            (Plan::Debit(movement), &moved),
            (blacklist(StableCoin::Usdc), &listed),
            (blacklist(StableCoin::Usdt), &listed),
            (Plan::Deploy, r#"{"deploy":{}}"#),
        ] {
            assert_eq!(serde_json::to_string(&plan.doc()).expect("written"), stored);
            let read = || Plan::of(serde_json::from_str(stored).expect("read")).expect("a plan");
            assert_eq!(of_kind(plan.kind(), read()), Ok(plan));
            let other = of_kind(IntentKind::SetFrozen, read());
            assert!(matches!(other, Err(StoreError::Corrupt(_))), "{other:?}");
        }
    }
}
