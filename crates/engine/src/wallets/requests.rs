//! Payment requests.

use std::collections::BTreeMap;

use domain::audit::AuditContext;
use domain::ids::{PaymentRequestId, WalletId};
use domain::payment_request::{
    AmountAsked, AmountRefusal, Asked, NewRequest, PaymentRequest, RequestMoney, RequestState,
};
use store::working_set::{IdempotencyRecord, Made};

use super::{Caller, Denied, Listed, Page, Reply, Wallets, not_found_as, require_unfrozen};
use crate::batcher::fresh_id;
use crate::command::wallets::{RequestAction, WalletAction};
use crate::command::{Action, Idempotency, Outcome};
use crate::error::EngineError;

/// Random bytes of a pay link: 160 bits.
const TOKEN_BYTES: usize = 20;

/// A requested payment request (POST payment-requests).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRequestAsked {
    pub wallet: WalletId,
    pub amount: AmountAsked,
    pub purpose: Option<String>,
    pub recipient_name: Option<String>,
    pub expires_in_hours: i64,
}

impl Wallets {
    /// Creates a payment request.
    ///
    /// # Errors
    /// [`Denied::NotFound`]; [`Denied::RateUnavailable`] for an amount in a currency without a
    /// rate; [`Denied::ChainNotInUse`]; refusals as in `domain::payment_request::create`.
    pub async fn create_request(
        &self,
        caller: &Caller,
        asked: NewRequestAsked,
        idempotency: Option<Idempotency>,
    ) -> Result<Reply<PaymentRequest>, Denied> {
        let key = idempotency.clone();
        let prepared = self.new_request(caller, asked, key).await;
        let outcome = self.run_or_replay(caller.tenant, prepared, idempotency).await;
        self.changed_request(caller, outcome, "wallet_id").await
    }

    async fn new_request(
        &self,
        caller: &Caller,
        asked: NewRequestAsked,
        idempotency: Option<Idempotency>,
    ) -> Result<Action, Denied> {
        self.offered()?;
        let wallet = self.own_wallet(caller, asked.wallet).await;
        let chain = match &wallet {
            Ok(wallet) => Some(&self.offered_on(wallet.chain)?.config),
            Err(_) => None,
        };
        let amount = Asked::of(
            asked.amount,
            |coin| chain.is_none_or(|chain| chain.token(coin).is_some()),
            |coin, currency| self.world.fixing_rate(coin, currency).ok(),
        );
        // What the request itself lacks is reported first, then the wallet's state.
        let amount = match amount {
            Err(AmountRefusal::Invalid(fault)) => return Err(Denied::Invalid(fault)),
            Err(AmountRefusal::NoRate(coin, currency)) => {
                Err(Denied::from(self.world.no_rate(coin.currency(), currency)))
            }
            Ok(amount) => Ok(amount),
        };
        let wallet = wallet?;
        require_unfrozen(&wallet)?;
        let new = NewRequest {
            id: PaymentRequestId(fresh_id(&self.store)),
            token: token(self.store.random::<TOKEN_BYTES>()),
            asked: amount?,
            purpose: asked.purpose,
            recipient_name: asked.recipient_name,
            expires_in_hours: asked.expires_in_hours,
        };
        let new = Box::new(new);
        Ok(Action::Wallet(asked.wallet, WalletAction::Request { new, idempotency }))
    }

    /// Cancels a payment request on behalf of the bank's own system.
    ///
    /// # Errors
    /// [`Denied::NotFound`]; 409 if it is not ACTIVE.
    pub async fn cancel_request(
        &self,
        caller: &Caller,
        id: PaymentRequestId,
        idempotency: Option<Idempotency>,
    ) -> Result<Reply<PaymentRequest>, Denied> {
        let action = Action::Request(id, RequestAction::Cancel { by: None, idempotency });
        let outcome = self.run(caller.tenant, action).await;
        self.changed_request(caller, outcome, "payment_request_id").await
    }

    /// Cancels a payment request on behalf of a user, recorded in the audit log.
    ///
    /// # Errors
    /// As [`Wallets::cancel_request`].
    pub async fn cancel_request_by(
        &self,
        caller: &Caller,
        id: PaymentRequestId,
        by: impl Into<AuditContext>,
    ) -> Result<Reply<PaymentRequest>, Denied> {
        let by = Some(Box::new(by.into()));
        let action = Action::Request(id, RequestAction::Cancel { by, idempotency: None });
        let outcome = self.run(caller.tenant, action).await;
        self.changed_request(caller, outcome, "payment_request_id").await
    }

    async fn changed_request(
        &self,
        caller: &Caller,
        outcome: Result<Outcome, Denied>,
        field: &'static str,
    ) -> Result<Reply<PaymentRequest>, Denied> {
        match outcome.map_err(not_found_as(field))? {
            Outcome::Request(request) => Ok(Reply { made: *request, replayed: false }),
            Outcome::Replayed(IdempotencyRecord { made: Made::Request(id), .. }) => {
                Ok(Reply { made: self.find_request(caller, id).await?, replayed: true })
            }
            _ => Err(Denied::Engine(EngineError::Internal)),
        }
    }

    /// One payment request.
    ///
    /// # Errors
    /// [`Denied::NotFound`]
    pub async fn find_request(
        &self,
        caller: &Caller,
        id: PaymentRequestId,
    ) -> Result<PaymentRequest, Denied> {
        self.store.request(caller.tenant, id).await?.ok_or(Denied::NotFound("payment_request_id"))
    }

    /// Where the funds are that were received for these requests of the caller.
    pub async fn money_of(
        &self,
        caller: &Caller,
        requests: &[PaymentRequest],
    ) -> Result<BTreeMap<PaymentRequestId, RequestMoney>, Denied> {
        Ok(self.store.money_of_requests(caller.tenant, requests).await?)
    }

    /// A page of a wallet's payment requests.
    ///
    /// # Errors
    /// [`Denied::NotFound`]
    pub async fn list_requests(
        &self,
        caller: &Caller,
        wallet: WalletId,
        state: Option<RequestState>,
        page: Page,
    ) -> Result<Listed<PaymentRequest>, Denied> {
        self.own_wallet(caller, wallet).await?;
        Ok(self.store.list_requests(caller.tenant, wallet, state, page).await?)
    }
}

/// Encodes the bytes as lower-case hexadecimal digits.
fn token(bytes: [u8; TOKEN_BYTES]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_160_bits_of_plain_text() {
        let text = token([0xa5; TOKEN_BYTES]);
        assert_eq!(text, "a5".repeat(20));
        assert!(4 * text.len() >= 128);
    }
}
