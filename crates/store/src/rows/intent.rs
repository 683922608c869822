//! Intents as rows. The call is sealed with the rest, so that no other program can change it.

use domain::chain::{Address, Movement, Word};
use domain::chain_tx::{Intent, IntentKind, IntentState, Plan};
use domain::currency::StableCoin;
use domain::ids::{ChainTxId, DepositId, IntentId, PaymentRequestId, TenantId, WalletId};
use domain::time::Timestamp;

use super::Keys;
use super::document::{self, document};
use super::stored::{Stored, stored_enum, stored_struct};
use crate::error::StoreError;
use crate::sql::{Columns, Fields};

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
document! {
    /// The fields of an intent without a column.
    Rest of Intent in "chain_intent.document" {
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

/// `state, tx, version, document`
fn standing(intent: &Intent, keys: &Keys, out: &mut Columns<'_>) -> Result<(), StoreError> {
    let document =
        document::seal::<Rest>(intent, intent.tenant, keys.stored(intent.id.0).as_bytes(), keys)?;
    out.text(intent.state.name()).opt_uuid(intent.tx.map(|tx| keys.stored(tx.0)));
    out.int(intent.version).bytes(document);
    Ok(())
}

pub(crate) fn write(intent: &Intent, keys: &Keys, out: &mut Columns<'_>) -> Result<(), StoreError> {
    out.uuid(intent.tenant.0).uuid(keys.stored(intent.id.0));
    out.text(intent.kind.name()).uuid(keys.stored(intent.subject));
    out.opt_uuid(intent.wallet.map(|wallet| keys.stored(wallet.0))).int(intent.created_at.0);
    standing(intent, keys, out)
}

/// Writes key, new values and guards of an update.
pub(crate) fn write_change(
    old: &Intent,
    new: &Intent,
    keys: &Keys,
    out: &mut Columns<'_>,
) -> Result<(), StoreError> {
    out.uuid(new.tenant.0).uuid(keys.stored(new.id.0));
    standing(new, keys, out)?;
    out.int(old.version);
    Ok(())
}

pub(crate) fn read(fields: &mut Fields<'_>, keys: &Keys) -> Result<Intent, StoreError> {
    let tenant = TenantId(fields.uuid()?);
    let stored = fields.uuid()?;
    let kind = fields.named("intent kind", IntentKind::parse)?;
    let subject = keys.public(fields.uuid()?);
    let wallet = fields.opt_uuid()?.map(|wallet| WalletId(keys.public(wallet)));
    let created_at = Timestamp(fields.int()?);
    let state = fields.named("intent state", IntentState::parse)?;
    let tx = fields.opt_uuid()?.map(|tx| ChainTxId(keys.public(tx)));
    let version = fields.int()?;
    let rest: Rest = document::open(fields.bytes()?, tenant, stored.as_bytes(), keys)?;
    Ok(Intent {
        id: IntentId(keys.public(stored)),
        tenant,
        kind,
        subject,
        wallet,
        request: rest.request,
        coin: rest.coin,
        plan: rest.plan,
        riders: rest.riders,
        unchecked: rest.unchecked,
        state,
        tx,
        created_at,
        state_at: rest.state_at,
        tries: rest.tries,
        failure: rest.failure,
        version,
    })
}
