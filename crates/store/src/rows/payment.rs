//! Payments as rows.

use domain::country::Country;
use domain::currency::{Currency, StableCoin};
use domain::ids::{AttemptId, PaymentId, QuoteId, RecallId, TenantId, TransferId};
use domain::money::Money;
use domain::payment::{Payment, PaymentSnapshot, PaymentState, ReviewState};
use domain::recall::RecallState;
use domain::screening::Screened;
use domain::time::Timestamp;

use super::record::record;
use super::{charge, coin_of};

record! {
    PAYMENT = "payment" of it: Payment {
        Key { tenant: TenantId, id: PaymentId }
        Kept {
            country: Country, quote: QuoteId, external_id: Option<String>,
            amount: i64 = it.amount.minor, base_currency: Currency = it.base.currency,
            base: i64 = it.base.minor, coin: StableCoin = coin_of(&it.charge)?,
            charged as charge_amount: i64 = it.charge.amount.minor,
            premium as charge_premium: i64 = it.charge.premium.minor,
            cost as charge_cost: i64 = it.charge.cost.minor, remainder: i64 = it.remainder.minor,
            hold: TransferId, accepted_at: Timestamp,
        }
        Guard { state: PaymentState = it.standing.state }
        Changed {
            state_at: Timestamp = it.standing.state_at, msg: Option<String> = it.standing.msg,
            bank_reference: Option<String> = it.standing.bank_reference,
        }
        Guard { version: i64, review: ReviewState }
        Changed {
            score as screen_score: u8 = it.screened.score,
            evidence as screen_evidence: Option<String> = it.screened.evidence,
            list_version as screen_list: String = it.screened.list_version,
            stale as screen_stale: bool = it.screened.stale,
            unclear_since: Option<Timestamp>, settled_at: Option<Timestamp>,
            attempt: Option<AttemptId>, recall: Option<RecallId>,
            recall_state: Option<RecallState> = it.standing.recall,
        }
    } => {
        let local = country.currency();
        Payment {
            id, tenant, country, quote, external_id, amount: Money::new(amount, local),
            base: Money::new(base, base_currency), charge: charge(coin, charged, premium, cost),
            remainder: Money::new(remainder, local), hold, accepted_at,
            standing: PaymentSnapshot { state, state_at, msg, bank_reference, recall: recall_state }, version, review,
            screened: Screened { score, evidence, list_version, stale }, unclear_since, settled_at, attempt, recall,
        }
    }
}
