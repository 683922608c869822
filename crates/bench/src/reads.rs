//! `bench reads`: how fast single payments, pages of lists and searches are read, and how long the
//! console's pages take, among a number of payments made beforehand.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use domain::decimal::Decimal;
use domain::ports::Clock as _;
use hdrhistogram::Histogram;
use http_api::auth::mint::{Grant, Minter};
use http_api::write;
use service::clock::WallClock;
use tokio::task::JoinSet;

use super::checks::Checks;
use super::figures::{Quantiles, histogram, ms, per_second, whole, yes};
use super::load::{ANSWER_MAX, ERROR_PAUSE, Sample, TOKEN_LIFETIME_S, micros};
use super::pages::Page;
use super::wire::{Connection, WireError, field};
use super::{Bench, Settings, with_server};

/// Payments of a page.
const PAGE: u64 = 20;
/// The deepest page begins after this share of a country's payments, in per cent, less some standard
/// deviations of their number.
const DEEP: u64 = 90;
const DEVIATIONS: u64 = 4;

/// What a client reads, again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    ById,
    ByExternalId,
    Newest,
    /// The newest payments that succeeded.
    OfState,
    /// A page that the offset places near the end of the list.
    Deep,
    /// The list's search for an id.
    Search,
}

impl Read {
    const ALL: [Read; 6] =
        [Read::ById, Read::ByExternalId, Read::Newest, Read::OfState, Read::Deep, Read::Search];

    const fn name(self) -> &'static str {
        match self {
            Read::ById => "by_id",
            Read::ByExternalId => "by_external_id",
            Read::Newest => "newest",
            Read::OfState => "of_state",
            Read::Deep => "deep",
            Read::Search => "search",
        }
    }

    /// Writes the path that reads this payment, or a list of its country.
    fn path(self, sample: &Sample, deep: u64, out: &mut String) {
        let Sample { country, id, external_id, .. } = sample;
        let country = country.alpha3();
        out.clear();
        let written = match self {
            Read::ById => write!(out, "/v2/payments/{id}?country={country}"),
            Read::ByExternalId => {
                write!(out, "/v2/payments/{external_id}?country={country}&external=true")
            }
            Read::Newest => write!(out, "/v2/payments?country={country}&limit={PAGE}"),
            Read::OfState => {
                write!(out, "/v2/payments?country={country}&limit={PAGE}&status=succeeded")
            }
            Read::Deep => {
                write!(out, "/v2/payments?country={country}&limit={PAGE}&offset={deep}")
            }
            Read::Search => {
                let page = format!("country={country}&limit={PAGE}");
                write!(out, "/v2/payments?{page}&search_type=id&search_term={id}")
            }
        };
        debug_assert!(written.is_ok(), "writing to a string never fails");
    }

    /// Whether an answer is the one that the sample's payment must get.
    fn is_answered(self, sample: &Sample, status: u16, body: &[u8]) -> bool {
        let has_it = || std::str::from_utf8(body).is_ok_and(|body| body.contains(&sample.id));
        status == 200
            && match self {
                Read::ById | Read::ByExternalId | Read::Search => has_it(),
                Read::Newest | Read::OfState | Read::Deep => field(body, "id").is_some(),
            }
    }
}

/// What came of one kind of read.
#[derive(Clone, Debug)]
struct Outcome {
    read: Read,
    per_s: Decimal,
    us: Quantiles,
    errors: u64,
}

/// Measures reads for `settings.seconds` a kind, among `settings.preload` payments.
///
/// # Errors
/// As [`super::run`].
pub async fn reads(settings: &Settings, tell: &dyn Fn(&str)) -> anyhow::Result<ReadsReport> {
    anyhow::ensure!(settings.preload > 0, "there is nothing to read without --preload");
    let work = async |bench: &mut Bench<'_>| bench.read_all(settings).await;
    let ((outcomes, pages), store, checks) = with_server(settings, tell, work).await?;
    Ok(ReadsReport { settings: settings.clone(), store, outcomes, pages, checks })
}

impl Bench<'_> {
    async fn read_all(&mut self, settings: &Settings) -> anyhow::Result<(Vec<Outcome>, Vec<Page>)> {
        let lists = settings.countries.len() * self.installation.tenants.len();
        let each = settings.preload / lists.max(1) as u64;
        // Countries are drawn: every list is that long but for the rarest chance.
        let deep = (each * DEEP / 100).saturating_sub(each.isqrt() * DEVIATIONS);
        let shared = Arc::new(Shared {
            address: self.server.address,
            samples: self.all.samples.clone(),
            minters: self.installation.minters(self.server.address),
            deep,
        });
        let window = Duration::from_secs(settings.seconds);
        let mut outcomes = Vec::with_capacity(Read::ALL.len());
        for read in Read::ALL {
            (self.tell)(&format!("reading {}", read.name()));
            outcomes.push(measure(read, settings.clients, window, &shared).await?);
        }
        Ok((outcomes, self.open_pages(window).await?))
    }
}

/// State shared by all clients.
struct Shared {
    address: SocketAddr,
    samples: Vec<Sample>,
    minters: Vec<Minter>,
    /// The offset of the deepest page.
    deep: u64,
}

async fn measure(
    read: Read,
    clients: usize,
    window: Duration,
    shared: &Arc<Shared>,
) -> anyhow::Result<Outcome> {
    let mut working = JoinSet::new();
    let closes = Instant::now() + window;
    for number in 0..clients {
        working.spawn(client(read, number, closes, Arc::clone(shared)));
    }
    let (mut times, mut errors) = (histogram(), 0);
    while let Some(done) = working.join_next().await {
        let (own, failed) = done.context("a client")?;
        times += &own;
        errors += failed;
    }
    let per_s = per_second(times.len(), window);
    Ok(Outcome { read, per_s, us: Quantiles::of(&times), errors })
}

/// Reads one payment after the other; returns the times of right answers, and the number of others.
async fn client(
    read: Read,
    number: usize,
    closes: Instant,
    shared: Arc<Shared>,
) -> (Histogram<u64>, u64) {
    let (mut times, mut errors, mut path) = (histogram(), 0, String::new());
    let mut connection = None;
    for sample in shared.samples.iter().cycle().skip(number) {
        let began = Instant::now();
        if began >= closes {
            break;
        }
        read.path(sample, shared.deep, &mut path);
        let answered = tokio::time::timeout(ANSWER_MAX, async {
            let mut open = match connection.take() {
                Some(open) => open,
                None => Connection::open(shared.address).await?,
            };
            let grant = Grant::new(WallClock.now(), TOKEN_LIFETIME_S);
            let token = shared.minters[sample.tenant].token(grant);
            let answer = open.get_signed(&path, &token).await?;
            let is_right = read.is_answered(sample, answer.status, answer.body);
            connection = Some(open);
            Ok::<_, WireError>(is_right)
        });
        if let Ok(Ok(true)) = answered.await {
            times.saturating_record(micros(began.elapsed()));
        } else {
            errors += 1;
            tokio::time::sleep(ERROR_PAUSE).await;
        }
    }
    (times, errors)
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct ReadsReport {
    settings: Settings,
    store: &'static str,
    outcomes: Vec<Outcome>,
    pages: Vec<Page>,
    checks: Checks,
}

impl ReadsReport {
    /// Why the run is invalid, if it is.
    pub fn failure(&self) -> Option<String> {
        let reads = self.outcomes.iter().map(|it| (it.read.name(), it.errors, it.us.max));
        let pages = self.pages.iter().map(|it| (it.name, it.errors, it.us.max));
        self.checks.failure().or_else(|| {
            let wrong = |(_, errors, max): &(&str, u64, u64)| *errors > 0 || *max == 0;
            reads.chain(pages).find(wrong).map(|(what, errors, max)| {
                let right = if max == 0 { "none was" } else { "others were" };
                format!("{what}: {errors} answers were not what was read, {right}")
            })
        })
    }

    pub fn json(&self) -> Vec<u8> {
        write::object(|out| {
            out.text("bench", "reads");
            out.text("store", self.store);
            whole(out, "clients", self.settings.clients as u64);
            whole(out, "tenants", self.settings.tenants as u64);
            whole(out, "seconds", self.settings.seconds);
            whole(out, "preload", self.settings.preload);
            whole(out, "stored", self.checks.rows);
            whole(out, "bytes_a_payment", self.checks.bytes_a_payment());
            out.object("reads", |reads| {
                for Outcome { read, per_s, us, errors } in &self.outcomes {
                    reads.object(read.name(), |out| {
                        out.number("per_s", *per_s);
                        out.number("p50_ms", ms(us.p50));
                        out.number("p99_ms", ms(us.p99));
                        out.number("max_ms", ms(us.max));
                        whole(out, "errors", *errors);
                    });
                }
            });
            out.object("console", |pages| {
                for Page { name, us, errors } in &self.pages {
                    pages.object(name, |out| {
                        out.number("p50_ms", ms(us.p50));
                        out.number("p99_ms", ms(us.p99));
                        out.number("max_ms", ms(us.max));
                        whole(out, "errors", *errors);
                    });
                }
            });
            out.flag("answers_agree", self.checks.agree());
            out.flag("ledger_balances", self.checks.balanced());
        })
    }

    /// Names and values for display.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let Settings { clients, tenants, .. } = self.settings;
        let stored = self.checks.rows;
        let mut rows = vec![
            ("store", self.store.to_owned()),
            ("load", format!("{clients} clients, {tenants} tenants, {stored} payments")),
        ];
        rows.extend(self.outcomes.iter().map(|it| {
            let errors =
                if it.errors == 0 { String::new() } else { format!(", {} errors", it.errors) };
            (it.read.name(), format!("{}/s, {}{errors}", it.per_s, it.us.told()))
        }));
        rows.push(("bytes a payment", self.checks.bytes_a_payment().to_string()));
        let page = |it: &Page| (it.name, format!("console, one user: {}", it.us.told()));
        rows.extend(self.pages.iter().map(page));
        rows.push(("answers agree", yes(self.checks.agree()).to_owned()));
        rows.push(("ledger balances", yes(self.checks.balanced()).to_owned()));
        rows
    }
}

#[cfg(test)]
mod tests {
    use domain::country::Country;

    use super::*;

    fn sample() -> Sample {
        let [id, external_id, amount] = ["6f0c1a2b-0000", "b01", "10"].map(str::to_owned);
        Sample { tenant: 0, country: Country::Pak, id, amount, external_id }
    }

    #[test]
    fn every_read_has_its_path() {
        let paths = Read::ALL.map(|read| {
            let mut path = String::new();
            read.path(&sample(), 900, &mut path);
            path
        });
        assert_eq!(
            paths,
            [
                "/v2/payments/6f0c1a2b-0000?country=PAK",
                "/v2/payments/b01?country=PAK&external=true",
                "/v2/payments?country=PAK&limit=20",
                "/v2/payments?country=PAK&limit=20&status=succeeded",
                "/v2/payments?country=PAK&limit=20&offset=900",
                "/v2/payments?country=PAK&limit=20&search_type=id&search_term=6f0c1a2b-0000",
            ]
        );
    }

    #[test]
    fn an_answer_without_the_payment_is_an_error() {
        let payment = br#"{"id":"6f0c1a2b-0000","country":"PAK"}"#;
        let other = br#"[{"id":"77","country":"PAK"}]"#;
        for read in Read::ALL {
            assert!(read.is_answered(&sample(), 200, payment), "{read:?}");
            assert!(!read.is_answered(&sample(), 503, payment), "{read:?}");
            assert!(!read.is_answered(&sample(), 200, b"[]"), "{read:?}");
        }
        assert!(Read::Deep.is_answered(&sample(), 200, other));
        assert!(!Read::Search.is_answered(&sample(), 200, other));
    }
}
