//! Provisioning of wallets, and their balances.

use crate::context::ChainContext;
use domain::currency::{Currency, StableCoin};
use domain::decimal::Rounding;
use domain::fault::Fault;
use domain::ids::{DepositId, ExchangeId, WalletId};
use domain::money::Money;
use domain::ports::Controller;
use domain::wallet::{Block, KycLevel, Provision, Wallet};
use domain::wallet_event::WalletEvent;
use store::working_set::{IdempotencyRecord, Made};
use uuid::Uuid;

use super::{
    Caller, DeliveredEvent, Denied, Listed, Page, Reply, Transaction, TransactionKind, Wallets,
};
use crate::batcher::fresh_id;
use crate::command::wallets::NewWallet;
use crate::command::{Action, Idempotency, Outcome};
use crate::error::EngineError;

/// The field that names a wallet.
const FIELD: &str = "wallet_id";

/// Customer of a requested wallet (POST provision).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCustomer {
    /// The bank's own id.
    pub customer_id: String,
    pub email: String,
    /// Phone number in E.164 format.
    pub phone: String,
    /// The API's name of a chain; defaults to the installation's first.
    pub blockchain: Option<String>,
    /// The KYC level that the bank reports.
    pub kyc_level: Option<KycLevel>,
}

/// A wallet's balance of one coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    pub coin: StableCoin,
    /// Total in minor units.
    pub minor: i64,
    /// Amount not reserved by orders, in minor units.
    pub available_minor: i64,
    /// Value in US dollars at mid; `None` = no current rate.
    pub value_usd: Option<Money>,
    /// Value in rupees at mid; `None` = no current rate.
    pub value_pkr: Option<Money>,
}

impl Wallets {
    /// Provisions a wallet (POST provision).
    ///
    /// # Errors
    /// [`Denied::Invalid`] for another chain; [`Denied::ChainNotInUse`]; refusals as in
    /// `domain::wallet::provision`.
    pub async fn provision(
        &self,
        caller: &Caller,
        customer: NewCustomer,
        idempotency: Option<Idempotency>,
    ) -> Result<Reply<Wallet>, Denied> {
        let offered = self.offered()?;
        let chain = offered.named(customer.blockchain.as_deref()).ok_or_else(|| {
            let known: Vec<&str> =
                offered.configured().map(|it| it.configured().config.name.as_str()).collect();
            let rule = format!("must be {}", known.join(" or "));
            Denied::Invalid(Fault::new("blockchain", "enum", rule))
        })?;
        let wallets = chain.numbered().ok_or(Denied::ChainNotInUse)?;
        let controller = wallets.contracts.controller(caller.tenant)?;
        let provision = Provision {
            id: WalletId(fresh_id(&self.store)),
            tenant: caller.tenant,
            customer_id: customer.customer_id,
            email: customer.email,
            phone: customer.phone,
            blockchain: wallets.config.name.clone(),
            chain: wallets.config.number,
            kyc_level: customer.kyc_level,
            deployed: self.is_deployed(wallets, &controller).await,
            controller,
        };
        let minimum_kyc = caller.policy.wallet.minimum_kyc;
        let action = Action::Provision(Box::new(NewWallet { provision, minimum_kyc, idempotency }));
        self.changed_wallet(caller, action).await
    }

    /// Whether a controller is deployed. If the chain does not answer, it counts as not deployed:
    /// the wallet is PENDING until it does.
    async fn is_deployed(&self, wallets: &ChainContext, controller: &Controller) -> bool {
        let place = (wallets.config.number, controller.address);
        if self.is_known_deployed(place) {
            return true;
        }
        match self.promptly(wallets.chain.is_deployed(controller.address)).await {
            Ok(true) => {
                self.note_deployed(place);
                true
            }
            Ok(false) => false,
            Err(error) => {
                tracing::warn!(%error, "controller lookup failed, will retry");
                false
            }
        }
    }

    /// Executes an action that provisions or changes a wallet.
    pub(super) async fn changed_wallet(
        &self,
        caller: &Caller,
        action: Action,
    ) -> Result<Reply<Wallet>, Denied> {
        match self.run(caller.tenant, action).await.map_err(super::not_found_as(FIELD))? {
            Outcome::Wallet(wallet) => {
                Ok(Reply { made: self.named_today(*wallet), replayed: false })
            }
            Outcome::Replayed(record) => {
                Ok(Reply { made: self.wallet_as_made(caller, record).await?, replayed: true })
            }
            _ => Err(Denied::Engine(EngineError::Internal)),
        }
    }

    /// The wallet with the result of an earlier identical request: its block or the time of its
    /// unblock.
    async fn wallet_as_made(
        &self,
        caller: &Caller,
        record: IdempotencyRecord,
    ) -> Result<Wallet, Denied> {
        match record.made {
            Made::Wallet(id) => {
                let wallet = self.own_wallet(caller, id).await?;
                Ok(Wallet { unblocked_at: wallet.unblocked_at.map(|_| record.at), ..wallet })
            }
            Made::Event(event) => {
                let told = self
                    .store
                    .delivery(caller.tenant, event)
                    .await?
                    .ok_or(Denied::NotFound(FIELD))?;
                let DeliveredEvent::Wallet(entry) = told.event else {
                    return Err(Denied::Engine(EngineError::Internal));
                };
                let WalletEvent::WalletBlocked {
                    wallet,
                    reason,
                    details,
                    at,
                    auto_unblock_at,
                    triggered_by,
                    ..
                } = entry.event
                else {
                    return Err(Denied::Engine(EngineError::Internal));
                };
                let block = Block { reason, details, at, auto_unblock_at, triggered_by };
                Ok(Wallet { block: Some(block), ..self.own_wallet(caller, wallet).await? })
            }
            _ => Err(Denied::Engine(EngineError::Internal)),
        }
    }

    /// Returns a wallet and its balances (GET wallet).
    ///
    /// # Errors
    /// [`Denied::NotFound`]
    pub async fn find(&self, caller: &Caller, id: WalletId) -> Result<(Wallet, Vec<Held>), Denied> {
        let wallet = self.own_wallet(caller, id).await?;
        let accounts = self.store.wallet_accounts(caller.tenant, id).await?;
        let held = StableCoin::ALL.into_iter().zip(accounts).map(|(coin, account)| {
            let minor = account.balance().minor;
            Held {
                coin,
                minor,
                available_minor: account.available().minor,
                value_usd: self.value(coin, minor, Currency::Usd),
                value_pkr: self.value(coin, minor, Currency::Pkr),
            }
        });
        Ok((wallet, held.collect()))
    }

    /// The value of coins in a currency at mid, rounded down to its minor units.
    fn value(&self, coin: StableCoin, minor: i64, currency: Currency) -> Option<Money> {
        let amount = Money::new(minor, coin.currency()).decimal();
        let exact = amount.checked_mul(self.mid(coin, currency)?)?;
        Money::exact(exact.round(currency.minor_units(), Rounding::Floor), currency)
    }

    /// One entry of a wallet's history (GET transactions/{transaction_id}): an order, or a deposit
    /// unless it is hidden.
    ///
    /// # Errors
    /// [`Denied::NotFound`]
    pub async fn find_transaction(&self, caller: &Caller, id: Uuid) -> Result<Transaction, Denied> {
        if let Some(deposit) = self.store.deposit(caller.tenant, DepositId(id)).await? {
            return match deposit.status() {
                Some(_) => Ok(Transaction::Deposit(Box::new(deposit))),
                None => Err(Denied::NotFound("transaction_id")),
            };
        }
        let order = self.store.exchange(caller.tenant, ExchangeId(id)).await?;
        order
            .map(|order| Transaction::Exchange(Box::new(order)))
            .ok_or(Denied::NotFound("transaction_id"))
    }

    /// A page of a wallet's history (GET transactions).
    ///
    /// # Errors
    /// [`Denied::NotFound`]
    pub async fn transactions(
        &self,
        caller: &Caller,
        wallet: WalletId,
        kind: Option<TransactionKind>,
        page: Page,
    ) -> Result<Listed<Transaction>, Denied> {
        self.own_wallet(caller, wallet).await?;
        Ok(self.store.transactions(caller.tenant, wallet, kind, page).await?)
    }
}
