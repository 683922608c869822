//! Nodes that alternate or work concurrently: every answer is correct, nothing is lost or doubled.

use std::collections::BTreeMap;

use domain::ids::PaymentId;
use domain::payment::accept::Refusal;
use domain::quote::{Quote, QuoteState};
use engine::command::{Outcome, Refused};
use futures_util::future::join_all;

use crate::world::{CHARGE, Node, Rows, TENANT, World, with};

/// Pseudorandom numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        usize::try_from(self.0 >> 33).expect("31 bits") % end
    }
}

/// The expected contents of the database after all answers.
#[derive(Default)]
struct Model {
    available: i64,
    events: usize,
    open: Vec<Quote>,
    used: Vec<(Quote, PaymentId)>,
    /// The rows on which each node's quotes and payments were decided.
    decided: BTreeMap<(usize, &'static str), usize>,
}

impl Model {
    fn count(&mut self, node: usize, rows: Rows) {
        let how = if rows == Rows::Loaded { "loaded" } else { "remembered" };
        *self.decided.entry((node, how)).or_default() += 1;
    }

    async fn quote(&mut self, world: &World, (number, node): (usize, &Node)) {
        let (quote, rows) = world.quote(node).await;
        self.count(number, rows);
        self.open.push(quote);
        self.events += 1;
    }

    async fn pay(&mut self, world: &World, (number, node): (usize, &Node), at: usize) {
        let paid = world.pay(node, &self.open[at]).await;
        if self.available < CHARGE {
            let refused = matches!(&paid, Err(Refusal::InsufficientBalance { available, .. })
                if available.minor == self.available);
            assert!(refused, "{} available: {paid:?}", self.available);
            return;
        }
        let (payment, rows) = paid.expect("sufficient funds");
        self.count(number, rows);
        self.used.push((self.open.remove(at), payment.id));
        self.available -= CHARGE;
        self.events += 2;
    }

    async fn pay_again(&mut self, world: &World, node: &Node, at: usize) {
        let (quote, first) = &self.used[at];
        assert_eq!(
            world.pay(node, quote).await.map(|(payment, _)| payment.id),
            Err(Refusal::QuoteUsed(*first))
        );
    }

    async fn compare(&self, world: &World) {
        assert_eq!(world.verified().await, self.events);
        assert_eq!(world.available().await, self.available);
        for quote in &self.open {
            assert_eq!(world.store.quote(TENANT, quote.id).await, Ok(Some(quote.clone())));
        }
        for (quote, payment) in &self.used {
            let found =
                world.store.quote(TENANT, quote.id).await.expect("readable").expect("there");
            assert_eq!((found.state, found.payment), (QuoteState::Used, Some(*payment)));
            let record = world
                .store
                .payment_record(TENANT, *payment)
                .await
                .expect("readable")
                .expect("there");
            assert_eq!(record.payment.quote, quote.id);
        }
    }
}

#[test]
fn alternating_nodes_answer_correctly_and_lose_or_double_nothing() {
    with(async |world| {
        let (mut model, mut numbers) = (Model::default(), Numbers(7));
        let nodes = [&world.a, &world.b];
        let mut at = 0;
        for _ in 0..600 {
            // A node works alone for about ten commands, then the other one does.
            if numbers.below(10) == 0 {
                at = 1 - at;
            }
            let node = (at, nodes[at]);
            match numbers.below(10) {
                0 => {
                    let minor = i64::try_from(numbers.below(8)).expect("small") * CHARGE / 2 + 1;
                    world.top_up(node.1, minor).await;
                    model.available += minor;
                }
                1 if !model.used.is_empty() => {
                    let again = numbers.below(model.used.len());
                    model.pay_again(&world, node.1, again).await;
                }
                2..=5 if !model.open.is_empty() => {
                    let open = numbers.below(model.open.len());
                    model.pay(&world, node, open).await;
                }
                _ => model.quote(&world, node).await,
            }
        }
        model.compare(&world).await;
        for how in [(0, "loaded"), (0, "remembered"), (1, "loaded"), (1, "remembered")] {
            let times = model.decided.get(&how).copied().unwrap_or(0);
            assert!(times > 20, "{how:?}: {times} of {:?}", model.decided);
        }
    });
}

#[test]
fn a_single_node_loads_no_rows_for_new_quotes_and_orders() {
    with(async |world| {
        world.top_up(&world.a, 100 * CHARGE).await;
        let mut quotes = world.remembering(&world.a).await;
        for _ in 0..20 {
            let (quote, rows) = world.quote(&world.a).await;
            quotes.push(quote);
            assert_eq!(rows, Rows::Remembered);
        }
        for quote in &quotes {
            let (_, rows) = world.pay(&world.a, quote).await.expect("sufficient funds");
            assert_eq!(rows, Rows::Remembered);
        }
        // Several concurrent commands form one batch.
        world.pass();
        for outcome in join_all((0..20).map(|_| world.a.quote(None))).await {
            let Ok(Outcome::Quoted(quote)) = outcome else { panic!("no quote: {outcome:?}") };
            assert_eq!(world.rows(quote.created_at), Rows::Remembered);
        }
        assert_eq!(world.verified().await, quotes.len() * 3 + 20);
    });
}

#[test]
fn concurrent_spending_on_both_nodes_is_counted_once() {
    with(async |world| {
        let mut quotes = Vec::new();
        for _ in 0..20 {
            for node in [&world.a, &world.b] {
                quotes.push(world.quote(node).await.0);
            }
        }
        world.top_up(&world.a, 25 * CHARGE).await;
        world.remembering(&world.a).await;
        world.remembering(&world.b).await;
        world.pass();
        // Each quote on both nodes, with funds for some of them.
        let pay = |node| quotes.iter().map(move |quote| Node::pay(node, quote, None));
        let outcomes = join_all(pay(&world.a).chain(pay(&world.b))).await;
        let (mut accepted, mut short) = (Vec::new(), 0);
        for outcome in outcomes {
            match outcome {
                Ok(Outcome::Accepted(payment)) => accepted.push(payment.quote),
                Ok(Outcome::Refused(Refused::Order(Refusal::InsufficientBalance { .. }))) => {
                    short += 1
                }
                Ok(Outcome::Refused(Refused::Order(Refusal::QuoteUsed(_)))) => {}
                other => panic!("{other:?}"),
            }
        }
        accepted.sort_unstable();
        accepted.dedup();
        assert_eq!((accepted.len(), world.available().await), (25, 0));
        assert!(short >= 15, "{short}");
        world.verified().await;
    });
}
