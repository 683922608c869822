//! Carries out the faults that come at a time instead of at an occasion.

use std::sync::Arc;

use domain::time::Span;

use crate::faults::{Fault, Injector};
use crate::run::{NodeNumber, Owner, Sim};

/// Begins a task for every such fault.
pub fn make_trouble(sim: &Sim, faults: &Arc<Injector>) {
    for (number, fault) in faults.all().iter().enumerate() {
        if let Fault::Kill { node, after } = fault {
            let (inner, faults, node, after) = (sim.clone(), faults.clone(), *node, *after);
            sim.spawn(Owner::World, "trouble", async move {
                inner.sleep(after).await;
                if faults.fire(number) {
                    inner.crash(node);
                }
            });
        }
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
