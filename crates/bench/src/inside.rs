//! The wallet service in this process, which creates the initial data of a run: wallets, payment
//! links, senders' submissions. It ends before anything is measured, and delivers no webhooks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use domain::chain::Address;
use domain::currency::StableCoin;
use domain::ids::{PaymentRequestId, WalletId};
use domain::payment_request::{AmountAsked, DEFAULT_EXPIRES_IN_HOURS, SenderDetails};
use domain::wallet::{KycLevel, WalletState};
use engine::batcher::Engine;
use engine::wallets::{Caller, NewCustomer, NewRequestAsked, Wallets};
use engine::workers::Workers;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use testkit::bank::{Behaviour, SimulatedBank};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::installation::Installation;
use service::chain::ChainSide;
use service::clock::BusinessClock;
use service::world::{self, Ground, Surroundings};

/// The coin and amount of all payments: 25.00, cents without a sandbox meaning.
pub(super) const COIN: StableCoin = StableCoin::Usdc;
pub(super) const AMOUNT_MINOR: i64 = 25_000_000;
/// Payment links that are created concurrently.
const AT_ONCE: usize = 256;
/// Maximum wait for the tenant's contracts.
const DEPLOYED_WITHIN: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The task that delivers webhooks.
const IDLE: &str = "deliver";

/// A payment link, ready to be paid, with its own wallet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) request: PaymentRequestId,
    pub(super) wallet: WalletId,
    pub(super) escrow: Address,
}

pub(super) struct Inside {
    wallets: Wallets,
    caller: Caller,
    pub(super) chain: ChainSide,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
    bank: Option<SimulatedBank>,
}

impl Inside {
    pub(super) async fn open(installation: &Installation) -> anyhow::Result<Inside> {
        let (config, store) = (&installation.config, &installation.store);
        let owner = installation
            .tenants
            .first()
            .context("an installation without a tenant")?
            .tenant
            .clone();
        let tenants = [owner.clone()];
        let ground = Ground {
            data_dir: installation.data_dir(),
            clock: BusinessClock::default(),
            behaviour: Behaviour::default(),
            store: None,
            tenants: &tenants,
            // The URL is not used.
            public_url: "http://127.0.0.1",
        };
        let Surroundings { world, bank, chains, .. } = world::build(config, ground).await?;
        let chain = chains.into_iter().next().context("the wallet service is not enabled")?;
        let (stop, stopping) = watch::channel(false);
        let (engine, batcher) = Engine::new(store.clone(), world.clone());
        let mut tasks = vec![tokio::spawn(batcher.run())];
        tasks.extend(chain.tasks(store, &stopping).into_iter().map(|(_, task)| tokio::spawn(task)));
        chain.set_up(&tenants).await?;
        let workers =
            Workers::new(store.clone(), engine.clone(), world.clone(), "bench".to_owned());
        let busy = workers.tasks(&stopping).into_iter().filter(|(name, _)| name != IDLE);
        tasks.extend(busy.map(|(_, task)| tokio::spawn(task)));
        let caller = Caller { tenant: owner.id, policy: Arc::new(owner.policy) };
        Ok(Inside {
            wallets: Wallets::new(store.clone(), engine, world),
            caller,
            chain,
            stop,
            tasks,
            bank,
        })
    }

    /// Creates this many links, each with its own wallet.
    pub(super) async fn links(&self, count: usize) -> anyhow::Result<Vec<Link>> {
        self.deployed().await?;
        stream::iter(0..count)
            .map(|nth| self.link(nth))
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await
    }

    /// Waits until the tenant's contracts are deployed, which the first wallet triggers.
    async fn deployed(&self) -> anyhow::Result<()> {
        let first = self.wallet("first").await?;
        let until = Instant::now() + DEPLOYED_WITHIN;
        loop {
            let (wallet, _) = self.wallets.find(&self.caller, first).await?;
            if wallet.state == WalletState::Active {
                return Ok(());
            }
            anyhow::ensure!(
                Instant::now() < until,
                "the tenant's contracts were not deployed in time"
            );
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn link(&self, nth: usize) -> anyhow::Result<Link> {
        let wallet = self.wallet(&nth.to_string()).await?;
        let asked = NewRequestAsked {
            wallet,
            amount: AmountAsked::Crypto(COIN, AMOUNT_MINOR),
            purpose: Some("Bench".to_owned()),
            recipient_name: None,
            expires_in_hours: DEFAULT_EXPIRES_IN_HOURS,
        };
        let made = self
            .wallets
            .create_request(&self.caller, asked, None)
            .await
            .context("a payment request")?
            .made;
        let said = self
            .wallets
            .submit_sender(&made.token, sender(nth), None)
            .await
            .context("a sender's details")?;
        Ok(Link { request: made.id, wallet, escrow: said.escrow.unwrap_or(made.escrow) })
    }

    async fn wallet(&self, name: &str) -> anyhow::Result<WalletId> {
        let customer = NewCustomer {
            customer_id: format!("bench-{name}"),
            email: format!("bench-{name}@example.com"),
            phone: "+923001234567".to_owned(),
            blockchain: None,
            kyc_level: Some(KycLevel::Comprehensive),
        };
        Ok(self.wallets.provision(&self.caller, customer, None).await.context("a wallet")?.made.id)
    }

    /// Ends it after completing its work in progress.
    pub(super) async fn close(self) -> anyhow::Result<()> {
        self.stop.send_replace(true);
        // The batcher ends with the last handle of its engine.
        drop((self.wallets, self.chain));
        for task in self.tasks.into_iter().rev() {
            task.await.context("a task of the service in this process")?;
        }
        if let Some(bank) = self.bank {
            bank.stop().await;
        }
        Ok(())
    }
}

/// The details of a sender: fictitious, and different for each link.
fn sender(nth: usize) -> SenderDetails {
    SenderDetails {
        first_name: Some("Bench".to_owned()),
        last_name: Some(format!("Sender {nth}")),
        email: Some(format!("sender-{nth}@example.com")),
        phone_number: Some("+971500000000".to_owned()),
        custodial_provider: Some("Bench Exchange".to_owned()),
    }
}
