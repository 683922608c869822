//! Pages of the console among a number of payments: how long one user waits for each.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::audit::{AuditContext, Via};
use domain::ports::Clock as _;
use domain::user::{Role, Scope};
use engine::console::{NewSession, NewUser, Stage};
use hdrhistogram::Histogram;
use service::clock::WallClock;
use sha2::{Digest as _, Sha256};
use store::Store;

use super::Bench;
use super::figures::{Quantiles, histogram};
use super::load::{ANSWER_MAX, Sample, micros};
use super::wire::{Connection, WireError};

/// The console's user, made for the measurement.
const LOGIN: &str = "bench";

/// What a user opens, with the path below the tenant's; `{id}` and `{external_id}` are a payment's.
const PAGES: [(&str, &str); 15] = [
    ("inbox", "/inbox"),
    ("overview", "/overview"),
    ("payments", "/payments"),
    ("payments_of_state", "/payments?status=succeeded"),
    ("payment", "/payments/{id}"),
    ("search_id", "/search?q={id}"),
    ("search_external_id", "/search?q={external_id}"),
    ("search_amount", "/search?q={amount}"),
    ("quotes", "/quotes"),
    ("ledger", "/ledger"),
    ("ledger_account", "/ledger/account?code=prefund:USDT"),
    ("corridors", "/corridors"),
    ("reconciliation", "/reconciliation"),
    ("webhooks", "/webhooks"),
    ("alerts", "/alerts"),
];

/// One page's times, in microseconds.
#[derive(Clone, Debug)]
pub(super) struct Page {
    pub(super) name: &'static str,
    pub(super) us: Quantiles,
    /// Answers that were not the page.
    pub(super) errors: u64,
}

impl Bench<'_> {
    /// Opens each page for `window`, one after the other.
    pub(super) async fn open_pages(&mut self, window: Duration) -> anyhow::Result<Vec<Page>> {
        let cookie = signed_in(&self.installation.store).await?;
        let tags: Vec<&str> =
            self.installation.tenants.iter().map(|it| it.tenant.tag.as_str()).collect();
        let mut connection = Connection::open(self.server.address).await?;
        let mut pages = Vec::with_capacity(PAGES.len());
        for (name, below) in PAGES {
            (self.tell)(&format!("opening {name}"));
            let (mut times, mut errors, closes) = (histogram(), 0, Instant::now() + window);
            for sample in self.all.samples.iter().cycle() {
                let path = path(below, tags[sample.tenant], sample);
                let began = Instant::now();
                if began >= closes {
                    break;
                }
                let answer = connection.get_with(&path, &cookie);
                match tokio::time::timeout(ANSWER_MAX, answer).await {
                    Ok(Ok(answer)) if is_page(name, answer.status) => note(&mut times, began),
                    Ok(Ok(_)) => errors += 1,
                    Ok(Err(WireError::Closed)) | Err(_) => {
                        errors += 1;
                        connection = Connection::open(self.server.address).await?;
                    }
                    Ok(Err(error)) => return Err(error).with_context(|| path),
                }
            }
            pages.push(Page { name, us: Quantiles::of(&times), errors });
        }
        Ok(pages)
    }
}

fn note(times: &mut Histogram<u64>, began: Instant) {
    times.saturating_record(micros(began.elapsed()));
}

fn path(below: &str, tag: &str, sample: &Sample) -> String {
    let below = below.replace("{id}", &sample.id).replace("{external_id}", &sample.external_id);
    format!("/console/t/{tag}{}", below.replace("{amount}", &sample.amount))
}

/// A search that finds one object leads to its page.
fn is_page(name: &str, status: u16) -> bool {
    status == 200 || status == 303 && name.starts_with("search")
}

/// A signed-in user who may see everything: the session's cookie.
async fn signed_in(store: &Store) -> anyhow::Result<String> {
    let now = WallClock.now();
    if store.user_by_login(LOGIN).await?.is_none() {
        let new = NewUser {
            login: LOGIN.to_owned(),
            roles: Role::ALL.into_iter().collect(),
            scope: Scope::All,
            password: String::new(),
            password_is_initial: false,
            provider_name: None,
        };
        store.create_user(&new, now, LOGIN).await?;
    }
    let stored = store.user_by_login(LOGIN).await?.context("the user just created")?;
    let token = store.random::<32>();
    let session = NewSession {
        token_digest: Sha256::digest(token).into(),
        user: &stored.user,
        stage: Stage::Open,
        address: "127.0.0.1",
        browser: LOGIN,
        totp: None,
        subject: None,
        now,
        by: AuditContext::new(Via::Console, LOGIN),
    };
    store.begin_session(&session, None).await?;
    // The console's cookie on a loopback address.
    Ok(format!("cookie: __Host-corridor-session={}", URL_SAFE_NO_PAD.encode(token)))
}

#[cfg(test)]
mod tests {
    use domain::country::Country;

    use super::*;

    #[test]
    fn paths_name_the_payment() {
        let [id, external_id, amount] = ["6f0c1a2b-0000", "b01", "10"].map(str::to_owned);
        let sample = Sample { tenant: 0, country: Country::Pak, id, amount, external_id };
        for (below, expected) in [
            ("/overview", "/console/t/x/overview"),
            ("/payments/{id}", "/console/t/x/payments/6f0c1a2b-0000"),
            ("/search?q={external_id}", "/console/t/x/search?q=b01"),
            ("/search?q={amount}", "/console/t/x/search?q=10"),
        ] {
            assert_eq!(path(below, "x", &sample), expected);
        }
    }

    #[test]
    fn only_a_search_may_lead_elsewhere() {
        assert!(is_page("search_id", 303) && is_page("overview", 200));
        assert!(!is_page("overview", 303) && !is_page("search_id", 500));
    }
}
