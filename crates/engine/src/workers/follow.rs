//! Synchronizes a wallet's dependents with its state: cancels orders and requests, screens or
//! rejects held deposits. Also runs the timers of wallets and requests. Each command verifies that
//! it still applies.

use domain::chain::{Address, KeyRole};
use domain::currency::StableCoin;
use domain::deposit::DepositState;
use domain::ids::{PaymentRequestId, TenantId, WalletId};
use domain::job::Job;
use domain::payment_request::RequestState;
use domain::time::Span;
use domain::wallet::{Wallet, WalletState};
use futures_util::future::join_all;
use store::{Page, StoreError};

use super::Workers;
use crate::command::chain::ChainAction;
use crate::command::deposits::{DepositAction, DepositRef};
use crate::command::exchange::{ExchangeAction, OrderKey};
use crate::command::wallets::{Followed, RequestAction, WalletAction};
use crate::command::{Action, Outcome};
use crate::context::{ChainContext, ChainContexts};

/// Upper bound on a wallet's open orders: each reserves some of its coins.
const ORDERS_MAX: usize = 10_000;
/// Requests or deposits processed at once.
const AT_ONCE: u32 = 100;

impl Workers {
    /// Processes leased `wallet_timer` jobs.
    pub(super) async fn follow(&self, wallets: &ChainContexts, jobs: Vec<Job>) {
        join_all(jobs.iter().map(|job| self.follow_one(wallets, job))).await;
    }

    async fn follow_one(&self, wallets: &ChainContexts, job: &Job) {
        let wallet = match self.store.wallet(job.tenant, WalletId(job.subject)).await {
            Ok(Some(wallet)) => wallet,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, wallet = %job.subject, "wallet read failed, will retry");
                return;
            }
        };
        let Some(wallets) = self.chain_of(wallets, wallet.chain) else { return };
        let in_line = if wallet.follow_up { self.bring_in_line(&wallet).await } else { Ok(true) };
        let in_line = in_line.unwrap_or_else(|error| {
            tracing::warn!(%error, wallet = %wallet.id, "wallet dependents read failed, will retry");
            false
        });
        let chain_ready = wallet.state == WalletState::Pending
            && controller_is_there(wallets, wallet.controller).await;
        if wallet.state == WalletState::Pending && !chain_ready {
            self.report(job.tenant, job.subject, Action::Chain(ChainAction::Deploy(wallet.chain)))
                .await;
        }
        let tokens = blacklist_tokens(wallets, wallet.tenant);
        let id = wallet.id;
        let followed = Followed { fence: job.fence, seen: wallet, in_line, chain_ready, tokens };
        let action = Action::Wallet(id, WalletAction::Follow(Box::new(followed)));
        self.report(job.tenant, job.subject, action).await;
    }

    /// Synchronizes all dependents; `false` if some have to be retried.
    async fn bring_in_line(&self, wallet: &Wallet) -> Result<bool, StoreError> {
        let requests = match wallet.state {
            WalletState::Blacklisted => self.cancel_requests(wallet).await?,
            WalletState::Pending | WalletState::Active | WalletState::Blocked => true,
        };
        Ok(requests && self.call_off_orders(wallet).await? && self.move_deposits(wallet).await?)
    }

    async fn cancel_requests(&self, wallet: &Wallet) -> Result<bool, StoreError> {
        let page = Page { page: 0, limit: AT_ONCE };
        loop {
            let active = Some(RequestState::Active);
            let found =
                self.store.list_requests(wallet.tenant, wallet.id, active, page).await?.rows;
            let (all, tenant) = (found.len(), wallet.tenant);
            let told = join_all(found.into_iter().map(|request| {
                let action = Action::Request(request.id, RequestAction::WalletChanged(wallet.id));
                self.report(tenant, request.id.0, action)
            }));
            if !told.await.iter().all(Option::is_some) {
                return Ok(false);
            }
            if all < AT_ONCE as usize {
                return Ok(true);
            }
        }
    }

    async fn call_off_orders(&self, wallet: &Wallet) -> Result<bool, StoreError> {
        if !wallet.state.is_frozen() {
            return Ok(true);
        }
        let open = self.store.open_exchanges(wallet.tenant, wallet.id, ORDERS_MAX).await?;
        let told = join_all(open.iter().map(|order| {
            let action = Action::Exchange(OrderKey::of(order), ExchangeAction::WalletChanged);
            self.report(wallet.tenant, order.id.0, action)
        }));
        Ok(told.await.iter().all(Option::is_some))
    }

    /// Deposits whose state follows the wallet's.
    async fn move_deposits(&self, wallet: &Wallet) -> Result<bool, StoreError> {
        let accept_late = self.accept_late(wallet.tenant).await?;
        let moving = DepositState::ALL.into_iter().filter(|state| state.moves_with(wallet.state));
        let moving: Vec<DepositState> = moving.collect();
        loop {
            let found =
                self.store.deposits_in(wallet.tenant, wallet.id, &moving, AT_ONCE as usize).await?;
            let told = join_all(found.iter().map(|deposit| {
                let named = DepositRef::of(deposit, accept_late);
                self.report(
                    wallet.tenant,
                    deposit.id.0,
                    Action::Deposit(named, DepositAction::WalletChanged),
                )
            }));
            if !told.await.iter().all(Option::is_some) {
                return Ok(false);
            }
            if found.len() < AT_ONCE as usize {
                return Ok(true);
            }
        }
    }

    /// How long after a request's expiry the tenant accepts payments for it.
    pub(super) async fn accept_late(&self, tenant: TenantId) -> Result<Option<Span>, StoreError> {
        Ok(self.store.tenant(tenant).await?.and_then(|tenant| tenant.policy.wallet.accept_late))
    }

    /// Processes leased `expire_request` jobs.
    pub(super) async fn expire_requests(&self, jobs: Vec<Job>) {
        join_all(jobs.iter().map(|job| self.expire_request(job))).await;
    }

    async fn expire_request(&self, job: &Job) {
        let (tenant, id) = (job.tenant, PaymentRequestId(job.subject));
        match self.store.request(tenant, id).await {
            Ok(Some(request)) => {
                let action = RequestAction::Expire { fence: job.fence, wallet: request.wallet };
                self.report(tenant, job.subject, Action::Request(id, action)).await;
            }
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, request = %id, "payment request read failed, will retry");
            }
        }
    }

    /// Executes one action; `None` if it is obsolete or failed. The job's lease brings it back in
    /// that case.
    pub(super) async fn report(
        &self,
        tenant: TenantId,
        subject: uuid::Uuid,
        action: Action,
    ) -> Option<Outcome> {
        match self.engine.execute(crate::command::Command { tenant, action }).await {
            Ok(Outcome::Refused(refused)) => {
                tracing::debug!(%subject, %refused, "stale worker result ignored");
                None
            }
            Ok(outcome) => Some(outcome),
            Err(error) => {
                tracing::warn!(%subject, %error, "worker result rejected, will retry");
                None
            }
        }
    }
}

async fn controller_is_there(wallets: &ChainContext, controller: Address) -> bool {
    wallets.chain.is_deployed(controller).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "controller lookup failed, will retry");
        false
    })
}

/// The tokens whose blacklists one of the tenant's keys can write.
pub(crate) fn blacklist_tokens(
    wallets: &ChainContext,
    tenant: TenantId,
) -> Vec<(StableCoin, Address)> {
    match wallets.signer.address(tenant, KeyRole::Blacklister) {
        Ok(_) => wallets.config.tokens.iter().map(|token| (token.coin, token.address)).collect(),
        Err(_) => Vec::new(),
    }
}
