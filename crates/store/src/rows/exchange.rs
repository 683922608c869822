//! Exchange orders as rows. The payee's bank account is sealed.

use domain::chain::{ChainNumber, TxHash};
use domain::country::Country;
use domain::currency::StableCoin;
use domain::decimal::Decimal;
use domain::exchange::{BankAccount, ExchangeOrder, ExchangeState, Fate, OrderFailure, Recredit};
use domain::ids::{AttemptId, ExchangeId, IntentId, TenantId, TransferId, WalletId};
use domain::money::Money;
use domain::screening::Screened;
use domain::time::Timestamp;

use super::record::record;
use super::stored::{Stored, stored_struct};
use crate::error::StoreError;

stored_struct! { BankAccount as BankDoc {
    iban: Option<String>, account_number: Option<String>, bank_code: Option<String>, holder: String,
    bic: Option<String>, bank_name: Option<String>,
} }
record! {
    EXCHANGE_ORDER = "exchange_order" of it: ExchangeOrder {
        Key { tenant: TenantId, id: ExchangeId }
        Kept {
            chain: ChainNumber, wallet: WalletId, coin: StableCoin, minor as amount: i64,
            created_at: Timestamp,
        }
        Changed {
            state: ExchangeState, state_at: Timestamp, payout_minor as payout: i64 = it.payout.minor,
        }
        Guard { version: i64 }
    } document of tenant, id {
        rate: Decimal,
        quoted_rate: Decimal,
        spread: Decimal,
        payout: Money,
        priced_at: Option<Timestamp>,
        locked_until: Option<Timestamp>,
        bank: BankAccount,
        fate: Fate,
        #[serde(default, skip_serializing_if = "Option::is_none")] screened: Option<Screened>,
        times_out_at: Timestamp,
        estimated_settlement: Timestamp,
        hold: TransferId,
        debit: Option<IntentId>,
        debit_tx: Option<TxHash>,
        #[serde(default)] debit_fee: Option<i64>,
        give_back: Option<IntentId>,
        #[serde(default)] return_fee: Option<i64>,
        attempt: Option<AttemptId>,
        unclear_since: Option<Timestamp>,
        unclear_beyond_window: bool,
        failure: Option<OrderFailure>,
        settlement_reference: Option<String>,
        settled_at: Option<Timestamp>,
        came_back: bool,
        #[serde(default)] recredit: Option<Recredit>,
        events: i64,
    } => {
        if payout.minor != payout_minor {
            let why = "exchange_order.payout differs from its document";
            return Err(StoreError::Corrupt(why.to_owned()));
        }
        let country = Country::paid_in(payout.currency)
            .ok_or_else(|| StoreError::Corrupt("exchange_order: a currency of no country".to_owned()))?;
        ExchangeOrder {
            country, id, tenant, wallet, chain, coin, minor, rate, quoted_rate, spread, payout, priced_at, locked_until,
            bank, fate, screened, state, state_at, created_at, times_out_at, estimated_settlement, hold,
            debit, debit_tx, debit_fee, give_back, return_fee, attempt, unclear_since, unclear_beyond_window, failure,
            settlement_reference, settled_at, came_back, recredit, events, version,
        }
    }
}
