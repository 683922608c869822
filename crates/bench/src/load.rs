//! The clients: each has one connection and sends one pair after the other, every request with a
//! new signature.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use domain::country::Country;
use domain::ports::Clock as _;
use hdrhistogram::Histogram;
use http_api::auth::mint::{Grant, Minter};
use tokio::task::JoinSet;

use super::Settings;
use super::figures::histogram;
use super::installation::Installation;
use super::orders::{self, Numbers, Orders};
use super::wire::{Connection, WireError, field};
use service::clock::WallClock;

/// `exp − iat` of every token.
pub(super) const TOKEN_LIFETIME_S: i64 = 60;
/// Timeout of a request.
pub(super) const ANSWER_MAX: Duration = Duration::from_secs(30);
/// Pause after an answer other than 200, so that a client does not hammer a failing server.
pub(super) const ERROR_PAUSE: Duration = Duration::from_millis(20);
/// One in this many accepted payments is kept as a sample, to be compared with its row.
const SAMPLE_EVERY: u64 = 251;
/// Maximum number of samples per client.
const SAMPLES_MAX: usize = 64;

/// When the clients stop.
#[derive(Clone, Copy, Debug)]
pub(super) enum Until {
    /// After this many pairs in total.
    Pairs(u64),
    /// At `closes`; pairs that end from `opens` on are measured.
    Window { opens: Instant, closes: Instant },
}

/// When a pair starts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pace {
    /// As soon as the client's last one has ended.
    Closed,
    /// This many per second over all clients, regardless of earlier ones: waiting counts as
    /// latency.
    PerSecond(u64),
}

/// A payment as answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// Index of the tenant.
    pub(super) tenant: usize,
    pub(super) country: Country,
    pub(super) id: String,
    pub(super) amount: String,
    pub(super) external_id: String,
}

#[derive(Clone, Debug)]
pub(super) struct Tally {
    /// Microseconds from the start of a quote to the answer of its payment.
    pub(super) pairs: Histogram<u64>,
    /// Microseconds until the answer to a quote, from when it was due.
    pub(super) quotes: Histogram<u64>,
    /// Microseconds of the payment's POST alone.
    pub(super) payments: Histogram<u64>,
    /// Payments answered with 200, measured or not.
    pub(super) accepted: u64,
    /// Payments whose outcome the answer leaves unknown.
    pub(super) unclear: u64,
    /// Answers other than 200, by kind.
    pub(super) errors: BTreeMap<String, u64>,
    pub(super) samples: Vec<Sample>,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally {
            pairs: histogram(),
            quotes: histogram(),
            payments: histogram(),
            accepted: 0,
            unclear: 0,
            errors: BTreeMap::new(),
            samples: Vec::new(),
        }
    }
}

impl Tally {
    /// Adds the results of another client or phase.
    pub(super) fn absorb(&mut self, other: Tally) {
        self.pairs += &other.pairs;
        self.quotes += &other.quotes;
        self.payments += &other.payments;
        self.accepted += other.accepted;
        self.unclear += other.unclear;
        for (kind, count) in other.errors {
            *self.errors.entry(kind).or_default() += count;
        }
        self.samples.extend(other.samples);
    }

    fn failed(&mut self, kind: String) {
        *self.errors.entry(kind).or_default() += 1;
    }
}

/// State shared by all clients.
struct Shared {
    address: SocketAddr,
    orders: Orders,
    minters: Vec<Minter>,
    accepted: AtomicU64,
}

/// The clients of a run.
pub(super) struct Crowd {
    shared: Arc<Shared>,
    clients: usize,
}

impl Crowd {
    /// Creates clients for the server at `address`.
    pub(super) fn new(
        settings: &Settings,
        installation: &Installation,
        address: SocketAddr,
    ) -> Crowd {
        let shared = Shared {
            address,
            orders: Orders::to(&settings.countries),
            minters: installation.minters(address),
            accepted: AtomicU64::new(0),
        };
        Crowd { shared: Arc::new(shared), clients: settings.clients }
    }

    /// Payments answered with 200 so far.
    pub(super) fn accepted(&self) -> u64 {
        self.shared.accepted.load(Ordering::Relaxed)
    }

    pub(super) async fn run(&self, until: Until, pace: Pace) -> anyhow::Result<Tally> {
        let began = Instant::now();
        let mut clients = JoinSet::new();
        for number in 0..self.clients {
            let client = Client {
                number,
                tenant: number % self.shared.minters.len(),
                shared: self.shared.clone(),
                numbers: Numbers::fresh()?,
                connection: None,
                body: Vec::with_capacity(2_048),
                external_id: String::new(),
                tally: Tally::default(),
            };
            clients.spawn(client.work(until, Schedule { pace, began, clients: self.clients }));
        }
        let mut tally = Tally::default();
        while let Some(done) = clients.join_next().await {
            tally.absorb(done.context("a client")?);
        }
        Ok(tally)
    }
}

/// When one client's pairs start.
#[derive(Clone, Copy)]
struct Schedule {
    pace: Pace,
    began: Instant,
    clients: usize,
}

impl Schedule {
    /// When pair `nth` of client `number` is due; `None` if it starts when the client is free.
    fn due(&self, number: usize, nth: u64) -> Option<Instant> {
        let Pace::PerSecond(rate) = self.pace else { return None };
        let place = nth.saturating_mul(self.clients as u64).saturating_add(number as u64);
        Some(self.began + Duration::from_micros(place.saturating_mul(1_000_000) / rate.max(1)))
    }
}

struct Client {
    number: usize,
    tenant: usize,
    shared: Arc<Shared>,
    numbers: Numbers,
    connection: Option<Connection>,
    body: Vec<u8>,
    external_id: String,
    tally: Tally,
}

/// The times of a pair.
#[derive(Clone, Copy)]
struct Took {
    quoted: Instant,
    payment: Duration,
}

/// Why a pair failed.
struct Failed {
    kind: String,
    /// Whether a payment may have been made.
    unclear: bool,
    /// Whether the connection is no longer usable.
    broken: bool,
}

impl Client {
    async fn work(mut self, until: Until, schedule: Schedule) -> Tally {
        let mine = match until {
            Until::Pairs(all) => share(all, schedule.clients, self.number),
            Until::Window { .. } => u64::MAX,
        };
        for nth in 0..mine {
            let now = Instant::now();
            let began = schedule.due(self.number, nth).unwrap_or(now);
            if let Until::Window { closes, .. } = until
                && began.max(now) >= closes
            {
                break;
            }
            if began > now {
                tokio::time::sleep_until(began.into()).await;
            }
            match tokio::time::timeout(ANSWER_MAX, self.pair()).await {
                Ok(Ok(took)) => self.measure(until, began, took),
                Ok(Err(failed)) => self.fail(failed).await,
                Err(_) => {
                    self.fail(Failed { kind: "timeout".to_owned(), unclear: true, broken: true })
                        .await
                }
            }
        }
        self.tally
    }

    fn measure(&mut self, until: Until, began: Instant, took: Took) {
        let now = Instant::now();
        if let Until::Window { opens, closes } = until
            && (opens..=closes).contains(&now)
        {
            // A latency beyond the bounds counts as the maximum.
            self.tally.pairs.saturating_record(micros(now - began));
            self.tally.quotes.saturating_record(micros(took.quoted - began));
            self.tally.payments.saturating_record(micros(took.payment));
        }
    }

    async fn fail(&mut self, failed: Failed) {
        if failed.broken {
            self.connection = None;
        }
        self.tally.unclear += u64::from(failed.unclear);
        self.tally.failed(failed.kind);
        tokio::time::sleep(ERROR_PAUSE).await;
    }

    /// Sends one quote and its payment.
    async fn pair(&mut self) -> Result<Took, Failed> {
        let shared = self.shared.clone();
        let chosen = shared.orders.quote(&mut self.numbers, &mut self.body);
        let answer =
            self.post("/v2/quote").await.map_err(|error| broken("quote", &error, false))?;
        let (200, Some(quote), Some(amount)) =
            (answer.status, field(answer.body, "id"), field(answer.body, "amount_destination"))
        else {
            return Err(refused("quote", answer.status, answer.body));
        };
        let (quote, amount, quoted) = (quote.to_owned(), amount.to_owned(), Instant::now());
        orders::external_id(&mut self.numbers, &mut self.external_id);
        shared.orders.payment(chosen, &quote, &amount, &self.external_id, &mut self.body);
        let began = Instant::now();
        let answer =
            self.post("/v2/payment").await.map_err(|error| broken("payment", &error, true))?;
        let (200, Some(id)) = (answer.status, field(answer.body, "id")) else {
            return Err(refused("payment", answer.status, answer.body));
        };
        let took = Took { quoted, payment: began.elapsed() };
        let id = id.to_owned();
        self.accepted(shared.orders.country(chosen), id, amount);
        Ok(took)
    }

    fn accepted(&mut self, country: Country, id: String, amount: String) {
        self.shared.accepted.fetch_add(1, Ordering::Relaxed);
        if self.tally.accepted.is_multiple_of(SAMPLE_EVERY)
            && self.tally.samples.len() < SAMPLES_MAX
        {
            let (tenant, external_id) = (self.tenant, self.external_id.clone());
            self.tally.samples.push(Sample { tenant, country, id, amount, external_id });
        }
        self.tally.accepted += 1;
    }

    /// Signs and sends a body.
    async fn post(&mut self, path: &str) -> Result<super::wire::Answer<'_>, WireError> {
        let grant =
            Grant { body: Some(&self.body), ..Grant::new(WallClock.now(), TOKEN_LIFETIME_S) };
        let token = self.shared.minters[self.tenant].token(grant);
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(self.shared.address).await?,
        };
        self.connection.insert(connection).post(path, &token, &self.body).await
    }
}

/// The share of client `number` in `all` pairs.
fn share(all: u64, clients: usize, number: usize) -> u64 {
    let clients = clients.max(1) as u64;
    all / clients + u64::from((number as u64) < all % clients)
}

pub(super) fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

fn broken(what: &str, error: &WireError, unclear: bool) -> Failed {
    let kind = match error {
        WireError::Connection(error) => format!("{what}: {}", error.kind()),
        other => format!("{what}: {other}"),
    };
    Failed { kind, unclear, broken: true }
}

/// An answer other than 200 (or an invalid 200).
fn refused(what: &str, status: u16, body: &[u8]) -> Failed {
    let code = field(body, "code").or_else(|| field(body, "type")).unwrap_or("no code");
    // After 5xx a payment may have been made, and an unreadable 200 means that it was.
    let unclear = what == "payment" && (status >= 500 || status == 200);
    Failed { kind: format!("{what}: {status} {code}"), unclear, broken: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_shared_out_to_the_last() {
        for (all, clients) in [(0, 3), (2, 3), (10, 3), (64, 64)] {
            let total: u64 = (0..clients).map(|number| share(all, clients, number)).sum();
            assert_eq!(total, all, "{all} over {clients}");
        }
    }

    #[test]
    fn an_open_loop_is_even_over_all_clients() {
        let began = Instant::now();
        let schedule = Schedule { pace: Pace::PerSecond(1_000), began, clients: 4 };
        let due = |number, nth| schedule.due(number, nth).map(|due| (due - began).as_micros());
        assert_eq!(
            [due(0, 0), due(1, 0), due(3, 0), due(0, 1)],
            [0, 1_000, 3_000, 4_000].map(Some)
        );
        assert!(Schedule { pace: Pace::Closed, ..schedule }.due(0, 0).is_none());
    }

    #[test]
    fn a_refusal_is_counted_under_its_code() {
        let body = br#"{"detail":{"code":"unavailable","message":"m","request_id":"r"}}"#;
        let failed = refused("payment", 503, body);
        assert_eq!((failed.kind.as_str(), failed.unclear), ("payment: 503 unavailable", true));
        let failed =
            refused("payment", 422, br#"{"detail":[{"loc":["body"],"msg":"m","type":"missing"}]}"#);
        assert_eq!((failed.kind.as_str(), failed.unclear), ("payment: 422 missing", false));
        assert!(!refused("quote", 503, body).unclear);
    }
}
