//! Compliance officers and the bank's operators: they decide about deposits, give refused ones back, give coins back
//! whose rupees came back, switch receivers on again. They never hurry.

use std::sync::Arc;

use domain::audit::Deed;
use domain::deposit::ReviewVerdict;
use domain::exchange::ExchangeOrder;
use domain::ids::{DepositId, EventId, ExchangeId, TenantId};
use domain::time::Span;
use engine::command::exchange::{ExchangeAction, OrderKey};
use engine::command::{Action, Command};
use engine::wallets::{Page, ReviewAsked, Wallets};
use futures_util::FutureExt;

use super::super::cluster::Cluster;
use super::wishes::{Wishes, draw_address};
use crate::audit::{Auditor, Chore};
use crate::random::Random;
use crate::run::{Pace, Sim};
use crate::wallet_installation::caller;

/// How often they look.
const EVERY: Span = Span::secs(20);
/// How many of a thousand proposals to refund are taken back.
const WITHDRAWN_PER_MILLE: u64 = 150;
/// Who they are.
const OFFICER: &str = "officer";
const COLLEAGUE: &str = "colleague";

struct Office {
    sim: Sim,
    cluster: Arc<Cluster>,
    random: Random,
}

/// Decides, for ever.
pub async fn officers(sim: Sim, cluster: Arc<Cluster>, auditor: Arc<Auditor>, wishes: Wishes, seed: u64) {
    let mut office = Office { sim: sim.clone(), cluster, random: Random::stream(seed, "officers") };
    // Some refused deposits nobody ever asks for.
    let refunds_per_mille = office.random.pick(&[0, 300, 700]);
    loop {
        sim.sleep_until(sim.now() + EVERY, Pace::Poll).await;
        for tenant in &wishes.tenants {
            office.decide_reviews(*tenant).await;
        }
        for (tenant, chore) in auditor.chores() {
            match chore {
                Chore::Refund(_) if !office.random.chance(refunds_per_mille) => {}
                chore => office.do_chore(tenant, chore).await,
            }
        }
    }
}

impl Office {
    async fn decide_reviews(&mut self, tenant: TenantId) {
        let list = move |wallets: Wallets| {
            async move { wallets.reviews(&caller(tenant), Page { page: 0, limit: 20 }).await }.boxed()
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
                let asked =
                    ReviewAsked { deposit: id, seen: None, verdict, by: Deed::from(OFFICER).because("looked at") };
                wallets.decide_review(&caller(tenant), asked, None).await.map(|reply| reply.made.state)
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
            Chore::Approve(deposit) => self.approve(tenant, deposit).await,
            Chore::Recredit(order) => {
                let action = ExchangeAction::Recredit { by: Box::new(OFFICER.into()) };
                act_on_order(&self.cluster, tenant, order, move |_| Some(action)).await
            }
            Chore::SwitchOn => self.switch_on(tenant).await,
            Chore::Redeliver(event) => self.redeliver(tenant, event).await,
        };
        // The next look shows what came of it.
        self.sim.trace(format_args!("officer: {said}: {came}"));
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

    /// The colleague agrees; now and then whoever proposed it takes it back instead.
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
                let agreed = wallets.approve_refund(&caller(tenant), id, COLLEAGUE).await;
                agreed.map(|reply| reply.made.state)
            }
            .boxed()
        };
        format!("{:?}", self.cluster.call_wallets(approve, |_| ()).await)
    }

    async fn switch_on(&self, tenant: TenantId) -> String {
        let switch =
            move |wallets: Wallets| async move { wallets.store().enable_webhook(tenant, OFFICER).await }.boxed();
        format!("{:?}", self.cluster.call_wallets(switch, |_| ()).await)
    }

    async fn redeliver(&self, tenant: TenantId, event: EventId) -> String {
        let again = move |wallets: Wallets| {
            async move {
                wallets.redeliver(&caller(tenant), event, OFFICER, None).await.map(|reply| reply.made.delivery.state)
            }
            .boxed()
        };
        format!("{:?}", self.cluster.call_wallets(again, |_| ()).await)
    }
}

/// Has something done about an order that no interface of the banks offers.
pub async fn act_on_order(
    cluster: &Cluster,
    tenant: TenantId,
    id: ExchangeId,
    action: impl FnOnce(&ExchangeOrder) -> Option<ExchangeAction> + Send + 'static,
) -> String {
    let act = move |wallets: Wallets| {
        async move {
            let order = wallets.find_order(&caller(tenant), id).await.map_err(|denied| denied.to_string())?;
            let action = action(&order).ok_or("it is not as it was looked at")?;
            let command = Command { tenant, action: Action::Exchange(OrderKey::of(&order), action) };
            wallets.engine().execute(command).await.map_err(|error| error.to_string())
        }
        .boxed()
    };
    match cluster.call_wallets(act, |_| ()).await {
        Ok(Ok(engine::command::Outcome::Exchange(order))) => order.state.name().to_owned(),
        other => format!("{other:?}"),
    }
}
