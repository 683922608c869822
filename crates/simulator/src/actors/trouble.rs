//! Carries out the faults that come at a time instead of at an occasion.

use std::sync::Arc;

use domain::currency::StableCoin;
use domain::time::Span;

use super::chain::{ChainWorld, Deed};
use super::cluster::Cluster;
use crate::faults::{Fault, Injector};
use crate::run::{NodeNumber, Owner, Sim};
use crate::wallet_installation::token;

/// How often an issuer checks whether a transaction is in the chain.
const ISSUER_LOOKS_EVERY: Span = Span::secs(5);
/// How long a node that is asked to stop has for its open work.
const STOPPING: Span = Span::secs(15);

/// Begins a task for every such fault.
pub fn make_trouble(
    sim: &Sim,
    cluster: &Arc<Cluster>,
    chain: Option<&Arc<ChainWorld>>,
    faults: &Arc<Injector>,
) {
    if let Some(chain) = chain {
        make_trouble_on(sim, chain, faults);
    }
    for (number, fault) in faults.all().iter().enumerate() {
        let (node, after, gently) = match fault {
            Fault::Kill { node, after } => (*node, *after, false),
            Fault::Stop { node, after } => (*node, *after, true),
            _ => continue,
        };
        let (inner, cluster, faults) = (sim.clone(), cluster.clone(), faults.clone());
        sim.spawn(Owner::World, "trouble", async move {
            inner.sleep(after).await;
            if !faults.fire(number) {
                return;
            }
            if gently && cluster.stop(node) {
                inner.sleep(STOPPING).await;
            }
            inner.crash(node);
        });
    }
}

/// The same for faults of the chain.
fn make_trouble_on(sim: &Sim, chain: &Arc<ChainWorld>, faults: &Arc<Injector>) {
    for (number, fault) in faults.all().iter().enumerate() {
        let (after, fault) = match fault {
            Fault::Reorg { after, .. } | Fault::Pause { after, .. } => (*after, fault.clone()),
            _ => continue,
        };
        let (inner, chain, faults) = (sim.clone(), chain.clone(), faults.clone());
        sim.spawn(Owner::World, "trouble on the chain", async move {
            inner.sleep(after).await;
            if !faults.fire(number) {
                return;
            }
            match fault {
                Fault::Reorg { depth, noticed_after, .. } => chain.reorganise(depth, noticed_after),
                Fault::Pause { coin, span, .. } => {
                    let Some(coin) = StableCoin::ALL.get(coin) else { return };
                    let pause = chain.send(Deed::Pause(token(*coin), true));
                    inner.sleep(span).await;
                    // An issuer's transactions stay in order, also those that a reorganisation made late.
                    while chain.now().is_waiting(pause) {
                        inner.sleep(ISSUER_LOOKS_EVERY).await;
                    }
                    chain.send(Deed::Pause(token(*coin), false));
                }
                _ => {}
            }
        });
    }
}

/// Freezes a node for a while.
pub fn freeze(sim: &Sim, node: NodeNumber, span: Span) {
    sim.set_frozen(node, true);
    sim.trace(format_args!("node {node} freezes for {} ms", span.0 / 1_000));
    let inner = sim.clone();
    sim.spawn(Owner::World, "thaw", async move {
        inner.sleep(span).await;
        inner.trace(format_args!("node {node} goes on"));
        inner.set_frozen(node, false);
    });
}
