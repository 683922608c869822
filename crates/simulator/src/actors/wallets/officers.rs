//! Compliance officers and the bank's operators: they decide about deposits, give refused ones back, give coins back
//! whose rupees came back (and send them from the treasury first, where they were swept), switch receivers on again. They
//! lift a legal hold now and then, and never hurry.

use domain::chain::ChainNumber;
use std::sync::Arc;

use domain::audit::AuditContext;
use domain::currency::StableCoin;
use domain::deposit::{ReviewVerdict, SeenRefund};
use domain::exchange::{ExchangeOrder, OrderRefusal};
use domain::ids::{DepositId, EventId, ExchangeId, TenantId};
use domain::ledger::{AccountCode, Funding};
use domain::money::Money;
use domain::time::Span;
use engine::command::exchange::{ExchangeAction, OrderKey};
use engine::command::{Action, Command, Outcome, Refused};
use engine::wallets::{Page, ReviewAsked, Wallets};
use futures_util::FutureExt;

use super::super::chain::{ChainWorld, Deed as OnChain, Payment, controller_of, treasury_of};
use super::super::cluster::Cluster;
use super::wishes::{Wishes, draw_address};
use crate::audit::{Auditor, Chore};
use crate::random::Random;
use crate::run::{Pace, Sim};
use crate::wallet_installation::{caller, token};

/// How often they look.
const EVERY: Span = Span::secs(20);
/// How many of a thousand proposals to refund are taken back.
const WITHDRAWN_PER_MILLE: u64 = 150;
/// How many of a thousand looks at a legal hold find that it was a mistake.
const LIFTED_PER_MILLE: u64 = 60;
/// A transfer that is seen so often in the chain stays there.
const FUNDED_LOOKS: u32 = 12;
/// After so long an answer that was lost has taken effect, or never will.
const UNCLEAR_WAIT: Span = Span::mins(10);
/// The name that they act under.
const OFFICER: &str = "officer";
const COLLEAGUE: &str = "colleague";

struct Office {
    sim: Sim,
    chain: Arc<ChainWorld>,
    cluster: Arc<Cluster>,
    random: Random,
}

/// Decides until the schedule ends.
pub async fn officers(
    sim: Sim,
    (cluster, chain): (Arc<Cluster>, Arc<ChainWorld>),
    auditor: Arc<Auditor>,
    wishes: Wishes,
    seed: u64,
) {
    let mut office =
        Office { sim: sim.clone(), chain, cluster, random: Random::stream(seed, "officers") };
    // For some refused deposits, a refund is never requested.
    let refunds_per_mille = office.random.pick(&[0, 300, 700]);
    loop {
        sim.sleep_until(sim.now() + EVERY, Pace::Poll).await;
        for tenant in &wishes.tenants {
            office.decide_reviews(*tenant).await;
        }
        for (tenant, chore) in auditor.chores() {
            match chore {
                Chore::Refund(_) if !office.random.chance(refunds_per_mille) => {}
                Chore::Lift(_) if !office.random.chance(LIFTED_PER_MILLE) => {}
                chore => office.do_chore(tenant, chore).await,
            }
        }
    }
}

impl Office {
    async fn decide_reviews(&mut self, tenant: TenantId) {
        let list = move |wallets: Wallets| {
            async move { wallets.reviews(&caller(tenant), Page { page: 0, limit: 20 }).await }
                .boxed()
        };
        let Ok(Ok(open)) = self.cluster.call_wallets(list, |_| ()).await else { return };
        for deposit in open.rows {
            if self.random.chance(400) {
                continue;
            }
            let verdict = match self.random.below(10) {
                0 | 1 => ReviewVerdict::Reject,
                2 => ReviewVerdict::LegalHold,
                3 => ReviewVerdict::Block,
                _ => ReviewVerdict::Approve,
            };
            self.decide(tenant, deposit.id, verdict).await;
        }
    }

    async fn decide(&self, tenant: TenantId, id: DepositId, verdict: ReviewVerdict) {
        let decide = move |wallets: Wallets| {
            async move {
                let asked = ReviewAsked {
                    deposit: id,
                    seen: None,
                    verdict,
                    by: AuditContext::from(OFFICER).because("looked at"),
                };
                wallets
                    .decide_review(&caller(tenant), asked, None)
                    .await
                    .map(|reply| reply.made.state)
            }
            .boxed()
        };
        let came = self.cluster.call_wallets(decide, |_| ()).await;
        self.sim.trace(format_args!("officer decides {id} {verdict:?}: {came:?}"));
    }

    async fn do_chore(&mut self, tenant: TenantId, chore: Chore) {
        let said = format!("{chore:?}");
        let came = match chore {
            Chore::Refund(deposit) => self.propose(tenant, deposit).await,
            Chore::Lift(deposit) => self.lift(tenant, deposit).await,
            Chore::Approve(deposit) => self.approve(tenant, deposit).await,
            Chore::Recredit(order) => self.recredit(tenant, order).await,
            Chore::SwitchOn => self.switch_on(tenant).await,
            Chore::Redeliver(event) => self.redeliver(tenant, event).await,
        };
        // The next look shows what came of it.
        self.sim.trace(format_args!("officer: {said}: {came}"));
    }

    async fn recredit(&self, tenant: TenantId, order: ExchangeId) -> String {
        let action = ExchangeAction::Recredit { by: Box::new(OFFICER.into()) };
        match order_outcome(&self.cluster, tenant, order, move |_| Some(action)).await {
            Ok(Outcome::Refused(Refused::Exchange(OrderRefusal::Unfunded { missing }))) => {
                self.fund(tenant, missing).await
            }
            came => shown(came),
        }
    }

    /// Sends coins from the treasury back to the controller, until they are there and seem to stay, and books them.
    async fn fund(&self, tenant: TenantId, missing: Money) -> String {
        let Some(coin) =
            StableCoin::ALL.into_iter().find(|coin| coin.currency() == missing.currency)
        else {
            return format!("no coin can cover {missing}");
        };
        let (from, to) = (treasury_of(tenant), controller_of(tenant));
        let deed = OnChain::Pay(vec![Payment {
            token: token(coin),
            from,
            to,
            value: missing.minor.unsigned_abs(),
        }]);
        let mut tx = self.chain.send(deed.clone());
        let mut seen = 0;
        while seen < FUNDED_LOOKS {
            self.sim.sleep(EVERY).await;
            let (succeeded, waits) = {
                let blocks = self.chain.now();
                (blocks.succeeded(tx), blocks.is_waiting(tx))
            };
            match succeeded {
                Some(true) => seen += 1,
                None if waits => seen = 0,
                Some(false) | None => {
                    seen = 0;
                    tx = self.chain.send(deed.clone());
                }
            }
        }
        self.book_funds(tenant, coin, missing.minor).await;
        format!("{missing} sent to the controller")
    }

    /// Books a transfer once: after an unclear answer, checks the books before asking again.
    async fn book_funds(&self, tenant: TenantId, coin: StableCoin, minor: i64) {
        let mut before = None;
        loop {
            let funded = self.funded(tenant, coin).await;
            if before.is_some() && funded.is_some() && funded != before {
                return;
            }
            before = before.or(funded);
            if before.is_some() && funded.is_some() {
                let book = move |wallets: Wallets| {
                    let (chain, by) = (ChainNumber::FIRST, Box::new(OFFICER.into()));
                    let funding = Funding::Controller(chain);
                    let action = Action::Fund { funding, coin, minor, reference: None, by };
                    async move { wallets.engine().execute(Command { tenant, action }).await }
                        .boxed()
                };
                if let Ok(Ok(Outcome::Done)) = self.cluster.call_wallets(book, |_| ()).await {
                    return;
                }
            }
            self.sim.sleep(UNCLEAR_WAIT).await;
        }
    }

    /// What was ever booked as sent back; nothing else leaves a treasury in the books.
    async fn funded(&self, tenant: TenantId, coin: StableCoin) -> Option<i64> {
        let read =
            move |wallets: Wallets| async move { wallets.store().accounts(tenant).await }.boxed();
        let accounts = self.cluster.call_wallets(read, |_| ()).await.ok()?.ok()?;
        let code = AccountCode::Treasury(ChainNumber::FIRST, coin);
        Some(
            accounts
                .iter()
                .find(|account| account.code == code)
                .map_or(0, |account| account.debits_posted),
        )
    }

    async fn propose(&mut self, tenant: TenantId, id: DepositId) -> String {
        let to = draw_address(&mut self.random);
        let propose = move |wallets: Wallets| {
            async move {
                let asked = wallets.propose_refund(&caller(tenant), id, to, OFFICER).await;
                asked.map(|reply| reply.made.state)
            }
            .boxed()
        };
        format!("{:?}", self.cluster.call_wallets(propose, |_| ()).await)
    }

    /// The two of them lift a legal hold.
    async fn lift(&self, tenant: TenantId, id: DepositId) -> String {
        let lift = move |wallets: Wallets| {
            async move {
                let by =
                    AuditContext::from(OFFICER).together_with(COLLEAGUE).because("another person");
                let lifted = wallets.lift_hold(&caller(tenant), id, None, by, None).await;
                lifted.map(|reply| reply.made.state)
            }
            .boxed()
        };
        format!("{:?}", self.cluster.call_wallets(lift, |_| ()).await)
    }

    /// The colleague approves; now and then the proposer withdraws the refund instead.
    async fn approve(&mut self, tenant: TenantId, id: DepositId) -> String {
        if self.random.chance(WITHDRAWN_PER_MILLE) {
            let withdraw = move |wallets: Wallets| {
                async move {
                    let taken_back = wallets.withdraw_refund(&caller(tenant), id, OFFICER).await;
                    taken_back.map(|reply| reply.made.state)
                }
                .boxed()
            };
            return format!("withdrawn: {:?}", self.cluster.call_wallets(withdraw, |_| ()).await);
        }
        let approve = move |wallets: Wallets| {
            async move {
                // The colleague approves the proposal that the deposit has at this moment.
                let found = wallets.find_deposit(&caller(tenant), id).await?;
                let Some(refund) = &found.refund else { return Ok(found.state) };
                let seen = SeenRefund { to: refund.to, minor: Some(found.minor) };
                let agreed = wallets.approve_refund(&caller(tenant), id, seen, COLLEAGUE).await;
                agreed.map(|reply| reply.made.state)
            }
            .boxed()
        };
        format!("{:?}", self.cluster.call_wallets(approve, |_| ()).await)
    }

    async fn switch_on(&self, tenant: TenantId) -> String {
        let switch = move |wallets: Wallets| {
            async move { wallets.store().enable_webhook(tenant, OFFICER).await }.boxed()
        };
        format!("{:?}", self.cluster.call_wallets(switch, |_| ()).await)
    }

    async fn redeliver(&self, tenant: TenantId, event: EventId) -> String {
        let again = move |wallets: Wallets| {
            async move {
                wallets
                    .redeliver(&caller(tenant), event, OFFICER, None)
                    .await
                    .map(|reply| reply.made.delivery.state)
            }
            .boxed()
        };
        format!("{:?}", self.cluster.call_wallets(again, |_| ()).await)
    }
}

/// Has something done about an order that no interface of the banks offers; what came of it, in words.
pub async fn act_on_order(
    cluster: &Cluster,
    tenant: TenantId,
    id: ExchangeId,
    action: impl FnOnce(&ExchangeOrder) -> Option<ExchangeAction> + Send + 'static,
) -> String {
    shown(order_outcome(cluster, tenant, id, action).await)
}

fn shown(came: Result<Outcome, String>) -> String {
    match came {
        Ok(Outcome::Exchange(order)) => order.state.name().to_owned(),
        other => format!("{other:?}"),
    }
}

async fn order_outcome(
    cluster: &Cluster,
    tenant: TenantId,
    id: ExchangeId,
    action: impl FnOnce(&ExchangeOrder) -> Option<ExchangeAction> + Send + 'static,
) -> Result<Outcome, String> {
    let act = move |wallets: Wallets| {
        async move {
            let order = wallets
                .find_order(&caller(tenant), id)
                .await
                .map_err(|denied| denied.to_string())?;
            let action = action(&order).ok_or("it is not as it was looked at")?;
            let command =
                Command { tenant, action: Action::Exchange(OrderKey::of(&order), action) };
            wallets.engine().execute(command).await.map_err(|error| error.to_string())
        }
        .boxed()
    };
    cluster.call_wallets(act, |_| ()).await.map_err(|unserved| format!("{unserved:?}"))?
}
