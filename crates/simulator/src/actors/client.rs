//! Clients: they ask for quotes, pay, repeat requests after unclear answers, come too late, use a
//! quote twice, and remember the answers. They never read the database.

use std::sync::{Arc, Mutex, PoisonError};

use domain::currency::StableCoin;
use domain::decimal::Decimal;
use domain::ids::{PaymentId, QuoteId, TenantId};
use domain::order::{Order, UncheckedOrder, example};
use domain::payment::accept::Refusal;
use domain::quote::Quote;
use domain::time::Span;
use engine::command::{Idempotency, Refused};
use engine::error::EngineError;
use engine::payments::{Caller, Denied, IdempotencyKey, Payments, QuoteRequest, Reply};
use futures_util::FutureExt;
use futures_util::future::join_all;

use super::cluster::{Cluster, Unserved};
use super::follow::follow;
use super::prices;
use super::workload::{Manner, Name, Payable, Workload};
use crate::audit::Auditor;
use crate::installation::{self, NAME_FURTHER, NAME_IN_REVIEW, NAME_LISTED};
use crate::random::SharedRandom;
use crate::run::{Owner, Pace, Sim};

/// Tries after which a client that got nowhere complains.
const TRIES_MAX: u32 = 400;
/// What is paid in whenever a client has no coin, in the beginning too; in minor units.
const TOP_UP_MINOR: i64 = 20_000_000_000;

/// A client with keys sends one in so many of them again with another body.
const OTHER_BODY_EVERY: u64 = 8;

/// A payment whose acceptance was reported to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    pub tenant: TenantId,
    pub id: PaymentId,
    /// The client's own id for it.
    pub external_id: Option<String>,
}

/// What the clients know.
#[derive(Debug, Default)]
pub struct Truth {
    state: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    accepted: Vec<Accepted>,
    complaints: Vec<String>,
    waiting: usize,
    refused: usize,
}

impl Truth {
    fn with<T>(&self, act: impl FnOnce(&mut Known) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub fn accepted(&self) -> Vec<Accepted> {
        self.with(|known| known.accepted.clone())
    }

    /// What cannot be right.
    pub fn complain(&self, what: String) {
        self.with(|known| known.complaints.push(what));
    }

    pub fn take_complaints(&self) -> Vec<String> {
        self.with(|known| std::mem::take(&mut known.complaints))
    }

    /// How many payments over the chain a coin's contract keeps from arriving.
    pub fn refused(&self) -> usize {
        self.with(|known| known.refused)
    }

    /// So many payments over the chain will never arrive: the coin's issuer has blacklisted the receiver.
    pub(super) fn refuse(&self, count: usize) {
        self.with(|known| known.refused += count);
    }

    /// Whether every client has what it wanted.
    pub fn is_done(&self) -> bool {
        self.with(|known| known.waiting == 0)
    }

    /// One more waits for what it wants.
    pub(super) fn begin(&self, count: usize) {
        self.with(|known| known.waiting += count);
    }

    /// One has what it wanted.
    pub(super) fn end(&self) {
        self.with(|known| known.waiting -= 1);
    }

    fn accept(&self, accepted: Accepted) {
        self.with(|known| {
            if !known.accepted.contains(&accepted) {
                known.accepted.push(accepted);
            }
        });
    }
}

/// What clients act with.
#[derive(Clone)]
pub(super) struct Clients {
    pub(super) sim: Sim,
    pub(super) cluster: Arc<Cluster>,
    pub(super) truth: Arc<Truth>,
    auditor: Arc<Auditor>,
    pub(super) random: Arc<SharedRandom>,
}

/// What came of sending an order.
enum Sent {
    Accepted(PaymentId),
    /// The order's id or quote is taken by this payment.
    Taken(PaymentId),
    Expired,
    NoCoin,
    Mismatch,
    OtherBody,
    Retry,
    Unclear,
}

/// Begins a task for everything that clients want.
pub fn clients(
    sim: &Sim,
    cluster: &Arc<Cluster>,
    truth: &Arc<Truth>,
    auditor: &Arc<Auditor>,
    wanted: &Workload,
    seed: u64,
) {
    truth.begin(wanted.payables.len());
    let random = Arc::new(SharedRandom::stream(seed, "clients"));
    let clients = Clients {
        sim: sim.clone(),
        cluster: cluster.clone(),
        truth: truth.clone(),
        auditor: auditor.clone(),
        random,
    };
    for payable in &wanted.payables {
        let (clients, payable) = (clients.clone(), payable.clone());
        sim.spawn(Owner::World, "client", async move {
            clients.sim.sleep(payable.begins).await;
            let paid = clients.pay(&payable).await;
            if let Some(id) = paid {
                follow(&clients, payable.tenant, id).await;
            }
            clients.truth.end();
        });
    }
}

impl Clients {
    pub(super) async fn pause(&self, least: i64, most: i64) {
        let span = Span::millis(self.random.with(|random| random.between(least, most)));
        self.sim.sleep(span).await;
    }

    fn caller(tenant: TenantId) -> Caller {
        Caller { tenant, policy: Arc::new(installation::policy()) }
    }

    /// Pays until it is accepted; `None` if the client gave up.
    async fn pay(&self, wanted: &Payable) -> Option<PaymentId> {
        let mut manner = wanted.manner;
        // Whether an earlier try may have been accepted.
        let mut maybe = false;
        for _ in 0..TRIES_MAX {
            let quote = self.quote(wanted).await?;
            if wanted.is_closed() {
                return self.pay_to_closed_account(wanted, &quote).await;
            }
            if manner == Manner::TooLate {
                let early = Span::millis(self.random.with(|random| random.between(-20, 120)));
                self.sim.sleep_until(quote.expires_at - early, Pace::Exact).await;
            }
            if manner == Manner::WrongAmount {
                self.pay_too_much(wanted, &quote).await;
            }
            let paid = self.pay_with(wanted, &quote, manner, &mut maybe).await;
            if let Some(id) = paid {
                let (tenant, external_id) = (wanted.tenant, wanted.external_id.clone());
                self.sim.trace(format_args!("client {} has {id}", wanted.number));
                self.truth.accept(Accepted { tenant, id, external_id });
                if manner == Manner::Repeats {
                    self.repeat(wanted, &quote, id).await;
                }
                return Some(id);
            }
            manner = Manner::Plain;
        }
        self.truth.complain(format!("client {} got nowhere in {TRIES_MAX} tries", wanted.number));
        None
    }

    /// One order to a closed account. If the bank was asked and answered so, it is not accepted.
    async fn pay_to_closed_account(&self, wanted: &Payable, quote: &Quote) -> Option<PaymentId> {
        let order = order(wanted, quote);
        let (account, external_id) =
            (order.beneficiary_account_number.clone(), order.external_id.clone());
        let Sent::Accepted(id) = self.send(wanted, order).await else { return None };
        if self.cluster.bank().has_called_closed(&account) {
            self.truth.complain(format!(
                "account: {id} was accepted, and the bank reported that {account} is closed"
            ));
        }
        self.truth.accept(Accepted { tenant: wanted.tenant, id, external_id });
        Some(id)
    }

    /// Sends the order with this quote until it is accepted or the quote is of no use any more.
    async fn pay_with(
        &self,
        wanted: &Payable,
        quote: &Quote,
        manner: Manner,
        maybe: &mut bool,
    ) -> Option<PaymentId> {
        let order = order(wanted, quote);
        // Another order, or the same once more, with the same quote at the same time.
        let mut rival = match manner {
            Manner::Twice => Some(order.clone()),
            Manner::TwoOrders => Some(rival_of(&order)),
            _ => None,
        };
        for _ in 0..TRIES_MAX {
            let both = [Some(order.clone()), rival.take()];
            let has_rival = both[1].is_some();
            let sends = both.into_iter().flatten().map(|order| self.send(wanted, order));
            let mut sent = join_all(sends).await.into_iter();
            let own = sent.next()?;
            *maybe |= has_rival;
            self.note_rival(wanted, &order, manner, sent.next());
            match own {
                Sent::Accepted(id) => return Some(id),
                Sent::Taken(id) if self.is_other(id, &order) => return None,
                Sent::Taken(id) => {
                    if !*maybe {
                        self.truth
                            .complain(format!("client {} never sent payment {id}", wanted.number));
                    }
                    return Some(id);
                }
                Sent::Expired => return None,
                Sent::NoCoin => self.top_up(wanted.tenant).await,
                Sent::Mismatch | Sent::OtherBody => {
                    self.truth
                        .complain(format!("client {} was refused a correct order", wanted.number));
                    return None;
                }
                Sent::Retry => {}
                Sent::Unclear => *maybe = true,
            }
            self.pause(50, 3_000).await;
        }
        None
    }

    /// Whether a payment was accepted for another order of this client than `order`.
    fn is_other(&self, id: PaymentId, order: &Order) -> bool {
        self.truth.with(|known| {
            known
                .accepted
                .iter()
                .any(|accepted| accepted.id == id && accepted.external_id != order.external_id)
        })
    }

    fn note_rival(&self, wanted: &Payable, order: &Order, manner: Manner, sent: Option<Sent>) {
        if let Some(Sent::Accepted(id)) = sent {
            let external_id = match manner {
                Manner::TwoOrders => rival_of(order).external_id,
                _ => order.external_id.clone(),
            };
            self.truth.accept(Accepted { tenant: wanted.tenant, id, external_id });
        }
    }

    async fn send(&self, wanted: &Payable, order: Order) -> Sent {
        let key = idempotency(
            wanted,
            "POST /v2/payment",
            order.external_id.as_deref(),
            order.quote,
            &format!("{order:?}"),
        );
        let caller = Clients::caller(wanted.tenant);
        let (auditor, tenant, name) =
            (self.auditor.clone(), wanted.tenant, order.beneficiary_name.clone());
        let seen = move |answer: &Result<Reply<domain::payment::Payment>, Denied>| {
            if let Ok(reply) = answer {
                auditor.acknowledged(tenant, reply.made.id);
                auditor.check_screened(tenant, reply.made.id, &name);
            }
        };
        let pay = move |payments: Payments| {
            async move { payments.pay(&caller, UncheckedOrder(order), Vec::new(), key).await }
                .boxed()
        };
        match self.cluster.call(pay, seen).await {
            Ok(Ok(reply)) => Sent::Accepted(reply.made.id),
            Ok(Err(denied)) => self.understand(wanted, denied),
            Err(Unserved::Refused) => Sent::Retry,
            Err(Unserved::Unclear) => Sent::Unclear,
        }
    }

    fn understand(&self, wanted: &Payable, denied: Denied) -> Sent {
        match denied {
            Denied::Refused(Refused::Order(refusal)) => match refusal {
                Refusal::ExternalIdConflict(id) | Refusal::QuoteUsed(id) => Sent::Taken(id),
                Refusal::QuoteExpired => Sent::Expired,
                Refusal::InsufficientBalance { .. } => Sent::NoCoin,
                Refusal::Mismatch(_) => Sent::Mismatch,
                Refusal::QuoteNotFound => {
                    self.truth.complain(format!("client {}: its quote is gone", wanted.number));
                    Sent::Expired
                }
            },
            Denied::Refused(Refused::IdempotencyMismatch) => Sent::OtherBody,
            Denied::Invalid(_) if wanted.is_closed() => Sent::Mismatch,
            Denied::Engine(EngineError::Busy | EngineError::Unavailable) => Sent::Retry,
            Denied::Engine(EngineError::CommitUnknown) | Denied::Store(_) => Sent::Unclear,
            other => {
                self.truth.complain(format!("client {}: {other:?}", wanted.number));
                Sent::Retry
            }
        }
    }

    async fn quote(&self, wanted: &Payable) -> Option<Quote> {
        for turn in 0..TRIES_MAX {
            let scope = self.random.with(crate::random::Random::next);
            let key = format!("{scope}-{turn}");
            match self.ask_price(wanted, wanted.minor, &key).await {
                Ok(Ok(reply)) => {
                    let faults = prices::faults(wanted, &reply.made, self.cluster.corridors());
                    for fault in faults {
                        self.truth.complain(format!("client {}: {fault}", wanted.number));
                    }
                    if wanted.keyed && scope.is_multiple_of(OTHER_BODY_EVERY) {
                        self.ask_otherwise(wanted, &key).await;
                    }
                    return Some(reply.made);
                }
                Ok(Err(Denied::Engine(EngineError::Internal))) => {
                    self.truth.complain("a quote made the service panic".to_owned());
                }
                Ok(Err(
                    Denied::Engine(_)
                    | Denied::Store(_)
                    | Denied::Refused(Refused::OpenQuoteLimit { .. }),
                ))
                | Err(_) => {}
                Ok(Err(denied)) => self
                    .truth
                    .complain(format!("no quote for client {}: {denied:?}", wanted.number)),
            }
            self.pause(50, 3_000).await;
        }
        None
    }

    async fn ask_price(
        &self,
        wanted: &Payable,
        minor: i64,
        key: &str,
    ) -> Result<Result<Reply<Quote>, Denied>, Unserved> {
        let request = QuoteRequest {
            country: wanted.country,
            currency: wanted.currency,
            amount: Decimal::new(minor.into(), wanted.currency.minor_units()),
            beneficiary_account_number: None,
            bank_branch_code: None,
        };
        let caller = Clients::caller(wanted.tenant);
        let key = wanted.keyed.then(|| Idempotency {
            key: IdempotencyKey { scope: "POST /v2/quote".to_owned(), key: key.to_owned() },
            body_hash: hash(&minor.to_string()),
        });
        let ask = move |payments: Payments| {
            async move { payments.quote(&caller, request, Vec::new(), key).await }.boxed()
        };
        self.cluster.call(ask, |_| ()).await
    }

    /// The key of a quote once more, for another amount.
    async fn ask_otherwise(&self, wanted: &Payable, key: &str) {
        if let Ok(Ok(reply)) = self.ask_price(wanted, wanted.minor + 1, key).await {
            let (number, id) = (wanted.number, reply.made.id);
            self.truth.complain(format!(
                "client {number} sent another body with the key of a quote, and got {id}"
            ));
        }
    }

    async fn pay_too_much(&self, wanted: &Payable, quote: &Quote) {
        let mut order = order(wanted, quote);
        order.amount = quote
            .offer
            .amount_destination
            .decimal()
            .checked_add(Decimal::new(1, quote.offer.amount_destination.currency.minor_units()))
            .unwrap_or(order.amount);
        order.external_id = None;
        if let Sent::Accepted(id) = self.send(wanted, order).await {
            self.truth.complain(format!("{id} was accepted with a wrong amount"));
        }
    }

    /// Sends an accepted order once more, unchanged or changed; nothing more may come of it.
    async fn repeat(&self, wanted: &Payable, quote: &Quote, id: PaymentId) {
        let mut order = order(wanted, quote);
        let is_changed = self.random.with(|random| random.chance(500));
        if is_changed {
            order.remarks = Some("something else".to_owned());
        }
        match self.send(wanted, order).await {
            Sent::Accepted(other) | Sent::Taken(other) if other != id => {
                self.truth.complain(format!("a repetition of {id} was answered with {other}"));
            }
            Sent::Accepted(_) if is_changed => {
                self.truth.complain(format!("client: {id} was accepted again, with another body"));
            }
            Sent::Taken(_) if is_changed && wanted.keyed => {
                self.truth.complain(format!("client: the key of {id} was for another body"));
            }
            Sent::Taken(_) if wanted.keyed => {
                self.truth.complain(format!("client: the key of {id} is forgotten"));
            }
            Sent::Expired | Sent::NoCoin | Sent::Mismatch => {
                self.truth.complain(format!("a repetition of {id} was refused for another reason"));
            }
            _ => {}
        }
    }

    async fn top_up(&self, tenant: TenantId) {
        let top_up = move |payments: Payments| {
            async move { payments.top_up(tenant, StableCoin::Usdt, TOP_UP_MINOR, "client").await }
                .boxed()
        };
        // If it has no effect, the next order is refused again.
        let _unclear = self.cluster.call(top_up, |_| ()).await;
    }
}

fn order(wanted: &Payable, quote: &Quote) -> Order {
    let mut order =
        example::order(wanted.country, quote.id, wanted.currency, quote.expected_amount()).0;
    order.beneficiary_account_number = example::account_ending(wanted.country, wanted.ending);
    match wanted.name {
        Name::Clean => {}
        Name::Review => order.beneficiary_name = NAME_IN_REVIEW.to_owned(),
        Name::Listed => order.beneficiary_name = NAME_LISTED.to_owned(),
        Name::Further => order.beneficiary_name = NAME_FURTHER.to_owned(),
    }
    order.external_id.clone_from(&wanted.external_id);
    order
}

fn rival_of(order: &Order) -> Order {
    let external_id = Some(format!("rival-of-{}", order.quote));
    let remarks = Some("another order".to_owned());
    Order { external_id, remarks, ..order.clone() }
}

fn idempotency(
    wanted: &Payable,
    scope: &str,
    external_id: Option<&str>,
    quote: QuoteId,
    body: &str,
) -> Option<Idempotency> {
    let body_hash = hash(body);
    let key = format!("{}-{}-{quote}", wanted.number, external_id.unwrap_or("none"));
    wanted
        .keyed
        .then(|| Idempotency { key: IdempotencyKey { scope: scope.to_owned(), key }, body_hash })
}

fn hash(body: &str) -> [u8; 32] {
    let mut bytes = [0; 32];
    let hash = body.bytes().fold(crate::random::FNV_OFFSET, |state, byte| {
        (state ^ u64::from(byte)).wrapping_mul(crate::random::FNV_PRIME)
    });
    bytes[..8].copy_from_slice(&hash.to_be_bytes());
    bytes
}
