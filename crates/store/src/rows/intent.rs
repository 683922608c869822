//! Intents as rows. The call is sealed with the rest, so that no other program can change it.

use domain::chain::{Address, Movement, Word};
use domain::chain_tx::{Intent, IntentKind, IntentState, Plan};
use domain::currency::StableCoin;
use domain::ids::{ChainTxId, DepositId, IntentId, PaymentRequestId, TenantId, WalletId};
use domain::time::Timestamp;
use uuid::Uuid;

use super::record::record;
use super::stored::{Stored, stored_enum, stored_struct};

stored_struct! { Movement as MovementDoc {
    intent: Word, reference: Word, recipient: Address, token: Address, amount: u64,
} }
stored_enum! { Plan as PlanDoc { Move(Movement) } {
    ReturnDebit { debit: Word, intent: Word },
    Sweep { token: Address, amount: u64 },
    ProposeRefund { movement: Movement, to: Address },
    CancelRefund { intent: Word },
    ExecuteRefund { intent: Word },
    SetFrozen { account: Address, frozen: bool, case: Word },
    SetLegalHold { vault: Address, held: bool, case: Word },
    Blacklist { token: Address, account: Address },
    Deploy {},
} }
record! {
    CHAIN_INTENT = "chain_intent" of it: Intent {
        Key { tenant: TenantId, id: IntentId }
        Kept { kind: IntentKind, subject: Uuid, wallet: Option<WalletId>, created_at: Timestamp }
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
    }
}
