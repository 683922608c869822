//! Clients during faults: they quote, pay and look, record for every call whether it succeeded, was
//! refused or is unclear, and repeat half of their writes, half of those with another body.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::country::Country;
use domain::order::{FIELDS, example};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::api::{Answer, Api};
use crate::history::{About, Act, Entry, History, Outcome};
use crate::random::Random;

/// Outcomes of the beneficiary's account (`docs/guides/sandbox.md`), by frequency.
const ENDINGS: [&str; 16] = [
    "6702", "6702", "6702", "6702", "6702", "6702", "6702", "0001", "0002", "0003", "0004", "0005",
    "0006", "0007", "0008", "6702",
];
/// How often an unclear write is repeated before it is left unclear.
const REPEATS_MAX: u32 = 40;
/// How long a client without a response waits for the service to move before it retries.
const MOVE_AT_MOST: Duration = Duration::from_millis(300);
pub const COUNTRIES: [Country; 2] = [Country::Pak, Country::Ind];

/// What all clients did.
#[derive(Clone)]
pub struct Notes {
    pub history: History,
}

impl Notes {
    /// Writes without a response.
    pub fn unclear(&self) -> usize {
        self.count(|entry| entry.is_write() && entry.outcome == Outcome::Unknown)
    }

    pub fn repeated(&self) -> usize {
        self.count(|entry| matches!(entry.act, Act::Repeat | Act::RepeatOther))
    }

    fn count(&self, counts: impl Fn(&Entry) -> bool) -> usize {
        self.history.entries().iter().filter(|entry| counts(entry)).count()
    }
}

struct Shared {
    api: Api,
    addresses: watch::Sender<Vec<String>>,
    stop: AtomicBool,
    requests: AtomicU64,
    history: History,
    /// Confirmed payments: external_id, id and country.
    confirmed: Mutex<Vec<(String, String, Country)>>,
    endings: &'static [&'static str],
    random: Random,
    serial: AtomicU64,
}

pub struct Load {
    shared: Arc<Shared>,
    tasks: JoinSet<()>,
}

impl Load {
    /// Starts `clients` clients against `addresses`.
    pub fn start(api: Api, addresses: Vec<String>, clients: usize, seed: u64) -> Load {
        Load::recorded(api, addresses, clients, seed, History::new(None), &ENDINGS)
    }

    /// The same, with a history that others write as well, and other outcomes.
    pub fn recorded(
        api: Api,
        addresses: Vec<String>,
        clients: usize,
        seed: u64,
        history: History,
        endings: &'static [&'static str],
    ) -> Load {
        let shared = Arc::new(Shared {
            api,
            addresses: watch::Sender::new(addresses),
            stop: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            history,
            confirmed: Mutex::default(),
            endings,
            random: Random::new(seed),
            serial: AtomicU64::new(0),
        });
        let mut tasks = JoinSet::new();
        for number in 0..clients {
            let away = AtomicBool::new(false);
            tasks.spawn(run(Client { shared: shared.clone(), number, away }));
        }
        Load { shared, tasks }
    }

    /// Sets the current addresses of the service.
    pub fn move_to(&self, addresses: Vec<String>) {
        self.shared.addresses.send_replace(addresses);
    }

    /// Requests sent so far.
    pub fn requests(&self) -> u64 {
        self.shared.requests.load(Ordering::Relaxed)
    }

    /// Payments confirmed so far.
    pub fn accepted(&self) -> usize {
        self.shared.confirmed().len()
    }

    /// Lets every client finish, and returns their records.
    pub async fn stop(mut self) -> Notes {
        self.shared.stop.store(true, Ordering::Relaxed);
        while let Some(ended) = self.tasks.join_next().await {
            ended.expect("a client does not panic");
        }
        Notes { history: self.shared.history.clone() }
    }
}

/// One of the clients. Half of them call any node; the others one of their own, as behind a balancer
/// that keeps connections, and another one only when theirs has not answered: so that one node that
/// hangs does not stop all clients.
struct Client {
    shared: Arc<Shared>,
    number: usize,
    /// Whether its own node has not answered.
    away: AtomicBool,
}

impl std::ops::Deref for Client {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

async fn run(client: Client) {
    while !client.stop.load(Ordering::Relaxed) {
        client.away.store(false, Ordering::Relaxed);
        let country = *client.random.pick(&COUNTRIES);
        if let Some(quote) = client.quote(country).await {
            client.pay(country, &quote).await;
        }
        if client.random.chance(30) {
            client.look().await;
        }
    }
}

impl Shared {
    fn confirmed(&self) -> MutexGuard<'_, Vec<(String, String, Country)>> {
        self.confirmed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Client {
    fn address(&self) -> String {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let addresses = self.addresses.borrow();
        if self.number.is_multiple_of(2) || self.away.load(Ordering::Relaxed) {
            return self.random.pick(&addresses).clone();
        }
        addresses[self.number / 2 % addresses.len()].clone()
    }

    /// Waits a while for the service to move.
    async fn no_answer(&self) {
        self.away.store(true, Ordering::Relaxed);
        let mut moved = self.addresses.subscribe();
        // Whether it moved or the time is up, the next request shows.
        drop(tokio::time::timeout(MOVE_AT_MOST, moved.changed()).await);
    }

    async fn quote(&self, country: Country) -> Option<Value> {
        let amount = 10 + self.random.below(990);
        let body =
            json!({ "country": country.alpha3(), "currency": "AED", "amount": amount }).to_string();
        let mut entry = Entry::of(About::Quote, Act::Create, "");
        entry.from_ms = self.history.now_ms();
        let answer = self.api.post(&self.address(), "/v2/quote", &body, None).await;
        self.history.add(told(entry, &answer));
        if let Answer::Done(body) = answer {
            return Some(serde_json::from_str(&body).expect("a quote"));
        }
        // It has no effect: the client asks for another one.
        self.no_answer().await;
        None
    }

    async fn pay(&self, country: Country, quote: &Value) {
        let external_id = format!("load-{}", self.serial.fetch_add(1, Ordering::Relaxed));
        let ending = self.random.pick::<&str>(self.endings);
        let body = order(country, quote, &external_id, ending, "first");
        let key = self.random.chance(50).then(|| format!("key-{external_id}"));
        let repeats = self.random.chance(50);
        let mut known = self.write(Act::Create, &external_id, &body, key.as_deref()).await;
        let mut tries = 0;
        // What is unclear is repeated until it is clear; what is clear, once.
        while repeats && tries < REPEATS_MAX && (known.is_none() || tries == 0) {
            tries += 1;
            if known.is_none() {
                self.no_answer().await;
            }
            let again = if self.random.chance(50) {
                self.write(Act::Repeat, &external_id, &body, key.as_deref()).await
            } else {
                let Some(fresh) = self.quote(country).await else { continue };
                let other = order(country, &fresh, &external_id, "6702", "second");
                let key = key.as_deref().filter(|_| self.random.chance(50));
                self.write(Act::RepeatOther, &external_id, &other, key).await
            };
            known = known.or(again);
        }
        if let Some(id) = known {
            self.confirmed().push((external_id, id, country));
        }
    }

    /// Sends a payment, records what came of it, and returns its id if there is one.
    async fn write(
        &self,
        act: Act,
        external_id: &str,
        body: &str,
        key: Option<&str>,
    ) -> Option<String> {
        let mut entry = Entry::of(About::Payment, act, external_id);
        entry.from_ms = self.history.now_ms();
        entry.sent = kept_of(body);
        let answer = self.api.post(&self.address(), "/v2/payment", body, key).await;
        entry = told(entry, &answer);
        if let Answer::Done(body) = &answer {
            let response: Value = serde_json::from_str(body).unwrap_or_default();
            entry.id = response["id"].as_str().map(str::to_owned);
        }
        if let Answer::Refused { body, .. } = &answer {
            // Of the same tenant and external_id: the first attempt succeeded after all.
            let used_by = body["detail"].as_array().into_iter().flatten();
            entry.id =
                used_by.filter_map(|it| it["ctx"]["payment_id"].as_str()).next().map(str::to_owned);
        }
        let id = entry.id.clone();
        self.history.add(entry);
        id
    }

    /// Reads a confirmed payment.
    async fn look(&self) {
        let picked = {
            let confirmed = self.confirmed();
            if confirmed.is_empty() {
                return;
            }
            self.random.pick(&confirmed).clone()
        };
        let (external_id, _, country) = picked;
        let mut entry = Entry::of(About::Payment, Act::Read, &external_id);
        entry.from_ms = self.history.now_ms();
        let path = format!("/v2/payments/{external_id}?country={}&external=true", country.alpha3());
        let answer = self.api.get(&self.address(), &path).await;
        entry = told(entry, &answer);
        if let Answer::Done(body) = &answer {
            let record: Value = serde_json::from_str(body).expect("a record");
            entry.id = record["id"].as_str().map(str::to_owned);
            entry.state = record["response"]["status"].as_str().map(str::to_owned);
        }
        self.history.add(entry);
    }
}

/// The entry with the outcome that an answer means.
pub fn told(entry: Entry, answer: &Answer) -> Entry {
    let (outcome, why) = match answer {
        Answer::Done(_) => (Outcome::Ok, None),
        Answer::Refused { status, body } => (Outcome::Fail, Some(format!("{status} {body}"))),
        Answer::Unclear(why) => (Outcome::Unknown, Some(why.clone())),
    };
    Entry { outcome, why, ..entry }
}

/// Members of an order that its record has to show as they were sent.
pub const KEPT: [&str; 3] = ["beneficiary_account_number", "remarks", "quote"];

fn kept_of(body: &str) -> BTreeMap<String, String> {
    let body: Value = serde_json::from_str(body).expect("an order");
    let kept = |name: &&str| Some(((*name).to_owned(), body[*name].as_str()?.to_owned()));
    KEPT.iter().filter_map(kept).collect()
}

/// A payment order for a quote.
pub fn order(
    country: Country,
    quote: &Value,
    external_id: &str,
    ending: &str,
    remarks: &str,
) -> String {
    let mut order = json!({
        "country": country.alpha3(), "currency": quote["currency"], "quote": quote["id"],
        "amount": quote["amount_destination"],
    });
    for field in FIELDS {
        if let Some(value) = field.example_for(country) {
            order[field.name] = value.into();
        }
    }
    order["beneficiary_account_number"] = example::account_ending(country, ending).into();
    order["remarks"] = remarks.into();
    order["external_id"] = external_id.into();
    order.to_string()
}
