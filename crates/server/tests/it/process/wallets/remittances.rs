//! Remittances during faults: requests, their payments on chain, and exchanges, each of which is
//! known to exist or not, whatever the service's state at the time of the call.

use std::sync::Mutex;

use domain::chain::Address;
use testkit::wait::AT_MOST;

use super::super::api::Answer;
use super::super::harness::Node;
use super::world::{Request, World, minor, text};

pub const GOOD: [&str; 3] = ["payment.received", "risk_check.complete", "transfer.complete"];
/// The amount of each payment, and of each order.
const PAYMENT: &str = "25.00";
const EXCHANGE: &str = "1.00";

/// The remittances of one customer.
pub struct Remittances {
    pub wallet: String,
    pub address: Address,
    /// Paid requests, with their amounts.
    pub paid: Vec<(Request, u64)>,
    /// Existing orders, with their amounts.
    pub orders: Vec<(String, u64)>,
    pub links: Vec<Request>,
    /// The last order, while its outcome is unknown.
    unclear: Option<String>,
    serial: u32,
}

impl Remittances {
    /// A customer with some money.
    pub async fn start(world: &World, node: &Node) -> Remittances {
        let (wallet, address) = world.wallet(&node.address, "under-fire").await;
        let (paid, orders, links) = (Vec::new(), Vec::new(), Vec::new());
        let mut started =
            Remittances { wallet, address, paid, orders, links, unclear: None, serial: 0 };
        started.ask(world, node).await;
        started.pay(world).await;
        world.is_told(node, &started.paid[0].0.id, &GOOD).await;
        started
    }

    /// Creates another request, not paid yet.
    pub async fn ask(&mut self, world: &World, node: &Node) {
        self.links.push(world.request(&node.address, &self.wallet, PAYMENT).await);
    }

    /// Pays a request on chain, independently of the service.
    pub async fn pay(&mut self, world: &World) {
        let request = self.links.pop().expect("a request");
        world.ground.pay(request.escrow, minor(PAYMENT)).await;
        self.paid.push((request, minor(PAYMENT)));
    }

    /// Requests an exchange; [`Remittances::make_clear`] resolves an unknown outcome.
    pub async fn exchange(&mut self, world: &World, at: &str) {
        self.serial += 1;
        let key = format!("exchange-{}", self.serial);
        match self.try_exchange(world, at, &key).await {
            Some(order) => self.orders.push((order, minor(EXCHANGE))),
            None => self.unclear = Some(key),
        }
    }

    /// The order's id; `None` if its outcome is unknown. A rate limit only delays the answer.
    async fn try_exchange(&self, world: &World, at: &str, key: &str) -> Option<String> {
        let body = World::order_body(&self.wallet, EXCHANGE);
        let last = Mutex::new(None);
        let answered = world.looking(AT_MOST, async || {
            let answer = world.try_post(at, "/v1/sdk/orders", &body, Some(key)).await;
            let granted = !matches!(answer, Answer::Refused { status: 429, .. });
            *last.lock().expect("not poisoned") = Some(answer);
            granted
        });
        assert!(answered.await, "{key} was asked for too often");
        match last.into_inner().expect("not poisoned").expect("an answer") {
            Answer::Done(body) => {
                Some(text(&serde_json::from_str(&body).expect("JSON"), "order_id"))
            }
            // The first one is still in progress.
            Answer::Refused { status: 409, .. } | Answer::Unclear(_) => None,
            Answer::Refused { status, body } => panic!("{status}: {body}"),
        }
    }

    /// Repeats with the same key until there is an answer.
    pub async fn make_clear(&mut self, world: &World, node: &Node) {
        let Some(key) = self.unclear.take() else { return };
        let order = Mutex::new(None);
        let clear = world.looking(AT_MOST, async || {
            let found = self.try_exchange(world, &node.address, &key).await;
            *order.lock().expect("not poisoned") = found.clone();
            found.is_some()
        });
        assert!(clear.await, "{key} stays unclear: {}", node.process.log_tail());
        let order = order.into_inner().expect("not poisoned").expect("an order");
        self.orders.push((order, minor(EXCHANGE)));
    }
}
