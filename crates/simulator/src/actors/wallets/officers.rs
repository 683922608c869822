//! Compliance officers and the bank's operators: they decide about deposits, give refused ones back, find out about
//! pay-outs, switch receivers on again. They never hurry.

use std::sync::Arc;

use domain::deposit::{Deposit, ReviewVerdict};
use domain::time::Span;
use engine::wallets::{Denied, Page, ReviewAsked, Wallets};
use futures_util::FutureExt;

use super::super::cluster::Cluster;
use super::wishes::{Wishes, draw_address};
use crate::audit::Auditor;
use crate::random::Random;
use crate::run::{Pace, Sim};
use crate::wallet_installation::caller;

/// How often they look.
const EVERY: Span = Span::secs(20);

struct Office {
    sim: Sim,
    cluster: Arc<Cluster>,
    auditor: Arc<Auditor>,
    random: Random,
}

/// Decides, for ever.
pub async fn officers(sim: Sim, cluster: Arc<Cluster>, auditor: Arc<Auditor>, wishes: Wishes, seed: u64) {
    let mut office = Office { sim, cluster, auditor, random: Random::stream(seed, "officers") };
    loop {
        office.sim.sleep_until(office.sim.now() + EVERY, Pace::Poll).await;
        for tenant in &wishes.tenants {
            office.decide_reviews(*tenant).await;
        }
    }
}

impl Office {
    async fn decide_reviews(&mut self, tenant: domain::ids::TenantId) {
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
            self.decide(&deposit, verdict).await;
        }
    }

    async fn decide(&self, deposit: &Deposit, verdict: ReviewVerdict) {
        let (tenant, id) = (deposit.tenant, deposit.id);
        let decide = move |wallets: Wallets| {
            async move {
                let asked =
                    ReviewAsked { deposit: id, verdict, by: "officer".to_owned(), note: "looked at".to_owned() };
                wallets.decide_review(&caller(tenant), asked, None).await
            }
            .boxed()
        };
        let came = self.cluster.call_wallets(decide, |_| ()).await;
        let came = came.map(|answer: Result<_, Denied>| answer.map(|reply| reply.made.state));
        self.sim.trace(format_args!("officer decides {id} {verdict:?}: {came:?}"));
    }
}
