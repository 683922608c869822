//! Sweeps as rows. They contain no secrets and have no document.

use domain::chain::{ChainNumber, TxHash};
use domain::currency::StableCoin;
use domain::ids::{IntentId, SweepId, TenantId, TransferId};
use domain::sweep::{Sweep, SweepState};
use domain::time::Timestamp;

use super::record::record;

record! {
    SWEEP = "sweep" of it: Sweep {
        Key { tenant: TenantId, id: SweepId }
        Kept {
            chain: ChainNumber, coin: StableCoin, minor as amount: i64, began_at: Timestamp, hold: TransferId,
            intent: IntentId,
        }
        Changed { state: SweepState, state_at: Timestamp, tx: Option<TxHash>, token_fee: Option<i64> }
        Guard { version: i64 }
    }
}
