//! Clients during faults: they quote and pay, record for every write whether it succeeded, was
//! refused or is unclear, repeat half of the unclear ones with the same external_id, and verify the
//! promises they got.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::country::Country;
use domain::order::{FIELDS, example};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::api::{Answer, Api};
use super::random::Random;

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

/// A client's knowledge of a payment that it requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Knows {
    /// Confirmed, with this id.
    Exists(String),
    Refused(String),
    Unclear,
}

#[derive(Clone, Debug)]
pub struct Asked {
    pub country: &'static str,
    pub knows: Knows,
}

/// The records of all clients.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// The requests, by their external_id.
    pub asked: BTreeMap<String, Asked>,
    /// Observed statuses, by payment id.
    pub seen: BTreeMap<String, Vec<String>>,
    /// Promises broken during the load.
    pub broken: Vec<String>,
    /// Writes without a response.
    pub unclear: u64,
    /// The error of the last of them.
    pub last_unclear: String,
    /// Repeats of such writes.
    pub repeated: u64,
}

struct Shared {
    api: Api,
    addresses: watch::Sender<Vec<String>>,
    stop: AtomicBool,
    requests: AtomicU64,
    notes: Mutex<Notes>,
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
        let shared = Arc::new(Shared {
            api,
            addresses: watch::Sender::new(addresses),
            stop: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            notes: Mutex::default(),
            random: Random::new(seed),
            serial: AtomicU64::new(0),
        });
        let mut tasks = JoinSet::new();
        for _ in 0..clients {
            tasks.spawn(run(shared.clone()));
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
        let notes = self.shared.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.asked.values().filter(|asked| matches!(asked.knows, Knows::Exists(_))).count()
    }

    /// Lets every client finish, and returns their records.
    pub async fn stop(mut self) -> Notes {
        self.shared.stop.store(true, Ordering::Relaxed);
        while let Some(ended) = self.tasks.join_next().await {
            ended.expect("a client does not panic");
        }
        self.shared.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn run(shared: Arc<Shared>) {
    while !shared.stop.load(Ordering::Relaxed) {
        let country = *shared.random.pick(&COUNTRIES);
        if let Some(quote) = shared.quote(country).await {
            shared.pay(country, &quote).await;
        }
        if shared.random.chance(30) {
            shared.look().await;
        }
    }
}

impl Shared {
    fn address(&self) -> String {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.random.pick(&self.addresses.borrow()).clone()
    }

    /// Waits a while for the service to move.
    async fn no_answer(&self) {
        let mut moved = self.addresses.subscribe();
        // Whether it moved or the time is up, the next request shows.
        drop(tokio::time::timeout(MOVE_AT_MOST, moved.changed()).await);
    }

    fn note(&self, act: impl FnOnce(&mut Notes)) {
        act(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner));
    }

    async fn quote(&self, country: Country) -> Option<Value> {
        let amount = 10 + self.random.below(990);
        let body =
            json!({ "country": country.alpha3(), "currency": "AED", "amount": amount }).to_string();
        match self.api.post(&self.address(), "/v2/quote", &body, None).await {
            Answer::Done(body) => Some(serde_json::from_str(&body).expect("a quote")),
            Answer::Refused { status, body } => {
                self.note(|notes| {
                    notes.broken.push(format!("a good quote was refused with {status}: {body}"))
                });
                None
            }
            // An unclear quote has no effect.
            Answer::Unclear(_) => {
                self.no_answer().await;
                None
            }
        }
    }

    async fn pay(&self, country: Country, quote: &Value) {
        let external_id = format!("load-{}", self.serial.fetch_add(1, Ordering::Relaxed));
        let body = order(country, quote, &external_id, self.random.pick::<&str>(&ENDINGS), "first");
        let key = self.random.chance(50).then(|| format!("key-{external_id}"));
        let repeats = self.random.chance(50);
        // Recorded before it is sent, so that the checker knows about it in any case.
        self.put(&external_id, country, Knows::Unclear);
        let mut answer = self.api.post(&self.address(), "/v2/payment", &body, key.as_deref()).await;
        let mut tries = 0;
        while let Answer::Unclear(why) = &answer {
            self.note(|notes| {
                notes.unclear += 1;
                notes.last_unclear.clone_from(why);
            });
            if !repeats || tries == REPEATS_MAX {
                break;
            }
            tries += 1;
            self.no_answer().await;
            answer = self.repeat(country, quote, &external_id, &body, key.as_deref()).await;
        }
        match knows(&answer, tries > 0) {
            Some(known) => self.put(&external_id, country, known),
            None => self
                .note(|notes| notes.broken.push(format!("{external_id}: unexpected {answer:?}"))),
        }
    }

    /// Repeats with the same external_id: half of the time with the same body, half with another
    /// one.
    async fn repeat(
        &self,
        country: Country,
        quote: &Value,
        external_id: &str,
        body: &str,
        key: Option<&str>,
    ) -> Answer {
        self.note(|notes| notes.repeated += 1);
        if self.random.chance(50) {
            return self.api.post(&self.address(), "/v2/payment", body, key).await;
        }
        let fresh = self.quote(country).await;
        let other = order(country, fresh.as_ref().unwrap_or(quote), external_id, "6702", "second");
        self.api.post(&self.address(), "/v2/payment", &other, None).await
    }

    fn put(&self, external_id: &str, country: Country, knows: Knows) {
        let asked = Asked { country: country.alpha3(), knows };
        self.note(|notes| drop(notes.asked.insert(external_id.to_owned(), asked)));
    }

    /// Reads a confirmed payment.
    async fn look(&self) {
        let promised = {
            let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
            let at = usize::try_from(self.random.below(notes.asked.len().max(1) as u64))
                .expect("an index");
            notes
                .asked
                .iter()
                .nth(at)
                .map(|(external_id, asked)| (external_id.clone(), asked.clone()))
        };
        let Some((external_id, Asked { country, knows: Knows::Exists(id) })) = promised else {
            return;
        };
        let path = format!("/v2/payments/{external_id}?country={country}&external=true");
        match self.api.get(&self.address(), &path).await {
            Answer::Done(body) => {
                let record: Value = serde_json::from_str(&body).expect("a record");
                let status = record["response"]["status"].as_str().expect("a status").to_owned();
                self.note(|notes| {
                    if record["id"] != id.as_str() {
                        notes
                            .broken
                            .push(format!("{external_id} was {id} and is now {}", record["id"]));
                    }
                    notes.seen.entry(id).or_default().push(status);
                });
            }
            Answer::Refused { status, body } => {
                let what = format!(
                    "{external_id} was accepted as {id} and is answered with {status}: {body}"
                );
                self.note(|notes| notes.broken.push(what));
            }
            Answer::Unclear(_) => {}
        }
    }
}

/// The meaning of a response to a payment; `None` for a response that no client should get.
fn knows(answer: &Answer, repeated: bool) -> Option<Knows> {
    match answer {
        Answer::Done(body) => {
            let response: Value = serde_json::from_str(body).ok()?;
            Some(Knows::Exists(response["id"].as_str()?.to_owned()))
        }
        Answer::Unclear(_) => Some(Knows::Unclear),
        Answer::Refused { body, .. } => {
            let text = body.to_string();
            if text.contains("external_id_conflict") {
                // Only a repeat may find that the first attempt succeeded after all.
                let conflict = body["detail"]
                    .as_array()?
                    .iter()
                    .find(|fault| !fault["ctx"]["payment_id"].is_null())?;
                return repeated.then(|| {
                    Knows::Exists(
                        conflict["ctx"]["payment_id"].as_str().unwrap_or_default().to_owned(),
                    )
                });
            }
            // The first attempt may have succeeded where the repeat did not, so a refused repeat
            // decides nothing.
            if repeated {
                Some(Knows::Unclear)
            } else {
                text.contains("quote_expired").then_some(Knows::Refused(text))
            }
        }
    }
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
