//! The banks' programs: they create wallets and payment requests, block and unblock wallets, repeat
//! requests after unclear answers, and remember the answers. They never read the database.

use std::sync::Arc;

use domain::currency::{Currency, StableCoin};
use domain::ids::{TenantId, WalletId};
use domain::payment_request::{AmountAsked, PaymentRequest};
use domain::time::Span;
use domain::wallet::{BlacklistOrder, BlockOrder, BlockReason, TriggeredBy, Wallet, WalletRefusal};
use engine::command::{Idempotency, Refused};
use engine::error::EngineError;
use engine::payments::IdempotencyKey;
use engine::wallets::{Denied, NewCustomer, NewRequestAsked, Reply, Wallets};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join};

use super::super::chain::{ChainWorld, Deed as ChainDeed};
use super::super::client::Truth;
use super::super::cluster::{Cluster, Unserved};
use super::freezer;
use super::wishes::{Ask, Customer, Deed, Manner, Payable, Sender, Wishes};
use crate::audit::Auditor;
use crate::installation;
use crate::random::{FNV_OFFSET, FNV_PRIME, Random, SharedRandom};
use crate::run::{Owner, Sim};
use crate::wallet_installation::{caller, token};

/// Rupees for a coin, about.
const RUPEES: i64 = 278;
/// Who blocks and unblocks.
const CUSTOMER_BANK: &str = "bank";
/// Tries after which a program that got nowhere complains.
const TRIES_MAX: u32 = 300;

/// What the banks' programs act with.
#[derive(Clone)]
pub(super) struct Programs {
    pub(super) sim: Sim,
    pub(super) cluster: Arc<Cluster>,
    pub(super) chain: Arc<ChainWorld>,
    pub(super) truth: Arc<Truth>,
    pub(super) random: Arc<SharedRandom>,
}

/// What came of one call.
pub(super) enum Came<T> {
    Made(T),
    Refused(Denied),
    /// Try again; perhaps something was done.
    Again,
}

/// Begins a task for everything that customers want.
pub fn customers(
    sim: &Sim,
    cluster: &Arc<Cluster>,
    chain: &Arc<ChainWorld>,
    (truth, auditor): (&Arc<Truth>, &Arc<Auditor>),
    wishes: &Wishes,
    seed: u64,
) {
    let random = Arc::new(SharedRandom::stream(seed, "programs"));
    let programs = Programs {
        sim: sim.clone(),
        cluster: cluster.clone(),
        chain: chain.clone(),
        truth: truth.clone(),
        random,
    };
    freezer::begin(&programs, auditor, seed);
    for customer in &wishes.customers {
        truth.begin(1);
        let (programs, customer) = (programs.clone(), customer.clone());
        sim.spawn(Owner::World, "customer", async move {
            programs.sim.sleep(customer.begins).await;
            if let Some(wallet) = programs.provision(&customer).await {
                programs.serve(&customer, &wallet);
            }
            programs.truth.end();
        });
    }
}

impl Programs {
    pub(super) async fn pause(&self, least: i64, most: i64) {
        self.sim.sleep(Span::millis(self.draw(|random| random.between(least, most)))).await;
    }

    pub(super) fn draw<T>(&self, draw: impl FnOnce(&mut Random) -> T) -> T {
        self.random.with(draw)
    }

    pub(super) async fn call<T: Send + 'static>(
        &self,
        act: impl FnOnce(Wallets) -> BoxFuture<'static, Result<T, Denied>> + Send,
    ) -> Came<T> {
        match self.cluster.call_wallets(act, |_| ()).await {
            Ok(Ok(made)) => Came::Made(made),
            Ok(Err(Denied::Engine(EngineError::Internal))) => {
                self.truth.complain("a wallet call made the service panic".to_owned());
                Came::Again
            }
            Ok(Err(Denied::Engine(_) | Denied::Store(_)))
            | Err(Unserved::Refused | Unserved::Unclear) => Came::Again,
            Ok(Err(denied)) => Came::Refused(denied),
        }
    }

    /// Calls until there is an answer; `None` if there never is one.
    pub(super) async fn insist<T: Send + 'static>(
        &self,
        what: &str,
        act: impl Fn(Wallets) -> BoxFuture<'static, Result<T, Denied>> + Send + Sync,
    ) -> Option<Result<T, Denied>> {
        for _ in 0..TRIES_MAX {
            match self.call(&act).await {
                Came::Made(made) => return Some(Ok(made)),
                Came::Refused(denied) => return Some(Err(denied)),
                Came::Again => self.pause(100, 3_000).await,
            }
        }
        self.truth.complain(format!("{what} got nowhere in {TRIES_MAX} tries"));
        None
    }

    /// Begins everything that is to happen with a wallet.
    fn serve(&self, customer: &Customer, wallet: &Wallet) {
        for payable in &customer.payables {
            self.truth.begin(1);
            let (programs, payable, wallet) = (self.clone(), payable.clone(), wallet.clone());
            self.sim.spawn(Owner::World, "payer", async move {
                programs.sim.sleep(payable.begins).await;
                programs.pay(&payable, &wallet).await;
                programs.truth.end();
            });
        }
        for exchange in &customer.exchanges {
            let (programs, exchange, wallet) = (self.clone(), exchange.clone(), wallet.clone());
            self.truth.begin(1);
            self.sim.spawn(Owner::World, "exchanger", async move {
                programs.sim.sleep(exchange.begins).await;
                programs.exchange(&exchange, &wallet).await;
                programs.truth.end();
            });
        }
        for (after, deed) in &customer.deeds {
            let (programs, after, deed, wallet) = (self.clone(), *after, *deed, wallet.clone());
            self.truth.begin(1);
            self.sim.spawn(Owner::World, "control", async move {
                programs.sim.sleep(after).await;
                programs.control(deed, &wallet).await;
                programs.truth.end();
            });
        }
    }

    async fn provision(&self, customer: &Customer) -> Option<Wallet> {
        let tenant = customer.tenant;
        let asked = NewCustomer {
            customer_id: format!("C-{}", customer.number),
            email: "asha@example.com".to_owned(),
            phone: "+923001234567".to_owned(),
            blockchain: None,
            kyc_level: None,
        };
        let provision = |wallets: Wallets| {
            let asked = asked.clone();
            async move { wallets.provision(&caller(tenant), asked, None).await }.boxed()
        };
        let mut id = self.provisioned(customer, self.insist("a provision", provision).await?)?;
        if customer.twice {
            let insist = || self.insist("a provision", provision);
            let (one, other) = join(insist(), insist()).await;
            for answer in [one?, other?] {
                let again = self.provisioned(customer, answer)?;
                if std::mem::replace(&mut id, again) != again {
                    self.truth.complain(format!(
                        "customer {} has wallets {id} and {again}",
                        customer.number
                    ));
                }
            }
        }
        let find =
            move |wallets: Wallets| async move { wallets.find(&caller(tenant), id).await }.boxed();
        match self.insist("a look at a wallet", find).await? {
            Ok((wallet, _)) => {
                self.sim.trace(format_args!(
                    "customer {} has wallet {id} at {:?}",
                    customer.number, wallet.address
                ));
                Some(wallet)
            }
            Err(denied) => {
                self.truth.complain(format!("wallet {id} was made and is not found: {denied:?}"));
                None
            }
        }
    }

    /// The wallet that an answer names: this try has made it, or an earlier one.
    fn provisioned(
        &self,
        customer: &Customer,
        answer: Result<Reply<Wallet>, Denied>,
    ) -> Option<WalletId> {
        match answer {
            Ok(reply) => Some(reply.made.id),
            Err(Denied::Refused(Refused::Wallet(WalletRefusal::Exists(id)))) => Some(id),
            Err(denied) => {
                self.truth
                    .complain(format!("no wallet for customer {}: {denied:?}", customer.number));
                None
            }
        }
    }

    /// Has a payment request made; `None` where the wallet is frozen.
    pub(super) async fn request(
        &self,
        payable: &Payable,
        wallet: &Wallet,
    ) -> Option<PaymentRequest> {
        let amount = match payable.ask {
            Ask::Coin => AmountAsked::Crypto(payable.coin, payable.minor),
            Ask::Rupees => AmountAsked::Fiat(Currency::Pkr, payable.minor * RUPEES),
            Ask::Anything => AmountAsked::Flexible,
        };
        let hours = if payable.manner == Manner::Late { 1 } else { 720 };
        let asked = NewRequestAsked {
            wallet: wallet.id,
            amount,
            purpose: None,
            recipient_name: None,
            expires_in_hours: hours,
        };
        let (tenant, key) =
            (wallet.tenant, self.key(payable.keyed, "POST /v1/requests", payable.number));
        let create = |wallets: Wallets| {
            let (asked, key) = (asked.clone(), key.clone());
            async move { wallets.create_request(&caller(tenant), asked, key).await }.boxed()
        };
        let made = self.refused_only_if_frozen(
            "a payment request",
            self.insist("a payment request", create).await?,
        )?;
        if payable.keyed && self.draw(|random| random.chance(500)) {
            let again = self.insist("a payment request", create).await?;
            if again.is_ok_and(|again| again.made.id != made.made.id || !again.replayed) {
                self.truth
                    .complain(format!("a repeated request of {} made another one", made.made.id));
            }
        }
        Some(made.made)
    }

    pub(super) fn refused_only_if_frozen<T>(
        &self,
        what: &str,
        answer: Result<T, Denied>,
    ) -> Option<T> {
        match answer {
            Ok(made) => Some(made),
            Err(Denied::Refused(Refused::Wallet(WalletRefusal::Frozen(_)))) => None,
            Err(denied) => {
                self.truth.complain(format!("{what} was refused: {denied:?}"));
                None
            }
        }
    }

    pub(super) fn key(&self, keyed: bool, scope: &str, number: usize) -> Option<Idempotency> {
        let hash = scope
            .bytes()
            .fold(FNV_OFFSET, |state, byte| (state ^ u64::from(byte)).wrapping_mul(FNV_PRIME));
        let mut body_hash = [0; 32];
        body_hash[..8].copy_from_slice(&hash.to_be_bytes());
        let key = IdempotencyKey { scope: scope.to_owned(), key: format!("key-{number}") };
        keyed.then_some(Idempotency { key, body_hash })
    }

    async fn control(&self, deed: Deed, wallet: &Wallet) {
        let tenant = wallet.tenant;
        match deed {
            Deed::Block { span } => {
                self.block((tenant, wallet.id), None).await;
                self.sim.sleep(span).await;
                self.unblock((tenant, wallet.id)).await;
            }
            Deed::BlockForHours(hours) => self.block((tenant, wallet.id), Some(hours)).await,
            Deed::Blacklist | Deed::BlacklistTomorrow => {
                let later = if deed == Deed::Blacklist { Span(0) } else { Span::days(1) };
                let order = BlacklistOrder {
                    authority: "SBP".to_owned(),
                    reference: format!("SBP-{}", wallet.id),
                    reason: "an order".to_owned(),
                    effective_date: (self.sim.now() + later).date(),
                };
                let id = wallet.id;
                let act = move |wallets: Wallets| {
                    let order = order.clone();
                    async move {
                        wallets.blacklist(&caller(tenant), id, order, CUSTOMER_BANK, None).await
                    }
                    .boxed()
                };
                self.note_control("blacklist", self.insist("a blacklist", act).await);
            }
            Deed::Issuer => {
                let coin = self.draw(|random| random.pick(&StableCoin::ALL));
                self.chain.send(ChainDeed::Blacklist(token(coin), wallet.address, true));
            }
        }
    }

    pub(super) async fn block(&self, (tenant, id): (TenantId, WalletId), hours: Option<i64>) {
        let order = BlockOrder {
            reason: BlockReason::SuspiciousActivity,
            details: "a look is needed".to_owned(),
            auto_unblock_hours: hours,
            triggered_by: TriggeredBy::Manual,
        };
        let act = move |wallets: Wallets| {
            let order = order.clone();
            async move { wallets.block(&caller(tenant), id, order, CUSTOMER_BANK, None).await }
                .boxed()
        };
        self.note_control("block", self.insist("a block", act).await);
    }

    pub(super) async fn unblock(&self, (tenant, id): (TenantId, WalletId)) {
        let act = move |wallets: Wallets| {
            async move { wallets.unblock(&caller(tenant), id, None, CUSTOMER_BANK, None).await }
                .boxed()
        };
        self.note_control("unblock", self.insist("an unblock", act).await);
    }

    /// A repetition may be a conflict: the first call has changed the wallet's state.
    fn note_control(&self, what: &str, answer: Option<Result<Reply<Wallet>, Denied>>) {
        match answer {
            Some(Ok(reply)) => self.sim.trace(format_args!(
                "{what}: {} is {}",
                reply.made.id,
                reply.made.state.name()
            )),
            Some(Err(Denied::Refused(Refused::Wallet(WalletRefusal::Conflict(state))))) => {
                self.sim.trace(format_args!("{what}: the wallet is {}", state.name()));
            }
            // One who blocks in the middle of something does not know of an order for tomorrow.
            Some(Err(Denied::Refused(Refused::Wallet(WalletRefusal::Ordered(day))))) => {
                self.sim.trace(format_args!(
                    "{what}: the wallet is ordered to be blacklisted on {day}"
                ));
            }
            Some(Err(denied)) => self.truth.complain(format!("{what}: {denied:?}")),
            None => {}
        }
    }
}

/// The names that senders give.
pub(super) fn sender_name(sender: Sender) -> Option<(&'static str, &'static str)> {
    match sender {
        Sender::Clean => Some(("Ayesha", "Khan")),
        Sender::Review => installation::NAME_IN_REVIEW.split_once(' '),
        Sender::Listed => installation::NAME_LISTED.split_once(' '),
        Sender::Further => installation::NAME_FURTHER.split_once(' '),
        Sender::Silent => None,
    }
}
